"""SQL functions for DuckDB: may the crawler fetch this URL?

>>> import duckdb
>>> import mayi.duckdb
>>> connection = duckdb.connect()
>>> mayi.duckdb.register(connection, robots="User-agent: *\\nDisallow: /private/\\n", agent="ExampleBot")
>>> connection.sql("SELECT robots_allowed('https://example.com/private/x')").fetchall()
[(False,)]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow  # type: ignore[import-untyped]

from . import arrow
from ._mayi import Crawler, arrow_decide

#: The types of the fields in SQL. All others are text.
_TYPES = {"allowed": "BOOLEAN", "line": "UINTEGER", "octets": "UINTEGER"}


def register(
    connection: Any,
    *,
    agent: str | Crawler,
    robots: arrow.Robots | None = None,
    files: Any = None,
    answers: Iterable[str] = arrow.ANSWERS,
    dialect: str | None = None,
    missing: str | None = None,
    prefix: str = "robots_",
) -> None:
    """Registers three functions of a URL with a connection and all its cursors.

    - ``robots_allowed(url)`` is a BOOLEAN, and NULL if there is no answer;
    - ``robots_decide(url)`` is a STRUCT of the answers: ``(robots_decide(url)).rule``;
    - ``robots_origin(url)`` is the URL's origin as text, by which ``files`` are found.

    They are NULL if the URL is NULL. The arguments are those of ``mayi.arrow.decide``; ``files`` may be a relation of
    DuckDB, and is read now. ``prefix`` is the start of the names, so that several crawlers can have their own
    functions.
    """
    asked = arrow.prepared(robots, files, dialect, missing)
    names = list(answers)

    def allowed(urls: Any) -> arrow.Answers:
        return arrow_decide(urls, asked, agent, ["allowed"]).field("allowed")

    def decide(urls: Any) -> arrow.Answers:
        return arrow_decide(urls, asked, agent, names)

    if not isinstance(agent, (str, Crawler)):
        raise TypeError("functions are for one crawler: register those of others with another prefix")
    # Errors are raised now, not by the first query.
    decide(pyarrow.array([], pyarrow.string()))
    struct = ", ".join(f"{name} {_TYPES.get(name, 'VARCHAR')}" for name in names)
    # If answers can be NULL, DuckDB must be told, and then it also passes URLs that are NULL. A struct is never NULL.
    functions = [
        ("allowed", allowed, "BOOLEAN", "special"),
        ("decide", decide, f"STRUCT({struct})", "default"),
        ("origin", arrow.origin, "VARCHAR", "special"),
    ]
    for name, function, returned, nulls in functions:
        connection.create_function(prefix + name, function, ["VARCHAR"], returned, type="arrow", null_handling=nulls)

"""DuckDB, Polars and pandas: thin, and with the answers of single questions."""

from __future__ import annotations

import threading
from typing import Any

import duckdb
import mayi
import mayi.arrow
import mayi.duckdb
import mayi.pandas
import mayi.polars
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

ROBOTS = "User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=n\n"
FILES = {f"https://h{n}.example": f"User-agent: *\nDisallow: /{n}\n" for n in range(10)}
URLS = ["https://example.com/private/x", None, "https://example.com/", "nonsense"]
ALLOWED = [False, None, True, None]
ROWS = [
    {"allowed": False, "reason": "rule", "rule": "/private/", "line": 2, "error": None},
    {"allowed": None, "reason": None, "rule": None, "line": None, "error": "invalid-url: the row has no URL"},
    {"allowed": True, "reason": "no-rule", "rule": None, "line": None, "error": None},
]


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as connection:
        yield connection


def test_functions_of_sql(connection: Any) -> None:
    mayi.duckdb.register(connection, robots=ROBOTS, agent="ExampleBot")
    connection.execute("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS url", [URLS])
    assert connection.sql("SELECT robots_allowed(url) FROM t").fetchall() == [(one,) for one in ALLOWED]
    decided = [row[0] for row in connection.sql("SELECT robots_decide(url) FROM t").fetchall()]
    # As everywhere in SQL, what is NULL comes to NULL.
    assert decided[:3] == [ROWS[0], None, ROWS[2]] and decided[3]["error"].startswith("invalid-url: `nonsense`")
    origins = connection.sql("SELECT robots_origin(url) FROM t").fetchall()
    assert origins == [("https://example.com",), (None,), ("https://example.com",), (None,)]
    [types] = connection.sql("SELECT typeof(robots_allowed(url)), typeof(robots_decide(url)) FROM t LIMIT 1").fetchall()
    struct = 'STRUCT(allowed BOOLEAN, reason VARCHAR, "rule" VARCHAR, line UINTEGER, "error" VARCHAR)'
    assert types == ("BOOLEAN", struct)
    assert connection.sql("SELECT robots_allowed(NULL), robots_allowed('https://a/private/')").fetchall() == [
        (None, False)
    ]
    assert connection.sql("SELECT robots_allowed(url) FROM t LIMIT 0").fetchall() == []


def test_many_rows_of_sql(connection: Any) -> None:
    """Vectors of 2,048 rows, by several threads, with files from a table of the database and NULLs between."""
    connection.execute("CREATE TABLE robots (origin VARCHAR, status INTEGER, body VARCHAR)")
    connection.executemany("INSERT INTO robots VALUES (?, 200, ?)", list(FILES.items()))
    mayi.duckdb.register(connection, files=connection.table("robots"), agent="ExampleBot")
    connection.execute("SET threads = 4")
    connection.execute(
        "CREATE TABLE t AS SELECT range AS n, CASE WHEN n % 11 = 0 THEN NULL ELSE "
        "'https://h' || (n % 10) || '.example/' || (n % 3) END AS url FROM range(100000)"
    )
    found = connection.sql(
        "SELECT n % 11 = 0, n % 10 = n % 3, robots_allowed(url), count(*) FROM t GROUP BY ALL"
    ).fetchall()
    for is_null, is_disallowed, allowed, _ in found:
        assert allowed is (None if is_null else not is_disallowed)
    assert sum(row[3] for row in found) == 100_000
    by_arrow = mayi.arrow.decide(connection.sql("SELECT url FROM t ORDER BY n"), files=FILES, agent="ExampleBot")
    by_sql = connection.sql("SELECT robots_allowed(url) FROM t ORDER BY n").fetchall()
    assert pa.array(by_arrow.field("allowed")).to_pylist() == [row[0] for row in by_sql]


def test_functions_of_several_crawlers(connection: Any) -> None:
    robots = "User-agent: a\nDisallow: /\n"
    for agent in ("a", "b"):
        mayi.duckdb.register(
            connection, robots=robots, agent=agent, prefix=f"{agent}_", answers=["allowed", "train", "octets"]
        )
    [row] = connection.sql("SELECT a_allowed('https://x/'), b_allowed('https://x/'), a_decide('https://x/')").fetchall()
    assert row == (False, True, {"allowed": False, "train": "unknown", "octets": 1})
    cursor = connection.cursor()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(cursor.sql("SELECT a_allowed('https://x/')").fetchall()))
    thread.start()
    thread.join()
    assert found == [(False,)]


def test_what_is_wrong_is_said_when_functions_are_registered(connection: Any) -> None:
    for given, words in (
        ({"robots": ROBOTS, "agent": "no token"}, "no token"),
        ({"robots": ROBOTS, "agent": "a", "answers": ["x"]}, "no answer is called `x`"),
        ({"robots": ROBOTS, "agent": ["a", "b"]}, "one crawler"),
        ({"agent": "a"}, "give one of robots"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            mayi.duckdb.register(connection, **given)


def test_expressions_of_polars() -> None:
    frame = pl.DataFrame({"url": URLS, "n": range(4)})
    decide = pl.col("url").robots.decide(robots=ROBOTS, agent="ExampleBot")
    found = frame.select(decide)["url"]
    words = found.struct.field("reason").dtype
    assert found.to_list()[:3] == ROWS
    assert found.dtype == pl.Struct(
        {"allowed": pl.Boolean, "reason": words, "rule": pl.String, "line": pl.UInt32, "error": pl.String}
    )
    assert frame.lazy().select(decide).collect_schema()["url"] == found.dtype
    allowed = pl.col("url").robots.allowed(robots=ROBOTS, agent="ExampleBot")
    assert frame.select(allowed).to_series().to_list() == ALLOWED
    assert frame.filter(allowed)["n"].to_list() == [2]
    origins = frame.select(pl.col("url").robots.origin()).to_series()
    assert origins.to_list() == ["https://example.com", None, "https://example.com", None]
    categories = frame.with_columns(pl.col("url").cast(pl.Categorical))
    assert categories.select(allowed).to_series().to_list() == ALLOWED
    both = pl.col("url").robots.decide(robots=ROBOTS, agent=["a", "b"], answers=["allowed"])
    assert frame.select(both).to_series().to_list()[0] == {"a": {"allowed": False}, "b": {"allowed": False}}
    assert frame.head(0).select(decide).to_series().dtype == found.dtype
    with pytest.raises(mayi.InvalidAgent):
        pl.col("url").robots.decide(robots=ROBOTS, agent="no token")
    with pytest.raises((TypeError, pl.exceptions.ComputeError), match="Int64"):
        frame.select(pl.col("n").robots.allowed(robots=ROBOTS, agent="a"))


def test_polars_streams() -> None:
    urls = [f"https://h{n % 10}.example/{n % 3}" if n % 11 else None for n in range(300_000)]
    frame = pl.LazyFrame({"url": urls})
    allowed = pl.col("url").robots.allowed(files=FILES, agent="ExampleBot")
    wanted = [n % 10 != n % 3 if n % 11 else None for n in range(300_000)]
    for engine in ("in-memory", "streaming"):
        found = frame.with_columns(allowed.alias("allowed")).collect(engine=engine)
        assert found["allowed"].to_list() == wanted
    series = pl.Series("url", urls)
    assert pl.Series(mayi.arrow.decide(series, files=FILES, agent="ExampleBot").field("allowed")).to_list() == wanted


@pytest.mark.parametrize("kind", ["object", "string", "string[pyarrow]", "category"])
def test_columns_of_pandas(kind: str) -> None:
    urls = pd.Series(URLS, index=list("abcd"), dtype=kind)
    found = mayi.pandas.decide(urls, robots=ROBOTS, agent="ExampleBot")
    assert list(found.index) == list("abcd") and list(found.columns) == list(mayi.arrow.ANSWERS)
    assert [None if pd.isna(one) else one for one in found["allowed"]] == ALLOWED
    assert found.loc["a", "rule"] == "/private/" and found.loc["a", "line"] == 2 and found.loc["a", "reason"] == "rule"
    assert found.loc["b", "error"] == "invalid-url: the row has no URL"
    assert len(mayi.pandas.decide(urls.iloc[:0], robots=ROBOTS, agent="ExampleBot")) == 0
    # A frame goes over the capsules too.
    table = mayi.arrow.decide(urls.to_frame("url"), robots=ROBOTS, agent="ExampleBot")
    assert pa.array(table.field("allowed")).to_pylist() == ALLOWED

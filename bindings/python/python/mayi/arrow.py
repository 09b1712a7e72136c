"""Arrays of URLs → arrays of answers, over Arrow's PyCapsule interface.

pyarrow, Polars, pandas, DuckDB and others exchange arrays through it without copying, so none of them is needed here.

>>> import mayi.arrow
>>> robots = "User-agent: *\\nDisallow: /private/\\n"
>>> # decided = mayi.arrow.decide(table["url"], robots=robots, agent="ExampleBot")
>>> # pyarrow.array(decided), pyarrow.chunked_array(decided), polars.Series(decided) …
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Union

from . import _mayi
from ._mayi import Answers, Crawler, Files, RobotsTxt

__all__ = ["ANSWERS", "Answers", "Files", "decide", "origin"]

#: The default fields of the answers.
ANSWERS = ("allowed", "reason", "rule", "line", "error")

#: A robots.txt for all URLs.
Robots = Union[bytes, str, bytearray, memoryview, RobotsTxt]


def decide(
    urls: Any,
    *,
    agent: str | Crawler | Iterable[str | Crawler],
    robots: Robots | None = None,
    files: Files | Mapping[str, bytes | str | int | None] | Any = None,
    answers: Iterable[str] = ANSWERS,
    dialect: str | None = None,
    missing: str | None = None,
) -> Answers:
    """May the crawler fetch these URLs? A struct for every row, in their order.

    ``urls`` is an array or a column of strings (Utf8, LargeUtf8, Utf8View, or a dictionary of these), or a table with a
    column ``url`` or with one column. ``robots`` is one robots.txt for all of them. With ``files`` each origin has its
    own: a mapping such as ``{"https://example.com": b"…", "https://example.org": 404}``, or a table with the columns
    ``origin``, ``status`` and ``body`` (and optionally ``time``, ``content_type`` and ``location``), as for
    ``mayi bulk --robots-table``. Use ``Files`` to use the same files for several calls.

    ``answers`` names the fields: ``allowed`` (bool), ``reason`` (dictionary of utf8), ``rule`` (utf8), ``line`` (uint32)
    and ``error`` (utf8); also ``agent``, ``origin``, ``octets``, ``group``, and the uses ``train``, ``search`` and
    ``ai_input``. A row that can't be answered has an ``error``, and null in the other fields. With a list of agents the
    struct has a field for each of them, with its name, which is such a struct.
    """
    asked = prepared(robots, files, dialect, missing)
    return _mayi.arrow_decide(urls, asked, agent, list(answers))


def origin(urls: Any) -> Answers:
    """The origins of URLs (utf8), by which ``files`` are found: scheme, host and port, normalised.

    Text that is not a URL of a site with a robots.txt has none: null.
    """
    return _mayi.arrow_origin(urls)


def prepared(robots: Robots | None, files: Any, dialect: str | None, missing: str | None) -> RobotsTxt | Files:
    """The one file, or the files of origins."""
    if (robots is None) == (files is None):
        raise TypeError("give one of robots, the file of all URLs, and files, the files of their origins")
    if isinstance(robots if files is None else files, (RobotsTxt, Files)):
        if dialect is not None:
            raise TypeError("a RobotsTxt and Files have their dialect already: give it to them")
    if robots is not None:
        if missing is not None:
            raise TypeError("missing is for files: robots is the file of all URLs")
        if isinstance(robots, RobotsTxt):
            return robots
        octets = bytes(robots) if isinstance(robots, (bytearray, memoryview)) else robots
        return _read(octets, dialect or "rfc9309")
    if isinstance(files, Files):
        if missing is not None:
            raise TypeError("Files have been told already what a missing one means: give it to them")
        return files
    return Files(files, dialect=dialect or "rfc9309", missing=missing or "error")


# If a table is answered part by part with the same file, the rules of the first part are used again.
@lru_cache(maxsize=16, typed=True)
def _read(octets: bytes | str, dialect: str) -> RobotsTxt:
    return RobotsTxt(octets, dialect=dialect)

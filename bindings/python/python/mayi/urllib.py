"""The interface of Python's ``urllib.robotparser`` over the engine of mayi: change the import and nothing else.

>>> from mayi.urllib import RobotFileParser
>>> robots = RobotFileParser()
>>> robots.parse(["User-agent: *", "Disallow: /*.pdf$"])
>>> robots.can_fetch("ExampleBot", "https://example.com/a.pdf")
False
"""

from __future__ import annotations

import functools
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from typing import NamedTuple

from . import _faces
from ._mayi import RobotsTxt

__all__ = ["RobotFileParser"]

#: A little more than the engine reads of a file, so that it sees that the file is longer.
_MOST_OCTETS = 512 * 1024 + 4


class RequestRate(NamedTuple):
    """How many requests in how many seconds."""

    requests: int
    seconds: int


class RuleLine:
    """A rule of a file, as written."""

    def __init__(self, path: str, allowance: bool) -> None:
        self.path = path
        self.allowance = allowance

    def __str__(self) -> str:
        return f"{'Allow' if self.allowance else 'Disallow'}: {self.path}"


class Entry:
    """A group of a file."""

    def __init__(self) -> None:
        self.useragents: list[str] = []
        self.rulelines: list[RuleLine] = []
        self.delay: float | None = None
        self.req_rate: RequestRate | None = None

    def __str__(self) -> str:
        lines = [f"User-agent: {agent}" for agent in self.useragents]
        if self.delay is not None:
            lines.append(f"Crawl-delay: {self.delay}")
        if self.req_rate is not None:
            lines.append(f"Request-rate: {self.req_rate.requests}/{self.req_rate.seconds}")
        lines.extend(map(str, self.rulelines) if self.rulelines else ["Allow:"])
        return "\n".join(lines)


class RobotFileParser:
    """A robots.txt file, with the methods and attributes of ``urllib.robotparser.RobotFileParser``.

    ``read()`` fetches with ``user_agent`` and ``timeout``; ``dialect`` says how the file is read. With
    ``obey_refusals``, a status of 401 or 403 disallows everything, as in the original.
    """

    def __init__(
        self,
        url: str = "",
        *,
        user_agent: str | None = None,
        timeout: float = 30.0,
        dialect: str = "rfc9309",
        obey_refusals: bool = False,
    ) -> None:
        self.disallow_all = False
        self.allow_all = False
        self.last_checked: float = 0
        self.user_agent = user_agent
        self.timeout = timeout
        self.obey_refusals = obey_refusals
        self._dialect = dialect
        self._text = ""
        self._robots = _empty(dialect)
        self.set_url(url)

    def mtime(self) -> float:
        """When the file was last read, in seconds since 1970, or 0."""
        return self.last_checked

    def modified(self) -> None:
        """Says that the file was read now."""
        self.last_checked = time.time()

    def set_url(self, url: str) -> None:
        """Says where the file is."""
        self.url = url
        self.host, self.path = urllib.parse.urlsplit(url)[1:3]

    def read(self) -> None:
        """Fetches the file and reads it.

        A status of 400 to 499 allows everything (REP-20), any other one without a file disallows everything
        (REP-21). Network errors are raised, and nothing is allowed until a file has been read.
        """
        request = urllib.request.Request(self.url)
        if self.user_agent is not None:
            request.add_header("User-Agent", self.user_agent)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                octets = response.read(_MOST_OCTETS)
                content_type = response.headers.get_content_charset()
        except urllib.error.HTTPError as error:
            error.close()
            ended = RobotsTxt.of_status(error.code, dialect=self._dialect)
            is_refused = self.obey_refusals and error.code in (401, 403)
            self.allow_all = ended.access == "unavailable" and not is_refused
            self.disallow_all = not self.allow_all
            self.modified()
        else:
            self.allow_all = self.disallow_all = False
            self._robots = RobotsTxt(octets, dialect=self._dialect, charset=content_type)
            self._text = self._robots.text
            self.modified()

    def parse(self, lines: Iterable[str]) -> None:
        """Reads lines, in addition to those that were read before."""
        # Lines that already have line ends make empty lines between them, which have no effect.
        text = "\n".join(lines)
        self._text = f"{self._text}\n{text}" if self._text else text
        self._robots = RobotsTxt(self._text, dialect=self._dialect)
        self.modified()

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Whether the crawler may fetch the URL. Before a file was read, nothing may be fetched."""
        if self.disallow_all:
            return False
        if self.allow_all:
            return True
        if not self.last_checked:
            return False
        return self._robots._may_fetch(url, useragent)

    def crawl_delay(self, useragent: str) -> float | None:
        """The seconds that the file asks the crawler to wait between requests, or None."""
        if not self.mtime():
            return None
        return _whole(self._robots.crawl_delay(_faces.crawler_of(useragent)))

    def request_rate(self, useragent: str) -> RequestRate | None:
        """What the file asks of the crawler with its first Request-rate, or None."""
        if not self.mtime():
            return None
        records = _faces.records_of(self._robots, _faces.crawler_of(useragent))
        return _rate(records.other.get("request_rate", ()))

    def site_maps(self) -> list[str] | None:
        """The sitemaps of the file, or None if it has none."""
        return self.sitemaps or None

    @property
    def sitemaps(self) -> list[str]:
        """The sitemaps of the file."""
        return list(self._robots.sitemaps)

    @property
    def entries(self) -> list[Entry]:
        """The groups of the file that name a crawler."""
        return self._all_entries()[0]

    @property
    def default_entry(self) -> Entry | None:
        """The first group of the file for all other crawlers, or None."""
        return next(iter(self._all_entries()[1]), None)

    def _all_entries(self) -> tuple[list[Entry], list[Entry]]:
        """The groups that name a crawler, and those for all others."""
        named: list[Entry] = []
        default: list[Entry] = []
        for group in self._robots.groups:
            entry = Entry()
            entry.useragents = [start.value for start in group.starts]
            entry.rulelines = [RuleLine(rule.pattern, rule.kind == "allow") for rule in group.rules]
            entry.delay = _whole(group.crawl_delay)
            entry.req_rate = _rate(group.request_rates)
            (default if "*" in entry.useragents else named).append(entry)
        return named, default

    def __str__(self) -> str:
        named, default = self._all_entries()
        return "\n\n".join(map(str, named + default[:1]))


@functools.lru_cache
def _empty(dialect: str) -> RobotsTxt:
    return RobotsTxt(b"", dialect=dialect)


def _whole(delay: float | None) -> float | None:
    return int(delay) if delay is not None and delay == int(delay) else delay


def _rate(values: Iterable[str]) -> RequestRate | None:
    """The first of them that is one."""
    rates = (_faces.rate_of(value) for value in values)
    return next((RequestRate(rate[0], rate[1]) for rate in rates if rate is not None), None)

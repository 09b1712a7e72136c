"""The interface of Protego over the engine of mayi: change the import and nothing else.

>>> from mayi.protego import Protego
>>> robots = Protego.parse("User-agent: *\\nDisallow: /private/\\nCrawl-delay: 2\\n")
>>> robots.can_fetch("https://example.com/private/x", "ExampleBot")
False
>>> robots.crawl_delay("ExampleBot")
2.0
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import time
from typing import NamedTuple

from . import _faces
from ._mayi import Crawler, RobotsTxt

__all__ = ["Protego", "RequestRate", "VisitTime"]


class RequestRate(NamedTuple):
    """How many requests in how many seconds, and at which times of the day."""

    requests: int
    seconds: int
    start_time: time | None
    end_time: time | None


class VisitTime(NamedTuple):
    """The times of the day at which a site wants to be visited."""

    start_time: time
    end_time: time


class Protego:
    """A robots.txt file, with the methods of ``protego.Protego``."""

    def __init__(self) -> None:
        self._robots = RobotsTxt(b"")

    @classmethod
    def parse(cls, content: str, *, dialect: str = "rfc9309") -> Protego:
        """Reads a file in a dialect of mayi."""
        if not isinstance(content, str):
            raise TypeError(f"Protego.parse expects str, got {type(content).__name__}")
        made = cls()
        made._robots = RobotsTxt(content, dialect=dialect)
        return made

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Whether the crawler may fetch the URL."""
        return self._robots._may_fetch(url, user_agent)

    def crawl_delay(self, user_agent: str) -> float | None:
        """The seconds that the file asks the crawler to wait between requests, or None."""
        return self._robots.crawl_delay(_faces.crawler_of(user_agent))

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """What the last Request-rate for the crawler asks for, or None."""
        records = _faces.records_of(self._robots, _faces.crawler_of(user_agent))
        rates = [_faces.rate_of(value) for value in records.other.get("request_rate", ())]
        for rate in reversed(rates):
            if rate is not None:
                requests, seconds, times = rate
                return RequestRate(requests, seconds, *(times or (None, None)))
        return None

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """What the last Visit-time for the crawler asks for, or None."""
        records = _faces.records_of(self._robots, _faces.crawler_of(user_agent))
        times = [_faces.times_of(value) for value in records.other.get("visit_time", ())]
        for period in reversed(times):
            if period is not None:
                return VisitTime(*period)
        return None

    @property
    def sitemaps(self) -> Iterator[str]:
        """The sitemaps of the file."""
        return iter(self._robots.sitemaps)

    @property
    def preferred_host(self) -> str | None:
        """What the last Host of the file says, or None."""
        hosts = _faces.records_of(self._robots, Crawler("*")).other.get("host", ())
        return hosts[-1] if hosts else None

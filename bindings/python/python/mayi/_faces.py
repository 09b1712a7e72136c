"""Shared by the interfaces for other libraries: names and URLs as callers give them, records as callers need them."""

from __future__ import annotations

import datetime
import functools
import re

from ._mayi import Crawler, RobotsTxt
from ._report import Records

#: A URL of the site of a file, for callers that give only paths.
ROOT = "http://localhost/"


def text_of(given: str | bytes) -> str:
    """Text, from text or from octets of UTF-8."""
    return given if isinstance(given, str) else given.decode("utf-8", "replace")


@functools.lru_cache(maxsize=64)
def crawler_of(agent: str | bytes) -> Crawler:
    """The crawler: ``*``, a product token, or a whole User-Agent string."""
    return Crawler.from_user_agent(text_of(agent))


def records_of(robots: RobotsTxt, crawler: Crawler) -> Records:
    """What the file says to a crawler besides rules."""
    return robots.decide(ROOT, crawler).records


_RATE = re.compile(r"(\d+)\s*/\s*(\d+)\s*([smhd]?)(?:\s+(\S+))?", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}

Times = tuple[datetime.time, datetime.time]


def rate_of(value: str) -> tuple[int, int, Times | None] | None:
    """The requests, the seconds and the times of day of a Request-rate: ``1/10m 0900-1730``."""
    found = _RATE.fullmatch(value.strip())
    if found is None:
        return None
    requests, seconds, unit, period = found.groups()
    times = times_of(period) if period else None
    if (period and times is None) or int(requests) == 0 or int(seconds) == 0:
        return None
    return int(requests), int(seconds) * _SECONDS[unit.lower()], times


def times_of(value: str) -> Times | None:
    """The two times of day of a Visit-time: ``0900-1730``."""
    found = re.fullmatch(r"(\d{1,2})(\d{2})\s*[-\s]\s*(\d{1,2})(\d{2})", value.strip())
    if found is None:
        return None
    start_hour, start_minute, end_hour, end_minute = map(int, found.groups())
    try:
        return datetime.time(start_hour, start_minute), datetime.time(end_hour, end_minute)
    except ValueError:
        return None

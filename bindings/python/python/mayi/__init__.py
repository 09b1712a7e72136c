"""May I? One engine for robots.txt: a decision, its evidence, an explanation.

>>> import mayi
>>> robots = mayi.RobotsTxt(b"User-agent: *\\nDisallow: /private/\\n")
>>> robots.allowed("https://example.com/private/x", "ExampleBot")
False
>>> decision = robots.decide("https://example.com/private/x", "ExampleBot")
>>> decision.reason, decision.rule.line
('rule', 2)
"""

from __future__ import annotations

import json as _json
from collections.abc import Mapping as _Mapping
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from . import _mayi
from ._errors import (
    InvalidAgent,
    InvalidApp,
    InvalidPurpose,
    InvalidRequest,
    InvalidUrl,
    InvalidUserAgent,
    MayiError,
    UnknownDialect,
    UnsupportedScheme,
)
from ._fetcher import Answer, Disallowed, Fetcher
from ._keeping import Keeping
from ._mayi import (
    Crawler,
    Decision,
    Registry,
    RobotsTxt,
    Rules,
    compare,
    dialects,
    diff,
    fix,
    format,
    lint,
    page,
    robots_url,
)
from ._policy import PerOrigin, Policy

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Crawler",
    "Decision",
    "Disallowed",
    "Fetcher",
    "InvalidAgent",
    "InvalidApp",
    "InvalidPurpose",
    "InvalidRequest",
    "InvalidUrl",
    "InvalidUserAgent",
    "Keeping",
    "MayiError",
    "PerOrigin",
    "Policy",
    "Registry",
    "RobotsTxt",
    "Rules",
    "UnknownDialect",
    "UnsupportedScheme",
    "answer",
    "compare",
    "dialects",
    "diff",
    "fix",
    "format",
    "lint",
    "page",
    "robots_url",
]


def answer(request: _Mapping[str, _Any] | str, *, without: _Sequence[str] = ()) -> Decision:
    """The decision about a request as ``mayi decide`` takes it: a dict or its JSON.

    ``without`` names extensions that are switched off.

    >>> request = {"url": "https://example.com/a", "agent": "ExampleBot", "robots": {"status": 503}}
    >>> mayi.answer(request).reason
    'unreachable'
    """
    text = request if isinstance(request, str) else _json.dumps(request)
    return _mayi.answer(text, without=list(without))

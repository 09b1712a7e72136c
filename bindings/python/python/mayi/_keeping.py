"""How a fetcher caches files: the choices that RFC 9309 and RFC 9111 leave to a crawler."""

from __future__ import annotations

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True, kw_only=True)
class Keeping:
    """How a fetcher caches files. Times are in seconds.

    >>> mayi.Keeping(least_fresh=600).after_unreachable
    'copy'
    """

    #: For how long a file is not requested again, whatever its server says.
    least_fresh: float = 60.0
    #: For how long a stale file is used while it is revalidated, if its server does not say.
    stale_while_revalidate: float = 0.0
    #: Whether a copy that is at most a day old is used while the file is unavailable (REP-20).
    unavailable_uses_copy: bool = False
    #: Whether a status of 429 means that the file can't be reached, not that there is none (REP-21).
    treat_429_as_unreachable: bool = False
    #: For how long a file may be unreachable before ``after_unreachable`` applies (REP-21).
    unreachable_for: float = 30 * 24 * 3600.0
    #: What applies then: still the last copy, or what applies without a file.
    after_unreachable: Literal["copy", "unavailable"] = "copy"
    #: The part by which the time until the next attempt is randomly longer or shorter, 0 to 1.
    jitter: float = 0.2

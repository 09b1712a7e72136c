"""What happens with a decision: it is obeyed, or only recorded, for all sites or for some."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from ._mayi import robots_url


class Policy(enum.Enum):
    """What is made of a decision."""

    #: What is disallowed is not fetched.
    OBEY = "obey"
    #: The decision is only recorded, and everything is fetched.
    RECORD = "record"

    def of(self, url: str) -> Policy:
        """What holds for a URL."""
        return self


class PerOrigin:
    """A policy for each of some sites, given by a URL of the site, and another one for all others.

    >>> mine = mayi.PerOrigin({"https://intranet.example": mayi.Policy.RECORD})
    >>> mine.of("https://intranet.example:443/a").value, mine.of("https://example.com/").value
    ('record', 'obey')
    """

    def __init__(self, origins: Mapping[str, Policy], default: Policy = Policy.OBEY) -> None:
        self._origins = {robots_url(url): policy for url, policy in origins.items()}
        self._default = default

    def of(self, url: str) -> Policy:
        """What holds for a URL."""
        return self._origins.get(robots_url(url), self._default)

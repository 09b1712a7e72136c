"""mayi in requests: an adapter that checks robots.txt before each request.

::

    session = requests.Session()
    adapter = mayi.requests.MayiAdapter("ExampleBot", user_agent="ExampleBot/1.0 (+https://example.com/bot)")
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    session.get("https://example.com/private/x")  # mayi.Disallowed, with the decision
"""

from __future__ import annotations

from typing import Any

import requests
from requests.adapters import HTTPAdapter

from ._fetcher import Answer, Fetcher, octets_for, weakly
from ._mayi import Crawler

__all__ = ["MayiAdapter"]


class MayiAdapter(HTTPAdapter):
    """Sends requests that robots.txt allows, and raises :class:`mayi.Disallowed` for others.

    The files are fetched by the adapter itself, with the proxies and certificates of the session. ``agent`` is the
    product token, or a :class:`mayi.Crawler`; files are fetched with ``user_agent``; ``fetcher`` has options of
    :class:`mayi.Fetcher`. A response has its decision as ``response.mayi``.
    """

    def __init__(
        self,
        agent: str | Crawler,
        *,
        user_agent: str,
        fetcher: dict[str, Any] | None = None,
        **adapter: Any,
    ) -> None:
        super().__init__(**adapter)
        self._agent = agent
        self._means: dict[str, Any] = {}
        self._most_octets = octets_for(fetcher or {})
        self._fetcher = Fetcher(user_agent, fetch=weakly(self._fetch), **(fetcher or {}))

    def send(self, request: requests.PreparedRequest, *args: Any, **means: Any) -> requests.Response:
        """Asks, then sends."""
        self._means = {name: means.get(name) for name in ("timeout", "verify", "cert", "proxies")}
        decision = self._fetcher.require(request.url or "", self._agent)
        response = super().send(request, *args, **means)
        response.mayi = decision  # type: ignore[attr-defined]
        return response

    def _fetch(self, url: str, headers: dict[str, str]) -> Answer:
        request = requests.Request("GET", url, headers=headers).prepare()
        response = super().send(request, stream=True, **self._means)
        try:
            body = response.raw.read(self._most_octets, decode_content=True)
            return Answer(response.status_code, list(response.headers.items()), body)
        finally:
            response.close()

    def close(self) -> None:
        """Closes the connections and the files."""
        self._fetcher.close()
        super().close()

"""mayi in httpx: transports that check robots.txt before each request.

::

    transport = mayi.httpx.MayiTransport("ExampleBot", user_agent="ExampleBot/1.0 (+https://example.com/bot)")
    client = httpx.Client(transport=transport)
    client.get("https://example.com/private/x")  # mayi.Disallowed, with the decision
"""

from __future__ import annotations

from typing import Any

import httpx

from . import aio
from ._fetcher import Answer, Fetcher, octets_for, weakly
from ._mayi import Crawler

__all__ = ["AsyncMayiTransport", "MayiTransport"]


class MayiTransport(httpx.BaseTransport):
    """Sends requests that robots.txt allows, and raises :class:`mayi.Disallowed` for others.

    ``agent`` is the product token, or a :class:`mayi.Crawler`; files are fetched with ``user_agent``; ``transport``
    sends the requests and fetches the files; ``fetcher`` has options of :class:`mayi.Fetcher`. A response has its
    decision in ``response.extensions["mayi"]``.
    """

    def __init__(
        self,
        agent: str | Crawler,
        *,
        user_agent: str,
        transport: httpx.BaseTransport | None = None,
        fetcher: dict[str, Any] | None = None,
    ) -> None:
        self._agent = agent
        self._transport = transport or httpx.HTTPTransport()
        self._most_octets = octets_for(fetcher or {})
        self._fetcher = Fetcher(user_agent, fetch=weakly(self._fetch), **(fetcher or {}))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Asks, then sends."""
        decision = self._fetcher.require(str(request.url), self._agent)
        response = self._transport.handle_request(request)
        response.extensions["mayi"] = decision
        return response

    def _fetch(self, url: str, headers: dict[str, str]) -> Answer:
        response = self._transport.handle_request(httpx.Request("GET", url, headers=headers))
        body = b""
        try:
            for part in response.iter_bytes():
                body += part
                if len(body) > self._most_octets:
                    break
        finally:
            response.close()
        return Answer(response.status_code, response.headers.multi_items(), body)

    def close(self) -> None:
        """Closes the connections and the files."""
        self._fetcher.close()
        self._transport.close()


class AsyncMayiTransport(httpx.AsyncBaseTransport):
    """The same for :class:`httpx.AsyncClient`."""

    def __init__(
        self,
        agent: str | Crawler,
        *,
        user_agent: str,
        transport: httpx.AsyncBaseTransport | None = None,
        fetcher: dict[str, Any] | None = None,
    ) -> None:
        self._agent = agent
        self._transport = transport or httpx.AsyncHTTPTransport()
        self._most_octets = octets_for(fetcher or {})
        self._fetcher = aio.Fetcher(user_agent, fetch=weakly(self._fetch), **(fetcher or {}))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Asks, then sends."""
        decision = await self._fetcher.require(str(request.url), self._agent)
        response = await self._transport.handle_async_request(request)
        response.extensions["mayi"] = decision
        return response

    async def _fetch(self, url: str, headers: dict[str, str]) -> Answer:
        response = await self._transport.handle_async_request(
            httpx.Request("GET", url, headers=headers)
        )
        body = b""
        try:
            async for part in response.aiter_bytes():
                body += part
                if len(body) > self._most_octets:
                    break
        finally:
            await response.aclose()
        return Answer(response.status_code, response.headers.multi_items(), body)

    async def aclose(self) -> None:
        """Closes the connections and the files."""
        await self._fetcher.close()
        await self._transport.aclose()

"""The fetcher for asyncio: thousands of questions at once, one request per site.

>>> import asyncio
>>> async def fetch(url, headers):
...     return mayi.Answer(200, {}, b"User-agent: *\\nDisallow: /private/\\n")
>>> async def ask():
...     async with mayi.aio.Fetcher("ExampleBot/1.0 (+https://example.com/bot)", fetch=fetch) as fetcher:
...         return await fetcher.allowed("https://example.com/private/x", "ExampleBot")
>>> asyncio.run(ask())
False
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any

from ._fetcher import Answer, Disallowed, native
from ._keeping import Keeping
from ._mayi import Crawler, Decision, NativeDone, RobotsTxt
from ._policy import PerOrigin, Policy

__all__ = ["Fetcher"]

#: Gets a URL with header fields, for a fetcher: ``await fetch(url, headers)``.
Fetch = Callable[[str, dict[str, str]], Awaitable[Answer]]


class Fetcher:
    """Fetches robots.txt files, caches them, and decides by them, without blocking the event loop.

    The arguments are those of :class:`mayi.Fetcher`; ``fetch`` is awaited, in the loop of the first question.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        store: str | os.PathLike[str] | None = None,
        fetch: Fetch | None = None,
        dialect: str = "rfc9309",
        offline: bool = False,
        timeout: float = 30.0,
        allow_private: bool = False,
        allow_addresses: Sequence[str] = (),
        roots: str | os.PathLike[str] | None = None,
        connections_per_host: int = 2,
        connections: int = 256,
        max_octets: int | None = None,
        keeping: Keeping = Keeping(),
        policy: Policy | PerOrigin = Policy.OBEY,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._policy = policy
        self._loop: asyncio.AbstractEventLoop | None = None
        self._fetch = fetch
        self._native = native(
            user_agent,
            None if fetch is None else _starting(weakref.ref(self)),
            store=store,
            dialect=dialect,
            offline=offline,
            timeout=timeout,
            allow_private=allow_private,
            allow_addresses=allow_addresses,
            roots=roots,
            connections_per_host=connections_per_host,
            connections=connections,
            max_octets=max_octets,
            keeping=keeping,
            clock=clock,
        )
        self._native.open()

    @property
    def advice(self) -> str | None:
        """How the User-Agent string could be improved, or None."""
        return self._native.advice()

    @property
    def in_flight(self) -> int:
        """How many files are being fetched now, including in the background."""
        return self._native.in_flight()

    def ready(self, url: str) -> RobotsTxt | None:
        """The file of the URL's site if it is available without waiting, or None."""
        self._loop = asyncio.get_running_loop()
        return self._native.ready(url)

    async def robots(self, url: str, *, refresh: bool = False) -> RobotsTxt:
        """The file of the URL's site, or why there is none. With ``refresh`` the server is asked, whatever is cached."""
        loop = self._loop = asyncio.get_running_loop()
        if not refresh:
            ready = self._native.ready(url)
            if ready is not None:
                return ready
        future: asyncio.Future[RobotsTxt] = loop.create_future()

        def done(robots: RobotsTxt) -> None:
            try:
                loop.call_soon_threadsafe(_fulfil, future, robots)
            except RuntimeError:
                pass  # The loop is closed: nobody waits.

        task = self._native.start(url, refresh, done)
        try:
            return await future
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def decide(self, url: str, agent: str | Crawler, **about: Any) -> Decision:
        """The decision about a URL, by the file of its site. ``about`` is as for ``RobotsTxt.decide``."""
        return (await self.robots(url)).decide(url, agent, **about)

    async def allowed(self, url: str, agent: str | Crawler) -> bool:
        """Whether the crawler may fetch the URL, by the file of its site."""
        return (await self.robots(url)).allowed(url, agent)

    async def require(self, url: str, agent: str | Crawler) -> Decision:
        """The decision about a URL. Raises :class:`mayi.Disallowed` if it is disallowed and the policy is to obey."""
        decision = await self.decide(url, agent)
        if not decision.allowed and self._policy.of(url) is Policy.OBEY:
            raise Disallowed(decision)
        return decision

    async def forget(self, url: str) -> bool:
        """Removes the URL's site from the cache, and returns whether it was there."""
        return await asyncio.to_thread(self._native.forget, url)

    async def close(self) -> None:
        """Cancels fetches and closes the store."""
        await asyncio.to_thread(self._native.close)

    async def __aenter__(self) -> Fetcher:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _start(self, url: str, headers: list[tuple[str, str]], octets: int, done: NativeDone) -> None:
        """An async client, as the engine's fetcher calls it: on another thread than that of the loop."""
        fetch, loop = self._fetch, self._loop
        assert fetch is not None

        async def ask() -> None:
            try:
                status, fields, body = await fetch(url, dict(headers))
                done.answer(status, fields, body)
            except BaseException as error:
                done.fail(f"{type(error).__name__}: {error}")
                if not isinstance(error, Exception):
                    raise

        if loop is None or loop.is_closed():
            done.fail("the event loop is closed")
        else:
            asyncio.run_coroutine_threadsafe(ask(), loop)


def _starting(
    fetcher: weakref.ref[Fetcher],
) -> Callable[[str, list[tuple[str, str]], int, NativeDone], None]:
    """The function that the engine's fetcher calls. It must not keep its owner alive, which keeps it alive."""

    def start(url: str, headers: list[tuple[str, str]], octets: int, done: NativeDone) -> None:
        owner = fetcher()
        if owner is None:
            done.fail("the fetcher is gone")
        else:
            owner._start(url, headers, octets, done)

    return start


def _fulfil(future: asyncio.Future[RobotsTxt], robots: RobotsTxt) -> None:
    if not future.done():
        future.set_result(robots)

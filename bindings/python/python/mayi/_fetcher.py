"""The blocking fetcher, and what it shares with the fetcher for asyncio."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, TypeVar, cast

from ._errors import MayiError
from ._keeping import Keeping
from ._mayi import Crawler, Decision, NativeDone, NativeFetcher, RobotsTxt
from ._policy import PerOrigin, Policy
from ._report import grounds_of

#: How many octets of files a store keeps.
STORE_OCTETS = 1 << 30


class Disallowed(MayiError):
    """A URL that may not be fetched, with the decision."""

    decision: Decision

    def __init__(self, decision: Decision) -> None:
        message = f"robots.txt disallows {decision.url} for {decision.agent} ({grounds_of(decision)})"
        super().__init__(message, code="disallowed")
        self.decision = decision

    def __reduce__(self) -> Any:
        return type(self), (self.decision,)


class Answer(NamedTuple):
    """The response of your own client for a robots.txt: it follows no redirect, and the body is decoded."""

    status: int
    headers: Mapping[str, str] | Sequence[tuple[str, str]]
    body: bytes


#: Gets a URL with header fields, for a fetcher: ``fetch(url, headers)``.
Fetch = Callable[[str, dict[str, str]], Answer]


_Client = TypeVar("_Client", bound=Callable[..., Any])


def weakly(method: _Client) -> _Client:
    """Makes a method a client that does not keep its owner alive, because the engine's fetcher keeps its client."""
    reference = weakref.WeakMethod(method)

    def call(url: str, headers: dict[str, str]) -> Any:
        owned = reference()
        if owned is None:
            raise RuntimeError("the client is gone")
        return owned(url, headers)

    return cast(_Client, call)


def octets_for(options: Mapping[str, Any]) -> int:
    """How much of a robots.txt a client reads for a fetcher with these options: a little more than the engine reads."""
    return int(options.get("max_octets") or 512 * 1024) + 4


def native(
    user_agent: str,
    start: Callable[[str, list[tuple[str, str]], int, NativeDone], None] | None,
    *,
    store: str | os.PathLike[str] | None,
    dialect: str,
    offline: bool,
    timeout: float,
    allow_private: bool,
    allow_addresses: Sequence[str],
    roots: str | os.PathLike[str] | None,
    connections_per_host: int,
    connections: int,
    max_octets: int | None,
    keeping: Keeping,
    clock: Callable[[], float] | None,
) -> NativeFetcher:
    """The engine's fetcher, which is closed when Python ends."""
    pem = b""
    if roots is not None:
        with open(roots, "rb") as file:
            pem = file.read()
    made = NativeFetcher(
        user_agent,
        store=None if store is None else os.fspath(store),
        store_octets=STORE_OCTETS,
        reading=(dialect, max_octets),
        offline=offline,
        timeout=timeout,
        allow_private=allow_private,
        allow_addresses=list(allow_addresses),
        roots=pem,
        connections=(connections_per_host, connections),
        keeping=keeping,
        start=start,
        clock=clock,
    )
    _open.add(made)
    return made


#: A thread that is still at work when Python ends would find no interpreter.
_open: weakref.WeakSet[NativeFetcher] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for fetcher in list(_open):
        fetcher.close()


class Fetcher:
    """Fetches robots.txt files, caches them, and decides by them. It can be used from any number of threads.

    ``user_agent`` is sent to servers and should have a contact: ``ExampleBot/1.0 (+https://example.com/bot)``.
    ``store`` is where files are cached: ``None`` for this fetcher's memory, the path of a file, or
    ``redis://host:port``. ``fetch`` is your own client: it gets a URL and header fields, follows no redirect, and
    returns an :class:`Answer`. The guard does not check what it connects to. ``policy`` says what ``require`` does with
    a decision, and ``keeping`` how files are cached. ``clock`` is for tests and simulations: it returns the time like
    ``time.time`` and is called for each question, in the calling thread. If it raises an exception, the question raises
    it. Timeouts of requests still use the real clock.

    >>> fetch = lambda url, headers: mayi.Answer(200, {}, b"User-agent: *\\nDisallow: /private/\\n")
    >>> with mayi.Fetcher("ExampleBot/1.0 (+https://example.com/bot)", fetch=fetch) as fetcher:
    ...     fetcher.decide("https://example.com/private/x", "ExampleBot").allowed
    False
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
        self._native = native(
            user_agent,
            None if fetch is None else _waiting(fetch),
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

    def robots(self, url: str, *, refresh: bool = False) -> RobotsTxt:
        """The file of the URL's site, or why there is none. With ``refresh`` the server is asked, whatever is cached."""
        return self._native.robots(url, refresh)

    def decide(self, url: str, agent: str | Crawler, **about: Any) -> Decision:
        """The decision about a URL, by the file of its site. ``about`` is as for ``RobotsTxt.decide``."""
        return self.robots(url).decide(url, agent, **about)

    def allowed(self, url: str, agent: str | Crawler) -> bool:
        """Whether the crawler may fetch the URL, by the file of its site."""
        return self.robots(url).allowed(url, agent)

    def require(self, url: str, agent: str | Crawler) -> Decision:
        """The decision about a URL. Raises :class:`Disallowed` if it is disallowed and the policy is to obey."""
        decision = self.decide(url, agent)
        if not decision.allowed and self._policy.of(url) is Policy.OBEY:
            raise Disallowed(decision)
        return decision

    def forget(self, url: str) -> bool:
        """Removes the URL's site from the cache, and returns whether it was there."""
        return self._native.forget(url)

    def close(self) -> None:
        """Cancels fetches and closes the store."""
        self._native.close()

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _waiting(fetch: Fetch) -> Callable[[str, list[tuple[str, str]], int, NativeDone], None]:
    """A blocking client, as the engine's fetcher calls it: on a separate thread."""

    def start(url: str, headers: list[tuple[str, str]], octets: int, done: NativeDone) -> None:
        try:
            status, fields, body = fetch(url, dict(headers))
            done.answer(status, fields, body)
        except Exception as error:  # noqa: BLE001
            # If the client fails, the file is unreachable, whatever the exception is.
            done.fail(f"{type(error).__name__}: {error}")

    return start

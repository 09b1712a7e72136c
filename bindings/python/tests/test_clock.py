"""A clock of one's own, for tests and simulations: what it tells is believed, and what it raises is raised."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mayi
import mayi.aio
import pytest

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
URL = "https://example.com/private/x"


def answer(url: str, headers: dict[str, str]) -> mayi.Answer:
    return mayi.Answer(200, {"Cache-Control": "max-age=600"}, b"User-agent: *\nDisallow: /private/\n")


def test_a_file_grows_old_by_the_clock() -> None:
    asked: list[str] = []
    now = 1_800_000_000.0

    def fetch(url: str, headers: dict[str, str]) -> mayi.Answer:
        asked.append(url)
        return answer(url, headers)

    with mayi.Fetcher(AGENT, fetch=fetch, clock=lambda: now) as files:
        sources = []
        for now in (1_800_000_000.0, 1_800_000_500.0, 1_800_000_601.0):
            decision = files.decide(URL, "ExampleBot")
            assert decision.file is not None
            sources.append((decision.file.source, decision.file.fetched))
    assert sources == [
        ("fetched", "2027-01-15T08:00:00Z"),
        ("fresh", "2027-01-15T08:00:00Z"),
        ("fetched", "2027-01-15T08:10:01Z"),
    ]
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (None, TypeError),
        ("noon", TypeError),
        (float("nan"), ValueError),
        (float("inf"), ValueError),
        (-1.0, ValueError),
        (1e18, ValueError),
        (10**400, TypeError),
    ],
)
def test_what_is_no_time(told: Any, kind: type[Exception]) -> None:
    for make in (mayi.Fetcher, mayi.aio.Fetcher):
        with pytest.raises(kind, match="since 1970"):
            make(AGENT, offline=True, clock=lambda: told)
    with pytest.raises(TypeError, match="not callable"):
        mayi.Fetcher(AGENT, offline=True, clock=1_800_000_000)  # type: ignore[arg-type]


def failing(when: Callable[[], bool]) -> Callable[[], float]:
    def tell() -> float:
        if when():
            raise LookupError("the clock has stopped")
        return 1_800_000_000.0

    return tell


def test_what_a_clock_raises_the_question_raises() -> None:
    stopped = False
    clock = failing(lambda: stopped)
    with mayi.Fetcher(AGENT, fetch=answer, clock=clock) as files:
        for stopped in (False, True, False):
            if stopped:
                with pytest.raises(LookupError, match="stopped"):
                    files.decide(URL, "ExampleBot")
            else:
                assert not files.allowed(URL, "ExampleBot")

    async def fetch(url: str, headers: dict[str, str]) -> mayi.Answer:
        return answer(url, headers)

    async def ask() -> None:
        nonlocal stopped
        async with mayi.aio.Fetcher(AGENT, fetch=fetch, clock=clock) as files:
            for stopped in (False, True, False):
                if stopped:
                    with pytest.raises(LookupError, match="stopped"):
                        await files.decide(URL, "ExampleBot")
                else:
                    assert not await files.allowed(URL, "ExampleBot")

    asyncio.run(ask())


def test_sixteen_threads_and_a_clock_that_stops_now_and_then() -> None:
    calls: list[int] = []

    def now_and_then() -> bool:
        calls.append(threading.get_ident())
        return len(calls) % 7 == 0

    with mayi.Fetcher(AGENT, fetch=answer, clock=failing(now_and_then)) as files:

        def ask(number: int) -> tuple[int, int]:
            """How many questions were answered, and how many raised."""
            raised = 0
            for step in range(200):
                try:
                    assert not files.allowed(f"https://{number}-{step % 10}.example/private/", "ExampleBot")
                except LookupError:
                    raised += 1
            assert threading.get_ident() in calls
            return 200 - raised, raised

        with ThreadPoolExecutor(16) as pool:
            outcomes = list(pool.map(ask, range(16)))
        askers = {threading.get_ident()} | {thread.ident for thread in pool._threads}
    assert sum(answered for answered, _ in outcomes) > 1000
    assert sum(raised for _, raised in outcomes) > 100
    assert set(calls) <= askers, "nobody else calls the clock"


def test_a_clock_that_keeps_its_fetcher_is_collected_with_it() -> None:
    class Crawl:
        def __init__(self) -> None:
            self.files = mayi.Fetcher(AGENT, fetch=self.fetch, clock=self.tell)

        def tell(self) -> float:
            return 1_800_000_000.0

        def fetch(self, url: str, headers: dict[str, str]) -> mayi.Answer:
            return answer(url, headers)

    crawl = Crawl()
    assert not crawl.files.allowed(URL, "ExampleBot")
    gone = weakref.ref(crawl)
    del crawl
    # The thread that called the client lets go of it in its own time. What a thread releases that does not hold the
    # interpreter is released with the next call into the package.
    for _ in range(1000):
        mayi.RobotsTxt(b"")
        gc.collect()
        if gone() is None:
            return
        time.sleep(0.01)
    pytest.fail("it is still there")


@pytest.mark.parametrize(
    "wrong",
    [
        {"least_fresh": -1.0},
        {"unreachable_for": float("nan")},
        {"stale_while_revalidate": float("inf")},
        {"jitter": 1.5},
        {"jitter": float("nan")},
        {"after_unreachable": "never"},
    ],
)
def test_what_is_wrong_with_how_files_are_kept(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        mayi.Fetcher(AGENT, keeping=mayi.Keeping(**wrong))

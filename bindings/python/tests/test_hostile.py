"""What nobody should do, and what comes of it: an exception that says why, and never a crash, a hang or a wrong answer."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mayi
import mayi.aio
import mayi.protego
import mayi.urllib
import pytest
from sites import Site

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
FILE = b"User-agent: *\nDisallow: /private/\n"
URL = "https://example.com/private/x"


class Text(str):
    """Text that lies about itself."""

    def __str__(self) -> str:
        raise RuntimeError("str")

    def encode(self, *_: object, **__: object) -> bytes:
        raise RuntimeError("encode")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")


class Raises:
    """Whatever is asked of it raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("iter")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")


def test_subclasses_of_text_are_their_text() -> None:
    robots = mayi.RobotsTxt(Text(FILE.decode()))
    assert robots.allowed(Text(URL), Text("ExampleBot")) is False
    assert robots.decide(Text(URL), Text("ExampleBot")).url == URL
    assert robots.for_crawler(Text("ExampleBot")).allowed_many([Text(URL)]) == [False]
    assert mayi.Crawler.from_user_agent(Text(AGENT)).product_token == "ExampleBot"
    assert mayi.protego.Protego.parse(Text(FILE.decode())).can_fetch(Text(URL), Text(AGENT)) is False
    # Text that has to be encoded is asked to do that itself.
    with pytest.raises(RuntimeError, match="encode"):
        mayi.RobotsTxt(Text("User-agent: \udcff"))


def test_octets_of_every_value() -> None:
    every = bytes(range(256))
    for octets in (b"\0", b"\0" * 100_000, every * 50, b"\xff\xfe" + every, FILE + b"\0" + every, b"\r" * 10_000):
        robots = mayi.RobotsTxt(octets)
        assert isinstance(robots.allowed(URL, "ExampleBot"), bool)
        assert pickle.loads(pickle.dumps(robots)) == robots
        mayi.lint(octets)
        mayi.format(octets)
        for face in (mayi.protego.Protego.parse(octets.decode("latin-1")), mayi.urllib.RobotFileParser()):
            if isinstance(face, mayi.urllib.RobotFileParser):
                face.parse(octets.decode("latin-1").splitlines())
    nul = mayi.RobotsTxt(b"User-agent: *\nDisallow: /a\0b\n")
    assert not nul.allowed("https://example.com/a%00b", "ExampleBot")
    assert nul.allowed("https://example.com/a", "ExampleBot")


def test_urls_of_every_kind_for_the_faces() -> None:
    robots = mayi.protego.Protego.parse(FILE.decode() + "Disallow: /%FF\n")
    for url in (URL, "/private/x", "private/x", b"/private/x", "//example.com/private/x", "gopher://a/private/x"):
        assert robots.can_fetch(url, AGENT) is False, url  # type: ignore[arg-type]
    assert robots.can_fetch(b"https://example.com/\xff", AGENT) is False  # type: ignore[arg-type]
    assert robots.can_fetch("https://example.com/\udcff", AGENT) is False
    for odd in ("", "?", "#", ":", "::", "a:", "//", "///", "http:", "http://", "\ud800", "\0", "x" * 1_000_000):
        assert robots.can_fetch(odd, AGENT) is True, odd
    for wrong in (None, 7, 10**5000, Raises(), [URL]):
        with pytest.raises(TypeError):
            robots.can_fetch(wrong, AGENT)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            robots.can_fetch(URL, wrong)  # type: ignore[arg-type]


def test_numbers_that_are_no_numbers() -> None:
    huge = 10**5000
    for ask in (
        lambda: mayi.RobotsTxt.of_status(huge),
        lambda: mayi.RobotsTxt.of_status(-1),
        lambda: mayi.RobotsTxt(FILE, max_octets=huge),
        lambda: mayi.RobotsTxt(FILE, max_octets=-1),
        lambda: mayi.RobotsTxt(FILE, max_octets=0),
        lambda: mayi.RobotsTxt(b"").decide(URL, "a", headers={}, now=float("nan")),
        lambda: mayi.RobotsTxt(b"").decide(URL, "a", headers={}, now=float("inf")),
        lambda: mayi.RobotsTxt(b"").decide(URL, "a", headers={}, now=-1e300),
        lambda: mayi.Fetcher(AGENT, timeout=float("nan")),
        lambda: mayi.Fetcher(AGENT, timeout=1e300),
    ):
        with pytest.raises((ValueError, OverflowError)):
            ask()
    with pytest.raises(OverflowError):
        mayi.RobotsTxt(b"").decide(URL, "a", headers={}, now=huge)
    large = mayi.RobotsTxt(f"User-agent: *\nCrawl-delay: {'9' * 5000}\nRequest-rate: {'9' * 4000}/1\n")
    assert large.crawl_delay("a") is None
    face = mayi.urllib.RobotFileParser()
    face.parse(large.text.splitlines())
    face.crawl_delay("a"), face.request_rate("a")


def test_what_callers_iterate_over_may_raise() -> None:
    rules = mayi.RobotsTxt(FILE).for_crawler("ExampleBot")

    def urls() -> Iterator[str]:
        yield URL
        raise KeyError("mine")

    for ask in (lambda: rules.allowed_many(urls()), lambda: rules.decide_many(urls())):
        with pytest.raises(KeyError, match="mine"):
            ask()
    with pytest.raises(RuntimeError, match="iter"):
        rules.allowed_many(Raises())  # type: ignore[arg-type]
    for wrong in ([7], [None], [b"x"], [URL, Raises()]):
        with pytest.raises(TypeError):
            rules.allowed_many(wrong)  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        mayi.page([("a", "b", "c")])  # type: ignore[list-item]
    with pytest.raises((TypeError, RuntimeError)):
        mayi.page(Raises())  # type: ignore[arg-type]


def test_a_list_that_changes_while_it_is_read() -> None:
    rules = mayi.RobotsTxt(FILE).for_crawler("ExampleBot")
    urls = [URL] * 20_000
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            urls.append(URL)
            urls.pop()

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(20):
        assert not any(rules.allowed_many(urls))
    stop.set()
    thread.join()


def test_pickles_from_bad_octets() -> None:
    things = [
        mayi.RobotsTxt(FILE),
        mayi.Crawler("a"),
        mayi.RobotsTxt(FILE).decide(URL, "a"),
        mayi.RobotsTxt(FILE).for_crawler("a"),
        mayi.Registry(),
        mayi.RobotsTxt.of_status(503),
    ]
    for thing in things:
        pickled = pickle.dumps(thing)
        for place in range(0, len(pickled), max(1, len(pickled) // 200)):
            for octet in (0, 0x7F, 0xFF):
                changed = pickled[:place] + bytes([octet]) + pickled[place + 1 :]
                try:
                    again = pickle.loads(changed)
                except Exception:  # noqa: BLE001, S112
                    continue
                repr(again)
        for length in range(0, len(pickled), max(1, len(pickled) // 50)):
            with pytest.raises(Exception):  # noqa: B017, PT011
                pickle.loads(pickled[:length])
    make = mayi.RobotsTxt._of_parts  # type: ignore[attr-defined]
    for parts in (
        ((None, None, None), "rfc9309", None, None, [], None, None),
        ((None, 200, None), "rfc9309", None, None, [], None, None),
        ((b"", None, None), "no", None, None, [], None, None),
        ((b"", None, None), "rfc9309", "no-charset", None, ["no"], None, None),
        (7,),
    ):
        try:
            assert isinstance(make(*parts).allowed(URL, "a"), bool)
        except (TypeError, ValueError):
            pass


def test_a_client_that_asks_back() -> None:
    """A client that asks its own fetcher about another site, and about the same one."""
    asked: list[str] = []

    def fetch(url: str, headers: dict[str, str]) -> mayi.Answer:
        asked.append(url)
        if url.startswith("https://one."):
            assert files.allowed("https://two.example/x", "ExampleBot")
        return mayi.Answer(200, {}, FILE)

    with mayi.Fetcher(AGENT, fetch=fetch) as files:
        assert not files.allowed("https://one.example/private/", "ExampleBot")
    assert asked == ["https://one.example/robots.txt", "https://two.example/robots.txt"]


def test_a_client_that_answers_nonsense() -> None:
    answers: list[Any] = [
        None,
        7,
        "text",
        Raises(),
        (200, {}, FILE, "more"),
        mayi.Answer(200, {}, "text"),  # type: ignore[arg-type]
        mayi.Answer(10**30, {}, b""),
        mayi.Answer(-1, {}, b""),
        mayi.Answer(200, {"a\nb": "c\r\nd"}, FILE),
        mayi.Answer(200, {"Location": "\0"}, b"\0" * 1_000_000),
        mayi.Answer(301, {"Location": "javascript:alert(1)"}, b""),
        mayi.Answer(301, {"Location": "\ud800"}, b""),
    ]
    for number, answer in enumerate(answers):
        with mayi.Fetcher(AGENT, fetch=lambda url, headers, answer=answer: answer) as files:
            decision = files.decide(f"https://s{number}.example/", "ExampleBot")
            assert decision.reason in ("unreachable", "unavailable", "no-rule", "no-group"), (number, decision)

    def exits(url: str, headers: dict[str, str]) -> mayi.Answer:
        raise SystemExit(3)

    with mayi.Fetcher(AGENT, fetch=exits) as files:
        try:
            assert files.decide("https://example.com/", "ExampleBot").reason == "unreachable"
        except SystemExit:
            pass


def test_closing_while_a_client_is_under_way() -> None:
    entered, leave = threading.Event(), threading.Event()

    def fetch(url: str, headers: dict[str, str]) -> mayi.Answer:
        entered.set()
        leave.wait(20)
        return mayi.Answer(200, {}, FILE)

    files = mayi.Fetcher(AGENT, fetch=fetch)
    outcomes: list[object] = []

    def ask() -> None:
        try:
            outcomes.append(files.allowed("https://example.com/private/", "ExampleBot"))
        except RuntimeError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert entered.wait(20)
    closing = threading.Thread(target=files.close)
    closing.start()
    leave.set()
    for thread in [*threads, closing]:
        thread.join(20)
        assert not thread.is_alive()
    assert len(outcomes) == 4
    assert all(outcome is False or "closed" in str(outcome) for outcome in outcomes), outcomes


def test_a_fetcher_that_is_let_go_while_asking(site: Site) -> None:
    site.wait.clear()
    outcomes: list[object] = []

    def ask(files: mayi.Fetcher) -> None:
        outcomes.append(files.allowed(f"{site.url}/private/", "ExampleBot"))

    files = mayi.Fetcher(AGENT, allow_addresses=["127.0.0.0/8"])
    thread = threading.Thread(target=ask, args=(files,))
    thread.start()
    del files
    gc.collect()
    site.wait.set()
    thread.join(20)
    assert outcomes == [False]


def test_an_event_loop_that_ends_first(site: Site) -> None:
    site.wait.clear()

    async def leave() -> mayi.aio.Fetcher:
        files = mayi.aio.Fetcher(AGENT, allow_addresses=["127.0.0.0/8"])
        task = asyncio.create_task(files.allowed(f"{site.url}/private/", "ExampleBot"))
        await asyncio.sleep(0.05)
        task.cancel()
        return files

    files = asyncio.run(leave())
    site.wait.set()

    async def again() -> bool:
        async with files:
            return await files.allowed(f"{site.url}/private/", "ExampleBot")

    # The same fetcher in another loop: it answers, or says why not.
    try:
        assert asyncio.run(again()) is False
    except RuntimeError as error:
        assert str(error)


def test_things_die_in_any_order() -> None:
    for _ in range(200):
        robots = mayi.RobotsTxt(FILE * 10)
        rules = robots.for_crawler("ExampleBot")
        decision = rules.decide(URL)
        del robots
        rule = decision.rule
        del rules
        assert decision.to_dict()["access"]["allowed"] is False
        del decision
        assert rule is not None and rule.line == 2
    gc.collect()
    cycle: list[Any] = []
    cycle.append((mayi.RobotsTxt(FILE), cycle))
    del cycle
    gc.collect()


def run(program: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-X", "dev", "-c", program, *words], capture_output=True, timeout=60, check=False
    )


def test_at_the_end_of_python() -> None:
    program = """
import atexit, mayi, mayi.aio, threading
robots = mayi.RobotsTxt(b"User-agent: *\\nDisallow: /a\\n")
rules = robots.for_crawler("a")
class Last:
    def __del__(self):
        assert not rules.allowed("https://example.com/a")
        assert not robots.decide("https://example.com/a", "a").allowed
last = Last()
files = mayi.Fetcher("a (b@c)", offline=True)
atexit.register(lambda: files.decide("https://example.com/", "a"))
kept = mayi.aio.Fetcher("a (b@c)", offline=True)
print("over")
"""
    ended = run(program)
    assert (ended.returncode, ended.stdout) == (0, b"over\n"), ended.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_others_ask(site: Site) -> None:
    program = """
import mayi, os, sys, threading, warnings
warnings.simplefilter("ignore")
url = sys.argv[1]
files = mayi.Fetcher("a (b@c)", allow_addresses=["127.0.0.0/8"])
robots = mayi.RobotsTxt(b"User-agent: *\\nDisallow: /a\\n")
stop = threading.Event()
def ask():
    while not stop.is_set():
        robots.allowed("https://example.com/a", "a")
        files.allowed(url + "/private/", "a")
threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads:
    thread.start()
codes = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        fresh = mayi.RobotsTxt(b"User-agent: *\\nDisallow: /a\\n")
        code = 7 if not fresh.allowed("https://example.com/a", "a") and not files.allowed(url + "/private/", "a") else 1
        os._exit(code)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in threads:
    thread.join()
print(codes)
"""
    ended = run(program, site.url)
    assert (ended.returncode, ended.stdout.strip()) == (0, str([7] * 10).encode()), ended.stderr


def test_sixteen_threads_and_one_face() -> None:
    face = mayi.protego.Protego.parse(FILE.decode() + "User-agent: Bot7\nAllow: /\n")
    other = mayi.urllib.RobotFileParser()
    other.parse(FILE.decode().splitlines())

    def ask(number: int) -> None:
        for step in range(2000):
            name = f"Bot{(number * step) % 100}/1.0"
            assert face.can_fetch(URL, name) is (name == "Bot7/1.0"), (number, step)
            assert not other.can_fetch(name, URL), (number, step)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(16)))  # raises what a thread raised


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site(FILE)
    yield made
    made.close()

"""The fetcher, blocking and for asyncio, against servers on loopback and against clients of one's own."""

from __future__ import annotations

import asyncio
import gc
import os
import pathlib
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import mayi
import mayi.aio
import pytest
from sites import Site

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
FILE = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 3\n"


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site(FILE)
    yield made
    made.close()


def fetcher(**more: object) -> mayi.Fetcher:
    return mayi.Fetcher(AGENT, allow_addresses=["127.0.0.0/8"], **more)  # type: ignore[arg-type]


def test_a_file_is_fetched_once_and_says_where_it_came_from(site: Site) -> None:
    with fetcher() as files:
        first = files.decide(f"{site.url}/private/x", "ExampleBot")
        again = files.decide(f"{site.url}/", "ExampleBot")
        assert (first.allowed, again.allowed) == (False, True)
        assert first.file is not None and again.file is not None
        assert (first.file.source, again.file.source) == ("fetched", "fresh")
        assert [(asked.path, asked.user_agent) for asked in site.asked] == [("/robots.txt", AGENT)]
        robots = files.robots(site.url)
        assert (robots.access, robots.crawl_delay("ExampleBot")) == ("successful", 3.0)
        assert robots.file is not None and robots.file.url == f"{site.url}/robots.txt"
        assert pickle.loads(pickle.dumps(robots)) == robots
        assert not pickle.loads(pickle.dumps(robots)).allowed(f"{site.url}/private/", "ExampleBot")
        assert pickle.loads(pickle.dumps(first)) == first
        files.robots(site.url, refresh=True)
        assert len(site.asked) == 2
        assert files.forget(site.url)
        assert not files.forget(site.url)
        with pytest.raises(mayi.Disallowed) as caught:
            files.require(f"{site.url}/private/x", "ExampleBot")
        assert caught.value.decision.rule is not None
        assert str(caught.value) == f"robots.txt disallows {site.url}/private/x for ExampleBot (line 2: Disallow: /private/)"
        assert pickle.loads(pickle.dumps(caught.value)).decision == caught.value.decision


def test_statuses_and_redirects(site: Site) -> None:
    site.answers["/robots.txt"] = (301, {"Location": "/elsewhere"}, b"")
    site.answers["/elsewhere"] = (200, {}, FILE)
    with fetcher() as files:
        assert not files.allowed(f"{site.url}/private/", "ExampleBot")
        site.answers["/elsewhere"] = (404, {}, b"")
        files.forget(site.url)
        assert files.decide(f"{site.url}/private/", "ExampleBot").reason == "unavailable"
        site.answers["/elsewhere"] = (503, {}, b"")
        files.forget(site.url)
        decision = files.decide(f"{site.url}/", "ExampleBot")
        assert (decision.allowed, decision.reason) == (False, "unreachable")
        assert decision.file is not None
        assert [hop.status for hop in decision.file.hops] == [301, 503]


def test_the_last_good_copy_holds_while_its_server_fails(site: Site) -> None:
    with fetcher() as files:
        files.robots(site.url)
        site.answers["/robots.txt"] = (500, {}, b"")
        robots = files.robots(site.url, refresh=True)
        assert robots.file is not None and robots.file.source == "stale-unreachable"
        assert robots.allowed(f"{site.url}/", "ExampleBot")


def test_the_guard_lets_nothing_private_through(site: Site) -> None:
    with mayi.Fetcher(AGENT) as files:
        decision = files.decide(f"{site.url}/", "ExampleBot")
        assert (decision.allowed, decision.reason) == (False, "unreachable")
        assert not site.asked


def test_what_is_wrong_with_a_call() -> None:
    with pytest.raises(ValueError, match="User-Agent"):
        mayi.Fetcher("")
    with pytest.raises(OSError, match="mysql"):
        mayi.Fetcher(AGENT, store="mysql://localhost")
    with pytest.raises(ValueError, match="time"):
        mayi.Fetcher(AGENT, timeout=-1)
    with pytest.raises(mayi.UnknownDialect):
        mayi.Fetcher(AGENT, dialect="x")
    with mayi.Fetcher(AGENT, offline=True) as files:
        assert files.advice is None
        with pytest.raises(mayi.InvalidUrl):
            files.decide("/private", "ExampleBot")
        with pytest.raises(mayi.InvalidAgent):
            files.decide("https://example.com/", "Example Bot")
        assert files.decide("https://example.com/", "ExampleBot").reason == "unreachable"
    with pytest.raises(RuntimeError, match="closed"):
        files.robots("https://example.com/")
    files.close()
    with mayi.Fetcher("ExampleBot/1.0", offline=True) as files:
        assert files.advice is not None and "contact" in files.advice


def test_a_store_in_a_file_is_there_the_next_time(site: Site, tmp_path: pathlib.Path) -> None:
    store = tmp_path / "robots.store"
    with fetcher(store=store) as files:
        files.robots(site.url)
    with fetcher(store=store) as files:
        assert not files.allowed(f"{site.url}/private/", "ExampleBot")
    assert len(site.asked) == 1


def test_threads_share_one_request(site: Site) -> None:
    site.wait.clear()
    answers: list[bool] = []
    with fetcher() as files:
        ask = lambda: answers.append(files.allowed(f"{site.url}/private/", "ExampleBot"))  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        while not site.asked:
            time.sleep(0.01)
        site.wait.set()
        for thread in threads:
            thread.join()
    assert answers == [False] * 16
    assert len(site.asked) == 1


def test_a_client_of_ones_own() -> None:
    asked = []

    def fetch(url: str, headers: dict[str, str]) -> mayi.Answer:
        asked.append((url, headers["User-Agent"]))
        if url == "https://one.example/robots.txt":
            return mayi.Answer(302, {"Location": "https://two.example/r"}, b"")
        if url == "https://two.example/r":
            return mayi.Answer(200, [("Content-Type", "text/plain"), ("ETag", '"1"')], FILE)
        raise ConnectionError("no route")

    with mayi.Fetcher(AGENT, fetch=fetch) as files:
        assert not files.allowed("https://one.example/private/", "ExampleBot")
        assert files.allowed("https://one.example/", "ExampleBot")
        failed = files.decide("https://three.example/", "ExampleBot")
        assert failed.reason == "unreachable"
        assert failed.file is not None and "ConnectionError: no route" in failed.file.access
    assert [url for url, _ in asked] == [
        "https://one.example/robots.txt",
        "https://two.example/r",
        "https://three.example/robots.txt",
    ]
    assert {agent for _, agent in asked} == {AGENT}


@pytest.fixture
def server(tmp_path: pathlib.Path) -> Iterator[str]:
    """A real server for the shared store, on loopback: scripts/test-python names the program."""
    program = os.environ.get("MAYI_TEST_SERVER", "")
    if not program:
        pytest.skip("MAYI_TEST_SERVER names no program: scripts/test-servers finds or installs one")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if b"Ready to accept connections" in line:
                break
        yield f"redis://127.0.0.1:{port}"
        process.terminate()


def test_a_shared_store_is_one_cache_for_all(site: Site, server: str) -> None:
    with fetcher(store=server) as one, fetcher(store=server) as other:
        first = one.decide(f"{site.url}/private/x", "ExampleBot")
        second = other.decide(f"{site.url}/private/x", "ExampleBot")
        assert first.file is not None and second.file is not None
        assert (first.allowed, second.allowed) == (False, False)
        assert (first.file.source, second.file.source) == ("fetched", "fresh")
    assert site.paths == ["/robots.txt"]

    async def ask() -> bool:
        async with mayi.aio.Fetcher(AGENT, allow_addresses=["127.0.0.0/8"], store=server) as files:
            return await files.allowed(f"{site.url}/private/x", "ExampleBot")

    assert asyncio.run(ask()) is False
    assert site.paths == ["/robots.txt"]


def test_asyncio_asks_thousands_of_questions_with_one_request_a_site(site: Site) -> None:
    async def ask() -> list[bool]:
        async with mayi.aio.Fetcher(AGENT, allow_addresses=["127.0.0.0/8"]) as files:
            urls = [f"{site.url}/private/{number}" for number in range(5000)]
            return await asyncio.gather(*(files.allowed(url, "ExampleBot") for url in urls))

    assert asyncio.run(ask()) == [False] * 5000
    assert len(site.asked) == 1


def test_asyncio_with_a_client_of_ones_own() -> None:
    async def fetch(url: str, headers: dict[str, str]) -> mayi.Answer:
        await asyncio.sleep(0)
        if "bad" in url:
            raise ConnectionError("no route")
        return mayi.Answer(200, {}, FILE)

    async def ask() -> tuple[mayi.Decision, mayi.Decision]:
        async with mayi.aio.Fetcher(AGENT, fetch=fetch) as files:
            good = await files.decide("https://example.com/private/", "ExampleBot")
            bad = await files.decide("https://bad.example/", "ExampleBot")
            with pytest.raises(mayi.Disallowed):
                await files.require("https://example.com/private/", "ExampleBot")
            assert await files.forget("https://example.com/")
            return good, bad

    good, bad = asyncio.run(ask())
    assert (good.allowed, good.reason) == (False, "rule")
    assert bad.reason == "unreachable"


def test_whoever_stops_waiting_takes_nothing_from_others(site: Site) -> None:
    site.wait.clear()

    async def ask() -> bool:
        async with mayi.aio.Fetcher(AGENT, allow_addresses=["127.0.0.0/8"]) as files:
            first = asyncio.create_task(files.allowed(f"{site.url}/private/", "ExampleBot"))
            second = asyncio.create_task(files.allowed(f"{site.url}/private/", "ExampleBot"))
            while not site.asked:
                await asyncio.sleep(0.01)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            site.wait.set()
            return await second

    assert asyncio.run(ask()) is False
    assert len(site.asked) == 1


def run(program: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, timeout=60, check=False
    )


def test_python_ends_while_a_request_is_under_way(site: Site) -> None:
    site.wait.clear()
    program = """
import asyncio, mayi, mayi.aio, sys, threading
url = sys.argv[1]
files = mayi.Fetcher("a (b@c)", allow_addresses=["127.0.0.0/8"])
threading.Thread(target=lambda: files.robots(url), daemon=True).start()
async def ask():
    other = mayi.aio.Fetcher("a (b@c)", allow_addresses=["127.0.0.0/8"])
    asyncio.create_task(other.robots(url))
    await asyncio.sleep(0.2)
asyncio.run(ask())
print("over")
"""
    ended = run(program, site.url)
    assert (ended.returncode, ended.stdout) == (0, b"over\n"), ended.stderr


def test_ctrl_c_ends_the_waiting(site: Site) -> None:
    site.wait.clear()
    # Ctrl-C is ignored by what a shell runs in the background, and so by this program where the tests are.
    program = """
import mayi, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
files = mayi.Fetcher("a (b@c)", allow_addresses=["127.0.0.0/8"])
print("asking", flush=True)
try:
    files.robots(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""
    words = [sys.executable, "-c", program, site.url]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"asking\n"
        while not site.asked:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, b"interrupted\n"), errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_asks_for_itself(site: Site) -> None:
    program = """
import mayi, os, sys
url = sys.argv[1]
files = mayi.Fetcher("a (b@c)", allow_addresses=["127.0.0.0/8"])
assert not files.allowed(url + "/private/", "a")
child = os.fork()
if child == 0:
    assert not files.allowed(url + "/private/", "a")
    del files
    sys.exit(7)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7
assert not files.allowed(url + "/private/", "a")
print("over")
"""
    ended = run(program, site.url)
    assert (ended.returncode, ended.stdout) == (0, b"over\n"), ended.stderr
    assert len(site.asked) == 2


def handles() -> tuple[int, int]:
    status = pathlib.Path("/proc/self/status").read_text("ascii")
    threads = next(line for line in status.splitlines() if line.startswith("Threads:"))
    return len(os.listdir("/proc/self/fd")), int(threads.split()[1])


@pytest.mark.skipif(not pathlib.Path("/proc/self/fd").exists(), reason="handles are counted by Linux")
def test_ten_thousand_fetchers_leave_nothing_behind() -> None:
    def fetch(url: str, headers: dict[str, str]) -> mayi.Answer:
        return mayi.Answer(200, {}, FILE)

    async def afetch(url: str, headers: dict[str, str]) -> mayi.Answer:
        return mayi.Answer(200, {}, FILE)

    def make(count: int) -> None:
        for number in range(count):
            files = mayi.Fetcher(AGENT, fetch=fetch)
            if number % 100 == 0:
                assert not files.allowed("https://example.com/private/", "ExampleBot")
            if number % 2 == 0:
                files.close()
            mayi.aio.Fetcher(AGENT, fetch=afetch)

    def settled() -> tuple[int, int]:
        # Threads of runtimes that were let go end in their own time.
        gc.collect()
        least = handles()
        for _ in range(100):
            time.sleep(0.02)
            least = min(least, handles())
        return least

    make(500)
    before, memory = settled(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    make(5000)
    after, grown = settled(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    assert after[0] <= before[0] + 2 and after[1] <= before[1] + 2, (before, after)
    assert grown < 32 * 1024, f"{grown} KiB more"


def test_policies(site: Site) -> None:
    url = f"{site.url}/private/"
    for policy, is_let_through in [
        (mayi.Policy.OBEY, False),
        (mayi.Policy.RECORD, True),
        (mayi.PerOrigin({site.url: mayi.Policy.RECORD}), True),
        (mayi.PerOrigin({"https://example.com": mayi.Policy.RECORD}), False),
    ]:
        with fetcher(policy=policy) as files:
            if is_let_through:
                assert not files.require(url, "ExampleBot").allowed
            else:
                with pytest.raises(mayi.Disallowed):
                    files.require(url, "ExampleBot")


def test_an_adapter_for_requests(site: Site) -> None:
    import requests

    import mayi.requests

    site.page("/open")
    with requests.Session() as session:
        session.mount("http://", mayi.requests.MayiAdapter("ExampleBot", user_agent=AGENT))
        response = session.get(f"{site.url}/open", timeout=20)
        assert response.status_code == 200
        assert response.mayi.allowed  # type: ignore[attr-defined]
        with pytest.raises(mayi.Disallowed) as caught:
            session.get(f"{site.url}/private/x", timeout=20)
        assert caught.value.decision.rule is not None
    assert site.paths == ["/robots.txt", "/open"]
    assert site.asked[0].user_agent == AGENT


def test_transports_for_httpx(site: Site) -> None:
    import httpx

    import mayi.httpx

    site.page("/open")
    with httpx.Client(transport=mayi.httpx.MayiTransport("ExampleBot", user_agent=AGENT)) as client:
        assert client.get(f"{site.url}/open").extensions["mayi"].allowed
        with pytest.raises(mayi.Disallowed):
            client.get(f"{site.url}/private/x")
    assert site.paths == ["/robots.txt", "/open"]

    async def ask() -> None:
        transport = mayi.httpx.AsyncMayiTransport("ExampleBot", user_agent=AGENT)
        async with httpx.AsyncClient(transport=transport) as client:
            assert (await client.get(f"{site.url}/open")).extensions["mayi"].allowed
            with pytest.raises(mayi.Disallowed):
                await client.get(f"{site.url}/private/x")

    asyncio.run(ask())
    assert site.paths == ["/robots.txt", "/open"] * 2


def test_adapters_read_as_much_of_a_file_as_is_wanted() -> None:
    import httpx
    import requests

    import mayi.httpx
    import mayi.requests

    site = Site(b"User-agent: *\n" + b"# more\n" * 100_000 + b"Disallow: /private/\n")
    site.page("/private/x")
    url = f"{site.url}/private/x"
    for options, is_allowed in (({}, True), ({"max_octets": 1 << 20}, False)):
        about: dict[str, Any] = {"agent": "ExampleBot", "user_agent": AGENT, "fetcher": options}

        def by_requests(about: dict[str, Any] = about) -> None:
            with requests.Session() as session:
                session.mount("http://", mayi.requests.MayiAdapter(**about))
                session.get(url, timeout=20)

        def by_httpx(about: dict[str, Any] = about) -> None:
            with httpx.Client(transport=mayi.httpx.MayiTransport(**about)) as client:
                client.get(url)

        async def later(about: dict[str, Any] = about) -> None:
            async with httpx.AsyncClient(transport=mayi.httpx.AsyncMayiTransport(**about)) as client:
                await client.get(url)

        for ask in (by_requests, by_httpx, lambda: asyncio.run(later())):
            if is_allowed:
                ask()
            else:
                with pytest.raises(mayi.Disallowed):
                    ask()
    site.close()

"""A real spider on sites of loopback, checked request by request by what the servers were asked."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import mayi
import mayi.scrapy
import pytest
from sites import Answer, Site

SPIDER = pathlib.Path(__file__).parent / "spider.py"


def crawl(case: str, *starts: str) -> tuple[dict[str, Any], str]:
    """What the spider got, and what it logged."""
    run = subprocess.run([sys.executable, SPIDER, case, *starts], capture_output=True, timeout=120, check=False)
    log = run.stderr.decode()
    assert run.returncode == 0 and "Traceback" not in log, log
    return json.loads(run.stdout.splitlines()[-1]), log


@pytest.fixture
def sites() -> Iterator[Callable[..., Site]]:
    made: list[Site] = []

    def make(*arguments: Any, **more: Any) -> Site:
        made.append(Site(*arguments, **more))
        return made[-1]

    yield make
    for site in made:
        site.close()


def test_the_parser_in_scrapys_own_middleware(sites: Callable[..., Site]) -> None:
    site = sites(b"User-agent: ExampleBot\nDisallow: /*.pdf$\nUser-agent: *\nDisallow: /\n")
    site.page("/", "/a.pdf", "/a.html", "/a.pdf?x")
    site.page("/a.html")
    site.page("/a.pdf?x")
    seen, _ = crawl("parser", f"{site.url}/")
    assert sorted(site.paths) == ["/", "/a.html", "/a.pdf?x", "/robots.txt"]
    assert seen["stats"]["robotstxt/forbidden"] == 1


def test_what_is_disallowed_is_not_asked_for_and_logged_with_its_line(sites: Callable[..., Site]) -> None:
    site = sites(b"User-agent: *\nDisallow: /private/\n")
    site.page("/", "/private/x", "/open")
    site.page("/open")
    seen, log = crawl("obey", f"{site.url}/")
    assert site.paths == ["/robots.txt", "/", "/open"]
    assert {asked.user_agent for asked in site.asked} == {"ExampleBot/1.0 (+https://example.com/bot)"}
    assert f"Forbidden by robots.txt: <GET {site.url}/private/x> (line 2: Disallow: /private/)" in log
    assert seen["stats"]["mayi/forbidden"] == seen["stats"]["mayi/forbidden/rule"] == 1
    assert seen["stats"]["robotstxt/forbidden"] == 1
    assert seen["stats"]["mayi/decisions"] == 3


def test_what_is_only_recorded_is_asked_for(sites: Callable[..., Site]) -> None:
    site = sites(b"User-agent: *\nDisallow: /private/\n")
    site.page("/private/x")
    seen, log = crawl("record", f"{site.url}/private/x")
    assert site.paths == ["/robots.txt", "/private/x"]
    assert "only recorded" in log
    assert seen["pages"][f"{site.url}/private/x"]["access"]["allowed"] is False


def test_redirects_and_statuses(sites: Callable[..., Site]) -> None:
    moved, failing, missing = sites(), sites(), sites()
    elsewhere = sites(b"User-agent: *\nDisallow: /only-there\n")
    moved.answers["/robots.txt"] = (301, {"Location": "/r1"}, b"")
    moved.answers["/r1"] = (302, {"Location": f"{elsewhere.url}/r2"}, b"")
    elsewhere.answers["/r2"] = (200, {}, b"User-agent: *\nDisallow: /x\n")
    failing.answers["/robots.txt"] = (503, {}, b"User-agent: *\nAllow: /\n")
    missing.answers["/robots.txt"] = (404, {}, b"User-agent: *\nDisallow: /\n")
    for site in (moved, failing, missing):
        site.page("/x")
        site.page("/y")
    urls = [f"{site.url}{path}" for site in (moved, failing, missing) for path in ("/x", "/y")]
    seen, log = crawl("obey", *urls)
    # The file behind the redirects holds for the first site (REP-19), and says nothing of where it was found.
    assert moved.paths == ["/robots.txt", "/r1", "/y"]
    assert elsewhere.paths == ["/r2"]
    # A server that fails allows nothing (REP-21), one that has no file allows everything (REP-20).
    assert failing.paths == ["/robots.txt"]
    assert sorted(missing.paths) == ["/robots.txt", "/x", "/y"]
    assert seen["stats"]["mayi/forbidden/unreachable"] == 2
    assert "(unreachable)" in log


def test_a_server_that_is_not_there_allows_nothing(sites: Callable[..., Site]) -> None:
    gone = sites()
    gone.close()
    seen, _ = crawl("obey", f"{gone.url}/")
    assert seen["pages"] == {}
    assert seen["stats"]["mayi/forbidden/unreachable"] == 1


def test_one_file_an_origin(sites: Callable[..., Site]) -> None:
    one, other = sites(b"User-agent: *\nDisallow: /x\n"), sites(b"User-agent: *\nDisallow: /y\n")
    for site in (one, other):
        site.page("/x")
        site.page("/y")
    crawl("obey", *(f"{site.url}{path}" for site in (one, other) for path in ("/x", "/y")))
    assert one.paths == ["/robots.txt", "/y"]
    assert other.paths == ["/robots.txt", "/x"]


def test_a_file_that_changes_is_asked_for_again(sites: Callable[..., Site]) -> None:
    files = [b"User-agent: *\nDisallow: /3\n", b"User-agent: *\nDisallow: /4\n"]
    links = {"/1": ["/3", "/2"], "/2": ["/3", "/4"], "/3": []}

    def answer(path: str) -> Answer | None:
        if path == "/robots.txt":
            return 200, {"Cache-Control": "max-age=4"}, files.pop(0) if len(files) > 1 else files[0]
        if path == "/2":
            time.sleep(5)  # The file is stale behind this page.
        body = "".join(f'<a href="{link}">x</a>' for link in links[path])
        return 200, {"Content-Type": "text/html"}, body.encode()

    site = sites(answer=answer)
    seen, _ = crawl("obey", f"{site.url}/1")
    assert site.paths == ["/robots.txt", "/1", "/2", "/robots.txt", "/3"]
    assert seen["stats"]["mayi/forbidden"] == 2


@pytest.mark.parametrize(
    ("record", "delay"),
    # No more than the setting MAYI_MOST_CRAWL_DELAY, which is 0.5 here.
    [(b"Crawl-delay: 0.3\n", 0.3), (b"Crawl-delay: 86400\n", 0.5), (b"", 0)],
)
def test_crawl_delay_slows_the_site_down(sites: Callable[..., Site], record: bytes, delay: float) -> None:
    """To wait is Scrapy's own work: what it was told is asked of the slot that each page came through."""
    site = sites(b"User-agent: *\nDisallow:\n" + record)
    site.page("/", "/1")
    site.page("/1")
    seen, _ = crawl("obey", f"{site.url}/")
    assert site.paths == ["/robots.txt", "/", "/1"]
    assert seen["delays"] == {f"{site.url}/": delay, f"{site.url}/1": delay}


@pytest.mark.parametrize("case", ["obey", "mark"])
def test_page_controls_and_items(sites: Callable[..., Site], case: str) -> None:
    site = sites(b"User-agent: *\nAllow: /\nContent-Usage: /trained train-ai=y\nContent-Usage: /kept train-ai=n\n")
    site.page("/trained", headers={"X-Robots-Tag": "noindex"})
    site.page("/kept", head="<meta name=robots content=nofollow>")
    urls = [f"{site.url}/trained", f"{site.url}/kept"]
    seen, _ = crawl(case, *urls)
    trained, kept = (seen["pages"][url] for url in urls)
    assert (trained["page"]["index"], trained["uses"]["train"]) == (False, "allowed")
    assert (kept["page"]["follow"], kept["uses"]["train"]) == (False, "disallowed")
    if case == "obey":
        assert [item["url"] for item in seen["items"]] == [urls[0]]
    else:
        assert {item["url"]: item["mayi_disallowed"] for item in seen["items"]} == {
            urls[0]: [],
            urls[1]: ["train"],
        }


def test_items_of_every_kind(caplog: pytest.LogCaptureFixture) -> None:
    """Items are dicts, Scrapy's own, and dataclasses; most have no field that nobody asked for."""
    import dataclasses

    import scrapy
    from scrapy.exceptions import DropItem
    from scrapy.settings import Settings

    class Item(scrapy.Item):  # type: ignore[misc]
        mayi = scrapy.Field()

    @dataclasses.dataclass
    class Data:
        mayi: mayi.Decision

    def pipeline(**settings: Any) -> mayi.scrapy.UsesPipeline:
        crawler: Any = type("Crawler", (), {"settings": Settings(settings)})
        return mayi.scrapy.UsesPipeline.from_crawler(crawler)

    def decision(value: str) -> mayi.Decision:
        robots = mayi.RobotsTxt(f"User-agent: *\nAllow: /\nContent-Usage: train-ai={value}\n")
        return robots.decide("https://example.com/a", "ExampleBot")

    drops = pipeline()
    for make in (Item, Data, dict):
        good = make(mayi=decision("y"))
        assert drops.process_item(good) is good
        with pytest.raises(DropItem, match=r"https://example\.com/a may not be used for: train"):
            drops.process_item(make(mayi=decision("n")))
    marked = pipeline(MAYI_MARK_ITEMS=True).process_item({"mayi": decision("n")})
    assert marked["mayi_disallowed"] == ["train"]
    for _ in range(2):
        assert drops.process_item({"url": "https://example.com/a"}) == {"url": "https://example.com/a"}
    assert [record.message for record in caplog.records if "field" in record.message] == [
        "An item without a field `mayi` can't be judged and is kept: give it response.meta['mayi']"
    ]
    with pytest.raises(ValueError, match="training.*ai_input"):
        pipeline(MAYI_USES=["training"])

"""The replacements for urllib.robotparser and Protego beside their originals: the same names, and values of the same kinds."""

from __future__ import annotations

import inspect
import urllib.error
import urllib.robotparser
from collections.abc import Iterator
from typing import Any

import mayi.protego
import mayi.urllib
import protego
import pytest
from sites import Site

FILE = """\
User-agent: ExampleBot
Disallow: /private/
Crawl-delay: 3
Request-rate: 1/10

User-agent: *
Disallow: /

Sitemap: https://example.com/sitemap.xml
"""


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site(FILE.encode())
    yield made
    made.close()


def both() -> tuple[Any, mayi.urllib.RobotFileParser]:
    original, ours = urllib.robotparser.RobotFileParser(), mayi.urllib.RobotFileParser()
    for parser in (original, ours):
        parser.parse(FILE.splitlines())
    return original, ours


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_urllib_has_the_names_of_the_original() -> None:
    original, ours = both()
    # Python 3.13.14 has one more, which is no part of its documentation.
    assert public(original) - {"groups"} <= public(ours)
    for name in public(urllib.robotparser.RobotFileParser):
        wanted = list(inspect.signature(getattr(type(original), name)).parameters)
        assert list(inspect.signature(getattr(type(ours), name)).parameters) == wanted, name
    wanted = list(inspect.signature(type(original)).parameters)
    assert list(inspect.signature(type(ours)).parameters)[: len(wanted)] == wanted


def test_urllib_returns_what_the_original_returns() -> None:
    original, ours = both()
    for ask in (
        lambda parser: parser.can_fetch("ExampleBot", "https://example.com/private/x"),
        lambda parser: parser.can_fetch("OtherBot", "/"),
        lambda parser: parser.crawl_delay("ExampleBot"),
        lambda parser: parser.crawl_delay("OtherBot"),
        lambda parser: tuple(parser.request_rate("ExampleBot")),
        lambda parser: parser.request_rate("ExampleBot")._fields,
        lambda parser: parser.request_rate("OtherBot"),
        lambda parser: parser.site_maps(),
        lambda parser: parser.sitemaps,
        lambda parser: str(parser),
        lambda parser: [(entry.useragents, entry.delay) for entry in parser.entries if "*" not in entry.useragents],
        lambda parser: (type(parser.mtime()), parser.allow_all, parser.disallow_all),
    ):
        wanted, found = ask(original), ask(ours)
        assert (found, type(found)) == (wanted, type(wanted))


def test_urllib_fetches_as_it_is_told(site: Site) -> None:
    agent = "ExampleBot/1.0 (+https://example.com/bot)"
    parser = mayi.urllib.RobotFileParser(f"{site.url}/robots.txt", user_agent=agent, timeout=20)
    assert not parser.can_fetch("ExampleBot", f"{site.url}/"), "nothing is allowed before a file was read"
    parser.read()
    assert parser.can_fetch("ExampleBot", f"{site.url}/")
    assert not parser.can_fetch("ExampleBot", f"{site.url}/private/x")
    assert site.asked[0].user_agent == agent
    # REP-20 and REP-21: no file allows everything, and a server that fails allows nothing.
    for status, allowed in ((404, True), (410, True), (401, True), (403, True), (500, False), (503, False)):
        site.answers["/robots.txt"] = (status, {}, FILE.encode())
        parser.read()
        assert parser.can_fetch("ExampleBot", f"{site.url}/private/x") is allowed, status
    strict = mayi.urllib.RobotFileParser(f"{site.url}/robots.txt", obey_refusals=True)
    for status, allowed in ((401, False), (403, False), (404, True)):
        site.answers["/robots.txt"] = (status, {}, b"")
        strict.read()
        assert strict.can_fetch("ExampleBot", f"{site.url}/") is allowed, status
    site.answers["/robots.txt"] = (301, {"Location": "/elsewhere"}, b"")
    site.answers["/elsewhere"] = (200, {}, FILE.encode())
    parser.read()
    assert not parser.can_fetch("ExampleBot", f"{site.url}/private/x")


def test_urllib_does_not_wait_for_ever(site: Site) -> None:
    site.wait.clear()
    parser = mayi.urllib.RobotFileParser(f"{site.url}/robots.txt", timeout=0.2)
    with pytest.raises(OSError, match="timed out"):
        parser.read()
    assert not parser.can_fetch("ExampleBot", f"{site.url}/")
    gone = mayi.urllib.RobotFileParser("http://127.0.0.1:1/robots.txt", timeout=20)
    with pytest.raises(urllib.error.URLError):
        gone.read()
    assert not gone.can_fetch("ExampleBot", f"{site.url}/")


def test_urllib_with_ten_thousand_groups() -> None:
    """What a parser prints takes a pass over the file, not one for each group."""
    groups = [f"User-agent: b{number}\nCrawl-delay: {number % 9}\nDisallow: /{number}" for number in range(10_000)]
    parser = mayi.urllib.RobotFileParser()
    parser.parse("\n\n".join(groups).splitlines())
    assert str(parser) == "\n\n".join(groups)
    assert [entry.delay for entry in parser.entries[:12]] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2]


def test_protego_has_the_names_of_the_original() -> None:
    text = FILE + "Host: www.example.com\nUser-agent: OtherBot\nDisallow: /x\nVisit-time: 0600-0845\nRequest-rate: 1/5 0900-1730\n"
    original, ours = protego.Protego.parse(text), mayi.protego.Protego.parse(text)
    assert public(original) <= public(ours)
    for name in ("parse", "can_fetch", "crawl_delay", "request_rate", "visit_time"):
        wanted = list(inspect.signature(getattr(original, name)).parameters)
        assert list(inspect.signature(getattr(ours, name)).parameters)[: len(wanted)] == wanted, name
    for ask in (
        lambda parser: parser.can_fetch("https://example.com/private/x", "ExampleBot"),
        lambda parser: parser.crawl_delay("ExampleBot"),
        lambda parser: tuple(parser.request_rate("ExampleBot")),
        lambda parser: tuple(parser.request_rate("OtherBot")),
        lambda parser: parser.request_rate("OtherBot")._fields,
        lambda parser: tuple(parser.visit_time("OtherBot")),
        lambda parser: parser.visit_time("OtherBot")._fields,
        lambda parser: parser.visit_time("ExampleBot"),
        lambda parser: list(parser.sitemaps),
        lambda parser: next(parser.sitemaps),
        lambda parser: parser.preferred_host,
    ):
        wanted, found = ask(original), ask(ours)
        assert (found, type(found)) == (wanted, type(wanted))

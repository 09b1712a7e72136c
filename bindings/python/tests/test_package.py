"""The plain interface: what is given, what comes back, and what is wrong with a call."""

import copy
import doctest
import gc
import importlib
import inspect
import pickle
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import mayi
import pytest

FILE = b"""\
User-agent: ExampleBot
Disallow: /private/
Allow: /private/open
Crawl-delay: 2.5
Request-rate: 1/10

User-agent: *
Disallow: /

Sitemap: https://example.com/sitemap.xml
"""
URL = "https://example.com/private/x"


def test_a_decision_has_its_parts() -> None:
    decision = mayi.RobotsTxt(FILE).decide(URL, "ExampleBot")
    assert not decision.allowed
    assert decision.reason == "rule"
    assert decision.rule is not None and decision.group is not None
    assert (decision.rule.kind, decision.rule.pattern, decision.rule.line) == ("disallow", "/private/", 2)
    assert (decision.group.by, decision.group.lines) == ("product-token", (1,))
    assert (decision.url, decision.agent, decision.dialect) == (URL, "ExampleBot", "rfc9309")
    assert (decision.uses.crawl, decision.uses.train) == ("disallowed", "unknown")
    assert decision.records.sitemaps == ("https://example.com/sitemap.xml",)
    assert decision.records.crawl_delay == 2.5
    assert decision.records.other["request_rate"] == ("1/10",)
    assert decision.usage is None and decision.page is None and decision.explanation is None
    assert repr(mayi.RobotsTxt(FILE)) == f"<RobotsTxt of {len(FILE)} octets with 2 groups, read as rfc9309>"
    assert repr(mayi.RobotsTxt(FILE).for_crawler("ExampleBot")) == "<Rules: 2 for ExampleBot>"
    assert repr(decision) == f"<Decision: disallowed for ExampleBot: {URL} (line 2: Disallow: /private/)>"


def test_an_explanation_has_what_was_considered() -> None:
    decision = mayi.RobotsTxt(FILE).explain(URL + "/open", "ExampleBot")
    assert decision.explanation is not None
    assert [rule.line for rule in decision.explanation.matches] == [2]
    assert [group.chosen for group in decision.explanation.groups] == [True, False]
    assert "REP-8" in decision.explanation.clauses


def test_a_decision_is_neither_true_nor_false() -> None:
    decision = mayi.RobotsTxt(FILE).decide(URL, "ExampleBot")
    with pytest.raises(TypeError, match=r"decision\.allowed"):
        bool(decision)


def test_what_is_frozen_stays_as_it_is() -> None:
    robots = mayi.RobotsTxt(FILE)
    decision = robots.decide(URL, "ExampleBot")
    for thing, name in [(decision, "allowed"), (decision.rule, "line"), (robots, "dialect")]:
        with pytest.raises(AttributeError):
            setattr(thing, name, None)
    with pytest.raises(TypeError):
        decision.records.other["x"] = ()  # type: ignore[index]


def test_octets_and_text_of_every_kind() -> None:
    text = FILE.decode()
    for given in (FILE, bytearray(FILE), memoryview(FILE), text):
        assert not mayi.RobotsTxt(given).allowed(URL, "ExampleBot")
    escaped = b"User-agent: *\nDisallow: /\xff\n".decode("utf-8", "surrogateescape")
    assert not mayi.RobotsTxt(escaped).allowed("https://example.com/%FF", "ExampleBot")
    mayi.RobotsTxt("User-agent: \ud800\n")
    with pytest.raises(TypeError, match="bytes or str"):
        mayi.RobotsTxt(7)  # type: ignore[arg-type]
    utf_16 = mayi.RobotsTxt(text.encode("utf-16-le"), charset="utf-16le")
    assert not utf_16.allowed(URL, "ExampleBot")


def test_crawlers() -> None:
    robots = mayi.RobotsTxt(FILE)
    crawler = mayi.Crawler("ExampleBot", purposes=["EXAMPLE-PURPOSE-1"], apps=["examplesearch"])
    assert (crawler.product_token, crawler.purposes, crawler.apps) == (
        "ExampleBot",
        ("EXAMPLE-PURPOSE-1",),
        ("examplesearch",),
    )
    assert robots.decide(URL, crawler) == robots.decide(
        URL, "ExampleBot", purposes=["EXAMPLE-PURPOSE-1"], apps=["examplesearch"]
    )
    header = "Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)"
    whole = mayi.Crawler.from_user_agent(header)
    assert whole.product_token == "ExampleBot"
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert repr(whole) == f'Crawler.from_user_agent("{header}")'
    assert mayi.Crawler.from_user_agent("").product_token == "*"
    assert mayi.Crawler.from_user_agent("MyBot/1.0 (as Googlebot)").product_token == "MyBot"
    assert mayi.Crawler("Example-AI").is_for_training
    assert repr(crawler).startswith('Crawler("ExampleBot", purposes=')
    with pytest.raises(TypeError, match="pass them to the Crawler"):
        robots.decide(URL, crawler, purposes=["x"])


def test_an_empty_name_in_the_dialect_of_urllib() -> None:
    """It names everybody, but one who asks as `*` has the groups of `*` first."""
    empty, everybody = "User-agent:\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n"
    for text, agent, refused in (
        (empty + everybody, "ExampleBot", ["/a"]),
        (everybody + empty, "ExampleBot", ["/a"]),
        (empty + everybody, "*", ["/b"]),
        (everybody + empty, "*", ["/b"]),
        (empty, "*", ["/a"]),
    ):
        robots = mayi.RobotsTxt(text, dialect="urllib")
        paths = ["/a", "/b"]
        assert [path for path in paths if not robots.allowed(f"https://example.com{path}", agent)] == refused
        rules = robots.for_crawler(agent)
        assert [path for path in paths if not rules.allowed(f"https://example.com{path}")] == refused


def test_a_crawler_that_nobody_names() -> None:
    robots = mayi.RobotsTxt(FILE)
    decision = robots.decide(URL, "*")
    assert decision.group is not None
    assert decision.group.by == "global"
    assert robots.crawl_delay("*") is None


def test_no_file() -> None:
    missing, failing = mayi.RobotsTxt.of_status(404), mayi.RobotsTxt.of_error("timeout")
    assert missing.decide(URL, "ExampleBot").reason == "unavailable"
    assert failing.decide(URL, "ExampleBot").reason == "unreachable"
    assert (missing.access, failing.access) == ("unavailable", "unreachable")
    assert failing.for_crawler("ExampleBot").allowed(URL) is False
    with pytest.raises(ValueError, match="comes with a file"):
        mayi.RobotsTxt.of_status(200)


def test_lists_of_urls() -> None:
    rules = mayi.RobotsTxt(FILE).for_crawler("ExampleBot")
    urls = [URL, "https://example.com/", "https://example.com/private/open"] * 20_000
    assert rules.allowed_many(urls) == [False, True, True] * 20_000
    assert rules.allowed_many(iter(urls[:2])) == [False, True]
    assert [decision.allowed for decision in rules.decide_many(urls[:3])] == [False, True, True]
    assert rules.allowed_many([URL, "x"], invalid_as_none=True) == [False, None]
    for ask in (rules.allowed_many, rules.decide_many):
        with pytest.raises(mayi.InvalidUrl) as caught:
            ask([URL, "x"])
        assert caught.value.index == 1
        with pytest.raises(TypeError, match="list of URLs"):
            ask(URL)
    assert (rules.agent, len(rules), rules.crawl_delay) == ("ExampleBot", 2, 2.5)


def test_errors_are_values() -> None:
    robots = mayi.RobotsTxt(FILE)
    for ask, kind, code, clause in [
        (lambda: robots.allowed("/private", "ExampleBot"), mayi.InvalidUrl, "invalid-url", "REP-18"),
        (lambda: robots.allowed("gopher://a/", "a"), mayi.UnsupportedScheme, "unsupported-scheme", "REP-18"),
        (lambda: robots.allowed(URL, "Example Bot"), mayi.InvalidAgent, "invalid-agent", "REP-4"),
        (lambda: mayi.Crawler("a", purposes=[""]), mayi.InvalidPurpose, "invalid-purpose", "PUR-2"),
        (lambda: mayi.Crawler("a", apps=["1"]), mayi.InvalidApp, "invalid-app", "APP-3"),
        (lambda: mayi.Crawler("a", user_agent="b"), mayi.InvalidUserAgent, "invalid-user-agent", "PUR-4"),
        (
            lambda: mayi.Crawler("*", purposes=["p"], user_agent="b"),
            mayi.InvalidUserAgent,
            "invalid-user-agent",
            "PUR-4",
        ),
        (lambda: mayi.RobotsTxt(b"", dialect="x"), mayi.UnknownDialect, "unknown-dialect", None),
        (lambda: mayi.answer({"url": URL}), mayi.InvalidRequest, "invalid-request", None),
        (lambda: mayi.answer("{"), mayi.InvalidRequest, "invalid-json", None),
    ]:
        with pytest.raises(kind) as caught:
            ask()
        error = caught.value
        assert isinstance(error, ValueError)
        assert (error.code, error.clause) == (code, clause)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.code) == (type(error), str(error), error.code)
    with pytest.raises(UnicodeEncodeError):
        robots.allowed("https://example.com/\ud800", "ExampleBot")
    with pytest.raises(TypeError):
        robots.allowed(URL, 7)  # type: ignore[arg-type]


def things() -> list[object]:
    robots = mayi.RobotsTxt(FILE, without=["misspellings"])
    crawler = mayi.Crawler("ExampleBot", purposes=["EXAMPLE-PURPOSE-1"])
    decision = robots.explain(URL, crawler)
    return [
        robots,
        crawler,
        decision,
        mayi.RobotsTxt.of_status(503),
        mayi.RobotsTxt.of_error("timeout"),
        mayi.Registry(),
        decision.rule,
        decision.records,
        decision.explanation,
        mayi.lint(FILE),
    ]


def test_what_a_pool_sends_is_the_same_there() -> None:
    for thing, again in zip(things(), things(), strict=True):
        assert thing == again
        assert hash(thing) == hash(again)
        assert pickle.loads(pickle.dumps(thing)) == thing
        assert copy.deepcopy(thing) == thing
    rules = pickle.loads(pickle.dumps(mayi.RobotsTxt(FILE).for_crawler("ExampleBot")))
    assert not rules.allowed(URL)
    assert mayi.RobotsTxt(b"") != mayi.RobotsTxt(b"", dialect="google")
    with ProcessPoolExecutor(2) as pool:
        assert list(pool.map(rules.allowed, [URL, "https://example.com/"])) == [False, True]


def test_pages() -> None:
    page = mayi.page({"X-Robots-Tag": ["noindex", "nofollow"]}, "<meta name=robots content=nosnippet>")
    assert (page.index, page.follow, page.snippet) == (False, False, False)
    assert {found.rule for found in page.found} == {"noindex", "nofollow", "nosnippet"}
    own = mayi.page([("Robots-Tag", "*;noindex, ExampleBot;")], agent="ExampleBot")
    assert own.index
    allowed = mayi.RobotsTxt(b"").decide(URL, "ExampleBot", headers={"X-Robots-Tag": "noindex"})
    assert allowed.page is not None
    assert (allowed.page.index, allowed.uses.index) == (False, "disallowed")


def test_what_else_there_is() -> None:
    assert mayi.format("user-agent : *\nDISALLOW:/a\n") == "User-agent: *\nDisallow: /a\n"
    assert mayi.format(b"user-agent : *\n") == b"User-agent: *\n"
    assert mayi.fix("User-agent: *\nDisallow /a # b\n").startswith("User-agent: *\nDisallow: /a")
    assert mayi.lint("User-agent: *\nDisallow /a\n").diagnostics[0].code == "S001"
    assert mayi.lint("User-agent: *\nDisallow /a\n", ignore=["S001"]).totals.get("S001") is None
    assert mayi.lint("User-agent: *\nDisallow: /a*\n").diagnostics == ()
    repeated = mayi.lint("User-agent: *\nDisallow: /a*\nDisallow: /b*\n", select=["style"]).diagnostics
    assert [(found.code, found.count, found.lines) for found in repeated] == [("P006", 2, (2, 3))]
    assert mayi.fix("User-agent: *\nDisallow: /a*\n", select=["style"]) == "User-agent: *\nDisallow: /a\n"
    with pytest.raises(ValueError, match="missing-colon"):
        mayi.lint("", ignore=["missing-colom"])
    diff = mayi.diff("User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n")
    assert diff.meaning == "changed"
    assert {change.became for change in diff.crawlers[0].changes} == {"allowed", "disallowed"}
    comparison = mayi.compare(b"User-agent: *\nDisallowed: /a\n", agents=["*"])
    assert comparison.rows[0].patterns[0].pattern == "/a"
    assert "rfc9309" in mayi.dialects() and "google" in mayi.dialects()


def test_registries() -> None:
    registry = mayi.Registry()
    agent = registry.agent("googlebot-image")
    assert agent is not None and agent.operator == "Google"
    assert registry.agent("no-such-crawler") is None
    claimed = registry.claimed_by("Mozilla/5.0 (compatible; bingbot/2.0)")
    assert claimed is not None and claimed.token == "bingbot"
    assert len(registry.agents) > 100 and registry.purposes and registry.applications
    assert registry.categories and registry.directives
    more = mayi.Registry([("mine.toml", '[[purpose]]\ntoken = "SHOPPING"\ndescription = "shops"\n')])
    assert len(more.purposes) == len(registry.purposes) + 1
    assert mayi.RobotsTxt(FILE, registry=more) != mayi.RobotsTxt(FILE)
    with pytest.raises(ValueError, match=r"mine\.toml"):
        mayi.Registry([("mine.toml", "[[purpose]]\n")])


def test_the_command_is_there() -> None:
    import os
    import shutil
    import sysconfig

    command = shutil.which("mayi", path=sysconfig.get_path("scripts"))
    assert command is not None
    check = ["check", "--robots", "-", "--agent", "ExampleBot", URL]
    for words in ([command], [sys.executable, "-m", "mayi"]):
        run = subprocess.run([*words, *check], input=FILE, capture_output=True, timeout=60, check=False)
        assert run.returncode == 1, run.stderr
        assert b"disallowed" in run.stdout
        wrong = subprocess.run([*words, "chek"], capture_output=True, timeout=60, check=False)
        assert wrong.returncode == 2
        assert b"unrecognized subcommand" in wrong.stderr
        told = subprocess.run([*words, "--version"], capture_output=True, timeout=60, check=True)
        assert told.stdout.split() == [b"mayi", mayi.__version__.encode()]
    # Nobody reads what is written: that is no error.
    pipe = subprocess.Popen([command, "registry", "list"], stdout=subprocess.PIPE, env=os.environ)
    assert pipe.stdout is not None
    pipe.stdout.close()
    assert pipe.wait(60) == 0


def test_versions_agree() -> None:
    import importlib.metadata

    assert importlib.metadata.version("mayi") == mayi.__version__


def test_one_wheel_is_for_all_versions() -> None:
    import importlib.metadata
    import re
    import sysconfig

    built = importlib.metadata.distribution("mayi")
    tags = re.findall(r"^Tag: (.+)$", built.read_text("WHEEL") or "", re.MULTILINE)
    without_gil = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    if not without_gil:  # There is no stable ABI for the others.
        assert [tag.split("-")[:2] for tag in tags] == [["cp310", "abi3"]]
    assert built.metadata["Requires-Python"] == ">=3.10"
    files = {str(file) for file in built.files or ()}
    assert {"mayi/py.typed", "mayi/_mayi.pyi"} <= files
    # A module that is not made for it would switch the GIL on.
    assert getattr(sys, "_is_gil_enabled", lambda: True)() is not without_gil


LONG = b"User-agent: *\n" + b"".join(b"Disallow: /%d/*/x\n" % number for number in range(20_000))


@pytest.mark.parametrize(
    "work",
    [
        lambda: mayi.RobotsTxt(LONG),
        lambda: mayi.RobotsTxt(LONG).for_crawler("ExampleBot"),
        lambda: mayi.RobotsTxt(FILE).for_crawler("ExampleBot").allowed_many([URL] * 50_000),
        lambda: mayi.RobotsTxt(FILE).for_crawler("ExampleBot").decide_many([URL] * 50_000),
        lambda: mayi.RobotsTxt(LONG).decide(URL, "ExampleBot"),
        lambda: mayi.lint(LONG),
        lambda: mayi.format(LONG),
        lambda: mayi.diff(LONG, FILE),
        lambda: mayi.compare(LONG),
    ],
)
def test_others_run_during_work(work: Callable[[], object]) -> None:
    """Within one call nobody else runs, unless the call lets go of the GIL."""
    steps, is_over = 0, threading.Event()

    def count() -> None:
        nonlocal steps
        while not is_over.is_set():
            steps += 1
            time.sleep(0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(100)
    other = threading.Thread(target=count)
    try:
        other.start()
        for _ in range(100):
            seen = steps
            work()
            if steps > seen:
                return
        pytest.fail("nobody else ran in 100 calls")
    finally:
        is_over.set()
        sys.setswitchinterval(before)
        other.join()


def test_sixteen_threads_at_once() -> None:
    robots = mayi.RobotsTxt(FILE)
    rules = robots.for_crawler("ExampleBot")
    decision = rules.decide(URL)

    def ask(number: int) -> None:
        for step in range(300):
            assert rules.decide(URL).rule == decision.rule, step
            assert decision.records.crawl_delay == 2.5, step
            assert not robots.allowed(URL, f"Bot{number % 4}-{step % 80}"), step
            assert not rules.allowed(URL), step
            mayi.RobotsTxt(FILE * 20).decide(URL, "ExampleBot").to_dict()
            if step % 50 == 0:
                mayi.lint(FILE)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(16)))  # raises what a thread raised


def test_memory_stays_flat_over_a_million_decisions() -> None:
    rules = mayi.RobotsTxt(FILE).for_crawler("ExampleBot")
    urls = [URL] * 10_000

    def ask(rounds: int) -> None:
        for _ in range(rounds):
            for url in urls:
                rules.decide(url)
            rules.allowed_many(urls)
            for number in range(20):
                mayi.RobotsTxt(FILE).decide(f"{URL}{number}", "ExampleBot").to_dict()

    ask(10)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ask(100)
    gc.collect()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 4096, f"{grown} KiB more after a million decisions"


@pytest.mark.parametrize("module", ["mayi", "mayi._fetcher", "mayi._keeping", "mayi._policy", "mayi.aio", "mayi.urllib", "mayi.protego"])
def test_examples_in_the_modules(module: str) -> None:
    import importlib

    found = doctest.testmod(importlib.import_module(module), extraglobs={"mayi": mayi})
    assert found.attempted > 0
    assert found.failed == 0


def test_the_default_dialect_is_that_of_the_engine() -> None:
    expected = mayi.RobotsTxt(FILE).decide(URL, "ExampleBot").dialect
    request = {"url": URL, "agent": "ExampleBot", "robots": FILE.decode()}
    assert mayi.answer(request).dialect == expected
    names = ["urllib", "protego", "scrapy", "aio", "arrow", "_fetcher"]
    modules = [mayi, *(importlib.import_module(f"mayi.{name}") for name in names)]
    seen = 0
    for module in modules:
        for thing in vars(module).values():
            functions = [thing, *vars(thing).values()] if inspect.isclass(thing) else [thing]
            for function in functions:
                if not callable(function) or not str(getattr(function, "__module__", "")).startswith("mayi"):
                    continue
                try:
                    parameter = inspect.signature(function).parameters.get("dialect")
                except (TypeError, ValueError):
                    continue
                if parameter is not None and isinstance(parameter.default, str):
                    assert parameter.default == expected, function
                    seen += 1
    assert seen > 5

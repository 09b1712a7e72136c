"""Arrays of URLs: every layout of strings and every way to give them is answered as single questions are."""

from __future__ import annotations

import os
import pathlib
import signal
import tarfile
import threading
from collections.abc import Callable
from typing import Any

import mayi
import mayi.arrow
import pyarrow as pa
import pytest
import test_vectors
import vectors

ROBOTS = b"User-agent: *\nDisallow: /private/\nAllow: /private/press\nContent-Usage: train-ai=n\n"
URLS = [
    "https://example.com/private/x",
    None,
    "https://example.com/",
    "nonsense",
    "https://example.com/private/press",
    "https://example.com/private/x",
]
ALLOWED = [False, None, True, None, True, False]


def rows(decided: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pa.chunked_array(decided).to_pylist()
    return found


def decide(urls: Any, **given: Any) -> list[dict[str, Any]]:
    return rows(mayi.arrow.decide(urls, **{"robots": ROBOTS, "agent": "ExampleBot"} | given))


def row_of(ask: Callable[[], mayi.Decision]) -> dict[str, Any]:
    """What a question comes to, as a row."""
    try:
        decision = ask()
    except mayi.MayiError as error:
        return dict.fromkeys(("allowed", "reason", "rule", "line")) | {"error": f"{error.code}: {error}"}
    rule = decision.rule
    return {
        "allowed": decision.allowed,
        "reason": decision.reason,
        "rule": rule and rule.pattern,
        "line": rule and rule.line,
        "error": None,
    }


def expected(urls: list[str | None], robots: mayi.RobotsTxt, agent: Any) -> list[dict[str, Any]]:
    """Question by question."""
    none = {"error": "invalid-url: the row has no URL"}
    wrong = dict.fromkeys(("allowed", "reason", "rule", "line"))
    return [wrong | none if url is None else row_of(lambda: robots.decide(url, agent)) for url in urls]


LAYOUTS: dict[str, Callable[[list[str | None]], Any]] = {
    "utf8": lambda urls: pa.array(urls, pa.string()),
    "large": lambda urls: pa.array(urls, pa.large_string()),
    "view": lambda urls: pa.array(urls, pa.string_view()),
    "dictionary": lambda urls: pa.array(urls, pa.string()).dictionary_encode(),
    "large dictionary": lambda urls: pa.array(urls, pa.large_string()).dictionary_encode(),
    "small keys": lambda urls: pa.array(urls).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
    "null in the dictionary": lambda urls: pa.DictionaryArray.from_arrays(range(len(urls)), pa.array(urls)),
    "view dictionary": lambda urls: pa.DictionaryArray.from_arrays(range(len(urls)), pa.array(urls, pa.string_view())),
    "slice": lambda urls: pa.array(["https://x/", *urls, "https://y/"])[1:-1],
    "slice of views": lambda urls: pa.array(["https://x/", *urls, "https://y/"], pa.string_view())[1:-1],
    "slice of a dictionary": lambda urls: pa.array(["https://x/", *urls, None]).dictionary_encode()[1:-1],
    "chunks": lambda urls: pa.chunked_array([urls[:2], [], urls[2:]], pa.string()),
    "chunks of dictionaries": lambda urls: pa.chunked_array(
        [pa.array(urls[:2]).dictionary_encode(), pa.array(urls[2:]).dictionary_encode()]
    ),
    "record batch": lambda urls: pa.record_batch({"url": urls}),
    "table": lambda urls: pa.table({"id": list(range(len(urls))), "URL": urls}),
    "reader": lambda urls: pa.table({"u": urls}).to_reader(max_chunksize=2),
    "struct with an offset": lambda urls: pa.StructArray.from_arrays([pa.array([None, *urls])], ["url"])[1:],
    "null structs": lambda urls: pa.StructArray.from_arrays(
        [pa.array([url or "https://hidden/" for url in urls])], ["url"], mask=pa.array([url is None for url in urls])
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_answered_alike(layout: str) -> None:
    found = decide(LAYOUTS[layout](URLS))
    assert found == expected(URLS, mayi.RobotsTxt(ROBOTS), "ExampleBot")
    assert [row["allowed"] for row in found] == ALLOWED
    assert found[0] == {"allowed": False, "reason": "rule", "rule": "/private/", "line": 2, "error": None}
    assert decide(LAYOUTS[layout]([None])) == expected([None], mayi.RobotsTxt(ROBOTS), "ExampleBot")
    if layout != "reader":
        assert decide(LAYOUTS[layout](URLS).slice(0, 0)) == []


def test_the_types_of_the_answers() -> None:
    words = pa.dictionary(pa.int8(), pa.string())
    fields = {"allowed": pa.bool_(), "reason": words, "rule": pa.string(), "line": pa.uint32(), "error": pa.string()}
    for urls in (pa.array(URLS), pa.array([], pa.string()), pa.chunked_array([], pa.string())):
        decided = mayi.arrow.decide(urls, robots=ROBOTS, agent="ExampleBot")
        assert pa.array(decided).type == pa.chunked_array(decided).type == pa.struct(fields)
        assert pa.table(decided).schema.names == list(fields)
        assert len(decided) == len(urls) == len(pa.array(decided))
    every = ["agent", "origin", "octets", "group", "train", "search", "ai_input"]
    decided = mayi.arrow.decide(pa.array(URLS), robots=ROBOTS, agent="ExampleBot", answers=every)
    types = [pa.string(), pa.string(), pa.uint32(), words, words, words, words]
    assert pa.array(decided).type == pa.struct(list(zip(every, types)))
    assert pa.array(decided).to_pylist()[0] == {
        "agent": "ExampleBot",
        "origin": "https://example.com",
        "octets": 9,
        "group": "global",
        # What may not be fetched has no preferences (USE-4).
        "train": "unknown",
        "search": "unknown",
        "ai_input": "unknown",
    }
    assert pa.array(decided).to_pylist()[2]["train"] == "disallowed"
    assert len(mayi.arrow.decide(pa.array(URLS), robots=ROBOTS, agent="a", answers=[])) == len(URLS)


def test_the_result_is_given_as_often_as_it_is_asked_for() -> None:
    decided = mayi.arrow.decide(pa.array(URLS), robots=ROBOTS, agent="ExampleBot")
    assert pa.array(decided) == pa.array(decided) == pa.chunked_array(decided).combine_chunks()
    assert pa.array(decided.field("allowed")).to_pylist() == ALLOWED
    plain = pa.struct([("allowed", pa.bool_()), ("reason", pa.string()), ("rule", pa.large_string())])
    wanted = pa.struct([*plain, ("line", pa.int64()), ("error", pa.string())])
    assert pa.array(decided, type=wanted).type == wanted
    with pytest.raises(KeyError, match="no field `allow`; there are: allowed, reason"):
        decided.field("allow")
    # It can be asked about itself: it is an array as others are.
    origins = mayi.arrow.origin(pa.array(URLS))
    assert decide(origins) == decide(pa.array(origins))
    assert repr(decided) == "<mayi.arrow.Answers of 6 rows>"


def test_several_crawlers_at_once() -> None:
    robots = "User-agent: a\nDisallow: /\n\nUser-agent: b\nDisallow: /b\n"
    urls = pa.array(["https://example.com/b", "https://example.com/", None])
    together = decide(urls, robots=robots, agent=["a", mayi.Crawler("b")])
    alone = [decide(urls, robots=robots, agent=agent) for agent in ("a", "b")]
    assert together == [{"a": a, "b": b} for a, b in zip(*alone)]
    assert [row["allowed"] for row in alone[0]] == [False, False, None]
    assert [row["allowed"] for row in alone[1]] == [False, True, None]
    for agents, words in (([], "empty"), (["a", "A"], "`A` is twice")):
        with pytest.raises(ValueError, match=words):
            decide(urls, agent=agents)


def test_a_crawler_is_all_that_is_said_of_it() -> None:
    robots = mayi.RobotsTxt(
        "User-agent: *\nDisallow: /a\n\nUser-agent: Bot\nDisallow: /b\n\nUser-Agent-Purpose: X\nDisallow: /c\n"
    )
    urls = ["https://example.com/a", "https://example.com/b", "https://example.com/c"]
    crawlers = [
        "Bot",
        "*",
        mayi.Crawler("Other", purposes=["X"]),
        mayi.Crawler("Other", purposes=["X"], registered_purposes_only=True),
        mayi.Crawler.from_user_agent("Mozilla/5.0 (compatible; Bot/1.0)"),
    ]
    for _ in range(2):
        for crawler in crawlers:
            assert decide(pa.array(urls), robots=robots, agent=crawler) == expected(urls, robots, crawler), crawler


def test_files_of_origins() -> None:
    mapping = {
        "https://a.example": b"User-agent: *\nDisallow: /\n",
        "http://a.example/robots.txt": "",
        "https://gone.example": 404,
        "https://down.example:443": 503,
        "https://silent.example": None,
    }
    urls = [
        "https://a.example/",
        "http://a.example/",
        "https://gone.example/",
        "https://down.example/",
        "https://silent.example/",
        "HTTPS://A.Example:443/x",
    ]
    allowed = [False, True, True, False, False, False]
    reasons = ["rule", "no-group", "unavailable", "unreachable", "unreachable", "rule"]
    table = pa.table(
        {
            "origin": [
                "https://a.example",
                "http://a.example",
                "https://gone.example",
                "https://down.example",
                "https://silent.example",
                "https://a.example",
            ],
            "status": [200, 200, 404, 503, None, 404],
            "body": [b"User-agent: *\nDisallow: /\n", b"", None, None, None, None],
            "time": pa.array([2, 2, 2, 2, 2, 1], pa.timestamp("s")),
        }
    )
    for files in (
        mapping,
        table,
        table.to_batches()[0],
        table.to_reader(),
        mayi.arrow.Files(mapping),
        mayi.arrow.Files(table),
    ):
        found = decide(pa.array(urls), robots=None, files=files)
        assert [row["allowed"] for row in found] == allowed
        assert [row["reason"] for row in found] == reasons
    other = pa.array(["https://other.example/"])
    [row] = decide(other, robots=None, files=mapping)
    words = "no-robots: there is no file for https://other.example; the option `missing` says what to do without one"
    assert row == {"allowed": None, "reason": None, "rule": None, "line": None, "error": words}
    assert [
        decide(other, robots=None, files=mapping, missing=word)[0]["allowed"] for word in ("allow", "disallow")
    ] == [True, False]
    files = mayi.arrow.Files(mapping, missing="allow", dialect="google")
    assert len(files) == 5 and repr(files) == "<mayi.arrow.Files of 5 origins>"
    assert decide(other, robots=None, files=files)[0]["reason"] == "unavailable"


def test_files_in_other_layouts() -> None:
    origins, bodies = pa.array(["https://a.example"]), pa.array([b"User-agent: *\nDisallow: /x"])
    for origin in (origins, origins.cast(pa.string_view()), origins.dictionary_encode()):
        for body in (bodies, bodies.cast(pa.string()), bodies.cast(pa.large_binary()), bodies.cast(pa.binary_view())):
            files = pa.table({"ORIGIN": origin, "body": body, "status": pa.array([200], pa.int64())})
            assert decide(pa.array(["https://a.example/x"]), robots=None, files=files)[0]["line"] == 2
    table = pa.table({"origin": ["https://a", "nonsense"], "status": [404, 404], "body": ["", ""]})
    with pytest.warns(UserWarning, match="1 rows of files have no origin; the first is row 2"):
        assert len(mayi.arrow.Files(table)) == 1


def test_what_is_wrong_with_a_call_is_said() -> None:
    urls = pa.array(URLS)
    file = mayi.RobotsTxt(ROBOTS)
    files = mayi.arrow.Files({})
    wrong: list[tuple[type[Exception], str, Callable[[], Any]]] = [
        (TypeError, "urls has to be an Arrow array.*it is of the type list", lambda: decide(URLS)),
        (TypeError, "it is of the type str", lambda: decide("https://example.com/")),
        (TypeError, "it has values of the type Int64", lambda: decide(pa.array([1]))),
        (TypeError, "it has values of the type Binary", lambda: decide(pa.array([b"x"]))),
        (TypeError, "values of the type Int64", lambda: decide(pa.chunked_array([], pa.int64()))),
        (TypeError, "values of the type List", lambda: decide(pa.array([["x"]]))),
        (TypeError, "values of the type Dictionary", lambda: decide(pa.array([1]).dictionary_encode())),
        (
            TypeError,
            "no column of the table is called `url`, and it has `a`, `b`",
            lambda: decide(pa.table({"a": ["x"], "b": ["y"]})),
        ),
        (TypeError, "values of the type Int64", lambda: decide(pa.table({"url": [1], "b": ["y"]}))),
        (TypeError, "it has no columns", lambda: decide(pa.table({}))),
        (TypeError, "give one of robots", lambda: decide(urls, robots=None)),
        (TypeError, "give one of robots", lambda: decide(urls, files={})),
        (TypeError, "have their dialect already", lambda: decide(urls, robots=file, dialect="google")),
        (TypeError, "have their dialect already", lambda: decide(urls, robots=None, files=files, dialect="google")),
        (
            TypeError,
            "told already what a missing one means",
            lambda: decide(urls, robots=None, files=files, missing="allow"),
        ),
        (TypeError, "missing is for files", lambda: decide(urls, missing="allow")),
        (TypeError, "bytes or str is needed, not int", lambda: decide(urls, robots=1)),
        (TypeError, "agent is a str, a Crawler, or a list", lambda: decide(urls, agent=1)),
        (mayi.InvalidAgent, "no token", lambda: decide(urls, agent="no token")),
        (mayi.UnknownDialect, "`x`; there are rfc9309", lambda: decide(urls, dialect="x")),
        (
            ValueError,
            "no answer is called `lines`; there are agent, origin, allowed",
            lambda: decide(urls, answers=["lines"]),
        ),
        (ValueError, "no answer is called `url`", lambda: decide(urls, answers=["url"])),
        (ValueError, "missing is one of error, allow, disallow, not `x`", lambda: mayi.arrow.Files({}, missing="x")),
        (ValueError, "`example.com` is not an origin", lambda: mayi.arrow.Files({"example.com": b""})),
        (TypeError, "bytes or str is needed, not float", lambda: mayi.arrow.Files({"https://a": 1.5})),
        (TypeError, "files is a mapping.*it is of the type list", lambda: mayi.arrow.Files([])),
        (
            ValueError,
            "it has no column `status`; a table of robots.txt files has",
            lambda: mayi.arrow.Files(pa.table({"origin": ["https://a"]})),
        ),
        (
            ValueError,
            "column `body` can't be used",
            lambda: mayi.arrow.Files(pa.table({"origin": ["https://a"], "status": [200], "body": [[1]]})),
        ),
    ]
    for kind, words, call in wrong:
        with pytest.raises(kind, match=words):
            call()


class Exporter:
    """Something with capsules that does what it is told."""

    def __init__(self, give: Callable[[], Any]) -> None:
        self.give = give

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.give()


class ArrayExporter:
    def __init__(self, give: Callable[[], Any]) -> None:
        self.give = give

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.give()


def test_exporters_that_fail() -> None:
    def fail() -> Any:
        raise RuntimeError("no array today")

    for exporter in (Exporter(fail), ArrayExporter(fail)):
        with pytest.raises(RuntimeError, match="no array today"):
            decide(exporter)
    for given in (None, 1, (), (1, 2), (None,), object()):
        for kind in (Exporter, ArrayExporter):
            with pytest.raises((TypeError, ValueError, IndexError)):
                decide(kind(lambda: given))
    # A capsule of another kind, and one whose array was taken before.
    with pytest.raises((TypeError, ValueError)):
        decide(Exporter(lambda: pa.array(URLS).__arrow_c_array__()[1]))
    stream = pa.chunked_array([URLS]).__arrow_c_stream__()
    assert len(decide(Exporter(lambda: stream))) == len(URLS)
    with pytest.raises((TypeError, ValueError)):
        decide(Exporter(lambda: stream))
    capsules = pa.array(URLS).__arrow_c_array__()
    assert len(decide(ArrayExporter(lambda: capsules))) == len(URLS)
    with pytest.raises((TypeError, ValueError)):
        decide(ArrayExporter(lambda: capsules))


def test_a_stream_that_fails_in_the_middle() -> None:
    def batches() -> Any:
        yield pa.record_batch({"url": ["https://example.com/"]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"url": pa.string()}), batches())
    with pytest.raises(ValueError, match="the URLs can't be read: .*the disk is gone"):
        decide(reader)


def test_many_rows_by_many_threads() -> None:
    file = mayi.RobotsTxt(ROBOTS)
    urls = [f"https://example.com/{'private/' * (n % 3 == 0)}{n}" for n in range(150_000)]
    decided = mayi.arrow.decide(pa.chunked_array([urls[:99_999], urls[99_999:]]), robots=file, agent="ExampleBot")
    allowed = pa.array(decided.field("allowed"))
    assert allowed.to_pylist() == [n % 3 != 0 for n in range(150_000)]
    assert pa.chunked_array(decided).combine_chunks() == pa.array(decided)


def test_threads_ask_at_once() -> None:
    files = mayi.arrow.Files({f"https://h{n}.example": f"User-agent: *\nDisallow: /{n}" for n in range(50)})
    urls = pa.array([f"https://h{n % 50}.example/{n % 7}" for n in range(2048)])
    wanted = decide(urls, robots=None, files=files)
    found: list[Any] = []

    def ask() -> None:
        for _ in range(10):
            found.append(decide(urls, robots=None, files=files))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40 and all(one == wanted for one in found)


def test_huge_rows() -> None:
    long = "https://example.com/private/" + "x" * (4 << 20)
    urls = pa.array([long, "y" * (4 << 20), "https://example.com/" + "?" * (1 << 20)])
    assert decide(urls) == expected(urls.to_pylist(), mayi.RobotsTxt(ROBOTS), "ExampleBot")
    # A pattern that long is not written into every row.
    robots = b"User-agent: *\nDisallow: /" + b"*" * 400_000
    [row] = decide(pa.array(["https://example.com/a"]), robots=robots)
    assert row["rule"] == "/" + "*" * 4095 + "…" and row["line"] == 2


def test_ctrl_c_ends_a_long_array() -> None:
    urls = pa.array(["https://example.com/a"] * 65_536)
    # These are a hundred times as many rows as can be answered until the signal comes.
    many = pa.chunked_array([urls] * 4_000)
    # A program that a shell starts in the background ignores the signal, and Python leaves that as it is.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            mayi.arrow.decide(many, robots=ROBOTS, agent="ExampleBot", answers=["allowed"])
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_origins() -> None:
    urls = [
        "https://Example.com:443/a?b",
        "http://example.com/",
        "https://example.com:8443/x",
        None,
        "nonsense",
        "https://bücher.example/",
        "https://user@example.com/",
        "https://example.com/1",
        "https://example.com/2",
    ]
    wanted = [
        "https://example.com",
        "http://example.com",
        "https://example.com:8443",
        None,
        None,
        "https://xn--bcher-kva.example",
        "https://example.com",
        "https://example.com",
        "https://example.com",
    ]
    for layout in ("utf8", "large", "view", "dictionary", "chunks", "table"):
        found = pa.chunked_array(mayi.arrow.origin(LAYOUTS[layout](urls)))
        assert found.type == pa.string() and found.to_pylist() == wanted
    with pytest.raises(TypeError, match="Int64"):
        mayi.arrow.origin(pa.array([1]))


def test_the_vectors() -> None:
    """Every question of the vectors, as a row."""
    asked = 0
    for case in vectors.cases():
        request = case.request
        if "page" in request or "now" in request or request["agent"] == "*":
            continue
        try:
            file, crawler = test_vectors.asked(case)
        except ValueError:
            # There is no such crawler, or no such file.
            continue
        url = request["url"]
        row = row_of(lambda: file.decide(url, crawler))
        [found] = decide(pa.array([url]), robots=file, agent=crawler)
        if url == "":
            row["error"] = found["error"]
        if row["rule"] is not None and len(row["rule"].encode()) > 4096:
            row["rule"] = found["rule"]
        assert found == row, case.id
        asked += 1
    assert asked > 1_000


def corpus() -> pathlib.Path:
    beside = pathlib.Path(__file__).resolve().parents[4] / "shared/corpus"
    folder = pathlib.Path(os.environ.get("MAYI_CORPUS", beside))
    if not (folder / "robots.tar.gz").exists():
        pytest.skip("there is no corpus")
    return folder


def test_real_files() -> None:
    """Real files, with URLs made from their own rules: every row is as the single question."""
    folder = corpus()
    files: dict[str, bytes] = {}
    with tarfile.open(folder / "robots.tar.gz") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                files[f"https://h{len(files)}.example"] = content.read()
    by_origin: dict[str, mayi.RobotsTxt] = {origin: mayi.RobotsTxt(octets) for origin, octets in files.items()}
    urls = [
        origin + path
        for origin, file in by_origin.items()
        for path in [
            "/",
            *(rule.pattern.replace("*", "x").rstrip("$") for group in file.groups for rule in group.rules),
        ][:12]
        if path.startswith("/")
    ]
    assert len(files) > 1_000 and len(urls) > 5_000
    prepared = mayi.arrow.Files(files)
    for agent in ("Googlebot", "GPTBot"):
        found = decide(pa.array(urls), robots=None, files=prepared, agent=agent)
        for url, row in zip(urls, found):
            origin = url[: url.index("/", 8)]
            assert row == row_of(lambda: by_origin[origin].decide(url, agent)), url

"""All conformance vectors, through the package: by whole requests, and by the typed interface."""

import base64
import datetime
import json
import pickle
import re
from typing import Any

import mayi
import vectors
from mayi import _report


def octets(carried: Any) -> Any:
    return base64.b64decode(carried["base64"]) if isinstance(carried, dict) else carried


def seconds_of(time: str) -> float:
    """A time of RFC 3339 as `time.time()` tells it. Python 3.10 reads fewer forms of it than later ones."""
    fraction = re.sub(r"\.(\d+)", lambda found: f".{found[1][:6]:0<6}", time.upper().replace("Z", "+00:00"))
    return datetime.datetime.fromisoformat(fraction).timestamp()


def typed(case: vectors.Case) -> mayi.Decision:
    """The same question by classes and arguments instead of JSON."""
    request = case.request
    dialect, robots = request.get("dialect", "rfc9309"), request["robots"]
    if isinstance(robots, dict) and "status" in robots:
        file = mayi.RobotsTxt.of_status(robots["status"], dialect=dialect)
    elif isinstance(robots, dict) and "error" in robots:
        file = mayi.RobotsTxt.of_error(robots["error"], dialect=dialect)
    else:
        charset = robots.get("charset") if isinstance(robots, dict) else None
        file = mayi.RobotsTxt(octets(robots), dialect=dialect, charset=charset, without=case.without)
    crawler = mayi.Crawler(
        request["agent"],
        purposes=request.get("purposes", ()),
        apps=request.get("apps", ()),
        user_agent=request.get("user_agent"),
        registered_purposes_only=request.get("registered_purposes_only", False),
    )
    seconds = seconds_of(request["now"]) if "now" in request else None
    page = request.get("page", {})
    html = octets(page["html"]) if "html" in page else None
    if "page" not in request:
        return file.decide(request["url"], crawler)
    return file.decide(
        request["url"],
        crawler,
        headers=page.get("headers", []),
        html=html,
        union=request.get("union", False),
        now=seconds,
    )


def answered(ask: Any) -> tuple[dict[str, Any], Any]:
    """What a question comes to, and its decision where it has one."""
    try:
        decision = ask()
    except mayi.MayiError as error:
        return error.to_dict(), None
    return decision.to_dict(), decision


def test_every_vector() -> None:
    wrong, asked = [], 0
    for case in vectors.cases():
        asked += 1
        found, whole = answered(lambda: mayi.answer(case.request, without=case.without))
        told = vectors.difference(case.expect, found)
        if told is not None:
            wrong.append(f"{case.id}: {told}")
        # The classes have no place for a file that is said to be there and is not, and `*` is a crawler to them.
        code = found.get("error", {}).get("code")
        if code in ("invalid-robots", "no-robots", "invalid-request") or case.request["agent"] == "*":
            continue
        by_type, decision = answered(lambda: typed(case))
        if whole is not None and "now" not in case.request:
            if by_type != found:
                wrong.append(f"{case.id}: by classes {by_type}, by JSON {found}")
        elif by_type.get("error", {}).get("code") != found.get("error", {}).get("code"):
            wrong.append(f"{case.id}: by classes {by_type}, by JSON {found}")
        if decision is not None:
            told = vectors.difference(case.expect, by_type)
            if told is not None:
                wrong.append(f"{case.id}, by classes: {told}")
    assert asked > 1000
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:20])


def test_every_part_of_a_report_has_a_typed_object() -> None:
    _report._unknown.clear()
    for case in vectors.cases():
        request = case.request | {"explain": True}
        found, decision = answered(lambda: mayi.answer(request, without=case.without))
        if decision is None:
            continue
        access = found["access"]
        assert (decision.allowed, decision.reason) == (access["allowed"], access["reason"])
        assert (None if decision.rule is None else decision.rule.line) == (access["rule"] or {}).get("line")
        assert decision.uses.ai_input == found["uses"]["ai-input"]
        assert decision.explanation is not None
        assert len(decision.explanation.matches) == len(found["explanation"]["matches"])
        assert pickle.loads(pickle.dumps(decision)) == decision
        assert json.loads(decision.to_json()) == found
        repr(decision)
    assert not _report._unknown


def test_prepared_rules_decide_the_same() -> None:
    asked = 0
    for case in vectors.cases():
        plain = set(case.request) <= {"url", "agent", "robots", "dialect"} and not case.without
        if not plain or "error" in case.expect:
            continue
        robots = case.request["robots"]
        if isinstance(robots, dict) and ("status" in robots or "error" in robots or "charset" in robots):
            continue
        url, agent = case.request["url"], case.request["agent"]
        file = mayi.RobotsTxt(octets(robots), dialect=case.request.get("dialect", "rfc9309"))
        rules = file.for_crawler(agent)
        decision = file.decide(url, agent)
        assert rules.decide(url) == decision == file.decide(url, agent), case.id
        assert rules.allowed(url) == rules.allowed_many([url])[0] == decision.allowed, case.id
        asked += 1
    assert asked > 500


def test_where_files_are() -> None:
    for vector in vectors.tables("locate"):
        try:
            found = mayi.robots_url(vector["url"])
        except mayi.MayiError as error:
            assert error.code == vector.get("error"), vector["id"]
        else:
            assert found == vector["robots_url"], vector["id"]


def test_lints() -> None:
    asked = 0
    for case in vectors.tables("lint"):
        file = vectors.file_of(case)
        assert file is not None
        page = case.get("page")
        about = (page["url"], page.get("headers", []), page.get("html", "")) if page else None
        linted = mayi.lint(file, page=about, select=["style"])
        expected = case.get("found", [])
        # One cause is one finding with its lines; a case has every place.
        found = set()
        for diagnostic in linted.diagnostics:
            if diagnostic.code != case["code"]:
                continue
            place, fix = diagnostic.place, diagnostic.fix
            first = (place.line, place.column) if place else (0, 0)
            assert first in [(one["line"], one["column"]) for one in expected], (case["code"], case["why"])
            how = ("safe" if fix.safe else "unsafe") if fix else None
            found |= {(line, diagnostic.severity, how) for line in diagnostic.lines or (0,)}
        wanted = {(one["line"], one["severity"], one.get("fix")) for one in expected}
        assert found == wanted, (case["code"], case["why"])
        if case.get("clean"):
            assert not linted.diagnostics, case["why"]
        asked += 1
    assert asked > 50


#: The kinds of vectors, and why those that are None are not asked here.
KINDS = {
    "vector": test_every_vector,
    "locate": test_where_files_are,
    "lint": test_lints,
    "access": "tests/test_fetcher.py asks them of a fetcher",
    "script": "tests/test_fetcher.py plays those steps that need no clock",
    "keep": None,  # a function of a time that is given, and no part of the package is given one
}


def test_no_kind_of_vector_is_passed_over() -> None:
    counts: dict[str, int] = {}
    for path in sorted(vectors.FOLDER.glob("*/*.toml")):
        for kind, tables in vectors.tomllib.loads(path.read_text("utf-8")).items():
            counts[kind] = counts.get(kind, 0) + len(tables)
    assert set(counts) == set(KINDS), "a kind of vector that nobody asks here"
    left_out = {kind: counts[kind] for kind, asked in KINDS.items() if asked is None}
    print(f"vectors that Python is not asked: {left_out}")
    assert sum(left_out.values()) < sum(counts.values()) / 10

"""All conformance vectors, through the package: none is passed over, and each kind has a function that plays one."""

import base64
import json
import pickle
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import mayi
import over_time
import pytest
import simulation
import vectors
from mayi import _report


def octets(carried: Any) -> Any:
    return base64.b64decode(carried["base64"]) if isinstance(carried, dict) else carried


def asked(case: vectors.Case) -> tuple[mayi.RobotsTxt, mayi.Crawler]:
    """The file and the crawler of a question, as classes."""
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
    return file, crawler


def typed(case: vectors.Case) -> mayi.Decision:
    """The same question by classes and arguments instead of JSON."""
    request = case.request
    file, crawler = asked(case)
    seconds = vectors.seconds_of(request["now"]) if "now" in request else None
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


def play_vector(vector: dict[str, Any]) -> None:
    """Every question, by whole requests and by the typed interface."""
    for case in vectors.cases_of(vector):
        found, whole = answered(lambda: mayi.answer(case.request, without=case.without))
        assert vectors.difference(case.expect, found) is None, case.request["url"][:200]
        # The classes have no place for a file that is said to be there and is not, and `*` is a crawler to them.
        code = found.get("error", {}).get("code")
        if code in ("invalid-robots", "no-robots", "invalid-request") or case.request["agent"] == "*":
            continue
        by_type, decision = answered(lambda: typed(case))
        if whole is not None and "now" not in case.request:
            assert by_type == found, case.request["url"][:200]
        else:
            assert by_type.get("error", {}).get("code") == code
        if decision is not None:
            assert vectors.difference(case.expect, by_type) is None, case.request["url"][:200]


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


def play_locate(vector: dict[str, Any]) -> None:
    """Where a file is."""
    try:
        found = mayi.robots_url(vector["url"])
    except mayi.MayiError as error:
        assert error.code == vector.get("error")
    else:
        assert found == vector["robots_url"]


def play_lint(case: dict[str, Any]) -> None:
    """What one lint finds in a file."""
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
        assert first in [(one["line"], one["column"]) for one in expected]
        how = ("safe" if fix.safe else "unsafe") if fix else None
        found |= {(line, diagnostic.severity, how) for line in diagnostic.lines or (0,)}
    assert found == {(one["line"], one["severity"], one.get("fix")) for one in expected}
    if case.get("clean"):
        assert not linted.diagnostics


#: How a vector of each kind is played.
PLAYS: dict[str, list[Callable[[dict[str, Any]], None]]] = {
    "vector": [play_vector],
    "locate": [play_locate],
    "lint": [play_lint],
    "access": [partial(over_time.play_access, kind=kind) for kind in simulation.KINDS],
    "keep": [partial(over_time.play_keep, kind=kind) for kind in simulation.KINDS],
    "script": [partial(over_time.play_script, kind=kind) for kind in simulation.KINDS],
}


def test_every_vector() -> None:
    played: Counter[str] = Counter()
    wrong = []
    for kind, vector in vectors.tables():
        for play in PLAYS[kind]:
            try:
                play(vector)
            except AssertionError as error:
                wrong.append(f"{vector.get('id', vector.get('code'))}: {error}\n  as {vector['why']}")
        played[kind] += 1
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:20])
    # Counted in the text of the files, so that the reader has left nothing out either.
    written: Counter[str] = Counter()
    for path in vectors.FOLDER.rglob("*.toml"):
        lines = path.read_text("utf-8").splitlines()
        written.update(line[2:-2] for line in lines if line.startswith("[[") and line.endswith("]]") and "." not in line)
    print(f"vectors played: {dict(played)}")
    assert played == written
    assert set(played) == set(PLAYS)


def test_a_vector_with_a_member_that_is_not_known_is_not_played() -> None:
    known = {"id": "x", "clauses": [], "why": "", "asks": [{"agent": "a", "url": "b", "expect": {}}]}
    vectors.check_members("vector", known)
    with pytest.raises(AssertionError, match="colour"):
        vectors.check_members("vector", known | {"colour": "red"})
    with pytest.raises(AssertionError, match="colour"):
        vectors.check_members("vector", known | {"asks": [{"colour": "red"}]})
    with pytest.raises(AssertionError, match="kind"):
        vectors.check_members("colour", {})

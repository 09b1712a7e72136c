"""The originals' own tests against the faces, from the originals' packages.

Each test that is not passed stands in `suites/expected.toml` with its reason. A test that begins to pass or to
fail fails this one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = pathlib.Path(__file__).parent
#: Where the source distributions are unpacked: scripts/test-python says so.
SOURCES = pathlib.Path(os.environ.get("MAYI_SUITE_SOURCES", "/nonexistent"))
EXPECTED = tomllib.loads((HERE / "suites" / "expected.toml").read_text("utf-8"))


def files_of(suite: str) -> tuple[pathlib.Path, list[str]]:
    """The folder that a suite runs in, and its files."""
    if suite == "cpython":
        found = importlib.util.find_spec("test.test_robotparser")
        if found is None or found.origin is None:
            pytest.skip("this Python has no tests of its own")
        return HERE, [found.origin]
    if suite == "cpython-3-15":
        named = os.environ.get("MAYI_CPYTHON_TESTS", "")
        if not named:
            pytest.skip("MAYI_CPYTHON_TESTS names no file: the test_robotparser.py of Python 3.15")
        return HERE, [named]
    (folder,) = (path for path in SOURCES.glob(f"{suite}-*") if path.is_dir())
    names = {
        "protego": ["test_protego.py", "test_on_google_spec.py"],
        "scrapy": ["test_robotstxt_interface.py", "test_downloadermiddleware_robotstxt.py"],
    }
    return folder, [f"tests/{name}" for name in names[suite]]


def outcomes_of(suite: str, dialect: str, written: pathlib.Path) -> dict[str, str]:
    folder, files = files_of(suite)
    environment = os.environ | {
        "MAYI_SUITE": suite,
        "MAYI_SUITE_DIALECT": dialect,
        "MAYI_SUITE_OUTCOMES": str(written),
        "PYTHONPATH": str(HERE / "suites"),
    }
    left_out = " and ".join(f"not ({name})" for name in EXPECTED[suite].get("left_out", {}))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "mayi_in_place", "-p", "no:cacheprovider"]
    words += ["-o", "asyncio_default_fixture_loop_scope=function"]
    words += ["-k", left_out, *files]
    run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, timeout=600, check=False)
    assert written.exists(), run.stdout.decode() + run.stderr.decode()
    return dict(json.loads(written.read_text("utf-8")))


def cases() -> list[tuple[str, str]]:
    return [(suite, dialect) for suite in EXPECTED for dialect in EXPECTED[suite]["dialects"]]


@pytest.mark.parametrize(("suite", "dialect"), cases())
def test_the_suite_of(suite: str, dialect: str, tmp_path: pathlib.Path) -> None:
    if not suite.startswith("cpython") and not SOURCES.exists():
        pytest.fail("MAYI_SUITE_SOURCES names no folder: run scripts/test-python")
    outcomes = outcomes_of(suite, dialect, tmp_path / "outcomes.json")
    if suite == "cpython" and len(outcomes) != EXPECTED[suite]["tests"]:
        pytest.skip(f"this Python's tests are those of another version: {len(outcomes)} of them")
    assert len(outcomes) == EXPECTED[suite]["tests"]
    expected = EXPECTED[suite]["dialects"][dialect]
    failed = {name for name, outcome in outcomes.items() if outcome == "failed"}
    skipped = sum(outcome == "skipped" for outcome in outcomes.values())
    passed = len(outcomes) - len(failed) - skipped
    print(f"{suite} in {dialect}: {passed} pass, {len(failed)} fail, the suite itself skips {skipped}")
    new, mended = failed - set(expected), set(expected) - failed
    assert not new and not mended, f"fail unexpectedly: {sorted(new)}; pass unexpectedly: {sorted(mended)}"

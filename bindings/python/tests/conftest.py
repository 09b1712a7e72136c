"""No test is skipped silently: a skip that is not in the list here fails the run."""

from __future__ import annotations

from typing import Any

#: Why a test may be skipped, by the start of its reason. scripts/test-python lists those that were.
KNOWN_SKIPS = (
    "there is no fork here",
    "handles are counted by Linux",
    "this Python has no tests of its own",
    "this Python's tests are those of another version",
    "MAYI_CPYTHON_TESTS names no file",
    "MAYI_TEST_SERVER names no program",
    "there is no corpus",
    "this is for scripts/test-scale",
    "there is no Java",
)
unknown: list[str] = []


def pytest_runtest_logreport(report: Any) -> None:
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = str(report.longrepr[2]).removeprefix("Skipped: ")
    if not reason.startswith(KNOWN_SKIPS):
        unknown.append(f"{report.nodeid}: {reason}")


def pytest_sessionfinish(session: Any) -> None:
    if unknown:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for skip in unknown:
        terminalreporter.write_line(f"skipped for a reason that tests/conftest.py does not know: {skip}", red=True)

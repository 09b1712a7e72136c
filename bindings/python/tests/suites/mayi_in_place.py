"""A plugin of pytest that puts a face of mayi in the place of the original, and writes what came of each test."""

from __future__ import annotations

import json
import os
from typing import Any

outcomes: dict[str, str] = {}


def pytest_configure() -> None:
    suite, dialect = os.environ["MAYI_SUITE"], os.environ["MAYI_SUITE_DIALECT"]
    if suite.startswith("cpython"):
        import urllib.robotparser as original

        import mayi.urllib

        class RobotFileParser(mayi.urllib.RobotFileParser):
            def __init__(self, url: str = "") -> None:
                super().__init__(url, dialect=dialect, obey_refusals=dialect == "urllib")

        original.RobotFileParser = RobotFileParser  # type: ignore[misc,assignment]
        original.RequestRate = mayi.urllib.RequestRate  # type: ignore[misc,assignment]
        original.Entry, original.RuleLine = mayi.urllib.Entry, mayi.urllib.RuleLine  # type: ignore[misc,assignment]
    elif suite == "protego":
        import protego

        import mayi.protego

        class Protego(mayi.protego.Protego):
            @classmethod
            def parse(cls, content: str) -> Any:  # type: ignore[override]
                return super().parse(content, dialect=dialect)

        protego.Protego = Protego
    elif suite == "scrapy":
        import scrapy.robotstxt

        import mayi.scrapy

        class Parser(mayi.scrapy.MayiRobotParser):
            def __init__(self, robotstxt_body: bytes) -> None:
                super().__init__(robotstxt_body, dialect=dialect)

            @classmethod
            def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Any:
                return cls(robotstxt_body)

        scrapy.robotstxt.ProtegoRobotParser = Parser  # type: ignore[misc,assignment]
    else:
        raise ValueError(suite)


def pytest_runtest_logreport(report: Any) -> None:
    """A test has passed where nothing of it has failed: neither its set-up nor a subtest."""
    name = report.nodeid.split("::", 1)[1]
    if report.failed:
        outcomes[name] = "failed"
    elif report.skipped:
        outcomes.setdefault(name, "skipped")
    elif report.when == "call":
        outcomes.setdefault(name, "passed")


def pytest_sessionfinish() -> None:
    with open(os.environ["MAYI_SUITE_OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(outcomes, file)

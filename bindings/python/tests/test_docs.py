"""The code of the pages: every block of Python in them is run, in order, as one program a page."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md", "bindings/python/README.md"])
def test_the_code_of(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert blocks
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], page, "exec"), names)


def test_the_differences_are_those_that_the_suites_show() -> None:
    """Every clause that a test of an original is not passed for stands on the page."""
    page = (ROOT / "docs/python.md").read_text("utf-8")
    expected = (ROOT / "bindings/python/tests/suites/expected.toml").read_text("utf-8")
    for clause in sorted(set(re.findall(r"\((REP-\d+)\)", expected))):
        assert clause in page, clause

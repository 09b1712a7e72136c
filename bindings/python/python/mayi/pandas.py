"""A pandas column of URLs → a frame of answers, with the same index.

>>> import pandas as pd
>>> import mayi.pandas
>>> urls = pd.Series(["https://example.com/private/x", "https://example.com/"], index=["a", "b"])
>>> decided = mayi.pandas.decide(urls, robots="User-agent: *\\nDisallow: /private/\\n", agent="ExampleBot")
>>> decided["allowed"].to_dict()
{'a': False, 'b': True}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]

from . import arrow
from ._mayi import Crawler

__all__ = ["decide"]


def decide(
    urls: pd.Series,
    *,
    agent: str | Crawler,
    robots: arrow.Robots | None = None,
    files: Any = None,
    answers: Iterable[str] = arrow.ANSWERS,
    dialect: str | None = None,
    missing: str | None = None,
) -> pd.DataFrame:
    """A column for each of the answers of ``mayi.arrow.decide``, which has the same arguments.

    The columns have the types of Arrow, so that a missing answer is null and not mistaken for another value. This needs
    pyarrow.
    """
    decided = arrow.decide(
        pa.Array.from_pandas(urls, type=None if len(urls) else pa.string()),
        agent=agent,
        robots=robots,
        files=files,
        answers=answers,
        dialect=dialect,
        missing=missing,
    )
    frame = pa.table(decided).to_pandas(types_mapper=pd.ArrowDtype)
    frame.index = urls.index
    return frame

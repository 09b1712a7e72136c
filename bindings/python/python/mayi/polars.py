"""Expressions for Polars: ``pl.col("url").robots.decide(…)``.

>>> import polars as pl
>>> import mayi.polars
>>> frame = pl.DataFrame({"url": ["https://example.com/private/x", "https://example.com/"]})
>>> robots = "User-agent: *\\nDisallow: /private/\\n"
>>> frame.select(pl.col("url").robots.allowed(robots=robots, agent="ExampleBot")).to_series().to_list()
[False, True]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from . import arrow
from ._mayi import Crawler, arrow_decide

__all__ = ["RobotsNamespace"]


@pl.api.register_expr_namespace("robots")
class RobotsNamespace:
    """The namespace ``robots`` of expressions. Importing this module registers it."""

    def __init__(self, urls: pl.Expr) -> None:
        self._urls = urls

    def decide(
        self,
        *,
        agent: str | Crawler | Iterable[str | Crawler],
        robots: arrow.Robots | None = None,
        files: Any = None,
        answers: Iterable[str] = arrow.ANSWERS,
        dialect: str | None = None,
        missing: str | None = None,
    ) -> pl.Expr:
        """A struct of the answers, as ``mayi.arrow.decide`` gives it. It is lazy and can be streamed."""
        asked = arrow.prepared(robots, files, dialect, missing)
        names = list(answers)
        agents = agent if isinstance(agent, (str, Crawler)) else list(agent)

        def answered(urls: pl.Series) -> pl.Series:
            return pl.Series(urls.name, arrow_decide(urls, asked, agents, names))

        # An answer for no rows gives the type; and a wrong crawler name raises now, not at collect().
        nothing = answered(pl.Series("", [], dtype=pl.String))
        return self._urls.map_batches(answered, return_dtype=nothing.dtype, is_elementwise=True)

    def allowed(self, **given: Any) -> pl.Expr:
        """Whether the crawler may fetch it; null if there is no answer. The arguments are those of ``decide``."""
        return self.decide(answers=("allowed",), **given).struct.field("allowed")

    def origin(self) -> pl.Expr:
        """The URL's origin, by which ``files`` are found."""
        return self._urls.map_batches(
            lambda urls: pl.Series(urls.name, arrow.origin(urls)), return_dtype=pl.String, is_elementwise=True
        )

"""Servers and a clock that do as they are told, around a fetcher of either kind: vectors that take time are played so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import mayi
import mayi.aio

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
#: Any time will do; this one is in 2027.
START = 500_000 * 3600.0
#: The fetchers that vectors are played with.
KINDS = ("blocking", "asyncio")


class Simulation:
    """A fetcher with servers and a clock, to be used in a `with` statement."""

    def __init__(self, kind: str, keeping: mayi.Keeping, *, offline: bool = False) -> None:
        self.now = START
        #: What is answered, by URL. What is not in it can't be reached.
        self.servers: Mapping[str, Mapping[str, Any]] = {}
        #: The URLs that were asked for, with a word behind those that ask for changes only.
        self.asked: list[str] = []
        self._loop = asyncio.new_event_loop()
        settings: dict[str, Any] = {"keeping": keeping, "offline": offline, "clock": lambda: self.now}
        self._files: mayi.Fetcher | mayi.aio.Fetcher
        if kind == "blocking":
            self._files = mayi.Fetcher(AGENT, fetch=self._answer, **settings)
        else:
            self._files = mayi.aio.Fetcher(AGENT, fetch=self._answer_later, **settings)

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self._files, mayi.Fetcher):
            self._files.close()
        else:
            self._loop.run_until_complete(self._files.close())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def robots(self, url: str, *, refresh: bool = False) -> mayi.RobotsTxt:
        """The file of a site, and what is asked for in the background is there too."""
        if not isinstance(self._files, mayi.Fetcher):
            return self._loop.run_until_complete(self._robots_later(self._files, url, refresh))
        robots, end = self._files.robots(url, refresh=refresh), time.monotonic() + 20
        while self._files.in_flight:
            assert time.monotonic() < end, "a request without an end"
            time.sleep(0.0005)
        return robots

    @staticmethod
    async def _robots_later(files: mayi.aio.Fetcher, url: str, refresh: bool) -> mayi.RobotsTxt:
        robots, end = await files.robots(url, refresh=refresh), time.monotonic() + 20
        while files.in_flight:
            assert time.monotonic() < end, "a request without an end"
            await asyncio.sleep(0.0005)
        return robots

    def _answer(self, url: str, headers: dict[str, str]) -> mayi.Answer:
        changes = "If-None-Match" in headers or "If-Modified-Since" in headers
        self.asked.append(f"{url} (unchanged?)" if changes else url)
        answer = self.servers.get(url, {"error": "connect: nobody is there"})
        if "error" in answer:
            raise OSError(answer["error"])
        location = [("Location", answer["location"])] if "location" in answer else []
        fields = [(name, value) for name, value in answer.get("headers", [])]
        return mayi.Answer(answer["status"], fields + location, answer.get("body", "").encode())

    async def _answer_later(self, url: str, headers: dict[str, str]) -> mayi.Answer:
        await asyncio.sleep(0)
        return self._answer(url, headers)

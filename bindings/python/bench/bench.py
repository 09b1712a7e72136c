"""What a decision costs in Python: mayi, its faces and its rivals, in one run, on the corpus of real files.

    MAYI_CORPUS=folder python bench.py [--quick] > docs/benchmarks-python.md

Times are processor time of this thread, so that what else runs on the machine counts little; each figure is the
least of several rounds. What counts are the ratios within one run. The answers of all engines are compared with
google/robotstxt's before anything is timed.

Where even that is not quiet enough, instructions can be counted. This asks one engine all questions of every 40th
file, so many times; what two runs with 1 and 101 differ in is the cost of asking 100 times:

    export PYTHONHASHSEED=0
    valgrind --tool=callgrind --callgrind-out-file=/dev/null python bench.py --ask "mayi.protego" 101
"""

from __future__ import annotations

import gzip
import importlib.metadata
import os
import pathlib
import platform
import sys
import tarfile
import time
import urllib.robotparser
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import protego
import robots as robotspy

import mayi
import mayi.protego
import mayi.urllib

AGENT = "ExampleBot"
QUICK = "--quick" in sys.argv
FOLDER = pathlib.Path(os.environ.get("MAYI_CORPUS", "../shared/corpus"))

Question = tuple[str, bool]


def corpus() -> list[tuple[str, list[Question]]]:
    """Files as text, each with URLs and what google/robotstxt says of them."""
    questions: dict[str, list[Question]] = defaultdict(list)
    with gzip.open(FOLDER / "google_decisions.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            site, agent, url, allowed = line.rstrip("\n").split("\t")
            if agent == AGENT:
                questions[site].append((url, allowed == "1"))
    files = []
    with tarfile.open(FOLDER / "robots.tar.gz") as archive:
        for member in archive:
            name = pathlib.PurePath(member.name).name
            data = archive.extractfile(member) if member.isfile() else None
            if data is not None and name in questions:
                files.append((data.read().decode("utf-8", "replace"), questions[name]))
    return files[::10] if QUICK else files


def robotspy_of(text: str) -> Any:
    return robotspy.RobotsParser.from_string(text)


def urllib_of(kind: Any) -> Callable[[str], Any]:
    def make(text: str) -> Any:
        parser = kind()
        parser.parse(text.splitlines())
        return parser

    return make


# How a file is read, and how one is asked.
ENGINES: dict[str, tuple[Callable[[str], Any], Callable[[Any, str], bool]]] = {
    "mayi, prepared rules": (
        lambda text: mayi.RobotsTxt(text).for_crawler(AGENT),
        lambda rules, url: rules.allowed(url),
    ),
    "mayi, prepared rules, with the reason": (
        lambda text: mayi.RobotsTxt(text).for_crawler(AGENT),
        lambda rules, url: rules.decide(url).allowed,
    ),
    "mayi.RobotsTxt": (mayi.RobotsTxt, lambda robots, url: robots.allowed(url, AGENT)),
    "mayi.protego": (mayi.protego.Protego.parse, lambda robots, url: robots.can_fetch(url, AGENT)),
    "mayi.urllib": (
        urllib_of(mayi.urllib.RobotFileParser),
        lambda robots, url: robots.can_fetch(AGENT, url),
    ),
    "Protego": (protego.Protego.parse, lambda robots, url: robots.can_fetch(url, AGENT)),
    "urllib.robotparser": (
        urllib_of(urllib.robotparser.RobotFileParser),
        lambda robots, url: robots.can_fetch(AGENT, url),
    ),
    "robotspy": (robotspy_of, lambda robots, url: robots.can_fetch(AGENT, url)),
}
RIVAL = "Protego"


def least(work: Callable[[], object]) -> float:
    """The least time of three rounds, for every engine alike."""
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        work()
        best = min(best, time.thread_time() - start)
    return best


def method(made: Any, name: str) -> Callable[[str], bool]:
    """The bound method that a caller would call in a loop."""
    if name.startswith("mayi, prepared rules, with"):
        return lambda url: made.decide(url).allowed
    if name.startswith("mayi, prepared"):
        return made.allowed
    ask = ENGINES[name][1]
    return lambda url: ask(made, url)


def measure(name: str, files: list[tuple[str, list[Question]]]) -> dict[str, float]:
    read, ask = ENGINES[name]
    count = sum(len(questions) for _, questions in files)
    wrong = 0
    made = []
    for text, questions in files:
        robots = read(text)
        wrong += sum(ask(robots, url) != allowed for url, allowed in questions)
        made.append((robots, [url for url, _ in questions]))

    def decide() -> None:
        for robots, urls in made:
            call = method(robots, name)
            for url in urls:
                call(url)

    def parse() -> None:
        for text, _ in files:
            read(text)

    def once() -> None:
        for text, questions in files:
            ask(read(text), questions[-1][0])

    return {
        "wrong": 100 * wrong / count,
        "decide": 1e6 * least(decide) / count,
        "parse": 1e6 * least(parse) / len(files),
        "once": 1e6 * least(once) / len(files),
    }


def lists(files: list[tuple[str, list[Question]]]) -> tuple[float, float, int]:
    """Microseconds of the clock and of the processor a URL, for a million of them in lists."""
    made = [(mayi.RobotsTxt(text).for_crawler(AGENT), [url for url, _ in asked]) for text, asked in files]
    whole = sum(len(urls) for _, urls in made)
    times = max(1, 1_000_000 // whole)
    made = [(rules, urls * times) for rules, urls in made]
    best_clock = best_processor = float("inf")
    for _ in range(3):
        clock, processor = time.perf_counter(), time.process_time()
        for rules, urls in made:
            rules.allowed_many(urls)
        best_clock = min(best_clock, time.perf_counter() - clock)
        best_processor = min(best_processor, time.process_time() - processor)
    count = whole * times
    return 1e6 * best_clock / count, 1e6 * best_processor / count, count


def ask(name: str, times: int) -> None:
    """Asks all questions of some files, for one who counts what that costs."""
    files = corpus()[::40]
    made = [(ENGINES[name][0](text), [url for url, _ in asked]) for text, asked in files]
    for _ in range(times):
        for robots, urls in made:
            call = method(robots, name)
            for url in urls:
                call(url)
    print(f"{name}: {times} times {sum(len(urls) for _, urls in made)} questions")


#: How many times Protego's speed was wanted.
GOALS = {"decide": 15, "once": 25, "lists": 40}
#: How many times the engine's own time one call may take.
MOST_TIMES_ENGINE = 2.5


def main() -> None:
    if "--ask" in sys.argv:
        name, times = sys.argv[sys.argv.index("--ask") + 1 :]
        ask(name, int(times))
        return
    files = corpus()
    figures = {name: measure(name, files) for name in ENGINES}
    rival = figures[RIVAL]
    questions = sum(len(asked) for _, asked in files)
    version = importlib.metadata.version
    print(f"""# Benchmarks in Python

One run of `bindings/python/bench/bench.py`: {len(files):,} real files, {questions:,} questions of {AGENT}, on Python
{platform.python_version()}. Rivals: Protego {version("protego")}, robotspy {version("robotspy")}, and `urllib.robotparser` of that Python.
Times are microseconds of processor time, the least of three rounds. The ratios count, not the times.

| engine | decide | | parse | | parse and decide once | | other answers than Google's |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |""")
    for name, one in figures.items():
        cells = []
        for what in ("decide", "parse", "once"):
            cells += [f"{one[what]:.2f}", f"{rival[what] / one[what]:.1f}×"]
        print(f"| {name} | {' | '.join(cells)} | {one['wrong']:.2f} % |")
    clock, processor, count = lists(files)
    mine = figures["mayi, prepared rules"]
    in_lists = rival["decide"] / processor
    print(f"""
Each ratio is Protego's time divided by the engine's time.

{count:,} URLs in lists, through `allowed_many`: {processor:.2f} µs of processor time each, {in_lists:.0f} times quicker
than one call of Protego each; {clock:.2f} µs by the clock.

"Prepared rules" are `robots.for_crawler(agent)`; preparing them is part of their *parse*. "With the reason" makes a
`Decision` for each question. "Other answers" are those that differ from google/robotstxt; mayi reads by RFC 9309 here, and
[conformance.md](conformance.md) has the clauses that make the difference.

| goal | wanted | reached |
| --- | ---: | ---: |
| times Protego's speed on a decision, prepared rules | {GOALS["decide"]} | {rival["decide"] / mine["decide"]:.1f} |
| the same, with the reason | {GOALS["decide"]} | {rival["decide"] / figures["mayi, prepared rules, with the reason"]["decide"]:.1f} |
| the same, `mayi.protego` | {GOALS["decide"]} | {rival["decide"] / figures["mayi.protego"]["decide"]:.1f} |
| the same, `mayi.urllib` | {GOALS["decide"]} | {rival["decide"] / figures["mayi.urllib"]["decide"]:.1f} |
| on parse and decide, `mayi.RobotsTxt` | {GOALS["once"]} | {rival["once"] / figures["mayi.RobotsTxt"]["once"]:.1f} |
| the same, `mayi.protego` | {GOALS["once"]} | {rival["once"] / figures["mayi.protego"]["once"]:.1f} |
| the same, `mayi.urllib` | {GOALS["once"]} | {rival["once"] / figures["mayi.urllib"]["once"]:.1f} |
| through lists | {GOALS["lists"]} | {in_lists:.1f} |
| time of one call to prepared rules, divided by the time per URL in lists | at most {MOST_TIMES_ENGINE} | {mine["decide"] / processor:.1f} |

`mayi.urllib` and `urllib.robotparser` are given lines: splitting the text into them is a part of their *parse*.""")


main()

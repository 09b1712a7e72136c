"""Measures tables of millions of URLs in `mayi bulk`, DuckDB and Spark, and writes docs/benchmarks-scale.md.

scripts/bench-scale starts it. Next to every figure is that of a query that does everything except deciding, in the same
run, over the same table: it reads, splits the host off, and writes. Everything in the tables is made here.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

HOSTS = 2_000
AGENT = "ExampleBot"


class Cost:
    """What something took: seconds on the clock, and of processors."""

    def __init__(self, wall: float, processor: float, rows: int) -> None:
        self.wall, self.processor, self.rows = wall, processor, rows

    @property
    def per_row(self) -> float:
        """Microseconds of a processor for a row."""
        return self.processor / self.rows * 1e6

    @property
    def speed(self) -> float:
        """Million rows in a second of the clock."""
        return self.rows / self.wall / 1e6


def best(costs: list[Cost]) -> Cost:
    """The one that took the least time of processors: what disturbs a run only ever adds."""
    return min(costs, key=lambda cost: cost.processor)


# --- The tables --------------------------------------------------------------------------------------------------------


def make_robots(path: Path) -> None:
    """Robots.txt files of many sizes, a row for each origin."""
    chance = random.Random(17)
    bodies = []
    for number in range(HOSTS):
        lines = [f"# robots.txt of site {number}", "User-agent: *"]
        count = min(400, int(chance.lognormvariate(2.7, 1.0)))
        for rule in range(count):
            pattern = chance.choice(["/section{}/private/", "/*?sort={}", "/admin{}/", "/section{}/*/print$", "/search{}"])
            lines.append(f"{chance.choice(['Disallow', 'Disallow', 'Allow'])}: {pattern.format(rule % 20)}")
        if number % 3 == 0:
            lines += ["", "User-agent: GPTBot", "User-agent: CCBot", "Disallow: /"]
        lines += ["", f"Sitemap: https://www.site{number}.example/sitemap.xml", ""]
        bodies.append("\n".join(lines).encode())
    table = pa.table(
        {
            "origin": [f"https://www.site{number}.example" for number in range(HOSTS)],
            "status": pa.array([200] * HOSTS, pa.int32()),
            "body": pa.array(bodies, pa.binary()),
            "time": pa.array([datetime.datetime(2026, 11, 1)] * HOSTS, pa.timestamp("us", "UTC")),
        }
    )
    pq.write_table(table, path)


def make_urls(path: Path, rows: int) -> None:
    """URLs sorted by host, as an index of a crawl has them, with two other columns."""
    each = -(-rows // HOSTS)
    url = (
        f"'https://www.site' || (i // {each}) || '.example/section' || (hash(i) % 20) || "
        "CASE hash(i + 1) % 5 WHEN 0 THEN '/private/' WHEN 1 THEN '/articles/2026/11/' ELSE '/articles/' END || "
        "hash(i + 2) % 1000000 || CASE hash(i + 3) % 4 WHEN 0 THEN '?sort=' || hash(i) % 30 ELSE '.html' END"
    )
    duckdb.sql(
        f"COPY (SELECT i AS id, {url} AS url, 1790000000 + i % 86400 AS fetched FROM range({rows}) t(i)) "
        f"TO '{path}' (FORMAT parquet, COMPRESSION snappy)"
    )


# --- mayi bulk ---------------------------------------------------------------------------------------------------------


def run(words: list[str], rows: int) -> tuple[Cost, int]:
    """Runs a program on the processors that this one may use; what it took, and its memory in KiB."""
    started = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    if status:
        sys.exit(f"{' '.join(words)}: {said}")
    return Cost(wall, used.ru_utime + used.ru_stime, rows), used.ru_maxrss


def measure_bulk(mayi: str, folder: Path, rows: int, more_rows: int) -> dict[str, Any]:
    urls, robots, more = folder / "urls.parquet", folder / "robots.parquet", folder / "more.parquet"
    (folder / "empty.txt").write_text("")
    output = ["--output", str(folder / "decided.parquet")]
    files = ["--robots-table", str(robots)]
    base = [mayi, "bulk", "--agent", AGENT, "--progress", "never"]

    def bulk(*words: str, table: Path = urls, count: int = rows) -> tuple[Cost, int]:
        return run([*base, *words, str(table), *output], count)

    whole = [bulk(*files) for _ in range(3)]
    allowed_only = best([bulk(*files, "--columns", "allowed")[0] for _ in range(2)])
    no_rules = best([bulk("--robots", str(folder / "empty.txt"), "--columns", "allowed")[0] for _ in range(2)])
    _, memory_of_more = bulk(*files, table=more, count=more_rows)

    def query() -> Cost:
        return in_duckdb(
            f"COPY (SELECT *, split_part(url, '/', 3) AS host FROM read_parquet('{urls}')) "
            f"TO '{folder / 'host.parquet'}' (FORMAT parquet, COMPRESSION snappy)",
            rows,
        )

    return {
        "whole": best([cost for cost, _ in whole]),
        "fastest": min((cost for cost, _ in whole), key=lambda cost: cost.wall),
        "allowed_only": allowed_only,
        "no_rules": no_rules,
        "memory": max(memory for _, memory in whole),
        "memory_of_more": memory_of_more,
        "query": best(queries := [query() for _ in range(3)]),
        "fastest_query": min(queries, key=lambda cost: cost.wall),
    }


# --- DuckDB ------------------------------------------------------------------------------------------------------------


def in_duckdb(query: str, rows: int, connection: Any = None) -> Cost:
    connection = connection or duckdb.connect(config={"threads": 2})
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    connection.execute(query).fetchall()
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, processor, rows)


def measure_duckdb(folder: Path, rows: int) -> dict[str, Cost]:
    import mayi.arrow
    import mayi.duckdb

    connection = duckdb.connect(config={"threads": 2})
    mayi.duckdb.register(connection, files=mayi.arrow.Files(pq.read_table(folder / "robots.parquet")), agent=AGENT)
    source, output = f"read_parquet('{folder / 'urls.parquet'}')", folder / "duckdb.parquet"
    functions = {
        "split_part": "split_part(url, '/', 3)",
        "regexp": "regexp_extract(url, '^[a-z]+://([^/?#]+)', 1)",
        "allowed": "robots_allowed(url)",
    }
    costs: dict[str, list[Cost]] = {name: [] for name in functions}
    for _ in range(3):
        for name, function in functions.items():
            query = f"COPY (SELECT *, {function} AS answer FROM {source}) TO '{output}' (FORMAT parquet, COMPRESSION snappy)"
            costs[name].append(in_duckdb(query, rows, connection))
    return {name: best(of_name) for name, of_name in costs.items()}


# --- Spark -------------------------------------------------------------------------------------------------------------


def measure_spark(folder: Path, rows: int) -> dict[str, Any]:
    from mayi import spark as mayi_spark
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "8",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.parquet.compression.codec": "snappy",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    urls = spark.read.parquet(str(folder / "spark.parquet"))
    robots = spark.read.parquet(str(folder / "robots.parquet"))

    def identity(batches: Any) -> Any:
        yield from batches

    def grouped() -> Any:
        """The same shuffle and the same sort, by the host that Spark splits off."""
        host = F.shiftleft(F.xxhash64(F.regexp_extract("url", "^([a-z]+://[^/?#]+)", 1)), 1)
        return urls.withColumn("key", host).repartition(F.shiftright("key", 1)).sortWithinPartitions("key")

    with_answers = mayi_spark.decide(urls, robots, agent=AGENT).schema
    answers = len(with_answers) - len(urls.schema)

    def identity_plan() -> Any:
        plan = grouped()
        return plan.mapInArrow(identity, plan.schema).drop("key")

    def undecided() -> Any:
        """The plan of `decide` itself, with an identity in the place of deciding."""
        plan = mayi_spark._joined(urls, mayi_spark._robots_table(robots), "url", 1_000_000)
        return plan.mapInArrow(identity, plan.schema).where("url is not null").select(*urls.columns)

    def write(table: Any) -> None:
        table.write.mode("overwrite").parquet(str(folder / "spark-out"))

    def consume(table: Any) -> None:
        table.write.format("noop").mode("overwrite").save()

    plans: dict[str, Callable[[], None]] = {
        "read": lambda: consume(urls),
        "join": lambda: consume(grouped()),
        "identity": lambda: write(identity_plan()),
        "undecided": lambda: write(undecided()),
        "decide": lambda: write(mayi_spark.decide(urls, robots, agent=AGENT)),
        "decide_unwritten": lambda: consume(mayi_spark.decide(urls, robots, agent=AGENT)),
        "broadcast_identity": lambda: write(urls.mapInArrow(identity, urls.schema)),
        "broadcast": lambda: write(mayi_spark.decide(urls, robots, agent=AGENT, broadcast=True)),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in plans}
    # The first round is for the compiler of the virtual machine.
    for number in range(3):
        for name, plan in plans.items():
            before, started = processor_of_all(), time.monotonic()
            plan()
            wall = time.monotonic() - started
            if number:
                costs[name].append(Cost(wall, processor_of_all() - before, rows))
    memory = max(memory_of_workers(), default=0)
    spark.stop()
    return {"memory": memory, "answers": answers, **{name: best(of_name) for name, of_name in costs.items()}}


def descendants() -> list[int]:
    """This process and all below it."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def processor_of_all() -> float:
    """Seconds of processors that this process, the virtual machine and its workers have taken."""
    ticks = 0
    for process in descendants():
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_of_workers() -> list[int]:
    """The most memory in KiB that each worker of Python has had."""
    found = []
    for process in descendants()[1:]:
        try:
            if b"\0-m\0pyspark.daemon\0" in Path(f"/proc/{process}/cmdline").read_bytes():
                status = Path(f"/proc/{process}/status").read_text()
                found.append(int(status.partition("VmHWM:")[2].split()[0]))
        except OSError:
            continue
    return found


# --- The document --------------------------------------------------------------------------------------------------------


def document(found: dict[str, Any], rows: int, more_rows: int, spark_rows: int) -> str:
    bulk, in_duck, spark = found["bulk"], found["duckdb"], found["spark"]
    fast, query = bulk["fastest"], bulk["fastest_query"]

    def row(name: str, cost: Cost, beside: Cost | None = None) -> str:
        ratio = f"{cost.processor / beside.processor:.2f}" if beside else ""
        return f"| {name} | {cost.per_row:.2f} µs | {cost.wall:.1f} s | {cost.speed:.2f} million | {ratio} |\n"

    heading = "| | processor time per row | time | rows per second | ratio |\n| --- | ---: | ---: | ---: | ---: |\n"
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    processor = names[0].partition(": ")[2] if names else platform.machine()
    return f"""# Benchmarks: tables of millions of URLs

Made by `scripts/bench-scale` on {datetime.date.today():%-d %B %Y}, on two cores ({processor}), in one run. Do not edit this page: run the
script again. [scale.md](scale.md) says what follows from it.

The tables are made by the script: URLs of {HOSTS:,} hosts, sorted by host, with two other columns, and a robots.txt for each
host. **Next to every figure is that of a query that does everything except deciding**: it reads the same table, splits
the host off, and writes. Processor time is that of all threads and processes together, and the minimum of the runs,
because disturbances only add time. Times and rows per second are of the same run. A ratio is that of processor times.

## `mayi bulk`: Parquet to Parquet

{rows:,} rows, three columns in and eight out.

{heading}{row("`mayi bulk`", bulk["whole"], bulk["query"])}{row("DuckDB: `SELECT *, split_part(url, '/', 3)`", bulk["query"])}
By the clock, the fastest of three runs each: {fast.speed:.2f} million rows per second in `mayi bulk`, {query.speed:.2f} million in
DuckDB, {fast.wall / query.wall:.2f} times its time. (The goal: at least 3 million, and at most 2 times.)

Where the time goes, from runs that leave a part out:

| part | processor time per row |
| --- | ---: |
| reading the table and the URL (`--robots` with an empty file, `--columns allowed`) | {bulk["no_rules"].per_row:.2f} µs |
| finding the file and comparing its rules | {bulk["allowed_only"].per_row - bulk["no_rules"].per_row:.2f} µs |
| writing the other seven columns | {bulk["whole"].per_row - bulk["allowed_only"].per_row:.2f} µs |

Memory: {bulk["memory"] / 1024:.0f} MiB for {rows:,} rows, {bulk["memory_of_more"] / 1024:.0f} MiB for {more_rows:,}.

## DuckDB with `robots_allowed(url)`

{rows:,} rows, `COPY (SELECT *, …) TO … (FORMAT parquet)` with two threads.

{heading}{row("`robots_allowed(url)`", in_duck["allowed"], in_duck["regexp"])}{row("`regexp_extract(url, '^[a-z]+://([^/?#]+)', 1)`", in_duck["regexp"])}{row("`split_part(url, '/', 3)`", in_duck["split_part"])}
The ratio is to `regexp_extract`, which reads the host as it has to be read; beside `split_part` it is
{in_duck["allowed"].processor / in_duck["split_part"].processor:.2f}. (The goal: at most 1.6.)

## Spark

{spark_rows:,} rows, PySpark in `local[2]`, Parquet to Parquet. The plan next to each passes its rows to a `mapInArrow` that
returns them unchanged, and writes them without answers.

{heading}{row("`decide`", spark["decide"], spark["undecided"])}{row("the same plan with an identity", spark["undecided"])}{row("`decide(…, broadcast=True)`", spark["broadcast"], spark["broadcast_identity"])}{row("the same plan with an identity", spark["broadcast_identity"])}
(The goal: at most 2 times.) A simpler plan, without robots.txt files and without the sample for large sites, that has the same shuffle
and sort by a host that Spark splits off with `regexp_extract`, takes {spark["identity"].per_row:.2f} µs per row; `decide` takes
{spark["decide"].processor / spark["identity"].processor:.2f} times that.

| part of `decide` | processor time per row |
| --- | ---: |
| reading the table | {spark["read"].per_row:.2f} µs |
| joining: the shuffle and the sort | {spark["join"].per_row - spark["read"].per_row:.2f} µs |
| deciding: the sample, the origins, and rows to Python and back | {spark["decide_unwritten"].per_row - spark["join"].per_row:.2f} µs |
| writing {spark["answers"] + 3} columns | {spark["decide"].per_row - spark["decide_unwritten"].per_row:.2f} µs |

Memory of a Python worker: {spark["memory"] / 1024:.0f} MiB at most.

{costs(found)}"""


def costs(found: dict[str, Any]) -> str:
    """What follows from the figures, for docs/scale.md too."""
    bulk, in_duck, spark = found["bulk"], found["duckdb"], found["spark"]
    joined = spark["decide"].per_row
    return f"""## What a billion URLs cost

Processor time per row times a billion, in hours of one core; and ten billion on 100 cores, if all of them are
busy to the end.

| | a billion, core hours | ten billion on 100 cores |
| --- | ---: | ---: |
{billion("`mayi bulk`", bulk["whole"])}{billion("DuckDB", in_duck["allowed"])}{billion("Spark, joined", spark["decide"])}{billion("Spark, broadcast", spark["broadcast"])}
For example Spark, joined: {joined:.2f} µs × 10,000,000,000 rows = {joined * 1e4:,.0f} s of one core = {joined * 1e4 / 3600:.1f} core hours;
divided by 100 cores that is {joined * 1e4 / 100 / 60:.1f} minutes, {joined * 1e4 / 100 / 3600:.2f} hours.

Of a row in Spark, reading takes {spark["read"].per_row:.2f} µs, joining {spark["join"].per_row - spark["read"].per_row:.2f} µs, deciding
{spark["decide_unwritten"].per_row - spark["join"].per_row:.2f} µs with the way to Python and back, and writing {spark["decide"].per_row - spark["decide_unwritten"].per_row:.2f} µs. In `mayi bulk` reading takes
{bulk["no_rules"].per_row:.2f} µs, deciding {bulk["allowed_only"].per_row - bulk["no_rules"].per_row:.2f} µs, and writing {bulk["whole"].per_row - bulk["allowed_only"].per_row:.2f} µs.
"""


def billion(name: str, cost: Cost) -> str:
    minutes = cost.per_row * 1e4 / 100 / 60
    return f"| {name} | {cost.per_row * 1e3 / 3600:.2f} | {minutes:.1f} minutes |\n"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--mayi", required=True, help="the program, built for release")
    words.add_argument("--folder", type=Path, required=True, help="an empty folder for tables, on a disk with room")
    words.add_argument("--rows", type=int, default=24_000_000)
    words.add_argument("--spark-rows", type=int, default=3_000_000)
    words.add_argument("--output", type=Path, required=True, help="where the document goes")
    words.add_argument("--page", type=Path, help="a page that has a place for what follows from it")
    given = words.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    folder: Path = given.folder
    folder.mkdir(parents=True, exist_ok=True)
    more_rows = given.rows * 2
    print("making the tables", file=sys.stderr)
    make_robots(folder / "robots.parquet")
    for name, count in (("urls", given.rows), ("more", more_rows), ("spark", given.spark_rows)):
        make_urls(folder / f"{name}.parquet", count)
    found: dict[str, Any] = {}
    print("mayi bulk", file=sys.stderr)
    found["bulk"] = measure_bulk(given.mayi, folder, given.rows, more_rows)
    print("DuckDB", file=sys.stderr)
    found["duckdb"] = measure_duckdb(folder, given.rows)
    print("Spark", file=sys.stderr)
    found["spark"] = measure_spark(folder, given.spark_rows)
    given.output.write_text(document(found, given.rows, more_rows, given.spark_rows))
    if given.page:
        before, _, rest = given.page.read_text().partition("<!-- figures")
        opening, _, rest = rest.partition("\n")
        after = rest.partition("<!-- end of figures -->")[2]
        figures = costs(found).replace("## What", "### What")
        given.page.write_text(f"{before}<!-- figures{opening}\n\n{figures}\n<!-- end of figures -->{after}")
    print(json.dumps(found, default=lambda cost: cost.__dict__, indent=1), file=sys.stderr)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

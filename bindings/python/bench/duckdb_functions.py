"""DuckDB with our function beside the same query with a built-in one: a Parquet file of URLs is read, the host is split off,
the answer is written beside them into another file.

    pip install duckdb pyarrow && pip install ./bindings/python
    python bindings/python/bench/duckdb_functions.py [ROWS]

Processor time of the whole process, in one run, the queries in turn; the median of each, and the ratio.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
from pathlib import Path

import duckdb
import mayi.arrow
import mayi.duckdb

HOSTS, RULES, ROUNDS = 1_000, 30, 5
QUERY = "COPY (SELECT url, split_part(url, '/', 3) AS host, {} AS answer FROM '{}') TO '{}' (FORMAT parquet)"


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    rules = "".join(f"Disallow: /section-{n}/private/*.html\nAllow: /section-{n}/press/\n" for n in range(RULES // 2))
    files = {f"https://www.host-{n}.example": f"User-agent: *\n{rules}" for n in range(HOSTS)}
    connection = duckdb.connect()
    mayi.duckdb.register(connection, files=mayi.arrow.Files(files), agent="ExampleBot")
    with tempfile.TemporaryDirectory() as folder:
        urls, out = Path(folder, "urls.parquet"), Path(folder, "out.parquet")
        # Sorted by host, as a crawler's tables are.
        connection.execute(
            f"COPY (SELECT 'https://www.host-' || (range * {HOSTS} // {rows}) || '.example/section-' || (range % 40) || "
            f"CASE range % 3 WHEN 0 THEN '/private/' ELSE '/articles/' END || range || '.html?page=' || (range % 7) AS url "
            f"FROM range({rows})) TO '{urls}' (FORMAT parquet)"
        )
        asked = {
            "contains (built in)": "contains(url, '/private/')",
            "regexp_matches (built in)": "regexp_matches(url, '/section-[0-9]+/private/.*[.]html')",
            "robots_allowed": "robots_allowed(url)",
            "robots_decide": "robots_decide(url)",
        }
        times: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(ROUNDS):
            for name, expression in asked.items():
                before = processor_time()
                connection.execute(QUERY.format(expression, urls, out))
                times[name].append(processor_time() - before)
    base = statistics.median(times["contains (built in)"])
    print(f"| query over {rows:,} rows | processor time | a row | ratio |\n| --- | ---: | ---: | ---: |")
    for name, took in times.items():
        median = statistics.median(took)
        print(f"| `{name}` | {median:.2f} s | {median / rows * 1e9:.0f} ns | {median / base:.2f} |")


if __name__ == "__main__":
    main()

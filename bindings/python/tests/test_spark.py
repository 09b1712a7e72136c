"""mayi in Spark: real PySpark, two executors of their own, and the wheel sent to them as a cluster would.

scripts/test-scale runs this. Elsewhere there is seldom a Java, and the tests say that they did not run.
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# PySpark's own warnings are not ours to mend.
pytestmark = pytest.mark.filterwarnings("default")

EXAMPLE = Path(__file__).parents[3] / "examples/common_crawl"
AGENTS = ["ExampleBot", "CCBot"]
TIME = datetime.datetime(2026, 11, 1, tzinfo=datetime.timezone.utc)
RULES = b"User-agent: *\nDisallow: /private/\n"


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two executors with a core each. They have the packages that Spark needs, and mayi from the archive alone."""
    wheel = os.environ.get("MAYI_TEST_WHEEL")
    if wheel is None or importlib.util.find_spec("pyspark") is None:
        pytest.skip("this is for scripts/test-scale, which has PySpark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java")
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    # A wheel is a zip; Spark unpacks what is named so.
    shutil.copy(wheel, folder / "mayi.zip")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["MAYI_TEST_EXECUTOR_PYTHON"]
    os.environ["SPARK_HOME"] = str(Path(importlib.util.find_spec("pyspark").origin).parent)
    options = {
        "spark.archives": f"{folder}/mayi.zip#environment",
        "spark.executorEnv.PYTHONPATH": "environment",
        "spark.executor.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "6",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Small batches, so that origins and their files are in several.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    shutil.rmtree(Path(os.environ["SPARK_HOME"]) / "work", ignore_errors=True)


def robots_table(spark: Any, rows: list[tuple[Any, ...]]) -> Any:
    from mayi.spark import ROBOTS_SCHEMA

    return spark.createDataFrame([(*row, TIME, None, None) if len(row) == 3 else row for row in rows], ROBOTS_SCHEMA)


def test_the_job_gives_what_bulk_gives_although_an_executor_is_killed(spark: Any, tmp_path: Path) -> None:
    sys.path.insert(0, str(EXAMPLE))
    import job
    import make_data

    make_data.make(tmp_path)
    index, warcs, output = tmp_path / "cc-index", tmp_path / "crawl-data", tmp_path / "out"
    failed: list[BaseException] = []

    def run() -> None:
        try:
            job.run(spark, [str(index)], [str(warcs)], str(output), AGENTS)
        except BaseException as error:
            failed.append(error)

    before = executors(spark)
    assert len(before) == 2
    running = threading.Thread(target=run)
    running.start()
    wait_for(lambda: (output / "robots/_SUCCESS").exists() or not running.is_alive())
    # In the middle of the decisions: tasks have ended, and others run.
    wait_for(lambda: is_in_the_middle(spark) or not running.is_alive())
    assert running.is_alive(), failed
    os.kill(before[0], signal.SIGKILL)
    running.join(timeout=170)
    assert not running.is_alive() and not failed, failed
    assert not (output / "decisions/_SUCCESS").stat().st_size, "the marker of Spark has no octets"
    wait_for(lambda: len(set(executors(spark)) - set(before)) == 1)

    columns = ["url", "fetch_time", *(f"allowed_{agent}" for agent in AGENTS), "error"]
    decided = rows_of(spark.read.parquet(f"{output}/decisions").select(columns))
    agents = [word for agent in AGENTS for word in ("--agent", agent)]
    for source in (["--robots-warc", warcs], ["--robots-table", output / "robots"]):
        wanted = ("--columns", "url,fetch_time,allowed,error")
        bulk(*source, *agents, *wanted, index, "--output", tmp_path / "bulk.parquet")
        expected = rows_of(spark.read.parquet(f"{tmp_path}/bulk.parquet"))
        # The folder has the pages of another subset too, which the job leaves out.
        expected = [row for row in expected if not json.loads(row)["url"].endswith("/robots.txt")]
        assert decided == expected, source
    assert len(decided) == 20_000
    answers = Counter(json.loads(row)["allowed_CCBot"] for row in decided)
    assert set(answers) == {True, False, None}
    errors = {str(json.loads(row)["error"]).partition(":")[0] for row in decided}
    assert errors == {"None", "invalid-url", "no-robots", "invalid-robots"}
    summary = {row.crawler: row for row in spark.read.parquet(f"{output}/summary").collect()}
    ccbot = summary["CCBot"]
    assert (ccbot.pages, ccbot.allowed, ccbot.disallowed, ccbot.unanswered) == (
        20_000,
        answers[True],
        answers[False],
        answers[None],
    )


def test_a_site_with_most_of_the_urls_is_divided_and_its_file_is_in_no_row(spark: Any) -> None:
    from mayi import spark as mayi_spark
    from pyspark.sql import functions as F

    large = "concat('https://large.example/', if(id % 3 = 0, 'private/', ''), id)"
    small = "concat('https://small', id % 50, '.example/', id)"
    urls = spark.range(40_000).selectExpr("id", f"if(id % 10 < 9, {large}, {small}) as url")
    body = RULES + b"#" * 50_000
    sites = [("https://large.example", 200, body), *((f"https://small{n}.example", 200, RULES) for n in range(50))]
    robots = robots_table(spark, sites)
    # No job has run: counting and joining are parts of the plan.
    # As many tasks as there are partitions, although this table would fit into one.
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(None)
    decided = mayi_spark.decide(urls, robots, agent="ExampleBot", rows_per_task=1_000)
    assert spark.sparkContext.statusTracker().getJobIdsForGroup(None) == jobs
    spread = decided.where("url like 'https://large%'").groupBy(F.spark_partition_id()).count().collect()
    # 36,000 URLs for 36 parts of them, in 6 tasks: none has more than twice its share.
    assert len(spread) == 6 and sum(row["count"] for row in spread) == 36_000
    assert max(row["count"] for row in spread) <= 12_000
    assert decided.where("allowed").count() == 28_000
    # What is shuffled: the file once for each of the parts, and in no other row.
    shuffled = mayi_spark._joined(urls, mayi_spark._robots_table(robots), "url", 1_000)
    of_large = shuffled.where("__mayi_robots.origin = 'https://large.example'").count()
    assert 30 <= of_large <= 42
    assert shuffled.where("__mayi_robots is not null").count() == of_large + 50
    # Without dividing, all of them are in one task.
    together = mayi_spark.decide(urls, robots, agent="ExampleBot", rows_per_task=None)
    tasks = together.where("url like 'https://large%'").select(F.spark_partition_id()).distinct().count()
    assert tasks == 1
    assert rows_of(together) == rows_of(decided)
    spark.conf.unset("spark.sql.adaptive.coalescePartitions.enabled")


def test_every_column_comes_back_as_it_was(spark: Any) -> None:
    from mayi.spark import decide

    urls = spark.range(1_200).selectExpr(
        "id",
        "concat('https://a', id % 3, '.example/private/', id) as url",
        "if(id % 5 = 0, null, map('a', id)) as of_map",
        "array(struct(id as x, cast(id as string) as y), null) as of_array",
        "cast(id as decimal(20, 3)) as of_decimal",
        "timestamp_seconds(id) as of_timestamp",
        "cast(timestamp_seconds(id) as timestamp_ntz) as of_local_timestamp",
        "date_from_unix_date(cast(id as int)) as of_date",
        "cast(cast(id as string) as binary) as of_binary",
        "make_dt_interval(0, 0, 0, cast(id as decimal(18, 6))) as of_interval",
        "cast(id % 100 as tinyint) as of_byte",
        "cast(id as float) as of_float",
        "null as of_nothing",
        "parse_json(concat('{\"a\":', id, '}')) as of_variant",
    )
    robots = robots_table(spark, [(f"https://a{n}.example", 200, RULES) for n in range(2)])
    for is_broadcast in (False, True):
        decided = decide(urls, robots, agent="ExampleBot", broadcast=is_broadcast, prefix="mayi_")
        assert decided.schema.fields[: len(urls.columns)] == urls.schema.fields
        assert decided.schema.simpleString().endswith(
            "mayi_allowed:boolean,mayi_reason:string,mayi_rule:string,mayi_line:int,mayi_error:string>"
        )
        comparable = [f"cast({name} as string)" for name in urls.columns]
        assert rows_of(decided.selectExpr(comparable)) == rows_of(urls.selectExpr(comparable))
        assert decided.where("mayi_rule = '/private/' and mayi_line = 2 and not mayi_allowed").count() == 800
        assert decided.where("mayi_error like 'no-robots: %https://a2.example%'").count() == 400


def test_rows_that_are_wrong_have_errors_and_order_does_not_matter(spark: Any) -> None:
    from mayi.spark import decide

    urls = ["https://a.example/private/", "HTTPS://A.example:443/private/", "https://b.example/", "nonsense", None, "ftp://[/"]
    table = spark.createDataFrame([(url,) for url in urls] * 50, "url string")
    earlier, later = TIME - datetime.timedelta(days=1), TIME
    sites: list[tuple[Any, ...]] = [
        ("https://a.example/somewhere", 200, RULES, later, None, None),
        ("https://a.example", 200, b"", earlier, None, None),
        # Of the same time: whichever is taken, it has to be the same one always.
        ("https://b.example", 200, b"User-agent: *\nDisallow: /\n", TIME, None, None),
        ("https://b.example", 200, b"", TIME, None, None),
        ("no origin", 200, RULES, TIME, None, None),
        (None, None, None, None, None, None),
    ]
    found = set()
    for number in range(3):
        files = robots_table(spark, sites if number % 2 else sites[::-1]).repartition(number + 1)
        decided = decide(table.repartition(3 - number), files, agent="ExampleBot", broadcast=number == 2)
        found.add(json.dumps(rows_of(decided)))
    assert len(found) == 1
    counts = Counter(json.loads(row)["error"] for row in json.loads(found.pop()))
    assert counts[None] == 150 and sum(counts.values()) == 300
    assert {str(error).partition(":")[0] for error in counts} == {"None", "invalid-url"}


def test_streams_are_answered(spark: Any, tmp_path: Path) -> None:
    from mayi.spark import decide

    source = tmp_path / "source"
    urls = spark.range(20).selectExpr("concat('https://a.example/private/', id) as url")
    urls.write.json(str(source))
    robots = robots_table(spark, [("https://a.example", 200, RULES)])
    stream = spark.readStream.schema("url string").json(str(source))
    direct = decide(stream, robots, agent="ExampleBot", broadcast=True).writeStream.format("parquet")
    direct = direct.option("path", f"{tmp_path}/direct").option("checkpointLocation", f"{tmp_path}/direct-checkpoint")
    direct.trigger(availableNow=True).start().awaitTermination(90)

    def write(batch: Any, _: int) -> None:
        decide(batch, robots, agent="ExampleBot").write.mode("append").parquet(f"{tmp_path}/batches")

    batches = stream.writeStream.foreachBatch(write).option("checkpointLocation", f"{tmp_path}/batches-checkpoint")
    batches.trigger(availableNow=True).start().awaitTermination(90)
    for name in ("direct", "batches"):
        assert spark.read.parquet(f"{tmp_path}/{name}").where("not allowed").count() == 20, name


def test_a_warc_that_is_cut_off_fails_unless_what_is_before_is_enough(spark: Any, tmp_path: Path) -> None:
    sys.path.insert(0, str(EXAMPLE))
    import make_data
    from mayi.spark import read_robots

    sites = [make_data.response(f"https://a{n}.example/robots.txt", 404) for n in range(3)]
    path = tmp_path / "cut.warc.gz"
    path.write_bytes(b"".join(sites)[:-60])
    with pytest.raises(Exception, match=r"cut\.warc\.gz` can't be read to its end: its gzip data is cut off"):
        read_robots(spark, str(path)).count()
    assert read_robots(spark, [str(path)], damaged="keep").count() == 2


def test_calls_that_are_wrong_say_what_is_wrong(spark: Any) -> None:
    from mayi.spark import decide, read_robots

    urls = spark.createDataFrame([("https://a.example/", 1)], "url string, number int")
    robots = robots_table(spark, [])
    with pytest.raises(ValueError, match="no column `page`; the columns are url, number"):
        decide(urls, robots, agent="A", url_column="page")
    with pytest.raises(TypeError, match="`number` has the type int, but it must contain strings"):
        decide(urls, robots, agent="A", url_column="number")
    with pytest.raises(ValueError, match="already has a column `allowed`"):
        decide(urls.withColumnRenamed("number", "Allowed"), robots, agent="A", answers=["allowed"])
    with pytest.raises(ValueError, match="no column `body`"):
        decide(urls, robots.drop("body"), agent="A")
    with pytest.raises(ValueError, match="maybe"):
        decide(urls, robots, agent="A", answers=["maybe"])
    with pytest.raises(ValueError, match="at least one crawler"):
        decide(urls, robots, agent=[])
    with pytest.raises(ValueError, match="rows_per_task"):
        decide(urls, robots, agent="A", rows_per_task=0)
    with pytest.raises(ValueError, match="damaged"):
        read_robots(spark, "x", damaged="perhaps")


def rows_of(table: Any) -> list[str]:
    """All rows, in an order that does not depend on where they were."""
    return sorted(json.dumps(row.asDict(recursive=True), default=str, sort_keys=True) for row in table.collect())


def bulk(*words: Any) -> None:
    """Runs the command of the wheel."""
    command = [sys.executable, "-m", "mayi", "bulk", *map(str, words)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def executors(spark: Any) -> list[int]:
    """The processes of the executors."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in words and spark.sparkContext.applicationId.encode() in words:
            found.append(int(path.parent.name))
    return sorted(found)


def is_in_the_middle(spark: Any) -> bool:
    """Whether tasks of a stage have ended, and not all."""
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(stage and 0 < stage.numCompletedTasks < stage.numTasks for stage in stages)


def wait_for(what: Any) -> None:
    end = time.monotonic() + 120
    while not what():
        assert time.monotonic() < end, "it did not happen within two minutes"
        time.sleep(0.02)

"""May these crawlers have fetched the pages of a crawl? A job for Spark to start from.

In: the columnar index of a crawl (Parquet, as Common Crawl publishes it) and the WARCs of its robots.txt responses.
Out, in one folder:

- ``robots``: the robots.txt files, a row for each origin, redirects followed;
- ``decisions``: a row for each page, with a column ``allowed_…`` for each crawler and one ``error``;
- ``summary``: for each crawler, how many pages it may fetch, how many not, and how many have no answer.

README.md says how to start it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mayi.spark import decide, read_robots
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

#: What is kept of the index beside the answers. Every column that is not needed costs time in every step.
KEPT = ("url", "url_host_name", "url_host_registered_domain", "fetch_time", "fetch_status", "content_mime_detected")


def run(spark: SparkSession, index: Sequence[str], warcs: Sequence[str], output: str, agents: Sequence[str]) -> None:
    """Does all of it."""
    # The files are used once for each sort of question that you will have: they are worth a table of their own.
    read_robots(spark, warcs).write.mode("overwrite").parquet(f"{output}/robots")
    robots = spark.read.parquet(f"{output}/robots")
    pages = spark.read.parquet(*index)
    if "subset" in pages.columns:
        # The index has the robots.txt files themselves and failed fetches too.
        pages = pages.where(F.col("subset") == "warc")
    pages = pages.select(*(name for name in KEPT if name in pages.columns))
    decided = decide(pages, robots, agent=agents, answers=("allowed", "error"))
    if len(agents) == 1:
        decided = decided.withColumnRenamed("allowed", f"allowed_{agents[0]}")
    decided.write.mode("overwrite").parquet(f"{output}/decisions")
    summary(spark.read.parquet(f"{output}/decisions"), agents).write.mode("overwrite").parquet(f"{output}/summary")


def summary(decided: DataFrame, agents: Sequence[str]) -> DataFrame:
    """A row for each crawler. All of them are counted in one pass."""
    counts = decided.agg(
        F.count(F.lit(1)).alias("pages"),
        *(F.count_if(F.col(f"allowed_{agent}")).alias(f"allowed_{agent}") for agent in agents),
        *(F.count_if(~F.col(f"allowed_{agent}")).alias(f"disallowed_{agent}") for agent in agents),
    )
    rows = F.explode(
        F.array(
            *(
                F.struct(
                    F.lit(agent).alias("crawler"),
                    F.col("pages"),
                    F.col(f"allowed_{agent}").alias("allowed"),
                    F.col(f"disallowed_{agent}").alias("disallowed"),
                )
                for agent in agents
            )
        )
    )
    unanswered = F.col("pages") - F.col("allowed") - F.col("disallowed")
    return counts.select(rows.alias("row")).select("row.*").withColumn("unanswered", unanswered)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--index", action="append", required=True, help="a folder of the columnar index")
    words.add_argument("--warcs", action="append", required=True, help="WARCs of robots.txt responses")
    words.add_argument("--agent", action="append", required=True, help="the product token of a crawler")
    words.add_argument("--output", required=True, help="the folder for the results")
    given = words.parse_args()
    spark = SparkSession.builder.appName("mayi: robots.txt decisions of a crawl").getOrCreate()
    run(spark, given.index, given.warcs, given.output, given.agent)
    spark.read.parquet(f"{given.output}/summary").show(truncate=False)
    spark.stop()


if __name__ == "__main__":
    main()

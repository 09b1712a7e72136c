"""mayi in Spark: a DataFrame of URLs and one of robots.txt files in, the first with decisions out.

On the cluster every executor needs this package, PyArrow, pandas, and PySpark 4.1 or later::

    from mayi.spark import decide, read_robots

    robots = read_robots(spark, "s3a://bucket/crawl/robotstxt/")
    urls = spark.read.parquet("s3a://bucket/urls/").select("url", "id")
    decide(urls, robots, agent="ExampleBot").write.parquet("s3a://bucket/decided/")

Nothing is decided here: rows go to :mod:`mayi.arrow`, and the same rows come back with its answers. See docs/scale.md for
how the join is made, what it costs, and how to run it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantType,
)

from . import arrow
from .arrow import ANSWERS
from ._mayi import Crawler, after_redirects, warc_responses

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

__all__ = ["ANSWERS", "ROBOTS_SCHEMA", "decide", "read_robots"]

#: The table that :func:`read_robots` gives and :func:`decide` takes, a row for each origin.
ROBOTS_SCHEMA = StructType(
    [
        StructField("origin", StringType()),
        StructField("status", IntegerType()),
        StructField("body", BinaryType()),
        StructField("time", TimestampType()),
        StructField("content_type", StringType()),
        StructField("location", StringType()),
    ]
)

#: The types of answers that are not strings.
_TYPES: Mapping[str, tuple[DataType, pa.DataType]] = {
    "allowed": (BooleanType(), pa.bool_()),
    "line": (IntegerType(), pa.int32()),
    "octets": (IntegerType(), pa.int32()),
}
_TEXT = (StringType(), pa.string())

#: Answers that are the same for all crawlers.
_OF_URL = frozenset({"url", "origin", "error"})

#: The columns that the join adds: which origin a row belongs to and whether it is a URL, and the row of the robots table.
_KEY, _SALT, _ROBOTS = "__mayi_key", "__mayi_salt", "__mayi_robots"

#: How many redirects in a row are followed (REP-19); `after_redirects` is who says that there are no more.
_HOPS = 5


def decide(
    urls: DataFrame,
    robots: DataFrame,
    *,
    agent: str | Crawler | Sequence[str | Crawler],
    url_column: str = "url",
    answers: Sequence[str] = ANSWERS,
    prefix: str = "",
    dialect: str = "rfc9309",
    missing: Literal["error", "allow", "disallow"] = "error",
    broadcast: bool = False,
    rows_per_task: int | None = 1_000_000,
) -> DataFrame:
    """The rows of ``urls`` with an answer for each URL; their order is not defined.

    ``robots`` has a row for each origin, with the columns ``origin``, ``status`` and ``body``, and optionally ``time``,
    ``content_type`` and ``location``: what :func:`read_robots` gives and ``mayi bulk --robots-table`` takes. Of several rows
    of an origin the latest counts.

    Every column of ``urls`` is passed through. The answers follow, with ``prefix`` before the names of ``mayi bulk``;
    with several crawlers, ``_`` and the product token follow the name. A URL that can't be answered has an ``error``,
    and null for the other answers.

    The plan is lazy and shuffles both tables by origin. A file comes once, before all URLs of its origin, and is not
    copied into rows. An origin with more than ``rows_per_task`` URLs is divided between several tasks, and its file is
    there once for each. Large origins are found in a sample of the URLs, chosen by their hash, which is read first;
    ``None`` skips that.

    With ``broadcast`` the robots table is collected now and sent to every executor once. Then nothing is shuffled, and
    ``urls`` may be a stream.
    """
    agents = [agent] if isinstance(agent, (str, Crawler)) else list(agent)
    if url_column not in urls.columns:
        raise ValueError(f"there is no column `{url_column}`; the columns are {', '.join(urls.columns)}")
    if not isinstance(urls.schema[url_column].dataType, StringType):
        found = urls.schema[url_column].dataType.simpleString()
        raise TypeError(f"the column `{url_column}` has the type {found}, but it must contain strings")
    if rows_per_task is not None and rows_per_task < 1:
        raise ValueError(f"rows_per_task has to be at least 1, not {rows_per_task}")
    asking = _Asking(agents, url_column, tuple(answers), prefix, dialect, missing)
    added = asking.fields()
    known = {name.lower() for name in urls.columns}
    for field in added:
        if field.name.lower() in known:
            raise ValueError(f"the input already has a column `{field.name}`; rename the answers with `prefix`")
        known.add(field.name.lower())
    schema = StructType([*urls.schema.fields, *added])
    table = _robots_table(robots)
    if broadcast:
        return urls.mapInArrow(_DecideByTable(asking, _shared(urls.sparkSession, table)), schema)
    return _joined(urls, table, url_column, rows_per_task).mapInArrow(_DecideByJoin(asking, urls.columns), schema)


def read_robots(
    spark: SparkSession, paths: str | Sequence[str], *, damaged: Literal["fail", "keep"] = "fail"
) -> DataFrame:
    """The robots.txt files in WARCs, such as Common Crawl's ``robotstxt`` segments, with a row for each origin.

    ``paths`` are files and folders that Spark can read, compressed or not. It is read as ``mayi bulk --robots-warc`` reads it:
    the latest response of a URL counts; redirects are followed to their own records, in any of the files, up to five
    times in a row, and the rules apply to the origin of the first request (REP-19). The columns are those of
    :data:`ROBOTS_SCHEMA`: ``status`` is the final one, 404 if redirects do not end at a file, and null if there was no
    complete response. If the next record of a redirect is missing, ``location`` has its URL.

    A WARC that is cut off or damaged fails the job; with ``damaged="keep"`` the records before that are used.

    The plan is lazy and reads the WARCs twice: without bodies to follow redirects, and again for the bodies. Write the
    result to a table before using it more than once.
    """
    if damaged not in ("fail", "keep"):
        raise ValueError(f'damaged is "fail" or "keep", not {damaged!r}')
    paths = [paths] if isinstance(paths, str) else list(paths)
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    files = reader.load(paths).select("path", "content")
    heads = _latest(files.mapInArrow(_ReadWarcs(damaged, has_bodies=False), _RESPONSES))
    full = _latest(files.mapInArrow(_ReadWarcs(damaged, has_bodies=True), _RESPONSES))
    asked = heads.where("origin is not null").select(
        "origin", F.col("url").alias("at"), F.array(F.struct("status", "location")).alias("answers")
    )
    asked = asked.mapInArrow(_followed, _WALKED)
    walked = asked.where("next is not null")
    hops = heads.select(F.col("url").alias("hop"), F.struct("status", "location").alias("answer"))
    for _ in range(_HOPS):
        # A row that has arrived gets a key of its own that is no URL, so that all of these are not in one task.
        key = F.coalesce("next", F.concat(F.lit("-"), "origin"))
        walked = walked.join(hops, key == F.col("hop"), "left").select(
            "origin",
            F.coalesce("hop", "at").alias("at"),
            F.when(F.col("hop").isNull(), F.col("answers"))
            .otherwise(F.concat("answers", F.array("answer")))
            .alias("answers"),
        )
        walked = walked.mapInArrow(_followed, _WALKED)
    ends = asked.where("next is null").unionByName(walked).withColumnRenamed("status", "final")
    has_file = F.col("final") == 200
    return ends.join(full.drop("origin"), F.col("at") == F.col("url")).select(
        "origin",
        F.when(F.col("next").isNull(), F.col("final")).otherwise(F.col("status")).alias("status"),
        F.when(has_file, F.col("body")).alias("body"),
        F.timestamp_micros("micros").alias("time"),
        F.when(has_file, F.col("content_type")).alias("content_type"),
        F.col("next").alias("location"),
    )


# --- One row of a robots table for each URL's origin, met before its URLs --------------------------------------------


def _robots_table(robots: DataFrame) -> DataFrame:
    """A table with exactly the columns of a robots table, and the time as a number."""
    by_name = {name.lower(): name for name in robots.columns}
    for name in ("origin", "status", "body"):
        if name not in by_name:
            raise ValueError(f"the robots table has no column `{name}`; its columns are {', '.join(robots.columns)}")

    def column(name: str, kind: str) -> Column:
        there = F.col(by_name[name]) if name in by_name else F.lit(None)
        return there.cast(kind).alias(name)

    return robots.select(
        column("origin", "string"),
        column("status", "int"),
        column("body", "binary"),
        F.unix_micros(column("time", "timestamp")).alias("time"),
        column("content_type", "string"),
        column("location", "string"),
    )


def _joined(urls: DataFrame, robots: DataFrame, url_column: str, rows_per_task: int | None) -> DataFrame:
    """Both tables in one, so that in every task the row of an origin comes before its URLs.

    The key is a hash of the origin with the kind of the row as its last bit: one number to sort by, and nothing of the
    origin is shuffled with a URL.
    """
    url = F.col(url_column)
    # A URL without an origin has an error anyway; it is distributed by its own text.
    asked = urls.withColumn(_KEY, _key(F.coalesce(_origin_of(url), url), is_url=True))
    files = robots.withColumn(_KEY, _key(F.coalesce(_origin_of(F.col("origin")), "origin"), is_url=False))
    if rows_per_task is None:
        asked, files = asked.withColumn(_SALT, F.lit(0)), files.withColumn(_SALT, F.lit(0))
    else:
        large = F.broadcast(_large_origins(urls, url_column, rows_per_task))
        site = F.shiftright(_KEY, 1) == F.col("__mayi_site")
        # By the whole row, so that one URL that is there very often is divided as well.
        spread = F.pmod(F.xxhash64(*_hashable(urls)), F.col("__mayi_tasks")).cast("int")
        asked = asked.join(large, site, "left").withColumn(_SALT, F.coalesce(spread, F.lit(0)))
        asked = asked.drop("__mayi_site", "__mayi_tasks")
        salts = F.sequence(F.lit(0), F.coalesce(F.col("__mayi_tasks").cast("int"), F.lit(1)) - 1)
        files = files.join(large, site, "left").withColumn(_SALT, F.explode(salts))
    rows = F.struct(*robots.columns).alias(_ROBOTS)
    both = asked.unionByName(files.select(_KEY, _SALT, rows), allowMissingColumns=True)
    both = both.repartition(F.shiftright(_KEY, 1), F.col(_SALT)).drop(_SALT)
    return both.sortWithinPartitions(_KEY)


def _key(text: Column, *, is_url: bool) -> Column:
    return F.shiftleft(F.xxhash64(text), 1) + F.lit(int(is_url))


def _large_origins(urls: DataFrame, url_column: str, rows_per_task: int) -> DataFrame:
    """The origins that have more URLs than one task gets, and how many tasks they are for.

    Both sides of the join use this, in separate plans, so it must give the same result everywhere: the sample is chosen
    by the content of a row, never randomly or by order. A table that changes between two readings can't be used.
    """
    # About a thousand URLs of the sample are enough to see that an origin is large.
    every = max(1, min(128, rows_per_task // 1_024))
    url = F.col(url_column)
    sample = urls.select(url).where(F.pmod(F.xxhash64(url), F.lit(every)) == 0)
    site = F.shiftright(_key(F.coalesce(_origin_of(url), url), is_url=True), 1)
    counted = sample.select(site.alias("__mayi_site")).groupBy("__mayi_site").count()
    tasks = F.ceil(F.col("count") * every / rows_per_task)
    return counted.select("__mayi_site", tasks.alias("__mayi_tasks")).where("__mayi_tasks > 1")


def _hashable(urls: DataFrame) -> list[Column]:
    """The columns that Spark can hash."""

    def is_hashable(kind: DataType) -> bool:
        if isinstance(kind, StructType):
            return all(is_hashable(field.dataType) for field in kind.fields)
        if isinstance(kind, ArrayType):
            return is_hashable(kind.elementType)
        return not isinstance(kind, (MapType, VariantType))

    return [F.col(field.name) for field in urls.schema.fields if is_hashable(field.dataType)]


def _origin_of(url: Column) -> Column:
    """The origin of a URL."""
    return F.arrow_udf(_origins, "string")(url)


# --- What runs in the executors ------------------------------------------------------------------------------------


def _origins(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
    """URLs → their origins."""
    for batch in batches:
        yield pa.array(arrow.origin(batch))


class _Asking:
    """The crawlers, and the answers that are requested."""

    def __init__(
        self,
        agents: Sequence[str | Crawler],
        url_column: str,
        answers: tuple[str, ...],
        prefix: str,
        dialect: str,
        missing: str,
    ) -> None:
        if not agents:
            raise ValueError("at least one crawler has to ask")
        if not answers:
            raise ValueError("at least one answer has to be asked for")
        self.agents, self.url_column, self.answers = list(agents), url_column, answers
        self.prefix, self.dialect, self.missing = prefix, dialect, missing
        # Errors in these are raised now, and not by a task.
        self.answered(pa.array([], pa.string()), self.files(_NO_ROBOTS))

    def fields(self) -> list[StructField]:
        """The columns of the answers."""
        return [
            StructField(self.prefix + name + suffix, _TYPES.get(name, _TEXT)[0])
            for name, suffix, _ in self._columns()
        ]

    def _columns(self) -> Iterator[tuple[str, str, int]]:
        """Each answer, the suffix of its name, and its crawler."""
        for name in self.answers:
            if len(self.agents) == 1 or name in _OF_URL:
                yield name, "", 0
                continue
            for number, agent in enumerate(self.agents):
                token = agent.product_token if isinstance(agent, Crawler) else agent
                yield name, f"_{token}", number

    def files(self, table: pa.Table) -> arrow.Files:
        """The files of a robots table, ready for questions."""
        columns = {name: table.column(name) for name in _ROBOTS_COLUMNS}
        columns["time"] = columns["time"].cast(pa.timestamp("us", "UTC"))
        return arrow.Files(pa.table(columns), dialect=self.dialect, missing=self.missing)

    def answered(self, urls: pa.Array, files: arrow.Files) -> list[pa.Array]:
        """The answers for these URLs, one column each."""
        is_one = len(self.agents) == 1
        agent = self.agents[0] if is_one else self.agents
        decided = pa.array(arrow.decide(urls, files=files, agent=agent, answers=self.answers))
        of_agent = [decided] if is_one else decided.flatten()
        return [of_agent[number].field(name).cast(_TYPES.get(name, _TEXT)[1]) for name, _, number in self._columns()]

    def answered_batch(self, batch: pa.RecordBatch, files: arrow.Files) -> pa.RecordBatch:
        """The same rows with the answers after them."""
        answers = self.answered(batch.column(self.url_column), files)
        names = [*batch.schema.names, *(field.name for field in self.fields())]
        return pa.RecordBatch.from_arrays([*batch.columns, *answers], names=names)


_ROBOTS_COLUMNS = {
    "origin": pa.string(),
    "status": pa.int32(),
    "body": pa.binary(),
    "time": pa.int64(),
    "content_type": pa.string(),
    "location": pa.string(),
}


_NO_ROBOTS = pa.table({_KEY: pa.array([], pa.int64()), **{n: pa.array([], k) for n, k in _ROBOTS_COLUMNS.items()}})


class _DecideByJoin:
    """Batches in which the row of an origin comes before its URLs → the URLs with their answers.

    It holds one batch and the file of the last origin, however many rows there are.
    """

    def __init__(self, asking: _Asking, columns: Sequence[str]) -> None:
        self.asking, self.columns = asking, list(columns)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        last = _NO_ROBOTS
        files: arrow.Files | None = None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            is_url = pc.equal(pc.bit_wise_and(batch.column(_KEY), 1), 1)
            asked = batch.select(self.columns)
            if not pc.all(is_url).as_py():
                met = _robots_rows(batch.filter(pc.invert(is_url)))
                last, files = _the_latest(pa.concat_tables([last, met])), None
                asked = asked.filter(is_url)
            if asked.num_rows:
                # What was prepared for the previous batch is used again if no other file has come since.
                files = self.asking.files(last) if files is None else files
                yield self.asking.answered_batch(asked, files)
            key = batch.column(_KEY)[batch.num_rows - 1].as_py()
            kept = last.filter(pc.equal(pc.shift_right(last.column(_KEY), 1), key >> 1))
            if kept.num_rows < last.num_rows:
                last, files = kept, None


def _robots_rows(batch: pa.RecordBatch) -> pa.Table:
    """The rows of the robots table in a batch, with their keys."""
    rows = batch.column(_ROBOTS)
    columns = {name: rows.field(name).cast(kind) for name, kind in _ROBOTS_COLUMNS.items()}
    return pa.table({_KEY: batch.column(_KEY).cast(pa.int64()), **columns})


def _the_latest(table: pa.Table) -> pa.Table:
    """The row of each origin that counts. Among rows with the same time it is the same one in every order."""
    if pc.count_distinct(table.column("origin")).as_py() == table.num_rows:
        return table
    least = {"origin": "", "time": 0, "status": 0, "body": b""}
    keys = pa.table({name: pc.fill_null(table.column(name), value) for name, value in least.items()})
    table = table.take(pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in least]))
    origins = table.column("origin").to_pylist()
    is_last = [origin != after for origin, after in zip(origins, [*origins[1:], None], strict=True)]
    return table.filter(pa.array(is_last, pa.bool_()))


class _DecideByTable:
    """Batches of URLs → the same with their answers, from a table that the executor has."""

    def __init__(self, asking: _Asking, shared: Any) -> None:
        self.asking, self.shared = asking, shared

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files = self._files()
        for batch in batches:
            yield self.asking.answered_batch(batch, files)

    def _files(self) -> arrow.Files:
        """The files, read once by each Python process on an executor, which answers task after task."""
        octets = self.shared if isinstance(self.shared, bytes) else self.shared.value
        key = (hash(octets), len(octets), self.asking.dialect, self.asking.missing)
        if key not in _files_here:
            _files_here.clear()
            with pa.ipc.open_stream(octets) as reader:
                _files_here[key] = self.asking.files(_the_latest(reader.read_all()))
        return _files_here[key]


#: What :class:`_DecideByTable` read last in this process.
_files_here: dict[Any, arrow.Files] = {}


def _shared(spark: SparkSession, robots: DataFrame) -> Any:
    """A robots table as octets that every executor gets once."""
    table = robots.toArrow().cast(pa.schema(_ROBOTS_COLUMNS.items()))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    octets = sink.getvalue().to_pybytes()
    try:
        return spark.sparkContext.broadcast(octets)
    except AttributeError:  # Spark Connect has no context; it sends what a function has with it.
        return octets


# --- WARCs -------------------------------------------------------------------------------------------------------------

#: The response of a server, as `_ReadWarcs` gives it.
_RESPONSES = StructType(
    [
        StructField("path", StringType()),
        StructField("url", StringType()),
        StructField("origin", StringType()),
        StructField("micros", LongType()),
        StructField("status", IntegerType()),
        StructField("location", StringType()),
        StructField("content_type", StringType()),
        StructField("body", BinaryType()),
    ]
)

#: An origin on its way through redirects: the URL whose answer is the last, all answers so far, and what follows from them.
_WALKED = StructType(
    [
        StructField("origin", StringType()),
        StructField("at", StringType()),
        StructField(
            "answers",
            ArrayType(StructType([StructField("status", IntegerType()), StructField("location", StringType())])),
        ),
        StructField("next", StringType()),
        StructField("status", IntegerType()),
    ]
)


class _ReadWarcs:
    """Batches of whole WARCs → responses of servers."""

    def __init__(self, damaged: str, *, has_bodies: bool) -> None:
        self.damaged, self.has_bodies = damaged, has_bodies

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kinds = [pa.string(), pa.string(), pa.int64(), pa.int32(), pa.string(), pa.string(), pa.binary()]
        for batch in batches:
            for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
                rows, trouble = warc_responses(memoryview(content.as_buffer()))
                if trouble is not None and self.damaged == "fail":
                    raise ValueError(f"`{path}` can't be read to its end: {trouble}")
                columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(kinds)
                arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
                if not self.has_bodies:
                    arrays[-1] = pa.nulls(len(rows), pa.binary())
                paths = pa.repeat(path, len(rows))
                yield pa.RecordBatch.from_arrays([paths, *arrays], names=_RESPONSES.names)


def _latest(responses: DataFrame) -> DataFrame:
    """The latest response of each URL; of several with the same time, that of the file whose name sorts last."""
    rest = [F.col(name) for name in _RESPONSES.names if name not in ("url", "path")]
    last = F.max_by(F.struct(*rest), F.struct("micros", "path"))
    return responses.groupBy("url").agg(last.alias("last")).select("url", "last.*")


def _followed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Where the responses so far lead: to the next URL, or to the final status."""
    for batch in batches:
        answers = batch.column("answers").to_pylist()
        steps = [
            after_redirects(origin, [(answer["status"], answer["location"]) for answer in so_far])
            for origin, so_far in zip(batch.column("origin").to_pylist(), answers, strict=True)
        ]
        columns = [
            batch.column("origin"),
            batch.column("at"),
            batch.column("answers"),
            pa.array([step[0] for step in steps], pa.string()),
            pa.array([step[1] for step in steps], pa.int32()),
        ]
        yield pa.RecordBatch.from_arrays(columns, names=_WALKED.names)

"""Compares rdfm in Spark with hand-written user code, and with the maximum throughput of Spark.

Run it with `make bench-spark`. Both sides use one local session with two cores, and must give the
same answers from the same data. Figures are the best of several runs, in wall-clock time. For the
rows in `BY_CPU`, the ratio compares the CPU seconds of the driver, the JVM and the Python workers.
Each row is printed when it is measured, and a run takes at most 8 minutes; its exit status is always 0.

    .venv/bin/python benchmarks/spark.py [--quick] [--only REGEX] [--json FILE]
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
from generate import iot_messages, jelly, nquads, pyjelly_sink, write
from run import QUICK_SIZES, SIZES, command_line, environment, folder
from work import Row

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))

CORES = 2
# Time to measure all rows, so that a run takes at most 8 minutes if the data exists.
BUDGET_SECONDS = 360.0
# The big log repeats the observations.
REPETITIONS = 10
BIG_LOG = "one big jelly log, 2 tasks"
# Until the JVM has compiled the code that all rows use, each query is faster than the one before.
WARM_UP_SECONDS = 30.0
SMALL_FILES = 20_000
# Rows whose target applies to the ratio of CPU seconds.
BY_CPU = ("read jelly, sum", "read nq, sum")
# With TCP, every task waits 40 ms for its input, on both sides; see docs/spark-reference.md.
UNIX_SOCKETS = "spark.python.unix.domain.socket.enabled"
QUADS_PER_MESSAGE = 6
TERMS = ("subject", "predicate", "object", "graph")
QUADS = "array<struct<subject: string, predicate: string, object: string, graph: string>>"
# Columns of each kind of row, and their Spark types.
ROW_COLUMNS = {
    "messages": {
        "source": "string",
        "byte_offset": "bigint",
        "quads": QUADS,
        "metadata": "map<string, binary>",
    },
    "quads": {"source": "string", "message_index": "bigint", **dict.fromkeys(TERMS, "string")},
}


def make_data(data: Path, messages: int) -> None:
    """Writes the missing logs of observations: one per core, a big log, and many small logs."""
    import rdfm

    observations = iot_messages(messages)
    size = -(-messages // CORES)
    for part in range(CORES):
        share = list(islice(observations, size))
        write(data / "nq" / f"part-{part}.nq", nquads(iter(share)))
        write(data / "jelly" / f"part-{part}.jelly", jelly(iter(share)))
    big_log = data / "big" / "log.jelly"
    if not big_log.exists():
        big_log.parent.mkdir()
        rdfm.convert(sorted((data / "jelly").iterdir()) * REPETITIONS, big_log)
    if not (small := data / "small").exists():
        rdfm.convert(
            sorted((data / "jelly").iterdir()),
            f"{small}/",
            to="nq",
            split_messages=max(messages // SMALL_FILES, 1),
        )


def make_tables(spark: SparkSession, data: Path) -> None:
    """Writes the same messages as Arrow files, as a table, and as a column of values."""
    from pyspark.sql import functions as F

    import rdfm
    from rdfm._core import ArrowCoalescer
    from rdfm.spark.functions import to_rdf
    from rdfm.spark.readers.collectors import BATCH_BYTES, BATCH_ROWS

    def rows_of(log: Path, rows: str) -> pa.Table:
        """The rows of a log, in batches as large as those of the reader."""
        coalescer = ArrowCoalescer(
            list(ROW_COLUMNS[rows]), max_rows=BATCH_ROWS, max_bytes=BATCH_BYTES, rows=rows
        )
        with rdfm.open_log(log) as opened:
            batches_made = [
                piece for batch in opened.batches() for piece in coalescer.push(batch, str(log))
            ]
        return pa.Table.from_batches(
            map(pa.record_batch, filter(None, [*batches_made, coalescer.finish()]))
        )

    for log in sorted((data / "jelly").iterdir()):
        for rows in ROW_COLUMNS:
            target = data / f"arrow-{rows}" / f"{log.stem}.arrow"
            if not target.exists():
                target.parent.mkdir(exist_ok=True)
                rows_table = rows_of(log, rows)
                partial = target.with_suffix(".partial")
                with pa.ipc.new_file(partial, rows_table.schema) as file:
                    file.write_table(rows_table)
                partial.replace(target)
        target = data / "table" / f"{log.stem}.parquet"
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            partial = target.with_suffix(".partial")
            pa.parquet.write_table(rows_of(log, "messages"), partial)
            partial.replace(target)
    if not (data / "values" / "_SUCCESS").exists():
        table = spark.read.parquet(str(data / "table"))
        text = F.array_join(F.transform("quads", as_line), "")
        values = table.select(
            F.encode(text, "UTF-8").alias("nq"), to_rdf("quads", "jelly").alias("jelly")
        )
        values.write.mode("overwrite").parquet(str(data / "values"))


def as_line(quad: Column) -> Column:
    """A quad as N-Quads."""
    from pyspark.sql import functions as F

    return F.concat_ws(" ", *(quad[term] for term in TERMS), F.lit(".\n"))


# --- the tasks of every reader: count all quads, and the quads of each predicate ---

Answer = dict[str, int]
Figures = dict[str, Any]
Side = Callable[["SparkSession", Path], Answer]
AnswerOf = Callable[["DataFrame"], Answer]


def quad_count(quads: DataFrame) -> Answer:
    """The number of quads, from quad rows."""
    return {"quads": quads.count()}


def quad_count_of_messages(messages: DataFrame) -> Answer:
    """The number of quads, from message rows."""
    from pyspark.sql import functions as F

    first = messages.agg(F.sum(F.size("quads")).alias("quads")).first()
    return {"quads": first.quads if first else 0}


def per_predicate(quads: DataFrame) -> Answer:
    """The number of quads per predicate, from quad rows."""
    return {row.predicate: row["count"] for row in quads.groupBy("predicate").count().collect()}


def per_predicate_of_messages(messages: DataFrame) -> Answer:
    """The number of quads per predicate, from message rows."""
    from pyspark.sql import functions as F

    return per_predicate(messages.select(F.explode("quads").alias("quad")).select("quad.*"))


def as_table(quads: DataFrame) -> Answer:
    """Reads every column of every quad, and writes nothing."""
    quads.write.format("noop").mode("overwrite").save()
    return {}


def as_table_of_messages(messages: DataFrame) -> Answer:
    """Does the same as `as_table`, with message rows."""
    from pyspark.sql import functions as F

    quads = messages.select("source", "byte_offset", F.explode("quads").alias("quad"))
    return as_table(quads.select("source", "byte_offset", "quad.*"))


# --- rdfm ---


def rdfm_read(log: str, answer: AnswerOf, spark: SparkSession, data: Path) -> Answer:
    return answer(spark.read.format("rdfm").load(str(data / log)))


def rdfm_quads(
    log: str, answer: AnswerOf, spark: SparkSession, data: Path, **options: str
) -> Answer:
    reader = spark.read.format("rdfm").options(rows="quads", **options)
    return answer(reader.load(str(data / log)))


def rdfm_big(tasks: int, spark: SparkSession, data: Path) -> Answer:
    """The number of quads of the big log, read by `tasks` tasks."""
    log = data / "big" / "log.jelly"
    options = {"splitBytes": str(log.stat().st_size // tasks + 1), "minPartitions": str(tasks)}
    messages = spark.read.format("rdfm").options(**options).load(str(log))
    if (found := messages.rdd.getNumPartitions()) != tasks:
        raise ValueError(f"{found} tasks instead of {tasks}")
    return quad_count_of_messages(messages)


def oxigraph_small(spark: SparkSession, data: Path) -> Answer:
    """Reads small files with Spark's `binaryFile` source, and parses them with pyoxigraph."""

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyoxigraph

        for batch in batches:
            for content in batch.column(0):
                yield as_text_batch(pyoxigraph.parse(content.as_py(), pyoxigraph.RdfFormat.N_QUADS))

    files = spark.read.format("binaryFile").load(str(data / "small")).select("content")
    schema = ", ".join(f"{term} string" for term in TERMS)
    return quad_count(files.mapInArrow(parse, schema))


def rdfm_predicates(log: str, spark: SparkSession, data: Path) -> Answer:
    reader = spark.read.format("rdfm").schema("quads array<struct<predicate: string>>")
    return per_predicate_of_messages(reader.load(str(data / log)))


def rdfm_write(to: str, spark: SparkSession, data: Path) -> Answer:
    table = spark.read.parquet(str(data / "table")).select("quads")
    table.write.format("rdfm").option("to", to).mode("overwrite").save(str(data / "written"))
    return {}


def rdfm_values(format: str, spark: SparkSession, data: Path) -> Answer:
    from rdfm.spark.functions import from_rdf

    values = spark.read.parquet(str(data / "values"))
    return per_predicate_of_messages(values.select(from_rdf(format, format).alias("quads")))


# --- code that users write without rdfm ---


def as_text_batch(quads: Iterator[Any]) -> pa.RecordBatch:
    """Converts pyoxigraph quads to rows."""
    import pyoxigraph

    default = pyoxigraph.DefaultGraph()
    rows = [
        (
            str(quad.subject),
            str(quad.predicate),
            str(quad.object),
            None if quad.graph_name == default else str(quad.graph_name),
        )
        for quad in quads
    ]
    columns = list(zip(*rows, strict=True)) or [()] * 4
    return pa.RecordBatch.from_arrays([pa.array(c, pa.string()) for c in columns], names=TERMS)


def parse_lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Parses N-Quads lines into quad rows."""
    import pyoxigraph

    for batch in batches:
        text = "\n".join(batch.column(0).to_pylist())
        yield as_text_batch(pyoxigraph.parse(text, pyoxigraph.RdfFormat.N_QUADS))


def oxigraph_read(answer: AnswerOf, spark: SparkSession, data: Path) -> Answer:
    lines = spark.read.text(str(data / "nq"))
    schema = ", ".join(f"{term} string" for term in TERMS)
    return answer(lines.mapInArrow(parse_lines, schema))


def oxigraph_values(spark: SparkSession, data: Path) -> Answer:
    from pyspark.sql import functions as F

    @F.arrow_udf(QUADS)
    def parse(values: pa.Array) -> pa.Array:
        import pyoxigraph

        offsets, quads = [0], []
        for value in values:
            quads += pyoxigraph.parse(value.as_py(), pyoxigraph.RdfFormat.N_QUADS)
            offsets.append(len(quads))
        rows = as_text_batch(iter(quads)).to_struct_array()
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), rows)

    values = spark.read.parquet(str(data / "values"))
    return per_predicate_of_messages(values.select(parse("nq").alias("quads")))


def messages_of(batches: Iterator[pa.RecordBatch]) -> Iterator[list[tuple[str, ...]]]:
    """Yields messages whose terms are strings."""
    for batch in batches:
        offsets = batch.column(0).offsets.to_pylist()
        values = batch.column(0).values
        columns = [values.field(term).to_pylist() for term in TERMS]
        quads = [(s, p, o, g or "") for s, p, o, g in zip(*columns, strict=True)]
        for start, end in pairwise(offsets):
            yield quads[start:end]


def write_parts(
    suffix: str,
    write_part: Callable[[Iterator[list[tuple[str, ...]]], Any], None],
    spark: SparkSession,
    data: Path,
) -> Answer:
    """Writes one file per task, with `mapInArrow`."""
    target = data / "written"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context
        with (target / f"part-{context.partitionId()}.{suffix}").open("wb") as file:
            write_part(messages_of(batches), file)
        yield pa.RecordBatch.from_pydict({"part": [context.partitionId()]})

    table = spark.read.parquet(str(data / "table")).select("quads")
    table.mapInArrow(task, "part bigint").collect()
    return {}


def pyjelly_part(messages: Iterator[list[tuple[str, ...]]], file: Any) -> None:
    import pyjelly.jelly as proto
    from pyjelly.integrations.generic.serialize import grouped_stream_to_file
    from pyjelly.serialize.streams import SerializerOptions

    options = SerializerOptions(logical_type=proto.LOGICAL_STREAM_TYPE_GRAPHS)
    grouped_stream_to_file(map(pyjelly_sink, messages), file, options=options)


def oxigraph_part(messages: Iterator[list[tuple[str, ...]]], file: Any) -> None:
    """Writes N-Quads, since pyoxigraph does not support Jelly. Terms are built from text first."""
    import pyoxigraph

    for message in messages:
        text = "".join(f"{' '.join(filter(None, quad))} .\n" for quad in message)
        quads = pyoxigraph.parse(text, pyoxigraph.RdfFormat.N_QUADS)
        pyoxigraph.serialize(quads, file, format=pyoxigraph.RdfFormat.N_QUADS)
        file.write(b"# @message\n")


# --- a query: sensors, times and values as columns ---

SOSA = "http://www.w3.org/ns/sosa/"
VALUE = "http://www.ontology-of-units-of-measure.org/resource/om-2/hasNumericalValue"
MEASURED = f"""PREFIX sosa: <{SOSA}>
SELECT ?sensor ?time ?value {{
  ?o sosa:madeBySensor ?sensor ; sosa:resultTime ?time ; sosa:hasResult ?result . ?result <{VALUE}> ?value }}"""


# The answer of the first side of each query, to compare with those of the other sides.
ANSWERS: dict[str, tuple[Any, ...]] = {}


def measured(rows: DataFrame) -> Answer:
    """Counts rows and sensors, and adds up values and times."""
    from pyspark.sql import functions as F

    found = rows.agg(
        F.count("*"),
        F.count_distinct("sensor"),
        F.sum(F.round(F.col("value") * 100).cast("long")),
        F.sum(F.unix_timestamp("time")),
    ).first()
    assert found is not None
    if (expected := ANSWERS.setdefault(MEASURED, tuple(found))) != tuple(found):
        raise ValueError(f"{tuple(found)} instead of {expected}")
    return {"quads": found[0] * QUADS_PER_MESSAGE}


def rdfm_query(log: str, spark: SparkSession, data: Path) -> Answer:
    import rdfm.spark

    types = {"time": "dateTime", "value": "double"}
    return measured(rdfm.spark.query(MEASURED, str(data / log), types=types, spark=spark))


def rdfm_query_rows(spark: SparkSession, data: Path) -> Answer:
    import rdfm.spark

    types = {"time": "dateTime", "value": "double"}
    messages = spark.read.format("rdfm").load(str(data / "jelly"))
    return measured(rdfm.spark.query(MEASURED, messages, types=types))


def rdfm_query_sql(spark: SparkSession, data: Path) -> Answer:
    """Runs the query with the SQL table function."""
    from rdfm.spark.functions import register_functions

    register_functions(spark)
    spark.read.format("rdfm").load(str(data / "jelly")).createOrReplaceTempView("messages")
    call = f"""rdf_query(quads, '{MEASURED}', map('types', 'time=dateTime,value=double'))"""
    return measured(spark.sql(f"SELECT found.* FROM messages, LATERAL {call} AS found"))


def joined(spark: SparkSession, data: Path) -> Answer:
    """Joins quad rows in Spark."""
    from pyspark.sql import functions as F

    messages = spark.read.format("rdfm").load(str(data / "jelly"))
    quads = messages.select("source", "byte_offset", F.explode("quads").alias("quad"))

    def quads_with(predicate: str, name: str, subject: str = "o") -> DataFrame:
        matching = quads.where(F.col("quad.predicate") == f"<{predicate}>")
        columns = (F.col("quad.subject").alias(subject), F.col("quad.object").alias(name))
        return matching.select("source", "byte_offset", *columns)

    keys = ["source", "byte_offset"]
    rows = (
        quads_with(f"{SOSA}madeBySensor", "sensor")
        .join(quads_with(f"{SOSA}resultTime", "at"), [*keys, "o"])
        .join(quads_with(f"{SOSA}hasResult", "result"), [*keys, "o"])
        .join(quads_with(VALUE, "number", "result"), [*keys, "result"])
    )
    text = F.regexp_extract("number", '^"([^"]*)"', 1).cast("double")
    time = F.to_timestamp(F.regexp_extract("at", '^"([^"]*)"', 1))
    return measured(rows.select("sensor", time.alias("time"), text.alias("value")))


def oxigraph_query(spark: SparkSession, data: Path) -> Answer:
    """Runs the query with each message in a separate pyoxigraph store."""

    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from datetime import datetime

        import pyoxigraph

        for batch in batches:
            found: list[tuple[str, datetime, float]] = []
            for value in batch.column(0):
                store = pyoxigraph.Store()
                store.extend(pyoxigraph.parse(value.as_py(), pyoxigraph.RdfFormat.N_QUADS))
                for row in store.query(MEASURED):
                    time = datetime.fromisoformat(row["time"].value)
                    found.append((row["sensor"].value, time, float(row["value"].value)))
            sensors, times, values = zip(*found, strict=True) if found else ((), (), ())
            columns = [
                pa.array(sensors, pa.string()),
                pa.array(times, pa.timestamp("us", "UTC")),
                pa.array(values, pa.float64()),
            ]
            yield pa.RecordBatch.from_arrays(columns, ["sensor", "time", "value"])

    values = spark.read.parquet(str(data / "values")).select("nq")
    return measured(values.mapInArrow(ask, "sensor string, time timestamp, value double"))


# --- the maximum throughput of Spark: the same rows without a decoder ---


def undecoded(rows: str, answer: AnswerOf, spark: SparkSession, data: Path) -> Answer:
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    class Reader(DataSourceReader):
        def partitions(self) -> list[InputPartition]:
            files = sorted(map(str, (data / f"arrow-{rows}").glob("*.arrow")))
            return [InputPartition(file) for file in files]

        def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
            file = pa.ipc.open_file(pa.memory_map(partition.value))
            for index in range(file.num_record_batches):
                yield file.get_batch(index)

    class Source(DataSource):
        @classmethod
        def name(cls) -> str:
            return f"undecoded-{rows}"

        def schema(self) -> str:
            return ", ".join(f"{name} {kind}" for name, kind in ROW_COLUMNS[rows].items())

        def reader(self, schema: Any) -> DataSourceReader:
            return Reader()

    spark.dataSource.register(Source)
    return answer(spark.read.format(f"undecoded-{rows}").load())


def rows() -> list[Row[Side]]:
    """Every row of the table."""
    by_lines = "N-Quads lines, mapInArrow, pyoxigraph"
    counted, grouped = partial(oxigraph_read, quad_count), partial(oxigraph_read, per_predicate)
    by_pyjelly = ("Jelly, mapInArrow, pyjelly", partial(write_parts, "jelly", pyjelly_part))
    by_oxigraph = ("N-Quads, mapInArrow, pyoxigraph", partial(write_parts, "nq", oxigraph_part))
    by_values = ("N-Quads values, arrow_udf, pyoxigraph", oxigraph_values)
    undecoded_rows = "the same rows, not decoded"
    undecoded_messages, undecoded_grouped = (
        partial(undecoded, "messages", of)
        for of in (quad_count_of_messages, per_predicate_of_messages)
    )
    undecoded_quads = partial(undecoded, "quads", as_table)
    jelly, jelly_grouped = (
        partial(rdfm_read, "jelly", of)
        for of in (quad_count_of_messages, per_predicate_of_messages)
    )
    nq, nq_grouped = (
        partial(rdfm_read, "nq", of) for of in (quad_count_of_messages, per_predicate_of_messages)
    )
    jelly_quads, nq_quads = (partial(rdfm_quads, of, as_table) for of in ("jelly", "nq"))
    jelly_exploded, nq_exploded = (
        partial(rdfm_read, of, as_table_of_messages) for of in ("jelly", "nq")
    )
    columns = partial(rdfm_quads, "jelly", per_predicate, columns="predicate")
    exploded = "messages, exploded"
    by_predicates = "messages, their predicates exploded", partial(rdfm_predicates, "jelly")
    query = partial(rdfm_query, "jelly")
    return [
        Row("read jelly, sum", jelly, (by_lines, counted), 12),
        Row("read nq, sum", nq, (by_lines, counted), 6),
        Row("read jelly, quads by predicate", jelly_grouped, (by_lines, grouped)),
        Row("read nq, quads by predicate", nq_grouped, (by_lines, grouped)),
        Row(BIG_LOG, partial(rdfm_big, 2), ("1 task", partial(rdfm_big, 1)), 1.6),
        Row(
            "20,000 small files",
            partial(rdfm_read, "small", quad_count_of_messages),
            ("binaryFile, mapInArrow, pyoxigraph", oxigraph_small),
            8,
        ),
        Row("write jelly", partial(rdfm_write, "jelly"), by_pyjelly, 4),
        Row("write jelly, peer writes nq", partial(rdfm_write, "jelly"), by_oxigraph),
        Row("write nq", partial(rdfm_write, "nq"), by_oxigraph),
        Row("from_rdf nq, count", partial(rdfm_values, "nq"), by_values, 2),
        Row("from_rdf jelly, count", partial(rdfm_values, "jelly"), by_values),
        Row("query jelly, peer joins", query, ("quads, joined in Spark", joined), 3),
        Row("query jelly", query, ("mapInArrow, pyoxigraph", oxigraph_query), 10),
        Row("query nq", partial(rdfm_query, "nq"), ("mapInArrow, pyoxigraph", oxigraph_query), 10),
        Row("query rows", rdfm_query_rows, ("mapInArrow, pyoxigraph", oxigraph_query)),
        Row("query rows, peer is SQL", rdfm_query_rows, ("rdf_query in SQL", rdfm_query_sql)),
        Row("jelly, share of transport", jelly, (undecoded_rows, undecoded_messages), 0.75),
        Row("nq, share of transport", nq, (undecoded_rows, undecoded_messages), 0.75),
        Row("jelly by predicate, share", jelly_grouped, (undecoded_rows, undecoded_grouped), 0.75),
        Row("jelly, rows=quads", jelly_quads, (exploded, jelly_exploded), 1.5),
        Row("nq, rows=quads", nq_quads, (exploded, nq_exploded), 1.5),
        # An upper bound for the two previous rows, because Spark takes rows from Python one at a
        # time.
        Row("rows=quads, not decoded", undecoded_quads, (exploded, jelly_exploded)),
        Row("jelly, rows=quads, share", jelly_quads, (undecoded_rows, undecoded_quads), 0.75),
        Row("jelly by predicate, rows=quads", columns, (exploded, jelly_grouped), 1.5),
        Row("jelly predicates, rows=quads", columns, by_predicates, 1.5),
    ]


def start_session(temporary: Path) -> SparkSession:
    """Starts a session with two cores and little output, on any available Java."""
    from spark_environment import environment as surroundings

    os.environ.update(surroundings(temporary))
    # Workers import `generate` for the peers.
    os.environ["PYTHONPATH"] += f"{os.pathsep}{Path(__file__).resolve().parent}"
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{CORES}]")
        .appName("rdfm benchmark")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config(UNIX_SOCKETS, "true")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", CORES)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


def java_version(spark: SparkSession) -> str:
    """The version of the JVM."""
    system = spark.sparkContext._jvm.java.lang.System
    return f"{system.getProperty('java.version')} ({system.getProperty('java.vendor')})"


def timed(
    sides: list[Side], spark: SparkSession, data: Path, budget_seconds: float
) -> list[Figures]:
    """Measures the best run of each side.

    The sides take turns, so that the state of the JVM's compiler and the load of the machine are
    similar for all. The first turn only warms up.

    Args:
        sides: The sides to time.
        spark: The session.
        data: The folder of the data.
        budget_seconds: Total time to measure, in seconds. There are at least two turns.
    """
    figures: list[Figures] = [{"seconds": inf, "cpu": inf, "runs": 0} for _ in sides]
    begin = time.perf_counter()
    turn = 0
    while turn < 2 or time.perf_counter() - begin < budget_seconds:
        for side, known in zip(sides, figures, strict=True):
            if "error" not in known:
                known.update(figures_after_turn(side, spark, data, known, turn, budget_seconds))
        turn += 1
    return figures


def figures_after_turn(
    side: Side, spark: SparkSession, data: Path, known: Figures, turn: int, budget_seconds: float
) -> Figures:
    """The figures of a side after another turn. Fast sides run several times per turn."""
    elapsed, best, cpu, runs = 0.0, known["seconds"], known["cpu"], known["runs"]
    try:
        while elapsed == 0.0 or elapsed < budget_seconds / 100:
            begin, cpu_begin = time.perf_counter(), cpu_seconds()
            answer = side(spark, data)
            seconds, cpu_used = time.perf_counter() - begin, cpu_seconds() - cpu_begin
            elapsed += seconds
            if turn:
                best, cpu, runs = min(best, seconds), min(cpu, cpu_used), runs + 1
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if "SQLSTATE" not in line]
        return {"error": ([line for line in lines if line] or [type(error).__name__])[-1]}
    return {"seconds": best, "cpu": cpu, "runs": runs, "answer": answer}


def cpu_seconds() -> float:
    """CPU seconds of this process and, on Linux, of all processes that it started."""
    if not Path("/proc/self/stat").exists():
        return time.process_time()
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        process = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        ticks[process] = sum(map(int, fields[11:15]))  # including children that have ended
    pending, total = [os.getpid()], 0
    while pending:
        process = pending.pop()
        total += ticks.get(process, 0)
        pending += children.get(process, [])
    return total / os.sysconf("SC_CLK_TCK")


def compared(row: Row[Side], quads: int, sides: list[Figures]) -> dict[str, Any]:
    """The figures of both sides of a row, and their ratio."""
    result: dict[str, Any] = {"task": row.name, "target": row.target or None}
    for name, side in zip(("rdfm", "peer"), sides, strict=True):
        figures = {"quads": quads, **side}
        answer = figures.pop("answer", None)
        if answer and sum(answer.values()) != quads:
            figures["error"] = f"{sum(answer.values())} quads instead of {quads}"
        result[name] = figures
    result["peer"] = {"name": row.peer[0], **result["peer"]}
    if "error" not in result["rdfm"] and "error" not in result["peer"]:
        unit = "cpu" if row.name in BY_CPU else "seconds"
        result["ratio"] = result["peer"][unit] / result["rdfm"][unit]
        result["met"] = result["ratio"] >= row.target if row.target else None
    return result


def print_row(result: dict[str, Any]) -> None:
    """Prints a row of the table."""

    def rate(figures: dict[str, Any]) -> str:
        if "error" in figures:
            return f"failed: {figures['error']}"
        return f"{figures['quads'] / figures['seconds'] / 1e6:9.2f}"

    line = f"{result['task']:<32} {rate(result['rdfm'])}  "
    line += f"{result['peer']['name']:<38} {rate(result['peer'])}"
    if "ratio" in result:
        target = f"{result['target']:g} x" if result["target"] else ""
        met = {True: "yes", False: "no", None: ""}[result["met"]]
        line += f" {result['ratio']:7.2f} x {target:>6} {met}"
    print(line.rstrip(), flush=True)


def main() -> None:
    """Creates the data, measures, and prints the table."""
    options = command_line(__doc__).parse_args()
    messages = (QUICK_SIZES if options.quick else SIZES)["iot"]
    data, budget_seconds = folder(options.quick) / "spark", 0.0 if options.quick else BUDGET_SECONDS

    print("generating the data (kept in benchmarks/data) …", file=sys.stderr)
    make_data(data, messages)
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        spark = start_session(Path(temporary))
        make_tables(spark, data)
        details = {
            **environment("pyspark"),
            "java": java_version(spark),
            UNIX_SOCKETS: spark.conf.get(UNIX_SOCKETS),
        }
        for name, value in details.items():
            print(f"{name}: {value}")
        quads = messages * QUADS_PER_MESSAGE
        heading = f"local[{CORES}], {quads / 1e6:g} M quads, best of several"
        print(f"\n{heading:<32} M quads/s  {'peer':<38} M quads/s     ratio target met")
        selected = [row for row in rows() if re.search(options.only, row.name)]
        warm_up = rows()[0]
        sides = [warm_up.ours, warm_up.peer[1]]
        timed(sides, spark, data, 0.0 if options.quick else WARM_UP_SECONDS)
        end = time.perf_counter() + budget_seconds
        for index, row in enumerate(selected):
            share = (end - time.perf_counter()) / (len(selected) - index)
            figures = timed([row.ours, row.peer[1]], spark, data, share)
            read = quads * REPETITIONS if row.name == BIG_LOG else quads
            results.append(compared(row, read, figures))
            print_row(results[-1])
        spark.stop()
    shutil.rmtree(data / "written", ignore_errors=True)
    if options.json:
        options.json.write_text(
            json.dumps({"environment": details, "results": results}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()

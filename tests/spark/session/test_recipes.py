"""Recipes of docs/spark-recipes.md that need a service, tested with equivalent data frames."""

import pytest

import rdfm
import rdfm.spark
from rdfm.spark import functions as R

# The columns of Spark's Kafka source.
KAFKA_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp"
)
QUADS = '_:o <http://e/sensor> <http://e/{sensor}> .\n_:o <http://e/value> "{value}" .\n'


def value_of(sensor, value):
    """Returns a topic value: a Jelly frame without a length."""
    log = rdfm.open_log(QUADS.format(sensor=sensor, value=value).encode(), "nq")
    with log:
        encoder = rdfm.formats.find("jelly").encoder({"delimited": False})
        data = b"".join(encoder.encode(each) for each in log.batches())
        return data + encoder.finish()


@pytest.fixture
def topic(spark):
    rows = [
        (None, bytearray(value_of(sensor, number)), "t", partition, number, None)
        for number, (sensor, partition) in enumerate([("roof", 0), ("cellar", 1), ("roof", 0)])
    ]
    return spark.createDataFrame(rows, KAFKA_SCHEMA)


def test_values_of_a_topic_become_quads_with_their_offsets(topic):
    messages = topic.select(
        "topic", "partition", "offset", R.from_rdf("value", "jelly").alias("quads")
    )
    quads = R.explode_quads(messages, by=["topic", "partition", "offset"])
    rows = quads.orderBy("offset", "quad_index").collect()
    assert [(row.offset, row.partition, row.predicate) for row in rows] == [
        (number, partition, predicate)
        for number, partition in enumerate([0, 1, 0])
        for predicate in ("<http://e/sensor>", "<http://e/value>")
    ]
    assert (
        len({row.subject for row in rows}) == 3
    )  # blank nodes of different messages stay distinct
    restored = R.messages(quads, by=["topic", "partition", "offset"]).orderBy("offset").collect()
    assert [len(row.quads) for row in restored] == [2, 2, 2]


def test_messages_become_records_with_keys(spark, topic):
    R.register_functions(spark)
    messages = topic.select(R.from_rdf("value", "jelly").alias("quads"))
    records = messages.selectExpr(
        "rdf_value(quads, 'http://e/sensor') AS key", "to_jelly(quads) AS value"
    )
    assert records.dtypes == [("key", "string"), ("value", "binary")]
    rows = records.collect()
    assert sorted(row.key for row in rows) == ["http://e/cellar", "http://e/roof", "http://e/roof"]
    with rdfm.open_log(bytes(rows[0].value), "jelly", frames="message") as log:
        assert [len(message) for message in log] == [2]


def test_a_stream_is_merged_in_batches(spark, tmp_path):
    (tmp_path / "logs").mkdir()
    for number, (sensor, value) in enumerate([("roof", 1), ("cellar", 2), ("roof", 3)]):
        path = tmp_path / f"logs/{number}.nq"
        path.write_text(QUADS.format(sensor=sensor, value=value))
    text = "SELECT ?sensor ?value { ?o <http://e/sensor> ?sensor ; <http://e/value> ?value }"
    stream = rdfm.spark.read_stream(spark, tmp_path / "logs", max_files_per_trigger=1)
    rows = rdfm.spark.query(text, stream, types={"sensor": "iri"})
    merged = {}

    def merge(batch, batch_id):
        merged.setdefault(batch_id, []).extend(batch.collect())

    query = rows.writeStream.foreachBatch(merge).trigger(availableNow=True)
    query = query.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert query.awaitTermination(120)
    found = [(row.sensor, row.value) for batch in sorted(merged) for row in merged[batch]]
    assert sorted(found) == [
        ("http://e/cellar", '"2"'),
        ("http://e/roof", '"1"'),
        ("http://e/roof", '"3"'),
    ]
    assert len(merged) == 3

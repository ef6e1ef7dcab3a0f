"""Benchmark tasks for messages, and the list of all rows."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path
from typing import IO, Any

import checking
import columns
import comparing
import counting
import distributions
import filtering
import frames
import kinds
import querying
from generate import NANOPUB_NAMESPACES
from work import OXIGRAPH_FORMATS, Row, Task, Work, batches, sample, translated, writing_work

# --- rdfm ---


def rdfm_read(log: str, folder: Path, messages: int) -> Work:
    """Decodes bytes into batches."""
    data = sample(folder, log, 0 if log.endswith("jelly") else messages)
    format = log.rpartition(".")[2]
    return Work(lambda: sum(batch.quad_count for batch in batches(format, data)), len(data))


def rdfm_read_skipping(log: str, folder: Path, messages: int) -> Work:
    """Decodes bytes into batches, and would skip lines that are not statements."""
    data = sample(folder, log, messages)
    format = log.rpartition(".")[2]
    return Work(
        lambda: sum(batch.quad_count for batch in batches(format, data, skip_lines=True)), len(data)
    )


def rdfm_read_objects(log: str, folder: Path, messages: int) -> Work:
    """Decodes bytes to Python quads, with an object for each term."""
    data = sample(folder, log, 0 if log.endswith("jelly") else messages)
    format = log.rpartition(".")[2]

    def run() -> int:
        count = 0
        for batch in batches(format, data):
            for message in batch:
                for _subject, _predicate, _object, _graph in message.quads:
                    count += 1
        return count

    return Work(run, len(data))


def rdfm_read_arrow(log: str, folder: Path, messages: int) -> Work:
    """Decodes bytes to pyarrow record batches."""
    import pyarrow as pa

    del messages
    data = (folder / log).read_bytes()
    format = log.rpartition(".")[2]

    def run() -> int:
        count = 0
        for batch in batches(format, data):
            record = pa.record_batch(batch)
            count += len(record.column("quads").values)
        return count

    return Work(run, len(data))


def rdfm_read_as(
    log: str, to: str, folder: Path, messages: int, *, writing: dict[str, Any] | None = None
) -> Work:
    """Converts a log to the format `to`, and decodes it. A flat log is read in parts."""
    data = translated(log, to, folder, messages, **(writing or {}))
    parts = (writing or {}).get("flat", False)
    return Work(
        lambda: sum(batch.quad_count for batch in batches(to, data, parts=parts)), len(data)
    )


def rdfm_write(
    log: str, to: str, folder: Path, messages: int, *, writing: dict[str, Any] | None = None
) -> Work:
    """Encodes batches."""
    from rdfm import formats

    prepared = list(
        batches(
            log.rpartition(".")[2], sample(folder, log, 0 if log.endswith("jelly") else messages)
        )
    )

    def write(out: IO[bytes]) -> int:
        encoder = formats.find(to).Encoder(**(writing or {}))
        for batch in prepared:
            out.write(encoder.encode(batch))
        out.write(encoder.finish())
        return sum(batch.quad_count for batch in prepared)

    return writing_work(write)


def rdfm_write_objects(log: str, to: str, folder: Path, messages: int) -> Work:
    """Encodes Python quads."""
    from rdfm import MessageBatch, formats

    prepared = [
        message.quads
        for batch in batches(log.rpartition(".")[2], sample(folder, log, messages))
        for message in batch
    ]
    quads = sum(map(len, prepared))

    def write(out: IO[bytes]) -> int:
        encoder = formats.find(to).Encoder()
        for start in range(0, len(prepared), 1000):
            out.write(encoder.encode(MessageBatch.from_messages(prepared[start : start + 1000])))
        out.write(encoder.finish())
        return quads

    return writing_work(write)


# --- archives: a Turtle file for each message ---

MAX_MEMBERS = 50_000


def archive(log: str, folder: Path, messages: int) -> bytes:
    """A tar archive with a member for each message of an N-Quads log without graph names."""
    import tarfile

    messages = min(messages or MAX_MEMBERS, MAX_MEMBERS)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for number, text in enumerate(sample(folder, log, messages).split(b"# @message\n")):
            member = tarfile.TarInfo(f"{number // 1000:03}/{number:010}.ttl")
            member.size = len(text)
            file.addfile(member, io.BytesIO(text))
    return out.getvalue()


def rdfm_read_archive(log: str, folder: Path, messages: int) -> Work:
    """Decodes an archive into batches."""
    import rdfm

    data = archive(log, folder, messages)

    def run() -> int:
        with rdfm.open_log(data) as found:
            return sum(batch.quad_count for batch in found.batches())

    return Work(run, len(data))


def oxigraph_read_archive(log: str, folder: Path, messages: int) -> Work:
    """Parses each member of an archive separately with pyoxigraph."""
    import tarfile

    import pyoxigraph

    data = archive(log, folder, messages)

    def run() -> int:
        count = 0
        with tarfile.open(fileobj=io.BytesIO(data)) as found:
            for member in found:
                file = found.extractfile(member)
                assert file is not None
                text = file.read()
                count += sum(1 for _ in pyoxigraph.parse(text, pyoxigraph.RdfFormat.TURTLE))
        return count

    return Work(run, len(data))


# --- pyjelly: with its own terms and its fastest reader; writes one frame per message ---


def pyjelly_read(log: str, folder: Path, messages: int) -> Work:
    """Decodes bytes to pyjelly statements."""
    from pyjelly.integrations.generic.parse import parse_jelly_flat

    del messages
    data = (folder / log).read_bytes()
    return Work(lambda: sum(1 for _ in parse_jelly_flat(io.BytesIO(data))), len(data))


def pyjelly_write(log: str, folder: Path, messages: int) -> Work:
    """Encodes pyjelly statements."""
    import pyjelly.jelly as proto
    from generate import MESSAGES, pyjelly_sink
    from pyjelly.integrations.generic.serialize import grouped_stream_to_file
    from pyjelly.serialize.streams import SerializerOptions

    sinks = [pyjelly_sink(message) for message in MESSAGES[log](messages)]
    quads = sum(map(len, sinks))

    def write(out: IO[bytes]) -> int:
        options = SerializerOptions(logical_type=proto.LOGICAL_STREAM_TYPE_GRAPHS)
        grouped_stream_to_file(iter(sinks), out, options=options)
        return quads

    return writing_work(write)


# --- pyoxigraph: in strict mode, like rdfm ---


def oxigraph_read(log: str, folder: Path, messages: int) -> Work:
    """Parses bytes to pyoxigraph quads."""
    import pyoxigraph

    data = sample(folder, log, messages)
    format = getattr(pyoxigraph.RdfFormat, OXIGRAPH_FORMATS[log.rpartition(".")[2]])
    return Work(lambda: sum(1 for _ in pyoxigraph.parse(data, format)), len(data))


def oxigraph_read_objects(log: str, folder: Path, messages: int) -> Work:
    """Parses bytes to pyoxigraph quads, and accesses each term, so that its object is created."""
    import pyoxigraph

    data = sample(folder, log, messages)
    format = getattr(pyoxigraph.RdfFormat, OXIGRAPH_FORMATS[log.rpartition(".")[2]])

    def run() -> int:
        count = 0
        for _subject, _predicate, _object, _graph in pyoxigraph.parse(data, format):
            count += 1
        return count

    return Work(run, len(data))


def oxigraph_write(
    log: str, to: str, folder: Path, messages: int, *, prefixes: dict[str, str] | None = None
) -> Work:
    """Writes pyoxigraph quads."""
    import pyoxigraph

    format = getattr(pyoxigraph.RdfFormat, OXIGRAPH_FORMATS[log.rpartition(".")[2]])
    quads = list(pyoxigraph.parse(sample(folder, log, messages), format))
    target = getattr(pyoxigraph.RdfFormat, OXIGRAPH_FORMATS[to])

    def write(out: IO[bytes]) -> int:
        pyoxigraph.serialize(quads, out, target, prefixes=prefixes)
        return len(quads)

    return writing_work(write)


def oxigraph_read_lines(
    log: str, to: str, folder: Path, messages: int, *, writing: dict[str, Any] | None = None
) -> Work:
    """Parses each line as a document with pyoxigraph. Context lines are merged into later lines."""
    data = translated(
        log, to, folder, min(messages or MAX_PEER_MESSAGES, MAX_PEER_MESSAGES), **(writing or {})
    )
    return oxigraph_documents(data, "RDF_XML" if to == "rdfxml" else "JSON_LD")


def oxigraph_documents(data: bytes, format: str) -> Work:
    """Parses each line of bytes as a document. Context lines are detected beforehand."""
    import pyoxigraph

    documents, context = [], b""
    for line in data.splitlines():
        if format == "JSON_LD" and [*json.loads(line)] == ["@context"]:
            context = line[:-1] + b","
        else:
            documents.append(context + line[1:] if context else line)
    kind = getattr(pyoxigraph.RdfFormat, format)

    def run() -> int:
        return sum(1 for document in documents for _ in pyoxigraph.parse(document, kind))

    return Work(run, len(data))


# --- NDJSON-LD with scoped contexts and containers ---

SCOPED_CONTEXT = {
    "id": "@id",
    "type": "@type",
    "sosa": "http://www.w3.org/ns/sosa/",
    "om": "http://www.ontology-of-units-of-measure.org/resource/om-2/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "Observation": {
        "@id": "sosa:Observation",
        "@context": {
            "sensor": {"@id": "sosa:madeBySensor", "@container": "@id"},
            "time": {"@id": "sosa:resultTime", "@type": "xsd:dateTime", "@container": "@index"},
            "label": {"@id": "rdfs:label", "@container": "@language"},
            "result": {
                "@id": "sosa:hasResult",
                "@context": {
                    "value": {"@id": "om:hasNumericalValue", "@type": "xsd:double"},
                    "unit": {"@id": "om:hasUnit", "@type": "@id", "@container": "@set"},
                },
            },
        },
    },
}


def scoped_log(messages: int) -> bytes:
    """The messages of `iot` with labels in two languages, scoped contexts and containers."""
    from generate import MESSAGES

    lines = [json.dumps({"@context": SCOPED_CONTEXT})]
    for number, quads in enumerate(MESSAGES["iot"](messages)):
        sensor, time, value, unit = (quads[at][2] for at in (1, 2, 4, 5))
        line = {
            "id": quads[0][0][1:-1],
            "type": "Observation",
            "sensor": {sensor[1:-1]: {}},
            "time": {"utc": time.split('"')[1]},
            "label": {"en": f"observation {number}", "de": f"Beobachtung {number}"},
            "result": {"value": value.split('"')[1], "unit": [unit[1:-1]]},
        }
        lines.append(json.dumps(line, separators=(",", ":")))
    return "\n".join(lines).encode() + b"\n"


def rdfm_read_scoped(folder: Path, messages: int) -> Work:
    """Decodes the log of `scoped_log` into batches."""
    del folder
    data = scoped_log(messages or MAX_PEER_MESSAGES)
    return Work(
        lambda: sum(batch.quad_count for batch in batches("ndjsonld", data)),
        len(data),
    )


def oxigraph_read_scoped(folder: Path, messages: int) -> Work:
    """Parses the log of `scoped_log` with pyoxigraph, one line at a time."""
    del folder
    return oxigraph_documents(
        scoped_log(min(messages or MAX_PEER_MESSAGES, MAX_PEER_MESSAGES)), "JSON_LD"
    )


# --- PyYAML's C loader and PyLD: a small sample, because they are slow ---

MAX_PEER_MESSAGES = 20_000


def pyld_read_yaml(log: str, folder: Path, messages: int, *, writing: dict[str, Any]) -> Work:
    """Converts YAML-LD to quads with PyLD. The leading context is merged into each document."""
    import yaml
    from pyld import jsonld

    data = translated(log, "yamlld", folder, min(messages or 500, 500), **writing)

    def run() -> int:
        documents = yaml.load_all(data, Loader=yaml.CSafeLoader)
        context = next(documents)
        datasets = (jsonld.to_rdf(document | context) for document in documents)
        return sum(len(graph) for dataset in datasets for graph in dataset.values())

    return Work(run, len(data))


# --- rdflib: a small sample, because it is slow ---


def rdflib_read(log: str, folder: Path, messages: int) -> Work:
    """Parses bytes into an rdflib dataset."""
    import rdflib

    data = sample(folder, log, min(messages or 2000, 2000))
    format = {"nq": "nquads", "trig": "trig"}[log.rpartition(".")[2]]

    def run() -> int:
        dataset = rdflib.Dataset()
        dataset.parse(data=data, format=format)
        return sum(1 for _ in dataset.quads())

    return Work(run, len(data))


def rdflib_write_pretty(log: str, namespaces: dict[str, str], folder: Path, messages: int) -> Work:
    """Serializes an rdflib graph for each message, without graph names, as "longturtle"."""
    import rdflib

    graphs = []
    text = translated(log, "nt", folder, min(messages or 1000, 1000), merge_graphs=True)
    for data in text.split(b"# @message\n"):
        graph = rdflib.Graph()
        for name, iri in namespaces.items():
            graph.bind(name, iri)
        graphs.append(graph.parse(data=data, format="nt"))

    def write(out: IO[bytes]) -> int:
        for graph in graphs:
            out.write(graph.serialize(format="longturtle", encoding="utf-8"))
        return sum(map(len, graphs))

    return writing_work(write)


IOT_NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "om": "http://www.ontology-of-units-of-measure.org/resource/om-2/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "iot": "https://iot.example/",
}


def binary_rows() -> list[Row[Task]]:
    """Rows for RDF Protobuf and RDF Thrift; the peer uses N-Quads with the same quads."""
    found = []
    for name, writing in (("rdf-protobuf", {}), ("rdf-thrift", {"flat": True})):
        read = partial(rdfm_read_as, "iot.nq", name, writing=writing)
        write = partial(rdfm_write, "iot.nq", name, writing=writing)
        peers = partial(oxigraph_read, "iot.nq"), partial(oxigraph_write, "iot.nq", "nq")
        found += [
            Row(f"{name} read, batches (iot)", read, ("pyoxigraph, nq", peers[0]), 5),
            Row(f"{name} write, batches (iot)", write, ("pyoxigraph, nq", peers[1]), 4),
        ]
    return found


def document_rows() -> list[Row[Task]]:
    """Rows for formats whose messages are documents."""
    named: dict[str, Any] = {"prefixes": IOT_NAMESPACES}
    embedded: dict[str, Any] = {**named, "context_lines": "every"}
    expanded: dict[str, Any] = {"context_lines": "none"}

    def read(
        name: str, to: str, writing: dict[str, Any], target: float, log: str = "iot.nq"
    ) -> Row[Task]:
        ours = partial(rdfm_read_as, log, to, writing=writing)
        peer = partial(oxigraph_read_lines, log, to, writing=writing)
        return Row(name, ours, ("pyoxigraph, one line at a time", peer), target)

    def write(to: str, peer: str, target: float) -> Row[Task]:
        ours = partial(rdfm_write, "iot.nq", to, writing=named)
        theirs = partial(oxigraph_write, "iot.nq", peer, prefixes=IOT_NAMESPACES)
        return Row(f"{to} write, batches (iot)", ours, (f"pyoxigraph, {peer}", theirs), target)

    return [
        read("ndjsonld read, leading context (iot)", "ndjsonld", named, 38),
        read("ndjsonld read, expanded (iot)", "ndjsonld", expanded, 16),
        read("ndjsonld read, a context in each line (iot)", "ndjsonld", embedded, 10),
        Row(
            "ndjsonld read, scopes and containers (iot)",
            rdfm_read_scoped,
            ("pyoxigraph, one line at a time", oxigraph_read_scoped),
            8,
        ),
        read("ndjsonld read, several nodes (nanopubs)", "ndjsonld", {}, 10, "nanopubs.trig"),
        write("ndjsonld", "jsonld", 6),
        Row(
            "yamlld read, leading context (iot)",
            partial(rdfm_read_as, "iot.nq", "yamlld", writing=named),
            ("PyYAML, PyLD", partial(pyld_read_yaml, "iot.nq", writing=named)),
            12,
        ),
        write("yamlld", "jsonld", 0),
        read("rdfxml read, one document per line (iot)", "rdfxml", named, 0),
        write("rdfxml", "rdfxml", 0),
    ]


def pretty_rows() -> list[Row[Task]]:
    """Rows for pretty output without graph names, which rdflib's format does not support."""
    writing = {"pretty": True, "merge_graphs": True}
    return [
        Row(
            f"ttl write, pretty ({name})",
            partial(rdfm_write, log, "ttl", writing=writing),
            ("rdflib", partial(rdflib_write_pretty, log, namespaces)),
            20,
        )
        for name, log, namespaces in (
            ("osm", "osm.nq", {}),
            ("nanopubs", "nanopubs.trig", NANOPUB_NAMESPACES),
        )
    ]


def rows() -> list[Row[Task]]:
    """All rows that compare the throughput of two programs."""
    read_pyjelly = ("pyjelly", partial(pyjelly_read, "iot.jelly"))
    return [
        Row("jelly read, batches (iot)", partial(rdfm_read, "iot.jelly"), read_pyjelly, 50),
        Row(
            "jelly read, Python objects (iot)",
            partial(rdfm_read_objects, "iot.jelly"),
            read_pyjelly,
            7,
        ),
        Row("jelly read, pyarrow (iot)", partial(rdfm_read_arrow, "iot.jelly"), read_pyjelly, 12),
        Row(
            "jelly write, batches (iot)",
            partial(rdfm_write, "iot.jelly", "jelly"),
            ("pyjelly", partial(pyjelly_write, "iot")),
            50,
        ),
        Row(
            "jelly write, batches of text (iot)",
            partial(rdfm_write, "iot.nq", "jelly"),
            ("pyjelly", partial(pyjelly_write, "iot")),
        ),
        Row(
            "jelly write, Python objects (iot)",
            partial(rdfm_write_objects, "iot.nq", "jelly"),
            ("pyjelly", partial(pyjelly_write, "iot")),
        ),
        Row(
            "jelly read, batches (osm)",
            partial(rdfm_read, "osm.jelly"),
            ("pyjelly", partial(pyjelly_read, "osm.jelly")),
        ),
        Row(
            "jelly write, batches (osm)",
            partial(rdfm_write, "osm.jelly", "jelly"),
            ("pyjelly", partial(pyjelly_write, "osm")),
        ),
        Row(
            "nq read, batches (iot)",
            partial(rdfm_read, "iot.nq"),
            ("pyoxigraph", partial(oxigraph_read, "iot.nq")),
            6,
        ),
        Row(
            "nq read, Python objects (iot)",
            partial(rdfm_read_objects, "iot.nq"),
            ("pyoxigraph", partial(oxigraph_read_objects, "iot.nq")),
        ),
        Row(
            "nq write, batches (iot)",
            partial(rdfm_write, "iot.nq", "nq"),
            ("pyoxigraph", partial(oxigraph_write, "iot.nq", "nq")),
            6,
        ),
        Row(
            "nq read, batches (osm)",
            partial(rdfm_read, "osm.nq"),
            ("pyoxigraph", partial(oxigraph_read, "osm.nq")),
        ),
        *(
            Row(
                f"nq read, batches ({log}), skipping lines",
                partial(rdfm_read_skipping, f"{log}.nq"),
                ("rdfm, without", partial(rdfm_read, f"{log}.nq")),
                0.95,
            )
            for log in ("iot", "osm")
        ),
        Row(
            "nq read, batches (iot), with rdflib",
            partial(rdfm_read, "iot.nq"),
            ("rdflib", partial(rdflib_read, "iot.nq")),
        ),
        Row(
            "trig read, batches (nanopubs)",
            partial(rdfm_read, "nanopubs.trig"),
            ("pyoxigraph", partial(oxigraph_read, "nanopubs.trig")),
            4,
        ),
        Row(
            "trig write, batches (nanopubs)",
            partial(rdfm_write, "nanopubs.trig", "trig"),
            (
                "pyoxigraph",
                partial(oxigraph_write, "nanopubs.trig", "trig", prefixes=NANOPUB_NAMESPACES),
            ),
            2,
        ),
        Row(
            "trig write (nanopubs), pyoxigraph without prefixes",
            partial(rdfm_write, "nanopubs.trig", "trig"),
            ("pyoxigraph", partial(oxigraph_write, "nanopubs.trig", "trig")),
        ),
        Row(
            "ttl write, batches (iot)",
            partial(rdfm_write, "iot.nq", "ttl"),
            ("pyoxigraph", partial(oxigraph_write, "iot.nq", "ttl")),
        ),
        Row(
            "tar of 50 k ttl read, batches (iot)",
            partial(rdfm_read_archive, "iot.nq"),
            ("tarfile, pyoxigraph", partial(oxigraph_read_archive, "iot.nq")),
            3,
        ),
        Row(
            "trig read, batches (nanopubs), with rdflib",
            partial(rdfm_read, "nanopubs.trig"),
            ("rdflib", partial(rdflib_read, "nanopubs.trig")),
        ),
        *pretty_rows(),
        *binary_rows(),
        *columns.rows(),
        *document_rows(),
        *kinds.rows(),
        *comparing.rows(),
        *counting.rows(),
        *querying.rows(),
        *checking.rows(),
        *filtering.rows(),
        *frames.rows(),
        *distributions.rows(),
    ]

"""Benchmarks of patches and SPARQL results. Rates count add operations or result rows.

Both sides process the same quads. Patches are created from a log, with one transaction of add
operations per message. The peer gets the messages that result from applying the patches. Rows are
the quads of a log, with a variable for each term.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import IO, Any

from work import OXIGRAPH_FORMATS, Row, Task, Work, batches, sample, writing_work

VARIABLES = ["s", "p", "o", "g"]


def patches(log: str, folder: Path, messages: int) -> list[Any]:
    """Batches of patches created from a log."""
    from rdfm import _core

    converter = _core.ToPatches()
    converted = (converter.patches(batch) for batch in read_log(log, folder, messages))
    text = encoded("rdf-patch", [batch for batch in converted if batch is not None])
    return list(batches("rdf-patch", text))  # in the form that a reader returns


def same_messages(log: str, folder: Path, messages: int) -> list[Any]:
    """Batches of messages with the quads that the patches add."""
    from rdfm import _core

    converter = _core.ToMessages()
    converted = [converter.messages(batch) for batch in patches(log, folder, messages)]
    text = encoded("nq", [batch for batch in [*converted, converter.take()] if batch is not None])
    return list(batches("nq", text))


def read_log(log: str, folder: Path, messages: int) -> Any:
    return batches(log.rpartition(".")[2], sample(folder, log, messages))


def rows_of(log: str, folder: Path, messages: int) -> list[Any]:
    """Batches of result rows, one row for each quad."""
    from rdfm import ResultBatch

    found, done = [], 0
    for batch in read_log(log, folder, messages):
        rows = [tuple(quad) for message in range(len(batch)) for quad in batch.quads(message)]
        found.append(ResultBatch.from_rows(rows, VARIABLES, first_message_index=done))
        done += len(rows)
    return found


def encoded(format: str, inputs: list[Any], **options: Any) -> bytes:
    from rdfm import formats

    encoder = formats.find(format).Encoder(**options)
    return b"".join([*map(encoder.encode, inputs), encoder.finish()])


def records(batch: Any) -> int:
    """Number of quads, add operations, or rows."""
    if batch.kind == "patches":
        return int(dict(batch.code_counts()).get("A", 0))
    return int(batch.record_count)


def reading(make: Any, format: str, log: str, folder: Path, messages: int, **options: Any) -> Work:
    """Decodes the data that `make` returns."""
    data = encoded(format, make(log, folder, messages), **options)
    count = sum(map(records, make(log, folder, messages)))

    def run() -> int:
        for batch in batches(format, data):
            batch.record_count  # noqa: B018 - computed on access, which is part of the work
        return count

    return Work(run, len(data))


def writing(make: Any, format: str, log: str, folder: Path, messages: int, **options: Any) -> Work:
    """Encodes the data that `make` returns."""
    from rdfm import formats

    inputs = list(make(log, folder, messages))
    count = sum(map(records, inputs))

    def write(out: IO[bytes]) -> int:
        encoder = formats.find(format).Encoder(**options)
        for batch in inputs:
            out.write(encoder.encode(batch))
        out.write(encoder.finish())
        return count

    return writing_work(write)


def applying(log: str, folder: Path, messages: int) -> Work:
    """Decodes patches and applies them to a dataset in memory."""
    from rdfm import _core

    data = encoded("jelly-patch", patches(log, folder, messages))

    def run() -> int:
        dataset, operations = _core.Dataset(), 0
        for batch in batches("jelly-patch", data):
            dataset.apply(batch)
            operations += batch.record_count
        return operations

    return Work(run, len(data))


def oxigraph_applying(log: str, folder: Path, messages: int) -> Work:
    """Parses N-Quads with the same quads into a pyoxigraph dataset."""
    import pyoxigraph

    data = encoded("nq", same_messages(log, folder, messages), dialect="plain")

    def run() -> int:
        dataset = pyoxigraph.Dataset()
        quads = 0
        for quad in pyoxigraph.parse(data, pyoxigraph.RdfFormat.N_QUADS):
            dataset.add(quad)
            quads += 1
        return quads

    return Work(run, len(data))


def oxigraph_quads(log: str, folder: Path, messages: int) -> Work:
    """Parses the quads of the patches as N-Quads with pyoxigraph."""
    import pyoxigraph

    data = encoded("nq", same_messages(log, folder, messages))
    return Work(
        lambda: sum(1 for _ in pyoxigraph.parse(data, pyoxigraph.RdfFormat.N_QUADS)), len(data)
    )


def oxigraph_write_quads(log: str, folder: Path, messages: int) -> Work:
    """Writes the same quads as N-Quads with pyoxigraph."""
    import pyoxigraph

    format = getattr(pyoxigraph.RdfFormat, OXIGRAPH_FORMATS["nq"])
    quads = list(pyoxigraph.parse(encoded("nq", same_messages(log, folder, messages)), format))

    def write(out: IO[bytes]) -> int:
        pyoxigraph.serialize(quads, out, format)
        return len(quads)

    return writing_work(write)


def oxigraph_rows(format: str, log: str, folder: Path, messages: int) -> Work:
    """Parses results with pyoxigraph."""
    import pyoxigraph

    data = encoded(f"results-{format}", rows_of(log, folder, messages))
    kind = getattr(pyoxigraph.QueryResultsFormat, format.upper())

    def run() -> int:
        found = pyoxigraph.parse_query_results(data, format=kind)
        assert isinstance(found, pyoxigraph.QuerySolutions)
        return sum(1 for _ in found)

    return Work(run, len(data))


def oxigraph_write_rows(format: str, log: str, folder: Path, messages: int) -> Work:
    """Writes pyoxigraph solutions.

    The solutions are already in memory, because pyoxigraph buffers all rows of a JSON document
    whose head comes last.
    """
    import pyoxigraph

    data = encoded("results-json", rows_of(log, folder, messages))
    head, _, rest = data.partition(b',"results":')
    last = b'{"results":' + rest.rstrip().removesuffix(b"}") + b"," + head[1:] + b"}"
    kind = getattr(pyoxigraph.QueryResultsFormat, format.upper())
    count = sum(map(len, rows_of(log, folder, messages)))
    solutions: list[Any] = []

    def prepare() -> None:
        solutions.append(
            pyoxigraph.parse_query_results(last, format=pyoxigraph.QueryResultsFormat.JSON)
        )

    def write(out: IO[bytes]) -> int:
        solutions.pop().serialize(out, kind)
        return count

    work = writing_work(write)
    return Work(work.run, size=work.size, prepare=prepare)


def rows() -> list[Row[Task]]:
    """Jelly-Patch compared with Jelly, RDF Patch with N-Quads, and results with pyoxigraph."""
    found: list[Row[Task]] = []
    for log in ("iot.nq", "nanopubs.trig"):
        name = log.partition(".")[0]
        for format, peer, target in (
            ("jelly-patch", "jelly", 1 / 1.3),
            ("rdf-patch-thrift", "rdf-protobuf", 0),
        ):
            found += [
                Row(
                    f"{format} read, batches ({name})",
                    partial(reading, patches, format, log),
                    (f"rdfm, {peer}", partial(reading, same_messages, peer, log)),
                    target,
                ),
                Row(
                    f"{format} write, batches ({name})",
                    partial(writing, patches, format, log),
                    (f"rdfm, {peer}", partial(writing, same_messages, peer, log)),
                    target,
                ),
            ]
        found += [
            Row(
                f"rdf-patch read, batches ({name})",
                partial(reading, patches, "rdf-patch", log),
                ("pyoxigraph, nq", partial(oxigraph_quads, log)),
                6,
            ),
            Row(
                f"rdf-patch write, batches ({name})",
                partial(writing, patches, "rdf-patch", log),
                ("pyoxigraph, nq", partial(oxigraph_write_quads, log)),
                6,
            ),
        ]
    found.append(
        Row(
            "jelly-patch applied, operations (iot)",
            partial(applying, "iot.nq"),
            ("pyoxigraph, nq", partial(oxigraph_applying, "iot.nq")),
        )
    )
    for format, peer, target in (
        ("thrift", "json", 5),
        ("protobuf", "json", 5),
        ("json", "json", 2),
        ("xml", "xml", 2),
        ("tsv", "tsv", 2),
        ("csv", "csv", 2),
    ):
        options = {"lossy": True} if format == "csv" else {}
        read, write = (
            partial(side, rows_of, f"results-{format}", "iot.nq", **options)
            for side in (reading, writing)
        )
        # pyoxigraph does not read CSV; TSV is the closest format.
        peer_format = "tsv" if peer == "csv" else peer
        found += [
            Row(
                f"results-{format} read, rows (iot)",
                read,
                (f"pyoxigraph, {peer_format}", partial(oxigraph_rows, peer_format, "iot.nq")),
                0 if peer == "csv" else target,
            ),
            Row(
                f"results-{format} write, rows (iot)",
                write,
                (f"pyoxigraph, {peer}", partial(oxigraph_write_rows, peer, "iot.nq")),
                target,
            ),
        ]
    return found

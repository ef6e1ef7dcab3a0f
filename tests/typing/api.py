"""A program that uses the public API and passes mypy and pyright in strict mode; it is never run.

Lines that a checker rejects have a comment with the error. Each checker reports unused comments.
"""

import io
from pathlib import Path

import pyoxigraph
import rdflib

import rdfm
from rdfm import formats, nanopub


def read(path: Path) -> list[str]:
    subjects: list[str] = []
    with rdfm.open_log(path, lenient=True) as log:
        label: object = log.header.get("version_label")
        for message in log:
            index: int | None = message.message_index
            for quad in message:
                if isinstance(quad.subject, rdfm.Iri):
                    subjects.append(quad.subject.value)
                object_value: str = quad.object.value
                subjects.append(object_value)
                graph = quad.graph
                if isinstance(graph, rdfm.Literal):
                    subjects.append(graph.language or graph.datatype.value)
            subjects.append(f"{index} {label} {message.metadata.get('key', b'')!r}")
    return subjects


def tables(path: str) -> int:
    columns = ["subject", "object"]
    with rdfm.open_log([path, b""], rows="quads", columns=columns, sample="1%") as log:
        count: int = log.to_arrow().num_rows
    scan = rdfm.scan(path, predicate="<x:p>", lenient=True, columns=columns)
    count += scan.to_arrow().num_rows + rdfm.scan_polars([path]).collect().height
    rdfm.scan(path, predicates="<x:p>")  # type: ignore[call-arg]  # pyright: ignore
    entities = rdfm.table(path, types={"ex:n": float}, names="local")
    types: dict[str, str] = entities.types
    value = rdfm.Literal("1").to_python()
    return count + len(types) + (value if isinstance(value, int) else 0)


def progress(path: str) -> rdfm.ConversionSummary:
    rdfm.select("SELECT * { ?s ?p ?o }", path, progress=True)
    return rdfm.convert(path, "out.nq", progress=True)


def batches(path: str) -> int:
    with rdfm.open_log(path) as log:
        return sum(batch.quad_count for batch in log.batches())


def write(target: io.BytesIO) -> int:
    quad = rdfm.Quad(
        rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p"), rdfm.Literal("x", language="en")
    )
    with rdfm.create_log(target, "trig", dialect="directive") as log:
        log.write([quad])
        log.write(rdfm.Message([quad], namespaces={"e": "http://e/"}))
        log.write_batch(rdfm.MessageBatch.from_messages([[quad], []]))
    return log.messages


def mirror(path: Path) -> int:
    result = nanopub.fetch("https://registry.example.org/", path, check=True, name_table=64)
    state: nanopub.RegistryState = nanopub.status(result.registry)
    with rdfm.open_log(path) as log:
        numbers = [nanopub.counter(message) for message in log]
    return result.messages + (state.load_counter or 0) + len(numbers)


def convert() -> dict[str, int]:
    summary = rdfm.convert(["a.nq", Path("b.jelly")], "c.trig", to_dialect="comment", take=3)
    rate: float = summary.quads / summary.seconds
    return {"rate": int(rate), **summary.dropped}


def other_libraries(message: rdfm.Message) -> rdfm.Message:
    dataset: rdflib.Dataset = message.to_rdflib()
    quads: pyoxigraph.Dataset = message.to_oxigraph()
    same: bool = rdfm.Message.from_rdflib(dataset).isomorphic(rdfm.Message.from_oxigraph(quads))
    return message if same and message.canonical() else rdfm.Message()


def registry() -> list[formats.Format]:
    module: formats.Format = formats.find("nq")
    decoder: formats.DecoderLike = module.Decoder(lenient=True)
    decoder.feed(b"")
    return formats.all()


def report() -> str | None:
    compared: rdfm.LogDiff = rdfm.diff("a.nq", "b.jelly", quads="ordered", lenient=True)
    changed: list[rdfm.MessageDiff] = [each for each in compared if each.kind == "changed"]
    assert compared.same or changed
    found: rdfm.Inspection = rdfm.inspect("a.nq")
    return found.error


def patches(path: str) -> list[str]:
    texts: list[str] = []
    with rdfm.open_log(path, kind="patches") as log:
        for patch in log:
            texts.append(f"{patch.id} {patch.previous} {len(patch.adds)}")
            for operation in patch:
                code: str = operation.op
                texts.append(code)
    with rdfm.open_log(path, kind="patches") as log:
        for batch in log.batches():
            texts += [key for _, key, _ in batch.headers()]
    return texts


def write_patches(quad: rdfm.Quad, item: rdfm.Message | rdfm.Patch) -> None:
    with rdfm.create_log("out.rdfp", kind="patches") as log:
        log.write(rdfm.Patch([rdfm.Operation("TX"), ("TC",)]))
        log.write([("TX",), ("D", None, quad.subject, quad.predicate, quad.object), ("TA",)])
        log.write([("PA", "e", None, None, rdfm.Iri("http://e/")), ("PD", "e")])
        log.write(item)  # type: ignore[arg-type]  # pyright: ignore
        log.write([quad])  # type: ignore[list-item]  # pyright: ignore


def results(path: str) -> list[str]:
    texts: list[str] = []
    with (
        rdfm.open_log(path, kind="results") as source,
        rdfm.create_log("out.srj", kind="results", variables=source.variables) as target,
    ):
        for row in source:
            texts += [cell.value for cell in row if cell is not None]
            target.write(row)
    with rdfm.open_log(path, kind="results") as source:
        rows: int = sum(len(batch) for batch in source.batches())
        answer: bool | None = source.boolean
    return [*texts, f"{rows} {answer}"]


def kinds(messages: rdfm.LogReader, out: rdfm.LogWriter[rdfm.Row]) -> rdfm.LogReader[rdfm.Row]:
    chosen: rdfm.LogReader[rdfm.Message] = messages.filter(subject="<http://e/s>")
    patches: rdfm.LogReader[rdfm.Patch] = rdfm.open_log("a.rdfp", kind="patches")
    rows: rdfm.LogReader[rdfm.Row] = rdfm.open_log("a.srj", kind="results")
    out.write(next(iter(rows)))
    rdfm.open_log("a.nq", kind="message")  # type: ignore[call-overload]  # pyright: ignore
    answer = pyoxigraph.Store().query("ASK {}")
    assert isinstance(answer, pyoxigraph.QueryBoolean)
    return rows if [*chosen, *patches] else rdfm.ResultReader.from_oxigraph(answer)


def queries(path: str, *, whole: bool) -> list[str]:
    rows: rdfm.Solutions = rdfm.select(
        "SELECT ?s { ?s ?p ?o }", path, types={"s": "iri"}, timeout=2
    )
    names: tuple[str, ...] = rows.variables
    with rdfm.select(Path("q.rq"), [path, b""], max_rows=10, whole=True) as found:
        texts = [cell.value for _, _, row in found.rows() for cell in row if cell is not None]
    constructed: rdfm.LogReader = rdfm.construct(
        "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", solutions="a.srj"
    )
    boolean_answer: bool = rdfm.ask("ASK {}", path, whole=True)
    indexes: list[int] | list[tuple[str, int]] = rdfm.ask("ASK {}", path)
    either: bool | list[int] | list[tuple[str, int]] = rdfm.ask("ASK {}", path, whole=whole)
    any_form = rdfm.query("q.rq", path)
    if isinstance(any_form, rdfm.Solutions):
        texts += any_form.variables
    elif isinstance(any_form, rdfm.LogReader):
        texts.append(any_form.format)
    return [
        *names,
        *texts,
        f"{sum(len(message) for message in constructed)} {boolean_answer} {indexes} {either}",
    ]


def query_of_unknown_form() -> tuple[str, ...]:
    return rdfm.query("q.rq", "a.nq").variables  # type: ignore[union-attr]  # pyright: ignore


def frames(path: str) -> list[int]:
    with rdfm.open_log(path) as log, rdfm.open_log("a.srj", kind="results") as results:
        return [
            log.to_polars().height,
            results.to_pandas().shape[0],
            rdfm.select("q.rq", path).to_polars().width,
        ]


def modules(path: str) -> int:
    splits = rdfm.plan_splits(path)
    with rdfm.open_log(path, split=splits[0]) as log:
        count = sum(1 for _ in log)
    return count + rdfm.patch.from_log(path, "a.rdfp").messages


def attributes() -> list[str]:
    found: list[formats.Format] = [formats.nq, formats.jelly_patch, formats.parquet]
    messages: rdfm.MessageBatch = formats.jelly.decode(bytearray(b""))
    changes: rdfm.PatchBatch = formats.jelly_patch.decode(memoryview(b""))
    rows: rdfm.ResultBatch = formats.results_json.decode(b"")
    table: rdfm.MessageBatch | rdfm.PatchBatch | rdfm.ResultBatch = formats.arrow.decode(b"")
    data: bytes = formats.nq.encode(messages) + formats.rdf_patch.encode(changes)
    data += formats.nq.encode(rdfm.Message()) + formats.nq.encode([rdfm.Message(), []])
    formats.nq.encode(rows)  # type: ignore[arg-type]  # pyright: ignore
    any_kind: formats.Format = formats.find("nq")
    any_kind.encode(any_kind.decode(data + formats.find("arrow").encode(table)))
    formats.nonsense  # type: ignore[attr-defined]  # noqa: B018  # pyright: ignore
    return [each.name for each in found]

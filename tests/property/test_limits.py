"""Inputs that could exhaust memory or the stack are rejected or use little memory."""

import bz2
import gzip
import lzma
import struct
import zlib

import jelly_proto
import pytest
from measured import block, measured

import rdfm
from rdfm import formats
from rdfm.conversion.pipeline import BATCHES_BYTES, OUTPUT_BYTES, PIECES_BYTES

MAX_RESIDENT_BYTES = 200_000_000
LARGE_LOG_BYTES = 300_000_000


@pytest.mark.slow
@pytest.mark.parametrize("target", ["jelly", "nq", "trig"])
def test_a_large_log_uses_little_memory(target):
    piece = block(4 << 20)
    times = LARGE_LOG_BYTES // len(piece) + 1
    code, resident, errors, out = measured(
        *("convert", "-", "-", "--from", "nq", "--to", target, "--quiet"),
        feed=(piece for _ in range(times)),
    )
    assert (code, errors) == (0, "")
    assert out > LARGE_LOG_BYTES // 10
    assert resident < MAX_RESIDENT_BYTES


@pytest.mark.slow
def test_a_large_message_processed_in_parts_uses_little_memory():
    """A file without delimiters is one message. Line-based formats process it in parts."""
    piece = block(4 << 20, b"")
    times = LARGE_LOG_BYTES // len(piece) + 1
    code, resident, errors, out = measured(
        *("convert", "-", "-", "--from", "nq", "--to", "nq", "--quiet"),
        feed=(piece for _ in range(times)),
    )
    assert (code, errors) == (0, "")
    assert out >= LARGE_LOG_BYTES
    assert resident < MAX_RESIDENT_BYTES


@pytest.mark.slow
def test_a_compressed_large_jelly_log_uses_little_memory(tmp_path):
    path = tmp_path / "log.jelly.gz"
    text = block(4 << 20)
    batch = formats.find("nq").decode(text)
    encoder = formats.find("jelly").Encoder()
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(LARGE_LOG_BYTES // len(text) + 1):
            file.write(encoder.encode(batch))
        file.write(encoder.finish())
    code, resident, errors, out = measured("convert", path, "-", "--to", "nq", "--quiet")
    assert (code, errors) == (0, "")
    assert out > LARGE_LOG_BYTES * 0.99
    assert resident < MAX_RESIDENT_BYTES


def patch_batch(count: int) -> rdfm.PatchBatch:
    """Returns patches with different terms, each with a header and nine other operations."""
    iri = lambda name, number: rdfm.Iri(f"http://example.org/{name}/{number}")  # noqa: E731
    patches = []
    for number in range(count):
        quads = (
            (iri("s", number), iri("p", at), rdfm.Literal(f"{number} {at}"), iri("g", at % 3))
            for at in range(7)
        )
        rows = [(code, None, *quad) for code, quad in zip("AADAADA", quads, strict=True)]
        header = ("H", "id", None, None, iri("patch", number), None)
        begin, end = ((code, *[None] * 5) for code in ("TX", "TC"))
        patches.append([header, begin, *rows, end])
    return rdfm.PatchBatch.from_patches(patches)


def result_batch(count: int) -> rdfm.ResultBatch:
    """Returns result rows with different terms."""
    cells = (
        (
            rdfm.Iri(f"http://example.org/{number}"),
            rdfm.Literal(f"{number}", language="en"),
            None if number % 3 else rdfm.BlankNode(f"b{number}"),
        )
        for number in range(count)
    )
    return rdfm.ResultBatch.from_rows(cells, ["a", "b", "c"])


RESULTS = ("thrift", "protobuf", "json", "xml", "tsv", "csv")
# Input format, output format, and the function that creates a batch.
CONVERSIONS = [
    *(
        (source, target, patch_batch)
        for source, target in (
            ("jelly-patch", "rdf-patch"),
            ("rdf-patch", "rdf-patch-thrift"),
            ("rdf-patch-thrift", "jelly-patch"),
        )
    ),
    *(
        (f"results-{source}", f"results-{target}", result_batch)
        for source, target in zip(RESULTS, (*RESULTS[1:], RESULTS[0]), strict=True)
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target", "make_batch"), CONVERSIONS)
def test_memory_does_not_grow_with_the_size_of_patch_and_result_logs(source, target, make_batch):
    """Memory is the same at 50 MB and at 200 MB.

    Only queues may differ, since their fill level depends on timing.
    """
    batch = make_batch(1000 if make_batch is patch_batch else 8000)
    lossy = {"lossy": True} if source == "results-csv" else {}

    def log(size):
        encoder = formats.find(source).Encoder(**lossy)
        while size > 0:
            piece = encoder.encode(batch)
            size -= len(piece)
            yield piece
        yield encoder.finish()

    arguments = ("--lossy",) if target == "results-csv" else ()
    peaks = []
    for size in (50_000_000, 200_000_000):
        code, resident, errors, out = measured(
            "convert",
            *("-", "-", "--from", source, "--to", target, "--quiet", *arguments),
            feed=log(size),
        )
        assert (code, errors) == (0, "")
        assert out > size // 20
        peaks.append(resident)
    queues = PIECES_BYTES + BATCHES_BYTES + OUTPUT_BYTES
    assert abs(peaks[1] - peaks[0]) < queues + 20_000_000, peaks
    assert peaks[1] < MAX_RESIDENT_BYTES


def test_repeated_long_prefixes_take_little_memory():
    """A Jelly log of 200 kB would expand to 1 GB.

    Every IRI is long, and the rows alternate between two prefixes.
    """
    writer = jelly_proto.Writer(1)
    kinds = jelly_proto.classes()
    writer.options()
    for number in (1, 2):
        writer.row(
            prefix=kinds.RdfPrefixEntry(id=number, value="http://example.org/" + "x" * 100_000)
        )
    writer.row(name=kinds.RdfNameEntry(id=1, value="n"))
    for number in range(5000):
        ids = {"prefix_id": 1 + number % 2, "name_id": 1}
        iri = kinds.RdfIri(**ids)
        writer.row(triple=kinds.RdfTriple(s_iri=iri, p_iri=iri, o_iri=iri))
    bomb = jelly_proto.delimited([kinds.RdfStreamFrame(rows=writer.rows)])
    assert len(bomb) < 400_000
    with pytest.raises(rdfm.LimitError, match="max_message_bytes"):
        formats.find("jelly").decode(bomb, max_message_bytes=16 << 20)
    code, resident, errors, _ = measured(
        "convert", *("-", "-", "--from", "jelly", "--to", "nq"), feed=[bomb]
    )
    # The decoded message may exceed the limit or fit; memory stays small either way.
    assert code in (0, 1), errors
    assert resident < MAX_RESIDENT_BYTES


def test_an_excessive_zstd_window_is_rejected(tmp_path):
    path = tmp_path / "log.nq.zst"
    text = b'<http://e/s> <http://e/p> "o" .\n'
    header = struct.pack("<I", 0xFD2FB528) + b"\x00\xa8"  # a window of 2 GiB
    path.write_bytes(header + struct.pack("<I", 1 | len(text) << 3)[:3] + text)
    code, resident, errors, _ = measured("convert", path, "-", "--to", "nt")
    assert code == 1
    assert "Traceback" not in errors
    assert errors.count("\n") == 1
    assert resident < MAX_RESIDENT_BYTES


def test_an_excessive_xz_dictionary_is_rejected(tmp_path):
    data = bytearray(lzma.compress(b'<http://e/s> <http://e/p> "o" .\n', preset=0))
    size = (data[12] + 1) * 4
    assert data[14:16] == b"\x21\x01"
    data[16] = 40  # 4 GiB - 1
    data[12 + size - 4 : 12 + size] = struct.pack("<I", zlib.crc32(data[12 : 12 + size - 4]))
    path = tmp_path / "log.nq.xz"
    path.write_bytes(data)
    code, resident, errors, _ = measured("convert", path, "-", "--to", "nt")
    assert code == 1
    assert "Traceback" not in errors
    assert errors.count("\n") == 1
    assert resident < MAX_RESIDENT_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_small_file_that_expands_to_a_large_term_exceeds_the_limit(tmp_path, compress):
    path = tmp_path / "log.nt.packed"
    path.write_bytes(compress(b'<http://e/s> <http://e/p> "' + b"x" * 300_000_000 + b'" .\n'))
    code, resident, errors, _ = measured("convert", path, "-", "--from", "nt", "--to", "nq")
    assert code == 1
    assert "max_message_bytes" in errors or "max-message-bytes" in errors
    assert (
        resident < MAX_RESIDENT_BYTES + 64_000_000
    )  # plus a complete message of the largest allowed size


NESTING_DEPTH = 100_000
NESTED_INPUTS = {
    "triple terms, nt": (
        "nt",
        b"<http://e/s> <http://e/p> " + b"<<( <http://e/s> <http://e/p> " * NESTING_DEPTH,
    ),
    "triple terms, nq": (
        "nq",
        b"<http://e/s> <http://e/p> " + b"<<( <http://e/s> <http://e/p> " * NESTING_DEPTH,
    ),
    "triple terms, ttl": (
        "ttl",
        b"<http://e/s> <http://e/p> " + b"<<( <http://e/s> <http://e/p> " * NESTING_DEPTH,
    ),
    "reified triples, ttl": ("ttl", b"<< <http://e/s> <http://e/p> " * NESTING_DEPTH),
    "brackets, ttl": ("ttl", b"<http://e/s> <http://e/p> " + b"[ <http://e/p> " * NESTING_DEPTH),
    "lists, trig": ("trig", b"<http://e/s> <http://e/p> " + b"( " * NESTING_DEPTH),
    "annotations, trig": (
        "trig",
        b"<http://e/s> <http://e/p> <http://e/o> "
        + b"{| <http://e/p> <http://e/o> " * NESTING_DEPTH,
    ),
}


@pytest.mark.parametrize("case", NESTED_INPUTS)
def test_deep_nesting_exceeds_the_limit(case):
    name, data = NESTED_INPUTS[case]
    options = {"generalized": True} if name in ("nt", "nq") else {}
    with pytest.raises(rdfm.LimitError, match="max_depth"):
        formats.find(name).decode(data, **options)


def test_deep_nesting_of_quoted_triples_in_jelly_exceeds_the_limit():
    def field(number: int, content: bytes) -> bytes:
        return jelly_proto.varint(number << 3 | 2) + jelly_proto.varint(len(content)) + content

    inner = b""
    for _ in range(5000):
        inner = field(2, b"s") + field(6, b"p") + field(12, inner)
    kinds = jelly_proto.classes()
    writer = jelly_proto.Writer(1)
    writer.options()
    options = kinds.RdfStreamFrame(rows=writer.rows).SerializeToString()
    frame = options + field(1, field(2, inner))
    with pytest.raises(rdfm.LimitError, match="max_depth"):
        formats.find("jelly").decode(jelly_proto.varint(len(frame)) + frame)


@pytest.mark.parametrize("name", ["nt", "nq", "ttl", "trig", "jelly"])
def test_the_message_limit_counts_decoded_bytes_and_its_error_names_a_remedy(name):
    from support import encode

    quad = (("iri", "http://e/s"), ("iri", "http://e/p"), ("iri", "http://e/o"), None)
    data = encode(name, [[quad] * 10, [quad] * 1000])
    decoder = formats.find(name).Decoder(max_message_bytes=4000)
    decoder.feed(data)
    decoder.finish()
    batch = decoder.next_batch()
    assert [*batch.quad_counts()] == [10]
    with pytest.raises(rdfm.LimitError, match="max_message_bytes") as caught:
        decoder.next_batch()
    assert caught.value.message_index == 1

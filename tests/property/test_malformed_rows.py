"""Mutated Parquet and Arrow data yields batches or one clear error, and never a crash."""

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfm import formats
from rdfm._core import MessageBatch, PatchBatch, batches_from_arrow
from rdfm.errors import DecodeError, InternalError

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ipc = pytest.importorskip("pyarrow.ipc")

QUAD_COUNT = 40
TERM_STRUCT = pa.struct([("kind", pa.string()), ("value", pa.string()), ("language", pa.string())])


def term(number):
    return [f"<http://e/{number % 7}>", f'"text {number % 5}"@en', f"_:b{number % 3}"][number % 3]


def quads(count=QUAD_COUNT, kind=None):
    columns = {
        "subject": [f"<http://e/{number % 7}>" for number in range(count)],
        "predicate": ["<http://e/p>"] * count,
        "object": [term(number) for number in range(count)],
        "graph": [None if number % 4 else "<http://e/g>" for number in range(count)],
    }
    return {name: pa.array(texts).cast(kind or pa.string()) for name, texts in columns.items()}


def structs(columns):
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def record_batch(columns):
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def list_array(items, kind=pa.ListArray, width=None):
    offsets = pa.array([0, 0, 3, 10, 11, 30, QUAD_COUNT], width or pa.int32())
    return kind.from_arrays(offsets, items)


def metadata():
    entries = [None, [("k", b"v")], [], [("a", b""), ("b", b"2")], None, [("k", b"w")]]
    return pa.array(entries, pa.map_(pa.string(), pa.binary()))


def namespaces():
    entries = [[("e", "http://e/")], None, None, [("f", "http://f/")], None, []]
    return pa.array(entries, pa.map_(pa.string(), pa.string()))


def operations():
    codes = ["TX", *["A", "D"] * (QUAD_COUNT // 2 - 1), "TC"]
    columns = {"op": pa.array(codes), "name": pa.nulls(QUAD_COUNT, pa.string()), **quads()}
    columns["graph"] = pa.nulls(QUAD_COUNT, pa.string())
    for name in ("subject", "predicate", "object"):
        texts = columns[name].to_pylist()
        columns[name] = pa.array([None, *texts[1:-1], None], pa.string())
    return columns


def terms_as_structs():
    count = QUAD_COUNT
    iris = pa.StructArray.from_arrays(
        [pa.array(["iri"] * count), pa.array([f"http://e/{number}" for number in range(count)])],
        ["kind", "value"],
    )
    texts = pa.array(
        [{"kind": "literal", "value": f"{number}", "language": "en"} for number in range(count)],
        TERM_STRUCT,
    )
    return {"subject": iris, "predicate": iris, "object": texts}


def views():
    offsets, sizes = pa.array([0, 3, 0, 5, 30, 0], pa.int32()), pa.array([3, 5, 0, 9, 10, 1])
    return pa.ListViewArray.from_arrays(offsets, sizes.cast(pa.int32()), structs(quads()))


def run_array(text):
    return pa.RunEndEncodedArray.from_arrays(
        pa.array([9, 20, QUAD_COUNT], pa.int32()), pa.array([text, text, text])
    )


ROWS = {
    "messages": lambda: record_batch(
        {
            "quads": list_array(structs(quads())),
            "metadata": metadata(),
            "namespaces": namespaces(),
        }
    ),
    "large strings and lists": lambda: record_batch(
        {"quads": list_array(structs(quads(kind=pa.large_string())), pa.LargeListArray, pa.int64())}
    ),
    "string views": lambda: record_batch(
        {"quads": list_array(structs(quads(kind=pa.string_view())))}
    ),
    "list views": lambda: record_batch({"quads": views()}),
    "fixed-size lists": lambda: record_batch(
        {"quads": pa.FixedSizeListArray.from_arrays(structs(quads()), 4)}
    ),
    "dictionaries": lambda: record_batch(
        {
            "quads": list_array(
                structs({name: texts.dictionary_encode() for name, texts in quads().items()})
            )
        }
    ),
    "runs": lambda: record_batch(
        {
            "quads": list_array(
                structs(
                    {
                        "subject": run_array("<http://e/s>"),
                        "predicate": run_array("<http://e/p>"),
                        "object": run_array('"o"'),
                    }
                )
            )
        }
    ),
    "structs": lambda: record_batch({"quads": list_array(structs(terms_as_structs()))}),
    "operations": lambda: record_batch({"operations": list_array(structs(operations()))}),
    "rows of quads": lambda: record_batch(
        {
            "source": pa.array(["a", "b"] * (QUAD_COUNT // 2)).dictionary_encode(),
            "message_index": pa.array([number // 3 for number in range(QUAD_COUNT)]),
            **quads(),
        }
    ),
}
FILES = {
    "parquet": lambda rows: parquet_file(rows, compression="zstd"),
    "parquet, old": lambda rows: parquet_file(
        rows, compression="none", data_page_version="1.0", version="1.0"
    ),
    "parquet, v2": lambda rows: parquet_file(
        rows, compression="snappy", data_page_version="2.0", data_page_size=100
    ),
    "parquet, delta": lambda rows: parquet_file(
        rows, compression="none", use_dictionary=False, column_encoding=delta_encodings(rows)
    ),
    "parquet, gzip": lambda rows: parquet_file(
        rows, compression="gzip", dictionary_pagesize_limit=64, write_batch_size=4
    ),
    "arrow": lambda rows: arrow_file(rows, ipc.new_file),
    "arrow, zstd": lambda rows: arrow_file(rows, ipc.new_file, compression="zstd"),
    "arrow, lz4 stream": lambda rows: arrow_file(rows, ipc.new_stream, compression="lz4"),
    "arrow, zstd stream": lambda rows: arrow_file(rows, ipc.new_stream, compression="zstd"),
    "arrow, stream": lambda rows: arrow_file(rows, ipc.new_stream),
}


def delta_encodings(rows):
    names = [f"quads.list.element.{name}" for name in ("subject", "object", "graph")]
    return dict.fromkeys(names, "DELTA_BYTE_ARRAY") if "quads" in rows.schema.names else {}


def parquet_file(rows, **options):
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_batches([rows]), sink, row_group_size=4, **options)
    return sink.getvalue()


def arrow_file(rows, new_writer, **options):
    sink = io.BytesIO()
    with new_writer(sink, rows.schema, options=ipc.IpcWriteOptions(**options)) as writer:
        writer.write_batch(rows)
        writer.write_batch(rows.slice(1, 3))
    return sink.getvalue()


VALID_FILES = {}


def valid_files(file):
    """Returns valid files of this kind, one for each row layout that it supports."""
    if file not in VALID_FILES:
        VALID_FILES[file] = []
        for name in ("messages", "dictionaries", "structs", "operations", "rows of quads", "runs"):
            if name == "runs" and file.startswith("parquet"):
                continue
            VALID_FILES[file].append(FILES[file](ROWS[name]()))
    return VALID_FILES[file]


def mutated(data, seed):
    """Returns the bytes with random changes."""
    generator = random.Random(seed)
    data = bytearray(data)
    for _ in range(generator.choice([1, 1, 2, 4, 16])):
        at = generator.randrange(len(data))
        kind = generator.randrange(6)
        if kind == 0:
            data[at] ^= 1 << generator.randrange(8)
        elif kind == 1:
            data[at] = generator.choice([0, 1, 127, 128, 255])
        elif kind == 2:
            size = generator.choice([1, 4, 8, 100])
            del data[at : at + size]
            data = data or bytearray(b"P")
        elif kind == 3:
            other = generator.randrange(len(data))
            size = generator.choice([4, 8, 16, 64])
            data[at : at + size] = data[other : other + size]
        elif kind == 4:
            number = generator.choice([-1, 0, 1 << 20, 1 << 31, (1 << 63) - 1])
            data[at : at + 8] = (number & ((1 << 64) - 1)).to_bytes(8, "little")
        else:
            del data[at + len(data) // 2 :]
            data = data or bytearray(b"P")
    return bytes(data)


SEEDS = st.integers(0, 2**64 - 1)


@pytest.fixture(scope="module")
def file_path(tmp_path_factory):
    return tmp_path_factory.mktemp("mutated") / "log"


@pytest.mark.parametrize("file", FILES)
@given(seed=SEEDS, index=st.integers(0, 5), is_file=st.booleans())
def test_mutated_files_are_read_or_rejected(file_path, file, seed, index, is_file):
    """A file rejects positions with an OSError, and allocates a read before it reads."""
    format = formats.find(file.partition(",")[0])
    data = mutated(valid_files(file)[index % len(valid_files(file))], seed)
    decoder = format.decoder({"max_message_bytes": 1 << 20})
    file_path.write_bytes(data)
    with file_path.open("rb", buffering=0) as opened:
        if is_file:
            decoder.feed_file(opened)
        else:
            decoder.feed(data)
        decoder.finish()
        try:
            while decoder.next_batch() is not None:
                pass
        except DecodeError as error:
            assert not isinstance(error, InternalError)
            assert error.format == format.spec.name


def buffers(array):
    """Returns mutable copies of the buffers of an array."""
    return [None if buffer is None else bytearray(buffer) for buffer in array.buffers()]


def rebuilt(array, replaced):
    """Returns the array with the replaced buffers. Removes these buffers from the list."""
    kind = array.type
    count = {
        pa.types.is_struct: 1,
        pa.types.is_null: 1,
        pa.types.is_run_end_encoded: 1,
    }
    own_count = next((number for is_type, number in count.items() if is_type(kind)), None)
    if own_count is None:
        own_count = 1 if pa.types.is_fixed_size_list(kind) else 2
        if pa.types.is_large_string(kind) or pa.types.is_string(kind):
            own_count = 3
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            own_count = 3
        if pa.types.is_list_view(kind):
            own_count = 3
        if pa.types.is_string_view(kind):
            own_count = len(array.buffers())
    own_buffers = [
        None if buffer is None else pa.py_buffer(buffer) for buffer in replaced[:own_count]
    ]
    del replaced[:own_count]
    if pa.types.is_dictionary(kind):
        indices = pa.Array.from_buffers(kind.index_type, len(array), own_buffers)
        return pa.DictionaryArray.from_arrays(indices, array.dictionary, safe=False)
    children = []
    if pa.types.is_struct(kind):
        children = [rebuilt(array.field(at), replaced) for at in range(kind.num_fields)]
    elif pa.types.is_run_end_encoded(kind):
        children = [rebuilt(array.run_ends, replaced), rebuilt(array.values, replaced)]
    elif pa.types.is_map(kind):
        entries = pa.StructArray.from_arrays(
            [array.keys, array.items], fields=[kind.key_field, kind.item_field]
        )
        children = [rebuilt(entries, replaced)]
    elif pa.types.is_nested(kind):
        children = [rebuilt(array.values, replaced)]
    return pa.Array.from_buffers(kind, len(array), own_buffers, children=children)


@pytest.mark.parametrize("name", ROWS)
@given(seed=SEEDS)
def test_mutated_arrays_are_read_or_rejected(name, seed):
    generator = random.Random(seed)
    rows = ROWS[name]()
    columns, mutable = [], []
    for column in rows.columns:
        replaced = buffers(column)
        mutable.extend(buffer for buffer in replaced if buffer)
        columns.append(rebuilt(column, replaced))
    rows = pa.RecordBatch.from_arrays(columns, rows.schema.names)
    # Mutate afterwards: pyarrow checks some offsets when it creates an array, and again on export.
    for _ in range(generator.choice([1, 1, 2, 5])):
        buffer = generator.choice(mutable)
        at = generator.randrange(len(buffer))
        if generator.randrange(2):
            buffer[at] ^= 1 << generator.randrange(8)
        else:
            number = generator.choice([-1, 1, QUAD_COUNT, 1 << 20, 1 << 31])
            original = buffer[at : at + 4]
            buffer[at : at + 4] = (number & 0xFFFFFFFF).to_bytes(4, "little")[: len(original)]
    batch = PatchBatch if name == "operations" else MessageBatch
    for convert in (batch.from_arrow, lambda rows: list(batches_from_arrow(rows))):
        try:
            convert(rows)
        except DecodeError as error:
            assert not isinstance(error, InternalError)
            assert error.row is not None

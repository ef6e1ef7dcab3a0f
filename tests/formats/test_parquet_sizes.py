"""Parquet files whose pages are measured before they are decoded."""

import pytest

import rdfm
from rdfm.formats import parquet_sizes
from rdfm.formats.table_file import TableFile

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = [f'"{"é" * (number % 7)}{number % 50}"' for number in range(2000)]
QUADS = pa.array(
    [
        [
            {"subject": f"<a:s{at}>", "predicate": "<a:p>", "object": TEXTS[(row * 3 + at) % 2000]}
            for at in range(row % 4)
        ]
        for row in range(3000)
    ]
)
MESSAGES = pa.table(
    {
        "quads": QUADS,
        "metadata": pa.array(
            [[("k", b"v" * (row % 9))] if row % 5 == 0 else None for row in range(3000)],
            pa.map_(pa.string(), pa.binary()),
        ),
    }
)
FLAT = pa.table(
    {
        "message_index": pa.array([row // 3 for row in range(2000)], pa.int32()),
        "subject": pa.array(["<a:s>"] * 2000),
        "predicate": pa.array(["<a:p>"] * 2000),
        "object": pa.array(TEXTS),
        "graph": pa.array([None if row % 3 else "<a:g>" for row in range(2000)]),
    }
)
ENCODINGS = [
    {},
    {"use_dictionary": False},
    {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
    {"use_dictionary": False, "column_encoding": "DELTA_LENGTH_BYTE_ARRAY"},
    {"dictionary_pagesize_limit": 64},
]


def messages(path):
    with rdfm.open_log(path) as log:
        return [(sorted(map(str, message)), message.metadata) for message in log]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", range(len(ENCODINGS)))
@pytest.mark.parametrize("table", [MESSAGES, FLAT], ids=["messages", "quads"])
def test_scanning_pages_does_not_change_the_messages(
    tmp_path, monkeypatch, table, encoding, version
):
    options = dict(ENCODINGS[encoding])
    if "column_encoding" in options:
        texts = {"subject", "predicate", "object", "graph", "quads.list.element.object"}
        names = [name for name in texts if name.partition(".")[0] in table.column_names]
        options["column_encoding"] = dict.fromkeys(names, options["column_encoding"])
    path = tmp_path / "log.parquet"
    parquet.write_table(
        table,
        path,
        data_page_version=version,
        data_page_size=512,
        write_batch_size=64,
        row_group_size=1700,
        compression="gzip",
        **options,
    )
    expected = messages(path)
    monkeypatch.setattr(parquet_sizes, "GROUP_BYTES", 0)
    monkeypatch.setattr(parquet_sizes, "BATCH_BYTES", 1 << 14)
    assert messages(path) == expected
    assert len(expected) == len(set(FLAT["message_index"].to_pylist())) or len(expected) == 3000


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_with_each_compression_are_scanned(tmp_path, monkeypatch, compression, version):
    path = tmp_path / "log.parquet"
    parquet.write_table(MESSAGES, path, compression=compression, data_page_version=version)
    expected = messages(path)
    monkeypatch.setattr(parquet_sizes, "GROUP_BYTES", 0)
    assert messages(path) == expected


@pytest.mark.parametrize("encoding", range(len(ENCODINGS)))
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_rows_of_a_batch_are_measured_exactly(tmp_path, monkeypatch, encoding, version):
    options = dict(ENCODINGS[encoding])
    if "column_encoding" in options:
        options["column_encoding"] = {"quads.list.element.object": options["column_encoding"]}
    path = tmp_path / "log.parquet"
    table = MESSAGES.select(["quads"])
    parquet.write_table(table, path, data_page_version=version, data_page_size=512, **options)
    monkeypatch.setattr(parquet_sizes, "GROUP_BYTES", 0)
    file = parquet.ParquetFile(path)
    measurements = []
    original = parquet_sizes.ParquetColumn

    class RecordingColumn:
        def __init__(self, *args, **kwargs):
            self.column = original(*args, **kwargs)

        def __getattr__(self, name):
            return getattr(self.column, name)

        def finish(self):
            measurements.append(self.column.finish())
            return measurements[-1]

    monkeypatch.setattr(parquet_sizes, "ParquetColumn", RecordingColumn)
    limit = 64 << 20
    with path.open("rb") as opened:
        source = TableFile(opened, "parquet")
        footer = parquet_sizes.read_footer(source, limit)
        list(parquet_sizes.plans(source, file.metadata, footer, ["quads"], limit))

    def size(quads, part):
        return 16 * max(len(quads), 1) + sum(len(quad[part].encode()) for quad in quads)

    rows = QUADS.to_pylist()
    parts = [file.schema.column(at).path.rpartition(".")[2] for at in range(3)]
    for (windows, too_large), part in zip(measurements, parts, strict=True):
        sizes = [size(quads, part) for quads in rows]
        expected = [
            max(sum(sizes[at : at + step]) for at in range(0, 3000, step))
            for step in (1 << level for level in range(14))
        ]
        assert (windows, too_large) == (expected, None)


@pytest.mark.parametrize("row", [0, 1, 5, 8])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_rows_before_an_oversized_row_are_returned(tmp_path, monkeypatch, row, use_dictionary):
    long_literal = '"' + "x" * 5000 + '"'
    quads = [
        [
            {
                "subject": "<a:s>",
                "predicate": "<a:p>",
                "object": long_literal if at == row else f'"{at}"',
            }
        ]
        for at in range(9)
    ]
    path = tmp_path / "log.parquet"
    parquet.write_table(pa.table({"quads": quads}), path, use_dictionary=use_dictionary)
    monkeypatch.setattr(parquet_sizes, "GROUP_BYTES", 0)
    monkeypatch.setattr(parquet_sizes, "PAGES_FACTOR", 1000)
    found = []
    with (
        rdfm.open_log(path, max_message_bytes=4000) as log,
        pytest.raises(rdfm.LimitError) as caught,
    ):
        for message in log:
            found.append(message)
    assert len(found) == row
    assert caught.value.message_index == row
    assert "max_message_bytes" in str(caught.value)


def test_row_groups_of_large_rows_are_not_read_together(tmp_path, monkeypatch):
    """The rows are small in the file, because their values are in a dictionary."""
    value = rdfm.Literal("o" * 100_000)
    message = [rdfm.Quad(rdfm.Iri("x:s"), rdfm.Iri(f"x:{n}"), value) for n in range(80)]
    with rdfm.create_log(tmp_path / "log.parquet") as log:
        for _ in range(12):
            log.write(message)
    assert (tmp_path / "log.parquet").stat().st_size < 1 << 20
    counts = []
    plans = parquet_sizes.plans

    def record(*arguments):
        for plan in plans(*arguments):
            counts.append(len(plan.groups))
            yield plan

    monkeypatch.setattr(parquet_sizes, "plans", record)
    with rdfm.open_log(tmp_path / "log.parquet") as log:
        assert sum(map(len, log.batches())) == 12
    assert sum(counts) == 12
    assert max(counts) <= (32 << 20) // 8_000_000

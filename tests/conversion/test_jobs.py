"""Conversion in several threads: output, summary and errors are the same as in one thread."""

import base64
import gzip
import io
import itertools
import random
import tarfile
import threading

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from members import MEMBERS, cut, join, zstd
from pyarrow import parquet

import rdfm
from rdfm import formats
from rdfm.conversion import encoding
from rdfm.errors import RdfmError
from rdfm.formats import rows
from rdfm.formats.parquet_files import ParquetEncoder
from rdfm.logs.read import parallel
from rdfm.logs.read.parallel import ParallelDriver
from rdfm.storage import compression as compressions
from rdfm.storage.pool import Pool, PoolClosedError

MESSAGES = 400
JOBS = (1, 2, 3, 8)
TARGETS = [
    "out.nq",
    "out.nt",
    "out.ndjsonld",
    "out.rdf",
    "out.jelly",
    "out.ttl",
    "out.parquet",
    "out.arrow",
    "out.nq.gz",
    "out.nq.zst",
    "out.ndjsonld.bz2",
    "out.nt.xz",
    "out.jelly.gz",
]


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch):
    """Makes batches, splits, row groups and blocks small, so that a small log has many of them."""
    monkeypatch.setattr(parallel, "SPLIT_BYTES", 3000)
    monkeypatch.setattr(parallel, "COMPRESSED_SPLIT_BYTES", 100)
    monkeypatch.setattr(parallel, "FILE_BYTES", 5000)
    monkeypatch.setattr(parallel, "MIN_BYTES", 1)
    monkeypatch.setattr(parallel, "MIN_COMPRESSED_BYTES", 1)
    monkeypatch.setattr(parallel, "BUFFERED_BYTES", 20_000)
    monkeypatch.setattr(encoding, "MIN_QUADS", 1)
    monkeypatch.setattr(rows, "WRITE_BYTES", 1000)
    monkeypatch.setattr(compressions, "BLOCK_BYTES", 5000)


def message(number):
    quads = [
        f'<http://ex/s{number}> <http://ex/p> "{number}" .\n',
        f"_:b <http://ex/q#x> <http://ex/s{number % 7}> .\n",
    ]
    return "".join(quads[: number % 3])


def text(numbers=range(MESSAGES)):
    return "# @message\n".join(map(message, numbers))


def write_inputs(folder, change=lambda text: text):
    """Writes the same log in several forms and returns their paths."""
    log = change(text()).encode()
    (folder / "log.nq").write_bytes(log)
    (folder / "log.nt").write_bytes(log)
    (folder / "log.nq.gz").write_bytes(join("gzip", ["rdfm"], cut(log, 3000)))
    (folder / "log.nt.zst").write_bytes(join("zstd", ["rdfm"], cut(log, 3000)))
    rdfm.convert(folder / "log.nq", folder / "log.jelly", restart_bytes=1000, on_error="skip")
    (folder / "in").mkdir()
    with tarfile.open(folder / "in.tar", "w") as archive:
        for number, numbers in (
            enumerate(itertools.batched(range(MESSAGES), 37))
            if hasattr(itertools, "batched")
            else enumerate(range(at, min(at + 37, MESSAGES)) for at in range(0, MESSAGES, 37))
        ):
            part = change(text(numbers)).encode()
            name = f"{number:03}.nq"
            if number % 2:
                name, part = f"{name}.gz", gzip.compress(part, mtime=0)
            (folder / "in" / name).write_bytes(part)
            info = tarfile.TarInfo(name)
            info.size = len(part)
            archive.addfile(info, io.BytesIO(part))
    names = ("log.nq", "log.nt", "log.nq.gz", "log.nt.zst", "log.jelly", "in", "in.tar")
    return [folder / name for name in names]


def outcome(source, target, jobs, **options):
    """Returns the output and summary of a conversion, or its error and partial output."""
    target.unlink(missing_ok=True)
    try:
        summary = rdfm.convert(
            source,
            target,
            jobs=jobs,
            batch_messages=7,
            keep_partial=True,
            **options,
        )
    except RdfmError as error:
        partial = target.with_name(target.name + ".partial")
        partial_output = partial.read_bytes() if partial.exists() else None
        partial.unlink(missing_ok=True)
        position = [
            getattr(error, name, None)
            for name in ("byte_offset", "message_index", "line", "column", "source")
        ]
        return type(error), str(error), position, partial_output
    return (
        target.read_bytes(),
        summary.messages,
        summary.quads,
        summary.bytes_in,
        summary.bytes_out,
        summary.dropped,
        summary.skipped,
        summary.errors,
        summary.abandoned,
        summary.notes,
    )


def check(source, target, **options):
    """Checks that the outcome does not depend on the number of jobs, and returns it."""
    expected = outcome(source, target, 1, **options)
    for jobs in JOBS[1:]:
        assert outcome(source, target, jobs, **options) == expected
    return expected


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_output_does_not_depend_on_jobs(tmp_path, target):
    for source in write_inputs(tmp_path):
        result = check(source, tmp_path / target)
        assert MESSAGES - 20 < result[1] <= MESSAGES, source


@pytest.mark.parametrize("bad", [0, 7, MESSAGES - 1])
def test_a_note_of_any_thread_is_shown_once(tmp_path, bad):
    lines = [f"<http://ex/s> <http://ex/p> <http://ex/{i}> .\n" for i in range(MESSAGES)]
    for i in (bad, min(bad + 20, MESSAGES - 1)):
        lines[i] = lines[i].replace("ex/p>", "ex/p\U0001f600>")
    (tmp_path / "log.nq").write_text("# @message\n".join(lines), "utf-8")
    *_, notes = check(tmp_path / "log.nq", tmp_path / "out.rdf")
    assert [note.split(",")[0] for note in notes] == [
        "the local names of some predicates have characters that XML 1.0 allows only since its "
        "fifth edition"
    ]


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("log.nq", 6),
        ("log.nq.gz", 6),
        ("log.nt.zst", 6),
        ("log.jelly", 4),
        ("in", 10),
        ("in.tar", 1),
    ],
)
def test_the_work_is_divided_among_threads(tmp_path, monkeypatch, source, parts):
    write_inputs(tmp_path)
    thread_names, writer_counts = [], []
    start_work, original_submit = parallel._StartedWork, encoding.Encoding.submit

    def record_thread(*arguments):
        thread_names.append(threading.current_thread().name)
        return start_work(*arguments)

    def submit(self, *arguments):
        original_submit(self, *arguments)
        writer_counts.append(len(self._all_twins))

    monkeypatch.setattr(parallel, "_StartedWork", record_thread)
    monkeypatch.setattr(encoding.Encoding, "submit", submit)
    rdfm.convert(tmp_path / source, tmp_path / "out.nq", jobs=3, batch_messages=7)
    assert len(thread_names) >= parts
    assert set(thread_names) == {"rdfm-decode"}
    assert writer_counts[-1] >= 1


def written_by_one_writer(file):
    """Returns a Parquet file with the same row groups, written by a single pyarrow writer."""
    groups = parquet.ParquetFile(io.BytesIO(file))
    stored = base64.b64decode(groups.metadata.metadata[b"ARROW:schema"])
    schema = pa.ipc.read_schema(pa.py_buffer(stored))
    sink = io.BytesIO()
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for number in range(groups.num_row_groups):
            writer.write_table(groups.read_row_group(number).cast(schema))
    return sink.getvalue()


@pytest.mark.parametrize(
    "options",
    [{}, {"rows": "quads"}, {"terms": "structs"}, {"messages": "3"}, {"take": 0}],
    ids=str,
)
def test_threads_write_the_same_row_groups_as_a_single_writer(tmp_path, options):
    (tmp_path / "log.nq").write_text(text())
    [file, messages, *_] = check(tmp_path / "log.nq", tmp_path / "out.parquet", **options)
    metadata = parquet.read_metadata(io.BytesIO(file))
    assert metadata.num_row_groups > 30 or messages < MESSAGES - 20
    assert file == written_by_one_writer(file)


@given(lengths=st.lists(st.integers(0, 9), max_size=40), jobs=st.integers(1, 4))
def test_row_groups_of_any_lengths_are_joined(lengths, jobs):
    encoder = formats.find("parquet").Encoder()
    encoder.use_threads(jobs)
    schema = pa.schema([("text", pa.string()), ("list", pa.list_(pa.int32()))])
    encoder.begin_table(schema)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "WRITE_ROWS", 1)
        pieces = []
        for length in lengths:
            columns = [["é" * at for at in range(length)], [[at] * at for at in range(length)]]
            pieces.append(encoder.encode_table(pa.record_batch(columns, schema)))
        file = b"".join(pieces) + encoder.finish()
    assert file == written_by_one_writer(file)
    assert len(parquet.read_table(io.BytesIO(file))) == sum(lengths)


def test_a_row_group_that_cannot_be_written_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "log.nq").write_text(text())
    write = ParquetEncoder._encode_row_group
    tables = []

    def fail(self, table):
        if len(tables) == 5:
            raise OSError(28, "No space left on device")
        tables.append(table)
        return write(self, table)

    monkeypatch.setattr(ParquetEncoder, "_encode_row_group", fail)
    for jobs in JOBS:
        tables.clear()
        with pytest.raises(OSError, match="No space"):
            rdfm.convert(tmp_path / "log.nq", tmp_path / "out.parquet", jobs=jobs)
        assert not (tmp_path / "out.parquet").exists()


INVALID_LOGS = {
    "one error": lambda text: text.replace('"200" .', '"200" oops', 1),
    "two errors": lambda text: text.replace('"200" .', "oops", 1).replace('"301" .', "x", 1),
    "an error at the end": lambda text: text + "oops",
    "an error at the start": lambda text: "oops\n" + text,
    "an invalid escape": lambda text: text.replace('"200"', '"\\ud800"', 1),
    "truncated": lambda text: text[:-20],
    "other dialect": lambda text: text[:9000] + '\nVERSION "1.2-messages"\nMESSAGE\n' + text[9000:],
    "look-alike": lambda text: text.replace("# @message\n", "# message\n# @message\n", 250),
    "a large message": lambda text: text + message(1) * 200 + text,
    "predicates without an XML name": lambda text: text.replace("http://ex/p>", "http://ex/1>"),
    "one without an XML name": lambda text: text[:9000] + text[9000:].replace("ex/p>", "ex/1>", 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("on_error", ["fail", "skip", "skip-line"])
@pytest.mark.parametrize("change", INVALID_LOGS)
def test_errors_and_notes_do_not_depend_on_jobs(tmp_path, monkeypatch, change, on_error):
    monkeypatch.setattr(parallel, "MESSAGE_BYTES", 4000)
    sources = write_inputs(tmp_path, INVALID_LOGS[change])
    for source in sources:
        check(source, tmp_path / "out.nq.gz", on_error=on_error)
    for target in ("out.rdf", "out.jelly", "out.parquet"):
        check(sources[0], tmp_path / target, on_error=on_error)


def plain_text():
    return "".join(f'_:b{n % 5} <http://ex/p> "{n}" .\n' for n in range(2000))


@pytest.mark.parametrize("target", ["out.nq", "out.parquet"])
@pytest.mark.parametrize(
    "change",
    {
        "plain": lambda text: text,
        "comments first and last": lambda text: "# c\n" * 2000 + text + "# c\n" * 2000,
        "a delimiter": lambda text: text * 30 + "# @message\n" + text,
        "look-alikes": lambda text: text * 3 + "# message\n" + text,
        "an error": lambda text: text * 3 + "oops\n" + text,
    }.values(),
)
def test_plain_logs_are_split_at_line_ends(tmp_path, monkeypatch, change, target):
    (tmp_path / "log.nq").write_text(change(plain_text()))
    monkeypatch.setattr(parallel, "SPLIT_BYTES", 20_000)
    options = {"rows": "quads"} if target == "out.parquet" else {}
    planned = []
    plan = ParallelDriver._plan_parts
    monkeypatch.setattr(
        ParallelDriver, "_plan_parts", lambda *args: planned.append(plan(*args)) or planned[-1]
    )
    results = []
    for jobs in (1, 3):
        result = outcome(tmp_path / "log.nq", tmp_path / target, jobs, **options)
        # Where the parts of a message end determines how much of it precedes an error.
        results.append(result[:3] if isinstance(result[0], type) else result[:4])
    assert results[0] == results[1]
    splits = [part.split for parts in planned for part in parts]
    assert len(splits) > 2
    assert all(split.has_lines for split in splits)


def test_error_positions_refer_to_the_entire_log(tmp_path):
    lines = text().split("\n")
    lines[700] = "oops"
    (tmp_path / "log.nq").write_text("\n".join(lines))
    offset = sum(len(line) + 1 for line in lines[:700])
    with pytest.raises(rdfm.DecodeError) as raised:
        rdfm.convert(tmp_path / "log.nq", tmp_path / "out.nq", jobs=3)
    error = raised.value
    assert (error.line, error.column, error.byte_offset) == (701, 1, offset)
    # The delimiter in the first line does not end a message.
    assert error.message_index == lines[:700].count("# @message") - 1


def test_messages_before_an_unwritable_one_are_written(tmp_path):
    (tmp_path / "log.nq").write_text(text().replace("_:b <http://ex/q#x>", "_:b <http://ex/>"))
    result = check(tmp_path / "log.nq", tmp_path / "out.rdf")
    assert result[0] is rdfm.EncodeError
    assert result[3] == b"".join(result[3].splitlines(keepends=True)[:2])


@pytest.mark.parametrize("options", [{"joins": "new"}, {}])
def test_output_for_joined_logs_does_not_depend_on_jobs(tmp_path, options):
    (tmp_path / "log.nq").write_text(text())
    data = b""
    for table in (100, 200):
        rdfm.convert(
            tmp_path / "log.nq", tmp_path / "a.jelly", restart_bytes=1000, name_table=table
        )
        data += (tmp_path / "a.jelly").read_bytes()
    (tmp_path / "log.jelly").write_bytes(data)
    result = check(tmp_path / "log.jelly", tmp_path / "out.nq", **options)
    if options:
        log = text(range(1, MESSAGES - 1))
        assert result[0] == f"{log}# @message\n{log}".encode()
    else:
        assert result[0] is rdfm.DecodeError


def test_namespaces_do_not_depend_on_jobs(tmp_path):
    log = "".join(
        f"@prefix p{number % 50}: <http://ex/{number % 60}/> .\n"
        f"p{number % 50}:s p{number % 50}:p {number} .\n# @message\n"
        for number in range(MESSAGES)
    )
    (tmp_path / "log.trig").write_text(log)
    rdfm.convert(tmp_path / "log.trig", tmp_path / "log.jelly", restart_bytes=1000)
    for target in ("out.trig", "out.nq", "out.rdf", "out.jelly"):
        check(tmp_path / "log.jelly", tmp_path / target)
    for lines in ("every", "first", "none"):
        check(tmp_path / "log.jelly", tmp_path / "out.ndjsonld", context_lines=lines)


@pytest.mark.parametrize(
    "options",
    [
        {"take": 50},
        {"messages": "-30:"},
        {"group_by": "subject"},
        {"group_by": "count=5", "to": "ndjsonld"},
        {"message_per_file": True, "from_dialect": "plain"},
        {"from_dialect": "plain"},
        {"flat": True},
        {"to_dialect": "directive"},
        {"to": "yamlld"},
        {"to": "ndjsonld", "compact_with": '{"@context": {"p": "http://ex/p"}}'},
        {"default_graph_as": "http://ex/g"},
        {"compression": "zstd:19"},
        {"compression": "xz:9"},
        {"compression": "bzip2:1"},
    ],
    ids=str,
)
def test_output_with_options_does_not_depend_on_jobs(tmp_path, options):
    (tmp_path / "log.nq").write_text(text())
    check(tmp_path / "log.nq", tmp_path / "out.nq", **options)


@given(
    quads=st.lists(st.integers(0, 12), max_size=60),
    split=st.integers(1, 400),
    batch=st.integers(1, 9),
    jobs=st.integers(2, 5),
    compression=st.sampled_from(list(MEMBERS)),
)
def test_all_splits_yield_the_same_messages(
    tmp_path_factory, quads, split, batch, jobs, compression
):
    folder = tmp_path_factory.mktemp("jobs")
    log = "# @message\n".join(
        "".join(f'_:b <http://ex/p> "{at} {number}" .\n' for number in range(count))
        for at, count in enumerate(quads)
    )
    (folder / "log.nq").write_text("# @message\n" + log)
    rdfm.convert(folder / "log.nq", folder / "log.jelly", restart_bytes=max(split, 16))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "SPLIT_BYTES", split)
        patch.setattr(parallel, "COMPRESSED_SPLIT_BYTES", 1)
        patch.setattr(parallel, "FILE_BYTES", 1)
        patch.setattr(encoding, "MIN_QUADS", 1)
        for name in ("log.nq", "log.jelly"):
            data = (folder / name).read_bytes()
            packed = join(compression, list(MEMBERS[compression]), cut(data, split))
            (folder / f"{name}.packed").write_bytes(packed or zstd.compress(b""))
        for source in ("log.nq", "log.jelly", "log.nq.packed", "log.jelly.packed"):
            results = []
            for number in (1, jobs):
                out = io.BytesIO()
                summary = rdfm.convert(
                    folder / source,
                    out,
                    from_format="jelly" if "jelly" in source else "nq",
                    to="nq",
                    jobs=number,
                    batch_messages=batch,
                )
                results.append((out.getvalue(), summary.messages, summary.quads, summary.bytes_in))
            assert results[0] == results[1]


@pytest.mark.parametrize("compression", MEMBERS)
def test_damage_to_compressed_logs_has_the_same_outcome_with_any_jobs(tmp_path, compression):
    path = tmp_path / f"log.nq.{'gz' if compression == 'gzip' else 'zst'}"
    packed = join(compression, ["rdfm"], cut(text().encode(), 4000))
    generator = random.Random(4)
    logs = [packed[: generator.randrange(200, len(packed))] for _ in range(4)]
    logs += [packed + b"garbage", packed + b"\0" * 100, packed + packed]
    for _ in range(25):
        at, bit = generator.randrange(len(packed)), 1 << generator.randrange(8)
        logs.append(packed[:at] + bytes([packed[at] ^ bit]) + packed[at + 1 :])
    for log in logs:
        path.write_bytes(log)
        check(path, tmp_path / "out.nq", from_format="nq")


@pytest.mark.parametrize("compression", ["gzip", "zstd", "bzip2", "xz"])
def test_blocks_do_not_depend_on_pieces_and_jobs(compression):
    data = bytes(number * number % 251 for number in range(50_000))
    results = set()
    for jobs, piece in itertools.product((1, 2, 5), (100, 5000, 5001, 50_000)):
        blocks = compressions.BlockCompressor(compression, jobs)
        parts = [blocks.compress(data[at : at + piece]) for at in range(0, len(data), piece)]
        results.add(b"".join(parts) + blocks.flush())
    [compressed] = results
    assert b"".join(compressions.decompress(compression, [compressed])) == data
    empty = compressions.BlockCompressor(compression, 2).flush()
    assert empty
    assert b"".join(compressions.decompress(compression, [empty])) == b""


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("queue", [0, 1, 2])
def test_pool_results_are_in_order(threads, queue):
    pool = Pool("test", threads, queue=queue)
    results = []
    for number in range(50):
        pool.submit(lambda number=number: number * 2)
        results += pool.take()
        assert len(pool) <= threads + queue
    results += pool.take(all=True)
    assert results == [number * 2 for number in range(50)]
    pool.close()


def test_the_first_pool_error_is_raised_in_order():
    pool = Pool("test", 4)
    later_error = threading.Event()

    def work(number):
        if number == 3:
            later_error.wait(5)
        if number in (3, 4):
            if number == 4:
                later_error.set()
            raise ValueError(number)
        return number

    for number in range(6):
        pool.submit(lambda number=number: work(number))
    results = []
    with pytest.raises(ValueError, match="3"):
        for result in pool.take(all=True):
            results.append(result)
    assert results == [0, 1, 2]
    assert list(pool.take(all=True)) == []
    with pytest.raises(PoolClosedError):
        pool.submit(lambda: 7)

"""`open_log` and `create_log`: inputs, outputs, and the files that remain after an error."""

import bz2
import gc
import gzip
import io
import os
import stat
import warnings
import weakref
from pathlib import Path

import pytest

import rdfm
from rdfm import DecodeError, EncodeError, OptionError, TruncatedError, UnknownFormatError
from rdfm.logs.input.inputs import Input
from rdfm.logs.write import writer

LINE = b"<http://e/s> <http://e/p> <http://e/o> .\n"
LOG = LINE + b"# @message\n" + LINE + LINE
QUAD = rdfm.Quad(rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p"), rdfm.Iri("http://e/o"))
NAMED_GRAPH_QUAD = rdfm.Quad(QUAD.subject, QUAD.predicate, QUAD.object, rdfm.Iri("http://e/g"))


def sizes(*args, **options):
    with rdfm.open_log(*args, **options) as log:
        return [len(message) for message in log]


class Trickle(io.RawIOBase):
    """A file that returns one byte per read."""

    def __init__(self, data):
        self.rest = data

    def readable(self):
        return True

    def readinto(self, buffer):
        piece, self.rest = self.rest[:1], self.rest[1:]
        buffer[: len(piece)] = piece
        return len(piece)


def test_sources_of_every_type_are_read(tmp_path):
    path = tmp_path / "a.nq"
    path.write_bytes(LOG)
    (tmp_path / "a.nq.gz").write_bytes(gzip.compress(LOG) + gzip.compress(b"# @message\n" + LINE))
    (tmp_path / "noname").write_bytes(bz2.compress(LOG))
    assert sizes(path) == sizes(str(path)) == sizes(path.as_uri()) == [1, 2]
    assert sizes(tmp_path / "a.nq.gz") == [1, 2, 1]
    assert sizes(tmp_path / "noname") == [1, 2]
    assert sizes(LOG) == sizes(bytearray(LOG)) == sizes(memoryview(LOG)) == [1, 2]
    assert sizes(io.BytesIO(LOG), "nt") == [1, 2]
    with path.open("rb") as file:  # the suffix of its name determines the format
        assert sizes(file) == [1, 2]
        assert not file.closed


@pytest.mark.parametrize(
    "data", [LOG, gzip.compress(LOG), bz2.compress(LOG)], ids=["plain", "gzip", "bzip2"]
)
def test_inputs_may_arrive_byte_by_byte(data):
    assert sizes(Trickle(data)) == [1, 2]


def test_a_reader_has_a_format_and_a_source(tmp_path):
    path = tmp_path / "a.nq"
    path.write_bytes(LOG)
    with rdfm.open_log(path) as log:
        assert (log.format, log.source) == ("nq", str(path))
        assert log.header["dialect"] == "comment"
        assert [len(message) for message in log] == [1, 2]
        assert repr(log) == f"<LogReader {path}: nq>"
    with rdfm.open_log(path) as log:
        assert sum(batch.quad_count for batch in log.batches()) == 3


def test_the_header_of_an_invalid_log_is_available_before_its_error():
    with rdfm.open_log(b"oops", "nq") as log:
        assert log.header == {}
        with pytest.raises(DecodeError, match=r"^bytes: nq: "):
            list(log)


def test_a_truncated_file_yields_its_complete_messages_first():
    truncated = gzip.compress(LOG * 1000)[:-9]
    with rdfm.open_log(truncated, "nq") as log:
        messages = iter(log)
        assert len(next(messages)) == 1
        with pytest.raises(TruncatedError, match="the gzip data ends before its end mark"):
            for _ in messages:
                pass


def test_a_specified_compression_disables_detection():
    with pytest.raises(DecodeError):
        sizes(gzip.compress(LOG), "nq", compression="none")


def test_files_in_text_mode_cannot_be_read(tmp_path):
    (tmp_path / "a.nq").write_bytes(LOG)
    with (tmp_path / "a.nq").open() as file, pytest.raises(OptionError, match="binary mode"):
        sizes(file)


def test_an_undetectable_format_is_an_error():
    with pytest.raises(
        UnknownFormatError, match=r"bytes is empty, so .*; format=\"nt\", .* specifies it"
    ):
        sizes(b"")
    with pytest.raises(UnknownFormatError, match="neither its name nor its content identifies it"):
        sizes(b"s,p,o\n")
    assert sizes(b"", "nq") == []


def test_options_are_checked():
    with pytest.raises(
        OptionError, match="the option frames is for reading Jelly and Jelly-Patch, not N-Quads"
    ):
        rdfm.open_log(LOG, "nq", frames="flat")
    with pytest.raises(OptionError, match="dialect must be"):
        rdfm.open_log(LOG, "nq", dialect="loud")
    with pytest.raises(OptionError, match="the option prefixes is for writing Turtle"):
        rdfm.create_log(io.BytesIO(), "nq", prefixes={})


def test_a_file_is_created_when_complete(tmp_path):
    path = tmp_path / "out.nq"
    with rdfm.create_log(path) as log:
        log.write([QUAD])
        log.write(rdfm.Message([QUAD, QUAD]))
        assert not path.exists()
    assert path.read_bytes() == LOG
    assert log.messages == 2
    assert os.listdir(tmp_path) == ["out.nq"]  # noqa: PTH208 - names suffice
    with pytest.raises(ValueError, match="closed"):
        log.write([])


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".bz2", ".xz"])
def test_compressed_files_are_written_and_read(tmp_path, suffix):
    paths = [tmp_path / f"{name}.nq{suffix}" for name in "ab"]
    for path in paths:
        with rdfm.create_log(path) as log:
            for _ in range(3000):
                log.write([QUAD])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sizes(paths[0]) == [1] * 3000
    names = {"": None, ".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}
    data = Input(paths[0])
    data.close()
    assert data.compression == names[suffix]


def test_an_exception_leaves_no_files(tmp_path):
    with pytest.raises(RuntimeError), rdfm.create_log(tmp_path / "out.nq") as log:
        log.write([QUAD])
        raise RuntimeError
    with (
        pytest.raises(EncodeError, match="merge_graphs"),
        rdfm.create_log(tmp_path / "o.nt") as log,
    ):
        log.write([NAMED_GRAPH_QUAD])
    assert list(tmp_path.iterdir()) == []


def test_partial_output_is_kept_on_request(tmp_path):
    path = tmp_path / "out.nt.gz"
    with pytest.raises(EncodeError), rdfm.create_log(path, keep_partial=True) as log:
        log.write([QUAD])
        log.write([NAMED_GRAPH_QUAD])
    assert list(tmp_path.iterdir()) == [tmp_path / "out.nt.gz.partial"]
    assert gzip.decompress((tmp_path / "out.nt.gz.partial").read_bytes()) == LINE


@pytest.mark.parametrize("format", ["nt", "jelly"])
@pytest.mark.parametrize("invalid_index", [0, 1, 1500, 2500])
def test_an_encode_error_has_the_message_index(format, invalid_index):
    file = io.BytesIO()
    log = rdfm.create_log(
        file, format, **({"physical_type": "triples"} if format == "jelly" else {})
    )
    with pytest.raises(EncodeError, match=rf"\(message {invalid_index}\)$") as error, log:
        for index in range(3000):
            log.write([NAMED_GRAPH_QUAD if index == invalid_index else QUAD])
    assert error.value.message_index == invalid_index
    assert log.messages == invalid_index
    assert len(sizes(file.getvalue(), format)) == invalid_index


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "expected a Message or an iterable of Quad, not int"),
        ("text", "each item of a message must be a Quad, not str"),
        ([QUAD, None], "each item of a message must be a Quad, not NoneType"),
        (QUAD, "an iterable of Quad, not a Quad; put it in a list"),
    ],
)
def test_invalid_messages_are_rejected_at_once(tmp_path, value, text):
    file = io.BytesIO()
    with rdfm.create_log(file, "nq") as log:
        log.write([QUAD])
        with pytest.raises(TypeError, match=text):
            log.write(value)
        with pytest.raises(TypeError, match="write_batch requires a MessageBatch, not list"):
            log.write_batch([QUAD])
        log.write([QUAD, QUAD])
    assert file.getvalue() == LOG
    with pytest.raises(TypeError), rdfm.create_log(tmp_path / "a.nq", keep_partial=True) as log:
        log.write([QUAD])
        log.write([QUAD, QUAD])
        log.write(value)
    assert (tmp_path / "a.nq.partial").read_bytes() == LOG


def test_messages_and_patches_cannot_be_mixed():
    messages, patches = io.BytesIO(), io.BytesIO()
    with rdfm.create_log(messages, "nq") as log:
        with pytest.raises(
            TypeError, match=r"the log contains messages, not patches; rdfm\.patch\.to_log"
        ):
            log.write(rdfm.Patch([("TX",)]))
        log.write([QUAD])
        log.write([QUAD, QUAD])
    assert messages.getvalue() == LOG
    with rdfm.create_log(patches, "rdf-patch", kind="patches") as log:
        with pytest.raises(
            TypeError, match=r"the log contains patches, not messages; rdfm\.patch\.from_log"
        ):
            log.write(rdfm.Message([QUAD]))
        with pytest.raises(TypeError, match="expected an Operation"):
            log.write([QUAD])
        with pytest.raises(ValueError, match="'X' is not an operation"):
            log.write([("X",)])
        log.write([("TX",)])
    assert patches.getvalue() == b"TX .\n"


def test_a_message_that_becomes_invalid_after_writing_does_not_affect_others(tmp_path):
    invalid = rdfm.Message([QUAD])
    with pytest.raises(TypeError), rdfm.create_log(tmp_path / "a.nq", keep_partial=True) as log:
        log.write([QUAD])
        log.write([QUAD, QUAD])
        log.write(invalid)
        invalid.quads.append(3)
    assert (tmp_path / "a.nq.partial").read_bytes() == LOG


def test_a_message_is_copied_with_only_its_own_prefixes():
    file = io.BytesIO()
    with rdfm.create_log(file, "trig") as log:
        for i in range(4000):
            log.write(rdfm.Message([QUAD], namespaces={f"p{i}": f"http://e/{i}#"}))
    copy = io.BytesIO()
    with rdfm.open_log(file.getvalue(), "trig") as log, rdfm.create_log(copy, "trig") as out:
        for message in log:
            out.write(message)
    assert copy.getvalue() == file.getvalue()


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_prefixes_stay_in_their_message_for_any_batch_size(size):
    lines = [f"PREFIX p{i}: <http://e/{i}#>\np{i}:s p{i}:p p{i}:o .\n" for i in range(7)]
    data = "# @message\n".join(lines).encode()
    copy = io.BytesIO()
    with (
        rdfm.open_log(data, "trig", batch_messages=size) as log,
        rdfm.create_log(copy, "trig") as out,
    ):
        for batch in log.batches():
            out.write_batch(batch)
    assert copy.getvalue() == data


@pytest.mark.slow
def test_megabytes_of_prefixes_are_applied():
    prefixes = "".join(f"@prefix p{i}: <http://example.org/{i}/> .\n" for i in range(200_000))
    data = f"{prefixes}<p1:s> <p2:p> p199999:o .".encode()
    with rdfm.open_log(data, "trig", max_message_bytes=1 << 30) as log:
        (message,) = log
    assert message.quads[0].object == rdfm.Iri("http://example.org/199999/o")


def test_a_file_object_stays_open():
    file = io.BytesIO()
    with rdfm.create_log(file, "nq") as log:
        log.write([QUAD])
    assert file.getvalue() == LINE


@pytest.mark.skipif(os.name == "nt", reason="needs Unix modes and links")
def test_an_existing_file_keeps_its_mode_and_its_links(tmp_path):
    path = tmp_path / "real.nq"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link = tmp_path / "link.nq"
    link.symlink_to(path)
    with rdfm.create_log(link) as log:
        log.write([QUAD])
    assert link.is_symlink()
    assert path.read_bytes() == LINE
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs Unix devices")
def test_devices_are_written_directly():
    with rdfm.create_log("/dev/null", "nq") as log:
        log.write([QUAD])
    assert Path("/dev/null").is_char_device()


def test_unwritable_outputs_are_rejected(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such folder"):
        rdfm.create_log(tmp_path / "no" / "out.nq")
    (tmp_path / "held").mkdir()
    with pytest.raises(OptionError, match="is not empty; write to another folder; overwrite=True"):
        rdfm.create_log(tmp_path, "nq")
    with pytest.raises(OptionError, match="cannot write to the URL"):
        rdfm.create_log("s3://bucket/out.nq")
    with pytest.raises(UnknownFormatError, match="the name does not identify a format"):
        rdfm.create_log(tmp_path / "out")


def test_urls_are_read_through_fsspec():
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/log.nq.gz", gzip.compress(LOG))
    assert sizes("memory://log.nq.gz") == [1, 2]
    with pytest.raises(FileNotFoundError, match="not found") as error:
        sizes("memory://nothing.nq")
    assert error.value.filename == "memory://nothing.nq"


@pytest.mark.parametrize("messages", [None, "-1"])
def test_a_remote_file_that_ends_early_is_an_error(monkeypatch, messages):
    fsspec = pytest.importorskip("fsspec")
    text = b"".join(b"<a:s> <a:p> <a:%d> .\n# @message\n" % number for number in range(9))
    with fsspec.open("memory://short.nq", "wb") as file:
        file.write(text)
    with rdfm.open_log("memory://short.nq", messages=messages) as log:
        assert list(log)
    monkeypatch.setattr("fsspec.implementations.memory.MemoryFile.size", len(text) + 100)
    with (
        pytest.raises(OSError, match=rf"ended after {len(text)} of {len(text) + 100} bytes"),
        rdfm.open_log("memory://short.nq", messages=messages) as log,
    ):
        list(log)
    with pytest.raises(OptionError, match="cannot read gopher"):
        sizes("gopher://example.org/x.nq")


def test_a_second_loop_continues_the_first():
    with rdfm.open_log(LOG * 2, "nq", batch_messages=2) as log:
        for first in log:
            assert len(first) == 1
            break
        assert [len(message) for message in log] == [3, 2]
    with rdfm.open_log(LOG, "nq") as log:
        next(iter(log))
        assert [batch.quad_count for batch in log.batches()] == [2]


def test_reading_a_log_twice_is_an_error():
    with rdfm.open_log(LOG, "nq") as log:
        assert len(list(log)) == 2
        for iterable in (log, log.batches()):
            with pytest.raises(ValueError, match="bytes has been read to the end; open it again"):
                list(iterable)
    with rdfm.open_log(b"oops", "nq") as log:
        with pytest.raises(DecodeError):
            list(log)
        with pytest.raises(ValueError, match="read to the end"):
            list(log)


def read_everything(log):
    """Returns the items of a log and the error that ended it.

    Messages are (index, number of quads), errors are (index, skipped bytes).
    """
    found = []
    while True:
        try:
            for message in log:
                found.append((message.message_index, len(message)))
            return found, None
        except DecodeError as error:
            try:
                found.append((error.message_index, log.skip_message()))
            except DecodeError as end:
                return found, end


INVALID_LOG = b"bad 1\n# @message\n" + LOG + b"# @message\nbad 2\nrest\n# @message\n" + LINE
INVALID_LOG_ITEMS = [(0, b"bad 1\n"), (1, 1), (2, 2), (3, b"bad 2\nrest\n"), (4, 1)]


@pytest.mark.parametrize("header_first", [False, True])
@pytest.mark.parametrize("wrap", [bytes, gzip.compress, Trickle])
def test_reading_resumes_after_an_error(wrap, header_first):
    with rdfm.open_log(wrap(INVALID_LOG), "nq") as log:
        if header_first:
            assert log.header == {}
        assert read_everything(log) == (INVALID_LOG_ITEMS, None)


def test_an_error_at_the_end_can_be_skipped():
    with rdfm.open_log(LOG + b"# @message\nbad", "nq") as log:
        assert read_everything(log) == ([(0, 1), (1, 2), (2, b"bad")], None)


def test_errors_caused_by_a_skipped_message_are_marked():
    log = b"bad PREFIX e: <http://e/>\n# @message\ne:s e:p e:o .\n# @message\n[] <http://e/p> 1 ."
    found = []
    with rdfm.open_log(log, "trig") as reader:
        while True:
            try:
                found += [message.message_index for message in reader]
                break
            except DecodeError as error:
                found.append((error.message_index, error.follows, str(error)))
                reader.skip_message()
    (_, first, _), (_, second, text), last = found
    assert (first, second, last) == (False, True, 2)
    assert "(it may have been declared in message 0, which was skipped) (line 3, " in text


def test_formats_without_delimiters_cannot_resume():
    with rdfm.open_log(
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>\nbad\n"
    ) as log:
        found, end = read_everything(log)
        assert found == [(0, 0)]
        assert end.message_index == 1
        with pytest.raises(DecodeError) as repeated:
            log.skip_message()
        assert repeated.value is end


def test_reading_cannot_resume_after_invalid_compression():
    compressed = gzip.compress(INVALID_LOG)
    with rdfm.open_log(compressed[:-10], "nq") as log:
        found, end = read_everything(log)
    assert isinstance(end, TruncatedError)
    assert "truncated" in str(end)
    assert found == INVALID_LOG_ITEMS[: len(found)]


def test_skip_message_without_an_error_is_rejected():
    with rdfm.open_log(LOG, "nq") as log:
        with pytest.raises(ValueError, match="there is no error to skip"):
            log.skip_message()
        list(log)
        with pytest.raises(ValueError, match="there is no error to skip"):
            log.skip_message()


def test_an_unclosed_writer_leaves_no_files(tmp_path):
    log = rdfm.create_log(tmp_path / "out.nq")
    log.write([QUAD])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del log
        gc.collect()
    assert "out.nq was not closed" in str(caught[0].message)
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_partial_file_is_kept(tmp_path):
    (tmp_path / "out.nt.partial").write_bytes(b"precious")
    for _ in range(2):
        with (
            pytest.raises(EncodeError),
            rdfm.create_log(tmp_path / "out.nt", keep_partial=True) as log,
        ):
            log.write([QUAD])
            log.write([NAMED_GRAPH_QUAD])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "out.nt.partial": b"precious",
        "out.nt.partial.1": LINE,
        "out.nt.partial.2": LINE,
    }


@pytest.mark.skipif(os.name == "nt", reason="needs file names of up to 255 bytes")
@pytest.mark.parametrize("letter", ["a", "é", "𝄞"])
def test_the_longest_file_names_can_be_written(tmp_path, letter):
    name = letter * (252 // len(letter.encode())) + ".nt"
    with rdfm.create_log(tmp_path / name) as log:
        log.write([QUAD])
    assert (tmp_path / name).read_bytes() == LINE
    with pytest.raises(EncodeError), rdfm.create_log(tmp_path / name, keep_partial=True) as log:
        log.write([NAMED_GRAPH_QUAD])
    assert len(list(tmp_path.glob("*.partial"))) == 1


@pytest.mark.parametrize("argument", [5, None])
def test_inputs_and_outputs_of_invalid_types_are_rejected(argument):
    with pytest.raises(OptionError, match=rf"cannot read {argument} \(\w+\); expected a path"):
        rdfm.open_log(argument)
    with pytest.raises(OptionError, match=f"cannot write to {argument} "):
        rdfm.create_log(argument, "nq")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a Linux device")
def test_operating_system_errors_name_the_file():
    with pytest.raises(OSError, match="No space left") as caught:
        rdfm.convert(LOG, "/dev/full", from_format="nq", to="nq")
    assert caught.value.filename == "/dev/full"
    assert str(caught.value).endswith(": '/dev/full'")  # not followed by a second name


def test_local_file_urls_can_be_written(tmp_path):
    for name, url in (("a.nq", f"file:{tmp_path}/a.nq"), ("b.nq", f"file://{tmp_path}/b.nq")):
        with rdfm.create_log(url) as log:
            log.write([QUAD])
        assert (tmp_path / name).read_bytes() == LINE
        with pytest.raises(OptionError, match="is also an input"):
            rdfm.convert(url, url)
    with rdfm.create_log(f"file:{tmp_path}/out/", "nq") as log:
        log.write([QUAD])
    assert sizes(tmp_path / "out") == [1]


def test_a_url_with_one_slash_is_rejected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dbfs:").mkdir()  # left by an earlier mistake
    for target, url in (("dbfs:/x.nq", "dbfs:///x.nq"), (Path("s3://b/x.nq"), "s3://b/x.nq")):
        with pytest.raises(OptionError, match=f"has one slash .* write .*{url}, or"):
            rdfm.create_log(target)
        with pytest.raises(OptionError, match="has one slash"):
            rdfm.convert(LOG, target)
        with pytest.raises(OptionError, match="has one slash"):
            rdfm.open_log(target)
        with pytest.raises(OptionError, match="has one slash"):
            rdfm.convert(target, "out.nq")
    assert [path.name for path in tmp_path.iterdir()] == ["dbfs:"]
    assert not list((tmp_path / "dbfs:").iterdir())
    with rdfm.create_log("./dbfs:/x.nq") as log:
        log.write([QUAD])
    assert sizes("dbfs:/x.nq") == [1]


def test_files_in_text_mode_cannot_be_written():
    with pytest.raises(rdfm.OptionError, match="output is open in text mode; open it in binary"):
        rdfm.convert(LOG, io.StringIO(), from_format="nq", to="nq")
    with pytest.raises(rdfm.OptionError, match="output is open in text mode"):
        rdfm.create_log(io.StringIO(), "nq")


@pytest.mark.parametrize("large", [False, True])
def test_namespaces_of_a_written_batch_remain_in_scope(large):
    objects = " , ".join(f"e:{number}" for number in range(50_000 if large else 2))
    batch = rdfm.formats.trig.decode(f"PREFIX e: <http://e/>\ne:a e:b {objects} .\n".encode())
    file = io.BytesIO()
    with rdfm.create_log(file, "trig") as log:
        log.write_batch(batch)
        for name in "xy":
            log.write([rdfm.Quad(*map(rdfm.Iri, (f"http://e/{name}", "http://e/b", "http://e/c")))])
            log.flush()
    text = file.getvalue()
    assert text.count(b"PREFIX") == 1
    assert text.endswith(b"# @message\ne:x e:b e:c .\n# @message\ne:y e:b e:c .\n")


def test_a_large_written_batch_is_freed():
    batch = rdfm.formats.nq.decode(b"".join(b"<a:s> <a:p> <a:%d> .\n" % n for n in range(50_000)))
    with rdfm.create_log(io.BytesIO(), "nq") as log:
        log.write_batch(batch)
        assert log._last.memory_bytes < 1000 < writer.LAST_BYTES < batch.memory_bytes


def test_text_instead_of_a_path_is_explained():
    text = '<http://e/s> <http://e/p> "o" .'
    with pytest.raises(FileNotFoundError, match="pass bytes to read text"):
        rdfm.open_log(text, "nq")
    with pytest.raises(FileNotFoundError) as caught:
        rdfm.open_log("no such file.nq", "nq")
    assert "pass bytes" not in str(caught.value)


def test_a_closed_input_has_no_buffers(tmp_path):
    """Otherwise, the splits of a log use memory until the next garbage collection."""
    path = tmp_path / "log.nq.gz"
    path.write_bytes(gzip.compress(LINE * 100_000))
    gc.disable()
    try:
        data = Input(path)
        assert next(iter(data))
        pieces = weakref.ref(data._pieces)
        data.close()
        assert pieces() is None
        with pytest.raises(ValueError, match="closed file"):
            list(data)
    finally:
        gc.enable()

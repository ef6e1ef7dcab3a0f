"""Reading and writing logs that consist of many files: tar archives and folders."""

import gzip
import io
import os
import tarfile
import threading

import pytest
from archives import tar
from support import NATIVE, TABLES

import rdfm
from rdfm import (
    DecodeError,
    Iri,
    Literal,
    Message,
    OptionError,
    Quad,
    UnknownFormatError,
    UnsupportedError,
    formats,
)
from rdfm.logs.write.output import FolderOutput
from rdfm.logs.write.parts import Part

S, P = Iri("http://e/s"), Iri("http://e/p")


def line(value):
    return f'<http://e/s> <http://e/p> "{value}" .\n'.encode()


def quads(*values):
    return [Quad(S, P, Literal(str(value))) for value in values]


def read(source, *format, into=None, **options):
    """Returns the source, index and values of each message, appended to `into` if given."""
    found = [] if into is None else into
    with rdfm.open_log(source, *format, **options) as log:
        for message in log:
            values = [quad.object.value for quad in message]
            found.append((log.source, message.message_index, values))
    return found


INVALID_MEMBERS = {
    "a symbolic link": ("b.nq", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}),
    "a hard link": ("b.nq", b"", {"type": tarfile.LNKTYPE, "linkname": "a.nq"}),
    "a device": ("b.nq", b"", {"type": tarfile.CHRTYPE}),
    "a pipe": ("b.nq", b"", {"type": tarfile.FIFOTYPE}),
    "an absolute path": ("/b.nq", line(2)),
    "a drive letter": ("C:\\b.nq", line(2)),
    "a parent folder": ("../b.nq", line(2)),
    "a parent folder after a name": ("x/../../b.nq", line(2)),
    "an unknown type": ("b.nq", line(2), {"type": b"Z"}),
}


@pytest.mark.parametrize("case", INVALID_MEMBERS)
def test_the_error_for_an_invalid_member_names_the_member(case):
    name = INVALID_MEMBERS[case][0]
    data = tar(("a.nq", line(1)), INVALID_MEMBERS[case], ("c.nq", line(3)))
    found = []
    with rdfm.open_log(data) as log:
        with pytest.raises(UnsupportedError, match="this member") as raised:
            found.extend(log)
        assert raised.value.source == f"bytes!{name}"
        assert log.skip_message() == b""
        found.extend(log)
    assert [message.quads for message in found] == [quads(1), quads(3)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs Unix pipes")
@pytest.mark.parametrize("glob", ["", "*"])
def test_the_error_for_a_pipe_in_a_folder_names_the_pipe(tmp_path, glob):
    (tmp_path / "a.nq").write_bytes(line(1))
    os.mkfifo(tmp_path / "b.tar")
    (tmp_path / "c.nq").write_bytes(line(3))
    os.mkfifo(tmp_path / "_d.nq")
    logs, pipe = tmp_path / glob, str(tmp_path / "b.tar")
    found = []
    with rdfm.open_log(logs) as log:
        with pytest.raises(UnsupportedError, match="a pipe, device or socket") as error:
            found.extend(log)
        assert error.value.source == pipe
        assert log.skip_message() == b""
        found.extend(log)
    assert [message.quads for message in found] == [quads(1), quads(3)]
    assert f"{pipe}: a pipe, device or socket" in rdfm.inspect(logs).error
    with pytest.raises(UnsupportedError, match="a pipe, device or socket"):
        rdfm.convert(logs, io.BytesIO(), to="nq")
    summary = rdfm.convert(logs, io.BytesIO(), to="nq", on_error="skip")
    assert (summary.messages, summary.skipped) == (2, 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs Unix pipes")
def test_a_pipe_given_as_input_is_read(tmp_path):
    pipe = tmp_path / "a.nq"
    os.mkfifo(pipe)
    for read_pipe in (read, rdfm.inspect, lambda name: rdfm.convert(name, tmp_path / "b.nq")):
        thread = threading.Thread(target=pipe.write_bytes, args=(line(1),))
        thread.start()
        read_pipe(pipe)
        thread.join(10)
    assert (tmp_path / "b.nq").read_bytes() == line(1)


def test_a_pax_size_overrides_the_header_size():
    data = tar(("a.nq", line(1)), ("b.nq", line(2), {"pax_headers": {"size": str(len(line(2)))}}))
    assert [values for _, _, values in read(data)] == [["1"], ["2"]]


def test_members_are_separate_logs(tmp_path):
    path = tmp_path / "a.tar"
    path.write_bytes(
        tar(
            ("9.ttl", b"@prefix e: <http://e/> . e:s e:p '1', _:b ."),
            ("10.nq", line(2) + b"# @message\n" + line(3)),
            ("dir", b"", {"type": tarfile.DIRTYPE}),
            ("dir/1.nq.gz", gzip.compress(line(4))),
            (".hidden.nq", b"oops"),
            ("_dir/x.nq", b"oops"),
            ("empty.ttl", b""),
        )
    )
    assert [(source.split("!")[1], *rest) for source, *rest in read(path)] == [
        ("9.ttl", 0, ["1", "b"]),
        ("10.nq", 0, ["2"]),
        ("10.nq", 1, ["3"]),
        ("dir/1.nq.gz", 0, ["4"]),
    ]
    with rdfm.open_log(path) as log:
        assert log.several
        assert [(len(batch), batch.namespaces(0)) for batch in log.batches()] == [
            (1, {"e": "http://e/"}),
            (2, {}),
            (1, {}),
        ]
    with pytest.raises(DecodeError, match=r"undeclared|prefix"):
        read(tar(("a.ttl", b"@prefix e: <http://e/> ."), ("b.ttl", b"e:s e:p 1 .")))


def test_an_error_ends_only_its_member():
    data = tar(
        ("a.ttl", line(1)),
        ("b.ttl", b"<http://e/s> oops"),
        ("c.nq", line(3) + b"# @message\noops\n# @message\n" + line(4)),
        ("d.nq", line(5)),
    )
    found = []
    with rdfm.open_log(data) as log:
        for name in ("b.ttl", "c.nq"):
            with pytest.raises(DecodeError) as raised:
                found.extend(log)
            assert raised.value.source == f"bytes!{name}"
            log.skip_message()
        found.extend(log)
    assert [message.quads for message in found] == [quads(1), quads(3), quads(4), quads(5)]


def test_the_format_option_applies_to_all_members():
    data = tar(("a", b"<a:s> a <a:o> ."), ("b.nq", b"@prefix e: <http://e/> . e:s a e:o ."))
    assert len(read(data, "ttl")) == 2


def test_files_and_members_that_are_not_logs_are_rejected_separately(tmp_path):
    inner = tar(("x.nq", line("x")))
    files = {
        "README": (b"Hello.", "neither its name nor its content identifies its format"),
        "b": (b"", "it is empty"),
        "x.pdf": (b"%PDF-1.4 \xff", "neither its name"),
    }
    archives = {
        "in.tar": (inner, "an archive inside an archive"),
        "in.tgz": (gzip.compress(inner), "an archive inside an archive"),
    }
    members = {**files, **archives}
    archive = tar(
        ("a.nq", line("a")),
        *((name, data) for name, (data, _) in members.items()),
        ("z.nq", line("z")),
    )
    for name, data in {"a.nq": line("a"), "z.nq": line("z")}.items():
        (tmp_path / name).write_bytes(data)
    for name, (data, _) in files.items():
        (tmp_path / name).write_bytes(data)
    for source, expected in ((archive, members), (tmp_path, files)):
        found, errors = [], {}
        with rdfm.open_log(source) as log:
            while True:
                try:
                    found.extend(message.quads for message in log)
                    break
                except UnsupportedError as error:
                    errors[error.source.replace("!", "/").rpartition("/")[2]] = error.reason
                    assert log.skip_message() == b""
        assert found == [quads("a"), quads("z")]
        assert set(errors) == set(expected)
        assert all(expected[name][1] in reason for name, reason in errors.items())
        with pytest.raises(UnsupportedError):
            rdfm.convert(source, io.BytesIO(), to="nq")
        out = io.BytesIO()
        summary = rdfm.convert(source, out, to="nq", on_error="skip")
        assert out.getvalue() == line("a") + b"# @message\n" + line("z")
        assert (summary.skipped, summary.abandoned) == (len(expected), ())
        report = rdfm.inspect(source)
        assert report.format in ("", "nq")
        assert report.error is not None


def test_options_apply_to_the_formats_that_support_them():
    data = tar(("a.nq", line(1)), ("b.ttl", b"<s> <p> '2' ."))
    assert len(read(data, base="http://e/", generalized=True)) == 2
    with pytest.raises(OptionError, match="no format has the option 'frobnicate'"):
        rdfm.open_log(data, frobnicate=1)
    with pytest.raises(DecodeError, match="base"):
        read(data)


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2"])
def test_archive_members_are_named_as_in_riverbench(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    with rdfm.create_log(path, "ttl") as log:
        for number in range(1001):
            log.write(quads(number) if number else [])
    first = path.read_bytes()
    if suffix != ".tar.zst":
        with tarfile.open(path) as found:
            names = found.getnames()
            assert names[:2] == ["000/0000000000.ttl", "000/0000000001.ttl"]
            assert names[1000:] == ["001/0000001000.ttl"]
            member = found.getmember(names[7])
            assert (member.mtime, member.uid, member.mode, member.uname) == (0, 0, 0o644, "")
            assert found.extractfile(member).read() == line(7)
    assert [values for _, _, values in read(path)] == [[], *[[str(n)] for n in range(1, 1001)]]
    summary = rdfm.convert(path, tmp_path / f"again{suffix}", to="ttl")
    assert summary.messages == 1001
    assert (tmp_path / f"again{suffix}").read_bytes() == first


def test_every_member_declares_its_prefixes(tmp_path):
    source = tmp_path / "in.ttl"
    source.write_text("@prefix e: <http://e/> .\ne:s e:p 1 .\n# @message\ne:s e:p 2 .\n")
    rdfm.convert(source, tmp_path / "out.ttl.tar")
    with tarfile.open(tmp_path / "out.ttl.tar") as found:
        assert found.getnames() == ["000/0000000000.ttl", "000/0000000001.ttl"]
        for member in found:
            assert b"prefix e:" in found.extractfile(member).read().lower()


def test_batch_sizes_do_not_change_an_archive(tmp_path):
    messages = [Message(quads(n), namespaces={"e": "http://e/"}) for n in range(20)]
    with rdfm.create_log(tmp_path / "a.tar") as log:
        for message in messages:
            log.write_batch(rdfm.MessageBatch.from_messages([message]))
    with rdfm.create_log(tmp_path / "b.tar") as log:
        log.write_batch(rdfm.MessageBatch.from_messages(messages))
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_a_folder_contains_one_file_per_message(tmp_path):
    source = tmp_path / "in.tar"
    source.write_bytes(tar(*[(f"{n}.nq", line(n)) for n in range(12)]))
    out = tmp_path / "out"
    rdfm.convert(source, f"{out}/", to="nq", compression="gzip")
    assert sorted(path.name for path in out.iterdir()) == ["000"]
    files = sorted(path.name for path in (out / "000").iterdir())
    assert files[0] == "0000000000.nq.gz"
    assert gzip.decompress((out / "000" / files[3]).read_bytes()) == line(3)
    assert [values for _, _, values in read(out)] == [[str(n)] for n in range(12)]


def test_files_of_a_folder_are_read_in_natural_order(tmp_path):
    for name in ("10.nq", "9.nq", "x/1.nq", "_a.nq", ".b.nq"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(line(name))
    assert [values for _, _, values in read(tmp_path)] == [["9.nq"], ["10.nq"], ["x/1.nq"]]
    assert [values for _, _, values in read(f"{tmp_path}/1*.nq")] == [["10.nq"]]
    (tmp_path / "12.tar.gz").write_bytes(
        gzip.compress(tar(("b.nq", line("b")), ("a.nq", line("a"))))
    )
    found = [values for _, _, values in read(tmp_path)]
    assert found == [["9.nq"], ["10.nq"], ["b"], ["a"], ["x/1.nq"]]
    out = io.BytesIO()
    rdfm.convert(tmp_path, out, to="nq")
    assert out.getvalue() == b"# @message\n".join(map(line, ["9.nq", "10.nq", "b", "a", "x/1.nq"]))
    with pytest.raises(FileNotFoundError):
        read(f"{tmp_path}/none*.nq")


def test_fsspec_folders_are_read_like_local_folders():
    from fsspec.implementations.memory import MemoryFileSystem

    storage = MemoryFileSystem()
    for number in (10, 9):
        storage.pipe_file(f"/archives/{number}.nq", line(number))
    try:
        assert [values for _, _, values in read("memory://archives/")] == [["9"], ["10"]]
        assert [values for _, _, values in read("memory://archives/1*.nq")] == [["10"]]
    finally:
        storage.rm("/archives", recursive=True)


def test_each_part_is_a_complete_log(tmp_path):
    with rdfm.create_log(f"{tmp_path}/out/", "jelly", split_messages=4, compression="gzip") as log:
        for number in range(10):
            log.write(quads(number))
    files = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in files] == [f"part-0000{n}.jelly.gz" for n in range(3)]
    assert [len(read(path)) for path in files] == [4, 4, 2]
    rdfm.convert(tmp_path / "out", f"{tmp_path}/bytes/", to="nq", split_bytes=100)
    files = sorted((tmp_path / "bytes").iterdir())
    assert [len(read(path)) for path in files] == [3, 3, 3, 1]
    rdfm.convert(tmp_path / "bytes", f"{tmp_path}/more/", to="parquet", split_messages=5)
    assert [len(read(path)) for path in sorted((tmp_path / "more").iterdir())] == [5, 5]


def test_a_folder_is_created_completely_or_not_at_all(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(DecodeError):
        rdfm.convert(line(1) + b"# @message\noops", f"{out}/", from_format="nq", to="nq")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DecodeError) as raised:
        rdfm.convert(
            line(1) + b"# @message\noops",
            f"{out}/",
            from_format="nq",
            to="nq",
            keep_partial=True,
        )
    assert str(tmp_path / "out.partial") in raised.value.__notes__[0]
    assert len(read(tmp_path / "out.partial")) == 1


def test_nothing_is_written_to_a_discarded_folder(tmp_path):
    output = FolderOutput(f"{tmp_path}/out/", None, False)

    def parts_with_discard():
        yield Part("000/a.nq", line(1), True)
        yield Part("000/b.nq", line(2), False)
        thread = threading.Thread(target=output.discard)  # as after an interrupt
        thread.start()
        thread.join()
        yield Part("000/b.nq", line(3), True)
        yield Part("000/c.nq", line(4), True)

    output.write(parts_with_discard())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_replaced_only_on_request(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    rdfm.convert(line(1), out, from_format="nq", to="nq")
    with pytest.raises(OptionError, match=r"is not empty.*overwrite=True deletes"):
        rdfm.convert(line(2), out, from_format="nq", to="nq")
    assert [values for _, _, values in read(out)] == [["1"]]
    rdfm.convert(line(2), out, from_format="nq", to="nq", overwrite=True)
    assert [values for _, _, values in read(out)] == [["2"]]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_output_in_an_input_folder_is_rejected(tmp_path):
    (tmp_path / "a.nq").write_bytes(line(1))
    with pytest.raises(OptionError, match=r"is in the input folder .*; write to another folder"):
        rdfm.convert(tmp_path, tmp_path / "all.nq")


def test_an_input_is_never_overwritten(tmp_path):
    (tmp_path / "in").mkdir()
    log = tmp_path / "in" / "a.nq"
    log.write_bytes(line(1))
    for source in (log, f"{tmp_path}/in/*.nq", f"{tmp_path}/*/*.nq", [log, log]):
        for target in (log, tmp_path / "in"):
            with pytest.raises(
                OptionError,
                match=r"is also an input|is in the input folder|is in the output folder",
            ):
                rdfm.convert(
                    source, target, to="nq", **{"overwrite": True} if target != log else {}
                )
    assert [path.name for path in tmp_path.rglob("*.nq")] == ["a.nq"]
    rdfm.convert(f"{tmp_path}/in/*.nq", tmp_path / "in" / "b.nq")
    assert (tmp_path / "in" / "b.nq").read_bytes() == line(1)


def test_options_for_folders_are_rejected_for_files(tmp_path):
    for target in (tmp_path / "a.tar", io.BytesIO()):
        with pytest.raises(OptionError, match="requires a folder"):
            rdfm.create_log(target, "nq", split_messages=1)
    with pytest.raises(OptionError, match="applies to folders"):
        rdfm.create_log(tmp_path / "a.nq", overwrite=True)
    with pytest.raises(OptionError, match="must be an integer >= 1"):
        rdfm.create_log(tmp_path / "out", "nq", split_bytes=0)
    with pytest.raises(UnknownFormatError, match=r"name does not identify a format.*to"):
        rdfm.create_log(f"{tmp_path}/out/")


def test_partial_output_contains_the_messages_before_an_error(tmp_path):
    graph = [Quad(S, P, Literal("x"), Iri("http://e/g"))]
    for target, name in ((tmp_path / "a.tar", "a.tar.partial"), (tmp_path / "d/", "d.partial")):
        writer = rdfm.create_log(
            f"{target}/" if "." not in target.name else target, "ttl", keep_partial=True
        )
        with pytest.raises(rdfm.EncodeError, match="merge_graphs"), writer as log:
            log.write(quads(1))
            log.write(graph)
        found = (
            read(tmp_path / name) if name == "d.partial" else read((tmp_path / name).read_bytes())
        )
        assert [values for _, _, values in found] == [["1"]]


def test_inspect_counts_the_messages_of_all_logs(tmp_path):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(tar(("a.nq", line(1)), ("b.ttl", line(2)), ("c.nq", b"oops"))))
    report = rdfm.inspect(path)
    assert (report.logs, report.messages, report.format) == (3, 2, "nq, ttl")
    assert report.compression == "gzip"
    assert "a.tar.gz!c.nq: nq: " in report.error
    assert rdfm.inspect(io.BytesIO(path.read_bytes())).messages == 2
    (tmp_path / "0.nq").write_bytes(line(1))
    assert rdfm.inspect(tmp_path).bytes == path.stat().st_size + len(line(1))


@pytest.mark.parametrize("skip", [False, True])
def test_a_conversion_reads_members_like_open_log(tmp_path, skip):
    errors = [("bad.ttl", b"oops"), ("link.nq", b"", {"type": tarfile.SYMTYPE})] if skip else []
    members = [(f"{n}.nq", line(n)) for n in range(2000)]
    data = tar(*members[:1000], *errors, *members[1000:], ("big.nq", line("b" * 2_000_000)))
    out = io.BytesIO()
    summary = rdfm.convert(data, out, to="nq", on_error="skip" if skip else "fail")
    assert summary.messages == 2001
    assert summary.skipped == len(errors)
    assert [values for _, _, values in read(out.getvalue(), "nq")] == [
        *[[str(n)] for n in range(2000)],
        ["b" * 2_000_000],
    ]


def test_message_per_file_makes_each_member_one_message():
    out = io.BytesIO()
    data = tar(("a.nq", line(1)), ("empty.nq", b""), ("c.nq", line(3)))
    summary = rdfm.convert(data, out, to="nq", message_per_file=True)
    assert summary.messages == 3
    with pytest.raises(DecodeError, match=r"bytes!b.nq.*more than one message"):
        rdfm.convert(
            tar(("b.nq", line(1) + b"# @message\n" + line(2))),
            io.BytesIO(),
            to="nq",
            message_per_file=True,
        )


@pytest.mark.parametrize("name", [*NATIVE, *TABLES])
def test_every_format_is_written_and_read_in_members_and_files(tmp_path, name):
    messages = [[str(number)] for number in range(5)]
    for target, source in ((tmp_path / "a.tar.gz", None), (f"{tmp_path}/out/", tmp_path / "out")):
        with rdfm.create_log(target, name) as log:
            for (value,) in messages:
                log.write(quads(value))
        found = read(source or target)
        assert [values for _, _, values in found] == messages
        suffix = formats.find(name).spec.suffixes[0]
        assert [path.endswith(f"000000000{n}{suffix}") for n, (path, *_) in enumerate(found)] == [
            True
        ] * 5
        # Formats without boundaries work too, because each message has its own file.
        summary = rdfm.convert(source or target, f"{tmp_path}/again/", to=name, overwrite=True)
        assert summary.messages == 5


@pytest.mark.parametrize("name", ["nt", "nq", "ttl", "trig"])
@pytest.mark.parametrize("out", ["out.tar", "out/"])
def test_a_file_with_only_an_empty_message_has_no_announcement(tmp_path, name, out):
    """This also applies to the directive dialect.

    Readers without message support reject `MESSAGE`.
    """
    target = tmp_path / out
    target = f"{target}/" if out.endswith("/") else target
    log = [[], quads(1), []]
    prefixes = {"prefixes": {"ex": "http://e/"}} if name in ("ttl", "trig") else {}
    with rdfm.create_log(target, name, dialect="directive", **prefixes) as writer:
        for message in log:
            writer.write(message)
    if out == "out.tar":
        with tarfile.open(target) as archive:
            files = [archive.extractfile(member).read() for member in archive]
    else:
        files = [path.read_bytes() for path in sorted((tmp_path / "out").rglob("*.*"))]
    assert [text.count(b"# @message\n") for text in files] == [2, 0, 2]
    assert [text.count(b"VERSION") for text in files] == [0, 1, 0]
    assert not any(b"MESSAGE" in text for text in files)
    for text, message in zip(files, log, strict=True):
        with rdfm.open_log(io.BytesIO(text), name) as reader:
            assert [list(found.quads) for found in reader] == [message]
    with rdfm.open_log(target) as reader:
        assert [list(message.quads) for message in reader] == log
    converted = tmp_path / "again.tar"
    options = {} if out == "out/" else {"message_per_file": True}
    summary = rdfm.convert(
        target, converted, from_dialect="comment", to_dialect="directive", **options
    )
    assert summary.messages == 3
    with rdfm.open_log(converted) as reader:
        assert [list(message.quads) for message in reader] == log


def test_files_with_several_messages_have_announcements_even_if_empty(tmp_path):
    with rdfm.create_log(f"{tmp_path}/out/", "nq", dialect="directive", split_messages=2) as writer:
        writer.write([])
        writer.write([])
        writer.write([])
    texts = [path.read_text() for path in sorted((tmp_path / "out").iterdir())]
    version = 'VERSION "1.2-messages"\n'
    assert texts == [f"{version}MESSAGE\nMESSAGE\n", f"{version}MESSAGE\n"]


def test_data_dropped_from_members_is_counted():
    complete = b'[{"@id":"http://e/s","http://e/p":[{"@id":"http://e/o"}]}]'
    incomplete = b'[{"@id":"http://e/s","nothing":1,"http://e/p":[{"@id":"http://e/o"}]}]'
    data = tar(
        *(
            (f"{at}.jsonld", text)
            for at, text in enumerate([complete, incomplete, complete, incomplete, complete])
        )
    )
    file = io.BytesIO()
    summary = rdfm.convert(data, file, to="nq")
    assert summary.dropped == {"keys": 2}
    assert summary.messages == 5


@pytest.mark.parametrize("split", [{"split_messages": 5}, {"split_bytes": 100}])
@pytest.mark.parametrize("name", ["out", "v1.2", "x.nq", "x.nq.gz", "x.JELLY", "x.json", "x.zip"])
def test_split_options_require_a_slash_after_a_new_folder(tmp_path, name, split):
    target = tmp_path / name
    text = f"requires a folder, but .*{name} is not a folder; write .*{name}/ to create one"
    with pytest.raises(OptionError, match=text):
        rdfm.convert(line(1), target, from_format="nq", to="nq", **split)
    with pytest.raises(OptionError, match=text):
        rdfm.create_log(str(target), "nq", **split)
    assert not target.exists()
    rdfm.convert(line(1), f"{target}/", from_format="nq", to="nq", **split)
    assert [path.name for path in target.iterdir()] == ["part-00000.nq"]
    rdfm.convert(line(1), target, from_format="nq", to="nt", overwrite=True, **split)
    assert [path.name for path in target.iterdir()] == ["part-00000.nt"]


def test_a_split_log_does_not_replace_a_file(tmp_path):
    (tmp_path / "out").write_bytes(b"")
    with pytest.raises(OptionError, match=r"out is a file; use a folder such as out/"):
        rdfm.create_log(tmp_path / "out", "nq", split_messages=1)


def test_the_suffix_of_a_folder_selects_the_format_of_its_files(tmp_path):
    rdfm.convert(line(1), f"{tmp_path}/x.ttl/", from_format="nq")
    assert [path.suffix for path in (tmp_path / "x.ttl").rglob("*.*")] == [".ttl"]
    with pytest.raises(UnknownFormatError):
        rdfm.convert(line(1), f"{tmp_path}/x.tar/", from_format="nq")

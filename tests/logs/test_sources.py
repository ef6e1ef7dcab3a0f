"""The inputs and outputs of logs: lists, samples, and files that fsspec opens."""

import io

import fsspec
import pytest

import rdfm
from rdfm import OptionError

MESSAGE = "<x:s> <x:p> <x:{}> .\n# @message\n"
LOG = "".join(map(MESSAGE.format, range(200)))


@pytest.fixture(autouse=True)
def memory():
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()


def objects(log):
    return [message[0].object.value for message in log]


def fill(log):
    for message in rdfm.open_log(LOG.encode(), "nq"):
        log.write(message)


def test_a_list_of_logs_is_read_in_order(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.nq").write_text(MESSAGE.format(name))
    logs = [tmp_path / "b.nq", MESSAGE.format("c").encode(), tmp_path / "a.nq"]
    with rdfm.open_log(logs, "nq") as log:
        assert log.several
        assert objects(log) == ["x:b", "x:c", "x:a"]
    with rdfm.open_log(sorted(tmp_path.glob("*.nq"))) as log:
        assert objects(log) == ["x:a", "x:b"]
    with rdfm.open_log([tmp_path / "a.nq"], messages="0") as log:
        assert not log.several
        assert objects(log) == ["x:a"]
    with rdfm.open_log(logs, "nq", messages="1:") as log:
        assert objects(log) == ["x:c", "x:a"]
    with rdfm.open_log(logs, "nq", rows="quads", columns=["source"]) as log:
        assert log.to_arrow()["source"].to_pylist() == [str(logs[0]), "bytes", str(logs[2])]
    with pytest.raises(OptionError, match="no input is given"):
        rdfm.open_log([])


def test_a_sample_is_that_of_a_conversion(tmp_path):
    path = tmp_path / "log.nq"
    path.write_text(LOG)
    for sample, seed in (("10%", 0), ("10%", 1), (7, 0), ("7", 3)):
        out = tmp_path / "out.nq"
        rdfm.convert(path, out, sample=str(sample), seed=seed)
        expected = objects(rdfm.open_log(out))
        with rdfm.open_log(path, sample=sample, seed=seed) as log:
            assert objects(log) == expected
    with rdfm.open_log(path, sample=7, rows="quads") as log:
        assert log.to_arrow().num_rows == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": "1%", "messages": "1"}, "messages and sample both select a part"),
        ({"sample": "many"}, "sample must be a percentage"),
        ({"sample": 0}, "sample must be a percentage"),
    ],
)
def test_invalid_samples_are_rejected(options, message):
    with pytest.raises(OptionError, match=message):
        rdfm.open_log(LOG.encode(), "nq", **options)


def test_a_sample_of_a_stream_is_a_share():
    with pytest.raises(OptionError, match="can be read only once"):
        rdfm.open_log(io.BytesIO(LOG.encode()), "nq", sample=5)
    with rdfm.open_log(io.BytesIO(LOG.encode()), "nq", sample="50%") as log:
        assert 50 < len(list(log)) < 150


@pytest.mark.parametrize("url", ["memory://folder/log.nq", "{folder}/log.nq"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_fsspec_files_are_written_and_read(tmp_path, url, suffix):
    url = url.format(folder=tmp_path) + suffix
    with rdfm.create_log(fsspec.open(url, "wb")) as log:
        fill(log)
    source = fsspec.open(url)
    assert len(objects(rdfm.open_log(source))) == 200
    assert len(objects(rdfm.open_log(source, messages="-3:"))) == 3
    assert rdfm.inspect(source).messages == 200
    assert rdfm.scan(source).to_arrow().num_rows == 200
    with rdfm.open_log(source) as log:
        assert log.source.endswith("log.nq" + suffix)
    with fsspec.open(url, "rb", compression="infer") as plain:
        assert plain.read().decode().removesuffix("# @message\n") == LOG.removesuffix(
            "# @message\n"
        )
    converted = fsspec.open(url.replace("log.nq", "out.jelly"), "wb")
    assert rdfm.convert([source, source], converted).messages == 400


def test_fsspec_decompresses_and_compresses(memory):
    with rdfm.create_log(fsspec.open("memory://a.nq.gz", "wb", compression="gzip")) as log:
        fill(log)
    source = fsspec.open("memory://a.nq.gz", compression="gzip")
    assert len(objects(rdfm.open_log(source))) == 200
    assert memory.cat_file("/a.nq.gz").startswith(b"\x1f\x8b")


def test_a_remote_file_is_not_created_if_writing_fails(memory):
    with (
        pytest.raises(ZeroDivisionError),
        rdfm.create_log(fsspec.open("memory://a.nq", "wb")) as log,
    ):
        fill(log)
        _ = 1 / 0
    assert not memory.exists("/a.nq")
    with pytest.raises(rdfm.DecodeError):
        rdfm.convert(LOG.encode() + b"oops\n", fsspec.open("memory://b.nq", "wb"), from_format="nq")
    assert not memory.exists("/b.nq")


def test_the_mode_is_checked_before_a_file_is_opened(memory):
    memory.pipe_file("/a.nq", LOG.encode())
    with pytest.raises(OptionError, match=r"memory:///a\.nq has mode 'wb', expected 'rb'"):
        rdfm.open_log(fsspec.open("memory://a.nq", "wb"))
    with pytest.raises(OptionError, match="has mode 'r', expected 'rb'"):
        rdfm.open_log(fsspec.open("memory://a.nq", "r"))
    with pytest.raises(OptionError, match="has mode 'rb', expected 'wb'"):
        rdfm.create_log(fsspec.open("memory://a.nq"))
    assert memory.cat_file("/a.nq") == LOG.encode()
    with pytest.raises(FileNotFoundError, match=r"memory:///missing\.nq"):
        rdfm.open_log(fsspec.open("memory://missing.nq"))

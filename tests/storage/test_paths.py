"""Local, remote and ambiguous paths and URLs."""

import re

import pytest

from rdfm.errors import OptionError
from rdfm.storage.paths import is_url, local_path, local_target


def test_file_urls_become_local_paths():
    assert local_path("file:/a%20b") == local_path("file:///a%20b") == "/a b"
    assert local_path("FILE://localhost/a") == "/a"
    assert local_path("C:/a") == "C:/a"
    assert local_path("file:a") == "file:a"
    assert local_path("s3://a/b") is None


def test_file_urls_keep_glob_characters():
    assert local_path("file:///d/part-?.nq") == "/d/part-?.nq"
    assert local_path("file:/d/a#b.nq") == "/d/a#b.nq"


def test_a_file_url_without_escapes_finds_existing_files(tmp_path):
    (tmp_path / "a%20b.nq").write_bytes(b"")
    assert local_path(f"file:{tmp_path}/a%20b.nq") == f"{tmp_path}/a%20b.nq"
    assert local_path(f"file:{tmp_path}/c%20d.nq") == f"{tmp_path}/c d.nq"


def test_a_file_url_of_another_machine_is_rejected():
    with pytest.raises(OptionError, match="another machine"):
        local_path("file://host/a.nq")


def test_chains_of_urls_are_urls():
    assert is_url("simplecache::s3://b/x")
    assert local_path("simplecache::s3://b/x") is None
    assert not is_url("a::b")
    assert local_path("a::b") == "a::b"


ONE_SLASH = [
    ("dbfs:/logs/a.nq", "write /dbfs/logs/a.nq or dbfs:///logs/a.nq, or ./dbfs:/logs/a.nq for"),
    ("DBFS:/", "write /dbfs/ or DBFS:///, or"),
    ("hdfs:/logs", "write hdfs://host/logs, or ./hdfs:/logs for"),
    ("s3:/bucket/a.nq", "write s3://bucket/a.nq, or"),
    ("simplecache::s3:/bucket/a", "write simplecache::s3://bucket/a, or"),
    ("zip::file:/a.zip", "write zip::file:///a.zip, or"),
]


@pytest.mark.parametrize(("path", "text"), ONE_SLASH)
def test_a_scheme_with_one_slash_is_neither_a_url_nor_a_path(path, text):
    for function in (local_path, local_target):
        with pytest.raises(OptionError, match=re.escape(text)):
            function(path)


@pytest.mark.parametrize(
    "path", ["C:/a", "a:b/c.nq", "a/dbfs:/c", "./dbfs:/c", "/dbfs:/c", "dbfs:"]
)
def test_local_paths_may_contain_colons(path):
    assert local_path(path) == local_target(path) == path


def test_an_existing_path_with_one_slash_is_read_but_never_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dbfs:").mkdir()
    (tmp_path / "dbfs:/a.nq").write_bytes(b"")
    assert local_path("dbfs:/a.nq") == "dbfs:/a.nq"
    for path in ("dbfs:/a.nq", "dbfs:/b.nq"):
        with pytest.raises(OptionError, match="one slash after dbfs:"):
            local_target(path)

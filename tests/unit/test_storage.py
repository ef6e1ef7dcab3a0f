"""Finding files, and writing them whole."""

import contextlib
import os
import re
import socket

import pytest

import rdfm
from rdfm.errors import OptionError
from rdfm.storage.files import File, LocalStorage, storage_of
from rdfm.storage.listing import find_files
from rdfm.storage.paths import is_url, local_path, local_target


@pytest.fixture
def folder(tmp_path):
    for name in ("b10.nq", "b2.nq", "a.ttl", "_SUCCESS", ".hidden.nq", "sub/c.nq", "_sub/d.nq"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    return tmp_path


def names(folder, *paths, **options):
    found, _ = find_files([str(folder / path) for path in paths], **options)
    return [os.path.relpath(file.path, folder) for file in found]


def test_a_folder_stands_for_its_visible_files_in_natural_order(folder):
    assert names(folder, "") == ["a.ttl", "b2.nq", "b10.nq"]
    assert names(folder, "", recursive=True) == ["a.ttl", "b2.nq", "b10.nq", "sub/c.nq"]


def test_globs_and_patterns(folder):
    assert names(folder, "b*.nq") == ["b2.nq", "b10.nq"]
    assert names(folder, "{a,b2}.*") == ["a.ttl", "b2.nq"]
    assert names(folder, "", pattern="*.{ttl,trig}") == ["a.ttl"]
    assert names(folder, "**/*.nq") == ["b2.nq", "b10.nq", "sub/c.nq"]
    assert names(folder, "[^b]*") == ["a.ttl", "sub/c.nq"]
    assert names(folder, "", pattern="[^b]*") == ["a.ttl"]


def test_globs_match_what_is_hidden_only_where_they_say_so(folder):
    assert names(folder, "*") == names(folder, "**") == ["a.ttl", "b2.nq", "b10.nq", "sub/c.nq"]
    assert names(folder, "*/*") == ["sub/c.nq"]
    assert names(folder, "_*/*") == names(folder, "_sub/*") == ["_sub/d.nq"]
    assert names(folder, ".h*") == [".hidden.nq"]
    assert names(folder, "{_SUCCESS,a.*}") == ["_SUCCESS", "a.ttl"]
    assert names(folder / "_sub", "*") == ["d.nq"]


def test_names_with_other_digits_have_an_order(tmp_path):
    for name in ("1\u00b22.nq", "\u0663.nq", "10.nq"):
        (tmp_path / name).write_bytes(b"")
    assert names(tmp_path, "") == ["1\u00b22.nq", "10.nq", "\u0663.nq"]


def test_a_file_that_looks_like_a_glob_is_taken_as_it_is(tmp_path):
    (tmp_path / "a[1].nq").write_bytes(b"x")
    (tmp_path / "a1.nq").write_bytes(b"")
    assert [file.size for file in find_files([str(tmp_path / "a[1].nq")])[0]] == [1]


def test_paths_keep_their_order_and_stand_once(folder):
    assert names(folder, "b10.nq", "", "b2.nq") == ["b10.nq", "a.ttl", "b2.nq"]


def test_a_hidden_file_is_taken_when_named(folder):
    assert names(folder, "_SUCCESS") == ["_SUCCESS"]


@pytest.mark.parametrize("path", ["missing.nq", "missing*.nq", "missing/"])
def test_what_is_not_there_is_an_error(folder, path):
    with pytest.raises(FileNotFoundError):
        names(folder, path)
    assert names(folder, path, "a.ttl", ignore_missing=True) == ["a.ttl"]


def test_times_of_writing(folder):
    os.utime(folder / "a.ttl", (1000, 1000))
    os.utime(folder / "b2.nq", (2000, 2000))
    assert names(folder, "*.*", modified_after=1000, modified_before=5000) == ["b2.nq"]
    assert names(folder, "*.*", modified_before=2000) == ["a.ttl"]


def test_file_urls_are_local():
    assert local_path("file:/a%20b") == local_path("file:///a%20b") == "/a b"
    assert local_path("FILE://localhost/a") == "/a"
    assert local_path("C:/a") == "C:/a"
    assert local_path("file:a") == "file:a"
    assert local_path("s3://a/b") is None


def test_file_urls_keep_the_signs_of_globs():
    assert local_path("file:///d/part-?.nq") == "/d/part-?.nq"
    assert local_path("file:/d/a#b.nq") == "/d/a#b.nq"


def test_a_file_url_without_escapes_means_what_is_there(tmp_path):
    (tmp_path / "a%20b.nq").write_bytes(b"")
    assert local_path(f"file:{tmp_path}/a%20b.nq") == f"{tmp_path}/a%20b.nq"
    assert local_path(f"file:{tmp_path}/c%20d.nq") == f"{tmp_path}/c d.nq"


def test_a_file_url_of_another_machine_is_refused():
    with pytest.raises(OptionError, match="another machine"):
        local_path("file://host/a.nq")


def test_chains_of_urls_are_urls():
    assert is_url("simplecache::s3://b/x")
    assert local_path("simplecache::s3://b/x") is None
    assert not is_url("a::b")
    assert local_path("a::b") == "a::b"


def hosted(files):
    """A storage whose paths do not show the host, as fsspec's of FTP; keeps what it is asked about."""
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class Files(MemoryFileSystem):
        protocol = "hosted"
        store, pseudo_dirs, asked = {}, [""], []

        @classmethod
        def _strip_protocol(cls, path):
            path = path.partition("://")[2].partition("/")[2] if "://" in path else path
            return f"/{path.strip('/')}" if path.strip("/") else ""

        def info(self, path, **options):
            self.asked.append(path)
            return super().info(path, **options)

    fsspec.register_implementation("hosted", Files, clobber=True)
    for name in files:
        Files().pipe_file(name, b"x")
    Files.asked.clear()
    return Files.asked


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of Unix")
def test_pipes_and_sockets_are_found_and_told_from_files(tmp_path):
    (tmp_path / "a.nq").write_bytes(b"")
    os.mkfifo(tmp_path / "b.nq")
    (tmp_path / "c.nq").symlink_to("b.nq")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "d.nq"))
        for path in (tmp_path, tmp_path / "*.nq", f"local://{tmp_path}"):
            assert [file.plain for file in find_files([str(path)])[0]] == [
                True,
                False,
                False,
                False,
            ]
    assert [file.plain for file in find_files([str(tmp_path / "b.nq")])[0]] == [False]


ONE_SLASH = [
    ("dbfs:/logs/a.nq", "write /dbfs/logs/a.nq or dbfs:///logs/a.nq, or ./dbfs:/logs/a.nq for"),
    ("DBFS:/", "write /dbfs/ or DBFS:///, or"),
    ("hdfs:/logs", "write hdfs://host/logs, or ./hdfs:/logs for"),
    ("s3:/bucket/a.nq", "write s3://bucket/a.nq, or"),
    ("simplecache::s3:/bucket/a", "write simplecache::s3://bucket/a, or"),
    ("zip::file:/a.zip", "write zip::file:///a.zip, or"),
]


@pytest.mark.parametrize(("path", "text"), ONE_SLASH)
def test_one_slash_makes_neither_a_url_nor_a_path(path, text):
    for place in (local_path, local_target):
        with pytest.raises(OptionError, match=re.escape(text)):
            place(path)


@pytest.mark.parametrize(
    "path", ["C:/a", "a:b/c.nq", "a/dbfs:/c", "./dbfs:/c", "/dbfs:/c", "dbfs:"]
)
def test_colons_in_paths_of_this_machine(path):
    assert local_path(path) == local_target(path) == path


def test_one_slash_is_read_where_it_is_there_and_never_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dbfs:").mkdir()
    (tmp_path / "dbfs:/a.nq").write_bytes(b"")
    assert local_path("dbfs:/a.nq") == "dbfs:/a.nq"
    for path in ("dbfs:/a.nq", "dbfs:/b.nq"):
        with pytest.raises(OptionError, match="one slash after dbfs:"):
            local_target(path)


def test_urls_keep_their_hosts():
    pytest.importorskip("fsspec")
    hosted(["/logs/a.nq", "/logs/b.nq"])
    for path in ("hosted://h:21/logs", "hosted://h:21/logs/", "hosted://h:21/logs/*.nq"):
        found, _ = find_files([path])
        assert [file.path for file in found] == [
            "hosted://h:21/logs/a.nq",
            "hosted://h:21/logs/b.nq",
        ]
    assert find_files(["hosted://h:21/logs/a.nq"])[0][0].path == "hosted://h:21/logs/a.nq"
    assert find_files(["hosted://h:21/l*"])[1] == ["hosted://h:21/logs"]


def test_a_native_library_that_is_missing_is_told_in_a_sentence():
    """As pyarrow tells it, with every place where it looked."""
    fsspec = pytest.importorskip("fsspec")

    class Files(fsspec.AbstractFileSystem):
        protocol = "native"

        def __init__(self, reason="Unable to load libhdfs\ndlopen(a) failed\ndlopen(b) failed"):
            super().__init__()
            raise OSError(reason)

    fsspec.register_implementation("native", Files, clobber=True)
    says = r"native://h/a.nq needs the native library libhdfs, .* HADOOP_HOME"
    for reach in (storage_of, rdfm.open_log):
        with pytest.raises(rdfm.MissingExtraError, match=says) as error:
            reach("native://h/a.nq")
        assert "dlopen" not in str(error.value)
    with pytest.raises(OSError, match=r"^no route to h$"):
        storage_of("native://h/a.nq", {"reason": "no route to h"})


def test_files_of_a_glob_are_not_asked_for_one_by_one():
    pytest.importorskip("fsspec")
    few = hosted(["/logs/a.nq"])
    find_files(["hosted://h/logs/*.nq"])
    many = hosted([f"/logs/{number}.nq" for number in range(50)])
    find_files(["hosted://h/logs/*.nq"])
    assert len(many) == len(few)


@pytest.fixture(params=["local", "memory"])
def place(request, tmp_path):
    if request.param == "memory":
        pytest.importorskip("fsspec")
    root = str(tmp_path) if request.param == "local" else f"memory://{tmp_path}"
    storage, path = storage_of(root)
    storage.make_folder(f"{path}/x")
    yield storage, path
    storage.remove_folder(path)
    assert storage.names(path) == []


def test_what_a_commit_needs(place):
    storage, path = place
    assert storage.names(f"{path}/nothing") == []
    storage.write_whole(f"{path}/x/a", b"1")
    storage.write_whole(f"{path}/x/a", b"22")
    assert storage.create_whole(f"{path}/x/c", b"4")
    assert not storage.create_whole(f"{path}/x/c", b"55")
    assert storage.read_whole(f"{path}/x/c") == b"4"
    storage.remove(f"{path}/x/c")
    file = storage.open_new(f"{path}/x/b")
    file.write(b"333")
    storage.finish(file)
    assert storage.names(f"{path}/x") == ["a", "b"]
    storage.rename(f"{path}/x/b", f"{path}/x/a")
    assert storage.read_whole(f"{path}/x/a") == b"333"
    assert storage.exists(f"{path}/x/a")
    assert not storage.exists(f"{path}/x/b")
    with pytest.raises(FileNotFoundError):
        storage.rename(f"{path}/x/b", f"{path}/x/c")
    found = list(storage.files(path, recursive=True))
    assert [(file.path, file.size) for file in found] == [(f"{path}/x/a", 3)]
    assert storage.status(f"{path}/x/a") == found[0]
    assert storage.status(f"{path}/x") is None
    assert list(storage.files(path)) == []
    storage.remove(f"{path}/x/a")
    storage.remove(f"{path}/x/a")
    assert storage.names(f"{path}/x") == []


def test_urls_are_found_like_paths():
    pytest.importorskip("fsspec")
    storage, root = storage_of("memory://found")
    for name in ("a10.nq", "a9.nq", "_b.nq"):
        storage.write_whole(f"{root}/{name}", b"x")
    found = [file.path.rsplit("/", 1)[-1] for file in find_files(["memory://found"])[0]]
    assert found == ["a9.nq", "a10.nq"]
    assert len(find_files(["memory://found/a*"])[0]) == 2
    storage.remove_folder(root)


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        LocalStorage().write_whole(str(tmp_path / "a"), b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_says_what_it_is(tmp_path):
    (tmp_path / "a").write_bytes(b"12")
    os.utime(tmp_path / "a", (5, 5))
    assert find_files([str(tmp_path / "a")]) == ([File(str(tmp_path / "a"), 2, 5.0)], [])


def test_a_file_is_whole_where_storage_writes_it_piece_by_piece():
    """As with HDFS and SFTP, whose files are there from the first byte on, but which rename."""
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFileSystem

    class Files(MemoryFileSystem):
        protocol = "pieces"
        store, pseudo_dirs, dies = {}, [""], False

        def pipe_file(self, path, value, mode="overwrite", **options):
            assert mode == "overwrite"
            super().pipe_file(path, b"", **options)
            if self.dies:
                raise KeyboardInterrupt
            super().pipe_file(path, value, **options)

        def rm_file(self, path):
            if self.dies:  # who is killed removes nothing
                raise OSError
            super().rm_file(path)

        def mv(self, old, new, **_):
            self.store[self._strip_protocol(new)] = self.store.pop(self._strip_protocol(old))

    fsspec.register_implementation("pieces", Files, clobber=True)
    storage, root = storage_of("pieces://x")
    storage.make_folder(root)
    storage.write_whole(f"{root}/a", b"old")
    assert not storage.create_whole(f"{root}/a", b"new")
    assert storage.create_whole(f"{root}/b", b"new")
    assert storage.names(root) == ["a", "b"]
    Files.dies = True
    for write in (storage.write_whole, storage.create_whole):
        for name in "ac":
            with contextlib.suppress(KeyboardInterrupt):
                write(f"{root}/{name}", b"new")
    Files.dies = False
    assert storage.read_whole(f"{root}/a") == b"old"
    assert [name for name in storage.names(root) if not name.endswith(".tmp")] == ["a", "b"]
    assert all(name.startswith(".") for name in storage.names(root) if name.endswith(".tmp"))

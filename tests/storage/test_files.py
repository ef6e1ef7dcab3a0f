"""Local files and files at URLs are written completely or not at all."""

import contextlib
import io
import os
import shutil

import pytest

import rdfm
from rdfm.storage.files import LocalStorage, find_storage


def test_a_missing_native_library_is_reported_briefly():
    """pyarrow's error lists every path that it searched."""
    fsspec = pytest.importorskip("fsspec")

    class Files(fsspec.AbstractFileSystem):
        protocol = "native"

        def __init__(self, reason="Unable to load libhdfs\ndlopen(a) failed\ndlopen(b) failed"):
            super().__init__()
            raise OSError(reason)

    fsspec.register_implementation("native", Files, clobber=True)
    text = r"native://h/a.nq needs the native library libhdfs, .* HADOOP_HOME"
    for open_location in (find_storage, rdfm.open_log):
        with pytest.raises(rdfm.MissingExtraError, match=text) as error:
            open_location("native://h/a.nq")
        assert "dlopen" not in str(error.value)
    with pytest.raises(OSError, match=r"^no route to h$"):
        find_storage("native://h/a.nq", {"reason": "no route to h"})


@pytest.fixture(params=["local", "memory"])
def location(request, tmp_path):
    if request.param == "memory":
        pytest.importorskip("fsspec")
    root = str(tmp_path) if request.param == "local" else f"memory://{tmp_path}"
    storage, path = find_storage(root)
    storage.make_folder(f"{path}/x")
    yield storage, path
    storage.remove_folder(path)
    assert storage.list_names(path) == []


def test_files_support_the_operations_of_commits(location):
    storage, path = location
    assert storage.list_names(f"{path}/nothing") == []
    storage.write_file(f"{path}/x/a", b"1")
    storage.write_file(f"{path}/x/a", b"22")
    assert storage.create_file(f"{path}/x/c", b"4")
    assert not storage.create_file(f"{path}/x/c", b"55")
    assert storage.read_file(f"{path}/x/c") == b"4"
    storage.remove(f"{path}/x/c")
    file = storage.open_new(f"{path}/x/b")
    file.write(b"333")
    storage.finish(file)
    assert storage.list_names(f"{path}/x") == ["a", "b"]
    storage.rename(f"{path}/x/b", f"{path}/x/a")
    assert storage.read_file(f"{path}/x/a") == b"333"
    assert storage.exists(f"{path}/x/a")
    assert not storage.exists(f"{path}/x/b")
    with pytest.raises(FileNotFoundError):
        storage.rename(f"{path}/x/b", f"{path}/x/c")
    found = list(storage.list_files(path, recursive=True))
    assert [(file.path, file.size) for file in found] == [(f"{path}/x/a", 3)]
    assert storage.status(f"{path}/x/a") == found[0]
    assert storage.status(f"{path}/x") is None
    assert list(storage.list_files(path)) == []
    storage.remove(f"{path}/x/a")
    storage.remove(f"{path}/x/a")
    assert storage.list_names(f"{path}/x") == []


@pytest.fixture
def small_files():
    """Limits the size of files to 64 KiB, which has the effects of a full disk on writes."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_write_that_exceeds_the_disk_is_an_error_that_names_the_file(tmp_path, small_files):
    data = bytes((1 << 16) + 1)

    def write_new(storage, path):
        with storage.open_new(path) as file:
            file.write(data)

    def copy_new(storage, path):
        """The last block is written only in part."""
        with storage.open_new(path) as file:
            shutil.copyfileobj(io.BytesIO(data), file, len(data))

    def write_log(storage, path):
        with storage.open_new(path) as file, rdfm.create_log(file, "nq", compression="none") as log:
            log.write([rdfm.Quad(rdfm.Iri("a:s"), rdfm.Iri("a:p"), rdfm.Literal("x" * (1 << 16)))])

    for name, write in (
        ("new", write_new),
        ("copied", copy_new),
        ("log", write_log),
        ("small", lambda storage, path: storage.write_file(path, data)),
        ("created", lambda storage, path: storage.create_file(path, data)),
    ):
        path = str(tmp_path / name)
        with pytest.raises(OSError, match="File too large") as caught:
            write(LocalStorage(), path)
        assert caught.value.filename == path, name


def test_an_interrupted_write_leaves_no_files(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        LocalStorage().write_file(str(tmp_path / "a"), b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_complete_on_storage_that_writes_in_pieces():
    """As in HDFS and SFTP, files are visible while they are written, but can be renamed."""
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFileSystem

    class Files(MemoryFileSystem):
        protocol = "pieces"
        store, pseudo_dirs, is_killed = {}, [""], False

        def pipe_file(self, path, value, mode="overwrite", **options):
            assert mode == "overwrite"
            super().pipe_file(path, b"", **options)
            if self.is_killed:
                raise KeyboardInterrupt
            super().pipe_file(path, value, **options)

        def rm_file(self, path):
            if self.is_killed:  # a killed process does not remove files
                raise OSError
            super().rm_file(path)

        def mv(self, old, new, **_):
            self.store[self._strip_protocol(new)] = self.store.pop(self._strip_protocol(old))

    fsspec.register_implementation("pieces", Files, clobber=True)
    storage, root = find_storage("pieces://x")
    storage.make_folder(root)
    storage.write_file(f"{root}/a", b"old")
    assert not storage.create_file(f"{root}/a", b"new")
    assert storage.create_file(f"{root}/b", b"new")
    assert storage.list_names(root) == ["a", "b"]
    Files.is_killed = True
    for write in (storage.write_file, storage.create_file):
        for name in "ac":
            with contextlib.suppress(KeyboardInterrupt):
                write(f"{root}/{name}", b"new")
    Files.is_killed = False
    assert storage.read_file(f"{root}/a") == b"old"
    assert [name for name in storage.list_names(root) if not name.endswith(".tmp")] == ["a", "b"]
    assert all(name.startswith(".") for name in storage.list_names(root) if name.endswith(".tmp"))

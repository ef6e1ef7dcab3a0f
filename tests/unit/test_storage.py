"""Finding files, and writing them whole."""

import os

import pytest

from rdfm.storage import File, LocalStorage, find_files, local_path, storage_of


@pytest.fixture
def folder(tmp_path):
    for name in ("b10.nq", "b2.nq", "a.ttl", "_SUCCESS", ".hidden.nq", "sub/c.nq", "_sub/d.nq"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    return tmp_path


def names(folder, *paths, **options):
    found = find_files([str(folder / path) for path in paths], **options)
    return [os.path.relpath(file.path, folder) for file in found]


def test_a_folder_stands_for_its_visible_files_in_natural_order(folder):
    assert names(folder, "") == ["a.ttl", "b2.nq", "b10.nq"]
    assert names(folder, "", recursive=True) == ["a.ttl", "b2.nq", "b10.nq", "sub/c.nq"]


def test_globs_and_patterns(folder):
    assert names(folder, "b*.nq") == ["b2.nq", "b10.nq"]
    assert names(folder, "{a,b2}.*") == ["a.ttl", "b2.nq"]
    assert names(folder, "", pattern="*.{ttl,trig}") == ["a.ttl"]
    assert names(folder, "**/*.nq") == ["_sub/d.nq", "b2.nq", "b10.nq", "sub/c.nq"]


def test_a_file_that_looks_like_a_glob_is_taken_as_it_is(tmp_path):
    (tmp_path / "a[1].nq").write_bytes(b"x")
    (tmp_path / "a1.nq").write_bytes(b"")
    assert find_files([str(tmp_path / "a[1].nq")])[0].size == 1


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
    assert local_path("C:/a") == "C:/a"
    assert local_path("s3://a/b") is None


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
    found = [file.path.rsplit("/", 1)[-1] for file in find_files(["memory://found"])]
    assert found == ["a9.nq", "a10.nq"]
    assert len(find_files(["memory://found/a*"])) == 2
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
    assert find_files([str(tmp_path / "a")]) == [File(str(tmp_path / "a"), 2, 5.0)]

"""Finding files: folders, globs, patterns, times, and URLs."""

import os
import socket

import pytest

from rdfm.storage.files import File, find_storage
from rdfm.storage.listing import find_files


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


def test_a_folder_yields_its_visible_files_in_natural_order(folder):
    assert names(folder, "") == ["a.ttl", "b2.nq", "b10.nq"]
    assert names(folder, "", recursive=True) == ["a.ttl", "b2.nq", "b10.nq", "sub/c.nq"]


def test_globs_match_names(folder):
    assert names(folder, "b*.nq") == ["b2.nq", "b10.nq"]
    assert names(folder, "{a,b2}.*") == ["a.ttl", "b2.nq"]
    assert names(folder, "", pattern="*.{ttl,trig}") == ["a.ttl"]
    assert names(folder, "**/*.nq") == ["b2.nq", "b10.nq", "sub/c.nq"]
    assert names(folder, "[^b]*") == ["a.ttl", "sub/c.nq"]
    assert names(folder, "", pattern="[^b]*") == ["a.ttl"]


def test_globs_match_hidden_files_only_explicitly(folder):
    assert names(folder, "*") == names(folder, "**") == ["a.ttl", "b2.nq", "b10.nq", "sub/c.nq"]
    assert names(folder, "*/*") == ["sub/c.nq"]
    assert names(folder, "_*/*") == names(folder, "_sub/*") == ["_sub/d.nq"]
    assert names(folder, ".h*") == [".hidden.nq"]
    assert names(folder, "{_SUCCESS,a.*}") == ["_SUCCESS", "a.ttl"]
    assert names(folder / "_sub", "*") == ["d.nq"]


def test_names_with_non_ascii_digits_are_ordered(tmp_path):
    for name in ("1\u00b22.nq", "\u0663.nq", "10.nq"):
        (tmp_path / name).write_bytes(b"")
    assert names(tmp_path, "") == ["1\u00b22.nq", "10.nq", "\u0663.nq"]


def test_an_existing_file_named_like_a_glob_is_found(tmp_path):
    (tmp_path / "a[1].nq").write_bytes(b"x")
    (tmp_path / "a1.nq").write_bytes(b"")
    assert [file.size for file in find_files([str(tmp_path / "a[1].nq")])[0]] == [1]


def test_paths_keep_their_order_without_duplicates(folder):
    assert names(folder, "b10.nq", "", "b2.nq") == ["b10.nq", "a.ttl", "b2.nq"]


def test_a_hidden_file_is_found_by_name(folder):
    assert names(folder, "_SUCCESS") == ["_SUCCESS"]


@pytest.mark.parametrize("path", ["missing.nq", "missing*.nq", "missing/"])
def test_missing_paths_are_an_error(folder, path):
    with pytest.raises(FileNotFoundError):
        names(folder, path)
    assert names(folder, path, "a.ttl", ignore_missing=True) == ["a.ttl"]


def test_files_are_selected_by_modification_time(folder):
    os.utime(folder / "a.ttl", (1000, 1000))
    os.utime(folder / "b2.nq", (2000, 2000))
    assert names(folder, "*.*", modified_after=1000, modified_before=5000) == ["b2.nq"]
    assert names(folder, "*.*", modified_before=2000) == ["a.ttl"]


def register_hosted_storage(files):
    """Registers a storage whose paths omit the host, like fsspec's FTP.

    Returns the list of the paths that are requested.
    """
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class Files(MemoryFileSystem):
        protocol = "hosted"
        store, pseudo_dirs, requests = {}, [""], []

        @classmethod
        def _strip_protocol(cls, path):
            path = path.partition("://")[2].partition("/")[2] if "://" in path else path
            return f"/{path.strip('/')}" if path.strip("/") else ""

        def info(self, path, **options):
            self.requests.append(path)
            return super().info(path, **options)

    fsspec.register_implementation("hosted", Files, clobber=True)
    for name in files:
        Files().pipe_file(name, b"x")
    Files.requests.clear()
    return Files.requests


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs Unix pipes")
def test_pipes_and_sockets_are_found_and_distinguished_from_files(tmp_path):
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


def test_urls_keep_their_hosts():
    pytest.importorskip("fsspec")
    register_hosted_storage(["/logs/a.nq", "/logs/b.nq"])
    for path in (
        "hosted://h:21/logs",
        "hosted://h:21/logs/",
        "hosted://h:21/logs/*.nq",
    ):
        found, _ = find_files([path])
        assert [file.path for file in found] == [
            "hosted://h:21/logs/a.nq",
            "hosted://h:21/logs/b.nq",
        ]
    assert find_files(["hosted://h:21/logs/a.nq"])[0][0].path == "hosted://h:21/logs/a.nq"
    assert find_files(["hosted://h:21/l*"])[1] == ["hosted://h:21/logs"]


def test_files_of_a_glob_are_not_requested_one_by_one():
    pytest.importorskip("fsspec")
    requests_for_one = register_hosted_storage(["/logs/a.nq"])
    find_files(["hosted://h/logs/*.nq"])
    requests_for_many = register_hosted_storage([f"/logs/{number}.nq" for number in range(50)])
    find_files(["hosted://h/logs/*.nq"])
    assert len(requests_for_many) == len(requests_for_one)


def test_urls_are_found_like_paths():
    pytest.importorskip("fsspec")
    storage, root = find_storage("memory://found")
    for name in ("a10.nq", "a9.nq", "_b.nq"):
        storage.write_file(f"{root}/{name}", b"x")
    found = [file.path.rsplit("/", 1)[-1] for file in find_files(["memory://found"])[0]]
    assert found == ["a9.nq", "a10.nq"]
    assert len(find_files(["memory://found/a*"])[0]) == 2
    storage.remove_folder(root)


def test_a_file_has_a_size_and_a_time(tmp_path):
    (tmp_path / "a").write_bytes(b"12")
    os.utime(tmp_path / "a", (5, 5))
    assert find_files([str(tmp_path / "a")]) == ([File(str(tmp_path / "a"), 2, 5.0)], [])

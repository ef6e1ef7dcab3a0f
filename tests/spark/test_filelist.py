"""The file list of a stream: positions never change, even after a crash."""

import itertools
import json
import os
from pathlib import Path

import pytest

from rdfm.errors import OptionError
from rdfm.spark.streams import filelist
from rdfm.spark.streams.filelist import FileList
from rdfm.storage.files import File, LocalStorage, RemoteStorage


class Killed(BaseException):
    """Simulates the death of the process."""


class FragileStorage(LocalStorage):
    """A storage that fails before or after one change to the disk, or leaves half a file."""

    def __init__(self, fatal_step, failure):
        self.steps = itertools.count()
        self.fatal_step = fatal_step
        self.failure = failure

    def _change(self, change, write_half=None):
        is_fatal = next(self.steps) == self.fatal_step
        if is_fatal and self.failure == "before":
            raise Killed
        if is_fatal and self.failure == "half" and write_half is not None:
            write_half()
            raise Killed
        change()
        if is_fatal:
            raise Killed

    def write_file(self, path, data):
        def write_half():
            Path(path).write_bytes(data[: len(data) // 2])

        # The head is always written completely: lists require storage that writes small files
        # atomically.
        self._change(
            lambda: LocalStorage.write_file(self, path, data),
            None if path.endswith("list.json") else write_half,
        )

    def create_file(self, path, data):
        self._change(
            lambda: LocalStorage.create_file(self, path, data),
            lambda: Path(path).write_bytes(data[: len(data) // 2]),
        )
        return True

    def remove(self, path):
        self._change(lambda: LocalStorage.remove(self, path))


@pytest.fixture(autouse=True)
def without_fsync(monkeypatch):
    """Disables fsync, since no test cuts the power."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def file(number):
    return File(f"/logs/part-{number}.nq", number + 1, number + 0.125)


def test_files_keep_their_positions_when_the_list_is_reopened(tmp_path):
    first = FileList(str(tmp_path))
    first.add([file(3), file(1)])
    first.add([file(1), file(2), file(2)])
    reopened = FileList(str(tmp_path))
    assert reopened.files == first.files == [file(3), file(1), file(2)]
    assert reopened.name == first.name
    reopened.add([file(0)])
    assert FileList(str(tmp_path)).files == [file(3), file(1), file(2), file(0)]


def test_any_name_and_an_unknown_time_are_kept(tmp_path):
    files = [File('/l/a "b"\n%20é\udcff🙂.nq', 0, None), File("s3://b/c", 1 << 50, 1e9 + 0.1)]
    FileList(str(tmp_path)).add(files)
    assert FileList(str(tmp_path)).files == files


def test_a_list_may_be_a_url():
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem.store.clear()
    FileList("memory://state/list/").add([file(1)])
    reopened = FileList("memory://state/list")
    reopened.add([file(2)])
    assert FileList("memory://state/list").files == [file(1), file(2)]
    assert isinstance(reopened._storage, RemoteStorage)


def test_a_later_owner_of_the_list_stops_the_earlier_owner(tmp_path):
    earlier = FileList(str(tmp_path))
    earlier.add([file(1)])
    later = FileList(str(tmp_path))
    with pytest.raises(OptionError, match="set a separate one for each query"):
        earlier.add([file(2)])
    later.add([file(3)])
    assert FileList(str(tmp_path)).files == [file(1), file(3)]


def test_a_list_merged_by_another_process_is_listed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(filelist, "_MERGE_SEGMENTS", 3)
    earlier = FileList(str(tmp_path))
    for number in range(3):
        earlier.add([file(number)])
    earlier._check_owner = lambda: None  # as if the owner had been checked before
    original = LocalStorage.read_file

    def merge_before_read(storage, path):
        if Path(path).name.startswith("files-"):
            monkeypatch.setattr(LocalStorage, "read_file", original)
            earlier.merge()
        return original(storage, path)

    monkeypatch.setattr(LocalStorage, "read_file", merge_before_read)
    later = FileList(str(tmp_path))
    assert later.files == [file(0), file(1), file(2)]
    later.add([file(3)])
    assert FileList(str(tmp_path)).files == later.files


def test_a_list_that_keeps_losing_files_is_an_error(tmp_path, monkeypatch):
    FileList(str(tmp_path)).add([file(1)])
    original = LocalStorage.read_file

    def fail(storage, path):
        if Path(path).name.startswith("files-"):
            raise FileNotFoundError(path)
        return original(storage, path)

    monkeypatch.setattr(LocalStorage, "read_file", fail)
    with pytest.raises(OptionError, match="set a separate one for each query"):
        FileList(str(tmp_path))


def test_one_of_two_concurrent_additions_fails(tmp_path):
    """Both lists may pass the owner check, because checking and adding are separate steps."""
    earlier = FileList(str(tmp_path))
    earlier._check_owner = lambda: None
    later = FileList(str(tmp_path))
    later.add([file(1)])
    with pytest.raises(OptionError, match="set a separate one for each query"):
        earlier.add([file(2)])
    assert FileList(str(tmp_path)).files == [file(1)]


def test_adding_known_files_writes_nothing(tmp_path):
    files = FileList(str(tmp_path))
    files.add([file(1)])
    names = sorted(path.name for path in tmp_path.iterdir())
    files.add([file(1)])
    files.add([])
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_many_additions_are_merged_without_changing_positions(tmp_path):
    files = FileList(str(tmp_path))
    max_files = 0
    for number in range(1000):
        files.add([file(number)])
        files.merge()
        max_files = max(max_files, len(list(tmp_path.iterdir())))
    assert max_files < 70
    assert files.files == [file(number) for number in range(1000)]
    assert FileList(str(tmp_path)).files == files.files


@pytest.mark.slow
@pytest.mark.parametrize("failure", ["before", "after", "half"])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_list(tmp_path, monkeypatch, failure):
    monkeypatch.setattr(filelist, "_MERGE_SEGMENTS", 3)
    for step in range(200):
        folder = tmp_path / f"{step}"
        storage = FragileStorage(step, failure)
        monkeypatch.setattr(
            filelist, "find_storage", lambda path, _, replacement=storage: (replacement, path)
        )
        added_pairs = number = 0
        try:
            files = FileList(str(folder))
            for number in range(9):
                files.add([file(2 * number), file(2 * number + 1)])
                added_pairs = number + 1
                files.merge()
        except Killed:
            pass
        else:
            break
        monkeypatch.undo()
        monkeypatch.setattr(filelist, "_MERGE_SEGMENTS", 3)
        reopened = FileList(str(folder))
        pairs = len(reopened.files) // 2
        assert reopened.files == [file(index) for index in range(2 * pairs)]
        assert pairs in (added_pairs, number + 1)
        # The stream continues, and leftover files have no effect.
        for number in range(pairs, 14):
            reopened.add([file(2 * number), file(2 * number + 1)])
            reopened.merge()
        assert FileList(str(folder)).files == [file(index) for index in range(28)]
    else:
        pytest.fail("every run was killed")
    assert step > 20


def test_a_missing_segment_is_an_error(tmp_path):
    files = FileList(str(tmp_path))
    for number in range(3):
        files.add([file(number)])
    (tmp_path / "files-000000000001.json").unlink()
    with pytest.raises(OptionError, match="lacks entries 1 to 1"):
        FileList(str(tmp_path))


@pytest.mark.parametrize("head", [b"", b"[]", b'{"version": 2, "name": "x"}', b'{"version": 1}'])
def test_a_folder_with_other_content_is_rejected(tmp_path, head):
    (tmp_path / "list.json").write_bytes(head)
    with pytest.raises(OptionError, match="to a separate folder"):
        FileList(str(tmp_path))
    assert (tmp_path / "list.json").read_bytes() == head


def test_limits_include_at_least_one_file(tmp_path):
    files = FileList(str(tmp_path))
    files.add([File(f"/{at}", size, None) for at, size in enumerate((10, 10, 50, 0, 10))])
    assert files.batch_end(0) == 5
    assert [files.batch_end(start, files=2) for start in (0, 3, 4, 5)] == [2, 5, 5, 5]
    assert [files.batch_end(start, size=20) for start in range(6)] == [2, 2, 3, 5, 5, 5]
    assert files.batch_end(0, size=9) == 1


def test_the_list_is_stored_as_json(tmp_path):
    FileList(str(tmp_path)).add([file(1)])
    (segment,) = tmp_path.glob("files-*.json")
    assert json.loads(segment.read_text()) == [["/logs/part-1.nq", 2, 1.125]]

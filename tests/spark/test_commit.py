"""Commits are atomic, despite crashes and concurrent writers."""

import errno
import itertools
import json
import os
import threading
import time

import pytest

from rdfm.spark.writers.commit import CommitTarget, FolderCommit, find_settled, stream_job
from rdfm.storage.files import find_storage

CHANGES = ("write_file", "create_file", "rename", "remove", "remove_folder", "open_new")


class Crash(BaseException):
    """Simulates the death of the process."""


class ObservedStorage:
    """A storage that calls `step(name, arguments)` before and after each change."""

    def __init__(self, storage, step):
        self._storage, self._step = storage, step

    def __getattr__(self, name):
        method = getattr(self._storage, name)
        if name not in CHANGES:
            return method

        def call(*arguments):
            self._step(name, arguments)
            result = method(*arguments)
            if name != "open_new":  # the file is still open
                self._step(f"{name} done", arguments)
            return result

        return call


@pytest.fixture(params=["local", "memory"])
def target(request, tmp_path):
    """A folder with two logs and a subfolder with one."""
    if request.param == "memory":
        pytest.importorskip("fsspec")
    root = str(tmp_path / "logs") if request.param == "local" else f"memory://{tmp_path}/logs"
    storage, path = find_storage(root)
    storage.make_folder(f"{path}/sub")
    for name in OLD_LOGS:
        storage.write_file(f"{path}/{name}", b"old")
    yield CommitTarget(storage, path)
    storage.remove_folder(path)


OLD_LOGS = ["a.nq", "b.nq", "sub/c.nq"]
NEW_LOGS = ["part-0.nq", "part-1.nq", "part-2.nq"]


def stage(target, job="job", names=NEW_LOGS):
    """Starts a job with one attempt. Returns its parts."""
    target.begin(job)
    folder = target.create_attempt(job, "0")
    for name in names:
        file = target.storage.open_new(f"{folder}/{name}")
        file.write(b"new")
        target.storage.finish(file)
    return tuple(f"0/{name}" for name in names)


def write(target, kind="append", job="job", names=NEW_LOGS, on_step=None, **settings):
    """Runs a complete write. Calls `on_step` at each step of the commit."""
    commit = FolderCommit(job, stage(target, job, names), **settings)
    storage = ObservedStorage(target.storage, on_step) if on_step else target.storage
    return CommitTarget(storage, target.folder).commit(commit, replaces=kind == "overwrite")


def logs(target):
    return [name for name in target.visible_files() if name != "_SUCCESS"]


def visible_logs(target):
    """Returns the logs that rdfm's reader sees, as paths in the folder."""
    found = find_settled([target.folder], recursive=True)
    return sorted(file.path.removeprefix(target.folder).lstrip("/") for file in found)


def expected(kind):
    return sorted(NEW_LOGS if kind == "overwrite" else [*OLD_LOGS, *NEW_LOGS])


def remaining_files(target):
    """Returns the remaining files of the commit protocol, except records and `ours`."""
    found = [file.path for file in target.storage.list_files(target.folder, recursive=True)]
    return [
        path
        for path in found
        if "/_rdfm/" in path and "/commits/" not in path and not path.endswith("/ours")
    ]


@pytest.mark.parametrize("kind", ["append", "overwrite"])
def test_a_commit_makes_all_parts_visible_and_leaves_no_other_files(target, kind):
    assert write(target, kind)
    assert visible_logs(target) == expected(kind)
    assert target.storage.exists(f"{target.folder}/_SUCCESS")
    assert remaining_files(target) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["append", "overwrite"])
@pytest.mark.parametrize("settings", [{}, {"write_id": "once"}, {"query": "q", "batch": 3}])
def test_a_crash_at_any_step_leaves_all_parts_or_none(target, kind, settings):
    outcomes = set()
    for count in itertools.count():
        for name in target.visible_files():
            target.storage.remove(f"{target.folder}/{name}")
        target.storage.remove_folder(f"{target.folder}/_rdfm")
        for name in OLD_LOGS:
            target.storage.write_file(f"{target.folder}/{name}", b"old")
        steps = iter(range(count))

        def step(*_, steps=steps):
            if next(steps, None) is None:
                raise Crash

        try:
            write(target, kind, on_step=step, **settings)
        except Crash:
            pass
        else:
            break
        journals = target.storage.list_names(f"{target.folder}/_rdfm/journal")
        found = visible_logs(target)
        assert found in (OLD_LOGS, expected(kind))
        if [name for name in journals if name.endswith(".json")]:
            assert found == expected(kind)
        outcomes.add(tuple(found))
        # Repeats the write from the beginning.
        if settings:
            target.remove_orphan_files(0)
            assert write(target, kind, "again", **settings) is (found == OLD_LOGS)
            assert visible_logs(target) == expected(kind)
            assert remaining_files(target) == []
    assert outcomes == {tuple(OLD_LOGS), tuple(expected(kind))}
    assert count > 12


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["append", "overwrite"])
def test_another_process_may_finish_the_commit_at_any_step(target, kind):
    """At one step of a commit, another process finishes the commit and performs a later write."""
    for count in itertools.count():
        for name in logs(target):
            target.storage.remove(f"{target.folder}/{name}")
        for name in OLD_LOGS:
            target.storage.write_file(f"{target.folder}/{name}", b"old")
        steps = itertools.count()
        interruptions = []

        def step(*_, count=count, steps=steps, interruptions=interruptions):
            if next(steps) == count:
                interruptions.append(1)
                target.settle()
                following = FolderCommit(
                    "next", stage(target, "next", ["x.nq"]), query="q", batch=9999
                )
                target.commit(following)

        assert write(target, kind, on_step=step, query="q", batch=count * 2) or interruptions
        if not interruptions:
            break
        with_both_writes = sorted([*expected(kind), "x.nq"])
        found = visible_logs(target)
        # A batch is considered done if a later batch of its query is recorded.
        assert found in (with_both_writes, sorted([*OLD_LOGS, "x.nq"]))
        assert target.last_batch("q") == 9999
        assert remaining_files(target) == []
        target.storage.remove_folder(f"{target.folder}/_rdfm/commits")
    assert count > 12


@pytest.mark.parametrize("kind", ["append", "overwrite"])
def test_a_reader_during_a_commit_sees_all_parts_or_none(target, kind):
    views = []

    def step(name, arguments):
        views.append(visible_logs(target))

    write(target, kind, on_step=step)
    assert views[0] == OLD_LOGS
    assert views[-1] == expected(kind)
    assert all(view in (OLD_LOGS, expected(kind)) for view in views)


def test_a_commit_during_a_listing_is_seen_completely(tmp_path, monkeypatch):
    from rdfm.storage.files import LocalStorage

    target = CommitTarget.from_path(str(tmp_path))
    for name in OLD_LOGS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"old")
    original, overwrites = LocalStorage.list_files, []

    def files(self, folder, *, recursive=False):
        """Lists the folder; another process overwrites everything after the first file."""
        for file in original(self, folder, recursive=recursive):
            yield file
            if not overwrites and folder == str(tmp_path):
                overwrites.append(1)
                write(target, "overwrite")

    stage(target, "before")  # so that readers expect commits in the folder
    monkeypatch.setattr(LocalStorage, "list_files", files)
    assert visible_logs(target) == NEW_LOGS


def test_a_folder_that_keeps_changing_is_an_error(tmp_path, monkeypatch):
    from rdfm.spark.writers import commit

    monkeypatch.setattr(commit, "_LISTING_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(commit, "_TRIES", 2)
    CommitTarget.from_path(str(tmp_path)).begin("job")
    found = itertools.count()
    monkeypatch.setattr(
        commit,
        "find_files",
        lambda paths, **_: ([commit.File(f"{tmp_path}/{next(found)}", 0, None)], []),
    )
    with pytest.raises(OSError, match="changes faster"):
        find_settled([str(tmp_path)])


@pytest.mark.slow
def test_many_threads_can_settle_commits_at_once(tmp_path):
    target = CommitTarget.from_path(str(tmp_path))
    names = [f"part-{number}.nq" for number in range(40)]
    for batch_number in range(10):
        commit = FolderCommit(
            f"job{batch_number}",
            stage(target, f"job{batch_number}", names),
            query="q",
            batch=batch_number,
        )
        data = json.dumps({"version": 1, **commit.__dict__})
        (tmp_path / "_rdfm/journal" / f"{commit.name}.json").write_text(data)
        errors = []

        def settle(errors=errors):
            try:
                target.settle()
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=settle) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert logs(target) == sorted(names)
        assert target.last_batch("q") == batch_number
        assert remaining_files(target) == []


def test_two_drivers_with_the_same_write_id_append_once(target):
    first = FolderCommit("first", stage(target, "first"), write_id="load of Monday")
    second = FolderCommit(
        "second", stage(target, "second", ["other.nq"]), write_id="load of Monday"
    )
    assert target.commit(first)
    assert not target.commit(second)
    assert target.is_written("load of Monday")
    assert not target.is_written("load of Tuesday")
    assert logs(target) == expected("append")
    assert remaining_files(target) == []


def test_batches_are_recorded_by_number(target):
    assert target.last_batch("q") == -1
    for batch in (0, 1, 2):
        parts = stage(target, "job", [f"b{batch}.nq"])
        assert target.commit(FolderCommit("job", parts, marks=False, query="q", batch=batch))
    for batch in (2, 1):
        parts = stage(target, "job", ["again.nq"])
        assert not target.commit(FolderCommit("job", parts, marks=False, query="q", batch=batch))
    assert target.last_batch("q") == 2
    assert target.last_batch("other") == -1
    assert [name for name in logs(target) if name.startswith("b")] == [
        "b.nq",
        "b0.nq",
        "b1.nq",
        "b2.nq",
    ]
    assert target.storage.list_names(f"{target.folder}/_rdfm/commits/query-q") == ["2"]
    assert not target.storage.exists(f"{target.folder}/_SUCCESS")


def test_one_of_two_concurrent_overwrites_replaces_the_other(target):
    """The second overwrite runs completely at one step of the first."""
    for count in itertools.count():
        steps = itertools.count()
        first, second = [f"{count}-{name}" for name in NEW_LOGS], [f"{count}-other.nq"]
        interruptions = []

        def step(*_, count=count, steps=steps, interruptions=interruptions, second=second):
            if next(steps) == count:
                interruptions.append(1)
                assert write(target, "overwrite", f"other{count}", second)

        assert write(target, "overwrite", f"job{count}", first, step)
        assert visible_logs(target) in (first, second)
        assert remaining_files(target) == []
        if not interruptions:
            break
    assert visible_logs(target) == first
    assert count > 12
    assert len(target.storage.list_names(f"{target.folder}/_rdfm/commits/overwrites")) == 1


@pytest.mark.slow
def test_an_overwrite_waits_until_the_folder_is_stable(tmp_path, monkeypatch):
    from rdfm.spark.writers import commit

    monkeypatch.setattr(commit, "_LISTING_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(commit, "_TRIES", 1)
    target = CommitTarget.from_path(str(tmp_path))
    parts, turns, visible = stage(target), itertools.count(), target._visible
    target._visible = lambda: [*visible(), *([f"x{turn}"] if (turn := next(turns)) < 30 else [])]
    assert target.commit(FolderCommit("job", parts), replaces=True)
    assert visible_logs(target) == NEW_LOGS


def test_a_failure_before_the_commit_is_undone(target):
    def step(name, arguments):
        if name == "create_file":
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write(target, "overwrite", on_step=step)
    target.drop("job")  # as Spark does when it aborts after a failed commit
    assert visible_logs(target) == OLD_LOGS
    assert remaining_files(target) == []


def test_a_failure_after_the_commit_is_reported_and_kept(target):
    def step(name, arguments):
        if name == "rename":
            raise OSError(errno.EIO, "broken wire")

    with pytest.raises(OSError, match=r"committed.*do not repeat the write.*broken wire"):
        write(target, "overwrite", on_step=step)
    target.drop("job")
    assert visible_logs(target) == NEW_LOGS


def test_a_missing_part_is_an_error_before_the_commit(target):
    parts = stage(target)
    with pytest.raises(FileNotFoundError, match=r"are missing \(1 of 4\), such as 0/lost.nq"):
        target.commit(FolderCommit("job", (*parts, "0/lost.nq")))
    assert visible_logs(target) == OLD_LOGS


ACCESS_ERRORS = [
    PermissionError(errno.EACCES, "Permission denied"),
    PermissionError("Access Denied"),  # raised by s3fs
    OSError(errno.EROFS, "Read-only file system"),
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EDQUOT, "Disk quota exceeded"),
]


def crash_at(target, change, kind="append"):
    """Simulates a crash immediately before a change with the given name."""

    def step(name, arguments):
        if name == change:
            raise Crash

    with pytest.raises(Crash):
        write(target, kind, on_step=step)


def deny(monkeypatch, target, names, error, *, allowed=None):
    """Denies some changes to all storages of this kind but one."""
    kind = type(target.storage)

    def denied(original):
        def call(storage, *arguments):
            if storage is not allowed:
                raise error
            return original(storage, *arguments)

        return call

    for name in names:
        monkeypatch.setattr(kind, name, denied(getattr(kind, name)))


@pytest.mark.parametrize("error", ACCESS_ERRORS)
def test_a_reader_without_write_access_reports_the_cause(target, monkeypatch, error):
    crash_at(target, "rename")
    monkeypatch.setattr("rdfm.spark.writers.commit._COMMIT_WAIT_SECONDS", 0.2)
    deny(monkeypatch, target, ["rename"], error)
    with pytest.raises(OSError, match=r"not complete.*write permission") as raised:
        find_settled([target.folder])
    assert str(error.args[-1]) in str(raised.value)


@pytest.mark.parametrize("error", ACCESS_ERRORS)
def test_a_reader_without_write_access_waits_for_the_writer(target, monkeypatch, error):
    crash_at(target, "rename", "overwrite")
    deny(monkeypatch, target, CHANGES, error, allowed=target.storage)
    driver = threading.Timer(0.3, target.settle)
    driver.start()
    assert visible_logs(target) == expected("overwrite")
    driver.join()


@pytest.mark.parametrize("error", ACCESS_ERRORS)
@pytest.mark.parametrize("kind", ["append", "overwrite"])
def test_a_reader_does_not_need_write_access_if_all_parts_are_moved(
    target, monkeypatch, kind, error
):
    crash_at(target, "open_new", kind)  # before _SUCCESS is written
    deny(monkeypatch, target, CHANGES, error)
    assert visible_logs(target) == expected(kind)
    monkeypatch.setattr("rdfm.spark.writers.commit._COMMIT_WAIT_SECONDS", 0.1)
    with pytest.raises(OSError, match="is not complete"):  # a writer needs write access
        target.settle()


PATHS = [
    ("", True, ["out", "a/out2"]),
    ("*", False, ["out"]),
    ("**", False, ["out", "a/out2"]),
    ("out/*.nq", False, ["out"]),
    ("out/part-?.{nq,nt}", False, ["out"]),
    ("out/part-0.nq", False, ["out"]),
    ("*/*.nq", False, ["out"]),
    ("a/*/*.nq", False, ["a/out2"]),
    ("**/*.nq", False, ["out", "a/out2"]),
    ("a", True, ["a/out2"]),
]


@pytest.mark.parametrize(("path", "recursive", "folders"), PATHS)
@pytest.mark.parametrize("with_other_files", [False, True])
def test_interrupted_commits_are_finished_for_any_path(
    target, path, recursive, folders, with_other_files
):
    """The path may be a parent folder, a glob or a file name."""
    root = target.folder
    for name in ("out", "a/out2"):
        crash_at(CommitTarget(target.storage, f"{root}/{name}"), "rename")
        if with_other_files:
            target.storage.write_file(f"{root}/{name}/other.nq", b"")
    found = {file.path for file in find_settled([f"{root}/{path}"], recursive=recursive)}
    expected_names = NEW_LOGS if "part-0" not in path else ["part-0.nq"]
    for name in folders:
        assert {f"{root}/{name}/{part}" for part in expected_names} <= found


def test_a_lost_part_and_an_invalid_journal_raise_errors(target):
    crash_at(target, "rename")
    target.storage.remove(f"{target.folder}/_rdfm/staging/job/0/part-1.nq")
    with pytest.raises(FileNotFoundError, match=r"remove .*job-job\.json"):
        visible_logs(target)
    journal = f"{target.folder}/_rdfm/journal/job-job.json"
    for invalid in (b"", b"{}"):
        target.storage.write_file(journal, invalid)
        with pytest.raises(
            OSError,
            match=r"the journal of a write cannot be read .*remove it.*abandon.*job-job\.json",
        ):
            visible_logs(target)


def test_a_dropped_job_is_closed(target):
    stage(target)
    assert target.is_open("job")
    target.drop("job")
    assert not target.is_open("job")
    assert remaining_files(target) == []


def test_only_old_jobs_are_removed_as_abandoned(tmp_path):
    target = CommitTarget.from_path(str(tmp_path))
    stage(target, "old")
    stage(target, "young")
    week_ago = time.time() - 7 * 24 * 3600 - 1
    for path in (tmp_path / "_rdfm/staging/old").rglob("*"):
        os.utime(path, (week_ago, week_ago))
    (tmp_path / "_rdfm/staging/about to begin").mkdir()
    (tmp_path / "_rdfm/staging/never begun").mkdir()
    os.utime(tmp_path / "_rdfm/staging/never begun", (week_ago, week_ago))
    assert target.remove_orphan_files() == ["never begun", "old"]
    assert target.is_open("young")
    assert target.remove_orphan_files(0) == ["about to begin", "young"]


def test_jobs_that_cannot_be_removed_are_not_reported_as_removed(tmp_path, monkeypatch):
    target = CommitTarget.from_path(str(tmp_path))
    stage(target, "stays")
    monkeypatch.setattr(type(target.storage), "remove_folder", lambda *_: None)
    assert target.remove_orphan_files(0) == []


def test_a_late_attempt_does_not_reopen_a_closed_job(tmp_path):
    target = CommitTarget.from_path(str(tmp_path))
    stage(target)
    target.drop("job")
    with pytest.raises(FileNotFoundError):
        target.create_attempt("job", "late")
    assert target.storage.list_names(f"{target.folder}/_rdfm/staging") == []


def test_parts_of_a_closed_job_are_removed_by_the_next_write(target):
    """On storage without folders, a late attempt that is killed can leave such parts."""
    stage(target, "over")
    stage(target, "going on")
    target.storage.remove(f"{target.folder}/_rdfm/staging/over/open")
    job = stream_job("q", 0, "a")
    target.storage.finish(target.storage.open_new(f"{target.create_attempt(job, '0')}/part.nq"))
    assert target.remove_orphan_files() == ["over"]


def test_staging_folders_of_finished_batches_are_removed(target):
    for query, batch in (("q", 0), ("q", 1), ("q", 2), ("q2", 0)):
        target.create_attempt(stream_job(query, batch, "a"), "0")
    target.drop_older("q", 1)
    staging = f"{target.folder}/_rdfm/staging"
    assert target.storage.list_names(staging) == ["stream-q-2-a", "stream-q2-0-a"]


@pytest.mark.skipif(os.name == "nt", reason="needs file names with backslashes")
def test_an_overwrite_removes_files_with_backslashes_in_their_names(tmp_path):
    (tmp_path / "a\\b.nq").write_bytes(b"")
    write(CommitTarget.from_path(str(tmp_path)), "overwrite")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_SUCCESS", "_rdfm", *NEW_LOGS]


def test_hidden_files_are_kept(target):
    target.storage.write_file(f"{target.folder}/_hidden", b"x")
    target.storage.write_file(f"{target.folder}/.hidden", b"x")
    write(target, "overwrite")
    assert {"_hidden", ".hidden"} <= set(target.storage.list_names(target.folder))


def test_folders_without_commits_are_listed_once(tmp_path, monkeypatch):
    from rdfm.spark.writers import commit

    (tmp_path / "a.nq").write_bytes(b"")
    calls = []
    original = commit.find_files
    monkeypatch.setattr(commit, "find_files", lambda *a, **k: calls.append(1) or original(*a, **k))
    assert [file.path for file in find_settled([str(tmp_path)])] == [str(tmp_path / "a.nq")]
    assert len(calls) == 1


def test_globs_ignore_unfinished_commits(tmp_path):
    target = CommitTarget.from_path(str(tmp_path / "out"))
    target.begin("job")
    (tmp_path / "out" / "a.nq").write_bytes(b"")
    (tmp_path / "out" / "_SUCCESS").write_bytes(b"")
    (tmp_path / "out" / "_rdfm/staging/job/part.nq").write_bytes(b"")
    for pattern in ("out/**", "out/*", "*/*", "**/*.nq", "out/a*"):
        found = find_settled([str(tmp_path / pattern)], recursive=True)
        assert [file.path for file in found] == [str(tmp_path / "out" / "a.nq")], pattern


def test_only_folders_are_checked_for_running_commits(tmp_path, monkeypatch):
    checked = []
    original = CommitTarget.has_records
    monkeypatch.setattr(
        CommitTarget,
        "has_records",
        lambda target: checked.append(target.folder) or original(target),
    )
    paths = [tmp_path / f"{number}.nq" for number in range(20)]
    for path in paths:
        path.write_bytes(b"")
    (tmp_path / "empty").mkdir()
    find_settled([*map(str, paths), f"{tmp_path}/", f"{tmp_path}/*.nq", str(tmp_path / "empty")])
    assert sorted(checked) == [str(tmp_path), str(tmp_path / "empty")]

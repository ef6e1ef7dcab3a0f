"""Concurrent writers, streams, readers and cleaners of one folder, some of which die."""

import contextlib
import random
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfm.spark.commit import CommitTarget, FolderCommit, find_settled
from rdfm.storage.files import LocalStorage

STEPS = (
    "files",
    "names",
    "exists",
    "make_folder",
    "open_new",
    "read_whole",
    "write_whole",
)
STEPS += ("create_whole", "rename", "remove", "remove_folder")
OLD = {"old-0", "old-1"}
acting = threading.local()


class Died(BaseException):
    """Ends the process of an actor."""


class Actor(threading.Thread):
    """Runs a function in a thread that waits for permission before each file operation."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act = act
        self.waits, self.may_go = threading.Semaphore(0), threading.Semaphore(0)
        self.over = self.dies = self.dead = False
        self.error = None

    def run(self):
        acting.actor = self
        try:
            self.step()
            self.act()
        except Died:
            pass
        except Exception as error:
            self.error = error
        self.over = True
        self.waits.release()

    def step(self):
        if self.dead:  # a killed process does not run exception handlers
            raise Died
        self.waits.release()
        self.may_go.acquire()
        if self.dies:
            self.dead = True
            raise Died


def watched(method):
    def call(*arguments, **options):
        actor = getattr(acting, "actor", None)
        if actor is not None:
            actor.step()
        return method(*arguments, **options)

    return call


@contextlib.contextmanager
def in_steps():
    """Makes every storage method wait for its turn."""
    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(LocalStorage, name, watched(getattr(LocalStorage, name)))
        patch.setattr("os.fsync", lambda _: None)
        yield


def run_in_turns(actors, chance, deaths):
    """Lets random actors continue one step at a time; some die at some step."""
    for actor in actors:
        actor.start()
        actor.waits.acquire()
    while alive := [actor for actor in actors if not actor.over]:
        actor = chance.choice(alive)
        if deaths and chance.random() < 0.02:
            deaths -= 1
            actor.dies = True
        # A few steps at a time, so that some make progress while others wait.
        for _ in range(chance.choice((1, 1, 2, 5, 20))):
            if not actor.over:
                actor.may_go.release()
                actor.waits.acquire()
    for actor in actors:
        actor.join()


def staged(target, job, names):
    target.begin(job)
    folder = Path(target.attempt(job, "0"))
    for name in names:
        (folder / name).write_bytes(b"")
    return tuple(f"0/{name}" for name in names)


def names_of(job):
    return {f"{job}-{number}" for number in range(3)}


@given(seed=st.integers(0, 1 << 32), overwrites=st.booleans(), deaths=st.integers(0, 3))
def test_commits_are_atomic_and_happen_once(seed, overwrites, deaths):
    with tempfile.TemporaryDirectory() as folder, in_steps():
        target = CommitTarget.of(folder)
        for name in OLD:
            Path(folder, name).write_bytes(b"")
        views = []

        def view():
            found = find_settled([folder])
            views.append({Path(file.path).name for file in found})

        def writer(job, write_id=None, overwrite=False):
            parts = staged(target, job, names_of(job))

            def act():
                target.clean()
                target.commit(FolderCommit(job, parts, write_id=write_id), replaces=overwrite)

            return Actor(act)

        def stream(who):
            jobs = [f"batch{number}{who}" for number in range(2)]
            parts = [staged(target, job, names_of(job)) for job in jobs]

            def act():
                for number, job in enumerate(jobs):
                    target.commit(
                        FolderCommit(job, parts[number], (), False, query="q", batch=number)
                    )

            return Actor(act)

        def read():
            for _ in range(3):
                view()

        once = [writer("onceA", "once"), writer("onceB", "once")]
        streams = [stream("A"), stream("B")]
        plain = writer("plain")
        others = [Actor(read), Actor(read), Actor(target.clean)]
        if overwrites:
            others += [writer("all", overwrite=True), writer("other", overwrite=True)]
        actors = [*once, *streams, plain, *others]
        run_in_turns(actors, random.Random(seed), deaths)
        for actor in actors:
            if actor.error is not None:
                raise actor.error
        view()
        jobs = [
            "onceA",
            "onceB",
            "batch0A",
            "batch0B",
            "batch1A",
            "batch1B",
            "plain",
            "all",
            "other",
        ]
        for seen in views:
            whole = {job for job in jobs if names_of(job) <= seen}
            assert seen - OLD == set().union(*map(names_of, whole))
            assert (seen & OLD) == (set() if {"all", "other"} & whole else OLD)
            assert not {"all", "other"} <= whole
            for pair in (jobs[0:2], jobs[2:4], jobs[4:6]):
                assert len(whole.intersection(pair)) <= 1
        if not overwrites:
            # Commits of a driver that is alive are kept.
            assert plain.dead or names_of("plain") <= views[-1]
            if not all(actor.dead for actor in once):
                assert len({"onceA-0", "onceB-0"} & views[-1]) == 1
            if not all(actor.dead for actor in streams):
                for number in range(2):
                    assert len({f"batch{number}A-0", f"batch{number}B-0"} & views[-1]) == 1
        target.remove_abandoned(0)
        left = [path for path in Path(folder, "_rdfm").rglob("*") if path.is_file()]
        assert [path for path in left if "commits" not in path.parts] == [
            Path(folder, "_rdfm/ours")
        ]

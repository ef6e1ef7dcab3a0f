"""Writers, streams, readers and cleaners use one folder concurrently, and some of them die."""

import contextlib
import random
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfm.spark.writers.commit import CommitTarget, FolderCommit, find_settled
from rdfm.storage.files import LocalStorage

# Storage methods before which an actor waits for its turn.
STEPS = (
    "list_files",
    "list_names",
    "exists",
    "make_folder",
    "open_new",
    "read_file",
    "write_file",
    "create_file",
    "rename",
    "remove",
    "remove_folder",
)
OLD_FILES = {"old-0", "old-1"}
current = threading.local()


class ProcessDied(BaseException):
    """Simulates the death of an actor's process."""


class Actor(threading.Thread):
    """Runs a function in a thread that waits for permission before each file operation."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act = act
        self.waits, self.may_go = threading.Semaphore(0), threading.Semaphore(0)
        self.ended = self.must_die = self.dead = False
        self.error = None

    def run(self):
        current.actor = self
        try:
            self.step()
            self.act()
        except ProcessDied:
            pass
        except Exception as error:
            self.error = error
        self.ended = True
        self.waits.release()

    def step(self):
        if self.dead:  # a killed process does not run exception handlers
            raise ProcessDied
        self.waits.release()
        self.may_go.acquire()
        if self.must_die:
            self.dead = True
            raise ProcessDied


def in_turn(method):
    def call(*arguments, **options):
        actor = getattr(current, "actor", None)
        if actor is not None:
            actor.step()
        return method(*arguments, **options)

    return call


@contextlib.contextmanager
def in_steps():
    """Makes each actor wait for its turn before it calls a storage method in `STEPS`."""
    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(LocalStorage, name, in_turn(getattr(LocalStorage, name)))
        patch.setattr("os.fsync", lambda _: None)
        yield


def run_in_turns(actors, generator, deaths):
    """Runs the actors in turns, in random order. Up to `deaths` of them die."""
    for actor in actors:
        actor.start()
        actor.waits.acquire()
    while alive := [actor for actor in actors if not actor.ended]:
        actor = generator.choice(alive)
        if deaths and generator.random() < 0.02:
            deaths -= 1
            actor.must_die = True
        # Several steps at a time, so that some actors make progress while others wait.
        for _ in range(generator.choice((1, 1, 2, 5, 20))):
            if not actor.ended:
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
        for name in OLD_FILES:
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

        def stream(suffix):
            jobs = [f"batch{number}{suffix}" for number in range(2)]
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

        same_id = [writer("onceA", "once"), writer("onceB", "once")]
        streams = [stream("A"), stream("B")]
        plain = writer("plain")
        others = [Actor(read), Actor(read), Actor(target.clean)]
        if overwrites:
            others += [writer("all", overwrite=True), writer("other", overwrite=True)]
        actors = [*same_id, *streams, plain, *others]
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
        for visible in views:
            complete = {job for job in jobs if names_of(job) <= visible}
            assert visible - OLD_FILES == set().union(*map(names_of, complete))
            assert (visible & OLD_FILES) == (set() if {"all", "other"} & complete else OLD_FILES)
            assert not {"all", "other"} <= complete
            for pair in (jobs[0:2], jobs[2:4], jobs[4:6]):
                assert len(complete.intersection(pair)) <= 1
        if not overwrites:
            # Commits of a driver that is alive are kept.
            assert plain.dead or names_of("plain") <= views[-1]
            if not all(actor.dead for actor in same_id):
                assert len({"onceA-0", "onceB-0"} & views[-1]) == 1
            if not all(actor.dead for actor in streams):
                for number in range(2):
                    assert len({f"batch{number}A-0", f"batch{number}B-0"} & views[-1]) == 1
        target.remove_orphan_files(0)
        remaining = [path for path in Path(folder, "_rdfm").rglob("*") if path.is_file()]
        assert [path for path in remaining if "commits" not in path.parts] == [
            Path(folder, "_rdfm/ours")
        ]

"""How signals end the command.

In: SIGINT, SIGTERM and SIGHUP, each unless it was ignored when the command began. Out: one line on
standard error and the exit code 130; or the end by SIGPIPE.
Cost: a thread that waits. Law: the command ends within about a second, whatever native code is at, and
what is unfinished is removed before.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

__all__ = ["CODE", "begin", "die_of_pipe", "end", "tell", "unwinding", "watch"]

CODE = 130
GRACE_SECONDS = 0.7
_KINDS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]

# What was there before, by signal; empty where signals are left alone.
_before: dict[int, Any] = {}
_unwinds = False  # whether something has to be ended in order
_told = False
_pipe: tuple[int, int] | None = None  # what wakes the watching thread


def begin() -> None:
    """From here on a signal ends the process at once; in other threads than the main one do nothing."""
    global _told
    _told = False
    for kind in _KINDS:
        # One that is ignored, as in the background of a shell or with nohup, stays so.
        if signal.getsignal(kind) not in (signal.SIG_IGN, None):
            try:
                _before[kind] = signal.signal(kind, _quit)
            except ValueError:  # another thread
                return


def watch() -> None:
    """Let a thread end the process where the main one is in native code and meets no signal."""
    global _pipe
    if not _before or os.name == "nt" or _pipe is not None:
        return
    import threading

    _pipe = os.pipe()
    os.set_blocking(_pipe[1], False)
    signal.set_wakeup_fd(_pipe[1], warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(_pipe[0],), name="rdfm-signals", daemon=True).start()


def end() -> None:
    """Give signals back, for a caller that goes on."""
    global _pipe
    for kind, handler in _before.items():
        signal.signal(kind, handler)
    _before.clear()
    if _pipe is not None:
        signal.set_wakeup_fd(-1)
        os.close(_pipe[1])
        _pipe = None


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """Make a signal an exception for the time of the block, so that what is open in it is ended in order."""
    global _unwinds
    _unwinds = True
    for kind in _before:
        signal.signal(kind, _interrupt)
    try:
        yield
    finally:
        for kind in _before:
            signal.signal(kind, _quit)
        _unwinds = False


def tell() -> bool:
    """Say that the command was interrupted, unless that was said; gives whether it was not."""
    global _told
    first, _told = not _told, True
    if first:
        with contextlib.suppress(OSError):
            os.write(2, b"rdfm: error: interrupted\n")
    return first


def die_of_pipe() -> None:
    """End as other commands do whose output nobody reads; return where the system has no such end."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPIPE])
        os.kill(os.getpid(), signal.SIGPIPE)


def _quit(*_: object) -> None:
    if not tell():  # who says it ends the process too
        time.sleep(GRACE_SECONDS)
    os._exit(CODE)


def _interrupt(number: int, frame: FrameType | None) -> None:
    for kind in _before:  # what is removed meanwhile is not to be interrupted
        signal.signal(kind, _wait)
    raise KeyboardInterrupt


def _wait(*_: object) -> None:
    """Leave it to the first signal."""


def _watch(pipe: int) -> None:
    """The thread: the first signal that wakes it ends the process, in a while if the main thread does not."""
    woken = os.read(pipe, 1)
    while woken and woken[0] not in _KINDS:
        woken = os.read(pipe, 1)
    if not woken:
        os.close(pipe)
        return
    if _unwinds:
        time.sleep(GRACE_SECONDS)
        from rdfm.logs.output import remove_unfinished

        remove_unfinished()
    _quit()

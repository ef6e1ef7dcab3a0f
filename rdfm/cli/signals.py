"""Signal handling of the command.

In: SIGINT, SIGTERM and SIGHUP, except those that are already ignored when the command starts.
Out: one line on standard error and exit code 130, or termination by SIGPIPE.
Cost: a waiting thread.
Law: the command ends within about a second, even while native code runs, or within five seconds if
    it completes an output first. Unfinished output is removed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

__all__ = [
    "CODE",
    "begin",
    "die_of_pipe",
    "end",
    "end_normally",
    "raise_on_signal",
    "report_interrupt",
    "watch",
]

CODE = 130
GRACE_SECONDS = 0.7
# One event, such as a closed terminal, may cause several signals within this time.
SAME_EVENT_SECONDS = 1.0
# For completing an output that is kept.
COMPLETING_SECONDS = 5.0
_KINDS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]

# Previous handlers by signal; empty if no handlers are installed.
_previous_handlers: dict[int, Any] = {}
_normal: set[int] = set()  # signals that end the process with status 0
_is_unwinding = False  # whether a signal unwinds the stack instead of ending the process
_grace_seconds = GRACE_SECONDS
_request: Callable[[], None] | None = None  # asks the command to end
_reported = False
_requested_at = 0.0  # time of the request
_pipe: tuple[int, int] | None = None  # wakes the watching thread


def begin() -> None:
    """Make signals end the process immediately. Has no effect outside the main thread."""
    global _reported, _is_unwinding
    _reported = _is_unwinding = False
    for kind in _KINDS:
        # Signals that are already ignored, for example with nohup, remain ignored.
        if signal.getsignal(kind) not in (signal.SIG_IGN, None):
            try:
                _previous_handlers[kind] = signal.signal(kind, _quit)
            except ValueError:  # another thread
                return


def end_normally(kind: signal.Signals) -> None:
    """Make a signal end the process with status 0 and without a message."""
    _normal.add(kind)


def watch() -> None:
    """Start a thread that ends the process if native code blocks signals in the main thread."""
    global _pipe
    if not _previous_handlers or os.name == "nt" or _pipe is not None:
        return
    import threading

    _pipe = os.pipe()
    os.set_blocking(_pipe[1], False)
    signal.set_wakeup_fd(_pipe[1], warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(_pipe[0],), name="rdfm-signals", daemon=True).start()


def end() -> None:
    """Restore the signal handlers, for a caller that continues."""
    global _pipe
    for kind, handler in _previous_handlers.items():
        signal.signal(kind, handler)
    _previous_handlers.clear()
    _normal.clear()
    if _pipe is not None:
        signal.set_wakeup_fd(-1)
        os.close(_pipe[1])
        _pipe = None


@contextlib.contextmanager
def raise_on_signal(request: Callable[[], None] | None = None) -> Iterator[None]:
    """Turn signals into exceptions within the block, so that open resources are closed properly.

    If `request` is given, the first signal calls it instead, and the block must end soon.
    """
    global _is_unwinding, _grace_seconds, _request
    _is_unwinding, _request = True, request
    _grace_seconds = GRACE_SECONDS if request is None else COMPLETING_SECONDS
    for kind in _previous_handlers:
        signal.signal(kind, _interrupt)
    try:
        yield
    except BaseException as error:
        # The rest of the stack is unwound after an interruption. The watching thread may be late.
        _is_unwinding = isinstance(error, KeyboardInterrupt)
        raise
    else:
        _is_unwinding = False
    finally:
        for kind in _previous_handlers:
            signal.signal(kind, _quit)


def report_interrupt() -> bool:
    """Print once that the command was interrupted. Return whether this was the first call."""
    global _reported
    first, _reported = not _reported, True
    if first:
        with contextlib.suppress(OSError):
            os.write(2, b"rdfm: error: interrupted\n")
    return first


def die_of_pipe() -> None:
    """Terminate by SIGPIPE, as other commands do when their output is closed.

    Returns on systems without SIGPIPE.
    """
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPIPE])
        os.kill(os.getpid(), signal.SIGPIPE)


def _quit(number: int, _frame: FrameType | None = None) -> None:
    if number in _normal:
        os._exit(0)
    if not report_interrupt():  # the thread that printed the message ends the process
        time.sleep(GRACE_SECONDS)
    os._exit(CODE)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _request, _requested_at
    if _request is not None:
        request, _request = _request, None
        _requested_at = time.monotonic()
        request()
        return
    if _requested_at and time.monotonic() < _requested_at + SAME_EVENT_SECONDS:
        return
    for kind in _previous_handlers:  # a second signal must not interrupt the cleanup
        signal.signal(kind, _wait)
    raise KeyboardInterrupt


def _wait(*_: object) -> None:
    """Ignore further signals while the first one is being handled."""


def _watch(pipe: int) -> None:
    """End the process after the first signal. Runs in the watching thread.

    While the stack is unwound, the main thread has some time to end the process first.
    """
    received = os.read(pipe, 1)
    while received and received[0] not in _KINDS:
        received = os.read(pipe, 1)
    if not received:
        os.close(pipe)
        return
    if _is_unwinding:
        time.sleep(_grace_seconds)
        from rdfm.logs.write.output import remove_unfinished

        remove_unfinished()
    _quit(received[0])

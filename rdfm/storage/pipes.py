"""Pipes, FIFOs, sockets and devices: files that can be read only once.

In: local paths. Out: whether they are regular files, and open files.
Law: a path of an open descriptor, such as `/dev/stdin` or `/dev/fd/63`, is that descriptor. Only a
regular file is opened again, to be read from its start.
"""

from __future__ import annotations

import io
import os
import re
import stat
import threading
from pathlib import Path

__all__ = [
    "descriptor_of",
    "is_pipe",
    "open_to_read",
    "open_to_write",
    "pipe_identity",
    "read_option_file",
]

_NUMBERED = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")
_CONTENTS: dict[tuple[int, int], bytes] = {}
_LOCK = threading.Lock()
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def descriptor_of(path: str) -> int | None:
    """Return the descriptor that a path stands for; None for all other paths.

    Example:
        >>> descriptor_of("/dev/stdout"), descriptor_of("/dev/fd/63"), descriptor_of("a.nq")
        (1, 63, None)
    """
    if (numbered := _NUMBERED.fullmatch(path)) is not None:
        return int(numbered[1])
    return _STANDARD.get(path)


def is_pipe(file: str | int) -> bool:
    """Whether a path or descriptor exists and is neither a regular file nor a folder."""
    try:
        mode = (os.fstat(file) if isinstance(file, int) else _status(file)).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def pipe_identity(path: str) -> tuple[int, int] | None:
    """Return the device and inode number of a pipe, FIFO or socket; None for all other paths."""
    try:
        status = _status(path)
    except (OSError, ValueError):
        return None
    is_stream = stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)
    return (status.st_dev, status.st_ino) if is_stream else None


def open_to_read(path: str) -> io.FileIO:
    """Open a file, unbuffered: a read returns the bytes that are available."""
    number = descriptor_of(path)
    return _open(path, "rb", number if number is not None and is_pipe(path) else None)


def read_option_file(path: str, max_bytes: int) -> bytes:
    """Return the content of a file that an option names, at most its first `max_bytes` bytes.

    Options are used more than once: they are checked first, and each log has a decoder. The content
    of a pipe is therefore kept until the process ends.

    Raises:
        OSError: If the file cannot be read.
    """
    with _LOCK:
        identity = pipe_identity(path)
        data = None if identity is None else _CONTENTS.get(identity)
        if data is None:
            with io.BufferedReader(open_to_read(path)) as file:
                data = file.read(max_bytes)
            if identity is not None:
                _CONTENTS[identity] = data
        return data


def open_to_write(path: str) -> io.FileIO:
    """Open a file that is not replaced, unbuffered: a pipe, a device or an open descriptor."""
    return _open(path, "wb", descriptor_of(path))


def _status(path: str) -> os.stat_result:
    """Return the status of a file. The path of a descriptor may lead to a file without a name."""
    number = descriptor_of(path)
    return Path(path).stat() if number is None else os.fstat(number)


def _open(path: str, mode: str, number: int | None) -> io.FileIO:
    if number is None:
        return io.FileIO(path, mode)
    try:
        return io.FileIO(os.dup(number), mode)
    except OSError as error:
        error.filename = path
        raise

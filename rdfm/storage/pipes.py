"""Pipes, FIFOs, sockets and devices: files that can be read only once.

In: local paths. Out: whether they are regular files, and open files.
Law: a path of an open descriptor, such as `/dev/stdin` or `/dev/fd/63`, is that descriptor. The
path of a regular file is read from the start of the file, and its position does not change: some
systems open the file again, and others share the position with the descriptor.
"""

from __future__ import annotations

import io
import os
import re
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = [
    "OptionPipe",
    "descriptor_of",
    "is_pipe",
    "mark_pipes",
    "open_to_read",
    "open_to_write",
    "pipe_identity",
    "read_option_file",
]

_NUMBERED = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


class OptionPipe(str):
    """The path of a pipe that an option names. It keeps the content once it has been read."""

    def __init__(self, path: str) -> None:
        """Initialize with the path."""
        super().__init__()
        self._content: bytes | None = None
        self._lock = threading.Lock()

    def read(self, max_bytes: int) -> bytes:
        """Return the content, at most its first `max_bytes` bytes, as of the first call.

        Raises:
            OSError: If the pipe cannot be read.
        """
        with self._lock:
            if self._content is None:
                self._content = _read(self, max_bytes)
            return self._content


class _PositionedFile(io.RawIOBase):
    """A regular file with its own position, which starts at 0."""

    def __init__(self, file: io.FileIO) -> None:
        super().__init__()
        self._file = file
        self._position = 0

    def fileno(self) -> int:
        return self._file.fileno()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = os.pread(self.fileno(), len(buffer), self._position)
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        size = os.fstat(self.fileno()).st_size
        self._position = (0, self._position, size)[whence] + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        self._file.close()
        super().close()


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


def open_to_read(path: str) -> io.RawIOBase:
    """Open a file, unbuffered: a read returns the bytes that are available."""
    number = descriptor_of(path)
    file = _open(path, "rb", number)
    is_shared = number is not None and stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    return _PositionedFile(file) if is_shared else file


def mark_pipes(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options in which each path of a pipe is an `OptionPipe`, also as a value of a dict.

    Options are used more than once in a call: they are checked first, and each log has a decoder.
    The content of a pipe is kept as long as these options.
    """
    marked: dict[tuple[int, int], OptionPipe] = {}

    def mark(value: Any) -> Any:
        if not isinstance(value, (str, os.PathLike)) or isinstance(value, OptionPipe):
            return value
        identity = pipe_identity(path := os.fspath(value))
        return value if identity is None else marked.setdefault(identity, OptionPipe(path))

    return {
        name: {key: mark(each) for key, each in value.items()}
        if isinstance(value, Mapping)
        else mark(value)
        for name, value in options.items()
    }


def read_option_file(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Return the content of a file that an option names, at most its first `max_bytes` bytes.

    Raises:
        OSError: If the file cannot be read.
    """
    return path.read(max_bytes) if isinstance(path, OptionPipe) else _read(path, max_bytes)


def open_to_write(path: str) -> io.FileIO:
    """Open a file that is not replaced, unbuffered: a pipe, a device or an open descriptor."""
    return _open(path, "wb", descriptor_of(path))


def _read(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    with io.BufferedReader(open_to_read(os.fspath(path))) as file:
        return file.read(max_bytes)


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

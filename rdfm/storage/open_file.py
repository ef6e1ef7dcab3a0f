"""Files that fsspec will open: `fsspec.core.OpenFile`, as `fsspec.open` returns it.

In: an `OpenFile`. Out: the path of a local file, or an open file.
Law: fsspec is not imported. A remote file is created completely or not at all.
"""

from __future__ import annotations

from typing import Any, BinaryIO, TypeGuard, cast

from rdfm.errors import OptionError
from rdfm.storage.addresses import redact_url

__all__ = ["OpenFile", "RemoteFile", "is_open_file", "open_file_name", "plain_path"]

OpenFile = Any
_COPIED_BYTES = 1 << 20


def is_open_file(value: object) -> TypeGuard[OpenFile]:
    """Return whether a value is an `OpenFile`."""
    names = ("fs", "path", "mode", "compression", "full_name", "open")
    is_other = isinstance(value, (str, bytes)) or hasattr(value, "read")
    return not is_other and all(hasattr(value, name) for name in names)


def open_file_name(file: OpenFile) -> str:
    """Return the URL of a file, without credentials."""
    return redact_url(str(file.full_name))


def plain_path(value: Any, mode: str) -> Any:
    """Return the path of an `OpenFile` on this machine; other values unchanged.

    Args:
        value: An input or output.
        mode: "rb" or "wb".

    Raises:
        OptionError: If an `OpenFile` has another mode.
    """
    if not is_open_file(value):
        return value
    if value.mode != mode:
        raise OptionError(f"{open_file_name(value)} has mode '{value.mode}', expected '{mode}'")
    protocol = value.fs.protocol
    is_local = "file" in ((protocol,) if isinstance(protocol, str) else protocol)
    return value.path if is_local and value.compression is None else value


class RemoteFile:
    """A remote file that is written to a temporary file first, and copied when it is complete."""

    def __init__(self, target: OpenFile) -> None:
        """Create the temporary file."""
        import tempfile  # costly to import

        self._target = target
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`

    def write(self, data: bytes | memoryview) -> int:
        """Write bytes to the temporary file."""
        return self._file.write(data)

    def copy(self) -> None:
        """Create the remote file.

        Raises:
            OSError: If it cannot be written.
        """
        import shutil  # costly to import

        self._file.seek(0)
        with self._target.open() as remote:
            shutil.copyfileobj(self._file, cast("BinaryIO", remote), _COPIED_BYTES)

    def close(self) -> None:
        """Remove the temporary file."""
        self._file.close()

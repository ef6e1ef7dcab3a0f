"""Files on web servers, which can be read but not listed.

In: http and https URLs. Out: their sizes and times, and the content of small files.
Law: nothing is written; `*` and `?` in a URL are not wildcards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from rdfm.errors import OptionError
from rdfm.storage.addresses import HttpError, redact_url

if TYPE_CHECKING:
    from rdfm.storage.files import File

__all__ = ["MAX_WHOLE_BYTES", "WebStorage"]

# Maximum size in bytes of a file that `read_file` accepts.
MAX_WHOLE_BYTES = 16 << 20


class WebStorage:
    """The storage of http and https URLs."""

    is_remote = True

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Initialize with the settings for requests.

        Raises:
            OptionError: If an option is unknown, or its value is invalid.
        """
        from rdfm.storage.http import HttpSettings  # costly to import

        self._settings = HttpSettings.from_options(options)

    def status(self, path: str) -> File | None:
        """Return the file of a URL."""
        from rdfm.storage.files import File
        from rdfm.storage.http import content_length, date_seconds, open_url

        with open_url(path, self._settings, method="HEAD") as response:
            modified = date_seconds(response.headers.get("Last-Modified", ""))
            return File(path, content_length(response.headers) or 0, modified)

    def exists(self, path: str) -> bool:
        """Whether the URL exists."""
        try:
            self.status(path)
        except FileNotFoundError:
            return False
        return True

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a small file.

        Raises:
            HttpError: If the file is larger than `MAX_WHOLE_BYTES`.
        """
        from rdfm.storage.http import open_url

        with open_url(path, self._settings) as response:
            data = response.read(MAX_WHOLE_BYTES + 1)
        if len(data) > MAX_WHOLE_BYTES:
            raise HttpError(path, f"the file is larger than {MAX_WHOLE_BYTES} bytes")
        return data

    def find(self, pattern: str) -> dict[str, File | None]:
        """Return nothing: there are no globs."""
        return {}

    def list_files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """Return nothing: there are no folders."""
        return iter(())

    def list_names(self, folder: str) -> list[str]:
        """Return nothing: there are no folders."""
        return []

    def folder_time(self, path: str) -> float | None:
        """Return None: there are no folders."""
        return None

    def make_folder(self, path: str, parents: bool = True) -> None:
        """Reject the operation."""
        _reject(path)

    def open_new(self, path: str) -> BinaryIO:
        """Reject the operation."""
        _reject(path)

    def open_existing(self, path: str) -> BinaryIO:
        """Reject the operation."""
        _reject(path)

    def finish(self, file: BinaryIO) -> None:
        """Close a file."""
        file.close()

    def write_file(self, path: str, data: bytes) -> None:
        """Reject the operation."""
        _reject(path)

    def create_file(self, path: str, data: bytes) -> bool:
        """Reject the operation."""
        _reject(path)

    def rename(self, old: str, new: str) -> None:
        """Reject the operation."""
        _reject(old)

    def remove(self, path: str) -> None:
        """Reject the operation."""
        _reject(path)

    def remove_folder(self, path: str) -> None:
        """Reject the operation."""
        _reject(path)


def _reject(path: str) -> NoReturn:
    raise OptionError(
        f"{redact_url(path)} is on a web server, which does not support folders or writing; "
        "use a local folder or an object store"
    )

"""A file whose metadata may be wrong, for pyarrow and the size checks.

In: a seekable file. Out: the same bytes, with complete reads.
Law: a position outside of the file is an error in the data, and a read never allocates more memory
than the file has bytes.
"""

from __future__ import annotations

import io
from typing import BinaryIO

from rdfm.errors import DecodeError

__all__ = ["TableFile"]

_PIECE_BYTES = 1 << 20


class TableFile(io.RawIOBase):
    """A view of a file. It shares the position of the file, and does not close it.

    Attributes:
        size: Size of the file in bytes.
    """

    def __init__(self, file: BinaryIO, format: str) -> None:
        """Create a view from the start of a file.

        Args:
            file: The file.
            format: The format's name, for errors.
        """
        self._file = file
        self._format = format
        self.size = file.seek(0, io.SEEK_END)
        file.seek(0)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Change the position.

        Raises:
            DecodeError: If the position is outside of the file.
        """
        if whence == io.SEEK_END:
            offset += self.size
        elif whence == io.SEEK_CUR:
            offset += self.tell()
        if not 0 <= offset <= self.size:
            raise DecodeError(
                "the file is corrupt: it refers to bytes outside of the file", format=self._format
            )
        return self._file.seek(offset)

    def read(self, size: int = -1, /) -> bytes:
        """Return `size` bytes, or fewer at the end of the file. By default, return the rest."""
        remaining = max(self.size - self.tell(), 0)
        count = remaining if size < 0 else min(size, remaining)
        data = self._file.read(count)
        if len(data) == count:
            return data
        # A raw file may return less: Linux reads at most 2 GiB at once.
        pieces = [data]
        while data and (count := count - len(data)):
            data = self._file.read(count)
            pieces.append(data)
        return b"".join(pieces)

    def is_joined(self, border: bytes, gap: int) -> bool:
        """Whether another file was put before the one that the footer describes.

        The offsets in the footer are then too small, and may even lead to the data of the other
        file. So the data seems to end before the footer, by the size of the other file. Other gaps
        contain indexes.

        Args:
            border: The end of one file and the beginning of the next one.
            gap: Bytes between the end of the data and the footer.
        """
        self.seek(0)
        # Pieces overlap, since the border may be in two of them.
        overlap = len(border) - 1
        remaining = gap + len(border) if gap > 0 else 0
        data = b""
        while remaining > 0 and (piece := self.read(min(remaining, _PIECE_BYTES))):
            data = data[-overlap:] + piece
            if border in data:
                return True
            remaining -= len(piece)
        return False

"""A limit on the frames that the server keeps for a client, in bytes.

In: the sizes of the frames of each call. Out: an error if the total for a client is too large.
Cost: a number for each call and each client.
Law: the frames of all calls of a client (a connection) never exceed the given number of bytes. gRPC
buffers the next frame of each publication; the number of publications limits these frames to the
same number of bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rdfm.formats import OptionSpec
from rdfm.logs.options import declare
from rdfm.storage.jelly_wire import MAX_FRAME_BYTES

__all__ = ["CLIENT_BYTES", "MAX_CLIENT_BYTES", "BufferedFrames", "ClientMemory", "MemoryLimitError"]

CLIENT_BYTES = 256 << 20

(MAX_CLIENT_BYTES,) = declare(
    OptionSpec(
        "max_client_bytes",
        "bytes",
        "Maximum number of bytes that the server keeps for a connection.",
        minimum=1,
        default=CLIENT_BYTES,
        group="Address",
    )
)


class MemoryLimitError(Exception):
    """Raised if a client exceeds the limit. The server answers with RESOURCE_EXHAUSTED."""


class ClientMemory:
    """Counts the bytes of the frames kept for each client.

    Attributes:
        limit: Maximum number of bytes for a client.
        max_frame_bytes: Maximum size of a received frame, in bytes.
        buffered: Number of bytes for each client.
        publications: Number of publications of each client.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.max_frame_bytes = min(limit, MAX_FRAME_BYTES)
        self.buffered: Counter[str] = Counter()
        self.publications: Counter[str] = Counter()

    @contextmanager
    def call(self, client: str) -> Iterator[BufferedFrames]:
        """Count the frames of a call. Their bytes are released at the end of the `with` block."""
        frames = BufferedFrames(self, client)
        try:
            yield frames
        finally:
            frames.close()

    @contextmanager
    def publication(self, client: str) -> Iterator[None]:
        """Count a publication, before its first frame is received.

        Raises:
            MemoryLimitError: If the incomplete frames of the client could exceed the limit.
        """
        count = self.limit // self.max_frame_bytes
        if self.publications[client] >= count:
            raise MemoryLimitError(
                f"this connection already has {count:,} publications, the limit of the server; "
                "publish over another connection"
            )
        self.publications[client] += 1
        try:
            yield
        finally:
            self.publications[client] -= 1
            if not self.publications[client]:
                del self.publications[client]


class BufferedFrames:
    """The bytes of the frames kept for a call."""

    def __init__(self, memory: ClientMemory, client: str) -> None:
        self._memory = memory
        self._client = client
        self._bytes = 0
        self._closed = False

    def close(self) -> None:
        """Release the bytes, at the end of the call. Later changes are ignored."""
        self.set(0)
        self._closed = True

    def set(self, count: int) -> None:
        """Set the number of bytes.

        Raises:
            MemoryLimitError: If the client would exceed the limit. The number is not changed.
        """
        if self._closed:  # an aborted publication is still appended
            return
        buffered, limit = self._memory.buffered, self._memory.limit
        total = buffered[self._client] - self._bytes + count
        if count > self._bytes and total > limit:
            raise MemoryLimitError(
                f"the incomplete and unsent messages of this connection contain more "
                f"than {limit} bytes, the limit of the server"
            )
        self._bytes = count
        buffered[self._client] = total
        if not total:
            del buffered[self._client]

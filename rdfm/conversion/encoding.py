"""Encoding in threads, if the format can encode each batch separately.

In: an encoder, and batches in order. Out: their bytes, in order.
Cost: memory for at most `jobs` + 2 batches that are being encoded, and for their bytes.
Law: bytes, counts and errors are the same as with one encoder. An error is raised after all
bytes that precede it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm.errors import EncodeError
from rdfm.formats.format import encode_view
from rdfm.logs.write.parts import Part, part_list
from rdfm.storage.pool import Pool

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["EncodedBatch", "Encoding"]

# Smaller batches are encoded by the calling thread, because another thread would not save time.
MIN_QUADS = 512


class EncodedBatch(NamedTuple):
    """An encoded batch.

    Attributes:
        parts: Bytes of the encoded batch.
        messages: Number of messages that begin in the batch.
        quads: Number of quads in the batch.
        bytes_in: Number of input bytes read up to the end of the batch.
        event_id: The id of the last event in the batch, if its messages arrived as events.
    """

    parts: list[Part]
    messages: int
    quads: int
    bytes_in: int
    event_id: str | None


class Encoding:
    """An encoder and its twins: copies that encode batches in other threads."""

    def __init__(self, encoder: Any, jobs: int, row_jobs: int, wake: Callable[[], object]) -> None:
        """Initialize with an encoder of the output.

        Args:
            encoder: The encoder.
            jobs: Number of threads that encode batches.
            row_jobs: Number of threads that write row groups.
            wake: Called when a batch has been encoded.
        """
        self._encoder = encoder
        self._twins: list[Any] = []  # idle twins
        self._generation = 0  # of the idle twins
        self._all_twins: list[Any] = []  # all twins
        self._skip = getattr(encoder, "skip", None) if jobs > 1 else None
        if hasattr(encoder, "use_threads"):
            encoder.use_threads(row_jobs)
        self._pool: Pool[tuple[EncodedBatch, Any, int]] = Pool(
            "rdfm-encode", jobs if jobs > 1 else 0, wake
        )
        self._failed = False

    def __len__(self) -> int:
        """Return the number of batches whose bytes have not been taken."""
        return len(self._pool)

    def submit(
        self, batch: AnyBatch, source: str, bytes_in: int, event_id: str | None = None
    ) -> None:
        """Encode a batch of the log `source`."""
        skipped_index = None if self._skip is None else self._skip(batch)
        if skipped_index is None:
            self._twins.clear()  # the encoder may have declared namespaces that they lack
            self._generation += 1
            encoder, in_caller, arguments = self._encoder, True, {}
        else:
            in_caller, arguments = batch.record_count < MIN_QUADS, {"place": skipped_index}
            if self._twins:
                encoder = self._twins.pop()
            else:
                encoder = self._encoder.twin()
                self._all_twins.append(encoder)

        generation = self._generation

        def work() -> tuple[EncodedBatch, Any, int]:
            try:
                output = encode_view(encoder)(batch, source, **arguments)
            except EncodeError as error:
                error.source = source
                raise
            messages = len(batch) - batch.continued
            encoded = EncodedBatch(
                part_list(output), messages, batch.record_count, bytes_in, event_id
            )
            return encoded, encoder, generation

        self._pool.submit(work, in_caller=in_caller)

    def is_ready(self) -> bool:
        """Return whether the bytes of the next batch are complete."""
        return self._pool.is_ready()

    def take(self, *, all: bool = False) -> Iterator[EncodedBatch]:
        """Yield the encoded batches; with `all`, wait for all of them.

        Raises:
            EncodeError: If a message cannot be written.
        """
        try:
            for encoded, encoder, generation in self._pool.take(all=all):
                if encoder is not self._encoder and generation == self._generation:
                    self._twins.append(encoder)
                yield encoded
        except EncodeError:
            self._failed = True
            raise

    def pause(self) -> list[Part]:
        """Return what completes a log that is appended to, so that it can be committed.

        Call it after `take(all=True)`.
        """
        return part_list(self._encoder.pause())

    def finish(self) -> list[Part]:
        """Return the bytes at the end of the log; none if a message could not be written."""
        return [] if self._failed else part_list(self._encoder.finish())

    def close(self) -> None:
        """End the threads."""
        self._pool.close()
        if hasattr(self._encoder, "close"):
            self._encoder.close()

    def dropped(self) -> Counter[str]:
        """Return counts of the data dropped so far, by name."""
        counts: Counter[str] = Counter(self._encoder.dropped())
        for twin in self._all_twins:
            counts.update(twin.dropped())
        return counts

    def notes(self) -> list[str]:
        """Return notes for readers of the log."""
        encoders = (self._encoder, *self._all_twins)
        return list(dict.fromkeys(note for encoder in encoders for note in encoder.notes()))

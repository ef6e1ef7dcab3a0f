"""Produces one log from a distributed write: tasks write fragments, and the driver joins them.

In: the format and options of a write, and the messages of each task. Out: one log.
Cost: the driver copies all fragments once, and needs space for both copies until the commit is
complete.
Law: a fragment can follow any other, because it begins after a delimiter and ends with a delimiter
or with a message that does not need one. The log is joined before the commit is decided, so it
appears complete or not at all.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from rdfm import formats
from rdfm._core import Iri, MessageBatch, PatchBatch, Quad
from rdfm.errors import OptionError
from rdfm.formats import Opening
from rdfm.storage import compression as compressions

if TYPE_CHECKING:
    from rdfm.message import AnyBatch
    from rdfm.spark.writers.commit import CommitTarget

__all__ = ["Fragment", "FragmentWriter", "check_single", "join_fragments"]

_COPY_BYTES = 8 << 20
# Options that add text before the first delimiter of a fragment, but not to the header of a log.
_NAMESPACES = ("prefixes",)


@dataclass(frozen=True)
class Fragment:
    """A part of a log that a task wrote.

    Attributes:
        part: Its name in the staging folder, as `ATTEMPT/NAME`.
        begins_empty: Whether its first message is empty.
        header: The stream options that its header contains, for formats whose header is part of
            each fragment.
    """

    part: str
    begins_empty: bool
    header: Mapping[str, Any]


def check_single(format: str, options: Mapping[str, Any]) -> None:
    """Check that fragments of a log can be joined.

    Raises:
        OptionError: If a message cannot follow another one in this format or with these options.
    """
    spec = formats.find(format).spec
    if spec.append == "never":
        reason = spec.not_appended or f"{spec.title} cannot be joined"
        raise OptionError(
            f"single=true cannot write {spec.name}: {reason}; omit single to write a folder of parts"
        )
    _find_delimiter(format, options)


class FragmentWriter:
    """Writes the messages of a task as a fragment. Has the interface of a `LogWriter`."""

    def __init__(
        self, file: BinaryIO, format: str, compression: str, options: Mapping[str, Any]
    ) -> None:
        """Start a fragment in a new file."""
        self._file = file
        self._format = format
        self._find_delimiter = _find_delimiter(format, options)
        self._create_encoder = _create_encoder(format, options, "delimiter")
        packed = compression != "none"
        self._compressor = compressions.BlockCompressor(compression) if packed else None
        self._begins_empty: bool | None = None
        self._read_header: Mapping[str, Any] = {}

    def write_batch(self, batch: AnyBatch, _source: str | None = None) -> None:
        """Write messages.

        Raises:
            EncodeError: If the format does not support a message.
        """
        if not len(batch):
            return
        data = self._create_encoder.encode(batch)
        if self._begins_empty is None:
            self._begins_empty = batch.slice(0, 1).record_count == 0
            self._read_header = _read_header(self._format, data)
        self._write(data)

    def close(self) -> None:
        """Complete the fragment. The file stays open."""
        data, end = self._create_encoder.pause()
        self._write(data + (self._find_delimiter if end == "content" else b""))
        if self._compressor is not None:
            self._file.write(self._compressor.flush())

    def discard(self) -> None:
        """Stop writing. The caller closes and removes the file."""

    def fragment(self, part: str) -> Fragment:
        """Return the fragment with the given name in the staging folder."""
        return Fragment(part, bool(self._begins_empty), self._read_header)

    @property
    def dropped(self) -> dict[str, int]:
        """Numbers of dropped items, by name."""
        return dict(self._create_encoder.dropped())

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers of the log."""
        return tuple(self._create_encoder.notes())

    def _write(self, data: bytes) -> None:
        self._file.write(data if self._compressor is None else self._compressor.compress(data))


def join_fragments(
    target: CommitTarget,
    job: str,
    fragments: Iterable[Fragment],
    *,
    format: str,
    compression: str,
    options: Mapping[str, Any],
) -> tuple[str, ...]:
    """Join the fragments of a job in partition order, and return the part that contains the log.

    Args:
        target: The folder to which the log is written.
        job: The job.
        fragments: The fragments. Without fragments there is no log.
        format: The format's name.
        compression: As in `FragmentWriter`.
        options: Options of the encoder.

    Raises:
        OptionError: If the fragments have different headers.
        OSError: If the storage cannot be read or written.
    """
    ordered = sorted(fragments, key=lambda fragment: _partition_number(fragment.part))
    if not ordered:
        return ()
    _check_headers(ordered)
    attempt = f"single-{os.urandom(6).hex()}"
    folder = target.create_attempt(job, attempt)
    name = ordered[0].part.rpartition("/")[2]
    name = re.sub(r"^part-\d+", "part-00000", name)
    staging = folder.removesuffix(attempt)
    lead = _encode_lead(format, options, ordered[0].begins_empty)
    if lead and compression != "none":
        compressor = compressions.BlockCompressor(compression)
        lead = compressor.compress(lead) + compressor.flush()
    joined_file = target.storage.open_new(f"{folder}/{name}")
    try:
        joined_file.write(lead)
        for fragment in ordered:
            with target.storage.open_existing(staging + fragment.part) as part:
                shutil.copyfileobj(part, joined_file, _COPY_BYTES)
        target.storage.finish(joined_file)
    except BaseException:
        with contextlib.suppress(Exception):
            joined_file.close()
        raise
    return (f"{attempt}/{name}",)


def _partition_number(part: str) -> int:
    return int(part.rpartition("/")[2].split("-")[1])


def _check_headers(fragments: Sequence[Fragment]) -> None:
    first = fragments[0].header
    for fragment in fragments[1:]:
        if fragment.header != first:
            names = [
                name
                for name in {**first, **fragment.header}
                if first.get(name) != fragment.header.get(name)
            ]
            raise OptionError(
                "single=true needs parts with the same header, but the partitions "
                f"{_partition_number(fragments[0].part)} and {_partition_number(fragment.part)} differ in "
                + ", ".join(
                    f"{name} ({first.get(name)} and {fragment.header.get(name)})" for name in names
                )
                + "; nothing was written. Set the options that determine the header, make the columns the same in "
                "all rows, or omit single"
            )


def _create_encoder(format: str, options: Mapping[str, Any], end: str | None) -> Any:
    """Return an encoder at the start of a log, or after a log with the given end."""
    encoder: Any = formats.find(format).encoder(options)
    if end is not None:
        encoder.continue_log(end)
    return encoder


def _encode_after(
    format: str, options: Mapping[str, Any], batch: AnyBatch, end: str | None
) -> bytes:
    """Encode a batch as the end of a log, without options that add declarations."""
    plain_options = {name: value for name, value in options.items() if name not in _NAMESPACES}
    encoder = _create_encoder(format, plain_options, end)
    data: bytes = encoder.encode(batch)
    end_data: bytes = encoder.pause()[0]
    return data + end_data


def _find_delimiter(format: str, options: Mapping[str, Any]) -> bytes:
    """The delimiter between messages; empty if the format needs none.

    Raises:
        OptionError: If a message cannot follow another one with these options.
    """
    sample = _sample_batch(format, empty=False)
    after_content = _encode_after(format, options, sample, "content")
    after_delimiter = _encode_after(format, options, sample, "delimiter")
    return after_content.removesuffix(after_delimiter)


def _encode_lead(format: str, options: Mapping[str, Any], begins_empty: bool) -> bytes:
    """The bytes before the first fragment of a log."""
    if not _find_delimiter(format, options):
        return b""
    sample = _sample_batch(format, begins_empty)
    log = _encode_after(format, options, sample, None)
    return log.removesuffix(_encode_after(format, options, sample, "delimiter"))


def _sample_batch(format: str, empty: bool) -> AnyBatch:
    """A batch of one message, which is empty or has one quad."""
    terms = (Iri("http://example.org/s"), Iri("http://example.org/p"), Iri("http://example.org/o"))
    if formats.find(format).spec.kinds[0] == "patches":
        return PatchBatch.from_patches([[] if empty else [("A", None, *terms, None)]])
    return MessageBatch.from_messages([[] if empty else [Quad(*terms)]])


def _read_header(format: str, data: bytes) -> Mapping[str, Any]:
    """The stream options in the header of a fragment, from its first messages."""
    if not formats.find(format).spec.binary:
        return {}
    decoder = formats.find(format).decoder({}, Opening("always"))
    decoder.feed(data)
    decoder.next_batch()
    header: Mapping[str, Any] = decoder.header().get("options", {})
    return dict(header)

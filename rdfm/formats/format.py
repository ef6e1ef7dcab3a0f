"""A format as one object, and what decoders and encoders are: `Format`, `Decoder`, `Encoder`.

In: a spec, and how codecs are made. Out: codecs whose options are checked, whole logs in memory decoded and encoded.
Law: native formats and those written in Python offer the same; what a driver calls is in `DecoderLike` and
`EncoderLike`, whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol

from rdfm._core import MessageBatch, PatchBatch
from rdfm.errors import DecodeError, LimitError
from rdfm.formats.spec import FormatSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = [
    "Decoder",
    "DecoderLike",
    "Encoder",
    "EncoderLike",
    "FileDecoder",
    "Format",
    "Opening",
    "encode_all",
]

# The largest batches that the core makes.
WHOLE = {"batch_quads": 1 << 28, "batch_bytes": 512 << 20, "batch_messages": 1 << 28}


class Opening(NamedTuple):
    """How a log is opened for reading, besides the options of its format.

    Attributes:
        parts: Which messages may come in parts (batches that `continue`): "never", those of many "frames", or
            "always".
        split: Start, stop (or None) and dialect of the part of the log to read.
        first_index: The index of the first message, where that is known.
    """

    parts: Literal["never", "frames", "always"] = "never"
    split: tuple[int, int | None, str] | None = None
    first_index: int | None = None


class DecoderLike(Protocol):
    """Bytes to batches."""

    def feed(self, piece: bytes, /) -> None:
        """Take a piece of the log, cut anywhere. Never fails, decodes nothing."""

    def finish(self) -> None:
        """Mark the end of the log; doing so again changes nothing."""

    def next_batch(self) -> AnyBatch | None:
        """Give the next batch; None means "feed me", and after `finish` "done".

        Raises:
            DecodeError: After every message completed before the error, and again on later calls.
        """

    def skip_message(self) -> bytes | None:
        """Go to the next delimiter after an error; None means "feed me and call again"."""

    def reset(self) -> None:
        """Go to the start of another log, with the same options."""

    def decode_log(
        self, log: bytes, /, stop_bytes: int | None = None
    ) -> tuple[Sequence[AnyBatch], bool]:
        """Decode another log, of which all bytes are here.

        Args:
            log: The log.
            stop_bytes: Stop after batches that take more bytes of memory than this.

        Returns:
            Its batches, and whether that is all; if not, `next_batch` goes on: it raises the error that follows them,
            or returns the next batch after a stop.
        """

    def header(self) -> Mapping[str, Any]:
        """Say what the log says about itself, as far as read."""

    @property
    def done(self) -> bool:
        """Whether what is fed from now on belongs to other splits: nothing more need be read."""


class EncoderLike(Protocol):
    """Batches to bytes."""

    def encode(self, batch: Any, /, source: str | None = None) -> bytes:
        """Give the bytes of a batch.

        Args:
            batch: The messages.
            source: The name of the log that they are of, for formats that hold it.

        Raises:
            EncodeError: A message cannot be written.
        """

    def finish(self) -> bytes:
        """Give the bytes at the end of the log."""

    def reset(self) -> None:
        """Go to the start of another log, with the same options. What was left out is counted anew."""

    def dropped(self) -> dict[str, int]:
        """Count what was left out so far, by name."""

    def notes(self) -> list[str]:
        """Say what whoever reads the log should know, a sentence each."""


class Decoder(ABC):
    """The base of decoders written in Python: `feed`, `finish`, `next_batch` and `reset` are needed."""

    @abstractmethod
    def feed(self, piece: bytes, /) -> None:
        """Take a piece of the log, cut anywhere. Never fails, decodes nothing."""

    @abstractmethod
    def finish(self) -> None:
        """Mark the end of the log; doing so again changes nothing."""

    @abstractmethod
    def next_batch(self) -> AnyBatch | None:
        """Give the next batch; None means "feed me", and after `finish` "done".

        Raises:
            DecodeError: After every message completed before the error, and again on later calls.
        """

    @abstractmethod
    def reset(self) -> None:
        """Go to the start of another log, with the same options: what was fed and met before is forgotten."""

    def skip_message(self) -> bytes | None:
        """Go to the next delimiter after an error, where the format is `resumable`.

        Raises:
            DecodeError: The error itself.
        """
        self.next_batch()
        raise ValueError("there is no error to skip")

    def decode_log(
        self, log: bytes, /, stop_bytes: int | None = None
    ) -> tuple[Sequence[AnyBatch], bool]:
        """Decode another log, of which all bytes are here: `reset`, `feed`, `finish`, and its batches."""
        self.reset()
        self.feed(log)
        self.finish()
        batches = []
        size = 0
        try:
            while (batch := self.next_batch()) is not None:
                batches.append(batch)
                size += batch.memory_bytes
                if stop_bytes is not None and size > stop_bytes:
                    return batches, False
        except DecodeError:
            return batches, False
        return batches, True

    def header(self) -> Mapping[str, Any]:
        """Say what the log says about itself; nothing unless a format has something to say."""
        return {}

    @property
    def done(self) -> bool:
        """Give False: such formats have no splits."""
        return False


class FileDecoder(Decoder):
    """The base of decoders that read a log from its end (`FormatSpec.whole_file`).

    Attributes:
        position: The byte of the file behind the messages that were given, about.
    """

    position: int = 0

    @abstractmethod
    def feed_file(self, file: BinaryIO) -> None:
        """Take the log as a file that can be read from the middle, which stays open meanwhile."""


class Encoder(ABC):
    """The base of encoders written in Python: `encode` and `finish` are needed."""

    @abstractmethod
    def encode(self, batch: Any, /, source: str | None = None) -> bytes:
        """Give the bytes of a batch; `source` is the name of the log that its messages are of.

        Raises:
            EncodeError: A message cannot be written.
        """

    @abstractmethod
    def finish(self) -> bytes:
        """Give the bytes at the end of the log."""

    @abstractmethod
    def reset(self) -> None:
        """Go to the start of another log, with the same options. What was left out is counted anew."""

    def dropped(self) -> dict[str, int]:
        """Count what was left out so far, by name; nothing unless a format leaves something out."""
        return {}

    def notes(self) -> list[str]:
        """Say what whoever reads the log should know, a sentence each; nothing unless there is something."""
        return []


class Format:
    r"""A format: what is known about it, its codecs, and whole logs in memory.

    Attributes:
        spec: What is known about it.
        name: The name used everywhere, such as `nq`.

    Example:
        >>> from rdfm import formats
        >>> batch = formats.nq.decode(b"<x:s> <x:p> <x:o> .")
        >>> formats.nt.encode(batch)
        b'<x:s> <x:p> <x:o> .\n'
    """

    def __init__(
        self,
        spec: FormatSpec,
        decoder: Callable[..., DecoderLike] | None,
        encoder: Callable[..., EncoderLike] | None,
    ) -> None:
        """Take the spec, and what makes codecs of their options as keywords, such as classes.

        Args:
            spec: What is known about the format.
            decoder: Makes a decoder; None where the format is not read.
            encoder: Makes an encoder; None where the format is not written.
        """
        self.spec = spec
        self.name = spec.name
        self._decoder = decoder
        self._encoder = encoder

    @property
    def is_read(self) -> bool:
        """Whether it can be read."""
        return self._decoder is not None

    @property
    def is_written(self) -> bool:
        """Whether it can be written."""
        return self._encoder is not None

    def Decoder(self, **options: Any) -> DecoderLike:
        """Give a decoder; options are those of `spec.reads`.

        Raises:
            OptionError: There is no such option, or its value does not fit.
        """
        return self.decoder(options)

    def Encoder(self, **options: Any) -> EncoderLike:
        """Give an encoder; options are those of `spec.writes`.

        Raises:
            OptionError: There is no such option, or its value does not fit.
        """
        return self.encoder(options)

    def decoder(self, options: Mapping[str, Any], opening: Opening = Opening()) -> DecoderLike:  # noqa: B008 - immutable
        """Give a decoder, as `Decoder`, that reads what `opening` says."""
        if self._decoder is None:
            raise TypeError(f"{self.spec.title} is not read")
        return self._make_decoder(self.spec.values("read", options), opening)

    def encoder(
        self, options: Mapping[str, Any], source: Mapping[str, Any] | None = None
    ) -> EncoderLike:
        """Give an encoder, as `Encoder`.

        Args:
            options: Those of `spec.writes`.
            source: What is known about the log that the messages come from; see `_core.Encoder`.
        """
        if self._encoder is None:
            raise TypeError(f"{self.spec.title} is not written")
        return self._make_encoder(self.spec.values("write", options), source)

    def _make_decoder(self, values: dict[str, Any], _opening: Opening) -> DecoderLike:
        if self._decoder is None:
            raise TypeError(f"{self.spec.title} is not read")
        return self._decoder(**values)

    def _make_encoder(
        self, values: dict[str, Any], _source: Mapping[str, Any] | None
    ) -> EncoderLike:
        if self._encoder is None:
            raise TypeError(f"{self.spec.title} is not written")
        return self._encoder(**values)

    def decode(self, data: bytes, **options: Any) -> Any:
        """Decode a whole log held in memory; for files use `rdfm.open_log`.

        Args:
            data: The log, decompressed.
            **options: Those of `spec.reads`.

        Returns:
            A `MessageBatch`, or the batch of the log's kind.

        Raises:
            DecodeError: `data` breaks the format; no message is returned.
            LimitError: A message is larger than `max_message_bytes` (in decoded bytes), or all are too large for
                one batch.
            MissingExtraError: The format needs a package that is not installed.
            OptionError: There is no such option, or its value does not fit.
        """
        whole = {name: most for name, most in WHOLE.items() if name in self.spec.options("read")}
        decoder = self.decoder({**options, **whole})
        batches, ended = decoder.decode_log(data)
        if not ended:
            decoder.next_batch()
        if not batches:
            return _joined([], self.spec.kinds[0])
        if len(batches) > 1 and whole:
            raise LimitError("the log is too large for one batch; read it with rdfm.open_log")
        return batches[0] if len(batches) == 1 else _joined(batches, batches[0].kind)

    def encode(self, batch: AnyBatch, **options: Any) -> bytes:
        """Encode a batch as a whole log; for files use `rdfm.create_log`.

        Args:
            batch: The messages.
            **options: Those of `spec.writes`.

        Raises:
            EncodeError: A message cannot be written in the format.
            MissingExtraError: The format needs a package that is not installed.
            OptionError: There is no such option, or its value does not fit.
        """
        return encode_all(self.encoder(options), batch)

    def __repr__(self) -> str:
        """As in `<Format nq: N-Quads>`."""
        return f"<Format {self.name}: {self.spec.title}>"


def _joined(batches: Sequence[AnyBatch], kind: str) -> AnyBatch:
    """Batches of messages, or of patches, as one."""
    messages: Any = (message for batch in batches for message in batch)
    if kind == "patches":
        return PatchBatch.from_patches(messages)
    return MessageBatch.from_messages(messages)


def encode_all(encoder: EncoderLike, batch: AnyBatch) -> bytes:
    """Encode one batch as a whole log.

    Raises:
        EncodeError: A message cannot be written in the format.
    """
    return encoder.encode(batch) + encoder.finish()

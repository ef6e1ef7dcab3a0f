"""The `Format` class, and the codec interfaces `Decoder` and `Encoder`.

In: a spec, and functions that create codecs. Out: codecs with checked options, and decoding and
encoding in memory.
Law: native formats and those written in Python have the same interface; `DecoderLike` and
`EncoderLike` contain everything that a driver calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO, Generic, Literal, NamedTuple, Protocol, cast

from rdfm._core import MessageBatch, PatchBatch, Quad
from rdfm.errors import DecodeError, LimitError
from rdfm.formats.spec import FormatSpec
from rdfm.message import Message, Patch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from rdfm.message import AnyBatch

    # Without a type argument, `Format` is a format of any kind.
    B = TypeVar("B", bound=AnyBatch, default=Any)
else:
    from typing import TypeVar

    B = TypeVar("B")  # defaults need Python 3.13

__all__ = [
    "Decoder",
    "DecoderLike",
    "Encoder",
    "EncoderLike",
    "FileDecoder",
    "Format",
    "Opening",
    "encode_all",
    "encode_view",
]


class Opening(NamedTuple):
    """Settings for opening a log for reading, in addition to the options of its format.

    Attributes:
        parts: When messages may be returned in parts (batches that `continue`): "never", "frames"
            (only messages with several frames) or "always".
        split: Start, stop (or None) and dialect (or None) of the part of the log to read.
        first_message_index: The index of the first message, if known.
        checks_marks: Whether to look for wrong restart marks.
        batches: The size at which a batch of a native format ends, if it is not the usual one:
            `batch_quads` and `batch_bytes`.
        skip_lines: Whether to skip lines that are not statements and keep the rest of their
            message, in formats that support this (`FormatSpec.skips_lines`).
    """

    parts: Literal["never", "frames", "always"] = "never"
    split: tuple[int, int | None, str | None] | None = None
    first_message_index: int | None = None
    checks_marks: bool = False
    batches: Mapping[str, int] | None = None
    skip_lines: bool = False


# Settings for reading an entire log into one batch: the largest values that are allowed.
_ONE_BATCH = Opening(batches={"batch_quads": 1 << 28, "batch_bytes": 512 << 20})
_MAX_BATCH_MESSAGES = 1 << 28


class DecoderLike(Protocol):
    """Decodes bytes into batches."""

    def feed(self, piece: bytes, /) -> None:
        """Accept a piece of the log, cut anywhere. This never fails, and decodes nothing."""

    def finish(self) -> None:
        """Mark the end of the log. Further calls have no effect."""

    def next_batch(self) -> AnyBatch | None:
        """Return the next batch; None if more input is needed or, after `finish`, at the end.

        Raises:
            DecodeError: If the log is invalid. Raised after every message completed before the
                error, and again on later calls.
        """

    def skip_message(self) -> bytes | None:
        """Skip to the next delimiter after an error. Return None if more input is needed first."""

    @property
    def skip_cut(self) -> bool:
        """Whether bytes are missing in the last result of `skip_message`, in formats of lines."""

    def take_skipped_lines(self) -> Sequence[tuple[DecodeError, bytes]]:
        """Return the lines skipped since the last call, each with its error.

        If there are any, `next_batch` may have returned None because of them: call it again before
        `feed`.
        """

    def reset(self) -> None:
        """Prepare for another log with the same options."""

    def decode_log(
        self, log: bytes, /, stop_bytes: int | None = None
    ) -> tuple[Sequence[AnyBatch], bool]:
        """Decode another log that is completely in memory.

        Args:
            log: The log.
            stop_bytes: Stop when the batches take more memory than this, in bytes.

        Returns:
            The batches, and whether they are all batches of the log. If not, call `next_batch`: it
            raises the error that follows these batches or, after a stop, returns the next batch.
        """

    def header(self) -> Mapping[str, Any]:
        """Return the data that the log declares about itself, as far as it has been read."""

    @property
    def done(self) -> bool:
        """Whether the remaining input belongs to other splits, so that reading can stop."""


class EncoderLike(Protocol):
    """Encodes batches as bytes."""

    def encode(self, batch: Any, /, source: str | None = None) -> bytes:
        """Return the bytes of a batch.

        Args:
            batch: The messages.
            source: The name of the log that they came from, for formats that store it.

        Raises:
            EncodeError: If a message cannot be written.
        """

    def finish(self) -> bytes:
        """Return the bytes at the end of the log."""

    def reset(self) -> None:
        """Prepare for another log with the same options, and reset the counts of `dropped`."""

    def dropped(self) -> dict[str, int]:
        """Return the numbers of dropped items so far, by name."""

    def notes(self) -> list[str]:
        """Return notes for readers of the log, one sentence each."""


class Decoder(ABC):
    """Base class of decoders written in Python.

    Subclasses must define `feed`, `finish`, `next_batch` and `reset`.
    """

    @abstractmethod
    def feed(self, piece: bytes, /) -> None:
        """Accept a piece of the log, cut anywhere. This never fails, and decodes nothing."""

    @abstractmethod
    def finish(self) -> None:
        """Mark the end of the log. Further calls have no effect."""

    @abstractmethod
    def next_batch(self) -> AnyBatch | None:
        """Return the next batch; None if more input is needed or, after `finish`, at the end.

        Raises:
            DecodeError: If the log is invalid. Raised after every message completed before the
                error, and again on later calls.
        """

    @abstractmethod
    def reset(self) -> None:
        """Prepare for another log with the same options, and discard all input and errors."""

    def skip_message(self) -> bytes | None:
        """Skip to the next delimiter after an error, if the format is `resumable`.

        Raises:
            DecodeError: If the format is not `resumable`. This is the error that would be skipped.
        """
        self.next_batch()
        raise ValueError("there is no error to skip")

    @property
    def skip_cut(self) -> bool:
        """Return False, since formats written in Python are not formats of lines."""
        return False

    def take_skipped_lines(self) -> Sequence[tuple[DecodeError, bytes]]:
        """Return no lines, since formats written in Python cannot skip lines."""
        return ()

    def decode_log(
        self, log: bytes, /, stop_bytes: int | None = None
    ) -> tuple[Sequence[AnyBatch], bool]:
        """Decode another log that is completely in memory, and return its batches."""
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
        """Return the data that the log declares about itself; empty by default."""
        return {}

    @property
    def done(self) -> bool:
        """Return False, since formats written in Python have no splits."""
        return False


class FileDecoder(Decoder):
    """Base class of decoders that read a log from its end (`FormatSpec.whole_file`).

    Attributes:
        bytes_read: The approximate part of the file that the returned messages take, in bytes.
    """

    bytes_read: int = 0

    @abstractmethod
    def feed_file(self, file: BinaryIO) -> None:
        """Use a seekable file as the log. The file must stay open."""


class Encoder(ABC):
    """Base class of encoders written in Python.

    Subclasses must define `encode`, `finish` and `reset`.
    """

    @abstractmethod
    def encode(self, batch: Any, /, source: str | None = None) -> bytes:
        """Return the bytes of a batch; `source` is the name of the log that its messages came from.

        Raises:
            EncodeError: If a message cannot be written.
        """

    @abstractmethod
    def finish(self) -> bytes:
        """Return the bytes at the end of the log."""

    @abstractmethod
    def reset(self) -> None:
        """Prepare for another log with the same options, and reset the counts of `dropped`."""

    def dropped(self) -> dict[str, int]:
        """Return the numbers of dropped items so far, by name; empty by default."""
        return {}

    def notes(self) -> list[str]:
        """Return notes for readers of the log, one sentence each; empty by default."""
        return []


class Format(Generic[B]):
    r"""A format: its description, its codecs, and functions for logs in memory.

    Attributes:
        spec: The description of the format.
        name: The name used everywhere, such as `nq`.
        is_slow: Whether encoding takes longer than decoding, so that batches wait for the encoder.

    Example:
        >>> from rdfm import formats
        >>> batch = formats.nq.decode(b"<x:s> <x:p> <x:o> .")
        >>> formats.nt.encode(batch)
        b'<x:s> <x:p> <x:o> .\n'
    """

    is_slow = False

    def __init__(
        self,
        spec: FormatSpec,
        decoder: Callable[..., DecoderLike] | None,
        encoder: Callable[..., EncoderLike] | None,
    ) -> None:
        """Create a format from its spec, and from functions or classes that create its codecs.

        These functions are called with options as keyword arguments.

        Args:
            spec: The description of the format.
            decoder: Creates a decoder; None if the format cannot be read.
            encoder: Creates an encoder; None if the format cannot be written.
        """
        self.spec = spec
        self.name = spec.name
        self._decoder = decoder
        self._encoder = encoder

    @property
    def is_read(self) -> bool:
        """Whether the format can be read."""
        return self._decoder is not None

    @property
    def is_written(self) -> bool:
        """Whether the format can be written."""
        return self._encoder is not None

    def Decoder(self, **options: Any) -> DecoderLike:
        """Return a decoder with options of `spec.reads`.

        Raises:
            OptionError: If an option is unknown or its value is invalid.
        """
        return self.decoder(options)

    def Encoder(self, **options: Any) -> EncoderLike:
        """Return an encoder with options of `spec.writes`.

        Raises:
            OptionError: If an option is unknown or its value is invalid.
        """
        return self.encoder(options)

    def decoder(self, options: Mapping[str, Any], opening: Opening = Opening()) -> DecoderLike:  # noqa: B008 - immutable
        """Return a decoder, as `Decoder` does, for a log that is opened according to `opening`."""
        if self._decoder is None:
            raise TypeError(f"{self.spec.title} cannot be read")
        return self._make_decoder(self.spec.values("read", options), opening)

    def encoder(
        self, options: Mapping[str, Any], source: Mapping[str, Any] | None = None
    ) -> EncoderLike:
        """Return an encoder, as `Encoder` does.

        Args:
            options: Options of `spec.writes`.
            source: Known properties of the log that the messages come from; see `_core.Encoder`.
        """
        if self._encoder is None:
            raise TypeError(f"{self.spec.title} cannot be written")
        return self._make_encoder(self.spec.values("write", options), source)

    def _make_decoder(self, values: dict[str, Any], _opening: Opening) -> DecoderLike:
        if self._decoder is None:
            raise TypeError(f"{self.spec.title} cannot be read")
        return self._decoder(**values)

    def _make_encoder(
        self, values: dict[str, Any], _source: Mapping[str, Any] | None
    ) -> EncoderLike:
        if self._encoder is None:
            raise TypeError(f"{self.spec.title} cannot be written")
        return self._encoder(**values)

    def decode(self, data: bytes | bytearray | memoryview, **options: Any) -> B:
        """Decode a complete log in memory. For files, use `rdfm.open_log`.

        Args:
            data: The decompressed log, as any bytes-like object.
            **options: Options of `spec.reads`.

        Returns:
            A `MessageBatch`, or another batch type for logs of another kind.

        Raises:
            DecodeError: If `data` is invalid; no messages are returned.
            LimitError: If a message is larger than `max_message_bytes` (in decoded bytes), or all
                messages are too large for one batch.
            MissingExtraError: If the format needs a package that is not installed.
            OptionError: If an option is unknown or its value is invalid.
            TypeError: If `data` is not a bytes-like object.
        """
        if isinstance(data, str):
            raise TypeError('decode takes bytes, not a string; for text, use text.encode("utf-8")')
        if not isinstance(data, bytes):
            data = memoryview(data).tobytes()
        has_batches = "batch_messages" in self.spec.options("read")
        if has_batches:
            options["batch_messages"] = _MAX_BATCH_MESSAGES
        decoder = self.decoder(options, _ONE_BATCH)
        batches, is_complete = decoder.decode_log(data)
        if not is_complete:
            decoder.next_batch()
        if len(batches) > 1 and has_batches:
            raise LimitError("the log is too large for one batch; read it with rdfm.open_log")
        if len(batches) == 1:
            return cast("B", batches[0])
        return cast("B", _join(batches, batches[0].kind if batches else self.spec.kinds[0]))

    def encode(
        self,
        batch: B | Message | Patch | Iterable[Message | Patch | Iterable[Quad]],
        **options: Any,
    ) -> bytes:
        """Encode messages as a complete log. For files, use `rdfm.create_log`.

        Args:
            batch: A batch, a message, or an iterable of messages; a message may be an iterable of
                quads. Formats of patches accept patches instead.
            **options: Options of `spec.writes`.

        Raises:
            EncodeError: If a message cannot be written in the format.
            MissingExtraError: If the format needs a package that is not installed.
            OptionError: If an option is unknown or its value is invalid.
            TypeError: If `batch` is anything else.
        """
        return encode_all(self.encoder(options), self._as_batch(batch))

    def _as_batch(self, messages: Any) -> AnyBatch:
        """Return a batch of messages.

        Raises:
            TypeError: If there is no batch, message or iterable of messages.
        """
        if hasattr(messages, "record_count"):
            return cast("AnyBatch", messages)
        if isinstance(messages, (Message, Patch)):
            messages = [messages]
        accepted = "a batch, a message or an iterable of messages (Message or iterables of Quad)"
        if isinstance(messages, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"encode takes {accepted}, not {type(messages).__name__}")
        try:
            items: list[Any] = [messages] if isinstance(messages, Quad) else list(messages)
            if any(isinstance(item, Quad) for item in items):
                raise TypeError("an item is a Quad; the message of quads is Message(quads)")
            if items and all(isinstance(item, Patch) for item in items):
                return PatchBatch.from_patches(items)
            return MessageBatch.from_messages(items)
        except TypeError as error:
            raise TypeError(f"encode takes {accepted}: {error}") from None

    def __repr__(self) -> str:
        """Return text such as `<Format nq: N-Quads>`."""
        return f"<Format {self.name}: {self.spec.title}>"


def _join(batches: Sequence[AnyBatch], kind: str) -> AnyBatch:
    """Join batches of messages or patches."""
    messages: Any = (message for batch in batches for message in batch)
    if kind == "patches":
        return PatchBatch.from_patches(messages)
    return MessageBatch.from_messages(messages)


def encode_view(encoder: Any) -> Callable[..., Any]:
    """Return the `encode` method of an encoder. Native encoders return bytes without a copy."""
    method: Callable[..., Any] = getattr(encoder, "encode_view", encoder.encode)
    return method


def encode_all(encoder: EncoderLike, batch: AnyBatch) -> bytes:
    """Encode one batch as a complete log.

    Raises:
        EncodeError: If a message cannot be written in the format.
    """
    return encoder.encode(batch) + encoder.finish()

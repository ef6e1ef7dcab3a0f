"""What the format modules share: `Format`, the shapes of decoder and encoder, `decode_all`, `encode_all`.

In: the description of a format. Out: what the registry, `open_log` and `convert` go by.
Cost: none until a codec is made. Law: every refusal derives from `Format.carries`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rdfm._core import MessageBatch, sniff
from rdfm.errors import LimitError, OptionError

__all__ = ["DecoderLike", "EncoderLike", "Format", "FormatModule", "decode_all", "encode_all"]

# What the value of an option is: True or False, a number (sizes in bytes too), a text (choices too), or
# a dict of texts, or a context of JSON-LD (its file, its text or a dict).
KINDS = ("switch", "number", "text", "pairs", "context")
# The largest batches that the core makes.
WHOLE = {"batch_quads": 1 << 28, "batch_bytes": 512 << 20, "batch_messages": 1 << 28}


class DecoderLike(Protocol):
    """Bytes to batches. A format in pure Python offers these methods too."""

    def feed(self, piece: bytes, /) -> None:
        """Take a piece of the log, cut anywhere. Never fails, decodes nothing."""

    def finish(self) -> None:
        """Mark the end of the log; doing so again changes nothing."""

    def next_batch(self) -> MessageBatch | None:
        """Give the next batch; None means "feed me", and after `finish` "done".

        Raises:
            DecodeError: After every message completed before the error, and again on later calls.
        """

    def skip_message(self) -> bytes | None:
        """Go to the next delimiter after an error; None means "feed me and call again"."""

    def header(self) -> dict[str, Any]:
        """Say what the log says about itself, as far as read."""


class EncoderLike(Protocol):
    """Batches to bytes. A format in pure Python offers these methods too."""

    def encode(self, batch: MessageBatch, /) -> bytes:
        """Give the bytes of a batch.

        Raises:
            EncodeError: A message cannot be written.
        """

    def finish(self) -> bytes:
        """Give the bytes at the end of the log."""

    def dropped(self) -> dict[str, int]:
        """Count what was left out so far, by name."""


@dataclass(frozen=True)
class Format:
    """What rdfm knows about a format.

    Attributes:
        name: The name used everywhere, such as `nq`.
        title: The name for people, such as `N-Quads`.
        suffixes: File name endings, the usual one first, such as `.nq`.
        media_types: Media types, the registered one first.
        magic: Tells from a log's first bytes (decompressed, up to 4 KiB) that it is of this format.
        aliases: Other names that people use.
        decode_options: The options that the decoder takes: name and kind (one of `KINDS`), so that
            they can be given as text. Bare names are taken as options of text.
        encode_options: The options that the encoder takes, in the same way.
        value_options: Options that the encoder takes for a value that is a log of one message
            (`rdfm.values`), where the format's own defaults are meant for files.
        suffix_options: Options of the encoder that some suffixes stand for.
        carries: What the format can hold: `graphs`, `generalized`, `triple_terms`
            ("no", "object", "anywhere"), `directions`, `boundaries`, `order`, `namespaces`, `metadata`, `any_text`
            (any character in a text, and any IRI as a predicate).
        binary: Whether a log is no text, and so nothing for a terminal.
        continuable: Whether an encoder takes a message in parts (batches that `continue`).
        continuable_with: Options of which each makes it take one so, where it else does not.
        resumable: Whether a decoder can go on after an error.
        splittable: Whether a log can be read from the middle.

    Example:
        >>> from rdfm import formats
        >>> formats.find("nq").FORMAT.title
        'N-Quads'
    """

    name: str
    title: str
    suffixes: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    magic: Callable[[bytes], bool] | None = None
    aliases: tuple[str, ...] = ()
    decode_options: Mapping[str, str] = field(default_factory=dict)
    encode_options: Mapping[str, str] = field(default_factory=dict)
    value_options: Mapping[str, Any] = field(default_factory=dict)
    suffix_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    carries: Mapping[str, Any] = field(default_factory=dict)
    binary: bool = False
    continuable: bool = False
    continuable_with: Mapping[str, Any] = field(default_factory=dict)
    resumable: bool = False
    splittable: bool = False

    def __post_init__(self) -> None:
        """Give bare names of options the kind "text".

        Raises:
            OptionError: An option is of an unknown kind.
        """
        for codec in ("decode_options", "encode_options"):
            given = getattr(self, codec)
            kinds = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, "text")
            for name, kind in kinds.items():
                if kind not in KINDS:
                    raise OptionError(
                        f"the option '{name}' of the format {self.name} is of the kind '{kind}'; "
                        f"kinds are {', '.join(KINDS)}"
                    )
            object.__setattr__(self, codec, kinds)


class FormatModule(Protocol):
    """A module (or object) that stands for a format: `FORMAT`, `Decoder`, `Encoder`."""

    @property
    def FORMAT(self) -> Format:
        """The description."""

    @property
    def Decoder(self) -> Callable[..., DecoderLike]:
        """Makes a decoder from options."""

    @property
    def Encoder(self) -> Callable[..., EncoderLike]:
        """Makes an encoder from options."""


def magic(name: str) -> Callable[[bytes], bool]:
    """What tells a format of the core from a log's first bytes."""
    return lambda head: sniff(name, head, True) is True


def decode_all(decoder: DecoderLike, data: bytes) -> MessageBatch:
    """Decode a whole log held in memory into one batch; the decoder must be made with `WHOLE`.

    Raises:
        DecodeError: The log breaks its format; no message is returned.
        LimitError: The log is too large for one batch.
    """
    decoder.feed(data)
    decoder.finish()
    batch = decoder.next_batch()
    if batch is None:
        return MessageBatch.from_messages([])
    if decoder.next_batch() is not None:
        raise LimitError("the log is too large for one batch; read it with rdfm.open_log")
    return batch


def encode_all(encoder: EncoderLike, batch: MessageBatch) -> bytes:
    """Encode one batch as a whole log.

    Raises:
        EncodeError: A message cannot be written in the format.
    """
    return encoder.encode(batch) + encoder.finish()

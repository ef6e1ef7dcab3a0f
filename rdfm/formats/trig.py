"""TriG logs: Turtle with graph blocks; prefixes stay in force across messages (`.trig`)."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import TriGDecoder as Decoder
from rdfm._core import TriGEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="trig",
    title="TriG",
    suffixes=(".trig",),
    media_types=("application/trig", "application/x-trig"),
    magic=magic("trig"),
    aliases=("trig12",),
    decode_options=option_kinds("trig", "decoder"),
    encode_options=option_kinds("trig", "encoder"),
    carries=carries("trig"),
    continuable=True,
    **traits("trig"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks TriG; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in TriG.
    """
    return encode_all(Encoder(**options), batch)

"""Turtle logs: prefixes stay in force across messages (`.ttl`). Graph names are refused, or merged."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import TurtleDecoder as Decoder
from rdfm._core import TurtleEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="ttl",
    title="Turtle",
    suffixes=(".ttl", ".turtle"),
    media_types=("text/turtle", "application/x-turtle"),
    magic=None,
    aliases=("turtle", "ttl12", "longturtle"),
    decode_options=option_kinds("ttl", "decoder"),
    encode_options=option_kinds("ttl", "encoder"),
    carries=carries("ttl"),
    continuable=True,
    **traits("ttl"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks Turtle; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in Turtle.
    """
    return encode_all(Encoder(**options), batch)

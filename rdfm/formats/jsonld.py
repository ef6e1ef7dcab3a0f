"""JSON-LD documents: one document is one message (`.jsonld`)."""

from typing import Any

from rdfm._core import JsonLdDecoder as Decoder
from rdfm._core import JsonLdEncoder as Encoder
from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="jsonld",
    title="JSON-LD",
    suffixes=(".jsonld",),
    media_types=("application/ld+json",),
    magic=magic("jsonld"),
    aliases=("json-ld",),
    decode_options=option_kinds("jsonld", "decoder"),
    encode_options=option_kinds("jsonld", "encoder"),
    carries=carries("jsonld"),
    **traits("jsonld"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks JSON-LD; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in JSON-LD.
    """
    return encode_all(Encoder(**options), batch)

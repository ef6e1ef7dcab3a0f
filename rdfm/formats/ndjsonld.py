"""NDJSON-LD logs: a JSON-LD document a line, with context messages between (`.ndjsonld`)."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import NdjsonLdDecoder as Decoder
from rdfm._core import NdjsonLdEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="ndjsonld",
    title="NDJSON-LD",
    suffixes=(".ndjsonld",),
    media_types=("application/x-ld+ndjson",),
    magic=magic("ndjsonld"),
    aliases=("ndjson-ld", "ndjson", "jsonl"),
    decode_options=option_kinds("ndjsonld", "decoder"),
    encode_options=option_kinds("ndjsonld", "encoder"),
    carries=carries("ndjsonld"),
    **traits("ndjsonld"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks NDJSON-LD; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in NDJSON-LD.
    """
    return encode_all(Encoder(**options), batch)

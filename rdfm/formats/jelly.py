"""Jelly logs: binary, a frame a message, or by a flat logical type all frames one message (`.jelly`)."""

from typing import Any

from rdfm._core import JellyDecoder as Decoder
from rdfm._core import JellyEncoder as Encoder
from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "LOGICAL_TYPES", "Decoder", "Encoder", "decode", "encode"]

# Names of the logical stream types (RDF-STaX) and their numbers in the options row.
LOGICAL_TYPES = {
    "unspecified": 0,
    "flat_triples": 1,
    "flat_quads": 2,
    "graphs": 3,
    "datasets": 4,
    "subject_graphs": 13,
    "named_graphs": 14,
    "timestamped_named_graphs": 114,
}

FORMAT = Format(
    name="jelly",
    title="Jelly",
    suffixes=(".jelly",),
    media_types=("application/x-jelly-rdf",),
    magic=magic("jelly"),
    aliases=("jelly-rdf",),
    decode_options=option_kinds("jelly", "decoder"),
    encode_options=option_kinds("jelly", "encoder"),
    value_options={"delimited": False},
    carries=carries("jelly"),
    binary=True,
    continuable_with={"frames": "flat"},
    **traits("jelly"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks Jelly; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes), or a frame or
            lookup table larger than its limit.
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written with these stream options.
    """
    return encode_all(Encoder(**options), batch)

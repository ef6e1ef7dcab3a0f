"""N-Triples logs: a triple a line, messages delimited by a comment or `MESSAGE` (`.nt`)."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import NTriplesDecoder as Decoder
from rdfm._core import NTriplesEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="nt",
    title="N-Triples",
    suffixes=(".nt", ".ntriples"),
    media_types=("application/n-triples",),
    magic=None,
    aliases=("n-triples", "ntriples", "nt11", "nt12"),
    decode_options=option_kinds("nt", "decoder"),
    encode_options=option_kinds("nt", "encoder"),
    carries=carries("nt"),
    continuable=True,
    **traits("nt"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks N-Triples; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in N-Triples.
    """
    return encode_all(Encoder(**options), batch)

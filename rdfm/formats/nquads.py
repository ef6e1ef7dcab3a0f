"""N-Quads logs: a quad a line, messages delimited by a comment or `MESSAGE` (`.nq`)."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import NQuadsDecoder as Decoder
from rdfm._core import NQuadsEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="nq",
    title="N-Quads",
    suffixes=(".nq", ".nquads"),
    media_types=("application/n-quads",),
    magic=magic("nq"),
    aliases=("n-quads", "nquads", "nq11", "nq12"),
    decode_options=option_kinds("nq", "decoder"),
    encode_options=option_kinds("nq", "encoder"),
    carries=carries("nq"),
    continuable=True,
    **traits("nq"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks N-Quads; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in N-Quads.
    """
    return encode_all(Encoder(**options), batch)

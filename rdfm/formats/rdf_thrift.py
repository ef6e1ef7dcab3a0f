"""RDF Thrift: the rows of Jena; nothing stands between messages, so a log is one (`.rt`)."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import RdfThriftDecoder as Decoder
from rdfm._core import RdfThriftEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="rdf-thrift",
    title="RDF Thrift",
    suffixes=(".rt", ".trdf"),
    media_types=("application/rdf+thrift",),
    magic=magic("rdf-thrift"),
    aliases=("thrift",),
    decode_options=option_kinds("rdf-thrift", "decoder"),
    encode_options=option_kinds("rdf-thrift", "encoder"),
    carries=carries("rdf-thrift"),
    binary=True,
    continuable=True,
    **traits("rdf-thrift"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks RDF Thrift; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in RDF Thrift.
    """
    return encode_all(Encoder(**options), batch)

"""RDF Protobuf logs: a length-prefixed `RDF_Stream` a message, or the rows of Jena (`.rpb`)."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import RdfProtobufDecoder as Decoder
from rdfm._core import RdfProtobufEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="rdf-protobuf",
    title="RDF Protobuf",
    suffixes=(".rpb", ".pbrdf"),
    media_types=("application/rdf+protobuf",),
    magic=magic("rdf-protobuf"),
    aliases=("protobuf", "rdf-proto"),
    decode_options=option_kinds("rdf-protobuf", "decoder"),
    encode_options=option_kinds("rdf-protobuf", "encoder"),
    carries=carries("rdf-protobuf"),
    binary=True,
    continuable_with={"framing": "rows", "flat": True},
    **traits("rdf-protobuf"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks RDF Protobuf; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in RDF Protobuf.
    """
    return encode_all(Encoder(**options), batch)

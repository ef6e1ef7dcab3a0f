"""RDF/XML logs: an XML document a line, or one document of many lines (`.rdf`)."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import RdfXmlDecoder as Decoder
from rdfm._core import RdfXmlEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="rdfxml",
    title="RDF/XML",
    suffixes=(".rdf", ".rdfxml", ".owl"),
    media_types=("application/rdf+xml", "application/rdfm+xml"),
    magic=magic("rdfxml"),
    aliases=("rdf/xml", "rdf-xml", "xml"),
    decode_options=option_kinds("rdfxml", "decoder"),
    encode_options=option_kinds("rdfxml", "encoder"),
    carries=carries("rdfxml"),
    **traits("rdfxml"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks RDF/XML; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in RDF/XML.
    """
    return encode_all(Encoder(**options), batch)

"""YAML-LD logs: JSON-LD in YAML, a document a message, with context messages between (`.yamlld`)."""

from typing import Any

from rdfm._core import MessageBatch, carries, option_kinds, traits
from rdfm._core import YamlLdDecoder as Decoder
from rdfm._core import YamlLdEncoder as Encoder
from rdfm.formats._base import WHOLE, Format, decode_all, encode_all, magic

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

FORMAT = Format(
    name="yamlld",
    title="YAML-LD",
    suffixes=(".yamlld",),
    media_types=("application/rdfm+yaml", "application/ld+yaml"),
    magic=magic("yamlld"),
    aliases=("yaml-ld", "yaml", "yml"),
    decode_options=option_kinds("yamlld", "decoder"),
    encode_options=option_kinds("yamlld", "encoder"),
    carries=carries("yamlld"),
    **traits("yamlld"),
)


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log, decompressed.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` breaks YAML-LD; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in decoded bytes).
    """
    return decode_all(Decoder(**{**options, **WHOLE}), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        EncodeError: A message cannot be written in YAML-LD.
    """
    return encode_all(Encoder(**options), batch)

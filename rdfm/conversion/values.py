"""Columns of values, such as table cells. Each value is a log of one message or patch.

In: an Arrow array of bytes, or of lists of quads or operations. Out: an array of the other type.
Cost: native formats are processed in the core, without the GIL.
Law: the result for a value does not depend on other values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from rdfm import _core, formats
from rdfm._core import ArrowArray
from rdfm.errors import OptionError
from rdfm.formats import Format, encode_all

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["ValueDecoder", "ValueEncoder", "decode_values", "encode_values"]


def decode_values(
    format: str | Format,
    values: Any,
    *,
    on_error: Literal["raise", "null"] = "raise",
    **options: Any,
) -> ArrowArray:
    """Decode an Arrow array of bytes, each value a complete log of one message.

    Args:
        format: The format or its name.
        values: An array with the Arrow PyCapsule interface, such as a pyarrow array.
        on_error: "raise", or "null" to return null for invalid values.
        **options: Options of the format's decoder; limits apply to each value.

    Returns:
        Lists of quads as in the column `quads` of `MessageBatch.to_arrow`, for `pyarrow.array(…)`
        and other libraries: an empty list for a value without a message, null for null. For a
        patch format, lists of operations, as in the column `operations` of a `PatchBatch`.

    Raises:
        DecodeError: If a value is invalid in its format, or contains several messages; `source`
            identifies it.
        LimitError: If the result exceeds 2 GiB; decode fewer values at once.
        OptionError: If the format does not support an option here.

    Example:
        >>> import pyarrow as pa
        >>> quads = decode_values("nt", pa.array([b"<a:s> <a:p> 'o' .".replace(b"'", b'"'), None]))
        >>> pa.array(quads).to_pylist()
        [[{'subject': '<a:s>', 'predicate': '<a:p>', 'object': '"o"', 'graph': None}], None]
    """
    return ValueDecoder(format, **options)(values, on_error=on_error)


def encode_values(
    format: str | Format, quads: Any, *, max_depth: int = 64, **options: Any
) -> ArrowArray:
    r"""Encode an Arrow array of lists of quads, each as a complete log of one message.

    Args:
        format: The format or its name.
        quads: An array with the Arrow PyCapsule interface, like the column `quads` of
            `MessageBatch.from_arrow`; for a patch format, like the column `operations` of
            `PatchBatch.from_arrow`.
        max_depth: Maximum nesting depth of triple terms.
        **options: Options of the format's encoder, which override its `spec.value_options`.

    Returns:
        Bytes, for `pyarrow.array(…)` and other libraries; null for null.

    Raises:
        DecodeError: If a term is not valid N-Triples; the error names the row and the term.
        EncodeError: If the format cannot represent a message; `source` identifies it.
        LimitError: If the result exceeds 2 GiB; encode fewer values at once.
        OptionError: If the format does not support an option here.

    Example:
        >>> import pyarrow as pa
        >>> quad = {"subject": "<a:s>", "predicate": "<a:p>", "object": "<a:o>", "graph": "<a:g>"}
        >>> pa.array(encode_values("nq", pa.array([[quad], None]))).to_pylist()
        [b'<a:s> <a:p> <a:o> <a:g> .\n', None]
    """
    return ValueEncoder(format, **options)(quads, max_depth=max_depth)


class ValueDecoder:
    """Decodes arrays of values with the same options; it can be called many times."""

    def __init__(self, format: str | Format, **options: Any) -> None:
        """Create the decoder.

        Raises:
            UnknownFormatError: If no format has that name.
            OptionError: If the format does not support an option here.
        """
        value_format = _find_format(format)
        decoder, self.kind = value_format.decoder(options), value_format.spec.kinds[0]

        def batches(value: bytes) -> Iterator[AnyBatch]:
            decoded, ended = decoder.decode_log(value)
            yield from decoded
            if not ended:
                decoder.next_batch()

        self._decoder = decoder if isinstance(decoder, _core.Decoder) else batches

    def __call__(self, values: Any, *, on_error: Literal["raise", "null"] = "raise") -> ArrowArray:
        """Decode an array, as `decode_values` does."""
        return _core.decode_values(self._decoder, values, on_error=on_error, kind=self.kind)


class ValueEncoder:
    """Encodes arrays of lists of quads with the same options; it can be called many times."""

    def __init__(self, format: str | Format, **options: Any) -> None:
        """Create the encoder.

        Raises:
            UnknownFormatError: If no format has that name.
            OptionError: If the format does not support an option.
        """
        value_format = _find_format(format)
        encoder = value_format.encoder({**value_format.spec.value_options, **options})

        def write(batch: AnyBatch) -> bytes:
            encoder.reset()
            return encode_all(encoder, batch)

        self.kind = value_format.spec.kinds[0]
        self._encoder: _core.Encoder | Callable[[AnyBatch], bytes] = (
            encoder if isinstance(encoder, _core.Encoder) else write
        )

    def __call__(self, quads: Any, *, max_depth: int = 64) -> ArrowArray:
        """Encode an array, as `encode_values` does."""
        return _core.encode_values(self._encoder, quads, max_depth=max_depth, kind=self.kind)


def _find_format(format: str | Format) -> Format:
    value_format = formats.find(format) if isinstance(format, str) else format
    if value_format.spec.kinds[0] == "results":
        raise OptionError(
            f"values must be messages or patches, but {value_format.spec.title} is a result format"
        )
    return value_format

"""The formats of the Rust core as `Format` objects.

In: declarations of the core. Out: formats whose codecs are in the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from rdfm import _core
from rdfm.formats.format import DecoderLike, EncoderLike, Format, Opening
from rdfm.formats.spec import FormatSpec, OptionSpec

__all__ = ["NativeFormat", "native"]

# Options of the context loader.
_LOADER = ("context", "contexts", "context_cache", "allow_network")


class NativeFormat(Format):
    """A format of the core."""

    def _make_decoder(self, values: dict[str, Any], opening: Opening) -> DecoderLike:
        """Create a decoder of the core. Remote contexts come from a separate loader."""
        loader = None
        if loader_options := {name: values.pop(name) for name in _LOADER if name in values}:
            from rdfm.storage.contexts import ContextLoader  # costly to import

            loader = ContextLoader(**loader_options)
        settings = opening._asdict()
        values |= settings.pop("batches") or {}
        return _core.Decoder(self.name, values, context_loader=loader, **settings)

    def _make_encoder(
        self, values: dict[str, Any], source: Mapping[str, Any] | None
    ) -> EncoderLike:
        return _core.Encoder(self.name, values, source=None if source is None else dict(source))


def native(name: str) -> NativeFormat:
    """Return the format of the core with this name."""
    fields = _freeze_fields(_core.format_spec(name))
    for side in ("reads", "writes"):
        fields[side] = [_option(*_freeze_fields(option).items()) for option in fields[side]]
    fields["value_options"] = dict(fields["value_options"])
    spec = FormatSpec(**fields, sniff=lambda head, complete: _core.sniff(name, head, complete))
    return NativeFormat(spec, _core.Decoder, _core.Encoder)


@cache
def _option(*fields: tuple[str, Any]) -> OptionSpec:
    """The option with these fields. Most options belong to several formats."""
    return OptionSpec(**dict(fields))


def _freeze_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a spec, with lists converted to tuples."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }

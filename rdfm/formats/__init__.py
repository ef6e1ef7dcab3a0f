"""The registry of formats: by name, alias, suffix, media type or content.

In: a name, a path, or a log's first bytes. Out: a `Format`. Each format is also an attribute:
`formats.nq`.
Cost: the declaration of a format is loaded on first use; plug-ins are imported only if no built-in
format matches.
Law: plug-ins (entry point group `rdfm.formats`, or `register`) never replace a built-in format.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from rdfm import _core
from rdfm.errors import OptionError, UnknownFormatError
from rdfm.formats.format import (
    Decoder,
    DecoderLike,
    Encoder,
    EncoderLike,
    FileDecoder,
    Format,
    Opening,
    encode_all,
)
from rdfm.formats.spec import FormatSpec, OptionSpec

if TYPE_CHECKING:
    from rdfm.formats import formats_generated
    from rdfm.formats.formats_generated import *  # noqa: F403 - declared there, returned by __getattr__

__all__ = [
    "Decoder",
    "DecoderLike",
    "Encoder",
    "EncoderLike",
    "FileDecoder",
    "Format",
    "FormatSpec",
    "Opening",
    "OptionSpec",
    "by_content",
    "by_path",
    "encode_all",
    "find",
    "names",
    "register",
    "specs",
    "unregister",
]  # not `all`, which would replace the built-in function in a star import
if TYPE_CHECKING:  # in an installed package, type checkers accept only these names from elsewhere
    __all__ += formats_generated.__all__

GROUP = "rdfm.formats"
HEAD_BYTES = 4096
COMPRESSION_SUFFIXES = (".gz", ".gzip", ".zst", ".zstd", ".bz2", ".xz")
# Formats implemented in Python, and their modules.
_IN_PYTHON = {"parquet": "parquet_files", "arrow": "arrow_files"}
_BUILT_IN = (*_core.format_names(), *_IN_PYTHON)
# Minimum ratio, as defined by difflib, at which two suffixes are similar.
_SIMILARITY = 0.8
_registered: dict[str, Format] = {}


@cache
def _load_built_in(name: str) -> Format:
    if name in _IN_PYTHON:
        from importlib import import_module

        format: Format = import_module(f"rdfm.formats.{_IN_PYTHON[name]}").FORMAT
        return format
    from rdfm.formats.native import native

    return native(name)


@cache
def _entry_points() -> tuple[dict[str, Format], dict[str, str]]:
    """The plug-ins of installed packages, and the errors of those that do not load, by entry point.

    If several plug-ins have the same name, the first one wins. No plug-in replaces a built-in
    format. A plug-in that cannot be loaded is skipped with a warning, because the user may need a
    different format.
    """
    from importlib.metadata import entry_points

    plug_ins: dict[str, Format] = {}
    failures: dict[str, str] = {}
    for entry_point in entry_points(group=GROUP):
        if entry_point.name in _BUILT_IN or entry_point.name in plug_ins:
            continue
        try:
            format = _check_plug_in(entry_point.load())
        except Exception as error:
            plug_in = f"the plug-in '{entry_point.name}' ({entry_point.value})"
            text = f"{plug_in} cannot be loaded: {type(error).__name__}: {error}"
            failures[entry_point.name] = text
            _warn(f"{text}; its format is ignored")
            continue
        if format.name not in _BUILT_IN:
            plug_ins[format.name] = format
    return plug_ins, failures


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _check_plug_in(format: object) -> Format:
    """Check that a plug-in is a valid `Format`.

    Raises:
        TypeError: If the plug-in is not a `Format`.
        OptionError: If the name of one of its options is reserved.
    """
    if not isinstance(format, Format):
        raise TypeError(f"expected an rdfm.formats.Format, found {type(format).__name__}")
    from rdfm.formats.options_generated import RESERVED

    spec = format.spec
    for name in (*spec.options("read"), *spec.options("write")):
        if name in RESERVED or name.startswith(("from_", "to_")):
            raise OptionError(
                f"the format {spec.name} has an option named {name}, which is reserved; choose another name"
            )
    return format


def _iter_formats() -> Iterator[Format]:
    """Yield built-in formats first, so that plug-ins are imported only if needed."""
    for name in _BUILT_IN:
        yield _load_built_in(name)
    # Loaded first, because importing a module may register formats.
    plug_ins = _entry_points()[0]
    yield from (plug_ins | _registered).values()


def all() -> list[Format]:
    """Return all formats, built-in ones first."""
    return list(_iter_formats())


def built_in() -> list[Format]:
    """Return the built-in formats, without importing plug-ins."""
    return [_load_built_in(name) for name in _BUILT_IN]


def specs() -> list[FormatSpec]:
    """Return the specs of all formats, built-in ones first."""
    return [format.spec for format in _iter_formats()]


def names() -> list[str]:
    """Return the names of all formats, built-in ones first.

    Example:
        >>> names()[:2]
        ['nt', 'nq']
    """
    return [format.name for format in _iter_formats()]


def register(format: Format) -> None:
    """Add a format for this process. Packages use the entry point group `rdfm.formats` instead.

    Args:
        format: The format.

    Raises:
        OptionError: If the name or an alias belongs to a built-in format, or the name of an option
            is reserved.
        TypeError: If the argument is not a `Format`.
    """
    format = _check_plug_in(format)
    for name in (format.name, *format.spec.aliases):
        for built_in in map(_load_built_in, _BUILT_IN):
            if _normalize_name(name) in _normalize_names(built_in.spec):
                raise OptionError(f"'{name}' is a built-in format, which plug-ins cannot replace")
    _registered[format.name] = format


def unregister(name: str) -> None:
    """Undo `register`. Other names are ignored."""
    _registered.pop(name, None)


def find(name: str) -> Format:
    """Return the format with a name, alias, suffix or media type.

    Args:
        name: A name such as `nq`, `N-Quads`, `.nq` or `application/n-quads`.

    Raises:
        UnknownFormatError: If no format has that name, or its plug-in cannot be loaded; the text
            lists the names or gives the reason.

    Example:
        >>> find("turtle").name
        'ttl'
    """
    if not isinstance(name, str):
        raise UnknownFormatError(f"a format name must be a string such as 'nq', not {name!r}")
    key = _normalize_name(name)
    if key in _BUILT_IN:
        return _load_built_in(key)
    for format in _iter_formats():
        if key in _normalize_names(format.spec):
            return format
    failure = _entry_points()[1].get(name)
    raise UnknownFormatError(
        failure or f"there is no format '{name[:40]}'; {_suggest_formats(key)}"
    )


def _suggest_formats(unknown_key: str) -> str:
    """The formats that an unknown name may refer to, or all formats."""
    from difflib import get_close_matches  # costly to import

    keys = {key: spec for spec in specs() for key in _normalize_names(spec)}
    containing = [spec for key, spec in keys.items() if len(unknown_key) > 2 and unknown_key in key]
    similar = [keys[key] for key in get_close_matches(unknown_key, keys)]
    suggestions = list(
        dict.fromkeys(f"{spec.title} ({spec.name})" for spec in containing or similar)
    )[:3]
    if not suggestions:
        return f"the formats are {', '.join(names())}"
    *others, last = suggestions
    return f"did you mean {', '.join(others)} or {last}?" if others else f"did you mean {last}?"


def by_path(path: str) -> Format | None:
    """Return the format of a file name or URL by its suffix, ignoring a compression suffix."""
    suffix = _suffix(path)
    return next((format for format in _iter_formats() if suffix in format.spec.suffixes), None)


def similar_suffix(path: str, kind: str) -> str | None:
    """Return the known suffix that is most similar to the suffix of a file name, if one is.

    Args:
        path: The file name or URL, whose suffix does not identify a format.
        kind: The kind of log.

    Example:
        >>> similar_suffix("log.jely", "messages")
        '.jelly'
    """
    from difflib import get_close_matches  # costly to import

    suffixes = [suffix for spec in specs() if kind in spec.kinds for suffix in spec.suffixes]
    return next(iter(get_close_matches(_suffix(path), suffixes, 1, _SIMILARITY)), None)


def _suffix(path: str) -> str:
    """Return the suffix of a file name or URL before a compression suffix; empty if there is none."""
    name = _file_name(path).lower()
    for suffix in COMPRESSION_SUFFIXES:
        if name.endswith(suffix):
            name = name[: -len(suffix)]
            break
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""


def by_content(head: bytes) -> Format | None:
    """Return the format detected from a log's first bytes (decompressed, up to 4 KiB)."""
    return next(
        (format for format in _iter_formats() if _identifies(format.spec, head, True)), None
    )


def by_clear_content(head: bytes) -> Format | None:
    """Return the built-in format that the available bytes identify, regardless of what follows."""
    return next((format for format in built_in() if _identifies(format.spec, head, False)), None)


def _identifies(spec: FormatSpec, head: bytes, complete: bool) -> bool:
    """Whether a log's first bytes identify a format; False if its plug-in fails."""
    if spec.sniff is None:
        return False
    try:
        return bool(spec.sniff(head, complete))
    except Exception as error:
        if spec.name in _BUILT_IN:
            raise
        _warn(f"the format '{spec.name}' cannot be detected: {type(error).__name__}: {error}")
        return False


def _file_name(path: str) -> str:
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path):
        from urllib.parse import urlsplit  # costly to import

        path = urlsplit(path).path
    return re.split(r"[/\\]", path)[-1]


def _normalize_name(name: str) -> str:
    """A normalized name: lower case, with hyphens, without media type parameters or a leading dot."""
    return name.split(";")[0].strip().lower().removeprefix(".").replace("_", "-")


def _normalize_names(spec: FormatSpec) -> set[str]:
    others = (*spec.aliases, *spec.suffixes, *spec.media_types, spec.title)
    return {_normalize_name(name) for name in (spec.name, *others)}


def _get_attribute(name: str) -> Format:
    """Return a format by its name or an alias, as in `formats.nq`, with `_` for `-`."""
    if not name.startswith("_"):
        try:
            return find(name)
        except UnknownFormatError:
            pass
    raise AttributeError(f"module 'rdfm.formats' has no attribute {name!r}")


if (
    not TYPE_CHECKING
):  # with __getattr__, type checkers would accept any name; they use formats_generated
    __getattr__ = _get_attribute

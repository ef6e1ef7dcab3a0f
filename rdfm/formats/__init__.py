"""The registry of formats: by name, alias, suffix, media type or content.

In: a name, a path, or a log's first bytes. Out: the format's module (`FORMAT`, `Decoder`, `Encoder`).
Cost: a module is imported when first asked for; plug-ins are imported when no built-in answers.
Law: plug-ins (entry point group `rdfm.formats`, or `register`) never replace a built-in.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import cast

from rdfm._core import sniff
from rdfm.errors import OptionError, UnknownFormatError
from rdfm.formats._base import (
    DecoderLike,
    EncoderLike,
    Format,
    FormatModule,
    decode_all,
    encode_all,
)

__all__ = [
    "DecoderLike",
    "EncoderLike",
    "Format",
    "FormatModule",
    "by_content",
    "by_path",
    "decode_all",
    "encode_all",
    "every",
    "find",
    "names",
    "register",
    "unregister",
]

GROUP = "rdfm.formats"
HEAD_BYTES = 4096
COMPRESSION_SUFFIXES = (".gz", ".gzip", ".zst", ".zstd", ".bz2", ".xz")
_BUILT_IN = {
    "nt": "ntriples",
    "nq": "nquads",
    "ttl": "turtle",
    "trig": "trig",
    "jelly": "jelly",
    "rdf-protobuf": "rdf_protobuf",
    "rdf-thrift": "rdf_thrift",
    "rdfxml": "rdfxml",
    "ndjsonld": "ndjsonld",
    "jsonld": "jsonld",
    "yamlld": "yamlld",
    "parquet": "parquet",
    "arrow": "arrow",
}
_registered: dict[str, FormatModule] = {}


@cache
def _built_in(name: str) -> FormatModule:
    return cast("FormatModule", import_module(f"rdfm.formats.{_BUILT_IN[name]}"))


@cache
def _entry_points() -> tuple[dict[str, FormatModule], dict[str, str]]:
    """The plug-ins of installed packages; and by entry point, why others do not load.

    The first of a name wins, none replaces a built-in. One that does not load is left out with a
    warning, since it is no reason to fail where another format is meant.
    """
    from importlib.metadata import entry_points

    found: dict[str, FormatModule] = {}
    broken: dict[str, str] = {}
    for entry_point in entry_points(group=GROUP):
        if entry_point.name in _BUILT_IN or entry_point.name in found:
            continue
        try:
            module = entry_point.load()
            name = _checked(module).name
        except Exception as error:
            plug_in = f"the plug-in '{entry_point.name}' ({entry_point.value})"
            text = f"{plug_in} does not load: {type(error).__name__}: {error}"
            broken[entry_point.name] = text
            _warn(f"{text}; its format is left out")
            continue
        if name not in _BUILT_IN:
            found[name] = module
    return found, broken


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _checked(module: object) -> Format:
    """The description of a plug-in.

    Raises:
        TypeError: It is not a format.
    """
    for part in ("FORMAT", "Decoder", "Encoder"):
        if not hasattr(module, part):
            raise TypeError(f"it has no {part}; a format has FORMAT, Decoder and Encoder")
    format: object = module.FORMAT  # type: ignore[attr-defined]  # seen above
    if not isinstance(format, Format):
        raise TypeError(f"its FORMAT is a {type(format).__name__}, expected rdfm.formats.Format")
    return format


def _each() -> Iterator[FormatModule]:
    """Built-ins first, plug-ins only if nobody stopped there."""
    for name in _BUILT_IN:
        yield _built_in(name)
    plug_ins = _entry_points()[0]  # first, since modules may register formats when imported
    yield from (plug_ins | _registered).values()


def every() -> list[FormatModule]:
    """All formats, built-ins first."""
    return list(_each())


def names() -> list[str]:
    """The names of all formats, built-ins first.

    Example:
        >>> names()[:5]
        ['nt', 'nq', 'ttl', 'trig', 'jelly']
    """
    return [module.FORMAT.name for module in _each()]


def register(module: FormatModule) -> None:
    """Add a format for this process. Packages use the entry point group `rdfm.formats` instead.

    Args:
        module: A module or object with `FORMAT`, `Decoder` and `Encoder`.

    Raises:
        OptionError: The name or an alias is that of a built-in format.
    """
    format = module.FORMAT
    for name in (format.name, *format.aliases):
        for built_in in map(_built_in, _BUILT_IN):
            if _key(name) in _keys(built_in.FORMAT):
                raise OptionError(
                    f"'{name}' is a format of rdfm itself; plug-ins cannot replace it"
                )
    _registered[format.name] = module


def unregister(name: str) -> None:
    """Take back a `register`; nothing happens for other names."""
    _registered.pop(name, None)


def find(name: str) -> FormatModule:
    """Give the format of a name, alias, suffix or media type.

    Args:
        name: Such as `nq`, `N-Quads`, `.nq` or `application/n-quads`.

    Raises:
        UnknownFormatError: No format has that name, or its plug-in does not load; the text lists
            the names, or gives the reason.

    Example:
        >>> find("turtle").FORMAT.name
        'ttl'
    """
    if not isinstance(name, str):
        raise UnknownFormatError(f"a format is the text of its name, such as 'nq', not {name!r}")
    key = _key(name)
    if key in _BUILT_IN:
        return _built_in(key)
    for module in _each():
        if key in _keys(module.FORMAT):
            return module
    broken = _entry_points()[1].get(name)
    raise UnknownFormatError(
        broken or f"no format is called '{name[:40]}'; there are {', '.join(names())}"
    )


def by_path(path: str) -> FormatModule | None:
    """Give the format of a file name or URL by its suffix, a suffix of compression taken off first."""
    name = _file_name(path).lower()
    for suffix in COMPRESSION_SUFFIXES:
        if name.endswith(suffix):
            name = name[: -len(suffix)]
            break
    dot = name.rfind(".")
    if dot < 0:
        return None
    suffix = name[dot:]
    return next((module for module in _each() if suffix in module.FORMAT.suffixes), None)


def by_content(head: bytes) -> FormatModule | None:
    """Give the format whose magic fits a log's first bytes (decompressed, up to 4 KiB)."""
    return next((module for module in _each() if _fits(module.FORMAT, head)), None)


def _fits(format: Format, head: bytes) -> bool:
    """Whether a format's magic fits; that of a broken plug-in does not."""
    if format.magic is None:
        return False
    try:
        return bool(format.magic(head))
    except Exception as error:
        if format.name in _BUILT_IN:
            raise
        _warn(f"the magic of the format '{format.name}' fails: {type(error).__name__}: {error}")
        return False


def by_clear_content(head: bytes) -> FormatModule | None:
    """Give the built-in format that shows in what there is of a log, whatever follows."""
    shown = (name for name in _BUILT_IN if sniff(name, head, False))
    return next(map(_built_in, shown), None)


def _file_name(path: str) -> str:
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path):
        from urllib.parse import urlsplit  # costly to import

        path = urlsplit(path).path
    return re.split(r"[/\\]", path)[-1]


def _key(name: str) -> str:
    """A name as it is compared: without case, parameters of a media type, or a suffix's dot."""
    return name.split(";")[0].strip().lower().removeprefix(".").replace("_", "-")


def _keys(format: Format) -> set[str]:
    others = (*format.aliases, *format.suffixes, *format.media_types, format.title)
    return {_key(name) for name in (format.name, *others)}

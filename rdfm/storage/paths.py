"""Distinguishes local paths from URLs.

In: a path or URL as text. Out: the local path, or None. Cost: for `file:` URLs one check on disk.
Law: only this module distinguishes URLs from paths. An ambiguous name is an error.
"""

from __future__ import annotations

import os
import re

from rdfm.errors import OptionError

__all__ = [
    "JOURNAL_SUFFIX",
    "STATE_SUFFIX",
    "describe_invalid_path",
    "is_live",
    "is_url",
    "local_path",
    "local_target",
]

# Suffix of the journal of a log that is being appended to.
JOURNAL_SUFFIX = ".append"
# Suffix of the mirror state of a log that mirrors a registry.
STATE_SUFFIX = ".state.json"

# A single letter before the colon is a drive; `simplecache::s3://…` is a chained fsspec URL.
_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+://")
_LIVE_URL = re.compile(r"grpcs?://", re.IGNORECASE)
_FILE_URL = re.compile(r"file:(?://(?P<host>[^/]*))?(?=/)", re.IGNORECASE)
# The chain, the scheme, and the path.
_ONE_SLASH = re.compile(
    r"((?:[A-Za-z][A-Za-z0-9+.-]+::)*)([A-Za-z][A-Za-z0-9+.-]+):(/(?!/).*)", re.DOTALL
)


def is_url(path: str) -> bool:
    """Whether a path is a URL with `//`, including `file:` URLs, or a chain of URLs."""
    return _URL.match(path) is not None


def is_live(path: object) -> bool:
    """Whether a path is the URL of a live stream."""
    return isinstance(path, (str, os.PathLike)) and _LIVE_URL.match(os.fspath(path)) is not None


def local_path(path: str) -> str | None:
    """Return the local path of a path or `file:` URL; None for other URLs.

    Spark and Hadoop write `file:` URLs without escapes, and other programs with escapes. The part
    after the scheme is therefore used unchanged if that file exists, and decoded otherwise. `?`
    and `#` are ordinary characters of names and globs. `scheme:/name` with one slash is ambiguous:
    Hadoop reads it as a URL, Python as a relative path. It is accepted as a path only if that path
    exists.

    Raises:
        OptionError: If the path is empty, or the URL names another machine or has one slash after
            its scheme.

    Example:
        >>> local_path("file:/logs/a.nq"), local_path("s3://bucket/a.nq")
        ('/logs/a.nq', None)
    """
    if not path:  # for example an unset shell variable; never the working folder
        raise OptionError("the path is empty; write . for the current folder")
    if (start := _FILE_URL.match(path)) is None:
        if is_url(path):
            return None
        if _ONE_SLASH.match(path) and not os.path.lexists(path):
            raise _one_slash_error(path)
        return path
    if (start["host"] or "localhost").lower() != "localhost":
        raise OptionError(
            f"{path} is on another machine; a file: URL of this machine has three slashes, as in "
            "file:///logs/a.nq"
        )
    local = path[start.end() :]
    if os.name == "nt":  # file:///C:/logs
        local = re.sub("^/(?=[A-Za-z]:)", "", local)
    if "%" in local and not os.path.lexists(local):
        from urllib.parse import unquote_to_bytes  # costly to import

        return os.fsdecode(unquote_to_bytes(os.fsencode(local)))
    return local


def local_target(path: str) -> str | None:
    """Return the local path for writing, like `local_path` for reading.

    A folder such as `dbfs:` may exist by mistake, so it can only be written to as `./dbfs:`.

    Raises:
        OptionError: As in `local_path`, and if one slash follows the scheme, even if the path
            exists.
    """
    if _FILE_URL.match(path) is None and _ONE_SLASH.match(path):
        raise _one_slash_error(path)
    return local_path(path)


def _one_slash_error(path: str) -> OptionError:
    """Return the error for `scheme:/name`, which shows the correct forms."""
    chain, scheme, rest = _ONE_SLASH.fullmatch(path).groups()  # type: ignore[union-attr]  # matches
    slashes = {"dbfs": "//", "file": "//", "hdfs": "//host"}.get(scheme.lower(), "/")
    mounted = f"/dbfs{rest} or " if scheme.lower() == "dbfs" and not chain else ""
    return OptionError(
        f"{path} has one slash after {scheme}:, but a URL has two; write "
        f"{mounted}{chain}{scheme}:{slashes}{rest}, or ./{path} for a local folder named {scheme}:"
    )


def describe_invalid_path(path: object) -> str:
    """Describe a value that is not a valid path, for errors.

    Example:
        >>> describe_invalid_path(5)
        '5 (int)'
    """
    return f"{repr(path)[:40]} ({type(path).__name__})"

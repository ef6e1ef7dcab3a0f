"""What a path says about its place: this machine, or somewhere that a URL names.

In: a path or URL as text. Out: the path here, or None. Cost: for `file:` URLs one look at the disk.
Law: the one place that tells URLs from paths; what may be either is neither.
"""

from __future__ import annotations

import os
import re

from rdfm.errors import OptionError

__all__ = ["is_url", "local_path", "local_target", "no_path"]

# One letter before the colon is a drive; `simplecache::s3://…` is a chain of fsspec's.
_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+://")
_FILE_URL = re.compile(r"file:(?://(?P<host>[^/]*))?(?=/)", re.IGNORECASE)
# The chain, the scheme, and the path.
_ONE_SLASH = re.compile(
    r"((?:[A-Za-z][A-Za-z0-9+.-]+::)*)([A-Za-z][A-Za-z0-9+.-]+):(/(?!/).*)", re.DOTALL
)


def is_url(path: str) -> bool:
    """Whether a path is a URL with its `//`, such as one of `file:`, or a chain of such."""
    return _URL.match(path) is not None


def local_path(path: str) -> str | None:
    """Give the path of this machine that a path or `file:` URL means; None for other URLs.

    Spark and Hadoop write `file:` URLs without escapes, others with: what follows the scheme is taken
    as it stands where that is there, and with its escapes undone where it is not. So `?` and `#` are
    characters of names and globs. `scheme:/name` with one slash is a path only where it is there: Hadoop
    means a URL by it, Python a folder in this one.

    Raises:
        OptionError: The path is empty, the URL names another machine, or has one slash after its scheme.

    Example:
        >>> local_path("file:/logs/a.nq"), local_path("s3://bucket/a.nq")
        ('/logs/a.nq', None)
    """
    if not path:  # such as a variable of the shell that is not set; never the folder one works in
        raise OptionError("a path is empty; write . for the folder that you are in")
    if (start := _FILE_URL.match(path)) is None:
        if is_url(path):
            return None
        if _ONE_SLASH.match(path) and not os.path.lexists(path):
            raise _one_slash(path)
        return path
    if (start["host"] or "localhost").lower() != "localhost":
        raise OptionError(
            f"{path} is on another machine; a file: URL of this one has three slashes, as in "
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
    """Give the path of this machine to write to, as `local_path` gives one to read.

    A folder such as `dbfs:` may be there by mistake: it is written to as `./dbfs:` alone.

    Raises:
        OptionError: As in `local_path`; also where the file is there.
    """
    if _FILE_URL.match(path) is None and _ONE_SLASH.match(path):
        raise _one_slash(path)
    return local_path(path)


def _one_slash(path: str) -> OptionError:
    """What to write instead of `scheme:/name`."""
    chain, scheme, behind = _ONE_SLASH.fullmatch(path).groups()  # type: ignore[union-attr]  # it does
    before = {"dbfs": "//", "file": "//", "hdfs": "//host"}.get(scheme.lower(), "/")
    mounted = f"/dbfs{behind} or " if scheme.lower() == "dbfs" and not chain else ""
    return OptionError(
        f"{path} has one slash after {scheme}:, and a URL has two; write "
        f"{mounted}{chain}{scheme}:{before}{behind}, or ./{path} for what is in a folder of this "
        f"machine that is called {scheme}:"
    )


def no_path(given: object) -> str:
    """What was given where a path is wanted, for errors.

    Example:
        >>> no_path(5)
        '5 (int)'
    """
    return f"{repr(given)[:40]} ({type(given).__name__})"

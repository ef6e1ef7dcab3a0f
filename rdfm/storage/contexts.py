"""Loads remote JSON-LD contexts from files, a folder, a cache and, if allowed, the network.

In: the options `context`, `contexts`, `context_cache` and `allow_network` of a decoder. Out: a
callable that takes a URL and returns its document. Cost: each URL is loaded once per decoder.
Law: nothing is fetched without `allow_network`. Except for the files in `context`, a URL never leads
to a file outside the folders.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from rdfm.errors import OptionError, visible
from rdfm.storage.addresses import Address
from rdfm.storage.paths import local_target
from rdfm.storage.pipes import read_option_file

if TYPE_CHECKING:
    from rdfm.storage.http import Response

__all__ = ["ContextLoader", "cache_folder", "context_text", "is_context_text"]

MAX_BYTES = 16 << 20
MAX_SECONDS = 30
MAX_REDIRECTS = 5
MAX_TRIES = 3
ACCEPT = "application/ld+json, application/json;q=0.9, */*;q=0.1"
INDEX = "index.json"
SUFFIXES = ("", ".jsonld", ".json")
_PIECE_BYTES = 1 << 16


def cache_folder() -> Path:
    """Return the default folder for fetched contexts."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "rdfm" / "contexts"


class ContextLoader:
    """Loads context documents by URL.

    Example:
        >>> loader = ContextLoader(context={"https://example.org/c": "missing.jsonld"})
        >>> loader("https://example.org/other") is None
        True
    """

    def __init__(
        self,
        *,
        context: Mapping[str, str] | None = None,
        contexts: str | None = None,
        context_cache: str | None = None,
        allow_network: bool = False,
    ) -> None:
        """Create a loader from the options of a decoder.

        Args:
            context: URLs of contexts and their files.
            contexts: A folder of contexts. Its `index.json` maps URLs to files. Otherwise the file
                name is the percent-encoded URL, or the path is `host/path`; both may have the
                suffix `.jsonld` or `.json`.
            context_cache: A folder for fetched contexts. Defaults to the user's cache folder, which
                is used only with `allow_network`.
            allow_network: Fetch contexts over HTTP if they are not found elsewhere.

        Raises:
            OptionError: If `contexts` is not a folder, its index is not a JSON object of strings,
                or `context_cache` is a URL.
        """
        self._files = {_normalize_url(url): path for url, path in (context or {}).items()}
        self._folder = None if contexts is None else Path(contexts)
        self._index = {} if self._folder is None else _read_index(self._folder)
        self._allow_network = allow_network
        if context_cache is not None and local_target(context_cache) is None:
            raise OptionError(f"context_cache must be a local folder, not {context_cache}")
        self._cache = Path(context_cache) if context_cache is not None else None
        if self._cache is None and allow_network:
            self._cache = cache_folder()

    def __call__(self, url: str) -> tuple[bytes, str] | None:
        """Return the document of a URL and its final URL; None if it is not found.

        Raises:
            OSError: If the document cannot be read or fetched.
        """
        key = _normalize_url(url)
        path: str | Path | None = self._files.get(key)
        path = path or self._index.get(key) or self._find_in_folder(key)
        if path is not None:
            return _read(path), url
        if self._cache is not None and (cached := self._read_cache(key)) is not None:
            return cached
        if not self._allow_network:
            return None
        document, final_url = fetch(url)
        self._write_cache(key, document, final_url)
        return document, final_url

    def _find_in_folder(self, url: str) -> Path | None:
        """Return the file of a URL in the folder of contexts."""
        if self._folder is None:
            return None
        names = [quote(url, safe="")]
        parts = urlsplit(url)
        host = parts.netloc.replace(":", "%3A")
        steps = [host, *(step for step in parts.path.split("/") if step)]
        if parts.hostname and not any(
            step in (".", "..") or re.search(r"[\\:\0]", step) for step in steps
        ):
            names.append("/".join(steps))
            names.append("/".join([names[-1], "index"]))
        for name in names:
            for suffix in SUFFIXES:
                if len(name.rsplit("/", 1)[-1]) + len(suffix) <= 255:
                    path = self._folder / (name + suffix)
                    if path.is_file():
                        return path
        return None

    def _cache_file(self, url: str) -> Path:
        assert self._cache is not None
        return self._cache / f"{hashlib.sha256(url.encode()).hexdigest()}.json"

    def _read_cache(self, url: str) -> tuple[bytes, str] | None:
        """Return the cached document and its final URL, if there is a valid entry."""
        try:
            entry = json.loads(self._cache_file(url).read_text("utf-8"))
            if entry["url"] == url:
                return str(entry["document"]).encode(), str(entry["document_url"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass
        return None

    def _write_cache(self, url: str, document: bytes, final_url: str) -> None:
        """Cache a fetched context, or do nothing if the cache is not writable."""
        if self._cache is None:
            return
        try:
            entry = {"url": url, "document_url": final_url, "document": document.decode("utf-8")}
            self._cache.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=self._cache, delete=False
            ) as file:
                temporary = Path(file.name)
                try:
                    json.dump(entry, file)
                except BaseException:
                    temporary.unlink()
                    raise
            temporary.replace(self._cache_file(url))
        except (OSError, UnicodeDecodeError):
            return


def is_context_text(value: object) -> bool:
    """Whether the value of an option is a context, as opposed to the path of a file."""
    if isinstance(value, str):
        return value.lstrip().startswith(("{", "["))
    return isinstance(value, (Mapping, list))


def context_text(value: object, option: str = "compact_with") -> str:
    """Return the JSON text of a context that is the value of an option.

    Args:
        value: The path of a file, JSON text (which begins with `{` or `[`), or a dict or list.
        option: The option's name, for errors.

    Raises:
        OptionError: If the value does not have this form, or the file cannot be read or contains
            neither an object nor an array.

    Example:
        >>> context_text({"ex": "http://example.org/"})
        '{"ex": "http://example.org/"}'
    """
    if isinstance(value, (Mapping, list)):
        try:
            return json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise OptionError(f"{option} cannot be converted to JSON: {error}") from error
    if isinstance(value, str) and is_context_text(value):
        return value
    if not isinstance(value, (str, os.PathLike)):
        raise OptionError(
            f"{option} must be a JSON file, JSON text or a dict, not " + repr(value)[:60]
        )
    path = os.fsdecode(value)
    if re.match(r"https?://", path, re.IGNORECASE):
        raise OptionError(
            f"{option} must be a local file, because it is not fetched; save {path[:200]} to a file"
        )
    try:
        text = _read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OptionError(
            f"the file {path} does not contain a context: it is not UTF-8 text"
        ) from error
    except (OSError, ValueError) as error:
        raise OptionError(f"the context cannot be read: {error}") from error
    if not text.lstrip().startswith(("{", "[")):
        # The caller would interpret such text as a path.
        raise OptionError(
            f"the file {path} does not contain a context: expected a JSON object or array"
        )
    return text


def fetch(url: str) -> tuple[bytes, str]:
    """Fetch a context over HTTP, and return it with its final URL.

    Args:
        url: An http or https URL.

    Raises:
        OSError: If the context cannot be fetched, is too large, or takes too long.
    """
    from rdfm.storage.http import HttpSettings, open_url  # costly to import

    settings = HttpSettings(
        connect_seconds=MAX_SECONDS,
        first_byte_seconds=MAX_SECONDS,
        idle_seconds=MAX_SECONDS,
        tries=MAX_TRIES,
        max_redirects=MAX_REDIRECTS,
    )
    deadline = time.monotonic() + MAX_SECONDS
    for _ in range(2):
        try:
            response = open_url(url, settings, accept=ACCEPT)
        except OptionError as error:  # for an invalid URL
            raise OSError(str(error)) from error
        with response:
            alternate = _alternate_url(response)
            if alternate is None:
                return _read_body(response, deadline), response.url
            try:
                url = Address.parse(response.url).resolve(alternate).url
            except OptionError as error:
                raise OSError(f"the Link header contains an invalid URL: {error}") from error
    raise OSError("the document is not JSON, and none of its Link headers refers to JSON-LD")


def _alternate_url(response: Response) -> str | None:
    """Return the URL of the JSON-LD alternate in the Link headers of a page that is not JSON."""
    kind, _ = response.media_type
    if kind == "application/json" or kind.endswith("+json"):
        return None
    for match in re.finditer(r"<([^<>]*)>([^<]*)", response.headers.get("Link", "")):
        relation = re.search(r'rel\s*=\s*"?([^";,]*)"?', match[2])
        media = re.search(r'type\s*=\s*"?([^";,]*)"?', match[2])
        if (
            relation is not None
            and "alternate" in relation[1].split()
            and media is not None
            and media[1].strip() == "application/ld+json"
        ):
            return match[1]
    return None


def _read_body(response: Response, deadline: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    # One read of the socket at a time, so that a slow body cannot exceed the deadline.
    while part := response.read1(_PIECE_BYTES):
        parts.append(part)
        size += len(part)
        if size > MAX_BYTES:
            raise OSError(f"the document is larger than {MAX_BYTES} bytes")
        if time.monotonic() > deadline:
            raise OSError(f"the request took more than {MAX_SECONDS} seconds")
    return b"".join(parts)


def _read(path: str | Path) -> bytes:
    try:
        data = read_option_file(path, MAX_BYTES + 1)
    except OSError as error:
        raise OSError(f"{visible(str(path))}: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise OSError(f"{visible(str(path))} is larger than {MAX_BYTES} bytes")
    return data


def _read_index(folder: Path) -> dict[str, Path]:
    """Return the files in the index of a folder."""
    if not folder.is_dir():
        raise OptionError(f"contexts must be a folder, but {folder} is not a folder")
    try:
        index = json.loads((folder / INDEX).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise OptionError(f"{folder / INDEX} cannot be read: {error}") from error
    if not isinstance(index, dict) or not all(isinstance(name, str) for name in index.values()):
        raise OptionError(f"{folder / INDEX} is not a JSON object mapping URLs to file names")
    root = folder.resolve()
    files = {_normalize_url(url): (folder / name) for url, name in index.items()}
    for path in files.values():
        if not path.resolve().is_relative_to(root):
            raise OptionError(f"{folder / INDEX} names {path}, which is outside the folder")
    return files


def _normalize_url(url: str) -> str:
    """Return a normalized URL: without a fragment, and with `/` instead of an empty path."""
    url = url.partition("#")[0]
    return f"{url}/" if re.fullmatch(r"https?://[^/?]+", url) else url

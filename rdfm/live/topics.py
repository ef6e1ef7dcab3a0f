"""Topics: the logs that a server offers, by name.

In: a folder, logs with given names, and the name of a topic. Out: the path of its log.
Cost: a few file names are looked up per subscription; the folder is not listed.
Law: neither the name of a topic nor a symbolic link leads out of the folder.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rdfm import formats
from rdfm.errors import OptionError, spell_option, visible
from rdfm.formats import Format, OptionSpec
from rdfm.logs.options import declare
from rdfm.storage import compression as compressions
from rdfm.storage.compression import COMPRESSIONS, compression_suffix
from rdfm.storage.paths import JOURNAL_SUFFIX, STATE_SUFFIX

__all__ = ["CONTROL", "Listing", "TopicError", "Topics", "parse_topic"]

# For the errors below; the command declares these options separately.
declare(
    OptionSpec("topic", help="Serve a log under a name.", metavar="NAME=LOG", group="Topics"),
    OptionSpec("create_topics", "switch", "Create missing topics.", group="Access"),
)

_MAX_TOPIC_BYTES = 1024
MAX_LISTED = 10_000
_MAX_PART_BYTES = 200  # a suffix follows, and file systems allow 255
_NEW_SUFFIX = ".jelly"
# Control characters, line separators, and characters that change the direction of the text.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class TopicError(LookupError):
    """Raised if a topic does not exist. The server answers with NOT_FOUND."""


def parse_topic(text: str) -> tuple[str, str]:
    """Return the name and the log of `NAME=LOG`.

    Raises:
        OptionError: If the argument does not have this form.
    """
    name, equals, log = text.partition("=")
    if not equals or not log:
        raise OptionError(
            f"{spell_option('topic')} needs NAME=LOG, such as sensors=logs/s.jelly, not {text[:60]!r}"
        )
    return name, log


class Listing(NamedTuple):
    """The content of a folder.

    Attributes:
        topics: The paths of the logs, by the names of their topics.
        folders: The names of the subfolders.
        is_cut: Whether there is more.
    """

    topics: dict[str, Path]
    folders: list[str]
    is_cut: bool


class Topics:
    """The topics of a server.

    Attributes:
        folder: The folder, without symbolic links; None if there is none.
        named: Logs with given names.
        default: The topic for the empty name; None if there is none.
        creates: Whether publishing creates missing topics.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        named: Mapping[str, str | os.PathLike[str]] | None = None,
        default: str | None = None,
        *,
        creates: bool = False,
    ) -> None:
        """Check the folder and the logs.

        Raises:
            OptionError: If `folder` is not a folder, a log cannot be served, or the default topic
                does not exist.
            OSError: If a log cannot be read.
        """
        self.folder = None if folder is None else _real_folder(folder)
        self.named = {name: Path(path) for name, path in (named or {}).items()}
        self.default = default
        self.creates = creates
        if self.folder is None and not self.named:
            raise OptionError(
                f"there is nothing to serve; give a folder, or a log with {spell_option('topic')} NAME=LOG"
            )
        if creates and self.folder is None:
            raise OptionError(
                f"{spell_option('create_topics')} needs a folder to create topics in; give a folder"
            )
        for name, path in self.named.items():
            if not path.is_file():
                if not path.exists():
                    raise FileNotFoundError(2, "No such file", visible(str(path)))
                raise OptionError(f"topic {name}: {visible(str(path))} is not a file")
            if _message_format(path) is None:
                raise OptionError(
                    f"topic {name}: {visible(str(path))} does not have the suffix of a message "
                    "format, such as .jelly or .nq.gz"
                )
        if default is not None and not creates:
            try:
                self.find(default)
            except TopicError as error:
                raise OptionError(f"the default topic does not exist: {error}") from None

    def resolve(self, topic: str) -> str:
        """Return the name of a topic. An empty name means the default topic."""
        return self.default if topic == "" and self.default is not None else topic

    def find(self, topic: str) -> Path:
        """Return the path of a topic's log.

        Raises:
            TopicError: If the topic does not exist.
        """
        topic = self.resolve(topic)
        if (path := self.named.get(topic)) is not None:
            return path
        for path in self._candidates(topic):
            if path.is_file() and _message_format(path) is not None:
                self._check_inside(path, topic)
                return path
        raise TopicError(_unknown_topic_text(topic))

    def find_or_create(self, topic: str) -> Path:
        """Return the path of a topic's log, even if the log does not exist yet.

        Raises:
            TopicError: If the topic does not exist, and either topics are not created or the name
                is not valid for a new topic.
        """
        try:
            return self.find(topic)
        except TopicError:
            topic = self.resolve(topic)
            first = next(self._candidates(topic), None)
            if not self.creates or first is None:
                raise
            if CONTROL.search(topic):
                raise TopicError(
                    f"the name of the new topic {topic[:100]!r} contains a control character"
                ) from None
            self._check_inside(first, topic)
            return first

    def count(self) -> int:
        """Count the named logs, and the logs that are currently directly in the folder."""
        direct_count = 0
        if self.folder is not None:
            direct_count = sum(_is_topic_file(path) for path in self.folder.iterdir())
        return direct_count + len(self.named)

    def listing(self, folder: str = "") -> Listing:
        """List the topics and the subfolders of a folder, in the order of their names.

        At most `MAX_LISTED` files are listed.

        Args:
            folder: The name of a subfolder, without slashes at its ends; empty for the folder.

        Raises:
            TopicError: If the folder does not exist.
        """
        topics = {} if folder else dict(self.named)
        folders: list[str] = []
        is_cut = False
        if self.folder is not None:
            root = self.folder / folder
            if folder and (not _is_valid(folder) or not root.is_dir()):
                raise TopicError(_unknown_topic_text(f"{folder}/"))
            self._check_inside(root / "_", f"{folder}/")
            with os.scandir(root) as entries:
                listed = list(itertools.islice(entries, MAX_LISTED + 1))
            is_cut = len(listed) > MAX_LISTED
            prefix = f"{folder}/" if folder else ""
            for entry in listed[:MAX_LISTED]:
                name = f"{prefix}{entry.name}"
                if not _is_valid(name):
                    continue
                if entry.is_dir():
                    folders.append(name)
                elif (format := _message_format(Path(entry.path))) is not None:
                    short = _without_suffix(name, format)
                    with contextlib.suppress(TopicError):
                        is_short = self.find(short) == Path(entry.path)
                        topics[short if is_short else name] = self.find(name)
        return Listing(dict(sorted(topics.items())), sorted(folders), is_cut)

    def _candidates(self, topic: str) -> Iterator[Path]:
        """Yield the possible paths of a topic's log: with a suffix, or exactly as named."""
        if self.folder is None or not _is_valid(topic):
            return
        base = self.folder / topic
        yield base.with_name(base.name + _NEW_SUFFIX)
        for spec in formats.specs():
            if "messages" not in spec.kinds:
                continue
            for suffix in spec.suffixes:
                for compression in ("none", *COMPRESSIONS):
                    yield base.with_name(base.name + suffix + compression_suffix(compression))
        yield base

    def _check_inside(self, path: Path, topic: str) -> None:
        """Reject a path that leads out of the folder."""
        assert self.folder is not None
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self.folder) or not real.parent.is_dir():
            raise TopicError(_unknown_topic_text(topic))


def _unknown_topic_text(topic: str) -> str:
    shown = visible(topic)[:100]
    return f"there is no topic {shown!r}" if topic else "there is no default topic; name a topic"


def _is_valid(topic: str) -> bool:
    """Whether a topic is a valid relative path without hidden parts."""
    if len(topic.encode("utf-8", "surrogatepass")) > _MAX_TOPIC_BYTES:
        return False
    parts = topic.split("/")
    for part in parts:
        if not part or part[0] in "._" or "\0" in part or "\\" in part:
            return False
        if len(part.encode("utf-8", "surrogatepass")) > _MAX_PART_BYTES:
            return False
    return not parts[-1].endswith((JOURNAL_SUFFIX, STATE_SUFFIX))


def _is_topic_file(path: Path) -> bool:
    return path.name[0] not in "._" and path.is_file() and _message_format(path) is not None


def _without_suffix(name: str, format: Format) -> str:
    """Return a file name without the suffixes of its compression and its format."""
    if compressions.find_by_suffix(name) is not None:
        name = name.rpartition(".")[0]
    suffixes = (suffix for suffix in format.spec.suffixes if name.lower().endswith(suffix))
    return name[: -len(next(suffixes, ""))] or name


def _message_format(path: Path) -> Format | None:
    """Return the format that a file name indicates, if it is a format of messages."""
    format = formats.by_path(str(path))
    return format if format is not None and "messages" in format.spec.kinds else None


def _real_folder(folder: str | os.PathLike[str]) -> Path:
    path = Path(folder)
    if not path.exists():
        raise FileNotFoundError(2, "No such folder", visible(str(path)))
    if not path.is_dir():
        raise OptionError(
            f"{visible(str(path))} is not a folder; serve a single log with {spell_option('topic')} NAME=LOG"
        )
    return Path(os.path.realpath(path))

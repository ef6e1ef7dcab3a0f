"""Topics as pages for browsers.

In: the topics, or a topic and the first message to show. Out: HTML.
Cost: a page shows at most `PAGE_MESSAGES` messages with `MAX_SHOWN_CHARACTERS` each. The messages of
a log are counted once; when the log has grown, only the new ones are counted.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path

from rdfm import formats
from rdfm.errors import RdfmError
from rdfm.formats import encode_all
from rdfm.live.documents import parse_number
from rdfm.live.following import LogFile, ReplacedError
from rdfm.live.offers import served_formats
from rdfm.live.page_html import ShownMessage, TopicEntry, TopicView, index_page, topic_page
from rdfm.live.snapshot import Snapshot, Tag
from rdfm.live.topics import Topics
from rdfm.live.web_errors import create_web_error

__all__ = ["Pages"]

PAGE_MESSAGES = 20
MAX_SHOWN_CHARACTERS = 4000
MAX_COUNTED_LOGS = 1000


class Pages:
    """The pages of a server. Its methods block, and may be called in several threads."""

    def __init__(self, topics: Topics, root_path: str) -> None:
        """Initialize with the topics, and the path prefix of all URLs."""
        self._topics = topics
        self._root_path = root_path
        self._counts: OrderedDict[Path, tuple[Tag, int]] = OrderedDict()
        self._counting = threading.Lock()

    def index(self, folder: str) -> str:
        """Return the page that lists the topics of a folder.

        Raises:
            TopicError: If the folder does not exist.
            OSError: If it cannot be read.
        """
        listing = self._topics.listing(folder)
        entries = []
        for name, path in listing.topics.items():
            try:
                entries.append(_describe(name, path))
            except (OSError, ReplacedError):  # removed in the meantime
                continue
        return index_page(folder, self._root_path, entries, listing.folders, is_cut=listing.is_cut)

    def topic(
        self, name: str, path: Path, url: str, url_path: str, query: Mapping[str, str]
    ) -> str:
        """Return the page of a topic.

        Args:
            name: The name of the topic.
            path: Its log.
            url: The URL of the topic.
            url_path: The path of the URL.
            query: The parameters; `from` is the first message to show.

        Raises:
            OptionError: If a parameter is invalid.
            OSError, ReplacedError: If the log cannot be read.
        """
        first = parse_number("from", query["from"]) if "from" in query else None
        snapshot = Snapshot(path)
        messages: list[ShownMessage] = []
        reason, count = None, 0
        try:
            try:
                count = self._count(snapshot)
                start = max(count - PAGE_MESSAGES, 0) if first is None else first
                shown = itertools.islice(_show(snapshot, start, url), PAGE_MESSAGES)
                for message in shown:
                    messages.append(message)
            except RdfmError as error:
                reason = create_web_error(error, path, name).reason
        finally:
            snapshot.close()
        titles = [(format.name, format.spec.title) for format in served_formats()]
        entry = _describe(name, path)
        view = TopicView(entry, url, url_path, count, messages, PAGE_MESSAGES, titles, reason)
        return topic_page(view, self._root_path)

    def _count(self, snapshot: Snapshot) -> int:
        """Return the number of messages of a log."""
        with self._counting:
            tag = snapshot.tag
            known = self._counts.pop(snapshot.path, None)
            count = 0
            if known is not None and snapshot.continues(known[0]):
                count = known[1]
            if known is None or known[0] != tag:
                # The last message may have been extended by a writer without delimiters.
                first = max(count - 1, 0)
                batches = (batch for batch, _ in snapshot.decode(first, parts=True))
                end = [batch.first_message_index + len(batch) for batch in batches]
                count = end[-1] if end else 0
            self._counts[snapshot.path] = tag, count
            if len(self._counts) > MAX_COUNTED_LOGS:
                self._counts.popitem(last=False)
            return count


def _describe(name: str, path: Path) -> TopicEntry:
    format = formats.by_path(str(path))
    file = LogFile(path)
    try:
        size, modified = file.size(), file.modified / 1e9
    finally:
        file.close()
    return TopicEntry(name, "" if format is None else format.spec.title, size, modified)


def _show(snapshot: Snapshot, first: int, base: str) -> Iterator[ShownMessage]:
    """Yield messages from a number on, as N-Quads."""
    encoder = formats.find("nq").encoder({"dialect": "comment"})
    for batch, _ in snapshot.decode(first, {"base": base}):
        for number in range(len(batch)):
            index = batch.message_index(number)
            if index < first:
                continue
            quads = batch.quad_count_of(number)
            text = ""
            if quads:
                encoder.reset()
                data = encode_all(encoder, batch.slice(number, number + 1))
                text = data.decode().rstrip("\n")
            shown = text[:MAX_SHOWN_CHARACTERS]
            yield ShownMessage(index, quads, shown, len(shown) < len(text))

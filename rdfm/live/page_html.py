"""The pages for browsers, as HTML.

In: a listing of topics, or a topic with some of its messages. Out: a page.
Law: all text is escaped. A page has no script, and loads nothing; links lead to this server only.
"""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from urllib.parse import quote

from rdfm._core import __version__
from rdfm.errors import visible
from rdfm.live.topics import CONTROL

__all__ = ["PAGE_POLICY", "ShownMessage", "TopicEntry", "TopicView", "index_page", "topic_page"]

_STYLE = Path(__file__).with_name("page.css").read_text("utf-8")
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
# The header `Content-Security-Policy` of the pages.
PAGE_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


@dataclass(frozen=True)
class TopicEntry:
    """A topic in a listing.

    Attributes:
        name: Its name.
        format: The title of its format.
        size: The committed length in bytes.
        modified: The time of the last change, in seconds since 1970.
    """

    name: str
    format: str
    size: int
    modified: float


@dataclass(frozen=True)
class ShownMessage:
    """A message on a page.

    Attributes:
        index: Its index.
        quads: Its number of quads.
        text: The message as text, possibly shortened.
        is_cut: Whether the text is shortened.
    """

    index: int
    quads: int
    text: str
    is_cut: bool


@dataclass(frozen=True)
class TopicView:
    """A topic with some of its messages.

    Attributes:
        entry: The topic.
        url: The URL of the topic.
        path: The path of the URL.
        count: Number of messages.
        messages: The messages on the page.
        page_messages: Maximum number of messages on a page.
        formats: The names and titles of the formats in which the topic can be sent.
        error: The error after the messages; None if there is none.
    """

    entry: TopicEntry
    url: str
    path: str
    count: int
    messages: Sequence[ShownMessage]
    page_messages: int
    formats: Sequence[tuple[str, str]]
    error: str | None = None


def index_page(
    folder: str,
    root_path: str,
    entries: Sequence[TopicEntry],
    folders: Sequence[str],
    *,
    is_cut: bool,
) -> str:
    """Return the page that lists the topics of a folder.

    Args:
        folder: The name of the folder; empty for the folder that is served.
        root_path: The path prefix of all URLs.
        entries: The topics.
        folders: The names of the subfolders.
        is_cut: Whether the listing is not complete.
    """
    rows = [
        f'<tr><td><a href="{_href(root_path, name)}/">{_text(name)}/</a></td><td>folder</td>'
        '<td class="number"></td><td></td></tr>'
        for name in folders
    ]
    rows += [
        f'<tr><td><a href="{_href(root_path, entry.name)}">{_text(entry.name)}</a></td>'
        f'<td>{_text(entry.format)}</td><td class="number">{_size(entry.size)}</td>'
        f"<td>{_time_element(entry.modified)}</td></tr>"
        for entry in entries
    ]
    table = (
        '<div class="scroll" tabindex="0" role="region" aria-label="Topics"><table><thead><tr><th scope="col">Topic</th><th scope="col">Format</th>'
        '<th scope="col" class="number">Size</th><th scope="col">Last change</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        if rows
        else "<p>There are no logs.</p>"
    )
    more = "<p>There are more logs than are listed here.</p>" if is_cut else ""
    title = f"Logs in {folder}" if folder else "Logs"
    return _page(title, _navigation(root_path, folder), f"{table}{more}")


def topic_page(view: TopicView, root_path: str) -> str:
    """Return the page of a topic."""
    entry = view.entry
    facts = (
        ("Messages", f"{view.count:,}"),
        ("Size", _size(entry.size)),
        ("Format", entry.format),
        ("Last change", _time(entry.modified)),
    )
    fact_list = "".join(f"<dt>{name}</dt><dd>{_text(value)}</dd>" for name, value in facts)
    links = "".join(
        f'<li><a href="{escape(view.path)}?format={quote(name)}">{_text(title)}</a></li>'
        for name, title in view.formats
    )
    body = (
        f"<dl>{fact_list}</dl>"
        f'<h2 id="formats">Formats</h2><ul class="row" aria-labelledby="formats">{links}'
        f'<li><a href="{escape(view.path)}/events">Events</a></li></ul>'
        f"<h2>Messages</h2>{_paging(view)}{_messages(view)}"
        f"<h2>Commands</h2>{_commands(view)}"
    )
    folder = entry.name.rpartition("/")[0]
    return _page(entry.name, _navigation(root_path, folder, is_topic=True), body)


def _messages(view: TopicView) -> str:
    parts = []
    for message in view.messages:
        quads = f"{message.quads:,} {'quad' if message.quads == 1 else 'quads'}"
        link = f"{escape(view.path)}?messages={message.index}"
        parts.append(
            f'<h3 id="m{message.index}"><a href="{link}">Message {message.index:,}</a>, {quads}</h3>'
        )
        if message.text:
            more = "\n…" if message.is_cut else ""
            parts.append(f"<pre>{_text(message.text)}{more}</pre>")
    if view.error is not None:
        parts.append(f'<p role="alert">{_text(view.error)}</p>')
    return "".join(parts) or "<p>There are no messages here.</p>"


def _paging(view: TopicView) -> str:
    """Return the links to other messages."""
    if not view.messages:
        return ""
    first, last, step = view.messages[0].index, view.messages[-1].index, view.page_messages
    targets = (
        ("First", 0, first > 0),
        ("Earlier", max(first - step, 0), first > 0),
        ("Later", last + 1, last + 1 < view.count),
        ("Newest", max(view.count - step, 0), last + 1 < view.count),
    )
    links = "".join(
        f'<li><a href="{escape(view.path)}?from={start}">{name}</a></li>'
        for name, start, is_shown in targets
        if is_shown
    )
    shown = f'<p class="muted">{first:,} to {last:,}, in N-Quads</p>'
    if not links:
        return shown
    return f'{shown}<nav aria-label="Messages"><ul class="row">{links}</ul></nav>'


def _commands(view: TopicView) -> str:
    url = view.url
    word = shlex.quote(url)
    commands = (
        ("curl", f"curl -H 'Accept: application/trig' {word}"),
        ("rdfm", f"rdfm convert {word} log.jelly"),
        (
            "Python",
            f"import rdfm\n\nwith rdfm.open_log({url!r}) as log:\n    for message in log:\n"
            "        print(len(message))",
        ),
        (
            "Spark, after the command for rdfm",
            'spark.read.format("rdfm").load("log.jelly").show()',
        ),
    )
    return "".join(
        f'<h3>{name}</h3><pre class="copy">{_text(command)}</pre>' for name, command in commands
    )


def _navigation(root_path: str, folder: str, *, is_topic: bool = False) -> str:
    """Return the links to the folders that contain a page."""
    parts = folder.split("/") if folder else []
    if not parts and not is_topic:
        return ""
    names = [("Logs", ""), *((part, "/".join(parts[: n + 1])) for n, part in enumerate(parts))]
    if not is_topic:
        names.pop()
    items = "".join(
        f'<li><a href="{_href(root_path, name)}{"/" if name else ""}">{_text(text)}</a></li>'
        for text, name in names
    )
    return f'<nav aria-label="Folders"><ul class="row">{items}</ul></nav>'


def _page(title: str, navigation: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"{navigation}<main><h1>{_text(title)}</h1>{body}</main>\n"
        f'<footer class="muted"><p>rdfm {__version__}</p></footer>\n</body>\n</html>\n'
    )


def _href(root_path: str, name: str) -> str:
    return escape(f"{root_path}/{quote(name)}")


def _text(text: str) -> str:
    """Return text for HTML. Characters that are not visible are shown by their codes."""
    lines = (
        CONTROL.sub(lambda found: f"\\u{ord(found[0]):04X}", line) for line in text.split("\n")
    )
    return escape("\n".join(map(visible, lines)))


def _size(count: int) -> str:
    size, unit = float(count), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{count:,} {_UNITS[0]}" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _time_element(seconds: float) -> str:
    """Return a time that may be broken after its date."""
    date, _, time = _time(seconds).partition(" ")
    return f'<span class="word">{date}</span> <span class="word">{time}</span>'

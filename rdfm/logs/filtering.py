"""Messages by pattern: what `rdfm filter` and `LogReader.filter` keep.

In: batches as they are read, and what is asked for. Out: slices of them.
Cost: each distinct term of a batch is tested once; a look at each quad.
Law: what is asked for is asked of one quad; a time is asked of another one of the same message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rdfm._core import Filter, MessageBatch
from rdfm.errors import OptionError
from rdfm.formats import OptionSpec
from rdfm.logs.driver import Item, Read
from rdfm.logs.kinds import other_kind

__all__ = ["FILTERING", "Filtering", "filtered"]

_QUADS = "Which messages"
_TERM = 'write <http://example.org/a>, ex:a, "text" or 5'

FILTERING = (
    OptionSpec(
        "subject", help=f"Of quads with this subject; {_TERM}.", metavar="TERM", group=_QUADS
    ),
    OptionSpec("predicate", help="Of quads with this predicate.", metavar="TERM", group=_QUADS),
    OptionSpec("object", help="Of quads with this object.", metavar="TERM", group=_QUADS),
    OptionSpec(
        "graph",
        help="Of quads in this graph; default for the default graph.",
        metavar="TERM",
        group=_QUADS,
    ),
    OptionSpec("any", help="Of quads with this term anywhere.", metavar="TERM", group=_QUADS),
    OptionSpec(
        "contains", help="Of quads whose object is a literal that holds this text.", group=_QUADS
    ),
    OptionSpec(
        "regex",
        help="Of quads whose object is a literal in which this regular expression is found.",
        metavar="REGEX",
        group=_QUADS,
    ),
    OptionSpec(
        "time",
        help="The predicate of a message's time, such as sosa:resultTime, for after and before.",
        metavar="PREDICATE",
        group=_QUADS,
    ),
    OptionSpec("after", help="Of this date or time, or later.", metavar="TIME", group=_QUADS),
    OptionSpec("before", help="Of an earlier time.", metavar="TIME", group=_QUADS),
    OptionSpec(
        "prefixes",
        "namespaces",
        "A namespace for names such as ex:a, before those that logs declare; may be repeated.",
        group=_QUADS,
        flag="prefix",
    ),
    OptionSpec("invert", "switch", "Keep the others instead.", default=False, group=_QUADS),
    OptionSpec(
        "quads",
        "switch",
        "Keep of each message the matching quads alone.",
        default=False,
        group=_QUADS,
    ),
)
_POSITIONS = ("subject", "predicate", "object", "graph", "any")


class Filtering:
    """Keeps messages."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        """Take what is asked for: values of `FILTERING`.

        Raises:
            OptionError: Something asked for is no term, expression or time; nothing is asked for; or a time without
                its predicate.
        """
        self._filter = Filter(asked.get("prefixes") or {})
        self._invert = asked.get("invert", False)
        self._quads = asked.get("quads", False)
        begun = False
        for name in _POSITIONS:
            if (text := asked.get(name)) is not None:
                begun = True
                if name == "graph" and text == "default":
                    self._filter.default_graph()
                else:
                    self._filter.term(name, text)
        for name, take in (("contains", self._filter.contains), ("regex", self._filter.matches)):
            if (text := asked.get(name)) is not None:
                begun = True
                take(text)
        times = asked.get("after"), asked.get("before")
        if times == (None, None):
            if asked.get("time") is not None:
                raise OptionError("time is the predicate for after and before; add one of them")
        elif asked.get("time") is None:
            raise OptionError(
                "after and before need the predicate of a message's time; add time, such as time=sosa:resultTime"
            )
        else:
            self._filter.begin_pattern()
            self._filter.term("predicate", asked["time"])
            self._filter.within(*times)
            begun = True
        if not begun:
            raise OptionError("nothing is asked for: name a term, such as predicate=ex:species")

    def choose(self, read: Read) -> Iterator[Read]:
        """Give what is kept of messages.

        Raises:
            OptionError: They are patches or results.
        """
        batch = read.batch
        if not isinstance(batch, MessageBatch):
            kind = "messages" if batch is None else batch.kind
            raise other_kind(read.source.name, kind, "messages are filtered")
        if self._quads:
            batch, runs = self._filter.quads(batch, self._invert)
        else:
            runs = self._filter.runs(batch, self._invert)
        for start, end in runs:
            yield read._replace(batch=batch.slice(start, end))

    def check(self) -> None:
        """Refuse what no message could hold, at the end.

        Raises:
            OptionError: No log declares the namespace of a name.
        """
        if missing := self._filter.undeclared():
            raise OptionError(
                f"nothing declares the prefix {missing[0]}; add prefix {missing[0]}=IRI, or write the whole IRI"
            )


def filtered(items: Iterable[Item], filtering: Filtering) -> Iterator[Item]:
    """Give what a driver gives, with the messages that are kept alone."""
    for item in items:
        if not isinstance(item, Read) or item.batch is None:
            yield item
        else:
            yield from filtering.choose(item)
    filtering.check()

"""Filtering messages by pattern, for `rdfm filter` and `LogReader.filter`.

In: batches of messages as they are read, and the criteria. Out: slices of the batches.
Cost: each distinct term of a batch is tested once, and each quad is examined.
Law: a single quad must match all criteria, but the time may be in another quad of the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rdfm._core import Filter, MessageBatch, Query
from rdfm.errors import LimitError, OptionError, QueryError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs import remedies
from rdfm.logs.input.driver import NOTHING_DROPPED, ReadBatch, Source
from rdfm.logs.input.inputs import Input
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.options import declare
from rdfm.logs.stages.stage import Stage

__all__ = ["FILTERING", "FilterStage", "filter_values"]

_GROUP = "Criteria"

FILTERING = declare(
    OptionSpec("subject", help="Subject of a quad.", metavar="TERM", group=_GROUP),
    OptionSpec("predicate", help="Predicate of the same quad.", metavar="TERM", group=_GROUP),
    OptionSpec("object", help="Object of the same quad.", metavar="TERM", group=_GROUP),
    OptionSpec(
        "graph",
        help="Graph of the same quad; default means the default graph.",
        metavar="TERM",
        group=_GROUP,
    ),
    OptionSpec(
        "any",
        "texts",
        "Term at any position of the same quad; may be repeated.",
        metavar="TERM",
        group=_GROUP,
    ),
    OptionSpec(
        "contains",
        help="Text contained in the object, which must be a literal.",
        group=_GROUP,
    ),
    OptionSpec(
        "regex",
        help="Regular expression that matches part of the object, which must be a literal.",
        metavar="REGEX",
        group=_GROUP,
    ),
    OptionSpec(
        "time",
        help="Predicate whose object is the time of a message; the default is one of "
        "sosa:resultTime, prov:generatedAtTime, as:published and dct:created.",
        metavar="PREDICATE",
        group=_GROUP,
    ),
    OptionSpec(
        "after", help="Date or time, inclusive, such as 2026-06-01.", metavar="TIME", group=_GROUP
    ),
    OptionSpec("before", help="Date or time, exclusive.", metavar="TIME", group=_GROUP),
    OptionSpec(
        "where",
        help="ASK query that is true for the message.",
        metavar="QUERY",
        group=_GROUP,
    ),
    OptionSpec(
        "prefixes",
        "namespaces",
        "Namespace for names such as ex:a; may be repeated.",
        group=_GROUP,
        flag="prefix",
    ),
    OptionSpec(
        "invert", "switch", "Keep the messages that do not match.", default=False, group=_GROUP
    ),
    OptionSpec(
        "quads",
        "switch",
        "Keep only the matching quads of each message.",
        default=False,
        group=_GROUP,
    ),
)


class FilterStage(Stage):
    """Keeps messages that match, or their matching quads.

    Attributes:
        accepts_parts: Whether messages may be in parts, because each quad matches or does not match
            independently of the other quads.
    """

    def __init__(
        self,
        criteria: Mapping[str, Any],
        *,
        one_of: Iterable[tuple[str, Sequence[str]]] = (),
    ) -> None:
        """Initialize with the criteria.

        Args:
            criteria: Values of `FILTERING`.
            one_of: Positions, such as "subject", with terms in N-Triples. One of the terms is at
                that position of the same quad.

        Raises:
            OptionError: If a criterion is not a valid term, expression or time, if there are no
                criteria, or if they are incomplete or conflict.
        """
        self._filter = Filter(criteria.get("prefixes") or {})
        self._invert = criteria.get("invert", False)
        self._quads = criteria.get("quads", False)
        self._where = _ask_query(criteria.get("where"), criteria.get("prefixes") or {})
        self._input: Input | None = None  # the most recent log
        self._has_read = False  # whether there were any messages
        terms = [(name, criteria.get(name)) for name in ("subject", "predicate", "object", "graph")]
        terms += [("any", text) for text in criteria.get("any") or ()]
        has_criteria = False
        for position, text in terms:
            if text is not None:
                has_criteria = True
                if (position, text) == ("graph", "default"):
                    self._filter.default_graph()
                else:
                    self._filter.term(position, text)
        for position, texts in one_of:
            has_criteria = True
            self._filter.one_of(position, texts)
        for name, add in (("contains", self._filter.contains), ("regex", self._filter.matches)):
            if (text := criteria.get(name)) is not None:
                has_criteria = True
                try:
                    add(text)
                except OptionError as error:
                    raise OptionError(f"{spell_option(name)}: {error}") from None
        times = (criteria.get("time"), criteria.get("after"), criteria.get("before"))
        has_criteria = self._add_time(*times) or has_criteria
        if self._where is not None and self._quads and (self._invert or not has_criteria):
            raise OptionError(
                f"{spell_option('where')} selects messages, but {spell_option('quads')} selects quads by their terms; use only one of them"
            )
        self.accepts_parts = (
            self._quads and self._where is None and self._filter.tests_single_quads()
        )
        if has_criteria or self._where is not None:
            return
        raise OptionError(
            "no criterion is given",
            remedies=[remedies.ANY_TERM],
        )

    def _add_time(self, predicate: str | None, after: str | None, before: str | None) -> bool:
        """Add the criteria for the time of a message; return whether there are any.

        Raises:
            OptionError: If an argument is not a valid term or time, or only the predicate is given.
        """
        if after is None and before is None:
            if predicate is None:
                return False
            raise OptionError(
                f"{spell_option('time')} alone selects nothing",
                remedies=remedies.TIMES,
            )
        if predicate is None:
            self._filter.within(after, before, any_property=True)
            return True
        self._filter.begin_pattern()
        self._filter.term("predicate", predicate)
        self._filter.within(after, before)
        return True

    def process_batch(self, item: ReadBatch) -> Iterator[ReadBatch]:
        """Yield the matching messages, then an item without messages that reports dropped data.

        Raises:
            OptionError: If the batch contains patches, results or parts of messages, or a prefix is
                not declared and the log's format has no namespaces.
            LimitError: If a message exceeds a limit of the query.
        """
        for slice in self._matching_slices(item):
            yield item._replace(batch=slice, dropped_data=NOTHING_DROPPED)
        yield item._replace(batch=None)

    def _matching_slices(self, item: ReadBatch) -> Iterator[MessageBatch]:
        batch = item.batch
        assert batch is not None
        if not isinstance(batch, MessageBatch):
            raise wrong_kind_error(item.source.name, batch.kind, "only messages can be filtered")
        if (batch.continues or batch.continued) and not self.accepts_parts:
            raise OptionError(
                "only complete messages can be filtered; do not read them in parts or as quad rows",
                remedies=() if self._quads else [remedies.QUADS],
            )
        if item.source.input is not self._input:
            self._begin_log(item.source)
        self._has_read = True
        choose = self._filter.quads if self._quads else self._filter.messages
        if self._where is None:
            yield from choose(batch, self._invert)
            return
        slices = [
            matches
            for slice in self._filter.messages(batch, False)
            for matches in _select_matching(self._where, slice, item.source.name)
        ]
        if self._quads:
            for slice in slices:
                yield from self._filter.quads(slice, False)
        elif self._invert:
            matching = {
                slice.message_index(index) for slice in slices for index in range(len(slice))
            }
            flags = [batch.message_index(index) not in matching for index in range(len(batch))]
            yield from _select_flagged(batch, flags)
        else:
            yield from slices

    def _begin_log(self, source: Source) -> None:
        """Reject names whose namespaces the log's format cannot declare."""
        self._input = source.input
        spec = source.format.spec
        if (names := self._filter.prefixes()) and not spec.carries.get("namespaces", True):
            raise OptionError(
                f"{source.name}: the prefix {names[0]}: is not declared, since {spec.title} has no namespaces",
                remedies=[remedies.PREFIX],
            )

    def finish(self) -> tuple[()]:
        """Check that every prefix was declared and times were found, if any message was read.

        Raises:
            OptionError: If no log declared a prefix, or no message has a known time property.
        """
        if self._has_read and self._filter.lacks_times():
            raise OptionError(
                "no message has a known time property, such as sosa:resultTime",
                remedies=[remedies.TIME],
            )
        if self._has_read and (undeclared := self._filter.undeclared()):
            raise OptionError(
                f"no log declares the prefix {undeclared[0]}:; write the full <IRI>",
                remedies=[remedies.PREFIX],
            )
        return ()


def filter_values(criteria: Mapping[str, Any]) -> dict[str, Any]:
    """Return the criteria as values of `FILTERING`, without those that are None.

    Raises:
        OptionError: If an option does not exist, or its value is invalid.
    """
    declared = {option.name: option for option in FILTERING}
    for name in criteria:
        if name not in declared:
            raise OptionError(
                f"there is no criterion '{name[:40]}'; the criteria are {', '.join(declared)}"
            )
    return {
        name: declared[name].value(value) for name, value in criteria.items() if value is not None
    }


def _ask_query(text: str | None, prefixes: Mapping[str, str]) -> Query | None:
    """Return the query to run on each message.

    Raises:
        QueryError: If the text is not a valid query.
        OptionError: If the query is not an ASK query.
    """
    if text is None:
        return None
    try:
        query = Query(text, prefixes=prefixes)
    except QueryError as error:
        raise error.with_query_name(spell_option("where")) from None
    if query.kind != "ask":
        raise OptionError(
            f"{spell_option('where')} must be an ASK query, such as ASK {{ … }}, not a {query.kind.upper()} query"
        )
    return query


def _select_matching(query: Query, batch: MessageBatch, source: str) -> Iterator[MessageBatch]:
    """Yield the messages for which a query is true.

    Raises:
        LimitError: If a message exceeds a limit of the query.
    """
    answers: list[bool] = []
    while len(answers) < len(batch):
        new_answers = query.answers(batch, len(answers))
        answers += new_answers.answers
        if new_answers.error is not None:
            raise LimitError(
                new_answers.error[0], message_index=batch.message_index(len(answers)), source=source
            )
    yield from _select_flagged(batch, answers)


def _select_flagged(batch: MessageBatch, flags: list[bool]) -> Iterator[MessageBatch]:
    """Yield the messages whose flags are set."""
    if all(flags):
        yield batch
        return
    start = 0
    for is_selected, run in groupby(flags):
        end = start + sum(1 for _ in run)
        if is_selected:
            yield batch.slice(start, end)
        start = end

"""The content of a package: the messages on which most of its full files agree.

In: batches of the full files, which are read in parallel. Out: samples, statistics of each size,
and messages that do not conform to the declared stream type.
Cost: a sort of each message, and the counts of the statistics.
Law: if one of three files has a wrong, missing or extra message, the others determine the content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from rdfm._core import MessageBatch, StreamRules
from rdfm.analysis.log_statistics import LogCollector, LogStatistics
from rdfm.riverbench.contents import MessageDifference, same_message
from rdfm.riverbench.names import FULL, SAMPLES

__all__ = ["Content", "Replacement", "Violation", "pieces", "replacements"]

_DIRECTED = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"


class Violation(NamedTuple):
    """A message that does not conform to the declared stream type.

    Attributes:
        message: Index of the message.
        rule: The rule, as in `StreamRules`.
        text: Description of the violation, which follows the words "the message".
    """

    message: int
    rule: str
    text: str


class Replacement(NamedTuple):
    """A message on which two files agree, but which differs in the file being read.

    Attributes:
        files: The positions of the two files.
        message: The message of these files.
    """

    files: tuple[int, int]
    message: MessageBatch


class Content:
    """Collects the samples and statistics of a package from its messages.

    Attributes:
        messages: Number of messages so far.
        records: Number of distinct quads, summed over messages.
        samples: Messages that are samples of the package, by index.
        statistics: Statistics by size.
    """

    def __init__(self, rules: StreamRules, sizes: Mapping[str, int], *, plain: bool) -> None:
        """Initialize without messages.

        Args:
            rules: The rules of the stream type.
            sizes: Numbers of messages of the partial distributions, by size.
            plain: Whether the flat files lack message boundaries.
        """
        self.messages = self.records = 0
        self.samples: dict[int, MessageBatch] = {}
        self.statistics: dict[str, LogStatistics] = {}
        self._rules = rules
        self._sizes = {size: end for size, end in sizes.items() if size != FULL}
        self._collector = LogCollector(plain=plain)

    def add(self, batch: MessageBatch, source: str) -> Iterator[Violation]:
        """Add the next messages, and yield the violations of the stream type.

        Args:
            batch: The messages.
            source: Name of the file of the messages.
        """
        start, end = self.messages, self.messages + len(batch)
        ordered, found = self._rules.apply(batch)
        for number in SAMPLES:
            if start <= number < end:
                self.samples[number] = batch.slice(number - start, number - start + 1)
        at = start
        for size, stop in self._sizes.items():
            if start < stop <= end:
                self._collector.add(ordered.slice(at - start, stop - start), source)
                self.statistics[size] = self._collector.statistics(top=None)
                at = stop
        self._collector.add(ordered.slice(at - start, end - start), source)
        self.messages = end
        self.records += ordered.quad_count
        for index, rule, text in found:
            # In an archive, messages are numbered separately in each file.
            yield Violation(start + index - batch.first_index, rule, text)

    def finish(self) -> None:
        """Complete the statistics."""
        self.statistics[FULL] = self._collector.statistics(top=None)

    def uses_rdf12(self, size: str) -> bool:
        """Whether the messages of a size contain triple terms or base directions."""
        found = self.statistics.get(size)
        if found is None:
            return False
        return self.has_triple_terms(size) or _DIRECTED in found.datatypes.counts

    def has_triple_terms(self, size: str) -> bool:
        """Whether the messages of a size contain triple terms."""
        found = self.statistics.get(size)
        return found is not None and bool(found.occurrences.get("quoted_triples"))


def replacements(differences: list[dict[int, MessageDifference]]) -> dict[int, Replacement]:
    """Return the messages that are the same in two files, but differ in the file being read.

    Args:
        differences: For each other full file, its differences from the batch, by position in the
            batch.
    """
    result: dict[int, Replacement] = {}
    for (first, first_found), (second, second_found) in combinations(enumerate(differences), 2):
        for at in sorted(first_found.keys() & second_found.keys()):
            if first_found[at].undecided or second_found[at].undecided:
                continue
            if same_message(first_found[at].found, second_found[at].found):
                result.setdefault(at, Replacement((first, second), first_found[at].found))
    return result


def pieces(batch: MessageBatch, replaced: Mapping[int, Replacement]) -> Iterator[MessageBatch]:
    """Yield the messages of a batch, with the replacements applied."""
    at = 0
    for number in sorted(replaced):
        if at < number:
            yield batch.slice(at, number)
        yield replaced[number].message
        at = number + 1
    if at < len(batch):
        yield batch if at == 0 else batch.slice(at, len(batch))

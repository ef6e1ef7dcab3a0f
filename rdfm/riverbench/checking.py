"""Checks of RiverBench packages: `check` compares the files with the metadata and with each other.

In: a folder that `package` or RiverBench wrote. Out: `Finding`s, as in `rdfm.validate`, and counts.
Cost: each file is read twice: for its checksums (and the times in an archive), and for its
messages. All files are decoded in parallel, with one batch of each in memory.
Law: the order of quads and the labels of blank nodes make no difference. The majority of the full
files determines the content of a package, so damage to one file is reported only for that file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack

from rdfm._core import MessageBatch, StreamRules, Term
from rdfm.analysis.finding import READING_RULES, Finding, Rule
from rdfm.analysis.log_statistics import LogStatistics
from rdfm.errors import (
    OptionError,
    spell_option,
    visible,
)
from rdfm.logs.input.driver import ReadSettings
from rdfm.logs.input.progress import ProgressFunction
from rdfm.riverbench.comparing import FolderCheck, PackageFile, count_errors, statistics_errors
from rdfm.riverbench.contents import (
    Content,
    FileReader,
    MessageDifference,
    PlainFileReader,
    Replacement,
    Violation,
    announcement_problems,
    find_replacements,
    option_problems,
    read_announcement,
    replace_messages,
)
from rdfm.riverbench.declared import Facts, find_dataset, read_declared, read_stream_type
from rdfm.riverbench.names import (
    FULL,
    SAMPLES,
    SIZES,
    Media,
    StreamType,
    create_sizes,
    levels,
    member_name,
    sample_name,
)

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions

__all__ = ["RULES", "PackageCheck", "check"]

RULES: dict[str, Rule] = {
    "missing-file": Rule("error", "A file of the package does not exist."),
    "unlisted-file": Rule("warning", "A file is not in the metadata."),
    "byte-size": Rule("error", "The size of a file differs from the metadata."),
    "checksum": Rule("error", "A checksum of a file differs from the metadata."),
    "metadata": Rule("error", "The metadata does not have the form of a RiverBench package."),
    "message-count": Rule("error", "The number of messages in a file differs from the metadata."),
    "different-message": Rule("error", "A message differs between two files of the package."),
    "undecided": Rule("warning", "Two messages have too many symmetric blank nodes to compare."),
    "stream-type": Rule("error", "A message does not conform to the declared stream type."),
    "layout": Rule("error", "Archive names or stream options differ from RiverBench conventions."),
    "statistics": Rule("error", "Statistics do not match the messages (byte density: a warning)."),
    **READING_RULES,
}
MAX_LISTED = 10


def check(
    folder: str | os.PathLike[str],
    *,
    metadata: str | os.PathLike[str] | None = None,
    sizes: str | None = None,
    strict: bool = False,
    max_errors: int | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> PackageCheck:
    """Check a package: its files against its metadata, and the messages of all files.

    The metadata is `package_metadata.ttl` or, in a release, `metadata.ttl`. Checksums, sizes and
    message counts must be correct; all files must have the same messages, which conform to the
    declared stream type; and the statistics must match the messages. Numbers of distinct terms may
    differ within the error of their estimates.

    Args:
        folder: The folder.
        metadata: Metadata file of the dataset's source. It may declare a time property and subject
            shapes, which the metadata of a package does not contain.
        sizes: Sizes of the distributions to check, separated by commas, such as "10K" or
            "10K,full". Other distributions may be missing, and the statistics of other sizes are
            not checked. All sizes by default.
        strict: Count warnings as errors.
        max_errors: Stop after this number of errors.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the decoders. Each file takes the options that its format supports.

    Returns:
        An iterable of findings, with their counts. The files are read during iteration.

    Raises:
        OptionError: If `folder` is not a folder, or an option is invalid.
        RdfmError, OSError: If the metadata of the source cannot be read.

    Example:
        >>> import tempfile
        >>> from rdfm.riverbench import package
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     log = b'<http://ex/s> <http://ex/p> "o" .'
        ...     packaged = package(log, f"{folder}/out", stream_type="graphs", format="nt")
        ...     checked = check(f"{folder}/out").run()
        >>> checked.logs, checked.messages, checked.errors
        (3, 1, 0)
    """
    if max_errors is not None and max_errors < 1:
        raise OptionError(f"{spell_option('max_errors')} is {max_errors}, expected 1 or more")
    if not isinstance(folder, (str, os.PathLike)) or not Path(folder).is_dir():
        raise OptionError(
            f"expected the folder of a package, but {visible(str(folder))} is not a folder"
        )
    known_names = (*SIZES, FULL)
    size_names = known_names if sizes is None else tuple(name.strip() for name in sizes.split(","))
    for name in size_names:
        if name not in known_names:
            raise OptionError(
                f"{spell_option('sizes')} contains {name[:40]!r}, expected {', '.join(known_names)}"
            )
    source = None if metadata is None else Facts(metadata)
    return PackageCheck(
        [folder],
        ReadSettings(None, options),
        strict=strict,
        max_errors=max_errors,
        progress=progress,
        declarations=source,
        sizes=None if sizes is None else frozenset(size_names),
    )


@dataclass
class PackageCheck(FolderCheck):
    """Findings in a package, and their counts so far. Returned by `check`.

    Iteration reads the files, and is possible only once. Accessing a count before iteration reads
    all files. `messages` and `records` refer to one full distribution.
    """

    _RULES: ClassVar[Mapping[str, Rule]] = RULES

    declarations: Facts | None = field(default=None, repr=False)

    def _check_input(self, folder: Any) -> Iterator[Finding]:
        """Yield the findings of the package."""
        self._begin(folder)
        facts = self._read_metadata()
        if facts is not None:
            yield from self._check_package(facts)
        yield from self._take_findings()

    def _check_package(self, facts: Facts) -> Iterator[Finding]:
        """Yield the findings of a package whose metadata can be read."""
        dataset = self._find_dataset(facts)
        if dataset is None:
            return
        stream_type, _, problem = read_stream_type(facts, dataset)
        if problem is not None:
            self._add_note(self._metadata, "metadata", problem)
        if stream_type is None:
            yield from self._take_findings()
            return
        files = self._check_distributions(facts, dataset, stream_type)
        self._check_folder({file.name for file in files}, stream_type)
        self._check_copies(facts)
        yield from self._take_findings()
        try:
            for file in files:
                yield from self._check_bytes(facts, file)
            if files:
                yield from self._check_messages(facts, dataset, stream_type, files)
        finally:
            for file in files:
                file.reader.close()

    def _check_messages(
        self, facts: Facts, dataset: Term, stream_type: StreamType, files: list[PackageFile]
    ) -> Iterator[Finding]:
        """Yield the findings about the messages. All files are read in parallel."""
        self._last = max(files, key=lambda file: (file.messages, file.size == FULL)).size
        full = [file for file in files if file.size == self._last]
        # Byte density depends on the labels of blank nodes in the flat file.
        full.sort(key=lambda file: ("flat", "jelly", "stream").index(file.kind))
        candidates = [file for file in full if not isinstance(file.reader, PlainFileReader)]
        if not candidates:
            text = f"there is no {self._last} distribution with message boundaries"
            self._add_note(self._metadata, "missing-file", text)
            yield from self._take_findings()
            return
        reference = candidates[0]
        rules = self._create_rules(facts, dataset, stream_type, reference)
        plain = any(isinstance(file.reader, PlainFileReader) for file in files)
        content = Content(rules, create_sizes(reference.messages), plain=plain)
        violations = 0
        finished = set()  # names of the references so far
        while True:
            batch = reference.reader.next_batch()
            if batch is None:
                finished.add(reference.name)
                following = self._find_next_reference(reference, candidates, finished, content)
                if following is None:
                    break
                reference = following
                continue
            start = content.messages
            self._check_names(reference)
            others = [file for file in full if file is not reference]
            replaced = self._compare_full(batch, start, reference, others)
            accepted_count = self._count_accepted(batch, start, reference, others)
            accepted = batch if accepted_count == len(batch) else batch.slice(0, accepted_count)
            for part in replace_messages(accepted, replaced):
                self._compare_partial(part, content.messages, reference, files)
                for violation in content.add(part, reference.name):
                    violations += 1
                    if violations <= MAX_LISTED:
                        self._add_violation(reference, violation)
            self._numbers.records, self._numbers.messages = content.records, content.messages
            yield from self._take_findings()
            self._done = sum(file.reader.bytes_in for file in files)
            self._report(self._progress)
            if accepted_count < len(batch):
                break
            if replaced:
                last = replaced[max(replaced)].files
                reference = next(
                    file for file in candidates if file in (others[last[0]], others[last[1]])
                )
        content.finish()
        if violations > MAX_LISTED:
            text = f"{violations - MAX_LISTED:,} more messages do not conform to the stream type"
            self._add_note(reference.name, "stream-type", text)
        is_rdf12 = any(file.reader.header.get("options", {}).get("rdf_star") for file in files)
        if self._declared is not None:
            is_rdf12 = self._declared.rdf12
        for file in files:
            file.reader.count_rest()
            self._check_names(file)
            yield from self._end_file(file, stream_type, content, is_rdf12)
        if any(
            file.reader.error is None and file.reader.messages >= content.messages
            for file in candidates
        ):
            yield from self._check_samples(content.samples, stream_type)
            has_density = self._has_density(full, content)
            yield from self._check_statistics(
                facts, dataset, files, content.statistics, has_density
            )

    def _compare_full(
        self, batch: MessageBatch, start: int, reference: PackageFile, others: list[PackageFile]
    ) -> dict[int, Replacement]:
        """Compare the next messages with the other full files.

        Args:
            batch: The next messages of `reference`.
            start: Index of the first one.
            reference: The file.
            others: The other full files.

        Returns:
            The messages in which two other files agree against `reference`, by position.
        """
        differences_by_file = [
            {each.message_index - start: each for each in file.reader.compare(batch)}
            for file in others
        ]
        replaced = find_replacements(differences_by_file)
        for file, differences in zip(others, differences_by_file, strict=True):
            for position, each in differences.items():
                if position not in replaced:
                    self._add_difference(file, each, reference)
            self._check_names(file)
        for position, (agreeing, _) in sorted(replaced.items()):
            difference = MessageDifference(
                start + position, False, batch.slice(position, position + 1)
            )
            self._add_difference(reference, difference, others[agreeing[0]])
        return replaced

    def _compare_partial(
        self, batch: MessageBatch, start: int, reference: PackageFile, files: list[PackageFile]
    ) -> None:
        """Compare the next messages with the partial distributions that contain them."""
        for file in files:
            if file.size != self._last and file.messages > start:
                stop = min(len(batch), file.messages - start)
                compared = batch if stop == len(batch) else batch.slice(0, stop)
                for difference in file.reader.compare(compared):
                    self._add_difference(file, difference, reference)
                self._check_names(file)

    def _find_next_reference(
        self,
        reference: PackageFile,
        candidates: list[PackageFile],
        read: set[str],
        content: Content,
    ) -> PackageFile | None:
        """Return the file to continue with after a file that ended early; `None` at the end."""
        if reference.reader.error is None and content.messages >= reference.messages:
            return None
        for file in candidates:
            # The file must have been read up to the same message.
            if file.name not in read and file.reader.messages == content.messages:
                return file
        return None

    def _count_accepted(
        self, batch: MessageBatch, start: int, reference: PackageFile, others: list[PackageFile]
    ) -> int:
        """Return how many messages of a batch to accept, depending on the ends of other files."""
        ended = [file.reader.messages for file in others if file.reader.error is None]
        length = min(max(ended, default=0) - start, len(batch))
        if not ended or length == len(batch):
            return len(batch)
        # Two files outvote the reference, and so does one file that the metadata agrees with.
        if len(ended) >= 2 or reference.messages <= start + length:
            return max(length, 0)
        return len(batch)

    def _has_density(self, full: list[PackageFile], content: Content) -> bool:
        """Whether the byte density of the content must equal that of the flat file."""
        flat = next((file for file in full if file.kind == "flat"), None)
        if flat is None or flat.reader.error is not None or flat.differences:
            return False
        if flat.reader.messages != content.messages:
            return False
        if isinstance(flat.reader, PlainFileReader):
            # Such a file has distinct blank node labels, which differ from those of other files.
            return not content.statistics[FULL].series["blank_nodes"].sum
        return True

    def _add_violation(self, file: PackageFile, violation: Violation) -> None:
        """Add the finding for a message that does not conform to the stream type."""
        # Without a declared shape, the intended subject node might not reach all other nodes.
        is_warning = violation.rule == "subject" and not self._has_shapes
        self._add_note(
            file.name,
            "stream-type",
            f"the message {violation.text}",
            "warning" if is_warning else None,
            message_index=violation.message_index,
        )

    def _create_rules(
        self, facts: Facts, dataset: Term, stream_type: StreamType, reference: PackageFile
    ) -> StreamRules:
        """Return the declared rules for messages."""
        source = self.declarations
        declared = read_declared(facts, dataset)
        if source is not None:
            declared = read_declared(source, find_dataset(source))
            if declared.stream_type is not stream_type:
                text = (
                    f"the stream type is {stream_type.grouped}, but {source.source} declares "
                    f"{declared.stream_type.grouped}"
                )
                self._add_note(self._metadata, "metadata", text)
            is_full = reference.size == FULL
            if is_full and declared.messages not in (None, reference.messages):
                text = (
                    f"the full distribution has {reference.messages:,} messages, but "
                    f"{source.source} declares {declared.messages:,}"
                )
                self._add_note(self._metadata, "metadata", text)
        self._has_shapes = bool(declared.subjects)
        # Package metadata does not declare these properties, but Jelly files do.
        is_undeclared = not facts.objects(dataset, "rb:usesRdfStar") and source is None
        self._declared = None if is_undeclared else declared
        return StreamRules(
            stream_type.graphs,
            time=declared.time_property if stream_type.graphs == "one" else None,
            subjects=declared.subjects,
            has_root=stream_type.name == "subject-graphs" and not declared.subjects,
            generalized_triples=is_undeclared or declared.generalized_triples,
            generalized_graphs=is_undeclared or declared.generalized_graphs,
            rdf12=is_undeclared or declared.rdf12,
        )

    def _add_difference(
        self, file: PackageFile, difference: MessageDifference, reference: PackageFile
    ) -> None:
        """Add the finding for a message that differs from the corresponding one of another file."""
        file.differences += 1
        if file.differences > MAX_LISTED:
            return
        if difference.undecided:
            text = f"the message could not be compared with that of {reference.name}"
            self._add_note(file.name, "undecided", text, message_index=difference.message_index)
        else:
            text = f"the message differs from that of {reference.name}"
            self._add_note(
                file.name, "different-message", text, message_index=difference.message_index
            )

    def _check_names(self, file: PackageFile) -> None:
        """Check the names of files in an archive, up to the first wrong one."""
        if file.kind != "stream":
            return
        names = file.reader.take_names()
        if file.misnamed:
            return
        depth = levels(file.messages)
        first = file.reader.named - len(names)
        for number, name in enumerate(names, first):
            expected = member_name(number, depth, file.suffix)
            if name != expected:
                file.misnamed = True
                text = f"the file of message {number} is {name[:80]}, expected {expected}"
                self._add_note(file.name, "layout", text)
                return

    def _end_file(
        self, file: PackageFile, stream_type: StreamType, content: Content, is_rdf12: bool
    ) -> Iterator[Finding]:
        """Yield the findings at the end of a file.

        Args:
            file: The file.
            stream_type: The declared stream type.
            content: The messages of the package.
            is_rdf12: Whether RDF 1.2 (triple terms and base directions) is declared.
        """
        reader = file.reader
        self._numbers.logs += 1
        if file.differences > MAX_LISTED:
            text = (
                f"{file.differences - MAX_LISTED:,} more messages differ from those of other files"
            )
            self._add_note(file.name, "different-message", text)
        if reader.error is not None:
            self._add_unreadable_file(file.name, reader.error)
        elif reader.messages != file.messages:
            text = f"expected {file.messages:,} messages, found {reader.messages:,}"
            self._add_note(file.name, "message-count", text)
        problems: Iterable[tuple[Literal["error", "warning"], str]] = ()
        if file.kind == "jelly" and reader.header:
            problems = option_problems(
                reader.header.get("options", {}),
                stream_type,
                self._declared,
                triple_terms=content.has_triple_terms(file.size),
            )
        elif file.kind == "flat":
            problems = announcement_problems(
                read_announcement(self._folder / file.name),
                rdf12=content.uses_rdf12(file.size),
                is_declared=is_rdf12,
            )
        for severity, text in problems:
            self._add_note(file.name, "layout", text, severity)
        yield from self._take_findings()

    def _check_samples(
        self, samples: Mapping[int, MessageBatch], stream_type: StreamType
    ) -> Iterator[Finding]:
        """Yield the findings about the samples."""
        suffix = Media.for_kind("stream", triples=stream_type.has_triples).format
        for number in SAMPLES:
            name = sample_name(number, suffix)
            path = self._folder / name
            if not self._has_file(name):
                continue
            batch = samples.get(number)
            if batch is None:
                is_after_end = self._last == FULL and number >= self._numbers.messages
                if path.stat().st_size and is_after_end:
                    text = f"the sample is not empty, but there is no message {number}"
                    self._add_note(name, "different-message", text)
                continue
            options = {"dialect": "plain", **self._settings.options}
            reader = FileReader(path, suffix, options, files=True)
            try:
                if any(not difference.undecided for difference in reader.compare(batch)):
                    text = f"the sample differs from message {number}"
                    self._add_note(name, "different-message", text)
                elif reader.error is not None:
                    self._add_unreadable_file(name, reader.error)
            finally:
                reader.close()
        yield from self._take_findings()

    def _check_statistics(
        self,
        facts: Facts,
        dataset: Term,
        files: list[PackageFile],
        statistics: Mapping[str, LogStatistics],
        has_density: bool,
    ) -> Iterator[Finding]:
        """Yield the findings about the statistics of each size and the counts of the dataset.

        Args:
            facts: The metadata.
            dataset: The dataset.
            files: The distributions.
            statistics: The statistics of the messages, by size.
            has_density: Whether byte density must equal that of the flat files.
        """
        full_statistics = statistics[FULL]  # of all messages that were read
        for text in count_errors(facts, dataset, full_statistics) if self._last == FULL else ():
            self._add_note(self._metadata, "statistics", text)
        sets: dict[str, dict[Term, None]] = {}
        owner: dict[Term, str] = {}
        for file in files:
            if file.statistics is not None:
                sets.setdefault(file.size, {})[file.statistics] = None
        for size, nodes in sets.items():
            if len(nodes) > 1:
                text = f"the {size} distributions have {len(nodes)} statistics sets, expected one"
                self._add_note(self._metadata, "metadata", text)
            node = next(iter(nodes))
            if owner.setdefault(node, size) != size:
                text = (
                    f"the {owner[node]} and {size} distributions have the same statistics set, "
                    "expected one for each size"
                )
                self._add_note(self._metadata, "metadata", text)
                continue
            expected = statistics.get(size)
            if expected is None:
                continue
            for rule, severity, text in statistics_errors(
                facts, node, expected, size, has_density=has_density
            ):
                self._add_note(self._metadata, rule, text, severity)
        yield from self._take_findings()

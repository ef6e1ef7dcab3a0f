"""Checks of RiverBench packages: `check` compares the files with the metadata and each other.

In: a folder that `package` or RiverBench wrote. Out: `Finding`s, as those of `rdfm.validate`, and
counts.
Cost: each file is read twice, for its checksums and for its messages. All files are decoded side by
side, with one batch of each in memory.
Law: the order of quads and the labels of blank nodes make no difference.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack

from rdfm._core import Iri, MessageBatch, StreamRules, Term
from rdfm.errors import (
    DecodeError,
    LimitError,
    OptionError,
    RdfmError,
    TruncatedError,
    UnsupportedError,
    spelled,
    visible,
)
from rdfm.exchange.riverbench.comparing import wrong_metadata, wrong_statistics
from rdfm.exchange.riverbench.contents import FileReader, PlainFileReader, announcement
from rdfm.exchange.riverbench.declared import dataset_in, declared_in, stream_type_of
from rdfm.exchange.riverbench.facts import Facts
from rdfm.exchange.riverbench.names import (
    FULL,
    KINDS,
    METADATA_FILE,
    SAMPLES,
    Media,
    StreamType,
    file_name,
    levels,
    member_name,
    sample_name,
    sizes_of,
)
from rdfm.logs.checking import LogCheck
from rdfm.logs.driver import Reading
from rdfm.logs.findings import READING_RULES, Finding, Rule, reason
from rdfm.logs.progress import Progress
from rdfm.logs.statistics import LogCollector, LogStatistics

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions

__all__ = ["RULES", "PackageCheck", "check"]

RULES: dict[str, Rule] = {
    "missing-file": Rule("error", "A file of the package does not exist."),
    "unlisted-file": Rule("warning", "A file is not in the metadata."),
    "byte-size": Rule("error", "The size of a file is not that of the metadata."),
    "checksum": Rule("error", "A checksum of a file is not that of the metadata."),
    "metadata": Rule("error", "The metadata does not have the form of a RiverBench package."),
    "message-count": Rule("error", "A file does not have the number of messages in the metadata."),
    "different-message": Rule("error", "A message differs between two files of the package."),
    "undecided": Rule("warning", "Two messages have too many symmetric blank nodes to compare."),
    "stream-type": Rule("error", "A message does not have the declared stream type."),
    "layout": Rule("error", "Names in an archive or stream options are not those of RiverBench."),
    "statistics": Rule(
        "error", "Statistics are not those of the messages (byte density: a warning)."
    ),
    **READING_RULES,
}
MAX_LISTED = 10
_LABELS = ("1.1", "1.1-messages", "1.2-messages")
_OTHER_FILES = {METADATA_FILE, *(f"metadata.{suffix}" for suffix in ("ttl", "nt", "rdf", "jelly"))}
_PIECE_BYTES = 1 << 20


def check(
    folder: str | os.PathLike[str],
    *,
    metadata: str | os.PathLike[str] | None = None,
    strict: bool = False,
    max_errors: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[ReadOptions],
) -> PackageCheck:
    """Check a package: its files against its metadata, and the messages of all files.

    The metadata is `package_metadata.ttl`, or `metadata.ttl` of a release. Checksums, sizes and
    numbers of messages must be right; all files must have the same messages, each of the declared
    stream type; and the statistics must be those of the messages. Numbers of distinct terms may
    differ by the error of their estimate.

    Args:
        folder: The folder.
        metadata: Metadata file of the dataset's source. It may declare a time property and subject
            shapes, which the metadata of a package does not contain.
        strict: Count warnings as errors.
        max_errors: Stop after this number of errors.
        progress: Function to call about ten times per second.
        **options: Options of the decoders. Each file takes the options that its format supports.

    Returns:
        An iterable of findings, with their counts. The files are read during iteration.

    Raises:
        OptionError: `folder` is not a folder, or an option is invalid.
        RdfmError, OSError: The metadata of the source cannot be read.

    Example:
        >>> import tempfile
        >>> from rdfm.exchange.riverbench import package
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     log = b'<http://ex/s> <http://ex/p> "o" .'
        ...     made = package(log, f"{folder}/out", stream_type="graphs", format="nt")
        ...     checked = check(f"{folder}/out").run()
        >>> checked.logs, checked.messages, checked.errors
        (3, 1, 0)
    """
    if max_errors is not None and max_errors < 1:
        raise OptionError(f"{spelled('max_errors')} is {max_errors}, expected 1 or more")
    if not isinstance(folder, (str, os.PathLike)) or not Path(folder).is_dir():
        raise OptionError(
            f"expected the folder of a package, but {visible(str(folder))} is not a folder"
        )
    source = None if metadata is None else Facts(metadata)
    return PackageCheck(
        [folder],
        Reading(None, options),
        strict=strict,
        max_errors=max_errors,
        progress=progress,
        declarations=source,
    )


@dataclass
class _File:
    """A distribution, with its state while the messages are read."""

    name: str
    kind: str
    size: str
    suffix: str  # of the files in an archive
    messages: int
    reader: FileReader
    statistics: Term | None
    differences: int = 0
    misnamed: bool = False


@dataclass
class PackageCheck(LogCheck):
    """The findings in a package, and their counts so far. Created by `check`.

    Iteration reads the files, and is possible only once. Accessing a count before iteration reads
    all files. `messages` and `records` are those of one full distribution.
    """

    _RULES: ClassVar[Mapping[str, Rule]] = RULES

    declarations: Facts | None = field(default=None, repr=False)

    def _input(self, given: Any) -> Iterator[Finding]:
        """Yield the findings of the package."""
        self._folder = Path(given)
        self._shown = visible(os.fspath(given))
        facts = self._read_metadata()
        if facts is not None:
            yield from self._check_package(facts)
        yield from self._found()

    # --- findings ---

    def _note(
        self,
        file: str,
        rule: str,
        text: str,
        severity: Literal["error", "warning"] | None = None,
        **where: Any,
    ) -> None:
        """Add a finding about a file of the package."""
        source = os.path.join(self._shown, file)  # noqa: PTH118 - keeps ./
        self._new.append(Finding(source, severity or RULES[rule].severity, rule, text, **where))

    def _broken_file(self, file: str, error: RdfmError | OSError) -> None:
        """Add the finding for a file that cannot be read."""
        rule = "syntax"
        if not isinstance(error, RdfmError):
            self._note(file, "unreadable", error.strerror or str(error))
            return
        for kind, name in (
            (TruncatedError, "truncated"),
            (LimitError, "limit"),
            (UnsupportedError, "unsupported"),
        ):
            if isinstance(error, kind):
                rule = name
        where = {}
        if isinstance(error, DecodeError):
            where = {
                name: getattr(error, name) for name in ("line", "column", "offset", "frame", "row")
            }
            where["message"] = error.message_index
        source = error.source if isinstance(error, DecodeError) else None
        inner = (source or "").rpartition("!")[2] if "!" in (source or "") else ""
        name = f"{file}!{inner}" if inner else file
        text = reason(source or "", error)
        self._note(name, rule, text, error=error, **where)

    # --- metadata ---

    def _read_metadata(self) -> Facts | None:
        """Return the metadata, or `None` with a finding."""
        names = [name for name in (METADATA_FILE, "metadata.ttl") if (self._folder / name).exists()]
        self._metadata = names[0] if names else METADATA_FILE
        if not names:
            text = f"there is no {METADATA_FILE} (or metadata.ttl of a release)"
            self._note(METADATA_FILE, "missing-file", text)
            return None
        try:
            return Facts(self._folder / self._metadata)
        except (RdfmError, OSError) as error:
            self._broken_file(self._metadata, error)
            return None

    def _dataset(self, facts: Facts) -> Term | None:
        found = facts.subjects("dcat:distribution")
        if len(found) == 1:
            return found[0]
        text = f"{len(found)} datasets have distributions (dcat:distribution), expected one"
        self._note(self._metadata, "metadata", text)
        return None

    def _check_package(self, facts: Facts) -> Iterator[Finding]:
        """Yield the findings, once there is metadata."""
        dataset = self._dataset(facts)
        if dataset is None:
            return
        stream_type, _, problem = stream_type_of(facts, dataset)
        if problem is not None:
            self._note(self._metadata, "metadata", problem)
        if stream_type is None:
            yield from self._found()
            return
        files = self._files(facts, dataset, stream_type)
        self._check_folder({file.name for file in files}, stream_type)
        yield from self._found()
        try:
            for file in files:
                yield from self._check_bytes(facts, file)
            if files:
                yield from self._check_messages(facts, dataset, stream_type, files)
        finally:
            for file in files:
                file.reader.close()

    def _files(self, facts: Facts, dataset: Term, stream_type: StreamType) -> list[_File]:
        """Check the distributions in the metadata, and return those whose files exist."""
        triples = stream_type.has_triples
        suffix = Media.of("stream", triples=triples).format
        files: list[_File] = []
        full = None
        known: dict[tuple[str, str], Term] = {}
        for node in facts.objects(dataset, "dcat:distribution"):
            name = facts.text(node, "rb:hasFileName")
            label = node.value if isinstance(node, Iri) else "a distribution"
            if name is None:
                self._note(self._metadata, "metadata", f"{label} has no rb:hasFileName")
                continue
            kind, _, rest = name.partition("_")
            size = rest.partition(".")[0]
            if kind not in KINDS or name != file_name(kind, size, triples=triples):
                expected = file_name("flat", "10K", triples=triples)
                text = f"'{name[:60]}' is not the name of a distribution, expected one such as {expected}"
                self._note(self._metadata, "metadata", text)
                continue
            known[kind, size] = node
            count = facts.number(node, "rb:hasStreamElementCount")
            if size == FULL and isinstance(count, int):
                full = count if full is None else full
        if full is None:
            text = (
                "there is no full distribution with a number of messages (rb:hasStreamElementCount)"
            )
            self._note(self._metadata, "metadata", text)
            return []
        declared = facts.number(dataset, "rb:hasStreamElementCount")
        if declared is not None and declared != full:
            text = f"the dataset has {declared} messages, but the full distribution {full}"
            self._note(self._metadata, "metadata", text)
        sizes = sizes_of(full)
        for kind in KINDS:
            for size, messages in sizes.items():
                name = file_name(kind, size, triples=triples)
                found = known.pop((kind, size), None)
                if found is None:
                    self._note(self._metadata, "metadata", f"the distribution {name} is not listed")
                    continue
                for text in wrong_metadata(
                    facts,
                    found,
                    dataset,
                    kind=kind,
                    size=size,
                    messages=messages,
                    types=stream_type,
                ):
                    self._note(self._metadata, "metadata", f"{name}: {text}")
                if not (self._folder / name).is_file():
                    self._note(
                        name, "missing-file", "the file is in the metadata, but does not exist"
                    )
                    continue
                statistics = facts.value(found, "rb:hasStatisticsSet")
                reader = self._reader(kind, self._folder / name, triples)
                files.append(_File(name, kind, size, suffix, messages, reader, statistics))
        for kind, size in known:
            name = file_name(kind, size, triples=triples)
            text = f"the distribution {name} is listed, but the dataset has only {full:,} messages"
            self._note(self._metadata, "metadata", text)
        return files

    def _reader(self, kind: str, path: Path, triples: bool) -> FileReader:
        media = Media.of(kind, triples=triples)
        options = self._reading.options
        if kind == "flat":
            if announcement(path) is not None:
                # RiverBench documents the label "1.1", which does not announce messages elsewhere.
                own = {"dialect": "directive", "announced": "1.1-messages"}
                return FileReader(path, media.format, {**own, **options}, files=False)
            return PlainFileReader(path, media.format, {"dialect": "plain", **options})
        return FileReader(path, media.format, options, files=kind == "stream")

    def _check_folder(self, listed: set[str], stream_type: StreamType) -> None:
        """Check which other files there are."""
        suffix = Media.of("stream", triples=stream_type.has_triples).format
        samples = {sample_name(number, suffix) for number in SAMPLES}
        there = {path.name for path in self._folder.iterdir()}
        for name in sorted(samples - there):
            self._note(name, "missing-file", "the sample does not exist")
        for name in sorted(there - samples - listed - _OTHER_FILES):
            self._note(name, "unlisted-file", "the file is not in the metadata")

    def _check_bytes(self, facts: Facts, file: _File) -> Iterator[Finding]:
        """Yield the findings about the size and checksums of a file."""
        node = next(
            node
            for node in facts.subjects("rb:hasFileName")
            if facts.text(node, "rb:hasFileName") == file.name
        )
        hashes = {
            "md5": hashlib.md5(usedforsecurity=False),
            "sha1": hashlib.sha1(usedforsecurity=False),
        }
        size = 0
        try:
            with (self._folder / file.name).open("rb") as data:
                while piece := data.read(_PIECE_BYTES):
                    size += len(piece)
                    for each in hashes.values():
                        each.update(piece)
        except OSError as error:
            self._broken_file(file.name, error)
            yield from self._found()
            return
        wanted = facts.number(node, "dcat:byteSize")
        if wanted is not None and wanted != size:
            self._note(file.name, "byte-size", f"the file has {size:,} bytes, expected {wanted:,}")
        for checksum in facts.objects(node, "spdx:checksum"):
            algorithm = facts.text(checksum, "spdx:algorithm") or ""
            name = algorithm.rpartition("_")[2]
            value = facts.text(checksum, "spdx:checksumValue")
            if name in hashes and value is not None and value != hashes[name].hexdigest():
                found = hashes[name].hexdigest()
                self._note(file.name, "checksum", f"the {name} is {found}, expected {value[:64]}")
        yield from self._found()

    # --- messages ---

    def _check_messages(
        self, facts: Facts, dataset: Term, stream_type: StreamType, files: list[_File]
    ) -> Iterator[Finding]:
        """Yield the findings about the messages: all files are read side by side."""
        plain = any(isinstance(file.reader, PlainFileReader) for file in files)
        full = [file for file in files if file.size == FULL]
        candidates = [file for file in full if not isinstance(file.reader, PlainFileReader)]
        if not candidates:
            self._note(
                self._metadata, "missing-file", "there is no full distribution with messages"
            )
            yield from self._found()
            return
        # Byte density depends on the labels of blank nodes in the flat file.
        candidates.sort(key=lambda file: ("flat", "jelly", "stream").index(file.kind))
        reference = candidates.pop(0)
        collector = LogCollector(plain=plain)
        samples: dict[int, MessageBatch] = {}
        statistics: dict[str, LogStatistics] = {}
        rules = self._rules(facts, dataset, stream_type, files)
        violations = 0
        ends = sizes_of(reference.messages)
        while True:
            batch = reference.reader.next_batch()
            if batch is None and reference.reader.error is not None and candidates:
                # The next file has been read up to the same message.
                reference = candidates.pop(0)
                continue
            if batch is None:
                break
            start = reference.reader.messages - len(batch)
            ordered, found = rules.apply(batch)
            for index, rule, text in found:
                violations += 1
                if violations <= MAX_LISTED:
                    # Without a declared shape, the subject node may be one that does not reach all others.
                    severity: Any = (
                        "warning" if rule == "subject" and not self._has_shapes else None
                    )
                    self._note(
                        reference.name,
                        "stream-type",
                        f"the message {text}",
                        severity,
                        message=start + index - batch.first_index,  # files of archives begin at 0
                    )
            for number in SAMPLES:
                if start <= number < start + len(batch):
                    samples[number] = batch.slice(number - start, number - start + 1)
            # Statistics at the sizes between.
            at = 0
            for size, end in ends.items():
                if size != FULL and start < end <= start + len(batch):
                    collector.add(ordered.slice(at, end - start), reference.name)
                    at = end - start
                    statistics[size] = collector.statistics(top=0)
            collector.add(ordered if at == 0 else ordered.slice(at, len(ordered)), reference.name)
            self._numbers.records += ordered.quad_count
            self._numbers.messages += len(batch)
            self._check_names(reference)
            for file in files:
                if file is not reference and file.messages > start:
                    stop = min(len(batch), file.messages - start)
                    part = batch if stop == len(batch) else batch.slice(0, stop)
                    self._compare(file, part, reference)
            yield from self._found()
            self._done = sum(file.reader.bytes_in for file in files)
            self._report(self._progress)
        statistics[FULL] = collector.statistics(top=0)
        if violations > MAX_LISTED:
            text = f"{violations - MAX_LISTED:,} more messages do not have the stream type"
            self._note(reference.name, "stream-type", text)
        for file in files:
            if file is not reference:
                file.reader.count_rest()
                self._check_names(file)
            yield from self._end_file(file, reference, stream_type)
        if reference.reader.error is None:
            yield from self._check_samples(samples, stream_type)
            yield from self._check_statistics(facts, files, statistics)

    def _rules(
        self, facts: Facts, dataset: Term, stream_type: StreamType, files: list[_File]
    ) -> StreamRules:
        """Return the rules for messages, as far as they are declared."""
        source = self.declarations
        own = declared_in(facts, dataset)
        if source is not None:
            own = declared_in(source, dataset_in(source))
            if own.stream_type is not stream_type:
                text = f"the stream type is {stream_type.grouped}, but {source.source} declares {own.stream_type.grouped}"
                self._note(self._metadata, "metadata", text)
        self._has_shapes = bool(own.subjects)
        # The metadata of a package does not declare these, but Jelly files do.
        free = not facts.objects(dataset, "rb:usesRdfStar") and source is None
        return StreamRules(
            stream_type.graphs,
            time=own.time_property if stream_type.graphs == "one" else None,
            subjects=own.subjects,
            has_root=stream_type.name == "subject-graphs" and not own.subjects,
            generalized_triples=free or own.generalized_triples,
            generalized_graphs=free or own.generalized_graphs,
            rdf12=free or own.rdf12,
        )

    def _compare(self, file: _File, batch: MessageBatch, reference: _File) -> None:
        """Compare the next messages of a file with those of the reference."""
        for difference in file.reader.compare(batch):
            file.differences += 1
            if file.differences > MAX_LISTED:
                continue
            if difference.undecided:
                text = f"the message could not be compared with that of {reference.name}"
                self._note(file.name, "undecided", text, message=difference.message)
            else:
                text = f"the message differs from that of {reference.name}"
                self._note(file.name, "different-message", text, message=difference.message)
        self._check_names(file)

    def _check_names(self, file: _File) -> None:
        """Check the names of files in an archive, up to the first wrong one."""
        if file.kind != "stream":
            return
        names = file.reader.taken_names()
        if file.misnamed:
            return
        depth = levels(file.messages)
        first = file.reader.named - len(names)
        for number, name in enumerate(names, first):
            expected = member_name(number, depth, file.suffix)
            if name != expected:
                file.misnamed = True
                text = f"the file of message {number} is {name[:80]}, expected {expected}"
                self._note(file.name, "layout", text)
                return

    def _end_file(
        self, file: _File, reference: _File, stream_type: StreamType
    ) -> Iterator[Finding]:
        """Yield the findings at the end of a file."""
        reader = file.reader
        self._numbers.logs += 1
        if file.differences > MAX_LISTED:
            more = file.differences - MAX_LISTED
            text = f"{more:,} more messages differ from those of {reference.name}"
            self._note(file.name, "different-message", text)
        if reader.error is not None:
            self._broken_file(file.name, reader.error)
        elif reader.messages != file.messages:
            text = f"expected {file.messages:,} messages, found {reader.messages:,}"
            self._note(file.name, "message-count", text)
        if file.kind == "jelly" and reader.header:
            self._check_options(file, stream_type)
        label = announcement(self._folder / file.name) if file.kind == "flat" else None
        if label and label not in _LABELS:
            text = f"the file is announced as '{label[:40]}', expected 1.1-messages or 1.2-messages"
            self._note(file.name, "layout", text)
        yield from self._found()

    def _check_options(self, file: _File, stream_type: StreamType) -> None:
        """Check the stream options of a Jelly file."""
        options = file.reader.header.get("options", {})
        wanted = {
            "physical_type": "triples" if stream_type.has_triples else "quads",
            "logical_type": stream_type.name,
            "name_table": 4000,
            "prefix_table": 150,
            "datatype_table": 32,
        }
        for name, value in wanted.items():
            found = options.get(name)
            shown = found.replace("_", "-") if isinstance(found, str) else found
            if shown != value:
                severity: Any = "warning" if name.endswith("table") else None
                text = f"the stream option {name} is {shown}, expected {value}"
                self._note(file.name, "layout", text, severity)

    def _check_samples(
        self, samples: Mapping[int, MessageBatch], stream_type: StreamType
    ) -> Iterator[Finding]:
        """Yield the findings about the samples."""
        suffix = Media.of("stream", triples=stream_type.has_triples).format
        for number in SAMPLES:
            name = sample_name(number, suffix)
            path = self._folder / name
            if not path.is_file():
                continue
            batch = samples.get(number)
            if batch is None:
                if path.stat().st_size and number >= self._numbers.messages:
                    text = f"the sample is not empty, but there is no message {number}"
                    self._note(name, "different-message", text)
                continue
            reader = FileReader(path, suffix, self._reading.options, files=True)
            try:
                if any(not each.undecided for each in reader.compare(batch)):
                    text = f"the sample differs from message {number}"
                    self._note(name, "different-message", text)
                elif reader.error is not None:
                    self._broken_file(name, reader.error)
            finally:
                reader.close()
        yield from self._found()

    def _check_statistics(
        self, facts: Facts, files: list[_File], statistics: Mapping[str, LogStatistics]
    ) -> Iterator[Finding]:
        """Yield the findings about the statistics of each size."""
        sets: dict[str, dict[Term, None]] = {}
        for file in files:
            if file.statistics is not None:
                sets.setdefault(file.size, {})[file.statistics] = None
        for size, nodes in sets.items():
            if len(nodes) > 1:
                text = (
                    f"the {size} distributions have {len(nodes)} sets of statistics, expected one"
                )
                self._note(self._metadata, "metadata", text)
            found = statistics.get(size)
            if found is None:
                continue
            for rule, severity, text in wrong_statistics(facts, next(iter(nodes)), found, size):
                self._note(self._metadata, rule, text, severity)
        yield from self._found()

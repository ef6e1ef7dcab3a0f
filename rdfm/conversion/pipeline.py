"""Log to log: reading, decoding, encoding and writing overlap in threads.

In: what reads (`rdfm.logs.driver`), and what is written. Out: a `Summary`.
Cost: bounded queues between the stages (pieces, batches, bytes), whatever the input; Python works
per batch, never per message. Law: the first error ends all stages, after what came before it. What goes
from stage to stage is never changed after, and the stages share nothing else: none sees how far another
is, so the same input gives the same output and summary on every run.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rdfm._core import MessageBatch, Regrouper, ResultBatch
from rdfm.conversion import regroup
from rdfm.conversion.summary import Summary
from rdfm.conversion.target import Target, source_of
from rdfm.errors import EncodeError, LimitError, OptionError, RdfmError
from rdfm.formats.spec import listed
from rdfm.logs import remedies
from rdfm.logs.channel import Channel, Stopped, feeding_thread
from rdfm.logs.driver import Broken, Driver, Lost, Piece, Read, Source, cost
from rdfm.logs.filtering import Filtering
from rdfm.logs.input import Readable
from rdfm.logs.kinds import other_kind
from rdfm.logs.notes import Notes
from rdfm.logs.output import FolderOutput, Output, Shape
from rdfm.logs.parts import Part
from rdfm.logs.progress import Progress, Reporter
from rdfm.logs.selection import Selection

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["Pipeline", "Plan", "QueryStage"]

# Bounds of the queues, in bytes; one item always passes, however large.
PIECES_BYTES = 4 << 20
BATCHES_BYTES = 24 << 20
# Queries are slower than decoding, so that their queue is full from the beginning to the end.
QUERIED_BYTES = 4 << 20
OUTPUT_BYTES = 8 << 20
# What is encoded goes to the writing thread in pieces of this size: xz compresses a few of them a second.
WRITTEN_BYTES = 1 << 18
MAX_LISTED_ERRORS = 10


class QueryStage(Protocol):
    """A query, as a stage.

    Attributes:
        kind: What it makes: "messages" or "results".
        whole: Whether it is evaluated over all messages, at the end.
        head: What is given before everything else.
        skipped: Messages that were left out.
        texts: What was wrong with the first of them.
    """

    kind: str
    whole: bool
    head: AnyBatch | None
    skipped: int
    texts: list[str]

    def evaluate(self, read: Read) -> Iterator[Any]:
        """Give what it makes of the next messages."""

    def rest(self) -> Iterator[Any]:
        """Give what it makes of all of them, at the end."""


@dataclass(frozen=True)
class Plan:
    """What a conversion does.

    Attributes:
        inputs: What is read.
        driver: What reads it.
        target: What is written, and how.
        shape: Where to.
        regrouper: What moves the boundaries of messages, if anything is to.
        from_format: The format of all inputs, if it is given.
        default_graph_as: The name of the graph for what is in the default graph, if that is asked for.
        filtering: What keeps messages as they are read, if anything does.
        selection: The messages to write.
        counts_broken: Whether messages that are left out since they are broken keep their numbers in the selection.
        skip_errors: Whether what is broken is left out.
        keep_partial: Whether what was written before an error is kept.
        stays_flat: Whether a log that is one message of many frames may stay that.
        held_whole: Whether messages that might come in parts are held whole, to skip errors.
        bytes_total: Bytes of all inputs, if known.
        querying: What makes other messages or rows of those that are read, if anything does.
    """

    inputs: list[Readable]
    driver: Driver
    target: Target
    shape: Shape
    regrouper: Regrouper | None
    from_format: str | None
    default_graph_as: str | None
    filtering: Filtering | None
    selection: Selection
    counts_broken: bool
    skip_errors: bool
    keep_partial: bool
    stays_flat: bool
    held_whole: bool
    bytes_total: int | None
    querying: QueryStage | None = None


class _Errors(NamedTuple):
    """What was skipped between two items."""

    skipped: int = 0
    texts: tuple[str, ...] = ()
    abandoned: tuple[str, ...] = ()


class _Decoded(NamedTuple):
    """What decoding gives: the next messages of a log or its end, and what was skipped before."""

    read: Read
    errors: _Errors


# What encoding gives: bytes, or files' parts.
_Bytes = bytes | list[Part]
_NO_ERRORS = _Errors()
_NOT_LOST = Lost()


class Pipeline:
    """One conversion."""

    def __init__(self, plan: Plan, report: Reporter) -> None:
        """Take what is done, and who is told how far it is."""
        self._plan = plan
        self._report = report
        self._regrouper = plan.regrouper
        # Of the decoding thread alone.
        self._met = 0  # errors skipped
        # Of the calling thread alone, which encodes.
        self._bytes_done = self._messages = self._quads = 0  # up to what was encoded
        self._put_progress = Progress(bytes_total=plan.bytes_total)
        self._kind = plan.target.format.spec.kinds[0]  # of what is written
        if plan.querying is not None:
            self._kind = plan.querying.kind
        self._first: Read | None = None
        self._quads_seen = 0
        self._lost_before: deque[tuple[int, Lost, _Errors]] = deque()  # so many quads regrouped
        self._skipped = 0
        self._errors: list[str] = []
        self._abandoned: list[str] = []
        self._dropped: Counter[str] = Counter()
        self._dropped_key: str | None = None
        self._notes = Notes()
        self._read_all = False

    def run(self) -> Summary:
        """Convert.

        Raises:
            RdfmError, OSError: As `convert`.
        """
        start = time.perf_counter()
        process = os.getpid()
        driver = self._plan.driver
        output: Output | FolderOutput | None = None
        pieces: Channel[Piece] = Channel(PIECES_BYTES)
        querying = self._plan.querying
        batches: Channel[list[_Decoded]] = Channel(
            BATCHES_BYTES if querying is None else QUERIED_BYTES
        )
        written: Channel[list[_Bytes]] = Channel(OUTPUT_BYTES)
        read = ((piece, piece.cost) for piece in driver.pieces())
        threads = [
            feeding_thread("rdfm-read", pieces, read),
            feeding_thread("rdfm-decode", batches, self._decode(pieces), pieces),
        ]
        # Ctrl-C may come at any line: whatever is begun is ended below.
        try:
            output = self._plan.shape.output()
            threads.append(
                threading.Thread(
                    target=_write, args=(output, written), name="rdfm-write", daemon=True
                )
            )
            for thread in threads:
                thread.start()
            encoder = self._encode_all(batches, written)
            self._put(written, [encoder.finish()])
            written.close()
            written.drained(lambda: self._tell(written))
            output.commit()
            seconds = time.perf_counter() - start
        except BaseException as error:
            if os.getpid() != process:  # forked in `progress`: the threads and files are not its
                raise
            try:
                if isinstance(error, Exception) and threads[-1].is_alive():
                    written.close()
                    written.wait_drained()
            finally:
                try:
                    self._stop(pieces, batches, written)
                    _join(threads[2:])
                    if self._plan.keep_partial and isinstance(error, RdfmError):
                        _keep(output, error)
                finally:
                    if output is not None:
                        output.discard()
            raise
        finally:
            if os.getpid() == process:
                self._stop(pieces, batches, written)
                _join(threads)
                if not threads[0].is_alive():
                    driver.close()
        self._report(self._progress, force=True)
        if querying is not None:
            self._lose(_NOT_LOST, _Errors(querying.skipped, tuple(querying.texts)))
        return Summary(
            messages=self._messages,
            quads=self._quads,
            bytes_in=self._bytes_done,
            bytes_out=output.bytes_written,
            seconds=seconds,
            dropped=self._all_dropped(encoder),
            dropped_key=self._dropped_key,
            skipped=self._skipped,
            errors=tuple(self._errors),
            abandoned=tuple(self._abandoned),
            notes=(*self._notes_of_inputs(), *encoder.notes()),
            kind=self._kind,
        )

    def _notes_of_inputs(self) -> tuple[str, ...]:
        # The reader may be ahead of what is wanted, so that what it met there would be chance.
        of_all = self._plan.driver.notes() if self._read_all else ()
        return of_all + self._notes.texts()

    def _all_dropped(self, encoder: Any) -> dict[str, int]:
        dropped = Counter(encoder.dropped())
        if self._regrouper is not None:
            dropped.update(self._regrouper.dropped())
        dropped.update(self._dropped)
        return {name: count for name, count in dropped.items() if count}

    # --- errors, on the decoding thread ---

    def _decode(self, pieces: Iterable[Piece]) -> Iterator[tuple[list[_Decoded], int]]:
        """What is decoded; errors are raised, or skipped and counted."""
        errors = _NO_ERRORS
        for items in self._plan.driver.decode(pieces):
            decoded = []
            for item in items:
                if isinstance(item, Read):
                    decoded.append(_Decoded(item, errors))
                    errors = _NO_ERRORS
                elif isinstance(item, Broken):
                    if decoded:  # comes before the error
                        yield decoded, _cost(decoded)
                        decoded = []
                    errors = self._skip(item, errors)
                elif item.abandoned:
                    errors = errors._replace(abandoned=(*errors.abandoned, item.source.name))
            if decoded:
                yield decoded, _cost(decoded)

    def _skip(self, broken: Broken, before: _Errors) -> _Errors:
        """Count an error that is skipped; raise it where errors are not."""
        plan, error = self._plan, broken.error
        flat = broken.header.get("frames") == "flat"
        stays_flat = flat and plan.stays_flat and not broken.source.member
        held = plan.held_whole or (stays_flat and plan.skip_errors)
        remedies.add(error, plan.target.format.spec, held=held)
        # What is too large for a limit is not broken, and is not left out in silence.
        if not plan.skip_errors or isinstance(error, LimitError):
            raise error
        self._met += 1
        texts = (*before.texts, str(error)) if self._met <= MAX_LISTED_ERRORS else before.texts
        return before._replace(skipped=before.skipped + 1, texts=texts)

    # --- encoding, on the calling thread ---

    def _noting(self, batches: Iterable[list[_Decoded]]) -> Iterator[list[_Decoded]]:
        """What was decoded; the first of it is noted, and what the logs say about themselves."""
        for some in batches:
            if self._first is None and some:
                self._first = some[0].read._replace(batch=None)
            for read, _ in some:
                self._check_kind(read)
            for read, _ in some:
                self._notes.update(read.source, read.header.get("notes", ()))
            name = self._plan.default_graph_as
            yield some if name is None else [_in_graph(each, name) for each in some]

    def _check_kind(self, read: Read) -> None:
        """Refuse messages of a kind that cannot be written, or regrouped."""
        if read.batch is None or self._plan.querying is not None:
            return
        kind, spec = read.batch.kind, self._plan.target.format.spec
        if kind not in spec.kinds:
            holds = f"{spec.title} holds {listed(list(spec.kinds))}"
            raise other_kind(read.source.name, kind, holds)
        self._kind = kind
        if kind != "messages" and self._regrouper is not None:
            raise OptionError(f"{read.source.name} holds {kind}; only messages are regrouped")
        if kind != "messages" and self._plan.default_graph_as is not None:
            raise OptionError(f"{read.source.name} holds {kind}; default_graph_as is for messages")

    def _filter(self, batches: Iterable[list[_Decoded]]) -> Iterator[list[_Decoded]]:
        """What was decoded, with the messages that are kept alone."""
        filtering = self._plan.filtering
        if filtering is None:
            yield from batches
            return
        for some in batches:
            kept = []
            for read, errors in some:
                if read.batch is not None:
                    chosen = filtering.choose(read)
                    kept += [_Decoded(each._replace(lost=_NOT_LOST), _NO_ERRORS) for each in chosen]
                # What was left out on the way, and how far the reader is.
                kept.append(_Decoded(read._replace(batch=None), errors))
            yield kept
        filtering.check()

    def _query(self, batches: Iterable[list[_Decoded]]) -> Iterator[list[_Decoded]]:
        """What the query makes of what was decoded."""
        querying = self._plan.querying
        if querying is None:
            yield from batches
            return

        def decoded(read: Read, batch: Any) -> list[_Decoded]:
            return [_Decoded(read._replace(batch=batch, lost=_NOT_LOST), _NO_ERRORS)]

        last = None
        for some in batches:
            for read, errors in some:
                if last is None and querying.head is not None:
                    yield decoded(read, querying.head)
                last = read._replace(batch=None)
                if read.batch is not None:
                    for made in querying.evaluate(read):
                        yield decoded(read, made)
                yield [_Decoded(last, errors)]
        if last is None:  # an archive or a folder without logs
            nothing: Any = None
            name, format = self._plan.driver.name, self._plan.target.format
            last = Read(Source(name, format, nothing, member=False), None, {}, 0)
            if querying.head is not None:
                yield decoded(last, querying.head)
        if querying.whole:
            bytes_in, total = last.bytes_in, self._plan.bytes_total
            self._report(
                lambda: Progress(bytes_in, total, kind=self._kind, evaluating=True), force=True
            )
        for made in querying.rest():
            yield decoded(last, made)

    def _regroup(self, batches: Iterable[list[_Decoded]]) -> Iterator[list[_Decoded]]:
        """What was decoded, with the messages that `group_by` asks for."""
        regrouper = self._regrouper
        if regrouper is None:
            yield from batches
            return
        read = None
        fed = 0  # quads

        def regrouped(read: Read) -> Iterator[list[_Decoded]]:
            for made in regroup.taken(regrouper):
                yield [_Decoded(read._replace(batch=made, lost=_NOT_LOST), _NO_ERRORS)]

        try:
            for some in batches:
                for read, errors in some:
                    if read.lost is not _NOT_LOST or errors is not _NO_ERRORS:
                        self._lost_before.append((fed, read.lost, errors))
                    if isinstance(read.batch, MessageBatch):
                        regrouper.feed(read.batch)
                        fed += read.batch.record_count
                        yield from regrouped(read)
            regrouper.finish()
            if read is not None:
                yield from regrouped(read)
                yield [_Decoded(read._replace(batch=None, lost=_NOT_LOST), _NO_ERRORS)]
        except EncodeError as error:
            error.source = None if read is None else read.source.name
            remedies.add(error, held=self._plan.held_whole)
            raise

    def _lose(self, lost: Lost, errors: _Errors, *, metadata: bool = True) -> None:
        """Counts what was left out before what is written."""
        self._skipped += errors.skipped
        self._errors += errors.texts[: MAX_LISTED_ERRORS - len(self._errors)]
        self._abandoned += errors.abandoned
        self._dropped["namespaces"] += lost.namespaces
        self._dropped["metadata"] += lost.metadata if metadata else 0
        self._dropped["keys"] += lost.keys
        self._dropped_key = self._dropped_key or lost.key

    def _lose_before(self, quads: float) -> None:
        """Counts what was left out before so many quads that are regrouped."""
        while self._lost_before and self._lost_before[0][0] < quads:
            _, lost, errors = self._lost_before.popleft()
            self._lose(lost, errors)

    def _encode_all(self, batches: Channel[list[_Decoded]], written: Channel[list[_Bytes]]) -> Any:
        """Encode what is decoded; gives the encoder, whose end is still to be written."""
        encoder: Any = None
        selection = self._plan.selection
        try:
            for some in self._regroup(self._query(self._filter(self._noting(batches)))):
                out: list[_Bytes] = []
                try:
                    for decoded in some:
                        if encoder is None and decoded.read.batch is not None:
                            encoder = self._make_encoder(decoded.read.batch)
                        if selection.done and not isinstance(decoded.read.batch, ResultBatch):
                            break
                        self._encode(encoder, decoded, out)
                        if selection.done:
                            break
                finally:
                    if out:
                        self._put(written, out)
                if not out:  # nothing was written, and yet something is done
                    self._put(written, out)
                if selection.done:
                    break
                self._tell(written)
            else:
                self._read_all = True
            for read in selection.rest():
                held: list[_Bytes] = []
                try:
                    held.append(self._encoded(encoder, read, held))
                finally:
                    self._put(written, held)
        except RdfmError:
            if encoder is not None:  # what came before makes a whole log
                with contextlib.suppress(Exception):
                    written.put([encoder.finish()], 0)
            raise
        if not selection.done:
            self._lose_before(math.inf)
        return self._make_encoder(None) if encoder is None else encoder

    def _encode(self, encoder: Any, decoded: _Decoded, out: list[_Bytes]) -> None:
        read, errors = decoded
        if self._plan.counts_broken:
            self._plan.selection.pass_over(errors.skipped)
        chosen = [] if read.batch is None else list(self._plan.selection.choose(read))
        if read.lost is not _NOT_LOST or errors is not _NO_ERRORS:
            # Of a message that is not wanted nothing is dropped.
            self._lose(read.lost, errors, metadata=bool(chosen) or read.batch is None)
        if read.batch is not None:
            self._quads_seen += read.batch.record_count
        if self._lost_before:
            self._lose_before(max(self._quads_seen, 1))
        for some in chosen:
            out.append(self._encoded(encoder, some, out))
        self._bytes_done = read.bytes_in

    def _encoded(self, encoder: Any, read: Read, out: list[_Bytes]) -> _Bytes:
        """Messages as they are written; at an error `out` gets what comes before it."""
        batch = read.batch
        assert batch is not None
        try:
            encoded: _Bytes = encoder.encode(batch, read.source.name)
        except EncodeError as error:
            error.source = read.source.name
            remedies.add(error, held=self._plan.held_whole)
            out.append(error.completed)
            raise
        self._messages += len(batch) - batch.continued
        self._quads += batch.record_count
        return encoded

    def _make_encoder(self, batch: AnyBatch | None) -> Any:
        """The encoder, once the first messages and what their log says about itself are known."""
        plan, first = self._plan, self._first
        if first is None:
            return plan.target.encoder(None, None)
        known = source_of(
            first,
            isinstance(batch, MessageBatch) and len(batch) > 0 and batch.has_namespaces(0),
            flat=plan.stays_flat
            and first.header.get("frames") == "flat"
            and not first.source.member,
            inputs=plan.inputs,
            name=plan.from_format,
        )
        if plan.default_graph_as is not None:
            known["carries"]["graphs"] = True
        if plan.querying is not None:  # triples, with any term that the query names
            known["carries"] |= {"graphs": False, "triple_terms": "anywhere"}
        return plan.target.encoder(first.source, known)

    # --- around the stages ---

    def _put(self, written: Channel[list[_Bytes]], out: list[_Bytes]) -> None:
        """Give the writing thread what was encoded, in pieces, each with how far it is behind it."""
        before, after = self._put_progress, self._progress()
        self._put_progress = after
        total, done = sum(map(_size, out)), 0
        for piece in _cut(out):
            size = sum(map(_size, piece))
            done += size
            mark = after if done == total else before.towards(after, done / total)
            written.put(piece, size, mark, lambda: self._tell(written))

    def _tell(self, written: Channel[list[_Bytes]]) -> None:
        """Tells how far the writing thread is."""
        self._report(
            lambda: (
                written.reached() or Progress(bytes_total=self._plan.bytes_total, kind=self._kind)
            )
        )

    def _progress(self) -> Progress:
        """How far the encoding is."""
        total = self._plan.bytes_total
        return Progress(self._bytes_done, total, self._messages, self._quads, self._kind)

    @staticmethod
    def _stop(*channels: Channel[Any]) -> None:
        for channel in channels:
            channel.cancel()


def _in_graph(decoded: _Decoded, name: str) -> _Decoded:
    """What was decoded, with the quads of the default graph in the graph of that name."""
    read, errors = decoded
    if not isinstance(read.batch, MessageBatch):
        return decoded
    return _Decoded(read._replace(batch=read.batch.with_default_graph(name)), errors)


def _cost(decoded: list[_Decoded]) -> int:
    return sum(cost(read) for read, _ in decoded)


def _size(some: _Bytes) -> int:
    return len(some) if isinstance(some, bytes) else sum(len(part.data) for part in some)


def _cut(out: list[_Bytes]) -> Iterator[list[_Bytes]]:
    """What was encoded in pieces of about `WRITTEN_BYTES`; at least one, perhaps of nothing."""
    if sum(map(_size, out)) <= WRITTEN_BYTES:
        yield out
        return
    piece: list[_Bytes] = []
    room = WRITTEN_BYTES
    for some in out:
        for part in _parts(some):
            if piece and _size(part) > room:
                yield piece
                piece, room = [], WRITTEN_BYTES
            piece.append(part)
            room -= _size(part)
    yield piece


def _parts(some: _Bytes) -> Iterator[_Bytes]:
    """Bytes cut at `WRITTEN_BYTES`; of files the parts that come together, one by one only if they are large."""
    if isinstance(some, bytes):
        for at in range(0, len(some), WRITTEN_BYTES):
            yield some[at : at + WRITTEN_BYTES]
    elif _size(some) <= WRITTEN_BYTES:
        yield some
    else:
        for part in some:
            yield [part]


def _write(output: Any, written: Channel[list[_Bytes]]) -> None:
    """The writing thread."""
    try:
        for out in written:
            if not out:
                continue
            if len(out) == 1:
                output.write(out[0])
            elif all(isinstance(some, bytes) for some in out):
                output.write(b"".join(some for some in out if isinstance(some, bytes)))
            else:
                for some in out:
                    output.write(some)
    except Stopped:
        pass
    except BaseException as error:
        written.cancel(error)


def _join(threads: Sequence[threading.Thread]) -> None:
    """Waits a little: a reader that waits for a pipe or a network is left behind."""
    for thread in threads:
        if thread.is_alive():
            thread.join(0.5)


def _keep(output: Output | FolderOutput | None, error: BaseException) -> None:
    """Names what was written `NAME.partial`, and says so in the error."""
    partial = None if output is None else output.keep_partial()
    if partial is not None:
        error.add_note(f"what came before is in {partial}")

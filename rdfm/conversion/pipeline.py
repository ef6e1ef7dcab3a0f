"""The pipeline of a conversion: reading, decoding, encoding and writing overlap in threads.

In: a driver, stages, and a target. Out: a `ConversionSummary`.
Cost: queues of bounded size (pieces, batches, bytes) for any input. Python works per batch, never
per message.
Law: the first error ends all threads, after everything before it has been written. Threads share
only items passed through the queues, and do not modify them afterwards. Therefore, the same input
gives the same output and summary on every run.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import MessageBatch
from rdfm.conversion import interruption
from rdfm.conversion.encoding import Encoding
from rdfm.conversion.interruption import Interrupted
from rdfm.conversion.skipping import Skipping
from rdfm.conversion.summary import ConversionSummary
from rdfm.conversion.target import Target, describe_source
from rdfm.errors import EncodeError, OptionError, RdfmError
from rdfm.formats.spec import join_words
from rdfm.logs import remedies
from rdfm.logs.channel import Channel, ChannelCancelledError, create_feeding_thread
from rdfm.logs.counters import CounterRange
from rdfm.logs.input.driver import Driver, Item, Piece, ReadBatch, ReadError, cost
from rdfm.logs.input.inputs import Readable
from rdfm.logs.input.progress import Progress, Reporter, interpolate
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.notes import Notes
from rdfm.logs.stages.stage import SkipErrors, Stage, Stages, Tally
from rdfm.logs.write.append import COMMIT_SECONDS
from rdfm.logs.write.output import FolderOutput, Output, OutputShape
from rdfm.logs.write.parts import Part, part_list
from rdfm.storage.addresses import is_web

if TYPE_CHECKING:
    from rdfm.logs.write.append import AppendOutput
    from rdfm.logs.write.keyed_append import AppendFolder
    from rdfm.message import AnyBatch
    from rdfm.storage.live import LiveTarget

__all__ = ["ConversionPlan", "Pipeline"]

# Capacities of the queues, in bytes. An empty queue accepts an item of any size.
PIECES_BYTES = 4 << 20
BATCHES_BYTES = 24 << 20
# A slow stage, such as a query, or a slow format keeps these queues full, so they are smaller.
SLOW_PIECES_BYTES = 2 << 20
SLOW_BATCHES_BYTES = 2 << 20
OUTPUT_BYTES = 8 << 20
# Encoded bytes to collect before passing them to the writing thread.
COLLECTED_BYTES = 1 << 20
# Size of the pieces for the writing thread. xz compresses only a few of them per second.
WRITTEN_BYTES = 1 << 18
# Sent after the last bytes of a complete output.
END: list[Part] = []
# Sent to check that no other program has changed the log that is appended to.
CHECK: list[Part] = []
# Errors that end a conversion between two items, after which the output can be completed.
_DELIBERATE = (Exception, Interrupted)


class ConversionPlan(NamedTuple):
    """The steps of a conversion.

    Attributes:
        inputs: The inputs.
        driver: The driver that reads the inputs.
        stages: The steps between reading and writing, in order.
        target: The format of the output, with its options.
        shape: Form of the output, such as a log, a folder or an archive.
        from_format: Name of the format of all inputs, if given.
        on_error: The handling of invalid data: "fail", "skip" or "skip-line".
        max_errors: Number of skipped lines and messages at which the conversion fails.
        rejects: Path of the file for skipped data.
        keep_partial: Whether to keep the output written before an error.
        stays_flat: Whether a log of one message in many frames may keep that form.
        buffers_messages: Whether messages that could be processed in parts are buffered completely
            so that errors can be skipped.
        bytes_total: Size of all inputs in bytes, if known.
        jobs: Number of threads that encode batches.
        row_jobs: Number of threads that write row groups.
        last_event_id: The id of the event after which a stream of events begins, if given.
        stream_conflict: The reason why a stream of events cannot be appended with these options.
    """

    inputs: list[Readable]
    driver: Driver
    stages: tuple[Stage, ...]
    target: Target
    shape: OutputShape
    from_format: str | None
    on_error: str = "fail"
    max_errors: int | None = None
    rejects: str | None = None
    keep_partial: bool = False
    stays_flat: bool = False
    buffers_messages: bool = False
    bytes_total: int | None = None
    jobs: int = 1
    row_jobs: int = 1
    last_event_id: str | None = None
    stream_conflict: str | None = None


class Pipeline:
    """Runs one conversion."""

    def __init__(self, plan: ConversionPlan, report: Reporter) -> None:
        self._plan = plan
        self._report = report
        # Only the calling thread, which runs the stages and encodes, uses the following attributes.
        self._tally = Tally()
        self._skipping = Skipping(self._tally, plan.max_errors, plan.rejects)
        self._stages = Stages((self._skipping, *plan.stages))
        self._kind = self._stages.kind or plan.target.format.spec.kinds[0]  # of the output
        self._bytes_done = self._messages = self._quads = 0  # encoded so far
        self._bytes_read = 0  # input bytes up to the last item
        self._out: list[Part] = []  # output for the writing thread
        self._collected = 0  # size of `_out` in bytes
        self._counters = CounterRange()
        self._put_progress = Progress(bytes_total=plan.bytes_total)
        self._first: ReadBatch | None = None
        self._notes = Notes()
        self._encoder: Encoding | None = None
        self._read_all = False
        self._next_commit = math.inf
        self._wake: Callable[[], None] = lambda: None

    def run(self) -> ConversionSummary:
        """Run the conversion.

        Raises:
            RdfmError, OSError: As in `convert`.
        """
        with self._skipping:
            return self._run()

    def _run(self) -> ConversionSummary:
        start = time.perf_counter()
        process = os.getpid()
        driver = self._plan.driver
        output: Output | FolderOutput | AppendOutput | AppendFolder | LiveTarget | None = None
        is_slow = self._stages.is_slow or self._plan.target.format.is_slow
        pieces: Channel[Piece] = Channel(SLOW_PIECES_BYTES if is_slow else PIECES_BYTES)
        batches: Channel[list[Item]] = Channel(  # also wakes up for encoded batches
            SLOW_BATCHES_BYTES if is_slow else BATCHES_BYTES
        )
        self._wake = batches.wake
        if self._plan.shape.appends:
            self._next_commit = start + (self._commit_seconds or COMMIT_SECONDS)
        output_queue: Channel[list[Part]] = Channel(OUTPUT_BYTES)
        read = ((piece, piece.cost) for piece in driver.pieces())
        threads = [
            create_feeding_thread("rdfm-read", pieces, read),
            create_feeding_thread("rdfm-decode", batches, self._decode(pieces), pieces),
        ]
        # Ctrl-C may interrupt at any line. The handlers below stop everything that has started.
        try:
            output = self._plan.shape.open_output()
            self._continue_stream()
            threads.append(
                threading.Thread(
                    target=_write, args=(output, output_queue), name="rdfm-write", daemon=True
                )
            )
            for thread in threads:
                thread.start()
            encoder = self._encode_all(batches, output_queue)
            self._put(output_queue, encoder.finish())
            output_queue.put(END, 0, self._progress())
            output_queue.close()
            output_queue.drain(lambda: self._report_progress(output_queue))
            output.commit()
            seconds = time.perf_counter() - start
        except BaseException as error:
            if (
                os.getpid() != process
            ):  # after a fork in `progress`, threads and files belong to the parent
                raise
            try:
                if isinstance(error, _DELIBERATE) and threads[-1].is_alive():
                    output_queue.close()
                    output_queue.wait_until_drained()
            finally:
                try:
                    self._stop(pieces, batches, output_queue)
                    _join(threads[2:])
                    if self._plan.keep_partial and isinstance(error, (RdfmError, Interrupted)):
                        _keep_partial(output, error)
                finally:
                    if output is not None:
                        output.discard()
            raise
        finally:
            if os.getpid() == process:
                self._stop(pieces, batches, output_queue)
                if self._encoder is not None:
                    self._encoder.close()
                _join(threads)
                if not threads[0].is_alive():
                    driver.close()
        self._report(self._progress, force=True)
        tally = self._tally
        return ConversionSummary(
            messages=self._messages,
            quads=self._quads - encoder.dropped()["repeated quads"],
            bytes_in=self._bytes_done,
            bytes_out=output.bytes_written,
            seconds=seconds,
            dropped=self._dropped_counts(encoder),
            dropped_key=tally.dropped_key,
            skipped=tally.skipped,
            skipped_lines=tally.skipped_lines,
            line_messages=tally.line_messages,
            errors=tuple(tally.errors),
            abandoned=tuple(tally.abandoned),
            notes=(
                *self._input_notes(),
                *tally.notes(),
                *encoder.notes(),
                *self._plan.shape.notes(self._plan.target.format),
            ),
            kind=self._kind,
            counters=self._counters.bounds,
            uncommitted_bytes=sum(driver.uncommitted.values()) if self._read_all else 0,
        )

    def _continue_stream(self) -> None:
        """Let a stream of events that is appended begin after the last event in the log."""
        plan = self._plan
        if not plan.shape.appends or not any(is_web(str(log)) for log in plan.inputs):
            return
        try:
            if plan.stream_conflict is not None:
                raise OptionError(plan.stream_conflict)
            plan.driver.continue_stream(
                plan.shape.continue_stream(str(plan.inputs[0]), plan.last_event_id)
            )
        except OptionError as error:
            plan.driver.stream_error = error

    def _input_notes(self) -> tuple[str, ...]:
        # The driver may have read ahead by an amount that depends on timing. In that case, its
        # notes are omitted.
        driver_notes = self._plan.driver.notes() if self._read_all else ()
        return driver_notes + self._notes.texts()

    def _dropped_counts(self, encoder: Encoding) -> dict[str, int]:
        dropped = encoder.dropped()
        dropped.update(self._stages.dropped())
        dropped.update(self._tally.dropped)
        return {name: count for name, count in dropped.items() if count}

    # --- decoding, on a separate thread ---

    def _decode(self, pieces: Iterable[Piece]) -> Iterator[tuple[list[Item], int]]:
        """Yield decoded items. Errors are raised or skipped after the items that precede them."""
        plan = self._plan
        policy = SkipErrors(
            skip=plan.on_error != "fail",
            explain=self._explain,
            keeps_data=plan.rejects is not None,
        )
        for items in plan.driver.decode(pieces):
            decoded: list[Item] = []
            try:
                for item in items:
                    decoded.extend(policy.process(item))
            except RdfmError:
                if decoded:
                    yield decoded, _cost(decoded)
                raise
            if decoded:
                yield decoded, _cost(decoded)

    def _explain(self, failure: ReadError) -> None:
        """Add remedies to an error, except for results, whose rows cannot be read in parts."""
        if failure.source.format.spec.kinds == ("results",):
            return
        plan = self._plan
        flat = failure.header.get("frames") == "flat"
        stays_flat = flat and plan.stays_flat and not failure.source.member
        buffers_messages = plan.buffers_messages or (stays_flat and plan.on_error == "skip")
        remedies.add(
            failure.error,
            plan.target.format.spec,
            target_accepts_parts=plan.target.encoder_accepts_parts,
            buffers_messages=buffers_messages,
        )

    # --- stages and encoding, on the calling thread ---

    def _encode_all(
        self, batches: Channel[list[Item]], output_queue: Channel[list[Part]]
    ) -> Encoding:
        """Encode everything except the end of the log."""
        stages = self._stages
        try:
            for items in self._receive_items(batches, output_queue):
                self._note(items)
                outputs = (output for item in items for output in stages.process(item))
                self._encode(outputs, output_queue)
                if stages.done:
                    break
                self._report_progress(output_queue)
            else:
                self._read_all = True
            if stages.works_at_end:
                bytes_in, total = self._bytes_done, self._plan.bytes_total
                self._report(
                    lambda: Progress(bytes_in, total, kind=self._kind, evaluating=True), force=True
                )
            self._encode(stages.finish(), output_queue)
            self._drain(output_queue)
        except (RdfmError, Interrupted) as error:
            if self._encoder is not None:
                self._drain(output_queue)  # raises an earlier error
                if isinstance(error, Interrupted) and self._commit_seconds:
                    self._commit(output_queue)
                with contextlib.suppress(Exception):  # completes the log that precedes the error
                    output_queue.put(self._encoder.finish(), 0)
            raise
        if self._encoder is None:
            self._encoder = self._make_encoder(None)
        return self._encoder

    def _receive_items(
        self, batches: Channel[list[Item]], output_queue: Channel[list[Part]]
    ) -> Iterator[list[Item]]:
        """Yield the items. While waiting, pass encoded bytes to the writing thread."""
        arriving = iter(batches)

        def has_encoded() -> bool:
            encoder = self._encoder
            return encoder is not None and len(encoder) > 0 and encoder.is_ready()

        while True:
            while not batches.wait(
                lambda: has_encoded() or self._is_commit_due() or interruption.requested
            ):
                if has_encoded():
                    self._encode((), output_queue)
                self._interrupt_or_commit(output_queue)
            self._interrupt_or_commit(output_queue)
            items = next(arriving, None)
            if items is None:
                return
            yield items

    def _interrupt_or_commit(self, output_queue: Channel[list[Part]]) -> None:
        """Raise `Interrupted` if requested. Commit if that is due."""
        if interruption.requested:
            raise Interrupted
        if self._is_commit_due():
            self._commit(output_queue)

    def _is_commit_due(self) -> bool:
        return time.perf_counter() >= self._next_commit

    def _commit(self, output_queue: Channel[list[Part]]) -> None:
        """Commit the complete messages if requested, and check that the log has not changed."""
        if self._commit_seconds and self._encoder is not None:
            self._pause(self._encoder, output_queue)
        output_queue.put(CHECK, 0)
        output_queue.drain(lambda: self._report_progress(output_queue))  # raises its error
        self._next_commit = time.perf_counter() + (self._commit_seconds or COMMIT_SECONDS)

    def _pause(self, encoder: Encoding, output_queue: Channel[list[Part]]) -> None:
        """Pass on what completes and commits the log, if no message is incomplete."""
        self._drain(output_queue)
        self._put(output_queue, encoder.pause())

    @property
    def _commit_seconds(self) -> int:
        """Interval of commits. It may change from 0 when an input is opened."""
        return self._plan.shape.commit_seconds(may_be_endless=self._plan.driver.may_be_endless)

    def _note(self, items: list[Item]) -> None:
        """Store the first item and the notes of the logs, and check the kind of the messages."""
        for item in items:
            if isinstance(item, ReadBatch):
                if self._first is None:
                    self._first = item._replace(batch=None)
                if item.batch is not None and self._stages.kind is None:
                    self._check_kind(item, item.batch.kind)
        for item in items:
            if isinstance(item, ReadBatch):
                self._notes.update(item.source, item.header.get("notes", ()))

    def _check_kind(self, item: ReadBatch, kind: str) -> None:
        """Reject messages of a kind that the target format does not support."""
        spec = self._plan.target.format.spec
        if kind not in spec.kinds:
            reason = f"{spec.title} is for {join_words(list(spec.kinds))}"
            raise wrong_kind_error(item.source.name, kind, reason, spec.kinds[0])
        self._kind = kind

    def _encode(self, items: Iterable[Item], output_queue: Channel[list[Part]]) -> None:
        """Encode items. On an error, everything before it is written."""
        encoder = self._encoder
        try:
            for item in items:
                self._tally.count(item)
                if not isinstance(item, ReadBatch):
                    continue
                self._bytes_read = item.bytes_in
                if item.batch is not None:
                    if encoder is None:
                        encoder = self._encoder = self._make_encoder(item.batch)
                    self._counters.add(item.batch)
                    self._submit(item.batch, item, encoder, output_queue)
                    self._take(output_queue)
            self._take(output_queue)
        except BaseException:
            if self._out:
                self._pass_on(output_queue)
            raise
        if encoder is None or not len(encoder):
            self._bytes_done = self._bytes_read
        self._pass_on(output_queue)  # reports progress even without bytes

    def _submit(
        self, batch: AnyBatch, item: ReadBatch, encoder: Encoding, output_queue: Channel[list[Part]]
    ) -> None:
        """Encode a batch. If its last message is incomplete, commit the messages before it."""
        if batch.continues and self._commit_seconds and (len(batch) > 1 or not batch.continued):
            # The messages before an incomplete one can be committed only here.
            rest = len(batch) - 1
            if rest:
                encoder.submit(batch.slice(0, rest), item.source.name, item.bytes_in)
            self._pause(encoder, output_queue)
            batch = batch.slice(rest, rest + 1)
        encoder.submit(batch, item.source.name, item.bytes_in, item.header.get("event_id"))

    def _drain(self, output_queue: Channel[list[Part]]) -> None:
        """Wait for all batches that are being encoded, and pass on their bytes.

        Raises:
            EncodeError: If a message cannot be written. The bytes before it are passed on.
        """
        try:
            self._take(output_queue, all=True)
        except BaseException:
            if self._out:
                self._pass_on(output_queue)
            raise
        self._bytes_done = self._bytes_read
        self._pass_on(output_queue)

    def _take(self, output_queue: Channel[list[Part]], *, all: bool = False) -> None:
        """Take the encoded batches; with `all`, wait for all of them.

        Pass on their bytes if there are many.

        Raises:
            EncodeError: If a message cannot be written. The bytes before it are taken.
        """
        if self._encoder is None:
            return
        try:
            for encoded in self._encoder.take(all=all):
                self._out += (
                    encoded.parts
                    if encoded.event_id is None
                    else [part._replace(event_id=encoded.event_id) for part in encoded.parts]
                )
                self._collected += _size(encoded.parts)
                self._messages += encoded.messages
                self._quads += encoded.quads
                self._bytes_done = encoded.bytes_in
                if self._collected >= COLLECTED_BYTES:
                    self._pass_on(output_queue)
                    self._report_progress(output_queue)
        except EncodeError as error:
            remedies.add(error, buffers_messages=self._plan.buffers_messages)
            self._out += part_list(error.completed)
            raise

    def _pass_on(self, output_queue: Channel[list[Part]]) -> None:
        """Pass the bytes that were taken to the writing thread."""
        parts, self._out, self._collected = self._out, [], 0
        self._put(output_queue, parts)

    def _make_encoder(self, batch: AnyBatch | None) -> Encoding:
        """Return the encoder. The first messages determine the header."""
        plan, first = self._plan, self._first
        if first is None:
            return self._create_encoding(plan.target.encoder(None, None))
        known = describe_source(
            first,
            isinstance(batch, MessageBatch) and len(batch) > 0 and batch.has_namespaces(0),
            flat=plan.stays_flat
            and first.header.get("frames") == "flat"
            and not first.source.member,
            inputs=plan.inputs,
            name=plan.from_format,
        )
        known["carries"] |= self._stages.carries()
        return self._create_encoding(plan.target.encoder(first.source, known))

    def _create_encoding(self, encoder: Any) -> Encoding:
        return Encoding(encoder, self._plan.jobs, self._plan.row_jobs, self._wake)

    # --- writing and progress ---

    def _put(self, output_queue: Channel[list[Part]], parts: list[Part]) -> None:
        """Pass encoded bytes to the writing thread in pieces, each with the progress after it."""
        previous, current = self._put_progress, self._progress()
        self._put_progress = current
        total, done_sizes = _size(parts), 0
        for piece in _split_output(parts):
            size = _size(piece)
            done_sizes += size
            progress = (
                current
                if done_sizes == total
                else interpolate(previous, current, done_sizes / total)
            )
            output_queue.put(piece, size, progress, lambda: self._report_progress(output_queue))

    def _report_progress(self, output_queue: Channel[list[Part]]) -> None:
        """Report the progress of the writing thread."""
        self._report(
            lambda: (
                output_queue.last_finished_mark()
                or Progress(bytes_total=self._plan.bytes_total, kind=self._kind)
            )
        )

    def _progress(self) -> Progress:
        total = self._plan.bytes_total
        return Progress(self._bytes_done, total, self._messages, self._quads, self._kind)

    @staticmethod
    def _stop(*channels: Channel[Any]) -> None:
        for channel in channels:
            channel.cancel()


def _cost(items: list[Item]) -> int:
    return sum(map(cost, items))


def _size(parts: list[Part]) -> int:
    return sum(len(part.data) for part in parts)


def _split_output(parts: list[Part]) -> Iterator[list[Part]]:
    """Yield the output in pieces of about `WRITTEN_BYTES`. A single piece may be empty."""
    piece: list[Part] = []
    bytes_left = WRITTEN_BYTES
    for part in chain.from_iterable(map(_split, parts)):
        if piece and len(part.data) > bytes_left:
            yield piece
            piece, bytes_left = [], WRITTEN_BYTES
        piece.append(part)
        bytes_left -= len(part.data)
    yield piece


def _split(part: Part) -> Iterable[Part]:
    """Split a part of a single file. Its properties apply to its last bytes."""
    view = memoryview(part.data)
    if part.name or len(view) <= WRITTEN_BYTES:
        return (part,)
    starts = range(0, len(view), WRITTEN_BYTES)
    pieces = [Part("", view[start : start + WRITTEN_BYTES]) for start in starts]
    return (*pieces[:-1], part._replace(data=pieces[-1].data))


def _write(output: Any, output_queue: Channel[list[Part]]) -> None:
    """Write the output; runs in the writing thread."""
    try:
        for parts in output_queue:
            if parts is END and isinstance(output, Output):
                output.end()
            if parts is CHECK:
                output.check_unchanged()
            if parts:
                output.write(parts)
    except ChannelCancelledError:
        pass
    except BaseException as error:
        output_queue.cancel(error)


def _join(threads: Sequence[threading.Thread]) -> None:
    """Wait up to 0.5 s per thread. A reader blocked on a pipe or the network is abandoned."""
    for thread in threads:
        if thread.is_alive():
            thread.join(0.5)


def _keep_partial(
    output: Output | FolderOutput | AppendOutput | AppendFolder | LiveTarget | None,
    error: BaseException,
) -> None:
    """Keep the partial output as `NAME.partial`, and add a note to the error."""
    partial = None if output is None else output.keep_partial()
    if partial is not None:
        error.add_note(f"the output before the error is in {partial}")

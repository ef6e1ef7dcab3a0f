"""Mirrors a registry: `fetch` appends its nanopublications to a log.

In: a registry, and a log that can be appended to. Out: the log, its state, and a `FetchResult` per
round.
Cost: memory for a batch of messages and for the keys of the last `overlap` messages.
Law: after each run, even a killed one, the log contains every nanopublication that the registry
served up to the counter of the state, and none of them twice. An outdated mirror is never reported
as up to date.

A round requests the state of the registry, then the nanopublications after the counter of the
mirror. A registry stores nanopublications in parallel, so a lower counter may become visible after
a higher one. The last counters are therefore requested again, and nanopublications that the log
already has are dropped. If a response ends early, the incomplete frame is discarded, and the next
request continues after the last counter that was appended.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, Unpack, cast

from rdfm._core import MessageBatch
from rdfm.errors import OptionError, Remedy, TruncatedError, spell_option, visible
from rdfm.formats import Format
from rdfm.logs.input.progress import Progress, ProgressBar
from rdfm.logs.journal import Journal
from rdfm.logs.read.reader import open_log
from rdfm.logs.write.append import AppendSettings, check_appending
from rdfm.logs.write.output import output_format
from rdfm.logs.write.writer import LogWriter, create_log
from rdfm.nanopub.counters import find_counter
from rdfm.nanopub.errors import MirrorError, RegistryResetError, RejectedError
from rdfm.nanopub.identity import compute_key, is_code
from rdfm.nanopub.nanopub_options import FETCH
from rdfm.nanopub.registry import Registry, RegistryState
from rdfm.nanopub.state import (
    MAX_AHEAD_MESSAGES,
    RESTART,
    MirrorState,
    read_counters,
    read_keys_after,
    state_path,
)
from rdfm.storage.addresses import HttpError
from rdfm.storage.paths import local_target

if TYPE_CHECKING:
    from rdfm.formats.options_generated import WriteOptions

__all__ = ["FetchProgress", "FetchResult", "fetch"]

FIRST_WAIT_SECONDS = 5.0
MAX_WAIT_SECONDS = 60.0
# Maximum number of consecutive attempts without a new nanopublication.
MAX_ATTEMPTS = 5
SAVE_SECONDS = 1.0


@dataclass(frozen=True)
class FetchProgress:
    """The progress of a round.

    Attributes:
        counter: The highest counter fetched so far; -1 if there is none.
        start: The counter at the start of the round.
        load_counter: The highest counter of the registry.
        messages: Number of nanopublications appended in this round.
    """

    counter: int
    start: int
    load_counter: int
    messages: int


@dataclass(frozen=True)
class FetchResult:
    """The result of a round, after which the mirror is up to date with `load_counter`.

    Attributes:
        registry: The URL of the registry.
        setup_id: The setup id of the registry.
        counter: The highest counter fetched.
        load_counter: The highest counter of the registry before the round.
        messages: Number of nanopublications appended.
        duplicates: Number of nanopublications that the log already had.
        rejected: Number of nanopublications written to the reject log.
        retries: Number of requests after a response that ended early.
        dropped: Data that the format does not support, by name and count.
        notes: Notes for readers of the log, one sentence each.
        seconds: Duration of the round.
    """

    registry: str
    setup_id: str
    counter: int
    load_counter: int
    messages: int = 0
    duplicates: int = 0
    rejected: int = 0
    retries: int = 0
    dropped: Mapping[str, int] | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


def fetch(
    registry: str,
    log: str | os.PathLike[str],
    *,
    to: str | None = None,
    compression: str | None = None,
    restart: bool = False,
    check: bool = False,
    rejects: str | os.PathLike[str] | None = None,
    overlap: int = 100,
    wait: float = 300.0,
    follow: bool = False,
    interval: float | None = None,
    test_instance: bool = False,
    allow_http: bool = False,
    first_byte_timeout: float = 300.0,
    headers: Mapping[str, str] | None = None,
    report: Callable[[FetchResult], None] | None = None,
    progress: Callable[[FetchProgress], None] | bool | None = None,
    notify: Callable[[str], None] | None = None,
    **options: Unpack[WriteOptions],
) -> FetchResult:
    """Append the nanopublications of a registry to a log that mirrors it.

    The first call creates the log and its state, `LOG.state.json`; each later call appends new
    nanopublications. If a call is interrupted, the next one continues it.

    Args:
        registry: The URL of the registry, such as `https://registry.knowledgepixels.com/`.
        log: The path of the log, in any format that can be appended to.
        to: The format of the log. Determined by the suffix by default.
        compression: As in `create_log`.
        restart: Begin a new log. The old one is removed once the registry is ready.
        check: Verify the structure and the trusty URI of each nanopublication, which registries do
            not check.
        rejects: A log for nanopublications that fail the check. By default, a failed check is an
            error.
        overlap: Number of recent counters to request again, because a registry may store a
            nanopublication after one with a higher counter.
        wait: Maximum number of seconds to wait for a registry that is starting or empty.
        follow: Continue with further rounds until an exception, such as `KeyboardInterrupt`.
            Temporary failures of the registry are passed to `notify` and do not end the call.
        interval: Seconds between polls, with `follow`. Defaults to 10.
        test_instance: Allow a test instance.
        allow_http: Allow http for hosts other than loopback addresses.
        first_byte_timeout: Seconds to wait for the first byte; registries build a response in
            memory.
        headers: Headers of the requests, such as credentials.
        report: Called after each round.
        progress: True for a progress bar, or a function to call after each batch.
        notify: Called with a sentence before each pause and retry.
        **options: Options of the log's encoder.

    Returns:
        The result of the last round.

    Raises:
        OptionError: If the log mirrors another registry or cannot be appended to; or an argument is
            invalid.
        LogBusyError: If another process appends to the log.
        RegistryResetError: If the registry was set up again or lost data.
        RejectedError: If a nanopublication fails the check, and `rejects` is not given.
        MirrorError: If the log does not match its state, or has no state that could be rebuilt.
        DecodeError: If the response is not valid Jelly.
        OSError: If a request fails, the registry is not ready in time, its response is invalid, or
            a file cannot be written.
    """
    from rdfm.storage.http import HttpSettings  # costly to import

    if interval is not None and not follow:
        raise OptionError(
            f"{spell_option('interval')} has no effect without polling",
            remedies=[Remedy("stage", "follow", "true", "polls the registry")],
        )
    pause = cast("float", FETCH["interval"].default) if interval is None else interval
    for name, value in (("overlap", overlap), ("wait", wait), ("interval", pause)):
        minimum = FETCH[name].minimum
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= minimum:
            raise OptionError(f"{spell_option(name)} must be a number >= {minimum}, not {value!r}")
    if rejects is not None and not check:
        raise OptionError(
            f"{spell_option('rejects')} is for nanopublications that fail the check",
            remedies=[Remedy("stage", "check", "true", "finds them")],
        )
    settings = HttpSettings.from_options(
        {"headers": headers or {}, "first_byte_seconds": first_byte_timeout}
    )
    mirror = _Mirror(
        _Source(Registry(registry, settings, allow_http=allow_http), wait, test_instance, notify),
        _to_local_path(log),
        format=to,
        compression=compression,
        rejects=None if rejects is None else _to_local_path(rejects),
        check=check,
        overlap=int(overlap),
        progress=progress,
        options=options,
    )
    return mirror.run(restart, pause if follow else None, report)


def _to_local_path(log: str | os.PathLike[str]) -> str:
    if not isinstance(log, (str, os.PathLike)):
        raise OptionError(f"a mirror must be a local file, not {repr(log)[:40]}")
    path = local_target(os.fspath(log))
    if path is None:
        raise OptionError(f"a mirror must be a local file, not {os.fspath(log)}")
    return path


def _check_graphs(format: Format, options: Mapping[str, Any]) -> None:
    """Reject a format that cannot represent nanopublications.

    Raises:
        OptionError: If the format has no graph names, and `merge_graphs` is not set.
    """
    if not (format.spec.carries.get("graphs") or options.get("merge_graphs")):
        raise OptionError(
            f"{format.name} does not support named graphs, which every nanopublication has; "
            "write jelly, trig, nq or another format with graphs"
        )


def _create_header_options(log: str, format: Format) -> dict[str, Any]:
    """Return options for a new log, with a header that suits all later nanopublications."""
    path = Path(log)
    if format.name != "jelly" or (path.exists() and path.stat().st_size):
        return {}
    return {"physical_type": "quads", "namespaces": True}


class _Source:
    """A registry, with the settings for waiting until it is ready."""

    def __init__(
        self,
        registry: Registry,
        wait: float,
        test_instance: bool,
        notify: Callable[[str], None] | None,
    ) -> None:
        self.registry = registry
        self._wait = wait
        self._test_instance = test_instance
        self.notify = notify or (lambda _: None)

    def wait_until_ready(self, *, retries: bool = False) -> RegistryState:
        """Return the state of the registry, once it is ready.

        Args:
            retries: Whether to also wait for a registry that does not answer.

        Raises:
            OptionError: If the registry is a test instance.
            OSError: If the registry does not answer, or is not ready in time.
        """
        url = self.registry.url
        deadline = time.monotonic() + self._wait
        pause = FIRST_WAIT_SECONDS
        while True:
            try:
                state = self.registry.request_state()
                reason = state.wait_reason
            except HttpError as error:
                if not (retries and error.transient) or time.monotonic() >= deadline:
                    raise
                reason = f"it does not answer ({error.reason})"
            else:
                if state.test_instance and not self._test_instance:
                    raise OptionError(
                        f"{url} is a test instance",
                        remedies=[Remedy("stage", "test_instance", "true", "allows it")],
                    )
                if reason is None:
                    return state
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                waited = f" after {self._wait:g} s" if self._wait else ""
                raise HttpError(url, f"the registry is not ready{waited}: {reason}", transient=True)
            pause = min(pause, remaining)
            self.notify(f"the registry is not ready: {reason}; trying again in {pause:.0f} s")
            time.sleep(pause)
            pause = min(pause * 1.5, MAX_WAIT_SECONDS)


def _has_changed(before: RegistryState | None, now: RegistryState) -> bool:
    """Whether a registry may have new nanopublications."""
    return before is None or (before.load_counter, before.nanopub_count) != (
        now.load_counter,
        now.nanopub_count,
    )


def _fetch_bar() -> Callable[[FetchProgress], None]:
    """Return a function that shows the progress of a round as a bar."""
    bar = ProgressBar(" counters")

    def show(progress: FetchProgress) -> None:
        total = progress.load_counter - progress.start
        bar(Progress(progress.counter - progress.start, total, progress.messages))

    return show


class _Mirror:
    """A log that mirrors a registry, and its state."""

    def __init__(
        self,
        source: _Source,
        log: str,
        *,
        format: str | None,
        compression: str | None,
        rejects: str | None,
        check: bool,
        overlap: int,
        progress: Callable[[FetchProgress], None] | bool | None,
        options: Mapping[str, Any],
    ) -> None:
        self._source = source
        self._log = log
        self._format = output_format(log, format)
        check_appending(log, AppendSettings(self._format))
        _check_graphs(self._format, options)
        self._compression = compression
        self._rejects_path = rejects
        self._check = check
        self._overlap = overlap
        if isinstance(progress, bool):
            progress = _fetch_bar() if progress else None
        self._progress = progress
        self._options = dict(options)
        self._format.encoder(self._options)  # rejects invalid options before anything is removed
        self._state = MirrorState("", "")
        self._ahead: set[str] = set()  # keys of messages after the length recorded in the state
        self._rejected_keys: set[str] = set()
        self._response_messages = 0  # messages of the current response
        self._highest = -1  # the highest counter that the registry announced
        self._writer: LogWriter
        self._rejects: LogWriter | None = None
        self._is_settled = True  # whether the state has all messages of the log
        self._reset()
        if rejects is not None:
            rejects_format = output_format(rejects, None)
            check_appending(rejects, AppendSettings(rejects_format))
            _check_graphs(rejects_format, {})
            if os.path.realpath(rejects) == os.path.realpath(log):
                raise OptionError(
                    f"{spell_option('rejects')} must be a different file from the log"
                )

    def _reset(self) -> None:
        """Set the counts of a round to zero."""
        self._messages = self._duplicates = self._rejected = self._retries = 0
        self._saved, self._unsaved = time.monotonic(), 0

    def run(
        self, restart: bool, interval: float | None, report: Callable[[FetchResult], None] | None
    ) -> FetchResult:
        """Fetch once, or until an exception if `interval` is given."""
        before = None if restart else self._load()
        state = self._source.wait_until_ready()
        self._check_registry(before, state)
        if restart:
            self._remove()
        with contextlib.ExitStack() as files:
            self._open(files, state)
            if interval is not None:
                self._follow(state, interval, report)
            result = self._run_round(state)
            if report is not None:
                report(result)
        return result

    def _follow(
        self,
        state: RegistryState,
        interval: float,
        report: Callable[[FetchResult], None] | None,
    ) -> NoReturn:
        """Fetch new nanopublications until an exception. A failed poll is repeated."""
        fetched: RegistryState | None = None  # the state before the last round
        pending: RegistryState | None = state
        idle = 0  # polls since the last new nanopublication
        while True:
            try:
                if pending is None:
                    pending = self._source.wait_until_ready(retries=True)
                    self._check_registry(self._state, pending)
                # A late nanopublication may become visible without another change, so the last
                # counters are requested again after 1, 2, 4, 8 … polls.
                if _has_changed(fetched, pending) or idle & (idle - 1) == 0:
                    result = self._run_round(pending)
                    fetched = pending
                    idle = 0 if result.messages else idle
                    if report is not None:
                        report(result)
            except HttpError as error:
                if not error.transient:
                    raise
                self._source.notify(f"{error.reason}; trying again in {interval:g} s")
                fetched = None
            time.sleep(interval)
            pending = None
            idle += 1

    # --- the files ---

    def _load(self) -> MirrorState | None:
        """Return the state, which must belong to the log."""
        state = MirrorState.load(self._log)
        name = visible(self._log)
        try:
            size = Path(self._log).stat().st_size
        except FileNotFoundError:
            size = 0
        if state is not None and not size and state.length == 0:
            return None  # nothing was ever committed
        if state is not None and size < state.length:
            raise MirrorError(
                f"{name} has {size} bytes, but {state.length} according to its state "
                f"{name}.state.json; restore the log, or remove the state, which is then rebuilt "
                "from the log",
                remedies=[RESTART],
            )
        if state is not None and not state.belongs_to(self._log):
            raise MirrorError(
                f"{name} does not match its state {name}.state.json: the content was replaced; "
                "restore the log, or remove the state, which is then rebuilt from the log",
                remedies=[RESTART],
            )
        if state is not None and state.registry != self._source.registry.url:
            raise OptionError(
                f"{name} mirrors {state.registry}, not {self._source.registry.url}; "
                "name another log",
                remedies=[RESTART],
            )
        return state

    def _check_registry(self, state: MirrorState | None, registry_state: RegistryState) -> None:
        """Reject a registry whose setup id or counters contradict the state."""
        if state is None:
            return
        load_counter = -1 if registry_state.load_counter is None else registry_state.load_counter
        if state.setup_id != registry_state.setup_id:
            raise RegistryResetError(
                f"{registry_state.url} was set up again: its setup id is {registry_state.setup_id}, but "
                f"{visible(self._log)} is a mirror of {state.setup_id}",
                remedies=[RESTART],
            )
        if load_counter < state.counter:
            raise RegistryResetError(
                f"{registry_state.url} has counters up to {load_counter}, but {visible(self._log)} has "
                f"counters up to {state.counter}: the registry lost data",
                remedies=[RESTART],
            )

    def _remove(self) -> None:
        """Remove the log and its state."""
        log = Path(os.path.realpath(self._log))
        journal = Journal(log)
        try:
            log.unlink(missing_ok=True)
            Path(state_path(self._log)).unlink(missing_ok=True)
        finally:
            journal.remove()

    def _open(self, files: contextlib.ExitStack, registry_state: RegistryState) -> None:
        """Open the log for appending, and compare it with the state."""
        options = {**_create_header_options(self._log, self._format), **self._options}
        self._writer = create_log(
            self._log,
            self._format.name,
            compression=self._compression,
            append=True,
            sync=True,
            **options,
        )
        files.push(self._close)
        self._is_settled = False
        before = self._load()  # again, because the log may have changed before it was locked
        self._check_registry(before, registry_state)
        assert registry_state.setup_id is not None
        self._state = before or MirrorState(self._source.registry.url, registry_state.setup_id)
        committed = self._writer.committed_bytes or 0
        if before is None:
            if committed:
                self._rebuild_state(registry_state)
            self._save()
        elif committed > before.length:
            self._ahead = read_keys_after(self._log, self._format.name, before.length)
        self._is_settled = True
        if self._rejects_path is not None:
            header_options = _create_header_options(
                self._rejects_path, output_format(self._rejects_path, None)
            )
            self._rejects = create_log(self._rejects_path, append=True, sync=True, **header_options)
            files.enter_context(self._rejects)
            if Path(self._rejects_path).exists():
                self._rejected_keys = read_keys_after(self._rejects_path, self._rejects.format, 0)

    def _rebuild_state(self, registry_state: RegistryState) -> None:
        """Determine the position of a mirror whose state was lost from its messages.

        Raises:
            MirrorError: If the log has neither counters nor artifact codes, or the counters are not
                those of the registry.
        """
        name = visible(self._log)
        counters, keys = read_counters(self._log, self._format.name, self._overlap)
        if counters:
            counter, key = max((counter, key) for key, counter in counters.items())
            state = replace(self._state, counter=counter, recent=counters).prune(self._overlap)
            self._check_registry(state, registry_state)
            self._check_last(counter, key)
            self._state = state
            self._source.notify(
                f"{name} has no state; it was rebuilt: the last counter is {counter}"
            )
        elif not keys or any(map(is_code, keys)):
            self._ahead = keys
            self._source.notify(
                f"{name} has no state; all nanopublications are requested again, and those with the "
                f"artifact codes of the {len(keys)} messages in the log are dropped"
            )
        else:
            raise MirrorError(
                f"{name} exists, but its state {name}.state.json does not, and it cannot be rebuilt, "
                "because it has neither counters nor artifact codes; name another log",
                remedies=[RESTART],
            )

    def _check_last(self, counter: int, key: str) -> None:
        """Check that the registry has a nanopublication with the same counter and key."""
        with (
            self._source.registry.request_nanopubs(counter - 1) as response,
            open_log(cast("BinaryIO", response), "jelly", frames="message") as log,
        ):
            first = next(iter(log), None)
        if first is None or (find_counter(first.metadata), compute_key(first)) != (counter, key):
            name = visible(self._log)
            raise MirrorError(
                f"{name} exists, but its state {name}.state.json does not, and the nanopublication "
                f"with the counter {counter} is a different one in {self._source.registry.url}; "
                "name another log",
                remedies=[RESTART],
            )

    def _close(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the log, and save the state. After an exception, committed messages are kept."""
        if kind is None:
            self._writer.close()
        else:
            self._writer.discard()
        # If not settled, the state lacks the last messages of the log, and the next run finds them.
        if self._is_settled:
            with contextlib.suppress(FileNotFoundError):  # nothing was committed
                if not self._ahead:
                    length = Path(self._log).stat().st_size
                    self._state = self._state.with_length(self._log, length)
            self._state.save(self._log)

    def _save(self) -> None:
        """Save the state of the committed messages."""
        self._state = self._state.prune(self._overlap)
        if not self._ahead:
            length = self._writer.committed_bytes or 0
            self._state = self._state.with_length(self._log, length)
        self._state.save(self._log)
        self._saved, self._unsaved = time.monotonic(), 0

    # --- a round ---

    def _run_round(self, state: RegistryState) -> FetchResult:
        """Fetch until the counter of the registry is reached."""
        start = time.monotonic()
        load_counter = state.load_counter
        assert load_counter is not None
        assert state.setup_id is not None
        first = self._state.counter
        failures = 0
        while True:
            before = self._state.counter
            error = self._append_response(first, load_counter)
            complete = error is None and self._state.counter >= load_counter
            if complete:
                self._ahead.clear()  # all these messages were served again
            self._save()
            if complete:
                break
            failures = 0 if self._state.counter > before else failures + 1
            reason = (
                f"the response ended at counter {self._state.counter}, but the registry has "
                f"counters up to {load_counter}"
            )
            if error is not None:
                reason = error.reason
            if failures >= MAX_ATTEMPTS:
                if isinstance(error, HttpError):
                    raise error
                raise HttpError(
                    state.url,
                    f"{reason} ({failures} attempts)",
                    remedy="try again later",
                    transient=True,
                ) from error
            self._retries += 1
            pause = min(2.0**failures, MAX_WAIT_SECONDS) / 2
            self._source.notify(f"{reason}; trying again in {pause:g} s")
            time.sleep(pause)
            self._check_registry(self._state, self._source.wait_until_ready(retries=True))
        result = FetchResult(
            state.url,
            state.setup_id,
            self._state.counter,
            load_counter,
            self._messages,
            self._duplicates,
            self._rejected,
            self._retries,
            self._writer.dropped,
            self._writer.notes,
            time.monotonic() - start,
        )
        self._reset()  # not after an error, so that the next result includes this round
        return result

    def _append_response(self, first: int, load_counter: int) -> TruncatedError | HttpError | None:
        """Append a response; return the error if it ends early."""
        after = max(self._state.counter - self._overlap, self._state.recent_after, -1)
        response = self._source.registry.request_nanopubs(after)
        last = after
        self._response_messages = 0
        with contextlib.ExitStack() as files:
            files.enter_context(response)
            # The registry may have been set up again since the last request.
            self._check_served(
                RegistryState.from_response(response.url, response.headers), load_counter
            )
            log = open_log(cast("BinaryIO", response), "jelly", frames="message")
            batches = files.enter_context(log).batches()
            while True:
                try:
                    if (batch := next(batches, None)) is None:
                        return None
                    counters = self._read_counters(batch, last)
                except (TruncatedError, HttpError) as error:
                    if isinstance(error, HttpError) and not error.transient:
                        raise
                    return error
                last = counters[-1]
                self._append(batch, counters)
                if self._progress is not None:
                    counter = self._state.counter
                    self._progress(FetchProgress(counter, first, load_counter, self._messages))

    def _check_served(self, registry_state: RegistryState, load_counter: int = -1) -> None:
        """Check a later state of the registry, and record its highest counter."""
        self._check_registry(self._state, registry_state)
        self._highest = max(
            load_counter, -1 if registry_state.load_counter is None else registry_state.load_counter
        )

    def _append(self, batch: MessageBatch, counters: list[int]) -> None:
        """Append the messages of a batch that are not in the log yet."""
        reasons = self._find_reasons(batch)
        recent = self._state.recent
        self._is_settled = False
        begin = 0  # the first message that is not written yet
        for index, counter in enumerate(counters):
            key = compute_key(batch.quads(index))
            reason = reasons[index]
            is_duplicate = key in recent or key in self._ahead
            if reason is None:
                recent[key] = counter
            else:  # the key is unverified: another nanopublication may be its valid owner
                is_duplicate = is_duplicate or key in self._rejected_keys
            if is_duplicate or reason is not None:
                self._write(batch.slice(begin, index))
                begin = index + 1
                if is_duplicate:
                    self._duplicates += 1
                else:
                    self._reject(batch, index, key, reason)
        self._write(batch.slice(begin, len(batch)))
        self._record_appended(counters[-1], len(batch))

    def _read_counters(self, batch: MessageBatch, last: int) -> list[int]:
        """Return the counters of the messages of a batch.

        Raises:
            HttpError: If a counter is missing, is not greater than the last one, or is greater than
                the highest counter of the registry.
        """
        counters: list[int] = []
        for index in range(len(batch)):
            counter = find_counter(batch.metadata(index))
            if counter is None:
                self._reject_counter(
                    batch,
                    index,
                    "no counter (metadata c)",
                    "check that the URL is that of a registry",
                )
            if counter <= last:
                self._reject_counter(
                    batch,
                    index,
                    f"counter {counter} after {last}, but counters must increase",
                    f"try again later, or begin a new log with {spell_option('restart')}",
                )
            if counter > self._highest:
                # The registry may have stored more nanopublications since the last request.
                self._check_served(self._source.registry.request_state(), self._highest)
            if counter > self._highest:
                self._reject_counter(
                    batch,
                    index,
                    f"counter {counter}, but the registry has counters up to {self._highest}",
                    "try again later",
                )
            counters.append(last := counter)
        return counters

    def _reject_counter(
        self, batch: MessageBatch, index: int, reason: str, remedy: str
    ) -> NoReturn:
        raise HttpError(
            self._source.registry.url,
            f"nanopublication {batch.message_index(index)} of the response has {reason}",
            remedy=remedy,
        )

    def _record_appended(self, last: int, count: int) -> None:
        """Record that the messages up to a counter are in the log."""
        self._state = replace(self._state, counter=max(self._state.counter, last))
        self._is_settled = True
        self._response_messages += count
        if self._state.length and self._response_messages > self._overlap + 2 * MAX_AHEAD_MESSAGES:
            # A killed run cannot have appended this many messages after it saved the state.
            self._ahead.clear()
        self._unsaved += count
        if time.monotonic() - self._saved > SAVE_SECONDS or self._unsaved > MAX_AHEAD_MESSAGES // 4:
            self._save()

    def _write(self, batch: MessageBatch) -> None:
        if len(batch):
            self._writer.write_batch(batch)
            self._messages += len(batch)

    def _find_reasons(self, batch: MessageBatch) -> list[str | None]:
        """Return the reason for rejecting each message of a batch; None if it is accepted."""
        if not self._check:
            return [None] * len(batch)
        from rdfm.nanopub.trusty import verify

        return verify(batch)

    def _reject(self, batch: MessageBatch, index: int, key: str, reason: str | None) -> None:
        """Write a message to the reject log."""
        if self._rejects is None:
            raise RejectedError(
                f"{self._source.registry.url}: the nanopublication {key} is rejected: {reason}",
                remedies=[Remedy("stage", "rejects", "FILE", "writes it to another log")],
            )
        self._rejects.write_batch(batch.slice(index, index + 1))
        self._rejected_keys.add(key)
        self._rejected += 1

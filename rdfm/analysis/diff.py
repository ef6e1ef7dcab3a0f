"""Comparison of two logs: `diff` compares them message by message.

In: two logs of one kind, in any formats. Out: a `LogDiff`.
Cost: memory for one batch of each log and, after a difference, for up to `2 * window` messages of
each. Each log is read once. With `unordered`, logs are read a second time to report differences,
and 16 bytes of memory are needed per message.
Law: messages that are the same up to blank node labels are never reported as different. The
division of the logs into files and batches affects only the reported file names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

from rdfm import formats
from rdfm.analysis.analysis_options import DIFF, MAX_TOTAL_STEPS
from rdfm.analysis.diff_result import LogDiff, MessageDiff
from rdfm.analysis.formatting import DifferenceFormatter
from rdfm.analysis.pairing import ComparedLog, Comparison, pair_in_any_order, pair_in_order
from rdfm.compare.isomorphism import MAX_STEPS
from rdfm.conversion.convert_options import input_formats
from rdfm.errors import OptionError, Remedy, spell_option
from rdfm.formats import FormatSpec
from rdfm.logs.input.driver import ReadSettings
from rdfm.logs.input.inputs import Readable, is_read_once
from rdfm.logs.input.progress import Progress, ProgressFunction, Reporter, total_bytes
from rdfm.storage.pipes import mark_pipes

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions

__all__ = ["compare", "diff"]


def diff(
    a: Readable,
    b: Readable,
    *,
    quads: Literal["set", "ordered"] = "set",
    unordered: bool | str = False,
    ignore_metadata: bool | str = False,
    namespaces: bool | str = False,
    limit: int | str = 10,
    window: int | str = 1000,
    max_steps: int | str = MAX_STEPS,
    max_total_steps: int | str = MAX_TOTAL_STEPS,
    format: str | None = None,
    format_a: str | None = None,
    format_b: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> LogDiff:
    r"""Compare two logs of the same kind message by message. Their formats may differ.

    Messages are the same if they contain the same set of quads up to blank node labels. Patches are
    the same if they have the same operations in the same order. Result rows are the same if they
    have the same terms. Patches and rows must also have the same blank node labels, because their
    labels apply to the entire log.

    Args:
        a: The first log: any input that `open_log` accepts.
        b: The second log.
        quads: "set", or "ordered" to also compare the order and repetition of quads.
        unordered: Ignore the order of messages, but not how often each occurs.
        ignore_metadata: Do not compare metadata. By default it is compared if both formats support
            it.
        namespaces: Also compare the namespaces in scope, if both formats support them. By default,
            a note reports any difference. Cannot be combined with `unordered`.
        limit: Number of differences to return. Further differences are only counted.
        window: After a difference, the minimum number of messages of each log to search for the
            next match.
        max_steps: Maximum work to compare two messages, in quads visited. A pair that needs more is
            undecided.
        max_total_steps: Maximum work for the entire comparison, in quads visited, in addition to
            64 per quad. With `unordered`, the maximum applies to each log.
        format: Format of both logs. By default it is detected for each log.
        format_a: Format of the first log.
        format_b: Format of the second log.
        compression: Compression of both logs, as in `open_log`.
        storage_options: Storage options of both logs, as in `open_log`.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the decoders. Each log uses the options that its format supports.

    Raises:
        DecodeError: If a log is invalid. The `source` of the error names the log.
        OptionError: If the logs are of different kinds, or an option is invalid.
        UnknownFormatError: If a format cannot be detected.
        OSError: If a log cannot be read.

    Example:
        >>> found = diff(b'_:a <a:p> "1" .', b'_:x <a:p> "2" .')
        >>> found.same, found.changed
        (False, 1)
        >>> for difference in found:
        ...     print(*difference.removed, *difference.added, sep="\n")
        _:c14n0 <a:p> "1" .
        _:c14n0 <a:p> "2" .
    """
    comparison_options = {
        "quads": quads,
        "unordered": unordered,
        "ignore_metadata": ignore_metadata,
        "namespaces": namespaces,
        "limit": limit,
        "window": window,
        "max_steps": max_steps,
        "max_total_steps": max_total_steps,
        "from_format": format,
        "from_format_a": format_a,
        "from_format_b": format_b,
    }
    differences: list[MessageDiff] = []
    storage = compression, storage_options
    result = compare(
        a,
        b,
        comparison_options,
        dict(options),
        differences.append,
        storage=storage,
        progress=progress,
    )
    result.differences = differences
    return result


def compare(
    a: Readable,
    b: Readable,
    comparison_options: Mapping[str, Any],
    options: Mapping[str, Any],
    report: Callable[[MessageDiff], object],
    *,
    storage: tuple[str | None, Mapping[str, Any] | None] = (None, None),
    begin: Callable[[LogDiff], object] | None = None,
    progress: ProgressFunction = None,
) -> LogDiff:
    """Compare two logs like `diff`, and report differences as they are found.

    Args:
        a: The first log.
        b: The second log.
        comparison_options: The options of `diff`, as values or as text.
        options: Options of the formats.
        report: Called with each difference, up to the limit.
        storage: Compression of both logs, and storage options, as in `open_log`.
        begin: Called after both logs have been opened and found to be of the same kind.
        progress: True for a progress bar, or a function to call about ten times per second.
    """
    start = time.perf_counter()
    options = mark_pipes(options)
    values: dict[str, Any] = {
        name: DIFF[name].value(value) if value is not None else DIFF[name].default
        for name, value in {**dict.fromkeys(DIFF), **comparison_options}.items()
    }
    if values["from_format"] and (values["from_format_a"] or values["from_format_b"]):
        raise OptionError(
            "a format for both logs cannot be combined with a format for one log; remove one of them"
        )
    names = [values[name] or values["from_format"] for name in ("from_format_a", "from_format_b")]
    if values["unordered"] and values["namespaces"]:
        raise OptionError(
            f"{spell_option('namespaces')} cannot be combined with {spell_option('unordered')}, because "
            "namespaces depend on the order of the messages; remove one of them"
        )
    if values["unordered"] and values["limit"]:
        for log in (a, b):
            if is_read_once(log):
                name = log if isinstance(log, (str, os.PathLike)) else getattr(log, "name", None)
                raise OptionError(
                    f"{name or 'an input'} can be read only once, but {spell_option('unordered')} reads logs twice to show "
                    f"differences; use a file, or {spell_option('limit', '0')} to show only counts"
                )
    candidates = [input_formats([log], name) for log, name in zip((a, b), names, strict=True)]
    readings = [
        replace(settings, compression=storage[0], storage_options=storage[1])
        for settings in _create_settings(candidates, names, options)
    ]
    reporter = Reporter(progress)
    total = None if progress is None else total_bytes([a, b])
    result = LogDiff()
    sides = [
        ComparedLog(log, settings, number)
        for number, (log, settings) in enumerate(zip((a, b), readings, strict=True))
    ]

    def report_progress() -> None:
        done = sides[0].bytes_in + sides[1].bytes_in
        reporter(lambda: Progress(done, total, sides[0].message_index, result.records, result.kind))

    try:
        for side in sides:
            side.open()
        _reject_different_kinds(sides)
        result.kind = sides[0].kind
        result.source_a, result.source_b = (side.driver.name for side in sides)
        if result.kind != "messages" and comparison_options.get("quads") == "ordered":
            raise OptionError(
                f"the logs contain {result.kind}, but {spell_option('quads')} applies to messages; remove it"
            )
        common_features, result.notes = _common_features(sides, values)
        formatter = DifferenceFormatter(
            result.kind, ordered=values["quads"] == "ordered", report=report
        )
        comparison = Comparison(sides, values, common_features, formatter, report_progress)
        result.head = comparison.compare_heads()
        if begin is not None:
            begin(result)
        pair = pair_in_any_order if values["unordered"] else pair_in_order
        try:
            pair(comparison)
        finally:
            vars(result).update(comparison.counts)
            result.messages_a, result.messages_b = (side.messages for side in sides)
        driver_notes = dict.fromkeys(note for side in sides for note in side.driver.notes())
        result.notes += tuple(driver_notes)
        if comparison.only_namespaces and comparison.only_namespaces == result.count:
            result.notes += ("the quads are the same: only namespaces differ",)
        _add_remedies(result, comparison, values)
        _reject_unused(sides, options)
    finally:
        for side in sides:
            side.close()
    result.seconds = time.perf_counter() - start
    return result


def _create_settings(
    candidates: list[list[FormatSpec] | None], names: list[str | None], options: Mapping[str, Any]
) -> list[ReadSettings]:
    """Return the reading settings for each log, with the options that its possible formats support.

    Raises:
        OptionError: If neither log supports one of the options, or its value is invalid.
    """
    possible_specs = [formats.specs() if specs is None else specs for specs in candidates]
    for name, value in options.items():
        supporting_specs = [
            spec for specs in possible_specs for spec in specs if name in spec.options("read")
        ]
        if not supporting_specs:
            raise OptionError(
                possible_specs[0][0].unsupported_option_text("read", name, several=True)
            )
        if value is not None:
            supporting_specs[0].options("read")[name].value(value)
    return [
        ReadSettings(
            name,
            {
                option: value
                for option, value in options.items()
                if any(option in spec.options("read") for spec in specs)
            },
            strict=False,
        )
        for name, specs in zip(names, possible_specs, strict=True)
    ]


def _reject_unused(sides: list[ComparedLog], options: Mapping[str, Any]) -> None:
    """Reject options that neither log used.

    Raises:
        OptionError: If no format of the logs supports one of the options.
    """
    specs = [spec for side in sides for spec in side.formats.values()]
    for name in options:
        if specs and not any(name in spec.options("read") for spec in specs):
            raise OptionError(specs[0].unsupported_option_text("read", name, several=True))


def _reject_different_kinds(sides: list[ComparedLog]) -> None:
    """Reject logs of different kinds.

    Raises:
        OptionError: If the kinds differ.
    """
    a, b = sides
    if a.kind != b.kind:
        raise OptionError(
            f"{b.driver.name} contains {b.kind}, and {a.driver.name} contains {a.kind}; "
            "compare logs of the same kind"
        )


def _add_remedies(result: LogDiff, comparison: Comparison, values: Mapping[str, Any]) -> None:
    """Add a note and a remedy for namespaces that were not compared, and remedies for limits."""
    if comparison.comparer.namespaces_differ() and not values["namespaces"]:
        result.notes += ("namespaces differ but were not compared",)
        result.remedies += (Remedy("stage", "namespaces", "true", "compares them"),)
    limits = zip(("max_steps", "max_total_steps"), comparison.comparer.reached(), strict=True)
    result.remedies += tuple(
        Remedy("stage", limit, None, "") for limit, is_reached in limits if is_reached
    )


def _common_features(
    sides: list[ComparedLog], values: Mapping[str, Any]
) -> tuple[dict[str, bool], tuple[str, ...]]:
    """Return whether both formats support metadata and namespaces, and notes if they do not."""
    common_features = {"metadata": False, "namespaces": False}
    notes = []
    if not all(side.formats for side in sides):  # an input contains no logs
        return common_features, ()
    requested = {"metadata": not values["ignore_metadata"], "namespaces": values["namespaces"]}
    for feature, is_requested in requested.items():
        supports = [bool(side.spec.carries.get(feature)) for side in sides]
        common_features[feature] = all(supports)
        if is_requested and any(supports) and not all(supports):
            title = sides[supports.index(False)].spec.title
            verb = "is" if feature == "metadata" else "are"
            notes.append(f"{feature} {verb} not compared: {title} has none")
    return common_features, tuple(notes)

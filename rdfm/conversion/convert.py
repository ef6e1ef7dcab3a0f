"""Log conversion: `convert`.

In: logs in any format. Out: one log in another format, and a `ConversionSummary`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack, cast

from rdfm import formats
from rdfm.conversion.canonical_stage import canonical_stages
from rdfm.conversion.convert_options import (
    STAGES,
    input_formats,
    live_options,
    may_be_stream,
    split_options,
)
from rdfm.conversion.in_place import open_in_place
from rdfm.conversion.pipeline import ConversionPlan, Pipeline
from rdfm.conversion.regroup import DefaultGraph, Regrouping, make_regrouper
from rdfm.conversion.selection_plan import select
from rdfm.conversion.skipping import check_skipping
from rdfm.conversion.summary import ConversionSummary
from rdfm.conversion.target import Target
from rdfm.errors import OptionError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs.input.driver import Driver, ReadSettings, line_settings
from rdfm.logs.input.inputs import Readable, input_list, is_folder_or_glob
from rdfm.logs.input.progress import ProgressFunction, Reporter, total_bytes
from rdfm.logs.stages.criteria import FILTERING, FilterStage
from rdfm.logs.write.append import AppendSettings
from rdfm.logs.write.keyed import SplitBy
from rdfm.logs.write.output import (
    OutputShape,
    Writable,
    output_format,
    reject_other_format_names,
)
from rdfm.logs.write.own_input import reject_own_input
from rdfm.storage.pool import MAX_JOBS, usable_cores

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ConvertOptions

__all__ = ["convert", "plan"]

_FILTERING = frozenset(option.name for option in FILTERING)
_PREFIXES = next(option for option in FILTERING if option.name == "prefixes")


def convert(
    inputs: Readable | Sequence[Readable],
    output: Writable | None = None,
    *,
    progress: ProgressFunction = None,
    **options: Unpack[ConvertOptions],
) -> ConversionSummary:
    """Convert logs to one log in another format, or to a folder or archive of logs.

    Messages are converted to messages, patches to patches, and SPARQL results to results.
    `rdfm.patch` converts between messages and patches. Several inputs are read one after the other.
    The output appears under its name only when it is complete.

    Args:
        inputs: Inputs that `open_log` accepts, including folders, globs and archives, or a list of
            them.
        output: A path, or a binary file object. A folder (`out/`) gets one file per message, or
            files of several messages with `split_messages` or `split_bytes`. A tar archive
            (`out.tar.gz`) gets one member per message. Omitted with `check` and `in_place`.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the formats (`rdfm.formats.find(name).spec`) and of the conversion,
            as values or as text. `from_NAME` applies to the input and `to_NAME` to the output.
            `NAME` applies to the side that has the option. If both sides have it, `NAME` is
            rejected, except for shared options such as `lenient`. Options of the conversion:

            - from_format, to: Names of formats. Detected from suffixes, then from content,
              by default.
            - message_per_file: Read each input as one message, even if it is empty.
            - group_by: Regroup the quads into other messages: "subject" or "graph" (consecutive
              quads with the same subject or graph), "cbd" (concise bounded descriptions), "nanopub"
              (nanopublications), "count=N" (N quads each), "bytes=N" (N bytes of terms each), or
              "all".
            - skolemize: IRI. Replaces blank nodes with IRIs that begin with this IRI and
              `/.well-known/genid/`.
            - default_graph_as: IRI of a graph that gets the quads of the default graph.
            - canonical: Write each message in canonical form (RDFC-1.0): sorted quads, each once,
              with the labels c14n0, c14n1 and so on. Only for N-Triples and N-Quads.
            - distinct: Keep the first of equal messages: "dataset" (equal up to blank node labels),
              or "nanopub" (the same artifact code). Applied after the other selections.
            - max_steps: Maximum work to label the blank nodes of a message, in quads visited.
            - messages: Messages to write, numbered from 0 over all inputs: a number ("5000"), or a
              slice as for lists ("100:200", "-10:", "::100").
            - skip, take: Number of messages to skip at the start, and maximum number to write.
            - sample, seed: Random sample: a share of the messages ("1%"), or a number ("500"; reads
              the inputs twice). The seed is a number; the same seed draws the same sample.
            - on_error: "fail"; "skip" to omit messages with invalid data; or, for N-Triples and
              N-Quads, "skip-line" to omit only lines that are not statements. Exceeding a limit
              still fails.
            - max_errors: Number of skipped lines and messages at which the conversion fails.
            - rejects: Path of a file for the skipped lines, or with "skip" messages, each after a
              comment with its error. The file appears when the conversion is complete, or fails at
              `max_errors`. Only for N-Triples and N-Quads.
            - keep_partial: On error, keep the output written so far as `NAME.partial`
              (`NAME.partial.1` and so on if that exists).
            - split_messages, split_bytes: Maximum number of messages in each file of a folder, and
              number of uncompressed bytes after which a file ends. Each file is a complete log.
            - split_by: Write a folder with a log for each key: "graph", "value:PREDICATE", "day",
              "day:PREDICATE", "month" or "month:PREDICATE". The first value in a message is used.
              Messages without a value are in the file `other`.
            - max_open: Maximum number of files that are open at once. Files of other keys are
              closed and continued later.
            - compression: "gzip", "zstd", "bzip2", "xz" or "none", optionally with a level, such as
              "zstd:19". Detected from the output's suffix by default. Applies to each file of a
              folder.
            - overwrite: Replace a folder that is not empty, and remove everything in it.
            - append: Append to an existing log, as in `create_log`.
            - sync, repair: As in `create_log`.
            - commit_seconds: When appending, the interval in seconds at which complete messages
              become part of the log; 0 for only at the end. Defaults to 10 if an input is a live
              stream, pipe, FIFO, socket, or a URL whose response has no length, and to 0 otherwise.
            - follow, from_end, retry, last_event_id, tls_ca, tls_cert, tls_key: For live streams
              (`grpc://…`, or URLs of events), as in the `storage_options` of `open_log`.
            - check: With `pretty`, write nothing; `changed` of the summary tells whether the input,
              one file, differs from its pretty form.
            - in_place: With `pretty`, replace the input, one file, by its pretty form. A file with
              comments is an error.
            - drop_comments: With `in_place`, also replace files with comments, which are removed.
            - jobs: Number of threads for each parallel step. Defaults to half the number of cores
              (at most 4), for compression to all cores (at most 8), and for row groups of Parquet
              to all cores (at most 2). It does not affect the output.

    Returns:
        A summary of the conversion.

    Raises:
        DecodeError: If an input is invalid. The output does not appear under its name.
        EncodeError: If a message cannot be written in the target format, or `in_place` would remove
            comments. The text names remedies.
        OptionError: If an option does not apply, the output is one of the inputs, the inputs
            contain no logs, or the output format does not support the kind of an input (messages,
            patches or results).
        UnknownFormatError: If a format cannot be detected.
        OSError: If a file cannot be read or written.

    Example:
        >>> import io
        >>> summary = convert(b"<http://ex/s> <http://ex/p> <http://ex/o> .", io.BytesIO(),
        ...                   from_format="nt", to="jelly")
        >>> summary.messages, summary.quads
        (1, 1)
    """
    sources = input_list(inputs)
    if not sources:
        raise OptionError("no input is given")
    report = Reporter(progress)
    total = None if progress is None else total_bytes(sources)
    file = open_in_place(sources, output, options, STAGES)
    if file is not None:
        with file:
            own_plan = plan([file.input], cast("BinaryIO", file), file.options, total)
            return file.finish(Pipeline(own_plan, report).run())
    if output is None:
        raise OptionError("no output is given")
    reject_own_input(sources, output, options, STAGES, append=bool(options.get("append")))
    return Pipeline(plan(sources, output, dict(options), total), report).run()


def plan(
    inputs: list[Readable],
    output: Writable,
    options: dict[str, Any],
    total: int | None,
    declared: Mapping[str, OptionSpec] = STAGES,
) -> ConversionPlan:
    """Return the plan of a conversion.

    Args:
        inputs: The inputs.
        output: The output.
        options: Options by name.
        total: Size of all inputs in bytes, if known.
        declared: Options of the stages. With filter options, the plan includes a filter.

    Raises:
        OptionError, UnknownFormatError, OSError, DecodeError: As in `convert`.
    """
    known = input_formats(inputs, options.get("from_format"))
    live_settings = live_options(inputs, output, options)
    kind = known[0].kinds[0] if known else "messages"
    reject_other_format_names(options, "to")
    target_format = output_format(output, options.get("to"), kind)
    filters = not _FILTERING.isdisjoint(declared)
    if options.get("split_by") is not None:
        declared = {**declared, "prefixes": _PREFIXES}
    options_by_component = split_options(options, known, target_format.spec, declared)
    stages, reads = options_by_component.stages, options_by_component.reads
    cores = min(usable_cores(), MAX_JOBS)
    # Reading, decoding, encoding and writing have one thread each, which keeps two cores busy.
    jobs = stages.get("jobs") or max(cores // 2, 1)
    check_skipping(inputs, output, stages)
    shape = OutputShape(
        output,
        stages.get("compression"),
        stages.get("split_messages"),
        stages.get("split_bytes"),
        stages.get("overwrite", False),
        AppendSettings.from_options(
            target_format,
            stages.get("append", False),
            stages.get("sync", False),
            stages.get("repair", False),
            stages.get("keep_partial", False),
            stages.get("commit_seconds"),
        ),
        SplitBy.from_options(
            stages.get("split_by"),
            stages.get("max_open"),
            stages.get("prefixes"),
            stages.get("compression"),
        ),
        stages.get("jobs") or cores,
        live_settings,
    )
    if "prefixes" in stages and "prefixes" in target_format.spec.options("write"):
        options_by_component.writes["prefixes"] = stages["prefixes"]
    filtering = (FilterStage(stages),) if filters else ()
    canonical = canonical_stages(stages, target_format.spec, options_by_component.writes)
    target = Target(output, target_format, options_by_component.writes, shape)
    # Most filters and a canonical form need the complete message.
    needs_messages = not all(stage.accepts_parts for stage in filtering) or bool(canonical)
    group_by = stages.get("group_by") or "message"
    is_regrouped = group_by != "message"
    stays_flat = (
        target.may_stay_flat
        and not needs_messages
        and not filters
        and not is_regrouped
        and len(inputs) == 1
        and not is_folder_or_glob(inputs[0])
        and reads.get("joins") != "new"  # the input may be several logs of one message
    )
    # Written parts cannot be removed if their message turns out to be invalid. Therefore, each
    # message is buffered completely if messages are skipped.
    on_error = stages.get("on_error", "fail")
    skips_messages = on_error == "skip"
    accepts_parts = (target.accepts_parts and not needs_messages) or is_regrouped
    buffers_messages = accepts_parts and skips_messages

    skolemizes = stages.get("skolemize") is not None
    # The index of a message in the log identifies its blank nodes, so it must be known.
    numbers_output = shape.appends and skolemizes
    if numbers_output and (is_regrouped or stages.get("split_by") is not None):
        other = spell_option("group_by" if is_regrouped else "split_by")
        raise OptionError(
            f"{spell_option('append')} and {spell_option('skolemize')} cannot be combined with {other}, because IRIs of different runs could be equal; write a new log "
            f"with another IRI for {spell_option('skolemize')}, and append that log"
        )

    def regrouping() -> tuple[Regrouping, ...]:
        if not is_regrouped and not skolemizes:
            return ()
        regrouper = make_regrouper(
            group_by,
            skolemize=stages.get("skolemize"),
            parts=(target.accepts_parts and not canonical) or stays_flat,
            max_message_bytes=_max_message_bytes(reads),
        )
        count_before = shape.count_continued if numbers_output else None
        return (
            Regrouping(regrouper, buffers_messages=buffers_messages, count_before=count_before),
        )

    # The output declares triple terms or generalized statements if its template log does.
    is_generalized = target.template.get("rdf_star") or target.template.get("generalized")
    settings = ReadSettings(
        format=stages.get("from_format"),
        options=reads,
        storage_options=live_settings if any(map(may_be_stream, inputs)) else None,
        parts="never"
        if skips_messages
        else "always"
        if accepts_parts
        else "frames"
        if stays_flat
        else "never",
        message_per_file=stages.get("message_per_file", False),
        needs_logs=True,
        hints={**options_by_component.hints, **({"generalized": True} if is_generalized else {})},
        **line_settings(on_error, rejects="rejects" in stages),
    )
    graph = stages.get("default_graph_as")
    renaming = () if graph is None else (DefaultGraph(graph),)
    selection, settings = select(stages, inputs, settings, tuple if numbers_output else regrouping)
    regroupings = regrouping()
    last = (*selection, *regroupings) if numbers_output else (*regroupings, *selection)
    if jobs == 1:
        driver = Driver(inputs, settings)
    else:
        from rdfm.logs.read.parallel import ParallelDriver  # costly to import

        driver = ParallelDriver(inputs, settings, jobs, splits=not selection)
    return ConversionPlan(
        inputs=inputs,
        driver=driver,
        stages=(*renaming, *filtering, *last, *canonical),
        target=target,
        shape=shape,
        from_format=stages.get("from_format"),
        on_error=on_error,
        max_errors=stages.get("max_errors"),
        rejects=stages.get("rejects"),
        keep_partial=stages.get("keep_partial", False),
        stays_flat=stays_flat,
        buffers_messages=buffers_messages,
        bytes_total=total,
        jobs=jobs,
        # Two threads write row groups about as fast as one thread prepares them.
        row_jobs=stages.get("jobs") or min(cores, 2),
        last_event_id=(live_settings or {}).get("last_event_id"),
        stream_conflict=_describe_stream_conflict(inputs, is_regrouped=is_regrouped),
    )


def _describe_stream_conflict(inputs: list[Readable], *, is_regrouped: bool) -> str | None:
    """Return the reason why a stream of events cannot be appended; None if it can."""
    if len(inputs) > 1:
        return "a stream of events can be appended only without other inputs; use one run for each"
    if is_regrouped:
        return (
            f"a stream of events cannot be appended with {spell_option('group_by')}, because a run "
            "could end between two events of a message; append the events as they are, and regroup "
            "that log"
        )
    return None


def _max_message_bytes(reads: dict[str, Any]) -> int | None:
    """Return the size limit of a message in bytes, which also applies to regrouped messages."""
    option = formats.nq.spec.options("read")["max_message_bytes"]
    value = reads.get(option.name)
    return None if value is None else int(option.value(value))

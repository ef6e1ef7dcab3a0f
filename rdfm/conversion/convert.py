"""Log to log: `convert`.

In: logs in any format. Out: one log in another, and a `Summary`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from rdfm import formats
from rdfm.conversion.options import STAGES, divide, readers
from rdfm.conversion.pipeline import Pipeline, Plan
from rdfm.conversion.regroup import DefaultGraph, Regrouping, make
from rdfm.conversion.selected import select
from rdfm.conversion.summary import Summary
from rdfm.conversion.target import Target
from rdfm.errors import OptionError
from rdfm.formats import OptionSpec
from rdfm.logs.driver import Driver, Reading
from rdfm.logs.filtering import FILTERING, Filtering
from rdfm.logs.input import Readable, as_inputs, holds_files
from rdfm.logs.output import Shape, Writable, output_format
from rdfm.logs.own_input import refuse_own_input
from rdfm.logs.progress import Progress, Reporter, total_bytes

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ConvertOptions

__all__ = ["convert", "plan"]

_FILTERING = frozenset(option.name for option in FILTERING)


def convert(
    inputs: Readable | Sequence[Readable],
    output: Writable,
    *,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[ConvertOptions],
) -> Summary:
    """Convert logs to one log in another format, or to a folder or archive of logs.

    Messages become messages, patches become patches, and SPARQL results become results; `rdfm.patch` makes patches of
    messages and messages of patches. Several inputs are read one after the other. The output appears under its name
    only when it is complete.

    Args:
        inputs: What `open_log` takes, or a list of that: folders, globs and archives too.
        output: A path, or a binary file object. A folder (`out/`) gets a file for each message, or
            several with `split_messages` or `split_bytes`; a tar archive (`out.tar.gz`) a member for
            each message.
        progress: Called about ten times a second.
        **options: How to read and write, as values or as text: the options of the formats
            (`rdfm.formats.find(name).spec`), and those of the conversion. `from_NAME` is for what is read,
            `to_NAME` for what is written, and `NAME` for the side that takes it; where both do, it is
            refused, unless it is for both (`lenient`, `generalized`). Of the conversion are:

            - from_format, to_format: Names of formats; else found from suffixes, then content.
            - message_per_file: Each input is one message, also an empty one.
            - group_by: Other messages of the same quads: "subject" or "graph" (consecutive quads with
              the same one), "count=N" (N quads each), "bytes=N" (of the terms' text), "all".
            - skolemize: An IRI; blank nodes become IRIs that begin with it and `/.well-known/genid/`.
            - default_graph_as: An IRI; what is in the default graph is put into the graph of that name.
            - messages: Which to write, counted from 0 over all inputs: a number ("5000"), or a slice as of lists
              ("100:200", "-10:", "::100").
            - skip, take: Messages to leave out at the start, and to write at most.
            - sample, seed: A random sample: a share of the messages ("1%"), or so many ("500"; the inputs are read
              twice). The same seed, which is a number, draws the same sample.
            - on_error: "fail", or "skip" to leave out what is broken; what meets a limit still fails.
            - keep_partial: After an error keep what was written, as `NAME.partial` (`NAME.partial.1`
              and so on where that exists).
            - split_messages, split_bytes (not compressed): Most messages of each file of a folder, and
              bytes after which one ends; each is a whole log.
            - compression: "gzip", "zstd", "bzip2", "xz" or "none", perhaps with a level, such as "zstd:19"; else as the
              output's suffix says. Of each file of a folder.
            - overwrite: Replace a folder that holds something: everything in it is removed.

    Returns:
        What was done.

    Raises:
        DecodeError: An input is broken; nothing is left under the output's name.
        EncodeError: A message cannot be written in the target format; the text says what would help.
        OptionError: Options do not fit, the output is one of the inputs, or an input is of another kind (messages,
            patches or results) than the output's format holds.
        UnknownFormatError: A format cannot be told.
        OSError: A file cannot be read or written.

    Example:
        >>> import io
        >>> summary = convert(b"<http://ex/s> <http://ex/p> <http://ex/o> .", io.BytesIO(),
        ...                   from_format="nt", to_format="jelly")
        >>> summary.messages, summary.quads
        (1, 1)
    """
    sources = as_inputs(inputs)
    if not sources:
        raise OptionError("there is nothing to convert: name an input")
    refuse_own_input(sources, output, options, STAGES)
    report = Reporter(progress)
    total = None if progress is None else total_bytes(sources)
    return Pipeline(plan(sources, output, dict(options), total), report).run()


def plan(
    inputs: list[Readable],
    output: Writable,
    options: dict[str, Any],
    total: int | None,
    declared: Mapping[str, OptionSpec] = STAGES,
) -> Plan:
    """Give what a conversion does, with all that the options say.

    Args:
        inputs: What is read.
        output: What is written.
        options: The options, by name.
        total: Bytes of all inputs, if known.
        declared: The options of the stages; those of filters among them make it one.

    Raises:
        OptionError, UnknownFormatError, OSError, DecodeError: As `convert`.
    """
    known = readers(inputs, options.get("from_format"))
    kind = known[0].kinds[0] if known else "messages"
    target_format = output_format(output, options.get("to_format"), kind)
    divided = divide(options, known, target_format.spec, declared)
    stages, reads = divided.stages, divided.reads
    shape = Shape(
        output,
        stages.get("compression"),
        stages.get("split_messages"),
        stages.get("split_bytes"),
        stages.get("overwrite", False),
    )
    filters = not _FILTERING.isdisjoint(declared)
    if filters and "prefixes" in stages and "prefixes" in target_format.spec.options("write"):
        divided.writes["prefixes"] = stages["prefixes"]
    filtering = (Filtering(stages),) if filters else ()
    target = Target(output, target_format, divided.writes, shape)
    group_by = stages.get("group_by") or "message"
    regroups = group_by != "message"
    stays_flat = (
        target.may_stay_flat
        and not filters
        and not regroups
        and len(inputs) == 1
        and not holds_files(inputs[0])
    )
    # Part of a broken message cannot be taken back, so skipping errors holds each message whole.
    skip_errors = stages.get("on_error") == "skip"
    # Whether a filter keeps a message depends on all of it.
    wanted = (target.takes_parts and not filters) or regroups
    held_whole = wanted and skip_errors

    def regrouping() -> tuple[Regrouping, ...]:
        if not regroups and stages.get("skolemize") is None:
            return ()
        regrouper = make(
            group_by,
            skolemize=stages.get("skolemize"),
            parts=target.takes_parts or stays_flat,
            max_message_bytes=_largest_message(reads),
        )
        return (Regrouping(regrouper, held=held_whole),)

    # Output streams announce such terms if the log whose options they take does.
    holds = target.template.get("rdf_star") or target.template.get("generalized")
    reading = Reading(
        format=stages.get("from_format"),
        options=reads,
        parts="never"
        if skip_errors
        else "always"
        if wanted
        else "frames"
        if stays_flat
        else "never",
        message_per_file=stages.get("message_per_file", False),
        hints={**divided.hints, **({"generalized": True} if holds else {})},
    )
    graph = stages.get("default_graph_as")
    renaming = () if graph is None else (DefaultGraph(graph),)
    selection, reading = select(stages, inputs, reading, regrouping)
    return Plan(
        inputs=inputs,
        driver=Driver(inputs, reading),
        stages=(*renaming, *filtering, *regrouping(), *selection),
        target=target,
        shape=shape,
        from_format=stages.get("from_format"),
        skip_errors=skip_errors,
        keep_partial=stages.get("keep_partial", False),
        stays_flat=stays_flat,
        held_whole=held_whole,
        bytes_total=total,
    )


def _largest_message(reads: dict[str, Any]) -> int | None:
    """The largest message that is to be held, also where messages are made of others."""
    option = formats.nq.spec.options("read")["max_message_bytes"]
    given = reads.get(option.name)
    return None if given is None else int(option.value(given))

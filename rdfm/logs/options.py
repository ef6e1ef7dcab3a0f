"""The options of reading, writing and changing logs, besides those of their formats."""

from __future__ import annotations

from rdfm.formats import OptionSpec
from rdfm.storage.compression import COMPRESSIONS, LEVELS

__all__ = ["CHANGING", "QUERYING", "READING", "WRITING"]

_FORMATS = "Formats"
_MESSAGES = "Which messages"
_CHANGES = "Changes"
_QUERY = "The query"

READING = (
    OptionSpec(
        "from_format",
        help="Format of the inputs, such as nq; else as each shows by its suffix, then by its content.",
        metavar="FORMAT",
        group=_FORMATS,
        flag="from",
        keyword="format",
    ),
    OptionSpec(
        "message_per_file",
        "switch",
        "Each input is one message, also an empty one.",
        default=False,
        group=_MESSAGES,
    ),
    OptionSpec(
        "on_error",
        "choice",
        "What to do at broken data: stop, or leave it out and go on; what meets a limit still fails.",
        choices=("fail", "skip"),
        default="fail",
        instead="skip_message() of a log",
        group=_MESSAGES,
    ),
)
WRITING = (
    OptionSpec(
        "to_format",
        help="Format of the output, such as jelly; else as its suffix says.",
        metavar="FORMAT",
        group=_FORMATS,
        flag="to",
        keyword="format",
    ),
    OptionSpec(
        "compression",
        "choice",
        "Compression of the output, or of each file of a folder, perhaps with a level, such as zstd:19; else as its "
        "suffix says.",
        choices=(*COMPRESSIONS, "none"),
        levels=tuple((name, *levels) for name, levels in LEVELS.items()),
        group=_FORMATS,
    ),
    OptionSpec(
        "split_messages",
        "count",
        "Write a folder of logs with at most N messages each; without, a folder has one each.",
        least=1,
        metavar="N",
        group=_FORMATS,
    ),
    OptionSpec(
        "split_bytes",
        "bytes",
        "Write a folder of logs that each end at about this size, not compressed.",
        least=1,
        group=_FORMATS,
    ),
    OptionSpec(
        "overwrite",
        "switch",
        "Replace a folder that holds something: everything in it is removed.",
        default=False,
        group=_FORMATS,
    ),
    OptionSpec(
        "keep_partial",
        "switch",
        "After an error keep what came before it, as NAME.partial, or NAME.partial.1 and so on.",
        default=False,
        group=_MESSAGES,
    ),
)
CHANGING = (
    OptionSpec(
        "patch_format",
        help="Format of the patches, such as rdf-patch; else as each shows by its suffix.",
        metavar="FORMAT",
        group=_FORMATS,
    ),
    OptionSpec(
        "chain",
        "switch",
        "Refuse a patch whose prev is not the id of the patch before it, or apply it all the same.",
        default=True,
        off="no-chain",
        group=_CHANGES,
    ),
    OptionSpec(
        "separate_blank_nodes",
        "switch",
        "A blank node that is used in several transactions becomes several; else it is refused.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "per_message",
        "switch",
        "Compare the messages of two logs one by one, a patch each.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "snapshots",
        "switch",
        "Of one log, the changes from each message to the next, a patch each; the first makes the first message.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "canonical",
        "switch",
        "Know blank nodes by what is said of them, not by their labels.",
        default=False,
        group=_CHANGES,
    ),
)
QUERYING = (
    OptionSpec(
        "whole",
        "switch",
        "Query all inputs as one dataset, which is held in memory; without, each message by itself.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "union_graphs",
        "switch",
        "The default graph of the query is all graphs together, those with names too.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "prefixes",
        "namespaces",
        "A namespace that the query need not declare; may be repeated.",
        group=_QUERY,
        flag="prefix",
    ),
    OptionSpec(
        "types",
        help="Types of columns of a table, such as time=dateTime,value=double; others hold terms as N-Triples.",
        metavar="NAME=TYPE,...",
        group=_QUERY,
    ),
    OptionSpec(
        "skip_empty",
        "switch",
        "Leave out the messages for which CONSTRUCT makes no triple.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "solutions",
        "file",
        "SPARQL results that CONSTRUCT makes messages of, one of each row, in the place of logs.",
        group=_QUERY,
    ),
    OptionSpec(
        "timeout",
        help="Seconds that the query may take for a message, such as 0.5; with whole for all.",
        metavar="SECONDS",
        group=_QUERY,
    ),
    OptionSpec(
        "max_rows",
        "count",
        "Solutions that a message may have; with whole all together, which have no limit unless this is given.",
        least=1,
        default=1_000_000,
        group=_QUERY,
    ),
)

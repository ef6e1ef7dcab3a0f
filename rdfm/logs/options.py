"""Format-independent options for reading and writing logs, and options of stages."""

from __future__ import annotations

from dataclasses import replace

from rdfm.formats import OptionSpec
from rdfm.storage.compression import COMPRESSIONS, LEVELS

__all__ = [
    "APPENDING",
    "CHECKING",
    "LIVE",
    "READING",
    "RUNNING",
    "SKIP_MESSAGES",
    "SPLITTING",
    "STAGE_OPTIONS",
    "WRITING",
    "declare",
]

_INPUT = "Input"
_OUTPUT = "Output"
_LIVE = "Live streams"

# Stage and command options by name. Each module adds its options when it is imported.
STAGE_OPTIONS: dict[str, OptionSpec] = {}


def declare(*options: OptionSpec) -> tuple[OptionSpec, ...]:
    """Register options of a stage or command in `STAGE_OPTIONS`, for remedies, and return them."""
    for option in options:
        STAGE_OPTIONS.setdefault(option.name, option)
    return options


READING = declare(
    OptionSpec(
        "from_format",
        help="Format of the inputs, such as nq (default: detected).",
        metavar="FORMAT",
        group=_INPUT,
        flag="from",
        keyword="format",
    ),
    OptionSpec(
        "message_per_file",
        "switch",
        "Read each input as one message, even if it is empty.",
        default=False,
        group=_INPUT,
    ),
    OptionSpec(
        "on_error",
        "choice",
        "On invalid data: fail, skip its message, or skip-line.",
        choices=("fail", "skip", "skip-line"),
        default="fail",
        metavar="HOW",
        group=_INPUT,
    ),
)
# The same option for commands that cannot skip lines.
SKIP_MESSAGES = replace(
    next(option for option in READING if option.name == "on_error"),
    help="On invalid data: fail, or skip its message.",
    choices=("fail", "skip"),
    metavar="",
)
LIVE = declare(
    OptionSpec(
        "follow",
        "switch",
        "Wait for new messages, or stop at the end of the topic (default: the server decides).",
        off="no-follow",
        group=_LIVE,
    ),
    OptionSpec(
        "from_end",
        "switch",
        "Start with the next new message instead of the first message.",
        group=_LIVE,
    ),
    OptionSpec(
        "retry",
        "count",
        "Maximum consecutive attempts to reconnect. Messages already received are skipped.",
        default=0,
        metavar="N",
        group=_LIVE,
    ),
    OptionSpec(
        "last_event_id",
        help="Start after the event with this id; if it is empty, with the first event.",
        metavar="ID",
        group=_LIVE,
    ),
    OptionSpec(
        "tls_ca",
        "file",
        "CA certificates for verifying servers, as a PEM file (default: built-in certificates).",
        group=_LIVE,
    ),
    OptionSpec(
        "tls_cert",
        "file",
        "Client certificate, as a PEM file.",
        group=_LIVE,
    ),
    OptionSpec(
        "tls_key",
        "file",
        "Private key of the client certificate, as a PEM file.",
        group=_LIVE,
    ),
)
WRITING = declare(
    OptionSpec(
        "to",
        help="Format of the output (default: from the file suffix).",
        metavar="FORMAT",
        group=_OUTPUT,
        flag="to",
        keyword="format",
    ),
    OptionSpec(
        "compression",
        "choice",
        "gzip, zstd, zstd:19, bzip2, xz or none (default: from the file suffix).",
        choices=(*COMPRESSIONS, "none"),
        metavar="NAME",
        levels=tuple((name, *levels) for name, levels in LEVELS.items()),
        group=_OUTPUT,
    ),
    OptionSpec(
        "split_messages",
        "count",
        "Write a folder of logs with up to N messages each.",
        minimum=1,
        metavar="N",
        group=_OUTPUT,
    ),
    OptionSpec(
        "split_bytes",
        "bytes",
        "Write a folder of logs of about this size.",
        minimum=1,
        group=_OUTPUT,
    ),
    OptionSpec(
        "overwrite",
        "switch",
        "Replace an existing folder and all its contents.",
        default=False,
        group=_OUTPUT,
    ),
    OptionSpec(
        "keep_partial",
        "switch",
        "On error, keep the output as NAME.partial.",
        default=False,
        group=_OUTPUT,
    ),
)
RUNNING = declare(
    OptionSpec(
        "jobs",
        "count",
        "Threads per step (default: half the cores, at most 4).",
        minimum=1,
        maximum=256,
        metavar="N",
        group=_OUTPUT,
    ),
)
SPLITTING = declare(
    OptionSpec(
        "split_by",
        help="Write a folder with one log per key: graph, value:PREDICATE, day or month.",
        metavar="KEY",
        group=_OUTPUT,
    ),
    OptionSpec(
        "max_open",
        "count",
        "Open files when splitting by key (default: 100; xz: 4).",
        minimum=1,
        metavar="N",
        group=_OUTPUT,
    ),
)
APPENDING = declare(
    OptionSpec(
        "append",
        "switch",
        "Append to an existing log.",
        default=False,
        group=_OUTPUT,
    ),
    OptionSpec(
        "sync",
        "switch",
        "When appending, commit each batch to disk.",
        default=False,
        group=_OUTPUT,
    ),
    OptionSpec(
        "commit_seconds",
        "count",
        "When appending, commit every N seconds (live: 10).",
        metavar="N",
        group=_OUTPUT,
    ),
    OptionSpec(
        "repair",
        "switch",
        "When appending, remove an incomplete last message.",
        default=False,
        group=_OUTPUT,
    ),
)
CHECKING = declare(
    OptionSpec(
        "strict",
        "switch",
        "Count warnings as errors.",
        default=False,
        group=_OUTPUT,
    ),
    OptionSpec(
        "max_errors",
        "count",
        "Stop after N errors.",
        minimum=1,
        metavar="N",
        group=_OUTPUT,
    ),
    OptionSpec(
        "max_warnings",
        "count",
        "Show the first N warnings of each rule, and count the rest.",
        default=20,
        metavar="N",
        group=_OUTPUT,
    ),
)

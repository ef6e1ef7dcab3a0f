"""Options of reading and writing logs, besides those of the formats; and all options of stages, by name."""

from __future__ import annotations

from rdfm.formats import OptionSpec
from rdfm.storage.compression import COMPRESSIONS, LEVELS

__all__ = ["READING", "STAGE_OPTIONS", "WRITING", "declare"]

_FORMATS = "Formats"
_MESSAGES = "Which messages"

# Options of stages and commands by name, as far as the modules that declare them are imported.
STAGE_OPTIONS: dict[str, OptionSpec] = {}


def declare(*options: OptionSpec) -> tuple[OptionSpec, ...]:
    """Add options of a stage or a command to `STAGE_OPTIONS`, so that remedies can name them; return them."""
    for option in options:
        STAGE_OPTIONS.setdefault(option.name, option)
    return options


READING = declare(
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
WRITING = declare(
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

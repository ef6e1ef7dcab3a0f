"""`rdfm patch`: changes of datasets."""

from __future__ import annotations

from typing import Any

import click

from rdfm.cli._options import FormatName, option
from rdfm.cli._specs import SpecCommand, given

_APPLY = """Examples:
  rdfm patch apply data.nq monday.rdfp tuesday.rdfp -o now.nq
  rdfm patch apply data.trig changes.jellyp -o now.jelly.gz"""
_FROM_LOG = """Example:
  rdfm patch from-log sensors.jelly sensors.rdfp"""
_TO_LOG = """Example:
  rdfm patch to-log sensors.rdfp sensors.jelly"""
_DIFF = """Examples:
  rdfm patch diff old.nq new.nq -o changes.rdfp
  rdfm patch diff --per-message monday.jelly tuesday.jelly -o changes.jellyp
  rdfm patch diff --snapshots states.trig -o changes.rdfp"""


@click.group("patch", short_help="Apply, make and compare changes of datasets.")
def command() -> None:
    """Changes of datasets: logs of patches in RDF Patch, in its Thrift form and in Jelly-Patch.

    rdfm convert converts them, and rdfm inspect counts what is in them.
    """


_output = option(
    "-o",
    "--output",
    group="Formats",
    metavar="OUT",
    required=True,
    type=click.Path(),
    help="The file to write; - for standard output, with --to.",
)
_from = option(
    "--from",
    "from_format",
    group="Formats",
    type=FormatName(),
    help="Format of the inputs; else as their suffix says, of messages also as their content.",
)
_to = option(
    "--to",
    "to_format",
    group="Formats",
    type=FormatName(),
    help="Format of the output; else as its suffix says.",
)
_quiet = option(
    "-q", "--quiet", group="Other options", is_flag=True, help="Print errors only: no summary."
)


@command.command(
    "apply",
    cls=SpecCommand,
    sides=("write",),
    epilog=_APPLY,
    short_help="Apply patches to a dataset.",
)
@click.argument("dataset", type=click.Path())
@click.argument("patches", nargs=-1, required=True, metavar="PATCH...", type=click.Path())
@_output
@option(
    "--from",
    "from_format",
    group="Formats",
    type=FormatName(),
    help="Format of the dataset, if not told by its name or its content.",
)
@option(
    "--patch-format",
    group="Formats",
    type=FormatName(),
    help="Format of the patches, if not told by their names.",
)
@_to
@option(
    "--no-chain",
    group="Other options",
    is_flag=True,
    help="Apply a patch though its prev is not the id of the patch before.",
)
@_quiet
def apply(
    dataset: str,
    patches: tuple[str, ...],
    output: str,
    from_format: str | None,
    patch_format: str | None,
    to_format: str | None,
    no_chain: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Apply each PATCH to DATASET, in order, and write what it is then.

    DATASET is a log of one message. A transaction that is aborted, or that its patch does not end, changes nothing. A
    patch whose header has a prev that is not the id of the patch before is refused.
    """
    from rdfm import patch
    from rdfm.cli._io import plural
    from rdfm.cli._signals import unwinding

    with unwinding():
        done = patch.apply(
            _input(dataset),
            [_input(name) for name in patches],
            _target(output),
            from_format=from_format,
            patch_format=patch_format,
            to_format=to_format,
            chain=not no_chain,
            **given(options),
        )
    _report(
        done,
        quiet,
        f"{plural(done.quads, 'quad')}: {done.added:,} added, {done.deleted:,} deleted",
        done.undone,
    )


@command.command(
    "from-log",
    cls=SpecCommand,
    sides=("write",),
    epilog=_FROM_LOG,
    short_help="Make patches of the messages of a log.",
)
@click.argument("log", type=click.Path())
@click.argument("output", metavar="OUT", type=click.Path())
@_from
@_to
@_quiet
def from_log(
    log: str,
    output: str,
    from_format: str | None,
    to_format: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Make a patch of each message of LOG: a transaction of adds.

    The labels of blank nodes are set apart by message, since those of patches are the whole log's.
    """
    from rdfm import patch
    from rdfm.cli._io import plural
    from rdfm.cli._signals import unwinding

    with unwinding():
        done = patch.from_log(
            _input(log),
            _target(output),
            from_format=from_format,
            to_format=to_format,
            **given(options),
        )
    _report(done, quiet, plural(done.messages, "patch"))


@command.command(
    "to-log",
    cls=SpecCommand,
    sides=("write",),
    epilog=_TO_LOG,
    short_help="Make messages of the transactions of patches.",
)
@click.argument("patches", type=click.Path())
@click.argument("output", metavar="OUT", type=click.Path())
@_from
@_to
@option(
    "--separate-blank-nodes",
    group="Other options",
    is_flag=True,
    help="A blank node that stands in several transactions becomes several; else it is refused.",
)
@_quiet
def to_log(
    patches: str,
    output: str,
    from_format: str | None,
    to_format: str | None,
    separate_blank_nodes: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Make a message of each transaction of PATCHES that is committed.

    Patches that delete something are refused: rdfm patch apply makes a dataset of them.
    """
    from rdfm import patch
    from rdfm.cli._io import plural
    from rdfm.cli._signals import unwinding

    with unwinding():
        done = patch.to_log(
            _input(patches),
            _target(output),
            from_format=from_format,
            to_format=to_format,
            separate_blank_nodes=separate_blank_nodes,
            **given(options),
        )
    _report(done, quiet, plural(done.messages, "message"))


@command.command(
    "diff",
    cls=SpecCommand,
    sides=("write",),
    epilog=_DIFF,
    short_help="Write the changes between datasets as patches.",
)
@click.argument("inputs", nargs=-1, required=True, metavar="OLD NEW", type=click.Path())
@_output
@_from
@_to
@option(
    "--per-message",
    group="Other options",
    is_flag=True,
    help="Compare the messages of two logs one by one, a patch each.",
)
@option(
    "--snapshots",
    group="Other options",
    is_flag=True,
    help="Of one log, the changes from each message to the next, a patch each.",
)
@option(
    "--canonical",
    group="Other options",
    is_flag=True,
    help="Compare blank nodes by structure, not by labels.",
)
@_quiet
def diff(
    inputs: tuple[str, ...],
    output: str,
    from_format: str | None,
    to_format: str | None,
    per_message: bool,
    snapshots: bool,
    canonical: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write the patch that makes the dataset OLD the dataset NEW: a transaction of deletes, then adds.

    Blank nodes are compared by their labels, unless --canonical is given.
    """
    from rdfm import patch
    from rdfm.cli._io import plural
    from rdfm.cli._signals import unwinding

    wanted = 1 if snapshots else 2
    if len(inputs) != wanted:
        names = "one log, with --snapshots" if snapshots else "OLD and NEW"
        raise click.UsageError(f"name {names}; found {len(inputs)}")
    if snapshots and per_message:
        raise click.UsageError("--snapshots and --per-message: leave one of them out")
    with unwinding():
        done = patch.diff(
            _input(inputs[0]),
            None if snapshots else _input(inputs[1]),
            _target(output),
            from_format=from_format,
            to_format=to_format,
            per_message=per_message,
            canonical=canonical,
            **given(options),
        )
    _report(
        done,
        quiet,
        f"{plural(done.messages, 'patch')}: {plural(done.added, 'add')}, {plural(done.deleted, 'delete')}",
    )


def _input(name: str) -> Any:
    from rdfm.cli._io import standard_input

    return standard_input() if name == "-" else name


def _target(name: str) -> Any:
    from rdfm.cli._io import standard_output

    return standard_output() if name == "-" else name


def _report(done: Any, quiet: bool, line: str, undone: int = 0) -> None:
    """What was done and what was left out, on standard error."""
    from rdfm.cli._io import plural

    if quiet:
        return
    if undone:
        line += f", {plural(undone, 'transaction')} undone"
    click.echo(f"rdfm: {line} in {done.seconds:.2f} s", err=True)
    if done.dropped:
        dropped = ", ".join(
            plural(count, name.removesuffix("s").replace("_", " "))
            for name, count in done.dropped.items()
        )
        click.echo(f"rdfm: dropped: {dropped}", err=True)

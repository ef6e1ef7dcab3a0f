"""`rdfm patch`: apply, revert and create patches."""

from __future__ import annotations

from typing import Any

import click

from rdfm.cli.parameters import OutputPath, output_option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

_APPLY = """Examples:
  rdfm patch apply data.nq monday.rdfp tuesday.rdfp -o now.nq
  rdfm patch apply data.trig changes.jellyp -o now.jelly.gz
  curl -s https://example.org/p | rdfm patch apply data.nq - --patch-format rdf-patch -o now.nq"""
_FROM_LOG = """Example:
  rdfm patch from-log sensors.jelly sensors.rdfp"""
_TO_LOG = """Example:
  rdfm patch to-log sensors.rdfp sensors.jelly"""
_REVERT = """Examples:
  rdfm patch revert monday.rdfp -o undo.rdfp
  rdfm patch revert monday.rdfp tuesday.jellyp --to jelly-patch -o undo.jellyp"""
_DIFF = """Examples:
  rdfm patch diff old.nq new.nq -o changes.rdfp
  rdfm patch diff --per-message monday.jelly tuesday.jelly -o changes.jellyp
  rdfm patch diff --snapshots states.trig -o changes.rdfp"""


@click.group("patch", short_help="Apply, revert and create patches.")
def command() -> None:
    """Apply, revert and create patches: changes to datasets.

    The formats of patches are RDF Patch, RDF Patch Thrift and Jelly-Patch. rdfm convert converts
    logs of patches, and rdfm inspect describes them.
    """


_output = output_option("Output file, or - for standard output.", required=True)
_quiet = quiet_option()


@command.command(
    "apply",
    cls=SpecCommand,
    stages="rdfm.patch.patch_options:APPLY",
    sides=("read", "write"),
    kinds={"read": ("messages", "patches"), "write": ("messages",)},
    epilog=_APPLY,
    short_help="Apply patches to a dataset.",
)
@click.argument("dataset", type=click.Path(readable=False))
@click.argument(
    "patches", nargs=-1, required=True, metavar="PATCH...", type=click.Path(readable=False)
)
@_output
@_quiet
def apply(dataset: str, patches: tuple[str, ...], output: str, quiet: bool, **options: Any) -> None:
    """Apply each PATCH to DATASET, in order, and write the result.

    DATASET is a log of one message, and PATCH is a log of patches. Aborted and unfinished
    transactions have no effect. A patch is rejected if its prev header is not the id of the
    previous patch.
    """
    from rdfm import patch

    dataset, *logs = _inputs(dataset, *patches)
    changes = _run(patch.apply, (dataset, logs), output, "messages", options, quiet)
    _report(
        changes,
        quiet,
        f"{_plural(changes.quads, 'quad')}: {changes.added:,} added, {changes.deleted:,} deleted",
    )


@command.command(
    "revert",
    cls=SpecCommand,
    stages="rdfm.patch.patch_options:REVERT",
    sides=("read", "write"),
    kinds={"read": ("patches",), "write": ("patches",)},
    epilog=_REVERT,
    short_help="Write patches that undo patches.",
)
@click.argument(
    "patches", nargs=-1, required=True, metavar="PATCH...", type=click.Path(readable=False)
)
@output_option("Output file (default: standard output).", default="-")
@_quiet
def revert(patches: tuple[str, ...], output: str, quiet: bool, **options: Any) -> None:
    """Write patches that undo each PATCH: the last patch first, its operations in reverse order.

    Adds become deletes, and deletes become adds. Aborted transactions are omitted. The result is
    exact only if each add and each delete has an effect: a quad that existed before it was added is
    deleted, too.
    """
    from rdfm import patch

    changes = _run(patch.revert, (_inputs(*patches),), output, "patches", options, quiet)
    patch_count = _plural(changes.messages, "patch")
    _report(
        changes,
        quiet,
        f"{patch_count}: {_plural(changes.added, 'add')}, {_plural(changes.deleted, 'delete')}",
    )


@command.command(
    "from-log",
    cls=SpecCommand,
    stages="rdfm.patch.patch_options:FROM_LOG",
    sides=("read", "write"),
    kinds={"read": ("messages",), "write": ("patches",)},
    epilog=_FROM_LOG,
    short_help="Convert each message to a patch.",
)
@click.argument("log", type=click.Path(readable=False))
@click.argument("output", metavar="OUT", type=OutputPath(readable=False))
@_quiet
def from_log(log: str, output: str, quiet: bool, **options: Any) -> None:
    """Convert each message of LOG to a patch: a transaction that adds its quads.

    Blank nodes of different messages get different labels, because labels in patches apply to the
    entire log.
    """
    from rdfm import patch

    changes = _run(patch.from_log, _inputs(log), output, "patches", options, quiet)
    _report(changes, quiet, _plural(changes.messages, "patch"))


@command.command(
    "to-log",
    cls=SpecCommand,
    stages="rdfm.patch.patch_options:TO_LOG",
    sides=("read", "write"),
    kinds={"read": ("patches",), "write": ("messages",)},
    epilog=_TO_LOG,
    short_help="Convert each transaction to a message.",
)
@click.argument("patches", type=click.Path(readable=False))
@click.argument("output", metavar="OUT", type=OutputPath(readable=False))
@_quiet
def to_log(patches: str, output: str, quiet: bool, **options: Any) -> None:
    """Convert each committed transaction of PATCHES to a message.

    Quads added outside transactions also become a message. Patches that delete quads are rejected;
    use rdfm patch apply.
    """
    from rdfm import patch

    changes = _run(patch.to_log, _inputs(patches), output, "messages", options, quiet)
    _report(changes, quiet, _plural(changes.messages, "message"))


@command.command(
    "diff",
    cls=SpecCommand,
    stages="rdfm.patch.patch_options:DIFF",
    sides=("read", "write"),
    kinds={"read": ("messages",), "write": ("patches",)},
    epilog=_DIFF,
    short_help="Write the changes between datasets as patches.",
)
@click.argument(
    "inputs", nargs=-1, required=True, metavar="OLD NEW", type=click.Path(readable=False)
)
@_output
@_quiet
def diff(
    inputs: tuple[str, ...], output: str, quiet: bool, snapshots: bool | None, **options: Any
) -> None:
    """Write a patch that changes dataset OLD to dataset NEW: a transaction of deletes, then adds.

    Blank nodes are identified by their labels, unless --canonical is given. With --snapshots, there
    is one input.
    """
    from rdfm import patch

    expected_count = 1 if snapshots else 2
    if len(inputs) != expected_count:
        names = "one log with --snapshots" if snapshots else "OLD and NEW"
        raise click.UsageError(f"expected {names}, found {_plural(len(inputs), 'input')}")
    if snapshots and options.get("per_message"):
        raise click.UsageError("--snapshots and --per-message cannot be combined")
    old, *new = _inputs(*inputs)
    changes = _run(patch.diff, (old, new[0] if new else None), output, "patches", options, quiet)
    patches = _plural(changes.messages, "patch")
    _report(
        changes,
        quiet,
        f"{patches}: {_plural(changes.added, 'add')}, {_plural(changes.deleted, 'delete')}",
    )


def _inputs(*names: str) -> list[Any]:
    from rdfm.cli.stdio import create_inputs

    return create_inputs(names)


def _run(
    function: Any, inputs: Any, output: str, kind: str, options: dict[str, Any], quiet: bool
) -> Any:
    """Call a function of `rdfm.patch` with a progress bar. `output` is a path or `-`."""
    import sys

    from rdfm.cli.bar import Bar
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import is_terminal, reject_terminal, standard_output
    from rdfm.logs.kinds import DEFAULT_FORMATS

    options = select_given(options)
    if output == "-":
        options.setdefault("to", DEFAULT_FORMATS[kind])
        reject_terminal(options)
    target = standard_output() if output == "-" else output
    bar = None if quiet or (output == "-" and is_terminal(sys.stdout)) else Bar.create_if_terminal()
    try:
        with raise_on_signal():
            return function(*inputs, target, progress=bar, **options)
    finally:
        if bar is not None:
            bar.close()


def _plural(count: int, noun: str) -> str:
    from rdfm.cli.stdio import plural

    return plural(count, noun)


def _report(changes: Any, quiet: bool, line: str) -> None:
    """Print a summary, including dropped data and notes, on standard error."""
    from rdfm.cli.losses import print_notes
    from rdfm.cli.stdio import dropped_text

    if quiet:
        return
    if changes.undone:
        line += f", {_plural(changes.undone, 'transaction')} undone"
    click.echo(f"rdfm: {line} in {changes.seconds:.2f} s", err=True)
    if changes.dropped:
        click.echo(f"rdfm: dropped: {dropped_text(changes.dropped)}", err=True)
    print_notes(changes.notes)

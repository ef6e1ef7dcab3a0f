"""`rdfm nanopub fetch`: mirror a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.headers import header_option
from rdfm.cli.parameters import output_option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

if TYPE_CHECKING:
    from rdfm.nanopub import FetchProgress, FetchResult

_EPILOG = """Examples:
  rdfm nanopub fetch https://registry.knowledgepixels.com/ -o nanopubs.jelly
  rdfm nanopub fetch https://registry.knowledgepixels.com/ -o nanopubs.jelly --follow
  rdfm nanopub fetch https://registry.example.org/ -o n.trig --check --rejects wrong.trig"""


@click.command(
    "fetch",
    cls=SpecCommand,
    stages="rdfm.nanopub.nanopub_options:FETCH",
    sides=("write",),
    kinds={"write": ("messages",)},
    epilog=_EPILOG,
    short_help="Mirror the nanopublications of a registry.",
)
@click.argument("registry")
@output_option("The log, in a format that can be appended to.", "log", metavar="LOG", required=True)
@quiet_option()
@header_option("Requests")
def command(registry: str, log: str, quiet: bool, **options: Any) -> None:
    """Append the nanopublications of REGISTRY, the URL of a nanopublication registry, to LOG.

    The first run creates LOG and LOG.state.json, which contains the position in the registry. Later
    runs append new nanopublications. After an interruption, the next run continues: nothing is lost
    or repeated.
    """
    from rdfm import nanopub
    from rdfm.cli.bar import Bar
    from rdfm.cli.losses import print_notes
    from rdfm.cli.run import CodedError
    from rdfm.cli.signals import raise_on_signal
    from rdfm.errors import LogBusyError
    from rdfm.nanopub.nanopub_options import FETCH

    if log == "-":
        raise click.UsageError(
            "a mirror must be a file, because later runs append to it; use -o FILE"
        )
    values = {
        name: FETCH[name].value(value) if name in FETCH else value
        for name, value in select_given(options).items()
    }
    values = {name.removeprefix("to_"): value for name, value in values.items()}
    bar = None if quiet else Bar.create_if_terminal(unit=" counters")

    def report(result: FetchResult) -> None:
        if not quiet and (result.messages or result.rejected or not values.get("follow")):
            click.echo(f"rdfm: {_result_sentence(result)}", err=True)

    def show(progress: FetchProgress) -> None:
        from rdfm.logs.input.progress import Progress

        assert bar is not None
        done_count = max(progress.counter - progress.start, 0)
        bar(Progress(done_count, progress.load_counter - progress.start, progress.messages))

    try:
        with raise_on_signal():
            done = nanopub.fetch(
                registry,
                log,
                report=report,
                progress=None if bar is None else show,
                notify=None if quiet else lambda note: print_notes([note]),
                **values,
            )
    except (nanopub.RejectedError, nanopub.RegistryResetError, LogBusyError) as error:
        codes = {nanopub.RejectedError: 3, nanopub.RegistryResetError: 4, LogBusyError: 5}
        raise CodedError(error, codes[type(error)]) from error
    finally:
        if bar is not None:
            bar.close()
    if not quiet:
        print_notes(done.notes)


def _result_sentence(result: FetchResult) -> str:
    from rdfm.cli.stdio import dropped_text, plural

    parts = [f"{plural(result.messages, 'nanopublication')} appended"]
    if result.rejected:
        parts.append(f"{result.rejected:,} rejected")
    if result.dropped:
        parts.append(f"{dropped_text(dict(result.dropped))} dropped")
    return f"{', '.join(parts)}; up to date at counter {result.counter} in {result.seconds:.2f} s"

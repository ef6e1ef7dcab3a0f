"""`rdfm riverbench package`: write all distributions of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.parameters import output_option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

if TYPE_CHECKING:
    from rdfm.riverbench import Package

_EPILOG = """Examples:
  rdfm riverbench package sensors.jelly --stream-type graphs -o sensors/
  rdfm riverbench package source.tar.gz --message-per-file --metadata metadata.ttl -o dataset/

Exit status: 0 done, 1 bad data, 2 bad usage."""


@click.command(
    "package",
    cls=SpecCommand,
    stages="rdfm.riverbench.names:PACKAGE",
    kinds={"read": ("messages",)},
    epilog=_EPILOG,
    short_help="Write all distributions of a dataset, and their metadata.",
)
@click.argument("log", type=click.Path(readable=False))
@output_option("Folder to create once the package is complete.", metavar="FOLDER", required=True)
@quiet_option()
def command(log: str, output: str, quiet: bool, **options: Any) -> None:
    """Package the messages of LOG for RiverBench: flat, stream and Jelly files in all sizes.

    LOG is a file, folder, glob, tar archive, URL, or - for standard input. Each kind of file is
    written with all messages, and with the first 10,000, 100,000 and so on. FOLDER also gets
    samples, and package_metadata.ttl with checksums and statistics. The stream type is declared by
    --stream-type or --metadata, and each message is checked against it.
    """
    from rdfm.cli.bar import Bar
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import create_inputs
    from rdfm.riverbench import package
    from rdfm.riverbench.names import PACKAGE

    settings = select_given(options)
    settings["format"] = settings.pop("from_format", None)
    settings = {
        name.removeprefix("from_"): PACKAGE[name].value(value) if name in PACKAGE else value
        for name, value in settings.items()
    }
    (source,) = create_inputs([log])
    bar = None if quiet else Bar.create_if_terminal()
    try:
        with raise_on_signal():
            packaged = package(source, output, progress=bar, **settings)
    finally:
        if bar is not None:
            bar.close()
    if not quiet:
        _report(packaged, output)


def _report(packaged: Package, output: str) -> None:
    """Print a summary, including dropped data and notes, on standard error."""
    from rdfm.cli.losses import print_notes
    from rdfm.cli.stdio import dropped_text, message_counts_text, plural, size_text

    files = plural(len(packaged.distributions), "distribution")
    line = (
        f"{message_counts_text('messages', packaged.messages, packaged.statements)}: {files}, {size_text(packaged.bytes_in)} read, "
        f"{size_text(packaged.bytes_out)} written to {output} in {packaged.seconds:.2f} s"
    )
    click.echo(f"rdfm: {line}", err=True)
    if packaged.repeated:
        repeated = plural(packaged.repeated, "repeated quad")
        click.echo(f"rdfm: dropped: {repeated} within a message", err=True)
    if packaged.dropped:
        click.echo(f"rdfm: dropped from flat files: {dropped_text(packaged.dropped)}", err=True)
    print_notes(packaged.notes)

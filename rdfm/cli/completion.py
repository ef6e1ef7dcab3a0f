"""`rdfm completion`: print the completion script for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from rdfm.cli.parameters import GroupedCommand, Words

SHELLS = ("bash", "zsh", "fish")
_EPILOG = """Usual locations:
  rdfm completion bash > ~/.local/share/bash-completion/completions/rdfm
  rdfm completion zsh > ~/.zfunc/_rdfm      (with ~/.zfunc in $fpath)
  rdfm completion fish > ~/.config/fish/completions/rdfm.fish"""


@click.command(
    "completion",
    cls=GroupedCommand,
    epilog=_EPILOG,
    short_help="Print the completion script for a shell.",
)
@click.argument("shell", required=False, type=Words(list(SHELLS)), metavar="{bash|zsh|fish}")
def command(shell: str | None) -> None:
    """Print the completion script for a shell: bash, zsh or fish."""
    from rdfm.cli.app import app

    if shell is None:
        raise click.UsageError(
            "no shell given; use bash, zsh or fish, for example: rdfm completion bash"
        )
    make = get_completion_class(shell)
    if make is None:
        raise click.UsageError(f"'{shell[:40]}' is not one of bash, zsh and fish")
    completion = make(app, {}, "rdfm", "_RDFM_COMPLETE")
    click.echo(completion.source_template % completion.source_vars())

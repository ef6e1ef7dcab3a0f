"""`rdfm completion`: the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    r"""Print the completion script of a shell (bash, zsh or fish).

    \b
    bash:  rdfm completion bash > ~/.local/share/bash-completion/completions/rdfm
    zsh:   rdfm completion zsh > ~/.zfunc/_rdfm      (with ~/.zfunc in $fpath)
    fish:  rdfm completion fish > ~/.config/fish/completions/rdfm.fish
    """
    from rdfm.cli.app import app

    make = get_completion_class(shell)
    if make is None:
        raise click.UsageError(f"no completion for {shell}")
    completion = make(app, {}, "rdfm", "_RDFM_COMPLETE")
    click.echo(completion.source_template % completion.source_vars())

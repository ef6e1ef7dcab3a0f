"""The option `--header` of commands that send HTTP requests.

In: `NAME:VALUE`, `NAME:@FILE` or `NAME:$VARIABLE`. Out: headers that the HTTP client adds to the
requests of inputs and registries.
Law: secrets never appear on the command line, which other users of the machine can read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TypeVar

import click

from rdfm.cli.connections import connection_options, remember
from rdfm.cli.parameters import GroupedOption
from rdfm.storage.pipes import read_option_file

__all__ = ["HeaderOption", "header_option"]

F = TypeVar("F", bound=Callable[..., object])

_SECRET = re.compile(r"auth|cookie|token|key|secret|password|credential|session", re.IGNORECASE)
_MAX_SECRET_BYTES = 1 << 16
_HELP = "HTTP request header. For secrets, use NAME:@FILE or NAME:$VARIABLE."


class HeaderOption(GroupedOption):
    """The option `--header`, which sets the headers for the entire process."""

    def __init__(self, group: str, *, of_format: bool = False) -> None:
        """Initialize as `GroupedOption`."""
        super().__init__(
            ["--header", "headers"],
            group=group,
            of_format=of_format,
            multiple=True,
            metavar="NAME:VALUE",
            expose_value=False,
            callback=_set,
            help=_HELP,
        )


def header_option(group: str) -> Callable[[F], F]:
    """Return a decorator that adds the option, and the options for TLS, to a command."""

    def decorate(function: F) -> F:
        # As in click, parameters are in reverse order until the command is created.
        params = function.__dict__.setdefault("__click_params__", [])
        params.extend(reversed([HeaderOption(group), *connection_options(group)]))
        return function

    return decorate


def _set(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> None:
    remember("headers", dict(map(_parsed, values)))


def _parsed(text: str) -> tuple[str, str]:
    """Return the name and the value of a header."""
    from rdfm.errors import visible
    from rdfm.storage.http import check_header

    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not value:
        raise click.UsageError(
            f"--header needs NAME:VALUE, NAME:@FILE or NAME:$VARIABLE, not '{visible(name[:40])}'"
        )
    if value.startswith("@"):
        try:
            value = read_option_file(value[1:], _MAX_SECRET_BYTES).decode("latin-1").strip()
        except OSError as error:
            raise click.UsageError(
                f"--header {visible(name)}: {visible(value[1:])}: {error.strerror}"
            ) from None
    elif value.startswith("$"):
        variable = value[1:].strip("{}")
        found = os.environ.get(variable)
        if not found:
            raise click.UsageError(
                f"--header {visible(name)}: the environment variable {visible(variable)} is not set"
            )
        value = found
    elif _SECRET.search(name):
        raise click.UsageError(
            f"--header {visible(name)}: other users can read the command line; put the value into a "
            f"file and write {visible(name)}:@FILE, or '{visible(name)}:$VARIABLE'"
        )
    check_header(name, value)
    return name, value

"""Options of connections, which apply to every URL that a command reads or writes.

In: `--header`, and the options for TLS and for live streams. Out: defaults for the clients of HTTP
and gRPC. They apply to the process, so no command has to pass them on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import click

from rdfm.cli.parameters import GroupedOption
from rdfm.storage.pipes import mark_pipes

__all__ = ["TLS", "connection_options", "remember"]

TLS = ("tls_ca", "tls_cert", "tls_key")
# Values that were given on the command line.
_connection_options: dict[str, Any] = {}


def remember(name: str, value: Any) -> None:
    """Set a value for all connections of a command; None or an empty value removes it."""
    if value not in (None, {}):
        _connection_options.update(mark_pipes({name: value}))
        click.get_current_context().call_on_close(lambda: remember(name, None))
    elif _connection_options.pop(name, None) is None and "rdfm.storage.http" not in sys.modules:
        return  # nothing to change, which is the usual case
    from rdfm.storage import http, live  # costly to import

    http.set_defaults(
        {
            name: _connection_options[name]
            for name in ("headers", "follow", "from_end", "retry", "last_event_id", *TLS)
            if name in _connection_options
        }
    )
    live.set_defaults(_connection_options)


def connection_options(group: str | None = None, *, without: Iterable[str] = ()) -> Any:
    """Yield the options, except some; with a group, only those for TLS, under this heading."""
    from rdfm.cli.specs import make_option
    from rdfm.logs.options import LIVE

    for spec in LIVE:
        if spec.name in without or (group is not None and spec.name not in TLS):
            continue

        def set_value(_: click.Context, __: click.Parameter, value: Any, spec: Any = spec) -> None:
            remember(spec.name, None if value is None else spec.value(value))

        new_option: GroupedOption = make_option(
            spec, spec.name, spec.option, of_format=True, callback=set_value
        )
        new_option.group = group or new_option.group
        yield new_option

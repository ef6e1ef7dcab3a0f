"""`rdfm serve`: serve logs as live streams."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rdfm.cli import signals
from rdfm.cli.parameters import GroupedCommand, Number, option, quiet_option

if TYPE_CHECKING:
    from rdfm.live.events import LogFormat
    from rdfm.live.server import Server, ServerSettings
    from rdfm.live.service import Access

_EPILOG = """Examples:
  rdfm serve logs/
  rdfm serve --topic sensors=s.jelly --grpc 9090 --no-follow
  rdfm serve logs/ --allow-publish --publish-token-file token.txt --create-topics
  rdfm serve logs/ --grpc 0.0.0.0:9090 --tls-cert server.pem --tls-key key.pem

SIGHUP reads tokens and certificates again.

Exit status: 0 ended by SIGTERM or Ctrl-C, 1 a file cannot be read, 2 bad usage."""
F = TypeVar("F", bound=Callable[..., Any])
_READ_VARIABLE = "RDFM_READ_TOKEN"
_PUBLISH_VARIABLE = "RDFM_PUBLISH_TOKEN"
_MAX_TOKEN_BYTES = 1 << 16


def _file_option(name: str, help: str, group: str = "Access") -> Callable[[F], F]:
    """Return a decorator that adds an option whose value is a file name."""
    return option(name, group=group, type=click.Path(readable=False), help=help)


@click.command(
    "serve",
    cls=GroupedCommand,
    epilog=_EPILOG,
    short_help="Serve logs as live streams over gRPC.",
)
@click.argument("folder", required=False, type=click.Path(readable=False))
@option(
    "--topic",
    "named",
    group="Topics",
    multiple=True,
    metavar="NAME=LOG",
    help="Serve a log under a name; may be repeated.",
)
@option(
    "--default-topic", group="Topics", metavar="NAME", help="Topic to serve under the empty name."
)
@option(
    "--follow/--no-follow",
    group="Topics",
    default=True,
    help="Keep subscriptions open as logs grow, or end them at the end of the log.",
)
@option("--from-end", group="Topics", is_flag=True, help="Send new messages only.")
@option(
    "--grpc",
    group="Address",
    metavar="ADDRESS",
    default="127.0.0.1:9090",
    show_default=True,
    help="HOST:PORT or PORT. Other machines can connect only if HOST is not 127.0.0.1.",
)
@_file_option("--tls-cert", "Server certificate with its chain, as a PEM file.", "Address")
@_file_option("--tls-key", "Private key of the certificate, as a PEM file.", "Address")
@option("--insecure", group="Address", is_flag=True, help="Serve other machines without TLS.")
@option("--gzip", group="Address", is_flag=True, help="Compress responses.")
@option(
    "--max-streams",
    group="Address",
    type=Number(1),
    metavar="N",
    default=1000,
    show_default=True,
    help="Maximum number of simultaneous calls.",
)
@option(
    "--max-client-bytes",
    group="Address",
    metavar="BYTES",
    default="256M",
    show_default=True,
    help="Maximum size of the frames buffered for a connection.",
)
@option(
    "--metrics",
    group="Events and metrics",
    metavar="ADDRESS",
    help="HOST:PORT or PORT. Serve metrics for Prometheus over HTTP, at /metrics.",
)
@option(
    "--log-format",
    group="Events and metrics",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the lines on standard error, one for each event.",
)
@_file_option("--client-ca", "Accept only clients with a certificate from these CAs (a PEM file).")
@_file_option("--read-token-file", f"File with the token for subscribers (or ${_READ_VARIABLE}).")
@option("--allow-publish", group="Access", is_flag=True, help="Accept messages. Requires a token.")
@_file_option(
    "--publish-token-file", f"File with the token for publishers (or ${_PUBLISH_VARIABLE})."
)
@option(
    "--create-topics",
    group="Access",
    is_flag=True,
    help="Create missing topics when they are published to.",
)
@quiet_option()
def command(folder: str | None, quiet: bool, log_format: LogFormat, **options: Any) -> int:
    """Serve the logs in FOLDER to subscribers over Jelly gRPC, and accept messages for them.

    Each log is a topic, named after its file without suffixes. Subscribers receive its messages
    from the first one on, and new messages as the log grows. Only this machine can connect, unless
    --grpc names another host.
    """
    from rdfm.errors import MissingExtraError

    signals.end_normally(signal.SIGTERM)  # also before the server has started
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors are raised, not logged
    try:
        import grpc  # noqa: F401
        import grpc_health
        import grpc_reflection
    except ImportError as error:
        raise MissingExtraError("rdfm serve needs grpcio: pip install 'rdfm[grpc]'") from error
    del grpc_health, grpc_reflection
    from rdfm.live.events import EventLog
    from rdfm.live.server import Server
    from rdfm.live.topics import Topics, parse_topic

    settings = _settings(options)
    topics = Topics(
        folder,
        dict(map(parse_topic, options["named"])),
        options["default_topic"],
        creates=options["create_topics"],
    )
    log = EventLog(sys.stderr, log_format, errors_only=quiet)
    try:
        _run(Server(topics, settings, log))
    finally:
        log.close()
    return 0


def _run(server: Server) -> None:
    """Serve until SIGTERM or SIGINT. SIGHUP reloads tokens and certificates."""
    import asyncio

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for kind in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(kind) is not signal.SIG_IGN:
                loop.add_signal_handler(kind, _stop, stop)
        if hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, server.reload)
        await server.run(stop)

    asyncio.run(main())


def _stop(stop: Any) -> None:
    """Stop the server. A second signal ends the process immediately."""
    if stop.is_set():
        os._exit(130)
    stop.set()


def _settings(options: dict[str, Any]) -> ServerSettings:
    """Return the settings of the server.

    Raises:
        OptionError: If options cannot be combined, or an option requires another one.
        OSError: If a token file cannot be read.
    """
    from rdfm.errors import OptionError
    from rdfm.live.addresses import parse_address
    from rdfm.live.memory import MAX_CLIENT_BYTES
    from rdfm.live.server import ServerSettings
    from rdfm.live.tls import Tls

    certificate, key, authority = (
        None if options[name] is None else Path(options[name])
        for name in ("tls_cert", "tls_key", "client_ca")
    )
    if (certificate is None) != (key is None):
        raise OptionError("--tls-cert and --tls-key must be given together")
    if certificate is None and authority is not None:
        raise OptionError("--client-ca needs TLS; give --tls-cert and --tls-key")
    if not options["allow_publish"]:
        for name in ("publish_token_file", "create_topics"):
            if options[name]:
                raise OptionError(f"--{name.replace('_', '-')} needs --allow-publish")
    tls = None
    if certificate is not None and key is not None:
        tls = Tls(certificate, key, authority)
    metrics = options["metrics"]
    return ServerSettings(
        address=parse_address(options["grpc"]),
        metrics=None if metrics is None else parse_address(metrics),
        tls=tls,
        insecure=options["insecure"],
        access=_access(options),
        load_access=lambda: _access(options),
        follow=options["follow"],
        from_end=options["from_end"],
        compress=options["gzip"],
        max_streams=options["max_streams"],
        max_client_bytes=MAX_CLIENT_BYTES.value(options["max_client_bytes"]),
    )


def _access(options: dict[str, Any]) -> Access:
    """Return the access rules, with tokens from files or the environment.

    Raises:
        OptionError: If publishers have no token, or a token is invalid.
        OSError: If a token file cannot be read.
    """
    from rdfm.errors import OptionError
    from rdfm.live.service import Access

    read_token = _token(options["read_token_file"], _READ_VARIABLE)
    if not options["allow_publish"]:
        return Access(read_token)
    publish_token = _token(options["publish_token_file"], _PUBLISH_VARIABLE)
    if publish_token is None:
        raise OptionError(
            f"--allow-publish needs a token; give --publish-token-file, or set {_PUBLISH_VARIABLE}"
        )
    return Access(read_token, publish_token)


def _token(file: str | None, variable: str) -> str | None:
    """Return a token from a file or the environment; None if there is none.

    Raises:
        OptionError: If the token is empty or not printable ASCII.
        OSError: If the file cannot be read.
    """
    from rdfm.errors import OptionError

    if file is not None:
        with Path(file).open("rb") as stream:
            text = stream.read(_MAX_TOKEN_BYTES).decode("latin-1").strip()
        source = file
    else:
        found = os.environ.get(variable)
        if found is None:
            return None
        text, source = found.strip(), variable
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise OptionError(f"{source} has no token; expected printable ASCII without spaces")
    return text

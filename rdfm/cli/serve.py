"""`rdfm serve`: serve logs as live streams."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rdfm.cli import signals
from rdfm.cli.parameters import GroupedCommand, Number, option, quiet_option

if TYPE_CHECKING:
    from rdfm.live.server import Server

_EPILOG = """Examples:
  rdfm serve logs/
  rdfm serve --topic sensors=s.jelly --grpc 9090 --no-follow
  rdfm serve logs/ --http 8080
  rdfm serve logs/ --allow-publish --publish-token-file token.txt --create-topics
  rdfm serve logs/ --grpc 0.0.0.0:9090 --tls-cert server.pem --tls-key key.pem

SIGHUP reads tokens and certificates again.

Exit status: 0 ended by SIGTERM or Ctrl-C, 1 a file cannot be read, 2 bad usage."""
F = TypeVar("F", bound=Callable[..., Any])


def _file_option(name: str, help: str, group: str = "Access") -> Callable[[F], F]:
    """Return a decorator that adds an option whose value is a file name."""
    return option(name, group=group, type=click.Path(readable=False), help=help)


@click.command(
    "serve",
    cls=GroupedCommand,
    epilog=_EPILOG,
    short_help="Serve logs as live streams over gRPC and HTTP.",
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
    help="HOST:PORT or PORT for gRPC; 127.0.0.1:9090 by default. Other machines can connect only if HOST is not 127.0.0.1.",
)
@option(
    "--http",
    group="Address",
    metavar="ADDRESS",
    help="HOST:PORT or PORT for HTTP. Then gRPC is served only with --grpc.",
)
@_file_option("--tls-cert", "Server certificate with its chain, as a PEM file.", "Address")
@_file_option("--tls-key", "Private key of the certificate, as a PEM file.", "Address")
@option("--insecure", group="Address", is_flag=True, help="Serve other machines without TLS.")
@option("--gzip", group="Address", is_flag=True, help="Compress responses over gRPC.")
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
    "--allow-host",
    group="HTTP",
    multiple=True,
    metavar="NAME",
    help="Host name of the server, besides localhost and IP addresses; may be repeated.",
)
@option(
    "--cors",
    group="HTTP",
    multiple=True,
    metavar="ORIGIN",
    help="Origin whose pages may read the topics; may be repeated.",
)
@option(
    "--root-path",
    group="HTTP",
    metavar="PATH",
    help="Path prefix of all URLs, behind a reverse proxy.",
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
@_file_option("--read-token-file", "File with the token for subscribers (or $RDFM_READ_TOKEN).")
@option("--allow-publish", group="Access", is_flag=True, help="Accept messages. Requires a token.")
@_file_option(
    "--publish-token-file", "File with the token for publishers (or $RDFM_PUBLISH_TOKEN)."
)
@option(
    "--create-topics",
    group="Access",
    is_flag=True,
    help="Create missing topics when they are published to.",
)
@quiet_option()
def command(folder: str | None, quiet: bool, **options: Any) -> int:
    """Serve the logs in FOLDER over Jelly gRPC or HTTP, and accept messages for them over gRPC.

    Each log is a topic, named after its file without suffixes. Subscribers receive its messages
    from the first one on, and new messages as the log grows. Only this machine can connect, unless
    --grpc or --http names another host.
    """
    from rdfm.live.running import open_server
    from rdfm.live.topics import parse_topic

    signals.end_normally(signal.SIGTERM)  # also before the server has started
    topics = dict(map(parse_topic, options.pop("named")))
    with open_server(folder, topics, options, quiet=quiet) as server:
        _run(server)
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

"""`rdfm serve`: serve logs as live streams."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rdfm.cli.options import GroupedCommand, Number, option, quiet_option

if TYPE_CHECKING:
    from rdfm.exchange.serve.server import Server, ServerSettings

_EPILOG = """Examples:
  rdfm serve logs/
  rdfm serve --topic sensors=s.jelly --grpc 9090 --no-follow
  rdfm serve logs/ --allow-publish --publish-token-file token.txt --create-topics
  rdfm serve logs/ --grpc 0.0.0.0:9090 --tls-cert server.pem --tls-key key.pem

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
def command(folder: str | None, quiet: bool, **options: Any) -> int:
    """Serve the logs in FOLDER to subscribers over Jelly gRPC, and accept messages for them.

    Each log is a topic, named after its file without suffixes. Subscribers receive its messages
    from the first one on, and new messages as the log grows. Only this machine can connect, unless
    --grpc names another host.
    """
    from rdfm.errors import MissingExtraError

    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors are raised, not logged
    try:
        import grpc  # noqa: F401
        import grpc_health
        import grpc_reflection
    except ImportError as error:
        raise MissingExtraError("rdfm serve needs grpcio: pip install 'rdfm[grpc]'") from error
    del grpc_health, grpc_reflection
    from rdfm.exchange.serve.server import Server
    from rdfm.exchange.serve.topics import Topics, parse_topic

    settings = _settings(options)
    topics = Topics(
        folder,
        dict(map(parse_topic, options["named"])),
        options["default_topic"],
        creates=options["create_topics"],
    )
    server = Server(topics, settings)
    scheme = "grpc" if settings.tls is None else "grpcs"

    def report(server: Server) -> None:
        host = settings.address[0]
        displayed_host = f"[{host}]" if ":" in host else host
        count = topics.count()
        click.echo(
            f"rdfm: serving {count:,} {'topic' if count == 1 else 'topics'} on "
            f"{scheme}://{displayed_host}:{server.port}",
            err=True,
        )

    _run(server, None if quiet else report)
    return 0


def _run(server: Server, report: Any) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP."""
    import asyncio
    import signal

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            kind = getattr(signal, name, None)
            if kind is not None and signal.getsignal(kind) is not signal.SIG_IGN:
                loop.add_signal_handler(kind, _stop, stop)
        await server.run(stop, report or (lambda _: None))

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
    from rdfm.exchange.serve.memory import MAX_CLIENT_BYTES
    from rdfm.exchange.serve.server import ServerSettings, Tls, parse_address
    from rdfm.exchange.serve.service import Access

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
    read_token = _token(options["read_token_file"], _READ_VARIABLE)
    publish_token = None
    if options["allow_publish"]:
        publish_token = _token(options["publish_token_file"], _PUBLISH_VARIABLE)
    if options["allow_publish"] and publish_token is None:
        raise OptionError(
            f"--allow-publish needs a token; give --publish-token-file, or set {_PUBLISH_VARIABLE}"
        )
    tls = None
    if certificate is not None and key is not None:
        tls = Tls(certificate, key, authority)
    return ServerSettings(
        parse_address(options["grpc"]),
        tls,
        options["insecure"],
        Access(read_token, publish_token),
        options["follow"],
        options["from_end"],
        options["gzip"],
        options["max_streams"],
        MAX_CLIENT_BYTES.value(options["max_client_bytes"]),
    )


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

"""Serving logs: `serve`, and the server that `rdfm serve` runs.

In: a folder or logs, and the options of the command. Out: a running server.
Law: an option that needs another one is rejected before the server listens.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rdfm.errors import MissingExtraError, OptionError, spell_option
from rdfm.formats import OptionSpec
from rdfm.live.events import EventLog, LogFormat
from rdfm.logs.options import declare

if TYPE_CHECKING:
    from rdfm.live.access import Access
    from rdfm.live.server import Server
    from rdfm.live.tls import Tls

__all__ = ["open_server", "serve"]

PathName = str | os.PathLike[str]

# For the errors below; the command declares these options separately.
declare(
    OptionSpec("client_ca", "file", "Accept only clients with a certificate from these CAs."),
    OptionSpec("allow_publish", "switch", "Accept messages."),
    OptionSpec("publish_token_file", "file", "File with the token for publishers."),
    OptionSpec("http", help="HOST:PORT or PORT for HTTP."),
)

DEFAULT_ADDRESS = "127.0.0.1:9090"  # for gRPC

READ_VARIABLE = "RDFM_READ_TOKEN"
PUBLISH_VARIABLE = "RDFM_PUBLISH_TOKEN"
_MAX_TOKEN_BYTES = 1 << 16
_POLL_SECONDS = 0.1


def serve(
    folder: PathName | None = None,
    *,
    topic: Mapping[str, PathName] | None = None,
    default_topic: str | None = None,
    follow: bool = True,
    from_end: bool = False,
    grpc: str | int | None = None,
    http: str | int | None = None,
    tls_cert: PathName | None = None,
    tls_key: PathName | None = None,
    insecure: bool = False,
    gzip: bool = False,
    max_streams: int = 1000,
    max_client_bytes: int | str = "256M",
    allow_host: Sequence[str] = (),
    cors: Sequence[str] = (),
    root_path: str | None = None,
    metrics: str | int | None = None,
    log_format: LogFormat = "text",
    client_ca: PathName | None = None,
    read_token_file: PathName | None = None,
    allow_publish: bool = False,
    publish_token_file: PathName | None = None,
    create_topics: bool = False,
    quiet: bool = False,
    started: Callable[[int], None] | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Serve logs as live streams over gRPC, HTTP or both, until `stop` is set or Ctrl-C is pressed.

    Each log is a topic, named after its file without suffixes. Events are written to standard
    error.

    Args:
        folder: Folder of logs.
        topic: Further logs, by the names of their topics.
        default_topic: Topic to serve under the empty name.
        follow: Whether subscriptions continue as logs grow, or end at the end of the log.
        from_end: Send new messages only.
        grpc: "HOST:PORT" or a port for gRPC; port 0 selects a free one. Other machines can connect
            only if the host is not a loopback address. Defaults to "127.0.0.1:9090" unless `http`
            is given.
        http: "HOST:PORT" or a port for HTTP. Needs the extra `rdfm[http]`.
        tls_cert: Server certificate with its chain, as a PEM file.
        tls_key: Private key of the certificate, as a PEM file.
        insecure: Serve other machines without TLS.
        gzip: Compress responses over gRPC. HTTP clients choose the compression.
        max_streams: Maximum number of simultaneous calls.
        max_client_bytes: Maximum size of the frames buffered for a connection, in bytes.
        allow_host: Host names under which HTTP clients may reach the server, besides `localhost`
            and IP addresses; "*" allows any.
        cors: Origins whose pages may read the topics over HTTP, such as "https://example.org"; "*"
            allows any.
        root_path: Path prefix of all HTTP URLs, such as "/logs", behind a reverse proxy.
        metrics: "HOST:PORT" or a port at which to serve metrics for Prometheus over HTTP.
        log_format: Format of the events, "text" or "json".
        client_ca: Accept only clients with a certificate from these CAs, a PEM file.
        read_token_file: File with the token for subscribers. Defaults to the environment variable
            RDFM_READ_TOKEN.
        allow_publish: Accept messages. Requires a token.
        publish_token_file: File with the token for publishers. Defaults to the environment variable
            RDFM_PUBLISH_TOKEN.
        create_topics: Create missing topics when they are published to.
        quiet: Write only errors.
        started: Called with the port of the server when it accepts calls: that for gRPC, or that
            for HTTP if only HTTP is served.
        stop: An event that ends the server, for servers in a thread. The open calls are then ended.

    Raises:
        OptionError: If there is nothing to serve, options cannot be combined, an address is in use,
            or a TLS file is invalid.
        OSError: If a file cannot be read.
        MissingExtraError: If grpcio, or starlette and uvicorn, are not installed.
    """
    options = {
        "default_topic": default_topic,
        "follow": follow,
        "from_end": from_end,
        "grpc": None if grpc is None else str(grpc),
        "http": None if http is None else str(http),
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "insecure": insecure,
        "gzip": gzip,
        "max_streams": max_streams,
        "max_client_bytes": max_client_bytes,
        "allow_host": allow_host,
        "cors": cors,
        "root_path": root_path,
        "metrics": None if metrics is None else str(metrics),
        "log_format": log_format,
        "client_ca": client_ca,
        "read_token_file": read_token_file,
        "allow_publish": allow_publish,
        "publish_token_file": publish_token_file,
        "create_topics": create_topics,
    }
    with open_server(folder, topic or {}, options, quiet=quiet) as server:
        asyncio.run(_run(server, started, stop))


async def _run(
    server: Server, started: Callable[[int], None] | None, stop: threading.Event | None
) -> None:
    """Run a server until an event of another thread is set."""
    ending = asyncio.Event()
    running = asyncio.create_task(
        server.run(ending, lambda server: None if started is None else started(server.port))
    )
    while not (running.done() or (stop is not None and stop.is_set())):
        await asyncio.wait([running], timeout=None if stop is None else _POLL_SECONDS)
    ending.set()
    await running


@contextlib.contextmanager
def open_server(
    folder: PathName | None,
    topics: Mapping[str, PathName],
    options: Mapping[str, Any],
    *,
    quiet: bool,
) -> Iterator[Server]:
    """Yield a server with its settings, which does not run yet. Closes its event log at the end.

    Raises:
        OptionError, OSError, MissingExtraError: As in `serve`.
    """
    from rdfm.live.addresses import parse_address
    from rdfm.live.memory import MAX_CLIENT_BYTES
    from rdfm.live.server import Server, ServerSettings
    from rdfm.live.topics import Topics
    from rdfm.live.web_settings import parse_web_settings

    grpc, http = options["grpc"], options["http"]
    if grpc is None and http is None:
        grpc = DEFAULT_ADDRESS
    if grpc is not None:
        _import_grpc()
    if http is not None:
        _import_http()
    for name in ("allow_host", "cors", "root_path"):
        if options[name] and http is None:
            raise OptionError(f"{spell_option(name)} needs {spell_option('http')}")
    settings = ServerSettings(
        grpc=None if grpc is None else parse_address(grpc),
        http=None if http is None else parse_address(http),
        web=parse_web_settings(options["allow_host"], options["cors"], options["root_path"]),
        metrics=None if options["metrics"] is None else parse_address(options["metrics"]),
        tls=_create_tls(options),
        insecure=options["insecure"],
        access=_create_access(options),
        load_access=lambda: _create_access(options),
        follow=options["follow"],
        from_end=options["from_end"],
        compress=options["gzip"],
        max_streams=options["max_streams"],
        max_client_bytes=MAX_CLIENT_BYTES.value(options["max_client_bytes"]),
    )
    served = Topics(folder, topics, options["default_topic"], creates=options["create_topics"])
    log = EventLog(sys.stderr, options["log_format"], errors_only=quiet)
    try:
        yield Server(served, settings, log)
    finally:
        log.close()


def _import_grpc() -> None:
    """Check that the packages for gRPC are installed."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors are raised, not logged
    try:
        import grpc
        import grpc_health
        import grpc_reflection
    except ImportError as error:
        raise MissingExtraError("serving logs needs grpcio: pip install 'rdfm[grpc]'") from error
    del grpc, grpc_health, grpc_reflection


def _import_http() -> None:
    """Check that the packages for HTTP are installed."""
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise MissingExtraError(
            "serving logs over HTTP needs starlette and uvicorn: pip install 'rdfm[http]'"
        ) from error
    del starlette, uvicorn


def _create_tls(options: Mapping[str, Any]) -> Tls | None:
    """Return the TLS files, or None.

    Raises:
        OptionError: If a file is missing.
    """
    from rdfm.live.tls import Tls

    certificate, key, authority = (
        None if options[name] is None else Path(options[name])
        for name in ("tls_cert", "tls_key", "client_ca")
    )
    if certificate is not None and key is not None:
        return Tls(certificate, key, authority)
    if certificate is not None or key is not None:
        raise OptionError(
            f"{spell_option('tls_cert')} and {spell_option('tls_key')} must be given together"
        )
    if authority is not None:
        raise OptionError(
            f"{spell_option('client_ca')} needs TLS; give {spell_option('tls_cert')} and {spell_option('tls_key')}"
        )
    return None


def _create_access(options: Mapping[str, Any]) -> Access:
    """Return the access rules, with tokens from files or the environment.

    Raises:
        OptionError: If publishers have no token, a token is invalid, or an option needs another.
        OSError: If a token file cannot be read.
    """
    from rdfm.live.access import Access

    read_token = _read_token(options["read_token_file"], READ_VARIABLE)
    if not options["allow_publish"]:
        for name in ("publish_token_file", "create_topics"):
            if options[name]:
                raise OptionError(f"{spell_option(name)} needs {spell_option('allow_publish')}")
        return Access(read_token)
    publish_token = _read_token(options["publish_token_file"], PUBLISH_VARIABLE)
    if publish_token is None:
        raise OptionError(
            f"{spell_option('allow_publish')} needs a token; give {spell_option('publish_token_file')}, or set {PUBLISH_VARIABLE}"
        )
    return Access(read_token, publish_token)


def _read_token(file: PathName | None, variable: str) -> str | None:
    """Return a token from a file or the environment; None if there is none.

    Raises:
        OptionError: If the token is empty or not printable ASCII.
        OSError: If the file cannot be read.
    """
    if file is not None:
        with Path(file).open("rb") as stream:
            text = stream.read(_MAX_TOKEN_BYTES).decode("latin-1").strip()
        source = os.fspath(file)
    else:
        variable_value = os.environ.get(variable)
        if variable_value is None:
            return None
        text, source = variable_value.strip(), variable
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise OptionError(f"{source} has no token; expected printable ASCII without spaces")
    return text

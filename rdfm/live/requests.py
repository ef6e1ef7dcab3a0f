"""The options of a response to a subscription.

In: the options that a client requests, and those of the log. Out: whether the stored frames satisfy
the request, and the options of an encoder whose frames satisfy it.
Law: no option of the response exceeds the requested one, according to the table in the section
"Stream options handling" of the specification.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rdfm.live.following import LogOptions
from rdfm.live.frames import JellyEncoder
from rdfm.storage.jelly_wire import StreamOptions

__all__ = ["MAX_TABLES", "LogOptions", "RequestError", "Response", "check_published", "respond"]

# Maximum sizes of the name, prefix and datatype tables in a response or a publication.
MAX_TABLES = (4096, 1024, 256)
_MIN_NAMES = 8
# The newest versions of responses and of publications.
_MAX_VERSION, _MAX_PUBLISHED_VERSION = 2, 3
_PHYSICAL = {1: "triples", 2: "quads", 3: "graphs"}
_LOGICAL = {0: "UNSPECIFIED", 1: "FLAT_TRIPLES", 2: "FLAT_QUADS", 3: "GRAPHS", 4: "DATASETS"}
_TRIPLES = 1


class RequestError(ValueError):
    """Raised if no stream can satisfy the options. The server answers with INVALID_ARGUMENT."""


class Response(NamedTuple):
    """Form of the response to a subscription.

    Attributes:
        stored: Whether the stored frames satisfy the request.
        encoder: Options of the Jelly encoder whose frames satisfy the request.
    """

    stored: bool
    encoder: dict[str, Any]

    @property
    def key(self) -> tuple[tuple[str, Any], ...]:
        """The options of the encoder in a form that can be compared and hashed."""
        return tuple(sorted(self.encoder.items()))

    @property
    def restarts(self) -> bool:
        """True: Jelly frames depend on the frames before them."""
        return True

    @property
    def base(self) -> str | None:
        """None: that of the file."""
        return None

    def create_encoder(self) -> JellyEncoder:
        """Return an encoder whose frames satisfy the request."""
        return JellyEncoder(self.encoder)


def respond(requested: StreamOptions | None, log: LogOptions) -> Response:
    """Determine how to answer a subscription.

    Args:
        requested: The requested options; None if the client accepts any.
        log: The properties of the log.

    Raises:
        RequestError: If the options are impossible.
    """
    if requested is not None:
        _check_satisfiable(requested)
    log_options = log.options
    physical = log_options.physical_type
    tables = tuple(
        map(
            min,
            (log_options.name_table, log_options.prefix_table, log_options.datatype_table),
            MAX_TABLES,
        )
    )
    version, name = log_options.version, log_options.stream_name
    generalized, rdf_star = log_options.generalized, log_options.rdf_star
    logical = log_options.logical_type
    if requested is not None:
        name = requested.stream_name or name
        physical = requested.physical_type or physical
        generalized = generalized and requested.generalized
        rdf_star = rdf_star and requested.rdf_star
        tables = tuple(
            map(
                min,
                (requested.name_table, requested.prefix_table, requested.datatype_table),
                MAX_TABLES,
            )
        )
        version = min(version, requested.version or version)
        logical = requested.logical_type or logical
    encoder = {
        "stream_name": name,
        "physical_type": _PHYSICAL[physical],
        "generalized": generalized,
        "rdf_star": rdf_star,
        "name_table": tables[0],
        "prefix_table": tables[1],
        "datatype_table": tables[2],
        "logical_type": _logical_type(logical, log_options.logical_type, physical),
        "jelly_version": version,
        "namespaces": version >= _MAX_VERSION,
        "frames": "message",
        "restart_bytes": 0,
    }
    return Response(log.stored and _satisfies(log_options, requested), encoder)


def check_published(options: StreamOptions) -> None:
    """Reject invalid options of a publication.

    Raises:
        RequestError: If an option is invalid, or a table exceeds its limit.
    """
    if options.physical_type not in _PHYSICAL:
        raise RequestError(f"physical type {options.physical_type} is unknown; expected 1 to 3")
    if not 1 <= options.version <= _MAX_PUBLISHED_VERSION:
        raise RequestError(
            f"version {options.version} is unknown; expected 1 to {_MAX_PUBLISHED_VERSION}"
        )
    sizes = (options.name_table, options.prefix_table, options.datatype_table)
    for name, size, limit in zip(("name", "prefix", "datatype"), sizes, MAX_TABLES, strict=True):
        if size > limit:
            raise RequestError(f"max_{name}_table_size is {size}; expected at most {limit}")
    _check_satisfiable(options)


def _check_satisfiable(requested: StreamOptions) -> None:
    """Reject options that no stream can satisfy.

    Raises:
        RequestError: If the options are impossible.
    """
    if requested.physical_type not in (0, *_PHYSICAL):
        raise RequestError(f"physical type {requested.physical_type} is unknown; expected 0 to 3")
    if requested.name_table < _MIN_NAMES:
        raise RequestError(
            f"max_name_table_size is {requested.name_table}; expected {_MIN_NAMES} or more"
        )
    if requested.version > _MAX_PUBLISHED_VERSION:
        raise RequestError(
            f"version {requested.version} is unknown; expected 1 to {_MAX_PUBLISHED_VERSION}, "
            "or 0 (any)"
        )
    base = requested.logical_type % 10
    if base not in _LOGICAL:
        raise RequestError(f"logical type {requested.logical_type} is unknown")
    physical = requested.physical_type
    if physical and base and (physical == _TRIPLES) != (base in (1, 3)):
        raise RequestError(
            f"logical type {_LOGICAL[base]} is not possible with physical type "
            f"{_PHYSICAL[physical].upper()}"
        )


def _satisfies(own: StreamOptions, requested: StreamOptions | None) -> bool:
    """Whether a stream with the options of the log satisfies a request."""
    if requested is None:
        return True
    names, prefixes, datatypes = MAX_TABLES
    return (
        requested.physical_type in (0, own.physical_type)
        and own.generalized <= requested.generalized
        and own.rdf_star <= requested.rdf_star
        and own.name_table <= min(requested.name_table, names)
        and own.prefix_table <= min(requested.prefix_table, prefixes)
        and own.datatype_table <= min(requested.datatype_table, datatypes)
        and own.version <= (requested.version or own.version)
    )


def _logical_type(requested_type: int, own_type: int, physical: int) -> int:
    """Return the logical type of an encoded stream.

    A flat log remains flat, because its frames are parts of one message. The frames of other logs
    are messages with separate blank nodes, so these logs never become flat. A requested subtype,
    such as SUBJECT_GRAPHS, is used only if the log has it; otherwise its base type is used.
    """
    triples = physical == _TRIPLES
    if own_type % 10 in (1, 2):
        return 1 if triples else 2
    if requested_type % 10 != (3 if triples else 4):
        return 0
    return requested_type if requested_type == own_type else requested_type % 10

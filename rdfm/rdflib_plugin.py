"""rdflib plug-ins for rdfm's formats: `graph.parse(path, format="rdfm-jelly")`.

In: arguments of rdflib's plug-in interface. Out: rdflib graphs, or bytes.
Law: blank nodes of different messages stay distinct. A graph is written as one message.

Format names: rdfm-nt, rdfm-nq, rdfm-ttl, rdfm-trig and rdfm-jelly (entry points of the package).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any, ClassVar

from rdflib import BNode, Graph
from rdflib.parser import InputSource, Parser
from rdflib.serializer import Serializer

from rdfm.interop import from_rdflib, rdflib_graph_name, rdflib_term
from rdfm.logs.read.reader import open_log
from rdfm.logs.write.writer import create_log

__all__ = [
    "JellyParser",
    "JellySerializer",
    "NQuadsParser",
    "NQuadsSerializer",
    "NTriplesParser",
    "NTriplesSerializer",
    "TriGParser",
    "TriGSerializer",
    "TurtleParser",
    "TurtleSerializer",
]


class _Parser(Parser):
    """Reads a log into a graph or dataset."""

    format: ClassVar[str]

    def parse(self, source: InputSource, sink: Graph, **options: Any) -> None:
        """Read all messages into `sink`. The options are those of the format's decoder."""
        stream: Any = source.getByteStream()
        if stream is None:
            text: Any = source.getCharacterStream()
            stream = text.read().encode()
        options.pop("encoding", None)
        if self.format in ("ttl", "trig"):
            options.setdefault("base", source.getPublicId() or source.getSystemId())
        message = None
        with open_log(stream, self.format, **options) as log:
            for message in log:
                convert = rdflib_term(_fresh_bnodes())
                for quad in message:
                    triple = (convert(quad.subject), convert(quad.predicate), convert(quad.object))
                    graph = sink
                    if quad.graph is not None:
                        graph = Graph(
                            store=sink.store, identifier=rdflib_graph_name(quad.graph, convert)
                        )
                    graph.add(triple)
        if message is not None:
            for name, iri in message.namespaces.items():
                sink.bind(name, iri)


def _fresh_bnodes() -> Callable[[str], BNode]:
    """Return a function that maps each label of one message to a new blank node."""
    known: dict[str, BNode] = {}

    def bnode(label: str) -> BNode:
        if label not in known:
            known[label] = BNode()
        return known[label]

    return bnode


class _Serializer(Serializer):
    """Writes a graph or dataset as a log of one message."""

    format: ClassVar[str]

    def serialize(
        self,
        stream: IO[bytes],
        base: str | None = None,
        encoding: str | None = None,
        **options: Any,
    ) -> None:
        """Write the graph with options of the format's encoder.

        `base` and `encoding` are ignored.
        """
        with create_log(stream, self.format, **options) as log:  # type: ignore[call-overload]  # any writer
            log.write(from_rdflib(self.store))


class NTriplesParser(_Parser):
    """Reads N-Triples logs."""

    format = "nt"


class NQuadsParser(_Parser):
    """Reads N-Quads logs."""

    format = "nq"


class TurtleParser(_Parser):
    """Reads Turtle logs."""

    format = "ttl"


class TriGParser(_Parser):
    """Reads TriG logs."""

    format = "trig"


class JellyParser(_Parser):
    """Reads Jelly logs."""

    format = "jelly"


class NTriplesSerializer(_Serializer):
    """Writes N-Triples logs."""

    format = "nt"


class NQuadsSerializer(_Serializer):
    """Writes N-Quads logs."""

    format = "nq"


class TurtleSerializer(_Serializer):
    """Writes Turtle logs."""

    format = "ttl"


class TriGSerializer(_Serializer):
    """Writes TriG logs."""

    format = "trig"


class JellySerializer(_Serializer):
    """Writes Jelly logs."""

    format = "jelly"

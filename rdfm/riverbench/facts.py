"""The triples of a small RDF file, by subject and predicate."""

from __future__ import annotations

import os

from rdfm._core import Iri, Literal, MessageBatch, Quad, Term
from rdfm.logs.read.reader import open_log
from rdfm.riverbench.names import PREFIXES

__all__ = ["RDF_TYPE", "Facts", "iri"]

RDF_TYPE = Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def iri(name: str) -> Iri:
    """Return the IRI of a prefixed name, such as `rb:Dataset`."""
    prefix, _, local = name.partition(":")
    return Iri(PREFIXES[prefix] + local)


class Facts:
    """The triples of a file, without graph names.

    Attributes:
        source: Name of the file.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        """Read a file of one message.

        Raises:
            RdfmError, OSError: As in `open_log`.
        """
        self.source = os.fspath(file)
        self._objects: dict[tuple[Term, Term], dict[Term, None]] = {}
        self._subjects: dict[tuple[Term, Term], list[Term]] = {}
        self._predicates: dict[Term, dict[Term, None]] = {}
        with open_log(file) as log:
            for message in log:
                for quad in message:
                    s, p, o = quad.subject, quad.predicate, quad.object
                    found = self._objects.setdefault((s, p), {})
                    if o not in found:
                        found[o] = None
                        self._subjects.setdefault((p, o), []).append(s)
                        self._predicates.setdefault(s, {})[p] = None

    def graph(self) -> MessageBatch:
        """Return the triples as one message."""
        triples = [
            Quad(subject, predicate, each)
            for (subject, predicate), found in self._objects.items()
            for each in found
        ]
        return MessageBatch.from_messages([triples])

    def objects(self, subject: Term, predicate: str) -> list[Term]:
        """Return the objects of a subject and a predicate (a prefixed name)."""
        return list(self._objects.get((subject, iri(predicate)), ()))

    def objects_of(self, subject: Term, predicate: Term) -> list[Term]:
        """Return the objects of a subject and a predicate."""
        return list(self._objects.get((subject, predicate), ()))

    def types(self, subject: Term) -> list[Term]:
        """Return the classes of a subject."""
        return list(self._objects.get((subject, RDF_TYPE), ()))

    def instances(self, name: str) -> list[Term]:
        """Return the instances of a class (a prefixed name)."""
        return self._subjects.get((RDF_TYPE, iri(name)), [])

    def subjects(self, predicate: str) -> list[Term]:
        """Return the subjects of a predicate."""
        wanted = iri(predicate)
        return [subject for subject, found in self._predicates.items() if wanted in found]

    def value(self, subject: Term, predicate: str) -> Term | None:
        """Return the only object of a subject and predicate; `None` if there is not exactly one."""
        found = self.objects(subject, predicate)
        return found[0] if len(found) == 1 else None

    def text(self, subject: Term, predicate: str) -> str | None:
        """Return the only object as text: an IRI, or a lexical form."""
        found = self.value(subject, predicate)
        return found.value if isinstance(found, (Iri, Literal)) else None

    def number(self, subject: Term, predicate: str) -> float | None:
        """Return the only object as a number: an integer if it is written as one."""
        text = self.text(subject, predicate)
        if text is None:
            return None
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            return None

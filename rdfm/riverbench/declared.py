"""Properties that a dataset declares because they cannot be inferred, such as its stream type.

In: options, and the metadata file of a dataset's source. Out: its triples (`Facts`) and `Declared`,
with the rules for messages.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rdfm._core import Iri, Literal, MessageBatch, Quad, StreamRules, Term
from rdfm.errors import DecodeError, OptionError, Remedy, spell_option
from rdfm.logs.read.reader import open_log
from rdfm.riverbench.names import PREFIXES, STREAM_TYPES, StreamType

__all__ = [
    "COMMENT",
    "RDF_TYPE",
    "Declared",
    "Facts",
    "declare",
    "declared_in",
    "iri",
    "stream_type_of",
]

RDF_TYPE = Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
COMMENT = Iri("http://www.w3.org/2000/01/rdf-schema#comment")
_SHACL = "http://www.w3.org/ns/shacl#"
_SHAPES = {
    f"{_SHACL}targetClass": "class",
    f"{_SHACL}targetSubjectsOf": "subjects-of",
    f"{_SHACL}targetObjectsOf": "objects-of",
}
_YAGO = PREFIXES["rb"] + "yagoTarget"
_TIMESTAMPED = "timestamped-named-graphs"


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


@dataclass(frozen=True)
class Declared:
    """The declared properties of a dataset.

    Attributes:
        stream_type: The grouped stream type.
        time_property: IRI of the property that gives the time of a named graph.
        subjects: Shapes that select the subject node of a message, as for `StreamRules`.
        rdf12: Whether triple terms and literals with a base direction are allowed.
        rdf_star: Whether triple terms are allowed only because the metadata declares RDF-star.
        generalized_triples: Whether generalized triples are allowed.
        generalized_graphs: Whether graph names may be literals.
        messages: Number of messages.
        source: The metadata file, if there is one.
        comments: Comments (rdfs:comment) on the use of a stream type, by its local name.
    """

    stream_type: StreamType
    time_property: str | None = None
    subjects: tuple[tuple[str, str], ...] = ()
    rdf12: bool = False
    rdf_star: bool = False
    generalized_triples: bool = False
    generalized_graphs: bool = False
    messages: int | None = None
    source: str | None = None
    comments: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)

    @property
    def generalized(self) -> bool:
        """Whether any generalized RDF is allowed."""
        return self.generalized_triples or self.generalized_graphs

    def rules(self) -> StreamRules:
        """Return the rules that each message must satisfy."""
        return StreamRules(
            self.stream_type.graphs,
            time=self.time_property,
            subjects=self.subjects,
            has_root=self.stream_type.name == "subject-graphs" and not self.subjects,
            generalized_triples=self.generalized_triples,
            generalized_graphs=self.generalized_graphs,
            rdf12=self.rdf12,
        )


def declare(
    *,
    stream_type: str | None,
    metadata: str | os.PathLike[str] | None,
    time_property: str | None,
    rdf12: bool,
    generalized: bool,
) -> Declared:
    """Return the declared properties of a dataset to package.

    Args:
        stream_type: Name of the stream type.
        metadata: The metadata file of the source.
        time_property: IRI of the time property.
        rdf12: Whether RDF 1.2 terms are allowed.
        generalized: Whether generalized RDF is allowed.

    Raises:
        OptionError: If the stream type is not given, or an option contradicts the file.
        RdfmError, OSError: If the file cannot be read.
    """
    facts = None if metadata is None else Facts(metadata)
    found = None if facts is None else declared_in(facts, dataset_in(facts))
    wanted = None if stream_type is None else STREAM_TYPES[stream_type]
    if wanted is None:
        if found is None:
            names = "|".join(STREAM_TYPES)
            raise OptionError(
                "the stream type is not given, and it cannot be inferred",
                remedies=[
                    Remedy("stage", "stream_type", names, "declares it"),
                    Remedy("stage", "metadata", "FILE", "reads it from the dataset's metadata"),
                ],
            )
        wanted = found.stream_type
    elif found is not None and found.stream_type is not wanted:
        raise OptionError(
            f"{spell_option('stream_type')} is {wanted.name}, but {found.source} declares "
            f"{found.stream_type.name}; omit {spell_option('stream_type')}, or correct the file"
        )
    time = time_property or (None if found is None else found.time_property)
    if time is not None:
        _check_iri(time)
    if wanted.name == _TIMESTAMPED and time is None:
        raise OptionError(
            f"messages of the stream type {_TIMESTAMPED} need a time property, which is not declared",
            remedies=[Remedy("stage", "time_property", "IRI", "declares it")],
        )
    if time_property is not None and wanted.graphs != "one":
        raise OptionError(
            f"{spell_option('time_property')} applies to streams of named graphs, not to {wanted.name}"
        )
    return Declared(
        wanted,
        time_property=time if wanted.graphs == "one" else None,
        subjects=() if found is None else found.subjects,
        rdf12=rdf12 or (found is not None and found.rdf12),
        rdf_star=not rdf12 and found is not None and found.rdf12,
        generalized_triples=generalized or (found is not None and found.generalized_triples),
        generalized_graphs=generalized or (found is not None and found.generalized_graphs),
        messages=None if found is None else found.messages,
        source=None if found is None else found.source,
        comments={} if found is None else found.comments,
    )


def dataset_in(facts: Facts) -> Term:
    """Return the dataset that a metadata file describes.

    Raises:
        DecodeError: If there is not exactly one dataset.
    """
    found = facts.instances("rb:Dataset")
    if len(found) != 1:
        raise DecodeError(
            f"describes {len(found) or 'no'} datasets (rb:Dataset), expected exactly one",
            source=facts.source,
        )
    return found[0]


def declared_in(facts: Facts, dataset: Term) -> Declared:
    """Return the properties that a metadata file declares.

    Raises:
        DecodeError: If the stream type is missing or unknown.
    """
    grouped, _, problem = stream_type_of(facts, dataset)
    if grouped is None:
        raise DecodeError(problem or "no grouped stream type", source=facts.source)

    def flag(name: str) -> bool:
        return facts.text(dataset, f"rb:{name}") in ("true", "1")

    times = [
        node
        for each in facts.subjects("rb:hasTemporalProperty")
        for node in facts.objects(each, "rb:hasTemporalProperty")
    ]
    count = facts.number(dataset, "rb:hasStreamElementCount")
    return Declared(
        grouped,
        time_property=times[0].value if times and isinstance(times[0], Iri) else None,
        subjects=tuple(_subject_shapes(facts)),
        rdf12=flag("usesRdfStar"),
        generalized_triples=flag("usesGeneralizedTriples"),
        generalized_graphs=flag("usesGeneralizedRdfDatasets"),
        messages=count if isinstance(count, int) else None,
        source=facts.source,
        comments={
            (facts.text(usage, "stax:hasStreamType") or "").removeprefix(PREFIXES["stax"]): tuple(
                facts.objects_of(usage, COMMENT)
            )
            for usage in facts.objects(dataset, "stax:hasStreamTypeUsage")
        },
    )


def stream_type_of(facts: Facts, node: Term) -> tuple[StreamType | None, str | None, str | None]:
    """Return the stream types of a dataset or distribution.

    Returns:
        The grouped type, the local name of the flat type, and a description of the error, if any.
    """
    by_local = {each.grouped: each for each in STREAM_TYPES.values()}
    flats = {each.flat for each in STREAM_TYPES.values()}
    grouped: StreamType | None = None
    flat = None
    for usage in facts.objects(node, "stax:hasStreamTypeUsage"):
        found = facts.text(usage, "stax:hasStreamType")
        local = (found or "").removeprefix(PREFIXES["stax"])
        if local in by_local and grouped is None:
            grouped = by_local[local]
        elif local in flats and flat is None:
            flat = local
        else:
            what = "no stax:hasStreamType" if found is None else f"the stream type {found}"
            return (
                grouped,
                flat,
                f"a stream type usage has {what}, expected one grouped and one flat type",
            )
    if grouped is None and flat is None:
        return None, None, "no stream type is declared (stax:hasStreamTypeUsage)"
    if grouped is not None and flat is not None and grouped.flat != flat:
        return (
            grouped,
            flat,
            f"the flat stream type of {grouped.grouped} is {grouped.flat}, not {flat}",
        )
    problem = "no grouped stream type is declared" if grouped is None else None
    return grouped, flat, problem


def _subject_shapes(facts: Facts) -> list[tuple[str, str]]:
    shapes: dict[tuple[str, str], None] = {}
    for split in facts.subjects("rb:hasSubjectShape"):
        for shape in facts.objects(split, "rb:hasSubjectShape"):
            for predicate, kind in _SHAPES.items():
                for target in facts.objects_of(shape, Iri(predicate)):
                    shapes[(kind, _value(target))] = None
            for target in facts.objects(shape, "rb:targetCustom"):
                if _value(target) != _YAGO:
                    raise DecodeError(
                        f"the subject shape has the unknown target {target}, expected {iri('rb:yagoTarget')}",
                        source=facts.source,
                    )
                shapes[("quoted-subjects", _YAGO)] = None
    return list(shapes)


def _value(term: Any) -> str:
    return str(term.value)


def _check_iri(text: str) -> None:
    if ":" not in text or any(ord(c) <= 32 or c in '<>"{}|^`\\' for c in text):
        raise OptionError(
            f"{spell_option('time_property')} is '{text[:40]}', expected an absolute IRI such as "
            "http://www.w3.org/ns/prov#generatedAtTime"
        )

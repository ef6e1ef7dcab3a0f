"""Reads the documents of `jsonld_documents` with rdfm, and lists known errors of other readers.

Each difference is a predicate on a document and both outcomes. Its docstring quotes the deciding
sentence of https://www.w3.org/TR/json-ld11-api/ with its section and step, and describes the other
reader. If a difference names PyLD and jsonld.js, the description of PyLD applies to both, because
PyLD is a port of jsonld.js.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import jsonld_reference as reference
from jsonld_documents import BASE, DOCUMENTS, document
from nquads import isomorphic, map_terms
from support import quads_of

import rdfm
from rdfm import formats

XSD_DOUBLE = "http://www.w3.org/2001/XMLSchema#double"


@dataclass
class Outcome:
    """The result of reading a document: quads, or an error and its code in the specification."""

    quads: list[tuple] | None
    error: str = ""
    code: str | None = None
    header: dict[str, Any] | None = None


def rdfm_reads(text: str, direction: str, *, lenient: bool = True) -> Outcome:
    decoder = formats.find("jsonld").Decoder(lenient=lenient, base=BASE, rdf_direction=direction)
    decoder.feed(text.encode())
    decoder.finish()
    try:
        batch = decoder.next_batch()
    except rdfm.DecodeError as error:
        # The last code belongs to the outermost error.
        codes = re.findall(r"\(JSON-LD: ([^)]*)\)", str(error))
        return Outcome(None, str(error), codes[-1] if codes else None)
    quads = [] if batch is None or not len(batch) else quads_of(batch, 0)
    return Outcome(quads, header=decoder.header())


def well_formed(quads: list[tuple]) -> list[tuple]:
    """Returns the quads that are well-formed. JSON-LD drops the others, but PyLD keeps them."""

    def is_well_formed(term: tuple | None) -> bool:
        if term is None or term[0] == "bnode":
            return True
        if term[0] == "iri":
            return bool(reference.WELL_FORMED.fullmatch(term[1]))
        tag = term[2] is None or reference.LANGUAGE.fullmatch(term[2])
        return bool(tag and reference.WELL_FORMED.fullmatch(term[4]))

    return [quad for quad in quads if all(map(is_well_formed, quad))]


def normalized(quads: list[tuple]) -> list[tuple]:
    """Returns the quads with lowercase language tags, and doubles with 16 digits, as in PyLD.

    Strings that look like doubles are changed as well.
    """

    def normal(term: tuple) -> tuple:
        if term[0] != "literal":
            return term
        _, text, language, direction, datatype = term
        if datatype == XSD_DOUBLE or re.fullmatch(r"-?[0-9]\.[0-9]+E-?[0-9]+", text):
            with suppress(ValueError):  # PyLD keeps a string that is not a number
                text = f"{float(text):.15E}"
        if datatype.startswith(reference.I18N):
            datatype = datatype.lower()
        return ("literal", text, language and language.lower(), direction, datatype)

    return [map_terms(quad, normal) for quad in quads]


def without_false_protected(value: Any, *, context: bool = False) -> Any:
    """Returns the document without "@protected": false in contexts.

    False is the default, but PyLD rejects it.
    """
    if isinstance(value, list):
        return [without_false_protected(item, context=context) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_false_protected(inner, context=key == "@context")
        for key, inner in value.items()
        if not (context and key == "@protected" and inner is False)
    }


def describe(name: object, document: Any, *outcomes: Any) -> str:
    """Returns the failure message: the document and the outcomes."""
    return "\n".join([f"document {name}:", json.dumps(document), *map(str, outcomes)])


def rdf_direction(direction: str) -> str | None:
    return None if direction == "none" else direction


def is_undetermined(text: str, direction: str) -> bool:
    return bool(reference.read(text, base=BASE, direction=rdf_direction(direction)).open)


def batches() -> list[range]:
    """Returns ranges of document numbers. A peer reads the documents of a range at once."""
    return [range(at, min(at + 500, DOCUMENTS)) for at in range(0, DOCUMENTS, 500)]


def compare(reader: str, numbers: range, read: Callable[[list], list[Outcome]]) -> None:
    """Asserts that a peer reads the same quads as rdfm and rejects the same documents."""
    documents = [document(number) for number in numbers]
    outcomes = read(documents)
    for number, content, theirs in zip(numbers, documents, outcomes, strict=True):
        text = json.dumps(content)
        ours = rdfm_reads(text, "none")
        if both_read(ours, theirs):
            agree = isomorphic(normalized(ours.quads), theirs.quads)
        else:
            agree = ours.quads is None and theirs.quads is None
        if not agree:
            known = explained(reader, content, ours, theirs) or is_undetermined(text, "none")
            assert known, describe(number, content, ours, theirs)


# Known differences in other readers


def maps(value: Any, within: str = "") -> Iterator[tuple[str, dict]]:
    """Yields each map with the key that contains it, or with "@context" inside contexts."""
    if isinstance(value, list):
        for item in value:
            yield from maps(item, within)
    elif isinstance(value, dict):
        yield within, value
        for key, inner in value.items():
            yield from maps(inner, "@context" if key == "@context" else key)


def contexts(document: Any) -> list[dict]:
    return [found for within, found in maps(document) if within == "@context"]


def definitions(document: Any) -> list[tuple[str, dict]]:
    """Returns the terms that are defined by a map, with these maps."""
    return [
        (term, definition)
        for context in contexts(document)
        for term, definition in context.items()
        if isinstance(definition, dict) and term != "@context"
    ]


def bodies(document: Any) -> list[dict]:
    """Returns the maps that are neither contexts nor definitions, nor inside them."""
    excluded = {id(context) for context in contexts(document)}
    excluded |= {id(definition) for _, definition in definitions(document)}
    return [found for _, found in maps(document) if id(found) not in excluded]


def containers(definition: dict) -> list:
    found = definition.get("@container", [])
    return found if isinstance(found, list) else [found]


def leaves(value: Any) -> Iterator[Any]:
    """Yields each scalar and each key of the document."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def strings(document: Any) -> list[str]:
    return [leaf for leaf in leaves(document) if isinstance(leaf, str)]


def numbers(document: Any) -> list[float]:
    return [leaf for leaf in leaves(document) if isinstance(leaf, (int, float))]


def values_at(document: Any, *names: str) -> list:
    return [body[name] for body in bodies(document) for name in names if name in body]


Predicate = Callable[[Any, Outcome, Outcome], bool]
DIFFERENCES: list[tuple[tuple[str, ...], Predicate]] = []
BOTH = ("PyLD", "jsonld.js")


def difference(*readers: str) -> Callable[[Predicate], Predicate]:
    """Registers a known difference for these readers."""

    def add(decide: Predicate) -> Predicate:
        DIFFERENCES.append((readers, decide))
        return decide

    return add


def explained(reader: str, document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """Whether a known difference of the reader explains these outcomes."""
    return any(
        decide(document, ours, theirs) for readers, decide in DIFFERENCES if reader in readers
    )


def both_read(ours: Outcome, theirs: Outcome) -> bool:
    return ours.quads is not None and theirs.quads is not None


@difference(*BOTH)
def arrays_in_lists_are_flat(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 5.2.2: "If the container mapping of active property includes @list, and expanded
    item is an array, set expanded item to a new map containing the entry @list". PyLD also does
    so in @list.
    """

    def contains_array(value: Any) -> bool:
        items = value if isinstance(value, list) else [value]
        return any(
            isinstance(item, list) or (isinstance(item, dict) and "@set" in item) for item in items
        )

    return both_read(ours, theirs) and any(map(contains_array, values_at(document, "@list")))


@difference(*BOTH)
def contexts_of_reverse_terms(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.13: "If the term definition associated to key indicates that it is a reverse
    property". PyLD looks the definition up in the context of the value.
    """
    return any(
        "@context" in definition
        and ("@reverse" in definition or any(name == term for name, _ in definitions(definition)))
        for term, definition in definitions(document)
    )


@difference(*BOTH)
def json_before_maps(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.6 and 13.7: "type mapping of @json", then "Otherwise, if container mapping includes
    @language", and so on. PyLD checks the container first.
    """
    maps_of = {"@language", "@index", "@id", "@type"}
    return any(
        definition.get("@type") == "@json"
        and not maps_of.isdisjoint(map(str, containers(definition)))
        for _, definition in definitions(document)
    )


@difference(*BOTH)
def contexts_and_types_in_nests(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 14.2.2: "Recursively repeat steps 3, 8, 13, and 14", without 9 and 11: neither an
    embedded context nor a type affects the terms of a nested value.
    """
    nested = [value for _, value in maps(values_at(document, "@nest", "nest"))]
    return any(not {"@context", "@type", "type"}.isdisjoint(value) for value in nested)


@difference(*BOTH)
def keywords_without_effect(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.4.3 to 13.4.15 assign no value to other keywords. PyLD keeps them as entries."""
    names = "@base @container @import @none @prefix @propagate @protected @version @vocab @json"
    return any(not {*names.split()}.isdisjoint(body) for body in bodies(document))


@difference(*BOTH)
def contexts_of_type_map_keys(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.8.3.2: "update map context", separately for each key. PyLD keeps the context of the
    previous key.
    """
    typed = {
        term for term, definition in definitions(document) if "@type" in containers(definition)
    }
    return both_read(ours, theirs) and any(
        term in typed and isinstance(value, dict) and len(value) > 1
        for body in bodies(document)
        for term, value in body.items()
    )


@difference(*BOTH)
def null_contexts_of_types(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.1.2, 5.1.2: "if propagate is false, previous context in result to the previous value of
    result". In PyLD a type-scoped context that is null also applies to nested nodes.
    """
    return any(
        definition.get("@context", ()) is None or None in as_list(definition.get("@context", ()))
        for _, definition in definitions(document)
    )


@difference(*BOTH)
def free_floating_lists(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.4.11.1: "If active property is null or @graph, continue with the next key from
    element to remove the free-floating list", so that it cannot collide with other entries.
    """
    nested = [value for _, value in maps(values_at(document, "@nest", "nest"))]
    beside = any("@list" in body and len(body) > 1 for body in bodies(document))
    return beside or any("@list" in value for value in nested)


@difference(*BOTH)
def values_are_never_reverted(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 7: "does not contain an entry expanding to @value", regardless of the number of
    entries. Property-scoped contexts are looked up before the context is reverted.
    """
    not_propagated = any(context.get("@propagate") is False for context in contexts(document))
    scoped_contexts = any("@context" in definition for _, definition in definitions(document))
    return not_propagated or (
        scoped_contexts and any("@value" in body and len(body) > 2 for body in bodies(document))
    )


@difference(*BOTH)
def contexts_of_map_keys(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.8.3.4: "IRI expanding index" with the active context, not with the context of the
    term.
    """
    return any(
        "@context" in definition
        and {*map(str, containers(definition))} & {"@id", "@type", "@index", "@language"}
        for _, definition in definitions(document)
    )


@difference(*BOTH)
def values_of_other_directions(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """7.2.2, 4.1.2: "Two maps are considered equal if they have equivalent map entries". PyLD does
    not compare @direction.
    """
    directed = [
        body["@value"] for body in bodies(document) if {"@direction", "@value"} <= body.keys()
    ]
    scalars = list(leaves(document))
    return both_read(ours, theirs) and any(scalars.count(value) > 1 for value in directed)


@difference(*BOTH)
def types_without_an_iri(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.1.2, 1.3.2.1: "unless type is not well-formed". Null is not well-formed; it is the type
    of a term that is mapped to null or has the form of a keyword.
    """
    pyld_fails = "startswith" in theirs.error or "indexOf" in theirs.error
    if not (theirs.code == "invalid type value" or pyld_fails):
        return False
    names = [name for value in values_at(document, "@type", "type") for name in as_list(value)]
    nulls = {
        term for context in contexts(document) for term in context if maps_to_null(context[term])
    }
    return any(name in nulls or str(name).startswith("@") for name in names)


def maps_to_null(definition: Any) -> bool:
    return definition is None or (
        isinstance(definition, dict) and definition.get("@id", "") is None
    )


def as_list(value: Any) -> list:
    return value if isinstance(value, list) else [value]


@difference(*BOTH)
def included_blocks(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.4.6.2: "passing active context, null for active property". A free-floating item is
    removed from an array, and leaves nothing if it is the only value.
    """
    blocks = values_at(document, "@included")
    if ours.code == "invalid @included value":
        return any(isinstance(block, dict) for block in blocks)
    items = [item for block in blocks for item in as_list(block)]
    return theirs.code == "invalid @included value" and any(
        not isinstance(item, dict)
        or not {*item}.isdisjoint({"@id", "id", "@set", "@value", "value"})
        for item in items
    )


@difference(*BOTH)
def directions_beside_types(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 23: "If value contains the entry @direction and does not contain the entry @type"."""
    rejected = theirs.code in ("invalid base direction", "invalid scoped context")
    return (rejected or both_read(ours, theirs)) and any(
        "@direction" in definition and "@type" in definition
        for _, definition in definitions(document)
    )


@difference(*BOTH)
def scalar_graphs(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 4.1: "If active property is null or @graph, drop the free-floating scalar". PyLD
    raises an error with its own code.
    """
    return theirs.code == "invalid @graph value"


DEFINITION_CODES = {
    "cyclic IRI mapping", "invalid @nest value", "invalid @prefix value", "invalid IRI mapping",
    "invalid base direction", "invalid container mapping", "invalid language mapping",
    "invalid reverse property", "invalid scoped context", "invalid term definition",
    "invalid type mapping", "keyword redefinition", "protected term redefinition",
}  # fmt: skip


@difference(*BOTH)
def steps_of_create_term_definition(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2: PyLD performs steps 12 to 26 in another order. For a definition with two
    errors, its code is different, or missing if the type causes a TypeError.
    """
    wrong = ours.code in DEFINITION_CODES
    type_error = "expected string or bytes-like object" in theirs.error
    return wrong and (theirs.code in DEFINITION_CODES or type_error)


@difference(*BOTH)
def cycles_of_terms_like_keywords(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 14.2.2: "has the form of a keyword, return", which ends the definition of the term.
    PyLD considers the definition unfinished and reports a cycle.
    """
    return theirs.code == "cyclic IRI mapping" and '"@foo"' in json.dumps(document)


@difference(*BOTH)
def graphs_by_index_and_by_id(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 19.1: "an array containing @graph and either @id or @index optionally including
    @set".
    """
    return ours.code in ("invalid container mapping", "invalid scoped context") and any(
        {"@id", "@index"} <= {*map(str, containers(definition))}
        for _, definition in definitions(document)
    )


@difference(*BOTH)
def invalid_language_tags(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.2.2, 7: "If item has an @language entry which is not well-formed, return null", for
    every form of directions.
    """

    def tags(quad: tuple) -> list[str]:
        if quad[1][1] == f"{reference.RDF}language":
            return [quad[2][1]]
        datatype = quad[2][4] if quad[2][0] == "literal" else ""
        if datatype.startswith(reference.I18N):
            return [datatype.removeprefix(reference.I18N).partition("_")[0] or "x"]
        return []

    return both_read(ours, theirs) and any(
        not reference.LANGUAGE.fullmatch(tag) for quad in theirs.quads for tag in tags(quad)
    )


@difference(*BOTH, "Jena")
def vocabularies_without_an_iri(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.1.2, 5.8.3: "If it is not an IRI, or a blank node identifier, an invalid vocab mapping
    error has been detected". PyLD accepts any string.
    """
    return ours.code in ("invalid vocab mapping", "invalid scoped context") and any(
        isinstance(context.get("@vocab"), str) and ":" not in context["@vocab"]
        for context in contexts(document)
    )


@difference(*BOTH)
def defined_keywords(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 4 and 5: "value MUST be a map with only either or both of" @container and
    @protected, and "term MUST NOT be a keyword". PyLD accepts an @id in such a map, does not
    recognize @prefix, and interprets a @context entry of a context as a context.
    """
    rejected = ours.code in DEFINITION_CODES
    return ours.quads is None and any(
        "@context" in context or (rejected and ("@prefix" in context or "@type" in context))
        for context in contexts(document)
    )


@difference(*BOTH, "Jena")
def protected_is_a_boolean(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 11: "If the value of @protected is not a boolean, an invalid @protected value
    error has been detected". PyLD uses the truth value that the value has in Python.
    """
    found = [context for context in contexts(document)] + [
        definition for _, definition in definitions(document)
    ]
    return ours.code in ("invalid @protected value", "invalid scoped context") and any(
        not isinstance(definition.get("@protected", True), bool) for definition in found
    )


FALSY_VALUES = (None, False, 0, "", [], {}, [[]], [None])


@difference(*BOTH)
def values_that_are_false_in_python(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """The specification has error codes for values of the wrong type. PyLD ignores such values if
    they are null, false, zero or empty.
    """
    wrong = {
        "invalid value object value": "@value",
        "invalid container mapping": "@container",
        "invalid base direction": "@direction",
        "invalid type value": "@type",
        "invalid language-tagged string": "@language",
        "colliding keywords": "@graph",
        "invalid local context": "@context",
        "invalid scoped context": "@container",
    }
    name = wrong.get(ours.code or "")
    if ours.code == "invalid value object" and [] in values_at(document, "@value", "value"):
        return True
    return any(name in found and found[name] in FALSY_VALUES for _, found in maps(document))


@difference(*BOTH)
def contexts_are_processed_in_order(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.1.2, 5: "For each item context in local context". PyLD loads all contexts and flattens
    nested arrays before it processes the first.
    """
    has_other_contexts = any(
        not (value is None or isinstance(value, dict))
        for _, found in maps(document)
        for value in as_list(found.get("@context"))
    )
    loading = (None, "invalid local context", "loading remote context failed")
    return has_other_contexts and ours.quads is None and theirs.code in loading


@difference(*BOTH)
def graphs_in_values(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 15.1: "The result must not contain any entries other than @direction, @index,
    @language, @type, and @value". An empty @graph is also such an entry.
    """
    return ours.code == "invalid value object" and any(
        {"@value", "@graph"} <= {*body} for body in bodies(document)
    )


@difference(*BOTH)
def aliases_as_identifiers(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.2.2, 4: "If active context has a term definition for value, and the associated IRI
    mapping is a keyword, return that keyword". This includes identifiers.
    """
    aliases = {
        term
        for context in contexts(document)
        for term, definition in context.items()
        if str(definition).startswith("@") or "'@id': '@" in str(definition)
    }
    strings = {
        value for _, found in maps(document) for item in found.values() for value in texts(item)
    }
    return both_read(ours, theirs) and not aliases.isdisjoint(strings)


def texts(value: Any) -> list[str]:
    return [item for item in as_list(value) if isinstance(item, str)]


@difference(*BOTH)
def scoped_bases_count_once(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 8: "If property-scoped context is defined, set active context to the result of the
    Context Processing algorithm". PyLD processes it twice, and so resolves a relative @base twice.
    """
    return both_read(ours, theirs) and any(
        isinstance(context.get("@base"), str) and ":" not in context["@base"]
        for _, definition in definitions(document)
        for context in contexts({"@context": definition.get("@context")})
    )


@difference(*BOTH)
def bases_are_resolved_against_bases(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.1.2, 5.7.5: "Otherwise, an invalid base IRI error has been detected", for example for a
    relative IRI if the base is null.
    """
    return ours.code in ("invalid base IRI", "invalid scoped context") and any(
        isinstance(context.get("@base"), str) and ":" not in context["@base"]
        for context in contexts(document)
    )


@difference(*BOTH)
def index_keys_are_iris(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 20.2: "If the result of IRI expanding that value is not an IRI, an invalid term
    definition has been detected". PyLD rejects only keywords.
    """
    return ours.code in ("invalid term definition", "invalid scoped context") and any(
        "@index" in definition for _, definition in definitions(document)
    )


@difference(*BOTH)
def identifiers_like_keywords(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.2.2, 2: "If value has the form of a keyword, return null". PyLD fails with a TypeError
    when it sorts such a subject.
    """
    return "'<' not supported" in theirs.error and '"@foo"' in json.dumps(document)


@difference(*BOTH)
def nests_like_keywords(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 24.2: "MUST be a string and MUST NOT be a keyword other than @nest". An empty
    string, or one that only has the form of a keyword, is allowed.
    """
    rejected = theirs.code == "invalid @nest value" or "IndexError" in theirs.error
    return rejected and any(
        str(definition.get("@nest", "x"))[:1] in ("", "@")
        for _, definition in definitions(document)
    )


@difference(*BOTH)
def indexes_of_a_node(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """7.2.2, 6.8: "If node already has an @index entry with a different value". PyLD fails with a
    TypeError if the values are equal.
    """
    return "string indices must be integers" in theirs.error


@difference("jsonld.js")
def values_in_graphs(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.12.1: "Convert ev into a graph object by creating a map containing the
    key-value pair @graph-ev", even if ev is a value, so that the graph is empty. jsonld.js
    creates no graph.
    """
    return both_read(ours, theirs) and any(
        "@graph" in containers(definition) for _, definition in definitions(document)
    )


@difference("jsonld.js")
def strings_of_doubles(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.2.2, 10: "value is a number and datatype equals xsd:double". jsonld.js also converts
    strings that are not numbers.
    """
    return both_read(ours, theirs) and XSD_DOUBLE in json.dumps(document)


@difference("jsonld.js")
def blank_nodes_with_prefixes(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 14.2.5: "or a blank node identifier, set the prefix flag in definition to true".
    jsonld.js does not relabel such a node, and accepts it as a datatype.
    """
    datatype = ours.code == "invalid type mapping" and theirs.quads is not None
    return (datatype or both_read(ours, theirs)) and any(
        str(value).startswith("_:") for context in contexts(document) for value in context.values()
    )


@difference("jsonld.js")
def numbers_close_to_zero(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.2.2, 10: "a number with a non-zero fractional part", for example 1e-7. jsonld.js writes
    0.
    """
    return both_read(ours, theirs) and any(0 < abs(number) < 1e-6 for number in numbers(document))


@difference("jsonld.js")
def empty_bases(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.1.2, 5.7.4: "the result of resolving value against the current base IRI". For an empty
    value this is the base itself, but jsonld.js removes its last segment. A keyword is a path
    like any other.
    """
    return both_read(ours, theirs) and any(
        str(context.get("@base", "x"))[:1] in ("", "@") for context in contexts(document)
    )


@difference("jsonld.js")
def subjects_like_keywords(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.1.2, 1.3.1: "If subject is not well-formed, continue". Null is not well-formed, but
    jsonld.js creates a blank node.
    """
    return both_read(ours, theirs) and "@foo" in strings(document)


@difference(*BOTH)
def types_of_values(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 15.5: "if the result has an @type entry and its value is not an IRI, an invalid typed
    value error has been detected". Neither arrays nor null are IRIs. A string in the form of a
    keyword becomes null.
    """
    found = values_at(document, "@type", "type")
    not_iris = any(isinstance(value, list) or str(value).startswith("@") for value in found)
    return ours.code == "invalid typed value" and not_iris


@difference(*BOTH)
def false_prefix_flags(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 25.3: "If the prefix flag of definition is set to true, and its IRI mapping is a
    keyword, an invalid term definition has been detected". PyLD also rejects such a
    definition if the flag is false.
    """
    return theirs.code in ("invalid term definition", "invalid scoped context") and any(
        definition.get("@prefix") is False for _, definition in definitions(document)
    )


@difference("jsonld.js")
def contexts_of_nests(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 14.2.2 (an erratum): "Steps 3 and 8 may update the active context based on a
    property-scoped context associated with nesting-key". jsonld.js uses the context only for its
    terms.
    """
    return both_read(ours, theirs) and any(
        definition.get("@id") == "@nest" and "@context" in definition
        for _, definition in definitions(document)
    )


# Jena, which uses Titanium JSON-LD


@difference("Jena")
def large_integers(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.2.2, 10: "or an absolute value greater or equal to 10^21". Jena keeps an integer."""
    return both_read(ours, theirs) and any(abs(number) >= 10**21 for number in numbers(document))


@difference("Jena")
def numbers_in_json(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.2.2, 8: "the canonical lexical form" of RFC 8785, for example -7 and 1e-7. Jena writes
    -7e00 and 0.0000001.
    """
    has_special_numbers = any(number < 0 or 0 < number < 1e-6 for number in numbers(document))
    return both_read(ours, theirs) and has_special_numbers and "@json" in strings(document)


@difference("Jena")
def iris_with_spaces(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.1: "Implementations MUST generate only well-formed triples". Jena resolves a string that
    cannot be an IRI to the base itself.
    """
    in_context = theirs.quads is None and "invalid base IRI" in theirs.error
    return (both_read(ours, theirs) or in_context) and any(
        " " in text for text in strings(document)
    )


@difference("Jena")
def graphs_without_content(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 4.1 and 19: "drop the free-floating scalar", and "set result to null" for an empty
    map. Jena fails if nothing remains.
    """
    has_scalar = any(
        not isinstance(value, list) for value in values_at(document, "@graph", "graph")
    )
    return theirs.quads is None and theirs.code is None and has_scalar


@difference("Jena")
def terms_without_an_iri(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 14.2.3: "If the resulting IRI mapping is neither a keyword, nor an IRI, nor a
    blank node identifier, an invalid IRI mapping error has been detected". Jena accepts any
    string.
    """
    codes = ("invalid IRI mapping", "invalid scoped context", "cyclic IRI mapping")
    mapped = [
        value.get("@id", value.get("@reverse")) if isinstance(value, dict) else value
        for context in contexts(document)
        for value in context.values()
    ]
    return ours.code in codes and any(isinstance(iri, str) and ":" not in iri for iri in mapped)


@difference("Jena")
def reversed_blank_nodes(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 13.4: "does not have the form of an IRI or a blank node identifier". Jena rejects
    blank nodes.
    """
    return theirs.quads is None and any(
        str(definition.get("@reverse")).startswith("_:") for _, definition in definitions(document)
    )


@difference("Jena")
def iris_with_only_a_scheme(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.1: "An IRI is well-formed if it matches the ABNF for IRI". `ex:` matches, with an empty
    path.
    """
    return both_read(ours, theirs) and "ex:" in strings(document)


@difference("Jena")
def reverse_terms_beside_reverse(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.4.2: "If result already has an expanded property entry". An earlier reverse term
    also creates one. Key order is not significant, so only the keys themselves collide.
    """
    return theirs.code == "COLLIDING_KEYWORDS" and "@reverse" in strings(document)


@difference("Jena")
def terms_with_the_form_of_keywords(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """4.2.2, 14.2.2: "has the form of a keyword, return", which ends the definition of the
    term. 5.2.2, 2: "return null", which Jena cannot represent as a type.
    """
    jena_fails = (
        theirs.code == "CYCLIC_IRI_MAPPING" or "JsonObjects name/value pair" in theirs.error
    )
    return (jena_fails or both_read(ours, theirs)) and "@foo" in strings(document)


@difference("Jena")
def languages_of_one_letter(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """8.1: "any language tag is well-formed according to section 2.2.9 of [BCP47]". rdfm uses the
    grammar of the RDF formats, in which a tag may begin with a single letter.
    """
    return both_read(ours, theirs) and any(
        quad[2][0] == "literal" and re.match("[A-Za-z](-|$)", quad[2][2] or "")
        for quad in ours.quads
    )


@difference("Jena")
def types_in_nests(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 13.4.4.5: "If result already has an entry for @type, prepend the value of @type in
    result to expanded value". Jena keeps only one of them.
    """
    nested = [value for _, value in maps(values_at(document, "@nest", "nest"))]
    return both_read(ours, theirs) and any(
        not {"@type", "type"}.isdisjoint(nested_map) for nested_map in nested
    )


@difference("Jena")
def equal_indexes(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """7.2.2, 6.8: "If node already has an @index entry with a different value". Jena also
    rejects the same value.
    """
    return theirs.code == "CONFLICTING_INDEXES"


@difference("Jena")
def scalars_in_scoped_contexts(document: Any, ours: Outcome, theirs: Outcome) -> bool:
    """5.1.2, 4.2 does not mention "override protected". In 8, it is "true" for the same context and
    property. Jena rejects some contexts of a scalar, although it accepts them for a node.
    """
    codes = ("PROTECTED_TERM_REDEFINITION", "INVALID_CONTEXT_NULLIFICATION")
    return theirs.code in codes and any(
        "@context" in definition for _, definition in definitions(document)
    )

"""Random JSON-LD documents, read by rdfm, by the algorithms of the specification, and by PyLD.

RDFM_JSONLD_DOCUMENTS is the number of documents; `make soak` reads 100,000. RDFM_JSONLD_CORPUS is a
folder with NDJSON-LD files from fuzzing, whose lines are also read.
"""

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonld_reference as reference
import pytest
from jsonld_documents import BASE, DOCUMENTS, direction_of, document
from jsonld_reading import (
    DEFINITION_CODES,
    Outcome,
    both_read,
    describe,
    explained,
    is_undetermined,
    normalized,
    rdf_direction,
    rdfm_reads,
    well_formed,
    without_false_protected,
)
from nquads import isomorphic
from pyld import jsonld
from pyld.context_resolver import ContextResolver

PARTS = 20
CORPUS = os.environ.get("RDFM_JSONLD_CORPUS")


class ForgivingContext(dict):
    """An active context of PyLD that allows the deletion of missing keys."""

    def __delitem__(self, key: Any) -> None:
        self.pop(key, None)


class PyLD(jsonld.JsonLdProcessor):
    """PyLD with fixes for bugs that would hide most other differences.

    Without these fixes, null for @vocab, @language or @direction causes a KeyError if none is set.
    Each new context removes the base direction, and a relative @base is not resolved against the
    document's base.
    """

    def _clone_active_context(self, active_ctx: Any) -> Any:
        child = ForgivingContext(super()._clone_active_context(active_ctx))
        child["processingMode"] = "json-ld-1.1"
        if "@direction" in active_ctx:
            child["@direction"] = active_ctx["@direction"]
        return child

    def _get_initial_context(self, options: Any) -> Any:
        return jsonld.freeze({**super()._get_initial_context(options), "@base": options["base"]})


def reject_loading(url: str, options: Any) -> Any:
    raise jsonld.JsonLdError(
        f"loading is disabled: {url}", "rdfm.NoLoader", code="loading document failed"
    )


def pyld_reads(text: str, direction: str) -> Outcome:
    options = {
        "base": BASE,
        "processingMode": "json-ld-1.1",
        "documentLoader": reject_loading,
        "contextResolver": ContextResolver({}, reject_loading),
        "rdfDirection": None if direction == "none" else direction,
    }
    parsed = without_false_protected(json.loads(text))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # terms with the form of a keyword
        try:
            return Outcome(normalized(well_formed(tuples(PyLD().to_rdf(parsed, options)))))
        except jsonld.JsonLdError as error:
            return error_outcome(error)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            return Outcome(None, f"PyLD fails: {error!r}")


def error_outcome(error: BaseException | None) -> Outcome:
    """Returns the first error code in the chain of causes of a JsonLdError."""
    text = str(error)
    while error is not None:
        if not isinstance(error, jsonld.JsonLdError):
            return Outcome(None, f"PyLD fails: {error!r}")
        if error.code:
            return Outcome(None, text, error.code)
        error = error.__cause__ or error.__context__
    return Outcome(None, text)


def tuples(dataset: dict) -> list[tuple]:
    """Returns the quads of a PyLD dataset, without those whose object PyLD dropped (None)."""

    def term(node: dict) -> tuple:
        if node["type"] == "blank node":
            return ("bnode", node["value"][2:])
        if node["type"] == "IRI":
            return ("iri", node["value"])
        return ("literal", node["value"], node.get("language"), None, node["datatype"])

    quads = []
    for name, triples in dataset.items():
        graph = None
        if name != "@default":
            graph = ("bnode", name[2:]) if name.startswith("_:") else ("iri", name)
        for triple in triples:
            if triple["object"] is not None:
                parts = (triple["subject"], triple["predicate"], triple["object"])
                quads.append((*map(term, parts), graph))
    return quads


# --- tests ---


def numbers(part: int) -> range:
    return range(part, DOCUMENTS, PARTS)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_dataset_follows_the_specification(part):
    """For an invalid document, the error code belongs to one of its errors."""
    undetermined = 0
    for number in numbers(part):
        text = json.dumps(document(number))
        undetermined += not is_read_as_specified(number, text, direction_of(number))
    assert undetermined <= 3 + 0.1 * len(numbers(part))


def is_read_as_specified(name: object, text: str, direction: str) -> bool:
    """Asserts that rdfm reads a document as the reference does.

    Returns False if the specification does not determine the result.
    """
    expected = reference.read(text, base=BASE, direction=rdf_direction(direction))
    if expected.open:
        return False
    found = rdfm_reads(text, direction)
    description = describe(name, json.loads(text), found, expected)
    if expected.errors:
        assert found.quads is None, description
        # The reference creates node maps only for documents without other errors.
        assert found.code in {*expected.errors, "conflicting indexes"}, description
        return True
    assert found.quads is not None, description
    assert isomorphic(found.quads, expected.quads), description
    assert found.header.get("dropped_keys", 0) == len(expected.dropped), description
    if expected.dropped:
        assert found.header["dropped_key"] in map(repr, expected.dropped), description
    return True


def corpus_documents(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields the lines that are JSON objects or arrays without repeated keys, with file names."""
    for path in sorted(folder.iterdir()):
        for line in path.read_bytes().splitlines():
            try:
                text = line.decode()
                pairs = json.loads(text, object_pairs_hook=without_repeated_keys)
                text.encode("utf-16")  # raises an error for a lone surrogate
            except (ValueError, RecursionError):
                continue
            if isinstance(pairs, dict | list):
                yield path.name, text


def without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


@pytest.mark.skipif(CORPUS is None, reason="RDFM_JSONLD_CORPUS is not set")
def test_the_fuzzing_corpus_is_read_as_specified():
    documents = list(corpus_documents(Path(CORPUS)))
    assert documents
    for at, (name, text) in enumerate(documents):
        is_read_as_specified(name, text, direction_of(at))


@pytest.mark.parametrize("part", range(PARTS))
def test_dropped_data_is_an_error_unless_lenient(part):
    for number in numbers(part):
        value, direction = document(number), direction_of(number)
        text = json.dumps(value)
        expected = reference.read(text, base=BASE, direction=rdf_direction(direction))
        if expected.open or expected.errors:
            continue
        found = rdfm_reads(text, direction, lenient=False)
        description = describe(number, value, found, expected)
        if found.quads is None:
            assert "lenient" in found.error, description
            assert expected.omitted or expected.ill_formed, description
        else:
            assert not expected.omitted, description
            assert isomorphic(found.quads, expected.quads), description


@pytest.mark.parametrize("part", range(PARTS))
def test_pyld_reads_the_same_datasets(part):
    for number in numbers(part):
        value, direction = document(number), direction_of(number)
        text = json.dumps(value)
        ours, theirs = rdfm_reads(text, direction), pyld_reads(text, direction)
        if not agree(text, direction, ours, theirs):
            known = explained("PyLD", value, ours, theirs) or is_undetermined(text, direction)
            assert known, describe(number, value, ours, theirs)


def agree(text: str, direction: str, ours: Outcome, theirs: Outcome) -> bool:
    """Whether both read the same dataset, or both report an error that the document contains."""
    if both_read(ours, theirs):
        return isomorphic(normalized(ours.quads), theirs.quads)
    if ours.quads is not None or theirs.quads is not None:
        return False
    if ours.code == theirs.code:
        return True
    errors = reference.read(text, base=BASE, direction=rdf_direction(direction)).errors
    if errors & DEFINITION_CODES:
        errors = errors | DEFINITION_CODES  # PyLD checks definitions in another order
    return {ours.code, theirs.code} <= errors

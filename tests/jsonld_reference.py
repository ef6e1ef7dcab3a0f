"""A simple, slow, literal implementation of JSON-LD 1.1 to RDF, used to check expected results.

Each function implements an algorithm of https://www.w3.org/TR/json-ld11-api/, and its comments are
the step numbers. This module shares no code with rdfm. Errata that the W3C test suite covers are
applied, and a comment marks them.

Quads are tuples as in `nquads`. `Result.omitted` lists data that the algorithms drop because it is
not well-formed. `Result.ill_formed` also lists ill-formed data that they may keep because it
produces no triple. `Result.dropped` lists keys without an IRI. If the specification does not
determine the meaning of a document, so that readers may differ, `Result.open` names the question.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

from nquads import DIR_LANG_STRING, LANG_STRING, XSD_STRING

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
I18N = "https://www.w3.org/ns/i18n#"


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = words(
    "@base @container @context @direction @graph @id @import @included @index @json @language @list"
    " @nest @none @prefix @propagate @protected @reverse @set @type @value @version @vocab"
)
NODE_AND_VALUE_KEYWORDS = words(
    "@direction @graph @id @included @index @language @list @reverse @set @type @value"
)
CONTEXT_KEYWORDS = words("@base @direction @import @language @propagate @protected @version @vocab")
UNSET: Any = type("Unset", (), {"__repr__": lambda _: "UNSET"})()
MAX_REMOTE_CONTEXTS = 32
# Stands for an identifier that is a term mapped to null, and is therefore omitted intentionally.
OMITTED = "null"

_PCT = "%[0-9A-Fa-f]{2}"
_UCS = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U000efffd"
_UNRESERVED = f"[A-Za-z0-9._~{_UCS}-]"
_SUB = "[!$&'()*+,;=]"
_PCHAR = f"(?:{_UNRESERVED}|{_PCT}|{_SUB}|[:@])"
_QUERY = f"(?:{_PCHAR}|[/?\ue000-\uf8ff\U000f0000-\U0010fffd])*"
_HOST = rf"(?:\[[0-9A-Fa-f:.v]+\]|(?:{_UNRESERVED}|{_PCT}|{_SUB})*)"
WELL_FORMED = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?://(?:(?:{_UNRESERVED}|{_PCT}|{_SUB}|:)*@)?{_HOST}(?::[0-9]*)?"
    rf"(?:/{_PCHAR}*)*|(?!//){_PCHAR}*(?:/{_PCHAR}*)*)(?:\?{_QUERY})?(?:#(?:{_PCHAR}|[/?])*)?"
)
HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
LOOKS_LIKE_A_KEYWORD = re.compile("@[A-Za-z]+")
LANGUAGE = re.compile("[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")


class JsonLdError(Exception):
    """An error that the specification defines. Its text is the error code."""


def check(condition: bool, code: str) -> None:
    if not condition:
        raise JsonLdError(code)


def is_iri(value: Any) -> bool:
    return isinstance(value, str) and bool(HAS_SCHEME.match(value))


def is_blank(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("_:")


def is_scalar(value: Any) -> bool:
    return isinstance(value, (str, bool, int, Decimal))


def as_list(value: Any) -> list:
    return value if isinstance(value, list) else [value]


def items_of(value: Any) -> list:
    """Returns the value as a list, which is empty for None."""
    return [] if value is None else as_list(value)


def is_keyword_like(value: str) -> bool:
    return bool(LOOKS_LIKE_A_KEYWORD.fullmatch(value))


def resolve(reference: str, base: str) -> str:
    """Resolves a reference as in section 5.2 of RFC 3986, strictly."""
    pattern = re.compile(
        r"(?:(?P<s>[^:/?#]+):)?(?://(?P<a>[^/?#]*))?(?P<p>[^?#]*)(?:\?(?P<q>[^#]*))?(?:\#(?P<f>.*))?",
        re.S,
    )
    r, b = pattern.fullmatch(reference), pattern.fullmatch(base)
    scheme, authority, path, query = b["s"], b["a"], b["p"], b["q"]
    if r["s"] is not None:
        scheme, authority, path, query = r["s"], r["a"], without_dots(r["p"]), r["q"]
    elif r["a"] is not None:
        authority, path, query = r["a"], without_dots(r["p"]), r["q"]
    elif r["p"] == "":
        query = query if r["q"] is None else r["q"]
    else:
        if r["p"].startswith("/"):
            path = r["p"]
        elif authority is not None and path == "":
            path = "/" + r["p"]
        else:
            path = path[: path.rfind("/") + 1] + r["p"]
        path, query = without_dots(path), r["q"]
    return (
        (f"{scheme}:" if scheme is not None else "")
        + (f"//{authority}" if authority is not None else "")
        + path
        + (f"?{query}" if query is not None else "")
        + (f"#{r['f']}" if r["f"] is not None else "")
    )


def without_dots(path: str) -> str:
    """Removes dot segments as in section 5.2.4 of RFC 3986."""
    output = ""
    while path:
        if path.startswith("../"):
            path = path[3:]
        elif path.startswith(("./", "/./")):
            path = path[2:]
        elif path == "/.":
            path = "/"
        elif path.startswith("/../") or path == "/..":
            path = "/" + path[4:]
            output = output[: output.rfind("/")] if "/" in output else ""
        elif path in (".", ".."):
            path = ""
        else:
            segment = re.match("/?[^/]*", path)[0]
            output, path = output + segment, path[len(segment) :]
    return output


@dataclass
class Term:
    """A term definition."""

    iri: str | None = None
    prefix: bool = False
    protected: bool = False
    reverse: bool = False
    base_url: str | None = None
    context: Any = UNSET
    container: tuple[str, ...] = ()
    direction: Any = UNSET
    index: str | None = None
    language: Any = UNSET
    nest: str | None = None
    type: str | None = None

    def is_same(self, other: "Term") -> bool:
        names = [item.name for item in fields(self) if item.name not in ("protected", "base_url")]
        return all(getattr(self, name) == getattr(other, name) for name in names)


@dataclass
class Context:
    """An active context."""

    original_base: str | None
    base: str | None
    terms: dict[str, Term] = field(default_factory=dict)
    vocab: str | None = None
    language: str | None = None
    direction: str | None = None
    previous: "Context | None" = None

    def clone(self) -> "Context":
        copy = Context(**{item.name: getattr(self, item.name) for item in fields(self)})
        copy.terms = dict(self.terms)
        return copy


@dataclass
class DefinitionState:
    """State while the terms of a local context are defined."""

    local: dict
    base_url: str | None
    protected: bool
    override: bool
    remote: tuple[str, ...]
    defined: dict[str, bool] = field(default_factory=dict)


@dataclass
class Result:
    """A document's dataset, or the codes of all its errors."""

    quads: list[tuple]
    errors: set[str]
    omitted: list[str]
    ill_formed: list[str]
    dropped: list[str]
    open: set[str]


class Processor:
    """The algorithms. `documents` contains the contexts that can be loaded.

    With `collect`, an error in an entry or item is recorded, and later entries and items are
    still read.
    """

    def __init__(self, documents: dict[str, Any] | None = None, collect: bool = False) -> None:
        self.documents = documents or {}
        self.collect = collect
        self.errors: set[str] = set()
        self.dropped: list[str] = []
        self.omitted: list[str] = []
        self.ill_formed: list[str] = []
        self.open: set[str] = set()

    @contextmanager
    def collecting(self) -> Iterator[None]:
        try:
            yield
        except JsonLdError as error:
            if not self.collect:
                raise
            self.errors.add(str(error))

    # 4.1.2 Context Processing Algorithm

    def process(
        self, active: Context, local: Any, base_url: str | None, *, remote: tuple[str, ...] = (),
        override: bool = False, propagate: bool = True, validate: bool = True,
    ) -> Context:  # fmt: skip
        result = active.clone()  # 1
        if isinstance(local, dict) and "@propagate" in local:  # 2
            propagate = local["@propagate"]
        if propagate is False and result.previous is None:  # 3
            result.previous = active
        for context in as_list(local):  # 4, 5
            with self.collecting():
                result = self.process_one(
                    result, context, base_url, remote, override, propagate, validate
                )
                continue
            break  # contexts after an invalid one are not checked
        return result

    def process_one(
        self, result: Context, context: Any, base_url: str | None, remote: tuple[str, ...],
        override: bool, propagate: Any, validate: bool,
    ) -> Context:  # fmt: skip
        if context is None:  # 5.1
            protected = any(term.protected for term in result.terms.values())
            check(override or not protected, "invalid context nullification")
            previous = result
            result = Context(previous.original_base, previous.original_base)
            if propagate is False:
                result.previous = previous.previous or previous
            return result
        if isinstance(context, str):  # 5.2
            check(is_iri(context) or base_url is not None, "loading document failed")
            url = context if is_iri(context) else resolve(context, base_url)
            if not validate and url in remote:
                return result
            check(url not in remote, "context overflow")
            check(len(remote) < MAX_REMOTE_CONTEXTS, "context overflow")
            loaded = self.load(url)
            return self.process(
                result, loaded, url, remote=(*remote, url), validate=validate, override=override
            )
        check(isinstance(context, dict), "invalid local context")  # 5.3
        self.define_all(result, context, base_url, remote, override)
        return result

    def record_ill_formed(self, iri: str | None) -> str | None:
        """Returns the IRI, and records it if it is not well-formed."""
        if not (is_blank(iri) or (iri is not None and WELL_FORMED.fullmatch(iri))):
            self.ill_formed.append(str(iri))
        return iri

    def context_iri(self, iri: str | None) -> str | None:
        """Returns the IRI, and records an open question if it is not well-formed."""
        if is_iri(iri) and not WELL_FORMED.fullmatch(iri):
            self.open.add("an IRI in a context that is not well-formed")
        return iri

    def load(self, url: str) -> Any:
        check(url in self.documents, "loading remote context failed")
        document = self.documents[url]
        check(isinstance(document, dict) and "@context" in document, "invalid remote context")
        return document["@context"]

    def define_all(
        self, result: Context, context: dict, base_url: str | None, remote: tuple[str, ...],
        override: bool,
    ) -> None:  # fmt: skip
        if "@version" in context:  # 5.5
            version = context["@version"]
            is_valid = isinstance(version, Decimal) and version == Decimal("1.1")
            check(is_valid, "invalid @version value")
        if "@import" in context:  # 5.6
            check(isinstance(context["@import"], str), "invalid @import value")
            loaded = self.load(resolve(context["@import"], base_url or ""))
            check(isinstance(loaded, dict), "invalid remote context")
            check("@import" not in loaded, "invalid context entry")
            context = {**loaded, **context}
        if "@base" in context and not remote:  # 5.7
            value = context["@base"]
            if value is None:
                result.base = None
            elif is_iri(value):
                result.base = self.context_iri(value)
            else:
                check(isinstance(value, str) and result.base is not None, "invalid base IRI")
                if is_blank(value):
                    self.open.add("an IRI in a context that is not well-formed")
                result.base = resolve(value, result.base)
        if "@vocab" in context:  # 5.8; accepts compact IRIs and terms, as the suite requires
            value = context["@vocab"]
            if value is not None:
                check(isinstance(value, str), "invalid vocab mapping")
                value = self.context_iri(self.expand_iri(result, value, relative=True))
                check(is_iri(value) or is_blank(value), "invalid vocab mapping")
            result.vocab = value
        if "@language" in context:  # 5.9
            value = context["@language"]
            check(value is None or isinstance(value, str), "invalid default language")
            result.language = value
        if "@direction" in context:  # 5.10
            value = context["@direction"]
            check(value in (None, "ltr", "rtl"), "invalid base direction")
            result.direction = value
        if "@propagate" in context:  # 5.11
            check(isinstance(context["@propagate"], bool), "invalid @propagate value")
        protected = context.get("@protected", False)
        check(isinstance(protected, bool), "invalid @protected value")
        defining = DefinitionState(context, base_url, protected, override, remote)  # 5.12
        for key in context:  # 5.13
            if key not in CONTEXT_KEYWORDS:
                with self.collecting():
                    self.define(result, key, defining)

    # 4.2.2 Create Term Definition

    def define(self, active: Context, term: str, defining: DefinitionState) -> None:
        defined = defining.defined
        if term in defined:  # 1
            check(defined[term], "cyclic IRI mapping")
            return
        check(term != "", "invalid term definition")  # 2
        defined[term] = False
        value = defining.local[term]  # 3
        if term == "@type":  # 4
            is_valid = (
                isinstance(value, dict) and value and not {*value} - {"@container", "@protected"}
            )
            check(is_valid and value.get("@container", "@set") == "@set", "keyword redefinition")
        else:  # 5
            check(term not in KEYWORDS, "keyword redefinition")
            if is_keyword_like(term):
                defined[term] = True
                return
        previous = active.terms.pop(term, None)  # 6
        simple = isinstance(value, str)  # 7, 8, 9
        value = {"@id": value} if value is None or simple else value
        check(isinstance(value, dict), "invalid term definition")
        definition = Term(protected=defining.protected)  # 10
        if "@protected" in value:  # 11
            check(isinstance(value["@protected"], bool), "invalid @protected value")
            definition.protected = value["@protected"]
        if "@type" in value:  # 12
            check(isinstance(value["@type"], str), "invalid type mapping")
            kind = self.context_iri(self.expand_iri(active, value["@type"], defining=defining))
            is_valid = kind in ("@id", "@json", "@none", "@vocab") or is_iri(kind)
            check(is_valid, "invalid type mapping")
            definition.type = kind
        if "@reverse" in value:  # 13
            if not self.define_reverse(active, definition, value, defining):
                defined[term] = True
                return
        elif "@id" in value and value["@id"] != term:  # 14
            if value["@id"] is not None and not self.define_id(
                active, term, definition, value["@id"], simple, defining
            ):
                defined[term] = True
                return
        elif ":" in term[1:]:  # 15
            prefix, suffix = term.split(":", 1) if term[0] != ":" else ("", "")
            if prefix in defining.local:
                self.define(active, prefix, defining)
            if prefix in active.terms and active.terms[prefix].iri is not None:
                definition.iri = active.terms[prefix].iri + suffix
            else:
                definition.iri = term
        elif "/" in term:  # 16
            definition.iri = self.expand_iri(active, term)
            check(is_iri(definition.iri), "invalid IRI mapping")
        elif term == "@type":  # 17
            definition.iri = "@type"
        else:  # 18
            check(active.vocab is not None, "invalid IRI mapping")
            definition.iri = self.context_iri(active.vocab + term)
        if "@container" in value and not definition.reverse:  # 19
            definition.container = container_of(value["@container"])
            if len({*definition.container}) < len(definition.container):
                self.open.add("a container that is listed twice")
            if "@type" in definition.container:
                definition.type = definition.type or "@id"
                check(definition.type in ("@id", "@vocab"), "invalid type mapping")
        if "@index" in value:  # 20
            index = value["@index"]
            is_valid = "@index" in definition.container and isinstance(index, str)
            check(is_valid, "invalid term definition")
            iri = self.context_iri(self.expand_iri(active, index, defining=defining))
            check(is_iri(iri), "invalid term definition")
            definition.index = index
        if "@context" in value:  # 21
            self.validate(active, value["@context"], defining)
            definition.context, definition.base_url = value["@context"], defining.base_url
        if "@language" in value and "@type" not in value:  # 22
            language = value["@language"]
            check(language is None or isinstance(language, str), "invalid language mapping")
            definition.language = language
        if "@direction" in value and "@type" not in value:  # 23
            check(value["@direction"] in (None, "ltr", "rtl"), "invalid base direction")
            definition.direction = value["@direction"]
        if "@nest" in value:  # 24
            nest = value["@nest"]
            is_valid = isinstance(nest, str) and (nest == "@nest" or nest not in KEYWORDS)
            check(is_valid, "invalid @nest value")
            definition.nest = nest
        if "@prefix" in value:  # 25
            check(":" not in term and "/" not in term, "invalid term definition")
            check(isinstance(value["@prefix"], bool), "invalid @prefix value")
            definition.prefix = value["@prefix"]
            keyword = definition.iri in KEYWORDS
            check(not (definition.prefix and keyword), "invalid term definition")
        known = (
            "@id @reverse @container @context @direction @index @language @nest @prefix @protected"
            " @type"
        )
        check(not {*value} - {*known.split()}, "invalid term definition")  # 26
        if not defining.override and previous is not None and previous.protected:  # 27
            check(definition.is_same(previous), "protected term redefinition")
            definition = previous
        active.terms[term] = definition  # 28
        defined[term] = True

    def validate(self, active: Context, context: Any, defining: DefinitionState) -> None:
        """Validates a scoped context (step 21.3)."""
        collect, self.collect = self.collect, False
        try:
            self.process(
                active,
                context,
                defining.base_url,
                remote=defining.remote,
                override=True,
                validate=False,
            )
        except JsonLdError as error:
            raise JsonLdError("invalid scoped context") from error
        finally:
            self.collect = collect

    def define_reverse(
        self, active: Context, definition: Term, value: dict, defining: DefinitionState
    ) -> bool:
        """Step 13, followed by step 19 (an erratum). Returns False if no term is defined."""
        check("@id" not in value and "@nest" not in value, "invalid reverse property")
        check(isinstance(value["@reverse"], str), "invalid IRI mapping")
        if is_keyword_like(value["@reverse"]):
            return False
        definition.iri = self.context_iri(
            self.expand_iri(active, value["@reverse"], defining=defining)
        )
        check(is_iri(definition.iri) or is_blank(definition.iri), "invalid IRI mapping")
        container = value.get("@container")
        if isinstance(container, list) and len(container) == 1 and isinstance(container[0], str):
            container = container[0]
        check(container in ("@set", "@index", None), "invalid reverse property")
        definition.container = (container,) if container else ()
        definition.reverse = True
        return True

    def define_id(
        self,
        active: Context,
        term: str,
        definition: Term,
        id_: Any,
        simple: bool,
        defining: DefinitionState,
    ) -> bool:
        """Step 14.2. Returns False if no term is defined."""
        check(isinstance(id_, str), "invalid IRI mapping")
        if id_ not in KEYWORDS and is_keyword_like(id_):
            return False
        iri = definition.iri = self.context_iri(self.expand_iri(active, id_, defining=defining))
        check(iri in KEYWORDS or is_iri(iri) or is_blank(iri), "invalid IRI mapping")
        check(iri != "@context", "invalid keyword alias")
        if ":" in term[1:-1] or "/" in term:
            defining.defined[term] = True
            check(self.expand_iri(active, term, defining=defining) == iri, "invalid IRI mapping")
        elif ":" not in term and simple and (iri[-1] in ":/?#[]@" or is_blank(iri)):
            definition.prefix = True
        return True

    # 5.2.2 IRI Expansion

    def expand_iri(
        self, active: Context, value: Any, *, relative: bool = False, vocab: bool = True,
        defining: DefinitionState | None = None,
    ) -> str | None:  # fmt: skip
        if value is None or value in KEYWORDS:  # 1
            return value
        if is_keyword_like(value):  # 2
            return None
        local = defining.local if defining else {}
        if (
            value in local and value not in CONTEXT_KEYWORDS and not defining.defined.get(value)
        ):  # 3
            self.define(active, value, defining)
        term = active.terms.get(value)
        if term and term.iri in KEYWORDS:  # 4
            return term.iri
        if vocab and term:  # 5
            return term.iri
        if ":" in value[1:]:  # 6
            prefix, suffix = value.split(":", 1) if value[0] != ":" else (None, "")
            if prefix == "_" or suffix.startswith("//"):
                return value
            if defining and prefix in defining.local and not defining.defined.get(prefix):
                self.define(active, prefix, defining)
            definition = active.terms.get(prefix)
            if definition and definition.iri is not None and definition.prefix:
                return definition.iri + suffix
            if is_iri(value):
                return value
        if vocab and active.vocab is not None:  # 7
            return active.vocab + value
        if relative and active.base is not None:  # 8
            return resolve(value, active.base)
        return value  # 9

    # 5.3.2 Value Expansion

    def expand_value(self, active: Context, property_: str | None, value: Any) -> dict:
        term = active.terms.get(property_) or Term()
        if term.type == "@id" and isinstance(value, str):  # 1
            id_ = self.expand_iri(active, value, relative=True, vocab=False)
            return {"@id": self.record_ill_formed(id_) or ""}
        if term.type == "@vocab" and isinstance(value, str):  # 2
            if value in active.terms and active.terms[value].iri is None:
                return {"@id": OMITTED}
            return {
                "@id": self.record_ill_formed(self.expand_iri(active, value, relative=True)) or ""
            }
        result = {"@value": value}  # 3
        if term.type not in (None, "@id", "@vocab", "@none"):  # 4
            result["@type"] = term.type
        elif isinstance(value, str):  # 5
            language = active.language if term.language is UNSET else term.language
            direction = active.direction if term.direction is UNSET else term.direction
            if language is not None:
                result["@language"] = language
            if direction is not None:
                result["@direction"] = direction
        return result

    # 5.1.2 Expansion Algorithm

    def expand(
        self, active: Context, property_: str | None, element: Any, base_url: str | None,
        from_map: bool = False,
    ) -> Any:  # fmt: skip
        if element is None:  # 1
            return None
        term = active.terms.get(property_) if property_ is not None else None
        scoped = UNSET if term is None else term.context  # 3
        if is_scalar(element):  # 4
            if property_ in (None, "@graph"):
                return None
            if scoped is not UNSET:
                active = self.process(active, scoped, term.base_url, override=True)
            return self.expand_value(active, property_, element)
        if isinstance(element, list):  # 5
            result = []
            for item in element:
                expanded = None
                with self.collecting():
                    expanded = self.expand(active, property_, item, base_url, from_map)
                if term and "@list" in term.container:
                    if isinstance(item, dict) and expanded is not None and "@set" in item:
                        self.open.add("@set in a list")
                    if isinstance(expanded, list):
                        expanded = {"@list": expanded}
                result.extend(items_of(expanded))
            return result
        if active.previous is not None and not from_map:  # 7
            found = [self.expand_iri(active, key) for key in element]
            if "@value" not in found and found != ["@id"]:
                active = active.previous
        if scoped is not UNSET:  # 8
            active = self.process(active, scoped, term.base_url, override=True)
        if "@context" in element:  # 9
            active = self.process(active, element["@context"], base_url)
        type_scoped = active  # 10
        types = [key for key in sorted(element) if self.expand_iri(active, key) == "@type"]
        for key in types:  # 11
            for name in sorted(name for name in as_list(element[key]) if isinstance(name, str)):
                definition = type_scoped.terms.get(name)
                if definition and definition.context is not UNSET:
                    active = self.process(
                        active, definition.context, definition.base_url, propagate=False
                    )
        result: dict[str, Any] = {}  # 12
        input_type = None
        if types and items_of(element[types[0]]):
            last = as_list(element[types[0]])[-1]
            input_type = self.expand_iri(active, last) if isinstance(last, str) else None
        seen: set[str] = set()
        dropped = len(self.dropped)
        self.expand_entries(  # 13, 14
            active, type_scoped, property_, element, base_url, input_type, result, seen
        )
        finished = self.finish(result, property_)
        if finished is None and len(self.dropped) > dropped and property_ not in (None, "@graph"):
            self.open.add("keys of a dropped value")
        return finished

    def expand_entries(
        self, active: Context, type_scoped: Context, property_: str | None, element: dict,
        base_url: str | None, input_type: str | None, result: dict, seen: set[str],
    ) -> None:  # fmt: skip
        """Steps 13 and 14."""
        nests = []
        for key in element:
            value = element[key]
            if key == "@context":  # 13.1
                continue
            expanded = self.expand_iri(active, key)  # 13.2
            if expanded is None or (":" not in expanded and expanded not in KEYWORDS):  # 13.3
                if not (key in active.terms and active.terms[key].iri is None):
                    self.dropped.append(key)
                continue
            with self.collecting():
                check(
                    property_ != "@reverse" or expanded not in KEYWORDS,
                    "invalid reverse property map",
                )
                if expanded in seen and expanded not in ("@included", "@type", "@nest"):
                    if expanded not in result:
                        self.open.add("a repeated keyword, once without a value")
                    with self.collecting():
                        raise JsonLdError("colliding keywords")
                if expanded in KEYWORDS:
                    seen.add(expanded)
                if expanded == "@list" and property_ in (None, "@graph") and len(element) > 1:
                    self.open.add("a free-floating list with other entries")
                if expanded == "@nest":
                    nests.append(key)
                elif expanded in NODE_AND_VALUE_KEYWORDS:
                    self.expand_keyword(
                        active,
                        type_scoped,
                        property_,
                        expanded,
                        value,
                        base_url,
                        input_type,
                        result,
                    )
                elif expanded in KEYWORDS:
                    self.dropped.append(key)  # a keyword without effect here
                else:
                    self.expand_property(active, key, expanded, value, base_url, result)
                continue
            # The key is present, even if its value is invalid.
            if property_ == "@reverse":
                continue
            if expanded not in KEYWORDS or expanded == "@included":
                result.setdefault(expanded, [])
            elif expanded not in ("@reverse", "@type"):
                result.setdefault(expanded, None)
        for key in nests:  # 14, with steps 3 and 8 of an erratum
            for nested in as_list(element[key]):
                with self.collecting():
                    check(isinstance(nested, dict), "invalid @nest value")
                    inner, term = active, active.terms.get(key)
                    if term and term.context is not UNSET:
                        inner = self.process(active, term.context, term.base_url, override=True)
                    values = any(self.expand_iri(inner, name) == "@value" for name in nested)
                    check(not values, "invalid @nest value")
                    self.expand_entries(
                        inner, type_scoped, property_, nested, base_url, input_type, result, seen
                    )

    def expand_keyword(
        self, active: Context, type_scoped: Context, property_: str | None, keyword: str, value: Any,
        base_url: str | None, input_type: str | None, result: dict,
    ) -> None:  # fmt: skip
        """Steps 13.4.3 to 13.4.13."""
        if keyword == "@id":  # 13.4.3
            check(isinstance(value, str), "invalid @id value")
            id_ = self.expand_iri(active, value, relative=True, vocab=False)
            result["@id"] = self.record_ill_formed(id_) or ""
        elif keyword == "@type":  # 13.4.4
            names = as_list(value)
            is_valid = all(isinstance(name, str) for name in names)
            check(is_valid, "invalid type value")
            found = [self.expand_iri(type_scoped, name, relative=True) for name in names]
            for at, name in enumerate(names):
                if name in type_scoped.terms and type_scoped.terms[name].iri is None:
                    continue  # intentionally null, so nothing is dropped
                found[at] = self.record_ill_formed(found[at]) or ""
            if "@type" in result:
                result["@type"] = as_list(result["@type"]) + found
            else:
                result["@type"] = found if isinstance(value, list) else found[0]
        elif keyword == "@graph":  # 13.4.5
            result["@graph"] = items_of(self.expand(active, "@graph", value, base_url))
        elif keyword == "@included":  # 13.4.6
            found: Any = UNSET
            with self.collecting():
                found = as_list(self.expand(active, None, value, base_url))
            if found is UNSET:  # an error, and possibly also a value
                names = [
                    self.expand_iri(active, name) for block in as_list(value) for name in block
                ]
                found = [dict.fromkeys(name for name in names if name is not None)]
            if value is None:
                self.open.add("null in @included")
            is_valid = all(
                isinstance(node, dict) and not {"@value", "@list", "@set"} & {*node}
                for node in found
            )
            check(is_valid, "invalid @included value")
            result["@included"] = result.get("@included", []) + found
        elif keyword == "@value":  # 13.4.7
            if input_type != "@json":
                check(value is None or is_scalar(value), "invalid value object value")
            result["@value"] = value
        elif keyword == "@language":  # 13.4.8
            check(isinstance(value, str), "invalid language-tagged string")
            result["@language"] = value
        elif keyword == "@direction":  # 13.4.9
            check(value in ("ltr", "rtl"), "invalid base direction")
            result["@direction"] = value
        elif keyword == "@index":  # 13.4.10
            check(isinstance(value, str), "invalid @index value")
            result["@index"] = value
        elif keyword == "@list":  # 13.4.11
            if property_ not in (None, "@graph"):
                found = self.expand(active, property_, value, base_url)
                if found is None:
                    self.open.add("null in @list or @set")
                result["@list"] = None if found is None else as_list(found)
        elif keyword == "@set":  # 13.4.12
            result["@set"] = self.expand(active, property_, value, base_url)
            if result["@set"] is None:
                self.open.add("null in @list or @set")
        elif keyword == "@reverse":  # 13.4.13
            check(isinstance(value, dict), "invalid @reverse value")
            found = self.expand(active, "@reverse", value, base_url)
            for name, items in found.pop("@reverse", {}).items():
                add(result, name, items)
            if found:
                result.setdefault("@reverse", {})
            for name, items in found.items():
                for item in items:
                    add_reverse(result, name, item)

    def expand_property(
        self, active: Context, key: str, iri: str, value: Any, base_url: str | None, result: dict
    ) -> None:
        """Steps 13.5 to 13.14."""
        if is_blank(iri) or not WELL_FORMED.fullmatch(iri):
            self.ill_formed.append(iri)
        term = active.terms.get(key) or Term()
        container = term.container  # 13.5
        if term.type == "@json":  # 13.6
            found: Any = {"@value": value, "@type": "@json"}
        elif "@language" in container and isinstance(value, dict):  # 13.7
            found = self.expand_language_map(active, term, value)
        elif {"@index", "@type", "@id"} & {*container} and isinstance(value, dict):  # 13.8
            found = self.expand_index_map(active, key, term, value, base_url)
        else:  # 13.9
            found = self.expand(active, key, value, base_url)
        if found is None:  # 13.10
            return
        if "@list" in container and not is_list(found):  # 13.11
            found = {"@list": as_list(found)}
        if "@graph" in container and not {"@id", "@index"} & {*container}:  # 13.12
            if any(is_list(item) for item in as_list(found)):
                self.open.add("a list as a graph")
            found = [{"@graph": as_list(item)} for item in as_list(found)]
        if term.reverse:  # 13.13
            result.setdefault("@reverse", {})
            for item in as_list(found):
                add_reverse(result, iri, item)
        else:  # 13.14
            add(result, iri, found)

    def expand_language_map(self, active: Context, term: Term, value: dict) -> list:
        """Step 13.7."""
        found = []
        direction = active.direction if term.direction is UNSET else term.direction
        for language in value:
            for item in as_list(value[language]):
                if item is None:
                    continue
                with self.collecting():
                    check(isinstance(item, str), "invalid language map value")
                value_object = {"@value": item, "@language": language}
                if self.expand_iri(active, language) == "@none":
                    del value_object["@language"]
                if direction is not None:
                    value_object["@direction"] = direction
                found.append(value_object)
        return found

    def expand_index_map(
        self, active: Context, key: str, term: Term, value: dict, base_url: str | None
    ) -> list:
        """Step 13.8."""
        found = []
        container = term.container
        index_key = "@index" if term.index is None else term.index
        for index in value:
            inner = active
            if {"@id", "@type"} & {*container} and active.previous is not None:
                # The "otherwise" of 13.8.3.3 may refer to 13.8.3.1 or to 13.8.3.2.
                inner = active.previous
                self.open.add("an id map or type map with a context that is not propagated")
            definition = inner.terms.get(index) if "@type" in container else None
            if definition and definition.context is not UNSET:
                inner = self.process(
                    inner, definition.context, definition.base_url, propagate=False
                )
            expanded = self.expand_iri(active, index)
            if {"@id", "@type"} & {*container} and expanded != "@none":
                relative = "@id" in container
                self.record_ill_formed(
                    self.expand_iri(active, index, relative=relative, vocab=not relative)
                )
            for item in self.expand(inner, key, as_list(value[index]), base_url, from_map=True):
                if not {"@value", "@list"}.isdisjoint(item):
                    if {"@id", "@type"} & {*container} or (
                        "@list" in item and index_key != "@index"
                    ):
                        self.open.add("a map of nodes with another value")
                    if "@graph" in container and "@list" in item:
                        self.open.add("a list as a graph")
                if "@graph" in container and not is_graph(item):
                    item = {"@graph": as_list(item)}
                if "@index" in container and index_key != "@index" and expanded != "@none":
                    reexpanded_key = self.expand_value(active, index_key, index)
                    name = self.expand_iri(active, index_key)
                    item[name] = [reexpanded_key, *item.get(name, [])]
                    with self.collecting():
                        check("@value" not in item, "invalid value object")
                elif "@index" in container:
                    if "@index" not in item and expanded != "@none":
                        item["@index"] = index
                elif "@id" in container:
                    if "@id" not in item and expanded != "@none":
                        id_ = self.expand_iri(active, index, relative=True, vocab=False)
                        item["@id"] = id_ or ""
                elif expanded != "@none":
                    item["@type"] = [expanded, *items_of(item.get("@type"))]
                found.append(item)
        return found

    def finish(self, result: dict, property_: str | None) -> Any:
        """Steps 15 to 20."""
        kind = result.get("@type")
        if "@value" in result:  # 15
            allowed = {"@direction", "@index", "@language", "@type", "@value"}
            check(not {*result} - allowed, "invalid value object")
            tagged = "@language" in result or "@direction" in result
            check(not (tagged and "@type" in result), "invalid value object")
            if kind != "@json":
                if result["@value"] is None:
                    return None
                is_string = isinstance(result["@value"], str)
                check(is_string or "@language" not in result, "invalid language-tagged value")
                is_valid = isinstance(kind, str) and WELL_FORMED.fullmatch(kind)
                check("@type" not in result or bool(is_valid), "invalid typed value")
        elif "@type" in result:  # 16
            if "@set" in result or "@list" in result:
                self.open.add("@type together with @set or @list")
            result["@type"] = as_list(kind)
        elif "@set" in result or "@list" in result:  # 17
            check(len({*result} - {"@index"}) == 1, "invalid set or list object")
            if "@set" in result:
                return result["@set"]
            if result["@list"] is None:
                return None
        if {*result} == {"@language"}:  # 18
            return None
        is_free_floating = (
            not result or "@value" in result or "@list" in result or {*result} == {"@id"}
        )
        return None if is_free_floating and property_ in (None, "@graph") else result  # 19, 20

    # 9.1.1 toRdf() with 8.1.2

    def to_rdf(
        self, document: Any, base: str | None = None, expand_context: Any = UNSET,
        direction: str | None = None,
    ) -> list[tuple]:  # fmt: skip
        active = Context(base, base)
        if expand_context is not UNSET:
            if isinstance(expand_context, dict) and "@context" in expand_context:
                expand_context = expand_context["@context"]
            active = self.process(active, expand_context, base)
        expanded = self.expand(active, None, document, base)
        if isinstance(expanded, dict) and {*expanded} == {"@graph"}:
            expanded = expanded["@graph"]
        if self.errors:
            return []
        maps = NodeMaps()
        maps.add(items_of(expanded), "@default")
        return Triples(maps, direction, self.omitted).quads


def container_of(value: Any) -> tuple[str, ...]:
    """Returns the containers of a definition (step 19.1 of Create Term Definition)."""
    names = as_list(value)
    known = {"@graph", "@id", "@index", "@language", "@list", "@set", "@type"}
    is_valid = bool(names) and all(isinstance(name, str) and name in known for name in names)
    check(is_valid, "invalid container mapping")
    rest = {*names} - {"@set"}
    is_valid = (
        len({*names}) == 1
        or ("@graph" in rest and rest in ({"@graph"}, {"@graph", "@id"}, {"@graph", "@index"}))
        or (len(rest) == 1 and not rest & {"@list"})
    )
    check(is_valid, "invalid container mapping")
    return tuple(names)


def is_list(value: Any) -> bool:
    return isinstance(value, dict) and "@list" in value


def is_graph(value: Any) -> bool:
    return (
        isinstance(value, dict) and "@graph" in value and not {*value} - {"@graph", "@id", "@index"}
    )


def add(result: dict, name: str, value: Any) -> None:
    """Implements "add value", always as an array."""
    result.setdefault(name, []).extend(as_list(value))


def add_reverse(result: dict, name: str, item: Any) -> None:
    check("@value" not in item and "@list" not in item, "invalid reverse property value")
    add(result.setdefault("@reverse", {}), name, item)


def same_text(item: dict) -> str:
    """Returns equal strings for equivalent items. Python's `==` would equate 1 and true."""
    return json.dumps(item, sort_keys=True, default=str)


def has_triples(node: dict) -> bool:
    """Whether a triple, well-formed or not, has the node as its subject."""
    return any(node[name] and (name not in KEYWORDS or name == "@type") for name in node)


# 7.2.2 Node Map Generation


class NodeMaps:
    """Graphs by name, their nodes and properties; blank nodes get new labels."""

    def __init__(self) -> None:
        self.graphs: dict[str, dict[str, dict]] = {"@default": {}}
        self.labels: dict[str, str] = {}
        self.count = 0

    def blank(self, label: str | None = None) -> str:
        if label is not None and label in self.labels:
            return self.labels[label]
        self.count += 1
        new_label = f"_:b{self.count}"
        if label is not None:
            self.labels[label] = new_label
        return new_label

    def renamed(self, name: str) -> str:
        return self.blank(name) if is_blank(name) else name

    def add(
        self, element: Any, graph_name: str, subject: Any = None, property_: str | None = None,
        list_: list | None = None,
    ) -> None:  # fmt: skip
        if isinstance(element, list):  # 1
            for item in element:
                self.add(item, graph_name, subject, property_, list_)
            return
        graph = self.graphs.setdefault(graph_name, {})  # 2
        target = graph[subject][property_] if isinstance(subject, str) else None
        if "@value" in element:  # 4
            self.put(element, target, list_)
            return
        if "@list" in element:  # 5
            inner: list = []
            self.add(items_of(element["@list"]), graph_name, subject, property_, inner)
            if list_ is not None:
                list_.append({"@list": inner})
            elif target is not None:
                target.append({"@list": inner})
            return
        id_ = element.get("@id", UNSET)  # 6
        id_ = self.blank() if id_ is UNSET else self.renamed(id_)
        node = graph.setdefault(id_, {"@id": id_})
        if isinstance(subject, dict):  # 6.5
            self.put(subject, node.setdefault(property_, []), None)
        elif property_ is not None:  # 6.6
            self.put({"@id": id_}, target, list_)
        for name in element.get("@type", ()):  # 6.7, 3
            types = node.setdefault("@type", [])
            if name is not None and (name := self.renamed(name)) not in types:
                types.append(name)
        if "@index" in element:  # 6.8
            is_equal = node.setdefault("@index", element["@index"]) == element["@index"]
            check(is_equal, "conflicting indexes")
        for name, values in element.get("@reverse", {}).items():  # 6.9
            self.add(values, graph_name, {"@id": id_}, name)
        if "@graph" in element:  # 6.10
            self.graphs.setdefault(id_, {})
            self.add(element["@graph"], id_)
        if "@included" in element:  # 6.11
            self.add(element["@included"], graph_name)
        for name in sorted(element):  # 6.12
            if name not in KEYWORDS:
                renamed = self.renamed(name)
                node.setdefault(renamed, [])
                self.add(element[name], graph_name, id_, renamed)

    @staticmethod
    def put(item: dict, target: list | None, list_: list | None) -> None:
        if list_ is not None:
            list_.append(item)
        elif target is not None and same_text(item) not in map(same_text, target):
            target.append(item)


class Triples:
    """The quads of node maps (8.1.2, 8.2.2 and 8.3.2)."""

    def __init__(self, maps: NodeMaps, direction: str | None, omitted: list[str]) -> None:
        self.maps, self.direction, self.omitted = maps, direction, omitted
        self.quads: list[tuple] = []
        for name, graph in maps.graphs.items():
            self.graph: Any = None
            subjects = [(id_, node) for id_, node in graph.items() if has_triples(node)]
            if name != "@default" and subjects:
                self.graph = self.resource(name)
                if self.graph is None:
                    continue
            for id_, node in subjects:
                self.node(id_, node)

    def resource(self, name: str) -> tuple | None:
        if is_blank(name):
            return ("bnode", name[2:])
        if WELL_FORMED.fullmatch(name):
            return ("iri", name)
        if name != OMITTED:
            self.omitted.append(name)
        return None

    def node(self, id_: str, node: dict) -> None:
        if (subject := self.resource(id_)) is None:
            return
        for name, values in node.items():
            if name == "@type":
                for kind in values:
                    self.emit(subject, ("iri", f"{RDF}type"), self.resource(kind))
            elif name not in KEYWORDS and values:
                if is_blank(name):
                    self.omitted.append(name)
                elif (predicate := self.resource(name)) is not None:
                    for value in values:
                        self.emit(subject, predicate, self.object(value))

    def emit(self, subject: tuple, predicate: tuple, object_: tuple | None) -> None:
        if object_ is not None:
            self.quads.append((subject, predicate, object_, self.graph))

    def object(self, item: dict) -> tuple | None:
        if "@list" in item:
            return self.list(item["@list"])
        if "@value" not in item:
            return self.resource(item["@id"])
        return self.literal(item)

    def list(self, items: list) -> tuple:
        cells = [("bnode", self.maps.blank()[2:]) for _ in items]
        ends = [*cells, ("iri", f"{RDF}nil")]
        for at, (cell, item) in enumerate(zip(cells, items, strict=True)):
            self.emit(cell, ("iri", f"{RDF}first"), self.object(item))
            self.emit(cell, ("iri", f"{RDF}rest"), ends[at + 1])
        return ends[0]

    def literal(self, item: dict) -> tuple | None:
        """Steps 4 to 15 of Object to RDF Conversion. Returns None if not well-formed."""
        value, kind, language = item["@value"], item.get("@type"), item.get("@language")
        is_valid = isinstance(kind, str) and (kind == "@json" or WELL_FORMED.fullmatch(kind))
        if kind is not None and not is_valid:
            self.omitted.append(str(kind))
            return None
        if language is not None and not LANGUAGE.fullmatch(language):
            self.omitted.append(language)
            return None
        if kind == "@json":
            return ("literal", canonical_json(value), None, None, f"{RDF}JSON")
        if isinstance(value, bool):
            return ("literal", "true" if value else "false", None, None, kind or f"{XSD}boolean")
        if isinstance(value, (int, Decimal)):
            # A number with a fraction or an exponent is a double.
            number = value if isinstance(value, int) else float(value)
            is_integer = abs(number) < 10**21 and number == int(number)
            if not is_integer or kind == f"{XSD}double":
                return ("literal", canonical_double(value), None, None, kind or f"{XSD}double")
            return ("literal", str(int(number)), None, None, kind or f"{XSD}integer")
        if "@direction" in item and self.direction is not None:
            return self.directed(value, language, item["@direction"])
        if language is not None:
            return ("literal", value, language, None, LANG_STRING)
        return ("literal", value, None, None, kind or XSD_STRING)

    def directed(self, value: str, language: str | None, direction: str) -> tuple | None:
        """Step 13, and the form "literal" for RDF 1.2, which the specification lacks."""
        if self.direction == "literal":
            if language is None:
                self.omitted.append(direction)
                return None
            return ("literal", value, language, direction, DIR_LANG_STRING)
        language = language and language.lower()
        if self.direction == "i18n-datatype":
            return ("literal", value, None, None, f"{I18N}{language or ''}_{direction}")
        node = ("bnode", self.maps.blank()[2:])
        for name, text in (("value", value), ("language", language), ("direction", direction)):
            if text is not None:
                self.emit(node, ("iri", f"{RDF}{name}"), ("literal", text, None, None, XSD_STRING))
        return node


def canonical_double(value: int | Decimal) -> str:
    """Returns the canonical form of the nearest double (8.6).

    This form is the output of `printf("%1.15E")` without trailing zeros.
    """
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isinf(number):
        return "INF" if number > 0 else "-INF"
    if number == 0:
        return "0.0E0"
    mantissa, power = f"{number:.15E}".split("E")
    mantissa = mantissa.rstrip("0")
    return f"{mantissa}{'0' if mantissa.endswith('.') else ''}E{int(power)}"


def canonical_json(value: Any) -> str:
    """Returns the canonical form of RFC 8785."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return (
            "{" + ",".join(f"{json_string(key)}:{canonical_json(value[key])}" for key in keys) + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, str):
        return json_string(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return ecmascript_number(float(value))


def json_string(text: str) -> str:
    short_escapes = {"\b": "b", "\t": "t", "\n": "n", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}

    def escaped(match: re.Match[str]) -> str:
        character = match[0]
        return "\\" + (
            short_escapes[character] if character in short_escapes else f"u{ord(character):04x}"
        )

    return '"' + re.sub(r'[\x00-\x1f"\\]', escaped, text) + '"'


def ecmascript_number(number: float) -> str:
    """Converts a number as ECMAScript's Number::toString does."""
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text, minus = "".join(map(str, digits)), "-" if sign else ""
    point = len(text) + exponent
    if len(text) <= point <= 21:
        return minus + text + "0" * (point - len(text))
    if 0 < point <= 21:
        return minus + text[:point] + "." + text[point:]
    if -6 < point <= 0:
        return minus + "0." + "0" * -point + text
    power = point - 1
    fraction = "." + text[1:] if len(text) > 1 else ""
    return f"{minus}{text[0]}{fraction}e{'+' if power > 0 else '-'}{abs(power)}"


def parse(text: str | bytes) -> Any:
    """Parses JSON and keeps numbers as written; exponents are limited to the range of Decimal."""
    return json.loads(text, parse_float=exact)


def exact(text: str) -> Decimal:
    """Parses a number without rounding, or returns a number near the limits of Decimal."""
    try:
        return Decimal(text)
    except ArithmeticError:  # an exponent out of range
        tends_to_zero = "e-" in text.lower() or re.fullmatch(
            r"-?[0.]+", text.lower().partition("e")[0]
        )
        return (
            Decimal("1e-9999")
            if tends_to_zero
            else Decimal("-1e9999" if text[0] == "-" else "1e9999")
        )


def read(
    text: str | bytes, *, base: str | None = None, expand_context: Any = UNSET,
    direction: str | None = None, documents: dict[str, Any] | None = None,
) -> Result:  # fmt: skip
    """Returns a document's dataset, or its errors."""
    processor = Processor(documents, collect=True)
    quads: list[tuple] = []
    with processor.collecting():
        quads = processor.to_rdf(parse(text), base, expand_context, direction)
    return Result(
        [] if processor.errors else quads,
        processor.errors,
        processor.omitted,
        processor.ill_formed,
        processor.dropped,
        processor.open,
    )

"""Random JSON-LD documents that use every feature and unusual values, reproducible by number.

Half of them are intended to be valid. Each of the others is such a document with one change.
RDFM_JSONLD_DOCUMENTS sets the number of documents that the tests read.
"""

import copy
import os
import random
from typing import Any

DOCUMENTS = int(os.environ.get("RDFM_JSONLD_DOCUMENTS", "2000"))

BASE = "http://base.example/dir/doc"
XSD = "http://www.w3.org/2001/XMLSchema#"
TERMS = tuple("abcdefgh")
TYPES = ("T", "U", "V")
IRIS = ("http://e/x", "http://e/y#z", "ex:i", "ex:j", "urn:u:1", "_:b", "_:c")
REFERENCES = (*IRIS, "rel", "#frag", "../up", "?q", "", "//host/p", "a", "T", "ex:", "nope:x")
STRINGS = ("x", "", "en", "a b", "é", "true", "1", "T", "ex:i", "rel", "_:b")
LANGUAGES = ("en", "DE", "fr-CA", "x-1")
NUMBERS = (0, 1, -7, 2**53, 10**20, 10**21, -(10**21), 0.5, -1.25e-7, 3.0, 1e21, 12345.6789e10)
UNUSUAL_VALUES = (
    None, True, False, 0, 1, 1.1, 2.5, "", "x", "en", "@id", "@foo", "@none", "@set", "ltr", "_:b",
    "http://e/odd", "rel ative", "ex:odd", [], {}, [None], [[]], ["x", 1], {"@value": "x"},
    {"@value": None}, {"@id": "http://e/o"}, {"@list": ["x"]}, {"@set": [1]}, {"a": "b"},
    {"@value": 1, "@type": "@json"}, {"@type": "T"}, {"@graph": []}, {"en": "x"},
    {"@value": "x", "@language": "en"}, {"@value": 1, "@language": "en"}, {"@context": {}},
)  # fmt: skip
KEYS = (
    "@id", "@type", "@value", "@language", "@direction", "@index", "@list", "@set", "@graph",
    "@included", "@reverse", "@nest", "@context", "@none", "@foo", "", "a", "ex:k", "http://e/k",
    "nope", "x:y", "@container", "@protected", "@prefix", "@propagate", "@import", "@base", "@vocab",
    "@version",
)  # fmt: skip
CONTAINERS = (
    "@list", "@set", "@index", "@language", "@graph", "@id", "@type", ["@set"], ["@index", "@set"],
    ["@language", "@set"], ["@set", "@id"], ["@type", "@set"], ["@graph", "@set"],
    ["@graph", "@index"], ["@graph", "@id"], ["@graph", "@id", "@set"], ["@graph", "@index", "@set"],
)  # fmt: skip
DIRECTIONS = ("none", "i18n-datatype", "compound-literal")


def direction_of(number: int) -> str:
    """Returns `rdf_direction` for a document. It is "none" for three of seven documents."""
    return DIRECTIONS[number % 7 % 3]


class DocumentBuilder:
    """Builds one document.

    `known` contains the definition of each term, or an empty map if the definition is not a map.
    """

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.known: dict[str, dict] = {}

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choose(self, values: Any) -> Any:
        return self.random.choice(values)

    def sample(self, values: Any, maximum: int) -> list:
        return self.random.sample(values, self.random.randint(0, min(maximum, len(values))))

    # Contexts

    def contexts(self, depth: int) -> Any:
        if self.chance(0.03):
            return None
        if self.chance(0.15):
            return [self.contexts(depth) for _ in range(self.random.randint(0, 3))]
        return self.context(depth)

    def context(self, depth: int, *, first: bool = False) -> dict:
        result: dict[str, Any] = {}
        if first or self.chance(0.3):
            result["ex"] = self.choose(["http://e/"] * 5 + [{"@id": "http://e/", "@prefix": True}])
        for keyword, probability, values in (
            ("@vocab", 0.75 if first else 0.1, ["http://v/"] * 7 + ["", "#", "ex:v/", None]),
            ("@base", 0.12, ["http://b/d/e", "sub/dir", "../", "http://b/?q", None]),
            ("@language", 0.12, [*LANGUAGES, None]),
            ("@direction", 0.1, ["ltr", "rtl", None]),
            ("@protected", 0.05, [True, True, False]),
            ("@propagate", 0.06, [False, False, True]),
            ("@version", 0.08, [1.1]),
        ):
            if self.chance(probability):
                result[keyword] = self.choose(values)
        for term in self.sample(TERMS, 5 if first else 2):
            result[term] = self.definition(depth)
            self.known[term] = result[term] if isinstance(result[term], dict) else {}
        if self.chance(0.5 if first else 0.1):
            for name in self.sample(TYPES, 2):
                result[name] = {"@id": f"http://t/{name}"}
                if self.chance(0.6) and depth < 3:
                    result[name]["@context"] = self.contexts(depth + 1)
        for alias, keyword, probability in (
            ("id", "@id", 0.1), ("type", "@type", 0.1), ("value", "@value", 0.05),
            ("nest", "@nest", 0.2), ("lang", "@language", 0.05), ("none", "@none", 0.1),
            ("rev", "@reverse", 0.05), ("graph", "@graph", 0.05),
        ):  # fmt: skip
            if self.chance(probability):
                result[alias] = keyword
                if self.chance(0.15) and keyword == "@nest" and depth < 3:
                    result[alias] = {"@id": keyword, "@context": self.contexts(depth + 1)}
        return self.shuffled(result)

    def definition(self, depth: int) -> Any:
        if self.chance(0.06):
            return None
        iri = self.choose(["http://e/p", "http://e/q", "ex:r", "ex:s", "urn:t", "word", "_:p"])
        if iri in ("word", "_:p") and self.chance(0.8):
            iri = "http://e/p"
        if self.chance(0.2):
            return iri
        result: dict[str, Any] = {}
        if self.chance(0.15):
            result["@reverse"] = iri
            if self.chance(0.3):
                result["@container"] = self.choose(["@set", "@index"])
        else:
            if self.chance(0.8):
                result["@id"] = iri
            if self.chance(0.5):
                result["@container"] = self.choose(CONTAINERS)
        kinds = ["@id", "@id", "@vocab", "@none", "@json", f"{XSD}integer", f"{XSD}double", "ex:D"]
        if "@type" in result.get("@container", ()):
            kinds = ["@id", "@vocab"]
        if self.chance(0.3):
            result["@type"] = self.choose(kinds)
        if "@index" in result.get("@container", ()) and self.chance(0.4):
            result["@index"] = self.choose(["ex:index", "http://e/index"])
        for keyword, probability, values in (
            ("@language", 0.1, [*LANGUAGES, None]),
            ("@direction", 0.08, ["ltr", "rtl", None]),
            ("@protected", 0.04, [True, False]),
            ("@nest", 0.05, ["@nest", "nest"]),
            ("@prefix", 0.04, [True, False]),
        ):
            if self.chance(probability) and not (keyword == "@nest" and "@reverse" in result):
                result[keyword] = self.choose(values)
        if self.chance(0.15) and depth < 3:
            result["@context"] = self.contexts(depth + 1)
        return self.shuffled(result)

    # Nodes and values

    def node(self, depth: int) -> dict:
        result: dict[str, Any] = {}
        if self.chance(0.15) and depth:
            result["@context"] = self.contexts(1)
        if self.chance(0.5):
            result[self.choose(["@id", "@id", "@id", "id"])] = self.choose(REFERENCES)
        if self.chance(0.3):
            names = [
                self.choose([*TYPES, *TYPES, "ex:t", "a"]) for _ in range(self.random.randint(1, 2))
            ]
            result[self.choose(["@type", "@type", "type"])] = (
                names if self.chance(0.5) else names[0]
            )
        for key in self.sample([*TERMS, *TERMS, "ex:k", "http://e/k", "nope", "x:y"], 3):
            result[key] = self.value(key, depth + 1)
        if depth < 4:
            for key, probability, make in (
                ("@graph", 0.05, lambda: self.nodes(depth)),
                ("graph", 0.02, lambda: self.nodes(depth)),
                ("@included", 0.05, lambda: self.nodes(depth)),
                ("@reverse", 0.06, lambda: self.reverse(depth)),
                ("rev", 0.02, lambda: self.reverse(depth)),
                ("nest", 0.06, lambda: self.node_below(depth)),
                ("@nest", 0.04, lambda: self.nodes(depth)),
                ("@index", 0.03, lambda: self.choose(["i", "j"])),
            ):
                if self.chance(probability):
                    result[key] = make()
        return self.shuffled(result)

    def node_below(self, depth: int) -> dict:
        result = self.node(depth + 1)
        result.pop("@context", None)
        return result

    def nodes(self, depth: int) -> Any:
        if self.chance(0.3):
            return self.node(depth + 1)
        return [self.node(depth + 1) for _ in range(self.random.randint(0, 2))]

    def reverse(self, depth: int) -> dict:
        keys = [*self.sample([*TERMS, "nope"], 1), self.choose(["ex:k", "http://e/k", *TERMS])]
        return {key: self.choose([self.nodes, self.reference])(depth) for key in keys}

    def reference(self, depth: int) -> Any:
        return self.choose([{"@id": self.choose(REFERENCES)}, self.choose(REFERENCES)])

    def value(self, key: str, depth: int) -> Any:
        known = self.known.get(key, {})
        container = known.get("@container", ())
        container = [container] if isinstance(container, str) else container
        if known.get("@type") == "@json" and self.chance(0.7):
            return self.json(depth)
        if "@reverse" in known and self.chance(0.7):
            result = self.choose([self.nodes, self.reference])(depth)
            return {"i": result} if "@index" in container and self.chance(0.6) else result
        if self.chance(0.7):
            if "@language" in container:
                strings = ["x", "é", None, ["x", "y"], [], [None]]
                return {
                    tag: self.choose(strings)
                    for tag in self.sample([*LANGUAGES, "@none", "none"], 3)
                }
            for kind, keys in (
                ("@index", ["i", "j", "@none", "T"]),
                ("@id", [*IRIS, "rel", "@none", "none", "T"]),
                ("@type", [*TYPES, "ex:t", "@none", "none", "http://e/t"]),
            ):
                if kind in container:
                    return {
                        name: self.map_value(kind, container, depth)
                        for name in self.sample(keys, 2)
                    }
        if self.chance(0.2):
            return [self.single_value(depth) for _ in range(self.random.randint(0, 3))]
        return self.single_value(depth)

    def map_value(self, kind: str, container: Any, depth: int) -> Any:
        if kind == "@index" and self.chance(0.3):
            return self.single_value(depth)
        if kind == "@type" and self.chance(0.2):
            return self.choose(REFERENCES)
        if "@graph" in container and self.chance(0.2):
            return {"@graph": self.nodes(depth)}
        return self.nodes(depth)

    def single_value(self, depth: int) -> Any:
        roll = self.random.random()
        if roll < 0.3:
            return self.choose(STRINGS)
        if roll < 0.4:
            return self.choose([*NUMBERS, True, False, None])
        if roll < 0.65 and depth < 5:
            return self.node(depth)
        if roll < 0.75:
            return {"@id": self.choose(REFERENCES)}
        if roll < 0.83 and depth < 5:
            return {self.choose(["@list", "@set"]): self.list_items(depth + 1)}
        if roll < 0.97:
            return self.value_object()
        return [self.choose(STRINGS), [self.choose(STRINGS)]]

    def list_items(self, depth: int) -> Any:
        if self.chance(0.2):
            return self.single_value(depth)
        return [self.single_value(depth) for _ in range(self.random.randint(0, 3))]

    def value_object(self) -> dict:
        key = "value" if self.chance(0.03) else "@value"
        result: dict[str, Any] = {key: self.choose([*STRINGS, *NUMBERS, True, False])}
        if self.chance(0.35):
            result["@type"] = self.choose(
                [f"{XSD}double", f"{XSD}integer", f"{XSD}date", "ex:D", "T"]
            )
        elif isinstance(result[key], str):
            if self.chance(0.5):
                result["lang" if self.chance(0.05) else "@language"] = self.choose(LANGUAGES)
            if self.chance(0.25):
                result["@direction"] = self.choose(["ltr", "rtl"])
        elif self.chance(0.1):
            result = {key: self.json(2), "@type": "@json"}
        if self.chance(0.1):
            result["@index"] = "i"
        if self.chance(0.05):
            result["@context"] = self.contexts(2)
        return self.shuffled(result)

    def json(self, depth: int) -> Any:
        if depth < 5 and self.chance(0.5):
            if self.chance(0.5):
                return [self.json(depth + 1) for _ in range(self.random.randint(0, 3))]
            keys = self.sample(["b", "a", "é", "\U0001f600", "\ufb33", "", "@id", "\n", "1"], 3)
            return {key: self.json(depth + 1) for key in keys}
        return self.choose(
            [*NUMBERS, *STRINGS, True, None, '"\\\b\u000f/', 1e-7, 123456789.125, -0.0]
        )

    def shuffled(self, result: dict) -> dict:
        keys = list(result)
        self.random.shuffle(keys)
        return {key: result[key] for key in keys}

    # Documents

    def document(self) -> Any:
        context = self.context(0, first=True)
        if self.chance(0.1):
            return [{"@context": context, **self.node(0)}, self.node(0)]
        if self.chance(0.2):
            return {"@context": context, "@graph": [self.node(1) for _ in range(2)]}
        result = self.node(0)
        while len(result) < 2 and self.chance(0.9):
            result = self.node(0)
        result = {"@context": context, **result}
        return self.shuffled(result) if self.chance(0.3) else result

    def change(self, document: Any) -> Any:
        """Returns the document with one change."""
        places = list(places_of(document))
        holder, key = self.choose(places)
        roll = self.random.random()
        if isinstance(holder, list) or roll < 0.5:
            holder[key] = copy.deepcopy(self.choose(UNUSUAL_VALUES))
        elif roll < 0.6:
            del holder[key]
        elif roll < 0.8:
            holder[self.choose(KEYS)] = holder.pop(key)
        else:
            holder[self.choose(KEYS)] = copy.deepcopy(self.choose(UNUSUAL_VALUES))
        return document


def places_of(value: Any) -> Any:
    """Yields places that can be changed: each map with its keys, each array with its indexes."""
    found = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in found:
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from places_of(inner)


def document(number: int) -> Any:
    """Returns the document with this number."""
    builder = DocumentBuilder(number)
    result = copy.deepcopy(builder.document())
    return builder.change(result) if number % 2 else result

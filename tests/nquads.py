"""A small N-Quads parser and functions for datasets of plain tuples, both independent of rdfm.

Terms are ("iri", value), ("bnode", label), ("literal", lexical, language, direction, datatype),
("triple", s, p, o), and None for the default graph. Quads are tuples of four; a message is a list
of quads.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
DIR_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"

TOKEN = re.compile(
    r"""[ \t]*(?:
      (?P<iri><[^<>"{}|^`\\\x00-\x20]*(?:\\u[0-9A-Fa-f]{4}[^<>"{}|^`\\\x00-\x20]*
        |\\U[0-9A-Fa-f]{8}[^<>"{}|^`\\\x00-\x20]*)*>)
    | (?P<bnode>_:[^\s<>"()]*[^\s<>".()])
    | (?P<string>"(?:[^"\\\n\r]|\\.)*")(?:@(?P<lang>[A-Za-z0-9-]+)|\^\^(?=<))?
    | (?P<open><<\(|<<) | (?P<close>\)>>|>>) | (?P<dot>\.) | (?P<comment>\#.*) )""",
    re.X,
)
ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if code[0] in "uU" else ESCAPES.get(code, code)

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", character, text)


def literal(lexical, language=None, direction=None, datatype=None):
    if language:
        datatype = DIR_LANG_STRING if direction else LANG_STRING
    return ("literal", lexical, language or None, direction, datatype or XSD_STRING)


class LineParser:
    """A parser for one line."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def token(self) -> re.Match[str]:
        match = TOKEN.match(self.text, self.at)
        if not match:
            raise ValueError(f"not N-Quads: {self.text[self.at :]!r} in {self.text!r}")
        self.at = match.end()
        return match

    def term(self, match: re.Match[str]):
        if match["iri"]:
            return ("iri", unescape(match["iri"][1:-1]))
        if match["bnode"]:
            return ("bnode", match["bnode"][2:])
        if match["string"]:
            lexical = unescape(match["string"][1:-1])
            if match["lang"]:
                language, _, direction = match["lang"].partition("--")
                return literal(lexical, language, direction or None)
            if match[0].endswith("^^"):
                return literal(lexical, datatype=self.term(self.token())[1])
            return literal(lexical)
        if match["open"]:
            triple = tuple(self.term(self.token()) for _ in range(3))
            if not self.token()["close"]:
                raise ValueError(f"unclosed triple term in {self.text!r}")
            return ("triple", *triple)
        raise ValueError(f"not a term: {match[0]!r} in {self.text!r}")

    def quad(self):
        terms = []
        while not (match := self.token())["dot"]:
            terms.append(self.term(match))
        rest = self.text[self.at :].strip()
        if len(terms) not in (3, 4) or (rest and not rest.startswith("#")):
            raise ValueError(f"not a quad: {self.text!r}")
        return (*terms, None) if len(terms) == 3 else tuple(terms)


def read_quads(text: str) -> list[tuple]:
    """Returns the quads of N-Quads text; ignores comments and empty lines."""
    lines = re.split(r"[\r\n]+", text)
    return [
        LineParser(line).quad()
        for line in lines
        if line.strip() and not line.lstrip().startswith("#")
    ]


def read_expected(path: Path) -> list[list[tuple]]:
    """Returns the messages in a file `expected.txt` of spec-fixtures."""
    parts = path.read_text("utf-8").split("--- message\n")
    return [read_quads(part) for part in parts[1:]]


def map_terms(quad: tuple, change) -> tuple:
    def visit(term):
        if term and term[0] == "triple":
            return ("triple", *(visit(part) for part in term[1:]))
        return change(term) if term else term

    return tuple(visit(term) for term in quad)


def relabelled(quads: Iterable[tuple]) -> list[tuple]:
    """Returns the quads with blank nodes numbered by first occurrence.

    Isomorphic datasets in the same order become equal.
    """
    names: dict[str, str] = {}
    return [
        with_labels(quad, lambda label: names.setdefault(label, str(len(names)))) for quad in quads
    ]


def labels(quads: Iterable[tuple]) -> Iterator[str]:
    def visit(term):
        if term and term[0] == "triple":
            for part in term[1:]:
                yield from visit(part)
        elif term and term[0] == "bnode":
            yield term[1]

    for quad in quads:
        for term in quad:
            yield from visit(term)


def with_labels(quad: tuple, name) -> tuple:
    """Returns the quad with each blank node label replaced by `name(label)`."""
    return map_terms(quad, lambda term: ("bnode", name(term[1])) if term[0] == "bnode" else term)


def colours(quads: list[tuple], start: dict[str, int]) -> dict[str, int]:
    """Returns a colour for each blank node based on its use, refined until nothing changes."""
    colour = start
    while True:
        seen: dict[str, list] = {label: [] for label in colour}
        for quad in quads:
            names = set(labels([quad]))
            for node in names:
                view = {label: (label == node, colour[label]) for label in names}
                seen[node].append(repr(with_labels(quad, view.get)))
        refined = {label: hash((colour[label], *sorted(views))) for label, views in seen.items()}
        if len(set(refined.values())) == len(set(colour.values())):
            return refined
        colour = refined


def isomorphic(left: Iterable[tuple], right: Iterable[tuple]) -> bool:
    """Whether two datasets are equal up to blank node labels and order."""
    left, right = list(set(left)), list(set(right))
    tries = 0

    def match(ours: dict[str, int], theirs: dict[str, int]) -> bool:
        """Whether the datasets match. Individualizes ambiguous nodes until all are distinct."""
        nonlocal tries
        tries += 1
        assert tries < 500, "too much symmetry for this comparison"
        ours, theirs = colours(left, ours), colours(right, theirs)
        if sorted(ours.values()) != sorted(theirs.values()):
            return False
        counts: dict[int, list[str]] = {}
        for label, colour in ours.items():
            counts.setdefault(colour, []).append(label)
        ambiguous = [group for group in counts.values() if len(group) > 1]
        if not ambiguous:
            names = {colour: label for label, colour in theirs.items()}
            renamed = {with_labels(quad, lambda label: names[ours[label]]) for quad in left}
            return renamed == set(right)
        node = ambiguous[0][0]
        return any(
            match({**ours, node: -1}, {**theirs, candidate: -1})
            for candidate, colour in theirs.items()
            if colour == ours[node]
        )

    if len(left) != len(right):
        return False
    return match(dict.fromkeys(labels(left), 0), dict.fromkeys(labels(right), 0))

"""Generates the fixtures of SPARQL results, without rdfm.

Binary files are written with Google's protobuf and thriftpy2, the others as plain text.
`python spec-fixtures/results.py` writes the files. A test compares them with `generated_files()`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from xml.sax.saxutils import escape, quoteattr

FIXTURES = Path(__file__).resolve().parent
sys.path.insert(0, str(FIXTURES.parent / "tests"))

import jelly_sparql_proto  # noqa: E402 - found because of the line above
import rdf_binary  # noqa: E402
from jelly_sparql_proto import FLAT, PUNCTUATED, ResultSet  # noqa: E402

XSD = "http://www.w3.org/2001/XMLSchema#"
STRING = XSD + "string"
SRX = "http://www.w3.org/2005/sparql-results#"
ITS = "http://www.w3.org/2005/11/its"
EX = "http://example.org/"


def iri(name: str) -> tuple:
    return ("iri", EX + name)


def bnode(label: str) -> tuple:
    return ("bnode", label)


def literal(lexical: str, language: str = "", direction: str = "", datatype: str = STRING) -> tuple:
    return ("literal", lexical, language, direction, datatype)


def triple(*parts: tuple) -> tuple:
    return ("triple", *parts)


# Variables and rows of each result set; an unbound variable is None.
RESULT_SETS = {
    "basic": (
        ["s", "p"],
        [[iri("a"), literal("one")], [iri("b"), literal("two")], [iri("a"), literal("three")]],
    ),
    "unbound": (["a", "b", "c"], [[None, iri("x"), None], [iri("x"), None, None], [None] * 3]),
    "no-rows": (["a", "b", "c"], []),
    "no-variables": ([], [[], []]),
    "one-variable": (["x"], [[literal("")], [None], [iri("")]]),
    "languages": (
        ["x"],
        [
            [literal("a", "en")],
            [literal("b", "en-GB")],
            [literal("c", "he", "rtl")],
            [literal("c", "he", "ltr")],
        ],
    ),
    "datatypes": (
        ["n", "v"],
        [
            [literal(str(at), datatype=XSD + "integer"), literal(lexical, datatype=datatype)]
            for at, (lexical, datatype) in enumerate(
                [
                    ("1", XSD + "integer"),
                    ("+01", XSD + "integer"),
                    ("1.50", XSD + "decimal"),
                    ("1.0E7", XSD + "double"),
                    ("true", XSD + "boolean"),
                    ("a", EX + "datatype"),
                ]
            )
        ],
    ),
    "escapes": (
        ["x"],
        [
            [literal('a\t"b"\n\\c\r')],
            [literal("<&>]]> 'd'")],
            [literal(" \u00e9\U0001f600\u007f ")],
        ],
    ),
    "labels": (
        ["x", "y"],
        [[bnode("b0"), bnode("b1")], [bnode("b1"), bnode("b0")], [bnode("b0"), bnode("a.b-c")]],
    ),
    "triple-terms": (
        ["t"],
        [
            [triple(iri("s"), iri("p"), literal("o", "en"))],
            [triple(bnode("s"), iri("p"), triple(iri("s"), iri("p"), bnode("s")))],
        ],
    ),
    "many-variables": (
        [f"v{at}" for at in range(20)],
        [[iri(str(at)) if at % 3 else None for at in range(20)]] * 2,
    ),
    "odd-names": (["é", "a b", '"<&>,\\'], [[iri("é"), literal("a,b"), literal('"')]]),
    "long": (
        ["x", "y"],
        [[literal("word " * 60), iri("path/" * 50)], [iri("path/" * 50), literal("word " * 60)]],
    ),
    "repeated": (["x", "y"], [[iri(str(at % 2)), literal(str(at % 3))] for at in range(24)]),
}
# Answer and links of each ASK result, for JSON and XML.
ANSWERS = {"true": (True, []), "false": (False, [EX + "more?a&b"])}


def tuples(kinds, variables: list, rows: list) -> Iterator:
    var = kinds.RDF_Var if kinds is rdf_binary.protobuf() else kinds.RDF_VAR
    yield kinds.RDF_VarTuple(vars=[var(name=name) for name in variables])
    undefined = kinds.RDF_Term(undefined=kinds.RDF_UNDEF())
    for row in rows:
        cells = [undefined if cell is None else rdf_binary.term_of(kinds, cell) for cell in row]
        yield kinds.RDF_DataTuple(row=cells)


def json_term(term: tuple) -> dict:
    kind = term[0]
    if kind == "iri":
        return {"type": "uri", "value": term[1]}
    if kind == "bnode":
        return {"value": term[1], "type": "bnode"}
    if kind == "triple":
        parts = zip(("subject", "predicate", "object"), map(json_term, term[1:]), strict=True)
        return {"type": "triple", "value": dict(parts)}
    _, lexical, language, direction, datatype = term
    value = {"type": "literal", "value": lexical}
    if language:
        value |= {"xml:lang": language, **({"its:dir": direction} if direction else {})}
    elif datatype != STRING:
        value["datatype"] = datatype
    return value


def to_json(name: str, variables: list, rows: list) -> bytes:
    bindings = [
        {
            name: json_term(cell)
            for name, cell in zip(variables, row, strict=True)
            if cell is not None
        }
        for row in rows
    ]
    head = {"vars": variables, "link": [EX + "link"], "other": [{"a": None}, 1.5e3]}
    results = {"distinct": False, "bindings": bindings, "ordered": True}
    if name in ("escapes", "repeated"):  # the head comes last
        document = {"results": results, "x": {}, "head": head}
    else:
        document = {"head": head, "results": results}
    layout = {"indent": 1} if name in ("basic", "triple-terms") else {"separators": (",", ":")}
    return json.dumps(document, ensure_ascii=name == "escapes", **layout).encode()


def xml_term(term: tuple) -> str:
    kind = term[0]
    if kind in ("iri", "bnode"):
        element = "uri" if kind == "iri" else kind
        return f"<{element}>{escape(term[1])}</{element}>"
    if kind == "triple":
        parts = zip(("subject", "predicate", "object"), map(xml_term, term[1:]), strict=True)
        return f"<triple>{''.join(f'<{part}>{term}</{part}>' for part, term in parts)}</triple>"
    _, lexical, language, direction, datatype = term
    attributes = ""
    if language:
        attributes = f" xml:lang={quoteattr(language)}" + (
            f' its:dir="{direction}"' if direction else ""
        )
    elif datatype != STRING:
        attributes = f" datatype={quoteattr(datatype)}"
    return f"<literal{attributes}>{escape(lexical, {chr(13): '&#13;'})}</literal>"


def to_xml(variables: list, body: str, links: list) -> bytes:
    names = "".join(f"  <variable name={quoteattr(name)}/>\n" for name in variables)
    hrefs = "".join(f"  <link href={quoteattr(link)}/>\n" for link in links)
    return (
        f'<?xml version="1.0"?>\n<!-- a comment -->\n<sparql xmlns="{SRX}" xmlns:its="{ITS}" its:version="2.0">\n'
        f" <head>\n{names}{hrefs} </head>\n{body}</sparql>\n"
    ).encode()


def xml_rows(variables: list, rows: list) -> str:
    def cells(row: list) -> str:
        bound = (
            (name, cell) for name, cell in zip(variables, row, strict=True) if cell is not None
        )
        return "".join(
            f"<binding name={quoteattr(name)}>{xml_term(cell)}</binding>" for name, cell in bound
        )

    return (
        " <results>\n"
        + "".join(f"  <result>{cells(row)}</result>\n" for row in rows)
        + " </results>\n"
    )


TSV_ESCAPES = {"\t": r"\t", "\n": r"\n", "\r": r"\r", '"': r"\"", "\\": r"\\"}


def tsv_term(term: tuple) -> str:
    kind = term[0]
    if kind == "iri":
        return f"<{term[1]}>"
    if kind == "bnode":
        return f"_:{term[1]}"
    if kind == "triple":
        return f"<<( {' '.join(map(tsv_term, term[1:]))} )>>"
    _, lexical, language, direction, datatype = term
    if (lexical, datatype) in (
        ("1", XSD + "integer"),
        ("1.50", XSD + "decimal"),
        ("true", XSD + "boolean"),
    ):
        return lexical
    quoted = '"' + "".join(TSV_ESCAPES.get(character, character) for character in lexical) + '"'
    if language:
        return f"{quoted}@{language}" + (f"--{direction}" if direction else "")
    return quoted if datatype == STRING else f"{quoted}^^<{datatype}>"


def to_tsv(name: str, variables: list, rows: list) -> bytes:
    lines = ["\t".join("?" + variable for variable in variables)]
    lines += ["\t".join("" if cell is None else tsv_term(cell) for cell in row) for row in rows]
    end = "\r\n" if name == "languages" else "\n"
    return (end.join(lines) + end).encode()


def csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if not text or set(text) & set('",\r\n') else text


def csv_term(term: tuple | None) -> str:
    if term is None:
        return ""
    kind = term[0]
    if kind == "triple":
        return csv_field(tsv_term(term))
    return csv_field(f"_:{term[1]}" if kind == "bnode" else term[1])


def to_csv(name: str, variables: list, rows: list) -> bytes:
    lines = [",".join(map(csv_field, variables)), *(",".join(map(csv_term, row)) for row in rows)]
    end = "\n" if name == "languages" else "\r\n"
    return (end.join(lines) + ("" if name == "basic" else end)).encode()


def to_jelly(name: str, found: ResultSet) -> bytes:
    def normalized(term: tuple | None) -> tuple | None:
        """Returns a term in which a missing direction is None."""
        if term and term[0] == "triple":
            return ("triple", *map(normalized, term[1:]))
        return (*term[:3], term[3] or None, term[4]) if term and term[0] == "literal" else term

    found.rows = [tuple(map(normalized, row)) for row in found.rows]
    stream = PUNCTUATED if name == "repeated" else FLAT
    return jelly_sparql_proto.encode([found], Random(name), stream)


def generated_files() -> Iterator[tuple[Path, bytes]]:
    """Yields the path and content of each file."""
    protobuf, thrift = rdf_binary.protobuf(), rdf_binary.thrift()
    for name, (variables, rows) in RESULT_SETS.items():
        both = (variables, rows)
        yield FIXTURES / f"results-thrift/{name}.srt", rdf_binary.thrift_rows(tuples(thrift, *both))
        yield (
            FIXTURES / f"results-protobuf/{name}.srp",
            rdf_binary.protobuf_rows(tuples(protobuf, *both)),
        )
        yield FIXTURES / f"results-jelly/{name}.jellys", to_jelly(name, ResultSet(*both))
        yield FIXTURES / f"results-json/{name}.srj", to_json(name, *both)
        yield FIXTURES / f"results-xml/{name}.srx", to_xml(variables, xml_rows(*both), [])
        yield FIXTURES / f"results-tsv/{name}.tsv", to_tsv(name, *both)
        yield FIXTURES / f"results-csv/{name}.csv", to_csv(name, *both)
    for name, (answer, links) in ANSWERS.items():
        found = ResultSet(answer=answer, links=links)
        yield FIXTURES / f"results-jelly/{name}.jellys", to_jelly(name, found)
        document = {"head": {"link": links} if links else {}, "boolean": answer}
        yield FIXTURES / f"results-json/{name}.srj", json.dumps(document).encode()
        body = f" <boolean>{name}</boolean>\n"
        yield FIXTURES / f"results-xml/{name}.srx", to_xml([], body, links)


if __name__ == "__main__":
    for path, data in generated_files():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)

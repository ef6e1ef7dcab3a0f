"""Patches as plain tuples: parsed from text, or converted from and to Thrift rows, without rdfm.

The Thrift definition, which thriftpy2 loads, is in proto/. An operation is
(code, name, subject, predicate, object, graph) with terms as in `nquads`; a patch is a list of
operations. Text is read in its simplest form: one row per line, terms as in N-Quads, names and
IRIs of prefixes as strings.
"""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from nquads import LineParser
from rdf_binary import ROOT, ByteSource, Reader, parts_of, set_field, term_of

TRANSACTION_CODES = {"TX": 0, "TC": 1, "TA": 2, "Z": 3}
Operation = tuple


@cache
def thrift() -> Any:
    """Returns the structs by name."""
    import thriftpy2

    with tempfile.TemporaryDirectory() as folder:  # the file name becomes the module name
        path = Path(folder) / "rdf_patch.thrift"
        files = ("rdf-binary.thrift", "rdf-patch.thrift")
        text = "".join((ROOT / "proto" / name).read_text("utf-8") for name in files)
        path.write_text(text, "utf-8")
        return thriftpy2.load(str(path), module_name="rdf_patch_thrift")


def operation_of(line: str) -> Operation:
    """Returns the operation of a row, including `Z`."""
    code, _, rest = line.strip().partition(" ")
    name = None
    if code == "H":
        name, _, rest = rest.strip().partition(" ")
    reader, terms = LineParser(rest), []
    while not (match := reader.token())["dot"]:
        terms.append(reader.term(match))
    if code in ("PA", "PD"):
        name = terms.pop(0)[1]
        iri = ("iri", terms.pop(0)[1]) if code == "PA" else None
        return (code, name, None, None, iri, *terms, *[None] * (1 - len(terms)))
    if code == "H":
        return (code, name, None, None, *terms, None)
    if code in ("A", "D"):
        return (code, None, *terms, *[None] * (4 - len(terms)))
    return (code, None, None, None, None, None)


def rows_of_text(text: str) -> list[Operation]:
    """Returns the rows of a string; ignores comments and empty lines."""
    return [operation_of(line) for line in text.splitlines() if line and not line.startswith("#")]


def patches_of(rows: list[Operation]) -> list[list[Operation]]:
    """Divides rows into patches, which end with `Z` or before a header that follows other rows."""
    patches: list[list[Operation]] = []
    ended = True
    for row in rows:
        if row[0] == "Z" and not ended:
            ended = True
            continue
        starts_patch = row[0] == "H" and not ended and any(other[0] != "H" for other in patches[-1])
        if ended or starts_patch:
            patches.append([])
        ended = row[0] == "Z"
        if not ended:
            patches[-1].append(row)
    return patches


def thrift_row(row: Operation):
    """Returns a row as a struct."""
    kinds = thrift()
    code, name, subject, predicate, value, graph = row
    if code in TRANSACTION_CODES:
        return kinds.RDF_Patch_Row(transaction=TRANSACTION_CODES[code])
    if code == "H":
        header = kinds.Patch_Header(name=name, value=term_of(kinds, value))
        return kinds.RDF_Patch_Row(header=header)
    if code in ("PA", "PD"):
        graph_field = {} if graph is None else {"graph": term_of(kinds, graph)}
        iri = {"iri": value[1]} if code == "PA" else {}
        prefix = kinds.Patch_Prefix(prefix=name, **iri, **graph_field)
        field = "addPrefix" if code == "PA" else "deletePrefix"
        return kinds.RDF_Patch_Row(**{field: prefix})
    terms = [subject, predicate, value] + ([] if graph is None else [graph])
    quad = kinds.Patch_Quad(**parts_of(kinds, terms))
    return kinds.RDF_Patch_Row(**{"added" if code == "A" else "deleted": quad})


def row_of_thrift(row) -> Operation:
    """Returns the operation of a struct."""
    name, value = set_field(row)
    term = Reader().term
    optional = lambda value: None if value is None else term(value)  # noqa: E731
    if name == "transaction":
        code = next(code for code, number in TRANSACTION_CODES.items() if number == value)
        return (code, None, None, None, None, None)
    if name == "header":
        return ("H", value.name, None, None, term(value.value), None)
    if name in ("addPrefix", "deletePrefix"):
        iri = None if value.iri is None else ("iri", value.iri)
        code = "PA" if name == "addPrefix" else "PD"
        return (code, value.prefix, None, None, iri, optional(value.graph))
    code = "A" if name == "added" else "D"
    return (code, None, term(value.S), term(value.P), term(value.O), optional(value.G))


def read_thrift(data: bytes) -> list[Operation]:
    """Returns the rows of a file."""
    from thriftpy2.protocol.compact import TCompactProtocol

    source, found = ByteSource(data), []
    protocol = TCompactProtocol(source)
    while source.at < len(data):
        row = thrift().RDF_Patch_Row()
        protocol.read_struct(row)
        found.append(row_of_thrift(row))
    return found

"""Jelly-SPARQL compared with the encoder and the decoder of tests/jelly_sparql_proto.py."""

import io
from random import Random

import jelly_sparql_proto
import pytest
from jelly_columns_proto import InvalidLogError, random_term
from jelly_proto import delimited
from jelly_sparql_proto import FLAT, PUNCTUATED, ResultSet, classes
from support import as_term, as_tuple

import rdfm

NAME = "results-jelly"
# Sizes of the tables for names, prefixes and datatypes.
SIZES = [(128, 8, 8), (200, 0, 6), (128, 5, 5)]
LONG = 2**32 - 1
RDF_LANG = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"


def read(data: bytes) -> ResultSet:
    """Returns the rows that rdfm reads, without the error after them."""
    found = ResultSet()
    with rdfm.open_log(data, NAME, kind="results") as log:
        try:
            found.variables, found.answer = list(log.variables), log.boolean
            found.links = list(log.links)
            for row in log:
                found.rows.append(tuple(map(as_tuple, row)))
        except rdfm.DecodeError as error:
            found.error = str(error)
    return found


def write(found: ResultSet, **options) -> bytes:
    file = io.BytesIO()
    with rdfm.create_log(
        file,
        NAME,
        kind="results",
        variables=found.variables,
        boolean=found.answer,
        links=found.links,
        **options,
    ) as log:
        for row in found.rows:
            log.write(tuple(map(as_term, row)))
    return file.getvalue()


def random_set(random: Random) -> ResultSet:
    if random.random() < 0.1:
        return ResultSet(answer=random.random() < 0.5)
    variables = [f"v{number}" for number in range(random.choice((0, 1, 2, 3, 6)))]
    links = ["http://l/1", "b"][: random.randrange(3)]
    found = ResultSet(variables, [], None, links)
    found.rows = random_rows(random, len(variables))
    return found


def random_rows(random: Random, width: int) -> list[tuple]:
    rows: list[tuple] = []
    for _ in range(random.choice((0, 1, 5, 40, 200))):
        row = [None if random.random() < 0.2 else random_term(random, 2) for _ in range(width)]
        if rows:
            row = [
                before if random.random() < 0.4 else term
                for before, term in zip(rows[-1], row, strict=True)
            ]
        rows += [tuple(row)] * random.choice((1, 1, 1, 2, 20))
    return rows


def with_labels_of(number: int, term: tuple | None) -> tuple | None:
    """Returns a term with the labels that rdfm uses for a later result set."""
    if term is None or term[0] in ("iri", "literal"):
        return term
    if term[0] == "bnode":
        return ("bnode", f"_gm{number}_{term[1]}" if number else term[1])
    return ("triple", *(with_labels_of(number, part) for part in term[1:]))


@pytest.mark.parametrize("seed", range(150))
def test_rdfm_reads_every_form(seed):
    random = Random(seed)
    stream = random.choice((FLAT, PUNCTUATED))
    first = random_set(random)
    sets = [first]
    if first.answer is None and random.random() < 0.5:
        for _ in range(random.randrange(1, 3)):
            rows = random_rows(random, len(first.variables))
            sets.append(ResultSet(first.variables, rows, None, first.links))
    data = jelly_sparql_proto.encode(sets, random, stream, random.choice(SIZES))
    expected = ResultSet(first.variables, [], first.answer, first.links)
    for number, found in enumerate(sets):
        label = number if stream == PUNCTUATED else 0
        expected.rows += [tuple(with_labels_of(label, term) for term in row) for row in found.rows]
    if stream == PUNCTUATED:
        assert jelly_sparql_proto.decode(data) == sets
    assert read(data) == expected


@pytest.mark.parametrize("seed", range(150))
def test_the_output_of_rdfm_is_read(seed):
    random = Random(seed)
    found = random_set(random)
    names, prefixes, datatypes = random.choice(SIZES)
    data = write(
        found,
        name_table=names,
        prefix_table=prefixes,
        datatype_table=datatypes,
        frame_rows=random.choice((1, 7, 8192)),
        punctuated=random.random() < 0.5,
    )
    assert jelly_sparql_proto.decode(data) == [found]
    assert read(data) == found


def options(**more):
    sizes = {"max_name_table_size": 128, "max_prefix_table_size": 8, "max_datatype_table_size": 8}
    return classes.SparqlResultsOptions(**{**sizes, "version": 1, **more})


def column(**lists):
    return classes.RdfColumn(**lists)


def entry(*values, number=0):
    return classes.RdfLookupEntryPacked(id=number, values=values)


def frame(rows=0, *columns, ends=True, error="", **fields):
    """Returns a frame, which has a trailer if `ends`."""
    trailer = classes.SparqlResultsTrailer(error=error) if ends else None
    return classes.SparqlResultsFrame(row_count=rows, columns=columns, trailer=trailer, **fields)


def first(rows=0, *columns, variables=("v",), stream=None, **fields):
    """Returns a first frame with the names a to f under a prefix."""
    fields.setdefault("names", [entry(*"abcdef")])
    fields.setdefault("prefixes", [entry("http://e/")])
    return frame(rows, *columns, options=stream or options(), variables=variables, **fields)


def names(*ids, **more):
    return column(name_ids=ids, prefix_ids=[1], **more)


def iri(name=0, prefix=0):
    return classes.RdfIri(prefix_id=prefix, name_id=name)


def triple(**parts):
    return classes.RdfTripleTerm(**parts)


def ask(value, **fields):
    return frame(ask_result=classes.SparqlAskResult(value=value), **fields)


def cells(text):
    """Returns rows with one cell: a name, or _ for an unbound cell."""
    return [(None if name == "_" else ("iri", f"http://e/{name}"),) for name in text]


TRIPLE = ("triple", *(("iri", f"http://e/{name}") for name in "abc"))
THREE = triple(s_iri=iri(0, 1), p_iri=iri(), o_iri=iri())
NEXT = triple(s_iri=iri(), p_iri=iri(), o_iri=iri())
PUNCTUATED_OPTIONS = options(stream_type=PUNCTUATED)
# Frames, and the rows of their only or joined result set.
VALID = {
    "no repeats": ([first(4, names(0, 0, 0, 0))], cells("abcd")),
    "padded": ([first(5, names(0, 0))], cells("ab___")),
    "padded by a run": ([first(5, names(0, 0, layouts=[2 << 5 | 0x12]))], cells("ab___")),
    "unbound at the start": ([first(5, names(0, 0, layouts=[0x12]))], cells("___ab")),
    "unbound before a repeat": ([first(6, names(0, 0, layouts=[0x11, 1]))], cells("__aaab")),
    "two repeats": ([first(6, names(0, 0, 0, layouts=[0, 1]))], cells("aabbbc")),
    "repeat before unbound": ([first(6, names(0, 0, layouts=[1, 0x11]))], cells("aaa__b")),
    "longest codes": (
        [first(32, names(0, 0, layouts=[14, 0x1E]))],
        cells("a" * 16 + "_" * 15 + "b"),
    ),
    "shortest extensions": (
        [first(34, names(0, 0, layouts=[15, 0, 0x1F, 0]))],
        cells("a" * 17 + "_" * 16 + "b"),
    ),
    "long extensions": (
        [first(6001, names(0, 0, layouts=[15, 983, 0x1F, 4984]))],
        cells("a" * 1000 + "_" * 5000 + "b"),
    ),
    "long skips": (
        [first(309, names(*([1, 2] * 153), layouts=[4 << 5 | 0x10, 300 << 5 | 0x11]))],
        cells("ab" * 2 + "_" + "ab" * 150 + "__" + "ab"),
    ),
    "equal values without a run": ([first(4, names(1, 1, 1, 2))], cells("aaab")),
    "own prefix each": (
        [first(3, column(name_ids=[0, 0, 1], prefix_ids=[1, 0, 0]))],
        cells("aba"),
    ),
    "no prefix": (
        [first(1, column(name_ids=[1]), names=[entry("http://e/a")])],
        cells("a"),
    ),
    "first prefix inferred": (
        [
            first(
                2, column(name_ids=[1, 3], prefix_ids=[0, 1]), names=[entry("http://e/a", "b", "c")]
            )
        ],
        cells("ac"),
    ),
    "inferred and explicit names": ([first(5, names(4, 0, 0, 2, 0))], cells("defbc")),
    "inference begins again in each frame": (
        [first(3, names(0, 0, 0), ends=False), frame(1, names(0))],
        cells("abca"),
    ),
    "numbers continue in the next frame": (
        [first(1, names(6), ends=False), frame(1, names(7), names=[entry("g")])],
        cells("fg"),
    ),
    "explicit numbers": (
        [first(3, names(10, 0, 0), names=[entry("x", "y", number=10), entry("z")])],
        cells("xyz"),
    ),
    "replaced in a later frame": (
        [first(1, names(1), ends=False), frame(1, names(1), names=[entry("x", number=1)])],
        cells("ax"),
    ),
    "replaced in the frame": (
        [first(1, names(1), names=[entry("a", number=1), entry("b", number=1)])],
        cells("b"),
    ),
    "largest number": ([first(1, names(128), names=[entry("x", number=128)])], cells("x")),
    "no rows between": (
        [first(1, names(1), ends=False), frame(names=[entry("g")], ends=False), frame(1, names(7))],
        cells("ag"),
    ),
    "an empty column without rows": (
        [first(1, names(1), ends=False), frame(0, column(), ends=False), frame(1, names(2))],
        cells("ab"),
    ),
    "only a trailer": ([first(2, names(1, 2), ends=False), frame()], cells("ab")),
    "no variables": (
        [first(2, variables=(), ends=False), frame(1)],
        [()] * 3,
    ),
    "joined without variables": ([first(1, variables=()), first(2, variables=())], [()] * 3),
    "joined, other sizes": (
        [
            first(1, names(2)),
            first(1, names(1), stream=options(max_name_table_size=300), names=[entry("z")]),
        ],
        cells("bz"),
    ),
    "joined without a trailer": ([first(1, names(1), ends=False), first(1, names(2))], cells("ab")),
    "joined, another version of RDF": (
        [
            first(1, names(1), stream=options(rdf_version=1)),
            first(1, column(triple_terms=[THREE]), stream=options(rdf_version=3)),
        ],
        [*cells("a"), (TRIPLE,)],
    ),
    "one kind for all literals": (
        [first(2, column(lex_values=["x", "y"], literal_kinds=[2], langtags=["en"]))],
        [(("literal", text, "en", None, RDF_LANG),) for text in "xy"],
    ),
    "directions that are all 0": (
        [
            first(
                1,
                column(
                    lex_values=["x"], literal_kinds=[2], langtags=["en"], langtag_directions=[0]
                ),
                stream=options(rdf_version=1),
            )
        ],
        [(("literal", "x", "en", None, RDF_LANG),)],
    ),
    "IRIs of triple terms are inferred on": (
        [first(2, column(triple_terms=[THREE, NEXT]))],
        [(TRIPLE,), (("triple", *(("iri", f"http://e/{name}") for name in "def")),)],
    ),
    "IRIs of triple terms are inferred apart": (
        [
            first(
                3,
                column(
                    kinds=bytes([0b001100]), name_ids=[0, 0], prefix_ids=[1], triple_terms=[THREE]
                ),
            )
        ],
        [*cells("a"), (TRIPLE,), *cells("b")],
    ),
    "a repeated triple term": (
        [first(3, column(triple_terms=[THREE], layouts=[1]))],
        [(TRIPLE,)] * 3,
    ),
    "other metadata": ([first(1, names(1), metadata={"k": b"\xff"})], cells("a")),
    "links that are not UTF-8": ([first(1, names(1), metadata={"link": b"\xff"})], cells("a")),
    "punctuated": (
        [
            first(1, names(2), stream=PUNCTUATED_OPTIONS),
            frame(1, names(2), variables=["v"]),
            first(1, names(1), stream=PUNCTUATED_OPTIONS, names=[entry("z")]),
        ],
        cells("bbz"),
    ),
}


@pytest.mark.parametrize("case", VALID)
def test_valid_logs_are_read(case):
    frames, rows = VALID[case]
    data = delimited(frames)
    found = read(data)
    assert (found.rows, found.error) == (rows, "")
    if "UTF-8" not in case:
        sets = jelly_sparql_proto.decode(data)
        assert [row for one in sets for row in one.rows] == rows


@pytest.mark.parametrize("value", [True, False])
def test_answers_are_read(value):
    data = delimited([ask(value, options=options(), metadata={"k": b"\x01"})])
    assert read(data).answer is value
    joined = delimited([ask(value, options=PUNCTUATED_OPTIONS), ask(value)])
    assert read(joined) == ResultSet(answer=value)


LITERAL = {"lex_values": ["x"]}
INVALID = {
    "empty": [],
    "version 0": [first(stream=options(version=0))],
    "version 2": [first(stream=options(version=2))],
    "few names": [first(stream=options(max_name_table_size=127))],
    "huge tables": [first(stream=options(max_prefix_table_size=1 << 30))],
    "rdf_version": [first(stream=options(rdf_version=4))],
    "stream_type": [first(stream=options(stream_type=2))],
    "no prefix table": [first(stream=options(max_prefix_table_size=0))],
    "number beyond the table": [first(names=[entry("a", number=129)])],
    "run beyond the table": [first(names=[entry("a", "b", "c", number=127)])],
    "undefined prefix": [first(1, column(name_ids=[1], prefix_ids=[2]))],
    "undefined name": [first(1, names(7))],
    "two prefixes": [first(3, column(name_ids=[0, 0, 0], prefix_ids=[1, 1]))],
    "undefined datatype": [first(1, column(**LITERAL, literal_kinds=[1]))],
    "rdf:langString": [first(1, column(**LITERAL, literal_kinds=[1]), datatypes=[entry(RDF_LANG)])],
    "two literal kinds": [
        first(3, column(lex_values="abc", literal_kinds=[2, 2], langtags=["en"]))
    ],
    "undefined tag": [first(1, column(**LITERAL, literal_kinds=[4], langtags=["en"]))],
    "two directions": [
        first(1, column(**LITERAL, literal_kinds=[2], langtags=["en"], langtag_directions=[1, 2]))
    ],
    "direction 7": [
        first(1, column(**LITERAL, literal_kinds=[2], langtags=["en"], langtag_directions=[7]))
    ],
    "few kinds": [first(5, column(lex_values="abcde", kinds=b"\x55"))],
    "many kinds": [first(2, column(lex_values="ab", kinds=b"\x05\0"))],
    "no kinds": [first(2, column(lex_values="a", bnodes="b"))],
    "unused bits": [first(2, column(lex_values="ab", kinds=b"\x15"))],
    "other kinds": [first(2, column(name_ids=[1], lex_values="a", kinds=b"\0"))],
    "many rows": [first(1 << 27, variables=())],
    "a column too many": [first(1, names(1), names(1))],
    "a column too few": [first(1, names(1), variables=("x", "y"))],
    "no columns": [first(1, names(1), ends=False), frame(1)],
    "a column without variables": [first(1, names(1), variables=())],
    "variables again": [first(1, names(1), ends=False), frame(1, names(1), variables=["v"])],
    "joined, no variables": [first(1, names(1)), first(1, variables=())],
    "joined, other variables": [first(1, names(1)), first(1, names(1), variables=("w",))],
    "joined, few names": [first(), first(stream=options(max_name_table_size=10))],
    "joined, empty tables": [first(1, names(1)), first(1, names(1), names=[])],
    "skip beyond the values": [first(4, names(0, 0, layouts=[3 << 5 | 0x10]))],
    "repeat beyond the values": [first(4, names(0, 0, layouts=[2 << 5]))],
    "no extension": [first(20, names(0, 0, layouts=[15]))],
    "long repeat": [first(4, names(0, 0, layouts=[2]))],
    "long unbound run": [first(4, names(0, 0, layouts=[1 << 5 | 0x12]))],
    "many values": [first(2, names(0, 0, 0))],
    "huge extension": [first(4, names(0, layouts=[15, LONG]))],
    "a frame after the trailer": [first(1, names(1)), frame(1, names(1))],
    "an answer after rows": [first(1, names(1), ends=False), ask(True)],
    "an answer with variables": [ask(True, options=options(), variables=["v"])],
    "an answer with a row": [frame(1, options=options(), ask_result=classes.SparqlAskResult())],
    "a frame after an answer": [ask(True, options=options(), ends=False), frame()],
    "joined answers": [ask(True, options=options()), ask(True, options=options())],
    "no subject": [first(1, column(triple_terms=[triple(p_iri=iri(1, 1), o_iri=iri())]))],
    "no predicate": [first(1, column(triple_terms=[triple(s_iri=iri(1, 1), o_iri=iri())]))],
    "no object": [first(1, column(triple_terms=[triple(s_iri=iri(1, 1), p_iri=iri())]))],
    "triple terms in RDF 1.1": [
        first(1, column(triple_terms=[THREE]), stream=options(rdf_version=1))
    ],
    "options inside a result set": [
        first(1, names(1), stream=PUNCTUATED_OPTIONS, ends=False),
        first(1, names(1), stream=PUNCTUATED_OPTIONS),
    ],
    "another stream type": [first(), first(stream=PUNCTUATED_OPTIONS)],
    "no trailer": [first(1, names(1), ends=False)],
    "an empty name": [first(variables=("",))],
    "a variable twice": [first(variables=("v", "v"))],
}


@pytest.mark.parametrize("case", INVALID)
def test_invalid_logs_are_rejected(case):
    data = delimited(INVALID[case])
    assert "results-jelly: " in read(data).error
    if case != "huge tables":
        with pytest.raises(InvalidLogError):
            jelly_sparql_proto.decode(data)


def test_rows_before_the_error_of_a_trailer_are_returned():
    data = delimited([first(2, names(1, 2), ends=False), frame(error="timed out after 30 s")])
    found = read(data + delimited([first()]))
    assert found.rows == cells("ab")
    assert "the result set is incomplete; its trailer says 'timed out after 30 s'" in found.error

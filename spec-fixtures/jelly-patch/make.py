"""Generates the Jelly-Patch logs of this folder, and text files with their patches.

The logs are written with Google's protobuf, without rdfm.
`python spec-fixtures/jelly-patch/make.py` writes the files. A test compares them with
`generated_files()`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "tests"))

import jelly_patch_proto  # noqa: E402 - found because of the line above
from jelly_patch_proto import FLAT, FRAME, PUNCTUATED, TRIPLES, Writer, delimited  # noqa: E402
from nquads import literal  # noqa: E402

XSD = "http://www.w3.org/2001/XMLSchema#"


def iri(name: str) -> tuple:
    return ("iri", f"http://example.org/{name}")


def bnode(label: str) -> tuple:
    return ("bnode", label)


S, P, Q, O, G, H = (iri(name) for name in ("s", "p", "q", "things/o", "graphs#g", "graphs#h"))  # noqa: E741
B = bnode("b0")
ONE = literal("1", datatype=XSD + "integer")
BEGIN, COMMIT, ABORT = [("TX",)], [("TC",)], [("TA",)]

# Written with the statement type QUADS.
BASIC = [
    [
        ("H", "id", ("iri", "urn:uuid:1")),
        *BEGIN,
        ("PA", "ex", iri(""), None),
        ("A", S, P, O, None),
        ("A", S, P, ONE, G),
        ("D", S, P, literal("gone"), G),
        *COMMIT,
    ],
    [
        ("H", "id", ("iri", "urn:uuid:2")),
        ("H", "prev", ("iri", "urn:uuid:1")),
        *BEGIN,
        ("D", S, P, O, None),
        *COMMIT,
    ],
]
# Written with the statement type TRIPLES.
PLAIN = [
    [*BEGIN, ("PA", "", iri(""), None), ("A", S, P, O, None), ("PD", "", None), *COMMIT],
    [("D", S, P, O, None), ("D", S, P, ONE, None)],
]
EMPTY = [[], [("A", S, P, O, G)], [], [("D", S, P, O, G)], []]
HEADERS = [
    [
        ("H", "", literal("")),
        ("H", "note", literal('a "note"\n')),
        ("H", "greeting", literal("hej", "da")),
        ("H", "count", ONE),
        ("H", "by", B),
        ("A", B, P, O, None),
        ("H", "about", ("triple", B, P, ("triple", S, P, ONE))),
        # The value of a header is written in full even if it equals a term of an earlier quad.
        ("H", "again", B),
        ("H", "again", B),
    ]
]
NAMESPACES = [
    [
        ("PA", "ex", iri(""), G),
        ("PA", "g", iri("graphs#"), G),
        ("A", S, P, O, G),
        ("PD", "ex", G),
        ("PA", "d", iri("things/"), None),
        ("A", S, P, O, None),
        ("PD", "d", None),
        ("PD", "g", B),
        ("D", S, P, O, B),
    ],
    [("PA", "a.b", iri("x/"), B), ("A", S, P, ONE, B)],
]
REPEATED = [
    [
        *BEGIN,
        ("A", S, P, O, G),
        ("D", S, P, O, G),
        ("A", S, P, ONE, G),
        ("D", S, Q, ONE, H),
        *COMMIT,
    ],
    [*BEGIN, ("D", S, Q, ONE, H), ("A", B, Q, ONE, H), *ABORT, *BEGIN, ("A", B, Q, B, H), *COMMIT],
]
STAR = [
    [
        ("A", S, P, ("triple", S, P, O), None),
        (
            "D",
            ("triple", ("triple", B, P, ONE), Q, O),
            P,
            ("triple", B, P, literal("x", "ar", "rtl")),
            None,
        ),
    ]
]
GENERALIZED = [
    [
        ("A", literal("s"), B, ONE, literal("g")),
        ("D", B, literal("p", "en"), B, literal("g")),
        ("PA", "x", iri(""), literal("g")),
        ("A", S, ("triple", S, P, O), O, None),
    ]
]
LITERALS = [
    [
        ("A", S, P, literal(text, *more), None)
        for text, *more in (
            ("",),
            ('tab\tline\n\\ "q" é 😀',),
            ("x", "en-GB"),
            ("x", "he", "rtl"),
            ("x", "en", "ltr"),
            ("1", None, None, XSD + "integer"),
            ("x" * 300,),
        )
    ]
]
MANY = [
    [
        *BEGIN,
        *(
            (
                "AD"[at % 3 == 2],
                iri(f"n{at % 11}"),
                iri(f"p{at % 3}/x"),
                literal(str(at), datatype=f"{XSD}t{at % 4}"),
                iri(f"g{at % 5}/"),
            )
            for at in range(40)
        ),
        *COMMIT,
    ]
    for _ in range(2)
]


def write_log(
    patches, stream_type=PUNCTUATED, statement_type=2, frame_rows=None, **options
) -> Writer:
    writer = Writer(stream_type, statement_type, **options)
    for patch in patches:
        writer.patch(patch, frame_rows)
    if writer.rows:
        writer.end_frame()
    return writer


def logs() -> Iterator[tuple[str, list, bytes]]:
    """Yields the name, the patches and the bytes of each log."""

    def delimited_log(name, patches, stream_type=PUNCTUATED, *rest, **options):
        return name, patches, delimited(write_log(patches, stream_type, *rest, **options).frames)

    yield delimited_log("basic", BASIC)
    yield delimited_log("frames", BASIC, FRAME)
    yield delimited_log("triples", PLAIN, FRAME, TRIPLES)
    yield delimited_log("triples-short", PLAIN, PUNCTUATED, TRIPLES, short=True)
    yield delimited_log("flat", BASIC[:1], FLAT, frame_rows=3)
    yield delimited_log("flat-short", MANY[:1], FLAT, frame_rows=7, short=True)
    yield delimited_log("small-frames", BASIC, frame_rows=1)
    yield delimited_log("frames-across", REPEATED, frame_rows=4, short=True)
    yield delimited_log("empty", EMPTY)
    yield delimited_log("headers", HEADERS, FRAME)
    yield delimited_log("headers-short", HEADERS, short=True)
    yield delimited_log("namespaces", NAMESPACES, FRAME)
    yield delimited_log("namespaces-short", NAMESPACES, short=True)
    yield delimited_log("repeated", REPEATED, FRAME, short=True)
    yield delimited_log("star", STAR, FRAME, TRIPLES)
    yield delimited_log("star-short", STAR, short=True)
    yield delimited_log("generalized", GENERALIZED)
    yield delimited_log("literals", LITERALS, FLAT, TRIPLES, short=True)
    yield delimited_log("small-tables", MANY, short=True, sizes=(8, 5, 2))
    yield delimited_log("small-tables-frames", MANY, FRAME, sizes=(8, 5, 2))

    # Frames without rows, including before the options.
    writer = write_log(EMPTY, FRAME)
    empty = jelly_patch_proto.classes().RdfPatchFrame()
    yield "empty-frames", [[], *EMPTY, []], delimited([empty, *writer.frames, empty])
    writer = write_log(BASIC, frame_rows=6)
    frames = [frame for each in writer.frames for frame in (empty, each)]
    yield "empty-frames-punctuated", BASIC, delimited(frames)
    writer = write_log(BASIC[:1], FLAT, frame_rows=6)
    yield "empty-frames-flat", BASIC[:1], delimited([empty, *writer.frames, empty])

    # Options that are repeated without changes.
    writer = Writer(PUNCTUATED, short=True)
    for patch in REPEATED:
        writer.options()
        writer.patch(patch)
    yield "options-again", REPEATED, delimited(writer.frames)

    # A log without its last mark, like the logs that Jelly-JVM writes.
    writer = write_log(BASIC)
    del writer.frames[-1].rows[-1]
    yield "no-last-mark", BASIC, delimited(writer.frames)

    # As in logs written by Jelly-JVM, a namespace before the first graph has no graph.
    writer = Writer(PUNCTUATED, short=True)
    writer.last_terms["g"] = None
    patch = [("PA", "ex", iri(""), None), ("PD", "ex", None), ("A", S, P, O, G), ("PD", "g", G)]
    writer.patch(patch)
    yield "no-first-graph", [patch], delimited(writer.frames)

    # Logs of one frame without its length.
    yield "bare-frame", BASIC[:1], write_log(BASIC[:1], FRAME).frames[0].SerializeToString()
    writer = write_log(BASIC, frame_rows=1000)
    yield "bare-punctuated", BASIC, writer.frames[0].SerializeToString()


def generated_files() -> Iterator[tuple[Path, bytes]]:
    """Yields the path and content of each file."""
    for name, patches, data in logs():
        yield FOLDER / f"{name}.jellyp", data
        yield FOLDER / f"{name}.txt", jelly_patch_proto.text(patches).encode()


if __name__ == "__main__":
    for path, data in generated_files():
        path.write_bytes(data)

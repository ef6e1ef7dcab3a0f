"""Nanopublications for tests, and an implementation of trusty URIs that is independent of rdfm.

Quads are tuples of terms as in `nquads`: subject, predicate, object, graph. `code_of` follows the
five steps of the trusty URI specification (module RA), with hashlib.
"""

import base64
import hashlib
import re

from nquads import XSD_STRING, literal

NP = "http://www.nanopub.org/nschema#"
NPX = "http://purl.org/nanopub/x/"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
DCTERMS = "http://purl.org/dc/terms/"
PROV = "http://www.w3.org/ns/prov#"
BASE = "http://example.org/np/"
PLACEHOLDER = " "  # replaces the artifact code until it is computed


def iri(text):
    return ("iri", text)


def triple(subject, predicate, object):
    """Returns a triple of IRIs. The object may also be a term, given as a tuple."""
    return (iri(subject), iri(predicate), object if isinstance(object, tuple) else iri(object))


def nanopub(
    base=BASE + PLACEHOLDER,
    assertion=(),
    info=(),
    provenance=(),
    separator="/",
    quads=(),
    head=None,
):
    """Returns a valid nanopublication that contains the given triples and quads."""
    graphs = {name: base + separator + name for name in ("head", "assertion", "provenance", "info")}
    graph_links = [("hasAssertion", "assertion"), ("hasProvenance", "provenance")]
    graph_links.append(("hasPublicationInfo", "info"))
    links = [triple(base, NP + link, graphs[name]) for link, name in graph_links]
    contents = {
        "head": head or [triple(base, RDF_TYPE, NP + "Nanopublication"), *links],
        "assertion": assertion or [triple("http://e/s", "http://e/p", "http://e/o")],
        "provenance": [
            triple(graphs["assertion"], PROV + "wasAttributedTo", "http://e/me"),
            *provenance,
        ],
        "info": [triple(base, DCTERMS + "created", literal("2026-11-01")), *info],
    }
    result = [(*each, iri(graphs[name])) for name, triples in contents.items() for each in triples]
    return [*result, *quads]


# --- the five steps of the trusty URI specification ---


def preprocessed(term, code):
    """Step 1: replaces the code with a space in IRIs, but not in literals."""
    assert term is None or term[0] in ("iri", "literal"), term
    if term is not None and term[0] == "iri" and code is not None:
        return ("iri", term[1].replace(code, " "))
    return term


def sort_key(quad):
    """Step 2: returns the sort key of a quad, from its graph, subject, predicate and object.

    IRIs precede literals. Literals with a language precede those with a datatype.
    """
    subject, predicate, object, graph = quad
    if object[0] == "iri":
        object_key = (0, object[1], 0, "")
    elif object[2] is not None:
        object_key = (1, object[1], 0, object[2].lower())
    else:
        object_key = (1, object[1], 1, object[4])
    return ("" if graph is None else graph[1], subject[1], predicate[1], object_key)


def line(term):
    """Step 4: returns a term as a line."""
    if term is None:
        return "\n"
    if term[0] == "iri":
        return term[1] + "\n"
    _, lexical, language, _, datatype = term
    kind = f"^{datatype or XSD_STRING}" if language is None else f"@{language.lower()}"
    return kind + " " + lexical.replace("\\", "\\\\").replace("\n", "\\n") + "\n"


def text_of(quads, code=None):
    """Returns the text of quads, by steps 1 to 4."""
    cleaned = [tuple(preprocessed(term, code) for term in quad) for quad in quads]
    lines, previous = [], None
    for quad in sorted(cleaned, key=sort_key):
        key = sort_key(quad)
        if key != previous:  # step 3
            subject, predicate, object, graph = quad
            lines += [line(graph), line(subject), line(predicate), line(object)]
        previous = key
    return "".join(lines).encode()


def code_of(quads, code=None):
    """Returns the artifact code of quads, by steps 1 to 5."""
    digest = hashlib.sha256(text_of(quads, code)).digest()
    return "RA" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def own_code(quads):
    """Returns the code in the IRI of the nanopublication, or None."""
    (uri,) = {
        quad[0][1]
        for quad in quads
        if quad[1] == iri(RDF_TYPE) and quad[2] == iri(NP + "Nanopublication")
    }
    found = re.search(r"[^A-Za-z0-9_-](RA[A-Za-z0-9_-]{43})$", uri)
    return found[1] if found else None


def with_code(quads, code):
    """Replaces the placeholder in the quads with the code."""

    def term(each):
        is_iri = each is not None and each[0] == "iri"
        return ("iri", each[1].replace(PLACEHOLDER, code)) if is_iri else each

    return [tuple(map(term, quad)) for quad in quads]


def trusty(quads=None):
    """Returns the nanopublication with its trusty URI."""
    quads = nanopub() if quads is None else quads
    return with_code(quads, code_of(quads))


def signed(sign, algorithm, public_key, quads=None, **other):
    """Returns the nanopublication with a signature and a trusty URI.

    Args:
        sign: Function that returns the signature of bytes.
        algorithm: "RSA" or "DSA".
        public_key: The key in Base64.
        quads: The quads, with placeholders.
        other: Values that replace those of the signature element; None omits a value.
    """
    quads = nanopub() if quads is None else quads
    base, info = BASE + PLACEHOLDER, iri(BASE + PLACEHOLDER + "/info")
    element = iri(base + "/sig")
    values = {"Algorithm": literal(algorithm), "PublicKey": literal(public_key)}
    values = {**values, "SignatureTarget": iri(base), **other}
    quads = quads + [
        (element, iri(NPX + "has" + name), value, info)
        for name, value in values.items()
        if value is not None and name != "Signature"
    ]
    signature = base64.b64encode(sign(text_of(quads))).decode()
    value = (
        values.get("Signature", literal(signature)) if "Signature" in values else literal(signature)
    )
    if value is not None:
        quads = [*quads, (element, iri(NPX + "hasSignature"), value, info)]
    return trusty(quads)


# --- output as N-Quads ---


def term_as_nquads(term):
    if term[0] == "iri":
        return f"<{term[1]}>"
    if term[0] == "bnode":
        return f"_:{term[1]}"
    _, lexical, language, _, datatype = term
    text = "".join({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}.get(c, c) for c in lexical)
    if language is not None:
        return f'"{text}"@{language}'
    return f'"{text}"' + ("" if datatype in (None, XSD_STRING) else f"^^<{datatype}>")


def nq(*messages):
    """Returns messages as N-Quads."""
    return "# @message\n".join(
        "".join(
            " ".join(term_as_nquads(term) for term in quad if term is not None) + " .\n"
            for quad in quads
        )
        for quads in messages
    ).encode()

"""Generates the benchmark logs, which are identical on every machine.

Pseudorandom numbers are derived from a counter.

- In: a folder and sizes in messages.
- Out: `iot.{nq,jelly}`, `osm.{nq,jelly}`, `nanopubs.{nq,trig}` in that folder; existing files are
  kept.
- Cost: about a minute for the full sizes, mostly for writing the Jelly files with pyjelly.
- Law: the same sizes produce the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

# A message is a list of quads. A quad is four terms as N-Triples text; "" is the default graph.
TextQuad = tuple[str, str, str, str]


def mix(number: int, salt: int) -> int:
    """Hashes a counter to a well-distributed 32-bit number, with the finalizer of MurmurHash3."""
    x = (number * 0x9E3779B1 + salt * 0x85EBCA6B) & 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return x ^ (x >> 16)


def moment(seconds: int) -> str:
    """A date and time in June 2026, as a literal."""
    day, rest = divmod(seconds, 86400)
    hour, rest = divmod(rest, 3600)
    minute, second = divmod(rest, 60)
    return f'"2026-06-{day % 30 + 1:02}T{hour:02}:{minute:02}:{second:02}Z"^^<{XSD}dateTime>'


def iot_messages(count: int) -> Iterator[list[TextQuad]]:
    """Observations of 500 sensors, six triples each. Their results are blank nodes."""
    sosa, om = (
        "http://www.w3.org/ns/sosa/",
        "http://www.ontology-of-units-of-measure.org/resource/om-2/",
    )
    units = ("degreeCelsius", "percent", "pascal", "lux")
    for i in range(count):
        sensor = mix(i, 1) % 500
        observation, result = f"<https://iot.example/observation/{i}>", "_:r"
        value = (mix(i, 2) % 4000) / 100
        yield [
            (observation, RDF_TYPE, f"<{sosa}Observation>", ""),
            (observation, f"<{sosa}madeBySensor>", f"<https://iot.example/sensor/{sensor}>", ""),
            (observation, f"<{sosa}resultTime>", moment(i * 3), ""),
            (observation, f"<{sosa}hasResult>", result, ""),
            (result, f"<{om}hasNumericalValue>", f'"{value}"^^<{XSD}double>', ""),
            (result, f"<{om}hasUnit>", f"<{om}{units[sensor % 4]}>", ""),
        ]


def osm_messages(count: int) -> Iterator[list[TextQuad]]:
    """Map nodes with geometries, tags and surrounding areas, thirty triples each."""
    osm, geo = "https://www.openstreetmap.org/", "http://www.opengis.net/ont/geosparql#"
    geom, key = "https://osm2rdf.example/geom#", "https://www.openstreetmap.org/wiki/Key:"
    wkt = f"^^<{geo}wktLiteral>"
    streets = [
        f"{a}{b}"
        for a in ("Nørre", "Vester", "Øster", "Søndre", "Ny", "Gamle")
        for b in ("gade", " Allé", "vej")
    ]
    tags = (
        "amenity",
        "building",
        "cuisine",
        "level",
        "name",
        "note",
        "operator",
        "phone",
        "ref",
        "surface",
        "website",
    )
    for i in range(count):
        number = 340_000_000 + i * 7
        x, y = 8 + (mix(i, 1) % 6_000_000) / 1e6, 54 + (mix(i, 2) % 3_000_000) / 1e6
        node, centroid, shape = (
            f"<{osm}node/{number}>",
            f"<{geom}node_centroid_{number}>",
            f"<{geom}node_{number}>",
        )
        at = f"{x:.6f} {y:.6f}"
        quads = [
            (centroid, f"<{geo}asWKT>", f'"POINT({at})"{wkt}', ""),
            (shape, f"<{geo}asWKT>", f'"POINT({at})"{wkt}', ""),
            (node, RDF_TYPE, f"<{osm}node>", ""),
            (node, f"<{geo}hasCentroid>", centroid, ""),
            (node, f"<{geo}hasGeometry>", shape, ""),
            (node, f"<{geom}envelope>", f'"POLYGON(({",".join([at] * 5)}))"{wkt}', ""),
            (node, f"<{osm}meta/timestamp>", moment(i * 40), ""),
            (node, f"<{osm}meta/version>", f'"{mix(i, 3) % 9 + 1}"^^<{XSD}integer>', ""),
            (node, f"<{key}addr:city>", f'"By {mix(i, 4) % 300}"@da', ""),
            (
                node,
                f"<{key}addr:street>",
                f'"{streets[mix(i, 5) % len(streets)]} {mix(i, 6) % 40}"@da',
                "",
            ),
            (node, f"<{key}addr:postcode>", f'"{1000 + mix(i, 7) % 9000}"', ""),
        ]
        quads += [
            (node, f"<{key}{tag}>", f'"{tag} {mix(i, 10 + n) % 50}"', "")
            for n, tag in enumerate(tags)
        ]
        areas = (("relation", 2_000_000, 900), ("way", 500_000_000, 90_000))
        for n in range(30 - len(quads)):
            kind, first, area_count = areas[n % 2]
            area = f"<{osm}{kind}/{first + mix(i // 20, 30 + n) % area_count}>"
            quads.append((node, "<http://www.opengis.net/rdf#sfIntersects>", area, ""))
        yield quads


NANOPUB_NAMESPACES = {
    "np": "http://www.nanopub.org/nschema#",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "pav": "http://purl.org/pav/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": XSD,
    "orcid": "https://orcid.org/",
    "gene": "http://identifiers.org/ncbigene/",
    "sio": "http://semanticscience.org/resource/",
    "ex": "https://nanopub.example/terms/",
}
_NANOPUB = """\
@prefix this: <https://nanopub.example/RA{code}> .
@prefix sub: <https://nanopub.example/RA{code}#> .

sub:Head {{
    this: a np:Nanopublication ;
        np:hasAssertion sub:assertion ;
        np:hasProvenance sub:provenance ;
        np:hasPublicationInfo sub:pubinfo .
    sub:assertion a np:Assertion .
    sub:provenance a np:Provenance .
    sub:pubinfo a np:PublicationInfo .
}}
sub:assertion {{
    sub:association a sio:SIO_001122 ;
        sio:SIO_000628 gene:{gene}, gene:{other} ;
        sio:SIO_000216 _:score ;
        rdfs:label "association of gene {gene} and gene {other}"@en .
    _:score a sio:SIO_000300 ;
        sio:SIO_000300 {score} .
    gene:{gene} a ex:Gene .
    gene:{other} a ex:Gene .
}}
sub:provenance {{
    sub:assertion prov:wasDerivedFrom <https://pubmed.ncbi.nlm.nih.gov/{paper}> ;
        prov:wasAttributedTo orcid:0000-0001-{a:04}-{b:04} ;
        prov:wasGeneratedBy sub:activity ;
        dct:description \"\"\"Paper {paper} names both, \\"gene {gene}\\" first.\"\"\"@en .
    sub:activity a prov:Activity ;
        prov:used ex:textmining-{tool} .
}}
sub:pubinfo {{
    this: dct:created "{date}"^^xsd:dateTime ;
        dct:creator orcid:0000-0001-{a:04}-{b:04} ;
        dct:license <https://creativecommons.org/licenses/by/4.0/> ;
        dct:isPartOf ex:collection-{tool} ;
        pav:version "{version}" ;
        rdfs:label "nanopublication {code}" ;
        ex:wasCreatedAt <https://nanodash.example/> ;
        ex:checked true .
}}
"""


def nanopub_fields(i: int) -> dict[str, Any]:
    """The values that differ between nanopublications."""
    code = "".join(f"{mix(i, salt):08x}" for salt in range(4))
    return {
        "code": code,
        "gene": mix(i, 5) % 20000 + 1,
        "other": mix(i, 6) % 20000 + 20001,
        "score": f"0.{mix(i, 7) % 1000:03}",
        "paper": 10_000_000 + mix(i, 8) % 20_000_000,
        "a": mix(i // 50, 9) % 10000,
        "b": mix(i // 50, 10) % 10000,
        "tool": mix(i // 50, 11) % 9,
        "date": moment(i * 11)[1:21],
        "version": f"{i % 3}.{i % 7}",
    }


def nanopub_trig(count: int) -> Iterator[str]:
    """A TriG log in the comment dialect. Each message redefines two of the prefixes."""
    for name, iri in NANOPUB_NAMESPACES.items():
        yield f"@prefix {name}: <{iri}> .\n"
    for i in range(count):
        yield ("\n" if i == 0 else "\n# @message\n") + _NANOPUB.format_map(nanopub_fields(i))


def nanopub_messages(count: int) -> Iterator[list[TextQuad]]:
    """The messages of `nanopub_trig` as quads."""
    spaces = {name: f"<{iri}{{}}>" for name, iri in NANOPUB_NAMESPACES.items()}
    for i in range(count):
        f = nanopub_fields(i)
        this = f"<https://nanopub.example/RA{f['code']}>"
        head, assertion, provenance, pubinfo, association, activity = (
            f"{this[:-1]}#{name}>"
            for name in ("Head", "assertion", "provenance", "pubinfo", "association", "activity")
        )

        def term(name: str) -> str:
            prefix, _, local = name.partition(":")
            return spaces[prefix].format(local)

        author = term(f"orcid:0000-0001-{f['a']:04}-{f['b']:04}")
        gene, other = term(f"gene:{f['gene']}"), term(f"gene:{f['other']}")
        quads = (
            (head, this, RDF_TYPE, term("np:Nanopublication")),
            (head, this, term("np:hasAssertion"), assertion),
            (head, this, term("np:hasProvenance"), provenance),
            (head, this, term("np:hasPublicationInfo"), pubinfo),
            (head, assertion, RDF_TYPE, term("np:Assertion")),
            (head, provenance, RDF_TYPE, term("np:Provenance")),
            (head, pubinfo, RDF_TYPE, term("np:PublicationInfo")),
            (assertion, association, RDF_TYPE, term("sio:SIO_001122")),
            (assertion, association, term("sio:SIO_000628"), gene),
            (assertion, association, term("sio:SIO_000628"), other),
            (assertion, association, term("sio:SIO_000216"), "_:score"),
            (
                assertion,
                association,
                term("rdfs:label"),
                f'"association of gene {f["gene"]} and gene {f["other"]}"@en',
            ),
            (assertion, "_:score", RDF_TYPE, term("sio:SIO_000300")),
            (
                assertion,
                "_:score",
                term("sio:SIO_000300"),
                f'"{f["score"]}"^^{term("xsd:decimal")}',
            ),
            (assertion, gene, RDF_TYPE, term("ex:Gene")),
            (assertion, other, RDF_TYPE, term("ex:Gene")),
            (
                provenance,
                assertion,
                term("prov:wasDerivedFrom"),
                f"<https://pubmed.ncbi.nlm.nih.gov/{f['paper']}>",
            ),
            (provenance, assertion, term("prov:wasAttributedTo"), author),
            (provenance, assertion, term("prov:wasGeneratedBy"), activity),
            (
                provenance,
                assertion,
                term("dct:description"),
                f'"Paper {f["paper"]} names both, \\"gene {f["gene"]}\\" first."@en',
            ),
            (provenance, activity, RDF_TYPE, term("prov:Activity")),
            (provenance, activity, term("prov:used"), term(f"ex:textmining-{f['tool']}")),
            (pubinfo, this, term("dct:created"), f'"{f["date"]}"^^{term("xsd:dateTime")}'),
            (pubinfo, this, term("dct:creator"), author),
            (pubinfo, this, term("dct:license"), "<https://creativecommons.org/licenses/by/4.0/>"),
            (pubinfo, this, term("dct:isPartOf"), term(f"ex:collection-{f['tool']}")),
            (pubinfo, this, term("pav:version"), f'"{f["version"]}"'),
            (pubinfo, this, term("rdfs:label"), f'"nanopublication {f["code"]}"'),
            (pubinfo, this, term("ex:wasCreatedAt"), "<https://nanodash.example/>"),
            (pubinfo, this, term("ex:checked"), f'"true"^^{term("xsd:boolean")}'),
        )
        yield [(s, p, o, g) for g, s, p, o in quads]


def nquads(messages: Iterator[list[TextQuad]]) -> Iterator[str]:
    """An N-Quads log in the comment dialect."""
    for i, message in enumerate(messages):
        delimiter = "# @message\n" if i else ""
        yield delimiter + "".join(
            f"{s} {p} {o} {g} .\n" if g else f"{s} {p} {o} .\n" for s, p, o, g in message
        )


def jelly(messages: Iterator[list[TextQuad]]) -> Iterator[bytes]:
    """A Jelly log of triples with one frame per message, written by pyjelly with its defaults."""
    import pyjelly.jelly as proto
    from pyjelly.integrations.generic.serialize import grouped_stream_to_frames
    from pyjelly.serialize.streams import SerializerOptions

    options = SerializerOptions(logical_type=proto.LOGICAL_STREAM_TYPE_GRAPHS)
    for frame in grouped_stream_to_frames(map(pyjelly_sink, messages), options):
        data = frame.SerializeToString()
        yield varint(len(data)) + data


def varint(number: int) -> bytes:
    """A Protobuf varint."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def pyjelly_sink(message: list[TextQuad]) -> Any:
    """Converts a message to pyjelly's representation."""
    from pyjelly.integrations.generic.generic_sink import GenericStatementSink, Quad, Triple

    sink = GenericStatementSink()
    for s, p, o, g in message:
        triple = pyjelly_term(s), pyjelly_term(p), pyjelly_term(o)
        sink.add(Quad(*triple, pyjelly_term(g)) if g else Triple(*triple))
    return sink


LITERAL = re.compile(r'"(.*)"(?:@(.+)|\^\^<(.+)>)?', re.DOTALL)


@lru_cache(100_000)
def pyjelly_term(text: str) -> Any:
    """Converts a term to pyjelly's representation."""
    from pyjelly.integrations.generic.generic_sink import IRI, BlankNode, Literal

    if text[0] == "<":
        return IRI(text[1:-1])
    if text[0] == "_":
        return BlankNode(text[2:])
    matched = LITERAL.fullmatch(text)
    assert matched
    lexical, language, datatype = matched.groups()
    return Literal(lexical.replace('\\"', '"'), language, datatype)


def write(path: Path, pieces: Iterator[str] | Iterator[bytes]) -> None:
    """Writes a file atomically, unless it exists."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(path.suffix + ".partial")
    with partial.open("wb") as file:
        file.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
    partial.replace(path)


MESSAGES: dict[str, Callable[[int], Iterator[list[TextQuad]]]] = {
    "iot": iot_messages,
    "osm": osm_messages,
    "nanopubs": nanopub_messages,
}


def generate(folder: Path, sizes: dict[str, int]) -> None:
    """Creates the missing files.

    Args:
        folder: Folder for the logs.
        sizes: Number of messages, by name: `iot`, `osm` and `nanopubs`.
    """
    for name, count in sizes.items():
        write(folder / f"{name}.nq", nquads(MESSAGES[name](count)))
        if name == "nanopubs":
            write(folder / f"{name}.trig", nanopub_trig(count))
        else:
            write(folder / f"{name}.jelly", jelly(MESSAGES[name](count)))

"""Writes a RiverBench package without rdfm, following RiverBench's documentation.

This module uses gzip, tarfile, pyoxigraph, pyjelly and rdflib.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import tarfile
from pathlib import Path

import pyjelly.jelly as proto
import pyoxigraph as ox
import rdflib
from pyjelly.integrations.generic.generic_sink import (
    IRI,
    BlankNode,
    DefaultGraph,
    GenericStatementSink,
    Literal,
    Quad,
    Triple,
)
from pyjelly.integrations.generic.serialize import grouped_stream_to_frames
from pyjelly.serialize.streams import SerializerOptions
from rdflib import DCTERMS, RDF, XSD

RB = rdflib.Namespace("https://w3id.org/riverbench/schema/metadata#")
RBDOC = rdflib.Namespace("https://w3id.org/riverbench/schema/documentation#")
STAX = rdflib.Namespace("https://w3id.org/stax/ontology#")
DCAT = rdflib.Namespace("http://www.w3.org/ns/dcat#")
SPDX = rdflib.Namespace("http://spdx.org/rdf/terms#")
DATASET = rdflib.URIRef("https://w3id.org/riverbench/temp#dataset")
SIZES = {"10K": 10_000, "100K": 100_000}
SAMPLES = (0, 10, 100, 1000, 10_000)
TITLES = {"flat": "flat", "stream": "stream", "jelly": "Jelly"}
LOGICAL_TYPES = {
    "graphStream": proto.LOGICAL_STREAM_TYPE_GRAPHS,
    "namedGraphStream": proto.LOGICAL_STREAM_TYPE_NAMED_GRAPHS,
    "datasetStream": proto.LOGICAL_STREAM_TYPE_DATASETS,
}
CONTROL_CHARACTERS = {*range(9), 11, 12, *range(14, 20)}
XSD_STRING = str(XSD.string)


def parse(text):
    """Returns the distinct quads of a message in N-Quads."""
    return list(dict.fromkeys(ox.parse(text, ox.RdfFormat.N_QUADS)))


def jena_text(term):
    """Returns the text by which RiverBench sorts a term."""
    if isinstance(term, ox.Literal):
        text = '"' + term.value.replace('"', '\\"') + '"'
        if term.language:
            return f"{text}@{term.language}"
        return text if term.datatype.value == XSD_STRING else f"{text}^^{term.datatype.value}"
    return "urn:x-arq:DefaultGraph" if isinstance(term, ox.DefaultGraph) else term.value


def key(quad):
    """Returns the key by which RiverBench sorts a quad: the text of its terms in UTF-16."""
    terms = (quad.graph_name, quad.subject, quad.predicate, quad.object)
    return [jena_text(term).encode("utf-16-be") for term in terms]


def line(quad):
    """Returns the line of a quad in a flat file."""
    graph = "" if isinstance(quad.graph_name, ox.DefaultGraph) else f" {quad.graph_name}"
    return f"{quad.subject} {quad.predicate} {quad.object}{graph} .\n"


def pyjelly_term(term):
    if isinstance(term, ox.NamedNode):
        return IRI(term.value)
    if isinstance(term, ox.BlankNode):
        return BlankNode(term.value)
    if isinstance(term, ox.DefaultGraph):
        return DefaultGraph
    datatype = None if term.datatype.value == XSD_STRING else term.datatype.value
    return Literal(term.value, term.language, None if term.language else datatype)


def jelly(messages, grouped, triples):
    """Returns a Jelly file with a frame for each message."""
    sinks = []
    for message in messages:
        sink = GenericStatementSink()
        for quad in message:
            terms = [pyjelly_term(term) for term in (quad.subject, quad.predicate, quad.object)]
            sink.add(Triple(*terms) if triples else Quad(*terms, pyjelly_term(quad.graph_name)))
        sinks.append(sink)
    out = bytearray()
    for frame in grouped_stream_to_frames(
        iter(sinks), SerializerOptions(logical_type=LOGICAL_TYPES[grouped])
    ):
        data = frame.SerializeToString()
        length = len(data)
        while length > 0x7F:
            out.append(length & 0x7F | 0x80)
            length >>= 7
        out.append(length)
        out += data
    return bytes(out)


def path_of(number, size, suffix):
    """Returns the path of a message in an archive of `size` messages."""
    depth = math.floor(math.log10(size - 1) / 3) if size > 1 else 0
    digits = f"{number:010}"
    folders = "".join(f"{digits[max(0, 10 + 3 * (d - 1)) : 10 + 3 * d]}/" for d in range(-depth, 0))
    return f"{folders}{digits}.{suffix}"


def tar(texts, suffix):
    """Returns a tar archive with a file per message, and folder entries that readers ignore."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        folders = set()
        for number, text in enumerate(texts):
            name = path_of(number, len(texts), suffix)
            folder, _, _ = name.rpartition("/")
            if folder and folder not in folders:
                folders.add(folder)
                entry = tarfile.TarInfo(folder.rpartition("/")[2] + "/")
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    return out.getvalue()


def series(values, unique=None, bounds=True):
    """Returns statistics of numbers, as predicates and objects."""
    mean = sum(values) / len(values)
    square = sum(value * value for value in values) / len(values)
    found = {
        "minimum": min(values),
        "maximum": max(values),
        "mean": mean,
        "standardDeviation": math.sqrt(max(0.0, square - mean * mean)),
    }
    if all(isinstance(value, int) for value in values):
        found["sum"] = sum(values)
    if unique is not None:
        found["uniqueCount"] = len(unique)
        if bounds:
            found |= {"uniqueCountLowerBound": len(unique), "uniqueCountUpperBound": len(unique)}
    return found


def statistics(messages, delimiter=b"MESSAGE\n"):
    """Returns RiverBench's fifteen statistics for messages without quoted triples."""
    names = "Iri BlankNode Literal SimpleLiteral DatatypeLiteral LanguageLiteral Datatype Subject Predicate Object Graph"
    unique = {name: set() for name in names.split()}
    values = {name: [] for name in [*unique, "AsciiControlCharacter", "QuotedTriple", "Statement"]}
    density = []
    for number, message in enumerate(messages):
        message_terms = {name: set() for name in unique}
        controls = 0
        for quad in message:
            graph_terms = [] if isinstance(quad.graph_name, ox.DefaultGraph) else [quad.graph_name]
            message_terms["Subject"].add(quad.subject)
            message_terms["Predicate"].add(quad.predicate)
            message_terms["Object"].add(quad.object)
            message_terms["Graph"].add(quad.graph_name)
            for term in (quad.subject, quad.predicate, quad.object, *graph_terms):
                if isinstance(term, ox.NamedNode):
                    message_terms["Iri"].add(term)
                elif isinstance(term, ox.BlankNode):
                    message_terms["BlankNode"].add((number, term))
                else:
                    message_terms["Literal"].add(term)
                    controls += sum(ord(c) in CONTROL_CHARACTERS for c in term.value)
                    if term.language:
                        message_terms["LanguageLiteral"].add(term)
                    elif term.datatype.value == XSD_STRING:
                        message_terms["SimpleLiteral"].add(term)
                    else:
                        message_terms["DatatypeLiteral"].add(term)
                        message_terms["Datatype"].add(term.datatype)
        for name, terms in message_terms.items():
            values[name].append(len(terms))
            # Blank nodes of different messages are different terms.
            unique[name] |= {
                (number, term) if isinstance(term, ox.BlankNode) else term for term in terms
            }
        values["AsciiControlCharacter"].append(controls)
        values["QuotedTriple"].append(0)
        values["Statement"].append(len(message))
        if message:
            size = sum(len(line(quad).encode()) for quad in message) + len(delimiter)
            density.append(size / len(message))
    without_unique_count = ("BlankNode", "AsciiControlCharacter", "QuotedTriple", "Statement")
    found = {
        f"{name}CountStatistics": series(
            numbers, None if name in without_unique_count else unique[name], name != "Datatype"
        )
        for name, numbers in values.items()
    }
    found["ByteDensityStatistics"] = series(density)
    return found


def write_package(folder, texts, grouped="graphStream", *, plain=False):
    """Writes a package.

    Args:
        folder: The folder, which must not exist.
        texts: The messages as N-Quads.
        grouped: Local name of the grouped stream type.
        plain: Whether flat files have no message boundaries.
    """
    folder = Path(folder)
    folder.mkdir()
    triples = grouped == "graphStream"
    flat, suffix = ("nt", "ttl") if triples else ("nq", "trig")
    format = ox.RdfFormat.TURTLE if triples else ox.RdfFormat.TRIG
    messages = [sorted(parse(text), key=key) for text in texts]
    documents = [
        ox.serialize((quad.triple for quad in message) if triples else message, format=format)
        for message in messages
    ]
    sizes = {name: size for name, size in SIZES.items() if size <= len(messages)}
    graph = rdflib.Graph()

    def usage(node, *types):
        for local in types:
            stream_type_usage = rdflib.BNode()
            graph.add((node, STAX.hasStreamTypeUsage, stream_type_usage))
            graph.add((stream_type_usage, RDF.type, STAX.RdfStreamTypeUsage))
            graph.add((stream_type_usage, STAX.hasStreamType, STAX[local]))

    flat_type = "flatTripleStream" if triples else "flatQuadStream"
    usage(DATASET, grouped, flat_type)
    for size_name, size in {**sizes, "full": len(messages)}.items():
        selected = messages[:size]
        lines = ["".join(map(line, message)) for message in selected]
        announced = 'VERSION "1.1-messages"\n' + "".join(f"{text}MESSAGE\n" for text in lines)
        files = {
            "flat": (f"{flat}.gz", ("".join(lines) if plain else announced).encode()),
            "stream": ("tar.gz", tar(documents[:size], suffix)),
            "jelly": ("jelly.gz", jelly(selected, grouped, triples)),
        }
        statistics_set = DATASET + f"#statistics-{size_name.lower()}"
        graph.add((statistics_set, RDF.type, RB.StatisticsSet))
        for name, facts in statistics(selected, b"" if plain else b"MESSAGE\n").items():
            node = rdflib.BNode()
            graph.add((statistics_set, RB.hasStatistics, node))
            graph.add((node, RDF.type, RB[name]))
            for local, value in facts.items():
                graph.add((node, RB[local], rdflib.Literal(value)))
        for kind, (extension, data) in files.items():
            name = f"{kind}_{size_name}.{extension}"
            path = folder / name
            path.write_bytes(gzip.compress(data, 1, mtime=0))
            written = path.read_bytes()
            local = f"{kind}-{size_name.lower()}"
            node = DATASET + f"#{local}"
            graph.add((DATASET, DCAT.distribution, node))
            part = "full" if size_name == "full" else "partial"
            start = "Full" if size_name == "full" else f"{size_name} elements"
            media = {
                "flat": "application/n-triples" if triples else "application/n-quads",
                "stream": "text/turtle" if triples else "application/trig",
                "jelly": "application/x-jelly-rdf",
            }[kind]
            for predicate, value in (
                (RDF.type, RB.Distribution),
                (RDF.type, DCAT.Distribution),
                (DCTERMS.identifier, rdflib.Literal(local)),
                (DCTERMS.title, rdflib.Literal(f"{start} {TITLES[kind]} distribution")),
                (RB.hasFileName, rdflib.Literal(name)),
                (RB.hasDistributionType, RB[f"{kind}Distribution"]),
                (RB.hasDistributionType, RB[f"{part}Distribution"]),
                (RB.hasStreamElementCount, rdflib.Literal(size, datatype=XSD.long)),
                (DCAT.byteSize, rdflib.Literal(len(written), datatype=XSD.long)),
                (DCAT.compressFormat, rdflib.Literal("application/gzip")),
                (DCAT.mediaType, rdflib.Literal(media)),
                (DCAT.isDistributionOf, DATASET),
                (RB.hasStatisticsSet, statistics_set),
                (RBDOC.hasDocWeight, rdflib.Literal(0)),
            ):
                graph.add((node, predicate, value))
            if kind == "stream":
                graph.add((node, DCAT.packageFormat, rdflib.Literal("application/tar")))
            types = {"flat": [flat_type], "stream": [grouped], "jelly": [grouped, flat_type]}
            usage(node, *types[kind])
            for algorithm in ("md5", "sha1"):
                checksum = rdflib.BNode()
                value = hashlib.new(algorithm, written).hexdigest()
                graph.add((node, SPDX.checksum, checksum))
                graph.add((checksum, RDF.type, SPDX.Checksum))
                graph.add((checksum, SPDX.algorithm, SPDX[f"checksumAlgorithm_{algorithm}"]))
                graph.add((checksum, SPDX.checksumValue, rdflib.Literal(value)))
    for number in SAMPLES:
        text = documents[number] if number < len(documents) else b""
        (folder / f"sample_{number:010}.{suffix}").write_bytes(text)
    graph.serialize(folder / "package_metadata.ttl", "turtle")

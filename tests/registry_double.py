"""A nanopublication registry on a loopback socket. It writes Jelly with pyjelly.

Its response headers and the body of `nanopubs.jelly` match those of the registry software.
`python registry_double.py COUNT` serves COUNT nanopublications.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import parse_qs, urlsplit

import web
from pyjelly import jelly
from pyjelly.integrations.generic.generic_sink import IRI, Literal, Quad
from pyjelly.integrations.generic.serialize import GenericSinkTermEncoder
from pyjelly.options import LookupPreset, StreamParameters
from pyjelly.serialize.ioutils import write_delimited
from pyjelly.serialize.streams import QuadStream, SerializerOptions

NP = "http://www.nanopub.org/nschema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
DCT = "http://purl.org/dc/terms/"
PROV = "http://www.w3.org/ns/prov#"
PEOPLE = ["https://orcid.org/0000-0001-0000-0001", "https://orcid.org/0000-0002-0000-0002"]
TABLES = LookupPreset(max_names=4000, max_prefixes=150, max_datatypes=32)

Fault = Callable[[web.Handler, bytes], None]


def code(number: int) -> str:
    """Returns an artifact code that is not the hash of the nanopublication's content."""
    digest = hashlib.sha256(b"%d" % number).digest()
    return "RA" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def varint(number: int) -> bytes:
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])


def quads(number: int, artifact: str | None = None) -> list[Quad]:
    """Returns a nanopublication of 8 quads, with an artifact code."""
    this = f"https://w3id.org/np/{artifact or code(number)}"

    def graph(name: str) -> IRI:
        return IRI(f"{this}#{name}")

    head, assertion, provenance, info = map(graph, ("Head", "assertion", "provenance", "pubinfo"))
    creator = IRI(PEOPLE[number % 2])
    return [
        Quad(IRI(this), IRI(RDF + "type"), IRI(NP + "Nanopublication"), head),
        Quad(IRI(this), IRI(NP + "hasAssertion"), assertion, head),
        Quad(IRI(this), IRI(NP + "hasProvenance"), provenance, head),
        Quad(IRI(this), IRI(NP + "hasPublicationInfo"), info, head),
        Quad(
            IRI(f"http://example.org/bird/{number}"),
            IRI("http://example.org/weight"),
            Literal(str(number), datatype="http://www.w3.org/2001/XMLSchema#integer"),
            assertion,
        ),
        Quad(assertion, IRI(PROV + "wasAttributedTo"), creator, provenance),
        Quad(IRI(this), IRI(DCT + "creator"), creator, info),
        Quad(
            IRI(this),
            IRI(DCT + "created"),
            Literal(
                f"2026-01-{number % 28 + 1:02}T00:00:00Z",
                datatype="http://www.w3.org/2001/XMLSchema#dateTime",
            ),
            info,
        ),
    ]


def body(
    numbers: list[tuple[int, int]],
    *,
    counters: bool = True,
    codes: Mapping[int, str] | None = None,
) -> bytes:
    """Returns a log of nanopublications.

    Args:
        numbers: Counter and number of each nanopublication.
        counters: Whether frames contain the counters as metadata.
        codes: Artifact codes by number.
    """
    options = SerializerOptions(
        logical_type=jelly.LOGICAL_STREAM_TYPE_DATASETS,
        params=StreamParameters(namespace_declarations=True),
        lookup_preset=TABLES,
    )
    stream = QuadStream(encoder=GenericSinkTermEncoder(TABLES), options=options)
    file = io.BytesIO()
    for counter, number in numbers:
        stream.enroll()
        for prefix, iri in (("np", NP), ("dct", DCT), ("prov", PROV)):
            stream.namespace_declaration(prefix, iri)
        for quad in quads(number, (codes or {}).get(number)):
            stream.quad(quad)
        frame = stream.flow.frame_from_dataset()
        assert frame is not None
        if counters:
            frame.metadata["c"] = varint(counter)
        write_delimited(frame, file)
    return file.getvalue()


class RegistryDouble:
    """A registry with numbered nanopublications.

    Attributes:
        site: The web server.
        stored: Numbers of the nanopublications, by counter.
        hidden: Counters that are stored but not visible yet.
        headers: Headers that replace the default ones; None omits a header.
        faults: Faults of the next responses, in order. Later responses have none.
        codes: Artifact codes by number; by default they do not match the content.
        requested_counters: The value of `afterCounter` in each request for nanopublications.
    """

    def __init__(self, site: web.Site, count: int = 0) -> None:
        self.site = site
        self.stored: dict[int, int] = {}
        self.hidden: set[int] = set()
        self.headers: dict[str, str | None] = {}
        self.codes: dict[int, str] = {}
        self.faults: list[Fault] = []
        self.requested_counters: list[int] = []
        self.media_type = "application/x-jelly-rdf"
        self.add(count)
        site.replies["/"] = [self._page]
        site.replies["/nanopubs.jelly"] = [self._nanopubs]
        self.url = site.url + "/"

    def add(self, count: int, *, gap: int = 0) -> None:
        """Stores nanopublications with the next counters."""
        counter = max(self.stored, default=0) + gap
        for number in range(len(self.stored) + 1, len(self.stored) + count + 1):
            counter += 1
            self.stored[counter] = number

    def state(self) -> dict[str, str]:
        """Returns the headers of every response."""
        visible = self.stored.keys() - self.hidden
        defaults: dict[str, str | None] = {
            "Status": "ready",
            "Setup-Id": "4242",
            "Load-Counter": str(max(visible, default="null")),
            "Nanopub-Count": str(len(visible)),
            "Trust-State-Counter": "7",
            "Trust-State-Hash": "abc123",
            "Last-Trust-State-Update": "2026-11-01T00:00:00Z",
            "Test-Instance": "false",
            "Coverage-Types": "all",
            "Coverage-Agents": "viaSetting",
            "Version": "1.11.5",
        }
        defaults |= self.headers
        return {
            f"Nanopub-Registry-{name}": value
            for name, value in defaults.items()
            if value is not None
        }

    def _page(self, handler: web.Handler) -> None:
        web.send(200, b"<html>", Content_Type="text/html", **self.state())(handler)

    def _nanopubs(self, handler: web.Handler) -> None:
        query = parse_qs(urlsplit(handler.path).query, keep_blank_values=True)
        try:
            after = int(query.get("afterCounter", ["-1"])[0])
        except ValueError:
            web.send(400, **self.state())(handler)
            return
        self.requested_counters.append(after)
        visible = sorted(
            (counter, number)
            for counter, number in self.stored.items()
            if counter > after and counter not in self.hidden
        )
        data = body(visible, codes=self.codes)
        if self.faults:
            self.faults.pop(0)(handler, data)
        else:
            self.reply(handler, data)

    def reply(self, handler: web.Handler, data: bytes, **settings: object) -> None:
        """Sends a body as the registry software does."""
        web.send(200, data, chunked=True, Content_Type=self.media_type, **self.state(), **settings)(  # type: ignore[arg-type]
            handler
        )

    def closing_early(self, share: float) -> Fault:
        """Returns a fault that closes the connection after a share of the body."""
        return lambda handler, data: self.reply(handler, data, cut=int(len(data) * share))

    def truncated(self, share: float) -> Fault:
        """Returns a fault that sends only a share of the body, as a complete response."""
        return lambda handler, data: self.reply(handler, data[: int(len(data) * share)])

    def slow(self, seconds: float) -> Fault:
        """Returns a fault that sends the body in four pieces, with pauses."""
        return lambda handler, data: self.reply(handler, data, between=lambda: time.sleep(seconds))

    def replaced_by(self, data: bytes) -> Fault:
        """Returns a fault that sends a different body."""
        return lambda handler, _: self.reply(handler, data)

    def with_status(self, status: int, **headers: str) -> Fault:
        """Returns a fault that sends a response with a different status."""
        return lambda handler, _: web.send(status, **self.state(), **headers)(handler)


@contextlib.contextmanager
def registry(count: int = 0) -> Iterator[RegistryDouble]:
    """Runs a registry for the duration of the block."""
    with web.site() as site:
        yield RegistryDouble(site, count)


if __name__ == "__main__":
    with registry(int(sys.argv[1])) as double:
        print(double.url, flush=True)
        sys.stdin.read()

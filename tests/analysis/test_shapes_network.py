"""Shapes that try to send requests, and a server that must not receive any."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import rdfm

pytest.importorskip("pyshacl", reason="needs pyshacl")
rdflib = pytest.importorskip("rdflib")

SH = "http://www.w3.org/ns/shacl#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
LOG = b"<http://e/a> <http://e/p> <http://e/b> .\n<http://e/a> <http://e/q> <http://e/a> .\n"

# SERVICE with one letter escaped, as \uXXXX or \UXXXXXXXX, and with all letters escaped.
ESCAPED = [
    "SERVICE".replace(letter, escape, 1)
    for letter in "SERVIC"
    for escape in (f"\\u{ord(letter):04X}", f"\\U{ord(letter):08x}")
]
ESCAPED.append("".join(f"\\u{ord(letter):04x}" for letter in "service"))
# Patterns inserted into the braces of a query.
PARTS = [
    "SERVICE <URL> { $this ?p ?o }",
    "service<URL>{$this ?p ?o}",
    "SeRvIcE <URL> { $this ?p ?o }",
    "SERVICE\t<URL>\n{ $this ?p ?o }",
    "SERVICE SILENT <URL> { $this ?p ?o }",
    "SERVICE\r<URL> { $this ?p ?o }",
    "SERVICE #c\n <URL> { $this ?p ?o }",
    "# a comment\rthat continues\n SERVICE <URL> { $this ?p ?o }",
    "# '\n SERVICE <URL> { $this ?p ?o } # '\n",
    '# """\n SERVICE <URL> { $this ?p ?o } # """\n',
    "# <\n SERVICE <URL> { $this ?p ?o } # >\n",
    "?x ?y '\\u0027 . SERVICE <URL> { $this ?p ?o }",
    "?x ?y '\\\\' . SERVICE <URL> { $this ?p ?o } ?z ?w '\\\\'",
    '?x ?y """a"b""" . SERVICE <URL> { $this ?p ?o }',
    "?x ?y ?from.SERVICE <URL> { $this ?p ?o }",
    "\\u0023 a comment\\u000A SERVICE <URL> { $this ?p ?o }",
    "{ SERVICE <URL> { $this ?p ?o } }",
    "OPTIONAL { SERVICE <URL> { $this ?p ?o } }",
    "{ ?x ?y ?z } UNION { SERVICE <URL> { $this ?p ?o } }",
    "MINUS { SERVICE <URL> { $this ?p ?o } }",
    "{ SELECT $this { SERVICE <URL> { $this ?p ?o } } }",
    "GRAPH ?g { SERVICE <URL> { $this ?p ?o } }",
    "FILTER EXISTS { SERVICE <URL> { $this ?p ?o } }",
    "FILTER NOT EXISTS { SERVICE <URL> { $this ?p ?o } }",
    "FILTER (1 = 2 || EXISTS { SERVICE <URL> { $this ?p ?o } })",
    "FILTER (IF(EXISTS { SERVICE <URL> { $this ?p ?o } }, true, false))",
    "BIND (EXISTS { SERVICE <URL> { $this ?p ?o } } AS ?there)",
    "BIND (COALESCE(?none, EXISTS { SERVICE <URL> { $this ?p ?o } }) AS ?there)",
    "BIND (<URL> AS ?url) SERVICE ?url { $this ?p ?o }",
    *(f"{word} <URL> {{ $this ?p ?o }}" for word in ESCAPED),
]
# rdflib's parser rejects these patterns, although other parsers accept them.
UNPARSABLE_PARTS = [
    "?x <http://e/#> ?y . SERVICE <URL> { $this ?p ?o }",
    "?x ?y '#' . SERVICE <URL> { $this ?p ?o }",
    "SERVICE <URL> { SERVICE <URL> { $this ?p ?o } }",
    "S\\u045RVICE <URL> { $this ?p ?o }",
    "SERVICE <URL\\> { $this ?p ?o }",
]
QUERIES = [
    *(f"SELECT $this WHERE {{ $this ?r ?s . {part} }}" for part in PARTS),
    "BASE <URL> SELECT $this WHERE { $this ?r ?s . SERVICE <x> { $this ?p ?o } }",
    "PREFIX u: <URL> SELECT $this WHERE { $this ?r ?s . SERVICE u:x { $this ?p ?o } }",
    "SELECT $this WHERE { $this ?r ?s } HAVING (EXISTS { SERVICE <URL> { $this ?p ?o } })",
    "SELECT $this WHERE { $this ?r ?s } ORDER BY (EXISTS { SERVICE <URL> { $this ?p ?o } })",
    "SELECT $this (EXISTS { SERVICE <URL> { $this ?p ?o } } AS ?x) WHERE { $this ?r ?s }",
    "SELECT $this FROM <URL> WHERE { $this ?r ?s }",
    "SELECT $this\rFROM NAMED <URL> WHERE { $this ?r ?s }",
    "SELECT $this F\\u0052OM <URL> WHERE { $this ?r ?s }",
    "SELECT $this # c\r FROM\n FROM\\u0020<URL> WHERE { $this ?r ?s }",
    "ASK FROM <URL> { $this ?r ?s }",
    "ASK { SERVICE <URL> { $this ?p ?o } }",
    "ASK { S\\u0045RVICE <URL> { $this ?p ?o } }",
    "DESCRIBE $this FROM <URL>",
    "CONSTRUCT { $this ?p ?o } FROM <URL> WHERE { $this ?p ?o }",
]
SERVICE = "SELECT $this WHERE { SERVICE <URL> { $this ?p ?o } }"
ASK_SERVICE = "ASK { SERVICE <URL> { $this ?p ?o } }"


class Server:
    """A server on the loopback interface.

    Attributes:
        url: Address of the server.
        seen: For each connection, the text "a connection" and the paths of its requests.
    """

    def __init__(self):
        self.seen = seen = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.path)
                body = b'{"head": {"vars": []}, "results": {"bindings": []}}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_HEAD = do_GET

            def log_message(self, *_):
                pass

        class RecordingServer(ThreadingHTTPServer):
            daemon_threads = True

            def verify_request(self, *_):
                seen.append("a connection")
                return True

        self._server = RecordingServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def module_server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def server(module_server, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    module_server.seen.clear()
    return module_server


def quoted(text):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def shape(constraint, triples="", subject="<http://e/S>"):
    """Returns a shape with one target node and a constraint."""
    return f"""
{subject} {TYPE} <{SH}NodeShape> ; <{SH}targetNode> <http://e/a> ; <{SH}targetClass> <http://e/C> ; {constraint} .
{triples}"""


def component(validator, query, kind="select"):
    """Returns a shape on a property, with its own constraint component."""
    return f"""
<http://e/S> {TYPE} <{SH}NodeShape> ; <{SH}targetNode> <http://e/a> ; <http://e/asks> 1 ;
  <{SH}property> [ <{SH}path> <http://e/p> ; <http://e/asks> 1 ] .
<http://e/component> {TYPE} <{SH}ConstraintComponent> ;
  <{SH}parameter> [ <{SH}path> <http://e/asks> ] ;
  <{SH}{validator}> [ {TYPE} <{SH}SPARQL{kind.title()}Validator> ; <{SH}{kind}> {quoted(query)} ] ."""


def outcome(shapes, log=LOG):
    """Returns the text of the error, or of the findings."""
    try:
        found = list(rdfm.validate(log, "nq", shapes=shapes.encode()))
    except rdfm.OptionError as error:
        return f"rejected: {error}"
    return "; ".join(each.text for each in found)


@pytest.mark.parametrize("query", QUERIES)
def test_constraint_queries_send_nothing(server, query):
    query = query.replace("URL", server.url)
    kind = "ask" if query.startswith("ASK") else "select"
    shapes = shape(f"<{SH}sparql> [ <{SH}{kind}> {quoted(query)} ]")
    word = "FROM" if "OM" in query else "SERVICE"
    assert f"rejected: a query in bytes uses {word}" in outcome(shapes)
    assert server.seen == []


@pytest.mark.parametrize("part", UNPARSABLE_PARTS)
def test_queries_that_only_other_parsers_accept_send_nothing(server, part):
    query = f"SELECT $this WHERE {{ $this ?r ?s . {part} }}".replace("URL", server.url)
    found = outcome(shape(f"<{SH}sparql> [ <{SH}select> {quoted(query)} ]"))
    assert "rejected: the shapes in bytes are invalid: sh:select is not a SPARQL query" in found
    assert server.seen == []


@pytest.mark.parametrize(
    ("validator", "kind", "query"),
    [
        ("validator", "ask", ASK_SERVICE),
        ("nodeValidator", "select", SERVICE),
        ("propertyValidator", "select", SERVICE),
        ("propertyValidator", "select", "SELECT $this { $this $PATH ?v . SERVICE <URL> {} }"),
        ("nodeValidator", "ask", ASK_SERVICE.replace("SERVICE", "\\U00000053ERVICE")),
        ("propertyValidator", "select", SERVICE.replace("SERVICE", "SERVIC\\u0045")),
        ("propertyValidator", "select", "SELECT $this FROM <URL> { $this $PATH ?value }"),
    ],
)
def test_component_queries_send_nothing(server, validator, kind, query):
    found = outcome(component(validator, query.replace("URL", server.url), kind))
    assert found.startswith("rejected: a query in bytes uses ")
    assert server.seen == []


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("construct", "CONSTRUCT { $this ?p ?o } WHERE { SERVICE <URL> { $this ?p ?o } }"),
        ("construct", "CONSTRUCT FROM <URL> WHERE { $this ?p ?o }"),
        ("update", "LOAD <URL>"),
        ("update", "\\u004CO\\u0041D SILENT <URL> INTO GRAPH <http://e/g>"),
        ("update", "INSERT { ?s ?p ?o } USING <URL> WHERE { ?s ?p ?o }"),
        ("update", "DELETE { ?s ?p ?o } WHERE { SERVICE <URL> { ?s ?p ?o } }"),
        ("update", "INSERT DATA { <http://e/a> <http://e/b> 1 } ; LOAD <URL>"),
    ],
)
def test_rules_send_nothing(server, word, query):
    rule = (
        f"<{SH}rule> [ {TYPE} <{SH}SPARQLRule> ; <{SH}{word}> "
        f"{quoted(query.replace('URL', server.url))} ]"
    )
    assert outcome(shape(rule)).startswith("rejected: a query in bytes uses ")
    assert server.seen == []


def test_targets_send_nothing(server):
    target = (
        f"<{SH}target> [ {TYPE} <{SH}SPARQLTarget> ; <{SH}select> "
        f"{quoted(SERVICE.replace('URL', server.url))} ]"
    )
    assert "uses SERVICE" in outcome(shape(target))
    assert server.seen == []


IMPORTS = "<http://www.w3.org/2002/07/owl#imports>"
ONTOLOGY = "<http://www.w3.org/2002/07/owl#Ontology>"
JS = f"<{SH}jsFunctionName> 'f' ; <{SH}jsLibrary> [ <{SH}jsLibraryURL> 'URL' ]"


@pytest.mark.parametrize(
    "triples",
    [
        f"<http://e/> {TYPE} {ONTOLOGY} ; {IMPORTS} <URL> .",
        f"<http://e/S> {IMPORTS} <URL> .",
        f"<http://e/> {IMPORTS} <URL>, <URLx.ttl> .",
        f"<http://e/S> <{SH}shapesGraph> <URL> ; <{SH}entailment> <URL> .",
        f"<http://e/S> <{SH}js> [ {TYPE} <{SH}JSConstraint> ; {JS} ] .",
        f"<http://e/S> <{SH}rule> [ {TYPE} <{SH}JSRule> ; {JS} ] .",
        f"<http://e/S> <{SH}target> [ {TYPE} <{SH}JSTarget> ; {JS} ] .",
        f"<http://e/f> {TYPE} <{SH}JSFunction> ; {JS} .",
    ],
)
def test_shapes_that_import_or_run_scripts_send_nothing(server, triples):
    shapes = shape(f"<{SH}nodeKind> <{SH}IRI>", triples.replace("URL", server.url))
    log = LOG + f"<http://e/> {IMPORTS} <{server.url}> .\n".encode()
    outcome(shapes, log)
    outcome(shapes, log + f"<http://e/a> <{SH}shapesGraph> <{server.url}> .\n".encode())
    assert server.seen == []


@pytest.mark.parametrize(
    ("prefix", "namespace"),
    [
        ("x: <http://e/>\nSELECT $this {{ SERVICE <{0}> {{ $this ?p ?o }} }} #", "http://e/"),
        ("x", "http://e/>\nSELECT $this {{ SERVICE <{0}> {{ $this ?p ?o }} }} #"),
        ("x", "http://e/> SELECT $this FROM <{0}> {{ $this ?p ?o }} #"),
    ],
)
def test_queries_hidden_in_prefixes_send_nothing(server, prefix, namespace):
    declaration = f"""
<http://e/o> {TYPE} {ONTOLOGY} ; <{SH}declare> [
  <{SH}prefix> {quoted(prefix.format(server.url))} ;
  <{SH}namespace> {quoted(namespace.format(server.url))} ] ."""
    query = "SELECT $this WHERE { $this ?p ?o }"
    constraint = f"<{SH}sparql> [ <{SH}prefixes> <http://e/o> ; <{SH}select> {quoted(query)} ]"
    assert outcome(shape(constraint, declaration)).startswith("rejected: ")
    assert server.seen == []


@pytest.mark.parametrize("datatype", ["hexBinary", "base64Binary", "anyURI", "token"])
def test_queries_with_other_datatypes_send_nothing(server, datatype):
    query = SERVICE.replace("URL", server.url)
    text = query.encode().hex() if datatype == "hexBinary" else query
    literal = f"{quoted(text)}^^<http://www.w3.org/2001/XMLSchema#{datatype}>"
    assert outcome(shape(f"<{SH}sparql> [ <{SH}select> {literal} ]")).startswith("rejected: ")
    assert server.seen == []


@pytest.mark.parametrize("query", QUERIES)
def test_evaluation_rejects_queries_that_the_first_check_misses(server, query, monkeypatch):
    from rdfm.analysis import local_graph

    for name in ("check_query", "check_update"):
        monkeypatch.setattr(local_graph, name, lambda _: None)
    query = query.replace("URL", server.url)
    kind = "ask" if query.startswith("ASK") else "select"
    outcome(shape(f"<{SH}sparql> [ <{SH}{kind}> {quoted(query)} ]"))
    outcome(component("propertyValidator", query, kind))
    with pytest.raises(local_graph.ExternalAccessError):
        local_graph.LocalGraph().query(query)
    assert server.seen == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_rdflib_without_the_check_sends_requests_for_these_queries(server):
    """More than 30 of these queries reach the server without the check."""
    sent_queries = []
    for query in QUERIES:
        server.seen.clear()
        graph = rdflib.Dataset(default_union=True)
        graph.parse(data=LOG.decode(), format="nquads")
        with suppress(Exception):  # the server's answer is not RDF
            list(graph.query(query.replace("URL", server.url)))
        if server.seen:
            sent_queries.append(query)
    assert len(sent_queries) > 30


def test_other_queries_in_the_process_reach_services_during_validation(server):
    query = SERVICE.replace("URL", server.url)
    shapes = shape(
        f"<{SH}sparql> [ <{SH}select> {quoted('SELECT $this { $this <http://e/p> ?o }')} ]"
    )

    list(rdflib.Graph().query(query))  # rdflib's parser is thread-safe only after a first run
    server.seen.clear()

    def validate(_):
        return outcome(shapes).count("does not conform")

    def query_service(_):
        return len(list(rdflib.Graph().query(query)))

    with ThreadPoolExecutor(4) as pool:
        found = pool.map(validate, range(8))
        answers = pool.map(query_service, range(8))
        assert list(found) == [1] * 8
        assert list(answers) == [0] * 8
    assert server.seen.count("a connection") == 8


def test_keywords_in_strings_names_and_comments_are_allowed(server):
    query = """
# LOAD <URL> FROM <URL>\r FROM <URL>
PREFIX service: <http://e/>
SELECT $this WHERE { $this service:p ?from . # LOAD
  FILTER (str(?from) != 'SERVICE.' && ?from != <URLFROM>) }
""".replace("URL", server.url)
    found = outcome(shape(f"<{SH}sparql> [ <{SH}select> {quoted(query)} ]"))
    assert "rejected" not in found
    assert "focus node <http://e/a>" in found
    assert server.seen == []


def test_a_query_that_cannot_be_parsed_is_rejected():
    found = outcome(shape(f"<{SH}sparql> [ <{SH}select> 'SELECT $this WHERE {{' ]"))
    assert found.startswith(
        "rejected: the shapes in bytes are invalid: sh:select is not a SPARQL query: "
    )
    nested = "SELECT $this WHERE " + "{" * 500 + "}" * 500
    assert "the query is nested too deeply" in outcome(
        shape(f"<{SH}sparql> [ <{SH}select> {quoted(nested)} ]")
    )

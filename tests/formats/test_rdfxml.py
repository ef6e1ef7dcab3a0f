"""RDF/XML: document boundaries, errors, and output."""

from pathlib import Path
from xml.parsers import expat

import pytest
from nquads import literal
from support import decode, decoded, encode

import rdfm
from rdfm import formats
from rdfm.formats import Opening

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
S, P, O = (("iri", f"http://e/{name}") for name in "spo")  # noqa: E741 - object


def document(text, attributes=""):
    return f'<T xmlns="http://e/" xmlns:r="{RDF}" r:about="http://e/s"{attributes}>{text}</T>'


TYPE_QUADS = [(S, ("iri", f"{RDF}type"), ("iri", "http://e/T"), None)]


def test_documents_end_with_their_root_elements():
    first, second = document("<p>1</p>"), document("<p>2\n</p>\n")
    log = f"\ufeff\n<?xml version='1.0'?><!-- <a> -->\n{first}<!-- after -->\r\n\n<?pi?>\n{second}\n \n"
    messages, error = decode("rdfxml", log.encode())
    assert error is None
    assert [message[1][2][1] for message in messages] == ["1", "2\n"]


@pytest.mark.parametrize("log", ["", "\n \n", "<!-- none -->\n"])
def test_a_log_without_documents_has_no_message(log):
    assert decode("rdfxml", log.encode()) == ([], None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a<!-- b -->c", "ac"),
        ("<![CDATA[<a> & ]]>b", "<a> & b"),
        (" <![CDATA[ ]]> ", "   "),
        ("a\r\nb\rc&#13;", "a\nb\nc\r"),
        ("", ""),
        ("&#x1F422;", "\U0001f422"),
    ],
)
def test_a_literal_is_the_complete_text_of_its_element(text, value):
    (message,) = decoded("rdfxml", document(f"<p>{text}</p>").encode())
    assert message == [*TYPE_QUADS, (S, P, literal(value), None)]


def test_language_tags_keep_their_case_and_can_be_removed():
    text = '<p>a</p><p xml:lang="">b</p><p xml:lang="fr">c</p>'
    (message,) = decoded("rdfxml", document(text, ' xml:lang="en-GB"').encode())
    assert [quad[2][1:3] for quad in message[1:]] == [("a", "en-GB"), ("b", None), ("c", "fr")]


@pytest.mark.parametrize(
    "version", ["", ' r:version="1.1"', ' r:version="1.2-basic"', ' r:version="1.2"']
)
def test_directions_and_triple_terms_do_not_need_a_version(version):
    inner = '<T r:about="http://e/s"/>'
    text = f'<p xml:lang="en" i:dir="rtl">a</p><p r:parseType="Triple">{inner}</p>'
    its = ' xmlns:i="http://www.w3.org/2005/11/its"'
    log = document(text, its + version).encode()
    assert encode("nq", decoded("rdfxml", log)).decode().splitlines()[1:] == [
        '<http://e/s> <http://e/p> "a"@en--rtl .',
        f"<http://e/s> <http://e/p> <<( <http://e/s> <{RDF}type> <http://e/T> )>> .",
    ]


def test_xml_literals_declare_the_namespaces_they_use():
    text = '<p r:parseType="Literal"><b c="&lt;" a=\'"\'/>&amp;<!-- x --><r:i/></p>'
    (message,) = decoded("rdfxml", document(text).encode())
    assert message[1][2][1] == (
        f'<b xmlns="http://e/" a="&quot;" c="&lt;"></b>&amp;<!-- x --><r:i xmlns:r="{RDF}"></r:i>'
    )


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (document("") + document(""), "start each document on a new line (line 1"),
        ("oops", "expected an XML document, which begins with '<', found 'oops' (line 1, column 1"),
        (
            document("<p>a<q/></p>"),
            "a property element cannot contain both text and a node element",
        ),
        (document("text"), "expected a property element, found the text 'text'"),
        (document("<p><q/><q/></p>"), "the property already has an object"),
        (document("<x:p/>"), "the prefix 'x' is not declared; xmlns:x declares it"),
        (document("<p a='1' a='2'/>"), "the attribute 'a' occurs twice in a tag"),
        (document("<p r:about='x'/>"), "rdf:about is allowed only on node elements"),
        (
            document("<p r:resource='x'/>"),
            "the relative IRI 'x' needs a base",
        ),
        (document("<p r:nodeID='1'/>"), "rdf:nodeID must be an XML name, not '1'"),
        (document("<p>&nbsp;</p>"), "the entity 'nbsp' is not declared"),
        (document("<p>\x01</p>"), "XML cannot represent the character U+0001"),
        (document("<p x=1/>"), "is not in quotes"),
        (document("<p x='<'/>"), "write it as &lt;"),
        (document("<p>]]></p>"), "write it as ]]&gt;"),
        (document("<p r:parseType='Literal'>]]></p>"), "write it as ]]&gt;"),
        ("<!DOCTYPE a [<!ENTITY b '&#60;c/>'>]>", "an entity contains markup"),
        ("<!DOCTYPE a [<!ENTITY b 'c&#38;d'>]>", "'&' does not begin an entity"),
        (document("</p>"), "expected the end tag of 'T', found the end tag of 'p'"),
        (document("<r:li r:ID='a'/>", " xml:base='http://e/'") + "\n", None),
        (document("<p><T r:ID='a'/></p><p><T r:ID='a'/></p>", " xml:base='http://e/'"), "twice"),
        ("<a><b/></a>", "the element 'a' has no namespace"),
        ("<?xml version='1.0'?>\n", "the log ends before the document's first element"),
        ("<!DOCTYPE a [%p;]>", "parameter entities are not supported"),
    ],
)
def test_errors_describe_the_cause(log, text):
    messages, error = decode("rdfxml", log.encode())
    if text is None:
        assert error is None
        assert len(messages) == 1
        return
    assert error is not None
    assert text in error


def test_documents_before_an_error_are_delivered():
    messages, error = decode("rdfxml", (document("<p>1</p>") + "\n<oops").encode())
    assert len(messages) == 1
    assert "line 2, column 6" in error
    assert "message 1" in error


def test_nesting_is_limited():
    nested = "<p><T>" * 40 + "</T></p>" * 40
    _, error = decode("rdfxml", document(nested).encode())
    assert "elements are nested deeper than 64" in error
    assert len(decoded("rdfxml", document(nested).encode(), max_depth=100)[0]) == 81


def test_expansion_of_short_input_is_limited():
    """Namespaces, bases and entities that are declared once can be used often."""
    long = "x" * 10_000
    for text in (
        f'<!DOCTYPE a [<!ENTITY e "{long}">]>' + document("<p>" + "&e;" * 200 + "</p>"),
        document("<n:p/>" * 200, f' xmlns:n="http://e/{long}"'),
        document(
            "".join(f"<p><r:Description r:ID='i{at}'/></p>" for at in range(200)),
            f' xml:base="http://e/{long}"',
        ),
        document(f'<p r:parseType="Literal">{"<n:b/>" * 200}</p>', f' xmlns:n="http://e/{long}"'),
    ):
        _, error = decode("rdfxml", text.encode(), max_message_bytes=500_000)
        assert error is not None, text[-100:]
        assert "max_message_bytes" in error


def doubled(seed, times):
    """Returns a DOCTYPE whose entity `e` is `seed`, doubled `times` times."""
    entities = "".join(f'<!ENTITY e{at + 1} "&e{at};&e{at};">' for at in range(times))
    return f'<!DOCTYPE T [<!ENTITY e0 "{seed}">{entities}<!ENTITY e "&e{times};">]>'


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "<p xml:space='&e;'>1</p>",
        "<p xmlns:n='&e;'>1</p>",
        "<p xml:lang='&e;a'>1</p>",
        "<p><T r:about='http://e/' xml:base='http://e/&e;'/></p>",
        "<p>&e;</p>",
        "&e;<p>1</p>",
        "<p r:parseType='Literal'><b xmlns:n='&e;'/></p>",
    ],
)
def test_repetition_in_a_short_document_is_limited(text, parts):
    """The limit also applies to text outside quads."""
    seed = "        " if text[0] == "&" else "a-b-c-d-"
    decoder = formats.rdfxml.decoder(
        {"max_message_bytes": 100_000}, Opening("always" if parts else "never")
    )
    decoder.feed((doubled(seed, 11) + document(text * 200)).encode())
    decoder.finish()
    with pytest.raises(rdfm.LimitError, match="max_message_bytes") as error:
        list(iter(decoder.next_batch, None))
    assert parts is False or "repeat more than" in str(error.value)


def test_repetition_in_a_short_log_is_limited():
    log = f"{doubled('abcdefgh', 12)}{document('')}\n" * 100
    messages, error = decode("rdfxml", log.encode(), max_message_bytes=100_000)
    assert 0 < len(messages) < 10
    assert "entities, namespaces, bases and languages repeat more than" in error
    log_with_short_entities = f"{doubled('abcdefgh', 5)}{document('<p>&e;</p>')}\n" * 1000
    assert (
        len(decoded("rdfxml", log_with_short_entities.encode(), max_message_bytes=10_000)) == 1000
    )


def test_nested_languages_are_limited():
    nested = "<p xml:lang='&e;a'><T xml:lang='&e;a'>" * 20 + "</T></p>" * 20
    log = doubled("a-b-c-d-", 10) + f"<!-- {'x' * 10_000} -->" + document(nested)
    _, error = decode("rdfxml", log.encode(), max_message_bytes=100_000)
    assert "the language tags in scope take more than 100000 bytes" in error


def test_entity_values_are_parsed_at_each_use():
    """`&` and `<` from character references in an entity are markup where the entity is used."""
    declaration = "<!DOCTYPE T [<!ENTITY e 'a&#38;amp;&#38;#60;&amp;&#62;\n'>]>"
    log = declaration + document("<p>&e;</p><q xmlns:n='http://n/'><T n:a='&e;'/></q>")
    (message,) = decoded("rdfxml", log.encode())
    assert [quad[2] for quad in message if quad[2][0] == literal("")[0]] == [
        literal("a&<&>\n"),
        literal("a&<&> "),
    ]


def test_a_document_of_any_size_is_read_in_parts():
    module = formats.find("rdfxml")
    decoder = module.decoder(
        {"max_message_bytes": 100_000}, Opening("always", batches={"batch_quads": 1000})
    )
    decoder.feed(f'<r:RDF xmlns:r="{RDF}" xmlns="http://e/">'.encode())
    quads = parts = 0
    for _ in range(50):
        decoder.feed(b"<T><p><T/></p></T>" * 200)
        while (batch := decoder.next_batch()) is not None:
            assert len(batch) == 1
            quads, parts = quads + batch.quad_count, parts + 1
    decoder.feed(b"</r:RDF>")
    decoder.finish()
    while (batch := decoder.next_batch()) is not None:
        quads += batch.quad_count
    assert quads == 30_000
    assert parts > 10


def test_a_message_is_one_line_with_the_prefixes_of_the_log():
    source = (
        'PREFIX e: <http://e/>\ne:s e:p "a\\n<b>" ; <http://f/q> e:o .\n# @message\n'
        "# @message\nPREFIX e: <http://f/>\n<http://e/s> e:q <http://e/o> ."
    )
    written = formats.find("rdfxml").encode(formats.find("ttl").decode(source.encode())).decode()
    start = f'<rdf:RDF xmlns:rdf="{RDF}"'
    assert written.splitlines() == [
        f'{start} xmlns:e="http://e/" xmlns:ns0="http://f/"><rdf:Description rdf:about="http://e/s">'
        '<e:p>a&#10;&lt;b&gt;</e:p><ns0:q rdf:resource="http://e/o"/></rdf:Description></rdf:RDF>',
        f"{start}/>",
        f'{start} xmlns:e="http://f/"><rdf:Description rdf:about="http://e/s">'
        '<e:q rdf:resource="http://e/o"/></rdf:Description></rdf:RDF>',
    ]


def test_only_namespaces_in_use_are_declared():
    declarations = "".join(f"PREFIX ns{at}: <http://n/{at}/>\n" for at in range(1, 50_000))
    redeclarations = "".join(f"PREFIX ns{at}: <http://n/>\n" for at in range(1, 50_000))
    quads = "# @message\n<http://s> <http://a/p> 1 ; <http://b/p> 1 ; <http://n/p> 1 .\n" * 2000
    batch = formats.find("ttl").decode(f"{declarations}{redeclarations}{quads}".encode())
    written = formats.find("rdfxml").encode(batch).decode()
    assert written.splitlines()[-1].startswith(
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:ns0="http://a/" xmlns:ns50000="http://b/" xmlns:ns1="http://n/">'
    )


@pytest.mark.parametrize(
    ("quad", "text"),
    [
        ((S, ("iri", "http://e/1"), O, None), "the predicate 'http://e/1'"),
        ((S, ("iri", f"{RDF}li"), O, None), "cannot be written as an XML name"),
        (
            (S, ("iri", "http://e/ /p"), O, None),
            "contains characters that are not allowed in an IRI",
        ),
        ((S, ("iri", "http://e/\ufffe/p"), O, None), "XML cannot represent the character U+FFFE"),
        (
            (S, P, literal("a\x02"), None),
            "XML cannot represent the character U+0002, found in 'a\\u0002'",
        ),
        ((S, P, O, O), "merge_graphs=True drops graph names"),
    ],
)
def test_errors_identify_quads_that_cannot_be_written(quad, text):
    with pytest.raises(rdfm.EncodeError) as error:
        encode("rdfxml", [[(S, P, O, None)], [quad]])
    assert text in str(error.value)
    assert "(message 1)" in str(error.value)
    assert error.value.completed.count(b"\n") == 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("start", ["\ufeff", "\ufeff<?xml version='1.0' encoding='UTF-16'?>\n", ""])
def test_utf_16_is_read(encoding, start):
    text = document("<p>caf\u00e9 \U0001f422</p>")
    expected = decode("rdfxml", text.encode())
    assert expected[1] is None
    log = (start + text).encode(encoding)
    assert decode("rdfxml", log) == expected
    assert formats.by_content(log).name == "rdfxml"
    for cut, reason in (
        (log[:-1], "half a character"),
        (log + "\ud800".encode(encoding, "surrogatepass"), "invalid UTF-16"),
    ):
        assert reason in decode("rdfxml", cut)[1]


def test_results_in_utf_16_are_read():
    fixture = Path(__file__).resolve().parents[2] / "spec-fixtures" / "results-xml" / "basic.srx"
    text = fixture.read_text("utf-8")
    with rdfm.open_log(text.encode("utf-16"), "results-xml", kind="results") as log:
        found = list(log)
    with rdfm.open_log(fixture, kind="results") as log:
        assert found == list(log)


def test_warnings_about_utf_16_have_lines():
    text = document('\n<p r:datatype="http://www.w3.org/2001/XMLSchema#integer">\u00e9x</p>')
    (found,) = rdfm.validate(("\ufeff" + text).encode("utf-16-le"), "rdfxml")
    (expected,) = rdfm.validate(text.encode(), "rdfxml")
    assert (found.rule, found.line, found.column) == (expected.rule, expected.line, expected.column)


def test_other_encodings_are_errors_that_name_iconv():
    log = b"<?xml version='1.0' encoding='ISO-8859-1'?>\n" + document("<p>caf\xe9</p>").encode(
        "latin-1"
    )
    assert "iconv -f ISO-8859-1 -t UTF-8" in decode("rdfxml", log)[1]


@pytest.mark.parametrize(
    ("predicate", "name"),
    [
        ("http://e/\U0001f600a", "ns0:a"),
        ("http://e/a\U0001f600b", "ns0:b"),
        ("http://e/a\U0001f600", "ns0:a\U0001f600"),  # no such name in the fourth edition
        ("http://e/\u4e2d\u6587", "ns0:\u4e2d\u6587"),
        ("http://e/\u9fff\u4e2d", "ns0:\u4e2d"),
    ],
)
def test_names_of_predicates_follow_the_fourth_edition_of_xml(predicate, name):
    """Many readers, such as those that use expat, reject other names."""
    message = [(S, ("iri", predicate), O, None)]
    log = encode("rdfxml", [message])
    assert f"<{name} ".encode() in log
    assert decoded("rdfxml", log) == [message]
    accepted = name != "ns0:a\U0001f600"
    try:
        expat.ParserCreate().Parse(log, True)
    except expat.ExpatError:
        assert not accepted
    else:
        assert accepted

//! Accepted input of the decoders, and errors with positions.
#![allow(clippy::too_many_lines, reason = "tables of cases")]

use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::remedy::Reason;

use super::{read, read_with};
use crate::support::Options;

const XML_HEAD: &str = "<sparql xmlns='http://www.w3.org/2005/sparql-results#'><head>";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// A document with the variables `x` and `y`, and the given rows.
fn json(rows: &str) -> String {
    format!("{{\"head\":{{\"vars\":[\"x\",\"y\"]}},\"results\":{{\"bindings\":[{rows}]}}}}")
}

fn xml(rows: &str) -> String {
    format!(
        "{XML_HEAD}<variable name='x'/><variable name='y'/></head><results>{rows}</results></sparql>"
    )
}

/// Returns the first cell of the only row.
fn cell(format: &str, log: &str) -> String {
    let mut actual = read(format, log).without_error();
    assert_eq!(actual.rows.len(), 1, "{log}");
    actual.rows.swap_remove(0).swap_remove(0)
}

#[test]
fn terms_in_json_are_read() {
    let typed = format!("\"1\"^^<{XSD}integer>");
    for (term, expected) in [
        (r#"{"type":"uri","value":"http://e/a"}"#, "<http://e/a>"),
        (r#"{"value":"b","type":"bnode"}"#, "_:b"),
        (
            r#"{"type":"literal","value":"a\n\u00e9\ud83d\ude00\\"}"#,
            "\"a\\né😀\\\\\"",
        ),
        (
            r#"{"type":"literal","value":"a","xml:lang":"en"}"#,
            "\"a\"@en",
        ),
        (r#"{"type":"literal","value":"a","xml:lang":""}"#, "\"a\""),
        (
            r#"{"xml:lang":"he","its:dir":"rtl","type":"literal","value":"a"}"#,
            "\"a\"@he--rtl",
        ),
        (
            r#"{"type":"typed-literal","value":"1","datatype":"http://www.w3.org/2001/XMLSchema#integer"}"#,
            &typed,
        ),
        (
            r#"{"type":"literal","value":"1","datatype":"http://www.w3.org/2001/XMLSchema#string"}"#,
            "\"1\"",
        ),
        (
            r#"{"type":"literal","value":"a","xml:lang":"en","datatype":"http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"}"#,
            "\"a\"@en",
        ),
        (
            r#"{"type":"uri","other":{"a":[1,{"b":null}]},"value":"http://e/a","more":true}"#,
            "<http://e/a>",
        ),
        (
            r#"{"type":"triple","value":{"object":{"type":"triple","value":{"subject":{"type":"bnode","value":"b"},"predicate":{"type":"uri","value":"p"},"object":{"type":"literal","value":"o"}}},"subject":{"type":"uri","value":"s"},"predicate":{"type":"uri","value":"p"}}}"#,
            "<<( <s> <p> <<( _:b <p> \"o\" )>> )>>",
        ),
    ] {
        assert_eq!(
            cell("results-json", &json(&format!("{{\"x\":{term}}}"))),
            expected
        );
        let key = json(&format!("{{ \"\\u0078\" : {term} }}"));
        assert_eq!(cell("results-json", &key), expected);
        let spaced = term
            .replace("\",\"", "\" ,\n\"")
            .replace("\":\"", "\"\t: \"");
        let row = json(&format!("{{\"y\":{spaced} ,\r\n \"x\" :{term}\n}}"));
        let rows = read("results-json", &row).without_error().rows;
        assert_eq!(rows, [[expected, expected]]);
    }
}

#[test]
fn json_rows_may_precede_their_head() {
    let rows = r#"{"y":{"type":"uri","value":"a"}},{}"#;
    let log = format!(
        "\u{feff}{{\"results\":{{\"distinct\":false,\"bindings\":[{rows}],\"ordered\":[]}},\"z\":[{{}}],\
         \"head\":{{\"link\":[\"m.rdf\"],\"vars\":[\"x\",\"y\"],\"q\":{{}}}},\"k\":0}} \n"
    );
    let actual = read("results-json", &log).without_error();
    assert_eq!(actual.variables(), ["x", "y"]);
    assert_eq!(&*actual.head.as_ref().unwrap().links[0], "m.rdf");
    assert_eq!(actual.rows, [vec!["", "<a>"], vec!["", ""]]);
    let small = Options::with("max_message_bytes", 100u64);
    let many = format!(
        "{{\"results\":{{\"bindings\":[{}]}}}}",
        ["{}"; 60].join(",")
    );
    let actual = read_with("results-json", &small, &many);
    assert_eq!(
        actual.error.unwrap().to_string(),
        "results-json: the rows before the head, which are buffered until the head is read, take more than 100 bytes \
         (line 1, column 25, byte 24, message 0)"
    );
    assert_eq!(
        read("results-json", &many).reason(),
        "the result set has no head, so its variables are unknown"
    );
}

#[test]
fn answers_to_ask_queries_are_read() {
    for (format, log) in [
        (
            "results-json",
            r#"{"head":{"link":["a"]},"boolean":true}"#.to_owned(),
        ),
        (
            "results-json",
            r#"{"boolean":true,"x":[],"head":{"link":["a"]}}"#.to_owned(),
        ),
        (
            "results-xml",
            format!("{XML_HEAD}<link href='a'/></head><boolean> true\n</boolean></sparql>"),
        ),
    ] {
        let actual = read(format, &log).without_error();
        assert_eq!(actual.boolean(), Some(true));
        assert_eq!(actual.variables(), Vec::<&str>::new());
        assert_eq!(&*actual.head.unwrap().links[0], "a");
        assert!(actual.rows.is_empty());
        let log = log.replace("true", "false");
        assert_eq!(read(format, log).without_error().boolean(), Some(false));
    }
}

#[test]
fn invalid_json_is_rejected() {
    let row = |term: &str| json(&format!("{{\"x\":{term}}}"));
    let uri = r#"{"type":"uri","value":"a"}"#;
    for (log, reason) in [
        ("", "the log ends before its JSON object".to_owned()),
        (
            "{\"head\"",
            "the log ends inside its JSON object".to_owned(),
        ),
        (
            "[]",
            "a result set must be an object, not an array".to_owned(),
        ),
        (
            "{\"head\":1}",
            "head must be an object, not a number".to_owned(),
        ),
        (
            "{\"head\":{\"vars\":{}}}",
            "vars must be an array, not an object".to_owned(),
        ),
        (
            "{\"head\":{\"vars\":[null]}}",
            "a variable must be a string, not null".to_owned(),
        ),
        (
            "{\"head\":{\"vars\":[\"a\",\"a\"]}}",
            "the variable 'a' occurs twice".to_owned(),
        ),
        (
            "{\"head\":{\"link\":\"a\"}}",
            "link must be an array, not a string".to_owned(),
        ),
        (
            "{\"head\":{}}",
            "the result set has neither results with bindings nor a boolean".to_owned(),
        ),
        (
            "{\"head\":{},\"head\":{}}",
            "the result set has two heads".to_owned(),
        ),
        (
            "{\"boolean\":1}",
            "boolean must be true or false, not a number".to_owned(),
        ),
        (
            "{\"boolean\":true,\"results\":{}}",
            "the result set has both a boolean (of ASK) and results (of SELECT)".to_owned(),
        ),
        (
            "{\"results\":{\"bindings\":{}}}",
            "bindings must be an array, not an object".to_owned(),
        ),
        (
            "{\"boolean\":true} x",
            "expected the end of the JSON value, found 'x'".to_owned(),
        ),
    ] {
        assert_eq!(read("results-json", log).reason(), reason, "{log}");
    }
    for (rows, reason) in [
        ("1".to_owned(), "a row must be an object, not a number"),
        (
            "{\"z\":1}".to_owned(),
            "the variable 'z' is not in the head",
        ),
        (
            "{\"x\":\"a\"}".to_owned(),
            "a term must be an object, not a string",
        ),
        (
            format!("{{\"x\":{uri},\"x\":{uri}}}"),
            "a row has two terms for 'x'",
        ),
    ] {
        let good = format!("{{\"x\":{uri}}}");
        let actual = read("results-json", json(&format!("{good},{rows}")));
        assert_eq!((actual.reason(), actual.rows.len()), (reason, 1));
        assert_eq!(actual.error.unwrap().position.message_index, Some(1));
    }
    for (term, reason) in [
        ("{}", "a term has no type"),
        ("{\"type\":\"uri\"}", "the value of a term must be a string"),
        (
            "{\"type\":\"x\",\"value\":\"a\"}",
            "the type of a term must be uri, literal, bnode or triple, not 'x'",
        ),
        (
            "{\"type\":1}",
            "a member of a term must be a string, not a number",
        ),
        (
            "{\"value\":[]}",
            "the value of a term must be a string, or an object for a triple term, not an array",
        ),
        (
            "{\"type\":\"uri\",\"type\":\"uri\"}",
            "'type' occurs twice in a term",
        ),
        (
            "{\"value\":\"a\",\"value\":{}}",
            "'value' occurs twice in a term",
        ),
        (
            "{\"type\":\"literal\",\"value\":\"a\",\"its:dir\":\"ltr\"}",
            "a base direction without a language",
        ),
        (
            "{\"type\":\"literal\",\"value\":\"a\",\"xml:lang\":\"a\",\"its:dir\":\"up\"}",
            "the base direction 'up' is neither ltr nor rtl",
        ),
        (
            "{\"type\":\"literal\",\"value\":\"a\",\"xml:lang\":\"a\",\"datatype\":\"d\"}",
            "a literal has a language and a datatype",
        ),
        (
            "{\"type\":\"triple\",\"value\":{}}",
            "the value of a triple term must have a subject, a predicate and an object",
        ),
        (
            "{\"type\":\"triple\",\"value\":{\"s\":1}}",
            "a triple term must have subject, predicate and object, not 's'",
        ),
        (
            "{\"type\":\"uri\",\"value\":\"\\ud800\"}",
            "the escape \\uD800 is half of a surrogate pair",
        ),
        (
            "{\"type\":\"uri\",\"value\":\"\\u12\"}",
            "the string ends inside an escape",
        ),
    ] {
        assert_eq!(read("results-json", row(term)).reason(), reason, "{term}");
    }
}

#[test]
fn terms_in_xml_are_read() {
    let its = "xmlns:i='http://www.w3.org/2005/11/its' i:dir='rtl'";
    let directed = format!("<literal xml:lang='he' {its}>a</literal>");
    for (term, expected) in [
        ("<uri>http://e/a</uri>", "<http://e/a>"),
        ("<uri>\n http://e/?a&amp;b\n</uri>", "<http://e/?a&b>"),
        (
            "<uri>&#x20;a<!-- c -->b<![CDATA[ ]]></uri>",
            "<\\u0020ab\\u0020>",
        ),
        ("<bnode> b0 </bnode>", "_:b0"),
        (
            "<literal> a&lt;\r\nb\rc&#13;<![CDATA[<&]]> </literal>",
            "\" a<\\nb\\nc\\r<& \"",
        ),
        ("<literal/>", "\"\""),
        ("<literal xml:lang='en'>a</literal>", "\"a\"@en"),
        ("<literal xml:lang=\"\">a</literal>", "\"a\""),
        ("<literal  xml:lang=''>a</literal>", "\"a\""),
        (
            "<literal xml:lang='' datatype='http://e/t'>a</literal>",
            "\"a\"^^<http://e/t>",
        ),
        (&directed, "\"a\"@he--rtl"),
        (
            "<literal datatype='http://e/?&quot;&#65;'>a</literal>",
            "\"a\"^^<http://e/?\\u0022A>",
        ),
        (
            "<f:x xmlns:f='urn:f'>a<uri>b</uri><f:y/></f:x><uri>a</uri>",
            "<a>",
        ),
        (
            "<triple><subject><bnode>b</bnode></subject><predicate><uri>p</uri></predicate> <object><literal>o</literal></object></triple>",
            "<<( _:b <p> \"o\" )>>",
        ),
    ] {
        let log = xml(&format!(
            "<result>\n<binding name='x'>{term}</binding></result>"
        ));
        assert_eq!(cell("results-xml", &log), expected, "{term}");
    }
    let prefixed = "\u{feff}<?xml version=\"1.0\" encoding='utf-8'?><!-- a --><r:sparql \
        xmlns:r='http://www.w3.org/2005/sparql-results#'><r:head ><r:variable name='&#120;'/></r:head><r:results>\
        <r:result><r:binding name='&#120;'><r:uri>a</r:uri></r:binding></r:result></r:results></r:sparql><!-- b -->\n";
    assert_eq!(cell("results-xml", prefixed), "<a>");
}

#[test]
fn invalid_xml_is_rejected() {
    for (log, reason) in [
        ("", "the log ends before the 'sparql' element"),
        ("x", "expected a tag, found 'x'"),
        (
            "<!DOCTYPE sparql><sparql/>",
            "a DOCTYPE is not supported in result sets",
        ),
        (
            "<sparql/>",
            "expected a 'sparql' element of the namespace 'http://www.w3.org/2005/sparql-results#', found 'sparql'",
        ),
        ("<a:b/>", "the prefix 'a' is not declared"),
        (XML_HEAD, "the log ends before the end tag of 'head'"),
        (
            "<?xml version='1.0' encoding='latin1'?>",
            "the document is in the encoding 'latin1'; convert it to UTF-8 first (iconv -f latin1 -t UTF-8) and remove \
             the encoding from the declaration",
        ),
        (
            "<!-- a --><?xml version='1.0'?>",
            "an XML declaration is allowed only at the start",
        ),
    ] {
        assert_eq!(read("results-xml", log).reason(), reason, "{log}");
    }
    for (tail, reason) in [
        ("<variable/>", "the element has no 'name' attribute"),
        (
            "<variable name='a'/><variable name='a'/>",
            "the variable 'a' occurs twice",
        ),
        ("<uri/>", "the element 'uri' does not belong in 'head'"),
        ("a", "expected a tag, found 'a'"),
        (
            "</x>",
            "expected the end tag of 'head', found the end tag of 'x'",
        ),
        (
            "</head></sparql>",
            "the result set has neither results nor a boolean",
        ),
        (
            "</head><boolean>yes</boolean>",
            "the boolean must be true or false, not 'yes'",
        ),
        (
            "</head><results/><boolean>",
            "the result set already has results or a boolean; it can have only one of them",
        ),
        (
            "</head><results/></sparql><a/>",
            "a second element after the 'sparql' element",
        ),
        (
            "<variable name='a' name='b'/>",
            "the attribute 'name' occurs twice",
        ),
    ] {
        let log = format!("{XML_HEAD}{tail} <!-- -->");
        assert_eq!(read("results-xml", &log).reason(), reason, "{tail}");
    }
    for (row, reason) in [
        ("<binding/>", "a binding has no 'name' attribute"),
        ("<binding name='z'/>", "the variable 'z' is not in the head"),
        ("<binding name='x'></binding>", "a binding has no term"),
        (
            "<binding name='x'><uri>a</uri><uri>b</uri></binding>",
            "found a second term, expected only one",
        ),
        (
            "<binding name='x'><uri/></binding><binding name='x'><uri/></binding>",
            "a row has two terms for 'x'",
        ),
        (
            "<binding name='x'><triple/></binding>",
            "a triple term must have a subject, a predicate and an object",
        ),
        (
            "<binding name='x'><triple><subject/></triple></binding>",
            "the subject, predicate or object of a triple term is empty",
        ),
        (
            "<binding name='x'><uri>&a;</uri>",
            "the reference '&a;' does not name a character; without a DOCTYPE, only &lt; &gt; &amp; &quot; &apos; and character numbers are allowed",
        ),
        (
            "<binding name='x'><literal>&#0;",
            "the reference '&#0;' does not name a character; without a DOCTYPE, only &lt; &gt; &amp; &quot; &apos; and character numbers are allowed",
        ),
        (
            "<binding name='x'><uri>a & b</uri>",
            "'&' begins a reference, which must end with ';'; write a literal '&' as &amp;",
        ),
        (
            "<binding name='x'><uri>\u{1}</uri>",
            "XML cannot represent the character U+0001",
        ),
    ] {
        let log = xml(&format!("<result/><result>{row}<a>"));
        let actual = read("results-xml", &log);
        assert_eq!(actual.reason(), reason, "{row}");
        assert_eq!(actual.rows.len(), 1);
    }
    let head = read(
        "results-xml",
        "<sparql xmlns='http://www.w3.org/2005/sparql-results#'><results/></sparql>",
    );
    assert_eq!(head.reason(), "expected a 'head' element first");
}

#[test]
fn terms_in_tsv_are_read() {
    let typed = |text: &str, kind: &str| format!("\"{text}\"^^<{XSD}{kind}>");
    for (term, expected) in [
        ("<http://e/a>", "<http://e/a>".to_owned()),
        ("<a>", "<a>".to_owned()),
        ("<_:a>", "<_:a>".to_owned()),
        ("_:b0", "_:b0".to_owned()),
        (r#""a\tb\"\u00e9""#, "\"a\\tb\\\"é\"".to_owned()),
        ("'a'", "\"a\"".to_owned()),
        ("\"a\"@en--ltr", "\"a\"@en--ltr".to_owned()),
        ("\"a\"^^<d>", "\"a\"^^<d>".to_owned()),
        ("4", typed("4", "integer")),
        ("-4", typed("-4", "integer")),
        ("5.5", typed("5.5", "decimal")),
        ("1.0e6", typed("1.0e6", "double")),
        ("true", typed("true", "boolean")),
        (
            "<<( <s> <p> 1 )>>",
            format!("<<( <s> <p> {} )>>", typed("1", "integer")),
        ),
        ("<<( <_:s> <p> _:o )>>", "<<( <_:s> <p> _:o )>>".to_owned()),
        (" <a> ", "<a>".to_owned()),
        ("'<_:a>'", "\"<_:a>\"".to_owned()),
        (
            "<<( <_:s> <p> 1 )>>",
            format!("<<( <_:s> <p> {} )>>", typed("1", "integer")),
        ),
    ] {
        assert_eq!(
            cell("results-tsv", &format!("?x\t$y\n{term}\t\n")),
            expected
        );
        assert_eq!(cell("results-tsv", &format!("?x\r\n{term}\r\n")), expected);
        assert_eq!(
            cell("results-tsv", &format!("\u{feff}?x\n{term}")),
            expected
        );
    }
    let actual = read("results-tsv", "\n\n\n").without_error();
    assert_eq!((actual.variables().len(), actual.rows.len()), (0, 2));
    let actual = read("results-tsv", "?x\n\n").without_error();
    assert_eq!(actual.rows, [[""]]);
}

#[test]
fn terms_that_recur_in_tsv_are_read_like_the_first_ones() {
    let terms = [
        "<http://e/a>",
        " <http://e/a> ",
        "<http://e/\\u0061>",
        "<http://e/ab>",
        "<a>",
        "<_:a>",
        "_:a",
        "\"<http://e/a>\"",
        "\"a\"^^<http://e/a>",
        "\"a\"^^<http://e/b>",
        "\"a\"",
        "1",
        "",
    ];
    let row = |text: &[&str]| format!("{}\n", text.join("\t"));
    let alone: Vec<String> = terms
        .iter()
        .map(|term| cell("results-tsv", &format!("?x\n{term}\n")))
        .collect();
    let mut log = String::from("?x\t?y\n");
    let mut expected = Vec::new();
    for shift in [0, 0, 1, 5, 1, 7, 0] {
        for index in 0..terms.len() {
            let other = (index + shift) % terms.len();
            log += &row(&[terms[index], terms[other]]);
            expected.push([alone[index].clone(), alone[other].clone()]);
        }
    }
    assert_eq!(read("results-tsv", &log).without_error().rows, expected);
    assert_eq!(
        read("results-tsv", "?x\n<http://e/a>\n<http://e/a>>\n").reason(),
        "expected a tab or the end of the line, found '>'"
    );
}

#[test]
fn invalid_tsv_and_csv_are_rejected() {
    for (log, reason) in [
        ("", "the log has no header line with the variables"),
        (
            "x\n",
            "expected a variable, which begins with '?', found 'x'",
        ),
        ("?x\t?x\n", "the variable 'x' occurs twice"),
        (
            "?x\t?y\n<a>\n",
            "a row has 1 term, but the head has 2 variables",
        ),
        (
            "?x\n<a>\t<b>\n",
            "a row has 2 terms, but the head has 1 variable",
        ),
        ("\n<a>\n", "a row has 1 term, but the head has 0 variables"),
        (
            "?x\n<a> <b>\n",
            "expected a tab or the end of the line, found white space",
        ),
        (
            "?x\nex:a\n",
            "expected a full term, because prefixes cannot be declared here, found 'ex:a'",
        ),
    ] {
        assert_eq!(read("results-tsv", log).reason(), reason, "{log:?}");
    }
    for (log, reason) in [
        ("", "the log has no header line with the variables"),
        ("x,x\n", "the variable 'x' occurs twice"),
        ("x,y\na\n", "a row has 1 term, but the head has 2 variables"),
        ("x\n\"a", "the log ends inside a quoted field"),
        (
            "x\na\"b\"\n",
            "a quotation mark in an unquoted field; quote the field and double the mark",
        ),
        (
            "x\n\"a\"b\n",
            "expected ',' or the end of the line after a closing quotation mark",
        ),
        (
            "x\na\rb\n",
            "a carriage return without a line feed in an unquoted field",
        ),
    ] {
        assert_eq!(read("results-csv", log).reason(), reason, "{log:?}");
    }
    let error = read("results-tsv", "?x\t?y\n<a>\t<b>\n<a>\té<\n")
        .error
        .unwrap();
    let position = error.position;
    assert_eq!(
        (position.line_column, position.message_index),
        (Some((3, 5)), Some(1))
    );
}

#[test]
fn csv_is_read_as_plain_literals() {
    let log = "x,\"y \"\"z\"\"\"\r\nhttp://e/a,\"a,\r\nb\"\r\n,\"\"\r\n\"\"\"\",4";
    let actual = read("results-csv", log).without_error();
    assert_eq!(actual.variables(), ["x", "y \"z\""]);
    assert_eq!(
        actual.rows,
        [
            ["\"http://e/a\"", "\"a,\\r\\nb\""],
            ["", "\"\""],
            ["\"\\\"\"", "\"4\""]
        ]
    );
    let mut decoder = crate::support::decoder("results-csv", &Options::default()).unwrap();
    decoder.feed(log.as_bytes());
    decoder.finish();
    while decoder.next_batch().unwrap().is_some() {}
    assert_eq!(
        decoder.observations().notes,
        [Reason::new(
            "CSV does not record the kinds of terms: all cells are read as plain literals."
        )]
    );
}

#[test]
fn tuples_in_thrift_are_read() {
    let format = "results-thrift";
    let head = b"\x19\x2c\x18\x01x\0\x18\x01y\0\0";
    let log = |rest: &[u8]| [head, rest].concat();
    let actual = read(format, log(b"\x19\x2c\x7c\0\0\x1c\x18\x01a\0\0\0")).without_error();
    assert_eq!(actual.variables(), ["x", "y"]);
    assert_eq!(actual.rows, [["", "<a>"]]);
    // Unknown fields and types are skipped.
    let actual = read(format, log(b"\x38\x01z\0\x39\x11\0\0")).error.unwrap();
    assert_eq!(
        actual.reason.text(),
        "a row has 0 terms, but the head has 2 variables"
    );
    for (rest, class, reason) in [
        (
            &b"\x19\x2c\x7c\0"[..],
            ErrorClass::Truncated,
            "the log ends inside a tuple",
        ),
        (
            b"\x19\x1c\x7c\0\0\0",
            ErrorClass::Malformed,
            "a row has 1 term, but the head has 2 variables",
        ),
        (
            b"\x19\xfc\xff\xff\xff\xff\x07\x7c\0\0\x7c\0\0\x7c\0\0\0",
            ErrorClass::Malformed,
            "a row has more terms than there are variables (2)",
        ),
        (
            b"\x19\x28\x01a\x01b\0",
            ErrorClass::Malformed,
            "the elements of a tuple have type 8, expected 12",
        ),
        (
            b"\x18\x01a\0",
            ErrorClass::Malformed,
            "field 1 of the tuple has type 8, expected 9",
        ),
        (
            b"\x19\x2c\x8c\0\0\x7c\0\0\0",
            ErrorClass::Malformed,
            "expected a term or UNDEF in a result row, found REPEAT",
        ),
        (b"\x19\x2c\0", ErrorClass::Malformed, "the term is not set"),
    ] {
        let error = read(format, log(rest)).error.unwrap();
        assert_eq!((error.class, error.reason.text()), (class, reason));
        assert_eq!(error.position.byte_offset, Some(head.len() as u64));
    }
    assert_eq!(
        read(format, b"").reason(),
        "the log ends before the tuple of variables"
    );
    assert_eq!(
        read(format, b"\x19\x2c\x18\x01x\0\x18\x01x\0\0").reason(),
        "the variable 'x' occurs twice"
    );
    assert_eq!(
        read(format, b"\x19\x1c\x18\x01\xff\0\0").reason(),
        "the name of a variable is not valid UTF-8: '\u{fffd}'"
    );
}

#[test]
fn tuples_in_protobuf_are_read() {
    let format = "results-protobuf";
    let head = b"\x0a\x0a\x03\x0a\x01x\x0a\x03\x0a\x01y";
    let log = |rest: &[u8]| [head, rest].concat();
    let actual = read(format, log(b"\x0b\x0a\x02\x42\0\x0a\x05\x0a\x03\x0a\x01a")).without_error();
    assert_eq!(actual.rows, [["", "<a>"]]);
    for (rest, class, reason) in [
        (
            &b"\x05\0"[..],
            ErrorClass::Truncated,
            "the log ends inside a tuple: 1 of its 5 bytes are present",
        ),
        (
            b"\x80",
            ErrorClass::Truncated,
            "the log ends inside the length prefix of a tuple",
        ),
        (
            &[0x80; 11],
            ErrorClass::Malformed,
            "the length prefix of a tuple is longer than 10 bytes",
        ),
        (
            b"\0",
            ErrorClass::Malformed,
            "a row has 0 terms, but the head has 2 variables",
        ),
        (
            b"\x08\x0a\x02\x42\0\x0a\x02\x3a\0",
            ErrorClass::Malformed,
            "expected a term or UNDEF in a result row, found ANY",
        ),
        (
            b"\x02\x0a\x05",
            ErrorClass::Malformed,
            "a field of 5 bytes runs past the end of its message, which has 0 bytes left",
        ),
        (
            b"\xff\xff\xff\xff\x0f",
            ErrorClass::Limit,
            "a tuple of 4294967295 bytes is larger than 67108864 bytes",
        ),
    ] {
        let error = read(format, log(rest)).error.unwrap();
        assert_eq!((error.class, error.reason.text()), (class, reason));
        assert_eq!(error.position.byte_offset, Some(head.len() as u64));
    }
    assert_eq!(
        read(format, b"").reason(),
        "the log ends before the tuple of variables"
    );
    assert_eq!(
        read(format, b"\0\0\0").without_error().rows,
        [[""; 0], [""; 0]]
    );
}

#[test]
fn rows_tokens_and_depth_are_limited() {
    let small = Options::with("max_message_bytes", 64u64);
    let long = "a".repeat(200);
    let thrift = [
        b"\x19\x1c\x18\x01x\0\0\x19\x1c\x1c\x18\xc8\x01".as_slice(),
        long.as_bytes(),
        b"\0\0\0",
    ]
    .concat();
    for (format, log) in [
        (
            "results-json",
            json(&format!(
                "{{\"x\":{{\"type\":\"uri\",\"value\":\"{long}\"}}}}"
            ))
            .into_bytes(),
        ),
        ("results-json", format!("{{\"a\":\"{long}").into_bytes()),
        (
            "results-json",
            format!(
                "{{\"head\":{{\"vars\":[\"{}",
                ["a1", "b2", "c3", "d4", "e5"].join("\",\"")
            )
            .into_bytes(),
        ),
        (
            "results-xml",
            xml(&format!("<result><binding name='x'><uri>{long}</uri>")).into_bytes(),
        ),
        ("results-tsv", format!("?x\n<{long}>").into_bytes()),
        ("results-csv", format!("x\n\"{long}").into_bytes()),
        ("results-thrift", thrift),
    ] {
        let actual = read_with(format, &small, &log);
        assert_eq!(
            actual.error.as_ref().map(|error| error.class),
            Some(ErrorClass::Limit),
            "{format} {actual:?}"
        );
    }
    let flat = Options::with("max_depth", 2u64);
    let mut terms = [
        r#"{"type":"uri","value":"a"}"#.to_owned(),
        "<uri>a</uri>".to_owned(),
        "<a>".to_owned(),
    ];
    for depth in 1..=3 {
        let [in_json, in_xml, in_tsv] = &terms;
        terms = [
            format!(
                r#"{{"type":"triple","value":{{"subject":{in_json},"predicate":{in_json},"object":{in_json}}}}}"#
            ),
            format!(
                "<triple><subject>{in_xml}</subject><predicate>{in_xml}</predicate><object>{in_xml}</object></triple>"
            ),
            format!("<<( {in_tsv} <a> {in_tsv} )>>"),
        ];
        for (format, log) in [
            ("results-json", json(&format!("{{\"x\":{}}}", terms[0]))),
            (
                "results-xml",
                xml(&format!(
                    "<result><binding name='x'>{}</binding></result>",
                    terms[1]
                )),
            ),
            ("results-tsv", format!("?x\n{}\n", terms[2])),
        ] {
            let error = read_with(format, &flat, log).error.map(|error| error.class);
            assert_eq!(
                error,
                (depth > 2).then_some(ErrorClass::Limit),
                "{format} {depth}"
            );
        }
    }
    for log in [
        "[".repeat(100_000),
        format!("{{\"a\":{}", "{\"a\":".repeat(100_000)),
    ] {
        assert!(read("results-json", log).error.is_some());
    }
    let deep = format!("{XML_HEAD}{}", "<a xmlns=''>".repeat(10_000));
    assert_eq!(
        read("results-xml", deep).error.unwrap().class,
        ErrorClass::Limit
    );
}

//! Output and errors of the encoders.

use std::sync::Arc;

use rdfm_core::model::batch::ResultBatch;
use rdfm_core::model::builder::ResultBuilder;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::record::ResultHead;
use rdfm_core::model::term::TermKind;

use super::{LOSSLESS_FORMATS, batches, convert, read, write_with};
use crate::support::{Options, encoder};

const TSV: &str = "?x\t?y\n<a>\t\n_:b\t\"é\\n<&>\\\"\"@he--rtl\n\t1\n<<( <a> <b> \"c\" )>>\t\"\"\n";

#[test]
fn formats_are_equivalent() {
    let text = |format: &str| String::from_utf8(convert("results-tsv", TSV, format)).unwrap();
    assert_eq!(
        text("results-json"),
        r#"{"head":{"vars":["x","y"]},"results":{"bindings":[
{"x":{"type":"uri","value":"a"}},
{"x":{"type":"bnode","value":"b"},"y":{"type":"literal","value":"é\n<&>\"","xml:lang":"he","its:dir":"rtl"}},
{"y":{"type":"literal","value":"1","datatype":"http://www.w3.org/2001/XMLSchema#integer"}},
{"x":{"type":"triple","value":{"subject":{"type":"uri","value":"a"},"predicate":{"type":"uri","value":"b"},"object":{"type":"literal","value":"c"}}},"y":{"type":"literal","value":""}}
]}}
"#
    );
    assert_eq!(
        text("results-xml"),
        r#"<?xml version="1.0"?>
<sparql xmlns="http://www.w3.org/2005/sparql-results#">
<head><variable name="x"/><variable name="y"/></head>
<results>
<result><binding name="x"><uri>a</uri></binding></result>
<result><binding name="x"><bnode>b</bnode></binding><binding name="y"><literal xml:lang="he" xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0" its:dir="rtl">é
&lt;&amp;&gt;"</literal></binding></result>
<result><binding name="y"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">1</literal></binding></result>
<result><binding name="x"><triple><subject><uri>a</uri></subject><predicate><uri>b</uri></predicate><object><literal>c</literal></object></triple></binding><binding name="y"><literal></literal></binding></result>
</results>
</sparql>
"#
    );
    assert_eq!(
        text("results-tsv"),
        TSV.replace(
            "\t1\n",
            "\t\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>\n"
        )
    );
    let lossy = Options::with("lossy", true);
    let (csv, result) = write_with("results-csv", &lossy, &batches("results-tsv", TSV));
    assert_eq!(result, Ok(()));
    assert_eq!(
        String::from_utf8(csv).unwrap(),
        "x,y\r\na,\r\n_:b,\"é\n<&>\"\"\"\r\n,1\r\n\"<<( <a> <b> \"\"c\"\" )>>\",\"\"\r\n"
    );
    let expected = read("results-tsv", TSV);
    for format in LOSSLESS_FORMATS {
        assert_eq!(
            read(format, convert("results-tsv", TSV, format)),
            expected,
            "{format}"
        );
    }
}

#[test]
fn numbers_are_written_as_values_on_request() {
    let log = "?x\n1\n1.50\n+1\n";
    let values = Options::with("values", true);
    for (format, saved_bytes) in [("results-thrift", 40), ("results-protobuf", 40)] {
        let (out, result) = write_with(format, &values, &batches("results-tsv", log));
        assert_eq!(result, Ok(()));
        assert!(out.len() + 2 * saved_bytes < convert("results-tsv", log, format).len());
        assert_eq!(read(format, out), read("results-tsv", log));
    }
}

#[test]
fn results_may_have_no_rows_or_no_variables() {
    for (log, count) in [("?x\t?y\n", 0), ("\n", 0), ("\n\n\n", 2)] {
        let expected = read("results-tsv", log).without_error();
        assert_eq!(expected.rows.len(), count);
        for format in LOSSLESS_FORMATS {
            assert_eq!(
                read(format, convert("results-tsv", log, format)),
                expected,
                "{format}"
            );
        }
    }
}

/// A batch with a head and one row of literals.
fn batch(head: ResultHead, row: &[&str]) -> ResultBatch {
    let mut builder = ResultBuilder::new(Limits::default());
    builder.set_head(Arc::new(head));
    builder.begin_message(0);
    for text in row {
        let id = builder
            .add_simple(TermKind::Literal, text.as_bytes(), 0)
            .unwrap();
        builder.add(id).unwrap();
    }
    builder.end_message();
    builder.take().unwrap()
}

fn head(variables: &[&str]) -> ResultHead {
    ResultHead {
        variables: variables.iter().map(|name| (*name).into()).collect(),
        ..ResultHead::default()
    }
}

/// Returns the class and text of the encoding error, and the output.
fn encoding_error(
    format: &str,
    options: &Options,
    batch: ResultBatch,
) -> (ErrorClass, String, Vec<u8>) {
    let (out, result) = write_with(format, options, &[batch]);
    let error = result.unwrap_err();
    (error.class, error.reason.text().to_owned(), out)
}

#[test]
fn unsupported_data_is_rejected() {
    let plain = Options::default();
    let ask = || {
        let boolean = Some(true);
        let mut builder = ResultBuilder::new(Limits::default());
        builder.set_head(Arc::new(ResultHead {
            boolean,
            ..ResultHead::default()
        }));
        builder.take_head()
    };
    for format in [
        "results-thrift",
        "results-protobuf",
        "results-tsv",
        "results-csv",
    ] {
        let (class, reason, out) = encoding_error(format, &plain, ask());
        assert_eq!(class, ErrorClass::Unsupported);
        assert!(
            reason.starts_with("the format cannot represent the answer to an ASK query"),
            "{reason}"
        );
        assert!(out.is_empty());
    }
    for format in ["results-json", "results-xml", "results-jelly"] {
        let (out, result) = write_with(format, &plain, &[ask()]);
        assert_eq!(result, Ok(()));
        assert_eq!(read(format, out).boolean(), Some(true));
        let answer = ResultHead {
            boolean: Some(true),
            ..ResultHead::default()
        };
        let (_, reason, out) = encoding_error(format, &plain, batch(answer, &[]));
        assert_eq!(
            reason,
            "a row after the answer to an ASK query, which has no rows"
        );
        assert_eq!(read(format, out).without_error().boolean(), Some(true));
    }
    let lossy = Options::with("lossy", true);
    for format in LOSSLESS_FORMATS.into_iter().chain(["results-csv"]) {
        let options = if format == "results-csv" {
            &lossy
        } else {
            &plain
        };
        let (_, reason, out) =
            encoding_error(format, options, batch(head(&["x", "x"]), &["a", "b"]));
        assert_eq!(
            (reason.as_str(), out.len()),
            ("the variable 'x' occurs twice", 0)
        );
        let (_, reason, out) = encoding_error(format, options, batch(head(&["x"]), &["a", "b"]));
        assert_eq!(reason, "a row has 2 terms, but the head has 1 variable");
        assert_eq!(read(format, out).without_error().rows.len(), 0);
    }
    let (_, reason, out) = encoding_error("results-csv", &plain, batch(head(&["x"]), &["a"]));
    assert_eq!(
        reason,
        "CSV cannot distinguish IRIs, blank nodes and literals, and has no datatypes or languages"
    );
    assert!(out.is_empty());
    let (_, reason, out) = encoding_error("results-xml", &plain, batch(head(&["x"]), &["a\u{b}"]));
    assert_eq!(
        reason,
        "XML cannot represent the character U+000B, found in 'a\\u000B'"
    );
    assert_eq!(read("results-xml", out).without_error().rows.len(), 0);
    let (_, reason, _) = encoding_error("results-tsv", &plain, batch(head(&["x\t"]), &["a"]));
    assert_eq!(
        reason,
        "the variable 'x\\t' contains a tab or a line break, which TSV cannot represent"
    );
}

#[test]
fn batches_with_different_heads_are_rejected() {
    let many = ["a", "b", "c", "d", "e", "f"];
    let linked = ResultHead {
        links: vec!["a".into()],
        ..head(&["x", "y"])
    };
    let answer = ResultHead {
        boolean: Some(false),
        ..ResultHead::default()
    };
    for (other, cells, expected) in [
        (
            head(&many),
            &many[..],
            "the variables differ from those of earlier rows: 'a', 'b', 'c', 'd', 'e', …, not 'x', 'y'; \
             a log of results has only one list of variables",
        ),
        (
            head(&[]),
            &[],
            "the variables differ from those of earlier rows: none, not 'x', 'y'; \
             a log of results has only one list of variables",
        ),
        (
            head(&["y", "x"]),
            &["1", "2"],
            "the variables are not in the same order as in earlier rows: 'y', 'x', not 'x', 'y'; \
             a log of results has only one list of variables",
        ),
        (
            linked,
            &["1", "2"],
            "the links differ from those of earlier rows; a log of results has only one list of links",
        ),
        (
            answer,
            &[],
            "the answer to an ASK query is followed by another answer or by rows; \
             a log of results contains one answer or only rows",
        ),
    ] {
        let batches = [batch(head(&["x", "y"]), &["1", "2"]), batch(other, cells)];
        let (_, result) = write_with("results-thrift", &Options::default(), &batches);
        assert_eq!(result.unwrap_err().reason.text(), expected);
    }
}

#[test]
fn unsupported_links_are_dropped_and_counted() {
    let links = vec!["a".into(), "b".into()];
    let linked = ResultHead {
        links,
        ..head(&["x"])
    };
    for format in LOSSLESS_FORMATS {
        let mut encoder = encoder(format, &Options::default()).unwrap();
        let mut out = Vec::new();
        encoder
            .encode((&batch(linked.clone(), &["a"])).into(), &mut out)
            .unwrap();
        encoder.finish(&mut out).unwrap();
        let has_links = matches!(format, "results-json" | "results-xml" | "results-jelly");
        let dropped = if has_links {
            vec![]
        } else {
            vec![("links", 2)]
        };
        assert_eq!(encoder.dropped_counts(), dropped);
        let reread = read(format, out).without_error().head.unwrap();
        assert_eq!(reread.links.len(), if has_links { 2 } else { 0 });
    }
}

#[test]
fn unusual_strings_round_trip_or_are_rejected() {
    let unusual = "?a b\n<\\u005F:x>\n<<( <_:s> <p> _:o )>>\n\"\\u0020 \\r\\n\\t \"\n<\\u0020>\n\"a\"@x-gx-656e2020\n_:_gx2061\n";
    let expected = read("results-tsv", unusual).without_error();
    for format in LOSSLESS_FORMATS {
        if matches!(
            format,
            "results-json" | "results-xml" | "results-tsv" | "results-jelly"
        ) {
            assert_eq!(
                read(format, convert("results-tsv", unusual, format)),
                expected,
                "{format}"
            );
        } else {
            // Readers of this format interpret an IRI that begins with `_:` as a blank node.
            let (_, result) = write_with(
                format,
                &Options::default(),
                &batches("results-tsv", unusual),
            );
            let error = result.unwrap_err();
            assert_eq!(error.message_index, 0);
            assert_eq!(
                error.reason.text(),
                "readers of the format would read the IRI '_:x' as a blank node; other formats can represent it"
            );
        }
    }
}

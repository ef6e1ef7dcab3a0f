//! The laws of strict codecs for terms of every kind: valid, relative, invalid, and with any
//! character.

use rdfm_core::model::term::flags::{LTR, RTL};
use rdfm_core::registry::FORMATS;
use rdfm_laws::message::Term;
use rdfm_laws::strict::check_term;

const IRIS: [&str; 46] = [
    "",
    "s",
    "#f",
    "?q",
    "/p",
    "//h/p",
    "./a",
    "../a",
    "a/b:c",
    "1:a",
    ":a",
    "é:a",
    "a b",
    "a:b",
    "a:",
    "http:",
    "http:a",
    "HTTP://E/A",
    "http://e",
    "http://e/",
    "http://e/a/../b",
    "http://e/./a",
    "http://e/a.",
    "http://e/a[1]",
    "http://e/100%",
    "http://e/%zz",
    "http://e/d#a#b",
    "http://e:port/",
    "http://e/a b",
    "http://e/a\tb\nc",
    "http://e/<>\"{}|^`\\",
    "http://é/\u{e000}\u{fffe}",
    "http://e/a\u{7f}\u{80}",
    "http://e/\0",
    "http://e/-a",
    "http://e/😀a",
    "urn:x",
    "urn:a:b",
    "_:b",
    "n:a",
    "file:a",
    "mailto:a@b",
    "urn:x-arq:DefaultGraph",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#li",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
];

const TAGS: [&str; 12] = [
    "en",
    "EN-us",
    "en--ltr",
    "a_b",
    "",
    "-",
    "en-",
    "123456789",
    "x-gx-656e",
    "x-gx-00",
    "é",
    "en us",
];

const LABELS: [&str; 12] = [
    "b", "", "-a", "a.", "a b", "_g1", "_gx61", "_gx2d61", "_gm1_x", "é", "a:b", "n:a",
];

const TEXTS: [&str; 6] = ["", "a", "1", "true", "1e0", "\"'\\\n\r\t"];

fn check_all(terms: &[Term]) {
    for format in FORMATS {
        for term in terms {
            check_term(format, term);
        }
    }
}

fn literal(text: &str, tag: Option<&str>, direction: u8, datatype: Option<&str>) -> Term {
    Term::Literal(
        text.to_owned(),
        tag.map(str::to_owned),
        direction,
        datatype.map(str::to_owned),
    )
}

/// Characters with a special meaning or an escape in some grammar, and their neighbours.
fn special_characters() -> impl Iterator<Item = char> {
    let ranges = [
        0..=0xa0,
        0x2028..=0x2029,
        0xd7ff..=0xd7ff,
        0xfdd0..=0xfdd0,
        0xfeff..=0xfeff,
        0xfff0..=0xffff,
    ];
    let ranges = ranges.into_iter().flatten();
    ranges
        .chain([0x1_0000, 0x1_fffe, 0x10_ffff])
        .filter_map(char::from_u32)
}

#[test]
fn every_character_is_written_the_same_whatever_format_it_was_read_from() {
    let long = "text that is longer than an excerpt and a word";
    let alone = special_characters().flat_map(|c| {
        [format!("{c}"), format!("{long}{c}")].map(|text| literal(&text, None, 0, None))
    });
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    let chunks = all.chunks(4096).map(|chunk| {
        let text: String = chunk.iter().collect();
        literal(&text, Some("en"), 0, None)
    });
    check_all(&alone.chain(chunks).collect::<Vec<_>>());
}

#[test]
fn strict_decoders_read_the_iris_and_labels_that_strict_encoders_write() {
    let iris = IRIS.iter().map(|&text| Term::Iri(text.to_owned()));
    let blank_nodes = LABELS.iter().map(|&text| Term::BlankNode(text.to_owned()));
    let characters = special_characters().map(|c| Term::Iri(format!("http://e/a{c}b")));
    check_all(
        &iris
            .chain(blank_nodes)
            .chain(characters)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn strict_decoders_read_the_literals_that_strict_encoders_write() {
    let rdf = |name: &str| format!("http://www.w3.org/1999/02/22-rdf-syntax-ns#{name}");
    let xsd = |name: &str| format!("http://www.w3.org/2001/XMLSchema#{name}");
    let names = ["langString", "dirLangString", "JSON", "HTML", "XMLLiteral"].map(rdf);
    let types = ["integer", "decimal", "double", "boolean", "anyURI"].map(xsd);
    let datatypes = IRIS
        .map(str::to_owned)
        .into_iter()
        .chain(names)
        .chain(types);
    let mut terms: Vec<_> = datatypes
        .flat_map(|datatype| TEXTS.map(|text| literal(text, None, 0, Some(&datatype))))
        .collect();
    for tag in TAGS {
        terms.extend([0, LTR, RTL].map(|direction| literal("a", Some(tag), direction, None)));
    }
    terms.extend(TEXTS.map(|text| literal(text, None, 0, None)));
    check_all(&terms);
}

//! The column layout of Jelly 1.2: accepted input, errors and limits, with hand-made logs.

use rdfm_core::codec::Decoder;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::formats::jelly::restart::{MarkFinder, MarkSearch, put_mark};
use rdfm_core::model::term::Quad;

use crate::jelly::decode::{decode, decode_with, ok};
use crate::jelly::encode::{cut, random, write};
use crate::jelly::model::{Message, Statement, Term, batch, outcome};
use crate::jelly::wire::{bytes, iri, number, row, varint};
use crate::support::{Options, decoder};

const MESSAGES: u64 = 1;
const TRIPLES: u64 = 1;
const QUADS: u64 = 2;

/// An options row of version 3, with added or replaced fields.
fn stream(physical: u64, more: &[Vec<u8>]) -> Vec<u8> {
    let fields = [
        number(2, physical),
        number(9, 128),
        number(10, 16),
        number(11, 16),
        number(15, 3),
    ];
    row(1, [fields.concat(), more.concat()].concat())
}

/// The options row of a stream of messages with quads.
fn messages_of(physical: u64) -> Vec<u8> {
    stream(physical, &[number(5, MESSAGES)])
}

fn frame(fields: &[Vec<u8>]) -> Vec<u8> {
    crate::jelly::wire::frame(fields)
}

/// Packed numbers.
fn packed(field: u64, numbers: &[u64]) -> Vec<u8> {
    let numbers: Vec<u8> = numbers.iter().copied().flat_map(varint).collect();
    bytes(field, numbers)
}

/// Strings of a list.
fn texts(field: u64, texts: &[&str]) -> Vec<u8> {
    texts.iter().flat_map(|text| bytes(field, text)).collect()
}

/// A packed lookup entry: of names (2), prefixes (3) or datatypes (4).
fn entry(field: u64, id: u64, values: &[&str]) -> Vec<u8> {
    let id = if id == 0 { Vec::new() } else { number(1, id) };
    bytes(field, [id, texts(2, values)].concat())
}

/// A column of IRIs without prefixes.
fn names(ids: &[u64]) -> Vec<u8> {
    packed(3, ids)
}

/// The columns field of a frame.
fn columns(fields: &[Vec<u8>]) -> Vec<u8> {
    bytes(2, fields.concat())
}

/// Columns with this number of rows, with the subjects `s`, the predicate `p`, and the objects as labels.
fn rows(objects: &[&str], more: &[Vec<u8>]) -> Vec<u8> {
    let count = objects.len() as u64;
    let repeat = match count {
        0 => Vec::new(),
        1 => names(&[1]),
        2..=16 => [names(&[1]), packed(2, &[count - 2])].concat(),
        _ => [names(&[1]), packed(2, &[15, count - 17])].concat(),
    };
    let second = match count {
        0 => Vec::new(),
        1 => names(&[2]),
        2..=16 => [names(&[2]), packed(2, &[count - 2])].concat(),
        _ => [names(&[2]), packed(2, &[15, count - 17])].concat(),
    };
    columns(&[
        number(1, count),
        bytes(6, repeat),
        bytes(7, second),
        bytes(8, texts(9, objects)),
        more.concat(),
    ])
}

/// Lookup entries that [`rows`] needs, in a frame of their own with these options.
fn start(options: Vec<u8>) -> Vec<u8> {
    frame(&[options, columns(&[entry(2, 0, &["s:", "p:"])])])
}

fn error(log: &[u8]) -> String {
    decode(log).1.expect("an error")
}

fn named(text: &str) -> Term {
    Term::Iri(text.to_owned())
}

fn bnode(label: &str) -> Term {
    Term::BlankNode(label.to_owned())
}

fn literal(text: &str) -> Term {
    Term::Literal(text.to_owned(), None, None)
}

/// The objects of each message, as labels.
fn labels(messages: &[Message]) -> Vec<String> {
    let label = |term: &Term| match term {
        Term::BlankNode(label) => label.clone(),
        other => panic!("{other:?}"),
    };
    let objects = |message: &Message| message.statements.iter().map(|s| label(&s[2])).collect();
    messages.iter().map(objects).collect()
}

#[test]
fn every_kind_of_term_is_read() {
    let triple = [
        bytes(2, "n"),
        bytes(5, iri(0, 2)),
        bytes(11, [bytes(1, "x"), bytes(2, "ar"), number(4, 2)].concat()),
    ]
    .concat();
    let nested = [bytes(1, iri(1, 1)), bytes(5, ""), bytes(12, triple.clone())].concat();
    let objects = [
        // literal, IRI, triple, blank node; literal, literal, literal, triple; literal
        bytes(1, [0b10_11_00_01_u8, 0b11_01_01_01, 0b01]),
        names(&[3]),
        packed(4, &[1]),
        texts(5, &["plain", "1", "hi", "ha", ""]),
        packed(6, &[0, 1, 2, 4, 0]),
        texts(7, &["en", "en"]),
        packed(8, &[0, 1]),
        texts(9, &["o"]),
        bytes(10, nested),
        bytes(10, triple),
    ]
    .concat();
    let batch = columns(&[
        number(1, 9),
        entry(2, 0, &["s", "p", "o"]),
        entry(3, 0, &["http://e/"]),
        entry(4, 0, &["http://e/integer"]),
        bytes(6, [names(&[0]), packed(4, &[1]), packed(2, &[7])].concat()),
        bytes(7, [names(&[2]), packed(4, &[1]), packed(2, &[7])].concat()),
        bytes(8, objects),
    ]);
    let messages = ok(&frame(&[stream(QUADS, &[]), batch]));
    assert_eq!(messages.len(), 1);
    // The IRIs in triple terms share a state: the first has a prefix, which the next ones repeat.
    let with_prefix = Term::Triple(Box::new([
        bnode("n"),
        named("http://e/p"),
        Term::Literal("x".to_owned(), Some("ar--rtl".to_owned()), None),
    ]));
    let nested = Term::Triple(Box::new([
        named("http://e/s"),
        named("http://e/p"),
        with_prefix.clone(),
    ]));
    let tagged = |text: &str, tag: &str| Term::Literal(text.to_owned(), Some(tag.to_owned()), None);
    let integer = Some("http://e/integer".to_owned());
    let objects = [
        literal("plain"),
        named("http://e/o"),
        nested,
        bnode("o"),
        Term::Literal("1".to_owned(), None, integer),
        tagged("hi", "en"),
        tagged("ha", "en--ltr"),
        with_prefix,
        literal(""),
    ];
    for (statement, object) in messages[0].statements.iter().zip(&objects) {
        assert_eq!(statement[0], named("http://e/s"));
        assert_eq!(statement[1], named("http://e/p"));
        assert_eq!(statement[2], *object);
        assert_eq!(statement[3], Term::Default);
    }
    assert_eq!(messages[0].statements.len(), objects.len());
}

#[test]
fn message_lengths_divide_statements_across_frames() {
    let log = [
        start(messages_of(TRIPLES)),
        frame(&[rows(&["a", "b", "c"], &[packed(15, &[1, 0, 1])])]),
        frame(&[]),
        frame(&[rows(&["d"], &[])]),
        frame(&[rows(&[], &[packed(15, &[0, 0])])]),
        frame(&[rows(&["e", "f"], &[packed(15, &[0, 1])])]),
    ]
    .concat();
    // The message that begins with `c` goes on in two frames. The last one has no end.
    assert_eq!(labels(&ok(&log)), ["a", "", "b", "cd", "", "", "e", "f"]);
    let unpacked = [number(15, 1), number(15, 1)];
    let log = [
        start(messages_of(TRIPLES)),
        frame(&[rows(&["a", "b"], &unpacked)]),
    ]
    .concat();
    assert_eq!(labels(&ok(&log)), ["a", "b"]);
    // Without lengths, all statements are one message.
    let log = [
        start(stream(TRIPLES, &[])),
        frame(&[rows(&["a", "b"], &[])]),
    ]
    .concat();
    let log = [log, frame(&[rows(&["c"], &[])])].concat();
    assert_eq!(labels(&ok(&log)), ["abc"]);
    // An empty log of messages has none; a flat log has one.
    assert_eq!(ok(&start(messages_of(TRIPLES))), []);
    assert_eq!(labels(&ok(&start(stream(TRIPLES, &[])))), [""]);
}

#[test]
fn unbound_graphs_are_the_default_graph() {
    let objects: Vec<String> = (0..40).map(|n| format!("o{n}")).collect();
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    // Two unbound cells, `g` in 20 cells, `h` in one; the rest is unbound.
    let graphs = [
        packed(2, &[1 << 4 | 1, 15, 3]),
        bytes(1, [0b10_00_u8]),
        names(&[3]),
        texts(9, &["h"]),
    ];
    let batch = rows(&objects, &[entry(2, 3, &["g:"]), bytes(9, graphs.concat())]);
    let log = [start(stream(QUADS, &[])), frame(&[batch])].concat();
    let messages = ok(&log);
    for (index, statement) in messages[0].statements.iter().enumerate() {
        let graph = match index {
            2..=21 => named("g:"),
            22 => bnode("h"),
            _ => Term::Default,
        };
        assert_eq!(statement[3], graph, "{index}");
    }
    assert_eq!(messages[0].statements.len(), 40);
}

#[test]
fn ids_are_inferred_within_a_column() {
    let column = |field, ids: &[u64], prefixes: &[u64]| {
        bytes(field, [names(ids), packed(4, prefixes)].concat())
    };
    let batch = columns(&[
        number(1, 3),
        entry(2, 0, &["a", "b"]),
        entry(2, 0, &["c"]),
        entry(2, 0, &[]),
        entry(2, 0, &["d"]),
        entry(3, 2, &["q:"]),
        entry(3, 1, &["r:"]),
        entry(2, 1, &["A"]),
        column(6, &[0, 0, 4], &[2, 0, 1]),
        column(7, &[2, 1, 0], &[0, 2, 0]),
        column(8, &[3, 0, 1], &[]),
    ]);
    let messages = ok(&frame(&[stream(TRIPLES, &[]), batch]));
    let actual: Vec<_> = messages[0]
        .statements
        .iter()
        .map(|s| s[..3].to_vec())
        .collect();
    let expected = [["q:A", "b", "c"], ["q:b", "q:A", "d"], ["r:d", "q:b", "A"]];
    assert_eq!(actual, expected.map(|row| row.map(named).to_vec()));
}

#[test]
fn fields_may_be_in_any_order_and_in_several_pieces() {
    let options = stream(TRIPLES, &[]);
    let usual = columns(&[
        number(1, 2),
        entry(2, 0, &["s:", "p:"]),
        bytes(6, [names(&[1]), packed(2, &[0])].concat()),
        bytes(7, [names(&[2]), packed(2, &[0])].concat()),
        bytes(8, texts(9, &["x", "y"])),
    ]);
    let expected = ok(&frame(&[options.clone(), usual.clone()]));
    assert_eq!(labels(&expected), ["xy"]);
    let unpacked = columns(&[
        bytes(8, texts(9, &["x", "y"])),
        bytes(7, [number(2, 0), number(3, 2)].concat()),
        bytes(6, [number(3, 1), number(2, 0)].concat()),
        entry(2, 0, &["s:", "p:"]),
        number(1, 2),
    ]);
    let pieces = [
        columns(&[
            number(1, 7),
            bytes(8, texts(9, &["x"])),
            entry(2, 0, &["s:"]),
            bytes(6, names(&[1])),
        ]),
        columns(&[
            number(1, 2),
            entry(2, 0, &["p:"]),
            bytes(7, [names(&[2]), packed(2, &[0])].concat()),
            bytes(6, packed(2, &[0])),
            bytes(8, texts(9, &["y"])),
        ]),
    ]
    .concat();
    for fields in [
        vec![usual.clone(), options.clone()],
        vec![options.clone(), unpacked],
        vec![options.clone(), pieces],
    ] {
        assert_eq!(ok(&frame(&fields)), expected);
        // One frame without a length.
        assert_eq!(ok(&fields.concat()), expected);
    }
}

#[test]
fn restated_options_empty_the_tables_and_end_the_message() {
    let file = |objects: &[&str], lengths: &[u64]| {
        [
            start(messages_of(TRIPLES)),
            frame(&[rows(objects, &[packed(15, lengths)])]),
        ]
        .concat()
    };
    let log = [
        file(&["a", "b"], &[1]),
        file(&["c"], &[1]),
        file(&[], &[0]),
        start(stream(TRIPLES, &[number(5, MESSAGES), number(6, 3)])),
    ]
    .concat();
    assert_eq!(labels(&ok(&log)), ["a", "b", "c", ""]);
    // The tables are empty, so the next entry has id 1, and earlier entries are gone.
    let again = frame(&[messages_of(TRIPLES)]);
    let log = [file(&["a"], &[1]), again, frame(&[rows(&["b"], &[])])].concat();
    let text = error(&log);
    assert!(text.contains("column subjects: name 1 is used"), "{text}");
    // A flat log stays one message.
    let flat =
        |objects: &[&str]| [start(stream(TRIPLES, &[])), frame(&[rows(objects, &[])])].concat();
    assert_eq!(labels(&ok(&[flat(&["a"]), flat(&["b"])].concat())), ["ab"]);
    for (changed, name) in [
        (stream(QUADS, &[number(5, MESSAGES)]), "physical_type"),
        (stream(TRIPLES, &[]), "stream_type"),
    ] {
        let text = error(&[file(&["a"], &[1]), frame(&[changed])].concat());
        let expected = format!("the restated stream options change {name} from ");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn metadata_belong_to_the_only_message_that_begins_in_their_frame() {
    let entry = || bytes(15, [bytes(1, "k"), bytes(2, "v")].concat());
    let dropped = |log: &[u8]| {
        let mut decoder = decoder("jelly", &Options::default()).unwrap();
        let (messages, error) = outcome(&mut *decoder, log, log.len());
        assert_eq!(error, None);
        let counts: Vec<usize> = messages.iter().map(|m| m.metadata.len()).collect();
        (counts, decoder.observations().dropped_metadata)
    };
    let log = |frames: &[Vec<u8>]| [start(messages_of(TRIPLES)), frames.concat()].concat();
    let one = |lengths: &[u64]| frame(&[rows(&["a"], &[packed(15, lengths)]), entry()]);
    assert_eq!(dropped(&log(&[one(&[1])])), (vec![1], 0));
    assert_eq!(dropped(&log(&[one(&[])])), (vec![1], 0));
    // Two messages begin.
    assert_eq!(dropped(&log(&[one(&[1, 0])])), (vec![0, 0], 1));
    assert_eq!(dropped(&log(&[one(&[0])])), (vec![0, 0], 1));
    // The frame continues a message, or has none.
    assert_eq!(dropped(&log(&[one(&[]), one(&[1])])), (vec![1], 1));
    assert_eq!(dropped(&log(&[frame(&[entry()]), one(&[1])])), (vec![1], 1));
    // In a flat log, only those of the first frame are kept.
    let first = frame(&[stream(TRIPLES, &[]), entry()]);
    assert_eq!(dropped(&[first, frame(&[entry()])].concat()), (vec![1], 1));
}

#[test]
fn namespaces_infer_ids_among_themselves() {
    let namespace = |name: &str, ids: &[u8]| bytes(5, [bytes(1, name), bytes(2, ids)].concat());
    let batch = columns(&[
        entry(2, 0, &["", "a"]),
        entry(3, 0, &["http://e/"]),
        namespace("", &iri(1, 1)),
        namespace("x", &[]),
        number(1, 0),
        packed(15, &[0]),
    ]);
    let messages = ok(&frame(&[messages_of(TRIPLES), batch]));
    let expected = [("", "http://e/"), ("x", "http://e/a")];
    let expected = expected.map(|(name, iri)| (name.to_owned(), iri.to_owned()));
    assert_eq!(messages[0].namespaces, expected);
}

#[test]
#[allow(clippy::too_many_lines)] // a table of cases
fn errors_describe_the_violated_rule() {
    let options = |more: &[Vec<u8>]| vec![stream(TRIPLES, more)];
    let triples = || stream(TRIPLES, &[]);
    let known = || entry(2, 0, &["a:", "b:"]);
    // One row, with this column as the objects.
    let objects = |fields: &[Vec<u8>]| {
        vec![
            triples(),
            columns(&[
                number(1, 1),
                known(),
                entry(
                    4,
                    0,
                    &["http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"],
                ),
                bytes(6, names(&[1])),
                bytes(7, names(&[2])),
                bytes(8, fields.concat()),
            ]),
        ]
    };
    let batch = |fields: &[Vec<u8>]| vec![triples(), columns(fields)];
    let cases: Vec<(&str, Vec<Vec<u8>>)> = vec![
        (
            "the stream options have no physical_type; Jelly 1.2 is a draft, and rdfm reads commit 15c10bef",
            vec![stream(0, &[])],
        ),
        (
            "physical type 3 is not allowed in version 3",
            vec![stream(3, &[])],
        ),
        (
            "the name table size is 127, expected 128 or more",
            options(&[number(9, 127)]),
        ),
        (
            "the prefix table of 65537 entries",
            options(&[number(10, 65_537)]),
        ),
        (
            "the stream options set rdf_star, which",
            options(&[number(4, 1)]),
        ),
        (
            "the stream options set generalized_statements, which",
            options(&[number(3, 1)]),
        ),
        (
            "the stream options set logical_type, which",
            options(&[number(14, 1)]),
        ),
        ("stream_type 2 does not exist", options(&[number(5, 2)])),
        ("rdf_version 4 does not exist", options(&[number(6, 4)])),
        (
            "field 7 of the stream options is unknown",
            options(&[number(7, 1)]),
        ),
        (
            "field 3 of the frame is unknown",
            vec![triples(), number(3, 1)],
        ),
        (
            "field 10 of the columns is unknown",
            batch(&[packed(10, &[1])]),
        ),
        (
            "field 11 of the column is unknown",
            objects(&[number(11, 1)]),
        ),
        (
            "field 3 of the lookup entry is unknown",
            batch(&[bytes(2, number(3, 1))]),
        ),
        ("several rows", vec![triples(), triples()]),
        ("row_count is 134217728", batch(&[number(1, 1 << 27)])),
        ("the layout has 0 cells, expected 1", batch(&[number(1, 1)])),
        (
            "a column of graphs in a log of physical type TRIPLES",
            batch(&[bytes(9, "")]),
        ),
        (
            "message lengths, but the stream type is FLAT",
            batch(&[packed(15, &[0])]),
        ),
        (
            "name entry 129 exceeds the declared table size 128",
            batch(&[entry(2, 129, &["x"])]),
        ),
        (
            "a name is not valid UTF-8",
            batch(&[bytes(2, bytes(2, b"\xff"))]),
        ),
        ("column objects: name 3 is used", objects(&[names(&[3])])),
        (
            "column objects: prefix 1 is used",
            objects(&[names(&[1]), packed(4, &[1])]),
        ),
        (
            "2 prefix ids for 1 name id",
            objects(&[names(&[1]), packed(4, &[0, 0])]),
        ),
        (
            "2 literal kinds for 1 lexical form",
            objects(&[texts(5, &["a"]), packed(6, &[0, 0])]),
        ),
        (
            "1 direction for 2 language tags",
            objects(&[texts(5, &["a"]), texts(7, &["a", "b"]), packed(8, &[0])]),
        ),
        (
            "datatype 2 is used",
            objects(&[texts(5, &["a"]), packed(6, &[3])]),
        ),
        (
            "but no language tag",
            objects(&[texts(5, &["a"]), packed(6, &[1])]),
        ),
        (
            "refers to language tag 1, but the column has 1 tag",
            objects(&[texts(5, &["a"]), packed(6, &[4]), texts(7, &["en"])]),
        ),
        (
            "direction 3 does not exist",
            objects(&[
                texts(5, &["a"]),
                packed(6, &[2]),
                texts(7, &["en"]),
                packed(8, &[3]),
            ]),
        ),
        (
            "a lexical form is not valid UTF-8",
            objects(&[bytes(5, b"\xff")]),
        ),
        (
            "a blank node label is not valid UTF-8",
            objects(&[bytes(9, b"\xff")]),
        ),
        (
            "a language tag is not valid UTF-8",
            objects(&[texts(5, &["a"]), bytes(7, b"\xff")]),
        ),
        (
            "values of several kinds, but no kinds",
            objects(&[names(&[1]), texts(9, &["a"])]),
        ),
        (
            "the kinds of 1 values take 2 bytes",
            objects(&[names(&[1]), bytes(1, [0_u8, 0])]),
        ),
        (
            "the unused bits of the kinds are not 0",
            objects(&[names(&[1]), bytes(1, [4_u8])]),
        ),
        (
            "the kinds have 0 IRIs, but the list has 1",
            objects(&[names(&[1]), bytes(1, [1_u8])]),
        ),
        (
            "packed numbers end inside a number",
            objects(&[bytes(3, [0x80_u8])]),
        ),
        (
            "column predicates: a blank node is not allowed",
            batch(&[
                number(1, 1),
                known(),
                bytes(6, names(&[1])),
                bytes(7, texts(9, &["p"])),
            ]),
        ),
        (
            "column subjects: a literal is not allowed",
            batch(&[number(1, 1), bytes(6, texts(5, &["s"]))]),
        ),
        (
            "a triple term omits its predicate",
            objects(&[bytes(10, bytes(2, "s"))]),
        ),
        (
            "field 3 of the triple term is unknown",
            objects(&[bytes(10, bytes(3, "s"))]),
        ),
        (
            "a literal has a direction, but no language tag",
            objects(&[bytes(
                10,
                [bytes(2, "s"), bytes(5, iri(0, 1)), bytes(11, number(4, 1))].concat(),
            )]),
        ),
        (
            "the namespace declaration of 'x' has no IRI",
            batch(&[bytes(5, bytes(1, "x"))]),
        ),
    ];
    for (expected, fields) in cases {
        let (messages, actual) = decode(&frame(&fields));
        let actual = actual.unwrap_or_else(|| panic!("no error: {expected}"));
        assert!(actual.contains(expected), "{actual}\n{expected}");
        assert!(actual.contains("(frame 0, row 0, byte "), "{actual}");
        assert_eq!(messages, []);
    }
    let text = error(
        &[
            start(messages_of(TRIPLES)),
            frame(&[rows(&["a"], &[packed(15, &[1, 1])])]),
        ]
        .concat(),
    );
    assert!(
        text.contains("the message lengths add up to 2 rows, but the frame has 1"),
        "{text}"
    );
    let text = error(&[start(triples()), frame(&[bytes(1, "")])].concat());
    assert!(
        text.contains("the row is empty, expected the stream options"),
        "{text}"
    );
    let text = error(&[start(triples()), frame(&[bytes(1, bytes(9, ""))])].concat());
    assert!(text.contains("a name row in a log of version 3"), "{text}");
    let text = error(&frame(&[columns(&[]), number(3, 1)]));
    assert!(text.contains("the log begins with columns"), "{text}");
}

#[test]
fn an_announced_version_excludes_terms() {
    let directed = [
        texts(5, &["a"]),
        packed(6, &[2]),
        texts(7, &["en"]),
        packed(8, &[1]),
    ]
    .concat();
    let triple = [bytes(2, "s"), bytes(5, iri(0, 1)), bytes(10, "o")].concat();
    let triple = bytes(10, triple);
    for (object, first_allowed) in [(directed, 2), (triple, 3)] {
        for version in 0..=3 {
            let batch = columns(&[
                number(1, 1),
                entry(2, 0, &["s:", "p:"]),
                bytes(6, names(&[1])),
                bytes(7, names(&[2])),
                bytes(8, object.clone()),
            ]);
            let log = frame(&[stream(TRIPLES, &[number(6, version)]), batch]);
            let actual = decode(&log).1;
            let is_allowed = version == 0 || version >= first_allowed;
            assert_eq!(actual.is_none(), is_allowed, "{version} {actual:?}");
            let text = actual.unwrap_or_else(|| "announce RDF".to_owned());
            assert!(text.contains("announce RDF"), "{text}");
        }
    }
}

#[test]
fn errors_name_the_row_and_follow_complete_messages() {
    let first = [
        start(messages_of(TRIPLES)),
        frame(&[rows(&["a"], &[packed(15, &[1])])]),
    ]
    .concat();
    // Rows 0 to 2 have the first object. The second one, in row 3, refers to a missing name.
    let objects = [packed(2, &[1]), names(&[1, 9])].concat();
    let batch = columns(&[
        number(1, 4),
        bytes(6, [names(&[1]), packed(2, &[2])].concat()),
        bytes(7, [names(&[2]), packed(2, &[2])].concat()),
        bytes(8, objects),
        packed(15, &[1, 1, 1, 1]),
    ]);
    let log = [first.clone(), frame(std::slice::from_ref(&batch))].concat();
    let (messages, actual) = decode(&log);
    // No message of the frame is returned.
    assert_eq!(labels(&messages), ["a"]);
    let actual = actual.unwrap();
    assert!(
        actual.contains("column objects: name 9 is used"),
        "{actual}"
    );
    assert!(actual.contains("(frame 2, row 3, byte "), "{actual}");
    assert!(actual.contains("message 1)"), "{actual}");
}

#[test]
fn nesting_of_triple_terms_is_limited() {
    let nested = |depth: usize| {
        let parts = |object: Vec<u8>| [bytes(2, "s"), bytes(5, iri(0, 2)), object].concat();
        let mut term = parts(bytes(10, "o"));
        for _ in 1..depth {
            term = parts(bytes(12, term));
        }
        let batch = columns(&[
            number(1, 1),
            entry(2, 0, &["s:", "p:"]),
            bytes(6, names(&[1])),
            bytes(7, names(&[2])),
            bytes(8, bytes(10, term)),
        ]);
        frame(&[stream(TRIPLES, &[]), batch])
    };
    assert_eq!(ok(&nested(64)).len(), 1);
    for depth in [65, 10_000] {
        let text = error(&nested(depth));
        assert!(text.contains("deeper than 64 levels"), "{text}");
    }
    let deep = Options::with("max_depth", 100);
    assert_eq!(decode_with(&deep, &nested(100)).0.len(), 1);
    assert!(decode_with(&deep, &nested(10_000)).1.is_some());
}

#[test]
fn large_batches_are_expanded_within_the_limits() {
    let many = (1 << 27) - 1;
    let repeat = |id| [names(&[id]), packed(2, &[15, many - 17])].concat();
    let batch = |more: Vec<u8>| {
        columns(&[
            number(1, many),
            entry(2, 0, &["s:", "p:"]),
            bytes(6, repeat(1)),
            bytes(7, repeat(2)),
            bytes(8, repeat(1)),
            more,
        ])
    };
    let text = error(&frame(&[stream(TRIPLES, &[]), batch(Vec::new())]));
    assert!(
        text.contains("is larger than 67108864 decoded bytes"),
        "{text}"
    );
    // Empty messages.
    let empty = frame(&[
        messages_of(TRIPLES),
        columns(&[bytes(15, vec![0_u8; 100_000])]),
    ]);
    let mut decoder = decoder("jelly", &Options::default()).unwrap();
    assert_eq!(count(&mut *decoder, &empty), (100_000, 8192));
}

#[test]
fn long_prefixes_are_expanded_within_the_limits() {
    // 600 messages of one statement, whose object has a prefix of 100 kB.
    let count = 600;
    let prefix = "p".repeat(100_000);
    let objects: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    let repeat = |id| [names(&[id]), packed(2, &[15, count - 17])].concat();
    let options = stream(TRIPLES, &[number(5, MESSAGES), number(9, 1000)]);
    let batch = columns(&[
        number(1, count),
        entry(2, 0, &["s:", "p:"]),
        entry(2, 0, &objects),
        entry(3, 0, &["", &prefix]),
        bytes(6, [repeat(1), packed(4, &[1])].concat()),
        bytes(7, [repeat(2), packed(4, &[1])].concat()),
        bytes(
            8,
            [names(&[&[3][..], &[0; 599]].concat()), packed(4, &[2])].concat(),
        ),
        packed(15, &[1; 600]),
    ]);
    let log = frame(&[options, batch]);
    let mut decoder = decoder("jelly", &Options::default()).unwrap();
    let (messages, largest) = self::count(&mut *decoder, &log);
    assert_eq!(messages, 600);
    assert!(largest < 200, "{largest} messages of 100 kB in a batch");
}

/// The number of messages, and that of the largest batch.
fn count(decoder: &mut dyn Decoder, log: &[u8]) -> (usize, usize) {
    decoder.feed(log);
    decoder.finish();
    let (mut all, mut largest) = (0, 0);
    while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
        all += batch.len();
        largest = largest.max(batch.len());
    }
    (all, largest)
}

#[test]
fn runs_continue_in_the_next_batch() {
    // Each run goes on after the batch of 3 statements, also those of literals and triple terms.
    let triple = [bytes(2, "s"), bytes(5, ""), bytes(10, "o")].concat();
    let objects = [
        bytes(1, [0b11_01_u8]),
        packed(2, &[3, 3]),
        texts(5, &["x"]),
        packed(6, &[2]),
        texts(7, &["en"]),
        bytes(10, triple),
    ];
    let repeat = |id| [names(&[id]), packed(2, &[8])].concat();
    let batch = columns(&[
        number(1, 10),
        entry(2, 0, &["s:", "p:"]),
        bytes(6, repeat(1)),
        bytes(7, repeat(2)),
        bytes(8, objects.concat()),
        packed(15, &[1; 10]),
    ]);
    let log = frame(&[messages_of(TRIPLES), batch]);
    let whole = ok(&log);
    assert_eq!(whole.len(), 10);
    let small = Options::with("batch_quads", 3);
    assert_eq!(decode_with(&small, &log), (whole.clone(), None));
    assert_eq!(whole[4].statements[0][2], whole[0].statements[0][2]);
    assert_eq!(whole[9].statements[0][2], whole[5].statements[0][2]);
}

/// Options that write version 3.
fn writing() -> Options {
    Options::with("jelly_version", "1.2")
}

fn statements(messages: &[Message]) -> Vec<&[Statement]> {
    messages.iter().map(|m| m.statements.as_slice()).collect()
}

/// A message with these statements.
fn message(statements: Vec<Statement>) -> Message {
    Message {
        statements,
        ..Message::default()
    }
}

#[test]
fn written_logs_round_trip_and_do_not_depend_on_batches() {
    for seed in 0..20 {
        let log = random(seed, 30, false);
        for (name_table, prefix_table, frame_rows) in [(4000, 150, 8192), (128, 4, 7), (128, 0, 1)]
        {
            let options = writing()
                .and("name_table", name_table)
                .and("prefix_table", prefix_table)
                .and("frame_rows", frame_rows)
                .and("namespaces", true);
            let (bytes, dropped, error) = write(&options, &cut(&log, log.len()));
            assert_eq!(error, None);
            assert!(dropped.iter().all(|(_, count)| *count == 0), "{dropped:?}");
            for size in [0, 1, 7] {
                assert_eq!(write(&options, &cut(&log, size)).0, bytes, "{size}");
            }
            let messages = ok(&bytes);
            assert_eq!(statements(&messages), statements(&log));
            for (read, written) in messages.iter().zip(&log) {
                assert_eq!(read.metadata, written.metadata);
                for namespace in &written.namespaces {
                    assert!(read.namespaces.contains(namespace), "{namespace:?}");
                }
            }
        }
    }
}

#[test]
fn a_full_table_ends_the_frame() {
    let row = |n: usize| {
        let [s, p, o] = ["s", "p", "o"].map(|what| named(&format!("http://e/{what}{n}")));
        [s, p, o, Term::Default]
    };
    let log = [message((0..500).map(row).collect()), message(vec![row(1)])];
    let (bytes, _, error) = write(&writing().and("name_table", 128), &[batch(&log)]);
    assert_eq!(error, None);
    assert_eq!(statements(&ok(&bytes)), statements(&log));
    let mut frames = 0;
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let (length, prefix) = match rest {
            [first, ..] if *first < 0x80 => (usize::from(*first), 1),
            [first, second, ..] => (usize::from(first & 0x7f) | usize::from(*second) << 7, 2),
            _ => panic!("a length of two bytes"),
        };
        rest = &rest[prefix + length..];
        frames += 1;
    }
    // 42 rows use 126 names.
    assert_eq!(frames, 12);
}

#[test]
fn triple_terms_and_directions_are_written() {
    let inner = Term::Triple(Box::new([
        bnode("b"),
        named("http://e/p"),
        Term::Literal("x".to_owned(), Some("ar--rtl".to_owned()), None),
    ]));
    let outer = Term::Triple(Box::new([
        named("http://e/s"),
        named("http://f/p"),
        inner.clone(),
    ]));
    let typed = Term::Literal("1".to_owned(), None, Some("http://e/d".to_owned()));
    let other = Term::Triple(Box::new([bnode("c"), named("http://f/q"), typed]));
    let with = |object: &Term| {
        [
            bnode("b"),
            named("http://e/p"),
            object.clone(),
            named("http://e/g"),
        ]
    };
    let tagged = |tag: &str| Term::Literal("x".to_owned(), Some(tag.to_owned()), None);
    let objects = [
        outer.clone(),
        outer,
        inner,
        other,
        tagged("en"),
        tagged("en--ltr"),
        tagged("en"),
        literal(""),
    ];
    let log = [
        message(objects.iter().map(with).collect()),
        message(Vec::new()),
        message(vec![with(&objects[2])]),
    ];
    for frame_rows in [1, 2, 100] {
        let options = writing().and("frame_rows", frame_rows);
        let (bytes, _, error) = write(&options, &[batch(&log)]);
        assert_eq!(error, None);
        assert_eq!(statements(&ok(&bytes)), statements(&log));
    }
    // All messages in one frame without a length.
    let (bytes, _, error) = write(&writing().and("delimited", false), &[batch(&log)]);
    assert_eq!(error, None);
    assert_eq!(statements(&ok(&bytes)), statements(&log));
}

#[test]
fn a_rejected_message_is_removed_from_the_open_frame() {
    let good = |object: &str| {
        [
            named("http://e/s"),
            named("http://e/p"),
            bnode(object),
            Term::Default,
        ]
    };
    let bad = |statement: Statement| message(vec![good("x"), good("y"), statement]);
    let [s, p, o, g] = good("z");
    let star = Term::Triple(Box::new([s.clone(), p.clone(), o.clone()]));
    for (statement, expected) in [
        (
            [literal("s"), p.clone(), o.clone(), g.clone()],
            "a literal in the subjects",
        ),
        (
            [s.clone(), bnode("p"), o.clone(), g.clone()],
            "a blank node in the predicates",
        ),
        (
            [star, p.clone(), o.clone(), g.clone()],
            "a triple term in the subjects",
        ),
        (
            [s.clone(), p.clone(), o.clone(), literal("g")],
            "a literal in the graphs",
        ),
    ] {
        let log = [
            message(vec![good("a")]),
            message(vec![good("b")]),
            bad(statement),
        ];
        for frame_rows in [1, 3, 100] {
            let options = writing().and("frame_rows", frame_rows);
            let (bytes, _, error) = write(&options, &[batch(&log)]);
            let error = error.unwrap();
            assert!(error.reason.text().contains(expected), "{error}");
            assert_eq!(error.message_index, 2);
            assert_eq!(labels(&ok(&bytes)), ["a", "b"]);
        }
    }
}

#[test]
fn flat_logs_are_one_message_with_distinct_labels() {
    let row = |label: &str| {
        [
            bnode(label),
            named("http://e/p"),
            bnode(label),
            Term::Default,
        ]
    };
    let log = [message(vec![row("a")]), message(vec![row("a")])];
    let (bytes, dropped, error) = write(&writing().and("frames", "flat"), &[batch(&log)]);
    assert_eq!(error, None);
    assert!(dropped.contains(&("boundaries", 1)), "{dropped:?}");
    assert_eq!(labels(&ok(&bytes)), ["a_gm1_a"]);
}

#[test]
fn options_of_the_row_layout_are_rejected() {
    for (option, expected) in [
        ("generalized", "Jelly 1.2 has no generalized"),
        ("rdf_star", "Jelly 1.2 has no rdf star"),
    ] {
        let options = writing().and(option, true);
        let error = crate::support::encoder("jelly", &options).err().unwrap();
        assert!(error.text().contains(expected), "{}", error.text());
    }
    let small = writing().and("name_table", 127);
    let error = crate::support::encoder("jelly", &small).err().unwrap();
    assert!(
        error.text().contains("the name table size is 127"),
        "{}",
        error.text()
    );
}

/// Offsets of the marked frames.
fn marks(log: &[u8]) -> Vec<usize> {
    let finder = MarkFinder::default();
    let (mut marks, mut from) = (Vec::new(), 0);
    while let MarkSearch::Found(start) = finder.find(log, from) {
        marks.push(start);
        from = start + 1;
    }
    marks
}

/// The lengths of the frames.
fn frame_lengths(log: &[u8]) -> Vec<usize> {
    let (mut lengths, mut rest) = (Vec::new(), log);
    while !rest.is_empty() {
        let size = 1 + rest.iter().take_while(|byte| **byte >= 0x80).count();
        let prefix = rest[..size].iter().rev();
        let length = prefix.fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
        lengths.push(size + length);
        rest = &rest[size + length..];
    }
    lengths
}

#[test]
fn kinds_cannot_forge_a_restart_mark() {
    // The kinds of the objects are the length prefix and the mark of a frame.
    let length: u64 = 90;
    let mut forged = varint(length);
    put_mark(&mut forged, length);
    let kinds = forged
        .iter()
        .flat_map(|byte| [0, 2, 4, 6].map(|bit| byte >> bit & 3));
    let statement = |(n, kind): (usize, u8)| {
        let text = n.to_string(); // equal objects would be one run
        let object = match kind {
            0 => named(&text),
            1 => literal(&text),
            2 => bnode(&text),
            _ => Term::Triple(Box::new([bnode(&text), named("http://e/p"), bnode("o")])),
        };
        [
            named("http://e/s"),
            named("http://e/p"),
            object,
            Term::Default,
        ]
    };
    let statements: Vec<Statement> = kinds.enumerate().map(statement).collect();
    let log = [message(statements), message(Vec::new())];
    let (bytes, _, error) = write(&writing(), &[batch(&log)]);
    assert_eq!(error, None);
    assert_eq!(marks(&bytes), [0]);
    assert_eq!(frame_lengths(&bytes).len(), 2);
    assert_eq!(self::statements(&ok(&bytes)), self::statements(&log));
}

#[test]
fn content_beyond_the_announced_version_is_rejected() {
    let directed = Term::Literal("x".to_owned(), Some("ar--rtl".to_owned()), None);
    let triple = Term::Triple(Box::new([
        bnode("s"),
        named("http://e/p"),
        directed.clone(),
    ]));
    for (object, first_allowed) in [(literal("x"), 1), (directed, 2), (triple, 3)] {
        let log = [message(vec![[
            named("http://e/s"),
            named("http://e/p"),
            object,
            Term::Default,
        ]])];
        for (number, version) in ["unspecified", "1.1", "1.2-basic", "1.2"]
            .into_iter()
            .enumerate()
        {
            let options = writing().and("rdf_version", version);
            let (bytes, _, error) = write(&options, &[batch(&log)]);
            let is_allowed = number == 0 || number >= first_allowed;
            assert_eq!(error.is_none(), is_allowed, "{version}: {error:?}");
            if is_allowed {
                assert_eq!(statements(&ok(&bytes)), statements(&log));
                let values = crate::jelly::decode::end(&Options::default(), &bytes)
                    .0
                    .options
                    .clone();
                let value = values.iter().find(|(name, _)| *name == "rdf_version");
                assert_eq!(value.unwrap().1.to_string(), version);
            }
        }
    }
    let rows = Options::with("rdf_version", "1.1");
    let error = crate::support::encoder("jelly", &rows).err().unwrap();
    assert_eq!(error.text(), "only Jelly 1.2 announces a version of RDF");
}

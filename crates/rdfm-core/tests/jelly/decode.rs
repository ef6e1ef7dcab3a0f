//! Accepted input, errors and guarantees of the Jelly decoder, with hand-made logs.

use std::sync::Arc;

use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Value;
use rdfm_core::codec::{Decoder, LogHeader, Observations};
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::term::Quad;

use crate::jelly::model::{Message, Term, decode_every_way, outcome};
use crate::jelly::wire::{
    blank_nodes, bytes, datatype, frame, iri, name, number, options, prefix, row, varint,
};
use crate::support::{Options, decoder};

pub fn decode_with(options: &Options, log: &[u8]) -> (Vec<Message>, Option<String>) {
    decode_every_way(&|| decoder("jelly", options).unwrap(), log)
}

pub fn decode(log: &[u8]) -> (Vec<Message>, Option<String>) {
    decode_with(&Options::default(), log)
}

pub fn ok(log: &[u8]) -> Vec<Message> {
    let (messages, error) = decode(log);
    assert_eq!(error, None);
    messages
}

fn class(options: &Options, log: &[u8]) -> ErrorClass {
    let mut decoder = decoder("jelly", options).unwrap();
    decoder.feed(log);
    decoder.finish();
    loop {
        match decoder.next_batch_of::<Quad>() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("no error"),
            Err(error) => return error.class,
        }
    }
}

fn bnode(label: &str) -> Term {
    Term::BlankNode(label.to_owned())
}

fn named(text: &str) -> Term {
    Term::Iri(text.to_owned())
}

fn counts(messages: &[Message]) -> Vec<usize> {
    messages.iter().map(|m| m.statements.len()).collect()
}

#[test]
#[allow(clippy::too_many_lines)] // a table of cases
fn errors_describe_the_violated_rule() {
    let star = number(4, 1);
    let s_p = [bytes(2, "s"), bytes(5, iri(0, 1))].concat();
    let n = name(0, "p");
    let graph = row(4, bytes(3, ""));
    let cases: &[(&str, Vec<Vec<u8>>)] = &[
        (
            "the log begins with a triple row",
            vec![blank_nodes("a", "b", "c")],
        ),
        ("the row is empty", vec![options(1, &[]), bytes(1, "")]),
        ("the row is empty", vec![options(1, &[]), row(20, "x")]),
        ("the row is empty", vec![bytes(1, "")]),
        ("physical type 0 is not allowed", vec![options(0, &[])]),
        ("physical type 4 is not allowed", vec![options(4, &[])]),
        (
            "the version is 0 or missing",
            vec![options(1, &[number(15, 0)])],
        ),
        (
            "version 4 is newer than 3",
            vec![options(1, &[number(15, 4)])],
        ),
        (
            "the name table size is 7",
            vec![options(1, &[number(9, 7)])],
        ),
        (
            "the name table of 65537 entries",
            vec![options(1, &[number(9, 65_537)])],
        ),
        (
            "the prefix table of 65537 entries",
            vec![options(1, &[number(10, 65_537)])],
        ),
        (
            "the datatype table of 4097 entries",
            vec![options(1, &[number(11, 4097)])],
        ),
        (
            "logical type 2 FLAT_QUADS does not fit",
            vec![options(1, &[number(14, 2)])],
        ),
        (
            "logical type 14 NAMED_GRAPHS does not fit",
            vec![options(1, &[number(14, 14)])],
        ),
        (
            "logical type 13 SUBJECT_GRAPHS does not fit",
            vec![options(2, &[number(14, 13)])],
        ),
        (
            "the stream options differ",
            vec![options(1, &[]), options(1, &[number(4, 1)])],
        ),
        (
            "the stream options differ",
            vec![options(1, &[]), options(9, &[])],
        ),
        (
            "the stream name is not valid UTF-8",
            vec![options(1, &[bytes(1, b"\xff")])],
        ),
        (
            "a quad row in a log of physical type TRIPLES",
            vec![options(1, &[]), row(3, "")],
        ),
        (
            "a triple row in a log of physical type QUADS",
            vec![options(2, &[]), blank_nodes("a", "b", "c")],
        ),
        (
            "a graph_start row in a log of physical type QUADS",
            vec![options(2, &[]), graph.clone()],
        ),
        (
            "a graph_end row in a log of physical type TRIPLES",
            vec![options(1, &[]), row(5, "")],
        ),
        (
            "a quad row in a log of physical type GRAPHS",
            vec![options(3, &[]), row(3, "")],
        ),
        (
            "a triple is outside a graph",
            vec![options(3, &[]), blank_nodes("a", "b", "c")],
        ),
        (
            "a graph starts inside another graph",
            vec![options(3, &[]), graph.clone(), graph.clone()],
        ),
        (
            "a graph ends, but none has started",
            vec![options(3, &[]), row(5, "")],
        ),
        (
            "a graph start does not specify its graph",
            vec![options(3, &[]), row(4, "")],
        ),
        (
            "the first statement omits its subject",
            vec![options(1, &[]), row(2, "")],
        ),
        (
            "the first statement omits its object",
            vec![
                options(1, &[]),
                row(2, [bytes(2, "s"), bytes(6, "p")].concat()),
            ],
        ),
        (
            "the first statement omits its graph",
            vec![
                options(2, &[]),
                row(3, [bytes(2, "s"), bytes(6, "p"), bytes(10, "o")].concat()),
            ],
        ),
        (
            "a triple term, but the stream options say rdf_star = false",
            vec![
                options(1, &[]),
                n.clone(),
                row(2, [bytes(4, ""), bytes(5, iri(0, 1))].concat()),
            ],
        ),
        (
            "a triple term omits its subject",
            vec![
                options(1, std::slice::from_ref(&star)),
                row(2, bytes(4, "")),
            ],
        ),
        (
            "a triple term omits its object",
            vec![
                options(1, std::slice::from_ref(&star)),
                n.clone(),
                row(2, bytes(4, s_p.clone())),
            ],
        ),
        (
            "name entry 17 exceeds the declared table size 16",
            vec![options(1, &[]), name(17, "x")],
        ),
        (
            "prefix entry 5 exceeds",
            vec![options(1, &[]), prefix(5, "x")],
        ),
        (
            "datatype entry 5 exceeds",
            vec![options(1, &[]), datatype(5, "x")],
        ),
        (
            "prefix entry 1 exceeds the declared table size 0",
            vec![options(1, &[number(10, 0)]), prefix(0, "x")],
        ),
        (
            "name 2 is used, but no entry",
            vec![options(1, &[]), n.clone(), row(2, bytes(1, iri(0, 2)))],
        ),
        (
            "name reference 17 exceeds",
            vec![options(1, &[]), n.clone(), row(2, bytes(1, iri(0, 17)))],
        ),
        (
            "prefix 1 is used, but no entry",
            vec![options(1, &[]), n.clone(), row(2, bytes(1, iri(1, 1)))],
        ),
        (
            "datatype 1 is used, but no entry",
            vec![
                options(1, &[]),
                row(
                    2,
                    [bytes(2, "s"), bytes(6, "p"), bytes(11, number(3, 1))].concat(),
                ),
            ],
        ),
        (
            "datatype 0 is not allowed",
            vec![
                options(1, &[]),
                row(
                    2,
                    [bytes(2, "s"), bytes(6, "p"), bytes(11, number(3, 0))].concat(),
                ),
            ],
        ),
        (
            "a name is not valid UTF-8",
            vec![options(1, &[]), row(9, bytes(2, b"\xc3"))],
        ),
        (
            "a prefix is not valid UTF-8",
            vec![options(1, &[]), row(10, bytes(2, b"\xc3"))],
        ),
        (
            "a datatype is not valid UTF-8",
            vec![options(1, &[]), row(11, bytes(2, b"\xc3"))],
        ),
        (
            "a blank node label is not valid UTF-8",
            vec![options(1, &[]), row(2, bytes(2, b"\xff"))],
        ),
        (
            "a lexical form is not valid UTF-8",
            vec![
                options(1, &[]),
                row(
                    2,
                    [bytes(2, "s"), bytes(6, "p"), bytes(11, bytes(1, b"\xff"))].concat(),
                ),
            ],
        ),
        (
            "a language tag is not valid UTF-8",
            vec![
                options(1, &[]),
                row(
                    2,
                    [bytes(2, "s"), bytes(6, "p"), bytes(11, bytes(2, b"\xff"))].concat(),
                ),
            ],
        ),
        (
            "a metadata key is not valid UTF-8",
            vec![options(1, &[]), bytes(15, bytes(1, b"\xff"))],
        ),
        (
            "a namespace's name is not valid UTF-8",
            vec![options(1, &[]), row(6, bytes(1, b"\xff"))],
        ),
        (
            "the namespace declaration of 'ex' has no IRI",
            vec![options(1, &[]), row(6, bytes(1, "ex"))],
        ),
        (
            "field 2 of the row has wire type 0",
            vec![options(1, &[]), bytes(1, number(2, 5))],
        ),
        (
            "field 1 of the frame has wire type 0",
            vec![options(1, &[]), number(1, 5)],
        ),
        (
            "field 9 of the statement has wire type 0",
            vec![options(1, &[]), row(2, number(9, 5))],
        ),
        (
            "field 2 of the IRI has wire type 2",
            vec![options(1, &[]), row(2, bytes(1, bytes(2, "x")))],
        ),
        (
            "field 9 of the stream options has wire type 2",
            vec![options(1, &[bytes(9, "x")])],
        ),
        (
            "wire type 7 does not exist",
            vec![options(1, &[]), row(2, [0xff, 0x01])],
        ),
        (
            "field number 0 is not allowed",
            vec![options(1, &[]), row(2, [0x02, 0x00])],
        ),
        (
            "a varint is longer than 10 bytes",
            vec![options(1, &[]), row(2, [0xff; 12])],
        ),
        (
            "a varint runs past the end",
            vec![options(1, &[]), row(2, [0xff; 2])],
        ),
        (
            "a field of 5 bytes runs past the end",
            vec![options(1, &[]), row(2, [0x0a, 5, 0])],
        ),
        (
            "a group ends without a start",
            vec![options(1, &[]), row(2, varint(20 << 3 | 4))],
        ),
    ];
    for (expected, rows) in cases {
        let log = frame(rows);
        let (messages, error) = decode(&log);
        let error = error.unwrap_or_else(|| panic!("accepted: {expected}"));
        assert!(error.contains(expected), "{error}, expected {expected}");
        assert!(messages.is_empty());
        let row = rows.len() - 1;
        assert!(
            error.contains(&format!("(frame 0, row {row}, byte ")),
            "{error}"
        );
    }
}

#[test]
fn errors_contain_positions_and_follow_complete_messages() {
    let first = frame(&[options(1, &[]), blank_nodes("a", "b", "c")]);
    let second = frame(&[]);
    let third = frame(&[blank_nodes("d", "e", "f"), bytes(1, "")]);
    let (messages, error) = decode(&[first.clone(), second.clone(), third].concat());
    assert_eq!(counts(&messages), [1, 0]);
    let index = first.len() + second.len() + 1 + blank_nodes("d", "e", "f").len();
    assert_eq!(
        error.unwrap(),
        format!(
            "jelly: the row is empty; exactly one of its fields must be set (frame 2, row 1, byte {index}, message 2)"
        )
    );
    assert_eq!(messages[1].position, first.len() as u64);
}

#[test]
fn columns_are_an_error_in_the_row_layout() {
    let columns = || bytes(2, number(1, 1));
    let stream = || options(1, &[]);
    let triple = || blank_nodes("a", "b", "c");
    for version in [1, 2] {
        let stream = || options(1, &[number(15, version)]);
        let error = format!(
            "the frame has columns, which need version 3, but the stream options have version {version}"
        );
        let first = frame(&[stream(), triple()]);
        for (fields, index) in [
            (vec![columns()], 0),
            (vec![bytes(2, "")], 0),
            (vec![triple(), columns()], triple().len()),
            (vec![columns(), stream()], 0),
        ] {
            let log = [first.clone(), frame(&fields), frame(&[])].concat();
            let (messages, actual) = decode(&log);
            let index = first.len() + 1 + index;
            assert_eq!(counts(&messages), [1]);
            let row = u64::from(fields.len() == 2 && fields[0] == triple());
            let place = format!("(frame 1, row {row}, byte {index}, message 1)");
            assert_eq!(actual.unwrap(), format!("jelly: {error} {place}"));
        }
        // In the first frame, with and without a length.
        for fields in [[stream(), columns()], [columns(), stream()]] {
            for log in [frame(&fields), fields.concat()] {
                let (messages, actual) = decode(&log);
                assert_eq!(messages, []);
                let actual = actual.unwrap();
                assert!(
                    actual.starts_with(&format!("jelly: {error} (frame 0")),
                    "{actual}"
                );
            }
        }
    }
    for (fields, error) in [
        (
            vec![columns()],
            "the log begins with columns, expected the stream options",
        ),
        (
            vec![columns(), options(1, &[number(15, 4)])],
            "version 4 is newer than 3",
        ),
        (
            vec![stream(), options(1, &[number(5, 1)])],
            "the stream options set stream_type to 1, which needs version 3, but have version 1",
        ),
        (
            vec![options(1, &[number(15, 2), number(6, 2)])],
            "the stream options set rdf_version to 2, which needs version 3, but have version 2",
        ),
    ] {
        let (messages, actual) = decode(&frame(&fields));
        let actual = actual.unwrap();
        assert_eq!(messages, []);
        assert!(actual.contains(error), "{actual}");
        assert!(actual.contains("(frame 0, row "), "{actual}");
    }
    // A number that is its default counts as not set.
    let unset = options(1, &[number(5, 0), number(6, 0)]);
    assert_eq!(counts(&ok(&frame(&[unset, triple()]))), [1]);
}

#[test]
fn frames_without_quads_are_empty_messages() {
    assert_eq!(ok(&[]), []);
    assert_eq!(counts(&ok(&[0])), [0]);
    let log = [
        frame(&[]),
        frame(&[bytes(15, [bytes(1, "k"), bytes(2, [0xff, 0])].concat())]),
        frame(&[options(1, &[])]),
        frame(&[blank_nodes("a", "b", "c")]),
        frame(&[name(0, "x")]),
        frame(&[]),
    ]
    .concat();
    let messages = ok(&log);
    assert_eq!(counts(&messages), [0, 0, 0, 1, 0, 0]);
    assert_eq!(messages[1].metadata, [("k".to_owned(), vec![0xff, 0])]);
}

#[test]
fn flat_frames_are_one_message() {
    let log = [
        frame(&[]),
        frame(&[options(1, &[]), blank_nodes("a", "b", "c")]),
        frame(&[blank_nodes("d", "e", "f"), row(2, "")]),
    ]
    .concat();
    let flat = Options::with("frames", "flat");
    assert_eq!(counts(&decode_with(&flat, &log).0), [3]);
    assert_eq!(decode_with(&flat, &[]), (vec![], None));
    assert_eq!(counts(&decode_with(&flat, &[0]).0), [0]);
    let parts = flat.parts(true).and("batch_quads", 1);
    assert_eq!(counts(&decode_with(&parts, &log).0), [3]);
    let cut = [log, vec![5, 1]].concat();
    assert!(decode_with(&parts, &cut).1.is_some());
}

pub fn metadata(key: &str, value: &str) -> Vec<u8> {
    bytes(15, [bytes(1, key), bytes(2, value)].concat())
}

/// Returns the options, changed to read in parts with one quad per batch.
fn parts_of(options: &Options) -> Options {
    options.clone().parts(true).and("batch_quads", 1)
}

/// Returns the header and the observations at the end of a log.
pub fn end(options: &Options, log: &[u8]) -> (Arc<LogHeader>, Observations) {
    let mut decoder = decoder("jelly", options).unwrap();
    outcome(&mut *decoder, log, log.len());
    (decoder.header(), decoder.observations())
}

#[test]
fn the_logical_type_determines_the_meaning_of_frames() {
    let logs = [
        (1, [0, 3, 13, 93]),
        (2, [0, 4, 14, 114]),
        (3, [0, 4, 14, 114]),
    ]
    .map(|(physical, grouped)| {
        let flat = if physical == 1 {
            [1, 11, 111, 4_294_967_291]
        } else {
            [2, 12, 112, 4_294_967_292]
        };
        (physical, grouped, flat)
    });
    for (physical, grouped, flat) in logs {
        let statement = || match physical {
            1 => blank_nodes("b", "p", "o"),
            2 => row(
                3,
                [bytes(2, "b"), bytes(6, "p"), bytes(10, "o"), bytes(15, "")].concat(),
            ),
            _ => [row(4, bytes(3, "")), blank_nodes("b", "p", "o"), row(5, "")].concat(),
        };
        for (types, messages) in [(grouped, vec![1, 2]), (flat, vec![3])] {
            for logical in types {
                let log = [
                    frame(&[options(physical, &[number(14, logical)]), statement()]),
                    frame(&[statement(), statement()]),
                ]
                .concat();
                let auto = Options::default();
                assert_eq!(counts(&ok(&log)), messages, "{physical} {logical}");
                assert_eq!(counts(&decode_with(&parts_of(&auto), &log).0), messages);
                let (_, actual) = end(&auto, &log);
                assert_eq!(actual.notes.len(), 2 - messages.len());
                for (meaning, expected) in [("message", vec![1, 2]), ("flat", vec![3])] {
                    let options = Options::with("frames", meaning);
                    assert_eq!(counts(&decode_with(&options, &log).0), expected);
                    let (header, noticed) = end(&options, &log);
                    assert_eq!(noticed.notes, []);
                    assert_eq!(header.flat, Some(meaning == "flat"));
                }
            }
        }
    }
}

#[test]
fn options_also_apply_to_earlier_frames() {
    let log = |logical: u64| {
        [
            frame(&[metadata("k", "first")]),
            frame(&[]),
            frame(&[metadata("k", "held"), metadata("l", "held")]),
            frame(&[
                options(1, &[number(14, logical)]),
                blank_nodes("a", "b", "c"),
                metadata("k", "options"),
            ]),
            frame(&[blank_nodes("d", "e", "f")]),
        ]
        .concat()
    };
    let entry = |key: &str, value: &str| (key.to_owned(), value.as_bytes().to_vec());
    let auto = Options::default();
    for options in [auto.clone(), parts_of(&auto)] {
        let (messages, error) = decode_with(&options, &log(1));
        assert_eq!((counts(&messages), error), (vec![2], None));
        assert_eq!(messages[0].metadata, [entry("k", "first")]);
        assert_eq!(end(&options, &log(1)).1.dropped_metadata, 3);
        let (messages, error) = decode_with(&options, &log(3));
        assert_eq!((counts(&messages), error), (vec![0, 0, 0, 1, 1], None));
        assert_eq!(
            messages[2].metadata,
            [entry("k", "held"), entry("l", "held")]
        );
        let positions: Vec<u64> = messages.iter().map(|m| m.position).collect();
        assert_eq!(positions[..2], [0, 13]);
        assert_eq!(end(&options, &log(3)).1.dropped_metadata, 0);
    }
    // Without options, the frames are separate messages.
    let without_options = [frame(&[metadata("k", "v")]), frame(&[])].concat();
    assert_eq!(counts(&ok(&without_options)), [0, 0]);
    assert_eq!(end(&auto, &without_options).0.flat, None);
    // The number of waiting frames is limited.
    let small = auto.and("max_message_bytes", 1000);
    let error = decode_with(&small, &[0; 100]).1.unwrap();
    assert!(
        error.contains(
            "frames 0 to 15 have no rows; the meaning of frames is unknown before the first row"
        ),
        "{error}"
    );
}

#[test]
fn frames_read_as_one_message_keep_the_metadata_of_the_first_frame() {
    let log = [
        frame(&[
            options(1, &[number(14, 1)]),
            blank_nodes("a", "b", "c"),
            blank_nodes("a", "b", "d"),
            metadata("k", "one"),
            metadata("k", "again"),
        ]),
        frame(&[
            blank_nodes("a", "b", "e"),
            metadata("k", "two"),
            metadata("l", ""),
        ]),
    ]
    .concat();
    let auto = Options::default();
    let flat = Options::with("frames", "flat");
    for options in [&auto, &parts_of(&auto), &flat, &parts_of(&flat)] {
        let (messages, error) = decode_with(options, &log);
        assert_eq!((counts(&messages), error), (vec![3], None));
        assert_eq!(messages[0].metadata, [("k".to_owned(), b"again".to_vec())]);
        assert_eq!(end(options, &log).1.dropped_metadata, 2);
    }
    // The metadata is available from the first part on.
    let mut decoder = decoder("jelly", &parts_of(&auto)).unwrap();
    decoder.feed(&log);
    assert_eq!(
        decoder
            .next_batch_of::<Quad>()
            .unwrap()
            .unwrap()
            .metadata(0)
            .len(),
        1
    );
    // Omitted metadata is still checked.
    let invalid = [log, frame(&[bytes(15, bytes(1, [0xff]))])].concat();
    assert!(decode(&invalid).1.unwrap().contains("a metadata key"));
}

#[test]
fn after_a_reset_the_type_of_the_next_log_applies() {
    let log = |logical: u64| {
        let first = frame(&[
            options(1, &[number(14, logical)]),
            blank_nodes("a", "b", "c"),
        ]);
        [
            first,
            frame(&[blank_nodes("d", "e", "f"), metadata("k", "v")]),
        ]
        .concat()
    };
    let options = parts_of(&Options::default()).frames_in_parts();
    let mut decoder = decoder("jelly", &options).unwrap();
    for (logical, messages, dropped) in [(1, vec![2], 1), (3, vec![1, 1], 0), (1, vec![2], 1)] {
        let data = log(logical);
        let (actual, error) = outcome(&mut *decoder, &data, data.len());
        assert_eq!((counts(&actual), error), (messages, None));
        assert_eq!(decoder.observations().dropped_metadata, dropped);
        decoder.reset();
        // A message is read in parts only if it consists of all frames.
        decoder.feed(&log(logical));
        let batch = decoder.next_batch_of::<Quad>().unwrap().unwrap();
        assert_eq!(batch.continues(), logical == 1);
        decoder.reset();
    }
}

#[test]
fn the_error_for_an_oversized_flat_log_has_a_hint() {
    let rows: Vec<Vec<u8>> = (0..100).map(|_| blank_nodes("a", "b", "c")).collect();
    let log = |logical| {
        let head = frame(&[options(1, &[number(14, logical)])]);
        [head, frame(&rows), frame(&rows)].concat()
    };
    let small = |frames: &str| Options::with("frames", frames).and("max_message_bytes", 3000);
    let hint = "its type flat_triples makes all frames one message";
    let has_hint = |options: &Options, logical| {
        decode_with(options, &log(logical))
            .1
            .unwrap()
            .contains(hint)
    };
    assert!(has_hint(&small("auto"), 1));
    assert!(!has_hint(&small("auto"), 3));
    assert!(!has_hint(&small("message"), 1));
    let flat = small("auto").frames_in_parts().and("batch_quads", 10);
    assert_eq!(counts(&decode_with(&flat, &log(1)).0), [200]);
    assert!(decode_with(&flat, &log(3)).1.is_some());
}

#[test]
fn a_frame_is_read_in_parts_on_request() {
    let rows: Vec<Vec<u8>> = std::iter::once(options(1, &[]))
        .chain((0..100).map(|n| blank_nodes(&format!("s{n}"), "p", "o")))
        .chain([bytes(15, [bytes(1, "k"), bytes(2, "v")].concat())])
        .collect();
    let log = [frame(&rows), frame(&[row(2, "")])].concat();
    let options = Options::default()
        .parts(true)
        .and("batch_quads", 7)
        .and("max_message_bytes", 2000);
    let (messages, error) = decode_with(&options, &log);
    assert_eq!(error, None);
    assert_eq!(counts(&messages), [100, 1]);
    assert_eq!(messages[0].metadata.len(), 1);
    assert_eq!(messages[1].statements[0][0], bnode("s99"));
    let whole = options.parts(false);
    assert_eq!(class(&whole, &log), ErrorClass::Limit);
}

#[test]
fn a_statement_counts_once_towards_the_limit_regardless_of_its_graph() {
    let object = bytes(11, bytes(1, "x".repeat(1000)));
    let log = |graph: &[u8]| {
        let quad = [&bytes(2, "s"), &bytes(6, "p"), &*object, graph].concat();
        let rows = vec![row(3, quad); 10];
        frame(&[options(2, &[number(3, 1)]), rows.concat()])
    };
    let options = Options::with("max_message_bytes", 13_000);
    for graph in [bytes(14, "g"), bytes(15, ""), bytes(16, bytes(1, "g"))] {
        let (messages, error) = decode_with(&options, &log(&graph));
        assert_eq!(error, None, "{graph:?}");
        assert_eq!(counts(&messages), [10]);
    }
}

#[test]
fn length_prefixes_are_detected_unless_an_option_is_given() {
    let payload = [options(1, &[]), blank_nodes("a", "b", "c")].concat();
    let metadata = bytes(15, [bytes(1, "k"), bytes(2, "v")].concat());
    for bare in [payload.clone(), [metadata, payload.clone()].concat()] {
        let delimited = [varint(bare.len() as u64), bare.clone()].concat();
        assert_eq!(counts(&ok(&bare)), [1]);
        assert_eq!(counts(&ok(&delimited)), [1]);
        for (log, is_delimited) in [(&bare, false), (&delimited, true)] {
            let options = |forced| Options::with("delimited", forced);
            assert_eq!(counts(&decode_with(&options(is_delimited), log).0), [1]);
            assert!(decode_with(&options(!is_delimited), log).1.is_some());
        }
    }
    // Frames of 10 and 122 bytes, whose length looks like a tag.
    for size in [10, 122] {
        let start = bytes(15, bytes(2, vec![0; size - 4]));
        assert_eq!(start.len(), size);
        let log = [frame(&[start]), frame(std::slice::from_ref(&payload))].concat();
        assert_eq!(counts(&ok(&log)), [0, 1]);
    }
}

#[test]
fn truncated_and_damaged_logs_cause_different_errors() {
    let payload = [options(1, &[]), blank_nodes("a", "b", "c")].concat();
    let log = frame(std::slice::from_ref(&payload));
    let defaults = Options::default();
    assert_eq!(
        class(&defaults, &log[..log.len() - 1]),
        ErrorClass::Truncated
    );
    assert_eq!(
        class(&defaults, &payload[..payload.len() - 1]),
        ErrorClass::Truncated
    );
    assert_eq!(class(&defaults, &[0x80]), ErrorClass::Truncated);
    let damaged = [log, vec![0x80; 11]].concat();
    let (messages, error) = decode(&damaged);
    assert_eq!(counts(&messages), [1]);
    assert!(
        error
            .unwrap()
            .contains("the length prefix of frame 1 is longer than 10 bytes")
    );
}

#[test]
fn limits_apply_before_memory_is_allocated() {
    let huge = varint(u64::from(u32::MAX));
    assert_eq!(class(&Options::default(), &huge), ErrorClass::Limit);
    let (_, error) = decode(&huge);
    assert!(error.unwrap().contains("is larger than 67108864 bytes"));
    let small = Options::with("max_message_bytes", 20);
    let bare = [options(1, &[]), blank_nodes("a", "b", "c")].concat();
    assert_eq!(class(&small, &bare), ErrorClass::Limit);
    let piecewise = decode_with(&small, &bare).1.unwrap();
    assert!(piecewise.contains("the log is one frame"), "{piecewise}");
    for log in [huge, bare] {
        let mut decoder = decoder("jelly", &small).unwrap();
        decoder.feed(&log);
        decoder.finish();
        let reason = decoder.next_batch().unwrap_err().reason;
        assert_eq!(reason.remedies()[0].option, "max_message_bytes");
    }
}

#[test]
fn two_long_prefixes_do_not_exhaust_memory() {
    // Rows of a few bytes that alternate between two prefixes of 100 kB each.
    let letters = "x".repeat(100_000);
    let mut rows = vec![
        options(1, &[]),
        prefix(1, &format!("http://a/{letters}")),
        prefix(2, &format!("http://b/{letters}")),
        name(1, "n"),
    ];
    for _ in 0..5000 {
        let terms = [
            bytes(1, iri(1, 1)),
            bytes(5, iri(2, 1)),
            bytes(9, iri(1, 1)),
        ];
        rows.push(row(2, terms.concat()));
    }
    let log = frame(&rows);
    let mut decoder = decoder("jelly", &Options::default()).unwrap();
    let (messages, error) = outcome(&mut *decoder, &log, log.len());
    assert!(messages.is_empty());
    assert!(error.unwrap().contains("decoded bytes"));
    // Only lookup entries, which are never used.
    let mut rows = vec![options(1, &[number(9, 4000)])];
    for id in 1..1000 {
        rows.push(name(id, &letters));
    }
    let log: Vec<u8> = rows
        .iter()
        .flat_map(|row| frame(std::slice::from_ref(row)))
        .collect();
    decoder.reset();
    let (_, error) = outcome(&mut *decoder, &log, log.len());
    assert!(error.unwrap().contains("the lookup tables take more than"));
}

#[test]
fn nesting_of_triple_terms_is_limited() {
    let nested = |depth: usize| {
        let mut term = [bytes(2, "s"), bytes(5, iri(0, 1)), bytes(10, "o")].concat();
        for _ in 1..depth {
            term = [bytes(4, term), bytes(5, iri(0, 1)), bytes(10, "o")].concat();
        }
        let triple = [bytes(4, term), bytes(5, iri(0, 1)), bytes(10, "o")].concat();
        frame(&[options(1, &[number(4, 1)]), name(0, "p"), row(2, triple)])
    };
    assert_eq!(counts(&ok(&nested(64))), [1]);
    let (_, error) = decode(&nested(65));
    assert!(error.unwrap().contains("deeper than 64 levels"));
    let deep = Options::with("max_depth", 100);
    assert_eq!(class(&deep, &nested(1500)), ErrorClass::Limit);
}

#[test]
fn fields_may_be_in_any_order_and_the_last_duplicate_applies() {
    let p = prefix(0, "http://ex/");
    let names = [name(0, "a"), name(0, "b"), name(0, "c")].concat();
    let in_order = [bytes(1, iri(1, 0)), bytes(5, ""), bytes(9, "")];
    let start = [options(1, &[]), p, names].concat();
    let expected = ok(&frame(&[start.clone(), row(2, in_order.concat())]));
    assert_eq!(
        expected[0].statements[0],
        [
            named("http://ex/a"),
            named("http://ex/b"),
            named("http://ex/c"),
            Term::Default
        ]
    );
    let [s, p, o] = in_order;
    for odd in [
        [o.clone(), p.clone(), s.clone()].concat(),
        [p.clone(), s.clone(), o.clone()].concat(),
        // A blank node replaced by an IRI; two halves of one IRI.
        [bytes(2, "gone"), o.clone(), s.clone(), p.clone()].concat(),
        [
            bytes(1, number(1, 1)),
            bytes(1, number(2, 1)),
            p.clone(),
            o.clone(),
        ]
        .concat(),
        // Unknown fields of all wire types.
        [
            number(30, 1),
            s.clone(),
            bytes(31, "x"),
            p.clone(),
            vec![0xf9, 0x01, 0, 0, 0, 0, 0, 0, 0, 0],
            o.clone(),
            vec![0xfd, 0x01, 0, 0, 0, 0],
        ]
        .concat(),
        // A term with an undefined reference, which the correct term replaces.
        [
            bytes(1, iri(4, 9)),
            bytes(2, "x"),
            bytes(1, iri(1, 1)),
            p.clone(),
            o.clone(),
        ]
        .concat(),
    ] {
        assert_eq!(ok(&frame(&[start.clone(), row(2, odd)])), expected);
    }
    // In a row with two fields, the last one applies. A field given in two parts is merged.
    let two_fields = bytes(
        1,
        [bytes(2, bytes(2, "gone")), bytes(9, bytes(2, "d"))].concat(),
    );
    let halves = bytes(1, [bytes(2, s), bytes(2, [p, o].concat())].concat());
    assert_eq!(ok(&frame(&[start, two_fields, halves])), expected);
}

#[test]
fn terms_can_be_repeated_across_frames_and_batches() {
    let log = [
        frame(&[
            options(3, &[number(4, 1)]),
            name(0, "http://ex/g"),
            datatype(0, "http://ex/d"),
            row(4, bytes(1, "")),
            row(
                2,
                [
                    bytes(
                        4,
                        [
                            bytes(2, "a"),
                            bytes(5, iri(0, 1)),
                            bytes(11, [bytes(1, "x"), bytes(2, "en--rtl")].concat()),
                        ]
                        .concat(),
                    ),
                    bytes(6, "p"),
                    bytes(11, [bytes(1, "y"), number(3, 1)].concat()),
                ]
                .concat(),
            ),
        ]),
        // The entries change; the terms do not.
        frame(&[name(1, "http://ex/other"), datatype(1, "http://ex/other")]),
        frame(&[row(2, ""), row(5, "")]),
        frame(&[row(4, bytes(3, "")), row(2, bytes(2, "s"))]),
    ]
    .concat();
    let whole = ok(&log);
    assert_eq!(counts(&whole), [1, 0, 1, 1]);
    assert_eq!(whole[2].statements, whole[0].statements);
    assert_eq!(whole[0].statements[0][3], named("http://ex/g"));
    assert_eq!(whole[3].statements[0][3], Term::Default);
    for batch_messages in [1, 2] {
        let options = Options::with("batch_messages", batch_messages);
        assert_eq!(decode_with(&options, &log), (whole.clone(), None));
    }
}

#[test]
fn namespaces_are_kept_and_count_as_iris() {
    let log = [
        frame(&[
            options(1, &[number(15, 2)]),
            prefix(0, "http://ex/"),
            name(0, ""),
            name(0, "b"),
            row(6, [bytes(1, "ex"), bytes(2, iri(1, 0))].concat()),
            row(2, [bytes(1, ""), bytes(6, "p"), bytes(10, "o")].concat()),
        ]),
        frame(&[row(6, bytes(2, iri(0, 2)))]),
    ]
    .concat();
    let messages = ok(&log);
    assert_eq!(messages[0].statements[0][0], named("http://ex/b"));
    let ex = ("ex".to_owned(), "http://ex/".to_owned());
    assert_eq!(messages[0].namespaces.as_slice(), std::slice::from_ref(&ex));
    assert_eq!(
        messages[1].namespaces,
        [ex, (String::new(), "http://ex/b".to_owned())]
    );
}

#[test]
fn literals_of_all_kinds_are_read() {
    let literal = |payload: Vec<u8>| row(2, bytes(11, payload));
    let log = frame(&[
        options(1, &[]),
        datatype(0, "http://www.w3.org/2001/XMLSchema#string"),
        datatype(0, "http://ex/d"),
        blank_nodes("s", "p", "o"),
        literal(vec![]),
        literal([bytes(1, "x"), number(3, 1)].concat()),
        literal([bytes(1, "x"), number(3, 2)].concat()),
        literal([bytes(1, "x"), bytes(2, "en-GB")].concat()),
        literal([bytes(1, "x"), bytes(2, "ar--rtl")].concat()),
        literal([bytes(1, "x"), bytes(2, "ar--ltr")].concat()),
        literal([number(3, 2), bytes(1, "y"), bytes(2, "en"), bytes(1, "x")].concat()),
        literal([bytes(2, "en"), number(3, 2)].concat()),
    ]);
    let actual: Vec<Term> = ok(&log)[0].statements[1..]
        .iter()
        .map(|s| s[2].clone())
        .collect();
    let expected = |text: &str, language: Option<&str>, datatype: Option<&str>| {
        Term::Literal(
            text.to_owned(),
            language.map(str::to_owned),
            datatype.map(str::to_owned),
        )
    };
    assert_eq!(
        actual,
        [
            expected("", None, None),
            expected("x", None, None),
            expected("x", None, Some("http://ex/d")),
            expected("x", Some("en-GB"), None),
            expected("x", Some("ar--rtl"), None),
            expected("x", Some("ar--ltr"), None),
            expected("x", Some("en"), None),
            expected("", None, Some("http://ex/d")),
        ]
    );
}

#[test]
fn the_last_value_of_a_metadata_key_applies_in_any_position() {
    let entry = |key: &str, value: &str| bytes(15, [bytes(1, key), bytes(2, value)].concat());
    let log = frame(&[
        entry("a", "1"),
        options(1, &[]),
        entry("b", "2"),
        blank_nodes("a", "b", "c"),
        entry("a", "3"),
        bytes(15, ""),
    ]);
    let pair = |key: &str, value: &str| (key.to_owned(), value.as_bytes().to_vec());
    assert_eq!(
        ok(&log)[0].metadata,
        [pair("a", "3"), pair("b", "2"), pair("", "")]
    );
}

#[test]
fn the_header_contains_the_options_of_the_log() {
    let log = frame(&[options(
        2,
        &[bytes(1, "name"), number(3, 1), number(14, 4), number(15, 2)],
    )]);
    let mut decoder = decoder("jelly", &Options::default()).unwrap();
    outcome(&mut *decoder, &log, log.len());
    let word = |word: &str| Value::Text(word.to_owned());
    assert_eq!(
        decoder.header().options,
        [
            ("stream_name", word("name")),
            ("physical_type", word("quads")),
            ("logical_type", word("datasets")),
            ("generalized", Value::Switch(true)),
            ("rdf_star", Value::Switch(false)),
            ("name_table", Value::Number(16)),
            ("prefix_table", Value::Number(4)),
            ("datatype_table", Value::Number(4)),
            ("jelly_version", Value::Number(2)),
        ]
    );
    // The header does not change until the options change.
    assert!(Arc::ptr_eq(&decoder.header(), &decoder.header()));
}

#[test]
fn skipping_is_not_supported() {
    let mut decoder: Box<dyn Decoder> = decoder("jelly", &Options::default()).unwrap();
    decoder.feed(&[1, 0]);
    decoder.finish();
    let error = decoder.next_batch_of::<Quad>().unwrap_err();
    assert_eq!(decoder.skip_message().unwrap_err(), error);
}

#[test]
fn merged_fields_at_every_level_do_not_exhaust_memory() {
    let literal = bytes(1, "x".repeat(2 << 20));
    let mut term = [bytes(2, "s"), bytes(5, iri(0, 1)), bytes(11, literal)].concat();
    for _ in 0..60 {
        // The same field twice: protobuf merges the halves.
        term = [
            bytes(4, ""),
            bytes(4, term),
            bytes(5, iri(0, 1)),
            bytes(10, "o"),
        ]
        .concat();
    }
    let log = frame(&[options(1, &[number(4, 1)]), name(0, "p"), row(2, term)]);
    assert_eq!(class(&Options::default(), &log), ErrorClass::Limit);
}

/// A frame with a complete stream: options, entries without ids, and a triple of the first three
/// names.
pub fn stream_of_names(names: &[&str]) -> Vec<u8> {
    let entry = |text: &str| name(0, text);
    let triple = row(
        2,
        [
            bytes(1, iri(0, 1)),
            bytes(5, iri(0, 2)),
            bytes(9, iri(0, 3)),
        ]
        .concat(),
    );
    let entries = names.iter().map(|text| entry(text));
    let mut rows = vec![options(1, &[]), prefix(1, "http://e/")];
    rows.extend(entries);
    rows.push(triple);
    frame(&rows)
}

#[test]
fn concatenated_streams_with_mixed_lookup_tables_are_an_error() {
    let first = stream_of_names(&["a", "p", "o"]);
    let joined = [first.clone(), stream_of_names(&["b", "q", "x"])].concat();
    let (messages, error) = decode(&joined);
    assert_eq!(messages, ok(&first));
    let row = first.len() + 1 + options(1, &[]).len() + prefix(1, "http://e/").len();
    assert_eq!(
        error.unwrap(),
        format!(
            "jelly: a name entry without an id would continue the name table from before the frame at byte {}, which \
             repeats the stream options; were two Jelly files joined there? (frame 1, row 2, byte {row}, message 1)",
            first.len()
        )
    );
    assert_eq!(class(&Options::default(), &joined), ErrorClass::Malformed);
    let flat = Options::with("frames", "flat");
    assert!(
        decode_with(&flat, &joined)
            .1
            .unwrap()
            .contains("joined there?")
    );
}

#[test]
fn mixed_lookup_tables_are_allowed_on_request() {
    let first = stream_of_names(&["a", "p", "o"]);
    let joined = [first.clone(), stream_of_names(&["b", "q", "x"])].concat();
    let warn = Options::with("joins", "warn");
    let (messages, error) = decode_with(&warn, &joined);
    assert_eq!(error, None);
    assert_eq!(messages[0].statements, messages[1].statements);
    let note = &end(&warn, &joined).1.notes[0];
    assert_eq!(
        note.text(),
        format!(
            "a frame repeats the stream options at byte {}, and later entries without an id continue the lookup \
             tables; if Jelly files were joined there, terms are wrong",
            first.len()
        )
    );
    let remedy = &note.remedies()[0];
    assert_eq!(
        (remedy.option, remedy.value.as_deref()),
        ("joins", Some("new"))
    );
    assert!(end(&warn, &first).1.notes.is_empty());
}

#[test]
fn repeated_options_are_accepted_if_no_table_is_mixed() {
    let options = || options(1, &[]);
    let statement = |names: [u64; 3]| {
        let [s, p, o] = names.map(|id| iri(1, id));
        row(2, [bytes(1, s), bytes(5, p), bytes(9, o)].concat())
    };
    let start = [
        options(),
        prefix(0, "http://e/"),
        name(0, "a"),
        name(0, "p"),
    ]
    .concat();
    let cases: [(&str, Vec<Vec<u8>>); 6] = [
        (
            "inside a frame",
            vec![
                [
                    start.clone(),
                    statement([1, 2, 1]),
                    options(),
                    name(0, "b"),
                    statement([3, 2, 1]),
                ]
                .concat(),
            ],
        ),
        (
            "after another row of a later frame",
            vec![
                start.clone(),
                [
                    statement([1, 2, 1]),
                    options(),
                    name(0, "b"),
                    statement([3, 2, 1]),
                ]
                .concat(),
            ],
        ),
        (
            "before an explicit id",
            vec![
                start.clone(),
                [options(), name(1, "b"), name(0, "q"), statement([1, 2, 1])].concat(),
            ],
        ),
        (
            "before the first entry of a table",
            vec![
                start.clone(),
                [
                    options(),
                    datatype(0, "http://e/d"),
                    datatype(0, "http://e/d2"),
                    statement([1, 2, 1]),
                ]
                .concat(),
            ],
        ),
        (
            "with no entries",
            vec![
                start.clone(),
                [options(), statement([1, 2, 1])].concat(),
                [statement([1, 2, 1])].concat(),
            ],
        ),
        (
            "before all entries",
            vec![options(), [start.clone(), statement([1, 2, 1])].concat()],
        ),
    ];
    for (case, frames) in cases {
        let log: Vec<u8> = frames
            .iter()
            .flat_map(|rows| frame(std::slice::from_ref(rows)))
            .collect();
        let (messages, error) = decode(&log);
        assert_eq!(error, None, "{case}");
        assert_eq!(messages.len(), frames.len(), "{case}");
    }
    // Frame metadata is not a row. Tables are checked separately.
    for entry in [prefix(0, "http://f/"), name(0, "b")] {
        let second = [
            metadata("k", "v"),
            options(),
            datatype(3, "http://e/d"),
            entry,
        ];
        let log = [frame(std::slice::from_ref(&start)), frame(&second)].concat();
        let error = decode(&log).1.expect("the table continues");
        assert!(error.contains("joined there?"), "{error}");
    }
}

#[test]
fn after_a_reset_a_stream_is_not_a_continuation() {
    let log = stream_of_names(&["a", "p", "o"]);
    let mut decoder = decoder("jelly", &Options::default()).unwrap();
    for _ in 0..2 {
        let (messages, error) = outcome(&mut *decoder, &log, log.len());
        assert_eq!((messages.len(), error), (1, None));
        decoder.reset();
    }
}

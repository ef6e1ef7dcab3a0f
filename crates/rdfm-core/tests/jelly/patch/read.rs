//! Accepted input, errors and guarantees of the Jelly-Patch decoder.

use rdfm_core::codec::Decoder;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Value;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::record::Operation;
use rdfm_core::model::remedy::Reason;

use super::{
    ABORT, ADD, BEGIN, COMMIT, DELETE, FLAT, FRAME, PUNCTUATED, QUADS, TRIPLES, bare, batches,
    mark, options, quad, read, read_pieces, read_with, triple,
};
use crate::jelly::wire::{bytes, frame, iri, number, row};
use crate::support::{Options, decoder};

fn name(id: u64, text: &str) -> Vec<u8> {
    row(11, [number(1, id), bytes(2, text)].concat())
}

fn prefix(id: u64, text: &str) -> Vec<u8> {
    row(12, [number(1, id), bytes(2, text)].concat())
}

/// A log of one frame, whose first row contains the options.
fn one_frame(stream: u64, statements: u64, rows: &[Vec<u8>]) -> Vec<u8> {
    frame(&[options(stream, statements, &[]), rows.concat()])
}

/// A namespace row.
fn namespace(code: u64, name: &str, fields: &[Vec<u8>]) -> Vec<u8> {
    row(code, [bytes(1, name), fields.concat()].concat())
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn errors_describe_the_violated_rule() {
    let start = |more: &[Vec<u8>]| frame(&[options(FRAME, QUADS, more)]);
    let triples = |rows: &[Vec<u8>]| one_frame(FLAT, TRIPLES, rows);
    let quads = |rows: &[Vec<u8>]| one_frame(FLAT, QUADS, rows);
    let statement = quad(ADD, "s", "p", "o", "g");
    for (log, error) in [
        (
            start(&[number(15, 0)]),
            "the version is 0 or missing, expected 1",
        ),
        (
            start(&[number(1, 0)]),
            "statement type 0 is not allowed, expected 1 (TRIPLES) or 2 (QUADS)",
        ),
        (start(&[number(1, 3)]), "statement type 3 is not allowed"),
        (
            start(&[number(2, 0)]),
            "stream type 0 is not allowed, expected 1 (FRAME), 2 (FLAT) or 3 (PUNCTUATED)",
        ),
        (start(&[number(2, 4)]), "stream type 4 is not allowed"),
        (
            start(&[number(9, 7)]),
            "the name table size is 7, expected 8 or more",
        ),
        (
            frame(&[row(1, bytes(1, "x"))]),
            "field 1 of the patch stream options has wire type 2, expected 0",
        ),
        (
            frame(&[options(FLAT, QUADS, &[]), options(FLAT, TRIPLES, &[])]),
            "the patch stream options differ from those at the start of the log",
        ),
        (
            frame(&[
                options(FLAT, QUADS, &[]),
                options(FLAT, QUADS, &[number(4, 1)]),
            ]),
            "the patch stream options differ",
        ),
        (
            frame(std::slice::from_ref(&statement)),
            "the log begins with a statement_add row, expected the patch stream options",
        ),
        (
            frame(&[bytes(1, "")]),
            "the row is empty; exactly one of its fields must be set",
        ),
        (quads(&[bytes(1, "")]), "the row is empty"),
        (quads(&[row(9, "")]), "the row is empty"),
        (
            quads(&[mark()]),
            "a punctuation row in a log of stream type FLAT",
        ),
        (
            one_frame(FRAME, QUADS, &[mark()]),
            "a punctuation row in a log of stream type FRAME",
        ),
        (
            triples(std::slice::from_ref(&statement)),
            "a statement with a graph in a log of statement type TRIPLES",
        ),
        (
            triples(&[triple(ADD, "s", "p", "o"), row(ADD, bytes(15, ""))]),
            "a statement with a graph in a log of statement type TRIPLES",
        ),
        (
            triples(&[row(ADD, [bytes(16, ""), bytes(2, "s")].concat())]),
            "a statement with a graph in a log of statement type TRIPLES",
        ),
        (
            triples(&[namespace(5, "x", &[bytes(4, "g")])]),
            "a namespace with a graph in a log of statement type TRIPLES",
        ),
        (
            quads(&[triple(ADD, "s", "p", "o")]),
            "the first statement omits its graph; there is no earlier graph to repeat",
        ),
        (
            triples(&[row(DELETE, bytes(2, "s"))]),
            "the first statement omits its predicate",
        ),
        (
            quads(&[namespace(4, "x", &[bytes(4, "g")])]),
            "the namespace 'x' is added without an IRI",
        ),
        (
            quads(&[namespace(4, "x", &[bytes(2, iri(0, 1))])]),
            "name 1 is used, but no entry has defined it",
        ),
        (
            quads(&[namespace(5, "x", &[bytes(2, iri(9, 1))])]),
            "prefix reference 9 exceeds the declared table size 4",
        ),
        (
            quads(&[row(4, bytes(1, b"\xff"))]),
            "a namespace's name is not valid UTF-8",
        ),
        (
            quads(&[row(14, bytes(1, "id"))]),
            "the header 'id' has no value",
        ),
        (
            quads(&[row(14, [bytes(1, b"\xff"), bytes(3, "b")].concat())]),
            "a header's key is not valid UTF-8",
        ),
        (
            quads(&[row(14, bytes(2, iri(0, 17)))]),
            "name reference 17 exceeds the declared table size 16",
        ),
        (
            quads(&[row(14, bytes(5, bytes(2, "s")))]),
            "a triple term, but the stream options say rdf_star = false",
        ),
        (
            frame(&[
                options(FLAT, QUADS, &[number(4, 1)]),
                row(14, bytes(5, bytes(2, "s"))),
            ]),
            "a triple term omits its predicate; terms cannot be repeated in triple terms",
        ),
        (quads(&[bare(COMMIT)]), "a commit outside a transaction"),
        (quads(&[bare(ABORT)]), "an abort outside a transaction"),
        (
            quads(&[bare(BEGIN), bare(ABORT), bare(COMMIT)]),
            "a commit outside a transaction",
        ),
        (
            quads(&[bare(BEGIN), bare(BEGIN)]),
            "a transaction starts inside another transaction",
        ),
        (
            one_frame(FRAME, QUADS, &[bare(BEGIN)]),
            "the patch ends inside a transaction, expected a commit or an abort",
        ),
        (
            one_frame(PUNCTUATED, QUADS, &[bare(BEGIN), mark()]),
            "the patch ends inside a transaction",
        ),
        (
            quads(&[row(ADD, bytes(11, number(3, 0)))]),
            "datatype 0 is not allowed in a literal",
        ),
        (
            quads(&[name(17, "x")]),
            "name entry 17 exceeds the declared table size 16",
        ),
        (
            quads(&[row(12, [number(1, 5), bytes(2, "x")].concat())]),
            "prefix entry 5 exceeds the declared",
        ),
        (
            quads(&[row(13, [number(1, 5), bytes(2, "x")].concat())]),
            "datatype entry 5 exceeds the declared",
        ),
    ] {
        let outcome = read(&log);
        let text = outcome.reason();
        assert!(text.contains(error), "{text}\nexpected: {error}");
        assert!(text.starts_with("jelly-patch: "), "{text}");
        assert_eq!(outcome.class(), ErrorClass::Malformed, "{error}");
    }
}

#[test]
fn newer_versions_are_unsupported() {
    for version in [2, 10_000] {
        let outcome = read(&frame(&[options(FRAME, QUADS, &[number(15, version)])]));
        assert_eq!(outcome.class(), ErrorClass::Unsupported);
        assert!(outcome.reason().contains("is newer than 1"));
    }
}

#[test]
fn table_sizes_are_limited() {
    for (field, table, max) in [
        (9, "name", 65_536),
        (10, "prefix", 65_536),
        (11, "datatype", 4096),
    ] {
        let log = |size| frame(&[options(FRAME, QUADS, &[number(field, size)])]);
        assert_eq!(read(&log(max)).error, None);
        let outcome = read(&log(max + 1));
        assert_eq!(outcome.class(), ErrorClass::Limit);
        let expected = format!(
            "the {table} table of {} entries is larger than {max}",
            max + 1
        );
        assert!(outcome.reason().contains(&expected), "{outcome:?}");
        assert!(outcome.error.unwrap().reason.remedies().is_empty());
    }
}

#[test]
fn lenient_accepts_deviations() {
    let lenient = Options::with("lenient", true);
    let outcome = read_with(
        &lenient,
        &one_frame(
            FLAT,
            TRIPLES,
            &[
                quad(ADD, "s", "p", "o", "g"),
                row(DELETE, bytes(15, "")),
                namespace(5, "x", &[bytes(4, "g")]),
                bare(COMMIT),
                bare(BEGIN),
                bare(BEGIN),
            ],
        ),
    );
    assert_eq!(outcome.error, None);
    let lines = [
        "A _:s _:p _:o .",
        "D _:s _:p _:o .",
        "PD \"x\" .",
        "TC .",
        "TX .",
        "TX .",
    ];
    assert_eq!(outcome.patches, [lines]);
    for stream in [FRAME, PUNCTUATED] {
        let mut rows = vec![bare(BEGIN)];
        if stream == PUNCTUATED {
            rows.push(mark());
        }
        let log = [
            one_frame(stream, QUADS, &rows),
            frame(&[
                bare(BEGIN),
                bare(COMMIT),
                if stream == PUNCTUATED { mark() } else { vec![] },
            ]),
        ]
        .concat();
        let outcome = read_with(&lenient, &log);
        assert_eq!(outcome.patches, [vec!["TX ."], vec!["TX .", "TC ."]]);
        assert_eq!(outcome.error, None);
    }
}

#[test]
fn the_stream_type_determines_the_ends_of_patches() {
    let rows = |stream: u64| {
        let mark = if stream == PUNCTUATED { mark() } else { vec![] };
        [
            frame(&[
                options(stream, TRIPLES, &[]),
                triple(ADD, "a", "b", "c"),
                mark.clone(),
            ]),
            frame(&[]),
            frame(&[row(DELETE, ""), mark]),
        ]
        .concat()
    };
    let (add, delete) = ("A _:a _:b _:c .", "D _:a _:b _:c .");
    let frames = read(&rows(FRAME));
    assert_eq!(frames.patches, [vec![add], vec![], vec![delete]]);
    assert_eq!(frames.positions, [0, 30, 31]);
    let flat = read(&rows(FLAT));
    assert_eq!(
        (flat.patches, flat.positions),
        (vec![vec![add.to_owned(), delete.to_owned()]], vec![0])
    );
    let punctuated = read(&rows(PUNCTUATED));
    assert_eq!(punctuated.patches, [[add], [delete]]);
    // The position of a patch is that of its first row.
    assert_eq!(punctuated.positions, [17, 36]);

    let as_frames = Options::with("frames", "message");
    let as_one = Options::with("frames", "flat");
    assert_eq!(read_with(&as_frames, &rows(FLAT)).patches, frames.patches);
    assert_eq!(read_with(&as_one, &rows(FRAME)).patches, [[add, delete]]);
    for options in [as_frames, as_one] {
        assert_eq!(read_with(&options, &rows(PUNCTUATED)), punctuated);
    }
}

#[test]
fn punctuation_rows_may_occur_anywhere_in_a_frame() {
    let (add, delete) = (triple(ADD, "a", "b", "c"), triple(DELETE, "a", "b", "c"));
    let log = [
        one_frame(PUNCTUATED, TRIPLES, &[mark(), add.clone()]),
        frame(&[mark(), mark(), delete.clone(), mark(), add]),
        frame(&[delete, mark(), name(0, "unused")]),
    ]
    .concat();
    let (add, delete) = ("A _:a _:b _:c .", "D _:a _:b _:c .");
    let outcome = read(&log);
    assert_eq!(outcome.error, None);
    assert_eq!(
        outcome.patches,
        [vec![], vec![add], vec![], vec![delete], vec![add, delete]]
    );
}

#[test]
fn the_last_punctuation_row_may_be_missing() {
    let log = one_frame(PUNCTUATED, TRIPLES, &[mark(), triple(ADD, "a", "b", "c")]);
    let outcome = read(&log);
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.patches, [vec![], vec!["A _:a _:b _:c ."]]);
}

#[test]
fn complete_patches_do_not_wait_for_an_open_one() {
    let first = one_frame(
        PUNCTUATED,
        TRIPLES,
        &[
            triple(ADD, "a", "b", "c"),
            mark(),
            row(DELETE, bytes(10, "d")),
        ],
    );
    let mut decoder = decoder("jelly-patch", &Options::default()).unwrap();
    decoder.feed(&first);
    let batch = decoder.next_batch_of::<Operation>().unwrap().unwrap();
    assert_eq!((batch.len(), batch.continues()), (1, false));
    assert!(decoder.next_batch_of::<Operation>().unwrap().is_none());
    decoder.feed(&frame(&[row(ADD, bytes(2, "e")), mark()]));
    let batch = decoder.next_batch_of::<Operation>().unwrap().unwrap();
    let lines: Vec<String> = batch
        .message(0)
        .iter()
        .map(|each| super::line(&batch, each))
        .collect();
    assert_eq!(lines, ["D _:a _:b _:d .", "A _:e _:b _:d ."]);
    assert_eq!(batch.first_message_index(), 1);
}

#[test]
fn adds_deletes_and_namespaces_share_repeated_terms() {
    let outcome = read(
        &[
            one_frame(
                PUNCTUATED,
                QUADS,
                &[
                    prefix(0, "http://e/"),
                    name(0, ""),
                    quad(ADD, "s", "p", "o", "g"),
                    row(DELETE, ""),
                    namespace(4, "e", &[bytes(2, iri(1, 0))]),
                    namespace(5, "e", &[bytes(4, "h")]),
                    row(ADD, bytes(2, "t")),
                    // A header does not repeat earlier terms, and its terms are not repeated.
                    row(14, [bytes(1, "k"), bytes(3, "x")].concat()),
                    row(DELETE, ""),
                    mark(),
                ],
            ),
            frame(&[
                namespace(5, "f", &[]),
                row(ADD, bytes(15, "")),
                row(DELETE, ""),
            ]),
        ]
        .concat(),
    );
    assert_eq!(outcome.error, None);
    assert_eq!(
        outcome.patches,
        [
            vec![
                "A _:s _:p _:o _:g .",
                "D _:s _:p _:o _:g .",
                "PA \"e\" <http://e/> _:g .",
                "PD \"e\" _:h .",
                "A _:t _:p _:o _:h .",
                "H \"k\" _:x .",
                "D _:t _:p _:o _:h .",
            ],
            vec!["PD \"f\" _:h .", "A _:t _:p _:o .", "D _:t _:p _:o ."],
        ]
    );
}

#[test]
fn iris_are_counted_in_the_order_of_the_specification() {
    // In a namespace, the IRI is counted before the graph, regardless of the order of fields.
    let fields = [
        vec![bytes(2, iri(1, 0)), bytes(3, iri(0, 0))],
        vec![bytes(3, iri(0, 0)), bytes(2, iri(1, 0))],
    ];
    for fields in fields {
        let rows = [
            prefix(0, "http://e/"),
            name(0, "a"),
            name(0, "b"),
            name(0, "c"),
            namespace(4, "x", &fields),
            // The IRI of a deleted prefix is also counted.
            namespace(5, "x", &[bytes(2, "")]),
            row(14, bytes(2, iri(0, 1))),
        ];
        let outcome = read(&one_frame(FLAT, QUADS, &rows));
        assert_eq!(outcome.error, None);
        assert_eq!(
            outcome.patches,
            [[
                "PA \"x\" <http://e/a> <http://e/b> .",
                "PD \"x\" <http://e/b> .",
                "H \"\" <http://e/a> ."
            ]]
        );
    }
}

#[test]
fn the_iri_of_a_deleted_prefix_is_dropped_with_a_note() {
    let rows = [name(0, "a"), namespace(5, "x", &[bytes(2, iri(0, 1))])];
    let log = one_frame(FLAT, TRIPLES, &rows);
    let mut decoder = decoder("jelly-patch", &Options::default()).unwrap();
    decoder.feed(&log);
    decoder.finish();
    assert!(decoder.next_batch_of::<Operation>().unwrap().is_some());
    assert_eq!(
        decoder.observations().notes,
        [Reason::new("IRIs of deleted prefixes are omitted: 1")]
    );
    decoder.reset();
    assert!(decoder.observations().notes.is_empty());
}

#[test]
fn fields_may_be_in_any_order_and_the_last_duplicate_applies() {
    let star = options(FLAT, QUADS, &[number(4, 1)]);
    let log = frame(&[
        star,
        row(
            14,
            [
                bytes(3, "old"),
                bytes(1, "k"),
                bytes(3, "b"),
                bytes(1, "key"),
            ]
            .concat(),
        ),
        row(14, [bytes(4, bytes(1, "old")), bytes(3, "b")].concat()),
        // Parts of a Protobuf message are merged, and a literal's fields replace each other.
        row(
            14,
            [bytes(4, bytes(2, "en")), bytes(4, bytes(1, "x"))].concat(),
        ),
        row(
            14,
            [
                bytes(5, bytes(2, "s")),
                bytes(5, bytes(6, "p")),
                bytes(5, bytes(10, "o")),
            ]
            .concat(),
        ),
        row(
            ADD,
            [bytes(14, "g"), bytes(10, "o"), bytes(2, "s"), bytes(6, "p")].concat(),
        ),
        bytes(1, [bytes(3, ""), bytes(6, "")].concat()),
        bytes(1, [bytes(40, "unknown"), bytes(7, "")].concat()),
    ]);
    let outcome = read(&log);
    assert_eq!(outcome.error, None);
    assert_eq!(
        outcome.patches,
        [[
            "H \"key\" _:b .",
            "H \"\" _:b .",
            "H \"\" \"x\"@en .",
            "H \"\" <<( _:s _:p _:o )>> .",
            "A _:s _:p _:o _:g .",
            "TX .",
            "TC .",
        ]]
    );
}

#[test]
fn errors_contain_positions_and_follow_complete_patches() {
    let first = one_frame(PUNCTUATED, TRIPLES, &[triple(ADD, "a", "b", "c"), mark()]);
    let second = frame(&[row(DELETE, ""), bare(COMMIT)]);
    let outcome = read(&[first.clone(), second].concat());
    assert_eq!(outcome.patches.len(), 1);
    let position = &outcome.error.as_ref().unwrap().position;
    assert_eq!(position.byte_offset, Some(first.len() as u64 + 5));
    assert_eq!(position.frame_row, Some((1, 1)));
    assert_eq!(position.message_index, Some(1));
}

#[test]
fn truncated_and_damaged_logs_cause_different_errors() {
    let rows = [triple(ADD, "a", "b", "c"), bare(BEGIN), bare(COMMIT)];
    for stream in [FRAME, FLAT, PUNCTUATED] {
        let log = one_frame(stream, TRIPLES, &rows);
        for end in 1..log.len() {
            assert_eq!(
                read(&log[..end]).class(),
                ErrorClass::Truncated,
                "{stream} {end}"
            );
        }
        let damaged = [log, vec![0x80; 11]].concat();
        let outcome = read(&damaged);
        assert_eq!(outcome.class(), ErrorClass::Malformed);
        assert!(
            outcome
                .reason()
                .contains("the length prefix of frame 1 is longer than 10 bytes")
        );
    }
    for stream in [FLAT, PUNCTUATED] {
        let outcome = read(&one_frame(stream, TRIPLES, &[mark_of(stream), bare(BEGIN)]));
        assert_eq!(outcome.class(), ErrorClass::Truncated);
        assert!(
            outcome
                .reason()
                .contains("the log ends inside a transaction")
        );
        assert_eq!(outcome.patches.len(), usize::from(stream == PUNCTUATED));
    }
    // A truncated bare frame.
    let bare = [options(FLAT, TRIPLES, &[]), rows[0].clone()].concat();
    assert_eq!(read(&bare).patches, [["A _:a _:b _:c ."]]);
    let outcome = read(&bare[..bare.len() - 1]);
    assert_eq!(outcome.class(), ErrorClass::Truncated);
}

/// The row that ends a patch, or nothing if the stream type does not need one.
fn mark_of(stream: u64) -> Vec<u8> {
    if stream == PUNCTUATED { mark() } else { vec![] }
}

#[test]
fn length_prefixes_are_detected_unless_an_option_is_given() {
    let bare = [options(FLAT, TRIPLES, &[]), triple(ADD, "a", "b", "c")].concat();
    let delimited = frame(std::slice::from_ref(&bare));
    for (log, actual) in [(&bare, "false"), (&delimited, "true")] {
        assert_eq!(read(log).patches.len(), 1);
        let forced = Options::with("delimited", actual);
        assert_eq!(read_with(&forced, log).patches.len(), 1);
        let other = Options::with("delimited", if actual == "true" { "false" } else { "true" });
        assert!(read_with(&other, log).error.is_some());
    }
}

#[test]
fn files_in_other_formats_are_rejected() {
    let outcome = read(b"TX .\nA <a:> <b:> <c:> .\n");
    assert!(
        outcome.reason().contains("a Jelly-Patch file"),
        "{outcome:?}"
    );
    let jelly = frame(&[crate::jelly::wire::options(1, &[])]);
    assert!(read(&jelly).reason().contains("statement type 0"));
}

#[test]
fn options_also_apply_to_earlier_frames() {
    let log = |stream: u64| {
        let rows = [
            options(stream, TRIPLES, &[]),
            triple(ADD, "a", "b", "c"),
            mark_of(stream),
        ];
        [frame(&[]), frame(&[]), frame(&rows)].concat()
    };
    let add = "A _:a _:b _:c .";
    assert_eq!(read(&log(FRAME)).patches, [vec![], vec![], vec![add]]);
    let flat = read(&log(FLAT));
    assert_eq!(
        (flat.patches, flat.positions),
        (vec![vec![add.to_owned()]], vec![0])
    );
    assert_eq!(read(&log(PUNCTUATED)).patches, [[add]]);
    // Without options, the frames are patches, unless all frames are read as one patch.
    assert_eq!(read(&[0, 0]).patches.len(), 2);
    assert_eq!(
        read_with(&Options::with("frames", "flat"), &[0, 0])
            .patches
            .len(),
        1
    );
    assert!(read(b"").patches.is_empty());
    let small = Options::with("max_message_bytes", 1000);
    let outcome = read_with(&small, &[0; 20]);
    assert_eq!(outcome.class(), ErrorClass::Limit);
    assert!(
        outcome.reason().contains("frames 0 to 15 have no rows"),
        "{outcome:?}"
    );
}

#[test]
fn a_patch_is_read_in_parts_on_request() {
    let rows: Vec<Vec<u8>> = (0..50)
        .map(|index| triple(ADD, &format!("s{index}"), "p", "o"))
        .collect();
    for stream in [FRAME, FLAT, PUNCTUATED] {
        let log = one_frame(stream, TRIPLES, &[rows.concat(), mark_of(stream)]);
        let small = Options::with("batch_quads", 10);
        let whole = read_pieces(&small, &log, 7);
        let frames = read_pieces(&small.clone().frames_in_parts(), &log, 7);
        let parts = read_pieces(&small.parts(true), &log, 7);
        assert_eq!((&parts.0, &frames.0), (&whole.0, &whole.0));
        assert_eq!((whole.1, parts.1), (1, 6), "{stream}");
        assert_eq!(frames.1, if stream == FRAME { 1 } else { 6 });
    }
}

#[test]
fn a_large_patch_is_rejected_unless_read_in_parts() {
    let rows: Vec<Vec<u8>> = (0..200)
        .map(|index| triple(ADD, &format!("s{index}"), "p", "o"))
        .collect();
    let log = one_frame(PUNCTUATED, TRIPLES, &[rows.concat(), mark()]);
    let small = Options::with("max_message_bytes", 8000);
    let outcome = read_with(&small, &log);
    assert_eq!(outcome.class(), ErrorClass::Limit);
    assert!(outcome.reason().contains("larger than 8000 decoded bytes"));
    let (outcome, batches) = read_pieces(&small.parts(true), &log, 7);
    assert_eq!((outcome.error, outcome.patches[0].len()), (None, 200));
    assert!(batches > 8);
}

#[test]
fn limits_apply_before_memory_is_allocated() {
    let huge = crate::jelly::wire::varint(u64::from(u32::MAX));
    assert_eq!(read(&huge).class(), ErrorClass::Limit);
    let nested = |depth: usize| {
        let mut term = [bytes(2, "s"), bytes(6, "p"), bytes(10, "o")].concat();
        for _ in 1..depth {
            term = [bytes(4, term), bytes(6, "p"), bytes(10, "o")].concat();
        }
        frame(&[
            options(FLAT, TRIPLES, &[number(4, 1)]),
            row(14, bytes(5, term)),
        ])
    };
    assert_eq!(read(&nested(64)).error, None);
    let outcome = read(&nested(65));
    assert_eq!(outcome.class(), ErrorClass::Limit);
    assert!(outcome.reason().contains("deeper than 64 levels"));
    // Headers that repeat a long IRI share it.
    let long = "x".repeat(100_000);
    let mut rows = vec![name(1, &long)];
    rows.extend((0..2000).map(|_| row(14, bytes(2, iri(0, 1)))));
    assert_eq!(
        read_pieces(
            &Options::default(),
            &one_frame(FLAT, TRIPLES, &rows),
            1 << 20
        )
        .0
        .error,
        None
    );
}

#[test]
fn the_header_contains_the_options_of_the_log() {
    let header = |stream: u64| {
        let log = frame(&[options(stream, QUADS, &[number(4, 1)])]);
        let mut decoder = decoder("jelly-patch", &Options::default()).unwrap();
        assert!(decoder.header().options.is_empty());
        decoder.feed(&log);
        decoder.finish();
        while decoder.next_batch_of::<Operation>().unwrap().is_some() {}
        decoder.header()
    };
    let word = |word: &str| Value::Text(word.to_owned());
    for (stream, name) in [(FRAME, "frame"), (FLAT, "flat"), (PUNCTUATED, "punctuated")] {
        let header = header(stream);
        assert_eq!(header.flat, Some(stream == FLAT));
        assert_eq!(
            header.options.clone(),
            [
                ("stream_type", word(name)),
                ("statement_type", word("quads")),
                ("generalized", Value::Switch(false)),
                ("rdf_star", Value::Switch(true)),
                ("name_table", Value::Number(16)),
                ("prefix_table", Value::Number(4)),
                ("datatype_table", Value::Number(4)),
            ]
        );
    }
}

#[test]
fn a_reset_discards_the_state_of_the_previous_log() {
    let first = one_frame(
        PUNCTUATED,
        QUADS,
        &[name(0, "n"), quad(ADD, "s", "p", "o", "g"), bare(BEGIN)],
    );
    let second = one_frame(FRAME, TRIPLES, &[row(ADD, "")]);
    let mut decoder = decoder("jelly-patch", &Options::default()).unwrap();
    decoder.feed(&first);
    assert!(decoder.next_batch_of::<Operation>().unwrap().is_none());
    decoder.reset();
    decoder.feed(&second);
    decoder.finish();
    let error = decoder.next_batch_of::<Operation>().unwrap_err();
    assert!(error.to_string().contains("omits its subject"), "{error}");
    decoder.reset();
    decoder.feed(&frame(&[options(FLAT, QUADS, &[])]));
    decoder.finish();
    let batch = decoder.next_batch_of::<Operation>().unwrap().unwrap();
    assert_eq!(batch.message(0).len(), 0);
}

#[test]
fn skipping_is_not_supported() {
    let mut decoder: Box<dyn Decoder> = decoder("jelly-patch", &Options::default()).unwrap();
    decoder.feed(&one_frame(FRAME, QUADS, &[]));
    let error = decoder.skip_message().unwrap_err();
    assert_eq!(error.class, ErrorClass::Unsupported);
}

#[test]
fn blank_node_labels_are_unchanged_throughout_the_log() {
    let log = one_frame(
        PUNCTUATED,
        TRIPLES,
        &[
            triple(ADD, "a b", "p", "o"),
            mark(),
            triple(ADD, "a b", "_g0", "o"),
            mark(),
        ],
    );
    let actual = batches(&Options::default(), &log);
    let table = actual[0].table();
    let label = |index: usize| table.text(actual[0].message(index)[0].subject);
    assert_eq!((label(0), label(1)), (&b"a b"[..], &b"a b"[..]));
    assert_eq!(table.text(actual[0].message(1)[0].predicate), b"_g0");
}

#[test]
fn concatenated_streams_with_mixed_lookup_tables_are_an_error() {
    let statement = row(
        ADD,
        [
            bytes(1, iri(0, 1)),
            bytes(5, iri(0, 2)),
            bytes(9, iri(0, 1)),
        ]
        .concat(),
    );
    let rows = [
        prefix(1, "http://e/"),
        name(0, "a"),
        name(0, "p"),
        statement,
    ];
    for stream in [FRAME, FLAT] {
        let log = one_frame(stream, TRIPLES, &rows);
        let joined = [log.clone(), log.clone()].concat();
        let actual = read(&joined);
        assert_eq!(actual.class(), ErrorClass::Malformed);
        assert!(
            actual.reason().contains(&format!(
                "a name entry without an id would continue the name table from before the frame at byte {}, which \
                 repeats the stream options; were two Jelly files joined there?",
                log.len()
            )),
            "{}",
            actual.reason()
        );
        let warn = Options::with("joins", "warn");
        assert_eq!(read_with(&warn, &joined).error, None);
        let mut decoder = decoder("jelly-patch", &warn).unwrap();
        decoder.feed(&joined);
        decoder.finish();
        while decoder.next_batch_of::<Operation>().unwrap().is_some() {}
        assert_eq!(decoder.observations().notes.len(), 1);
    }
    // Options repeated inside a frame are accepted.
    let repeated = options(FRAME, TRIPLES, &[]);
    let log = one_frame(FRAME, TRIPLES, &[rows.concat(), repeated, rows.concat()]);
    assert_eq!(read(&log).error, None);
}

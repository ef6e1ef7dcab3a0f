//! Jelly-SPARQL: accepted input, errors, limits and output, with hand-made frames.
#![allow(clippy::too_many_lines, reason = "tables of cases")]

use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::term::TermId;

use super::{Read, batches, read, read_with, write_with};
use crate::jelly::wire::{bytes, frame, number, varint};
use crate::support::{Options, decoder};

const FORMAT: &str = "results-jelly";

/// Stream options, with added or replaced fields.
fn options(more: &[Vec<u8>]) -> Vec<u8> {
    let sizes = [number(9, 128), number(10, 8), number(11, 8), number(15, 1)];
    bytes(1, [sizes.concat(), more.concat()].concat())
}

fn punctuated() -> Vec<u8> {
    options(&[number(2, 1)])
}

fn variables(names: &[&str]) -> Vec<u8> {
    names.iter().flat_map(|name| bytes(2, name)).collect()
}

/// A column of simple literals with a layout.
fn literals(texts: &[&str], layout: &[u8]) -> Vec<u8> {
    let texts: Vec<u8> = texts.iter().flat_map(|text| bytes(5, text)).collect();
    let layout = if layout.is_empty() {
        Vec::new()
    } else {
        bytes(2, layout)
    };
    bytes(7, [texts, layout].concat())
}

fn bnodes(labels: &[&str]) -> Vec<u8> {
    let labels: Vec<u8> = labels.iter().flat_map(|label| bytes(9, label)).collect();
    bytes(7, labels)
}

/// A packed lookup entry: of names (4), prefixes (5) or datatypes (6).
fn entry(field: u64, values: &[&str]) -> Vec<u8> {
    let values: Vec<u8> = values.iter().flat_map(|value| bytes(2, value)).collect();
    bytes(field, values)
}

fn trailer() -> Vec<u8> {
    bytes(9, [])
}

fn failure(text: &str) -> Vec<u8> {
    bytes(9, bytes(1, text))
}

/// A frame with options and the variable `x`, and more fields.
fn first(more: &[Vec<u8>]) -> Vec<u8> {
    frame(&[options(&[]), variables(&["x"]), more.concat()])
}

/// The first cells of all rows.
fn cells(read: Read) -> Vec<String> {
    let rows = read.without_error().rows;
    rows.into_iter().map(|mut row| row.remove(0)).collect()
}

#[test]
fn rows_are_read_by_column() {
    let iris = bytes(
        7,
        [bytes(3, [0, 0, 1]), bytes(4, [1]), bytes(2, [0x10])].concat(),
    );
    let log = frame(&[
        // Fields may be in any order.
        iris,
        literals(&["a", "b"], &[0x10, 0x00]),
        number(3, 4),
        entry(5, &["http://e/"]),
        entry(4, &["s", "o"]),
        trailer(),
        variables(&["x", "y"]),
        options(&[]),
    ]);
    let found = read(FORMAT, log).without_error();
    assert_eq!(found.variables(), ["x", "y"]);
    assert_eq!(
        found.rows,
        [
            ["", ""],
            ["<http://e/s>", "\"a\""],
            ["<http://e/o>", "\"a\""],
            ["<http://e/s>", "\"b\""]
        ]
    );
}

#[test]
fn layouts_have_every_length_form() {
    for (layout, expected) in [
        (&[][..], "ab".to_owned()),
        (&[0x10], "_ab".to_owned()),
        (&[0x20 | 0x11], "a__b".to_owned()),
        (&[0x12, 0x01], "___aaab".to_owned()),
        (&[0x0e], "a".repeat(16) + "b"),
        (&[0x0f, 0], "a".repeat(17) + "b"),
        (&[0x1e], "_".repeat(15) + "ab"),
        (&[0x1f, 0], "_".repeat(16) + "ab"),
        (&[0x0f, 0xd7, 0x07], "a".repeat(1000) + "b"),
    ] {
        let rows = expected.len() as u64;
        for missing in [0, 3] {
            // Cells after the last one are unbound.
            let log = first(&[
                number(3, rows + missing),
                literals(&["a", "b"], layout),
                trailer(),
            ]);
            let found: String = cells(read_with(FORMAT, &Options::default(), log))
                .iter()
                .map(|cell| cell.trim_matches('"').chars().next().unwrap_or('_'))
                .collect();
            assert_eq!(found, expected.clone() + &"_".repeat(missing as usize));
        }
    }
}

#[test]
fn four_kinds_share_a_byte() {
    let triple = [
        bytes(2, "s"),
        bytes(5, number(2, 1)),
        bytes(11, bytes(1, "o")),
    ]
    .concat();
    let column = [
        bytes(1, [0b00_11_10_01, 0b01]),
        bytes(3, [1]),
        bytes(5, "l"),
        bytes(5, "m"),
        bytes(6, [2, 1]),
        bytes(7, "en"),
        bytes(8, [2]),
        bytes(9, "b"),
        bytes(10, triple),
    ];
    let log = first(&[
        number(3, 5),
        entry(4, &["http://p"]),
        entry(6, &["http://d"]),
        bytes(7, column.concat()),
        trailer(),
    ]);
    assert_eq!(
        cells(read(FORMAT, log)),
        [
            "\"l\"@en--rtl",
            "_:b",
            "<<( _:s <http://p> \"o\" )>>",
            "<http://p>",
            "\"m\"^^<http://d>",
        ]
    );
}

#[test]
fn result_sets_may_have_no_variables_or_no_rows() {
    let log = frame(&[options(&[]), number(3, 3), trailer()]);
    assert_eq!(
        read(FORMAT, log).without_error().rows,
        vec![Vec::<String>::new(); 3]
    );
    for column in [vec![], bytes(7, [])] {
        let found = read(FORMAT, first(&[column, trailer()])).without_error();
        assert_eq!((found.variables(), found.rows.len()), (vec!["x"], 0));
    }
    let all_unbound = first(&[number(3, 2), bytes(7, []), trailer()]);
    assert_eq!(cells(read(FORMAT, all_unbound)), ["", ""]);
}

#[test]
fn answers_and_links_are_read() {
    for (payload, answer) in [(number(1, 1), true), (number(1, 0), false), (vec![], false)] {
        let log = frame(&[options(&[]), bytes(8, payload), trailer()]);
        assert_eq!(read(FORMAT, log).without_error().boolean(), Some(answer));
    }
    let entry = |key: &str, value: &str| bytes(15, [bytes(1, key), bytes(2, value)].concat());
    let log = first(&[entry("k", "v"), entry("link", "http://a\nb"), trailer()]);
    let head = read(FORMAT, &log).without_error().head.unwrap();
    assert_eq!(head.links, ["http://a".into(), "b".into()]);
    let mut decoder = decoder(FORMAT, &Options::default()).unwrap();
    decoder.feed(&log);
    decoder.finish();
    while decoder.next_batch_of::<TermId>().unwrap().is_some() {}
    assert_eq!(decoder.observations().dropped_metadata, 1);
}

#[test]
fn lookup_entries_are_kept_until_options_are_restated() {
    let iri = |id: u8| bytes(7, bytes(3, [id]));
    let names = entry(4, &["http://a", "http://b"]);
    let log = [
        first(&[names.clone(), number(3, 1), iri(1)]),
        frame(&[number(3, 1), iri(2)]),
        // Joined results of the same query. No trailer is needed before the options.
        first(&[entry(4, &["http://c"]), number(3, 1), iri(1), trailer()]),
        first(&[names.clone(), number(3, 1), iri(2), trailer()]),
    ]
    .concat();
    assert_eq!(
        cells(read(FORMAT, log)),
        ["<http://a>", "<http://b>", "<http://c>", "<http://b>"]
    );
    let log = [
        first(&[names, number(3, 1), iri(1)]),
        first(&[number(3, 1), iri(1), trailer()]),
    ]
    .concat();
    assert_eq!(
        read(FORMAT, log).reason(),
        "column x: name 1 is used, but no entry has defined it"
    );
}

#[test]
fn labels_of_punctuated_streams_belong_to_one_result_set() {
    let set = |start: Vec<u8>| {
        frame(&[
            start,
            variables(&["x"]),
            number(3, 1),
            bnodes(&["b"]),
            trailer(),
        ])
    };
    let log = [set(punctuated()), set(vec![]), set(punctuated())].concat();
    assert_eq!(cells(read(FORMAT, log)), ["_:b", "_:_gm1_b", "_:_gm2_b"]);
    let log = [set(options(&[])), set(options(&[]))].concat();
    assert_eq!(cells(read(FORMAT, log)), ["_:b", "_:b"]);
}

#[test]
fn result_sets_of_a_stream_must_have_the_same_header() {
    let set = |start: Vec<u8>, name: &str| {
        frame(&[
            start,
            variables(&[name]),
            number(3, 1),
            literals(&["a"], &[]),
            trailer(),
        ])
    };
    let answer = frame(&[bytes(8, number(1, 1)), trailer()]);
    for (other, reason) in [
        (
            set(vec![], "y"),
            "the variables differ from those of earlier rows: 'y', not 'x'; a log of results has only one list of \
             variables",
        ),
        (
            answer,
            "the answer to an ASK query is followed by another answer or by rows; a log of results contains one \
             answer or only rows",
        ),
    ] {
        let log = [set(punctuated(), "x"), other].concat();
        let found = read(FORMAT, log);
        assert_eq!((found.rows.len(), found.reason()), (1, reason));
        assert_eq!(found.error.unwrap().class, ErrorClass::Unsupported);
    }
    let log = [set(options(&[]), "x"), set(options(&[]), "y")].concat();
    assert!(
        read(FORMAT, log)
            .reason()
            .starts_with("the variables differ")
    );
}

#[test]
fn a_trailer_ends_a_result_set() {
    let rows = |more: Vec<u8>| [number(3, 1), literals(&["a"], &[]), more].concat();
    for log in [
        first(&[rows(vec![])]),
        frame(&[punctuated(), variables(&["x"])]),
    ] {
        let error = read(FORMAT, &log).error.unwrap();
        assert_eq!(error.class, ErrorClass::Truncated);
        assert_eq!(
            error.reason.text(),
            "the log ends before the trailer of its result set, so rows may be missing"
        );
    }
    let found = read(FORMAT, first(&[rows(failure("out of\nmemory"))]));
    assert_eq!(found.rows.len(), 1);
    assert_eq!(
        found.reason(),
        "the result set is incomplete; its trailer says 'out of\\nmemory'"
    );
    let long = "é".repeat(2000);
    let found = read(FORMAT, first(&[failure(&long)]));
    assert!(found.reason().contains(&("é".repeat(1000) + "…'")));
    let after = frame(&[rows(trailer())]);
    let found = read(FORMAT, [first(&[rows(trailer())]), after].concat());
    assert_eq!(found.rows.len(), 1);
    assert_eq!(
        found.reason(),
        "a frame without stream options follows the trailer of a FLAT stream"
    );
}

#[test]
fn invalid_frames_are_rejected() {
    let start = || [options(&[]), variables(&["x"])].concat();
    let draft = "rdfm reads commit 15c10bef of jelly-protobuf";
    let set = |fields: &[Vec<u8>]| frame(&[start(), fields.concat()]);
    let one = |column: &[Vec<u8>]| set(&[number(3, 2), bytes(7, column.concat())]);
    let prefix = start().len() as u64 + 1;
    // The row and the byte are those in the second frame of a log, or in the first one.
    for (log, row, byte, reason) in [
        (
            frame(&[variables(&["x"])]),
            0,
            1,
            "the frame has no stream options, which the first frame must have".to_owned(),
        ),
        (
            frame(&[options(&[number(15, 2)])]),
            0,
            1,
            "the stream options have version 2, expected 1".to_owned(),
        ),
        (
            frame(&[options(&[number(2, 2)])]),
            0,
            1,
            "stream_type 2 does not exist".to_owned(),
        ),
        (
            frame(&[options(&[number(5, 4)])]),
            0,
            1,
            "rdf_version 4 does not exist".to_owned(),
        ),
        (
            frame(&[options(&[number(9, 127)])]),
            0,
            1,
            "the name table size is 127, expected 128 or more".to_owned(),
        ),
        (
            frame(&[options(&[number(3, 1)])]),
            0,
            1,
            format!("field 3 of the stream options is unknown; Jelly 1.2 is a draft, and {draft}"),
        ),
        (
            set(&[bytes(10, [])]),
            0,
            prefix,
            format!("field 10 of the frame is unknown; Jelly 1.2 is a draft, and {draft}"),
        ),
        (
            frame(&[
                options(&[]),
                bytes(2, [bytes(1, "x"), number(2, 1)].concat()),
            ]),
            0,
            options(&[]).len() as u64 + 3,
            format!(
                "a variable is a message, expected a string; Jelly-SPARQL is a draft, and {draft}"
            ),
        ),
        (
            frame(&[options(&[]), variables(&[""])]),
            0,
            options(&[]).len() as u64 + 3,
            "the name of a variable is empty".to_owned(),
        ),
        (
            frame(&[options(&[]), variables(&["x", "x"])]),
            0,
            options(&[]).len() as u64 + 6,
            "the variable 'x' occurs twice".to_owned(),
        ),
        (
            set(&[number(3, 1 << 27)]),
            0,
            prefix,
            "row_count is 134217728, more than 134217727".to_owned(),
        ),
        (
            set(&[number(3, 1)]),
            0,
            1,
            "the frame has 0 columns, but the result set has 1 variable".to_owned(),
        ),
        (
            set(&[number(3, 1), literals(&["a"], &[]), literals(&["a"], &[])]),
            0,
            prefix + 4,
            "the frame has 2 columns, but the result set has 1 variable".to_owned(),
        ),
        (
            set(&[bytes(8, [])]),
            0,
            prefix,
            "a frame with an ASK result has variables, columns or rows".to_owned(),
        ),
        (
            one(&[bytes(3, [1, 1])]),
            0,
            prefix + 4,
            "column x: name 1 is used, but no entry has defined it".to_owned(),
        ),
        (
            one(&[bytes(5, "a"), bytes(5, [0xff])]),
            1,
            prefix + 9,
            "column x: a lexical form is not valid UTF-8: '\u{fffd}'".to_owned(),
        ),
        (
            one(&[bytes(5, "a"), bytes(2, [0x01])]),
            0,
            prefix + 7,
            "column x: the cells of the layout exceed 2 rows".to_owned(),
        ),
        (
            one(&[bytes(5, "a"), bytes(2, [0x20])]),
            0,
            prefix + 7,
            "column x: the layout needs more than 1 values".to_owned(),
        ),
        (
            one(&[bytes(5, "a"), bytes(2, [0x0f])]),
            0,
            prefix + 7,
            "column x: the layout ends before the extension of its last length".to_owned(),
        ),
        (
            one(&[bytes(5, "a"), bytes(9, "b")]),
            0,
            prefix + 4,
            "column x: the column has values of several kinds, but no kinds".to_owned(),
        ),
        (
            one(&[bytes(5, "a"), bytes(6, [2])]),
            0,
            prefix + 7,
            "column x: literal kind 2 refers to language tag 0, but the column has 0 tags"
                .to_owned(),
        ),
    ] {
        let error = read(FORMAT, &log).error.unwrap();
        assert_eq!(error.reason.text(), reason);
        assert_eq!(error.position.frame_row, Some((0, row)), "{reason}");
        assert_eq!(error.position.byte_offset, Some(byte), "{reason}");
    }
    let rows = [number(3, 1), literals(&["a"], &[])].concat();
    for (second, reason) in [
        (
            variables(&["x"]),
            "the frame has variables, which only the first frame of a result set may have",
        ),
        (
            bytes(8, []),
            "the frame has an ASK result, which only the first frame of a result set may have",
        ),
        (
            punctuated(),
            "the restated stream options change stream_type from 0 to 1",
        ),
    ] {
        let log = [first(std::slice::from_ref(&rows)), frame(&[second])].concat();
        let found = read(FORMAT, log);
        assert_eq!((found.rows.len(), found.reason()), (1, reason));
        assert_eq!(found.error.unwrap().position.frame_row, Some((1, 0)));
    }
    let log = [
        frame(&[punctuated(), variables(&["x"]), rows]),
        frame(&[punctuated()]),
    ]
    .concat();
    assert_eq!(
        read(FORMAT, log).reason(),
        "the frame has stream options, which only the first frame of a result set may have in a PUNCTUATED stream"
    );
    let log = [frame(&[options(&[]), bytes(8, [])]), frame(&[trailer()])].concat();
    assert_eq!(
        read(FORMAT, log).reason(),
        "a frame without stream options follows an ASK result that has no trailer"
    );
}

#[test]
fn truncated_logs_are_rejected_after_the_complete_frames() {
    let complete = first(&[number(3, 1), literals(&["a"], &[])]);
    let log = [
        complete.clone(),
        frame(&[number(3, 1), literals(&["b"], &[]), trailer()]),
    ]
    .concat();
    for size in 0..log.len() {
        let found = read(FORMAT, &log[..size]);
        assert_eq!(
            found.rows.len(),
            usize::from(size >= complete.len()),
            "{size}"
        );
        assert_eq!(found.error.unwrap().class, ErrorClass::Truncated, "{size}");
    }
    assert_eq!(read(FORMAT, &log).without_error().rows.len(), 2);
}

#[test]
fn rows_of_a_long_run_are_expanded_batch_by_batch() {
    let rows = (1 << 27) - 1;
    let run = [0x0f_u8]
        .into_iter()
        .chain(varint(rows - 17))
        .collect::<Vec<_>>();
    let log = first(&[number(3, rows), literals(&["a"], &run), trailer()]);
    let mut decoder = decoder(FORMAT, &Options::with("batch_quads", 1000)).unwrap();
    decoder.feed(&log);
    decoder.finish();
    for number in 0..100 {
        let batch = decoder.next_batch_of::<TermId>().unwrap().unwrap();
        assert_eq!(
            (batch.len(), batch.first_message_index()),
            (1000, 1000 * number)
        );
        assert_eq!(batch.table().terms().len(), 2);
    }
    let names: Vec<u8> = (0..10_000)
        .flat_map(|name| bytes(2, format!("{name}")))
        .collect();
    let log = frame(&[options(&[]), names, trailer()]);
    let found = read_with(FORMAT, &Options::with("max_message_bytes", 1_000_000), log);
    assert_eq!(found.error.as_ref().unwrap().class, ErrorClass::Limit);
    assert_eq!(
        found.reason(),
        "the variables and links take more than 1000000 bytes"
    );
}

/// Rows of a column, as TSV.
fn table(rows: impl Iterator<Item = String>) -> String {
    std::iter::once("?x".to_owned())
        .chain(rows)
        .map(|row| row + "\n")
        .collect()
}

#[test]
fn frames_end_at_their_size_and_when_a_table_is_full() {
    let frames = |log: &[u8]| {
        let (mut rest, mut count) = (log, 0);
        while !rest.is_empty() {
            let (mut length, mut shift) = (0, 0);
            loop {
                let byte = rest[0];
                rest = &rest[1..];
                length |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            rest = &rest[length..];
            count += 1;
        }
        count
    };
    let iris = table((0..1000).map(|n| format!("<http://e/{}>", n % 300)));
    let large = table((0..100).map(|n| format!("\"{n}{}\"", "x".repeat(20_000))));
    for (tsv, options, expected) in [
        (&iris, Options::default(), 1),
        (&iris, Options::with("frame_rows", 300), 4),
        (&iris, Options::with("frame_rows", 1000), 2),
        (&iris, Options::with("name_table", 128), 8),
        (&large, Options::default(), 4),
    ] {
        let (log, result) = write_with(FORMAT, &options, &batches("results-tsv", tsv));
        assert_eq!(result, Ok(()));
        assert_eq!(frames(&log), expected);
        assert_eq!(read(FORMAT, log), read("results-tsv", tsv));
    }
}

#[test]
fn a_row_that_does_not_fit_in_the_tables_is_rejected() {
    let names: Vec<String> = (0..130).map(|n| format!("?v{n}")).collect();
    let row = |repeats: bool| {
        let cells = (0..130).map(|n| format!("<a{}>", if repeats { 0 } else { n }));
        cells.collect::<Vec<_>>().join("\t")
    };
    let tsv = format!("{}\n{}\n{}\n", names.join("\t"), row(true), row(false));
    let options = Options::with("name_table", 128);
    let (log, result) = write_with(FORMAT, &options, &batches("results-tsv", tsv));
    let error = result.unwrap_err();
    assert_eq!(error.message_index, 1);
    assert_eq!(
        error.reason.text(),
        "one statement needs more than 128 lookup entries at once"
    );
    assert_eq!(read(FORMAT, log).without_error().rows.len(), 1);
}

#[test]
fn the_output_has_the_expected_bytes() {
    let tsv = "?x\t?y\n\t\"a\"\n\t\"a\"\n<http://e/s>\t\"b\"\n";
    let (log, _) = write_with(
        FORMAT,
        &Options::with("punctuated", true),
        &batches("results-tsv", tsv),
    );
    let sizes = [
        number(2, 1),
        number(9, 4000),
        number(10, 150),
        number(11, 32),
        number(15, 1),
    ];
    let expected = frame(&[
        bytes(1, sizes.concat()),
        variables(&["x", "y"]),
        number(3, 3),
        // The first entries have an explicit id.
        bytes(4, [number(1, 1), bytes(2, "s")].concat()),
        bytes(5, [number(1, 1), bytes(2, "http://e/")].concat()),
        bytes(7, [bytes(2, [0x11]), bytes(3, [0]), bytes(4, [1])].concat()),
        bytes(7, [bytes(2, [0x00]), bytes(5, "a"), bytes(5, "b")].concat()),
        trailer(),
    ]);
    assert_eq!(log, expected);
}

#[test]
fn unsupported_rows_are_rejected() {
    for (tsv, reason) in [
        (
            "?x\n<a>\n<<( <a> <b> <<( <<( <a> <b> <c> )>> <b> <c> )>> )>>\n",
            "the format supports triple terms only as objects; found ",
        ),
        (
            "?x\n<a>\n\"a\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>\n",
            "a literal of datatype 'http://www.w3.org/1999/02/22-rdf-syntax-…' has no language tag",
        ),
    ] {
        let read_rows = read("results-tsv", tsv);
        if read_rows.error.is_some() {
            continue; // not every row can be expressed in TSV
        }
        let (log, result) = write_with(FORMAT, &Options::default(), &batches("results-tsv", tsv));
        let error = result.unwrap_err();
        assert!(
            error.reason.text().starts_with(reason),
            "{}",
            error.reason.text()
        );
        assert_eq!(read(FORMAT, log).without_error().rows.len(), 1);
    }
}

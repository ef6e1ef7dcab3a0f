//! RDF Patch as text and in Thrift: accepted input, output, errors, and the patches of a log.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

use crate::support::{Options, PIECES, decoder, encoder, shared};
use rdfm_core::codec::Decoder;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::batch::PatchBatch;
use rdfm_core::model::builder::PatchBuilder;
use rdfm_core::model::error::{DecodeError, EncodeError, ErrorClass};
use rdfm_core::model::limits::Limits;
use rdfm_core::model::record::{Operation, OperationCode};
use rdfm_core::model::term::{Quad, TermId, TermKind};
use rdfm_core::model::write::write_term;

const TEXT: &str = "rdf-patch";
const THRIFT: &str = "rdf-patch-thrift";
const Q: &str = "<http://e/s> <http://e/p> <http://e/o>";

/// The operations and the position of each patch, and the error.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    patches: Vec<Vec<String>>,
    positions: Vec<u64>,
    error: Option<DecodeError>,
}

/// Renders the code, the name, and the terms of an operation, with terms as in N-Triples.
fn render(batch: &PatchBatch, operation: &Operation) -> String {
    let mut out = operation.code.name().as_bytes().to_vec();
    for id in [
        operation.name,
        operation.subject,
        operation.predicate,
        operation.object,
        operation.graph,
    ] {
        if id != TermId::DEFAULT_GRAPH {
            out.push(b' ');
            write_term(batch.table(), id, &mut out);
        }
    }
    String::from_utf8(out).unwrap()
}

fn drain(decoder: &mut dyn Decoder, outcome: &mut Outcome, batches: &mut Vec<PatchBatch>) {
    loop {
        match decoder.next_batch_of::<Operation>() {
            Ok(None) => return,
            Ok(Some(batch)) => {
                for patch in 0..batch.len() {
                    let rows = batch.message(patch).iter().map(|row| render(&batch, row));
                    if patch == 0 && batch.continued() {
                        outcome.patches.last_mut().unwrap().extend(rows);
                    } else {
                        outcome.patches.push(rows.collect());
                        outcome.positions.push(batch.byte_offset(patch).unwrap());
                    }
                }
                batches.push(batch);
            }
            Err(error) => {
                outcome.error = Some(error);
                return;
            }
        }
    }
}

fn decode(format: &str, options: &Options, log: &[u8], piece: usize) -> (Outcome, Vec<PatchBatch>) {
    let mut decoder = decoder(format, options).unwrap();
    let mut batches = Vec::new();
    let mut outcome = Outcome {
        patches: Vec::new(),
        positions: Vec::new(),
        error: None,
    };
    for piece in log.chunks(piece.max(1)) {
        decoder.feed(piece);
        drain(&mut *decoder, &mut outcome, &mut batches);
        if outcome.error.is_some() {
            return (outcome, batches);
        }
    }
    decoder.finish();
    drain(&mut *decoder, &mut outcome, &mut batches);
    (outcome, batches)
}

/// Decodes a log in one piece and in several; any difference fails the test.
fn read_as(format: &str, options: &Options, log: &[u8]) -> Outcome {
    let (whole, _) = decode(format, options, log, log.len());
    for size in PIECES {
        let (cut, _) = decode(format, options, log, size);
        let text = String::from_utf8_lossy(log);
        assert_eq!(cut, whole, "in pieces of {size}: {text}");
    }
    whole
}

fn read(log: &str) -> Outcome {
    read_as(TEXT, &Options::default(), log.as_bytes())
}

/// The patches of a log without errors.
fn patches(log: &str) -> Vec<Vec<String>> {
    let outcome = read(log);
    assert_eq!(outcome.error, None, "{log}");
    outcome.patches
}

/// Returns the only operation of a log with one row.
fn row(text: &str) -> String {
    let actual = patches(text);
    assert_eq!(actual.len(), 1, "{text}");
    assert_eq!(actual[0].len(), 1, "{text}");
    actual[0][0].clone()
}

/// Returns the object of a row that adds a quad, as N-Triples.
fn object(text: &str) -> String {
    let row = row(&format!("A <http://e/s> <http://e/p> {text} ."));
    let object = row.strip_prefix("A <http://e/s> <http://e/p> ");
    object.unwrap().to_owned()
}

/// The error of an invalid log, with its position.
fn error(log: &str) -> String {
    let outcome = read(log);
    outcome.error.expect(log).to_string()
}

/// The reason, line and column of an error.
fn error_and_position(log: &str) -> (String, (u64, u64)) {
    let error = read(log).error.expect(log);
    let place = error.position.line_column.unwrap();
    (error.reason.to_string(), place)
}

/// Writes a log in a format. Also returns the error, and counts of dropped data.
fn write(
    format: &str,
    options: &Options,
    batches: &[PatchBatch],
) -> (Vec<u8>, Option<EncodeError>, Vec<(&'static str, u64)>) {
    let mut encoder = encoder(format, options).unwrap();
    let mut out = Vec::new();
    for batch in batches {
        if let Err(error) = encoder.encode(batch.into(), &mut out) {
            return (out, Some(error), encoder.dropped_counts());
        }
    }
    encoder.finish(&mut out).unwrap();
    (out, None, encoder.dropped_counts())
}

fn batches(log: &str) -> Vec<PatchBatch> {
    let (outcome, batches) = decode(TEXT, &Options::default(), log.as_bytes(), log.len());
    assert_eq!(outcome.error, None);
    batches
}

/// Reads a log and writes it again as text.
fn written(log: &str) -> String {
    let (out, error, dropped) = write(TEXT, &Options::default(), &batches(log));
    assert_eq!(error, None);
    assert_eq!(dropped, []);
    String::from_utf8(out).unwrap()
}

#[test]
fn rows_with_every_code_are_read() {
    for (text, shown) in [
        ("H id <uuid:1> .", "H \"id\" <uuid:1>"),
        ("H id <uuid:1>.", "H \"id\" <uuid:1>"),
        ("H ID <uuid:1>.", "H \"ID\" <uuid:1>"),
        ("H x.y-z 'v'@en.", "H \"x.y-z\" \"v\"@en"),
        ("H \"two words\" _:b .", "H \"two words\" _:b"),
        ("TX .", "TX"),
        ("TB.", "TX"),
        ("TC.", "TC"),
        ("TA\t.", "TA"),
        ("PA \"ex\" \"http://e/\" .", "PA \"ex\" <http://e/>"),
        ("PA ex <http://e/> .", "PA \"ex\" <http://e/>"),
        ("PA '' '''http://e/'''.", "PA \"\" <http://e/>"),
        (
            "PA \"ex\" \"http://e/\" <http://g> .",
            "PA \"ex\" <http://e/> <http://g>",
        ),
        ("PA ex <http://e/> _:g.", "PA \"ex\" <http://e/> _:g"),
        ("PA ex <http://e/> \"g\" .", "PA \"ex\" <http://e/> \"g\""),
        ("PD \"ex\" .", "PD \"ex\""),
        ("PD ex.", "PD \"ex\""),
        ("PD ex <http://g>.", "PD \"ex\" <http://g>"),
        (
            "A<http://e/s><http://e/p><http://e/o>.",
            "A <http://e/s> <http://e/p> <http://e/o>",
        ),
        (
            "D <http://e/s> <http://e/p> <http://e/o> _:g .",
            "D <http://e/s> <http://e/p> <http://e/o> _:g",
        ),
    ] {
        assert_eq!(row(text), shown, "{text}");
    }
}

#[test]
fn terms_may_have_the_abbreviations_of_turtle() {
    let xsd =
        |text: &str, kind: &str| format!("\"{text}\"^^<http://www.w3.org/2001/XMLSchema#{kind}>");
    for (text, kind) in [
        ("1", "integer"),
        ("-07", "integer"),
        ("+1", "integer"),
        ("1.50", "decimal"),
        (".5", "decimal"),
        ("-.5", "decimal"),
        ("1e0", "double"),
        ("1.E3", "double"),
        ("1.5e-3", "double"),
        ("true", "boolean"),
        ("false", "boolean"),
    ] {
        assert_eq!(object(text), xsd(text, kind));
    }
    for (text, expected) in [
        ("'a'", "\"a\""),
        ("'it is \"so\"'@en", "\"it is \\\"so\\\"\"@en"),
        ("''", "\"\""),
        ("\"\"", "\"\""),
        ("\"\"\"a\n\"b\" \"\"c\"\"\"", "\"a\\n\\\"b\\\" \\\"\\\"c\""),
        ("'''\\u00e9''\\t'''", "\"é''\\t\""),
        ("\"\"\"\"\"\"", "\"\""),
        ("\"x\"@he--rtl", "\"x\"@he--rtl"),
        ("_:b.c", "_:b.c"),
        ("<_:b.c>", "_:b.c"),
        ("<_:a:b/c>", "_:_gx613a622f63"),
        ("<_:\\u0061>", "_:a"),
        (
            "<<( <a:> <b:> <<( _:a <b:> 1 )>> )>>",
            "<<( <a:> <b:> <<( _:a <b:> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> )>> )>>",
        ),
        ("<< <a:> <b:> <_:c> >>", "<<( <a:> <b:> _:c )>>"),
    ] {
        assert_eq!(object(text), expected, "{text}");
    }
}

#[test]
fn prefixed_names_use_the_prefixes_of_earlier_rows() {
    let log = "PA ex <http://e/> .\nPA \"\" \"http://f/\" .\nA ex:a ex: :b\\,c%20.d.\n\
        A ex:a ex:p '1'^^ex:t :g .\nPA ex <http://n/> .\nZ .\nA ex:é ex:a.b ex:_1:2 .\nPD ex .\nA ex:a :b :c .";
    let outcome = read(log);
    let rows: Vec<&str> = outcome.patches[0].iter().map(String::as_str).collect();
    assert_eq!(
        rows[2..4],
        [
            "A <http://e/a> <http://e/> <http://f/b,c%20.d>",
            "A <http://e/a> <http://e/p> \"1\"^^<http://e/t> <http://f/g>",
        ]
    );
    let error = outcome.error.unwrap();
    assert_eq!(
        error.reason.to_string(),
        "the prefix 'ex' of 'ex:a' is not declared; declare it with PA in an earlier row"
    );
    assert_eq!(error.position.line_column, Some((9, 3)));
    assert_eq!(error.position.message_index, Some(1));
    let last = patches("PA ex <http://n/> . Z . A ex:é ex:a.b ex:_1:2 .");
    assert_eq!(last[1], ["A <http://n/é> <http://n/a.b> <http://n/_1:2>"]);
}

#[test]
fn rows_may_begin_anywhere_and_span_lines() {
    let log = format!(
        "# first\r\n\r\n  TX.A {Q}.D\t{Q} # the object\n  <http://e/g> # the graph\r.# end\nTC\n\n.#last"
    );
    assert_eq!(
        patches(&log),
        [[
            "TX".to_owned(),
            format!("A {Q}"),
            format!("D {Q} <http://e/g>"),
            "TC".to_owned()
        ]]
    );
    assert_eq!(patches("# nothing"), Vec::<Vec<String>>::new());
    assert_eq!(patches(" \n\t"), Vec::<Vec<String>>::new());
}

#[test]
fn the_dot_after_prev_is_optional_for_rdflib() {
    assert_eq!(
        patches("H id <a:> .\nH prev <b:>\nTX .\nH prev <b:>\n # comment\nTC.\nH a 1\n."),
        [
            vec!["H \"id\" <a:>", "H \"prev\" <b:>", "TX"],
            vec!["H \"prev\" <b:>", "TC"],
            vec!["H \"a\" \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>"],
        ]
    );
    assert_eq!(
        error_and_position("H id <a:> TX ."),
        ("expected '.' after the header, found 'TX'".into(), (1, 11))
    );
    let error = read("H prev <b:>\n").error.unwrap();
    assert_eq!(error.class, ErrorClass::Truncated);
}

#[test]
fn segments_and_late_headers_end_patches() {
    let empty: &[&str] = &[];
    for (log, actual) in [
        ("", vec![]),
        ("Z .", vec![empty]),
        ("Z.Z.", vec![empty, empty]),
        ("TX .", vec![&["TX"][..]]),
        ("TX . Z .", vec![&["TX"]]),
        ("TX . Z . Z .", vec![&["TX"], empty]),
        ("Z . TX .", vec![empty, &["TX"]]),
        (
            "H a <b:> . H c <d:> . TX . H e <f:> . H g <h:> .",
            vec![
                &["H \"a\" <b:>", "H \"c\" <d:>", "TX"],
                &["H \"e\" <f:>", "H \"g\" <h:>"],
            ],
        ),
        (
            "TX . Z . H e <f:> . Z . H g <h:> .",
            vec![&["TX"], &["H \"e\" <f:>"], &["H \"g\" <h:>"]],
        ),
    ] {
        assert_eq!(patches(log), actual, "{log}");
    }
    let outcome = read("  TX . H a <b:> .\n Z . # x\n Z .");
    assert_eq!(outcome.positions, [2, 7, 28]);
}

#[test]
fn a_patch_may_end_inside_a_transaction() {
    let log = "H id <uuid:1> .\nTX .\nA <a:> <b:> <c:> .";
    assert_eq!(patches(log)[0].len(), 3);
    let log = "TX . A <a:> <b:> <c:> . TA . TX .";
    assert_eq!(patches(log), [["TX", "A <a:> <b:> <c:>", "TA", "TX"]]);
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn errors_contain_cause_and_position() {
    for (log, reason, place) in [
        (
            "TX .\nXX <a:> .\nTC .",
            "expected a row that begins with H, TX, TC, TA, PA, PD, A, D or Z, found 'XX'",
            (2, 1),
        ),
        (
            "tx .\n",
            "expected a row that begins with H, TX, TC, TA, PA, PD, A, D or Z, found 'tx'; row codes are upper case",
            (1, 1),
        ),
        (
            "TX .\n.\n",
            "expected a row that begins with H, TX, TC, TA, PA, PD, A, D or Z, found '.'",
            (2, 1),
        ),
        (
            "A <a:> <b:> .\n",
            "expected an IRI, a blank node, a literal or a triple term as the object, found '.'",
            (1, 13),
        ),
        (
            "A <a:> <b:> \"1\" <c:> <d:> .\n",
            "expected '.' after the graph name, found '<d:>'",
            (1, 22),
        ),
        (
            "TX .\nA <a:> <b:> \"1\"\nTC .\n",
            "expected '.' after the object, or a graph name, found 'TC'",
            (3, 1),
        ),
        (
            "PA ex: <a:> .\n",
            "expected the name of a prefix without a colon, found 'ex:'",
            (1, 4),
        ),
        (
            "PA <a:> .\n",
            "expected the name of a prefix, a word or a string, found '<a:>'",
            (1, 4),
        ),
        (
            "PA ex ex .\n",
            "expected the IRI of the prefix, in angle brackets or as a string, found 'ex'",
            (1, 7),
        ),
        (
            "PA ex <_:b> .\n",
            "expected the IRI of the prefix, in angle brackets or as a string, found '<_:b>'",
            (1, 7),
        ),
        (
            "PA ex \"rel/\" .\nA ex:a ex:b ex:c .\n",
            "expected an absolute IRI, found 'rel/a'",
            (2, 3),
        ),
        (
            "PA ex \"not an <iri> \" .\n",
            "expected only characters that are allowed in an IRI, found 'not an <iri> '",
            (1, 7),
        ),
        (
            "PA ex <a:> ? .\n",
            "expected '.' after the prefix, found '?'",
            (1, 12),
        ),
        (
            "H id .\n",
            "expected an IRI, a blank node, a literal or a triple term, found '.'",
            (1, 6),
        ),
        ("Z <a:> .\n", "expected '.' after Z, found '<a:>'", (1, 3)),
        ("TX <a:> .\n", "expected '.' after TX, found '<a:>'", (1, 4)),
        (
            "A <a> <b:> <c:> .\n",
            "expected an absolute IRI, found 'a'",
            (1, 4),
        ),
        (
            "A <a:> <b:> \"a\nb\" .\n",
            "the string is not closed on its line; expected '\"' (write a line break in a string as \\n)",
            (1, 15),
        ),
        (
            "A <a:> <b:> 'a\nb' .\n",
            "the string is not closed on its line; expected a quote (write a line break in a string as \\n)",
            (1, 15),
        ),
        (
            "A <a:> <b:> <c d> .\n",
            "expected an IRI character or '>', found ' ', which is not allowed in an IRI",
            (1, 15),
        ),
        (
            "A <a:> <b:> <_:> .\n",
            "expected a blank node label after '<_:', found '>'",
            (1, 16),
        ),
        (
            "A <a:> <b:> 1x .\n",
            "expected '.' after the object, or a graph name, found 'x'",
            (1, 14),
        ),
        (
            "A <a:> <b:> truest .\n",
            "expected an IRI, a blank node, a literal or a triple term as the object, found 'truest'",
            (1, 13),
        ),
    ] {
        let (actual, index) = error_and_position(log);
        assert_eq!(index, place, "{log}: {actual}");
        assert_eq!(actual.split("; use ").next(), Some(reason), "{log}");
    }
    assert_eq!(
        error("TX .\nXX ."),
        "rdf-patch: expected a row that begins with H, TX, TC, TA, PA, PD, A, D or Z, found 'XX' (line 2, \
         column 1, byte 5, message 0)"
    );
}

#[test]
fn a_log_that_ends_inside_a_row_is_truncated() {
    for log in [
        "TX .\nTC",
        "A <a:> <b:> <c:>",
        "A <a:> <b:> \"1",
        "A <a:> <b:> '''1''",
        "A <a:> <b",
        "A <a:>",
        "PA ex",
        "H",
        "H id <a:>\n",
        "A <a:> <b:> <<( <a:>",
        "Z",
        "A <a:> <b:> <c:> # .",
    ] {
        let outcome = read(log);
        let error = outcome.error.unwrap();
        assert_eq!(error.class, ErrorClass::Truncated, "{log}: {error}");
        assert_eq!(error.position.byte_offset, Some(log.len() as u64), "{log}");
    }
    // Complete patches precede the error.
    let outcome = read("TX .\nZ .\nTC .\nA <a:>");
    assert_eq!(outcome.patches, [["TX"]]);
    assert_eq!(outcome.error.unwrap().position.message_index, Some(1));
}

#[test]
fn invalid_utf_8_is_an_error_at_its_byte() {
    let outcome = read_as(
        TEXT,
        &Options::default(),
        b"TX .\nZ .\nA <a:> <b:> \"\xff\" .\nZ .\n",
    );
    assert_eq!(outcome.patches, [["TX"]]);
    let error = outcome.error.unwrap();
    assert_eq!(
        error.reason.to_string(),
        "invalid UTF-8; the log must be UTF-8 text"
    );
    assert_eq!(error.position.line_column, Some((3, 14)));
    let cut = read_as(TEXT, &Options::default(), b"A <a:> <b:> \"\xc3");
    assert_eq!(cut.error.unwrap().position.byte_offset, Some(13));
}

#[test]
fn lenient_accepts_the_listed_deviations() {
    let lenient = Options::with("lenient", true);
    let log = "\u{feff}A <a> <b> <c\\u0020d> .\nA <a> <b> \"x\"@toolonglong .";
    let outcome = read_as(TEXT, &lenient, log.as_bytes());
    assert_eq!(outcome.error, None);
    assert_eq!(
        outcome.patches,
        [[
            "A <a> <b> <c\\u0020d>",
            "A <a> <b> \"x\"@x-gx-746f6f6c-6f6e676c-6f6e67"
        ]]
    );
}

#[test]
fn rows_patches_depth_and_prefixes_are_limited() {
    let limit = |options: Options, log: &str, reason: &str| {
        let error = read_as(TEXT, &options, log.as_bytes()).error.unwrap();
        assert_eq!(error.class, ErrorClass::Limit, "{error}");
        assert_eq!(error.reason.to_string().split(';').next(), Some(reason));
    };
    let small = || Options::with("max_message_bytes", 300u64);
    let long = format!("A <a:> <b:> \"{}\" .", "x".repeat(400));
    limit(small(), &long, "the row is longer than 300 bytes");
    let open = format!("A <a:> <b:> \"\"\"{}", "x\n".repeat(40_000));
    limit(small(), &open, "the row is longer than 300 bytes");
    let many = "A <a:> <b:> <c:> .".repeat(9);
    limit(small(), &many, "the patch is larger than 300 decoded bytes");
    let prefix = format!("PA a <http://{}> .\nA a: a: a: .", "x".repeat(100));
    limit(
        small(),
        &prefix,
        "the patch is larger than 300 decoded bytes",
    );
    let prefixes = ["a", "b", "c", "d", "e", "f", "g", "h"]
        .map(|name| format!("PA {name} <http://e/> . Z ."))
        .concat();
    limit(
        small(),
        &prefixes,
        "the prefixes in force take more than 300 bytes of memory",
    );
    let deep = format!("A <a:> <b:> {}", "<<( <a:> <b:> ".repeat(70));
    limit(
        Options::default(),
        &deep,
        "triple terms are nested deeper than 64 levels",
    );
}

#[test]
fn reading_resumes_after_the_next_segment() {
    let log =
        "TX .\nZ .\nA <a:> <b:> <c:> .\nXX .\n Z. TC .\nZ .\nA <a:> Z .\nZZ .\n\nZ\t. TA . H a 1 .";
    for size in [1, 3, log.len()] {
        let mut decoder = decoder(TEXT, &Options::default()).unwrap();
        let mut pieces = log.as_bytes().chunks(size);
        let (mut actual, mut skipped) = (Vec::new(), Vec::new());
        let mut finished = false;
        let feed = |decoder: &mut dyn Decoder, pieces: &mut std::slice::Chunks<'_, u8>| {
            pieces.next().map(|piece| decoder.feed(piece)).is_none()
        };
        loop {
            match decoder.next_batch_of::<Operation>() {
                Ok(Some(batch)) => {
                    for patch in 0..batch.len() {
                        let index = batch.first_message_index() + patch as u64;
                        actual.push((index, render(&batch, &batch.message(patch)[0])));
                    }
                }
                Ok(None) if finished => break,
                Ok(None) => {
                    finished = feed(&mut *decoder, &mut pieces);
                    if finished {
                        decoder.finish();
                    }
                }
                Err(_) => loop {
                    if let Some(bytes) = decoder.skip_message().unwrap() {
                        skipped.push(String::from_utf8(bytes).unwrap());
                        break;
                    }
                    if feed(&mut *decoder, &mut pieces) {
                        finished = true;
                        decoder.finish();
                    }
                },
            }
        }
        let indices: Vec<(u64, &str)> = actual
            .iter()
            .map(|(position, row)| (*position, row.as_str()))
            .collect();
        assert_eq!(
            indices,
            [
                (0, "TX"),
                (2, "TC"),
                (4, "TA"),
                (
                    5,
                    "H \"a\" \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>"
                )
            ]
        );
        assert_eq!(
            skipped,
            ["A <a:> <b:> <c:> .\nXX .\n Z.", "A <a:> Z .\nZZ .\n\nZ\t."]
        );
    }
}

#[test]
fn output_contains_no_abbreviations() {
    let log = "H ID 1 .\nH \"two words\" 'x' .\nTB .\nPA ex <http://e/> .\nPA \"\" \"http://f/\" <a:g> .\n\
        A <_:a:b> ex:p 1.50 .\nD _:b ex:p '''a\n''' <a:g> .\nPD ex .\nPD '' <a:g> .\nTC.";
    assert_eq!(
        written(log),
        "H ID \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\nH \"two words\" \"x\" .\nTX .\n\
         PA \"ex\" \"http://e/\" .\nPA \"\" \"http://f/\" <a:g> .\n\
         A <_:a:b> <http://e/p> \"1.50\"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n\
         D <_:b> <http://e/p> \"a\\n\" <a:g> .\nPD \"ex\"  .\nPD \"\" <a:g> .\nTC .\n"
    );
}

#[test]
fn segments_separate_patches_and_follow_an_empty_last_patch() {
    for (log, out) in [
        ("", ""),
        ("TX . Z .", "TX .\n"),
        ("TX . Z . TC .", "TX .\nZ .\nTC .\n"),
        ("TX . H a <b:> .", "TX .\nZ .\nH a <b:> .\n"),
        ("Z .", "Z .\n"),
        ("Z . Z .", "Z .\nZ .\n"),
        ("Z . TX .", "Z .\nTX .\n"),
        ("TX . Z . Z .", "TX .\nZ .\nZ .\n"),
    ] {
        assert_eq!(written(log), out, "{log}");
        assert_eq!(patches(out), patches(log));
    }
}

/// A batch of two patches: one that only begins a transaction, and one with the given codes. A
/// header has a name and an IRI.
fn patch(codes: &[OperationCode]) -> PatchBatch {
    let mut builder = PatchBuilder::new(Limits::default());
    builder.begin_message(0);
    builder.add(Operation::bare(OperationCode::Begin)).unwrap();
    builder.end_message();
    builder.begin_message(0);
    for (index, &code) in codes.iter().enumerate() {
        let name = format!("n{index}");
        let name = builder
            .add_simple(TermKind::Literal, name.as_bytes(), 1)
            .unwrap();
        let iri = builder.add_simple(TermKind::Iri, b"a:", 1).unwrap();
        let mut operation = Operation::bare(code);
        if code == OperationCode::Header {
            (operation.name, operation.object) = (name, iri);
        }
        builder.add(operation).unwrap();
    }
    builder.end_message();
    builder.take().unwrap()
}

#[test]
fn a_header_inside_a_patch_is_rejected_or_moved_to_the_front() {
    use OperationCode::{Begin, Commit, Header};
    let batch = patch(&[Header, Begin, Header, Commit, Header]);
    for format in [TEXT, THRIFT] {
        let (out, error, _) = write(format, &Options::default(), std::slice::from_ref(&batch));
        let error = error.unwrap();
        assert_eq!(
            (error.class, error.message_index),
            (ErrorClass::Unsupported, 1)
        );
        let remedies = error.reason.remedies();
        assert_eq!(remedies[0].option, "headers_first");
        assert_eq!(read_as(format, &Options::default(), &out).patches, [["TX"]]);

        let moved = Options::with("headers_first", true);
        let (out, error, dropped) = write(format, &moved, std::slice::from_ref(&batch));
        assert_eq!((error, dropped), (None, vec![("header positions", 2)]));
        let actual = read_as(format, &Options::default(), &out);
        assert_eq!(
            actual.patches[1],
            [
                "H \"n0\" <a:>",
                "H \"n2\" <a:>",
                "H \"n4\" <a:>",
                "TX",
                "TC"
            ]
        );
    }
}

#[test]
fn an_iri_that_looks_like_a_blank_node_is_rejected() {
    let mut builder = PatchBuilder::new(Limits::default());
    builder.begin_message(0);
    let iri = builder.add_simple(TermKind::Iri, b"_:b", 1).unwrap();
    let quad = Quad {
        subject: iri,
        predicate: iri,
        object: iri,
        graph: TermId::DEFAULT_GRAPH,
    };
    builder
        .add(Operation::new(OperationCode::Add, quad))
        .unwrap();
    builder.end_message();
    let batch = [builder.take().unwrap()];
    for format in [TEXT, THRIFT] {
        let (out, error, _) = write(format, &Options::default(), &batch);
        let error = error.unwrap().to_string();
        assert!(
            error.contains("read the IRI '_:b' as a blank node"),
            "{error}"
        );
        assert_eq!(out, b"");
    }
}

#[test]
fn names_of_the_default_graph_are_replaced_when_read_and_rejected_when_written() {
    for name in ["urn:x-arq:DefaultGraph", "urn:x-arq:DefaultGraphNode"] {
        let log = format!(
            "A {Q} <{name}> .\nD {Q} <{name}>.\nA {Q} <{name}> . # a comment\n\
             PA ex <http://e/> <{name}> .\nPD ex <{name}> .\n"
        );
        let rows = [
            row(&format!("A {Q} .")),
            row(&format!("D {Q} .")),
            row(&format!("A {Q} .")),
            row("PA ex <http://e/> ."),
            row("PD ex ."),
        ];
        assert_eq!(patches(&log), [rows]);
        // In other positions the name is an IRI, as is a longer name in the graph position.
        let log = format!("A <{name}> <{name}> <{name}> <{name}s> .\n");
        assert_eq!(
            patches(&log),
            [[format!("A <{name}> <{name}> <{name}> <{name}s>")]]
        );

        let mut builder = PatchBuilder::new(Limits::default());
        builder.begin_message(0);
        let other = builder.add_simple(TermKind::Iri, b"a:", 1).unwrap();
        let graph = builder.add_simple(TermKind::Iri, name.as_bytes(), 1);
        let quad = Quad {
            subject: other,
            predicate: other,
            object: other,
            graph: graph.unwrap(),
        };
        builder
            .add(Operation::new(OperationCode::Add, quad))
            .unwrap();
        builder.end_message();
        let batch = [builder.take().unwrap()];
        for format in [TEXT, THRIFT] {
            let (out, error, _) = write(format, &Options::default(), &batch);
            let error = error.unwrap().to_string();
            assert!(
                error.contains(&format!("read the IRI '{name}' as the default graph")),
                "{error}"
            );
            assert_eq!(out, b"");
        }
    }
}

#[test]
fn the_iri_of_a_prefix_is_checked_unless_lenient() {
    let lenient = Options::with("lenient", true);
    // A relative IRI is accepted if no name uses the prefix.
    assert_eq!(written("PA ex 'rel/' ."), "PA \"ex\" \"rel/\" .\n");
    let log = b"PA ex 'rel/' .\nA ex:a ex:a ex:a .\n";
    assert_eq!(
        read_as(TEXT, &lenient, log).patches[0][1],
        "A <rel/a> <rel/a> <rel/a>"
    );
    for iri in ["rel/", "a:b c"] {
        let log = format!("PA \"ex\" \"{iri}\" .\n");
        let actual = read_as(TEXT, &lenient, log.as_bytes());
        assert_eq!(actual.error, None);
        assert_eq!(actual.patches.len(), 1);
        let (_, batches) = decode(TEXT, &lenient, log.as_bytes(), log.len());
        let (out, error, _) = write(TEXT, &lenient, &batches);
        assert_eq!((error, out), (None, log.into_bytes()));
    }
    let (_, batches) = decode(TEXT, &lenient, b"PA ex \"a:b c\" .\n", 20);
    let (out, error, _) = write(TEXT, &Options::default(), &batches);
    assert_eq!(
        error.unwrap().reason.text(),
        "the IRI 'a:b c' contains characters that are not allowed in an IRI"
    );
    assert_eq!(out, b"");
}

#[test]
fn thrift_and_text_are_equivalent() {
    let log = "H id <uuid:1> .\nTX .\nPA ex <http://e/> .\nPA \"\" \"_:x\" _:g .\nA _:a ex:p 1 <a:g> .\n\
        D <<( <a:> <b:> \"x\"@he--rtl )>> ex:p \"\" .\nPD ex .\nTC .\nZ .\nZ .\nTX .\nTA .\nZ .\nZ .";
    let batches = batches(log);
    let (thrift, error, _) = write(THRIFT, &Options::default(), &batches);
    assert_eq!(error, None);
    let (_, reread) = decode(THRIFT, &Options::default(), &thrift, thrift.len());
    let (text, error, _) = write(TEXT, &Options::default(), &reread);
    assert_eq!(error, None);
    assert_eq!(String::from_utf8(text).unwrap(), written(log));
    let actual = read_as(THRIFT, &Options::default(), &thrift);
    assert_eq!((actual.error, actual.patches), (None, patches(log)));
}

#[test]
fn errors_in_thrift_contain_cause_and_position() {
    let default = Options::default();
    for (bytes, class, reason, offset) in [
        (
            &[0x65, 0, 0, 0x65][..],
            ErrorClass::Truncated,
            "the log ends inside a row",
            3,
        ),
        (
            &[0x65, 8, 0],
            ErrorClass::Malformed,
            "not an RDF Patch file in Thrift (or truncated); if it is in another format, name that format",
            0,
        ),
        (
            &[0x65, 0, 0, 0x65, 8, 0],
            ErrorClass::Malformed,
            "expected the number of TX, TC, TA or a segment (0 to 3), found 4",
            3,
        ),
        (
            &[0x65, 0, 0, 0x65, 0, 0x05, 12, 0, 0],
            ErrorClass::Malformed,
            "the row is ambiguous: two fields of a union are set",
            3,
        ),
        (
            &[0x65, 0, 0, 0],
            ErrorClass::Malformed,
            "the row is not set",
            3,
        ),
        (
            &[0x65, 0, 0, 0x1c, 0x18, 1, b'a', 0, 0],
            ErrorClass::Malformed,
            "the name or value of a header is not set",
            3,
        ),
        (
            &[0x65, 0, 0, 0x4c, 0x28, 1, b'a', 0, 0],
            ErrorClass::Malformed,
            "the IRI of a prefix is not set",
            3,
        ),
        (
            &[0x65, 0, 0, 0x5c, 0x18, 1, b'a', 0, 0],
            ErrorClass::Malformed,
            "field 1 of the prefix has type 8, expected 12",
            3,
        ),
        (
            &[0x65, 0, 0, 0x5c, 0, 0],
            ErrorClass::Malformed,
            "the name of a prefix is not set",
            3,
        ),
        (
            &[0x65, 0, 0, 0x2c, 0, 0],
            ErrorClass::Malformed,
            "a statement has no subject",
            3,
        ),
        (
            &[0x65, 0, 0, 0x5c, 0x28, 1, 0xff, 0, 0],
            ErrorClass::Malformed,
            "a name is not valid UTF-8",
            3,
        ),
    ] {
        let error = read_as(THRIFT, &default, bytes).error.unwrap();
        let actual = error.reason.to_string();
        assert!(actual.starts_with(reason), "{bytes:?}: {actual}");
        assert_eq!(
            (error.class, error.position.byte_offset),
            (class, Some(offset)),
            "{bytes:?}"
        );
        assert_eq!(error.position.message_index, Some(0));
    }
    let small = Options::with("max_message_bytes", 64u64);
    let mut long = vec![0x1c, 0x18, 0xff, 0x7f];
    long.extend([b'a'; 100]);
    let error = read_as(THRIFT, &small, &long).error.unwrap();
    assert_eq!(error.class, ErrorClass::Limit);
    assert_eq!(
        error.reason.to_string().split(';').next(),
        Some("a row is larger than 64 bytes")
    );
}

#[test]
fn unknown_fields_in_thrift_are_skipped() {
    // A row with a string in field 9 in addition to the transaction, and a header with a byte in
    // field 3.
    let bytes = [
        &[0x65, 0, 0x38, 1, b'x', 0][..],
        &[
            0x1c, 0x18, 1, b'n', 0x1c, 0x1c, 0x18, 2, b'a', b':', 0, 0, 0x13, 7, 0, 0,
        ],
    ]
    .concat();
    let outcome = read_as(THRIFT, &Options::default(), &bytes);
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.patches, [["TX"], ["H \"n\" <a:>"]]);
}

#[test]
fn parts_are_written_as_one_patch() {
    let log = format!(
        "H id <uuid:1> .\nTX .\n{}TC .\nZ .\nTX .",
        "A <a:> <b:> 'c' .\n".repeat(40)
    );
    for format in [TEXT, THRIFT] {
        let whole = batches(&log);
        let (bytes, error, _) = write(format, &Options::default(), &whole);
        assert_eq!(error, None);
        let parts = Options::with("batch_quads", 7u64).parts(true);
        let (outcome, cut) = decode(format, &parts, &bytes, 10);
        assert_eq!(outcome.error, None);
        assert!(cut.len() > 4, "{}", cut.len());
        let (second, error, _) = write(format, &Options::default(), &cut);
        assert_eq!((second, error), (bytes, None));
    }
}

#[test]
#[ignore = "reads suites"]
fn real_jena_and_rdflib_files_are_read() {
    let Some(manifest) = shared("conformance/jena/manifest.json") else {
        return;
    };
    let text = String::from_utf8(manifest).unwrap();
    let entries: Vec<&str> = text.split("\"file\": \"").skip(1).collect();
    let value = |entry: &str, key: &str| {
        let index = entry.find(&format!("\"{key}\": \""))?;
        entry[index..].split('"').nth(3).map(str::to_owned)
    };
    let mut count = 0;
    for entry in entries {
        let file = entry.split('"').next().unwrap();
        let format = match value(entry, "format").as_deref() {
            Some("rdfp") => TEXT,
            Some("trp") => THRIFT,
            _ => continue,
        };
        count += 1;
        let data = shared(&format!("conformance/jena/{file}")).unwrap();
        let outcome = read_as(format, &Options::default(), &data);
        // Jena differs from rdfm for prefixed names, for a header after rows, and for a log that
        // ends inside a row.
        let other = ["prefixed-names", "header-late", "truncated"];
        let is_rejected = entry.contains("\"error\": ") || file.contains("error");
        assert_eq!(outcome.error.is_some(), is_rejected, "{file}: {outcome:?}");
        let Some(expected) = value(entry, "expected_patch") else {
            continue;
        };
        if is_rejected || other.iter().any(|name| file.contains(name)) {
            continue;
        }
        let expected = shared(&format!("conformance/jena/{expected}")).unwrap();
        let expected = read_as(TEXT, &Options::default(), &expected);
        assert_eq!(expected.error, None, "{file}");
        assert_eq!(outcome.patches, expected.patches, "{file}");
    }
    assert!(count >= 19, "{count}");
}

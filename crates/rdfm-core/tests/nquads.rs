//! The decoder of N-Triples and N-Quads: accepted input, errors, and the laws of a decoder.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

use std::fmt::Write as _;

use crate::support::{Options, Outcome, decode, decode_every_way, decoder};
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::formats::nquads::parse_term;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::term::Quad;
use rdfm_core::model::write::write_term;

fn nq(log: &str) -> Outcome {
    decode_every_way("nq", &Options::default(), log.as_bytes())
}

fn with(options: &Options, log: &str) -> Outcome {
    decode_every_way("nq", options, log.as_bytes())
}

fn lenient() -> Options {
    Options::with("lenient", true)
}

fn generalized() -> Options {
    Options::with("generalized", true)
}

/// Returns the options in the remedies of the error.
fn remedies(outcome: &Outcome) -> Vec<&'static str> {
    let reason = &outcome.error.as_ref().expect("an error").reason;
    let remedies = reason.remedies().iter();
    remedies.map(|remedy| remedy.option).collect()
}

fn error(outcome: &Outcome) -> String {
    outcome.error.as_ref().expect("an error").to_string()
}

/// Returns the only quad of a line.
fn quad(options: &Options, line: &str) -> String {
    let outcome = with(options, line);
    assert_eq!(outcome.error, None, "{line}");
    assert_eq!(outcome.messages.len(), 1, "{line}");
    assert_eq!(outcome.messages[0].len(), 1, "{line}");
    outcome.messages[0][0].clone()
}

const Q: &str = "<http://e/s> <http://e/p> <http://e/o> .";

#[test]
fn terms_of_every_kind_are_read() {
    for (line, written) in [
        (Q, Q),
        (
            "<http://e/s><http://e/p>\"o\".",
            "<http://e/s> <http://e/p> \"o\" .",
        ),
        ("\t_:a\t<p:>\t_:b.c\t<g:>\t.\t#x", "_:a <p:> _:b.c <g:> ."),
        ("_:é <p:> _:1-\u{b7} _:g.", "_:é <p:> _:1-\u{b7} _:g ."),
        (
            "<s:> <p:> \"a\\u00e9\"^^<d:\\u00e9x> .",
            "<s:> <p:> \"aé\"^^<d:éx> .",
        ),
        (
            "<s:> <p:> \"a\\tb\\u00e9\\U0001F600\\\"\\\\\" .",
            "<s:> <p:> \"a\\tbé😀\\\"\\\\\" .",
        ),
        ("<s:> <p:> \"tab\there\" .", "<s:> <p:> \"tab\\there\" ."),
        (
            "<s:> <p:> \"\u{7f}\u{ffff}\u{ff01}\" .",
            "<s:> <p:> \"\\u007F\\uFFFF\u{ff01}\" .",
        ),
        ("<s:> <p:> \"x\"@en-GB .", "<s:> <p:> \"x\"@en-GB ."),
        ("<s:> <p:> \"x\"@ar--rtl.", "<s:> <p:> \"x\"@ar--rtl ."),
        ("<s:> <p:> \"x\"^^<d:t> .", "<s:> <p:> \"x\"^^<d:t> ."),
        (
            "<s:> <p:> \"x\"^^<http://www.w3.org/2001/XMLSchema#string> .",
            "<s:> <p:> \"x\" .",
        ),
        ("<http://e/\\u00e9> <p:> \"\" .", "<http://e/é> <p:> \"\" ."),
        (
            "<s:> <p:> <<(_:a<p:>\"x\"@en)>>.",
            "<s:> <p:> <<( _:a <p:> \"x\"@en )>> .",
        ),
        (
            "<s:> <p:> <<( <a:> <p:> <<( <b:> <p:> <c:> )>> )>> <g:> .",
            "<s:> <p:> <<( <a:> <p:> <<( <b:> <p:> <c:> )>> )>> <g:> .",
        ),
    ] {
        assert_eq!(quad(&Options::default(), line), written, "{line}");
    }
}

#[test]
fn generalized_terms_need_the_option() {
    for line in [
        "\"x\"@en <p:> <o:> .",
        "_:a _:b _:c \"g\" .",
        "<s:> \"p\" <o:> .",
        "<<( <a:> <b:> <c:> )>> <p:> <o:> .",
        "<s:> <p:> <<( \"a\" _:b <c:> )>> .",
        "<s:> <p:> <o:> <<( <a:> <b:> <<( <c:> <d:> <e:> )>> )>> .",
    ] {
        assert_eq!(quad(&generalized(), line), line);
        assert_eq!(remedies(&nq(line)), ["generalized"], "{line}");
    }
    let star = "<< <a:> <b:> <<<c:> <d:> <e:>>> >> <p:> <o:> .";
    assert_eq!(
        quad(&generalized(), star),
        "<<( <a:> <b:> <<( <c:> <d:> <e:> )>> )>> <p:> <o:> ."
    );
    let outcome = nq("<s:> <p:> << <a:> <b:> <c:> >> .");
    assert_eq!(remedies(&outcome), ["generalized"]);
    assert_eq!(outcome.error.unwrap().class, ErrorClass::Unsupported);
}

#[test]
fn errors_contain_position_and_remedy() {
    for (log, text) in [
        (
            "MESSAGE\n",
            "nq: MESSAGE in a log that does not announce messages; expected VERSION \"1.2-messages\" before it \
             (line 1, column 1, byte 0, message 0)",
        ),
        (
            "# x\r\n<s:> <p:> \"é\" <g:> <h:> .",
            "nq: expected '.' after the graph name, found '<h:>' (line 2, column 20, byte 25, message 0)",
        ),
        (
            "# CR 7\r\n \u{1d}\n",
            "nq: expected a statement, MESSAGE, VERSION or a comment, found '\\u001D' (line 2, column 2, byte 9, message 0)",
        ),
        (
            "<s:> <p:> .",
            "nq: expected an IRI, a blank node, a literal or a triple term as the object, found '.' (line 1, column 11, byte 10, message 0)",
        ),
        (
            "<s:> <p:> <o:>",
            "nq: expected '.' after the object, or a graph name, found the end of the input (line 1, column 15, byte 14, message 0)",
        ),
        (
            "<s:> <p:> <o:> . <s:>",
            "nq: expected the end of the line after the statement, found '<s:>' (line 1, column 18, byte 17, message 0)",
        ),
        (
            "<s:> <p> <o:> .",
            "nq: expected an absolute IRI, found 'p' (line 1, column 7, byte 6, message 0)",
        ),
        (
            "<s:> <p:> <o\n",
            "nq: expected '>' at the end of the IRI, found the end of the line (line 1, column 13, byte 12, message 0)",
        ),
        (
            "<s: > <p:> <o:> .",
            "nq: expected an IRI character or '>', found ' ', which is not allowed in an IRI (line 1, column 4, byte 3, message 0)",
        ),
        (
            "<s:> <p:> \"o\r",
            "nq: the string is not closed on its line; expected '\"' (write a line break in a string as \\n) (line 1, column 13, byte 12, message 0)",
        ),
        (
            "<s:> <p:> \"\\q\" .",
            "nq: expected \\t \\b \\n \\r \\f \\\" \\' \\\\ \\uXXXX or \\UXXXXXXXX, found '\\q' (line 1, column 12, byte 11, message 0)",
        ),
        (
            "<s:> <p:> \"\\ud800\" .",
            "nq: expected an escape of a character (up to U+10FFFF, no surrogates), found '\\ud800' (line 1, column 12, byte 11, message 0)",
        ),
        (
            "<s:> <p:> \"\\U00110000\" .",
            "nq: expected an escape of a character (up to U+10FFFF, no surrogates), found '\\U00110000' (line 1, column 12, byte 11, message 0)",
        ),
        (
            "<s:> <p:> \"x\"@en--LTR .",
            "nq: expected a base direction (--ltr or --rtl), found '--LTR' (line 1, column 17, byte 16, message 0)",
        ),
        (
            "junk\n",
            "nq: expected a statement, MESSAGE, VERSION or a comment, found 'junk' (line 1, column 1, byte 0, message 0)",
        ),
        (
            "MESSAGEs\n",
            "nq: expected a statement, MESSAGE, VERSION or a comment, found 'MESSAGEs' (line 1, column 1, byte 0, message 0)",
        ),
        (
            "VERSION 1.2\n",
            "nq: expected a version label in double quotes after VERSION, found '1.2' (line 1, column 9, byte 8, message 0)",
        ),
    ] {
        assert_eq!(error(&nq(log)), text, "{log}");
    }
    for (log, options) in [
        ("MESSAGE\n", &["lenient", "announced"][..]),
        ("<s:> <p> <o:> .", &["lenient"]),
        ("<s:> <p:> .", &[]),
    ] {
        assert_eq!(remedies(&nq(log)), options, "{log}");
    }
    let graph = decode_every_way("nt", &Options::default(), b"<s:> <p:> <o:> <g:> .");
    assert_eq!(
        error(&graph),
        "nt: expected '.' after the object, found '<g:>'; N-Triples has no graph names \
         (line 1, column 16, byte 15, message 0)"
    );
}

#[test]
fn a_log_that_ends_within_a_statement_is_truncated() {
    for (log, class) in [
        ("<s:> <p:> \"o", ErrorClass::Truncated),
        ("<s:> <p:", ErrorClass::Truncated),
        ("<s:> <p:> <o:>", ErrorClass::Truncated),
        ("<s:> <p:> <o:>\n", ErrorClass::Malformed),
        ("<s:> <p:> <o:> x", ErrorClass::Malformed),
    ] {
        assert_eq!(nq(log).error.unwrap().class, class, "{log:?}");
    }
}

#[test]
fn invalid_lines_are_rejected() {
    for line in [
        "<s:> <p:> \"x\"@en-cantbethislong .",
        "<s:> <p:> \"x\"@ .",
        "<s:> <p:> \"x\"@1 .",
        "<s:> <p:> \"x\"@en- .",
        "<s:> <p:> \"x\"@en--ltrx .",
        "<s:> <p:> \"x\"^<d:> .",
        "<s:> <p:> \"x\"^^d .",
        "<s:> <p:> \"x\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .",
        "<http://e/\\u0020> <p:> <o:> .",
        "<http://e/\\n> <p:> <o:> .",
        "<http://e/\\u00> <p:> <o:> .",
        "<> <p:> <o:> .",
        "<1:> <p:> <o:> .",
        "_: <p:> <o:> .",
        "_:-a <p:> <o:> .",
        "_:a:b <p:> <o:> .",
        "<s:> <p:> <o:> . MESSAGE",
        "<s:> <p:> <o:> <g:> <h:> .",
        "<s:> <p:> <<( <a:> <b:> <c:> )> .",
        "<s:> <p:> <<( <a:> <b:> )>> .",
        "<s:> <p:> <<( <a:> <b:> <c:> <d:> )>> .",
        "_:a <p:> _:b..",
        "message",
        "version \"1.2\"",
    ] {
        assert!(nq(line).error.is_some(), "{line}");
    }
}

#[test]
fn lenient_accepts_the_listed_deviations() {
    assert_eq!(
        quad(&lenient(), "\u{feff}<s> <> \"x\"^^<d> ."),
        "<s> <> \"x\"^^<d> ."
    );
    assert_eq!(
        quad(&lenient(), "<a\\u0020b> <p:> <o:> ."),
        "<a\\u0020b> <p:> <o:> ."
    );
    let long_tag = "<s:> <p:> \"x\"@nottheshortest .";
    assert_eq!(with(&lenient(), long_tag).error, None);
    assert!(with(&lenient(), "<a b> <p:> <o:> .").error.is_some());
    assert!(with(&lenient(), "\"a\" <p:> <o:> .").error.is_some());
    let unannounced = format!("VERSION \"1.1\"\n{Q}\nMESSAGE\nMESSAGE\n{Q}\nMESSAGE\n");
    let counts: Vec<usize> = with(&lenient(), &unannounced)
        .messages
        .iter()
        .map(Vec::len)
        .collect();
    assert_eq!(counts, [1, 0, 1]);
}

#[test]
fn messages_of_both_dialects_are_read() {
    let counts = |options: &Options, log: &str| -> Vec<usize> {
        let outcome = with(options, &log.replace('q', Q));
        assert_eq!(outcome.error, None, "{log}");
        outcome.messages.iter().map(Vec::len).collect()
    };
    let default = Options::default();
    for (log, messages) in [
        ("", vec![]),
        ("# only a comment", vec![]),
        ("\r\n \n\r", vec![]),
        ("q", vec![1]),
        ("q\rq\n\rq\r\n", vec![3]),
        ("q # @message\nq#@message x", vec![1, 1]),
        ("# @message\n# @message\nq", vec![0, 1]),
        ("# x\n\n  # @messages\nq\n", vec![1]),
        ("VERSION \"1.2-messages\"", vec![]),
        (
            "VERSION\"1.2-messages\" # @message\n MESSAGE # x\nq # @message\nq\nMESSAGE\nMESSAGE",
            vec![0, 2, 0],
        ),
        ("q\nVERSION \"1.1-messages\"\nq\nMESSAGE\n", vec![2]),
    ] {
        assert_eq!(counts(&default, log), messages, "{log:?}");
    }
    let announced = Options::with("announced", "1.2-messages");
    assert_eq!(counts(&announced, "MESSAGE\nq\n# @message\nq"), [0, 2]);
    let plain = Options::with("dialect", "plain");
    assert_eq!(counts(&plain, "q\n# @message\nq"), [2]);
    assert!(
        with(&plain, "VERSION \"1.2-messages\"\nMESSAGE")
            .error
            .is_some()
    );
}

#[test]
fn messages_may_use_the_same_labels() {
    let outcome = nq("_:a <p:> _:a .\n# @message\n_:a <p:> _:b .\n");
    assert_eq!(outcome.messages, [["_:a <p:> _:a ."], ["_:a <p:> _:b ."]]);
}

#[test]
fn messages_before_an_error_are_delivered() {
    let log = format!("{Q}\n# @message\n{Q}\n{Q} # @message\n{Q}\nbad\n");
    let outcome = nq(&log);
    assert_eq!(outcome.messages.len(), 2);
    let position = outcome.error.unwrap().position;
    assert_eq!(
        (position.message_index, position.line_column),
        (Some(2), Some((6, 1)))
    );
    // Invalid UTF-8 is reported at its byte.
    let mut log = format!("{Q}\n# @message\n{Q}\n# é").into_bytes();
    log.push(0xff);
    log.extend_from_slice(b"\n");
    let outcome = decode_every_way("nq", &Options::default(), &log);
    assert_eq!(outcome.messages.len(), 1);
    assert_eq!(
        error(&outcome),
        format!(
            "nq: expected UTF-8, found the byte 0xFF (line 4, column 4, byte {}, message 1)",
            log.len() - 2
        )
    );
}

#[test]
fn batches_of_any_size_contain_the_same_messages() {
    let mut log = String::from("VERSION \"1.2-messages\"\n");
    for n in 0..40 {
        for q in 0..n % 7 {
            let value = n * q;
            writeln!(
                log,
                "<http://e/{n}> <http://e/p{q}> \"v{value}\"@en <http://e/g> ."
            )
            .unwrap();
        }
        log.push_str("MESSAGE\n");
    }
    let whole = nq(&log);
    assert_eq!(whole.messages.len(), 40);
    for (quads, messages) in [(1, 1), (2, 2), (7, 7), (3, 8192), (8192, 3)] {
        for parts in [false, true] {
            let options = Options::default()
                .parts(parts)
                .and("batch_quads", quads)
                .and("batch_messages", messages);
            assert_eq!(with(&options, &log), whole, "{quads} {messages} {parts}");
        }
    }
}

#[test]
fn a_message_larger_than_a_batch_is_read_in_parts() {
    let log = format!("{Q}\n").repeat(20);
    let options = Options::default()
        .parts(true)
        .and("batch_quads", 8)
        .and("max_message_bytes", 500);
    let mut decoder = decoder("nq", &options).unwrap();
    decoder.feed(log.as_bytes());
    decoder.finish();
    let mut parts = Vec::new();
    while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
        parts.push((batch.quads().len(), batch.continued(), batch.continues()));
    }
    assert_eq!(parts, [(8, false, true), (8, true, true), (4, true, false)]);
    let whole = options.parts(false);
    let outcome = with(&whole, &log);
    assert_eq!(outcome.error.as_ref().unwrap().class, ErrorClass::Limit);
    assert_eq!(remedies(&outcome), ["max_message_bytes"]);
}

#[test]
fn complete_messages_do_not_wait_for_the_next() {
    let mut decoder = decoder("nq", &Options::default()).unwrap();
    decoder.feed(format!("{Q}\n# @message\n{Q}\n{Q}\n<s:").as_bytes());
    let batch = decoder
        .next_batch_of::<Quad>()
        .unwrap()
        .expect("the first message");
    assert_eq!((batch.len(), batch.quads().len()), (1, 1));
    assert!(decoder.next_batch_of::<Quad>().unwrap().is_none());
    decoder.feed(b"> <p:> <o:> .");
    assert!(decoder.next_batch_of::<Quad>().unwrap().is_none());
    decoder.finish();
    let batch = decoder
        .next_batch_of::<Quad>()
        .unwrap()
        .expect("the second message");
    assert_eq!(
        (
            batch.len(),
            batch.quads().len(),
            batch.first_message_index()
        ),
        (1, 3, 1)
    );
    assert_eq!(batch.byte_offset(0), Some((Q.len() + 12) as u64));
    assert!(decoder.next_batch_of::<Quad>().unwrap().is_none());
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| {
        let (open, close) = ("<<(<a:><b:>".repeat(depth), ")>>".repeat(depth));
        format!("<s:> <p:> {open}<c:>{close} .")
    };
    assert_eq!(nq(&nested(64)).error, None);
    let outcome = nq(&nested(65));
    assert_eq!(outcome.error.as_ref().unwrap().class, ErrorClass::Limit);
    assert_eq!(remedies(&outcome), ["max_depth"]);
}

#[test]
fn line_length_is_limited_and_lines_are_scanned_once() {
    let options = Options::with("max_message_bytes", 1000);
    for end in ["", "\n", "\u{e9}\n<s:> <p:> <o:> .\n"] {
        let log = format!("{Q}\n# @message\n# {}{end}", "x".repeat(1000));
        let outcome = with(&options, &log);
        assert_eq!(outcome.messages.len(), 1);
        assert_eq!(
            error(&outcome),
            "nq: the line is longer than 1000 bytes \
             (line 3, column 1, byte 52, message 1)"
        );
    }
    // 2 MiB in pieces of 16 bytes would take minutes if the line were scanned again from its start
    // for every piece.
    let log = format!("<s:> <p:> \"{}\" .\n", "x".repeat(2 << 20));
    assert_eq!(
        decode("nq", &Options::default(), log.as_bytes(), 16).error,
        None
    );
}

fn skipping(options: &Options, log: &[u8], piece: usize) -> Vec<(u64, String)> {
    crate::support::skipping("nq", options, log, piece)
}

fn skipping_every_way(options: &Options, log: &[u8]) -> Vec<(u64, String)> {
    crate::support::skipping_every_way("nq", options, log)
}

#[test]
fn reading_resumes_at_the_next_delimiter() {
    let skip = |log: &str| skipping_every_way(&Options::default(), log.as_bytes());
    let entry = |index: u64, text: &str| (index, text.to_owned());
    assert_eq!(
        skip(
            "<a:> <b:> <c:> .\n# @message\n<a:> <b:> <1:> .\r\nbad # @message\n<x:>\n# @message\r\n<a:> <b:> <d:> .\n"
        ),
        [
            entry(0, "<a:> <b:> <c:> ."),
            entry(1, "skipped <a:> <b:> <1:> .\r\nbad # @message\n<x:>\n"),
            entry(2, "<a:> <b:> <d:> ."),
        ]
    );
    // Skipping ends at a delimiter on the line of a statement, and at the end of the log. The
    // second delimiter is not at the start of the log, so it ends an empty message.
    assert_eq!(
        skip("bad\n<a:> <b:> <c:> . # @message\n# @message\n<a:> <b:> <d:> .\nbad"),
        [
            entry(0, "skipped bad\n<a:> <b:> <c:> . # @message\n"),
            entry(1, ""),
            entry(2, "skipped <a:> <b:> <d:> .\nbad"),
        ]
    );
    assert_eq!(
        skip("VERSION \"1.2-messages\"\nbad\n# @message\n MESSAGE # x\nMESSAGE\nbad\nMESSAGES\n"),
        [
            entry(0, "skipped bad\n# @message\n"),
            entry(1, ""),
            entry(2, "skipped bad\nMESSAGES\n"),
        ]
    );
    // A version label in skipped text applies.
    assert_eq!(
        skip("bad\nVERSION \"1.2-messages\"\n# @message\nMESSAGE\n<a:> <b:> <c:> .\n"),
        [
            entry(0, "skipped bad\nVERSION \"1.2-messages\"\n# @message\n"),
            entry(1, "<a:> <b:> <c:> ."),
        ]
    );
    // Invalid UTF-8, and a line that is too long.
    let options = Options::with("max_message_bytes", 200);
    let mut log = b"<a:> <b:> \"\xff\" .\n# @message \xff\n# @message\n".to_vec();
    log.extend_from_slice(format!("# {}\n# @message\n{Q}\n", "x".repeat(300)).as_bytes());
    let seen = skipping_every_way(&options, &log);
    let indexes: Vec<u64> = seen.iter().map(|(index, _)| *index).collect();
    assert_eq!(indexes, [0, 1, 2]);
    assert_eq!(seen[1].1.len(), "skipped # \n".len() + 300);
    assert_eq!(seen[2].1, Q);
}

#[test]
fn at_most_1_mib_of_skipped_input_is_kept() {
    let lines = format!("{Q}\n").repeat(30_000);
    let log = format!("{lines}bad\n{lines}{lines}{lines}");
    let seen = skipping(&Options::default(), log.as_bytes(), 4096);
    // If more than 1 MiB precedes the error, at most 1 MiB is kept, from the line with the error.
    assert_eq!(seen.len(), 1);
    assert!(seen[0].1.starts_with("skipped bad\n"));
    assert_eq!(seen[0].1.len(), "skipped ".len() + (1 << 20));
}

#[test]
fn skipping_ends_a_message_whose_first_parts_were_delivered() {
    let options = Options::default().parts(true).and("batch_quads", 2);
    let log = format!("{Q}\n{Q}\n{Q}\nbad\n# @message\n{Q}\n");
    let seen = skipping_every_way(&options, log.as_bytes());
    let indexes: Vec<u64> = seen.iter().map(|(index, _)| *index).collect();
    assert_eq!(indexes, [0, 0, 1]);
}

/// Logs that cover every part of the decoder.
const LOGS: [&str; 4] = [
    "\u{feff}# c\r\n<s:> <p:> \"é\\u00e9\\n\"@en--ltr <g:> . # @message\n_:a <p:> _:b.\r# @message\n<s:><p:>\"x\"^^<d:>.",
    "VERSION \"1.2-messages\"\n<s:> <p:> <<( _:é <p:> \"\" )>> .\nMESSAGE\nMESSAGE # x\n",
    "<< <s:> \"p\" <o:> >> _:b \"g\" _:c.d .\r\n<\\u00e9:> <p> <o:> .\n\n",
    "VERSION \"1.1\"\n<s:> <p:> \"\\U0001F600\" .\nMESSAGE\n# @message\nbad\nMESSAGE\n<s:> <p:> <o:> .\n",
];

fn options_of_all_kinds() -> Vec<Options> {
    vec![
        Options::default(),
        Options::with("lenient", true).and("generalized", true),
        lenient()
            .parts(true)
            .and("max_message_bytes", 150)
            .and("max_depth", 1)
            .and("batch_quads", 1),
    ]
}

#[test]
fn pieces_do_not_change_the_result_for_truncated_logs() {
    for options in options_of_all_kinds() {
        for log in LOGS {
            for end in 0..=log.len() {
                decode_every_way("nq", &options, &log.as_bytes()[..end]);
                skipping_every_way(&options, &log.as_bytes()[..end]);
            }
        }
    }
}

#[test]
fn pieces_do_not_change_the_result_for_damaged_logs() {
    for options in options_of_all_kinds() {
        for log in LOGS {
            let mut log = log.as_bytes().to_vec();
            for index in 0..log.len() {
                for bit in 0..8 {
                    log[index] ^= 1 << bit;
                    let whole = decode("nq", &options, &log, log.len());
                    for size in [1, 7] {
                        assert_eq!(decode("nq", &options, &log, size), whole);
                    }
                    let whole = skipping(&options, &log, log.len());
                    assert_eq!(skipping(&options, &log, 2), whole);
                    log[index] ^= 1 << bit;
                }
            }
        }
    }
}

#[test]
fn single_terms_are_parsed() {
    let parse = |text: &str| {
        let mut builder = BatchBuilder::new(Limits::default());
        parse_term(&mut builder, text.as_bytes(), 8).map(|id| {
            let mut out = Vec::new();
            write_term(builder.table(), id, &mut out);
            String::from_utf8(out).unwrap()
        })
    };
    for text in [
        "<http://e/s>",
        "<>",
        "<a\\u0020\\u003Eb>",
        "_:b0",
        "_:é.a",
        "\"\"",
        "\"a\\n\\\"b\\\"\"",
        "\"x\"@en--ltr",
        "\"x\"^^<d:t>",
        "<<( <a:> <b:> <<( \"s\" _:p <c:> )>> )>>",
    ] {
        assert_eq!(parse(text).as_deref(), Ok(text), "{text}");
    }
    assert_eq!(
        parse("<< <a:> <b:> \"c\"@en >>").as_deref(),
        Ok("<<( <a:> <b:> \"c\"@en )>>")
    );
    for text in [
        "",
        " ",
        "<a",
        "<a:> ",
        " <a:>",
        "<a:> <b:>",
        "\"a",
        "_:",
        "a",
        "_:a.",
        "<a b>",
        "\"\\x\"",
        "<<( <a:> <b:> )>>",
        "\"a\"@",
        "\"a\"^^",
    ] {
        assert!(parse(text).is_err(), "{text:?}");
    }
    assert!(parse(&("<<(<a:><b:>".repeat(9) + "<c:>" + &")>>".repeat(9))).is_err());
    let mut builder = BatchBuilder::new(Limits::default());
    assert!(parse_term(&mut builder, b"\"\xff\"", 8).is_err());
}

/// Makes pseudorandom changes to a line. `number` determines the changes.
fn changed(line: &str, number: u64) -> String {
    const REPLACEMENTS: [&str; 24] = [
        "<",
        ">",
        "\"",
        "\\",
        "_:",
        "a",
        ".",
        " ",
        "\t",
        "@en",
        "^^",
        "<<(",
        ")>>",
        "--rtl",
        "\\u00e9",
        "\\n",
        "-",
        "é",
        "#",
        ":",
        "1",
        "<d:t>",
        "\\U0001F600",
        "",
    ];
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let mut chars: Vec<String> = line.chars().map(String::from).collect();
    for _ in 0..=random(2) {
        let (index, replacement) = (
            random(chars.len()),
            REPLACEMENTS[random(REPLACEMENTS.len())],
        );
        if random(2) == 0 {
            replacement.clone_into(&mut chars[index]);
        } else {
            chars.insert(index, replacement.to_owned());
        }
    }
    chars.concat()
}

#[test]
fn lines_that_oxttl_accepts_have_the_same_quads() {
    let lines = [
        "<a:s> <a:p> \"x\"@en--ltr <a:g> .",
        "_:a <a:p> \"y\"^^<d:t> _:g. # c",
        "<a:s> <a:p> <<( _:b.c <a:q> \"\\\\\" )>>.",
    ];
    let (mut accepted, mut rejected) = (0, 0);
    for number in 0..6000 {
        let line = changed(lines[number as usize % lines.len()], number);
        let parser = oxttl::NQuadsParser::new().for_slice(line.as_bytes());
        let theirs: Result<Vec<_>, _> = parser.collect();
        let outcome = decode("nq", &Options::default(), line.as_bytes(), 4096);
        match theirs {
            Ok(quads) => {
                let ours: Vec<&String> = outcome.messages.iter().flatten().collect();
                // oxttl accepts several statements on one line, which the grammar does not allow.
                if quads.len() > 1 {
                    continue;
                }
                assert_eq!(outcome.error, None, "{line}");
                let theirs: Vec<String> = quads.iter().map(|quad| format!("{quad} .")).collect();
                let theirs = theirs.join("\n").to_lowercase();
                let ours = ours.iter().map(|quad| quad.to_lowercase());
                assert_eq!(ours.collect::<Vec<_>>().join("\n"), theirs, "{line}");
                accepted += 1;
            }
            Err(_) => rejected += usize::from(outcome.error.is_some()),
        }
    }
    assert!(accepted > 500 && rejected > 2000, "{accepted} {rejected}");
}

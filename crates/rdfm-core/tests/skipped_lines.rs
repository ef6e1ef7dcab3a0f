//! Lines that are skipped in N-Triples and N-Quads, while the rest of their message is kept.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failing test may panic"
)]

use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::codec::{Decoder, Opening, Parts};
use rdfm_core::model::error::{DecodeError, ErrorClass};
use rdfm_core::model::term::Quad;
use rdfm_core::registry;

const Q: &str = "<a:s> <a:p> <a:o> .\n";

fn decoder(parts: Parts) -> Box<dyn Decoder> {
    let format = registry::find("nq").unwrap();
    let values = Values::read(format.reads(), Vec::new()).unwrap();
    let opening = Opening {
        parts,
        skip_lines: true,
        ..Opening::default()
    };
    registry::new_decoder(format, &values, &opening).unwrap()
}

/// Quads per message, the skipped lines with their message, and the error that stopped decoding.
fn read(log: &str, parts: Parts) -> (Vec<usize>, Vec<(u64, String)>, Option<DecodeError>) {
    let mut decoder = decoder(parts);
    decoder.feed(log.as_bytes());
    decoder.finish();
    let (mut counts, mut skipped) = (Vec::new(), Vec::new());
    loop {
        let result = decoder.next_batch_of::<Quad>();
        let lines = decoder.take_skipped_lines();
        let has_lines = !lines.is_empty();
        skipped.extend(lines.into_iter().map(|(error, line)| {
            let index = error.position.message_index.unwrap();
            (index, String::from_utf8_lossy(&line).into_owned())
        }));
        match result {
            Ok(Some(batch)) => counts.extend((0..batch.len()).map(|at| batch.message(at).len())),
            Ok(None) if has_lines => {}
            Ok(None) => return (counts, skipped, None),
            Err(error) => return (counts, skipped, Some(error)),
        }
    }
}

#[test]
fn the_rest_of_a_message_is_kept() {
    let log = format!("{Q}oops\r\n{Q}# @message\n{Q}<a:s> <a:p> <a:o> . x\n<a:s>");
    let (counts, skipped, error) = read(&log, Parts::Never);
    assert_eq!(counts, [2, 1]);
    let lines: Vec<_> = skipped.iter().map(|(at, line)| (*at, &**line)).collect();
    assert_eq!(
        lines,
        [(0, "oops"), (1, "<a:s> <a:p> <a:o> . x"), (1, "<a:s>")]
    );
    assert_eq!(error, None);
}

#[test]
fn a_line_that_may_have_been_a_delimiter_is_an_error() {
    for line in [
        "oops # @message",
        "MESSAGE x",
        "VERSION 1",
        "  MESSAGE\u{b}",
    ] {
        let (counts, skipped, error) = read(&format!("{Q}oops\n{line}\n{Q}"), Parts::Never);
        assert_eq!((counts.len(), skipped.len()), (0, 1), "{line}");
        assert_eq!(error.unwrap().class, ErrorClass::Malformed, "{line}");
    }
    let announced = "VERSION \"1.2-messages\"\n";
    let (counts, skipped, error) = read(&format!("{announced}{Q}x # @message\n{Q}"), Parts::Never);
    assert_eq!((counts, skipped.len(), error), (vec![2], 1, None));
}

#[test]
fn a_bad_last_line_without_a_line_end_is_truncated() {
    for (log, class) in [
        (format!("{Q}oops"), ErrorClass::Truncated),
        (format!("{Q}<a:s> <a:p> \"\\u00"), ErrorClass::Truncated),
        (format!("{Q}oops\n"), ErrorClass::Malformed),
    ] {
        let mut decoder = decoder(Parts::Never);
        decoder.feed(log.as_bytes());
        decoder.finish();
        decoder.next_batch().unwrap();
        let lines = decoder.take_skipped_lines();
        assert_eq!(lines[0].0.class, class, "{log}");
    }
}

#[test]
fn lines_that_are_not_utf8_are_skipped() {
    let mut log = Vec::new();
    for _ in 0..10_000 {
        log.extend_from_slice(b"<a:s> <a:p> \"\xe9\" .\n");
        log.extend_from_slice(Q.as_bytes());
    }
    let mut decoder = decoder(Parts::Never);
    decoder.feed(&log);
    decoder.finish();
    let (mut quads, mut total) = (0, 0);
    loop {
        let batch = decoder.next_batch_of::<Quad>().unwrap();
        let lines = decoder.take_skipped_lines();
        if batch.is_none() && lines.is_empty() {
            break;
        }
        total += lines.len();
        quads += batch.map_or(0, |batch| batch.message(0).len());
    }
    assert_eq!((quads, total), (10_000, 10_000));
}

#[test]
fn terms_of_skipped_lines_are_removed() {
    let mut decoder = decoder(Parts::Never);
    decoder.feed(format!("{Q}<a:s> <a:p> \"new\" <a:x>\n{Q}<a:t> <a:p> <a:o> . x\n").as_bytes());
    decoder.finish();
    let batch = decoder.next_batch_of::<Quad>().unwrap().unwrap();
    assert_eq!(batch.message(0).len(), 2);
    let texts: Vec<_> = batch
        .table()
        .terms()
        .iter()
        .map(|term| batch.table().text_of(*term))
        .collect();
    assert!(!texts.contains(&&b"new"[..]) && !texts.contains(&&b"a:t"[..]));
}

#[test]
fn many_skipped_lines_wait_in_bounded_memory() {
    let log = format!("{}{Q}", "x\n".repeat(100_000));
    let mut decoder = decoder(Parts::Always);
    decoder.feed(log.as_bytes());
    decoder.finish();
    let (mut total, mut quads) = (0, 0);
    loop {
        let batch = decoder.next_batch_of::<Quad>().unwrap();
        let lines = decoder.take_skipped_lines().len();
        assert!(lines <= 1024);
        total += lines;
        quads += batch.as_ref().map_or(0, |batch| batch.message(0).len());
        if batch.is_none() && lines == 0 {
            break;
        }
    }
    assert_eq!((total, quads), (100_000, 1));
}

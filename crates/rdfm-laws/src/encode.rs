//! The laws of encoders.
//!
//! - Round trip: decoding the output returns the same messages, up to the rejected one if there is
//!   one.
//! - Batches: the division of messages into batches does not change the output. Parts of messages
//!   are written like complete messages, or rejected.
//! - Fast paths: the general path writes the same output.
//! - Twins: an encoder and its twins write the same output as the encoder alone, with the same
//!   counts.
//! - Reset: after a reset, an encoder writes the same output again.
//! - Append: a log to which each message is appended in a separate run equals the log written in
//!   one run, and decoders find the end that encoders report.
//! - Rejection: if a message is rejected, the output contains exactly the complete messages before
//!   it.

use std::collections::BTreeMap;

use rdfm_core::codec::spec::{Append, FormatSpec, Kind};
use rdfm_core::codec::{Encoder, LogEnd};
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::error::{EncodeError, ErrorClass};
use rdfm_core::model::fast_path::FastPath;
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::{Quad, TermId};

use crate::decode::{batches, outcome};
use crate::message::{Message, ToValues, messages, relabel};
use crate::options::{Reading, Writing};
use crate::structure::dataset;

/// Encodes batches, and checks that the output is the same after a reset. Returns the bytes, and
/// the error that stopped encoding. On error, the end of the log is not written.
pub(crate) fn encode<R: ToValues>(
    writing: &Writing,
    batches: &[LogBatch<R>],
) -> (Vec<u8>, Option<EncodeError>) {
    let mut encoder = writing.encoder();
    let first = encode_with(&mut *encoder, batches);
    encoder.reset();
    let second = encode_with(&mut *encoder, batches);
    assert!(
        first == second,
        "{}: an encoder writes different output after a reset:\n{}\nand\n{}",
        writing.format.name,
        String::from_utf8_lossy(&first.0),
        String::from_utf8_lossy(&second.0)
    );
    first
}

pub(crate) fn encode_with<R: ToValues>(
    encoder: &mut dyn Encoder,
    batches: &[LogBatch<R>],
) -> (Vec<u8>, Option<EncodeError>) {
    let mut out = Vec::new();
    for batch in batches {
        if let Err(error) = encoder.encode(batch.into(), &mut out) {
            return (out, Some(error));
        }
    }
    let error = encoder.finish(&mut out).err();
    (out, error)
}

/// Uses two alternating twins to encode the batches that the encoder skips, and compares the output
/// with that of the encoder alone.
fn twins<R: ToValues>(writing: &Writing, batches: &[LogBatch<R>]) {
    let mut alone = writing.encoder();
    let expected = encode_with(&mut *alone, batches);
    let mut encoder = writing.encoder();
    let mut twins: Vec<Box<dyn Encoder>> = Vec::new();
    let mut dropped: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut out = Vec::new();
    let mut error = None;
    for (number, batch) in batches.iter().enumerate() {
        let written = if let Some(place) = encoder.skip(batch.into()) {
            while twins.len() < 2 {
                twins.push(encoder.twin().expect("the encoder skips batches"));
            }
            let twin = &mut twins[number % 2];
            twin.go_to(place);
            twin.encode(batch.into(), &mut out)
        } else {
            for twin in twins.drain(..) {
                add_counts(&*twin, &mut dropped);
            }
            encoder.encode(batch.into(), &mut out)
        };
        error = written.err();
        if error.is_some() {
            break;
        }
    }
    if error.is_none() {
        error = encoder.finish(&mut out).err();
    }
    let name = writing.format.name;
    assert_eq!(expected.1, error, "{name}: twins change the error");
    assert!(
        expected.0 == out,
        "{name}: twins change the output:\n{}\nand\n{}",
        String::from_utf8_lossy(&expected.0),
        String::from_utf8_lossy(&out)
    );
    if error.is_none() {
        for encoder in twins.iter().chain([&encoder]) {
            add_counts(&**encoder, &mut dropped);
        }
        let expected: BTreeMap<&str, u64> = alone.dropped_counts().into_iter().collect();
        assert_eq!(expected, dropped, "{name}: twins change the counts");
        let mut notes = encoder.notes();
        for note in twins.iter().flat_map(|twin| twin.notes()) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        assert_eq!(alone.notes(), notes, "{name}: twins change the notes");
    }
}

/// Adds an encoder's counts of dropped content to the totals.
fn add_counts(encoder: &dyn Encoder, dropped: &mut BTreeMap<&'static str, u64>) {
    for (name, number) in encoder.dropped_counts() {
        *dropped.entry(name).or_default() += number;
    }
}

/// Returns options for decoding the output. They accept everything that may have been written.
/// Except for patches, each frame is read as a message, regardless of the logical type.
fn reading(writing: &Writing) -> Reading {
    let reading = Reading::new(writing.format)
        .with_if_supported("lenient", true)
        .with_if_supported("generalized", true);
    if writing.format.kinds == [Kind::Messages] {
        reading.with_if_supported("frames", "message")
    } else {
        reading
    }
}

/// Whether the scope of blank nodes is the log, not a message.
fn is_shared(format: &FormatSpec) -> bool {
    format.kinds != [Kind::Messages]
}

/// Whether messages are equal up to the labels of blank nodes. Formats that do not preserve order
/// are compared as datasets.
pub(crate) fn are_equal(left: &[Message], right: &[Message], format: &FormatSpec) -> bool {
    if format.carries.order {
        return relabel(left, is_shared(format)) == relabel(right, is_shared(format));
    }
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left_message, right_message)| dataset(left_message) == dataset(right_message))
}

/// Decodes `data` up to its first error, encodes the messages with `writing`, decodes the output,
/// and compares the messages.
pub fn round_trip(writing: &Writing, reading: &Reading, data: &[u8]) {
    match reading.format.kinds[0] {
        Kind::Messages => round_trip_of::<Quad>(writing, reading, data),
        Kind::Patches => round_trip_of::<Operation>(writing, reading, data),
        Kind::Results => round_trip_of::<TermId>(writing, reading, data),
    }
}

fn round_trip_of<R: ToValues>(writing: &Writing, reading: &Reading, data: &[u8]) {
    let (batches, error) = batches::<R>(reading, data);
    let expected: Vec<Message> = batches.iter().flat_map(messages).collect();
    let (out, rejection) = encode(writing, &batches);

    let single: Vec<LogBatch<R>> = batches
        .iter()
        .flat_map(|batch| match batch.len() {
            // A log without messages contains only its head.
            0 => vec![batch.clone()],
            messages => (0..messages)
                .map(|index| batch.slice(index..index + 1))
                .collect(),
        })
        .collect();
    // Also encode batches with a separate term table for each message.
    let small = reading.clone().with("batch_messages", 1);
    let (separate, _) = self::batches::<R>(&small, data);
    for cut in [&single, &separate] {
        let (second, second_rejection) = encode(writing, cut);
        assert_eq!(
            rejection, second_rejection,
            "{}: batches change the error",
            writing.format.name
        );
        assert!(
            out == second,
            "{}: batches change the bytes:\n{}\nand\n{}",
            writing.format.name,
            String::from_utf8_lossy(&out),
            String::from_utf8_lossy(&second)
        );
        twins(writing, cut);
    }
    twins(writing, &batches);
    for (path, name) in FastPath::ALL {
        let general = path.without(|| encode_with(&mut *writing.encoder(), &batches));
        assert!(
            general == (out.clone(), rejection.clone()),
            "{}: a different output without {name}:\n{}",
            writing.format.name,
            String::from_utf8_lossy(&general.0)
        );
    }

    check_output(writing, reading.format, &expected, &out, rejection.as_ref());
    if rejection.is_none() && error.is_none() {
        check_append(writing, reading.format, &single, &expected);
        parts::<R>(writing, reading, data, &expected);
    }
}

/// Checks that a log to which each batch is appended in a separate run contains all messages.
fn check_append<R: ToValues>(
    writing: &Writing,
    source: &FormatSpec,
    batches: &[LogBatch<R>],
    expected: &[Message],
) {
    let result = writing.encoder().continue_log(LogEnd::Content);
    if matches!(writing.format.append, Append::Never(_)) || result.is_err() {
        return;
    }
    let name = writing.format.name;
    let mut out = Vec::new();
    let mut end = None;
    for batch in batches {
        let mut encoder = writing.encoder();
        if let Some(end) = end {
            encoder.continue_log(end).expect("the log can be continued");
        }
        encoder
            .encode(batch.into(), &mut out)
            .unwrap_or_else(|error| panic!("{name}: a message cannot be appended: {error}"));
        end = encoder.pause(&mut out).expect("nothing was rejected");
        assert!(end.is_some(), "{name}: the log cannot end after a message");
        let before = out.len();
        encoder.finish(&mut out).expect("nothing was rejected");
        let reading = reading(writing);
        let actual_end = end_of(&reading, &out);
        assert!(
            actual_end.is_none() || actual_end == end,
            "{name}: the log ends with {actual_end:?}, not {end:?}:\n{}",
            String::from_utf8_lossy(&out)
        );
        assert!(
            before == out.len() || out.ends_with(b"...\n"),
            "{name}: a log that was complete is continued at its end"
        );
    }
    check_output(writing, source, expected, &out, None);
}

/// Returns how a log ends, according to its decoder.
fn end_of(reading: &Reading, log: &[u8]) -> Option<LogEnd> {
    let mut decoder = reading.decoder();
    decoder.feed(log);
    decoder.finish();
    while let Ok(Some(_)) = decoder.next_batch() {}
    decoder.observations().end
}

/// Checks that parts of messages are written like complete messages, or rejected.
fn parts<R: ToValues>(writing: &Writing, reading: &Reading, data: &[u8], expected: &[Message]) {
    let in_parts = reading.clone().in_parts().with("batch_quads", 1);
    let (batches, _) = self::batches::<R>(&in_parts, data);
    let (out, rejection) = encode(writing, &batches);
    twins(writing, &batches);
    match rejection {
        None => check_output(writing, reading.format, expected, &out, None),
        Some(error) => assert!(
            error.class == ErrorClass::Unsupported,
            "{}: parts of a message are rejected: {error}",
            writing.format.name
        ),
    }
}

/// Encodes batches of the messages `expected` with `writing`, decodes the output, and compares.
pub fn check_round_trip<R: ToValues>(
    writing: &Writing,
    source: &FormatSpec,
    batches: &[LogBatch<R>],
    expected: &[Message],
) {
    let mut encoder = writing.encoder();
    let (out, rejection) = encode_with(&mut *encoder, batches);
    check_output(writing, source, expected, &out, rejection.as_ref());
}

/// Checks that decoding the output returns the messages `expected`, or those before the rejected
/// one.
fn check_output(
    writing: &Writing,
    source: &FormatSpec,
    expected: &[Message],
    out: &[u8],
    rejection: Option<&EncodeError>,
) {
    if rejection.is_some() && out.is_empty() && source.kinds == [Kind::Results] {
        // Not even the head was written, so there is no log to decode.
        return;
    }
    let reread = outcome(&reading(writing), out, out.len());
    assert_eq!(
        reread.error,
        None,
        "{}: the output cannot be decoded: {}",
        writing.format.name,
        String::from_utf8_lossy(out)
    );
    let accepted = rejection.map_or(expected.len(), |error| {
        usize::try_from(error.message_index).expect("an index fits")
    });
    let expected = &expected[..accepted.min(expected.len())];
    if !writing.format.carries.boundaries && expected.is_empty() {
        // If nothing is written, the empty output may still represent one message.
        assert!(
            reread.messages.len() <= 1
                && reread
                    .messages
                    .iter()
                    .all(|message| message.records.is_empty()),
            "{}: empty output is read as a message",
            writing.format.name
        );
        return;
    }
    // The output must not contain any part of a rejected message. An empty message before it may
    // still be buffered until it is known whether a delimiter follows.
    let is_complete = rejection.is_none();
    let written = if is_complete {
        expected
    } else {
        &expected[..reread.messages.len().min(expected.len())]
    };
    assert!(
        are_equal(&reread.messages, written, writing.format)
            && expected[written.len()..]
                .iter()
                .all(|message| message.records.is_empty()),
        "{} -> {}: different messages are read back:\n{:#?}\nexpected:\n{:#?}\nwritten:\n{}\nrejection: {:?}",
        source.name,
        writing.format.name,
        relabel(&reread.messages, is_shared(writing.format)),
        relabel(expected, is_shared(writing.format)),
        String::from_utf8_lossy(out),
        rejection
    );
}

//! The laws of encoders.
//!
//! - Round trip: what is written is read back as the same messages, or was refused before it.
//! - Batches: how messages are cut into batches changes no output byte; parts of messages are written as the messages,
//!   or refused.
//! - Reset: an encoder that was reset writes the same again.
//! - A refused message leaves whole messages before it, and those alone.

use rdfm_core::codec::Encoder;
use rdfm_core::codec::spec::FormatSpec;
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::error::{EncodeError, ErrorClass};
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::{Quad, TermId};

use crate::decode::{batches, outcome};
use crate::message::{Message, Shown, messages, relabelled};
use crate::options::{Reading, Writing};
use crate::structure::dataset;

/// What encoding gives: the bytes, and why it stopped. On an error the end is not written.
fn encode<R: Shown>(writing: &Writing, batches: &[LogBatch<R>]) -> (Vec<u8>, Option<EncodeError>) {
    let mut encoder = writing.encoder();
    let first = encode_with(&mut *encoder, batches);
    encoder.reset();
    let again = encode_with(&mut *encoder, batches);
    assert!(
        first == again,
        "{}: an encoder that was reset writes something else:\n{}\nand\n{}",
        writing.format.name,
        String::from_utf8_lossy(&first.0),
        String::from_utf8_lossy(&again.0)
    );
    first
}

fn encode_with<R: Shown>(
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

/// How the output is read back: with everything allowed that may have been written. Frames are messages whatever
/// the log says; of patches it says what is so.
fn reading(writing: &Writing) -> Reading {
    let reading = Reading::new(writing.format)
        .where_taken("lenient", true)
        .where_taken("generalized", true);
    if writing.format.kinds == [Kind::Messages] {
        reading.where_taken("frames", "message")
    } else {
        reading
    }
}

/// Whether blank nodes are those of the log, not of a message.
fn shared(format: &FormatSpec) -> bool {
    format.kinds != [Kind::Messages]
}

/// Whether messages are the same, up to the names of blank nodes; where the format keeps no order, as datasets.
fn alike(left: &[Message], right: &[Message], format: &FormatSpec) -> bool {
    if format.carries.order {
        return relabelled(left, shared(format)) == relabelled(right, shared(format));
    }
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(one, other)| dataset(one) == dataset(other))
}

/// Decodes `data` (as far as it is right), writes it as `writing` says, reads that, and compares.
pub fn round_trip(writing: &Writing, reading: &Reading, data: &[u8]) {
    match reading.format.kinds[0] {
        Kind::Messages => round_trip_of::<Quad>(writing, reading, data),
        Kind::Patches => round_trip_of::<Operation>(writing, reading, data),
        Kind::Results => round_trip_of::<TermId>(writing, reading, data),
    }
}

fn round_trip_of<R: Shown>(writing: &Writing, reading: &Reading, data: &[u8]) {
    let (batches, broken) = batches::<R>(reading, data);
    let wanted: Vec<Message> = batches.iter().flat_map(messages).collect();
    let (out, refused) = encode(writing, &batches);

    let single: Vec<LogBatch<R>> = batches
        .iter()
        .flat_map(|batch| match batch.len() {
            // A log of no messages has its head.
            0 => vec![batch.clone()],
            messages => (0..messages).map(|at| batch.slice(at..at + 1)).collect(),
        })
        .collect();
    // The same with a table of terms for each message.
    let small = reading.clone().with("batch_messages", 1);
    let (apart, _) = self::batches::<R>(&small, data);
    for cut in [&single, &apart] {
        let (again, refused_again) = encode(writing, cut);
        assert_eq!(
            refused, refused_again,
            "{}: batches change the refusal",
            writing.format.name
        );
        assert!(
            out == again,
            "{}: batches change the bytes:\n{}\nand\n{}",
            writing.format.name,
            String::from_utf8_lossy(&out),
            String::from_utf8_lossy(&again)
        );
    }

    reads_back(writing, reading.format, &wanted, &out, refused.as_ref());
    if refused.is_none() && broken.is_none() {
        parts::<R>(writing, reading, data, &wanted);
    }
}

/// Parts of messages are written as those messages, or refused.
fn parts<R: Shown>(writing: &Writing, reading: &Reading, data: &[u8], wanted: &[Message]) {
    let in_parts = reading.clone().in_parts().with("batch_quads", 1);
    let (batches, _) = self::batches::<R>(&in_parts, data);
    let (out, refused) = encode(writing, &batches);
    match refused {
        None => reads_back(writing, reading.format, wanted, &out, None),
        Some(error) => assert!(
            error.class == ErrorClass::Unsupported,
            "{}: parts of a message are refused: {error}",
            writing.format.name
        ),
    }
}

/// Writes batches that hold the messages `wanted` as `writing` says, reads that, and compares.
pub fn there_and_back<R: Shown>(
    writing: &Writing,
    source: &FormatSpec,
    batches: &[LogBatch<R>],
    wanted: &[Message],
) {
    let mut encoder = writing.encoder();
    let (out, refused) = encode_with(&mut *encoder, batches);
    reads_back(writing, source, wanted, &out, refused.as_ref());
}

/// What was written is read as the messages `wanted`, or as those before the refused one.
fn reads_back(
    writing: &Writing,
    source: &FormatSpec,
    wanted: &[Message],
    out: &[u8],
    refused: Option<&EncodeError>,
) {
    if refused.is_some() && out.is_empty() && source.kinds == [Kind::Results] {
        // Not even the head is written, and without it there is no log.
        return;
    }
    let back = outcome(&reading(writing), out, out.len());
    assert_eq!(
        back.error,
        None,
        "{}: what was written is not read: {}",
        writing.format.name,
        String::from_utf8_lossy(out)
    );
    let delivered = refused.map_or(wanted.len(), |error| {
        usize::try_from(error.message).expect("an index fits")
    });
    let wanted = &wanted[..delivered.min(wanted.len())];
    if !writing.format.carries.boundaries && wanted.is_empty() {
        // Where nothing is written, such a log may still be one message.
        assert!(
            back.messages.len() <= 1
                && back
                    .messages
                    .iter()
                    .all(|message| message.records.is_empty()),
            "{}: nothing written is read as something",
            writing.format.name
        );
        return;
    }
    // Of a refused message nothing may stand in the output; an empty one before it may have been
    // held back until it is known whether a delimiter follows.
    let exact = refused.is_none();
    let written = if exact {
        wanted
    } else {
        &wanted[..back.messages.len().min(wanted.len())]
    };
    assert!(
        alike(&back.messages, written, writing.format)
            && wanted[written.len()..]
                .iter()
                .all(|message| message.records.is_empty()),
        "{} -> {}: other messages came back:\n{:#?}\nwanted:\n{:#?}\nwritten:\n{}\nrefused: {:?}",
        source.name,
        writing.format.name,
        relabelled(&back.messages, shared(writing.format)),
        relabelled(wanted, shared(writing.format)),
        String::from_utf8_lossy(out),
        refused
    );
}

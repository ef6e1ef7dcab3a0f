//! The laws of decoders.
//!
//! - Pieces: how the bytes are cut changes neither the messages nor the error.
//! - Reset: a decoder that was reset is as a new one.
//! - Batches: how messages are cut into batches changes nothing either; parts join to the whole.
//! - Truncation: of any prefix, the messages are those of the whole, the last perhaps shorter.
//! - An error repeats; nothing panics; every loop ends.

use rdfm_core::codec::format::Format;
use rdfm_core::codec::{DecodeOptions, Decoder};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::DecodeError;

use crate::message::{Message, messages};

/// The sizes of pieces to try; the whole comes first.
pub const PIECES: [usize; 5] = [1, 2, 3, 7, 4096];

/// What decoding gives: the messages, then the error.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// In log order.
    pub messages: Vec<Message>,
    /// Why it stopped before the end.
    pub error: Option<DecodeError>,
}

/// A decoder and the pieces it is fed.
struct Driver<'a> {
    decoder: Box<dyn Decoder>,
    pieces: std::slice::Chunks<'a, u8>,
    finished: bool,
}

fn make(format: Format, options: &DecodeOptions) -> Box<dyn Decoder> {
    let decoder = format.decoder(options);
    decoder.expect("the format takes these options")
}

impl<'a> Driver<'a> {
    fn new(decoder: Box<dyn Decoder>, data: &'a [u8], piece: usize) -> Self {
        Self {
            decoder,
            pieces: data.chunks(piece.max(1)),
            finished: false,
        }
    }

    fn feed(&mut self) {
        if let Some(piece) = self.pieces.next() {
            self.decoder.feed(piece);
        } else {
            assert!(!self.finished, "asks for more after the end");
            self.decoder.finish();
            self.finished = true;
        }
    }

    fn next_batch(&mut self) -> Result<Option<MessageBatch>, DecodeError> {
        loop {
            match self.decoder.next_batch() {
                Ok(Some(batch)) => {
                    assert!(!batch.is_empty(), "a batch holds a message");
                    return Ok(Some(batch));
                }
                Ok(None) if self.finished => return Ok(None),
                Ok(None) => self.feed(),
                Err(error) => {
                    let again = self.decoder.next_batch();
                    assert_eq!(again.err().as_ref(), Some(&error), "the error repeats");
                    return Err(error);
                }
            }
        }
    }

    fn skip_message(&mut self) -> Result<Vec<u8>, DecodeError> {
        loop {
            match self.decoder.skip_message()? {
                Some(bytes) => return Ok(bytes),
                None => self.feed(),
            }
        }
    }
}

/// Decodes and hands every batch over.
pub fn drive(
    format: Format,
    options: &DecodeOptions,
    data: &[u8],
    piece: usize,
    each: impl FnMut(MessageBatch),
) -> Option<DecodeError> {
    drive_on(make(format, options), data, piece, each)
}

fn drive_on(
    decoder: Box<dyn Decoder>,
    data: &[u8],
    piece: usize,
    mut each: impl FnMut(MessageBatch),
) -> Option<DecodeError> {
    let mut driver = Driver::new(decoder, data, piece);
    loop {
        match driver.next_batch() {
            Ok(Some(batch)) => each(batch),
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}

/// Decodes in pieces of a size.
pub fn outcome(format: Format, options: &DecodeOptions, data: &[u8], piece: usize) -> Outcome {
    outcome_of(make(format, options), data, piece)
}

fn outcome_of(decoder: Box<dyn Decoder>, data: &[u8], piece: usize) -> Outcome {
    let mut batches = Vec::new();
    let error = drive_on(decoder, data, piece, |batch| batches.push(batch));
    outcome_in(&batches, error)
}

/// What was decoded, by value.
pub fn outcome_in(batches: &[MessageBatch], error: Option<DecodeError>) -> Outcome {
    let found: Vec<Message> = batches.iter().flat_map(messages).collect();
    for (at, message) in found.iter().enumerate() {
        assert_eq!(message.index, at as u64, "messages are numbered in order");
    }
    Outcome {
        messages: found,
        error,
    }
}

/// Whole = in pieces. Gives the outcome.
pub fn pieces(format: Format, options: &DecodeOptions, data: &[u8]) -> Outcome {
    let whole = outcome(format, options, data, data.len());
    for size in PIECES {
        in_pieces(format, options, data, size, &whole);
    }
    whole
}

/// In pieces of a size = whole.
pub fn in_pieces(
    format: Format,
    options: &DecodeOptions,
    data: &[u8],
    size: usize,
    whole: &Outcome,
) {
    let found = outcome(format, options, data, size);
    assert!(
        found == *whole,
        "{}: pieces of {size} bytes give another outcome than the whole:\n{found:#?}\nwhole:\n{whole:#?}",
        format.name(),
    );
}

/// A decoder that was reset, wherever it was, is as a new one.
pub fn reset(format: Format, options: &DecodeOptions, data: &[u8], whole: &Outcome) {
    for end in [data.len() / 3, data.len()] {
        for finished in [false, true] {
            let mut decoder = make(format, options);
            decoder.feed(&data[..end]);
            if finished {
                decoder.finish();
            }
            while let Ok(Some(_)) = decoder.next_batch() {}
            decoder.reset();
            assert_same(
                format,
                &outcome_of(decoder, data, data.len()),
                whole,
                "log before a reset",
            );
        }
    }
}

/// Batches of any size hold the same messages.
pub fn batch_sizes(format: Format, options: &DecodeOptions, data: &[u8], whole: &Outcome) {
    for size in [1, 2, 7] {
        let mut small = options.clone();
        small.limits.batch_messages = size;
        assert_same(
            format,
            &outcome(format, &small, data, data.len()),
            whole,
            "batch_messages",
        );
        let mut small = options.clone();
        small.limits.batch_quads = size;
        assert_same(
            format,
            &outcome(format, &small, data, 5),
            whole,
            "batch_quads",
        );
    }
    let mut small = options.clone();
    small.limits.batch_bytes = 64;
    assert_same(
        format,
        &outcome(format, &small, data, data.len()),
        whole,
        "batch_bytes",
    );
}

fn assert_same(format: Format, found: &Outcome, whole: &Outcome, what: &str) {
    assert!(
        found == whole,
        "{}: another {what} gives another outcome:\n{found:#?}\nwhole:\n{whole:#?}",
        format.name()
    );
}

/// The parts of messages join to the messages; an error may leave a part of the unfinished one.
pub fn parts(format: Format, options: &DecodeOptions, data: &[u8], whole: &Outcome) {
    let mut options = options.clone();
    options.parts = true;
    options.limits.batch_quads = 1;
    for piece in [data.len(), 3] {
        let mut joined: Vec<Message> = Vec::new();
        let mut open = false;
        let error = drive(format, &options, data, piece, |batch| {
            assert_eq!(batch.continued(), open, "{}: continued", format.name());
            open = batch.continues();
            let mut found = messages(&batch).into_iter();
            if batch.continued() {
                let (rest, last) = (found.next(), joined.last_mut());
                let (rest, last) = (rest.expect("a part"), last.expect("a part before"));
                assert_eq!(rest.index, last.index, "{}: index of a part", format.name());
                last.quads.extend(rest.quads);
                last.metadata.extend(rest.metadata);
                last.namespaces = rest.namespaces;
            }
            joined.extend(found);
        });
        assert_eq!(
            error.as_ref().map(|error| &error.reason),
            whole.error.as_ref().map(|error| &error.reason),
            "{}: read in parts, another error",
            format.name()
        );
        if open {
            assert!(
                error.is_some(),
                "{}: a part goes on at the end",
                format.name()
            );
            joined.pop();
        }
        assert_eq!(
            joined
                .iter()
                .map(|message| &message.quads)
                .collect::<Vec<_>>(),
            whole
                .messages
                .iter()
                .map(|message| &message.quads)
                .collect::<Vec<_>>(),
            "{}: parts do not join to the whole",
            format.name()
        );
    }
}

/// Every prefix of the bytes gives a prefix of the messages, the last perhaps shorter, up to its last
/// quad.
pub fn truncations(format: Format, options: &DecodeOptions, data: &[u8]) {
    let whole = outcome(format, options, data, data.len());
    for end in 0..data.len() {
        let cut = outcome(format, options, &data[..end], end);
        let Some((last, before)) = cut.messages.split_last() else {
            continue;
        };
        // What is cut before the fault of the whole may end where a message may end; and the last
        // token may be another one: of `21.5`, `21.` is a number and a dot.
        let sure = last.quads.len().saturating_sub(1);
        let known = whole.messages.get(before.len());
        let fits = before.len() <= whole.messages.len()
            && before
                .iter()
                .zip(&whole.messages)
                .all(|(a, b)| a.quads == b.quads)
            && known.map_or(whole.error.is_some(), |known| {
                known.quads.starts_with(&last.quads[..sure])
            });
        assert!(
            fits,
            "{}: the first {end} bytes give other messages than the whole:\n{:#?}\nwhole:\n{:#?}",
            format.name(),
            cut,
            whole
        );
    }
}

/// With skipping, decoding ends, and pieces change nothing.
pub fn skipping(format: Format, options: &DecodeOptions, data: &[u8]) {
    let whole = skip_all(format, options, data, data.len());
    for piece in [1, 7] {
        assert!(
            skip_all(format, options, data, piece) == whole,
            "{}: skipping in pieces of {piece} bytes:\n{:#?}\nwhole:\n{whole:#?}",
            format.name(),
            skip_all(format, options, data, piece),
        );
    }
}

/// The messages, and every error with the bytes skipped after it; None where nothing could resume.
type Skipped = (Vec<Message>, Vec<(DecodeError, Option<Vec<u8>>)>);

fn skip_all(format: Format, options: &DecodeOptions, data: &[u8], piece: usize) -> Skipped {
    let mut driver = Driver::new(make(format, options), data, piece);
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    loop {
        match driver.next_batch() {
            Ok(Some(batch)) => found.extend(messages(&batch)),
            Ok(None) => return (found, faults),
            Err(error) => {
                assert!(faults.len() <= data.len(), "skipping does not end");
                if let Ok(bytes) = driver.skip_message() {
                    faults.push((error, Some(bytes)));
                } else {
                    faults.push((error, None));
                    return (found, faults);
                }
            }
        }
    }
}

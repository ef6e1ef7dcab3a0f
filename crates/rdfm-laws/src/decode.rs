//! The laws of decoders.
//!
//! - Pieces: cutting the bytes differently changes neither the messages nor the error.
//! - Reset: after a reset, a decoder behaves like a new one.
//! - Fast paths: the general path has the same result.
//! - Batches: the result does not depend on how messages are divided into batches. Parts together
//!   equal the complete message.
//! - Truncation: any prefix of a log yields a prefix of its messages, except that the last one may
//!   be shorter.
//! - Skipped lines: the messages are those of the log without these lines.
//! - An error is repeated on later calls, there are no panics, and every loop terminates.

use rdfm_core::codec::Decoder;
use rdfm_core::codec::batch::{Batch, LogRecord};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::error::DecodeError;
use rdfm_core::model::fast_path::FastPath;
use rdfm_core::model::record::ResultHead;

use crate::message::{Message, ToValues, messages};
use crate::options::Reading;

/// Piece sizes to try, in addition to the complete input.
pub const PIECES: [usize; 5] = [1, 2, 3, 7, 4096];

/// The result of decoding: the header, the messages, and the error.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The header of the log.
    pub head: ResultHead,
    /// The messages, in log order.
    pub messages: Vec<Message>,
    /// The error that stopped decoding before the end, or `None`.
    pub error: Option<DecodeError>,
}

/// A decoder and its input pieces.
struct Driver<'a> {
    decoder: Box<dyn Decoder>,
    pieces: std::slice::Chunks<'a, u8>,
    finished: bool,
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
            assert!(!self.finished, "requests input after the end");
            self.decoder.finish();
            self.finished = true;
        }
    }

    fn next_batch(&mut self) -> Result<Option<Batch>, DecodeError> {
        loop {
            match self.decoder.next_batch() {
                Ok(Some(batch)) => return Ok(Some(batch)),
                Ok(None) if self.finished => return Ok(None),
                Ok(None) => self.feed(),
                Err(error) => {
                    let repeated = self.decoder.next_batch();
                    assert_eq!(
                        repeated.err().as_ref(),
                        Some(&error),
                        "the error is repeated"
                    );
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

/// A decoded batch, converted to values.
pub struct BatchValues {
    /// Messages of the batch.
    pub messages: Vec<Message>,
    /// The header of the log.
    pub head: ResultHead,
    continued: bool,
    continues: bool,
}

/// Converts a batch to values.
pub fn values_of(batch: &Batch) -> BatchValues {
    fn of<R: ToValues>(batch: &LogBatch<R>, head: ResultHead) -> BatchValues {
        BatchValues {
            messages: messages(batch),
            head,
            continued: batch.continued(),
            continues: batch.continues(),
        }
    }
    let actual = match batch {
        Batch::Messages(batch) => of(batch, ResultHead::default()),
        Batch::Patches(batch) => of(batch, ResultHead::default()),
        Batch::Results(batch) => of(batch, (**batch.head()).clone()),
    };
    assert!(
        !actual.messages.is_empty() || batch.kind() == Kind::Results,
        "a batch contains a message"
    );
    actual
}

/// Decodes a log and passes every batch to a callback. Returns the error that stopped decoding.
pub fn drive(
    reading: &Reading,
    data: &[u8],
    piece: usize,
    callback: impl FnMut(Batch),
) -> Option<DecodeError> {
    continue_driving(reading.decoder(), data, piece, callback)
}

fn continue_driving(
    decoder: Box<dyn Decoder>,
    data: &[u8],
    piece: usize,
    mut callback: impl FnMut(Batch),
) -> Option<DecodeError> {
    let mut driver = Driver::new(decoder, data, piece);
    loop {
        match driver.next_batch() {
            Ok(Some(batch)) => callback(batch),
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}

/// Returns the batches of a log of a known kind, and the error that stopped decoding.
pub fn batches<R: LogRecord>(
    reading: &Reading,
    data: &[u8],
) -> (Vec<LogBatch<R>>, Option<DecodeError>) {
    let mut batches = Vec::new();
    let error = drive(reading, data, data.len(), |batch| {
        batches.push(R::from_batch(batch).expect("a batch of the format's kind"));
    });
    (batches, error)
}

/// Decodes in pieces of the given size.
pub fn outcome(reading: &Reading, data: &[u8], piece: usize) -> Outcome {
    outcome_of(reading.decoder(), data, piece)
}

fn outcome_of(decoder: Box<dyn Decoder>, data: &[u8], piece: usize) -> Outcome {
    let mut batches = Vec::new();
    let error = continue_driving(decoder, data, piece, |batch| batches.push(batch));
    outcome_in(&batches, error)
}

/// Converts decoded batches to values.
pub fn outcome_in(batches: &[Batch], error: Option<DecodeError>) -> Outcome {
    let mut outcome = Outcome {
        head: ResultHead::default(),
        messages: Vec::new(),
        error,
    };
    for (index, batch) in batches.iter().enumerate() {
        let values = values_of(batch);
        assert!(
            index == 0 || values.head == outcome.head,
            "every batch has the head of the log"
        );
        outcome.head = values.head;
        outcome.messages.extend(values.messages);
    }
    for (index, message) in outcome.messages.iter().enumerate() {
        assert_eq!(
            message.message_index, index as u64,
            "messages are numbered in order"
        );
    }
    outcome
}

/// Decoding in pieces equals decoding in one piece. Returns the outcome.
pub fn pieces(reading: &Reading, data: &[u8]) -> Outcome {
    let whole = outcome(reading, data, data.len());
    for size in PIECES {
        decode_in_pieces(reading, data, size, &whole);
    }
    whole
}

/// Decoding in pieces of the given size equals decoding in one piece.
pub fn decode_in_pieces(reading: &Reading, data: &[u8], size: usize, whole: &Outcome) {
    let actual = outcome(reading, data, size);
    assert!(
        actual == *whole,
        "{}: pieces of {size} bytes change the outcome:\n{actual:#?}\nwhole:\n{whole:#?}",
        reading.format.name,
    );
}

/// A decoder that is reset in any state behaves like a new one.
pub fn reset(reading: &Reading, data: &[u8], whole: &Outcome) {
    for end in [data.len() / 3, data.len()] {
        for finished in [false, true] {
            let mut decoder = reading.decoder();
            decoder.feed(&data[..end]);
            if finished {
                decoder.finish();
            }
            while let Ok(Some(_)) = decoder.next_batch() {}
            decoder.reset();
            assert_same(
                reading,
                &outcome_of(decoder, data, data.len()),
                whole,
                "log before a reset",
            );
        }
    }
}

/// Batches of any size contain the same messages.
pub fn batch_sizes(reading: &Reading, data: &[u8], whole: &Outcome) {
    for size in [1, 2, 7] {
        let small = reading.clone().with("batch_messages", size);
        assert_same(
            reading,
            &outcome(&small, data, data.len()),
            whole,
            "batch_messages",
        );
        let small = reading.clone().with("batch_quads", size);
        assert_same(reading, &outcome(&small, data, 5), whole, "batch_quads");
    }
    let small = reading.clone().with("batch_bytes", 64);
    assert_same(
        reading,
        &outcome(&small, data, data.len()),
        whole,
        "batch_bytes",
    );
}

fn assert_same(reading: &Reading, actual: &Outcome, whole: &Outcome, description: &str) {
    assert!(
        actual == whole,
        "{}: a different {description} changes the outcome:\n{actual:#?}\nwhole:\n{whole:#?}",
        reading.format.name
    );
}

/// Decoding without a fast path has the same result.
pub fn fast_paths(reading: &Reading, data: &[u8], whole: &Outcome) {
    for (path, name) in FastPath::ALL {
        let actual = path.without(|| outcome(reading, data, data.len()));
        assert_same(reading, &actual, whole, name);
    }
}

/// The parts of messages together equal the messages. After an error, a part of an incomplete
/// message may remain.
pub fn parts(reading: &Reading, data: &[u8], whole: &Outcome) {
    let options = reading.clone().in_parts().with("batch_quads", 1);
    for piece in [data.len(), 3] {
        let mut joined: Vec<Message> = Vec::new();
        let mut open = false;
        let error = drive(&options, data, piece, |batch| {
            let batch = values_of(&batch);
            assert_eq!(batch.continued, open, "{}: continued", reading.format.name);
            open = batch.continues;
            let mut parts = batch.messages.into_iter();
            if batch.continued {
                let (rest, last) = (parts.next(), joined.last_mut());
                let (rest, last) = (rest.expect("a part"), last.expect("an earlier part"));
                assert_eq!(
                    rest.message_index, last.message_index,
                    "{}: the parts of a message have different indexes",
                    reading.format.name
                );
                last.records.extend(rest.records);
                last.metadata.extend(rest.metadata);
                last.namespaces = rest.namespaces;
            }
            joined.extend(parts);
        });
        assert_eq!(
            error.as_ref().map(|error| &error.reason),
            whole.error.as_ref().map(|error| &error.reason),
            "{}: reading in parts changes the error",
            reading.format.name
        );
        if open {
            assert!(
                error.is_some(),
                "{}: the last part is incomplete",
                reading.format.name
            );
            joined.pop();
        }
        assert_eq!(
            joined
                .iter()
                .map(|message| &message.records)
                .collect::<Vec<_>>(),
            whole
                .messages
                .iter()
                .map(|message| &message.records)
                .collect::<Vec<_>>(),
            "{}: parts together differ from the complete messages",
            reading.format.name
        );
    }
}

/// Every prefix of the bytes yields a prefix of the messages. The last message may be shorter and
/// may differ in its last record.
pub fn truncations(reading: &Reading, data: &[u8]) {
    let whole = outcome(reading, data, data.len());
    for end in 0..data.len() {
        let cut = outcome(reading, &data[..end], end);
        let Some((last, before)) = cut.messages.split_last() else {
            continue;
        };
        // If the complete log has an error, a prefix may contain the beginning of the invalid
        // message as a complete message.
        // The last token may differ: in `21.5`, `21.` is a number and a dot.
        let certain = last.records.len().saturating_sub(1);
        let known = whole.messages.get(before.len());
        let fits = before.len() <= whole.messages.len()
            && before
                .iter()
                .zip(&whole.messages)
                .all(|(a, b)| a.records == b.records)
            && known.map_or(whole.error.is_some(), |known| {
                known.records.starts_with(&last.records[..certain])
            });
        assert!(
            fits,
            "{}: the first {end} bytes yield different messages from the complete input:\n{:#?}\nwhole:\n{:#?}",
            reading.format.name, cut, whole
        );
    }
}

/// Decoding with recovery terminates, and the result does not depend on how the input is cut.
pub fn skipping(reading: &Reading, data: &[u8]) {
    let whole = skip_all(reading, data, data.len());
    for piece in [1, 7] {
        assert!(
            skip_all(reading, data, piece) == whole,
            "{}: skipping in pieces of {piece} bytes changes the outcome:\n{:#?}\nwhole:\n{whole:#?}",
            reading.format.name,
            skip_all(reading, data, piece),
        );
    }
}

/// Makes each message of a valid log of datasets invalid in turn. All other messages must be read
/// as before, regardless of how the input is cut. The only exceptions are messages that need
/// declarations of the invalid message.
pub fn each_invalid(reading: &Reading, data: &[u8]) {
    let mut starts = Vec::new();
    let error = drive(reading, data, data.len(), |batch| {
        starts.extend(positions(&batch));
    });
    let whole = outcome(reading, data, data.len());
    let applies = reading.format.resumable && reading.format.kinds == [Kind::Messages];
    if error.is_some() || !applies {
        return;
    }
    for (invalid, &start) in starts.iter().enumerate() {
        if whole.messages[invalid].records.is_empty() {
            continue;
        }
        // A closing bracket is never valid at the start of a message.
        let modified = [&data[..start], b"]", &data[start..]].concat();
        let (messages, errors) = skip_all(reading, &modified, modified.len());
        assert!(
            !errors[0].0.may_follow_from_skipping()
                && errors[0].0.position.message_index == Some(invalid as u64)
                && errors
                    .iter()
                    .skip(1)
                    .all(|(error, _)| error.may_follow_from_skipping()),
            "{}: only message {invalid} is invalid, but the errors are:\n{errors:#?}",
            reading.format.name,
        );
        let lost: Vec<_> = errors
            .iter()
            .filter_map(|(error, _)| error.position.message_index)
            .collect();
        let content = |message: &Message| (message.message_index, message.records.clone());
        let contents: Vec<_> = messages.iter().map(content).collect();
        let others: Vec<_> = whole
            .messages
            .iter()
            .filter(|message| !lost.contains(&message.message_index))
            .map(content)
            .collect();
        assert!(
            contents == others,
            "{}: message {invalid} is invalid, and the other messages are read as:\n{contents:#?}\nnot:\n{others:#?}",
            reading.format.name,
        );
        assert!(skip_all(reading, &modified, 1) == (messages, errors));
    }
}

/// Start positions of the messages in a batch.
fn positions(batch: &Batch) -> Vec<usize> {
    fn of<R: ToValues>(batch: &LogBatch<R>) -> Vec<usize> {
        (0..batch.len())
            .map(|index| batch.byte_offset(index).expect("a log of bytes"))
            .map(|offset| usize::try_from(offset).expect("a log in memory"))
            .collect()
    }
    match batch {
        Batch::Messages(batch) => of(batch),
        Batch::Patches(batch) => of(batch),
        Batch::Results(batch) => of(batch),
    }
}

/// The messages, and every error with the bytes skipped after it, or `None` if reading could not
/// resume.
type Skipped = (Vec<Message>, Vec<(DecodeError, Option<Vec<u8>>)>);

fn skip_all(reading: &Reading, data: &[u8], piece: usize) -> Skipped {
    let mut driver = Driver::new(reading.decoder(), data, piece);
    let (mut messages, mut errors) = (Vec::new(), Vec::new());
    loop {
        match driver.next_batch() {
            Ok(Some(batch)) => messages.extend(values_of(&batch).messages),
            Ok(None) => return (messages, errors),
            Err(error) => {
                assert!(errors.len() <= data.len(), "skipping does not terminate");
                if let Ok(bytes) = driver.skip_message() {
                    errors.push((error, Some(bytes)));
                } else {
                    errors.push((error, None));
                    return (messages, errors);
                }
            }
        }
    }
}

/// What a decoder that skips lines returns.
#[derive(Debug, PartialEq)]
struct KeptLines {
    messages: Vec<Message>,
    lines: Vec<(DecodeError, Vec<u8>)>,
    error: Option<DecodeError>,
}

fn keep_lines(reading: &Reading, data: &[u8], piece: usize) -> KeptLines {
    let mut decoder = reading.decoder();
    let mut pieces = data.chunks(piece.max(1));
    let mut kept = KeptLines {
        messages: Vec::new(),
        lines: Vec::new(),
        error: None,
    };
    let (mut finished, mut continues) = (false, false);
    loop {
        let result = decoder.next_batch();
        let lines = decoder.take_skipped_lines();
        let has_lines = !lines.is_empty();
        kept.lines.extend(lines);
        match result {
            Ok(Some(batch)) => {
                let values = values_of(&batch);
                let mut messages = values.messages.into_iter();
                assert_eq!(continues, values.continued);
                if values.continued
                    && let (Some(first), Some(rest)) = (kept.messages.last_mut(), messages.next())
                {
                    first.records.extend(rest.records);
                }
                kept.messages.extend(messages);
                continues = values.continues;
            }
            Ok(None) if has_lines => {}
            Ok(None) if finished => return kept,
            Ok(None) => {
                if let Some(piece) = pieces.next() {
                    decoder.feed(piece);
                } else {
                    decoder.finish();
                    finished = true;
                }
            }
            Err(error) => {
                kept.error = Some(error);
                return kept;
            }
        }
    }
}

/// Skipping lines does not depend on the pieces, also with messages in parts, and returns the
/// messages of the log without the skipped lines.
pub fn skipped_lines(reading: &Reading, data: &[u8]) {
    if !reading.format.skips_lines {
        return;
    }
    for reading in [
        reading.clone(),
        reading.clone().in_parts().with("batch_quads", 2),
    ] {
        let mut skipping = reading.clone();
        skipping.opening.skip_lines = true;
        let kept = keep_lines(&skipping, data, data.len());
        for size in PIECES {
            let cut = keep_lines(&skipping, data, size);
            assert_eq!(
                cut,
                kept,
                "{reading:?}: skipped lines in pieces of {size}: {:?}",
                String::from_utf8_lossy(data)
            );
        }
        if kept.error.is_some() {
            continue;
        }
        let good = without_lines(data, &kept.lines);
        let plain = keep_lines(&reading, &good, good.len());
        let texts = |messages: &[Message]| -> Vec<_> {
            let fields = messages
                .iter()
                .map(|message| (message.message_index, message.records.clone()));
            fields.collect()
        };
        assert_eq!(
            (texts(&kept.messages), None),
            (texts(&plain.messages), plain.error),
            "{reading:?}: skipped lines of {:?}",
            String::from_utf8_lossy(data)
        );
    }
}

/// The log without these lines.
fn without_lines(data: &[u8], lines: &[(DecodeError, Vec<u8>)]) -> Vec<u8> {
    let mut good = Vec::new();
    let mut rest = data;
    let mut skipped = lines.iter().peekable();
    let mut offset = 0;
    while !rest.is_empty() {
        let text = line_length(rest);
        let end = match &rest[text..] {
            [b'\r', b'\n', ..] => text + 2,
            [] => text,
            _ => text + 1,
        };
        let is_skipped = skipped.peek().is_some_and(|(error, line)| {
            let byte = error.position.byte_offset.expect("the offset is known");
            (offset..=offset + text as u64).contains(&byte) && rest[..text].ends_with(line)
        });
        if is_skipped {
            skipped.next();
        } else {
            good.extend_from_slice(&rest[..end]);
        }
        offset += end as u64;
        rest = &rest[end..];
    }
    assert_eq!(skipped.next(), None, "every skipped line is a line");
    good
}

/// Length of the first line without its end.
fn line_length(text: &[u8]) -> usize {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    end.unwrap_or(text.len())
}

//! The law of splits: for any cuts, the splits contain the messages and errors of the complete log,
//! each once and in order. Counting delimiters assigns the same message numbers as decoding. Splits of
//! lines contain the quads of a plain log, each once and in order; a delimiter is an error.

use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::options::{LENIENT, READ_DIALECT};
use rdfm_core::codec::{Dialect, Split};
use rdfm_core::model::error::{DecodeError, ErrorClass};
use rdfm_core::model::term::Quad;

use crate::message::{Message, Values, messages};
use crate::mutate::Random;
use crate::options::Reading;

/// A message or an error, as returned by a decoder.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    Message(Message),
    /// An error and the bytes skipped after it, or `None` if reading could not resume.
    Error(DecodeError, Option<Vec<u8>>),
}

/// Cuts the log at regular intervals of several sizes.
pub fn every_cut(reading: &Reading, data: &[u8]) {
    let length = data.len();
    for step in [7, 40, length / 3 + 1, length / 2 + 1] {
        let cuts: Vec<usize> = (step..length).step_by(step).collect();
        read_at_cuts(reading, data, &cuts, 4096);
    }
}

/// Cuts the log at one to three positions that its bytes determine.
pub fn some_cuts(reading: &Reading, data: &[u8]) {
    let mut random = Random::from_data(data);
    let mut cuts: Vec<usize> = (0..=random.next_below(3))
        .map(|_| 1 + random.next_below(data.len()))
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    read_at_cuts(reading, data, &cuts, 1 + random.next_below(64));
}

/// Checks that the splits between the cuts together equal the complete log. The cuts must be at
/// least 1 and in ascending order.
pub fn read_at_cuts(reading: &Reading, data: &[u8], cuts: &[usize], piece: usize) {
    if reading.format.binary {
        check_frames_at_cuts(reading, data, cuts, piece, Marks::Any);
        return;
    }
    check_lines_at_cuts(reading, data, cuts, piece);
    let Some(dialect) = dialect_of(reading, data).filter(|dialect| *dialect != Dialect::Plain)
    else {
        return;
    };
    let starts = [0].iter().chain(cuts);
    let stops = cuts.iter().chain(&[usize::MAX]);
    let (mut read_events, mut indivisible) = (Vec::new(), false);
    let (mut delimiters, mut leading) = (0, 0);
    let mut splits = Vec::new();
    for (&start, &stop) in starts.zip(stops) {
        let mut split = reading.clone();
        split.opening.split = Some(Split {
            start: start as u64,
            stop: stop as u64,
            dialect: Some(dialect),
        });
        let input = data.get(start.saturating_sub(1)..).unwrap_or_default();
        let mut counter = split.counter();
        for piece in input.chunks(piece) {
            counter.feed(piece);
        }
        counter.finish();
        indivisible |= counter.is_indivisible();
        if delimiters == 0 && counter.is_content_first() {
            leading = 1;
        }
        splits.push((split, input, delimiters));
        delimiters += counter.delimiters();
    }
    for (mut split, input, before) in splits {
        let inner = split.opening.split.is_some_and(|split| split.start > 0);
        split.opening.first_message_index = inner.then_some(before + leading);
        let events = read(&split, input, piece);
        // A log with an error that cannot be skipped has no splits.
        indivisible |= events
            .iter()
            .any(|event| matches!(event, Event::Error(_, None)));
        read_events.extend(events);
    }
    if indivisible {
        let contains = |word: &[u8]| data.windows(word.len()).any(|window| window == word);
        assert!(
            contains(b"VERSION") || reading.values().is_on(&LENIENT) && contains(b"MESSAGE"),
            "{}: a log that never changes its dialect has splits at {cuts:?}: {}",
            reading.format.name,
            String::from_utf8_lossy(data)
        );
        return;
    }
    let mut whole = read(reading, data, data.len());
    for event in whole.iter_mut().chain(&mut read_events) {
        if let Event::Error(error, _) = event {
            error.position.line_column = None;
        }
    }
    assert!(
        read_events == whole,
        "{}: the splits at {cuts:?} (pieces of {piece}, {reading:?}) give\n{read_events:#?}\nwhole:\n{whole:#?}\nof {:?}",
        reading.format.name,
        String::from_utf8_lossy(data)
    );
}

/// Checks that the splits of lines between the cuts together equal the only message of a plain log,
/// and that a log with delimiters is rejected.
fn check_lines_at_cuts(reading: &Reading, data: &[u8], cuts: &[usize], piece: usize) {
    let starts = [0].iter().chain(cuts);
    let stops = cuts.iter().chain(&[usize::MAX]);
    let mut events = Vec::new();
    for (&start, &stop) in starts.zip(stops) {
        let mut split = reading.clone();
        split.opening.split = Some(Split {
            start: start as u64,
            stop: stop as u64,
            dialect: Some(Dialect::Plain),
        });
        let input = data.get(start.saturating_sub(1)..).unwrap_or_default();
        events.extend(read(&split, input, piece));
        if matches!(events.last(), Some(Event::Error(..))) {
            break;
        }
    }
    let whole = read(reading, data, data.len());
    let (found, failure) = quads_before_error(&events);
    let (expected, error) = quads_before_error(&whole);
    let context = || {
        format!(
            "{}: the lines at {cuts:?} (pieces of {piece}, {reading:?}) give\n{events:#?}\nwhole:\n{whole:#?}\nof {:?}",
            reading.format.name,
            String::from_utf8_lossy(data)
        )
    };
    let common = found.len().min(expected.len());
    assert!(found[..common] == expected[..common], "{}", context());
    match (failure, error) {
        (None, None) => {
            let indices = whole.iter().filter_map(|event| match event {
                Event::Message(message) => Some(message.message_index),
                Event::Error(..) => None,
            });
            assert!(
                found == expected && indices.max().unwrap_or(0) == 0,
                "{}",
                context()
            );
        }
        (None, Some(error)) => assert!(error.class == ErrorClass::Limit, "{}", context()),
        (Some(failure), error) => {
            // Each part of a message has the limits of a message.
            let is_expected = error.is_some_and(|error| {
                error.position.byte_offset == failure.position.byte_offset
                    || (error.class, failure.class) == (ErrorClass::Limit, ErrorClass::Limit)
            });
            assert!(
                is_expected || failure.class == ErrorClass::Unsupported,
                "{}",
                context()
            );
        }
    }
}

/// The quads before the first error, and that error.
fn quads_before_error(events: &[Event]) -> (Vec<&Values>, Option<&DecodeError>) {
    let mut quads = Vec::new();
    for event in events {
        match event {
            Event::Message(message) => quads.extend(&message.records),
            Event::Error(error, _) => return (quads, Some(error)),
        }
    }
    (quads, None)
}

/// Whether the restart marks of a log of frames are known to be correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// An encoder wrote the log.
    Correct,
    /// Any frame may have a mark.
    Any,
}

/// The law for logs of frames. The splits return the messages of the complete log, each once and
/// in order, up to the first error. If the marks are correct, splits add no errors. Wrong marks
/// cause errors, never wrong messages.
pub fn check_frames_at_cuts(
    reading: &Reading,
    data: &[u8],
    cuts: &[usize],
    piece: usize,
    marks: Marks,
) {
    let mut decoder = reading.clone().with("batch_messages", 1).decoder();
    decoder.feed(data);
    decoder.finish();
    drop(decoder.next_batch());
    if !decoder.header().restarts {
        return;
    }
    let whole = read(reading, data, data.len());
    let is_correct = marks == Marks::Correct;
    let starts = [0].iter().chain(cuts);
    let stops = cuts.iter().chain(&[usize::MAX]);
    let (mut first_message_index, mut index) = (0, 0);
    for (&start, &stop) in starts.zip(stops) {
        let mut split = reading.clone();
        split.opening.split = Some(Split {
            start: start as u64,
            stop: stop as u64,
            dialect: None,
        });
        split.opening.first_message_index = Some(first_message_index);
        let input = data.get(start.saturating_sub(1)..).unwrap_or_default();
        let mut counter = split.counter();
        for piece in input.chunks(piece) {
            counter.feed(piece);
        }
        counter.finish();
        assert!(
            !(is_correct && counter.is_indivisible()),
            "frames are damaged at {cuts:?}: {data:x?}"
        );
        let before = index;
        for event in read(&split, input, piece) {
            if matches!(event, Event::Error(..)) {
                let is_equal = whole.get(index) == Some(&event);
                assert!(
                    is_equal || !is_correct,
                    "{event:?} in the split at {start} of {cuts:?}: {data:x?}"
                );
                return;
            }
            let is_equal = match (&event, whole.get(index)) {
                (Event::Message(actual), Some(Event::Message(expected))) => {
                    let mut actual = actual.clone();
                    if !is_correct {
                        // A frame with a wrong mark need not declare the namespaces in force.
                        actual.namespaces.clone_from(&expected.namespaces);
                    }
                    actual == *expected
                }
                _ => false,
            };
            assert!(
                is_equal,
                "the split at {start} of {cuts:?} (pieces of {piece}) returns {event:?}, the log {:?}: {data:x?}",
                whole.get(index)
            );
            index += 1;
        }
        let count = (index - before) as u64;
        assert_eq!(
            counter.delimiters(),
            count,
            "messages of the split at {start} of {cuts:?}: {data:x?}"
        );
        first_message_index += count;
    }
    assert_eq!(
        index,
        whole.len(),
        "the splits at {cuts:?} lose later messages: {data:x?}"
    );
}

/// Returns the requested dialect, or by default the one that the first message determines. Returns
/// `None` if the first message does not determine any.
fn dialect_of(reading: &Reading, data: &[u8]) -> Option<Dialect> {
    let reading = reading.clone().with("batch_messages", 1);
    let mut decoder = reading.decoder();
    decoder.feed(data);
    decoder.finish();
    drop(decoder.next_batch());
    let dialect = decoder.header().dialect?;
    let requested = reading
        .values()
        .text(&READ_DIALECT)
        .and_then(Dialect::from_name);
    Some(requested.unwrap_or(dialect))
}

fn read(reading: &Reading, data: &[u8], piece: usize) -> Vec<Event> {
    let mut decoder = reading.decoder();
    let mut pieces = data.chunks(piece.max(1));
    let (mut events, mut finished) = (Vec::new(), false);
    let mut pending: Option<DecodeError> = None;
    loop {
        if let Some(error) = pending.take() {
            match decoder.skip_message() {
                Ok(Some(bytes)) => {
                    events.push(Event::Error(error, Some(bytes)));
                    continue;
                }
                Ok(None) => pending = Some(error),
                Err(last) => {
                    events.push(Event::Error(last, None));
                    return events;
                }
            }
        } else {
            match decoder.next_batch_of::<Quad>() {
                Ok(Some(batch)) => {
                    events.extend(messages(&batch).into_iter().map(Event::Message));
                    continue;
                }
                Ok(None) if finished || decoder.is_done() => return events,
                Ok(None) => {}
                Err(error) => {
                    pending = Some(error);
                    continue;
                }
            }
        }
        assert!(!finished, "requests input after the end");
        if let Some(piece) = pieces.next() {
            decoder.feed(piece);
        } else {
            decoder.finish();
            finished = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use rdfm_core::codec::options::DIALECTS;

    use super::*;

    const LOGS: [&str; 17] = [
        "<a:> <b:> <c:> .\n# @message\n<a:> <b:> <d:> .\n# @message\n# @message\n<a:> <b:> <e:> .",
        "# c\n\n# @message\n<a:> <b:> <c:> .\r\n#@message x\r\n\r\n<a:> <b:> <d:> .\r\n# @message\r\n",
        "<a:> <b:> <c:> .\r# @message\r\r<a:> <b:> \"# @message\" .\r# @message\r# @message\r",
        "<a:> <b:> <c:> . # @message\n<a:> <b:> <d:> .# @message\n # @message\n<a:> <b:> <e:> . #",
        "VERSION \"1.2-messages\"\n<a:> <b:> <c:> .\nMESSAGE\nMESSAGE # x\n# @message\n<a:> <b:> <d:> .\nMESSAGE\n",
        "VERSION \"1.2-messages\" # @message\n\nMESSAGE\n MESSAGE\n<a:> <b:> <d:> .\n",
        "# @message\nbad\n# @message\n<a:> <b:> <1:> . # @message\n<a:> <b:> <c:> .\n# @message\nbad # @message",
        "bad\n# @message\n<a:> <b:> \"MESSAGE\" .\n# @message\nMESSAGE\nMESSAGE # @message\n<a:> <b:> <c:> .",
        "VERSION \"1.2-messages\"\nMESSAGE x\nMESSAGE\nVERSION bad\n<a:> <b:> <c:> .\nMESSAGE\nbad\nMESSAGE\n",
        "\u{feff}# @message\n<a:> <b:> <c:> .\n# @message\n<a:> <b:> <d:> .\n",
        "\u{feff}<a> <b:> <c:> . # @message\n<a:> <b:> <c:> .\n# @message\n",
        "<a:> <b:> <c:> .\n# @message\nVERSION \"1.2-messages\"\n<a:> <b:> <c:> .\nMESSAGE\n<a:> <b:> <c:> .\n# @message\n",
        "VERSION \"1.1\"\n<a:> <b:> <c:> .\nMESSAGE\n<a:> <b:> <d:> .\nMESSAGE\n# @message\n<a:> <b:> <d:> .\n",
        "\n\n\n\n# @message\n\n\n# @message",
        "<a:> <b:> <c:> .\nMESSAGE one delimiter\n# @message\n<a:> <b:> <d:> .\n# @message\n<a:> <b:> <e:> .\n",
        "<a:> <b:> <c:> .\r\n\r\n# c\n<a:> <b:> \"# @message\" .\r_:d <b:> <e:> . # c\n\n<a:> <b:> _:d .",
        "VERSION \"1.2\"\n<a:> <b:> <c:> .\nbad\n<a:> <b:> _:d .\n",
    ];

    fn ways_of_all_kinds(format: &str) -> Vec<Reading> {
        let plain = Reading::for_format(format);
        let mut all = vec![
            plain.clone(),
            plain
                .clone()
                .with("max_message_bytes", 120)
                .with("batch_messages", 1),
            plain.clone().with("announced", "1.2-messages"),
        ];
        for dialect in DIALECTS {
            all.push(plain.clone().with("dialect", *dialect));
        }
        let lenient = all
            .clone()
            .into_iter()
            .map(|reading| reading.with("lenient", true).with("generalized", true));
        all.extend(lenient.collect::<Vec<_>>());
        all
    }

    #[test]
    fn one_cut_at_any_byte_does_not_lose_data() {
        for reading in ways_of_all_kinds("nq") {
            for log in LOGS {
                for cut in 1..=log.len() + 1 {
                    for piece in [1, 2, 3, 7, 4096] {
                        read_at_cuts(&reading, log.as_bytes(), &[cut], piece);
                    }
                }
            }
        }
    }

    #[test]
    fn cuts_at_regular_intervals_do_not_lose_data() {
        for reading in ways_of_all_kinds("nt") {
            for log in LOGS {
                for step in 1..20 {
                    let cuts: Vec<usize> = (1..=log.len()).step_by(step).collect();
                    read_at_cuts(&reading, log.as_bytes(), &cuts, 5);
                }
            }
        }
    }
}

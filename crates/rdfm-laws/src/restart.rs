//! The laws of restart frames in Jelly logs.
//!
//! - Restart: decoding from any mark returns the rest of the messages.
//! - Join: the concatenation of two logs with the same options is read as the messages of both. The
//!   only difference is that the namespaces of the first log remain in force in the second, because
//!   Jelly cannot remove them.
//! - Splits: wherever a log is cut, every message is returned once. Wrong marks cause errors, never
//!   wrong messages.

use rdfm_core::formats::jelly::restart::{MARK_BYTES, MarkFinder, MarkSearch, is_marked, put_mark};
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::Quad;

use crate::decode::{batches, outcome};
use crate::message::{Message, ToValues};
use crate::mutate::Random;
use crate::options::{Reading, Writing};
use crate::split::{Marks, check_frames_at_cuts};

use rdfm_core::codec::spec::Kind;

/// Decodes `data` up to its first error, writes it as Jelly, and checks all laws.
pub fn every_law(reading: &Reading, data: &[u8]) {
    match reading.format.kinds[0] {
        Kind::Messages => {
            let (batches, _) = batches::<Quad>(reading, data);
            let mut random = Random::from_data(data);
            let restart_bytes =
                [1, 1 + random.next_below(300) as u64, 4 << 20][random.next_below(3)];
            let frame_rows = 1 + random.next_below(20) as u64;
            for writing in [writing("jelly"), in_columns(frame_rows)] {
                let writing = writing.with("restart_bytes", restart_bytes);
                let Some(log) = encode(&writing, &batches) else {
                    continue;
                };
                read_from_every_mark(&log);
                join("jelly", &log);
                read_in_splits(&log, &mut random, Marks::Correct);
                read_in_splits(
                    &with_wrong_marks(&log, &mut random),
                    &mut random,
                    Marks::Any,
                );
            }
        }
        Kind::Patches => {
            let (batches, _) = batches::<Operation>(reading, data);
            if let Some(log) = encode(&writing("jelly-patch"), &batches) {
                join("jelly-patch", &log);
            }
        }
        Kind::Results => {}
    }
}

/// Options to write everything that a log may contain.
fn writing(format: &str) -> Writing {
    Writing::for_format(format)
        .with("generalized", true)
        .with("rdf_star", true)
        .with_if_supported("namespaces", true)
}

/// Options to write Jelly 1.2, in frames with this number of statements.
fn in_columns(frame_rows: u64) -> Writing {
    Writing::for_format("jelly")
        .with("jelly_version", "1.2")
        .with("namespaces", true)
        .with("frame_rows", frame_rows)
}

/// Encodes batches as a log. Returns `None` if a message is rejected.
fn encode<R: ToValues>(writing: &Writing, batches: &[LogBatch<R>]) -> Option<Vec<u8>> {
    let mut encoder = writing.encoder();
    let mut out = Vec::new();
    for batch in batches {
        encoder.encode(batch.into(), &mut out).ok()?;
    }
    encoder.finish(&mut out).ok()?;
    Some(out)
}

/// Returns the messages of a valid log.
fn read(format: &str, log: &[u8]) -> Vec<Message> {
    let actual = outcome(&Reading::for_format(format), log, log.len());
    assert_eq!(actual.error, None, "{format}: {log:x?}");
    actual.messages
}

/// The content of messages, without data that depends on earlier messages.
fn write_content(
    messages: &[Message],
) -> impl Iterator<Item = (&[Vec<crate::message::Term>], String)> {
    let metadata = |message: &Message| format!("{:?}", message.metadata);
    messages
        .iter()
        .map(move |message| (&message.records[..], metadata(message)))
}

/// Offsets of the marked frames.
fn marks(log: &[u8]) -> Vec<usize> {
    let finder = MarkFinder::default();
    let (mut positions, mut from) = (Vec::new(), 0);
    while let MarkSearch::Found(start) = finder.find(log, from) {
        positions.push(start);
        from = start + 1;
    }
    positions
}

/// Decoding from any mark returns the rest of the messages, with the same namespaces in force.
fn read_from_every_mark(log: &[u8]) {
    let whole = read("jelly", log);
    let positions = marks(log);
    assert_eq!(positions.is_empty(), whole.is_empty(), "{log:x?}");
    for start in positions {
        let index = whole
            .iter()
            .position(|message| message.byte_offset == Some(start as u64))
            .expect("a message begins at every mark");
        let rest = read("jelly", &log[start..]);
        assert!(
            write_content(&rest).eq(write_content(&whole[index..])),
            "from {start}: {log:x?}"
        );
        let namespaces = |messages: &[Message]| -> Vec<_> {
            messages
                .iter()
                .map(|message| message.namespaces.clone())
                .collect()
        };
        assert_eq!(
            namespaces(&rest),
            namespaces(&whole[index..]),
            "from {start}: {log:x?}"
        );
    }
}

/// A log concatenated with itself is read as its messages, twice.
fn join(format: &str, log: &[u8]) {
    let once = read(format, log);
    let twice = [once.clone(), once].concat();
    let joined = [log, log].concat();
    assert!(
        write_content(&read(format, &joined)).eq(write_content(&twice)),
        "{format}, joined: {log:x?}"
    );
}

fn read_in_splits(log: &[u8], random: &mut Random, marks: Marks) {
    let reading = Reading::for_format("jelly");
    for count in [1, 4] {
        let mut cuts: Vec<usize> = (0..count)
            .map(|_| 1 + random.next_below(log.len().max(1)))
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        let piece = 1 + random.next_below(300);
        check_frames_at_cuts(&reading, log, &cuts, piece, marks);
    }
}

/// Adds marks to some frames that depend on earlier ones, with and without the options row.
fn with_wrong_marks(log: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    let mut options = &[][..];
    for (index, frame) in frames(log).into_iter().enumerate() {
        if index == 0 && is_marked(frame) {
            let rows = &frame[MARK_BYTES..];
            options = &rows[..2 + rows[1] as usize];
        }
        let mut rows = Vec::new();
        if !is_marked(frame) && random.next_below(2) == 0 {
            if random.next_below(2) == 0 {
                rows.extend_from_slice(options);
            }
            rows.extend_from_slice(frame);
            let length = (MARK_BYTES + rows.len()) as u64;
            put_length(&mut out, length);
            put_mark(&mut out, length);
        } else {
            rows.extend_from_slice(frame);
            put_length(&mut out, rows.len() as u64);
        }
        out.append(&mut rows);
    }
    out
}

/// The frames of a valid log, without their lengths.
fn frames(log: &[u8]) -> Vec<&[u8]> {
    let (mut frames, mut rest) = (Vec::new(), log);
    while !rest.is_empty() {
        let size = 1 + rest.iter().take_while(|byte| **byte >= 0x80).count();
        let prefix = rest[..size].iter().rev();
        let length = prefix.fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
        let (frame, after) = rest[size..].split_at(length);
        frames.push(frame);
        rest = after;
    }
    frames
}

fn put_length(out: &mut Vec<u8>, mut length: u64) {
    while length >= 0x80 {
        out.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    out.push((length & 0x7f) as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages with few prefixes and names, so that frames depend on earlier ones.
    fn text(messages: usize) -> Vec<u8> {
        let mut random = Random::new(messages as u64);
        let mut lines = Vec::new();
        for _ in 0..messages {
            for _ in 0..random.next_below(5) {
                let [s, p, o] = [5, 3, 9].map(|bound| random.next_below(bound));
                lines.push(format!(
                    "<http://a/{s}> <http://b#{p}> \"{o}\"^^<http://d/{p}> <http://g/{s}> .\n"
                ));
            }
            lines.push("# @message\n".to_owned());
        }
        lines.concat().into_bytes()
    }

    #[test]
    fn logs_with_marks_can_be_cut_anywhere() {
        let reading = Reading::for_format("nq");
        let (actual, _) = batches::<Quad>(&reading, &text(24));
        for (restart_bytes, writing) in [
            (1, writing("jelly")),
            (100, writing("jelly")),
            (200, writing("jelly")),
            (1, in_columns(3)),
            (100, in_columns(3)),
            (100, in_columns(4)),
        ] {
            let writing = writing.with("restart_bytes", restart_bytes);
            let log = encode(&writing, &actual).expect("a log");
            assert!(marks(&log).len() > 2);
            let reading = Reading::for_format("jelly");
            for cut in 1..=log.len() {
                check_frames_at_cuts(&reading, &log, &[cut], 4096, Marks::Correct);
                check_frames_at_cuts(&reading, &log, &[cut, cut + 50], 13, Marks::Correct);
            }
            for step in [1, 7, 40] {
                let cuts: Vec<usize> = (1..log.len()).step_by(step).collect();
                check_frames_at_cuts(&reading, &log, &cuts, 100, Marks::Correct);
            }
        }
    }

    #[test]
    fn wrong_marks_are_errors() {
        for seed in 0..200 {
            let data = text(3 + seed % 20);
            let reading = Reading::for_format("nq");
            let (actual, _) = batches::<Quad>(&reading, &data);
            let layouts = [writing("jelly"), in_columns(1 + seed as u64 % 5)];
            let writing = layouts[seed % 2].clone().with("restart_bytes", 1000);
            let log = encode(&writing, &actual).expect("a log");
            let mut random = Random::new(seed as u64);
            let modified = with_wrong_marks(&log, &mut random);
            let cuts: Vec<usize> = marks(&modified).into_iter().skip(1).collect();
            for joins in ["error", "warn", "new"] {
                let reading = Reading::for_format("jelly").with("joins", joins);
                check_frames_at_cuts(&reading, &modified, &cuts, 64, Marks::Any);
                for cut in &cuts {
                    check_frames_at_cuts(&reading, &modified, &[*cut], 64, Marks::Any);
                }
            }
        }
    }

    #[test]
    fn all_laws_apply_to_generated_logs() {
        for messages in [0, 1, 2, 7, 50] {
            every_law(&Reading::for_format("nq"), &text(messages));
        }
    }
}

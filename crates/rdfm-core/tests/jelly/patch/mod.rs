//! Jelly-Patch: decoding, encoding and errors. Each operation of a patch is represented by a line
//! of text, as in `spec-fixtures/jelly-patch`.

mod files;
mod read;
mod write;

use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::batch::PatchBatch;
use rdfm_core::model::error::{DecodeError, EncodeError, ErrorClass};
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::TermId;
use rdfm_core::model::write::write_term;

use crate::jelly::wire::{bytes, number, row};
use crate::support::{Options, PIECES, decoder, encoder};

pub const FRAME: u64 = 1;
pub const FLAT: u64 = 2;
pub const PUNCTUATED: u64 = 3;
pub const TRIPLES: u64 = 1;
pub const QUADS: u64 = 2;

/// An operation as a line.
pub fn line(batch: &PatchBatch, operation: &Operation) -> String {
    let mut out = operation.code.name().as_bytes().to_vec();
    let terms = [
        operation.name,
        operation.subject,
        operation.predicate,
        operation.object,
        operation.graph,
    ];
    for id in terms.into_iter().filter(|id| *id != TermId::DEFAULT_GRAPH) {
        out.push(b' ');
        write_term(batch.table(), id, &mut out);
    }
    out.extend_from_slice(b" .");
    String::from_utf8(out).unwrap()
}

/// The patches of a log, with their parts joined, their positions, and the error if there is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub positions: Vec<u64>,
    pub patches: Vec<Vec<String>>,
    pub error: Option<DecodeError>,
}

impl Outcome {
    pub fn reason(&self) -> String {
        self.error.as_ref().unwrap().to_string()
    }

    pub fn class(&self) -> ErrorClass {
        self.error.as_ref().unwrap().class
    }
}

/// Reads a log in pieces. Also returns the number of batches.
pub fn read_pieces(options: &Options, log: &[u8], piece: usize) -> (Outcome, usize) {
    let mut decoder = decoder("jelly-patch", options).unwrap();
    let mut actual = Outcome::default();
    let mut batches = 0;
    let mut pieces = log.chunks(piece.max(1));
    let mut finished = false;
    loop {
        match decoder.next_batch_of::<Operation>() {
            Ok(Some(batch)) => {
                batches += 1;
                for position in 0..batch.len() {
                    let lines = batch.message(position).iter();
                    let lines: Vec<String> = lines.map(|each| line(&batch, each)).collect();
                    if position == 0 && batch.continued() {
                        actual.patches.last_mut().unwrap().extend(lines);
                        continue;
                    }
                    let index = batch.first_message_index() + position as u64;
                    assert_eq!(index, actual.patches.len() as u64);
                    actual.positions.push(batch.byte_offset(position).unwrap());
                    actual.patches.push(lines);
                }
            }
            Ok(None) if finished => return (actual, batches),
            Ok(None) => {
                if let Some(piece) = pieces.next() {
                    decoder.feed(piece);
                } else {
                    decoder.finish();
                    finished = true;
                }
            }
            Err(error) => {
                assert_eq!(decoder.next_batch_of::<Operation>().unwrap_err(), error);
                actual.error = Some(error);
                return (actual, batches);
            }
        }
    }
}

/// Reads a log in one piece, in several pieces and in small batches. The results must be equal.
pub fn read_with(options: &Options, log: &[u8]) -> Outcome {
    let whole = read_pieces(options, log, log.len()).0;
    for piece in PIECES {
        assert_eq!(read_pieces(options, log, piece).0, whole, "{piece}");
    }
    let small = options.clone().and("batch_messages", 1);
    assert_eq!(read_pieces(&small, log, 3).0, whole);
    whole
}

pub fn read(log: &[u8]) -> Outcome {
    read_with(&Options::default(), log)
}

/// The batches of a log without errors.
pub fn batches(options: &Options, log: &[u8]) -> Vec<PatchBatch> {
    let mut decoder = decoder("jelly-patch", options).unwrap();
    decoder.feed(log);
    decoder.finish();
    std::iter::from_fn(|| decoder.next_batch_of::<Operation>().unwrap()).collect()
}

/// Returns the output, counts of dropped data, and the error.
pub fn write(
    options: &Options,
    batches: &[PatchBatch],
) -> (Vec<u8>, Vec<(&'static str, u64)>, Option<EncodeError>) {
    let mut encoder = encoder("jelly-patch", options).unwrap();
    let mut out = Vec::new();
    for batch in batches {
        if let Err(error) = encoder.encode(batch.into(), &mut out) {
            let length = out.len();
            assert_eq!(encoder.finish(&mut out), Err(error.clone()));
            assert_eq!(out.len(), length, "nothing is written after an error");
            return (out, encoder.dropped_counts(), Some(error));
        }
    }
    let error = encoder.finish(&mut out).err();
    (out, encoder.dropped_counts(), error)
}

/// An options row with a stream type, a statement type, and added or replaced fields.
pub fn options(stream: u64, statements: u64, more: &[Vec<u8>]) -> Vec<u8> {
    let fields = [
        number(1, statements),
        number(2, stream),
        number(9, 16),
        number(10, 4),
        number(11, 4),
        number(15, 1),
    ];
    row(1, [fields.concat(), more.concat()].concat())
}

pub const ADD: u64 = 2;
pub const DELETE: u64 = 3;
pub const BEGIN: u64 = 6;
pub const COMMIT: u64 = 7;
pub const ABORT: u64 = 8;

/// A statement of blank nodes.
pub fn triple(code: u64, s: &str, p: &str, o: &str) -> Vec<u8> {
    row(code, [bytes(2, s), bytes(6, p), bytes(10, o)].concat())
}

/// A statement of blank nodes in a graph.
pub fn quad(code: u64, s: &str, p: &str, o: &str, g: &str) -> Vec<u8> {
    let terms = [bytes(2, s), bytes(6, p), bytes(10, o), bytes(14, g)];
    row(code, terms.concat())
}

/// A row without fields.
pub fn bare(code: u64) -> Vec<u8> {
    row(code, "")
}

/// A punctuation row, which ends a patch.
pub fn mark() -> Vec<u8> {
    row(15, "")
}

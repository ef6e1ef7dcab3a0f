//! The SPARQL result formats: the W3C suites and Jena's files, the rules of each format, and
//! errors.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

mod jelly;
mod rules;
mod suites;
mod writing;

use rdfm_core::codec::Decoder;
use rdfm_core::codec::batch::{Batch, NextBatchOf as _};
use rdfm_core::model::batch::ResultBatch;
use rdfm_core::model::error::{DecodeError, EncodeError};
use rdfm_core::model::record::ResultHead;
use rdfm_core::model::term::TermId;
use rdfm_core::model::write::write_term;

use crate::support::{Options, PIECES, decoder, encoder};

/// All formats except CSV.
const LOSSLESS_FORMATS: [&str; 6] = [
    "results-thrift",
    "results-protobuf",
    "results-json",
    "results-xml",
    "results-tsv",
    "results-jelly",
];

/// A result set: the cells of each row as N-Triples, or empty if unbound.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Read {
    head: Option<ResultHead>,
    rows: Vec<Vec<String>>,
    error: Option<DecodeError>,
}

impl Read {
    fn variables(&self) -> Vec<&str> {
        let head = self.head.as_ref().expect("a head");
        head.variables.iter().map(|name| &**name).collect()
    }

    fn boolean(&self) -> Option<bool> {
        self.head.as_ref().and_then(|head| head.boolean)
    }

    fn without_error(self) -> Self {
        assert_eq!(self.error, None);
        self
    }

    fn reason(&self) -> &str {
        self.error.as_ref().expect("an error").reason.text()
    }
}

fn cells(batch: &ResultBatch, row: usize) -> Vec<String> {
    let cell = |id: &TermId| {
        let mut out = Vec::new();
        write_term(batch.table(), *id, &mut out);
        String::from_utf8(out).expect("terms are UTF-8")
    };
    batch.message(row).iter().map(cell).collect()
}

fn drain(decoder: &mut dyn Decoder, read: &mut Read, batches: &mut Vec<ResultBatch>) {
    loop {
        match decoder.next_batch_of::<TermId>() {
            Ok(None) => return,
            Ok(Some(batch)) => {
                let head = (**batch.head()).clone();
                assert!(read.head.as_ref().is_none_or(|known| *known == head));
                read.head = Some(head);
                assert_eq!(batch.first_message_index(), read.rows.len() as u64);
                read.rows
                    .extend((0..batch.len()).map(|row| cells(&batch, row)));
                batches.push(batch);
            }
            Err(error) => {
                assert_eq!(decoder.next_batch().err().as_ref(), Some(&error));
                read.error = Some(error);
                return;
            }
        }
    }
}

fn read_in(format: &str, options: &Options, log: &[u8], piece: usize) -> (Read, Vec<ResultBatch>) {
    let mut decoder = decoder(format, options).expect("options");
    let mut batches = Vec::new();
    let mut read = Read {
        head: None,
        rows: Vec::new(),
        error: None,
    };
    for piece in log.chunks(piece.max(1)) {
        decoder.feed(piece);
        drain(&mut *decoder, &mut read, &mut batches);
        if read.error.is_some() {
            return (read, batches);
        }
    }
    decoder.finish();
    drain(&mut *decoder, &mut read, &mut batches);
    (read, batches)
}

/// Reads a log in one piece and in several; any difference fails the test.
fn read_with(format: &str, options: &Options, log: impl AsRef<[u8]>) -> Read {
    let log = log.as_ref();
    let whole = read_in(format, options, log, log.len()).0;
    for size in PIECES {
        let cut = read_in(format, options, log, size).0;
        let shown = String::from_utf8_lossy(log);
        assert_eq!(cut, whole, "in pieces of {size}: {shown}");
    }
    whole
}

fn read(format: &str, log: impl AsRef<[u8]>) -> Read {
    read_with(format, &Options::default(), log)
}

/// Returns the batches of a valid log.
fn batches(format: &str, log: impl AsRef<[u8]>) -> Vec<ResultBatch> {
    let log = log.as_ref();
    let (read, batches) = read_in(format, &Options::default(), log, log.len());
    assert_eq!(read.error, None, "{}", String::from_utf8_lossy(log));
    batches
}

fn write_with(
    format: &str,
    options: &Options,
    batches: &[ResultBatch],
) -> (Vec<u8>, Result<(), EncodeError>) {
    let mut encoder = encoder(format, options).expect("options");
    let mut out = Vec::new();
    for batch in batches {
        let batch = Batch::Results(batch.clone());
        if let Err(error) = encoder.encode((&batch).into(), &mut out) {
            return (out, Err(error));
        }
    }
    let result = encoder.finish(&mut out);
    (out, result)
}

/// Converts a log to another format.
fn convert(from: &str, log: impl AsRef<[u8]>, to: &str) -> Vec<u8> {
    let (out, result) = write_with(to, &Options::default(), &batches(from, log));
    assert_eq!(result, Ok(()), "{from} to {to}");
    out
}

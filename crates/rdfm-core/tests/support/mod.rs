//! Helpers for codec tests: decoding in one piece and in several, and files of the suites.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a failing test may panic"
)]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;

use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::{GivenValue, Values};
use rdfm_core::codec::{Decoder, Encoder, Opening, Parts, Source};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::DecodeError;
use rdfm_core::model::remedy::Reason;
use rdfm_core::model::term::{Quad, TermId};
use rdfm_core::model::write::write_term;
use rdfm_core::registry;

/// Piece sizes with which every log is read, in addition to reading it in one piece.
pub const PIECES: [usize; 5] = [1, 2, 3, 7, 4096];

/// Settings of a codec: options by name, how the log is opened, and the source of messages.
#[derive(Clone, Debug, Default)]
pub struct Options {
    given: Vec<(&'static str, GivenValue)>,
    pub opening: Opening,
    pub source: Option<Source>,
}

impl Options {
    /// Options with a single value.
    pub fn with(name: &'static str, value: impl Into<GivenValue>) -> Self {
        Self::default().and(name, value)
    }

    /// Adds or replaces an option.
    pub fn and(mut self, name: &'static str, value: impl Into<GivenValue>) -> Self {
        self.given.retain(|(known, _)| *known != name);
        self.given.push((name, value.into()));
        self
    }

    /// Sets whether messages larger than a batch are read in parts.
    pub fn parts(mut self, always: bool) -> Self {
        self.opening.parts = if always { Parts::Always } else { Parts::Never };
        self
    }

    /// Reads messages with many frames in parts.
    pub fn frames_in_parts(mut self) -> Self {
        self.opening.parts = Parts::Frames;
        self
    }
}

/// Creates a decoder for a format.
pub fn decoder(format: &str, options: &Options) -> Result<Box<dyn Decoder>, Reason> {
    let spec = registry::find(format).expect("a format");
    let values = Values::read(spec.reads(), options.given.clone())?;
    registry::new_decoder(spec, &values, &options.opening)
}

/// Creates an encoder for a format.
pub fn encoder(format: &str, options: &Options) -> Result<Box<dyn Encoder>, Reason> {
    let spec = registry::find(format).expect("a format");
    let values = Values::read(spec.writes(), options.given.clone())?;
    registry::new_encoder(spec, &values, options.source.as_ref())
}

/// The quads of each message as lines of N-Quads, and the error.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub messages: Vec<Vec<String>>,
    pub error: Option<DecodeError>,
}

pub fn lines(batch: &MessageBatch, message: usize) -> Vec<String> {
    let line = |quad: &Quad| {
        let mut out = Vec::new();
        for id in [quad.subject, quad.predicate, quad.object, quad.graph] {
            if id != TermId::DEFAULT_GRAPH {
                write_term(batch.table(), id, &mut out);
                out.push(b' ');
            }
        }
        out.push(b'.');
        String::from_utf8(out).expect("terms are UTF-8")
    };
    batch.message(message).iter().map(line).collect()
}

/// Takes all available batches of a decoder. Parts of a message are joined.
fn drain(decoder: &mut dyn Decoder, outcome: &mut Outcome) {
    loop {
        match decoder.next_batch_of::<Quad>() {
            Ok(None) => return,
            Ok(Some(batch)) => {
                for message in 0..batch.len() {
                    let lines = lines(&batch, message);
                    if message == 0 && batch.continued() {
                        let last = outcome.messages.last_mut().expect("a message to continue");
                        last.extend(lines);
                    } else {
                        let index = batch.first_message_index() + message as u64;
                        assert_eq!(index, outcome.messages.len() as u64);
                        outcome.messages.push(lines);
                    }
                }
            }
            Err(error) => {
                assert_eq!(
                    decoder.next_batch_of::<Quad>().err().as_ref(),
                    Some(&error),
                    "the error is repeated"
                );
                outcome.error = Some(error);
                return;
            }
        }
    }
}

pub fn decode(format: &str, options: &Options, log: &[u8], piece: usize) -> Outcome {
    let mut decoder = decoder(format, options).expect("options");
    let mut outcome = Outcome {
        messages: Vec::new(),
        error: None,
    };
    for piece in log.chunks(piece.max(1)) {
        decoder.feed(piece);
        drain(&mut *decoder, &mut outcome);
        if outcome.error.is_some() {
            return outcome;
        }
    }
    decoder.finish();
    drain(&mut *decoder, &mut outcome);
    outcome
}

/// Decodes a log in one piece and in several; any difference fails the test.
pub fn decode_every_way(format: &str, options: &Options, log: &[u8]) -> Outcome {
    let whole = decode(format, options, log, log.len());
    for size in PIECES {
        let cut = decode(format, options, log, size);
        assert_eq!(
            cut,
            whole,
            "in pieces of {size}: {}",
            String::from_utf8_lossy(log)
        );
    }
    whole
}

/// Reads a log and resumes after every error. Returns the index and the text of each message and of
/// each skipped part. The text of a skipped part begins with `skipped`, or with `follows, skipped`
/// if its error is a consequence of an earlier one.
pub fn skipping(format: &str, options: &Options, log: &[u8], piece: usize) -> Vec<(u64, String)> {
    let mut decoder = decoder(format, options).unwrap();
    let mut seen = Vec::new();
    let mut pieces = log.chunks(piece.max(1));
    let mut finished = false;
    loop {
        let error = match decoder.next_batch_of::<Quad>() {
            Ok(Some(batch)) => {
                for message in 0..batch.len() {
                    let text = lines(&batch, message).join("|");
                    seen.push((batch.first_message_index() + message as u64, text));
                }
                continue;
            }
            Ok(None) if finished => return seen,
            Ok(None) => None,
            Err(error) => match decoder.skip_message().unwrap() {
                Some(skipped) => {
                    let text = String::from_utf8_lossy(&skipped).into_owned();
                    let index = error.position.message_index.unwrap();
                    let prefix = if error.may_follow_from_skipping() {
                        "follows, "
                    } else {
                        ""
                    };
                    seen.push((index, format!("{prefix}skipped {text}")));
                    continue;
                }
                None => Some(error),
            },
        };
        assert!(
            error.is_none() || !finished,
            "a skip ends at the end of the log"
        );
        if let Some(piece) = pieces.next() {
            decoder.feed(piece);
        } else {
            decoder.finish();
            finished = true;
        }
    }
}

/// Like [`skipping`], in one piece and in several; any difference fails the test.
pub fn skipping_every_way(format: &str, options: &Options, log: &[u8]) -> Vec<(u64, String)> {
    let whole = skipping(format, options, log, log.len());
    for size in PIECES {
        let cut = skipping(format, options, log, size);
        assert_eq!(
            cut,
            whole,
            "in pieces of {size}: {}",
            String::from_utf8_lossy(log)
        );
    }
    whole
}

/// The folder of the suites, from `RDFM_SHARED`.
fn suites() -> PathBuf {
    let folder = std::env::var_os("RDFM_SHARED").filter(|folder| !folder.is_empty());
    PathBuf::from(folder.expect(
        "RDFM_SHARED does not name a folder; a test that reads suites is ignored by default \
         (`#[ignore = \"reads suites\"]`), and `make test-suites` runs it",
    ))
}

/// A file or folder of the suites, or None after reporting that it is missing.
///
/// # Panics
///
/// If `RDFM_SHARED` is not set, or the file is missing and `RDFM_REQUIRE_SHARED` is 1.
pub fn shared_path(path: &str) -> Option<PathBuf> {
    let actual = suites().join(path);
    if actual.exists() {
        return Some(actual);
    }
    let required = std::env::var_os("RDFM_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "{} is missing", actual.display());
    println!("skipped: {} is missing", actual.display());
    None
}

/// The content of a file of the suites, or None after reporting that it is missing.
pub fn shared(path: &str) -> Option<Vec<u8>> {
    shared_path(path).map(|path| std::fs::read(path).expect("a readable file"))
}

/// The files of a gzipped tar archive, by path.
pub fn archive(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    for entry in archive.entries().expect("a tar archive") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").display().to_string();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("content");
        files.insert(path, content);
    }
    files
}

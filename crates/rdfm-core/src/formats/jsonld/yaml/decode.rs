//! YAML-LD logs: a document is a context, an empty message or a message.
//!
//! - In: pieces, cut anywhere; a document is read when the line that ends it is there.
//! - Out: batches of complete messages, as soon as no whole document is left.
//! - Cost: linear; memory holds a document, its tape, a piece and a batch.
//! - Law: the cutting changes neither the messages nor the error.

use super::compose::Composer;
use super::stream::{Next, Search};
use crate::codec::{Decoder, Noticed};
use crate::formats::jsonld::lines::{BOM, check_utf8};
use crate::formats::jsonld::options::Reading;
use crate::formats::jsonld::reader::MessageReader;
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::error::{DecodeError, ErrorClass, Position};
use crate::model::remedy::Reason;
use crate::syntax::json::{Kind, ParseError, Tape, View};
use crate::syntax::text::position::Lines;

/// Reads YAML-LD.
pub struct YamlDecoder {
    reader: MessageReader,
    builder: BatchBuilder,
    composer: Composer,
    tape: Tape,
    buffer: Vec<u8>,
    /// First byte that is not read.
    at: usize,
    search: Search,
    lines: Lines,
    max: u64,
    finished: bool,
    failed: Option<DecodeError>,
}

impl YamlDecoder {
    /// A decoder.
    ///
    /// # Errors
    /// The base is not an absolute IRI.
    pub(in crate::formats::jsonld) fn new(options: &Reading) -> Result<Self, Reason> {
        Ok(Self {
            reader: MessageReader::new(options)?,
            builder: BatchBuilder::new(options.limits.clone()),
            composer: Composer::default(),
            tape: Tape::new(),
            buffer: Vec::new(),
            at: 0,
            search: Search::default(),
            lines: Lines::default(),
            max: options.limits.max_message_bytes,
            finished: false,
            failed: None,
        })
    }

    /// Reads a document; an error tells its position in it.
    fn document(&mut self, end: usize) -> Result<(), ParseError> {
        let text = self.buffer.get(self.at..end).unwrap_or_default();
        check_utf8(text)?;
        let text = std::str::from_utf8(text).unwrap_or_default();
        if !self
            .composer
            .compose(text, &mut self.tape, self.reader.bounds())?
        {
            return Ok(());
        }
        let first = self.tape.nodes().first().map(|node| (node.kind, node.at));
        match first {
            None | Some((Kind::Null, _)) => {
                self.tape.clear();
                let bounds = *self.reader.bounds();
                self.tape.start(Kind::Object, 0, &bounds)?;
                self.tape.end(0, &[], &bounds)?;
            }
            Some((Kind::Object | Kind::Array, _)) => {}
            Some((_, at)) => {
                return Err(ParseError {
                    at: at as usize,
                    class: ErrorClass::Malformed,
                    reason: "a message is a mapping (key: value), and this document is a scalar"
                        .into(),
                });
            }
        }
        let view = View {
            tape: &self.tape,
            source: text.as_bytes(),
        };
        let start = self.lines.offset() + u64::from(view.node(0).at);
        self.reader.read_nodes(&view, start, &mut self.builder)
    }

    /// Turns an error at a byte from `at` into the decoder's error.
    #[cold]
    fn fail(&mut self, error: ParseError, last: bool) {
        let at = (self.at + error.at).min(self.buffer.len());
        let class = match error.class {
            ErrorClass::Truncated if !last => ErrorClass::Malformed,
            class => class,
        };
        let before = self.buffer.get(self.at..at).unwrap_or_default();
        self.failed = Some(DecodeError {
            format: "yamlld",
            class,
            reason: error.reason,
            position: Position {
                offset: self.lines.offset() + before.len() as u64,
                message: Some(self.builder.message_index()),
                line_column: Some(self.lines.position(before)),
                frame_row: None,
            },
        });
        self.buffer = Vec::new();
    }

    /// Goes behind a document.
    fn advance(&mut self, end: usize) {
        let read = self.buffer.get(self.at..end).unwrap_or_default();
        self.lines.advance(read);
        self.at = end;
    }

    /// Passes over a byte order mark. False if it cannot be known yet whether there is one.
    fn mark_is_passed(&mut self) -> bool {
        if self.lines.offset() > 0 {
            return true;
        }
        if self.buffer.starts_with(BOM) {
            self.advance(BOM.len());
            self.search = Search::from(self.at);
            return true;
        }
        self.finished || !BOM.starts_with(&self.buffer[..self.buffer.len().min(BOM.len())])
    }
}

impl Decoder for YamlDecoder {
    fn feed(&mut self, piece: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        if self.at >= self.buffer.len() - self.at {
            self.buffer.drain(..self.at);
            self.search.drained(self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(piece);
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn next_batch(&mut self) -> Result<Option<MessageBatch>, DecodeError> {
        loop {
            if let Some(error) = &self.failed {
                return match self.builder.take() {
                    Some(batch) => Ok(Some(batch)),
                    None => Err(error.clone()),
                };
            }
            if !self.mark_is_passed() {
                return Ok(self.builder.take());
            }
            let next = self.search.next(&self.buffer, self.finished);
            let end = match next {
                Next::Document { end, .. } => end,
                Next::Feed | Next::Done => self.search.least_end(&self.buffer),
            };
            if (end - self.at) as u64 > self.max {
                let error = ParseError {
                    at: 0,
                    class: ErrorClass::Limit,
                    reason: Reason::limit(
                        format!("the document is longer than {} bytes", self.max),
                        "max_message_bytes",
                    ),
                };
                self.fail(error, false);
                continue;
            }
            match next {
                Next::Feed | Next::Done => return Ok(self.builder.take()),
                Next::Document { end, last } => match self.document(end) {
                    Ok(()) => {
                        self.advance(end);
                        if self.builder.full() && self.builder.has_messages() {
                            return Ok(self.builder.take());
                        }
                    }
                    Err(error) => self.fail(error, last),
                },
            }
        }
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        self.failed.clone().map_or(Ok(None), Err)
    }

    fn reset(&mut self) {
        self.reader.reset();
        self.builder.reset();
        self.buffer.clear();
        self.at = 0;
        self.search = Search::default();
        self.lines = Lines::default();
        self.finished = false;
        self.failed = None;
    }

    fn noticed(&self) -> Noticed {
        self.reader.noticed()
    }
}

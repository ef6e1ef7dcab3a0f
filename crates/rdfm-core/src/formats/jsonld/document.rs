//! JSON-LD documents: one document is one message.
//!
//! - In: the bytes of a document. Out: a batch of one message; none for an input of white space.
//! - Cost: memory holds the document and its tape.
//! - Law: an input that ends too early is truncated; how it is cut changes nothing.

use super::lines::BOM;
use super::options::Reading;
use super::reader::MessageReader;
use crate::codec::{Decoder, Noticed};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::error::{DecodeError, ErrorClass, Position};
use crate::model::remedy::Reason;
use crate::syntax::json::{ParseError, Tape, View, parse};
use crate::syntax::text::position::Lines;

/// Reads one document.
pub struct DocumentDecoder {
    reader: MessageReader,
    builder: BatchBuilder,
    tape: Tape,
    buffer: Vec<u8>,
    max: u64,
    lenient: bool,
    finished: bool,
    read: bool,
    failed: Option<DecodeError>,
}

impl DocumentDecoder {
    /// A decoder.
    ///
    /// # Errors
    /// The base is not an absolute IRI.
    pub(super) fn new(options: &Reading) -> Result<Self, Reason> {
        Ok(Self {
            reader: MessageReader::new(options)?,
            builder: BatchBuilder::new(options.limits.clone()),
            tape: Tape::new(),
            buffer: Vec::new(),
            max: options.limits.max_message_bytes,
            lenient: options.lenient,
            finished: false,
            read: false,
            failed: None,
        })
    }

    fn document(&mut self) -> Result<(), ParseError> {
        super::lines::check_mark(&self.buffer, self.lenient)?;
        let start = if self.buffer.starts_with(BOM) {
            BOM.len()
        } else {
            0
        };
        super::lines::check_utf8(&self.buffer)?;
        // The mark is white space to the parser, so that every position is one of the input.
        self.buffer[..start].fill(b' ');
        if self.buffer.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        parse(&self.buffer, &mut self.tape, self.reader.bounds())?;
        let view = View {
            tape: &self.tape,
            source: &self.buffer,
        };
        let start = u64::from(view.node(0).at);
        self.reader.read_document(&view, start, &mut self.builder)
    }

    fn too_long(&self) -> ParseError {
        ParseError {
            at: 0,
            class: ErrorClass::Limit,
            reason: Reason::limit(
                format!("the document is longer than {} bytes", self.max),
                "max_message_bytes",
            ),
        }
    }
}

impl Decoder for DocumentDecoder {
    fn feed(&mut self, piece: &[u8]) {
        if self.failed.is_none() && self.buffer.len() as u64 <= self.max {
            self.buffer.extend_from_slice(piece);
        }
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn next_batch(&mut self) -> Result<Option<MessageBatch>, DecodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let outcome = if self.read {
            return Ok(None);
        } else if self.buffer.len() as u64 > self.max {
            Err(self.too_long())
        } else if self.finished {
            self.read = true;
            self.document()
        } else {
            return Ok(None);
        };
        if let Err(error) = outcome {
            let at = error.at.min(self.buffer.len());
            let error = DecodeError {
                format: "jsonld",
                class: error.class,
                reason: error.reason,
                position: Position {
                    offset: at as u64,
                    message: Some(0),
                    line_column: Some(Lines::default().position(&self.buffer[..at])),
                    frame_row: None,
                },
            };
            self.buffer = Vec::new();
            self.failed = Some(error.clone());
            return Err(error);
        }
        self.buffer.clear();
        Ok(self.builder.take())
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        self.failed.clone().map_or(Ok(None), Err)
    }

    fn reset(&mut self) {
        self.reader.reset();
        self.builder.reset();
        self.buffer.clear();
        self.finished = false;
        self.read = false;
        self.failed = None;
    }

    fn noticed(&self) -> Noticed {
        Noticed {
            trailing_namespaces: 0,
            ..self.reader.noticed()
        }
    }
}

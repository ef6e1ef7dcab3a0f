//! JSON-LD documents, each of which is one message.
//!
//! - In: the bytes of a document. Out: a batch of one message; no batch if the input is only white
//!   space.
//! - Cost: the document and its tape are in memory.
//! - Law: input that ends too early is reported as truncated. The result does not depend on how the
//!   input is cut.

use super::lines::{check_utf8, read_error, too_long};
use super::options::DocumentReading;
use super::reader::MessageReader;
use crate::codec::Observations;
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::chars::BOM;
use crate::model::remedy::Reason;
use crate::model::term::Quad;
use crate::syntax::json::{ParseError, Tape, View, parse};
use crate::syntax::text::position::LinePosition;

/// Reads one document.
pub struct DocumentReader {
    reader: MessageReader,
    builder: BatchBuilder,
    tape: Tape,
    max: u64,
    read: bool,
}

impl DocumentReader {
    /// Creates a reader.
    ///
    /// # Errors
    /// If the base is not an absolute IRI.
    pub(super) fn new(options: &DocumentReading) -> Result<Self, Reason> {
        Ok(Self {
            reader: MessageReader::new(options)?,
            builder: BatchBuilder::new(options.limits.clone()),
            tape: Tape::new(),
            max: options.limits.max_message_bytes,
            read: false,
        })
    }

    fn read_document(&mut self, text: &mut [u8]) -> Result<(), ParseError> {
        let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
        check_utf8(text)?;
        // The byte order mark is replaced by white space, so that positions refer to the input.
        text[..start].fill(b' ');
        if text.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        parse(text, &mut self.tape, self.reader.bounds())?;
        let view = View {
            tape: &self.tape,
            source: text,
        };
        let start = u64::from(view.node(0).index);
        self.reader.read_document(&view, start, &mut self.builder)
    }
}

impl Reader for DocumentReader {
    type Record = Quad;

    fn builder_mut(&mut self) -> &mut BatchBuilder {
        &mut self.builder
    }

    fn reset(&mut self) {
        self.reader.reset();
        self.read = false;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        let whole = self.needs_more_input(input);
        if self.read || (whole && !input.finished) {
            return Ok(None);
        }
        self.read = true;
        let read = if whole {
            self.read_document(&mut input.bytes)
        } else {
            Err(too_long("document", self.max))
        };
        read.map_err(|error| read_error(&LinePosition::default(), input, error, true))?;
        Ok(self.builder.take())
    }

    /// Whether more input is needed. Returns false once the document is too long.
    fn needs_more_input(&self, input: &Buffer) -> bool {
        input.bytes.len() as u64 <= self.max
    }

    fn observations(&self) -> Observations {
        Observations {
            trailing_namespaces: 0,
            ..self.reader.observations()
        }
    }
}

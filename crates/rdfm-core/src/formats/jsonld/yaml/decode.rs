//! YAML-LD logs: a document is a context, an empty message or a message.
//!
//! - In: pieces, cut anywhere; a document is read when the line that ends it is there.
//! - Out: batches of complete messages, as soon as no whole document is left.
//! - Cost: linear; memory holds a document, its tape, a piece and a batch.
//! - Law: the cutting changes neither the messages nor the error.

use super::compose::Composer;
use super::stream::{Next, Search};
use crate::codec::Noticed;
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::formats::jsonld::lines::{BOM, check_utf8, read_error, too_long};
use crate::formats::jsonld::options::Reading;
use crate::formats::jsonld::reader::MessageReader;
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::error::ErrorClass;
use crate::model::remedy::Reason;
use crate::model::term::Quad;
use crate::syntax::json::{Kind, ParseError, Tape, View};
use crate::syntax::text::position::Lines;

/// Reads YAML-LD.
pub struct YamlReader {
    reader: MessageReader,
    builder: BatchBuilder,
    composer: Composer,
    tape: Tape,
    search: Search,
    lines: Lines,
    max: u64,
}

impl YamlReader {
    /// A reader.
    ///
    /// # Errors
    /// The base is not an absolute IRI.
    pub(in crate::formats::jsonld) fn new(options: &Reading) -> Result<Self, Reason> {
        Ok(Self {
            reader: MessageReader::new(options)?,
            builder: BatchBuilder::new(options.limits.clone()),
            composer: Composer::default(),
            tape: Tape::new(),
            search: Search::default(),
            lines: Lines::default(),
            max: options.limits.max_message_bytes,
        })
    }

    /// Reads a document; an error tells its position in it.
    fn document(&mut self, input: &Buffer, end: usize) -> Result<(), ParseError> {
        let text = input.bytes.get(input.at..end).unwrap_or_default();
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
        let start = input.offset() + u64::from(view.node(0).at);
        self.reader.read_nodes(&view, start, &mut self.builder)
    }

    /// Goes behind a document.
    fn go_to(&mut self, input: &mut Buffer, end: usize) {
        let read = input.bytes.get(input.at..end).unwrap_or_default();
        self.lines.advance(read);
        input.at = end;
    }

    /// Passes over a byte order mark. False if it cannot be known yet whether there is one.
    fn mark_is_passed(&mut self, input: &mut Buffer) -> bool {
        if input.offset() > 0 {
            return true;
        }
        if input.bytes.starts_with(BOM) {
            self.go_to(input, BOM.len());
            self.search = Search::from(input.at);
            return true;
        }
        input.finished || !BOM.starts_with(&input.bytes[..input.bytes.len().min(BOM.len())])
    }
}

impl Reader for YamlReader {
    type Record = Quad;

    fn builder(&mut self) -> &mut BatchBuilder {
        &mut self.builder
    }

    fn reset(&mut self) {
        self.reader.reset();
        self.search = Search::default();
        self.lines = Lines::default();
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        loop {
            if !self.mark_is_passed(input) {
                return Ok(self.builder.take());
            }
            let next = self.search.next(&input.bytes, input.finished);
            let end = match next {
                Next::Document { end, .. } => end,
                Next::Feed | Next::Done => self.search.least_end(&input.bytes),
            };
            if (end - input.at) as u64 > self.max {
                let error = too_long("document", self.max);
                return Err(read_error(&self.lines, input, error, false));
            }
            let Next::Document { end, last } = next else {
                return Ok(self.builder.take());
            };
            self.document(input, end)
                .map_err(|error| read_error(&self.lines, input, error, last))?;
            self.go_to(input, end);
            if self.builder.full() && self.builder.has_messages() {
                return Ok(self.builder.take());
            }
        }
    }

    fn forget(&mut self, gone: &[u8]) {
        self.search.drained(gone.len());
    }

    fn noticed(&self) -> Noticed {
        self.reader.noticed()
    }
}

//! YAML-LD logs. Each document is a context or a message, which may be empty.
//!
//! - In: pieces of any size. A document is read when the line that ends it is available.
//! - Out: batches of complete messages, as soon as all complete documents in the buffer are read.
//! - Cost: linear. Memory is bounded by a document, its tape, a piece and a batch.
//! - Law: how the input is cut changes neither messages nor errors.

use super::compose::Composer;
use super::stream::{DocumentSearch, NextDocument};
use crate::codec::Observations;
use crate::codec::input::{Buffer, ReadError, Reader, Skipped};
use crate::formats::jsonld::lines::{check_utf8, read_error, too_long};
use crate::formats::jsonld::lost::may_be_context_document;
use crate::formats::jsonld::options::DocumentReading;
use crate::formats::jsonld::reader::MessageReader;
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::chars::BOM;
use crate::model::error::ErrorClass;
use crate::model::remedy::Reason;
use crate::model::term::Quad;
use crate::syntax::json::{JsonKind, ParseError, Tape, View};
use crate::syntax::text::position::LinePosition;

/// Reads YAML-LD.
pub struct YamlReader {
    reader: MessageReader,
    builder: BatchBuilder,
    composer: Composer,
    tape: Tape,
    search: DocumentSearch,
    lines: LinePosition,
    max: u64,
    /// Present while the document with the error is skipped.
    skip: Option<DocumentSkip>,
    /// If the last line of the log has no line feed: [`Observations::complete`].
    complete: Option<u64>,
}

/// State of skipping a document after an error.
struct DocumentSkip {
    bytes: Skipped,
    /// End of the document, if known.
    end: Option<usize>,
}

impl YamlReader {
    /// Creates a reader.
    ///
    /// # Errors
    /// If the base is not an absolute IRI.
    pub(in crate::formats::jsonld) fn new(options: &DocumentReading) -> Result<Self, Reason> {
        Ok(Self {
            reader: MessageReader::new(options)?,
            builder: BatchBuilder::new(options.limits.clone()),
            composer: Composer::default(),
            tape: Tape::new(),
            search: DocumentSearch::default(),
            lines: LinePosition::default(),
            max: options.limits.max_message_bytes,
            skip: None,
            complete: None,
        })
    }

    /// Reads a document. Positions of errors are relative to the document.
    fn read_document(&mut self, input: &Buffer, end: usize) -> Result<(), ParseError> {
        let bytes = input.bytes.get(input.index..end).unwrap_or_default();
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let composed = check_utf8(bytes).and_then(|()| {
            self.composer
                .compose(text, &mut self.tape, self.reader.bounds())
        });
        if composed.is_err() {
            self.lose_context(bytes);
        }
        if !composed? {
            return Ok(());
        }
        let first = self
            .tape
            .nodes()
            .first()
            .map(|node| (node.kind, node.index));
        match first {
            None | Some((JsonKind::Null, _)) => {
                self.tape.clear();
                let bounds = *self.reader.bounds();
                self.tape.start(JsonKind::Object, 0, &bounds)?;
                self.tape.end(0, &[], &bounds)?;
            }
            Some((JsonKind::Object | JsonKind::Array, _)) => {}
            Some((_, index)) => {
                return Err(ParseError {
                    position: index as usize,
                    class: ErrorClass::Malformed,
                    reason: "expected a mapping (key: value) as the message, found a scalar".into(),
                });
            }
        }
        let view = View {
            tape: &self.tape,
            source: text.as_bytes(),
        };
        let start = input.offset() + u64::from(view.node(0).index);
        self.reader.read_nodes(&view, start, &mut self.builder)
    }

    /// Marks the context in force as unknown if an unreadable document, or the beginning of one,
    /// may be a context.
    #[cold]
    fn lose_context(&mut self, text: &[u8]) {
        if may_be_context_document(text) {
            self.reader.lose_context(self.builder.message_index());
        }
    }

    /// Converts an error in the next document to the decoder's error.
    #[cold]
    fn fail(
        &mut self,
        input: &Buffer,
        error: ParseError,
        end: Option<usize>,
        last: bool,
    ) -> ReadError {
        self.skip = Some(DocumentSkip {
            bytes: Skipped::default(),
            end,
        });
        let error = read_error(&self.lines, input, error, last);
        ReadError {
            resumable: true,
            ..error
        }
    }

    /// Moves past a document.
    fn go_to(&mut self, input: &mut Buffer, end: usize) {
        let read = input.bytes.get(input.index..end).unwrap_or_default();
        self.lines.advance(read);
        input.index = end;
    }

    /// Skips a byte order mark. Returns false if more bytes are needed to detect it.
    fn skip_mark(&mut self, input: &mut Buffer) -> bool {
        if input.offset() > 0 {
            return true;
        }
        if input.bytes.starts_with(BOM) {
            self.go_to(input, BOM.len());
            self.search = DocumentSearch::from(input.index);
            return true;
        }
        input.finished || !BOM.starts_with(&input.bytes[..input.bytes.len().min(BOM.len())])
    }
}

impl Reader for YamlReader {
    type Record = Quad;

    fn builder_mut(&mut self) -> &mut BatchBuilder {
        &mut self.builder
    }

    fn reset(&mut self) {
        self.reader.reset();
        self.search = DocumentSearch::default();
        self.lines = LinePosition::default();
        self.skip = None;
        self.complete = None;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        loop {
            if !self.skip_mark(input) {
                return Ok(self.builder.take());
            }
            let next = self.search.next(&input.bytes, input.finished);
            let end = match next {
                NextDocument::Document { end, .. } => end,
                NextDocument::Feed | NextDocument::Done => self.search.earliest_end(&input.bytes),
            };
            if (end - input.index) as u64 > self.max {
                // Check at most `max` bytes, regardless of how many bytes are buffered.
                self.lose_context(&input.rest()[..self.max as usize]);
                let error = too_long("document", self.max);
                let end = matches!(next, NextDocument::Document { .. }).then_some(end);
                return Err(self.fail(input, error, end, false));
            }
            let NextDocument::Document { end, last } = next else {
                return Ok(self.builder.take());
            };
            self.read_document(input, end)
                .map_err(|error| self.fail(input, error, Some(end), last))?;
            if last && !matches!(input.bytes.last(), Some(b'\n' | b'\r')) {
                self.complete = self.complete(input);
            }
            self.go_to(input, end);
            if self.builder.is_full() && self.builder.has_messages() {
                return Ok(self.builder.take());
            }
        }
    }

    /// A part of a marker in the last line can only be a truncated delimiter.
    fn complete(&mut self, input: &Buffer) -> Option<u64> {
        let rest = input.rest();
        let line = memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1);
        let is_marker = matches!(rest[line..].trim_ascii(), b"--" | b"..");
        Some(input.offset() + if is_marker { line as u64 } else { 0 })
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(mut skip) = self.skip.take() else {
            return Ok(None);
        };
        let mut whole = true;
        let end =
            skip.end
                .unwrap_or_else(|| match self.search.next(&input.bytes, input.finished) {
                    NextDocument::Document { end, .. } => end,
                    NextDocument::Done => input.bytes.len(),
                    NextDocument::Feed => {
                        whole = false;
                        self.search.drop_line_start(&input.bytes)
                    }
                });
        skip.bytes.add(&input.bytes[input.index..end]);
        self.go_to(input, end);
        if !whole {
            self.skip = Some(skip);
            return Ok(None);
        }
        Ok(Some(skip.bytes.take()))
    }

    fn forget(&mut self, consumed: &[u8]) {
        self.search.note_drained(consumed.len());
        if let Some(end) = self.skip.as_mut().and_then(|skip| skip.end.as_mut()) {
            *end -= consumed.len();
        }
    }

    fn observations(&self) -> Observations {
        Observations {
            complete: self.complete,
            incomplete: self.complete.map(|_| {
                "the last line has no line feed, so a word or number may be truncated; add a line \
                 feed if the last message is complete"
            }),
            ..self.reader.observations()
        }
    }
}

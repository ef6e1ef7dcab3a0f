//! Decodes logs of patches in Thrift: finds rows and patches, and tracks positions.
//!
//! - In: bytes in pieces of any size.
//! - Out: batches of complete patches.
//! - Cost: linear. Memory is bounded by one row, one piece and one batch.
//! - Law: a row is read only when it is complete. The result does not depend on how the bytes are
//!   cut.

use rustc_hash::FxHashMap;

use super::row::{ThriftPatchRow, read_row, start};
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::start;
use crate::formats::rdf_patch::options::PatchReading;
use crate::model::batch::PatchBatch;
use crate::model::builder::PatchBuilder;
use crate::model::error::ErrorClass;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::Reason;
use crate::model::term::{NO_SPLIT, Quad, Term, TermId, TermKind};
use crate::syntax::default_graph;
use crate::syntax::rdf_binary::model::{Raw, Slots};
use crate::syntax::rdf_binary::terms::BinaryTerms;
use crate::syntax::rdf_binary::thrift::Thrift;
use crate::syntax::text::scan;
use crate::syntax::wire::{Checked, WireError, invalid_utf8_error};

/// Reads patches in Thrift.
pub struct ThriftPatchReader {
    parts: bool,
    max: u64,
    terms: BinaryTerms<Operation>,
    /// Whether the open patch has operations other than headers.
    has_changes: bool,
    /// Number of buffered bytes needed before trying to read a row again.
    needed: usize,
}

/// Class and reason of an error.
type Failure = (ErrorClass, Reason);

/// The next item in the buffer.
enum ThriftItem {
    Operation,
    /// The end of the patch.
    End,
    /// No item: more bytes are needed.
    Wait,
}

impl ThriftPatchReader {
    pub(in crate::formats::rdf_patch) fn new(options: &PatchReading) -> Self {
        Self {
            parts: options.parts,
            max: options.limits.max_message_bytes,
            terms: BinaryTerms::new(&options.limits),
            has_changes: false,
            needed: 0,
        }
    }

    /// Returns the next batch, or `None` if more input is needed or the log is complete.
    fn read(&mut self, input: &mut Buffer) -> Result<Option<PatchBatch>, Failure> {
        loop {
            match self.take_row(input)? {
                ThriftItem::Operation => {
                    if self.parts && self.terms.builder.is_part_full() {
                        let part = self.take_complete();
                        return Ok(part.or_else(|| Some(self.terms.builder.take_part())));
                    }
                }
                ThriftItem::End => {
                    self.terms.builder.end_message();
                    self.has_changes = false;
                    if self.terms.builder.is_full() {
                        return Ok(self.terms.builder.take());
                    }
                }
                ThriftItem::Wait if input.finished => {
                    if self.terms.builder.is_open() {
                        self.terms.builder.end_message();
                    }
                    return Ok(self.terms.builder.take());
                }
                ThriftItem::Wait => return Ok(self.take_complete()),
            }
        }
    }

    /// Returns the complete patches before an open one.
    fn take_complete(&mut self) -> Option<PatchBatch> {
        self.terms.builder.take_complete(&mut FxHashMap::default())
    }

    #[inline]
    fn take_row(&mut self, input: &mut Buffer) -> Result<ThriftItem, Failure> {
        let rest = input.rest();
        if rest.is_empty() || rest.len() < self.needed && !input.finished {
            return Ok(ThriftItem::Wait);
        }
        self.needed = 0;
        // One byte above the limit suffices to detect a row that exceeds it.
        let window = usize::try_from(self.max).map_or(usize::MAX, |max| max + 1);
        let bytes = rest.get(..window).unwrap_or(rest);
        let mut slots = Slots::EMPTY;
        let (row, length) = match read_row(bytes, &mut slots) {
            Ok((row, length)) => (row, length),
            Err(error) if error.class() == ErrorClass::Truncated => {
                let buffered = bytes.len();
                return self.wait_for_row(buffered, input.finished);
            }
            Err(error) => return Err(error.into_parts()),
        };
        // A header after other rows begins a patch.
        if self.has_changes && matches!(row, ThriftPatchRow::Header(..)) {
            return Ok(ThriftItem::End);
        }
        let position = input.offset();
        if !self.terms.builder.is_open() {
            self.terms.builder.begin_message(position);
        }
        let result = self.take(row, &slots).map_err(WireError::into_parts)?;
        input.index += length;
        Ok(result)
    }

    /// Handles an incomplete row. `buffered` is the number of its bytes in the buffer.
    #[cold]
    fn wait_for_row(&mut self, buffered: usize, finished: bool) -> Result<ThriftItem, Failure> {
        if buffered as u64 > self.max {
            let text = format!("a row is larger than {} bytes", self.max);
            return Err((ErrorClass::Limit, Reason::limit(text, "max_message_bytes")));
        }
        if finished {
            return Err((ErrorClass::Truncated, "the log ends inside a row".into()));
        }
        // Waits for half as much again, because the row must be read again from its start.
        self.needed = buffered + buffered / 2 + 1;
        Ok(ThriftItem::Wait)
    }

    /// Adds the content of a row to the open patch.
    #[inline]
    fn take(&mut self, row: ThriftPatchRow<'_>, slots: &Slots<'_>) -> Checked<ThriftItem> {
        let operation = match row {
            ThriftPatchRow::Segment => return Ok(ThriftItem::End),
            ThriftPatchRow::Bare(code) => Operation::bare(code),
            ThriftPatchRow::Statement(code) => {
                let subject = self.terms.add_term::<Thrift>(slots.get(0)?, 0, 0)?;
                let predicate = self.terms.add_term::<Thrift>(slots.get(1)?, 1, 0)?;
                let object = self.terms.add_term::<Thrift>(slots.get(2)?, 2, 0)?;
                let graph = self.add_graph(slots.graph())?;
                let quad = Quad {
                    subject,
                    predicate,
                    object,
                    graph,
                };
                Operation::new(code, quad)
            }
            ThriftPatchRow::Header(name, value) => Operation {
                name: self.add_text(TermKind::Literal, name)?,
                object: self.terms.add_term::<Thrift>(&value, usize::MAX, 0)?,
                ..Operation::bare(OperationCode::Header)
            },
            ThriftPatchRow::AddPrefix(graph, name, iri) => Operation {
                name: self.add_text(TermKind::Literal, name)?,
                object: self.add_text(TermKind::Iri, iri)?,
                graph: self.add_graph(graph.as_ref())?,
                ..Operation::bare(OperationCode::AddPrefix)
            },
            ThriftPatchRow::DeletePrefix(graph, name) => Operation {
                name: self.add_text(TermKind::Literal, name)?,
                graph: self.add_graph(graph.as_ref())?,
                ..Operation::bare(OperationCode::DeletePrefix)
            },
        };
        self.has_changes |= operation.code != OperationCode::Header;
        self.terms.builder.add(operation)?;
        Ok(ThriftItem::Operation)
    }

    #[inline]
    fn add_graph(&mut self, graph: Option<&Raw<'_>>) -> Checked<TermId> {
        match graph {
            None => Ok(TermId::DEFAULT_GRAPH),
            Some(graph) => {
                let graph = self.terms.add_term::<Thrift>(graph, 3, 0)?;
                Ok(default_graph::read(self.terms.builder.table(), graph))
            }
        }
    }

    /// Adds a string of a row as a term.
    fn add_text(&mut self, kind: TermKind, text: &[u8]) -> Checked<TermId> {
        let (flags, kind_name) = match kind {
            TermKind::Iri => (scan::iri(text), "an IRI"),
            _ => (scan::lexical(text), "a name"),
        };
        let flags = flags.ok_or_else(|| invalid_utf8_error(text, kind_name))?;
        let builder = &mut self.terms.builder;
        let span = builder.add_text(text)?;
        Ok(builder.add_term(Term {
            offset: span.offset,
            length: span.length,
            aux: 0,
            split: NO_SPLIT,
            kind,
            flags,
        })?)
    }

    #[cold]
    fn explain_error(input: &Buffer, failure: Failure) -> ReadError {
        let (class, reason) = if input.offset() == 0 {
            start::explain_error(start(input.rest()), "an RDF Patch file in Thrift", failure)
        } else {
            failure
        };
        input.error(class, reason)
    }
}

impl Reader for ThriftPatchReader {
    type Record = Operation;

    fn builder_mut(&mut self) -> &mut PatchBuilder {
        &mut self.terms.builder
    }

    fn reset(&mut self) {
        self.terms.reset();
        self.has_changes = false;
        self.needed = 0;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<PatchBatch>, ReadError> {
        self.read(input)
            .map_err(|failure| Self::explain_error(input, failure))
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let reason = "the start of the next row is unknown after an error, so none can be skipped";
        Err(input.error(ErrorClass::Unsupported, reason))
    }
}

//! Builder of rows for the text decoders.
//!
//! - In: strings that are valid UTF-8, and the cells that contain them.
//! - Out: terms and rows in the [`ResultBuilder`].
//! - Cost: IRIs, labels and literals of up to 24 bytes are looked up in a hash table; longer
//!   literals are always added.
//! - Law: the charged size does not depend on the lookups. A log has at least one batch, which may
//!   contain only its head.

use std::sync::Arc;

use crate::codec::result_head::Variables;
use crate::model::batch::ResultBatch;
use crate::model::builder::ResultBuilder;
use crate::model::error::LimitExceeded;
use crate::model::limits::Limits;
use crate::model::record::ResultHead;
use crate::model::remedy::Reason;
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind, XSD_STRING};
use crate::syntax::cache::{Cache, RecentTerm};
use crate::syntax::text::scan;

/// Maximum length in bytes of the literals that are looked up; longer ones rarely recur.
const MAX_SHARED_LITERAL: usize = 24;

/// Maximum number of cells per byte of the log, beyond a quarter of `max_message_bytes`. In JSON
/// and XML an unbound cell takes no bytes, so a short log could have a huge number of them.
const MAX_CELLS_PER_BYTE: u64 = 20;

/// The kind of a literal, apart from its lexical form.
#[derive(Clone, Copy)]
pub(super) enum ResultLiteralKind<'a> {
    Plain,
    Datatype(&'a [u8]),
    /// Language, and direction as flags.
    Language(&'a [u8], u8),
}

/// A term, or the limit that it exceeds.
pub(super) type AddResult = Result<TermId, LimitExceeded>;

/// Builds rows.
pub(super) struct RowBuilder {
    pub builder: ResultBuilder,
    pub variables: Variables,
    cache: Cache,
    /// The cells of the open row.
    row: Vec<TermId>,
    /// The column expected for the next cell.
    pub next: usize,
    /// Offset of the open row in the log, and number of cells up to its end.
    offset: u64,
    cells: u64,
    /// Total size in bytes of the variables and links.
    head_bytes: u64,
    /// Whether the head is known.
    ready: bool,
    /// Whether a batch was returned.
    batch_returned: bool,
}

impl RowBuilder {
    pub fn new(limits: Limits) -> Self {
        Self {
            builder: ResultBuilder::new(limits),
            variables: Variables::default(),
            cache: Cache::new(),
            row: Vec::new(),
            next: 0,
            offset: 0,
            cells: 0,
            head_bytes: 0,
            ready: false,
            batch_returned: false,
        }
    }

    /// Prepares for the next log; the builder has already been reset.
    pub fn reset(&mut self) {
        self.variables.clear();
        self.cells = 0;
        self.head_bytes = 0;
        self.ready = false;
        self.batch_returned = false;
    }

    /// Maximum number of bytes in a row.
    pub fn max(&self) -> u64 {
        self.builder.limits().max_message_bytes
    }

    /// Counts a variable or a link. Returns false if their total size exceeds the limit.
    pub fn charge_head(&mut self, text: &str) -> bool {
        self.head_bytes += text.len() as u64 + 16;
        self.head_bytes <= self.max()
    }

    /// Completes the head, which also contains the variables added before.
    pub fn set_head(&mut self, boolean: Option<bool>, links: Vec<Box<str>>) {
        self.ready = true;
        self.builder.set_head(Arc::new(ResultHead {
            variables: self.variables.names(),
            boolean,
            links,
        }));
    }

    /// Begins a row at a byte offset in the log.
    pub fn begin(&mut self, offset: u64) {
        self.builder.begin_message(offset);
        self.row.clear();
        self.row.resize(self.variables.len(), TermId::DEFAULT_GRAPH);
        self.next = 0;
        self.offset = offset;
    }

    /// Fills a cell. Returns false if the cell was already filled.
    #[inline]
    pub fn set(&mut self, column: usize, id: TermId) -> bool {
        self.next = column + 1;
        match self.row.get_mut(column) {
            Some(cell) if *cell == TermId::DEFAULT_GRAPH => {
                *cell = id;
                true
            }
            _ => false,
        }
    }

    /// Ends the row.
    pub fn end(&mut self) -> Result<(), LimitExceeded> {
        self.cells += self.row.len() as u64;
        let max = self.max() / 4 + MAX_CELLS_PER_BYTE.saturating_mul(self.offset);
        if self.cells > max {
            return Err(LimitExceeded(Reason::limit(
                format!(
                    "the rows have more than {max} cells in the first {} bytes of the log, most of \
                     them unbound",
                    self.offset
                ),
                "max_message_bytes",
            )));
        }
        for &cell in &self.row {
            self.builder.add(cell)?;
        }
        self.builder.end_message();
        Ok(())
    }

    /// Returns the completed rows, if any. A log that is done has at least one batch. Rows before
    /// an open row are kept until the open row ends, because all of them share terms.
    pub fn take(&mut self, done: bool) -> Option<ResultBatch> {
        if self.builder.is_open() {
            return None;
        }
        let batch = self.builder.take();
        if batch.is_some() {
            self.batch_returned = true;
            return batch;
        }
        if done && self.ready && !self.batch_returned {
            self.batch_returned = true;
            return Some(self.builder.take_head());
        }
        None
    }

    /// Adds an IRI.
    #[inline]
    pub fn add_iri(&mut self, text: &[u8]) -> AddResult {
        self.add_simple_term(TermKind::Iri, text, scan::iri)
    }

    /// Adds a blank node.
    #[inline]
    pub fn add_blank_node(&mut self, label: &[u8]) -> AddResult {
        self.add_simple_term(TermKind::BlankNode, label, scan::label)
    }

    /// Adds a term that consists only of its text.
    #[inline]
    fn add_simple_term(
        &mut self,
        kind: TermKind,
        text: &[u8],
        flags: fn(&[u8]) -> Option<u8>,
    ) -> AddResult {
        self.builder.charge(text.len() + 16)?;
        let slot = Cache::slot(kind, text);
        let cached = self.cache.get(slot);
        if cached.is(&self.builder, kind, text) {
            return Ok(cached.id);
        }
        Ok(self.push(kind, text, 0, flags(text).unwrap_or(0), Some(slot)))
    }

    fn push(
        &mut self,
        kind: TermKind,
        text: &[u8],
        aux: u32,
        flags: u8,
        slot: Option<usize>,
    ) -> TermId {
        let offset = self.builder.append_text(text);
        let id = self.builder.push_term(Term {
            offset,
            length: text.len() as u32,
            aux,
            split: NO_SPLIT,
            kind,
            flags,
        });
        if let Some(slot) = slot {
            self.cache.set(slot, RecentTerm::new(&self.builder, id));
        }
        id
    }

    /// Adds a literal.
    #[inline]
    pub fn add_literal(&mut self, lexical: &[u8], kind: ResultLiteralKind<'_>) -> AddResult {
        let (kind, aux, direction) = match kind {
            ResultLiteralKind::Plain | ResultLiteralKind::Datatype(XSD_STRING) => {
                (TermKind::Literal, TermId(0), 0)
            }
            ResultLiteralKind::Datatype(iri) => (TermKind::TypedLiteral, self.add_iri(iri)?, 0),
            ResultLiteralKind::Language(tag, direction) => {
                let tag = self.add_simple_term(TermKind::Language, tag, scan::language)?;
                (TermKind::LangLiteral, tag, direction)
            }
        };
        self.builder.charge(lexical.len() + 16)?;
        if lexical.len() > MAX_SHARED_LITERAL {
            let plain = scan::lexical(lexical).unwrap_or(0);
            return Ok(self.push(kind, lexical, aux.0, plain | direction, None));
        }
        let slot = Cache::slot(kind, lexical);
        let cached = self.cache.get(slot);
        if let Some((term, text)) = cached.get(&self.builder, kind)
            && term.aux == aux.0
            && text == lexical
            && term.flags | 1 == direction | 1
        {
            return Ok(cached.id);
        }
        let plain = scan::lexical(lexical).unwrap_or(0);
        Ok(self.push(kind, lexical, aux.0, plain | direction, Some(slot)))
    }

    /// Adds a triple term.
    pub fn triple(&mut self, parts: [TermId; 3]) -> AddResult {
        self.builder.add_triple_term(parts)
    }
}

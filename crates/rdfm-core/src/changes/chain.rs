//! Links patches with `id` and `prev` headers.
//!
//! - In: batches of complete patches without these headers, and the patches that precede them.
//! - Out: the same patches, each with an `id` and, if the previous patch has an id, a `prev`.
//! - Cost: one copy of the patches, and a SHA-256 hash of their rows.
//! - Law: an id depends only on the rows and on `prev`, not on formats, batches or time. Therefore
//!   patches with the same rows have different ids within a log.

use sha2::{Digest as _, Sha256};

use super::logs::CopiedTerms;
use crate::model::batch::PatchBatch;
use crate::model::builder::PatchBuilder;
use crate::model::error::LimitExceeded;
use crate::model::record::{Operation, OperationCode};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind, flags};
use crate::model::write::write_term;

/// Name of the header with the id.
const ID: &[u8] = b"id";
/// Number of bytes to collect before hashing them.
const HASHED_BYTES: usize = 1 << 14;

/// The id of a patch, if the term consists only of kind, text and flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PatchId {
    kind: TermKind,
    text: Vec<u8>,
    flags: u8,
}

impl PatchId {
    /// Creates a UUID of version 8 (RFC 9562) from a hash.
    fn from_hash(hash: &[u8]) -> Self {
        let mut text = b"uuid:".to_vec();
        for (index, byte) in hash.iter().take(16).enumerate() {
            let byte = match index {
                6 => byte & 0x0f | 0x80,
                8 => byte & 0x3f | 0x80,
                _ => *byte,
            };
            if [4, 6, 8, 10].contains(&index) {
                text.push(b'-');
            }
            for digit in [byte >> 4, byte & 0x0f] {
                text.push(b"0123456789abcdef"[digit as usize]);
            }
        }
        Self {
            kind: TermKind::Iri,
            text,
            flags: flags::PLAIN,
        }
    }

    /// Returns a header with this id, whose terms are added to the builder.
    fn add_header(
        &self,
        builder: &mut PatchBuilder,
        name: &[u8],
    ) -> Result<Operation, LimitExceeded> {
        let name = builder.add_simple(TermKind::Literal, name, flags::PLAIN)?;
        let object = builder.add_simple(self.kind, &self.text, self.flags)?;
        Ok(Operation {
            name,
            object,
            ..Operation::bare(OperationCode::Header)
        })
    }

    /// Returns a `prev` header with this id, like [`Self::add_header`].
    pub(super) fn add_prev(&self, builder: &mut PatchBuilder) -> Result<Operation, LimitExceeded> {
        self.add_header(builder, b"prev")
    }
}

/// Finds the id of the last patch. Only the first `id` header of a patch counts.
#[derive(Debug, Default)]
pub(super) struct LastId {
    id: Option<PatchId>,
    has_header: bool,
}

impl LastId {
    pub(super) fn begin_patch(&mut self) {
        *self = Self::default();
    }

    pub(super) fn read_header(&mut self, table: &TermTable, operation: Operation) {
        if self.has_header || !table.text(operation.name).eq_ignore_ascii_case(ID) {
            return;
        }
        self.has_header = true;
        let term = table.term(operation.object);
        let text_only =
            [TermKind::Iri, TermKind::BlankNode, TermKind::Literal].contains(&term.kind);
        self.id = text_only.then(|| PatchId {
            kind: term.kind,
            text: table.text_of(term).to_vec(),
            flags: term.flags,
        });
    }

    /// Returns the id of the last patch, if it has one.
    pub(super) fn take(&mut self) -> Option<PatchId> {
        self.id.take()
    }
}

/// Adds `id` and `prev` headers to the patches of a log.
pub struct Chain {
    builder: PatchBuilder,
    copied: CopiedTerms,
    last: LastId,
    rows: Vec<u8>,
}

impl Default for Chain {
    fn default() -> Self {
        Self::new()
    }
}

impl Chain {
    /// Starts at the beginning of a log.
    #[must_use]
    pub fn new() -> Self {
        Self {
            builder: PatchBuilder::within_2_gib(),
            copied: CopiedTerms::default(),
            last: LastId::default(),
            rows: Vec::new(),
        }
    }

    /// Reads patches that precede the next patch to link, complete or in parts.
    pub fn follow(&mut self, batch: &PatchBatch) {
        for patch in 0..batch.len() {
            if patch > 0 || !batch.continued() {
                self.last.begin_patch();
            }
            for operation in batch.message(patch) {
                if operation.code == OperationCode::Header {
                    self.last.read_header(batch.table(), *operation);
                }
            }
        }
    }

    /// Returns complete patches with their headers, or `None` if there are no patches.
    ///
    /// # Errors
    /// If the patches are larger than 2 GiB.
    pub fn link(&mut self, batch: &PatchBatch) -> Result<Option<PatchBatch>, LimitExceeded> {
        self.copied.begin_batch(batch.table());
        for patch in 0..batch.len() {
            self.builder.begin_message(batch.byte_offset(patch));
            let prev = self.last.take();
            let prev = prev.map(|id| id.add_prev(&mut self.builder)).transpose()?;
            let id = self.next_id(batch, patch, prev);
            let header = id.add_header(&mut self.builder, ID)?;
            self.builder.push(header);
            if let Some(prev) = prev {
                self.builder.push(prev);
            }
            self.last.id = Some(id);
            for operation in batch.message(patch) {
                let copy =
                    self.copied
                        .copy_operation(&mut self.builder, batch.table(), *operation)?;
                self.builder.push(copy);
            }
            self.builder.end_message();
        }
        self.builder.check_2_gib()?;
        Ok(self.builder.take())
    }

    /// Returns the id of a patch: a hash of all other rows.
    fn next_id(&mut self, batch: &PatchBatch, patch: usize, prev: Option<Operation>) -> PatchId {
        let mut hash = Sha256::new();
        self.rows.clear();
        if let Some(prev) = prev {
            write_row(self.builder.table(), prev, &mut self.rows);
        }
        for operation in batch.message(patch) {
            write_row(batch.table(), *operation, &mut self.rows);
            if self.rows.len() > HASHED_BYTES {
                hash.update(&self.rows);
                self.rows.clear();
            }
        }
        hash.update(&self.rows);
        PatchId::from_hash(&hash.finalize())
    }
}

/// Writes a row with its terms in canonical N-Triples. Different rows have different texts.
fn write_row(table: &TermTable, operation: Operation, out: &mut Vec<u8>) {
    out.extend_from_slice(operation.code.name().as_bytes());
    let Operation {
        name,
        subject,
        predicate,
        object,
        graph,
        ..
    } = operation;
    for id in [name, subject, predicate, object, graph] {
        if id != TermId::DEFAULT_GRAPH {
            out.push(b' ');
            write_term(table, id, out);
        }
    }
    out.push(b'\n');
}

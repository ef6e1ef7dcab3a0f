//! Converts logs of messages to logs of patches, and back.
//!
//! - In: batches of messages or patches. Out: batches of the other kind.
//! - Cost: one copy of the records and their terms. Converting patches to messages buffers a
//!   transaction, and takes 20 to 40 bytes per blank node, unless blank nodes are separate in each
//!   transaction.
//! - Law: a round trip returns the same messages, up to blank node labels. A message becomes a
//!   transaction of additions. The message number is added to its blank node labels if necessary,
//!   because labels in patches are valid throughout the log.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rustc_hash::FxHashMap;

use crate::model::batch::{InForceNamespaces, MessageBatch, PatchBatch};
use crate::model::builder::{BatchBuilder, LogBuilder, PatchBuilder};
use crate::model::error::{EncodeError, ErrorClass, LimitExceeded, quote};
use crate::model::limits::Limits;
use crate::model::record::{Operation, OperationCode, Record};
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};
use crate::model::write::write_message_prefix;

use super::rules::{Transactions, in_row};

/// Copies of a batch's terms in the batch of a builder.
#[derive(Default)]
pub(super) struct CopiedTerms {
    /// For each term: serial number of the builder's batch, message number (0 if the copy does not
    /// depend on the message), and id of the copy.
    copies: Vec<(u32, u64, TermId)>,
}

impl CopiedTerms {
    pub(super) fn begin_batch(&mut self, table: &TermTable) {
        self.copies.clear();
        self.copies
            .resize(table.terms().len(), (0, 0, TermId::DEFAULT_GRAPH));
    }

    /// Copies a term. If `message_number` is given, it is added to blank node labels to make them
    /// distinct. Recursion is as deep as the nesting of triple terms.
    pub(super) fn copy_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        table: &TermTable,
        id: TermId,
        message_number: Option<u64>,
    ) -> Result<TermId, LimitExceeded> {
        if id == TermId::DEFAULT_GRAPH {
            return Ok(id);
        }
        let term = table.term(id);
        // Terms without labels are the same in every message.
        let message = match term.kind {
            TermKind::BlankNode | TermKind::TripleTerm => message_number.unwrap_or_default(),
            _ => 0,
        };
        let (serial, copied_for, copy) = self.copies[id.index()];
        if serial == builder.serial() && copied_for == message {
            return Ok(copy);
        }
        let text = table.text_of(term);
        let new = match term.kind {
            TermKind::TripleTerm => {
                let [subject, predicate, object] = table.triple(term);
                let parts = [
                    self.copy_term(builder, table, subject, message_number)?,
                    self.copy_term(builder, table, predicate, message_number)?,
                    self.copy_term(builder, table, object, message_number)?,
                ];
                builder.add_triple_term(parts)?
            }
            TermKind::BlankNode if message_number.is_some() => {
                let mut label = Vec::with_capacity(text.len() + 8);
                let rest = write_message_prefix(message, text, &mut label);
                label.extend_from_slice(rest);
                builder.add_simple(TermKind::BlankNode, &label, 0)?
            }
            TermKind::LangLiteral | TermKind::TypedLiteral => {
                let aux = self.copy_term(builder, table, TermId(term.aux), message_number)?;
                builder.add_with_aux(term.kind, text, aux.0, term.flags)?
            }
            kind => builder.add_with_aux(kind, text, 0, term.flags)?,
        };
        self.copies[id.index()] = (builder.serial(), message, new);
        Ok(new)
    }

    pub(super) fn copy_quad<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        table: &TermTable,
        quad: Quad,
        message_number: Option<u64>,
    ) -> Result<Quad, LimitExceeded> {
        Ok(Quad {
            subject: self.copy_term(builder, table, quad.subject, message_number)?,
            predicate: self.copy_term(builder, table, quad.predicate, message_number)?,
            object: self.copy_term(builder, table, quad.object, message_number)?,
            graph: self.copy_term(builder, table, quad.graph, message_number)?,
        })
    }

    /// Copies an operation with its terms.
    pub(super) fn copy_operation(
        &mut self,
        builder: &mut PatchBuilder,
        table: &TermTable,
        operation: Operation,
    ) -> Result<Operation, LimitExceeded> {
        let name = self.copy_term(builder, table, operation.name, None)?;
        let quad = self.copy_quad(builder, table, operation.quad(), None)?;
        Ok(Operation {
            name,
            ..Operation::new(operation.code, quad)
        })
    }
}

fn patch_error(message_index: u64, class: ErrorClass, reason: Reason) -> EncodeError {
    EncodeError {
        format: "patches",
        class,
        reason,
        message_index,
    }
}

/// Converts messages to patches.
pub struct ToPatches {
    builder: PatchBuilder,
    copied: CopiedTerms,
    in_force: InForceNamespaces,
    /// Number of patches of the log, with those before the first message. Message indices are not
    /// unique, because each log counts from 0.
    patch_count: u64,
    metadata: u64,
}

impl ToPatches {
    /// Starts after `patches` patches of a log, so that blank node labels differ from theirs.
    #[must_use]
    pub fn new(patches: u64) -> Self {
        Self {
            builder: PatchBuilder::new(Limits {
                max_message_bytes: u64::MAX,
                ..Limits::default()
            }),
            copied: CopiedTerms::default(),
            in_force: InForceNamespaces::default(),
            patch_count: patches,
            metadata: 0,
        }
    }

    /// Number of metadata entries dropped so far, because patches cannot contain metadata.
    #[must_use]
    pub const fn dropped_metadata(&self) -> u64 {
        self.metadata
    }

    /// Converts the messages of a batch to patches. A part of a message becomes a part of a patch.
    ///
    /// # Errors
    /// If the patches are too large for a batch.
    pub fn make_patches(
        &mut self,
        batch: &MessageBatch,
    ) -> Result<Option<PatchBatch>, EncodeError> {
        let limit = |error: LimitExceeded| {
            patch_error(batch.first_message_index(), ErrorClass::Limit, error.0)
        };
        self.copied.begin_batch(batch.table());
        self.metadata += batch.all_metadata().len() as u64;
        let table = batch.table();
        let mut changes = batch.namespace_changes().iter().peekable();
        for message in 0..batch.len() {
            if !(message == 0 && batch.continued()) {
                self.patch_count += 1;
                self.builder.begin_message(batch.byte_offset(message));
                self.builder.push(Operation::bare(OperationCode::Begin));
            }
            let mut declared: Vec<(&[u8], &[u8])> = Vec::new();
            if message == 0 {
                declared.extend(self.in_force.new_namespaces(batch));
            }
            while let Some(change) = changes.next_if(|change| change.message as usize == message) {
                declared.push((table.span(change.name), table.span(change.iri)));
            }
            for (name, iri) in declared {
                let name = self
                    .builder
                    .add_simple(TermKind::Literal, name, 0)
                    .map_err(limit)?;
                let object = self
                    .builder
                    .add_simple(TermKind::Iri, iri, 0)
                    .map_err(limit)?;
                self.builder.push(Operation {
                    name,
                    object,
                    ..Operation::bare(OperationCode::AddPrefix)
                });
            }
            let message_number = Some(self.patch_count.saturating_sub(1));
            for quad in batch.message(message) {
                let quad = self
                    .copied
                    .copy_quad(&mut self.builder, table, *quad, message_number)
                    .map_err(limit)?;
                self.builder.push(Operation::new(OperationCode::Add, quad));
            }
            if batch.continues() && message + 1 == batch.len() {
                return Ok(Some(self.builder.take_part()));
            }
            self.builder.push(Operation::bare(OperationCode::Commit));
            self.builder.end_message();
        }
        self.builder.check_2_gib().map_err(limit)?;
        Ok(self.builder.take())
    }
}

/// A patch row that messages cannot represent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRow {
    /// The error, with the index of the patch.
    pub error: EncodeError,
    /// Offset of the row in the log if the format of the patches reports it; otherwise the offset
    /// of the patch. `None` if the patches are not from a log of bytes.
    pub byte_offset: Option<u64>,
}

/// Converts patches to messages: one for each committed transaction, and one for the quads added
/// outside of transactions.
pub struct ToMessages {
    builder: BatchBuilder,
    copied: CopiedTerms,
    transactions: Transactions,
    /// Reason to reject the open transaction if it is committed, with the number and offset of the
    /// row.
    rejection: Option<(u64, Option<u64>, Reason)>,
    /// The message of each blank node, by a hash of its label. `None` if blank nodes are separate
    /// in each message.
    labels: Option<FxHashMap<u64, u64>>,
    /// Number and offset of the next row of the patch.
    row: u64,
    byte_offset: Option<u64>,
    headers: u64,
    prefixes: u64,
    undone: u64,
}

impl ToMessages {
    /// Starts at the beginning of a log. If `separate` is true, a blank node used in several
    /// transactions becomes a separate node in each message.
    #[must_use]
    pub fn new(separate: bool, max_message_bytes: u64) -> Self {
        Self {
            builder: BatchBuilder::new(Limits {
                max_message_bytes,
                ..Limits::default()
            }),
            copied: CopiedTerms::default(),
            transactions: Transactions::default(),
            rejection: None,
            labels: (!separate).then(FxHashMap::default),
            row: 0,
            byte_offset: None,
            headers: 0,
            prefixes: 0,
            undone: 0,
        }
    }

    /// Counts of the content dropped so far, because messages cannot represent it: headers,
    /// deletions of prefixes, and transactions that were aborted or not ended.
    #[must_use]
    pub fn dropped_counts(&self) -> Vec<(&'static str, u64)> {
        [
            ("headers", self.headers),
            ("deletions of prefixes", self.prefixes),
            ("undone transactions", self.undone),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
    }

    /// Converts the patches of a batch to messages.
    ///
    /// # Errors
    /// If a patch deletes a quad (unless its transaction is undone), transaction rows are out of
    /// order, a blank node is used in two messages, or a message is too large.
    /// [`take`](Self::take) then returns the earlier messages.
    pub fn make_messages(
        &mut self,
        batch: &PatchBatch,
    ) -> Result<Option<MessageBatch>, RejectedRow> {
        self.copied.begin_batch(batch.table());
        for patch in 0..batch.len() {
            if patch > 0 || !batch.continued() {
                self.row = 0;
            }
            for index in batch.range(patch) {
                let patch_offset = batch.byte_offset(patch);
                self.byte_offset = batch.record_offset(index).or(patch_offset);
                self.apply_operation(batch.table(), batch.records()[index], patch_offset)
                    .map_err(|(class, reason)| {
                        if self.builder.is_open() {
                            self.builder.discard_message();
                        }
                        RejectedRow {
                            error: patch_error(
                                batch.message_index(patch),
                                class,
                                in_row(self.row, reason),
                            ),
                            byte_offset: self.byte_offset,
                        }
                    })?;
                self.row += 1;
            }
            if patch + 1 < batch.len() || !batch.continues() {
                if self.transactions.end_patch() {
                    self.abort();
                } else if self.builder.is_open() {
                    self.builder.end_message();
                }
            }
        }
        if self.builder.is_open() {
            // The message continues in the next batch, in which its terms have other ids.
            return Ok(self.builder.take_complete(&mut FxHashMap::default()));
        }
        Ok(self.builder.take())
    }

    /// Returns the messages before an error.
    pub fn take(&mut self) -> Option<MessageBatch> {
        self.builder.take()
    }

    fn abort(&mut self) {
        self.builder.discard_message();
        self.rejection = None;
        self.undone += 1;
    }

    fn apply_operation(
        &mut self,
        table: &TermTable,
        operation: Operation,
        patch_offset: Option<u64>,
    ) -> Result<(), (ErrorClass, Reason)> {
        let limit = |error: LimitExceeded| (ErrorClass::Limit, error.0);
        self.transactions
            .check_order(operation.code)
            .map_err(|violation| (ErrorClass::Malformed, violation.text.into()))?;
        match operation.code {
            OperationCode::Header => self.headers += 1,
            OperationCode::Begin => {
                if self.builder.is_open() {
                    self.builder.end_message();
                }
                self.builder.begin_message(patch_offset);
            }
            OperationCode::Commit => {
                if let Some((row, byte_offset, reason)) = self.rejection.take() {
                    (self.row, self.byte_offset) = (row, byte_offset);
                    return Err((ErrorClass::Unsupported, reason));
                }
                self.builder.end_message();
            }
            OperationCode::Abort => self.abort(),
            OperationCode::Delete => {
                let reason = "D deletes a quad, which a message cannot express; apply the patches to a dataset instead";
                self.reject(reason.into())?;
            }
            OperationCode::DeletePrefix => self.prefixes += 1,
            // Outside of a transaction, the prefix belongs to the next message but does not begin
            // it.
            OperationCode::AddPrefix => {
                self.builder
                    .add_namespace(table.text(operation.name), table.text(operation.object))
                    .map_err(limit)?;
            }
            OperationCode::Add => {
                self.open(patch_offset);
                self.record_blank_nodes(table, operation.quad())?;
                let quad = self
                    .copied
                    .copy_quad(&mut self.builder, table, operation.quad(), None)
                    .map_err(limit)?;
                self.builder.add_quad(quad).map_err(limit)?;
            }
        }
        Ok(())
    }

    /// Rejects the row. Within a transaction, the error is delayed until the commit, because an
    /// undone transaction has no effect.
    fn reject(&mut self, reason: Reason) -> Result<(), (ErrorClass, Reason)> {
        if !self.transactions.is_open() {
            return Err((ErrorClass::Unsupported, reason));
        }
        self.rejection
            .get_or_insert((self.row, self.byte_offset, reason));
        Ok(())
    }

    fn open(&mut self, patch_offset: Option<u64>) {
        if !self.builder.is_open() {
            self.builder.begin_message(patch_offset);
        }
    }

    /// Records that the blank nodes of a quad belong to the current message.
    fn record_blank_nodes(
        &mut self,
        table: &TermTable,
        quad: Quad,
    ) -> Result<(), (ErrorClass, Reason)> {
        let Some(labels) = &mut self.labels else {
            return Ok(());
        };
        let message = self.builder.message_index();
        let mut left = vec![quad.subject, quad.predicate, quad.object, quad.graph];
        while let Some(id) = left.pop() {
            let term = table.term(id);
            if term.kind == TermKind::TripleTerm {
                left.extend(table.triple(term));
            } else if term.kind == TermKind::BlankNode {
                let text = table.text_of(term);
                let hash = hash(text);
                if *labels.entry(hash).or_insert(message) != message {
                    let reason = Reason::from(format!(
                        "the blank node {} is used in two transactions, and would be two nodes in two messages",
                        quote(text)
                    ))
                    .with(Remedy::stage(
                        "separate_blank_nodes",
                        "true",
                        "treats it as a separate node in each message",
                    ));
                    return self.reject(reason);
                }
            }
        }
        Ok(())
    }
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

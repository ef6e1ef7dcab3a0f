//! Patches that undo a log of patches.
//!
//! A patch is undone by the opposite operations in reverse order, and a log by undoing its last
//! patch first. Therefore the entire log must be read before the first patch can be written.
//! [`ForwardPass`] reads it forward and returns blocks of opposite operations, which the caller
//! stores. [`BackwardPass`] reads the blocks in reverse order and returns the patches.
//!
//! - In: batches of patches, then blocks. Out: blocks to store, then batches of patches.
//! - Cost: one block in memory, and the prefixes that the log adds. The caller stores about as much
//!   as the log contains.
//! - Law: a log that neither adds existing quads nor deletes missing ones, followed by the patches
//!   that undo it, changes nothing. Aborted and unfinished transactions are omitted.
//!
//! A block is also a batch of patches, so any patch codec that keeps all terms can store it.
//! Headers of the log are omitted, so headers in a block can mark where transactions and patches
//! begin and end.

use rustc_hash::FxHashMap;

use super::chain::{LastId, PatchId};
use super::logs::CopiedTerms;
use super::rules::{Rules, in_row, row_error};
use crate::model::batch::PatchBatch;
use crate::model::builder::PatchBuilder;
use crate::model::error::{DecodeError, ErrorClass, LimitExceeded};
use crate::model::limits::Limits;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::TermKind;
use crate::model::write::write_term;

/// Marks the end of a patch. When blocks are read backward, the patch begins here.
const PATCH_END: &[u8] = b"Z";

/// An instruction for the storage of blocks.
#[derive(Clone, Debug)]
pub enum RevertStep {
    /// Append this block to the stored ones.
    Store(Box<PatchBatch>),
    /// Remove this number of blocks from the end: they belong to an undone transaction.
    Forget(u64),
}

/// Counts of the content read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RevertedCounts {
    /// Committed transactions.
    pub committed: u64,
    /// Aborted and unfinished transactions.
    pub undone: u64,
    /// Omitted headers.
    pub headers: u64,
    /// Deletions of prefixes whose IRI is not in the log. They cannot be undone.
    pub prefixes: u64,
}

/// A prefix and its graph, as text.
type GraphPrefix = (Box<[u8]>, Box<[u8]>);

/// The IRIs of prefixes after the changes so far.
struct PrefixState {
    iris: FxHashMap<GraphPrefix, Box<[u8]>>,
    bytes: u64,
    max_bytes: u64,
    /// Changes by the open transaction, with the previous IRIs.
    changes: Vec<(GraphPrefix, Option<Box<[u8]>>)>,
}

impl PrefixState {
    /// Sets the IRI of a prefix and returns the previous one.
    fn set(
        &mut self,
        prefix: GraphPrefix,
        iri: Option<&[u8]>,
        in_transaction: bool,
    ) -> Result<Option<Box<[u8]>>, LimitExceeded> {
        let before = self.put(prefix.clone(), iri.map(Into::into));
        if self.bytes > self.max_bytes {
            let text = format!(
                "the prefixes of the patches take more than {} bytes of memory",
                self.max_bytes
            );
            return Err(LimitExceeded(Reason::limit(text, "max_message_bytes")));
        }
        if in_transaction {
            self.changes.push((prefix, before.clone()));
        }
        Ok(before)
    }

    fn put(&mut self, prefix: GraphPrefix, iri: Option<Box<[u8]>>) -> Option<Box<[u8]>> {
        let cost = |prefix: &GraphPrefix, iri: &[u8]| {
            (prefix.0.len() + prefix.1.len() + iri.len()) as u64 + 100
        };
        let added = iri.as_ref().map_or(0, |iri| cost(&prefix, iri));
        let removed = self.iris.get(&prefix).map_or(0, |iri| cost(&prefix, iri));
        let before = match iri {
            Some(iri) => self.iris.insert(prefix, iri),
            None => self.iris.remove(&prefix),
        };
        self.bytes = self.bytes + added - removed;
        before
    }

    fn undo(&mut self) {
        for (prefix, iri) in std::mem::take(&mut self.changes).into_iter().rev() {
            self.put(prefix, iri);
        }
    }
}

/// Reads a log forward and creates the opposite operations.
pub struct ForwardPass {
    builder: PatchBuilder,
    copied: CopiedTerms,
    rules: Rules,
    chain: bool,
    prefixes: PrefixState,
    /// Whether a transaction is open.
    in_transaction: bool,
    /// Number of blocks of the open transaction that were stored.
    stored: u64,
    last: LastId,
    done: RevertedCounts,
    /// Counts at the start of the open transaction.
    before: RevertedCounts,
}

impl ForwardPass {
    /// Starts at the beginning of a log. If `chain` is true, a broken patch chain is an error. The
    /// prefixes that the patches add may take `max_message_bytes` bytes.
    #[must_use]
    pub fn new(chain: bool, max_message_bytes: u64) -> Self {
        Self {
            builder: PatchBuilder::within_2_gib(),
            copied: CopiedTerms::default(),
            rules: Rules::new(),
            chain,
            prefixes: PrefixState {
                iris: FxHashMap::default(),
                bytes: 0,
                max_bytes: max_message_bytes,
                changes: Vec::new(),
            },
            in_transaction: false,
            stored: 0,
            last: LastId::default(),
            done: RevertedCounts::default(),
            before: RevertedCounts::default(),
        }
    }

    /// Counts of the content read so far.
    #[must_use]
    pub const fn done(&self) -> RevertedCounts {
        self.done
    }

    /// Adds patches.
    ///
    /// # Errors
    /// If a rule of [`super::rules`] is violated, or there are too many prefixes.
    pub fn add(&mut self, batch: &PatchBatch) -> Result<Vec<RevertStep>, DecodeError> {
        let mut steps = Vec::new();
        self.copied.begin_batch(batch.table());
        for patch in 0..batch.len() {
            if patch > 0 || !batch.continued() {
                self.rules.begin_patch();
                self.last.begin_patch();
            }
            for index in batch.range(patch) {
                let operation = batch.records()[index];
                self.revert_operation(batch.table(), operation, &mut steps)
                    .map_err(|error| row_error(batch, patch, Some(index), error))?;
                self.rules.next_row();
                self.store(&mut steps);
            }
            if patch + 1 < batch.len() || !batch.continues() {
                if self.rules.end_patch() {
                    self.undo(&mut steps);
                }
                let limit = |error: LimitExceeded| (ErrorClass::Limit, error.0);
                self.mark(PATCH_END)
                    .map_err(|error| row_error(batch, patch, None, limit(error)))?;
                self.builder.end_message();
            }
        }
        Ok(steps)
    }

    /// Ends the log. Returns the last block, if any, and the reader for the blocks in reverse
    /// order. If `parts` is true, that reader returns large patches in parts.
    pub fn finish(mut self, parts: bool) -> (Option<PatchBatch>, BackwardPass) {
        if self.builder.is_open() {
            self.builder.end_message();
        }
        let prev = self.last.take();
        (self.builder.take(), BackwardPass::new(prev, parts))
    }

    fn revert_operation(
        &mut self,
        table: &TermTable,
        operation: Operation,
        steps: &mut Vec<RevertStep>,
    ) -> Result<(), (ErrorClass, Reason)> {
        let row = self.rules.row();
        let limit = |error: LimitExceeded| (ErrorClass::Limit, in_row(row, error.0));
        if let Err(violation) = self.rules.check_row(table, operation)
            && (self.chain || !violation.rule.is_chain())
        {
            return Err((ErrorClass::Malformed, violation.reason(row)));
        }
        match operation.code {
            OperationCode::Header => {
                self.done.headers += 1;
                self.last.read_header(table, operation);
            }
            OperationCode::Begin => {
                if self.builder.is_open() {
                    self.builder.end_message();
                }
                self.before = self.done;
                self.in_transaction = true;
                self.stored = 0;
                self.mark(OperationCode::Begin.name().as_bytes())
                    .map_err(limit)?;
            }
            OperationCode::Commit => {
                self.mark(OperationCode::Commit.name().as_bytes())
                    .map_err(limit)?;
                self.builder.end_message();
                self.in_transaction = false;
                self.prefixes.changes.clear();
                self.done.committed += 1;
            }
            OperationCode::Abort => self.undo(steps),
            OperationCode::Add | OperationCode::Delete => {
                let code = match operation.code {
                    OperationCode::Add => OperationCode::Delete,
                    _ => OperationCode::Add,
                };
                let quad = self
                    .copied
                    .copy_quad(&mut self.builder, table, operation.quad(), None)
                    .map_err(limit)?;
                self.push(Operation::new(code, quad));
            }
            OperationCode::AddPrefix | OperationCode::DeletePrefix => {
                self.revert_prefix(table, operation).map_err(limit)?;
            }
        }
        Ok(())
    }

    /// Restores the previous IRI of a prefix, or deletes the prefix if it had none.
    fn revert_prefix(
        &mut self,
        table: &TermTable,
        operation: Operation,
    ) -> Result<(), LimitExceeded> {
        let mut graph = Vec::new();
        write_term(table, operation.graph, &mut graph);
        let prefix = (
            Box::from(table.text(operation.name)),
            graph.into_boxed_slice(),
        );
        let adds = operation.code == OperationCode::AddPrefix;
        let iri = adds.then(|| table.text(operation.object));
        let before = self.prefixes.set(prefix, iri, self.in_transaction)?;
        if before.is_none() && !adds {
            self.done.prefixes += 1;
            return Ok(());
        }
        let name = self
            .copied
            .copy_term(&mut self.builder, table, operation.name, None)?;
        let graph = self
            .copied
            .copy_term(&mut self.builder, table, operation.graph, None)?;
        let mut inverse = Operation {
            name,
            graph,
            ..Operation::bare(OperationCode::DeletePrefix)
        };
        if let Some(iri) = before {
            inverse.code = OperationCode::AddPrefix;
            inverse.object = self.builder.add_simple(TermKind::Iri, &iri, 0)?;
        }
        self.push(inverse);
        Ok(())
    }

    fn push(&mut self, operation: Operation) {
        if !self.builder.is_open() {
            self.builder.begin_message(None);
        }
        self.builder.push(operation);
    }

    fn mark(&mut self, mark: &[u8]) -> Result<(), LimitExceeded> {
        let name = self.builder.add_simple(TermKind::Literal, mark, 0)?;
        self.push(Operation {
            name,
            object: name,
            ..Operation::bare(OperationCode::Header)
        });
        Ok(())
    }

    /// Discards the open transaction.
    fn undo(&mut self, steps: &mut Vec<RevertStep>) {
        if self.builder.is_open() {
            self.builder.discard_message();
        }
        if self.stored > 0 {
            steps.push(RevertStep::Forget(self.stored));
        }
        self.stored = 0;
        self.in_transaction = false;
        self.prefixes.undo();
        self.done = RevertedCounts {
            undone: self.before.undone + 1,
            headers: self.done.headers,
            ..self.before
        };
    }

    /// Emits a block when it is full: the operations before the open transaction or, if there are
    /// none, a part of the transaction.
    fn store(&mut self, steps: &mut Vec<RevertStep>) {
        if !self.builder.is_full() {
            return;
        }
        let block = self.builder.take_complete(&mut FxHashMap::default());
        steps.extend(block.map(Box::new).map(RevertStep::Store));
        if self.builder.is_open() && self.builder.is_full() {
            self.builder.end_message();
            steps.extend(self.builder.take().map(Box::new).map(RevertStep::Store));
            self.stored += u64::from(self.in_transaction);
        }
    }
}

/// Reads blocks backward and creates patches.
pub struct BackwardPass {
    builder: PatchBuilder,
    copied: CopiedTerms,
    /// The `prev` of the first patch.
    prev: Option<PatchId>,
    parts: bool,
    deleted: u64,
    added: u64,
}

impl BackwardPass {
    fn new(prev: Option<PatchId>, parts: bool) -> Self {
        let builder = if parts {
            PatchBuilder::new(Limits {
                max_message_bytes: u64::MAX,
                ..Limits::default()
            })
        } else {
            PatchBuilder::within_2_gib()
        };
        Self {
            builder,
            copied: CopiedTerms::default(),
            prev,
            parts,
            deleted: 0,
            added: 0,
        }
    }

    /// Numbers of quads that the patches so far delete and add.
    #[must_use]
    pub const fn counts(&self) -> (u64, u64) {
        (self.deleted, self.added)
    }

    /// Returns the complete patches of a block, or parts of them.
    ///
    /// # Errors
    /// If a patch is larger than 2 GiB and `parts` is false.
    pub fn add(&mut self, block: &PatchBatch) -> Result<Vec<PatchBatch>, LimitExceeded> {
        let mut terms = Vec::new();
        self.copied.begin_batch(block.table());
        for operation in block.records().iter().rev() {
            self.copy_operation(block.table(), *operation)?;
            if !self.builder.is_full() {
                continue;
            }
            if !self.builder.is_open() {
                terms.extend(self.builder.take());
            } else if self.parts {
                terms.push(self.builder.take_part());
            } else {
                terms.extend(self.builder.take_complete(&mut FxHashMap::default()));
            }
        }
        self.builder.check_2_gib()?;
        Ok(terms)
    }

    /// Returns the last patches, if any.
    pub fn finish(&mut self) -> Option<PatchBatch> {
        if self.builder.is_open() {
            self.builder.end_message();
        }
        self.builder.take()
    }

    fn copy_operation(
        &mut self,
        table: &TermTable,
        operation: Operation,
    ) -> Result<(), LimitExceeded> {
        match operation.code {
            OperationCode::Header => match table.text(operation.name) {
                PATCH_END => self.begin()?,
                b"TX" => self.builder.push(Operation::bare(OperationCode::Commit)),
                _ => self.builder.push(Operation::bare(OperationCode::Begin)),
            },
            code => {
                self.deleted += u64::from(code == OperationCode::Delete);
                self.added += u64::from(code == OperationCode::Add);
                let copy = self
                    .copied
                    .copy_operation(&mut self.builder, table, operation)?;
                self.builder.push(copy);
            }
        }
        Ok(())
    }

    /// Begins a patch. The first one refers to the last patch of the log.
    fn begin(&mut self) -> Result<(), LimitExceeded> {
        if self.builder.is_open() {
            self.builder.end_message();
        }
        self.builder.begin_message(None);
        if let Some(prev) = self.prev.take() {
            let prev = prev.add_prev(&mut self.builder)?;
            self.builder.push(prev);
        }
        Ok(())
    }
}

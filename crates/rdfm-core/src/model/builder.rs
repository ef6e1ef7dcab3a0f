//! Builds batches.
//!
//! - In: terms, records and message ends from a decoder.
//! - Out: [`LogBatch`]es, which `cut` creates.
//! - Cost: appending is a bounds check and a copy.
//! - Law: limits apply to decoded bytes before they are stored.

mod checkpoint;
mod cut;

pub use checkpoint::Checkpoint;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::batch::{LogBatch, Metadata, NO_OFFSET};
use super::error::LimitExceeded;
use super::limits::Limits;
use super::namespaces::{Declaration, NamespaceChange, Namespaces, PreviousDeclaration};
use super::record::{Operation, Record};
use super::remedy::{Feature, Reason};
use super::table::{Span, TermTable};
use super::term::{NO_SPLIT, Quad, Term, TermId, TermKind};
use super::written_size::WrittenSize;

/// Maximum bytes of a batch, and of a message in it, if no lower limit applies. Keeps offsets below
/// 4 GiB.
const MAX_BATCH_BYTES: u64 = 0x7fff_0000;

/// Maximum bytes of terms of discarded messages. Above this size, unused terms are dropped. The
/// namespaces pending for the next message are kept.
const MAX_UNUSED_BYTES: usize = 1 << 20;

/// Lengths of the lists at the start of the open message. Discarding the message truncates the
/// lists to these lengths.
#[derive(Clone, Copy, Default)]
struct Mark {
    records: usize,
    namespace_changes: usize,
    metadata: usize,
}

/// Builds batches of datasets.
pub type BatchBuilder = LogBuilder<Quad>;
/// Builds batches of patches.
pub type PatchBuilder = LogBuilder<Operation>;
/// Builds batches of results.
pub type ResultBuilder = LogBuilder<TermId>;

/// Builds batches, charges decoded bytes, and numbers messages.
///
/// A decoder calls [`begin_message`](Self::begin_message), adds terms and records, then calls
/// [`end_message`](Self::end_message). When the batch is [`is_full`](Self::is_full) or the input
/// ends, it calls [`take`](Self::take). Term ids are valid only within a batch. The caches of
/// codecs compare [`serial`](Self::serial) to detect ids of earlier batches.
pub struct LogBuilder<R: Record> {
    pub(super) head: R::Head,
    limits: Limits,
    table: TermTable,
    records: Vec<R>,
    /// Offset of each record in the log, if the decoder reports it: for all records or for none.
    record_offsets: Vec<u64>,
    message_ends: Vec<u32>,
    byte_offsets: Vec<u64>,
    at_start: Arc<Namespaces>,
    /// Namespaces in force after the last declaration.
    in_force: Namespaces,
    /// Undoes the declarations since the last complete message.
    undo: Vec<PreviousDeclaration>,
    namespace_changes: Vec<NamespaceChange>,
    metadata: Vec<Metadata>,
    first_message_index: u64,
    any_graph: u32,
    continued: bool,
    open: Option<u64>,
    mark: Mark,
    /// Whether namespaces of discarded messages are pending for the next one, possibly with
    /// duplicates.
    kept_changes: bool,
    /// The [`weight`](Self::weight) at which duplicates are removed.
    max_weight: usize,
    message_bytes: u64,
    written_size: WrittenSize,
    serial: u32,
    arena_hint: usize,
    terms_hint: usize,
}

impl BatchBuilder {
    /// Adds a quad to the open message.
    ///
    /// # Errors
    /// If the message becomes too large.
    #[inline]
    pub fn add_quad(&mut self, quad: Quad) -> Result<(), LimitExceeded> {
        self.add(quad)
    }

    /// Adds a quad to the open message without charging for it, see [`push_term`](Self::push_term).
    #[inline]
    pub fn push_quad(&mut self, quad: Quad) {
        self.push(quad);
    }
}

impl<R: Record> LogBuilder<R> {
    /// Creates an empty builder. The first message has index 0.
    pub fn new(limits: Limits) -> Self {
        let written_size = WrittenSize::new::<R>(&limits);
        Self {
            head: R::Head::default(),
            limits,
            written_size,
            table: TermTable::with_capacity(0, 1),
            records: Vec::new(),
            record_offsets: Vec::new(),
            message_ends: Vec::new(),
            byte_offsets: Vec::new(),
            at_start: Arc::default(),
            in_force: Namespaces::default(),
            undo: Vec::new(),
            namespace_changes: Vec::new(),
            metadata: Vec::new(),
            first_message_index: 0,
            any_graph: 0,
            continued: false,
            open: None,
            mark: Mark::default(),
            kept_changes: false,
            max_weight: MAX_UNUSED_BYTES,
            message_bytes: 0,
            serial: 1,
            arena_hint: 0,
            terms_hint: 1,
        }
    }

    /// Creates an empty builder for data that is already in memory. A message may be as large as a
    /// batch, whose size the caller limits with [`check_2_gib`](Self::check_2_gib).
    pub fn within_2_gib() -> Self {
        Self::new(Limits {
            max_message_bytes: MAX_BATCH_BYTES,
            ..Limits::default()
        })
    }

    /// Checks that the batch is below 2 GiB.
    ///
    /// # Errors
    /// If the messages together are too large.
    pub fn check_2_gib(&self) -> Result<(), LimitExceeded> {
        let records = 16 * self.table.terms.len() + R::BYTES * self.records.len();
        if (self.table.arena.len() + records) as u64 > MAX_BATCH_BYTES {
            return Err(LimitExceeded(
                "the messages are larger than 2 GiB in total; use smaller batches".into(),
            ));
        }
        Ok(())
    }

    /// Resets the builder for the start of another log. Serial numbers continue, so that ids of
    /// earlier batches are not mistaken for new ones. The capacity of the last batch is kept.
    pub fn reset(&mut self) {
        self.head = R::Head::default();
        self.written_size = WrittenSize::new::<R>(&self.limits);
        self.table.arena.clear();
        self.table.terms.truncate(1);
        self.table.triples.clear();
        self.records.clear();
        self.record_offsets.clear();
        self.message_ends.clear();
        self.byte_offsets.clear();
        if !self.at_start.is_empty() {
            self.at_start = Arc::default();
        }
        if !self.in_force.is_empty() {
            self.in_force = Namespaces::default();
        }
        self.undo.clear();
        self.namespace_changes.clear();
        self.metadata.clear();
        self.first_message_index = 0;
        self.any_graph = 0;
        self.continued = false;
        self.open = None;
        self.mark = Mark::default();
        self.kept_changes = false;
        self.max_weight = MAX_UNUSED_BYTES;
        self.message_bytes = 0;
        self.serial = self.serial.wrapping_add(1).max(1);
    }

    /// Marks the first message as the continuation of a message in an earlier split.
    pub fn continue_message(&mut self) {
        self.continued = true;
    }

    /// Sets the header of the log. Call this before a batch is taken.
    pub fn set_head(&mut self, head: R::Head) {
        self.head = head;
    }

    /// Returns a batch with the header of the log and no messages.
    pub fn take_head(&mut self) -> LogBatch<R> {
        LogBatch {
            head: self.head.clone(),
            first_message_index: self.message_index(),
            ..LogBatch::empty()
        }
    }

    /// Continues after a batch, whose namespaces stay in force. Call before anything is added.
    pub fn start_after(&mut self, batch: &LogBatch<R>) {
        self.at_start = Arc::clone(&batch.namespaces_after);
        self.in_force = (*self.at_start).clone();
    }

    /// The namespaces in force, including those of the open or next message.
    pub fn in_force(&self) -> &Namespaces {
        &self.in_force
    }

    /// Sets the index of the first message. Call before anything is added.
    pub fn start_at(&mut self, index: u64) {
        debug_assert!(self.message_ends.is_empty());
        self.first_message_index = index;
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Serial number of the current batch, from 1. Term ids are valid until this number changes.
    #[inline]
    pub fn serial(&self) -> u32 {
        self.serial
    }

    /// The terms of the current batch.
    #[inline]
    pub fn table(&self) -> &TermTable {
        &self.table
    }

    /// Index in the log of the open message, or of the next one.
    pub fn message_index(&self) -> u64 {
        self.first_message_index + self.message_ends.len() as u64
    }

    /// Charges decoded bytes to the current message.
    ///
    /// # Errors
    /// If the message becomes larger than `max_message_bytes`.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        self.message_bytes += bytes as u64;
        if self.message_bytes > self.limits.max_message_bytes {
            return Err(self.too_large());
        }
        Ok(())
    }

    /// Whether the current message exceeds its limit.
    pub fn is_too_large(&self) -> bool {
        self.message_bytes > self.limits.max_message_bytes
    }

    #[cold]
    fn too_large(&self) -> LimitExceeded {
        let limit = self.limits.max_message_bytes;
        let text = format!("the {} is larger than {limit} decoded bytes", R::MESSAGE);
        LimitExceeded(Reason::limit(text, "max_message_bytes").lacking(Feature::Parts))
    }

    /// Appends text to the arena without charging for it. Returns its offset.
    #[inline]
    pub fn append_text(&mut self, text: &[u8]) -> u32 {
        let offset = self.table.arena.len() as u32;
        self.table.arena.extend_from_slice(text);
        offset
    }

    /// Like [`append_text`](Self::append_text), for the first `length` bytes of an array, which is
    /// copied in one step.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a few moves
    pub fn append_short<const N: usize>(&mut self, bytes: &[u8; N], length: usize) -> u32 {
        debug_assert!(length <= N);
        let offset = self.table.arena.len();
        self.table.arena.extend_from_slice(bytes);
        self.table.arena.truncate(offset + length);
        offset as u32
    }

    /// Appends text to the arena and charges for it.
    ///
    /// # Errors
    /// If the message becomes too large.
    #[inline]
    pub fn add_text(&mut self, text: &[u8]) -> Result<Span, LimitExceeded> {
        self.charge(text.len())?;
        Ok(Span {
            offset: self.append_text(text),
            length: text.len() as u32,
        })
    }

    /// Adds a term record. Its text must already be in the arena.
    ///
    /// # Errors
    /// If the message becomes too large.
    #[inline]
    pub fn add_term(&mut self, term: Term) -> Result<TermId, LimitExceeded> {
        self.charge(16)?;
        Ok(self.push_term(term))
    }

    /// Adds a term record without charging for it. The caller charges an amount that does not
    /// depend on which terms are shared.
    #[inline]
    pub fn push_term(&mut self, term: Term) -> TermId {
        self.written_size.note_term(u64::from(term.length));
        let id = TermId(self.table.terms.len() as u32);
        self.table.terms.push(term);
        id
    }

    /// Adds a triple term without charging for it, see [`push_term`](Self::push_term).
    pub fn push_triple_term(&mut self, triple: [TermId; 3]) -> TermId {
        let aux = self.table.triples.len() as u32;
        self.written_size.note_triple(&self.table, triple);
        self.table.triples.push(triple);
        self.push_term(Term {
            offset: 0,
            length: 0,
            aux,
            split: NO_SPLIT,
            kind: TermKind::TripleTerm,
            flags: 0,
        })
    }

    /// Adds a record to the open message without charging for it, see
    /// [`push_term`](Self::push_term).
    #[inline]
    pub fn push(&mut self, record: R) {
        self.any_graph |= record.graph().0;
        self.records.push(record);
    }

    /// Like [`push`](Self::push), with the offset of the record in the log. A codec uses this for
    /// all records or for none.
    #[inline]
    pub fn push_at(&mut self, record: R, offset: u64) {
        self.record_offsets.push(offset);
        self.push(record);
    }

    /// Adds a term of a kind without `aux`.
    ///
    /// # Errors
    /// If the message becomes too large.
    #[inline]
    pub fn add_simple(
        &mut self,
        kind: TermKind,
        text: &[u8],
        flags: u8,
    ) -> Result<TermId, LimitExceeded> {
        self.add_with_aux(kind, text, 0, flags)
    }

    /// Adds a term with its text and `aux`.
    ///
    /// # Errors
    /// If the message becomes too large.
    #[inline]
    pub fn add_with_aux(
        &mut self,
        kind: TermKind,
        text: &[u8],
        aux: u32,
        flags: u8,
    ) -> Result<TermId, LimitExceeded> {
        let span = self.add_text(text)?;
        self.add_term(Term {
            offset: span.offset,
            length: span.length,
            aux,
            split: NO_SPLIT,
            kind,
            flags,
        })
    }

    /// Adds a triple term. The caller limits its depth.
    ///
    /// # Errors
    /// If the message becomes too large.
    pub fn add_triple_term(&mut self, triple: [TermId; 3]) -> Result<TermId, LimitExceeded> {
        self.charge(12)?;
        let aux = self.table.triples.len() as u32;
        self.written_size.note_triple(&self.table, triple);
        self.table.triples.push(triple);
        self.add_term(Term {
            offset: 0,
            length: 0,
            aux,
            split: NO_SPLIT,
            kind: TermKind::TripleTerm,
            flags: 0,
        })
    }

    /// Adds a record to the open message.
    ///
    /// # Errors
    /// If the message becomes too large.
    #[inline]
    pub fn add(&mut self, record: R) -> Result<(), LimitExceeded> {
        self.charge(R::BYTES)?;
        self.push(record);
        Ok(())
    }

    /// Declares a namespace for the open message, or for the next one.
    ///
    /// # Errors
    /// If the message, or all namespaces together, become too large.
    pub fn add_namespace(&mut self, name: &[u8], iri: &[u8]) -> Result<(), LimitExceeded> {
        self.charge(16)?;
        if let Some(undo) = self.in_force.declare(name, iri) {
            if self.in_force.bytes > self.limits.max_message_bytes {
                let error = self.too_many_namespaces();
                self.in_force.restore(&undo);
                return Err(error);
            }
            self.undo.push(undo);
        }
        let change = NamespaceChange {
            message: self.message_ends.len() as u32,
            name: self.add_text(name)?,
            iri: self.add_text(iri)?,
        };
        self.namespace_changes.push(change);
        Ok(())
    }

    #[cold]
    fn too_many_namespaces(&self) -> LimitExceeded {
        let text = format!(
            "the {} namespaces in force take more than {} bytes of memory",
            self.in_force.len(),
            self.limits.max_message_bytes
        );
        LimitExceeded(Reason::limit(text, "max_message_bytes"))
    }

    /// Number of pending declarations for the next message that change a namespace. Call only if no
    /// messages are waiting to be taken.
    pub fn pending_namespaces(&self) -> u64 {
        let new = |change: &&NamespaceChange| {
            self.at_start.get(self.table.span(change.name)) != Some(self.table.span(change.iri))
        };
        self.namespace_changes.iter().filter(new).count() as u64
    }

    /// Adds metadata to the open message.
    ///
    /// # Errors
    /// If the message becomes too large.
    pub fn add_metadata(&mut self, key: &str, value: &[u8]) -> Result<(), LimitExceeded> {
        self.charge(key.len() + value.len() + 64)?;
        let message = self.message_ends.len() as u32;
        self.metadata.push(Metadata {
            message,
            key: key.into(),
            value: value.into(),
        });
        Ok(())
    }

    /// Begins a message at an offset in the log; `None` if it is not from a log of bytes.
    #[inline]
    pub fn begin_message(&mut self, byte_offset: impl Into<Option<u64>>) {
        debug_assert!(self.open.is_none());
        self.open = Some(byte_offset.into().unwrap_or(NO_OFFSET));
    }

    /// Whether a message is open.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Offset of the open message in the log.
    pub fn open_since(&self) -> Option<u64> {
        self.open.filter(|offset| *offset != NO_OFFSET)
    }

    /// Whether completed messages are waiting to be taken.
    #[inline]
    pub fn has_messages(&self) -> bool {
        !self.message_ends.is_empty()
    }

    /// Ends the open message.
    #[inline]
    pub fn end_message(&mut self) {
        self.close();
        self.message_bytes = 0;
    }

    fn close(&mut self) {
        debug_assert!(self.open.is_some());
        if std::mem::take(&mut self.kept_changes) {
            let waiting = self.pending_declarations();
            self.namespace_changes.truncate(self.mark.namespace_changes);
            for (name, iri) in waiting {
                self.append_change(&name, &iri);
            }
        }
        self.byte_offsets.push(self.open.take().unwrap_or_default());
        self.message_ends.push(self.records.len() as u32);
        if self.namespace_changes.len() > self.mark.namespace_changes {
            self.undo.clear();
        }
        self.mark = Mark {
            records: self.records.len(),
            namespace_changes: self.namespace_changes.len(),
            metadata: self.metadata.len(),
        };
    }

    /// Discards the open message with its records, namespaces and metadata. Its terms remain until
    /// the batch is taken. The next message gets its index.
    pub fn discard_message(&mut self) {
        self.namespace_changes.truncate(self.mark.namespace_changes);
        for undo in self.undo.drain(..).rev() {
            self.in_force.restore(&undo);
        }
        self.discard_content();
    }

    /// Like [`discard_message`](Self::discard_message), but its namespaces stay in force and are
    /// declared in the next message.
    pub fn discard_content(&mut self) {
        self.records.truncate(self.mark.records);
        self.record_offsets.truncate(self.mark.records);
        self.metadata.truncate(self.mark.metadata);
        let graphs = self.records.iter().map(|record| record.graph().0);
        self.any_graph = graphs.fold(0, |all, graph| all | graph);
        self.open = None;
        self.message_bytes = 0;
    }

    /// Skips the index of a discarded message, so that the next message gets the following one, and
    /// drops its terms. Call only if no messages are waiting to be taken.
    pub fn skip_index(&mut self) {
        debug_assert!(self.message_ends.is_empty());
        self.first_message_index += 1;
        self.continued = false;
        if self.namespace_changes.is_empty() {
            self.forget_terms();
        } else {
            self.kept_changes = true;
            // Delayed, so that the total cost of many discarded messages is proportional to their
            // size.
            if self.weight() >= self.max_weight {
                self.compact_changes();
            }
        }
    }

    fn forget_terms(&mut self) {
        self.serial = self.serial.wrapping_add(1).max(1);
        self.table = TermTable::with_capacity(0, 1);
        self.written_size = WrittenSize::new::<R>(&self.limits);
    }

    /// Pending namespaces for the next message, each name once, with its last declaration.
    fn pending_declarations(&self) -> Vec<Declaration> {
        let mut waiting: Vec<Declaration> = Vec::new();
        let mut by_name = FxHashMap::default();
        for change in &self.namespace_changes[self.mark.namespace_changes..] {
            let (name, iri) = (self.table.span(change.name), self.table.span(change.iri));
            if let Some(&index) = by_name.get(name) {
                let entry: &mut Declaration = &mut waiting[index];
                entry.1 = iri.into();
            } else {
                by_name.insert(name, waiting.len());
                waiting.push((name.into(), iri.into()));
            }
        }
        waiting
    }

    /// Bytes of the terms of the current batch.
    fn weight(&self) -> usize {
        self.table.arena.len() + 16 * self.table.terms.len()
    }

    /// Drops the terms, and all but the last pending declaration of each name.
    fn compact_changes(&mut self) {
        let waiting = self.pending_declarations();
        for undo in self.undo.drain(..).rev() {
            self.in_force.restore(&undo);
        }
        self.namespace_changes.clear();
        self.forget_terms();
        for (name, iri) in waiting {
            self.undo.extend(self.in_force.declare(&name, &iri));
            self.append_change(&name, &iri);
        }
        self.max_weight = MAX_UNUSED_BYTES.max(2 * self.weight());
    }

    fn append_change(&mut self, name: &[u8], iri: &[u8]) {
        let mut append = |text: &[u8]| Span {
            offset: self.append_text(text),
            length: text.len() as u32,
        };
        let (name, iri) = (append(name), append(iri));
        let message = self.message_ends.len() as u32;
        self.namespace_changes
            .push(NamespaceChange { message, name, iri });
    }

    /// Whether the batch has reached its target size. A decoder then takes it at the next message
    /// end or, with parts, immediately.
    #[inline]
    pub fn is_full(&mut self) -> bool {
        self.records.len() >= self.limits.batch_quads
            || (self.records.len() >= self.written_size.next_check
                && self.written_size.is_too_long(&self.table, &self.records))
            || self.weight() >= self.limits.batch_bytes
            || self.message_ends.len() >= self.limits.batch_messages
    }

    /// Like [`is_full`](Self::is_full), for messages in parts. True well before the message reaches
    /// its limit, which may be lower than that of a batch.
    #[inline]
    pub fn is_part_full(&mut self) -> bool {
        self.is_full() || self.message_bytes > self.limits.max_message_bytes / 8
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use rustc_hash::FxHashMap;

    use super::*;
    use crate::model::batch::{InForceNamespaces, MessageBatch};
    use crate::model::remedy::Remedy;

    #[test]
    fn a_batch_can_be_filled_by_the_written_size_of_its_quads() {
        let limits = Limits {
            batch_quads: usize::MAX,
            ..Limits::default()
        };
        let quads_until_full = |builder: &mut BatchBuilder, quad: Quad| {
            let mut count = 0;
            while !builder.is_full() {
                builder.push_quad(quad);
                count += 1;
            }
            count
        };
        let mut builder = BatchBuilder::new(limits);
        builder.begin_message(0);
        for round in 0..2 {
            let long = quad_of(&mut builder, &"x".repeat(1 << 20));
            let short = quad_of(&mut builder, "y");
            let once = Quad {
                subject: long.subject,
                ..short
            };
            // A long term in one quad does not end the batch, but a long term in each quad does.
            for count in 0..100_000 {
                builder.push_quad(if count == 0 { once } else { short });
                assert!(!builder.is_full());
            }
            assert_eq!(quads_until_full(&mut builder, once), 15, "{round}");
            builder.take_part();
        }
        let mut quad = quad_of(&mut builder, "shared");
        for _ in 0..64 {
            quad.object = builder
                .add_triple_term([quad.object, quad.predicate, quad.object])
                .unwrap();
        }
        assert_eq!(quads_until_full(&mut builder, quad), 1);
    }

    fn quad_of(builder: &mut BatchBuilder, text: &str) -> Quad {
        let id = builder
            .add_simple(TermKind::Iri, text.as_bytes(), 0)
            .unwrap();
        Quad {
            subject: id,
            predicate: id,
            object: id,
            graph: TermId::DEFAULT_GRAPH,
        }
    }

    fn add_message(builder: &mut BatchBuilder, texts: &[&str]) {
        builder.begin_message(7);
        for text in texts {
            let quad = quad_of(builder, text);
            builder.add_quad(quad).unwrap();
        }
        builder.end_message();
    }

    fn subjects(batch: &MessageBatch, message: usize) -> Vec<&str> {
        let text = |quad: &Quad| std::str::from_utf8(batch.table().text(quad.subject)).unwrap();
        batch.message(message).iter().map(text).collect()
    }

    #[test]
    fn messages_are_returned_unchanged() {
        let mut builder = BatchBuilder::new(Limits::default());
        assert!(builder.take().is_none());
        add_message(&mut builder, &["a", "b"]);
        add_message(&mut builder, &[]);
        add_message(&mut builder, &["c"]);
        let batch = builder.take().unwrap();
        assert_eq!(
            (
                batch.len(),
                batch.first_message_index(),
                batch.byte_offset(2)
            ),
            (3, 0, Some(7))
        );
        assert_eq!(subjects(&batch, 0), ["a", "b"]);
        assert!(subjects(&batch, 1).is_empty());
        assert_eq!(subjects(&batch, 2), ["c"]);
        add_message(&mut builder, &["d"]);
        assert_eq!(builder.take().unwrap().first_message_index(), 3);
    }

    #[test]
    fn declarations_of_a_discarded_message_are_not_in_force() {
        let mut builder = BatchBuilder::new(Limits::default());
        builder.begin_message(0);
        builder.add_namespace(b"a", b"http://e/1").unwrap();
        builder.end_message();
        let bytes = builder.in_force().bytes();
        builder.begin_message(10);
        for (name, iri) in [
            (b"a", b"http://e/22"),
            (b"b", b"http://e/33"),
            (b"b", b"http://e/44"),
        ] {
            builder.add_namespace(name, iri).unwrap();
        }
        assert_eq!(builder.in_force().get(b"b"), Some(&b"http://e/44"[..]));
        builder.discard_message();
        assert_eq!(builder.in_force().get(b"a"), Some(&b"http://e/1"[..]));
        assert_eq!(builder.in_force().get(b"b"), None);
        assert_eq!(builder.in_force().bytes(), bytes);
        // Namespaces of the next message are not in force at the end of the batch before it.
        builder.add_namespace(b"c", b"http://e/5").unwrap();
        let batch = builder.take().unwrap();
        let at_end: Vec<_> = batch.namespaces_at_end().iter().collect();
        assert_eq!(at_end, [(&b"a"[..], &b"http://e/1"[..])]);
        assert_eq!(builder.in_force().get(b"c"), Some(&b"http://e/5"[..]));
    }

    #[test]
    fn a_slice_shares_the_terms_and_keeps_the_namespaces_in_force() {
        let mut builder = BatchBuilder::new(Limits::default());
        for name in ["a", "b", "c"] {
            builder.begin_message(0);
            builder.add_namespace(b"ns", name.as_bytes()).unwrap();
            builder.add_metadata("key", name.as_bytes()).unwrap();
            let quad = quad_of(&mut builder, name);
            builder.add_quad(quad).unwrap();
            builder.end_message();
        }
        let batch = builder.take().unwrap();
        let slice = batch.slice(1..2);
        assert_eq!((slice.len(), slice.first_message_index()), (1, 1));
        assert_eq!(subjects(&slice, 0), ["b"]);
        assert_eq!(slice.namespaces_at_start().get(b"ns"), Some(&b"a"[..]));
        assert_eq!(slice.namespaces(0).get(b"ns"), Some(&b"b"[..]));
        assert_eq!(&*slice.metadata(0)[0].value, b"b");
        assert!(batch.slice(3..9).is_empty());
        assert!(batch.slice(0..0).is_empty());
    }

    #[test]
    fn a_discarded_message_leaves_no_content() {
        let mut builder = BatchBuilder::new(Limits::default());
        add_message(&mut builder, &["a"]);
        builder.begin_message(1);
        let quad = quad_of(&mut builder, "b");
        builder
            .add_quad(Quad {
                graph: quad.subject,
                ..quad
            })
            .unwrap();
        builder.add_namespace(b"x", b"y").unwrap();
        builder.add_metadata("k", b"v").unwrap();
        builder.discard_message();
        let batch = builder.take().unwrap();
        assert_eq!((batch.len(), batch.has_graphs()), (1, false));
        assert!(batch.namespace_changes().is_empty() && batch.all_metadata().is_empty());
        builder.skip_index();
        assert_eq!(builder.message_index(), 2);
    }

    #[test]
    fn namespaces_of_discarded_messages_are_kept_in_bounded_memory() {
        let mut builder = BatchBuilder::new(Limits::default());
        add_message(&mut builder, &["a"]);
        let mut largest = 0;
        for number in 0..20_000 {
            builder.begin_message(0);
            for (name, iri) in [(&b"b"[..], number % 2), (b"c", 7), (b"b", number % 3)] {
                let iri = format!("http://example.org/{iri}/");
                builder.add_namespace(name, iri.as_bytes()).unwrap();
            }
            let quad = quad_of(&mut builder, &format!("a rather long name {number}"));
            builder.add_quad(quad).unwrap();
            builder.discard_content();
            assert_eq!(
                builder.take().map(|batch| batch.len()),
                (number == 0).then_some(1)
            );
            builder.skip_index();
            largest = largest.max(builder.weight());
        }
        assert!(largest < MAX_UNUSED_BYTES + 10_000, "{largest}");
        add_message(&mut builder, &["z"]);
        let batch = builder.take().unwrap();
        assert_eq!((batch.first_message_index(), batch.len()), (20_001, 1));
        let declared: Vec<_> = batch
            .namespace_changes()
            .iter()
            .map(|change| {
                (
                    batch.table().span(change.name),
                    batch.table().span(change.iri),
                )
            })
            .collect();
        let last: &[u8] = b"http://example.org/1/";
        assert_eq!(
            declared,
            [(&b"b"[..], last), (b"c", b"http://example.org/7/")]
        );
        let at_end: Vec<_> = batch.namespaces_at_end().iter().collect();
        assert_eq!(at_end, declared);
        assert_eq!(batch.namespaces_at_start().len(), 0);
    }

    #[test]
    fn a_namespace_beyond_the_limit_is_not_in_force() {
        let mut builder = BatchBuilder::new(Limits {
            max_message_bytes: 2_000,
            ..Limits::default()
        });
        builder.begin_message(0);
        let declared = (0..9).take_while(|n| {
            builder
                .add_namespace(format!("n{n}").as_bytes(), b"a:")
                .is_ok()
        });
        assert_eq!(declared.count(), 3);
        builder.discard_content();
        assert_eq!(builder.in_force().len(), 3);
        assert!(builder.in_force().bytes() <= 2_000);
    }

    #[test]
    fn a_namespace_before_a_message_is_declared_in_it() {
        let mut builder = BatchBuilder::new(Limits::default());
        add_message(&mut builder, &["a"]);
        builder.add_namespace(b"ex", b"http://ex/").unwrap();
        let first = builder.take().unwrap();
        assert!(first.namespaces(0).is_empty());
        add_message(&mut builder, &["b"]);
        let second = builder.take().unwrap();
        assert!(second.namespaces_at_start().is_empty());
        assert_eq!(second.namespaces(0).get(b"ex"), Some(&b"http://ex/"[..]));
        add_message(&mut builder, &["c"]);
        assert_eq!(builder.take().unwrap().namespaces_at_start().len(), 1);
    }

    #[test]
    fn namespaces_are_new_unless_the_batch_follows_the_previous_one() {
        let mut builder = BatchBuilder::new(Limits::default());
        let mut batch = |declared: &[&str]| {
            for name in declared {
                builder
                    .add_namespace(name.as_bytes(), b"http://ex/")
                    .unwrap();
            }
            add_message(&mut builder, &["a"]);
            add_message(&mut builder, &["b"]);
            builder.take().unwrap()
        };
        let [first, second, third] = [batch(&["a"]), batch(&["b", "a"]), batch(&[])];
        let new_names = |in_force: &mut InForceNamespaces, batch: &MessageBatch| -> String {
            let names = in_force.new_namespaces(batch).map(|(name, _)| name);
            String::from_utf8(names.collect::<Vec<_>>().concat()).unwrap()
        };
        let mut in_force = InForceNamespaces::default();
        assert_eq!(new_names(&mut in_force, &first), "");
        assert_eq!(new_names(&mut in_force, &second), "");
        assert_eq!(new_names(&mut in_force, &third), "");
        let mut in_force = InForceNamespaces::default();
        assert_eq!(new_names(&mut in_force, &second), "a");
        assert_eq!(new_names(&mut in_force, &first), "");
        assert_eq!(new_names(&mut in_force, &third), "ab");
        // Consecutive slices also follow each other, unless the batch declares namespaces before
        // and after the cut.
        let mut in_force = InForceNamespaces::default();
        assert_eq!(new_names(&mut in_force, &second.slice(0..0)), "a");
        assert_eq!(new_names(&mut in_force, &second.slice(0..1)), "");
        assert_eq!(new_names(&mut in_force, &second.slice(1..1)), "");
        assert_eq!(new_names(&mut in_force, &second.slice(1..2)), "");
        assert_eq!(new_names(&mut in_force, &third), "");
    }

    #[test]
    fn declarations_of_an_open_message_move_with_it() {
        let declare = |builder: &mut BatchBuilder, name: &[u8]| {
            builder.add_namespace(name, b"http://ex/").unwrap();
        };
        let names = |namespaces: &Namespaces| -> Vec<u8> {
            let names: Vec<&[u8]> = namespaces.iter().map(|(name, _)| name).collect();
            names.concat()
        };
        let mut builder = BatchBuilder::new(Limits::default());
        declare(&mut builder, b"a");
        add_message(&mut builder, &["x"]);
        builder.begin_message(0);
        declare(&mut builder, b"b");
        builder.add_metadata("key", b"value").unwrap();
        let mut new_ids = FxHashMap::default();
        let first = builder.take_complete(&mut new_ids).unwrap();
        builder.end_message();
        let second = builder.take().unwrap();
        assert_eq!(names(&first.namespaces(0)), b"a");
        assert_eq!(names(second.namespaces_at_start()), b"a");
        assert_eq!(names(&second.namespaces(0)), b"ab");
        assert_eq!(first.all_metadata(), []);
        assert_eq!(second.metadata(0)[0].key.as_ref(), "key");
        let mut in_force = InForceNamespaces::default();
        assert_eq!(in_force.new_namespaces(&first).count(), 0);
        assert_eq!(in_force.new_namespaces(&second).count(), 0);
        assert_eq!(names(&builder.at_start), b"ab");
    }

    #[test]
    fn parts_of_a_message_share_its_index() {
        let mut builder = BatchBuilder::new(Limits::default());
        add_message(&mut builder, &["a"]);
        builder.begin_message(9);
        let quad = quad_of(&mut builder, "b");
        builder.add_quad(quad).unwrap();
        let first = builder.take_part();
        assert_eq!(
            (first.len(), first.continued(), first.continues()),
            (2, false, true)
        );
        let quad = quad_of(&mut builder, "c");
        builder.add_quad(quad).unwrap();
        builder.end_message();
        let second = builder.take().unwrap();
        assert_eq!(
            (
                second.first_message_index(),
                second.continued(),
                second.continues()
            ),
            (1, true, false)
        );
        assert_eq!(
            (subjects(&second, 0), second.byte_offset(0)),
            (vec!["c"], Some(9))
        );
    }

    #[test]
    fn a_message_beyond_the_limit_is_rejected_before_it_is_stored() {
        let limits = Limits {
            max_message_bytes: 100,
            ..Limits::default()
        };
        let mut builder = BatchBuilder::new(limits);
        builder.begin_message(0);
        let error = builder
            .add_simple(TermKind::Literal, &[b'x'; 101], 0)
            .unwrap_err();
        assert_eq!(error.0.remedies(), [Remedy::limit("max_message_bytes")]);
        assert_eq!(error.0.missing_feature(), Some(Feature::Parts));
        assert!(builder.table().arena().is_empty());
    }
}

//! Takes batches from a builder.
//!
//! - In: the completed messages of a builder, and the open one.
//! - Out: a [`LogBatch`]. The content of a message that continues moves to the next batch.
//! - Cost: the builder's tables are moved. Only the terms and namespaces of an open message are
//!   copied.
//! - Law: moving charges no bytes, so limits do not depend on where batches end. A message
//!   taken in parts is the exception: each part is charged from zero. Term ids of one batch are
//!   not valid in the next.

use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::{LogBuilder, Mark};
use crate::model::batch::{LogBatch, Metadata};
use crate::model::namespaces::NamespaceChange;
use crate::model::record::Record;
use crate::model::table::{Span, TermTable};
use crate::model::term::{TermId, TermKind};
use crate::model::written_size::WrittenSize;

impl<R: Record> LogBuilder<R> {
    /// Returns the completed messages, or `None` if there are none. While a message is open, call
    /// [`take_part`](Self::take_part) instead. Namespaces pending for the next message
    /// stay pending.
    pub fn take(&mut self) -> Option<LogBatch<R>> {
        debug_assert!(self.open.is_none());
        if self.message_ends.is_empty() {
            return None;
        }
        Some(self.cut(false))
    }

    /// Returns the completed messages and the beginning of the open one, which stays open and
    /// continues in the next batch. Its bytes are charged from zero again.
    pub fn take_part(&mut self) -> LogBatch<R> {
        let position = self.open.unwrap_or_default();
        self.close();
        let batch = self.cut(true);
        self.open = Some(position);
        self.message_bytes = 0;
        batch
    }

    /// Returns the completed messages while a message is open, or `None` if none is complete. The
    /// open message moves to the next batch with its namespaces and metadata. `new_ids` receives
    /// the new ids of its terms. A message moves at most once, because afterwards no complete
    /// message precedes it.
    pub fn take_complete(
        &mut self,
        new_ids: &mut FxHashMap<TermId, TermId>,
    ) -> Option<LogBatch<R>> {
        if self.message_ends.is_empty() {
            return None;
        }
        if self.open.is_none() {
            return self.take();
        }
        let bytes = self.message_bytes;
        let declared = self
            .namespace_changes
            .split_off(self.mark.namespace_changes);
        let metadata = self.metadata.split_off(self.mark.metadata);
        let all = self.take_part();
        self.continued = false;
        self.message_bytes = bytes;
        self.move_namespaces(all.table(), declared);
        let metadata = metadata.into_iter();
        self.metadata.extend(metadata.map(|entry| Metadata {
            message: 0,
            ..entry
        }));
        let open = all.len() - 1;
        for record in all.message(open) {
            let record = record.map(|id| self.copy_term(all.table(), id, new_ids));
            self.push(record);
        }
        let offsets = all.record_offsets.get(all.range(open));
        self.record_offsets
            .extend_from_slice(offsets.unwrap_or_default());
        Some(all.slice(0..open))
    }

    /// Copies a term of an earlier batch, unless `new_ids` contains a copy. Charges nothing.
    pub fn copy_term(
        &mut self,
        from: &TermTable,
        id: TermId,
        new_ids: &mut FxHashMap<TermId, TermId>,
    ) -> TermId {
        if id == TermId::DEFAULT_GRAPH {
            return id;
        }
        if let Some(&new) = new_ids.get(&id) {
            return new;
        }
        let mut term = from.term(id);
        match term.kind {
            TermKind::LangLiteral | TermKind::TypedLiteral => {
                term.aux = self.copy_term(from, TermId(term.aux), new_ids).0;
            }
            TermKind::TripleTerm => {
                // Recursion is bounded by the decoder's limit.
                let triple = from.triple(term);
                let triple = triple.map(|part| self.copy_term(from, part, new_ids));
                term.aux = self.table.triples.len() as u32;
                self.written_size.note_triple(&self.table, triple);
                self.table.triples.push(triple);
            }
            _ => {}
        }
        term.offset = self.append_text(from.text_of(from.term(id)));
        let new = self.push_term(term);
        new_ids.insert(id, new);
        new
    }

    /// Declares namespaces of an earlier batch for the first message, without charging for them.
    fn move_namespaces(&mut self, from: &TermTable, changes: Vec<NamespaceChange>) {
        for NamespaceChange { name, iri, .. } in changes {
            let mut copy = |span: Span| Span {
                offset: self.append_text(from.span(span)),
                ..span
            };
            let (name, iri) = (copy(name), copy(iri));
            self.namespace_changes.push(NamespaceChange {
                message: 0,
                name,
                iri,
            });
        }
    }

    fn cut(&mut self, continues: bool) -> LogBatch<R> {
        self.serial = self.serial.wrapping_add(1).max(1);
        self.arena_hint = self.table.arena.len();
        self.terms_hint = self.table.terms.len();
        let room = TermTable::with_capacity(
            (self.arena_hint + self.arena_hint / 8).min(self.limits.batch_bytes * 2),
            (self.terms_hint + self.terms_hint / 8).min(self.limits.batch_bytes / 8),
        );
        let table = std::mem::replace(&mut self.table, room);
        self.written_size = WrittenSize::new::<R>(&self.limits);
        let messages = self.message_ends.len() as u32;
        let waiting = self
            .namespace_changes
            .partition_point(|change| change.message < messages);
        let pending = self.namespace_changes.split_off(waiting);
        let at_start = Arc::clone(&self.at_start);
        if !self.namespace_changes.is_empty() {
            let mut at_end = self.in_force.clone();
            self.undo.iter().rev().for_each(|undo| at_end.restore(undo));
            self.at_start = Arc::new(at_end);
        }
        let changes = std::mem::take(&mut self.namespace_changes);
        self.move_namespaces(&table, pending);
        let records_hint = self.records.len();
        let batch = LogBatch {
            head: self.head.clone(),
            table: Arc::new(table),
            records: std::mem::replace(&mut self.records, Vec::with_capacity(records_hint)),
            record_offsets: std::mem::take(&mut self.record_offsets),
            message_ends: std::mem::take(&mut self.message_ends),
            byte_offsets: std::mem::take(&mut self.byte_offsets),
            reached: Arc::new(Mutex::new((0, Arc::clone(&at_start)))),
            namespaces: at_start,
            namespaces_after: Arc::clone(&self.at_start),
            namespace_changes: changes,
            metadata: std::mem::take(&mut self.metadata),
            first_message_index: self.first_message_index,
            indexes: Vec::new(),
            has_graphs: self.any_graph != 0,
            continued: self.continued,
            continues,
        };
        self.first_message_index += u64::from(messages) - u64::from(continues);
        self.continued = continues;
        self.any_graph = 0;
        self.mark = Mark::default();
        batch
    }
}

//! Columnar, dictionary-encoded messages, which decoders yield and encoders take.
//!
//! - In: the content of a [`BatchBuilder`](super::builder::BatchBuilder).
//! - Out: an immutable [`MessageBatch`]. Slices share its term table.
//! - Cost: about 55 bytes per quad.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::namespaces::{NamespaceChange, Namespaces};
use super::record::{Operation, Record, ResultHead};
use super::table::TermTable;
use super::term::{Quad, TermId, TermKind};

/// The namespaces in force after the last batch that an encoder received.
#[derive(Debug, Default)]
pub struct InForceNamespaces(Option<Arc<Namespaces>>);

impl InForceNamespaces {
    /// Returns the namespaces at the start of a batch. Returns none if the batch follows the last
    /// one, because the encoder then already knows them. The batch becomes the last one.
    pub fn new_namespaces<'a, R: Record>(
        &mut self,
        batch: &'a LogBatch<R>,
    ) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a, R> {
        let count = if self.advance_to(batch) {
            0
        } else {
            usize::MAX
        };
        batch.namespaces.iter().take(count)
    }

    /// Whether these are the namespaces at the start of a batch. If so, the batch may follow the
    /// last one.
    pub fn is_at_start_of<R: Record>(&self, batch: &LogBatch<R>) -> bool {
        let last = self.0.as_ref();
        last.is_some_and(|last| Arc::ptr_eq(last, &batch.namespaces))
    }

    /// Whether a batch follows the last one. The batch then becomes the last one.
    pub fn advance_to<R: Record>(&mut self, batch: &LogBatch<R>) -> bool {
        let last = self.0.replace(Arc::clone(&batch.namespaces_after));
        last.is_some_and(|last| Arc::ptr_eq(&last, &batch.namespaces))
    }
}

/// The offset of a message that is not from a log of bytes.
pub(super) const NO_OFFSET: u64 = u64::MAX;

/// An entry of a message's metadata (Jelly frame metadata).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Index of the message in the batch.
    pub message: u32,
    /// The key.
    pub key: Box<str>,
    /// The value, which may be any bytes.
    pub value: Box<[u8]>,
}

/// The number of changes of a batch that a lookup has applied, and the namespaces in force after
/// them. Lookups for consecutive slices apply only the changes between them, and share the result.
pub(super) type AppliedChanges = Arc<Mutex<(usize, Arc<Namespaces>)>>;

/// Consecutive datasets.
pub type MessageBatch = LogBatch<Quad>;
/// Consecutive patches. Blank node labels are valid throughout the log.
pub type PatchBatch = LogBatch<Operation>;
/// Consecutive rows of a result set. Each message is a row of cells. Blank node labels are valid
/// throughout the log.
pub type ResultBatch = LogBatch<TermId>;

impl ResultBatch {
    /// Returns the cells of one variable in some rows, as rows of that variable. `variable` and
    /// `rows` are positions in the batch; others are ignored.
    #[must_use]
    pub fn cells(&self, variable: usize, rows: &[usize]) -> Self {
        let width = self.head.variables.len();
        let name = self.head.variables.get(variable).cloned();
        let cell = |row: &usize| self.records.get(row * width + variable).copied();
        let records: Vec<TermId> = match name {
            Some(_) => rows.iter().filter_map(cell).collect(),
            None => Vec::new(),
        };
        Self {
            head: Arc::new(ResultHead {
                variables: name.into_iter().collect(),
                ..ResultHead::default()
            }),
            table: Arc::clone(&self.table),
            message_ends: (1..=records.len() as u32).collect(),
            byte_offsets: vec![NO_OFFSET; records.len()],
            records,
            ..Self::empty()
        }
    }
}

/// Consecutive messages of a log, each a list of records.
#[derive(Clone, Debug)]
pub struct LogBatch<R: Record> {
    pub(super) head: R::Head,
    pub(super) table: Arc<TermTable>,
    pub(super) records: Vec<R>,
    /// Offset of each record in the log; empty if the codec does not report it.
    pub(super) record_offsets: Vec<u64>,
    pub(super) message_ends: Vec<u32>,
    /// Offset of each message in the log, or [`NO_OFFSET`].
    pub(super) byte_offsets: Vec<u64>,
    pub(super) namespaces: Arc<Namespaces>,
    pub(super) namespaces_after: Arc<Namespaces>,
    pub(super) namespace_changes: Vec<NamespaceChange>,
    pub(super) reached: AppliedChanges,
    pub(super) metadata: Vec<Metadata>,
    pub(super) first_message_index: u64,
    /// Index of each message if they are not consecutive; otherwise empty.
    pub(super) indexes: Vec<u64>,
    pub(super) has_graphs: bool,
    pub(super) continued: bool,
    pub(super) continues: bool,
}

impl MessageBatch {
    /// All quads, in order.
    #[inline]
    pub fn quads(&self) -> &[Quad] {
        &self.records
    }

    /// Returns the same messages with other quads that use the same terms. `message_ends` contains
    /// the number of quads up to the end of each message.
    #[must_use]
    pub fn with_quads(&self, quads: Vec<Quad>, message_ends: Vec<u32>) -> Self {
        let mut graphs = quads.iter().map(|quad| quad.graph);
        Self {
            has_graphs: graphs.any(|graph| graph != TermId::DEFAULT_GRAPH),
            records: quads,
            record_offsets: Vec::new(),
            message_ends,
            ..self.clone()
        }
    }

    /// Returns the same messages with the blank nodes `<prefix>0`, `<prefix>1` and so on as the last
    /// terms of the table. The prefix must be the beginning of a label of N-Triples.
    #[must_use]
    pub fn with_labels(&self, prefix: &str, count: u32) -> Self {
        let mut batch = self.clone();
        let table = Arc::make_mut(&mut batch.table);
        for number in 0..count {
            table.push_text(TermKind::BlankNode, format!("{prefix}{number}").as_bytes());
        }
        batch
    }

    /// Returns the same messages with the quads of the default graph moved to the graph `name`,
    /// which is an absolute IRI.
    #[must_use]
    pub fn with_default_graph(&self, name: &[u8]) -> Self {
        let mut batch = self.clone();
        if (batch.records.iter()).all(|quad| quad.graph != TermId::DEFAULT_GRAPH) {
            return batch;
        }
        let table = Arc::make_mut(&mut batch.table);
        let id = table.push_text(TermKind::Iri, name);
        for quad in &mut batch.records {
            if quad.graph == TermId::DEFAULT_GRAPH {
                quad.graph = id;
            }
        }
        batch.has_graphs = true;
        batch
    }
}

impl<R: Record> LogBatch<R> {
    /// Creates a batch without messages.
    pub fn empty() -> Self {
        let namespaces = Arc::<Namespaces>::default();
        Self {
            head: R::Head::default(),
            table: Arc::new(TermTable::with_capacity(0, 1)),
            records: Vec::new(),
            record_offsets: Vec::new(),
            message_ends: Vec::new(),
            byte_offsets: Vec::new(),
            reached: Arc::new(Mutex::new((0, Arc::clone(&namespaces)))),
            namespaces_after: Arc::clone(&namespaces),
            namespaces,
            namespace_changes: Vec::new(),
            metadata: Vec::new(),
            first_message_index: 0,
            indexes: Vec::new(),
            has_graphs: false,
            continued: false,
            continues: false,
        }
    }

    /// Header of the log, before its first message.
    #[inline]
    pub fn head(&self) -> &R::Head {
        &self.head
    }

    /// Number of messages, including partial ones.
    #[inline]
    pub fn len(&self) -> usize {
        self.message_ends.len()
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.message_ends.is_empty()
    }

    /// The terms.
    #[inline]
    pub fn table(&self) -> &TermTable {
        &self.table
    }

    /// All records, in order.
    #[inline]
    pub fn records(&self) -> &[R] {
        &self.records
    }

    /// Range of the records of a message in [`Self::records`].
    #[inline]
    pub fn range(&self, message: usize) -> Range<usize> {
        let start = if message == 0 {
            0
        } else {
            self.message_ends[message - 1] as usize
        };
        start..self.message_ends[message] as usize
    }

    /// The records of a message.
    #[inline]
    pub fn message(&self, message: usize) -> &[R] {
        &self.records[self.range(message)]
    }

    /// Offset of a record in the decompressed log, by its index in [`Self::records`]; `None` if the
    /// codec does not report it.
    pub fn record_offset(&self, record: usize) -> Option<u64> {
        self.record_offsets.get(record).copied()
    }

    /// Index of the batch's first message in the log.
    pub fn first_message_index(&self) -> u64 {
        self.first_message_index
    }

    /// Returns the batch with its messages numbered from `first_message_index`.
    #[must_use]
    pub fn with_first_message_index(&self, first_message_index: u64) -> Self {
        Self {
            first_message_index,
            indexes: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the batch with other places of its messages in the log. Without `indexes`, messages
    /// are numbered from `first_message_index`. `edges` are [`Self::continued`] and
    /// [`Self::continues`]. Returns `None` if the numbers of values do not match.
    #[must_use]
    pub fn with_places(
        &self,
        first_message_index: u64,
        indexes: Vec<u64>,
        byte_offsets: &[Option<u64>],
        edges: [bool; 2],
    ) -> Option<Self> {
        let is_valid = |count: usize| count == self.len();
        let indexes_fit = indexes.is_empty() || is_valid(indexes.len());
        (indexes_fit && is_valid(byte_offsets.len())).then(|| Self {
            first_message_index,
            indexes,
            byte_offsets: (byte_offsets.iter())
                .map(|offset| offset.unwrap_or(NO_OFFSET))
                .collect(),
            continued: edges[0],
            continues: edges[1],
            ..self.clone()
        })
    }

    /// Index of a message in the log.
    #[inline]
    pub fn message_index(&self, message: usize) -> u64 {
        let stored = self.indexes.get(message).copied();
        stored.unwrap_or(self.first_message_index + message as u64)
    }

    /// Offset of a message in the decompressed log; `None` if the message is not from a log of
    /// bytes.
    pub fn byte_offset(&self, message: usize) -> Option<u64> {
        Some(self.byte_offsets[message]).filter(|offset| *offset != NO_OFFSET)
    }

    /// Namespaces in force before the batch's first message.
    pub fn namespaces_at_start(&self) -> &Arc<Namespaces> {
        &self.namespaces
    }

    /// Namespaces in force after the batch's last message.
    pub fn namespaces_at_end(&self) -> &Arc<Namespaces> {
        &self.namespaces_after
    }

    /// Namespaces declared in the batch, in order.
    pub fn namespace_changes(&self) -> &[NamespaceChange] {
        &self.namespace_changes
    }

    /// Namespaces declared for a message.
    pub fn namespace_changes_of(&self, message: usize) -> &[NamespaceChange] {
        &self.namespace_changes[self.changes_before(message)..self.changes_before(message + 1)]
    }

    fn changes_before(&self, message: usize) -> usize {
        self.namespace_changes
            .partition_point(|change| (change.message as usize) < message)
    }

    /// Namespaces in force at a message, including its own declarations.
    pub fn namespaces(&self, message: usize) -> Namespaces {
        Arc::unwrap_or_clone(self.namespaces_before(message + 1))
    }

    /// Namespaces in force before a message, or at the end. Shared with the batch if possible.
    fn namespaces_before(&self, message: usize) -> Arc<Namespaces> {
        let before = self.changes_before(message);
        if before == 0 {
            return Arc::clone(&self.namespaces);
        }
        if before == self.namespace_changes.len() {
            return Arc::clone(&self.namespaces_after);
        }
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if reached.0 > before {
            *reached = (0, Arc::clone(&self.namespaces));
        }
        if reached.0 < before {
            let mut result = (*reached.1).clone();
            for change in &self.namespace_changes[reached.0..before] {
                result.set(self.table.span(change.name), self.table.span(change.iri));
            }
            *reached = (before, Arc::new(result));
        }
        Arc::clone(&reached.1)
    }

    /// All metadata entries, by message.
    pub fn all_metadata(&self) -> &[Metadata] {
        &self.metadata
    }

    /// Metadata of a message. For a message in parts, only the first part has metadata.
    pub fn metadata(&self, message: usize) -> &[Metadata] {
        &self.metadata[self.metadata_before(message)..self.metadata_before(message + 1)]
    }

    fn metadata_before(&self, message: usize) -> usize {
        self.metadata
            .partition_point(|entry| (entry.message as usize) < message)
    }

    /// Whether any record is in a named graph.
    pub fn has_graphs(&self) -> bool {
        self.has_graphs
    }

    /// Whether the first message continues the last message of the previous batch.
    pub fn continued(&self) -> bool {
        self.continued
    }

    /// Returns the batch with a first message that does not continue that of another batch.
    #[must_use]
    pub fn without_continuation(self) -> Self {
        Self {
            continued: false,
            ..self
        }
    }

    /// Whether the last message continues in the next batch (only with `parts`).
    pub fn continues(&self) -> bool {
        self.continues
    }

    /// Returns a range of messages, which shares this batch's terms. The cost is linear in the
    /// records of the range and in the namespaces declared since the end of the previous slice. If
    /// that slice ended later, namespaces are counted from the start of the batch. For slices that
    /// each begin a log, use [`regroup::slices`](crate::regroup::slices).
    pub fn slice(&self, messages: Range<usize>) -> Self {
        let end = messages.end.min(self.len());
        let start = messages.start.min(end);
        let in_force = [self.namespaces_before(start), self.namespaces_before(end)];
        self.slice_with(start..end, in_force)
    }

    /// Returns a range of messages with the given namespaces in force before and after it.
    pub(crate) fn slice_with(
        &self,
        messages: Range<usize>,
        in_force: [Arc<Namespaces>; 2],
    ) -> Self {
        let Range { start, end } = messages;
        let first = if start == 0 {
            0
        } else {
            self.message_ends[start - 1]
        };
        let last = if end == 0 {
            0
        } else {
            self.message_ends[end - 1]
        };
        let from = start as u32;
        let range = first as usize..last.max(first) as usize;
        let records = self.records[range.clone()].to_vec();
        let record_offsets = self.record_offsets.get(range).unwrap_or_default().to_vec();
        let [namespaces, namespaces_after] = in_force;
        Self {
            head: self.head.clone(),
            table: Arc::clone(&self.table),
            has_graphs: self.has_graphs
                && records
                    .iter()
                    .any(|record| record.graph() != TermId::DEFAULT_GRAPH),
            records,
            record_offsets,
            message_ends: self.message_ends[start..end]
                .iter()
                .map(|record_end| record_end - first)
                .collect(),
            byte_offsets: self.byte_offsets[start..end].to_vec(),
            reached: Arc::new(Mutex::new((0, Arc::clone(&namespaces)))),
            namespaces,
            namespaces_after,
            namespace_changes: self.namespace_changes
                [self.changes_before(start)..self.changes_before(end)]
                .iter()
                .map(|change| NamespaceChange {
                    message: change.message - from,
                    ..*change
                })
                .collect(),
            metadata: self.metadata[self.metadata_before(start)..self.metadata_before(end)]
                .iter()
                .map(|entry| Metadata {
                    message: entry.message - from,
                    ..entry.clone()
                })
                .collect(),
            first_message_index: self.message_index(start),
            indexes: self.indexes.get(start..end).unwrap_or_default().to_vec(),
            continued: self.continued && start == 0 && end > 0,
            continues: self.continues && end == self.len() && end > start,
        }
    }

    /// Returns the same messages with only the wanted records, selected by their index in the
    /// batch.
    #[must_use]
    pub fn with_records(&self, wanted: impl Fn(usize) -> bool) -> Self {
        let mut records = Vec::new();
        let mut message_ends = Vec::with_capacity(self.len());
        for message in 0..self.len() {
            let selected = self.range(message).filter(|index| wanted(*index));
            records.extend(selected.map(|index| self.records[index]));
            message_ends.push(records.len() as u32);
        }
        let mut graphs = records.iter().map(|record| record.graph());
        Self {
            has_graphs: graphs.any(|graph| graph != TermId::DEFAULT_GRAPH),
            records,
            record_offsets: Vec::new(),
            message_ends,
            ..self.clone()
        }
    }

    /// Returns the batch without its first records, as the continuation of its first message.
    #[must_use]
    pub fn rest_after(&self, records: usize) -> Self {
        Self {
            continued: !self.is_empty(),
            ..self.with_records(|index| index >= records)
        }
    }

    /// Returns the wanted messages, which keep their indices and share this batch's terms. There
    /// are several batches if unwanted messages between them declare namespaces.
    #[must_use]
    pub fn with_messages(&self, wanted: impl Fn(usize) -> bool) -> Vec<Self> {
        let mut ranges = Vec::new();
        let mut group: Vec<usize> = Vec::new();
        let mut declares_between = false;
        for message in 0..self.len() {
            if wanted(message) {
                if declares_between && !group.is_empty() {
                    ranges.push(self.gather(&group));
                    group.clear();
                }
                group.push(message);
                declares_between = false;
            } else {
                declares_between |= !self.namespace_changes.is_empty()
                    && !self.namespace_changes_of(message).is_empty();
            }
        }
        if !group.is_empty() {
            ranges.push(self.gather(&group));
        }
        ranges
    }

    /// Returns the given messages, in order. The messages omitted between them must not declare
    /// namespaces.
    fn gather(&self, messages: &[usize]) -> Self {
        let (Some(&first), Some(&last)) = (messages.first(), messages.last()) else {
            return Self::empty();
        };
        if last - first + 1 == messages.len() {
            return self.slice(first..last + 1);
        }
        let mut records = Vec::new();
        let mut message_ends = Vec::with_capacity(messages.len());
        let (mut namespace_changes, mut metadata) = (Vec::new(), Vec::new());
        for (index, &message) in messages.iter().enumerate() {
            let index = index as u32;
            records.extend_from_slice(self.message(message));
            message_ends.push(records.len() as u32);
            if !self.namespace_changes.is_empty() {
                let changes = self.namespace_changes_of(message).iter();
                namespace_changes.extend(changes.map(|change| NamespaceChange {
                    message: index,
                    ..*change
                }));
            }
            if !self.metadata.is_empty() {
                let entries = self.metadata(message).iter();
                metadata.extend(entries.map(|entry| Metadata {
                    message: index,
                    ..entry.clone()
                }));
            }
        }
        let namespaces = self.namespaces_before(first);
        let mut graphs = records.iter().map(|record| record.graph());
        Self {
            head: self.head.clone(),
            table: Arc::clone(&self.table),
            has_graphs: self.has_graphs && graphs.any(|graph| graph != TermId::DEFAULT_GRAPH),
            records,
            record_offsets: Vec::new(),
            message_ends,
            byte_offsets: messages
                .iter()
                .map(|index| self.byte_offsets[*index])
                .collect(),
            reached: Arc::new(Mutex::new((0, Arc::clone(&namespaces)))),
            namespaces,
            namespaces_after: self.namespaces_before(last + 1),
            namespace_changes,
            metadata,
            first_message_index: self.message_index(first),
            indexes: messages
                .iter()
                .map(|index| self.message_index(*index))
                .collect(),
            continued: self.continued && first == 0,
            continues: self.continues && last + 1 == self.len(),
        }
    }

    /// Approximate memory of the batch in bytes, for queue limits.
    pub fn memory_bytes(&self) -> usize {
        self.table.arena.len()
            + 16 * self.table.terms.len()
            + 12 * self.table.triples.len()
            + R::BYTES * self.records.len()
            + 8 * self.record_offsets.len()
            + 12 * self.message_ends.len()
            + 8 * self.indexes.len()
            + 20 * self.namespace_changes.len()
    }
}

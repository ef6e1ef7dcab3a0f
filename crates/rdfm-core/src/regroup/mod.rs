//! Changes message boundaries between a decoder and an encoder, batch by batch.
//!
//! - In: batches of complete messages or parts ([`Regrouper::feed`]).
//! - Out: batches of other messages, with the same quads in the same order
//!   ([`Regrouper::next_batch`]).
//! - Cost: one copy of the quads and their terms. Memory is bounded by a batch, the open message
//!   (with parts, one batch of it), and the labels of one divided message, within
//!   `max_message_bytes`.
//! - Law: the division of the input into batches does not change the output. Distinct blank nodes
//!   stay distinct: the number of the source message is added to labels if necessary. A blank node
//!   that would be in two messages is an error, or becomes an IRI on request.

pub mod flat;
pub mod graphs;
mod linked;
pub mod slices;

use rustc_hash::FxHashMap;

use self::linked::{Description, LinkedGroup, Nanopub};
use crate::model::batch::{InForceNamespaces, MessageBatch};
use crate::model::builder::BatchBuilder;
use crate::model::chars::{self, NAME};
use crate::model::error::{EncodeError, ErrorClass, LimitExceeded, quote};
use crate::model::limits::Limits;
use crate::model::namespaces::Namespaces;
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{NO_SPLIT, Quad, Term, TermId, TermKind, flags};
use crate::model::write::{write_message_prefix, write_term};

/// The quads that become one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// The quads of one input message.
    Message,
    /// Consecutive quads with the same subject.
    Subject,
    /// Consecutive quads in the same graph.
    Graph,
    /// A concise bounded description: consecutive quads about the subject of the first of them, or
    /// about blank nodes that are objects in the group.
    Cbd,
    /// A nanopublication: consecutive quads in its head graph, or in graphs that the head names.
    Nanopub,
    /// This number of quads.
    Count(u64),
    /// Quads until their terms have this many bytes of text.
    Bytes(u64),
    /// All quads.
    All,
}

/// Options of a [`Regrouper`].
#[derive(Clone, Debug)]
pub struct RegroupOptions {
    /// The quads that become one message.
    pub by: GroupBy,
    /// If set, blank nodes become IRIs that begin with this IRI followed by `/.well-known/genid/`.
    pub skolemize: Option<String>,
    /// Whether to yield a message larger than a batch in parts.
    pub parts: bool,
    /// Limits.
    pub limits: Limits,
}

/// A copy of a term, indexed by its id in the input.
#[derive(Clone, Copy, Default)]
struct TermCopy {
    /// Serial number of the batch with the copy.
    serial: u32,
    /// The source message, if the copy depends on it.
    message: u64,
    id: TermId,
}

/// A subject or graph that the next quads may share.
struct SharedTerm {
    text: Vec<u8>,
    message: u64,
}

/// Changes message boundaries.
pub struct Regrouper {
    options: RegroupOptions,
    builder: BatchBuilder,
    input: Option<MessageBatch>,
    /// Next message and quad of the input.
    next: (usize, usize),
    /// Whether the declarations of the current input message were read.
    entered: bool,
    /// Number of input messages before the current batch.
    before: u64,
    /// Number of the first input message in IRIs that replace blank nodes.
    first: u64,
    copied: Vec<TermCopy>,
    key: Option<SharedTerm>,
    /// The open group, if its quads refer to each other.
    linked: Option<Box<dyn LinkedGroup + Send>>,
    /// The previous quad and its message, if that quad is in the current batch.
    last: Option<(Quad, u64)>,
    /// Number of quads, and bytes of their terms, in the open message.
    count: u64,
    bytes: u64,
    declared: Namespaces,
    in_force: InForceNamespaces,
    /// Blank nodes of the current input message, each with its output message.
    labels: FxHashMap<Box<[u8]>, u64>,
    label_bytes: u64,
    scratch: Vec<u8>,
    ended: bool,
    empty: u64,
    metadata: u64,
    failed: Option<EncodeError>,
}

/// The option that makes blank nodes valid across messages.
const SKOLEMIZE: Remedy = Remedy::stage("skolemize", "IRI", "replaces blank nodes with IRIs");

/// Reason why a quad cannot be copied.
enum CopyError {
    Limit(Reason),
    Divided(Vec<u8>),
    /// The group whose first quad is in this message is not a nanopublication.
    NotNanopub {
        reason: Reason,
        message: u64,
    },
}

impl From<LimitExceeded> for CopyError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limit(exceeded.0)
    }
}

impl Regrouper {
    /// Starts at the beginning of a log.
    ///
    /// # Errors
    /// If an option is invalid. The error names the option.
    pub fn new(options: RegroupOptions) -> Result<Self, Reason> {
        if let Some(base) = &options.skolemize {
            check_iri("skolemize", base)?;
        }
        if matches!(options.by, GroupBy::Count(0) | GroupBy::Bytes(0)) {
            return Err("group_by must be at least 1".into());
        }
        let mut limits = options.limits.clone();
        limits.max_message_bytes = limits.max_message_bytes.min(3 << 30);
        limits.batch_bytes = limits.batch_bytes.min(512 << 20);
        let max_bytes = limits.max_message_bytes;
        let linked: Option<Box<dyn LinkedGroup + Send>> = match options.by {
            GroupBy::Cbd => Some(Box::new(Description::new(max_bytes))),
            GroupBy::Nanopub => Some(Box::new(Nanopub::new(max_bytes))),
            _ => None,
        };
        Ok(Self {
            options,
            linked,
            builder: BatchBuilder::new(limits),
            input: None,
            next: (0, 0),
            entered: false,
            before: 0,
            first: 0,
            copied: Vec::new(),
            key: None,
            last: None,
            count: 0,
            bytes: 0,
            declared: Namespaces::default(),
            in_force: InForceNamespaces::default(),
            labels: FxHashMap::default(),
            label_bytes: 0,
            scratch: Vec::new(),
            ended: false,
            empty: 0,
            metadata: 0,
            failed: None,
        })
    }

    /// Sets the number of the first message in the IRIs that replace blank nodes. If the output
    /// continues a log, this is its number of messages. Call it before [`feed`](Self::feed).
    pub fn set_first_number(&mut self, first: u64) {
        self.first = first;
    }

    /// Adds a batch. The previous batch must have been read to its end.
    pub fn feed(&mut self, batch: MessageBatch) {
        debug_assert!(self.input.is_none());
        self.copied.clear();
        self.copied
            .resize(batch.table().terms().len(), TermCopy::default());
        self.next = (0, 0);
        self.entered = false;
        if let Some(group) = &mut self.linked {
            group.begin_batch();
        }
        self.input = Some(batch);
    }

    /// Marks the end of the input.
    pub fn finish(&mut self) {
        self.ended = true;
    }

    /// Returns the next batch. `None` means that more input is needed or, after
    /// [`finish`](Self::finish), that there are no more batches.
    ///
    /// # Errors
    /// The error is returned after the messages that were completed before it, and again by later
    /// calls.
    pub fn next_batch(&mut self) -> Result<Option<MessageBatch>, EncodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if let Some(input) = self.input.take() {
            let read = if self.linked.is_some() {
                self.read::<true>(&input)
            } else {
                self.read::<false>(&input)
            };
            match read {
                Ok(true) => {
                    self.input = Some(input);
                    return Ok(Some(self.take_part()));
                }
                Ok(false) => {
                    self.leave(&input);
                    let mut new_ids = FxHashMap::default();
                    return Ok(self.builder.take_complete(&mut new_ids));
                }
                Err(stop) => return self.fail(stop),
            }
        }
        if self.ended && self.builder.is_open() {
            if let Some(Err(stop)) = self.linked.as_mut().map(|group| group.finish()) {
                return self.fail(stop);
            }
            self.builder.end_message();
        }
        let mut new_ids = FxHashMap::default();
        Ok(self.builder.take_complete(&mut new_ids))
    }

    /// Names and counts of the omitted content.
    pub fn dropped_counts(&self) -> Vec<(&'static str, u64)> {
        // If all messages are empty, the first becomes the single output message.
        let empty_count = u64::from(self.options.by == GroupBy::All && self.count == 0);
        let empty = self.empty.saturating_sub(empty_count);
        [("empty messages", empty), ("metadata", self.metadata)]
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    fn take_part(&mut self) -> MessageBatch {
        if self.builder.is_open() && self.options.parts {
            return self.builder.take_part();
        }
        let mut new_ids = FxHashMap::default();
        match self.builder.take_complete(&mut new_ids) {
            Some(batch) => batch,
            None => self.builder.take_part(),
        }
    }

    fn fail(&mut self, stop: CopyError) -> Result<Option<MessageBatch>, EncodeError> {
        let mut message_index = self.before + self.next.0 as u64;
        let (class, reason) = match stop {
            CopyError::Limit(reason) => (ErrorClass::Limit, reason),
            CopyError::NotNanopub { reason, message } => {
                message_index = message;
                (ErrorClass::Unsupported, reason)
            }
            CopyError::Divided(label) => (
                ErrorClass::Unsupported,
                Reason::from(format!(
                    "the blank node {} would be in two messages, but blank nodes are local to a \
                     message",
                    quote(&[b"_:", &*label].concat())
                ))
                .with(SKOLEMIZE),
            ),
        };
        self.failed = Some(EncodeError {
            format: "group-by",
            class,
            reason,
            message_index,
        });
        if self.builder.is_open() {
            self.builder.discard_message();
        }
        match self.builder.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.next_batch(),
        }
    }

    /// Ends the current input batch, and keeps what later batches need.
    fn leave(&mut self, input: &MessageBatch) {
        if let Some((quad, message)) = self.last.take() {
            let id = match self.options.by {
                GroupBy::Graph => quad.graph,
                _ => quad.subject,
            };
            let mut text = Vec::new();
            write_term(input.table(), id, &mut text);
            self.key = Some(SharedTerm { text, message });
        }
        self.before += input.len() as u64 - u64::from(input.continues());
    }

    /// Reads quads. Returns true if the output batch is full, false at the end of the input.
    /// `LINKED` means that the quads of a group refer to each other.
    fn read<const LINKED: bool>(&mut self, input: &MessageBatch) -> Result<bool, CopyError> {
        let by = self.options.by;
        while self.next.0 < input.len() {
            let index = self.next.0;
            let message = self.before + index as u64;
            let quads = input.message(index);
            if !self.entered {
                self.entered = true;
                self.enter(input, index)?;
            }
            while let Some(&quad) = quads.get(self.next.1) {
                let ends = self.builder.is_open()
                    && if LINKED {
                        self.is_linked_end_before(input.table(), quad, message)?
                    } else {
                        self.is_end_before(input.table(), quad, message)
                    };
                if ends {
                    self.end();
                    if self.builder.is_full() {
                        return Ok(true);
                    }
                }
                if !self.builder.is_open() {
                    self.builder.begin_message(input.byte_offset(index));
                }
                self.copy(input.table(), quad, message)?;
                if LINKED && let Some(group) = &mut self.linked {
                    group.add(input.table(), quad, message)?;
                }
                self.next.1 += 1;
                if self.options.parts && self.builder.is_part_full() {
                    return Ok(true);
                }
            }
            let continues = input.continues() && index + 1 == input.len();
            if !continues {
                self.labels.clear();
                self.label_bytes = 0;
                if by == GroupBy::Message {
                    self.end();
                }
            }
            self.next = (index + 1, 0);
            self.entered = false;
            if by == GroupBy::Message && self.builder.is_full() && self.next.0 < input.len() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Begins or continues a message of the input.
    fn enter(&mut self, input: &MessageBatch, index: usize) -> Result<(), CopyError> {
        let table = input.table();
        if index == 0 {
            for (name, iri) in self.in_force.new_namespaces(input) {
                self.declare(name, iri)?;
            }
        }
        for change in input.namespace_changes_of(index) {
            self.declare(table.span(change.name), table.span(change.iri))?;
        }
        let continued = input.continued() && index == 0;
        let keeps_empty = matches!(self.options.by, GroupBy::Message | GroupBy::All);
        if keeps_empty && !self.builder.is_open() {
            self.builder.begin_message(input.byte_offset(index));
        }
        let metadata = input.metadata(index);
        if self.options.by == GroupBy::Message {
            for entry in metadata {
                self.builder.add_metadata(&entry.key, &entry.value)?;
            }
        } else {
            self.metadata += metadata.len() as u64;
            let has_more_parts = input.continues() && index + 1 == input.len();
            self.empty +=
                u64::from(!continued && !has_more_parts && input.message(index).is_empty());
        }
        Ok(())
    }

    fn declare(&mut self, name: &[u8], iri: &[u8]) -> Result<(), CopyError> {
        if self.declared.get(name) != Some(iri) {
            self.builder.add_namespace(name, iri)?;
            self.declared.set(name, iri);
        }
        Ok(())
    }

    fn end(&mut self) {
        self.builder.end_message();
        self.count = 0;
        self.bytes = 0;
    }

    /// Whether the open message ends before a quad.
    #[expect(clippy::inline_always, reason = "measured: one call per quad")]
    #[inline(always)]
    fn is_end_before(&mut self, table: &TermTable, quad: Quad, message: u64) -> bool {
        let part: fn(Quad) -> TermId = match self.options.by {
            GroupBy::Message | GroupBy::All | GroupBy::Cbd | GroupBy::Nanopub => return false,
            GroupBy::Count(limit) => return self.count >= limit,
            GroupBy::Bytes(limit) => return self.bytes >= limit,
            GroupBy::Subject => |quad| quad.subject,
            GroupBy::Graph => |quad| quad.graph,
        };
        let id = part(quad);
        // Equal labels in two messages are different nodes.
        let are_distinct = |other: u64| other != message && has_blank_node(table, id);
        if let Some((last, other)) = self.last {
            let last = part(last);
            return are_distinct(other) || !(last == id || table.is_same_term(last, table, id));
        }
        let Some(key) = &self.key else { return false };
        self.scratch.clear();
        write_term(table, id, &mut self.scratch);
        are_distinct(key.message) || self.scratch != key.text
    }

    /// Whether the open message ends before a quad, if the quads of a group refer to each other.
    fn is_linked_end_before(
        &mut self,
        table: &TermTable,
        quad: Quad,
        message: u64,
    ) -> Result<bool, CopyError> {
        self.linked
            .as_mut()
            .map_or(Ok(false), |group| group.is_end_before(table, quad, message))
    }

    #[expect(clippy::inline_always, reason = "measured: one call per quad")]
    #[inline(always)]
    fn copy(&mut self, table: &TermTable, quad: Quad, message: u64) -> Result<(), CopyError> {
        self.builder.charge(16)?;
        let mut bytes = 0;
        let copy = Quad {
            subject: self.copy_term(table, quad.subject, message, &mut bytes)?,
            predicate: self.copy_term(table, quad.predicate, message, &mut bytes)?,
            object: self.copy_term(table, quad.object, message, &mut bytes)?,
            graph: self.copy_term(table, quad.graph, message, &mut bytes)?,
        };
        self.builder.push_quad(copy);
        self.last = Some((quad, message));
        self.key = None;
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(())
    }

    /// Returns the copy of a term. Every use is charged, so that the result does not depend on
    /// batches.
    fn copy_term(
        &mut self,
        table: &TermTable,
        id: TermId,
        message: u64,
        bytes: &mut u64,
    ) -> Result<TermId, CopyError> {
        if id == TermId::DEFAULT_GRAPH {
            return Ok(id);
        }
        let term = table.term(id);
        let text = table.text_of(term);
        self.builder.charge(text.len() + 16)?;
        *bytes += u64::from(term.length);
        if term.kind == TermKind::BlankNode {
            self.record_blank_node(text)?;
        }
        let known = self.copied[id.index()];
        if known.serial == self.builder.serial()
            && (known.message == message || term.kind != TermKind::BlankNode)
            && term.kind != TermKind::TripleTerm
        {
            if let TermKind::LangLiteral | TermKind::TypedLiteral = term.kind {
                let length = table.term(TermId(term.aux)).length;
                self.builder.charge(length as usize + 16)?;
                *bytes += u64::from(length);
            }
            return Ok(known.id);
        }
        let new = match term.kind {
            TermKind::BlankNode => self.copy_blank_node(term, text, message)?,
            TermKind::TripleTerm => {
                // Recursion is bounded by the decoder's limit. The term is copied each time,
                // because its labels must be recorded.
                let [subject, predicate, object] = table.triple(term);
                let triple = [
                    self.copy_term(table, subject, message, bytes)?,
                    self.copy_term(table, predicate, message, bytes)?,
                    self.copy_term(table, object, message, bytes)?,
                ];
                self.builder.push_triple_term(triple)
            }
            kind => {
                let aux = match kind {
                    TermKind::LangLiteral | TermKind::TypedLiteral => {
                        self.copy_term(table, TermId(term.aux), message, bytes)?.0
                    }
                    _ => 0,
                };
                let offset = self.builder.append_text(text);
                self.builder.push_term(Term {
                    offset,
                    aux,
                    ..term
                })
            }
        };
        self.copied[id.index()] = TermCopy {
            serial: self.builder.serial(),
            message,
            id: new,
        };
        Ok(new)
    }

    /// Records that a blank node is in the open message.
    fn record_blank_node(&mut self, label: &[u8]) -> Result<(), CopyError> {
        if self.options.skolemize.is_some()
            || matches!(self.options.by, GroupBy::Message | GroupBy::All)
        {
            return Ok(());
        }
        let here = self.builder.message_index();
        if let Some(&known) = self.labels.get(label) {
            return if known == here {
                Ok(())
            } else {
                Err(CopyError::Divided(label.to_vec()))
            };
        }
        self.label_bytes += label.len() as u64 + 64;
        if self.label_bytes > self.options.limits.max_message_bytes {
            return Err(CopyError::Limit(
                Reason::limit(
                    format!(
                        "the blank node labels of a split message take more than {} bytes",
                        self.options.limits.max_message_bytes
                    ),
                    "max_message_bytes",
                )
                .with(SKOLEMIZE),
            ));
        }
        self.labels.insert(label.into(), here);
        Ok(())
    }

    /// Copies a blank node under a label that is unique across messages, or as an IRI.
    fn copy_blank_node(
        &mut self,
        term: Term,
        label: &[u8],
        message: u64,
    ) -> Result<TermId, CopyError> {
        self.scratch.clear();
        let (kind, plain) = if let Some(base) = &self.options.skolemize {
            self.scratch
                .extend_from_slice(base.trim_end_matches('/').as_bytes());
            let number = self.first.saturating_add(message);
            self.scratch
                .extend_from_slice(format!("/.well-known/genid/{number}/").as_bytes());
            for &byte in label {
                if chars::is(byte, NAME) {
                    self.scratch.push(byte);
                } else {
                    self.scratch
                        .extend_from_slice(format!("%{byte:02X}").as_bytes());
                }
            }
            (TermKind::Iri, flags::PLAIN)
        } else {
            let rest = match self.options.by {
                GroupBy::Message => label,
                _ => write_message_prefix(message, label, &mut self.scratch),
            };
            self.scratch.extend_from_slice(rest);
            (TermKind::BlankNode, term.flags & flags::PLAIN)
        };
        self.builder.charge(self.scratch.len())?;
        let offset = self.builder.append_text(&self.scratch);
        Ok(self.builder.push_term(Term {
            offset,
            length: self.scratch.len() as u32,
            aux: 0,
            split: NO_SPLIT,
            kind,
            flags: plain,
        }))
    }
}

/// Rejects a string that is not an absolute IRI.
fn check_iri(option: &str, text: &str) -> Result<(), Reason> {
    if chars::is_iri_text(text.as_bytes()) && oxiri::Iri::parse(text).is_ok() {
        return Ok(());
    }
    Err(format!(
        "{option} must be an absolute IRI, not {}",
        quote(text.as_bytes())
    )
    .into())
}

/// Whether a term is or contains a blank node.
fn has_blank_node(table: &TermTable, id: TermId) -> bool {
    if id == TermId::DEFAULT_GRAPH {
        return false;
    }
    let term = table.term(id);
    match term.kind {
        TermKind::BlankNode => true,
        // Recursion is bounded by the decoder's limit.
        TermKind::TripleTerm => {
            let parts = table.triple(term);
            parts.into_iter().any(|part| has_blank_node(table, part))
        }
        _ => false,
    }
}

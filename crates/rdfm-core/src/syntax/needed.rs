//! The namespaces that a message needs: those that it declares, and those that abbreviate its IRIs.
//!
//! - In: declarations in the order of the log, and messages.
//! - Out: indices of namespaces, in the order in which their names were first declared.
//! - Cost: one search per distinct IRI of a batch, and another after a namespace is declared. The
//!   cost of a search does not depend on the number of namespaces in force.
//! - Law: the result depends on the log before the message, but not on how it is cut into batches.

use rustc_hash::FxHashMap;

use crate::model::batch::{InForceNamespaces, LogBatch};
use crate::model::record::Record;
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};
use crate::syntax::prefixes::{DeclareResult, Prefixes};

/// A namespace in force.
#[derive(Clone)]
struct NeededNamespace {
    name: Box<[u8]>,
    iri: Box<[u8]>,
    /// The last message that needed the namespace.
    message: u32,
    /// Whether the namespace is declared for the next message.
    waits: bool,
}

/// State of a term of the batch.
#[derive(Clone, Copy, Default)]
struct TermNeed {
    /// The last message that contained the term.
    message: u32,
    /// The generation in which its namespace was looked up.
    generation: u32,
    /// Index of its namespace, or [`NONE`].
    namespace: u32,
}

const NONE: u32 = u32::MAX;

/// The namespaces in force, and those that the open message needs.
#[derive(Clone, Default)]
pub struct NamespaceTracker {
    prefixes: Prefixes,
    /// In the order in which their names were first declared.
    namespaces: Vec<NeededNamespace>,
    by_name: FxHashMap<Box<[u8]>, u32>,
    /// Namespaces declared for the next message.
    waiting: Vec<u32>,
    terms: Vec<TermNeed>,
    /// Incremented when a namespace is declared or a batch begins.
    generation: u32,
    message: u32,
    needed: Vec<u32>,
}

impl NamespaceTracker {
    /// Declares a namespace for the next message, unless it is already in force or cannot
    /// abbreviate IRIs in text.
    pub fn declare(&mut self, name: &[u8], iri: &[u8]) -> DeclareResult {
        let declared = self.prefixes.declare(name, iri);
        if declared == DeclareResult::New {
            self.note(name, iri);
        }
        declared
    }

    /// Declares any namespace for the next message, unless it is already in force.
    pub fn declare_any(&mut self, name: &[u8], iri: &[u8]) {
        if self.get(name) == Some(iri) {
            return;
        }
        if self.prefixes.declare(name, iri) == DeclareResult::Refused {
            self.prefixes.forget(name);
        }
        self.note(name, iri);
    }

    fn note(&mut self, name: &[u8], iri: &[u8]) {
        let number = if let Some(number) = self.number(name) {
            self.namespaces[number as usize].iri = iri.into();
            number
        } else {
            let number = self.namespaces.len() as u32;
            self.by_name.insert(name.into(), number);
            self.namespaces.push(NeededNamespace {
                name: name.into(),
                iri: iri.into(),
                message: 0,
                waits: false,
            });
            number
        };
        let namespace = &mut self.namespaces[number as usize];
        if !namespace.waits {
            namespace.waits = true;
            self.waiting.push(number);
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.terms.fill(TermNeed::default());
            self.generation = 1;
        }
    }

    /// Number of namespaces in force.
    pub fn len(&self) -> usize {
        self.namespaces.len()
    }

    /// Whether there are no namespaces.
    pub fn is_empty(&self) -> bool {
        self.namespaces.is_empty()
    }

    /// Name and IRI of a namespace by its index.
    pub fn namespace(&self, number: u32) -> (&[u8], &[u8]) {
        let namespace = &self.namespaces[number as usize];
        (&namespace.name, &namespace.iri)
    }

    /// Index of the namespace with a name.
    pub fn number(&self, name: &[u8]) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// IRI of a name.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        let number = self.number(name)?;
        Some(&self.namespaces[number as usize].iri)
    }

    /// Name and local part of an abbreviated IRI.
    pub fn split<'a>(&self, iri: &'a [u8]) -> Option<(&[u8], &'a [u8])> {
        self.prefixes.split(iri)
    }

    /// Number of namespaces declared for the next message.
    pub fn pending(&self) -> usize {
        self.waiting.len()
    }

    /// Marks the pending declarations as written.
    pub fn mark_written(&mut self) {
        for number in self.waiting.drain(..) {
            self.namespaces[number as usize].waits = false;
        }
    }

    /// Begins a batch, in which term ids refer to other terms than before.
    pub fn begin_batch(&mut self) {
        self.forget();
    }

    /// Indices of the namespaces that a message needs, including those declared for it.
    pub fn find_needed<R: Record>(&mut self, batch: &LogBatch<R>, message: usize) -> &[u32] {
        self.message = self.message.wrapping_add(1);
        if self.message == 0 {
            self.message = 1;
            self.terms.fill(TermNeed::default());
            for namespace in &mut self.namespaces {
                namespace.message = 0;
            }
        }
        self.needed.clear();
        for index in 0..self.waiting.len() {
            self.mark_needed(self.waiting[index]);
        }
        if !self.namespaces.is_empty() {
            let terms = batch.table().terms().len();
            if self.terms.len() < terms {
                self.terms.resize(terms, TermNeed::default());
            }
            for record in batch.message(message) {
                record.each(|id| self.note_term(batch.table(), id));
            }
        }
        self.needed.sort_unstable();
        &self.needed
    }

    fn mark_needed(&mut self, number: u32) {
        let namespace = &mut self.namespaces[number as usize];
        if namespace.message != self.message {
            namespace.message = self.message;
            self.needed.push(number);
        }
    }

    /// Adds the namespaces of a term and of nested terms. Recursion is as deep as the nesting of
    /// triple terms.
    #[inline]
    fn note_term(&mut self, table: &TermTable, id: TermId) {
        let known = &mut self.terms[id.index()];
        if known.message != self.message {
            known.message = self.message;
            self.note_first_in_message(table, id);
        }
    }

    fn note_first_in_message(&mut self, table: &TermTable, id: TermId) {
        let term = table.term(id);
        match term.kind {
            TermKind::Iri => {
                let known = self.terms[id.index()];
                let mut number = known.namespace;
                if known.generation != self.generation {
                    let name = self.prefixes.split(table.text_of(term));
                    number = name.and_then(|(name, _)| self.number(name)).unwrap_or(NONE);
                    self.terms[id.index()] = TermNeed {
                        message: self.message,
                        generation: self.generation,
                        namespace: number,
                    };
                }
                if number != NONE {
                    self.mark_needed(number);
                }
            }
            TermKind::TypedLiteral => self.note_term(table, TermId(term.aux)),
            TermKind::TripleTerm => {
                for part in table.triple(term) {
                    self.note_term(table, part);
                }
            }
            _ => {}
        }
    }
}

/// The namespaces needed by the messages of a log, batch by batch.
#[derive(Default)]
pub struct NeededNamespaces {
    needed: NamespaceTracker,
    in_force: InForceNamespaces,
}

impl NeededNamespaces {
    /// Begins a batch.
    pub fn begin_batch<R: Record>(&mut self, batch: &LogBatch<R>) {
        if !self.in_force.advance_to(batch) {
            self.needed = NamespaceTracker::default();
            for (name, iri) in batch.namespaces_at_start().iter() {
                self.needed.declare_any(name, iri);
            }
            self.needed.mark_written();
        }
        self.needed.begin_batch();
    }

    /// Applies the declarations of a message of the batch.
    pub fn declare<R: Record>(&mut self, batch: &LogBatch<R>, message: usize) {
        for change in batch.namespace_changes_of(message) {
            let table = batch.table();
            self.needed
                .declare_any(table.span(change.name), table.span(change.iri));
        }
    }

    /// Returns the namespaces that the next message of the batch needs: name, IRI, and whether the
    /// message declares it. Repeated calls return the same namespaces until [`leave`](Self::leave).
    pub fn find_needed<'a, R: Record>(
        &'a mut self,
        batch: &LogBatch<R>,
        message: usize,
    ) -> impl Iterator<Item = (&'a [u8], &'a [u8], bool)> + use<'a, R> {
        self.declare(batch, message);
        self.needed.find_needed(batch, message);
        let needed = &self.needed;
        needed.needed.iter().map(|number| {
            let (name, iri) = needed.namespace(*number);
            (name, iri, needed.namespaces[*number as usize].waits)
        })
    }

    /// Ends the current message.
    pub fn leave(&mut self) {
        self.needed.mark_written();
    }
}

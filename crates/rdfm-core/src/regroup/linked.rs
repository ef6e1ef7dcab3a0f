//! Groups of quads that belong together because of earlier quads of the group.
//!
//! - In: the quads of a log, in order. Out: whether each quad begins another group.
//! - Cost: a comparison or a lookup per quad. Memory is bounded by the names that the open group
//!   introduces, within `max_message_bytes`.
//! - Law: the division of the input into batches does not change the groups.

use rustc_hash::FxHashSet;

use crate::model::error::quote;
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};
use crate::model::write::write_term;

use super::{CopyError, has_blank_node};

const TYPE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const NANOPUBLICATION: &[u8] = b"http://www.nanopub.org/nschema#Nanopublication";
/// Predicates with which the head of a nanopublication names its graphs.
const GRAPH_LINKS: [&[u8]; 3] = [
    b"http://www.nanopub.org/nschema#hasAssertion",
    b"http://www.nanopub.org/nschema#hasProvenance",
    b"http://www.nanopub.org/nschema#hasPublicationInfo",
];

/// The open group.
pub(super) trait LinkedGroup {
    /// Forgets the ids of terms, before the next batch.
    fn begin_batch(&mut self);

    /// Whether a quad begins another group, which replaces the open group. The open group has at
    /// least one quad.
    fn is_end_before(
        &mut self,
        table: &TermTable,
        quad: Quad,
        message: u64,
    ) -> Result<bool, CopyError>;

    /// Adds a quad to the group.
    fn add(&mut self, table: &TermTable, quad: Quad, message: u64) -> Result<(), CopyError>;

    /// Checks the group at the end of the input.
    fn finish(&mut self) -> Result<(), CopyError>;
}

/// Names that the quads of a group introduce.
struct Names {
    entries: FxHashSet<Box<[u8]>>,
    bytes: u64,
    max_bytes: u64,
}

impl Names {
    fn new(max_bytes: u64) -> Self {
        Self {
            entries: FxHashSet::default(),
            bytes: 0,
            max_bytes,
        }
    }

    fn contains(&self, name: &[u8]) -> bool {
        self.entries.contains(name)
    }

    fn insert(&mut self, name: &[u8]) -> Result<(), CopyError> {
        if self.entries.contains(name) {
            return Ok(());
        }
        self.bytes += name.len() as u64 + 64;
        if self.bytes > self.max_bytes {
            let text = format!(
                "the names that a group refers to take more than {} bytes",
                self.max_bytes
            );
            return Err(CopyError::Limit(Reason::limit(text, "max_message_bytes")));
        }
        self.entries.insert(name.into());
        Ok(())
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }
}

/// The subject of the first quad of a description.
struct Root {
    /// The term in N-Triples.
    text: Vec<u8>,
    /// The id of the term in the current batch, if known.
    id: Option<TermId>,
    /// The message of the term, if it is or contains a blank node.
    scope: Option<u64>,
}

/// A concise bounded description: quads about a root, and about blank nodes that are objects in the
/// group.
pub(super) struct Description {
    root: Option<Root>,
    /// Labels of blank nodes that are objects of quads of `message`.
    objects: Names,
    message: u64,
    scratch: Vec<u8>,
}

impl Description {
    pub(super) fn new(max_bytes: u64) -> Self {
        Self {
            root: None,
            objects: Names::new(max_bytes),
            message: 0,
            scratch: Vec::new(),
        }
    }
}

impl LinkedGroup for Description {
    fn begin_batch(&mut self) {
        if let Some(root) = &mut self.root {
            root.id = None;
        }
    }

    fn is_end_before(
        &mut self,
        table: &TermTable,
        quad: Quad,
        message: u64,
    ) -> Result<bool, CopyError> {
        let Some(root) = &mut self.root else {
            return Ok(false);
        };
        let id = quad.subject;
        let is_in_scope = root.scope.is_none_or(|scope| scope == message);
        if is_in_scope && root.id == Some(id) {
            return Ok(false);
        }
        let subject = table.term(id);
        if subject.kind == TermKind::BlankNode
            && self.message == message
            && self.objects.contains(table.text_of(subject))
        {
            return Ok(false);
        }
        if is_in_scope {
            self.scratch.clear();
            write_term(table, id, &mut self.scratch);
            if self.scratch == root.text {
                root.id = Some(id);
                return Ok(false);
            }
        }
        self.root = None;
        self.objects.clear();
        Ok(true)
    }

    fn add(&mut self, table: &TermTable, quad: Quad, message: u64) -> Result<(), CopyError> {
        if self.root.is_none() {
            let mut text = Vec::new();
            write_term(table, quad.subject, &mut text);
            self.root = Some(Root {
                text,
                id: Some(quad.subject),
                scope: has_blank_node(table, quad.subject).then_some(message),
            });
        }
        let object = table.term(quad.object);
        if object.kind == TermKind::BlankNode {
            if self.message != message {
                self.objects.clear();
                self.message = message;
            }
            self.objects.insert(table.text_of(object))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), CopyError> {
        Ok(())
    }
}

/// A nanopublication: a head graph, and the graphs that it names.
pub(super) struct Nanopub {
    /// IRI of the head, and the message of its first quad.
    head: Option<(Vec<u8>, u64)>,
    /// Whether a quad of the head declares a nanopublication.
    is_declared: bool,
    /// IRIs of the graphs that the head names.
    graphs: Names,
    /// The graph of the previous quad, if it is in the current batch, and whether it is the head.
    last: Option<(TermId, bool)>,
}

impl Nanopub {
    pub(super) fn new(max_bytes: u64) -> Self {
        Self {
            head: None,
            is_declared: false,
            graphs: Names::new(max_bytes),
            last: None,
        }
    }

    /// Whether a graph is the head, if it is in the group.
    fn find(&self, table: &TermTable, graph: TermId) -> Option<bool> {
        let iri = find_iri(table, graph)?;
        match &self.head {
            Some((head, _)) if head == iri => Some(true),
            _ => self.graphs.contains(iri).then_some(false),
        }
    }
}

impl LinkedGroup for Nanopub {
    fn begin_batch(&mut self) {
        self.last = None;
    }

    fn is_end_before(
        &mut self,
        table: &TermTable,
        quad: Quad,
        _message: u64,
    ) -> Result<bool, CopyError> {
        if self.last.is_some_and(|(graph, _)| graph == quad.graph) {
            return Ok(false);
        }
        self.last = self
            .find(table, quad.graph)
            .map(|is_head| (quad.graph, is_head));
        if self.last.is_some() {
            return Ok(false);
        }
        self.finish()?;
        self.head = None;
        self.is_declared = false;
        self.graphs.clear();
        Ok(true)
    }

    fn add(&mut self, table: &TermTable, quad: Quad, message: u64) -> Result<(), CopyError> {
        let is_head = if let Some((_, is_head)) = self.last {
            is_head
        } else {
            let Some(iri) = find_iri(table, quad.graph) else {
                let place = if quad.graph == TermId::DEFAULT_GRAPH {
                    "the default graph"
                } else {
                    "a graph without an IRI"
                };
                let text = format!(
                    "a quad is in {place}, expected the head of a nanopublication or a graph that \
                     the head names"
                );
                return Err(CopyError::NotNanopub {
                    reason: text.into(),
                    message,
                });
            };
            self.head = Some((iri.to_vec(), message));
            self.last = Some((quad.graph, true));
            true
        };
        if !is_head {
            return Ok(());
        }
        let (Some(predicate), Some(object)) = (
            find_iri(table, quad.predicate),
            find_iri(table, quad.object),
        ) else {
            return Ok(());
        };
        if predicate == TYPE {
            self.is_declared |= object == NANOPUBLICATION;
        } else if GRAPH_LINKS.contains(&predicate) {
            self.graphs.insert(object)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), CopyError> {
        match &self.head {
            Some((head, message)) if !self.is_declared => Err(CopyError::NotNanopub {
                reason: format!(
                    "the graph {} is not the head of a nanopublication, and no head before it \
                     names it",
                    quote(&[b"<", head.as_slice(), b">"].concat())
                )
                .into(),
                message: *message,
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the text of an IRI, and `None` for other terms.
fn find_iri(table: &TermTable, id: TermId) -> Option<&[u8]> {
    if id == TermId::DEFAULT_GRAPH {
        return None;
    }
    let term = table.term(id);
    (term.kind == TermKind::Iri).then(|| table.text_of(term))
}

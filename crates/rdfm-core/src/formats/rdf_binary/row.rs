//! Rows of RDF Protobuf and RDF Thrift logs.
//!
//! - Law: strings are unchecked slices of the log.

use crate::model::term::{Quad, TermId};
use crate::syntax::default_graph;
use crate::syntax::rdf_binary::model::Slots;
use crate::syntax::rdf_binary::terms::{BinaryTerms, TripleTermReader};
use crate::syntax::wire::Checked;

/// A row.
#[derive(Clone, Copy, Debug)]
pub(super) enum BinaryRow<'a> {
    /// Name and IRI.
    Prefix(&'a [u8], &'a [u8]),
    Base(&'a [u8]),
    /// Its terms are in [`Slots`].
    Statement,
}

impl BinaryRow<'_> {
    /// Adds the row to the batch or to the state of the log.
    #[inline]
    pub fn take<R: TripleTermReader>(
        self,
        slots: &Slots<'_>,
        terms: &mut BinaryTerms<Quad>,
    ) -> Checked<()> {
        match self {
            BinaryRow::Statement => {
                let subject = terms.add_term::<R>(slots.get(0)?, 0, 0)?;
                let predicate = terms.add_term::<R>(slots.get(1)?, 1, 0)?;
                let object = terms.add_term::<R>(slots.get(2)?, 2, 0)?;
                let graph = match slots.graph() {
                    None => TermId::DEFAULT_GRAPH,
                    Some(graph) => {
                        let graph = terms.add_term::<R>(graph, 3, 0)?;
                        default_graph::read(terms.builder.table(), graph)
                    }
                };
                terms.builder.add_quad(Quad {
                    subject,
                    predicate,
                    object,
                    graph,
                })?;
                Ok(())
            }
            BinaryRow::Prefix(name, iri) => terms.set_prefix(name, iri),
            BinaryRow::Base(iri) => terms.set_base(iri),
        }
    }
}

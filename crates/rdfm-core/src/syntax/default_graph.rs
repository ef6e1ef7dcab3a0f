//! The IRIs that represent the default graph in Jena's formats.
//!
//! - In: graph names.
//! - Out: the default graph for these IRIs when reading, an error for them when writing.
//! - Law: rdfm and Jena read written quads back unchanged.

use crate::codec::unsupported::{WriteResult, misread_iri_error};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};

const NAMES: [&[u8]; 2] = [b"urn:x-arq:DefaultGraph", b"urn:x-arq:DefaultGraphNode"];

/// Replaces the IRIs of the default graph; returns any other graph unchanged.
#[inline]
pub(crate) fn read(table: &TermTable, graph: TermId) -> TermId {
    if is_name(table, graph) {
        TermId::DEFAULT_GRAPH
    } else {
        graph
    }
}

/// Checks the name of a graph before writing.
///
/// # Errors
/// If readers would interpret the name as the default graph.
#[inline]
pub(crate) fn check(table: &TermTable, graph: TermId) -> WriteResult<()> {
    if is_name(table, graph) {
        return Err(misread_iri_error(table.text(graph), "the default graph"));
    }
    Ok(())
}

#[inline]
fn is_name(table: &TermTable, graph: TermId) -> bool {
    if graph == TermId::DEFAULT_GRAPH {
        return false;
    }
    let term = table.term(graph);
    let length = term.length as usize;
    let fits = NAMES.iter().any(|name| name.len() == length);
    fits && term.kind == TermKind::Iri && NAMES.contains(&table.text_of(term))
}

//! The names by which Jena's formats mean the default graph.
//!
//! - In: graph names.
//! - Out: the default graph for them on reading, an error for them on writing.
//! - Law: what is written is read as the same quads, also by Jena.

use crate::codec::refuse::{Refused, taken_for};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};

const NAMES: [&[u8]; 2] = [b"urn:x-arq:DefaultGraph", b"urn:x-arq:DefaultGraphNode"];

/// The default graph for its names, and any other graph as it is.
#[inline]
pub(crate) fn read(table: &TermTable, graph: TermId) -> TermId {
    if is_name(table, graph) {
        TermId::DEFAULT_GRAPH
    } else {
        graph
    }
}

/// Checks the name of a graph.
///
/// # Errors
/// Readers take it for the default graph.
#[inline]
pub(crate) fn check(table: &TermTable, graph: TermId) -> Refused<()> {
    if is_name(table, graph) {
        return Err(taken_for(table.text(graph), "the default graph"));
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

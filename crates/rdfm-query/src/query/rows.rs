//! Result rows, and their conversion to batches.
//!
//! - In: cells (classes of equal terms, see [`super::dictionary`]), and terms that are not in a
//!   batch. Out: result batches with their own terms.
//! - Law: equal rows result in equal terms. Blank nodes that a query creates get labels that do not
//!   occur in their message.

use oxrdf::Term;
use rdfm_core::model::builder::LogBuilder;
use rdfm_core::model::error::LimitExceeded;
use rdfm_core::model::record::Record;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};
use rustc_hash::FxHashMap;

use super::budget;
use super::dictionary::{Dictionary, UNBOUND, direction};
use super::view::length;

/// The result rows of messages.
#[derive(Default)]
pub struct SolutionRows {
    /// One cell for each variable of each row: a term of the term table, [`UNBOUND`], or an index
    /// into `others`, counted from the length of the term table.
    pub cells: Vec<u32>,
    /// Terms that are not in a quad, without duplicates.
    pub others: Vec<Term>,
    by_term: FxHashMap<Term, u32>,
    /// Index of each row's message in the batch.
    pub messages: Vec<u32>,
}

impl SolutionRows {
    /// Returns the cell for a query term.
    pub fn add_cell(&mut self, dictionary: &Dictionary<'_>, term: Term) -> u32 {
        if let Some(class) = dictionary.find_as_written(&term) {
            return class;
        }
        if let Some(&existing) = self.by_term.get(&term) {
            return existing;
        }
        // The term is stored twice.
        budget::keep(2 + 2 * length(&term) as u64 / budget::BYTES);
        let cell = dictionary.terms() + self.others.len() as u32;
        self.others.push(term.clone());
        self.by_term.insert(term, cell);
        cell
    }

    /// Removes all rows and terms.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.others.clear();
        self.by_term.clear();
        self.messages.clear();
    }
}

/// Copies the terms of rows to a separate batch.
pub struct TermCopier<R: Record> {
    /// Builder of the batch.
    pub builder: LogBuilder<R>,
    ids: FxHashMap<TermId, TermId>,
    others: Vec<Option<TermId>>,
}

impl<R: Record> TermCopier<R> {
    /// Creates a copier with this builder.
    pub fn new(builder: LogBuilder<R>) -> Self {
        Self {
            builder,
            ids: FxHashMap::default(),
            others: Vec::new(),
        }
    }

    /// Begins another term table, or a new batch after the last one has been taken.
    pub fn begin(&mut self) {
        self.ids.clear();
        self.others.clear();
    }

    /// Returns the copy of a cell, or `None` if the cell is unbound.
    ///
    /// # Errors
    /// If the batch is full.
    pub fn copy_cell(
        &mut self,
        table: &TermTable,
        others: &[Term],
        cell: u32,
    ) -> Result<Option<TermId>, LimitExceeded> {
        if cell == UNBOUND {
            return Ok(None);
        }
        let Some(other) = (cell as usize).checked_sub(table.terms().len()) else {
            let id = TermId(cell);
            return Ok(Some(self.builder.copy_term(table, id, &mut self.ids)));
        };
        if let Some(Some(existing)) = self.others.get(other) {
            return Ok(Some(*existing));
        }
        let id = add_term(&mut self.builder, &others[other])?;
        if self.others.len() <= other {
            self.others.resize(other + 1, None);
        }
        self.others[other] = Some(id);
        Ok(Some(id))
    }
}

/// Adds a query term. The recursion depth is the nesting depth of triple terms.
///
/// # Errors
/// If the batch is full.
pub fn add_term<R: Record>(
    builder: &mut LogBuilder<R>,
    term: &Term,
) -> Result<TermId, LimitExceeded> {
    match term {
        Term::NamedNode(iri) => builder.add_simple(TermKind::Iri, iri.as_str().as_bytes(), 0),
        Term::BlankNode(node) => {
            builder.add_simple(TermKind::BlankNode, node.as_str().as_bytes(), 0)
        }
        Term::Literal(literal) => {
            let text = literal.value().as_bytes();
            if let Some(tag) = literal.language() {
                let tag = builder.add_simple(TermKind::Language, tag.as_bytes(), 0)?;
                let direction = direction(literal.direction());
                return builder.add_with_aux(TermKind::LangLiteral, text, tag.0, direction);
            }
            if literal.datatype() == oxrdf::vocab::xsd::STRING {
                return builder.add_simple(TermKind::Literal, text, 0);
            }
            let datatype = literal.datatype().as_str().as_bytes();
            let datatype = builder.add_simple(TermKind::Iri, datatype, 0)?;
            builder.add_with_aux(TermKind::TypedLiteral, text, datatype.0, 0)
        }
        Term::Triple(triple) => {
            let subject = add_term(builder, &triple.subject.clone().into())?;
            let predicate = add_term(builder, &triple.predicate.clone().into())?;
            let object = add_term(builder, &triple.object)?;
            builder.add_triple_term([subject, predicate, object])
        }
    }
}

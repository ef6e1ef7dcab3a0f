//! Rows of a result, and the batches made of them.
//!
//! - In: cells by class, and terms that no batch has. Out: batches of results with terms of their own.
//! - Law: the same rows give the same terms; blank nodes that a query makes get labels that their message lacks.

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

/// Rows of messages.
#[derive(Default)]
pub struct Rows {
    /// A cell for each variable of each row: a term of the table, [`UNBOUND`], or, from the table's length on, one of
    /// `others`.
    pub cells: Vec<u32>,
    /// Terms that no quad has, each once.
    pub others: Vec<Term>,
    by_term: FxHashMap<Term, u32>,
    /// The message in its batch of each row.
    pub messages: Vec<u32>,
}

impl Rows {
    /// The cell of a term of a query.
    pub fn cell(&mut self, dictionary: &Dictionary<'_>, term: Term) -> u32 {
        if let Some(class) = dictionary.find_as_written(&term) {
            return class;
        }
        if let Some(&known) = self.by_term.get(&term) {
            return known;
        }
        // It is stored twice.
        budget::keep(2 + 2 * length(&term) as u64 / budget::BYTES);
        let cell = dictionary.terms() + self.others.len() as u32;
        self.others.push(term.clone());
        self.by_term.insert(term, cell);
        cell
    }

    /// Forgets all rows and terms.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.others.clear();
        self.by_term.clear();
        self.messages.clear();
    }
}

/// Terms of rows, copied into a batch of their own.
pub struct Copied<R: Record> {
    /// What they are copied into.
    pub builder: LogBuilder<R>,
    ids: FxHashMap<TermId, TermId>,
    others: Vec<Option<TermId>>,
}

impl<R: Record> Copied<R> {
    /// Takes what they are copied into.
    pub fn new(builder: LogBuilder<R>) -> Self {
        Self {
            builder,
            ids: FxHashMap::default(),
            others: Vec::new(),
        }
    }

    /// From here on terms are those of another table, or the last batch was taken.
    pub fn begin(&mut self) {
        self.ids.clear();
        self.others.clear();
    }

    /// The copy of a cell; None where it is unbound.
    ///
    /// # Errors
    /// There is no room.
    pub fn cell(
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
        if let Some(Some(known)) = self.others.get(other) {
            return Ok(Some(*known));
        }
        let id = add_term(&mut self.builder, &others[other])?;
        if self.others.len() <= other {
            self.others.resize(other + 1, None);
        }
        self.others[other] = Some(id);
        Ok(Some(id))
    }
}

/// Adds a term of a query. Recursion is as deep as its triple terms nest.
///
/// # Errors
/// There is no room.
pub fn add_term<R: Record>(
    builder: &mut LogBuilder<R>,
    term: &Term,
) -> Result<TermId, LimitExceeded> {
    match term {
        Term::NamedNode(iri) => builder.add_simple(TermKind::Iri, iri.as_str().as_bytes(), 0),
        Term::BlankNode(node) => builder.add_simple(TermKind::Bnode, node.as_str().as_bytes(), 0),
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

//! The template of a CONSTRUCT query.
//!
//! - In: triples with variables, and rows. Out: the triples of each row, as cells.
//! - Law: triples with an unbound variable, a literal or triple term as subject, or a predicate
//!   that is not an IRI are skipped (SPARQL 1.1, section 16.2). In each row, new blank nodes
//!   replace those of the template.

use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple, Variable};
use rdfm_core::model::term::{TermId, TermKind};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::dictionary::{Dictionary, UNBOUND};
use super::rows::SolutionRows;

/// One position of a triple in a template.
enum Slot {
    Variable(usize),
    Constant(usize),
    Blank(usize),
    Triple(Box<[Slot; 3]>),
}

/// The triples of a CONSTRUCT query.
pub struct Template {
    triples: Vec<[Slot; 3]>,
    variables: Vec<Variable>,
    constants: Vec<Term>,
    blanks: usize,
}

/// The values of a template's slots in one row.
struct Row<'r, 'd> {
    cells: &'r [u32],
    constants: &'r [u32],
    blanks: Vec<u32>,
    dictionary: &'r Dictionary<'d>,
}

impl Template {
    /// Creates a template from the triples of a query.
    pub fn new(triples: Vec<TriplePattern>) -> Self {
        let mut names = TemplateTerms::default();
        let triples = triples
            .into_iter()
            .map(|triple| names.translate_triple(triple));
        Self {
            triples: triples.collect(),
            blanks: names.blanks.len(),
            variables: names.variables,
            constants: names.constants,
        }
    }

    /// Returns the variables, in order of their first occurrence.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the cells of the template's constants. They are valid until `rows` is cleared.
    pub fn add_constants(&self, dictionary: &Dictionary<'_>, rows: &mut SolutionRows) -> Vec<u32> {
        let constants = self.constants.iter();
        let cell = |term: &Term| rows.add_cell(dictionary, term.clone());
        constants.map(cell).collect()
    }

    /// Emits the triples of a row as cells, including duplicates. `node` returns new blank nodes.
    pub fn instantiate(
        &self,
        dictionary: &Dictionary<'_>,
        constants: &[u32],
        cells: &[u32],
        rows: &mut SolutionRows,
        mut node: impl FnMut() -> BlankNode,
        mut each: impl FnMut([u32; 3]),
    ) {
        let mut new = || rows.add_cell(dictionary, node().into());
        let row = Row {
            cells,
            constants,
            blanks: (0..self.blanks).map(|_| new()).collect(),
            dictionary,
        };
        for triple in &self.triples {
            if let Some(triple) = row.translate_triple(triple, rows) {
                each(triple);
            }
        }
    }
}

impl Row<'_, '_> {
    fn translate_triple(&self, triple: &[Slot; 3], rows: &mut SolutionRows) -> Option<[u32; 3]> {
        let [subject, predicate, object] = triple;
        let subject = self.slot_cell(subject, rows)?;
        let predicate = self.slot_cell(predicate, rows)?;
        let is = |cell: u32, kinds: &[TermKind]| kinds.contains(&self.kind(cell, rows));
        let is_legal =
            is(subject, &[TermKind::Iri, TermKind::BlankNode]) && is(predicate, &[TermKind::Iri]);
        if !is_legal {
            return None;
        }
        Some([subject, predicate, self.slot_cell(object, rows)?])
    }

    fn slot_cell(&self, slot: &Slot, rows: &mut SolutionRows) -> Option<u32> {
        match slot {
            Slot::Variable(number) => Some(self.cells[*number]).filter(|cell| *cell != UNBOUND),
            Slot::Constant(number) => Some(self.constants[*number]),
            Slot::Blank(number) => Some(self.blanks[*number]),
            Slot::Triple(triple) => {
                let [subject, predicate, object] = self.translate_triple(triple, rows)?;
                let subject = match self.term(subject, rows)? {
                    Term::NamedNode(iri) => NamedOrBlankNode::from(iri),
                    Term::BlankNode(node) => node.into(),
                    _ => return None,
                };
                let Term::NamedNode(predicate) = self.term(predicate, rows)? else {
                    return None;
                };
                let triple = Triple::new(subject, predicate, self.term(object, rows)?);
                Some(rows.add_cell(self.dictionary, triple.into()))
            }
        }
    }

    fn other<'r>(&self, cell: u32, rows: &'r SolutionRows) -> Option<&'r Term> {
        let index = cell.checked_sub(self.dictionary.terms())?;
        rows.others.get(index as usize)
    }

    fn term(&self, cell: u32, rows: &SolutionRows) -> Option<Term> {
        let other = self.other(cell, rows).cloned();
        other.or_else(|| self.dictionary.term(cell))
    }

    fn kind(&self, cell: u32, rows: &SolutionRows) -> TermKind {
        match self.other(cell, rows) {
            None => self.dictionary.table().term(TermId(cell)).kind,
            Some(Term::NamedNode(_)) => TermKind::Iri,
            Some(Term::BlankNode(_)) => TermKind::BlankNode,
            Some(Term::Literal(_)) => TermKind::Literal,
            Some(Term::Triple(_)) => TermKind::TripleTerm,
        }
    }
}

/// Variables, constants and blank nodes of a template, by number.
#[derive(Default)]
struct TemplateTerms {
    variables: Vec<Variable>,
    constants: Vec<Term>,
    blanks: Vec<BlankNode>,
}

impl TemplateTerms {
    fn translate_triple(&mut self, triple: TriplePattern) -> [Slot; 3] {
        [
            self.translate_term(triple.subject),
            match triple.predicate {
                NamedNodePattern::NamedNode(iri) => self.add_constant(iri.into()),
                NamedNodePattern::Variable(variable) => self.add_variable(variable),
            },
            self.translate_term(triple.object),
        ]
    }

    fn translate_term(&mut self, term: TermPattern) -> Slot {
        match term {
            TermPattern::NamedNode(iri) => self.add_constant(iri.into()),
            TermPattern::Literal(literal) => self.add_constant(literal.into()),
            TermPattern::BlankNode(node) => Slot::Blank(find_or_push(&mut self.blanks, node)),
            TermPattern::Variable(variable) => self.add_variable(variable),
            TermPattern::Triple(triple) => Slot::Triple(Box::new(self.translate_triple(*triple))),
        }
    }

    fn add_constant(&mut self, term: Term) -> Slot {
        Slot::Constant(find_or_push(&mut self.constants, term))
    }

    fn add_variable(&mut self, variable: Variable) -> Slot {
        Slot::Variable(find_or_push(&mut self.variables, variable))
    }
}

fn find_or_push<T: PartialEq>(values: &mut Vec<T>, new: T) -> usize {
    values
        .iter()
        .position(|value| *value == new)
        .unwrap_or_else(|| {
            values.push(new);
            values.len() - 1
        })
}

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
        let triples = triples.into_iter().map(|triple| names.triple(triple));
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
    pub fn constants(&self, dictionary: &Dictionary<'_>, rows: &mut SolutionRows) -> Vec<u32> {
        let constants = self.constants.iter();
        let cell = |term: &Term| rows.cell(dictionary, term.clone());
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
        let mut new = || rows.cell(dictionary, node().into());
        let row = Row {
            cells,
            constants,
            blanks: (0..self.blanks).map(|_| new()).collect(),
            dictionary,
        };
        for triple in &self.triples {
            if let Some(triple) = row.triple(triple, rows) {
                each(triple);
            }
        }
    }
}

impl Row<'_, '_> {
    fn triple(&self, triple: &[Slot; 3], rows: &mut SolutionRows) -> Option<[u32; 3]> {
        let [subject, predicate, object] = triple;
        let subject = self.cell(subject, rows)?;
        let predicate = self.cell(predicate, rows)?;
        let is = |cell: u32, kinds: &[TermKind]| kinds.contains(&self.kind(cell, rows));
        let is_legal =
            is(subject, &[TermKind::Iri, TermKind::Bnode]) && is(predicate, &[TermKind::Iri]);
        if !is_legal {
            return None;
        }
        Some([subject, predicate, self.cell(object, rows)?])
    }

    fn cell(&self, slot: &Slot, rows: &mut SolutionRows) -> Option<u32> {
        match slot {
            Slot::Variable(number) => Some(self.cells[*number]).filter(|cell| *cell != UNBOUND),
            Slot::Constant(number) => Some(self.constants[*number]),
            Slot::Blank(number) => Some(self.blanks[*number]),
            Slot::Triple(triple) => {
                let [subject, predicate, object] = self.triple(triple, rows)?;
                let subject = match self.term(subject, rows)? {
                    Term::NamedNode(iri) => NamedOrBlankNode::from(iri),
                    Term::BlankNode(node) => node.into(),
                    _ => return None,
                };
                let Term::NamedNode(predicate) = self.term(predicate, rows)? else {
                    return None;
                };
                let triple = Triple::new(subject, predicate, self.term(object, rows)?);
                Some(rows.cell(self.dictionary, triple.into()))
            }
        }
    }

    fn other<'r>(&self, cell: u32, rows: &'r SolutionRows) -> Option<&'r Term> {
        let at = cell.checked_sub(self.dictionary.terms())?;
        rows.others.get(at as usize)
    }

    fn term(&self, cell: u32, rows: &SolutionRows) -> Option<Term> {
        let other = self.other(cell, rows).cloned();
        other.or_else(|| self.dictionary.term(cell))
    }

    fn kind(&self, cell: u32, rows: &SolutionRows) -> TermKind {
        match self.other(cell, rows) {
            None => self.dictionary.table().term(TermId(cell)).kind,
            Some(Term::NamedNode(_)) => TermKind::Iri,
            Some(Term::BlankNode(_)) => TermKind::Bnode,
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
    fn triple(&mut self, triple: TriplePattern) -> [Slot; 3] {
        [
            self.slot(triple.subject),
            match triple.predicate {
                NamedNodePattern::NamedNode(iri) => self.constant(iri.into()),
                NamedNodePattern::Variable(variable) => self.variable(variable),
            },
            self.slot(triple.object),
        ]
    }

    fn slot(&mut self, term: TermPattern) -> Slot {
        match term {
            TermPattern::NamedNode(iri) => self.constant(iri.into()),
            TermPattern::Literal(literal) => self.constant(literal.into()),
            TermPattern::BlankNode(node) => Slot::Blank(number(&mut self.blanks, node)),
            TermPattern::Variable(variable) => self.variable(variable),
            TermPattern::Triple(triple) => Slot::Triple(Box::new(self.triple(*triple))),
        }
    }

    fn constant(&mut self, term: Term) -> Slot {
        Slot::Constant(number(&mut self.constants, term))
    }

    fn variable(&mut self, variable: Variable) -> Slot {
        Slot::Variable(number(&mut self.variables, variable))
    }
}

fn number<T: PartialEq>(values: &mut Vec<T>, new: T) -> usize {
    values
        .iter()
        .position(|one| *one == new)
        .unwrap_or_else(|| {
            values.push(new);
            values.len() - 1
        })
}

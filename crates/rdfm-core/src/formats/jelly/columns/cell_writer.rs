//! Encodes terms as cells of columns.
//!
//! - In: terms of a batch.
//! - Out: cells with ids ([`Cell`]), whose lookup entries are in the open frame.
//! - Cost: as of [`TermWriter`]. A triple term is copied once per level.
//! - Law: if the entries of a term do not fit in the tables, nothing is added to its column.

use super::column::{BNODE, ColumnRules, LITERAL, TRIPLE, Version};
use super::column_writer::{ColumnWriter, put_two};
use super::triples::{IriState, O_BNODE, O_IRI, O_LITERAL, O_TRIPLE, P_IRI, S_BNODE, S_IRI};
use crate::codec::unsupported::WriteResult;
use crate::formats::jelly::options::OptionsRow;
use crate::formats::jelly::term_writer::{EntryTags, TermWriter};
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Term, TermId, TermKind, flags, is_language_type};
use crate::syntax::wire::{put_bytes, put_number};

/// A cell whose ids are known.
#[derive(Clone, Copy)]
pub(in crate::formats::jelly) enum Cell {
    /// The value of the previous cell.
    Repeat,
    Unbound,
    Iri(u32, u32),
    BlankNode,
    /// A literal without a language tag; datatype 0 stands for none.
    Literal(u32),
    Tagged,
    /// A triple term, whose bytes are in the buffer, and the state after it.
    Triple(IriState),
}

/// Encodes terms.
pub(in crate::formats::jelly) struct CellWriter {
    pub terms: TermWriter,
    /// The version of RDF that the stream announces.
    version: Version,
    /// The bytes of the last triple term.
    triple: Vec<u8>,
}

impl CellWriter {
    /// Creates a writer. `first` is the field number of the first of the three lookup tables.
    pub fn new(options: &OptionsRow, first: u8) -> Self {
        let fields = EntryTags {
            name: first,
            prefix: first + 1,
            datatype: first + 2,
        };
        let mut terms = TermWriter::new(fields, options);
        terms.packed = Some(Default::default());
        Self {
            terms,
            version: Version(options.rdf_version),
            triple: Vec::new(),
        }
    }

    /// Prepares for the next log.
    pub fn reset(&mut self) {
        self.terms.reset();
        self.terms.packed = Some(Default::default());
    }

    /// Returns the cell for a term that is added to a column, and adds its lookup entries to the
    /// frame.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each term
    pub fn cell(
        &mut self,
        table: &TermTable,
        id: TermId,
        rules: ColumnRules<'_>,
        column: &ColumnWriter,
    ) -> WriteResult<Cell> {
        let term = table.term(id);
        if term.kind == TermKind::Iri {
            let (prefix, name) = self.terms.iri(table, id, term)?;
            return Ok(Cell::Iri(prefix, name));
        }
        self.other_cell(table, term, rules, column)
    }

    /// Returns the cell for a term that is not an IRI.
    fn other_cell(
        &mut self,
        table: &TermTable,
        term: Term,
        rules: ColumnRules<'_>,
        column: &ColumnWriter,
    ) -> WriteResult<Cell> {
        let allows = |kind: u8| rules.kinds >> kind & 1 == 1;
        Ok(match term.kind {
            TermKind::DefaultGraph if !rules.bound => Cell::Unbound,
            TermKind::BlankNode if allows(BNODE) => Cell::BlankNode,
            TermKind::Literal if allows(LITERAL) => Cell::Literal(0),
            TermKind::LangLiteral if allows(LITERAL) => {
                self.check_direction(term)?;
                Cell::Tagged
            }
            TermKind::TypedLiteral if allows(LITERAL) => {
                Cell::Literal(self.datatype(table, TermId(term.aux))?)
            }
            TermKind::TripleTerm if allows(TRIPLE) => {
                if !self.version.has_triple_terms() {
                    return Err(beyond_version(self.version, "a triple term", "1.2"));
                }
                let mut state = column.nested;
                let mut bytes = std::mem::take(&mut self.triple);
                bytes.clear();
                let written = self.triple(table, term, &mut state, &mut bytes);
                self.triple = bytes;
                written?;
                Cell::Triple(state)
            }
            kind => return Err(misplaced(kind, rules.name)),
        })
    }

    /// Adds a cell to its column.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called four times for each statement
    pub fn add(&mut self, column: &mut ColumnWriter, cell: Cell, table: &TermTable, id: TermId) {
        match cell {
            Cell::Repeat => column.repeat(),
            Cell::Unbound => column.unbound(),
            Cell::Iri(prefix, name) => column.iri(prefix, name),
            other => self.add_text(column, other, table, id),
        }
    }

    /// Adds a cell that contains text.
    fn add_text(&mut self, column: &mut ColumnWriter, cell: Cell, table: &TermTable, id: TermId) {
        match cell {
            Cell::Repeat | Cell::Unbound | Cell::Iri(..) => {}
            Cell::BlankNode => {
                let (head, rest) = self.terms.label_parts(table.text(id));
                column.bnode(head, rest);
            }
            Cell::Literal(datatype) => column.literal(table.text(id), datatype),
            Cell::Tagged => {
                let term = table.term(id);
                let language = table.text(TermId(term.aux));
                column.tagged(table.text(id), language, direction(term));
            }
            Cell::Triple(state) => column.triple(&self.triple, state),
        }
    }

    fn datatype(&mut self, table: &TermTable, id: TermId) -> WriteResult<u32> {
        let text = table.text(id);
        if is_language_type(text) {
            let reason = format!(
                "a literal of datatype {} has no language tag, which Jelly 1.2 does not allow",
                quote(text)
            );
            return Err((ErrorClass::Unsupported, reason.into()));
        }
        self.terms.datatype(table, id)
    }

    fn check_direction(&self, term: Term) -> WriteResult<()> {
        if direction(term) == 0 || self.version.has_directions() {
            return Ok(());
        }
        Err(beyond_version(
            self.version,
            "a base direction",
            "1.2-basic",
        ))
    }

    /// Appends the fields of a triple term.
    fn triple(
        &mut self,
        table: &TermTable,
        term: Term,
        state: &mut IriState,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        let ids = table.triple(term);
        for (id, [iri, bnode], name) in [
            (ids[0], [S_IRI, S_BNODE], "subject of a triple term"),
            (ids[1], [P_IRI, 0], "predicate of a triple term"),
            (ids[2], [O_IRI, O_BNODE], "object of a triple term"),
        ] {
            let part = table.term(id);
            let is_object = iri == O_IRI;
            match part.kind {
                TermKind::Iri => {
                    let (prefix, name) = self.terms.iri(table, id, part)?;
                    put_iri(out, tag(iri), (prefix, name), state);
                }
                TermKind::BlankNode if bnode != 0 => {
                    let (head, rest) = self.terms.label_parts(table.text_of(part));
                    put_two(out, tag(bnode), head, rest);
                }
                TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral if is_object => {
                    let literal = self.literal(table, part)?;
                    put_bytes(out, tag(O_LITERAL), &literal);
                }
                TermKind::TripleTerm if is_object => {
                    let mut nested = Vec::new();
                    self.triple(table, part, state, &mut nested)?;
                    put_bytes(out, tag(O_TRIPLE), &nested);
                }
                kind => return Err(misplaced(kind, name)),
            }
        }
        Ok(())
    }

    /// Returns the fields of a literal in a triple term.
    fn literal(&mut self, table: &TermTable, term: Term) -> WriteResult<Vec<u8>> {
        let mut out = Vec::new();
        put_bytes(&mut out, 0x0a, table.text_of(term));
        match term.kind {
            TermKind::LangLiteral => {
                self.check_direction(term)?;
                put_bytes(&mut out, 0x12, table.text(TermId(term.aux)));
                put_number(&mut out, 4 << 3, u32::from(direction(term)));
            }
            TermKind::TypedLiteral => {
                let datatype = self.datatype(table, TermId(term.aux))?;
                put_number(&mut out, 3 << 3, datatype);
            }
            _ => {}
        }
        Ok(out)
    }
}

/// Returns the tag of a string or message.
const fn tag(field: u32) -> u8 {
    (field as u8) << 3 | 2
}

/// Returns the direction of a literal as a number of the log.
fn direction(term: Term) -> u8 {
    match term.flags & (flags::LTR | flags::RTL) {
        flags::LTR => 1,
        flags::RTL => 2,
        _ => 0,
    }
}

/// Appends an IRI, whose ids may be inferred from the previous one.
pub(super) fn put_iri(
    out: &mut Vec<u8>,
    tag: u8,
    (prefix, name): (u32, u32),
    state: &mut IriState,
) {
    let mut ids = Vec::with_capacity(12);
    put_number(
        &mut ids,
        1 << 3,
        if prefix == state.prefix { 0 } else { prefix },
    );
    let is_next = name == state.name.saturating_add(1);
    put_number(&mut ids, 2 << 3, if is_next { 0 } else { name });
    put_bytes(out, tag, &ids);
    *state = IriState { prefix, name };
}

/// Returns the error for a term that only generalized RDF, or RDF-star, allows in its position.
#[cold]
fn misplaced(kind: TermKind, position: &str) -> (ErrorClass, Reason) {
    let what = match kind {
        TermKind::BlankNode => "a blank node",
        TermKind::TripleTerm => "a triple term",
        TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => "a literal",
        _ => "another term",
    };
    let reason = format!("Jelly 1.2 does not allow {what} in the {position}; version 1.1 does");
    (ErrorClass::Unsupported, reason.into())
}

/// Returns the error for a feature that the announced version of RDF does not have.
#[cold]
fn beyond_version(version: Version, what: &str, needed: &'static str) -> (ErrorClass, Reason) {
    let reason = format!("{what}, but the stream announces {}", version.name());
    let remedy = Remedy::write("rdf_version", needed, "allows it");
    (ErrorClass::Unsupported, Reason::from(reason).with(remedy))
}

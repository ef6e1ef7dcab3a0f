//! Expands the cells of a column.
//!
//! - In: a checked column, and the bytes of its frame.
//! - Out: the term of each cell, one after the other ([`CellCursor::next`]), or of many cells
//!   ([`CellCursor::fill`]).
//! - Cost: a store per repeated cell. A value is decoded once per batch.
//! - Law: positions, not bytes or terms, are kept between batches. The term of a run is added again
//!   to each batch in which the run continues.

use std::ops::Range;

use super::column::{self, Column, direction_flag};
use super::fields::{Located, Numbers, Strings};
use super::layout::{Layout, Run};
use super::triples::{self, IriState, O_BNODE, O_LITERAL, O_TRIPLE, S_BNODE};
use crate::formats::jelly::term_reader::TermReader;
use crate::model::error::ErrorClass;
use crate::model::record::Record;
use crate::model::term::{TermId, TermKind};
use crate::syntax::text::scan::{self, Excerpt};
use crate::syntax::wire::{Checked, WireError, invalid_utf8_error};

/// Maximum number of cells that [`CellCursor::fill`] expands.
pub(super) const CHUNK: usize = 64;

/// A value, by its position or its ids.
#[derive(Clone, Debug, Default)]
enum Current {
    #[default]
    None,
    Iri(IriState),
    /// Lexical form, and kind as in the log.
    Literal(Range<usize>, u32),
    BlankNode(Range<usize>),
    /// The bytes, and the state before them.
    Triple(Range<usize>, IriState),
}

/// The prefixes or the kinds of all values.
#[derive(Clone, Debug)]
enum Each {
    One(u32),
    Each(Numbers),
}

impl Each {
    fn new(bytes: &[u8], mut numbers: Numbers, count: usize, values: usize) -> Checked<Self> {
        Ok(match count {
            0 => Self::One(0),
            1 if values != 1 => Self::One(numbers.next(bytes)?.unwrap_or_default()),
            _ => Self::Each(numbers),
        })
    }

    #[inline]
    fn next(&mut self, bytes: &[u8]) -> Checked<u32> {
        match self {
            Self::One(number) => Ok(*number),
            Self::Each(numbers) => Ok(numbers.next(bytes)?.unwrap_or_default()),
        }
    }
}

/// A cursor over the cells of a column.
#[derive(Clone, Debug)]
pub(in crate::formats::jelly) struct CellCursor {
    column: Column,
    layout: Layout,
    /// Number of values that occur once, from the next one on.
    once: usize,
    /// Number of further cells of the current value.
    repeat: u64,
    /// Number of unbound cells.
    unbound: u64,
    /// Number of values read.
    value: usize,
    /// The kind of all values, if there is only one.
    kind: u8,
    names: Numbers,
    prefixes: Each,
    iris: IriState,
    lexical: Strings,
    literals: Each,
    bnodes: Strings,
    triples: Strings,
    /// State of the IRIs in triple terms.
    nested: IriState,
    current: Current,
    /// The batch of `term`.
    batch: u32,
    term: TermId,
    /// Space for the ids of IRIs: prefixes and names.
    ids: [[u32; CHUNK]; 2],
}

impl CellCursor {
    /// Creates a cursor over a checked column.
    pub fn new(bytes: &[u8], column: Column) -> Checked<Self> {
        let lists = [
            &column.names,
            &column.lexical,
            &column.bnodes,
            &column.triples,
        ];
        let kind = lists.iter().position(|list| list.count > 0);
        let prefixes = Numbers::new(column::PREFIXES, &column.prefixes);
        let literals = Numbers::new(column::LITERALS, &column.literals);
        Ok(Self {
            layout: Layout::new(&column.layouts, column.values()),
            once: 0,
            repeat: 0,
            unbound: 0,
            value: 0,
            kind: kind.unwrap_or_default() as u8,
            names: Numbers::new(column::NAMES, &column.names),
            prefixes: Each::new(bytes, prefixes, column.prefixes.count, column.names.count)?,
            iris: IriState::default(),
            lexical: Strings::new(column::LEXICAL, &column.lexical),
            literals: Each::new(bytes, literals, column.literals.count, column.lexical.count)?,
            bnodes: Strings::new(column::BNODES, &column.bnodes),
            triples: Strings::new(column::TRIPLES, &column.triples),
            nested: IriState::default(),
            current: Current::None,
            batch: 0,
            term: TermId::DEFAULT_GRAPH,
            ids: [[0; CHUNK]; 2],
            column,
        })
    }

    /// Writes the terms of the next cells to `out`, at most [`CHUNK`] of them.
    #[inline]
    pub fn fill<R: Record>(
        &mut self,
        bytes: &[u8],
        out: &mut [TermId],
        terms: &mut TermReader<R>,
    ) -> Checked<()> {
        let mut at = 0;
        while at < out.len() {
            let left = out.len() - at;
            if self.repeat > 0 {
                if self.batch != terms.builder.serial() {
                    self.add_term(bytes, terms)?;
                }
                let cells = usize::try_from(self.repeat).map_or(left, |repeat| repeat.min(left));
                out[at..at + cells].fill(self.term);
                self.repeat -= cells as u64;
                at += cells;
            } else if self.once > 1 {
                let (kind, cells) = self.run_of_kind(bytes, self.once.min(left));
                let out = &mut out[at..at + cells];
                match kind {
                    column::IRI if cells > 1 => self.next_iris(bytes, out, terms)?,
                    column::LITERAL if cells > 1 => self.next_literals(bytes, out, terms)?,
                    _ => {
                        for term in out {
                            *term = self.next_value::<R, false>(bytes, terms)?;
                        }
                    }
                }
                self.once -= cells;
                at += cells;
            } else {
                out[at] = self.next(bytes, terms)?;
                at += 1;
            }
        }
        Ok(())
    }

    /// Returns the kind of the next value, and the number of values of that kind, at most `max`.
    #[inline]
    fn run_of_kind(&self, bytes: &[u8], max: usize) -> (u8, usize) {
        if self.column.kinds.is_empty() {
            return (self.kind, max);
        }
        let kind = self.kind_of(bytes, self.value);
        let next = self.value + 1..self.value + max;
        let same = next.take_while(|value| self.kind_of(bytes, *value) == kind);
        (kind, 1 + same.count())
    }

    /// The kind of a value in a column with several kinds.
    #[inline]
    fn kind_of(&self, bytes: &[u8], value: usize) -> u8 {
        bytes[self.column.kinds.start + value / 4] >> (2 * (value % 4)) & 3
    }

    /// Reads literals that occur once each.
    #[inline]
    fn next_literals<R: Record>(
        &mut self,
        bytes: &[u8],
        out: &mut [TermId],
        terms: &mut TermReader<R>,
    ) -> Checked<()> {
        for term in &mut *out {
            let lexical = self.lexical.next(bytes)?.unwrap_or_default();
            let kind = self.literals.next(bytes)?;
            *term = self.literal(lexical, kind, bytes, terms)?;
        }
        self.value += out.len();
        Ok(())
    }

    /// Reads IRIs that occur once each.
    #[inline]
    fn next_iris<R: Record>(
        &mut self,
        bytes: &[u8],
        out: &mut [TermId],
        terms: &mut TermReader<R>,
    ) -> Checked<()> {
        let [prefixes, names] = &mut self.ids;
        let (prefixes, names) = (&mut prefixes[..out.len()], &mut names[..out.len()]);
        self.names.fill(bytes, names)?;
        match &mut self.prefixes {
            Each::One(prefix) => prefixes.fill(*prefix),
            Each::Each(numbers) => numbers.fill(bytes, prefixes)?,
        }
        let mut ids = self.iris;
        for ((term, prefix), name) in out.iter_mut().zip(prefixes).zip(names) {
            ids.infer(*prefix, *name);
            *term = terms.iri_of(ids.prefix, ids.name)?;
        }
        self.iris = ids;
        self.value += out.len();
        Ok(())
    }

    /// Returns the term of the next cell, or the default graph if the cell is unbound.
    #[inline]
    pub fn next<R: Record>(&mut self, bytes: &[u8], terms: &mut TermReader<R>) -> Checked<TermId> {
        if self.repeat > 0 {
            self.repeat -= 1;
            if self.batch != terms.builder.serial() {
                self.add_term(bytes, terms)?;
            }
            return Ok(self.term);
        }
        if self.once > 0 {
            self.once -= 1;
            return self.next_value::<R, false>(bytes, terms);
        }
        self.next_run(bytes, terms)
    }

    #[inline(never)]
    fn next_run<R: Record>(&mut self, bytes: &[u8], terms: &mut TermReader<R>) -> Checked<TermId> {
        if self.unbound > 0 {
            self.unbound -= 1;
            return Ok(TermId::DEFAULT_GRAPH);
        }
        match self.layout.next(bytes)? {
            Some(Run::Once(values)) => {
                self.once = values - 1;
                self.next_value::<R, false>(bytes, terms)
            }
            Some(Run::Repeat(cells)) => {
                self.repeat = cells - 1;
                self.next_value::<R, true>(bytes, terms)
            }
            Some(Run::Unbound(cells)) => {
                self.unbound = cells - 1;
                Ok(TermId::DEFAULT_GRAPH)
            }
            // The unbound cells at the end.
            None => Ok(TermId::DEFAULT_GRAPH),
        }
    }

    /// Reads the next value. If it is repeated, it is kept for later batches.
    #[inline]
    fn next_value<R: Record, const REPEATED: bool>(
        &mut self,
        bytes: &[u8],
        terms: &mut TermReader<R>,
    ) -> Checked<TermId> {
        let kind = match self.column.kinds.len() {
            0 => self.kind,
            _ => self.kind_of(bytes, self.value),
        };
        self.value += 1;
        let (term, current) = match kind {
            column::IRI => {
                let name = self.names.next(bytes)?.unwrap_or_default();
                let prefix = self.prefixes.next(bytes)?;
                self.iris.infer(prefix, name);
                let term = terms.iri_of(self.iris.prefix, self.iris.name)?;
                (term, Current::Iri(self.iris))
            }
            column::LITERAL => {
                let lexical = self.lexical.next(bytes)?.unwrap_or_default();
                let kind = self.literals.next(bytes)?;
                let term = self.literal(lexical.clone(), kind, bytes, terms)?;
                (term, Current::Literal(lexical, kind))
            }
            column::BNODE => {
                let label = self.bnodes.next(bytes)?.unwrap_or_default();
                let term = bnode(bytes, label.clone(), terms)?;
                (term, Current::BlankNode(label))
            }
            _ => {
                let triple = self.triples.next(bytes)?.unwrap_or_default();
                self.current = Current::Triple(triple, self.nested);
                self.add_term(bytes, terms)?;
                return Ok(self.term);
            }
        };
        if REPEATED {
            (self.term, self.current) = (term, current);
            self.batch = terms.builder.serial();
        }
        Ok(term)
    }

    /// Adds the term of the current value to the batch.
    fn add_term<R: Record>(&mut self, bytes: &[u8], terms: &mut TermReader<R>) -> Checked<()> {
        self.term = match &self.current {
            Current::None => TermId::DEFAULT_GRAPH,
            Current::Iri(ids) => terms.iri_of(ids.prefix, ids.name)?,
            Current::BlankNode(label) => bnode(bytes, label.clone(), terms)?,
            Current::Literal(lexical, kind) => {
                let (lexical, kind) = (lexical.clone(), *kind);
                self.literal(lexical, kind, bytes, terms)?
            }
            Current::Triple(triple, state) => {
                let (triple, mut state) = (triple.clone(), *state);
                let added = add_triple(bytes, &[triple], &mut state, terms);
                let term = added.map_err(|fault| fault.error)?;
                self.nested = state;
                term
            }
        };
        self.batch = terms.builder.serial();
        Ok(())
    }

    #[inline]
    fn literal<R: Record>(
        &mut self,
        lexical: Range<usize>,
        kind: u32,
        bytes: &[u8],
        terms: &mut TermReader<R>,
    ) -> Checked<TermId> {
        let text = Excerpt::new(bytes, lexical.start, lexical.len()).ok_or_else(unchecked)?;
        let flags = scan::lexical_excerpt(text)
            .ok_or_else(|| invalid_utf8_error(text.text(), "a lexical form"))?;
        let (kind, aux, direction) = if kind == 0 {
            (TermKind::Literal, TermId::DEFAULT_GRAPH, 0)
        } else if kind % 2 == 1 {
            let (kind, datatype) = terms.datatype(kind / 2 + 1)?;
            (kind, datatype, 0)
        } else {
            let Some(tag) = self.column.tags.get_mut(kind as usize / 2 - 1) else {
                return Err(unchecked());
            };
            if tag.batch != terms.builder.serial() {
                tag.term = language(&bytes[tag.text.clone()], terms)?;
                tag.batch = terms.builder.serial();
            }
            (TermKind::LangLiteral, tag.term, tag.direction())
        };
        Ok(terms.add_excerpt(text, kind, aux.0, flags | direction)?)
    }
}

/// Returns the error for a value that [`Column::open`] should have rejected.
#[cold]
fn unchecked() -> WireError {
    WireError::new(ErrorClass::Internal, "a column was not checked")
}

#[inline]
fn bnode<R: Record>(
    bytes: &[u8],
    label: Range<usize>,
    terms: &mut TermReader<R>,
) -> Checked<TermId> {
    if let Some(labels) = &mut terms.labels {
        let (prefix, rest) = labels.split(&bytes[label]);
        let text = [prefix, rest].concat();
        let flags =
            scan::label(&text).ok_or_else(|| invalid_utf8_error(&text, "a blank node label"))?;
        return Ok(terms
            .builder
            .add_simple(TermKind::BlankNode, &text, flags)?);
    }
    let text = Excerpt::new(bytes, label.start, label.len()).ok_or_else(unchecked)?;
    let flags = scan::label(text.text())
        .ok_or_else(|| invalid_utf8_error(text.text(), "a blank node label"))?;
    Ok(terms.add_excerpt(text, TermKind::BlankNode, 0, flags)?)
}

/// Adds a language tag. Unlike in the row layout, its direction is not part of it.
fn language<R: Record>(tag: &[u8], terms: &mut TermReader<R>) -> Checked<TermId> {
    let flags = scan::language(tag).ok_or_else(|| invalid_utf8_error(tag, "a language tag"))?;
    Ok(terms.builder.add_simple(TermKind::Language, tag, flags)?)
}

/// Adds a triple term. Recursion is limited, because the column was checked.
fn add_triple<R: Record>(
    bytes: &[u8],
    pieces: &[Range<usize>],
    state: &mut IriState,
    terms: &mut TermReader<R>,
) -> Located<TermId> {
    let mut ids = [TermId::DEFAULT_GRAPH; 3];
    for (id, part) in ids.iter_mut().zip(triples::parts(bytes, pieces)?) {
        let start = triples::start_of(&part.pieces);
        let added = match part.field {
            O_TRIPLE => {
                *id = add_triple(bytes, &part.pieces, state, terms)?;
                continue;
            }
            S_BNODE | O_BNODE => {
                let label = part.pieces.last().cloned().unwrap_or_default();
                bnode(bytes, label, terms)
            }
            O_LITERAL => add_literal(bytes, triples::literal(bytes, &part.pieces)?, terms),
            _ => {
                triples::iri(bytes, &part.pieces, state)?;
                terms.iri_of(state.prefix, state.name)
            }
        };
        *id = super::fields::Locate::locate(added, start)?;
    }
    let added = terms.builder.add_triple_term(ids).map_err(Into::into);
    super::fields::Locate::locate(added, triples::start_of(pieces))
}

/// Adds a literal of a triple term.
fn add_literal<R: Record>(
    bytes: &[u8],
    literal: triples::LiteralParts,
    terms: &mut TermReader<R>,
) -> Checked<TermId> {
    let lexical = &bytes[literal.lexical];
    let flags =
        scan::lexical(lexical).ok_or_else(|| invalid_utf8_error(lexical, "a lexical form"))?;
    let (kind, aux) = match (literal.tag, literal.datatype) {
        (Some(tag), _) => (TermKind::LangLiteral, language(&bytes[tag], terms)?),
        (None, Some(datatype)) => terms.datatype(datatype)?,
        (None, None) => (TermKind::Literal, TermId::DEFAULT_GRAPH),
    };
    let flags = flags | direction_flag(literal.direction);
    Ok(terms.builder.add_with_aux(kind, lexical, aux.0, flags)?)
}

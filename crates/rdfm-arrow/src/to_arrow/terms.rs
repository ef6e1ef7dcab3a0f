//! Builder of term columns, with terms as canonical N-Triples or as structs.
//!
//! - In: term ids of batches. Out: one value for each id, in one of several columns.
//! - Cost: for N-Triples, a term is rendered once per batch, and repetitions copy the rendered
//!   bytes. For structs, the text is copied from the batch, and only triple terms are rendered.

use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_schema::ArrowError;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind, XSD_STRING, flags};
use rdfm_core::model::write::{write_label, write_language, write_term};

use super::limit::{BuildError, charge};
use super::texts::{Texts, empty_like, nulls};
use crate::schema::{RDF_DIR_LANG_STRING, RDF_LANG_STRING, TermLayout, term_fields};

/// Positions of the rendered forms of a batch's terms in the rows under construction.
#[derive(Default)]
pub struct RenderedTerms {
    terms: Vec<RenderedTerm>,
    /// Incremented when the rows are returned or another batch begins, to invalidate all older
    /// positions at once.
    generation: u32,
}

#[derive(Clone, Copy, Default)]
struct RenderedTerm {
    generation: u32,
    column: u32,
    start: u32,
    length: u32,
}

impl RenderedTerms {
    /// Creates the positions for a batch.
    pub fn new(table: &TermTable) -> Self {
        let mut places = Self::default();
        places.begin_batch(table);
        places
    }

    /// Starts another batch.
    pub fn begin_batch(&mut self, table: &TermTable) {
        self.invalidate();
        if self.terms.len() < table.terms().len() {
            self.terms
                .resize(table.terms().len(), RenderedTerm::default());
        }
    }

    /// Invalidates all positions. Must be called when the rows are returned.
    pub const fn invalidate(&mut self) {
        self.generation += 1;
    }
}

/// A builder of term columns.
pub struct TermColumns {
    /// Terms as N-Triples, or the values of structs.
    texts: Vec<Texts>,
    /// Validity of the values, for columns with nulls.
    valid: Vec<Vec<bool>>,
    /// Other struct fields of each column; empty for N-Triples.
    details: Vec<Details>,
}

impl TermColumns {
    /// Creates `count` columns without terms.
    pub fn new(count: usize, terms: TermLayout) -> Self {
        let details = match terms {
            TermLayout::NTriples => 0,
            TermLayout::Structs => count,
        };
        Self {
            texts: (0..count).map(|_| Texts::new()).collect(),
            valid: vec![Vec::new(); count],
            details: (0..details).map(|_| Details::default()).collect(),
        }
    }

    /// Creates the same columns without terms, with capacity for about the same number of terms.
    pub fn empty_like(&self) -> Self {
        Self {
            texts: self.texts.iter().map(Texts::empty_like).collect(),
            valid: self.valid.iter().map(|valid| empty_like(valid)).collect(),
            details: self.details.iter().map(Details::empty_like).collect(),
        }
    }

    /// Returns the number of columns.
    pub const fn count(&self) -> usize {
        self.texts.len()
    }

    /// Returns the number of terms in the first column.
    pub fn len(&self) -> usize {
        self.texts.first().map_or(0, Texts::len)
    }

    /// Adds a term to one of the columns, and adds the size of its strings to `bytes`, the total
    /// of the record batch.
    #[inline]
    pub fn add(
        &mut self,
        table: &TermTable,
        column: usize,
        id: TermId,
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError> {
        if let Some(details) = self.details.get_mut(column) {
            return details.add(&mut self.texts[column], table, id, bytes);
        }
        let columns = &mut self.texts[..];
        let slot = places.terms[id.index()];
        if slot.generation == places.generation {
            let range = slot.start as usize..(slot.start + slot.length) as usize;
            charge(bytes, range.len())?;
            if slot.column as usize == column {
                columns[column].values_mut().extend_from_within(range);
            } else if let Ok([from, to]) = columns.get_disjoint_mut([slot.column as usize, column])
            {
                to.values_mut().extend_from_slice(&from.values_mut()[range]);
            }
        } else {
            let values = columns[column].values_mut();
            let start = values.len();
            write_term(table, id, values);
            let length = values.len() - start;
            charge(bytes, length)?;
            places.terms[id.index()] = RenderedTerm {
                generation: places.generation,
                column: column as u32,
                start: start as u32,
                length: length as u32,
            };
        }
        columns[column].end();
        Ok(())
    }

    /// Adds a term, or null for the default graph, to a column that is not filled by
    /// [`add`](Self::add).
    #[inline]
    pub fn add_optional(
        &mut self,
        table: &TermTable,
        column: usize,
        id: TermId,
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError> {
        let is_present = id != TermId::DEFAULT_GRAPH;
        self.valid[column].push(is_present);
        if is_present {
            return self.add(table, column, id, places, bytes);
        }
        self.texts[column].end();
        if let Some(details) = self.details.get_mut(column) {
            details.kinds.push(StructKind::None);
        }
        Ok(())
    }

    /// Keeps the first `count` terms of each column.
    pub fn truncate(&mut self, count: usize) {
        for texts in &mut self.texts {
            texts.truncate(count);
        }
        for valid in &mut self.valid {
            valid.truncate(count);
        }
        for details in &mut self.details {
            details.truncate(count);
        }
    }

    /// Returns the arrays.
    pub fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut details = self.details.into_iter();
        let columns = self.texts.into_iter().zip(self.valid);
        let array = |(texts, valid): (Texts, Vec<bool>)| -> Result<ArrayRef, ArrowError> {
            match details.next() {
                None => Ok(Arc::new(texts.into_strings(nulls(valid))?)),
                Some(details) => Ok(Arc::new(details.finish(texts, valid)?)),
            }
        };
        columns.map(array).collect()
    }
}

/// Kind of a term, including the direction of a literal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StructKind {
    None,
    Iri,
    BlankNode,
    Literal,
    LeftToRight,
    RightToLeft,
    TripleTerm,
}

impl StructKind {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Iri => "iri",
            Self::BlankNode => "blank node",
            Self::Literal | Self::LeftToRight | Self::RightToLeft => "literal",
            Self::TripleTerm => "triple term",
        }
    }

    const fn direction(self) -> Option<&'static str> {
        match self {
            Self::LeftToRight => Some("ltr"),
            Self::RightToLeft => Some("rtl"),
            _ => None,
        }
    }
}

/// The struct fields of one column, without the value.
#[derive(Default)]
struct Details {
    kinds: Vec<StructKind>,
    datatypes: Sparse,
    languages: Sparse,
}

/// Maximum size of a term's kind and direction, in bytes.
const MAX_KIND_BYTES: usize = 14;

impl Details {
    fn empty_like(&self) -> Self {
        Self {
            kinds: empty_like(&self.kinds),
            ..Self::default()
        }
    }

    fn truncate(&mut self, count: usize) {
        self.kinds.truncate(count);
        self.datatypes.truncate(count);
        self.languages.truncate(count);
    }

    fn add(
        &mut self,
        texts: &mut Texts,
        table: &TermTable,
        id: TermId,
        bytes: &mut usize,
    ) -> Result<(), BuildError> {
        let index = texts.len();
        let term = table.term(id);
        let text = table.text_of(term);
        charge(bytes, MAX_KIND_BYTES + text.len())?;
        let values = texts.values_mut();
        let kind = match term.kind {
            TermKind::TripleTerm => {
                let start = values.len();
                write_term(table, id, values);
                charge(bytes, values.len() - start)?;
                StructKind::TripleTerm
            }
            TermKind::BlankNode => {
                // Write the label as N-Triples, then remove the leading `_:`.
                let start = values.len();
                write_label(text, term.flags & flags::PLAIN != 0, values);
                values.drain(start..start + 2);
                charge(bytes, (values.len() - start).saturating_sub(text.len()))?;
                StructKind::BlankNode
            }
            TermKind::Literal => {
                values.extend_from_slice(text);
                self.datatypes.add(index, XSD_STRING, bytes)?;
                StructKind::Literal
            }
            TermKind::TypedLiteral => {
                values.extend_from_slice(text);
                let datatype = table.text(TermId(term.aux));
                self.datatypes.add(index, datatype, bytes)?;
                StructKind::Literal
            }
            TermKind::LangLiteral => {
                values.extend_from_slice(text);
                let tag = table.term(TermId(term.aux));
                let mut ntriples = Vec::new();
                write_language(
                    table.text_of(tag),
                    tag.flags & flags::PLAIN != 0,
                    &mut ntriples,
                );
                self.languages.add(index, &ntriples[1..], bytes)?;
                let (kind, datatype) = if term.flags & flags::LTR != 0 {
                    (StructKind::LeftToRight, RDF_DIR_LANG_STRING)
                } else if term.flags & flags::RTL != 0 {
                    (StructKind::RightToLeft, RDF_DIR_LANG_STRING)
                } else {
                    (StructKind::Literal, RDF_LANG_STRING)
                };
                self.datatypes.add(index, datatype, bytes)?;
                kind
            }
            TermKind::Iri | TermKind::DefaultGraph | TermKind::Language => {
                values.extend_from_slice(text);
                StructKind::Iri
            }
        };
        texts.end();
        self.kinds.push(kind);
        Ok(())
    }

    fn finish(self, texts: Texts, valid: Vec<bool>) -> Result<StructArray, ArrowError> {
        let count = self.kinds.len();
        let nulls = nulls(valid);
        let mut kinds = Texts::new();
        let mut directions = Sparse::default();
        for (index, kind) in self.kinds.iter().enumerate() {
            kinds.add(kind.name().as_bytes());
            if let Some(direction) = kind.direction() {
                directions.push(index, direction.as_bytes());
            }
        }
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(kinds.into_strings(nulls.clone())?),
            Arc::new(texts.into_strings(nulls.clone())?),
            self.datatypes.finish(count)?,
            self.languages.finish(count)?,
            directions.finish(count)?,
        ];
        StructArray::try_new(term_fields(), arrays, nulls)
    }
}

/// A column of strings that may be mostly null.
#[derive(Default)]
struct Sparse {
    texts: Option<(Texts, Vec<bool>)>,
}

impl Sparse {
    /// Sets the value of a row. Rows must be set in ascending order.
    fn add(&mut self, index: usize, text: &[u8], bytes: &mut usize) -> Result<(), BuildError> {
        charge(bytes, text.len())?;
        self.push(index, text);
        Ok(())
    }

    fn push(&mut self, index: usize, text: &[u8]) {
        let (texts, valid) = self.texts.get_or_insert_with(|| (Texts::new(), Vec::new()));
        texts.fill(index);
        texts.add(text);
        valid.resize(index, false);
        valid.push(true);
    }

    fn truncate(&mut self, count: usize) {
        if let Some((texts, valid)) = &mut self.texts {
            texts.truncate(count);
            valid.truncate(count);
        }
    }

    fn finish(self, count: usize) -> Result<ArrayRef, ArrowError> {
        let (mut texts, mut valid) = self.texts.unwrap_or_else(|| (Texts::new(), Vec::new()));
        texts.fill(count);
        valid.resize(count, false);
        Ok(Arc::new(texts.into_strings(nulls(valid))?))
    }
}

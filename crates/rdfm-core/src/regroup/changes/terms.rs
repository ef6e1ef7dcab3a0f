//! Terms by value, each once, whatever batch they come from.
//!
//! - In: terms of batches. Out: numbers, equal for equal terms; and terms of batches that are built.
//! - Cost: a look-up a distinct term of a batch; a term is held once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::builder::LogBuilder;
use crate::model::error::LimitExceeded;
use crate::model::record::Record;
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind, flags};

/// The number of a term; 0 is the default graph.
pub type Number = u32;

/// Kind, flags and a number: of the datatype or tag.
const HEAD: usize = 6;

/// What a number stands for.
struct Value {
    /// Kind, direction, the number of the datatype or tag, and the text; of a triple term the numbers of its parts in
    /// place of the text.
    key: Arc<[u8]>,
    /// [`flags::PLAIN`], if that is known. It is no part of the key, since some codecs do not say it of terms of which
    /// others do.
    plain: u8,
}

/// Terms by value.
#[derive(Default)]
pub struct Terms {
    numbers: FxHashMap<Arc<[u8]>, Number>,
    values: Vec<Value>,
    /// The numbers of a batch's terms, from 1 on; 0 is unknown.
    known: Vec<Number>,
    key: Vec<u8>,
}

impl Terms {
    /// Ids mean other terms than before.
    pub fn begin_batch(&mut self, table: &TermTable) {
        self.known.clear();
        self.known.resize(table.terms().len(), 0);
    }

    /// The number of a term. Recursion is as deep as triple terms nest.
    ///
    /// # Errors
    /// There are more than 2^32 terms.
    pub fn number(&mut self, table: &TermTable, id: TermId) -> Result<Number, LimitExceeded> {
        if id == TermId::DEFAULT_GRAPH {
            return Ok(0);
        }
        let known = self.known[id.index()];
        if known != 0 {
            return Ok(known);
        }
        let term = table.term(id);
        let aux = match term.kind {
            TermKind::LangLiteral | TermKind::TypedLiteral => {
                self.number(table, TermId(term.aux))?
            }
            _ => 0,
        };
        let parts = match term.kind {
            TermKind::TripleTerm => {
                let [subject, predicate, object] = table.triple(term);
                Some([
                    self.number(table, subject)?,
                    self.number(table, predicate)?,
                    self.number(table, object)?,
                ])
            }
            _ => None,
        };
        self.key.clear();
        let plain = term.flags & flags::PLAIN;
        self.key
            .extend_from_slice(&[term.kind as u8, term.flags & !flags::PLAIN]);
        self.key.extend_from_slice(&aux.to_le_bytes());
        match parts {
            Some(parts) => parts
                .iter()
                .for_each(|part| self.key.extend_from_slice(&part.to_le_bytes())),
            None => self.key.extend_from_slice(table.text_of(term)),
        }
        let number = if let Some(number) = self.numbers.get(self.key.as_slice()) {
            *number
        } else {
            let key: Arc<[u8]> = self.key.as_slice().into();
            let number = Number::try_from(self.values.len() + 1)
                .map_err(|_| LimitExceeded("more than 4,294,967,295 terms".into()))?;
            self.values.push(Value {
                key: Arc::clone(&key),
                plain,
            });
            self.numbers.insert(key, number);
            number
        };
        self.known[id.index()] = number;
        Ok(number)
    }
}

/// The copies of terms in a builder's batch.
#[derive(Default)]
pub struct Copies {
    /// Serial of the batch, and id in it.
    made: Vec<(u32, TermId)>,
}

impl Copies {
    /// A term in the builder's batch, uncounted. Recursion is as deep as triple terms nest.
    pub fn of<R: Record>(
        &mut self,
        terms: &Terms,
        number: Number,
        builder: &mut LogBuilder<R>,
    ) -> Result<TermId, LimitExceeded> {
        if number == 0 {
            return Ok(TermId::DEFAULT_GRAPH);
        }
        if self.made.len() < terms.values.len() {
            self.made
                .resize(terms.values.len(), (0, TermId::DEFAULT_GRAPH));
        }
        let at = number as usize - 1;
        let (serial, id) = self.made[at];
        if serial == builder.serial() {
            return Ok(id);
        }
        let Value { key: value, plain } = &terms.values[at];
        let (kind, flags, rest) = (kind(value[0]), value[1] | plain, &value[HEAD..]);
        let numbered = |at: usize| {
            let bytes: [u8; 4] = value[at..at + 4].try_into().unwrap_or_default();
            Number::from_le_bytes(bytes)
        };
        let id = if kind == TermKind::TripleTerm {
            let mut parts = [TermId::DEFAULT_GRAPH; 3];
            for (place, part) in parts.iter_mut().enumerate() {
                *part = self.of(terms, numbered(HEAD + 4 * place), builder)?;
            }
            builder.add_triple_term(parts)?
        } else {
            let aux = self.of(terms, numbered(2), builder)?;
            builder.add_with_aux(kind, rest, aux.0, flags)?
        };
        self.made[at] = (builder.serial(), id);
        Ok(id)
    }
}

/// The kind that a byte stands for.
fn kind(byte: u8) -> TermKind {
    [
        TermKind::Iri,
        TermKind::Bnode,
        TermKind::Literal,
        TermKind::LangLiteral,
        TermKind::TypedLiteral,
        TermKind::Language,
        TermKind::TripleTerm,
    ]
    .into_iter()
    .find(|kind| *kind as u8 == byte)
    .unwrap_or(TermKind::DefaultGraph)
}

//! Terms of the previous statement. They outlive their batch, because the next batch may repeat
//! them.
//!
//! - In: a term of a table.
//! - Out: the same term in another builder, or the result of a comparison with a term of another
//!   table.
//! - Cost: copies of at most four terms per batch.

use crate::model::builder::LogBuilder;
use crate::model::error::LimitExceeded;
use crate::model::record::Record;
use crate::model::table::TermTable;
use crate::model::term::{Term, TermId, TermKind, flags};

/// A term that owns its memory. Recursion is limited by the nesting limit of the decoder.
#[derive(Clone, Debug)]
pub(super) struct OwnedTerm {
    record: Term,
    text: Box<[u8]>,
    aux: Option<Box<OwnedTerm>>,
    triple: Option<Box<[OwnedTerm; 3]>>,
}

impl OwnedTerm {
    pub fn new(table: &TermTable, id: TermId) -> Self {
        let record = table.term(id);
        let aux = matches!(record.kind, TermKind::LangLiteral | TermKind::TypedLiteral)
            .then(|| Box::new(Self::new(table, TermId(record.aux))));
        let triple = (record.kind == TermKind::TripleTerm)
            .then(|| Box::new(table.triple(record).map(|part| Self::new(table, part))));
        Self {
            record,
            text: table.text_of(record).into(),
            aux,
            triple,
        }
    }

    pub fn kind(&self) -> TermKind {
        self.record.kind
    }

    /// Adds the term to another batch.
    pub fn add<R: Record>(&self, builder: &mut LogBuilder<R>) -> Result<TermId, LimitExceeded> {
        if self.record.kind == TermKind::DefaultGraph {
            return Ok(TermId::DEFAULT_GRAPH);
        }
        if let Some(triple) = &self.triple {
            let [s, p, o] = triple.as_ref();
            let triple = [s.add(builder)?, p.add(builder)?, o.add(builder)?];
            return builder.add_triple_term(triple);
        }
        let aux = match &self.aux {
            Some(aux) => aux.add(builder)?.0,
            None => self.record.aux,
        };
        let span = builder.add_text(&self.text)?;
        builder.add_term(Term {
            offset: span.offset,
            aux,
            ..self.record
        })
    }

    /// Whether a term of a table equals this term.
    pub fn equals(&self, table: &TermTable, id: TermId) -> bool {
        let other = table.term(id);
        if self.record.kind != other.kind || self.record.length != other.length {
            return false;
        }
        let directions = flags::LTR | flags::RTL;
        (self.record.kind != TermKind::LangLiteral
            || self.record.flags & directions == other.flags & directions)
            && *self.text == *table.text_of(other)
            && self
                .aux
                .as_ref()
                .is_none_or(|aux| aux.equals(table, TermId(other.aux)))
            && self.triple.as_ref().is_none_or(|triple| {
                triple
                    .iter()
                    .zip(table.triple(other))
                    .all(|(part, id)| part.equals(table, id))
            })
    }
}

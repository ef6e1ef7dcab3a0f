//! Whether a term is wanted.

use std::str::FromStr;

use memchr::memmem::Finder;
use oxsdatatypes::{Date, DateTime};
use rdfm_core::formats::nquads::parse_term;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::remedy::Reason;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};
use regex::bytes::Regex;

/// Deepest nesting of triple terms in what is asked for.
const MAX_DEPTH: u32 = 64;
const XSD: &[u8] = b"http://www.w3.org/2001/XMLSchema#";

/// A term that is asked for.
pub struct Wanted {
    builder: BatchBuilder,
    id: TermId,
}

impl Wanted {
    /// The term that an N-Triples text says.
    ///
    /// # Errors
    /// It says none, or a blank node.
    pub fn new(text: &str) -> Result<Self, Reason> {
        let mut builder = BatchBuilder::within_2_gib();
        let id = parse_term(&mut builder, text.as_bytes(), MAX_DEPTH)?;
        Ok(Self { builder, id })
    }

    fn is(&self, table: &TermTable, id: TermId) -> bool {
        table.same_term(id, self.builder.table(), self.id)
    }
}

/// A range of moments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Period {
    /// The first one in it.
    pub from: Option<DateTime>,
    /// The first one behind it.
    pub until: Option<DateTime>,
}

impl Period {
    fn holds(&self, moment: DateTime) -> bool {
        self.from.is_none_or(|from| moment >= from) && self.until.is_none_or(|until| moment < until)
    }
}

/// The moment that a text of xsd:dateTime or xsd:date says; without a time zone it is of UTC.
pub fn moment(text: &str) -> Option<DateTime> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let zoned = |text: &str| {
        let at = text.len().checked_sub(6);
        text.ends_with('Z')
            || at
                .and_then(|at| text.get(at..))
                .is_some_and(|end| end.starts_with(['+', '-']) && end.as_bytes()[3] == b':')
    };
    let text = if zoned(text) {
        text.to_owned()
    } else {
        format!("{text}Z")
    };
    DateTime::from_str(&text)
        .ok()
        .or_else(|| Date::from_str(&text).ok()?.try_into().ok())
}

/// What is asked of a term.
pub enum Test {
    /// That it is this one.
    Is(Box<Wanted>),
    /// That it is the IRI of a prefixed name, by its number.
    Named(usize),
    /// That it is the default graph.
    DefaultGraph,
    /// That it is a literal whose lexical form holds a text.
    Contains(Finder<'static>),
    /// That it is a literal whose lexical form holds what an expression describes.
    Matches(Regex),
    /// That it is a literal of a moment in a range.
    Within(Period),
}

impl Test {
    /// Whether a term is wanted. `names` are the IRIs of prefixed names, by their numbers; None where no namespace is
    /// declared for one.
    pub fn holds(&self, table: &TermTable, id: TermId, names: &[Option<Vec<u8>>]) -> bool {
        let term = table.term(id);
        match self {
            Self::Is(wanted) => wanted.is(table, id),
            Self::Named(number) => {
                term.kind == TermKind::Iri
                    && names
                        .get(*number)
                        .and_then(Option::as_deref)
                        .is_some_and(|iri| iri == table.text_of(term))
            }
            Self::DefaultGraph => id == TermId::DEFAULT_GRAPH,
            Self::Contains(finder) => {
                is_literal(term.kind) && finder.find(table.text_of(term)).is_some()
            }
            Self::Matches(regex) => is_literal(term.kind) && regex.is_match(table.text_of(term)),
            Self::Within(period) => {
                term.kind == TermKind::TypedLiteral
                    && matches!(
                        table.text(TermId(term.aux)).strip_prefix(XSD),
                        Some(b"dateTime" | b"date" | b"dateTimeStamp")
                    )
                    && std::str::from_utf8(table.text_of(term))
                        .ok()
                        .and_then(moment)
                        .is_some_and(|moment| period.holds(moment))
            }
        }
    }

    /// Whether a term in a triple term is wanted.
    pub fn within(&self, table: &TermTable, id: TermId, names: &[Option<Vec<u8>>]) -> bool {
        let term = table.term(id);
        term.kind == TermKind::TripleTerm
            && table
                .triple(term)
                .into_iter()
                .any(|part| self.holds(table, part, names) || self.within(table, part, names))
    }
}

const fn is_literal(kind: TermKind) -> bool {
    matches!(
        kind,
        TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral
    )
}

//! Tests that filter conditions apply to terms.

use std::str::FromStr;

use memchr::memmem::Finder;
use oxsdatatypes::{Date, DateTime, DayTimeDuration, Decimal};
use rdfm_core::formats::nquads::parse_term;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::remedy::Reason;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};
use rdfm_core::syntax::moment;
use regex::bytes::Regex;

/// Maximum nesting depth of triple terms in a condition.
const MAX_DEPTH: u32 = 64;
const XSD: &[u8] = b"http://www.w3.org/2001/XMLSchema#";

/// A term with which other terms are compared.
pub struct FilterTerm {
    builder: BatchBuilder,
    id: TermId,
}

impl FilterTerm {
    /// Parses a term in N-Triples syntax.
    ///
    /// # Errors
    /// If the text is not a valid term.
    pub fn new(text: &str) -> Result<Self, Reason> {
        let mut builder = BatchBuilder::within_2_gib();
        let id = parse_term(&mut builder, text.as_bytes(), MAX_DEPTH)?;
        Ok(Self { builder, id })
    }

    /// The kind of the term, and the length of its text.
    fn shape(&self) -> (TermKind, u32) {
        let term = self.builder.table().term(self.id);
        (term.kind, term.length)
    }

    fn is(&self, table: &TermTable, id: TermId) -> bool {
        table.is_same_term(id, self.builder.table(), self.id)
    }
}

/// A moment in UTC, in microseconds if they can represent it exactly.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Moment {
    /// Microseconds since 1970-01-01T00:00:00Z.
    Micros(i64),
    /// A moment that microseconds cannot represent.
    Other(DateTime),
}

impl Moment {
    fn from_date_time(moment: DateTime) -> Self {
        let micros = || {
            const PARTS: i128 = 1_000_000_000_000;
            let since = moment.checked_sub(epoch()?)?.as_seconds();
            let parts = i128::from_be_bytes(since.to_be_bytes());
            (parts % PARTS == 0).then(|| (parts / PARTS).try_into().ok())?
        };
        micros().map_or(Self::Other(moment), Self::Micros)
    }

    fn is_before(self, right: Self) -> bool {
        match (self, right) {
            (Self::Micros(left), Self::Micros(right)) => left < right,
            (left, right) => left.exact() < right.exact(),
        }
    }

    /// Returns the exact date and time.
    pub fn exact(self) -> Option<DateTime> {
        match self {
            Self::Other(moment) => Some(moment),
            Self::Micros(micros) => {
                let seconds = Decimal::new(micros.into(), 6).ok()?;
                epoch()?.checked_add_day_time_duration(DayTimeDuration::new(seconds))
            }
        }
    }
}

fn epoch() -> Option<DateTime> {
    DateTime::from_str("1970-01-01T00:00:00Z").ok()
}

/// A range of moments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Period {
    /// Start of the range, inclusive.
    pub from: Option<Moment>,
    /// End of the range, exclusive.
    pub until: Option<Moment>,
}

impl Period {
    fn contains(&self, moment: Moment) -> bool {
        self.from.is_none_or(|from| !moment.is_before(from))
            && self.until.is_none_or(|until| moment.is_before(until))
    }
}

/// Parses an xsd:dateTime or xsd:date. UTC is the default time zone.
pub fn parse_moment(text: &str) -> Option<Moment> {
    let common = moment::micros(text.as_bytes()).map(Moment::Micros);
    common.or_else(|| other_moment(text).map(Moment::from_date_time))
}

fn other_moment(text: &str) -> Option<DateTime> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let zoned = |text: &str| {
        let index = text.len().checked_sub(6);
        text.ends_with('Z')
            || index
                .and_then(|index| text.get(index..))
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

/// Returns the name of a literal's datatype if it is a date or time: xsd:dateTime,
/// xsd:dateTimeStamp or xsd:date.
pub fn time_type(table: &TermTable, id: TermId) -> Option<&[u8]> {
    let term = table.term(id);
    if term.kind != TermKind::TypedLiteral {
        return None;
    }
    let name = table.text(TermId(term.aux)).strip_prefix(XSD)?;
    matches!(name, b"dateTime" | b"date" | b"dateTimeStamp").then_some(name)
}

/// A test of a term.
pub enum Test {
    /// The term equals this term.
    Is(Box<FilterTerm>),
    /// The term equals one of these terms.
    OneOf(Vec<FilterTerm>),
    /// The term is the IRI of the prefixed name with this number.
    Named(usize),
    /// The term is the default graph.
    DefaultGraph,
    /// The term is a literal whose lexical form contains a string.
    Contains(Box<Finder<'static>>),
    /// The term is a literal whose lexical form matches a regular expression.
    Matches(Regex),
    /// The term is a literal with a date or time in this range.
    Within(Period),
}

impl Test {
    /// Whether a term passes the test. `names` contains the IRIs of prefixed names by number. An
    /// IRI is `None` if the namespace is not declared.
    pub fn matches(&self, table: &TermTable, id: TermId, names: &[Option<Vec<u8>>]) -> bool {
        let term = table.term(id);
        match self {
            Self::Is(wanted) => wanted.is(table, id),
            Self::OneOf(wanted) => wanted.iter().any(|wanted| wanted.is(table, id)),
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
            Self::Within(period) => is_within(table, id, *period),
        }
    }

    /// Whether the test is cheap enough to apply it to all terms of a batch in advance.
    pub const fn is_cheap(&self) -> bool {
        matches!(
            self,
            Self::Is(_) | Self::OneOf(_) | Self::Named(_) | Self::DefaultGraph
        )
    }

    /// Adds the terms that pass the test. If `deep` is true, also adds the triple terms that
    /// contain such terms.
    pub fn find(
        &self,
        table: &TermTable,
        names: &[Option<Vec<u8>>],
        deep: bool,
        term_ids: &mut Vec<TermId>,
    ) {
        match self {
            Self::DefaultGraph => term_ids.push(TermId::DEFAULT_GRAPH),
            Self::Is(wanted) => {
                let shape = wanted.shape();
                self.find_shaped(table, names, deep, term_ids, |other| other == shape);
            }
            Self::OneOf(wanted) => {
                let shapes: Vec<_> = wanted.iter().map(FilterTerm::shape).collect();
                self.find_shaped(table, names, deep, term_ids, |other| {
                    shapes.contains(&other)
                });
            }
            Self::Named(number) => {
                if let Some(iri) = names.get(*number).and_then(Option::as_deref) {
                    let shape = (TermKind::Iri, iri.len() as u32);
                    self.find_shaped(table, names, deep, term_ids, |other| other == shape);
                }
            }
            _ => {}
        }
    }

    /// Adds the terms that pass the test, as `find` does. Others differ in their kind or length.
    #[inline]
    fn find_shaped(
        &self,
        table: &TermTable,
        names: &[Option<Vec<u8>>],
        deep: bool,
        term_ids: &mut Vec<TermId>,
        has_shape: impl Fn((TermKind, u32)) -> bool,
    ) {
        for (number, term) in table.terms().iter().enumerate() {
            let id = TermId(number as u32);
            if (has_shape((term.kind, term.length)) && self.matches(table, id, names))
                || (deep
                    && term.kind == TermKind::TripleTerm
                    && self.part_matches(table, id, names))
            {
                term_ids.push(id);
            }
        }
    }

    /// Whether a term inside a triple term passes the test.
    fn part_matches(&self, table: &TermTable, id: TermId, names: &[Option<Vec<u8>>]) -> bool {
        let term = table.term(id);
        term.kind == TermKind::TripleTerm
            && table.triple(term).into_iter().any(|part| {
                self.matches(table, part, names) || self.part_matches(table, part, names)
            })
    }
}

/// Whether a term is a literal with a date or time in a period.
pub(super) fn is_within(table: &TermTable, id: TermId, period: Period) -> bool {
    time_type(table, id).is_some()
        && std::str::from_utf8(table.text(id))
            .ok()
            .and_then(parse_moment)
            .is_some_and(|moment| period.contains(moment))
}

const fn is_literal(kind: TermKind) -> bool {
    matches!(
        kind,
        TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral
    )
}

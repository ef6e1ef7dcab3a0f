//! Term order for ORDER BY, MIN and MAX.
//!
//! - In: a query, and terms. Out: the query with its sort expressions replaced by keys, and a key
//!   for each term. Keys are strings whose byte order is the term order.
//! - Law: the order is total and extends the order of SPARQL 1.1, section 15.1. The evaluator's own
//!   comparison is not a total order: it fails for numbers mixed with literals of other datatypes,
//!   and for dates with and without a time zone.
//!
//! Blank nodes sort first, then IRIs, literals and triple terms. Literals are ordered by kind:
//! numbers, dates and times by datatype, durations, booleans, strings, and all others. Literals of
//! the same kind are ordered by value, then by datatype, then by lexical form. Dates and times
//! without a time zone are compared as if they were in UTC. Durations are compared by the time at
//! which they would end if they began in September 1696, the first reference date of XML Schema.

use std::fmt::Write as _;

use oxrdf::{Literal, NamedNode, Term, Variable};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Double, Duration, Float, GDay, GMonth, GMonthDay,
    GYear, GYearMonth, Time, YearMonthDuration,
};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::TermId;
use spareval::{AggregateFunctionAccumulator, ExpressionTerm, QueryEvaluator};
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression,
};

use super::budget;
use super::dictionary::{Content, content, simple};
use super::functions::Calls;
use super::parse::QueryError;
use super::walk::{QueryPart, walk};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Name of the function that converts the value of a variable to a sort key.
const SORTED: &str = "urn:uuid:00000000-0000-0000-0003-000000000000";
const MIN: &str = "urn:uuid:00000000-0000-0000-0004-000000000000";
const MAX: &str = "urn:uuid:00000000-0000-0000-0005-000000000000";
/// End of a string within a key. It sorts below any other string, because NUL is written as
/// [`NUL`].
const END: &str = "\0\0";
const NUL: &str = "\0\u{1}";
/// Seconds per day.
const DAY: i128 = 86_400;
/// Number of units per second in the encoding of `oxsdatatypes`.
const UNIT: i128 = 1_000_000_000_000_000_000;

/// Rewrites a query to sort by keys, and its aggregates to compare keys.
///
/// # Errors
/// If the query is nested too deeply.
pub(super) fn sort_by_keys(pattern: &mut GraphPattern) -> Result<(), QueryError> {
    let mut count = 0;
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        match part {
            QueryPart::Pattern(GraphPattern::OrderBy { inner, expression }) => {
                for by in expression {
                    let (OrderExpression::Asc(by) | OrderExpression::Desc(by)) = by;
                    count += 1;
                    add_key(inner, by, count);
                }
            }
            QueryPart::Pattern(GraphPattern::Group { aggregates, .. }) => {
                for (_, aggregate) in aggregates {
                    compare_by_keys(aggregate);
                }
            }
            _ => {}
        }
        Ok(())
    })
}

/// Replaces an expression with the variable of its key. The expression is evaluated only once for
/// each row, because expressions such as `RAND()` return a different value on each call.
fn add_key(inner: &mut GraphPattern, by: &mut Expression, number: usize) {
    // Variable names in the query cannot contain spaces.
    let mut extend = |name: &str, expression: Expression| {
        let variable = Variable::new_unchecked(format!("{name} {number}"));
        *inner = GraphPattern::Extend {
            inner: Box::new(std::mem::take(inner)),
            variable: variable.clone(),
            expression,
        };
        Expression::Variable(variable)
    };
    let expression = std::mem::replace(by, Expression::Literal(Literal::from("")));
    let value = match expression {
        variable @ Expression::Variable(_) => variable,
        computed => extend("sorted", computed),
    };
    let name = Function::Custom(NamedNode::new_unchecked(SORTED));
    *by = extend("key", Expression::FunctionCall(name, vec![value]));
}

/// Rewrites `MIN` and `MAX` to compare keys. `DISTINCT` is dropped, because duplicate values do not
/// change the result.
fn compare_by_keys(aggregate: &mut AggregateExpression) {
    if let AggregateExpression::FunctionCall { name, distinct, .. } = aggregate {
        let ours = match name {
            AggregateFunction::Min => MIN,
            AggregateFunction::Max => MAX,
            _ => return,
        };
        *name = AggregateFunction::Custom(NamedNode::new_unchecked(ours));
        *distinct = false;
    }
}

/// Adds the functions of this module that a query calls to the evaluator.
pub(super) fn with_order(mut evaluator: QueryEvaluator, calls: &Calls) -> QueryEvaluator {
    let name = NamedNode::new_unchecked;
    if calls.contains(SORTED) {
        let marker = Literal::new_typed_literal("", name(SORTED));
        evaluator =
            evaluator.with_custom_function(name(SORTED), move |_| Some(marker.clone().into()));
    }
    for (extreme, largest) in [(MIN, false), (MAX, true)] {
        if calls.contains(extreme) {
            evaluator = evaluator.with_custom_aggregate_function(name(extreme), move || {
                Box::new(Extreme::new(largest))
            });
        }
    }
    evaluator
}

/// Whether a value represents the key of the last variable that was read.
pub(super) fn is_marker(value: &ExpressionTerm) -> bool {
    matches!(value, ExpressionTerm::OtherTypedLiteral { datatype, .. } if datatype.as_str() == SORTED)
}

/// The smallest or largest value of a group.
struct Extreme {
    is_max: bool,
    /// The value and its key.
    value_and_key: Option<(String, Term)>,
}

impl Extreme {
    const fn new(is_max: bool) -> Self {
        Self {
            is_max,
            value_and_key: None,
        }
    }

    /// Memory used by the value, counted in terms: about twice the size of its key.
    fn weight(&self) -> u64 {
        let length = self.value_and_key.as_ref().map_or(0, |(key, _)| key.len());
        2 + 2 * length as u64 / budget::BYTES
    }
}

impl AggregateFunctionAccumulator for Extreme {
    fn accumulate(&mut self, element: Term) {
        budget::step();
        let key = key(&element);
        let is_better = match &self.value_and_key {
            None => true,
            Some((best, _)) => {
                if self.is_max {
                    key > *best
                } else {
                    key < *best
                }
            }
        };
        if is_better {
            budget::release(self.weight());
            self.value_and_key = Some((key, element));
            budget::acquire(self.weight());
        }
    }

    fn finish(&mut self) -> Option<Term> {
        budget::release(self.weight());
        self.value_and_key.take().map(|(_, term)| term)
    }
}

/// Returns the key of a term.
pub(super) fn key(term: &Term) -> String {
    let mut key = String::new();
    add_term(&mut key, term);
    key
}

/// Returns the key of a term in a term table.
pub(super) fn key_of(table: &TermTable, id: TermId) -> String {
    let mut key = String::new();
    add_id(&mut key, table, id);
    key
}

/// Adds the key of a term. The recursion depth is the nesting depth of triple terms.
fn add_term(key: &mut String, term: &Term) {
    if let Term::Triple(triple) = term {
        key.push('4');
        add_term(key, &triple.subject.clone().into());
        add_term(key, &triple.predicate.clone().into());
        add_term(key, &triple.object);
    } else {
        add(key, simple(term));
    }
}

/// Adds the key of a term in a term table. The recursion depth is the nesting depth of triple
/// terms.
fn add_id(key: &mut String, table: &TermTable, id: TermId) {
    match content(table, id, |part| part.0) {
        Content::Triple(parts) => {
            key.push('4');
            for part in parts {
                add_id(key, table, TermId(part));
            }
        }
        simple => add(key, simple),
    }
}

/// Adds the key of a term that is not a triple term. A key is never a prefix of another key.
fn add(key: &mut String, content: Content<'_>) {
    let text = |text| String::from_utf8_lossy(text);
    match content {
        Content::BlankNode(label) => {
            key.push('1');
            add_text(key, &text(label));
        }
        Content::Iri(iri) => {
            key.push('2');
            add_text(key, &text(iri));
        }
        Content::Plain(value) => {
            key.push_str("3t");
            add_text(key, &text(value));
            key.push('.');
        }
        Content::Tagged(value, tag, direction) => {
            key.push_str("3t");
            add_text(key, &text(value));
            key.push('@');
            add_text(key, &text(tag).to_ascii_lowercase());
            key.push(char::from(b'0' + direction));
        }
        Content::Typed(value, datatype) => {
            let (value, datatype) = (text(value), text(datatype));
            key.push('3');
            let local = datatype.strip_prefix(XSD);
            if local
                .and_then(|local| add_value(key, local, &value))
                .is_none()
            {
                key.push('z');
            }
            add_text(key, &datatype);
            add_text(key, &value);
        }
        Content::DefaultGraph | Content::Triple(_) => {}
    }
}

fn add_text(key: &mut String, text: &str) {
    let mut parts = text.split('\0');
    key.push_str(parts.next().unwrap_or_default());
    for part in parts {
        key.push_str(NUL);
        key.push_str(part);
    }
    key.push_str(END);
}

/// Adds the kind and value of a literal. Returns `None` if the text is invalid for the datatype.
fn add_value(key: &mut String, datatype: &str, text: &str) -> Option<()> {
    match datatype {
        "boolean" => {
            let value: Boolean = text.parse().ok()?;
            key.push_str(if bool::from(value) { "m1" } else { "m0" });
        }
        "float" => add_double(key, f32::from(text.parse::<Float>().ok()?).into()),
        "double" => add_double(key, text.parse::<Double>().ok()?.into()),
        "decimal" => add_decimal(key, text)?,
        "integer" | "byte" | "short" | "int" | "long" | "unsignedByte" | "unsignedShort"
        | "unsignedInt" | "unsignedLong" | "positiveInteger" | "negativeInteger"
        | "nonPositiveInteger" | "nonNegativeInteger" => {
            if text.contains('.') {
                return None;
            }
            add_decimal(key, text)?;
        }
        "dateTime" | "dateTimeStamp" => {
            add_moment(key, 'd', text.parse::<DateTime>().ok()?.to_be_bytes());
        }
        "date" => add_moment(key, 'e', text.parse::<Date>().ok()?.to_be_bytes()),
        "time" => add_moment(key, 'f', text.parse::<Time>().ok()?.to_be_bytes()),
        "gYear" => add_moment(key, 'g', text.parse::<GYear>().ok()?.to_be_bytes()),
        "gYearMonth" => add_moment(key, 'h', text.parse::<GYearMonth>().ok()?.to_be_bytes()),
        "gMonth" => add_moment(key, 'i', text.parse::<GMonth>().ok()?.to_be_bytes()),
        "gMonthDay" => add_moment(key, 'j', text.parse::<GMonthDay>().ok()?.to_be_bytes()),
        "gDay" => add_moment(key, 'k', text.parse::<GDay>().ok()?.to_be_bytes()),
        "duration" => add_duration(key, text.parse().ok()?),
        "yearMonthDuration" => {
            add_duration(key, text.parse::<YearMonthDuration>().ok()?.into());
        }
        "dayTimeDuration" => add_duration(key, text.parse::<DayTimeDuration>().ok()?.into()),
        _ => return None,
    }
    Some(())
}

/// Adds a double. Numbers are first compared by the nearest double, as SPARQL does if one of them
/// is a double. This is consistent with the order of their exact values.
fn add_double(key: &mut String, value: f64) {
    add_nearest(key, value);
    key.push('0');
}

fn add_nearest(key: &mut String, value: f64) {
    // Both zeros are equal, and all NaN values sort last.
    let value = if value == 0.0 { 0.0 } else { value };
    let bits = value.to_bits();
    let ordered = match (value.is_nan(), value.is_sign_negative()) {
        (true, _) => u64::MAX,
        (false, true) => !bits,
        (false, false) => bits | 1 << 63,
    };
    let _ = write!(key, "c{ordered:016x}");
}

/// Adds a decimal number of any length. Returns `None` if the text is not a decimal number.
fn add_decimal(key: &mut String, text: &str) -> Option<()> {
    let is_negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (integer, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut digits = integer.bytes().chain(fraction.bytes());
    if unsigned.trim_start_matches('.').is_empty() || !digits.all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    add_nearest(key, text.parse().ok()?);
    key.push('1');
    let integer = integer.trim_start_matches('0');
    let (digits, zeros) = if integer.is_empty() {
        let digits = fraction.trim_start_matches('0');
        (digits.to_owned(), fraction.len() - digits.len())
    } else {
        (format!("{integer}{fraction}"), 0)
    };
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        key.push('1');
        return Some(());
    }
    // Numbers are ordered by sign, then by the position of the first digit, then by the digits. For
    // negative numbers everything except the sign is inverted.
    let exponent = (1_u64 << 63) + integer.len() as u64 - zeros as u64;
    if is_negative {
        let _ = write!(key, "0{:016x}", !exponent);
        key.extend(digits.bytes().map(|digit| char::from(b'0' + b'9' - digit)));
        key.push('~');
    } else {
        let _ = write!(key, "2{exponent:016x}{digits} ");
    }
    Some(())
}

/// Adds a date or time in the encoding of `oxsdatatypes`: seconds, and a time zone.
fn add_moment(key: &mut String, kind: char, bytes: [u8; 18]) {
    let mut seconds = [0; 16];
    seconds.copy_from_slice(&bytes[..16]);
    key.push(kind);
    add_integer(key, i128::from_be_bytes(seconds));
}

fn add_duration(key: &mut String, value: Duration) {
    let bytes = value.to_be_bytes();
    let (mut months, mut seconds) = ([0; 8], [0; 16]);
    months.copy_from_slice(&bytes[..8]);
    seconds.copy_from_slice(&bytes[8..]);
    let (months, seconds) = (i64::from_be_bytes(months), i128::from_be_bytes(seconds));
    // September is month 8, counted from 0.
    let end = first_day(1696 * 12 + 8 + i128::from(months)) * DAY + seconds.div_euclid(UNIT);
    key.push('l');
    add_integer(key, end);
    add_integer(key, seconds.rem_euclid(UNIT));
    add_integer(key, months.into());
}

/// Day number of the first day of a month in the Gregorian calendar. Months are counted from
/// January of the year 0.
fn first_day(months: i128) -> i128 {
    // Years begin in March here, so that the leap day is the last day of the year.
    let months = months - 2;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5
}

fn add_integer(key: &mut String, value: i128) {
    let ordered = value.cast_unsigned() ^ 1 << 127;
    let _ = write!(key, "{ordered:032x}");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use oxrdf::{BlankNode, Literal, NamedNode, Term, Triple};

    use super::{XSD, key};

    fn typed(datatype: &str, text: &str) -> Term {
        let datatype = NamedNode::new_unchecked(format!("{XSD}{datatype}"));
        Literal::new_typed_literal(text, datatype).into()
    }

    #[test]
    fn term_kinds_are_ordered() {
        let node = NamedNode::new_unchecked("http://e/a");
        let tagged = |tag| Literal::new_language_tagged_literal_unchecked("a", tag).into();
        let triple = |object| Triple::new(node.clone(), node.clone(), object).into();
        let terms: Vec<Term> = vec![
            BlankNode::new_unchecked("a").into(),
            BlankNode::new_unchecked("b").into(),
            node.clone().into(),
            typed("integer", "1"),
            typed("dateTime", "2026-01-01T00:00:00Z"),
            typed("date", "2026-01-01"),
            typed("duration", "P1D"),
            typed("boolean", "false"),
            typed("boolean", "1"),
            Literal::from("").into(),
            Literal::from("a").into(),
            tagged("de"),
            tagged("en"),
            Literal::from("a\0").into(),
            Literal::from("a\0b").into(),
            Literal::from("a\u{1}").into(),
            Literal::from("ab").into(),
            typed("integer", "one"),
            triple(typed("integer", "9")),
            triple(typed("integer", "10")),
        ];
        let keys: Vec<_> = terms.iter().map(key).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:#?}");
    }

    #[test]
    fn numbers_are_ordered_by_exact_value() {
        let numbers = [
            ("double", "-INF"),
            ("decimal", "-123456789012345678901234567890.5"),
            ("integer", "-123456789012345678901234567890"),
            ("integer", "-100"),
            ("decimal", "-12.5"),
            ("decimal", "-12.25"),
            ("decimal", "-0.010"),
            ("decimal", "-0.001"),
            ("double", "-0.0"),
            ("decimal", "0.0"),
            ("decimal", "0.001"),
            ("decimal", "0.01"),
            ("double", "0.1"),
            ("decimal", "0.1"),
            ("decimal", "0.10000000000000000001"),
            ("float", "0.1"),
            ("decimal", "1.0"),
            ("integer", "+1"),
            ("integer", "01"),
            ("integer", "1"),
            ("decimal", "1.5"),
            ("integer", "9"),
            ("integer", "10"),
            ("integer", "9007199254740992"),
            ("integer", "9007199254740993"),
            ("integer", "123456789012345678901234567890"),
            ("float", "INF"),
            ("double", "NaN"),
        ];
        let terms = numbers.map(|(datatype, text)| typed(datatype, text));
        let keys: Vec<_> = terms.iter().map(key).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:#?}");
    }

    #[test]
    fn moments_and_durations_are_ordered_by_value() {
        let sorted = |datatype: &str, texts: &[&str]| {
            let keys: Vec<_> = texts
                .iter()
                .map(|text| key(&typed(datatype, text)))
                .collect();
            assert!(keys.is_sorted_by(|a, b| a < b), "{keys:#?}");
        };
        sorted(
            "dateTime",
            &[
                "-0001-01-01T00:00:00Z",
                "2026-01-01T01:00:00+14:00",
                "2025-12-31T23:59:59.999999",
                "2026-01-01T00:00:00",
                "2026-01-01T00:00:00Z",
                "2026-01-01T02:00:00+01:00",
                "2026-01-01T00:00:00-14:00",
            ],
        );
        sorted("gYear", &["-0044", "0001", "2026"]);
        sorted(
            "duration",
            &[
                "-P1Y", "-P1M", "-P1D", "-PT0.5S", "PT0S", "PT0.25S", "P27D", "P28D", "P1M",
                "P31D", "P2M", "P365D", "P1Y", "P1000Y",
            ],
        );
        let equal = [typed("duration", "P12M"), typed("yearMonthDuration", "P1Y")];
        let end = |term: &Term| key(term).find("http").unwrap();
        let [months, year] = equal.map(|term| key(&term)[..end(&term)].to_owned());
        assert_eq!(months, year);
    }
}

//! Replacements for those functions and aggregates of `spareval` that have no limits.
//!
//! - In: a query; the arguments of `CONCAT`, `ENCODE_FOR_URI`, `REGEX` and `REPLACE`, and the
//!   values of `GROUP_CONCAT` and `SAMPLE`. Out: a query that calls the replacements, which return
//!   the same results as `spareval`.
//! - Cost: each thread caches the most recently used regular expressions.
//! - Law: a string counts towards the limit while it grows and as long as it is part of an
//!   expression. Therefore no expression uses more memory than is allowed for a message.

use std::cell::RefCell;
use std::collections::VecDeque;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BaseDirection, Literal, NamedNode, NamedNodeRef, Term, Variable};
use regex::{Regex, RegexBuilder};
use rustc_hash::FxHashSet;
use spareval::{AggregateFunctionAccumulator, QueryEvaluator};
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression,
};

use super::budget::{self, Stop};
use super::order::with_order;
use super::parse::QueryError;
use super::view::length;
use super::walk::{QueryPart, walk};

/// Size limit of a compiled regular expression in bytes, the same as in `spareval`.
const REGEX_BYTES: usize = 1_000_000;
const REPLACE: &str = "urn:uuid:00000000-0000-0000-0001-000000000000";
/// Name of the function that wraps the value of `SAMPLE`.
const COUNTED: &str = "urn:uuid:00000000-0000-0000-0002-000000000000";
const CONCAT: &str = "urn:uuid:00000000-0000-0000-0006-000000000000";
const ENCODE: &str = "urn:uuid:00000000-0000-0000-0007-000000000000";
/// Name of the replacement for `REGEX`.
pub(super) const REGEX: &str = "urn:uuid:00000000-0000-0000-0008-000000000000";
/// Names of the functions that begin and end an expression that creates strings.
const BEGIN: &str = "urn:uuid:00000000-0000-0000-0009-000000000000";
const END: &str = "urn:uuid:00000000-0000-0000-000a-000000000000";
/// Maximum number of compiled expressions in the cache. Each takes at most a few MB.
const MAX_CACHED: usize = 64;
/// Number of bytes of text that are scanned between two checks of the clock.
const BYTES_PER_CHECK: usize = 1 << 16;
/// Datatypes of string literals.
pub(super) const STRING_DATATYPES: [NamedNodeRef<'_>; 3] =
    [xsd::STRING, rdf::LANG_STRING, rdf::DIR_LANG_STRING];

/// A `GROUP_CONCAT` in a query.
#[derive(Clone, Debug)]
pub(super) struct StringJoin {
    separator: String,
    distinct: bool,
}

/// A replacement for a function of `spareval`.
type Call = fn(&[Term]) -> Option<Term>;

/// Returns an evaluator with only the functions that a query calls, because an evaluator's
/// functions are copied for each message.
pub(super) fn evaluator(joins: &[StringJoin], calls: &Calls) -> QueryEvaluator {
    let mut evaluator = with_order(QueryEvaluator::new(), calls);
    let begin = |_: &[Term]| Some(Literal::from(budget::begin().cast_signed()).into());
    let ours: [(&str, Call); 7] = [
        (REPLACE, replace_text),
        (COUNTED, count_and_return),
        (CONCAT, concatenate),
        (ENCODE, encode_for_uri),
        (REGEX, matches),
        (BEGIN, begin),
        (END, end_and_return),
    ];
    for (name, function) in ours {
        if calls.contains(name) {
            evaluator = evaluator.with_custom_function(NamedNode::new_unchecked(name), function);
        }
    }
    for (number, join) in joins.iter().enumerate() {
        let join = join.clone();
        evaluator = evaluator.with_custom_aggregate_function(join_name(number), move || {
            Box::new(GroupConcat::new(join.clone()))
        });
    }
    evaluator
}

/// Names of the replacement functions and aggregates that a query calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls(FxHashSet<String>);

impl Calls {
    /// Returns the names that a pattern calls.
    ///
    /// # Errors
    /// If the query is nested too deeply.
    pub(super) fn from_pattern(pattern: &mut GraphPattern) -> Result<Self, QueryError> {
        let mut calls = Self::default();
        walk(QueryPart::Pattern(pattern), 0, &mut |part| {
            match part {
                QueryPart::Expression(expression) => calls.note(expression),
                QueryPart::Pattern(GraphPattern::Group { aggregates, .. }) => {
                    for (_, aggregate) in aggregates {
                        if let AggregateExpression::FunctionCall {
                            name: AggregateFunction::Custom(name),
                            ..
                        } = aggregate
                        {
                            calls.0.insert(name.as_str().to_owned());
                        }
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(calls)
    }

    /// Adds the function that an expression calls.
    pub(super) fn note(&mut self, expression: &Expression) {
        if let Expression::FunctionCall(Function::Custom(name), _) = expression {
            self.0.insert(name.as_str().to_owned());
        }
    }

    /// Whether the query calls a function.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// Replaces a call to an unlimited function with a call to its limited version.
pub(super) fn limit(expression: &mut Expression) {
    if let Expression::FunctionCall(function, _) = expression {
        let ours = match function {
            Function::Concat => CONCAT,
            Function::EncodeForUri => ENCODE,
            Function::Regex => REGEX,
            Function::Replace => REPLACE,
            _ => return,
        };
        *function = Function::Custom(NamedNode::new_unchecked(ours));
    }
}

/// Rewrites aggregates and expressions that create strings so that the strings are counted. Returns
/// all uses of `GROUP_CONCAT`.
///
/// # Errors
/// If the query is nested too deeply.
pub(super) fn limit_strings(pattern: &mut GraphPattern) -> Result<Vec<StringJoin>, QueryError> {
    let mut joins = Vec::new();
    let mut counted = 0;
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        let QueryPart::Pattern(pattern) = part else {
            return Ok(());
        };
        match &mut **pattern {
            GraphPattern::Filter { expr, .. } => limit_expression(expr),
            GraphPattern::Extend { expression, .. }
            | GraphPattern::LeftJoin {
                expression: Some(expression),
                ..
            } => limit_expression(expression),
            GraphPattern::OrderBy { expression, .. } => {
                for OrderExpression::Asc(by) | OrderExpression::Desc(by) in expression {
                    limit_expression(by);
                }
            }
            GraphPattern::Group {
                inner, aggregates, ..
            } => {
                for (_, aggregate) in aggregates {
                    limit_aggregate(inner, aggregate, &mut joins, &mut counted);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(joins)
}

fn limit_aggregate(
    inner: &mut GraphPattern,
    aggregate: &mut AggregateExpression,
    joins: &mut Vec<StringJoin>,
    counted: &mut usize,
) {
    let AggregateExpression::FunctionCall {
        name,
        expr,
        distinct,
    } = aggregate
    else {
        return;
    };
    limit_expression(expr);
    match name {
        AggregateFunction::GroupConcat { separator } => {
            joins.push(StringJoin {
                separator: separator.as_deref().unwrap_or(" ").to_owned(),
                distinct: std::mem::take(distinct),
            });
            *name = AggregateFunction::Custom(join_name(joins.len() - 1));
        }
        AggregateFunction::Sample => *expr = call(COUNTED, vec![expr.clone()]),
        // Distinct values of a variable are counted as long as they are stored.
        AggregateFunction::Count if *distinct && !matches!(expr, Expression::Variable(_)) => {
            *counted += 1;
            let variable = Variable::new_unchecked(format!("counted {counted}"));
            let expression = std::mem::replace(expr, Expression::Variable(variable.clone()));
            *inner = GraphPattern::Extend {
                inner: Box::new(std::mem::take(inner)),
                variable,
                expression,
            };
        }
        _ => {}
    }
}

fn join_name(number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("urn:uuid:00000000-0000-0000-000b-{number:012}"))
}

fn call(name: &str, arguments: Vec<Expression>) -> Expression {
    Expression::FunctionCall(Function::Custom(NamedNode::new_unchecked(name)), arguments)
}

/// Wraps an expression so that its strings count until its evaluation ends, even if it fails.
fn limit_expression(expression: &mut Expression) {
    match expression {
        Expression::And(left, right) | Expression::Or(left, right) => {
            limit_expression(left);
            limit_expression(right);
        }
        Expression::Not(inner) => limit_expression(inner),
        other if creates_strings(other) => {
            let inner = std::mem::replace(other, Expression::from(failure_iri()));
            let value = Expression::Coalesce(vec![inner, failure_iri().into()]);
            *other = call(END, vec![call(BEGIN, Vec::new()), value]);
        }
        _ => {}
    }
}

/// Value of an expression that fails.
fn failure_iri() -> NamedNode {
    NamedNode::new_unchecked(END)
}

/// Whether an expression creates strings that may be longer than those in the data. Patterns inside
/// the expression are handled separately.
fn creates_strings(expression: &Expression) -> bool {
    match expression {
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_)
        | Expression::Exists(_) => false,
        Expression::Or(a, b)
        | Expression::And(a, b)
        | Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => creates_strings(a) || creates_strings(b),
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => {
            creates_strings(a)
        }
        Expression::If(a, b, c) => creates_strings(a) || creates_strings(b) || creates_strings(c),
        Expression::In(a, list) => creates_strings(a) || list.iter().any(creates_strings),
        Expression::Coalesce(list) => list.iter().any(creates_strings),
        Expression::FunctionCall(function, list) => {
            let makes = |name: &NamedNode| [CONCAT, ENCODE, REPLACE].contains(&name.as_str());
            matches!(function, Function::Custom(name) if makes(name))
                || list.iter().any(creates_strings)
        }
    }
}

/// Ends an expression that began with [`BEGIN`], and returns its value.
fn end_and_return(given: &[Term]) -> Option<Term> {
    let [Term::Literal(before), value] = given else {
        return None;
    };
    budget::end(before.value().parse().ok()?);
    let is_failed = matches!(value, Term::NamedNode(iri) if iri.as_str() == END);
    (!is_failed).then(|| value.clone())
}

/// Counts a value towards the limit, and returns it.
fn count_and_return(given: &[Term]) -> Option<Term> {
    let [value] = given else { return None };
    budget::acquire_bytes(length(value) as u64);
    Some(value.clone())
}

/// Concatenation of string literals. If all literals have the same language and direction, so does
/// the result. Otherwise it has none.
#[derive(Default)]
struct JoinedStrings {
    text: String,
    /// Whether a literal has been added.
    has_literal: bool,
    language: Option<(String, Option<BaseDirection>)>,
}

impl JoinedStrings {
    fn push(&mut self, literal: &Literal, separator: &str) {
        let language = literal.language().map(|tag| (tag, literal.direction()));
        if self.has_literal {
            let common = self.language.as_ref();
            if common.map(|(tag, direction)| (tag.as_str(), *direction)) != language {
                self.language = None;
            }
            self.text.push_str(separator);
        } else {
            self.has_literal = true;
            self.language = language.map(|(tag, direction)| (tag.to_owned(), direction));
        }
        self.text.push_str(literal.value());
    }

    fn finish(self) -> Literal {
        string_literal(self.text, self.language)
    }
}

fn string_literal(text: String, language: Option<(String, Option<BaseDirection>)>) -> Literal {
    match language {
        None => Literal::new_simple_literal(text),
        Some((tag, None)) => Literal::new_language_tagged_literal_unchecked(text, tag),
        Some((tag, Some(direction))) => {
            Literal::new_directional_language_tagged_literal_unchecked(text, tag, direction)
        }
    }
}

/// Returns the literal if a term is a string literal.
fn as_string_literal(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(text) if STRING_DATATYPES.contains(&text.datatype()) => Some(text),
        _ => None,
    }
}

/// Concatenates the arguments of `CONCAT`. Returns `None` if one of them is not a string literal.
fn concatenate(given: &[Term]) -> Option<Term> {
    let literals: Vec<_> = given.iter().map(as_string_literal).collect::<Option<_>>()?;
    budget::count_copied(literals.iter().map(|literal| literal.value().len()).sum());
    let mut joined = JoinedStrings::default();
    for literal in literals {
        joined.push(literal, "");
    }
    Some(joined.finish().into())
}

/// State of `GROUP_CONCAT` for one group.
struct GroupConcat {
    join: StringJoin,
    joined: Option<JoinedStrings>,
    seen: FxHashSet<Term>,
    /// Number of bytes counted so far.
    counted: u64,
}

impl GroupConcat {
    fn new(join: StringJoin) -> Self {
        Self {
            join,
            joined: Some(JoinedStrings::default()),
            seen: FxHashSet::default(),
            counted: 0,
        }
    }

    fn acquire(&mut self, bytes: usize) {
        self.counted += bytes as u64;
        budget::acquire_bytes(bytes as u64);
    }

    fn release(&mut self) {
        budget::release(std::mem::take(&mut self.counted) / budget::BYTES);
    }
}

impl AggregateFunctionAccumulator for GroupConcat {
    fn accumulate(&mut self, element: Term) {
        /// Estimated size of an entry in a set of terms, in bytes.
        const ENTRY: usize = 128;
        if self.joined.is_none() || self.join.distinct && self.seen.contains(&element) {
            return;
        }
        let Some(text) = as_string_literal(&element) else {
            self.joined = None;
            self.seen = FxHashSet::default();
            self.release();
            return;
        };
        let length = text.value().len();
        self.acquire(length + self.join.separator.len());
        if let Some(joined) = &mut self.joined {
            joined.push(text, &self.join.separator);
        }
        if self.join.distinct {
            self.acquire(length + ENTRY);
            self.seen.insert(element);
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.release();
        self.joined.take().map(|joined| joined.finish().into())
    }
}

/// Percent-encodes a string for use in an IRI. Returns `None` if the term is not a string literal.
fn encode_for_uri(given: &[Term]) -> Option<Term> {
    const HEXADECIMAL: &[u8; 16] = b"0123456789ABCDEF";
    let [given] = given else { return None };
    let text = as_string_literal(given)?.value();
    budget::count_copied(3 * text.len());
    let mut result = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                result.push(char::from(byte));
            }
            _ => {
                result.push('%');
                for half in [byte >> 4, byte & 15] {
                    result.push(char::from(HEXADECIMAL[usize::from(half)]));
                }
            }
        }
    }
    Some(Literal::new_simple_literal(result).into())
}

/// Whether a regular expression matches a string. Returns `None` if an argument has an unsupported
/// type.
fn matches(given: &[Term]) -> Option<Term> {
    let [given, pattern, flags @ ..] = given else {
        return None;
    };
    let flags = flags.first().map_or(Some(""), plain)?;
    let pattern = plain(pattern)?;
    let is_match = with_regex(pattern, flags, |regex| {
        let text = as_string_literal(given)?.value();
        budget::count_scanned(text.len());
        Some(regex.is_match(text))
    })??;
    Some(Literal::from(is_match).into())
}

/// Replaces the matches of a regular expression in a string. Returns `None` if an argument
/// has an unsupported type.
fn replace_text(given: &[Term]) -> Option<Term> {
    let [given, pattern, replacement, flags @ ..] = given else {
        return None;
    };
    let text = as_string_literal(given)?;
    let flags = flags.first().map_or(Some(""), plain)?;
    let (pattern, replacement) = (plain(pattern)?, plain(replacement)?);
    let value = with_regex(pattern, flags, |regex| {
        replace(regex, text.value(), replacement)
    })?;
    let tag = text.language().map(str::to_owned);
    let language = tag.map(|tag| (tag, text.direction()));
    Some(string_literal(value, language).into())
}

/// Returns the text of an `xsd:string`.
fn plain(term: &Term) -> Option<&str> {
    match term {
        Term::Literal(text) if text.datatype() == xsd::STRING => Some(text.value()),
        _ => None,
    }
}

/// Like `Regex::replace_all`, but counts the bytes.
fn replace(regex: &Regex, text: &str, replacement: &str) -> String {
    let (mut result, mut copied, mut counted, mut scanned) = (String::new(), 0, 0, 0);
    let references = replacement.matches('$').count();
    for captures in regex.captures_iter(text) {
        let Some(matched) = captures.get(0) else {
            continue;
        };
        // Each reference inserts at most the entire match.
        let max = replacement.len() + references * matched.len();
        let growth = ((result.len() + max) as u64 / budget::BYTES).saturating_sub(counted);
        budget::acquire(growth);
        counted += growth;
        // The search for a match may have scanned the entire remaining text.
        scanned += text.len() - copied;
        if scanned > BYTES_PER_CHECK {
            scanned = 0;
            budget::check_time();
        }
        result.push_str(&text[copied..matched.start()]);
        captures.expand(replacement, &mut result);
        copied = matched.end();
    }
    result.push_str(&text[copied..]);
    budget::release(counted);
    budget::count_copied(result.len());
    result
}

/// A compiled regular expression. `regex` is `None` if the expression is invalid.
struct Compiled {
    pattern: String,
    flags: String,
    regex: Option<Regex>,
}

/// Calls `work` with a compiled expression. Returns `None` if the expression is invalid. Unwinds to
/// [`budget::within`] if the expression is too large.
fn with_regex<T>(pattern: &str, flags: &str, work: impl FnOnce(&Regex) -> T) -> Option<T> {
    thread_local! {
        /// Recently used expressions, most recent first.
        static CACHE: RefCell<VecDeque<Compiled>> = const { RefCell::new(VecDeque::new()) };
    }
    let mut cache = CACHE.take();
    let is_same = |one: &Compiled| one.pattern == pattern && one.flags == flags;
    let cached = cache
        .iter()
        .position(is_same)
        .and_then(|index| cache.remove(index));
    let compiled = cached.unwrap_or_else(|| Compiled {
        pattern: pattern.to_owned(),
        flags: flags.to_owned(),
        regex: compile_regex(pattern, flags).unwrap_or_else(|TooLarge| {
            budget::stop_with(Stop::Failed(format!(
                "a regular expression takes more than {} MB when it is compiled; make it shorter, or use smaller \
                 repetition counts",
                REGEX_BYTES / 1_000_000
            )));
            None
        }),
    });
    let result = compiled.regex.as_ref().map(work);
    cache.truncate(MAX_CACHED - 1);
    cache.push_front(compiled);
    CACHE.set(cache);
    result
}

/// Error for a regular expression that takes too much memory.
pub(super) struct TooLarge;

/// Compiles a regular expression as `spareval` does. Returns `None` if it is invalid.
///
/// # Errors
/// If the expression takes too much memory.
pub(super) fn compile_regex(pattern: &str, flags: &str) -> Result<Option<Regex>, TooLarge> {
    // Compilation takes milliseconds.
    budget::check_time();
    let mut builder = if flags.contains('q') {
        RegexBuilder::new(&regex::escape(pattern))
    } else {
        RegexBuilder::new(pattern)
    };
    builder.size_limit(REGEX_BYTES);
    for flag in flags.chars() {
        match flag {
            's' => builder.dot_matches_new_line(true),
            'm' => builder.multi_line(true),
            'i' => builder.case_insensitive(true),
            'x' => builder.ignore_whitespace(true),
            'q' => &mut builder,
            _ => return Ok(None),
        };
    }
    match builder.build() {
        Ok(regex) => Ok(Some(regex)),
        Err(regex::Error::CompiledTooBig(_)) => Err(TooLarge),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use oxrdf::{BaseDirection, Dataset, NamedNode};
    use spareval::QueryResults;
    use spargebra::SparqlParser;

    use super::{
        Literal, QueryEvaluator, Term, concatenate, encode_for_uri, matches, replace_text,
    };

    /// Returns the result of the original `spareval` function.
    fn expected(function: &str, given: &[Term]) -> Option<Term> {
        let call: Vec<_> = given.iter().map(Term::to_string).collect();
        let query = format!("SELECT ({function}({}) AS ?x) {{}}", call.join(", "));
        let query = SparqlParser::new().parse_query(&query).unwrap();
        let evaluator = QueryEvaluator::new();
        let prepared = evaluator.prepare(&query);
        let nothing = Dataset::new();
        let QueryResults::Solutions(mut rows) = prepared.execute(&nothing).unwrap() else {
            return None;
        };
        rows.next()?.unwrap().get("x").cloned()
    }

    #[test]
    fn replacements_equal_those_of_the_evaluator() {
        let texts = ["", "a", "abcABC", "äöü\nabc", "aaaa", "$1"];
        let patterns = ["", "a", "b?", "(b)(c)?", "^", "[", ".", "(?<n>a)|b", "A c"];
        let replacements = ["", "x", "$0", "${1}y", "$n$$", "$1$2", "\\1"];
        let flags = [
            None,
            Some(""),
            Some("i"),
            Some("smxi"),
            Some("q"),
            Some("k"),
        ];
        let mut replaced_some = 0;
        for text in texts {
            let tag = || Literal::new_language_tagged_literal_unchecked(text, "en");
            let directed = || {
                Literal::new_directional_language_tagged_literal_unchecked(
                    text,
                    "en",
                    BaseDirection::Rtl,
                )
            };
            for literal in [Literal::from(text), tag(), directed(), Literal::from(3)] {
                for pattern in patterns {
                    for replacement in replacements {
                        for flag in flags {
                            let mut given = vec![Term::from(literal.clone())];
                            given.extend([pattern, replacement].map(|x| Literal::from(x).into()));
                            given.extend(flag.map(|x| Literal::from(x).into()));
                            let actual = replace_text(&given);
                            assert_eq!(actual, expected("REPLACE", &given), "{given:?}");
                            replaced_some += usize::from(actual.is_some());
                        }
                    }
                }
            }
        }
        assert!(replaced_some > 2000, "{replaced_some}");
    }

    /// Returns string literals with and without a language, and other terms.
    fn literals() -> Vec<Term> {
        let tagged = |text, tag| Literal::new_language_tagged_literal_unchecked(text, tag);
        let directed = |direction| {
            Literal::new_directional_language_tagged_literal_unchecked("ü", "en", direction)
        };
        vec![
            Literal::from("").into(),
            Literal::from("a b/c").into(),
            tagged("ä%~", "en").into(),
            tagged("x", "de").into(),
            directed(BaseDirection::Ltr).into(),
            directed(BaseDirection::Rtl).into(),
            Literal::from(3).into(),
            NamedNode::new_unchecked("http://e/a").into(),
        ]
    }

    #[test]
    fn concatenated_and_encoded_strings_equal_those_of_the_evaluator() {
        for one in literals() {
            let given = [one.clone()];
            assert_eq!(encode_for_uri(&given), expected("ENCODE_FOR_URI", &given));
            assert_eq!(concatenate(&given), expected("CONCAT", &given));
            for other in literals() {
                for third in literals() {
                    let given = [one.clone(), other.clone(), third];
                    let actual = concatenate(&given);
                    assert_eq!(actual, expected("CONCAT", &given), "{given:?}");
                }
            }
        }
        assert_eq!(concatenate(&[]), expected("CONCAT", &[]));
    }

    #[test]
    fn matches_equal_those_of_the_evaluator() {
        for text in literals() {
            for pattern in ["", "^a", "B", ".", "[", "a b/c", "A B"] {
                for flags in [None, Some(""), Some("i"), Some("qx"), Some("k")] {
                    let mut given = vec![text.clone(), Literal::from(pattern).into()];
                    given.extend(flags.map(|flags| Literal::from(flags).into()));
                    assert_eq!(matches(&given), expected("REGEX", &given), "{given:?}");
                }
            }
        }
    }
}

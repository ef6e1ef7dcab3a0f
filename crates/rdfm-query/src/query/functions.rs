//! Functions that take the place of those of `spareval`, which know no limit, and its regular expressions.
//!
//! - In: the arguments of `REPLACE`, the values of `GROUP_CONCAT`. Out: what `spareval` makes of them.
//! - Cost: the regular expressions used last stay compiled, on each thread.
//! - Law: a result counts while it grows, so that no call makes more than a message may take.

use std::cell::RefCell;
use std::collections::VecDeque;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term};
use regex::{Regex, RegexBuilder};
use spareval::QueryEvaluator;
use spargebra::algebra::{AggregateExpression, AggregateFunction, Expression, Function};

use super::budget;
use super::order::with_order;

/// As `spareval` has it.
const REGEX_BYTES: usize = 1_000_000;
/// The name of `REPLACE` in what is evaluated.
const REPLACE: &str = "urn:uuid:00000000-0000-0000-0001-000000000000";
/// The name of the function through which the values of `GROUP_CONCAT` go.
const HELD: &str = "urn:uuid:00000000-0000-0000-0002-000000000000";
/// Expressions that stay compiled.
const MOST_KEPT: usize = 128;
/// Bytes of a text that are scanned between two looks at the clock.
const SCANNED: usize = 1 << 20;
/// The datatypes of texts.
pub(super) const TEXTS: [NamedNodeRef<'_>; 3] =
    [xsd::STRING, rdf::LANG_STRING, rdf::DIR_LANG_STRING];

/// An evaluator with the functions that take the place of its own.
pub(super) fn evaluator() -> QueryEvaluator {
    with_order(QueryEvaluator::new())
        .with_custom_function(NamedNode::new_unchecked(REPLACE), replaced)
        .with_custom_function(NamedNode::new_unchecked(HELD), held)
}

/// Makes a call of `REPLACE` one of ours.
pub(super) fn limit(expression: &mut Expression) {
    if let Expression::FunctionCall(function @ Function::Replace, _) = expression {
        *function = Function::Custom(NamedNode::new_unchecked(REPLACE));
    }
}

/// Has the values of `GROUP_CONCAT` counted. Those of `DISTINCT` are not, since only some of them are kept.
pub(super) fn limit_aggregate(aggregate: &mut AggregateExpression) {
    if let AggregateExpression::FunctionCall {
        name: AggregateFunction::GroupConcat { separator },
        expr,
        distinct: false,
    } = aggregate
    {
        let length = separator.as_deref().unwrap_or(" ").len() as u64;
        let arguments = vec![expr.clone(), Expression::Literal(length.into())];
        let held = Function::Custom(NamedNode::new_unchecked(HELD));
        *expr = Expression::FunctionCall(held, arguments);
    }
}

/// A value, which counts from now on together with what separates it from the next one.
fn held(given: &[Term]) -> Option<Term> {
    let [value, Term::Literal(separator)] = given else {
        return None;
    };
    let length = match value {
        Term::Literal(text) => text.value().len(),
        Term::NamedNode(iri) => iri.as_str().len(),
        _ => 0,
    };
    budget::hold_bytes(length as u64 + separator.value().parse::<u64>().ok()?);
    Some(value.clone())
}

/// A text with what an expression matches replaced. None where the arguments are no such texts.
fn replaced(given: &[Term]) -> Option<Term> {
    let [Term::Literal(text), pattern, replacement, flags @ ..] = given else {
        return None;
    };
    if !TEXTS.contains(&text.datatype()) {
        return None;
    }
    let flags = flags.first().map_or(Some(""), plain)?;
    let (pattern, replacement) = (plain(pattern)?, plain(replacement)?);
    let value = with_regex(pattern, flags, |regex| {
        replace(regex, text.value(), replacement)
    })?;
    Some(
        match (text.language(), text.direction()) {
            (None, _) => Literal::new_simple_literal(value),
            (Some(tag), None) => Literal::new_language_tagged_literal_unchecked(value, tag),
            (Some(tag), Some(direction)) => {
                Literal::new_directional_language_tagged_literal_unchecked(value, tag, direction)
            }
        }
        .into(),
    )
}

/// A text without a language.
fn plain(term: &Term) -> Option<&str> {
    match term {
        Term::Literal(text) if text.datatype() == xsd::STRING => Some(text.value()),
        _ => None,
    }
}

/// As `Regex::replace_all`, and counted.
fn replace(regex: &Regex, text: &str, replacement: &str) -> String {
    let (mut result, mut copied, mut held, mut scanned) = (String::new(), 0, 0, 0);
    let references = replacement.matches('$').count();
    for found in regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        // Each reference is a part of the match, at most all of it.
        let most = replacement.len() + references * whole.len();
        let more = ((result.len() + most) as u64 / budget::BYTES).saturating_sub(held);
        budget::hold(more);
        held += more;
        // To find a match, all of the rest may have been scanned.
        scanned += text.len() - copied;
        if scanned > SCANNED {
            scanned = 0;
            budget::look();
        }
        result.push_str(&text[copied..whole.start()]);
        found.expand(replacement, &mut result);
        copied = whole.end();
    }
    result.push_str(&text[copied..]);
    budget::release(held);
    result
}

/// A regular expression that was compiled, or could not be.
struct Compiled {
    pattern: String,
    flags: String,
    regex: Option<Regex>,
}

/// Does something with an expression; None where it is none.
fn with_regex<T>(pattern: &str, flags: &str, work: impl FnOnce(&Regex) -> T) -> Option<T> {
    thread_local! {
        /// Those used last, the last one first.
        static KEPT: RefCell<VecDeque<Compiled>> = const { RefCell::new(VecDeque::new()) };
    }
    let mut kept = KEPT.take();
    let is_same = |one: &Compiled| one.pattern == pattern && one.flags == flags;
    let known = kept.iter().position(is_same).and_then(|at| kept.remove(at));
    let compiled = known.unwrap_or_else(|| Compiled {
        pattern: pattern.to_owned(),
        flags: flags.to_owned(),
        regex: regex(pattern, flags),
    });
    let result = compiled.regex.as_ref().map(work);
    kept.truncate(MOST_KEPT - 1);
    kept.push_front(compiled);
    KEPT.set(kept);
    result
}

/// A regular expression as `spareval` compiles it.
pub(super) fn regex(pattern: &str, flags: &str) -> Option<Regex> {
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
            _ => return None,
        };
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use oxrdf::{BaseDirection, Dataset};
    use spareval::QueryResults;
    use spargebra::SparqlParser;

    use super::{Literal, QueryEvaluator, Term, replaced};

    /// What `spareval` gives.
    fn expected(given: &[Term]) -> Option<Term> {
        let call: Vec<_> = given.iter().map(Term::to_string).collect();
        let query = format!("SELECT (REPLACE({}) AS ?x) {{}}", call.join(", "));
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
    fn replaces_as_the_evaluator_does() {
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
            let towards = || {
                Literal::new_directional_language_tagged_literal_unchecked(
                    text,
                    "en",
                    BaseDirection::Rtl,
                )
            };
            for literal in [Literal::from(text), tag(), towards(), Literal::from(3)] {
                for pattern in patterns {
                    for replacement in replacements {
                        for flag in flags {
                            let mut given = vec![Term::from(literal.clone())];
                            given.extend([pattern, replacement].map(|x| Literal::from(x).into()));
                            given.extend(flag.map(|x| Literal::from(x).into()));
                            let found = replaced(&given);
                            assert_eq!(found, expected(&given), "{given:?}");
                            replaced_some += usize::from(found.is_some());
                        }
                    }
                }
            }
        }
        assert!(replaced_some > 2000, "{replaced_some}");
    }
}

//! Evaluation of filter expressions.
//!
//! - In: an expression, and its variables that are in scope. Out: whether the expression is true
//!   for given terms.
//! - Cost: `spareval` evaluates the expression once per batch for each term or combination of
//!   terms. A constant regular expression is compiled only once; `spareval` would compile it each
//!   time.
//! - Law: the result depends only on the given terms, not on a dataset, clock, random number or
//!   base IRI.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term, Variable};
use regex::Regex;
use spareval::QueryEvaluator;
use spargebra::algebra::{Expression, Function, GraphPattern};

use super::super::budget;
use super::super::functions::{Calls, REGEX, STRING_DATATYPES, compile_regex, evaluator};
use super::super::view::length;

/// Maximum nesting depth of expressions.
const MAX_DEPTH: usize = 100;

/// Number of bytes of text that may be copied without being counted.
const FEW_BYTES: usize = 1 << 14;

/// A filter expression.
pub(super) struct FilterExpression {
    expression: sparopt::algebra::Expression,
    evaluator: QueryEvaluator,
    /// False for a variable, a constant, or a choice between terms, because `spareval` returns
    /// their values as written.
    pub(super) is_computed: bool,
    /// Variables in scope, with their numbers. Other variables have no value.
    pub(super) variables: Vec<(Variable, u32)>,
    /// Number of uses of variables.
    uses: usize,
}

impl FilterExpression {
    /// Creates a filter. `number` returns the number of a variable in scope. Returns `None` if the
    /// value of the expression depends on anything other than terms.
    pub(super) fn new(
        expression: &Expression,
        number: impl Fn(&Variable) -> Option<u32>,
    ) -> Option<Self> {
        let mut expression = expression.clone();
        let mut variables: Vec<(Variable, u32)> = Vec::new();
        let mut regexes = Vec::new();
        let mut calls = Calls::default();
        let mut uses = 0;
        let is_covered = all_nested(&mut expression, MAX_DEPTH, &mut |part| {
            if let Expression::Variable(name) | Expression::Bound(name) = part
                && variables.iter().all(|(other, _)| other != name)
            {
                variables.extend(number(name).map(|number| (name.clone(), number)));
            }
            uses += usize::from(matches!(part, Expression::Variable(_)));
            let is_covered = depends_on_terms(part);
            calls.note(part);
            compile(part, &mut regexes);
            is_covered
        });
        let mut evaluator = evaluator(&[], &calls);
        for (name, regex) in regexes {
            evaluator = evaluator.with_custom_function(name, move |given| matches(&regex, given));
        }
        is_covered.then_some(Self {
            is_computed: !matches!(
                expression,
                Expression::Variable(_)
                    | Expression::NamedNode(_)
                    | Expression::Literal(_)
                    | Expression::If(..)
                    | Expression::Coalesce(_)
            ),
            expression: translate(expression)?,
            evaluator,
            variables,
            uses,
        })
    }

    /// Returns the value of the expression for the terms of its variables.
    pub(super) fn value(&self, terms: impl IntoIterator<Item = Option<Term>>) -> Option<Term> {
        let mut length = 0;
        let bound_terms = self.bind_terms(terms, &mut length);
        evaluate_counted(length, || {
            self.evaluator
                .evaluate_expression(&self.expression, bound_terms)
        })
    }

    /// Returns the terms of the variables by name. Adds the size of the text in all uses to
    /// `bytes`.
    fn bind_terms(
        &self,
        terms: impl IntoIterator<Item = Option<Term>>,
        bytes: &mut usize,
    ) -> Vec<(&Variable, Term)> {
        let values = self.variables.iter().zip(terms);
        let bound = values.filter_map(|((name, _), term)| Some((name, term?)));
        bound
            .inspect(|(_, term)| *bytes += self.uses * length(term))
            .collect()
    }

    /// Whether the expression is true for the terms of its variables.
    pub(super) fn is_true(&self, terms: impl IntoIterator<Item = Option<Term>>) -> bool {
        let mut length = 0;
        let bound_terms = self.bind_terms(terms, &mut length);
        let evaluate = || {
            self.evaluator
                .evaluate_effective_boolean_value_expression(&self.expression, bound_terms)
        };
        evaluate_counted(length, evaluate).unwrap_or(false)
    }
}

/// Evaluates an expression and counts the copies of the strings that it reads.
fn evaluate_counted<T>(bytes: usize, evaluate: impl FnOnce() -> T) -> T {
    if bytes < FEW_BYTES {
        return evaluate();
    }
    let before = budget::begin();
    budget::count_copied(bytes);
    let value = evaluate();
    budget::end(before);
    value
}

/// Splits an expression into conditions that must all be true.
pub(super) fn conjuncts(expression: &Expression) -> Vec<&Expression> {
    let mut conjuncts = Vec::new();
    let mut rest = vec![expression];
    while let Some(next) = rest.pop() {
        match next {
            Expression::And(left, right) => rest.extend([right.as_ref(), left.as_ref()]),
            other => conjuncts.push(other),
        }
    }
    conjuncts
}

/// Translates an expression for `sparopt`. The expression is wrapped in a pattern, because
/// `sparopt` translates only patterns.
fn translate(expr: Expression) -> Option<sparopt::algebra::Expression> {
    let inner = Box::default();
    match sparopt::algebra::GraphPattern::from(&GraphPattern::Filter { expr, inner }) {
        sparopt::algebra::GraphPattern::Filter { expression, .. } => Some(expression),
        _ => None,
    }
}

/// Whether the value of an expression depends only on the values of its parts. False for
/// `sameTerm`, because terms of one class can have language tags that differ in case.
fn depends_on_terms(expression: &Expression) -> bool {
    !matches!(
        expression,
        Expression::Exists(_)
            | Expression::SameTerm(..)
            | Expression::FunctionCall(
                Function::Iri
                    | Function::BNode
                    | Function::Rand
                    | Function::Now
                    | Function::Uuid
                    | Function::StrUuid,
                _,
            )
    )
}

/// Replaces a call to `REGEX` by a call to a precompiled function if the pattern and the flags are
/// constants.
fn compile(expression: &mut Expression, regexes: &mut Vec<(NamedNode, Regex)>) {
    let Expression::FunctionCall(function, arguments) = expression else {
        return;
    };
    if !matches!(function, Function::Custom(name) if name.as_str() == REGEX) {
        return;
    }
    let mut constants = arguments.iter().skip(1).map(|argument| match argument {
        Expression::Literal(literal) if literal.datatype() == xsd::STRING => Some(literal.value()),
        _ => None,
    });
    let (Some(Some(pattern)), Some(flags)) =
        (constants.next(), constants.next().unwrap_or(Some("")))
    else {
        return;
    };
    // A regular expression that is too large ends the evaluation when the function is called.
    if let Ok(Some(regex)) = compile_regex(pattern, flags) {
        let name = format!("urn:uuid:00000000-0000-0000-0000-{:012}", regexes.len());
        let name = NamedNode::new_unchecked(name);
        arguments.truncate(1);
        *function = Function::Custom(name.clone());
        regexes.push((name, regex));
    }
}

fn matches(regex: &Regex, given: &[Term]) -> Option<Term> {
    match given {
        [Term::Literal(text)] if STRING_DATATYPES.contains(&text.datatype()) => {
            budget::count_scanned(text.value().len());
            Some(Literal::from(regex.is_match(text.value())).into())
        }
        _ => None,
    }
}

/// Whether a test is true for an expression and all its parts. Expressions are tested before their
/// parts. Returns false if the expression is nested too deeply.
fn all_nested(
    expression: &mut Expression,
    depth: usize,
    test: &mut impl FnMut(&mut Expression) -> bool,
) -> bool {
    if depth == 0 || !test(expression) {
        return false;
    }
    let mut each = |part: &mut Expression| all_nested(part, depth - 1, test);
    match expression {
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_)
        | Expression::Exists(_) => true,
        Expression::Or(left, right)
        | Expression::And(left, right)
        | Expression::Equal(left, right)
        | Expression::SameTerm(left, right)
        | Expression::Greater(left, right)
        | Expression::GreaterOrEqual(left, right)
        | Expression::Less(left, right)
        | Expression::LessOrEqual(left, right)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right)
        | Expression::Multiply(left, right)
        | Expression::Divide(left, right) => each(left) && each(right),
        Expression::UnaryPlus(operand)
        | Expression::UnaryMinus(operand)
        | Expression::Not(operand) => each(operand),
        Expression::If(operand, two, three) => each(operand) && each(two) && each(three),
        Expression::In(operand, list) => each(operand) && list.iter_mut().all(each),
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter_mut().all(each),
    }
}

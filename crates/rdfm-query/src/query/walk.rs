//! Traversal of a query's parts.
//!
//! - In: a pattern. Out: a call to `visit` for the pattern and for each of its parts, outermost
//!   first.
//! - Law: a query that is nested too deeply is rejected before other code recurses into it.

use spargebra::algebra::{
    AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression,
};

use super::parse::QueryError;

/// Maximum nesting depth of patterns and expressions.
const MAX_DEPTH: usize = 2000;

/// A part of a query.
pub(super) enum QueryPart<'q> {
    Pattern(&'q mut GraphPattern),
    Expression(&'q mut Expression),
    Path(&'q mut PropertyPathExpression),
}

/// Visits a part of a query and all parts inside it.
pub(super) fn walk(
    mut part: QueryPart<'_>,
    depth: usize,
    visit: &mut impl FnMut(&mut QueryPart<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    if depth > MAX_DEPTH {
        return Err(QueryError::new(format!(
            "the query is nested deeper than {MAX_DEPTH} levels; each part of a chain of || or UNION, and each expression of a SELECT, adds a level; to test many values, use IN (…) or VALUES"
        )));
    }
    visit(&mut part)?;
    let depth = depth + 1;
    match part {
        QueryPart::Pattern(pattern) => walk_pattern(pattern, depth, visit),
        QueryPart::Expression(expression) => walk_expression(expression, depth, visit),
        QueryPart::Path(path) => walk_path(path, depth, visit),
    }
}

fn walk_pattern(
    pattern: &mut GraphPattern,
    depth: usize,
    visit: &mut impl FnMut(&mut QueryPart<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Values { .. } => Ok(()),
        GraphPattern::Path { path, .. } => walk(QueryPart::Path(path), depth, visit),
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            walk(QueryPart::Pattern(left), depth, visit)?;
            walk(QueryPart::Pattern(right), depth, visit)
        }
        GraphPattern::LeftJoin {
            left,
            right,
            expression,
        } => {
            walk(QueryPart::Pattern(left), depth, visit)?;
            walk(QueryPart::Pattern(right), depth, visit)?;
            walk_all(expression, depth, visit)
        }
        GraphPattern::Filter { expr, inner } => {
            walk(QueryPart::Expression(expr), depth, visit)?;
            walk(QueryPart::Pattern(inner), depth, visit)
        }
        GraphPattern::Extend {
            inner, expression, ..
        } => {
            walk(QueryPart::Expression(expression), depth, visit)?;
            walk(QueryPart::Pattern(inner), depth, visit)
        }
        GraphPattern::OrderBy { inner, expression } => {
            for OrderExpression::Asc(key) | OrderExpression::Desc(key) in expression {
                walk(QueryPart::Expression(key), depth, visit)?;
            }
            walk(QueryPart::Pattern(inner), depth, visit)
        }
        GraphPattern::Group {
            inner, aggregates, ..
        } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    walk(QueryPart::Expression(expr), depth, visit)?;
                }
            }
            walk(QueryPart::Pattern(inner), depth, visit)
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Service { inner, .. } => walk(QueryPart::Pattern(inner), depth, visit),
    }
}

fn walk_expression(
    expression: &mut Expression,
    depth: usize,
    visit: &mut impl FnMut(&mut QueryPart<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    match expression {
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_) => Ok(()),
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
        | Expression::Divide(a, b) => {
            walk(QueryPart::Expression(a), depth, visit)?;
            walk(QueryPart::Expression(b), depth, visit)
        }
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => {
            walk(QueryPart::Expression(a), depth, visit)
        }
        Expression::If(a, b, c) => {
            walk(QueryPart::Expression(a), depth, visit)?;
            walk(QueryPart::Expression(b), depth, visit)?;
            walk(QueryPart::Expression(c), depth, visit)
        }
        Expression::In(a, list) => {
            walk(QueryPart::Expression(a), depth, visit)?;
            walk_all(list, depth, visit)
        }
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
            walk_all(list, depth, visit)
        }
        Expression::Exists(pattern) => walk(QueryPart::Pattern(pattern), depth, visit),
    }
}

fn walk_path(
    path: &mut PropertyPathExpression,
    depth: usize,
    visit: &mut impl FnMut(&mut QueryPart<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    match path {
        PropertyPathExpression::NamedNode(_) | PropertyPathExpression::NegatedPropertySet(_) => {
            Ok(())
        }
        PropertyPathExpression::Reverse(a)
        | PropertyPathExpression::ZeroOrMore(a)
        | PropertyPathExpression::OneOrMore(a)
        | PropertyPathExpression::ZeroOrOne(a) => walk(QueryPart::Path(a), depth, visit),
        PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => {
            walk(QueryPart::Path(a), depth, visit)?;
            walk(QueryPart::Path(b), depth, visit)
        }
    }
}

fn walk_all<'q>(
    expressions: impl IntoIterator<Item = &'q mut Expression>,
    depth: usize,
    visit: &mut impl FnMut(&mut QueryPart<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    expressions
        .into_iter()
        .try_for_each(|each| walk(QueryPart::Expression(each), depth, visit))
}

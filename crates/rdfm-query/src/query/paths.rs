//! Property paths that the evaluator does not match as SPARQL 1.1 defines them.
//!
//! - In: a pattern. Out: an equivalent pattern that the evaluator matches correctly.
//! - Law: the rows of `p|q` are those of `p` followed by those of `q`, including duplicates (SPARQL
//!   1.1, section 18.4). The evaluator removes duplicates, so alternatives outside of `*`, `+` and
//!   `?` become a `UNION`. Inside, duplicates do not matter.
//! - Law: a path of zero steps between a term and a variable matches that term, even if no quad of
//!   the graph contains it (section 18.4). The evaluator, however, starts only at terms of the
//!   graph.

use std::collections::HashMap;

use oxrdf::{Term, Variable};
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression as Path};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::parse::{QueryError, is_node, node_variable};
use super::walk::{QueryPart, walk};

/// Replaces paths with triple patterns, joins and unions, except for negated sets and paths with
/// `*`, `+` or `?`. The nodes between the parts of sequences are variables for blank nodes, with
/// numbers from `next_node`.
///
/// # Errors
/// If the query is nested too deeply.
pub(super) fn expand(pattern: &mut GraphPattern, mut next_node: usize) -> Result<(), QueryError> {
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        if let QueryPart::Pattern(pattern) = part
            && let GraphPattern::Path {
                subject,
                path,
                object,
            } = &**pattern
        {
            **pattern = expand_path(subject, path, object, &mut next_node);
        }
        Ok(())
    })
}

fn expand_path(
    subject: &TermPattern,
    path: &Path,
    object: &TermPattern,
    next_node: &mut usize,
) -> GraphPattern {
    match path {
        Path::NamedNode(predicate) => GraphPattern::Bgp {
            patterns: vec![TriplePattern {
                subject: subject.clone(),
                predicate: predicate.clone().into(),
                object: object.clone(),
            }],
        },
        Path::Reverse(path) => expand_path(object, path, subject, next_node),
        Path::Sequence(first, second) => {
            let middle = TermPattern::Variable(node_variable(*next_node));
            *next_node += 1;
            GraphPattern::Join {
                left: Box::new(expand_path(subject, first, &middle, next_node)),
                right: Box::new(expand_path(&middle, second, object, next_node)),
            }
        }
        Path::Alternative(left, right) => GraphPattern::Union {
            left: Box::new(expand_path(subject, left, object, next_node)),
            right: Box::new(expand_path(subject, right, object, next_node)),
        },
        Path::NegatedPropertySet(_)
        | Path::ZeroOrMore(_)
        | Path::OneOrMore(_)
        | Path::ZeroOrOne(_) => GraphPattern::Path {
            subject: subject.clone(),
            path: path.clone(),
            object: object.clone(),
        },
    }
}

/// Makes zero-length paths match their constant end if the graph does not contain it.
///
/// # Errors
/// If the query is nested too deeply.
pub(super) fn match_absent_ends(pattern: &mut GraphPattern) -> Result<(), QueryError> {
    let mut ends = Vec::new();
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        if let QueryPart::Pattern(GraphPattern::Path {
            subject,
            path,
            object,
        }) = part
            && matches_without_step(path)
        {
            ends.push([subject.clone(), object.clone()]);
        }
        Ok(())
    })?;
    let reached = reached(&ends);
    let mut is_original = false;
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        let QueryPart::Pattern(pattern) = part else {
            return Ok(());
        };
        // This is the original pattern inside the union that is created below.
        if matches!(pattern, GraphPattern::Path { .. }) && std::mem::take(&mut is_original) {
            return Ok(());
        }
        if let GraphPattern::Path {
            subject,
            path,
            object,
        } = &**pattern
            && matches_without_step(path)
            && let Some(zero) = without_step(subject, object, &reached)
        {
            is_original = true;
            **pattern = GraphPattern::Union {
                left: Box::new(std::mem::take(*pattern)),
                right: Box::new(zero),
            };
        }
        Ok(())
    })
}

/// Whether a path matches with zero steps.
fn matches_without_step(path: &Path) -> bool {
    match path {
        Path::NamedNode(_) | Path::NegatedPropertySet(_) => false,
        Path::ZeroOrMore(_) | Path::ZeroOrOne(_) => true,
        Path::Reverse(path) | Path::OneOrMore(path) => matches_without_step(path),
        Path::Sequence(first, second) => {
            matches_without_step(first) && matches_without_step(second)
        }
        Path::Alternative(left, right) => matches_without_step(left) || matches_without_step(right),
    }
}

/// Returns the constants that zero-length paths assign to the nodes between the parts of a
/// sequence. Two different constants for one node never result in a solution, so the first one is
/// sufficient.
fn reached(ends: &[[TermPattern; 2]]) -> HashMap<Variable, Term> {
    let mut from: HashMap<&Variable, Vec<&TermPattern>> = HashMap::new();
    let mut reached = HashMap::new();
    let mut next = Vec::new();
    for [subject, object] in ends {
        for (start, finish) in [(subject, object), (object, subject)] {
            if let TermPattern::Variable(node) = start {
                from.entry(node).or_default().push(finish);
            } else if let Some(constant) = constant_term(start) {
                next.push((finish, constant));
            }
        }
    }
    while let Some((end, constant)) = next.pop() {
        if let TermPattern::Variable(node) = end
            && is_node(node)
            && !reached.contains_key(node)
        {
            let others = from.get(node).into_iter().flatten();
            next.extend(others.map(|finish| (*finish, constant.clone())));
            reached.insert(node.clone(), constant);
        }
    }
    reached
}

/// Returns the zero-length solution of a path for each constant that is not in the graph.
fn without_step(
    subject: &TermPattern,
    object: &TermPattern,
    reached: &HashMap<Variable, Term>,
) -> Option<GraphPattern> {
    let constant_end = |end: &TermPattern| match end {
        TermPattern::Variable(node) => reached.get(node).cloned(),
        end => constant_term(end),
    };
    let mut constants = Vec::new();
    for constant in [subject, object].into_iter().filter_map(constant_end) {
        if !constants.contains(&constant) {
            constants.push(constant);
        }
    }
    let solutions = constants.into_iter().filter_map(|constant| {
        let mut variables: Vec<Variable> = Vec::new();
        for end in [subject, object] {
            match end {
                TermPattern::Variable(name) if variables.contains(name) => {}
                TermPattern::Variable(name) => variables.push(name.clone()),
                end => (self::constant_term(end)? == constant).then_some(())?,
            }
        }
        let value = GroundTerm::try_from(constant.clone()).ok()?;
        let row = GraphPattern::Values {
            bindings: vec![vec![Some(value); variables.len()]],
            variables,
        };
        let inner = GraphPattern::Join {
            // An empty pattern within GRAPH ?g binds ?g.
            left: Box::default(),
            right: Box::new(row),
        };
        Some(GraphPattern::Filter {
            expr: is_absent(&constant.into()),
            inner: Box::new(inner),
        })
    });
    solutions.reduce(|left, right| GraphPattern::Union {
        left: Box::new(left),
        right: Box::new(right),
    })
}

/// Returns an expression that tests that a term is neither the subject nor the object of any quad
/// in the graph.
fn is_absent(term: &TermPattern) -> Expression {
    let variable = |name: &str| Variable::new_unchecked(name);
    let exists = |subject: TermPattern, object: TermPattern| {
        let predicate = NamedNodePattern::Variable(variable("absent p"));
        let patterns = vec![TriplePattern {
            subject,
            predicate,
            object,
        }];
        Box::new(Expression::Exists(Box::new(GraphPattern::Bgp { patterns })))
    };
    let any = || TermPattern::Variable(variable("absent o"));
    Expression::Not(Box::new(Expression::Or(
        exists(term.clone(), any()),
        exists(any(), term.clone()),
    )))
}

fn constant_term(end: &TermPattern) -> Option<Term> {
    match end {
        TermPattern::Variable(_) | TermPattern::BlankNode(_) => None,
        end => Term::try_from(end.clone()).ok(),
    }
}

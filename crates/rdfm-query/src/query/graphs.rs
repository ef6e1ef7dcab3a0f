//! Groups of `GRAPH ?g` that must be evaluated for each graph separately.
//!
//! - In: a pattern, and the graphs of a dataset. Out: an equivalent pattern that names each graph.
//! - Cost: a copy of the group for each graph, up to [`MAX_PARTS`].
//! - Law: `GRAPH ?g { P }` has the solutions of P in each graph, joined with the name of the graph
//!   (SPARQL 1.1, section 18.6). The evaluator instead adds ?g to the quad patterns of P. The result
//!   is the same only if these bind ?g in each solution, also on the left of each OPTIONAL, if P has
//!   no subquery, and if the sides of each MINUS share a variable.

use std::collections::HashSet;

use oxrdf::{NamedNode, Variable};
use spargebra::algebra::GraphPattern;
use spargebra::term::{GroundTerm, NamedNodePattern};

use super::parse::QueryError;
use super::walk::{QueryPart, walk};

/// Maximum number of triple patterns and paths after a group was copied for each graph.
const MAX_PARTS: usize = 100_000;
/// Start of the IRIs that represent graphs of a dataset. No IRI of a query contains it.
const CLASS: &str = "\0graph ";

/// A name of a graph, which may be a blank node.
pub(super) fn name_of_class(class: u32) -> NamedNode {
    NamedNode::new_unchecked(format!("{CLASS}{class}"))
}

/// Returns the class that [`name_of_class`] represents; `None` for other IRIs.
pub(super) fn class_of_name(name: &NamedNode) -> Option<u32> {
    name.as_str().strip_prefix(CLASS)?.parse().ok()
}

/// Whether a pattern contains a group that must be evaluated for each graph separately.
///
/// # Errors
/// If the query is nested too deeply.
pub(super) fn needs_graphs(pattern: &mut GraphPattern) -> Result<bool, QueryError> {
    let mut is_needed = false;
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        if let QueryPart::Pattern(GraphPattern::Graph {
            name: NamedNodePattern::Variable(graph),
            inner,
        }) = part
        {
            is_needed |= is_separate(inner, graph)?;
        }
        Ok(())
    })?;
    Ok(is_needed)
}

/// Replaces `GRAPH ?g` by one alternative for each graph, where that is necessary. `parts` is the
/// number of triple patterns and paths in the pattern.
///
/// # Errors
/// If there are too many graphs.
pub(super) fn name_graphs(
    pattern: &mut GraphPattern,
    graphs: &[NamedNode],
    parts: usize,
) -> Result<(), QueryError> {
    let mut copies = 0;
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        if let QueryPart::Pattern(pattern) = part
            && let GraphPattern::Graph {
                name: NamedNodePattern::Variable(graph),
                inner,
            } = &mut **pattern
            && is_separate(inner, graph)?
        {
            copies += graphs.len();
            if copies.saturating_mul(parts.max(1)) > MAX_PARTS {
                return Err(QueryError::new(format!(
                    "a group of GRAPH ?{} with a subquery, MINUS or VALUES is evaluated for each graph separately, but there are too many graphs ({}); name the graph, or move that part out of the group",
                    graph.as_str(),
                    graphs.len(),
                )));
            }
            **pattern = alternatives(inner, graph, graphs);
        }
        Ok(())
    })
}

/// Returns the union of a group for each graph, as a balanced tree.
fn alternatives(inner: &GraphPattern, graph: &Variable, graphs: &[NamedNode]) -> GraphPattern {
    match graphs {
        [] => name_graph(graph, None),
        [name] => GraphPattern::Graph {
            name: name.clone().into(),
            inner: Box::new(with_name(inner.clone(), graph, name)),
        },
        _ => {
            let (left, right) = graphs.split_at(graphs.len() / 2);
            GraphPattern::Union {
                left: Box::new(alternatives(inner, graph, left)),
                right: Box::new(alternatives(inner, graph, right)),
            }
        }
    }
}

/// Joins a group with the name of its graph. As in other groups, its filters see the name.
fn with_name(pattern: GraphPattern, graph: &Variable, name: &NamedNode) -> GraphPattern {
    match pattern {
        GraphPattern::Filter { expr, inner } => GraphPattern::Filter {
            expr,
            inner: Box::new(with_name(*inner, graph, name)),
        },
        GraphPattern::Extend {
            inner,
            variable,
            expression,
        } if variable != *graph => GraphPattern::Extend {
            inner: Box::new(with_name(*inner, graph, name)),
            variable,
            expression,
        },
        pattern => GraphPattern::Join {
            left: Box::new(name_graph(graph, Some(name))),
            right: Box::new(pattern),
        },
    }
}

/// Returns a pattern that assigns the name of a graph; without a name, it has no solutions.
fn name_graph(graph: &Variable, name: Option<&NamedNode>) -> GraphPattern {
    let row = |name: &NamedNode| vec![Some(GroundTerm::NamedNode(name.clone()))];
    GraphPattern::Values {
        variables: vec![graph.clone()],
        bindings: name.map(row).into_iter().collect(),
    }
}

/// Whether a group of `GRAPH ?g` must be evaluated for each graph separately.
fn is_separate(inner: &mut GraphPattern, graph: &Variable) -> Result<bool, QueryError> {
    if !has_binding(inner, graph) {
        return Ok(true);
    }
    let mut is_found = false;
    let mut outside = inner.clone();
    walk(QueryPart::Pattern(&mut outside), 0, &mut |part| {
        if let QueryPart::Pattern(pattern) = part {
            match pattern {
                // Its patterns match another graph.
                GraphPattern::Graph { .. } => **pattern = GraphPattern::default(),
                GraphPattern::Project { .. } => is_found = true,
                GraphPattern::Minus { left, right } => {
                    is_found |= !have_shared_variable(left, right, graph);
                }
                // Otherwise the right side may bind ?g to another graph than the rest of the group.
                GraphPattern::LeftJoin { left, .. } => is_found |= !has_binding(left, graph),
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok(is_found)
}

/// Whether the quad patterns of a group of `GRAPH ?g` bind ?g in each solution.
fn has_binding(pattern: &GraphPattern, graph: &Variable) -> bool {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } => true,
        GraphPattern::Join { left, right } => has_binding(left, graph) || has_binding(right, graph),
        GraphPattern::Union { left, right } => {
            has_binding(left, graph) && has_binding(right, graph)
        }
        GraphPattern::LeftJoin { left, right, .. } => {
            // In OPTIONAL, ?g is a variable like others, which the name of the graph may not match.
            !has_variable(right, graph) && has_binding(left, graph)
        }
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Minus { left: inner, .. } => has_binding(inner, graph),
        _ => false,
    }
}

/// Whether MINUS has the same result with ?g in both sides: they always have another variable in
/// common, so ?g does not decide whether solutions are disjoint.
fn have_shared_variable(left: &GraphPattern, right: &GraphPattern, graph: &Variable) -> bool {
    if !has_binding(left, graph) || has_variable(right, graph) {
        return false;
    }
    let (mut left_names, mut right_names) = (HashSet::new(), HashSet::new());
    add_bound(left, &mut left_names);
    add_bound(right, &mut right_names);
    left_names
        .iter()
        .any(|variable| *variable != graph && right_names.contains(variable))
}

/// Whether a variable is in scope in a pattern.
fn has_variable(pattern: &GraphPattern, graph: &Variable) -> bool {
    let mut is_found = false;
    pattern.on_in_scope_variable(|variable| is_found |= variable == graph);
    is_found
}

/// Adds variables that each solution of a pattern binds.
fn add_bound<'p>(pattern: &'p GraphPattern, bound: &mut HashSet<&'p Variable>) {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } => {
            pattern.on_in_scope_variable(|variable| {
                bound.insert(variable);
            });
        }
        GraphPattern::Join { left, right } => {
            add_bound(left, bound);
            add_bound(right, bound);
        }
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. } => add_bound(inner, bound),
        _ => {}
    }
}

//! Conversion of a pattern into groups, whose parts are matched one after another.
//!
//! - In: a pattern. Out: a group, or `None` if matching part by part would not return the same rows
//!   as the SPARQL algebra.
//! - Law: each part sees the values of all parts before it. The rows are the same as those of the
//!   algebra, unless an `OPTIONAL` or a filter in an inner group sees a value that the group does
//!   not bind. Such patterns are not supported.

use std::collections::HashMap;

use oxrdf::{Term, Variable};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::filters::{self, FilterExpression};

/// Maximum nesting depth of patterns.
const MAX_DEPTH: usize = 100;
/// Maximum number of variables, including blank nodes.
const MAX_VARIABLES: usize = 128;

/// Set of variable numbers, as a bit mask.
pub(super) type VariableSet = u128;

/// Returns the set that contains only this variable.
pub(super) const fn only(variable: u32) -> VariableSet {
    1 << variable
}

/// Pattern for one position of a quad.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    /// A constant, by number.
    Constant(u32),
    /// A variable, by number.
    Variable(u32),
    /// The default graph.
    DefaultGraph,
}

/// Pattern for a quad: subject, predicate, object and graph. A graph variable matches only named
/// graphs.
#[derive(Clone)]
pub(super) struct QuadPattern {
    pub(super) cells: [Cell; 4],
    /// Pairs of positions with the same variable.
    pub(super) same: Vec<(usize, usize)>,
    pub(super) variables: VariableSet,
}

/// Rows of `VALUES`.
pub(super) struct Table {
    pub(super) columns: Vec<u32>,
    pub(super) rows: Vec<Vec<Option<u32>>>,
    /// Variables that have a value in every row.
    pub(super) certain: VariableSet,
}

/// A part of a group.
pub(super) enum GroupPart {
    Quads(QuadPattern),
    Values(Table),
    /// A filter whose result depends only on variables that have a value whenever the group
    /// matches. It may be tested as soon as these variables are bound.
    Free(FilterExpression),
    /// A filter that must be tested at this point.
    Here(FilterExpression),
    /// Assignment of the value of an expression to a variable.
    Extend(FilterExpression, u32),
    /// Nothing matches.
    Never,
    Optional(Vec<Self>),
    Union(Vec<Vec<Self>>),
}

/// Variables that a pattern binds.
#[derive(Clone, Copy)]
struct Scope {
    /// Variables bound in every row.
    certain: VariableSet,
    /// Variables bound in at least one row.
    all: VariableSet,
}

/// Builder of groups, which numbers variables and constants.
#[derive(Default)]
pub(super) struct GroupBuilder {
    variables: HashMap<TermPattern, u32>,
    pub(super) constants: Vec<Term>,
    pub(super) numbers: HashMap<Term, u32>,
}

impl GroupBuilder {
    /// Returns the number of variables.
    pub(super) fn variables(&self) -> usize {
        self.variables.len()
    }

    /// Returns the number of a variable that occurs in the pattern.
    pub(super) fn variable(&self, name: &Variable) -> Option<u32> {
        let key = TermPattern::Variable(name.clone());
        self.variables.get(&key).copied()
    }

    fn assign_number(&mut self, key: &TermPattern) -> Option<u32> {
        if let Some(&number) = self.variables.get(key) {
            return Some(number);
        }
        let number = self.variables.len();
        self.variables.insert(key.clone(), number as u32);
        (number < MAX_VARIABLES).then_some(number as u32)
    }

    fn add_constant(&mut self, term: Term) -> Cell {
        let next = self.constants.len() as u32;
        let number = *self.numbers.entry(term.clone()).or_insert(next);
        if number == next {
            self.constants.push(term);
        }
        Cell::Constant(number)
    }

    /// Returns the group for a pattern.
    pub(super) fn translate_group(&mut self, pattern: &GraphPattern) -> Option<Vec<GroupPart>> {
        let mut parts = Vec::new();
        self.add(pattern, None, 0, MAX_DEPTH, &mut parts)?;
        Some(parts)
    }

    /// Adds the parts of a pattern to a group. `context` contains the variables that may already
    /// have values.
    fn add(
        &mut self,
        pattern: &GraphPattern,
        graph: Option<&NamedNodePattern>,
        context: VariableSet,
        depth: usize,
        parts: &mut Vec<GroupPart>,
    ) -> Option<Scope> {
        let depth = depth.checked_sub(1)?;
        match pattern {
            GraphPattern::Bgp { patterns } => {
                // `GRAPH ?g {}` returns the names of the graphs.
                if graph.is_some() && patterns.is_empty() {
                    return None;
                }
                let mut certain = 0;
                for pattern in patterns {
                    let quad = self.translate_quad(pattern, graph)?;
                    certain |= quad.variables;
                    parts.push(GroupPart::Quads(quad));
                }
                let all = certain;
                Some(Scope { certain, all })
            }
            GraphPattern::Join { left, right } => {
                let left = self.add(left, graph, context, depth, parts)?;
                let right = self.add(right, graph, context | left.all, depth, parts)?;
                Some(Scope {
                    certain: left.certain | right.certain,
                    all: left.all | right.all,
                })
            }
            GraphPattern::LeftJoin {
                left,
                right,
                expression,
            } => {
                let left = self.add(left, graph, context, depth, parts)?;
                let mut inner = Vec::new();
                let right = self.add(right, graph, context | left.all, depth, &mut inner)?;
                if context & right.all & !left.certain != 0 {
                    return None;
                }
                let both = Scope {
                    certain: left.certain | right.certain,
                    all: left.all | right.all,
                };
                if let Some(expression) = expression {
                    self.translate_filter(expression, graph, both, context, &mut inner)?;
                }
                parts.push(GroupPart::Optional(inner));
                Some(Scope {
                    certain: left.certain,
                    all: both.all,
                })
            }
            GraphPattern::Filter { expr, inner } => {
                let scope = self.add(inner, graph, context, depth, parts)?;
                self.translate_filter(expr, graph, scope, context, parts)?;
                Some(scope)
            }
            GraphPattern::Extend {
                inner,
                variable,
                expression,
            } => {
                let scope = self.add(inner, graph, context, depth, parts)?;
                let key = TermPattern::Variable(variable.clone());
                let expression = self.expression(expression, graph, scope, context)?.0;
                if !expression.is_computed || is_name(graph, variable) {
                    return None;
                }
                let number = self.assign_number(&key)?;
                parts.push(GroupPart::Extend(expression, number));
                Some(Scope {
                    certain: scope.certain,
                    all: scope.all | only(number),
                })
            }
            GraphPattern::Union { left, right } => {
                let mut sides = [Vec::new(), Vec::new()];
                let [first, second] = &mut sides;
                let left = self.add(left, graph, context, depth, first)?;
                let right = self.add(right, graph, context, depth, second)?;
                parts.push(GroupPart::Union(sides.into()));
                Some(Scope {
                    certain: left.certain & right.certain,
                    all: left.all | right.all,
                })
            }
            GraphPattern::Graph { name, inner } if graph.is_none() => {
                self.add(inner, Some(name), context, depth, parts)
            }
            GraphPattern::Values {
                variables,
                bindings,
            } if graph.is_none() => {
                let (table, scope) = self.translate_table(variables, bindings)?;
                parts.push(GroupPart::Values(table));
                Some(scope)
            }
            _ => None,
        }
    }

    fn translate_quad(
        &mut self,
        pattern: &TriplePattern,
        graph: Option<&NamedNodePattern>,
    ) -> Option<QuadPattern> {
        let cells = [
            self.translate_cell(&pattern.subject)?,
            self.name(&pattern.predicate)?,
            self.translate_cell(&pattern.object)?,
            match graph {
                None => Cell::DefaultGraph,
                Some(name) => self.name(name)?,
            },
        ];
        let mut quad = QuadPattern {
            cells,
            same: Vec::new(),
            variables: 0,
        };
        for (index, cell) in cells.iter().enumerate() {
            if let Cell::Variable(number) = cell {
                quad.variables |= only(*number);
                let other = cells[..index].iter().position(|before| before == cell);
                quad.same.extend(other.map(|other| (other, index)));
            }
        }
        Some(quad)
    }

    fn translate_cell(&mut self, pattern: &TermPattern) -> Option<Cell> {
        Some(match pattern {
            TermPattern::Variable(_) | TermPattern::BlankNode(_) => {
                Cell::Variable(self.assign_number(pattern)?)
            }
            TermPattern::NamedNode(iri) => self.add_constant(iri.clone().into()),
            TermPattern::Literal(literal) => self.add_constant(literal.clone().into()),
            TermPattern::Triple(_) => return None,
        })
    }

    fn name(&mut self, pattern: &NamedNodePattern) -> Option<Cell> {
        match pattern {
            NamedNodePattern::NamedNode(iri) => Some(self.add_constant(iri.clone().into())),
            NamedNodePattern::Variable(name) => {
                self.translate_cell(&TermPattern::Variable(name.clone()))
            }
        }
    }

    fn translate_table(
        &mut self,
        variables: &[Variable],
        bindings: &[Vec<Option<GroundTerm>>],
    ) -> Option<(Table, Scope)> {
        let mut columns = Vec::new();
        for name in variables {
            columns.push(self.assign_number(&TermPattern::Variable(name.clone()))?);
        }
        let mut rows = Vec::new();
        for binding in bindings {
            let mut row = Vec::new();
            for term in binding {
                row.push(match term {
                    None => None,
                    Some(term) => match self.add_constant(term.clone().into()) {
                        Cell::Constant(number) => Some(number),
                        _ => return None,
                    },
                });
            }
            rows.push(row);
        }
        let (mut certain, mut all) = (0, 0);
        for (index, column) in columns.iter().enumerate() {
            all |= only(*column);
            if rows
                .iter()
                .all(|row| row.get(index).is_some_and(Option::is_some))
            {
                certain |= only(*column);
            }
        }
        let table = Table {
            columns,
            rows,
            certain,
        };
        Some((table, Scope { certain, all }))
    }

    /// Adds the conditions of a filter.
    fn translate_filter(
        &self,
        expression: &Expression,
        graph: Option<&NamedNodePattern>,
        scope: Scope,
        context: VariableSet,
        parts: &mut Vec<GroupPart>,
    ) -> Option<()> {
        for expression in filters::conjuncts(expression) {
            let (filter, used) = self.expression(expression, graph, scope, context)?;
            let uncertain = used & !scope.certain;
            if used == 0 {
                if !filter.is_true([]) {
                    parts.push(GroupPart::Never);
                }
            } else if uncertain == 0 {
                parts.push(GroupPart::Free(filter));
            } else {
                parts.push(GroupPart::Here(filter));
            }
        }
        Some(())
    }

    /// Returns an expression of a pattern, and the variables in scope that it uses.
    fn expression(
        &self,
        expression: &Expression,
        graph: Option<&NamedNodePattern>,
        scope: Scope,
        context: VariableSet,
    ) -> Option<(FilterExpression, VariableSet)> {
        let in_scope = |name: &Variable| {
            let number = self.variable(name)?;
            (scope.all & only(number) != 0).then_some(number)
        };
        let filter = FilterExpression::new(expression, in_scope)?;
        let mut used = 0;
        for (name, number) in &filter.variables {
            // Within `GRAPH ?g`, the variable ?g has a value only if a pattern binds it.
            if is_name(graph, name) {
                return None;
            }
            used |= only(*number);
        }
        (used & !scope.certain & context == 0).then_some((filter, used))
    }
}

/// Whether a variable is the name of the graph.
fn is_name(graph: Option<&NamedNodePattern>, name: &Variable) -> bool {
    matches!(graph, Some(NamedNodePattern::Variable(graph)) if graph == name)
}

//! The algebra of a pattern as groups, whose parts are matched one after the other.
//!
//! - In: a pattern. Out: a group, or None where matching part by part would not give the rows of the algebra.
//! - Law: a part that is matched sees the values of all parts before it. That gives the rows of the algebra unless an
//!   `OPTIONAL` or a filter of an inner group sees a value that its own group does not give: such are not covered.

use std::collections::HashMap;

use oxrdf::{Term, Variable};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::filters::{self, Filter};

/// How deep patterns may nest.
const DEPTH: usize = 100;
/// Most variables, blank nodes among them.
const VARIABLES: usize = 128;

/// Variables, by number.
pub(super) type Set = u128;

/// The set of one variable.
pub(super) const fn only(variable: u32) -> Set {
    1 << variable
}

/// What is asked of one position of a quad.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    /// A constant, by number.
    Constant(u32),
    /// A variable, by number.
    Variable(u32),
    /// The default graph.
    DefaultGraph,
}

/// Subject, predicate, object and graph. A variable for the graph means a named one.
#[derive(Clone)]
pub(super) struct QuadPattern {
    pub(super) cells: [Cell; 4],
    /// Positions with the same variable.
    pub(super) same: Vec<(usize, usize)>,
    pub(super) variables: Set,
}

/// Rows of `VALUES`.
pub(super) struct Table {
    pub(super) columns: Vec<u32>,
    pub(super) rows: Vec<Vec<Option<u32>>>,
    /// Variables that have a value in each row.
    pub(super) certain: Set,
}

/// A part of a group.
pub(super) enum Part {
    Quads(QuadPattern),
    Values(Table),
    /// Where it holds is decided by values that are there whenever the group matches: it may be tested at any point
    /// where they are.
    Free(Filter),
    /// It is to be tested here.
    Here(Filter),
    /// A variable that gets the value of an expression.
    Extend(Filter, u32),
    /// Nothing matches.
    Never,
    Optional(Vec<Self>),
    Union(Vec<Vec<Self>>),
}

/// The variables that a pattern gives values.
#[derive(Clone, Copy)]
struct Scope {
    /// In each row.
    certain: Set,
    /// In some row.
    all: Set,
}

/// Makes groups, and numbers variables and constants.
#[derive(Default)]
pub(super) struct Groups {
    variables: HashMap<TermPattern, u32>,
    pub(super) constants: Vec<Term>,
    pub(super) numbers: HashMap<Term, u32>,
}

impl Groups {
    /// How many variables there are.
    pub(super) fn variables(&self) -> usize {
        self.variables.len()
    }

    /// The number of a variable that stands in the pattern.
    pub(super) fn variable(&self, name: &Variable) -> Option<u32> {
        let key = TermPattern::Variable(name.clone());
        self.variables.get(&key).copied()
    }

    fn number(&mut self, key: &TermPattern) -> Option<u32> {
        if let Some(&number) = self.variables.get(key) {
            return Some(number);
        }
        let number = self.variables.len();
        self.variables.insert(key.clone(), number as u32);
        (number < VARIABLES).then_some(number as u32)
    }

    fn constant(&mut self, term: Term) -> Cell {
        let next = self.constants.len() as u32;
        let number = *self.numbers.entry(term.clone()).or_insert(next);
        if number == next {
            self.constants.push(term);
        }
        Cell::Constant(number)
    }

    /// The group of a pattern.
    pub(super) fn group(&mut self, pattern: &GraphPattern) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        self.add(pattern, None, 0, DEPTH, &mut parts)?;
        Some(parts)
    }

    /// Adds the parts of a pattern to a group. `context` are the variables that may have values before them.
    fn add(
        &mut self,
        pattern: &GraphPattern,
        graph: Option<&NamedNodePattern>,
        context: Set,
        depth: usize,
        parts: &mut Vec<Part>,
    ) -> Option<Scope> {
        let depth = depth.checked_sub(1)?;
        match pattern {
            GraphPattern::Bgp { patterns } => {
                // `GRAPH ?g {}` has the names of graphs.
                if graph.is_some() && patterns.is_empty() {
                    return None;
                }
                let mut certain = 0;
                for pattern in patterns {
                    let quad = self.quad(pattern, graph)?;
                    certain |= quad.variables;
                    parts.push(Part::Quads(quad));
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
                    self.filter(expression, graph, both, context, &mut inner)?;
                }
                parts.push(Part::Optional(inner));
                Some(Scope {
                    certain: left.certain,
                    all: both.all,
                })
            }
            GraphPattern::Filter { expr, inner } => {
                let scope = self.add(inner, graph, context, depth, parts)?;
                self.filter(expr, graph, scope, context, parts)?;
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
                let number = self.number(&key)?;
                parts.push(Part::Extend(expression, number));
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
                parts.push(Part::Union(sides.into()));
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
                let (table, scope) = self.table(variables, bindings)?;
                parts.push(Part::Values(table));
                Some(scope)
            }
            _ => None,
        }
    }

    fn quad(
        &mut self,
        pattern: &TriplePattern,
        graph: Option<&NamedNodePattern>,
    ) -> Option<QuadPattern> {
        let cells = [
            self.cell(&pattern.subject)?,
            self.name(&pattern.predicate)?,
            self.cell(&pattern.object)?,
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
        for (at, cell) in cells.iter().enumerate() {
            if let Cell::Variable(number) = cell {
                quad.variables |= only(*number);
                let other = cells[..at].iter().position(|before| before == cell);
                quad.same.extend(other.map(|other| (other, at)));
            }
        }
        Some(quad)
    }

    fn cell(&mut self, pattern: &TermPattern) -> Option<Cell> {
        Some(match pattern {
            TermPattern::Variable(_) | TermPattern::BlankNode(_) => {
                Cell::Variable(self.number(pattern)?)
            }
            TermPattern::NamedNode(iri) => self.constant(iri.clone().into()),
            TermPattern::Literal(literal) => self.constant(literal.clone().into()),
            TermPattern::Triple(_) => return None,
        })
    }

    fn name(&mut self, pattern: &NamedNodePattern) -> Option<Cell> {
        match pattern {
            NamedNodePattern::NamedNode(iri) => Some(self.constant(iri.clone().into())),
            NamedNodePattern::Variable(name) => self.cell(&TermPattern::Variable(name.clone())),
        }
    }

    fn table(
        &mut self,
        variables: &[Variable],
        bindings: &[Vec<Option<GroundTerm>>],
    ) -> Option<(Table, Scope)> {
        let mut columns = Vec::new();
        for name in variables {
            columns.push(self.number(&TermPattern::Variable(name.clone()))?);
        }
        let mut rows = Vec::new();
        for binding in bindings {
            let mut row = Vec::new();
            for term in binding {
                row.push(match term {
                    None => None,
                    Some(term) => match self.constant(term.clone().into()) {
                        Cell::Constant(number) => Some(number),
                        _ => return None,
                    },
                });
            }
            rows.push(row);
        }
        let (mut certain, mut all) = (0, 0);
        for (at, column) in columns.iter().enumerate() {
            all |= only(*column);
            if rows
                .iter()
                .all(|row| row.get(at).is_some_and(Option::is_some))
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

    /// Adds what a filter of a pattern asks.
    fn filter(
        &self,
        expression: &Expression,
        graph: Option<&NamedNodePattern>,
        scope: Scope,
        context: Set,
        parts: &mut Vec<Part>,
    ) -> Option<()> {
        for expression in filters::conjuncts(expression) {
            let (filter, used) = self.expression(expression, graph, scope, context)?;
            let uncertain = used & !scope.certain;
            if used == 0 {
                if !filter.holds([]) {
                    parts.push(Part::Never);
                }
            } else if uncertain == 0 {
                parts.push(Part::Free(filter));
            } else {
                parts.push(Part::Here(filter));
            }
        }
        Some(())
    }

    /// An expression of a pattern, and the variables in scope that it uses.
    fn expression(
        &self,
        expression: &Expression,
        graph: Option<&NamedNodePattern>,
        scope: Scope,
        context: Set,
    ) -> Option<(Filter, Set)> {
        let in_scope = |name: &Variable| {
            let number = self.variable(name)?;
            (scope.all & only(number) != 0).then_some(number)
        };
        let filter = Filter::new(expression, in_scope)?;
        let mut used = 0;
        for (name, number) in &filter.variables {
            // Within `GRAPH ?g`, ?g has no value unless a pattern gives it one.
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

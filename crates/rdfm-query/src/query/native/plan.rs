//! Steps for matching a pattern.
//!
//! - In: a pattern, and the selected variables. Out: a [`Plan`], or `None` if the pattern is not
//!   supported.
//! - Cost: the plan is created once per query. The most selective patterns are matched first, and
//!   filters are tested as early as possible.

use std::collections::HashMap;

use oxrdf::{Term, Variable};
use spargebra::algebra::GraphPattern;

use super::filters::FilterExpression;
use super::groups::{Cell, GroupBuilder, GroupPart, QuadPattern, Table, VariableSet, only};

/// Maximum number of steps. Each step uses stack space.
const MAX_STEPS: usize = 300;

/// A step of a plan. The next step continues with each row that this step produces.
pub(super) enum Step {
    /// Continues with each matching quad. The number counts the steps of this kind.
    Quads(QuadPattern, usize),
    /// Continues with each matching row of the table with this number.
    Values(usize),
    /// Continues if the filter with this number is true.
    Filter(usize),
    /// Evaluates the expression with the first number and assigns the value to the variable with
    /// the second number.
    Extend(usize, u32),
    /// Tries the steps up to the [`Step::Matched`] with the same number. If they produce no row,
    /// continues at the step with the second number.
    Optional(usize, usize),
    /// End of the optional part with this number.
    Matched(usize),
    /// Runs the steps starting at each of these positions.
    Union(Vec<usize>),
    /// Continues at another step.
    Goto(usize),
    /// Produces no rows.
    Never,
}

/// A table, and the columns used to find its rows.
pub(super) struct Lookup {
    pub(super) table: Table,
    /// Columns that have a value when the step is reached.
    pub(super) keys: Vec<usize>,
}

/// Plan for matching a pattern.
pub struct Plan {
    pub(super) steps: Vec<Step>,
    /// Number of quad steps.
    pub(super) patterns: usize,
    pub(super) optionals: usize,
    pub(super) tables: Vec<Lookup>,
    pub(super) filters: Vec<FilterExpression>,
    /// Expressions that assign values to variables.
    pub(super) expressions: Vec<FilterExpression>,
    pub(super) constants: Vec<Term>,
    pub(super) numbers: HashMap<Term, u32>,
    pub(super) variables: usize,
    /// Number of each selected variable, or `None` if the pattern does not contain it.
    pub(super) columns: Vec<Option<u32>>,
    pub(super) distinct: bool,
}

impl Plan {
    /// Returns a plan that matches a pattern and produces rows with these variables. Returns `None`
    /// if the pattern is not supported.
    pub fn from_pattern(pattern: &GraphPattern, variables: &[Variable]) -> Option<Self> {
        let (mut pattern, mut distinct) = (pattern, false);
        if let GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } = pattern {
            (pattern, distinct) = (inner, true);
        }
        if let GraphPattern::Project { inner, .. } = pattern {
            pattern = inner;
        }
        let mut groups = GroupBuilder::default();
        let group = groups.translate_group(pattern)?;
        let mut plan = Self {
            steps: Vec::new(),
            patterns: 0,
            optionals: 0,
            tables: Vec::new(),
            filters: Vec::new(),
            expressions: Vec::new(),
            numbers: groups.numbers.clone(),
            variables: groups.variables(),
            columns: variables.iter().map(|name| groups.variable(name)).collect(),
            constants: groups.constants,
            distinct,
        };
        plan.add(group, 0);
        (plan.steps.len() <= MAX_STEPS).then_some(plan)
    }

    /// Returns the constants that rows may contain.
    pub(super) fn constants(&self) -> &[Term] {
        if self.tables.is_empty() && self.expressions.is_empty() {
            return &[];
        }
        &self.constants
    }

    /// Adds the steps of a group. `before` contains the variables bound before it. Returns the
    /// variables bound after it.
    fn add(&mut self, group: Vec<GroupPart>, before: VariableSet) -> VariableSet {
        let mut certain = before;
        let mut free = Vec::new();
        let mut rest = Vec::new();
        for part in group {
            match part {
                GroupPart::Free(filter) => free.push(Some(filter)),
                GroupPart::Never => self.steps.push(Step::Never),
                other => rest.push(other),
            }
        }
        self.add_filters(&mut free, certain);
        let mut block = Block::default();
        for part in rest {
            match part {
                GroupPart::Quads(quads) => block.quads.push(quads),
                GroupPart::Values(table) => block.tables.push(table),
                other => {
                    self.add_block(&mut block, &mut certain, &mut free);
                    certain |= self.add_other(other, certain);
                    self.add_filters(&mut free, certain);
                }
            }
        }
        self.add_block(&mut block, &mut certain, &mut free);
        certain
    }

    fn add_other(&mut self, part: GroupPart, certain: VariableSet) -> VariableSet {
        match part {
            GroupPart::Optional(group) => {
                let number = self.optionals;
                self.optionals += 1;
                let start = self.steps.len();
                self.steps.push(Step::Optional(number, 0));
                self.add(group, certain);
                self.steps.push(Step::Matched(number));
                self.steps[start] = Step::Optional(number, self.steps.len());
                0
            }
            GroupPart::Union(sides) => {
                let start = self.steps.len();
                self.steps.push(Step::Never);
                let (mut starts, mut ends, mut after) = (Vec::new(), Vec::new(), VariableSet::MAX);
                for side in sides {
                    starts.push(self.steps.len());
                    after &= self.add(side, certain);
                    ends.push(self.steps.len());
                    self.steps.push(Step::Never);
                }
                for end in ends {
                    self.steps[end] = Step::Goto(self.steps.len());
                }
                self.steps[start] = Step::Union(starts);
                after
            }
            GroupPart::Extend(expression, variable) => {
                let number = self.expressions.len();
                self.steps.push(Step::Extend(number, variable));
                self.expressions.push(expression);
                0
            }
            GroupPart::Free(filter) | GroupPart::Here(filter) => {
                self.add_filter(filter);
                0
            }
            GroupPart::Never | GroupPart::Quads(_) | GroupPart::Values(_) => 0,
        }
    }

    fn add_filter(&mut self, filter: FilterExpression) {
        self.steps.push(Step::Filter(self.filters.len()));
        self.filters.push(filter);
    }

    /// Adds the filters whose variables all have values.
    fn add_filters(&mut self, free: &mut [Option<FilterExpression>], certain: VariableSet) {
        for filter in free {
            let has_all = |filter: &mut FilterExpression| {
                let mut numbers = filter.variables.iter().map(|(_, number)| only(*number));
                numbers.all(|bit| certain & bit != 0)
            };
            if let Some(filter) = filter.take_if(has_all) {
                self.add_filter(filter);
            }
        }
    }

    fn add_block(
        &mut self,
        block: &mut Block,
        certain: &mut VariableSet,
        free: &mut [Option<FilterExpression>],
    ) {
        loop {
            if let Some(table) = block.next_table(*certain) {
                *certain |= self.add_table(table, *certain);
            } else if let Some(quads) = block.next_quads(*certain) {
                *certain |= quads.variables;
                self.steps.push(Step::Quads(quads, self.patterns));
                self.patterns += 1;
            } else {
                break;
            }
            self.add_filters(free, *certain);
        }
    }

    fn add_table(&mut self, table: Table, certain: VariableSet) -> VariableSet {
        let has_value = |index: &usize| table.certain & certain & only(table.columns[*index]) != 0;
        let keys = (0..table.columns.len()).filter(has_value).collect();
        let after = table.certain;
        self.steps.push(Step::Values(self.tables.len()));
        self.tables.push(Lookup { table, keys });
        after
    }
}

/// Parts that can be reordered without changing the rows.
#[derive(Default)]
struct Block {
    quads: Vec<QuadPattern>,
    tables: Vec<Table>,
}

impl Block {
    /// Returns a table whose rows can be looked up, because its variables that occur in the
    /// remaining patterns are bound.
    fn next_table(&mut self, certain: VariableSet) -> Option<Table> {
        let pattern_variables = self
            .quads
            .iter()
            .fold(0, |all, quads| all | quads.variables);
        let is_ready = |table: &Table| {
            let columns = table
                .columns
                .iter()
                .fold(0, |all, column| all | only(*column));
            columns & pattern_variables & !certain == 0
                && (columns & certain != 0 || self.quads.is_empty())
        };
        let index = self.tables.iter().position(is_ready)?;
        Some(self.tables.remove(index))
    }

    /// Returns the pattern with the most known positions, by weight. If several tie, returns the
    /// first one.
    fn next_quads(&mut self, certain: VariableSet) -> Option<QuadPattern> {
        let known = |quads: &QuadPattern| {
            let weights = quads.cells.iter().zip([6, 2, 4, 2]);
            let known = weights.map(|(cell, weight)| match cell {
                Cell::Variable(number) if certain & only(*number) == 0 => 0,
                Cell::DefaultGraph => 0,
                _ => weight,
            });
            known.sum::<u32>() + u32::from(quads.variables & certain != 0)
        };
        let highest = self.quads.iter().map(known).max()?;
        let index = self
            .quads
            .iter()
            .position(|quads| known(quads) == highest)?;
        Some(self.quads.remove(index))
    }
}

//! Evaluation of a plan over the quads of a message.
//!
//! - In: a plan, the dictionary of a batch, and the quads of its messages. Out: rows of classes.
//! - Cost: a step scans the quads of its message. If there are many quads and the step is repeated
//!   often, it uses an index instead. Rows are found one by one, and only result rows are kept.

use hashbrown::HashTable;
use oxrdf::Term;
use rustc_hash::FxHashMap;

use super::chains::{Chains, hash};
use super::groups::{Cell, QuadPattern};
use super::plan::{Lookup, Plan, Step};
use crate::query::budget;
use crate::query::dictionary::{DEFAULT_GRAPH, Dictionary, UNBOUND};
use crate::query::message::{Message, Quad};
use crate::query::view::length;

/// Maximum number of quads that are scanned instead of indexed.
const FEW_QUADS: usize = 32;
/// Number of scans before quads are indexed.
const FEW_SCANS: u32 = 2;
/// Maximum number of table rows that are compared one by one.
const FEW_ROWS: usize = 4;
/// Number of quads examined between two calls of `stop`.
const QUADS_PER_STOP: usize = 1024;
/// Maximum number of cached combinations of terms.
const MAX_COMBINATIONS: usize = 1 << 16;

/// Cached results of a filter.
#[derive(Default)]
struct FilterResults {
    /// Result for each term: 0 unknown, 1 true, 2 false.
    terms: Vec<u8>,
    combinations: hashbrown::HashMap<Vec<u32>, bool, rustc_hash::FxBuildHasher>,
}

/// Index of quads by the classes at some positions.
#[derive(Default)]
struct QuadIndex {
    /// Bit mask of the positions.
    positions: u8,
    chains: Chains,
}

/// Matcher for a plan.
pub struct Matcher<'p> {
    plan: &'p Plan,
    /// Class of each constant.
    constants: Vec<u32>,
    /// Numbers of the constants for which the batch contains an equal term with another spelling.
    varying: Vec<usize>,
    /// Values of expressions that are neither terms of the batch nor constants.
    computed: Vec<Term>,
    by_term: FxHashMap<Term, u32>,
    tables: Vec<Chains>,
    filter_results: Vec<FilterResults>,
    row: Vec<u32>,
    bound: Vec<u32>,
    matched: Vec<bool>,
    scans: Vec<u32>,
    indexes: Vec<QuadIndex>,
    indexed: usize,
    distinct: HashTable<u32>,
}

/// Reason why matching ends before all rows are found.
enum Halt<E> {
    Enough,
    Stopped(E),
}

impl<'p> Matcher<'p> {
    /// Creates a matcher for a plan.
    pub fn new(plan: &'p Plan) -> Self {
        let mut filter_results = Vec::new();
        filter_results.resize_with(plan.filters.len(), FilterResults::default);
        let mut tables = Vec::new();
        tables.resize_with(plan.tables.len(), Chains::default);
        Self {
            plan,
            constants: Vec::new(),
            varying: Vec::new(),
            computed: Vec::new(),
            by_term: FxHashMap::default(),
            tables,
            filter_results,
            row: vec![UNBOUND; plan.variables],
            bound: Vec::new(),
            matched: vec![false; plan.optionals],
            scans: vec![0; plan.patterns],
            indexes: Vec::new(),
            indexed: 0,
            distinct: HashTable::new(),
        }
    }

    /// Begins a batch.
    pub fn begin(&mut self, dictionary: &Dictionary<'_>) {
        let terms = dictionary.terms();
        self.constants.clear();
        let constants = self.plan.constants.iter().zip(terms..);
        let classes = constants.map(|(term, absent)| dictionary.find(term).unwrap_or(absent));
        self.constants.extend(classes);
        self.varying.clear();
        self.computed.clear();
        self.by_term.clear();
        for (number, term) in self.plan.constants().iter().enumerate() {
            let class = self.constants[number];
            if class < terms && !dictionary.is_spelled_as(class, term) {
                self.varying.push(number);
            }
        }
        for (results, filter) in self.filter_results.iter_mut().zip(&self.plan.filters) {
            results.terms.clear();
            results.combinations.clear();
            if filter.variables.len() == 1 {
                results
                    .terms
                    .resize(terms as usize + self.constants.len() + 1, 0);
            }
        }
        self.fill_tables();
    }

    fn fill_tables(&mut self) {
        for (chains, lookup) in self.tables.iter_mut().zip(&self.plan.tables) {
            let rows = &lookup.table.rows;
            if is_looked_up(lookup) {
                let value = |row: usize, key: usize| {
                    rows[row][key].map_or(UNBOUND, |number| self.constants[number as usize])
                };
                chains.fill(rows.len(), |row| {
                    hash(lookup.keys.iter().map(|key| value(row, *key)))
                });
            }
        }
    }

    /// Ensures that constants that are not in the message keep the spelling of the query.
    fn resolve(&mut self, dictionary: &Dictionary<'_>, message: &Message) {
        if self.varying.is_empty() {
            return;
        }
        for &number in &self.varying {
            let class = message.find(dictionary, &self.plan.constants[number]);
            self.constants[number] = class.unwrap_or(dictionary.terms() + number as u32);
        }
        self.fill_tables();
    }

    /// Whether rows may contain terms that are not in the batch.
    pub fn has_others(&self) -> bool {
        !self.plan.tables.is_empty() || !self.plan.expressions.is_empty()
    }

    /// Returns a term that is not in the batch: a constant, or the value of an expression.
    pub fn other(&self, number: u32) -> Option<&Term> {
        let constants = &self.plan.constants;
        let computed = (number as usize).checked_sub(constants.len());
        computed.map_or_else(
            || constants.get(number as usize),
            |number| self.computed.get(number),
        )
    }

    /// Returns the cell for the value of an expression.
    fn add_cell(&mut self, dictionary: &Dictionary<'_>, message: &Message, term: Term) -> u32 {
        if let Some(class) = message.find(dictionary, &term) {
            return class;
        }
        if let Some(&number) = self.plan.numbers.get(&term) {
            return dictionary.terms() + number;
        }
        let first = dictionary.terms() + self.plan.constants.len() as u32;
        let next = first + self.computed.len() as u32;
        let cell = *self.by_term.entry(term.clone()).or_insert(next);
        if cell == next {
            // The term is stored twice.
            budget::keep(2 + 2 * length(&term) as u64 / budget::BYTES);
            self.computed.push(term);
        }
        cell
    }

    /// Appends at most `max_rows` rows of a message to `rows`, and returns their number. A row has
    /// one cell for each selected variable: a class, [`UNBOUND`], or `dictionary.terms() + k` for
    /// the term that [`Self::other`] returns for `k`. `stop` is called periodically, and for each
    /// row, with the number of rows found so far.
    ///
    /// # Errors
    /// Any error that `stop` returns.
    pub fn run<E>(
        &mut self,
        dictionary: &Dictionary<'_>,
        message: &Message,
        max_rows: usize,
        rows: &mut Vec<u32>,
        stop: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<usize, E> {
        self.resolve(dictionary, message);
        self.row.fill(UNBOUND);
        self.bound.clear();
        self.scans.fill(0);
        self.indexed = 0;
        self.distinct.clear();
        let mut run = Run {
            plan: self.plan,
            dictionary,
            message,
            quads: &message.quads,
            first: rows.len(),
            row_count: 0,
            examined: 0,
            max_rows,
            rows,
            stop,
            state: self,
        };
        let halt = if max_rows == 0 { Ok(()) } else { run.from(0) };
        let row_count = run.row_count;
        match halt {
            Ok(()) | Err(Halt::Enough) => Ok(row_count),
            Err(Halt::Stopped(error)) => Err(error),
        }
    }
}

fn is_looked_up(lookup: &Lookup) -> bool {
    !lookup.keys.is_empty() && lookup.table.rows.len() > FEW_ROWS
}

/// A search for the rows of a plan in one message.
struct Run<'r, 'p, S> {
    plan: &'p Plan,
    dictionary: &'r Dictionary<'r>,
    message: &'r Message,
    quads: &'r [Quad],
    state: &'r mut Matcher<'p>,
    rows: &'r mut Vec<u32>,
    /// Number of cells in `rows` before those of this message.
    first: usize,
    row_count: usize,
    max_rows: usize,
    examined: usize,
    stop: &'r mut S,
}

impl<E, S: FnMut(usize) -> Result<(), E>> Run<'_, '_, S> {
    /// Finds the rows that extend the current values, starting at the step `index`.
    fn from(&mut self, mut index: usize) -> Result<(), Halt<E>> {
        let plan = self.plan;
        loop {
            match plan.steps.get(index) {
                None => return self.emit(),
                Some(Step::Filter(number)) => {
                    if !self.is_true(*number) {
                        return Ok(());
                    }
                    index += 1;
                }
                Some(Step::Quads(pattern, number)) => {
                    return self.match_quads(index, pattern, *number);
                }
                Some(Step::Extend(number, variable)) => {
                    return self.extend(index, *number, *variable);
                }
                Some(Step::Values(number)) => return self.match_values(index, *number),
                Some(Step::Optional(number, after)) => {
                    self.state.matched[*number] = false;
                    self.from(index + 1)?;
                    if self.state.matched[*number] {
                        return Ok(());
                    }
                    index = *after;
                }
                Some(Step::Matched(number)) => {
                    self.state.matched[*number] = true;
                    index += 1;
                }
                Some(Step::Union(starts)) => {
                    return starts.iter().try_for_each(|start| self.from(*start));
                }
                Some(Step::Goto(other)) => index = *other,
                Some(Step::Never) => return Ok(()),
            }
        }
    }

    fn stop(&mut self) -> Result<(), Halt<E>> {
        self.examined = 0;
        (self.stop)(self.row_count).map_err(Halt::Stopped)
    }

    #[inline]
    fn count(&mut self, quads: usize) -> Result<(), Halt<E>> {
        self.examined += quads;
        if self.examined >= QUADS_PER_STOP {
            self.stop()?;
        }
        Ok(())
    }

    fn emit(&mut self) -> Result<(), Halt<E>> {
        let (width, number) = (self.plan.columns.len(), self.row_count as u32);
        let row = &self.state.row;
        let cells = self.plan.columns.iter();
        let cells = cells.map(|column| column.map_or(UNBOUND, |number| row[number as usize]));
        self.rows.extend(cells);
        if self.plan.distinct {
            let (earlier_rows, new_row) = self.rows[self.first..].split_at(number as usize * width);
            let earlier_row = |number: u32| &earlier_rows[number as usize * width..][..width];
            let new_hash = hash(new_row.iter().copied());
            let duplicate = self
                .state
                .distinct
                .find(new_hash, |number| earlier_row(*number) == new_row);
            if duplicate.is_some() {
                self.rows.truncate(self.rows.len() - width);
                return self.count(1);
            }
            self.state
                .distinct
                .insert_unique(new_hash, number, |number| {
                    hash(earlier_row(*number).iter().copied())
                });
        }
        self.row_count += 1;
        self.stop()?;
        if self.row_count == self.max_rows {
            return Err(Halt::Enough);
        }
        Ok(())
    }

    fn class(&self, cell: Cell) -> u32 {
        match cell {
            Cell::Constant(number) => self.state.constants[number as usize],
            Cell::Variable(number) => self.state.row[number as usize],
            Cell::DefaultGraph => DEFAULT_GRAPH,
        }
    }

    fn match_quads(
        &mut self,
        cursor: usize,
        pattern: &QuadPattern,
        number: usize,
    ) -> Result<(), Halt<E>> {
        let mut selection = KnownClasses::default();
        for (position, cell) in pattern.cells.into_iter().enumerate() {
            let class = self.class(cell);
            if class != UNBOUND {
                if class >= self.dictionary.terms() {
                    return Ok(());
                }
                selection.set(position, class);
            }
        }
        let quads = self.quads;
        let scans = self.state.scans[number];
        if quads.len() <= FEW_QUADS || scans < FEW_SCANS || selection.positions == 0 {
            self.state.scans[number] = scans.saturating_add(1);
            self.count(quads.len())?;
            for quad in quads {
                if selection.is(quad) {
                    self.take(cursor, pattern, &selection, quad)?;
                }
            }
            return Ok(());
        }
        let index = self.ensure_index(selection.positions);
        let mut next = self.state.indexes[index].chains.first(selection.hash());
        while let Some(quad_index) = next {
            self.count(1)?;
            if selection.is(&quads[quad_index]) {
                self.take(cursor, pattern, &selection, &quads[quad_index])?;
            }
            next = self.state.indexes[index].chains.after(quad_index);
        }
        Ok(())
    }

    /// Binds the unbound variables to the terms of a quad and continues.
    #[inline]
    fn take(
        &mut self,
        index: usize,
        pattern: &QuadPattern,
        selection: &KnownClasses,
        quad: &Quad,
    ) -> Result<(), Halt<E>> {
        let graph = pattern.cells[3];
        if graph != Cell::DefaultGraph && quad[3] == DEFAULT_GRAPH {
            return Ok(());
        }
        for (left, right) in &pattern.same {
            if quad[*left] != quad[*right] {
                return Ok(());
            }
        }
        for (position, cell) in pattern.cells.into_iter().enumerate() {
            if let Cell::Variable(number) = cell
                && !selection.has(position)
            {
                self.state.row[number as usize] = quad[position];
            }
        }
        let result = self.from(index + 1);
        for (position, cell) in pattern.cells.into_iter().enumerate() {
            if let Cell::Variable(number) = cell
                && !selection.has(position)
            {
                self.state.row[number as usize] = UNBOUND;
            }
        }
        result
    }

    /// Returns the number of the index for these positions, and creates the index if necessary.
    fn ensure_index(&mut self, positions: u8) -> usize {
        let state = &mut *self.state;
        let existing = &state.indexes[..state.indexed];
        if let Some(position) = existing
            .iter()
            .position(|index| index.positions == positions)
        {
            return position;
        }
        if state.indexed == state.indexes.len() {
            state.indexes.push(QuadIndex::default());
        }
        let index = &mut state.indexes[state.indexed];
        index.positions = positions;
        let quads = self.quads;
        index
            .chains
            .fill(quads.len(), |number| hash_of(&quads[number], positions));
        state.indexed += 1;
        self.examined += quads.len();
        state.indexed - 1
    }

    fn match_values(&mut self, index: usize, number: usize) -> Result<(), Halt<E>> {
        let lookup = &self.plan.tables[number];
        let rows = lookup.table.rows.len();
        if !is_looked_up(lookup) {
            self.count(rows)?;
            return (0..rows).try_for_each(|row| self.join(index, lookup, row));
        }
        let columns = lookup.keys.iter().map(|key| lookup.table.columns[*key]);
        let key = hash(columns.map(|column| self.state.row[column as usize]));
        let mut next = self.state.tables[number].first(key);
        while let Some(row) = next {
            self.count(1)?;
            self.join(index, lookup, row)?;
            next = self.state.tables[number].after(row);
        }
        Ok(())
    }

    /// Continues with a row of a table, if it is compatible with the current values.
    fn join(&mut self, index: usize, lookup: &Lookup, row: usize) -> Result<(), Halt<E>> {
        let before = self.state.bound.len();
        let mut is_compatible = true;
        for (column, term) in lookup.table.columns.iter().zip(&lookup.table.rows[row]) {
            let Some(term) = term else { continue };
            let class = self.state.constants[*term as usize];
            let cell = &mut self.state.row[*column as usize];
            if *cell == UNBOUND {
                *cell = class;
                self.state.bound.push(*column);
            } else if *cell != class {
                is_compatible = false;
                break;
            }
        }
        let result = if is_compatible {
            self.from(index + 1)
        } else {
            Ok(())
        };
        for column in self.state.bound.drain(before..) {
            self.state.row[column as usize] = UNBOUND;
        }
        result
    }

    /// Continues with the value of an expression, if it is compatible with the current value.
    fn extend(&mut self, index: usize, number: usize, variable: u32) -> Result<(), Halt<E>> {
        let expression = &self.plan.expressions[number];
        let variables = expression.variables.iter();
        let terms = variables.map(|(_, own)| self.term(self.spelled_value(*own)));
        let Some(term) = expression.value(terms) else {
            return self.from(index + 1);
        };
        let cell = self.state.add_cell(self.dictionary, self.message, term);
        let before = self.state.row[variable as usize];
        if before != UNBOUND {
            return if before == cell {
                self.from(index + 1)
            } else {
                Ok(())
            };
        }
        self.state.row[variable as usize] = cell;
        let result = self.from(index + 1);
        self.state.row[variable as usize] = UNBOUND;
        result
    }

    fn is_true(&mut self, number: usize) -> bool {
        let filter = &self.plan.filters[number];
        if let [(_, variable)] = filter.variables.as_slice() {
            let term = self.spelled_value(*variable);
            let cached = self.dictionary.terms() as usize + self.state.constants.len();
            if term != UNBOUND && term as usize >= cached {
                return filter.is_true([self.term(term)]);
            }
            let terms = self.state.filter_results[number].terms.len();
            let index = (term as usize).min(terms - 1);
            if self.state.filter_results[number].terms[index] == 0 {
                let result = filter.is_true([self.term(term)]);
                self.state.filter_results[number].terms[index] = if result { 1 } else { 2 };
            }
            return self.state.filter_results[number].terms[index] == 1;
        }
        let variables = filter.variables.iter();
        let terms: Vec<u32> = variables.map(|(_, own)| self.spelled_value(*own)).collect();
        if let Some(&result) = self.state.filter_results[number].combinations.get(&terms) {
            return result;
        }
        let result = filter.is_true(terms.iter().map(|term| self.term(*term)));
        let combinations = &mut self.state.filter_results[number].combinations;
        if combinations.len() >= MAX_COMBINATIONS {
            combinations.clear();
        }
        combinations.insert(terms, result);
        result
    }

    /// Returns the value of a variable as spelled in the message.
    fn spelled_value(&self, variable: u32) -> u32 {
        let class = self.state.row[variable as usize];
        if class < self.dictionary.terms() && self.dictionary.is_varying() {
            return self.message.term_in_message(class).0;
        }
        class
    }

    fn term(&self, number: u32) -> Option<Term> {
        if number == UNBOUND {
            return None;
        }
        match number.checked_sub(self.dictionary.terms()) {
            Some(other) => self.state.other(other).cloned(),
            None => self.dictionary.value(number),
        }
    }
}

/// The classes that a quad must have at the bound positions of a pattern.
#[derive(Default)]
struct KnownClasses {
    classes: Quad,
    mask: Quad,
    positions: u8,
}

impl KnownClasses {
    #[inline]
    fn set(&mut self, position: usize, class: u32) {
        self.classes[position] = class;
        self.mask[position] = u32::MAX;
        self.positions |= 1 << position;
    }

    #[inline]
    fn has(&self, position: usize) -> bool {
        self.positions & 1 << position != 0
    }

    #[inline]
    fn is(&self, quad: &Quad) -> bool {
        let [s, p, o, g] =
            [0, 1, 2, 3].map(|index| (quad[index] ^ self.classes[index]) & self.mask[index]);
        s | p | o | g == 0
    }

    fn hash(&self) -> u64 {
        hash_of(&self.classes, self.positions)
    }
}

/// Returns the hash of the classes at some positions.
fn hash_of(quad: &Quad, positions: u8) -> u64 {
    let chosen = (0..4).filter(|position| positions & 1 << position != 0);
    hash(chosen.map(|position| quad[position]))
}

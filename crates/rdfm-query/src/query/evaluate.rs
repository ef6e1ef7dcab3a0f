//! Evaluates queries on each message of a batch separately.
//!
//! - In: a query, and batches. Out: the rows, triples or answer for each message, in order.
//! - Cost: one dictionary per batch, plus the cost of the query on each message.
//! - Law: the result for a message depends only on that message. If an evaluation stops early, the
//!   results for the messages before it are complete.

use std::time::Duration;

use oxrdf::Term;
use rdfm_core::model::batch::MessageBatch;
use rustc_hash::FxHashSet;
use spareval::{QueryEvaluator, QueryResults};

use super::budget::{self, Cancel, Limits, Stop};
use super::dictionary::{Dictionary, UNBOUND};
use super::fresh::FreshLabels;
use super::functions::evaluator;
use super::message::{Graphs, Message};
use super::native::{Matcher, Plan};
use super::parse::{Form, Query, QueryError};
use super::rows::SolutionRows;
use super::stack::with_stack;
use super::view::View;

/// Number of rows or triples after which no further message is evaluated for the same result.
const ROWS_PER_RESULT: usize = 1 << 16;
/// Number of result terms after which no further message is evaluated for the same result. These
/// terms take about 64 MiB.
const TERMS_PER_RESULT: u64 = 1 << 20;
/// Number of row cells that count as one term.
pub(super) const CELLS: u64 = 4;
/// Messages with at most this number of quads are evaluated without optimizing the query.
const FEW_QUADS: usize = 16;
/// Queries with more parts than this are not planned for each message, because planning would take
/// too long.
const MAX_PLANNED_PARTS: usize = 100;
/// Time limit for planning, which cannot be cancelled.
const PLANNING_LIMIT: Duration = Duration::from_millis(100);
/// Maximum number of triples for which duplicates are found by linear search.
const FEW_TRIPLES: usize = 16;

/// A callback that is called periodically.
type Check = Box<dyn Fn(&Cancel) + Send + Sync>;

/// A query that is ready to be evaluated.
pub struct Evaluation {
    /// The query.
    pub query: Query,
    /// Limits for each message.
    pub limits: Limits,
    /// Handle that cancels the evaluation.
    pub cancel: Cancel,
    /// Called periodically while messages are evaluated, on the calling thread.
    check: Option<Check>,
    evaluator: QueryEvaluator,
    /// Evaluator without optimizations, for small messages. Optimizing would take longer than the
    /// query itself.
    plain: QueryEvaluator,
    /// Plan for matching the pattern without the evaluator, if it is supported.
    plan: Option<Plan>,
}

/// Progress of an evaluation.
#[derive(Debug, Default)]
pub struct Progress {
    /// Index of the first message in the batch that was not evaluated. If the evaluation stopped,
    /// it stopped at this message.
    pub done: usize,
    /// Reason why the evaluation stopped early.
    pub stop: Option<Stop>,
    /// Whether any message contains named graphs.
    pub has_named: bool,
}

/// Triples of messages as cells.
#[derive(Default)]
pub struct Triples {
    /// All triples, without duplicates within a message.
    pub triples: Vec<[u32; 3]>,
    /// Number of triples up to the end of each message.
    pub ends: Vec<usize>,
}

impl Triples {
    /// Adds the triples of a message without duplicates. `produce` calls its argument with each
    /// triple.
    pub(super) fn add(&mut self, produce: impl FnOnce(&mut dyn FnMut([u32; 3]))) {
        let start = self.triples.len();
        let mut seen = FxHashSet::default();
        let triples = &mut self.triples;
        produce(&mut |triple| {
            let few = triples.len() - start < FEW_TRIPLES;
            let is_new = if few {
                !triples[start..].contains(&triple)
            } else {
                if seen.is_empty() {
                    seen.extend(triples[start..].iter().copied());
                }
                seen.insert(triple)
            };
            if is_new {
                // If there are many triples, they are also stored in a set.
                budget::keep(1);
                triples.push(triple);
            }
        });
        self.ends.push(triples.len());
    }

    /// Removes all triples and messages.
    pub fn clear(&mut self) {
        self.triples.clear();
        self.ends.clear();
    }
}

/// A message, and the dictionary of its batch.
pub(super) struct MessageContext<'b> {
    pub dictionary: Dictionary<'b>,
    pub message: Message,
}

impl MessageContext<'_> {
    /// Returns the cell for a term in a solution.
    pub fn add_cell(
        &self,
        rows: &mut SolutionRows,
        fresh: &mut FreshLabels,
        term: Option<Term>,
    ) -> u32 {
        let Self {
            dictionary,
            message,
            ..
        } = self;
        match term {
            None => UNBOUND,
            Some(Term::BlankNode(node)) => {
                let term = Term::from(node.clone());
                dictionary.find(&term).unwrap_or_else(|| {
                    let node = fresh.label_node(node, dictionary, message.classes());
                    rows.add_cell(dictionary, node.into())
                })
            }
            Some(term) => rows.add_cell(dictionary, term),
        }
    }
}

impl Evaluation {
    /// Prepares a query. Supported patterns are matched natively if `native` is true.
    pub fn new(query: Query, limits: Limits, native: bool) -> Self {
        let cancel = Cancel::default();
        // Constant expressions are evaluated here. An expression that exceeds a limit is evaluated
        // again for each message and fails there.
        let short = Limits {
            timeout: Some(
                limits
                    .timeout
                    .map_or(PLANNING_LIMIT, |time| time.min(PLANNING_LIMIT)),
            ),
            ..limits.clone()
        };
        let plan = || Self::plan(&query);
        let plan = || budget::run_within(&short, &cancel, || Ok(plan())).ok();
        Self {
            plan: native.then(plan).flatten().flatten(),
            evaluator: evaluator(&query.joins, &query.calls),
            plain: evaluator(&query.joins, &query.calls).without_optimizations(),
            query,
            limits,
            cancel,
            check: None,
        }
    }

    /// Whether the pattern of a query can be matched natively.
    pub fn is_covered(query: &Query) -> bool {
        Self::plan(query).is_some()
    }

    fn plan(query: &Query) -> Option<Plan> {
        let is_supported = !query.needs_graphs;
        is_supported
            .then(|| Plan::from_pattern(query.pattern(), &query.variables))
            .flatten()
    }

    /// Sets a function that is called periodically during evaluation and may cancel it.
    #[must_use]
    pub fn with_check(mut self, check: impl Fn(&Cancel) + Send + Sync + 'static) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Whether the pattern is matched without the SPARQL evaluator.
    pub fn is_native(&self) -> bool {
        self.plan.is_some()
    }

    pub(super) fn check(&self) {
        if let Some(check) = &self.check {
            check(&self.cancel);
        }
    }

    /// Appends the rows of messages, starting at `from`, until there are enough rows.
    pub fn evaluate_rows(
        &self,
        batch: &MessageBatch,
        from: usize,
        rows: &mut SolutionRows,
    ) -> Progress {
        let progress = self.for_each_message(batch, from, |context, matcher, index| {
            let count =
                self.evaluate_message(context, matcher, rows, &mut FreshLabels::default())?;
            let messages = std::iter::repeat_n(index as u32, count);
            rows.messages.extend(messages);
            Ok(rows.messages.len() < ROWS_PER_RESULT && budget::kept_bytes() < TERMS_PER_RESULT)
        });
        // Remove the cells of an incomplete message.
        rows.cells
            .truncate(rows.messages.len() * self.query.variables.len());
        progress
    }

    /// Appends the triples that the template creates from messages, starting at `from`, until there
    /// are enough triples. Terms that no quad contains are added to `rows`.
    pub fn construct_triples(
        &self,
        batch: &MessageBatch,
        from: usize,
        rows: &mut SolutionRows,
        constructed: &mut Triples,
    ) -> Progress {
        let Form::Construct(template) = &self.query.form else {
            return Progress::default();
        };
        let width = self.query.variables.len();
        let mut constants = None;
        let progress = self.for_each_message(batch, from, |context, matcher, _| {
            rows.cells.clear();
            let mut fresh = FreshLabels::default();
            let count = self.evaluate_message(context, matcher, rows, &mut fresh)?;
            let cells = std::mem::take(&mut rows.cells);
            let MessageContext {
                dictionary,
                message,
            } = context;
            let constants =
                &*constants.get_or_insert_with(|| template.add_constants(dictionary, rows));
            constructed.add(|each| {
                for row in 0..count {
                    let cells = &cells[row * width..][..width];
                    let node = || fresh.name_node(dictionary, message.classes());
                    template.instantiate(dictionary, constants, cells, rows, node, &mut *each);
                }
            });
            rows.cells = cells;
            Ok(constructed.triples.len() < ROWS_PER_RESULT
                && budget::kept_bytes() < TERMS_PER_RESULT)
        });
        // Remove the triples of an incomplete message.
        let complete = constructed.ends.last().copied().unwrap_or_default();
        constructed.triples.truncate(complete);
        progress
    }

    /// Appends for each message, starting at `from`, whether the query is true for it.
    pub fn evaluate_answers(
        &self,
        batch: &MessageBatch,
        from: usize,
        answers: &mut Vec<bool>,
    ) -> Progress {
        let mut rows = SolutionRows::default();
        self.for_each_message(batch, from, |context, matcher, _| {
            rows.clear();
            let count =
                self.evaluate_message(context, matcher, &mut rows, &mut FreshLabels::default())?;
            answers.push(count > 0);
            budget::forget_kept();
            Ok(true)
        })
    }

    /// Evaluates messages one by one while `work` returns true.
    fn for_each_message<'b>(
        &self,
        batch: &'b MessageBatch,
        from: usize,
        mut work: impl FnMut(&MessageContext<'b>, &mut Option<Matcher<'_>>, usize) -> Result<bool, Stop>
        + Send,
    ) -> Progress {
        let evaluate = || {
            budget::forget_kept();
            let dictionary = Dictionary::of(batch);
            let graphs = self.query.graphs.by_class(&dictionary);
            let mut matcher = self.plan.as_ref().map(Matcher::new);
            if let Some(matcher) = &mut matcher {
                matcher.begin(&dictionary);
            }
            let mut context = MessageContext {
                dictionary,
                message: Message::default(),
            };
            let mut progress = Progress {
                done: from,
                ..Progress::default()
            };
            while progress.done < batch.len() {
                let index = progress.done;
                let MessageContext {
                    dictionary,
                    message,
                } = &mut context;
                message.read(dictionary, &graphs, batch, index);
                progress.has_named |= context.message.has_named;
                let work = || work(&context, &mut matcher, index);
                match budget::run_within(&self.limits, &self.cancel, work) {
                    Ok(continues) => {
                        progress.done += 1;
                        if !continues {
                            break;
                        }
                    }
                    Err(stop) => {
                        progress.stop = Some(stop);
                        break;
                    }
                }
            }
            progress
        };
        with_stack(evaluate, || self.check()).unwrap_or_else(|error| Progress {
            done: from,
            stop: Some(Stop::Failed(format!(
                "cannot start a thread for the query: {error}"
            ))),
            has_named: false,
        })
    }

    /// Appends the rows of one message and returns their number. An ASK query that is true has one
    /// row without cells.
    fn evaluate_message(
        &self,
        context: &MessageContext<'_>,
        matcher: &mut Option<Matcher<'_>>,
        rows: &mut SolutionRows,
        fresh: &mut FreshLabels,
    ) -> Result<usize, Stop> {
        if let Some(matcher) = matcher {
            return self.match_message(context, matcher, rows);
        }
        let mut count = 0;
        self.evaluate(context, |solution| {
            count += 1;
            self.check_rows(count)?;
            budget::keep(self.weight());
            for term in solution {
                let cell = context.add_cell(rows, fresh, term);
                rows.cells.push(cell);
            }
            Ok(())
        })?;
        Ok(count as usize)
    }

    /// Appends the rows of one message without using the evaluator.
    fn match_message(
        &self,
        context: &MessageContext<'_>,
        matcher: &mut Matcher<'_>,
        rows: &mut SolutionRows,
    ) -> Result<usize, Stop> {
        let MessageContext {
            dictionary,
            message,
        } = context;
        let max_rows = match self.query.form {
            Form::Ask => 1,
            Form::Select | Form::Construct(_) => usize::MAX,
        };
        let start = rows.cells.len();
        let mut cells = std::mem::take(&mut rows.cells);
        let (mut before, weight) = (0, self.weight());
        let row = matcher.run(dictionary, message, max_rows, &mut cells, &mut |row| {
            // A call without a new row means that many quads have been checked since the last call.
            if row == before {
                budget::check_time();
            } else {
                budget::keep(weight);
            }
            before = row;
            self.check_rows(row as u64)
        });
        rows.cells = cells;
        if dictionary.is_varying() || matcher.has_others() {
            for index in start..rows.cells.len() {
                let cell = rows.cells[index];
                rows.cells[index] = match cell.checked_sub(dictionary.terms()) {
                    None => message.term_in_message(cell).0,
                    Some(number) => match matcher.other(number) {
                        Some(term) if cell != UNBOUND => rows.add_cell(dictionary, term.clone()),
                        _ => UNBOUND,
                    },
                };
            }
        }
        row
    }

    /// Memory use of a row's cells, as a number of terms.
    pub(super) fn weight(&self) -> u64 {
        1 + self.query.variables.len() as u64 / CELLS
    }

    /// Returns an error if there are too many rows.
    pub(super) fn check_rows(&self, count: u64) -> Result<(), Stop> {
        if count > self.limits.max_rows {
            return Err(Stop::Rows(self.limits.max_rows));
        }
        Ok(())
    }

    /// Passes the solutions of the message to `each`. An ASK query that is true has one solution
    /// without terms.
    pub(super) fn evaluate(
        &self,
        context: &MessageContext<'_>,
        mut each: impl FnMut(Vec<Option<Term>>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let failed = |error: spareval::QueryEvaluationError| Stop::Failed(error.to_string());
        let named = match &self.query.graphs {
            Graphs::Named(_, named) => Some(named.as_slice()),
            Graphs::AsTheyAre | Graphs::Union => None,
        };
        let view = View::new(&context.dictionary, &context.message, named);
        let is_small = context.message.quads.len() <= FEW_QUADS;
        let evaluator = if is_small || self.query.parts > MAX_PLANNED_PARTS {
            &self.plain
        } else {
            &self.evaluator
        };
        let named;
        let algebra = if self.query.needs_graphs {
            let failed = |error: QueryError| Stop::Failed(error.reason);
            named = self.query.for_graphs(&view.graph_names()).map_err(failed)?;
            &named
        } else {
            &self.query.algebra
        };
        let prepared = evaluator.prepare(algebra);
        match prepared.execute(&view).map_err(failed)? {
            QueryResults::Solutions(solutions) => {
                for solution in solutions {
                    let solution = solution.map_err(failed)?;
                    each(solution.values().to_vec())?;
                    budget::step();
                }
            }
            QueryResults::Boolean(true) => each(Vec::new())?,
            QueryResults::Boolean(false) | QueryResults::Graph(_) => {}
        }
        Ok(())
    }
}

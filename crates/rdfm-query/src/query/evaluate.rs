//! Queries over the messages of batches, each by itself.
//!
//! - In: a query, and batches. Out: rows, triples or answers of each message, in order.
//! - Cost: a dictionary a batch; then what the query costs in each message.
//! - Law: a message's result depends on that message alone; what ends the evaluation of one leaves those before whole.

use std::time::Duration;

use oxrdf::Term;
use rdfm_core::model::batch::MessageBatch;
use rustc_hash::FxHashSet;
use spareval::{QueryEvaluator, QueryResults};

use super::budget::{self, Cancel, Limits, Stop};
use super::dictionary::{Dictionary, UNBOUND};
use super::fresh::Fresh;
use super::functions::evaluator;
use super::message::{Graphs, Message};
use super::native::{Matcher, Plan};
use super::parse::{Form, Query};
use super::rows::Rows;
use super::stack::with_stack;
use super::view::View;

/// Rows, or triples, at which a message ends what is given at once.
const ENOUGH: usize = 1 << 16;
/// Terms of results at which a message ends what is given at once: about 64 MiB.
const KEPT: u64 = 1 << 20;
/// Cells of rows that count as one term.
pub(super) const CELLS: u64 = 4;
/// Quads of a message for which a query is not planned anew.
const FEW_QUADS: usize = 16;
/// Parts of a query beyond which it takes too long to plan.
const MANY_PARTS: usize = 100;
/// Longest time of planning, in which nothing cancels.
const PLANNED: Duration = Duration::from_millis(100);
/// Triples up to which repeated ones are looked for one by one.
const FEW: usize = 16;

/// What is called now and then.
type Look = Box<dyn Fn(&Cancel) + Send + Sync>;

/// A query that is evaluated.
pub struct Evaluation {
    /// The query.
    pub query: Query,
    /// What a message may take.
    pub limits: Limits,
    /// What ends it.
    pub cancel: Cancel,
    /// Called now and then while messages are evaluated, on the thread that asked for it.
    look: Option<Look>,
    evaluator: QueryEvaluator,
    /// For messages whose query costs less than to plan it better.
    plain: QueryEvaluator,
    /// How the pattern is matched without the evaluator, if it is covered.
    plan: Option<Plan>,
}

/// How far an evaluation came.
#[derive(Debug, Default)]
pub struct Progress {
    /// The first message of the batch that was not evaluated; it is that of `stop`.
    pub done: usize,
    /// What ended it.
    pub stop: Option<Stop>,
    /// Whether a message had named graphs.
    pub has_named: bool,
}

/// Triples of messages, by cell.
#[derive(Default)]
pub struct Triples {
    /// All triples, each once in its message.
    pub triples: Vec<[u32; 3]>,
    /// Behind which triple each message ends.
    pub ends: Vec<usize>,
}

impl Triples {
    /// Takes the triples of a message, as often as they come.
    pub(super) fn add(&mut self, give: impl FnOnce(&mut dyn FnMut([u32; 3]))) {
        let start = self.triples.len();
        let mut seen = FxHashSet::default();
        let triples = &mut self.triples;
        give(&mut |triple| {
            let few = triples.len() - start < FEW;
            let is_new = if few {
                !triples[start..].contains(&triple)
            } else {
                if seen.is_empty() {
                    seen.extend(triples[start..].iter().copied());
                }
                seen.insert(triple)
            };
            if is_new {
                // Many are also in a set.
                budget::keep(1);
                triples.push(triple);
            }
        });
        self.ends.push(triples.len());
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.triples.clear();
        self.ends.clear();
    }
}

/// A message, and what is known of its batch.
pub(super) struct Scene<'b> {
    pub dictionary: Dictionary<'b>,
    pub message: Message,
}

impl Scene<'_> {
    /// The cell of a term of a solution.
    pub fn cell(&self, rows: &mut Rows, fresh: &mut Fresh, term: Option<Term>) -> u32 {
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
                    let node = fresh.of(node, dictionary, message.classes());
                    rows.cell(dictionary, node.into())
                })
            }
            Some(term) => rows.cell(dictionary, term),
        }
    }
}

impl Evaluation {
    /// Prepares a query. Patterns that are covered are matched natively, unless not wanted so.
    pub fn new(query: Query, limits: Limits, native: bool) -> Self {
        let cancel = Cancel::default();
        // Constant expressions are evaluated here. One that meets a limit is left to each message, and fails there.
        let short = Limits {
            timeout: Some(limits.timeout.map_or(PLANNED, |time| time.min(PLANNED))),
            ..limits.clone()
        };
        let plan = || Plan::of(query.pattern(), &query.variables);
        let plan = || budget::within(&short, &cancel, || Ok(plan())).ok();
        Self {
            plan: native.then(plan).flatten().flatten(),
            evaluator: evaluator(&query.joins, &query.calls),
            plain: evaluator(&query.joins, &query.calls).without_optimizations(),
            query,
            limits,
            cancel,
            look: None,
        }
    }

    /// Whether a query's pattern is matched natively where that is wanted.
    pub fn is_covered(query: &Query) -> bool {
        Plan::of(query.pattern(), &query.variables).is_some()
    }

    /// Has something called now and then while messages are evaluated, which may cancel.
    #[must_use]
    pub fn looked_after(mut self, look: impl Fn(&Cancel) + Send + Sync + 'static) -> Self {
        self.look = Some(Box::new(look));
        self
    }

    /// Whether the pattern is matched without the evaluator.
    pub fn is_native(&self) -> bool {
        self.plan.is_some()
    }

    pub(super) fn look(&self) {
        if let Some(look) = &self.look {
            look(&self.cancel);
        }
    }

    /// Appends the rows of messages, from one on, until they are enough.
    pub fn rows(&self, batch: &MessageBatch, from: usize, rows: &mut Rows) -> Progress {
        let progress = self.each(batch, from, |scene, matcher, index| {
            let count = self.message(scene, matcher, rows, &mut Fresh::default())?;
            let messages = std::iter::repeat_n(index as u32, count);
            rows.messages.extend(messages);
            Ok(rows.messages.len() < ENOUGH && budget::kept() < KEPT)
        });
        // Those of a message that was not finished.
        rows.cells
            .truncate(rows.messages.len() * self.query.variables.len());
        progress
    }

    /// Appends the triples that a template makes of messages, from one on, until they are enough. `rows` gets the
    /// terms that no quad has.
    pub fn triples(
        &self,
        batch: &MessageBatch,
        from: usize,
        rows: &mut Rows,
        made: &mut Triples,
    ) -> Progress {
        let Form::Construct(template) = &self.query.form else {
            return Progress::default();
        };
        let width = self.query.variables.len();
        let mut constants = None;
        let progress = self.each(batch, from, |scene, matcher, _| {
            rows.cells.clear();
            let mut fresh = Fresh::default();
            let count = self.message(scene, matcher, rows, &mut fresh)?;
            let cells = std::mem::take(&mut rows.cells);
            let Scene {
                dictionary,
                message,
            } = scene;
            let constants = &*constants.get_or_insert_with(|| template.constants(dictionary, rows));
            made.add(|each| {
                for row in 0..count {
                    let cells = &cells[row * width..][..width];
                    let node = || fresh.node(dictionary, message.classes());
                    template.instantiate(dictionary, constants, cells, rows, node, &mut *each);
                }
            });
            rows.cells = cells;
            Ok(made.triples.len() < ENOUGH && budget::kept() < KEPT)
        });
        // Those of a message that was not finished.
        let whole = made.ends.last().copied().unwrap_or_default();
        made.triples.truncate(whole);
        progress
    }

    /// Appends for each message, from one on, whether the query holds in it.
    pub fn holds(&self, batch: &MessageBatch, from: usize, answers: &mut Vec<bool>) -> Progress {
        let mut rows = Rows::default();
        self.each(batch, from, |scene, matcher, _| {
            rows.clear();
            let count = self.message(scene, matcher, &mut rows, &mut Fresh::default())?;
            answers.push(count > 0);
            budget::forget_kept();
            Ok(true)
        })
    }

    /// Evaluates messages one by one, as long as `work` says so.
    fn each<'b>(
        &self,
        batch: &'b MessageBatch,
        from: usize,
        mut work: impl FnMut(&Scene<'b>, &mut Option<Matcher<'_>>, usize) -> Result<bool, Stop> + Send,
    ) -> Progress {
        let evaluate = || {
            budget::forget_kept();
            let dictionary = Dictionary::of(batch);
            let graphs = self.query.graphs.by_class(&dictionary);
            let mut matcher = self.plan.as_ref().map(Matcher::new);
            if let Some(matcher) = &mut matcher {
                matcher.begin(&dictionary);
            }
            let mut scene = Scene {
                dictionary,
                message: Message::default(),
            };
            let mut progress = Progress {
                done: from,
                ..Progress::default()
            };
            while progress.done < batch.len() {
                let index = progress.done;
                let Scene {
                    dictionary,
                    message,
                } = &mut scene;
                message.read(dictionary, &graphs, batch, index);
                progress.has_named |= scene.message.has_named;
                let work = || work(&scene, &mut matcher, index);
                match budget::within(&self.limits, &self.cancel, work) {
                    Ok(goes_on) => {
                        progress.done += 1;
                        if !goes_on {
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
        with_stack(evaluate, || self.look()).unwrap_or_else(|error| Progress {
            done: from,
            stop: Some(Stop::Failed(format!("no thread for a query: {error}"))),
            has_named: false,
        })
    }

    /// Appends the rows of one message, and gives their number; an ASK that holds has one row without cells.
    fn message(
        &self,
        scene: &Scene<'_>,
        matcher: &mut Option<Matcher<'_>>,
        rows: &mut Rows,
        fresh: &mut Fresh,
    ) -> Result<usize, Stop> {
        if let Some(matcher) = matcher {
            return self.matched(scene, matcher, rows);
        }
        let mut count = 0;
        self.evaluate(scene, |solution| {
            count += 1;
            self.check_rows(count)?;
            budget::keep(self.weight());
            for term in solution {
                let cell = scene.cell(rows, fresh, term);
                rows.cells.push(cell);
            }
            Ok(())
        })?;
        Ok(count as usize)
    }

    /// Appends the rows of one message without the evaluator.
    fn matched(
        &self,
        scene: &Scene<'_>,
        matcher: &mut Matcher<'_>,
        rows: &mut Rows,
    ) -> Result<usize, Stop> {
        let Scene {
            dictionary,
            message,
        } = scene;
        let most = match self.query.form {
            Form::Ask => 1,
            Form::Select | Form::Construct(_) => usize::MAX,
        };
        let start = rows.cells.len();
        let mut cells = std::mem::take(&mut rows.cells);
        let (mut before, weight) = (0, self.weight());
        let found = matcher.run(dictionary, message, most, &mut cells, &mut |found| {
            // Many quads were looked at where there is no new row.
            if found == before {
                budget::look();
            } else {
                budget::keep(weight);
            }
            before = found;
            self.check_rows(found as u64)
        });
        rows.cells = cells;
        if dictionary.varies() || matcher.has_others() {
            for at in start..rows.cells.len() {
                let cell = rows.cells[at];
                rows.cells[at] = match cell.checked_sub(dictionary.terms()) {
                    None => message.written(cell).0,
                    Some(number) => match matcher.other(number) {
                        Some(term) if cell != UNBOUND => rows.cell(dictionary, term.clone()),
                        _ => UNBOUND,
                    },
                };
            }
        }
        found
    }

    /// What the cells of a row take.
    pub(super) fn weight(&self) -> u64 {
        1 + self.query.variables.len() as u64 / CELLS
    }

    /// Refuses one row too many.
    pub(super) fn check_rows(&self, count: u64) -> Result<(), Stop> {
        if count > self.limits.max_rows {
            return Err(Stop::Rows(self.limits.max_rows));
        }
        Ok(())
    }

    /// Gives the solutions of the message of a scene. An ASK that holds has one without terms.
    pub(super) fn evaluate(
        &self,
        scene: &Scene<'_>,
        mut each: impl FnMut(Vec<Option<Term>>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let failed = |error: spareval::QueryEvaluationError| Stop::Failed(error.to_string());
        let named = match &self.query.graphs {
            Graphs::Named(_, named) => Some(named.as_slice()),
            Graphs::AsTheyAre | Graphs::Union => None,
        };
        let view = View::new(&scene.dictionary, &scene.message, named);
        let is_small = scene.message.quads.len() <= FEW_QUADS;
        let evaluator = if is_small || self.query.parts > MANY_PARTS {
            &self.plain
        } else {
            &self.evaluator
        };
        let prepared = evaluator.prepare(&self.query.algebra);
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

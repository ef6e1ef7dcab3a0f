//! Queries over the messages of batches, each by itself.
//!
//! - In: a query, and batches. Out: rows, triples or answers of each message, in order.
//! - Cost: a dictionary a batch; then what the query costs in each message.
//! - Law: a message's result depends on that message alone; what ends the evaluation of one leaves those before whole.

use oxrdf::Term;
use rdfm_core::model::batch::MessageBatch;
use rustc_hash::FxHashSet;
use spareval::{QueryEvaluator, QueryResults};

use super::budget::{self, Cancel, Limits, Stop};
use super::dictionary::{Dictionary, UNBOUND};
use super::fresh::Fresh;
use super::message::{GraphClasses, Message};
use super::parse::{Form, Query};
use super::rows::Rows;
use super::stack::with_stack;
use super::view::View;

/// Rows, or triples, at which a message ends what is given at once.
const ENOUGH: usize = 1 << 16;
/// Triples up to which repeated ones are looked for one by one.
const FEW: usize = 16;

/// A query that is evaluated.
pub struct Evaluation {
    /// The query.
    pub query: Query,
    /// What a message may take.
    pub limits: Limits,
    /// What ends it.
    pub cancel: Cancel,
    /// Called now and then while messages are evaluated, on the thread that asked for it.
    look: Option<Box<dyn Fn(&Cancel) + Send + Sync>>,
    evaluator: QueryEvaluator,
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
    pub graphs: GraphClasses,
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
        let cell = match term {
            None => return UNBOUND,
            Some(Term::BlankNode(node)) => {
                let term = Term::from(node.clone());
                match dictionary.find(&term) {
                    Some(class) => class,
                    None => {
                        let node = fresh.of(node, dictionary, message.classes());
                        rows.cell(dictionary, node.into())
                    }
                }
            }
            Some(term) => rows.cell(dictionary, term),
        };
        if dictionary.varies() && cell < dictionary.terms() {
            return message.written(cell).0;
        }
        cell
    }
}

impl Evaluation {
    /// Prepares a query.
    pub fn new(query: Query, limits: Limits) -> Self {
        Self {
            query,
            limits,
            cancel: Cancel::default(),
            look: None,
            evaluator: QueryEvaluator::new(),
        }
    }

    /// Has something called now and then while messages are evaluated, which may cancel.
    #[must_use]
    pub fn looked_after(mut self, look: impl Fn(&Cancel) + Send + Sync + 'static) -> Self {
        self.look = Some(Box::new(look));
        self
    }

    pub(super) fn look(&self) {
        if let Some(look) = &self.look {
            look(&self.cancel);
        }
    }

    /// Appends the rows of messages, from one on, until they are enough.
    pub fn rows(&self, batch: &MessageBatch, from: usize, rows: &mut Rows) -> Progress {
        let progress = self.each(batch, from, |scene, index| {
            let mut count = 0;
            self.message(scene, rows, &mut Fresh::default(), &mut count)?;
            let messages = std::iter::repeat_n(index as u32, count as usize);
            rows.messages.extend(messages);
            Ok(rows.messages.len() < ENOUGH)
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
        let progress = self.each(batch, from, |scene, _| {
            rows.cells.clear();
            let mut count = 0;
            let mut fresh = Fresh::default();
            self.message(scene, rows, &mut fresh, &mut count)?;
            let cells = std::mem::take(&mut rows.cells);
            let Scene {
                dictionary,
                message,
                ..
            } = scene;
            made.add(|each| {
                for row in 0..count as usize {
                    let cells = &cells[row * width..][..width];
                    let node = || fresh.node(dictionary, message.classes());
                    template.instantiate(dictionary, cells, rows, node, &mut *each);
                }
            });
            rows.cells = cells;
            Ok(made.triples.len() < ENOUGH)
        });
        // Those of a message that was not finished.
        let whole = made.ends.last().copied().unwrap_or_default();
        made.triples.truncate(whole);
        progress
    }

    /// Appends for each message, from one on, whether the query holds in it.
    pub fn holds(&self, batch: &MessageBatch, from: usize, answers: &mut Vec<bool>) -> Progress {
        let mut rows = Rows::default();
        self.each(batch, from, |scene, _| {
            let mut count = 0;
            rows.clear();
            self.message(scene, &mut rows, &mut Fresh::default(), &mut count)?;
            answers.push(count > 0);
            Ok(true)
        })
    }

    /// Evaluates messages one by one, as long as `work` says so.
    fn each<'b>(
        &self,
        batch: &'b MessageBatch,
        from: usize,
        mut work: impl FnMut(&mut Scene<'b>, usize) -> Result<bool, Stop> + Send,
    ) -> Progress {
        let evaluate = || {
            let dictionary = Dictionary::of(batch);
            let mut scene = Scene {
                graphs: self.query.graphs.by_class(&dictionary),
                dictionary,
                message: Message::default(),
            };
            let mut progress = Progress {
                done: from,
                ..Progress::default()
            };
            while progress.done < batch.len() {
                let index = progress.done;
                scene
                    .message
                    .read(&scene.dictionary, &scene.graphs, batch, index);
                progress.has_named |= scene.message.has_named;
                match budget::within(&self.limits, &self.cancel, || work(&mut scene, index)) {
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

    /// Appends the rows of one message; an ASK that holds has one row without cells.
    fn message(
        &self,
        scene: &Scene<'_>,
        rows: &mut Rows,
        fresh: &mut Fresh,
        count: &mut u64,
    ) -> Result<(), Stop> {
        self.evaluate(scene, |solution| {
            *count += 1;
            self.check_rows(*count)?;
            for term in solution {
                let cell = scene.cell(rows, fresh, term);
                rows.cells.push(cell);
            }
            Ok(())
        })
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
        let view = View::new(&scene.dictionary, &scene.message);
        let prepared = self.evaluator.prepare(&self.query.algebra);
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

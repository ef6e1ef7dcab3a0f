//! SPARQL over batches, for Python.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rdfm_core::model::batch;
use rdfm_core::model::remedy::{Reason, Remedy, Side};
use rdfm_query::query::budget::{Limits, Stop};
use rdfm_query::query::evaluate::{Evaluation, Progress, Triples};
use rdfm_query::query::output::{MessageOutput, RowOutput};
use rdfm_query::query::parse::{self, Form};
use rdfm_query::query::rows::Rows;
use rdfm_query::query::whole::{Collector, Piece};

use crate::batch::MessageBatch;
use crate::errors;
use crate::records::ResultBatch;

/// Pieces of a whole dataset's result that wait to be taken.
const WAITING: usize = 2;
/// Time between two looks at signals.
const LOOK: Duration = Duration::from_millis(50);

/// What a signal raised while a query ran.
type Raised = Arc<Mutex<Option<PyErr>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A SPARQL query.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Query {
    evaluation: Arc<Evaluation>,
    rows: Mutex<RowOutput>,
    messages: Mutex<MessageOutput>,
    raised: Raised,
}

/// What a query gives for messages of a batch, as far as it came.
#[pyclass(frozen, get_all, module = "rdfm._core")]
pub struct Evaluated {
    /// The rows of a SELECT.
    pub rows: Option<Py<ResultBatch>>,
    /// The message in the batch of each row.
    pub messages: Vec<u32>,
    /// The messages of a CONSTRUCT; None of none.
    constructed: Option<Py<MessageBatch>>,
    /// Whether an ASK holds for each message.
    answers: Vec<bool>,
    /// The first message that was not evaluated.
    done: usize,
    /// Why that message ended the evaluation, and the option that allows more; None where it did not.
    error: Option<(String, Option<&'static str>)>,
    /// Whether a message had named graphs.
    has_named: bool,
}

impl Query {
    /// The exception of a signal, if there was one while the query ran.
    fn check(&self) -> PyResult<()> {
        match lock(&self.raised).take() {
            None => Ok(()),
            Some(error) => {
                self.evaluation.cancel.reset();
                Err(error)
            }
        }
    }
}

impl Evaluated {
    fn new(progress: Progress) -> Self {
        Self {
            rows: None,
            messages: Vec::new(),
            constructed: None,
            answers: Vec::new(),
            done: progress.done,
            error: progress.stop.map(|stop| stop.text()),
            has_named: progress.has_named,
        }
    }
}

#[pymethods]
impl Query {
    /// Parses a query.
    ///
    /// Args:
    ///     text: The query.
    ///     base: The IRI to which relative ones are resolved.
    ///     prefixes: Namespaces of prefixes that the query does not declare.
    ///     union_graphs: Whether all graphs together are the default graph.
    ///     timeout: Seconds that a message may take, or a whole dataset.
    ///     max_rows: Rows that a message may have, or a whole dataset.
    ///     native: Whether patterns that are covered are matched without the evaluator.
    /// Raises:
    ///     QueryError: It is no query, or one that is not evaluated.
    #[new]
    #[allow(
        clippy::too_many_arguments,
        clippy::redundant_closure_for_method_calls,
        reason = "keyword arguments; a method of some lifetime is not one of any"
    )]
    #[pyo3(signature = (text, *, base=None, prefixes=None, union_graphs=false, timeout=None, max_rows=None, native=true))]
    fn new(
        py: Python<'_>,
        text: &str,
        base: Option<&str>,
        prefixes: Option<BTreeMap<String, String>>,
        union_graphs: bool,
        timeout: Option<f64>,
        max_rows: Option<u64>,
        native: bool,
    ) -> PyResult<Self> {
        let prefixes: Vec<_> = prefixes.unwrap_or_default().into_iter().collect();
        let parse = || parse::Query::parse(text, base, &prefixes, union_graphs);
        let query = errors::guarded(py, parse)?
            .map_err(|error| errors::query(py, &error.reason, error.position))?;
        let timeout = timeout.map(|seconds| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|error| errors::option(format!("timeout: {error}")))
        });
        let limits = Limits {
            timeout: timeout.transpose()?,
            max_rows: max_rows.unwrap_or(u64::MAX),
            ..Limits::default()
        };
        let raised = Raised::default();
        let (rows, slot) = (RowOutput::new(&query), Arc::clone(&raised));
        let evaluation = Evaluation::new(query, limits, native).looked_after(move |cancel| {
            let signals = Python::attach(|py: Python<'_>| py.check_signals());
            if let Err(error) = signals {
                *lock(&slot) = Some(error);
                cancel.cancel();
            }
        });
        Ok(Self {
            evaluation: Arc::new(evaluation),
            rows: Mutex::new(rows),
            messages: Mutex::default(),
            raised,
        })
    }

    /// What it gives: select, construct or ask.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.evaluation.query.form {
            Form::Select => "select",
            Form::Construct(_) => "construct",
            Form::Ask => "ask",
        }
    }

    /// Whether it names no graphs by FROM, and some of its patterns are matched in the default graph.
    #[getter]
    fn asks_default(&self) -> bool {
        self.evaluation.query.asks_default
    }

    /// The variables of a SELECT, or of the template of a CONSTRUCT.
    #[getter]
    fn variables(&self) -> Vec<&str> {
        self.evaluation.query.names()
    }

    /// The namespaces that the query declares.
    #[getter]
    fn prefixes(&self) -> BTreeMap<String, String> {
        self.evaluation.query.prefixes.iter().cloned().collect()
    }

    /// The rows of each message of a batch by itself, from one on.
    ///
    /// Raises:
    ///     LimitError: The rows are too large.
    #[pyo3(signature = (batch, start=0))]
    fn solutions(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        start: usize,
    ) -> PyResult<Evaluated> {
        let batch = batch.get().inner();
        let (progress, rows, messages) = errors::guarded(py, || {
            let mut rows = Rows::default();
            let progress = self.evaluation.rows(batch, start, &mut rows);
            let made = lock(&self.rows).batch(batch, &rows);
            (progress, made, rows.messages)
        })?;
        self.check()?;
        let rows = ResultBatch::new(rows.map_err(errors::exceeded)?);
        Ok(Evaluated {
            rows: Some(Py::new(py, rows)?),
            messages,
            ..Evaluated::new(progress)
        })
    }

    /// The messages that a CONSTRUCT makes of each message of a batch, from one on.
    ///
    /// Raises:
    ///     LimitError: The messages are too large.
    #[pyo3(signature = (batch, start=0))]
    fn construct(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        start: usize,
    ) -> PyResult<Evaluated> {
        let batch = batch.get().inner();
        let (progress, made) = errors::guarded(py, || {
            let (mut rows, mut triples) = (Rows::default(), Triples::default());
            let evaluation = &self.evaluation;
            let progress = evaluation.triples(batch, start, &mut rows, &mut triples);
            let mut output = lock(&self.messages);
            let made = output.batch(&evaluation.query, batch, start, &rows, &triples);
            (progress, made)
        })?;
        self.check()?;
        let made = made.map_err(errors::exceeded)?;
        let constructed = made.map(|made| Py::new(py, MessageBatch::new(made)));
        Ok(Evaluated {
            constructed: constructed.transpose()?,
            ..Evaluated::new(progress)
        })
    }

    /// Whether an ASK holds for each message of a batch, from one on.
    #[pyo3(signature = (batch, start=0))]
    fn holds(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        start: usize,
    ) -> PyResult<Evaluated> {
        let batch = batch.get().inner();
        let (progress, answers) = errors::guarded(py, || {
            let mut answers = Vec::new();
            let progress = self.evaluation.holds(batch, start, &mut answers);
            (progress, answers)
        })?;
        self.check()?;
        Ok(Evaluated {
            answers,
            ..Evaluated::new(progress)
        })
    }

    /// The messages that a CONSTRUCT makes of rows of results, one of each; None of no rows.
    ///
    /// Raises:
    ///     LimitError: The messages are too large.
    fn instantiate(
        &self,
        py: Python<'_>,
        results: &Bound<'_, ResultBatch>,
    ) -> PyResult<Option<MessageBatch>> {
        let results = results.get().inner();
        let made = errors::guarded(py, || {
            let mut output = lock(&self.messages);
            self.evaluation.instantiate(results, &mut output)
        })?;
        let made = made.map_err(|stop| stopped(&stop))?;
        Ok(made.map(MessageBatch::new))
    }

    /// Evaluates the query over a dataset: gives batches of rows or messages, or a bool, as they are asked for.
    fn whole(&self, dataset: &Bound<'_, QueryDataset>) -> PyResult<WholeResult> {
        let (sender, receiver) = sync_channel(WAITING);
        let evaluation = Arc::clone(&self.evaluation);
        evaluation.cancel.reset();
        let data = dataset.get().taken();
        std::thread::Builder::new().spawn(move || give(&evaluation, &data, &sender))?;
        Ok(WholeResult {
            evaluation: Arc::clone(&self.evaluation),
            pieces: Mutex::new(Some(receiver)),
        })
    }

    /// Ends what runs, from another thread.
    fn cancel(&self) {
        self.evaluation.cancel.cancel();
    }
}

/// What ended an evaluation.
fn stopped(stop: &Stop) -> PyErr {
    let (text, option) = stop.text();
    let mut reason = Reason::new(text);
    if let Some(option) = option {
        reason = reason.with(Remedy {
            side: Side::Stage,
            option,
            value: None,
            text: Cow::Borrowed(""),
        });
    }
    errors::limit(reason)
}

/// Hands a whole dataset's result over.
fn give(evaluation: &Evaluation, data: &batch::MessageBatch, sender: &SyncSender<Given>) {
    let mut piece = |piece| sender.send(Ok(piece)).is_ok();
    if let Err(stop) = evaluation.whole(data, &mut piece) {
        // Nobody may wait for it any more.
        let _ = sender.send(Err(stop));
    }
}

type Given = Result<Piece, Stop>;

/// The result of a query over a whole dataset, piece by piece.
#[pyclass(frozen, module = "rdfm._core")]
pub struct WholeResult {
    evaluation: Arc<Evaluation>,
    pieces: Mutex<Option<Receiver<Given>>>,
}

#[pymethods]
impl WholeResult {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// The next batch of rows or messages, or the answer.
    ///
    /// Raises:
    ///     LimitError: What ended the evaluation.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let next = loop {
            let next = py.detach(|| match &*lock(&self.pieces) {
                Some(pieces) => pieces.recv_timeout(LOOK),
                None => Err(RecvTimeoutError::Disconnected),
            });
            match next {
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = py.check_signals() {
                        self.close();
                        return Err(error);
                    }
                }
                next => break next.ok(),
            }
        };
        match next {
            None => Ok(None),
            Some(Err(stop)) => Err(stopped(&stop)),
            Some(Ok(Piece::Rows(rows))) => {
                Ok(Some(Py::new(py, ResultBatch::new(rows))?.into_any()))
            }
            Some(Ok(Piece::Messages(messages))) => {
                Ok(Some(Py::new(py, MessageBatch::new(messages))?.into_any()))
            }
            Some(Ok(Piece::Answer(answer))) => Ok(Some(
                answer.into_pyobject(py)?.to_owned().into_any().unbind(),
            )),
        }
    }

    /// Ends the evaluation.
    fn close(&self) {
        self.evaluation.cancel.cancel();
        lock(&self.pieces).take();
    }
}

impl Drop for WholeResult {
    fn drop(&mut self) {
        if lock(&self.pieces).take().is_some() {
            self.evaluation.cancel.cancel();
        }
    }
}

/// Messages as one dataset, in memory.
#[pyclass(frozen, module = "rdfm._core")]
pub struct QueryDataset {
    state: Mutex<Collected>,
}

enum Collected {
    Open(Box<Collector>),
    Closed(Arc<batch::MessageBatch>),
}

impl QueryDataset {
    /// The dataset, to which nothing is added any more.
    fn taken(&self) -> Arc<batch::MessageBatch> {
        let mut state = lock(&self.state);
        if let Collected::Open(collector) = &mut *state {
            let data = Arc::new(std::mem::take(&mut **collector).finish());
            *state = Collected::Closed(Arc::clone(&data));
            return data;
        }
        match &*state {
            Collected::Closed(data) => Arc::clone(data),
            Collected::Open(_) => Arc::new(batch::MessageBatch::empty()),
        }
    }
}

#[pymethods]
impl QueryDataset {
    /// An empty dataset.
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::new(Collected::Open(Box::default())),
        }
    }

    /// Takes messages in. Blank nodes of different messages are different ones.
    ///
    /// Raises:
    ///     LimitError: The dataset is larger than 2 GiB.
    ///     ValueError: A query was evaluated over it before.
    fn add(&self, py: Python<'_>, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        let added = errors::guarded(py, || match &mut *lock(&self.state) {
            Collected::Open(collector) => Some(collector.add(batch)),
            Collected::Closed(_) => None,
        })?;
        match added {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) => Err(errors::limit(
                "all messages together are larger than 2 GiB; query each by itself, or fewer of them",
            )),
            None => Err(pyo3::exceptions::PyValueError::new_err(
                "messages are added before a query is evaluated",
            )),
        }
    }

    /// Whether a message had named graphs.
    #[getter]
    fn has_named(&self) -> bool {
        match &*lock(&self.state) {
            Collected::Open(collector) => collector.has_named(),
            Collected::Closed(data) => data.has_graphs(),
        }
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Query>()?;
    module.add_class::<Evaluated>()?;
    module.add_class::<WholeResult>()?;
    module.add_class::<QueryDataset>()
}

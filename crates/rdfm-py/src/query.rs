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
use rdfm_query::query::rows::SolutionRows;
use rdfm_query::query::whole::{Collector, Piece};

use crate::batch::MessageBatch;
use crate::errors;
use crate::records::ResultBatch;

/// Maximum number of buffered pieces in the result for an entire dataset.
const MAX_BUFFERED_PIECES: usize = 2;
/// Interval between checks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// An exception that a signal handler raised while a query ran.
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

/// Query results for the messages of a batch that have been evaluated.
#[pyclass(frozen, get_all, module = "rdfm._core")]
pub struct EvaluationResult {
    /// Rows of a SELECT query.
    pub rows: Option<Py<ResultBatch>>,
    /// Index of each row's message in the batch.
    pub messages: Vec<u32>,
    /// Messages of a CONSTRUCT query, or None if there are none.
    constructed: Option<Py<MessageBatch>>,
    /// Answer to an ASK query for each message.
    answers: Vec<bool>,
    /// Number of the first message that was not evaluated.
    done: usize,
    /// Reason why the evaluation ended at that message, and the option that raises the limit. None
    /// if the evaluation was completed.
    error: Option<(String, Option<&'static str>)>,
    /// Whether any message contains named graphs.
    has_named: bool,
}

impl Query {
    /// Returns an error if a signal handler raised an exception while the query ran.
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

impl EvaluationResult {
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
    /// Parse a query.
    ///
    /// Args:
    ///     text: The query.
    ///     base: Base for relative IRIs.
    ///     prefixes: Namespaces by prefix, for prefixes that the query does not declare.
    ///     union_graphs: Whether the default graph is the union of all graphs.
    ///     timeout: Time limit in seconds for each message or for an entire dataset.
    ///     max_rows: Maximum number of rows for each message or for an entire dataset.
    ///     native: Whether to match supported patterns without the SPARQL evaluator.
    /// Raises:
    ///     QueryError: If the query is invalid or its form is not supported.
    #[new]
    #[allow(
        clippy::too_many_arguments,
        clippy::redundant_closure_for_method_calls,
        reason = "they are keyword arguments in Python; a method path would have only one lifetime"
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
        let query = errors::run_guarded(py, parse)?.map_err(|error| errors::query(py, error))?;
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
        let evaluation = Evaluation::new(query, limits, native).with_check(move |cancel| {
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

    /// Form of the query: "select", "construct" or "ask".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.evaluation.query.form {
            Form::Select => "select",
            Form::Construct(_) => "construct",
            Form::Ask => "ask",
        }
    }

    /// Whether the query has no FROM clause and matches any pattern in the default graph.
    #[getter]
    fn uses_default_graph(&self) -> bool {
        self.evaluation.query.uses_default_graph
    }

    /// Variables of a SELECT query, or of the template of a CONSTRUCT query.
    #[getter]
    fn variables(&self) -> Vec<&str> {
        self.evaluation.query.names()
    }

    /// Namespaces that the query declares, by prefix.
    #[getter]
    fn prefixes(&self) -> BTreeMap<String, String> {
        self.evaluation.query.prefixes.iter().cloned().collect()
    }

    /// Evaluate a SELECT query on each message of a batch separately, starting at message `start`.
    ///
    /// Raises:
    ///     LimitError: If the rows are too large.
    #[pyo3(signature = (batch, start=0))]
    fn solutions(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        start: usize,
    ) -> PyResult<EvaluationResult> {
        let batch = batch.get().inner();
        let (progress, rows, messages) = errors::run_guarded(py, || {
            let mut rows = SolutionRows::default();
            let progress = self.evaluation.evaluate_rows(batch, start, &mut rows);
            let output_batch = lock(&self.rows).build_batch(batch, &rows);
            (progress, output_batch, rows.messages)
        })?;
        self.check()?;
        let rows = ResultBatch::new(rows.map_err(errors::limit_error)?);
        Ok(EvaluationResult {
            rows: Some(Py::new(py, rows)?),
            messages,
            ..EvaluationResult::new(progress)
        })
    }

    /// Evaluate a CONSTRUCT query on each message of a batch separately, starting at message
    /// `start`.
    ///
    /// Raises:
    ///     LimitError: If the constructed messages are too large.
    #[pyo3(signature = (batch, start=0))]
    fn construct(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        start: usize,
    ) -> PyResult<EvaluationResult> {
        let batch = batch.get().inner();
        let (progress, output_batch) = errors::run_guarded(py, || {
            let (mut rows, mut triples) = (SolutionRows::default(), Triples::default());
            let evaluation = &self.evaluation;
            let progress = evaluation.construct_triples(batch, start, &mut rows, &mut triples);
            let mut output = lock(&self.messages);
            let output_batch = output.build_batch(&evaluation.query, batch, start, &rows, &triples);
            (progress, output_batch)
        })?;
        self.check()?;
        let output_batch = output_batch.map_err(errors::limit_error)?;
        let constructed =
            output_batch.map(|output_batch| Py::new(py, MessageBatch::new(output_batch)));
        Ok(EvaluationResult {
            constructed: constructed.transpose()?,
            ..EvaluationResult::new(progress)
        })
    }

    /// Evaluate an ASK query on each message of a batch separately, starting at message `start`.
    #[pyo3(signature = (batch, start=0))]
    fn answers(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
        start: usize,
    ) -> PyResult<EvaluationResult> {
        let batch = batch.get().inner();
        let (progress, answers) = errors::run_guarded(py, || {
            let mut answers = Vec::new();
            let progress = self.evaluation.evaluate_answers(batch, start, &mut answers);
            (progress, answers)
        })?;
        self.check()?;
        Ok(EvaluationResult {
            answers,
            ..EvaluationResult::new(progress)
        })
    }

    /// Return the messages that a CONSTRUCT query creates from result rows, one per row. None if
    /// there are no rows.
    ///
    /// Raises:
    ///     LimitError: If the messages are too large.
    fn instantiate(
        &self,
        py: Python<'_>,
        results: &Bound<'_, ResultBatch>,
    ) -> PyResult<Option<MessageBatch>> {
        let results = results.get().inner();
        let output_batch = errors::run_guarded(py, || {
            let mut output = lock(&self.messages);
            self.evaluation.instantiate(results, &mut output)
        })?;
        let output_batch = output_batch.map_err(|stop| stop_error(&stop))?;
        Ok(output_batch.map(MessageBatch::new))
    }

    /// Evaluate the query on a dataset. Returns an iterator that yields batches of rows or
    /// messages, or a single bool.
    fn whole(&self, dataset: &Bound<'_, QueryDataset>) -> PyResult<WholeResult> {
        let (sender, receiver) = sync_channel(MAX_BUFFERED_PIECES);
        let evaluation = Arc::clone(&self.evaluation);
        evaluation.cancel.reset();
        let data = dataset.get().close();
        std::thread::Builder::new().spawn(move || send_result(&evaluation, &data, &sender))?;
        Ok(WholeResult {
            evaluation: Arc::clone(&self.evaluation),
            pieces: Mutex::new(Some(receiver)),
        })
    }

    /// Stop the running evaluation. This method can be called from another thread.
    fn cancel(&self) {
        self.evaluation.cancel.cancel();
    }
}

/// Returns the exception for an evaluation that was stopped.
fn stop_error(stop: &Stop) -> PyErr {
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

/// Sends the result for an entire dataset to the receiver.
fn send_result(
    evaluation: &Evaluation,
    data: &batch::MessageBatch,
    sender: &SyncSender<SentPiece>,
) {
    let mut piece = |piece| sender.send(Ok(piece)).is_ok();
    if let Err(stop) = evaluation.run_whole(data, &mut piece) {
        // The receiver may have been dropped.
        let _ = sender.send(Err(stop));
    }
}

type SentPiece = Result<Piece, Stop>;

/// The result of a query on an entire dataset, received piece by piece.
#[pyclass(frozen, module = "rdfm._core")]
pub struct WholeResult {
    evaluation: Arc<Evaluation>,
    pieces: Mutex<Option<Receiver<SentPiece>>>,
}

#[pymethods]
impl WholeResult {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Return the next batch of rows or messages, or the answer to an ASK query.
    ///
    /// Raises:
    ///     LimitError: If a limit ended the evaluation.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let next = loop {
            let next = py.detach(|| match &*lock(&self.pieces) {
                Some(pieces) => pieces.recv_timeout(INTERVAL),
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
            Some(Err(stop)) => Err(stop_error(&stop)),
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

    /// Stop the evaluation.
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

/// Messages combined into one in-memory dataset.
#[pyclass(frozen, module = "rdfm._core")]
pub struct QueryDataset {
    state: Mutex<Collected>,
}

enum Collected {
    Open(Box<Collector>),
    Closed(Arc<batch::MessageBatch>),
}

impl QueryDataset {
    /// Closes the dataset and returns it. Afterwards no messages can be added.
    fn close(&self) -> Arc<batch::MessageBatch> {
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
    /// Create an empty dataset.
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::new(Collected::Open(Box::default())),
        }
    }

    /// Add the messages of a batch. Blank nodes of different messages are distinct.
    ///
    /// Raises:
    ///     LimitError: If the dataset is larger than 2 GiB.
    ///     ValueError: If a query has already been evaluated on the dataset.
    fn add(&self, py: Python<'_>, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        let added = errors::run_guarded(py, || match &mut *lock(&self.state) {
            Collected::Open(collector) => Some(collector.add(batch)),
            Collected::Closed(_) => None,
        })?;
        match added {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) => Err(errors::limit(
                "the messages are larger than 2 GiB in total; query each message separately, or query fewer messages",
            )),
            None => Err(pyo3::exceptions::PyValueError::new_err(
                "messages cannot be added after a query has been evaluated",
            )),
        }
    }

    /// Whether any message contains named graphs.
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
    module.add_class::<EvaluationResult>()?;
    module.add_class::<WholeResult>()?;
    module.add_class::<QueryDataset>()
}

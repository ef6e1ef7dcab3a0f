//! Division of a log into files by message key, for Python.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rdfm_core::codec::batch::BatchRef;
use rdfm_core::model::batch;
use rdfm_core::regroup::slices::Slices;
use rdfm_query::keys::{KeyFinder, KeyKind, Keys};

use crate::batch::MessageBatch;
use crate::codecs::{self, Encoder};
use crate::errors;

/// The bytes that identify a key, and the text of the key.
type NamedKey<'py> = (Bound<'py, PyBytes>, String);
/// The number of a key, and encoded bytes.
type KeyBytes<'py> = (usize, Bound<'py, PyBytes>);

struct SplitterState {
    finder: KeyFinder,
    slices: Slices,
    batch: Option<Py<MessageBatch>>,
    keys: Keys,
    /// Number of messages of the batch that have been returned.
    taken: usize,
}

impl SplitterState {
    /// Returns the key number of the next messages with equal keys (up to `stop`), and these
    /// messages in slices. Each slice can begin a log.
    fn next_run(
        &mut self,
        messages: &batch::MessageBatch,
        stop: usize,
    ) -> Option<(usize, Option<Vec<batch::MessageBatch>>)> {
        if self.taken >= stop {
            return None;
        }
        let key = self.keys.key_numbers[self.taken] as usize;
        self.taken = self.keys.run(self.taken, stop);
        Some((key, self.slices.take(messages, self.taken, true)))
    }
}

/// Splits the batches of a log by the keys of their messages.
///
/// Call `begin` with each batch, and then `encode` or `slices` until they have returned all
/// messages.
#[pyclass(frozen, module = "rdfm._core")]
pub struct KeySplitter {
    state: Mutex<SplitterState>,
}

impl KeySplitter {
    fn state(&self) -> MutexGuard<'_, SplitterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current batch.
    fn current(&self, py: Python<'_>) -> PyResult<Py<MessageBatch>> {
        let state = self.state();
        let batch = state.batch.as_ref().map(|batch| batch.clone_ref(py));
        batch.ok_or_else(|| errors::option("no batch was given"))
    }
}

#[pymethods]
impl KeySplitter {
    /// Create a splitter.
    ///
    /// Args:
    ///     kind: "graph", "value", "day" or "month".
    ///     predicate: The predicate of the value. For "day" and "month", None means the known time
    ///         predicates.
    ///     prefixes: Namespaces of prefixes. Other prefixes are looked up in the logs.
    /// Raises:
    ///     OptionError: If the predicate is not an IRI.
    #[new]
    #[pyo3(signature = (kind, predicate, prefixes))]
    fn new(
        kind: &str,
        predicate: Option<&str>,
        prefixes: BTreeMap<String, String>,
    ) -> PyResult<Self> {
        let kind = match kind {
            "graph" => KeyKind::Graph,
            "value" => KeyKind::Value,
            "day" => KeyKind::Day,
            "month" => KeyKind::Month,
            _ => return Err(errors::option(format!("unknown kind of key '{kind}'"))),
        };
        let bytes = |(name, iri): (String, String)| (name.into_bytes(), iri.into_bytes());
        let finder = match predicate {
            _ if kind == KeyKind::Graph => Ok(KeyFinder::graph()),
            None => KeyFinder::times(kind),
            Some(text) => KeyFinder::predicate(kind, text, prefixes.into_iter().map(bytes)),
        };
        Ok(Self {
            state: Mutex::new(SplitterState {
                finder: finder.map_err(errors::option)?,
                slices: Slices::default(),
                batch: None,
                keys: Keys::default(),
                taken: 0,
            }),
        })
    }

    /// Start a batch.
    ///
    /// Returns:
    ///     The distinct keys, each as identifying bytes and a readable text, and the number of
    ///     messages with several keys. The bytes are empty for messages without a key.
    #[pyo3(signature = (batch, /))]
    fn begin<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, MessageBatch>,
    ) -> PyResult<(Vec<NamedKey<'py>>, u64)> {
        let messages = batch.get().inner();
        let mut state = self.state();
        state.batch = Some(batch.clone().unbind());
        let SplitterState {
            finder,
            slices,
            keys,
            taken: start,
            ..
        } = &mut *state;
        *start = 0;
        errors::run_guarded(py, || {
            slices.begin_batch(messages);
            *keys = finder.keys(messages);
        })?;
        let key = |key: &rdfm_query::keys::Key| (PyBytes::new(py, &key.id), key.text.clone());
        Ok((keys.distinct.iter().map(key).collect(), keys.ambiguous))
    }

    /// Find the next messages whose keys are live or can become live. A key is live while its file
    /// is open.
    ///
    /// Args:
    ///     live: One byte for each key: 1 if the key is live, 0 otherwise.
    ///     room: Number of keys that may still become live.
    /// Returns:
    ///     The number of the message after these messages, and their keys in order of last use.
    #[pyo3(signature = (live, room, /))]
    fn live_run(&self, live: Vec<u8>, room: usize) -> (usize, Vec<u32>) {
        let state = self.state();
        let live: Vec<bool> = live.into_iter().map(|live| live != 0).collect();
        state.keys.live_run(state.taken, &live, room)
    }

    /// Encode the next messages, each with the encoder for its key.
    ///
    /// Args:
    ///     stop: Number of the message after the last one.
    ///     encoders: An encoder for each key that occurs.
    /// Returns:
    ///     The number and the encoded bytes of each key that occurs, and the error that ended the
    ///     encoding early, or None. If there is an error, the bytes are those of the messages
    ///     before it.
    #[pyo3(signature = (stop, encoders, /))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        stop: usize,
        encoders: Vec<Option<Bound<'py, Encoder>>>,
    ) -> PyResult<(Vec<KeyBytes<'py>>, Option<PyErr>)> {
        let batch = self.current(py)?;
        let messages = batch.get().inner();
        let mut state = self.state();
        let stop = stop.min(messages.len());
        let state = &mut *state;
        let mut out: Vec<Option<Vec<u8>>> = vec![None; encoders.len()];
        let failed = codecs::with_all(py, &encoders, |codecs| {
            while let Some((key, slices)) = state.next_run(messages, stop) {
                let Some(Some(encoder)) = codecs.get_mut(key) else {
                    continue;
                };
                let out = out[key].get_or_insert_default();
                let slices = slices.as_deref().unwrap_or(std::slice::from_ref(messages));
                for slice in slices {
                    encoder.encode(BatchRef::Messages(slice), out)?;
                }
            }
            Ok(())
        })?;
        let pieces = out.into_iter().enumerate();
        let pieces = pieces.filter_map(|(key, out)| Some((key, PyBytes::new(py, &out?))));
        let error = failed.err().map(|error| errors::encode(py, &error, b""));
        Ok((pieces.collect(), error))
    }

    /// Return the next messages up to `stop`, as pairs of key number and batch.
    #[pyo3(signature = (stop, /))]
    fn slices<'py>(&self, py: Python<'py>, stop: usize) -> PyResult<Bound<'py, PyList>> {
        let batch = self.current(py)?;
        let messages = batch.get().inner();
        let list = PyList::empty(py);
        let mut state = self.state();
        while let Some((key, slices)) = state.next_run(messages, stop.min(messages.len())) {
            match slices {
                None => list.append((key, batch.clone_ref(py)))?,
                Some(slices) => {
                    for slice in slices {
                        list.append((key, Py::new(py, MessageBatch::new(slice))?))?;
                    }
                }
            }
        }
        Ok(list)
    }

    /// Return the prefixes whose namespaces are taken from the logs.
    fn prefixes(&self) -> Vec<String> {
        let text = |prefix: &[u8]| String::from_utf8_lossy(prefix).into_owned();
        self.state().finder.prefixes().map(text).collect()
    }

    /// Return the prefixes that no log has declared so far.
    fn undeclared(&self) -> Vec<String> {
        let text = |prefix: &[u8]| String::from_utf8_lossy(prefix).into_owned();
        self.state().finder.undeclared().map(text).collect()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<KeySplitter>()
}

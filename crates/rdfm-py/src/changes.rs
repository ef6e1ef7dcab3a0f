//! Changes of datasets for Python: patches applied, made and compared.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rdfm_core::regroup::changes::dataset;
use rdfm_core::regroup::changes::difference;
use rdfm_core::regroup::changes::logs;

use crate::batch::MessageBatch;
use crate::errors;
use crate::records::PatchBatch;

/// The state, which nobody waits for: who holds it may be waiting for Python.
fn lock<T>(state: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    match state.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(errors::in_use("dataset or difference")),
    }
}

/// Works on the state without the GIL.
fn with<T: Send, R: Send>(
    py: Python<'_>,
    state: &Mutex<T>,
    work: impl FnOnce(&mut T) -> R + Send,
) -> PyResult<R> {
    let mut guard = lock(state)?;
    let held = &mut *guard;
    errors::guarded(py, || work(held))
}

/// A dataset in memory, which patches change. Blank nodes are known by their labels.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Dataset {
    state: Mutex<dataset::Dataset>,
}

#[pymethods]
impl Dataset {
    /// An empty one.
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::default(),
        }
    }

    /// The number of quads.
    fn __len__(&self) -> PyResult<usize> {
        Ok(lock(&self.state)?.len())
    }

    /// Add all quads of messages.
    ///
    /// Raises:
    ///     LimitError: There are too many terms or quads.
    #[pyo3(signature = (batch, /))]
    fn add(&self, py: Python<'_>, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.add(batch))?.map_err(errors::exceeded)
    }

    /// Apply patches.
    ///
    /// Raises:
    ///     DecodeError: A transaction ends that did not begin, or begins in another; the patches before are applied.
    #[pyo3(signature = (batch, /))]
    fn apply(&self, py: Python<'_>, batch: &Bound<'_, PatchBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.apply(batch))?
            .map_err(|error| errors::decode(py, &error))
    }

    /// What patches did so far: `added`, `deleted`, `without_effect`, `committed`, `undone`.
    fn applied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let applied = lock(&self.state)?.applied();
        let dict = PyDict::new(py);
        dict.set_item("added", applied.added)?;
        dict.set_item("deleted", applied.deleted)?;
        dict.set_item("without_effect", applied.without_effect)?;
        dict.set_item("committed", applied.committed)?;
        dict.set_item("undone", applied.undone)?;
        Ok(dict)
    }

    /// Whether the dataset has prefixes.
    fn has_namespaces(&self) -> PyResult<bool> {
        Ok(!lock(&self.state)?.namespaces().is_empty())
    }

    /// The dataset as one message, in the order in which quads were added.
    ///
    /// Args:
    ///     take: Called with each batch.
    ///     parts: Whether a message larger than a batch comes in parts.
    /// Raises:
    ///     LimitError: It is larger than 2 GiB, and may not come in parts.
    #[pyo3(signature = (take, /, *, parts=false))]
    fn batches(&self, py: Python<'_>, take: &Bound<'_, PyAny>, parts: bool) -> PyResult<()> {
        let state = lock(&self.state)?;
        let mut quads = state.message(parts);
        loop {
            let batch = errors::guarded(py, || quads.next_batch())?.map_err(errors::exceeded)?;
            let Some(batch) = batch else {
                return Ok(());
            };
            take.call1((MessageBatch::new(batch),))?;
        }
    }
}

/// The difference of a dataset, which it takes, to another one.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Difference {
    state: Mutex<difference::Difference>,
}

#[pymethods]
impl Difference {
    /// Takes the dataset, which is empty then.
    ///
    /// Args:
    ///     old: The dataset.
    ///     index: The index of the patch in its log.
    ///     parts: Whether a patch larger than a batch comes in parts.
    #[new]
    #[pyo3(signature = (old, /, *, index=0, parts=false))]
    fn new(old: &Bound<'_, Dataset>, index: u64, parts: bool) -> PyResult<Self> {
        let old = std::mem::take(&mut *lock(&old.get().state)?);
        Ok(Self {
            state: Mutex::new(difference::Difference::from(old, index, parts)),
        })
    }

    /// The other dataset has the quads of these messages.
    ///
    /// Raises:
    ///     LimitError: There are too many terms.
    #[pyo3(signature = (batch, /))]
    fn add(&self, py: Python<'_>, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.add(batch))?.map_err(errors::exceeded)
    }

    /// The numbers of quads to delete and to add.
    fn counts(&self) -> PyResult<(usize, usize)> {
        Ok(lock(&self.state)?.counts())
    }

    /// The next batch of the patch, one transaction, perhaps in parts; None behind the last.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<PatchBatch>> {
        let batch = with(py, &self.state, difference::Difference::next_batch)?;
        Ok(batch.map_err(errors::exceeded)?.map(PatchBatch::new))
    }
}

/// Makes patches of messages: each a transaction of adds, with labels set apart by message.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ToPatches {
    state: Mutex<logs::ToPatches>,
}

#[pymethods]
impl ToPatches {
    /// At the start of a log.
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::default(),
        }
    }

    /// The patches of the messages of a batch, if there is one.
    ///
    /// Raises:
    ///     EncodeError: They are too large for a batch.
    #[pyo3(signature = (batch, /))]
    fn patches(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
    ) -> PyResult<Option<PatchBatch>> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.patches(batch))?
            .map(|batch| batch.map(PatchBatch::new))
            .map_err(|error| errors::encode(py, &error, b""))
    }

    /// What no patch holds, so far: metadata entries.
    fn dropped(&self) -> PyResult<u64> {
        Ok(lock(&self.state)?.dropped_metadata())
    }
}

/// Makes messages of patches: of each transaction that is committed.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ToMessages {
    state: Mutex<logs::ToMessages>,
}

#[pymethods]
impl ToMessages {
    /// Takes whether a blank node that stands in several transactions becomes several, and the largest message in
    /// decoded bytes.
    #[new]
    #[pyo3(signature = (*, separate=false, max_message_bytes=67_108_864))]
    fn new(separate: bool, max_message_bytes: u64) -> Self {
        Self {
            state: Mutex::new(logs::ToMessages::new(separate, max_message_bytes)),
        }
    }

    /// The messages of the patches of a batch, if there is one.
    ///
    /// Raises:
    ///     EncodeError: A patch cannot be made a message; `take` gives those before it.
    #[pyo3(signature = (batch, /))]
    fn messages(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PatchBatch>,
    ) -> PyResult<Option<MessageBatch>> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.messages(batch))?
            .map(|batch| batch.map(MessageBatch::new))
            .map_err(|error| errors::encode(py, &error, b""))
    }

    /// The messages before an error.
    fn take(&self) -> PyResult<Option<MessageBatch>> {
        Ok(lock(&self.state)?.take().map(MessageBatch::new))
    }

    /// What no message holds, so far, by name and count.
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, count) in lock(&self.state)?.dropped() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Dataset>()?;
    module.add_class::<Difference>()?;
    module.add_class::<ToPatches>()?;
    module.add_class::<ToMessages>()
}

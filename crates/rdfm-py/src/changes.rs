//! Changes of datasets for Python: patches that are checked, applied, reverted and made.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rdfm_core::changes::dataset;
use rdfm_core::changes::difference;
use rdfm_core::changes::logs;
use rdfm_core::changes::per_message::{self, Which};
use rdfm_core::changes::revert::{self, Step};
use rdfm_core::changes::rules;

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
    /// Args:
    ///     batch: The patches.
    ///     chain: Whether each patch with a `prev` has to follow the patch with that `id`.
    ///
    /// Raises:
    ///     DecodeError: Transactions are out of order, or the chain is broken; the patches before are applied.
    #[pyo3(signature = (batch, /, *, chain=true))]
    fn apply(&self, py: Python<'_>, batch: &Bound<'_, PatchBatch>, chain: bool) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.apply(batch, chain))?
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
            .map_err(|refused| errors::encode_row(py, &refused.error, refused.offset))
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

/// Checks patches by the rules of those who apply them: the order of transactions, and the chain.
#[pyclass(frozen, module = "rdfm._core")]
pub struct PatchRules {
    state: Mutex<rules::Rules>,
}

/// A broken rule: its name, the patch in its log, the row in the patch, the byte in the log, the text.
type Breach = (&'static str, u64, u64, u64, String);

#[pymethods]
impl PatchRules {
    /// At the start of the first log.
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::default(),
        }
    }

    /// The patches that follow are of another log.
    fn begin_log(&self) -> PyResult<()> {
        lock(&self.state)?.begin_log();
        Ok(())
    }

    /// Patches are missing here: the next one may follow any.
    fn skip(&self) -> PyResult<()> {
        lock(&self.state)?.skip();
        Ok(())
    }

    /// The number of patches with `prev` so far.
    fn links(&self) -> PyResult<u64> {
        Ok(lock(&self.state)?.links())
    }

    /// Everything that patches break, in order: "transaction", "unfinished" (a transaction), "chain" or "chain-of-logs",
    /// the index of the patch, the row in it, the byte in the log, and the text.
    #[pyo3(signature = (batch, /))]
    fn check(&self, py: Python<'_>, batch: &Bound<'_, PatchBatch>) -> PyResult<Vec<Breach>> {
        let batch = batch.get().inner();
        let found = with(py, &self.state, |state| state.check(batch))?;
        let found = found.into_iter();
        Ok(found
            .map(|one| {
                let rule = one.breach.rule.name();
                (rule, one.patch, one.row, one.offset, one.breach.text)
            })
            .collect())
    }
}

/// Makes patches between messages: of two logs, or from each message of one log to the next.
#[pyclass(frozen, module = "rdfm._core")]
pub struct MessageDifferences {
    state: Mutex<per_message::MessageDifferences>,
}

/// The log with this number: the old one is 0, the new one is 1.
fn which(log: usize) -> Which {
    if log == 0 { Which::Old } else { Which::New }
}

#[pymethods]
impl MessageDifferences {
    /// Takes whether there is one log, the new one, whose messages are states.
    #[new]
    #[pyo3(signature = (*, snapshots=false))]
    fn new(snapshots: bool) -> Self {
        let state = if snapshots {
            per_message::MessageDifferences::of_snapshots()
        } else {
            per_message::MessageDifferences::of_logs()
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// The log of which messages are needed next: 0 is the old one, 1 the new one; None if both have ended.
    fn wanted(&self) -> PyResult<Option<usize>> {
        let wanted = lock(&self.state)?.wanted();
        Ok(wanted.map(|which| usize::from(which == Which::New)))
    }

    /// Take complete messages of a log.
    ///
    /// Raises:
    ///     LimitError: There are too many terms, or too many bytes of them.
    #[pyo3(signature = (log, batch, /))]
    fn add(&self, py: Python<'_>, log: usize, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.add(which(log), batch))?.map_err(errors::exceeded)
    }

    /// A log has no more messages.
    #[pyo3(signature = (log, /))]
    fn end(&self, log: usize) -> PyResult<()> {
        lock(&self.state)?.end(which(log));
        Ok(())
    }

    /// The patches between messages that are there; None if both of a pair are not there yet.
    ///
    /// Raises:
    ///     LimitError: The patches are larger than 2 GiB.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<PatchBatch>> {
        let batch = with(py, &self.state, per_message::MessageDifferences::next_batch)?;
        Ok(batch.map_err(errors::exceeded)?.map(PatchBatch::new))
    }

    /// The numbers of quads deleted and added so far.
    fn counts(&self) -> PyResult<(u64, u64)> {
        Ok(lock(&self.state)?.counts())
    }
}

/// Reads a log of patches forward, and gives blocks of the opposite operations, to be stored and read backward.
#[pyclass(frozen, module = "rdfm._core")]
pub struct InversePatches {
    state: Mutex<Option<revert::Inverse>>,
}

#[pymethods]
impl InversePatches {
    /// Takes whether a broken chain is an error, and the bytes that the prefixes may take.
    #[new]
    #[pyo3(signature = (*, chain=true, max_message_bytes=67_108_864))]
    fn new(chain: bool, max_message_bytes: u64) -> Self {
        Self {
            state: Mutex::new(Some(revert::Inverse::new(chain, max_message_bytes))),
        }
    }

    /// Take patches. Gives blocks to store, and how many of the blocks that were stored last are to be forgotten.
    ///
    /// Raises:
    ///     DecodeError: Transactions are out of order, or the chain is broken.
    ///     LimitError: The prefixes are too many.
    #[pyo3(signature = (batch, /))]
    fn add<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PatchBatch>,
    ) -> PyResult<Bound<'py, PyList>> {
        let batch = batch.get().inner();
        let steps = with(py, &self.state, |state| {
            state.as_mut().map(|state| state.add(batch)).transpose()
        })?
        .map_err(|error| errors::decode(py, &error))?;
        let list = PyList::empty(py);
        for step in steps.into_iter().flatten() {
            match step {
                Step::Store(block) => list.append(Bound::new(py, PatchBatch::new(*block))?)?,
                Step::Forget(count) => list.append(count)?,
            }
        }
        Ok(list)
    }

    /// What was read so far: `committed`, `undone`, `headers`, `prefixes` (deletions that cannot be undone).
    fn done<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let done = lock(&self.state)?
            .as_ref()
            .map(revert::Inverse::done)
            .unwrap_or_default();
        let dict = PyDict::new(py);
        dict.set_item("committed", done.committed)?;
        dict.set_item("undone", done.undone)?;
        dict.set_item("headers", done.headers)?;
        dict.set_item("prefixes", done.prefixes)?;
        Ok(dict)
    }

    /// End the log: the last block, if there is one, and what the blocks are read backward with.
    ///
    /// Args:
    ///     parts: Whether a patch larger than a batch comes in parts.
    #[pyo3(signature = (*, parts=false))]
    fn finish(&self, parts: bool) -> PyResult<(Option<PatchBatch>, BackwardPatches)> {
        let state = lock(&self.state)?.take();
        let state = state.unwrap_or_else(|| revert::Inverse::new(false, 0));
        let (block, backward) = state.finish(parts);
        let backward = BackwardPatches {
            state: Mutex::new(backward),
        };
        Ok((block.map(PatchBatch::new), backward))
    }
}

/// Makes patches of the blocks of `InversePatches`, the last block first.
#[pyclass(frozen, module = "rdfm._core")]
pub struct BackwardPatches {
    state: Mutex<revert::Backward>,
}

#[pymethods]
impl BackwardPatches {
    /// The patches of a block, as far as they are complete, or in parts.
    ///
    /// Raises:
    ///     LimitError: A patch is larger than 2 GiB, and may not come in parts.
    #[pyo3(signature = (block, /))]
    fn add(&self, py: Python<'_>, block: &Bound<'_, PatchBatch>) -> PyResult<Vec<PatchBatch>> {
        let block = block.get().inner();
        let found = with(py, &self.state, |state| state.add(block))?.map_err(errors::exceeded)?;
        Ok(found.into_iter().map(PatchBatch::new).collect())
    }

    /// The last patches, if there are any.
    fn finish(&self) -> PyResult<Option<PatchBatch>> {
        Ok(lock(&self.state)?.finish().map(PatchBatch::new))
    }

    /// The numbers of quads that the patches delete and add so far.
    fn counts(&self) -> PyResult<(u64, u64)> {
        Ok(lock(&self.state)?.counts())
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Dataset>()?;
    module.add_class::<Difference>()?;
    module.add_class::<ToPatches>()?;
    module.add_class::<ToMessages>()?;
    module.add_class::<PatchRules>()?;
    module.add_class::<MessageDifferences>()?;
    module.add_class::<InversePatches>()?;
    module.add_class::<BackwardPatches>()
}

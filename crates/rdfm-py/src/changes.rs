//! Dataset changes for Python: checks, applies, reverts and creates patches.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rdfm_core::changes::chain;
use rdfm_core::changes::dataset;
use rdfm_core::changes::difference;
use rdfm_core::changes::logs;
use rdfm_core::changes::per_message::{self, OldOrNew};
use rdfm_core::changes::revert::{self, RevertStep};
use rdfm_core::changes::rules;

use crate::batch::MessageBatch;
use crate::errors;
use crate::records::PatchBatch;

/// Locks the state without waiting, because the thread that holds the lock may be waiting for the
/// GIL.
fn lock<T>(state: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    match state.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(errors::in_use_error("dataset or difference")),
    }
}

/// Runs `work` on the state without the GIL.
fn with<T: Send, R: Send>(
    py: Python<'_>,
    state: &Mutex<T>,
    work: impl FnOnce(&mut T) -> R + Send,
) -> PyResult<R> {
    let mut guard = lock(state)?;
    let state = &mut *guard;
    errors::run_guarded(py, || work(state))
}

/// An in-memory dataset to which patches are applied. Blank nodes are identified by their labels.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Dataset {
    state: Mutex<dataset::Dataset>,
}

#[pymethods]
impl Dataset {
    /// Create an empty dataset.
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::default(),
        }
    }

    /// Number of quads.
    fn __len__(&self) -> PyResult<usize> {
        Ok(lock(&self.state)?.len())
    }

    /// Add the quads of all messages of a batch.
    ///
    /// Raises:
    ///     LimitError: If there are too many terms or quads.
    #[pyo3(signature = (batch, /))]
    fn add(&self, py: Python<'_>, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.add(batch))?.map_err(errors::limit_error)
    }

    /// Apply patches.
    ///
    /// Args:
    ///     batch: The patches.
    ///     chain: Whether each patch with a `prev` header must follow the patch with that `id`.
    ///
    /// Raises:
    ///     DecodeError: If transactions are out of order or the chain is broken. The patches before
    ///         the error have been applied.
    #[pyo3(signature = (batch, /, *, chain=true))]
    fn apply(&self, py: Python<'_>, batch: &Bound<'_, PatchBatch>, chain: bool) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.apply(batch, chain))?
            .map_err(|error| errors::decode(py, &error))
    }

    /// Return counts of the effects of all patches applied so far, by name.
    ///
    /// Returns:
    ///     `added`, `deleted`, `without_effect`, `committed` and `undone`.
    fn applied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let applied = lock(&self.state)?.applied_counts();
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

    /// Pass the dataset to a callable as one message, with the quads in insertion order.
    ///
    /// Args:
    ///     take: The callable. It is called with each batch.
    ///     parts: Whether to pass a message larger than a batch in parts.
    ///
    /// Raises:
    ///     LimitError: If the dataset is larger than 2 GiB, and `parts` is False.
    #[pyo3(signature = (take, /, *, parts=false))]
    fn batches(&self, py: Python<'_>, take: &Bound<'_, PyAny>, parts: bool) -> PyResult<()> {
        let state = lock(&self.state)?;
        let mut quads = state.message(parts);
        loop {
            let batch =
                errors::run_guarded(py, || quads.next_batch())?.map_err(errors::limit_error)?;
            let Some(batch) = batch else {
                return Ok(());
            };
            take.call1((MessageBatch::new(batch),))?;
        }
    }
}

/// The difference between an old and a new dataset.
#[pyclass(frozen, module = "rdfm._core")]
pub struct DatasetDifference {
    state: Mutex<difference::Difference>,
}

#[pymethods]
impl DatasetDifference {
    /// Create a difference. The difference takes over the old dataset, which is empty afterwards.
    ///
    /// Args:
    ///     old: The old dataset.
    ///     index: Index of the patch in its log.
    ///     parts: Whether a patch larger than a batch is returned in parts.
    ///     max_bytes: Maximum size of a patch that is not returned in parts, in decoded bytes
    ///         (default: 2 GiB).
    #[new]
    #[pyo3(signature = (old, /, *, index=0, parts=false, max_bytes=None))]
    fn new(
        old: &Bound<'_, Dataset>,
        index: u64,
        parts: bool,
        max_bytes: Option<u64>,
    ) -> PyResult<Self> {
        let old = std::mem::take(&mut *lock(&old.get().state)?);
        Ok(Self {
            state: Mutex::new(difference::Difference::from(old, index, parts, max_bytes)),
        })
    }

    /// Add the quads of all messages of a batch to the new dataset.
    ///
    /// Raises:
    ///     LimitError: If there are too many terms.
    #[pyo3(signature = (batch, /))]
    fn add(&self, py: Python<'_>, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.add(batch))?.map_err(errors::limit_error)
    }

    /// Return the numbers of quads to delete and to add.
    fn counts(&self) -> PyResult<(usize, usize)> {
        Ok(lock(&self.state)?.counts())
    }

    /// Return the next batch of the patch, or None after the last one. The patch is one
    /// transaction, and may be returned in parts.
    ///
    /// Raises:
    ///     LimitError: If the patch is too large.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<PatchBatch>> {
        let batch = with(py, &self.state, difference::Difference::next_batch)?;
        Ok(batch.map_err(errors::limit_error)?.map(PatchBatch::new))
    }
}

/// Converts messages to patches. Each message becomes a transaction of additions, with blank node
/// labels that are unique to the message.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ToPatches {
    state: Mutex<logs::ToPatches>,
}

#[pymethods]
impl ToPatches {
    /// Create a converter for a log.
    ///
    /// Args:
    ///     patches: Number of patches in the log before the first message.
    #[new]
    #[pyo3(signature = (*, patches=0))]
    fn new(patches: u64) -> Self {
        Self {
            state: Mutex::new(logs::ToPatches::new(patches)),
        }
    }

    /// Convert the messages of a batch to patches. Returns None if there are no patches.
    ///
    /// Raises:
    ///     EncodeError: If the patches do not fit in a batch.
    #[pyo3(signature = (batch, /))]
    fn patches(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, MessageBatch>,
    ) -> PyResult<Option<PatchBatch>> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.make_patches(batch))?
            .map(|batch| batch.map(PatchBatch::new))
            .map_err(|error| errors::encode(py, &error, b""))
    }

    /// Return the number of metadata entries omitted so far because patches cannot contain them.
    fn dropped(&self) -> PyResult<u64> {
        Ok(lock(&self.state)?.dropped_metadata())
    }
}

/// Adds `id` and `prev` headers to the patches of a log. An id depends only on the rows of the
/// patch and on `prev`.
#[pyclass(frozen, module = "rdfm._core")]
pub struct PatchChain {
    state: Mutex<chain::Chain>,
}

#[pymethods]
impl PatchChain {
    /// Create a chain for a new log.
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::default(),
        }
    }

    /// Read patches that precede the next patch to link.
    #[pyo3(signature = (batch, /))]
    fn follow(&self, py: Python<'_>, batch: &Bound<'_, PatchBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.follow(batch))
    }

    /// Return complete patches with their headers. Returns None if there are no patches.
    ///
    /// Raises:
    ///     LimitError: If the patches are larger than 2 GiB.
    #[pyo3(signature = (batch, /))]
    fn link(&self, py: Python<'_>, batch: &Bound<'_, PatchBatch>) -> PyResult<Option<PatchBatch>> {
        let batch = batch.get().inner();
        let batch = with(py, &self.state, |state| state.link(batch))?;
        Ok(batch.map_err(errors::limit_error)?.map(PatchBatch::new))
    }
}

/// Converts patches to messages. Each committed transaction becomes a message.
#[pyclass(frozen, module = "rdfm._core")]
pub struct ToMessages {
    state: Mutex<logs::ToMessages>,
}

#[pymethods]
impl ToMessages {
    /// Create a converter.
    ///
    /// Args:
    ///     separate: Whether a blank node that occurs in several transactions becomes several blank
    ///         nodes.
    ///     max_message_bytes: Maximum size of a message in decoded bytes.
    #[new]
    #[pyo3(signature = (*, separate=false, max_message_bytes=67_108_864))]
    fn new(separate: bool, max_message_bytes: u64) -> Self {
        Self {
            state: Mutex::new(logs::ToMessages::new(separate, max_message_bytes)),
        }
    }

    /// Convert the patches of a batch to messages. Returns None if there are no messages.
    ///
    /// Raises:
    ///     EncodeError: If a patch cannot become a message; `take` returns the messages before it.
    #[pyo3(signature = (batch, /))]
    fn messages(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PatchBatch>,
    ) -> PyResult<Option<MessageBatch>> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.make_messages(batch))?
            .map(|batch| batch.map(MessageBatch::new))
            .map_err(|row| errors::encode_row(py, &row.error, row.byte_offset))
    }

    /// Return the messages before an error that `messages` raised.
    fn take(&self) -> PyResult<Option<MessageBatch>> {
        Ok(lock(&self.state)?.take().map(MessageBatch::new))
    }

    /// Return counts, by name, of the data omitted so far because messages cannot contain it.
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, count) in lock(&self.state)?.dropped_counts() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }
}

/// Checks the rules for applying patches: the order of transactions, and the chain.
#[pyclass(frozen, module = "rdfm._core")]
pub struct PatchRules {
    state: Mutex<rules::Rules>,
}

/// Name of the violated rule, index of the patch in its log, number of the row in the patch, byte
/// offset in the log if known, and text.
type Violation = (&'static str, u64, u64, Option<u64>, String);

#[pymethods]
impl PatchRules {
    /// Create a checker for one or more logs.
    #[new]
    fn new() -> Self {
        Self {
            state: Mutex::default(),
        }
    }

    /// Start another log. The next patches belong to it.
    fn begin_log(&self) -> PyResult<()> {
        lock(&self.state)?.begin_log();
        Ok(())
    }

    /// Record that patches are missing here, so that the next patch may follow any patch.
    fn skip(&self) -> PyResult<()> {
        lock(&self.state)?.skip();
        Ok(())
    }

    /// Return the number of patches with a `prev` header so far.
    fn links(&self) -> PyResult<u64> {
        Ok(lock(&self.state)?.links())
    }

    /// Return all violations in a batch of patches, in order.
    ///
    /// Returns:
    ///     Tuples of the rule ("transaction", "unfinished" for a transaction without an end,
    ///     "chain" or "chain-of-logs"), the index of the patch, the row in the patch, the byte
    ///     offset in the log or None, and the text.
    #[pyo3(signature = (batch, /))]
    fn check(&self, py: Python<'_>, batch: &Bound<'_, PatchBatch>) -> PyResult<Vec<Violation>> {
        let batch = batch.get().inner();
        let violations = with(py, &self.state, |state| state.check(batch))?;
        let violations = violations.into_iter();
        Ok(violations
            .map(|violation| {
                let rule = violation.violation.rule.name();
                (
                    rule,
                    violation.message_index,
                    violation.row,
                    violation.byte_offset,
                    violation.violation.text,
                )
            })
            .collect())
    }
}

/// Creates patches from the messages of one log to those of another, or from each message of a log
/// to the next.
#[pyclass(frozen, module = "rdfm._core")]
pub struct MessageDifferences {
    state: Mutex<per_message::MessageDifferences>,
}

/// Converts the number of a log: 0 is the old log, 1 the new one.
fn old_or_new(log: usize) -> OldOrNew {
    if log == 0 {
        OldOrNew::Old
    } else {
        OldOrNew::New
    }
}

#[pymethods]
impl MessageDifferences {
    /// Create an empty comparison.
    ///
    /// Args:
    ///     snapshots: Whether there is only one log (the new one), whose messages are consecutive
    ///         states.
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

    /// Return the log whose messages are needed next: 0 (old), 1 (new), or None if both have ended.
    fn next_log(&self) -> PyResult<Option<usize>> {
        let next_log = lock(&self.state)?.next_log();
        Ok(next_log.map(|old_or_new| usize::from(old_or_new == OldOrNew::New)))
    }

    /// Add complete messages of a log.
    ///
    /// Raises:
    ///     LimitError: If there are too many terms, or they are too large.
    #[pyo3(signature = (log, batch, /))]
    fn add(&self, py: Python<'_>, log: usize, batch: &Bound<'_, MessageBatch>) -> PyResult<()> {
        let batch = batch.get().inner();
        with(py, &self.state, |state| state.add(old_or_new(log), batch))?
            .map_err(errors::limit_error)
    }

    /// Mark the end of a log.
    #[pyo3(signature = (log, /))]
    fn end(&self, log: usize) -> PyResult<()> {
        lock(&self.state)?.end(old_or_new(log));
        Ok(())
    }

    /// Return the patches between the available messages. None if no pair of messages is complete.
    ///
    /// Raises:
    ///     LimitError: If the patches are larger than 2 GiB.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<PatchBatch>> {
        let batch = with(py, &self.state, per_message::MessageDifferences::next_batch)?;
        Ok(batch.map_err(errors::limit_error)?.map(PatchBatch::new))
    }

    /// Return the numbers of quads deleted and added so far.
    fn counts(&self) -> PyResult<(u64, u64)> {
        Ok(lock(&self.state)?.counts())
    }
}

/// Reads a patch log forward and returns blocks of inverse operations, which must be read backward.
#[pyclass(frozen, module = "rdfm._core")]
pub struct InversePatches {
    state: Mutex<Option<revert::ForwardPass>>,
}

#[pymethods]
impl InversePatches {
    /// Create an inversion of a log.
    ///
    /// Args:
    ///     chain: Whether a broken chain is an error.
    ///     max_message_bytes: Maximum size of the prefixes in bytes.
    #[new]
    #[pyo3(signature = (*, chain=true, max_message_bytes=67_108_864))]
    fn new(chain: bool, max_message_bytes: u64) -> Self {
        Self {
            state: Mutex::new(Some(revert::ForwardPass::new(chain, max_message_bytes))),
        }
    }

    /// Add patches. Returns the next steps in order: a block to store, or the number of last stored
    /// blocks to discard.
    ///
    /// Raises:
    ///     DecodeError: If transactions are out of order or the chain is broken.
    ///     LimitError: If there are too many prefixes.
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
                RevertStep::Store(block) => {
                    list.append(Bound::new(py, PatchBatch::new(*block))?)?;
                }
                RevertStep::Forget(count) => list.append(count)?,
            }
        }
        Ok(list)
    }

    /// Return counts for the patches added so far.
    ///
    /// Returns:
    ///     `committed`, `undone`, `headers` and `prefixes` (prefix deletions that cannot be
    ///     undone).
    fn done<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let done = lock(&self.state)?
            .as_ref()
            .map(revert::ForwardPass::done)
            .unwrap_or_default();
        let dict = PyDict::new(py);
        dict.set_item("committed", done.committed)?;
        dict.set_item("undone", done.undone)?;
        dict.set_item("headers", done.headers)?;
        dict.set_item("prefixes", done.prefixes)?;
        Ok(dict)
    }

    /// Mark the end of the log. Returns the last block, if any, and a `BackwardPatches` for the
    /// blocks.
    ///
    /// Args:
    ///     parts: Whether a patch larger than a batch is returned in parts.
    #[pyo3(signature = (*, parts=false))]
    fn finish(&self, parts: bool) -> PyResult<(Option<PatchBatch>, BackwardPatches)> {
        let state = lock(&self.state)?.take();
        let state = state.unwrap_or_else(|| revert::ForwardPass::new(false, 0));
        let (block, backward) = state.finish(parts);
        let backward = BackwardPatches {
            state: Mutex::new(backward),
        };
        Ok((block.map(PatchBatch::new), backward))
    }
}

/// Creates patches from the blocks of `InversePatches`, read from the last block to the first.
#[pyclass(frozen, module = "rdfm._core")]
pub struct BackwardPatches {
    state: Mutex<revert::BackwardPass>,
}

#[pymethods]
impl BackwardPatches {
    /// Add a block and return the completed patches, or parts of patches.
    ///
    /// Raises:
    ///     LimitError: If a patch is larger than 2 GiB, and `parts` is False.
    #[pyo3(signature = (block, /))]
    fn add(&self, py: Python<'_>, block: &Bound<'_, PatchBatch>) -> PyResult<Vec<PatchBatch>> {
        let block = block.get().inner();
        let patches =
            with(py, &self.state, |state| state.add(block))?.map_err(errors::limit_error)?;
        Ok(patches.into_iter().map(PatchBatch::new).collect())
    }

    /// Return the last patches, or None.
    fn finish(&self) -> PyResult<Option<PatchBatch>> {
        Ok(lock(&self.state)?.finish().map(PatchBatch::new))
    }

    /// Return the numbers of quads that the patches so far delete and add.
    fn counts(&self) -> PyResult<(u64, u64)> {
        Ok(lock(&self.state)?.counts())
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Dataset>()?;
    module.add_class::<DatasetDifference>()?;
    module.add_class::<ToPatches>()?;
    module.add_class::<PatchChain>()?;
    module.add_class::<ToMessages>()?;
    module.add_class::<PatchRules>()?;
    module.add_class::<MessageDifferences>()?;
    module.add_class::<InversePatches>()?;
    module.add_class::<BackwardPatches>()
}

//! Message comparison for Python: batch pairs, message signatures, and the mapping between the
//! blank nodes of equal messages.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rdfm_analysis::comparison::{
    self, ComparableRecord, Comparer as Core, Limits, Mode, NamespaceUse, PairDifferences, Run,
    Side, blocks,
};
use rdfm_core::model::batch::LogBatch;

use crate::batch::MessageBatch;
use crate::errors;
use crate::records::{PatchBatch, ResultBatch};

/// Runs code with the core batches of two Python batches of the same kind.
macro_rules! with_batches {
    ($a:expr, $b:expr, |$x:ident, $y:ident| $work:expr) => {
        if let (Ok(a), Ok(b)) = ($a.cast::<MessageBatch>(), $b.cast::<MessageBatch>()) {
            let ($x, $y) = (a.get().inner(), b.get().inner());
            $work
        } else if let (Ok(a), Ok(b)) = ($a.cast::<PatchBatch>(), $b.cast::<PatchBatch>()) {
            let ($x, $y) = (a.get().inner(), b.get().inner());
            $work
        } else if let (Ok(a), Ok(b)) = ($a.cast::<ResultBatch>(), $b.cast::<ResultBatch>()) {
            let ($x, $y) = (a.get().inner(), b.get().inner());
            $work
        } else {
            Err(PyTypeError::new_err(
                "expected two batches of the same kind",
            ))
        }
    };
}

/// A namespace name with a different IRI in each log.
type RedeclaredName<'py> = (
    Bound<'py, PyString>,
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
);

/// A label, and the corresponding label in the other message.
type Labels<'py> = (Bound<'py, PyString>, Bound<'py, PyString>);

/// Compares the messages of two logs, with one batch of each log at a time.
#[pyclass(frozen, module = "rdfm._core")]
pub struct Comparer {
    state: Mutex<ComparisonState>,
}

struct ComparisonState {
    core: Core,
    /// The batches whose terms have been registered with the core.
    current: [Option<Py<PyAny>>; 2],
}

impl ComparisonState {
    /// Registers the terms of a side's next batch.
    fn register(&mut self, side: Side, batch: &Bound<'_, PyAny>) {
        let current = &mut self.current[side as usize];
        if current.as_ref().is_none_or(|current| !current.is(batch)) {
            *current = Some(batch.clone().unbind());
            self.core.next_batch(side);
        }
    }
}

/// Returns the differences as bits.
fn bits(differences: PairDifferences) -> u8 {
    u8::from(differences.records)
        | u8::from(differences.metadata) << 1
        | u8::from(differences.namespaces) << 2
        | u8::from(differences.undecided) << 3
}

fn side(number: u8) -> Side {
    if number == 0 { Side::A } else { Side::B }
}

impl Comparer {
    fn lock(&self) -> PyResult<MutexGuard<'_, ComparisonState>> {
        match self.state.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(errors::in_use_error("comparer")),
        }
    }

    /// Runs `work` on a side's batch without the GIL.
    fn with_one<T: Send>(
        &self,
        py: Python<'_>,
        number: u8,
        batch: &Bound<'_, PyAny>,
        work: impl Work<T>,
    ) -> PyResult<T> {
        let mut guard = self.lock()?;
        guard.register(side(number), batch);
        let core = &mut guard.core;
        with_batches!(batch, batch, |core_batch, _same| errors::run_guarded(
            py,
            || work.compute(core, core_batch)
        ))
    }
}

/// An operation on a batch of any kind.
trait Work<T>: Send {
    fn compute<R: ComparableRecord>(self, core: &mut Core, batch: &LogBatch<R>) -> T;
}

struct Signatures(Side, std::ops::Range<usize>);

impl Work<Vec<u128>> for Signatures {
    fn compute<R: ComparableRecord>(self, core: &mut Core, batch: &LogBatch<R>) -> Vec<u128> {
        core.compute_signatures(self.0, batch, self.1)
    }
}

struct FullSignatures;

impl Work<Vec<Option<u128>>> for FullSignatures {
    fn compute<R: ComparableRecord>(
        self,
        core: &mut Core,
        batch: &LogBatch<R>,
    ) -> Vec<Option<u128>> {
        core.compute_full_signatures(Side::A, batch)
    }
}

struct Collect(Side);

impl Work<Vec<usize>> for Collect {
    fn compute<R: ComparableRecord>(self, core: &mut Core, batch: &LogBatch<R>) -> Vec<usize> {
        core.collect(self.0, batch)
    }
}

struct Pick(Side);

impl Work<Vec<usize>> for Pick {
    fn compute<R: ComparableRecord>(self, core: &mut Core, batch: &LogBatch<R>) -> Vec<usize> {
        core.find_surplus(self.0, batch)
    }
}

#[pymethods]
impl Comparer {
    /// Create a comparer.
    ///
    /// Args:
    ///     mode: "sets" or "sequences" of quads, both up to blank node labels, or "exact", which
    ///         includes labels.
    ///     metadata: Whether to compare metadata.
    ///     namespaces: "ignored"; "noticed", which only records whether the namespaces in scope
    ///         differ; or "compared".
    ///     max_steps: Limit of each comparison, in quads examined.
    ///     max_total_steps: Limit of all comparisons together. A fixed number of steps for each
    ///         quad is not counted.
    ///     secret: 32 bytes that determine the signatures. By default, signatures are unique to
    ///         this process.
    #[new]
    #[pyo3(signature = (mode, *, metadata=false, namespaces="ignored", max_steps, max_total_steps, secret=None))]
    fn new(
        mode: &str,
        metadata: bool,
        namespaces: &str,
        max_steps: u64,
        max_total_steps: u64,
        secret: Option<[u8; 32]>,
    ) -> PyResult<Self> {
        let mode = match mode {
            "sets" => Mode::Sets,
            "sequences" => Mode::Sequences,
            "exact" => Mode::Exact,
            _ => return Err(errors::option(format!("unknown mode '{mode}'"))),
        };
        let namespaces = match namespaces {
            "ignored" => NamespaceUse::Ignored,
            "noticed" => NamespaceUse::Noticed,
            "compared" => NamespaceUse::Compared,
            _ => return Err(errors::option(format!("unknown namespaces '{namespaces}'"))),
        };
        let limits = Limits {
            each: max_steps,
            total: max_total_steps,
        };
        let mut core = Core::new(mode, metadata, namespaces, limits);
        if let Some(secret) = secret {
            let (numbers, _) = secret.as_chunks::<8>();
            let mut keys = [0; 4];
            for (key, number) in keys.iter_mut().zip(numbers) {
                *key = u64::from_le_bytes(*number);
            }
            core = core.with_secret(keys);
        }
        let state = ComparisonState {
            core,
            current: [None, None],
        };
        Ok(Self {
            state: Mutex::new(state),
        })
    }

    /// Set the pairs of columns whose cells are compared, as the columns of `a` and those of `b`.
    /// None represents a missing column.
    fn set_columns(&self, a: Vec<Option<usize>>, b: Vec<Option<usize>>) -> PyResult<()> {
        self.lock()?.core.set_columns([a, b]);
        Ok(())
    }

    /// Compare pairs of messages until a pair differs. The first pair consists of message `i` of
    /// `a` and message `j` of `b`.
    ///
    /// Returns:
    ///     The number of equal pairs, the number of records of `a` in them, and the differences of
    ///     the next pair: a sum of 1 (records), 2 (metadata), 4 (namespaces) and 8 (undecided), or
    ///     0 if a batch ended or `max_pairs` pairs were compared.
    fn run(
        &self,
        py: Python<'_>,
        a: &Bound<'_, PyAny>,
        i: usize,
        b: &Bound<'_, PyAny>,
        j: usize,
        max_pairs: usize,
    ) -> PyResult<(usize, u64, u8)> {
        let mut guard = self.lock()?;
        guard.register(Side::A, a);
        guard.register(Side::B, b);
        let core = &mut guard.core;
        let Run {
            pairs,
            records,
            differences: found,
        } = with_batches!(a, b, |a, b| errors::run_guarded(py, || core.run(
            (a, i),
            (b, j),
            max_pairs
        )))?;
        Ok((pairs, records, found.map_or(0, bits)))
    }

    /// Compare the metadata and namespaces of a pair of messages. Returns the differences in the
    /// same form as `run`.
    fn metadata_and_namespaces(
        &self,
        py: Python<'_>,
        a: &Bound<'_, PyAny>,
        i: usize,
        b: &Bound<'_, PyAny>,
        j: usize,
    ) -> PyResult<u8> {
        let mut guard = self.lock()?;
        let core = &mut guard.core;
        with_batches!(a, b, |a, b| errors::run_guarded(py, || core
            .compare_metadata_and_namespaces((a, i), (b, j))))
        .map(bits)
    }

    /// Return the namespaces that began to differ at the last compared pair, as name, IRI in `a`
    /// and IRI in `b`.
    fn redeclared<'py>(&self, py: Python<'py>) -> PyResult<Vec<RedeclaredName<'py>>> {
        let guard = self.lock()?;
        let text = |text: &Vec<u8>| PyString::from_bytes(py, text);
        let names = guard.core.redeclared_names().iter();
        names
            .map(|(name, [a, b])| {
                let [a, b] = [a, b].map(|iri| iri.as_ref().map(text).transpose());
                Ok((text(name)?, a?, b?))
            })
            .collect()
    }

    /// Return whether the namespaces in scope differ in any pair compared so far.
    fn namespaces_differ(&self) -> PyResult<bool> {
        Ok(self.lock()?.core.namespaces_differ())
    }

    /// Return whether the limit of one comparison was reached, and whether the limit of all
    /// comparisons together was reached.
    fn reached(&self) -> PyResult<(bool, bool)> {
        let reached = self.lock()?.core.reached_limits();
        Ok((reached.each, reached.total))
    }

    /// Return signatures of a batch's messages, of 16 bytes each. Equal messages have equal
    /// signatures.
    fn signatures<'py>(
        &self,
        py: Python<'py>,
        side_number: u8,
        batch: &Bound<'_, PyAny>,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let work = Signatures(side(side_number), start..stop);
        let signatures = self.with_one(py, side_number, batch, work)?;
        let bytes: Vec<u8> = signatures.into_iter().flat_map(u128::to_le_bytes).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// Return a signature of 16 bytes for each message of a batch, or None for a message that needs
    /// more steps than the limits allow. Except for chance collisions, signatures are equal if and
    /// only if the messages are equal.
    fn full_signatures<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let signatures = self.with_one(py, 0, batch, FullSignatures)?;
        let bytes = |signature: u128| PyBytes::new(py, &signature.to_le_bytes());
        Ok(signatures.into_iter().map(|each| each.map(bytes)).collect())
    }

    /// Add the messages of a batch to the multiset of a side.
    ///
    /// Returns:
    ///     The indexes of the messages that were omitted because they need more steps than the
    ///     limits allow.
    fn collect(
        &self,
        py: Python<'_>,
        side_number: u8,
        batch: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<usize>> {
        self.with_one(py, side_number, batch, Collect(side(side_number)))
    }

    /// Compare the multisets. Afterwards `surplus` finds the messages that only one side has.
    ///
    /// Returns:
    ///     The number of messages that both sides have, that only `a` has, and that only `b` has.
    fn compare_multisets(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let mut guard = self.lock()?;
        let core = &mut guard.core;
        let settled = errors::run_guarded(py, || core.compare_multisets())?;
        Ok((settled.same, settled.only[0], settled.only[1]))
    }

    /// Return the indexes of a batch's messages that only this side has. Each message is reported
    /// once.
    fn surplus(
        &self,
        py: Python<'_>,
        side_number: u8,
        batch: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<usize>> {
        self.with_one(py, side_number, batch, Pick(side(side_number)))
    }
}

/// Return the common blocks of two sequences of 16-byte items, as the start in each sequence and
/// the length.
#[pyfunction]
fn common_blocks(py: Python<'_>, a: &[u8], b: &[u8]) -> PyResult<Vec<(usize, usize, usize)>> {
    let numbers = |bytes: &[u8]| -> Vec<u128> {
        let (numbers, _) = bytes.as_chunks::<16>();
        numbers
            .iter()
            .map(|bytes| u128::from_le_bytes(*bytes))
            .collect()
    };
    let (a, b) = (numbers(a), numbers(b));
    errors::run_guarded(py, || blocks(&a, &b))
}

/// Map the blank nodes of a batch's first message to those of another batch's first message.
///
/// Returns:
///     Pairs of labels; None if the messages differ as sets of quads, up to labels.
/// Raises:
///     LimitError: If the comparison would examine more than `max_steps` quads.
#[pyfunction]
#[pyo3(signature = (a, b, *, max_steps))]
fn isomorphism<'py>(
    py: Python<'py>,
    a: &Bound<'py, MessageBatch>,
    b: &Bound<'py, MessageBatch>,
    max_steps: u64,
) -> PyResult<Option<Vec<Labels<'py>>>> {
    let (a, b) = (a.get().inner(), b.get().inner());
    let mapping = errors::run_guarded(py, || {
        let message = |batch: &rdfm_core::model::batch::MessageBatch| batch.message(0).to_vec();
        let (ours, theirs) = (message(a), message(b));
        comparison::find_isomorphism((&ours[..], a.table()), (&theirs[..], b.table()), max_steps)
    })?
    .map_err(|_| {
        errors::limit(format!(
            "the comparison needs more than {max_steps} steps; a larger max_steps allows it"
        ))
    })?;
    let label =
        |table: &rdfm_core::model::table::TermTable, id| PyString::from_bytes(py, table.text(id));
    mapping
        .map(|pairs| {
            pairs
                .into_iter()
                .map(|(x, y)| Ok((label(a.table(), x)?, label(b.table(), y)?)))
                .collect()
        })
        .transpose()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Comparer>()?;
    module.add_function(wrap_pyfunction!(common_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(isomorphism, module)?)
}

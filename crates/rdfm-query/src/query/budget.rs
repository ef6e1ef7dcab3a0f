//! Limits on the time, memory and rows of an evaluation.
//!
//! - In: the limits for a message, and every step of its evaluation. Out: the result, or the reason
//!   why the evaluation stopped.
//! - Law: a library without limits is interrupted when it calls our code. The call unwinds, like a
//!   cancelled computation, and drops everything that the library owns.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Name of the option for [`Limits::max_rows`].
const MAX_ROWS: &str = "max_rows";
/// Number of steps between two checks of the clock.
const STEPS: u32 = 1 << 12;
/// Number of bytes of computed text that count as one term.
pub const BYTES: u64 = 16;

/// Limits for a message or for an entire dataset.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Time limit.
    pub timeout: Option<Duration>,
    /// Maximum number of rows in the result.
    pub max_rows: u64,
    /// Maximum number of terms that the evaluation keeps at the same time. Computed strings count
    /// as one term per 16 bytes.
    pub max_terms: u64,
}

impl Default for Limits {
    /// Returns limits without a timeout, with a million rows and 16 Mi terms (about 1 GiB).
    fn default() -> Self {
        Self {
            timeout: None,
            max_rows: 1_000_000,
            max_terms: 16 << 20,
        }
    }
}

/// Reason why an evaluation stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The evaluation was cancelled.
    Cancelled,
    /// The evaluation exceeded this time limit.
    Timeout(Duration),
    /// The result exceeded this number of rows.
    Rows(u64),
    /// The evaluation exceeded the limit on terms.
    Memory,
    /// The evaluator failed with this message.
    Failed(String),
}

impl Stop {
    /// Returns a sentence, and the option that raises the limit, if any.
    pub fn text(&self) -> (String, Option<&'static str>) {
        match self {
            Self::Cancelled => ("the query was cancelled".to_owned(), None),
            Self::Timeout(time) => {
                let seconds = time.as_secs_f64();
                (
                    format!("the query took longer than {seconds} seconds"),
                    Some("timeout"),
                )
            }
            Self::Rows(max) => (
                format!("the query returns more than {max} rows"),
                Some(MAX_ROWS),
            ),
            Self::Memory => (
                "the query needs more than 1 GiB of memory for terms that it finds, compares, sorts, groups or computes; make \
                 its patterns more selective, or use fewer variables or shorter strings"
                    .to_owned(),
                None,
            ),
            Self::Failed(reason) => (reason.clone(), None),
        }
    }
}

/// A handle for cancelling evaluations from outside.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels the running evaluations.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Allows subsequent evaluations to run.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether the running evaluations are cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Resources used by the current evaluation on this thread.
struct ResourceUse {
    steps: Cell<u32>,
    terms: Cell<u64>,
    /// Bytes of text that do not yet add up to a term.
    bytes: Cell<u64>,
    /// Terms for the strings of the current expression, if it creates strings.
    expression_terms: Cell<u64>,
    /// Terms that are part of a result.
    result_terms: Cell<u64>,
    /// Number of nested expressions that are being evaluated and create strings.
    open: Cell<u32>,
    max_terms: Cell<u64>,
    until: Cell<Option<Instant>>,
    timeout: Cell<Duration>,
    cancel: Cell<Option<Cancel>>,
}

thread_local! {
    static RESOURCE_USE: ResourceUse = const {
        ResourceUse {
            steps: Cell::new(0),
            terms: Cell::new(0),
            bytes: Cell::new(0),
            expression_terms: Cell::new(0),
            result_terms: Cell::new(0),
            open: Cell::new(0),
            max_terms: Cell::new(u64::MAX),
            until: Cell::new(None),
            timeout: Cell::new(Duration::ZERO),
            cancel: Cell::new(None),
        }
    };
}

/// Runs `work` within limits.
///
/// # Errors
/// If `work` was stopped. The error is the reason.
pub fn run_within<T>(
    limits: &Limits,
    cancel: &Cancel,
    work: impl FnOnce() -> Result<T, Stop>,
) -> Result<T, Stop> {
    RESOURCE_USE.with(|resources| {
        let until = limits
            .timeout
            .and_then(|time| Instant::now().checked_add(time));
        resources.steps.set(0);
        resources.terms.set(resources.result_terms.get());
        resources.bytes.set(0);
        resources.expression_terms.set(0);
        resources.open.set(0);
        resources.max_terms.set(limits.max_terms);
        resources.until.set(until);
        resources.timeout.set(limits.timeout.unwrap_or_default());
        resources.cancel.set(Some(cancel.clone()));
    });
    let done = catch_unwind(AssertUnwindSafe(work));
    RESOURCE_USE.with(|resources| {
        resources.max_terms.set(u64::MAX);
        resources.until.set(None);
        resources.cancel.set(None);
    });
    done.unwrap_or_else(|payload| match payload.downcast::<Stop>() {
        Ok(stop) => Err(*stop),
        Err(payload) => resume_unwind(payload),
    })
}

/// Counts a step. Unwinds to [`run_within`] if the time is up.
#[inline]
pub fn step() {
    RESOURCE_USE.with(|resources| {
        let steps = resources.steps.get() + 1;
        resources.steps.set(steps);
        if steps >= STEPS {
            resources.check_time();
        }
    });
}

/// Checks the clock immediately. Unwinds to [`run_within`] if the time is up.
pub fn check_time() {
    RESOURCE_USE.with(ResourceUse::check_time);
}

/// Counts a step, and terms that are now in use. Unwinds to [`run_within`] if there are too many.
#[inline]
pub fn acquire(terms: u64) {
    RESOURCE_USE.with(|resources| {
        let total = resources.terms.get() + terms;
        resources.terms.set(total);
        let steps = resources.steps.get() + 1;
        resources.steps.set(steps);
        if steps >= STEPS || total > resources.max_terms.get() {
            resources.check_time();
        }
    });
}

/// Counts bytes of text that are now in use, like [`acquire`].
pub fn acquire_bytes(bytes: u64) {
    let terms = RESOURCE_USE.with(|resources| {
        let total = resources.bytes.get() + bytes;
        resources.bytes.set(total % BYTES);
        total / BYTES
    });
    acquire(terms);
}

/// Counts steps for bytes that are copied or scanned. While an expression that creates strings is
/// being evaluated, the bytes also count as memory. Unwinds to [`run_within`] if the time is up or
/// the memory limit is exceeded.
#[inline]
pub fn count_copied(bytes: usize) {
    let terms = bytes as u64 / BYTES;
    RESOURCE_USE.with(|resources| {
        if resources.open.get() > 0 {
            resources
                .expression_terms
                .set(resources.expression_terms.get() + terms);
            resources.terms.set(resources.terms.get() + terms);
        }
        resources.advance(terms);
    });
}

/// Counts steps for bytes that are scanned. Unwinds to [`run_within`] if the time is up.
pub fn count_scanned(bytes: usize) {
    RESOURCE_USE.with(|resources| resources.advance(bytes as u64 / BYTES));
}

/// Counts terms that are part of a result, until [`forget_kept`]. Unwinds to [`run_within`] if
/// there are too many.
#[inline]
pub fn keep(terms: u64) {
    RESOURCE_USE.with(|resources| {
        resources
            .result_terms
            .set(resources.result_terms.get() + terms);
    });
    acquire(terms);
}

/// Returns the number of terms that are part of a result.
pub fn kept_bytes() -> u64 {
    RESOURCE_USE.with(|resources| resources.result_terms.get())
}

/// Releases the terms of a result that has been passed on.
pub fn forget_kept() {
    release(RESOURCE_USE.with(|resources| resources.result_terms.take()));
}

/// Ends the evaluation by unwinding to [`run_within`].
pub fn stop_with(stop: Stop) {
    if !std::thread::panicking() {
        // This is not a panic, so the panic hook is not called.
        resume_unwind(Box::new(stop));
    }
}

/// Begins an expression that creates strings. The strings count until [`end`]. Returns the argument
/// for `end`.
pub fn begin() -> u64 {
    RESOURCE_USE.with(|resources| {
        resources.open.set(resources.open.get() + 1);
        resources.expression_terms.get()
    })
}

/// Ends an expression that creates strings.
pub fn end(before: u64) {
    RESOURCE_USE.with(|resources| {
        resources.open.set(resources.open.get().saturating_sub(1));
        release(resources.expression_terms.get().saturating_sub(before));
        resources.expression_terms.set(before);
    });
}

/// Releases terms that are no longer in use.
#[inline]
pub fn release(terms: u64) {
    RESOURCE_USE.with(|resources| {
        resources
            .terms
            .set(resources.terms.get().saturating_sub(terms));
    });
}

impl ResourceUse {
    fn advance(&self, steps: u64) {
        let added_steps = u32::try_from(steps).unwrap_or(STEPS).min(STEPS);
        let steps = self.steps.get() + added_steps;
        self.steps.set(steps);
        if steps >= STEPS {
            self.check_time();
        }
    }

    #[cold]
    fn check_time(&self) {
        self.steps.set(0);
        let cancel = self.cancel.take();
        let is_cancelled = cancel.as_ref().is_some_and(Cancel::is_cancelled);
        self.cancel.set(cancel);
        let stop = if is_cancelled {
            Stop::Cancelled
        } else if self.terms.get() > self.max_terms.get() {
            Stop::Memory
        } else if self.until.get().is_some_and(|until| Instant::now() > until) {
            Stop::Timeout(self.timeout.get())
        } else {
            return;
        };
        stop_with(stop);
    }
}

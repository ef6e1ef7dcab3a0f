//! What evaluation may take: time, memory, rows.
//!
//! - In: the limits of a message, and every step of its evaluation. Out: the work's result, or what ended it.
//! - Law: work of a library that knows no limits ends where ours is called: it unwinds, as a cancelled computation
//!   does, and drops what it holds.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The option for [`Limits::max_rows`].
const MAX_ROWS: &str = "max_rows";
/// Steps between two looks at the clock.
const STEPS: u32 = 1 << 12;
/// Bytes of a text that is computed which count as one term.
pub const BYTES: u64 = 16;

/// What a message, or a whole dataset, may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Time.
    pub timeout: Option<Duration>,
    /// Rows of the result.
    pub max_rows: u64,
    /// Terms that evaluation holds at a time, in units of 16 bytes of text where they are computed.
    pub max_terms: u64,
}

impl Default for Limits {
    /// No timeout, a million rows, 16 Mi terms (about 1 GiB).
    fn default() -> Self {
        Self {
            timeout: None,
            max_rows: 1_000_000,
            max_terms: 16 << 20,
        }
    }
}

/// What ends an evaluation before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Somebody cancelled it.
    Cancelled,
    /// It took longer than it may.
    Timeout(Duration),
    /// It gave more rows than it may.
    Rows(u64),
    /// It held more terms than it may.
    Memory,
    /// The evaluator says why.
    Failed(String),
}

impl Stop {
    /// A sentence, and the option that allows more.
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
            Self::Rows(most) => (
                format!("the query gives more than {most} rows"),
                Some(MAX_ROWS),
            ),
            Self::Memory => (
                "the query needs more than 1 GiB of memory for what it finds, compares, sorts, groups or computes; make \
                 its patterns more selective, its variables fewer, or its texts shorter"
                    .to_owned(),
                None,
            ),
            Self::Failed(why) => (why.clone(), None),
        }
    }
}

/// What ends evaluations from outside.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends what runs.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lets what runs next run.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether what runs is to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What evaluation on this thread has taken.
struct Taken {
    steps: Cell<u32>,
    terms: Cell<u64>,
    /// Bytes of text that make no whole term yet.
    bytes: Cell<u64>,
    /// Terms of texts of the expression that is being evaluated, if it makes texts.
    made: Cell<u64>,
    /// Terms that are part of a result.
    kept: Cell<u64>,
    /// Expressions that make texts and are being evaluated, each within the one before.
    open: Cell<u32>,
    most: Cell<u64>,
    until: Cell<Option<Instant>>,
    timeout: Cell<Duration>,
    cancel: Cell<Option<Cancel>>,
}

thread_local! {
    static TAKEN: Taken = const {
        Taken {
            steps: Cell::new(0),
            terms: Cell::new(0),
            bytes: Cell::new(0),
            made: Cell::new(0),
            kept: Cell::new(0),
            open: Cell::new(0),
            most: Cell::new(u64::MAX),
            until: Cell::new(None),
            timeout: Cell::new(Duration::ZERO),
            cancel: Cell::new(None),
        }
    };
}

/// Does work within limits.
///
/// # Errors
/// What ended it.
pub fn within<T>(
    limits: &Limits,
    cancel: &Cancel,
    work: impl FnOnce() -> Result<T, Stop>,
) -> Result<T, Stop> {
    TAKEN.with(|taken| {
        let until = limits
            .timeout
            .and_then(|time| Instant::now().checked_add(time));
        taken.steps.set(0);
        taken.terms.set(taken.kept.get());
        taken.bytes.set(0);
        taken.made.set(0);
        taken.open.set(0);
        taken.most.set(limits.max_terms);
        taken.until.set(until);
        taken.timeout.set(limits.timeout.unwrap_or_default());
        taken.cancel.set(Some(cancel.clone()));
    });
    let done = catch_unwind(AssertUnwindSafe(work));
    TAKEN.with(|taken| {
        taken.most.set(u64::MAX);
        taken.until.set(None);
        taken.cancel.set(None);
    });
    done.unwrap_or_else(|payload| match payload.downcast::<Stop>() {
        Ok(stop) => Err(*stop),
        Err(payload) => resume_unwind(payload),
    })
}

/// Counts a step. Unwinds to [`within`] where the time is up.
#[inline]
pub fn step() {
    TAKEN.with(|taken| {
        let steps = taken.steps.get() + 1;
        taken.steps.set(steps);
        if steps >= STEPS {
            taken.look();
        }
    });
}

/// Looks at the clock at once. Unwinds to [`within`] where the time is up.
pub fn look() {
    TAKEN.with(Taken::look);
}

/// Counts a step, and terms that are held from now on. Unwinds to [`within`] where they are too many.
#[inline]
pub fn hold(terms: u64) {
    TAKEN.with(|taken| {
        let held = taken.terms.get() + terms;
        taken.terms.set(held);
        let steps = taken.steps.get() + 1;
        taken.steps.set(steps);
        if steps >= STEPS || held > taken.most.get() {
            taken.look();
        }
    });
}

/// Counts bytes of text that are held from now on, as [`hold`] does.
pub fn hold_bytes(bytes: u64) {
    let terms = TAKEN.with(|taken| {
        let held = taken.bytes.get() + bytes;
        taken.bytes.set(held % BYTES);
        held / BYTES
    });
    hold(terms);
}

/// Counts steps for bytes that are copied or scanned. They are held as well if an expression that makes texts is being
/// evaluated. Unwinds to [`within`] where the time is up, or they are too many.
#[inline]
pub fn copied(bytes: usize) {
    let terms = bytes as u64 / BYTES;
    TAKEN.with(|taken| {
        if taken.open.get() > 0 {
            taken.made.set(taken.made.get() + terms);
            taken.terms.set(taken.terms.get() + terms);
        }
        taken.advance(terms);
    });
}

/// Counts steps for bytes that are scanned. Unwinds to [`within`] if the time is up.
pub fn scanned(bytes: usize) {
    TAKEN.with(|taken| taken.advance(bytes as u64 / BYTES));
}

/// Counts terms that are part of a result: they count until [`forget_kept`]. Unwinds to [`within`] if they are too
/// many.
#[inline]
pub fn keep(terms: u64) {
    TAKEN.with(|taken| taken.kept.set(taken.kept.get() + terms));
    hold(terms);
}

/// Terms that are part of a result.
pub fn kept() -> u64 {
    TAKEN.with(|taken| taken.kept.get())
}

/// Releases the terms of a result that was handed over.
pub fn forget_kept() {
    release(TAKEN.with(|taken| taken.kept.take()));
}

/// Ends the evaluation: unwinds to [`within`].
pub fn end_by(stop: Stop) {
    if !std::thread::panicking() {
        // No panic: nothing is wrong, and no hook is called.
        resume_unwind(Box::new(stop));
    }
}

/// Begins an expression that makes texts: they count until [`end`]. Returns what `end` takes.
pub fn begin() -> u64 {
    TAKEN.with(|taken| {
        taken.open.set(taken.open.get() + 1);
        taken.made.get()
    })
}

/// Ends an expression that makes texts.
pub fn end(before: u64) {
    TAKEN.with(|taken| {
        taken.open.set(taken.open.get().saturating_sub(1));
        release(taken.made.get().saturating_sub(before));
        taken.made.set(before);
    });
}

/// Counts terms that are held no more.
#[inline]
pub fn release(terms: u64) {
    TAKEN.with(|taken| taken.terms.set(taken.terms.get().saturating_sub(terms)));
}

impl Taken {
    fn advance(&self, steps: u64) {
        let more = u32::try_from(steps).unwrap_or(STEPS).min(STEPS);
        let steps = self.steps.get() + more;
        self.steps.set(steps);
        if steps >= STEPS {
            self.look();
        }
    }

    #[cold]
    fn look(&self) {
        self.steps.set(0);
        let cancel = self.cancel.take();
        let is_cancelled = cancel.as_ref().is_some_and(Cancel::is_cancelled);
        self.cancel.set(cancel);
        let stop = if is_cancelled {
            Stop::Cancelled
        } else if self.terms.get() > self.most.get() {
            Stop::Memory
        } else if self.until.get().is_some_and(|until| Instant::now() > until) {
            Stop::Timeout(self.timeout.get())
        } else {
            return;
        };
        end_by(stop);
    }
}

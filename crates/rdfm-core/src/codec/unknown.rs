//! Records that a decoder skipped a field that its format does not define.
//!
//! - In: the number of a skipped field ([`note`]), from the cold paths that skip fields.
//! - Out: the first such number since the last call ([`take`]).
//! - Cost: nothing for known fields. The value is stored per thread, not in the cursors over
//!   fields, which hot loops copy.
//! - Law: the result does not depend on how the input is cut, because fields that are read again
//!   have the same number.

use std::cell::Cell;

thread_local! {
    static FIRST: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Records a skipped field.
#[cold]
pub(crate) fn note(field: u32) {
    FIRST.with(|first| first.set(first.get().or(Some(field))));
}

/// Runs a function that reads bytes without knowing whether they are such fields.
pub(crate) fn ignoring<T>(probe: impl FnOnce() -> T) -> T {
    let before = take();
    let result = probe();
    FIRST.with(|first| first.set(before));
    result
}

/// Returns the number of the first field that this thread skipped, and forgets it.
pub(crate) fn take() -> Option<u32> {
    FIRST.with(Cell::take)
}

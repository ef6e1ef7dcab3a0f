//! Stack space for work that nests as deeply as its input.
//!
//! - In: the depth, and the work.
//! - Out: the result of the work.
//! - Cost: none for shallow work. Deep work runs on a separate thread, which takes about 20 µs to
//!   start.
//! - Law: a caller's stack of 128 KiB, the default of musl, suffices for any depth up to
//!   [`MAX_DEPTH`](crate::codec::options::MAX_DEPTH).

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Number of levels that fit on every stack, even in unoptimized code.
const MAX_SHALLOW_DEPTH: usize = 16;
/// Stack size in bytes of the thread for deep work. Memory is allocated only as it is used.
const STACK_BYTES: usize = 8 << 20;

/// Runs work with this nesting depth.
///
/// # Errors
/// If the system cannot start a thread.
#[inline]
pub fn with_room<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if depth <= MAX_SHALLOW_DEPTH {
        return Ok(work());
    }
    run_on_thread(work)
}

/// Runs one level of recursive work, with `depth` levels open. Levels too deep for every stack run
/// on a separate thread, which has room for several thousand levels.
///
/// # Errors
/// If the system cannot start a thread.
#[inline]
pub fn run_one_level<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if depth != MAX_SHALLOW_DEPTH {
        return Ok(work());
    }
    run_on_thread(work)
}

#[cold]
fn run_on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    scope(|scope| {
        let thread = Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

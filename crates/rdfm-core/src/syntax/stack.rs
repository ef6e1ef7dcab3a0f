//! Stack for work that nests as deeply as its input.
//!
//! - In: the depth, and the work.
//! - Out: what the work returns.
//! - Cost: none for shallow work; deep work runs on a thread of its own, which takes some 20 µs to start.
//! - Law: a caller's stack of 128 KiB, the default of musl, is enough for any depth up to
//!   [`MAX_DEPTH`](crate::codec::options::MAX_DEPTH).

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Levels that every stack has room for, unoptimized code included.
const SHALLOW: usize = 16;
/// Bytes of stack of the thread for deep work; memory is taken as it is used.
const STACK: usize = 8 << 20;

/// Does work that nests so deep.
///
/// # Errors
/// The system has no thread for it.
#[inline]
pub fn with_room<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if depth <= SHALLOW {
        return Ok(work());
    }
    on_thread(work)
}

/// Does one level of work that recurses, of which `depth` levels are open. The last level that every stack has
/// room for does the levels below it on a thread of its own, which takes up to some thousand.
///
/// # Errors
/// The system has no thread for it.
#[inline]
pub fn one_level<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if depth != SHALLOW {
        return Ok(work());
    }
    on_thread(work)
}

#[cold]
fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

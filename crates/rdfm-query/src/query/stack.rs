//! Runs code whose recursion depth depends on the nesting of a query.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

/// Size of the stack in bytes. Memory is allocated only as it is used.
const STACK: usize = 256 << 20;
/// Interval between calls of `check`.
const INTERVAL: Duration = Duration::from_millis(50);

/// Runs `work` on a thread with a stack for deeply nested queries, and calls `check` periodically
/// until `work` ends.
///
/// # Errors
/// If the thread cannot be started.
pub fn with_stack<T: Send>(
    work: impl FnOnce() -> T + Send,
    check: impl Fn(),
) -> std::io::Result<T> {
    scope(|scope| {
        let (ended, end) = channel::<()>();
        let thread = Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, move || {
                let _until_the_end = ended;
                work()
            })?;
        while end.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            check();
        }
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

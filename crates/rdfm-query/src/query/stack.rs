//! Work that nests as deeply as a query does.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

/// Bytes of stack; memory is taken as it is used.
const STACK: usize = 256 << 20;
/// Time between two calls of what looks after the work.
const LOOK: Duration = Duration::from_millis(50);

/// Does work on a thread with a stack for queries that nest deeply. `look` is called now and then meanwhile.
///
/// # Errors
/// There can be no such thread.
pub fn with_stack<T: Send>(work: impl FnOnce() -> T + Send, look: impl Fn()) -> std::io::Result<T> {
    scope(|scope| {
        let (ended, end) = channel::<()>();
        let thread = Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, move || {
                let _until_the_end = ended;
                work()
            })?;
        while end.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            look();
        }
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

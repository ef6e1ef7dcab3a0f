//! Better errors at the start of a binary log that may be in another format.
//!
//! - In: an error that occurred before any of the log was read, and the format that its first bytes
//!   suggest.
//! - Out: the error, worded for a user who passed a file in another format.
//! - Law: the position does not change. If the bytes match the format, the error does not change
//!   either.

use crate::model::error::ErrorClass;
use crate::model::remedy::Reason;

/// The format that the first bytes of a log suggest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The format in which the log is read.
    Same,
    /// Another format.
    Other,
    /// There are too few bytes to decide.
    Unclear,
}

/// Returns the class and reason of an error at the start of a file, described by `file`, such as `a
/// Jelly file`.
#[must_use]
pub fn explain_error(
    start: Start,
    file: &str,
    (class, reason): (ErrorClass, Reason),
) -> (ErrorClass, Reason) {
    let is_invalid = matches!(class, ErrorClass::Malformed | ErrorClass::Truncated);
    match start {
        Start::Other if is_invalid => (
            ErrorClass::Malformed,
            format!("not {file} (or truncated); if it is in another format, name that format")
                .into(),
        ),
        Start::Unclear if is_invalid => {
            let describe = |text: &str| format!("not {file} (or truncated): {text}");
            (class, reason.with_rewording(describe))
        }
        _ => (class, reason),
    }
}

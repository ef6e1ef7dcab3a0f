//! What the first bytes of a binary log say about its format, for errors at its start.
//!
//! - In: an error before anything of the log was read, and what its first bytes look like.
//! - Out: the error, in words for somebody who named a file of another format.
//! - Law: the position stays; where the format shows in the bytes, the error stays as it is.

use crate::model::error::ErrorClass;
use crate::model::remedy::Reason;

/// What the first bytes of a log look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The format that they are read as.
    Same,
    /// Another format.
    Other,
    /// They are too few to tell.
    Unclear,
}

/// Class and reason of an error at the start of what was taken for a file of a format, such as
/// `a Jelly file`.
#[must_use]
pub fn explained(
    start: Start,
    file: &str,
    (class, reason): (ErrorClass, Reason),
) -> (ErrorClass, Reason) {
    let broken = matches!(class, ErrorClass::Malformed | ErrorClass::Truncated);
    match start {
        Start::Other if broken => (
            ErrorClass::Malformed,
            format!("not {file} (or cut off); if it is of another format, name that format").into(),
        ),
        Start::Unclear if broken => {
            let words = |text: &str| format!("not {file} (or cut off): {text}");
            (class, reason.reworded(words))
        }
        _ => (class, reason),
    }
}

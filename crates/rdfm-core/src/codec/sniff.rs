//! Detects the format of a log from its first bytes.
//!
//! - In: the head of a log, which is its first [`HEAD_BYTES`] decompressed bytes, and whether the
//!   head is complete.
//! - Out: a [`Sniff`] for each format that has a detection function.
//! - Law: [`Yes`](Sniff::Yes) stays true however the log continues.

/// Size of the head in bytes. A head of this size counts as complete, with a truncated last line.
pub const HEAD_BYTES: usize = 4096;

/// Whether a log is in a format, judging by its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// The log is in the format, regardless of what follows.
    Yes,
    /// The log is not in the format.
    No,
    /// More of the head is needed. Never returned for a complete head.
    More,
}

impl Sniff {
    /// `Yes` if the head `matches` the format; otherwise `No` for a complete head and `More` for a
    /// partial one.
    pub(crate) const fn from_match(matches: bool, complete: bool) -> Self {
        match (matches, complete) {
            (true, _) => Self::Yes,
            (false, true) => Self::No,
            (false, false) => Self::More,
        }
    }
}

/// Limits the first bytes of a log to the head.
pub(crate) fn head(bytes: &[u8]) -> &[u8] {
    bytes.get(..HEAD_BYTES).unwrap_or(bytes)
}

//! What a log's first bytes say about its format.
//!
//! - In: the head of a log, its first [`HEAD_BYTES`] decompressed, and whether it is complete.
//! - Out: a [`Sniff`] for each format, which has a function for it.
//! - Law: what is [`Yes`](Sniff::Yes) stays so however the log goes on.

/// How many bytes of a log are looked at. A head of so many is complete, its last line cut off.
pub const HEAD_BYTES: usize = 4096;

/// Whether a log is of a format, as far as its head shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// It is, whatever follows.
    Yes,
    /// It is not.
    No,
    /// More of the head is needed; never said of a complete one.
    More,
}

impl Sniff {
    /// Yes if something shows; if not, no for a complete head.
    pub(crate) const fn of(shows: bool, complete: bool) -> Self {
        match (shows, complete) {
            (true, _) => Self::Yes,
            (false, true) => Self::No,
            (false, false) => Self::More,
        }
    }
}

/// As much of a log's first bytes as is looked at.
pub(crate) fn head(bytes: &[u8]) -> &[u8] {
    bytes.get(..HEAD_BYTES).unwrap_or(bytes)
}

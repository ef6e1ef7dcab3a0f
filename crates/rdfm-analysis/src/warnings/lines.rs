//! Line counts of text logs, to locate findings.

/// The number of line feeds in a piece of a log.
#[must_use]
pub fn count(piece: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', piece).count()
}

//! Lines of text logs, so that a finding can say where it is.

/// The number of line feeds in a piece of a log.
#[must_use]
pub fn count(piece: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', piece).count()
}

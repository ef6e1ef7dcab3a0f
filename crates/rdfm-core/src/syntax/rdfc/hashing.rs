//! SHA-256 of texts that are written in parts.

use sha2::{Digest, Sha256};

/// A SHA-256 digest. Its order is that of its hexadecimal form.
pub type Hash = [u8; 32];

/// Size of the buffer: hashing many bytes at once is faster.
const BUFFER_BYTES: usize = 1 << 16;

/// Hashes texts, one after the other, in bounded memory.
#[derive(Debug, Default)]
pub struct TextHasher {
    buffer: Vec<u8>,
    hash: Sha256,
}

impl TextHasher {
    /// Appends to the text.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        if self.buffer.len() >= BUFFER_BYTES {
            self.hash.update(&self.buffer);
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(text);
    }

    /// The hash of the text. Begins the next text.
    pub fn finish(&mut self) -> Hash {
        self.hash.update(&self.buffer);
        self.buffer.clear();
        self.hash.finalize_reset().into()
    }
}

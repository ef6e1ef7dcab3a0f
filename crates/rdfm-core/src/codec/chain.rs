//! Follows the length prefixes of a log without decoding its messages.
//!
//! - In: pieces of a log that consists of messages with varint length prefixes.
//! - Out: the end of the last complete message.
//! - Cost: constant per message. Bytes of messages are not read.
//! - Law: the result does not depend on how the bytes are cut into pieces.

/// Maximum length of a varint in bytes.
const MAX_VARINT_BYTES: u32 = 10;

/// Position in a chain of messages.
#[derive(Clone, Debug, Default)]
pub struct LengthChain {
    /// Offset of the next byte.
    offset: u64,
    /// Offset after the last complete message.
    end: u64,
    /// Number of complete messages.
    messages: u64,
    /// Number of remaining bytes of the open message.
    remaining: u64,
    /// The length that is being read, and the number of its bytes so far.
    length: u64,
    bytes: u32,
    /// Whether a length is too long.
    malformed: bool,
}

impl LengthChain {
    /// Starts at the end of a message, at this offset in the log.
    #[must_use]
    pub fn at(offset: u64) -> Self {
        Self {
            offset,
            end: offset,
            ..Self::default()
        }
    }

    /// Offset after the last complete message.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Number of complete messages.
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.messages
    }

    /// Offset of the first byte that [`feed`](Self::feed) needs next. The bytes before it belong to
    /// the open message.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.offset + self.remaining
    }

    /// Whether a length has more than ten bytes.
    #[must_use]
    pub const fn is_malformed(&self) -> bool {
        self.malformed
    }

    /// Follows the lengths in the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        let mut index = 0;
        while index < piece.len() && !self.malformed {
            if self.remaining == 0 {
                let byte = piece[index];
                self.length |= u64::from(byte & 0x7f)
                    .checked_shl(7 * self.bytes)
                    .unwrap_or_default();
                self.bytes += 1;
                index += 1;
                if byte >= 0x80 {
                    self.malformed = self.bytes == MAX_VARINT_BYTES;
                    continue;
                }
                self.remaining = std::mem::take(&mut self.length);
                self.bytes = 0;
            }
            let available = (piece.len() - index) as u64;
            let count = self.remaining.min(available);
            index += count as usize;
            self.remaining -= count;
            if self.remaining == 0 {
                self.messages += 1;
                self.end = self.offset + index as u64;
            }
        }
        self.offset += index as u64;
    }

    /// Skips to `offset`, but not beyond [`next`](Self::next). The skipped bytes are not fed.
    pub fn skip_to(&mut self, offset: u64) {
        let skipped = offset.saturating_sub(self.offset).min(self.remaining);
        self.offset += skipped;
        self.remaining -= skipped;
        if skipped > 0 && self.remaining == 0 {
            self.messages += 1;
            self.end = self.offset;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_change_the_result() {
        let log = [&[0, 3, 1, 2, 3, 0x80, 1][..], &[7; 128], &[5, 1]].concat();
        for cut in 0..log.len() {
            let mut chain = LengthChain::default();
            chain.feed(&log[..cut]);
            chain.feed(&log[cut..]);
            assert_eq!((chain.end(), chain.messages()), (135, 3));
            assert_eq!(chain.next(), 141);
        }
    }

    #[test]
    fn bytes_of_a_message_can_be_skipped() {
        let mut chain = LengthChain::at(100);
        chain.feed(&[200, 1, 9]);
        assert_eq!((chain.end(), chain.next()), (100, 302));
        chain.skip_to(302);
        assert_eq!((chain.end(), chain.messages()), (302, 1));
        chain.feed(&[0]);
        assert_eq!((chain.end(), chain.messages()), (303, 2));
    }

    #[test]
    fn a_length_has_at_most_ten_bytes() {
        let mut chain = LengthChain::default();
        chain.feed(&[0xff; 11]);
        assert!(chain.is_malformed());
    }
}

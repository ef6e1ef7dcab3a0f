//! Surveys the kinds of bytes in a JSON text, so that the parser can skip unnecessary checks.
//!
//! - Cost: one pass, in which the compiler compares many bytes at once.

/// The kinds of bytes in a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    pub is_ascii: bool,
    pub has_controls: bool,
    pub has_backslashes: bool,
    /// Number of quotes.
    pub quotes: usize,
}

impl Survey {
    /// Surveys a text.
    #[inline]
    pub fn new(text: &[u8]) -> Self {
        let (mut lowest, mut all, mut backslashes, mut quotes) = (u8::MAX, 0u8, 0u8, 0);
        // The chunks are short enough that a byte can count the quotes.
        for chunk in text.chunks(128) {
            let mut count = 0u8;
            for &byte in chunk {
                lowest = lowest.min(byte);
                all |= byte;
                backslashes |= u8::from(byte == b'\\');
                count = count.wrapping_add(u8::from(byte == b'"'));
            }
            quotes += usize::from(count);
        }
        Self {
            is_ascii: all.is_ascii(),
            has_controls: lowest < b' ',
            has_backslashes: backslashes != 0,
            quotes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_text_is_surveyed() {
        for length in [0, 1, 15, 16, 17, 127, 128, 129, 1000] {
            let text = vec![b'a'; length];
            let plain = Survey {
                is_ascii: true,
                has_controls: false,
                has_backslashes: false,
                quotes: 0,
            };
            assert_eq!(Survey::new(&text), plain);
            assert_eq!(Survey::new(&vec![b'"'; length]).quotes, length);
            for index in 0..length {
                let with = |byte: u8| {
                    let mut text = text.clone();
                    text[index] = byte;
                    Survey::new(&text)
                };
                assert!(!with(0x80).is_ascii);
                assert!(with(0x1f).has_controls && !with(0x20).has_controls);
                assert!(with(b'\\').has_backslashes);
                assert_eq!(with(b'"').quotes, 1);
            }
        }
    }
}

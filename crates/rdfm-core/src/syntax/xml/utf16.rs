//! XML logs in UTF-16, which every XML reader must accept (XML 1.0, section 2.2).
//!
//! - In: the pieces of a log. A byte order mark, or a `<` of two bytes, shows that it is in UTF-16.
//! - Out: the same log in UTF-8 for the decoder of the format. Byte offsets refer to that text.
//! - Cost: for UTF-8, one check per piece.
//! - Law: the result does not depend on how the input is cut. A lone surrogate is an error.

use std::sync::Arc;

use crate::codec::batch::Batch;
use crate::codec::{Decoder, LogHeader, Observations};
use crate::model::error::DecodeError;

/// The encoding of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    LittleEndian,
    BigEndian,
}

impl Encoding {
    /// The encoding of a log that begins with these bytes; `None` if more bytes are needed.
    fn detect(head: &[u8], complete: bool) -> Option<Self> {
        match *head {
            [0xff, 0xfe, ..] | [b'<', 0, ..] => Some(Self::LittleEndian),
            [0xfe, 0xff, ..] | [0, b'<', ..] => Some(Self::BigEndian),
            [_, _, ..] => Some(Self::Utf8),
            _ => complete.then_some(Self::Utf8),
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::BigEndian => u16::from_be_bytes(bytes),
            Self::LittleEndian | Self::Utf8 => u16::from_le_bytes(bytes),
        }
    }

    /// Converts UTF-16 to UTF-8. Returns the number of bytes that were converted: the others are an
    /// incomplete character, or begin with a lone surrogate.
    fn convert(self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let units = bytes.chunks_exact(2).map(|pair| match *pair {
            [first, second] => self.unit([first, second]),
            _ => 0,
        });
        let mut consumed = 0;
        for character in char::decode_utf16(units) {
            let Ok(character) = character else { break };
            consumed += 2 * character.len_utf16();
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        consumed
    }
}

/// Returns the head of a log in UTF-8, if it is in UTF-16.
pub(crate) fn head_in_utf8(head: &[u8]) -> Option<Vec<u8>> {
    let encoding = Encoding::detect(head, true).filter(|encoding| *encoding != Encoding::Utf8)?;
    let mut text = Vec::new();
    encoding.convert(head, &mut text);
    Some(text)
}

/// Returns a decoder that also accepts UTF-16.
pub(crate) fn accepting(inner: Box<dyn Decoder>) -> Box<dyn Decoder> {
    Box::new(Utf16Decoder {
        inner,
        encoding: None,
        pending: Vec::new(),
        invalid: false,
    })
}

struct Utf16Decoder {
    inner: Box<dyn Decoder>,
    encoding: Option<Encoding>,
    /// The bytes that were not converted yet.
    pending: Vec<u8>,
    /// Whether the pending bytes are not UTF-16.
    invalid: bool,
}

/// A byte that makes the inner decoder report invalid text at its position.
const INVALID: &[u8] = &[0xff];

impl Utf16Decoder {
    fn convert(&mut self, encoding: Encoding) {
        let mut text = Vec::with_capacity(self.pending.len());
        let consumed = encoding.convert(&self.pending, &mut text);
        self.pending.drain(..consumed);
        self.inner.feed(&text);
        // At most an incomplete pair of surrogates remains.
        let starts_pair = matches!(*self.pending, [first, second, ..]
            if (0xd800..0xdc00).contains(&encoding.unit([first, second])));
        self.invalid = self.pending.len() >= if starts_pair { 4 } else { 2 };
        if self.invalid {
            self.inner.feed(INVALID);
        }
    }

    fn start(&mut self, complete: bool) {
        self.encoding = Encoding::detect(&self.pending, complete);
        if self.encoding == Some(Encoding::Utf8) {
            self.inner.feed(&std::mem::take(&mut self.pending));
        }
    }
}

impl Decoder for Utf16Decoder {
    fn feed(&mut self, piece: &[u8]) {
        if self.encoding == Some(Encoding::Utf8) {
            return self.inner.feed(piece);
        }
        if self.invalid {
            return;
        }
        self.pending.extend_from_slice(piece);
        if self.encoding.is_none() {
            self.start(false);
        }
        if let Some(encoding) = self.encoding
            && encoding != Encoding::Utf8
        {
            self.convert(encoding);
        }
    }

    fn finish(&mut self) {
        if self.encoding.is_none() {
            self.start(true);
        }
        if !self.pending.is_empty() && !self.invalid {
            self.invalid = true;
            self.inner.feed(INVALID);
        }
        self.inner.finish();
    }

    fn next_batch(&mut self) -> Result<Option<Batch>, DecodeError> {
        self.inner.next_batch().map_err(|error| {
            if !self.invalid || !error.reason.to_string().starts_with("invalid UTF-8") {
                return error;
            }
            DecodeError {
                reason: "invalid UTF-16: a surrogate without its pair, or half a character".into(),
                ..error
            }
        })
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        self.inner.skip_message()
    }

    fn reset(&mut self) {
        self.inner.reset();
        self.encoding = None;
        self.pending.clear();
        self.invalid = false;
    }

    fn is_done(&self) -> bool {
        self.inner.is_done()
    }

    fn header(&self) -> Arc<LogHeader> {
        self.inner.header()
    }

    fn observations(&self) -> Observations {
        let is_utf16 = self
            .encoding
            .is_some_and(|encoding| encoding != Encoding::Utf8);
        let mut observations = self.inner.observations();
        observations.closed = is_utf16
            .then_some("it is in UTF-16")
            .or(observations.closed);
        observations
    }
}

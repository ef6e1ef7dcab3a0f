//! Finds the parts of a simple binding in JSON.
//!
//! - In: valid UTF-8 text, and the position of the binding or of white space before it.
//! - Out: the strings of the binding, if it is completely buffered and its term is not a triple
//!   term, has only strings without escapes, and has only the usual members, in any order.
//! - Cost: one pass over the binding.

use crate::syntax::json::parse::{plain_end, space};

/// A variable and its term.
pub(super) struct JsonBinding<'a> {
    pub name: &'a [u8],
    pub kind: &'a [u8],
    pub value: &'a [u8],
    pub datatype: Option<&'a [u8]>,
    pub language: Option<&'a [u8]>,
    /// Position of the brace that ends the term.
    pub end: usize,
}

impl<'a> JsonBinding<'a> {
    /// Returns the binding at a position. If it is not the first one, a comma precedes it.
    #[inline]
    pub fn find(text: &'a [u8], mut index: usize, is_first: bool) -> Option<Self> {
        if !is_first {
            index = skip(text, index, b',')?;
        }
        let (name, index) = string(text, index)?;
        let index = skip(text, index, b':')?;
        let mut index = skip(text, index, b'{')?;
        let [mut kind, mut value, mut datatype, mut language] = [None; 4];
        loop {
            let start = space(text, index);
            let (member, key_length) = match text.get(start..)? {
                [b'"', b't', b'y', b'p', b'e', b'"', ..] => (&mut kind, 6),
                [b'"', b'v', b'a', b'l', b'u', b'e', b'"', ..] => (&mut value, 7),
                rest if rest.starts_with(b"\"datatype\"") => (&mut datatype, 10),
                rest if rest.starts_with(b"\"xml:lang\"") => (&mut language, 10),
                _ => return None,
            };
            let (content, next) = string(text, skip(text, start + key_length, b':')?)?;
            if member.replace(content).is_some() {
                return None;
            }
            let next = space(text, next);
            match text.get(next)? {
                b',' => index = next + 1,
                b'}' => {
                    return Some(Self {
                        name,
                        kind: kind?,
                        value: value?,
                        datatype,
                        language,
                        end: next,
                    });
                }
                _ => return None,
            }
        }
    }
}

/// Position after a byte that white space may precede.
#[inline]
fn skip(text: &[u8], index: usize, byte: u8) -> Option<usize> {
    let index = space(text, index);
    (text.get(index) == Some(&byte)).then_some(index + 1)
}

/// Returns the content of a string without escapes, and the position after it.
#[inline]
fn string(text: &[u8], index: usize) -> Option<(&[u8], usize)> {
    let start = skip(text, index, b'"')?;
    let end = plain_end::<true, true>(text, start);
    (text.get(end) == Some(&b'"')).then(|| (&text[start..end], end + 1))
}

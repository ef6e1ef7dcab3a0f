//! Restart marks: frame metadata that marks where a log can be read without the frames before it.
//!
//! A restart frame begins with the options row and does not refer to earlier frames. Its mark is a
//! metadata entry in front of the rows. The value is [`MAGIC`] and the length of the frame as a
//! little-endian number. The start of the frame can therefore be computed from the position of the
//! mark.
//!
//! - In: the bytes of a log, or the metadata entries of a frame.
//! - Out: the offsets of marked frames.
//! - Cost: a substring search.
//! - Law: in a log that rdfm wrote, only marks contain the magic. It is not valid UTF-8, so terms
//!   and names cannot contain it, and encoders reject metadata that contains it. The magic ends
//!   with two bytes below 0x80, the last of which is not a possible length of a frame. Therefore no
//!   part of the magic can be the length prefix of the next frame.
//!
//! A mark cannot be trusted, because a program that merges logs may copy it to another frame. The
//! length in a mark must therefore match, and a decoder that begins at a mark rejects data that
//! depends on an earlier frame.

use memchr::memmem::Finder;

use crate::syntax::wire::{Varint, put_varint, read_long_varint, varint_size};

/// Key of the metadata entry.
pub const KEY: &str = "rdfm.restart";

/// First bytes of the value.
pub const MAGIC: [u8; 16] = *b"\xff\xferdfm restart\x00\x01";

/// The beginning of a mark, up to the length of its frame: the tag and length of the entry, its
/// key, and its value.
const HEAD: [u8; 34] = *b"\x7a\x28\x0a\x0crdfm.restart\x12\x18\xff\xferdfm restart\x00\x01";

/// The first bytes of a mark, up to the end of its key.
pub const MARK_START: &[u8] = HEAD.split_at(4 + KEY.len()).0;

/// Size of a mark in bytes.
pub const MARK_BYTES: usize = HEAD.len() + size_of::<u64>();

/// Maximum number of bytes before the mark that belong to its frame: the length prefix.
const MAX_PREFIX: usize = 10;

/// Appends the mark for a frame of the given length, which includes the mark but not the length
/// prefix.
pub fn put_mark(out: &mut Vec<u8>, length: u64) {
    out.extend_from_slice(&HEAD);
    out.extend_from_slice(&length.to_le_bytes());
}

/// Whether a metadata entry is a mark.
pub fn is_mark(key: &str, value: &[u8]) -> bool {
    key == KEY && value.starts_with(&MAGIC)
}

/// Whether a metadata entry could be mistaken for a mark, and must therefore not be written.
pub fn is_reserved(key: &str, value: &[u8]) -> bool {
    key == KEY || memchr::memmem::find(value, &MAGIC).is_some()
}

/// Whether a frame begins with a mark that gives its actual length.
pub fn is_marked(frame: &[u8]) -> bool {
    marked_length(frame) == Some(frame.len() as u64)
}

/// Whether the bytes begin like a delimited log whose first frame has a mark. `None` if more bytes
/// are needed.
pub fn begins_log(head: &[u8]) -> Option<bool> {
    let (length, prefix) = match read_long_varint(head) {
        Varint::Value(length, prefix) => (length, prefix),
        Varint::Incomplete => return None,
        Varint::TooLong => return Some(false),
    };
    let rest = &head[prefix..];
    let known = rest.len().min(HEAD.len());
    if rest[..known] != HEAD[..known] {
        return Some(false);
    }
    (rest.len() >= MARK_BYTES).then(|| marked_length(rest) == Some(length))
}

/// Whether the bytes are a mark, or enough of its first bytes to recognize it.
pub fn looks_like_mark(frame: &[u8]) -> bool {
    let known = frame.len().min(HEAD.len());
    known >= 4 && frame[..known] == HEAD[..known]
}

/// Frame length given by a mark at the start of the bytes.
fn marked_length(bytes: &[u8]) -> Option<u64> {
    let length = bytes.strip_prefix(&HEAD)?.first_chunk()?;
    Some(u64::from_le_bytes(*length))
}

/// Result of searching for a marked frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkSearch {
    /// Index of the first byte of the frame, which is its length prefix.
    Found(usize),
    /// No marked frame begins before this index.
    None(usize),
}

/// Searches for marked frames.
#[derive(Debug)]
pub struct MarkFinder(Finder<'static>);

impl Default for MarkFinder {
    fn default() -> Self {
        Self(Finder::new(const { &HEAD }))
    }
}

impl MarkFinder {
    /// Finds the first marked frame that begins at or after `from`. Assumes that the bytes from
    /// there on have not been searched.
    pub fn find(&self, bytes: &[u8], from: usize) -> MarkSearch {
        let mut searched = from;
        while let Some(found) = bytes.get(searched..).and_then(|rest| self.0.find(rest)) {
            let at = searched + found;
            let mark = &bytes[at..];
            if mark.len() < MARK_BYTES {
                break;
            }
            if let Some(start) =
                marked_length(mark).and_then(|length| frame_start(bytes, at, length))
                && start >= from
            {
                return MarkSearch::Found(start);
            }
            searched = at + 1;
        }
        let open = bytes.len().saturating_sub(MAX_PREFIX + MARK_BYTES - 1);
        MarkSearch::None(open.max(from))
    }
}

/// Index of the length prefix before a mark, if the bytes before the mark encode this length.
fn frame_start(bytes: &[u8], mark: usize, length: u64) -> Option<usize> {
    if length < MARK_BYTES as u64 {
        return None;
    }
    let start = mark.checked_sub(varint_size(length))?;
    let mut prefix = Vec::with_capacity(MAX_PREFIX);
    put_varint(&mut prefix, length);
    (bytes[start..mark] == *prefix).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A marked frame with this many bytes after the mark.
    fn frame(rest: usize) -> Vec<u8> {
        let length = (MARK_BYTES + rest) as u64;
        let mut bytes = Vec::new();
        put_varint(&mut bytes, length);
        put_mark(&mut bytes, length);
        bytes.resize(bytes.len() + rest, 0x0a);
        bytes
    }

    #[test]
    fn the_head_contains_the_key_and_the_magic() {
        let inner = 2 + KEY.len() + 2 + MAGIC.len() + 8;
        assert_eq!(HEAD[..4], [0x7a, inner as u8, 0x0a, KEY.len() as u8]);
        assert_eq!(&HEAD[4..4 + KEY.len()], KEY.as_bytes());
        assert_eq!(HEAD[HEAD.len() - 18..][..2], [0x12, 24]);
        assert_eq!(HEAD[HEAD.len() - 16..], MAGIC);
        assert!(std::str::from_utf8(&MAGIC[..1]).is_err());
    }

    #[test]
    fn marks_are_found_at_the_start_of_their_frames() {
        for rest in [0, 1, 100, 20_000] {
            let frame = frame(rest);
            let prefix = frame.len() - MARK_BYTES - rest;
            assert!(is_marked(&frame[prefix..]));
            assert_eq!(begins_log(&frame), Some(true));
            for before in [0, 1, 50] {
                let log = [vec![0xff; before], frame.clone(), frame.clone()].concat();
                let finder = MarkFinder::default();
                assert_eq!(finder.find(&log, 0), MarkSearch::Found(before));
                assert_eq!(finder.find(&log, before), MarkSearch::Found(before));
                let second = MarkSearch::Found(before + frame.len());
                assert_eq!(finder.find(&log, before + 1), second);
            }
        }
    }

    #[test]
    fn a_truncated_mark_is_found_when_more_bytes_arrive() {
        let log = [vec![0x0a; 100], frame(300)].concat();
        let finder = MarkFinder::default();
        for end in 0..log.len() {
            match finder.find(&log[..end], 0) {
                MarkSearch::Found(start) => assert_eq!(start, 100),
                MarkSearch::None(searched) => {
                    assert!(searched <= 100, "{end}");
                    assert_eq!(finder.find(&log, searched), MarkSearch::Found(100));
                }
            }
            if end > 100 {
                assert_ne!(begins_log(&log[100..end]), Some(false));
            }
        }
    }

    #[test]
    fn a_mark_with_the_wrong_length_is_not_found() {
        let mut log = frame(300);
        log.extend([0x0a; 100]);
        log[0] ^= 1;
        assert_eq!(begins_log(&log), Some(false));
        assert!(matches!(
            MarkFinder::default().find(&log, 0),
            MarkSearch::None(_)
        ));
        assert!(!is_marked(&log[2..]));
    }

    #[test]
    fn the_key_and_the_magic_are_reserved() {
        assert!(is_mark(KEY, &[&MAGIC[..], &[0; 8]].concat()));
        assert!(!is_mark(KEY, b"other") && is_reserved(KEY, b"other"));
        assert!(is_reserved("key", &[b"a", &MAGIC[..], b"b"].concat()));
        assert!(!is_reserved("key", &MAGIC[1..]));
    }
}

//! Goes on after a fault: to the next delimiter, over whatever stands before it.
//!
//! - In: the lines after a fault.
//! - Out: the bytes skipped, the first MiB of them.
//! - Law: the cutting changes nothing; the delimiter is one that the dialect in force counts.

use crate::batch::BatchBuilder;
use crate::limits::Limits;
use crate::text::dialect::{Delimiter, Dialects, is_comment_delimiter};

use super::decode::{LineDecoder, is_word, version};
use super::lex::skip_space;
use super::statement::{Grammar, Statements};

/// Skipped bytes that are kept.
pub(super) const KEPT: usize = 1 << 20;

/// A skip under way.
pub(super) struct Skip {
    bytes: Vec<u8>,
    /// Within a line that is skipped whatever it holds: the one with the fault, or one too long.
    inside: bool,
}

impl Skip {
    /// Begins with what stands before the line with the fault.
    pub fn new(before: &[u8]) -> Self {
        let mut skip = Self {
            bytes: Vec::new(),
            inside: true,
        };
        skip.add(before);
        skip
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.bytes.len());
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl LineDecoder {
    /// [`Decoder::skip_message`](crate::codec::Decoder::skip_message).
    pub(super) fn skip_on(&mut self) -> Option<Vec<u8>> {
        let mut skip = self.skip.take()?;
        if !self.skip_lines(&mut skip) {
            self.skip = Some(skip);
            return None;
        }
        self.fault = None;
        self.builder.skip_index();
        Some(skip.bytes)
    }

    /// Skips lines to the next delimiter or the end of the log. False when bytes lack.
    fn skip_lines(&mut self, skip: &mut Skip) -> bool {
        let max = self.options.limits.max_message_bytes;
        loop {
            let from = self.input.at;
            let rest = self.input.bytes.get(from..).unwrap_or_default();
            let scanned = self.input.scanned_from(from);
            let end = memchr::memchr2(b'\n', b'\r', &rest[scanned..]).map(|end| scanned + end + 1);
            let whole = end.is_some() || self.input.finished;
            let length = end.unwrap_or(rest.len());
            if length == 0 {
                return whole;
            }
            let inside = skip.inside || length as u64 > max;
            if !whole && !inside {
                self.input.scanned = self.input.bytes.len();
                return false;
            }
            let line = &rest[..length];
            let ends = !inside && resumes(&mut self.dialects, line);
            if !ends {
                skip.add(line);
            }
            skip.inside = inside && !whole;
            self.input.lines.advance(line);
            self.input.at += length;
            if ends {
                // An LF that belongs to this line's CR may follow.
                self.input.after_cr = line.ends_with(b"\r");
                return true;
            }
        }
    }
}

/// Whether a line holds a delimiter that counts. A version label in it counts too.
fn resumes(dialects: &mut Dialects, line: &[u8]) -> bool {
    let start = skip_space(line, 0);
    let rest = line.get(start..).unwrap_or_default();
    let (message, label) = (rest.starts_with(b"MESSAGE"), rest.starts_with(b"VERSION"));
    let comment = memchr::memmem::find(rest, b"@message").is_some();
    if !(message || label || comment) || std::str::from_utf8(line).is_err() {
        return false;
    }
    let mut at = start;
    let mut ends = false;
    if message && is_word(line, start + 7) {
        at = start + 7;
    } else if label && is_word(line, start + 7) {
        match version(dialects, line, start + 7) {
            Ok(end) => at = end,
            Err(_) => return false,
        }
    } else if !rest.starts_with(b"#") {
        // Any statement will do: what matters is where it ends.
        let mut statements = Statements::new(Grammar {
            graphs: true,
            generalized: true,
            lenient: true,
            max_depth: u32::MAX,
        });
        let mut builder = BatchBuilder::new(Limits::default());
        match statements.statement(&mut builder, line, at, false) {
            Ok(end) => at = end,
            Err(_) => return false,
        }
    }
    at = skip_space(line, at);
    let after = line.get(at..).unwrap_or_default();
    let end = after.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    match after.get(..end.unwrap_or(after.len())) {
        None | Some([]) => {}
        Some([b'#', comment @ ..]) => {
            ends = is_comment_delimiter(comment) && dialects.resumes(Delimiter::Comment);
        }
        Some(_) => return false,
    }
    ends || (message && dialects.resumes(Delimiter::Directive))
}

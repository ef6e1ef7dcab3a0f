//! Counts the delimiters of a split without decoding it, so that its messages can be numbered.
//!
//! - In: the same pieces as for a decoder of the split.
//! - Out: the number of delimiters in the split, and whether a message begins before the first one.
//! - Cost: a search for three words. Only lines that contain one are parsed.
//! - Law: agrees with the decoder, even on malformed lines: both use [`apply_line`].

use memchr::memmem::Finder;

use crate::codec::input::Buffer;
use crate::codec::{self, Dialect, Split};
use crate::syntax::text::dialect::Dialects;

use super::decode::{cut, find_block_end};
use super::options::LineReading;
use super::skip::{LineEffect, apply_line, may_delimit};

/// Counts the delimiters of one split.
pub struct LineDelimiterCounter {
    split: Split,
    /// The dialect that the split requires.
    fixed: Dialect,
    max_line: u64,
    dialects: Dialects,
    input: Buffer,
    /// The bytes between the first unread byte and this index contain no line breaks.
    scanned: usize,
    words: [Finder<'static>; 3],
    /// Whether the current line is skipped, because it is too long or belongs to the previous
    /// split.
    inside: bool,
    done: bool,
    delimiters: u64,
    content_first: bool,
}

impl LineDelimiterCounter {
    /// Creates a counter for `options.split`, or for the entire log.
    pub(super) fn new(options: &LineReading) -> Self {
        let split = options.split.unwrap_or(Split {
            start: 0,
            stop: u64::MAX,
            dialect: None,
        });
        let inner = split.start > 0;
        Self {
            split,
            fixed: options
                .dialect_options
                .dialect
                .unwrap_or(split.text_dialect()),
            max_line: options.limits.max_message_bytes,
            dialects: if inner {
                Dialects::after_head(&options.dialect_options, split.text_dialect())
            } else {
                Dialects::new(&options.dialect_options)
            },
            input: Buffer {
                start: split.start.saturating_sub(1),
                ..Buffer::default()
            },
            scanned: 0,
            words: [b"@message".as_slice(), b"MESSAGE", b"VERSION"].map(Finder::new),
            inside: inner,
            done: false,
            delimiters: 0,
            content_first: false,
        }
    }

    fn run(&mut self) {
        while !self.done {
            if self.input.offset() >= self.split.stop {
                self.done = true;
                return;
            }
            let from = self.input.index;
            if self.inside {
                let rest = self.input.rest();
                if rest.is_empty() {
                    return;
                }
                let end = memchr::memchr2(b'\n', b'\r', rest);
                self.inside = end.is_none();
                self.input.index = end.map_or(self.input.bytes.len(), |end| from + end + 1);
                continue;
            }
            match find_block_end(&self.input, &mut self.scanned, self.max_line) {
                Ok(Some(end)) => {
                    let end = cut(&self.input, end, self.split.stop);
                    self.count_lines(from, end);
                    self.input.index = end;
                }
                Ok(None) => return,
                // A line that is too long contains no delimiter, wherever it ends.
                Err(_) => {
                    self.note_content();
                    self.inside = true;
                }
            }
        }
    }

    /// Records that a message has content.
    fn note_content(&mut self) {
        self.content_first |= self.delimiters == 0;
    }

    /// Processes complete lines.
    fn count_lines(&mut self, mut from: usize, end: usize) {
        // Until a message or delimiter is found, every line may begin a message.
        while from < end && self.delimiters == 0 && !self.content_first {
            from = self.count_line(from, end, true);
        }
        let mut hits: [Option<usize>; 3] = [Some(from); 3];
        for (hit, word) in hits.iter_mut().zip(&self.words) {
            *hit = find(word, &self.input.bytes, from, end);
        }
        while let Some(hit) = hits.iter().flatten().min() {
            let text = self.input.bytes.get(from..*hit).unwrap_or_default();
            let line = from + memchr::memrchr2(b'\n', b'\r', text).map_or(0, |before| before + 1);
            from = self.count_line(line, end, false);
            for (hit, word) in hits.iter_mut().zip(&self.words) {
                if hit.is_some_and(|hit| hit < from) {
                    *hit = find(word, &self.input.bytes, from, end);
                }
            }
        }
    }

    /// Processes the line that begins at `from`, and returns the position after it.
    fn count_line(&mut self, from: usize, end: usize, first: bool) -> usize {
        let text = self.input.bytes.get(from..end).unwrap_or_default();
        let length = line_length(text);
        let line = &text[..length];
        let bare = line
            .strip_suffix(b"\n")
            .or_else(|| line.strip_suffix(b"\r"))
            .unwrap_or(line);
        let effect = if bare.len() as u64 > self.max_line {
            LineEffect::Content
        } else if first || may_delimit(line) {
            let offset = self.input.offset_of(from);
            apply_line(&mut self.dialects, line, offset == 0)
        } else {
            return from + length;
        };
        match effect {
            LineEffect::Idle => {}
            LineEffect::Content => self.note_content(),
            LineEffect::Ends { content } => {
                // A leading comment does not end a message, but a leading directive ends an empty
                // message.
                if content || !self.dialects.are_comments_delimiters() {
                    self.note_content();
                }
                self.delimiters += 1;
            }
        }
        from + length
    }
}

impl codec::DelimiterCounter for LineDelimiterCounter {
    fn feed(&mut self, piece: &[u8]) {
        if !self.done {
            let Self { input, scanned, .. } = self;
            input.feed(piece, input.index, |consumed| {
                *scanned = scanned.saturating_sub(consumed.len());
            });
            self.run();
        }
    }

    fn finish(&mut self) {
        self.input.finished = true;
        self.run();
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn delimiters(&self) -> u64 {
        self.delimiters
    }

    fn is_content_first(&self) -> bool {
        self.content_first
    }

    fn is_indivisible(&self) -> bool {
        let inner = self.split.start > 0;
        (inner || self.done) && self.dialects.in_force() != self.fixed
    }
}

/// Length of the first line including its end. For a CRLF, only the CR is included.
fn line_length(text: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', text).map_or(text.len(), |end| end + 1)
}

fn find(word: &Finder<'_>, bytes: &[u8], from: usize, end: usize) -> Option<usize> {
    let index = word.find(bytes.get(from..end).unwrap_or_default())?;
    Some(from + index)
}

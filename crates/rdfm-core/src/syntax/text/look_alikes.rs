//! Counts comments that look like message delimiters but are not, and reports them in a note.
//!
//! - In: comments between statements, alone on their lines, that are not delimiters.
//! - Out: a sentence with their number and the first positions.
//! - Cost: a check of the first characters of each comment. At most [`MAX_LISTED`] positions are
//!   stored.
//! - Law: the result depends only on the log, not on how it is cut or how often a line is read.

use crate::codec::Dialect;
use crate::model::error::quote;

/// Maximum number of listed positions.
const MAX_LISTED: usize = 10;

/// Look-alikes found so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LookAlikes {
    count: u64,
    /// Text of the first look-alike, and the dialect in force at its position.
    first: Option<(String, Dialect)>,
    /// Offsets of the first look-alikes in the log.
    offsets: Vec<u64>,
    /// Line numbers of these positions, as far as they are known.
    lines: Vec<u64>,
    /// Comments before this offset were already checked.
    next_offset: u64,
}

/// Whether the text of a comment, after its `#`, looks like a delimiter. Such a text begins with
/// `@message`, or is the word `message` with an optional full stop; case is ignored. `complete` is
/// false if more text of the comment may follow.
pub(crate) fn resembles_delimiter(comment: &[u8], complete: bool) -> bool {
    let text = comment.trim_ascii();
    let word = text.strip_suffix(b".").unwrap_or(text).trim_ascii_end();
    match text.first() {
        Some(b'@') => text
            .get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"@message")),
        Some(b'm' | b'M') => complete && word.eq_ignore_ascii_case(b"message"),
        _ => false,
    }
}

impl LookAlikes {
    /// Counts a comment, given without its `#`, unless it was counted before. `offset` is its
    /// position in the log.
    #[cold]
    pub fn add(&mut self, comment: &[u8], offset: u64, line: Option<u64>, dialect: Dialect) {
        if offset < self.next_offset {
            return;
        }
        self.next_offset = offset + 1;
        self.count += 1;
        if self.first.is_none() {
            let text = [b"#", comment.trim_ascii_end()].concat();
            self.first = Some((quote(&text), dialect));
        }
        if self.offsets.len() < MAX_LISTED {
            self.offsets.push(offset);
            self.lines.extend(line);
        }
    }

    /// Determines the missing line numbers.
    #[inline]
    pub fn locate(&mut self, line: impl Fn(u64) -> u64) {
        while let Some(&offset) = self.offsets.get(self.lines.len()) {
            self.lines.push(line(offset));
        }
    }

    /// Number of look-alikes, and the offsets of the first [`MAX_LISTED`] of them.
    pub fn positions(&self) -> (u64, Vec<u64>) {
        (self.count, self.offsets.clone())
    }

    /// Returns the note, if there are any look-alikes.
    pub fn note(&self) -> Option<String> {
        let (text, dialect) = self.first.as_ref()?;
        let has_lines = self.lines.len() == self.offsets.len();
        let (unit, places) = if has_lines {
            ("line", &self.lines)
        } else {
            ("byte", &self.offsets)
        };
        let mut listed: Vec<String> = places.iter().map(u64::to_string).collect();
        let unlisted = self.count - listed.len() as u64;
        if unlisted > 0 {
            listed.push(format!("{unlisted} more"));
        }
        let last = listed.pop().unwrap_or_default();
        let location = if listed.is_empty() {
            format!("{unit} {last}")
        } else {
            format!("{unit}s {} and {last}", listed.join(", "))
        };
        let subject = if self.count == 1 {
            "1 comment looks like a delimiter but is not one".to_owned()
        } else {
            format!(
                "{} comments look like delimiters but are not, such as",
                self.count
            )
        };
        let delimiter = match dialect {
            Dialect::Directive => "MESSAGE",
            Dialect::Comment | Dialect::Plain => "'# @message'",
        };
        let colon = if self.count == 1 { ":" } else { "" };
        Some(format!(
            "{subject}{colon} {text} ({location}); the log's delimiter is {delimiter}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_of_delimiters_are_recognized() {
        for comment in [
            " @Message",
            "@MESSAGE",
            "\t@mEssages of today",
            " @message",
            " message",
            "MESSAGE",
            " Message. ",
            "message .",
        ] {
            assert!(resembles_delimiter(comment.as_bytes(), true), "{comment}");
        }
        for comment in [
            "",
            " ",
            " message about the sensor 5",
            "messages",
            " @ message",
            "# @Message",
            " the @Message",
            "@messag",
            " mess",
            "message..",
            ".",
        ] {
            assert!(!resembles_delimiter(comment.as_bytes(), true), "{comment}");
        }
        assert!(!resembles_delimiter(b" message", false));
        assert!(resembles_delimiter(b" @Message", false));
    }

    #[test]
    fn a_note_contains_the_first_positions() {
        let mut actual = LookAlikes::default();
        assert_eq!(actual.note(), None);
        actual.add(b" @Message\r", 7, None, Dialect::Comment);
        actual.add(b" @Message", 7, None, Dialect::Comment);
        assert_eq!(
            actual.note().as_deref(),
            Some(
                "1 comment looks like a delimiter but is not one: '# @Message' (byte 7); the log's delimiter is \
                 '# @message'"
            )
        );
        for offset in 8..20 {
            actual.add(b"message", offset, None, Dialect::Directive);
        }
        actual.locate(|offset| offset - 5);
        assert_eq!(
            actual.note().as_deref(),
            Some(
                "13 comments look like delimiters but are not, such as '# @Message' (lines 2, 3, 4, 5, 6, 7, \
                 8, 9, 10, 11 and 3 more); the log's delimiter is '# @message'"
            )
        );
    }
}

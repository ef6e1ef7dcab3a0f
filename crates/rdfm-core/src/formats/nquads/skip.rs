//! Skips to the next delimiter, regardless of the content before it. This is needed after an error
//! and at the start of a split.
//!
//! - In: lines.
//! - Out: the position of the delimiter and, after an error, the first MiB of the skipped bytes.
//! - Law: the result does not depend on how the input is cut. The meaning of a line depends only on
//!   the line and the dialect, so all splits of a log and the message counter find the same
//!   delimiters.

use crate::codec::input::{Buffer, ReadError};
use crate::model::builder::BatchBuilder;
use crate::model::chars::BOM;
use crate::model::limits::Limits;
use crate::syntax::ntriples::lex::skip_space;
use crate::syntax::ntriples::{StatementGrammar, StatementReader};
use crate::syntax::text::dialect::{Delimiter, Dialects, is_comment_delimiter};

use super::decode::{LineReader, is_word, read_version, trim_line_end};

/// Maximum number of skipped bytes that are kept.
pub(super) const KEPT: usize = 1 << 20;

/// State of a skip.
pub(super) struct LineSkip {
    bytes: Vec<u8>,
    /// Maximum number of bytes to keep.
    max_bytes: usize,
    /// Whether bytes were not kept.
    is_cut: bool,
    /// Whether the rest of the current line is ignored, because it is too long or belongs to the
    /// previous split.
    inside: bool,
}

/// Result of a skip.
enum SkipOutcome {
    /// Found a delimiter whose line begins at this offset.
    Delimiter(u64),
    /// Found no delimiter.
    End,
    /// More bytes are needed.
    Feed,
    /// Found a line that changes the dialect.
    DialectChanged,
}

/// The meaning of a line for a reader that looks for delimiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEffect {
    /// No effect: the line is blank, a comment or a version label.
    Idle,
    /// The line contains a statement or an error.
    Content,
    /// The line ends a message. `content` is true if the line has content before the delimiter.
    Ends { content: bool },
}

impl LineSkip {
    /// Creates a skip after an error. `before` is the text before the line with the error, and
    /// `is_cut` is true if the message began before that text.
    pub fn after_error(before: &[u8], is_cut: bool) -> Self {
        let mut skip = Self {
            bytes: Vec::new(),
            max_bytes: KEPT,
            is_cut,
            inside: false,
        };
        skip.add(before);
        skip
    }

    /// Creates a skip to the first delimiter of a split, or to the first line of a split of lines.
    /// The bytes up to the first line end belong to the previous split.
    pub fn skip_to_split() -> Self {
        Self {
            bytes: Vec::new(),
            max_bytes: 0,
            is_cut: false,
            inside: true,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = self.max_bytes.saturating_sub(self.bytes.len());
        self.is_cut |= bytes.len() > room;
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl LineReader {
    /// Implements [`Reader::skip`](crate::codec::input::Reader::skip).
    pub(super) fn continue_skip(
        &mut self,
        input: &mut Buffer,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(mut skip) = self.skip.take() else {
            return Ok(None);
        };
        match self.skip_lines(input, &mut skip, u64::MAX) {
            SkipOutcome::Feed => {
                self.skip = Some(skip);
                return Ok(None);
            }
            SkipOutcome::DialectChanged => return Err(self.reject_dialect(input)),
            SkipOutcome::Delimiter(line) if line >= self.stop => self.end_split(input),
            SkipOutcome::Delimiter(_) | SkipOutcome::End => {}
        }
        self.is_skip_cut = skip.is_cut;
        Ok(Some(skip.bytes))
    }

    /// Skips to the first delimiter of the split. Returns false if more bytes are needed.
    pub(super) fn seek(&mut self, input: &mut Buffer) -> Result<bool, ReadError> {
        let Some(mut skip) = self.seek.take() else {
            return Ok(true);
        };
        match self.skip_lines(input, &mut skip, self.stop) {
            SkipOutcome::Feed => {
                self.seek = Some(skip);
                return Ok(false);
            }
            SkipOutcome::DialectChanged => return Err(self.reject_dialect(input)),
            SkipOutcome::Delimiter(_) => {}
            SkipOutcome::End => self.end_split(input),
        }
        Ok(true)
    }

    /// Skips lines that begin before an offset, up to the next delimiter.
    fn skip_lines(&mut self, input: &mut Buffer, skip: &mut LineSkip, before: u64) -> SkipOutcome {
        let max = self.options.limits.max_message_bytes;
        loop {
            let offset = input.offset();
            if offset >= before {
                return SkipOutcome::End;
            }
            let rest = input.rest();
            let scanned = trim_line_end(input, self.scanned);
            let end = memchr::memchr2(b'\n', b'\r', &rest[scanned..]).map(|end| scanned + end);
            let length = end.map_or(rest.len(), |end| end + 1);
            if length == 0 {
                return if input.finished {
                    SkipOutcome::End
                } else {
                    SkipOutcome::Feed
                };
            }
            let is_complete = end.is_some() || input.finished;
            let inside = skip.inside || end.unwrap_or(length) as u64 > max;
            if !is_complete && !inside {
                self.scanned = input.bytes.len();
                return SkipOutcome::Feed;
            }
            let line = &rest[..length];
            let effect = if inside || !may_delimit(line) {
                LineEffect::Content
            } else {
                apply_line(&mut self.dialects, line, offset == 0)
            };
            // While seeking a split, lines belong to the previous split.
            if skip.max_bytes > 0
                && !inside
                && let Some(comment) = lone_comment(line)
                && self.dialects.resembles_delimiter(comment, true)
            {
                let text_offset = offset + skip_space(line, 0) as u64;
                let number = (!self.is_inner_split()).then(|| self.position.line());
                self.dialects.note(comment, text_offset, number);
            }
            if !matches!(effect, LineEffect::Ends { content: false }) {
                skip.add(line);
            }
            skip.inside = inside && !is_complete;
            let after_cr = line.ends_with(b"\r");
            if self.has_dialect_changed(offset) {
                return SkipOutcome::DialectChanged;
            }
            self.position.advance(line);
            input.index += length;
            let is_at_lines = self.has_lines && !skip.inside;
            if is_at_lines || matches!(effect, LineEffect::Ends { .. }) {
                // The LF after this line's CR may follow.
                self.after_cr = after_cr;
                return SkipOutcome::Delimiter(offset);
            }
        }
    }
}

/// Whether a line needs [`apply_line`] if only delimiters and labels matter.
#[inline]
pub(super) fn may_delimit(line: &[u8]) -> bool {
    let rest = &line[skip_space(line, 0)..];
    rest.starts_with(b"MESSAGE")
        || rest.starts_with(b"VERSION")
        || memchr::memmem::find(rest, b"@message").is_some()
}

/// The text of a comment that is alone on its line.
fn lone_comment(line: &[u8]) -> Option<&[u8]> {
    let comment = line[skip_space(line, 0)..].strip_prefix(b"#")?;
    let end = comment
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'));
    Some(&comment[..end.unwrap_or(comment.len())])
}

/// Returns the meaning of a line, and applies its version label. `marked` is true if the line may
/// begin with a byte order mark.
pub(super) fn apply_line(dialects: &mut Dialects, mut line: &[u8], marked: bool) -> LineEffect {
    if marked {
        line = line.strip_prefix(BOM).unwrap_or(line);
    }
    if std::str::from_utf8(line).is_err() {
        return LineEffect::Content;
    }
    let mut index = skip_space(line, 0);
    let rest = line.get(index..).unwrap_or_default();
    let (mut message, mut statement) = (false, false);
    if rest.starts_with(b"MESSAGE") && is_word(line, index + 7) {
        message = true;
        index += 7;
    } else if rest.starts_with(b"VERSION") && is_word(line, index + 7) {
        match read_version(dialects, line, index + 7) {
            Ok(end) => index = end,
            Err(_) => return LineEffect::Content,
        }
    } else if !matches!(rest.first(), None | Some(b'#' | b'\n' | b'\r')) {
        // Options do not matter here: only the end of the statement is needed.
        let mut statements = StatementReader::without_cache(StatementGrammar {
            graphs: true,
            generalized: true,
            lenient: true,
            max_depth: u32::MAX,
            single_terms: false,
            abbreviations: false,
        });
        let mut builder = BatchBuilder::new(Limits {
            max_message_bytes: u64::MAX,
            ..Limits::default()
        });
        match statements.parse_statement(&mut builder, line, index, false) {
            Ok(end) => index = end,
            Err(_) => return LineEffect::Content,
        }
        statement = true;
    }
    index = skip_space(line, index);
    let after = line.get(index..).unwrap_or_default();
    let end = after.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    let comment = match after.get(..end.unwrap_or(after.len())) {
        None | Some([]) => false,
        Some([b'#', comment @ ..]) => is_comment_delimiter(comment),
        Some(_) => return LineEffect::Content,
    };
    // The directive comes first, and may change the meaning of comments.
    let directive = message && dialects.can_resume(Delimiter::Directive);
    let comment = comment && dialects.can_resume(Delimiter::Comment);
    let content = statement || (message && !directive);
    match (directive || comment, content) {
        (true, content) => LineEffect::Ends { content },
        (false, true) => LineEffect::Content,
        (false, false) => LineEffect::Idle,
    }
}

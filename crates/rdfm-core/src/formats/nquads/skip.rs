//! The search for the next delimiter, after an error and at the start of a split.
//!
//! - In: lines.
//! - Out: the position of the delimiter. After an error, also the first MiB of the skipped bytes.
//! - Law: cutting the input differently changes nothing. The classification of a line depends only on the line and the
//!   dialect, so that every split of a log, and the delimiter counter, finds the same delimiters.

use crate::codec::input::{Buffer, ReadError};
use crate::model::builder::BatchBuilder;
use crate::model::limits::Limits;
use crate::syntax::ntriples::lex::skip_space;
use crate::syntax::ntriples::{Grammar, Statements};
use crate::syntax::text::dialect::{Delimiter, Dialects, is_comment_delimiter};

use super::decode::{BOM, LineReader, is_word, version, without_end};

/// Maximum number of skipped bytes to keep.
pub(super) const KEPT: usize = 1 << 20;

/// A skip in progress.
pub(super) struct Skip {
    bytes: Vec<u8>,
    /// Maximum number of bytes to keep.
    most: usize,
    /// Whether the position is in a line that is skipped regardless of its content: one that is too long, or one of the
    /// previous split.
    inside: bool,
}

/// The result of a skip.
enum Found {
    /// A delimiter whose line begins at this byte of the log.
    Delimiter(u64),
    /// No delimiter.
    End,
    /// More bytes are needed.
    Feed,
    /// A line that changes the dialect.
    Strayed,
}

/// Classification of a line in a search for delimiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Ignored: blank, a comment or a version label.
    Idle,
    /// A statement, or an error.
    Content,
    /// The end of a message, and whether content precedes the delimiter on the line.
    Ends { content: bool },
}

impl Skip {
    /// A skip after an error. `before` is the text before the line with the error.
    pub fn after_error(before: &[u8]) -> Self {
        let mut skip = Self {
            bytes: Vec::new(),
            most: KEPT,
            inside: false,
        };
        skip.add(before);
        skip
    }

    /// A skip to the start of a split. The rest of the previous line comes first.
    pub fn to_split() -> Self {
        Self {
            bytes: Vec::new(),
            most: 0,
            inside: true,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.bytes.len());
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl LineReader {
    /// [`Reader::skip`](crate::codec::input::Reader::skip).
    pub(super) fn skip_on(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(mut skip) = self.skip.take() else {
            return Ok(None);
        };
        match self.skip_lines(input, &mut skip, u64::MAX) {
            Found::Feed => {
                self.skip = Some(skip);
                return Ok(None);
            }
            Found::Strayed => return Err(self.stray(input)),
            Found::Delimiter(line) if line >= self.stop => self.end_split(input),
            Found::Delimiter(_) | Found::End => {}
        }
        Ok(Some(skip.bytes))
    }

    /// Moves to the first delimiter of the split. Returns false if more bytes are needed.
    pub(super) fn seek(&mut self, input: &mut Buffer) -> Result<bool, ReadError> {
        let Some(mut skip) = self.seek.take() else {
            return Ok(true);
        };
        match self.skip_lines(input, &mut skip, self.stop) {
            Found::Feed => {
                self.seek = Some(skip);
                return Ok(false);
            }
            Found::Strayed => return Err(self.stray(input)),
            Found::Delimiter(_) => {}
            Found::End => self.end_split(input),
        }
        Ok(true)
    }

    /// Skips lines that begin before byte `before` of the log, up to the next delimiter.
    fn skip_lines(&mut self, input: &mut Buffer, skip: &mut Skip, before: u64) -> Found {
        let max = self.options.limits.max_message_bytes;
        loop {
            let offset = input.offset();
            if offset >= before {
                return Found::End;
            }
            let rest = input.rest();
            let scanned = without_end(input, self.scanned);
            let end = memchr::memchr2(b'\n', b'\r', &rest[scanned..]).map(|end| scanned + end);
            let length = end.map_or(rest.len(), |end| end + 1);
            if length == 0 {
                return if input.finished {
                    Found::End
                } else {
                    Found::Feed
                };
            }
            let whole = end.is_some() || input.finished;
            let inside = skip.inside || end.unwrap_or(length) as u64 > max;
            if !whole && !inside {
                self.scanned = input.bytes.len();
                return Found::Feed;
            }
            let line = &rest[..length];
            let found = if inside || !may_delimit(line) {
                LineKind::Content
            } else {
                judge(
                    &mut self.dialects,
                    line,
                    self.options.lenient && offset == 0,
                )
            };
            // Before the first delimiter of a split, lines belong to the previous split.
            if skip.most > 0
                && !inside
                && let Some(comment) = lone_comment(line)
                && self.dialects.resembles(comment, true)
            {
                let place = offset + skip_space(line, 0) as u64;
                let number = (!self.inner()).then(|| self.here.line());
                self.dialects.note(comment, place, number);
            }
            if !matches!(found, LineKind::Ends { content: false }) {
                skip.add(line);
            }
            skip.inside = inside && !whole;
            let after_cr = line.ends_with(b"\r");
            if self.strayed(offset) {
                return Found::Strayed;
            }
            self.here.advance(line);
            input.at += length;
            if matches!(found, LineKind::Ends { .. }) {
                // An LF that belongs to this line's CR may follow.
                self.after_cr = after_cr;
                return Found::Delimiter(offset);
            }
        }
    }
}

/// Whether a line must be classified by [`judge`] when only delimiters and labels matter.
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

/// Classifies a line, and applies its version label. `marked`: a byte order mark may precede it.
pub(super) fn judge(dialects: &mut Dialects, mut line: &[u8], marked: bool) -> LineKind {
    if marked {
        line = line.strip_prefix(BOM).unwrap_or(line);
    }
    if std::str::from_utf8(line).is_err() {
        return LineKind::Content;
    }
    let mut at = skip_space(line, 0);
    let rest = line.get(at..).unwrap_or_default();
    let (mut message, mut statement) = (false, false);
    if rest.starts_with(b"MESSAGE") && is_word(line, at + 7) {
        message = true;
        at += 7;
    } else if rest.starts_with(b"VERSION") && is_word(line, at + 7) {
        match version(dialects, line, at + 7) {
            Ok(end) => at = end,
            Err(_) => return LineKind::Content,
        }
    } else if !matches!(rest.first(), None | Some(b'#' | b'\n' | b'\r')) {
        // Any statement is accepted, regardless of the options, because only its end matters.
        let mut statements = Statements::uncached(Grammar {
            graphs: true,
            generalized: true,
            lenient: true,
            max_depth: u32::MAX,
            alone: false,
            short: false,
        });
        let mut builder = BatchBuilder::new(Limits {
            max_message_bytes: u64::MAX,
            ..Limits::default()
        });
        match statements.statement(&mut builder, line, at, false) {
            Ok(end) => at = end,
            Err(_) => return LineKind::Content,
        }
        statement = true;
    }
    at = skip_space(line, at);
    let after = line.get(at..).unwrap_or_default();
    let end = after.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    let comment = match after.get(..end.unwrap_or(after.len())) {
        None | Some([]) => false,
        Some([b'#', comment @ ..]) => is_comment_delimiter(comment),
        Some(_) => return LineKind::Content,
    };
    // The directive comes first and may change the meaning of comments.
    let directive = message && dialects.resumes(Delimiter::Directive);
    let comment = comment && dialects.resumes(Delimiter::Comment);
    let content = statement || (message && !directive);
    match (directive || comment, content) {
        (true, content) => LineKind::Ends { content },
        (false, true) => LineKind::Content,
        (false, false) => LineKind::Idle,
    }
}

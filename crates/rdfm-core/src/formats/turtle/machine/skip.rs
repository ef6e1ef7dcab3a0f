//! Skips to the next delimiter after an error, over any content.
//!
//! - In: bytes, which may be invalid UTF-8, starting with the token that has the error.
//! - Out: the position after a delimiter, and the skipped bytes.
//! - Cost: linear. Memory is bounded by one token, and for a long string by [`WINDOW`] bytes.
//! - Law: the result does not depend on how the input is cut. Text that looks like a delimiter is
//!   not one inside a well-formed string, IRI, name, language tag or comment. A string or IRI that
//!   is not closed on its line ends with the line. A long string that is not closed within
//!   [`WINDOW`] is not treated as a string. Neither is one that closes right before a letter or
//!   digit, because such quotes usually open a string. In both cases the search ends at the first
//!   delimiter line in that text, if there is one.
//!
//! Prefixes and bases in skipped text are not applied, because they may be wrong. If they would
//! change a declaration in force, that declaration is dropped, so that nothing is read with an
//! outdated one.

use memchr::{memchr2, memchr2_iter, memchr3};

use super::space::COMMENT_WINDOW;
use super::{BracketFrame, NONE, ParserState, TurtleMachine};
use crate::codec::input::Skipped;
use crate::formats::turtle::lexer::{self, is_in_name};
use crate::model::chars::{DIGIT, LETTER, SPACE, is};
use crate::syntax::text::dialect::{Delimiter, DelimiterEffect, Dialects, is_comment_delimiter};

/// Maximum bytes of a token that are buffered to determine its kind.
const WINDOW: usize = 1 << 20;
/// Maximum length of a word after `@` that is checked.
const AT_WORD: usize = 64;

/// State of a search.
pub(super) struct DelimiterSearch {
    inside: Inside,
    directive: Directive,
    /// Whether only white space and comments have followed a string, so that a language tag may
    /// come next.
    after_string: bool,
    /// Whether only white space precedes the next byte on its line.
    blank: bool,
    /// Number of bytes of the next token that were scanned.
    scanned: usize,
}

/// The construct that contains the next byte.
#[derive(Clone, Copy)]
enum Inside {
    /// No construct: the byte begins a token.
    Nothing,
    Comment,
    /// A string on one line, with its quotation mark.
    Quoted(u8),
    Iri,
    Word,
    /// The rest of a comment that is a delimiter.
    Found,
}

/// The part of a directive that has been read.
enum Directive {
    None,
    Prefix,
    PrefixOf(Box<[u8]>),
    Base,
    Version,
    /// `@message`, with the number of bytes skipped before it, and whether it begins a line.
    Message(usize, bool),
}

/// Result of processing a token.
enum SkipStep {
    /// The token is skipped.
    Over,
    /// The search is finished.
    Done,
    /// More bytes are needed.
    Feed,
}

/// The buffered bytes.
#[derive(Clone, Copy)]
struct BufferedBytes<'a> {
    all: &'a [u8],
    /// Whether the log ends with them.
    finished: bool,
}

impl<'a> BufferedBytes<'a> {
    /// Returns the bytes to check for the token that begins at `start`, and whether the log ends
    /// with them.
    fn from(self, start: usize) -> (&'a [u8], bool) {
        let end = self.all.len().min(start + WINDOW);
        (
            &self.all[start..end],
            self.finished && end == self.all.len(),
        )
    }

    /// Whether an unterminated token needs more bytes and more may arrive.
    fn needs_more(self, start: usize) -> bool {
        !self.finished && self.all.len() - start <= WINDOW
    }
}

impl TurtleMachine {
    /// Begins to search for the next delimiter after an error. If the error follows from an earlier
    /// one, the message of the earlier error remains the cause of later errors.
    pub fn begin_search(&mut self, text: &[u8], follows: bool) {
        if !follows {
            self.terms.skip_message(self.builder.message_index());
        }
        self.search = Some(Box::new(DelimiterSearch {
            inside: if self.in_comment {
                Inside::Comment
            } else {
                Inside::Nothing
            },
            directive: match self.top.state {
                ParserState::PrefixName => Directive::Prefix,
                ParserState::PrefixIri => Directive::PrefixOf(self.prefix.as_slice().into()),
                ParserState::BaseIri => Directive::Base,
                ParserState::VersionLabel => Directive::Version,
                _ => Directive::None,
            },
            after_string: self.top.state == ParserState::LiteralTail,
            blank: self.is_blank(&text[..self.pos]),
            scanned: 0,
        }));
    }

    /// Continues after the next delimiter, or at the end of the log. Returns false if more bytes
    /// are needed.
    pub fn search(&mut self, bytes: &[u8], finished: bool, skipped: &mut Skipped) -> bool {
        let Some(mut search) = self.search.take() else {
            return true;
        };
        let bytes = BufferedBytes {
            all: bytes,
            finished,
        };
        loop {
            let start = self.pos;
            match search.skip_step(self, bytes, skipped) {
                SkipStep::Over => skipped.add(&bytes.all[start..self.pos]),
                SkipStep::Done => break,
                SkipStep::Feed => {
                    if !matches!(search.inside, Inside::Found) {
                        skipped.add(&bytes.all[start..self.pos]);
                    }
                    self.search = Some(search);
                    return false;
                }
            }
        }
        search.end_directive(self, None);
        self.restart();
        true
    }

    /// Returns to the state between two messages.
    fn restart(&mut self) {
        self.top = BracketFrame::new(ParserState::Statement);
        self.below.clear();
        self.depth = 0;
        self.graph = NONE;
        self.in_graph = false;
        self.full = false;
        self.in_comment = false;
        self.scanned = (0, 0);
        self.dotted = false;
        self.delimiter = (DelimiterEffect::Nothing, 0);
        self.terms.end_message();
    }
}

impl DelimiterSearch {
    /// Skips one token, or a part of one.
    fn skip_step(
        &mut self,
        machine: &mut TurtleMachine,
        bytes: BufferedBytes<'_>,
        skipped: &mut Skipped,
    ) -> SkipStep {
        let all = bytes.all;
        let rest = &all[machine.pos..];
        let ended = match self.inside {
            Inside::Nothing => return self.skip_token(machine, bytes, skipped),
            Inside::Comment | Inside::Found => memchr2(b'\n', b'\r', rest).ok_or(rest.len()),
            Inside::Iri => memchr3(b'>', b'\n', b'\r', rest)
                .map(|length| length + usize::from(rest[length] == b'>'))
                .ok_or(rest.len()),
            Inside::Word => find_word_end(rest, 0, bytes.finished),
            Inside::Quoted(mark) => find_quoted_end(rest, 0, mark, bytes.finished).map(|quoted| {
                self.after_string = quoted.closed;
                quoted.end
            }),
        };
        let (length, ended) = match ended {
            Ok(length) => (length, true),
            Err(scanned) => (scanned, bytes.finished),
        };
        machine.pos += length;
        if !ended {
            return SkipStep::Feed;
        }
        match std::mem::replace(&mut self.inside, Inside::Nothing) {
            Inside::Found => SkipStep::Done,
            _ => SkipStep::Over,
        }
    }

    /// Skips the token at the next byte.
    fn skip_token(
        &mut self,
        machine: &mut TurtleMachine,
        bytes: BufferedBytes<'_>,
        skipped: &mut Skipped,
    ) -> SkipStep {
        let Some(&byte) = bytes.all.get(machine.pos) else {
            return if bytes.finished {
                SkipStep::Done
            } else {
                SkipStep::Feed
            };
        };
        if is(byte, SPACE) {
            self.blank |= matches!(byte, b'\n' | b'\r');
            machine.pos += 1;
            return SkipStep::Over;
        }
        if byte == b'#' {
            return self.skip_comment(machine, bytes);
        }
        let blank = std::mem::take(&mut self.blank);
        let step = match byte {
            b'"' | b'\'' => self.skip_string(machine, bytes, byte),
            b'<' => self.skip_iri(machine, bytes),
            b'@' => self.skip_at_word(machine, bytes, (skipped.len(), blank)),
            b'.' => self.skip_dot(machine, skipped),
            _ if is_in_name(byte) => self.skip_word(machine, bytes, blank),
            _ => self.skip_plain(machine, 1),
        };
        if matches!(step, SkipStep::Feed) {
            self.blank = blank;
        } else {
            self.scanned = 0;
        }
        step
    }

    /// Skips a token without special meaning.
    fn skip_plain(&mut self, machine: &mut TurtleMachine, length: usize) -> SkipStep {
        machine.pos += length;
        self.after_string = false;
        self.end_directive(machine, None);
        SkipStep::Over
    }

    /// Ends a directive. If it declares a prefix or base, `iri` is its IRI, if known, and the
    /// previous declaration may be dropped.
    fn end_directive(&mut self, machine: &mut TurtleMachine, iri: Option<&[u8]>) {
        match std::mem::replace(&mut self.directive, Directive::None) {
            Directive::PrefixOf(name) => machine.terms.skip_prefix(&name, iri),
            Directive::Base => machine.terms.skip_base(iri),
            _ => {}
        }
    }

    fn skip_comment(&mut self, machine: &mut TurtleMachine, bytes: BufferedBytes<'_>) -> SkipStep {
        let index = machine.pos;
        let max = machine.comment_window();
        let body = &bytes.all[index + 1..];
        let end = memchr2(b'\n', b'\r', &body[..body.len().min(max)]);
        if end.is_none() && body.len() < max && !bytes.finished {
            return SkipStep::Feed;
        }
        let window = end.unwrap_or(body.len().min(max));
        let comment = &body[..window];
        if is_comment_delimiter(comment) && machine.dialects.can_resume_at_first(Delimiter::Comment)
        {
            self.inside = Inside::Found;
            return SkipStep::Over;
        }
        if self.blank && machine.dialects.resembles_delimiter(comment, window < max) {
            let offset = machine.offset + index as u64;
            machine.dialects.note(comment, offset, None);
        }
        self.blank = false;
        self.inside = Inside::Comment;
        machine.pos += 1;
        SkipStep::Over
    }

    /// Handles a dot, which may end `@message`.
    fn skip_dot(&mut self, machine: &mut TurtleMachine, skipped: &mut Skipped) -> SkipStep {
        if let Directive::Message(before, begins_line) = self.directive
            && is_delimiter(&mut machine.dialects, begins_line)
        {
            machine.pos += 1;
            skipped.truncate(before);
            return SkipStep::Done;
        }
        self.skip_plain(machine, 1)
    }

    fn skip_at_word(
        &mut self,
        machine: &mut TurtleMachine,
        bytes: BufferedBytes<'_>,
        (before, begins_line): (usize, bool),
    ) -> SkipStep {
        let rest = &bytes.all[machine.pos..];
        let max = rest.len().min(AT_WORD);
        let continues = |&byte: &u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let end = match rest[1..max].iter().position(|byte| !continues(byte)) {
            Some(length) => 1 + length,
            None if rest.len() < AT_WORD && !bytes.finished => return SkipStep::Feed,
            None => max,
        };
        let is_language = self.after_string;
        let step = self.skip_plain(machine, end);
        self.directive = match &rest[..end] {
            _ if is_language => Directive::None,
            b"@prefix" => Directive::Prefix,
            b"@base" => Directive::Base,
            b"@version" => Directive::Version,
            b"@message" => Directive::Message(before, begins_line),
            _ => Directive::None,
        };
        step
    }

    fn skip_word(
        &mut self,
        machine: &mut TurtleMachine,
        bytes: BufferedBytes<'_>,
        begins_line: bool,
    ) -> SkipStep {
        let index = machine.pos;
        let (region, last) = bytes.from(index);
        let end = match find_word_end(region, self.scanned, last) {
            Ok(end) => end,
            Err(scanned) if bytes.needs_more(index) => {
                self.scanned = scanned;
                return SkipStep::Feed;
            }
            Err(scanned) => {
                self.inside = Inside::Word;
                return self.skip_plain(machine, scanned);
            }
        };
        // A word without a colon is not a name, and a dot in it is a separate token.
        let word = match memchr::memchr(b':', &region[..end]) {
            Some(_) => &region[..end],
            None => &region[..memchr::memchr(b'.', &region[..end]).unwrap_or(end)],
        };
        let end = word.len();
        if matches!(self.directive, Directive::Prefix)
            && let Some((b':', name)) = word.split_last()
            && !name.contains(&b':')
        {
            self.directive = Directive::PrefixOf(name.into());
            machine.pos += end;
            return SkipStep::Over;
        }
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if is("MESSAGE") && is_delimiter(&mut machine.dialects, begins_line) {
            machine.pos += end;
            return SkipStep::Done;
        }
        let step = self.skip_plain(machine, end);
        self.directive = if is("PREFIX") {
            Directive::Prefix
        } else if is("BASE") {
            Directive::Base
        } else if is("VERSION") {
            Directive::Version
        } else {
            Directive::None
        };
        step
    }

    fn skip_iri(&mut self, machine: &mut TurtleMachine, bytes: BufferedBytes<'_>) -> SkipStep {
        let index = machine.pos;
        match bytes.all.get(index + 1) {
            None if !bytes.finished => return SkipStep::Feed,
            Some(b'<') => return self.skip_plain(machine, 2),
            _ => {}
        }
        if !matches!(self.directive, Directive::PrefixOf(_) | Directive::Base) {
            self.inside = Inside::Iri;
            return self.skip_plain(machine, 1);
        }
        let (region, _) = bytes.from(index);
        let from = self.scanned.max(1);
        match memchr3(b'>', b'\n', b'\r', &region[from..]) {
            Some(length) if region[from + length] == b'>' => {
                let end = from + length;
                self.end_directive(machine, Some(&region[1..end]));
                self.skip_plain(machine, end + 1)
            }
            None if bytes.needs_more(index) => {
                self.scanned = region.len();
                SkipStep::Feed
            }
            _ => {
                self.inside = Inside::Iri;
                self.skip_plain(machine, 1)
            }
        }
    }

    fn skip_string(
        &mut self,
        machine: &mut TurtleMachine,
        bytes: BufferedBytes<'_>,
        mark: u8,
    ) -> SkipStep {
        let position = machine.pos;
        let is_mark = |index: usize| bytes.all.get(index).map(|&byte| byte == mark);
        match (is_mark(position + 1), is_mark(position + 2)) {
            (None, _) | (Some(true), None) if !bytes.finished => SkipStep::Feed,
            (Some(true), Some(true)) => self.skip_long_string(machine, bytes, mark),
            (Some(true), _) => {
                let step = self.skip_plain(machine, 2);
                self.after_string = true;
                step
            }
            _ if matches!(self.directive, Directive::Version) => {
                self.skip_version(machine, bytes, mark)
            }
            _ => {
                self.inside = Inside::Quoted(mark);
                self.skip_plain(machine, 1)
            }
        }
    }

    /// Handles the label of a version directive. The label takes effect even in skipped text,
    /// because it determines the delimiters.
    fn skip_version(
        &mut self,
        machine: &mut TurtleMachine,
        bytes: BufferedBytes<'_>,
        mark: u8,
    ) -> SkipStep {
        let index = machine.pos;
        let (region, last) = bytes.from(index);
        let quoted = match find_quoted_end(region, self.scanned.max(1), mark, last) {
            Ok(quoted) => quoted,
            Err(scanned) if bytes.needs_more(index) => {
                self.scanned = scanned;
                return SkipStep::Feed;
            }
            Err(scanned) => {
                self.inside = Inside::Quoted(mark);
                return self.skip_plain(machine, scanned);
            }
        };
        let mut label = Vec::new();
        if quoted.closed
            && lexer::unescape_string(&region[1..quoted.end - 1], index + 1, &mut label).is_ok()
            && let Ok(label) = std::str::from_utf8(&label)
        {
            machine.dialects.handle_version(label);
        }
        self.skip_plain(machine, quoted.end)
    }

    fn skip_long_string(
        &mut self,
        machine: &mut TurtleMachine,
        bytes: BufferedBytes<'_>,
        mark: u8,
    ) -> SkipStep {
        let index = machine.pos;
        let (region, _) = bytes.from(index);
        let end = match find_long_end(region, self.scanned.max(3), mark) {
            Ok(end) => {
                let next = bytes.all.get(index + end);
                if next.is_none() && !bytes.finished {
                    self.scanned = end - 3;
                    return SkipStep::Feed;
                }
                if !next.is_some_and(|&byte| is(byte, LETTER | DIGIT) || byte >= 0x80) {
                    let step = self.skip_plain(machine, end);
                    self.after_string = true;
                    return step;
                }
                // These quotes open a string; the earlier ones were not closed.
                end - 3
            }
            Err(scanned) if bytes.needs_more(index) => {
                self.scanned = scanned;
                return SkipStep::Feed;
            }
            Err(_) => region.len(),
        };
        match find_delimiter(&mut machine.dialects, &region[..end]) {
            Some(start) => {
                self.inside = Inside::Found;
                self.skip_plain(machine, start)
            }
            None => self.skip_plain(machine, end),
        }
    }
}

/// Whether a directive is a delimiter. If the dialect is not known, the directive must begin its
/// line, so that a word in damaged text does not change the dialect of the rest.
fn is_delimiter(dialects: &mut Dialects, begins_line: bool) -> bool {
    (begins_line || dialects.is_known()) && dialects.can_resume_at_first(Delimiter::Directive)
}

/// Start of the first delimiter line in text that begins like a string but is not one.
fn find_delimiter(dialects: &mut Dialects, text: &[u8]) -> Option<usize> {
    memchr2_iter(b'\n', b'\r', text)
        .map(|end| end + 1)
        .find(|&start| {
            let rest = &text[start..];
            let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            delimiter_line(&rest[..end])
                .is_some_and(|delimiter| dialects.can_resume_at_first(delimiter))
        })
}

/// Returns the delimiter on a line, which may be followed by a comment.
fn delimiter_line(line: &[u8]) -> Option<Delimiter> {
    let line = line.trim_ascii();
    if let Some(comment) = line.strip_prefix(b"#") {
        let window = &comment[..comment.len().min(COMMENT_WINDOW)];
        return is_comment_delimiter(window).then_some(Delimiter::Comment);
    }
    let after = match line.strip_prefix(b"@message") {
        Some(rest) => rest.trim_ascii_start().strip_prefix(b"."),
        None => line
            .split_at_checked(7)
            .filter(|(word, _)| word.eq_ignore_ascii_case(b"MESSAGE"))
            .map(|(_, rest)| rest)
            .filter(|rest| {
                rest.first()
                    .is_none_or(|&byte| byte == b'#' || is(byte, SPACE))
            }),
    };
    let after = after?.trim_ascii_start();
    matches!(after.first(), None | Some(b'#')).then_some(Delimiter::Directive)
}

/// The end of a string on one line.
struct StringEnd {
    end: usize,
    /// Whether the string ends with its quotation mark.
    closed: bool,
}

/// Finds the end of a string within its line, from a position inside it. On failure returns the
/// number of scanned bytes.
fn find_quoted_end(text: &[u8], from: usize, mark: u8, last: bool) -> Result<StringEnd, usize> {
    let mut index = from;
    loop {
        let rest = text.get(index..).unwrap_or_default();
        let special = rest
            .iter()
            .position(|&byte| byte == mark || matches!(byte, b'\\' | b'\n' | b'\r'));
        let Some(length) = special else {
            return find_open_end(text, last).map(|end| StringEnd { end, closed: false });
        };
        index += length;
        match (text[index], text.get(index + 1)) {
            (b'\\', None) if !last => return Err(index),
            (b'\\', None | Some(b'\n' | b'\r')) => index += 1,
            (b'\\', Some(_)) => index += 2,
            (byte, _) => {
                let closed = byte == mark;
                let end = index + usize::from(closed);
                return Ok(StringEnd { end, closed });
            }
        }
    }
}

/// Finds the end of a name or word, from a position inside it. On failure returns the number of
/// scanned bytes.
fn find_word_end(text: &[u8], from: usize, last: bool) -> Result<usize, usize> {
    let mut index = from;
    while let Some(&byte) = text.get(index) {
        match (byte, text.get(index + 1)) {
            (b'\\', None) if !last => return Err(index),
            (b'\\', Some(next)) if !matches!(next, b'\n' | b'\r') => index += 2,
            _ if is_in_name(byte) => index += 1,
            _ => return Ok(index),
        }
    }
    find_open_end(text, last)
}

/// End of an unclosed token: the end of the text, if nothing follows.
fn find_open_end(text: &[u8], last: bool) -> Result<usize, usize> {
    if last {
        Ok(text.len())
    } else {
        Err(text.len())
    }
}

/// Finds the end of a long string, from a position inside it. On failure returns the number of
/// scanned bytes.
fn find_long_end(text: &[u8], from: usize, mark: u8) -> Result<usize, usize> {
    let mut index = from;
    while let Some(length) = memchr2(mark, b'\\', text.get(index..).unwrap_or_default()) {
        index += length;
        let next = text.get(index + 1).copied();
        if text[index] == b'\\' {
            if next.is_none() {
                return Err(index);
            }
            index += 2;
        } else {
            match (next, text.get(index + 2)) {
                (Some(one), Some(&two)) if one == mark && two == mark => return Ok(index + 3),
                (None, _) => return Err(index),
                (Some(one), None) if one == mark => return Err(index),
                _ => index += 1,
            }
        }
    }
    Err(text.len())
}

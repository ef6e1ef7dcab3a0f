//! Finds the boundaries of documents in a YAML stream before they are parsed.
//!
//! - In: the buffered bytes, which grow with each call.
//! - Out: the ends of documents, as soon as the line that ends each one is complete.
//! - Cost: each byte is scanned once, with memchr.
//! - Law: `---` and `...` at the start of a line always delimit documents, even within quoted strings and block
//!   scalars, so no parser is needed. Cutting the input differently changes nothing.

/// Starts a document.
const MARKER: &[u8] = b"---";

/// The next unit in the buffered bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A document, with the preceding directives and comments.
    Document {
        /// The next byte after the document.
        end: usize,
        /// Whether the stream ends with it. If so, it may be truncated.
        last: bool,
    },
    /// The document is incomplete.
    Feed,
    /// Only comments are left.
    Done,
}

/// State of the search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search {
    /// Start of the current line.
    line: usize,
    /// The current line has no end before this position.
    scanned: usize,
    /// Whether the document has begun: something other than directives and comments was found.
    begun: bool,
    /// Whether there are directives, which require a document.
    directives: bool,
    /// Whether `line` is the start of a line or continues one that was dropped.
    rest: Rest,
}

/// The rest of a line whose beginning was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rest {
    /// None: a new line begins.
    #[default]
    None,
    /// Only white space so far, before the document.
    Blank,
    /// Not a marker.
    Content,
    /// A marker that ends the document.
    End,
}

impl Search {
    /// Starts the search at a byte.
    pub fn from(start: usize) -> Self {
        Self {
            line: start,
            scanned: start,
            ..Self::default()
        }
    }

    /// Adjusts positions after the bytes before `used` were removed.
    pub fn drained(&mut self, used: usize) {
        self.line = self.line.saturating_sub(used);
        self.scanned = self.scanned.saturating_sub(used);
    }

    /// The next document after the end of the previous one.
    pub fn next(&mut self, buffer: &[u8], finished: bool) -> Next {
        if self.rest != Rest::None
            && let Some(next) = self.go_on(buffer, finished)
        {
            return next;
        }
        loop {
            let from = self.scanned.max(self.line);
            let rest = buffer.get(from..).unwrap_or_default();
            let (end, next) = match memchr::memchr(b'\n', rest) {
                Some(at) => (from + at, from + at + 1),
                None if finished && self.line < buffer.len() => (buffer.len(), buffer.len()),
                None => {
                    self.scanned = buffer.len();
                    if !finished {
                        // A marker ends the document before the end of its line, which may be long.
                        let line = buffer.get(self.line..).unwrap_or_default();
                        if self.begun && line.len() > MARKER.len() && is_marker(line, MARKER) {
                            return self.document(self.line, false);
                        }
                        return Next::Feed;
                    }
                    if self.begun || self.directives {
                        return self.document(buffer.len(), true);
                    }
                    return Next::Done;
                }
            };
            let line = buffer.get(self.line..end).unwrap_or_default();
            if is_marker(line, MARKER) {
                if self.begun {
                    return self.document(self.line, false);
                }
                self.begun = true;
            } else if is_marker(line, b"...") {
                if self.begun {
                    return self.document(next, false);
                }
            } else if !self.begun {
                match first(line) {
                    None | Some(b'#') => {}
                    Some(b'%') if line.starts_with(b"%") => self.directives = true,
                    Some(_) => self.begun = true,
                }
            }
            self.line = next;
            self.scanned = next;
        }
    }

    /// Lower bound for the end of the current document.
    pub fn least_end(&self, buffer: &[u8]) -> usize {
        let line = buffer.get(self.line..).unwrap_or_default();
        if self.begun && MARKER.starts_with(line) {
            self.line
        } else {
            buffer.len()
        }
    }

    /// Continues a line that was dropped. Returns `None` when the next line begins.
    fn go_on(&mut self, buffer: &[u8], finished: bool) -> Option<Next> {
        let rest = buffer.get(self.line..).unwrap_or_default();
        let found = memchr::memchr(b'\n', rest);
        let line = &rest[..found.unwrap_or(rest.len())];
        if self.rest == Rest::Blank && !is_blank(line) {
            self.begun = first(line) != Some(b'#');
            self.rest = Rest::Content;
        }
        let ends = self.rest == Rest::End;
        if found.is_none() && !finished {
            self.line = buffer.len();
            self.scanned = buffer.len();
            return Some(Next::Feed);
        }
        let next = found.map_or(buffer.len(), |length| self.line + length + 1);
        self.rest = Rest::None;
        self.line = next;
        self.scanned = next;
        ends.then(|| self.document(next, false))
    }

    /// Drops the current line if its kind is known, after [`next`](Self::next) returned [`Next::Feed`]. Returns the
    /// first position that is still needed.
    pub fn give_up_line(&mut self, buffer: &[u8]) -> usize {
        let line = buffer.get(self.line..).unwrap_or_default();
        if self.rest == Rest::None {
            if line.len() <= MARKER.len() {
                return self.line;
            }
            let ends = is_marker(line, b"...");
            self.rest = match line[0] {
                _ if ends && self.begun => Rest::End,
                _ if ends || self.begun => Rest::Content,
                b'%' => {
                    self.directives = true;
                    Rest::Content
                }
                _ if is_blank(line) => Rest::Blank,
                _ => {
                    self.begun = first(line) != Some(b'#');
                    Rest::Content
                }
            };
        }
        self.line = buffer.len();
        self.scanned = buffer.len();
        self.line
    }

    fn document(&mut self, end: usize, last: bool) -> Next {
        *self = Self::from(end);
        Next::Document { end, last }
    }
}

/// The first byte of a line that is not white space.
fn first(line: &[u8]) -> Option<u8> {
    let mut bytes = line.iter().copied();
    bytes.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))
}

fn is_blank(line: &[u8]) -> bool {
    first(line).is_none()
}

fn is_marker(line: &[u8], marker: &[u8]) -> bool {
    line.strip_prefix(marker)
        .is_some_and(|rest| matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(text: &str, step: usize) -> Vec<String> {
        let (mut search, mut found, mut start) = (Search::default(), Vec::new(), 0);
        let bytes = text.as_bytes();
        for fed in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
            while let Next::Document { end, .. } = search.next(&bytes[..fed], false) {
                found.push(text[start..end].to_owned());
                start = end;
            }
        }
        while let Next::Document { end, last } = search.next(bytes, true) {
            assert!(last || end < text.len() || text.ends_with("...\n") || text.ends_with("..."));
            found.push(text[start..end].to_owned());
            start = end;
        }
        found
    }

    /// The ends of documents when each line is dropped as soon as possible.
    fn ends_without_lines(text: &str, step: usize) -> Vec<usize> {
        let (mut search, mut found, mut gone) = (Search::default(), Vec::new(), 0);
        let mut buffer = Vec::new();
        let mut pieces = text.as_bytes().chunks(step);
        loop {
            let piece = pieces.next();
            buffer.extend_from_slice(piece.unwrap_or_default());
            loop {
                match search.next(&buffer, piece.is_none()) {
                    Next::Document { end, .. } => found.push(gone + end),
                    Next::Feed => break,
                    Next::Done => return found,
                }
            }
            let used = search.give_up_line(&buffer);
            buffer.drain(..used);
            search.drained(used);
            gone += used;
            assert!(buffer.len() <= MARKER.len());
        }
    }

    #[test]
    fn dropping_lines_early_does_not_change_the_documents() {
        for text in [
            "a: 1\n---\nb: 1",
            "# comment\n   # more\n      \t x: 1\n--- # marker\n... # end\n... # nothing\n",
            "%YAML 1.2\n---        \na: |\n  --- no\n---no\n....\n...\n%TAG x\n",
            "    \n     \n--- a\n    \n    x: --- y\n--- b\n",
            "....\n--- a\n",
        ] {
            let whole = ends_without_lines(text, text.len());
            assert!(!whole.is_empty(), "{text:?}");
            for step in [1, 2, 3, 5, 9] {
                assert_eq!(ends_without_lines(text, step), whole, "{text:?} {step}");
            }
        }
    }

    #[test]
    fn documents_end_at_markers() {
        for (text, wanted) in [
            ("", vec![]),
            ("# only\n\n", vec![]),
            ("a: 1\n", vec!["a: 1\n"]),
            ("a: 1\n---\nb: 1", vec!["a: 1\n", "---\nb: 1"]),
            ("---\n---\n", vec!["---\n", "---\n"]),
            ("# c\n--- {}\n...\n# d\n", vec!["# c\n--- {}\n...\n"]),
            ("a: |\n  ---\n---x: 1\n", vec!["a: |\n  ---\n---x: 1\n"]),
            (
                "%YAML 1.2\n---\na: 1\n...\n%YAML 1.2\n--- \r\nb: 1\n",
                vec!["%YAML 1.2\n---\na: 1\n...\n", "%YAML 1.2\n--- \r\nb: 1\n"],
            ),
            ("...\n...\na: 1\n...\n", vec!["...\n...\na: 1\n...\n"]),
            ("%YAML 1.2\n", vec!["%YAML 1.2\n"]),
        ] {
            for step in [1, 2, 3, 100] {
                assert_eq!(documents(text, step), wanted, "{text:?} {step}");
            }
        }
    }
}

//! Finds the documents of a YAML stream before they are parsed.
//!
//! - In: the buffered bytes, to which each call may add more.
//! - Out: the end of each document, as soon as the line that ends it is available.
//! - Cost: each byte is scanned once, with memchr.
//! - Law: `---` and `...` at the start of a line delimit documents everywhere, even in quoted
//!   strings and block scalars, so no parser is needed. The result does not depend on how the input
//!   is cut.

/// Marks the start of a document.
const MARKER: &[u8] = b"---";

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextDocument {
    /// A document, with the directives and comments before it.
    Document {
        /// The index after the document.
        end: usize,
        /// Whether the stream ends before an end marker. The document may then be truncated.
        last: bool,
    },
    /// More bytes are needed.
    Feed,
    /// Only comments are left.
    Done,
}

/// State of the search.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentSearch {
    /// Start of the current line.
    line: usize,
    /// The current line does not end before this index.
    scanned: usize,
    /// Whether the document has begun, with more than directives and comments.
    has_begun: bool,
    /// Whether there were directives, which must be followed by a document.
    directives: bool,
    /// The rest of the current line if its beginning was dropped.
    rest: LineRest,
}

/// The rest of a line whose beginning was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineRest {
    /// No rest: a line begins here.
    #[default]
    None,
    /// Only white space was found, before the document.
    Blank,
    /// Not a marker.
    Content,
    /// A marker that ends the document.
    End,
}

impl DocumentSearch {
    /// Creates a search that starts at an index.
    pub fn from(start: usize) -> Self {
        Self {
            line: start,
            scanned: start,
            ..Self::default()
        }
    }

    /// Adjusts to the removal of the bytes before `used`.
    pub fn note_drained(&mut self, used: usize) {
        self.line = self.line.saturating_sub(used);
        self.scanned = self.scanned.saturating_sub(used);
    }

    /// Returns the next document, from the end of the previous one.
    pub fn next(&mut self, buffer: &[u8], finished: bool) -> NextDocument {
        if self.rest != LineRest::None
            && let Some(next) = self.continue_line(buffer, finished)
        {
            return next;
        }
        loop {
            let from = self.scanned.max(self.line);
            let rest = buffer.get(from..).unwrap_or_default();
            let (end, next) = match memchr::memchr(b'\n', rest) {
                Some(index) => (from + index, from + index + 1),
                None if finished && self.line < buffer.len() => (buffer.len(), buffer.len()),
                None => {
                    self.scanned = buffer.len();
                    if !finished {
                        // A marker ends the document even before the rest of the marker's line
                        // has arrived. That line may be long.
                        let line = buffer.get(self.line..).unwrap_or_default();
                        if self.has_begun && line.len() > MARKER.len() && is_marker(line, MARKER) {
                            return self.next_document(self.line, false);
                        }
                        return NextDocument::Feed;
                    }
                    if self.has_begun || self.directives {
                        return self.next_document(buffer.len(), true);
                    }
                    return NextDocument::Done;
                }
            };
            let line = buffer.get(self.line..end).unwrap_or_default();
            if is_marker(line, MARKER) {
                if self.has_begun {
                    return self.next_document(self.line, false);
                }
                self.has_begun = true;
            } else if is_marker(line, b"...") {
                if self.has_begun {
                    return self.next_document(next, false);
                }
            } else if !self.has_begun {
                match first(line) {
                    None | Some(b'#') => {}
                    Some(b'%') if line.starts_with(b"%") => self.directives = true,
                    Some(_) => self.has_begun = true,
                }
            }
            self.line = next;
            self.scanned = next;
        }
    }

    /// Lower bound for the end of the current document.
    pub fn earliest_end(&self, buffer: &[u8]) -> usize {
        let line = buffer.get(self.line..).unwrap_or_default();
        if self.has_begun && MARKER.starts_with(line) {
            self.line
        } else {
            buffer.len()
        }
    }

    /// Continues in a line whose beginning was dropped. Returns `None` when the next line begins.
    fn continue_line(&mut self, buffer: &[u8], finished: bool) -> Option<NextDocument> {
        let rest = buffer.get(self.line..).unwrap_or_default();
        let line_end = memchr::memchr(b'\n', rest);
        let line = &rest[..line_end.unwrap_or(rest.len())];
        if self.rest == LineRest::Blank && !is_blank(line) {
            self.has_begun = first(line) != Some(b'#');
            self.rest = LineRest::Content;
        }
        let ends = self.rest == LineRest::End;
        if line_end.is_none() && !finished {
            self.line = buffer.len();
            self.scanned = buffer.len();
            return Some(NextDocument::Feed);
        }
        let next = line_end.map_or(buffer.len(), |length| self.line + length + 1);
        self.rest = LineRest::None;
        self.line = next;
        self.scanned = next;
        ends.then(|| self.next_document(next, false))
    }

    /// Drops the beginning of the current line, if its kind is known. Call this after
    /// [`next`](Self::next) returned [`NextDocument::Feed`]. Returns the index from which bytes are
    /// still needed.
    pub fn drop_line_start(&mut self, buffer: &[u8]) -> usize {
        let line = buffer.get(self.line..).unwrap_or_default();
        if self.rest == LineRest::None {
            if line.len() <= MARKER.len() {
                return self.line;
            }
            let ends = is_marker(line, b"...");
            self.rest = match line[0] {
                _ if ends && self.has_begun => LineRest::End,
                _ if ends || self.has_begun => LineRest::Content,
                b'%' => {
                    self.directives = true;
                    LineRest::Content
                }
                _ if is_blank(line) => LineRest::Blank,
                _ => {
                    self.has_begun = first(line) != Some(b'#');
                    LineRest::Content
                }
            };
        }
        self.line = buffer.len();
        self.scanned = buffer.len();
        self.line
    }

    fn next_document(&mut self, end: usize, last: bool) -> NextDocument {
        *self = Self::from(end);
        NextDocument::Document { end, last }
    }
}

/// The first byte in a line other than white space.
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
        let (mut search, mut actual, mut start) = (DocumentSearch::default(), Vec::new(), 0);
        let bytes = text.as_bytes();
        for fed in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
            while let NextDocument::Document { end, .. } = search.next(&bytes[..fed], false) {
                actual.push(text[start..end].to_owned());
                start = end;
            }
        }
        while let NextDocument::Document { end, last } = search.next(bytes, true) {
            assert!(last || end < text.len() || text.ends_with("...\n") || text.ends_with("..."));
            actual.push(text[start..end].to_owned());
            start = end;
        }
        actual
    }

    /// The ends of documents if each line is dropped as soon as possible.
    fn ends_without_lines(text: &str, step: usize) -> Vec<usize> {
        let (mut search, mut actual, mut consumed) = (DocumentSearch::default(), Vec::new(), 0);
        let mut buffer = Vec::new();
        let mut pieces = text.as_bytes().chunks(step);
        loop {
            let piece = pieces.next();
            buffer.extend_from_slice(piece.unwrap_or_default());
            loop {
                match search.next(&buffer, piece.is_none()) {
                    NextDocument::Document { end, .. } => actual.push(consumed + end),
                    NextDocument::Feed => break,
                    NextDocument::Done => return actual,
                }
            }
            let used = search.drop_line_start(&buffer);
            buffer.drain(..used);
            search.note_drained(used);
            consumed += used;
            assert!(buffer.len() <= MARKER.len());
        }
    }

    #[test]
    fn dropping_the_start_of_a_line_does_not_change_document_ends() {
        for text in [
            "a: 1\n---\nb: 1",
            "# comment\n   # more\n      \t x: 1\n--- # marker\n... # end\n... # nothing\n",
            "%YAML 1.2\n---        \na: |\n  --- no\n---no\n....\n...\n%TAG x\n",
            "    \n     \n--- a\n    \n    x: --- y\n--- b\n",
            "....\n--- a\n",
        ] {
            let expected = ends_without_lines(text, text.len());
            assert!(!expected.is_empty(), "{text:?}");
            for step in [1, 2, 3, 5, 9] {
                assert_eq!(ends_without_lines(text, step), expected, "{text:?} {step}");
            }
        }
    }

    #[test]
    fn documents_end_as_in_yaml() {
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

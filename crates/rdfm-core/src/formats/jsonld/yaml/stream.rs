//! Finds where the documents of a YAML stream begin and end, before they are parsed.
//!
//! - In: the bytes at hand, more of them each time.
//! - Out: the ends of documents, as soon as the line that ends each is there.
//! - Cost: each byte is looked at once, with memchr.
//! - Law: `---` and `...` at the start of a line delimit documents wherever they stand, quoted texts and block
//!   scalars included, so that no parser is needed; how the bytes come changes nothing.

/// Begins a document.
const MARKER: &[u8] = b"---";

/// What the bytes at hand hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A document, with the directives and comments before it.
    Document {
        /// The byte behind it.
        end: usize,
        /// The stream ends with it, perhaps too early.
        last: bool,
    },
    /// It goes on.
    Feed,
    /// Nothing but comments is left.
    Done,
}

/// Where the search is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search {
    /// Start of the line that is looked at.
    line: usize,
    /// It has no end before here.
    scanned: usize,
    /// The document has begun: more than directives and comments was seen.
    begun: bool,
    /// There are directives, which call for a document.
    directives: bool,
}

impl Search {
    /// Begins at a byte.
    pub fn from(start: usize) -> Self {
        Self {
            line: start,
            scanned: start,
            ..Self::default()
        }
    }

    /// The bytes before `used` are gone.
    pub fn drained(&mut self, used: usize) {
        self.line = self.line.saturating_sub(used);
        self.scanned = self.scanned.saturating_sub(used);
    }

    /// The next document in the bytes from the last one's end on.
    pub fn next(&mut self, buffer: &[u8], finished: bool) -> Next {
        loop {
            let from = self.scanned.max(self.line);
            let rest = buffer.get(from..).unwrap_or_default();
            let (end, next) = match memchr::memchr(b'\n', rest) {
                Some(at) => (from + at, from + at + 1),
                None if finished && self.line < buffer.len() => (buffer.len(), buffer.len()),
                None => {
                    self.scanned = buffer.len();
                    if !finished {
                        // A marker ends the document before its line does, which may be long.
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
                match line
                    .iter()
                    .find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))
                {
                    None | Some(b'#') => {}
                    Some(b'%') if line.starts_with(b"%") => self.directives = true,
                    Some(_) => self.begun = true,
                }
            }
            self.line = next;
            self.scanned = next;
        }
    }

    /// A byte that the document under way does not end before.
    pub fn least_end(&self, buffer: &[u8]) -> usize {
        let line = buffer.get(self.line..).unwrap_or_default();
        if self.begun && MARKER.starts_with(line) {
            self.line
        } else {
            buffer.len()
        }
    }

    fn document(&mut self, end: usize, last: bool) -> Next {
        *self = Self::from(end);
        Next::Document { end, last }
    }
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

    #[test]
    fn documents_end_where_yaml_says() {
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

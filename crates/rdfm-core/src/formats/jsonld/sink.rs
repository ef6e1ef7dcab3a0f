//! The output side of the JSON-LD encoder: objects, arrays, keys and scalars, as JSON or another
//! syntax.
//!
//! - In: events in document order. A key or a scalar is announced, then its token is appended.
//! - Out: text.
//! - Cost: a few bytes of state. Callers may copy a token that was written earlier.
//! - Law: the token of a string does not depend on its position.

use crate::syntax::json::write::write_string;
use crate::syntax::json::{JsonKind, View};

/// Maximum length of a key token that stays where it is written. A sink may move longer ones.
pub const MAX_KEY: usize = 1000;

/// Receives the events of documents.
pub trait Sink: Clone + Send + 'static {
    /// Begins a document.
    fn begin(&mut self, out: &mut Vec<u8>);
    /// Ends the document.
    fn end(&mut self, out: &mut Vec<u8>);
    /// Ends the log.
    fn finish(&mut self, _out: &mut Vec<u8>) {}
    /// Starts after the documents of an existing log.
    fn continue_log(&mut self) {}
    /// Prepares for the next log.
    fn reset(&mut self) {}
    /// `{`.
    fn begin_object(&mut self, out: &mut Vec<u8>);
    /// `}`.
    fn end_object(&mut self, out: &mut Vec<u8>);
    /// `[`.
    fn begin_array(&mut self, out: &mut Vec<u8>);
    /// `]`.
    fn end_array(&mut self, out: &mut Vec<u8>);
    /// Announces a key's token.
    fn begin_key(&mut self, out: &mut Vec<u8>);
    /// Ends a key after its token.
    fn end_key(&mut self, out: &mut Vec<u8>);
    /// Announces a scalar's token.
    fn begin_scalar(&mut self, out: &mut Vec<u8>);
    /// Appends the token of a string. `plain` is true if it contains no quotes, backslashes or
    /// control characters.
    fn write_text(text: &[u8], plain: bool, out: &mut Vec<u8>);
}

/// Writes a value of a tape.
pub fn copy<S: Sink>(view: &View<'_>, value: u32, sink: &mut S, out: &mut Vec<u8>) {
    let end = view.next(value);
    // The ends of the open objects and arrays.
    let mut open: Vec<(u32, JsonKind)> = Vec::new();
    let mut index = value;
    while index < end {
        let kind = view.kind(index);
        match kind {
            JsonKind::Object => sink.begin_object(out),
            JsonKind::Array => sink.begin_array(out),
            JsonKind::Key => {
                sink.begin_key(out);
                S::write_text(view.text(index), false, out);
                sink.end_key(out);
            }
            _ => sink.begin_scalar(out),
        }
        match kind {
            JsonKind::Object | JsonKind::Array => open.push((view.next(index), kind)),
            JsonKind::Key => {}
            JsonKind::String => S::write_text(view.text(index), false, out),
            JsonKind::Number => out.extend_from_slice(view.text(index)),
            JsonKind::True => out.extend_from_slice(b"true"),
            JsonKind::False => out.extend_from_slice(b"false"),
            JsonKind::Null => out.extend_from_slice(b"null"),
        }
        index += 1;
        while let Some((_, kind)) = open.pop_if(|(end, _)| *end == index) {
            match kind {
                JsonKind::Object => sink.end_object(out),
                _ => sink.end_array(out),
            }
        }
    }
}

/// Writes JSON: one document per line, or indented for readability.
#[derive(Clone)]
pub struct JsonSink {
    indented: bool,
    depth: usize,
    /// Whether the open object or array already has content.
    filled: bool,
    /// Whether the value of a key comes next.
    keyed: bool,
}

impl JsonSink {
    /// Writes each document on one line.
    pub const LINE: Self = Self {
        indented: false,
        depth: 0,
        filled: false,
        keyed: false,
    };
    /// Indents each level by two spaces.
    pub const INDENTED: Self = Self {
        indented: true,
        ..Self::LINE
    };

    /// Writes the comma and the indentation before a key or a value.
    #[inline]
    fn next(&mut self, out: &mut Vec<u8>) {
        if self.keyed {
            self.keyed = false;
            return;
        }
        if self.filled {
            out.push(b',');
        }
        if self.indented && self.depth > 0 {
            self.end_line(out);
        }
        self.filled = true;
    }

    fn end_line(&self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.resize(out.len() + 2 * self.depth, b' ');
    }

    #[inline]
    fn open(&mut self, bracket: u8, out: &mut Vec<u8>) {
        self.next(out);
        out.push(bracket);
        self.depth += 1;
        self.filled = false;
    }

    #[inline]
    fn close(&mut self, bracket: u8, out: &mut Vec<u8>) {
        self.depth = self.depth.saturating_sub(1);
        if self.indented && self.filled {
            self.end_line(out);
        }
        out.push(bracket);
        self.filled = true;
    }
}

impl Sink for JsonSink {
    fn begin(&mut self, _out: &mut Vec<u8>) {
        self.depth = 0;
        self.filled = false;
        self.keyed = false;
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
    }

    fn begin_object(&mut self, out: &mut Vec<u8>) {
        self.open(b'{', out);
    }

    fn end_object(&mut self, out: &mut Vec<u8>) {
        self.close(b'}', out);
    }

    fn begin_array(&mut self, out: &mut Vec<u8>) {
        self.open(b'[', out);
    }

    fn end_array(&mut self, out: &mut Vec<u8>) {
        self.close(b']', out);
    }

    #[inline]
    fn begin_key(&mut self, out: &mut Vec<u8>) {
        self.next(out);
    }

    #[inline]
    fn end_key(&mut self, out: &mut Vec<u8>) {
        out.push(b':');
        if self.indented {
            out.push(b' ');
        }
        self.keyed = true;
    }

    #[inline]
    fn begin_scalar(&mut self, out: &mut Vec<u8>) {
        self.next(out);
    }

    #[inline]
    fn write_text(text: &[u8], plain: bool, out: &mut Vec<u8>) {
        if plain {
            out.push(b'"');
            out.extend_from_slice(text);
            out.push(b'"');
        } else {
            write_string(text, out);
        }
    }
}

//! Writes YAML in block style: a [`Sink`] for the JSON-LD encoder.
//!
//! - In: events. Out: documents with `---` between them and `...` at the end.
//! - Cost: a record per open collection; a scan of each string for characters that need quotes.
//! - Law: every reader, including those of YAML 1.1, gets the same strings. A string that some
//!   reader might interpret differently is in double quotes, with the escapes of JSON.

use crate::formats::jsonld::sink::{MAX_KEY, Sink};
use crate::syntax::json::write::write_string;

/// Writes documents in block style.
#[derive(Clone, Default)]
pub struct YamlSink {
    open: Vec<OpenBlock>,
    /// Whether a document was written.
    documents: bool,
    /// Start of the key's token in the output.
    key: usize,
    /// The text before the next value.
    before: BeforeValue,
}

#[derive(Clone, Copy)]
struct OpenBlock {
    array: bool,
    /// Whether the block is still empty.
    empty: bool,
    /// Number of spaces before its lines.
    indent: usize,
    /// Whether its first line begins after the `- ` of the surrounding array.
    inline: bool,
}

/// The text before a value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum BeforeValue {
    /// Nothing, or the `- ` of an array item.
    #[default]
    Start,
    /// A key and its colon.
    Key,
}

impl YamlSink {
    /// Begins the line of a key or an item.
    fn begin_line(&mut self, out: &mut Vec<u8>) {
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let inline = open.inline && open.empty;
        open.empty = false;
        if !inline {
            if !matches!(out.last(), None | Some(b'\n')) {
                out.push(b'\n');
            }
            out.resize(out.len() + open.indent, b' ');
        }
        if open.array {
            out.extend_from_slice(b"- ");
        }
    }

    /// Begins the line of a value if it is an item. Returns the indentation of the value's content,
    /// and whether its first line has begun.
    fn begin_value(&mut self, out: &mut Vec<u8>) -> (usize, bool) {
        let parent = self.open.last().map_or(0, |open| open.indent + 2);
        if self.before == BeforeValue::Key {
            self.before = BeforeValue::Start;
            return (parent, false);
        }
        if self.open.is_empty() {
            return (0, false);
        }
        self.begin_line(out);
        (parent, true)
    }

    fn begin_collection(&mut self, array: bool, out: &mut Vec<u8>) {
        let (indent, inline) = self.begin_value(out);
        self.open.push(OpenBlock {
            array,
            empty: true,
            indent,
            inline,
        });
    }

    fn end_collection(&mut self, empty: &[u8], out: &mut Vec<u8>) {
        if self.open.pop().is_some_and(|open| open.empty) {
            if out.last() == Some(&b':') {
                out.push(b' ');
            }
            out.extend_from_slice(empty);
        }
    }
}

impl Sink for YamlSink {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.documents {
            out.extend_from_slice(b"---\n");
        }
        self.documents = true;
        self.open.clear();
        self.before = BeforeValue::Start;
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.documents {
            // Many readers reject an end without a document. A context alone is not a message.
            out.extend_from_slice(b"\"@context\": {}\n");
        }
        out.extend_from_slice(b"...\n");
    }

    fn continue_log(&mut self) {
        self.documents = true;
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn begin_object(&mut self, out: &mut Vec<u8>) {
        self.begin_collection(false, out);
    }

    fn end_object(&mut self, out: &mut Vec<u8>) {
        self.end_collection(b"{}", out);
    }

    fn begin_array(&mut self, out: &mut Vec<u8>) {
        self.begin_collection(true, out);
    }

    fn end_array(&mut self, out: &mut Vec<u8>) {
        self.end_collection(b"[]", out);
    }

    fn begin_key(&mut self, out: &mut Vec<u8>) {
        self.begin_line(out);
        self.key = out.len();
    }

    fn end_key(&mut self, out: &mut Vec<u8>) {
        if out.len() - self.key > MAX_KEY {
            // Readers allow at most 1024 characters before a colon. A longer key needs a `?` before
            // it, and its value needs a separate line.
            let key = out.split_off(self.key);
            out.extend_from_slice(b"? ");
            out.extend_from_slice(&key);
            out.push(b'\n');
            let indent = self.open.last().map_or(0, |open| open.indent);
            out.resize(out.len() + indent, b' ');
        }
        out.push(b':');
        self.before = BeforeValue::Key;
    }

    fn begin_scalar(&mut self, out: &mut Vec<u8>) {
        if self.before == BeforeValue::Key {
            out.push(b' ');
        }
        self.begin_value(out);
    }

    fn write_text(text: &[u8], _plain: bool, out: &mut Vec<u8>) {
        if is_plain(text) {
            out.extend_from_slice(text);
        } else if text.iter().any(|byte| *byte >= 0x7F) {
            write_quoted(text, out);
        } else {
            write_string(text, out);
        }
    }
}

/// Whether a string needs no quotes: it begins with a letter or `_:`, is not a word with another
/// meaning, and contains no indicators that YAML would interpret.
fn is_plain(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"_:").unwrap_or(text);
    if !rest.first().is_some_and(u8::is_ascii_alphabetic) && rest.len() == text.len() {
        return false;
    }
    let safe = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'-'
                    | b'.'
                    | b'/'
                    | b':'
                    | b'#'
                    | b'~'
                    | b'+'
                    | b'%'
                    | b'?'
                    | b'='
                    | b'&'
                    | b'@'
                    | b';'
                    | b'('
                    | b')'
                    | b'\''
                    | b'!'
                    | b'*'
                    | b' '
            )
    };
    text.iter().all(safe)
        && !text.ends_with(b":")
        && has_plain_spaces(text)
        && !is_reserved_word(text)
}

/// Whether spaces occur only between words, not at the end or next to indicators.
fn has_plain_spaces(text: &[u8]) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    text.iter().enumerate().all(|(index, &byte)| {
        byte != b' '
            || (index > 0
                && (letter(text.get(index - 1)) || matches!(text[index - 1], b'.' | b')'))
                && (letter(text.get(index + 1)) || text.get(index + 1) == Some(&b'(')))
    })
}

/// Whether some readers interpret a string that begins with a letter as null or a boolean.
fn is_reserved_word(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] = [
        b"y", b"n", b"yes", b"no", b"on", b"off", b"true", b"false", b"null",
    ];
    text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Appends a string in double quotes. Characters that YAML considers line breaks or unprintable are
/// also escaped.
fn write_quoted(text: &[u8], out: &mut Vec<u8>) {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let needs_escape = |c: char| {
        matches!(
            c,
            '\u{7f}'
                ..='\u{a0}'
                    | '\u{ad}'
                    | '\u{2028}'
                    | '\u{2029}'
                    | '\u{feff}'
                    | '\u{fffe}'
                    | '\u{ffff}'
        ) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(needs_escape) {
        return write_string(text.as_bytes(), out);
    }
    out.push(b'"');
    let mut escaped = Vec::new();
    for part in text.split_inclusive(needs_escape) {
        let last = part.chars().next_back().filter(|c| needs_escape(*c));
        let unescaped = &part[..part.len() - last.map_or(0, char::len_utf8)];
        escaped.clear();
        write_string(unescaped.as_bytes(), &mut escaped);
        out.extend_from_slice(escaped.get(1..escaped.len() - 1).unwrap_or_default());
        if let Some(c) = last {
            out.extend_from_slice(format!("\\u{:04x}", c as u32).as_bytes());
        }
    }
    out.push(b'"');
}

//! Composes a JSON tape from a YAML document in plain block style, as most programs write it.
//!
//! - In: the text of one document.
//! - Out: its tape, or `None` if the document needs the event parser of
//!   [`compose`](super::compose).
//! - Cost: linear; each byte is read about once.
//! - Gain: 5.1 times (`make bench-gains PATHS=block-yaml`).
//! - Law: the tape is identical to that of the event parser. A document with an error needs the
//!   event parser, which describes the error.
//!
//! Each line is a key, a key with a value, or an item of a sequence. A scalar is on one line, plain
//! or in quotes. Comments, anchors, tags, scalars on several lines and flow collections with
//! content need the event parser. So do tabs, carriage returns, and spaces at the end of a line.

use std::ops::Range;

use super::schema::{ScalarValue, resolve};
use crate::formats::jsonld::sink::MAX_KEY;
use crate::syntax::json::{Bounds, JsonKind, Tape};

/// Composes one document at a time.
#[derive(Default)]
pub struct BlockComposer {
    open: Vec<BlockLevel>,
    /// The text of the last scalar, if it differs from the source.
    unescaped: String,
}

/// An open mapping or sequence, which the next line may continue.
struct BlockLevel {
    mapping: bool,
    /// Column of its keys or dashes.
    column: usize,
}

/// A scalar on one line.
struct LineScalar {
    /// The text, without quotes.
    text: Range<usize>,
    /// The index after the scalar.
    end: usize,
    quoted: bool,
    form: ScalarForm,
}

/// Relation between the text of a scalar and the source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScalarForm {
    /// Identical to the source. JSON needs no escapes for this text.
    Borrowed,
    /// Identical to the source. JSON may need escapes for this text.
    Literal,
    /// Stored in [`BlockComposer::unescaped`].
    Unescaped,
}

/// Class of bytes that end or change a plain scalar.
const IN_PLAIN: u8 = 1;
/// Class of bytes that end or change a scalar in double quotes.
const IN_DOUBLE: u8 = 2;
/// Class of bytes that end or change a scalar in single quotes.
const IN_SINGLE: u8 = 4;
/// Class of bytes that do not begin a plain scalar.
const NOT_FIRST: u8 = 8;

const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let c = byte as u8;
        // Includes the first bytes of characters that might not be printable.
        if c < b' ' || matches!(c, b'"' | b'\\' | 0x7F | 0xC2 | 0xEF) {
            table[byte] |= IN_PLAIN | IN_DOUBLE | IN_SINGLE;
        }
        if matches!(c, b':' | b'#') {
            table[byte] |= IN_PLAIN;
        }
        if c == b'\'' {
            table[byte] |= IN_SINGLE;
        }
        if c <= b' '
            || matches!(
                c,
                b'-' | b'?'
                    | b':'
                    | b','
                    | b'['
                    | b']'
                    | b'{'
                    | b'}'
                    | b'#'
                    | b'&'
                    | b'*'
                    | b'!'
                    | b'|'
                    | b'>'
                    | b'\''
                    | b'"'
                    | b'%'
                    | b'@'
                    | b'`'
            )
        {
            table[byte] |= NOT_FIRST;
        }
        byte += 1;
    }
    table
};

const fn has(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Whether a control character, another unprintable character or a byte order mark begins at an
/// index.
fn is_unprintable(bytes: &[u8], index: usize) -> bool {
    match bytes.get(index..).unwrap_or_default() {
        [0xC2, next, ..] => *next < 0xA0,
        [0xEF, 0xBB, 0xBF, ..] | [0xEF, 0xBF, 0xBE | 0xBF, ..] => true,
        [byte, ..] => *byte < b' ' || *byte == 0x7F,
        [] => false,
    }
}

/// Whether there is a dash followed by a space at an index.
fn is_dash(bytes: &[u8], index: usize) -> bool {
    bytes.get(index) == Some(&b'-') && bytes.get(index + 1) == Some(&b' ')
}

fn is_line_end(bytes: &[u8], index: usize) -> bool {
    matches!(bytes.get(index), None | Some(b'\n'))
}

/// Index of the next byte of a class, or the end of the text.
fn find(bytes: &[u8], index: usize, class: u8) -> usize {
    let mut rest = bytes.get(index..).unwrap_or_default().iter();
    rest.position(|byte| has(*byte, class))
        .map_or(bytes.len(), |length| index + length)
}

fn skip_spaces(bytes: &[u8], mut index: usize) -> usize {
    while bytes.get(index) == Some(&b' ') {
        index += 1;
    }
    index
}

impl BlockComposer {
    /// Composes the document in `text`. Returns `None` if it needs the event parser. The tape is
    /// then incomplete.
    pub fn compose(&mut self, text: &str, tape: &mut Tape, bounds: &Bounds) -> Option<()> {
        let bytes = text.as_bytes();
        tape.clear();
        self.open.clear();
        let mut index = if bytes.starts_with(b"---\n") { 4 } else { 0 };
        // Whether a value comes next: the first one, or the value of the key on the previous line.
        let mut value_is_next = true;
        while index < bytes.len() {
            let line = index;
            index = skip_spaces(bytes, line);
            if bytes.get(index) == Some(&b'\n') {
                index += 1;
                continue;
            }
            let mut column = index - line;
            if column == 0 {
                match bytes.get(index..).unwrap_or_default() {
                    b"...\n" | b"..." => break,
                    [b'.', b'.', b'.', ..] | [b'-', b'-', b'-', ..] => return None,
                    _ => {}
                }
            }
            let mut dash = is_dash(bytes, index);
            if !value_is_next {
                self.close_until(column, dash, bytes, tape, bounds)?;
            } else if let Some(open) = self.open.last() {
                // A sequence in a mapping may begin in the column of its key.
                let same_column = open.mapping && dash && column == open.column;
                if column <= open.column && !same_column {
                    return None;
                }
            }
            let is_item = dash;
            while dash {
                let content = skip_spaces(bytes, index + 1);
                if value_is_next {
                    // The position that the event parser reports.
                    let parent = self.open.last();
                    let same_column = parent.is_some_and(|open| open.column == column);
                    let position = if same_column { content } else { index };
                    tape.start(JsonKind::Array, position, bounds).ok()?;
                    let mapping = false;
                    self.open.push(BlockLevel { mapping, column });
                }
                value_is_next = true;
                index = content;
                column = index - line;
                dash = is_dash(bytes, index);
            }
            if is_item && let Some(end) = read_empty_collection(bytes, index, tape, bounds) {
                index = end + 1;
                value_is_next = false;
                continue;
            }
            let scalar = self.read_scalar(text, index)?;
            if is_line_end(bytes, scalar.end) {
                if !is_item {
                    return None;
                }
                self.push_value(text, index, &scalar, tape, bounds)?;
                index = scalar.end + 1;
                value_is_next = false;
                continue;
            }
            if bytes[scalar.end] != b':' || scalar.end - index > MAX_KEY {
                return None;
            }
            if value_is_next {
                tape.start(JsonKind::Object, index, bounds).ok()?;
                let mapping = true;
                self.open.push(BlockLevel { mapping, column });
            }
            self.push_key(text, index, &scalar, tape, bounds)?;
            index = scalar.end + 1;
            value_is_next = is_line_end(bytes, index);
            if value_is_next {
                index += 1;
                continue;
            }
            if bytes[index] != b' ' {
                return None;
            }
            index = skip_spaces(bytes, index);
            if let Some(end) = read_empty_collection(bytes, index, tape, bounds) {
                index = end + 1;
                continue;
            }
            let scalar = self.read_scalar(text, index)?;
            if !is_line_end(bytes, scalar.end) {
                return None;
            }
            self.push_value(text, index, &scalar, tape, bounds)?;
            index = scalar.end + 1;
        }
        if value_is_next {
            return None;
        }
        for _ in self.open.drain(..) {
            tape.end(0, bytes, bounds).ok()?;
        }
        Some(())
    }

    /// Ends the blocks that the next line does not continue, given its column and whether it begins
    /// with a dash. The line must continue the innermost block that remains.
    fn close_until(
        &mut self,
        column: usize,
        dash: bool,
        bytes: &[u8],
        tape: &mut Tape,
        bounds: &Bounds,
    ) -> Option<()> {
        loop {
            let open = self.open.last()?;
            if open.column == column && open.mapping != dash {
                return Some(());
            }
            // A sequence in the column of a mapping's keys ends before the next key.
            if open.column < column || (open.column == column && open.mapping) {
                return None;
            }
            tape.end(0, bytes, bounds).ok()?;
            self.open.pop();
        }
    }

    /// Finds the scalar that begins at an index.
    fn read_scalar(&mut self, text: &str, index: usize) -> Option<LineScalar> {
        let bytes = text.as_bytes();
        match *bytes.get(index)? {
            b'"' => self.read_double_quoted(text, index + 1),
            b'\'' => self.read_single_quoted(text, index + 1),
            b'-' if bytes.get(index + 1).is_some_and(|next| *next > b' ') => plain(bytes, index),
            first if has(first, NOT_FIRST) => None,
            _ => plain(bytes, index),
        }
    }

    fn read_double_quoted(&mut self, text: &str, start: usize) -> Option<LineScalar> {
        let bytes = text.as_bytes();
        let (mut index, mut copied) = (start, start);
        let mut form = ScalarForm::Borrowed;
        loop {
            index = find(bytes, index, IN_DOUBLE);
            match *bytes.get(index)? {
                b'"' => break,
                b'\\' => {
                    if form == ScalarForm::Borrowed {
                        self.unescaped.clear();
                        form = ScalarForm::Unescaped;
                    }
                    self.unescaped.push_str(text.get(copied..index)?);
                    let (c, end) = escape(bytes, index + 1)?;
                    self.unescaped.push(c);
                    (index, copied) = (end, end);
                }
                _ if is_unprintable(bytes, index) => return None,
                _ => index += 1,
            }
        }
        if form == ScalarForm::Unescaped {
            self.unescaped.push_str(text.get(copied..index)?);
        }
        Some(LineScalar {
            text: start..index,
            end: index + 1,
            quoted: true,
            form,
        })
    }

    fn read_single_quoted(&mut self, text: &str, start: usize) -> Option<LineScalar> {
        let bytes = text.as_bytes();
        let (mut index, mut copied) = (start, start);
        let mut form = ScalarForm::Borrowed;
        loop {
            index = find(bytes, index, IN_SINGLE);
            match *bytes.get(index)? {
                b'\'' if bytes.get(index + 1) == Some(&b'\'') => {
                    if form != ScalarForm::Unescaped {
                        self.unescaped.clear();
                        form = ScalarForm::Unescaped;
                    }
                    self.unescaped.push_str(text.get(copied..=index)?);
                    index += 2;
                    copied = index;
                }
                b'\'' => break,
                b'"' | b'\\' => {
                    if form == ScalarForm::Borrowed {
                        form = ScalarForm::Literal;
                    }
                    index += 1;
                }
                _ if is_unprintable(bytes, index) => return None,
                _ => index += 1,
            }
        }
        if form == ScalarForm::Unescaped {
            self.unescaped.push_str(text.get(copied..index)?);
        }
        Some(LineScalar {
            text: start..index,
            end: index + 1,
            quoted: true,
            form,
        })
    }

    /// Adds a scalar as a key.
    fn push_key(
        &self,
        text: &str,
        index: usize,
        scalar: &LineScalar,
        tape: &mut Tape,
        bounds: &Bounds,
    ) -> Option<()> {
        let range = scalar.text.clone();
        let source = text.get(range.clone())?;
        if !scalar.quoted && resolve(source) != ScalarValue::String {
            return None;
        }
        let bytes = text.as_bytes();
        let added = match scalar.form {
            ScalarForm::Borrowed => tape.push_borrowed_key(index, range, bytes, bounds),
            ScalarForm::Literal => tape.push_owned(JsonKind::Key, index, source.as_bytes(), bounds),
            ScalarForm::Unescaped => {
                tape.push_owned(JsonKind::Key, index, self.unescaped.as_bytes(), bounds)
            }
        };
        added.ok()
    }

    /// Adds a scalar as a value.
    fn push_value(
        &self,
        text: &str,
        index: usize,
        scalar: &LineScalar,
        tape: &mut Tape,
        bounds: &Bounds,
    ) -> Option<()> {
        let range = scalar.text.clone();
        let source = text.get(range.clone())?;
        let value = if scalar.quoted {
            ScalarValue::String
        } else {
            resolve(source)
        };
        let string = JsonKind::String;
        let added = match (value, scalar.form) {
            (ScalarValue::Null, _) => tape.push_scalar(JsonKind::Null, index, bounds),
            (ScalarValue::Boolean(true), _) => tape.push_scalar(JsonKind::True, index, bounds),
            (ScalarValue::Boolean(false), _) => tape.push_scalar(JsonKind::False, index, bounds),
            (ScalarValue::Number(number), _) => {
                tape.push_owned(JsonKind::Number, index, number.as_bytes(), bounds)
            }
            (ScalarValue::Unrepresentable, _) => return None,
            (_, ScalarForm::Borrowed) => tape.push_borrowed(string, index, range, bounds),
            (_, ScalarForm::Literal) => tape.push_owned(string, index, source.as_bytes(), bounds),
            (_, ScalarForm::Unescaped) => {
                tape.push_owned(string, index, self.unescaped.as_bytes(), bounds)
            }
        };
        added.ok()
    }
}

/// Finds the plain scalar that begins at an index.
fn plain(bytes: &[u8], start: usize) -> Option<LineScalar> {
    let mut index = start;
    let mut form = ScalarForm::Borrowed;
    loop {
        index = find(bytes, index, IN_PLAIN);
        match bytes.get(index) {
            None | Some(b'\n') => break,
            Some(b':') if matches!(bytes.get(index + 1), None | Some(b' ' | b'\n')) => break,
            Some(b'#') if bytes[index - 1] == b' ' => return None,
            Some(b'"' | b'\\') => form = ScalarForm::Literal,
            _ if is_unprintable(bytes, index) => return None,
            _ => {}
        }
        index += 1;
    }
    (bytes[index - 1] != b' ').then_some(LineScalar {
        text: start..index,
        end: index,
        quoted: false,
        form,
    })
}

/// Adds an empty collection if the rest of the line is one. Returns the index after the collection.
fn read_empty_collection(
    bytes: &[u8],
    index: usize,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Option<usize> {
    let kind = match bytes.get(index..index + 2)? {
        b"{}" => JsonKind::Object,
        b"[]" => JsonKind::Array,
        _ => return None,
    };
    if !is_line_end(bytes, index + 2) {
        return None;
    }
    tape.start(kind, index, bounds).ok()?;
    tape.end(0, bytes, bounds).ok()?;
    Some(index + 2)
}

/// Decodes the escape after a backslash. Returns the character and the index after it.
fn escape(bytes: &[u8], index: usize) -> Option<(char, usize)> {
    let digits = match *bytes.get(index)? {
        b'n' => return Some(('\n', index + 1)),
        b't' => return Some(('\t', index + 1)),
        b'r' => return Some(('\r', index + 1)),
        b'b' => return Some(('\u{8}', index + 1)),
        b'f' => return Some(('\u{c}', index + 1)),
        c @ (b'"' | b'\\' | b'/') => return Some((char::from(c), index + 1)),
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let digits = bytes.get(index + 1..index + 1 + digits)?;
    let mut code = 0;
    for digit in digits {
        code = code << 4 | char::from(*digit).to_digit(16)?;
    }
    // The event parser reads surrogate pairs.
    Some((char::from_u32(code)?, index + 1 + digits.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::jsonld::yaml::compose::Composer;

    const BOUNDS: Bounds = Bounds {
        max_depth: 5,
        max_bytes: 1000,
        max_repeated: 1000,
        duplicates: false,
    };

    /// Whether a document is composed without the event parser. If so, compares the two tapes.
    fn composes(text: &str) -> bool {
        let (mut actual, mut expected) = (Tape::new(), Tape::new());
        let composed = BlockComposer::default().compose(text, &mut actual, &BOUNDS);
        if composed.is_some() {
            let result = Composer::default().compose_events(text, &mut expected, &BOUNDS);
            assert_eq!(result, Ok(true), "{text:?}");
            assert_eq!(actual.nodes(), expected.nodes(), "{text:?}");
            assert_eq!(actual.texts(), expected.texts(), "{text:?}");
            assert_eq!(actual.deepest(), expected.deepest(), "{text:?}");
            assert_eq!(actual.has_contexts(), expected.has_contexts(), "{text:?}");
        }
        composed.is_some()
    }

    #[test]
    fn documents_in_block_style_do_not_need_the_event_parser() {
        for text in [
            "a: b",
            "\na:\n  \n  b: c\n\n",
            "---\na: b\n...\n",
            "a:\n  b:\n    c: d\n  e: f\ng: h\n",
            "a:\n- b\n- c: d\n  e: f\n- - g\n  - h\ni: j\n",
            "a:\n  - b\n  -   c: d\n      e: f\n\ng: h\n",
            "- a\n- b:\n  - c\n  d: e\n- f\n",
            "a: null\nb: true\nc: -12\nd: 0x1F\ne: ~\nf: -x\ng: 1.50\n",
            "'@id': a:b#c\n\"@type\": \"x\\ty \\\"z\\\" \\u00e9\\x41\\U0001F600\"\n",
            "'it''s': 'a \"b\" \\'\nb: say \"x\" \\ 'y'\nc: ''\nd: \"\"\n",
            "a: {}\nb: []\nc:\n- {}\n- []\n",
            "\"@context\":\n  x: http://example.org/\n",
            "é: \u{2028}“日本，語” \u{a0}\u{1f600}\n",
        ] {
            assert!(composes(text), "{text:?}");
        }
    }

    #[test]
    fn other_documents_need_the_event_parser() {
        for text in [
            "",
            "---\n",
            "...\n",
            "a",
            "a:",
            "a:\nb: c\n",
            "a:\n  b\n",
            "a: b # c\n",
            "# c\na: b\n",
            "a: b \n",
            "a : b\n",
            "a:\tb\n",
            "a: b\r\n",
            "a: b\n  c\n",
            "a: b\n\n  c\n",
            "a: b\n  ",
            "a: b\n c: d\n",
            "a: b: c\n",
            "a: - b\n",
            "a: |\n  b\n",
            "a: &b c\n",
            "a: !!str b\n",
            "? a\n: b\n",
            "a: {b: c}\n",
            "a: \"b\n  c\"\n",
            "a: \"\\ud83d\\ude00\"\n",
            "a: \"\\q\"\n",
            "a: 'b'c\n",
            "a: \u{7f}\n",
            "a: \u{80}\n",
            "a: \u{feff}\n",
            "a: \u{ffff}\n",
            "a: .inf\n",
            "1: a\n",
            "a: b\na: c\n",
            "a: b\n--- c\n",
            "a: b\n...\nc: d\n",
            "- a\nb: c\n",
            "- a\n  - b\n",
            "a:\n  b:\n    c:\n      d:\n        e:\n          f: g\n",
        ] {
            assert!(!composes(text), "{text:?}");
        }
        let long = "a".repeat(2000);
        assert!(!composes(&format!("\"{long}\": b\n")));
        assert!(!composes(&format!("a: \"\\n{long}\"\n")));
    }
}

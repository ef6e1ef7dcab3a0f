//! Labels of blank nodes that a grammar cannot hold, and labels for nodes that a text gives none.
//!
//! - In: labels, of any characters; what a grammar can hold, as a function.
//! - Out: labels that the grammar holds ([`write`]), what they stand for ([`read`]), and generated
//!   ones that differ from all those of the message ([`Labels`]).
//! - Cost: a comparison with a prefix; linear for labels that begin with it. No table.
//! - Law: [`write`] and [`read`] are one-to-one and undo each other, in both directions.
//!
//! An escape is `_gx` and the lower-case hex of a label. Only canonical escapes are undone, those
//! that [`write`] makes: of labels that the grammar cannot hold, and of labels that are such escapes
//! themselves. Any other label that begins with `_gx` stands for itself, so that nothing collides.
//!
//! Generated labels are `_g0`, `_g1` and so on in each message. By themselves they could not be told
//! from labels of the text that look alike (an earlier conversion wrote them), and no rule that looks
//! at one label alone could keep them apart for good. So labels of the text stay as they are, and the
//! generated ones get a `u` before their numbers, or more, where the text used the form before the
//! first of them; labels of a form that is taken by then get one more `u`.

/// Begins escapes.
const ESCAPE: &[u8] = b"_gx";
/// Begins generated labels.
const GENERATED: &[u8] = b"_g";

/// Whether a grammar can hold a label as it is.
pub(crate) type Holds = fn(&[u8]) -> bool;

/// Appends a label, escaped if the grammar cannot hold it, or if [`read`] would take it for an escape.
/// `plain` says that the grammar can hold it.
#[inline]
pub(crate) fn write(label: &[u8], plain: bool, holds: Holds, out: &mut Vec<u8>) {
    let held = plain || holds(label);
    if held && !(label.starts_with(ESCAPE) && read(label, holds).is_some()) {
        out.extend_from_slice(label);
    } else {
        out.extend_from_slice(ESCAPE);
        write_hex(label, out);
    }
}

/// Whether a label may be an escape, or be taken for one.
#[inline]
pub(crate) const fn may_escape(label: &[u8]) -> bool {
    matches!(label, [b'_', b'g', b'x', ..])
}

/// The label that an escape stands for; `None` for a label that stands for itself.
#[inline]
pub(crate) fn read(label: &[u8], holds: Holds) -> Option<Vec<u8>> {
    if !label.starts_with(ESCAPE) {
        return None;
    }
    undo(
        label,
        |label| label.strip_prefix(ESCAPE).and_then(unhex),
        holds,
    )
}

/// What a canonical escape stands for: `unescape` undoes any. An escape of an escape is canonical if what is
/// within them all needs one.
#[cold]
pub(crate) fn undo(
    text: &[u8],
    unescape: fn(&[u8]) -> Option<Vec<u8>>,
    holds: Holds,
) -> Option<Vec<u8>> {
    let outer = unescape(text)?;
    let mut inner: Option<Vec<u8>> = None;
    while let Some(next) = unescape(inner.as_deref().unwrap_or(&outer)) {
        inner = Some(next);
    }
    (!holds(inner.as_deref().unwrap_or(&outer))).then_some(outer)
}

/// The text that lower-case hexadecimal digits are the bytes of.
pub(crate) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut bytes = Vec::with_capacity(pairs.len());
    for &[high, low] in pairs {
        bytes.push(digit(high)? << 4 | digit(low)?);
    }
    std::str::from_utf8(&bytes).is_ok().then_some(bytes)
}

/// Appends the lower-case hex of bytes.
pub(crate) fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// The labels of a message whose text has nodes without one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// Number of the next generated label.
    next: u64,
    /// How many `u` generated labels have. It is fixed at the first of them; until then it is one more
    /// than any label of their form has.
    marks: usize,
    scratch: Vec<u8>,
}

impl Labels {
    /// Another message begins.
    #[inline]
    pub fn begin_message(&mut self) {
        self.next = 0;
        self.marks = 0;
    }

    /// Whether no label was generated in the message.
    #[inline]
    pub fn is_unused(&self) -> bool {
        self.next == 0
    }

    /// Takes note of a label of the text.
    pub fn note(&mut self, label: &[u8]) {
        if self.next == 0
            && let Some(marks) = marks(label)
        {
            self.marks = self.marks.max(marks + 1);
        }
    }

    /// What a label of the text that is no escape stands for.
    #[inline]
    pub fn given<'a>(&'a mut self, label: &'a [u8]) -> &'a [u8] {
        match label.strip_prefix(GENERATED) {
            Some(rest) => self.odd(label, rest),
            None => label,
        }
    }

    /// As [`given`](Self::given), of a label that begins as generated ones do.
    fn odd<'a>(&'a mut self, label: &'a [u8], rest: &[u8]) -> &'a [u8] {
        self.note(label);
        if marks(label).is_none_or(|marks| marks < self.marks) {
            return label;
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(GENERATED);
        self.scratch.push(b'u');
        self.scratch.extend_from_slice(rest);
        &self.scratch
    }

    /// A new label.
    pub fn generated(&mut self) -> &[u8] {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut number = self.next;
        self.next += 1;
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(GENERATED);
        self.scratch.resize(GENERATED.len() + self.marks, b'u');
        self.scratch.extend_from_slice(&digits[at..]);
        &self.scratch
    }
}

/// How many `u` stand before the number of a label of the form of generated ones.
fn marks(label: &[u8]) -> Option<usize> {
    let rest = label.strip_prefix(GENERATED)?;
    let marks = rest.iter().position(|&byte| byte != b'u')?;
    rest[marks..]
        .iter()
        .all(u8::is_ascii_digit)
        .then_some(marks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::chars;

    fn holds(label: &[u8]) -> bool {
        std::str::from_utf8(label).is_ok_and(chars::is_label)
    }

    fn written(label: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write(label, false, holds, &mut out);
        out
    }

    fn said(label: &[u8]) -> Vec<u8> {
        read(label, holds).unwrap_or_else(|| label.to_vec())
    }

    /// Short labels of characters that matter, and what escaping makes of them, several times.
    fn labels() -> Vec<Vec<u8>> {
        let mut labels = vec![Vec::new()];
        for length in 0..4 {
            for label in labels.clone() {
                if label.len() == length {
                    for &byte in b"a_.- 6x\n" {
                        labels.push([label.as_slice(), &[byte]].concat());
                    }
                }
            }
        }
        labels.extend(["é", "\u{0}", "_gx6", "_gxé", "_gx61", "_gxff", "_gxC3"].map(Into::into));
        let mut all = labels.clone();
        for _ in 0..3 {
            for label in &mut labels {
                let mut next = ESCAPE.to_vec();
                write_hex(label, &mut next);
                *label = next;
            }
            all.extend_from_slice(&labels);
        }
        all
    }

    #[test]
    fn reading_and_writing_undo_each_other() {
        for label in labels() {
            let text = written(&label);
            assert!(holds(&text), "{label:?}");
            assert_eq!(said(&text), label);
            if holds(&label) {
                assert_eq!(written(&said(&label)), label);
            }
        }
    }

    #[test]
    fn only_canonical_escapes_are_undone() {
        for (text, label) in [
            (&b"_gx612062"[..], Some(&b"a b"[..])),
            (b"_gx", Some(b"")),
            (b"_gx5f6778363132303632", Some(b"_gx612062")),
            // Of a label that needs no escape, with digits that are none, of no UTF-8.
            (b"_gx61", None),
            (b"_gx5f67783631", None),
            (b"_gx6", None),
            (b"_gx2E", None),
            (b"_gxff", None),
            (b"_g0", None),
            (b"x", None),
        ] {
            assert_eq!(read(text, holds).as_deref(), label, "{text:?}");
        }
    }

    /// `[` a node without a label, other words labels.
    fn read_message(labels: &mut Labels, message: &str) -> String {
        labels.begin_message();
        let words = message.split(' ').map(|word| match word {
            "[" => labels.generated().to_vec(),
            label => labels.given(label.as_bytes()).to_vec(),
        });
        let words: Vec<String> = words
            .map(|word| String::from_utf8_lossy(&word).into_owned())
            .collect();
        words.join(" ")
    }

    #[test]
    fn generated_labels_differ_from_all_of_the_message() {
        let mut labels = Labels::default();
        for (message, expected) in [
            ("_g0 _gu1 a _g0", "_g0 _gu1 a _g0"),
            ("[ [ a", "_g0 _g1 a"),
            ("[ _g0 [ _gu0 _g1 _g", "_g0 _gu0 _g1 _guu0 _gu1 _g"),
            ("_g7 [ _g0 _gu0 [ _g7", "_g7 _gu0 _g0 _guu0 _gu1 _g7"),
            ("_gu3 [ _g0", "_gu3 _guu0 _g0"),
            ("_gua _gx1 [ _gua _g_0", "_gua _gx1 _g0 _gua _g_0"),
        ] {
            assert_eq!(read_message(&mut labels, message), expected);
        }
    }

    #[test]
    fn all_short_messages_are_one_to_one() {
        let words = ["[", "_g0", "_g1", "_gu0", "_guu0", "a"];
        let mut labels = Labels::default();
        for number in 0..words.len().pow(6) {
            let mut number = number;
            let message: Vec<&str> = (0..6)
                .map(|_| {
                    let word = words[number % words.len()];
                    number /= words.len();
                    word
                })
                .collect();
            let read = read_message(&mut labels, &message.join(" "));
            let read: Vec<&str> = read.split(' ').collect();
            for (at, word) in message.iter().enumerate() {
                for (other, second) in message.iter().enumerate().skip(at + 1) {
                    let same = word == second && *word != "[";
                    assert_eq!(read[at] == read[other], same, "{message:?} {read:?}");
                }
            }
            // What is written then holds labels only, and stays as it is.
            assert_eq!(read_message(&mut labels, &read.join(" ")), read.join(" "));
        }
    }
}

//! Blank node labels: escapes for labels that a grammar forbids, and generated labels for
//! unlabelled nodes.
//!
//! - In: labels with any characters, and a function that checks whether a grammar allows a label.
//! - Out: labels that the grammar allows ([`write`]), the labels that escapes represent ([`read`]),
//!   and generated labels that differ from all others of the message ([`Labels`]).
//! - Cost: one comparison with a prefix; linear for labels that begin with it. No table.
//! - Law: [`write`] and [`read`] are one-to-one and inverse to each other.
//!
//! An escape is `_gx` followed by the lower-case hex of a label. Only the canonical escapes, which
//! [`write`] creates, are decoded: escapes of labels that the grammar forbids, and escapes of
//! labels that are themselves canonical escapes. Any other label that begins with `_gx` represents
//! itself, so labels never collide.
//!
//! Generated labels are `_g0`, `_g1` and so on in each message. A log may already contain such
//! labels, for example from an earlier conversion, and no rule that considers only one label can
//! tell the two apart. Labels of the log used before the first generated label of a message stay
//! unchanged. If some have the generated form, generated labels get one or more `u` before their
//! numbers. Later labels of the log that have the generated form with at least as many `u` get one
//! more `u`.

/// Prefix of escapes.
const ESCAPE: &[u8] = b"_gx";
/// Prefix of generated labels.
const GENERATED: &[u8] = b"_g";

/// Checks whether a grammar allows a label unescaped.
pub(crate) type LabelCheck = fn(&[u8]) -> bool;

/// Appends a label. It is escaped if the grammar forbids it, or if [`read`] would decode it as an
/// escape. `plain` is true if the grammar is known to allow it.
#[inline]
pub(crate) fn write(label: &[u8], plain: bool, is_allowed: LabelCheck, out: &mut Vec<u8>) {
    let allowed = plain || is_allowed(label);
    if allowed && !(label.starts_with(ESCAPE) && read(label, is_allowed).is_some()) {
        out.extend_from_slice(label);
    } else {
        out.extend_from_slice(ESCAPE);
        write_hex(label, out);
    }
}

/// Whether a label may be an escape.
#[inline]
pub(crate) const fn may_escape(label: &[u8]) -> bool {
    matches!(label, [b'_', b'g', b'x', ..])
}

/// Decodes an escape. Returns `None` for a label that represents itself.
#[inline]
pub(crate) fn read(label: &[u8], is_allowed: LabelCheck) -> Option<Vec<u8>> {
    if !label.starts_with(ESCAPE) {
        return None;
    }
    decode_canonical(
        label,
        |label| label.strip_prefix(ESCAPE).and_then(unhex),
        is_allowed,
    )
}

/// Decodes a canonical escape. `unescape` decodes any escape. An escape of an escape is canonical
/// if the innermost label needs an escape.
#[cold]
pub(crate) fn decode_canonical(
    text: &[u8],
    unescape: fn(&[u8]) -> Option<Vec<u8>>,
    is_allowed: LabelCheck,
) -> Option<Vec<u8>> {
    let outer = unescape(text)?;
    let mut inner: Option<Vec<u8>> = None;
    while let Some(next) = unescape(inner.as_deref().unwrap_or(&outer)) {
        inner = Some(next);
    }
    (!is_allowed(inner.as_deref().unwrap_or(&outer))).then_some(outer)
}

/// Decodes lower-case hexadecimal digits. Returns `None` if they are invalid or the bytes are not
/// UTF-8.
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

/// Appends bytes as lower-case hex.
pub(crate) fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// The labels of a message that may have unlabelled nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// Number of the next generated label.
    next: u64,
    /// Number of `u` in generated labels. Fixed when the first label is generated. Until then, one
    /// more than in any label of the log that has the generated form.
    marks: usize,
    scratch: Vec<u8>,
}

impl Labels {
    /// Begins another message.
    #[inline]
    pub fn begin_message(&mut self) {
        self.next = 0;
        self.marks = 0;
    }

    /// Whether no label has been generated in the message.
    #[inline]
    pub fn is_unused(&self) -> bool {
        self.next == 0
    }

    /// Records a label of the log.
    pub fn note(&mut self, label: &[u8]) {
        if self.next == 0
            && let Some(marks) = count_u(label)
        {
            self.marks = self.marks.max(marks + 1);
        }
    }

    /// Returns the label that replaces a label of the log, or that label itself if it is kept. The
    /// given label must not be an escape.
    #[inline]
    pub fn map_given<'a>(&'a mut self, label: &'a [u8]) -> &'a [u8] {
        match label.strip_prefix(GENERATED) {
            Some(rest) => self.distinct(label, rest),
            None => label,
        }
    }

    /// Like [`map_given`](Self::map_given), for labels that begin like generated ones.
    fn distinct<'a>(&'a mut self, label: &'a [u8], rest: &[u8]) -> &'a [u8] {
        self.note(label);
        if count_u(label).is_none_or(|marks| marks < self.marks) {
            return label;
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(GENERATED);
        self.scratch.push(b'u');
        self.scratch.extend_from_slice(rest);
        &self.scratch
    }

    /// Generates a new label.
    pub fn generate(&mut self) -> &[u8] {
        let mut digits = [0u8; 20];
        let mut index = digits.len();
        let mut number = self.next;
        self.next += 1;
        loop {
            index -= 1;
            digits[index] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(GENERATED);
        self.scratch.resize(GENERATED.len() + self.marks, b'u');
        self.scratch.extend_from_slice(&digits[index..]);
        &self.scratch
    }
}

/// Number of `u` before the number of a label that has the generated form.
fn count_u(label: &[u8]) -> Option<usize> {
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

    fn is_allowed(label: &[u8]) -> bool {
        std::str::from_utf8(label).is_ok_and(chars::is_label)
    }

    fn written(label: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write(label, false, is_allowed, &mut out);
        out
    }

    fn decoded(label: &[u8]) -> Vec<u8> {
        read(label, is_allowed).unwrap_or_else(|| label.to_vec())
    }

    /// Short labels with relevant characters, and their escapes at several levels.
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
    fn reading_and_writing_are_inverses() {
        for label in labels() {
            let text = written(&label);
            assert!(is_allowed(&text), "{label:?}");
            assert_eq!(decoded(&text), label);
            if is_allowed(&label) {
                assert_eq!(written(&decoded(&label)), label);
            }
        }
    }

    #[test]
    fn only_canonical_escapes_are_decoded() {
        for (text, label) in [
            (&b"_gx612062"[..], Some(&b"a b"[..])),
            (b"_gx", Some(b"")),
            (b"_gx5f6778363132303632", Some(b"_gx612062")),
            // Escapes of labels that need none, with invalid digits, and of invalid UTF-8.
            (b"_gx61", None),
            (b"_gx5f67783631", None),
            (b"_gx6", None),
            (b"_gx2E", None),
            (b"_gxff", None),
            (b"_g0", None),
            (b"x", None),
        ] {
            assert_eq!(read(text, is_allowed).as_deref(), label, "{text:?}");
        }
    }

    /// In `message`, `[` is an unlabelled node and other words are labels.
    fn read_message(labels: &mut Labels, message: &str) -> String {
        labels.begin_message();
        let words = message.split(' ').map(|word| match word {
            "[" => labels.generate().to_vec(),
            label => labels.map_given(label.as_bytes()).to_vec(),
        });
        let words: Vec<String> = words
            .map(|word| String::from_utf8_lossy(&word).into_owned())
            .collect();
        words.join(" ")
    }

    #[test]
    fn generated_labels_differ_from_the_other_labels_of_the_message() {
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
    fn labels_are_mapped_one_to_one_in_all_short_messages() {
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
            for (index, word) in message.iter().enumerate() {
                for (other, second) in message.iter().enumerate().skip(index + 1) {
                    let same = word == second && *word != "[";
                    assert_eq!(read[index] == read[other], same, "{message:?} {read:?}");
                }
            }
            // The result contains only labels, so reading it again changes nothing.
            assert_eq!(read_message(&mut labels, &read.join(" ")), read.join(" "));
        }
    }
}

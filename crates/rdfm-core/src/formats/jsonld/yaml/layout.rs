//! Rules of YAML about indentation that the event parser does not enforce in every case.
//!
//! - In: the text, and the start or the span of a value.
//! - Out: the index of an error, and its text.
//! - Cost: linear in the white space before a collection, and in the lines of a scalar.

/// The index of an error, and its text.
pub(super) type LayoutError = (usize, &'static str);

/// The column of an index: the number of bytes between the line start and the index.
pub(super) fn column(text: &str, index: usize) -> usize {
    let before = text.as_bytes().get(..index).unwrap_or_default();
    index - memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
}

/// Rejects tabs in the indentation of a key, or of a mapping or sequence in block style.
pub(super) fn check_indentation(text: &str, index: usize) -> Result<(), LayoutError> {
    let line = index - column(text, index);
    let indentation = text.as_bytes().get(line..index).unwrap_or_default();
    match memchr::memchr(b'\t', indentation) {
        Some(tab) if indentation.iter().all(|byte| matches!(byte, b' ' | b'\t')) => Err((
            line + tab,
            "a tab as indentation; YAML allows only spaces there",
        )),
        _ => Ok(()),
    }
}

/// Rejects comments inside a plain scalar.
pub(super) fn check_plain(text: &str, start: usize, end: usize) -> Result<(), LayoutError> {
    for (index, line) in continuation_lines(text, start, end) {
        if line.trim_ascii_start().first() == Some(&b'#') {
            return Err((index, "a comment inside a value of several lines"));
        }
    }
    Ok(())
}

/// Rejects lines of a quoted scalar with fewer spaces than the collection that contains the scalar
/// requires.
pub(super) fn check_quoted(
    text: &str,
    start: usize,
    end: usize,
    required: usize,
) -> Result<(), LayoutError> {
    for (index, line) in continuation_lines(text, start, end) {
        let spaces = line.iter().take_while(|&&byte| byte == b' ').count();
        if spaces < required && !line.trim_ascii().is_empty() {
            return Err((
                index,
                "a line of a quoted string is not indented more than its mapping or sequence",
            ));
        }
    }
    Ok(())
}

/// The lines of a scalar after the first, with their indexes.
fn continuation_lines(
    text: &str,
    start: usize,
    end: usize,
) -> impl Iterator<Item = (usize, &[u8])> {
    let scalar = text.as_bytes().get(start..end).unwrap_or_default();
    let mut position = start;
    let lines = scalar.split(|&byte| byte == b'\n').map(move |line| {
        let index = position;
        position += line.len() + 1;
        (index, line)
    });
    lines.skip(1)
}

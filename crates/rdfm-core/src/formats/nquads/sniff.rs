//! Detects N-Quads, including N-Triples, from a log's first bytes.

use memchr::memchr;

use crate::codec::sniff::{Sniff, head};
use crate::syntax::text::sniff::{LineKind, is_blank, line_kind, lines};

/// Checks that every line is a statement, a directive or a comment, up to the first quad or the
/// end. If there are only triples, the format is detected only at the end, because Turtle may
/// follow.
pub fn sniff(bytes: &[u8], complete: bool) -> Sniff {
    let mut triples = false;
    for line in lines(bytes, complete) {
        if memchr(0, line).is_some() {
            return Sniff::No;
        }
        if is_blank(line) {
            continue;
        }
        match line_kind(line) {
            LineKind::Triple => triples = true,
            LineKind::Quad => return Sniff::Yes,
            LineKind::Directive => {}
            LineKind::Other => return Sniff::No,
        }
    }
    Sniff::from_match(
        complete && triples && memchr(0, head(bytes)).is_none(),
        complete,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIPLE: &[u8] = b"<a> <b> <c> .\n";
    const QUAD: &[u8] = b"<a> <b> <c> <g> .\n";

    #[test]
    fn a_quad_is_detected_whatever_follows() {
        for start in [&b""[..], b"# c\n\n", TRIPLE, b"VERSION \"1.2\"\nMESSAGE\n"] {
            for end in [&b""[..], b"<a", b"x\n", b"\0", b"@prefix a: <b> .\n"] {
                let head = [start, QUAD, end].concat();
                assert_eq!(sniff(&head, false), Sniff::Yes);
                assert_eq!(sniff(&head, true), Sniff::Yes);
            }
        }
    }

    #[test]
    fn triples_are_detected_at_the_end() {
        assert_eq!(sniff(TRIPLE, false), Sniff::More);
        assert_eq!(sniff(TRIPLE, true), Sniff::Yes);
        let full = TRIPLE.repeat(400);
        assert_eq!(sniff(&full, false), Sniff::More);
        assert_eq!(sniff(&full, true), Sniff::Yes);
    }

    #[test]
    fn other_text_is_not_detected() {
        for head in [&b""[..], b"\n", b"# c\n", b"MESSAGE\n"] {
            assert_eq!(sniff(head, false), Sniff::More);
            assert_eq!(sniff(head, true), Sniff::No);
        }
        for line in [
            &b"x\n"[..],
            b"# \0\n",
            b"<a> <b> \"\0\" <g> .\n",
            b"<a> a <b> .\n",
        ] {
            let head = [TRIPLE, line, QUAD].concat();
            assert_eq!(sniff(&head, false), Sniff::No);
            assert_eq!(sniff(&head, true), Sniff::No);
        }
        assert_eq!(sniff(&[TRIPLE, b"<a> \0"].concat(), false), Sniff::More);
        assert_eq!(sniff(&[TRIPLE, b"<a> \0"].concat(), true), Sniff::No);
    }
}

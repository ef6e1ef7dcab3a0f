//! Short forms of IRIs and literals.

use crate::model::chars::{self, DIGIT};
use crate::model::table::TermTable;
use crate::model::term::{Term, TermId, TermKind, flags};
use crate::model::write::{write_escaped, write_iri};
use crate::syntax::prefixes::Prefixes;

/// The predicate that is written as `a`.
pub const RDF_TYPE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const XSD: &[u8] = b"http://www.w3.org/2001/XMLSchema#";

/// Appends an IRI, given its [head](crate::syntax::prefixes::head_of). Returns the name of its prefix.
#[inline]
pub fn write_short_iri<'a>(
    prefixes: &'a Prefixes,
    head: &[u8],
    table: &TermTable,
    term: Term,
    out: &mut Vec<u8>,
) -> Option<&'a [u8]> {
    let text = table.text_of(term);
    let Some((name, local)) = prefixes.split_after(head, text) else {
        write_iri(text, is_plain(term), out);
        return None;
    };
    out.extend_from_slice(name);
    out.push(b':');
    out.extend_from_slice(local);
    Some(name)
}

/// Appends a literal up to its closing quote. Returns false if it is complete without quotes.
#[inline]
pub fn open_literal(table: &TermTable, term: Term, out: &mut Vec<u8>) -> bool {
    let text = table.text_of(term);
    if term.kind == TermKind::TypedLiteral && is_shorthand(text, table.text(TermId(term.aux))) {
        out.extend_from_slice(text);
        return false;
    }
    out.push(b'"');
    if is_plain(term) {
        out.extend_from_slice(text);
    } else {
        write_escaped(text, out);
    }
    true
}

const fn is_plain(term: Term) -> bool {
    term.flags & flags::PLAIN != 0
}

/// Whether all readers restore exactly this literal if it is written without quotes, even readers
/// that parse numbers. Excludes doubles, plus signs, leading zeros and negative zeros.
fn is_shorthand(text: &[u8], datatype: &[u8]) -> bool {
    let Some(name) = datatype.strip_prefix(XSD) else {
        return false;
    };
    if name == b"boolean" {
        return text == b"true" || text == b"false";
    }
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, rest) = digits(unsigned);
    let zero = unsigned.first() == Some(&b'0');
    if whole == 0 || (zero && whole > 1) {
        return false;
    }
    match (name, rest) {
        (b"integer", []) => text != b"-0",
        (b"decimal", [b'.', rest @ ..]) => {
            let (fraction, rest) = digits(rest);
            fraction > 0 && rest.is_empty() && !(zero && text.starts_with(b"-"))
        }
        _ => false,
    }
}

/// Number of digits at the start, and the rest.
fn digits(text: &[u8]) -> (usize, &[u8]) {
    let count = text
        .iter()
        .position(|&byte| !chars::is(byte, DIGIT))
        .unwrap_or(text.len());
    (count, &text[count..])
}

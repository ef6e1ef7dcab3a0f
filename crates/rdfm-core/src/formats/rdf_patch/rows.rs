//! The content of RDF Patch rows.
//!
//! - In: valid UTF-8 text, and the position of a row's first byte.
//! - Out: an operation with terms in the batch, or the end of a patch; and the position after the
//!   row.
//! - Cost: linear in the text; quads are read by [`crate::syntax::ntriples`].
//! - Law: an incomplete row does not count towards the limits, and declares nothing.

use crate::model::builder::PatchBuilder;
use crate::model::chars::{self, NAME, is_absolute_iri};
use crate::model::record::{Operation, OperationCode};
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind, flags};
use crate::syntax::default_graph;
use crate::syntax::ntriples::lex::{Lexed, byte, character, expected, fail, found, skip_space};
use crate::syntax::ntriples::{StatementReader, other_string};
use crate::syntax::text::scan;

/// The content of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum PatchRow {
    Operation(Operation),
    /// `Z`, the end of the patch.
    End,
}

const CODES: &str = "H, TX, TC, TA, PA, PD, A, D or Z";

/// Reads the row that begins at `start`.
#[inline]
pub(super) fn row(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    start: usize,
) -> Lexed<(usize, PatchRow)> {
    if let [code @ (b'A' | b'D'), b' ' | b'\t', ..] = text[start..] {
        let code = if code == b'A' {
            OperationCode::Add
        } else {
            OperationCode::Delete
        };
        return quad(statements, builder, text, start + 2, code);
    }
    other_row(statements, builder, text, start)
}

#[inline]
fn quad(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    at: usize,
    code: OperationCode,
) -> Lexed<(usize, PatchRow)> {
    let at = skip_space(text, at);
    let (end, mut quad) = statements.quad(builder, text, at)?;
    quad.graph = default_graph::read(builder.table(), quad.graph);
    Ok((end, PatchRow::Operation(Operation::of(code, quad))))
}

/// Reads a row that does not begin with `A` or `D` and a space or tab.
#[inline(never)]
fn other_row(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    start: usize,
) -> Lexed<(usize, PatchRow)> {
    let letters = text[start..].iter();
    let at = start
        + letters
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
    if chars::is(byte(text, at), NAME) || byte(text, at) == b':' {
        return row_error(text, start);
    }
    let code = match &text[start..at] {
        b"A" => OperationCode::Add,
        b"D" => OperationCode::Delete,
        b"H" => OperationCode::Header,
        b"PA" => OperationCode::AddPrefix,
        b"PD" => OperationCode::DeletePrefix,
        // TB is an old name for TX.
        b"TX" | b"TB" => OperationCode::Begin,
        b"TC" => OperationCode::Commit,
        b"TA" => OperationCode::Abort,
        b"Z" => {
            let at = dot(statements, text, at, "Z")?;
            return Ok((at, PatchRow::End));
        }
        _ => return row_error(text, start),
    };
    statements.begin_row();
    let mut operation = Operation::bare(code);
    let end = match code {
        OperationCode::Add | OperationCode::Delete => {
            return quad(statements, builder, text, at, code);
        }
        OperationCode::Begin | OperationCode::Commit | OperationCode::Abort => {
            dot(statements, text, at, code.name())?
        }
        OperationCode::Header => {
            let (at, name) = name(statements, builder, text, at, "a header")?;
            let (at, value) = statements.lone_term(builder, text, at)?;
            (operation.name, operation.object) = (name, value);
            header_end(statements, text, at)?
        }
        OperationCode::AddPrefix => {
            let (at, name) = name(statements, builder, text, at, "a prefix")?;
            let (at, iri) = namespace(statements, builder, text, at)?;
            (operation.name, operation.object) = (name, iri);
            let (at, graph) = graph(statements, builder, text, at)?;
            operation.graph = graph;
            dot(statements, text, at, "the prefix")?
        }
        OperationCode::DeletePrefix => {
            let (at, name) = name(statements, builder, text, at, "a prefix")?;
            let (at, graph) = graph(statements, builder, text, at)?;
            (operation.name, operation.graph) = (name, graph);
            dot(statements, text, at, "the prefix")?
        }
    };
    Ok((end, PatchRow::Operation(operation)))
}

#[cold]
fn row_error<T>(text: &[u8], at: usize) -> Lexed<T> {
    // Only the first letter is checked: the rest may not have arrived.
    let hint = if byte(text, at).is_ascii_lowercase() {
        "; row codes are upper case"
    } else {
        ""
    };
    fail(
        at,
        format!(
            "expected a row that begins with {CODES}, found {}{hint}",
            found(text, at)
        ),
    )
}

/// Position after the dot of a row.
fn dot(statements: &StatementReader, text: &[u8], at: usize, after: &str) -> Lexed<usize> {
    let at = statements.space(text, at);
    if byte(text, at) != b'.' {
        return expected(text, at, &format!("'.' after {after}"));
    }
    Ok(at + 1)
}

/// Position after a header's value and the dot. rdflib writes `H prev` without a dot; the row then
/// ends with its line.
fn header_end(statements: &StatementReader, text: &[u8], at: usize) -> Lexed<usize> {
    let next = statements.space(text, at);
    let line = text.get(at..next).unwrap_or_default();
    match byte(text, next) {
        b'.' => Ok(next + 1),
        b'A'..=b'Z' if memchr::memchr2(b'\n', b'\r', line).is_some() => Ok(next),
        _ => expected(text, next, "'.' after the header"),
    }
}

/// Reads the graph of a prefix, if any.
fn graph(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    at: usize,
) -> Lexed<(usize, TermId)> {
    let next = statements.space(text, at);
    match byte(text, next) {
        b'<' | b'_' | b':' | b'"' | b'\'' | b'+' | b'-' => {
            named_graph(statements, builder, text, next)
        }
        byte if byte.is_ascii_alphanumeric() => named_graph(statements, builder, text, next),
        _ => Ok((next, TermId::DEFAULT_GRAPH)),
    }
}

fn named_graph(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    at: usize,
) -> Lexed<(usize, TermId)> {
    let (end, graph) = statements.lone_term(builder, text, at)?;
    Ok((end, default_graph::read(builder.table(), graph)))
}

/// Reads the key of a header or the name of a prefix. Both are a word or a string.
fn name(
    statements: &StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    at: usize,
    what: &str,
) -> Lexed<(usize, TermId)> {
    let start = statements.space(text, at);
    if matches!(byte(text, start), b'"' | b'\'') {
        let mut decoded = Vec::new();
        let end = other_string(text, start, &mut decoded)?.end + 1;
        return Ok((end, add(builder, TermKind::Literal, &decoded)));
    }
    let (mut at, mut end) = (start, start);
    while let Some((c, width)) = character(text, at) {
        if !chars::is_name(c) && c != '.' {
            break;
        }
        at += width;
        // A trailing dot belongs to the row.
        if c != '.' {
            end = at;
        }
    }
    if end == start {
        return expected(
            text,
            start,
            &format!("the name of {what}, a word or a string"),
        );
    }
    if byte(text, end) == b':' {
        let shown = found(text, start);
        return fail(
            start,
            format!("expected the name of {what} without a colon, found {shown}"),
        );
    }
    Ok((end, add(builder, TermKind::Literal, &text[start..end])))
}

/// Reads the IRI of a prefix, which may be written as a string.
fn namespace(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    at: usize,
) -> Lexed<(usize, TermId)> {
    let start = statements.space(text, at);
    if matches!(byte(text, start), b'"' | b'\'') {
        let mut decoded = Vec::new();
        let end = other_string(text, start, &mut decoded)?.end + 1;
        statements.check_iri(&decoded, start)?;
        return Ok((end, add(builder, TermKind::Iri, &decoded)));
    }
    if byte(text, start) == b'<' {
        let (end, id) = statements.lone_term(builder, text, start)?;
        if builder.table().term(id).kind == TermKind::Iri {
            return Ok((end, id));
        }
    }
    expected(
        text,
        start,
        "the IRI of the prefix, in angle brackets or as a string",
    )
}

/// Adds a term that consists only of its text, without charging for it.
fn add(builder: &mut PatchBuilder, kind: TermKind, text: &[u8]) -> TermId {
    let flags = match kind {
        TermKind::Iri if is_absolute_iri(text) => flags::PLAIN,
        TermKind::Iri => 0,
        _ => scan::lexical(text).unwrap_or_default(),
    };
    let offset = builder.append_text(text);
    builder.push_term(Term {
        offset,
        length: text.len() as u32,
        aux: 0,
        split: NO_SPLIT,
        kind,
        flags,
    })
}

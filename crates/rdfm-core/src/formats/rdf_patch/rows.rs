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
use crate::syntax::ntriples::lex::{
    Lexed, byte_at, character_at, describe_found, fail, fail_expected, skip_space,
};
use crate::syntax::ntriples::{StatementReader, lex_short_string};
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
pub(super) fn parse_row(
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
        return parse_quad(statements, builder, text, start + 2, code);
    }
    parse_other_row(statements, builder, text, start)
}

#[inline]
fn parse_quad(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    index: usize,
    code: OperationCode,
) -> Lexed<(usize, PatchRow)> {
    let index = skip_space(text, index);
    let (end, mut quad) = statements.parse_quad(builder, text, index)?;
    quad.graph = default_graph::read(builder.table(), quad.graph);
    Ok((end, PatchRow::Operation(Operation::new(code, quad))))
}

/// Reads a row that does not begin with `A` or `D` and a space or tab.
#[inline(never)]
fn parse_other_row(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    start: usize,
) -> Lexed<(usize, PatchRow)> {
    let letters = text[start..].iter();
    let index = start
        + letters
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
    if chars::is(byte_at(text, index), NAME) || byte_at(text, index) == b':' {
        return row_error(text, start);
    }
    let code = match &text[start..index] {
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
            let index = expect_dot(statements, text, index, "Z")?;
            return Ok((index, PatchRow::End));
        }
        _ => return row_error(text, start),
    };
    statements.begin_row();
    let mut operation = Operation::bare(code);
    let end = match code {
        OperationCode::Add | OperationCode::Delete => {
            return parse_quad(statements, builder, text, index, code);
        }
        OperationCode::Begin | OperationCode::Commit | OperationCode::Abort => {
            expect_dot(statements, text, index, code.name())?
        }
        OperationCode::Header => {
            let (index, name) = parse_name(statements, builder, text, index, "a header")?;
            let (index, value) = statements.parse_lone_term(builder, text, index)?;
            (operation.name, operation.object) = (name, value);
            find_header_end(statements, text, index)?
        }
        OperationCode::AddPrefix => {
            let (index, name) = parse_name(statements, builder, text, index, "a prefix")?;
            let (index, iri) = parse_namespace(statements, builder, text, index)?;
            (operation.name, operation.object) = (name, iri);
            let (index, graph) = parse_graph(statements, builder, text, index)?;
            operation.graph = graph;
            expect_dot(statements, text, index, "the prefix")?
        }
        OperationCode::DeletePrefix => {
            let (index, name) = parse_name(statements, builder, text, index, "a prefix")?;
            let (index, graph) = parse_graph(statements, builder, text, index)?;
            (operation.name, operation.graph) = (name, graph);
            expect_dot(statements, text, index, "the prefix")?
        }
    };
    Ok((end, PatchRow::Operation(operation)))
}

#[cold]
fn row_error<T>(text: &[u8], index: usize) -> Lexed<T> {
    // Only the first letter is checked: the rest may not have arrived.
    let hint = if byte_at(text, index).is_ascii_lowercase() {
        "; row codes are upper case"
    } else {
        ""
    };
    fail(
        index,
        format!(
            "expected a row that begins with {CODES}, found {}{hint}",
            describe_found(text, index)
        ),
    )
}

/// Position after the dot of a row.
fn expect_dot(
    statements: &StatementReader,
    text: &[u8],
    index: usize,
    after: &str,
) -> Lexed<usize> {
    let index = statements.space(text, index);
    if byte_at(text, index) != b'.' {
        return fail_expected(text, index, &format!("'.' after {after}"));
    }
    Ok(index + 1)
}

/// Position after a header's value and the dot. rdflib writes `H prev` without a dot; the row then
/// ends with its line.
fn find_header_end(statements: &StatementReader, text: &[u8], index: usize) -> Lexed<usize> {
    let next = statements.space(text, index);
    let line = text.get(index..next).unwrap_or_default();
    match byte_at(text, next) {
        b'.' => Ok(next + 1),
        b'A'..=b'Z' if memchr::memchr2(b'\n', b'\r', line).is_some() => Ok(next),
        _ => fail_expected(text, next, "'.' after the header"),
    }
}

/// Reads the graph of a prefix, if any.
fn parse_graph(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    index: usize,
) -> Lexed<(usize, TermId)> {
    let next = statements.space(text, index);
    match byte_at(text, next) {
        b'<' | b'_' | b':' | b'"' | b'\'' | b'+' | b'-' => {
            parse_named_graph(statements, builder, text, next)
        }
        byte if byte.is_ascii_alphanumeric() => parse_named_graph(statements, builder, text, next),
        _ => Ok((next, TermId::DEFAULT_GRAPH)),
    }
}

fn parse_named_graph(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    index: usize,
) -> Lexed<(usize, TermId)> {
    let (end, graph) = statements.parse_lone_term(builder, text, index)?;
    Ok((end, default_graph::read(builder.table(), graph)))
}

/// Reads the key of a header or the name of a prefix. Both are a word or a string.
fn parse_name(
    statements: &StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    index: usize,
    expected: &str,
) -> Lexed<(usize, TermId)> {
    let start = statements.space(text, index);
    if matches!(byte_at(text, start), b'"' | b'\'') {
        let mut decoded = Vec::new();
        let end = lex_short_string(text, start, &mut decoded)?.end + 1;
        return Ok((end, add(builder, TermKind::Literal, &decoded)));
    }
    let (mut index, mut end) = (start, start);
    while let Some((c, width)) = character_at(text, index) {
        if !chars::is_name(c) && c != '.' {
            break;
        }
        index += width;
        // A trailing dot belongs to the row.
        if c != '.' {
            end = index;
        }
    }
    if end == start {
        return fail_expected(
            text,
            start,
            &format!("the name of {expected}, a word or a string"),
        );
    }
    if byte_at(text, end) == b':' {
        let shown = describe_found(text, start);
        return fail(
            start,
            format!("expected the name of {expected} without a colon, found {shown}"),
        );
    }
    Ok((end, add(builder, TermKind::Literal, &text[start..end])))
}

/// Reads the IRI of a prefix, which may be written as a string.
fn parse_namespace(
    statements: &mut StatementReader,
    builder: &mut PatchBuilder,
    text: &[u8],
    index: usize,
) -> Lexed<(usize, TermId)> {
    let start = statements.space(text, index);
    if matches!(byte_at(text, start), b'"' | b'\'') {
        let mut decoded = Vec::new();
        let end = lex_short_string(text, start, &mut decoded)?.end + 1;
        statements.check_iri(&decoded, start)?;
        return Ok((end, add(builder, TermKind::Iri, &decoded)));
    }
    if byte_at(text, start) == b'<' {
        let (end, id) = statements.parse_lone_term(builder, text, start)?;
        if builder.table().term(id).kind == TermKind::Iri {
            return Ok((end, id));
        }
    }
    fail_expected(
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

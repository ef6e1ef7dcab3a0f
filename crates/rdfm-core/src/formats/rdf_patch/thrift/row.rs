//! Decodes and encodes rows of patches.
//!
//! - In: bytes that begin with a row, or a row to encode. If the bytes end inside the row, the
//!   error has the class Truncated.
//! - Out: [`ThriftPatchRow`] and its length, or an encoded row that is identical to the output of
//!   Thrift's own writers.
//! - Law: unknown fields are skipped up to a fixed depth. A field with the wrong type is an error.
//!   Strings are unchecked slices of the log.

use crate::codec::start::Start;
use crate::model::record::OperationCode;
use crate::syntax::rdf_binary::encode::TermRange;
use crate::syntax::rdf_binary::model::{Raw, Slots, ambiguous_error, unset_error};
use crate::syntax::rdf_binary::thrift::{
    BINARY, CompactReader, I32, STRUCT, expect, put_binary, read_statement, read_term,
};
use crate::syntax::wire::{Checked, malformed_error};

/// The row that ends a patch.
pub(super) const SEGMENT: &[u8] = &[0x65, 6, 0];

/// A row.
#[derive(Clone, Copy, Debug)]
pub(super) enum ThriftPatchRow<'a> {
    /// Name and value.
    Header(&'a [u8], Raw<'a>),
    /// An added or deleted quad. Its terms are in [`Slots`].
    Statement(OperationCode),
    /// Graph, name and IRI.
    AddPrefix(Option<Raw<'a>>, &'a [u8], &'a [u8]),
    /// Graph and name.
    DeletePrefix(Option<Raw<'a>>, &'a [u8]),
    /// The start or end of a transaction.
    Bare(OperationCode),
    /// The end of the patch.
    Segment,
}

/// Decodes a row. Returns the row and its length. Fills `slots`, which must be empty, with the
/// terms of a statement.
#[inline]
pub(super) fn read_row<'a>(
    bytes: &'a [u8],
    slots: &mut Slots<'a>,
) -> Checked<(ThriftPatchRow<'a>, usize)> {
    let mut wire = CompactReader { rest: bytes };
    let mut row = None;
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        let expected = match field {
            1..=5 => STRUCT,
            6 => I32,
            _ => {
                wire.skip_unknown(field, kind)?;
                continue;
            }
        };
        expect(kind, expected, field, "the row")?;
        if row.is_some() {
            return Err(ambiguous_error("the row"));
        }
        row = Some(match field {
            1 => read_header(&mut wire)?,
            2 | 3 => {
                read_statement(&mut wire, 4, slots)?;
                ThriftPatchRow::Statement(if field == 2 {
                    OperationCode::Add
                } else {
                    OperationCode::Delete
                })
            }
            4 => {
                let (graph, name, iri) = read_prefix(&mut wire)?;
                ThriftPatchRow::AddPrefix(
                    graph,
                    name,
                    iri.ok_or_else(|| unset_error("the IRI of a prefix"))?,
                )
            }
            5 => {
                let (graph, name, _) = read_prefix(&mut wire)?;
                ThriftPatchRow::DeletePrefix(graph, name)
            }
            _ => match wire.read_zigzag()? {
                0 => ThriftPatchRow::Bare(OperationCode::Begin),
                1 => ThriftPatchRow::Bare(OperationCode::Commit),
                2 => ThriftPatchRow::Bare(OperationCode::Abort),
                3 => ThriftPatchRow::Segment,
                other => {
                    return Err(malformed_error(format!(
                        "expected the number of TX, TC, TA or a segment (0 to 3), found {other}"
                    )));
                }
            },
        });
    }
    let row = row.ok_or_else(|| unset_error("the row"))?;
    Ok((row, bytes.len() - wire.rest.len()))
}

fn read_header<'a>(wire: &mut CompactReader<'a>) -> Checked<ThriftPatchRow<'a>> {
    let (mut name, mut value) = (None, None);
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        match field {
            1 => {
                expect(kind, BINARY, field, "the header")?;
                name = Some(wire.read_binary()?);
            }
            2 => {
                expect(kind, STRUCT, field, "the header")?;
                value = Some(read_term(wire)?);
            }
            _ => wire.skip_unknown(field, kind)?,
        }
    }
    match (name, value) {
        (Some(name), Some(value)) => Ok(ThriftPatchRow::Header(name, value)),
        _ => Err(unset_error("the name or value of a header")),
    }
}

/// Graph, name and IRI of a prefix.
type PrefixFields<'a> = (Option<Raw<'a>>, &'a [u8], Option<&'a [u8]>);

fn read_prefix<'a>(wire: &mut CompactReader<'a>) -> Checked<PrefixFields<'a>> {
    let (mut graph, mut name, mut iri) = (None, None, None);
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        match field {
            1 => {
                expect(kind, STRUCT, field, "the prefix")?;
                graph = Some(read_term(wire)?);
            }
            2 => {
                expect(kind, BINARY, field, "the prefix")?;
                name = Some(wire.read_binary()?);
            }
            3 => {
                expect(kind, BINARY, field, "the prefix")?;
                iri = Some(wire.read_binary()?);
            }
            _ => wire.skip_unknown(field, kind)?,
        }
    }
    Ok((
        graph,
        name.ok_or_else(|| unset_error("the name of a prefix"))?,
        iri,
    ))
}

/// Whether the first bytes of a log look like this format.
///
/// Uses only the first two bytes, so that the result does not depend on how the input is cut.
pub(super) fn start(first: &[u8]) -> Start {
    match *first {
        [0x1c, 0x18, ..]
        | [0x2c | 0x3c, 0x1c, ..]
        | [0x4c | 0x5c, 0x1c | 0x28, ..]
        | [0x65, 0 | 2 | 4 | 6, ..] => Start::Same,
        [] | [0x1c | 0x2c | 0x3c | 0x4c | 0x5c | 0x65] => Start::Unclear,
        _ => Start::Other,
    }
}

/// Appends the row of a header.
pub(super) fn put_header(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.push(0x1c);
    put_binary(out, 0x18, name);
    out.extend_from_slice(value);
    out.extend_from_slice(&[0, 0]);
}

/// Appends the row of a quad. `parts` are the positions of its terms in `terms`.
#[inline]
pub(super) fn put_statement(
    code: OperationCode,
    terms: &[u8],
    parts: &[TermRange],
    out: &mut Vec<u8>,
) {
    out.push(if code == OperationCode::Add {
        0x2c
    } else {
        0x3c
    });
    for part in parts {
        out.extend_from_slice(&terms[part.range()]);
    }
    out.extend_from_slice(&[0, 0]);
}

/// Appends the row of a prefix. Without an IRI, the row deletes the prefix.
pub(super) fn put_prefix(graph: Option<&[u8]>, name: &[u8], iri: Option<&[u8]>, out: &mut Vec<u8>) {
    out.push(if iri.is_some() { 0x4c } else { 0x5c });
    // Field numbers are written as the difference from the previous one.
    let header = match graph {
        Some(graph) => {
            out.extend_from_slice(graph);
            0x18
        }
        None => 0x28,
    };
    put_binary(out, header, name);
    if let Some(iri) = iri {
        put_binary(out, 0x18, iri);
    }
    out.extend_from_slice(&[0, 0]);
}

/// Appends a transaction row.
pub(super) fn put_bare(code: OperationCode, out: &mut Vec<u8>) {
    let number = match code {
        OperationCode::Begin => 0,
        OperationCode::Commit => 2,
        _ => 4,
    };
    out.extend_from_slice(&[0x65, number, 0]);
}

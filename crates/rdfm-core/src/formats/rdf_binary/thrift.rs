//! Decodes and encodes rows of RDF Thrift in Thrift's compact protocol (`proto/rdf-binary.thrift`).
//!
//! - In: bytes that begin with a row, or a row to encode. If the bytes end inside the row, the
//!   error has the class Truncated.
//! - Out: [`BinaryRow`] and its length, or an encoded row that is identical to the output of
//!   Thrift's own writers.
//! - Law: unknown fields are skipped up to a fixed depth. A field with the wrong type is an error.

use super::encode::RowWriter;
use super::row::BinaryRow;
use crate::codec::start::Start;
use crate::syntax::rdf_binary::encode::TermRange;
use crate::syntax::rdf_binary::model::{Slots, ambiguous_error, unset_error};
use crate::syntax::rdf_binary::thrift::{
    CompactReader, STRUCT, ThriftTerms, expect, put_binary, read_statement,
};
use crate::syntax::wire::Checked;

/// Decodes a row. Returns the row and its length. Fills `slots`, which must be empty, with the
/// terms of a statement.
#[inline]
pub(super) fn read_row<'a>(
    bytes: &'a [u8],
    slots: &mut Slots<'a>,
) -> Checked<(BinaryRow<'a>, usize)> {
    let mut wire = CompactReader { rest: bytes };
    let mut row = None;
    let mut last = 0;
    while let Some((field, kind)) = wire.read_field(&mut last)? {
        if !(1..=3).contains(&field) {
            wire.skip_unknown(field, kind)?;
            continue;
        }
        expect(kind, STRUCT, field, "the row")?;
        if row.is_some() {
            return Err(ambiguous_error("the row"));
        }
        row = Some(match field {
            1 => {
                let [name, iri] = wire.read_strings("the prefix declaration")?;
                BinaryRow::Prefix(name, iri)
            }
            2 => {
                read_statement(&mut wire, 3, slots)?;
                BinaryRow::Statement
            }
            _ => {
                read_statement(&mut wire, 4, slots)?;
                BinaryRow::Statement
            }
        });
    }
    let row = row.ok_or_else(|| unset_error("the row"))?;
    Ok((row, bytes.len() - wire.rest.len()))
}

/// Whether the first bytes of a log look like RDF Thrift, which begins with a declaration and a
/// string, or with a statement and a term.
///
/// Uses only the first two bytes, so that the result does not depend on how the input is cut.
pub(super) fn start(first: &[u8]) -> Start {
    match *first {
        [0x1c, 0x18, ..] | [0x2c | 0x3c, 0x1c, ..] => Start::Same,
        [] | [0x1c | 0x2c | 0x3c] => Start::Unclear,
        _ => Start::Other,
    }
}

/// Writes RDF Thrift rows.
pub(super) struct ThriftRows;

impl RowWriter for ThriftRows {
    type Terms = ThriftTerms;

    #[inline]
    fn write_statement(&self, terms: &[u8], parts: &[TermRange], out: &mut Vec<u8>) {
        out.push(if parts.len() == 3 { 0x2c } else { 0x3c });
        for part in parts {
            out.extend_from_slice(&terms[part.range()]);
        }
        out.extend_from_slice(&[0, 0]);
    }

    fn write_prefix(&self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) {
        out.push(0x1c);
        put_binary(out, 0x18, name);
        put_binary(out, 0x18, iri);
        out.extend_from_slice(&[0, 0]);
    }
}

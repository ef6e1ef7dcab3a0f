//! Reads the fields of a frame.

use std::ops::Range;

use super::super::columns::{DRAFT, Fields, Locate as _, Located, MAX_ROWS, Tables, fault};
use super::super::metadata::key_and_value;
use crate::model::error::ErrorClass;
use crate::syntax::wire::{Wire, WireError, check_utf8};

/// Key of the metadata with the links of a result set.
pub(super) const LINK: &str = "link";

/// The fields of a frame. Positions are in its bytes.
#[derive(Default)]
pub(super) struct ResultFrame {
    /// The stream options, merged.
    pub options: Option<(usize, Vec<u8>)>,
    pub variables: Vec<Range<usize>>,
    pub rows: u32,
    pub tables: Tables,
    pub columns: Vec<Range<usize>>,
    /// The answer to an ASK query.
    pub answer: Option<(usize, bool)>,
    /// The text of the trailer, which is empty if the result set is complete.
    pub trailer: Option<Range<usize>>,
    pub metadata: Vec<Range<usize>>,
}

impl ResultFrame {
    pub fn read(bytes: &[u8]) -> Located<Self> {
        let mut parts = Self::default();
        let mut fields = Fields::new(bytes, &(0..bytes.len()), "the frame");
        while let Some(field) = fields.next()? {
            match field.number {
                1 => {
                    let range = fields.bytes(&field)?;
                    let (_, merged) = parts.options.get_or_insert((field.start, Vec::new()));
                    merged.extend_from_slice(&bytes[range]);
                }
                2 => fields.push_bytes(&field, &mut parts.variables)?,
                3 => {
                    parts.rows = fields.number(&field)?;
                    if parts.rows > MAX_ROWS {
                        let reason = format!("row_count is {}, more than {MAX_ROWS}", parts.rows);
                        return Err(fault(field.start, reason));
                    }
                }
                4..=6 => {
                    let table = &mut parts.tables[field.number as usize - 4];
                    fields.push_bytes(&field, table)?;
                }
                7 => fields.push_bytes(&field, &mut parts.columns)?,
                8 => {
                    let range = fields.bytes(&field)?;
                    let (_, before) = parts.answer.unwrap_or((field.start, false));
                    parts.answer = Some((field.start, read_answer(bytes, &range, before)?));
                }
                9 => {
                    let range = fields.bytes(&field)?;
                    let before = parts.trailer.unwrap_or(range.start..range.start);
                    parts.trailer = Some(read_trailer(bytes, &range, before)?);
                }
                15 => fields.push_bytes(&field, &mut parts.metadata)?,
                other => return Err(fields.unknown(field.start, other)),
            }
        }
        Ok(parts)
    }

    /// Returns the names of the variables.
    pub fn names<'a>(&self, bytes: &'a [u8]) -> Located<Vec<&'a str>> {
        let mut names = Vec::with_capacity(self.variables.len());
        for range in &self.variables {
            let name = &bytes[range.clone()];
            if is_message(name) {
                let reason = format!(
                    "a variable is a message, expected a string; Jelly-SPARQL is a draft, and rdfm reads {DRAFT}"
                );
                let error = WireError::new(ErrorClass::Unsupported, reason);
                return Err(error).locate(range.start);
            }
            if name.is_empty() {
                return Err(fault(range.start, "the name of a variable is empty"));
            }
            names.push(check_utf8(name, "the name of a variable").locate(range.start)?);
        }
        Ok(names)
    }

    /// Returns the last links in the metadata, if any, and the number of other entries.
    pub fn links(&self, bytes: &[u8]) -> Located<(Option<Vec<Box<str>>>, u64)> {
        let (mut links, mut others) = (None, 0);
        for range in &self.metadata {
            let (key, value) = key_and_value(&bytes[range.clone()]).locate(range.start)?;
            // The definition says that links that are not UTF-8 are ignored.
            if let (LINK, Ok(text)) = (key, std::str::from_utf8(value)) {
                let iris = text.split('\n').filter(|iri| !iri.is_empty());
                links = Some(iris.map(Into::into).collect());
            } else {
                others += 1;
            }
        }
        Ok((links, others))
    }
}

/// Whether the name of a variable is a message with a name, as in earlier states of the draft.
pub(super) fn is_message(name: &[u8]) -> bool {
    let mut wire = Wire::new(name);
    if !matches!(wire.read_tag(), Ok((1, 2))) || wire.read_bytes().is_err() {
        return false;
    }
    wire.is_done()
        || (matches!(wire.read_tag(), Ok((2, 0))) && wire.read_varint().is_ok() && wire.is_done())
}

fn read_answer(bytes: &[u8], range: &Range<usize>, mut answer: bool) -> Located<bool> {
    let mut fields = Fields::new(bytes, range, "the ASK result");
    while let Some(field) = fields.next()? {
        match field.number {
            1 => answer = fields.number(&field)? != 0,
            other => return Err(fields.unknown(field.start, other)),
        }
    }
    Ok(answer)
}

fn read_trailer(
    bytes: &[u8],
    range: &Range<usize>,
    mut text: Range<usize>,
) -> Located<Range<usize>> {
    let mut fields = Fields::new(bytes, range, "the trailer");
    while let Some(field) = fields.next()? {
        match field.number {
            1 => text = fields.bytes(&field)?,
            other => return Err(fields.unknown(field.start, other)),
        }
    }
    check_utf8(&bytes[text.clone()], "the error in the trailer").locate(text.start)?;
    Ok(text)
}

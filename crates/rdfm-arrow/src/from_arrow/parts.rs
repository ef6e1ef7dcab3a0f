//! A column of terms from another producer, as N-Triples or as structs.
//!
//! - In: strings, or structs of kind, value, datatype, language and direction in any order, of
//!   which only kind and value are required. Out: the N-Triples form of a term, or `None` for null.
//! - Cost: structs are converted to N-Triples once and then parsed, so that a single grammar
//!   defines valid terms.
//! - Law: a struct is rejected if its N-Triples form would not contain all of its information.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::NullBuffer;
use rdfm_core::model::error::{ErrorClass, quote};
use rdfm_core::model::term::XSD_STRING;
use rdfm_core::model::write::{write_iri, write_string};

use super::strings::Strings;
use crate::error::Error;
use crate::schema::{DETAILS, RDF_DIR_LANG_STRING, RDF_LANG_STRING};

/// Two limits for the size of a column's terms as N-Triples: a number of bytes, and a multiple of
/// the size of the column's arrays. The larger one applies. Only columns with dictionary-encoded
/// fields can exceed it.
const MIN_ROOM: usize = 256 << 20;
const GROWTH: usize = 8;

/// A column of terms.
pub struct TermColumn {
    texts: Strings,
    /// Errors in invalid terms, by row.
    errors: BTreeMap<usize, String>,
}

impl TermColumn {
    /// Reads a column. `name` is used in errors.
    pub fn new(array: &ArrayRef, name: &str) -> Result<Self, Error> {
        let Some(structs) = array.as_struct_opt() else {
            let texts = Strings::new(array, name)?;
            let errors = BTreeMap::new();
            return Ok(Self { texts, errors });
        };
        let room = MIN_ROOM.max(structs.get_array_memory_size().saturating_mul(GROWTH));
        TermStructs::new(structs, name)?.to_ntriples(room, name)
    }

    /// Returns the N-Triples form of a term, or `None` if it is null.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.texts.get(index)
    }

    /// Returns the reason why the term in a row is invalid, or `None` if it is valid.
    pub fn invalid_reason(&self, index: usize) -> Option<String> {
        let error = self.errors.get(&index).cloned();
        error.or_else(|| self.texts.invalid_reason(index))
    }
}

/// Terms as structs.
struct TermStructs {
    nulls: Option<NullBuffer>,
    count: usize,
    kinds: Strings,
    values: Strings,
    /// Datatypes, languages and directions, if these fields are present.
    details: [Option<Strings>; 3],
}

impl TermStructs {
    fn new(structs: &StructArray, name: &str) -> Result<Self, Error> {
        let field = |field: &str| {
            let column = structs.column_by_name(field);
            let named = || format!("{name}.{field}");
            column
                .map(|array| Strings::new(array, &named()))
                .transpose()
        };
        let [kinds, values, datatypes, languages, directions] = DETAILS.map(field);
        let (Some(kinds), Some(values)) = (kinds?, values?) else {
            return Err(Error::wrong_columns(format!(
                "column {name}: expected strings, or structs of kind, value, datatype, language and direction, found {}",
                structs.data_type()
            )));
        };
        Ok(Self {
            nulls: structs.nulls().cloned(),
            count: structs.len(),
            kinds,
            values,
            details: [datatypes?, languages?, directions?],
        })
    }

    /// Writes the terms as N-Triples, using at most `room` bytes.
    fn to_ntriples(&self, room: usize, name: &str) -> Result<TermColumn, Error> {
        let mut bytes = Vec::new();
        let mut offsets: Vec<i64> = Vec::with_capacity(self.count + 1);
        offsets.push(0);
        let mut valid = Vec::with_capacity(self.count);
        let mut errors = BTreeMap::new();
        for index in 0..self.count {
            let start = bytes.len();
            let is_present = match self.write(index, &mut bytes) {
                Ok(is_present) => is_present,
                Err(reason) => {
                    bytes.truncate(start);
                    errors.insert(index, reason);
                    true
                }
            };
            if bytes.len() > room {
                let reason = format!(
                    "the terms in column {name} need more than {room} bytes in one batch of rows; use smaller batches"
                );
                return Err(Error::with_class(ErrorClass::Limit, reason));
            }
            valid.push(is_present);
            offsets.push((bytes.len() as u64).cast_signed());
        }
        Ok(TermColumn {
            texts: Strings::from_buffers(bytes, offsets, valid),
            errors,
        })
    }

    /// Appends a term. Returns false if it is null.
    fn write(&self, index: usize, out: &mut Vec<u8>) -> Result<bool, String> {
        if self
            .nulls
            .as_ref()
            .is_some_and(|nulls| nulls.is_null(index))
        {
            return Ok(false);
        }
        let [datatype, language, direction] = self
            .details
            .each_ref()
            .map(|strings| strings.as_ref().and_then(|strings| strings.get(index)));
        let fields = [Some(&self.kinds), Some(&self.values)].into_iter();
        let fields = fields.chain(self.details.each_ref().map(Option::as_ref));
        // `get` returns an empty string for an invalid value, but a valid value may also be empty.
        if let Some(reason) = fields
            .flatten()
            .find_map(|strings| strings.invalid_reason(index))
        {
            return Err(reason);
        }
        let value = self.values.get(index);
        let Some(kind) = self.kinds.get(index) else {
            // Tools without null structs write a struct with null fields instead.
            if [value, datatype, language, direction]
                .iter()
                .all(Option::is_none)
            {
                return Ok(false);
            }
            return Err(format!("expected a kind ({KINDS}), found null"));
        };
        let value = value.ok_or_else(|| "expected a value, found null".to_owned())?;
        if kind == b"literal" {
            write_literal(value, datatype, language, direction, out)?;
            return Ok(true);
        }
        let kind_name = std::str::from_utf8(kind).unwrap_or_default();
        match kind_name {
            "iri" => write_iri(value, false, out),
            "blank node" => {
                out.extend_from_slice(b"_:");
                out.extend_from_slice(value);
            }
            "triple term" if value.starts_with(b"<<") => out.extend_from_slice(value),
            "triple term" => {
                return Err(format!(
                    "expected a triple term as N-Triples in value, found {}",
                    quote(value)
                ));
            }
            _ => return Err(format!("expected a kind ({KINDS}), found {}", quote(kind))),
        }
        for (name, detail) in DETAILS[2..].iter().zip([datatype, language, direction]) {
            if let Some(detail) = detail {
                return Err(format!(
                    "expected null for {name} (the kind is {kind_name}, not literal), found {}",
                    quote(detail)
                ));
            }
        }
        Ok(true)
    }
}

const KINDS: &str = "iri, bnode, literal or triple term";

fn write_literal(
    value: &[u8],
    datatype: Option<&[u8]>,
    language: Option<&[u8]>,
    direction: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    write_string(value, false, out);
    let Some(language) = language else {
        if direction.is_some() {
            return Err("expected a language (the literal has a direction), found null".to_owned());
        }
        match datatype {
            None | Some(XSD_STRING) => {}
            Some(datatype) => {
                out.extend_from_slice(b"^^");
                write_iri(datatype, false, out);
            }
        }
        return Ok(());
    };
    let (expected, name, tagged) = match direction {
        None => (RDF_LANG_STRING, "langString", "a language"),
        Some(_) => (RDF_DIR_LANG_STRING, "dirLangString", "a direction"),
    };
    if let Some(given) = datatype.filter(|given| *given != expected) {
        return Err(format!(
            "expected the datatype rdf:{name} or null (the literal has {tagged}), found {}",
            quote(given)
        ));
    }
    out.push(b'@');
    out.extend_from_slice(language);
    match direction {
        None => {}
        Some(direction @ (b"ltr" | b"rtl")) => {
            out.extend_from_slice(b"--");
            out.extend_from_slice(direction);
        }
        Some(other) => {
            return Err(format!(
                "expected the direction ltr or rtl, found {}",
                quote(other)
            ));
        }
    }
    Ok(())
}

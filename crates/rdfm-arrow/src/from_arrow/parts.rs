//! A column of terms from another producer: as N-Triples or as structs.
//!
//! - In: strings, or structs of kind, value, datatype, language and direction, in any order; only
//!   kind and value are required. Out: the N-Triples form of a term, or `None` for null.
//! - Cost: structs are written as N-Triples once and then read like N-Triples, so that a single
//!   grammar defines a valid term.
//! - Law: the N-Triples form states everything that a struct states, or the struct is rejected.

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

/// Limit of the N-Triples form of a record batch's terms, in bytes, or as a multiple of the size of
/// its arrays. Only terms whose fields are dictionary-encoded can exceed it.
const ROOM: usize = 256 << 20;
const GROWTH: usize = 8;

/// A column of terms.
pub struct Part {
    texts: Strings,
    /// Errors of invalid terms, by row.
    wrong: BTreeMap<usize, String>,
}

impl Part {
    /// Reads the column with a name.
    pub fn new(array: &ArrayRef, name: &str) -> Result<Self, Error> {
        let Some(structs) = array.as_struct_opt() else {
            let texts = Strings::new(array, name)?;
            let wrong = BTreeMap::new();
            return Ok(Self { texts, wrong });
        };
        let room = ROOM.max(structs.get_array_memory_size().saturating_mul(GROWTH));
        Structs::new(structs, name)?.written(room, name)
    }

    /// Returns the N-Triples form of a term, or `None` if it is null.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        self.texts.get(at)
    }

    /// Returns the reason if the term in a row is invalid.
    pub fn wrong(&self, at: usize) -> Option<String> {
        let wrong = self.wrong.get(&at).cloned();
        wrong.or_else(|| self.texts.wrong(at))
    }
}

/// Terms as structs.
struct Structs {
    nulls: Option<NullBuffer>,
    count: usize,
    kinds: Strings,
    values: Strings,
    /// Datatypes, languages and directions, if present.
    details: [Option<Strings>; 3],
}

impl Structs {
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
            return Err(Error::shape(format!(
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

    /// Writes the terms as N-Triples, in at most `room` bytes.
    fn written(&self, room: usize, name: &str) -> Result<Part, Error> {
        let mut bytes = Vec::new();
        let mut offsets: Vec<i64> = Vec::with_capacity(self.count + 1);
        offsets.push(0);
        let mut valid = Vec::with_capacity(self.count);
        let mut wrong = BTreeMap::new();
        for at in 0..self.count {
            let start = bytes.len();
            let there = match self.write(at, &mut bytes) {
                Ok(there) => there,
                Err(reason) => {
                    bytes.truncate(start);
                    wrong.insert(at, reason);
                    true
                }
            };
            if bytes.len() > room {
                let reason = format!(
                    "the terms in column {name} need more than {room} bytes in one batch of rows; use smaller batches"
                );
                return Err(Error::refused(ErrorClass::Limit, reason));
            }
            valid.push(there);
            offsets.push((bytes.len() as u64).cast_signed());
        }
        Ok(Part {
            texts: Strings::written(bytes, offsets, valid),
            wrong,
        })
    }

    /// Appends a term; returns whether there is one.
    fn write(&self, at: usize, out: &mut Vec<u8>) -> Result<bool, String> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(at)) {
            return Ok(false);
        }
        let [datatype, language, direction] = self
            .details
            .each_ref()
            .map(|strings| strings.as_ref().and_then(|strings| strings.get(at)));
        let fields = [Some(&self.kinds), Some(&self.values)].into_iter();
        let fields = fields.chain(self.details.each_ref().map(Option::as_ref));
        // An invalid text is empty, as some valid ones are.
        if let Some(reason) = fields.flatten().find_map(|strings| strings.wrong(at)) {
            return Err(reason);
        }
        let value = self.values.get(at);
        let Some(kind) = self.kinds.get(at) else {
            // Tools that support null fields but not null structs write a null struct like this.
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
        let known = std::str::from_utf8(kind).unwrap_or_default();
        match known {
            "iri" => write_iri(value, false, out),
            "bnode" => {
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
        for (name, found) in DETAILS[2..].iter().zip([datatype, language, direction]) {
            if let Some(found) = found {
                return Err(format!(
                    "expected null for {name} (the kind is {known}, not literal), found {}",
                    quote(found)
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
    if let Some(found) = datatype.filter(|found| *found != expected) {
        return Err(format!(
            "expected the datatype rdf:{name} or null (the literal has {tagged}), found {}",
            quote(found)
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

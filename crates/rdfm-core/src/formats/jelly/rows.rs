//! Rows to quads: the state of a log being read, row by row.
//!
//! - In: the payload of one row ([`Rows::row`]), and metadata entries.
//! - Out: quads, namespaces and metadata in the builder.
//! - Law: what the specification calls an error is one.

use std::collections::HashMap;

use super::frames::{self, EMPTY_ROW, row_field};
use super::lookup::FrameStart;
use super::options::{JellyOptions, MAX_VERSION, PhysicalType, Reading};
use super::term_reader::{GRAPH, QUAD_FIELDS, Slot, TRIPLE_FIELDS, TermReader, skip_all};
use crate::model::error::{ErrorClass, quote};
use crate::model::term::Quad;
use crate::syntax::wire::{Checked, LENGTH, VARINT, Wire, WireError, malformed, utf8};

/// Names of the row's fields, by number.
const ROWS: [&str; 12] = [
    "",
    "options",
    "triple",
    "quad",
    "graph_start",
    "graph_end",
    "namespace",
    "",
    "",
    "name",
    "prefix",
    "datatype",
];
/// Their numbers as a set.
const ROW_FIELDS: u32 = 0b1110_0111_1110;
/// The state of a log.
pub(super) struct Rows {
    pub terms: TermReader<Quad>,
    pub options: Option<JellyOptions>,
    in_graph: bool,
    physical: PhysicalType,
    metadata: Vec<(Box<str>, Box<[u8]>)>,
    metadata_keys: HashMap<Box<str>, usize>,
}

impl Rows {
    pub fn new(options: &Reading) -> Self {
        Self {
            terms: TermReader::new(options),
            options: None,
            in_graph: false,
            physical: PhysicalType::Triples,
            metadata: Vec::new(),
            metadata_keys: HashMap::new(),
        }
    }

    /// Goes to the start of another log, where the builder is already.
    pub fn reset(&mut self) {
        self.terms.reset();
        self.options = None;
        self.in_graph = false;
        self.physical = PhysicalType::Triples;
        self.metadata.clear();
        self.metadata_keys.clear();
    }

    /// Takes a metadata entry of the open frame; the last of equal keys counts.
    pub fn metadata_entry(&mut self, bytes: &[u8]) -> Checked<()> {
        let (key, value) = key_and_value(bytes)?;
        self.terms.builder.charge(key.len() + value.len() + 128)?;
        if let Some(&at) = self.metadata_keys.get(key) {
            self.metadata[at].1 = value.into();
        } else {
            self.metadata_keys.insert(key.into(), self.metadata.len());
            self.metadata.push((key.into(), value.into()));
        }
        Ok(())
    }

    /// Checks a metadata entry that is not taken here.
    pub fn check_metadata(bytes: &[u8]) -> Checked<()> {
        key_and_value(bytes).map(|_| ())
    }

    /// Ends a frame: its metadata goes to the open message.
    pub fn end_frame(&mut self) -> Checked<()> {
        if self.metadata.is_empty() {
            return Ok(());
        }
        self.metadata_keys.clear();
        for (key, value) in std::mem::take(&mut self.metadata) {
            self.terms.builder.add_metadata(&key, &value)?;
        }
        Ok(())
    }

    /// Takes a row.
    #[inline]
    pub fn row(&mut self, bytes: &[u8]) -> Checked<()> {
        let mut wire = Wire::new(bytes);
        // Nearly always the row is one field.
        if let Ok((field, payload)) = wire.field(ROW_FIELDS, "the row")
            && wire.is_done()
        {
            return self.typed_row(field, payload);
        }
        self.odd_row(bytes)
    }

    /// Takes the start of a frame: one that repeats the stream options may begin another stream.
    #[inline]
    pub fn begin_frame(&mut self, bytes: &[u8], at: FrameStart) {
        if self.options.is_some() && frames::begins_with_options(bytes, ROW_FIELDS) {
            self.terms.repeat_options(at);
        }
    }

    #[cold]
    fn odd_row(&mut self, bytes: &[u8]) -> Checked<()> {
        let (row, payload) = row_field(bytes, ROW_FIELDS)?;
        self.typed_row(row, &payload)
    }

    #[inline]
    fn typed_row(&mut self, field: usize, payload: &[u8]) -> Checked<()> {
        if self.options.is_none() && field != 1 {
            return Err(before_options(field));
        }
        match field {
            2 if self.physical != PhysicalType::Quads => {
                if self.physical == PhysicalType::Graphs && !self.in_graph {
                    return Err(malformed("a triple stands outside a graph"));
                }
                self.statement(payload, TRIPLE_FIELDS)
            }
            3 if self.physical == PhysicalType::Quads => self.statement(payload, QUAD_FIELDS),
            9 => self.terms.name_entry(payload),
            10 => self.terms.prefix_entry(payload),
            11 => self.terms.datatype_entry(payload),
            1 => self.stream_options(payload),
            4 if self.physical == PhysicalType::Graphs => self.graph_start(payload),
            5 if self.physical == PhysicalType::Graphs => self.graph_end(payload),
            6 => self.namespace(payload),
            2..=5 => Err(malformed(format!(
                "a {} row in a log of physical type {}",
                ROWS[field],
                self.physical.name()
            ))),
            _ => Err(malformed(EMPTY_ROW)),
        }
    }

    fn stream_options(&mut self, bytes: &[u8]) -> Checked<()> {
        let (options, physical) = parse_options(bytes)?;
        if let Some(first) = &self.options {
            if *first == options && physical == self.physical as u32 {
                return Ok(());
            }
            return Err(malformed(
                "the stream options differ from those at the start of the log",
            ));
        }
        if options.version == 0 {
            return Err(malformed("the version is 0 or missing, expected 1 or 2"));
        }
        if options.version > MAX_VERSION {
            return Err(WireError::new(
                ErrorClass::Unsupported,
                format!(
                    "version {} is newer than {MAX_VERSION}, the newest that rdfm reads",
                    options.version
                ),
            ));
        }
        self.physical = PhysicalType::from_number(physical).ok_or_else(|| {
            malformed(format!(
                "physical type {physical} is not allowed, expected 1 (TRIPLES), 2 (QUADS) or 3 (GRAPHS)"
            ))
        })?;
        let graphs = self.physical != PhysicalType::Triples;
        self.terms
            .open(options.tables(), options.rdf_star, graphs)?;
        options.check_types().map_err(malformed)?;
        self.options = Some(options);
        Ok(())
    }

    /// A triple or quad row.
    #[inline]
    fn statement(&mut self, bytes: &[u8], fields: u32) -> Checked<()> {
        let ids = self.terms.statement(bytes, fields)?;
        self.terms.builder.add_quad(Quad {
            subject: ids[0],
            predicate: ids[1],
            object: ids[2],
            graph: ids[GRAPH],
        })?;
        Ok(())
    }

    fn graph_start(&mut self, bytes: &[u8]) -> Checked<()> {
        if self.in_graph {
            return Err(malformed("a graph starts inside another graph"));
        }
        let mut slot = Slot::default();
        let mut merged = Vec::new();
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            let (field, payload) = wire.field(0b11110, "the graph start")?;
            if field == 0 {
                continue;
            }
            if field != slot.field || field == 2 {
                merged.clear();
            }
            slot.field = field;
            merged.extend_from_slice(payload);
        }
        if slot.field == 0 {
            return Err(malformed(
                "a graph start without a graph; terms cannot be repeated there",
            ));
        }
        slot.field += 12;
        slot.bytes = &merged;
        self.terms.set_graph(slot)?;
        self.in_graph = true;
        Ok(())
    }

    fn graph_end(&mut self, bytes: &[u8]) -> Checked<()> {
        skip_all(bytes)?;
        if !self.in_graph {
            return Err(malformed("a graph ends where none has started"));
        }
        self.in_graph = false;
        Ok(())
    }

    fn namespace(&mut self, bytes: &[u8]) -> Checked<()> {
        let mut name = &[][..];
        let mut value: Option<Vec<u8>> = None;
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            match wire.field(0b110, "the namespace declaration")? {
                (1, payload) => name = payload,
                (2, payload) => value.get_or_insert_default().extend_from_slice(payload),
                _ => {}
            }
        }
        let name = utf8(name, "a namespace's name")?;
        let Some(value) = value else {
            return Err(malformed(format!(
                "the namespace declaration of {} has no IRI",
                quote(name.as_bytes())
            )));
        };
        let iri = self.terms.iri_text(&value)?;
        self.terms.builder.add_namespace(name.as_bytes(), &iri)?;
        Ok(())
    }
}

#[cold]
fn before_options(field: usize) -> WireError {
    if field == 0 {
        return malformed(EMPTY_ROW);
    }
    malformed(format!(
        "the log begins with a {} row, expected the stream options",
        ROWS[field]
    ))
}

/// The options as they stand, and the number of the physical type.
fn parse_options(bytes: &[u8]) -> Checked<(JellyOptions, u32)> {
    let mut options = JellyOptions {
        stream_name: String::new(),
        physical_type: PhysicalType::Triples,
        logical_type: 0,
        generalized: false,
        rdf_star: false,
        name_table: 0,
        prefix_table: 0,
        datatype_table: 0,
        version: 0,
    };
    let mut physical = 0;
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, kind) = wire.tag()?;
        let expected = match field {
            1 => LENGTH,
            2..=4 | 9..=11 | 14 | 15 => VARINT,
            _ => {
                wire.skip(field, kind)?;
                continue;
            }
        };
        Wire::expect(kind, expected, field, "the stream options")?;
        match field {
            1 => utf8(wire.bytes()?, "the stream name")?.clone_into(&mut options.stream_name),
            2 => physical = wire.varint32()?,
            3 => options.generalized = wire.varint()? != 0,
            4 => options.rdf_star = wire.varint()? != 0,
            9 => options.name_table = wire.varint32()?,
            10 => options.prefix_table = wire.varint32()?,
            11 => options.datatype_table = wire.varint32()?,
            14 => options.logical_type = wire.varint32()?,
            _ => options.version = wire.varint32()?,
        }
    }
    if let Some(known) = PhysicalType::from_number(physical) {
        options.physical_type = known;
    }
    Ok((options, physical))
}

/// What the rows of a frame say first.
pub(super) enum FirstRow {
    /// There is none.
    None,
    Options(JellyOptions),
    /// What no log may begin with: reading it tells the error.
    Other,
}

/// Looks at the first row of a frame, and reads nothing.
pub(super) fn first_row(frame: &[u8]) -> FirstRow {
    match frames::first_row(frame, ROW_FIELDS) {
        frames::FirstRow::None => FirstRow::None,
        frames::FirstRow::Row(1, payload) => match parse_options(&payload) {
            Ok((options, _)) => FirstRow::Options(options),
            Err(_) => FirstRow::Other,
        },
        _ => FirstRow::Other,
    }
}

/// Key and value of a metadata entry.
fn key_and_value(bytes: &[u8]) -> Checked<(&str, &[u8])> {
    let (mut key, mut value) = (&[][..], &[][..]);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.field(0b110, "the metadata")? {
            (1, payload) => key = payload,
            (2, payload) => value = payload,
            _ => {}
        }
    }
    Ok((utf8(key, "a metadata key")?, value))
}

//! Decodes rows into quads, and stores the state of a log between rows.
//!
//! - In: the payload of one row ([`RowHandler::row`]).
//! - Out: quads and namespaces in the builder.
//! - Law: everything that the specification calls an error is an error.

use super::columns::ColumnReader;
use super::decode::{MessageEnd, RowHandler};
use super::frames::{EMPTY_ROW, FRAME_FIELDS, Frame};
use super::lookup::wrong_mark;
use super::options::{COLUMNS_VERSION, FrameMeaning, OptionsRow, PhysicalType, ReadSettings};
use super::term_reader::{GRAPH, QUAD_FIELDS, TRIPLE_FIELDS, TermField, TermReader, skip_all};
use super::usual_rows::RowTags;
use crate::codec::values::Value;
use crate::model::error::quote;
use crate::model::term::{Quad, TermId};
use crate::syntax::wire::{Checked, Wire, WireError, check_utf8, malformed_error};

/// Names of the row's fields, by number.
pub(super) const ROW_NAMES: [&str; 12] = [
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

/// Tags of the usual rows of a log of triples, and of a log of quads.
const TRIPLES: RowTags = RowTags {
    statements: [0x12; 2],
    name: 0x4a,
};
const QUADS: RowTags = RowTags {
    statements: [0x1a; 2],
    ..TRIPLES
};

/// Decoding state of a log.
pub(super) struct QuadRows {
    terms: TermReader<Quad>,
    in_graph: bool,
    physical: PhysicalType,
    /// Whether the version has namespaces, or namespaces were reported.
    expects_namespaces: bool,
    /// Decoding state of a log in the column layout.
    columns: Option<ColumnReader>,
}

impl RowHandler for QuadRows {
    type Record = Quad;

    const FILE: &'static str = "a Jelly file";
    const OPTIONS: &'static str = "the stream options";
    const OPTION_NUMBERS: u32 = 0b1100_1110_0111_1100;
    const VERSIONS: (u32, &'static str) = (COLUMNS_VERSION, "1, 2 or 3");
    const FRAME_FIELDS: u32 = FRAME_FIELDS;
    const NAMES: &'static [&'static str] = &ROW_NAMES;
    const FIELDS: u32 = 0b1110_0111_1110;
    const FLAT_TYPE: Option<fn(&OptionsRow) -> String> = Some(OptionsRow::type_name);

    fn new(reading: &ReadSettings) -> Self {
        Self {
            terms: TermReader::new(reading),
            in_graph: false,
            physical: PhysicalType::Triples,
            expects_namespaces: false,
            columns: None,
        }
    }

    fn reset(&mut self) {
        self.in_graph = false;
        self.physical = PhysicalType::Triples;
        self.columns = None;
    }

    #[inline]
    fn terms(&mut self) -> &mut TermReader<Quad> {
        &mut self.terms
    }

    #[inline]
    fn terms_read(&self) -> &TermReader<Quad> {
        &self.terms
    }

    fn requested_ends(reading: &ReadSettings) -> Option<MessageEnd> {
        reading.frames.map(|frames| match frames {
            FrameMeaning::Message => MessageEnd::Frame,
            FrameMeaning::Flat => MessageEnd::Log,
        })
    }

    fn ends(options: Option<&OptionsRow>, _reading: &ReadSettings) -> MessageEnd {
        if options.is_some_and(OptionsRow::is_flat) {
            MessageEnd::Log
        } else {
            MessageEnd::Frame
        }
    }

    fn values(options: &OptionsRow) -> Vec<(&'static str, Value)> {
        options.values()
    }

    fn open(&mut self, options: &OptionsRow) -> Checked<()> {
        if options.version == COLUMNS_VERSION {
            return Err(malformed_error(
                "a file of version 3 was joined to one of an earlier version; split the log there, and read both files",
            ));
        }
        let number = options.physical_type;
        self.physical = PhysicalType::from_number(number).ok_or_else(|| {
            malformed_error(format!(
                "physical type {number} is not allowed, expected 1 (TRIPLES), 2 (QUADS) or 3 (GRAPHS)"
            ))
        })?;
        self.expects_namespaces = options.version >= 2;
        let graphs = self.physical != PhysicalType::Triples;
        self.terms.open(options, graphs)?;
        options.check_types(self.physical).map_err(malformed_error)
    }

    fn begin_columns(&mut self) -> bool {
        self.columns = Some(ColumnReader::default());
        true
    }

    #[inline]
    fn columns(&mut self) -> Option<(&mut ColumnReader, &mut TermReader<Quad>)> {
        let columns = self.columns.as_mut()?;
        Some((columns, &mut self.terms))
    }

    fn column_bytes(&self) -> Vec<(&'static str, u64)> {
        let columns = self.columns.as_ref();
        columns.map(ColumnReader::sizes).unwrap_or_default()
    }

    fn begin_stream(&mut self) {
        self.in_graph = false;
    }

    #[inline(never)]
    fn usual_rows(&mut self, bytes: &[u8], frame: &mut Frame, parts: bool) -> Checked<bool> {
        let terms = &mut self.terms;
        let record = |_, ids| quad(ids);
        match self.physical {
            PhysicalType::Quads => terms.usual_rows::<true>(&QUADS, bytes, frame, parts, record),
            PhysicalType::Graphs if !self.in_graph => Ok(false),
            _ => terms.usual_rows::<false>(&TRIPLES, bytes, frame, parts, record),
        }
    }

    #[inline]
    fn row(&mut self, field: usize, payload: &[u8]) -> Checked<()> {
        match field {
            2 if self.physical != PhysicalType::Quads => {
                if self.physical == PhysicalType::Graphs && !self.in_graph {
                    return Err(self.outside_graph("a triple is outside a graph"));
                }
                self.statement(payload, TRIPLE_FIELDS)
            }
            3 if self.physical == PhysicalType::Quads => self.statement(payload, QUAD_FIELDS),
            9 => self.terms.name_entry(payload),
            10 => self.terms.prefix_entry(payload),
            11 => self.terms.datatype_entry(payload),
            1 => self.options(payload),
            4 if self.physical == PhysicalType::Graphs => self.graph_start(payload),
            5 if self.physical == PhysicalType::Graphs => self.graph_end(payload),
            6 => self.namespace(payload),
            2..=5 => Err(malformed_error(format!(
                "a {} row in a log of physical type {}",
                ROW_NAMES[field],
                self.physical.name()
            ))),
            _ => Err(malformed_error(EMPTY_ROW)),
        }
    }
}

#[inline]
fn quad(ids: [TermId; 4]) -> Quad {
    Quad {
        subject: ids[0],
        predicate: ids[1],
        object: ids[2],
        graph: ids[GRAPH],
    }
}

impl QuadRows {
    /// Decodes a triple or quad row.
    #[inline]
    fn statement(&mut self, bytes: &[u8], fields: u32) -> Checked<()> {
        let ids = self.terms.statement(bytes, fields)?;
        self.terms.builder.add_quad(quad(ids))?;
        Ok(())
    }

    /// Returns the error for a row that needs an open graph. The graph may have started before an
    /// incorrect restart mark.
    #[cold]
    fn outside_graph(&self, reason: &str) -> WireError {
        match self.terms.mark {
            Some(mark) => wrong_mark(mark, reason),
            None => malformed_error(reason),
        }
    }

    fn graph_start(&mut self, bytes: &[u8]) -> Checked<()> {
        if self.in_graph {
            return Err(malformed_error("a graph starts inside another graph"));
        }
        let mut slot = TermField::default();
        let mut merged = Vec::new();
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            let (field, payload) = wire.read_field(0b11110, "the graph start")?;
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
            return Err(malformed_error(
                "a graph start does not specify its graph; terms cannot be repeated in such rows",
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
            return Err(self.outside_graph("a graph ends, but none has started"));
        }
        self.in_graph = false;
        Ok(())
    }

    fn namespace(&mut self, bytes: &[u8]) -> Checked<()> {
        if !self.expects_namespaces {
            self.expects_namespaces = true;
            let text = "the stream options have version 1, but the log declares namespaces, which need version 2";
            self.terms.suspicious.push(("beyond-version", text));
        }
        let mut name = &[][..];
        let mut value: Option<Vec<u8>> = None;
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            match wire.read_field(0b110, "the namespace declaration")? {
                (1, payload) => name = payload,
                (2, payload) => value.get_or_insert_default().extend_from_slice(payload),
                _ => {}
            }
        }
        let name = check_utf8(name, "a namespace's name")?;
        let Some(value) = value else {
            return Err(malformed_error(format!(
                "the namespace declaration of {} has no IRI",
                quote(name.as_bytes())
            )));
        };
        let iri = self.terms.iri_text(&value)?;
        // A restart frame redeclares the current namespaces.
        let in_force = self.terms.builder.in_force().get(name.as_bytes());
        if self.terms.repeats_options && in_force == Some(iri.as_slice()) {
            return Ok(());
        }
        self.terms.builder.add_namespace(name.as_bytes(), &iri)?;
        Ok(())
    }
}

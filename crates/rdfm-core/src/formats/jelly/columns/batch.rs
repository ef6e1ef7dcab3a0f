//! Reads the columns of a frame as a batch of statements.
//!
//! - In: the ranges of the `columns` field, the open stream ([`Stream`]), and its lookup tables.
//! - Out: lookup entries, namespaces, and then statements and message ends in the builder.
//! - Cost: one pass that checks the columns, and one that expands them.
//! - Law: nothing of a batch is added before all of it has been checked. Limits apply to each
//!   statement before it is stored.

use std::ops::Range;

use super::column::{Column, ColumnRules, GRAPHS, OBJECTS, PREDICATES, SUBJECTS, Version};
use super::cursor::{CHUNK, CellCursor};
use super::entries::{Tables, set_entries};
use super::fields::{Fault, FieldValue, Fields, List, Locate as _, Located, Numbers, fault};
use super::triples::{IriState, iri};
use crate::formats::jelly::term_reader::TermReader;
use crate::model::error::quote;
use crate::model::term::{Quad, TermId};
use crate::syntax::wire::{LENGTH, WireError, check_utf8, put_bytes, put_varint};

/// Largest number of rows that the layout of a column can express.
pub(in crate::formats::jelly) const MAX_ROWS: u32 = (1 << 27) - 1;
/// Field numbers of the row count and the message lengths.
pub(super) const ROW_COUNT: u32 = 1;
pub(super) const LENGTHS: u32 = 15;
/// Names of the parts of a batch whose sizes are counted: lookup entries, and columns.
pub(in crate::formats::jelly) const SIZED: [&str; 7] = [
    "names",
    "prefixes",
    "datatypes",
    "subjects",
    "predicates",
    "objects",
    "graphs",
];
/// The columns, in the order of their fields, the first of which is field 6.
const RULES: [ColumnRules; 4] = [SUBJECTS, PREDICATES, OBJECTS, GRAPHS];
const FIRST_COLUMN: u32 = 6;
const GRAPH: usize = 3;

/// What the stream options say about all batches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    /// Whether statements have a graph.
    pub quads: bool,
    /// Whether the stream consists of messages. Otherwise it is one message.
    pub messages: bool,
    pub version: Version,
}

/// The fields of a batch.
#[derive(Default)]
struct BatchParts {
    /// Index of the first byte.
    start: usize,
    rows: u32,
    tables: Tables,
    namespaces: Vec<Range<usize>>,
    columns: [Option<Range<usize>>; 4],
    lengths: List,
    /// Whether a column occurs more than once.
    repeats: bool,
}

/// A namespace declaration, with the index of its first byte.
struct Namespace {
    start: usize,
    name: Vec<u8>,
    iri: Vec<u8>,
}

/// The cells of rows that are being added: subjects, predicates, objects and graphs. Without a
/// column of graphs, all graphs are the default graph.
struct Chunk([[TermId; CHUNK]; 4]);

/// A batch that is being expanded.
pub(super) struct ColumnBatch {
    /// The bytes, if they differ from those in the frame, because protobuf merges fields.
    merged: Option<Vec<u8>>,
    /// Number of rows that are left.
    left: u32,
    row: u64,
    cursors: [CellCursor; 3],
    graphs: Option<CellCursor>,
    chunk: Chunk,
    lengths: Numbers,
    /// Rows that are left of a message, and whether it ends after them.
    segment: Option<(u32, bool)>,
    /// Number of messages that end or begin with rows of the batch.
    pub messages: u64,
    /// Number of bytes of each of the [`SIZED`] parts.
    pub sizes: [usize; SIZED.len()],
}

impl ColumnBatch {
    /// Checks a batch, sets its lookup entries, and declares its namespaces.
    pub fn open(
        bytes: &[u8],
        pieces: &[Range<usize>],
        stream: Stream,
        restates: bool,
        terms: &mut TermReader<Quad>,
    ) -> Located<Option<Self>> {
        let Some(first) = pieces.first() else {
            return Ok(None);
        };
        let parts = match pieces {
            [range] => Some(BatchParts::read(bytes, range)?).filter(|parts| !parts.repeats),
            _ => None,
        };
        if let Some(parts) = parts {
            return parts.open(bytes, stream, restates, terms).map(Some);
        }
        let merged = merge(bytes, pieces)?;
        let at_start = |fault: Fault| Fault {
            start: first.start,
            ..fault
        };
        let parts = BatchParts::read(&merged, &(0..merged.len())).map_err(at_start)?;
        let batch = parts.open(&merged, stream, restates, terms);
        let mut batch = batch.map_err(at_start)?;
        batch.merged = Some(merged);
        Ok(Some(batch))
    }

    /// Adds statements to the builder. Returns true if the batch of messages must end before this
    /// batch does. `at` is the index of the frame, and `offset` is its offset in the log.
    pub fn expand(
        &mut self,
        bytes: &[u8],
        (start, offset): (usize, u64),
        parts: bool,
        terms: &mut TermReader<Quad>,
    ) -> Located<bool> {
        loop {
            let bytes = self.merged.as_deref().unwrap_or(bytes);
            let segment = match self.segment.take() {
                Some(segment) => Some(segment),
                None => match self.lengths.next(bytes).locate(start)? {
                    Some(rows) => Some((rows, true)),
                    None => (self.left > 0).then_some((self.left, false)),
                },
            };
            let Some((rows, ends)) = segment else {
                return Ok(false);
            };
            if !terms.builder.is_open() {
                terms.builder.begin_message(offset);
            }
            let mut left = rows;
            while left > 0 {
                let count = left.min(CHUNK as u32);
                let added = self.chunk.expand(
                    (&mut self.cursors, &mut self.graphs),
                    bytes,
                    count as usize,
                    terms,
                );
                if let Err((done, error)) = added {
                    let row = self.row + done as u64;
                    return Err(Fault { start, row, error });
                }
                left -= count;
                self.left -= count;
                self.row += u64::from(count);
                if parts && terms.builder.is_part_full() {
                    self.segment = Some((left, ends));
                    return Ok(true);
                }
            }
            if ends {
                terms.builder.end_message();
                if terms.builder.is_full() {
                    return Ok(true);
                }
            }
        }
    }
}

impl Chunk {
    /// Adds the next `count` rows. On an error, returns the number of rows that were added.
    #[inline]
    fn expand(
        &mut self,
        (cursors, graphs): (&mut [CellCursor; 3], &mut Option<CellCursor>),
        bytes: &[u8],
        count: usize,
        terms: &mut TermReader<Quad>,
    ) -> Result<(), (usize, WireError)> {
        let chunk = &mut self.0;
        for (cells, cursor) in chunk.iter_mut().zip(cursors.iter_mut().chain(graphs)) {
            let filled = cursor.fill(bytes, &mut cells[..count], terms);
            filled.map_err(|error| (0, error))?;
        }
        let [subjects, predicates, objects, graphs] = chunk;
        for row in 0..count.min(CHUNK) {
            let quad = Quad {
                subject: subjects[row],
                predicate: predicates[row],
                object: objects[row],
                graph: graphs[row],
            };
            let added = terms.builder.add_quad(quad);
            added.map_err(|error| (row, error.into()))?;
        }
        Ok(())
    }
}

impl BatchParts {
    fn read(bytes: &[u8], range: &Range<usize>) -> Located<Self> {
        let mut parts = Self {
            start: range.start,
            ..Self::default()
        };
        let mut fields = Fields::new(bytes, range, "the columns");
        while let Some(field) = fields.next()? {
            match field.number {
                ROW_COUNT => {
                    parts.rows = fields.number(&field)?;
                    if parts.rows > MAX_ROWS {
                        let reason = format!("row_count is {}, more than {MAX_ROWS}", parts.rows);
                        return Err(fault(field.start, reason));
                    }
                }
                2..=4 => {
                    let table = &mut parts.tables[field.number as usize - 2];
                    fields.push_bytes(&field, table)?;
                }
                5 => fields.push_bytes(&field, &mut parts.namespaces)?,
                6..=9 => {
                    let column = &mut parts.columns[(field.number - FIRST_COLUMN) as usize];
                    parts.repeats |= column.is_some();
                    *column = Some(fields.bytes(&field)?);
                }
                LENGTHS => {
                    let end = fields.end_of_field();
                    parts.lengths.add_numbers(bytes, &field, end)?;
                }
                other => return Err(fields.unknown(field.start, other)),
            }
        }
        Ok(parts)
    }

    fn open(
        self,
        bytes: &[u8],
        stream: Stream,
        restates: bool,
        terms: &mut TermReader<Quad>,
    ) -> Located<ColumnBatch> {
        set_entries(bytes, &self.tables, terms)?;
        let namespaces = self.read_namespaces(bytes, terms)?;
        let mut columns: [Column; 4] = Default::default();
        for ((column, range), rules) in columns.iter_mut().zip(&self.columns).zip(RULES) {
            let range = range.clone().unwrap_or(self.start..self.start);
            *column = Column::open(bytes, &range, rules, (self.rows, stream.version), terms)?;
        }
        if let Some(range) = self.columns[GRAPH].as_ref().filter(|_| !stream.quads) {
            let reason = "the frame has a column of graphs in a log of physical type TRIPLES";
            return Err(fault(range.start, reason));
        }
        let ends = self.check_lengths(bytes, stream)?;
        for Namespace { start, name, iri } in namespaces {
            // A restart frame redeclares the current namespaces.
            if restates && terms.builder.in_force().get(&name) == Some(iri.as_slice()) {
                continue;
            }
            let added = terms.builder.add_namespace(&name, &iri);
            added.map_err(WireError::from).locate(start)?;
        }
        let cursor = |column: Column| CellCursor::new(bytes, column).locate(self.start);
        let [subjects, predicates, objects, graphs] = columns;
        let has_graphs = self.columns[GRAPH].is_some();
        Ok(ColumnBatch {
            merged: None,
            left: self.rows,
            row: 0,
            cursors: [cursor(subjects)?, cursor(predicates)?, cursor(objects)?],
            graphs: if has_graphs {
                Some(cursor(graphs)?)
            } else {
                None
            },
            chunk: Chunk([[TermId::DEFAULT_GRAPH; CHUNK]; 4]),
            lengths: Numbers::new(LENGTHS, &self.lengths),
            segment: None,
            messages: ends,
            sizes: self.sizes(),
        })
    }

    fn sizes(&self) -> [usize; SIZED.len()] {
        let mut sizes = [0; SIZED.len()];
        let tables = self.tables.iter().map(Vec::as_slice);
        let columns = self.columns.iter().map(Option::as_slice);
        for (size, ranges) in sizes.iter_mut().zip(tables.chain(columns)) {
            *size = ranges.iter().map(Range::len).sum();
        }
        sizes
    }

    /// Returns the namespaces with their positions.
    fn read_namespaces(&self, bytes: &[u8], terms: &TermReader<Quad>) -> Located<Vec<Namespace>> {
        let mut state = IriState::default();
        let mut namespaces = Vec::new();
        for range in &self.namespaces {
            let (mut name, mut pieces) = (0..0, Vec::new());
            let mut fields = Fields::new(bytes, range, "the namespace declaration");
            while let Some(field) = fields.next()? {
                match field.number {
                    1 => name = fields.bytes(&field)?,
                    2 => fields.push_bytes(&field, &mut pieces)?,
                    other => return Err(fields.unknown(field.start, other)),
                }
            }
            let start = range.start;
            let name = &bytes[name];
            check_utf8(name, "a namespace's name").locate(start)?;
            if pieces.is_empty() {
                let reason = format!("the namespace declaration of {} has no IRI", quote(name));
                return Err(fault(start, reason));
            }
            iri(bytes, &pieces, &mut state)?;
            let (prefix, _) = terms.prefixes.get(state.prefix).locate(start)?;
            let (tail, _) = terms.names.get(state.name).locate(start)?;
            namespaces.push(Namespace {
                start,
                name: name.to_vec(),
                iri: [prefix.text(), tail.text()].concat(),
            });
        }
        Ok(namespaces)
    }

    /// Checks the message lengths. Returns the number of messages that have rows of the batch, or
    /// end in it.
    fn check_lengths(&self, bytes: &[u8], stream: Stream) -> Located<u64> {
        let start = self.lengths.range.start;
        if self.lengths.count > 0 && !stream.messages {
            let reason = "the frame has message lengths, but the stream type is FLAT";
            return Err(fault(start, reason));
        }
        let mut sum = 0;
        let mut lengths = Numbers::new(LENGTHS, &self.lengths);
        while let Some(rows) = lengths.next(bytes).locate(start)? {
            sum += u64::from(rows);
        }
        if sum > u64::from(self.rows) {
            let reason = format!(
                "the message lengths add up to {sum} rows, but the frame has {}",
                self.rows
            );
            return Err(fault(start, reason));
        }
        Ok(self.lengths.count as u64 + u64::from(sum < u64::from(self.rows)))
    }
}

/// Merges the pieces of a batch, and the pieces of its columns.
#[cold]
fn merge(bytes: &[u8], pieces: &[Range<usize>]) -> Located<Vec<u8>> {
    let mut merged = Vec::new();
    let mut columns: [Option<Vec<u8>>; 4] = Default::default();
    for piece in pieces {
        let mut fields = Fields::new(bytes, piece, "the columns");
        while let Some(field) = fields.next()? {
            match (&field.value, field.number) {
                (FieldValue::Bytes(range), FIRST_COLUMN..=9) => {
                    let column = &mut columns[(field.number - FIRST_COLUMN) as usize];
                    let column = column.get_or_insert_default();
                    column.extend_from_slice(&bytes[range.clone()]);
                }
                (FieldValue::Bytes(range), number) => {
                    put_varint(&mut merged, u64::from(number) << 3 | u64::from(LENGTH));
                    put_varint(&mut merged, range.len() as u64);
                    merged.extend_from_slice(&bytes[range.clone()]);
                }
                (FieldValue::Number(value), number) => {
                    put_varint(&mut merged, u64::from(number) << 3);
                    put_varint(&mut merged, u64::from(*value));
                }
            }
        }
    }
    for (number, column) in (FIRST_COLUMN as u8..).zip(columns) {
        if let Some(column) = column {
            put_bytes(&mut merged, number << 3 | LENGTH, &column);
        }
    }
    Ok(merged)
}

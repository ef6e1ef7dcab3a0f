//! Messages rendered into Arrow rows: one row a message, terms as canonical N-Triples.
//!
//! - In: messages of batches. Out: record batches of the columns wanted.
//! - Cost: a term is rendered once a batch, its repetitions are copies of the bytes already there.
//! - Law: all fields are nullable; `quads` is empty but never null; `graph` is null for the default
//!   graph; `metadata` is null where there is none; `namespaces` holds those that the message declares or
//!   uses. Strings together stay below 2 GiB a record batch,
//!   since offsets are 32 bits wide.

#![allow(
    clippy::cast_possible_wrap,
    reason = "offsets are lengths within MAX_BYTES, checked before they are written"
)]

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Int64Array, ListArray, MapArray, RecordBatch, RecordBatchOptions,
    StringArray, StructArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use rdfm_core::model::batch;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId};
use rdfm_core::model::write::write_term;
use rdfm_core::syntax::needed::Needs;

/// Bytes of strings that one record batch may hold.
pub const MAX_BYTES: usize = i32::MAX as usize;

/// Most bytes that are set aside for a column because the record batch before had as many.
const MOST_ROOM: usize = 8 << 20;

/// An empty vector with room for about as much as another one holds, so that it need not grow.
fn like<T>(other: &[T]) -> Vec<T> {
    let room = other.len() + other.len() / 16;
    Vec::with_capacity(room.min(MOST_ROOM / size_of::<T>()))
}

/// A column of the row schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Source,
    Offset,
    Quads,
    Metadata,
    Position,
    Namespaces,
}

impl Column {
    pub const ALL: [Self; 6] = [
        Self::Source,
        Self::Offset,
        Self::Quads,
        Self::Metadata,
        Self::Position,
        Self::Namespaces,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Offset => "offset",
            Self::Quads => "quads",
            Self::Metadata => "metadata",
            Self::Position => "position",
            Self::Namespaces => "namespaces",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    fn field(self) -> Field {
        let data_type = match self {
            Self::Source => DataType::Utf8,
            Self::Offset | Self::Position => DataType::Int64,
            Self::Quads => quads_type(),
            Self::Metadata => DataType::Map(entries_field(DataType::Binary), false),
            Self::Namespaces => DataType::Map(entries_field(DataType::Utf8), false),
        };
        Field::new(self.name(), data_type, true)
    }
}

fn term_fields() -> Fields {
    ["subject", "predicate", "object", "graph"]
        .map(|name| Field::new(name, DataType::Utf8, true))
        .to_vec()
        .into()
}

fn quad_field() -> FieldRef {
    Arc::new(Field::new("item", DataType::Struct(term_fields()), true))
}

/// The type of a column of quads.
pub fn quads_type() -> DataType {
    DataType::List(quad_field())
}

fn entry_fields(value: DataType) -> Fields {
    vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", value, true),
    ]
    .into()
}

fn entries_field(value: DataType) -> FieldRef {
    Arc::new(Field::new(
        "entries",
        DataType::Struct(entry_fields(value)),
        false,
    ))
}

/// The schema of these columns.
pub fn schema(columns: &[Column]) -> SchemaRef {
    let fields: Vec<Field> = columns.iter().map(|column| column.field()).collect();
    Arc::new(Schema::new(fields))
}

/// Why rows could not be made.
pub enum Fault {
    /// The strings would pass [`MAX_BYTES`].
    TooLarge,
    /// Arrow refuses what was made: a bug.
    Arrow(ArrowError),
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

/// A column of strings or bytes under construction.
pub struct Texts {
    values: Vec<u8>,
    offsets: Vec<i32>,
}

impl Texts {
    pub fn new() -> Self {
        Self {
            values: Vec::new(),
            offsets: vec![0],
        }
    }

    /// An empty column with room for about as much.
    fn like(&self) -> Self {
        let mut offsets = like(&self.offsets);
        offsets.push(0);
        Self {
            values: like(&self.values),
            offsets,
        }
    }

    /// The bytes, to append the current value's to.
    pub const fn values(&mut self) -> &mut Vec<u8> {
        &mut self.values
    }

    /// Ends the current value. Its bytes were counted, so the length fits.
    pub fn end(&mut self) {
        self.offsets.push(self.values.len() as i32);
    }

    fn add(&mut self, text: &[u8]) {
        self.values.extend_from_slice(text);
        self.end();
    }

    fn truncate(&mut self, count: usize) {
        self.offsets.truncate(count + 1);
        let length = self.offsets.last().copied().unwrap_or_default();
        self.values.truncate(length.unsigned_abs() as usize);
    }

    fn offsets(offsets: Vec<i32>) -> OffsetBuffer<i32> {
        OffsetBuffer::new(ScalarBuffer::from(offsets))
    }

    fn strings(self, nulls: Option<NullBuffer>) -> Result<StringArray, ArrowError> {
        StringArray::try_new(
            Self::offsets(self.offsets),
            Buffer::from_vec(self.values),
            nulls,
        )
    }

    pub fn binary(self, nulls: Option<NullBuffer>) -> Result<BinaryArray, ArrowError> {
        BinaryArray::try_new(
            Self::offsets(self.offsets),
            Buffer::from_vec(self.values),
            nulls,
        )
    }
}

/// A column of maps under construction.
struct Maps {
    keys: Texts,
    values: Texts,
    offsets: Vec<i32>,
    valid: Vec<bool>,
}

impl Maps {
    fn new() -> Self {
        Self {
            keys: Texts::new(),
            values: Texts::new(),
            offsets: vec![0],
            valid: Vec::new(),
        }
    }

    /// Ends a row's map; without `valid` it is null.
    fn end(&mut self, valid: bool) {
        self.offsets.push(self.keys.offsets.len() as i32 - 1);
        self.valid.push(valid);
    }

    fn truncate(&mut self, count: usize) {
        self.offsets.truncate(count + 1);
        self.valid.truncate(count);
        let entries = self.offsets.last().copied().unwrap_or_default();
        self.keys.truncate(entries.unsigned_abs() as usize);
        self.values.truncate(entries.unsigned_abs() as usize);
    }

    fn finish(self, value: DataType) -> Result<ArrayRef, ArrowError> {
        let values: ArrayRef = if value == DataType::Binary {
            Arc::new(self.values.binary(None)?)
        } else {
            Arc::new(self.values.strings(None)?)
        };
        let keys: ArrayRef = Arc::new(self.keys.strings(None)?);
        let entries = StructArray::try_new(entry_fields(value.clone()), vec![keys, values], None)?;
        let nulls = self.valid.contains(&false).then(|| self.valid.into());
        let offsets = Texts::offsets(self.offsets);
        let maps = MapArray::try_new(entries_field(value), offsets, entries, nulls, false)?;
        Ok(Arc::new(maps))
    }
}

/// Where the rendered form of each term of a batch stands in the rows under construction.
#[derive(Default)]
pub struct Places {
    of: Vec<Place>,
    /// Grows when the rows are cut or another batch comes, which makes older places stale without
    /// touching them.
    generation: u32,
}

#[derive(Clone, Copy, Default)]
struct Place {
    generation: u32,
    column: u32,
    start: u32,
    length: u32,
}

impl Places {
    pub fn new(table: &TermTable) -> Self {
        let mut places = Self::default();
        places.begin_batch(table);
        places
    }

    /// Goes on to another batch.
    pub fn begin_batch(&mut self, table: &TermTable) {
        self.generation += 1;
        if self.of.len() < table.terms().len() {
            self.of.resize(table.terms().len(), Place::default());
        }
    }
}

/// A column of lists of quads under construction.
pub struct QuadLists {
    terms: [Texts; 4],
    graph_valid: Vec<bool>,
    ends: Vec<i32>,
}

impl QuadLists {
    pub fn new() -> Self {
        Self {
            terms: std::array::from_fn(|_| Texts::new()),
            graph_valid: Vec::new(),
            ends: vec![0],
        }
    }

    /// An empty column with room for about as much.
    fn like(&self) -> Self {
        let mut ends = like(&self.ends);
        ends.push(0);
        Self {
            terms: self.terms.each_ref().map(Texts::like),
            graph_valid: like(&self.graph_valid),
            ends,
        }
    }

    /// Adds a list of quads. `bytes` counts the strings of the record batch.
    pub fn add(
        &mut self,
        table: &TermTable,
        quads: &[Quad],
        places: &mut Places,
        bytes: &mut usize,
    ) -> Result<(), Fault> {
        for quad in quads {
            self.term(table, 0, quad.subject, places, bytes)?;
            self.term(table, 1, quad.predicate, places, bytes)?;
            self.term(table, 2, quad.object, places, bytes)?;
            let named = quad.graph != TermId::DEFAULT_GRAPH;
            self.graph_valid.push(named);
            if named {
                self.term(table, 3, quad.graph, places, bytes)?;
            } else {
                self.terms[3].end();
            }
        }
        self.end();
        Ok(())
    }

    /// Ends a list: an empty one if nothing was added.
    pub fn end(&mut self) {
        self.ends.push(self.graph_valid.len() as i32);
    }

    /// Adds a term to a column.
    #[inline]
    fn term(
        &mut self,
        table: &TermTable,
        column: usize,
        id: TermId,
        places: &mut Places,
        bytes: &mut usize,
    ) -> Result<(), Fault> {
        let place = places.of[id.index()];
        if place.generation == places.generation {
            let range = place.start as usize..(place.start + place.length) as usize;
            charge(bytes, range.len())?;
            if place.column as usize == column {
                self.terms[column].values.extend_from_within(range);
            } else if let Ok([from, to]) =
                self.terms.get_disjoint_mut([place.column as usize, column])
            {
                to.values.extend_from_slice(&from.values[range]);
            }
        } else {
            let values = &mut self.terms[column].values;
            let start = values.len();
            write_term(table, id, values);
            let length = values.len() - start;
            charge(bytes, length)?;
            places.of[id.index()] = Place {
                generation: places.generation,
                column: column as u32,
                start: start as u32,
                length: length as u32,
            };
        }
        self.terms[column].end();
        Ok(())
    }

    /// Keeps the first `lists` lists, which hold `quads` quads.
    fn truncate(&mut self, lists: usize, quads: usize) {
        for column in &mut self.terms {
            column.truncate(quads);
        }
        self.graph_valid.truncate(quads);
        self.ends.truncate(lists + 1);
    }

    pub fn finish(self, lists: Option<NullBuffer>) -> Result<ListArray, ArrowError> {
        let [subjects, predicates, objects, graphs] = self.terms;
        let parts: Vec<ArrayRef> = vec![
            Arc::new(subjects.strings(None)?),
            Arc::new(predicates.strings(None)?),
            Arc::new(objects.strings(None)?),
            Arc::new(graphs.strings(nulls(self.graph_valid))?),
        ];
        let quads = StructArray::try_new(term_fields(), parts, None)?;
        let ends = Texts::offsets(self.ends);
        ListArray::try_new(quad_field(), ends, Arc::new(quads), lists)
    }
}

/// Counts bytes of strings of a record batch.
pub fn charge(bytes: &mut usize, more: usize) -> Result<(), Fault> {
    *bytes += more;
    if *bytes > MAX_BYTES {
        return Err(Fault::TooLarge);
    }
    Ok(())
}

/// Which values are null, if any.
pub fn nulls(valid: Vec<bool>) -> Option<NullBuffer> {
    valid.contains(&false).then(|| NullBuffer::from(valid))
}

/// Rows under construction.
pub struct Rows {
    columns: Vec<Column>,
    count: usize,
    /// Bytes of all strings.
    bytes: usize,
    sources: Texts,
    source_valid: Vec<bool>,
    indexes: Vec<i64>,
    positions: Vec<i64>,
    quads: QuadLists,
    metadata: Maps,
    namespaces: Maps,
}

/// How far rows have come, to go back to.
pub struct Mark {
    count: usize,
    bytes: usize,
    quads: usize,
}

impl Mark {
    /// The number of rows.
    pub const fn count(&self) -> usize {
        self.count
    }
}

impl Rows {
    pub fn new(columns: &[Column]) -> Self {
        Self {
            columns: columns.to_vec(),
            count: 0,
            bytes: 0,
            sources: Texts::new(),
            source_valid: Vec::new(),
            indexes: Vec::new(),
            positions: Vec::new(),
            quads: QuadLists::new(),
            metadata: Maps::new(),
            namespaces: Maps::new(),
        }
    }

    /// The number of rows.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The bytes of all strings.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// A batch begins, of whose messages rows are to be made.
    pub fn begin_batch(&self, batch: &batch::MessageBatch, needs: &mut Needs) {
        if self.has(Column::Namespaces) {
            needs.begin_batch(batch);
        }
    }

    fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    /// Adds a message as a row. After an error the rows are to be truncated or dropped.
    pub fn add(
        &mut self,
        batch: &batch::MessageBatch,
        message: usize,
        source: Option<&str>,
        places: &mut Places,
        needs: &mut Needs,
    ) -> Result<(), Fault> {
        self.count += 1;
        self.indexes
            .push((batch.first_index() + message as u64).cast_signed());
        self.positions.push(batch.position(message).cast_signed());
        if self.has(Column::Source) {
            let text = source.unwrap_or_default();
            charge(&mut self.bytes, text.len())?;
            self.sources.add(text.as_bytes());
            self.source_valid.push(source.is_some());
        }
        if self.has(Column::Metadata) {
            let entries = batch.metadata(message);
            for entry in entries {
                charge(&mut self.bytes, entry.key.len() + entry.value.len())?;
                self.metadata.keys.add(entry.key.as_bytes());
                self.metadata.values.add(&entry.value);
            }
            self.metadata.end(!entries.is_empty());
        }
        if self.has(Column::Namespaces) {
            for (name, iri, _) in needs.of(batch, message) {
                charge(&mut self.bytes, name.len() + iri.len())?;
                self.namespaces.keys.add(name);
                self.namespaces.values.add(iri);
            }
            self.namespaces.end(true);
        }
        if self.has(Column::Quads) {
            let (table, quads) = (batch.table(), batch.message(message));
            self.quads.add(table, quads, places, &mut self.bytes)?;
        }
        needs.leave();
        Ok(())
    }

    pub fn mark(&self) -> Mark {
        Mark {
            count: self.count,
            bytes: self.bytes,
            quads: self.quads.graph_valid.len(),
        }
    }

    /// Goes back to a mark. Places since then are stale until the rows are cut.
    pub fn truncate(&mut self, mark: &Mark) {
        self.count = mark.count;
        self.bytes = mark.bytes;
        self.sources.truncate(mark.count);
        self.source_valid.truncate(mark.count);
        self.indexes.truncate(mark.count);
        self.positions.truncate(mark.count);
        self.quads.truncate(mark.count, mark.quads);
        self.metadata.truncate(mark.count);
        self.namespaces.truncate(mark.count);
    }

    /// Takes the rows, and begins anew.
    pub fn cut(&mut self, places: &mut Places) -> Result<RecordBatch, Fault> {
        places.generation += 1;
        let mut next = Self::new(&self.columns);
        next.quads = self.quads.like();
        std::mem::replace(self, next).finish()
    }

    pub fn finish(self) -> Result<RecordBatch, Fault> {
        let mut sources = Some((self.sources, self.source_valid));
        let mut quads = Some(self.quads);
        let mut metadata = Some(self.metadata);
        let mut namespaces = Some(self.namespaces);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (at, column) in self.columns.iter().enumerate() {
            // A column asked for twice is the same array.
            if let Some(first) = self.columns[..at].iter().position(|other| other == column) {
                arrays.push(Arc::clone(&arrays[first]));
                continue;
            }
            let array: Option<ArrayRef> = match column {
                Column::Source => match sources.take() {
                    Some((texts, valid)) => Some(Arc::new(texts.strings(nulls(valid))?)),
                    None => None,
                },
                Column::Offset => Some(Arc::new(Int64Array::from(self.indexes.clone()))),
                Column::Position => Some(Arc::new(Int64Array::from(self.positions.clone()))),
                Column::Quads => match quads.take() {
                    Some(lists) => Some(Arc::new(lists.finish(None)?)),
                    None => None,
                },
                Column::Metadata => match metadata.take() {
                    Some(maps) => Some(maps.finish(DataType::Binary)?),
                    None => None,
                },
                Column::Namespaces => match namespaces.take() {
                    Some(maps) => Some(maps.finish(DataType::Utf8)?),
                    None => None,
                },
            };
            arrays.extend(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        Ok(RecordBatch::try_new_with_options(
            schema(&self.columns),
            arrays,
            &options,
        )?)
    }
}

//! Batches from Arrow rows, as `to_arrow` makes them and other tools return them.
//!
//! - In: anything with the Arrow PyCapsule interface. Strings may be utf8, large_utf8, string_view or
//!   dictionaries, lists may be large, fields stand in any order; null or missing graph is the default
//!   graph, null quads are no quads. Other columns are not looked at.
//! - Out: a message a row, all in one batch or in batches of a decoder's size.
//! - Cost: a comparison for a term that recurs, mostly; parsing of others. Memory holds an Arrow batch
//!   and a batch.
//! - Law: rows before a fault come first, and the fault comes again.

use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, RecordBatch,
    RecordBatchReader, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use rdfm_core::formats::nquads::{CellFault, CellReader};
use rdfm_core::model::batch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::error::{ErrorClass, LimitExceeded};

use crate::batch::MessageBatch;
use crate::{build, errors, options};

const PARTS: [&str; 4] = ["subject", "predicate", "object", "graph"];

/// Why rows could not be read.
#[derive(Clone)]
pub enum Fault {
    /// The object is no Arrow of this shape.
    Shape(String),
    /// A row breaks the rules.
    Row(u64, ErrorClass, String),
    /// The rows are too large.
    Limit(String),
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Self::Shape(error.to_string())
    }
}

impl From<LimitExceeded> for Fault {
    fn from(limit: LimitExceeded) -> Self {
        Self::Limit(limit.0)
    }
}

impl Fault {
    pub fn into_py(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Shape(reason) => PyTypeError::new_err(reason),
            Self::Row(row, class, reason) => errors::row(py, row, class, &reason),
            Self::Limit(reason) => errors::limit(reason),
        }
    }
}

/// One batch of the messages that an Arrow object holds.
pub fn read(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    max_depth: u32,
) -> PyResult<batch::MessageBatch> {
    let mut rows = Rows::open(object, 0, max_depth)?;
    rows.whole = true;
    let made = errors::guarded(py, move || {
        let batch = rows.next_batch()?;
        // A fault comes after the rows before it.
        rows.next_batch()?;
        Ok(batch.unwrap_or_else(build::empty))
    })?;
    made.map_err(|fault: Fault| fault.into_py(py))
}

/// Batches of the messages of Arrow rows, of the size that a decoder makes.
///
/// Args:
///     rows: Anything with the Arrow PyCapsule interface, as in `MessageBatch.from_arrow`.
///     first_index: The index of the first row's message; errors count from it too.
///     max_depth: How deep triple terms may nest.
/// Returns:
///     An iterator that reads on when asked for a batch. It raises DecodeError after the messages of
///     all rows before the one whose term breaks N-Triples, and again when asked again.
/// Raises:
///     TypeError: `rows` is no Arrow.
#[pyfunction]
#[pyo3(signature = (rows, *, first_index=0, max_depth=64))]
fn batches_from_arrow(
    rows: &Bound<'_, PyAny>,
    first_index: u64,
    max_depth: u32,
) -> PyResult<ArrowRows> {
    let rows = Rows::open(rows, first_index, max_depth)?;
    Ok(ArrowRows {
        rows: Mutex::new(Some(rows)),
    })
}

/// An iterator over the batches of Arrow rows.
#[pyclass(frozen, module = "rdfm._core")]
struct ArrowRows {
    /// Taken out while it reads, so that no lock is held while another thread may run.
    rows: Mutex<Option<Rows>>,
}

#[pymethods]
impl ArrowRows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<MessageBatch>> {
        let Some(mut rows) = self.swap(None) else {
            return Err(errors::in_use("iterator"));
        };
        let (made, rows) = errors::guarded(py, move || (rows.next_batch(), rows))?;
        self.swap(Some(rows));
        made.map(|batch| batch.map(MessageBatch::new))
            .map_err(|fault| fault.into_py(py))
    }
}

impl ArrowRows {
    fn swap(&self, rows: Option<Rows>) -> Option<Rows> {
        let mut slot = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut slot, rows)
    }
}

/// Arrow rows on their way into batches.
struct Rows {
    reader: Box<dyn RecordBatchReader + Send>,
    /// The Arrow batch that is being read, and its next row.
    open: Option<(Columns, usize)>,
    /// Make one batch of all rows.
    whole: bool,
    messages: Messages,
    fault: Option<Fault>,
}

impl Rows {
    fn open(object: &Bound<'_, PyAny>, first_index: u64, max_depth: u32) -> PyResult<Self> {
        if !object.hasattr("__arrow_c_array__")? && !object.hasattr("__arrow_c_stream__")? {
            return Err(PyTypeError::new_err(format!(
                "expected an object with the Arrow PyCapsule interface, not {}",
                object.get_type().name()?
            )));
        }
        Ok(Self {
            reader: object.extract::<AnyRecordBatch>()?.into_reader()?,
            open: None,
            whole: false,
            messages: Messages::new(first_index, options::depth(max_depth)?),
            fault: None,
        })
    }

    /// The next batch, or None when there are no more rows.
    fn next_batch(&mut self) -> Result<Option<batch::MessageBatch>, Fault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.fill().or_else(|fault| {
            self.fault = Some(fault.clone());
            self.messages.take().map(Some).ok_or(fault)
        })
    }

    fn fill(&mut self) -> Result<Option<batch::MessageBatch>, Fault> {
        loop {
            let Some((columns, row)) = &mut self.open else {
                match self.reader.next() {
                    Some(batch) => self.open = Some((Columns::new(&batch?)?, 0)),
                    None => return Ok(self.messages.take()),
                }
                continue;
            };
            while *row < columns.rows {
                let at = *row;
                *row += 1;
                let extras = |messages: &mut Messages| columns.extras(at, &mut messages.builder);
                self.messages.add(&columns.quads, at, extras)?;
                if !self.whole && self.messages.full() {
                    return Ok(self.messages.take());
                }
            }
            self.open = None;
        }
    }
}

/// Messages of rows of quads.
pub struct Messages {
    builder: BatchBuilder,
    cells: CellReader,
    /// Quads of the batch under construction.
    quads: usize,
}

impl Messages {
    /// Messages numbered from an index.
    pub fn new(first_index: u64, max_depth: u32) -> Self {
        let mut builder = build::builder();
        builder.start_at(first_index);
        Self {
            builder,
            cells: CellReader::new(max_depth),
            quads: 0,
        }
    }

    /// Adds a row as a message; `extras` adds what else belongs to it.
    pub fn add(
        &mut self,
        quads: &Quads,
        row: usize,
        extras: impl FnOnce(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.builder.begin_message(0);
        let result = self.add_quads(quads, row).and_then(|()| extras(self));
        if let Err(fault) = result {
            self.builder.discard_message();
            return Err(fault);
        }
        self.builder.end_message();
        build::check_size(&self.builder, self.quads).map_err(Fault::Limit)
    }

    fn add_quads(&mut self, quads: &Quads, row: usize) -> Result<(), Fault> {
        let range = quads.range(row);
        for (number, at) in range.enumerate() {
            if quads.nulls.as_ref().is_some_and(|nulls| nulls.is_null(at)) {
                let reason = format!("quad {number} is a null quad");
                let row = self.builder.message_index();
                return Err(Fault::Row(row, ErrorClass::Malformed, reason));
            }
            let added = match quads.cells(at) {
                Ok((cells, graph)) => self.cells.quad(&mut self.builder, cells, graph),
                Err(part) => Err(CellFault {
                    part,
                    class: ErrorClass::Malformed,
                    reason: "expected a term, found null".to_owned(),
                }),
            };
            added.map_err(|fault| {
                let reason = format!("quad {number}, {}: {}", PARTS[fault.part], fault.reason);
                Fault::Row(self.builder.message_index(), fault.class, reason)
            })?;
            self.quads += 1;
        }
        Ok(())
    }

    /// Whether a batch has reached its size.
    pub fn full(&mut self) -> bool {
        self.builder.full()
    }

    /// The batch so far, if it holds a message.
    pub fn take(&mut self) -> Option<batch::MessageBatch> {
        self.quads = 0;
        self.builder.take()
    }
}

/// The columns of an Arrow batch that messages are made of.
struct Columns {
    rows: usize,
    quads: Quads,
    metadata: Option<Maps>,
    namespaces: Option<Maps>,
}

impl Columns {
    fn new(batch: &RecordBatch) -> Result<Self, Fault> {
        let Some(quads) = batch.column_by_name("quads") else {
            let schema = batch.schema();
            let names: Vec<&str> = schema
                .fields()
                .iter()
                .map(|field| field.name().as_str())
                .collect();
            return Err(Fault::Shape(format!(
                "there is no column 'quads'; found: {}",
                names.join(", ")
            )));
        };
        Ok(Self {
            rows: batch.num_rows(),
            quads: Quads::new(quads)?,
            metadata: Maps::new(batch, "metadata")?,
            namespaces: Maps::new(batch, "namespaces")?,
        })
    }

    /// Adds a row's metadata and namespaces.
    fn extras(&self, row: usize, builder: &mut BatchBuilder) -> Result<(), Fault> {
        let fault = |builder: &BatchBuilder, reason: String| {
            Fault::Row(builder.message_index(), ErrorClass::Malformed, reason)
        };
        let text = |bytes: Option<&[u8]>| {
            let text = std::str::from_utf8(bytes.unwrap_or_default());
            text.map(str::to_owned)
        };
        if let Some(metadata) = &self.metadata {
            for at in metadata.range(row) {
                let key = text(metadata.keys.get(at))
                    .map_err(|_| fault(builder, "a key of the metadata is no UTF-8".to_owned()))?;
                builder.add_metadata(&key, metadata.values.value(at))?;
            }
        }
        if let Some(namespaces) = &self.namespaces {
            for at in namespaces.range(row) {
                let name = text(namespaces.keys.get(at))
                    .map_err(|_| fault(builder, "a namespace's name is no UTF-8".to_owned()))?;
                let iri = text(Some(namespaces.values.value(at))).map_err(|_| {
                    fault(
                        builder,
                        format!("the IRI of namespace '{name}' is no UTF-8"),
                    )
                })?;
                if builder.in_force().get(name.as_bytes()) != Some(iri.as_bytes()) {
                    builder.add_namespace(name.as_bytes(), iri.as_bytes())?;
                }
            }
        }
        Ok(())
    }
}

/// A column of strings of any width, as bytes: Arrow promises UTF-8, nobody checked it.
enum Strings {
    Small(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
}

impl Strings {
    fn new(array: &ArrayRef, name: &str) -> Result<Self, Fault> {
        match array.data_type() {
            DataType::Utf8 => Ok(Self::Small(array.as_string::<i32>().clone().into())),
            DataType::LargeUtf8 => Ok(Self::Large(array.as_string::<i64>().clone().into())),
            DataType::Utf8View => Ok(Self::View(array.as_string_view().clone().to_binary_view())),
            DataType::Dictionary(..) | DataType::RunEndEncoded(..) | DataType::Null => {
                let array = arrow_cast::cast(array, &DataType::LargeUtf8)
                    .map_err(|_| Self::refused(name, array.data_type()))?;
                Ok(Self::Large(array.as_string::<i64>().clone().into()))
            }
            other => Err(Self::refused(name, other)),
        }
    }

    fn refused(name: &str, found: &DataType) -> Fault {
        Fault::Shape(format!("{name} is a column of strings, not of {found}"))
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Small(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Large(array) => array.is_valid(at).then(|| array.value(at)),
            Self::View(array) => array.is_valid(at).then(|| array.value(at)),
        }
    }
}

/// Subject, predicate and object, and the graph if it is not the default graph.
type Cells<'a> = ([&'a [u8]; 3], Option<&'a [u8]>);

/// A column of quads.
pub struct Quads {
    lists: Lists,
    /// Which quads are there, if some are not.
    nulls: Option<NullBuffer>,
    subjects: Strings,
    predicates: Strings,
    objects: Strings,
    graphs: Option<Strings>,
}

impl Quads {
    pub fn new(column: &ArrayRef) -> Result<Self, Fault> {
        let (lists, items) = Lists::new(column)?;
        let shape = || {
            Fault::Shape(format!(
                "quads is a list of structs of subject, predicate, object and graph, not {}",
                column.data_type()
            ))
        };
        let items: &StructArray = items.as_struct_opt().ok_or_else(shape)?;
        let part = |name: &str| {
            items
                .column_by_name(name)
                .map(|array| Strings::new(array, name))
                .transpose()
        };
        Ok(Self {
            lists,
            nulls: items
                .nulls()
                .filter(|nulls| nulls.null_count() > 0)
                .cloned(),
            subjects: part(PARTS[0])?.ok_or_else(shape)?,
            predicates: part(PARTS[1])?.ok_or_else(shape)?,
            objects: part(PARTS[2])?.ok_or_else(shape)?,
            graphs: part(PARTS[3])?,
        })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match &self.lists {
            Lists::Small(lists) => lists.len(),
            Lists::Large(lists) => lists.len(),
        }
    }

    pub fn is_null(&self, row: usize) -> bool {
        match &self.lists {
            Lists::Small(lists) => lists.is_null(row),
            Lists::Large(lists) => lists.is_null(row),
        }
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.lists.range(row)
    }

    /// The terms of a quad, or which of the first three is null.
    #[inline]
    fn cells(&self, at: usize) -> Result<Cells<'_>, usize> {
        let cells = [
            self.subjects.get(at).ok_or(0_usize)?,
            self.predicates.get(at).ok_or(1_usize)?,
            self.objects.get(at).ok_or(2_usize)?,
        ];
        Ok((
            cells,
            self.graphs.as_ref().and_then(|graphs| graphs.get(at)),
        ))
    }
}

/// Where the items of each row are.
enum Lists {
    Small(arrow_array::ListArray),
    Large(arrow_array::LargeListArray),
}

impl Lists {
    /// The lists of a column, and their items.
    fn new(column: &ArrayRef) -> Result<(Self, ArrayRef), Fault> {
        let column = match column.data_type() {
            DataType::FixedSizeList(item, _) | DataType::ListView(item) => {
                arrow_cast::cast(column, &DataType::List(item.clone()))?
            }
            DataType::LargeListView(item) => {
                arrow_cast::cast(column, &DataType::LargeList(item.clone()))?
            }
            _ => ArrayRef::clone(column),
        };
        if let Some(lists) = column.as_list_opt::<i32>() {
            let items = ArrayRef::clone(lists.values());
            Ok((Self::Small(lists.clone()), items))
        } else if let Some(lists) = column.as_list_opt::<i64>() {
            let items = ArrayRef::clone(lists.values());
            Ok((Self::Large(lists.clone()), items))
        } else {
            Err(Fault::Shape(format!(
                "quads is a list of structs, not {}",
                column.data_type()
            )))
        }
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        match self {
            Self::Small(lists) if lists.is_valid(row) => {
                let offsets = lists.value_offsets();
                offsets[row].unsigned_abs() as usize..offsets[row + 1].unsigned_abs() as usize
            }
            Self::Large(lists) if lists.is_valid(row) => {
                let offsets = lists.value_offsets();
                offsets[row].unsigned_abs() as usize..offsets[row + 1].unsigned_abs() as usize
            }
            _ => 0..0,
        }
    }
}

/// A column of maps of strings to strings or bytes.
struct Maps {
    rows: arrow_array::MapArray,
    keys: Strings,
    values: BinaryArray,
}

impl Maps {
    /// The column of a name; None where there is none, or nothing in it.
    fn new(batch: &RecordBatch, name: &str) -> Result<Option<Self>, Fault> {
        let Some(column) = batch.column_by_name(name) else {
            return Ok(None);
        };
        if *column.data_type() == DataType::Null {
            return Ok(None);
        }
        let shape = || {
            let found = column.data_type();
            Fault::Shape(format!("{name} is a map of strings, not {found}"))
        };
        let maps = column.as_map_opt().ok_or_else(shape)?.clone();
        let keys = Strings::new(maps.keys(), name)?;
        let values = arrow_cast::cast(maps.values(), &DataType::Binary).map_err(|_| shape())?;
        let values = values.as_binary::<i32>().clone();
        Ok(Some(Self {
            rows: maps,
            keys,
            values,
        }))
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        if self.rows.is_null(row) {
            return 0..0;
        }
        let offsets = self.rows.value_offsets();
        offsets[row].unsigned_abs() as usize..offsets[row + 1].unsigned_abs() as usize
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(batches_from_arrow, module)?)
}

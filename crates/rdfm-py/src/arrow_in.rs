//! Batches from Arrow rows, as `to_arrow` makes them and other tools return them.
//!
//! - In: anything with the Arrow PyCapsule interface. Strings may be utf8, large_utf8, string_view or
//!   dictionaries, lists may be large, fields stand in any order; null or missing graph is the default
//!   graph, null quads are no quads.
//! - Out: one batch, a message a row.
//! - Cost: parsing of each term whose text the last 4,096 different ones do not hold.

use std::hash::Hasher;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, LargeStringArray, RecordBatch, StringArray, StringViewArray,
    StructArray,
};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use rdfm_core::batch::{self, BatchBuilder};
use rdfm_core::nquads::parse_term;
use rdfm_core::term::{Quad, TermId};
use rustc_hash::{FxHashMap, FxHasher};

use crate::{build, errors, options};

/// Slots of the cache of terms.
const SLOTS: usize = 4096;

const PARTS: [&str; 4] = ["subject", "predicate", "object", "graph"];

/// Why rows could not be read.
enum Fault {
    /// The object is no Arrow of this shape.
    Shape(String),
    /// A row breaks the rules.
    Row(u64, String),
    /// The rows are too large.
    Limit(String),
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Self::Shape(error.to_string())
    }
}

impl Fault {
    fn into_py(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Shape(reason) => PyTypeError::new_err(reason),
            Self::Row(row, reason) => errors::row(py, row, &reason),
            Self::Limit(reason) => errors::limit(reason),
        }
    }
}

/// A batch of the messages that an Arrow object holds.
pub fn read(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    max_depth: u32,
) -> PyResult<batch::MessageBatch> {
    let max_depth = options::depth(max_depth)?;
    if !object.hasattr("__arrow_c_array__")? && !object.hasattr("__arrow_c_stream__")? {
        return Err(PyTypeError::new_err(format!(
            "from_arrow takes an object with the Arrow PyCapsule interface, not {}",
            object.get_type().name()?
        )));
    }
    let reader = object.extract::<AnyRecordBatch>()?.into_reader()?;
    let made = errors::guarded(py, move || -> Result<batch::MessageBatch, Fault> {
        let mut rows = Rows {
            builder: build::builder(),
            max_depth,
            namespaces: FxHashMap::default(),
            quads: 0,
            count: 0,
        };
        for batch in reader {
            rows.add(&batch?)?;
        }
        Ok(rows.builder.take().unwrap_or_else(build::empty))
    })?;
    made.map_err(|fault| fault.into_py(py))
}

/// What rows become.
struct Rows {
    builder: BatchBuilder,
    max_depth: u32,
    /// Namespaces declared so far.
    namespaces: FxHashMap<String, String>,
    quads: usize,
    count: u64,
}

impl Rows {
    fn add(&mut self, batch: &RecordBatch) -> Result<(), Fault> {
        let quads = Quads::new(batch)?;
        let metadata = Maps::new(batch, "metadata")?;
        let namespaces = Maps::new(batch, "namespaces")?;
        let mut cache = Cache::new();
        for row in 0..batch.num_rows() {
            self.builder.begin_message(0);
            for at in quads.range(row) {
                let mut part = |column: usize| {
                    cache
                        .term(&mut self.builder, &quads.parts, column, at, self.max_depth)
                        .map_err(|reason| {
                            let number = at - quads.range(row).start;
                            let reason = format!("quad {number}, {}: {reason}", PARTS[column]);
                            Fault::Row(self.count, reason)
                        })
                };
                let quad = Quad {
                    subject: part(0)?,
                    predicate: part(1)?,
                    object: part(2)?,
                    graph: part(3)?,
                };
                self.builder
                    .add_quad(quad)
                    .map_err(|limit| Fault::Limit(limit.0))?;
                self.quads += 1;
            }
            if let Some(metadata) = &metadata {
                for at in metadata.range(row) {
                    let key = metadata.keys.get(at).unwrap_or_default();
                    self.builder
                        .add_metadata(key, metadata.values.value(at))
                        .map_err(|limit| Fault::Limit(limit.0))?;
                }
            }
            if let Some(namespaces) = &namespaces {
                for at in namespaces.range(row) {
                    let name = namespaces.keys.get(at).unwrap_or_default();
                    let iri = namespaces.values.value(at);
                    let iri = std::str::from_utf8(iri).map_err(|_| {
                        let reason = format!("the IRI of namespace '{name}' is no UTF-8");
                        Fault::Row(self.count, reason)
                    })?;
                    if self.namespaces.get(name).is_none_or(|known| known != iri) {
                        self.builder
                            .add_namespace(name.as_bytes(), iri.as_bytes())
                            .map_err(|limit| Fault::Limit(limit.0))?;
                        self.namespaces.insert(name.to_owned(), iri.to_owned());
                    }
                }
            }
            self.builder.end_message();
            self.count += 1;
            build::check_size(&self.builder, self.quads).map_err(Fault::Limit)?;
        }
        Ok(())
    }
}

/// Terms seen lately, by the place where their text stands; verified against it.
struct Cache {
    slots: Vec<(u32, u32, TermId)>,
}

impl Cache {
    fn new() -> Self {
        Self {
            slots: vec![(0, 0, TermId::DEFAULT_GRAPH); SLOTS],
        }
    }

    /// The term of a cell.
    #[inline]
    fn term(
        &mut self,
        builder: &mut BatchBuilder,
        parts: &[Option<Strings>; 4],
        column: usize,
        at: usize,
        max_depth: u32,
    ) -> Result<TermId, String> {
        let Some(text) = parts[column].as_ref().and_then(|strings| strings.get(at)) else {
            if column == 3 {
                return Ok(TermId::DEFAULT_GRAPH);
            }
            return Err("expected a term, found null".to_owned());
        };
        let mut hasher = FxHasher::default();
        hasher.write(text.as_bytes());
        let slot = &mut self.slots[(hasher.finish() >> 20) as usize % SLOTS];
        let (known_column, known_at, known) = *slot;
        if known != TermId::DEFAULT_GRAPH
            && parts[known_column as usize]
                .as_ref()
                .and_then(|strings| strings.get(known_at as usize))
                == Some(text)
        {
            return Ok(known);
        }
        let id = parse_term(builder, text.as_bytes(), max_depth)?;
        // A row number beyond 32 bits is not remembered.
        if let Ok(at) = u32::try_from(at) {
            *slot = (column as u32, at, id);
        }
        Ok(id)
    }
}

/// A column of strings of any width.
enum Strings {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

impl Strings {
    fn new(array: &ArrayRef, name: &str) -> Result<Self, Fault> {
        match array.data_type() {
            DataType::Utf8 => Ok(Self::Small(array.as_string::<i32>().clone())),
            DataType::LargeUtf8 => Ok(Self::Large(array.as_string::<i64>().clone())),
            DataType::Utf8View => Ok(Self::View(array.as_string_view().clone())),
            DataType::Dictionary(..) | DataType::RunEndEncoded(..) | DataType::Null => {
                let array = arrow_cast::cast(array, &DataType::LargeUtf8)
                    .map_err(|_| Self::refused(name, array.data_type()))?;
                Ok(Self::Large(array.as_string::<i64>().clone()))
            }
            other => Err(Self::refused(name, other)),
        }
    }

    fn refused(name: &str, found: &DataType) -> Fault {
        Fault::Shape(format!("{name} is a column of strings, not of {found}"))
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&str> {
        match self {
            Self::Small(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Large(array) => array.is_valid(at).then(|| array.value(at)),
            Self::View(array) => array.is_valid(at).then(|| array.value(at)),
        }
    }
}

/// The column of quads.
struct Quads {
    lists: Lists,
    parts: [Option<Strings>; 4],
}

impl Quads {
    fn new(batch: &RecordBatch) -> Result<Self, Fault> {
        let Some(column) = batch.column_by_name("quads") else {
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
        let (lists, items) = Lists::new(column)?;
        let shape = || {
            Fault::Shape(format!(
                "quads is a list of structs of subject, predicate, object and graph, not {}",
                column.data_type()
            ))
        };
        let items: &StructArray = items.as_struct_opt().ok_or_else(shape)?;
        if items.null_count() > 0 {
            return Err(Fault::Shape("quads holds a null quad".to_owned()));
        }
        let part = |name: &str| {
            items
                .column_by_name(name)
                .map(|array| Strings::new(array, name))
                .transpose()
        };
        let parts = [
            part("subject")?,
            part("predicate")?,
            part("object")?,
            part("graph")?,
        ];
        if parts[..3].iter().any(Option::is_none) {
            return Err(shape());
        }
        Ok(Self { lists, parts })
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.lists.range(row)
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

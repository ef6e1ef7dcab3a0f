//! A column of quad or operation lists from another producer.
//!
//! - In: lists of structs. The lists may be large, fixed-size or views, and the fields may be in
//!   any order.
//! - Out: the records of each row, added to a batch. A null or missing field means the default
//!   graph, or a position that the operation does not have.
//! - Law: a null row has no records, and a slice contains no records of neighbouring rows.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use rdfm_core::codec::batch::LogRecord;
use rdfm_core::formats::nquads::{CellError, CellReader};
use rdfm_core::model::builder::LogBuilder;
use rdfm_core::model::error::{ErrorClass, quote};
use rdfm_core::model::record::{Operation, OperationCode};
use rdfm_core::model::remedy::Reason;
use rdfm_core::model::term::{Quad, TermId, TermKind};

use super::parts::TermColumn;
use super::strings::Strings;
use crate::error::Error;
use crate::schema::PARTS;

/// A type of record that rows contain in lists.
pub trait InputListRecord: LogRecord {
    /// Name of the column.
    const COLUMN: &'static str;
    /// Name of a record in errors.
    const RECORD: &'static str;
    /// Whether the rows have `metadata` and `namespaces` columns.
    const EXTRAS: bool;
    /// Names of a record's fields in errors.
    const FIELDS: &'static str;
    /// Columns of the fields.
    type Items: InputItems<Self> + Send;
}

/// The columns of the records' fields.
pub trait InputItems<R: LogRecord>: Sized {
    /// Finds the columns in an array. Returns `None` if a required column is missing.
    fn new(items: &StructArray) -> Result<Option<Self>, Error>;

    /// Adds a record to the current message.
    fn add(
        &self,
        index: usize,
        builder: &mut LogBuilder<R>,
        cells: &mut CellReader,
    ) -> Result<(), ItemError>;
}

/// An error in a record.
pub struct ItemError {
    /// The field that caused the error, if there is a single one.
    pub part: Option<&'static str>,
    /// Class of the error.
    pub class: ErrorClass,
    /// The problem.
    pub reason: Reason,
}

impl From<CellError> for ItemError {
    fn from(error: CellError) -> Self {
        Self {
            part: Some(PARTS[error.part]),
            class: error.class,
            reason: error.reason,
        }
    }
}

impl ItemError {
    fn new(part: &'static str, reason: impl Into<Reason>) -> Self {
        Self {
            part: Some(part),
            class: ErrorClass::Malformed,
            reason: reason.into(),
        }
    }
}

/// A column of record lists.
pub struct InputLists<R: InputListRecord> {
    rows: ListRanges,
    /// Index of the first row's first item. Items before it precede the slice.
    start: usize,
    /// Number of items, starting at `start`.
    count: usize,
    /// Validity of the records, if any of them is null.
    nulls: Option<NullBuffer>,
    items: R::Items,
}

impl<R: InputListRecord> InputLists<R> {
    /// Reads a column.
    pub fn new(column: &ArrayRef) -> Result<Self, Error> {
        let wrong_columns = || {
            Error::wrong_columns(format!(
                "column {}: expected a list of structs of {}, found {}",
                R::COLUMN,
                R::FIELDS,
                column.data_type()
            ))
        };
        let (rows, items) = ListRanges::new(column).ok_or_else(|| {
            let data_type = column.data_type();
            Error::wrong_columns(format!(
                "column {}: expected a list of structs, found {data_type}",
                R::COLUMN
            ))
        })?;
        let within = rows.within(items.len());
        let items = items.slice(within.start, within.len());
        let items: &StructArray = items.as_struct_opt().ok_or_else(wrong_columns)?;
        Ok(Self {
            rows,
            start: within.start,
            count: within.len(),
            nulls: items
                .nulls()
                .filter(|nulls| nulls.null_count() > 0)
                .cloned(),
            items: R::Items::new(items)?.ok_or_else(wrong_columns)?,
        })
    }

    /// Returns the number of rows.
    pub const fn len(&self) -> usize {
        self.rows.len
    }

    /// Whether a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.rows.is_null(row)
    }

    /// Returns the indexes of a row's records, or `None` if they are outside the array.
    pub fn range(&self, row: usize) -> Option<Range<usize>> {
        let range = self.rows.range(row)?;
        if range.is_empty() {
            return Some(0..0);
        }
        let range = range.start.checked_sub(self.start)?..range.end.checked_sub(self.start)?;
        (range.end <= self.count).then_some(range)
    }

    /// Adds a record to the current message.
    #[inline]
    pub fn add(
        &self,
        index: usize,
        builder: &mut LogBuilder<R>,
        cells: &mut CellReader,
    ) -> Result<(), ItemError> {
        if self
            .nulls
            .as_ref()
            .is_some_and(|nulls| nulls.is_null(index))
        {
            return Err(ItemError {
                part: None,
                class: ErrorClass::Malformed,
                reason: "is null".into(),
            });
        }
        self.items.add(index, builder, cells)
    }
}

/// Returns the column of a field, if present.
fn find_strings(items: &StructArray, name: &str) -> Result<Option<Strings>, Error> {
    let column = items.column_by_name(name);
    column.map(|array| Strings::new(array, name)).transpose()
}

/// The columns of the quads' terms.
pub struct InputQuads {
    subjects: TermColumn,
    predicates: TermColumn,
    objects: TermColumn,
    graphs: Option<TermColumn>,
}

impl InputQuads {
    /// Finds the columns in an array. Returns `None` if any column other than the graph is missing.
    fn from_structs(items: &StructArray) -> Result<Option<Self>, Error> {
        Self::from_columns(|name| items.column_by_name(name))
    }

    /// Finds the columns by name. Returns `None` if any column other than the graph is missing.
    pub fn from_columns<'a>(
        column: impl Fn(&str) -> Option<&'a ArrayRef>,
    ) -> Result<Option<Self>, Error> {
        let part = |name| {
            let column_array = column(name);
            column_array
                .map(|array| TermColumn::new(array, name))
                .transpose()
        };
        let [subjects, predicates, objects, graphs] = PARTS.map(part);
        let (Some(subjects), Some(predicates), Some(objects)) = (subjects?, predicates?, objects?)
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            subjects,
            predicates,
            objects,
            graphs: graphs?,
        }))
    }

    /// Returns the terms as stored.
    #[inline]
    fn get(&self, index: usize) -> [Option<&[u8]>; 4] {
        [
            self.subjects.get(index),
            self.predicates.get(index),
            self.objects.get(index),
            self.graphs.as_ref().and_then(|graphs| graphs.get(index)),
        ]
    }

    /// Returns the error of the first invalid term, if any.
    #[cold]
    fn error(&self, index: usize) -> Option<ItemError> {
        let parts = [
            Some(&self.subjects),
            Some(&self.predicates),
            Some(&self.objects),
            self.graphs.as_ref(),
        ];
        let mut named = PARTS.into_iter().zip(parts);
        named.find_map(|(name, part)| {
            let reason = part?.invalid_reason(index)?;
            Some(ItemError::new(name, reason))
        })
    }

    /// Returns a quad.
    #[inline]
    pub fn add_quad<R: LogRecord>(
        &self,
        index: usize,
        builder: &mut LogBuilder<R>,
        cells: &mut CellReader,
    ) -> Result<Quad, ItemError> {
        match self.get(index) {
            [Some(subject), Some(predicate), Some(object), graph] => {
                let quad = cells.parse_quad(builder, [subject, predicate, object], graph);
                // An invalid value is read as an empty string, which is not a term. The error of
                // the value itself is more useful.
                quad.map_err(|error| self.error(index).unwrap_or_else(|| error.into()))
            }
            parts => {
                let missing = parts.iter().position(Option::is_none).unwrap_or_default();
                Err(ItemError::new(PARTS[missing], NO_TERM))
            }
        }
    }
}

const NO_TERM: &str = "expected a term, found null";

impl InputListRecord for Quad {
    const COLUMN: &'static str = "quads";
    const RECORD: &'static str = "quad";
    const EXTRAS: bool = true;
    const FIELDS: &'static str = "subject, predicate, object and graph";
    type Items = InputQuads;
}

impl InputItems<Quad> for InputQuads {
    fn new(items: &StructArray) -> Result<Option<Self>, Error> {
        Self::from_structs(items)
    }

    #[inline]
    fn add(
        &self,
        index: usize,
        builder: &mut LogBuilder<Quad>,
        cells: &mut CellReader,
    ) -> Result<(), ItemError> {
        let quad = self.add_quad(index, builder, cells)?;
        builder.push_quad(quad);
        Ok(())
    }
}

/// The columns of the operations' codes, names and terms.
pub struct InputOperations {
    codes: Strings,
    names: Option<Strings>,
    terms: InputQuads,
}

impl InputListRecord for Operation {
    const COLUMN: &'static str = "operations";
    const RECORD: &'static str = "operation";
    const EXTRAS: bool = false;
    const FIELDS: &'static str = "op, name, subject, predicate, object and graph";
    type Items = InputOperations;
}

impl InputItems<Operation> for InputOperations {
    fn new(items: &StructArray) -> Result<Option<Self>, Error> {
        let (codes, names) = (find_strings(items, "op")?, find_strings(items, "name")?);
        let (Some(codes), Some(terms)) = (codes, InputQuads::from_structs(items)?) else {
            return Ok(None);
        };
        Ok(Some(Self {
            codes,
            names,
            terms,
        }))
    }

    fn add(
        &self,
        index: usize,
        builder: &mut LogBuilder<Operation>,
        cells: &mut CellReader,
    ) -> Result<(), ItemError> {
        let code = self.operation_code(index)?;
        if let Some(reason) = self
            .names
            .as_ref()
            .and_then(|names| names.invalid_reason(index))
        {
            return Err(ItemError::new("name", reason));
        }
        let name = self.names.as_ref().and_then(|names| names.get(index));
        if matches!(code, OperationCode::Add | OperationCode::Delete) {
            reject_unexpected(code, "name", name)?;
            let quad = self.terms.add_quad(index, builder, cells)?;
            builder.push(Operation::new(code, quad));
            return Ok(());
        }
        if let Some(error) = self.terms.error(index) {
            return Err(error);
        }
        let [subject, predicate, object, graph] = self.terms.get(index);
        reject_unexpected(code, "subject", subject)?;
        reject_unexpected(code, "predicate", predicate)?;
        let (named, valued, in_graph) = match code {
            OperationCode::Header => (true, true, false),
            OperationCode::AddPrefix => (true, true, true),
            OperationCode::DeletePrefix => (true, false, true),
            _ => (false, false, false),
        };
        let mut operation = Operation::bare(code);
        if named {
            let name =
                name.ok_or_else(|| ItemError::new("name", "expected a string, found null"))?;
            operation.name = add_name(name, builder)?;
        } else {
            reject_unexpected(code, "name", name)?;
        }
        if valued {
            let object = object.ok_or_else(|| ItemError::new("object", NO_TERM))?;
            operation.object = cells.parse_part(builder, 2, object)?;
            let kind = builder.table().term(operation.object).kind;
            if code == OperationCode::AddPrefix && kind != TermKind::Iri {
                let reason = format!("expected the IRI of a prefix, found {}", quote(object));
                return Err(ItemError::new("object", reason));
            }
        } else {
            reject_unexpected(code, "object", object)?;
        }
        match graph {
            Some(graph) if in_graph => operation.graph = cells.parse_part(builder, 3, graph)?,
            graph => reject_unexpected(code, "graph", graph)?,
        }
        builder.add(operation).map_err(|limit| ItemError {
            part: None,
            class: ErrorClass::Limit,
            reason: limit.0,
        })
    }
}

impl InputOperations {
    fn operation_code(&self, index: usize) -> Result<OperationCode, ItemError> {
        let text = self.codes.get(index);
        let code = text.and_then(|text| OperationCode::from_name(std::str::from_utf8(text).ok()?));
        code.ok_or_else(|| {
            if let Some(reason) = self.codes.invalid_reason(index) {
                return ItemError::new("op", reason);
            }
            let codes = OperationCode::ALL.map(OperationCode::name).join(", ");
            let quoted = text.map_or_else(|| "null".to_owned(), quote);
            ItemError::new("op", format!("expected one of {codes}, found {quoted}"))
        })
    }
}

/// Adds a header key or a prefix.
fn add_name(name: &[u8], builder: &mut LogBuilder<Operation>) -> Result<TermId, ItemError> {
    if std::str::from_utf8(name).is_err() {
        let shown = quote(name);
        return Err(ItemError::new("name", format!("invalid UTF-8 in {shown}")));
    }
    let added = builder.add_simple(TermKind::Literal, name, 0);
    added.map_err(|limit| ItemError {
        part: Some("name"),
        class: ErrorClass::Limit,
        reason: limit.0,
    })
}

/// Rejects a value that operations with this code cannot have.
fn reject_unexpected(
    code: OperationCode,
    part: &'static str,
    value: Option<&[u8]>,
) -> Result<(), ItemError> {
    let Some(value) = value else {
        return Ok(());
    };
    let reason = format!(
        "expected null ({} has no {part}), found {}",
        code.name(),
        quote(value)
    );
    Err(ItemError::new(part, reason))
}

/// The item ranges of the rows.
struct ListRanges {
    len: usize,
    nulls: Option<NullBuffer>,
    layout: ListLayout,
}

enum ListLayout {
    Small(ScalarBuffer<i32>),
    Large(ScalarBuffer<i64>),
    /// Index of the first item, and number of items in each row.
    Fixed(usize, usize),
    View(ScalarBuffer<i32>, ScalarBuffer<i32>),
    LargeView(ScalarBuffer<i64>, ScalarBuffer<i64>),
}

impl ListRanges {
    /// Returns the item ranges and the items of a column, or `None` if the column has another type.
    fn new(column: &ArrayRef) -> Option<(Self, ArrayRef)> {
        let (layout, items) = match column.data_type() {
            DataType::List(_) => {
                let lists = column.as_list::<i32>();
                let offsets = lists.offsets().inner().clone();
                (ListLayout::Small(offsets), lists.values())
            }
            DataType::LargeList(_) => {
                let lists = column.as_list::<i64>();
                let offsets = lists.offsets().inner().clone();
                (ListLayout::Large(offsets), lists.values())
            }
            DataType::FixedSizeList(_, length) => {
                let lists = column.as_fixed_size_list();
                let length = usize::try_from(*length).ok()?;
                let first = usize::try_from(lists.value_offset(0)).ok()?;
                (ListLayout::Fixed(first, length), lists.values())
            }
            DataType::ListView(_) => {
                let lists = column.as_list_view::<i32>();
                let layout = ListLayout::View(lists.offsets().clone(), lists.sizes().clone());
                (layout, lists.values())
            }
            DataType::LargeListView(_) => {
                let lists = column.as_list_view::<i64>();
                let layout = ListLayout::LargeView(lists.offsets().clone(), lists.sizes().clone());
                (layout, lists.values())
            }
            _ => return None,
        };
        let ranges = Self {
            len: column.len(),
            nulls: column.nulls().cloned(),
            layout,
        };
        Some((ranges, ArrayRef::clone(items)))
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Returns the range of items from the first row to the last row, out of `count` items.
    fn within(&self, count: usize) -> Range<usize> {
        let last = self.len.saturating_sub(1);
        let range = match &self.layout {
            ListLayout::View(..) | ListLayout::LargeView(..) => None,
            _ => (self.len > 0)
                .then(|| Some(self.unchecked_range(0)?.start..self.unchecked_range(last)?.end)),
        };
        // Invalid offsets are detected when the row is read.
        let range = range.flatten().unwrap_or(0..count);
        range.start.min(count).min(range.end)..range.end.min(count)
    }

    /// Returns the indexes of a row's items.
    fn range(&self, row: usize) -> Option<Range<usize>> {
        if self.is_null(row) {
            return Some(0..0);
        }
        let range = self.unchecked_range(row)?;
        (range.start <= range.end).then_some(range)
    }

    fn unchecked_range(&self, row: usize) -> Option<Range<usize>> {
        let start_and_end = match &self.layout {
            ListLayout::Small(offsets) => {
                [*offsets.get(row)?, *offsets.get(row + 1)?].map(i64::from)
            }
            ListLayout::Large(offsets) => [*offsets.get(row)?, *offsets.get(row + 1)?],
            ListLayout::Fixed(first, length) => {
                let start = row.checked_mul(*length)?.checked_add(*first)?;
                return Some(start..start.checked_add(*length)?);
            }
            ListLayout::View(offsets, sizes) => {
                let [start, size] = [*offsets.get(row)?, *sizes.get(row)?].map(i64::from);
                [start, start.checked_add(size)?]
            }
            ListLayout::LargeView(offsets, sizes) => {
                let [start, size] = [*offsets.get(row)?, *sizes.get(row)?];
                [start, start.checked_add(size)?]
            }
        };
        let [start, end] = start_and_end.map(|offset| usize::try_from(offset).ok());
        Some(start?..end?)
    }
}

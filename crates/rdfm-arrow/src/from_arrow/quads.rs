//! A column of quads that others made.
//!
//! - In: lists of structs; the lists may be large, of a fixed size or views, the fields stand in any order.
//! - Out: the cells of each quad of a row. A null or missing graph is the default graph.
//! - Law: a null row has no quads, and a slice none of its neighbours'.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, ListArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::strings::Strings;
use crate::error::Error;

/// The names of the fields.
pub const PARTS: [&str; 4] = ["subject", "predicate", "object", "graph"];

/// Subject, predicate and object, and the graph if it is not the default graph.
pub type Cells<'a> = ([&'a [u8]; 3], Option<&'a [u8]>);

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
    /// The column.
    pub fn new(column: &ArrayRef) -> Result<Self, Error> {
        let (lists, items) = Lists::new(column)?;
        let shape = || {
            Error::shape(format!(
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

    /// Whether a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        match &self.lists {
            Lists::Small(lists) => lists.is_null(row),
            Lists::Large(lists) => lists.is_null(row),
        }
    }

    /// The numbers of a row's quads.
    pub fn range(&self, row: usize) -> Range<usize> {
        self.lists.range(row)
    }

    /// Whether a quad is null.
    #[inline]
    pub fn is_null_quad(&self, at: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(at))
    }

    /// The terms of a quad, or which of the first three is null.
    #[inline]
    pub fn cells(&self, at: usize) -> Result<Cells<'_>, usize> {
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
    Small(ListArray),
    Large(LargeListArray),
}

impl Lists {
    /// The lists of a column, and their items.
    fn new(column: &ArrayRef) -> Result<(Self, ArrayRef), Error> {
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
            Err(Error::shape(format!(
                "quads is a list of structs, not {}",
                column.data_type()
            )))
        }
    }

    fn range(&self, row: usize) -> Range<usize> {
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

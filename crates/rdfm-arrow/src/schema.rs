//! The columns of Arrow rows: names and types.
//!
//! - In: columns by name, or a schema that somebody asks for. Out: the schema of the rows.
//! - Law: all fields are nullable, and none depends on what a batch holds.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use rdfm_core::model::error::quote;

/// A column of the row schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Where a message is from, as whoever asks for rows says it.
    Source,
    /// The index of a message in its log.
    Offset,
    /// The quads: structs of terms as canonical N-Triples.
    Quads,
    /// The metadata: a map of strings to bytes.
    Metadata,
    /// The first byte of a message in its log.
    Position,
    /// The namespaces that a message declares or uses: a map of names to IRIs.
    Namespaces,
}

impl Column {
    /// Every column.
    pub const ALL: [Self; 6] = [
        Self::Source,
        Self::Offset,
        Self::Quads,
        Self::Metadata,
        Self::Position,
        Self::Namespaces,
    ];

    /// Those of rows unless others are asked for.
    pub const DEFAULT: [Self; 4] = [Self::Source, Self::Offset, Self::Quads, Self::Metadata];

    /// The name in the schema.
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

    /// The column of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// The columns of these names; [`DEFAULT`](Self::DEFAULT) without names.
    ///
    /// # Errors
    /// A name is that of no column; the text says which.
    pub fn by_names(names: Option<&[String]>) -> Result<Vec<Self>, String> {
        let Some(names) = names else {
            return Ok(Self::DEFAULT.to_vec());
        };
        let column = |name: &String| {
            Self::by_name(name).ok_or_else(|| {
                format!(
                    "no column is named {}; known: {}",
                    quote(name.as_bytes()),
                    Self::ALL.map(Self::name).join(", ")
                )
            })
        };
        names.iter().map(column).collect()
    }

    /// The columns of a schema that somebody asks for, if rows can have it.
    pub fn of_schema(wanted: &Schema) -> Option<Vec<Self>> {
        let fields = wanted.fields().iter();
        let found: Option<Vec<Self>> = fields.map(|field| Self::by_name(field.name())).collect();
        found.filter(|found| !found.is_empty())
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

pub(crate) fn term_fields() -> Fields {
    ["subject", "predicate", "object", "graph"]
        .map(|name| Field::new(name, DataType::Utf8, true))
        .to_vec()
        .into()
}

pub(crate) fn quad_field() -> FieldRef {
    Arc::new(Field::new("item", DataType::Struct(term_fields()), true))
}

/// The type of a column of quads.
pub fn quads_type() -> DataType {
    DataType::List(quad_field())
}

pub(crate) fn entry_fields(value: DataType) -> Fields {
    vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", value, true),
    ]
    .into()
}

pub(crate) fn entries_field(value: DataType) -> FieldRef {
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

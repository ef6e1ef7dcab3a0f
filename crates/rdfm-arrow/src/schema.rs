//! The columns of Arrow rows: names and types.
//!
//! - In: columns by name, or a schema that somebody asks for. Out: the schema of the rows.
//! - Law: all fields are nullable, and none depends on what a batch holds, but for the variables of results.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::error::quote;

use crate::error::Error;

/// A column of the row schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Where a message is from, as whoever asks for rows says it.
    Source,
    /// The index of a message in its log.
    Offset,
    /// The quads: structs of terms as canonical N-Triples.
    Quads,
    /// The operations of a patch: structs of a code, a name and terms.
    Operations,
    /// The metadata: a map of strings to bytes.
    Metadata,
    /// The first byte of a message in its log.
    Position,
    /// The namespaces that a message declares or uses: a map of names to IRIs.
    Namespaces,
    /// The cells of a row of results: a column for each variable, which has its name.
    Variables,
}

impl Column {
    /// Every column of messages.
    pub const ALL: [Self; 6] = [
        Self::Source,
        Self::Offset,
        Self::Quads,
        Self::Metadata,
        Self::Position,
        Self::Namespaces,
    ];

    /// Those of messages unless others are asked for.
    pub const DEFAULT: [Self; 4] = [Self::Source, Self::Offset, Self::Quads, Self::Metadata];

    /// Every column of a kind of log, those first that rows have unless others are asked for; and how many these are.
    const fn of(kind: Kind) -> (&'static [Self], usize) {
        match kind {
            Kind::Messages => (&Self::ALL, Self::DEFAULT.len()),
            Kind::Patches => (
                &[
                    Self::Source,
                    Self::Offset,
                    Self::Operations,
                    Self::Metadata,
                    Self::Position,
                    Self::Namespaces,
                ],
                4,
            ),
            Kind::Results => (&[Self::Variables], 1),
        }
    }

    /// Those of a kind of log unless others are asked for.
    pub fn default_of(kind: Kind) -> Vec<Self> {
        let (all, count) = Self::of(kind);
        all[..count].to_vec()
    }

    /// The name in the schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Offset => "offset",
            Self::Quads => "quads",
            Self::Operations => "operations",
            Self::Metadata => "metadata",
            Self::Position => "position",
            Self::Namespaces => "namespaces",
            Self::Variables => "a column for each variable",
        }
    }

    /// The column of a name, in rows of a kind of log.
    pub fn by_name(kind: Kind, name: &str) -> Option<Self> {
        let mut named = Self::of(kind).0.iter().copied();
        named.find(|column| *column != Self::Variables && column.name() == name)
    }

    /// The columns of these names; [`default_of`](Self::default_of) without names.
    ///
    /// # Errors
    /// A name is that of no column; the text says which.
    pub fn by_names(kind: Kind, names: Option<&[String]>) -> Result<Vec<Self>, String> {
        let Some(names) = names else {
            return Ok(Self::default_of(kind));
        };
        let column = |name: &String| {
            Self::by_name(kind, name).ok_or_else(|| {
                let known: Vec<&str> = Self::of(kind).0.iter().map(|one| one.name()).collect();
                format!(
                    "no column is named {}; known: {}",
                    quote(name.as_bytes()),
                    known.join(", ")
                )
            })
        };
        names.iter().map(column).collect()
    }

    /// The columns of a schema that somebody asks for, if rows of a kind of log can have it.
    pub fn of_schema(kind: Kind, wanted: &Schema) -> Option<Vec<Self>> {
        let fields = wanted.fields().iter();
        let found: Option<Vec<Self>> = fields
            .map(|field| Self::by_name(kind, field.name()))
            .collect();
        found.filter(|found| !found.is_empty())
    }

    fn fields(self, variables: &[Box<str>]) -> Vec<Field> {
        let data_type = match self {
            Self::Source => DataType::Utf8,
            Self::Offset | Self::Position => DataType::Int64,
            Self::Quads => quads_type(),
            Self::Operations => DataType::List(item_field(operation_fields())),
            Self::Metadata => DataType::Map(entries_field(DataType::Binary), false),
            Self::Namespaces => DataType::Map(entries_field(DataType::Utf8), false),
            Self::Variables => {
                let names = variables.iter();
                return names
                    .map(|name| Field::new(&**name, DataType::Utf8, true))
                    .collect();
            }
        };
        vec![Field::new(self.name(), data_type, true)]
    }
}

/// The kind of log that rows are of: messages with `quads`, patches with `operations`.
///
/// # Errors
/// There are both columns, or neither.
pub fn kind_of(schema: &Schema) -> Result<Kind, Error> {
    let has = |column: Column| schema.column_with_name(column.name()).is_some();
    match (has(Column::Quads), has(Column::Operations)) {
        (true, false) => Ok(Kind::Messages),
        (false, true) => Ok(Kind::Patches),
        (true, true) => Err(Error::shape(
            "there are columns 'quads' and 'operations', and a row is a message or a patch; drop one of them"
                .to_owned(),
        )),
        (false, false) => Err(missing("'quads' (messages) or 'operations' (patches)", schema)),
    }
}

/// Why rows without a column are refused.
pub(crate) fn missing(column: &str, schema: &Schema) -> Error {
    let fields = schema.fields().iter();
    let names: Vec<&str> = fields.map(|field| field.name().as_str()).collect();
    Error::shape(format!(
        "there is no column {column}; found: {}",
        names.join(", ")
    ))
}

/// The type of a column of quads.
pub fn quads_type() -> DataType {
    DataType::List(item_field(quad_fields()))
}

fn strings(names: &[&str]) -> Fields {
    let names = names.iter();
    names
        .map(|name| Field::new(*name, DataType::Utf8, true))
        .collect()
}

pub(crate) fn quad_fields() -> Fields {
    strings(&["subject", "predicate", "object", "graph"])
}

pub(crate) fn operation_fields() -> Fields {
    strings(&["op", "name", "subject", "predicate", "object", "graph"])
}

pub(crate) fn item_field(fields: Fields) -> FieldRef {
    Arc::new(Field::new("item", DataType::Struct(fields), true))
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
pub fn schema(columns: &[Column], variables: &[Box<str>]) -> SchemaRef {
    let columns = columns.iter();
    let fields: Vec<Field> = columns
        .flat_map(|column| column.fields(variables))
        .collect();
    Arc::new(Schema::new(fields))
}

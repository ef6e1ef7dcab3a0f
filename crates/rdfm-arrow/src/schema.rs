//! Columns of Arrow rows: names and types.
//!
//! - In: column names, or a requested schema. Out: the schema of the rows.
//! - Law: all fields are nullable. No field depends on the contents of a batch, except for result
//!   variables. A row is a message ([`Layout`]) or a quad ([`QuadLayout`]).

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::error::quote;

use crate::error::Error;

/// Representation of terms in columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermLayout {
    /// As canonical N-Triples.
    #[default]
    NTriples,
    /// As structs of kind, value, datatype, language and direction.
    Structs,
}

impl TermLayout {
    /// Returns the representation with the given name, `ntriples` or `structs`.
    ///
    /// # Errors
    /// If the name is unknown; the error names it.
    pub fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "ntriples" => Ok(Self::NTriples),
            "structs" => Ok(Self::Structs),
            other => Err(format!(
                "terms must be 'ntriples' or 'structs', not {}",
                quote(other.as_bytes())
            )),
        }
    }

    /// Returns the type of a term column.
    pub fn data_type(self) -> DataType {
        match self {
            Self::NTriples => DataType::Utf8,
            Self::Structs => DataType::Struct(term_fields()),
        }
    }
}

/// The requested kind of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowLayout {
    /// One row per message, patch or result row.
    Whole(Layout),
    /// One row per quad.
    Quads(QuadLayout),
}

impl RowLayout {
    /// Returns the requested row layout for a kind of log. `rows` is `messages` (even for patches
    /// and result rows) or `quads`; `terms` is a name that [`TermLayout::from_name`] accepts. If
    /// `names` is `None`, the rows have the default columns.
    ///
    /// # Errors
    /// If the kind has no such rows, or a name is unknown; the error says which.
    pub fn from_name(
        kind: Kind,
        names: Option<&[String]>,
        rows: &str,
        terms: &str,
    ) -> Result<Self, String> {
        let terms = TermLayout::from_name(terms)?;
        match rows {
            "messages" => Ok(Self::Whole(Layout {
                columns: Column::from_names(kind, names)?,
                terms,
            })),
            "quads" if kind == Kind::Messages => Ok(Self::Quads(QuadLayout {
                columns: QuadColumn::from_names(names)?,
                terms,
            })),
            "quads" => Err(format!("quad rows require messages, not {}", kind.name())),
            other => Err(format!(
                "rows must be 'messages' or 'quads', not {}",
                quote(other.as_bytes())
            )),
        }
    }
}

/// The columns of rows with one message each, and the representation of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the rows.
    pub columns: Vec<Column>,
    /// Representation of terms.
    pub terms: TermLayout,
}

impl Layout {
    /// Creates a layout with these columns.
    pub fn new(columns: &[Column], terms: TermLayout) -> Self {
        Self {
            columns: columns.to_vec(),
            terms,
        }
    }
}

/// Creates a layout with terms as N-Triples.
impl From<Vec<Column>> for Layout {
    fn from(columns: Vec<Column>) -> Self {
        Self {
            columns,
            terms: TermLayout::default(),
        }
    }
}

impl From<&Vec<Column>> for Layout {
    fn from(columns: &Vec<Column>) -> Self {
        columns.clone().into()
    }
}

impl From<&[Column]> for Layout {
    fn from(columns: &[Column]) -> Self {
        columns.to_vec().into()
    }
}

impl<const N: usize> From<&[Column; N]> for Layout {
    fn from(columns: &[Column; N]) -> Self {
        columns.to_vec().into()
    }
}

/// A column of quad rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuadColumn {
    /// Source of the quad's message.
    Source,
    /// Index of the quad's message in its log.
    MessageIndex,
    /// Subject, predicate, object or graph: 0 to 3.
    Part(usize),
}

impl QuadColumn {
    /// All columns, in order.
    pub const ALL: [Self; 6] = [
        Self::Source,
        Self::MessageIndex,
        Self::Part(0),
        Self::Part(1),
        Self::Part(2),
        Self::Part(3),
    ];

    /// Returns the name in the schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::MessageIndex => "message_index",
            Self::Part(part) => PARTS[part],
        }
    }

    /// Returns the columns with these names, or all columns if `names` is `None`.
    ///
    /// # Errors
    /// If a name is unknown; the error says which.
    pub fn from_names(names: Option<&[String]>) -> Result<Vec<Self>, String> {
        let Some(names) = names else {
            return Ok(Self::ALL.to_vec());
        };
        let column = |name: &String| {
            let known = Self::ALL.into_iter().find(|column| column.name() == name);
            known.ok_or_else(|| unknown_name_error(name, &Self::ALL.map(Self::name)))
        };
        names.iter().map(column).collect()
    }

    fn field(self, terms: TermLayout) -> Field {
        let data_type = match self {
            Self::Source => DataType::Utf8,
            Self::MessageIndex => DataType::Int64,
            Self::Part(_) => terms.data_type(),
        };
        Field::new(self.name(), data_type, true)
    }
}

/// The columns of quad rows, and the representation of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuadLayout {
    /// Columns of the rows.
    pub columns: Vec<QuadColumn>,
    /// Representation of terms.
    pub terms: TermLayout,
}

impl QuadLayout {
    /// Returns the schema of the rows.
    pub fn schema(&self) -> SchemaRef {
        let columns = self.columns.iter();
        let fields: Vec<Field> = columns.map(|column| column.field(self.terms)).collect();
        Arc::new(Schema::new(fields))
    }
}

/// A column of rows with one message each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Source of a message, as named by the caller.
    Source,
    /// Index of a message in its log.
    MessageIndex,
    /// Offset of the first byte of a message in its log; null if the log does not consist of bytes.
    ByteOffset,
    /// Quads: structs of terms.
    Quads,
    /// Operations of a patch: structs of a code, a name and terms.
    Operations,
    /// Metadata: a map of strings to bytes.
    Metadata,
    /// Namespaces that a message declares or uses: a map of names to IRIs.
    Namespaces,
    /// Cells of a result row: one column for each variable, with the variable's name.
    Variables,
}

impl Column {
    /// All columns of messages.
    pub const ALL: [Self; 6] = [
        Self::Source,
        Self::MessageIndex,
        Self::ByteOffset,
        Self::Quads,
        Self::Metadata,
        Self::Namespaces,
    ];

    /// Returns all columns of a kind of log, in order.
    const fn for_kind(kind: Kind) -> &'static [Self] {
        match kind {
            Kind::Messages => &Self::ALL,
            Kind::Patches => &[
                Self::Source,
                Self::MessageIndex,
                Self::ByteOffset,
                Self::Operations,
                Self::Metadata,
                Self::Namespaces,
            ],
            Kind::Results => &[Self::Variables],
        }
    }

    /// Returns the default columns of a kind of log.
    pub fn default_for(kind: Kind) -> Vec<Self> {
        let columns = Self::for_kind(kind).iter().copied();
        columns
            .filter(|column| !matches!(column, Self::ByteOffset | Self::Namespaces))
            .collect()
    }

    /// Returns the name in the schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::MessageIndex => "message_index",
            Self::ByteOffset => "byte_offset",
            Self::Quads => "quads",
            Self::Operations => "operations",
            Self::Metadata => "metadata",
            Self::Namespaces => "namespaces",
            Self::Variables => "the variables",
        }
    }

    /// Returns the column with the given name, if logs of this kind have such a column.
    pub fn from_name(kind: Kind, name: &str) -> Option<Self> {
        let mut named = Self::for_kind(kind).iter().copied();
        named.find(|column| *column != Self::Variables && column.name() == name)
    }

    /// Returns the columns with these names, or the default columns if `names` is `None`.
    ///
    /// # Errors
    /// If a name is unknown; the error says which.
    pub fn from_names(kind: Kind, names: Option<&[String]>) -> Result<Vec<Self>, String> {
        let Some(names) = names else {
            return Ok(Self::default_for(kind));
        };
        let column = |name: &String| {
            Self::from_name(kind, name).ok_or_else(|| {
                let expected: Vec<&str> = Self::for_kind(kind)
                    .iter()
                    .map(|allowed| allowed.name())
                    .collect();
                unknown_name_error(name, &expected)
            })
        };
        names.iter().map(column).collect()
    }

    /// Returns the columns of a requested schema, if rows of this kind of log can have them.
    pub fn from_schema(kind: Kind, requested: &Schema) -> Option<Vec<Self>> {
        let fields = requested.fields().iter();
        let columns: Option<Vec<Self>> = fields
            .map(|field| Self::from_name(kind, field.name()))
            .collect();
        columns.filter(|columns| !columns.is_empty())
    }

    fn fields(self, variables: &[Box<str>], terms: TermLayout) -> Vec<Field> {
        let data_type = match self {
            Self::Source => DataType::Utf8,
            Self::MessageIndex | Self::ByteOffset => DataType::Int64,
            Self::Quads => DataType::List(item_field(quad_fields(terms))),
            Self::Operations => DataType::List(item_field(operation_fields(terms))),
            Self::Metadata => DataType::Map(entries_field(DataType::Binary), false),
            Self::Namespaces => DataType::Map(entries_field(DataType::Utf8), false),
            Self::Variables => {
                let names = variables.iter();
                return names
                    .map(|name| Field::new(&**name, terms.data_type(), true))
                    .collect();
            }
        };
        vec![Field::new(self.name(), data_type, true)]
    }
}

/// Returns the error text for an unknown column name.
fn unknown_name_error(name: &str, expected: &[&str]) -> String {
    format!(
        "unknown column {}; expected one of {}",
        quote(name.as_bytes()),
        expected.join(", ")
    )
}

/// The kind of rows from another producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Messages, with a `quads` column.
    Messages,
    /// Patches, with an `operations` column.
    Patches,
    /// Quads, with `message_index`, `subject`, `predicate` and `object` columns.
    Quads,
}

/// Determines the kind of rows from their columns.
///
/// # Errors
/// If the schema has both list columns, or lacks the columns that identify the kind.
pub fn detect_row_kind(schema: &Schema) -> Result<RowKind, Error> {
    let named = |name: &str| schema.column_with_name(name).is_some();
    let has = |column: Column| named(column.name());
    match (has(Column::Quads), has(Column::Operations)) {
        (true, false) => Ok(RowKind::Messages),
        (false, true) => Ok(RowKind::Patches),
        (true, true) => Err(Error::wrong_columns(
            "the rows have both columns 'quads' and 'operations', but a row is either a message or a patch; drop one of them"
                .to_owned(),
        )),
        (false, false) if QuadColumn::ALL[1..5].iter().all(|quad_column| named(quad_column.name())) => {
            Ok(RowKind::Quads)
        }
        (false, false) => Err(wrong_columns(
            "expected a column 'quads' (messages) or 'operations' (patches), or the columns 'message_index', 'subject', \
            'predicate' and 'object' (quads)",
            schema,
        )),
    }
}

/// Returns the error for rows without a required column.
pub(crate) fn missing_column_error(column: &str, schema: &Schema) -> Error {
    wrong_columns(&format!("there is no column {column}"), schema)
}

fn wrong_columns(reason: &str, schema: &Schema) -> Error {
    let fields = schema.fields().iter();
    let names: Vec<&str> = fields.map(|field| field.name().as_str()).collect();
    Error::wrong_columns(format!("{reason}; found: {}", names.join(", ")))
}

/// Returns the type of a `quads` column, with terms as N-Triples.
pub fn quads_type() -> DataType {
    DataType::List(item_field(quad_fields(TermLayout::NTriples)))
}

/// Field names of a quad.
pub(crate) const PARTS: [&str; 4] = ["subject", "predicate", "object", "graph"];
/// Datatype of literals with a language tag.
pub(crate) const RDF_LANG_STRING: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
/// Datatype of literals with a language tag and a base direction.
pub(crate) const RDF_DIR_LANG_STRING: &[u8] =
    b"http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";
/// Field names of a term.
pub(crate) const DETAILS: [&str; 5] = ["kind", "value", "datatype", "language", "direction"];

fn fields_of<'a>(names: impl IntoIterator<Item = &'a str>, data_type: &DataType) -> Vec<Field> {
    let names = names.into_iter();
    names
        .map(|name| Field::new(name, data_type.clone(), true))
        .collect()
}

/// Returns the fields of a term struct.
pub(crate) fn term_fields() -> Fields {
    fields_of(DETAILS, &DataType::Utf8).into()
}

pub(crate) fn quad_fields(terms: TermLayout) -> Fields {
    fields_of(PARTS, &terms.data_type()).into()
}

pub(crate) fn operation_fields(terms: TermLayout) -> Fields {
    let mut fields = fields_of(["op", "name"], &DataType::Utf8);
    fields.extend(fields_of(PARTS, &terms.data_type()));
    fields.into()
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

/// Returns the schema of rows with these columns.
pub fn schema<L: Into<Layout>>(layout: L, variables: &[Box<str>]) -> SchemaRef {
    let layout = layout.into();
    let columns = layout.columns.iter();
    let fields: Vec<Field> = columns
        .flat_map(|column| column.fields(variables, layout.terms))
        .collect();
    Arc::new(Schema::new(fields))
}

/// Rejects variables that cannot be column names.
///
/// # Errors
/// If a variable occurs twice, or contains a NUL, which terminates names in Arrow's C data
/// interface.
pub(crate) fn check_variables(variables: &[Box<str>]) -> Result<(), String> {
    let mut seen = HashSet::with_capacity(variables.len());
    for name in variables {
        if name.contains('\0') {
            return Err(format!(
                "the variable {} contains a NUL character, which Arrow does not allow in column names; rename the variable",
                quote(name.as_bytes())
            ));
        }
        if !seen.insert(name) {
            return Err(format!(
                "the variable {} occurs twice, but column names must be unique",
                quote(name.as_bytes())
            ));
        }
    }
    Ok(())
}

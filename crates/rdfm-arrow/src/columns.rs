//! Typed columns of result rows, with the message to which each row belongs.
//!
//! - In: variables and their requested types, rows of terms, and the message of each row.
//! - Out: `source` and `message_index` columns if requested, then one column per variable, with terms as
//!   canonical N-Triples or values of the requested type.
//! - Law: the schema depends only on the variables and types. A value that does not fit its column
//!   is an error, or it becomes null and is counted. It is never replaced by another value.

use std::str::FromStr;
use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
};
use arrow_buffer::{BooleanBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use oxsdatatypes::{Date, DateTime, DayTimeDuration, Decimal, Duration, Time};
use rdfm_core::model::batch::ResultBatch;
use rdfm_core::model::datatypes::Datatype;
use rdfm_core::model::error::quote;
use rdfm_core::model::remedy::Reason;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};
use rdfm_core::model::write::write_term;
use rdfm_core::syntax::moment;

use crate::error::Error;
use crate::schema::{TermLayout, check_variables};
use crate::to_arrow::limit::{BuildError, charge};
use crate::to_arrow::terms::{RenderedTerms, TermColumns};
use crate::to_arrow::texts::{Texts, nulls};

const XSD: &[u8] = b"http://www.w3.org/2001/XMLSchema#";
const TOO_LARGE: &str = "the strings of the rows exceed 2 GiB in one batch; use smaller batches";
/// Names of the columns that precede the variables.
const MESSAGE_COLUMNS: [&str; 2] = ["source", "message_index"];
/// Precision and scale of a decimal: the total number of digits, and the number of digits after the
/// decimal point.
const DECIMAL: (u8, i8) = (38, 18);
/// xsd:integer and its derived types.
const INTEGERS: [&[u8]; 13] = [
    b"integer",
    b"long",
    b"int",
    b"short",
    b"byte",
    b"nonNegativeInteger",
    b"positiveInteger",
    b"nonPositiveInteger",
    b"negativeInteger",
    b"unsignedLong",
    b"unsignedInt",
    b"unsignedShort",
    b"unsignedByte",
];

/// Type of a variable's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Any term, as canonical N-Triples.
    Term,
    /// Text of an IRI, or lexical form of a literal.
    String,
    /// Text of an IRI.
    Iri,
    /// Value of an xsd:boolean.
    Boolean,
    /// 64-bit value of an xsd:integer or a derived type.
    Integer,
    /// Value of an xsd:decimal or an integer: 38 digits, 18 of them after the decimal point.
    Decimal,
    /// Value of an xsd:float, a decimal or an integer.
    Float,
    /// Value of any numeric literal.
    Double,
    /// Value of an xsd:dateTime, in microseconds. UTC is the default time zone.
    DateTime,
    /// Value of an xsd:date as written, without its time zone.
    Date,
    /// Value of an xsd:time, in microseconds since midnight UTC. UTC is the default time zone.
    Time,
    /// Value of an xsd:dayTimeDuration, or of an xsd:duration without months, in microseconds.
    Duration,
}

impl Type {
    /// The types that can be requested, with their names.
    pub const NAMES: [(&'static str, Self); 11] = [
        ("string", Self::String),
        ("iri", Self::Iri),
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("decimal", Self::Decimal),
        ("float", Self::Float),
        ("double", Self::Double),
        ("dateTime", Self::DateTime),
        ("date", Self::Date),
        ("time", Self::Time),
        ("duration", Self::Duration),
    ];

    fn from_name(name: &str) -> Option<Self> {
        let column_type = Self::NAMES.iter().find(|(type_name, _)| *type_name == name);
        column_type.map(|(_, column_type)| *column_type)
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Term | Self::String | Self::Iri => DataType::Utf8,
            Self::Boolean => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Decimal => DataType::Decimal128(DECIMAL.0, DECIMAL.1),
            Self::Float => DataType::Float32,
            Self::Double => DataType::Float64,
            Self::DateTime => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Duration => DataType::Duration(TimeUnit::Microsecond),
        }
    }

    /// Description of valid values, for error texts.
    const fn expected_datatypes(self) -> &'static str {
        match self {
            Self::Term => "a term",
            Self::String => "an IRI or a literal",
            Self::Iri => "an IRI",
            Self::Boolean => "an xsd:boolean",
            Self::Integer => "a 64-bit xsd:integer",
            Self::Decimal => {
                "an xsd:decimal with at most 20 digits before and 18 after the decimal point"
            }
            Self::Float => "an xsd:float, a decimal or an integer",
            Self::Double => "a number",
            Self::DateTime => "an xsd:dateTime with at most microsecond precision",
            Self::Date => "an xsd:date",
            Self::Time => "an xsd:time with at most microsecond precision",
            Self::Duration => "an xsd:dayTimeDuration with at most microsecond precision",
        }
    }
}

/// A value that does not fit its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Index of the row in the input.
    pub row: usize,
    /// Index of the row's message, if rows belong to messages.
    pub message_index: Option<u64>,
    /// The variable, its value, and the expected value.
    pub reason: String,
}

/// Error from [`ResultColumns`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A value does not fit its column.
    Misfit(Misfit),
    /// Any other error.
    Error(Error),
}

/// Typed columns of result rows.
#[derive(Clone, Debug)]
pub struct ResultColumns {
    variables: Vec<Box<str>>,
    types: Vec<Type>,
    with_messages: bool,
}

impl ResultColumns {
    /// Creates the columns of `variables` with the requested `types`. If `with_messages` is true,
    /// `source` and `message_index` columns precede them.
    ///
    /// # Errors
    /// If a type or variable is unknown, or two columns would have the same name.
    pub fn new<'a>(
        variables: impl IntoIterator<Item = &'a str>,
        types: impl IntoIterator<Item = (&'a str, &'a str)>,
        with_messages: bool,
    ) -> Result<Self, Reason> {
        let variables: Vec<Box<str>> = variables.into_iter().map(Into::into).collect();
        check_variables(&variables)?;
        for name in &variables {
            if with_messages && MESSAGE_COLUMNS.contains(&&**name) {
                return Err(format!(
                    "?{name} would be a second column named {name}; rename the variable"
                )
                .into());
            }
        }
        let mut column_types = vec![Type::Term; variables.len()];
        for (name, type_name) in types {
            let name = name.trim_start_matches(['?', '$']);
            let Some(index) = variables.iter().position(|variable| &**variable == name) else {
                let names: Vec<String> = variables.iter().map(|name| format!("?{name}")).collect();
                let known = if names.is_empty() {
                    "there are no variables".to_owned()
                } else {
                    format!("the variables are {}", names.join(", "))
                };
                return Err(format!(
                    "cannot set the type of {}: there is no such variable; {known}",
                    quote(name.as_bytes())
                )
                .into());
            };
            column_types[index] = Type::from_name(
                type_name.strip_prefix("xsd:").unwrap_or(type_name),
            )
            .ok_or_else(|| {
                let type_names: Vec<&str> = Type::NAMES.iter().map(|(name, _)| *name).collect();
                format!(
                    "unknown type {} for ?{name}; expected one of {}",
                    quote(type_name.as_bytes()),
                    type_names.join(", ")
                )
            })?;
        }
        Ok(Self {
            variables,
            types: column_types,
            with_messages,
        })
    }

    /// Returns the schema. It does not depend on the rows.
    pub fn schema(&self) -> SchemaRef {
        let [source, message_index] = MESSAGE_COLUMNS;
        let mut fields = Vec::with_capacity(self.types.len() + 2);
        if self.with_messages {
            fields.push(Field::new(source, DataType::Utf8, true));
            fields.push(Field::new(message_index, DataType::Int64, true));
        }
        let variables = self.variables.iter().zip(&self.types);
        fields.extend(
            variables.map(|(name, column_type)| Field::new(&**name, column_type.data_type(), true)),
        );
        Arc::new(Schema::new(fields))
    }

    /// Returns the columns for some rows, and the number of values that are null because they do
    /// not fit their column.
    ///
    /// `messages` contains the message index of each row, and `source` is the name of the log. They
    /// are used only if their columns were requested.
    ///
    /// # Errors
    /// If a value does not fit its column and `misfits_are_null` is false, the rows have different
    /// variables, the number of messages differs from the number of rows, or the strings exceed 2
    /// GiB.
    pub fn record_batch(
        &self,
        rows: &ResultBatch,
        messages: &[u64],
        source: Option<&str>,
        misfits_are_null: bool,
    ) -> Result<(RecordBatch, usize), Failure> {
        let wrong_columns = |reason: &str| Failure::Error(Error::wrong_columns(reason.to_owned()));
        let head = rows.head();
        if !rows.is_empty() && *head.variables != *self.variables {
            return Err(wrong_columns(
                "the variables of the rows differ from those of the columns",
            ));
        }
        if self.with_messages && messages.len() != rows.len() {
            return Err(wrong_columns(
                "the number of message indexes differs from the number of rows",
            ));
        }
        let mut builder = ColumnBuilder {
            columns: self,
            rows,
            messages,
            misfits_are_null,
            misfits: 0,
            bytes: 0,
        };
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.types.len() + 2);
        if self.with_messages {
            arrays.push(builder.source_array(source)?);
            let indexes = messages.iter().map(|index| index.cast_signed());
            let indexes: Vec<i64> = indexes.collect();
            let indexes = PrimitiveArray::<Int64Type>::new(indexes.into(), None);
            arrays.push(Arc::new(indexes));
        }
        let mut places = RenderedTerms::new(rows.table());
        for position in 0..self.types.len() {
            arrays.push(builder.variable_array(position, &mut places)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(self.schema(), arrays, &options)
            .map_err(|error| Failure::from(BuildError::from(error)))?;
        Ok((batch, builder.misfits))
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::Error(error.into_error(TOO_LARGE))
    }
}

/// Builds the columns for some rows.
struct ColumnBuilder<'a> {
    columns: &'a ResultColumns,
    rows: &'a ResultBatch,
    messages: &'a [u64],
    misfits_are_null: bool,
    misfits: usize,
    bytes: usize,
}

impl ColumnBuilder<'_> {
    fn source_array(&mut self, source: Option<&str>) -> Result<ArrayRef, Failure> {
        let text = source.unwrap_or_default().as_bytes();
        let mut texts = Texts::new();
        for _ in 0..self.rows.len() {
            charge(&mut self.bytes, text.len())?;
            texts.add(text);
        }
        let valid = vec![source.is_some(); self.rows.len()];
        self.string_array(texts, valid)
    }

    #[allow(clippy::unused_self, reason = "consistent with the other methods")]
    fn string_array(&self, texts: Texts, valid: Vec<bool>) -> Result<ArrayRef, Failure> {
        let array = texts.into_strings(nulls(valid)).map_err(BuildError::from)?;
        Ok(Arc::new(array))
    }

    fn variable_array(
        &mut self,
        index: usize,
        places: &mut RenderedTerms,
    ) -> Result<ArrayRef, Failure> {
        match self.columns.types[index] {
            Type::Term => self.term_array(index, places),
            Type::String => self.text_array(index, |table, id| {
                let term = table.term(id);
                let has_text = term.kind == TermKind::Iri || is_literal(term.kind);
                has_text.then(|| table.text_of(term))
            }),
            Type::Iri => self.text_array(index, |table, id| {
                let term = table.term(id);
                (term.kind == TermKind::Iri).then(|| table.text_of(term))
            }),
            Type::Boolean => {
                let (values, valid) = self.read_values(index, boolean)?;
                let values = BooleanBuffer::from(values);
                Ok(Arc::new(BooleanArray::new(values, nulls(valid))))
            }
            Type::Integer => self.primitive_array::<Int64Type>(index, integer),
            Type::Decimal => {
                let (values, valid) = self.read_values(index, decimal)?;
                let array =
                    PrimitiveArray::<Decimal128Type>::new(ScalarBuffer::from(values), nulls(valid));
                let array = array.with_precision_and_scale(DECIMAL.0, DECIMAL.1);
                Ok(Arc::new(array.map_err(BuildError::from)?))
            }
            Type::Float => self.primitive_array::<Float32Type>(index, float),
            Type::Double => self.primitive_array::<Float64Type>(index, double),
            Type::DateTime => {
                let (values, valid) = self.read_values(index, date_time)?;
                let values = ScalarBuffer::from(values);
                let array = PrimitiveArray::<TimestampMicrosecondType>::new(values, nulls(valid));
                Ok(Arc::new(array.with_timezone("UTC")))
            }
            Type::Date => self.primitive_array::<Date32Type>(index, date),
            Type::Time => self.primitive_array::<Time64MicrosecondType>(index, time),
            Type::Duration => self.primitive_array::<DurationMicrosecondType>(index, duration),
        }
    }

    /// Returns the cells of a variable.
    fn cells(&self, index: usize) -> impl Iterator<Item = TermId> + use<'_> {
        let width = self.columns.variables.len();
        self.rows
            .records()
            .iter()
            .skip(index)
            .step_by(width)
            .copied()
    }

    fn term_array(
        &mut self,
        index: usize,
        places: &mut RenderedTerms,
    ) -> Result<ArrayRef, Failure> {
        let mut terms = TermColumns::new(1, TermLayout::NTriples);
        places.invalidate();
        let (table, mut bytes) = (self.rows.table(), self.bytes);
        for id in self.cells(index) {
            terms.add_optional(table, 0, id, places, &mut bytes)?;
        }
        self.bytes = bytes;
        let mut arrays = terms.finish().map_err(BuildError::from)?;
        let array = arrays.pop();
        array.ok_or_else(|| Failure::Error(Error::wrong_columns("no column".to_owned())))
    }

    fn text_array<'t>(
        &'t mut self,
        index: usize,
        text: impl Fn(&'t TermTable, TermId) -> Option<&'t [u8]>,
    ) -> Result<ArrayRef, Failure> {
        let rows: &'t ResultBatch = self.rows;
        let table = rows.table();
        let mut texts = Texts::new();
        let mut valid = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let id = rows.message(row)[index];
            let value = if id == TermId::DEFAULT_GRAPH {
                None
            } else if let Some(value) = text(table, id) {
                Some(value)
            } else {
                self.note_misfit(row, index, id)?;
                None
            };
            charge(&mut self.bytes, value.map_or(0, <[u8]>::len))?;
            texts.add(value.unwrap_or_default());
            valid.push(value.is_some());
        }
        self.string_array(texts, valid)
    }

    fn primitive_array<T: ArrowPrimitiveType>(
        &mut self,
        index: usize,
        read: impl Fn(Literal<'_>) -> Option<T::Native>,
    ) -> Result<ArrayRef, Failure> {
        let (values, valid) = self.read_values(index, read)?;
        let values = ScalarBuffer::from(values);
        Ok(Arc::new(PrimitiveArray::<T>::new(values, nulls(valid))))
    }

    /// Returns the values that a variable's literals represent, and whether each of them is
    /// present.
    fn read_values<T: Default>(
        &mut self,
        index: usize,
        read: impl Fn(Literal<'_>) -> Option<T>,
    ) -> Result<(Vec<T>, Vec<bool>), Failure> {
        let rows = self.rows;
        let mut values = Vec::with_capacity(rows.len());
        let mut valid = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let id = rows.message(row)[index];
            let value = if id == TermId::DEFAULT_GRAPH {
                None
            } else {
                let value = Literal::from_term(rows.table(), id).and_then(&read);
                if value.is_none() {
                    self.note_misfit(row, index, id)?;
                }
                value
            };
            valid.push(value.is_some());
            values.push(value.unwrap_or_default());
        }
        Ok((values, valid))
    }

    /// Counts or rejects a value that does not fit its column.
    fn note_misfit(&mut self, row: usize, index: usize, id: TermId) -> Result<(), Failure> {
        self.misfits += 1;
        if self.misfits_are_null {
            return Ok(());
        }
        let mut term = Vec::new();
        write_term(self.rows.table(), id, &mut term);
        let (name, expected) = (
            &self.columns.variables[index],
            self.columns.types[index].expected_datatypes(),
        );
        Err(Failure::Misfit(Misfit {
            row,
            message_index: self.messages.get(row).copied(),
            reason: format!("?{name} is {}, expected {expected}", quote(&term)),
        }))
    }
}

const fn is_literal(kind: TermKind) -> bool {
    matches!(
        kind,
        TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral
    )
}

/// A valid literal with an XSD datatype other than xsd:string. Whitespace around its lexical form
/// is removed.
#[derive(Clone, Copy)]
struct Literal<'a> {
    datatype: &'a [u8],
    text: &'a str,
}

impl<'a> Literal<'a> {
    fn from_term(table: &'a TermTable, id: TermId) -> Option<Self> {
        let term = table.term(id);
        if term.kind != TermKind::TypedLiteral {
            return None;
        }
        let iri = table.text(TermId(term.aux));
        let text = std::str::from_utf8(table.text_of(term)).ok()?;
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        let is_valid = Datatype::from_iri(iri)?.allows(text.as_bytes());
        let datatype = iri.strip_prefix(XSD)?;
        is_valid.then_some(Self { datatype, text })
    }

    fn is_integer(self) -> bool {
        INTEGERS.contains(&self.datatype)
    }
}

fn boolean(literal: Literal<'_>) -> Option<bool> {
    match (literal.datatype, literal.text) {
        (b"boolean", "true" | "1") => Some(true),
        (b"boolean", "false" | "0") => Some(false),
        _ => None,
    }
}

fn integer(literal: Literal<'_>) -> Option<i64> {
    literal.is_integer().then(|| literal.text.parse().ok())?
}

/// Returns the number in units of 10^-18.
fn decimal(literal: Literal<'_>) -> Option<i128> {
    if !literal.is_integer() && literal.datatype != b"decimal" {
        return None;
    }
    let value = Decimal::from_str(literal.text).ok()?;
    let number = i128::from_be_bytes(value.to_be_bytes());
    (number.unsigned_abs() < 10_u128.pow(DECIMAL.0.into())).then_some(number)
}

fn double(literal: Literal<'_>) -> Option<f64> {
    let is_number =
        literal.is_integer() || matches!(literal.datatype, b"double" | b"float" | b"decimal");
    is_number.then(|| floating(literal))?
}

fn float(literal: Literal<'_>) -> Option<f32> {
    let is_number = literal.is_integer() || matches!(literal.datatype, b"float" | b"decimal");
    is_number.then(|| floating(literal))?
}

/// Parses a number in the lexical form of its datatype. Rejects the other spellings of NaN and the
/// infinities, which Rust's parser would accept.
fn floating<T: FromStr>(literal: Literal<'_>) -> Option<T> {
    let inexact = matches!(literal.datatype, b"double" | b"float");
    match literal.text {
        "INF" | "+INF" if inexact => return "inf".parse().ok(),
        "-INF" if inexact => return "-inf".parse().ok(),
        "NaN" if inexact => return "nan".parse().ok(),
        _ => {}
    }
    let is_part_of_number = |byte: u8| match byte {
        b'0'..=b'9' | b'+' | b'-' => true,
        b'.' => !literal.is_integer(),
        b'e' | b'E' => inexact,
        _ => false,
    };
    let is_number = literal.text.bytes().all(is_part_of_number);
    is_number.then(|| literal.text.parse().ok())?
}

fn date_time(literal: Literal<'_>) -> Option<i64> {
    if !matches!(literal.datatype, b"dateTime" | b"dateTimeStamp") {
        return None;
    }
    moment::micros(literal.text.as_bytes()).or_else(|| {
        let date_time = DateTime::from_str(literal.text).ok()?;
        // A value without a time zone is treated as UTC.
        let zone_offset = date_time
            .timezone()
            .map_or(Decimal::default(), DayTimeDuration::as_seconds);
        let day = moment::day_of(
            date_time.year(),
            date_time.month().into(),
            date_time.day().into(),
        );
        let clock = i64::from(date_time.hour()) * 3600 + i64::from(date_time.minute()) * 60;
        let seconds = date_time
            .second()
            .checked_add(clock)?
            .checked_sub(zone_offset)?;
        day.checked_mul(moment::DAY_MICROS)?
            .checked_add(micros(seconds)?)
    })
}

fn date(literal: Literal<'_>) -> Option<i32> {
    if literal.datatype != b"date" {
        return None;
    }
    let day = moment::days(literal.text.as_bytes()).or_else(|| {
        let date = Date::from_str(literal.text).ok()?;
        let (month, day) = (date.month().into(), date.day().into());
        Some(moment::day_of(date.year(), month, day))
    })?;
    day.try_into().ok()
}

fn time(literal: Literal<'_>) -> Option<i64> {
    if literal.datatype != b"time" {
        return None;
    }
    let time = Time::from_str(literal.text).ok()?;
    let zone_offset = time
        .timezone()
        .map_or(Decimal::default(), DayTimeDuration::as_seconds);
    let clock = i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60;
    let seconds = time.second().checked_add(clock)?.checked_sub(zone_offset)?;
    Some(micros(seconds)?.rem_euclid(moment::DAY_MICROS))
}

fn duration(literal: Literal<'_>) -> Option<i64> {
    let duration = match literal.datatype {
        b"dayTimeDuration" => DayTimeDuration::from_str(literal.text).ok()?,
        b"duration" => Duration::from_str(literal.text).ok()?.try_into().ok()?,
        _ => return None,
    };
    micros(duration.as_seconds())
}

/// Converts seconds to microseconds, if the result is an integer of at most 64 bits.
fn micros(seconds: Decimal) -> Option<i64> {
    const UNITS_PER_MICROSECOND: i128 = 1_000_000_000_000;
    let units = i128::from_be_bytes(seconds.to_be_bytes());
    (units % UNITS_PER_MICROSECOND == 0).then(|| (units / UNITS_PER_MICROSECOND).try_into().ok())?
}

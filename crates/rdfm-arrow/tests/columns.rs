//! Typed columns of result rows: values that fit or do not fit, and the schema.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, TimeUnit};
use rdfm_arrow::columns::{Failure, ResultColumns, Type};
use rdfm_core::formats::nquads::parse_term;
use rdfm_core::model::batch::ResultBatch;
use rdfm_core::model::builder::ResultBuilder;
use rdfm_core::model::datatypes::Datatype;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::record::ResultHead;
use rdfm_core::model::term::TermId;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Result rows with cells in N-Triples. An empty string is an unbound cell.
fn rows(variables: &[&str], rows: &[&[&str]]) -> ResultBatch {
    let mut builder = ResultBuilder::new(Limits::default());
    builder.set_head(Arc::new(ResultHead {
        variables: variables.iter().map(|name| (*name).into()).collect(),
        ..ResultHead::default()
    }));
    for row in rows {
        builder.begin_message(0);
        for text in *row {
            let id = if text.is_empty() {
                TermId::DEFAULT_GRAPH
            } else {
                parse_term(&mut builder, text.as_bytes(), 8).unwrap()
            };
            builder.add(id).unwrap();
        }
        builder.end_message();
    }
    let none = builder.take_head();
    builder.take().unwrap_or(none)
}

fn literal(text: &str, datatype: &str) -> String {
    format!("\"{text}\"^^<{XSD}{datatype}>")
}

fn typed(name: &str, misfits_are_null: bool, cells: &[&str]) -> Result<Vec<String>, Failure> {
    let columns = ResultColumns::new(["v"], [("v", name)], false).unwrap();
    let cells: Vec<[&str; 1]> = cells.iter().map(|cell| [*cell]).collect();
    let cells: Vec<&[&str]> = cells.iter().map(|row| &row[..]).collect();
    let (batch, misfits) =
        columns.record_batch(&rows(&["v"], &cells), &[], None, misfits_are_null)?;
    assert_eq!(batch.schema(), columns.schema());
    let actual = texts(&batch, 0);
    let nulls = batch.column(0).null_count();
    let unbound = cells.iter().filter(|row| row[0].is_empty()).count();
    assert_eq!(nulls, unbound + misfits);
    Ok(actual)
}

fn texts(batch: &RecordBatch, column: usize) -> Vec<String> {
    let mut array = Arc::clone(batch.column(column));
    if let Some(moments) = array.as_primitive_opt::<TimestampMicrosecondType>() {
        // This build of Arrow does not support time zone names.
        array = Arc::new(moments.clone().with_timezone_opt::<Arc<str>>(None));
    }
    let text = |row| array_value_to_string(&array, row).unwrap();
    (0..batch.num_rows()).map(text).collect()
}

#[test]
fn values_are_converted_to_each_type() {
    for (name, datatype, text, expected) in [
        ("string", "integer", " 5", " 5"),
        ("boolean", "boolean", "true", "true"),
        ("boolean", "boolean", " 0\\n", "false"),
        ("integer", "integer", "-007", "-7"),
        (
            "integer",
            "unsignedLong",
            "+9223372036854775807",
            "9223372036854775807",
        ),
        ("integer", "byte", "1", "1"),
        ("decimal", "decimal", "-1.50", "-1.500000000000000000"),
        (
            "decimal",
            "decimal",
            "99999999999999999999",
            "99999999999999999999.000000000000000000",
        ),
        ("decimal", "integer", "5", "5.000000000000000000"),
        ("float", "float", "1.5e3", "1500.0"),
        ("float", "decimal", ".5", "0.5"),
        ("double", "double", "INF", "inf"),
        ("double", "float", "-INF", "-inf"),
        ("double", "double", "NaN", "NaN"),
        ("double", "double", "1E-1", "0.1"),
        ("double", "decimal", "1.", "1.0"),
        ("double", "long", "+3", "3.0"),
        (
            "dateTime",
            "dateTime",
            "2026-06-01T10:00:00.5+02:00",
            "2026-06-01T08:00:00.500",
        ),
        (
            "dateTime",
            "dateTime",
            "2026-06-01T10:00:00",
            "2026-06-01T10:00:00",
        ),
        (
            "dateTime",
            "dateTimeStamp",
            "2026-06-01T10:00:00Z",
            "2026-06-01T10:00:00",
        ),
        (
            "dateTime",
            "dateTime",
            "2026-06-01T24:00:00Z",
            "2026-06-02T00:00:00",
        ),
        (
            "dateTime",
            "dateTime",
            "2026-06-01T00:00:00.1234560+14:00",
            "2026-05-31T10:00:00.123456",
        ),
        ("date", "date", "2026-06-01", "2026-06-01"),
        ("date", "date", "2026-06-01-05:00", "2026-06-01"),
        ("time", "time", "10:00:00.25", "10:00:00.250"),
        ("time", "time", "01:00:00+02:00", "23:00:00"),
        ("duration", "dayTimeDuration", "P1DT2H", "PT93600S"),
        ("duration", "duration", "-PT0.5S", "-PT0.5S"),
    ] {
        let actual = typed(name, false, &[&literal(text, datatype), ""]).unwrap();
        assert_eq!(actual, [expected, ""], "{name} of {text:?} {datatype}");
    }
    let cells = ["<x:a>", "\"a\"@en", "\"a\"", "\"a\"^^<x:d>", ""];
    assert_eq!(
        typed("string", false, &cells).unwrap(),
        ["x:a", "a", "a", "a", ""]
    );
    assert_eq!(typed("iri", false, &["<x:a>", ""]).unwrap(), ["x:a", ""]);
}

#[test]
fn values_that_do_not_fit_are_errors_or_null() {
    for (name, cells) in [
        (
            "string",
            vec!["_:b".to_owned(), "<<( <x:a> <x:b> \"c\" )>>".to_owned()],
        ),
        ("iri", vec!["_:b".to_owned(), "\"x:a\"".to_owned()]),
        (
            "boolean",
            vec![
                literal("yes", "boolean"),
                literal("1", "integer"),
                "\"true\"".to_owned(),
            ],
        ),
        (
            "integer",
            vec![
                literal("9223372036854775808", "integer"),
                literal("5.0", "decimal"),
                literal("x", "integer"),
                literal("", "int"),
                literal("300", "byte"),
                literal("0", "positiveInteger"),
                "\"5\"".to_owned(),
            ],
        ),
        (
            "decimal",
            vec![
                literal("100000000000000000000", "decimal"),
                literal("0.1234567890123456789", "decimal"),
                literal("1e3", "decimal"),
                literal("1", "double"),
            ],
        ),
        (
            "float",
            vec![
                literal("1", "double"),
                literal("inf", "float"),
                literal("1e3", "decimal"),
            ],
        ),
        (
            "double",
            vec![
                literal("nan", "double"),
                literal("infinity", "double"),
                literal("INF", "decimal"),
                literal("1.5", "integer"),
                literal("", "double"),
                literal("1_000", "double"),
                "\"1\"".to_owned(),
            ],
        ),
        (
            "dateTime",
            vec![
                literal("2026-06-01", "date"),
                literal("2026-06-01", "dateTime"),
                literal("2026-02-30T00:00:00Z", "dateTime"),
                literal("2026-06-01T00:00:00.1234567Z", "dateTime"),
                literal("999999-01-01T00:00:00Z", "dateTime"),
            ],
        ),
        (
            "date",
            vec![
                literal("2026-06-01T00:00:00Z", "dateTime"),
                literal("2026-6-1", "date"),
            ],
        ),
        ("time", vec![literal("25:00:00", "time")]),
        (
            "duration",
            vec![
                literal("P1M", "duration"),
                literal("PT0.0000001S", "dayTimeDuration"),
                literal("P1DT", "dayTimeDuration"),
                literal("PT0H.5S", "duration"),
                literal("PT0M1.S", "dayTimeDuration"),
                literal("PT0M1.S", "duration"),
            ],
        ),
    ] {
        for cell in &cells {
            let failure = typed(name, false, &[cell]).unwrap_err();
            let Failure::Misfit(misfit) = failure else {
                unreachable!("{failure:?}")
            };
            assert_eq!((misfit.row, misfit.message_index), (0, None));
            assert!(misfit.reason.starts_with("?v is '"), "{}", misfit.reason);
        }
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let actual = typed(name, true, &cells).unwrap();
        assert!(actual.iter().all(String::is_empty), "{name}: {actual:?}");
    }
}

/// A literal that `validate` rejects has no value.
#[test]
fn only_valid_lexical_forms_have_values() {
    let texts = [
        "",
        "-",
        "+",
        ".",
        "1",
        "+1",
        "-1",
        "01",
        "1.",
        ".5",
        "1.5",
        "1e",
        "1e3",
        "1E+3",
        "e3",
        "INF",
        "+INF",
        "-INF",
        "NaN",
        "nan",
        "true",
        "True",
        "P",
        "PT",
        "P1D",
        "P1DT",
        "PT.5S",
        "PT1.S",
        "PT0H.5S",
        "PT0M1.S",
        "PT1.5M",
        "P1DT1.5S",
        "-P1D",
        "--P1D",
        "P-1D",
        "P1S",
        "PT1D",
        "PT1S1M",
        "2026-01-01",
        "2026-1-1",
        "2026-02-29",
        "24:00:00",
        "24:00:01",
        "10:00",
        "10:00:00.",
        "10:00:00Z",
        "10:00:00+15:00",
        "2026-01-01T10:00:00",
        "2026-01-01T10:00:00.",
        "2026-01-01T10:00:00+14:01",
        "2026-01-01 10:00:00",
        "0000-01-01",
        "-0001-01-01",
        "12026-01-01",
        "02026-01-01",
        "+2026-01-01",
        "99999999999999999999",
        "128",
    ];
    let columns = [
        "boolean", "integer", "decimal", "float", "double", "dateTime", "date", "time", "duration",
    ];
    let mut values = 0;
    for datatype in Datatype::all() {
        let local = datatype.name().split_once(':').unwrap().1;
        for text in texts {
            for column in columns {
                let actual = typed(column, true, &[&literal(text, local)]).unwrap();
                let has_value = !actual[0].is_empty();
                assert!(
                    !has_value || datatype.allows(text.as_bytes()),
                    "{column} of {text:?} {local}: {actual:?}"
                );
                values += usize::from(has_value);
            }
        }
    }
    assert!(values > 100, "{values}");
}

#[test]
fn rows_have_source_and_message_columns() {
    let columns = ResultColumns::new(["s", "n"], [("?n", "xsd:double")], true).unwrap();
    let given = rows(
        &["s", "n"],
        &[
            &["<x:a>", &literal("1", "double")],
            &["_:b", "\"warm\""],
            &["", ""],
        ],
    );
    let (batch, misfits) = columns
        .record_batch(&given, &[3, 3, 7], Some("a.nq"), true)
        .unwrap();
    assert_eq!(misfits, 1);
    assert_eq!(batch.schema(), columns.schema());
    let names: Vec<_> = batch
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    assert_eq!(names, ["source", "message_index", "s", "n"]);
    assert_eq!(texts(&batch, 0), ["a.nq"; 3]);
    assert_eq!(texts(&batch, 1), ["3", "3", "7"]);
    assert_eq!(texts(&batch, 2), ["<x:a>", "_:b", ""]);
    assert_eq!(texts(&batch, 3), ["1.0", "", ""]);
    let Err(Failure::Misfit(misfit)) = columns.record_batch(&given, &[3, 4, 7], None, false) else {
        unreachable!()
    };
    assert_eq!((misfit.row, misfit.message_index), (1, Some(4)));
    assert_eq!(misfit.reason, "?n is '\"warm\"', expected a number");
    assert!(columns.record_batch(&given, &[3], None, false).is_err());
    assert!(
        columns
            .record_batch(&rows(&["n", "s"], &[&["", ""]]), &[1], None, false)
            .is_err()
    );
    let (none, _) = columns
        .record_batch(&rows(&["s", "n"], &[]), &[], None, false)
        .unwrap();
    assert_eq!((none.num_rows(), none.schema()), (0, columns.schema()));
    let bare = ResultColumns::new([], [], true).unwrap();
    let (bare, _) = bare
        .record_batch(&rows(&[], &[&[], &[]]), &[0, 1], None, false)
        .unwrap();
    assert_eq!((bare.num_rows(), bare.num_columns()), (2, 2));
    assert_eq!(bare.column(0).null_count(), 2);
}

#[test]
fn schema_does_not_depend_on_rows() {
    let types = Type::NAMES.map(|(name, _)| (name, name));
    let names = Type::NAMES.map(|(name, _)| name);
    let columns = ResultColumns::new(names, types, false).unwrap();
    let schema = columns.schema();
    let actual: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| field.data_type().clone())
        .collect();
    let micros = TimeUnit::Microsecond;
    let expected = [
        DataType::Utf8,
        DataType::Utf8,
        DataType::Boolean,
        DataType::Int64,
        DataType::Decimal128(38, 18),
        DataType::Float32,
        DataType::Float64,
        DataType::Timestamp(micros, Some("UTC".into())),
        DataType::Date32,
        DataType::Time64(micros),
        DataType::Duration(micros),
    ];
    assert_eq!(actual, expected);
}

#[test]
fn invalid_columns_are_rejected() {
    let rejected =
        |variables: &[&'static str], types: &[(&'static str, &'static str)], with_messages| {
            let columns = ResultColumns::new(
                variables.iter().copied(),
                types.iter().copied(),
                with_messages,
            );
            columns.unwrap_err().to_string()
        };
    assert_eq!(
        rejected(&["a", "b"], &[("c", "double")], true),
        "cannot set the type of 'c': there is no such variable; the variables are ?a, ?b"
    );
    assert_eq!(
        rejected(&["a"], &[("a", "number")], true),
        "unknown type 'number' for ?a; expected one of string, iri, boolean, integer, decimal, float, double, \
         dateTime, date, time, duration"
    );
    assert_eq!(
        rejected(&["message_index"], &[], true),
        "?message_index would be a second column named message_index; rename the variable"
    );
    assert!(ResultColumns::new(["message_index", "source"], [], false).is_ok());
    assert_eq!(
        rejected(&["a", "a"], &[], false),
        "the variable 'a' occurs twice, but column names must be unique"
    );
    assert_eq!(
        rejected(&["a\0b"], &[], false),
        r"the variable 'a\u0000b' contains a NUL character, which Arrow does not allow in column names; rename the variable"
    );
}

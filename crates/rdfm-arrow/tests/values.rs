//! Value columns with one message per value, each decoded and encoded separately.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use crate::support::{Message, QuadTexts, batch, lists, quad, reader};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, NullArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use rdfm_arrow::schema::{Column, quads_type};
use rdfm_arrow::to_arrow;
use rdfm_arrow::values::{self, Cause, OnError, ValueError};
use rdfm_core::codec::batch::Batch;
use rdfm_core::codec::values::Values;
use rdfm_core::codec::{Decoder, Encoder, Opening};
use rdfm_core::model::error::{DecodeError, ErrorClass, Position};
use rdfm_core::model::term::Quad;
use rdfm_core::registry;

const FORMATS: [&str; 4] = ["nq", "trig", "jelly", "rdf-thrift"];
const DEPTH: u32 = 8;

fn decoder(format: &str) -> Box<dyn Decoder> {
    let spec = registry::find(format).unwrap();
    registry::new_decoder(spec, &Values::default(), &Opening::default()).unwrap()
}

fn encoder(format: &str) -> Box<dyn Encoder> {
    let spec = registry::find(format).unwrap();
    registry::new_encoder(spec, &Values::default(), None).unwrap()
}

fn binary(values: &[Option<&[u8]>]) -> ArrayRef {
    Arc::new(BinaryArray::from(values.to_vec()))
}

fn decode(format: &str, values: ArrayRef, on_error: OnError) -> Result<ArrayRef, ValueError> {
    values::decode::<Quad>(reader(vec![values]), on_error, &mut *decoder(format))
}

fn encode(format: &str, quads: ArrayRef) -> Result<ArrayRef, ValueError> {
    values::encode::<Quad>(reader(vec![quads]), DEPTH, &mut *encoder(format))
}

/// A `quads` column without null quads.
fn column(rows: &[Option<Vec<QuadTexts>>]) -> ArrayRef {
    let messages: Vec<_> = rows
        .iter()
        .map(|row| Message {
            quads: row.clone().unwrap_or_default(),
            ..Message::default()
        })
        .collect();
    let output = to_arrow::record_batch(&[&batch(&messages)], &[Column::Quads], None).unwrap();
    let (item, offsets, items, _) = output.column(0).as_list::<i32>().clone().into_parts();
    let valid: Vec<bool> = rows.iter().map(Option::is_some).collect();
    let lists = arrow_array::ListArray::new(item, offsets, items, Some(valid.into()));
    Arc::new(lists)
}

fn rows() -> Vec<Option<Vec<QuadTexts>>> {
    let a = quad("<http://e/s>", "<http://e/p>", "\"é\\n\"@en", "");
    let b = quad("_:b", "<http://e/p>", "<http://e/s>", "");
    vec![
        Some(vec![a.clone(), b.clone()]),
        None,
        Some(vec![]),
        Some(vec![b]),
        Some(vec![a]),
        None,
    ]
}

#[test]
fn values_round_trip() {
    for format in FORMATS {
        let values = encode(format, column(&rows())).unwrap();
        assert_eq!(values.data_type(), &DataType::Binary);
        let nulls: Vec<bool> = (0..6).map(|index| values.is_null(index)).collect();
        assert_eq!(nulls, [false, true, false, false, false, true]);
        let back = decode(format, values, OnError::Raise).unwrap();
        assert_eq!(back.data_type(), &quads_type());
        assert_eq!(lists(&back), rows(), "{format}");
    }
}

#[test]
fn values_do_not_affect_each_other() {
    for format in FORMATS {
        let all = encode(format, column(&rows())).unwrap();
        for (number, row) in rows().into_iter().enumerate() {
            let single = encode(format, column(&[row])).unwrap();
            assert_eq!(&single, &all.slice(number, 1), "{format}");
        }
    }
    let declares: &[u8] = b"PREFIX e: <http://e/> e:s e:p _:b .";
    let uses: &[u8] = b"e:s e:p _:b .";
    let values = binary(&[Some(declares), Some(uses), Some(declares)]);
    let output = decode("trig", values, OnError::Null).unwrap();
    let one = Some(vec![quad("<http://e/s>", "<http://e/p>", "_:b", "")]);
    assert_eq!(lists(&output), [one.clone(), None, one]);
}

#[test]
fn all_binary_array_types_are_accepted() {
    let value: &[u8] = b"<a:s> <a:p> <a:o> .\n";
    let small = binary(&[Some(value), None]);
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Binary));
    let arrays: Vec<ArrayRef> = vec![
        cast(&small, &DataType::LargeBinary).unwrap(),
        cast(&small, &DataType::BinaryView).unwrap(),
        cast(&small, &dictionary).unwrap(),
        binary(&[Some(b"oops"), Some(value), None]).slice(1, 2),
        cast(&small, &DataType::FixedSizeBinary(20)).unwrap(),
        Arc::new(NullArray::new(1)),
        small,
    ];
    let count = arrays.len();
    let output =
        values::decode::<Quad>(reader(arrays), OnError::Raise, &mut *decoder("nq")).unwrap();
    let pair = [Some(vec![quad("<a:s>", "<a:p>", "<a:o>", "")]), None];
    let mut expected = vec![pair.as_slice(); count - 2];
    expected.extend([&pair[1..], &pair]);
    assert_eq!(lists(&output), expected.concat());
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let error = decode("nq", numbers, OnError::Null).unwrap_err();
    assert_eq!(
        error.to_string(),
        "arrow: expected an array of bytes, found Int32"
    );
}

#[test]
fn invalid_values_are_errors_or_null() {
    let good: &[u8] = b"<a:s> <a:p> <a:o> .\n";
    let many: &[u8] = b"<a:s> <a:p> <a:o> .\n# @message\n<a:s> <a:p> <a:p> .\n";
    let values = [Some(good), None, Some(b"<a:s> oops"), Some(many), Some(b"")];
    let output = decode("nq", binary(&values), OnError::Null).unwrap();
    let one = Some(vec![quad("<a:s>", "<a:p>", "<a:o>", "")]);
    assert_eq!(lists(&output), [one, None, None, None, Some(vec![])]);

    let error = decode("nq", binary(&values), OnError::Raise).unwrap_err();
    assert_eq!(error.value, Some(2));
    assert!(matches!(&*error.cause, Cause::Decode(error) if error.format == "nq"));
    assert!(error.to_string().starts_with("value 2: nq: "), "{error}");
    let error = decode("nq", binary(&values[3..]), OnError::Raise).unwrap_err();
    assert_eq!((error.value, *error.cause), (Some(0), Cause::Several));
}

#[test]
fn on_error_must_be_raise_or_null() {
    assert_eq!(OnError::from_name("raise"), Ok(OnError::Raise));
    assert_eq!(OnError::from_name("null"), Ok(OnError::Null));
    let rejected = OnError::from_name("skip").unwrap_err();
    assert_eq!(rejected, "on_error must be 'raise' or 'null', not 'skip'");
}

#[test]
fn encoding_errors_contain_the_index_of_the_value() {
    let named = vec![quad("<a:s>", "<a:p>", "<a:o>", "<a:g>")];
    let column = column(&[None, Some(vec![]), Some(named)]);
    let error = encode("ttl", column).unwrap_err();
    assert_eq!(error.value, Some(2));
    // Each value is a separate log.
    assert!(matches!(&*error.cause, Cause::Encode(error) if error.message_index == 0));
    assert!(error.to_string().starts_with("value 2: ttl: "), "{error}");
    let texts: ArrayRef = Arc::new(arrow_array::StringArray::from(vec!["x"]));
    let error = encode("nq", texts).unwrap_err();
    let reason = "arrow: column quads: expected a list of structs, found Utf8";
    assert_eq!(error.to_string(), reason);
}

#[test]
fn value_indexes_continue_across_batches() {
    let one = quad("<a:s>", "<a:p>", "<a:o>", "");
    let mut rows = vec![Some(vec![one.clone()]); 10_000];
    rows[9_000] = None;
    let values = encode("nq", column(&rows)).unwrap();
    assert_eq!(values.null_count(), 1);
    assert!(values.is_null(9_000));
    let back = decode("nq", values, OnError::Raise).unwrap();
    assert_eq!(lists(&back), rows);
    rows[9_500] = Some(vec![quad("<a:s>", "<a:p>", "<a:o>", "<a:g>")]);
    let error = encode("nt", column(&rows)).unwrap_err();
    assert_eq!(error.value, Some(9_500));
}

/// A decoder with a bug.
struct Broken;

impl Decoder for Broken {
    fn feed(&mut self, _: &[u8]) {}
    fn finish(&mut self) {}
    fn reset(&mut self) {}

    fn next_batch(&mut self) -> Result<Option<Batch>, DecodeError> {
        Err(DecodeError {
            format: "broken",
            class: ErrorClass::Internal,
            reason: "a bug".into(),
            position: Position::default(),
        })
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        Ok(None)
    }
}

#[test]
fn internal_errors_never_become_null() {
    let values = binary(&[None, Some(b"")]);
    let error =
        values::decode::<Quad>(reader(vec![values]), OnError::Null, &mut Broken).unwrap_err();
    assert_eq!(error.value, Some(1));
    assert!(matches!(&*error.cause, Cause::Decode(error) if error.reason.text() == "a bug"));
}

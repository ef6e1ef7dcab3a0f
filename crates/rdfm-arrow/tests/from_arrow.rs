//! Batches from Arrow rows: accepted types, slices and nulls, and rejected input.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use crate::support::{
    Message, QuadTexts, batch, everything, messages, numbers, quad, reader, record_batch,
};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Int32Array, LargeListArray, ListArray, NullArray,
    RecordBatch, RunArray, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Fields};
use rdfm_arrow::from_arrow::{self, RowReader};
use rdfm_arrow::schema::{Column, quads_type};
use rdfm_arrow::{Error, to_arrow};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::term::Quad;

const DEPTH: u32 = 8;
const PARTS: [&str; 4] = ["subject", "predicate", "object", "graph"];

fn rows(messages: &[Message]) -> RecordBatch {
    to_arrow::record_batch(&[&batch(messages)], &Column::ALL, None).unwrap()
}

fn read(rows: Vec<RecordBatch>) -> Result<MessageBatch, Error> {
    from_arrow::read_batch(reader(rows), DEPTH)
}

/// Quad structs. Empty strings become nulls.
fn structs(quads: &[QuadTexts]) -> StructArray {
    let column = |part: usize| -> ArrayRef {
        let texts = quads.iter().map(|quad| Some(&*quad[part]));
        let texts = texts.map(|text| text.filter(|text| !text.is_empty()));
        Arc::new(texts.collect::<StringArray>())
    };
    let fields: Fields = PARTS
        .map(|name| Field::new(name, DataType::Utf8, true))
        .to_vec()
        .into();
    StructArray::new(fields, (0..4).map(column).collect(), None)
}

/// A column of quads, one list per row.
fn column(rows: &[&[QuadTexts]]) -> ArrayRef {
    let all: Vec<QuadTexts> = rows.concat();
    let items = structs(&all);
    let DataType::List(item) = quads_type() else {
        unreachable!("quads are lists")
    };
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|row| row.len()));
    Arc::new(ListArray::new(item, offsets, Arc::new(items), None))
}

/// Reads invalid rows. Returns the number of messages before the error, and the error.
fn rejected(quads: ArrayRef) -> (usize, Error) {
    let rows = vec![record_batch(vec![("quads", quads)])];
    let batch_error = read(rows.clone()).unwrap_err();
    let mut rows = RowReader::<_, Quad>::new(reader(rows), 0, DEPTH);
    let mut actual = 0;
    let error = loop {
        match rows.next_batch() {
            Ok(Some(batch)) => actual += batch.len(),
            Ok(None) => unreachable!("an error is expected"),
            Err(error) => break error,
        }
    };
    assert_eq!(rows.next_batch().unwrap_err(), error, "the error repeats");
    assert_eq!(batch_error, error);
    (actual, error)
}

#[test]
fn rows_round_trip() {
    let given = everything();
    // The third row also uses a namespace of the first row, which is not declared again.
    assert_eq!(messages(&read(vec![rows(&given)]).unwrap()), given);
    let twice = read(vec![rows(&given), rows(&given)]).unwrap();
    assert_eq!(twice.len(), 6);
    assert_eq!(messages(&twice)[3].quads, given[0].quads);
    assert_eq!(messages(&read(vec![]).unwrap()), []);
}

#[test]
fn a_slice_contains_only_its_own_rows() {
    let given = everything();
    let all = rows(&given);
    for start in 0..=given.len() {
        for stop in start..=given.len() {
            let slice = all.slice(start, stop - start);
            let back = messages(&read(vec![slice]).unwrap());
            assert_eq!(back.len(), stop - start);
            for (one, other) in back.iter().zip(&given[start..stop]) {
                assert_eq!(one.quads, other.quads);
                assert_eq!(one.metadata, other.metadata);
            }
        }
    }
}

#[test]
fn all_string_types_and_field_orders_are_accepted() {
    let given = everything();
    let whole = rows(&given);
    let quads = whole.column_by_name("quads").unwrap().as_list::<i32>();
    let items = quads.values().as_struct();
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    for data_type in [DataType::LargeUtf8, DataType::Utf8View, dictionary] {
        let mut columns: Vec<_> = PARTS.iter().zip(items.columns()).collect();
        columns.reverse();
        let extra: ArrayRef = Arc::new(NullArray::new(items.len()));
        columns.push((&"more", &extra));
        let fields = columns.iter().map(|(name, column)| {
            let array = match column.data_type() {
                DataType::Null => ArrayRef::clone(column),
                _ => cast(column, &data_type).unwrap(),
            };
            let field = Field::new(**name, array.data_type().clone(), true);
            (Arc::new(field), array)
        });
        let items: StructArray = fields.collect::<Vec<_>>().into();
        let item = Arc::new(Field::new("x", items.data_type().clone(), true));
        let offsets = quads.offsets().iter().map(|offset| i64::from(*offset));
        let offsets = OffsetBuffer::new(offsets.collect());
        let lists = LargeListArray::new(item, offsets, Arc::new(items), None);
        let back = read(vec![record_batch(vec![("quads", Arc::new(lists))])]).unwrap();
        let expected: Vec<_> = given.iter().map(|message| message.quads.clone()).collect();
        let back: Vec<_> = messages(&back).into_iter().map(|m| m.quads).collect();
        assert_eq!(back, expected, "{data_type}");
    }
}

#[test]
fn all_list_types_are_accepted() {
    let quads = [
        quad("<a:s>", "<a:p>", "\"1\"", ""),
        quad("<a:s>", "<a:p>", "\"2\"", "<a:g>"),
    ];
    let fixed = {
        let items = structs(&quads);
        let item = Arc::new(Field::new("item", items.data_type().clone(), true));
        FixedSizeListArray::new(item, 1, Arc::new(items), None)
    };
    let item = Arc::new(Field::new("item", fixed.values().data_type().clone(), true));
    let lists = column(&[&quads[..1], &quads[1..]]);
    let view = cast(&lists, &DataType::ListView(item.clone())).unwrap();
    let large_view = cast(&lists, &DataType::LargeListView(item)).unwrap();
    for column in [Arc::new(fixed), view, large_view] {
        let data_type = column.data_type().clone();
        let back = read(vec![record_batch(vec![("quads", column)])]).unwrap();
        let back: Vec<_> = messages(&back).into_iter().map(|m| m.quads).collect();
        assert_eq!(back, [&quads[..1], &quads[1..]], "{data_type}");
    }
}

#[test]
fn run_end_encoded_strings_and_a_missing_graph_are_accepted() {
    let run = |text: &str| -> ArrayRef {
        let ends = Int32Array::from(vec![2]);
        let values = StringArray::from(vec![text]);
        Arc::new(RunArray::<Int32Type>::try_new(&ends, &values).unwrap())
    };
    let columns = [
        ("subject", run("<a:s>")),
        ("predicate", run("<a:p>")),
        ("object", run("\"1\"")),
    ];
    for graph in [None, Some(NullArray::new(2))] {
        let mut columns = columns.to_vec();
        columns.extend(graph.map(|graph| ("graph", Arc::new(graph) as ArrayRef)));
        let fields = columns.into_iter().map(|(name, array)| {
            let field = Field::new(name, array.data_type().clone(), true);
            (Arc::new(field), array)
        });
        let items: StructArray = fields.collect::<Vec<_>>().into();
        let item = Arc::new(Field::new("item", items.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([2]);
        let lists = ListArray::new(item, offsets, Arc::new(items), None);
        let back = read(vec![record_batch(vec![("quads", Arc::new(lists))])]).unwrap();
        let expected = vec![quad("<a:s>", "<a:p>", "\"1\"", ""); 2];
        assert_eq!(messages(&back)[0].quads, expected);
    }
}

#[test]
fn null_rows_are_messages_without_quads() {
    let given = [numbers(0..2), numbers(2..3)];
    let exported = rows(&given);
    let quads = exported.column_by_name("quads").unwrap().as_list::<i32>();
    let (item, offsets, items, _) = quads.clone().into_parts();
    // The null row still covers the first two quads.
    let nulls = NullBuffer::from(vec![false, true]);
    let lists = ListArray::new(item, offsets, items, Some(nulls));
    let metadata: ArrayRef = Arc::new(NullArray::new(2));
    let back = read(vec![record_batch(vec![
        ("quads", Arc::new(lists)),
        ("metadata", metadata),
    ])]);
    let expected = [Message::default(), numbers(2..3)];
    assert_eq!(messages(&back.unwrap()), expected);
}

#[test]
fn invalid_terms_are_reported_after_the_previous_rows() {
    let good = quad("<a:s>", "<a:p>", "\"1\"", "");
    let nested = "<<( <a:s> <a:p> ".repeat(9) + "<a:o>" + &" )>>".repeat(9);
    for (bad, class, reason) in [
        (
            quad("<a:s>", "<a:p>", "oops", ""),
            ErrorClass::Malformed,
            "quad 1, object: ",
        ),
        (
            quad("<a:s>", "<a:p>", "\"1\"", "<a b>"),
            ErrorClass::Malformed,
            "quad 1, graph: ",
        ),
        (
            quad("<a:s>", "", "\"1\"", ""),
            ErrorClass::Malformed,
            "quad 1, predicate: expected a term, found null",
        ),
        (
            quad("<a:s>", "<a:p>", &nested, ""),
            ErrorClass::Limit,
            "quad 1, object: ",
        ),
    ] {
        let last = [good.clone(), bad];
        let rows = column(&[&[], &last[..1], &last]);
        let (before, error) = rejected(rows);
        assert_eq!(before, 2);
        assert_eq!(error.row, Some(2), "{error}");
        assert_eq!(error.class, class, "{error}");
        assert!(error.reason.text().starts_with(reason), "{error}");
    }
}

#[test]
fn null_quads_are_reported_with_their_row() {
    let lists = column(&[&[], &[quad("<a:s>", "<a:p>", "\"1\"", "")]]);
    let (item, offsets, items, nulls) = lists.as_list::<i32>().clone().into_parts();
    let (fields, columns, _) = items.as_struct().clone().into_parts();
    let items = StructArray::new(fields, columns, Some(NullBuffer::new_null(1)));
    let (before, error) = rejected(Arc::new(ListArray::new(
        item,
        offsets,
        Arc::new(items),
        nulls,
    )));
    assert_eq!((before, error.row), (1, Some(1)));
    assert_eq!(error.to_string(), "arrow: quad 0 is null (row 1)");
}

#[test]
fn rows_are_numbered_from_the_first_index() {
    let bad = column(&[&[], &[quad("oops", "<a:p>", "\"1\"", "")]]);
    let rows = record_batch(vec![("quads", bad)]);
    let mut rows = RowReader::<_, Quad>::new(reader(vec![rows]), 100, DEPTH);
    let first = rows.next_batch().unwrap().unwrap();
    assert_eq!(first.first_message_index(), 100);
    assert_eq!(rows.next_batch().unwrap_err().row, Some(101));
}

#[test]
fn errors_in_columns_do_not_name_a_row() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let good = column(&[&[]]);
    let number_structs = {
        let items: StructArray = PARTS
            .map(|name| {
                let field = Field::new(name, DataType::Int32, true);
                (Arc::new(field), ArrayRef::clone(&numbers))
            })
            .to_vec()
            .into();
        let item = Arc::new(Field::new("item", items.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([1]);
        Arc::new(ListArray::new(item, offsets, Arc::new(items), None)) as ArrayRef
    };
    for (columns, reason) in [
        (
            vec![("a", texts.clone()), ("b", numbers.clone())],
            "there is no column 'quads'; found: a, b",
        ),
        (
            vec![("quads", texts.clone())],
            "column quads: expected a list of structs, found Utf8",
        ),
        (
            vec![("quads", number_structs)],
            "column subject: expected strings, found Int32",
        ),
        (
            vec![("quads", good.clone()), ("metadata", texts)],
            "column metadata: expected a map of strings, found Utf8",
        ),
        (
            vec![("quads", good), ("namespaces", numbers)],
            "column namespaces: expected a map of strings, found Int32",
        ),
    ] {
        let error = read(vec![record_batch(columns)]).unwrap_err();
        assert_eq!(error.row, None);
        assert_eq!(error.class, ErrorClass::Malformed);
        assert_eq!(error.reason.text(), reason);
    }
}

#[test]
fn batches_are_as_large_as_decoder_batches() {
    let quads = numbers(0..1).quads;
    let rows = record_batch(vec![("quads", column(&vec![&*quads; 10_000]))]);
    let mut batches = RowReader::<_, Quad>::new(reader(vec![rows.clone(), rows]), 0, DEPTH);
    let mut counts = Vec::new();
    while let Some(batch) = batches.next_batch().unwrap() {
        counts.push(batch.len());
    }
    // A batch may contain rows of several record batches.
    assert_eq!(counts, [8192, 8192, 20_000 - 2 * 8192]);
}

#[test]
fn reader_errors_are_returned_after_the_previous_rows() {
    let good = record_batch(vec![("quads", column(&[&[]]))]);
    let read_error =
        arrow_schema::ArrowError::IoError("gone".to_owned(), std::io::Error::other("x"));
    let mut rows = RowReader::<_, Quad>::new([Ok(good), Err(read_error)].into_iter(), 0, DEPTH);
    assert_eq!(rows.next_batch().unwrap().unwrap().len(), 1);
    let error = rows.next_batch().unwrap_err();
    assert!(error.reason.text().contains("gone"));
    assert_eq!(rows.next_batch().unwrap_err(), error);
}

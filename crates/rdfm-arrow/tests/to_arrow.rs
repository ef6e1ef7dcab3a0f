//! Rows from batches: the contents of each column, and the sizes of record batches.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::support::{batch, everything, lists, maps, messages, numbers, numbers_of, strings};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use rdfm_arrow::schema::{Column, schema};
use rdfm_arrow::to_arrow::{self, Coalescer};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::term::Quad;

const ALL: [Column; 6] = Column::ALL;

fn rows(batch: &MessageBatch, columns: &[Column]) -> RecordBatch {
    to_arrow::record_batch(&[batch], columns, Some("a.nq")).unwrap()
}

#[test]
fn a_row_contains_its_message() {
    let given = everything();
    let rows = rows(&batch(&given), &ALL);
    assert_eq!(rows.schema(), schema(&ALL, &[]));
    let quads = lists(rows.column_by_name("quads").unwrap());
    let expected = given.iter().map(|message| Some(message.quads.clone()));
    assert_eq!(quads, expected.collect::<Vec<_>>());
    let metadata = maps(rows.column_by_name("metadata").unwrap());
    assert_eq!(metadata, [Some(given[0].metadata.clone()), None, None]);
    let namespaces = maps(rows.column_by_name("namespaces").unwrap());
    let e = ("e".to_owned(), b"http://e/".to_vec());
    let o = (String::new(), b"http://o/".to_vec());
    // Each message has the namespaces that it declares or uses.
    let expected = [Some(vec![e.clone()]), Some(vec![]), Some(vec![e, o])];
    assert_eq!(namespaces, expected);
    assert_eq!(
        numbers_of(rows.column_by_name("message_index").unwrap()),
        [0, 1, 2]
    );
    assert_eq!(
        numbers_of(rows.column_by_name("byte_offset").unwrap()),
        [0; 3]
    );
    let source = Some("a.nq".to_owned());
    let sources = strings(rows.column_by_name("source").unwrap());
    assert_eq!(sources, vec![source; 3]);
}

#[test]
fn the_default_graph_and_a_missing_source_are_null() {
    let source_batch = batch(&everything());
    let rows = to_arrow::record_batch(&[&source_batch], Column::default_for(Kind::Messages), None)
        .unwrap();
    assert_eq!(rows.column(0).null_count(), 3);
    let quads = arrow_array::cast::AsArray::as_list::<i32>(rows.column(2));
    let graphs = arrow_array::cast::AsArray::as_struct(quads.values()).column(3);
    assert_eq!(graphs.null_count(), 1);
}

#[test]
fn columns_can_be_reordered_and_repeated() {
    let source_batch = batch(&everything());
    let mut columns = ALL.to_vec();
    columns.reverse();
    columns.push(Column::Quads);
    let slice = rows(&source_batch.slice(1..3), &columns);
    assert_eq!(slice.schema(), schema(&columns, &[]));
    assert_eq!(slice.num_rows(), 2);
    assert_eq!(
        numbers_of(slice.column_by_name("message_index").unwrap()),
        [1, 2]
    );
    assert_eq!(slice.column(6), slice.column_by_name("quads").unwrap());
    assert_eq!(rows(&source_batch, &[]).num_rows(), 3);
}

#[test]
fn columns_are_found_by_name() {
    let names = ["quads".to_owned(), "message_index".to_owned()];
    let actual = Column::from_names(Kind::Messages, Some(&names)).unwrap();
    assert_eq!(actual, [Column::Quads, Column::MessageIndex]);
    assert_eq!(
        Column::from_names(Kind::Messages, None).unwrap(),
        Column::default_for(Kind::Messages)
    );
    let unknown = Column::from_names(Kind::Messages, Some(&["graph".to_owned()])).unwrap_err();
    assert!(unknown.starts_with("unknown column 'graph'; expected one of source, message_index, "));
    assert_eq!(
        Column::from_schema(Kind::Messages, &schema(&actual, &[])),
        Some(actual)
    );
    assert_eq!(Column::from_schema(Kind::Messages, &Schema::empty()), None);
    let other = arrow_schema::Field::new("x", DataType::Utf8, true);
    assert_eq!(
        Column::from_schema(Kind::Messages, &Schema::new(vec![other])),
        None
    );
}

#[test]
fn several_batches_become_one_record_batch() {
    let (one, two) = (batch(&everything()), batch(&[numbers(0..3)]));
    let both = to_arrow::record_batch(&[&one, &two], &ALL, None).unwrap();
    let expected: Vec<_> = [&one, &two]
        .iter()
        .flat_map(|batch| messages(batch))
        .map(|message| Some(message.quads))
        .collect();
    assert_eq!(lists(both.column_by_name("quads").unwrap()), expected);
    let none = to_arrow::record_batch(&[&MessageBatch::empty()], &ALL, None).unwrap();
    assert_eq!(none.num_rows(), 0);
}

/// Returns the record batches that a coalescer creates from batches.
fn coalesced(batches: &[MessageBatch], max_rows: usize, max_bytes: usize) -> Vec<RecordBatch> {
    let mut coalescer = Coalescer::<Quad>::new(ALL.to_vec(), max_rows, max_bytes).unwrap();
    let mut actual = Vec::new();
    for batch in batches {
        actual.extend(coalescer.push(batch, Some("a")).unwrap());
    }
    actual.extend(coalescer.finish().unwrap());
    assert_eq!(coalescer.finish().unwrap(), None);
    actual
}

#[test]
fn record_batches_do_not_depend_on_the_sizes_of_batches() {
    let all: Vec<_> = (0..20).map(|number| numbers(0..number % 4)).collect();
    let whole = batch(&all);
    for max_rows in [1, 3, 7, 20, 100] {
        let expected: Vec<_> = (0..20)
            .step_by(max_rows)
            .map(|start| {
                let slice = whole.slice(start..start + max_rows);
                to_arrow::record_batch(&[&slice], &ALL, Some("a")).unwrap()
            })
            .collect();
        for size in [1, 2, 6, 20] {
            let cuts: Vec<_> = (0..20)
                .step_by(size)
                .map(|start| whole.slice(start..start + size))
                .collect();
            let actual = coalesced(&cuts, max_rows, usize::MAX);
            assert_eq!(actual, expected, "{max_rows} rows, batches of {size}");
        }
    }
}

#[test]
fn a_record_batch_ends_with_the_row_that_reaches_max_bytes() {
    // Each message has a source string of 1 byte, and the terms of each quad have 5 + 5 + 3 bytes.
    let all = [numbers(0..1), numbers(1..3), numbers(3..4), numbers(4..5)];
    let counts = |max_bytes| -> Vec<usize> {
        coalesced(&[batch(&all)], 100, max_bytes)
            .iter()
            .map(RecordBatch::num_rows)
            .collect()
    };
    assert_eq!(counts(14), [1, 1, 1, 1]);
    assert_eq!(counts(15), [2, 2]);
    assert_eq!(counts(41), [2, 2]);
    assert_eq!(counts(42), [3, 1]);
    assert_eq!(counts(1 << 20), [4]);
}

#[test]
fn terms_are_rendered_again_in_the_next_record_batch() {
    let shared = batch(&[numbers(0..2), numbers(0..2), numbers(0..2)]);
    for max_rows in 1..=3 {
        let actual = coalesced(std::slice::from_ref(&shared), max_rows, usize::MAX);
        let quads: Vec<_> = actual
            .iter()
            .flat_map(|rows| lists(rows.column_by_name("quads").unwrap()))
            .collect();
        assert_eq!(quads, vec![Some(numbers(0..2).quads); 3]);
    }
}

#[test]
fn limits_of_zero_are_rejected() {
    for (max_rows, max_bytes) in [(0, 1), (1, 0)] {
        let rejected = Coalescer::<Quad>::new(ALL.to_vec(), max_rows, max_bytes).err();
        assert_eq!(
            rejected.as_deref(),
            Some("max_rows and max_bytes must be at least 1")
        );
    }
}

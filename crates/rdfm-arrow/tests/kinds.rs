//! Rows of patches and of results: conversion to and from Arrow, and errors.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use crate::support::{reader, record_batch, strings};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, StructArray};
use arrow_array::{BinaryArray, ListArray, cast::AsArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Fields, Schema};
use rdfm_arrow::from_arrow::{self, RowReader};
use rdfm_arrow::schema::{Column, RowKind, detect_row_kind, schema};
use rdfm_arrow::to_arrow::{self, Coalescer, new_coalescer};
use rdfm_arrow::values::{self, OnError};
use rdfm_core::codec::Opening;
use rdfm_core::codec::spec::Kind;
use rdfm_core::codec::values::Values;
use rdfm_core::formats::nquads::parse_term;
use rdfm_core::model::batch::{LogBatch, PatchBatch, ResultBatch};
use rdfm_core::model::builder::{LogBuilder, PatchBuilder, ResultBuilder};
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::record::{Operation, Record, ResultHead};
use rdfm_core::model::term::TermId;
use rdfm_core::registry;

const DEPTH: u32 = 8;
const FIELDS: [&str; 6] = ["op", "name", "subject", "predicate", "object", "graph"];

/// An operation as strings. Empty strings are null.
type OperationTexts = [&'static str; 6];

const S: &str = "<http://e/s>";
const ALL_OPERATIONS: [OperationTexts; 11] = [
    ["H", "id", "", "", "<urn:uuid:1>", ""],
    ["H", "note", "", "", "\"text\"@en", ""],
    ["TX", "", "", "", "", ""],
    ["PA", "ex", "", "", "<http://e/>", ""],
    ["PA", "ex", "", "", "<http://e/>", "<http://e/g>"],
    [
        "A",
        "",
        S,
        "<http://e/p>",
        "<<( _:a <http://e/p> \"1\" )>>",
        "",
    ],
    ["A", "", S, "<http://e/p>", "_:a", S],
    ["D", "", "_:a", "<http://e/p>", S, "_:g"],
    ["PD", "ex", "", "", "", ""],
    ["TC", "", "", "", "", ""],
    ["TA", "", "", "", "", ""],
];

/// Operation structs.
fn structs(operations: &[OperationTexts]) -> StructArray {
    let column = |part: usize| -> ArrayRef {
        let texts = operations.iter().map(|texts| texts[part]);
        let texts = texts.map(|text| Some(text).filter(|text| !text.is_empty()));
        Arc::new(texts.collect::<StringArray>())
    };
    let fields: Fields = FIELDS
        .map(|name| Field::new(name, DataType::Utf8, true))
        .to_vec()
        .into();
    StructArray::new(fields, (0..6).map(column).collect(), None)
}

/// A column of operations, one list per row.
fn operations(rows: &[&[OperationTexts]]) -> ArrayRef {
    let items = structs(&rows.concat());
    let item = Arc::new(Field::new("item", items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|row| row.len()));
    Arc::new(ListArray::new(item, offsets, Arc::new(items), None))
}

fn patches(rows: &[&[OperationTexts]]) -> PatchBatch {
    let rows = record_batch(vec![("operations", operations(rows))]);
    from_arrow::read_batch(reader(vec![rows]), DEPTH).unwrap()
}

#[test]
fn operations_round_trip() {
    let given: [&[OperationTexts]; 3] = [&ALL_OPERATIONS, &[], &ALL_OPERATIONS[2..5]];
    let batch = patches(&given);
    assert_eq!(batch.records().len(), ALL_OPERATIONS.len() + 3);
    let columns = Column::default_for(Kind::Patches);
    let rows = to_arrow::record_batch(&[&batch], &columns, Some("a")).unwrap();
    assert_eq!(rows.schema(), schema(&columns, &[]));
    assert_eq!(rows.column(2), &operations(&given));
    let back: PatchBatch = from_arrow::read_batch(reader(vec![rows.clone()]), DEPTH).unwrap();
    let again = to_arrow::record_batch(&[&back], &columns, Some("a")).unwrap();
    assert_eq!(again, rows);
}

#[test]
fn invalid_operations_are_rejected() {
    for (operation, expected) in [
        (
            ["X", "", "", "", "", ""],
            "operation 1, op: expected one of H, TX, TC, TA, PA, PD, A, D, found 'X'",
        ),
        (
            ["", "", "", "", "", ""],
            "operation 1, op: expected one of H, TX, TC, TA, PA, PD, A, D, found null",
        ),
        (
            ["A", "", S, "", S, ""],
            "operation 1, predicate: expected a term, found null",
        ),
        (
            ["D", "n", S, S, S, ""],
            "operation 1, name: expected null (D has no name), found 'n'",
        ),
        (
            ["A", "", S, S, "oops", ""],
            "operation 1, object: expected an IRI, a blank node, a literal or a triple term",
        ),
        (
            ["TX", "", "", "", S, ""],
            "operation 1, object: expected null (TX has no object), found '<http://e/s>'",
        ),
        (
            ["H", "", "", "", S, ""],
            "operation 1, name: expected a string, found null",
        ),
        (
            ["H", "id", "", "", S, S],
            "operation 1, graph: expected null (H has no graph), found '<http://e/s>'",
        ),
        (
            ["PA", "e", "", "", "\"x\"", ""],
            "operation 1, object: expected the IRI of a prefix, found '\"x\"'",
        ),
        (
            ["PD", "e", "", "", S, ""],
            "operation 1, object: expected null (PD has no object), found '<http://e/s>'",
        ),
    ] {
        let rows = record_batch(vec![(
            "operations",
            operations(&[&ALL_OPERATIONS[..2], &[ALL_OPERATIONS[0], operation]]),
        )]);
        let mut rows = RowReader::<_, Operation>::new(reader(vec![rows]), 0, DEPTH);
        assert_eq!(rows.next_batch().unwrap().unwrap().len(), 1);
        let error = rows.next_batch().unwrap_err();
        assert_eq!(error.row, Some(1));
        assert!(
            error.reason.to_string().starts_with(expected),
            "{error} for {operation:?}"
        );
    }
}

#[test]
fn columns_determine_the_kind_of_rows() {
    let rows = |names: &[&str]| {
        let fields = names
            .iter()
            .map(|name| Field::new(*name, DataType::Utf8, true));
        detect_row_kind(&Schema::new(fields.collect::<Vec<_>>()))
    };
    assert_eq!(rows(&["a", "quads"]), Ok(RowKind::Messages));
    assert_eq!(rows(&["operations", "metadata"]), Ok(RowKind::Patches));
    let parts = ["object", "message_index", "predicate", "subject"];
    assert_eq!(rows(&parts), Ok(RowKind::Quads));
    // If there is a `quads` column, other columns are ignored.
    assert_eq!(
        rows(&["quads", "message_index", "subject", "predicate", "object"]),
        Ok(RowKind::Messages)
    );
    let both = rows(&["operations", "quads"]).unwrap_err();
    assert!(both.reason.to_string().contains("drop one of them"));
    let neither = rows(&["a", "b"]).unwrap_err();
    assert_eq!(
        neither.reason.to_string(),
        "expected a column 'quads' (messages) or 'operations' (patches), or the columns 'message_index', 'subject', \
         'predicate' and 'object' (quads); found: a, b"
    );
    assert!(rows(&parts[..3]).is_err());
}

fn term<R: Record>(builder: &mut LogBuilder<R>, text: &str) -> TermId {
    match text {
        "" => TermId::DEFAULT_GRAPH,
        text => parse_term(builder, text.as_bytes(), DEPTH).unwrap(),
    }
}

fn head(variables: &[&str]) -> ResultHead {
    ResultHead {
        variables: variables.iter().map(|name| Box::from(*name)).collect(),
        ..ResultHead::default()
    }
}

fn results(head: ResultHead, rows: &[&[&str]]) -> ResultBatch {
    let mut builder = ResultBuilder::new(Limits::default());
    builder.set_head(Arc::new(head));
    for row in rows {
        builder.begin_message(0);
        for cell in *row {
            let cell = term(&mut builder, cell);
            builder.add(cell).unwrap();
        }
        builder.end_message();
    }
    let none = builder.take_head();
    builder.take().unwrap_or(none)
}

fn table(batch: &ResultBatch) -> RecordBatch {
    to_arrow::record_batch(&[batch], &[Column::Variables], None).unwrap()
}

#[test]
fn results_have_a_column_for_each_variable() {
    let batch = results(head(&["a", "b"]), &[&[S, ""], &["\"x\"@en", S], &["", ""]]);
    let rows = table(&batch);
    let named = |name| strings(rows.column_by_name(name).unwrap());
    let texts = |texts: [Option<&str>; 3]| texts.map(|text| text.map(str::to_owned)).to_vec();
    assert_eq!(named("a"), texts([Some(S), Some("\"x\"@en"), None]));
    assert_eq!(named("b"), texts([None, Some(S), None]));
    let none = table(&results(head(&["a", "b"]), &[]));
    assert_eq!((none.num_rows(), none.schema()), (0, rows.schema()));
    let no_columns = table(&results(head(&[]), &[&[], &[]]));
    assert_eq!((no_columns.num_rows(), no_columns.num_columns()), (2, 0));
}

#[test]
fn results_that_are_not_tables_are_rejected() {
    let ask = ResultHead {
        boolean: Some(true),
        ..ResultHead::default()
    };
    for (head, reason) in [
        (ask, "the answer to an ASK query is not a table"),
        (head(&["a", "b", "a"]), "the variable 'a' occurs twice"),
        (
            head(&["a", "b\0c"]),
            r"the variable 'b\u0000c' contains a NUL character",
        ),
    ] {
        let batch = results(head, &[]);
        let error = to_arrow::record_batch(&[&batch], &[Column::Variables], None).unwrap_err();
        assert_eq!(error.class, ErrorClass::Unsupported);
        assert!(error.reason.to_string().starts_with(reason), "{error}");
    }
}

#[test]
fn arrow_batches_do_not_depend_on_the_sizes_of_result_batches() {
    let cells: Vec<[String; 2]> = (0..20)
        .map(|row| [format!("\"{row}\""), format!("\"{}\"", row % 3)])
        .collect();
    let rows: Vec<Vec<&str>> = cells
        .iter()
        .map(|row| row.iter().map(|cell| &**cell).collect())
        .collect();
    let rows: Vec<&[&str]> = rows.iter().map(|row| &**row).collect();
    let whole = results(head(&["a", "b"]), &rows);
    for size in [1, 3, 20] {
        let mut coalescer =
            Coalescer::<TermId>::new(vec![Column::Variables], 7, usize::MAX).unwrap();
        let mut actual = Vec::new();
        for start in (0..20).step_by(size) {
            let slice = whole.slice(start..start + size);
            actual.extend(coalescer.push(&slice, None).unwrap());
        }
        actual.extend(coalescer.finish().unwrap());
        let expected: Vec<_> = (0..20)
            .step_by(7)
            .map(|start| table(&whole.slice(start..start + 7)))
            .collect();
        assert_eq!(actual, expected);
        let other = results(head(&["b", "a"]), &[]);
        let error = coalescer.push(&other, None).unwrap_err();
        assert_eq!(
            error.reason.text(),
            "the variables are not in the same order as in earlier rows: 'b', 'a', not 'a', 'b'; \
             a result table has only one list of variables"
        );
    }
}

#[test]
fn batches_of_another_kind_are_rejected() {
    let columns = Column::default_for(Kind::Messages);
    let mut rows = new_coalescer(Kind::Messages, columns, 10, 10).unwrap();
    let batch = patches(&[&ALL_OPERATIONS]);
    let error = rows.push_any((&batch).into(), None).unwrap_err();
    assert_eq!(
        error.reason.to_string(),
        "found patches among messages; a table can contain only one of these kinds"
    );
}

#[test]
fn values_without_text_count_towards_the_size() {
    let unbound = vec![""; 1000];
    let rows = vec![&*unbound; 100];
    let names: Vec<String> = (0..1000).map(|number| format!("v{number}")).collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let table_of_nulls = results(head(&names), &rows);
    let mut tables =
        Coalescer::<TermId>::new(vec![Column::Variables], usize::MAX, 10 * 4000).unwrap();
    assert_eq!(tables.push(&table_of_nulls, None).unwrap().len(), 10);
    let bare = vec![ALL_OPERATIONS[2]; 1000];
    let columns = vec![Column::Operations];
    let mut lists = Coalescer::<Operation>::new(columns, usize::MAX, 26_000).unwrap();
    let batch = patches(&[&bare[..]; 10]);
    assert_eq!(lists.push(&batch, None).unwrap().len(), 10);
}

#[test]
fn values_can_be_patches() {
    let spec = registry::find("rdf-patch").unwrap();
    let mut decoder = registry::new_decoder(spec, &Values::default(), &Opening::default()).unwrap();
    let mut encoder = registry::new_encoder(spec, &Values::default(), None).unwrap();
    let logs: [Option<&[u8]>; 4] = [
        Some(b"TX .\nA <http://e/s> <http://e/p> \"x\" .\nTC .\n"),
        None,
        Some(b""),
        Some(b"oops"),
    ];
    let given: ArrayRef = Arc::new(BinaryArray::from(logs.to_vec()));
    let lists = values::decode::<Operation>(reader(vec![given]), OnError::Null, &mut *decoder);
    let lists = lists.unwrap();
    assert_eq!(
        (0..4).map(|index| lists.is_null(index)).collect::<Vec<_>>(),
        [false, true, false, true]
    );
    assert_eq!(lists.as_list::<i32>().value_length(0), 3);
    let back = values::encode::<Operation>(reader(vec![lists]), DEPTH, &mut *encoder).unwrap();
    assert_eq!(back.as_binary::<i32>().value(0), logs[0].unwrap());
    assert!(back.is_null(1));
    assert_eq!(values::find_kind("patches"), Ok(Kind::Patches));
    assert!(values::find_kind("results").is_err());
}

#[test]
fn an_empty_patch_is_an_empty_list() {
    let mut builder = PatchBuilder::new(Limits::default());
    builder.begin_message(0);
    builder.end_message();
    let batch: LogBatch<Operation> = builder.take().unwrap();
    let rows = to_arrow::record_batch(&[&batch], &[Column::Operations], None).unwrap();
    assert_eq!(rows.column(0).as_list::<i32>().value_length(0), 0);
}

//! Quad rows, and terms as structs.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use crate::support::{
    Message, batch, everything, messages, numbers, numbers_of, reader, record_batch, strings,
};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Fields};
use rdfm_arrow::from_arrow::{self, QuadReader};
use rdfm_arrow::schema::{Column, Layout, QuadColumn, QuadLayout, TermLayout, schema};
use rdfm_arrow::to_arrow::{self, Coalesce as _, Dropped, QuadCoalescer, quad_record_batch};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::term::{Quad, TermId, TermKind};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const LIMIT: u64 = 1 << 20;

fn layout(terms: TermLayout) -> QuadLayout {
    QuadLayout {
        columns: QuadColumn::ALL.to_vec(),
        terms,
    }
}

/// Returns the parts of messages that quad rows can represent.
fn quads_of(given: &[Message]) -> Vec<Message> {
    let quads = given.iter().map(|message| Message {
        quads: message.quads.clone(),
        ..Message::default()
    });
    quads.filter(|message| !message.quads.is_empty()).collect()
}

/// Reads rows in slices of `slice_rows` rows.
fn read(rows: &RecordBatch, slice_rows: usize, parts: bool) -> Vec<MessageBatch> {
    let mut reader = QuadReader::new(0, 8, LIMIT, parts);
    let mut actual = Vec::new();
    for start in (0..rows.num_rows()).step_by(slice_rows) {
        let count = slice_rows.min(rows.num_rows() - start);
        reader.feed(&rows.slice(start, count)).unwrap();
        while let Some(batch) = reader.next_batch().unwrap() {
            actual.push(batch);
        }
    }
    reader.finish();
    while let Some(batch) = reader.next_batch().unwrap() {
        actual.push(batch);
    }
    actual
}

#[test]
fn a_row_contains_its_quad() {
    let given = everything();
    let rows = quad_record_batch(
        &[&batch(&given)],
        &layout(TermLayout::NTriples),
        Some("a.nq"),
    )
    .unwrap();
    assert_eq!(rows.schema(), layout(TermLayout::NTriples).schema());
    let quads: Vec<_> = given.iter().flat_map(|message| &message.quads).collect();
    assert_eq!(rows.num_rows(), quads.len());
    for part in 0..4 {
        let expected = quads.iter().map(|quad| quad[part].clone());
        let expected = expected.map(|text| (!text.is_empty()).then_some(text));
        assert_eq!(strings(rows.column(2 + part)), expected.collect::<Vec<_>>());
    }
    assert_eq!(numbers_of(rows.column(1)), [0, 0, 0, 0, 2]);
    assert_eq!(strings(rows.column(0)), vec![Some("a.nq".to_owned()); 5]);
    let unnamed =
        quad_record_batch(&[&batch(&given)], &layout(TermLayout::NTriples), None).unwrap();
    assert_eq!(unnamed.column(0).null_count(), 5);
}

#[test]
fn columns_can_be_requested_in_any_order_and_repeatedly() {
    let columns = [3, 2, 3].map(QuadColumn::Part);
    for terms in [TermLayout::NTriples, TermLayout::Structs] {
        let all = quad_record_batch(&[&batch(&everything())], &layout(terms), None).unwrap();
        let columns = columns.to_vec();
        let selected = QuadLayout { columns, terms };
        let rows = quad_record_batch(&[&batch(&everything())], &selected, None).unwrap();
        let expected = [5, 4, 5].map(|column| Arc::clone(all.column(column)));
        assert_eq!(rows.columns(), expected);
        let none = QuadLayout {
            columns: vec![],
            terms,
        };
        let rows = quad_record_batch(&[&batch(&everything())], &none, None).unwrap();
        assert_eq!((rows.num_columns(), rows.num_rows()), (0, 5));
    }
    let names = ["message_index".to_owned(), "graph".to_owned()];
    let actual = QuadColumn::from_names(Some(&names)).unwrap();
    assert_eq!(actual, [QuadColumn::MessageIndex, QuadColumn::Part(3)]);
    let unknown = QuadColumn::from_names(Some(&["offset".to_owned()])).unwrap_err();
    assert_eq!(
        unknown,
        "unknown column 'offset'; expected one of source, message_index, subject, predicate, object, graph"
    );
}

#[test]
fn rows_do_not_depend_on_batch_sizes() {
    let given: Vec<Message> = [everything(), vec![numbers(0..40), Message::default()]].concat();
    for terms in [TermLayout::NTriples, TermLayout::Structs] {
        let whole = batch(&given);
        let all = quad_record_batch(&[&whole], &layout(terms), Some("a")).unwrap();
        for (max_rows, max_bytes) in [(7, usize::MAX), (usize::MAX, 300), (1, 1), (1000, 1 << 20)] {
            for step in [1, 2, given.len()] {
                let layout = layout(terms);
                let mut coalescer = QuadCoalescer::new(&layout, max_rows, max_bytes).unwrap();
                let mut actual = Vec::new();
                for start in (0..given.len()).step_by(step) {
                    let slice = whole.slice(start..(start + step).min(given.len()));
                    actual.extend(coalescer.push(&slice, Some("a")).unwrap());
                }
                actual.extend(coalescer.finish().unwrap());
                assert_eq!(coalescer.finish().unwrap(), None);
                assert!(actual.iter().all(|rows| rows.num_rows() <= max_rows));
                let mut index = 0;
                for rows in &actual {
                    assert_eq!(
                        rows,
                        &all.slice(index, rows.num_rows()),
                        "{max_rows} {max_bytes}"
                    );
                    index += rows.num_rows();
                }
                assert_eq!(index, all.num_rows(), "{step}");
                let dropped = Dropped {
                    empty_messages: 2,
                    metadata: 2,
                    merged: 0,
                };
                assert_eq!(coalescer.dropped_counts(), dropped);
            }
        }
    }
    assert!(QuadCoalescer::new(&layout(TermLayout::NTriples), 0, 1).is_err());
}

#[test]
fn messages_with_the_previous_source_and_index_are_counted() {
    let one = batch(&[numbers(0..2), Message::default()]);
    let other = batch(&[Message::default(), numbers(0..2)]);
    let merged = |pushed: &[(&MessageBatch, Option<&str>)]| {
        let mut coalescer = QuadCoalescer::new(&layout(TermLayout::NTriples), 1, 1000).unwrap();
        for (batch, source) in pushed {
            coalescer.push(batch, *source).unwrap();
        }
        coalescer.dropped_counts().merged
    };
    assert_eq!(merged(&[(&one, None), (&one, None)]), 1);
    assert_eq!(
        merged(&[(&one, Some("a")), (&one, Some("a")), (&one, Some("a"))]),
        2
    );
    assert_eq!(
        merged(&[(&one, Some("a")), (&one, Some("b")), (&one, Some("a"))]),
        0
    );
    assert_eq!(merged(&[(&one, None), (&other, None), (&one, None)]), 0);
}

#[test]
fn a_message_in_parts_is_not_empty() {
    let mut builder = BatchBuilder::new(Limits::default());
    builder.begin_message(0);
    let id = builder.add_simple(TermKind::Iri, b"a:b", 0).unwrap();
    builder.push_quad(Quad {
        subject: id,
        predicate: id,
        object: id,
        graph: TermId::DEFAULT_GRAPH,
    });
    let parts = [builder.take_part(), builder.take_part()];
    builder.end_message();
    let end = builder.take().unwrap();
    let mut coalescer = QuadCoalescer::new(&layout(TermLayout::NTriples), 10, 1000).unwrap();
    for part in [&parts[0], &parts[1], &end] {
        coalescer.push(part, None).unwrap();
    }
    assert_eq!(coalescer.dropped_counts(), Dropped::default());
    assert_eq!(coalescer.finish().unwrap().unwrap().num_rows(), 1);
}

#[test]
fn consecutive_rows_with_the_same_source_and_message_form_a_message() {
    let given: Vec<Message> = [everything(), vec![numbers(0..40), numbers(0..1)]].concat();
    for terms in [TermLayout::NTriples, TermLayout::Structs] {
        let rows = quad_record_batch(&[&batch(&given)], &layout(terms), Some("a")).unwrap();
        for slice_rows in [1, 2, 3, 100] {
            let actual: Vec<_> = read(&rows, slice_rows, false)
                .iter()
                .flat_map(messages)
                .collect();
            assert_eq!(actual, quads_of(&given));
        }
        let actual =
            QuadReader::read_batch(reader(vec![rows.slice(0, 3), rows.slice(3, 43)]), 8).unwrap();
        assert_eq!(messages(&actual), quads_of(&given));
    }
    let column = |texts: &[&str]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let counts = |rows: RecordBatch| -> Vec<usize> {
        let actual = QuadReader::read_batch(reader(vec![rows]), 8).unwrap();
        (0..actual.len())
            .map(|index| actual.message(index).len())
            .collect()
    };
    let terms = column(&["<a:b>"; 4]);
    let parts = ["subject", "predicate", "object"].map(|name| (name, Arc::clone(&terms)));
    let numbered: ArrayRef = Arc::new(Int64Array::from(vec![7, 7, 0, 7]));
    let mut columns = parts.to_vec();
    columns.push(("message_index", cast(&numbered, &DataType::UInt8).unwrap()));
    assert_eq!(counts(record_batch(columns.clone())), [2, 1, 1]);
    columns.push(("source", column(&["a", "b", "b", "b"])));
    assert_eq!(counts(record_batch(columns)), [1, 1, 1, 1]);
}

#[test]
fn large_messages_are_returned_in_parts_or_rejected() {
    let given = [numbers(0..3), numbers(0..20_000), numbers(0..2)];
    let source_batch = batch(&given);
    let rows = quad_record_batch(&[&source_batch], &layout(TermLayout::NTriples), None).unwrap();
    let parts = read(&rows, 1000, true);
    assert!(parts.len() > 2 && parts[0].continues() && parts[1].continued());
    let indexes: Vec<u64> = parts
        .iter()
        .map(MessageBatch::first_message_index)
        .collect();
    assert_eq!((indexes[0], indexes[1]), (0, 1));
    let quads: usize = parts.iter().map(|part| part.quads().len()).sum();
    assert_eq!(quads, 20_005);
    let last = parts.last().unwrap();
    assert_eq!(last.first_message_index() + last.len() as u64, 3);
    let mut reader = QuadReader::new(0, 8, LIMIT, false);
    reader.feed(&rows).unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().len(), 1);
    for _ in 0..2 {
        let error = reader.next_batch().unwrap_err();
        assert_eq!((error.class, error.row), (ErrorClass::Limit, Some(1)));
        assert!(
            error
                .reason
                .to_string()
                .contains("larger than 1048576 decoded bytes")
        );
    }
}

#[test]
fn invalid_quad_rows_are_reported_after_the_previous_rows() {
    let column =
        |texts: &[Option<&str>]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), Some(1), Some(1), None]));
    let good = column(&[Some("<a:b>"); 4]);
    let error = |objects: ArrayRef, count: usize| {
        let rows = record_batch(vec![
            ("message_index", Arc::clone(&numbers)),
            ("subject", Arc::clone(&good)),
            ("predicate", Arc::clone(&good)),
            ("object", objects),
        ]);
        let mut reader = QuadReader::new(5, 8, LIMIT, false);
        reader.feed(&rows.slice(0, count)).unwrap();
        let before = reader.next_batch().unwrap().unwrap();
        assert_eq!((before.first_message_index(), before.len()), (5, 1));
        let error = reader.next_batch().unwrap_err();
        assert_eq!(error.row, Some(6));
        error.reason.to_string()
    };
    assert_eq!(
        error(column(&[Some("<a:b>"), Some("<a:b>"), Some("b"), None]), 3),
        "quad 1, object: expected an IRI, a blank node, a literal or a triple term, found 'b'"
    );
    assert_eq!(
        error(column(&[Some("<a:b>"), None, None, None]), 3),
        "quad 0, object: expected a term, found null"
    );
    assert_eq!(
        error(Arc::clone(&good), 4),
        "column message: expected a message number, found null"
    );
    let mut reader = QuadReader::new(0, 8, LIMIT, false);
    let texts = record_batch(vec![("message_index", Arc::clone(&good))]);
    let feed_error = reader.feed(&texts).unwrap_err();
    assert_eq!(
        feed_error.reason.to_string(),
        "column message_index: expected integers, found Utf8"
    );
}

fn field(structs: &StructArray, name: &str) -> Vec<Option<String>> {
    strings(structs.column_by_name(name).unwrap())
}

#[test]
fn terms_are_written_as_structs() {
    let rows =
        quad_record_batch(&[&batch(&everything())], &layout(TermLayout::Structs), None).unwrap();
    let objects = rows.column_by_name("object").unwrap().as_struct();
    let non_empty = |texts: &[&str]| -> Vec<Option<String>> {
        let texts = texts.iter();
        texts
            .map(|text| (!text.is_empty()).then(|| (*text).to_owned()))
            .collect()
    };
    assert_eq!(
        field(objects, "kind"),
        non_empty(&["literal", "literal", "literal", "literal", "triple term"])
    );
    let triple = "<<( <http://e/a> <http://e/p> <<( _:b <http://e/p> \"x\"@en )>> )>>";
    assert_eq!(
        field(objects, "value"),
        non_empty(&["a\"\\\n\u{e9}", "x", "x", "5", triple])
    );
    assert_eq!(
        field(objects, "datatype"),
        non_empty(&[
            "http://www.w3.org/2001/XMLSchema#string",
            &format!("{RDF}langString"),
            &format!("{RDF}dirLangString"),
            "http://e/a",
            ""
        ])
    );
    assert_eq!(
        field(objects, "language"),
        non_empty(&["", "en-gb", "ar", "", ""])
    );
    assert_eq!(
        field(objects, "direction"),
        non_empty(&["", "", "rtl", "", ""])
    );
    let graphs = rows.column_by_name("graph").unwrap().as_struct();
    assert_eq!(graphs.null_count(), 1);
    assert!(graphs.is_null(0));
    assert_eq!(
        field(graphs, "kind"),
        non_empty(&["", "iri", "blank node", "iri", "iri"])
    );
    let subjects = rows.column_by_name("subject").unwrap().as_struct();
    assert_eq!(
        field(subjects, "value"),
        non_empty(&["http://e/a", "http://e/a", "b", "b", "a literal"])
    );
}

#[test]
fn messages_with_structs_round_trip() {
    let given = everything();
    let layout = Layout::new(&Column::ALL, TermLayout::Structs);
    let source_batch = batch(&given);
    let rows = to_arrow::record_batch(&[&source_batch], layout.clone(), Some("a")).unwrap();
    assert_eq!(rows.schema(), schema(layout, &[]));
    let back: MessageBatch = from_arrow::read_batch(reader(vec![rows.clone()]), 8).unwrap();
    let quads = |messages: Vec<Message>| -> Vec<_> {
        let messages = messages.into_iter();
        messages
            .map(|message| (message.quads, message.metadata))
            .collect()
    };
    assert_eq!(quads(messages(&back)), quads(given.clone()));
    // A slice must also round-trip, although its quads follow those of other rows.
    let last: MessageBatch = from_arrow::read_batch(reader(vec![rows.slice(2, 1)]), 8).unwrap();
    assert_eq!(messages(&last)[0].quads, given[2].quads);
}

/// Terms that no text format can represent unchanged.
#[test]
fn structs_of_unusual_terms_round_trip() {
    let mut builder = BatchBuilder::new(Limits::default());
    builder.begin_message(0);
    let mut add = |kind, text: &str, aux| {
        if aux == 0 {
            builder.add_simple(kind, text.as_bytes(), 0).unwrap()
        } else {
            builder.add_with_aux(kind, text.as_bytes(), aux, 0).unwrap()
        }
    };
    let iri = add(TermKind::Iri, "http://e/a b<>\"{}|\\^`\u{1}\u{e9}", 0);
    let label = add(TermKind::BlankNode, "a b> .\n", 0);
    let generated_label = add(TermKind::BlankNode, "_gx61", 0);
    let tag = add(TermKind::Language, "no tag!", 0);
    let tagged = add(TermKind::LangLiteral, "\u{0}\u{ffff}\"", tag.0);
    let typed = add(TermKind::TypedLiteral, "\\u0041", iri.0);
    for (subject, object) in [(label, tagged), (generated_label, typed), (iri, iri)] {
        let quad = Quad {
            subject,
            predicate: iri,
            object,
            graph: label,
        };
        builder.add_quad(quad).unwrap();
    }
    builder.end_message();
    let source_batch = builder.take().unwrap();
    let rows = quad_record_batch(&[&source_batch], &layout(TermLayout::Structs), None).unwrap();
    let back = QuadReader::read_batch(reader(vec![rows]), 8).unwrap();
    for (one, other) in source_batch.quads().iter().zip(back.quads()) {
        let parts = |quad: &Quad| [quad.subject, quad.predicate, quad.object, quad.graph];
        for (id, again) in parts(one).into_iter().zip(parts(other)) {
            assert!(source_batch.table().is_same_term(id, back.table(), again));
        }
    }
    assert_eq!(source_batch.quads().len(), back.quads().len());
}

/// Terms as structs. Empty strings are null.
fn structs(terms: &[[&str; 5]]) -> ArrayRef {
    let names = ["kind", "value", "datatype", "language", "direction"];
    let column = |index: usize| -> ArrayRef {
        let texts = terms
            .iter()
            .map(|term| (!term[index].is_empty()).then_some(term[index]));
        Arc::new(texts.collect::<StringArray>())
    };
    let fields: Fields = names
        .map(|name| Field::new(name, DataType::Utf8, true))
        .to_vec()
        .into();
    let columns = (0..5).map(column).collect();
    Arc::new(StructArray::new(fields, columns, None))
}

#[test]
fn structs_that_are_not_terms_are_rejected() {
    let iri = ["iri", "a:b", "", "", ""];
    let read_object = |object: [&str; 5]| {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![0]));
        let rows = record_batch(vec![
            ("message_index", numbers),
            ("subject", structs(&[iri])),
            ("predicate", structs(&[iri])),
            ("object", structs(&[object])),
            ("graph", structs(&[[""; 5]])),
        ]);
        let batch = QuadReader::read_batch(reader(vec![rows]), 8);
        batch.map_or_else(
            |error| error.reason.to_string(),
            |batch| messages(&batch)[0].quads[0][2].clone(),
        )
    };
    assert_eq!(read_object(iri), "<a:b>");
    assert_eq!(read_object(["literal", "x", "", "en", ""]), "\"x\"@en");
    assert_eq!(read_object(["literal", "x", "", "", ""]), "\"x\"");
    for (object, expected) in [
        ([""; 5], "expected a term, found null"),
        (
            ["", "x", "", "", ""],
            "expected a kind (iri, bnode, literal or triple term), found null",
        ),
        (
            ["uri", "x", "", "", ""],
            "expected a kind (iri, bnode, literal or triple term), found 'uri'",
        ),
        (["iri", "", "", "", ""], "expected a value, found null"),
        (
            ["iri", "a:b", "", "en", ""],
            "expected null for language (the kind is iri, not literal), found 'en'",
        ),
        (
            ["literal", "x", "a:b", "en", ""],
            "expected the datatype rdf:langString or null (the literal has a language), found 'a:b'",
        ),
        (
            ["literal", "x", "", "", "ltr"],
            "expected a language (the literal has a direction), found null",
        ),
        (
            ["literal", "x", "", "en", "up"],
            "expected the direction ltr or rtl, found 'up'",
        ),
        (
            ["triple term", "<a:b>", "", "", ""],
            "expected a triple term as N-Triples in value, found '<a:b>'",
        ),
    ] {
        assert_eq!(read_object(object), format!("quad 0, object: {expected}"));
    }
    for object in [
        ["blank node", "a> <b", "", "", ""],
        ["literal", "x", "", "e n", ""],
        ["triple term", "<<( <a:b> <a:b> <a:b> )>> <a:b>", "", "", ""],
    ] {
        assert!(
            read_object(object).starts_with("quad 0, object: "),
            "{object:?} {}",
            read_object(object)
        );
    }
}

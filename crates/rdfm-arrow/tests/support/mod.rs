//! Test helpers that create batches from strings, and return the contents of batches and arrays as
//! strings.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests fail by panicking")]

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use rdfm_core::formats::nquads::parse_term;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::term::{Quad, TermId};
use rdfm_core::model::write::write_term;

/// The terms of a quad as N-Triples. The last string is empty for the default graph.
pub type QuadTexts = [String; 4];

/// A message as strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub quads: Vec<QuadTexts>,
    pub metadata: Vec<(String, Vec<u8>)>,
    pub namespaces: Vec<(String, String)>,
}

pub fn quad(subject: &str, predicate: &str, object: &str, graph: &str) -> QuadTexts {
    [subject, predicate, object, graph].map(str::to_owned)
}

/// A message whose triples have the given numbers as literals and the same predicate.
pub fn numbers(numbers: std::ops::Range<usize>) -> Message {
    let triple = |number| quad("<a:s>", "<a:p>", &format!("\"{number}\""), "");
    Message {
        quads: numbers.map(triple).collect(),
        ..Message::default()
    }
}

/// Messages with every kind of term, with and without graphs, metadata and namespaces.
pub fn everything() -> Vec<Message> {
    vec![
        Message {
            quads: vec![
                quad("<http://e/a>", "<http://e/p>", "\"a\\\"\\\\\\n\u{e9}\"", ""),
                quad(
                    "<http://e/a>",
                    "<http://e/p>",
                    "\"x\"@en-gb",
                    "<http://e/g>",
                ),
                quad("_:b", "<http://e/p>", "\"x\"@ar--rtl", "_:g"),
                quad("_:b", "<http://e/p>", "\"5\"^^<http://e/a>", "<http://e/g>"),
            ],
            metadata: vec![
                ("k".to_owned(), b"\0\xff".to_vec()),
                ("l".to_owned(), Vec::new()),
            ],
            namespaces: vec![("e".to_owned(), "http://e/".to_owned())],
        },
        Message::default(),
        Message {
            quads: vec![quad(
                "\"a literal\"",
                "_:b",
                "<<( <http://e/a> <http://e/p> <<( _:b <http://e/p> \"x\"@en )>> )>>",
                "<http://e/g>",
            )],
            namespaces: vec![(String::new(), "http://o/".to_owned())],
            ..Message::default()
        },
    ]
}

pub fn batch(messages: &[Message]) -> MessageBatch {
    let mut builder = BatchBuilder::new(Limits::default());
    for message in messages {
        builder.begin_message(0);
        for (name, iri) in &message.namespaces {
            builder
                .add_namespace(name.as_bytes(), iri.as_bytes())
                .unwrap();
        }
        for (key, value) in &message.metadata {
            builder.add_metadata(key, value).unwrap();
        }
        for terms in &message.quads {
            let mut term = |text: &String| match &**text {
                "" => TermId::DEFAULT_GRAPH,
                text => parse_term(&mut builder, text.as_bytes(), 8).unwrap(),
            };
            let [subject, predicate, object, graph] = terms.each_ref().map(&mut term);
            let quad = Quad {
                subject,
                predicate,
                object,
                graph,
            };
            builder.add_quad(quad).unwrap();
        }
        builder.end_message();
    }
    builder.take().unwrap()
}

/// Returns the messages of a batch, with the namespaces that each message declares.
pub fn messages(batch: &MessageBatch) -> Vec<Message> {
    let table = batch.table();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let term = |id| {
        let mut out = Vec::new();
        if id != TermId::DEFAULT_GRAPH {
            write_term(table, id, &mut out);
        }
        text(&out)
    };
    let message = |number| Message {
        quads: batch
            .message(number)
            .iter()
            .map(|quad| [quad.subject, quad.predicate, quad.object, quad.graph].map(term))
            .collect(),
        metadata: batch
            .metadata(number)
            .iter()
            .map(|entry| (entry.key.to_string(), entry.value.to_vec()))
            .collect(),
        namespaces: batch
            .namespace_changes_of(number)
            .iter()
            .map(|change| (text(table.span(change.name)), text(table.span(change.iri))))
            .collect(),
    };
    (0..batch.len()).map(message).collect()
}

/// Entries of a map, with values as bytes.
pub type Entries = Vec<(String, Vec<u8>)>;

/// Reads an array of any string type.
pub fn strings(array: &ArrayRef) -> Vec<Option<String>> {
    let array = cast(array, &DataType::LargeUtf8).unwrap();
    let strings = array.as_string::<i64>().iter();
    strings.map(|text| text.map(str::to_owned)).collect()
}

/// Reads an array of 64-bit integers.
pub fn numbers_of(array: &ArrayRef) -> Vec<i64> {
    array.as_primitive::<Int64Type>().values().to_vec()
}

/// Returns the rows of a `quads` column. Null rows are `None`.
pub fn lists(array: &ArrayRef) -> Vec<Option<Vec<QuadTexts>>> {
    let lists = array.as_list::<i32>();
    let list = |row| -> Vec<QuadTexts> {
        let items: ArrayRef = lists.value(row);
        let items: &StructArray = items.as_struct();
        let columns: Vec<Vec<Option<String>>> = items.columns().iter().map(strings).collect();
        let quad = |index: usize| -> QuadTexts {
            std::array::from_fn(|part: usize| columns[part][index].clone().unwrap_or_default())
        };
        (0..items.len()).map(quad).collect()
    };
    (0..lists.len())
        .map(|row| lists.is_valid(row).then(|| list(row)))
        .collect()
}

/// Returns the rows of a map column. Null rows are `None`.
pub fn maps(array: &ArrayRef) -> Vec<Option<Entries>> {
    let maps = array.as_map();
    let map = |row| {
        let entries = maps.value(row);
        let keys = strings(entries.column(0));
        let values = cast(entries.column(1), &DataType::Binary).unwrap();
        let values = values.as_binary::<i32>().iter();
        let entry = |(key, value): (Option<String>, Option<&[u8]>)| {
            (key.unwrap_or_default(), value.unwrap_or_default().to_vec())
        };
        keys.into_iter().zip(values).map(entry).collect()
    };
    (0..maps.len())
        .map(|row| maps.is_valid(row).then(|| map(row)))
        .collect()
}

/// Returns a reader of the given items.
pub fn reader<T>(items: Vec<T>) -> impl Iterator<Item = Result<T, ArrowError>> {
    items.into_iter().map(Ok)
}

/// Creates a record batch with these columns.
pub fn record_batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .unwrap()
}

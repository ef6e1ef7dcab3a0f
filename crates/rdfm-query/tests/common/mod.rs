//! Runs queries on a TriG log, and returns their rows as text.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::model::batch::{LogBatch, MessageBatch, ResultBatch};
use rdfm_core::model::record::Record;
use rdfm_core::model::term::TermId;
use rdfm_core::model::write::write_term;
use rdfm_core::registry;
use rdfm_query::query::budget::{Limits, Stop};
use rdfm_query::query::evaluate::{Evaluation, Triples};
use rdfm_query::query::output::RowOutput;
use rdfm_query::query::parse::Query;
use rdfm_query::query::rows::SolutionRows;
use rdfm_query::query::whole::{Collector, Piece};

/// Decodes a TriG log.
pub fn batch(text: &str) -> MessageBatch {
    let spec = registry::find("trig").unwrap();
    let mut decoder = registry::new_decoder(spec, &Values::default(), &Opening::default()).unwrap();
    decoder.feed(text.as_bytes());
    decoder.finish();
    decoder.next_batch_of().unwrap().unwrap()
}

/// Creates an evaluation of a query with the prefix `ex:`.
pub fn evaluation(text: &str, limits: Limits) -> Evaluation {
    let prefixes = [("ex".to_owned(), "http://e/".to_owned())];
    let query = Query::parse(text, None, &prefixes, text.contains("union")).unwrap();
    Evaluation::new(query, limits, true)
}

/// Returns a term as N-Triples, or "-" if it is unbound.
pub fn term<R: Record>(batch: &LogBatch<R>, id: TermId) -> String {
    if id == TermId::DEFAULT_GRAPH {
        return "-".to_owned();
    }
    let mut text = Vec::new();
    write_term(batch.table(), id, &mut text);
    String::from_utf8(text).unwrap()
}

fn row(results: &ResultBatch, row: usize) -> String {
    let cells = results.message(row).iter();
    let cells: Vec<_> = cells.map(|&cell| term(results, cell)).collect();
    cells.join(" ")
}

/// Returns the rows of each message, such as `0: <a> "b"`.
pub fn rows(text: &str, log: &MessageBatch) -> Vec<String> {
    let (rows, stop) = rows_until(text, log, Limits::default());
    assert_eq!(stop, None);
    rows
}

/// Returns the rows of each message, and the reason why the evaluation stopped.
pub fn rows_until(text: &str, log: &MessageBatch, limits: Limits) -> (Vec<String>, Option<Stop>) {
    let evaluation = evaluation(text, limits);
    let mut rows = SolutionRows::default();
    let progress = evaluation.evaluate_rows(log, 0, &mut rows);
    let results = RowOutput::new(&evaluation.query)
        .build_batch(log, &rows)
        .unwrap();
    let messages = rows.messages.iter().enumerate();
    let actual = messages.map(|(index, message)| format!("{message}: {}", row(&results, index)));
    (actual.collect(), progress.stop)
}

/// Returns the reason why the evaluation of a CONSTRUCT query stopped.
pub fn triples_until(text: &str, log: &MessageBatch, limits: Limits) -> Option<Stop> {
    let (mut rows, mut triples) = (SolutionRows::default(), Triples::default());
    let evaluation = evaluation(text, limits);
    evaluation
        .construct_triples(log, 0, &mut rows, &mut triples)
        .stop
}

/// Returns the rows for all messages as one dataset.
pub fn whole_rows(text: &str, log: &MessageBatch) -> Vec<String> {
    let (rows, stop) = whole_rows_until(text, log, Limits::default());
    assert_eq!(stop, None);
    rows
}

/// Returns the rows for all messages as one dataset, and the reason why the evaluation stopped.
pub fn whole_rows_until(
    text: &str,
    log: &MessageBatch,
    limits: Limits,
) -> (Vec<String>, Option<Stop>) {
    let mut collector = Collector::default();
    collector.add(log).unwrap();
    let data = collector.finish();
    let mut actual = Vec::new();
    let mut give = |piece| {
        if let Piece::Rows(results) = piece {
            actual.extend((0..results.len()).map(|index| row(&results, index)));
        }
        true
    };
    let stop = evaluation(text, limits).run_whole(&data, &mut give).err();
    (actual, stop)
}

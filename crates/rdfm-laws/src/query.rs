//! The laws of queries: evaluation respects its limits, and native evaluation returns the same rows
//! as the evaluator.

use std::time::{Duration, Instant};

use rdfm_core::codec::Opening;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::codec::values::Values;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::write::write_term;
use rdfm_core::registry;
use rdfm_query::query::budget::Limits;
use rdfm_query::query::evaluate::Evaluation;
use rdfm_query::query::output::RowOutput;
use rdfm_query::query::parse::{Form, Query};
use rdfm_query::query::rows::SolutionRows;

/// The data: terms of every kind, a repeated quad, graphs, and an empty message.
const LOG: &str = r#"
PREFIX : <http://e/>
:a :p :b , :c ; :q 1 , 2.5 , "1e0"^^<http://www.w3.org/2001/XMLSchema#double> ; :r "x"@en , "x"@EN , "x" .
:b :p :a . :b :p :a . _:n :p :b ; :q true .
:g { :a :p :b . _:n :r "2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> }
# @message
:c :p :c ; :p <<( :a :p :b )>> . :h { :c :p _:c } :g { :c :q 2 }
# @message
# @message
:a :p :a ; :q 1 ; :r :p .
"#;
/// Time limits per message and in total, with an allowance for slow machines.
const TIMEOUT: Duration = Duration::from_millis(200);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(15);

fn log() -> MessageBatch {
    let spec = registry::find("trig").expect("TriG is a format");
    let mut decoder = registry::new_decoder(spec, &Values::default(), &Opening::default())
        .expect("TriG can be read without options");
    decoder.feed(LOG.as_bytes());
    decoder.finish();
    decoder
        .next_batch_of()
        .expect("the log is TriG")
        .expect("the log is one batch")
}

/// Returns the rows of each message as text, sorted, or `None` if evaluation was interrupted.
fn rows(evaluation: &Evaluation, log: &MessageBatch) -> Option<Vec<String>> {
    let mut rows = SolutionRows::default();
    let progress = evaluation.evaluate_rows(log, 0, &mut rows);
    let batch = RowOutput::new(&evaluation.query)
        .build_batch(log, &rows)
        .expect("rows within limits are a batch");
    let mut lines = Vec::new();
    for (row, message) in rows.messages.iter().enumerate() {
        let mut text = format!("{message}").into_bytes();
        for &cell in batch.message(row) {
            text.push(b' ');
            write_term(batch.table(), cell, &mut text);
        }
        lines.push(String::from_utf8(text).expect("terms are UTF-8"));
    }
    lines.sort_unstable();
    progress.stop.is_none().then_some(lines)
}

/// Evaluates any input as a query. The query must be rejected or evaluated within its limits, and
/// native evaluation must return the same rows as the evaluator. Returns whether the rows of this
/// kind of query are compared.
pub fn check_both_ways(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let start = Instant::now();
    let union = data.len() % 2 == 1;
    let query = || Query::parse(text, Some("http://e/"), &[], union);
    let (Ok(first), Ok(second)) = (query(), query()) else {
        return false;
    };
    if matches!(first.form, Form::Ask) {
        return false;
    }
    let limits = Limits {
        timeout: Some(TIMEOUT),
        max_rows: 1000,
        max_terms: 1 << 20,
    };
    let log = log();
    let native = rows(&Evaluation::new(first, limits.clone(), true), &log);
    let evaluation = Evaluation::new(second, limits, false);
    // Queries with nondeterministic results are not covered, nor are LIMIT and OFFSET.
    let is_covered = Evaluation::is_covered(&evaluation.query);
    if is_covered && let (Some(native), Some(evaluated)) = (native, rows(&evaluation, &log)) {
        assert_eq!(native, evaluated, "{text}");
    }
    assert!(
        start.elapsed() < TOTAL_TIMEOUT,
        "{:?}: {text}",
        start.elapsed()
    );
    is_covered
}

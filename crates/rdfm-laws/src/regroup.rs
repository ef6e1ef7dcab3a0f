//! The laws of regrouping, which changes message boundaries.
//!
//! - Cuts: the division of the input into batches, and of messages into parts, changes neither the
//!   messages nor the error.
//! - Quads: the output contains the quads of the input once and in order, unless an error stopped
//!   regrouping. Blank nodes keep their identity: equal ones stay equal, and different ones stay
//!   different.

use std::collections::BTreeMap;

use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::EncodeError;
use rdfm_core::model::limits::Limits;
use rdfm_core::regroup::{GroupBy, RegroupOptions, Regrouper};

use crate::decode;
use crate::message::{Message, messages, relabel};
use crate::options::Reading;

const WAYS: [GroupBy; 8] = [
    GroupBy::Message,
    GroupBy::Subject,
    GroupBy::Graph,
    GroupBy::Cbd,
    GroupBy::Nanopub,
    GroupBy::Count(2),
    GroupBy::Bytes(40),
    GroupBy::All,
];

/// Groups the messages in `data` in every way, and checks the laws.
pub fn every_way(reading: &Reading, data: &[u8]) {
    let whole = batches(reading, data);
    let small = reading.clone().with("batch_messages", 1);
    let in_parts = reading.clone().in_parts().with("batch_quads", 1);
    let mut cuts = vec![batches(&small, data)];
    // If an error ends the log inside a message, the beginning of that message is returned only
    // when messages are read in parts.
    if whole.1 {
        cuts.push(batches(&in_parts, data));
    }
    let given: Vec<Message> = whole.0.iter().flat_map(messages).collect();
    for by in WAYS {
        for skolemize in [None, Some("http://example.org".to_owned())] {
            let grouped = regroup(by, skolemize.clone(), &whole.0);
            if skolemize.is_none() {
                keeps_quads(by, &given, &grouped);
            }
            for (cut, _) in &cuts {
                let mut other = regroup(by, skolemize.clone(), cut);
                if cut.iter().any(MessageBatch::continues) {
                    // Namespaces declared after the first part of a message are unknown in that
                    // part.
                    for (one, other) in grouped.0.iter().zip(&mut other.0) {
                        other.namespaces.clone_from(&one.namespaces);
                    }
                }
                assert!(
                    grouped == other,
                    "{by:?}, skolemize {skolemize:?}: batches change the output:\n{other:#?}\nwhole:\n{grouped:#?}"
                );
            }
        }
    }
}

/// Returns the batches, and whether the log was read to its end.
fn batches(reading: &Reading, data: &[u8]) -> (Vec<MessageBatch>, bool) {
    let (batches, error) = decode::batches(reading, data);
    (batches, error.is_none())
}

/// The output messages, and the reason why regrouping stopped.
type Grouped = (Vec<Message>, Option<EncodeError>);

fn regroup(by: GroupBy, skolemize: Option<String>, batches: &[MessageBatch]) -> Grouped {
    let mut regrouper = Regrouper::new(RegroupOptions {
        by,
        skolemize,
        parts: false,
        limits: Limits::default(),
    })
    .expect("the options fit");
    let mut result = Vec::new();
    let mut remaining = batches.iter();
    loop {
        match regrouper.next_batch() {
            Ok(Some(batch)) => result.extend(messages(&batch)),
            Ok(None) => match remaining.next() {
                Some(batch) => regrouper.feed(batch.clone()),
                None => break,
            },
            Err(error) => return (result, Some(error)),
        }
    }
    regrouper.finish();
    loop {
        match regrouper.next_batch() {
            Ok(Some(batch)) => result.extend(messages(&batch)),
            Ok(None) => return (result, None),
            Err(error) => return (result, Some(error)),
        }
    }
}

fn keeps_quads(by: GroupBy, input: &[Message], (regrouped, error): &Grouped) {
    let count = |messages: &[Message]| -> usize {
        messages.iter().map(|message| message.records.len()).sum()
    };
    assert!(
        count(regrouped) == count(input) || error.is_some() && count(regrouped) < count(input),
        "{by:?}: quads are lost or added:\n{regrouped:#?}\ninput:\n{input:#?}"
    );
    match by {
        GroupBy::Message => {
            assert_eq!(error, &None);
            let (regrouped, input) = (relabel(regrouped, false), relabel(input, false));
            assert_eq!(regrouped, input, "messages are unchanged");
        }
        GroupBy::All => {
            assert_eq!(error, &None);
            let all = relabel(&regrouped[..regrouped.len().min(1)], false);
            let expected = relabel(&[join(input)][..all.len()], false);
            assert_eq!(all, expected, "one message of all quads");
        }
        _ => {}
    }
}

/// All quads as one message, with separate blank nodes for each message.
fn join(messages: &[Message]) -> Message {
    let mut all = Message {
        message_index: 0,
        byte_offset: None,
        records: Vec::new(),
        namespaces: BTreeMap::default(),
        metadata: BTreeMap::default(),
    };
    for message in messages {
        let mut quads = message.records.clone();
        for term in quads.iter_mut().flatten() {
            term.rename(&mut |label| format!("{} {label}", message.message_index));
        }
        all.records.extend(quads);
    }
    all
}

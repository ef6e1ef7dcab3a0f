//! The laws of pretty text.
//!
//! - Data: the text contains the same datasets.
//! - Batches: the division of messages into batches does not change the text.
//! - Order: neither the order of quads nor their repetitions change the text.
//! - Reading: writing the messages that readers get writes the same text.

use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::{EncodeError, ErrorClass};
use rdfm_core::model::term::Quad;

use crate::decode;
use crate::encode::{encode, encode_with};
use crate::message::{Message, messages};
use crate::mutate::Random;
use crate::options::{Reading, Writing};
use crate::structure::dataset;

/// Checks the laws for the messages in `data`.
pub fn every_law(reading: &Reading, data: &[u8]) {
    let writing = Writing::for_format("trig").with("pretty", true);
    let (batches, _) = decode::batches::<Quad>(reading, data);
    let expected = encode(&writing, &batches);
    let check = |law: &str, batches: &[MessageBatch]| {
        let actual = encode_with(&mut *writing.encoder(), batches);
        // The number of steps that labels need depends on the order of the quads.
        let is_limited = |(_, error): &(Vec<u8>, Option<EncodeError>)| {
            error.as_ref().map(|error| error.class) == Some(ErrorClass::Limit)
        };
        if !is_limited(&actual) && !is_limited(&expected) {
            let index = |error: &EncodeError| error.message_index;
            assert!(
                actual.0 == expected.0
                    && actual.1.as_ref().map(index) == expected.1.as_ref().map(index),
                "{law} the pretty text:\n{}\nand\n{}\n{:?}, {:?}",
                String::from_utf8_lossy(&expected.0),
                String::from_utf8_lossy(&actual.0),
                expected.1,
                actual.1,
            );
        }
    };
    let small = reading.clone().with("batch_messages", 1);
    check("batches change", &decode::batches::<Quad>(&small, data).0);
    let mut random = Random::from_data(data);
    let shuffled: Vec<_> = batches
        .iter()
        .map(|batch| shuffle(batch, &mut random))
        .collect();
    check("the order changes", &shuffled);
    if expected.1.is_some() {
        return;
    }
    let (read, error) = decode::batches::<Quad>(&Reading::for_format("trig"), &expected.0);
    assert_eq!(error, None, "{}", String::from_utf8_lossy(&expected.0));
    check("reading changes", &read);
    let datasets = |batches: &[MessageBatch]| -> Vec<_> {
        let messages: Vec<Message> = batches.iter().flat_map(messages).collect();
        messages.iter().map(dataset).collect()
    };
    assert!(
        datasets(&read) == datasets(&batches),
        "the pretty text has other data:\n{}",
        String::from_utf8_lossy(&expected.0)
    );
}

/// Shuffles the quads of each message, and repeats about half of them.
fn shuffle(batch: &MessageBatch, random: &mut Random) -> MessageBatch {
    let (mut quads, mut ends) = (Vec::new(), Vec::new());
    for message in 0..batch.len() {
        let start = quads.len();
        for quad in batch.message(message) {
            for _ in 0..=random.next_below(2) {
                let place = start + random.next_below(quads.len() - start + 1);
                quads.insert(place, *quad);
            }
        }
        ends.push(u32::try_from(quads.len()).expect("a message is small"));
    }
    batch.clone().with_quads(quads, ends)
}

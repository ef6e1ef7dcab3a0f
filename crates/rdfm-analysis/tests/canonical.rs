//! Canonical forms do not depend on labels, order and repetitions, and their work is limited.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rdfm_analysis::canonical::{
    CanonicalError, Canonicalizer, Effort, MAX_STEPS, Unsupported, canonicalize, hash_messages,
    label_blank_nodes,
};
use rdfm_core::model::batch::MessageBatch;

use crate::comparison::log;

fn canonical(text: &str) -> String {
    let batch = log(text);
    let mut canonicalizer = Canonicalizer::new(batch.table());
    canonicalizer
        .load(batch.message(0), Effort::new(MAX_STEPS))
        .unwrap();
    let mut lines = Vec::new();
    canonicalizer.write(&mut lines);
    String::from_utf8(lines).unwrap()
}

fn complete_graph(prefix: &str, size: usize) -> MessageBatch {
    let mut quads = Vec::new();
    for a in 0..size {
        for b in (0..size).filter(|b| *b != a) {
            quads.push(format!("_:{prefix}{a} <p:> _:{prefix}{b}"));
        }
    }
    log(&quads.join(";"))
}

#[test]
fn labels_order_and_repetitions_do_not_matter() {
    let expected = "<s:> <p:> \"x\" .\n<s:> <p:> \"x\"@en .\n_:c14n0 <p:> \"x\" <g:> .\n\
                    _:c14n1 <p:> _:c14n0 .\n";
    for text in [
        "_:a <p:> _:b;_:b <p:> \"x\" <g:>;<s:> <p:> \"x\"@en;<s:> <p:> \"x\"",
        "<s:> <p:> \"x\";<s:> <p:> \"x\"@en;_:a <p:> \"x\" <g:>;_:z <p:> _:a;_:z <p:> _:a",
    ] {
        assert_eq!(canonical(text), expected);
    }
}

#[test]
fn a_blank_node_may_be_subject_object_and_graph_of_one_quad() {
    assert_eq!(
        canonical("_:x <p:> _:x _:x"),
        "_:c14n0 <p:> _:c14n0 _:c14n0 .\n"
    );
}

#[test]
fn labels_are_numbers_by_blank_node() {
    let batch = log("_:a <p:> _:b;_:b <p:> \"x\"");
    let quads = batch.message(0);
    let labels = label_blank_nodes(batch.table(), quads, Effort::new(MAX_STEPS)).unwrap();
    assert_eq!(labels, [(quads[0].subject, 0), (quads[0].object, 1)]);
}

#[test]
fn a_canonical_batch_has_the_hashes_of_its_source() {
    let batch = log("_:a <p:> _:b;_:b <p:> \"x\";_:b <p:> \"x\"|<s:> <p:> <o:>|_:q <p:> _:r _:q");
    let effort = Effort::new(MAX_STEPS);
    let (canonical, error) = canonicalize(&batch, effort);
    assert_eq!(error, None);
    assert_eq!(canonical.repeated, 1);
    assert_eq!(canonical.batch.len(), 3);
    assert_eq!(
        hash_messages(&canonical.batch, effort),
        hash_messages(&batch, effort)
    );
    let (again, _) = canonicalize(&canonical.batch, effort);
    let labels = |batch: &MessageBatch| {
        let ids = batch.quads().iter().map(|quad| quad.subject);
        ids.map(|id| batch.table().text(id).to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(labels(&again.batch), labels(&canonical.batch));
}

#[test]
fn messages_before_an_error_are_returned() {
    let batch = log("<s:> <p:> <o:>|_:a <p:> <<( <s:> <p:> _:a )>>");
    let effort = Effort::new(MAX_STEPS);
    let (canonical, error) = canonicalize(&batch, effort);
    assert_eq!(canonical.batch.len(), 1);
    let (hashes, same) = hash_messages(&batch, effort);
    assert_eq!(hashes.len(), 1);
    assert_eq!(error, same);
    let quad = batch.message(1)[0];
    let reason = CanonicalError::Unsupported(Unsupported::BlankNodeInTripleTerm, quad);
    assert_eq!(error, Some((1, reason)));
}

#[test]
fn steps_are_limited_and_can_be_cancelled() {
    let batch = complete_graph("x", 9);
    let mut canonicalizer = Canonicalizer::new(batch.table());
    let quads = batch.message(0);
    assert_eq!(
        canonicalizer.load(quads, Effort::new(10_000)),
        Err(CanonicalError::TooManySteps)
    );
    let cancelled = Effort {
        max_steps: u64::MAX,
        is_cancelled: &|| true,
    };
    assert_eq!(
        canonicalizer.load(quads, cancelled),
        Err(CanonicalError::Cancelled)
    );
    let small = complete_graph("y", 4);
    let small = Canonicalizer::new(small.table()).load(small.message(0), Effort::new(MAX_STEPS));
    assert_eq!(small, Ok(()));
}

#[test]
fn labels_are_found_at_any_depth() {
    let mut quads = Vec::new();
    for chain in ["a", "b"] {
        for node in 0..3000 {
            quads.push(format!("_:{chain}{node} <p:> _:{chain}{}", node + 1));
            quads.push(format!("_:{chain}{node} <q:> \"{node}\""));
        }
    }
    let forwards = canonical(&quads.join(";"));
    quads.reverse();
    assert_eq!(canonical(&quads.join(";")), forwards);
    assert!(forwards.contains("_:c14n6001 "));
}

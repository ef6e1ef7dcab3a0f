//! Reads quads with oxttl, and compares datasets up to blank node labels.
#![allow(clippy::expect_used, reason = "a failing test may panic")]

use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::{Dataset, Quad};

/// Reads the quads of N-Triples or N-Quads lines.
pub fn nquads(data: &[u8]) -> Vec<Quad> {
    oxttl::NQuadsParser::new()
        .for_slice(data)
        .map(|quad| quad.expect("the expected lines are N-Quads"))
        .collect()
}

/// Whether our lines and the oracle's quads are the same dataset up to blank node labels.
pub fn isomorphic(lines: &[String], theirs: &[Quad]) -> bool {
    let canonical = |quads: &[Quad]| {
        let mut dataset: Dataset = quads.iter().cloned().collect();
        dataset.canonicalize(CanonicalizationAlgorithm::Unstable);
        dataset
    };
    canonical(&nquads(lines.join("\n").as_bytes())) == canonical(theirs)
}

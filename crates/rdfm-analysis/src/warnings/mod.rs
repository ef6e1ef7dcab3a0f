//! Warnings about valid but suspicious data: relative IRIs, ill-typed literals, invalid language
//! tags, shared blank node labels, and redeclared prefixes.
//!
//! - In: batches of a log, in order. Out: [`Finding`]s, sorted by message within a batch.
//! - Cost: one visit per entry of a batch's term table. Quads are visited only if a term is
//!   suspicious or labels are compared. Memory: 1 MiB of labels, 4 MiB of prefixes.
//! - Law: the division of messages into batches does not affect the findings.

mod blanks;
pub mod lines;
mod prefixes;
mod terms;

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::record::Record;

pub use blanks::SuspiciousLabels;

/// The reason for a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rule {
    /// An IRI without a scheme.
    RelativeIri,
    /// A literal whose lexical form is invalid for its datatype.
    IllTypedLiteral,
    /// A language tag that BCP 47 does not allow.
    LanguageTag,
    /// A blank node label that several messages share.
    SharedBlankNode,
    /// A prefix that is redeclared with a different IRI.
    RedeclaredNamespace,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 5] = [
        Self::RelativeIri,
        Self::IllTypedLiteral,
        Self::LanguageTag,
        Self::SharedBlankNode,
        Self::RedeclaredNamespace,
    ];

    /// The stable name of the rule.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RelativeIri => "relative-iri",
            Self::IllTypedLiteral => "ill-typed-literal",
            Self::LanguageTag => "language-tag",
            Self::SharedBlankNode => "shared-blank-node",
            Self::RedeclaredNamespace => "redeclared-namespace",
        }
    }
}

/// A warning about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that the data violates.
    pub rule: Rule,
    /// Index of the message in its log.
    pub message_index: u64,
    /// Offset of the message's first byte; `None` if the message is not from a log of bytes.
    pub byte_offset: Option<u64>,
    /// The text of the warning: the data found, and what was expected.
    pub text: String,
    /// The term as it is usually written in text logs.
    pub term_text: Vec<u8>,
}

/// Checks the batches of logs, one log after the other.
#[derive(Debug)]
pub struct Checker {
    limit: u64,
    counts: [u64; Rule::ALL.len()],
    findings: Vec<Finding>,
    terms: terms::TermChecker,
    labels: blanks::RecentLabels,
    prefixes: prefixes::Prefixes,
}

/// Collects findings up to the limit of each rule.
struct FindingSink<'a> {
    limit: u64,
    counts: &'a mut [u64; Rule::ALL.len()],
    findings: &'a mut Vec<Finding>,
}

impl FindingSink<'_> {
    /// Counts a finding, and creates it if the rule is below its limit.
    fn add(&mut self, rule: Rule, make: impl FnOnce() -> Finding) {
        let count = &mut self.counts[rule as usize];
        *count += 1;
        if *count <= self.limit {
            self.findings.push(make());
        }
    }
}

impl Checker {
    /// Creates a checker that returns at most `limit` findings per rule. The others are only
    /// counted.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            counts: [0; Rule::ALL.len()],
            findings: Vec::new(),
            terms: terms::TermChecker::default(),
            labels: blanks::RecentLabels::default(),
            prefixes: prefixes::Prefixes::default(),
        }
    }

    /// Starts another log, whose labels and prefixes are separate. `own_prefix` is the prefix of
    /// IRIs that were resolved against the log's own URL, or empty if there are none.
    pub fn begin_log(&mut self, own_prefix: &[u8]) {
        self.terms.begin_log(own_prefix);
        self.labels.clear();
        self.prefixes.clear();
    }

    /// Checks the next batch of the log. `labels` determines which blank node labels are
    /// suspicious.
    pub fn check<R: Record>(
        &mut self,
        batch: &LogBatch<R>,
        labels: SuspiciousLabels,
    ) -> Vec<Finding> {
        let mut sink = FindingSink {
            limit: self.limit,
            counts: &mut self.counts,
            findings: &mut self.findings,
        };
        let has_blank_nodes = self.terms.check(batch, &mut sink);
        if has_blank_nodes && labels != SuspiciousLabels::Ignored {
            self.labels.check(batch, labels, &mut sink);
        }
        self.prefixes.check(batch, &mut sink);
        self.findings.sort_by_key(|finding| finding.message_index);
        std::mem::take(&mut self.findings)
    }

    /// Number of findings for each rule, in the order of [`Rule::ALL`].
    #[must_use]
    pub fn counts(&self) -> [u64; Rule::ALL.len()] {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use rdfm_core::model::batch::MessageBatch;
    use rdfm_core::model::builder::LogBuilder;
    use rdfm_core::model::limits::Limits;
    use rdfm_core::model::term::{Quad, TermId, TermKind};

    use super::*;

    /// A log in which every second message has every kind of suspicious term. All messages share a
    /// blank node label and declare the same prefix, with two alternating IRIs.
    fn batch() -> MessageBatch {
        let mut builder = LogBuilder::<Quad>::new(Limits::default());
        for message in 0..12 {
            builder.begin_message(message * 10);
            let is_suspicious = message % 2 == 0;
            let iri: &[u8] = if is_suspicious {
                b"relative"
            } else {
                b"http://e/"
            };
            let iri = builder.add_simple(TermKind::Iri, iri, 0).unwrap();
            let bnode = builder
                .add_simple(TermKind::BlankNode, b"alice", 0)
                .unwrap();
            let datatype = b"http://www.w3.org/2001/XMLSchema#int";
            let datatype = builder.add_simple(TermKind::Iri, datatype, 0).unwrap();
            let number: &[u8] = if is_suspicious { b"x" } else { b"1" };
            let number = builder
                .add_with_aux(TermKind::TypedLiteral, number, datatype.0, 0)
                .unwrap();
            let tag: &[u8] = if is_suspicious { b"en_US" } else { b"en-US" };
            let tag = builder.add_simple(TermKind::Language, tag, 0).unwrap();
            let word = builder
                .add_with_aux(TermKind::LangLiteral, b"a", tag.0, 0)
                .unwrap();
            let inner = builder.add_triple_term([bnode, iri, number]).unwrap();
            let outer = builder.add_triple_term([bnode, iri, inner]).unwrap();
            for object in [word, outer, outer] {
                let quad = Quad {
                    subject: bnode,
                    predicate: datatype,
                    object,
                    graph: TermId::DEFAULT_GRAPH,
                };
                builder.add_quad(quad).unwrap();
            }
            let namespace: &[u8] = if is_suspicious {
                b"http://a/"
            } else {
                b"http://b/"
            };
            builder.add_namespace(b"p", namespace).unwrap();
            builder.end_message();
        }
        builder.take().unwrap()
    }

    fn findings(checker: &mut Checker, batches: &[MessageBatch]) -> Vec<(Rule, u64, u64)> {
        let findings = batches
            .iter()
            .flat_map(|batch| checker.check(batch, SuspiciousLabels::Chosen));
        let mut findings: Vec<_> = findings
            .map(|finding| {
                (
                    finding.rule,
                    finding.message_index,
                    finding.byte_offset.unwrap(),
                )
            })
            .collect();
        findings.sort_unstable_by_key(|findings| (findings.1, findings.0 as u8));
        findings
    }

    #[test]
    fn each_finding_is_reported_once_per_message() {
        let mut checker = Checker::new(100);
        let actual = findings(&mut checker, &[batch()]);
        let term_rules = [Rule::RelativeIri, Rule::IllTypedLiteral, Rule::LanguageTag];
        let first: Vec<_> = term_rules.map(|rule| (rule, 0, 0)).to_vec();
        let second = [
            (Rule::SharedBlankNode, 1, 10),
            (Rule::RedeclaredNamespace, 1, 10),
        ];
        assert_eq!(actual[..5], [first, second.to_vec()].concat());
        assert_eq!(checker.counts(), [6, 6, 6, 1, 1]);
    }

    #[test]
    fn findings_do_not_depend_on_batch_sizes() {
        let log = batch();
        let expected = findings(&mut Checker::new(100), std::slice::from_ref(&log));
        for size in [1, 2, 5] {
            let slices: Vec<_> = (0..log.len())
                .step_by(size)
                .map(|start| log.slice(start..(start + size).min(log.len())))
                .collect();
            assert_eq!(
                findings(&mut Checker::new(100), &slices),
                expected,
                "{size}"
            );
        }
    }

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let mut checker = Checker::new(2);
        assert_eq!(findings(&mut checker, &[batch()]).len(), 2 + 2 + 2 + 1 + 1);
        assert_eq!(checker.counts(), [6, 6, 6, 1, 1]);
    }

    #[test]
    fn labels_and_prefixes_are_separate_for_each_log() {
        let mut checker = Checker::new(100);
        for _ in 0..2 {
            checker.begin_log(b"");
            let first = batch().slice(0..1);
            assert_eq!(findings(&mut checker, &[first]).len(), 3);
        }
    }
}

//! The laws of statistics, comparison, nanopublications and changes.
//!
//! - Statistics, lists of names, warnings and nanopublications: the results do not depend on how
//!   messages are divided into batches.
//! - Comparison: a message equals its shuffled copy with other labels, and every mapping is valid.
//!   For messages with few blank nodes, the result is the same as if every mapping were tried.
//!   Signatures are equal exactly for equal messages.
//! - Changes: applying the difference of two datasets to the first yields the second. Patches have
//!   the same effect on a dataset as on a set of quads, regardless of batches.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rdfm_analysis::comparison::{
    ComparableRecord, Comparer, Limits as StepLimits, Mode, NamespaceUse, Side, find_isomorphism,
};
use rdfm_analysis::nanopub::{self, Verdict, listing::Description};
use rdfm_analysis::statistics::{Listing, ListingReport, Report, Statistics};
use rdfm_analysis::warnings::{Checker, Finding, SuspiciousLabels};
use rdfm_core::changes::dataset::{AppliedCounts, Dataset};
use rdfm_core::changes::difference::Difference;
use rdfm_core::changes::per_message::{MessageDifferences, OldOrNew};
use rdfm_core::changes::rules::{FoundViolation, Rule, Rules};
use rdfm_core::model::batch::{LogBatch, MessageBatch, PatchBatch};
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::{Quad, TermId, TermKind};

use crate::decode;
use crate::message::{Message, Term, ToValues, Values, messages};
use crate::mutate::Random;
use crate::options::Reading;

/// Maximum number of steps of a comparison. If more are needed, the result is undecided.
const STEPS: StepLimits = StepLimits {
    each: 200_000,
    total: u64::MAX,
};
/// Maximum number of blank nodes per message for which every mapping is tried.
const MAX_TRIED: usize = 5;
/// Maximum length of each list of names. No input has more names.
const TOP: usize = 1 << 20;

/// Counts of what an input covered, so that tests can check that the laws were applied.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coverage {
    /// Pairs of messages that some mapping of blank nodes makes equal.
    pub same: usize,
    /// Pairs of messages that no mapping of blank nodes makes equal.
    pub different: usize,
    /// Applied operations of patches.
    pub operations: usize,
    /// Patches that cannot be applied.
    pub rejected: usize,
}

/// Applies every law to arbitrary bytes, read as TriG and as RDF Patch.
pub fn any_bytes(data: &[u8]) -> Coverage {
    let mut count = Coverage::default();
    let trig = Reading::for_format("trig").with("base", "http://example.org/base/");
    let (batches, error) = decode::batches::<Quad>(&trig, data);
    statistics_and_warnings(&trig, data, error.is_none(), message_statistics);
    nanopublications(&trig, data, &batches);
    compare_messages(&batches, &mut Random::from_data(data), &mut count);
    differences(&batches);
    snapshots(&batches);

    let patches = Reading::for_format("rdf-patch");
    let (batches, error) = decode::batches::<Operation>(&patches, data);
    statistics_and_warnings(&patches, data, error.is_none(), patch_statistics);
    check_application(&patches, data, &batches, &mut count);
    count
}

/// Statistics and names of batches.
type Counted = (Box<Report>, ListingReport);

fn message_statistics(batches: &[MessageBatch]) -> Counted {
    let (mut statistics, mut names) = (Statistics::default(), Listing::default());
    for batch in batches {
        statistics.add_messages(batch);
        names.add_messages(batch);
    }
    (Box::new(statistics.report(TOP)), names.report(TOP))
}

fn patch_statistics(batches: &[PatchBatch]) -> Counted {
    let (mut statistics, mut names) = (Statistics::default(), Listing::default());
    for batch in batches {
        statistics.add_patches(batch);
        names.add_patches(batch);
    }
    (Box::new(statistics.report(TOP)), names.report(TOP))
}

/// Returns options that divide a log into small batches.
fn small_batches(reading: &Reading) -> [Reading; 3] {
    [
        reading.clone().with("batch_messages", 1),
        reading.clone().with("batch_messages", 3),
        reading.clone().with("batch_quads", 2),
    ]
}

/// Statistics, names and warnings do not depend on the size of batches.
fn statistics_and_warnings<R: ToValues + ComparableRecord>(
    reading: &Reading,
    data: &[u8],
    is_complete: bool,
    count: impl Fn(&[LogBatch<R>]) -> Counted,
) {
    let (whole, _) = decode::batches::<R>(reading, data);
    let expected_count = count(&whole);
    let expected_warnings =
        [SuspiciousLabels::All, SuspiciousLabels::Chosen].map(|labels| warnings(&whole, labels));
    for cut in small_batches(reading) {
        let (decoded, _) = decode::batches::<R>(&cut, data);
        assert_eq!(count(&decoded), expected_count, "{cut:?}: statistics");
        let decoded = [SuspiciousLabels::All, SuspiciousLabels::Chosen]
            .map(|labels| warnings(&decoded, labels));
        assert_eq!(decoded, expected_warnings, "{cut:?}: warnings");
    }
    // A part of a message that an error interrupted is not a message.
    if is_complete {
        let in_parts = reading.clone().in_parts().with("batch_quads", 1);
        let (decoded, _) = decode::batches::<R>(&in_parts, data);
        assert_eq!(count(&decoded), expected_count, "{in_parts:?}: statistics");
    }
}

fn warnings<R: ComparableRecord>(
    batches: &[LogBatch<R>],
    labels: SuspiciousLabels,
) -> (Vec<Finding>, Vec<u64>) {
    let mut checker = Checker::new(10);
    checker.begin_log(b"");
    let findings = batches
        .iter()
        .flat_map(|batch| checker.check(batch, labels));
    let findings = findings.collect();
    (findings, checker.counts().to_vec())
}

/// Verdicts and descriptions of nanopublications do not depend on the size of batches.
fn nanopublications(reading: &Reading, data: &[u8], whole: &[MessageBatch]) {
    let checked = check_all(whole);
    for cut in small_batches(reading) {
        let (batches, _) = decode::batches::<Quad>(&cut, data);
        assert_eq!(
            self::check_all(&batches),
            checked,
            "{cut:?}: nanopublications"
        );
    }
}

/// For each message, the reason why it is not a nanopublication, if any; then the verdicts and the
/// descriptions of nanopublications.
type CheckedNanopubs = (Vec<Option<String>>, Vec<Verdict>, Vec<Description>);

fn check_all(batches: &[MessageBatch]) -> CheckedNanopubs {
    let mut nanopubs = CheckedNanopubs::default();
    for batch in batches {
        nanopubs.0.extend(nanopub::verify(batch));
        // The index of a message in its batch depends on the division into batches.
        let verdicts = nanopub::check(batch).into_iter();
        nanopubs.1.extend(verdicts.map(|verdict| Verdict {
            message: 0,
            ..verdict
        }));
        let described = nanopub::describe(batch).into_iter();
        nanopubs.2.extend(described.map(|description| Description {
            message: 0,
            ..description
        }));
    }
    nanopubs
}

/// Compares each message with copies, and with the next one.
fn compare_messages(batches: &[MessageBatch], random: &mut Random, count: &mut Coverage) {
    let all: Vec<Message> = batches.iter().flat_map(messages).collect();
    for (index, message) in all.iter().enumerate() {
        let quads = &message.records;
        let copy = shuffle(quads, random);
        assert!(
            compare(quads, &copy).is_none_or(|same| same),
            "a shuffled copy differs:\n{quads:#?}\n{copy:#?}"
        );
        let mut changed = copy;
        if let Some(quad) = changed.pop() {
            // The quad may have been repeated, or may be equivalent to another one.
            check_comparison(quads, &changed, count);
            changed.push(swap_subject_and_object(quad));
            check_comparison(quads, &changed, count);
        }
        if let Some(next) = all.get(index + 1) {
            check_comparison(quads, &next.records, count);
        }
    }
}

/// Returns the quads in another order and with other labels. One of them may be repeated.
fn shuffle(quads: &[Values], random: &mut Random) -> Vec<Values> {
    let mut shuffled: Vec<Values> = quads.to_vec();
    if !shuffled.is_empty() && random.next_below(2) == 0 {
        shuffled.push(shuffled[random.next_below(shuffled.len())].clone());
    }
    for index in (1..shuffled.len()).rev() {
        shuffled.swap(index, random.next_below(index + 1));
    }
    let mut labels: Vec<String> = labels(quads).into_iter().collect();
    let originals = labels.clone();
    for index in (1..labels.len()).rev() {
        labels.swap(index, random.next_below(index + 1));
    }
    let prefix = ["", "z"][random.next_below(2)];
    let names: HashMap<String, String> = originals.into_iter().zip(labels).collect();
    for term in shuffled.iter_mut().flatten() {
        term.rename(&mut |label| format!("{prefix}{}", names[label]));
    }
    shuffled
}

/// Swaps the subject and the object of a quad.
fn swap_subject_and_object(mut quad: Values) -> Values {
    quad.swap(0, 2);
    quad
}

fn labels(quads: &[Values]) -> BTreeSet<String> {
    let mut labels = BTreeSet::new();
    for term in quads.iter().flatten() {
        term.clone().rename(&mut |label| {
            labels.insert(label.to_owned());
            String::new()
        });
    }
    labels
}

/// Compares two messages. If they have few blank nodes, checks the result by trying every mapping.
fn check_comparison(left: &[Values], right: &[Values], count: &mut Coverage) {
    let are_equal = compare(left, right);
    if let (Some(are_equal), Some(expected)) = (are_equal, try_mappings(left, right)) {
        assert_eq!(are_equal, expected, "{left:#?}\n{right:#?}");
        count.same += usize::from(are_equal);
        count.different += usize::from(!are_equal);
    }
}

/// Compares two messages in every way, and checks that the results agree. Returns whether the
/// messages are equal, or `None` if too many steps are needed.
fn compare(left: &[Values], right: &[Values]) -> Option<bool> {
    let (a, b) = (batch(left), batch(right));
    let mapping =
        find_isomorphism((a.quads(), a.table()), (b.quads(), b.table()), STEPS.each).ok()?;
    if let Some(pairs) = &mapping {
        let text = |batch: &MessageBatch, id: TermId| {
            String::from_utf8(batch.table().text(id).to_vec()).expect("labels are UTF-8")
        };
        let names: HashMap<String, String> = pairs
            .iter()
            .map(|(ours, theirs)| (text(&a, *ours), text(&b, *theirs)))
            .collect();
        assert_eq!(names.len(), names.values().collect::<HashSet<_>>().len());
        assert!(
            is_mapping(left, right, &names),
            "{names:?}\n{left:#?}\n{right:#?}"
        );
    }
    let same = mapping.is_some();
    let mut comparer = Comparer::new(Mode::Sets, false, NamespaceUse::Ignored, STEPS);
    let run = comparer.run((&a, 0), (&b, 0), 1);
    if !run.differences.is_some_and(|actual| actual.undecided) {
        assert_eq!(run.pairs == 1, same, "{left:#?}\n{right:#?}");
    }
    if same {
        let signatures = [(Side::A, &a), (Side::B, &b)]
            .map(|(side, batch)| comparer.compute_signatures(side, batch, 0..1));
        assert_eq!(
            signatures[0], signatures[1],
            "signatures of equal messages: {left:#?}\n{right:#?}"
        );
    }
    if comparer.collect(Side::A, &a).is_empty() && comparer.collect(Side::B, &b).is_empty() {
        let settled = comparer.compare_multisets();
        assert_eq!(settled.same == 1, same, "signatures: {left:#?}\n{right:#?}");
        let expected = usize::from(!same);
        assert_eq!(comparer.find_surplus(Side::A, &a).len(), expected);
        assert_eq!(comparer.find_surplus(Side::B, &b).len(), expected);
    }
    Some(same)
}

fn is_mapping(left: &[Values], right: &[Values], names: &HashMap<String, String>) -> bool {
    let mut renamed = left.to_vec();
    for term in renamed.iter_mut().flatten() {
        term.rename(&mut |label| names[label].clone());
    }
    let quads: HashSet<&Values> = renamed.iter().collect();
    quads == right.iter().collect()
}

/// Whether some mapping makes two messages equal; `None` if there are too many mappings.
fn try_mappings(left: &[Values], right: &[Values]) -> Option<bool> {
    let (ours, theirs) = (labels(left), labels(right));
    if ours.len() > MAX_TRIED || theirs.len() > MAX_TRIED {
        return None;
    }
    let ours: Vec<String> = ours.into_iter().collect();
    let mut theirs: Vec<String> = theirs.into_iter().collect();
    Some(
        ours.len() == theirs.len()
            && has_permutation(&mut theirs, 0, &mut |order| {
                let names = ours.iter().cloned().zip(order.iter().cloned()).collect();
                is_mapping(left, right, &names)
            }),
    )
}

/// Whether a condition is true for some permutation of labels.
fn has_permutation(
    labels: &mut [String],
    from: usize,
    condition: &mut impl FnMut(&[String]) -> bool,
) -> bool {
    if from == labels.len() {
        return condition(labels);
    }
    for index in from..labels.len() {
        labels.swap(from, index);
        let is_true = has_permutation(labels, from + 1, condition);
        labels.swap(from, index);
        if is_true {
            return true;
        }
    }
    false
}

/// A batch of one message.
fn batch(quads: &[Values]) -> MessageBatch {
    let mut builder = BatchBuilder::new(Limits::default());
    let mut known = HashMap::new();
    builder.begin_message(0);
    for quad in quads {
        let ids: Vec<TermId> = quad
            .iter()
            .map(|term| add_term(&mut builder, &mut known, term))
            .collect();
        let quad = Quad {
            subject: ids[0],
            predicate: ids[1],
            object: ids[2],
            graph: ids[3],
        };
        builder.push_quad(quad);
    }
    builder.end_message();
    builder.take().expect("a message")
}

fn add_term(builder: &mut BatchBuilder, known: &mut HashMap<Term, TermId>, term: &Term) -> TermId {
    if let Some(id) = known.get(term) {
        return *id;
    }
    let id = match term {
        Term::DefaultGraph | Term::Code(_) => return TermId::DEFAULT_GRAPH,
        Term::Iri(text) => builder.add_simple(TermKind::Iri, text.as_bytes(), 0),
        Term::BlankNode(text) => builder.add_simple(TermKind::BlankNode, text.as_bytes(), 0),
        Term::Literal(text, None, _, None) => {
            builder.add_simple(TermKind::Literal, text.as_bytes(), 0)
        }
        Term::Literal(text, Some(tag), direction, _) => {
            let tag = builder.add_simple(TermKind::Language, tag.as_bytes(), 0);
            let tag = tag.expect("a small term");
            builder.add_with_aux(TermKind::LangLiteral, text.as_bytes(), tag.0, *direction)
        }
        Term::Literal(text, None, _, Some(datatype)) => {
            let datatype = add_term(builder, known, &Term::Iri(datatype.clone()));
            builder.add_with_aux(TermKind::TypedLiteral, text.as_bytes(), datatype.0, 0)
        }
        Term::Triple(parts) => {
            let parts = [0, 1, 2].map(|index| add_term(builder, known, &parts[index]));
            builder.add_triple_term(parts)
        }
    };
    let id = id.expect("a small term");
    known.insert(term.clone(), id);
    id
}

/// Applying the difference between a message and the next one turns the first into the second.
/// Equal labels denote the same blank node in both.
fn differences(batches: &[MessageBatch]) {
    let all: Vec<Message> = batches.iter().flat_map(messages).collect();
    for pair in all.windows(2) {
        let [old, new] =
            [0, 1].map(|index| pair[index].records.iter().cloned().collect::<BTreeSet<_>>());
        for parts in [false, true] {
            let mut difference = Difference::from(dataset(&pair[0]), 0, parts, None);
            difference
                .add(&batch(&pair[1].records))
                .expect("a small dataset");
            let counts = difference.counts();
            let mut patched = dataset(&pair[0]);
            while let Some(patch) = difference.next_batch().expect("a small patch") {
                patched
                    .apply(&patch, true)
                    .expect("a difference can be applied");
            }
            assert_eq!(quads_of(&patched), new, "from {old:#?}");
            let expected_counts = (old.difference(&new).count(), new.difference(&old).count());
            assert_eq!(counts, expected_counts);
            let AppliedCounts {
                added,
                deleted,
                without_effect,
                ..
            } = patched.applied_counts();
            assert_eq!(
                (deleted, added, without_effect),
                (expected_counts.0 as u64, expected_counts.1 as u64, 0)
            );
        }
    }
}

/// Applying the patches between consecutive messages, in order, yields each message of the log.
fn snapshots(batches: &[MessageBatch]) {
    let mut differences = MessageDifferences::of_snapshots();
    let mut expected = batches.iter().flat_map(messages);
    let mut dataset = Dataset::new();
    let mut take = |differences: &mut MessageDifferences| {
        while let Some(batch) = differences.next_batch().expect("small patches") {
            for patch in 0..batch.len() {
                let single = batch.slice(patch..patch + 1);
                dataset
                    .apply(&single, true)
                    .expect("a difference can be applied");
                let message = expected.next().expect("a patch for each message");
                let quads: BTreeSet<Values> = message.records.into_iter().collect();
                assert_eq!(
                    quads_of(&dataset),
                    quads,
                    "message {}",
                    message.message_index
                );
            }
        }
    };
    for batch in batches {
        differences
            .add(OldOrNew::New, batch)
            .expect("small messages");
        take(&mut differences);
    }
    differences.end(OldOrNew::New);
    take(&mut differences);
    assert_eq!(expected.count(), 0, "a message for each patch");
}

fn dataset(message: &Message) -> Dataset {
    let mut dataset = Dataset::new();
    dataset
        .add(&batch(&message.records))
        .expect("a small dataset");
    dataset
}

fn quads_of(dataset: &Dataset) -> BTreeSet<Values> {
    let mut quad_set = BTreeSet::new();
    let mut count = 0;
    let mut quads = dataset.message(true);
    while let Some(batch) = quads.next_batch().expect("a small message") {
        for message in messages(&batch) {
            count += message.records.len();
            quad_set.extend(message.records);
        }
    }
    assert_eq!(count, quad_set.len(), "a quad occurs once");
    assert_eq!(count, dataset.len());
    quad_set
}

/// A dataset as a set of quads and a map of prefixes. Patches are applied one operation at a time.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    quads: BTreeSet<Values>,
    prefixes: BTreeMap<Term, Term>,
    applied: AppliedCounts,
}

impl Model {
    /// Applies patches. Returns whether all of them could be applied.
    fn apply(&mut self, patches: &[Message]) -> bool {
        for patch in patches {
            let mut before: Option<Self> = None;
            let mut is_valid = true;
            for operation in &patch.records {
                is_valid = self.apply_operation(operation, &mut before);
                if !is_valid {
                    break;
                }
            }
            if let Some(before) = before {
                self.undo(before);
            }
            if !is_valid {
                return false;
            }
        }
        true
    }

    fn undo(&mut self, before: Self) {
        let undone = self.applied.undone + 1;
        *self = before;
        self.applied.undone = undone;
    }

    fn apply_operation(&mut self, operation: &[Term], before: &mut Option<Self>) -> bool {
        let [Term::Code(code), name, quad @ ..] = operation else {
            panic!("an operation begins with a code: {operation:?}");
        };
        match *code {
            "A" if self.quads.insert(quad.to_vec()) => self.applied.added += 1,
            "D" if self.quads.remove(quad) => self.applied.deleted += 1,
            "A" | "D" => self.applied.without_effect += 1,
            "TX" if before.is_none() => *before = Some(self.clone()),
            "TC" if before.is_some() => {
                *before = None;
                self.applied.committed += 1;
            }
            "TA" if before.is_some() => {
                if let Some(before) = before.take() {
                    self.undo(before);
                }
            }
            "TX" | "TC" | "TA" => return false,
            "PA" => {
                self.prefixes.insert(name.clone(), quad[2].clone());
            }
            "PD" => {
                self.prefixes.remove(name);
            }
            _ => {}
        }
        true
    }
}

/// Patches have the same effect on a dataset as on a set of quads, and break the same rules,
/// regardless of batches.
fn check_application(reading: &Reading, data: &[u8], batches: &[PatchBatch], count: &mut Coverage) {
    let patches: Vec<Message> = batches.iter().flat_map(messages).collect();
    let mut model = Model::default();
    let is_valid = model.apply(&patches);
    count.operations += patches
        .iter()
        .map(|patch| patch.records.len())
        .sum::<usize>();
    count.rejected += usize::from(!is_valid);
    let violations = check(batches);
    let breaks = |is: fn(Rule) -> bool| {
        violations
            .iter()
            .any(|violation| is(violation.violation.rule))
    };
    assert_eq!(is_valid, !breaks(|rule| rule == Rule::Transaction));
    let is_chained = is_valid && !breaks(Rule::is_chain);
    let agree = |batches: &[PatchBatch], cut: &Reading| {
        let (violation, is_applied) = apply(batches, false);
        assert_eq!((&violation, is_applied), (&model, is_valid), "{cut:?}");
        let (violation, is_applied) = apply(batches, true);
        assert_eq!(is_applied, is_chained, "{cut:?}: {violations:?}");
        assert!(!is_applied || violation == model, "{cut:?}");
        assert_eq!(check(batches), violations, "{cut:?}");
    };
    agree(batches, reading);
    for cut in small_batches(reading) {
        agree(&decode::batches(&cut, data).0, &cut);
    }
    let in_parts = reading.clone().in_parts().with("batch_quads", 1);
    let (batches, error) = decode::batches(&in_parts, data);
    if error.is_none() {
        agree(&batches, &in_parts);
    }
}

/// Returns the violations of rules in patches.
fn check(batches: &[PatchBatch]) -> Vec<FoundViolation> {
    let mut rules = Rules::new();
    rules.begin_log();
    batches
        .iter()
        .flat_map(|batch| rules.check(batch))
        .collect()
}

fn apply(batches: &[PatchBatch], chain: bool) -> (Model, bool) {
    let mut dataset = Dataset::new();
    let is_applied = batches
        .iter()
        .all(|batch| dataset.apply(batch, chain).is_ok());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("texts are UTF-8");
    let prefixes = dataset
        .namespaces()
        .iter()
        .map(|(name, iri)| {
            (
                Term::Literal(text(name), None, 0, None),
                Term::Iri(text(iri)),
            )
        })
        .collect();
    let model = Model {
        quads: quads_of(&dataset),
        prefixes,
        applied: dataset.applied_counts(),
    };
    (model, is_applied)
}

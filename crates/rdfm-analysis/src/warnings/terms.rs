//! Terms that are suspicious on their own. Each entry of a batch's term table is checked once.
//!
//! - In: a batch. Out: one finding for each message that contains such a term.
//! - Cost: one check per entry. Quads are visited only if an entry is suspicious.

use oxilangtag::LanguageTag;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::datatypes::Datatype;
use rdfm_core::model::error::quote;
use rdfm_core::model::record::Record;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Term, TermId, TermKind};
use rdfm_core::model::write::{write_iri, write_string};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Finding, FindingSink, Rule};

/// State that is kept between batches: buffers, and the terms already reported for a message
/// that arrives in parts.
#[derive(Debug, Default)]
pub(super) struct TermChecker {
    /// For each term, the problem with the term or one of its parts.
    problems: Vec<Problem>,
    /// Datatypes of the batch, by term.
    datatypes: FxHashMap<u32, Option<Datatype>>,
    /// Terms that were reported for the current message.
    reported: FxHashSet<(u8, Box<[u8]>)>,
    /// Prefix of IRIs that were resolved against the log's own URL. Empty if there are none.
    own_prefix: Vec<u8>,
}

/// The problem with a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Nothing,
    /// The term refers to a term with a problem.
    Part,
    Itself(Rule),
}

impl TermChecker {
    /// Starts a log. `own_prefix` is the prefix of its resolved relative IRIs.
    pub fn begin_log(&mut self, own_prefix: &[u8]) {
        self.own_prefix.clear();
        self.own_prefix.extend_from_slice(own_prefix);
    }

    /// Reports suspicious terms. Returns whether the batch has blank nodes.
    pub fn check<R: Record>(&mut self, batch: &LogBatch<R>, sink: &mut FindingSink) -> bool {
        let table = batch.table();
        let mut has_blank_nodes = false;
        let mut first = None;
        let mut datatypes = Datatypes::new(&mut self.datatypes);
        for (index, &term) in table.terms().iter().enumerate() {
            has_blank_nodes |= term.kind == TermKind::BlankNode;
            if find_violated_rule(table, term, &mut datatypes, &self.own_prefix).is_some() {
                first.get_or_insert(index);
            }
        }
        if !batch.continued() {
            self.reported.clear();
        }
        if let Some(first) = first {
            self.mark(table, first);
            self.report(batch, sink);
        }
        has_blank_nodes
    }

    /// Marks terms with problems, starting at the first one.
    fn mark(&mut self, table: &TermTable, first: usize) {
        self.problems.clear();
        self.problems.resize(table.terms().len(), Problem::Nothing);
        let mut datatypes = Datatypes::new(&mut self.datatypes);
        for (index, &term) in table.terms().iter().enumerate().skip(first) {
            if let Some(rule) = find_violated_rule(table, term, &mut datatypes, &self.own_prefix) {
                self.problems[index] = Problem::Itself(rule);
            }
        }
        // A term usually follows the terms that it refers to, but this is not required.
        let mut changed = true;
        while changed {
            changed = false;
            for (index, &term) in table.terms().iter().enumerate() {
                if self.problems[index] == Problem::Nothing
                    && parts(table, term)
                        .iter()
                        .any(|part| self.problems[part.index()] != Problem::Nothing)
                {
                    self.problems[index] = Problem::Part;
                    changed |= term.kind == TermKind::TripleTerm;
                }
            }
        }
    }

    fn report<R: Record>(&mut self, batch: &LogBatch<R>, sink: &mut FindingSink) {
        let Self {
            problems,
            reported,
            own_prefix,
            ..
        } = self;
        let table = batch.table();
        let mut pending = Vec::new();
        for message in 0..batch.len() {
            if message > 0 {
                reported.clear();
            }
            let index = batch.message_index(message);
            for &record in batch.message(message) {
                record.each(|id| {
                    if problems[id.index()] != Problem::Nothing {
                        pending.push(id);
                    }
                });
                while let Some(id) = pending.pop() {
                    let term = table.term(id);
                    pending.extend(
                        parts(table, term)
                            .iter()
                            .filter(|part| problems[part.index()] != Problem::Nothing),
                    );
                    let Problem::Itself(rule) = problems[id.index()] else {
                        continue;
                    };
                    // Findings may repeat for a message that arrives in many parts.
                    if reported.len() > 10_000 {
                        reported.clear();
                    }
                    if reported.insert((rule as u8, table.text_of(term).into())) {
                        sink.add(rule, || {
                            finding(
                                rule,
                                table,
                                term,
                                own_prefix,
                                index,
                                batch.byte_offset(message),
                            )
                        });
                    }
                }
            }
        }
    }
}

/// The terms that a term refers to.
fn parts(table: &TermTable, term: Term) -> Parts {
    match term.kind {
        TermKind::LangLiteral | TermKind::TypedLiteral => Parts([TermId(term.aux); 3], 1),
        TermKind::TripleTerm => Parts(table.triple(term), 3),
        _ => Parts([TermId::DEFAULT_GRAPH; 3], 0),
    }
}

/// Up to three terms.
struct Parts([TermId; 3], usize);

impl Parts {
    fn iter(&self) -> impl Iterator<Item = &TermId> {
        self.0[..self.1].iter()
    }
}

/// The datatypes of a batch. The last one is cached.
struct Datatypes<'a> {
    cached: &'a mut FxHashMap<u32, Option<Datatype>>,
    last: (u32, Option<Datatype>),
}

impl<'a> Datatypes<'a> {
    fn new(cached: &'a mut FxHashMap<u32, Option<Datatype>>) -> Self {
        cached.clear();
        Self {
            cached,
            last: (0, None),
        }
    }

    #[inline]
    fn find_datatype(&mut self, table: &TermTable, id: u32) -> Option<Datatype> {
        if self.last.0 != id {
            let datatype = *self
                .cached
                .entry(id)
                .or_insert_with(|| Datatype::from_iri(table.text(TermId(id))));
            self.last = (id, datatype);
        }
        self.last.1
    }
}

/// The rule that a term itself violates, regardless of the terms that it refers to.
#[inline]
fn find_violated_rule(
    table: &TermTable,
    term: Term,
    datatypes: &mut Datatypes,
    own_prefix: &[u8],
) -> Option<Rule> {
    match term.kind {
        TermKind::Iri => {
            let iri = table.text_of(term);
            (!is_absolute(iri) || is_own(iri, own_prefix)).then_some(Rule::RelativeIri)
        }
        TermKind::TypedLiteral => {
            let datatype = datatypes.find_datatype(table, term.aux)?;
            (!datatype.allows(table.text_of(term))).then_some(Rule::IllTypedLiteral)
        }
        TermKind::Language => {
            (!is_well_formed_tag(table.text_of(term))).then_some(Rule::LanguageTag)
        }
        TermKind::DefaultGraph
        | TermKind::BlankNode
        | TermKind::Literal
        | TermKind::LangLiteral
        | TermKind::TripleTerm => None,
    }
}

/// Whether an IRI begins with a scheme.
#[inline]
pub(super) fn is_absolute(iri: &[u8]) -> bool {
    if iri.starts_with(b"http://") || iri.starts_with(b"https://") {
        return true;
    }
    let end = iri
        .iter()
        .position(|&byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'-' | b'.'));
    end.is_some_and(|end| iri[end] == b':' && iri[0].is_ascii_alphabetic())
}

/// Whether an IRI has the prefix of IRIs that were resolved against the log's own URL.
#[inline]
fn is_own(iri: &[u8], own_prefix: &[u8]) -> bool {
    !own_prefix.is_empty() && iri.starts_with(own_prefix)
}

/// Whether a tag is well-formed according to BCP 47. Most tags need only a quick check.
#[inline]
fn is_well_formed_tag(tag: &[u8]) -> bool {
    (matches!(tag.len(), 2 | 3) && tag.iter().all(u8::is_ascii_alphabetic))
        || std::str::from_utf8(tag).is_ok_and(|tag| LanguageTag::parse(tag).is_ok())
}

/// A term in the syntax of text formats, followed by `after`.
fn write_until(write: impl FnOnce(&mut Vec<u8>), after: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out.extend_from_slice(after);
    out
}

fn finding(
    rule: Rule,
    table: &TermTable,
    term: Term,
    own_prefix: &[u8],
    message_index: u64,
    byte_offset: Option<u64>,
) -> Finding {
    let text = table.text_of(term);
    let (reason, term_text) = match rule {
        Rule::IllTypedLiteral => {
            let iri = table.text(TermId(term.aux));
            let datatype = Datatype::from_iri(iri);
            let name = datatype.map_or("its datatype", Datatype::name);
            let expected = datatype.map_or("", Datatype::expected_form);
            (
                format!("{} is not a valid {name}: expected {expected}", quote(text)),
                write_until(|out| write_string(text, false, out), b"^^"),
            )
        }
        Rule::LanguageTag => (
            format!("{} is not a well-formed language tag (BCP 47)", quote(text)),
            [b"\"@", text].concat(),
        ),
        Rule::RelativeIri if is_own(text, own_prefix) => {
            let relative = &text[own_prefix.len()..];
            (
                format!(
                    "the IRI {} is relative to the file: its meaning changes if the file is moved; set a fixed base with the option base",
                    quote(relative)
                ),
                write_until(|out| write_iri(relative, false, out), b""),
            )
        }
        Rule::RelativeIri | Rule::SharedBlankNode | Rule::RedeclaredNamespace => (
            format!(
                "the IRI {} is relative: its meaning depends on the base of the reader",
                quote(text)
            ),
            write_until(|out| write_iri(text, false, out), b""),
        ),
    };
    Finding {
        rule,
        message_index,
        byte_offset,
        text: reason,
        term_text: term_text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_iris_begin_with_a_scheme() {
        for iri in ["http://e/", "urn:x", "a+b-c.d:", "HTTP://e", "x:y"] {
            assert!(is_absolute(iri.as_bytes()), "{iri}");
        }
        for iri in ["", "a", ":", ":x", "/x:y", "1x:y", "é:x", "a/b:c", "#x"] {
            assert!(!is_absolute(iri.as_bytes()), "{iri}");
        }
    }

    #[test]
    fn language_tags_must_be_well_formed() {
        for tag in [
            "en",
            "de-CH-1996",
            "x-private",
            "i-klingon",
            "zh-cmn-Hans-CN",
            "sl-rozaj-biske-1994",
        ] {
            assert!(is_well_formed_tag(tag.as_bytes()), "{tag}");
        }
        for tag in ["", "e", "en_US", "en-", "abcdefghi", "en-a", "de-419-DE"] {
            assert!(!is_well_formed_tag(tag.as_bytes()), "{tag}");
        }
    }
}

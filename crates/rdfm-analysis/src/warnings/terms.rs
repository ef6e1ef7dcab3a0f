//! Terms that are suspicious by themselves: each entry of a batch's table is looked at once.
//!
//! - In: a batch. Out: a finding for each message that such a term stands in.
//! - Cost: a look at each entry; at the quads only where an entry is suspicious.

use oxilangtag::LanguageTag;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::datatypes::Datatype;
use rdfm_core::model::error::quote;
use rdfm_core::model::record::Record;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Term, TermId, TermKind};
use rdfm_core::model::write::{write_iri, write_string};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Finding, Rule, Sink};

/// What is kept from batch to batch: room, and what the batches hold of a message that is in parts.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// By term: what is wrong with it, or with what it is made of.
    wrong: Vec<Wrong>,
    /// Datatypes of the batch, by their term.
    datatypes: FxHashMap<u32, Option<Datatype>>,
    /// Terms that were reported of the message at hand.
    reported: FxHashSet<(u8, Box<[u8]>)>,
    /// What IRIs begin with that the log's own address completed; empty where there are none.
    own: Vec<u8>,
}

/// What is wrong with a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// It refers to a term with which something is wrong.
    Part,
    Itself(Rule),
}

impl Terms {
    /// Begins a log; relative IRIs of it were completed to begin so.
    pub fn begin_log(&mut self, own: &[u8]) {
        self.own.clear();
        self.own.extend_from_slice(own);
    }

    /// Reports suspicious terms; gives whether the batch has blank nodes.
    pub fn check<R: Record>(&mut self, batch: &LogBatch<R>, sink: &mut Sink) -> bool {
        let table = batch.table();
        let mut has_bnodes = false;
        let mut first = None;
        let mut datatypes = Datatypes::new(&mut self.datatypes);
        for (index, &term) in table.terms().iter().enumerate() {
            has_bnodes |= term.kind == TermKind::Bnode;
            if wrong_itself(table, term, &mut datatypes, &self.own).is_some() {
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
        has_bnodes
    }

    /// Marks what is wrong, from the first such term on.
    fn mark(&mut self, table: &TermTable, first: usize) {
        self.wrong.clear();
        self.wrong.resize(table.terms().len(), Wrong::Nothing);
        let mut datatypes = Datatypes::new(&mut self.datatypes);
        for (index, &term) in table.terms().iter().enumerate().skip(first) {
            if let Some(rule) = wrong_itself(table, term, &mut datatypes, &self.own) {
                self.wrong[index] = Wrong::Itself(rule);
            }
        }
        // What a term refers to stands before it, but nothing depends on that.
        let mut changed = true;
        while changed {
            changed = false;
            for (index, &term) in table.terms().iter().enumerate() {
                if self.wrong[index] == Wrong::Nothing
                    && parts(table, term)
                        .iter()
                        .any(|part| self.wrong[part.index()] != Wrong::Nothing)
                {
                    self.wrong[index] = Wrong::Part;
                    changed |= term.kind == TermKind::TripleTerm;
                }
            }
        }
    }

    fn report<R: Record>(&mut self, batch: &LogBatch<R>, sink: &mut Sink) {
        let Self {
            wrong,
            reported,
            own,
            ..
        } = self;
        let table = batch.table();
        let mut open = Vec::new();
        for message in 0..batch.len() {
            if message > 0 {
                reported.clear();
            }
            let index = batch.index(message);
            for &record in batch.message(message) {
                record.each(|id| {
                    if wrong[id.index()] != Wrong::Nothing {
                        open.push(id);
                    }
                });
                while let Some(id) = open.pop() {
                    let term = table.term(id);
                    open.extend(
                        parts(table, term)
                            .iter()
                            .filter(|part| wrong[part.index()] != Wrong::Nothing),
                    );
                    let Wrong::Itself(rule) = wrong[id.index()] else {
                        continue;
                    };
                    // Of a message in very many parts some is told again.
                    if reported.len() > 10_000 {
                        reported.clear();
                    }
                    if reported.insert((rule as u8, table.text_of(term).into())) {
                        sink.add(rule, || {
                            finding(rule, table, term, own, index, batch.position(message))
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

/// A few terms.
struct Parts([TermId; 3], usize);

impl Parts {
    fn iter(&self) -> impl Iterator<Item = &TermId> {
        self.0[..self.1].iter()
    }
}

/// The datatypes of a batch; the last one is at hand.
struct Datatypes<'a> {
    known: &'a mut FxHashMap<u32, Option<Datatype>>,
    last: (u32, Option<Datatype>),
}

impl<'a> Datatypes<'a> {
    fn new(known: &'a mut FxHashMap<u32, Option<Datatype>>) -> Self {
        known.clear();
        Self {
            known,
            last: (0, None),
        }
    }

    #[inline]
    fn of(&mut self, table: &TermTable, id: u32) -> Option<Datatype> {
        if self.last.0 != id {
            let found = *self
                .known
                .entry(id)
                .or_insert_with(|| Datatype::of(table.text(TermId(id))));
            self.last = (id, found);
        }
        self.last.1
    }
}

/// What is wrong with a term, whatever it refers to.
#[inline]
fn wrong_itself(
    table: &TermTable,
    term: Term,
    datatypes: &mut Datatypes,
    own: &[u8],
) -> Option<Rule> {
    match term.kind {
        TermKind::Iri => {
            let iri = table.text_of(term);
            (!is_absolute(iri) || is_own(iri, own)).then_some(Rule::RelativeIri)
        }
        TermKind::TypedLiteral => {
            let datatype = datatypes.of(table, term.aux)?;
            (!datatype.allows(table.text_of(term))).then_some(Rule::IllTypedLiteral)
        }
        TermKind::Language => {
            (!is_well_formed_tag(table.text_of(term))).then_some(Rule::LanguageTag)
        }
        TermKind::DefaultGraph
        | TermKind::Bnode
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

/// Whether an IRI begins as those do that the log's own address completed.
#[inline]
fn is_own(iri: &[u8], own: &[u8]) -> bool {
    !own.is_empty() && iri.starts_with(own)
}

/// Whether a tag is well-formed by BCP 47, as most are at a glance.
#[inline]
fn is_well_formed_tag(tag: &[u8]) -> bool {
    (matches!(tag.len(), 2 | 3) && tag.iter().all(u8::is_ascii_alphabetic))
        || std::str::from_utf8(tag).is_ok_and(|tag| LanguageTag::parse(tag).is_ok())
}

/// A term as the text formats write it, and what stands behind it.
fn written(write: impl FnOnce(&mut Vec<u8>), behind: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out.extend_from_slice(behind);
    out
}

fn finding(
    rule: Rule,
    table: &TermTable,
    term: Term,
    own: &[u8],
    message: u64,
    position: u64,
) -> Finding {
    let text = table.text_of(term);
    let (said, written) = match rule {
        Rule::IllTypedLiteral => {
            let iri = table.text(TermId(term.aux));
            let datatype = Datatype::of(iri);
            let name = datatype.map_or("its datatype", Datatype::name);
            let expected = datatype.map_or("", Datatype::expected);
            (
                format!("{} is no {name}: {expected}", quote(text)),
                written(|out| write_string(text, false, out), b"^^"),
            )
        }
        Rule::LanguageTag => (
            format!("{} is no well-formed language tag (BCP 47)", quote(text)),
            [b"\"@", text].concat(),
        ),
        Rule::RelativeIri if is_own(text, own) => {
            let relative = &text[own.len()..];
            (
                format!(
                    "the IRI {} is relative to the file: what it names changes when the file is moved; base gives it a fixed one",
                    quote(relative)
                ),
                written(|out| write_iri(relative, false, out), b""),
            )
        }
        Rule::RelativeIri | Rule::SharedBlankNode | Rule::RedeclaredNamespace => (
            format!(
                "the IRI {} is relative: what it names depends on where it is read",
                quote(text)
            ),
            written(|out| write_iri(text, false, out), b""),
        ),
    };
    Finding {
        rule,
        message,
        position,
        text: said,
        written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes() {
        for iri in ["http://e/", "urn:x", "a+b-c.d:", "HTTP://e", "x:y"] {
            assert!(is_absolute(iri.as_bytes()), "{iri}");
        }
        for iri in ["", "a", ":", ":x", "/x:y", "1x:y", "é:x", "a/b:c", "#x"] {
            assert!(!is_absolute(iri.as_bytes()), "{iri}");
        }
    }

    #[test]
    fn tags() {
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

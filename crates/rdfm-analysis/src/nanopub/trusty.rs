//! Artifact codes of trusty URIs (module RA): hashes of the quads of a dataset.
//!
//! - In: quads, and the code to replace in their IRIs. Out: the code of the quads, and the digest
//!   that a signature covers.
//! - Cost: each distinct term is serialized and sorted once. Quads are sorted by the ranks of their
//!   terms.
//! - Law: the order and repetition of quads and the case of language tags do not affect the code.
//!
//! Strings are sorted by code point, which is the byte order of UTF-8.

use std::cmp::Ordering;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use memchr::memmem::Finder;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId, TermKind, XSD_STRING, flags};
use sha2::{Digest, Sha256};

/// Length of an artifact code of module RA.
pub(super) const CODE_LENGTH: usize = 45;
/// Minimum length of an artifact code of any module.
const MIN_CODE_LENGTH: usize = 25;
/// Maximum length of a file suffix after a code, without the period.
const MAX_SUFFIX_LENGTH: usize = 20;

const fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Returns the artifact code (of any module) at the end of an IRI, or before a file suffix there.
pub fn artifact_code(iri: &[u8]) -> Option<&[u8]> {
    let code_before = |end: usize| {
        let start = iri[..end].iter().rposition(|byte| !is_base64url(*byte))? + 1;
        (end - start >= MIN_CODE_LENGTH).then(|| &iri[start..end])
    };
    code_before(iri.len()).or_else(|| {
        let first = iri.len().saturating_sub(MAX_SUFFIX_LENGTH + 1);
        let is_suffix = |byte: &u8| is_base64url(*byte) || *byte == b'.';
        (first..iri.len())
            .rev()
            .take_while(|index| is_suffix(&iri[*index]))
            .filter(|index| iri[*index] == b'.')
            .find_map(code_before)
    })
}

/// Returns the artifact code of an IRI if the code belongs to module RA.
pub fn dataset_code(iri: &[u8]) -> Option<&[u8]> {
    artifact_code(iri).filter(|code| code.len() == CODE_LENGTH && code.starts_with(b"RA"))
}

/// The reason why quads have no artifact code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unhashable {
    BlankNode(TermId),
    TripleTerm,
    Direction,
    /// An IRI contains a tab or a line feed.
    Control(TermId),
}

impl Unhashable {
    /// The reason as text, to follow "the artifact code cannot be computed".
    pub fn text(self, table: &TermTable) -> String {
        let text = |id| {
            String::from_utf8_lossy(table.text(id))
                .escape_debug()
                .to_string()
        };
        match self {
            Self::BlankNode(id) => {
                format!("there is a blank node _:{}, expected only IRIs", text(id))
            }
            Self::TripleTerm => "there is a triple term, which RDF 1.1 does not support".to_owned(),
            Self::Direction => {
                "there is a literal with a base direction, which RDF 1.1 does not support"
                    .to_owned()
            }
            Self::Control(id) => format!("the IRI <{}> contains a tab or a line feed", text(id)),
        }
    }
}

/// Group of a serialized term. Groups are sorted in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TermGroup {
    DefaultGraph,
    Iri,
    Literal,
}

/// A distinct term. The ranges are in [`Hasher::buffer`].
#[derive(Clone, Debug)]
struct SerializedTerm {
    kind: TermGroup,
    /// Whether the term is a literal without a language tag.
    has_datatype: bool,
    id: TermId,
    /// The serialized line with its line feed.
    line: Range<usize>,
    /// Datatype or tag of a literal.
    qualifier: Range<usize>,
    rank: u32,
}

/// Hashes quads. Its buffers are reused.
#[derive(Debug)]
pub(super) struct Hasher<'a> {
    table: &'a TermTable,
    /// For each term, its index in `terms` plus 1, or 0.
    slots: Vec<u32>,
    terms: Vec<SerializedTerm>,
    buffer: Vec<u8>,
    order: Vec<u32>,
    /// For each rank, the index in `terms` of a term with this rank.
    by_rank: Vec<u32>,
    /// Ranks of graph, subject, predicate and object.
    quads: Vec<[u32; 4]>,
    text: Vec<u8>,
}

impl<'a> Hasher<'a> {
    pub fn new(table: &'a TermTable) -> Self {
        Self {
            table,
            slots: vec![0; table.terms().len()],
            terms: Vec::new(),
            buffer: Vec::new(),
            order: Vec::new(),
            by_rank: Vec::new(),
            quads: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Serializes and sorts quads. In their IRIs, `code` is replaced by a space.
    pub fn load(&mut self, quads: &[Quad], code: Option<&[u8]>) -> Result<(), Unhashable> {
        for term in self.terms.drain(..) {
            self.slots[term.id.index()] = 0;
        }
        self.buffer.clear();
        self.quads.clear();
        let finder = code.map(Finder::new);
        for quad in quads {
            let mut row = [0; 4];
            let ids = [quad.graph, quad.subject, quad.predicate, quad.object];
            for (slot, id) in row.iter_mut().zip(ids) {
                *slot = self.serialize(id, finder.as_ref())?;
            }
            self.quads.push(row);
        }
        self.rank_terms();
        for quad in &mut self.quads {
            *quad = quad.map(|index| self.terms[index as usize].rank);
        }
        self.quads.sort_unstable();
        self.quads.dedup();
        Ok(())
    }

    /// Computes the artifact code of the loaded quads.
    pub fn compute_code(&mut self) -> String {
        self.write_text(None);
        let mut code = String::with_capacity(CODE_LENGTH);
        code.push_str("RA");
        URL_SAFE_NO_PAD.encode_string(Sha256::digest(&self.text), &mut code);
        code
    }

    /// Computes the SHA-256 digest of the loaded quads without one quad. A signature covers this
    /// digest.
    pub fn digest_without(&mut self, quad: &Quad) -> [u8; 32] {
        let ids = [quad.graph, quad.subject, quad.predicate, quad.object];
        let rank = |id: TermId| {
            let slot = self.slots[id.index()];
            self.terms[slot.max(1) as usize - 1].rank
        };
        let omitted = ids.map(rank);
        self.write_text(Some(omitted));
        Sha256::digest(&self.text).into()
    }

    fn write_text(&mut self, omitted: Option<[u32; 4]>) {
        self.text.clear();
        for quad in &self.quads {
            if Some(*quad) == omitted {
                continue;
            }
            for rank in quad {
                let term = &self.terms[self.by_rank[*rank as usize] as usize];
                self.text.extend_from_slice(&self.buffer[term.line.clone()]);
            }
        }
    }

    /// Serializes a term if it is new, and returns its index in `terms`.
    fn serialize(&mut self, id: TermId, code: Option<&Finder>) -> Result<u32, Unhashable> {
        let slot = self.slots[id.index()];
        if slot != 0 {
            return Ok(slot - 1);
        }
        let term = self.table.term(id);
        let text = self.table.text_of(term);
        let start = self.buffer.len();
        let mut qualifier = start..start;
        let mut has_datatype = false;
        let kind = match term.kind {
            TermKind::DefaultGraph => TermGroup::DefaultGraph,
            TermKind::Iri => {
                if memchr::memchr2(b'\t', b'\n', text).is_some() {
                    return Err(Unhashable::Control(id));
                }
                self.push_iri(text, code);
                TermGroup::Iri
            }
            TermKind::Literal | TermKind::TypedLiteral => {
                has_datatype = true;
                let datatype = match term.kind {
                    TermKind::Literal => XSD_STRING,
                    _ => self.table.text(TermId(term.aux)),
                };
                self.buffer.push(b'^');
                self.buffer.extend_from_slice(datatype);
                qualifier = start + 1..self.buffer.len();
                self.push_lexical_form(text);
                TermGroup::Literal
            }
            TermKind::LangLiteral => {
                if term.flags & (flags::LTR | flags::RTL) != 0 {
                    return Err(Unhashable::Direction);
                }
                self.buffer.push(b'@');
                let tag = self.table.text(TermId(term.aux));
                self.buffer.extend(tag.iter().map(u8::to_ascii_lowercase));
                qualifier = start + 1..self.buffer.len();
                self.push_lexical_form(text);
                TermGroup::Literal
            }
            TermKind::BlankNode => return Err(Unhashable::BlankNode(id)),
            TermKind::TripleTerm | TermKind::Language => return Err(Unhashable::TripleTerm),
        };
        self.buffer.push(b'\n');
        self.terms.push(SerializedTerm {
            kind,
            has_datatype,
            id,
            line: start..self.buffer.len(),
            qualifier,
            rank: 0,
        });
        let count = self.terms.len() as u32;
        self.slots[id.index()] = count;
        Ok(count - 1)
    }

    fn push_iri(&mut self, text: &[u8], code: Option<&Finder>) {
        let mut copied = 0;
        if let Some(code) = code {
            for index in code.find_iter(text) {
                self.buffer.extend_from_slice(&text[copied..index]);
                self.buffer.push(b' ');
                copied = index + code.needle().len();
            }
        }
        self.buffer.extend_from_slice(&text[copied..]);
    }

    /// Writes a space and a lexical form with `\` and line feeds escaped.
    fn push_lexical_form(&mut self, text: &[u8]) {
        self.buffer.push(b' ');
        let mut copied = 0;
        for index in memchr::memchr2_iter(b'\\', b'\n', text) {
            self.buffer.extend_from_slice(&text[copied..index]);
            let escape: &[u8] = if text[index] == b'\n' {
                b"\\n"
            } else {
                b"\\\\"
            };
            self.buffer.extend_from_slice(escape);
            copied = index + 1;
        }
        self.buffer.extend_from_slice(&text[copied..]);
    }

    /// Assigns ranks to terms. Equal terms have equal ranks.
    fn rank_terms(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..self.terms.len() as u32);
        order.sort_unstable_by(|a, b| self.compare(*a, *b));
        self.by_rank.clear();
        for index in &order {
            let is_new = match self.by_rank.last() {
                Some(last) => self.compare(*last, *index) != Ordering::Equal,
                None => true,
            };
            if is_new {
                self.by_rank.push(*index);
            }
            self.terms[*index as usize].rank = self.by_rank.len() as u32 - 1;
        }
        self.order = order;
    }

    fn compare(&self, a: u32, b: u32) -> Ordering {
        let (a, b) = (&self.terms[a as usize], &self.terms[b as usize]);
        a.kind.cmp(&b.kind).then_with(|| match a.kind {
            TermGroup::DefaultGraph => Ordering::Equal,
            // The line feeds are not compared, so a string sorts after its prefixes.
            TermGroup::Iri => self.buffer[a.line.start..a.line.end - 1]
                .cmp(&self.buffer[b.line.start..b.line.end - 1]),
            TermGroup::Literal => self
                .table
                .text(a.id)
                .cmp(self.table.text(b.id))
                .then(a.has_datatype.cmp(&b.has_datatype))
                .then_with(|| {
                    self.buffer[a.qualifier.clone()].cmp(&self.buffer[b.qualifier.clone()])
                }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_may_precede_a_file_suffix() {
        let code = "RAH-UOollyCX32XCS7iHNUded59E3pDpu4wrHPcB-yy-8";
        for (before, after) in [
            ("http://example.org/n/", ""),
            ("http://example.org/n#", ""),
            ("http://example.org/n/", ".trig"),
            ("http://example.org/n/", ".nq.gz"),
            ("http://example.org/n.", "."),
        ] {
            let iri = format!("{before}{code}{after}");
            assert_eq!(dataset_code(iri.as_bytes()), Some(code.as_bytes()), "{iri}");
        }
        for (before, after) in [
            ("", ""),
            ("x", ""),
            ("http://example.org/n/", "/head"),
            ("http://example.org/n/", "#"),
            ("http://example.org/n/", "x"),
            ("http://example.org/n/", ".a-suffix-that-is-too-long"),
        ] {
            let iri = format!("{before}{code}{after}");
            assert_eq!(dataset_code(iri.as_bytes()), None, "{iri}");
        }
        assert_eq!(artifact_code(b"http://example.org/short"), None);
        let other = b"http://example.org/n/FAH-UOollyCX32XCS7iHNUded59E3pDpu4wrHPcB-yy-8";
        assert_eq!(artifact_code(other).map(<[u8]>::len), Some(45));
        assert_eq!(dataset_code(other), None);
    }
}

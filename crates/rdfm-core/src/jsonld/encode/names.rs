//! How IRIs are written: compacted with the log's namespaces, which are the context, or in full.
//!
//! - In: declarations in log order; IRIs.
//! - Out: the context object; tokens.
//! - Cost: a search for the namespace an IRI, once a batch.
//! - Law: a reader of the context gets every IRI back byte for byte. An IRI in full whose scheme is also a
//!   prefix would be taken for a compact one: such a message is written without the context.

use crate::jsonld::sink::Sink;
use crate::text::chars::{self, DIGIT, LETTER, NAME};
use crate::turtle::prefixes::{Declared, Prefixes};

/// What an IRI was written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// What a reader gives back.
    Safe,
    /// What a reader with the context would take for another one.
    Hazard,
}

/// A name and its IRI.
type Declaration = (Box<[u8]>, Box<[u8]>);

/// The namespaces in force, as a context.
#[derive(Default)]
pub struct Names {
    prefixes: Prefixes,
    /// In the order in which the names first came.
    declared: Vec<Declaration>,
}

impl Names {
    /// Declares a namespace.
    ///
    /// Refused is what a context cannot say: an empty name, and a name that is the scheme of a namespace.
    pub fn declare(&mut self, name: &[u8], iri: &[u8]) -> Declared {
        let collides = |name: &[u8], iri: &[u8]| bare_scheme(iri) == Some(name);
        if name.is_empty()
            || collides(name, iri)
            || self
                .declared
                .iter()
                .any(|(other, theirs)| collides(other, iri) || collides(name, theirs))
        {
            return Declared::Refused;
        }
        let declared = self.prefixes.declare(name, iri);
        if declared == Declared::New {
            match self.declared.iter_mut().find(|(known, _)| **known == *name) {
                Some((_, known)) => *known = iri.into(),
                None => self.declared.push((name.into(), iri.into())),
            }
        }
        declared
    }

    /// Whether a namespace is in force.
    pub fn has(&self, name: &[u8], iri: &[u8]) -> bool {
        self.declared
            .iter()
            .any(|(known, theirs)| **known == *name && **theirs == *iri)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty()
    }

    /// Writes the context object.
    pub fn write<S: Sink>(&self, sink: &mut S, out: &mut Vec<u8>) {
        sink.begin_object(out);
        for (name, iri) in &self.declared {
            sink.begin_key(out);
            S::text(name, true, out);
            sink.end_key(out);
            // Only such an IRI makes a prefix of a plain term.
            let ends = matches!(
                iri.last(),
                Some(b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@')
            );
            if !ends {
                sink.begin_object(out);
                sink.begin_key(out);
                S::text(b"@id", true, out);
                sink.end_key(out);
            }
            sink.scalar(out);
            S::text(iri, true, out);
            if !ends {
                sink.begin_key(out);
                S::text(b"@prefix", true, out);
                sink.end_key(out);
                sink.scalar(out);
                out.extend_from_slice(b"true");
                sink.end_object(out);
            }
        }
        sink.end_object(out);
    }

    /// Appends the token of an IRI, compacted if `context` is in force.
    pub fn iri<S: Sink>(
        &self,
        text: &[u8],
        context: bool,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Wrote {
        if context && !self.is_empty() {
            if let Some((name, local)) = self.prefixes.split(text) {
                scratch.clear();
                scratch.extend_from_slice(name);
                scratch.push(b':');
                scratch.extend_from_slice(local);
                S::text(scratch, true, out);
                return Wrote::Safe;
            }
            if let Some(scheme) = bare_scheme(text)
                && self.declared.iter().any(|(name, _)| **name == *scheme)
            {
                return Wrote::Hazard;
            }
        }
        S::text(text, true, out);
        Wrote::Safe
    }
}

/// The scheme of an IRI, unless `//` follows it, which no compact IRI has behind its prefix.
fn bare_scheme(iri: &[u8]) -> Option<&[u8]> {
    let colon = memchr::memchr(b':', iri)?;
    (!iri[colon + 1..].starts_with(b"//")).then_some(&iri[..colon])
}

/// Whether a text is an absolute IRI. JSON-LD's readers drop the statements of any other.
pub fn is_absolute(text: &[u8]) -> bool {
    is_usual(text)
        || (chars::is_iri_text(text)
            && std::str::from_utf8(text).is_ok_and(|text| oxiri::Iri::parse(text).is_ok()))
}

/// `http://` or `https://`, letters, digits and a few marks: most IRIs, which need no parser.
fn is_usual(text: &[u8]) -> bool {
    let Some(rest) = text
        .strip_prefix(b"http")
        .map(|rest| rest.strip_prefix(b"s").unwrap_or(rest))
        .and_then(|rest| rest.strip_prefix(b"://"))
    else {
        return false;
    };
    let mut fragments = 0;
    rest.first()
        .is_some_and(|&byte| chars::is(byte, LETTER | DIGIT))
        && rest.iter().all(|&byte| {
            fragments += u32::from(byte == b'#');
            chars::is(byte, NAME) || matches!(byte, b'/' | b'.' | b'#' | b'~')
        })
        && fragments <= 1
}

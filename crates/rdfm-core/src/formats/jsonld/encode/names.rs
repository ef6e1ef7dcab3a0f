//! Writes IRIs in full, or compacted with the namespaces of the log, which form the context.
//!
//! - In: declarations in log order; IRIs.
//! - Out: the context object with the namespaces that a message declares or uses; tokens.
//! - Cost: one namespace search per IRI and batch, and a second if namespaces are declared after
//!   the first message.
//! - Law: a reader with the context restores every IRI byte for byte. A full IRI whose scheme is
//!   also a prefix would be read as a compact IRI. A message with such an IRI is written without
//!   the context.

use rustc_hash::FxHashMap;

use crate::formats::jsonld::sink::Sink;
use crate::model::batch::MessageBatch;
use crate::model::chars::{self, DIGIT, LETTER, NAME};
use crate::model::namespaces::MAX_REPEATED;
use crate::syntax::needed::NamespaceTracker;
use crate::syntax::prefixes::DeclareResult;

/// Whether readers can restore an IRI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenIri {
    /// Readers restore the IRI.
    Safe,
    /// Readers with the context would restore another IRI.
    Hazard,
}

/// The namespaces in force, and those in the context.
#[derive(Clone, Default)]
pub struct ContextNamespaces {
    needed: NamespaceTracker,
    /// Number of namespaces in force per scheme, not counting those with `//` after the scheme.
    schemes: FxHashMap<Box<[u8]>, u32>,
    /// Indices of the namespaces in the context.
    context: Vec<u32>,
    /// Whether each namespace is in the context, by index.
    in_context: Vec<bool>,
    /// Whether nothing was declared after the first message.
    unchanged: bool,
}

impl ContextNamespaces {
    /// Declares a namespace for the next message.
    ///
    /// Rejects namespaces that a context cannot express: those with an empty name, and those that
    /// would make a name equal to the scheme of a namespace.
    pub fn declare(&mut self, name: &[u8], iri: &[u8]) -> DeclareResult {
        let scheme = bare_scheme(iri);
        if name.is_empty()
            || scheme == Some(name)
            || scheme.is_some_and(|scheme| self.needed.number(scheme).is_some())
            || self.schemes.contains_key(name)
        {
            return DeclareResult::Refused;
        }
        let before = self.needed.get(name).and_then(bare_scheme).map(Box::from);
        let declared = self.needed.declare(name, iri);
        if declared == DeclareResult::New {
            self.count(before, scheme);
        }
        declared
    }

    /// Adds the scheme of a namespace to the counts, and removes the scheme of the previous one.
    fn count(&mut self, before: Option<Box<[u8]>>, scheme: Option<&[u8]>) {
        if let Some(scheme) = scheme {
            *self.schemes.entry(scheme.into()).or_default() += 1;
        }
        if let Some(before) = before
            && let Some(count) = self.schemes.get_mut(&before)
        {
            *count -= 1;
            if *count == 0 {
                self.schemes.remove(&before);
            }
        }
    }

    /// Whether the context contains a namespace.
    pub fn has(&self, name: &[u8], iri: &[u8]) -> bool {
        self.needed.get(name) == Some(iri) && self.is_prefix(name)
    }

    /// Whether a name is a prefix in the context.
    fn is_prefix(&self, name: &[u8]) -> bool {
        let number = self.needed.number(name);
        number.is_some_and(|number| self.in_context.get(number as usize) == Some(&true))
    }

    /// Whether there is no context.
    pub fn is_empty(&self) -> bool {
        self.context.is_empty()
    }

    /// Whether there are namespaces in force.
    pub fn has_namespaces(&self) -> bool {
        !self.needed.is_empty()
    }

    /// Whether namespaces are declared for the next message.
    pub fn has_pending(&self) -> bool {
        self.needed.pending() > 0
    }

    /// Begins a batch.
    pub fn begin_batch(&mut self) {
        self.needed.begin_batch();
    }

    /// Updates the context to contain the namespaces that a message needs, and returns whether it
    /// changed. If `each` is true, the context then contains only these namespaces, unless there
    /// are only a few namespaces that never change.
    pub fn adapt_to(&mut self, batch: &MessageBatch, message: usize, each: bool) -> bool {
        let new = self.needed.pending() > 0;
        let all = self.needed.len();
        if new && self.needed.pending() == all {
            self.unchanged = true;
            if !each || all <= MAX_REPEATED {
                self.include_all();
                return true;
            }
        } else if new {
            self.unchanged = false;
        } else if self.context.len() == all && (!each || (self.unchanged && all <= MAX_REPEATED)) {
            return false;
        }
        let needed = self.needed.find_needed(batch, message);
        let is_included = |number: &u32| self.in_context.get(*number as usize) == Some(&true);
        let is_current = if each {
            needed == self.context
        } else {
            !new && needed.iter().all(is_included)
        };
        if !is_current {
            let needed = needed.to_vec();
            self.set_context(needed);
        }
        new || !is_current
    }

    /// Adds all namespaces to the context.
    pub fn include_all(&mut self) {
        self.set_context((0..self.needed.len() as u32).collect());
    }

    fn set_context(&mut self, context: Vec<u32>) {
        for number in self.context.drain(..) {
            self.in_context[number as usize] = false;
        }
        self.in_context.resize(self.needed.len(), false);
        for number in &context {
            self.in_context[*number as usize] = true;
        }
        self.context = context;
    }

    /// Marks the pending declarations as written.
    pub fn mark_written(&mut self) {
        self.needed.mark_written();
    }

    /// Writes the context object.
    pub fn write<S: Sink>(&self, sink: &mut S, out: &mut Vec<u8>) {
        sink.begin_object(out);
        for number in &self.context {
            let (name, iri) = self.needed.namespace(*number);
            sink.begin_key(out);
            S::write_text(name, true, out);
            sink.end_key(out);
            // A simple term can be used as a prefix only if its IRI ends with one of these bytes.
            let ends = matches!(
                iri.last(),
                Some(b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@')
            );
            if !ends {
                sink.begin_object(out);
                sink.begin_key(out);
                S::write_text(b"@id", true, out);
                sink.end_key(out);
            }
            sink.begin_scalar(out);
            S::write_text(iri, true, out);
            if !ends {
                sink.begin_key(out);
                S::write_text(b"@prefix", true, out);
                sink.end_key(out);
                sink.begin_scalar(out);
                out.extend_from_slice(b"true");
                sink.end_object(out);
            }
        }
        sink.end_object(out);
    }

    /// Appends the token of an IRI, compacted if `context` is in force.
    pub fn write_iri<S: Sink>(
        &self,
        text: &[u8],
        context: bool,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> WrittenIri {
        if context && !self.is_empty() {
            if let Some((name, local)) = self.needed.split(text) {
                scratch.clear();
                scratch.extend_from_slice(name);
                scratch.push(b':');
                scratch.extend_from_slice(local);
                S::write_text(scratch, true, out);
                return WrittenIri::Safe;
            }
            if let Some(scheme) = bare_scheme(text)
                && self.is_prefix(scheme)
            {
                return WrittenIri::Hazard;
            }
        }
        S::write_text(text, true, out);
        WrittenIri::Safe
    }
}

/// The scheme of an IRI, or `None` if `//` follows it. In a compact IRI, `//` must not follow the
/// prefix, so readers cannot mistake such a scheme for a prefix.
fn bare_scheme(iri: &[u8]) -> Option<&[u8]> {
    let colon = memchr::memchr(b':', iri)?;
    (!iri[colon + 1..].starts_with(b"//")).then_some(&iri[..colon])
}

/// Whether a string consists of `http://` or `https://`, letters, digits and a few marks, like most
/// IRIs. These need no parser.
///
/// Gain: 1.2 times (`make bench-gains PATHS=usual-iris`).
pub fn is_usual(text: &[u8]) -> bool {
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

//! Namespaces in force, and their changes from message to message.
//!
//! - In: names and IRIs. Out: IRIs by name, in the order in which the names were first declared.
//! - Cost: copies share unchanged parts. [`Namespaces::bytes`] estimates the memory.

use rpds::{HashTrieMapSync, VectorSync};

use super::table::Span;

/// Maximum number of namespaces in force that are all repeated in every log or message. If there
/// are more, each log or message repeats only those that it needs.
pub const MAX_REPEATED: usize = 256;

/// Bytes per namespace in addition to its name and IRI: entries of tables and lists here, in
/// decoders and in encoders.
const NAMESPACE_BYTES: usize = 512;

/// Number of copies of a name and its IRI, here and in codecs.
const COPIES: usize = 3;

/// A name and its IRI.
pub(super) type Declaration = (Box<[u8]>, Box<[u8]>);

/// A replaced declaration; `None` if the name was new.
pub(super) type PreviousDeclaration = Option<Declaration>;

/// Namespace declarations in force, in the order in which the names were first declared.
///
/// Persistent: every batch has a copy, which costs nothing and shares unchanged parts.
#[derive(Clone, Debug, Default)]
pub struct Namespaces {
    pub(super) entries: VectorSync<Declaration>,
    pub(super) by_name: HashTrieMapSync<Box<[u8]>, usize>,
    pub(super) bytes: u64,
}

impl Namespaces {
    /// Names (without colon) and IRIs.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(name, iri)| (&**name, &**iri))
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no namespaces.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the IRI of a name.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        let (_, iri) = self.entries.get(*self.by_name.get(name)?)?;
        Some(iri)
    }

    /// Approximate memory in bytes, including copies in decoders and encoders.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Declares or redeclares a name.
    pub fn set(&mut self, name: &[u8], iri: &[u8]) {
        self.declare(name, iri);
    }

    /// Removes a name in linear time. The order of the others does not change.
    pub fn remove(&mut self, name: &[u8]) {
        if self.get(name).is_none() {
            return;
        }
        let mut remaining = Self::default();
        for (other, iri) in self.iter().filter(|(other, _)| *other != name) {
            remaining.set(other, iri);
        }
        *self = remaining;
    }

    /// Like [`set`](Self::set). Returns the data to undo the declaration, or `None` if the name
    /// already has that IRI.
    pub(super) fn declare(&mut self, name: &[u8], iri: &[u8]) -> Option<PreviousDeclaration> {
        let Some(&index) = self.by_name.get(name) else {
            self.by_name.insert_mut(name.into(), self.entries.len());
            self.entries.push_back_mut((name.into(), iri.into()));
            self.bytes += Self::bytes_of(name, iri);
            return Some(None);
        };
        if self
            .entries
            .get(index)
            .is_some_and(|(_, known)| **known == *iri)
        {
            return None;
        }
        let before = std::mem::replace(self.entries.get_mut(index)?, (name.into(), iri.into()));
        self.bytes += Self::bytes_of(name, iri);
        self.bytes -= Self::bytes_of(&before.0, &before.1);
        Some(Some(before))
    }

    /// Undoes a declaration. Declarations must be undone in reverse order.
    pub(super) fn restore(&mut self, undo: &PreviousDeclaration) {
        if let Some((name, iri)) = undo {
            self.set(name, iri);
        } else if let Some((name, iri)) = self.entries.last() {
            self.bytes -= Self::bytes_of(name, iri);
            self.by_name.remove_mut(name);
            self.entries.drop_last_mut();
        }
    }

    fn bytes_of(name: &[u8], iri: &[u8]) -> u64 {
        (COPIES * (name.len() + iri.len()) + NAMESPACE_BYTES) as u64
    }
}

/// A namespace declared before or within a message of a batch.
#[derive(Clone, Copy, Debug)]
pub struct NamespaceChange {
    /// Index of the message in the batch.
    pub message: u32,
    /// The name, without colon.
    pub name: Span,
    /// The IRI.
    pub iri: Span,
}

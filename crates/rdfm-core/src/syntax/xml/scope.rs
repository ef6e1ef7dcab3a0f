//! Namespaces in scope, or those that an XML literal has written.
//!
//! - In: `xmlns` declarations and the ends of their elements.
//! - Out: the namespace of a prefix.
//! - Cost: a look-up in a hash table a prefix; a prefix and an IRI a declaration in memory.

use rustc_hash::FxHashMap;

use super::XML;

/// A prefix, and what it was bound to before.
type Undone = (Box<[u8]>, Option<Box<[u8]>>);

/// Prefixes and what they are bound to, undone element by element.
#[derive(Default)]
pub(crate) struct Scope {
    current: FxHashMap<Box<[u8]>, Box<[u8]>>,
    undo: Vec<Undone>,
    bytes: u64,
}

impl Scope {
    /// Nothing is bound.
    pub fn clear(&mut self) {
        self.current.clear();
        self.undo.clear();
        self.bytes = 0;
    }

    /// How many declarations are in scope: what to go [`back`](Self::back) to.
    pub fn mark(&self) -> u32 {
        self.undo.len() as u32
    }

    /// Bytes that all of them take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that a declaration takes.
    pub fn size(prefix: &[u8], iri: &[u8]) -> u64 {
        (2 * prefix.len() + iri.len() + 64) as u64
    }

    /// Binds a prefix; the empty one is the default namespace.
    pub fn bind(&mut self, prefix: &[u8], iri: &[u8]) {
        self.bytes += Self::size(prefix, iri);
        let old = self.current.insert(prefix.into(), iri.into());
        self.undo.push((prefix.into(), old));
    }

    /// Undoes what was bound since a mark.
    pub fn back(&mut self, mark: u32) {
        while self.undo.len() > mark as usize {
            let Some((prefix, old)) = self.undo.pop() else {
                return;
            };
            if let Some(iri) = self.current.get(&prefix) {
                self.bytes -= Self::size(&prefix, iri);
            }
            match old {
                Some(iri) => self.current.insert(prefix, iri),
                None => self.current.remove(&prefix),
            };
        }
    }

    /// What a prefix is bound to; nothing is an empty namespace.
    #[inline]
    pub fn get(&self, prefix: &[u8]) -> Option<&[u8]> {
        if prefix == b"xml" {
            return Some(XML);
        }
        self.current.get(prefix).map(|iri| &**iri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_undone_with_their_element() {
        let mut scope = Scope::default();
        scope.bind(b"a", b"http://a/");
        let mark = scope.mark();
        let bytes = scope.bytes();
        scope.bind(b"a", b"http://other/");
        scope.bind(b"", b"http://b/");
        assert_eq!(scope.get(b"a"), Some(&b"http://other/"[..]));
        scope.back(mark);
        assert_eq!(
            (scope.get(b"a"), scope.get(b"")),
            (Some(&b"http://a/"[..]), None)
        );
        scope.back(0);
        assert_eq!((scope.get(b"a"), scope.get(b"xml")), (None, Some(XML)));
        assert!(bytes > 0 && scope.bytes() < bytes);
    }
}

//! Namespaces in scope, or those already written in an XML literal.
//!
//! - In: `xmlns` declarations and the ends of their elements.
//! - Out: the namespace of a prefix.
//! - Cost: a hash table lookup per prefix; memory for a prefix and an IRI per declaration.

use rustc_hash::FxHashMap;

use super::XML;

/// A prefix and its previous binding.
type PreviousBinding = (Box<[u8]>, Option<Box<[u8]>>);

/// Bindings of prefixes, undone at the end of each element.
#[derive(Default)]
pub(crate) struct NamespaceScope {
    current: FxHashMap<Box<[u8]>, Box<[u8]>>,
    undo: Vec<PreviousBinding>,
    bytes: u64,
}

impl NamespaceScope {
    /// Removes all bindings.
    pub fn clear(&mut self) {
        self.current.clear();
        self.undo.clear();
        self.bytes = 0;
    }

    /// Number of declarations in scope, as an argument of [`undo_to`](Self::undo_to).
    pub fn mark(&self) -> u32 {
        self.undo.len() as u32
    }

    /// Number of bytes that all declarations occupy.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of bytes that a declaration occupies.
    pub fn size(prefix: &[u8], iri: &[u8]) -> u64 {
        (2 * prefix.len() + iri.len() + 64) as u64
    }

    /// Binds a prefix; the empty prefix is the default namespace.
    pub fn bind(&mut self, prefix: &[u8], iri: &[u8]) {
        self.bytes += Self::size(prefix, iri);
        let old = self.current.insert(prefix.into(), iri.into());
        self.undo.push((prefix.into(), old));
    }

    /// Undoes all bindings after a mark.
    pub fn undo_to(&mut self, mark: u32) {
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

    /// Returns the namespace bound to a prefix. The namespace is empty after `xmlns=""`.
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
    fn declarations_end_with_their_element() {
        let mut scope = NamespaceScope::default();
        scope.bind(b"a", b"http://a/");
        let mark = scope.mark();
        let bytes = scope.bytes();
        scope.bind(b"a", b"http://other/");
        scope.bind(b"", b"http://b/");
        assert_eq!(scope.get(b"a"), Some(&b"http://other/"[..]));
        scope.undo_to(mark);
        assert_eq!(
            (scope.get(b"a"), scope.get(b"")),
            (Some(&b"http://a/"[..]), None)
        );
        scope.undo_to(0);
        assert_eq!((scope.get(b"a"), scope.get(b"xml")), (None, Some(XML)));
        assert!(bytes > 0 && scope.bytes() < bytes);
    }
}

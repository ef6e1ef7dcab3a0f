//! Temporary identifiers of blank nodes, in the order in which they were issued.

/// The nodes that have an identifier. The identifier of a node is its position.
///
/// Searches compare numbers in order. A map would be copied for every permutation.
#[derive(Clone, Debug, Default)]
pub(super) struct Issuer(Vec<u32>);

impl Issuer {
    pub fn position(&self, node: u32) -> Option<usize> {
        self.0.iter().position(|other| *other == node)
    }

    /// The position of a node, and whether it is new.
    pub fn issue(&mut self, node: u32) -> (usize, bool) {
        self.position(node).map_or_else(
            || {
                self.0.push(node);
                (self.0.len() - 1, true)
            },
            |position| (position, false),
        )
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn nodes(&self) -> &[u32] {
        &self.0
    }
}

/// The permutations of the indices below a length, in lexicographic order.
#[derive(Debug)]
pub(super) struct Permutation(Vec<u32>);

impl Permutation {
    pub fn first(length: usize) -> Self {
        Self((0..length as u32).collect())
    }

    pub fn indices(&self) -> &[u32] {
        &self.0
    }

    /// Whether [`Self::advance`] would return false.
    pub fn is_last(&self) -> bool {
        self.0.is_sorted_by(|one, next| one > next)
    }

    /// Advances to the next permutation. Returns false after the last one.
    pub fn advance(&mut self) -> bool {
        let indices = &mut self.0;
        let Some(start) = indices.windows(2).rposition(|pair| pair[0] < pair[1]) else {
            return false;
        };
        let value = indices[start];
        if let Some(larger) = indices.iter().rposition(|other| *other > value) {
            indices.swap(start, larger);
        }
        indices[start + 1..].reverse();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Permutation;

    #[test]
    fn permutations_are_complete_and_in_order() {
        for (length, count) in [(1, 1), (2, 2), (3, 6), (5, 120)] {
            let mut permutation = Permutation::first(length);
            let mut all = vec![permutation.indices().to_vec()];
            while !permutation.is_last() {
                assert!(permutation.advance());
                all.push(permutation.indices().to_vec());
            }
            assert!(!permutation.advance());
            assert_eq!(all.len(), count);
            assert!(all.is_sorted_by(|one, next| one < next));
        }
    }
}

//! Comparison of messages as datasets, independently of labels and order.
//!
//! - In: a message.
//! - Out: [`dataset`], equal for messages that differ only in labels and order.
//! - Law: in each round, blank nodes are coloured by their positions in quads and triple terms. The
//!   rounds end when one of them distinguishes no more nodes than the previous round. Colours do
//!   not depend on labels.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::message::{Message, Term};

type Colours<'a> = HashMap<&'a str, u64>;

/// Returns the distinct quads as hashes of their terms. The hash of a blank node depends on its
/// colour.
pub fn dataset(message: &Message) -> Vec<Vec<u64>> {
    dataset_of(&message.records)
}

/// Like [`dataset`], for quads.
pub fn dataset_of(quads: &[impl AsRef<[Term]>]) -> Vec<Vec<u64>> {
    let quads: HashSet<&[Term]> = quads.iter().map(AsRef::as_ref).collect();
    let mut colours = Colours::new();
    let mut distinguished = 0;
    loop {
        let mut positions: HashMap<&str, Vec<u64>> = HashMap::new();
        for quad in &quads {
            let colour = hash(colour_quad(quad, &colours));
            for (index, term) in quad.iter().enumerate() {
                collect(term, hash((colour, index)), &mut positions);
            }
        }
        colours = positions
            .into_iter()
            .map(|(label, mut all)| {
                all.sort_unstable();
                (label, hash(all))
            })
            .collect();
        let count = colours.values().collect::<HashSet<_>>().len();
        if count == distinguished {
            break;
        }
        distinguished = count;
    }
    let mut coloured: Vec<_> = quads
        .iter()
        .map(|quad| colour_quad(quad, &colours))
        .collect();
    coloured.sort_unstable();
    coloured
}

/// Collects the positions of blank nodes. `place` identifies a quad and a position in it.
fn collect<'a>(term: &'a Term, position: u64, positions: &mut HashMap<&'a str, Vec<u64>>) {
    match term {
        Term::BlankNode(label) => positions.entry(label).or_default().push(position),
        Term::Triple(parts) => {
            for (index, part) in parts.iter().enumerate() {
                collect(part, hash((position, index)), positions);
            }
        }
        _ => {}
    }
}

fn colour_quad(quad: &[Term], colours: &Colours) -> Vec<u64> {
    quad.iter().map(|term| colour(term, colours)).collect()
}

fn colour(term: &Term, colours: &Colours) -> u64 {
    match term {
        Term::BlankNode(label) => hash(("bnode", colours.get(label.as_str()))),
        Term::Triple(parts) => {
            let parts = parts.each_ref().map(|part| colour(part, colours));
            hash(("triple", parts))
        }
        term => hash(term),
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::outcome;
    use crate::options::Reading;

    fn dataset_of_nquads(text: &str) -> Vec<Vec<u64>> {
        let decoded = outcome(&Reading::for_format("nq"), text.as_bytes(), text.len());
        assert_eq!(decoded.error, None);
        dataset(&decoded.messages[0])
    }

    #[test]
    fn labels_and_order_are_ignored() {
        let one = "_:a <b:> <<( _:x <b:> _:y )>> .\n_:x <b:> <c:> .\n_:y <b:> _:a .\n";
        let other = "_:y <b:> <c:> .\n_:a <b:> _:x .\n_:x <b:> <<( _:y <b:> _:a )>> .\n";
        assert_eq!(dataset_of_nquads(one), dataset_of_nquads(other));
    }

    #[test]
    fn quads_with_blank_nodes_are_compared() {
        let one = "_:a <b:> <<( _:x <b:> _:y )>> .\n_:x <b:> <c:> .\n";
        for other in [
            "_:a <b:> <<( _:x <b:> _:y )>> .\n_:y <b:> <c:> .\n",
            "_:a <b:> <<( _:y <b:> _:y )>> .\n_:x <b:> <c:> .\n",
            "_:a <b:> <<( _:x <b:> _:a )>> .\n_:x <b:> <c:> .\n",
            "_:a <b:> <<( _:x <b:> _:y )>> .\n_:x <b:> <c:> <g:> .\n",
        ] {
            assert_ne!(dataset_of_nquads(one), dataset_of_nquads(other), "{other}");
        }
    }

    #[test]
    fn equivalent_blank_nodes_are_counted_separately() {
        assert_ne!(
            dataset_of_nquads("_:a <b:> <c:> .\n_:d <b:> <c:> .\n"),
            dataset_of_nquads("_:a <b:> <c:> .\n")
        );
        assert_eq!(
            dataset_of_nquads("_:a <b:> <c:> .\n_:a <b:> <c:> .\n"),
            dataset_of_nquads("_:a <b:> <c:> .\n")
        );
    }
}

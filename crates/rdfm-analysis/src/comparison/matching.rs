//! Exact comparison of two messages as datasets, up to blank node labels.
//!
//! - In: two messages. Out: the mapping of blank nodes, if there is one.
//! - Cost: nearly linear for real data. The number of steps is limited, because no fast algorithm
//!   is known for data that consists only of symmetric blank nodes.
//! - Method: colour refinement of both messages together. Then pairs of blank nodes are tried one
//!   at a time in each component.
//! - Law: every positive result is checked against the quads. The mapping depends only on the
//!   messages.

use std::collections::{BTreeMap, HashMap};

use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::TermId;
use rdfm_core::syntax::stack;
use rustc_hash::FxHashMap;

use super::budget::{Exhausted, Steps};
use super::graph::{ComparableRecord, Graph, IncidentPatterns, Token};
use super::hashing::{Keys, TermHashes};
use super::signature;

/// Maximum depth of choices. Deeper searches count as exhausted.
const MAX_DEPTH: usize = 1000;

type Class = usize;
type Node = u32;

/// The blank nodes of `a` as terms, each with its counterpart in `b`, or `None` if the messages
/// differ.
///
/// # Errors
/// If the comparison needs more than `max_steps` steps, in visited quads.
pub fn find_isomorphism<R: ComparableRecord>(
    (a, ours): (&[R], &TermTable),
    (b, theirs): (&[R], &TermTable),
    max_steps: u64,
) -> Result<Option<Vec<(TermId, TermId)>>, Exhausted> {
    let keys = Keys::new();
    let graph =
        |records, table| Graph::from_records(records, table, &keys, &mut TermHashes::default());
    let (left, right) = (graph(a, ours), graph(b, theirs));
    let mut steps = Steps::new(max_steps);
    Ok(
        find_mapping(&left, &right, [ours, theirs], &keys, &mut steps)?.map(|pairs| {
            let name = |(left_node, right_node): (u32, u32)| {
                (
                    left.names[left_node as usize],
                    right.names[right_node as usize],
                )
            };
            pairs.into_iter().map(name).collect()
        }),
    )
}

/// Like [`find_isomorphism`], for graphs whose terms were hashed with the same keys. Returns the
/// numbers of the blank nodes.
///
/// # Errors
/// If the comparison needs more than the remaining steps, in visited quads.
pub fn find_mapping(
    left: &Graph,
    right: &Graph,
    tables: [&TermTable; 2],
    keys: &Keys,
    steps: &mut Steps,
) -> Result<Option<Vec<(u32, u32)>>, Exhausted> {
    let sizes = |graph: &Graph| (graph.names.len(), graph.len());
    if left.ground != right.ground || sizes(left) != sizes(right) {
        return Ok(None);
    }
    if let Some(pairs) = map_same_labels(left, right, tables) {
        return Ok(Some(pairs));
    }
    match match_by_colours(left, right, keys) {
        ColourResult::Different => return Ok(None),
        ColourResult::Equal(pairs) => return Ok(Some(pairs)),
        ColourResult::Undecided => {}
    }
    let mut matcher = Matcher::new(left, right, steps);
    let nodes: Vec<Node> = (0..matcher.side.len() as u32).collect();
    Ok(matcher.solve(&nodes, None, 0)?.then(|| matcher.pairs()))
}

/// The mapping of each label to itself, if the messages are equal under this mapping.
fn map_same_labels(
    left: &Graph,
    right: &Graph,
    tables: [&TermTable; 2],
) -> Option<Vec<(u32, u32)>> {
    let right_nodes: HashMap<&[u8], u32> = right
        .names
        .iter()
        .map(|id| tables[1].text(*id))
        .zip(0..)
        .collect();
    let counterpart = |id: &TermId| right_nodes.get(tables[0].text(*id)).copied();
    let mapping: Vec<u32> = left.names.iter().map(counterpart).collect::<Option<_>>()?;
    is_mapping(left, right, &mapping).then(|| (0..).zip(mapping).collect())
}

/// Whether the given renaming of one message's blank nodes yields the other.
fn is_mapping(left: &Graph, right: &Graph, mapping: &[u32]) -> bool {
    left.rename_nodes(|node| mapping[node as usize]) == right.rename_nodes(|node| node)
}

/// The result of a few rounds of refinement.
enum ColourResult {
    /// The messages differ.
    Different,
    /// The messages are equal under this mapping.
    Equal(Vec<(u32, u32)>),
    /// Some blank nodes have the same colour, so more rounds or a search are needed.
    Undecided,
}

fn match_by_colours(left: &Graph, right: &Graph, keys: &Keys) -> ColourResult {
    let sides = [left, right].map(|graph| {
        let colours = signature::run_few_rounds(graph, keys);
        let mut sorted: Vec<(u128, u32)> = colours.into_iter().zip(0..).collect();
        sorted.sort_unstable();
        sorted
    });
    let [ours, theirs] = &sides;
    if ours.iter().zip(theirs).any(|(one, other)| one.0 != other.0) {
        return ColourResult::Different;
    }
    if ours.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return ColourResult::Undecided;
    }
    let mut mapping = vec![0; ours.len()];
    for (one, other) in ours.iter().zip(theirs) {
        mapping[one.1 as usize] = other.1;
    }
    if is_mapping(left, right, &mapping) {
        ColourResult::Equal((0..).zip(mapping).collect())
    } else {
        ColourResult::Different
    }
}

/// Both messages, with the current classes of similar blank nodes.
struct Matcher<'a> {
    steps: &'a mut Steps,
    graphs: [&'a Graph; 2],
    /// Number of the second message's first node, and number of its first pattern.
    nodes: u32,
    patterns: u32,
    side: Vec<u8>,
    incident: IncidentPatterns,
    class: Vec<Class>,
    /// The nodes of each class, and the position of each node in its class.
    members: Vec<Vec<Node>>,
    position_in_class: Vec<usize>,
    /// The last mark of each node.
    marks: Vec<u64>,
    last_mark: u64,
    /// The refinement round in which each node was last visited.
    rounds: Vec<u64>,
    last_round: u64,
}

impl<'a> Matcher<'a> {
    fn new(left: &'a Graph, right: &'a Graph, steps: &'a mut Steps) -> Self {
        let (nodes, patterns) = (left.names.len() as u32, left.len() as u32);
        let count = left.names.len() + right.names.len();
        Self {
            steps,
            graphs: [left, right],
            nodes,
            patterns,
            side: (0..count)
                .map(|index| u8::from(index >= nodes as usize))
                .collect(),
            incident: IncidentPatterns::of(&[left, right]),
            class: vec![0; count],
            members: vec![(0..count as u32).collect()],
            position_in_class: (0..count).collect(),
            marks: vec![0; count],
            last_mark: 0,
            rounds: vec![0; count],
            last_round: 0,
        }
    }

    /// A pattern, and the number of its message's first node.
    fn pattern(&self, index: u32) -> (&'a [Token], u32) {
        if index < self.patterns {
            (self.graphs[0].pattern(index as usize), 0)
        } else {
            let index = (index - self.patterns) as usize;
            (self.graphs[1].pattern(index), self.nodes)
        }
    }

    fn pairs(&self) -> Vec<(u32, u32)> {
        let mut pairs: Vec<_> = self
            .members
            .iter()
            .filter_map(|members| match members[..] {
                [one, other] => Some((one.min(other), one.max(other) - self.nodes)),
                _ => None,
            })
            .collect();
        pairs.sort_unstable();
        pairs
    }

    /// Finds a mapping between the two sides of some nodes. The surrounding nodes are already
    /// mapped.
    ///
    /// If this succeeds, every class is a pair. Otherwise the caller must restore the classes.
    fn solve(
        &mut self,
        nodes: &[Node],
        first: Option<[Node; 2]>,
        depth: usize,
    ) -> Result<bool, Exhausted> {
        if depth > MAX_DEPTH {
            return Err(Exhausted);
        }
        self.move_to_new_classes(nodes);
        let scope = self.mark(nodes);
        let mut dirty = nodes.to_vec();
        if let Some(pair) = first {
            let fresh = self.new_class();
            dirty.clear();
            for node in pair {
                self.add_to_class(node, fresh);
                self.collect_neighbours(node, &mut dirty)?;
            }
        }
        self.refine(dirty, scope)?;
        let classes: Vec<Class> = nodes
            .iter()
            .map(|&node| self.class[node as usize])
            .collect();
        if !classes.iter().all(|&class| self.is_balanced(class)) {
            return Ok(false);
        }
        let unresolved: Vec<Node> = nodes
            .iter()
            .copied()
            .filter(|&node| self.members[self.class[node as usize]].len() > 2)
            .collect();
        // Similar components of both sides.
        let mut groups: BTreeMap<Vec<Class>, [Vec<Vec<Node>>; 2]> = BTreeMap::new();
        for component in self.find_components(&unresolved)? {
            let mut classes: Vec<Class> = component
                .iter()
                .map(|&node| self.class[node as usize])
                .collect();
            classes.sort_unstable();
            let side = usize::from(self.side[component[0] as usize]);
            groups.entry(classes).or_default()[side].push(component);
        }
        for [left, mut right] in groups.into_values() {
            if left.len() != right.len() {
                return Ok(false);
            }
            for component in left {
                if !self.match_component(&component, &mut right, depth)? {
                    return Ok(false);
                }
            }
        }
        self.is_verified(nodes)
    }

    /// Maps a component to one of the candidates, and removes this candidate. Returns false if no
    /// candidate matches.
    fn match_component(
        &mut self,
        component: &[Node],
        candidates: &mut Vec<Vec<Node>>,
        depth: usize,
    ) -> Result<bool, Exhausted> {
        for index in 0..candidates.len() {
            let both: Vec<Node> = component
                .iter()
                .chain(&candidates[index])
                .copied()
                .collect();
            let saved: Vec<Class> = both.iter().map(|&node| self.class[node as usize]).collect();
            let classes_before = self.members.len();
            let mut counts: BTreeMap<Class, (usize, Node)> = BTreeMap::new();
            for &node in component {
                let (count, first) = counts.entry(self.class[node as usize]).or_insert((0, node));
                *count += 1;
                *first = node.min(*first);
            }
            let smallest = counts
                .iter()
                .min_by_key(|(class, (count, _))| (*count, **class));
            let Some((&class, &(_, node))) = smallest else {
                return Ok(true);
            };
            let mut partners: Vec<Node> = candidates[index]
                .iter()
                .copied()
                .filter(|&node| self.class[node as usize] == class)
                .collect();
            partners.sort_unstable();
            for partner in partners {
                let solved = stack::run_one_level(depth, || {
                    self.solve(&both, Some([node, partner]), depth + 1)
                });
                if solved.unwrap_or(Err(Exhausted))? {
                    candidates.remove(index);
                    return Ok(true);
                }
                for (&node, &class) in both.iter().zip(&saved) {
                    self.add_to_class(node, class);
                }
                self.members.truncate(classes_before);
            }
        }
        Ok(false)
    }

    /// Moves nodes to new classes, to separate them from similar nodes that are not in `nodes`.
    fn move_to_new_classes(&mut self, nodes: &[Node]) {
        let mut fresh: FxHashMap<Class, Class> = FxHashMap::default();
        for &node in nodes {
            let class = self.class[node as usize];
            let to = *fresh.entry(class).or_insert_with(|| {
                self.members.push(Vec::new());
                self.members.len() - 1
            });
            self.add_to_class(node, to);
        }
    }

    /// Splits classes by the patterns of their nodes until nothing changes. Nodes outside `scope`
    /// are not moved.
    fn refine(&mut self, mut dirty: Vec<Node>, scope: u64) -> Result<(), Exhausted> {
        let mut hashes: FxHashMap<u64, Vec<Node>> = FxHashMap::default();
        while !dirty.is_empty() {
            self.last_round += 1;
            let round = self.last_round;
            dirty.sort_unstable();
            dirty.dedup();
            dirty.retain(|&node| self.marks[node as usize] == scope);
            let mut by_class: BTreeMap<Class, Vec<Node>> = BTreeMap::new();
            for &node in &dirty {
                self.rounds[node as usize] = round;
                by_class
                    .entry(self.class[node as usize])
                    .or_default()
                    .push(node);
            }
            let mut groups: Vec<Vec<Node>> = Vec::new();
            for (class, members) in by_class {
                let class_size = self.members[class].len();
                if class_size == 1 {
                    continue;
                }
                hashes.clear();
                for &node in &members {
                    hashes
                        .entry(self.hash_patterns(node)?)
                        .or_default()
                        .push(node);
                }
                let stays = if members.len() < class_size {
                    // The other nodes are unchanged.
                    let other = self.members[class]
                        .iter()
                        .find(|&&node| self.rounds[node as usize] != round);
                    match other {
                        Some(&other) => Some(self.hash_patterns(other)?),
                        None => None,
                    }
                } else {
                    let largest = hashes
                        .iter()
                        .max_by_key(|(_, group)| (group.len(), std::cmp::Reverse(group[0])));
                    largest.map(|(hash, _)| *hash)
                };
                if let Some(hash) = stays {
                    hashes.remove(&hash);
                }
                let mut split: Vec<Vec<Node>> = hashes.drain().map(|(_, group)| group).collect();
                split.sort_unstable_by_key(|group| group[0]);
                groups.extend(split);
            }
            dirty.clear();
            for group in groups {
                let fresh = self.new_class();
                for node in group {
                    self.add_to_class(node, fresh);
                    self.collect_neighbours(node, &mut dirty)?;
                }
            }
        }
        Ok(())
    }

    /// Hash of a node's patterns, with the node marked in them. It is equal for similar nodes and
    /// very likely different for others.
    fn hash_patterns(&mut self, node: Node) -> Result<u64, Exhausted> {
        self.spend(self.incident.get(node).len())?;
        let mut shapes: Vec<u64> = self
            .incident
            .get(node)
            .iter()
            .map(|&index| {
                let (tokens, first) = self.pattern(index);
                tokens.iter().fold(0, |hash, token| {
                    let part = match token.as_node() {
                        Some(other) if other + first == node => u64::MAX,
                        Some(other) => 1 << 40 | self.class[(other + first) as usize] as u64,
                        None => token.hash() as u64,
                    };
                    mix(hash, part)
                })
            })
            .collect();
        shapes.sort_unstable();
        Ok(shapes.into_iter().fold(1, mix))
    }

    /// Whether the patterns of some nodes are equal on both sides, given that each class is a pair.
    fn is_verified(&mut self, nodes: &[Node]) -> Result<bool, Exhausted> {
        let mut patterns: Vec<u32> = nodes
            .iter()
            .flat_map(|&node| self.incident.get(node).iter().copied())
            .collect();
        patterns.sort_unstable();
        patterns.dedup();
        self.spend(patterns.len())?;
        let mut sides: [Vec<Vec<Token>>; 2] = [Vec::new(), Vec::new()];
        for index in patterns {
            let (tokens, first) = self.pattern(index);
            let shape = tokens.iter().map(|token| match token.as_node() {
                Some(node) => Token::node(self.class[(node + first) as usize] as u32),
                None => *token,
            });
            sides[usize::from(index >= self.patterns)].push(shape.collect());
        }
        let [mut left, mut right] = sides;
        left.sort_unstable();
        right.sort_unstable();
        Ok(left == right)
    }

    /// The connected components of some nodes.
    fn find_components(&mut self, nodes: &[Node]) -> Result<Vec<Vec<Node>>, Exhausted> {
        let left = self.mark(nodes);
        let mut components = Vec::new();
        let mut around = Vec::new();
        for &start in nodes {
            if self.marks[start as usize] != left {
                continue;
            }
            self.marks[start as usize] = 0;
            let mut component = vec![start];
            let mut index = 0;
            while index < component.len() {
                around.clear();
                self.collect_neighbours(component[index], &mut around)?;
                for &other in &around {
                    if self.marks[other as usize] == left {
                        self.marks[other as usize] = 0;
                        component.push(other);
                    }
                }
                index += 1;
            }
            components.push(component);
        }
        Ok(components)
    }

    /// Adds the nodes that share patterns with a node, including the node itself.
    fn collect_neighbours(
        &mut self,
        node: Node,
        neighbours: &mut Vec<Node>,
    ) -> Result<(), Exhausted> {
        self.spend(self.incident.get(node).len())?;
        for &index in self.incident.get(node) {
            let (tokens, first) = self.pattern(index);
            let nodes = tokens.iter().filter_map(|token| token.as_node());
            neighbours.extend(nodes.map(|other| other + first));
        }
        Ok(())
    }

    fn is_balanced(&self, class: Class) -> bool {
        let members = &self.members[class];
        let others: usize = members
            .iter()
            .map(|&node| usize::from(self.side[node as usize]))
            .sum();
        2 * others == members.len()
    }

    fn new_class(&mut self) -> Class {
        self.members.push(Vec::new());
        self.members.len() - 1
    }

    fn add_to_class(&mut self, node: Node, class: Class) {
        let index = self.position_in_class[node as usize];
        let former = &mut self.members[self.class[node as usize]];
        former.swap_remove(index);
        if let Some(&moved) = former.get(index) {
            self.position_in_class[moved as usize] = index;
        }
        self.class[node as usize] = class;
        self.position_in_class[node as usize] = self.members[class].len();
        self.members[class].push(node);
    }

    /// Marks nodes and returns the mark.
    fn mark(&mut self, nodes: &[Node]) -> u64 {
        self.last_mark += 1;
        for &node in nodes {
            self.marks[node as usize] = self.last_mark;
        }
        self.last_mark
    }

    fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.steps.spend(steps)
    }
}

#[inline]
fn mix(hash: u64, part: u64) -> u64 {
    let product = u128::from(hash ^ part ^ 0x9E37_79B9_7F4A_7C15)
        * u128::from(0xD6E8_FEB8_6659_FD93 ^ hash.rotate_left(17));
    (product as u64 ^ (product >> 64) as u64).wrapping_add(part)
}

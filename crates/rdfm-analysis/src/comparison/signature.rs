//! Message signatures. Equal messages have equal signatures.
//!
//! - In: a message. Out: 128 bits. The full signatures of different messages differ except by
//!   chance; the rough signatures usually differ.
//! - Cost: a full signature needs a limited number of steps; a rough one visits every quad a few
//!   times.
//! - Method: colour refinement. If blank nodes with equal colours remain, they are divided into
//!   connected components. In each component, each node of one of the smallest classes is
//!   individualized in turn, and the smallest result is used. Nodes that are equivalent according
//!   to a partial search are tried only once.

use std::collections::BTreeMap;

use rdfm_core::syntax::stack;

use super::budget::{Exhausted, Steps};
use super::graph::{Graph, IncidentPatterns};
use super::hashing::Keys;

/// Number of refinement rounds for a rough signature.
const ROUGH_ROUNDS: usize = 4;
/// Maximum depth of choices.
const MAX_DEPTH: usize = 1000;

/// The rough signature of a message, computed with a few refinement rounds.
pub fn compute_rough(graph: &Graph, keys: &Keys) -> u128 {
    if graph.names.is_empty() {
        return keys.hash_numbers(&[hash_ground_records(graph), 0, 0]);
    }
    let node_colours = run_few_rounds(graph, keys);
    let patterns =
        (0..graph.len() as u32).map(|index| hash_pattern(graph, keys, index, &node_colours, None));
    let sum = patterns.fold(0, u128::wrapping_add);
    keys.hash_numbers(&[hash_ground_records(graph), sum, node_colours.len() as u128])
}

/// The colours of blank nodes after a few refinement rounds. Equivalent nodes have equal colours.
pub fn run_few_rounds(graph: &Graph, keys: &Keys) -> Vec<u128> {
    let all: Vec<u32> = (0..graph.names.len() as u32).collect();
    let mut node_colours = vec![0; all.len()];
    let mut unbounded = Steps::new(u64::MAX);
    let mut colours = Colours::new(graph, keys, &mut unbounded);
    for _ in 0..ROUGH_ROUNDS {
        if colours.run_round(&all, &mut node_colours).unwrap_or(true) {
            break;
        }
    }
    node_colours
}

/// The full signature of a message.
///
/// # Errors
/// If the computation needs more steps than remain. One step is one visited quad.
pub fn compute_full(graph: &Graph, keys: &Keys, steps: &mut Steps) -> Result<u128, Exhausted> {
    if graph.names.is_empty() {
        return Ok(keys.hash_numbers(&[hash_ground_records(graph), 0, 0]));
    }
    let mut colours = Colours::new(graph, keys, steps);
    let all: Vec<u32> = (0..graph.names.len() as u32).collect();
    let mut node_colours = vec![0; all.len()];
    let patterns = colours.hash_canonical(&all, &mut node_colours, Follow::Every, 0)?;
    Ok(keys.hash_numbers(&[hash_ground_records(graph), patterns, all.len() as u128]))
}

/// A hash of the records without blank nodes.
fn hash_ground_records(graph: &Graph) -> u128 {
    let sum = graph
        .ground
        .iter()
        .fold(0u128, |sum, hash| sum.wrapping_add(*hash));
    sum.wrapping_add(graph.ground.len() as u128)
}

/// The choices that the search follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follow {
    Every,
    First,
}

/// Hash of a pattern, computed from the colours of its blank nodes. The node `own` is marked.
fn hash_pattern(
    graph: &Graph,
    keys: &Keys,
    index: u32,
    colours: &[u128],
    own: Option<u32>,
) -> u128 {
    let mut mix = keys.begin();
    for token in graph.pattern(index as usize) {
        match token.as_node() {
            Some(node) if Some(node) == own => mix.add(2),
            Some(node) => {
                mix.add(3);
                mix.add(colours[node as usize]);
            }
            None => mix.add(token.hash()),
        }
    }
    mix.end()
}

/// Colour refinement of the blank nodes of one message.
struct Colours<'a> {
    graph: &'a Graph,
    keys: &'a Keys,
    incident: IncidentPatterns,
    /// The last group to which each node was assigned.
    group: Vec<u64>,
    last_group: u64,
    steps: &'a mut Steps,
}

impl<'a> Colours<'a> {
    fn new(graph: &'a Graph, keys: &'a Keys, steps: &'a mut Steps) -> Self {
        Self {
            graph,
            keys,
            incident: IncidentPatterns::of(&[graph]),
            group: Vec::new(),
            last_group: 0,
            steps,
        }
    }

    /// Recolours some nodes by their patterns. Returns true if further rounds would change nothing.
    fn run_round(&mut self, nodes: &[u32], colours: &mut [u128]) -> Result<bool, Exhausted> {
        let before = count_distinct(nodes, colours);
        if before == nodes.len() {
            return Ok(true);
        }
        let mut new_colours = Vec::with_capacity(nodes.len());
        for &node in nodes {
            self.spend(self.incident.get(node).len())?;
            let patterns = self.incident.get(node).iter();
            let sum = patterns.fold(0u128, |sum, &index| {
                sum.wrapping_add(hash_pattern(
                    self.graph,
                    self.keys,
                    index,
                    colours,
                    Some(node),
                ))
            });
            new_colours.push(self.keys.hash_numbers(&[colours[node as usize], sum]));
        }
        for (&node, colour) in nodes.iter().zip(new_colours) {
            colours[node as usize] = colour;
        }
        let after = count_distinct(nodes, colours);
        Ok(after == nodes.len() || after == before)
    }

    fn refine(&mut self, nodes: &[u32], colours: &mut [u128]) -> Result<(), Exhausted> {
        while !self.run_round(nodes, colours)? {}
        Ok(())
    }

    /// Sum of the hashes of some patterns with the given colours.
    fn sum_pattern_hashes(
        &mut self,
        patterns: &[u32],
        colours: &[u128],
    ) -> Result<u128, Exhausted> {
        self.spend(patterns.len())?;
        let shapes = patterns
            .iter()
            .map(|&index| hash_pattern(self.graph, self.keys, index, colours, None));
        Ok(shapes.fold(0, u128::wrapping_add))
    }

    /// A hash of the canonical form of some nodes' patterns, given the colours of the surrounding
    /// nodes. If all choices are followed, the form does not depend on labels. Equal hashes mean
    /// equal patterns. Changes the colours of these nodes.
    fn hash_canonical(
        &mut self,
        nodes: &[u32],
        colours: &mut [u128],
        follow: Follow,
        depth: usize,
    ) -> Result<u128, Exhausted> {
        if depth > MAX_DEPTH {
            return Err(Exhausted);
        }
        self.refine(nodes, colours)?;
        self.group.resize(self.graph.names.len(), 0);
        let base = self.last_group;
        let components = self.find_components(nodes, colours)?;
        // Nodes with unique colours are resolved. The others are divided into components.
        let group = &self.group;
        let is_resolved = |nodes: &[u32]| nodes.iter().all(|&node| group[node as usize] <= base);
        let resolved = self.find_patterns(nodes, &is_resolved);
        let mut sum = self.sum_pattern_hashes(&resolved, colours)?;
        for component in components {
            let canonical = self.hash_component(&component, colours, follow, depth)?;
            sum = sum.wrapping_add(
                self.keys
                    .hash_numbers(&[canonical, component.len() as u128]),
            );
        }
        Ok(sum)
    }

    /// The connected components of the nodes whose colours are not unique.
    fn find_components(
        &mut self,
        nodes: &[u32],
        colours: &[u128],
    ) -> Result<Vec<Vec<u32>>, Exhausted> {
        let mut left: Vec<u32> = group_by_colour(nodes, colours)
            .into_values()
            .filter(|class| class.len() > 1)
            .flatten()
            .collect();
        left.sort_unstable();
        self.last_group += 1;
        let waiting = self.last_group;
        for &node in &left {
            self.group[node as usize] = waiting;
        }
        let mut components: Vec<Vec<u32>> = Vec::new();
        for &start in &left {
            if self.group[start as usize] != waiting {
                continue;
            }
            self.last_group += 1;
            self.group[start as usize] = self.last_group;
            let mut component = vec![start];
            let mut index = 0;
            while index < component.len() {
                let node = component[index];
                self.spend(self.incident.get(node).len())?;
                for &pattern in self.incident.get(node) {
                    let tokens = self.graph.pattern(pattern as usize);
                    for other in tokens.iter().filter_map(|token| token.as_node()) {
                        if self.group[other as usize] == waiting {
                            self.group[other as usize] = self.last_group;
                            component.push(other);
                        }
                    }
                }
                index += 1;
            }
            components.push(component);
        }
        Ok(components)
    }

    /// A hash of the canonical form of a component. Restores the colours of its nodes.
    fn hash_component(
        &mut self,
        nodes: &[u32],
        colours: &mut [u128],
        follow: Follow,
        depth: usize,
    ) -> Result<u128, Exhausted> {
        let patterns = self.find_patterns(nodes, &|_| true);
        let classes = group_by_colour(nodes, colours);
        let several = classes.into_values().filter(|class| class.len() > 1);
        let Some(class) = several.min_by_key(Vec::len) else {
            return self.sum_pattern_hashes(&patterns, colours);
        };
        let saved: Vec<u128> = nodes.iter().map(|&node| colours[node as usize]).collect();
        let restore = |colours: &mut [u128]| {
            for (&node, &colour) in nodes.iter().zip(&saved) {
                colours[node as usize] = colour;
            }
        };
        let special = self.keys.hash_numbers(&[colours[class[0] as usize], 5]);
        // The search follows the nodes with the smallest result after individualization.
        let mut smallest: Option<u128> = None;
        let mut chosen = Vec::new();
        for node in class {
            colours[node as usize] = special;
            self.refine(nodes, colours)?;
            let node_result = self.sum_pattern_hashes(&patterns, colours)?;
            restore(colours);
            if smallest.is_none_or(|smallest| node_result < smallest) {
                chosen.clear();
                smallest = Some(node_result);
            }
            if smallest == Some(node_result) {
                chosen.push(node);
            }
        }
        let mut canonical_with = |node: u32, follow: Follow, colours: &mut [u128]| {
            colours[node as usize] = special;
            let found = stack::run_one_level(depth, || {
                self.hash_canonical(nodes, colours, follow, depth + 1)
            });
            restore(colours);
            found.unwrap_or(Err(Exhausted))
        };
        let first = chosen[0];
        let mut result = canonical_with(first, follow, colours)?;
        if follow == Follow::Every && chosen.len() > 1 {
            let first_result = canonical_with(first, Follow::First, colours)?;
            for &node in &chosen[1..] {
                if canonical_with(node, Follow::First, colours)? != first_result {
                    result = result.min(canonical_with(node, Follow::Every, colours)?);
                }
            }
        }
        Ok(result)
    }

    /// The patterns that contain any of the nodes, and whose nodes satisfy a condition.
    fn find_patterns(&self, nodes: &[u32], condition: &dyn Fn(&[u32]) -> bool) -> Vec<u32> {
        let incident = nodes
            .iter()
            .flat_map(|&node| self.incident.get(node).iter().copied());
        let mut patterns: Vec<u32> = incident.collect();
        patterns.sort_unstable();
        patterns.dedup();
        let mut inside = Vec::new();
        patterns.retain(|&index| {
            inside.clear();
            let tokens = self.graph.pattern(index as usize).iter();
            inside.extend(tokens.filter_map(|token| token.as_node()));
            condition(&inside)
        });
        patterns
    }

    fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.steps.spend(steps)
    }
}

/// Groups nodes by colour.
fn group_by_colour(nodes: &[u32], colours: &[u128]) -> BTreeMap<u128, Vec<u32>> {
    let mut classes: BTreeMap<u128, Vec<u32>> = BTreeMap::new();
    for &node in nodes {
        let class = classes.entry(colours[node as usize]).or_default();
        class.push(node);
    }
    classes
}

/// Number of different colours.
fn count_distinct(nodes: &[u32], colours: &[u128]) -> usize {
    let mut node_colours: Vec<u128> = nodes.iter().map(|&node| colours[node as usize]).collect();
    node_colours.sort_unstable();
    node_colours.dedup();
    node_colours.len()
}

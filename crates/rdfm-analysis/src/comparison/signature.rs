//! The signature of a message: equal where messages are the same.
//!
//! - In: a message. Out: 128 bits. Whole: different where messages differ, but for chance; rough: mostly.
//! - Cost: of whole ones counted and bounded; of rough ones a few looks at every quad.
//! - Method: colour refinement; where colours do not tell all blank nodes apart, those that hang together are taken by
//!   themselves, one of the smallest class is made special, each in turn, and the least result counts. Of those that
//!   one way through the choices shows to be alike, one is followed.

use std::collections::BTreeMap;

use rdfm_core::syntax::stack;

use super::budget::{Exhausted, Steps};
use super::graph::{Graph, Incident};
use super::hashing::Keys;

/// Rounds of refinement of a rough signature.
const ROUGH_ROUNDS: usize = 4;
/// Choices within choices.
const MAX_DEPTH: usize = 1000;

/// The signature of a message by a few rounds of refinement: messages that are the same have the same.
pub fn rough(graph: &Graph, keys: &Keys) -> u128 {
    if graph.names.is_empty() {
        return keys.of(&[ground(graph), 0, 0]);
    }
    let of = few_rounds(graph, keys);
    let patterns = (0..graph.len() as u32).map(|at| shape(graph, keys, at, &of, None));
    let sum = patterns.fold(0, u128::wrapping_add);
    keys.of(&[ground(graph), sum, of.len() as u128])
}

/// The colours of blank nodes after a few rounds of refinement: equal for those that are the same.
pub fn few_rounds(graph: &Graph, keys: &Keys) -> Vec<u128> {
    let every: Vec<u32> = (0..graph.names.len() as u32).collect();
    let mut of = vec![0; every.len()];
    let mut unbounded = Steps::new(u64::MAX);
    let mut colours = Colours::new(graph, keys, &mut unbounded);
    for _ in 0..ROUGH_ROUNDS {
        if colours.round(&every, &mut of).unwrap_or(true) {
            break;
        }
    }
    of
}

/// The signature of a message that no other message has.
///
/// # Errors
/// It needs more steps, in quads looked at.
pub fn whole(graph: &Graph, keys: &Keys, steps: &mut Steps) -> Result<u128, Exhausted> {
    if graph.names.is_empty() {
        return Ok(keys.of(&[ground(graph), 0, 0]));
    }
    let mut colours = Colours::new(graph, keys, steps);
    let every: Vec<u32> = (0..graph.names.len() as u32).collect();
    let mut of = vec![0; every.len()];
    let patterns = colours.canonical(&every, &mut of, Follow::Every, 0)?;
    Ok(keys.of(&[ground(graph), patterns, every.len() as u128]))
}

/// The records without blank nodes.
fn ground(graph: &Graph) -> u128 {
    let sum = graph
        .ground
        .iter()
        .fold(0u128, |sum, hash| sum.wrapping_add(*hash));
    sum.wrapping_add(graph.ground.len() as u128)
}

/// Which choices are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follow {
    Every,
    First,
}

/// A pattern with colours for blank nodes, `own` apart.
fn shape(graph: &Graph, keys: &Keys, at: u32, colours: &[u128], own: Option<u32>) -> u128 {
    let mut mix = keys.begin();
    for token in graph.pattern(at as usize) {
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

struct Colours<'a> {
    graph: &'a Graph,
    keys: &'a Keys,
    incident: Incident,
    /// What each node hung together with last.
    group: Vec<u64>,
    last_group: u64,
    steps: &'a mut Steps,
}

impl<'a> Colours<'a> {
    fn new(graph: &'a Graph, keys: &'a Keys, steps: &'a mut Steps) -> Self {
        Self {
            graph,
            keys,
            incident: Incident::of(&[graph]),
            group: Vec::new(),
            last_group: 0,
            steps,
        }
    }

    /// Colours some nodes by what their quads look like. Gives whether nothing more will come of it.
    fn round(&mut self, nodes: &[u32], colours: &mut [u128]) -> Result<bool, Exhausted> {
        let before = distinct(nodes, colours);
        if before == nodes.len() {
            return Ok(true);
        }
        let mut made = Vec::with_capacity(nodes.len());
        for &node in nodes {
            self.spend(self.incident.get(node).len())?;
            let patterns = self.incident.get(node).iter();
            let sum = patterns.fold(0u128, |sum, &at| {
                sum.wrapping_add(shape(self.graph, self.keys, at, colours, Some(node)))
            });
            made.push(self.keys.of(&[colours[node as usize], sum]));
        }
        for (&node, colour) in nodes.iter().zip(made) {
            colours[node as usize] = colour;
        }
        let after = distinct(nodes, colours);
        Ok(after == nodes.len() || after == before)
    }

    fn refine(&mut self, nodes: &[u32], colours: &mut [u128]) -> Result<(), Exhausted> {
        while !self.round(nodes, colours)? {}
        Ok(())
    }

    /// Some patterns, with colours.
    fn sum(&mut self, patterns: &[u32], colours: &[u128]) -> Result<u128, Exhausted> {
        self.spend(patterns.len())?;
        let shapes = patterns
            .iter()
            .map(|&at| shape(self.graph, self.keys, at, colours, None));
        Ok(shapes.fold(0, u128::wrapping_add))
    }

    /// The quads of some nodes, those around them having colours already, in a form that does not depend on labels
    /// if every choice is followed. Equal ones are of quads that are the same. Changes the colours of these nodes.
    fn canonical(
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
        let components = self.components(nodes, colours)?;
        // Those that have their colour alone are told apart; the others by what hangs together.
        let group = &self.group;
        let is_apart = |nodes: &[u32]| nodes.iter().all(|&node| group[node as usize] <= base);
        let resolved = self.patterns(nodes, &is_apart);
        let mut sum = self.sum(&resolved, colours)?;
        for component in components {
            let canonical = self.component(&component, colours, follow, depth)?;
            sum = sum.wrapping_add(self.keys.of(&[canonical, component.len() as u128]));
        }
        Ok(sum)
    }

    /// The nodes that do not have their colours alone, by what hangs together through such nodes.
    fn components(&mut self, nodes: &[u32], colours: &[u128]) -> Result<Vec<Vec<u32>>, Exhausted> {
        let mut left: Vec<u32> = by_colour(nodes, colours)
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
            let mut at = 0;
            while at < component.len() {
                let node = component[at];
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
                at += 1;
            }
            components.push(component);
        }
        Ok(components)
    }

    /// The quads of nodes that hang together. Their colours are as before.
    fn component(
        &mut self,
        nodes: &[u32],
        colours: &mut [u128],
        follow: Follow,
        depth: usize,
    ) -> Result<u128, Exhausted> {
        let patterns = self.patterns(nodes, &|_| true);
        let classes = by_colour(nodes, colours);
        let several = classes.into_values().filter(|class| class.len() > 1);
        let Some(class) = several.min_by_key(Vec::len) else {
            return self.sum(&patterns, colours);
        };
        let saved: Vec<u128> = nodes.iter().map(|&node| colours[node as usize]).collect();
        let restore = |colours: &mut [u128]| {
            for (&node, &colour) in nodes.iter().zip(&saved) {
                colours[node as usize] = colour;
            }
        };
        let special = self.keys.of(&[colours[class[0] as usize], 5]);
        // Those that look least when they are made special are followed.
        let mut least: Option<u128> = None;
        let mut chosen = Vec::new();
        for node in class {
            colours[node as usize] = special;
            self.refine(nodes, colours)?;
            let look = self.sum(&patterns, colours)?;
            restore(colours);
            if least.is_none_or(|least| look < least) {
                chosen.clear();
                least = Some(look);
            }
            if least == Some(look) {
                chosen.push(node);
            }
        }
        let mut through = |node: u32, follow: Follow, colours: &mut [u128]| {
            colours[node as usize] = special;
            let found =
                stack::one_level(depth, || self.canonical(nodes, colours, follow, depth + 1));
            restore(colours);
            found.unwrap_or(Err(Exhausted))
        };
        let first = chosen[0];
        let mut result = through(first, follow, colours)?;
        if follow == Follow::Every && chosen.len() > 1 {
            let alike = through(first, Follow::First, colours)?;
            for &node in &chosen[1..] {
                if through(node, Follow::First, colours)? != alike {
                    result = result.min(through(node, Follow::Every, colours)?);
                }
            }
        }
        Ok(result)
    }

    /// The patterns of some nodes, of those whose nodes are as wanted.
    fn patterns(&self, nodes: &[u32], wanted: &dyn Fn(&[u32]) -> bool) -> Vec<u32> {
        let incident = nodes
            .iter()
            .flat_map(|&node| self.incident.get(node).iter().copied());
        let mut found: Vec<u32> = incident.collect();
        found.sort_unstable();
        found.dedup();
        let mut inside = Vec::new();
        found.retain(|&at| {
            inside.clear();
            let tokens = self.graph.pattern(at as usize).iter();
            inside.extend(tokens.filter_map(|token| token.as_node()));
            wanted(&inside)
        });
        found
    }

    fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.steps.spend(steps)
    }
}

/// Nodes by their colours.
fn by_colour(nodes: &[u32], colours: &[u128]) -> BTreeMap<u128, Vec<u32>> {
    let mut classes: BTreeMap<u128, Vec<u32>> = BTreeMap::new();
    for &node in nodes {
        let class = classes.entry(colours[node as usize]).or_default();
        class.push(node);
    }
    classes
}

/// How many colours nodes have.
fn distinct(nodes: &[u32], colours: &[u128]) -> usize {
    let mut found: Vec<u128> = nodes.iter().map(|&node| colours[node as usize]).collect();
    found.sort_unstable();
    found.dedup();
    found.len()
}

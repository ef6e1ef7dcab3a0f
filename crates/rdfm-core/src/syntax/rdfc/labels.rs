//! The canonical labels of the blank nodes of a dataset.
//!
//! - In: distinct quads as ranks of terms, sorted. Out: the number of each blank node.
//! - Cost: limited by the number of steps. One step is one visited quad, or one copied issuer of up
//!   to 32 nodes.
//! - Law: the stack is explicit, because its depth can reach the number of nodes.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::Range;

use super::hashing::{Hash, TextHasher};
use super::issuer::{Issuer, Permutation};
use super::{Effort, LabelError};

/// Number of steps after which [`Effort::is_cancelled`] is called.
const CHECK_STEPS: u64 = 1 << 14;

/// End of a line, after the space of its last term.
pub const END: &[u8] = b".\n";

/// The distinct terms of a dataset, sorted by their text in N-Quads.
#[derive(Debug, Default)]
pub struct Terms {
    /// The texts, each followed by a space.
    pub buffer: Vec<u8>,
    /// Range in the buffer of each term, by rank.
    pub ranges: Vec<(u32, u32)>,
}

impl Terms {
    /// The text of a term, followed by a space. The default graph has an empty text.
    #[inline]
    pub fn text(&self, rank: u32) -> &[u8] {
        let (start, end) = self.ranges[rank as usize];
        &self.buffer[start as usize..end as usize]
    }
}

/// The terms and quads of a dataset.
#[derive(Clone, Copy, Debug)]
pub struct RankedDataset<'a> {
    /// Subject, predicate, object and graph, as ranks. Distinct.
    pub quads: &'a [[u32; 4]],
    /// The terms by rank.
    pub terms: &'a Terms,
    /// Ranks of the blank nodes. The terms before them are sorted before blank nodes.
    pub nodes: &'a Range<u32>,
}

impl RankedDataset<'_> {
    fn node(&self, rank: u32) -> Option<u32> {
        self.nodes.contains(&rank).then(|| rank - self.nodes.start)
    }
}

/// Returns the number of each node in the canonical labels.
/// # Errors
/// If the labels need too much work.
pub fn number(view: RankedDataset<'_>, effort: Effort<'_>) -> Result<Vec<u32>, LabelError> {
    let mut state = State {
        incident: Incident::of(&view),
        view,
        effort,
        steps: 0,
        next_check: CHECK_STEPS,
        issued: vec![None; view.nodes.len()],
        count: 0,
        first_degree: Vec::with_capacity(view.nodes.len()),
        hasher: TextHasher::default(),
        scratch: Vec::new(),
    };
    state.issue_all()?;
    // Every node has a number: a group with several nodes issues one for each of them.
    Ok(state
        .issued
        .into_iter()
        .map(Option::unwrap_or_default)
        .collect())
}

/// The quads of each node.
struct Incident {
    quads: Vec<u32>,
    /// End of the quads of each node.
    ends: Vec<u32>,
}

impl Incident {
    fn of(view: &RankedDataset<'_>) -> Self {
        let mut pairs = Vec::new();
        for (index, quad) in view.quads.iter().enumerate() {
            let [s, _, o, g] = quad.map(|rank| view.node(rank));
            for (position, node) in [s, o, g].into_iter().enumerate() {
                let repeated = position > 0 && node == s || position > 1 && node == o;
                if let Some(node) = node.filter(|_| !repeated) {
                    pairs.push((node, index as u32));
                }
            }
        }
        pairs.sort_unstable();
        let mut ends = vec![0; view.nodes.len()];
        for (node, _) in &pairs {
            ends[*node as usize] += 1;
        }
        let mut end = 0;
        for count in &mut ends {
            end += *count;
            *count = end;
        }
        Self {
            quads: pairs.into_iter().map(|(_, quad)| quad).collect(),
            ends,
        }
    }

    fn range(&self, node: u32) -> Range<usize> {
        let node = node as usize;
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        start as usize..self.ends[node] as usize
    }
}

/// "Canonicalization state".
struct State<'a> {
    view: RankedDataset<'a>,
    incident: Incident,
    effort: Effort<'a>,
    /// Number of steps so far.
    steps: u64,
    next_check: u64,
    /// "Canonical issuer": the number of each node.
    issued: Vec<Option<u32>>,
    count: u32,
    /// First degree hashes of the nodes.
    first_degree: Vec<Hash>,
    hasher: TextHasher,
    scratch: Vec<u8>,
}

impl State<'_> {
    fn issue_all(&mut self) -> Result<(), LabelError> {
        for node in 0..self.view.nodes.len() as u32 {
            let hash = self.hash_first_degree(node)?;
            self.first_degree.push(hash);
        }
        let mut order: Vec<u32> = (0..self.view.nodes.len() as u32).collect();
        order.sort_by_key(|node| self.first_degree[*node as usize]);
        let first_degree = self.first_degree.clone();
        let hash = |node: &u32| first_degree[*node as usize];
        let groups = || order.chunk_by(|a, b| hash(a) == hash(b));
        for group in groups().filter(|group| group.len() == 1) {
            self.issue(group[0]);
        }
        for group in groups().filter(|group| group.len() > 1) {
            let mut results = Vec::new();
            for &node in group {
                if self.issued[node as usize].is_none() {
                    let mut issuer = Issuer::default();
                    issuer.issue(node);
                    results.push(self.run(node, issuer)?);
                }
            }
            results.sort_by_key(|(hash, _)| *hash);
            for (_, issuer) in results {
                for &node in issuer.nodes() {
                    self.issue(node);
                }
            }
        }
        Ok(())
    }

    fn issue(&mut self, node: u32) {
        let number = &mut self.issued[node as usize];
        if number.is_none() {
            *number = Some(self.count);
            self.count += 1;
        }
    }

    fn spend(&mut self, steps: usize) -> Result<(), LabelError> {
        self.steps += steps as u64;
        if self.steps > self.effort.max_steps {
            return Err(LabelError::TooManySteps);
        }
        if self.steps > self.next_check {
            self.next_check = self.steps + CHECK_STEPS;
            if (self.effort.is_cancelled)() {
                return Err(LabelError::Cancelled);
            }
        }
        Ok(())
    }

    /// "Hash First Degree Quads".
    fn hash_first_degree(&mut self, node: u32) -> Result<Hash, LabelError> {
        let range = self.incident.range(node);
        self.spend(range.len())?;
        // The labels `a` and `z` are sorted like the ranks of two blank nodes.
        let (own, other) = (self.view.nodes.start, self.view.nodes.start + 1);
        let mut lines: Vec<[u32; 4]> = self.incident.quads[range]
            .iter()
            .map(|&index| {
                self.view.quads[index as usize].map(|rank| match self.view.node(rank) {
                    Some(found) if found == node => own,
                    Some(_) => other,
                    None => rank,
                })
            })
            .collect();
        lines.sort_unstable();
        for line in lines {
            for rank in line {
                let text = if rank == own {
                    b"_:a "
                } else if rank == other && self.view.nodes.contains(&other) {
                    b"_:z "
                } else {
                    self.view.terms.text(rank)
                };
                self.hasher.push(text);
            }
            self.hasher.push(END);
        }
        Ok(self.hasher.finish())
    }

    /// "Hash Related Blank Node".
    fn hash_related(
        &mut self,
        node: u32,
        predicate: u32,
        issuer: &Issuer,
        position: u8,
    ) -> Result<Hash, LabelError> {
        self.spend(1)?;
        let buffer = &mut self.scratch;
        buffer.clear();
        buffer.push(position);
        if position != b'g' {
            buffer.extend_from_slice(self.view.terms.text(predicate).trim_ascii_end());
        }
        if let Some(number) = self.issued[node as usize] {
            write_label(CANONICAL, number as usize, buffer);
        } else if let Some(number) = issuer.position(node) {
            write_label(TEMPORARY, number, buffer);
        } else {
            write_hex(&self.first_degree[node as usize], buffer);
        }
        self.hasher.push(&self.scratch);
        Ok(self.hasher.finish())
    }

    /// "Hn": the related nodes of a node, by hash.
    fn find_related(
        &mut self,
        node: u32,
        issuer: &Issuer,
    ) -> Result<BTreeMap<Hash, Vec<u32>>, LabelError> {
        let mut related: BTreeMap<Hash, Vec<u32>> = BTreeMap::new();
        for index in self.incident.range(node) {
            let quad = self.view.quads[self.incident.quads[index] as usize];
            let [subject, predicate, object, graph] = quad;
            for (position, rank) in [(b's', subject), (b'o', object), (b'g', graph)] {
                if let Some(other) = self.view.node(rank).filter(|other| *other != node) {
                    let hash = self.hash_related(other, predicate, issuer, position)?;
                    related.entry(hash).or_default().push(other);
                }
            }
        }
        Ok(related)
    }

    /// "Hash N-Degree Quads".
    fn run(&mut self, node: u32, issuer: Issuer) -> Result<(Hash, Issuer), LabelError> {
        let mut stack = vec![NDegreeCall::begin(self, node, issuer)?];
        let mut answer = None;
        loop {
            let Some(call) = stack.last_mut() else {
                return answer.ok_or(LabelError::Cancelled); // not reached
            };
            match call.resume(self, answer.take())? {
                NDegreeStep::Descend(node, issuer) => {
                    stack.push(NDegreeCall::begin(self, node, issuer)?);
                }
                NDegreeStep::Done(hash, issuer) => {
                    stack.pop();
                    answer = Some((hash, issuer));
                }
            }
        }
    }
}

/// A request of a [`NDegreeCall`].
enum NDegreeStep {
    /// The hash of a related node is needed.
    Descend(u32, Issuer),
    /// The hash of the call's node.
    Done(Hash, Issuer),
}

/// One call of "Hash N-Degree Quads", which can be suspended.
struct NDegreeCall {
    /// Remaining entries of "Hn".
    related: std::collections::btree_map::IntoIter<Hash, Vec<u32>>,
    issuer: Issuer,
    /// "Data to hash".
    data: Vec<u8>,
    group: Option<Group>,
}

/// An entry of "Hn", and its current permutation.
struct Group {
    nodes: Vec<u32>,
    permutation: Permutation,
    chosen: Vec<u8>,
    chosen_issuer: Issuer,
    /// "Issuer copy".
    copy: Issuer,
    path: Vec<u8>,
    /// "Recursion list".
    unnamed: Vec<u32>,
    next_unnamed: usize,
}

impl Group {
    fn is_worse(&self) -> bool {
        !self.chosen.is_empty() && self.path.len() >= self.chosen.len() && self.path > self.chosen
    }
}

impl NDegreeCall {
    fn begin(state: &mut State<'_>, node: u32, issuer: Issuer) -> Result<Self, LabelError> {
        Ok(Self {
            related: state.find_related(node, &issuer)?.into_iter(),
            issuer,
            data: Vec::new(),
            group: None,
        })
    }

    /// Continues until another hash is needed. `answer` is the hash requested last.
    fn resume(
        &mut self,
        state: &mut State<'_>,
        answer: Option<(Hash, Issuer)>,
    ) -> Result<NDegreeStep, LabelError> {
        if let (Some(group), Some((hash, issuer))) = (&mut self.group, answer) {
            let node = group.unnamed[group.next_unnamed];
            group.next_unnamed += 1;
            // The node has its identifier, because the issuer was passed on with it.
            let number = issuer.position(node).unwrap_or_default();
            write_label(TEMPORARY, number, &mut group.path);
            group.path.push(b'<');
            write_hex(&hash, &mut group.path);
            group.path.push(b'>');
            group.copy = issuer;
        }
        loop {
            let Some(group) = &mut self.group else {
                let Some((hash, nodes)) = self.related.next() else {
                    state.hasher.push(&self.data);
                    let hash = state.hasher.finish();
                    return Ok(NDegreeStep::Done(hash, std::mem::take(&mut self.issuer)));
                };
                write_hex(&hash, &mut self.data);
                let permutation = Permutation::first(nodes.len());
                self.group = Some(Group {
                    nodes,
                    permutation,
                    chosen: Vec::new(),
                    chosen_issuer: Issuer::default(),
                    copy: Issuer::default(),
                    path: Vec::new(),
                    unnamed: Vec::new(),
                    next_unnamed: 0,
                });
                self.begin_permutation(state)?;
                continue;
            };
            if group.next_unnamed < group.unnamed.len() && !group.is_worse() {
                let node = group.unnamed[group.next_unnamed];
                return Ok(NDegreeStep::Descend(node, std::mem::take(&mut group.copy)));
            }
            if group.chosen.is_empty() || (!group.is_worse() && group.path < group.chosen) {
                std::mem::swap(&mut group.chosen, &mut group.path);
                group.chosen_issuer = std::mem::take(&mut group.copy);
            }
            if group.permutation.advance() {
                self.begin_permutation(state)?;
            } else {
                self.data.extend_from_slice(&group.chosen);
                self.issuer = std::mem::take(&mut group.chosen_issuer);
                self.group = None;
            }
        }
    }

    fn begin_permutation(&mut self, state: &mut State<'_>) -> Result<(), LabelError> {
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        // The cost of a copy is proportional to its size.
        state.spend(group.nodes.len() + self.issuer.len() / 32)?;
        group.copy = if group.permutation.is_last() {
            // A chain of nodes would otherwise store one issuer per node.
            std::mem::take(&mut self.issuer)
        } else {
            self.issuer.clone()
        };
        group.path.clear();
        group.unnamed.clear();
        group.next_unnamed = 0;
        for &index in group.permutation.indices() {
            let node = group.nodes[index as usize];
            if let Some(number) = state.issued[node as usize] {
                write_label(CANONICAL, number as usize, &mut group.path);
            } else {
                let (number, is_new) = group.copy.issue(node);
                if is_new {
                    group.unnamed.push(node);
                }
                write_label(TEMPORARY, number, &mut group.path);
            }
        }
        Ok(())
    }
}

/// Prefix of canonical labels.
pub const CANONICAL: &str = "c14n";
/// Prefix of the labels of temporary issuers.
const TEMPORARY: &str = "b";

/// Appends a label with `_:`.
pub fn write_label(prefix: &str, number: usize, out: &mut Vec<u8>) {
    // Writing to a vector does not fail.
    let _ = write!(out, "_:{prefix}{number}");
}

fn write_hex(hash: &Hash, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in hash {
        let digit = |value: u8| DIGITS[usize::from(value)];
        out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
}

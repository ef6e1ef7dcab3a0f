//! The statistics of a log, collected from its batches.

use memchr::{memrchr, memrchr2};
use rdfm_core::model::batch::{LogBatch, MessageBatch, PatchBatch, ResultBatch};
use rdfm_core::model::record::{OperationCode, Record};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId, TermKind, flags};

use super::distinct::{Estimate, SERIES, bits};
use super::merge::{Mergeable, Reader, Unreadable, Writer};
use super::message::{OpenMessage, POSITIONS, Scope, Sums, TermCounter};
use super::names::Names;
use super::report::{DistinctTerms, Occurrences, Report};
use super::results::Variables;
use super::seen_quads::SeenQuads;
use super::series::{Density, Series, Sizes};
use super::terms::{BatchTerms, mix};

const RDF_TYPE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const XSD_STRING: &[u8] = b"http://www.w3.org/2001/XMLSchema#string";
pub(super) const LANG_STRING: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
pub(super) const DIRECTED_STRING: &[u8] =
    b"http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// Size of `MESSAGE` and a line end, which follow each message in a flat file.
const DELIMITER_BYTES: u64 = 8;
/// Slot number of the default graph, and of rdf:type before its first occurrence in the batch.
const NO_SLOT: u32 = u32::MAX;
/// Hash of the default graph as a graph name.
const DEFAULT_GRAPH: u64 = 0x6465_6661_756c_7400;
/// Number of term series.
const TERM_SERIES: usize = SERIES - 1;

/// Statistics of a log.
#[derive(Debug, Default)]
pub struct Statistics {
    terms: BatchTerms,
    counting: TermCounter,
    seen_quads: SeenQuads,
    /// Number of the first message and of the first log. It must differ between statistics that are
    /// to be merged.
    first: u64,
    logs: u64,
    messages: u64,
    empty: u64,
    approximate: u64,
    kind: RecordKind,
    /// Whether message sizes exclude the delimiters.
    plain: bool,
    sizes: Sizes,
    bytes: Sizes,
    adds: Sizes,
    deletes: Sizes,
    operations: [u64; OperationCode::ALL.len()],
    variables: Variables,
    series: [Series; TERM_SERIES],
    statement_series: Series,
    controls: Series,
    triples: Series,
    density: Density,
    occurrences: Occurrences,
    datatypes: Names,
    languages: Names,
    predicates: Names,
    types: Names,
    namespaces: Names,
    /// The slot of rdf:type in the batch.
    rdf_type: u32,
    default_graph: bool,
    type_order: Vec<u32>,
    aux_order: Vec<u32>,
    predicate_order: Vec<u32>,
    numbers: Vec<u64>,
}

/// The kind of records, determined by the first batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RecordKind {
    #[default]
    Messages,
    Patches,
    Results,
}

impl Statistics {
    /// Creates statistics in which message sizes exclude the delimiters.
    pub fn plain() -> Self {
        Self {
            plain: true,
            ..Self::default()
        }
    }

    /// Sets the number of the first message and log. Statistics that are to be merged need
    /// different numbers, so that their blank nodes differ.
    #[must_use]
    pub const fn with_first_index(mut self, first: u64) -> Self {
        self.first = first;
        self
    }

    /// Starts another log, whose blank nodes are separate.
    pub fn start_log(&mut self) {
        self.logs += 1;
        self.counting.open = None;
    }

    /// Adds the next messages.
    pub fn add_messages(&mut self, batch: &MessageBatch) {
        self.kind = RecordKind::Messages;
        self.for_each_message(batch, |this, table, quads, sums| {
            this.add_quads(table, quads, sums);
        });
    }

    /// Adds the next patches. The scope of blank nodes is the log.
    pub fn add_patches(&mut self, batch: &PatchBatch) {
        self.kind = RecordKind::Patches;
        self.for_each_message(batch, |this, table, operations, sums| {
            for operation in operations {
                let code = operation.code;
                this.operations[code as usize] += 1;
                sums.adds += u64::from(code == OperationCode::Add);
                sums.deletes += u64::from(code == OperationCode::Delete);
                if matches!(code, OperationCode::Add | OperationCode::Delete) {
                    let quad = this.find_slots(table, operation.quad());
                    this.statement(table, quad, sums);
                }
            }
        });
    }

    /// Adds the next rows. The scope of blank nodes is the log.
    pub fn add_results(&mut self, batch: &ResultBatch) {
        self.kind = RecordKind::Results;
        let columns = self.variables.find_columns(&batch.head().variables);
        self.for_each_message(batch, |this, table, cells, sums| {
            for (column, cell) in columns.iter().zip(cells) {
                if *cell == TermId::DEFAULT_GRAPH {
                    continue;
                }
                sums.records += 1;
                let slot = this.terms.find_or_add_slot(table, *cell);
                this.counting.count_occurrence(&mut this.terms, slot, 0);
                if let Some(column) = column {
                    let slot_entry = &this.terms.slots[slot as usize];
                    let hash = if slot_entry.scoped {
                        mix(slot_entry.hash, this.first + this.logs)
                    } else {
                        slot_entry.hash
                    };
                    this.variables.bind(*column, hash);
                }
            }
        });
    }

    /// Adds the messages of a batch one by one.
    fn for_each_message<R: Record>(
        &mut self,
        batch: &LogBatch<R>,
        mut take: impl FnMut(&mut Self, &TermTable, &[R], &mut Sums),
    ) {
        let table = batch.table();
        self.terms.start(table);
        self.rdf_type = NO_SLOT;
        for message in 0..batch.len() {
            let is_rest = batch.continued() && message == 0;
            let continues = batch.continues() && message + 1 == batch.len();
            if !is_rest {
                self.counting.open = continues.then(Box::default);
            }
            // Messages are numbered across all logs, because blank nodes of different logs differ.
            let scope = match self.kind {
                RecordKind::Messages => Scope::Message(self.first + self.messages),
                RecordKind::Patches | RecordKind::Results => Scope::Log(self.first + self.logs),
            };
            self.counting.start(message, scope);
            let records = batch.message(message);
            let mut sums = match &self.counting.open {
                Some(open) => open.sums,
                None => Sums::default(),
            };
            if self.kind != RecordKind::Results {
                sums.records += records.len() as u64;
            }
            take(self, table, records, &mut sums);
            match &mut self.counting.open {
                Some(open) if continues => open.sums = sums,
                _ => self.end(sums),
            }
        }
        self.end_batch(table);
    }

    fn find_slots(&mut self, table: &TermTable, quad: Quad) -> [u32; 4] {
        let mut slot = |id| self.terms.find_or_add_slot(table, id);
        [
            slot(quad.subject),
            slot(quad.predicate),
            slot(quad.object),
            match quad.graph {
                TermId::DEFAULT_GRAPH => NO_SLOT,
                graph => slot(graph),
            },
        ]
    }

    /// Adds the quads of a message or part.
    fn add_quads(&mut self, table: &TermTable, quads: &[Quad], sums: &mut Sums) {
        self.seen_quads.start(quads.len());
        for quad in quads {
            let quad = self.find_slots(table, *quad);
            if !self.seen_quads.insert(quad) {
                continue;
            }
            if let Some(open) = &mut self.counting.open {
                let hash = |slot: u32| match slot {
                    NO_SLOT => DEFAULT_GRAPH,
                    slot => self.terms.slots[slot as usize].hash,
                };
                let [s, p, o, g] = quad.map(hash);
                let hash = mix(mix(s, p), mix(o, g));
                if open.quads.add(hash, bits::STATEMENT) == 0 {
                    continue;
                }
            }
            self.statement(table, quad, sums);
        }
    }

    /// Adds a quad that has not occurred in the message.
    #[inline]
    fn statement(&mut self, table: &TermTable, quad: [u32; 4], sums: &mut Sums) {
        let [_, predicate, object, graph] = quad;
        let mut bytes = 5_u64; // a space after each term, a full stop, a line end
        for (slot, position) in quad.into_iter().zip(POSITIONS) {
            bytes = bytes.saturating_add(self.count_occurrence(slot, position, sums));
        }
        if graph == NO_SLOT {
            sums.default_graph = true;
        } else {
            bytes = bytes.saturating_add(1 + self.count_occurrence(graph, bits::GRAPH, sums));
        }
        let slot_entry = &mut self.terms.slots[predicate as usize];
        slot_entry.as_predicate += 1;
        if slot_entry.as_predicate == 1 {
            self.predicate_order.push(predicate);
            if slot_entry.kind == bits::IRI && table.text(slot_entry.term) == RDF_TYPE {
                self.rdf_type = predicate;
            }
        }
        if predicate == self.rdf_type {
            let slot_entry = &mut self.terms.slots[object as usize];
            slot_entry.as_type += 1;
            if slot_entry.as_type == 1 {
                self.type_order.push(object);
            }
        }
        sums.statements += 1;
        sums.bytes = sums.bytes.saturating_add(bytes);
    }

    #[inline]
    fn count_occurrence(&mut self, slot: u32, position: u16, sums: &mut Sums) -> u64 {
        let slot_entry = self
            .counting
            .count_occurrence(&mut self.terms, slot, position);
        let (extra, size) = (slot_entry.extra, slot_entry.size);
        if extra != 0 {
            let extra = self.terms.extras[extra as usize];
            sums.controls = sums.controls.saturating_add(extra.controls);
            sums.triples = sums.triples.saturating_add(extra.triples);
        }
        size
    }

    /// Completes the message.
    fn end(&mut self, sums: Sums) {
        self.messages += 1;
        self.empty += u64::from(sums.records == 0);
        self.sizes.add(sums.records);
        let open = self.counting.open.take();
        if self.kind == RecordKind::Results {
            return;
        }
        if self.kind == RecordKind::Patches {
            self.adds.add(sums.adds);
            self.deletes.add(sums.deletes);
        }
        if sums.default_graph && !self.default_graph {
            self.default_graph = true;
            self.counting.log.add(DEFAULT_GRAPH, bits::GRAPH);
        }
        let mut counts = self.counting.counts;
        let mut statements = sums.statements;
        if let Some(open) = open {
            for (series, count) in counts.iter_mut().enumerate() {
                *count = open.terms.count(1 << series).value;
            }
            statements = estimate_statements(&open, &sums);
            self.approximate += u64::from(!open.terms.is_exact() || !open.quads.is_exact());
        }
        counts[bits::GRAPH.trailing_zeros() as usize] += u64::from(sums.default_graph);
        for (series, count) in self.series.iter_mut().zip(counts) {
            series.add(count);
        }
        self.statement_series.add(statements);
        self.controls.add(sums.controls);
        self.triples.add(sums.triples);
        let delimiter = if self.plain { 0 } else { DELIMITER_BYTES };
        let bytes = sums.bytes.saturating_add(delimiter);
        self.bytes.add(bytes);
        self.density.add(bytes, sums.statements);
    }

    /// Adds the counts by slot to the totals.
    fn end_batch(&mut self, table: &TermTable) {
        let slots = &mut self.terms.slots;
        if !self.terms.triples.is_empty() {
            for slot in (0..slots.len()).rev() {
                let (kind, count, aux) = (slots[slot].kind, slots[slot].count, slots[slot].aux);
                if kind == bits::TRIPLE && count > 0 {
                    for part in self.terms.triples[aux as usize] {
                        let slot_entry = &mut slots[part as usize]; // every part has a slot
                        slot_entry.count = slot_entry.count.saturating_add(count);
                    }
                }
            }
        }
        self.numbers.clear();
        self.numbers.resize(slots.len(), 0);
        let mut cache = NamespaceCache::default();
        for slot in slots.iter().filter(|slot| slot.count > 0) {
            let all = &mut self.occurrences;
            let count = slot.count;
            match slot.kind {
                bits::IRI => {
                    all.iris += count;
                    cache.add(&mut self.namespaces, table.text(slot.term), count);
                }
                bits::BNODE => all.blank_nodes += count,
                bits::TRIPLE => all.quoted_triples += count,
                kind if kind & bits::SIMPLE != 0 => all.simple_literals += count,
                kind => {
                    if kind & bits::TYPED != 0 {
                        all.datatype_literals += count;
                    } else {
                        all.language_literals += count;
                        if table.term(slot.term).flags & (flags::LTR | flags::RTL) != 0 {
                            all.directed_literals += count;
                        }
                    }
                    let number = &mut self.numbers[slot.aux as usize];
                    if *number == 0 {
                        self.aux_order.push(slot.aux);
                    }
                    *number += count;
                }
            }
        }
        for slot in self.aux_order.drain(..) {
            let slot_entry = &slots[slot as usize];
            let names = match table.term(slot_entry.term).kind {
                TermKind::Language => &mut self.languages,
                _ => &mut self.datatypes,
            };
            names.add(table.text(slot_entry.term), self.numbers[slot as usize]);
        }
        for slot in self.predicate_order.drain(..) {
            let slot = &slots[slot as usize];
            if slot.kind == bits::IRI {
                self.predicates
                    .add(table.text(slot.term), u64::from(slot.as_predicate));
            }
        }
        for slot in self.type_order.drain(..) {
            let slot = &slots[slot as usize];
            if slot.kind == bits::IRI {
                self.types
                    .add(table.text(slot.term), u64::from(slot.as_type));
            }
        }
    }

    /// The statistics of the messages so far, with the `top` most frequent names in each list.
    pub fn report(&self, top: usize) -> Report {
        let is = |kind| self.kind == kind;
        let unique = |series: u16| match series {
            // Messages do not share blank nodes.
            bits::BNODE if is(RecordKind::Messages) => {
                Estimate::exact(self.series[series.trailing_zeros() as usize].report().sum)
            }
            bits::DATATYPE if self.datatypes.is_complete() => {
                Estimate::exact(self.datatypes.len() as u64)
            }
            _ => self.counting.log.count(series),
        };
        let terms = self
            .series
            .iter()
            .enumerate()
            .map(|(number, series)| DistinctTerms {
                series: series.report(),
                unique: unique(1 << number),
            });
        let occurrences = &self.occurrences;
        let plain = occurrences.language_literals - occurrences.directed_literals;
        let built_in = [
            (XSD_STRING, occurrences.simple_literals),
            (LANG_STRING, plain),
            (DIRECTED_STRING, occurrences.directed_literals),
        ];
        let codes = OperationCode::ALL.into_iter();
        Report {
            messages: self.messages,
            empty_messages: self.empty,
            approximate_messages: self.approximate,
            sizes: self.sizes.report(),
            bytes: is(RecordKind::Messages).then(|| self.bytes.report()),
            adds: is(RecordKind::Patches).then(|| self.adds.report()),
            deletes: is(RecordKind::Patches).then(|| self.deletes.report()),
            operations: codes
                .map(|code| (code, self.operations[code as usize]))
                .filter(|(_, count)| *count > 0)
                .collect(),
            variables: self.variables.report(),
            terms: terms.collect(),
            statements: self.statement_series.report(),
            controls: self.controls.report(),
            triples: self.triples.report(),
            density: self.density.report(),
            occurrences: self.occurrences,
            datatypes: self.datatypes.report_with(&built_in, top),
            languages: self.languages.report(top),
            predicates: self.predicates.report(top),
            types: self.types.report(top),
            namespaces: self.namespaces.report(top),
        }
    }
}

impl Mergeable for Statistics {
    fn write(&self, out: &mut Writer) {
        out.write_number(self.kind as u64);
        [self.messages, self.empty, self.approximate].write(out);
        for sizes in [&self.sizes, &self.bytes, &self.adds, &self.deletes] {
            sizes.write(out);
        }
        self.operations.write(out);
        self.variables.write(out);
        self.series.write(out);
        for series in [&self.statement_series, &self.controls, &self.triples] {
            series.write(out);
        }
        self.density.write(out);
        self.occurrences.write(out);
        for names in [
            &self.datatypes,
            &self.languages,
            &self.predicates,
            &self.types,
            &self.namespaces,
        ] {
            names.write(out);
        }
        self.counting.log.write(out);
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        let kind = match input.read_number()? {
            0 => RecordKind::Messages,
            1 => RecordKind::Patches,
            2 => RecordKind::Results,
            _ => return Err(Unreadable),
        };
        if self.messages == 0 {
            self.kind = kind;
        }
        for number in [&mut self.messages, &mut self.empty, &mut self.approximate] {
            number.merge(input)?;
        }
        for sizes in [
            &mut self.sizes,
            &mut self.bytes,
            &mut self.adds,
            &mut self.deletes,
        ] {
            sizes.merge(input)?;
        }
        self.operations.merge(input)?;
        self.variables.merge(input)?;
        self.series.merge(input)?;
        for series in [
            &mut self.statement_series,
            &mut self.controls,
            &mut self.triples,
        ] {
            series.merge(input)?;
        }
        self.density.merge(input)?;
        self.occurrences.merge(input)?;
        for names in [
            &mut self.datatypes,
            &mut self.languages,
            &mut self.predicates,
            &mut self.types,
            &mut self.namespaces,
        ] {
            names.merge(input)?;
        }
        self.counting.log.merge(input)
    }
}

/// Number of distinct quads in a message that arrived in parts. This is the counted number, unless
/// the estimate shows that many repetitions were not detected.
fn estimate_statements(open: &OpenMessage, sums: &Sums) -> u64 {
    let estimate = open.quads.count(bits::STATEMENT);
    if open.quads.is_exact() || (estimate.lower..=estimate.upper).contains(&sums.statements) {
        sums.statements
    } else {
        estimate.value.min(sums.statements)
    }
}

/// Number of cached namespaces per batch.
const CACHED_NAMESPACES: usize = 64;

/// Cache of a batch's namespaces and the slots in which they are counted.
struct NamespaceCache<'a>([(&'a [u8], u32); CACHED_NAMESPACES]);

impl Default for NamespaceCache<'_> {
    fn default() -> Self {
        Self([(&[], u32::MAX); CACHED_NAMESPACES])
    }
}

impl<'a> NamespaceCache<'a> {
    #[inline]
    fn add(&mut self, names: &mut Names, iri: &'a [u8], count: u64) {
        let namespace = namespace(iri);
        let mut key = namespace.len();
        if let Some([.., one, other, _]) = namespace.get(..) {
            key ^= (usize::from(*one) << 2) ^ (usize::from(*other) * 5);
        }
        let cached = &mut self.0[key % CACHED_NAMESPACES];
        if cached.0 != namespace || namespace.is_empty() {
            *cached = (namespace, names.find_or_add_slot(namespace));
        }
        names.count(cached.1, count);
    }
}

/// An IRI up to its last `#` or `/`, or up to its last `:` if it has neither.
fn namespace(iri: &[u8]) -> &[u8] {
    let end = memrchr2(b'#', b'/', iri).or_else(|| memrchr(b':', iri));
    &iri[..end.map_or(iri.len(), |index| index + 1)]
}

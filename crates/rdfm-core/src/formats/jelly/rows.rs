//! Rows to terms and quads: the state of a log being read, row by row.
//!
//! - In: the payload of one row ([`Rows::row`]), and metadata entries.
//! - Out: quads, namespaces and metadata in the [`BatchBuilder`].
//! - Cost: an IRI seen before in the batch is one load and two comparisons; nothing is hashed.
//! - Law: what the specification calls an error is one; terms are taken in the order
//!   subject, predicate, object, graph, in whatever order the fields stand.

use std::borrow::Cow;
use std::collections::HashMap;

use super::lookup::{Budget, Table};
use super::options::{JellyOptions, MAX_VERSION, MIN_NAME_TABLE, PhysicalType, Reading};
use super::owned::OwnedTerm;
use crate::model::builder::BatchBuilder;
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::Reason;
use crate::model::term::{NO_SPLIT, Quad, Term, TermId, TermKind, XSD_STRING, flags};
use crate::syntax::text::scan;
use crate::syntax::wire::{
    Checked, LENGTH, VARINT, Wire, WireError, invalid_utf8, limit, malformed, put_bytes,
    put_varint, utf8,
};

/// Names of the row's fields, by number.
const ROWS: [&str; 12] = [
    "",
    "options",
    "triple",
    "quad",
    "graph_start",
    "graph_end",
    "namespace",
    "",
    "",
    "name",
    "prefix",
    "datatype",
];
/// Their numbers as a set.
const ROW_FIELDS: u32 = 0b1110_0111_1110;
/// The fields of a triple and of a quad.
const TRIPLE_FIELDS: u32 = (1 << 13) - 2;
const QUAD_FIELDS: u32 = (1 << 17) - 2;
const POSITIONS: [&str; 4] = ["subject", "predicate", "object", "graph"];
/// The graph's place among the positions.
const GRAPH: usize = 3;
/// Language tags remembered, and the longest of them.
const LANGUAGES: usize = 16;
const LANGUAGE_BYTES: usize = 64;

/// Reader's limits on what the options may declare.
pub(super) struct TableLimits {
    name: u32,
    prefix: u32,
    datatype: u32,
}

/// A term's field and its bytes; field 0 is a repeated term.
#[derive(Clone, Copy, Default)]
struct Slot<'a> {
    field: usize,
    bytes: &'a [u8],
}

/// A language tag as it stands in the log, and what it became.
struct Language {
    tag: Vec<u8>,
    batch: u32,
    term: TermId,
    direction: u8,
}

/// The state of a log.
pub(super) struct Rows {
    pub builder: BatchBuilder,
    pub options: Option<JellyOptions>,
    table_limits: TableLimits,
    budget: Budget,
    names: Table,
    prefixes: Table,
    datatypes: Table,
    last_name: u32,
    last_prefix: u32,
    /// Terms of the statement before, and the open graph: ids in the batch where `live` has the bit,
    /// otherwise to be added from `kept`.
    last: [TermId; 4],
    live: u8,
    kept: [Option<OwnedTerm>; 4],
    /// The positions that a statement must have, given or repeated.
    required: u8,
    in_graph: bool,
    physical: PhysicalType,
    forbids_triple_terms: bool,
    max_depth: u32,
    languages: Vec<Language>,
    next_language: usize,
    metadata: Vec<(Box<str>, Box<[u8]>)>,
    metadata_keys: HashMap<Box<str>, usize>,
}

impl Rows {
    pub fn new(options: &Reading) -> Self {
        Self {
            builder: BatchBuilder::new(options.limits.clone()),
            options: None,
            table_limits: TableLimits {
                name: options.max_name_table,
                prefix: options.max_prefix_table,
                datatype: options.max_datatype_table,
            },
            budget: Budget::new(options.limits.max_message_bytes),
            names: Table::new("name", 0),
            prefixes: Table::new("prefix", 0),
            datatypes: Table::new("datatype", 0),
            last_name: 0,
            last_prefix: 0,
            last: [TermId::DEFAULT_GRAPH; 4],
            live: 0,
            kept: [const { None }; 4],
            required: 0,
            in_graph: false,
            physical: PhysicalType::Triples,
            forbids_triple_terms: false,
            max_depth: options.limits.max_depth,
            languages: Vec::new(),
            next_language: 0,
            metadata: Vec::new(),
            metadata_keys: HashMap::new(),
        }
    }

    /// Goes to the start of another log, where the builder is already.
    pub fn reset(&mut self) {
        self.options = None;
        self.budget.reset();
        self.names.reset(0);
        self.prefixes.reset(0);
        self.datatypes.reset(0);
        self.last_name = 0;
        self.last_prefix = 0;
        self.last = [TermId::DEFAULT_GRAPH; 4];
        self.live = 0;
        self.kept = [const { None }; 4];
        self.required = 0;
        self.in_graph = false;
        self.physical = PhysicalType::Triples;
        self.forbids_triple_terms = false;
        self.languages.clear();
        self.next_language = 0;
        self.metadata.clear();
        self.metadata_keys.clear();
    }

    /// Makes the terms that a later statement may repeat independent of the batch, which ends.
    pub fn end_batch(&mut self) {
        for position in 0..4 {
            if self.live >> position & 1 == 1 {
                self.kept[position] =
                    Some(OwnedTerm::new(self.builder.table(), self.last[position]));
            }
        }
        self.live = 0;
    }

    /// Takes a metadata entry of the open frame; the last of equal keys counts.
    pub fn metadata_entry(&mut self, bytes: &[u8]) -> Checked<()> {
        let (key, value) = key_and_value(bytes)?;
        self.builder.charge(key.len() + value.len() + 128)?;
        if let Some(&at) = self.metadata_keys.get(key) {
            self.metadata[at].1 = value.into();
        } else {
            self.metadata_keys.insert(key.into(), self.metadata.len());
            self.metadata.push((key.into(), value.into()));
        }
        Ok(())
    }

    /// Checks a metadata entry that is not taken here.
    pub fn check_metadata(bytes: &[u8]) -> Checked<()> {
        key_and_value(bytes).map(|_| ())
    }

    /// Ends a frame: its metadata goes to the open message.
    pub fn end_frame(&mut self) -> Checked<()> {
        if self.metadata.is_empty() {
            return Ok(());
        }
        self.metadata_keys.clear();
        for (key, value) in std::mem::take(&mut self.metadata) {
            self.builder.add_metadata(&key, &value)?;
        }
        Ok(())
    }

    /// Takes a row.
    #[inline]
    pub fn row(&mut self, bytes: &[u8]) -> Checked<()> {
        let mut wire = Wire::new(bytes);
        // Nearly always the row is one field.
        if let Ok((field, payload)) = wire.field(ROW_FIELDS, "the row")
            && wire.is_done()
        {
            return self.typed_row(field, payload);
        }
        self.odd_row(bytes)
    }

    #[cold]
    fn odd_row(&mut self, bytes: &[u8]) -> Checked<()> {
        let (row, payload) = row_field(bytes)?;
        self.typed_row(row, &payload)
    }

    #[inline]
    fn typed_row(&mut self, field: usize, payload: &[u8]) -> Checked<()> {
        if self.options.is_none() && field != 1 {
            return Err(before_options(field));
        }
        match field {
            2 if self.physical != PhysicalType::Quads => {
                if self.physical == PhysicalType::Graphs && !self.in_graph {
                    return Err(malformed("a triple stands outside a graph"));
                }
                self.statement(payload, TRIPLE_FIELDS)
            }
            3 if self.physical == PhysicalType::Quads => self.statement(payload, QUAD_FIELDS),
            9 => {
                let (id, value) = entry(payload)?;
                let flags = scan::iri(value).ok_or_else(|| invalid_utf8(value, "a name"))?;
                self.names.set(id, value, flags, &mut self.budget)
            }
            10 => {
                let (id, value) = entry(payload)?;
                let flags = scan::iri(value).ok_or_else(|| invalid_utf8(value, "a prefix"))?;
                self.prefixes.set(id, value, flags, &mut self.budget)
            }
            11 => {
                let (id, value) = entry(payload)?;
                let flags = scan::iri(value).ok_or_else(|| invalid_utf8(value, "a datatype"))?;
                self.datatypes.set(id, value, flags, &mut self.budget)
            }
            1 => self.stream_options(payload),
            4 if self.physical == PhysicalType::Graphs => self.graph_start(payload),
            5 if self.physical == PhysicalType::Graphs => self.graph_end(payload),
            6 => self.namespace(payload),
            2..=5 => Err(malformed(format!(
                "a {} row in a log of physical type {}",
                ROWS[field],
                self.physical.name()
            ))),
            _ => Err(malformed(
                "the row is empty; exactly one of its fields must be set",
            )),
        }
    }

    fn stream_options(&mut self, bytes: &[u8]) -> Checked<()> {
        let (options, physical) = parse_options(bytes)?;
        if let Some(first) = &self.options {
            if *first == options && physical == self.physical as u32 {
                return Ok(());
            }
            return Err(malformed(
                "the stream options differ from those at the start of the log",
            ));
        }
        if options.version == 0 {
            return Err(malformed("the version is 0 or missing, expected 1 or 2"));
        }
        if options.version > MAX_VERSION {
            return Err(WireError::new(
                ErrorClass::Unsupported,
                format!(
                    "version {} is newer than {MAX_VERSION}, the newest that rdfm reads",
                    options.version
                ),
            ));
        }
        self.physical = PhysicalType::from_number(physical).ok_or_else(|| {
            malformed(format!(
                "physical type {physical} is not allowed, expected 1 (TRIPLES), 2 (QUADS) or 3 (GRAPHS)"
            ))
        })?;
        if options.name_table < MIN_NAME_TABLE {
            return Err(malformed(format!(
                "the name table has {} entries, expected {MIN_NAME_TABLE} or more",
                options.name_table
            )));
        }
        for (what, option, size, most) in [
            (
                "name",
                "max_name_table",
                options.name_table,
                self.table_limits.name,
            ),
            (
                "prefix",
                "max_prefix_table",
                options.prefix_table,
                self.table_limits.prefix,
            ),
            (
                "datatype",
                "max_datatype_table",
                options.datatype_table,
                self.table_limits.datatype,
            ),
        ] {
            if size > most {
                return Err(limit(Reason::limit(
                    format!("the {what} table of {size} entries is larger than {most}"),
                    option,
                )));
            }
        }
        options.check_types().map_err(malformed)?;
        self.names.reset(options.name_table);
        self.prefixes.reset(options.prefix_table);
        self.datatypes.reset(options.datatype_table);
        // The option for generalized statements binds writers only: Jelly-JVM's own files have such
        // without it.
        self.forbids_triple_terms = !options.rdf_star;
        self.required = if self.physical == PhysicalType::Triples {
            0b0111
        } else {
            0b1111
        };
        self.options = Some(options);
        Ok(())
    }

    /// A triple or quad row.
    #[inline]
    fn statement(&mut self, bytes: &[u8], fields: u32) -> Checked<()> {
        let iri_state = (self.last_prefix, self.last_name);
        let ids = if self.required & !self.live == 0
            && let Ok(Some(ids)) = self.direct(bytes, fields)
        {
            ids
        } else {
            (self.last_prefix, self.last_name) = iri_state;
            self.odd_statement(bytes, fields)?
        };
        self.builder.add_quad(Quad {
            subject: ids[0],
            predicate: ids[1],
            object: ids[2],
            graph: ids[GRAPH],
        })?;
        Ok(())
    }

    /// The terms of a statement whose fields stand in order, as writers write them, and where what
    /// they leave out is in the batch; None or an error where they may not.
    #[inline]
    fn direct(&mut self, bytes: &[u8], fields: u32) -> Checked<Option<[TermId; 4]>> {
        let mut wire = Wire::new(bytes);
        // Without a loop, and by nothing that takes their address, so that the ids stay in registers.
        let subject = self.in_order::<0>(&mut wire, fields)?;
        let predicate = self.in_order::<1>(&mut wire, fields)?;
        let object = self.in_order::<2>(&mut wire, fields)?;
        let graph = self.in_order::<GRAPH>(&mut wire, fields)?;
        if !wire.is_done() {
            return Ok(None);
        }
        self.last = [subject, predicate, object, graph];
        Ok(Some([subject, predicate, object, graph]))
    }

    /// The term at a position if it comes next, otherwise the last one there.
    #[inline(always)]
    #[allow(clippy::inline_always)] // four calls a statement
    fn in_order<const POSITION: usize>(
        &mut self,
        wire: &mut Wire<'_>,
        fields: u32,
    ) -> Checked<TermId> {
        let fields = fields & (0b1_1110 << (4 * POSITION));
        if !wire.next_is(fields) {
            return Ok(self.last[POSITION]);
        }
        let (field, bytes) = wire.field(fields, "the statement")?;
        if field == 4 * POSITION + 1 {
            self.iri(bytes)
        } else {
            self.term(Slot { field, bytes }, 0)
        }
    }

    /// As [`direct`](Self::direct), for fields in any order, and for terms repeated from an earlier batch.
    #[cold]
    fn odd_statement(&mut self, bytes: &[u8], fields: u32) -> Checked<[TermId; 4]> {
        let Some(slots) = positions(bytes, fields)? else {
            self.builder.charge(bytes.len())?;
            return self.odd_statement(&normalized(bytes, fields)?, fields);
        };
        let mut ids = self.last;
        let mut given = 0;
        for (position, slot) in slots.into_iter().enumerate() {
            if slot.field != 0 {
                ids[position] = self.term(slot, 0)?;
                given |= 1 << position;
            }
        }
        self.repeat_from_kept(&mut ids, self.required & !(given | self.live))?;
        self.last = ids;
        self.live |= given;
        Ok(ids)
    }

    #[cold]
    fn repeat_from_kept(&mut self, ids: &mut [TermId; 4], missing: u8) -> Checked<()> {
        for (position, id) in ids.iter_mut().enumerate() {
            if missing >> position & 1 == 0 {
                continue;
            }
            let Some(term) = &self.kept[position] else {
                return Err(malformed(format!(
                    "the first statement leaves out its {}; there is none before it to repeat",
                    POSITIONS[position]
                )));
            };
            *id = term.add(&mut self.builder)?;
            self.live |= 1 << position;
        }
        Ok(())
    }

    /// A term by its field of a quad; `depth` triple terms are around it.
    #[inline]
    fn term(&mut self, slot: Slot<'_>, depth: u32) -> Checked<TermId> {
        match slot.field {
            1 | 5 | 9 | 13 => self.iri(slot.bytes),
            2 | 6 | 10 | 14 => self.bnode(slot.bytes),
            3 | 7 | 11 | 16 => self.literal(slot.bytes),
            15 => default_graph(slot.bytes),
            _ => self.triple_term(slot.bytes, depth + 1),
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the hottest term: nearly always one load and two comparisons
    fn iri(&mut self, bytes: &[u8]) -> Checked<TermId> {
        let (prefix, name) = iri_ids(bytes)?;
        self.next_iri(prefix, name);
        // An entry that was not set has no batch.
        if let Some(prefix) = self.prefixes.peek(self.last_prefix)
            && let Some(name) = self.names.peek(self.last_name)
            && name.batch == self.builder.serial()
            && name.prefix == prefix.serial
        {
            return Ok(name.term);
        }
        self.new_iri()
    }

    /// Adds the last IRI to the batch, and notes its term with the name.
    #[inline(never)]
    fn new_iri(&mut self) -> Checked<TermId> {
        let prefix = self.prefixes.get(self.last_prefix)?;
        let name = self.names.get_mut(self.last_name)?;
        let (head, tail) = (prefix.text.len(), name.text.len());
        self.builder.charge(head + tail)?;
        let offset = self.builder.append_text(&prefix.text);
        self.builder.append_text(&name.text);
        let term = self.builder.add_term(Term {
            offset,
            length: (head + tail) as u32,
            aux: 0,
            split: u16::try_from(head).unwrap_or(NO_SPLIT),
            kind: TermKind::Iri,
            flags: prefix.flags & name.flags,
        })?;
        name.batch = self.builder.serial();
        name.prefix = prefix.serial;
        name.term = term;
        Ok(term)
    }

    /// Prefix 0 is the last one, name 0 the one after the last.
    #[inline]
    fn next_iri(&mut self, prefix: u32, name: u32) {
        if prefix != 0 {
            self.last_prefix = prefix;
        }
        self.last_name = if name == 0 {
            self.last_name.saturating_add(1)
        } else {
            name
        };
    }

    #[inline]
    fn bnode(&mut self, bytes: &[u8]) -> Checked<TermId> {
        let flags = scan::label(bytes).ok_or_else(|| invalid_utf8(bytes, "a blank node label"))?;
        Ok(self.builder.add_simple(TermKind::Bnode, bytes, flags)?)
    }

    #[inline]
    fn literal(&mut self, bytes: &[u8]) -> Checked<TermId> {
        let (lexical, literal) = literal_fields(bytes)?;
        let flags =
            scan::lexical(lexical).ok_or_else(|| invalid_utf8(lexical, "a lexical form"))?;
        let (kind, aux, flags) = match literal {
            LiteralKind::Typed(id) => {
                let (kind, aux) = self.datatype(id)?;
                (kind, aux, flags)
            }
            LiteralKind::Language(tag) => {
                let (language, direction) = self.language(tag)?;
                (TermKind::LangLiteral, language, flags | direction)
            }
            LiteralKind::Plain => (TermKind::Literal, TermId(0), flags),
        };
        Ok(self.builder.add_with_aux(kind, lexical, aux.0, flags)?)
    }

    #[inline]
    fn datatype(&mut self, id: u32) -> Checked<(TermKind, TermId)> {
        if id == 0 {
            return Err(malformed(
                "datatype 0 is not allowed in a literal; ids count from 1",
            ));
        }
        let entry = self.datatypes.get_mut(id)?;
        let batch = self.builder.serial();
        if entry.batch != batch {
            // xsd:string literals have a kind of their own, and no datatype term.
            entry.term = if entry.text == XSD_STRING {
                TermId::DEFAULT_GRAPH
            } else {
                self.builder
                    .add_simple(TermKind::Iri, &entry.text, entry.flags)?
            };
            entry.batch = batch;
        }
        let kind = if entry.term == TermId::DEFAULT_GRAPH {
            TermKind::Literal
        } else {
            TermKind::TypedLiteral
        };
        Ok((kind, entry.term))
    }

    /// The language's term, and the direction's flag.
    fn language(&mut self, tag: &[u8]) -> Checked<(TermId, u8)> {
        let batch = self.builder.serial();
        for known in &self.languages {
            if known.batch == batch && known.tag == tag {
                return Ok((known.term, known.direction));
            }
        }
        let (text, direction) = if let Some(text) = tag.strip_suffix(b"--ltr") {
            (text, flags::LTR)
        } else if let Some(text) = tag.strip_suffix(b"--rtl") {
            (text, flags::RTL)
        } else {
            (tag, 0)
        };
        let plain = scan::language(text).ok_or_else(|| invalid_utf8(tag, "a language tag"))?;
        let term = self.builder.add_simple(TermKind::Language, text, plain)?;
        if tag.len() <= LANGUAGE_BYTES {
            let entry = Language {
                tag: tag.to_vec(),
                batch,
                term,
                direction,
            };
            if self.languages.len() < LANGUAGES {
                self.languages.push(entry);
            } else {
                self.languages[self.next_language] = entry;
                self.next_language = (self.next_language + 1) % LANGUAGES;
            }
        }
        Ok((term, direction))
    }

    fn triple_term(&mut self, bytes: &[u8], depth: u32) -> Checked<TermId> {
        if depth > self.max_depth {
            return Err(limit(Reason::limit(
                format!(
                    "triple terms are nested deeper than {} levels",
                    self.max_depth
                ),
                "max_depth",
            )));
        }
        if self.forbids_triple_terms {
            return Err(malformed(
                "a triple term, but the stream options say rdf_star = false",
            ));
        }
        let Some(slots) = positions(bytes, TRIPLE_FIELDS)? else {
            // Every level around this one may hold such a copy.
            self.builder.charge(bytes.len())?;
            return self.triple_term(&normalized(bytes, TRIPLE_FIELDS)?, depth);
        };
        let mut ids = [TermId::DEFAULT_GRAPH; 3];
        for position in 0..3 {
            if slots[position].field == 0 {
                return Err(malformed(format!(
                    "a triple term leaves out its {}; terms cannot be repeated there",
                    POSITIONS[position]
                )));
            }
            ids[position] = self.term(slots[position], depth)?;
        }
        Ok(self.builder.add_triple_term(ids)?)
    }

    fn graph_start(&mut self, bytes: &[u8]) -> Checked<()> {
        if self.in_graph {
            return Err(malformed("a graph starts inside another graph"));
        }
        let mut slot = Slot::default();
        let mut merged = Vec::new();
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            let (field, payload) = wire.field(0b11110, "the graph start")?;
            if field == 0 {
                continue;
            }
            if field != slot.field || field == 2 {
                merged.clear();
            }
            slot.field = field;
            merged.extend_from_slice(payload);
        }
        if slot.field == 0 {
            return Err(malformed(
                "a graph start without a graph; terms cannot be repeated there",
            ));
        }
        slot.field += 12;
        slot.bytes = &merged;
        self.last[GRAPH] = self.term(slot, 0)?;
        self.live |= 1 << GRAPH;
        self.in_graph = true;
        Ok(())
    }

    fn graph_end(&mut self, bytes: &[u8]) -> Checked<()> {
        skip_all(bytes)?;
        if !self.in_graph {
            return Err(malformed("a graph ends where none has started"));
        }
        self.in_graph = false;
        Ok(())
    }

    fn namespace(&mut self, bytes: &[u8]) -> Checked<()> {
        let mut name = &[][..];
        let mut value: Option<Vec<u8>> = None;
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            match wire.field(0b110, "the namespace declaration")? {
                (1, payload) => name = payload,
                (2, payload) => value.get_or_insert_default().extend_from_slice(payload),
                _ => {}
            }
        }
        let name = utf8(name, "a namespace's name")?;
        let Some(value) = value else {
            return Err(malformed(format!(
                "the namespace declaration of {} has no IRI",
                quote(name.as_bytes())
            )));
        };
        let (prefix, local) = iri_ids(&value)?;
        self.next_iri(prefix, local);
        let prefix = self.prefixes.get(self.last_prefix)?;
        let local = self.names.get(self.last_name)?;
        let iri = [prefix.text.as_slice(), &local.text].concat();
        self.builder.add_namespace(name.as_bytes(), &iri)?;
        Ok(())
    }
}

#[cold]
fn before_options(field: usize) -> WireError {
    if field == 0 {
        return malformed("the row is empty; exactly one of its fields must be set");
    }
    malformed(format!(
        "the log begins with a {} row, expected the stream options",
        ROWS[field]
    ))
}

/// The fields of a statement by position, or None where fields must be merged first.
#[inline]
fn positions(bytes: &[u8], fields: u32) -> Checked<Option<[Slot<'_>; 4]>> {
    let mut slots = [Slot::default(); 4];
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, payload) = wire.field(fields, "the statement")?;
        if field == 0 {
            continue;
        }
        let slot = &mut slots[((field - 1) / 4) & 3];
        if slot.field == field && is_message(field) {
            return Ok(None);
        }
        *slot = Slot {
            field,
            bytes: payload,
        };
    }
    Ok(Some(slots))
}

/// Whether a term's field is a message, which protobuf merges, or a string, which it replaces.
const fn is_message(field: usize) -> bool {
    (field - 1) & 3 != 1
}

/// A statement whose repeated fields are merged as protobuf says.
#[cold]
fn normalized(bytes: &[u8], fields: u32) -> Checked<Vec<u8>> {
    let mut slots: [(usize, Vec<u8>); 4] = Default::default();
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, payload) = wire.field(fields, "the statement")?;
        if field == 0 {
            continue;
        }
        let slot = &mut slots[((field - 1) / 4) & 3];
        if slot.0 != field || !is_message(field) {
            slot.1.clear();
        }
        slot.0 = field;
        slot.1.extend_from_slice(payload);
    }
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for (field, payload) in slots {
        if field == 16 {
            put_varint(&mut out, 16 << 3 | u64::from(LENGTH));
            put_varint(&mut out, payload.len() as u64);
            out.extend_from_slice(&payload);
        } else if field != 0 {
            put_bytes(&mut out, (field as u8) << 3 | LENGTH, &payload);
        }
    }
    Ok(out)
}

/// Prefix and name id of an IRI, as they stand.
#[inline]
fn iri_ids(bytes: &[u8]) -> Checked<(u32, u32)> {
    match *bytes {
        [] => return Ok((0, 0)),
        [0x10, name] if name < 0x80 => return Ok((0, u32::from(name))),
        [0x08, prefix] if prefix < 0x80 => return Ok((u32::from(prefix), 0)),
        [0x10, low, high] if low >= 0x80 && high < 0x80 => {
            return Ok((0, u32::from(low & 0x7f) | u32::from(high) << 7));
        }
        [0x08, prefix, 0x10, name] if prefix < 0x80 && name < 0x80 => {
            return Ok((u32::from(prefix), u32::from(name)));
        }
        [0x08, prefix, 0x10, low, high] if prefix < 0x80 && low >= 0x80 && high < 0x80 => {
            let name = u32::from(low & 0x7f) | u32::from(high) << 7;
            return Ok((u32::from(prefix), name));
        }
        _ => {}
    }
    any_iri_ids(bytes)
}

#[inline(never)]
fn any_iri_ids(bytes: &[u8]) -> Checked<(u32, u32)> {
    let (mut prefix, mut name) = (0, 0);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.tag()? {
            (1, VARINT) => prefix = wire.varint32()?,
            (2, VARINT) => name = wire.varint32()?,
            (field @ 1..=2, kind) => Wire::expect(kind, VARINT, field, "the IRI")?,
            (field, kind) => wire.skip(field, kind)?,
        }
    }
    Ok((prefix, name))
}

/// What a literal is beside its lexical form.
enum LiteralKind<'a> {
    Plain,
    Language(&'a [u8]),
    Typed(u32),
}

/// Lexical form and kind of a literal.
#[inline]
fn literal_fields(bytes: &[u8]) -> Checked<(&[u8], LiteralKind<'_>)> {
    if let [0x0a, length, rest @ ..] = bytes
        && *length < 0x80
        && let Some((lexical, rest)) = rest.split_at_checked(*length as usize)
    {
        match rest {
            [] => return Ok((lexical, LiteralKind::Plain)),
            [0x18, datatype] if *datatype < 0x80 => {
                return Ok((lexical, LiteralKind::Typed(u32::from(*datatype))));
            }
            _ => {}
        }
    }
    any_literal_fields(bytes)
}

#[inline(never)]
fn any_literal_fields(bytes: &[u8]) -> Checked<(&[u8], LiteralKind<'_>)> {
    let mut lexical = &[][..];
    let mut literal = LiteralKind::Plain;
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.tag()? {
            (1, LENGTH) => lexical = wire.bytes()?,
            (2, LENGTH) => literal = LiteralKind::Language(wire.bytes()?),
            (3, VARINT) => literal = LiteralKind::Typed(wire.varint32()?),
            (field @ 1..=3, kind) => {
                let expected = if field == 3 { VARINT } else { LENGTH };
                Wire::expect(kind, expected, field, "the literal")?;
            }
            (field, kind) => wire.skip(field, kind)?,
        }
    }
    Ok((lexical, literal))
}

/// Id and value of a lookup entry.
#[inline]
fn entry(bytes: &[u8]) -> Checked<(u32, &[u8])> {
    if let [0x12, length, value @ ..] = bytes
        && *length < 0x80
        && value.len() == *length as usize
    {
        return Ok((0, value));
    }
    any_entry(bytes)
}

#[inline(never)]
fn any_entry(bytes: &[u8]) -> Checked<(u32, &[u8])> {
    let (mut id, mut value) = (0, &[][..]);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.tag()? {
            (1, VARINT) => id = wire.varint32()?,
            (2, LENGTH) => value = wire.bytes()?,
            (field @ 1..=2, kind) => {
                let expected = if field == 1 { VARINT } else { LENGTH };
                Wire::expect(kind, expected, field, "the lookup entry")?;
            }
            (field, kind) => wire.skip(field, kind)?,
        }
    }
    Ok((id, value))
}

/// The default graph has no fields; those of a later version are skipped.
#[inline]
fn default_graph(bytes: &[u8]) -> Checked<TermId> {
    if !bytes.is_empty() {
        skip_all(bytes)?;
    }
    Ok(TermId::DEFAULT_GRAPH)
}

#[cold]
fn skip_all(bytes: &[u8]) -> Checked<()> {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, kind) = wire.tag()?;
        wire.skip(field, kind)?;
    }
    Ok(())
}

/// The options as they stand, and the number of the physical type.
fn parse_options(bytes: &[u8]) -> Checked<(JellyOptions, u32)> {
    let mut options = JellyOptions {
        stream_name: String::new(),
        physical_type: PhysicalType::Triples,
        logical_type: 0,
        generalized: false,
        rdf_star: false,
        name_table: 0,
        prefix_table: 0,
        datatype_table: 0,
        version: 0,
    };
    let mut physical = 0;
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, kind) = wire.tag()?;
        let expected = match field {
            1 => LENGTH,
            2..=4 | 9..=11 | 14 | 15 => VARINT,
            _ => {
                wire.skip(field, kind)?;
                continue;
            }
        };
        Wire::expect(kind, expected, field, "the stream options")?;
        match field {
            1 => utf8(wire.bytes()?, "the stream name")?.clone_into(&mut options.stream_name),
            2 => physical = wire.varint32()?,
            3 => options.generalized = wire.varint()? != 0,
            4 => options.rdf_star = wire.varint()? != 0,
            9 => options.name_table = wire.varint32()?,
            10 => options.prefix_table = wire.varint32()?,
            11 => options.datatype_table = wire.varint32()?,
            14 => options.logical_type = wire.varint32()?,
            _ => options.version = wire.varint32()?,
        }
    }
    if let Some(known) = PhysicalType::from_number(physical) {
        options.physical_type = known;
    }
    Ok((options, physical))
}

/// What the rows of a frame say first.
pub(super) enum FirstRow {
    /// There is none.
    None,
    Options(JellyOptions),
    /// What no log may begin with: reading it tells the error.
    Other,
}

/// Looks at the first row of a frame, and reads nothing.
pub(super) fn first_row(frame: &[u8]) -> FirstRow {
    let mut wire = Wire::new(frame);
    while !wire.is_done() {
        match wire.field(1 << 1, "the frame") {
            Ok((1, row)) => {
                return match row_field(row) {
                    Ok((1, payload)) => match parse_options(&payload) {
                        Ok((options, _)) => FirstRow::Options(options),
                        Err(_) => FirstRow::Other,
                    },
                    _ => FirstRow::Other,
                };
            }
            Ok(_) => {}
            Err(_) => return FirstRow::Other,
        }
    }
    FirstRow::None
}

/// The field of a row, which may be none or several: the last one counts, equal ones in a row are merged.
fn row_field(bytes: &[u8]) -> Checked<(usize, Cow<'_, [u8]>)> {
    let mut wire = Wire::new(bytes);
    let (mut row, mut payload) = (0, Cow::Borrowed(&[][..]));
    while !wire.is_done() {
        let (field, bytes) = wire.field(ROW_FIELDS, "the row")?;
        if field == 0 {
            continue;
        }
        if field == row {
            payload.to_mut().extend_from_slice(bytes);
        } else {
            (row, payload) = (field, Cow::Borrowed(bytes));
        }
    }
    Ok((row, payload))
}

/// Key and value of a metadata entry.
fn key_and_value(bytes: &[u8]) -> Checked<(&str, &[u8])> {
    let (mut key, mut value) = (&[][..], &[][..]);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.field(0b110, "the metadata")? {
            (1, payload) => key = payload,
            (2, payload) => value = payload,
            _ => {}
        }
    }
    Ok((utf8(key, "a metadata key")?, value))
}

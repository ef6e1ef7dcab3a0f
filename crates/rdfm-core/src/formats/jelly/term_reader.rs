//! Decodes the terms and statements of a log, with its lookups and repeated terms.
//!
//! - In: the payloads of statements, terms and lookup entries.
//! - Out: ids of terms in the [`LogBuilder`].
//! - Cost: an IRI seen before in the batch takes two loads and one comparison; nothing is hashed.
//! - Law: everything that the specification calls an error is an error. Terms are decoded in the
//!   order subject, predicate, object, graph, regardless of the field order.

use super::lookup::{
    LookupBudget, LookupEntry, LookupTable, Memo, NEW_TABLES, UNKNOWN, memo_key, wrong_mark,
};
use super::options::{MAX_TABLES, MIN_NAME_TABLE, OptionsRow, ReadSettings, TableSizes};
use super::owned::OwnedTerm;
use crate::model::builder::LogBuilder;
use crate::model::chars;
use crate::model::error::format_count;
use crate::model::record::Record;
use crate::model::remedy::Reason;
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind, XSD_STRING, flags};
use crate::model::write::MessagePrefix;
use crate::syntax::text::scan::{self, Excerpt};
use crate::syntax::wire::{
    Checked, LENGTH, VARINT, Wire, invalid_utf8_error, limit, malformed_error, put_bytes,
    put_varint,
};

/// Fields of a triple and of a quad, as bit sets.
pub(super) const TRIPLE_FIELDS: u32 = (1 << 13) - 2;
pub(super) const QUAD_FIELDS: u32 = (1 << 17) - 2;
const POSITIONS: [&str; 4] = ["subject", "predicate", "object", "graph"];
/// Index of the graph in a statement.
pub(super) const GRAPH: usize = 3;
/// Number of language tags in the cache, and maximum length of each.
const CACHED_LANGUAGES: usize = 16;
const MAX_LANGUAGE_BYTES: usize = 64;

/// Field number of a term in a quad, and the bytes of the term; field 0 means a repeated term.
#[derive(Clone, Copy, Default)]
pub(super) struct TermField<'a> {
    pub field: usize,
    pub bytes: &'a [u8],
}

/// A language tag as in the log, and the term created from it.
struct CachedLanguage {
    tag: Vec<u8>,
    batch: u32,
    term: TermId,
    direction: u8,
}

/// Decodes the terms of a log.
pub(super) struct TermReader<R: Record> {
    pub builder: LogBuilder<R>,
    /// The options row of the log, once it has been read.
    pub options: Option<OptionsRow>,
    /// Number of options rows read.
    pub options_rows: u64,
    /// Whether the current frame repeats the options at its start.
    pub repeats_options: bool,
    /// Whether the next options row begins a new stream.
    pub begins_stream: bool,
    pub(super) budget: LookupBudget,
    pub(super) names: LookupTable,
    pub(super) prefixes: LookupTable,
    pub(super) datatypes: LookupTable,
    last_name: u32,
    last_prefix: u32,
    /// Terms of the previous statement, and the open graph. If the bit of a position is set in
    /// `live`, its id belongs to the batch; otherwise its term must be added from `kept`.
    pub(super) last: [TermId; 4],
    live: u8,
    kept: [Option<OwnedTerm>; 4],
    /// The positions that every statement must have, given or repeated, as a bit set.
    required: u8,
    forbids_triple_terms: bool,
    /// Whether generalized statements are declared, or were reported.
    expects_generalized: bool,
    /// Suspicious data found since the last frame, by rule of `validate`.
    pub suspicious: Vec<(&'static str, &'static str)>,
    /// Offset of the restart mark at which reading began, if earlier frames were not read.
    pub mark: Option<u64>,
    pub(super) max_depth: u32,
    /// The prefix of labels in columns, if the stream has several scopes.
    pub labels: Option<MessagePrefix>,
    languages: Vec<CachedLanguage>,
    next_language: usize,
}

impl<R: Record> TermReader<R> {
    pub fn new(options: &ReadSettings) -> Self {
        Self {
            builder: LogBuilder::new(options.limits.clone()),
            options: None,
            options_rows: 0,
            repeats_options: false,
            begins_stream: false,
            budget: LookupBudget::new(options.limits.max_message_bytes),
            names: LookupTable::new("name", 0, options.joins),
            prefixes: LookupTable::new("prefix", 0, options.joins),
            datatypes: LookupTable::new("datatype", 0, options.joins),
            last_name: 0,
            last_prefix: 0,
            last: [TermId::DEFAULT_GRAPH; 4],
            live: 0,
            kept: [const { None }; 4],
            required: 0,
            forbids_triple_terms: false,
            expects_generalized: false,
            suspicious: Vec::new(),
            mark: None,
            max_depth: options.limits.max_depth,
            labels: None,
            languages: Vec::new(),
            next_language: 0,
        }
    }

    /// Prepares for the next log; the builder has already been reset.
    pub fn reset(&mut self) {
        self.options = None;
        self.options_rows = 0;
        self.repeats_options = false;
        self.begins_stream = false;
        self.mark = None;
        self.labels = None;
        self.begin_stream(TableSizes::default());
        for table in [&mut self.names, &mut self.prefixes, &mut self.datatypes] {
            table.continued = None;
        }
        self.required = 0;
        self.forbids_triple_terms = false;
        self.expects_generalized = false;
        self.suspicious.clear();
        self.languages.clear();
        self.next_language = 0;
    }

    /// Forgets all entries, ids and terms, and sets the sizes of the tables.
    fn begin_stream(&mut self, sizes: TableSizes) {
        self.budget.reset();
        for (table, size) in [
            (&mut self.names, sizes.name),
            (&mut self.prefixes, sizes.prefix),
            (&mut self.datatypes, sizes.datatype),
        ] {
            match self.mark {
                Some(mark) => table.reset_after_mark(size, mark, &mut self.budget),
                None => table.reset(size, &mut self.budget),
            }
        }
        self.last_name = 0;
        self.last_prefix = 0;
        if self.mark.is_some() {
            self.last_name = UNKNOWN;
            if sizes.prefix > 0 {
                self.last_prefix = UNKNOWN;
            }
        }
        self.last = [TermId::DEFAULT_GRAPH; 4];
        self.live = 0;
        self.kept = [const { None }; 4];
    }

    /// Begins a stream with these options. `graphs` is true if statements have a graph.
    pub fn open(&mut self, options: &OptionsRow, graphs: bool) -> Checked<()> {
        let tables = options.tables;
        if tables.name < MIN_NAME_TABLE {
            return Err(malformed_error(format!(
                "the name table size is {}, expected {MIN_NAME_TABLE} or more",
                tables.name
            )));
        }
        for (what, size, max) in [
            ("name", tables.name, MAX_TABLES.name),
            ("prefix", tables.prefix, MAX_TABLES.prefix),
            ("datatype", tables.datatype, MAX_TABLES.datatype),
        ] {
            if size > max {
                let reason = format!(
                    "the {what} table of {size} entries is larger than {max}, the largest that rdfm reads"
                );
                return Err(limit(reason));
            }
        }
        self.begin_stream(tables);
        // Jelly-JVM writes generalized statements without declaring them, so they are accepted.
        self.expects_generalized = options.generalized;
        self.forbids_triple_terms = !options.rdf_star;
        self.required = if graphs { 0b1111 } else { 0b0111 };
        Ok(())
    }

    /// Records that the frame at an offset, which is not the first, repeats the stream options at
    /// its start.
    pub fn repeat_options(&mut self, at: u64) {
        for table in [&mut self.names, &mut self.prefixes, &mut self.datatypes] {
            table.repeat_options(at);
        }
    }

    /// Returns a note if a table was continued after a frame that repeats the stream options.
    pub fn note_of_continued_tables(&self) -> Option<Reason> {
        let tables = [&self.names, &self.prefixes, &self.datatypes];
        let first = tables.into_iter().filter_map(|table| table.continued);
        let offset = first.min()?;
        let text = format!(
            "a frame repeats the stream options at byte {offset}, and later entries without an id continue the \
             lookup tables; if Jelly files were joined there, terms are wrong"
        );
        Some(Reason::from(text).with(NEW_TABLES))
    }

    /// Decodes an entry of the name lookup.
    #[inline]
    pub fn name_entry(&mut self, payload: &[u8]) -> Checked<()> {
        let (id, value) = entry(payload)?;
        let flags = scan::iri_part(value).ok_or_else(|| invalid_utf8_error(value, "a name"))?;
        self.set_name(id, Excerpt::from_text(value), flags)
    }

    /// Decodes an entry of the prefix lookup.
    #[inline]
    pub fn prefix_entry(&mut self, payload: &[u8]) -> Checked<()> {
        let (id, value) = entry(payload)?;
        let flags = scan::iri(value).ok_or_else(|| invalid_utf8_error(value, "a prefix"))?;
        self.prefixes
            .set(id, Excerpt::from_text(value), flags, &mut self.budget)
    }

    /// Decodes an entry of the datatype lookup.
    #[inline]
    pub fn datatype_entry(&mut self, payload: &[u8]) -> Checked<()> {
        let (id, value) = entry(payload)?;
        let flags = scan::iri(value).ok_or_else(|| invalid_utf8_error(value, "a datatype"))?;
        self.datatypes
            .set(id, Excerpt::from_text(value), flags, &mut self.budget)
    }

    /// Copies the terms that a later statement may repeat, because the batch ends.
    pub fn end_batch(&mut self) {
        for position in 0..4 {
            if self.live >> position & 1 == 1 {
                self.kept[position] =
                    Some(OwnedTerm::new(self.builder.table(), self.last[position]));
            }
        }
        self.live = 0;
    }

    /// Sets the graph from a row that is not a statement; later statements repeat it.
    pub fn set_graph(&mut self, slot: TermField<'_>) -> Checked<TermId> {
        let graph = self.term(slot, 0)?;
        self.last[GRAPH] = graph;
        self.live |= 1 << GRAPH;
        Ok(graph)
    }

    /// Returns the graph that a row without a statement repeats, or `None` if there was none.
    pub fn repeated_graph(&mut self) -> Checked<Option<TermId>> {
        if self.live >> GRAPH & 1 == 0 && self.kept[GRAPH].is_none() {
            return Ok(None);
        }
        let mut ids = self.last;
        self.repeat_from_kept(&mut ids, 1 << GRAPH & !self.live)?;
        self.last = ids;
        Ok(Some(ids[GRAPH]))
    }

    /// Decodes an IRI without creating a term.
    pub fn iri_text(&mut self, bytes: &[u8]) -> Checked<Vec<u8>> {
        let (prefix, name) = iri_ids(bytes)?;
        self.next_iri(prefix, name);
        let (prefix, _) = self.prefixes.get(self.last_prefix)?;
        let (name, _) = self.names.get(self.last_name)?;
        Ok([prefix.text(), name.text()].concat())
    }

    /// Decodes the terms of a statement. Fields that are not in `fields` are skipped.
    pub fn statement(&mut self, bytes: &[u8], fields: u32) -> Checked<[TermId; 4]> {
        let Some(slots) = positions(bytes, fields)? else {
            self.builder.charge(bytes.len())?;
            return self.statement(&normalized(bytes, fields)?, fields);
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
                let name = POSITIONS[position];
                if let Some(mark) = self.mark {
                    let reason = format!("the first statement omits its {name}");
                    return Err(wrong_mark(mark, &reason));
                }
                return Err(malformed_error(format!(
                    "the first statement omits its {name}; there is no earlier {name} to repeat"
                )));
            };
            *id = term.add(&mut self.builder)?;
            self.live |= 1 << position;
        }
        Ok(())
    }

    /// Decodes a term, given its field in a quad. `depth` is the number of enclosing triple terms.
    #[inline]
    pub fn term(&mut self, slot: TermField<'_>, depth: u32) -> Checked<TermId> {
        match slot.field {
            1 | 5 | 9 | 13 => self.iri(slot.bytes),
            2 | 10 | 14 => self.bnode(slot.bytes),
            11 => self.literal(slot.bytes),
            15 => default_graph(slot.bytes),
            4 | 12 => self.triple_term(slot.bytes, depth + 1),
            _ => self.generalized_term(slot, depth),
        }
    }

    /// Decodes a term that only generalized statements have in its position.
    #[cold]
    fn generalized_term(&mut self, slot: TermField<'_>, depth: u32) -> Checked<TermId> {
        if !self.expects_generalized {
            self.expects_generalized = true;
            let text =
                "the log has generalized statements, but its stream options do not declare them";
            self.suspicious.push(("undeclared-generalized", text));
        }
        match slot.field {
            6 => self.bnode(slot.bytes),
            3 | 7 | 16 => self.literal(slot.bytes),
            _ => self.triple_term(slot.bytes, depth + 1),
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the hottest term: nearly always two loads and a comparison
    pub fn iri(&mut self, bytes: &[u8]) -> Checked<TermId> {
        let (prefix, name) = iri_ids(bytes)?;
        self.next_iri(prefix, name);
        self.iri_of(self.last_prefix, self.last_name)
    }

    /// Returns the IRI of a prefix and a name.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `iri`
    pub(super) fn iri_of(&mut self, prefix: u32, name: u32) -> Checked<TermId> {
        // The memo of an entry that was not set has key 0.
        if let Some(prefix) = self.prefixes.peek(prefix)
            && let Some(name) = self.names.peek(name)
            && name.key == memo_key(self.builder.serial(), prefix.serial)
        {
            return Ok(name.term);
        }
        self.new_iri(prefix, name)
    }

    /// Adds the IRI of a prefix and a name to the batch, and stores its term with the name.
    #[inline(never)]
    fn new_iri(&mut self, prefix: u32, name: u32) -> Checked<TermId> {
        let (prefix, Memo { serial, .. }) = self.prefixes.get(prefix)?;
        let (name, memo) = self.names.get_mut(name)?;
        self.builder
            .charge(prefix.text().len() + name.text().len())?;
        let (offset, head) = prefix.append_to(&mut self.builder);
        let (_, tail) = name.append_to(&mut self.builder);
        let flags = if prefix.flags == 0 {
            flags_of_parts(prefix.text(), name)
        } else {
            name.flags
        };
        let term = self.builder.add_term(Term {
            offset,
            length: (head + tail) as u32,
            aux: 0,
            split: u16::try_from(head).unwrap_or(NO_SPLIT),
            kind: TermKind::Iri,
            flags,
        })?;
        memo.key = memo_key(self.builder.serial(), *serial);
        memo.term = term;
        Ok(term)
    }

    /// Prefix and name of the last IRI.
    #[inline]
    pub fn last_iri(&self) -> (u32, u32) {
        (self.last_prefix, self.last_name)
    }

    #[inline]
    pub fn set_last_iri(&mut self, (prefix, name): (u32, u32)) {
        (self.last_prefix, self.last_name) = (prefix, name);
    }

    /// Whether the terms that a statement may repeat are in the batch.
    #[inline]
    pub fn repeats_are_live(&self) -> bool {
        self.required & !self.live == 0
    }

    /// Sets an entry of the name lookup.
    #[inline]
    pub fn set_name(&mut self, id: u32, text: Excerpt<'_>, flags: u8) -> Checked<()> {
        self.names.set(id, text, flags, &mut self.budget)
    }

    /// Updates the last IRI. Prefix 0 means the previous prefix, name 0 the name after the previous
    /// one.
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
        let flags =
            scan::label(bytes).ok_or_else(|| invalid_utf8_error(bytes, "a blank node label"))?;
        Ok(self.builder.add_simple(TermKind::BlankNode, bytes, flags)?)
    }

    #[inline]
    fn literal(&mut self, bytes: &[u8]) -> Checked<TermId> {
        let (lexical, literal) = literal_fields(bytes)?;
        let flags =
            scan::lexical(lexical).ok_or_else(|| invalid_utf8_error(lexical, "a lexical form"))?;
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
    pub(super) fn datatype(&mut self, id: u32) -> Checked<(TermKind, TermId)> {
        if id == 0 {
            return Err(malformed_error(
                "datatype 0 is not allowed in a literal; ids count from 1",
            ));
        }
        let (entry, memo) = self.datatypes.get_mut(id)?;
        let key = memo_key(self.builder.serial(), 0);
        if memo.key != key {
            // xsd:string literals are a separate kind, without a datatype term.
            memo.term = if entry.text() == XSD_STRING {
                TermId::DEFAULT_GRAPH
            } else {
                self.builder
                    .add_simple(TermKind::Iri, entry.text(), entry.flags)?
            };
            memo.key = key;
        }
        let kind = if memo.term == TermId::DEFAULT_GRAPH {
            TermKind::Literal
        } else {
            TermKind::TypedLiteral
        };
        Ok((kind, memo.term))
    }

    /// Returns the language term and the direction flag.
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
        let plain =
            scan::language(text).ok_or_else(|| invalid_utf8_error(tag, "a language tag"))?;
        let term = self.builder.add_simple(TermKind::Language, text, plain)?;
        if tag.len() <= MAX_LANGUAGE_BYTES {
            let entry = CachedLanguage {
                tag: tag.to_vec(),
                batch,
                term,
                direction,
            };
            if self.languages.len() < CACHED_LANGUAGES {
                self.languages.push(entry);
            } else {
                self.languages[self.next_language] = entry;
                self.next_language = (self.next_language + 1) % CACHED_LANGUAGES;
            }
        }
        Ok((term, direction))
    }

    fn triple_term(&mut self, bytes: &[u8], depth: u32) -> Checked<TermId> {
        if depth > self.max_depth {
            return Err(limit(Reason::limit(
                format!(
                    "triple terms are nested deeper than {}",
                    format_count(self.max_depth as usize, "level")
                ),
                "max_depth",
            )));
        }
        if self.forbids_triple_terms {
            return Err(malformed_error(
                "a triple term, but the stream options say rdf_star = false",
            ));
        }
        let Some(slots) = positions(bytes, TRIPLE_FIELDS)? else {
            // The copy is charged because every level of nesting may need one.
            self.builder.charge(bytes.len())?;
            return self.triple_term(&normalized(bytes, TRIPLE_FIELDS)?, depth);
        };
        let mut ids = [TermId::DEFAULT_GRAPH; 3];
        for position in 0..3 {
            if slots[position].field == 0 {
                return Err(malformed_error(format!(
                    "a triple term omits its {}; terms cannot be repeated in triple terms",
                    POSITIONS[position]
                )));
            }
            ids[position] = self.term(slots[position], depth)?;
        }
        Ok(self.builder.add_triple_term(ids)?)
    }
}

/// Flags of an IRI whose prefix does not contain the scheme. Most often, the prefix is empty.
fn flags_of_parts(prefix: &[u8], name: &LookupEntry) -> u8 {
    let is_absolute = if prefix.is_empty() {
        chars::has_scheme(name.text())
    } else {
        chars::is_absolute_iri(&[prefix, name.text()].concat())
    };
    if is_absolute { name.flags } else { 0 }
}

/// Returns the fields of a statement by position, or `None` if fields must be merged first.
#[inline]
fn positions(bytes: &[u8], fields: u32) -> Checked<Option<[TermField<'_>; 4]>> {
    let mut slots = [TermField::default(); 4];
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, payload) = wire.read_field(fields, "the statement")?;
        if field == 0 {
            continue;
        }
        let slot = &mut slots[((field - 1) / 4) & 3];
        if slot.field == field && is_message(field) {
            return Ok(None);
        }
        *slot = TermField {
            field,
            bytes: payload,
        };
    }
    Ok(Some(slots))
}

/// Whether a term's field is a message, which protobuf merges. Otherwise it is a string, which
/// protobuf replaces.
const fn is_message(field: usize) -> bool {
    (field - 1) & 3 != 1
}

/// Returns a statement whose repeated fields are merged as protobuf requires.
#[cold]
fn normalized(bytes: &[u8], fields: u32) -> Checked<Vec<u8>> {
    let mut slots: [(usize, Vec<u8>); 4] = Default::default();
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, payload) = wire.read_field(fields, "the statement")?;
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

/// Returns the prefix id and the name id of an IRI, as written.
fn iri_ids(bytes: &[u8]) -> Checked<(u32, u32)> {
    let (mut prefix, mut name) = (0, 0);
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.read_tag()? {
            (1, VARINT) => prefix = wire.read_varint32()?,
            (2, VARINT) => name = wire.read_varint32()?,
            (field @ 1..=2, kind) => Wire::expect(kind, VARINT, field, "the IRI")?,
            (field, kind) => wire.skip(field, kind)?,
        }
    }
    Ok((prefix, name))
}

/// The kind of a literal, apart from its lexical form.
enum LiteralKind<'a> {
    Plain,
    Language(&'a [u8]),
    Typed(u32),
}

/// Returns the lexical form and the kind of a literal.
fn literal_fields(bytes: &[u8]) -> Checked<(&[u8], LiteralKind<'_>)> {
    let mut lexical = &[][..];
    let mut literal = LiteralKind::Plain;
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.read_tag()? {
            (1, LENGTH) => lexical = wire.read_bytes()?,
            (2, LENGTH) => literal = LiteralKind::Language(wire.read_bytes()?),
            (3, VARINT) => literal = LiteralKind::Typed(wire.read_varint32()?),
            (field @ 1..=3, kind) => {
                let expected = if field == 3 { VARINT } else { LENGTH };
                Wire::expect(kind, expected, field, "the literal")?;
            }
            (field, kind) => wire.skip(field, kind)?,
        }
    }
    Ok((lexical, literal))
}

/// Returns the id and the value of a lookup entry.
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
        match wire.read_tag()? {
            (1, VARINT) => id = wire.read_varint32()?,
            (2, LENGTH) => value = wire.read_bytes()?,
            (field @ 1..=2, kind) => {
                let expected = if field == 1 { VARINT } else { LENGTH };
                Wire::expect(kind, expected, field, "the lookup entry")?;
            }
            (field, kind) => wire.skip(field, kind)?,
        }
    }
    Ok((id, value))
}

/// Reads a default graph, which has no fields. Fields from later versions of the format are
/// skipped.
#[inline]
fn default_graph(bytes: &[u8]) -> Checked<TermId> {
    if !bytes.is_empty() {
        skip_all(bytes)?;
    }
    Ok(TermId::DEFAULT_GRAPH)
}

#[cold]
pub(super) fn skip_all(bytes: &[u8]) -> Checked<()> {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        let (field, kind) = wire.read_tag()?;
        wire.skip(field, kind)?;
    }
    Ok(())
}

//! Decodes runs of rows in the encoding that writers usually produce.
//!
//! - In: the rows of a frame; statements with their fields in order, and name entries.
//! - Out: records in the builder. Decoding stops at the first row of another kind or encoding.
//! - Cost: one load per row and one per term. Ids are taken from a word without a branch per byte.
//! - Gain: 1.1 to 1.7 times (`make bench-gains PATHS=jelly-rows`).
//! - Law: the result, the terms added and the bytes charged are those of
//!   [`TermReader::statement`] and [`TermReader::name_entry`], so it does not matter which rows are
//!   decoded here (`rdfm-laws`).
//!
//! A load may read up to seven bytes after the end of a row. Before the first term of a row is
//! decoded, the loop checks that these bytes are buffered.

use super::frames::Frame;
use super::term_reader::{GRAPH, TermField, TermReader};
use crate::model::error::LimitExceeded;
use crate::model::fast_path::FastPath;
use crate::model::record::Record;
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind};
use crate::syntax::text::scan::{self, Excerpt};
use crate::syntax::wire::{Checked, Wire, WireError, invalid_utf8_error};

/// Tag of a row in a frame.
const ROW: u8 = 0x0a;
/// Tags of the rows that a format usually contains.
pub(super) struct RowTags {
    /// Tags of statements.
    pub statements: [u8; 2],
    /// Tag of name entries.
    pub name: u8,
}

/// Number of bytes per load.
const WORD: usize = size_of::<u64>();
/// Prefix id and name id of the last IRI.
type LastIri = (u32, u32);

impl<R: Record> TermReader<R> {
    /// Decodes rows up to the first unusual one, and moves the frame there. If `QUADS` is true,
    /// statements are quads, otherwise triples. `record` creates a record from the tag of its row
    /// and its terms. Returns true if a part of a message ends after these rows, which happens only
    /// if `parts` is true.
    #[inline]
    pub fn usual_rows<const QUADS: bool>(
        &mut self,
        tags: &RowTags,
        bytes: &[u8],
        frame: &mut Frame,
        parts: bool,
        record: impl Fn(u8, [TermId; 4]) -> R,
    ) -> Checked<bool> {
        let is_ready = self.options.is_some() && self.builder.is_open() && self.repeats_are_live();
        if !is_ready || !FastPath::JellyRows.is_on() {
            return Ok(false);
        }
        let (mut at, mut rows) = (frame.at, 0);
        let mut last = self.last_iri();
        let mut full = false;
        let mut result = Ok(());
        while let Some(word) = load(bytes, at) {
            let [row, length, kind, inner, ..] = word.to_le_bytes();
            let end = at + 2 + usize::from(length);
            let is_usual = row == ROW && length < 0x80 && inner.wrapping_add(2) == length;
            if !is_usual || end > frame.end || end + WORD > bytes.len() {
                break;
            }
            if tags.statements.contains(&kind) {
                let before = last;
                let Some(ids) = self.usual_terms::<QUADS>(bytes, at + 4, end, &mut last) else {
                    last = before;
                    break;
                };
                self.last = ids;
                result = self.builder.add(record(kind, ids)).map_err(WireError::from);
                full = parts && self.builder.is_part_full();
            } else if kind == tags.name {
                result = self.usual_name(bytes, at + 4, end);
            } else {
                break;
            }
            if result.is_err() {
                break;
            }
            at = end;
            rows += 1;
            if full {
                break;
            }
        }
        self.set_last_iri(last);
        frame.at = at;
        frame.row += rows;
        result.map(|()| full)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // called once; the terms stay in registers
    fn usual_terms<const QUADS: bool>(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        end: usize,
        last: &mut LastIri,
    ) -> Option<[TermId; 4]> {
        let subject = self.usual_term::<0, QUADS>(bytes, &mut at, end, last)?;
        let predicate = self.usual_term::<1, QUADS>(bytes, &mut at, end, last)?;
        let object = self.usual_term::<2, QUADS>(bytes, &mut at, end, last)?;
        let graph = if QUADS {
            self.usual_term::<GRAPH, QUADS>(bytes, &mut at, end, last)?
        } else {
            self.last[GRAPH]
        };
        (at == end).then_some([subject, predicate, object, graph])
    }

    /// Decodes the term for a position if its field comes next. Otherwise returns the term in this
    /// position of the previous statement.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called four times per statement
    fn usual_term<const POSITION: usize, const QUADS: bool>(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        end: usize,
        last: &mut LastIri,
    ) -> Option<TermId> {
        if *at >= end {
            return Some(self.last[POSITION]);
        }
        let word = load(bytes, *at)?;
        let tag = word & 0xff;
        if tag == iri_tag(POSITION)
            && let Some((prefix, name, length)) = usual_iri(word)
            && *at + length <= end
        {
            *at += length;
            last.0 = if prefix == 0 { last.0 } else { prefix };
            last.1 = if name == 0 {
                last.1.saturating_add(1)
            } else {
                name
            };
            return self.iri_of(last.0, last.1).ok();
        }
        if POSITION != 1
            && tag == bnode_tag(POSITION)
            && let Some((term, length)) = self.usual_bnode(bytes, *at, word, end)
        {
            *at += length;
            return Some(term);
        }
        if POSITION == 2
            && tag == LITERAL_OBJECT
            && let Some((term, length)) = self.usual_literal(bytes, *at, word, end)
        {
            *at += length;
            return Some(term);
        }
        // A field of a later position.
        if word & 0x87 == 2 && tag >= iri_tag(POSITION + 1) {
            return Some(self.last[POSITION]);
        }
        self.other_term(POSITION, bytes, at, end, last)
    }

    #[inline(never)]
    fn other_term(
        &mut self,
        position: usize,
        bytes: &[u8],
        at: &mut usize,
        end: usize,
        last: &mut LastIri,
    ) -> Option<TermId> {
        let fields = 0b1_1110 << (4 * position);
        let mut wire = Wire::new(&bytes[*at..end]);
        if !wire.next_is(fields) {
            return Some(self.last[position]);
        }
        let (field, bytes) = wire.read_field(fields, "the statement").ok()?;
        self.set_last_iri(*last);
        let term = self.term(TermField { field, bytes }, 0);
        *last = self.last_iri();
        *at = end - wire.rest().len();
        term.ok()
    }

    /// Decodes a blank node with a short label. `word` begins with its field, which must end before
    /// `end`. Returns the term and the length of the field.
    #[inline]
    fn usual_bnode(
        &mut self,
        bytes: &[u8],
        at: usize,
        word: u64,
        end: usize,
    ) -> Option<(TermId, usize)> {
        let [_, length, ..] = word.to_le_bytes();
        let field_end = at + 2 + usize::from(length);
        if length >= 0x80 || field_end > end {
            return None;
        }
        let text = Excerpt::new(bytes, at + 2, usize::from(length))?;
        let flags = scan::label(text.text())?;
        let term = self.add_excerpt(text, TermKind::BlankNode, 0, flags).ok()?;
        Some((term, field_end - at))
    }

    /// Adds a term with this text.
    ///
    /// # Errors
    /// If the message becomes too large.
    #[inline]
    pub fn add_excerpt(
        &mut self,
        text: Excerpt<'_>,
        kind: TermKind,
        aux: u32,
        flags: u8,
    ) -> Result<TermId, LimitExceeded> {
        self.builder.charge(text.length())?;
        let offset = match text.short() {
            Some(bytes) => self.builder.append_short(bytes, text.length()),
            None => self.builder.append_text(text.text()),
        };
        let term = Term {
            offset,
            length: text.length() as u32,
            aux,
            split: NO_SPLIT,
            kind,
            flags,
        };
        self.builder.add_term(term)
    }

    /// Decodes a short literal without a language. `word` begins with its field, which must end
    /// before `end`. Returns the term and the length of the field.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called once
    fn usual_literal(
        &mut self,
        bytes: &[u8],
        at: usize,
        word: u64,
        end: usize,
    ) -> Option<(TermId, usize)> {
        let [_, size, tag, length, ..] = word.to_le_bytes();
        let text_end = at + 4 + usize::from(length);
        let field_end = at + 2 + usize::from(size);
        if tag != 0x0a || size >= 0x80 || length >= 0x80 || field_end > end {
            return None;
        }
        let datatype = if text_end == field_end {
            None
        } else if text_end + 2 == field_end
            && let [0x18, id] = *bytes.get(text_end..field_end)?
            && id < 0x80
        {
            Some(u32::from(id))
        } else {
            return None;
        };
        let text = Excerpt::new(bytes, at + 4, usize::from(length))?;
        let flags = scan::lexical_excerpt(text)?;
        let (kind, aux) = match datatype {
            None => (TermKind::Literal, TermId(0)),
            Some(id) => self.datatype(id).ok()?,
        };
        let term = self.add_excerpt(text, kind, aux.0, flags).ok()?;
        Some((term, field_end - at))
    }

    /// Decodes a name entry with an id of at most two bytes.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called once
    fn usual_name(&mut self, bytes: &[u8], at: usize, end: usize) -> Checked<()> {
        let Some(word) = load(bytes, at) else {
            return self.name_entry(&bytes[at..end]);
        };
        let has_id = u64::from(word & 0xff == 0x08);
        let is_long = has_id & (word >> 15);
        let low = (word >> 8) & 0x7f & has_id.wrapping_neg();
        let high = (word >> 9) & 0x3f80 & is_long.wrapping_neg();
        let id_length = (2 * has_id + is_long) as usize;
        let value = word >> (8 * id_length);
        let length = ((value >> 8) & 0xff) as usize;
        let start = at + id_length + 2;
        let fits = value & 0x80ff == 0x12 && is_long & (word >> 23) == 0;
        if fits
            && start + length == end
            && let Some(text) = Excerpt::new(bytes, start, length)
        {
            let flags = scan::iri_part_excerpt(text)
                .ok_or_else(|| invalid_utf8_error(text.text(), "a name"))?;
            let id = (low | high) as u32;
            return self.set_name(id, text, flags);
        }
        self.name_entry(&bytes[at..end])
    }
}

/// Tag of an IRI at a position of a statement.
const fn iri_tag(position: usize) -> u64 {
    (4 * position as u64 + 1) << 3 | 2
}

/// Tag of a blank node at a position of a statement.
const fn bnode_tag(position: usize) -> u64 {
    (4 * position as u64 + 2) << 3 | 2
}

/// Tag of a literal in the object position.
const LITERAL_OBJECT: u64 = 11 << 3 | 2;

/// Returns the eight bytes at an index as a little-endian number.
#[inline(always)]
#[allow(clippy::inline_always)] // a load
fn load(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Masks of the name id at the start of a word, by the length of its field.
const NAME_MASKS: [u64; 8] = [0, 0xff, 0xffff, 0xff_ffff, 0, 0, 0, 0];
/// The tag and the continuation bits of a name id of that length; [`NO_NAME`] for other lengths.
const NAME_BITS: [u64; 8] = [0, NO_NAME, 0x10, 0x8010, NO_NAME, NO_NAME, NO_NAME, NO_NAME];
const NO_NAME: u64 = 1 << 63;

/// Returns the prefix and name ids of an IRI whose field begins a word, and the length of the
/// field. Returns `None` for long ids and other encodings, which are rare.
#[inline(always)]
#[allow(clippy::inline_always)] // a dozen operations, without a branch before the last
fn usual_iri(word: u64) -> Option<(u32, u32, usize)> {
    let length = (word >> 8) & 0xff;
    let payload = word >> 16;
    let has_prefix = u64::from(payload & 0xff == 0x08);
    let prefix = (payload >> 8) & (has_prefix * 0xff);
    let rest = length.wrapping_sub(2 * has_prefix);
    let at = (rest & 7) as usize;
    let name = (payload >> (16 * has_prefix)) & NAME_MASKS[at];
    let fits = name & 0x80_80ff == NAME_BITS[at] && length <= 6 && prefix < 0x80;
    let id = (name >> 8) & 0x7f | (name >> 9) & 0x3f80;
    fits.then_some((prefix as u32, id as u32, 2 + length as usize))
}

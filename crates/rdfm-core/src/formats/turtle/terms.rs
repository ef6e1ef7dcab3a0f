//! Terms of a Turtle or TriG log: prefixes, the base, blank node labels, and a cache of the terms
//! in the current batch.
//!
//! - In: tokens, by their positions in the text.
//! - Out: term ids of the current batch.
//! - Cost: a recurring term costs one probe of a direct-mapped table and one comparison with the
//!   arena. Entries are verified (batch, kind, bytes), so that stale or overwritten ones are
//!   harmless.
//! - Law: namespaces are interned, so that a prefix redeclared in every message keeps its cache
//!   entries.

use oxiri::Iri;
use rustc_hash::FxHashMap;

use super::lexer::{Lexed, TokenError, describe_bad_iri_character, unescape_iri, unescape_local};
use crate::model::builder::BatchBuilder;
use crate::model::chars::{IRI, has_scheme, is};
use crate::model::error::{ErrorClass, LimitExceeded, quote};
use crate::model::labels::Labels;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind, XSD_STRING, flags, is_language_type};
use crate::model::write;
use crate::syntax::iri::{missing_tag_error, parse_base, resolve};

/// Terms that the grammar refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum KnownIri {
    Type,
    First,
    Rest,
    Nil,
    Reifies,
    Boolean,
    Integer,
    Decimal,
    Double,
}

const KNOWN: [&[u8]; 9] = [
    b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
    b"http://www.w3.org/1999/02/22-rdf-syntax-ns#first",
    b"http://www.w3.org/1999/02/22-rdf-syntax-ns#rest",
    b"http://www.w3.org/1999/02/22-rdf-syntax-ns#nil",
    b"http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies",
    b"http://www.w3.org/2001/XMLSchema#boolean",
    b"http://www.w3.org/2001/XMLSchema#integer",
    b"http://www.w3.org/2001/XMLSchema#decimal",
    b"http://www.w3.org/2001/XMLSchema#double",
];

/// The use of an IRI, which determines what `lenient` accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IriUse {
    /// A term. `lenient` accepts relative IRIs, and escapes for any character.
    Term,
    /// A namespace. `lenient` accepts relative IRIs.
    Namespace,
    /// A base, which must be absolute.
    Base,
}

/// Number of entries of the term cache.
const SLOTS: usize = 4096;
/// Number of entries of the prefix cache.
const PREFIX_SLOTS: usize = 64;
/// Number of interned namespaces at which unbound namespaces are dropped.
const MAX_NAMESPACES: usize = 4096;
/// Total bytes of interned namespaces above which unbound namespaces are dropped.
const MAX_NAMESPACE_BYTES: usize = 1 << 20;

// Kinds of cache entries. Keys from `FIRST_NAMESPACE` on are for names in a namespace.
const KEY_IRI: u32 = 0;
const KEY_BNODE: u32 = 1;
const KEY_LANGUAGE: u32 = 2;
const KEY_NUMBER: u32 = 3;
const FIRST_NAMESPACE: u32 = 4;

#[derive(Clone, Copy, Default)]
struct CacheSlot {
    /// The batch, as [`BatchBuilder::serial`]; 0 means none.
    serial: u32,
    id: TermId,
    key: u32,
    /// The message that was last charged for the term.
    message: u32,
}

struct PrefixNamespace {
    iri: Box<[u8]>,
    /// Flags of its IRIs. With `lenient`, a namespace may be relative.
    flags: u8,
    /// Unique while cache entries may refer to the namespace.
    key: u32,
}

/// State of the terms of one log.
pub(super) struct LogTerms {
    lenient: bool,
    first_base: Option<Iri<String>>,
    base: Option<Iri<String>>,
    /// Index of the namespace of each prefix.
    prefixes: Vec<usize>,
    prefix_of_name: FxHashMap<Box<[u8]>, usize>,
    /// Short prefix names, packed, with the index of each prefix.
    prefix_slots: [(u64, u32); PREFIX_SLOTS],
    namespaces: Vec<PrefixNamespace>,
    namespace_of_iri: FxHashMap<Box<[u8]>, usize>,
    namespace_bytes: usize,
    /// Bytes of the IRIs of all prefixes, with repetitions.
    bound_bytes: usize,
    next_key: u32,
    slots: Box<[CacheSlot]>,
    known: [CacheSlot; KNOWN.len()],
    /// Number of the open or next message. It may wrap.
    message: u32,
    scratch: Vec<u8>,
    resolved: String,
    labels: Labels,
    /// The last message with an error, in which declarations may have been skipped.
    skipped: Option<u64>,
    /// Prefixes that skipped text declares with other IRIs, and their indices.
    lost: FxHashMap<Box<[u8]>, usize>,
    /// Whether skipped text declares a base.
    base_lost: bool,
}

/// Converts a limit error of the builder to an error at a byte offset.
#[cold]
pub(super) fn limit(index: usize, exceeded: LimitExceeded) -> TokenError {
    TokenError::error(index, ErrorClass::Limit, exceeded.0)
}

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes the length, ends and middle of a string. Strings that differ only elsewhere share a slot.
#[inline]
fn hash(text: &[u8], key: u32) -> usize {
    let mut word = (u64::from(key) << 32 ^ text.len() as u64).wrapping_mul(MIX);
    let mut add = |part: u64| word = (word.rotate_left(29) ^ part).wrapping_mul(MIX);
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        add(u64::from_le_bytes(*first));
        add(u64::from_le_bytes(*last));
        if text.len() > 16
            && let Some(middle) = text[text.len() / 2..].first_chunk::<8>()
        {
            add(u64::from_le_bytes(*middle));
        }
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        add(u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)));
    } else {
        add(text.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)));
    }
    ((word ^ word >> 32).wrapping_mul(MIX) >> 52) as usize & (SLOTS - 1)
}

/// Whether two strings are equal. Inlined for short ones.
#[inline]
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.len() <= 16
        && let (Some(a_first), Some(a_last)) = (a.first_chunk::<8>(), a.last_chunk::<8>())
        && let (Some(b_first), Some(b_last)) = (b.first_chunk::<8>(), b.last_chunk::<8>())
    {
        return a_first == b_first && a_last == b_last;
    }
    a == b
}

impl LogTerms {
    /// Creates the state of a log without prefixes and with an optional base.
    ///
    /// # Errors
    /// If the base is not an absolute IRI.
    pub fn new(base: Option<&str>, lenient: bool) -> Result<Self, Reason> {
        let base = parse_base(base)?;
        let slots = vec![CacheSlot::default(); SLOTS].into_boxed_slice();
        Ok(Self::at_start(base, lenient, slots))
    }

    fn at_start(base: Option<Iri<String>>, lenient: bool, slots: Box<[CacheSlot]>) -> Self {
        Self {
            lenient,
            first_base: base.clone(),
            base,
            prefixes: Vec::new(),
            prefix_of_name: FxHashMap::default(),
            prefix_slots: [(0, 0); PREFIX_SLOTS],
            namespaces: Vec::new(),
            namespace_of_iri: FxHashMap::default(),
            namespace_bytes: 0,
            bound_bytes: 0,
            next_key: FIRST_NAMESPACE,
            slots,
            known: [CacheSlot::default(); KNOWN.len()],
            message: 0,
            scratch: Vec::new(),
            resolved: String::new(),
            labels: Labels::default(),
            skipped: None,
            lost: FxHashMap::default(),
            base_lost: false,
        }
    }

    /// Prepares for the next log. Cache entries of earlier batches are never found.
    pub fn reset(&mut self) {
        let (base, slots) = (self.first_base.take(), std::mem::take(&mut self.slots));
        *self = Self::at_start(base, self.lenient, slots);
    }

    /// Records that a message is skipped.
    pub fn skip_message(&mut self, index: u64) {
        self.skipped = Some(index);
    }

    /// Handles a prefix declared in skipped text, with its IRI if known. Unless the IRI equals the
    /// current one, the prefix becomes undeclared.
    pub fn skip_prefix(&mut self, name: &[u8], iri: Option<&[u8]>) {
        let Some(&index) = self.prefix_of_name.get(name) else {
            return;
        };
        if iri == Some(&self.namespaces[self.prefixes[index]].iri) {
            return;
        }
        self.prefix_of_name.remove(name);
        self.prefix_slots = [(0, 0); PREFIX_SLOTS];
        self.lost.insert(name.into(), index);
    }

    /// Handles a base declared in skipped text, like [`skip_prefix`](Self::skip_prefix).
    pub fn skip_base(&mut self, iri: Option<&[u8]>) {
        let same = iri.is_some() && iri == self.base.as_ref().map(|base| base.as_str().as_bytes());
        self.base_lost |= !same;
    }

    #[cold]
    fn undeclared_error(&self, prefix: &[u8], start: usize) -> TokenError {
        let shown = quote(prefix);
        let reason = Reason::from(format!(
            "the prefix {shown} is not declared; declare it with PREFIX {} <…> before it is used",
            shown.trim_matches('\'')
        ));
        TokenError::malformed_error(start, reason.perhaps_declared_in(self.skipped))
    }

    /// Ends a message.
    #[inline]
    pub fn end_message(&mut self) {
        self.labels.begin_message();
        self.message = self.message.wrapping_add(1);
    }

    /// Updates the cache after the open message moved from batch `serial` to the current one, so
    /// that its terms are found and not charged twice.
    pub fn move_ids(
        &mut self,
        serial: u32,
        builder: &BatchBuilder,
        moved: &FxHashMap<TermId, TermId>,
    ) {
        for slot in self.slots.iter_mut().chain(&mut self.known) {
            if slot.serial == serial
                && slot.message == self.message
                && let Some(&id) = moved.get(&slot.id)
            {
                slot.serial = builder.serial();
                slot.id = id;
            }
        }
    }

    /// Charges for a recurring term. The charge of a message must not depend on batches, so the
    /// first use in a message is charged like a new term.
    #[inline]
    fn reuse(
        &mut self,
        builder: &mut BatchBuilder,
        index: usize,
        id: TermId,
        length: usize,
    ) -> Result<TermId, LimitExceeded> {
        if self.slots[index].message != self.message {
            self.slots[index].message = self.message;
            builder.charge(length + 16)?;
        }
        Ok(id)
    }

    #[inline]
    fn find_cached(
        &self,
        builder: &BatchBuilder,
        index: usize,
        key: u32,
    ) -> Option<(TermId, Term)> {
        let slot = self.slots[index];
        if slot.serial == builder.serial() && slot.key == key {
            Some((slot.id, builder.table().term(slot.id)))
        } else {
            None
        }
    }

    #[inline]
    fn remember(&mut self, builder: &BatchBuilder, index: usize, key: u32, id: TermId) {
        self.slots[index] = CacheSlot {
            serial: builder.serial(),
            id,
            key,
            message: self.message,
        };
    }

    /// Returns a term that the grammar refers to.
    #[inline]
    pub fn add_known_iri(
        &mut self,
        builder: &mut BatchBuilder,
        known: KnownIri,
    ) -> Result<TermId, LimitExceeded> {
        let slot = &mut self.known[known as usize];
        let iri = KNOWN[known as usize];
        if slot.serial != builder.serial() {
            *slot = CacheSlot {
                serial: builder.serial(),
                id: builder.add_simple(TermKind::Iri, iri, flags::PLAIN)?,
                key: KEY_IRI,
                message: self.message,
            };
        } else if slot.message != self.message {
            slot.message = self.message;
            builder.charge(iri.len() + 16)?;
        }
        Ok(slot.id)
    }

    /// Returns the IRI of the `IRIREF` token from `start` to `end`.
    #[inline]
    pub fn add_iri(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        start: usize,
        end: usize,
    ) -> Lexed<TermId> {
        let raw = &text[start + 1..end - 1];
        let index = hash(raw, KEY_IRI);
        if let Some((id, term)) = self.find_cached(builder, index, KEY_IRI)
            && is_equal(builder.table().text_of(term), raw)
        {
            return self
                .reuse(builder, index, id, raw.len())
                .map_err(|exceeded| limit(start, exceeded));
        }
        self.new_iri(builder, text, start, end, index)
    }

    fn new_iri(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        start: usize,
        end: usize,
        index: usize,
    ) -> Lexed<TermId> {
        let (resolved, flags) = self.resolve(text, start, end, IriUse::Term)?;
        let same = resolved.len() == end - start - 2 && *resolved == text[start + 1..end - 1];
        let id = builder
            .add_simple(TermKind::Iri, resolved, flags)
            .map_err(|exceeded| limit(start, exceeded))?;
        if same {
            self.remember(builder, index, KEY_IRI, id);
        }
        Ok(id)
    }

    /// Returns the IRI of an `IRIREF` token, checked, decoded and resolved, with its flags.
    fn resolve<'a>(
        &'a mut self,
        text: &'a [u8],
        start: usize,
        end: usize,
        purpose: IriUse,
    ) -> Lexed<(&'a [u8], u8)> {
        let raw = &text[start + 1..end - 1];
        let mut iri = raw;
        if let Some(length) = raw.iter().position(|&byte| !is(byte, IRI)) {
            let bad = start + 1 + length;
            if text[bad] != b'\\' {
                return Err(TokenError::malformed_error(
                    bad,
                    describe_bad_iri_character(text, bad),
                ));
            }
            self.scratch.clear();
            unescape_iri(raw, start + 1, &mut self.scratch)?;
            let bad = self.scratch.iter().position(|&byte| !is(byte, IRI));
            if let Some(bad) = bad
                && !(purpose == IriUse::Term && self.lenient)
            {
                let mut reason = Reason::from(describe_bad_iri_character(&self.scratch, bad));
                if purpose == IriUse::Term {
                    reason = reason.with(Remedy::lenient("accepts the escape"));
                }
                return Err(TokenError::malformed_error(start, reason));
            }
            iri = &self.scratch;
            // A lenient writer escaped this IRI. No base applies to it.
            if bad.is_some() {
                return Ok((iri, 0));
            }
        }
        if has_scheme(iri) {
            return Ok((iri, flags::PLAIN));
        }
        let base = self.base.as_ref().filter(|_| !self.base_lost);
        // If a base was dropped, the IRI is not kept relative even with `lenient`, because the base
        // would have applied.
        let may_be_relative = purpose != IriUse::Base && !self.base_lost;
        let lenient = self.lenient && may_be_relative;
        let lacks = base.is_none();
        match resolve(iri, base, lenient, &mut self.resolved) {
            Ok(true) => Ok((self.resolved.as_bytes(), flags::PLAIN)),
            Ok(false) => Ok((iri, 0)),
            Err(mut reason) => {
                if !may_be_relative {
                    reason = reason.without("lenient");
                }
                if lacks {
                    reason = reason.perhaps_declared_in(self.skipped);
                }
                Err(TokenError::malformed_error(start, reason))
            }
        }
    }

    /// Returns the term of a prefixed name.
    #[inline]
    pub fn name(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        start: usize,
        name: super::lexer::NameToken,
    ) -> Lexed<TermId> {
        let local = &text[name.colon + 1..name.end];
        let Some(namespace) = self.find_namespace(text, start, name.colon) else {
            return Err(self.undeclared_error(&text[start..=name.colon], start));
        };
        let id = if name.escaped {
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.clear();
            unescape_local(local, &mut scratch);
            let id = self.add_prefixed_name(builder, namespace, &scratch);
            self.scratch = scratch;
            id
        } else {
            self.add_prefixed_name(builder, namespace, local)
        };
        id.map_err(|exceeded| limit(start, exceeded))
    }

    #[inline]
    fn add_prefixed_name(
        &mut self,
        builder: &mut BatchBuilder,
        namespace: usize,
        local: &[u8],
    ) -> Result<TermId, LimitExceeded> {
        let namespace = &self.namespaces[namespace];
        let key = namespace.key;
        let index = hash(local, key);
        if let Some((id, term)) = self.find_cached(builder, index, key)
            && builder
                .table()
                .text_of(term)
                .get(namespace.iri.len()..)
                .is_some_and(|rest| is_equal(rest, local))
        {
            return self.reuse(builder, index, id, term.length as usize);
        }
        let length = namespace.iri.len() + local.len();
        builder.charge(length)?;
        let offset = builder.append_text(&namespace.iri);
        builder.append_text(local);
        let id = builder.add_term(Term {
            offset,
            length: length as u32,
            aux: 0,
            split: u16::try_from(namespace.iri.len()).unwrap_or(NO_SPLIT),
            kind: TermKind::Iri,
            flags: namespace.flags,
        })?;
        self.remember(builder, index, key, id);
        Ok(id)
    }

    /// Index of the namespace of the prefix at `start`.
    #[inline]
    fn find_namespace(&mut self, text: &[u8], start: usize, colon: usize) -> Option<usize> {
        let length = colon - start;
        let packed = match text[start..].first_chunk::<8>() {
            // The eighth byte contains the length, so that numbers are unique and not 0.
            Some(chunk) if length < 8 => {
                u64::from_le_bytes(*chunk) & ((1 << (8 * length)) - 1) | (length as u64 + 1) << 56
            }
            _ => 0,
        };
        let slot = (packed.wrapping_mul(MIX) >> 58) as usize % PREFIX_SLOTS;
        let (slot_prefix, index) = self.prefix_slots[slot];
        if slot_prefix == packed
            && packed != 0
            && let Some(&namespace) = self.prefixes.get(index as usize)
        {
            return Some(namespace);
        }
        let index = *self.prefix_of_name.get(&text[start..colon])?;
        self.prefix_slots[slot] = (packed, index as u32);
        Some(self.prefixes[index])
    }

    /// Binds a prefix to the `IRIREF` at `start`.
    pub fn declare(
        &mut self,
        builder: &mut BatchBuilder,
        name: &[u8],
        text: &[u8],
        start: usize,
        end: usize,
    ) -> Lexed<()> {
        let (iri, _) = self.resolve(text, start, end, IriUse::Namespace)?;
        let iri: Box<[u8]> = iri.into();
        let bound = self.prefix_of_name.get(name).copied();
        if let Some(index) = bound
            && self.namespaces[self.prefixes[index]].iri == iri
        {
            return Ok(());
        }
        builder
            .add_namespace(name, &iri)
            .map_err(|exceeded| limit(start, exceeded))?;
        let length = iri.len();
        let namespace = self.intern(iri);
        self.bound_bytes += length;
        let lost = self.lost.remove(name);
        if let Some(index) = lost {
            self.prefix_of_name.insert(name.into(), index);
        }
        if let Some(index) = bound.or(lost) {
            self.bound_bytes -= self.namespaces[self.prefixes[index]].iri.len();
            self.prefixes[index] = namespace;
        } else {
            self.prefix_of_name.insert(name.into(), self.prefixes.len());
            self.prefixes.push(namespace);
        }
        Ok(())
    }

    fn intern(&mut self, iri: Box<[u8]>) -> usize {
        if let Some(&index) = self.namespace_of_iri.get(&iri) {
            return index;
        }
        if self.namespaces.len() >= MAX_NAMESPACES.max(2 * self.prefixes.len())
            || self.namespace_bytes > MAX_NAMESPACE_BYTES.max(2 * self.bound_bytes)
        {
            self.forget_unbound();
        }
        let index = self.namespaces.len();
        self.namespace_bytes += iri.len();
        self.namespaces.push(PrefixNamespace {
            iri: iri.clone(),
            flags: if has_scheme(&iri) { flags::PLAIN } else { 0 },
            key: self.next_key,
        });
        self.namespace_of_iri.insert(iri, index);
        self.next_key += 1;
        if self.next_key == u32::MAX {
            self.slots.fill(CacheSlot::default());
            self.next_key = FIRST_NAMESPACE;
            for namespace in &mut self.namespaces {
                namespace.key = self.next_key;
                self.next_key += 1;
            }
        }
        index
    }

    /// Drops namespaces without a prefix. The others keep their keys, so that cached names stay
    /// valid.
    fn forget_unbound(&mut self) {
        let mut old: Vec<Option<PrefixNamespace>> = std::mem::take(&mut self.namespaces)
            .into_iter()
            .map(Some)
            .collect();
        let mut moved = FxHashMap::default();
        self.namespace_of_iri.clear();
        self.namespace_bytes = 0;
        for bound in &mut self.prefixes {
            if let Some(namespace) = old[*bound].take() {
                moved.insert(*bound, self.namespaces.len());
                self.namespace_bytes += namespace.iri.len();
                self.namespace_of_iri
                    .insert(namespace.iri.clone(), self.namespaces.len());
                self.namespaces.push(namespace);
            }
            *bound = moved.get(bound).copied().unwrap_or_default();
        }
    }

    /// Sets the base to the `IRIREF` at `start`.
    pub fn set_base(&mut self, text: &[u8], start: usize, end: usize) -> Lexed<()> {
        let (iri, _) = self.resolve(text, start, end, IriUse::Base)?;
        let iri = String::from_utf8_lossy(iri).into_owned();
        let shown = quote(iri.as_bytes());
        match Iri::parse(iri) {
            Ok(base) => {
                self.base = Some(base);
                self.base_lost = false;
                Ok(())
            }
            Err(error) => Err(TokenError::malformed_error(
                start,
                format!("the base {shown} is not a valid absolute IRI ({error})"),
            )),
        }
    }

    /// Returns the blank node with the given label, which excludes `_:`.
    #[inline]
    pub fn add_blank_node(
        &mut self,
        builder: &mut BatchBuilder,
        label: &[u8],
    ) -> Result<TermId, LimitExceeded> {
        if label.starts_with(b"_g") {
            return self.special_blank_node(builder, label);
        }
        let index = hash(label, KEY_BNODE);
        if let Some((id, term)) = self.find_cached(builder, index, KEY_BNODE)
            && is_equal(builder.table().text_of(term), label)
        {
            return self.reuse(builder, index, id, label.len());
        }
        let id = builder.add_simple(TermKind::BlankNode, label, flags::PLAIN)?;
        self.remember(builder, index, KEY_BNODE, id);
        Ok(id)
    }

    /// Returns the blank node of a label that may be an escape, or that looks like a generated one.
    /// The meaning of the label depends on the message, so the term is not cached.
    fn special_blank_node(
        &mut self,
        builder: &mut BatchBuilder,
        label: &[u8],
    ) -> Result<TermId, LimitExceeded> {
        if let Some(decoded) = write::read_label(label) {
            return builder.add_simple(TermKind::BlankNode, &decoded, 0);
        }
        builder.add_simple(
            TermKind::BlankNode,
            self.labels.map_given(label),
            flags::PLAIN,
        )
    }

    /// Returns a new anonymous blank node.
    pub fn add_anonymous(&mut self, builder: &mut BatchBuilder) -> Result<TermId, LimitExceeded> {
        builder.add_simple(TermKind::BlankNode, self.labels.generate(), flags::PLAIN)
    }

    /// Returns the term of a language tag.
    pub fn add_language(
        &mut self,
        builder: &mut BatchBuilder,
        tag: &[u8],
    ) -> Result<TermId, LimitExceeded> {
        let index = hash(tag, KEY_LANGUAGE);
        if let Some((id, term)) = self.find_cached(builder, index, KEY_LANGUAGE)
            && is_equal(builder.table().text_of(term), tag)
        {
            return self.reuse(builder, index, id, tag.len());
        }
        let id = builder.add_simple(TermKind::Language, tag, flags::PLAIN)?;
        self.remember(builder, index, KEY_LANGUAGE, id);
        Ok(id)
    }

    /// Returns a literal written without quotes: a number or a boolean.
    #[inline]
    pub fn add_bare_literal(
        &mut self,
        builder: &mut BatchBuilder,
        lexical: &[u8],
        datatype: KnownIri,
    ) -> Result<TermId, LimitExceeded> {
        let datatype = self.add_known_iri(builder, datatype)?;
        let index = hash(lexical, KEY_NUMBER);
        if let Some((id, term)) = self.find_cached(builder, index, KEY_NUMBER)
            && term.aux == datatype.0
            && is_equal(builder.table().text_of(term), lexical)
        {
            return self.reuse(builder, index, id, lexical.len());
        }
        let id = builder.add_with_aux(TermKind::TypedLiteral, lexical, datatype.0, flags::PLAIN)?;
        self.remember(builder, index, KEY_NUMBER, id);
        Ok(id)
    }

    /// Returns the kind of literals with a datatype, which is at `start`.
    #[inline]
    pub fn find_typed_kind(
        &self,
        builder: &BatchBuilder,
        datatype: TermId,
        start: usize,
    ) -> Lexed<TermKind> {
        let iri = builder.table().text(datatype);
        if iri == XSD_STRING {
            return Ok(TermKind::Literal);
        }
        if is_language_type(iri) && !self.lenient {
            return Err(TokenError::malformed_error(start, missing_tag_error(iri)));
        }
        Ok(TermKind::TypedLiteral)
    }
}

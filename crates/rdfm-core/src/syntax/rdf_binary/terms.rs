//! Adds decoded terms and prefix declarations to a batch.
//!
//! - In: [`Raw`] terms and declarations.
//! - Out: terms and namespaces in the [`LogBuilder`].
//! - Cost: a term is compared with the previous one in its position, then looked up by a hash
//!   over at most 24 of its bytes. Literals are not looked up.
//! - Law: strings are UTF-8. A term counts toward `max_message_bytes` each time it is used, even if
//!   it is shared.

use oxiri::Iri;
use rustc_hash::FxHashMap;

use super::model::{NativeValue, PrefixedName, Raw, RawLiteralKind, Slots, placeholder_error};
use crate::model::builder::LogBuilder;
use crate::model::chars::has_scheme;
use crate::model::error::{format_count, quote};
use crate::model::limits::Limits;
use crate::model::record::Record;
use crate::model::remedy::Reason;
use crate::model::term::{NO_SPLIT, Term, TermId, TermKind, XSD_STRING, flags};
use crate::syntax::cache::{Cache, RecentTerm};
use crate::syntax::text::scan;
use crate::syntax::wire::{Checked, check_utf8, invalid_utf8_error, limit, malformed_error};

/// Prefix of IRIs that represent blank nodes.
pub(crate) const BNODE_IRI: &[u8] = b"_:";

/// The part of an encoding that is needed to decode nested terms.
pub(crate) trait TripleTermReader {
    /// Decodes the terms of a triple term into empty slots.
    ///
    /// # Errors
    /// If the bytes violate the encoding.
    fn read_triple<'a>(bytes: &'a [u8], slots: &mut Slots<'a>) -> Checked<()>;
}

/// State for decoding the terms of a log.
pub(crate) struct BinaryTerms<L: Record> {
    pub builder: LogBuilder<L>,
    cache: Cache,
    /// The previous term in each position.
    last: [RecentTerm; 4],
    prefixes: FxHashMap<Box<[u8]>, Box<[u8]>>,
    base: Option<Iri<String>>,
    max_depth: u32,
    /// Buffer for strings that are not literally in the log.
    scratch: Vec<u8>,
}

impl<L: Record> BinaryTerms<L> {
    pub fn new(limits: &Limits) -> Self {
        Self {
            builder: LogBuilder::new(limits.clone()),
            cache: Cache::new(),
            last: [RecentTerm::NONE; 4],
            prefixes: FxHashMap::default(),
            base: None,
            max_depth: limits.max_depth,
            scratch: Vec::new(),
        }
    }

    /// Resets the prefixes and the base for another log. The builder has already been reset.
    pub fn reset(&mut self) {
        self.prefixes.clear();
        self.base = None;
    }

    /// Declares a prefix.
    pub fn set_prefix(&mut self, name: &[u8], iri: &[u8]) -> Checked<()> {
        check_utf8(name, "a prefix")?;
        check_utf8(iri, "an IRI")?;
        self.builder.add_namespace(name, iri)?;
        self.prefixes.insert(name.into(), iri.into());
        Ok(())
    }

    /// Sets the base IRI. A later base is resolved against the current one.
    pub fn set_base(&mut self, iri: &[u8]) -> Checked<()> {
        self.builder.charge(iri.len())?;
        let text = check_utf8(iri, "the base")?;
        let base = match &self.base {
            Some(base) => base.resolve(text),
            None => Iri::parse(text.to_owned()),
        };
        let base =
            base.map_err(|_| malformed_error(format!("the base {} is not an IRI", quote(iri))))?;
        self.base = Some(base);
        Ok(())
    }

    /// Converts a term. Positions 0 to 3 remember the previous term; other positions do not.
    #[inline]
    pub fn add_term<R: TripleTermReader>(
        &mut self,
        raw: &Raw<'_>,
        position: usize,
        depth: u32,
    ) -> Checked<TermId> {
        match *raw {
            Raw::Iri(text) => {
                if text.starts_with(BNODE_IRI) {
                    self.add_blank_node(&text[2..], position)
                } else if self.base.is_some() && !has_scheme(text) {
                    self.add_relative(text, position)
                } else {
                    self.add_iri(text, NO_SPLIT, position)
                }
            }
            Raw::BlankNode(label) => self.add_blank_node(label, position),
            Raw::Literal(lexical, kind) => self.add_literal(lexical, kind),
            Raw::Name(name) => self.name(name, position),
            Raw::Value(value) => self.add_value(value),
            Raw::Triple(bytes) => self.add_triple::<R>(bytes, depth + 1),
            Raw::Placeholder(open) => Err(placeholder_error(open.name())),
        }
    }

    fn add_blank_node(&mut self, label: &[u8], position: usize) -> Checked<TermId> {
        let check = |text: &[u8]| {
            scan::label(text).ok_or_else(|| invalid_utf8_error(text, "a blank node label"))
        };
        self.find_or_add(TermKind::BlankNode, label, NO_SPLIT, position, check)
    }

    #[inline]
    fn add_iri(&mut self, text: &[u8], split: u16, position: usize) -> Checked<TermId> {
        let check = |text: &[u8]| scan::iri(text).ok_or_else(|| invalid_utf8_error(text, "an IRI"));
        self.find_or_add(TermKind::Iri, text, split, position, check)
    }

    /// Returns a term that consists only of its text, shared if possible. Positions are as in
    /// [`add_term`](Self::add_term).
    #[inline]
    fn find_or_add(
        &mut self,
        kind: TermKind,
        text: &[u8],
        split: u16,
        position: usize,
        check: impl Fn(&[u8]) -> Checked<u8>,
    ) -> Checked<TermId> {
        self.builder.charge(text.len() + 16)?;
        if let Some(last) = self.last.get(position)
            && last.is(&self.builder, kind, text)
        {
            return Ok(last.id);
        }
        let slot = Cache::slot(kind, text);
        let mut known = self.cache.get(slot);
        if !known.is(&self.builder, kind, text) {
            let flags = check(text)?;
            let offset = self.builder.append_text(text);
            let id = self.builder.push_term(Term {
                offset,
                length: text.len() as u32,
                aux: 0,
                split,
                kind,
                flags,
            });
            known = RecentTerm::new(&self.builder, id);
            self.cache.set(slot, known);
        }
        if let Some(last) = self.last.get_mut(position) {
            *last = known;
        }
        Ok(known.id)
    }

    /// Calls a function with an empty buffer for composed text.
    fn with_scratch<T>(
        &mut self,
        make: impl FnOnce(&mut Self, &mut Vec<u8>) -> Checked<T>,
    ) -> Checked<T> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let result = make(self, &mut scratch);
        self.scratch = scratch;
        result
    }

    /// Writes the IRI of a prefixed name to `out`. Returns the length of its namespace.
    fn expand(&self, name: PrefixedName<'_>, out: &mut Vec<u8>) -> Checked<usize> {
        let Some(namespace) = self.prefixes.get(name.prefix) else {
            return Err(malformed_error(format!(
                "the prefix {} is not declared",
                quote(name.prefix)
            )));
        };
        // Checked separately, because the concatenation may be valid UTF-8 even if neither part is.
        if !name.local.is_ascii() {
            check_utf8(name.local, "a local name")?;
        }
        out.extend_from_slice(namespace);
        out.extend_from_slice(name.local);
        Ok(namespace.len())
    }

    fn name(&mut self, name: PrefixedName<'_>, position: usize) -> Checked<TermId> {
        self.with_scratch(|this, text| {
            let split = this.expand(name, text)?;
            if this.base.is_some() && !has_scheme(text) {
                return this.add_relative(text, position);
            }
            let split = u16::try_from(split).unwrap_or(NO_SPLIT);
            this.add_iri(text, split, position)
        })
    }

    #[cold]
    fn add_relative(&mut self, text: &[u8], position: usize) -> Checked<TermId> {
        let reference = check_utf8(text, "an IRI")?;
        let Some(base) = &self.base else {
            return self.add_iri(text, NO_SPLIT, position);
        };
        self.builder.charge(base.as_str().len())?;
        let iri = base.resolve_unchecked(reference).into_inner();
        self.add_iri(iri.as_bytes(), NO_SPLIT, position)
    }

    #[inline]
    fn add_literal(&mut self, lexical: &[u8], kind: RawLiteralKind<'_>) -> Checked<TermId> {
        let plain =
            scan::lexical(lexical).ok_or_else(|| invalid_utf8_error(lexical, "a lexical form"))?;
        let (kind, aux, direction) = match kind {
            RawLiteralKind::Plain => (TermKind::Literal, TermId(0), 0),
            RawLiteralKind::Language(tag) => (TermKind::LangLiteral, self.add_language(tag)?, 0),
            RawLiteralKind::Directed(tag, direction) => {
                let direction = match direction {
                    b"ltr" => flags::LTR,
                    b"rtl" => flags::RTL,
                    other => {
                        return Err(malformed_error(format!(
                            "the base direction {} is neither ltr nor rtl",
                            quote(other)
                        )));
                    }
                };
                (TermKind::LangLiteral, self.add_language(tag)?, direction)
            }
            RawLiteralKind::Datatype(iri) => self.add_datatype(iri)?,
            RawLiteralKind::DatatypeName(name) => self.with_scratch(|this, iri| {
                this.expand(name, iri)?;
                this.add_datatype(iri)
            })?,
        };
        Ok(self
            .builder
            .add_with_aux(kind, lexical, aux.0, plain | direction)?)
    }

    /// Returns the kind and the datatype term of a literal, and no base direction (0).
    #[inline]
    fn add_datatype(&mut self, iri: &[u8]) -> Checked<(TermKind, TermId, u8)> {
        // Literals of xsd:string have a separate kind and no datatype term.
        if iri == XSD_STRING {
            return Ok((TermKind::Literal, TermId(0), 0));
        }
        let id = if self.base.is_some() && !has_scheme(iri) {
            self.add_relative(iri, usize::MAX)?
        } else {
            self.add_iri(iri, NO_SPLIT, usize::MAX)?
        };
        Ok((TermKind::TypedLiteral, id, 0))
    }

    fn add_language(&mut self, tag: &[u8]) -> Checked<TermId> {
        let check = |tag: &[u8]| {
            scan::language(tag).ok_or_else(|| invalid_utf8_error(tag, "a language tag"))
        };
        self.find_or_add(TermKind::Language, tag, NO_SPLIT, usize::MAX, check)
    }

    fn add_value(&mut self, value: NativeValue) -> Checked<TermId> {
        self.builder.charge(value.length())?;
        self.with_scratch(|this, lexical| {
            value.write_lexical(lexical);
            this.add_literal(lexical, RawLiteralKind::Datatype(value.datatype()))
        })
    }

    fn add_triple<R: TripleTermReader>(&mut self, bytes: &[u8], depth: u32) -> Checked<TermId> {
        if depth > self.max_depth {
            return Err(limit(Reason::limit(
                format!(
                    "triple terms are nested deeper than {}",
                    format_count(self.max_depth as usize, "level")
                ),
                "max_depth",
            )));
        }
        let mut slots = Slots::EMPTY;
        R::read_triple(bytes, &mut slots)?;
        let parts = [
            self.add_term::<R>(slots.get(0)?, 0, depth)?,
            self.add_term::<R>(slots.get(1)?, 1, depth)?,
            self.add_term::<R>(slots.get(2)?, 2, depth)?,
        ];
        Ok(self.builder.add_triple_term(parts)?)
    }
}

//! Writes the nodes of a shaped message: keys, values, nested nodes, lists.
//!
//! - In: a [`MessageShape`] and its quads.
//! - Out: events for the sink, and the tokens of keys and scalars.
//! - Cost: each token is created once per batch and term, and then copied. Recursion is as deep as
//!   the nesting of the shape.
//! - Law: the output represents exactly the quads of the shape.

use std::ops::Range;

use super::compact::{CompactContext, PredicateKey, PredicateKeys, ValueCoercion, ValueHolder};
use super::names::{ContextNamespaces, WrittenIri, is_usual};
use super::native::NativeDatatype;
use crate::formats::jsonld::sink::{MAX_KEY, Sink};
use crate::model::batch::MessageBatch;
use crate::model::fast_path::FastPath;
use crate::model::table::TermTable;
use crate::model::term::{Quad, Term, TermId, TermKind, flags, is_language_type};
use crate::model::write::{Style, TermError, term_error};
use crate::syntax::shape::{MessageShape, RdfTerm, ShapeNode, ShapeProperty};
use crate::syntax::text::encode::{StatementError, TextMemo, contains_labels};

/// The message being written.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    pub table: &'a TermTable,
    pub quads: &'a [Quad],
    pub style: &'a Style,
    /// Whether the context is in force.
    pub context: bool,
    /// Whether the nodes must clear the surrounding context.
    pub reset: bool,
    /// Whether values, types and keys are written in expanded form: with arrays, and with objects
    /// for all literals.
    pub expanded: bool,
}

/// The properties of a key that is a full IRI: its strings are not coerced.
static PLAIN: PredicateKey = PredicateKey {
    name: Vec::new(),
    coerced: ValueCoercion::Text(None),
    holder: ValueHolder::Values,
};

const XSD_STRING: &[u8] = b"http://www.w3.org/2001/XMLSchema#string";

/// Writes nodes.
pub struct NodeWriter<S> {
    pub sink: S,
    pub shape: MessageShape,
    pub names: ContextNamespaces,
    /// The user-defined context, used instead of the names.
    pub compact: Option<CompactContext>,
    /// Whether that context is in force.
    pub compacting: bool,
    /// Keys chosen for the values of the open properties, with the places of their quads.
    chosen: Vec<(u32, u32)>,
    /// Tokens of IRIs as types, with the user-defined context.
    types: TextMemo,
    /// Tokens of IRIs, blank nodes and tags.
    tokens: TextMemo,
    /// Native types by datatype.
    natives: Vec<(u32, NativeDatatype)>,
    batch: u32,
    scratch: Vec<u8>,
    /// Whether to write IRIs that JSON-LD readers reject.
    lenient: bool,
    /// Whether a token was written that readers of the context would misinterpret.
    pub hazard: bool,
}

impl<S: Sink> NodeWriter<S> {
    pub fn new(sink: S, compact: Option<CompactContext>, lenient: bool) -> Self {
        Self {
            sink,
            shape: MessageShape::default(),
            names: ContextNamespaces::default(),
            compact,
            compacting: false,
            chosen: Vec::new(),
            types: TextMemo::default(),
            tokens: TextMemo::default(),
            natives: Vec::new(),
            batch: 0,
            scratch: Vec::new(),
            lenient,
            hazard: false,
        }
    }

    /// Returns a writer with the same contexts in force, for other batches of the log.
    pub fn twin(&self) -> Self {
        Self {
            names: self.names.clone(),
            ..Self::new(self.sink.clone(), self.compact.clone(), self.lenient)
        }
    }

    /// Begins a batch.
    pub fn begin_batch(&mut self, batch: &MessageBatch, out: &[u8]) {
        let terms = batch.table().terms().len();
        self.names.begin_batch();
        self.tokens.begin_batch(terms, out);
        if self.compact.is_some() {
            self.types.begin_batch(terms, out);
        }
        self.shape.begin_batch(terms);
        if self.natives.len() < terms {
            self.natives.resize(terms, (0, NativeDatatype::None));
        }
        self.batch = self.batch.wrapping_add(1);
        if self.batch == 0 {
            self.natives.fill((0, NativeDatatype::None));
            self.batch = 1;
        }
    }

    /// Drops all tokens after a change of the context.
    pub fn forget(&mut self) {
        self.tokens.forget();
        self.types.forget();
    }

    /// Adapts the context of the names to a message. Returns whether it changed.
    pub fn adapt_to(&mut self, batch: &MessageBatch, message: usize, each: bool) -> bool {
        if self.compact.is_some() {
            return false;
        }
        let changed = self.names.adapt_to(batch, message, each);
        if changed {
            self.forget();
        }
        changed
    }

    /// Whether there is a context, even if it is not in force.
    pub fn has_context(&self) -> bool {
        self.compact.is_some() || !self.names.is_empty()
    }

    /// Whether the context is protected, so that `null` cannot clear it.
    pub fn is_protected(&self) -> bool {
        self.compact
            .as_ref()
            .is_some_and(CompactContext::is_protected)
    }

    /// Begins the value of a keyword. Keywords are quoted in all syntaxes.
    #[inline]
    pub fn write_keyword(&mut self, quoted: &[u8], out: &mut Vec<u8>) {
        self.sink.begin_key(out);
        let alias = match &self.compact {
            Some(compact) if self.compacting => compact.alias(quoted),
            _ => None,
        };
        match alias {
            Some(alias) => S::write_text(alias, false, out),
            None => out.extend_from_slice(quoted),
        }
        self.sink.end_key(out);
    }

    /// Writes the nodes of a graph that are not nested in others.
    pub fn write_top_nodes(
        &mut self,
        message: Message<'_>,
        graph: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        for node in self.shape.graphs[graph].nodes.clone() {
            if !self.shape.is_inside(node) {
                self.begin_top(message, out);
                self.write_node(message, node, out)?;
                self.sink.end_object(out);
            }
        }
        Ok(())
    }

    /// Begins the object of a node or graph.
    pub fn begin_top(&mut self, message: Message<'_>, out: &mut Vec<u8>) {
        self.sink.begin_object(out);
        if message.reset {
            self.write_null_context(out);
        }
    }

    /// Writes `"@context": null`.
    pub fn write_null_context(&mut self, out: &mut Vec<u8>) {
        self.write_keyword(b"\"@context\"", out);
        self.sink.begin_scalar(out);
        out.extend_from_slice(b"null");
    }

    /// Writes the content of a node.
    pub fn write_node(
        &mut self,
        message: Message<'_>,
        index: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let ShapeNode {
            subject,
            ref properties,
            ..
        } = self.shape.nodes[index as usize];
        let properties = properties.clone();
        if !self.shape.is_inside(index) {
            self.write_id(message, subject, out)?;
        }
        let mut typed = None;
        for index in properties.clone() {
            if self.shape.properties[index as usize].role == RdfTerm::Type {
                typed = self.write_types(message, index, out)?;
                break;
            }
        }
        for index in properties {
            if typed != Some(index) {
                self.write_property(message, index, out)?;
            }
            if out.len() > message.style.max_bytes {
                return Err(StatementError::TooLong);
            }
        }
        Ok(())
    }

    /// Writes `"@id": …`.
    pub fn write_id(
        &mut self,
        message: Message<'_>,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        self.write_keyword(b"\"@id\"", out);
        self.sink.begin_scalar(out);
        self.name(message, id, out)
    }

    /// Writes `"@type": …` if all objects of the property are nodes. Returns the property if it was
    /// written.
    fn write_types(
        &mut self,
        message: Message<'_>,
        index: u32,
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>, StatementError> {
        let range = self.shape.places(index);
        let mut objects = range
            .clone()
            .map(|index| self.shape.quad(message.quads, index).object);
        let nodes = |id| {
            matches!(
                message.table.term(id).kind,
                TermKind::Iri | TermKind::BlankNode
            )
        };
        if !objects.all(nodes) {
            return Ok(None);
        }
        self.write_keyword(b"\"@type\"", out);
        let is_array = message.expanded || range.len() > 1;
        if is_array {
            self.sink.begin_array(out);
        }
        for index in range {
            let object = self.shape.quad(message.quads, index).object;
            self.sink.begin_scalar(out);
            self.write_type_name(message, object, out)?;
        }
        if is_array {
            self.sink.end_array(out);
        }
        Ok(Some(index))
    }

    fn write_property(
        &mut self,
        message: Message<'_>,
        index: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let ShapeProperty {
            predicate, role, ..
        } = self.shape.properties[index as usize];
        let range = self.shape.places(index);
        if self.compacting {
            return self.write_compacted(message, predicate, role, range, out);
        }
        self.sink.begin_key(out);
        self.name(message, predicate, out)?;
        self.sink.end_key(out);
        let is_array = message.expanded || range.len() > 1;
        if is_array {
            self.sink.begin_array(out);
        }
        for index in range {
            let object = self.shape.quad(message.quads, index).object;
            self.write_value(message, object, role, &PLAIN, out)?;
        }
        if is_array {
            self.sink.end_array(out);
        }
        Ok(())
    }

    /// Writes a property with the user-defined context, with each value under the key that fits it.
    fn write_compacted(
        &mut self,
        message: Message<'_>,
        predicate: TermId,
        role: RdfTerm,
        range: Range<u32>,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        self.check_iri(message, predicate)?;
        let text = message.table.text(predicate);
        let keys = match &mut self.compact {
            Some(compact) => compact.find_keys(text),
            None => PredicateKeys::default(),
        };
        let from = self.chosen.len();
        // A key with a list container has at most one list.
        let mut used_lists = 0_u64;
        for rank in range {
            let object = self.shape.quad(message.quads, rank).object;
            let Some(chosen) = self.choose(message, object, role, &keys, used_lists) else {
                self.hazard = true;
                continue;
            };
            if keys[chosen as usize].holder == ValueHolder::List {
                used_lists |= 1 << chosen;
            }
            self.chosen.push((chosen, rank));
        }
        let to = self.chosen.len();
        for (number, key) in (0..).zip(keys.iter()) {
            let has_key = |&(chosen, _): &(u32, u32)| chosen == number;
            let count = self.chosen[from..to]
                .iter()
                .filter(|index| has_key(index))
                .count();
            if count == 0 {
                continue;
            }
            self.sink.begin_key(out);
            S::write_text(&key.name, false, out);
            self.sink.end_key(out);
            if key.holder == ValueHolder::Language {
                self.write_language_map(message, number, from..to, out)?;
                continue;
            }
            let is_array = key.holder == ValueHolder::Set || count > 1;
            if is_array {
                self.sink.begin_array(out);
            }
            for index in from..to {
                let (chosen, rank) = self.chosen[index];
                if chosen != number {
                    continue;
                }
                let object = self.shape.quad(message.quads, rank).object;
                if key.holder == ValueHolder::List {
                    let cell = self.shape.nested_node(message.table, object);
                    self.write_items(message, cell, key, out)?;
                } else {
                    self.write_value(message, object, role, key, out)?;
                }
            }
            if is_array {
                self.sink.end_array(out);
            }
        }
        self.chosen.truncate(from);
        Ok(())
    }

    /// Returns the number of the best key for a value.
    fn choose(
        &mut self,
        message: Message<'_>,
        object: TermId,
        role: RdfTerm,
        keys: &PredicateKeys,
        used_lists: u64,
    ) -> Option<u32> {
        let table = message.table;
        let term = table.term(object);
        let literal = match term.kind {
            TermKind::Iri | TermKind::BlankNode => None,
            _ => Some(term),
        };
        let is_list = literal.is_none()
            && match self.shape.nested_node(table, object) {
                Some(inner) => self.shape.is_list(inner),
                None => role != RdfTerm::Rest && self.shape.is_nil(table, object),
            };
        let tagged = term.kind == TermKind::LangLiteral && !is_directed(term);
        let mut best: Option<(u8, u32)> = None;
        for (number, key) in (0..).zip(keys.iter().take(64)) {
            let rank = match (key.holder, literal) {
                (ValueHolder::List, _) if !is_list || used_lists & (1 << number) != 0 => continue,
                (ValueHolder::Language, _) if !tagged => continue,
                (ValueHolder::List | ValueHolder::Language, _) => 0,
                (_, None) if is_list => u8::from(key.coerced != ValueCoercion::Text(None)),
                (_, None) => match key.coerced {
                    ValueCoercion::Id | ValueCoercion::Vocab => 0,
                    ValueCoercion::Text(_) => 1,
                    ValueCoercion::Datatype(_) => 2,
                },
                (_, Some(literal)) if self.key_fits(message, literal, key) => 0,
                _ => match key.coerced {
                    ValueCoercion::Text(_) => 1,
                    _ => 2,
                },
            };
            if best.is_none_or(|(best_rank, _)| rank < best_rank) {
                best = Some((rank, number));
            }
        }
        best.map(|(_, number)| number)
    }

    /// Whether a literal under a key can be written as a scalar.
    fn key_fits(&mut self, message: Message<'_>, literal: Term, key: &PredicateKey) -> bool {
        let aux = TermId(literal.aux);
        match (literal.kind, &key.coerced) {
            (TermKind::Literal, ValueCoercion::Text(language)) => language.is_none(),
            (TermKind::Literal, ValueCoercion::Datatype(datatype)) => **datatype == *XSD_STRING,
            (TermKind::LangLiteral, ValueCoercion::Text(Some(language))) => {
                **language == *message.table.text(aux) && !is_directed(literal)
            }
            (TermKind::TypedLiteral, ValueCoercion::Datatype(datatype)) => {
                **datatype == *message.table.text(aux)
            }
            (TermKind::TypedLiteral, _) => {
                self.scratch.clear();
                let native = self.find_native_datatype(message.table, aux);
                native.write(message.table.text_of(literal), &mut self.scratch)
            }
            _ => false,
        }
    }

    /// Writes the values of a key by their languages.
    fn write_language_map(
        &mut self,
        message: Message<'_>,
        number: u32,
        chosen: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let table = message.table;
        let mut values: Vec<(&[u8], TermId, Term)> = Vec::new();
        for &(key, rank) in &self.chosen[chosen] {
            if key == number {
                let literal = table.term(self.shape.quad(message.quads, rank).object);
                let language = TermId(literal.aux);
                values.push((table.text(language), language, literal));
            }
        }
        values.sort_by_key(|(tag, ..)| *tag);
        self.sink.begin_object(out);
        for group in values.chunk_by(|(a, ..), (b, ..)| a == b) {
            let &[(_, language, _), ..] = group else {
                continue;
            };
            self.sink.begin_key(out);
            self.name(message, language, out)?;
            self.sink.end_key(out);
            if group.len() > 1 {
                self.sink.begin_array(out);
            }
            for &(_, _, literal) in group {
                self.sink.begin_scalar(out);
                let plain = literal.flags & flags::PLAIN != 0;
                S::write_text(table.text_of(literal), plain, out);
            }
            if group.len() > 1 {
                self.sink.end_array(out);
            }
            if out.len() > message.style.max_bytes {
                return Err(StatementError::TooLong);
            }
        }
        self.sink.end_object(out);
        Ok(())
    }

    /// Writes an object of a property, or an item of a list, under a key.
    #[inline]
    fn write_value(
        &mut self,
        message: Message<'_>,
        object: TermId,
        property: RdfTerm,
        key: &PredicateKey,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        match message.table.term(object).kind {
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                return self.write_literal(message, object, key, out);
            }
            TermKind::BlankNode => {
                if let Some(inner) = self.shape.nested_node(message.table, object) {
                    self.sink.begin_object(out);
                    if self.shape.is_list(inner) {
                        self.write_list(message, Some(inner), key, out)?;
                    } else {
                        self.write_node(message, inner, out)?;
                    }
                    self.sink.end_object(out);
                    return Ok(());
                }
            }
            _ => {}
        }
        let nil = property != RdfTerm::Rest && self.shape.is_nil(message.table, object);
        if !nil && matches!(key.coerced, ValueCoercion::Id | ValueCoercion::Vocab) {
            self.sink.begin_scalar(out);
            return match key.coerced {
                ValueCoercion::Id => self.name(message, object, out),
                _ => self.write_type_name(message, object, out),
            };
        }
        self.sink.begin_object(out);
        if nil {
            self.write_list(message, None, key, out)?;
        } else {
            self.write_id(message, object, out)?;
        }
        self.sink.end_object(out);
        Ok(())
    }

    /// Writes `"@list": […]`, given the first cell of the list, or `None` for an empty list.
    fn write_list(
        &mut self,
        message: Message<'_>,
        cell: Option<u32>,
        key: &PredicateKey,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        self.write_keyword(b"\"@list\"", out);
        self.write_items(message, cell, key, out)
    }

    /// Writes the array of a list's items.
    fn write_items(
        &mut self,
        message: Message<'_>,
        mut cell: Option<u32>,
        key: &PredicateKey,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        self.sink.begin_array(out);
        while let Some((first, rest)) = cell.and_then(|cell| self.shape.cell(message.quads, cell)) {
            let (first, rest) = (first.object, rest.object);
            self.write_value(message, first, RdfTerm::First, key, out)?;
            cell = self.shape.nested_node(message.table, rest);
            if out.len() > message.style.max_bytes {
                return Err(StatementError::TooLong);
            }
        }
        self.sink.end_array(out);
        Ok(())
    }

    fn write_literal(
        &mut self,
        message: Message<'_>,
        id: TermId,
        key: &PredicateKey,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let table = message.table;
        let term = table.term(id);
        let text = table.text_of(term);
        let plain = term.flags & flags::PLAIN != 0;
        let aux = TermId(term.aux);
        let bare = if self.compacting {
            term.kind != TermKind::TypedLiteral && self.key_fits(message, term, key)
        } else {
            !message.expanded && term.kind == TermKind::Literal
        };
        if bare {
            if term.kind == TermKind::LangLiteral
                && let Some(error) = term_error(table, aux, false)
            {
                return Err(StatementError::Term(error));
            }
            self.sink.begin_scalar(out);
            S::write_text(text, plain, out);
            return Ok(());
        }
        if term.kind == TermKind::TypedLiteral && !self.lenient && is_language_type(table.text(aux))
        {
            return Err(StatementError::Term(TermError::Untagged(aux)));
        }
        let native = match term.kind {
            TermKind::TypedLiteral => match &key.coerced {
                ValueCoercion::Datatype(datatype) if **datatype != *table.text(aux) => {
                    NativeDatatype::None
                }
                _ => self.find_native_datatype(table, aux),
            },
            _ => NativeDatatype::None,
        };
        if native != NativeDatatype::None {
            self.scratch.clear();
            let lossless = native.write(text, &mut self.scratch);
            if lossless {
                if message.expanded {
                    self.sink.begin_object(out);
                    self.write_keyword(b"\"@value\"", out);
                }
                self.sink.begin_scalar(out);
                out.extend_from_slice(&self.scratch);
                if message.expanded {
                    self.sink.end_object(out);
                }
                return Ok(());
            }
        }
        if let (TermKind::TypedLiteral, ValueCoercion::Datatype(datatype)) =
            (term.kind, &key.coerced)
            && **datatype == *table.text(aux)
        {
            self.sink.begin_scalar(out);
            S::write_text(text, plain, out);
            return Ok(());
        }
        self.sink.begin_object(out);
        self.write_keyword(b"\"@value\"", out);
        self.sink.begin_scalar(out);
        S::write_text(text, plain, out);
        match term.kind {
            TermKind::TypedLiteral => {
                self.write_keyword(b"\"@type\"", out);
                self.sink.begin_scalar(out);
                self.write_type_name(message, aux, out)?;
            }
            TermKind::LangLiteral => {
                self.write_keyword(b"\"@language\"", out);
                self.sink.begin_scalar(out);
                self.name(message, aux, out)?;
                if is_directed(term) {
                    self.write_keyword(b"\"@direction\"", out);
                    self.sink.begin_scalar(out);
                    let is_ltr = term.flags & flags::LTR != 0;
                    S::write_text(if is_ltr { b"ltr" } else { b"rtl" }, true, out);
                }
            }
            _ => {}
        }
        self.sink.end_object(out);
        Ok(())
    }

    /// Returns the native type of a datatype.
    #[inline]
    fn find_native_datatype(&mut self, table: &TermTable, datatype: TermId) -> NativeDatatype {
        let entry = &mut self.natives[datatype.index()];
        if entry.0 != self.batch {
            *entry = (self.batch, NativeDatatype::from_iri(table.text(datatype)));
        }
        entry.1
    }

    /// Writes the token of a type.
    fn write_type_name(
        &mut self,
        message: Message<'_>,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        if !self.compacting || message.table.term(id).kind != TermKind::Iri {
            return self.name(message, id, out);
        }
        if !self.types.copy(id, out) {
            let start = out.len();
            self.new_iri(message, id, true, out)?;
            self.types.keep(id, start, out);
        }
        Ok(())
    }

    /// Rejects an IRI whose statements readers would drop, unless `lenient`.
    #[inline]
    fn check_iri(&self, message: Message<'_>, id: TermId) -> Result<(), StatementError> {
        let text = message.table.text(id);
        if self.lenient || FastPath::UsualIris.is_on() && is_usual(text) {
            return Ok(());
        }
        let error = term_error(message.table, id, false).or_else(|| {
            let is_valid =
                std::str::from_utf8(text).is_ok_and(|text| oxiri::Iri::parse(text).is_ok());
            (!is_valid).then_some(TermError::Invalid(id))
        });
        error.map_or(Ok(()), |error| Err(StatementError::Term(error)))
    }

    /// Writes the token of an IRI with the user-defined context.
    fn new_iri(
        &mut self,
        message: Message<'_>,
        id: TermId,
        vocab: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        self.check_iri(message, id)?;
        let text = message.table.text(id);
        match self
            .compact
            .as_mut()
            .and_then(|compact| compact.name(text, vocab))
        {
            Some(name) => S::write_text(&name, false, out),
            None => self.hazard = true,
        }
        Ok(())
    }

    /// Writes the token of an IRI, a blank node or a language tag.
    #[inline]
    pub fn name(
        &mut self,
        message: Message<'_>,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        if self.tokens.copy(id, out) {
            return Ok(());
        }
        self.new_name(message, id, out)
    }

    fn new_name(
        &mut self,
        message: Message<'_>,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let table = message.table;
        let term = table.term(id);
        let text = table.text_of(term);
        let start = out.len();
        match term.kind {
            TermKind::Iri if self.compacting => self.new_iri(message, id, false, out)?,
            TermKind::Iri => {
                self.check_iri(message, id)?;
                if self
                    .names
                    .write_iri::<S>(text, message.context, &mut self.scratch, out)
                    == WrittenIri::Hazard
                {
                    self.hazard = true;
                    return Ok(());
                }
            }
            TermKind::Language => {
                if let Some(error) = term_error(table, id, false) {
                    return Err(StatementError::Term(error));
                }
                S::write_text(text, true, out);
            }
            _ => {
                self.scratch.clear();
                message.style.write(table, id, &mut self.scratch);
                if self.compacting && self.is_term() {
                    self.hazard = true;
                }
                S::write_text(&self.scratch, true, out);
            }
        }
        // Not kept if the sink may move a long key, because kept tokens are positions in the
        // output.
        let is_stable = out.len() - start <= MAX_KEY;
        if is_stable && (message.style.message_number.is_none() || !contains_labels(term.kind)) {
            self.tokens.keep(id, start, out);
        }
        Ok(())
    }

    /// Whether readers of the user-defined context interpret the text in `scratch` as a term.
    fn is_term(&self) -> bool {
        self.compact
            .as_ref()
            .is_some_and(|compact| compact.is_term(&self.scratch))
    }
}

fn is_directed(literal: Term) -> bool {
    literal.flags & (flags::LTR | flags::RTL) != 0
}

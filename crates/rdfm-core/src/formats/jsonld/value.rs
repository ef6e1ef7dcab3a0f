//! Literals: value expansion (JSON-LD 1.1 API, 5.3.2), value objects, and their conversion (8.2.2).

use super::canonical;
use super::context::{DatatypeKind, Direction, Expanded, Meaning};
use super::definition::{Coercion, Containers, Override};
use super::error::{JsonLdError, Read};
use super::keyword::Keyword;
use super::number::{self, DoubleDigits};
use super::options::RdfDirection;
use super::shape::ObjectShape;
use super::terms::MessageTerms;
use super::walk::{ActiveProperty, DROPPED, Item, QuadSink, RelativeTo, ValueSlot, Walk};
use crate::model::chars;
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::Remedy;
use crate::model::term::{TermId, flags, is_language_type};
use crate::syntax::json::{JsonKind, View};

const RDF_VALUE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#value";
const RDF_LANGUAGE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#language";
const RDF_DIRECTION: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#direction";
const RDF_JSON: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";
const XSD_BOOLEAN: &[u8] = b"http://www.w3.org/2001/XMLSchema#boolean";
const XSD_INTEGER: &[u8] = b"http://www.w3.org/2001/XMLSchema#integer";
const XSD_DOUBLE: &[u8] = b"http://www.w3.org/2001/XMLSchema#double";
const I18N: &[u8] = b"https://www.w3.org/ns/i18n#";

/// Language and direction of a string.
#[derive(Clone, Copy, Default)]
struct StringAttributes<'t> {
    language: Option<&'t [u8]>,
    direction: Option<Direction>,
    /// Node of its `@index`, or 0.
    index: u32,
}

impl Walk<'_> {
    /// Processes a string, a number or a boolean. Returns true if there is no property, in
    /// which case the value has no meaning.
    #[inline]
    pub fn walk_scalar(&mut self, value: u32, context: u32, slot: &ValueSlot) -> Read<bool> {
        let Some(mut active) = slot.property else {
            return Ok(true);
        };
        let mut context = context;
        let uncached = self.uncached.len();
        if let Some(scoped) = self.scoped_context(active) {
            context = self.apply_property_context(context, &scoped, value)?;
            active = self.find_in_context(active, context);
        }
        let sink = self.sink(slot);
        let item = self.expand_value(value, context, active, sink)?;
        self.uncached.truncate(uncached);
        self.deliver_plain(item, slot, value)?;
        Ok(false)
    }

    /// Expands a string, a number or a boolean as the value of a property.
    #[inline]
    pub fn expand_value(
        &mut self,
        value: u32,
        context: u32,
        active: ActiveProperty,
        sink: QuadSink,
    ) -> Read<Item> {
        let is_string = matches!(self.view.kind(value), JsonKind::String | JsonKind::Key);
        let Some(definition) = self.definition(active) else {
            if is_string {
                return self.add_tagged_string(value, context, None, sink);
            }
            return Ok(Item::Value(self.add_literal(value, None)?));
        };
        match &definition.coercion {
            Coercion::Id if is_string => Ok(Item::Node(self.add_name_of_node(
                value,
                context,
                RelativeTo::Base,
                "the @id",
            )?)),
            Coercion::Vocab if is_string => Ok(Item::Node(self.add_name_of_node(
                value,
                context,
                RelativeTo::Both,
                "the @id",
            )?)),
            Coercion::Json => Ok(Item::Value(self.add_json(value)?)),
            Coercion::Datatype(_) => {
                let Some(definition) = self.active(active).definition.clone() else {
                    return Ok(Item::Value(DROPPED));
                };
                let Coercion::Datatype(datatype) = &definition.coercion else {
                    return Ok(Item::Value(DROPPED));
                };
                let datatype = self.datatype(datatype, value)?;
                Ok(Item::Value(match datatype {
                    Some(datatype) => self.add_literal(value, Some(datatype))?,
                    None => DROPPED,
                }))
            }
            _ if is_string => self.add_tagged_string(value, context, Some(active), sink),
            _ => Ok(Item::Value(self.add_literal(value, None)?)),
        }
    }

    /// Creates a string with the language and direction of a property or of the context.
    fn add_tagged_string(
        &mut self,
        value: u32,
        context: u32,
        active: Option<ActiveProperty>,
        sink: QuadSink,
    ) -> Read<Item> {
        let state = &self.contexts.get(context).state;
        let definition = active.and_then(|active| self.definition(active));
        if definition.is_none() && state.language.is_none() && state.direction.is_none() {
            return self.add_string(value, StringAttributes::default(), sink);
        }
        let own = definition.map(|definition| &definition.language);
        let language = match own {
            Some(own) => own.or(state.language.as_deref()),
            None => state.language.as_deref(),
        };
        let direction = match definition.map(|definition| definition.direction.clone()) {
            Some(Override::Null) => None,
            Some(Override::Value(direction)) => Some(direction),
            Some(Override::Default) | None => state.direction,
        };
        let language: Option<Box<[u8]>> = language.map(Into::into);
        let tagged = StringAttributes {
            language: language.as_deref(),
            direction,
            index: 0,
        };
        self.add_string(value, tagged, sink)
    }

    /// Creates a string with a language and direction.
    fn add_string(
        &mut self,
        value: u32,
        tagged: StringAttributes<'_>,
        sink: QuadSink,
    ) -> Read<Item> {
        let (text, clean) = (self.view.text(value), !self.view.is_owned(value));
        let StringAttributes {
            language,
            direction,
            index,
        } = tagged;
        if let Some(tag) = language
            && !chars::is_language_tag(tag)
        {
            let result = self.reject(value, "the language", tag, "is not a valid language tag")?;
            return Ok(Item::Value(result));
        }
        let direction = direction.filter(|_| self.options.direction != RdfDirection::None);
        let Some(direction) = direction else {
            return Ok(Item::Value(match language {
                Some(tag) => self.terms.add_tagged(self.builder, text, clean, tag, 0)?,
                None => MessageTerms::add_string(self.builder, text, clean)?,
            }));
        };
        let (name, flag) = match direction {
            Direction::Ltr => (&b"ltr"[..], flags::LTR),
            Direction::Rtl => (&b"rtl"[..], flags::RTL),
        };
        match (self.options.direction, language) {
            (RdfDirection::I18n, _) => {
                let tag = language.unwrap_or_default().to_ascii_lowercase();
                let datatype = [I18N, &tag, b"_", name].concat();
                let result = self.terms.add_typed(self.builder, text, clean, &datatype)?;
                Ok(Item::Value(result))
            }
            (RdfDirection::Compound, _) => {
                let result = self.add_compound_literal(value, language, name, index, sink)?;
                Ok(Item::Value(result))
            }
            (_, Some(tag)) => {
                let result = self
                    .terms
                    .add_tagged(self.builder, text, clean, tag, flag)?;
                Ok(Item::Value(result))
            }
            (_, None) => Err(JsonLdError::with_class(
                ErrorClass::Malformed,
                Some(self.at(value)),
                format!(
                    "the value {} has a base direction but no language, which RDF 1.2 does not \
                     allow",
                    quote(text)
                ),
            )
            .with(Remedy::read(
                "rdf_direction",
                "i18n-datatype|compound-literal",
                "keeps the direction",
            ))
            .with(Remedy::read("rdf_direction", "none", "drops directions"))),
        }
    }

    /// Creates a blank node for a string with a direction. Equal values of a property share one
    /// node.
    fn add_compound_literal(
        &mut self,
        value: u32,
        language: Option<&[u8]>,
        direction: &[u8],
        index: u32,
        sink: QuadSink,
    ) -> Read<TermId> {
        let (text, clean) = (self.view.text(value), !self.view.is_owned(value));
        let language = language.map(<[u8]>::to_ascii_lowercase);
        if let Some((subject, predicate)) = sink.subject_and_predicate {
            let table = self.builder.table();
            // The value's own @index takes precedence over the key of its map.
            let index = if index == 0 { sink.index } else { index };
            let mut key = vec![u8::from(index != 0)];
            for part in [
                table.text(sink.graph),
                table.text(subject),
                table.text(predicate),
                language.as_deref().unwrap_or_default(),
                direction,
                self.view.text(index),
                text,
            ] {
                key.extend_from_slice(&(part.len() as u64).to_le_bytes());
                key.extend_from_slice(part);
            }
            self.builder.charge(key.len() + 64)?;
            if !self.compounds.insert(key.into()) {
                return Ok(DROPPED);
            }
        }
        let subject = self.add_anonymous()?;
        let parts = [
            (RDF_VALUE, Some((text, clean))),
            (RDF_LANGUAGE, language.as_deref().map(|tag| (tag, true))),
            (RDF_DIRECTION, Some((direction, true))),
        ];
        for (predicate, part) in parts {
            let Some((text, clean)) = part else {
                continue;
            };
            let predicate = self.terms.add_valid_iri(self.builder, predicate)?;
            let object = MessageTerms::add_string(self.builder, text, clean)?;
            self.add_quad(subject, predicate, object, sink.graph)?;
        }
        Ok(subject)
    }

    /// Returns the datatype, or `None` if the literal is dropped because its datatype needs a
    /// language.
    fn datatype<'t>(&self, datatype: &'t [u8], value: u32) -> Read<Option<&'t [u8]>> {
        if is_language_type(datatype) {
            self.reject(value, "the datatype", datatype, "needs a language")?;
            return Ok(None);
        }
        Ok(Some(datatype))
    }

    /// Creates a literal from a string, a number or a boolean. By default, the kind of the JSON
    /// value determines the datatype.
    fn add_literal(&mut self, value: u32, datatype: Option<&[u8]>) -> Read<TermId> {
        let mut scratch = std::mem::take(self.scratch);
        scratch.clear();
        let (text, clean) = lexical(
            &self.view,
            value,
            datatype == Some(XSD_DOUBLE),
            self.options.digits,
            &mut scratch,
        );
        let own = match self.view.kind(value) {
            JsonKind::Number if text.contains(&b'E') || text.ends_with(b"INF") => Some(XSD_DOUBLE),
            JsonKind::Number => Some(XSD_INTEGER),
            JsonKind::True | JsonKind::False => Some(XSD_BOOLEAN),
            _ => None,
        };
        let result = match (datatype, own) {
            (Some(datatype), _) => self.add_typed(value, text, clean, datatype),
            (None, Some(own)) => Ok(self.terms.add_typed(self.builder, text, clean, own)?),
            (None, None) => Ok(MessageTerms::add_string(self.builder, text, clean)?),
        };
        *self.scratch = scratch;
        result
    }

    /// Creates a literal with a datatype that might not be an IRI.
    fn add_typed(&mut self, value: u32, text: &[u8], clean: bool, datatype: &[u8]) -> Read<TermId> {
        if self.terms.add_iri(self.builder, datatype)?.is_none() {
            return self.reject_non_iri(value, datatype, "the datatype");
        }
        Ok(self.terms.add_typed(self.builder, text, clean, datatype)?)
    }

    /// Creates the JSON literal of a value.
    pub fn add_json(&mut self, value: u32) -> Read<TermId> {
        let mut text = Vec::new();
        if let Err(number) = canonical::write(&self.view, value, &mut text) {
            return Err(JsonLdError::with_class(
                ErrorClass::Malformed,
                Some(self.at(number)),
                format!(
                    "the number {} of a JSON literal exceeds the range of doubles and has no \
                     canonical form",
                    quote(self.view.text(number))
                ),
            ));
        }
        Ok(self.terms.add_typed(self.builder, &text, false, RDF_JSON)?)
    }

    /// Processes a value object (JSON-LD 1.1 API, 5.1.2, step 15). Returns true if it has no
    /// meaning.
    pub fn walk_value_object(
        &mut self,
        object: u32,
        shape: &ObjectShape,
        context: u32,
        type_scoped: u32,
        slot: &ValueSlot,
    ) -> Read<bool> {
        let value = shape.value;
        let kind = self.view.kind(value);
        let tagged = shape.language != 0 || shape.direction != 0;
        let is_json = self.is_json_type(shape, context);
        if !is_json && matches!(kind, JsonKind::Object | JsonKind::Array) {
            return Err(self.error_at(
                "invalid value object value",
                value,
                "@value must be a string, a number, a boolean or null",
            ));
        }
        self.discard_entries(shape)?;
        if self.has_more_than_a_value(shape)? || (shape.types > 0 && tagged) {
            return Err(self.error_at(
                "invalid value object",
                object,
                "apart from @value, a value object may contain only @type, @language, @direction \
                 and @index, and not @type together with @language or @direction",
            ));
        }
        if !is_json && kind == JsonKind::Null {
            return Ok(true);
        }
        if shape.language != 0 && kind != JsonKind::String {
            return Err(self.error_at(
                "invalid language-tagged value",
                value,
                "only strings may have a language",
            ));
        }
        let term = if is_json {
            if slot.property.is_none() {
                return Ok(true);
            }
            self.add_json(value)?
        } else if shape.types > 0 {
            match self.find_value_type(shape, type_scoped)? {
                Some(datatype) if slot.property.is_some() => {
                    match self.datatype(&datatype, value)? {
                        Some(datatype) => self.add_literal(value, Some(datatype))?,
                        None => DROPPED,
                    }
                }
                _ => DROPPED,
            }
        } else if slot.property.is_none() {
            return Ok(true);
        } else if tagged && kind == JsonKind::String {
            let language = (shape.language != 0).then(|| self.view.text(shape.language));
            let tagged = StringAttributes {
                language,
                direction: shape.base_direction,
                index: shape.index,
            };
            return self.deliver_tagged(value, tagged, slot);
        } else {
            self.add_literal(value, None)?
        };
        if slot.property.is_none() {
            return Ok(true);
        }
        self.deliver_plain(Item::Value(term), slot, value)?;
        Ok(false)
    }

    /// Fast path for a value with a single type that the context has cached as an IRI. Returns
    /// `None` for other values.
    #[inline]
    pub fn add_plain_typed(&mut self, value: u32, kind: u32, context: u32) -> Read<Option<Item>> {
        if self.view.kind(kind) != JsonKind::String {
            return Ok(None);
        }
        let Some(number) = self.find_cached_datatype(kind, context) else {
            return Ok(None);
        };
        Ok(Some(Item::Value(
            self.add_with_datatype(value, number, context)?,
        )))
    }

    /// Returns the number of a datatype in the cache of the context. Returns `None` if the datatype
    /// is not cached, is not an IRI, or needs a language.
    #[inline]
    pub fn find_cached_datatype(&mut self, kind: u32, context: u32) -> Option<u32> {
        let meaning = self.contexts.find_meaning(context, self.view.text(kind));
        let Meaning::Property(number) = meaning else {
            return None;
        };
        let property = self.contexts.property(context, number);
        (property.is_iri && !property.is_language_type).then_some(number)
    }

    /// Creates a literal whose datatype is cached in the context.
    #[inline]
    pub fn add_with_datatype(&mut self, value: u32, datatype: u32, context: u32) -> Read<TermId> {
        let property = self.contexts.property_mut(context, datatype);
        let datatype = self.terms.add_property(self.builder, property)?;
        let kind = property.datatype;
        let mut scratch = std::mem::take(self.scratch);
        let (text, clean) = lexical(
            &self.view,
            value,
            kind == DatatypeKind::Double,
            self.options.digits,
            &mut scratch,
        );
        let result = match kind {
            DatatypeKind::String => MessageTerms::add_string(self.builder, text, clean),
            _ => MessageTerms::add_with_datatype(self.builder, text, clean, datatype),
        };
        *self.scratch = scratch;
        Ok(result?)
    }

    fn deliver_tagged(
        &mut self,
        value: u32,
        tagged: StringAttributes<'_>,
        slot: &ValueSlot,
    ) -> Read<bool> {
        let item = self.add_string(value, tagged, self.sink(slot))?;
        self.deliver_plain(item, slot, value)?;
        Ok(false)
    }

    /// Returns the datatype of a value object.
    fn find_value_type(&mut self, shape: &ObjectShape, context: u32) -> Read<Option<Vec<u8>>> {
        let node = shape.first_type;
        let invalid = |walk: &Self| {
            walk.error_at(
                "invalid typed value",
                node,
                "the @type of a value must be one IRI",
            )
        };
        if shape.types > 1 || self.view.kind(node) != JsonKind::String {
            return Err(invalid(self));
        }
        let mut iri = Vec::new();
        let state = &self.contexts.get(context).state;
        match state.expand(self.view.text(node), true, true, &mut iri) {
            Expanded::Text if !iri.starts_with(b"_:") => {}
            _ => return Err(invalid(self)),
        }
        if !super::iri::is_iri(&iri) {
            return Err(invalid(self));
        }
        Ok(Some(iri))
    }

    /// Processes a map of languages to strings.
    pub fn walk_language_map(
        &mut self,
        map: u32,
        active: ActiveProperty,
        context: u32,
        slot: &ValueSlot,
    ) -> Read<()> {
        let direction = match self
            .definition(active)
            .map(|definition| definition.direction.clone())
        {
            Some(Override::Null) => None,
            Some(Override::Value(direction)) => Some(direction),
            Some(Override::Default) | None => self.contexts.get(context).state.direction,
        };
        for key in self.view.keys(map) {
            let tag = self.view.text(key);
            let meaning = self.contexts.find_meaning(context, tag);
            self.contexts.check_work()?;
            let none = meaning == Meaning::Keyword(Keyword::None);
            let tagged = StringAttributes {
                language: (!none).then_some(tag),
                direction,
                index: 0,
            };
            let values = key + 1;
            let view = self.view;
            let mut each = |item: u32| match view.kind(item) {
                JsonKind::Null => Ok(()),
                JsonKind::String => {
                    let literal = self.add_string(item, tagged, self.sink(slot))?;
                    self.deliver_plain(literal, slot, item)
                }
                _ => Err(self.error_at(
                    "invalid language map value",
                    item,
                    "the values of a language map must be strings",
                )),
            };
            if view.kind(values) == JsonKind::Array {
                for item in view.items(values) {
                    each(item)?;
                }
            } else {
                each(values)?;
            }
        }
        Ok(())
    }

    /// Whether the value of a property is a language map.
    #[inline]
    pub fn is_language_map(&self, containers: Containers, value: u32) -> bool {
        containers.has(Containers::LANGUAGE) && self.view.kind(value) == JsonKind::Object
    }
}

/// Returns the lexical form of a string, a number or a boolean, and whether that form needs no
/// escapes. With `double`, numbers are formatted as doubles.
#[inline]
fn lexical<'t>(
    view: &View<'t>,
    value: u32,
    double: bool,
    digits: DoubleDigits,
    scratch: &'t mut Vec<u8>,
) -> (&'t [u8], bool) {
    match view.kind(value) {
        JsonKind::Number => {
            scratch.clear();
            number::write_canonical(view.text(value), double, digits, scratch);
            (scratch, true)
        }
        JsonKind::True => (b"true", true),
        JsonKind::False => (b"false", true),
        _ => (view.text(value), !view.is_owned(value)),
    }
}

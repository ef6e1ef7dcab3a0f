//! Classifies objects by their keys: values, lists, sets or nodes (JSON-LD 1.1 API, 5.1.2, steps 7
//! to 14).

use super::context::{Direction, Meaning};
use super::definition::{Coercion, Containers};
use super::error::{JsonLdError, Read};
use super::keyword::Keyword;
use super::process::direction_of;
use super::walk::{ActiveProperty, ObjectEntry, Walk};
use crate::model::error::quote;
use crate::syntax::json::JsonKind;

/// The keywords of an object, as nodes of the tape; 0 means absent, because node 0 is never a
/// keyword's value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ObjectShape {
    /// Range of its entries in [`Walk::entries`].
    pub from: usize,
    pub to: usize,
    pub value: u32,
    pub language: u32,
    pub direction: u32,
    pub base_direction: Option<Direction>,
    pub id: u32,
    pub index: u32,
    pub list: u32,
    pub set: u32,
    pub graph: u32,
    /// The contexts in which these keywords occur. They differ if `@nest` has its own context.
    pub id_context: u32,
    pub member_context: u32,
    pub graph_context: u32,
    /// Number of keys that mean `@type`, and the value of the first of these keys.
    pub types: u32,
    pub first_type: u32,
    pub included: bool,
    pub reverse: bool,
    pub properties: bool,
}

impl Walk<'_> {
    /// Whether a context that does not propagate still applies to an object, because the object is
    /// a value or a reference.
    pub fn keeps_type_scope(&mut self, object: u32, context: u32) -> bool {
        let (mut keys, mut id) = (0, false);
        for key in self.view.keys(object) {
            keys += 1;
            match self.contexts.find_meaning(context, self.view.text(key)) {
                Meaning::Keyword(Keyword::Value) => return true,
                Meaning::Keyword(Keyword::Id) => id = true,
                _ => {}
            }
        }
        keys == 1 && id
    }

    /// Collects the keys of an object.
    #[inline]
    pub fn find_shape(&mut self, object: u32, context: u32) -> Read<ObjectShape> {
        let from = self.entries.len();
        let mut shape = ObjectShape {
            from,
            ..ObjectShape::default()
        };
        self.collect(object, context, &mut shape)?;
        shape.to = self.entries.len();
        Ok(shape)
    }

    pub fn collect(&mut self, object: u32, context: u32, shape: &mut ObjectShape) -> Read<()> {
        let view = self.view;
        for key in view.keys(object) {
            let value = key + 1;
            let meaning = self.contexts.find_meaning(context, view.text(key));
            self.contexts.check_work()?;
            match meaning {
                Meaning::Property(_) | Meaning::Uncached => {
                    shape.properties = true;
                    self.entries.push(ObjectEntry {
                        meaning,
                        value,
                        context,
                    });
                }
                Meaning::Keyword(keyword) => self.read_keyword(key, keyword, context, shape)?,
                Meaning::Null => {}
                Meaning::Unmapped => self.drop_key(key),
            }
        }
        Ok(())
    }

    pub fn read_keyword(
        &mut self,
        key: u32,
        keyword: Keyword,
        context: u32,
        shape: &mut ObjectShape,
    ) -> Read<()> {
        let value = key + 1;
        let kind = self.view.kind(value);
        let field = match keyword {
            Keyword::Context => {
                // Aliases are not allowed, so this is the object's own context, which was already
                // processed.
                return Ok(());
            }
            Keyword::Id => &mut shape.id,
            Keyword::Value => &mut shape.value,
            Keyword::Language => &mut shape.language,
            Keyword::Direction => &mut shape.direction,
            Keyword::Index => &mut shape.index,
            Keyword::List => &mut shape.list,
            Keyword::Set => &mut shape.set,
            Keyword::Graph => &mut shape.graph,
            Keyword::Type => {
                self.check_types(value)?;
                if shape.types == 0 {
                    shape.first_type = value;
                }
                shape.types += 1;
                self.push_keyword(keyword, value, context);
                return Ok(());
            }
            Keyword::Included => {
                shape.included = true;
                self.push_keyword(keyword, value, context);
                return Ok(());
            }
            Keyword::Reverse => {
                if shape.reverse {
                    return Err(self.colliding(key));
                }
                if kind != JsonKind::Object {
                    return Err(self.error_at(
                        "invalid @reverse value",
                        value,
                        "@reverse must be an object",
                    ));
                }
                shape.reverse = true;
                self.push_keyword(keyword, value, context);
                return Ok(());
            }
            Keyword::Nest => return self.read_nested(key, context, shape),
            _ => {
                self.drop_key(key);
                return Ok(());
            }
        };
        if *field != 0 {
            return Err(self.colliding(key));
        }
        *field = value;
        match keyword {
            Keyword::Id => shape.id_context = context,
            Keyword::List | Keyword::Set => shape.member_context = context,
            Keyword::Graph => shape.graph_context = context,
            _ => {}
        }
        let (code, reason) = match keyword {
            Keyword::Id => ("invalid @id value", "@id must be a string"),
            Keyword::Language => (
                "invalid language-tagged string",
                "@language must be a string",
            ),
            Keyword::Index => ("invalid @index value", "@index must be a string"),
            Keyword::Direction => {
                shape.base_direction = direction_of(&self.view, value);
                if shape.base_direction.is_some() {
                    return Ok(());
                }
                let reason = "@direction must be \"ltr\" or \"rtl\"";
                return Err(self.error_at("invalid base direction", value, reason));
            }
            _ => return Ok(()),
        };
        if kind != JsonKind::String {
            return Err(self.error_at(code, value, reason));
        }
        Ok(())
    }

    #[cold]
    pub fn colliding(&self, key: u32) -> JsonLdError {
        let reason = format!(
            "the key {} has the same meaning as another key of the object",
            quote(self.view.text(key))
        );
        self.error_at("colliding keywords", key, &reason)
    }

    #[inline]
    pub fn push_keyword(&mut self, keyword: Keyword, value: u32, context: u32) {
        self.entries.push(ObjectEntry {
            meaning: Meaning::Keyword(keyword),
            value,
            context,
        });
    }

    pub fn check_types(&self, value: u32) -> Read<()> {
        let view = self.view;
        let string = |node: u32| view.kind(node) == JsonKind::String;
        let error = match view.kind(value) {
            JsonKind::String => return Ok(()),
            JsonKind::Array => match view.items(value).find(|&item| !string(item)) {
                None => return Ok(()),
                Some(item) => item,
            },
            _ => value,
        };
        Err(self.error_at(
            "invalid type value",
            error,
            "@type must be a string or an array of strings",
        ))
    }

    /// Collects the keys of the objects in `@nest`. They belong to the enclosing object.
    pub fn read_nested(&mut self, key: u32, context: u32, shape: &mut ObjectShape) -> Read<()> {
        let view = self.view;
        let value = key + 1;
        let terms = &self.contexts.get(context).state.terms;
        let definition = terms.get(view.text(key));
        let scoped = definition.and_then(|definition| definition.scoped.clone());
        let context = match scoped {
            Some(scoped) => self.apply_property_context(context, &scoped, value)?,
            None => context,
        };
        if view.kind(value) != JsonKind::Array {
            return self.read_nest(value, context, shape);
        }
        for item in view.items(value) {
            self.read_nest(item, context, shape)?;
        }
        Ok(())
    }

    pub fn read_nest(&mut self, object: u32, context: u32, shape: &mut ObjectShape) -> Read<()> {
        let view = self.view;
        if view.kind(object) != JsonKind::Object {
            return Err(self.error_at("invalid @nest value", object, "@nest must contain objects"));
        }
        for key in view.keys(object) {
            let meaning = self.contexts.find_meaning(context, view.text(key));
            if meaning == Meaning::Keyword(Keyword::Value) {
                return Err(self.error_at(
                    "invalid @nest value",
                    key,
                    "@nest must not contain @value",
                ));
            }
        }
        self.collect(object, context, shape)
    }

    /// Whether an object is a node object with content, not a value or a reference.
    pub fn is_node_object(&mut self, object: u32, context: u32) -> Read<bool> {
        let (shape, _) = self.inspect(object, context)?;
        let is_node = shape.value == 0
            && shape.list == 0
            && (shape.types > 0
                || shape.set != 0
                || shape.graph != 0
                || shape.included
                || (shape.id != 0 && shape.language != 0)
                || shape.index != 0
                || shape.direction != 0
                || self.has_reverse(&shape)?
                || self.has_properties(&shape)?);
        self.entries.truncate(shape.from);
        Ok(is_node)
    }

    /// Collects the keys of an object that is processed later, without counting dropped keys. The
    /// caller removes the entries.
    pub fn inspect(&mut self, object: u32, mut context: u32) -> Read<(ObjectShape, u32)> {
        if let Some(previous) = self.contexts.get(context).state.previous
            && !self.keeps_type_scope(object, context)
        {
            context = previous;
        }
        let (context, _) = self.apply_own_context(object, context)?;
        let dropped = self.dropped.clone();
        let shape = self.find_shape(object, context);
        *self.dropped = dropped;
        Ok((shape?, context))
    }

    /// Whether a value object contains keys that are not allowed with a value.
    pub fn has_more_than_a_value(&mut self, shape: &ObjectShape) -> Read<bool> {
        let keywords = shape.id != 0 || shape.graph != 0 || shape.list != 0 || shape.set != 0;
        Ok(keywords || shape.included || self.has_reverse(shape)? || self.has_properties(shape)?)
    }

    /// Whether a list or set object contains keys that are not allowed.
    pub fn has_more_than_an_index(&mut self, shape: &ObjectShape) -> Read<bool> {
        let keywords = shape.id != 0 || shape.graph != 0 || shape.types > 0;
        Ok(keywords
            || shape.language != 0
            || shape.direction != 0
            || shape.included
            || self.has_reverse(shape)?
            || self.has_properties(shape)?)
    }

    /// Whether an object's `@reverse` has an entry that adds something to the object (API, 5.1.2,
    /// step 13.4.13).
    fn has_reverse(&mut self, shape: &ObjectShape) -> Read<bool> {
        let entries = self.entries.get(shape.from..shape.to).unwrap_or_default();
        let reverse = Meaning::Keyword(Keyword::Reverse);
        let Some(&ObjectEntry { value, context, .. }) =
            entries.iter().find(|entry| entry.meaning == reverse)
        else {
            return Ok(false);
        };
        let context = self.reverse_context(value, context)?;
        let view = self.view;
        for key in view.keys(value) {
            let meaning = self.contexts.find_meaning(context, view.text(key));
            self.contexts.check_work()?;
            let adds = match meaning {
                Meaning::Keyword(Keyword::Context) | Meaning::Null | Meaning::Unmapped => false,
                // An error, which is reported when the map is processed.
                Meaning::Keyword(_) => true,
                Meaning::Property(_) | Meaning::Uncached => {
                    !self.has_no_reverse(meaning, key + 1, context)?
                }
            };
            if adds {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a property in the map of `@reverse` adds nothing to the object. A reverse property
    /// in this map acts as a forward property, so an empty array of items adds nothing.
    fn has_no_reverse(&mut self, meaning: Meaning, value: u32, context: u32) -> Read<bool> {
        let length = self.uncached.len();
        let active = self.active_property(meaning, value - 1, context);
        let is_reverse = self
            .definition(active)
            .is_some_and(|definition| definition.reverse);
        let outcome = if is_reverse {
            self.has_no_items(value, active, false)
        } else {
            self.is_nothing(value, active)
        };
        self.uncached.truncate(length);
        outcome
    }

    /// Whether the value of a reverse property expands to nothing or to an empty array.
    fn has_no_items(
        &mut self,
        value: u32,
        active: ActiveProperty,
        is_map_value: bool,
    ) -> Read<bool> {
        self.contexts.check_work()?;
        let view = self.view;
        let kind = view.kind(value);
        let definition = self.definition(active);
        if definition.is_some_and(|definition| definition.coercion == Coercion::Json) {
            return Ok(false);
        }
        let is_map = !is_map_value && self.containers(active).has(Containers::MAPS);
        match kind {
            JsonKind::Array => {
                for item in view.items(value) {
                    if !self.has_no_items(item, active, is_map_value)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            JsonKind::Object if is_map => {
                for key in view.keys(value) {
                    if !self.has_no_items(key + 1, active, true)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            JsonKind::Object => self.is_empty_object(value, active),
            kind => Ok(kind == JsonKind::Null),
        }
    }

    /// Whether an object expands to nothing or to an empty array, as a value of a reverse property.
    fn is_empty_object(&mut self, object: u32, active: ActiveProperty) -> Read<bool> {
        let mut context = active.context;
        if let Some(scoped) = self.scoped_context(active) {
            context = self.apply_property_context(context, &scoped, object)?;
        }
        let (shape, context) = self.inspect(object, context)?;
        let outcome = if shape.value != 0 || shape.set == 0 {
            self.is_nothing_of(&shape, context)
        } else {
            let length = self.uncached.len();
            let inner = self.find_in_context(active, shape.member_context);
            let outcome = self.has_no_items(shape.set, inner, true);
            self.uncached.truncate(length);
            outcome
        };
        self.entries.truncate(shape.from);
        outcome
    }

    /// Returns the active property of a key.
    fn active_property(&mut self, meaning: Meaning, key: u32, context: u32) -> ActiveProperty {
        match meaning {
            Meaning::Property(number) => ActiveProperty::from_cache(context, number),
            _ => self.expand_uncached(key, context),
        }
    }

    /// Returns the context of the map of `@reverse`.
    pub fn reverse_context(&mut self, map: u32, mut context: u32) -> Read<u32> {
        if let Some(previous) = self.contexts.get(context).state.previous
            && !self.keeps_type_scope(map, context)
        {
            context = previous;
        }
        Ok(self.apply_own_context(map, context)?.0)
    }

    /// Whether any property of an object has a value that expands to something.
    pub fn has_properties(&mut self, shape: &ObjectShape) -> Read<bool> {
        if !shape.properties {
            return Ok(false);
        }
        for index in shape.from..shape.to {
            let Some(&entry) = self.entries.get(index) else {
                break;
            };
            let ObjectEntry {
                meaning,
                value,
                context,
            } = entry;
            self.contexts.check_work()?;
            if matches!(meaning, Meaning::Property(_) | Meaning::Uncached)
                && !self.expands_to_nothing(meaning, value, context)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the value of a property expands to nothing.
    pub fn expands_to_nothing(&mut self, meaning: Meaning, value: u32, context: u32) -> Read<bool> {
        if !matches!(self.view.kind(value), JsonKind::Object | JsonKind::Null) {
            return Ok(false);
        }
        let length = self.uncached.len();
        let active = self.active_property(meaning, value - 1, context);
        let outcome = self.is_nothing(value, active);
        self.uncached.truncate(length);
        outcome
    }

    pub fn is_nothing(&mut self, value: u32, active: ActiveProperty) -> Read<bool> {
        let mut context = active.context;
        if let Some(definition) = self.definition(active) {
            let containers = definition.containers;
            let is_map = containers.has(Containers::MAPS) || containers.has(Containers::LANGUAGE);
            if definition.coercion == Coercion::Json
                || (is_map && self.view.kind(value) == JsonKind::Object)
            {
                return Ok(false);
            }
        }
        if self.view.kind(value) != JsonKind::Object {
            return Ok(self.view.kind(value) == JsonKind::Null);
        }
        if let Some(scoped) = self.scoped_context(active) {
            context = self.apply_property_context(context, &scoped, value)?;
        }
        let (shape, context) = self.inspect(value, context)?;
        let outcome = self.is_nothing_of(&shape, context);
        self.entries.truncate(shape.from);
        outcome
    }

    /// Whether an object of this shape is a null value or contains only a language.
    fn is_nothing_of(&mut self, shape: &ObjectShape, context: u32) -> Read<bool> {
        if shape.value != 0 {
            let is_null = self.view.kind(shape.value) == JsonKind::Null;
            return Ok(is_null && !self.is_json_type(shape, context));
        }
        Ok(shape.language != 0 && self.is_language_only(shape)?)
    }

    /// Whether an object with a language contains nothing else.
    pub fn is_language_only(&mut self, shape: &ObjectShape) -> Read<bool> {
        let others = shape.id != 0 || shape.graph != 0 || shape.list != 0 || shape.set != 0;
        let keywords = others || shape.types > 0 || shape.direction != 0 || shape.index != 0;
        if keywords || shape.included || self.has_reverse(shape)? {
            return Ok(false);
        }
        Ok(!self.has_properties(shape)?)
    }

    /// Whether a node with a graph contains nothing else, except possibly a name and an index.
    pub fn is_graph_object(&mut self, shape: &ObjectShape) -> Read<bool> {
        let others = shape.types > 0 || shape.included || self.has_reverse(shape)?;
        let tagged = shape.language != 0 || shape.direction != 0;
        if others || tagged {
            return Ok(false);
        }
        Ok(!self.has_properties(shape)?)
    }

    /// Whether the type of a value is JSON, according to the last type of the first key for
    /// `@type`.
    pub fn is_json_type(&mut self, shape: &ObjectShape, context: u32) -> bool {
        if shape.types == 0 {
            return false;
        }
        let view = self.view;
        let entries = self.entries.get(shape.from..shape.to).unwrap_or_default();
        let first = entries
            .iter()
            .filter(|entry| entry.meaning == Meaning::Keyword(Keyword::Type))
            .map(|entry| entry.value)
            .min_by_key(|&value| view.text(value - 1));
        let Some(value) = first else {
            return false;
        };
        let last = match view.kind(value) {
            JsonKind::Array => view.items(value).last(),
            _ => Some(value),
        };
        let Some(last) = last else {
            return false;
        };
        let meaning = self.contexts.find_meaning(context, view.text(last));
        meaning == Meaning::Keyword(Keyword::Json)
    }
}

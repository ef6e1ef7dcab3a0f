//! Objects: nodes, lists, sets and what their keys hold (JSON-LD 1.1 API, 5.1.2, steps 7 to 20).

use std::sync::Arc;

use super::context::{Direction, Expanded, Meaning, Scope};
use super::definition::{Coercion, Containers, Scoped};
use super::error::Read;
use super::keyword::Keyword;
use super::process::direction_of;
use super::walk::{Active, By, Entry, Extra, Item, LEFT_OUT, Sink, Slot, Target, Walk, Wrap};
use crate::json::Kind;
use crate::term::TermId;

/// What the keys of an object say. Nodes of the tape; 0 where there is none, since no value is the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// Its entries in [`Walk::entries`].
    from: usize,
    to: usize,
    pub value: u32,
    pub language: u32,
    pub direction: u32,
    pub base_direction: Option<Direction>,
    id: u32,
    pub index: u32,
    list: u32,
    set: u32,
    graph: u32,
    /// The contexts of these, which `@nest` may change.
    id_context: u32,
    member_context: u32,
    graph_context: u32,
    /// How many keys stand for `@type`, and the value of the first.
    pub types: u32,
    pub first_type: u32,
    included: bool,
    reverse: bool,
    properties: bool,
}

impl Walk<'_> {
    /// The predicate `rdf:type`.
    #[inline]
    pub fn rdf_type(&mut self) -> Read<TermId> {
        Ok(self.terms.rdf_type(self.builder)?)
    }

    /// The context of the definition of the active property.
    #[inline]
    pub fn scoped_of(&self, active: Active) -> Option<Arc<Scoped>> {
        self.definition(active)?.scoped.clone()
    }

    /// The context of the values of a property whose definition has one.
    pub fn property_context(
        &mut self,
        context: u32,
        scoped: &Arc<Scoped>,
        value: u32,
    ) -> Read<u32> {
        let made = self
            .contexts
            .scoped(context, std::slice::from_ref(scoped), Scope::Property);
        made.map_err(|wrong| wrong.or_at(self.at(value)))
    }

    /// Takes an object; true if it means nothing.
    pub fn object(&mut self, object: u32, context: u32, slot: &Slot) -> Read<bool> {
        if let Some(active) = slot.property
            && self.small_object(object, context, active, slot)?
        {
            return Ok(false);
        }
        let mark = self.contexts.mark();
        let unkept = self.unkept.len();
        let mut context = context;
        let scoped = slot.property.and_then(|active| self.scoped_of(active));
        if let Some(previous) = self.contexts.get(context).state.previous
            && !slot.from_map
            && !self.keeps_type_scope(object, context)
        {
            context = previous;
        }
        if let Some(scoped) = scoped {
            context = self.property_context(context, &scoped, object)?;
        }
        let (context, type_scoped) = self.own_context(object, context)?;
        let shape = self.shape(object, context)?;
        let outcome = self.shaped(object, &shape, context, type_scoped, slot);
        self.entries.truncate(shape.from);
        self.unkept.truncate(unkept);
        if self.view.tape.has_contexts() {
            self.contexts.release(mark);
        }
        outcome
    }

    /// Takes an object of one or two keys that is a reference, or a value of one type, where no context changes; false if
    /// it is another.
    #[inline]
    fn small_object(
        &mut self,
        object: u32,
        context: u32,
        active: Active,
        slot: &Slot,
    ) -> Read<bool> {
        let view = self.view;
        let (end, first) = (view.next(object), object + 1);
        if first >= end || view.is_replaced(first) {
            return Ok(false);
        }
        let second = view.next(first + 1);
        let is_reference = second == end;
        if !is_reference && view.next(second + 1) != end {
            return Ok(false);
        }
        let state = &self.contexts.get(context).state;
        if state.previous.is_some() || (state.has_scoped && self.scoped_of(active).is_some()) {
            return Ok(false);
        }
        let meaning = self.contexts.meaning(context, view.text(first));
        if is_reference {
            if meaning != Meaning::Keyword(Keyword::Id) || view.kind(first + 1) != Kind::String {
                return Ok(false);
            }
            let id = self.name(first + 1, context, By::Base, "the @id")?;
            self.deliver_plain(Item::Node(id), slot, first + 1)?;
            return Ok(true);
        }
        if meaning != Meaning::Keyword(Keyword::Value)
            || matches!(
                view.kind(first + 1),
                Kind::Object | Kind::Array | Kind::Null
            )
            || self.contexts.meaning(context, view.text(second)) != Meaning::Keyword(Keyword::Type)
            || self.contexts.get(context).state.has_scoped
        {
            return Ok(false);
        }
        match self.plain_typed(first + 1, second + 1, context)? {
            Some(item) => {
                self.deliver_plain(item, slot, first + 1)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The context of an object's keys, and that of its types.
    #[inline]
    fn own_context(&mut self, object: u32, mut context: u32) -> Read<(u32, u32)> {
        if self.view.tape.has_contexts()
            && let Some(local) = self.view.get(object, b"@context")
        {
            let made = self.contexts.local(context, &self.view, local);
            context = made.map_err(|wrong| wrong.or_at(self.at(local)))?;
        }
        if self.contexts.get(context).state.has_scoped {
            return Ok((self.type_context(object, context)?, context));
        }
        Ok((context, context))
    }

    /// Whether a context that does not propagate counts for an object too: a value, or a reference.
    fn keeps_type_scope(&mut self, object: u32, context: u32) -> bool {
        let (mut keys, mut id) = (0, false);
        for key in self.view.keys(object) {
            keys += 1;
            match self.contexts.meaning(context, self.view.text(key)) {
                Meaning::Keyword(Keyword::Value) => return true,
                Meaning::Keyword(Keyword::Id) => id = true,
                _ => {}
            }
        }
        keys == 1 && id
    }

    /// The context of an object whose types may have contexts of their own.
    fn type_context(&mut self, object: u32, context: u32) -> Read<u32> {
        let view = self.view;
        let mut keys: Vec<u32> = Vec::new();
        for key in view.keys(object) {
            if self.contexts.meaning(context, view.text(key)) == Meaning::Keyword(Keyword::Type) {
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return Ok(context);
        }
        keys.sort_by_key(|&key| view.text(key));
        let mut chain: Vec<Arc<Scoped>> = Vec::new();
        let mut first = None;
        for key in keys {
            let mut types: Vec<u32> = match view.kind(key + 1) {
                Kind::Array => view.items(key + 1).collect(),
                _ => vec![key + 1],
            };
            types.retain(|&node| view.kind(node) == Kind::String);
            types.sort_by_key(|&node| view.text(node));
            for node in types {
                let terms = &self.contexts.get(context).state.terms;
                let definition = terms.get(view.text(node));
                if let Some(scoped) = definition.and_then(|found| found.scoped.as_ref()) {
                    chain.push(Arc::clone(scoped));
                    first = first.or(Some(node));
                }
            }
        }
        let Some(first) = first else {
            return Ok(context);
        };
        let made = self.contexts.scoped(context, &chain, Scope::Type);
        made.map_err(|wrong| wrong.or_at(self.at(first)))
    }

    /// Looks at the keys of an object.
    #[inline]
    fn shape(&mut self, object: u32, context: u32) -> Read<Shape> {
        let from = self.entries.len();
        let mut shape = Shape {
            from,
            ..Shape::default()
        };
        self.collect(object, context, &mut shape)?;
        shape.to = self.entries.len();
        Ok(shape)
    }

    fn collect(&mut self, object: u32, context: u32, shape: &mut Shape) -> Read<()> {
        let view = self.view;
        for key in view.keys(object) {
            let value = key + 1;
            let meaning = self.contexts.meaning(context, view.text(key));
            match meaning {
                Meaning::Property(_) | Meaning::Unkept => {
                    shape.properties = true;
                    self.entries.push(Entry {
                        meaning,
                        value,
                        context,
                    });
                }
                Meaning::Keyword(keyword) => self.keyword(key, keyword, context, shape)?,
                Meaning::Null => {}
                Meaning::Unmapped => self.drop_key(key),
            }
        }
        Ok(())
    }

    fn keyword(&mut self, key: u32, keyword: Keyword, context: u32, shape: &mut Shape) -> Read<()> {
        let value = key + 1;
        let kind = self.view.kind(value);
        let place = match keyword {
            Keyword::Context => {
                // An alias is not possible, so it is the object's own.
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
                if kind != Kind::Object {
                    return Err(self.wrong(
                        "invalid @reverse value",
                        value,
                        "@reverse is an object",
                    ));
                }
                shape.reverse = true;
                self.push_keyword(keyword, value, context);
                return Ok(());
            }
            Keyword::Nest => return self.nested(key, context, shape),
            _ => {
                self.drop_key(key);
                return Ok(());
            }
        };
        if *place != 0 {
            return Err(self.colliding(key));
        }
        *place = value;
        match keyword {
            Keyword::Id => shape.id_context = context,
            Keyword::List | Keyword::Set => shape.member_context = context,
            Keyword::Graph => shape.graph_context = context,
            _ => {}
        }
        let (code, reason) = match keyword {
            Keyword::Id => ("invalid @id value", "@id is a string"),
            Keyword::Language => ("invalid language-tagged string", "@language is a string"),
            Keyword::Index => ("invalid @index value", "@index is a string"),
            Keyword::Direction => {
                shape.base_direction = direction_of(&self.view, value);
                if shape.base_direction.is_some() {
                    return Ok(());
                }
                let reason = "@direction is \"ltr\" or \"rtl\"";
                return Err(self.wrong("invalid base direction", value, reason));
            }
            _ => return Ok(()),
        };
        if kind != Kind::String {
            return Err(self.wrong(code, value, reason));
        }
        Ok(())
    }

    #[cold]
    fn colliding(&self, key: u32) -> super::error::Wrong {
        let reason = format!(
            "the key {} says again what another key of the object says",
            crate::error::quote(self.view.text(key))
        );
        self.wrong("colliding keywords", key, &reason)
    }

    #[inline]
    fn push_keyword(&mut self, keyword: Keyword, value: u32, context: u32) {
        self.entries.push(Entry {
            meaning: Meaning::Keyword(keyword),
            value,
            context,
        });
    }

    fn check_types(&self, value: u32) -> Read<()> {
        let view = self.view;
        let string = |node: u32| view.kind(node) == Kind::String;
        let wrong = match view.kind(value) {
            Kind::String => return Ok(()),
            Kind::Array => match view.items(value).find(|&item| !string(item)) {
                None => return Ok(()),
                Some(item) => item,
            },
            _ => value,
        };
        Err(self.wrong(
            "invalid type value",
            wrong,
            "@type is a string or an array of strings",
        ))
    }

    /// The keys of the objects below `@nest` count as those of the object.
    fn nested(&mut self, key: u32, context: u32, shape: &mut Shape) -> Read<()> {
        let view = self.view;
        let value = key + 1;
        let terms = &self.contexts.get(context).state.terms;
        let definition = terms.get(view.text(key));
        let scoped = definition.and_then(|definition| definition.scoped.clone());
        let context = match scoped {
            Some(scoped) => self.property_context(context, &scoped, value)?,
            None => context,
        };
        if view.kind(value) != Kind::Array {
            return self.nest(value, context, shape);
        }
        for item in view.items(value) {
            self.nest(item, context, shape)?;
        }
        Ok(())
    }

    fn nest(&mut self, object: u32, context: u32, shape: &mut Shape) -> Read<()> {
        let view = self.view;
        if view.kind(object) != Kind::Object {
            return Err(self.wrong("invalid @nest value", object, "@nest holds objects"));
        }
        for key in view.keys(object) {
            let meaning = self.contexts.meaning(context, view.text(key));
            if meaning == Meaning::Keyword(Keyword::Value) {
                return Err(self.wrong("invalid @nest value", key, "@nest holds no @value"));
            }
        }
        self.collect(object, context, shape)
    }

    /// An object whose keys are known.
    fn shaped(
        &mut self,
        object: u32,
        shape: &Shape,
        context: u32,
        type_scoped: u32,
        slot: &Slot,
    ) -> Read<bool> {
        if shape.value != 0 {
            return self.value_object(object, shape, context, type_scoped, slot);
        }
        // A list by itself means nothing, and is no entry.
        let is_list = shape.list != 0 && slot.property.is_some();
        let is_set = shape.set != 0 && self.view.kind(shape.set) != Kind::Null;
        if is_list || is_set {
            if (is_list && is_set) || self.has_more_than_an_index(shape)? {
                return Err(self.wrong(
                    "invalid set or list object",
                    object,
                    "an object with @list or @set has @index besides, and nothing else",
                ));
            }
            if is_list {
                self.list(shape.list, shape.member_context, slot)?;
                return Ok(false);
            }
            return self.set(shape.set, shape.member_context, slot);
        }
        self.node(shape, type_scoped, slot)
    }

    /// Takes a list object.
    fn list(&mut self, value: u32, context: u32, slot: &Slot) -> Read<()> {
        if let Target::Subject { .. } | Target::Reversed { .. } = slot.target {
            return self.deliver(Item::List(LEFT_OUT), slot, value);
        }
        let mut graph = slot.graph;
        if slot.wrap != Wrap::Never {
            graph = self.graph_object(slot, value)?;
            self.deliver(Item::Node(graph), slot, value)?;
        }
        let property = self.property_in(slot, context);
        let inner = Slot {
            graph,
            target: Target::Member,
            property,
            in_list: property.is_some_and(|active| self.is_list(active)),
            ..Slot::top(graph)
        };
        if slot.wrap != Wrap::Never {
            // Only the nodes in it mean something there.
            let inner = Slot {
                target: Target::Nowhere,
                ..inner
            };
            self.value(value, context, &inner)?;
            return Ok(());
        }
        self.begin_list(self.sink(slot).graph);
        self.value(value, context, &inner)?;
        let head = self.end_list()?;
        self.deliver(Item::List(head), slot, value)
    }

    /// Takes a set object; its members go where it does.
    fn set(&mut self, value: u32, context: u32, slot: &Slot) -> Read<bool> {
        let is_array = self.view.kind(value) == Kind::Array;
        let property = self.property_in(slot, context);
        let inner = Slot {
            property,
            from_map: false,
            in_array: false,
            is_root: false,
            ..*slot
        };
        match slot.target {
            Target::Member if is_array && slot.in_list && slot.in_array => {
                self.list_of(value, context, &inner)?;
                Ok(false)
            }
            Target::ListObject { .. } if is_array => {
                let inner = Slot {
                    in_list: true,
                    ..inner
                };
                self.list_of(value, context, &inner)?;
                Ok(false)
            }
            _ => self.value(value, context, &inner),
        }
    }

    /// The active property as the context of an object has it.
    fn property_in(&mut self, slot: &Slot, context: u32) -> Option<Active> {
        let active = slot.property?;
        Some(self.in_context(active, context))
    }

    fn is_list(&self, active: Active) -> bool {
        self.containers(active).has(Containers::LIST)
    }

    /// Takes a node; true if it is none, but a language alone.
    fn node(&mut self, shape: &Shape, type_scoped: u32, slot: &Slot) -> Read<bool> {
        if shape.language != 0 && self.is_language_only(shape)? {
            return Ok(true);
        }
        let is_graph = shape.graph != 0
            && (slot.is_root || slot.wrap == Wrap::Once)
            && self.is_graph_object(shape)?;
        if slot.is_root && is_graph && shape.id == 0 && shape.index == 0 {
            self.value(shape.graph, shape.graph_context, &Slot::top(slot.graph))?;
            return Ok(false);
        }
        let node = shape.id.max(shape.graph).max(shape.first_type);
        let node = if node != 0 {
            node
        } else {
            self.entry_of(shape)
        };
        let mut graph = slot.graph;
        let wraps = slot.wrap == Wrap::Always || (slot.wrap == Wrap::Once && !is_graph);
        if wraps {
            graph = self.graph_object(slot, node)?;
            self.deliver(Item::Node(graph), slot, node)?;
        }
        let id = match slot.extra {
            _ if shape.id != 0 => self.name(shape.id, shape.id_context, By::Base, "the @id")?,
            Extra::Id(id) if !wraps => id,
            _ => self.anonymous()?,
        };
        if !wraps {
            self.deliver(Item::Node(id), slot, node)?;
            // A node without a name has no other index, and its own one comes first.
            let is_indexed = matches!(slot.extra, Extra::Index(_));
            if !is_indexed || (shape.id != 0 && shape.index == 0) {
                self.extra(id, slot)?;
            }
        }
        if shape.index != 0 && shape.id != 0 {
            self.index(id, graph, shape.index)?;
        }
        for at in shape.from..shape.to {
            let Some(&entry) = self.entries.get(at) else {
                break;
            };
            let Entry {
                meaning,
                value,
                context,
            } = entry;
            match meaning {
                Meaning::Property(number) => {
                    let active = Active {
                        context,
                        number,
                        kept: true,
                    };
                    self.property(id, active, value, graph)?;
                }
                Meaning::Unkept => self.unkept_property(id, context, value, graph)?,
                Meaning::Keyword(Keyword::Type) => self.types(id, value, type_scoped, graph)?,
                Meaning::Keyword(Keyword::Reverse) => self.reverse(id, value, context, graph)?,
                Meaning::Keyword(Keyword::Included) => self.included(value, context, graph)?,
                _ => {}
            }
        }
        if shape.graph != 0 {
            self.value(shape.graph, shape.graph_context, &Slot::top(id))?;
        }
        Ok(false)
    }

    /// Some node of the tape that an object's entries have.
    fn entry_of(&self, shape: &Shape) -> u32 {
        self.entries
            .get(shape.from)
            .filter(|_| shape.from < shape.to)
            .map_or(0, |entry| entry.value)
    }

    fn types(&mut self, id: TermId, value: u32, context: u32, graph: TermId) -> Read<()> {
        let predicate = self.rdf_type()?;
        if self.view.kind(value) == Kind::String {
            let object = self.type_name(value, context)?;
            return self.quad(id, predicate, object, graph);
        }
        for item in self.view.items(value) {
            let object = self.type_name(item, context)?;
            self.quad(id, predicate, object, graph)?;
        }
        Ok(())
    }

    /// The node of a type: types recur as properties do.
    #[inline]
    fn type_name(&mut self, value: u32, context: u32) -> Read<TermId> {
        let meaning = self.contexts.meaning(context, self.view.text(value));
        if let Meaning::Property(number) = meaning {
            let property = self.contexts.property_mut(context, number);
            if property.is_iri {
                return Ok(self.terms.of_property(self.builder, property)?);
            }
        }
        self.name(value, context, By::Both, "the @type")
    }

    /// Nodes beside a node, in its graph.
    fn included(&mut self, value: u32, context: u32, graph: TermId) -> Read<()> {
        let is_right = match self.view.kind(value) {
            Kind::Object => self.is_said(value, context)?,
            kind => kind == Kind::Array,
        };
        if !is_right {
            return Err(self.wrong(
                "invalid @included value",
                value,
                "@included holds nodes that something is said of",
            ));
        }
        self.value(value, context, &Slot::top(graph))?;
        Ok(())
    }

    /// Whether an object is a node that something is said of.
    fn is_said(&mut self, object: u32, context: u32) -> Read<bool> {
        let (shape, _) = self.look(object, context)?;
        let said = shape.value == 0
            && shape.list == 0
            && (shape.types > 0
                || shape.set != 0
                || shape.graph != 0
                || shape.included
                || shape.reverse
                || shape.index != 0
                || shape.direction != 0
                || self.has_properties(&shape)?);
        self.entries.truncate(shape.from);
        Ok(said)
    }

    /// The keys of an object that is taken later: none of them is counted. The entries are the caller's to
    /// remove.
    fn look(&mut self, object: u32, mut context: u32) -> Read<(Shape, u32)> {
        if let Some(previous) = self.contexts.get(context).state.previous
            && !self.keeps_type_scope(object, context)
        {
            context = previous;
        }
        let (context, _) = self.own_context(object, context)?;
        let dropped = self.dropped.clone();
        let shape = self.shape(object, context);
        *self.dropped = dropped;
        Ok((shape?, context))
    }

    /// The map of `@reverse`: nodes whose properties have this one as their value.
    fn reverse(&mut self, id: TermId, map: u32, context: u32, graph: TermId) -> Read<()> {
        let mut context = context;
        if let Some(previous) = self.contexts.get(context).state.previous
            && !self.keeps_type_scope(map, context)
        {
            context = previous;
        }
        let (context, _) = self.own_context(map, context)?;
        let unkept = self.unkept.len();
        for key in self.view.keys(map) {
            let value = key + 1;
            let active = match self.contexts.meaning(context, self.view.text(key)) {
                Meaning::Keyword(Keyword::Context) => continue,
                Meaning::Keyword(_) => {
                    return Err(self.wrong(
                        "invalid reverse property map",
                        key,
                        "the keys of @reverse are properties",
                    ));
                }
                Meaning::Null => continue,
                Meaning::Unmapped => {
                    self.drop_key(key);
                    continue;
                }
                Meaning::Property(number) => Active {
                    context,
                    number,
                    kept: true,
                },
                Meaning::Unkept => self.unkept(key, context),
            };
            let predicate = self.predicate(active, key)?;
            // Reversed twice is as it was, and holds nodes all the same.
            let twice = self.definition(active).is_some_and(|found| found.reverse);
            let target = if twice {
                Target::Reversed {
                    subject: id,
                    predicate,
                }
            } else {
                Target::Subject {
                    predicate,
                    object: id,
                }
            };
            self.values(active, value, target, graph)?;
        }
        self.unkept.truncate(unkept);
        Ok(())
    }

    /// A property that the contexts do not keep.
    fn unkept(&mut self, key: u32, context: u32) -> Active {
        let text = self.view.text(key);
        let property = self.contexts.get(context).state.expand_key(text);
        let property =
            property.unwrap_or_else(|_| super::context::Property::without_iri(text, None));
        self.push_unkept(context, property)
    }

    fn unkept_property(&mut self, id: TermId, context: u32, value: u32, graph: TermId) -> Read<()> {
        let length = self.unkept.len();
        let active = self.unkept(value - 1, context);
        self.property(id, active, value, graph)?;
        self.unkept.truncate(length);
        Ok(())
    }

    /// The predicate of a property.
    #[inline]
    fn predicate(&mut self, active: Active, key: u32) -> Read<TermId> {
        let property = if active.kept {
            self.contexts.property_mut(active.context, active.number)
        } else {
            &mut self.unkept[active.number as usize]
        };
        if !property.is_iri {
            let iri: Box<[u8]> = property.iri().into();
            return self.no_iri(key, &iri, "the property");
        }
        Ok(self.terms.of_property(self.builder, property)?)
    }

    /// A property of a node.
    #[inline]
    fn property(&mut self, id: TermId, active: Active, value: u32, graph: TermId) -> Read<()> {
        let predicate = self.predicate(active, value - 1)?;
        let target = match self.definition(active) {
            Some(definition) if definition.reverse => Target::Subject {
                predicate,
                object: id,
            },
            _ => Target::Object {
                subject: id,
                predicate,
            },
        };
        self.values(active, value, target, graph)
    }

    /// The values of a property, as its container has them.
    #[inline]
    fn values(&mut self, active: Active, value: u32, target: Target, graph: TermId) -> Read<()> {
        let mut slot = Slot {
            target,
            property: Some(active),
            ..Slot::top(graph)
        };
        let context = active.context;
        let Some(definition) = self.definition(active) else {
            self.value(value, context, &slot)?;
            return Ok(());
        };
        let containers = definition.containers;
        if definition.coercion == Coercion::Json {
            let json = self.json(value)?;
            return self.as_value(Item::Value(json), &slot, containers, value);
        }
        if containers.only(Containers::SET) {
            self.value(value, context, &slot)?;
            return Ok(());
        }
        if self.is_language_map(containers, value) {
            return self.language_map(value, active, context, &slot);
        }
        if containers.has(Containers::MAPS) {
            if self.view.kind(value) == Kind::Object {
                return self.map(value, active, containers, &slot);
            }
        } else if containers.has(Containers::GRAPH) {
            slot.wrap = Wrap::Always;
        }
        if containers.has(Containers::LIST) {
            return self.list_property(value, context, slot);
        }
        self.value(value, context, &slot)?;
        Ok(())
    }

    /// A JSON literal, as the container of its property has values.
    fn as_value(&mut self, item: Item, slot: &Slot, containers: Containers, node: u32) -> Read<()> {
        if containers.has(Containers::LIST) {
            self.begin_list(self.sink(slot).graph);
            let inner = Slot {
                target: Target::Member,
                ..*slot
            };
            self.deliver(item, &inner, node)?;
            let head = self.end_list()?;
            return self.deliver(Item::List(head), slot, node);
        }
        let wraps = containers.has(Containers::GRAPH) && !containers.has(Containers::MAPS);
        let slot = Slot {
            wrap: if wraps { Wrap::Always } else { Wrap::Never },
            ..*slot
        };
        self.deliver_plain(item, &slot, node)
    }

    /// The value of a property whose values are lists.
    fn list_property(&mut self, value: u32, context: u32, slot: Slot) -> Read<()> {
        let in_list = Slot {
            in_list: true,
            ..slot
        };
        if let Target::Subject { .. } | Target::Reversed { .. } = slot.target {
            return match self.view.kind(value) {
                Kind::Null => Ok(()),
                _ => Err(self.no_node(value)),
            };
        }
        if self.view.kind(value) == Kind::Array {
            return self.list_of(value, context, &in_list);
        }
        let target = match slot.target {
            Target::Object { subject, predicate } => Target::ListObject { subject, predicate },
            target => target,
        };
        self.value(value, context, &Slot { target, ..slot })?;
        Ok(())
    }

    /// A map of nodes by `@index`, `@id` or `@type` (steps 13.8).
    fn map(&mut self, map: u32, active: Active, containers: Containers, slot: &Slot) -> Read<()> {
        let view = self.view;
        let index = self
            .definition(active)
            .and_then(|definition| definition.index.clone());
        let length = self.unkept.len();
        let index = match index {
            Some(index) if *index != *b"@index" => Some(self.index_property(&index, active)),
            _ => None,
        };
        let kept = self.unkept.len();
        for key in view.keys(map) {
            let mut context = active.context;
            let is_node_map = containers.has(Containers::ID) || containers.has(Containers::TYPE);
            if is_node_map && let Some(previous) = self.contexts.get(context).state.previous {
                context = previous;
            }
            if containers.has(Containers::TYPE) {
                let terms = &self.contexts.get(context).state.terms;
                let definition = terms.get(view.text(key));
                if let Some(scoped) = definition.and_then(|found| found.scoped.clone()) {
                    let made =
                        self.contexts
                            .scoped(context, std::slice::from_ref(&scoped), Scope::Map);
                    context = made.map_err(|wrong| wrong.or_at(self.at(key)))?;
                }
            }
            let extra = self.map_extra(key, active, containers, index, slot.graph)?;
            let property = self.in_context(active, context);
            let inner = Slot {
                property: Some(property),
                extra,
                from_map: true,
                wrap: if containers.has(Containers::GRAPH) {
                    Wrap::Once
                } else {
                    Wrap::Never
                },
                ..*slot
            };
            self.value(key + 1, context, &inner)?;
            self.unkept.truncate(kept);
        }
        self.unkept.truncate(length);
        Ok(())
    }

    /// The property that the keys of an index map are values of.
    fn index_property(&mut self, index: &[u8], active: Active) -> Active {
        let context = active.context;
        match self.contexts.meaning(context, index) {
            Meaning::Property(number) => Active {
                context,
                number,
                kept: true,
            },
            _ => {
                let property = self.contexts.get(context).state.expand_key(index);
                let property =
                    property.unwrap_or_else(|_| super::context::Property::without_iri(index, None));
                self.push_unkept(context, property)
            }
        }
    }

    /// What a key of a map says of the items below it.
    fn map_extra(
        &mut self,
        key: u32,
        active: Active,
        containers: Containers,
        index: Option<Active>,
        graph: TermId,
    ) -> Read<Extra> {
        let context = active.context;
        let mut out = std::mem::take(self.scratch);
        out.clear();
        let state = &self.contexts.get(context).state;
        let expanded = state.expand(self.view.text(key), true, false, &mut out);
        *self.scratch = out;
        if expanded == Expanded::Keyword(Keyword::None) {
            return Ok(Extra::Nothing);
        }
        if containers.has(Containers::INDEX) {
            let Some(index) = index else {
                return Ok(Extra::Index(key));
            };
            let predicate = self.predicate(index, key)?;
            let sink = Sink { graph, of: None };
            let item = self.expand_value(key, context, index, sink)?;
            let (Item::Value(object) | Item::Node(object) | Item::List(object)) = item;
            return Ok(Extra::Property { predicate, object });
        }
        if containers.has(Containers::ID) {
            return Ok(Extra::Id(self.name(key, context, By::Base, "the @id")?));
        }
        Ok(Extra::Type(self.name(
            key,
            context,
            By::Vocab,
            "the @type",
        )?))
    }

    /// Whether a value object holds what does not go with a value.
    pub fn has_more_than_a_value(&mut self, shape: &Shape) -> Read<bool> {
        let keywords = shape.id != 0 || shape.graph != 0 || shape.list != 0 || shape.set != 0;
        Ok(keywords
            || shape.included
            || shape.reverse
            || (shape.properties && self.has_properties(shape)?))
    }

    /// Whether a list or set object holds more than it may.
    fn has_more_than_an_index(&mut self, shape: &Shape) -> Read<bool> {
        let keywords = shape.id != 0 || shape.graph != 0 || shape.types > 0;
        Ok(keywords
            || shape.language != 0
            || shape.direction != 0
            || shape.included
            || shape.reverse
            || (shape.properties && self.has_properties(shape)?))
    }

    /// Whether some property of an object has a value that means something.
    fn has_properties(&mut self, shape: &Shape) -> Read<bool> {
        for at in shape.from..shape.to {
            let Some(&entry) = self.entries.get(at) else {
                break;
            };
            let Entry {
                meaning,
                value,
                context,
            } = entry;
            if matches!(meaning, Meaning::Property(_) | Meaning::Unkept)
                && !self.means_nothing(meaning, value, context)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the value of a property expands to nothing.
    fn means_nothing(&mut self, meaning: Meaning, value: u32, context: u32) -> Read<bool> {
        let kind = self.view.kind(value);
        if kind != Kind::Object && kind != Kind::Null {
            return Ok(false);
        }
        let length = self.unkept.len();
        let active = match meaning {
            Meaning::Property(number) => Active {
                context,
                number,
                kept: true,
            },
            _ => self.unkept(value - 1, context),
        };
        let outcome = self.is_nothing(value, active);
        self.unkept.truncate(length);
        outcome
    }

    fn is_nothing(&mut self, value: u32, active: Active) -> Read<bool> {
        let mut context = active.context;
        if let Some(definition) = self.definition(active) {
            let containers = definition.containers;
            let is_map = containers.has(Containers::MAPS) || containers.has(Containers::LANGUAGE);
            if definition.coercion == Coercion::Json
                || (is_map && self.view.kind(value) == Kind::Object)
            {
                return Ok(false);
            }
        }
        if self.view.kind(value) == Kind::Null {
            return Ok(true);
        }
        if let Some(scoped) = self.scoped_of(active) {
            context = self.property_context(context, &scoped, value)?;
        }
        let (shape, context) = self.look(value, context)?;
        let outcome = if shape.value != 0 {
            self.view.kind(shape.value) == Kind::Null && !self.is_json_type(&shape, context)?
        } else {
            shape.language != 0 && self.is_language_only(&shape)?
        };
        self.entries.truncate(shape.from);
        Ok(outcome)
    }

    /// Whether an object that has a language has nothing else.
    fn is_language_only(&mut self, shape: &Shape) -> Read<bool> {
        let others = shape.id != 0 || shape.graph != 0 || shape.list != 0 || shape.set != 0;
        let keywords = others || shape.types > 0 || shape.direction != 0 || shape.index != 0;
        Ok(!keywords
            && !shape.included
            && !shape.reverse
            && !(shape.properties && self.has_properties(shape)?))
    }

    /// Whether a node that has a graph has nothing else but a name and an index.
    fn is_graph_object(&mut self, shape: &Shape) -> Read<bool> {
        let others = shape.types > 0 || shape.included || shape.reverse;
        let tagged = shape.language != 0 || shape.direction != 0;
        Ok(!others && !tagged && !(shape.properties && self.has_properties(shape)?))
    }

    /// Whether the type of a value is JSON: the last one of the first key for `@type`.
    pub fn is_json_type(&mut self, shape: &Shape, context: u32) -> Read<bool> {
        if shape.types == 0 {
            return Ok(false);
        }
        let view = self.view;
        let entries = self.entries.get(shape.from..shape.to).unwrap_or_default();
        let first = entries
            .iter()
            .filter(|entry| entry.meaning == Meaning::Keyword(Keyword::Type))
            .map(|entry| entry.value)
            .min_by_key(|&value| view.text(value - 1));
        let Some(value) = first else {
            return Ok(false);
        };
        let last = match view.kind(value) {
            Kind::Array => view.items(value).last(),
            _ => Some(value),
        };
        let Some(last) = last else {
            return Ok(false);
        };
        let state = &self.contexts.get(context).state;
        let expanded = state.expand(view.text(last), true, true, &mut Vec::new());
        Ok(expanded == Expanded::Keyword(Keyword::Json))
    }
}

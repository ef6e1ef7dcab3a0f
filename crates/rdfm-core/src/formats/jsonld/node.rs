//! Objects: references, nodes, lists and sets, in their contexts (JSON-LD 1.1 API, 5.1.2, steps 7
//! to 20).

use std::sync::Arc;

use super::context::{ContextScope, Meaning};
use super::definition::{Containers, ScopedContext};
use super::error::Read;
use super::keyword::Keyword;
use super::shape::ObjectShape;
use super::walk::{
    ActiveProperty, DROPPED, GraphWrap, Item, ItemTarget, MapKeyExtra, ObjectEntry, RelativeTo,
    ValueSlot, Walk,
};
use crate::model::fast_path::FastPath;
use crate::model::term::TermId;
use crate::syntax::json::JsonKind;

impl Walk<'_> {
    /// Returns the predicate `rdf:type`.
    #[inline]
    pub fn add_rdf_type(&mut self) -> Read<TermId> {
        Ok(self.terms.add_rdf_type(self.builder)?)
    }

    /// The scoped context in the definition of the active property.
    #[inline]
    pub fn scoped_context(&self, active: ActiveProperty) -> Option<Arc<ScopedContext>> {
        self.definition(active)?.scoped.clone()
    }

    /// Returns the context for the values of a property with a scoped context.
    pub fn apply_property_context(
        &mut self,
        context: u32,
        scoped: &Arc<ScopedContext>,
        value: u32,
    ) -> Read<u32> {
        let result = self.contexts.apply_scoped(
            context,
            std::slice::from_ref(scoped),
            ContextScope::Property,
        );
        result.map_err(|error| error.or_at(self.at(value)))
    }

    /// Processes an object. Returns true if the object has no meaning.
    pub fn walk_object(&mut self, object: u32, context: u32, slot: &ValueSlot) -> Read<bool> {
        if let Some(active) = slot.property
            && FastPath::SmallObjects.is_on()
            && self.walk_small_object(object, context, active, slot)?
        {
            return Ok(false);
        }
        let mark = self.contexts.mark();
        let uncached = self.uncached.len();
        let mut context = context;
        let scoped = slot.property.and_then(|active| self.scoped_context(active));
        if let Some(previous) = self.contexts.get(context).state.previous
            && !slot.from_map
            && !self.keeps_type_scope(object, context)
        {
            context = previous;
        }
        if let Some(scoped) = scoped {
            context = self.apply_property_context(context, &scoped, object)?;
        }
        let (context, type_scoped) = self.apply_own_context(object, context)?;
        let shape = self.find_shape(object, context)?;
        let outcome = self.walk_shaped_object(object, &shape, context, type_scoped, slot);
        self.entries.truncate(shape.from);
        self.uncached.truncate(uncached);
        if self.view.tape.has_contexts() {
            self.contexts.release(mark);
        }
        outcome
    }

    /// Fast path for an object with one or two keys that is a reference or a value with one type,
    /// and without context changes. Returns false for other objects.
    ///
    /// Gain: 1.2 times (`make bench-gains PATHS=small-objects`).
    #[inline]
    pub fn walk_small_object(
        &mut self,
        object: u32,
        context: u32,
        active: ActiveProperty,
        slot: &ValueSlot,
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
        if state.previous.is_some() || (state.has_scoped && self.scoped_context(active).is_some()) {
            return Ok(false);
        }
        let meaning = self.contexts.find_meaning(context, view.text(first));
        if is_reference {
            if meaning != Meaning::Keyword(Keyword::Id) || view.kind(first + 1) != JsonKind::String
            {
                return Ok(false);
            }
            let id = self.add_name_of_node(first + 1, context, RelativeTo::Base, "the @id")?;
            self.deliver_plain(Item::Node(id), slot, first + 1)?;
            return Ok(true);
        }
        if meaning != Meaning::Keyword(Keyword::Value)
            || matches!(
                view.kind(first + 1),
                JsonKind::Object | JsonKind::Array | JsonKind::Null
            )
            || self.contexts.find_meaning(context, view.text(second))
                != Meaning::Keyword(Keyword::Type)
            || self.contexts.get(context).state.has_scoped
        {
            return Ok(false);
        }
        match self.add_plain_typed(first + 1, second + 1, context)? {
            Some(item) => {
                self.deliver_plain(item, slot, first + 1)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Returns the context for the keys of an object, and the context for its types.
    #[inline]
    pub fn apply_own_context(&mut self, object: u32, mut context: u32) -> Read<(u32, u32)> {
        if self.view.tape.has_contexts()
            && let Some(local) = self.view.get(object, b"@context")
        {
            let result = self.contexts.apply_local(context, &self.view, local);
            context = result.map_err(|error| error.or_at(self.at(local)))?;
        }
        if self.contexts.get(context).state.has_scoped {
            return Ok((self.apply_type_context(object, context)?, context));
        }
        Ok((context, context))
    }

    /// Returns the context of an object whose types may have scoped contexts.
    pub fn apply_type_context(&mut self, object: u32, context: u32) -> Read<u32> {
        let view = self.view;
        let mut keys: Vec<u32> = Vec::new();
        for key in view.keys(object) {
            if self.contexts.find_meaning(context, view.text(key))
                == Meaning::Keyword(Keyword::Type)
            {
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return Ok(context);
        }
        keys.sort_by_key(|&key| view.text(key));
        let mut chain: Vec<Arc<ScopedContext>> = Vec::new();
        let mut first = None;
        for key in keys {
            let mut types: Vec<u32> = match view.kind(key + 1) {
                JsonKind::Array => view.items(key + 1).collect(),
                _ => vec![key + 1],
            };
            types.retain(|&node| view.kind(node) == JsonKind::String);
            types.sort_by_key(|&node| view.text(node));
            for node in types {
                let terms = &self.contexts.get(context).state.terms;
                let definition = terms.get(view.text(node));
                if let Some(scoped) = definition.and_then(|definition| definition.scoped.as_ref()) {
                    chain.push(Arc::clone(scoped));
                    first = first.or(Some(node));
                }
            }
        }
        let Some(first) = first else {
            return Ok(context);
        };
        let result = self
            .contexts
            .apply_scoped(context, &chain, ContextScope::Type);
        result.map_err(|error| error.or_at(self.at(first)))
    }

    /// Processes an object of known shape.
    pub fn walk_shaped_object(
        &mut self,
        object: u32,
        shape: &ObjectShape,
        context: u32,
        type_scoped: u32,
        slot: &ValueSlot,
    ) -> Read<bool> {
        if shape.value != 0 {
            return self.walk_value_object(object, shape, context, type_scoped, slot);
        }
        // A list outside of a property has no meaning and is ignored.
        let is_list = shape.list != 0 && slot.property.is_some();
        let is_set = shape.set != 0 && self.view.kind(shape.set) != JsonKind::Null;
        if is_list || is_set {
            self.discard_entries(shape)?;
            if (is_list && is_set) || self.has_more_than_an_index(shape)? {
                return Err(self.error_at(
                    "invalid set or list object",
                    object,
                    "apart from @list or @set, a list or set object may contain only @index",
                ));
            }
            if is_list {
                self.walk_list(shape.list, shape.member_context, slot)?;
                return Ok(false);
            }
            return self.set(shape.set, shape.member_context, slot);
        }
        self.walk_node(shape, type_scoped, slot)
    }

    /// Processes a list object.
    pub fn walk_list(&mut self, value: u32, context: u32, slot: &ValueSlot) -> Read<()> {
        if let ItemTarget::Subject { .. } | ItemTarget::Reversed { .. } = slot.target {
            return self.deliver(Item::List(DROPPED), slot, value);
        }
        let mut graph = slot.graph;
        if slot.wrap != GraphWrap::Never {
            graph = self.add_graph_object(slot, value)?;
            self.deliver(Item::Node(graph), slot, value)?;
        }
        let property = self.find_property(slot, context);
        let inner = ValueSlot {
            graph,
            target: ItemTarget::Member,
            property,
            in_list: property.is_some_and(|active| self.is_list(active)),
            ..ValueSlot::top(graph)
        };
        if slot.wrap != GraphWrap::Never {
            // In the separate graph, only the nodes in the list have a meaning.
            let inner = ValueSlot {
                target: ItemTarget::Nowhere,
                ..inner
            };
            self.walk_value(value, context, &inner)?;
            return Ok(());
        }
        self.begin_list(self.sink(slot).graph);
        self.walk_value(value, context, &inner)?;
        let head = self.end_list()?;
        self.deliver(Item::List(head), slot, value)
    }

    /// Processes a set object. Its members go to the target of the set.
    pub fn set(&mut self, value: u32, context: u32, slot: &ValueSlot) -> Read<bool> {
        let is_array = self.view.kind(value) == JsonKind::Array;
        let property = self.find_property(slot, context);
        let inner = ValueSlot {
            property,
            from_map: false,
            // The context of the set may define the property differently.
            in_list: property.is_some_and(|active| self.is_list(active)),
            in_array: false,
            is_root: false,
            ..*slot
        };
        match slot.target {
            ItemTarget::Member if is_array && slot.in_list && slot.in_array => {
                self.walk_list_array(value, context, &inner)?;
                Ok(false)
            }
            ItemTarget::ListObject { .. } if is_array => {
                self.walk_list_array(value, context, &inner)?;
                Ok(false)
            }
            _ => self.walk_value(value, context, &inner),
        }
    }

    /// Returns the active property in the context of an object.
    pub fn find_property(&mut self, slot: &ValueSlot, context: u32) -> Option<ActiveProperty> {
        let active = slot.property?;
        Some(self.find_in_context(active, context))
    }

    pub fn is_list(&self, active: ActiveProperty) -> bool {
        self.containers(active).has(Containers::LIST)
    }

    /// Processes a node. Returns true if the node contains only a language and thus has no meaning.
    pub fn walk_node(
        &mut self,
        shape: &ObjectShape,
        type_scoped: u32,
        slot: &ValueSlot,
    ) -> Read<bool> {
        if shape.language != 0 && self.is_language_only(shape)? {
            self.discard_entries(shape)?;
            return Ok(true);
        }
        let is_graph = shape.graph != 0
            && (slot.is_root || slot.wrap == GraphWrap::Once)
            && self.is_graph_object(shape)?;
        if slot.is_root && is_graph && shape.id == 0 && shape.index == 0 {
            self.discard_entries(shape)?;
            self.walk_value(
                shape.graph,
                shape.graph_context,
                &ValueSlot::top(slot.graph),
            )?;
            return Ok(false);
        }
        let node = shape.id.max(shape.graph).max(shape.first_type);
        let node = if node != 0 {
            node
        } else {
            self.entry_of(shape)
        };
        let mut graph = slot.graph;
        let wraps = slot.wrap == GraphWrap::Always || (slot.wrap == GraphWrap::Once && !is_graph);
        if wraps {
            graph = self.add_graph_object(slot, node)?;
            self.deliver(Item::Node(graph), slot, node)?;
        }
        let id = match slot.extra {
            _ if shape.id != 0 => {
                self.add_name_of_node(shape.id, shape.id_context, RelativeTo::Base, "the @id")?
            }
            MapKeyExtra::Id(id) if !wraps => id,
            _ => self.add_anonymous()?,
        };
        if !wraps {
            self.deliver(Item::Node(id), slot, node)?;
            // An unnamed node cannot have a conflicting index. A node's own index takes precedence
            // over the key of its map.
            let is_indexed = matches!(slot.extra, MapKeyExtra::Index(_));
            if !is_indexed || (shape.id != 0 && shape.index == 0) {
                self.add_key_data(id, slot)?;
            }
        }
        let is_named = shape.id != 0 || (!wraps && matches!(slot.extra, MapKeyExtra::Id(_)));
        if shape.index != 0 && is_named {
            self.note_index(id, graph, shape.index)?;
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
            match meaning {
                Meaning::Property(number) => {
                    let active = ActiveProperty::from_cache(context, number);
                    self.walk_property(id, active, value, graph)?;
                }
                Meaning::Uncached => self.walk_uncached_property(id, context, value, graph)?,
                Meaning::Keyword(Keyword::Type) => self.add_types(id, value, type_scoped, graph)?,
                Meaning::Keyword(Keyword::Reverse) => self.reverse(id, value, context, graph)?,
                Meaning::Keyword(Keyword::Included) => self.walk_included(value, context, graph)?,
                _ => {}
            }
        }
        if shape.graph != 0 {
            self.walk_value(shape.graph, shape.graph_context, &ValueSlot::top(id))?;
        }
        Ok(false)
    }

    /// Processes the properties and `@reverse` of an object that is not a node, because they may
    /// contain errors and keys to drop. The caller checks that these entries add nothing to the
    /// object.
    pub fn discard_entries(&mut self, shape: &ObjectShape) -> Read<()> {
        if !shape.properties && !shape.reverse {
            return Ok(());
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
            match meaning {
                Meaning::Property(number) => {
                    let active = ActiveProperty::from_cache(context, number);
                    self.walk_property(DROPPED, active, value, DROPPED)?;
                }
                Meaning::Uncached => {
                    self.walk_uncached_property(DROPPED, context, value, DROPPED)?;
                }
                Meaning::Keyword(Keyword::Reverse) => {
                    self.reverse(DROPPED, value, context, DROPPED)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the tape node of the first entry of an object, or 0 if there is none. Used for
    /// errors.
    pub fn entry_of(&self, shape: &ObjectShape) -> u32 {
        self.entries
            .get(shape.from)
            .filter(|_| shape.from < shape.to)
            .map_or(0, |entry| entry.value)
    }

    pub fn add_types(&mut self, id: TermId, value: u32, context: u32, graph: TermId) -> Read<()> {
        let predicate = self.add_rdf_type()?;
        if self.view.kind(value) == JsonKind::String {
            let object = self.expand_type_name(value, context)?;
            return self.add_quad(id, predicate, object, graph);
        }
        for item in self.view.items(value) {
            let object = self.expand_type_name(item, context)?;
            self.add_quad(id, predicate, object, graph)?;
        }
        Ok(())
    }

    /// Returns the term of a type. Types are cached like properties, because they recur too.
    #[inline]
    pub fn expand_type_name(&mut self, value: u32, context: u32) -> Read<TermId> {
        let meaning = self.contexts.find_meaning(context, self.view.text(value));
        if let Meaning::Property(number) = meaning {
            let property = self.contexts.property_mut(context, number);
            if property.is_iri {
                return Ok(self.terms.add_property(self.builder, property)?);
            }
        }
        self.add_name_of_node(value, context, RelativeTo::Both, "the @type")
    }

    /// Processes included nodes, which are in the same graph.
    pub fn walk_included(&mut self, value: u32, context: u32, graph: TermId) -> Read<()> {
        let is_valid = match self.view.kind(value) {
            JsonKind::Object => self.is_node_object(value, context)?,
            kind => kind == JsonKind::Array,
        };
        if !is_valid {
            return Err(self.error_at(
                "invalid @included value",
                value,
                "@included must contain node objects, not values or references",
            ));
        }
        self.walk_value(value, context, &ValueSlot::top(graph))?;
        Ok(())
    }

    /// Processes the map of `@reverse`: nodes with properties whose value is this node.
    pub fn reverse(&mut self, id: TermId, map: u32, context: u32, graph: TermId) -> Read<()> {
        let context = self.reverse_context(map, context)?;
        let uncached = self.uncached.len();
        for key in self.view.keys(map) {
            let value = key + 1;
            let active = match self.contexts.find_meaning(context, self.view.text(key)) {
                Meaning::Keyword(Keyword::Context) | Meaning::Null => continue,
                Meaning::Keyword(_) => {
                    return Err(self.error_at(
                        "invalid reverse property map",
                        key,
                        "the keys of @reverse must be properties",
                    ));
                }
                Meaning::Unmapped => {
                    self.drop_key(key);
                    continue;
                }
                Meaning::Property(number) => ActiveProperty::from_cache(context, number),
                Meaning::Uncached => self.expand_uncached(key, context),
            };
            let predicate = self.add_predicate(active, key)?;
            // A doubly reversed property is a forward one, but still accepts only nodes.
            let twice = self
                .definition(active)
                .is_some_and(|definition| definition.reverse);
            let target = if twice {
                ItemTarget::Reversed {
                    subject: id,
                    predicate,
                }
            } else {
                ItemTarget::Subject {
                    predicate,
                    object: id,
                }
            };
            self.walk_values(active, value, target, graph)?;
        }
        self.uncached.truncate(uncached);
        Ok(())
    }
}

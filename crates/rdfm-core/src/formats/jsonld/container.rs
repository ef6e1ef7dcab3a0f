//! Properties and their containers: lists, graphs, language maps and node maps (JSON-LD 1.1 API,
//! 5.1.2, steps 13.5 to 13.14).

use super::context::{ContextScope, Meaning, Property};
use super::definition::{Coercion, Containers};
use super::error::Read;
use super::keyword::Keyword;
use super::walk::{
    ActiveProperty, GraphWrap, Item, ItemTarget, MapKeyExtra, RelativeTo, ValueSlot, Walk,
};
use crate::model::term::TermId;
use crate::syntax::json::JsonKind;

impl Walk<'_> {
    /// Expands a property that the contexts do not cache.
    pub fn expand_uncached(&mut self, key: u32, context: u32) -> ActiveProperty {
        let text = self.view.text(key);
        let property = self.contexts.get(context).state.expand_key(text);
        let property = property.unwrap_or_else(|_| Property::without_iri(text, None));
        self.contexts.spend_text(property.iri().len());
        self.push_uncached(context, property)
    }

    pub fn walk_uncached_property(
        &mut self,
        id: TermId,
        context: u32,
        value: u32,
        graph: TermId,
    ) -> Read<()> {
        let length = self.uncached.len();
        let active = self.expand_uncached(value - 1, context);
        self.walk_property(id, active, value, graph)?;
        self.uncached.truncate(length);
        Ok(())
    }

    /// Returns the predicate of a property.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each property
    pub fn add_predicate(&mut self, active: ActiveProperty, key: u32) -> Read<TermId> {
        let property = if active.cached {
            self.contexts.property_mut(active.context, active.number)
        } else {
            &mut self.uncached[active.number as usize]
        };
        if !property.is_iri {
            let iri: Box<[u8]> = property.iri().into();
            return self.reject_non_iri(key, &iri, "the property");
        }
        Ok(self.terms.add_property(self.builder, property)?)
    }

    /// Processes a property of a node.
    #[inline]
    pub fn walk_property(
        &mut self,
        id: TermId,
        active: ActiveProperty,
        value: u32,
        graph: TermId,
    ) -> Read<()> {
        let predicate = self.add_predicate(active, value - 1)?;
        let target = match self.definition(active) {
            Some(definition) if definition.reverse => ItemTarget::Subject {
                predicate,
                object: id,
            },
            _ => ItemTarget::Object {
                subject: id,
                predicate,
            },
        };
        self.walk_values(active, value, target, graph)
    }

    /// Processes the values of a property according to its container.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each property
    pub fn walk_values(
        &mut self,
        active: ActiveProperty,
        value: u32,
        target: ItemTarget,
        graph: TermId,
    ) -> Read<()> {
        let mut slot = ValueSlot {
            target,
            property: Some(active),
            ..ValueSlot::top(graph)
        };
        let context = active.context;
        let Some(definition) = self.definition(active) else {
            return self.walk_each_value(value, context, slot);
        };
        let containers = definition.containers;
        if definition.coercion == Coercion::Json {
            let json = self.add_json(value)?;
            return self.add_json_literal(Item::Value(json), &slot, containers, value);
        }
        if containers.has_only(Containers::SET) {
            return self.walk_each_value(value, context, slot);
        }
        if self.is_language_map(containers, value) {
            return self.walk_language_map(value, active, context, &slot);
        }
        if containers.has(Containers::MAPS) {
            if self.view.kind(value) == JsonKind::Object {
                return self.map(value, active, containers, &slot);
            }
        } else if containers.has(Containers::GRAPH) {
            slot.wrap = GraphWrap::Always;
        }
        if containers.has(Containers::LIST) {
            return self.walk_list_property(value, context, slot);
        }
        self.walk_value(value, context, &slot)?;
        Ok(())
    }

    /// Processes a value, or each value of an array.
    #[inline]
    fn walk_each_value(&mut self, value: u32, context: u32, mut slot: ValueSlot) -> Read<()> {
        if self.view.kind(value) != JsonKind::Array {
            self.walk_value(value, context, &slot)?;
            return Ok(());
        }
        slot.in_array = true;
        for item in self.view.items(value) {
            self.walk_value(item, context, &slot)?;
        }
        Ok(())
    }

    /// Adds a JSON literal according to the container of its property.
    pub fn add_json_literal(
        &mut self,
        item: Item,
        slot: &ValueSlot,
        containers: Containers,
        node: u32,
    ) -> Read<()> {
        if containers.has(Containers::LIST) {
            self.begin_list(self.sink(slot).graph);
            let inner = ValueSlot {
                target: ItemTarget::Member,
                ..*slot
            };
            self.deliver(item, &inner, node)?;
            let head = self.end_list()?;
            return self.deliver(Item::List(head), slot, node);
        }
        let wraps = containers.has(Containers::GRAPH) && !containers.has(Containers::MAPS);
        let slot = ValueSlot {
            wrap: if wraps {
                GraphWrap::Always
            } else {
                GraphWrap::Never
            },
            ..*slot
        };
        self.deliver_plain(item, &slot, node)
    }

    /// Processes the value of a property with a list container.
    pub fn walk_list_property(&mut self, value: u32, context: u32, slot: ValueSlot) -> Read<()> {
        let in_list = ValueSlot {
            in_list: true,
            ..slot
        };
        if let ItemTarget::Subject { .. } | ItemTarget::Reversed { .. } = slot.target {
            return match self.view.kind(value) {
                JsonKind::Null => Ok(()),
                _ => Err(self.not_a_node(value)),
            };
        }
        if self.view.kind(value) == JsonKind::Array {
            return self.walk_list_array(value, context, &in_list);
        }
        let target = match slot.target {
            ItemTarget::Object { subject, predicate } => {
                ItemTarget::ListObject { subject, predicate }
            }
            target => target,
        };
        self.walk_value(value, context, &ValueSlot { target, ..slot })?;
        Ok(())
    }

    /// Processes a map of nodes by `@index`, `@id` or `@type` (step 13.8).
    pub fn map(
        &mut self,
        map: u32,
        active: ActiveProperty,
        containers: Containers,
        slot: &ValueSlot,
    ) -> Read<()> {
        let view = self.view;
        let index = self
            .definition(active)
            .and_then(|definition| definition.index.clone());
        let length = self.uncached.len();
        let index = match index {
            Some(index) if *index != *b"@index" => Some(self.find_index_property(&index, active)),
            _ => None,
        };
        let uncached_count = self.uncached.len();
        for key in view.keys(map) {
            let mut context = active.context;
            let is_node_map = containers.has(Containers::ID) || containers.has(Containers::TYPE);
            if is_node_map && let Some(previous) = self.contexts.get(context).state.previous {
                context = previous;
            }
            if containers.has(Containers::TYPE) {
                let terms = &self.contexts.get(context).state.terms;
                let definition = terms.get(view.text(key));
                if let Some(scoped) =
                    definition.and_then(|own_definition| own_definition.scoped.clone())
                {
                    let result = self.contexts.apply_scoped(
                        context,
                        std::slice::from_ref(&scoped),
                        ContextScope::Type,
                    );
                    context = result.map_err(|error| error.or_at(self.at(key)))?;
                }
            }
            let extra = self.map_extra(key, active, containers, index)?;
            let property = self.find_in_context(active, context);
            let inner = ValueSlot {
                property: Some(property),
                extra,
                from_map: true,
                wrap: if containers.has(Containers::GRAPH) {
                    GraphWrap::Once
                } else {
                    GraphWrap::Never
                },
                ..*slot
            };
            self.walk_value(key + 1, context, &inner)?;
            self.uncached.truncate(uncached_count);
        }
        self.uncached.truncate(length);
        Ok(())
    }

    /// The property whose values are the keys of an index map.
    pub fn find_index_property(&mut self, index: &[u8], active: ActiveProperty) -> ActiveProperty {
        let context = active.context;
        if let Meaning::Property(number) = self.contexts.find_meaning(context, index) {
            return ActiveProperty::from_cache(context, number);
        }
        let property = self.contexts.get(context).state.expand_key(index);
        let property = property.unwrap_or_else(|_| Property::without_iri(index, None));
        self.push_uncached(context, property)
    }

    /// Returns the data that a map key adds to the items in the map.
    pub fn map_extra(
        &mut self,
        key: u32,
        active: ActiveProperty,
        containers: Containers,
        index: Option<ActiveProperty>,
    ) -> Read<MapKeyExtra> {
        let context = active.context;
        let meaning = self.contexts.find_meaning(context, self.view.text(key));
        self.contexts.check_work()?;
        if meaning == Meaning::Keyword(Keyword::None) {
            return Ok(MapKeyExtra::Nothing);
        }
        if containers.has(Containers::INDEX) {
            let Some(index) = index else {
                return Ok(MapKeyExtra::Index(key));
            };
            return Ok(MapKeyExtra::Property {
                predicate: self.add_predicate(index, key)?,
                index,
                key,
            });
        }
        if containers.has(Containers::ID) {
            return Ok(MapKeyExtra::Id(self.add_name_of_node(
                key,
                context,
                RelativeTo::Base,
                "the @id",
            )?));
        }
        Ok(MapKeyExtra::Type(self.add_name_of_node(
            key,
            context,
            RelativeTo::Vocab,
            "the @type",
        )?))
    }
}

//! Converts the tape of a message directly to quads.
//!
//! - In: a tape, and the number of the context in force.
//! - Out: quads of the open message.
//! - Cost: one pass over the values, with one lookup per key. Recursion is as deep as the tape,
//!   which is limited.
//! - Law: the result equals that of expansion (JSON-LD 1.1 API, 5.1.2), node map generation (7.2.2)
//!   and deserialization (8.1.2), without creating the intermediate documents.
//!
//! Expansion produces items: values, nodes and lists. Here, an item is passed to its [`ItemTarget`]
//! as soon as its term is known, and its content is processed afterwards. [`super::node`] processes
//! objects, [`super::container`] properties, and [`super::value`] literals.

use std::collections::{HashMap, HashSet};

use super::context::{Contexts, Expanded, Meaning, Property};
use super::definition::{Containers, Definition};
use super::error::{JsonLdError, Read};
use super::iri::is_plain;
use super::number::DoubleDigits;
use super::options::RdfDirection;
use super::table::Seeded;
use super::terms::MessageTerms;
use crate::model::builder::BatchBuilder;
use crate::model::chars;
use crate::model::error::quote;
use crate::model::fast_path::FastPath;
use crate::model::remedy::Remedy;
use crate::model::term::{Quad, TermId};
use crate::syntax::json::{JsonKind, View};

const RDF_FIRST: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#first";
const RDF_REST: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#rest";
const RDF_NIL: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#nil";

/// Position of the first colon of a name, which is usually near its start.
#[inline]
fn find_colon(text: &[u8]) -> Option<usize> {
    let (near, far) = text.split_at(text.len().min(16));
    let colon = near.iter().position(|&byte| byte == b':');
    colon.or_else(|| Some(near.len() + memchr::memchr(b':', far)?))
}

/// Placeholder for an invalid term. Quads that contain this id are dropped.
pub(super) const DROPPED: TermId = TermId(u32::MAX);

/// Reader options.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub lenient: bool,
    pub direction: RdfDirection,
    pub digits: DoubleDigits,
    pub has_base: bool,
}

/// Keys that were dropped.
#[derive(Clone, Debug, Default)]
pub(super) struct DroppedKeys {
    pub count: u64,
    pub example: Option<String>,
}

/// State of processing one message.
pub(super) struct Walk<'a> {
    pub view: View<'a>,
    pub contexts: &'a mut Contexts,
    pub terms: &'a mut MessageTerms,
    pub builder: &'a mut BatchBuilder,
    pub options: Options,
    pub dropped: &'a mut DroppedKeys,
    /// Entries of the open objects.
    pub entries: &'a mut Vec<ObjectEntry>,
    /// Buffer for intermediate strings.
    pub scratch: &'a mut Vec<u8>,
    /// Open lists.
    pub lists: Vec<OpenList>,
    /// Properties that the contexts do not cache.
    pub uncached: Vec<Property>,
    /// The `@index` of nodes, by graph and name.
    pub indexes: HashMap<(TermText, TermText), Box<[u8]>, Seeded>,
    /// Values that became nodes because of their directions.
    pub compounds: HashSet<Box<[u8]>, Seeded>,
}

/// Name of a node as a key for comparisons.
pub(super) type TermText = Box<[u8]>;

/// The meaning of an object's key in a context, and the value of the key. The key is the node
/// before the value.
#[derive(Clone, Copy)]
pub(super) struct ObjectEntry {
    pub meaning: Meaning,
    pub value: u32,
    pub context: u32,
}

/// An open list.
pub(super) struct OpenList {
    graph: TermId,
    head: Option<TermId>,
    last: TermId,
}

/// An active property.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActiveProperty {
    pub context: u32,
    /// Number in the context if cached, otherwise index in [`Walk::uncached`].
    pub number: u32,
    pub cached: bool,
}

impl ActiveProperty {
    /// Creates a property that a context caches.
    pub const fn from_cache(context: u32, number: u32) -> Self {
        Self {
            context,
            number,
            cached: true,
        }
    }
}

/// The destination of an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum ItemTarget {
    /// No destination: the item is not part of a quad.
    Nowhere,
    /// The object of a quad.
    Object { subject: TermId, predicate: TermId },
    /// The subject of a quad.
    Subject { predicate: TermId, object: TermId },
    /// The object of a quad, as the value of a doubly reversed property.
    Reversed { subject: TermId, predicate: TermId },
    /// The next member of the open list.
    Member,
    /// The object of a quad, if the item is a list. Otherwise the object is a list with the item as
    /// its only member.
    ListObject { subject: TermId, predicate: TermId },
}

/// Whether an item is put into a separate graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraphWrap {
    Never,
    /// Unless the item is a graph object.
    Once,
    Always,
}

/// The data that a map key adds to each item in the map.
#[derive(Clone, Copy, Debug)]
pub(super) enum MapKeyExtra {
    Nothing,
    Id(TermId),
    Type(TermId),
    /// Node of the key.
    Index(u32),
    /// A property whose value is the key of a map. The node contains the key.
    Property {
        predicate: TermId,
        index: ActiveProperty,
        key: u32,
    },
}

/// The base of a name without a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelativeTo {
    /// The base, for names of nodes.
    Base,
    /// The vocabulary.
    Vocab,
    /// The vocabulary if there is one, otherwise the base, for types.
    Both,
}

/// The position and the role of a value, which determine how it is processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueSlot {
    pub graph: TermId,
    pub target: ItemTarget,
    /// `None` at the top of a graph, where values and lists have no meaning.
    pub property: Option<ActiveProperty>,
    pub wrap: GraphWrap,
    pub extra: MapKeyExtra,
    /// Whether the value is in a map of nodes.
    pub from_map: bool,
    /// Whether nested arrays are separate lists.
    pub in_list: bool,
    /// Whether the value is in an array.
    pub in_array: bool,
    /// Whether the value is the document itself.
    pub is_root: bool,
}

impl ValueSlot {
    /// The top of a graph.
    pub const fn top(graph: TermId) -> Self {
        Self {
            graph,
            target: ItemTarget::Nowhere,
            property: None,
            wrap: GraphWrap::Never,
            extra: MapKeyExtra::Nothing,
            from_map: false,
            in_list: false,
            in_array: false,
            is_root: false,
        }
    }
}

/// The destination of quads that a value creates: list cells, and nodes for directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuadSink {
    /// [`DROPPED`] if the value is dropped.
    pub graph: TermId,
    /// The subject and predicate of the value, if the value belongs to a property.
    pub subject_and_predicate: Option<(TermId, TermId)>,
    /// Node of the key in an index map, or 0.
    pub index: u32,
}

/// The result of processing a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Value(TermId),
    Node(TermId),
    List(TermId),
}

impl Item {
    const fn term(self) -> TermId {
        match self {
            Self::Value(term) | Self::Node(term) | Self::List(term) => term,
        }
    }
}

impl Walk<'_> {
    /// Position of a node in the source.
    pub fn at(&self, node: u32) -> u32 {
        self.view.node(node).index
    }

    /// Creates an error at a node.
    #[cold]
    pub fn error_at(&self, code: &str, node: u32, reason: &str) -> JsonLdError {
        JsonLdError::new(code, Some(self.at(node)), reason)
    }

    #[inline]
    pub fn add_quad(
        &mut self,
        subject: TermId,
        predicate: TermId,
        object: TermId,
        graph: TermId,
    ) -> Read<()> {
        if subject == DROPPED || predicate == DROPPED || object == DROPPED || graph == DROPPED {
            return Ok(());
        }
        Ok(self.builder.add_quad(Quad {
            subject,
            predicate,
            object,
            graph,
        })?)
    }

    /// Creates a blank node.
    #[inline]
    pub fn add_anonymous(&mut self) -> Read<TermId> {
        Ok(self.terms.add_anonymous(&self.view, self.builder)?)
    }

    /// Processes any value. Returns true if the value has no meaning.
    #[inline]
    pub fn walk_value(&mut self, value: u32, context: u32, slot: &ValueSlot) -> Read<bool> {
        match self.view.kind(value) {
            JsonKind::Null => Ok(true),
            JsonKind::Object => self.walk_object(value, context, slot),
            JsonKind::Array => {
                self.walk_array(value, context, slot)?;
                Ok(false)
            }
            _ => self.walk_scalar(value, context, slot),
        }
    }

    /// Returns the destination of quads that a value creates.
    pub fn sink(&self, slot: &ValueSlot) -> QuadSink {
        let dropped = QuadSink {
            graph: DROPPED,
            subject_and_predicate: None,
            index: 0,
        };
        if slot.wrap != GraphWrap::Never {
            return dropped;
        }
        match slot.target {
            ItemTarget::Nowhere => dropped,
            ItemTarget::Object { subject, predicate }
            | ItemTarget::ListObject { subject, predicate }
            | ItemTarget::Reversed { subject, predicate } => {
                if subject == DROPPED || predicate == DROPPED {
                    return dropped;
                }
                QuadSink {
                    graph: slot.graph,
                    subject_and_predicate: Some((subject, predicate))
                        .filter(|_| slot.graph != DROPPED),
                    index: match slot.extra {
                        MapKeyExtra::Index(key) => key,
                        _ => 0,
                    },
                }
            }
            ItemTarget::Subject { .. } => QuadSink {
                graph: slot.graph,
                subject_and_predicate: None,
                index: 0,
            },
            ItemTarget::Member => QuadSink {
                graph: self.lists.last().map_or(DROPPED, |list| list.graph),
                subject_and_predicate: None,
                index: 0,
            },
        }
    }

    fn walk_array(&mut self, array: u32, context: u32, slot: &ValueSlot) -> Read<()> {
        let inner = ValueSlot {
            in_array: true,
            is_root: false,
            ..*slot
        };
        for item in self.view.items(array) {
            if slot.in_list && self.view.kind(item) == JsonKind::Array {
                self.walk_list_array(item, context, &inner)?;
            } else {
                self.walk_value(item, context, &inner)?;
            }
        }
        Ok(())
    }

    /// Processes an array that is a list.
    pub fn walk_list_array(&mut self, array: u32, context: u32, slot: &ValueSlot) -> Read<()> {
        self.begin_list(self.sink(slot).graph);
        let inner = ValueSlot {
            target: ItemTarget::Member,
            ..*slot
        };
        self.walk_array(array, context, &inner)?;
        let head = self.end_list()?;
        self.deliver(Item::List(head), slot, array)
    }

    pub fn begin_list(&mut self, graph: TermId) {
        self.lists.push(OpenList {
            graph,
            head: None,
            last: DROPPED,
        });
    }

    /// Ends the list and returns its head.
    pub fn end_list(&mut self) -> Read<TermId> {
        let nil = self.terms.add_valid_iri(self.builder, RDF_NIL)?;
        let Some(OpenList {
            graph,
            head: Some(head),
            last,
        }) = self.lists.pop()
        else {
            return Ok(nil);
        };
        let rest = self.terms.add_valid_iri(self.builder, RDF_REST)?;
        self.add_quad(last, rest, nil, graph)?;
        Ok(head)
    }

    /// Adds a cell to the open list (JSON-LD 1.1 API, 8.3.2).
    fn add_list_cell(&mut self, term: TermId) -> Read<()> {
        let cell = self.add_anonymous()?;
        let Some(list) = self.lists.last_mut() else {
            return Ok(());
        };
        let graph = list.graph;
        let before = std::mem::replace(&mut list.last, cell);
        if list.head.is_none() {
            list.head = Some(cell);
        } else {
            let rest = self.terms.add_valid_iri(self.builder, RDF_REST)?;
            self.add_quad(before, rest, cell, graph)?;
        }
        let first = self.terms.add_valid_iri(self.builder, RDF_FIRST)?;
        self.add_quad(cell, first, term, graph)
    }

    /// Passes an item to its destination.
    #[inline]
    pub fn deliver(&mut self, item: Item, slot: &ValueSlot, node: u32) -> Read<()> {
        let term = item.term();
        match slot.target {
            ItemTarget::Nowhere => Ok(()),
            ItemTarget::Object { subject, predicate } => {
                self.add_quad(subject, predicate, term, slot.graph)
            }
            ItemTarget::Subject { predicate, object } => match item {
                Item::Node(subject) => self.add_quad(subject, predicate, object, slot.graph),
                _ => Err(self.not_a_node(node)),
            },
            ItemTarget::Reversed { subject, predicate } => match item {
                Item::Node(object) => self.add_quad(subject, predicate, object, slot.graph),
                _ => Err(self.not_a_node(node)),
            },
            ItemTarget::Member => self.add_list_cell(term),
            ItemTarget::ListObject { subject, predicate } => {
                let head = if let Item::List(head) = item {
                    head
                } else {
                    self.begin_list(self.sink(slot).graph);
                    self.add_list_cell(term)?;
                    self.end_list()?
                };
                self.add_quad(subject, predicate, head, slot.graph)
            }
        }
    }

    #[cold]
    pub fn not_a_node(&self, node: u32) -> JsonLdError {
        self.error_at(
            "invalid reverse property value",
            node,
            "the value of a reverse property must be a node",
        )
    }

    /// Passes an item without properties to its destination, in a separate graph if required, with
    /// the data of its map key.
    #[inline]
    pub fn deliver_plain(&mut self, item: Item, slot: &ValueSlot, node: u32) -> Read<()> {
        if let (ItemTarget::Object { subject, predicate }, GraphWrap::Never, MapKeyExtra::Nothing) =
            (slot.target, slot.wrap, slot.extra)
        {
            return self.add_quad(subject, predicate, item.term(), slot.graph);
        }
        self.deliver_any(item, slot, node)
    }

    fn deliver_any(&mut self, item: Item, slot: &ValueSlot, node: u32) -> Read<()> {
        if slot.wrap != GraphWrap::Never {
            let graph = self.add_graph_object(slot, node)?;
            return self.deliver(Item::Node(graph), slot, node);
        }
        match (slot.extra, item) {
            (MapKeyExtra::Nothing, _) => {}
            (MapKeyExtra::Property { .. }, Item::Value(_)) => {
                return Err(self.error_at(
                    "invalid value object",
                    node,
                    "a value in a property-based index map must be a node",
                ));
            }
            // The value would have several types, but a literal has only one.
            (MapKeyExtra::Type(_), Item::Value(_)) => {
                if !self.options.lenient {
                    let error = self.error_at(
                        "invalid typed value",
                        node,
                        "a value in a type map must be a node",
                    );
                    return Err(error.with(Remedy::lenient("drops its quad")));
                }
                return self.deliver(Item::Value(DROPPED), slot, node);
            }
            (_, Item::Node(id)) => self.add_key_data(id, slot)?,
            _ => {}
        }
        self.deliver(item, slot, node)
    }

    /// Adds the data of a map key to a node.
    pub fn add_key_data(&mut self, id: TermId, slot: &ValueSlot) -> Read<()> {
        match slot.extra {
            MapKeyExtra::Nothing | MapKeyExtra::Id(_) => Ok(()),
            MapKeyExtra::Type(kind) => {
                let predicate = self.add_rdf_type()?;
                self.add_quad(id, predicate, kind, slot.graph)
            }
            MapKeyExtra::Index(key) => self.note_index(id, slot.graph, key),
            MapKeyExtra::Property {
                predicate,
                index,
                key,
            } => {
                let dropped = id == DROPPED || predicate == DROPPED;
                let sink = QuadSink {
                    graph: if dropped { DROPPED } else { slot.graph },
                    subject_and_predicate: Some((id, predicate))
                        .filter(|_| !dropped && slot.graph != DROPPED),
                    index: 0,
                };
                let item = self.expand_value(key, index.context, index, sink)?;
                self.add_quad(id, predicate, item.term(), slot.graph)
            }
        }
    }

    /// Adds the data of an item's map key to the item's graph, and returns the name of that graph.
    pub fn add_graph_object(&mut self, slot: &ValueSlot, node: u32) -> Read<TermId> {
        let id = match slot.extra {
            MapKeyExtra::Id(id) => id,
            _ => self.add_anonymous()?,
        };
        if let MapKeyExtra::Type(_) = slot.extra {
            return Err(self.error_at(
                "invalid container mapping",
                node,
                "a type map must not contain a graph",
            ));
        }
        if let MapKeyExtra::Property { .. } = slot.extra {
            self.add_key_data(id, slot)?;
        }
        Ok(id)
    }

    /// Records the `@index` of a node, which may have only one (JSON-LD 1.1 API, 7.2.2, step 6.8).
    pub fn note_index(&mut self, id: TermId, graph: TermId, value: u32) -> Read<()> {
        if id == DROPPED || graph == DROPPED {
            return Ok(());
        }
        let table = self.builder.table();
        let key = (table.text(graph).into(), table.text(id).into());
        let text = self.view.text(value);
        let Some(before) = self.indexes.get(&key) else {
            let bytes = key.0.len() + key.1.len() + text.len() + 128;
            self.builder.charge(bytes)?;
            self.indexes.insert(key, text.into());
            return Ok(());
        };
        if **before == *text {
            return Ok(());
        }
        let reason = format!(
            "the node {} already has the @index {}",
            quote(&key.1),
            quote(before)
        );
        Err(self.error_at("conflicting indexes", value, &reason))
    }

    /// Returns the data of the active property.
    #[inline]
    pub fn active(&self, active: ActiveProperty) -> &Property {
        if active.cached {
            self.contexts.property(active.context, active.number)
        } else {
            &self.uncached[active.number as usize]
        }
    }

    /// Returns the definition of the active property.
    #[inline]
    pub fn definition(&self, active: ActiveProperty) -> Option<&Definition> {
        self.active(active).definition.as_deref()
    }

    /// Returns the active property in another context. A property without meaning there has no
    /// definition.
    pub fn find_in_context(&mut self, active: ActiveProperty, context: u32) -> ActiveProperty {
        if active.context == context {
            return active;
        }
        let key: Box<[u8]> = self.active(active).key().into();
        if let Meaning::Property(number) = self.contexts.find_meaning(context, &key) {
            return ActiveProperty::from_cache(context, number);
        }
        let definition = self.contexts.get(context).state.terms.get(&key).cloned();
        self.push_uncached(context, Property::without_iri(&key, definition))
    }

    /// Adds a property that the contexts do not cache. It stays until `uncached` is truncated.
    pub fn push_uncached(&mut self, context: u32, property: Property) -> ActiveProperty {
        self.uncached.push(property);
        ActiveProperty {
            context,
            number: self.uncached.len() as u32 - 1,
            cached: false,
        }
    }

    /// Containers of the active property.
    #[inline]
    pub fn containers(&self, active: ActiveProperty) -> Containers {
        self.definition(active)
            .map_or(Containers::default(), |definition| definition.containers)
    }

    /// Skips or rejects a string that is not a valid term.
    #[cold]
    pub fn reject(&self, node: u32, role: &str, text: &[u8], reason: &str) -> Read<TermId> {
        if self.options.lenient {
            return Ok(DROPPED);
        }
        Err(JsonLdError::with_class(
            crate::model::error::ErrorClass::Malformed,
            Some(self.at(node)),
            format!("{role} {} {reason}", quote(text)),
        )
        .with(Remedy::lenient("drops its quads, as JSON-LD specifies")))
    }

    /// Returns the node that a string names.
    #[inline]
    pub fn add_name_of_node(
        &mut self,
        node: u32,
        context: u32,
        by: RelativeTo,
        role: &str,
    ) -> Read<TermId> {
        let text = self.view.text(node);
        if let Some(colon) = find_colon(text)
            && let Some(result) = self.name_with_colon(text, colon, context)?
        {
            return Ok(result);
        }
        let mut iri = std::mem::take(self.scratch);
        iri.clear();
        let state = &self.contexts.get(context).state;
        let expanded = state.expand(
            text,
            by != RelativeTo::Base,
            by != RelativeTo::Vocab,
            &mut iri,
        );
        let result = self.add_name(expanded, &iri, node, role);
        *self.scratch = iri;
        result
    }

    /// Fast path for a string with a colon, like most names: an IRI, or a compact IRI whose prefix
    /// is a cached term of the context.
    ///
    /// Gain: 1.07 times (`make bench-gains PATHS=names-with-colon`).
    #[inline]
    fn name_with_colon(&mut self, text: &[u8], colon: usize, context: u32) -> Read<Option<TermId>> {
        if !FastPath::NamesWithColon.is_on()
            || colon == 0
            || self.contexts.get(context).state.has_colons
        {
            return Ok(None);
        }
        let (prefix, suffix) = (&text[..colon], &text[colon + 1..]);
        if prefix == b"_" {
            return Ok(None);
        }
        if suffix.starts_with(b"//") {
            return Ok(self.terms.add_iri(self.builder, text)?);
        }
        let Meaning::Property(number) = self.contexts.find_meaning(context, prefix) else {
            return Ok(None);
        };
        let property = self.contexts.property(context, number);
        if !property.is_prefix {
            return Ok(None);
        }
        let takes_plain = property
            .definition
            .as_ref()
            .is_some_and(|definition| definition.takes_plain);
        let iri = &mut *self.scratch;
        iri.clear();
        iri.extend_from_slice(property.iri());
        iri.extend_from_slice(suffix);
        let is_sure = || FastPath::SureIris.is_on() && takes_plain && is_plain(suffix);
        Ok(self.terms.add_iri_if(self.builder, iri, is_sure)?)
    }

    #[inline]
    fn add_name(&mut self, expanded: Expanded, iri: &[u8], node: u32, role: &str) -> Read<TermId> {
        match expanded {
            Expanded::Text => {}
            Expanded::Null => return Ok(DROPPED),
            Expanded::Keyword(_) => {
                let text = self.view.text(node);
                return self.reject(node, role, text, "is a keyword");
            }
            Expanded::Nothing => {
                let text = self.view.text(node);
                return self.reject(node, role, text, "has the form of a keyword");
            }
        }
        if let Some(label) = iri.strip_prefix(b"_:") {
            if !std::str::from_utf8(label).is_ok_and(chars::is_label) {
                return self.reject(node, "the blank node label", label, "is invalid");
            }
            return Ok(self.terms.add_blank_node(self.builder, label)?);
        }
        match self.terms.add_iri(self.builder, iri)? {
            Some(id) => Ok(id),
            None => self.reject_non_iri(node, iri, role),
        }
    }

    /// Rejects a string that is not an IRI.
    #[cold]
    pub fn reject_non_iri(&self, node: u32, text: &[u8], role: &str) -> Read<TermId> {
        if text.starts_with(b"_:") {
            return self.reject(
                node,
                role,
                text,
                "is a blank node, which is not allowed here",
            );
        }
        let relative = std::str::from_utf8(text)
            .ok()
            .and_then(|text| oxiri::IriRef::parse(text).ok())
            .is_some_and(|iri| !iri.is_absolute());
        let reason = match (relative, self.options.has_base) {
            (true, false) => "is a relative IRI, and no base or @base is given",
            (true, true) => "is a relative IRI that cannot be resolved",
            (false, _) => "is not an IRI",
        };
        self.reject(node, role, text, reason).map_err(|error| {
            if relative && !self.options.has_base {
                error.with(Remedy::read("base", "IRI", "makes it absolute"))
            } else {
                error
            }
        })
    }

    /// Records a key that no context maps to an IRI.
    #[cold]
    pub fn drop_key(&mut self, key: u32) {
        self.dropped.count += 1;
        if self.dropped.example.is_none() {
            self.dropped.example = Some(quote(self.view.text(key)));
        }
    }
}

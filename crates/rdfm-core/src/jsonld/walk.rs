//! The quick way: one walk over a message's tape, quads straight into the batch.
//!
//! - In: a tape, and the compiled context in force.
//! - Out: quads of the open message; or that the message declines, and then what was added is to be
//!   discarded.
//! - Cost: linear; a lookup a key. As deep as the tape, which is bounded.
//! - Law: what is read here is what [`super::complete`] reads.

use super::context::{Coercion, Container, Contexts, INITIAL, Keyword, Meaning, is_language_type};
use super::number::{self, Form};
use super::terms::Terms;
use crate::batch::BatchBuilder;
use crate::error::LimitExceeded;
use crate::json::{Kind, View};
use crate::term::{Quad, TermId};
use crate::text::chars;

const RDF_TYPE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const RDF_FIRST: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#first";
const RDF_REST: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#rest";
const RDF_NIL: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#nil";
const XSD_BOOLEAN: &[u8] = b"http://www.w3.org/2001/XMLSchema#boolean";
const XSD_INTEGER: &[u8] = b"http://www.w3.org/2001/XMLSchema#integer";
const XSD_DOUBLE: &[u8] = b"http://www.w3.org/2001/XMLSchema#double";

/// Why the walk stopped.
pub(super) enum Stop {
    /// The message is the complete way's.
    Decline,
    /// The message is too large.
    Limit(LimitExceeded),
}

impl From<LimitExceeded> for Stop {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limit(exceeded)
    }
}

type Walked<T> = Result<T, Stop>;

/// A walk over one message.
pub(super) struct Walk<'a> {
    pub view: View<'a>,
    pub contexts: &'a mut Contexts,
    pub terms: &'a mut Terms,
    pub builder: &'a mut BatchBuilder,
    /// Says of the JSON text of contexts whether the JSON-LD algorithms take it.
    pub check: &'a dyn Fn(&[u8]) -> bool,
    /// Properties of the open nodes: meaning and value.
    pub stack: &'a mut Vec<(u32, u32)>,
    /// An IRI under way.
    pub scratch: &'a mut Vec<u8>,
}

/// Where quads go.
#[derive(Clone, Copy)]
struct Place {
    context: u32,
    graph: TermId,
}

/// Of a node: its term, and where what it holds is to be read.
struct Node {
    id: TermId,
    place: Place,
    /// Where its properties begin on the stack.
    from: usize,
    kinds: Option<u32>,
    graph: Option<u32>,
    included: Option<u32>,
}

impl Walk<'_> {
    /// A message that stands in the `@graph` of a document with the context in force.
    pub fn in_graph(&mut self, root: u32, context: u32) -> Walked<()> {
        let place = Place {
            context,
            graph: TermId::DEFAULT_GRAPH,
        };
        self.nodes(root, place)
    }

    /// A message that is a document.
    pub fn document(&mut self, root: u32) -> Walked<()> {
        let mut place = Place {
            context: INITIAL,
            graph: TermId::DEFAULT_GRAPH,
        };
        if self.view.kind(root) != Kind::Object {
            return self.nodes(root, place);
        }
        // An object of nothing but a graph (and a context) is that graph.
        let mut graph = None;
        place.context = self.context_of(root, place.context)?;
        for key in self.view.keys(root) {
            match self.meaning(key, place.context)? {
                Meaning::Keyword(Keyword::Context) => {}
                Meaning::Keyword(Keyword::Graph) if graph.is_none() => graph = Some(key + 1),
                _ => {
                    return self.nodes(
                        root,
                        Place {
                            context: INITIAL,
                            ..place
                        },
                    );
                }
            }
        }
        graph.map_or(Ok(()), |graph| self.nodes(graph, place))
    }

    /// The nodes of a graph.
    fn nodes(&mut self, value: u32, place: Place) -> Walked<()> {
        match self.view.kind(value) {
            Kind::Object => self.top(value, place),
            Kind::Array => {
                for item in self.view.items(value) {
                    if self.view.kind(item) != Kind::Object {
                        return Err(Stop::Decline);
                    }
                    self.top(item, place)?;
                }
                Ok(())
            }
            _ => Err(Stop::Decline),
        }
    }

    /// A node of a graph.
    fn top(&mut self, object: u32, place: Place) -> Walked<()> {
        let node = self.node(object, place)?;
        self.content(&node)
    }

    #[inline]
    fn meaning(&mut self, key: u32, context: u32) -> Walked<Meaning> {
        let active = self.contexts.get_mut(context).ok_or(Stop::Decline)?;
        match active.meaning(self.view.text(key)) {
            Meaning::Decline => Err(Stop::Decline),
            meaning => Ok(meaning),
        }
    }

    /// The context within an object.
    #[inline]
    fn context_of(&mut self, object: u32, context: u32) -> Walked<u32> {
        if !self.view.tape.has_contexts() {
            return Ok(context);
        }
        let mut local = None;
        for key in self.view.keys(object) {
            if self.view.text(key) == b"@context" {
                local = Some(key + 1);
            }
        }
        let Some(local) = local else {
            return Ok(context);
        };
        let made = self
            .contexts
            .compile(context, &self.view, local, self.check);
        made.ok_or(Stop::Decline)
    }

    /// The term of a node object; its properties are put on the stack.
    fn node(&mut self, object: u32, place: Place) -> Walked<Node> {
        let context = self.context_of(object, place.context)?;
        let from = self.stack.len();
        let (mut id, mut kinds, mut graph, mut included) = (None, None, None, None);
        for key in self.view.keys(object) {
            let value = key + 1;
            match self.meaning(key, context)? {
                Meaning::Property(property) => self.stack.push((property, value)),
                Meaning::Keyword(Keyword::Context) => {}
                Meaning::Keyword(Keyword::Id) if id.is_none() => id = Some(value),
                Meaning::Keyword(Keyword::Type) if kinds.is_none() => kinds = Some(value),
                Meaning::Keyword(Keyword::Graph) if graph.is_none() => graph = Some(value),
                Meaning::Keyword(Keyword::Included) if included.is_none() => {
                    included = Some(value);
                }
                Meaning::Ignored
                    if !matches!(self.view.kind(value), Kind::Object | Kind::Array) => {}
                _ => return Err(Stop::Decline),
            }
        }
        let id = match id {
            None => self.terms.anonymous_in(&self.view, self.builder)?,
            Some(id) if self.view.kind(id) == Kind::String => self.reference(id, context, false)?,
            Some(_) => return Err(Stop::Decline),
        };
        Ok(Node {
            id,
            place: Place { context, ..place },
            from,
            kinds,
            graph,
            included,
        })
    }

    /// What a node holds.
    fn content(&mut self, node: &Node) -> Walked<()> {
        let Node {
            id,
            place,
            from,
            kinds,
            graph,
            included,
        } = *node;
        let to = self.stack.len();
        if let Some(kinds) = kinds {
            self.types(id, kinds, place)?;
        }
        for at in from..to {
            let Some(&(property, value)) = self.stack.get(at) else {
                break;
            };
            self.property(id, property, value, place)?;
        }
        self.stack.truncate(from);
        if let Some(graph) = graph {
            self.nodes(graph, Place { graph: id, ..place })?;
        }
        if let Some(included) = included {
            self.nodes(included, place)?;
        }
        Ok(())
    }

    fn types(&mut self, id: TermId, value: u32, place: Place) -> Walked<()> {
        match self.view.kind(value) {
            Kind::String => self.type_of(id, value, place),
            Kind::Array => {
                for item in self.view.items(value) {
                    if self.view.kind(item) != Kind::String {
                        return Err(Stop::Decline);
                    }
                    self.type_of(id, item, place)?;
                }
                Ok(())
            }
            _ => Err(Stop::Decline),
        }
    }

    fn type_of(&mut self, id: TermId, value: u32, place: Place) -> Walked<()> {
        let predicate = self.terms.iri(self.builder, RDF_TYPE)?;
        let object = self.reference(value, place.context, true)?;
        self.quad(id, predicate, object, place)
    }

    #[inline]
    fn quad(
        &mut self,
        subject: TermId,
        predicate: TermId,
        object: TermId,
        place: Place,
    ) -> Walked<()> {
        let quad = Quad {
            subject,
            predicate,
            object,
            graph: place.graph,
        };
        Ok(self.builder.add_quad(quad)?)
    }

    /// The node that a string names.
    #[inline]
    fn reference(&mut self, value: u32, context: u32, vocab: bool) -> Walked<TermId> {
        let text = self.view.text(value);
        if let Some(label) = text.strip_prefix(b"_:") {
            let active = self.contexts.get(context).ok_or(Stop::Decline)?;
            if !std::str::from_utf8(label).is_ok_and(chars::is_label) || active.has_term(text) {
                return Err(Stop::Decline);
            }
            return Ok(self.terms.bnode(self.builder, label)?);
        }
        let active = self.contexts.get(context).ok_or(Stop::Decline)?;
        if !active.node_iri(text, vocab, self.scratch) {
            return Err(Stop::Decline);
        }
        Ok(self.terms.iri(self.builder, self.scratch)?)
    }

    fn property(&mut self, id: TermId, number: u32, value: u32, place: Place) -> Walked<()> {
        let active = self.contexts.get_mut(place.context).ok_or(Stop::Decline)?;
        let property = active.property(number).ok_or(Stop::Decline)?;
        let container = property.container;
        let predicate = self
            .terms
            .iri_again(self.builder, &property.iri, &mut property.known)?;
        match container {
            Container::None | Container::Set => self.values(id, predicate, number, value, place),
            Container::List => {
                let head = self.list(value)?;
                self.link(id, predicate, head, number, place)
            }
            Container::Language => self.languages(id, predicate, value, place),
        }
    }

    fn values(
        &mut self,
        id: TermId,
        predicate: TermId,
        number: u32,
        value: u32,
        place: Place,
    ) -> Walked<()> {
        match self.view.kind(value) {
            Kind::Array => {
                for item in self.view.items(value) {
                    if self.view.kind(item) == Kind::Array {
                        return Err(Stop::Decline);
                    }
                    self.value(id, predicate, number, item, place)?;
                }
                Ok(())
            }
            _ => self.value(id, predicate, number, value, place),
        }
    }

    /// One value of a property, which is no array.
    #[inline]
    fn value(
        &mut self,
        id: TermId,
        predicate: TermId,
        number: u32,
        value: u32,
        place: Place,
    ) -> Walked<()> {
        match self.view.kind(value) {
            Kind::Null => Ok(()),
            Kind::Object => self.object(id, predicate, number, value, place),
            _ => {
                let object = self.scalar(number, value, place)?;
                self.quad(id, predicate, object, place)
            }
        }
    }

    /// The term of a string, a number or a boolean.
    #[inline]
    fn scalar(&mut self, number: u32, value: u32, place: Place) -> Walked<TermId> {
        let active = self.contexts.get_mut(place.context).ok_or(Stop::Decline)?;
        let property = active.property(number).ok_or(Stop::Decline)?;
        let coercion = property.coercion;
        if self.view.kind(value) == Kind::String {
            match coercion {
                Coercion::Id => return self.reference(value, place.context, false),
                Coercion::Vocab => return self.reference(value, place.context, true),
                Coercion::None => {
                    let text = self.view.text(value);
                    let clean = !self.view.is_owned(value);
                    let active = self.contexts.get(place.context).ok_or(Stop::Decline)?;
                    let Some(tag) = active.language_of(number) else {
                        return Ok(Terms::string(self.builder, text, clean)?);
                    };
                    if !chars::is_language_tag(tag) {
                        return Err(Stop::Decline);
                    }
                    return Ok(self.terms.tagged(self.builder, text, clean, tag, 0)?);
                }
                Coercion::Datatype(_) => {}
            }
        }
        let active = self.contexts.get(place.context).ok_or(Stop::Decline)?;
        let datatype = match coercion {
            Coercion::Datatype(datatype) => Some(active.datatype(datatype).ok_or(Stop::Decline)?),
            _ => None,
        };
        literal(
            self.terms,
            self.builder,
            &self.view,
            value,
            datatype,
            self.scratch,
        )
    }

    /// An object that is the value of a property: a value, a list, a set or a node.
    fn object(
        &mut self,
        id: TermId,
        predicate: TermId,
        number: u32,
        object: u32,
        place: Place,
    ) -> Walked<()> {
        let first = self.view.keys(object).next();
        // The first key that says what it is decides; what does not fit then declines.
        if let Some(first) = first
            && let Meaning::Keyword(Keyword::Value | Keyword::Type | Keyword::Language) =
                self.meaning(first, place.context)?
            && let Some(value) = self.value_of(object, place)?
        {
            return self.value_object(id, predicate, object, value, place);
        }
        if let Some(first) = first
            && let Meaning::Keyword(keyword @ (Keyword::List | Keyword::Set)) =
                self.meaning(first, place.context)?
        {
            if self.view.node(first + 1).next != self.view.node(object).next {
                return Err(Stop::Decline);
            }
            if keyword == Keyword::Set {
                return self.values(id, predicate, number, first + 1, place);
            }
            let head = self.list(first + 1)?;
            return self.link(id, predicate, head, number, place);
        }
        let node = self.node(object, place)?;
        self.quad(id, predicate, node.id, place)?;
        self.content(&node)
    }

    /// The `@value` of an object, if it has one.
    fn value_of(&mut self, object: u32, place: Place) -> Walked<Option<u32>> {
        for key in self.view.keys(object) {
            if self.meaning(key, place.context)? == Meaning::Keyword(Keyword::Value) {
                return Ok(Some(key + 1));
            }
        }
        Ok(None)
    }

    fn value_object(
        &mut self,
        id: TermId,
        predicate: TermId,
        object: u32,
        value: u32,
        place: Place,
    ) -> Walked<()> {
        let (mut kind, mut language, mut values) = (None, None, 0);
        for key in self.view.keys(object) {
            match self.meaning(key, place.context)? {
                Meaning::Keyword(Keyword::Value) => values += 1,
                Meaning::Keyword(Keyword::Type) if kind.is_none() => kind = Some(key + 1),
                Meaning::Keyword(Keyword::Language) if language.is_none() => {
                    language = Some(key + 1);
                }
                _ => return Err(Stop::Decline),
            }
        }
        let string = |node: u32| self.view.kind(node) == Kind::String;
        if values != 1
            || matches!(
                self.view.kind(value),
                Kind::Object | Kind::Array | Kind::Null
            )
            || (kind.is_some() && language.is_some())
            || !kind.is_none_or(string)
            || !language.is_none_or(string)
        {
            return Err(Stop::Decline);
        }
        let term = if let Some(language) = language {
            let tag = self.view.text(language);
            if !string(value) || !chars::is_language_tag(tag) {
                return Err(Stop::Decline);
            }
            let (text, clean) = (self.view.text(value), !self.view.is_owned(value));
            self.terms.tagged(self.builder, text, clean, tag, 0)?
        } else {
            let mut datatype = None;
            if let Some(kind) = kind {
                let text = self.view.text(kind);
                let active = self.contexts.get(place.context).ok_or(Stop::Decline)?;
                if text.starts_with(b"_:") || !active.node_iri(text, true, self.scratch) {
                    return Err(Stop::Decline);
                }
                if is_language_type(self.scratch) {
                    return Err(Stop::Decline);
                }
                datatype = Some(std::mem::take(self.scratch));
            }
            let made = literal(
                self.terms,
                self.builder,
                &self.view,
                value,
                datatype.as_deref(),
                self.scratch,
            )?;
            if let Some(datatype) = datatype {
                *self.scratch = datatype;
            }
            made
        };
        self.quad(id, predicate, term, place)
    }

    /// A map from languages to strings.
    fn languages(
        &mut self,
        id: TermId,
        predicate: TermId,
        object: u32,
        place: Place,
    ) -> Walked<()> {
        if self.view.kind(object) != Kind::Object {
            return Err(Stop::Decline);
        }
        for key in self.view.keys(object) {
            let tag = self.view.text(key);
            let active = self.contexts.get(place.context).ok_or(Stop::Decline)?;
            if !chars::is_language_tag(tag) || active.has_term(tag) {
                return Err(Stop::Decline);
            }
            let values = key + 1;
            let many = self.view.kind(values) == Kind::Array;
            let end = self.view.node(values).next;
            let mut at = if many { values + 1 } else { values };
            while at < end {
                if self.view.kind(at) != Kind::String {
                    return Err(Stop::Decline);
                }
                let (text, clean) = (self.view.text(at), !self.view.is_owned(at));
                let term = self.terms.tagged(self.builder, text, clean, tag, 0)?;
                self.quad(id, predicate, term, place)?;
                at += 1;
            }
        }
        Ok(())
    }

    /// The items of a list are put on the stack; gives where they begin.
    fn list(&mut self, value: u32) -> Walked<usize> {
        let from = self.stack.len();
        if self.view.kind(value) == Kind::Array {
            for item in self.view.items(value) {
                if matches!(self.view.kind(item), Kind::Array | Kind::Null) {
                    return Err(Stop::Decline);
                }
                self.stack.push((0, item));
            }
        } else if self.view.kind(value) == Kind::Null {
            return Err(Stop::Decline);
        } else {
            self.stack.push((0, value));
        }
        Ok(from)
    }

    /// The quads of a list whose items stand on the stack.
    fn link(
        &mut self,
        id: TermId,
        predicate: TermId,
        from: usize,
        number: u32,
        place: Place,
    ) -> Walked<()> {
        let to = self.stack.len();
        let nil = self.terms.iri(self.builder, RDF_NIL)?;
        if from == to {
            return self.quad(id, predicate, nil, place);
        }
        let first = self.terms.iri(self.builder, RDF_FIRST)?;
        let rest = self.terms.iri(self.builder, RDF_REST)?;
        let mut cell = self.terms.anonymous_in(&self.view, self.builder)?;
        self.quad(id, predicate, cell, place)?;
        for at in from..to {
            let Some(&(_, item)) = self.stack.get(at) else {
                break;
            };
            if self.is_list(item, place)? {
                return Err(Stop::Decline);
            }
            self.value(cell, first, number, item, place)?;
            if at + 1 < to {
                let next = self.terms.anonymous_in(&self.view, self.builder)?;
                self.quad(cell, rest, next, place)?;
                cell = next;
            }
        }
        self.quad(cell, rest, nil, place)?;
        self.stack.truncate(from);
        Ok(())
    }

    /// Whether an item of a list is a list or a set itself.
    fn is_list(&mut self, item: u32, place: Place) -> Walked<bool> {
        if self.view.kind(item) != Kind::Object {
            return Ok(false);
        }
        for key in self.view.keys(item) {
            if let Meaning::Keyword(Keyword::List | Keyword::Set) =
                self.meaning(key, place.context)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The literal of a string, a number or a boolean, of a datatype or of its own.
fn literal(
    terms: &mut Terms,
    builder: &mut BatchBuilder,
    view: &View<'_>,
    value: u32,
    datatype: Option<&[u8]>,
    scratch: &mut Vec<u8>,
) -> Walked<TermId> {
    Ok(match view.kind(value) {
        Kind::String => {
            let (text, clean) = (view.text(value), !view.is_owned(value));
            match datatype {
                None => Terms::string(builder, text, clean)?,
                Some(datatype) => terms.typed(builder, text, clean, datatype)?,
            }
        }
        Kind::Number => {
            scratch.clear();
            let own =
                match number::canonical(view.text(value), datatype == Some(XSD_DOUBLE), scratch) {
                    Form::Integer => XSD_INTEGER,
                    Form::Double => XSD_DOUBLE,
                    Form::Doubtful => return Err(Stop::Decline),
                };
            terms.typed(builder, scratch, true, datatype.unwrap_or(own))?
        }
        Kind::True => terms.typed(builder, b"true", true, datatype.unwrap_or(XSD_BOOLEAN))?,
        Kind::False => terms.typed(builder, b"false", true, datatype.unwrap_or(XSD_BOOLEAN))?,
        _ => return Err(Stop::Decline),
    })
}

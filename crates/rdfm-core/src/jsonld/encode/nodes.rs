//! Writes the nodes of a shaped message: keys, values, nested nodes, lists.
//!
//! - In: a [`Shape`] and its quads.
//! - Out: events and tokens.
//! - Cost: a token is made once a batch and term, then copied. The recursion is as deep as the shape nests.
//! - Law: what is written means the quads of the shape and no others.

use super::names::{Names, Wrote, is_absolute};
use super::native::Native;
use super::shape::{Known, Node, Property, Shape};
use crate::batch::TermTable;
use crate::jsonld::sink::{MOST_KEY, Sink};
use crate::term::{Quad, TermId, TermKind, flags};
use crate::text::encode::{Memo, Stop, holds_labels};
use crate::text::write::{Fault, Style, fault};

/// The message that is written.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    pub table: &'a TermTable,
    pub quads: &'a [Quad],
    pub style: &'a Style,
    /// The context is in force.
    pub context: bool,
    /// The context around the nodes is not for them.
    pub reset: bool,
    /// Values, types and keys as the expanded form has them: arrays, and objects for all literals.
    pub expanded: bool,
}

/// Writes nodes.
pub struct Nodes<S> {
    pub sink: S,
    pub shape: Shape,
    pub names: Names,
    /// Tokens of IRIs, blank nodes and tags.
    tokens: Memo,
    /// By datatype.
    natives: Vec<(u32, Native)>,
    batch: u32,
    scratch: Vec<u8>,
    /// Write IRIs that no JSON-LD reader takes.
    lenient: bool,
    /// A token was written that a reader of the context would take for another term.
    pub hazard: bool,
}

impl<S: Sink> Nodes<S> {
    pub fn new(sink: S, lenient: bool) -> Self {
        Self {
            sink,
            shape: Shape::default(),
            names: Names::default(),
            tokens: Memo::default(),
            natives: Vec::new(),
            batch: 0,
            scratch: Vec::new(),
            lenient,
            hazard: false,
        }
    }

    /// A batch begins.
    pub fn begin_batch(&mut self, terms: usize, out: &[u8]) {
        self.tokens.begin_batch(terms, out);
        self.shape.begin_batch(terms);
        if self.natives.len() < terms {
            self.natives.resize(terms, (0, Native::None));
        }
        self.batch = self.batch.wrapping_add(1);
        if self.batch == 0 {
            self.natives.fill((0, Native::None));
            self.batch = 1;
        }
    }

    /// The context changed: tokens are to be made anew.
    pub fn forget(&mut self) {
        self.tokens.forget();
    }

    /// Opens the value of a keyword, which stands in quotes in every syntax.
    #[inline]
    pub fn keyword(&mut self, quoted: &[u8], out: &mut Vec<u8>) {
        self.sink.begin_key(out);
        out.extend_from_slice(quoted);
        self.sink.end_key(out);
    }

    /// The nodes of a graph that stand inside no other.
    pub fn tops(
        &mut self,
        message: Message<'_>,
        graph: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        for node in self.shape.graphs[graph].nodes.clone() {
            if !self.shape.is_inside(node) {
                self.begin_top(message, out);
                self.node(message, node, out)?;
                self.sink.end_object(out);
            }
        }
        Ok(())
    }

    /// Opens the object of a node or graph.
    pub fn begin_top(&mut self, message: Message<'_>, out: &mut Vec<u8>) {
        self.sink.begin_object(out);
        if message.reset {
            self.no_context(out);
        }
    }

    /// `"@context": null`.
    pub fn no_context(&mut self, out: &mut Vec<u8>) {
        self.keyword(b"\"@context\"", out);
        self.sink.scalar(out);
        out.extend_from_slice(b"null");
    }

    /// What is between the braces of a node.
    pub fn node(&mut self, message: Message<'_>, at: u32, out: &mut Vec<u8>) -> Result<(), Stop> {
        let Node {
            subject,
            ref properties,
            ..
        } = self.shape.nodes[at as usize];
        let properties = properties.clone();
        if !self.shape.is_inside(at) {
            self.id(message, subject, out)?;
        }
        let mut typed = None;
        for at in properties.clone() {
            if self.shape.properties[at as usize].known == Known::Type {
                typed = self.types(message, at, out)?;
                break;
            }
        }
        for at in properties {
            if typed != Some(at) {
                self.property(message, at, out)?;
            }
            if out.len() > message.style.most {
                return Err(Stop::TooLong);
            }
        }
        Ok(())
    }

    /// `"@id": …`.
    pub fn id(&mut self, message: Message<'_>, id: TermId, out: &mut Vec<u8>) -> Result<(), Stop> {
        self.keyword(b"\"@id\"", out);
        self.sink.scalar(out);
        self.name(message, id, out)
    }

    /// `"@type": …`, if nodes are all that the property has. Gives it back if it was written.
    fn types(
        &mut self,
        message: Message<'_>,
        at: u32,
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>, Stop> {
        let range = self.shape.places(at);
        let mut objects = range
            .clone()
            .map(|at| self.shape.quad(message.quads, at).object);
        let nodes = |id| matches!(message.table.term(id).kind, TermKind::Iri | TermKind::Bnode);
        if !objects.all(nodes) {
            return Ok(None);
        }
        self.keyword(b"\"@type\"", out);
        let many = message.expanded || range.len() > 1;
        if many {
            self.sink.begin_array(out);
        }
        for at in range {
            let object = self.shape.quad(message.quads, at).object;
            self.sink.scalar(out);
            self.name(message, object, out)?;
        }
        if many {
            self.sink.end_array(out);
        }
        Ok(Some(at))
    }

    fn property(&mut self, message: Message<'_>, at: u32, out: &mut Vec<u8>) -> Result<(), Stop> {
        let Property {
            predicate, known, ..
        } = self.shape.properties[at as usize];
        let range = self.shape.places(at);
        self.sink.begin_key(out);
        self.name(message, predicate, out)?;
        self.sink.end_key(out);
        let many = message.expanded || range.len() > 1;
        if many {
            self.sink.begin_array(out);
        }
        for at in range {
            let object = self.shape.quad(message.quads, at).object;
            self.value(message, object, known, out)?;
        }
        if many {
            self.sink.end_array(out);
        }
        Ok(())
    }

    /// An object of a property, or an item of a list.
    #[inline]
    fn value(
        &mut self,
        message: Message<'_>,
        object: TermId,
        property: Known,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        match message.table.term(object).kind {
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                return self.literal(message, object, out);
            }
            TermKind::Bnode => {
                if let Some(inner) = self.shape.inner(message.table, object) {
                    self.sink.begin_object(out);
                    if self.shape.is_list(inner) {
                        self.list(message, Some(inner), out)?;
                    } else {
                        self.node(message, inner, out)?;
                    }
                    self.sink.end_object(out);
                    return Ok(());
                }
            }
            _ => {}
        }
        self.sink.begin_object(out);
        if property != Known::Rest && self.shape.is_nil(message.table, object) {
            self.list(message, None, out)?;
        } else {
            self.id(message, object, out)?;
        }
        self.sink.end_object(out);
        Ok(())
    }

    /// `"@list": […]` from its first cell.
    fn list(
        &mut self,
        message: Message<'_>,
        mut cell: Option<u32>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        self.keyword(b"\"@list\"", out);
        self.sink.begin_array(out);
        while let Some((first, rest)) = cell.and_then(|cell| self.shape.cell(message.quads, cell)) {
            let (first, rest) = (first.object, rest.object);
            self.value(message, first, Known::First, out)?;
            cell = self.shape.inner(message.table, rest);
            if out.len() > message.style.most {
                return Err(Stop::TooLong);
            }
        }
        self.sink.end_array(out);
        Ok(())
    }

    fn literal(&mut self, message: Message<'_>, id: TermId, out: &mut Vec<u8>) -> Result<(), Stop> {
        let table = message.table;
        let term = table.term(id);
        let text = table.text_of(term);
        let plain = term.flags & flags::PLAIN != 0;
        if !message.expanded && term.kind == TermKind::Literal {
            self.sink.scalar(out);
            S::text(text, plain, out);
            return Ok(());
        }
        let of = TermId(term.aux);
        let native = match term.kind {
            TermKind::TypedLiteral => self.native(table, of),
            _ => Native::None,
        };
        if native != Native::None {
            self.scratch.clear();
            let lossless = native.write(text, &mut self.scratch);
            if lossless {
                if message.expanded {
                    self.sink.begin_object(out);
                    self.keyword(b"\"@value\"", out);
                }
                self.sink.scalar(out);
                out.extend_from_slice(&self.scratch);
                if message.expanded {
                    self.sink.end_object(out);
                }
                return Ok(());
            }
        }
        self.sink.begin_object(out);
        self.keyword(b"\"@value\"", out);
        self.sink.scalar(out);
        S::text(text, plain, out);
        match term.kind {
            TermKind::TypedLiteral => {
                self.keyword(b"\"@type\"", out);
                self.sink.scalar(out);
                self.name(message, of, out)?;
            }
            TermKind::LangLiteral => {
                self.keyword(b"\"@language\"", out);
                self.sink.scalar(out);
                self.name(message, of, out)?;
                if term.flags & (flags::LTR | flags::RTL) != 0 {
                    self.keyword(b"\"@direction\"", out);
                    self.sink.scalar(out);
                    let left = term.flags & flags::LTR != 0;
                    S::text(if left { b"ltr" } else { b"rtl" }, true, out);
                }
            }
            _ => {}
        }
        self.sink.end_object(out);
        Ok(())
    }

    /// How literals of a datatype may be native.
    #[inline]
    fn native(&mut self, table: &TermTable, datatype: TermId) -> Native {
        let entry = &mut self.natives[datatype.index()];
        if entry.0 != self.batch {
            *entry = (self.batch, Native::of(table.text(datatype)));
        }
        entry.1
    }

    /// The token of an IRI, a blank node or a language tag.
    #[inline]
    pub fn name(
        &mut self,
        message: Message<'_>,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
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
    ) -> Result<(), Stop> {
        let table = message.table;
        let term = table.term(id);
        let text = table.text_of(term);
        let start = out.len();
        match term.kind {
            TermKind::Iri => {
                if !self.lenient && !is_absolute(text) {
                    return Err(Stop::Term(Fault::Relative(id)));
                }
                if self
                    .names
                    .iri::<S>(text, message.context, &mut self.scratch, out)
                    == Wrote::Hazard
                {
                    self.hazard = true;
                    return Ok(());
                }
            }
            TermKind::Language => {
                if let Some(fault) = fault(table, id, false) {
                    return Err(Stop::Term(fault));
                }
                S::text(text, true, out);
            }
            _ => {
                self.scratch.clear();
                message.style.write(table, id, &mut self.scratch);
                S::text(&self.scratch, true, out);
            }
        }
        // A sink may move a long key, and what is kept is a place in the output.
        let stays = out.len() - start <= MOST_KEY;
        if stays && (message.style.apart.is_none() || !holds_labels(term.kind)) {
            self.tokens.keep(id, start, out);
        }
        Ok(())
    }
}

//! Messages of JSON-LD from tapes: what a line of NDJSON-LD and a document of YAML-LD mean.
//!
//! - In: a tape that holds a message, an empty message or a context.
//! - Out: a message in the builder, or a new context in force.
//! - Cost: that of the walk; that of the complete way where the walk declines.
//! - Law: a context within a message never leaks. On a fault the builder holds nothing of the message.

use oxiri::Iri;

use super::complete::{Complete, NO_LANGUAGE, Wrong};
use super::context::{Contexts, INITIAL, Namespace, members};
use super::guard;
use super::ignored;
use super::loader::Store;
use super::protect;
use super::terms::Terms;
use super::walk::{Stop, Walk};
use crate::batch::BatchBuilder;
use crate::codec::{DecodeOptions, RdfDirection};
use crate::error::{ErrorClass, quote};
use crate::json::{Bounds, Fault, Kind, Tape, View, parse, write};

/// Most entries of contexts that the algorithms may copy for one message.
const MOST_WORK: u64 = 1 << 26;
/// A tape may take so many times the bytes of the largest message.
const TAPE_FACTOR: u64 = 4;

/// A context's number if it compiles; unknown until it was tried.
#[derive(Clone, Copy)]
enum Compiled {
    Unknown,
    No,
    Yes(u32),
}

/// Reads messages.
pub struct MessageReader {
    complete: Complete,
    contexts: Contexts,
    terms: Terms,
    bounds: Bounds,
    /// The log's context, as JSON text.
    context: Option<Box<[u8]>>,
    /// The same, as the complete way is given it.
    explicit: Option<Box<[u8]>>,
    /// It may hold contexts of definitions, which objects of messages call for.
    scoped: bool,
    /// Its entries, with all that it refers to.
    own: u64,
    /// It is wrong: so is every message until the next one.
    broken: bool,
    /// Its number among the compiled contexts, if it compiles and they were not forgotten since.
    compiled: Compiled,
    /// Namespaces that the next message declares.
    pending: Vec<Namespace>,
    /// The contexts whose namespaces were declared last.
    declared: Box<[u8]>,
    declined: u64,
    quick: bool,
    stack: Vec<(u32, u32)>,
    scratch: Vec<u8>,
    text: Vec<u8>,
}

impl MessageReader {
    /// A reader at the start of a log.
    ///
    /// # Errors
    /// The base is not an absolute IRI.
    pub fn new(options: &DecodeOptions) -> Result<Self, String> {
        let base = match &options.base {
            None => None,
            Some(text) => Some(Iri::parse(text.clone()).map_err(|error| {
                format!(
                    "base is not an absolute IRI: {} ({error})",
                    quote(text.as_bytes())
                )
            })?),
        };
        let store = Store::new(options.context_loader.clone(), &options.limits);
        let bounds = Bounds {
            max_depth: options.limits.max_depth,
            max_bytes: options.limits.max_message_bytes.saturating_mul(TAPE_FACTOR),
            duplicates: options.lenient,
        };
        Ok(Self {
            complete: Complete {
                base: options.base.clone(),
                lenient: options.lenient,
                direction: options.rdf_direction,
                store: store.clone(),
            },
            contexts: Contexts::new(base, bounds, store),
            terms: Terms::new(),
            bounds,
            context: None,
            explicit: None,
            scoped: false,
            own: 0,
            broken: false,
            compiled: Compiled::Unknown,
            pending: Vec::new(),
            declared: Box::default(),
            declined: 0,
            quick: options.quick,
            stack: Vec::new(),
            scratch: Vec::new(),
            text: Vec::new(),
        })
    }

    /// The bounds that tapes are to be made with.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Goes to the start of another log. Remote contexts stay known.
    pub fn reset(&mut self) {
        self.contexts.forget();
        self.context = None;
        self.explicit = None;
        self.scoped = false;
        self.own = 0;
        self.broken = false;
        self.compiled = Compiled::Unknown;
        self.pending.clear();
        self.declared = Box::default();
        self.declined = 0;
    }

    /// Messages that were read the complete way.
    pub fn declined(&self) -> u64 {
        self.declined
    }

    /// Namespaces with no message behind them to carry them.
    pub fn pending_namespaces(&self) -> u64 {
        self.pending.len() as u64
    }

    /// The context in force cannot be known: messages are refused until the next one.
    pub fn lose_context(&mut self) {
        self.broken = true;
    }

    /// Reads a context, an empty message or a message.
    ///
    /// # Errors
    /// It is none of these, or breaks JSON-LD.
    pub fn read(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
    ) -> Result<(), Fault> {
        let found = match view.kind(0) {
            Kind::Object => None,
            Kind::Array => Some("an array"),
            Kind::String | Kind::Key => Some("a string"),
            Kind::Number => Some("a number"),
            Kind::True | Kind::False => Some("a boolean"),
            Kind::Null => Some("null"),
        };
        if let Some(found) = found {
            let array = if view.kind(0) == Kind::Array {
                "; several nodes are one message as {\"@included\": […]}"
            } else {
                ""
            };
            return Err(at_start(
                view,
                Wrong {
                    class: ErrorClass::Malformed,
                    reason: format!("expected an object ({{…}}), found {found}{array}"),
                },
            ));
        }
        self.tidy();
        let mut keys = view.keys(0);
        match (keys.next(), keys.next()) {
            (Some(key), None) if view.text(key) == b"@context" => {
                self.set_context(view, key + 1).map_err(|wrong| {
                    self.broken = true;
                    at_start(view, wrong)
                })
            }
            _ => self.message(view, position, builder, false),
        }
    }

    /// As [`read`](Self::read); an array is a message too.
    ///
    /// # Errors
    /// It is none of these, or breaks JSON-LD.
    pub fn read_nodes(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
    ) -> Result<(), Fault> {
        if view.kind(0) == Kind::Array {
            self.tidy();
            return self.message(view, position, builder, false);
        }
        self.read(view, position, builder)
    }

    /// Reads a document that is one message, whatever it holds.
    ///
    /// # Errors
    /// It breaks JSON-LD.
    pub fn read_document(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
    ) -> Result<(), Fault> {
        self.message(view, position, builder, true)
    }

    /// Keeps the compiled contexts small.
    fn tidy(&mut self) {
        if self.contexts.is_full() {
            self.contexts.forget();
            self.compiled = Compiled::Unknown;
        }
    }

    fn set_context(&mut self, view: &View<'_>, value: u32) -> Result<(), Wrong> {
        let mut text = Vec::new();
        write::write(view, value, &mut text);
        self.broken = false;
        self.scoped = false;
        self.own = 0;
        self.compiled = Compiled::Unknown;
        if view.kind(value) == Kind::Null {
            self.context = None;
            self.explicit = None;
            return Ok(());
        }
        self.context = Some(text.into());
        self.explicit = Some(explicit(view));
        let found = guard::survey(view, 0, self.bounds.max_depth).map_err(limit)?;
        self.scoped = found.scoped || !found.references.is_empty();
        self.own = self.entries(&found);
        let compiled = self.compile_context(view, value);
        if let Some(number) = compiled {
            self.declare(number);
        } else {
            let text = self.explicit.as_deref().unwrap_or_default();
            self.complete.check(members(text))?;
        }
        Ok(())
    }

    fn compile_context(&mut self, view: &View<'_>, value: u32) -> Option<u32> {
        let complete = &self.complete;
        let made = self
            .contexts
            .compile(INITIAL, view, value, |text| complete.takes(text));
        self.compiled = made.map_or(Compiled::No, Compiled::Yes);
        made
    }

    /// The number of the log's context, if it compiles.
    fn compiled(&mut self) -> Option<u32> {
        match self.compiled {
            Compiled::Unknown => {}
            Compiled::No => return None,
            Compiled::Yes(number) => return Some(number),
        }
        let text = self.context.clone()?;
        let mut tape = Tape::new();
        let bounds = Bounds {
            duplicates: true,
            ..self.bounds
        };
        parse(&text, &mut tape, &bounds).ok()?;
        let view = View {
            tape: &tape,
            source: &text,
        };
        self.compile_context(&view, 0)
    }

    /// The prefixes of a context become namespaces of the next message.
    fn declare(&mut self, number: u32) {
        for pair in self.contexts.prefixes(number) {
            self.pending.retain(|(name, _)| *name != pair.0);
            self.pending.push(pair);
        }
    }

    /// Entries that the algorithms copy for the contexts of a message, and those that they refer to.
    fn survey(&self, view: &View<'_>) -> Result<u64, Wrong> {
        let found = guard::survey(view, 0, self.bounds.max_depth).map_err(limit)?;
        let entries = self.entries(&found).saturating_add(self.own);
        let scoped = found.scoped || self.scoped || !found.references.is_empty();
        let copies = found.contexts + if scoped { found.objects } else { 0 };
        Ok(copies.saturating_mul(entries))
    }

    /// Entries of the contexts that were found.
    fn entries(&self, found: &guard::Survey<'_>) -> u64 {
        let loaded = |(reference, _): &(&str, bool)| self.complete.store.load(reference).ok();
        let remote = found.references.iter().filter_map(loaded);
        remote.fold(found.entries, |sum, loaded| sum.saturating_add(loaded.cost))
    }

    fn begin(&mut self, position: u64, builder: &mut BatchBuilder) -> Result<(), Wrong> {
        builder.begin_message(position);
        self.terms.begin_message();
        for (name, iri) in &self.pending {
            builder.add_namespace(name, iri)?;
        }
        Ok(())
    }

    fn message(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
        whole: bool,
    ) -> Result<(), Fault> {
        let outcome = self.try_message(view, position, builder, whole);
        match outcome {
            Ok(()) => {
                self.pending.clear();
                builder.end_message();
                Ok(())
            }
            Err(wrong) => {
                if builder.is_open() {
                    builder.discard_message();
                }
                Err(at_start(view, wrong))
            }
        }
    }

    fn try_message(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
        whole: bool,
    ) -> Result<(), Wrong> {
        let empty = view.kind(0) == Kind::Object && view.node(0).next == 1;
        if empty {
            return self.begin(position, builder);
        }
        if self.broken && !whole {
            return Err(Wrong {
                class: ErrorClass::Malformed,
                reason: "the context message before it could not be read, so the message cannot be either"
                    .to_owned(),
            });
        }
        let mut work = 0;
        if view.tape.has_contexts() {
            work = self.survey(view)?;
            self.declare_local(view, whole);
        }
        self.begin(position, builder)?;
        match self.walk(view, builder, whole) {
            Ok(()) => return Ok(()),
            Err(Stop::Limit(exceeded)) => return Err(exceeded.into()),
            Err(Stop::Decline) => {}
        }
        builder.discard_message();
        self.declined += 1;
        if work == 0 && self.scoped {
            work = self.survey(view)?;
        }
        if work > MOST_WORK {
            return Err(limit(
                "the contexts of the message would be copied too often; split it, or use fewer contexts"
                    .to_owned(),
            ));
        }
        self.begin(position, builder)?;
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        self.write_document(view, whole, &mut text);
        self.terms.note_labels(view);
        let (mut outcome, mut left) = self.complete.read(&text, &mut self.terms, builder);
        // Nodes below keys that mean nothing are told from others only if a context says so.
        if left.nodes
            && !self.complete.store.holds(b"@vocab")
            && let Some(mapped) = ignored::mapped(&text, &left.keys, &self.bounds)
        {
            builder.discard_message();
            self.begin(position, builder)?;
            self.terms.note_labels(view);
            (outcome, left) = self.complete.read(&mapped, &mut self.terms, builder);
        }
        self.text = text;
        outcome?;
        left.named.map_or(Ok(()), |name| Err(lost(&name)))
    }

    /// The prefixes of the context at a message's start become namespaces too, when they change.
    fn declare_local(&mut self, view: &View<'_>, whole: bool) {
        if view.kind(0) != Kind::Object {
            return;
        }
        let Some(value) = view.get(0, b"@context") else {
            return;
        };
        let parent = if whole { None } else { self.compiled() };
        let complete = &self.complete;
        let made = self
            .contexts
            .compile(parent.unwrap_or(INITIAL), view, value, |text| {
                complete.takes(text)
            });
        let mut text = Vec::new();
        write::write(view, value, &mut text);
        if let Some(number) = made
            && *text != *self.declared
        {
            self.declared = text.into();
            self.declare(number);
        }
    }

    /// Tries the quick way.
    fn walk(
        &mut self,
        view: &View<'_>,
        builder: &mut BatchBuilder,
        whole: bool,
    ) -> Result<(), Stop> {
        if !self.quick || view.tape.has_duplicates() {
            return Err(Stop::Decline);
        }
        let context = match (&self.context, whole) {
            (Some(_), false) => Some(self.compiled().ok_or(Stop::Decline)?),
            _ => None,
        };
        self.stack.clear();
        let complete = &self.complete;
        let mut walk = Walk {
            view: *view,
            contexts: &mut self.contexts,
            terms: &mut self.terms,
            builder,
            check: &|text| complete.takes(text),
            stack: &mut self.stack,
            scratch: &mut self.scratch,
        };
        match context {
            Some(context) => walk.in_graph(0, context),
            None => walk.document(0),
        }
    }

    /// The document that the complete way reads.
    fn write_document(&self, view: &View<'_>, whole: bool, out: &mut Vec<u8>) {
        let context = self.explicit.as_deref().filter(|_| !whole);
        if let Some(context) = context {
            out.extend_from_slice(b"{\"@context\":");
            out.extend_from_slice(context);
            out.extend_from_slice(b",\"@graph\":");
        }
        let keep = self.complete.direction != RdfDirection::None;
        protect::write(view, 0, out, |object, out| {
            if keep && lacks_language(view, object) {
                out.extend_from_slice(format!("\"@language\":\"{NO_LANGUAGE}\",").as_bytes());
            }
        });
        if context.is_some() {
            out.push(b'}');
        }
    }
}

/// The value of the one key of a context message, as the complete way is given it.
pub(super) fn explicit(view: &View<'_>) -> Box<[u8]> {
    let mut text = Vec::new();
    protect::write(view, 0, &mut text, |_, _| {});
    let inner = text.strip_prefix(b"{\"@context\":");
    let inner = inner.and_then(|text| text.strip_suffix(b"}"));
    inner.unwrap_or_default().into()
}

fn limit(reason: String) -> Wrong {
    Wrong {
        class: ErrorClass::Limit,
        reason,
    }
}

/// Quads of a node might be left out that stand elsewhere.
fn lost(name: &str) -> Wrong {
    Wrong {
        class: ErrorClass::Malformed,
        reason: format!(
            "the node {} stands below a key that no context maps, where it cannot be told from the same node \
             elsewhere; map the key, or map it to null",
            quote(name.as_bytes())
        ),
    }
}

/// Whether an object is a value with a direction and without a language.
fn lacks_language(view: &View<'_>, object: u32) -> bool {
    let (mut direction, mut value, mut other) = (false, false, false);
    for key in view.keys(object) {
        match view.text(key) {
            b"@direction" => direction = view.kind(key + 1) == Kind::String,
            b"@value" => value = view.kind(key + 1) == Kind::String,
            b"@language" | b"@type" => other = true,
            _ => {}
        }
    }
    direction && value && !other
}

fn at_start(view: &View<'_>, wrong: Wrong) -> Fault {
    Fault {
        at: view.node(0).at as usize,
        class: wrong.class,
        reason: wrong.reason,
    }
}

//! Interprets tapes as messages of JSON-LD: lines of NDJSON-LD and documents of YAML-LD.
//!
//! - In: a tape with a message, an empty message or a context.
//! - Out: a message in the builder, or a new context in force.
//! - Law: a context within a message affects only that message. On error the builder discards the
//!   partial message.

use std::collections::{HashMap, HashSet};

use super::context::{ContextNamespace, Contexts, INITIAL, is_empty_object};
use super::error::{JsonLdError, Read};
use super::iri::BaseIri;
use super::loader::{ContextStore, position};
use super::number::DoubleDigits;
use super::options::DocumentReading;
use super::plan::Plan;
use super::terms::MessageTerms;
use super::walk::{DroppedKeys, ObjectEntry, Options, ValueSlot, Walk};
use crate::codec::Observations;
use crate::model::builder::BatchBuilder;
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::Reason;
use crate::model::term::TermId;
use crate::syntax::json::{Bounds, JsonKind, ParseError, Tape, View, parse, write};
use crate::syntax::stack;

/// Ratio of the maximum size of a tape to the maximum size of a message.
const TAPE_FACTOR: u64 = 4;

/// The context of a log.
enum LogContext {
    /// No context, or `null`.
    None,
    Known(u32),
    /// Dropped from the cache; processed again when a message needs it.
    Forgotten,
    /// The message with this index may have changed the context but could not be read. No message
    /// can be read until the next context.
    Broken(u64),
}

/// Reads messages.
pub struct MessageReader {
    contexts: Contexts,
    terms: MessageTerms,
    bounds: Bounds,
    options: Options,
    /// The context of documents, and of logs before their first context.
    start: u32,
    /// The context of the log.
    in_force: LogContext,
    /// JSON text of that context.
    text: Box<[u8]>,
    /// Namespaces to declare in the next message.
    pending: Vec<ContextNamespace>,
    /// The contexts whose namespaces were declared last.
    declared: Box<[u8]>,
    dropped: DroppedKeys,
    entries: Vec<ObjectEntry>,
    scratch: Vec<u8>,
    /// Changes whenever the numbers of contexts or the context in force may have changed.
    version: u64,
}

impl MessageReader {
    /// Creates a reader at the start of a log.
    ///
    /// # Errors
    /// If the base is not an absolute IRI, or `expand_context` is not a context.
    pub(super) fn new(options: &DocumentReading) -> Result<Self, Reason> {
        let base = match &options.base {
            None => None,
            Some(text) => {
                let base = BaseIri::new(text.as_bytes());
                if base.is_none() {
                    return Err(
                        format!("base is not an absolute IRI: {}", quote(text.as_bytes())).into(),
                    );
                }
                base
            }
        };
        let limits = &options.limits;
        let has_base = base.is_some();
        let store = ContextStore::new(options.contexts.clone(), limits);
        let mut result = Self {
            contexts: Contexts::new(base, limits, store),
            terms: MessageTerms::new(),
            bounds: Bounds {
                max_depth: limits.max_depth,
                max_bytes: limits.max_message_bytes.saturating_mul(TAPE_FACTOR),
                max_repeated: limits.max_message_bytes,
                duplicates: options.lenient,
            },
            options: Options {
                lenient: options.lenient,
                direction: options.direction,
                digits: if options.exact_doubles {
                    DoubleDigits::All
                } else {
                    DoubleDigits::Sixteen
                },
                has_base,
            },
            start: INITIAL,
            in_force: LogContext::None,
            text: Box::default(),
            pending: Vec::new(),
            declared: Box::default(),
            dropped: DroppedKeys::default(),
            entries: Vec::new(),
            scratch: Vec::new(),
            version: 0,
        };
        if let Some(text) = &options.expand_context {
            result.start = result.expand_context(text.as_bytes())?;
            result.contexts.keep();
        }
        Ok(result)
    }

    /// Returns the number of a context given in the options.
    fn expand_context(&mut self, text: &[u8]) -> Result<u32, Reason> {
        let (tape, value) = parse_context_document(text, "expand_context", &self.bounds)?;
        let view = View {
            tape: &tape,
            source: text,
        };
        self.contexts.begin(text.len());
        let result = self.contexts.apply_local(INITIAL, &view, value);
        result.map_err(|error| {
            let position = error
                .position
                .map(|index| format!(" ({})", position(text, index as usize)));
            let position = position.unwrap_or_default();
            let text = format!("expand_context cannot be used: {}{position}", error.reason);
            Reason::from(text).because_of(&error.reason)
        })
    }

    /// The limits for tapes.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Prepares for the next log. Remote contexts remain cached.
    pub fn reset(&mut self) {
        self.version += 1;
        self.contexts.reset();
        self.in_force = LogContext::None;
        self.text = Box::default();
        self.pending.clear();
        self.declared = Box::default();
        self.dropped = DroppedKeys::default();
    }

    /// Counts of trailing namespaces and dropped keys.
    pub fn observations(&self) -> Observations {
        Observations {
            trailing_namespaces: self.pending.len() as u64,
            dropped_keys: self.dropped.count,
            dropped_key: self.dropped.example.clone(),
            ..Observations::default()
        }
    }

    /// Marks the context in force as unknown, because this message may have changed it. Messages
    /// are rejected until the next context.
    pub fn lose_context(&mut self, message: u64) {
        self.version += 1;
        self.in_force = LogContext::Broken(message);
    }

    /// Reads a context, an empty message or a message.
    ///
    /// # Errors
    /// If the input is none of these, or violates JSON-LD.
    pub fn read(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
    ) -> Result<(), ParseError> {
        let context = match view.kind(0) {
            JsonKind::Object => {
                let mut keys = view.keys(0);
                return match (keys.next(), keys.next()) {
                    (Some(key), None) if view.text(key) == b"@context" => {
                        self.set_context(view, key + 1, builder.message_index())
                    }
                    _ => self.read_message(view, position, builder, false, None),
                };
            }
            JsonKind::Array => {
                "an array; to write several nodes as one message, use {\"@included\": […]}"
            }
            JsonKind::String | JsonKind::Key => "a string",
            JsonKind::Number => "a number",
            JsonKind::True | JsonKind::False => "a boolean",
            JsonKind::Null => "null",
        };
        Err(ParseError {
            position: view.node(0).index as usize,
            class: ErrorClass::Malformed,
            reason: format!("expected an object ({{…}}), found {context}").into(),
        })
    }

    /// Like [`read`](Self::read), but an array is also a message.
    ///
    /// # Errors
    /// If the input is neither an object nor an array, or violates JSON-LD.
    pub fn read_nodes(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
    ) -> Result<(), ParseError> {
        if view.kind(0) == JsonKind::Array {
            return self.read_message(view, position, builder, false, None);
        }
        self.read(view, position, builder)
    }

    /// Reads a document that is one message.
    ///
    /// # Errors
    /// If the input violates JSON-LD.
    pub fn read_document(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
    ) -> Result<(), ParseError> {
        if !matches!(view.kind(0), JsonKind::Object | JsonKind::Array) {
            return Err(ParseError {
                position: view.node(0).index as usize,
                class: ErrorClass::Malformed,
                reason: "a JSON-LD document must be an object ({…}) or an array of objects".into(),
            });
        }
        self.read_message(view, position, builder, true, None)
    }

    /// Reads a message of a form that was read before, with the plan for that form if there is one.
    ///
    /// # Errors
    /// If the input violates JSON-LD.
    pub(super) fn read_known(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
        plan: Option<&mut Plan>,
    ) -> Result<(), ParseError> {
        self.read_message(view, position, builder, false, plan)
    }

    /// Returns a plan of the message that was read last, if a plan can describe it.
    pub(super) fn plan(&mut self, view: &View<'_>, builder: &mut BatchBuilder) -> Option<Plan> {
        let context = match self.in_force {
            LogContext::None => self.start,
            LogContext::Known(number) => number,
            LogContext::Forgotten | LogContext::Broken(_) => return None,
        };
        let version = self.version;
        let depth = view.tape.deepest();
        let plan = stack::with_room(depth, || self.walk(view, builder).plan(context));
        let mut plan = plan.ok()??;
        plan.version = version;
        Some(plan)
    }

    /// Version of the contexts. Plans are valid for one version.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Begins a message or a context: resets its budget and limits the cache.
    fn begin_work(&mut self, view: &View<'_>) {
        if self.contexts.is_full() {
            self.version += 1;
            self.contexts.forget();
            if let LogContext::Known(number) = self.in_force
                && number > self.start
            {
                self.in_force = LogContext::Forgotten;
            }
        }
        self.contexts.begin(view.source.len());
    }

    fn set_context(&mut self, view: &View<'_>, value: u32, message: u64) -> Result<(), ParseError> {
        self.begin_work(view);
        self.version += 1;
        let before = match self.in_force {
            LogContext::Known(number) if number > self.start => Some(number),
            _ => None,
        };
        self.in_force = LogContext::None;
        if view.kind(value) == JsonKind::Null && self.start == INITIAL {
            return Ok(());
        }
        let mut text = Vec::new();
        write::copy(view, value, &mut text);
        self.text = text.into();
        match self.contexts.next_of_log(before, self.start, view, value) {
            Ok(number) => {
                self.in_force = LogContext::Known(number);
                self.declare(number, None);
                Ok(())
            }
            Err(error) => {
                self.in_force = LogContext::Broken(message);
                Err(error.error(view.node(0).index))
            }
        }
    }

    /// Returns the number of the context in force, or `None` if no context is in force.
    fn read_context(&mut self, index: u32) -> Read<Option<u32>> {
        match self.in_force {
            LogContext::None => return Ok(None),
            LogContext::Known(number) => return Ok(Some(number)),
            LogContext::Forgotten => {}
            LogContext::Broken(message) => {
                let reason = Reason::from(
                    "the preceding context message could not be read, so this message cannot be \
                     read either",
                )
                .with_possible_cause(&format!(
                    "the context may have been in message {message}, which was \
                                     skipped"
                ));
                return Err(JsonLdError::with_class(
                    ErrorClass::Malformed,
                    Some(index),
                    reason,
                ));
            }
        }
        let mut tape = Tape::new();
        let bounds = Bounds {
            duplicates: true,
            ..self.bounds
        };
        parse(&self.text, &mut tape, &bounds)
            .map_err(|error| JsonLdError::with_class(error.class, Some(index), error.reason))?;
        let view = View {
            tape: &tape,
            source: &self.text,
        };
        self.contexts.begin(self.text.len());
        let number = self.contexts.apply_local(self.start, &view, 0)?;
        self.in_force = LogContext::Known(number);
        Ok(Some(number))
    }

    /// Declares the prefixes of a context as namespaces of the next message.
    fn declare(&mut self, number: u32, parent: Option<u32>) {
        let new = self.contexts.prefixes(number, parent);
        if self.pending.is_empty() {
            self.pending = new;
            return;
        }
        // The new namespaces are sorted by name.
        self.pending
            .retain(|(name, _)| new.binary_search_by(|(other, _)| other.cmp(name)).is_err());
        self.pending.extend(new);
    }

    fn read_message(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
        is_entire_log: bool,
        plan: Option<&mut Plan>,
    ) -> Result<(), ParseError> {
        let (count, example) = (self.dropped.count, self.dropped.example.is_some());
        let depth = view.tape.deepest();
        let read = stack::with_room(depth, || {
            self.try_message(view, position, builder, is_entire_log, plan)
        });
        match read.unwrap_or_else(|error| Err(JsonLdError::out_of_stack(&error))) {
            Ok(()) => {
                self.pending.clear();
                builder.end_message();
                Ok(())
            }
            Err(error) => {
                if builder.is_open() {
                    builder.discard_message();
                }
                self.dropped.count = count;
                if !example {
                    self.dropped.example = None;
                }
                Err(error.error(view.node(0).index))
            }
        }
    }

    fn try_message(
        &mut self,
        view: &View<'_>,
        position: u64,
        builder: &mut BatchBuilder,
        is_entire_log: bool,
        plan: Option<&mut Plan>,
    ) -> Read<()> {
        self.begin_work(view);
        let is_empty = is_empty_object(view, 0);
        let mut context = self.start;
        let mut is_document = true;
        if !is_entire_log
            && !is_empty
            && let Some(number) = self.read_context(view.node(0).index)?
        {
            context = number;
            is_document = false;
            self.contexts.begin(view.source.len());
        }
        if view.tape.has_contexts() {
            self.declare_own(view, context)?;
        }
        builder.begin_message(position);
        self.terms.begin_message();
        for (name, definition) in &self.pending {
            builder.add_namespace(name, definition.iri())?;
        }
        if is_empty {
            return Ok(());
        }
        let plan = plan.filter(|plan| plan.version == self.version);
        let mut walk = self.walk(view, builder);
        if let Some(plan) = plan {
            return walk.follow(plan);
        }
        let slot = ValueSlot {
            is_root: is_document,
            ..ValueSlot::top(TermId::DEFAULT_GRAPH)
        };
        walk.walk_value(0, context, &slot)?;
        Ok(())
    }

    /// Returns the state for processing a message.
    fn walk<'a>(&'a mut self, view: &View<'a>, builder: &'a mut BatchBuilder) -> Walk<'a> {
        self.entries.clear();
        Walk {
            view: *view,
            contexts: &mut self.contexts,
            terms: &mut self.terms,
            builder,
            options: self.options,
            dropped: &mut self.dropped,
            entries: &mut self.entries,
            scratch: &mut self.scratch,
            lists: Vec::new(),
            uncached: Vec::new(),
            indexes: HashMap::default(),
            compounds: HashSet::default(),
        }
    }

    /// Declares the prefixes of the context at the start of a message as namespaces, if they
    /// changed.
    fn declare_own(&mut self, view: &View<'_>, parent: u32) -> Read<()> {
        if view.kind(0) != JsonKind::Object {
            return Ok(());
        }
        let Some(value) = view.get(0, b"@context") else {
            return Ok(());
        };
        let result = self.contexts.apply_local(parent, view, value);
        let number = result.map_err(|error| error.or_at(view.node(value).index))?;
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        write::copy(view, value, &mut text);
        if *text != *self.declared {
            self.declared = text.as_slice().into();
            self.declare(number, Some(parent));
        }
        self.scratch = text;
        Ok(())
    }
}

/// Parses a context from the options: a context, or a document with a context as its `@context`.
/// Returns the tape and the position of the context.
pub(super) fn parse_context_document(
    text: &[u8],
    option: &str,
    bounds: &Bounds,
) -> Result<(Tape, u32), String> {
    let mut tape = Tape::new();
    let bounds = Bounds {
        duplicates: false,
        ..*bounds
    };
    parse(text, &mut tape, &bounds).map_err(|error| {
        let position = position(text, error.position);
        format!("{option} is not valid JSON: {} ({position})", error.reason)
    })?;
    let view = View {
        tape: &tape,
        source: text,
    };
    let value = match view.kind(0) {
        JsonKind::Object => view.get(0, b"@context").unwrap_or(0),
        _ => 0,
    };
    if !matches!(
        view.kind(value),
        JsonKind::Object | JsonKind::Array | JsonKind::String
    ) {
        return Err(format!(
            "{option} does not contain a context: expected an object, an array or a URL"
        ));
    }
    Ok((tape, value))
}

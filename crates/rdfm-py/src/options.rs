//! Keyword arguments of the codecs, by the field names of the core's option structs.
//!
//! The one place that knows their names, types and bounds. Everything that does not fit is an
//! `OptionError` that says what does.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyMapping};
use rdfm_core::codec::format::Format;
use rdfm_core::codec::{
    ContextLines, DecodeOptions, Dialect, EncodeOptions, Frames, Framing, RdfDirection, Split,
};
use rdfm_core::formats::jelly::options::{JellyOptions, PhysicalType};

use crate::contexts::PyLoader;
use crate::errors;

/// Largest message: with the largest batch it stays below the 4 GiB that offsets can say.
const MAX_MESSAGE_BYTES: u64 = 3 << 30;
const MAX_BATCH_BYTES: u64 = 512 << 20;
const MAX_BATCH_COUNT: u64 = 1 << 28;
/// Deepest nesting that a default thread's stack holds with room to spare.
pub const MAX_DEPTH: u64 = 1000;

/// A bound of the nesting, where it is an argument and no option.
pub fn depth(max_depth: u32) -> PyResult<u32> {
    if (1..=MAX_DEPTH).contains(&u64::from(max_depth)) {
        return Ok(max_depth);
    }
    Err(errors::option(format!(
        "max_depth is a number from 1 to {MAX_DEPTH}, not {max_depth}"
    )))
}

/// What a value is, for whoever has it as text.
#[derive(Clone, Copy)]
pub enum Kind {
    Switch,
    Number,
    /// Choices too.
    Text,
    /// Names and IRIs.
    Pairs,
    /// A context of JSON-LD: its file, or what is in it.
    Context,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Number => "number",
            Self::Text => "text",
            Self::Pairs => "pairs",
            Self::Context => "context",
        }
    }
}

type Kinds = [(&'static str, Kind)];

const LIMITS: &Kinds = &[
    ("max_message_bytes", Kind::Number),
    ("batch_quads", Kind::Number),
    ("batch_bytes", Kind::Number),
    ("batch_messages", Kind::Number),
    ("max_depth", Kind::Number),
    ("parts", Kind::Switch),
];
const LENIENT: &Kinds = &[("lenient", Kind::Switch)];
const TEXT_DECODE: &Kinds = &[
    ("lenient", Kind::Switch),
    ("dialect", Kind::Text),
    ("announced", Kind::Text),
];
const LINE_DECODE: &Kinds = &[("generalized", Kind::Switch)];
/// What the readers of splits pass on: no options for people, so nobody is told of them.
const LINE_INNER: &[&str] = &["split", "first_index"];
/// What `convert` passes on where the output goes on with messages of many frames alone.
const JELLY_INNER: &[&str] = &["flat_parts"];
const BLOCK_DECODE: &Kinds = &[("base", Kind::Text)];
const JSON_DECODE: &Kinds = &[
    ("lenient", Kind::Switch),
    ("base", Kind::Text),
    ("rdf_direction", Kind::Text),
    ("expand_context", Kind::Context),
];
/// Where remote contexts come from: passed on to `rdfm.contexts`.
const CONTEXT_DECODE: &Kinds = &[
    ("context", Kind::Pairs),
    ("contexts", Kind::Text),
    ("context_cache", Kind::Text),
    ("allow_network", Kind::Switch),
];
const JELLY_DECODE: &Kinds = &[
    ("lenient", Kind::Switch),
    ("frames", Kind::Text),
    ("delimited", Kind::Switch),
    ("max_frame_bytes", Kind::Number),
    ("max_name_table", Kind::Number),
    ("max_prefix_table", Kind::Number),
    ("max_datatype_table", Kind::Number),
];
const PROTOBUF_DECODE: &Kinds = &[("framing", Kind::Text)];

const TEXT_ENCODE: &Kinds = &[
    ("dialect", Kind::Text),
    ("version_label", Kind::Text),
    ("lenient", Kind::Switch),
];
const LINE_ENCODE: &Kinds = &[("rdf_star_syntax", Kind::Switch)];
const BLOCK_ENCODE: &Kinds = &[("prefixes", Kind::Pairs)];
const TRIPLE_ENCODE: &Kinds = &[("merge_graphs", Kind::Switch)];
const JSONLD_ENCODE: &Kinds = &[
    ("lenient", Kind::Switch),
    ("prefixes", Kind::Pairs),
    ("context_lines", Kind::Text),
    ("compact_with", Kind::Context),
];
const SINGLE_ENCODE: &Kinds = &[("flat", Kind::Switch)];
const JELLY_ENCODE: &Kinds = &[
    ("lenient", Kind::Switch),
    ("merge_graphs", Kind::Switch),
    ("prefixes", Kind::Pairs),
    ("namespaces", Kind::Switch),
    ("frames", Kind::Text),
    ("frame_rows", Kind::Number),
    ("delimited", Kind::Switch),
    ("stream_name", Kind::Text),
    ("physical_type", Kind::Text),
    ("logical_type", Kind::Text),
    ("generalized", Kind::Switch),
    ("rdf_star", Kind::Switch),
    ("name_table", Kind::Number),
    ("prefix_table", Kind::Number),
    ("datatype_table", Kind::Number),
    ("version", Kind::Number),
];
const PROTOBUF_ENCODE: &Kinds = &[("framing", Kind::Text)];
const BINARY_ENCODE: &Kinds = &[
    ("prefixes", Kind::Pairs),
    ("prefixed_names", Kind::Switch),
    ("values", Kind::Switch),
];

/// The logical types of the Jelly specification.
const LOGICAL_TYPES: [(&str, u32); 8] = [
    ("unspecified", 0),
    ("flat_triples", 1),
    ("flat_quads", 2),
    ("graphs", 3),
    ("datasets", 4),
    ("subject_graphs", 13),
    ("named_graphs", 14),
    ("timestamped_named_graphs", 114),
];

const PHYSICAL_TYPES: [(&str, PhysicalType); 3] = [
    ("triples", PhysicalType::Triples),
    ("quads", PhysicalType::Quads),
    ("graphs", PhysicalType::Graphs),
];

const READ_FRAMES: [(&str, Option<Frames>); 3] = [
    ("auto", None),
    ("message", Some(Frames::Message)),
    ("flat", Some(Frames::Flat)),
];

const FRAMES: [(&str, Frames); 2] = [("message", Frames::Message), ("flat", Frames::Flat)];

const FRAMINGS: [(&str, Framing); 2] = [("messages", Framing::Messages), ("rows", Framing::Rows)];

const DIALECTS: [(&str, Dialect); 3] = [
    ("comment", Dialect::Comment),
    ("directive", Dialect::Directive),
    ("plain", Dialect::Plain),
];

const CONTEXT_LINES: [(&str, ContextLines); 3] = [
    ("first", ContextLines::First),
    ("every", ContextLines::Every),
    ("none", ContextLines::None),
];

const DIRECTIONS: [(&str, RdfDirection); 4] = [
    ("literal", RdfDirection::Literal),
    ("none", RdfDirection::None),
    ("i18n-datatype", RdfDirection::I18n),
    ("compound-literal", RdfDirection::Compound),
];

/// The options a decoder takes.
pub fn decode_kinds(format: Format) -> Vec<(&'static str, Kind)> {
    let own: &[&Kinds] = match format {
        Format::Nt | Format::Nq => &[TEXT_DECODE, LINE_DECODE],
        Format::Ttl | Format::Trig => &[TEXT_DECODE, BLOCK_DECODE],
        Format::Jelly => &[JELLY_DECODE],
        Format::RdfThrift => &[],
        Format::RdfProtobuf => &[PROTOBUF_DECODE],
        Format::RdfXml => &[LENIENT, BLOCK_DECODE],
        Format::Ndjsonld | Format::Jsonld | Format::Yamlld => &[JSON_DECODE, CONTEXT_DECODE],
    };
    [&[LIMITS], own].concat().concat()
}

/// The options an encoder takes.
pub fn encode_kinds(format: Format) -> Vec<(&'static str, Kind)> {
    let own: &[&Kinds] = match format {
        Format::Nt => &[TEXT_ENCODE, LINE_ENCODE, TRIPLE_ENCODE],
        Format::Nq => &[TEXT_ENCODE, LINE_ENCODE],
        Format::Ttl => &[TEXT_ENCODE, BLOCK_ENCODE, TRIPLE_ENCODE],
        Format::Trig => &[TEXT_ENCODE, BLOCK_ENCODE],
        Format::Jelly => &[JELLY_ENCODE],
        Format::Ndjsonld | Format::Yamlld => &[JSONLD_ENCODE],
        Format::Jsonld => &[JSONLD_ENCODE, SINGLE_ENCODE],
        Format::RdfProtobuf => &[PROTOBUF_ENCODE, SINGLE_ENCODE, BINARY_ENCODE],
        Format::RdfThrift => &[SINGLE_ENCODE, BINARY_ENCODE],
        Format::RdfXml => &[LENIENT, BLOCK_ENCODE, TRIPLE_ENCODE],
    };
    own.concat()
}

/// The decoder's options from keyword arguments.
pub fn decode(format: Format, given: Option<&Bound<'_, PyDict>>) -> PyResult<DecodeOptions> {
    let mut options = DecodeOptions::default();
    let inner = match format {
        Format::Jelly => JELLY_INNER,
        _ if format.splittable() => LINE_INNER,
        _ => &[],
    };
    let mut contexts = None;
    for option in Given::all(format, "decoder", decode_kinds(format), inner, given)? {
        match option.name.as_str() {
            "max_message_bytes" => {
                options.limits.max_message_bytes = option.number(1, MAX_MESSAGE_BYTES)?;
            }
            "max_depth" => options.limits.max_depth = option.number(1, MAX_DEPTH)? as u32,
            "batch_quads" => options.limits.batch_quads = option.size(MAX_BATCH_COUNT)?,
            "batch_bytes" => options.limits.batch_bytes = option.size(MAX_BATCH_BYTES)?,
            "batch_messages" => options.limits.batch_messages = option.size(MAX_BATCH_COUNT)?,
            "parts" => options.parts = option.switch()?,
            "lenient" => options.lenient = option.switch()?,
            "generalized" => options.generalized = option.switch()?,
            "dialect" => options.dialect = option.unless_none(|given| given.choice(&DIALECTS))?,
            "announced" => options.announced = option.unless_none(Given::text)?,
            "split" => options.split = option.unless_none(Given::split)?,
            "first_index" => {
                let index = |given: &Given| given.number(0, i64::MAX as u64);
                options.first_index = option.unless_none(index)?;
            }
            "base" => options.base = option.unless_none(Given::text)?,
            "rdf_direction" => options.rdf_direction = option.choice(&DIRECTIONS)?,
            "expand_context" => {
                options.expand_context = option.unless_none(Given::context)?;
            }
            name if CONTEXT_DECODE.iter().any(|(known, _)| *known == name) => {
                option.add_checked(&mut contexts)?;
            }
            "frames" => options.frames = option.choice(&READ_FRAMES)?,
            "flat_parts" => options.flat_parts = option.switch()?,
            "framing" => options.framing = option.unless_none(|given| given.choice(&FRAMINGS))?,
            "delimited" => options.delimited = option.unless_none(Given::switch)?,
            "max_frame_bytes" => options.max_frame_bytes = option.number(1, MAX_MESSAGE_BYTES)?,
            "max_name_table" => options.max_name_table = option.table()?,
            "max_prefix_table" => options.max_prefix_table = option.table()?,
            "max_datatype_table" => options.max_datatype_table = option.table()?,
            _ => return Err(option.unknown(&decode_kinds(format))),
        }
    }
    if let Some(contexts) = contexts {
        options.context_loader = Some(Arc::new(PyLoader::new(&contexts)?));
    }
    Ok(options)
}

/// The encoder's options from keyword arguments.
pub fn encode(format: Format, given: Option<&Bound<'_, PyDict>>) -> PyResult<EncodeOptions> {
    let mut options = EncodeOptions::default();
    let mut logical_type = None;
    let mut physical_given = false;
    for option in Given::all(format, "encoder", encode_kinds(format), &[], given)? {
        let jelly = &mut options.jelly;
        match option.name.as_str() {
            "dialect" => options.dialect = option.choice(&DIALECTS)?,
            "version_label" => options.version_label = option.text()?,
            "lenient" => options.lenient = option.switch()?,
            "merge_graphs" => options.merge_graphs = option.switch()?,
            "flat" => options.flat = option.switch()?,
            "rdf_star_syntax" => options.rdf_star_syntax = option.switch()?,
            "prefixes" => options.prefixes = option.pairs()?,
            "context_lines" => options.context_lines = option.choice(&CONTEXT_LINES)?,
            "compact_with" => options.compact_with = option.unless_none(Given::context)?,
            "framing" => options.framing = option.unless_none(|given| given.choice(&FRAMINGS))?,
            "prefixed_names" => options.prefixed_names = option.unless_none(Given::switch)?,
            "values" => options.values = option.switch()?,
            "namespaces" => options.namespaces = option.switch()?,
            "frames" => options.frames = option.choice(&FRAMES)?,
            "frame_rows" => options.frame_rows = option.size(MAX_BATCH_COUNT)?,
            "delimited" => options.delimited = option.switch()?,
            "stream_name" => jelly.stream_name = option.text()?,
            "physical_type" => {
                jelly.physical_type = option.choice(&PHYSICAL_TYPES)?;
                physical_given = true;
            }
            "logical_type" => logical_type = Some(option.logical_type()?),
            "generalized" => jelly.generalized = option.switch()?,
            "rdf_star" => jelly.rdf_star = option.switch()?,
            "name_table" => jelly.name_table = option.table()?,
            "prefix_table" => jelly.prefix_table = option.table()?,
            "datatype_table" => jelly.datatype_table = option.table()?,
            "version" => jelly.version = option.number(1, 2)? as u32,
            _ => return Err(option.unknown(&encode_kinds(format))),
        }
    }
    // A logical type that was not given follows what was.
    if let Some(logical_type) = logical_type {
        options.jelly.logical_type = logical_type;
    } else if physical_given || options.frames == Frames::Flat {
        let triples = options.jelly.physical_type == PhysicalType::Triples;
        options.jelly.logical_type = match (options.frames, triples) {
            (Frames::Flat, true) => 1,
            (Frames::Flat, false) => 2,
            (Frames::Message, true) => 3,
            (Frames::Message, false) => 4,
        };
    }
    Ok(options)
}

/// Jelly stream options, by the names that the encoder takes.
pub fn jelly_dict<'py>(py: Python<'py>, jelly: &JellyOptions) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("stream_name", &jelly.stream_name)?;
    let physical_type = PHYSICAL_TYPES
        .iter()
        .find(|(_, value)| *value == jelly.physical_type)
        .map(|(name, _)| *name);
    dict.set_item("physical_type", physical_type)?;
    let logical_type = LOGICAL_TYPES
        .iter()
        .find(|(_, value)| *value == jelly.logical_type);
    match logical_type {
        Some((name, _)) => dict.set_item("logical_type", name)?,
        None => dict.set_item("logical_type", jelly.logical_type)?,
    }
    dict.set_item("generalized", jelly.generalized)?;
    dict.set_item("rdf_star", jelly.rdf_star)?;
    dict.set_item("name_table", jelly.name_table)?;
    dict.set_item("prefix_table", jelly.prefix_table)?;
    dict.set_item("datatype_table", jelly.datatype_table)?;
    dict.set_item("version", jelly.version)?;
    Ok(dict)
}

/// One keyword argument.
struct Given<'py> {
    format: Format,
    codec: &'static str,
    name: String,
    value: Bound<'py, PyAny>,
}

impl<'py> Given<'py> {
    /// All keyword arguments, each of a known name.
    fn all(
        format: Format,
        codec: &'static str,
        known: Vec<(&'static str, Kind)>,
        inner: &[&str],
        given: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Self>> {
        let Some(given) = given else {
            return Ok(Vec::new());
        };
        let option = |(name, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            let option = Self {
                format,
                codec,
                name: name.extract()?,
                value,
            };
            let mut names = known.iter().map(|(name, _)| name).chain(inner);
            if names.any(|name| *name == option.name) {
                Ok(option)
            } else {
                Err(option.unknown(&known))
            }
        };
        given.iter().map(option).collect()
    }

    #[cold]
    fn unknown(&self, known: &Kinds) -> PyErr {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        errors::option(format!(
            "the {} {} has no option '{}'; known: {}",
            self.format.name(),
            self.codec,
            self.name,
            names.join(", ")
        ))
    }

    #[cold]
    fn refused(&self, expected: &str) -> PyErr {
        let found = self
            .value
            .repr()
            .map_or_else(|_| "this value".to_owned(), |repr| repr.to_string());
        errors::option(format!(
            "{} is {expected}, not {}",
            self.name,
            found.chars().take(60).collect::<String>()
        ))
    }

    fn number(&self, least: u64, most: u64) -> PyResult<u64> {
        let number = if self.value.is_instance_of::<PyBool>() {
            None
        } else {
            self.value.extract::<u64>().ok()
        };
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| self.refused(&format!("a number from {least} to {most}")))
    }

    /// Adds the option to those of the context loader, its type checked.
    fn add_checked(&self, contexts: &mut Option<Bound<'py, PyDict>>) -> PyResult<()> {
        let dict = contexts.get_or_insert_with(|| PyDict::new(self.value.py()));
        match self.name.as_str() {
            "context" => {
                let pairs = self.unless_none(Self::pairs)?;
                let pairs = pairs.map(|pairs| pairs.into_iter().collect::<BTreeMap<_, _>>());
                dict.set_item(&self.name, pairs)
            }
            "allow_network" => dict.set_item(&self.name, self.switch()?),
            _ => dict.set_item(&self.name, self.unless_none(Self::text)?),
        }
    }

    fn size(&self, most: u64) -> PyResult<usize> {
        self.number(1, most).map(|number| number as usize)
    }

    fn table(&self) -> PyResult<u32> {
        self.number(0, i32::MAX as u64).map(|number| number as u32)
    }

    fn switch(&self) -> PyResult<bool> {
        self.value
            .extract::<bool>()
            .map_err(|_| self.refused("True or False"))
    }

    fn text(&self) -> PyResult<String> {
        self.value
            .extract::<String>()
            .map_err(|_| self.refused("a str without lone surrogates"))
    }

    fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> PyResult<T> {
        let found = self.value.extract::<String>().ok();
        choices
            .iter()
            .find(|(name, _)| found.as_deref() == Some(name))
            .map(|(_, value)| *value)
            .ok_or_else(|| self.refused(&one_of(choices.iter().map(|(name, _)| *name))))
    }

    fn logical_type(&self) -> PyResult<u32> {
        let text = self.value.extract::<String>().ok();
        let number = match text.map(|text| text.parse()) {
            Some(Ok(number)) => Some(number),
            Some(Err(_)) => return self.choice(&LOGICAL_TYPES),
            None => self.number(0, u64::from(u32::MAX)).ok(),
        };
        number
            .and_then(|number| {
                LOGICAL_TYPES
                    .iter()
                    .find(|(_, known)| u64::from(*known) == number)
            })
            .map(|(_, known)| *known)
            .ok_or_else(|| {
                let names = one_of(LOGICAL_TYPES.iter().map(|(name, _)| *name));
                self.refused(&format!("{names}, or its number"))
            })
    }

    fn split(&self) -> PyResult<Split> {
        let (start, stop, dialect) = self
            .value
            .extract::<(u64, Option<u64>, String)>()
            .map_err(|_| self.refused("a tuple of start, stop (or None) and dialect"))?;
        let found = DIALECTS.iter().find(|(name, _)| *name == dialect);
        let (_, dialect) =
            found.ok_or_else(|| self.refused("a tuple that ends with a known dialect"))?;
        Ok(Split {
            start,
            stop: stop.unwrap_or(u64::MAX),
            dialect: *dialect,
        })
    }

    fn pairs(&self) -> PyResult<Vec<(String, String)>> {
        let pairs = || -> PyResult<Vec<(String, String)>> {
            self.value.cast::<PyMapping>()?.items()?.extract()
        };
        pairs().map_err(|_| self.refused("a dict of names (without colon) and IRIs"))
    }

    /// The JSON text of a context.
    fn context(&self) -> PyResult<String> {
        let module = self.value.py().import("rdfm.storage.contexts")?;
        module
            .call_method1("context_text", (&self.value, &self.name))?
            .extract()
    }

    fn unless_none<T>(&self, take: impl FnOnce(&Self) -> PyResult<T>) -> PyResult<Option<T>> {
        if self.value.is_none() {
            return Ok(None);
        }
        take(self).map(Some)
    }
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    format!("one of {}", names.join(", "))
}

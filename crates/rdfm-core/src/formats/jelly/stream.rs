//! Settings for writing a log.
//!
//! - In: the given options, and the source of the messages.
//! - Out: the stream options, and all other settings.
//! - Law: a given option always takes precedence. The stream options are fixed at the first
//!   message, before later messages are known. Physical and logical type are consistent, unless
//!   both were given.

use super::options::{
    COLUMNS_VERSION, FrameMeaning, GENERALIZED, JELLY_VERSION, LOGICAL_TYPE, LOGICAL_TYPES,
    MIN_COLUMN_NAMES, NAMESPACES, OptionsRow, PHYSICAL_TYPE, PhysicalType, RDF_STAR, RDF_VERSION,
    RDF_VERSIONS, RESTART_BYTES, STREAM_NAME, VERSIONS, WRITE_DELIMITED, WRITE_FRAMES,
    logical_name,
};
use super::term_writer::FrameSize;
use crate::codec::Source;
use crate::codec::carries::{Capabilities, TripleTerms};
use crate::codec::options::{FLAT, MERGE_GRAPHS, prefixes};
use crate::codec::values::{GivenValue, Value, Values};
use crate::model::remedy::{Reason, Remedy, mark_option};

/// Settings for writing a log.
#[derive(Clone, Debug)]
pub(super) struct StreamSettings {
    /// The stream options.
    pub options: OptionsRow,
    /// Whether each frame is one message or the entire log is one message.
    pub frames: FrameMeaning,
    /// The size at which a frame ends, if the frames are [`FrameMeaning::Flat`].
    pub frame_size: FrameSize,
    /// Whether frames are length-prefixed. If not, a log of more than one frame is an error.
    pub delimited: bool,
    /// Output bytes after which the next message restarts the stream; 0 for never.
    pub restart_bytes: u64,
    pub merge_graphs: bool,
    /// Whether the first message determines if generalized statements are declared.
    pub detects_generalized: bool,
    /// A note about the version, if the source has another one.
    pub note: Option<Reason>,
    /// Whether namespace declarations are omitted on request.
    pub omits_namespaces: bool,
    /// Whether a namespace declaration is an error if the Jelly version does not support it.
    pub keeps_namespaces: bool,
}

impl StreamSettings {
    /// Returns the settings for messages from `source`.
    ///
    /// # Errors
    /// If the options cannot be combined.
    pub fn of(values: &Values, source: Option<&Source>) -> Result<Self, Reason> {
        let template = source.filter(|source| !source.options.is_empty());
        let mut options = template.map_or_else(preset, from_source);
        let requested = template.is_some_and(|source| source.requested);
        let from_columns = options.version == COLUMNS_VERSION;
        let is_continued = source.is_some_and(|source| source.continued);
        if from_columns {
            to_rows(&mut options);
        }
        let mut namespaces = template.is_some() && options.version >= 2;
        if let (None, Some(source)) = (template, source) {
            if !source.carries.graphs || values.is_on(&MERGE_GRAPHS) {
                options.physical_type = PhysicalType::Triples as u32;
            }
            options.rdf_star = source.carries.triple_terms != TripleTerms::No;
            options.rdf_version = version_of(source.carries);
            namespaces = source.namespaces;
        }
        let declares = (!prefixes(values).is_empty()).then_some(true);
        let with_namespaces = values.try_is_on(&NAMESPACES).or(declares);
        namespaces = with_namespaces.unwrap_or(namespaces);
        if namespaces {
            options.version = 2;
        } else if with_namespaces == Some(false) && !requested {
            options.version = 1;
        }
        if from_columns && (requested || is_continued) {
            options.version = COLUMNS_VERSION;
        }
        if let Some(version) = values.text(&JELLY_VERSION) {
            let mut versions = VERSIONS.iter().filter(|(name, _)| *name == version);
            options.version = versions.next().map_or(0, |(_, number)| *number as u32);
            if options.version == 1 && with_namespaces == Some(true) {
                return Err(Reason::new("Jelly version 1 does not support namespaces")
                    .with(Remedy::write("jelly_version", "1.1", "supports them")));
            }
        }
        options.apply(values);
        if let Some(name) = values.text(&STREAM_NAME) {
            name.clone_into(&mut options.stream_name);
        }
        let flat = values.is_on(&FLAT);
        let frames = match values.text(&WRITE_FRAMES) {
            Some("message") if flat => {
                let reason =
                    "flat writes one message across many frames, but message frames were requested";
                let flat = Remedy::write("frames", "flat", "writes one message");
                return Err(Reason::new(reason).with(flat));
            }
            Some("message") => FrameMeaning::Message,
            Some(_) => FrameMeaning::Flat,
            None if flat || source.is_some_and(|source| source.flat) => FrameMeaning::Flat,
            None => FrameMeaning::Message,
        };
        let in_columns = options.version == COLUMNS_VERSION;
        set_types(&mut options, values, template.is_some(), requested, frames);
        if in_columns {
            to_columns(&mut options, values, frames)?;
        } else if values
            .text(&RDF_VERSION)
            .is_some_and(|version| rdf_version_number(version) > 0)
        {
            let reason = "only Jelly 1.2 announces a version of RDF";
            let columns = Remedy::write("jelly_version", "1.2", "announces it");
            return Err(Reason::new(reason).with(columns));
        } else {
            (options.stream_type, options.rdf_version) = (0, 0);
        }
        let delimited = values.is_on(&WRITE_DELIMITED);
        if values.get(&RESTART_BYTES).is_some() && values.number(&RESTART_BYTES) > 0 {
            check_restarts(delimited, frames, &options)?;
        }
        if let Some(source) = source
            && is_continued
        {
            let found = from_source(source);
            if logical_name(found.logical_type).is_empty() {
                let number = found.logical_type;
                return Err(format!(
                    "the log has logical type {number}, which rdfm does not write; convert the log to a new one"
                )
                .into());
            }
            check_continued(&found.values(), &options.values())?;
        }
        Ok(Self {
            options,
            frames,
            frame_size: if in_columns {
                FrameSize::of_columns(values)
            } else {
                FrameSize::of(values, usize::MAX)
            },
            delimited,
            restart_bytes: values.number(&RESTART_BYTES),
            merge_graphs: values.is_on(&MERGE_GRAPHS),
            detects_generalized: detects_generalized(values, source),
            note: (from_columns && !in_columns && values.get(&JELLY_VERSION).is_none())
                .then(note_of_version),
            omits_namespaces: with_namespaces == Some(false),
            keeps_namespaces: is_continued && with_namespaces != Some(false),
        })
    }
}

/// Whether the first message determines if generalized statements are declared: if neither the given
/// options nor the source log declare them. Source logs may contain them anyway.
pub(super) fn detects_generalized(values: &Values, source: Option<&Source>) -> bool {
    let undeclared = (GENERALIZED.name.to_owned(), GivenValue::Switch(false));
    values.get(&GENERALIZED).is_none()
        && source.is_some_and(|source| !source.requested && source.options.contains(&undeclared))
}

/// Checks that the log can have the requested restart marks.
///
/// # Errors
/// If the log cannot have restart marks.
fn check_restarts(
    delimited: bool,
    frames: FrameMeaning,
    options: &OptionsRow,
) -> Result<(), Reason> {
    let reason = if !delimited {
        "a frame without a length prefix has no restart mark"
    } else if frames == FrameMeaning::Flat || options.is_flat() {
        "a log whose frames are one message has no restart marks"
    } else {
        return Ok(());
    };
    Err(Reason::new(reason).with(Remedy::write("restart_bytes", "0", "writes none")))
}

/// Checks that appended messages keep the stream options of the log.
///
/// # Errors
/// If the options differ. The error lists the differing options with their values in the log and
/// the given values.
pub(super) fn check_continued(
    found: &[(&'static str, Value)],
    given: &[(&'static str, Value)],
) -> Result<(), Reason> {
    let differing = |values: &[(&'static str, Value)], others: &[(&'static str, Value)]| {
        let parts = values.iter().filter(|value| !others.contains(value));
        let parts = parts.map(|(name, value)| mark_option(name, &value.to_string()));
        parts.collect::<Vec<_>>().join(" and ")
    };
    let (in_log, needed) = (differing(found, given), differing(given, found));
    if in_log.is_empty() && needed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the log has {in_log}, but these options need {needed}; the stream options of a log cannot change, so omit \
         these options or write a new log"
    )
    .into())
}

/// Sets the physical and the logical type. A type that is not given is chosen to fit the other.
fn set_types(
    options: &mut OptionsRow,
    values: &Values,
    has_template: bool,
    requested: bool,
    frames: FrameMeaning,
) {
    let flat = frames == FrameMeaning::Flat;
    let mut found = has_template.then_some(options.logical_type);
    let logical = values.text(&LOGICAL_TYPE).and_then(logical_number);
    if let Some(logical) = logical {
        let triples = matches!(logical, 1 | 3 | 13);
        if logical != 0 && triples != (options.physical_type == PhysicalType::Triples as u32) {
            let physical = if triples {
                PhysicalType::Triples
            } else {
                PhysicalType::Quads
            };
            options.physical_type = physical as u32;
        }
    }
    if let Some(physical) = values.text(&PHYSICAL_TYPE).map(physical_number) {
        if physical != options.physical_type {
            found = None;
        }
        options.physical_type = physical;
    }
    if let Some(logical) = logical {
        options.logical_type = logical;
        return;
    }
    // Extensions of logical types are not written; their base types are used instead.
    let base = |number: u32| if number % 10 <= 4 { number % 10 } else { 0 };
    let is_known = |number: u32| {
        LOGICAL_TYPES
            .iter()
            .any(|(_, known)| *known == u64::from(number))
    };
    let found = found.map(|number| {
        if is_known(number) {
            number
        } else {
            base(number)
        }
    });
    options.logical_type = match found {
        // Frames that are messages do not get a flat type, unless it was requested.
        Some(number) if requested || flat == matches!(number % 10, 1 | 2) => number,
        _ => match (flat, options.physical_type == PhysicalType::Triples as u32) {
            (true, true) => 1,
            (true, false) => 2,
            (false, true) => 3,
            (false, false) => 4,
        },
    };
}

/// Returns the stream options for a source without stream options.
fn preset() -> OptionsRow {
    OptionsRow {
        physical_type: PhysicalType::Quads as u32,
        logical_type: 4,
        ..OptionsRow::preset()
    }
}

/// Returns the stream options of a source that has them.
fn from_source(source: &Source) -> OptionsRow {
    let mut options = preset();
    for (name, given) in &source.options {
        let number = |given: &GivenValue| match given {
            GivenValue::Number(number) => u32::try_from(*number).unwrap_or(0),
            GivenValue::Text(text) => logical_number(text).unwrap_or(0),
            _ => 0,
        };
        match (name.as_str(), given) {
            ("stream_name", GivenValue::Text(text)) => options.stream_name.clone_from(text),
            ("physical_type", GivenValue::Text(text)) => {
                options.physical_type = physical_number(text);
            }
            ("generalized", GivenValue::Switch(on)) => options.generalized = *on,
            ("rdf_star", GivenValue::Switch(on)) => options.rdf_star = *on,
            ("logical_type", given) => options.logical_type = number(given),
            ("name_table", given) => options.tables.name = number(given),
            ("prefix_table", given) => options.tables.prefix = number(given),
            ("datatype_table", given) => options.tables.datatype = number(given),
            ("jelly_version", given) => options.version = number(given),
            ("stream_type", given) => options.stream_type = u32::from(is_text(given, "messages")),
            ("rdf_version", GivenValue::Text(name)) => {
                options.rdf_version = rdf_version_number(name);
            }
            _ => {}
        }
    }
    options
}

fn is_text(given: &GivenValue, expected: &str) -> bool {
    matches!(given, GivenValue::Text(text) if text == expected)
}

fn rdf_version_number(name: &str) -> u32 {
    let mut versions = RDF_VERSIONS.iter();
    let version = versions.find(|(known, _)| *known == name);
    version.map_or(0, |(_, number)| *number as u32)
}

/// Returns the version of RDF that a format cannot exceed; 0 if it has everything.
fn version_of(carries: Capabilities) -> u32 {
    match (carries.directions, carries.triple_terms) {
        (_, TripleTerms::Object | TripleTerms::Anywhere) => 0,
        (true, TripleTerms::No) => 2,
        (false, TripleTerms::No) => 1,
    }
}

/// Changes the options of a stream in the row layout to options of the column layout.
///
/// # Errors
/// If an option was given that the column layout does not have.
fn to_columns(
    options: &mut OptionsRow,
    values: &Values,
    frames: FrameMeaning,
) -> Result<(), Reason> {
    let given = [&LOGICAL_TYPE, &GENERALIZED, &RDF_STAR].map(|option| (option, values.get(option)));
    if let Some((option, _)) = given.iter().find(|(_, value)| value.is_some()) {
        let reason = format!("Jelly 1.2 has no {}", option.name.replace('_', " "));
        let rows = Remedy::write("jelly_version", "1.1", "writes it");
        return Err(Reason::from(reason).with(rows));
    }
    if values.text(&PHYSICAL_TYPE) == Some("graphs") {
        let reason = "Jelly 1.2 does not have the physical type GRAPHS";
        let quads = Remedy::write("physical_type", "quads", "writes the same statements");
        return Err(Reason::new(reason).with(quads));
    }
    if options.physical_type == PhysicalType::Graphs as u32 {
        options.physical_type = PhysicalType::Quads as u32;
    }
    options.logical_type = 0;
    options.generalized = false;
    options.rdf_star = false;
    options.stream_type = u32::from(frames == FrameMeaning::Message);
    if let Some(version) = values.text(&RDF_VERSION) {
        options.rdf_version = rdf_version_number(version);
    }
    let names = options.tables.name;
    if names < MIN_COLUMN_NAMES {
        let reason = format!(
            "the name table size is {names}, but Jelly 1.2 needs {MIN_COLUMN_NAMES} or more"
        );
        return Err(Reason::from(reason).with(Remedy::larger("name_table")));
    }
    Ok(())
}

/// Returns the note for a log that is not written in the version of its source.
fn note_of_version() -> Reason {
    let keeps = Remedy::write("jelly_version", "1.2", "keeps the version");
    Reason::new("the input has Jelly 1.2, a draft, and the output an earlier version").with(keeps)
}

/// Changes the options of a source in the column layout to options of the row layout.
fn to_rows(options: &mut OptionsRow) {
    options.version = 2;
    // The column layout does not declare triple terms.
    options.rdf_star = true;
    let is_triples = options.physical_type == PhysicalType::Triples as u32;
    options.logical_type = if is_triples { 3 } else { 4 };
}

fn physical_number(name: &str) -> u32 {
    let physical = match name {
        "triples" => PhysicalType::Triples,
        "graphs" => PhysicalType::Graphs,
        _ => PhysicalType::Quads,
    };
    physical as u32
}

fn logical_number(name: &str) -> Option<u32> {
    let found = LOGICAL_TYPES.iter().find(|(known, _)| *known == name);
    found.and_then(|(_, number)| u32::try_from(*number).ok())
}

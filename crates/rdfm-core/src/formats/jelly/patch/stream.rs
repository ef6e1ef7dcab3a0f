//! Settings for writing a patch log.
//!
//! - In: the given options, and the source of the patches.
//! - Out: the patch stream options, and all other writer settings.
//! - Law: a given option always takes precedence. The options are fixed at the first patch, before
//!   later patches are known.

use super::super::options::{
    DATATYPE_TABLE, NAME_TABLE, OptionsRow, PREFIX_TABLE, WRITE_DELIMITED,
};
use super::super::stream::{check_continued, detects_generalized};
use super::super::term_writer::FrameSize;
use super::options::{self, FRAME_BYTES, STATEMENT_TYPE, STREAM_TYPE, StatementType, StreamType};
use crate::codec::Source;
use crate::codec::carries::TripleTerms;
use crate::codec::options::{FLAT, MERGE_GRAPHS};
use crate::codec::values::{GivenValue, Values};
use crate::model::remedy::{Reason, Remedy};

/// Settings for writing a log.
#[derive(Clone)]
pub(super) struct PatchStreamSettings {
    pub options: OptionsRow,
    pub kind: StreamType,
    /// Whether statements have a graph.
    pub statements: StatementType,
    /// Whether all patches become one.
    pub flat: bool,
    /// The size at which a frame ends, if a patch may take several frames.
    pub frame_size: FrameSize,
    /// Whether frames are length-prefixed. If not, a log of more than one frame is an error.
    pub delimited: bool,
    pub merge_graphs: bool,
    /// Whether the first patch determines if generalized statements are declared.
    pub detects_generalized: bool,
}

impl PatchStreamSettings {
    /// Returns the settings for patches from `source`.
    ///
    /// # Errors
    /// If the options cannot be combined.
    pub fn of(values: &Values, source: Option<&Source>) -> Result<Self, Reason> {
        let mut stream = Self {
            options: OptionsRow::preset(),
            kind: StreamType::Punctuated,
            statements: StatementType::Quads,
            flat: values.is_on(&FLAT),
            frame_size: FrameSize::of(values, FRAME_BYTES),
            delimited: values.is_on(&WRITE_DELIMITED),
            merge_graphs: values.is_on(&MERGE_GRAPHS),
            detects_generalized: detects_generalized(values, source),
        };
        if let Some(source) = source {
            stream.follow(source);
        }
        if stream.flat {
            stream.kind = StreamType::Flat;
        }
        if let Some(stream_type) = values.text(&STREAM_TYPE).and_then(StreamType::named) {
            if stream.flat && stream_type != StreamType::Flat {
                let reason =
                    "flat writes all patches as one, but the stream type is for several patches";
                let flat = Remedy::write("stream_type", "flat", "writes one patch");
                return Err(Reason::new(reason).with(flat));
            }
            stream.kind = stream_type;
        }
        if let Some(statement_type) = values.text(&STATEMENT_TYPE) {
            stream.statements = StatementType::named(statement_type).unwrap_or(stream.statements);
        } else if stream.merge_graphs {
            stream.statements = StatementType::Triples;
        }
        stream.options.apply(values);
        stream.options.statement_type = stream.statements as u32;
        stream.options.physical_type = stream.kind as u32;
        stream.options.check_tables()?;
        if let Some(source) = source
            && source.continued
        {
            let mut in_log = Self {
                options: OptionsRow::preset(),
                ..stream.clone()
            };
            in_log.follow(source);
            in_log.options.statement_type = in_log.statements as u32;
            in_log.options.physical_type = in_log.kind as u32;
            check_continued(
                &options::values(&in_log.options),
                &options::values(&stream.options),
            )?;
        }
        Ok(stream)
    }

    /// Applies the options of the source log, or, if it has none, the capabilities of its format.
    fn follow(&mut self, source: &Source) {
        if source.options.is_empty() {
            self.options.rdf_star = source.carries.triple_terms != TripleTerms::No;
            if !source.carries.graphs {
                self.statements = StatementType::Triples;
            }
        }
        for (name, given) in &source.options {
            match (name.as_str(), given) {
                ("stream_type", GivenValue::Text(word)) => {
                    let found = StreamType::named(word).unwrap_or(self.kind);
                    // A flat log that was read as several patches is not written as one patch
                    // again.
                    if source.requested || source.flat || found != StreamType::Flat {
                        self.kind = found;
                    }
                }
                ("statement_type", GivenValue::Text(word)) => {
                    self.statements = StatementType::named(word).unwrap_or(self.statements);
                }
                ("generalized", GivenValue::Switch(on)) => self.options.generalized = *on,
                ("rdf_star", GivenValue::Switch(on)) => self.options.rdf_star = *on,
                (name, GivenValue::Number(number)) => {
                    for (size, option) in [
                        (&mut self.options.tables.name, &NAME_TABLE),
                        (&mut self.options.tables.prefix, &PREFIX_TABLE),
                        (&mut self.options.tables.datatype, &DATATYPE_TABLE),
                    ] {
                        if option.name == name {
                            *size = u32::try_from(*number).unwrap_or(*size);
                        }
                    }
                }
                _ => {}
            }
        }
        if source.flat && !source.requested {
            self.kind = StreamType::Flat;
        }
    }
}

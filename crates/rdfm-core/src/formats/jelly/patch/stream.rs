//! How a log of patches is written.
//!
//! - In: the options that were given, and where the patches come from.
//! - Out: the patch stream options, and how everything else is written.
//! - Law: what was given always wins; the options are fixed at the first patch, since what follows is not known
//!   then.

use super::super::options::{
    DATATYPE_TABLE, NAME_TABLE, OptionsRow, PREFIX_TABLE, WRITE_DELIMITED,
};
use super::super::term_writer::FrameSize;
use super::options::{FRAME_BYTES, STATEMENT_TYPE, STREAM_TYPE, StatementType, StreamType};
use crate::codec::Source;
use crate::codec::carries::TripleTerms;
use crate::codec::options::{FLAT, MERGE_GRAPHS};
use crate::codec::values::{Given, Values};

/// How a log is written.
pub(super) struct Stream {
    pub options: OptionsRow,
    pub kind: StreamType,
    /// Whether statements have room for a graph.
    pub statements: StatementType,
    /// All patches become one.
    pub flat: bool,
    /// Where a frame ends, if a patch may take many.
    pub frame_size: FrameSize,
    /// Length-prefix frames. Without it a log of more than one frame is refused.
    pub delimited: bool,
    pub merge_graphs: bool,
}

impl Stream {
    /// How to write what comes from `source`.
    ///
    /// # Errors
    /// Options contradict each other.
    pub fn of(values: &Values, source: Option<&Source>) -> Result<Self, String> {
        let mut stream = Self {
            options: OptionsRow::preset(),
            kind: StreamType::Punctuated,
            statements: StatementType::Quads,
            flat: values.switch(&FLAT),
            frame_size: FrameSize::of(values, values.number(&FRAME_BYTES) as usize),
            delimited: values.switch(&WRITE_DELIMITED),
            merge_graphs: values.switch(&MERGE_GRAPHS),
        };
        if let Some(source) = source {
            stream.follow(source);
        }
        if stream.flat {
            stream.kind = StreamType::Flat;
        }
        if let Some(wanted) = values.text(&STREAM_TYPE).and_then(StreamType::named) {
            if stream.flat && wanted != StreamType::Flat {
                let name = wanted.name().to_ascii_lowercase();
                return Err(format!(
                    "flat makes one patch of all, and stream_type={name} holds many; leave one of them out"
                ));
            }
            stream.kind = wanted;
        }
        if let Some(wanted) = values.text(&STATEMENT_TYPE) {
            stream.statements = StatementType::named(wanted).unwrap_or(stream.statements);
        } else if stream.merge_graphs {
            stream.statements = StatementType::Triples;
        }
        stream.options.take(values);
        stream.options.statement_type = stream.statements as u32;
        stream.options.physical_type = stream.kind as u32;
        stream.options.check_tables()?;
        Ok(stream)
    }

    /// Takes what the log says that the patches come from, or else what its format can hold.
    fn follow(&mut self, source: &Source) {
        if source.options.is_empty() {
            self.options.rdf_star = source.carries.triple_terms != TripleTerms::No;
            if !source.carries.graphs {
                self.statements = StatementType::Triples;
            }
        }
        for (name, given) in &source.options {
            match (name.as_str(), given) {
                ("stream_type", Given::Text(word)) => {
                    let found = StreamType::named(word).unwrap_or(self.kind);
                    // A log of one patch that is read as many is none any more.
                    if source.asked || source.flat || found != StreamType::Flat {
                        self.kind = found;
                    }
                }
                ("statement_type", Given::Text(word)) => {
                    self.statements = StatementType::named(word).unwrap_or(self.statements);
                }
                ("generalized", Given::Switch(on)) => self.options.generalized = *on,
                ("rdf_star", Given::Switch(on)) => self.options.rdf_star = *on,
                (name, Given::Number(number)) => {
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
        if source.flat && !source.asked {
            self.kind = StreamType::Flat;
        }
    }
}

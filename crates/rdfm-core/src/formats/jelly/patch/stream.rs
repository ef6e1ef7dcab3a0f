//! How a log of patches is written.
//!
//! - In: the options that were given, and where the patches come from.
//! - Out: the patch stream options, and how everything else is written.
//! - Law: what was given always wins; the options are fixed at the first patch, since what follows is not known
//!   then.

use super::super::options::{
    DATATYPE_TABLE, GENERALIZED, MIN_NAME_TABLE, NAME_TABLE, PREFIX_TABLE, RDF_STAR, Tables,
    WRITE_DELIMITED,
};
use super::super::term_writer::FrameSize;
use super::options::{FRAME_BYTES, STATEMENT_TYPE, STREAM_TYPE, StatementType, StreamType};
use crate::codec::Source;
use crate::codec::carries::TripleTerms;
use crate::codec::options::{FLAT, MERGE_GRAPHS};
use crate::codec::values::{Given, Values};

/// How a log is written.
pub(super) struct Stream {
    pub kind: StreamType,
    /// Whether statements have room for a graph.
    pub statements: StatementType,
    pub generalized: bool,
    pub rdf_star: bool,
    pub tables: Tables,
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
            kind: StreamType::Punctuated,
            statements: StatementType::Quads,
            generalized: false,
            rdf_star: false,
            tables: Tables {
                name: values.number(&NAME_TABLE) as u32,
                prefix: values.number(&PREFIX_TABLE) as u32,
                datatype: values.number(&DATATYPE_TABLE) as u32,
            },
            flat: values.switch(&FLAT),
            frame_size: FrameSize::of(values, values.number(&FRAME_BYTES) as usize),
            delimited: values.switch(&WRITE_DELIMITED),
            merge_graphs: values.switch(&MERGE_GRAPHS),
        };
        if let Some(source) = source {
            stream.follow(source, values);
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
        for (flag, option) in [
            (&mut stream.generalized, &GENERALIZED),
            (&mut stream.rdf_star, &RDF_STAR),
        ] {
            *flag = values.try_switch(option).unwrap_or(*flag);
        }
        if stream.tables.name < MIN_NAME_TABLE {
            return Err(format!(
                "name_table is {}, expected {MIN_NAME_TABLE} or more",
                stream.tables.name
            ));
        }
        Ok(stream)
    }

    /// Takes what the log says that the patches come from, or else what its format can hold.
    fn follow(&mut self, source: &Source, values: &Values) {
        if source.options.is_empty() {
            self.rdf_star = source.carries.triple_terms != TripleTerms::No;
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
                ("generalized", Given::Switch(on)) => self.generalized = *on,
                ("rdf_star", Given::Switch(on)) => self.rdf_star = *on,
                (name, Given::Number(number)) => {
                    for (size, option) in [
                        (&mut self.tables.name, &NAME_TABLE),
                        (&mut self.tables.prefix, &PREFIX_TABLE),
                        (&mut self.tables.datatype, &DATATYPE_TABLE),
                    ] {
                        if option.name == name && values.get(option).is_none() {
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

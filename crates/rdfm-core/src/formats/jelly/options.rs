//! Options specific to Jelly, its stream options (specification, section "Stream options"), and the
//! settings of a decoder.

use crate::codec::options::{LENIENT, MAX_COUNT, TEXT, limits};
use crate::codec::spec::{Default, OptionSpec, ValueKind};
use crate::codec::values::{Value, Values};
use crate::codec::{Opening, Parts, Split};
use crate::model::limits::Limits;
use crate::syntax::wire::{
    Checked, LENGTH, VARINT, Wire, check_utf8, malformed_error, put_bytes, put_number,
};

const GROUP: &str = "Jelly";
/// Maximum sizes of the lookups of a log.
pub(super) const MAX_TABLES: TableSizes = TableSizes {
    name: 65_536,
    prefix: 65_536,
    datatype: 4096,
};

/// The logical types of the specification, with their numbers.
pub const LOGICAL_TYPES: &[(&str, u64)] = &[
    ("unspecified", 0),
    ("flat_triples", 1),
    ("flat_quads", 2),
    ("graphs", 3),
    ("datasets", 4),
    ("subject_graphs", 13),
    ("named_graphs", 14),
    ("timestamped_named_graphs", 114),
];

/// Versions of Jelly, and their numbers in a log.
pub const VERSIONS: &[(&str, u64)] = &[("1.0", 1), ("1.1", 2), ("1.2", 3)];

/// The meaning of a frame in the input.
pub const READ_FRAMES: OptionSpec = OptionSpec::new(
    "frames",
    ValueKind::Choice(&["auto", "message", "flat"]),
    "Read each frame as a message, or all frames as one message (flat). With auto, the logical type decides.",
)
.default(Default::Text("auto"))
.as_hint()
.group(GROUP);

/// The framing of the input.
pub const READ_DELIMITED: OptionSpec = OptionSpec::new(
    "delimited",
    ValueKind::Switch,
    "Read length-prefixed frames, or a single frame without a length prefix.",
)
.default(Default::Detected)
.off("undelimited")
.group(GROUP);

/// The handling of streams that may have been joined into one log.
pub const JOINS: OptionSpec = OptionSpec::new(
    "joins",
    ValueKind::Choice(&["error", "warn", "new"]),
    "How to read frames that repeat the stream options, which may mean that two files were joined. error: reject \
     entries that continue a lookup table from before such a frame. warn: continue the table and print a note. new: \
     begin a new stream with empty tables at each such frame.",
)
.default(Default::Text("error"))
.group(GROUP);

/// Whether restart marks are used.
pub const READ_MARKS: OptionSpec = OptionSpec::new(
    "marks",
    ValueKind::Switch,
    "Use the restart marks in the log to start reading in the middle.",
)
.default(Default::Switch(true))
.off("no-marks")
.group(GROUP);

/// A log whose stream options are used for writing.
pub const OPTIONS_FROM: OptionSpec = OptionSpec::new(
    "options_from",
    ValueKind::Log,
    "Write with the stream options of this Jelly file.",
)
.group(GROUP);

/// The meaning of a frame in the output.
pub const WRITE_FRAMES: OptionSpec = OptionSpec::new(
    "frames",
    ValueKind::Choice(&["message", "flat"]),
    "Write each message as one frame, or all as one message split into many frames (flat). Defaults to the framing of \
     a Jelly input, otherwise to message.",
)
.default(Default::Source)
.group(GROUP);

/// Number of rows per frame.
pub const FRAME_ROWS: OptionSpec = OptionSpec::new(
    "frame_rows",
    ValueKind::Count(1, MAX_COUNT),
    "Rows per frame if a message is split into several frames. In Jelly 1.2, statements per frame, by default 8,192.",
)
.default(Default::Number(256))
.group(GROUP);

/// Distance between restart frames.
pub const RESTART_BYTES: OptionSpec = OptionSpec::new(
    "restart_bytes",
    ValueKind::Bytes(0, 1 << 40),
    "After this many bytes, the next message restarts the stream, so that readers can start there. 0: no restarts \
     after the first message. Requires one length-prefixed frame per message.",
)
.default(Default::Number(4 << 20))
.group(GROUP);

/// The framing of the output.
pub const WRITE_DELIMITED: OptionSpec = OptionSpec::new(
    "delimited",
    ValueKind::Switch,
    "Write length-prefixed frames, or a single frame without a length prefix.",
)
.default(Default::Switch(true))
.off("undelimited")
.group(GROUP);

/// Namespace declarations.
pub const NAMESPACES: OptionSpec = OptionSpec::new(
    "namespaces",
    ValueKind::Switch,
    "Write namespace declarations, in Parquet and Arrow as a column. By default, they are written if the input has \
     them.",
)
.default(Default::Source)
.off("no-namespaces")
.group(GROUP);

/// Name of the stream.
pub const STREAM_NAME: OptionSpec =
    OptionSpec::new("stream_name", ValueKind::Text, "Name of the stream.")
        .default(Default::Source)
        .metavar("NAME")
        .group(GROUP);

/// Physical type of the stream: the encoding of statements.
pub const PHYSICAL_TYPE: OptionSpec = OptionSpec::new(
    "physical_type",
    ValueKind::Choice(&["triples", "quads", "graphs"]),
    "How statements are encoded.",
)
.default(Default::Source)
.group(GROUP);

/// Logical type of the stream.
pub const LOGICAL_TYPE: OptionSpec = OptionSpec::new(
    "logical_type",
    ValueKind::ChoiceOrNumber(LOGICAL_TYPES),
    "Logical type that the stream declares.",
)
.default(Default::Source)
.group(GROUP);

/// Whether generalized statements are allowed.
pub const GENERALIZED: OptionSpec = OptionSpec::new(
    "generalized",
    ValueKind::Switch,
    "Accept generalized quads and RDF-star when reading N-Triples and N-Quads, and declare them when writing Jelly.",
)
.default(Default::Source)
.with_shared_value()
.group(TEXT);

/// Whether triple terms are allowed.
pub const RDF_STAR: OptionSpec = OptionSpec::new(
    "rdf_star",
    ValueKind::Switch,
    "Declare that the stream may contain triple terms. This is the default if the input format supports them.",
)
.default(Default::Source)
.off("no-rdf-star")
.group(GROUP);

/// Size of the name lookup.
pub const NAME_TABLE: OptionSpec = OptionSpec::new(
    "name_table",
    ValueKind::Count(0, MAX_TABLES.name as u64),
    "Size of the name table, in entries.",
)
.default(Default::Number(4000))
.group(GROUP);

/// Size of the prefix lookup.
pub const PREFIX_TABLE: OptionSpec = OptionSpec::new(
    "prefix_table",
    ValueKind::Count(0, MAX_TABLES.prefix as u64),
    "Size of the prefix table, in entries.",
)
.default(Default::Number(150))
.group(GROUP);

/// Size of the datatype lookup.
pub const DATATYPE_TABLE: OptionSpec = OptionSpec::new(
    "datatype_table",
    ValueKind::Count(0, MAX_TABLES.datatype as u64),
    "Size of the datatype table, in entries.",
)
.default(Default::Number(32))
.group(GROUP);

/// Protocol version of the stream.
pub const JELLY_VERSION: OptionSpec = OptionSpec::new(
    "jelly_version",
    ValueKind::ChoiceOrNumber(VERSIONS),
    "Jelly version that the stream declares, or its number in the log. 1.2 is a draft, in which statements are stored \
     by column. Defaults to 1.1 with namespaces, otherwise to 1.0.",
)
.default(Default::Source)
.group(GROUP);

/// Versions of RDF that a stream in the column layout may announce, with their numbers.
pub const RDF_VERSIONS: &[(&str, u64)] =
    &[("1.1", 1), ("1.2-basic", 2), ("1.2", 3), ("unspecified", 0)];

/// Version of RDF that the stream announces.
pub const RDF_VERSION: OptionSpec = OptionSpec::new(
    "rdf_version",
    ValueKind::ChoiceOrNumber(RDF_VERSIONS),
    "Version of RDF that a stream of Jelly 1.2 announces. Content that the version does not have is rejected: base \
     directions before 1.2-basic, triple terms before 1.2. Defaults to the version that the input cannot exceed, if it \
     is older than 1.2.",
)
.default(Default::Source)
.group(GROUP);

/// The meaning of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameMeaning {
    /// Each frame is one message.
    #[default]
    Message,
    /// Frames have no meaning: the entire log is one message.
    Flat,
}

/// The handling of a lookup entry that continues a table after repeated stream options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JoinMode {
    /// Report an error.
    Error,
    /// Read it as the entry after the previous one, and add a note.
    Warn,
    /// Begin a new stream with empty tables at each frame that repeats the stream options at its
    /// start.
    New,
}

/// Sizes of the lookups, in number of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSizes {
    /// Size of the name lookup.
    pub name: u32,
    /// Size of the prefix lookup.
    pub prefix: u32,
    /// Size of the datatype lookup.
    pub datatype: u32,
}

/// The settings of a decoder.
pub(super) struct ReadSettings {
    pub limits: Limits,
    /// The messages that may be returned in parts.
    pub parts: Parts,
    /// The meaning of a frame. `None`: [`FrameMeaning::Flat`] if the log has a flat logical type,
    /// otherwise [`FrameMeaning::Message`].
    pub frames: Option<FrameMeaning>,
    /// Whether frames are length-prefixed. `None`: detected.
    pub delimited: Option<bool>,
    /// Whether documented deviations are accepted.
    pub lenient: bool,
    pub joins: JoinMode,
    /// Whether restart marks are used.
    pub marks: bool,
    /// Whether marked frames are checked.
    pub checks_marks: bool,
    /// The part of the log to read.
    pub split: Option<Split>,
    /// Index of the first message, if known.
    pub first_message_index: Option<u64>,
}

impl ReadSettings {
    /// The split, if it does not begin at the start of the log.
    pub fn inner_split(&self) -> Option<Split> {
        self.split.filter(|split| split.start > 0)
    }

    /// Whether message indices are known.
    pub fn knows_indices(&self) -> bool {
        self.inner_split().is_none() || self.first_message_index.is_some()
    }

    pub fn of(values: &Values, opening: &Opening) -> Self {
        Self {
            limits: limits(values),
            parts: opening.parts,
            frames: match values.text(&READ_FRAMES) {
                Some("message") => Some(FrameMeaning::Message),
                Some("flat") => Some(FrameMeaning::Flat),
                _ => None,
            },
            delimited: values.try_is_on(&READ_DELIMITED),
            lenient: values.is_on(&LENIENT),
            joins: match values.text(&JOINS) {
                Some("warn") => JoinMode::Warn,
                Some("new") => JoinMode::New,
                _ => JoinMode::Error,
            },
            marks: values.is_on(&READ_MARKS),
            checks_marks: opening.checks_marks,
            split: opening.split,
            first_message_index: opening.first_message_index,
        }
    }
}

/// The encoding of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PhysicalType {
    /// Triples.
    Triples = 1,
    /// Quads.
    #[default]
    Quads = 2,
    /// Triples between graph start and graph end rows.
    Graphs = 3,
}

/// The stream options row of both formats, with numbers as in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionsRow {
    /// Name of a Jelly-RDF stream; empty if it has none.
    pub stream_name: String,
    /// Statement type of a Jelly-Patch stream.
    pub statement_type: u32,
    /// Physical type of a Jelly-RDF stream, or stream type of a Jelly-Patch stream.
    pub physical_type: u32,
    /// Logical (RDF-STaX) type of a Jelly-RDF stream; 0 for unspecified.
    pub logical_type: u32,
    /// Whether generalized statements may occur.
    pub generalized: bool,
    /// Whether triple terms may occur.
    pub rdf_star: bool,
    /// Stream type of a stream in the column layout.
    pub stream_type: u32,
    /// Version of RDF that a stream in the column layout announces.
    pub rdf_version: u32,
    /// Sizes of the lookups.
    pub tables: TableSizes,
    /// Protocol version.
    pub version: u32,
}

impl PhysicalType {
    /// Returns the type for a number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Triples),
            2 => Some(Self::Quads),
            3 => Some(Self::Graphs),
            _ => None,
        }
    }

    /// Returns the name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triples => "TRIPLES",
            Self::Quads => "QUADS",
            Self::Graphs => "GRAPHS",
        }
    }
}

/// Returns the name of a logical type in the specification; empty if it has none.
pub const fn logical_name(number: u32) -> &'static str {
    match number {
        0 => "UNSPECIFIED",
        1 => "FLAT_TRIPLES",
        2 => "FLAT_QUADS",
        3 => "GRAPHS",
        4 => "DATASETS",
        13 => "SUBJECT_GRAPHS",
        14 => "NAMED_GRAPHS",
        114 => "TIMESTAMPED_NAMED_GRAPHS",
        _ => "",
    }
}

/// Returns the name of a version of RDF as used in options; empty if the number is unknown.
pub(super) fn rdf_version_name(number: u32) -> &'static str {
    let mut versions = RDF_VERSIONS.iter();
    let version = versions.find(|(_, known)| *known == u64::from(number));
    version.map_or("", |(name, _)| name)
}

/// Newest protocol version of the row layout.
pub const MAX_VERSION: u32 = 2;
/// Version with the column layout.
pub(super) const COLUMNS_VERSION: u32 = 3;
/// Smallest name table in the column layout.
pub(super) const MIN_COLUMN_NAMES: u32 = 128;
/// Smallest name table that the specification allows.
pub const MIN_NAME_TABLE: u32 = 8;

impl OptionsRow {
    /// The "big" preset of other implementations: 4000 names, 150 prefixes, 32 datatypes.
    pub(super) fn preset() -> Self {
        Self {
            tables: TableSizes {
                name: 4000,
                prefix: 150,
                datatype: 32,
            },
            version: 1,
            ..Self::default()
        }
    }

    /// Sets the fields that both formats share from the given options.
    pub(super) fn apply(&mut self, values: &Values) {
        for (flag, option) in [
            (&mut self.generalized, &GENERALIZED),
            (&mut self.rdf_star, &RDF_STAR),
        ] {
            *flag = values.try_is_on(option).unwrap_or(*flag);
        }
        for (size, option) in [
            (&mut self.tables.name, &NAME_TABLE),
            (&mut self.tables.prefix, &PREFIX_TABLE),
            (&mut self.tables.datatype, &DATATYPE_TABLE),
        ] {
            if values.get(option).is_some() {
                *size = values.number(option) as u32;
            }
        }
    }

    /// Checks the table sizes.
    ///
    /// # Errors
    /// If the name table is too small.
    pub(super) fn check_tables(&self) -> Result<(), String> {
        let size = self.tables.name;
        if size >= MIN_NAME_TABLE {
            return Ok(());
        }
        Err(format!(
            "the name table size is {size}, expected {MIN_NAME_TABLE} or more"
        ))
    }

    /// Reads the row. `numbers` is the set of its numeric fields; field 1 is the stream name if it
    /// is not in the set.
    pub(super) fn read(bytes: &[u8], numbers: u32, what: &'static str) -> Checked<Self> {
        let mut options = Self::default();
        let mut wire = Wire::new(bytes);
        while !wire.is_done() {
            let (field, kind) = wire.read_tag()?;
            let is_number = field < 32 && numbers >> field & 1 == 1;
            if field != 1 && !is_number {
                wire.skip(field, kind)?;
                continue;
            }
            Wire::expect(kind, if is_number { VARINT } else { LENGTH }, field, what)?;
            match field {
                1 if !is_number => {
                    check_utf8(wire.read_bytes()?, "the stream name")?
                        .clone_into(&mut options.stream_name);
                }
                1 => options.statement_type = wire.read_varint32()?,
                2 => options.physical_type = wire.read_varint32()?,
                3 => options.generalized = wire.read_varint()? != 0,
                4 => options.rdf_star = wire.read_varint()? != 0,
                5 => options.stream_type = wire.read_varint32()?,
                6 => options.rdf_version = wire.read_varint32()?,
                9 => options.tables.name = wire.read_varint32()?,
                10 => options.tables.prefix = wire.read_varint32()?,
                11 => options.tables.datatype = wire.read_varint32()?,
                14 => options.logical_type = wire.read_varint32()?,
                _ => options.version = wire.read_varint32()?,
            }
        }
        Ok(options)
    }

    /// Checks that a stream in the row layout sets no option of the column layout.
    pub(super) fn check_layout(&self) -> Checked<()> {
        let options = [
            ("stream_type", self.stream_type),
            ("rdf_version", self.rdf_version),
        ];
        let set = options.into_iter().find(|(_, value)| *value != 0);
        match set {
            Some((name, value)) if (1..COLUMNS_VERSION).contains(&self.version) => {
                Err(malformed_error(format!(
                    "the stream options set {name} to {value}, which needs version {COLUMNS_VERSION}, but have version {}",
                    self.version
                )))
            }
            _ => Ok(()),
        }
    }

    /// Appends the row's fields.
    pub(super) fn write(&self, fields: &mut Vec<u8>) {
        if !self.stream_name.is_empty() {
            put_bytes(fields, 0x0a, self.stream_name.as_bytes());
        }
        put_number(fields, 1 << 3, self.statement_type);
        put_number(fields, 2 << 3, self.physical_type);
        put_number(fields, 3 << 3, u32::from(self.generalized));
        put_number(fields, 4 << 3, u32::from(self.rdf_star));
        put_number(fields, 5 << 3, self.stream_type);
        put_number(fields, 6 << 3, self.rdf_version);
        put_number(fields, 9 << 3, self.tables.name);
        put_number(fields, 10 << 3, self.tables.prefix);
        put_number(fields, 11 << 3, self.tables.datatype);
        put_number(fields, 14 << 3, self.logical_type);
        put_number(fields, 15 << 3, self.version);
    }

    /// Whether the logical type makes all frames one message. This is true if its base type, which
    /// is its last digit, is flat.
    pub(super) const fn is_flat(&self) -> bool {
        matches!(self.logical_type % 10, 1 | 2)
    }

    /// Returns the encoder options that reproduce the fields common to both formats.
    pub(super) fn shared_values(&self) -> [(&'static str, Value); 5] {
        [
            (GENERALIZED.name, Value::Switch(self.generalized)),
            (RDF_STAR.name, Value::Switch(self.rdf_star)),
            (NAME_TABLE.name, Value::Number(self.tables.name.into())),
            (PREFIX_TABLE.name, Value::Number(self.tables.prefix.into())),
            (
                DATATYPE_TABLE.name,
                Value::Number(self.tables.datatype.into()),
            ),
        ]
    }

    /// Returns the options of a Jelly-RDF encoder that reproduce this row.
    pub(super) fn values(&self) -> Vec<(&'static str, Value)> {
        let size = |number: u32| Value::Number(number.into());
        let word = |name: &str| Value::Text(name.to_ascii_lowercase());
        let name_or_number = |name: &str, number| match name {
            "" => size(number),
            name => word(name),
        };
        let physical = PhysicalType::from_number(self.physical_type).unwrap_or_default();
        let mut values = vec![
            (STREAM_NAME.name, Value::Text(self.stream_name.clone())),
            (PHYSICAL_TYPE.name, word(physical.name())),
        ];
        let tables = if self.version == COLUMNS_VERSION {
            let types = ["flat", "messages"];
            let stream_type = types.get(self.stream_type as usize).copied();
            let version = rdf_version_name(self.rdf_version);
            values.push((
                "stream_type",
                name_or_number(stream_type.unwrap_or_default(), self.stream_type),
            ));
            values.push((RDF_VERSION.name, name_or_number(version, self.rdf_version)));
            2 // the column layout does not declare features
        } else {
            let logical = logical_name(self.logical_type);
            values.push((
                LOGICAL_TYPE.name,
                name_or_number(logical, self.logical_type),
            ));
            0
        };
        values.extend(self.shared_values().into_iter().skip(tables));
        values.push((JELLY_VERSION.name, size(self.version)));
        values
    }

    /// Returns the name of the logical type as used in options, or its number.
    pub(super) fn type_name(&self) -> String {
        match logical_name(self.logical_type) {
            "" => format!("logical type {}", self.logical_type),
            name => name.to_ascii_lowercase(),
        }
    }

    /// Checks that the logical type fits the physical type. The base type is the last digit.
    ///
    /// # Errors
    /// If the types conflict. The error names them.
    pub(super) fn check_types(&self, physical: PhysicalType) -> Result<(), String> {
        let consistent = match self.logical_type % 10 {
            1 | 3 => physical == PhysicalType::Triples,
            2 | 4 => physical != PhysicalType::Triples,
            _ => true,
        };
        if consistent {
            return Ok(());
        }
        let name = logical_name(self.logical_type);
        Err(format!(
            "logical type {}{}{} does not fit physical type {}",
            self.logical_type,
            if name.is_empty() { "" } else { " " },
            name,
            physical.name()
        ))
    }
}

//! Jelly's stream options (specification, section "Stream options").

/// How statements are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PhysicalType {
    /// Triples.
    Triples = 1,
    /// Quads.
    #[default]
    Quads = 2,
    /// Triples between graph starts and ends.
    Graphs = 3,
}

/// The stream options row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JellyOptions {
    /// Name of the stream; empty for none.
    pub stream_name: String,
    /// How statements are encoded.
    pub physical_type: PhysicalType,
    /// The logical (RDF-STaX) type's number; 0 for unspecified.
    pub logical_type: u32,
    /// Whether generalized statements may occur.
    pub generalized: bool,
    /// Whether triple terms may occur.
    pub rdf_star: bool,
    /// Size of the name lookup, at least 8.
    pub name_table: u32,
    /// Size of the prefix lookup; 0 for none.
    pub prefix_table: u32,
    /// Size of the datatype lookup; 0 for none.
    pub datatype_table: u32,
    /// Protocol version: 1, or 2 with namespace declarations.
    pub version: u32,
}

impl Default for JellyOptions {
    /// The big preset of the field: names 4000, prefixes 150, datatypes 32; QUADS, DATASETS, version 1.
    fn default() -> Self {
        Self {
            stream_name: String::new(),
            physical_type: PhysicalType::Quads,
            logical_type: 4,
            generalized: false,
            rdf_star: false,
            name_table: 4000,
            prefix_table: 150,
            datatype_table: 32,
            version: 1,
        }
    }
}

impl PhysicalType {
    /// The type of a number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Triples),
            2 => Some(Self::Quads),
            3 => Some(Self::Graphs),
            _ => None,
        }
    }

    /// The name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triples => "TRIPLES",
            Self::Quads => "QUADS",
            Self::Graphs => "GRAPHS",
        }
    }
}

/// The name of a logical type in the specification; empty where it has none.
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

/// Newest protocol version read and written.
pub const MAX_VERSION: u32 = 2;
/// Smallest name table that the specification allows.
pub const MIN_NAME_TABLE: u32 = 8;

impl JellyOptions {
    /// Whether the logical type says that frames are transport: the base type, its last digit, is flat.
    pub const fn is_flat(&self) -> bool {
        matches!(self.logical_type % 10, 1 | 2)
    }

    /// The logical type's name as an option has it, or its number.
    pub fn type_name(&self) -> String {
        match logical_name(self.logical_type) {
            "" => format!("logical type {}", self.logical_type),
            name => name.to_ascii_lowercase(),
        }
    }

    /// Whether logical and physical type go together. The base type is the last digit.
    ///
    /// # Errors
    /// Says which do not.
    pub fn check_types(&self) -> Result<(), String> {
        let consistent = match self.logical_type % 10 {
            1 | 3 => self.physical_type == PhysicalType::Triples,
            2 | 4 => self.physical_type != PhysicalType::Triples,
            _ => true,
        };
        if consistent {
            return Ok(());
        }
        let name = logical_name(self.logical_type);
        Err(format!(
            "logical type {}{}{} does not go with physical type {}",
            self.logical_type,
            if name.is_empty() { "" } else { " " },
            name,
            self.physical_type.name()
        ))
    }
}

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

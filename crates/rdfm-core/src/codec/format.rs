//! The formats of this crate: their names, and what each can carry.
//!
//! [`Carries`] is the one place that says what a format holds; refusals, the table of the docs and the pair tests
//! derive from it.

/// A format with a native codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// N-Triples.
    Nt,
    /// N-Quads.
    Nq,
    /// Turtle.
    Ttl,
    /// TriG.
    Trig,
    /// Jelly-RDF.
    Jelly,
    /// JSON-LD, a document a line.
    Ndjsonld,
    /// JSON-LD, one document.
    Jsonld,
    /// RDF Protobuf.
    RdfProtobuf,
    /// RDF Thrift.
    RdfThrift,
    /// YAML-LD, a document a message.
    Yamlld,
    /// RDF/XML.
    RdfXml,
}

/// Where triple terms may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TripleTerms {
    /// Nowhere.
    No,
    /// As objects, as in RDF 1.2.
    Object,
    /// In any position.
    Anywhere,
}

/// What a format can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries {
    /// Graph names.
    pub graphs: bool,
    /// Literals and blank nodes in every position (generalized RDF).
    pub generalized: bool,
    /// Triple terms.
    pub triple_terms: TripleTerms,
    /// Base directions.
    pub directions: bool,
    /// Message boundaries.
    pub boundaries: bool,
    /// The order and the repetitions of quads within a message.
    pub order: bool,
    /// Namespace declarations.
    pub namespaces: bool,
    /// Metadata of messages.
    pub metadata: bool,
    /// Any character in a text, and any IRI as a predicate.
    pub any_text: bool,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Nt,
        Self::Nq,
        Self::Ttl,
        Self::Trig,
        Self::Jelly,
        Self::RdfProtobuf,
        Self::RdfThrift,
        Self::RdfXml,
        Self::Ndjsonld,
        Self::Jsonld,
        Self::Yamlld,
    ];

    /// The name used everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nt => "nt",
            Self::Nq => "nq",
            Self::Ttl => "ttl",
            Self::Trig => "trig",
            Self::Jelly => "jelly",
            Self::Ndjsonld => "ndjsonld",
            Self::Jsonld => "jsonld",
            Self::RdfProtobuf => "rdf-protobuf",
            Self::RdfThrift => "rdf-thrift",
            Self::Yamlld => "yamlld",
            Self::RdfXml => "rdfxml",
        }
    }

    /// The format of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What it can hold.
    pub const fn carries(self) -> Carries {
        let lines = Carries {
            graphs: true,
            generalized: true,
            triple_terms: TripleTerms::Anywhere,
            directions: true,
            boundaries: true,
            order: true,
            namespaces: false,
            metadata: false,
            any_text: true,
        };
        let blocks = Carries {
            generalized: false,
            triple_terms: TripleTerms::Object,
            namespaces: true,
            ..lines
        };
        let documents = Carries {
            triple_terms: TripleTerms::No,
            order: false,
            ..blocks
        };
        match self {
            Self::Ndjsonld | Self::Yamlld => documents,
            Self::Jsonld => Carries {
                boundaries: false,
                ..documents
            },
            Self::Nt => Carries {
                graphs: false,
                ..lines
            },
            Self::Nq => lines,
            Self::Ttl => Carries {
                graphs: false,
                ..blocks
            },
            Self::Trig => blocks,
            Self::Jelly => Carries {
                namespaces: true,
                metadata: true,
                ..lines
            },
            Self::RdfProtobuf => Carries {
                namespaces: true,
                ..lines
            },
            Self::RdfThrift => Carries {
                namespaces: true,
                boundaries: false,
                ..lines
            },
            Self::RdfXml => Carries {
                graphs: false,
                order: false,
                any_text: false,
                ..blocks
            },
        }
    }

    /// Whether a decoder can go on after an error ([`Decoder::skip_message`]).
    pub const fn resumable(self) -> bool {
        matches!(self, Self::Nt | Self::Nq | Self::Ndjsonld)
    }

    /// Whether a log can be read from the middle, at message boundaries found from a byte offset.
    pub const fn splittable(self) -> bool {
        matches!(self, Self::Nt | Self::Nq)
    }
}

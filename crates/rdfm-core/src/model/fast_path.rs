//! Switches for the fast paths beside a general one.
//!
//! - In: a path to switch off, which only the feature `switches` allows.
//! - Out: whether to take a path.
//! - Cost: nothing without the feature.
//! - Law: a path changes no result (`rdfm-laws`), and saves at least a tenth of the instructions
//!   of some log (`make bench-gains`), or over 2 % of those of a row of `make bench`.

/// A fast path beside a general one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastPath {
    /// Rows of Jelly in the usual encoding.
    JellyRows,
    /// Guesses of the next IRI in N-Quads and TSV.
    NextTerm,
    /// Terms of RDF Protobuf that are only an IRI or a label.
    ProtobufTerms,
    /// Terms of RDF Thrift that are only an IRI or a label.
    ThriftTerms,
    /// Simple bindings of SPARQL Results XML.
    XmlBindings,
    /// Simple bindings of SPARQL Results JSON.
    JsonBindings,
    /// Forms of NDJSON-LD lines.
    Forms,
    /// Plans of NDJSON-LD messages.
    Plans,
    /// IRIs and compact IRIs with cached prefixes in JSON-LD.
    NamesWithColon,
    /// References and typed values in JSON-LD.
    SmallObjects,
    /// Contexts with the names of the previous one.
    RedefinedContexts,
    /// IRIs that need no parser, in JSON-LD that is read.
    SimpleIris,
    /// Compact IRIs that need no check.
    SureIris,
    /// IRIs that need no parser, in JSON-LD that is written.
    UsualIris,
    /// YAML in plain block style.
    BlockYaml,
    /// IRIs with one possible namespace.
    OneNamespace,
}

impl FastPath {
    /// All fast paths, with their names.
    pub const ALL: [(Self, &str); 16] = [
        (Self::JellyRows, "jelly-rows"),
        (Self::NextTerm, "next-term"),
        (Self::ProtobufTerms, "protobuf-terms"),
        (Self::ThriftTerms, "thrift-terms"),
        (Self::XmlBindings, "xml-bindings"),
        (Self::JsonBindings, "json-bindings"),
        (Self::Forms, "forms"),
        (Self::Plans, "plans"),
        (Self::NamesWithColon, "names-with-colon"),
        (Self::SmallObjects, "small-objects"),
        (Self::RedefinedContexts, "redefined-contexts"),
        (Self::SimpleIris, "simple-iris"),
        (Self::SureIris, "sure-iris"),
        (Self::UsualIris, "usual-iris"),
        (Self::BlockYaml, "block-yaml"),
        (Self::OneNamespace, "one-namespace"),
    ];

    /// Whether to take this path.
    #[inline]
    #[must_use]
    pub fn is_on(self) -> bool {
        #[cfg(feature = "switches")]
        let is_off = OFF.get() == Some(self);
        #[cfg(not(feature = "switches"))]
        let is_off = false;
        !is_off
    }

    /// Calls a function that does not take this path on this thread.
    #[cfg(feature = "switches")]
    pub fn without<T>(self, function: impl FnOnce() -> T) -> T {
        let before = OFF.replace(Some(self));
        let result = function();
        OFF.set(before);
        result
    }
}

#[cfg(feature = "switches")]
thread_local! {
    static OFF: std::cell::Cell<Option<FastPath>> = const { std::cell::Cell::new(None) };
}

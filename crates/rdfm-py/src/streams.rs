//! RDF-STaX stream types for Python.

use pyo3::prelude::*;
use rdfm_analysis::streams::{self, NamedGraphs, SubjectShape};

use crate::batch::MessageBatch;
use crate::errors;

/// The messages, and the index in the log, rule and text of each violation.
type CheckedMessages = (MessageBatch, Vec<(u64, &'static str, String)>);

/// The rules of a stream type.
#[pyclass(frozen, module = "rdfm._core")]
pub struct StreamRules {
    rules: streams::StreamRules,
}

#[pymethods]
impl StreamRules {
    /// Create the rules of a stream type.
    ///
    /// Args:
    ///     graphs: Number of named graphs in each message: "none", "one" or "any".
    ///     time: IRI of the time property. The default graph contains exactly one value of
    ///         this property for the named graph.
    ///     subjects: Shapes of the subject node, each a pair of a kind ("class", "subjects-of",
    ///         "objects-of" or "quoted-subjects") and an IRI.
    ///     has_root: Whether all nodes must be reachable from one node.
    ///     generalized_triples: Whether generalized triples are allowed.
    ///     generalized_graphs: Whether literals are allowed as graph names.
    ///     rdf12: Whether triple terms and literals with a base direction are allowed.
    ///
    /// Raises:
    ///     OptionError: If `graphs` or the kind of a shape is unknown.
    #[new]
    #[expect(
        clippy::fn_params_excessive_bools,
        reason = "they are keyword arguments"
    )]
    #[pyo3(signature = (graphs, *, time=None, subjects=Vec::new(), has_root=false, generalized_triples=false, generalized_graphs=false, rdf12=false))]
    fn new(
        graphs: &str,
        time: Option<String>,
        subjects: Vec<(String, String)>,
        has_root: bool,
        generalized_triples: bool,
        generalized_graphs: bool,
        rdf12: bool,
    ) -> PyResult<Self> {
        let graphs = match graphs {
            "none" => NamedGraphs::None,
            "one" => NamedGraphs::One,
            "any" => NamedGraphs::Any,
            _ => {
                return Err(errors::option(format!(
                    "unknown number of named graphs '{graphs}'"
                )));
            }
        };
        let shape = |(kind, iri): (String, String)| match kind.as_str() {
            "class" => Ok(SubjectShape::Class(iri.into_bytes())),
            "subjects-of" => Ok(SubjectShape::SubjectsOf(iri.into_bytes())),
            "objects-of" => Ok(SubjectShape::ObjectsOf(iri.into_bytes())),
            "quoted-subjects" => Ok(SubjectShape::QuotedSubjects),
            _ => Err(errors::option(format!("unknown shape '{kind}'"))),
        };
        Ok(Self {
            rules: streams::StreamRules {
                graphs,
                time: time.map(String::into_bytes),
                subjects: subjects.into_iter().map(shape).collect::<PyResult<_>>()?,
                has_root,
                generalized_triples,
                generalized_graphs,
                rdf12,
            },
        })
    }

    /// Return the messages as quad sets in RiverBench order, and the first violation in each
    /// message.
    #[pyo3(signature = (batch, /))]
    fn apply(&self, py: Python<'_>, batch: &Bound<'_, MessageBatch>) -> PyResult<CheckedMessages> {
        let messages = batch.get().inner();
        let (ordered, violations) = errors::run_guarded(py, || {
            let ordered = streams::sort_messages(messages);
            let violations = self.rules.violations(&ordered);
            (ordered, violations)
        })?;
        let violations = violations
            .into_iter()
            .map(|each| (each.message_index, each.rule, each.text));
        Ok((MessageBatch::new(ordered), violations.collect()))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<StreamRules>()
}

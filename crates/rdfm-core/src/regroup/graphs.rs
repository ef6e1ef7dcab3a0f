//! Moves the default graph into a named graph.
//!
//! - In: batches. Out: the same messages, without quads in the default graph.
//! - Cost: a copy of the batch if it has quads in the default graph.

use crate::model::batch::MessageBatch;
use crate::model::remedy::Reason;

use super::check_iri;

/// Returns the same messages, with the quads of the default graph in the graph with this name.
///
/// # Errors
/// If the name is not an absolute IRI.
pub fn with_default_graph(batch: &MessageBatch, name: &str) -> Result<MessageBatch, Reason> {
    check_iri("default_graph_as", name)?;
    Ok(batch.with_default_graph(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::model::builder::BatchBuilder;
    use crate::model::limits::Limits;
    use crate::model::term::{Quad, TermId, TermKind};

    fn batch(graphs: &[Option<&[u8]>]) -> MessageBatch {
        let mut builder = BatchBuilder::new(Limits::default());
        builder.begin_message(0);
        let iri = builder
            .add_simple(TermKind::Iri, b"http://ex/s", 0)
            .unwrap();
        for graph in graphs {
            let graph = graph.map_or(TermId::DEFAULT_GRAPH, |name| {
                builder.add_simple(TermKind::Iri, name, 0).unwrap()
            });
            builder.push_quad(Quad {
                subject: iri,
                predicate: iri,
                object: iri,
                graph,
            });
        }
        builder.end_message();
        builder.take().unwrap()
    }

    fn graphs(batch: &MessageBatch) -> Vec<&[u8]> {
        let table = batch.table();
        let quads = batch.quads().iter();
        quads.map(|quad| table.text(quad.graph)).collect()
    }

    #[test]
    fn only_the_default_graph_gets_a_name() {
        let given = batch(&[None, Some(b"http://ex/g"), None]);
        let named = with_default_graph(&given, "http://ex/d").unwrap();
        let expected: [&[u8]; 3] = [b"http://ex/d", b"http://ex/g", b"http://ex/d"];
        assert_eq!(graphs(&named), expected);
        assert!(named.has_graphs());
        assert_eq!(
            graphs(&given),
            [&b""[..], b"http://ex/g", b""],
            "the input does not change"
        );
    }

    #[test]
    fn a_name_must_be_an_absolute_iri() {
        let given = batch(&[None]);
        for name in ["", "g", "http://ex/a b", "//ex/g"] {
            assert!(with_default_graph(&given, name).is_err(), "{name}");
        }
    }
}

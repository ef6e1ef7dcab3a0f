//! Writes JSON-LD logs: NDJSON-LD, a single JSON-LD document, and documents in other syntaxes.
//!
//! - In: batches.
//! - Out: one document per message. If the current context is not sufficient, a context message
//!   with the namespaces that the message declares or uses is written before it.
//! - Cost: a few copies of the output; no tree is built.
//! - Law: readers get the same datasets. The text does not depend on how messages are divided into
//!   batches.
//!
//! [`crate::syntax::shape`] finds nodes, nested nodes and lists; [`nodes`] writes them with the [`names`] of the
//! context and [`native`] literals. Readers wrap a document after a context message in
//! `{"@context": C, "@graph": L}`. There, a message with several nodes is written as `{"@included":
//! […]}`, because a `@graph` in L would name a graph.

mod compact;
mod names;
mod native;
mod nodes;

use compact::CompactContext;
use nodes::{Message, NodeWriter};

use crate::codec::Encoder;
use crate::codec::spec::{CodecResult, FormatSpec};
use crate::codec::values::Values;
use crate::formats::jsonld::options::{ContextLines, DocumentWriting};
use crate::formats::jsonld::sink::Sink;
use crate::model::batch::MessageBatch;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::TermId;
use crate::model::write::Style;
use crate::syntax::prefixes::DeclareResult;
use crate::syntax::shape::NestingRule;
use crate::syntax::text::encode::{StatementError, StatementWriter, TextLayout, TextWriter};

/// `@type` cannot contain nodes. Some readers limit the depth.
const NESTING: NestingRule = NestingRule {
    max_depth: 12,
    types: false,
};

/// Returns an encoder that writes the documents of a format to a sink.
///
/// # Errors
/// If an option is invalid.
pub(super) fn new_encoder<S: Sink + 'static>(
    format: &'static FormatSpec,
    values: &Values,
    sink: S,
) -> CodecResult<dyn Encoder> {
    let options = DocumentWriting::from_values(values);
    let single = !format.carries.boundaries;
    let contexts = match options.context_lines {
        ContextLines::First if single => ContextLines::Every,
        contexts => contexts,
    };
    let compact = options.compact_with.as_deref().map(CompactContext::new);
    let compact = compact.transpose()?;
    let merged = single && options.flat;
    if let Some(compact) = &compact {
        if contexts == ContextLines::None {
            let reason = "a context for writing is given, but contexts are not written";
            let first = Remedy::write("context_lines", "first", "writes it");
            return Err(Reason::new(reason).with(first));
        }
        if merged && compact.is_protected() {
            return Err(
                "the context for writing has protected terms, which a document of several messages cannot \
                 override; remove @protected or flat"
                    .into(),
            );
        }
    }
    let documents = DocumentWriter {
        changed: compact.is_some(),
        nodes: NodeWriter::new(sink, compact, options.lenient),
        contexts,
        suspended: false,
        merged,
        open: false,
        foreign_context: false,
    };
    let layout = TextLayout {
        flat: merged,
        ..TextLayout::without_delimiters()
    };
    Ok(Box::new(TextWriter::encoder(
        format, values, layout, documents,
    )))
}

struct DocumentWriter<S> {
    nodes: NodeWriter<S>,
    contexts: ContextLines,
    /// Whether the context differs from the last one written.
    changed: bool,
    /// Whether the context is suspended for one message.
    suspended: bool,
    /// Whether all messages become one document.
    merged: bool,
    /// Whether that document is open.
    open: bool,
    /// Whether a context from an earlier run may be in force.
    foreign_context: bool,
}

/// The container of the nodes in a document.
enum NodesContainer {
    /// A single node is the document.
    None,
    Graph,
    Included,
}

impl<S: Sink> DocumentWriter<S> {
    /// Writes a context message if the context changed.
    fn write_context_message(&mut self, out: &mut Vec<u8>) {
        let foreign = std::mem::take(&mut self.foreign_context);
        if !self.changed || self.contexts != ContextLines::First {
            if foreign {
                self.nodes.sink.begin(out);
                self.nodes.sink.begin_object(out);
                self.nodes.write_null_context(out);
                self.nodes.sink.end_object(out);
                self.nodes.sink.end(out);
            }
            return;
        }
        self.changed = false;
        self.nodes.sink.begin(out);
        self.nodes.sink.begin_object(out);
        if self.suspended {
            self.nodes.write_null_context(out);
        } else {
            self.write_context(out);
        }
        self.nodes.sink.end_object(out);
        self.nodes.sink.end(out);
        self.nodes.names.mark_written();
    }

    /// Writes `"@context": {…}`.
    fn write_context(&mut self, out: &mut Vec<u8>) {
        self.nodes.write_keyword(b"\"@context\"", out);
        match &self.nodes.compact {
            Some(compact) => compact.write(&mut self.nodes.sink, out),
            None => self.nodes.names.write(&mut self.nodes.sink, out),
        }
    }

    /// Writes a document, without the context if `bare`.
    fn write_document(
        &mut self,
        message: Message<'_>,
        bare: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        self.nodes.sink.begin(out);
        self.nodes.sink.begin_object(out);
        let wrapped =
            self.contexts == ContextLines::First && self.nodes.has_context() && !self.suspended;
        if wrapped && bare {
            self.nodes.write_null_context(out);
        } else if message.context && !wrapped {
            self.write_context(out);
        }
        let mut top_nodes = 0;
        for graph in &self.nodes.shape.graphs {
            top_nodes += if graph.name == TermId::DEFAULT_GRAPH {
                let inside = |node: &u32| self.nodes.shape.is_inside(*node);
                graph.nodes.len() - graph.nodes.clone().filter(inside).count()
            } else {
                1
            };
        }
        let holder = match top_nodes {
            0 | 1 => NodesContainer::None,
            _ if wrapped => NodesContainer::Included,
            _ => NodesContainer::Graph,
        };
        self.write_contained_nodes(message, &holder, out)?;
        self.nodes.sink.end_object(out);
        self.nodes.sink.end(out);
        Ok(())
    }

    fn write_contained_nodes(
        &mut self,
        message: Message<'_>,
        holder: &NodesContainer,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let keyword: &[u8] = match holder {
            NodesContainer::None => return self.write_only_node(message, out),
            NodesContainer::Graph => b"\"@graph\"",
            NodesContainer::Included => b"\"@included\"",
        };
        self.nodes.write_keyword(keyword, out);
        self.nodes.sink.begin_array(out);
        self.write_items(message, out)?;
        self.nodes.sink.end_array(out);
        Ok(())
    }

    /// Writes the nodes of the default graph, and an object for each other graph.
    fn write_items(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        for graph in 0..self.nodes.shape.graphs.len() {
            if self.nodes.shape.graphs[graph].name == TermId::DEFAULT_GRAPH {
                self.nodes.write_top_nodes(message, graph, out)?;
            } else {
                self.nodes.begin_top(message, out);
                self.write_named_graph(message, graph, out)?;
                self.nodes.sink.end_object(out);
            }
        }
        Ok(())
    }

    /// Writes the content of the only node or graph.
    fn write_only_node(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let Some(graph) = self.nodes.shape.graphs.first() else {
            return Ok(());
        };
        if graph.name != TermId::DEFAULT_GRAPH {
            return self.write_named_graph(message, 0, out);
        }
        let top = |node: &u32| !self.nodes.shape.is_inside(*node);
        match graph.nodes.clone().find(top) {
            Some(node) => self.nodes.write_node(message, node, out),
            None => Ok(()),
        }
    }

    fn write_named_graph(
        &mut self,
        message: Message<'_>,
        graph: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let name = self.nodes.shape.graphs[graph].name;
        self.nodes.write_id(message, name, out)?;
        self.nodes.write_keyword(b"\"@graph\"", out);
        self.nodes.sink.begin_array(out);
        self.nodes.write_top_nodes(message, graph, out)?;
        self.nodes.sink.end_array(out);
        Ok(())
    }

    /// Opens the only document.
    fn open_document(&mut self, out: &mut Vec<u8>) {
        if !self.open {
            self.open = true;
            self.nodes.sink.begin(out);
            self.nodes.sink.begin_object(out);
            self.nodes.names.include_all();
            if self.nodes.has_context() {
                self.write_context(out);
            }
            self.nodes.write_keyword(b"\"@graph\"", out);
            self.nodes.sink.begin_array(out);
        }
    }
}

impl<S: Sink> StatementWriter for DocumentWriter<S> {
    const PARTS: bool = false;

    fn begin_batch(&mut self, batch: &MessageBatch, out: &[u8]) {
        self.nodes.begin_batch(batch, out);
    }

    fn declare(&mut self, name: &[u8], iri: &[u8], _out: &mut Vec<u8>) -> bool {
        if self.contexts == ContextLines::None {
            return false;
        }
        if let Some(compact) = &self.nodes.compact {
            return compact.has(name, iri);
        }
        if self.open {
            // The only document already has its context.
            return self.nodes.names.has(name, iri);
        }
        match self.nodes.names.declare(name, iri) {
            DeclareResult::Refused => return false,
            DeclareResult::Known => {}
            DeclareResult::New => self.nodes.forget(),
        }
        true
    }

    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        style: Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        // Neither an empty document nor a continued document has a context.
        match self.contexts {
            ContextLines::First => self.changed |= self.nodes.adapt_to(batch, message, false),
            ContextLines::Every if !self.merged && !batch.message(message).is_empty() => {
                self.nodes.adapt_to(batch, message, true);
            }
            _ => {}
        }
        self.write_context_message(out);
        self.nodes.compacting = false;
        if self.merged {
            self.open_document(out);
        }
        let quads = batch.message(message);
        let graphs = batch.has_graphs();
        self.nodes
            .shape
            .analyze(batch.table(), quads, graphs, NESTING);
        let mut content = Message {
            table: batch.table(),
            quads,
            style: &style,
            context: self.contexts != ContextLines::None && self.nodes.has_context(),
            reset: false,
            expanded: self.contexts == ContextLines::None,
        };
        let (start, sink) = (out.len(), self.nodes.sink.clone());
        if content.quads.is_empty() && !self.merged {
            content.context = false;
            return self.write_document(content, false, out);
        }
        self.nodes.hazard = false;
        self.nodes.compacting = self.nodes.compact.is_some();
        if self.merged {
            self.write_items(content, out)?;
        } else {
            self.write_document(content, false, out)?;
        }
        if self.nodes.hazard {
            out.truncate(start);
            self.nodes.sink = sink;
            self.nodes.forget();
            self.nodes.compacting = false;
            content.context = false;
            if self.merged {
                content.reset = true;
                self.write_items(content, out)?;
            } else if self.contexts == ContextLines::First && self.nodes.is_protected() {
                // A message cannot clear a protected context.
                self.suspended = true;
                self.changed = true;
                self.write_context_message(out);
                let result = self.write_document(content, true, out);
                self.suspended = false;
                self.changed = true;
                result?;
            } else {
                self.write_document(content, true, out)?;
            }
            self.nodes.forget();
        } else if content.context {
            self.nodes.names.mark_written();
        }
        Ok(())
    }

    fn continue_log(&mut self) {
        self.foreign_context = true;
        self.nodes.sink.continue_log();
    }

    fn has_twin(&self) -> bool {
        // A context message depends on those before it.
        let is_final = self.contexts != ContextLines::First
            || !(self.changed || self.nodes.is_protected() || self.nodes.names.has_namespaces());
        is_final && !self.merged && !self.foreign_context && !self.nodes.names.has_pending()
    }

    fn twin(&self) -> Option<Self> {
        self.has_twin().then(|| Self {
            nodes: self.nodes.twin(),
            ..*self
        })
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.open {
            self.nodes.sink.end_array(out);
            self.nodes.sink.end_object(out);
            self.nodes.sink.end(out);
            self.open = false;
        }
        self.nodes.sink.finish(out);
    }

    fn reset(&mut self) {
        self.nodes.names = names::ContextNamespaces::default();
        self.nodes.sink.reset();
        self.changed = self.nodes.compact.is_some();
        self.open = false;
        self.foreign_context = false;
    }
}

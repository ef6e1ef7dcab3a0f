//! The formats of this crate: their names, what each can carry, and their codecs.
//!
//! [`Carries`] is the one place that says what a format holds; refusals ([`refuse`]), the table of
//! the docs and the pair tests derive from it.

use crate::batch::{MessageBatch, TermTable};
use crate::codec::{DecodeOptions, Decoder, EncodeOptions, Encoder};
use crate::error::{EncodeError, ErrorClass, quote};
use crate::nquads::LineDecoder;
use crate::term::{Quad, TermId, TermKind};
use crate::text::write::Style;

/// Bytes of terms that an error may show before it cuts them.
const MOST_TOKEN: usize = 200;

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

    /// Whether a decoder can go on after a fault ([`Decoder::skip_message`]).
    pub const fn resumable(self) -> bool {
        matches!(self, Self::Nt | Self::Nq | Self::Ndjsonld)
    }

    /// Whether a log can be read from the middle, at message boundaries found from a byte offset.
    pub const fn splittable(self) -> bool {
        matches!(self, Self::Nt | Self::Nq)
    }

    /// A decoder.
    ///
    /// # Errors
    /// An option does not fit; the text says which.
    pub fn decoder(self, options: &DecodeOptions) -> Result<Box<dyn Decoder>, String> {
        match self {
            Self::Nt => Ok(Box::new(LineDecoder::ntriples(options))),
            Self::Nq => Ok(Box::new(LineDecoder::nquads(options))),
            Self::Jelly => Ok(Box::new(crate::jelly::decode::JellyDecoder::new(options))),
            Self::RdfProtobuf | Self::RdfThrift => Ok(Box::new(
                crate::rdf_binary::decode::BinaryDecoder::new(self, options),
            )),
            Self::RdfXml => crate::rdfxml::decode::decoder(options),
            Self::Ndjsonld => Ok(Box::new(crate::jsonld::lines::NdjsonDecoder::new(options)?)),
            Self::Jsonld => Ok(Box::new(crate::jsonld::document::DocumentDecoder::new(
                options,
            )?)),
            Self::Yamlld => Ok(Box::new(crate::yaml::decode::YamlDecoder::new(options)?)),
            Self::Ttl | Self::Trig => crate::turtle::decode::decoder(self, options),
        }
    }

    /// An encoder.
    ///
    /// # Errors
    /// An option does not fit; the text says which.
    pub fn encoder(self, options: &EncodeOptions) -> Result<Box<dyn Encoder>, String> {
        match self {
            Self::Nt | Self::Nq => crate::nquads::encode::encoder(self, options),
            Self::Ttl | Self::Trig => crate::turtle::encode::encoder(self, options),
            Self::Ndjsonld | Self::Jsonld | Self::Yamlld => {
                crate::jsonld::encode::encoder(self, options)
            }
            Self::Jelly => Ok(Box::new(crate::jelly::encode::JellyEncoder::new(options)?)),
            Self::RdfProtobuf | Self::RdfThrift => {
                crate::rdf_binary::encode::encoder(self, options)
            }
            Self::RdfXml => Ok(Box::new(crate::rdfxml::encode::RdfXmlEncoder::new(options))),
        }
    }
}

/// Refuses the first message of a batch that a format cannot hold. Gives the message's index in the
/// batch beside the error, so that an encoder can write those before it.
///
/// # Errors
/// Names what cannot be held, and the option that would allow it.
pub fn refuse(
    batch: &MessageBatch,
    format: Format,
    merge_graphs: bool,
) -> Result<(), (usize, EncodeError)> {
    let carries = format.carries();
    let graphs = carries.graphs || merge_graphs || !batch.has_graphs();
    if graphs && carries.generalized && carries.triple_terms == TripleTerms::Anywhere {
        return Ok(());
    }
    for message in 0..batch.len() {
        for quad in batch.message(message) {
            if let Some(reason) = refused_quad(batch, *quad, carries, graphs) {
                let error = EncodeError {
                    format: format.name(),
                    class: ErrorClass::Unsupported,
                    reason,
                    message: batch.first_index() + message as u64,
                };
                return Err((message, error));
            }
        }
    }
    Ok(())
}

#[inline]
fn refused_quad(
    batch: &MessageBatch,
    quad: Quad,
    carries: Carries,
    graphs: bool,
) -> Option<String> {
    let kind = |id: TermId| batch.table().term(id).kind;
    if !graphs && quad.graph != TermId::DEFAULT_GRAPH {
        return Some(format!(
            "the format holds no graph names; merge_graphs (--merge-graphs) drops them on purpose; found graph {}",
            token(batch.table(), &[quad.graph])
        ));
    }
    let (s, p, o, g) = (
        kind(quad.subject),
        kind(quad.predicate),
        kind(quad.object),
        kind(quad.graph),
    );
    if carries.triple_terms < TripleTerms::Anywhere
        && (s == TermKind::TripleTerm
            || p == TermKind::TripleTerm
            || g == TermKind::TripleTerm
            || (o == TermKind::TripleTerm && !plain_triple_term(batch, quad.object, carries)))
    {
        let part = [
            (s, quad.subject),
            (p, quad.predicate),
            (g, quad.graph),
            (o, quad.object),
        ]
        .into_iter()
        .find(|(kind, _)| *kind == TermKind::TripleTerm);
        return Some(format!(
            "a triple term {}; N-Quads and Jelly hold these; found {}",
            if carries.triple_terms == TripleTerms::Object {
                "stands elsewhere than as an object, which the format cannot hold"
            } else {
                "cannot be held by the format"
            },
            token(batch.table(), part.map(|(_, id)| id).as_slice())
        ));
    }
    if !carries.generalized
        && (!matches!(s, TermKind::Iri | TermKind::Bnode | TermKind::TripleTerm)
            || p != TermKind::Iri
            || !matches!(g, TermKind::Iri | TermKind::Bnode | TermKind::DefaultGraph))
    {
        return Some(format!(
            "a generalized quad, which the format cannot hold; N-Quads and Jelly hold these; found {}",
            token(
                batch.table(),
                &[quad.subject, quad.predicate, quad.object, quad.graph]
            )
        ));
    }
    None
}

/// Refuses a message behind the first of a log, where nothing stands between messages, unless `flat` says
/// that all are to be one. `begun` counts the messages before it.
///
/// # Errors
/// Names the options that help; `more` adds one of the format's own, such as `; framing=messages …`.
pub fn refuse_second(begun: u64, flat: bool, more: &str) -> Result<(), (ErrorClass, String)> {
    if begun == 0 || flat {
        return Ok(());
    }
    Err((
        ErrorClass::Unsupported,
        format!(
            "a second message, and nothing can stand between messages here; a folder as output or \
             split_messages=1 (--split-messages 1) writes one file a message, flat (--flat) makes them \
             one message{more}"
        ),
    ))
}

/// Terms as N-Triples, cut and safe to print.
#[cold]
fn token(table: &TermTable, ids: &[TermId]) -> String {
    let mut text = Vec::new();
    for &id in ids {
        // What is cut off anyway is not written: a triple term may share its parts.
        if text.len() > MOST_TOKEN {
            break;
        }
        if !text.is_empty() {
            text.push(b' ');
        }
        let style = Style {
            most: MOST_TOKEN,
            ..Style::CANONICAL
        };
        style.write(table, id, &mut text);
    }
    quote(text.trim_ascii_end())
}

/// Whether a triple term is one of RDF 1.2, at every depth.
fn plain_triple_term(batch: &MessageBatch, id: TermId, carries: Carries) -> bool {
    let table = batch.table();
    let term = table.term(id);
    if term.kind != TermKind::TripleTerm {
        return true;
    }
    let [s, p, o] = table.triple(term);
    carries.triple_terms >= TripleTerms::Object
        && matches!(table.term(s).kind, TermKind::Iri | TermKind::Bnode)
        && table.term(p).kind == TermKind::Iri
        && plain_triple_term(batch, o, carries)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    #[test]
    fn a_second_message_is_refused_where_nothing_delimits_unless_all_are_to_be_one() {
        assert_eq!(refuse_second(0, false, ""), Ok(()));
        assert_eq!(refuse_second(1, true, ""), Ok(()));
        let (class, reason) = refuse_second(1, false, "; more").unwrap_err();
        assert_eq!(class, ErrorClass::Unsupported);
        for part in ["--flat", "folder", "--split-messages 1", "; more"] {
            assert!(reason.contains(part), "{reason}");
        }
    }
}

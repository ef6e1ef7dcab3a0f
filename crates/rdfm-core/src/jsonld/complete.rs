//! The complete way: JSON-LD 1.1 by the `oxjsonld` crate.
//!
//! - In: the JSON text of a message.
//! - Out: quads of the open message, each term checked here; or what is wrong.
//! - Cost: some microseconds a quad; memory of the order of the text and its contexts.
//! - Law: no outcome depends on chance: generated labels are counted, of several faults one is chosen.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxjsonld::{JsonLdErrorCode, JsonLdParser, JsonLdRemoteDocument, JsonLdSyntaxError};
use oxrdf::{BaseDirection, GraphName, Literal, NamedOrBlankNode, Term as OxTerm};
use rustc_hash::{FxHashMap, FxHashSet};

use super::iri::is_iri;
use super::loader::Store;
use super::terms::Terms;
use crate::batch::BatchBuilder;
use crate::codec::RdfDirection;
use crate::error::{ErrorClass, LimitExceeded, quote};
use crate::json::{Bounds, Tape, parse};
use crate::term::{Quad, TermId, flags};
use crate::text::chars;

const RDF_VALUE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#value";
const RDF_LANGUAGE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#language";
const RDF_DIRECTION: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#direction";
const RDF_JSON: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";
const I18N: &str = "https://www.w3.org/ns/i18n#";

/// Stands for the language of a value that has a direction and no language.
pub(super) const NO_LANGUAGE: &str = "x-rdfm-none";
/// Faults that are looked at before one is chosen.
const MOST_FAULTS: usize = 64;
/// Characters of a reason of `oxjsonld` that are shown.
const MOST_REASON: usize = 300;
/// Length of the labels that `oxjsonld` makes up: hexadecimal numbers of 128 bits without leading zeros.
const RANDOM_LABEL: std::ops::RangeInclusive<usize> = 20..=32;

/// What is wrong with a message.
pub(super) struct Wrong {
    pub class: ErrorClass,
    pub reason: String,
}

impl From<LimitExceeded> for Wrong {
    fn from(exceeded: LimitExceeded) -> Self {
        Self {
            class: ErrorClass::Limit,
            reason: exceeded.0,
        }
    }
}

fn malformed(reason: String) -> Wrong {
    Wrong {
        class: ErrorClass::Malformed,
        reason,
    }
}

/// What was left out since no context maps its key.
#[derive(Default)]
pub(super) struct LeftOut {
    pub keys: FxHashSet<String>,
    /// There were nodes below these keys.
    pub nodes: bool,
    /// A node with a name, of which other places may speak too.
    pub named: Option<String>,
}

/// Reads with `oxjsonld`.
#[derive(Clone)]
pub(super) struct Complete {
    pub base: Option<String>,
    pub lenient: bool,
    pub direction: RdfDirection,
    pub store: Store,
}

impl Complete {
    /// Whether the JSON-LD algorithms take contexts, given as JSON texts with commas between.
    pub fn takes(&self, contexts: &[u8]) -> bool {
        self.check(contexts).is_ok()
    }

    /// Checks contexts, given as JSON texts with commas between.
    pub fn check(&self, contexts: &[u8]) -> Result<(), Wrong> {
        let text = [b"{\"@context\":[", contexts, b"],\"@graph\":[]}"].concat();
        self.quads(&text, |_| Ok(()))
    }

    /// Adds the quads of a document to the open message. What was left out is told in any case.
    pub fn read(
        &self,
        text: &[u8],
        terms: &mut Terms,
        builder: &mut BatchBuilder,
    ) -> (Result<(), Wrong>, LeftOut) {
        let mut made = Made {
            way: self,
            terms,
            builder,
            generated: FxHashMap::default(),
            ignored: FxHashSet::default(),
            left: LeftOut::default(),
        };
        let outcome = self.quads(text, |quad| made.quad(&quad));
        (outcome, made.left)
    }

    /// Runs the parser. It drops terms that are none without a word; asked to check little, it hands
    /// them over, and they are checked where terms are made.
    fn quads(
        &self,
        text: &[u8],
        each: impl FnMut(oxrdf::Quad) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let work = AssertUnwindSafe(|| self.run(text, each));
        catch_unwind(work).unwrap_or_else(|_| {
            Err(Wrong {
                class: ErrorClass::Internal,
                reason: "the JSON-LD parser broke down on this message; please report it"
                    .to_owned(),
            })
        })
    }

    fn run(
        &self,
        text: &[u8],
        mut each: impl FnMut(oxrdf::Quad) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let mut parser = JsonLdParser::new().lenient();
        if let Some(base) = &self.base {
            parser = parser
                .with_base_iri(base.clone())
                .map_err(|error| malformed(error.to_string()))?;
        }
        let store = AssertUnwindSafe(self.store.clone());
        let quads = parser
            .for_slice(text)
            .with_load_document_callback(move |url, _| {
                let store = &store;
                let loaded = store.load(url)?;
                Ok(JsonLdRemoteDocument {
                    document: loaded.explicit.clone(),
                    document_url: loaded.url.clone(),
                })
            });
        let mut faults: Vec<Wrong> = Vec::new();
        for quad in quads {
            match quad {
                Ok(quad) if faults.is_empty() => each(quad)?,
                Ok(_) => break,
                Err(error) => faults.push(Self::wrong(&error)),
            }
            if faults.len() >= MOST_FAULTS {
                break;
            }
        }
        // The order in which they were found is that of a hash map with a random key.
        faults
            .into_iter()
            .min_by(|a, b| a.reason.cmp(&b.reason))
            .map_or(Ok(()), Err)
    }

    fn wrong(error: &JsonLdSyntaxError) -> Wrong {
        let mut reason = error.to_string();
        let loading = matches!(
            error.code(),
            Some(JsonLdErrorCode::LoadingRemoteContextFailed)
        ) || reason.contains("Failed to load remote context");
        if loading {
            if let Some(start) = reason.find(": the context ") {
                reason.drain(..start + 2);
            }
        } else if let Some(key) = reason.find("Unexpected key in term definition") {
            // Which of several keys it names is chance.
            reason.truncate(key);
            reason
                .push_str("a term definition of a context holds a key that JSON-LD does not know");
        }
        if let Some(code) = error.code().filter(|_| !loading) {
            reason = format!("{reason} (JSON-LD: {code})");
        }
        let shown: String = reason
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(MOST_REASON.max(if loading { 600 } else { 0 }))
            .collect();
        malformed(shown)
    }
}

/// Whether `oxjsonld` may have made up a label.
fn is_random(label: &str) -> bool {
    RANDOM_LABEL.contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Makes the terms of one message.
struct Made<'a> {
    way: &'a Complete,
    terms: &'a mut Terms,
    builder: &'a mut BatchBuilder,
    /// Labels that `oxjsonld` made up.
    generated: FxHashMap<String, TermId>,
    /// Nodes below the last key that means nothing.
    ignored: FxHashSet<String>,
    left: LeftOut,
}

/// A term; None where it is none and `lenient` leaves its quad out.
type Found = Result<Option<TermId>, Wrong>;

impl Made<'_> {
    fn quad(&mut self, quad: &oxrdf::Quad) -> Result<(), Wrong> {
        let below = match &quad.subject {
            NamedOrBlankNode::NamedNode(node) => node.as_str(),
            NamedOrBlankNode::BlankNode(node) => node.as_str(),
        };
        // A key without a colon that no context knows: JSON-LD leaves it out, and what is below it,
        // which follows at once.
        let unknown = !quad.predicate.as_str().contains(':');
        let below = match &quad.graph_name {
            GraphName::NamedNode(node) if self.ignored.contains(node.as_str()) => node.as_str(),
            GraphName::BlankNode(node) if self.ignored.contains(node.as_str()) => node.as_str(),
            _ => below,
        };
        if unknown || self.ignored.contains(below) {
            if unknown && !self.left.keys.contains(quad.predicate.as_str()) {
                self.left.keys.insert(quad.predicate.as_str().to_owned());
            } else if !unknown && self.left.named.is_none() && !is_random(below) {
                self.left.named = Some(below.to_owned());
            }
            let node = match &quad.object {
                OxTerm::NamedNode(node) => node.as_str(),
                OxTerm::BlankNode(node) => node.as_str(),
                OxTerm::Literal(_) | OxTerm::Triple(_) => return Ok(()),
            };
            self.left.nodes = true;
            self.ignored.insert(node.to_owned());
            return Ok(());
        }
        self.ignored.clear();
        let graph = match &quad.graph_name {
            GraphName::DefaultGraph => Some(TermId::DEFAULT_GRAPH),
            GraphName::NamedNode(node) => self.iri(node.as_str(), "the graph name")?,
            GraphName::BlankNode(node) => self.bnode(node.as_str())?,
        };
        let subject = match &quad.subject {
            NamedOrBlankNode::NamedNode(node) => self.iri(node.as_str(), "the @id")?,
            NamedOrBlankNode::BlankNode(node) => self.bnode(node.as_str())?,
        };
        let predicate = self.iri(quad.predicate.as_str(), "the property")?;
        let object = match &quad.object {
            OxTerm::NamedNode(node) => self.iri(node.as_str(), "the @id or @type")?,
            OxTerm::BlankNode(node) => self.bnode(node.as_str())?,
            OxTerm::Literal(literal) => self.literal(literal, graph)?,
            OxTerm::Triple(_) => return Err(malformed("a triple term".to_owned())),
        };
        if let (Some(subject), Some(predicate), Some(object), Some(graph)) =
            (subject, predicate, object, graph)
        {
            self.builder.add_quad(Quad {
                subject,
                predicate,
                object,
                graph,
            })?;
        }
        Ok(())
    }

    /// Refuses a text, or leaves its quad out.
    fn refuse(&self, what: &str, text: &str, why: &str) -> Found {
        if self.way.lenient {
            return Ok(None);
        }
        let shown = quote(text.as_bytes());
        Err(malformed(format!(
            "{what} {shown} {why}; lenient (--lenient) leaves its quads out, as JSON-LD has it"
        )))
    }

    fn iri(&mut self, text: &str, what: &str) -> Found {
        if is_iri(text.as_bytes()) {
            return Ok(Some(self.terms.iri(self.builder, text.as_bytes())?));
        }
        if text.starts_with("_:") {
            return self.refuse(what, text, "is a blank node, which cannot stand there");
        }
        let relative = oxiri::IriRef::parse(text).is_ok_and(|iri| !iri.is_absolute());
        let why = match (relative, &self.way.base) {
            (true, None) => "is a relative IRI, and no base (--base) or @base is given",
            (true, Some(_)) => "is a relative IRI that nothing makes absolute",
            (false, _) => "is no IRI",
        };
        self.refuse(what, text, why)
    }

    fn bnode(&mut self, label: &str) -> Found {
        if is_random(label) {
            if let Some(&id) = self.generated.get(label) {
                self.builder.charge(16)?;
                return Ok(Some(id));
            }
            let id = self.terms.anonymous(self.builder)?;
            self.generated.insert(label.to_owned(), id);
            return Ok(Some(id));
        }
        if !chars::is_label(label) {
            return self.refuse("the blank node label", label, "is none");
        }
        Ok(Some(self.terms.bnode(self.builder, label.as_bytes())?))
    }

    fn literal(&mut self, literal: &Literal, graph: Option<TermId>) -> Found {
        let text = literal.value().as_bytes();
        let Some(language) = literal.language() else {
            let datatype = literal.datatype().as_str();
            if !is_iri(datatype.as_bytes()) {
                return self.refuse("the datatype", datatype, "is no absolute IRI");
            }
            if super::context::is_language_type(datatype.as_bytes()) {
                return self.refuse("the datatype", datatype, "needs a language");
            }
            if datatype.as_bytes() == RDF_JSON {
                return self.json(literal.value());
            }
            let made = self
                .terms
                .typed(self.builder, text, false, datatype.as_bytes());
            return Ok(Some(made?));
        };
        let known = (language != NO_LANGUAGE).then_some(language);
        if let Some(language) = known
            && !chars::is_language_tag(language.as_bytes())
        {
            return self.refuse("the language", language, "is no language tag");
        }
        let direction = literal.direction();
        let name = match direction {
            Some(BaseDirection::Ltr) => "ltr",
            Some(BaseDirection::Rtl) => "rtl",
            None => "",
        };
        if direction.is_none() || self.way.direction == RdfDirection::None {
            let made = match known {
                Some(tag) => self
                    .terms
                    .tagged(self.builder, text, false, tag.as_bytes(), 0),
                None => Terms::string(self.builder, text, false),
            };
            return Ok(Some(made?));
        }
        match self.way.direction {
            RdfDirection::I18n => {
                let tag = known.unwrap_or_default().to_ascii_lowercase();
                let datatype = format!("{I18N}{tag}_{name}");
                let made = self
                    .terms
                    .typed(self.builder, text, false, datatype.as_bytes());
                Ok(Some(made?))
            }
            RdfDirection::Compound => self.compound(text, known, name, graph),
            RdfDirection::Literal | RdfDirection::None => {
                let Some(tag) = known else {
                    return Err(malformed(format!(
                        "the value {} has a base direction and no language, which RDF 1.2 cannot hold; \
                         rdf_direction i18n-datatype or compound-literal (--rdf-direction) keeps it, \
                         none leaves directions out",
                        quote(text)
                    )));
                };
                let flag = if name == "ltr" {
                    flags::LTR
                } else {
                    flags::RTL
                };
                let made = self
                    .terms
                    .tagged(self.builder, text, false, tag.as_bytes(), flag);
                Ok(Some(made?))
            }
        }
    }

    /// A literal of JSON, which may hold what looks like a value with a direction.
    fn json(&mut self, text: &str) -> Found {
        let text = text.replace(&format!("\"@language\":\"{NO_LANGUAGE}\","), "");
        let bounds = Bounds {
            max_depth: u32::MAX,
            max_bytes: u64::MAX,
            duplicates: true,
        };
        if text.contains("Infinity") && parse(text.as_bytes(), &mut Tape::new(), &bounds).is_err() {
            return Err(malformed(
                "a JSON literal holds a number beyond the range of doubles, which has no canonical form"
                    .to_owned(),
            ));
        }
        let made = self
            .terms
            .typed(self.builder, text.as_bytes(), false, RDF_JSON);
        Ok(Some(made?))
    }

    /// A blank node that says what a literal with a direction says.
    fn compound(
        &mut self,
        text: &[u8],
        language: Option<&str>,
        direction: &str,
        graph: Option<TermId>,
    ) -> Found {
        let Some(graph) = graph else {
            return Ok(None);
        };
        let subject = self.terms.anonymous(self.builder)?;
        let language = language.map(str::to_ascii_lowercase);
        let parts = [
            (RDF_VALUE, Some(text)),
            (RDF_LANGUAGE, language.as_deref().map(str::as_bytes)),
            (RDF_DIRECTION, Some(direction.as_bytes())),
        ];
        for (predicate, text) in parts {
            let Some(text) = text else {
                continue;
            };
            let predicate = self.terms.iri(self.builder, predicate)?;
            let object = Terms::string(self.builder, text, false)?;
            self.builder.add_quad(Quad {
                subject,
                predicate,
                object,
                graph,
            })?;
        }
        Ok(Some(subject))
    }
}

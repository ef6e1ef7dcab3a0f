//! JSON-LD by the `oxjsonld` crate, fenced.
//!
//! - In: a document.
//! - Out: its quads, each term checked here; or that it is refused.
//! - What the crate is known to get wrong, and another document of the same meaning avoids, is avoided so
//!   ([`Oracle::repaired`]); the rest is listed in [`super::standing`].
//! - Law: it may give other outcomes on another run, since it goes through terms in the order of a hash map.

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use oxjsonld::{JsonLdErrorCode, JsonLdParser, JsonLdRemoteDocument};
use oxrdf::{BaseDirection, GraphName, NamedOrBlankNode, Term as OxTerm};
use rdfm_core::codec::options::{BASE, LENIENT};
use rdfm_core::codec::values::Values;
use rdfm_core::formats::jsonld::options::RdfDirection;
use rdfm_core::model::chars;
use rdfm_core::model::term::flags;

use super::facts::{Facts, has_keyword_form};
use super::json::{Json, Members};
use crate::message::Term;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const I18N: &str = "https://www.w3.org/ns/i18n#";
/// Stands for the language of a value that has a direction and no language: without one it loses that.
const NO_LANGUAGE: &str = "x-rdfm-none";
/// Begins the name of a node, or a value, by which it is found out what a key stands for.
const PROBE: &str = "x-probe:";
/// Takes the place of a key that stands for nothing.
const DROPPED: &str = "@dropped";

/// Begins the label of a node that stands for a value with a direction.
const DIRECTED: &str = "directed value ";

/// What the oracle says of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Its quads.
    Read(Vec<[Term; 4]>),
    /// Why it is refused.
    Refused(String),
    /// The crate panicked.
    Panicked,
    /// What the crate gives cannot be told apart from what it should have left out.
    Unclear,
}

/// How to read.
pub struct Oracle {
    /// What relative IRIs are resolved against.
    pub base: Option<String>,
    /// Quads of terms that are none are left out.
    pub lenient: bool,
    /// What base directions become.
    pub direction: RdfDirection,
    /// Remote contexts by URL.
    pub remotes: Vec<(String, Json)>,
}

/// What the crate gave.
#[derive(Default)]
struct Given {
    quads: Vec<oxrdf::Quad>,
    errors: Vec<(Option<JsonLdErrorCode>, String)>,
    panicked: bool,
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs what may panic, without a word; libFuzzer would end the process in its hook.
fn silently(work: impl FnOnce()) -> bool {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                before(info);
            }
        }));
    });
    INSIDE.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(false);
    outcome.is_ok()
}

impl Oracle {
    /// An oracle that reads as the options of a decoder say, with remote contexts by their URLs.
    pub fn new(options: &Values, remotes: &[(&str, &str)]) -> Self {
        let remotes = remotes.iter().filter_map(|(url, text)| {
            let mut document = Json::parse(text.as_bytes())?;
            if let Json::Object(members) = &mut document {
                for (_, value) in members.iter_mut().filter(|(key, _)| key == "@context") {
                    *value = context(value);
                }
            }
            Some(((*url).to_owned(), document))
        });
        Self {
            base: options.text(&BASE).map(str::to_owned),
            lenient: options.switch(&LENIENT),
            direction: RdfDirection::of(options),
            remotes: remotes.collect(),
        }
    }

    /// Runs the crate. Asked to check little, it hands over terms that are none, and takes an `@type` anywhere.
    fn run(&self, text: &str, lenient: bool) -> Given {
        let mut given = Given::default();
        let remotes: Vec<(String, String)> = self
            .remotes
            .iter()
            .map(|(url, document)| (url.clone(), document.to_string()))
            .collect();
        let done = silently(|| {
            let mut parser = JsonLdParser::new();
            if lenient {
                parser = parser.lenient();
            }
            if let Some(base) = &self.base {
                parser = parser
                    .with_base_iri(base.clone())
                    .expect("a base is an IRI");
            }
            let results = parser
                .for_slice(text)
                .with_load_document_callback(move |url, _| {
                    let found = remotes.iter().find(|(known, _)| known == url);
                    let (url, document) = found.ok_or("no such context")?;
                    Ok(JsonLdRemoteDocument {
                        document: document.clone().into_bytes(),
                        document_url: url.clone(),
                    })
                });
            for result in results {
                match result {
                    Ok(quad) => given.quads.push(quad),
                    Err(error) => given.errors.push((error.code(), error.to_string())),
                }
            }
        });
        given.panicked = !done;
        given
    }

    /// What it says of a document that was repaired.
    pub fn verdict(&self, text: &str) -> Verdict {
        let given = self.run(text, true);
        if given.panicked {
            return Verdict::Panicked;
        }
        if let Some((_, reason)) = given.errors.into_iter().next() {
            return Verdict::Refused(reason);
        }
        let mut made = Made {
            oracle: self,
            quads: Vec::new(),
            nodes: 0,
        };
        let mut left_out = Vec::new();
        for quad in &given.quads {
            if !quad.predicate.as_str().contains(':') {
                return Verdict::Unclear;
            }
            match made.quad(quad) {
                Ok(true) => {}
                Ok(false) => left_out.push(&quad.object),
                Err(reason) => return Verdict::Refused(reason),
            }
        }
        Verdict::Read(made.without(&cells(&given.quads, left_out)))
    }

    /// Whether it refuses the document where it checks more.
    pub fn refuses_strictly(&self, text: &str) -> bool {
        let given = self.run(text, false);
        given
            .errors
            .iter()
            .any(|(code, _)| !matches!(code, Some(JsonLdErrorCode::InvalidStreamingKeyOrder)))
    }

    /// The document, which means the same, without what the crate is known to get wrong.
    pub fn repaired(&self, document: &Json) -> Json {
        let facts = Facts::new(document, self);
        let mut changed = self.changed(&facts, document);
        self.drop_keys(&mut changed);
        let facts = Facts::new(&changed, self);
        pruned(&facts, &changed)
    }

    /// Contexts, numbers and values with directions changed.
    fn changed(&self, facts: &Facts<'_>, value: &Json) -> Json {
        match value {
            Json::Number(token) => Json::Number(rounded(token)),
            Json::Array(items) => {
                Json::Array(items.iter().map(|item| self.changed(facts, item)).collect())
            }
            Json::Object(members) => {
                let is_json = facts
                    .value(value, "@type")
                    .is_some_and(|kind| kind.items().iter().any(|one| is_json_type(facts, one)));
                let mut out: Members = Vec::new();
                for (key, value) in members {
                    let value = match key.as_str() {
                        "@context" => context(value),
                        _ if facts.is_json(key) => numbers(value),
                        _ if facts.is(key, "@value") => match value {
                            Json::Number(token) if !is_json => Json::Number(rounded(token)),
                            value => numbers(value),
                        },
                        _ => self.changed(facts, value),
                    };
                    out.push((key.clone(), value));
                }
                let lacks_language = facts.value(value, "@value").and_then(Json::text).is_some()
                    && facts
                        .value(value, "@direction")
                        .and_then(Json::text)
                        .is_some()
                    && !facts.has(value, "@language")
                    && !facts.has(value, "@type");
                if lacks_language && self.direction != RdfDirection::None {
                    out.push(("@language".to_owned(), Json::string(NO_LANGUAGE)));
                }
                Json::Object(out)
            }
            value => value.clone(),
        }
    }

    /// Replaces keys that stand for no IRI, with what is below them: the crate looks at it, and gives its quads.
    /// What a key stands for is asked of the crate itself, by a node or a value in place of its value.
    fn drop_keys(&self, document: &mut Json) {
        let mut known: HashSet<Vec<usize>> = HashSet::new();
        loop {
            let facts = Facts::new(document, self);
            let mut asking = Asking {
                facts: &facts,
                known: &known,
                asked: Vec::new(),
                path: Vec::new(),
            };
            let probe = asking.with_questions(document, false);
            let asked = asking.asked;
            if asked.is_empty() {
                return;
            }
            let given = self.run(&probe.to_string(), true);
            let dropped: HashSet<usize> = given
                .quads
                .iter()
                .filter(|quad| !quad.predicate.as_str().contains(':'))
                .filter_map(probe_number)
                .collect();
            for (number, path) in asked.into_iter().enumerate() {
                if dropped.contains(&number) {
                    let (key, value) = member(document, &path);
                    DROPPED.clone_into(key);
                    *value = Json::Null;
                } else {
                    known.insert(path);
                }
            }
        }
    }
}

/// The cells of lists that begin with these terms: a list is made for the quad that it is the object of.
fn cells<'a>(quads: &'a [oxrdf::Quad], mut heads: Vec<&'a OxTerm>) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    while let Some(head) = heads.pop() {
        let OxTerm::BlankNode(head) = head else {
            continue;
        };
        let of_head = |quad: &&oxrdf::Quad| quad.subject == NamedOrBlankNode::from(head.clone());
        let quads: Vec<&oxrdf::Quad> = quads.iter().filter(of_head).collect();
        // The labels that the crate makes up are long.
        let is_cell = head.as_str().len() >= 16
            && quads
                .iter()
                .any(|quad| quad.predicate == oxrdf::vocab::rdf::REST);
        if is_cell && found.insert(head.as_str()) {
            heads.extend(quads.into_iter().map(|quad| &quad.object));
        }
    }
    found
}

/// Asks what keys stand for, from the outside on.
struct Asking<'a> {
    facts: &'a Facts<'a>,
    /// Paths of keys that need not be asked about.
    known: &'a HashSet<Vec<usize>>,
    /// Paths of the keys asked about, by number.
    asked: Vec<Vec<usize>>,
    path: Vec<usize>,
}

impl Asking<'_> {
    /// The value with a question in place of each value whose key is asked about.
    fn with_questions(&mut self, value: &Json, in_reverse: bool) -> Json {
        match value {
            Json::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(at, item)| {
                    self.path.push(at);
                    let found = self.with_questions(item, in_reverse);
                    self.path.pop();
                    found
                });
                Json::Array(items.collect())
            }
            Json::Object(members) => self.of_object(members, in_reverse),
            value => value.clone(),
        }
    }

    fn of_object(&mut self, members: &[(String, Json)], in_reverse: bool) -> Json {
        let open: Vec<bool> = (0..members.len())
            .map(|at| self.is_open(&members[at].0, at))
            .collect();
        // What an alias stands for may decide what other keys do, so it is asked first; but the map of @reverse
        // has no keywords.
        let first = |key: &str| !in_reverse && self.facts.is_alias(key);
        let open_members = members.iter().zip(&open).filter(|(_, open)| **open);
        let firsts = open_members.into_iter().any(|((key, _), _)| first(key));
        let first: Vec<bool> = members.iter().map(|(key, _)| first(key)).collect();
        let mut out = Vec::new();
        for (at, (key, value)) in members.iter().enumerate() {
            self.path.push(at);
            let literal =
                key == "@context" || self.facts.is(key, "@value") || self.facts.is_json(key);
            let value = if open[at] && first[at] == firsts {
                let keyword = if firsts { "@value" } else { "@id" };
                let answer = Json::String(format!("{PROBE}{}", self.asked.len()));
                self.asked.push(self.path.clone());
                Json::Object(vec![(keyword.to_owned(), answer)])
            } else if literal || open.contains(&true) {
                // Of an object with keys to drop the crate may pass over the rest, which has to wait.
                value.clone()
            } else {
                self.with_questions(value, self.facts.is(key, "@reverse"))
            };
            self.path.pop();
            if key != DROPPED {
                out.push((key.clone(), value));
            }
        }
        Json::Object(out)
    }

    /// Whether it is not known what the key of a member stands for.
    fn is_open(&mut self, key: &str, at: usize) -> bool {
        self.path.push(at);
        let known = self.known.contains(&self.path);
        self.path.pop();
        !known && !key.contains(':') && !has_keyword_form(key)
    }
}

/// The number of the question that a quad answers: it is of the node, or has the value, that was asked with.
fn probe_number(quad: &oxrdf::Quad) -> Option<usize> {
    let (object, is_node) = match &quad.object {
        OxTerm::NamedNode(node) => (node.as_str(), true),
        OxTerm::BlankNode(_) => ("", true),
        OxTerm::Literal(literal) => (literal.value(), false),
        OxTerm::Triple(_) => return None,
    };
    let subject = match &quad.subject {
        NamedOrBlankNode::NamedNode(node) if is_node => node.as_str(),
        _ => "",
    };
    let found = subject.strip_prefix(PROBE);
    found.or_else(|| object.strip_prefix(PROBE))?.parse().ok()
}

/// The member of a document at the end of a path of places in arrays and objects.
fn member<'a>(document: &'a mut Json, path: &[usize]) -> (&'a mut String, &'a mut Json) {
    let (last, before) = path.split_last().expect("a path to a member");
    let mut at = document;
    for &place in before {
        at = match at {
            Json::Array(items) => &mut items[place],
            Json::Object(members) => &mut members[place].1,
            _ => unreachable!("a path goes through arrays and objects"),
        };
    }
    let Json::Object(members) = at else {
        unreachable!("a path ends in an object");
    };
    let (key, value) = &mut members[*last];
    (key, value)
}

/// A value without the members that mean nothing: those dropped, and those whose value is null.
fn pruned(facts: &Facts<'_>, value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(|item| pruned(facts, item)).collect()),
        Json::Object(members) => {
            let mut out = Vec::new();
            for (key, value) in members {
                let keyword = has_keyword_form(key) || facts.is_alias(key);
                if key == DROPPED || (*value == Json::Null && !keyword && !facts.is_json(key)) {
                    continue;
                }
                let literal = key == "@context" || facts.is(key, "@value") || facts.is_json(key);
                let value = if literal {
                    value.clone()
                } else {
                    pruned(facts, value)
                };
                out.push((key.clone(), value));
            }
            Json::Object(out)
        }
        value => value.clone(),
    }
}

/// A context, or an array of them, changed.
fn context(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(context).collect()),
        Json::Object(members) => {
            let protects = value.get("@protected") == Some(&Json::Bool(true));
            let members = members.iter().map(|(name, value)| {
                let value = if has_keyword_form(name) {
                    value.clone()
                } else {
                    definition(name, value, protects)
                };
                (name.clone(), value)
            });
            Json::Object(members.collect())
        }
        value => value.clone(),
    }
}

/// A definition changed, where its context protects all or not.
fn definition(name: &str, value: &Json, protects: bool) -> Json {
    let yes = || ("@protected".to_owned(), Json::Bool(true));
    let Json::Object(members) = value else {
        // A definition that another one refers to is made without the protection of its context.
        return if protects && matches!(value, Json::String(_) | Json::Null) {
            Json::Object(vec![yes(), ("@id".to_owned(), value.clone())])
        } else {
            value.clone()
        };
    };
    let has = |key: &str| value.get(key).is_some();
    let by_type = value
        .get("@container")
        .is_some_and(|found| found.items().contains(&Json::string("@type")));
    let mut out: Members = Vec::new();
    for (key, value) in members {
        match key.as_str() {
            // "If value contains the entry @language and does not contain the entry @type"; so with @direction.
            "@language" | "@direction" if has("@type") => {}
            // Strings of such a term have the language of the context: for expansion it has no type.
            "@type" if value.text() == Some("@none") && !by_type => {}
            "@context" => out.push((key.clone(), context(value))),
            // The crate looks for @type before @set and finds none, since it sorts them. Sets are no RDF.
            "@container" if by_type && value.items().len() == 2 => {
                let rest = value
                    .items()
                    .iter()
                    .filter(|item| item.text() != Some("@set"));
                out.push((key.clone(), Json::Array(rest.cloned().collect())));
            }
            _ => out.push((key.clone(), value.clone())),
        }
    }
    if protects && !has("@protected") {
        out.push(yes());
    }
    // Only a simple term becomes a prefix unasked.
    if !has("@prefix") && !name.contains([':', '/']) {
        out.push(("@prefix".to_owned(), Json::Bool(false)));
    }
    Json::Object(out)
}

fn is_json_type(facts: &Facts<'_>, kind: &Json) -> bool {
    kind.text().is_some_and(|text| facts.is(text, "@json"))
}

/// A JSON literal with its numbers changed.
fn numbers(value: &Json) -> Json {
    match value {
        Json::Number(token) => Json::Number(shortest(token)),
        Json::Array(items) => Json::Array(items.iter().map(numbers).collect()),
        Json::Object(members) => {
            let members = members.iter();
            Json::Object(
                members
                    .map(|(key, value)| (key.clone(), numbers(value)))
                    .collect(),
            )
        }
        value => value.clone(),
    }
}

/// A number that is no integer below 10^21, in the digits of the nearest double: the crate keeps all digits.
fn shortest(token: &str) -> String {
    as_double(token).map_or_else(|| token.to_owned(), |number| format!("{number:e}"))
}

/// As [`shortest`], rounded as the canonical form of an xsd:double is.
fn rounded(token: &str) -> String {
    as_double(token).map_or_else(|| token.to_owned(), canonical)
}

/// The nearest double of a number that is no integer below 10^21.
fn as_double(token: &str) -> Option<f64> {
    let number = token.parse::<f64>().ok()?;
    let as_double = (has_fraction(token) && number.fract() != 0.0) || number.abs() >= 1e21;
    (as_double && number.is_finite()).then_some(number)
}

/// A double with at most 15 digits after the point (R, Data Round Tripping).
pub(super) fn canonical(number: f64) -> String {
    let text = format!("{number:.15e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{mantissa}e{exponent}")
}

/// Whether a number that is written so is no integer.
pub(super) fn has_fraction(token: &str) -> bool {
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let zeros = match fraction {
        "" => whole.len() - whole.trim_end_matches('0').len(),
        _ => 0,
    };
    let zero = fraction.is_empty() && whole.trim_start_matches(['-', '0']).is_empty();
    let Ok(exponent) = exponent.parse::<i64>() else {
        return exponent.starts_with('-') && !zero;
    };
    let digits = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let zeros = i64::try_from(zeros).unwrap_or(i64::MAX);
    !zero && exponent + zeros < digits
}

/// Makes the quads of a document.
struct Made<'a> {
    oracle: &'a Oracle,
    quads: Vec<[Term; 4]>,
    /// Blank nodes for values with directions.
    nodes: usize,
}

/// A term; None where it is none and its quad is left out.
type Found = Result<Option<Term>, String>;

impl Made<'_> {
    /// The quads, those of some cells left out, and of the values in them.
    fn without(self, cells: &HashSet<&str>) -> Vec<[Term; 4]> {
        let is_cell =
            |term: &Term| matches!(term, Term::Bnode(label) if cells.contains(label.as_str()));
        let is_value =
            |term: &Term| matches!(term, Term::Bnode(label) if label.starts_with(DIRECTED));
        let quads = self.quads.into_iter();
        let quads: Vec<[Term; 4]> = quads.filter(|quad| !is_cell(&quad[0])).collect();
        let said: HashSet<Term> = quads.iter().map(|quad| quad[2].clone()).collect();
        quads
            .into_iter()
            .filter(|quad| !is_value(&quad[0]) || said.contains(&quad[0]))
            .collect()
    }

    /// Adds a quad; false where it is left out.
    fn quad(&mut self, quad: &oxrdf::Quad) -> Result<bool, String> {
        let graph = match &quad.graph_name {
            GraphName::DefaultGraph => Some(Term::DefaultGraph),
            GraphName::NamedNode(node) => self.iri(node.as_str())?,
            GraphName::BlankNode(node) => self.bnode(node.as_str())?,
        };
        let subject = match &quad.subject {
            NamedOrBlankNode::NamedNode(node) => self.iri(node.as_str())?,
            NamedOrBlankNode::BlankNode(node) => self.bnode(node.as_str())?,
        };
        let predicate = self.iri(quad.predicate.as_str())?;
        let object = match &quad.object {
            OxTerm::NamedNode(node) => self.iri(node.as_str())?,
            OxTerm::BlankNode(node) => self.bnode(node.as_str())?,
            OxTerm::Literal(literal) => self.literal(literal, graph.as_ref())?,
            OxTerm::Triple(_) => unreachable!("JSON-LD has no triple terms"),
        };
        if let (Some(subject), Some(predicate), Some(object), Some(graph)) =
            (subject, predicate, object, graph)
        {
            self.quads.push([subject, predicate, object, graph]);
            return Ok(true);
        }
        Ok(false)
    }

    /// Leaves a quad out, or refuses the document.
    fn none(&self, what: &str, text: &str) -> Found {
        if self.oracle.lenient {
            Ok(None)
        } else {
            Err(format!("{what}: {text}"))
        }
    }

    fn iri(&self, text: &str) -> Found {
        match oxiri::Iri::parse(text) {
            Ok(_) => Ok(Some(Term::Iri(text.to_owned()))),
            Err(_) => self.none("no IRI", text),
        }
    }

    fn bnode(&self, label: &str) -> Found {
        if chars::is_label(label) {
            Ok(Some(Term::Bnode(label.to_owned())))
        } else {
            self.none("no label", label)
        }
    }

    fn literal(&mut self, literal: &oxrdf::Literal, graph: Option<&Term>) -> Found {
        let text = literal.value().to_owned();
        let Some(language) = literal.language() else {
            return self.typed(text, literal.datatype().as_str());
        };
        let language = (language != NO_LANGUAGE).then_some(language);
        if let Some(language) = language
            && !chars::is_language_tag(language.as_bytes())
        {
            return self.none("no language tag", language);
        }
        let (name, flag) = match literal.direction() {
            Some(BaseDirection::Ltr) => ("ltr", flags::LTR),
            Some(BaseDirection::Rtl) => ("rtl", flags::RTL),
            None => ("", 0),
        };
        let tag = || language.map(str::to_owned);
        if flag == 0 || self.oracle.direction == RdfDirection::None {
            return Ok(Some(Term::Literal(text, tag(), 0, None)));
        }
        let lower = language.map(str::to_ascii_lowercase);
        match self.oracle.direction {
            RdfDirection::I18n => {
                let datatype = format!("{I18N}{}_{name}", lower.unwrap_or_default());
                Ok(Some(Term::Literal(text, None, 0, Some(datatype))))
            }
            RdfDirection::Compound => {
                let Some(graph) = graph else {
                    return Ok(None);
                };
                self.nodes += 1;
                let node = Term::Bnode(format!("{DIRECTED}{}", self.nodes));
                let parts = [
                    ("value", Some(text)),
                    ("language", lower),
                    ("direction", Some(name.to_owned())),
                ];
                for (predicate, text) in parts {
                    if let Some(text) = text {
                        let predicate = Term::Iri(format!("{RDF}{predicate}"));
                        let object = Term::Literal(text, None, 0, None);
                        self.quads
                            .push([node.clone(), predicate, object, graph.clone()]);
                    }
                }
                Ok(Some(node))
            }
            RdfDirection::Literal | RdfDirection::None if language.is_none() => {
                Err("a direction without a language".to_owned())
            }
            RdfDirection::Literal | RdfDirection::None => {
                Ok(Some(Term::Literal(text, tag(), flag, None)))
            }
        }
    }

    fn typed(&self, text: String, datatype: &str) -> Found {
        if oxiri::Iri::parse(datatype).is_err() {
            return self.none("no datatype", datatype);
        }
        match datatype.strip_prefix(RDF) {
            Some("langString" | "dirLangString") => return self.none("needs a language", datatype),
            Some("JSON") => {
                if text.contains("Infinity") && Json::parse(text.as_bytes()).is_none() {
                    return Err("a number beyond doubles in a JSON literal".to_owned());
                }
                return Ok(Some(Term::Literal(
                    text,
                    None,
                    0,
                    Some(datatype.to_owned()),
                )));
            }
            _ => {}
        }
        let other =
            (datatype != "http://www.w3.org/2001/XMLSchema#string").then(|| datatype.to_owned());
        Ok(Some(Term::Literal(text, None, 0, other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_fraction_are_told_from_integers() {
        for token in [
            "1.5",
            "1e-1",
            "0.10",
            "15e-1",
            "1.25e1",
            "1e-99999999999999999999",
        ] {
            assert!(has_fraction(token), "{token}");
        }
        for token in [
            "1",
            "1.0",
            "10e-1",
            "1.5e1",
            "-0.0",
            "0e-5",
            "1e99999999999999999999",
        ] {
            assert!(!has_fraction(token), "{token}");
        }
    }
}

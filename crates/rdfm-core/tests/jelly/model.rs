//! Messages as plain values: from batches, from N-Quads-star text, and back into batches.

use std::collections::HashMap;

use rdfm_core::codec::Decoder;
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::term::{NO_SPLIT, Quad, Term as Record, TermId, TermKind, XSD_STRING, flags};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Default,
    Iri(String),
    BlankNode(String),
    /// Lexical form, language with direction, datatype.
    Literal(String, Option<String>, Option<String>),
    Triple(Box<[Term; 3]>),
}

pub type Statement = [Term; 4];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    pub statements: Vec<Statement>,
    pub metadata: Vec<(String, Vec<u8>)>,
    pub namespaces: Vec<(String, String)>,
    pub position: u64,
}

fn string(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub fn term(batch: &MessageBatch, id: TermId) -> Term {
    let table = batch.table();
    let record = table.term(id);
    let text = string(table.text_of(record));
    match record.kind {
        TermKind::DefaultGraph => Term::Default,
        TermKind::Iri => Term::Iri(text),
        TermKind::BlankNode => Term::BlankNode(text),
        TermKind::Literal => Term::Literal(text, None, None),
        TermKind::LangLiteral => {
            let direction = match record.flags & (flags::LTR | flags::RTL) {
                flags::LTR => "--ltr",
                flags::RTL => "--rtl",
                _ => "",
            };
            let language = string(table.text(TermId(record.aux))) + direction;
            Term::Literal(text, Some(language), None)
        }
        TermKind::TypedLiteral => {
            Term::Literal(text, None, Some(string(table.text(TermId(record.aux)))))
        }
        TermKind::TripleTerm => {
            Term::Triple(Box::new(table.triple(record).map(|part| term(batch, part))))
        }
        TermKind::Language => panic!("a quad contains a language tag"),
    }
}

pub fn messages(batch: &MessageBatch) -> Vec<Message> {
    (0..batch.len())
        .map(|index| Message {
            statements: batch
                .message(index)
                .iter()
                .map(|quad| {
                    [quad.subject, quad.predicate, quad.object, quad.graph]
                        .map(|id| term(batch, id))
                })
                .collect(),
            metadata: batch
                .metadata(index)
                .iter()
                .map(|entry| (entry.key.to_string(), entry.value.to_vec()))
                .collect(),
            namespaces: batch
                .namespaces(index)
                .iter()
                .map(|(name, iri)| (string(name), string(iri)))
                .collect(),
            position: batch.byte_offset(index).unwrap(),
        })
        .collect()
}

/// Returns the messages, with parts joined, and the error's text.
pub fn outcome(
    decoder: &mut dyn Decoder,
    data: &[u8],
    piece: usize,
) -> (Vec<Message>, Option<String>) {
    let mut actual: Vec<Message> = Vec::new();
    let mut pieces = data.chunks(piece.max(1));
    let mut finished = false;
    loop {
        match decoder.next_batch_of::<Quad>() {
            Ok(Some(batch)) => {
                let mut new = messages(&batch);
                let first = actual.len() - usize::from(batch.continued());
                assert_eq!(batch.first_message_index() as usize, first);
                if batch.continued() {
                    let rest = new.remove(0);
                    let last = actual.last_mut().unwrap();
                    last.statements.extend(rest.statements);
                    last.metadata.extend(rest.metadata);
                    last.namespaces = rest.namespaces;
                }
                actual.extend(new);
            }
            Ok(None) => {
                if let Some(piece) = pieces.next() {
                    decoder.feed(piece);
                } else if finished {
                    return (actual, None);
                } else {
                    decoder.finish();
                    finished = true;
                }
            }
            Err(error) => {
                assert_eq!(
                    decoder.next_batch_of::<Quad>().unwrap_err(),
                    error,
                    "the error is repeated"
                );
                return (actual, Some(error.to_string()));
            }
        }
    }
}

/// Decodes a log in one piece and in several, and checks that the results are equal.
pub fn decode_every_way(
    make: &dyn Fn() -> Box<dyn Decoder>,
    data: &[u8],
) -> (Vec<Message>, Option<String>) {
    let whole = outcome(&mut *make(), data, data.len());
    for size in [1, 2, 3, 7, 4096] {
        assert_eq!(
            outcome(&mut *make(), data, size),
            whole,
            "in pieces of {size} bytes"
        );
    }
    whole
}

/// Builds batches of messages.
pub struct BatchMaker {
    pub builder: BatchBuilder,
    known: HashMap<Term, TermId>,
}

impl BatchMaker {
    pub fn new() -> Self {
        Self {
            builder: BatchBuilder::new(Limits::default()),
            known: HashMap::new(),
        }
    }

    fn add(&mut self, term: &Term) -> TermId {
        if *term == Term::Default {
            return TermId::DEFAULT_GRAPH;
        }
        if let Some(id) = self.known.get(term) {
            return *id;
        }
        let id = match term {
            Term::Default => TermId::DEFAULT_GRAPH,
            Term::Iri(text) => self.simple(TermKind::Iri, text),
            Term::BlankNode(text) => self.simple(TermKind::BlankNode, text),
            Term::Literal(text, None, None) => self.simple(TermKind::Literal, text),
            Term::Literal(text, Some(language), _) => {
                let (tag, direction) = match language.rsplit_once("--") {
                    Some((tag, "ltr")) => (tag, flags::LTR),
                    Some((tag, "rtl")) => (tag, flags::RTL),
                    _ => (language.as_str(), 0),
                };
                let aux = self.simple(TermKind::Language, tag);
                self.with_aux(TermKind::LangLiteral, text, aux, direction)
            }
            Term::Literal(text, None, Some(datatype)) => {
                let aux = self.add(&Term::Iri(datatype.clone()));
                self.with_aux(TermKind::TypedLiteral, text, aux, 0)
            }
            Term::Triple(parts) => {
                let ids = [0, 1, 2].map(|index| self.add(&parts[index]));
                self.builder.add_triple_term(ids).unwrap()
            }
        };
        self.known.insert(term.clone(), id);
        id
    }

    fn simple(&mut self, kind: TermKind, text: &str) -> TermId {
        self.builder.add_simple(kind, text.as_bytes(), 0).unwrap()
    }

    fn with_aux(&mut self, kind: TermKind, text: &str, aux: TermId, flags: u8) -> TermId {
        let span = self.builder.add_text(text.as_bytes()).unwrap();
        self.builder
            .add_term(Record {
                offset: span.offset,
                length: span.length,
                aux: aux.0,
                split: NO_SPLIT,
                kind,
                flags,
            })
            .unwrap()
    }

    pub fn statement(&mut self, statement: &Statement) {
        let [subject, predicate, object, graph] =
            [0, 1, 2, 3].map(|index| self.add(&statement[index]));
        self.builder
            .add_quad(Quad {
                subject,
                predicate,
                object,
                graph,
            })
            .unwrap();
    }

    pub fn message(&mut self, message: &Message) {
        self.builder.begin_message(0);
        for (name, iri) in &message.namespaces {
            self.builder
                .add_namespace(name.as_bytes(), iri.as_bytes())
                .unwrap();
        }
        for statement in &message.statements {
            self.statement(statement);
        }
        for (key, value) in &message.metadata {
            self.builder.add_metadata(key, value).unwrap();
        }
        self.builder.end_message();
    }

    pub fn take(&mut self) -> MessageBatch {
        self.known.clear();
        self.builder.take().unwrap()
    }
}

impl BatchMaker {
    /// Returns the complete messages and the first part of the open one.
    pub fn take_part(&mut self) -> MessageBatch {
        self.known.clear();
        self.builder.take_part()
    }
}

/// Returns one batch with the messages.
pub fn batch(messages: &[Message]) -> MessageBatch {
    let mut maker = BatchMaker::new();
    for message in messages {
        maker.message(message);
    }
    maker.take()
}

/// Parses generalized N-Quads-star.
pub fn parse_nquads(text: &str) -> Vec<Statement> {
    let mut statements = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        let mut terms = Vec::new();
        while !rest.starts_with('.') {
            let (term, after) = parse_term(rest);
            terms.push(term);
            rest = after.trim_start();
        }
        if terms.len() == 3 {
            terms.push(Term::Default);
        }
        statements.push(terms.try_into().expect(line));
    }
    statements
}

fn parse_term(text: &str) -> (Term, &str) {
    if let Some(rest) = text.strip_prefix("<<(") {
        return parse_triple(rest, ")>>");
    }
    if let Some(rest) = text.strip_prefix("<<") {
        return parse_triple(rest, ">>");
    }
    if let Some(rest) = text.strip_prefix('<') {
        let end = rest.find('>').unwrap();
        return (Term::Iri(unescape(&rest[..end])), &rest[end + 1..]);
    }
    if let Some(rest) = text.strip_prefix("_:") {
        let end = rest.find([' ', '\t']).unwrap_or(rest.len());
        return (Term::BlankNode(rest[..end].to_owned()), &rest[end..]);
    }
    let rest = text.strip_prefix('"').expect(text);
    let mut end = 0;
    while !rest[end..].starts_with('"') {
        end += if rest[end..].starts_with('\\') { 2 } else { 1 };
        while !rest.is_char_boundary(end) {
            end += 1;
        }
    }
    let lexical = unescape(&rest[..end]);
    let rest = &rest[end + 1..];
    if let Some(rest) = rest.strip_prefix("^^<") {
        let end = rest.find('>').unwrap();
        let datatype = unescape(&rest[..end]);
        let datatype = (datatype.as_bytes() != XSD_STRING).then_some(datatype);
        return (Term::Literal(lexical, None, datatype), &rest[end + 1..]);
    }
    if let Some(rest) = rest.strip_prefix('@') {
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .unwrap_or(rest.len());
        return (
            Term::Literal(lexical, Some(rest[..end].to_owned()), None),
            &rest[end..],
        );
    }
    (Term::Literal(lexical, None, None), rest)
}

fn parse_triple<'a>(text: &'a str, end: &str) -> (Term, &'a str) {
    let (s, rest) = parse_term(text.trim_start());
    let (p, rest) = parse_term(rest.trim_start());
    let (o, rest) = parse_term(rest.trim_start());
    let rest = rest.trim_start().strip_prefix(end).expect(text);
    (Term::Triple(Box::new([s, p, o])), rest)
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next().unwrap() {
            't' => out.push('\t'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            kind @ ('u' | 'U') => {
                let length = if kind == 'u' { 4 } else { 8 };
                let code: String = chars.by_ref().take(length).collect();
                let code = u32::from_str_radix(&code, 16).unwrap();
                out.push(char::from_u32(code).unwrap());
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether two lists of statements are equal, in order, under a renaming of blank nodes.
pub fn same(a: &[Statement], b: &[Statement]) -> bool {
    let mut forward = HashMap::new();
    let mut backward = HashMap::new();
    a.len() == b.len()
        && a.iter()
            .flatten()
            .zip(b.iter().flatten())
            .all(|(a, b)| same_term(a, b, &mut forward, &mut backward))
}

fn same_term(
    a: &Term,
    b: &Term,
    forward: &mut HashMap<String, String>,
    backward: &mut HashMap<String, String>,
) -> bool {
    match (a, b) {
        (Term::BlankNode(a), Term::BlankNode(b)) => {
            forward.entry(a.clone()).or_insert_with(|| b.clone()) == b
                && backward.entry(b.clone()).or_insert_with(|| a.clone()) == a
        }
        (Term::Triple(a), Term::Triple(b)) => a
            .iter()
            .zip(b.iter())
            .all(|(a, b)| same_term(a, b, forward, backward)),
        _ => a == b,
    }
}

//! The laws of strict codecs, with a term in every position.
//!
//! - Strict: what a strict encoder writes, the strict decoder of the format reads as the same
//!   message, even with another base. Otherwise the message is rejected. If the format has an
//!   option `lenient`, the error names it for each IRI or datatype.
//! - Lenient: what a lenient encoder writes, the lenient decoder without a base reads as the same
//!   message, if it accepts the message. JSON-LD decoders drop invalid terms.
//! - Text: the output depends only on the terms, and not on the format from which they were read.

use std::sync::Arc;

use rdfm_core::codec::spec::{FormatSpec, Kind};
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::builder::LogBuilder;
use rdfm_core::model::error::{EncodeError, ErrorClass};
use rdfm_core::model::limits::Limits;
use rdfm_core::model::record::{Operation, OperationCode, ResultHead};
use rdfm_core::model::term::{Quad, TermId, TermKind};

use crate::decode::{batches, outcome};
use crate::encode::{are_equal, encode_with};
use crate::message::{Message, Term, ToValues, messages};
use crate::options::{Reading, Writing};
use crate::targets;

/// Records that may contain a term in several positions.
pub trait Positions: ToValues {
    /// Sets the header for the records of [`with_term`](Self::with_term).
    fn set_head(_builder: &mut LogBuilder<Self>) {}

    /// Returns records with the term, each in another position. `iri` is an ordinary IRI.
    fn with_term(builder: &mut LogBuilder<Self>, term: TermId, iri: TermId) -> Vec<Self>;
}

/// Returns quads with the term in each position.
fn quads(term: TermId, iri: TermId) -> Vec<Quad> {
    let quad = Quad {
        subject: iri,
        predicate: iri,
        object: iri,
        graph: TermId::DEFAULT_GRAPH,
    };
    vec![
        Quad {
            subject: term,
            ..quad
        },
        Quad {
            predicate: term,
            ..quad
        },
        Quad {
            object: term,
            ..quad
        },
        Quad {
            graph: term,
            ..quad
        },
    ]
}

/// Returns triple terms with the term in each position.
fn add_triple_terms<R: Positions>(
    builder: &mut LogBuilder<R>,
    term: TermId,
    iri: TermId,
) -> [TermId; 3] {
    [[term, iri, iri], [iri, term, iri], [iri, iri, term]]
        .map(|parts| builder.add_triple_term(parts).expect("within the limits"))
}

impl Positions for Quad {
    fn with_term(builder: &mut LogBuilder<Self>, term: TermId, iri: TermId) -> Vec<Self> {
        let mut all = quads(term, iri);
        for triple in add_triple_terms(builder, term, iri) {
            all.push(Self {
                object: triple,
                ..Operation::bare(OperationCode::Add).quad()
            });
        }
        for quad in &mut all[4..] {
            (quad.subject, quad.predicate) = (iri, iri);
        }
        all
    }
}

impl Positions for Operation {
    fn with_term(builder: &mut LogBuilder<Self>, term: TermId, iri: TermId) -> Vec<Self> {
        let name = builder.add_simple(TermKind::Literal, b"n", 0);
        let name = name.expect("within the limits");
        let is_iri = builder.table().term(term).kind == TermKind::Iri;
        let mut all: Vec<Self> = quads(term, iri)
            .into_iter()
            .map(|quad| Self::new(OperationCode::Add, quad))
            .collect();
        let mut other = |code| {
            all.push(Self {
                name,
                object: term,
                ..Self::bare(code)
            });
        };
        other(OperationCode::Header);
        if is_iri {
            other(OperationCode::AddPrefix);
        }
        all
    }
}

impl Positions for TermId {
    fn set_head(builder: &mut LogBuilder<Self>) {
        builder.set_head(Arc::new(ResultHead {
            variables: vec!["x".into()],
            ..ResultHead::default()
        }));
    }

    fn with_term(builder: &mut LogBuilder<Self>, term: TermId, iri: TermId) -> Vec<Self> {
        let mut all = vec![term];
        all.extend(add_triple_terms(builder, term, iri));
        all
    }
}

/// Adds a term without any statement about its text.
fn add<R: Positions>(builder: &mut LogBuilder<R>, term: &Term) -> TermId {
    let mut simple = |kind, text: &str| {
        let id = builder.add_simple(kind, text.as_bytes(), 0);
        id.expect("within the limits")
    };
    let added = match term {
        Term::Iri(text) => return simple(TermKind::Iri, text),
        Term::BlankNode(text) => return simple(TermKind::BlankNode, text),
        Term::Literal(text, None, _, None) => return simple(TermKind::Literal, text),
        Term::Literal(text, Some(tag), direction, _) => {
            let tag = simple(TermKind::Language, tag);
            builder.add_with_aux(TermKind::LangLiteral, text.as_bytes(), tag.0, *direction)
        }
        Term::Literal(text, None, _, Some(datatype)) => {
            let datatype = simple(TermKind::Iri, datatype);
            builder.add_with_aux(TermKind::TypedLiteral, text.as_bytes(), datatype.0, 0)
        }
        Term::Triple(parts) => {
            let parts = parts.each_ref().map(|part| add(builder, part));
            builder.add_triple_term(parts)
        }
        Term::DefaultGraph | Term::Code(_) => panic!("not a term that can be added"),
    };
    added.expect("within the limits")
}

/// Returns a batch for each position of a term. If `declare`, an IRI is also declared as a
/// namespace.
fn batches_with<R: Positions>(term: &Term, declare: bool) -> Vec<LogBatch<R>> {
    let positions = {
        let mut builder = LogBuilder::<R>::new(Limits::default());
        let ids = (add(&mut builder, term), add(&mut builder, &plain_iri()));
        R::with_term(&mut builder, ids.0, ids.1).len()
    };
    (0..positions)
        .map(|position| {
            let mut builder = LogBuilder::<R>::new(Limits::default());
            R::set_head(&mut builder);
            if let (Term::Iri(iri), true) = (term, declare) {
                let declared = builder.add_namespace(b"n", iri.as_bytes());
                declared.expect("within the limits");
            }
            builder.begin_message(0);
            let ids = (add(&mut builder, term), add(&mut builder, &plain_iri()));
            let record = R::with_term(&mut builder, ids.0, ids.1)[position];
            builder.add(record).expect("within the limits");
            builder.end_message();
            builder.take().expect("a message")
        })
        .collect()
}

fn plain_iri() -> Term {
    Term::Iri("http://example.org/a".to_owned())
}

/// Whether an error names `lenient`, if an IRI or a datatype is invalid.
fn names_remedy(error: &EncodeError, format: &FormatSpec) -> bool {
    let has_lenient = format.writes().any(|option| option.name == "lenient");
    let names = |name| {
        error
            .reason
            .remedies()
            .iter()
            .any(|remedy| remedy.option == name)
    };
    let text = error.reason.text();
    // No reader of the format restores these IRIs.
    let is_misread = text.starts_with("readers of the format would read the IRI");
    !has_lenient || names("lenient") || is_misread || !text.contains("the IRI")
}

fn check_round_trips<R: Positions>(format: &'static FormatSpec, term: &Term, batch: &LogBatch<R>) {
    let expected: Vec<Message> = messages(batch);
    let reading = Reading::new(format).with_if_supported("generalized", true);
    let strict = reading.clone().with_if_supported("base", "file:///b/c");
    let written = write(&Writing::new(format), batch);
    match &written {
        Ok(out) => expect_same(&strict, out, &expected, term),
        Err(error) => assert!(
            error.class == ErrorClass::Unsupported && names_remedy(error, format),
            "{}: {term:?}: {error}",
            format.name
        ),
    }
    if format.writes().any(|option| option.name == "lenient") {
        let lenient = write(&Writing::new(format).with("lenient", true), batch);
        let reading = reading.with("lenient", true);
        if let Ok(out) = &lenient
            && outcome(&reading, out, out.len()).error.is_none()
            && (written.is_ok() || !format.name.ends_with("ld"))
        {
            expect_same(&reading, out, &expected, term);
        }
    }
}

/// Checks that every format writes a batch that was read from `format` like the original batch.
fn check_text<R: Positions>(format: &'static FormatSpec, term: &Term, batch: &LogBatch<R>) {
    let writing = Writing::new(format).with_if_supported("generalized", true);
    let reading = Reading::new(format).with_if_supported("generalized", true);
    let Ok(bytes) = write(&writing, batch) else {
        return;
    };
    let (batches, _) = batches::<R>(&reading, &bytes);
    // A format that changes the term breaks another law.
    let Some(batches) = batches.first().filter(|batches| {
        let (batches, expected) = (messages(batches), messages(batch));
        batches[0].records == expected[0].records
    }) else {
        return;
    };
    for target in targets(format).filter(|target| !target.carries.namespaces) {
        let (one, other) = (
            write(&Writing::new(target), batch),
            write(&Writing::new(target), batches),
        );
        assert!(
            one == other,
            "{} -> {}: {term:?} is written as {other:?}, not {one:?}",
            format.name,
            target.name,
        );
    }
}

fn write<R: Positions>(writing: &Writing, batch: &LogBatch<R>) -> Result<Vec<u8>, EncodeError> {
    let (out, error) = encode_with(&mut *writing.encoder(), std::slice::from_ref(batch));
    error.map_or(Ok(out), Err)
}

fn expect_same(reading: &Reading, out: &[u8], expected: &[Message], term: &Term) {
    let actual = outcome(reading, out, out.len());
    let text = String::from_utf8_lossy(out);
    assert_eq!(actual.error, None, "{reading:?}: {term:?}: {text}");
    assert!(
        are_equal(&actual.messages, expected, reading.format),
        "{reading:?}: {term:?} is read back as another term: {text}\n{:#?}",
        actual.messages
    );
}

/// Checks the laws for a term in a format.
pub fn check_term(format: &'static FormatSpec, term: &Term) {
    fn of<R: Positions>(format: &'static FormatSpec, term: &Term) {
        for declare in [false, true] {
            for batch in batches_with::<R>(term, declare) {
                check_round_trips(format, term, &batch);
            }
        }
        for batch in batches_with::<R>(term, false) {
            check_text(format, term, &batch);
        }
    }
    match format.kinds[0] {
        Kind::Messages => of::<Quad>(format, term),
        Kind::Patches => of::<Operation>(format, term),
        Kind::Results => of::<TermId>(format, term),
    }
}

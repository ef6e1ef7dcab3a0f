//! The text encoders: their output and errors, which do not depend on batch boundaries.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a failing unwrap is a failing test

use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::error::EncodeError;
use rdfm_core::model::limits::Limits;
use rdfm_core::model::term::{Quad, TermId, TermKind, flags};
use rdfm_core::registry;

use crate::support::{Options, archive, decode, decoder, encoder, lines, shared};

const TEXT_FORMATS: [&str; 4] = ["nt", "nq", "ttl", "trig"];

/// A term: the default graph, an IRI, a blank node, a string, a literal with a datatype or `@tag`,
/// or a triple term.
#[derive(Clone, Debug)]
enum T {
    D,
    I(&'static str),
    B(&'static str),
    S(&'static str),
    L(&'static str, &'static str),
    Q(Box<[T; 3]>),
}
use T::{B, D, I, L, Q, S};

fn add_term(builder: &mut BatchBuilder, term: &T) -> TermId {
    let mut simple = |kind, text: &str| builder.add_simple(kind, text.as_bytes(), 0).unwrap();
    match term {
        D => TermId::DEFAULT_GRAPH,
        I(text) => simple(TermKind::Iri, text),
        B(text) => simple(TermKind::BlankNode, text),
        S(text) => simple(TermKind::Literal, text),
        L(text, type_or_tag) => {
            let (kind, aux, bits) = match type_or_tag.strip_prefix('@') {
                Some(tag) => {
                    let (tag, bits) = match tag.split_once("--") {
                        Some((tag, "ltr")) => (tag, flags::LTR),
                        Some((tag, _)) => (tag, flags::RTL),
                        None => (tag, 0),
                    };
                    (TermKind::LangLiteral, simple(TermKind::Language, tag), bits)
                }
                None => (
                    TermKind::TypedLiteral,
                    simple(TermKind::Iri, type_or_tag),
                    0,
                ),
            };
            builder
                .add_with_aux(kind, text.as_bytes(), aux.0, bits)
                .unwrap()
        }
        Q(parts) => {
            let triple = [0, 1, 2].map(|index: usize| add_term(builder, &parts[index]));
            builder.add_triple_term(triple).unwrap()
        }
    }
}

/// One step of building a log.
#[derive(Clone, Debug)]
enum Step {
    Quad(T, T, T, T),
    Prefix(&'static str, &'static str),
    /// Ends the message and begins the next one.
    Next,
}
use Step::{Next, Prefix};

fn q(subject: T, predicate: T, object: T, graph: T) -> Step {
    Step::Quad(subject, predicate, object, graph)
}

fn spo(subject: &'static str, predicate: &'static str, object: T) -> Step {
    q(I(subject), I(predicate), object, D)
}

/// Division of a log into batches.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Whole,
    EveryMessage,
    EveryQuad,
}
const CUTS: [Cut; 3] = [Cut::Whole, Cut::EveryMessage, Cut::EveryQuad];

/// A log of at least one message, in batches.
fn log(steps: &[Step], cut: Cut) -> Vec<MessageBatch> {
    let mut builder = BatchBuilder::new(Limits::default());
    let mut batches = Vec::new();
    builder.begin_message(0);
    for step in steps {
        match step {
            Step::Quad(s, p, o, g) => {
                if matches!(cut, Cut::EveryQuad) {
                    batches.push(builder.take_part());
                }
                let [subject, predicate, object, graph] =
                    [s, p, o, g].map(|term| add_term(&mut builder, term));
                builder
                    .add_quad(Quad {
                        subject,
                        predicate,
                        object,
                        graph,
                    })
                    .unwrap();
            }
            Prefix(name, iri) => builder
                .add_namespace(name.as_bytes(), iri.as_bytes())
                .unwrap(),
            Next => {
                builder.end_message();
                if !matches!(cut, Cut::Whole) {
                    batches.extend(builder.take());
                }
                builder.begin_message(0);
            }
        }
    }
    builder.end_message();
    batches.extend(builder.take());
    batches
}

fn encode(
    format: &str,
    options: &Options,
    batches: &[MessageBatch],
) -> (String, Result<(), EncodeError>) {
    let mut encoder = encoder(format, options).unwrap();
    let mut out = Vec::new();
    let mut result = Ok(());
    for batch in batches {
        result = encoder.encode(batch.into(), &mut out);
        if let Err(error) = &result {
            assert_eq!(encoder.encode(batch.into(), &mut out).as_ref(), Err(error));
            assert_eq!(encoder.finish(&mut out).as_ref(), Err(error));
            break;
        }
    }
    if result.is_ok() {
        encoder.finish(&mut out).unwrap();
    }
    (String::from_utf8(out).unwrap(), result)
}

/// Encodes a log as text, and checks that batch boundaries do not affect the result.
fn text(format: &str, options: &Options, steps: &[Step]) -> String {
    let (whole, result) = encode(format, options, &log(steps, Cut::Whole));
    result.unwrap();
    for cut in CUTS {
        let (cut_text, result) = encode(format, options, &log(steps, cut));
        result.unwrap();
        assert_eq!(cut_text, whole, "{cut:?}");
    }
    whole
}

fn error(format: &str, options: &Options, steps: &[Step]) -> (String, String) {
    let (out, result) = encode(format, options, &log(steps, Cut::Whole));
    (out, result.unwrap_err().to_string())
}

fn default() -> Options {
    Options::default()
}

fn directive() -> Options {
    Options::with("dialect", "directive")
}

fn flat() -> Options {
    Options::with("dialect", "plain")
}

fn lenient() -> Options {
    Options::with("lenient", true)
}

#[test]
fn quads_are_canonical_lines() {
    let steps = [
        q(I("x:s"), I("x:p"), S("a\n\"b\\"), I("x:g")),
        q(
            B("x y"),
            I("x:p"),
            L("5", "http://www.w3.org/2001/XMLSchema#integer"),
            D,
        ),
        q(B("b"), I("x:p"), L("chat", "@fr-CA"), B("g")),
        q(S("s"), B("p"), L("x", "@ar--rtl"), S("g")),
        q(
            I("x:s"),
            I("x:p"),
            Q(Box::new([
                I("x:a"),
                I("x:b"),
                Q(Box::new([B("c"), I("x:d"), S("e")])),
            ])),
            D,
        ),
    ];
    let lines = text("nq", &default(), &steps);
    assert_eq!(
        lines,
        "<x:s> <x:p> \"a\\n\\\"b\\\\\" <x:g> .\n\
         _:_gx782079 <x:p> \"5\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n\
         _:b <x:p> \"chat\"@fr-CA _:g .\n\
         \"s\" _:p \"x\"@ar--rtl \"g\" .\n\
         <x:s> <x:p> <<( <x:a> <x:b> <<( _:c <x:d> \"e\" )>> )>> .\n"
    );
    let star = Options::with("rdf_star_syntax", true);
    assert!(
        text("nq", &star, &steps)
            .ends_with("<x:s> <x:p> << <x:a> <x:b> << _:c <x:d> \"e\" >> >> .\n")
    );
}

/// Every log of up to four messages, each empty or with one quad.
fn patterns() -> Vec<Vec<bool>> {
    (1..=4)
        .flat_map(|count| {
            (0..1 << count)
                .map(move |bits: u32| (0..count).map(|index| bits >> index & 1 == 1).collect())
        })
        .collect()
}

fn pattern_steps(pattern: &[bool]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, quad) in pattern.iter().enumerate() {
        if index > 0 {
            steps.push(Next);
        }
        if *quad {
            steps.push(spo("http://ex/s", "http://ex/p", S("o")));
        }
    }
    steps
}

/// Returns the messages that our decoder reads, with each quad as a line of N-Quads.
fn read(format: &str, text: &str) -> Vec<Vec<String>> {
    let mut options = Options::with("lenient", true);
    if matches!(format, "nt" | "nq") {
        options = options.and("generalized", true);
    }
    let outcome = decode(format, &options, text.as_bytes(), usize::MAX);
    assert_eq!(outcome.error, None, "{text}");
    outcome.messages
}

/// The quads of each message of a log, as lines of N-Quads.
fn lines_of(batches: &[MessageBatch]) -> Vec<Vec<String>> {
    batches
        .iter()
        .flat_map(|batch| (0..batch.len()).map(|message| lines(batch, message)))
        .collect()
}

#[test]
fn messages_round_trip_in_both_dialects() {
    for pattern in patterns() {
        let steps = pattern_steps(&pattern);
        for format in TEXT_FORMATS {
            for options in [default(), directive()] {
                let text = text(format, &options, &steps);
                let reread = read(format, &text);
                assert_eq!(reread, lines_of(&log(&steps, Cut::Whole)), "{text}");
            }
        }
    }
}

#[test]
#[ignore = "reads suites"]
fn w3c_suites_round_trip() {
    let Some(suite) = shared("conformance/w3c/w3c-rdf-tests.tar.gz") else {
        return;
    };
    let mut count = 0;
    for (path, content) in &archive(&suite) {
        let source = match path.rsplit_once('.') {
            Some((_, "nt")) => "nt",
            Some((_, "nq")) => "nq",
            Some((_, "ttl")) => "ttl",
            Some((_, "trig")) => "trig",
            _ => continue,
        };
        let options = if matches!(source, "ttl" | "trig") {
            Options::with("base", "http://example.org/base")
        } else {
            default()
        };
        let expected = decode(source, &options, content, usize::MAX);
        if expected.error.is_some() {
            continue;
        }
        let mut decoder = decoder(source, &options).unwrap();
        decoder.feed(content);
        decoder.finish();
        let batches: Vec<MessageBatch> =
            std::iter::from_fn(|| decoder.next_batch_of::<Quad>().unwrap()).collect();
        for target in TEXT_FORMATS {
            if !registry::find(target).unwrap().carries.graphs
                && batches.iter().any(MessageBatch::has_graphs)
            {
                continue;
            }
            let (text, result) = encode(target, &default(), &batches);
            result.unwrap();
            let reread = read(target, &text);
            assert_eq!(reread, expected.messages, "{path} as {target}: {text}");
            if matches!(target, "nt" | "nq") {
                let written: Vec<&str> =
                    text.lines().filter(|line| *line != "# @message").collect();
                assert_eq!(written, expected.messages.concat(), "{path}");
            }
            count += 1;
        }
    }
    assert_eq!(count, 3804, "round trips");
}

#[test]
fn delimiters_separate_messages() {
    let delimited = |pattern: &[bool], options: &Options| {
        text("nt", options, &pattern_steps(pattern))
            .replace("<http://ex/s> <http://ex/p> \"o\" .\n", "q ")
            .replace("# @message\n", "D ")
            .replace("MESSAGE\n", "D ")
    };
    assert_eq!(delimited(&[true], &default()), "q ");
    assert_eq!(delimited(&[true, true], &default()), "q D q ");
    assert_eq!(delimited(&[false], &default()), "D D ");
    assert_eq!(delimited(&[false, true], &default()), "D D q ");
    assert_eq!(delimited(&[true, false], &default()), "q D D ");
    assert_eq!(delimited(&[false, false], &default()), "D D D ");
    let version = "VERSION \"1.2-messages\"\n";
    assert_eq!(
        delimited(&[true, true], &directive()),
        format!("{version}q D q ")
    );
    assert_eq!(delimited(&[false], &directive()), format!("{version}D "));
    assert_eq!(
        delimited(&[false, true], &directive()),
        format!("{version}D q ")
    );
    assert_eq!(
        delimited(&[true, false], &directive()),
        format!("{version}q D D ")
    );
    assert_eq!(delimited(&[true, false, true], &flat()), "q q ");
}

#[test]
fn a_log_without_messages_is_empty_or_only_announces_messages() {
    for format in TEXT_FORMATS {
        assert_eq!(encode(format, &default(), &[]).0, "");
        assert_eq!(
            encode(format, &directive(), &[]).0,
            "VERSION \"1.2-messages\"\n"
        );
    }
}

#[test]
fn a_version_label_that_does_not_announce_messages_is_rejected() {
    let options = directive().and("version_label", "1.2\" .");
    let error = encoder("nq", &options).err().unwrap();
    assert!(
        error
            .text()
            .contains("'1.2\" .' does not announce messages"),
        "{error}"
    );
}

#[test]
fn labels_of_merged_messages_stay_distinct() {
    let steps = [
        q(B("a"), I("x:p"), B("_gm1_a"), D),
        Next,
        q(B("a"), I("x:p"), B("a b"), D),
        q(B("a"), I("x:p"), Q(Box::new([B("a"), I("x:p"), S("o")])), D),
        Next,
        q(B("a"), I("x:p"), Q(Box::new([B("a"), I("x:p"), S("o")])), D),
    ];
    assert_eq!(
        text("nq", &flat(), &steps),
        "_:a <x:p> _:_gm0__gm1_a .\n\
         _:_gm1_a <x:p> _:_gm1__gx612062 .\n\
         _:_gm1_a <x:p> <<( _:_gm1_a <x:p> \"o\" )>> .\n\
         _:_gm2_a <x:p> <<( _:_gm2_a <x:p> \"o\" )>> .\n"
    );
}

#[test]
fn no_term_can_inject_a_statement() {
    let injection = "x> <y> <z> .\n<a> <b> <c";
    for format in TEXT_FORMATS {
        let bad = |object: T| {
            [
                spo("x:s", "x:p", S("before")),
                Next,
                spo("x:s", "x:p", object),
            ]
        };
        let (out, message) = error(format, &default(), &bad(I(injection)));
        assert_eq!(
            out,
            text(format, &default(), &[spo("x:s", "x:p", S("before"))])
        );
        assert_eq!(
            message,
            format!(
                "{format}: the IRI 'x> <y> <z> .\\n<a> <b> <c' contains characters that are not allowed in an IRI (message 1)"
            )
        );
        let (_, message) = error(format, &default(), &bad(L("x", injection)));
        assert!(message.contains("contains characters"), "{message}");
        for options in [default(), lenient()] {
            let (_, message) = error(format, &options, &bad(L("x", "@en .\n<a>")));
            assert!(
                message.contains("'en .\\n<a>' is not a valid language tag"),
                "{message}"
            );
        }
        let nested = Q(Box::new([I("x:a"), I(injection), L("x", "@1")]));
        let (_, message) = error(format, &lenient(), &bad(nested));
        assert!(
            message.contains("'1' is not a valid language tag"),
            "{message}"
        );
        for object in [
            I(injection),
            L("x", injection),
            S(injection),
            S("\"\"\"'''\r\n\u{0}"),
            B(injection),
        ] {
            // Turtle readers may reject such an IRI, but never read a second statement from it.
            let readable = matches!(format, "nt" | "nq") || matches!(object, S(_) | B(_));
            let text = text(format, &lenient(), &[spo("x:s", "x:p", object)]);
            assert_eq!(text.lines().count(), 1, "{text}");
            if readable {
                let reread = read(format, &text);
                assert_eq!(reread.concat().len(), 1, "{text}");
            }
        }
    }
    assert_eq!(
        text("nt", &lenient(), &[spo("x:s", "x:p", I(injection))]),
        "<x:s> <x:p> <x\\u003E\\u0020\\u003Cy\\u003E\\u0020\\u003Cz\\u003E\\u0020.\\u000A\\u003Ca\\u003E\
         \\u0020\\u003Cb\\u003E\\u0020\\u003Cc> .\n"
    );
}

#[test]
fn graphs_are_rejected_or_merged_and_counted() {
    let steps = [
        q(I("x:s"), I("x:p"), S("1"), D),
        Next,
        Next,
        q(I("x:s"), I("x:p"), S("2"), I("x:g")),
        q(I("x:s"), I("x:p"), S("3"), I("x:g")),
    ];
    let merge = Options::with("merge_graphs", true);
    for format in ["nt", "ttl"] {
        let (out, message) = error(format, &default(), &steps);
        assert_eq!(out, "<x:s> <x:p> \"1\" .\n# @message\n# @message\n");
        assert!(
            message.ends_with(
                "the format does not support graph names; found graph '<x:g>' (message 2)"
            ),
            "{message}"
        );
        let mut encoder = encoder(format, &merge).unwrap();
        let mut out = Vec::new();
        for batch in log(&steps, Cut::Whole) {
            encoder.encode((&batch).into(), &mut out).unwrap();
        }
        assert_eq!(encoder.dropped_counts(), [("graph names", 2)]);
    }
    let lines = text("nt", &merge, &steps);
    assert!(
        lines.ends_with("<x:s> <x:p> \"2\" .\n<x:s> <x:p> \"3\" .\n"),
        "{lines}"
    );
}

#[test]
fn errors_contain_the_unsupported_term() {
    let steps = [q(S("a\nb"), I("x:p"), I("x:o"), D)];
    let (_, message) = error("ttl", &default(), &steps);
    assert_eq!(
        message,
        "ttl: the format does not support generalized quads; \
         found '\"a\\nb\" <x:p> <x:o>' (message 0)"
    );
    let mut builder = BatchBuilder::new(Limits::default());
    let p = builder.add_simple(TermKind::Iri, b"p", 0).unwrap();
    let mut term = p;
    for _ in 0..64 {
        term = builder.add_triple_term([term, p, term]).unwrap();
    }
    builder.begin_message(0);
    builder.push_quad(Quad {
        subject: term,
        predicate: p,
        object: p,
        graph: TermId::DEFAULT_GRAPH,
    });
    builder.end_message();
    let batch = builder.take().unwrap();
    let mut encoder = encoder("trig", &default()).unwrap();
    let error = encoder
        .encode((&batch).into(), &mut Vec::new())
        .unwrap_err();
    assert!(
        error
            .reason
            .text()
            .ends_with("; found '<<( <<( <<( <<( <<( <<( <<( <<( <<( <<( …'"),
        "{error}"
    );
}

#[test]
fn unsupported_data_is_dropped_and_counted() {
    let mut builder = BatchBuilder::new(Limits::default());
    builder.add_namespace(b"ex", b"http://ex/").unwrap();
    builder.begin_message(0);
    builder.add_metadata("key", b"value").unwrap();
    builder.end_message();
    let batch = builder.take().unwrap();
    let dropped = |format| {
        let mut encoder = encoder(format, &default()).unwrap();
        encoder.encode((&batch).into(), &mut Vec::new()).unwrap();
        encoder.dropped_counts()
    };
    assert_eq!(dropped("nq"), [("namespaces", 1), ("metadata", 1)]);
    assert_eq!(dropped("trig"), [("metadata", 1)]);
}

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const INTEGER: &str = "http://www.w3.org/2001/XMLSchema#integer";

#[test]
fn quads_are_grouped_without_reordering() {
    let s = "http://ex/s";
    let g = || I("http://ex/g");
    let steps = [
        Prefix("ex", "http://ex/"),
        spo(s, TYPE, I("http://ex/T")),
        spo(s, "http://ex/p", S("1")),
        spo(s, "http://ex/p", S("1")),
        spo(s, "http://ex/p", L("5", INTEGER)),
        spo("http://ex/t", "http://ex/p", I(TYPE)),
        q(I("http://ex/t"), I("http://ex/p"), L("x", "@en"), g()),
        q(I("http://ex/t"), I("http://ex/p"), B("b"), g()),
        q(
            I("http://ex/t"),
            I("http://ex/q"),
            L("1", "http://ex/T"),
            g(),
        ),
        q(I("http://ex/u"), I("http://ex/q"), I("http://other/x"), g()),
        q(I("http://ex/u"), I("http://ex/q"), S("x"), B("g")),
        spo("http://ex/u", "http://ex/q", S("x")),
        spo("http://ex/v", "http://ex/q", S("x")),
    ];
    assert_eq!(
        text("trig", &default(), &steps),
        r#"PREFIX ex: <http://ex/>
ex:s a ex:T ;
    ex:p "1" ,
        "1" ,
        5 .
ex:t ex:p <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> .
ex:g {
    ex:t ex:p "x"@en ,
            _:b ;
        ex:q "1"^^ex:T .
    ex:u ex:q <http://other/x> .
}
_:g {
    ex:u ex:q "x" .
}
ex:u ex:q "x" .
ex:v ex:q "x" .
"#
    );
    let merge = Options::with("merge_graphs", true);
    assert!(
        text("ttl", &merge, &steps)
            .contains("ex:u ex:q <http://other/x> ,\n        \"x\" ,\n        \"x\" .\n")
    );
}

#[test]
fn prefixes_are_written_when_they_change() {
    let options = directive().and(
        "prefixes",
        vec![
            ("my".to_owned(), "http://my/".to_owned()),
            ("bad name".to_owned(), "http://bad/".to_owned()),
        ],
    );
    let steps = [
        Prefix("ex", "http://ex/1/"),
        spo("http://ex/1/s", "http://my/p", S("o")),
        Next,
        Prefix("ex", "http://ex/1/"),
        spo("http://ex/1/s", "http://my/p", S("o")),
        Next,
        Prefix("ex", "http://ex/2/"),
        Prefix("x", "relative"),
        spo("http://ex/1/s", "http://my/p", I("http://ex/2/s")),
    ];
    assert_eq!(
        text("ttl", &options, &steps),
        "VERSION \"1.2-messages\"\n\
         PREFIX my: <http://my/>\n\
         PREFIX ex: <http://ex/1/>\n\
         ex:s my:p \"o\" .\n\
         MESSAGE\n\
         ex:s my:p \"o\" .\n\
         MESSAGE\n\
         PREFIX ex: <http://ex/2/>\n\
         <http://ex/1/s> my:p ex:s .\n"
    );
    let mut encoder = encoder("ttl", &options).unwrap();
    for batch in log(&steps, Cut::Whole) {
        encoder.encode((&batch).into(), &mut Vec::new()).unwrap();
    }
    assert_eq!(encoder.dropped_counts(), [("namespaces", 2)]);
}

#[test]
fn shorthand_is_used_only_for_exact_forms() {
    let is_shorthand = |text: &'static str, name: &str| {
        let datatype: &'static str = match name {
            "integer" => INTEGER,
            "decimal" => "http://www.w3.org/2001/XMLSchema#decimal",
            "double" => "http://www.w3.org/2001/XMLSchema#double",
            "boolean" => "http://www.w3.org/2001/XMLSchema#boolean",
            _ => "http://www.w3.org/2001/XMLSchema#int",
        };
        let written = self::text("ttl", &default(), &[spo("x:s", "x:p", L(text, datatype))]);
        !written.contains('"')
    };
    for (text, name) in [
        ("0", "integer"),
        ("-12", "integer"),
        ("1.0", "decimal"),
        ("-20.50", "decimal"),
        ("0.5", "decimal"),
        ("true", "boolean"),
        ("false", "boolean"),
    ] {
        assert!(is_shorthand(text, name), "{text} {name}");
    }
    for (text, name) in [
        ("", "integer"),
        ("-", "integer"),
        ("+1", "integer"),
        ("012", "integer"),
        ("-0", "integer"),
        (".5", "decimal"),
        ("+1.0", "decimal"),
        ("01.0", "decimal"),
        ("-0.0", "decimal"),
        ("1E0", "double"),
        ("1.0", "integer"),
        ("1 ", "integer"),
        ("١", "integer"),
        ("1", "int"),
        ("1", "decimal"),
        ("1.", "decimal"),
        ("1.0E0", "decimal"),
        ("1.0", "double"),
        ("INF", "double"),
        ("1", "boolean"),
        ("TRUE", "boolean"),
    ] {
        assert!(!is_shorthand(text, name), "{text} {name}");
    }
}

#[test]
fn triple_terms_are_written_as_objects_and_use_prefixes() {
    let steps = [
        Prefix("", "http://ex/"),
        spo(
            "http://ex/s",
            "http://ex/p",
            Q(Box::new([B("b"), I(TYPE), L("1", INTEGER)])),
        ),
    ];
    assert_eq!(
        text("ttl", &default(), &steps),
        "PREFIX : <http://ex/>\n:s :p <<( _:b <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> 1 )>> .\n"
    );
    let (_, message) = error(
        "trig",
        &default(),
        &[q(
            Q(Box::new([B("b"), I("x:p"), S("o")])),
            I("x:p"),
            S("o"),
            D,
        )],
    );
    assert!(
        message.contains("supports triple terms only as objects"),
        "{message}"
    );
}

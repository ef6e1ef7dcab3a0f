//! The decoder of Turtle and TriG: delimiters and look-alikes, positions, parts, limits, error
//! texts, comparison with oxttl on real logs, truncation and bit flips.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

use std::fmt::Write as _;

use crate::support::{Options, decode, decode_every_way, decoder};
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::term::Quad;

const EX: &str = "PREFIX ex: <http://ex/>\n";
const ANNOUNCED: &str = "VERSION \"1.2-messages\"\nPREFIX ex: <http://ex/>\n";

fn lenient() -> Options {
    Options::with("lenient", true)
}

/// Returns the lines of each message, with `http://ex/` removed from IRIs.
fn messages(format: &str, options: &Options, log: &str) -> Vec<Vec<String>> {
    let read = decode_every_way(format, options, log.as_bytes());
    assert_eq!(read.error.map(|error| error.to_string()), None, "{log}");
    read.messages
        .into_iter()
        .map(|message| {
            message
                .into_iter()
                .map(|line| line.replace("<http://ex/", "<"))
                .collect()
        })
        .collect()
}

fn trig(log: &str) -> Vec<Vec<String>> {
    messages("trig", &Options::default(), log)
}

fn counts(log: &str) -> Vec<usize> {
    trig(log).iter().map(Vec::len).collect()
}

/// Returns the number of messages before the error, and the text of the error.
fn error(format: &str, options: &Options, log: &[u8]) -> (usize, String) {
    let read = decode_every_way(format, options, log);
    let error = read
        .error
        .unwrap_or_else(|| panic!("accepted: {}", String::from_utf8_lossy(log)));
    (read.messages.len(), error.to_string())
}

fn trig_error(log: &str) -> (usize, String) {
    error("trig", &Options::default(), log.as_bytes())
}

#[test]
fn comments_delimit_messages() {
    let q = "ex:s ex:p ex:o .";
    for (log, expected) in [
        (String::new(), vec![]),
        (EX.to_owned(), vec![]),
        (format!("{EX}{q}"), vec![1]),
        (
            format!("{EX}# @message\n{q} # @message\n{q}{q}"),
            vec![1, 2],
        ),
        (
            format!("# x\n{EX}#@message\r{q}\r#\t@messages are\r\n{q}#@message"),
            vec![1, 1],
        ),
        (format!("#@message\n{EX}#@message\n{q}"), vec![0, 1]),
        (
            format!("{EX}{q}#@message\n#@message\n#@message\n{q}"),
            vec![1, 0, 0, 1],
        ),
        (
            format!("{EX}ex:g {{ {q} }}#@message\n{{ {q} }}"),
            vec![1, 1],
        ),
        (
            format!("{EX}{q}\n#@message\nPREFIX ex: <http://e2/>\n{q}"),
            vec![1, 1],
        ),
        // Look-alikes of delimiters.
        (
            format!("{EX}{q}# see @message\n## @message\n# @Message\n# @ message\n{q}"),
            vec![2],
        ),
        (
            format!("{EX}<http://ex/#@message> ex:p '# @message', '''\n# @message\n''' ."),
            vec![2],
        ),
        (
            format!("{EX}ex:s ex:p \"x\"@message , \"x\" @message-x ."),
            vec![2],
        ),
        (
            "PREFIX MESSAGE: <http://ex/>\nMESSAGE:x MESSAGE:MESSAGE MESSAGE: .".to_owned(),
            vec![1],
        ),
        (format!("{EX}ex:a.MESSAGE ex:p _:MESSAGE ."), vec![1]),
    ] {
        assert_eq!(counts(&log), expected, "{log}");
    }
}

#[test]
fn directives_delimit_messages_if_announced() {
    let q = "ex:s ex:p ex:o .";
    for (log, expected) in [
        (String::new(), vec![]),
        ("MESSAGE".to_owned(), vec![0]),
        (format!("{q}MESSAGE message Message"), vec![1, 0, 0]),
        (
            format!("MESSAGE {q} @message.{q}@message # @message\n. # x\n{q}"),
            vec![0, 1, 1, 1],
        ),
        (format!("{q}# @message\n{q}MESSAGE# x"), vec![2]),
        (format!("{q}MESSAGE<http://ex/s>ex:p 1 ."), vec![1, 1]),
        (
            format!("{{{q}}}MESSAGE{{{q}}}GRAPH ex:g {{{q}}}"),
            vec![1, 2],
        ),
        (
            format!("@version '1.1' . {q} MESSAGE BASE <http://b/> <s> <p> <o> ."),
            vec![1, 1],
        ),
        (
            format!("{q}MESSAGE PREFIX MESSAGE: <http://ex/> MESSAGE:x a MESSAGE:y ."),
            vec![1, 1],
        ),
    ] {
        assert_eq!(counts(&format!("{ANNOUNCED}{log}")), expected, "{log}");
        let announced = Options::with("announced", "1.1-messages");
        let read = messages("trig", &announced, &format!("{EX}{log}"));
        assert_eq!(
            read.iter().map(Vec::len).collect::<Vec<_>>(),
            expected,
            "{log}"
        );
    }
    let riverbench = format!("VERSION \"1.1\"\n{EX}{q}MESSAGE {q}");
    assert_eq!(messages("ttl", &lenient(), &riverbench).len(), 2);
    let plain = Options::with("dialect", "plain");
    assert_eq!(
        messages("ttl", &plain, &format!("{EX}{q}# @message\n{q}")).len(),
        1
    );
}

#[test]
fn delimiters_inside_statements_are_errors() {
    for log in [
        "ex:s ex:p ex:o .\n#@message\nex:s ex:p # @message\n ex:o .",
        "ex:s ex:p ex:o .\n#@message\nex:g { ex:s ex:p ex:o . # @message\n }",
        "ex:s ex:p ex:o .\n#@message\nex:s ex:p ex:o # @message\n .",
        "ex:s ex:p ex:o .\n#@message\nPREFIX # @message\n ex: <http://ex/>",
    ] {
        let (count, text) = trig_error(&format!("{EX}{log}"));
        assert_eq!(count, 1, "{log}");
        assert!(text.contains("'# @message' inside a "), "{text}");
    }
    for log in [
        "ex:s ex:p ex:o .MESSAGE ex:g { MESSAGE }",
        "ex:s ex:p ex:o .MESSAGE ex:g { @message . }",
        "ex:s ex:p ex:o .MESSAGE ex:s ex:p MESSAGE .",
        "ex:s ex:p ex:o .MESSAGE ex:s MESSAGE ex:o .",
        "ex:s ex:p ex:o .MESSAGE @message",
        "ex:s ex:p ex:o .MESSAGE @message MESSAGE",
        "ex:s ex:p ex:o .MESSAGE @Message .",
        "ex:s ex:p ex:o .MESSAGE MESSAGES",
    ] {
        let (count, text) = trig_error(&format!("{ANNOUNCED}{log}"));
        assert_eq!(count, 1, "{log}: {text}");
    }
}

#[test]
fn labels_are_scoped_to_their_message_and_distinct() {
    assert_eq!(
        trig(&format!(
            "{EX}_:a ex:p [], _:_g0, _:_gu0, ( 1 ) .\n#@message\n_:a ex:p [ ex:q [] ] ."
        )),
        [
            vec![
                "_:a <p> _:_g0 .",
                "_:a <p> _:_gu0 .",
                "_:a <p> _:_guu0 .",
                "_:a <p> _:_g1 .",
                "_:_g1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .",
                "_:_g1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> <http://www.w3.org/1999/02/22-rdf-syntax-ns#nil> .",
            ],
            vec!["_:a <p> _:_g0 .", "_:_g0 <q> _:_g1 ."],
        ]
    );
}

#[test]
fn tokens_that_need_lookahead_are_read() {
    let xsd = "^^<http://www.w3.org/2001/XMLSchema#";
    assert_eq!(
        trig(&format!(
            "{EX}ex:s ex:p 1.ex:s ex:p 1.e0.ex:s ex:p .5, -1.50 ,+3E-2;.ex:s.x a ex:a.b. ex:s ex:p true."
        )),
        [vec![
            format!("<s> <p> \"1\"{xsd}integer> ."),
            format!("<s> <p> \"1.e0\"{xsd}double> ."),
            format!("<s> <p> \".5\"{xsd}decimal> ."),
            format!("<s> <p> \"-1.50\"{xsd}decimal> ."),
            format!("<s> <p> \"+3E-2\"{xsd}double> ."),
            "<s.x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <a.b> .".to_owned(),
            format!("<s> <p> \"true\"{xsd}boolean> ."),
        ]]
    );
    assert_eq!(
        trig(&format!(
            "{EX}ex:s ex:p \"x\" @en , \"x\" ^^ # c\n ex:t, 'a\"b' , \"\", '''a'b''c''', \"\\u00e9\\n\"@ar--rtl ."
        )),
        [[
            "<s> <p> \"x\"@en .",
            "<s> <p> \"x\"^^<t> .",
            "<s> <p> \"a\\\"b\" .",
            "<s> <p> \"\" .",
            "<s> <p> \"a'b''c\" .",
            "<s> <p> \"é\\n\"@ar--rtl .",
        ]]
    );
    assert_eq!(
        trig(&format!(
            "{EX}ex: ex:a\\.b ex:%41%c3:x\\~;ex:é ex:1-2,<\\u0061:b>."
        )),
        [["<> <a.b> <%41%c3:x~> .", "<> <é> <1-2> .", "<> <é> <a:b> ."]]
    );
}

#[test]
fn prefixes_and_bases_persist_across_messages_and_can_change() {
    assert_eq!(
        trig(
            "@prefix e: <http://ex/1/> . e:s e:p e:o .\n#@message\ne:s e:p e:o .\n#@message\n\
             BASE <http://ex/b/c> prefix e: <x#> e:s e:p <../d>, <>, <#f>.#@message\n@base <y/> . @prefix e:<http://ex/1/>. <z> e:p e:o."
        ),
        [
            vec!["<1/s> <1/p> <1/o> ."],
            vec!["<1/s> <1/p> <1/o> ."],
            vec![
                "<b/x#s> <b/x#p> <d> .",
                "<b/x#s> <b/x#p> <b/c> .",
                "<b/x#s> <b/x#p> <b/c#f> ."
            ],
            vec!["<b/y/z> <1/p> <1/o> ."],
        ]
    );
    // More names and namespaces than the tables have entries.
    let mut log = String::new();
    for n in 0..10_000 {
        writeln!(
            log,
            "PREFIX p{}: <http://ex/{n}/> p{}:s <http://ex/p> p0:x .",
            n % 100,
            n % 100
        )
        .unwrap();
    }
    let read = decode("ttl", &Options::default(), log.as_bytes(), 4096);
    assert!(read.error.is_none());
    for (n, line) in read.messages[0].iter().enumerate() {
        let first = n / 100 * 100;
        assert_eq!(
            *line,
            format!("<http://ex/{n}/s> <http://ex/p> <http://ex/{first}/x> .")
        );
    }
}

#[test]
fn namespaces_after_the_last_message_are_counted() {
    let a = "@prefix a: <http://a/> .\n";
    let b = "@prefix b: <http://b/> .\n";
    for (log, expected) in [
        (String::new(), 0),
        (a.to_owned(), 1),
        (format!("{a}{b}"), 2),
        (format!("{a}a:s a a:o .\n"), 0),
        (format!("{a}a:s a a:o .\n{b}"), 0),
        (format!("{a}a:s a a:o .\n# @message\n{b}"), 1),
        (format!("{a}a:s a a:o .\n# @message\n{a}"), 0),
    ] {
        let mut decoder = decoder("ttl", &Options::default()).unwrap();
        decoder.feed(log.as_bytes());
        assert_eq!(decoder.observations().trailing_namespaces, 0, "{log}");
        decoder.finish();
        while decoder.next_batch_of::<Quad>().unwrap().is_some() {}
        assert_eq!(
            decoder.observations().trailing_namespaces,
            expected,
            "{log}"
        );
    }
}

#[test]
fn batches_contain_the_namespaces_of_each_message() {
    let log = "PREFIX a: <http://ex/a> a:s a:p a:o .\n#@message\nPREFIX a: <http://ex/a>\nPREFIX b: <http://ex/b> a:s a:p a:o .\n\
               #@message\nPREFIX a: <http://ex/c>\n#@message\n";
    let mut decoder = decoder("ttl", &Options::default()).unwrap();
    decoder.feed(log.as_bytes());
    decoder.finish();
    let batch = decoder.next_batch_of::<Quad>().unwrap().unwrap();
    let names = |message| -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        batch
            .namespaces(message)
            .iter()
            .map(|(name, iri)| (text(name), text(iri)))
            .collect()
    };
    let pair = |name: &str, iri: &str| (name.to_owned(), iri.to_owned());
    assert_eq!(batch.len(), 3);
    assert_eq!(names(0), [pair("a", "http://ex/a")]);
    assert_eq!(
        names(1),
        [pair("a", "http://ex/a"), pair("b", "http://ex/b")]
    );
    assert_eq!(
        names(2),
        [pair("a", "http://ex/c"), pair("b", "http://ex/b")]
    );
    assert_eq!(batch.namespace_changes().len(), 3);
}

#[test]
fn the_position_of_a_message_is_that_of_its_first_statement() {
    for (log, expected) in [
        (
            "#@message\n <a:b> a <a:c>.#@message\n#@message\n[ a <a:b> ]. ",
            vec![11, 35, 45],
        ),
        (
            "VERSION '1.2-messages' MESSAGE @message . {<a:a> a <a:b>}MESSAGE",
            vec![23, 31, 42],
        ),
        ("(1) a <a:b>.", vec![0]),
        (" GRAPH <a:g> {}", vec![1]),
        ("PREFIX a: <a:> a:s a a:s.", vec![15]),
    ] {
        let expected: Vec<u64> = expected;
        for size in [1, 2, 3, 7, 4096] {
            let mut decoder = decoder("trig", &Options::default()).unwrap();
            let mut actual = Vec::new();
            let mut take = |decoder: &mut dyn rdfm_core::codec::Decoder| {
                while let Some(batch) = decoder.next_batch_of::<Quad>().unwrap() {
                    actual.extend(
                        (0..batch.len()).map(|message| batch.byte_offset(message).unwrap()),
                    );
                }
            };
            for piece in log.as_bytes().chunks(size) {
                decoder.feed(piece);
                take(&mut *decoder);
            }
            decoder.finish();
            take(&mut *decoder);
            assert_eq!(actual, expected, "{log} in pieces of {size}");
        }
    }
}

#[test]
fn errors_contain_cause_and_position() {
    let relative = "the relative IRI 'a' needs a base";
    for (log, text) in [
        (
            "<a:b> x:y 1 .",
            "the prefix 'x:' is not declared; declare it with PREFIX x: <…> before it is used (line 1, column 7, byte 6, message 0)",
        ),
        (
            "\n <a> a 1 .",
            &format!("{relative} (line 2, column 2, byte 2, message 0)"),
        ),
        (
            "<a:é> a <a:b>\n  \"x\" .",
            "expected '.', ';' or ',' after the object, found '\"x\"' (line 2, column 3, byte 17, message 0)",
        ),
        (
            "<a:b> a <a b> .",
            "an IRI must not contain ' '; write it percent-encoded, or end the IRI with '>' before it (line 1, column 11, byte 10, message 0)",
        ),
        (
            "<a:b> \"p\" 1 .",
            "expected a predicate after the subject, found '\"p\"' (line 1, column 7, byte 6, message 0)",
        ),
        (
            "<a:b> a truth .",
            "expected an object, found 'truth'; prefixed names contain a colon, and IRIs are in angle brackets (line 1, column 9, byte 8, message 0)",
        ),
        (
            "<a:b> a \"\\q\" .",
            "unknown escape '\\q'; write a backslash as '\\\\' (line 1, column 10, byte 9, message 0)",
        ),
        (
            "<a:b> a \"\\uD800\" .",
            "the escape '\\uD800' is not a character (line 1, column 10, byte 9, message 0)",
        ),
        (
            "<a:b> a \"x\ny\" .",
            "the string is not closed on its line; for several lines use three quotation marks, or write \\n (line 1, column 11, byte 10, message 0)",
        ),
        (
            "<a:b> a \"x\"@en--up .",
            "expected 'ltr' or 'rtl' after '--', found 'up' (line 1, column 15, byte 14, message 0)",
        ),
        (
            "<a:b> a 1 .\n#@message\n<a:b> a \"x",
            "the log ends inside a string; expected '\"' (line 3, column 11, byte 32, message 1)",
        ),
        (
            "<a:b> a 1",
            "the log ends inside a statement; expected '.' at its end (line 1, column 10, byte 9, message 0)",
        ),
        (
            "<a:g> { <a:b> a 1 .",
            "the log ends inside a graph block; expected '}' (line 1, column 20, byte 19, message 0)",
        ),
        (
            "<a:b> a 1 .\nMESSAGE\n",
            "MESSAGE in a log that does not announce messages; expected VERSION \"1.2-messages\" before it (line 2, column 1, byte 12, message 0)",
        ),
        (
            "SELECT * {}",
            "expected a statement, found 'SELECT'; prefixed names contain a colon, and IRIs are in angle brackets (line 1, column 1, byte 0, message 0)",
        ),
        (
            "@prefixes a: <b:> .",
            "expected @prefix, @base, @version or @message, found '@prefixes' (line 1, column 1, byte 0, message 0)",
        ),
        (
            "<a:g> { PREFIX a: <b:> }",
            "PREFIX inside a graph block; end the block with '}' before it (line 1, column 9, byte 8, message 0)",
        ),
    ] {
        assert_eq!(trig_error(log).1, format!("trig: {text}"), "{log}");
    }
}

#[test]
fn graph_blocks_in_turtle_and_invalid_bytes_are_errors() {
    for log in ["<a:g> { <a:b> a 1 }", "{ <a:b> a 1 }", "GRAPH <a:g> {}"] {
        let (_, text) = error("ttl", &Options::default(), log.as_bytes());
        assert!(
            text.starts_with("ttl: a graph block, which Turtle does not support"),
            "{text}"
        );
    }
    let (count, text) = error(
        "ttl",
        &Options::default(),
        b"<a:b> a 1 .\n#@message\n<a:b> a 2 . # \xff\n",
    );
    assert_eq!(count, 1);
    assert_eq!(
        text,
        "ttl: invalid UTF-8; the log must be UTF-8 text (line 3, column 15, byte 36, message 1)"
    );
    let (_, text) = error("ttl", &Options::default(), b"<a:b> a \"\xe2\x82");
    assert_eq!(
        text,
        "ttl: invalid UTF-8; the log must be UTF-8 text (line 1, column 10, byte 9, message 0)"
    );
}

#[test]
fn lenient_accepts_the_escapes_of_a_lenient_writer() {
    let log = r"<a\u003E\u0020.> <http://ex/\u0020> <http://ex/o>.";
    assert_eq!(
        messages("ttl", &lenient(), log),
        [[r"<a\u003E\u0020.> <\u0020> <o> ."]]
    );
    let strict = error("ttl", &Options::default(), log.as_bytes()).1;
    assert!(strict.contains("must not contain '>'"), "{strict}");
    for directive in [r"PREFIX : <http://ex/\u003E>", r"BASE <http://ex/\u003E>"] {
        let text = error("ttl", &lenient(), directive.as_bytes()).1;
        assert!(text.contains("must not contain '>'"), "{text}");
    }
}

#[test]
fn lenient_keeps_relative_iris() {
    assert_eq!(
        messages("ttl", &lenient(), "PREFIX : <#> <a> :b <../c>."),
        [["<a> <#b> <../c> ."]]
    );
    let based = Options::with("base", "http://ex/x/y");
    assert_eq!(
        messages(
            "ttl",
            &based,
            "PREFIX : <#> <a> :b <../c>, <http://a/../b>."
        ),
        [["<x/a> <x/y#b> <c> .", "<x/a> <x/y#b> <http://a/../b> ."]]
    );
    let invalid_base = Options::with("base", "x");
    assert!(
        decoder("ttl", &invalid_base)
            .err()
            .unwrap()
            .text()
            .starts_with("base is not an absolute IRI: 'x'")
    );
}

#[test]
fn depth_messages_and_tokens_are_limited() {
    let deep = |open: &str, close: &str, n: usize| {
        format!("<a:s> <a:p> {}1{} .", open.repeat(n), close.repeat(n))
    };
    let shallow = Options::with("max_depth", 5);
    for (open, close) in [
        ("(", ")"),
        ("[ <a:p> ", " ]"),
        ("<<( <a:s> <a:p> ", " )>>"),
        ("<< <a:s> <a:p> ", " >>"),
    ] {
        assert_eq!(messages("ttl", &shallow, &deep(open, close, 5)).len(), 1);
        let read = decode_every_way("ttl", &shallow, deep(open, close, 6).as_bytes());
        let error = read.error.unwrap();
        assert_eq!(error.class, ErrorClass::Limit);
        assert!(
            error
                .reason
                .text()
                .starts_with("brackets are nested deeper than 5")
        );
    }
    // Only open brackets count towards the depth. A million of them cause only an error.
    let many = format!(
        "<a:s> <a:p> {} .",
        "(), [], [ <a:p> (1) ], ".repeat(100) + "1"
    );
    assert_eq!(messages("ttl", &shallow, &many).len(), 1);
    let read = decode(
        "ttl",
        &Options::default(),
        deep("(", ")", 1_000_000).as_bytes(),
        4096,
    );
    assert_eq!(read.error.unwrap().class, ErrorClass::Limit);

    let small = Options::with("max_message_bytes", 300);
    for log in [
        format!("<a:s> <a:p> {}", "'x',".repeat(100)),
        format!("<a:s> <a:p> \"{}\" .", "x".repeat(301)),
        format!("<a:s> <a:p> \"{}\" .", "\\u0041".repeat(60)),
        format!("<a:s> <a:p> '''{}", "x".repeat(400)),
        format!("<a:s> <a:p> <a:{}> .", "x".repeat(400)),
        format!("<a:s> <a:p> <a:{}", "x".repeat(400)),
        format!("<a:s> <a:p> <a:{} \n> .", "x".repeat(400)),
        format!("PREFIX a: <a:> a:s a:p a:{} .", "x".repeat(400)),
        format!("<a:s> <a:p> _:{}", "x".repeat(400)),
        format!("<a:s> <a:p> {}", "1".repeat(400)),
        format!("<a:s> <a:p> 'x'@{}", "x".repeat(400)),
        "x".repeat(400),
        format!("@{}", "x".repeat(400)),
    ] {
        let read = decode_every_way(
            "ttl",
            &small,
            format!("<a:s> a <a:o> .#@message\n{log}").as_bytes(),
        );
        assert_eq!(read.messages.len(), 1, "{log}");
        assert_eq!(read.error.unwrap().class, ErrorClass::Limit, "{log}");
    }
    // White space and comments may have any length.
    let long = format!(
        "#{}\n{}<a:s> a <a:o> .#{}",
        "x".repeat(2000),
        " ".repeat(2000),
        " ".repeat(3000)
    );
    assert_eq!(messages("ttl", &small, &long).len(), 1);
    let delimiting = format!(
        "<a:s> a <a:o> .# @message {}\n<a:s> a <a:o> .",
        "é".repeat(3000)
    );
    assert_eq!(messages("ttl", &Options::default(), &delimiting).len(), 2);
}

#[test]
fn pieces_do_not_change_the_counted_size_of_a_message() {
    let mut log = String::from("PREFIX ex: <http://ex/>\n");
    for n in 0..6 {
        writeln!(
            log,
            "ex:g{n} {{ ex:s a ex:t ; ex:p ex:o, {n}, 'x'@en, \"y\"^^ex:d , _:b , true . _:b ex:p ex:s, {} [ a ex:t ] }}\n# @message",
            "<http://ex/long>, 'x'@en, 'z'^^ex:d, <<( ex:s a ex:t )>>, ".repeat(n)
        )
        .unwrap();
    }
    let whole = decode_every_way("trig", &Options::default(), log.as_bytes());
    assert_eq!((whole.error, whole.messages.len()), (None, 6));
    let mut ends = std::collections::BTreeSet::new();
    for max_message_bytes in (100..2500).step_by(13) {
        let options = Options::with("max_message_bytes", max_message_bytes);
        let read = decode_every_way("trig", &options, log.as_bytes());
        ends.insert(read.messages.len());
    }
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn pieces_do_not_change_the_error_for_an_invalid_escape_near_the_limit() {
    let log = format!(
        "<http://a.example/s> <http://a.example/p> \"\\u0 {}\" .\n{}",
        "x".repeat(60),
        "# a comment after the statement\n".repeat(20)
    );
    for max_message_bytes in 64..400 {
        let options = Options::with("max_message_bytes", max_message_bytes);
        decode_every_way("trig", &options, log.as_bytes());
    }
}

#[test]
fn complete_messages_do_not_wait_for_the_next() {
    let mut decoder = decoder("trig", &Options::default()).unwrap();
    let options = Options::default();
    let log = "PREFIX ex: <http://ex/> ex:a ex:p 'x'@en . # @message\n\
               ex:g { ex:a ex:p 'x'@en , ( 1 [ ex:q <<( ex:a ex:p 'x'^^ex:t )>> ] ) . ex:b ex:p \"y\"";
    decoder.feed(log.as_bytes());
    let first = decoder.next_batch_of::<Quad>().unwrap().unwrap();
    assert_eq!(
        (first.len(), first.has_graphs(), first.continues()),
        (1, false, false)
    );
    assert!(decoder.next_batch_of::<Quad>().unwrap().is_none());
    decoder.feed(b"@en }");
    decoder.finish();
    let second = decoder.next_batch_of::<Quad>().unwrap().unwrap();
    assert_eq!(
        (
            second.len(),
            second.first_message_index(),
            second.continued()
        ),
        (1, 1, false)
    );
    let whole = decode("trig", &options, format!("{log}@en }}").as_bytes(), 4096);
    assert_eq!(crate::support::lines(&first, 0), whole.messages[0]);
    assert_eq!(crate::support::lines(&second, 0), whole.messages[1]);
    assert_eq!(second.byte_offset(0).unwrap(), 54);
}

#[test]
fn parts_together_equal_the_message() {
    let mut log = String::from(ANNOUNCED);
    log += "ex:a ex:p 1 .MESSAGE\n";
    log += "ex:g { ex:s ex:p \"x\"@en , \"y\" ^^ ex:t , <<( ex:a ex:b <<( ex:c ex:d 'e'^^ex:f )>> )>> {| ex:q ( 1 2 [ ex:r 3 ; a 4 ] 5 ) |} ;";
    log += " ex:q << _:x ex:p _:y ~ ex:r >> , [] ~ _:r ~ {| ex:s 5 |} . _:x ex:y _:_g0 }";
    log += "MESSAGE ex:z ex:p 1 , 2 , 3 .";
    let whole = decode_every_way("trig", &Options::default(), log.as_bytes());
    assert_eq!(whole.error, None);
    for quads in [1, 2, 3, 7] {
        for (batch_bytes, parts) in [(1, true), (4 << 20, true), (4 << 20, false), (1, false)] {
            let options = Options::with("batch_quads", quads)
                .and("batch_bytes", batch_bytes)
                .parts(parts);
            let read = decode_every_way("trig", &options, log.as_bytes());
            assert_eq!(read, whole, "batches of {quads}, parts {parts}");
        }
    }
    // A statement without an end continues from part to part in bounded memory.
    let options = Options::with("batch_quads", 100)
        .and("max_message_bytes", 100_000)
        .parts(true);
    let list = format!("<a:s> <a:p> ( {} ) .", "<a:x> ".repeat(20_000));
    let read = decode("ttl", &options, list.as_bytes(), 4096);
    assert_eq!(read.error, None);
    assert_eq!(read.messages[0].len(), 40_001);
}

#[test]
fn long_tokens_are_read_in_small_pieces() {
    let size = 300_000; // quadratic work would take minutes
    for log in [
        format!("PREFIX a: <a:> a:s a:p a:{} .", "x".repeat(size)),
        format!("PREFIX a: <a:> a:s a:p a:{}x .", "é.".repeat(size / 3)),
        format!("<a:s> a '''{}x''' .", "x'".repeat(size / 2)),
        format!("<a:s> a \"{}\" .", "\\n".repeat(size / 2)),
        format!("<a:s> a <a:{}> .", "x".repeat(size)),
        format!("<a:s> a {} .", "1".repeat(size)),
        format!("<a:s> a 1.{} .", "1".repeat(size)),
        format!("<a:s> a ({}) .", ".1".repeat(size / 20)),
        format!("<a:s> a _:{} .", "x".repeat(size)),
        format!("<a:s> a 'x'@x{} .", "-x".repeat(size / 2)),
        format!("<a:s> a 1 .#{}\n{}", "x".repeat(size), " ".repeat(size)),
    ] {
        let read = decode("ttl", &Options::default(), log.as_bytes(), 2);
        assert_eq!(read.error, None, "{}", &log[..30]);
    }
}

#[test]
fn truncation_and_bit_flips_never_cause_a_panic() {
    let log = format!(
        "{ANNOUNCED}ex:g {{ _:é ex:p \"x\\u0041\"@en--ltr , 'y'^^ex:t, '''z''' , <<( ex:a a 1.5e3 )>> ~ _:r {{| a ( 1 [] ) |}} }}\n\
         MESSAGE\n@prefix é: <b:\\u00e9> .# @message\n<< é:a\\~%20 a true >> a [ a .5 ; ; ] . @message . GRAPH [] {{ [] a [] . }}"
    );
    let options = [Options::default(), lenient()];
    assert_eq!(trig(&log).len(), 3);
    let bytes = log.as_bytes();
    for cut in 0..bytes.len() {
        for format in ["trig", "ttl"] {
            decode_every_way(format, &options[cut % 2], &bytes[..cut]);
        }
        for bit in 0..8 {
            let mut flipped = bytes.to_vec();
            flipped[cut] ^= 1 << bit;
            decode_every_way("trig", &options[bit % 2], &flipped);
        }
        // A missing byte, and a repeated byte.
        let mut other = bytes.to_vec();
        other.remove(cut);
        decode_every_way("trig", &options[0], &other);
        other = bytes.to_vec();
        other.insert(cut, bytes[cut]);
        decode_every_way("trig", &options[0], &other);
    }
}

#[test]
#[ignore = "reads suites"]
fn real_logs_are_read_as_by_oxttl() {
    let Some(data) = crate::support::shared_path("data") else {
        return;
    };
    let mut count = 0;
    let mut folders = ["nanopubs", "logs", "riverbench"]
        .map(|name| data.join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let data = std::fs::read(&path).unwrap();
            let (format, expected): (_, Result<Vec<_>, _>) = if path.extension().unwrap() == "trig"
            {
                ("trig", oxttl::TriGParser::new().for_slice(&data).collect())
            } else {
                let triples = oxttl::TurtleParser::new().for_slice(&data);
                (
                    "ttl",
                    triples
                        .map(|triple| {
                            triple.map(|triple| triple.in_graph(oxrdf::GraphName::DefaultGraph))
                        })
                        .collect(),
                )
            };
            let read = decode_every_way(format, &Options::default(), &data);
            assert_eq!(read.error, None, "{}", path.display());
            count += 1;
            // oxttl does not support the directive dialect.
            if let Ok(expected) = expected {
                assert!(
                    crate::oracle::isomorphic(&read.messages.concat(), &expected),
                    "{}",
                    path.display()
                );
            } else {
                assert!(
                    path.parent().unwrap().ends_with("logs"),
                    "{}",
                    path.display()
                );
            }
        }
    }
    assert_eq!(count, 26);
}

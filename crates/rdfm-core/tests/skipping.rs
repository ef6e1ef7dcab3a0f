//! Recovery after errors in Turtle and TriG, NDJSON-LD and YAML-LD: where reading resumes, which
//! declarations remain known, and which errors are consequences of earlier ones.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing test may panic"
)]

use crate::support::{Options, decoder, skipping, skipping_every_way};
use rdfm_core::codec::batch::NextBatchOf as _;
use rdfm_core::model::term::Quad;

const Q: &str = "<a:s> <a:p> <a:o> .";
const COMMENT: &str = "\n# @message\n";

/// Returns the read and skipped parts of a TriG log. `<a:s> <a:p>` and trailing dots are omitted
/// from messages.
fn trig(log: &str) -> Vec<String> {
    trig_with(&Options::default(), log)
}

fn trig_with(options: &Options, log: &str) -> Vec<String> {
    render(skipping_every_way("trig", options, log.as_bytes()))
}

/// Checks the indices of messages and returns their content.
fn render(seen: Vec<(u64, String)>) -> Vec<String> {
    seen.into_iter()
        .enumerate()
        .map(|(position, (index, text))| {
            assert_eq!(index, position as u64, "{text}");
            text.replace("<a:s> <a:p> ", "").replace(" .|", "|")
        })
        .map(|text| match text.strip_suffix(" .") {
            Some(read) if !text.contains("skipped") => read.to_owned(),
            _ => text,
        })
        .collect()
}

#[test]
fn reading_resumes_after_the_next_delimiter_comment() {
    assert_eq!(
        trig(&format!(
            "{Q}{COMMENT}{Q} oops . {Q}{COMMENT}<a:s> <a:p> 1 ."
        )),
        [
            "<a:o>",
            "skipped <a:o> . oops . <a:o> .\n",
            "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
        ]
    );
    // A delimiter on the line of a statement, and directly after the error.
    assert_eq!(
        trig(&format!("] # @message of this\n{Q} ] # @messages\n{Q}\n")),
        ["skipped ] ", "skipped <a:o> . ] ", "<a:o>"]
    );
    // The delimiter itself is the error, because the statement before it has no dot.
    assert_eq!(
        trig(&format!(
            "<a:s> <a:p> <a:o>{COMMENT}{Q}{COMMENT}<a:g> {{ {Q}{COMMENT}{Q}"
        )),
        [
            "skipped <a:o>\n",
            "<a:o>",
            "skipped <a:g> { <a:o> .\n",
            "<a:o>"
        ]
    );
    // Open brackets, graph blocks and collections end with the message.
    assert_eq!(
        trig(&format!("<a:g> {{ <a:s> <a:p> [ <a:p> ( ]{COMMENT}{Q}")),
        ["skipped <a:g> { [ <a:p> ( ]\n", "<a:o>"]
    );
    // The rest of the log is skipped if there is no delimiter.
    assert_eq!(trig(&format!("{Q}{COMMENT}{Q} oops\n{Q}")).len(), 2);
    assert_eq!(
        trig(&format!("{Q} oops{COMMENT}")),
        ["skipped <a:o> . oops\n"]
    );
    assert_eq!(trig("<a:s> <a:p>"), ["skipped <a:s> <a:p>"]);
}

#[test]
fn reading_resumes_after_the_next_delimiter_directive() {
    let version = "VERSION \"1.2-messages\"\n";
    assert_eq!(
        trig(&format!(
            "{version}] {Q}\n# @message\nmessage {Q} ]\n@message  # x\n.\n<a:s> <a:p> <a:o> MESSAGE{Q}"
        )),
        [
            "skipped ] <a:o> .\n# @message\n",
            "skipped <a:o> . ]\n",
            "skipped <a:o> ",
            "<a:o>",
        ]
    );
    // A version label in skipped text applies, because it determines the delimiters.
    for label in [
        "VERSION \"1.2-messages\"",
        "@version  '1.2-m\\u0065ssages' .",
    ] {
        assert_eq!(
            trig(&format!("]\n{label}\n# @message\nMESSAGE {Q}")),
            [
                format!("skipped ]\n{label}\n# @message\n"),
                "<a:o>".to_owned()
            ]
        );
    }
    // Not delimiters: a missing dot, another case, parts of other words.
    assert_eq!(
        trig(&format!(
            "{version}] @message <a:b> . @Message . MESSAGES xMESSAGE\nMESSAGE {Q}"
        )),
        [
            "skipped ] @message <a:b> . @Message . MESSAGES xMESSAGE\n",
            "<a:o>"
        ]
    );
}

#[test]
fn the_first_delimiter_determines_an_unknown_dialect() {
    assert_eq!(
        trig(&format!("] \nMESSAGE {Q} # @message\nMESSAGE {Q}")),
        ["skipped ] \n", "<a:o>", "<a:o>"]
    );
    assert_eq!(
        trig(&format!("]{COMMENT}{Q}\nMESSAGE {Q}{COMMENT}{Q}")),
        ["skipped ]\n", "skipped <a:o> .\nMESSAGE <a:o> .\n", "<a:o>"]
    );
    // The missing announcement is reported once.
    assert_eq!(
        trig(&format!("{Q}\nMESSAGE\n{Q}\nMESSAGE\n{Q}")),
        ["skipped <a:o> .\n", "<a:o>", "<a:o>"]
    );
    // A word in an invalid line does not determine the dialect.
    for word in ["MESSAGE", "x \tmessage", "@message ."] {
        let seen = trig(&format!("] {word}{COMMENT}{Q}{COMMENT}{Q}"));
        assert_eq!(seen[1..], ["<a:o>", "<a:o>"], "{word}");
    }
    assert_eq!(trig(&format!("] \n \t @message\n.\n{Q}"))[1..], ["<a:o>"]);
    // A dialect given as an option applies.
    let count_with =
        |dialect: &str, log: &str| trig_with(&Options::with("dialect", dialect), log).len();
    let log = format!("]\nMESSAGE {Q}{COMMENT}{Q}\nMESSAGE {Q}");
    assert_eq!(count_with("directive", &log), 3);
    assert_eq!(
        count_with("comment", &format!("]\nMESSAGE {Q}{COMMENT}{Q}")),
        2
    );
    assert_eq!(count_with("plain", &log), 1);
}

#[test]
fn a_delimiter_line_in_a_long_string_is_ignored() {
    for quotes in ["\"\"\"", "'''"] {
        for after in [" .", "@en .", "^^<a:d> .", ", 1 ."] {
            let string = format!("{quotes}one{COMMENT}\\{quotes}two{COMMENT}{quotes}{after}");
            let log = format!("] {Q}\n<a:s> <a:p> {string}\n{Q}{COMMENT}{Q}");
            assert_eq!(trig(&log).len(), 2, "{log}");
            // The delimiter is within the invalid token, which has a wrong escape.
            let log = format!("<a:s> <a:p> {quotes}\\x{COMMENT}{quotes}{after}{COMMENT}{Q}");
            assert_eq!(trig(&log).len(), 2, "{log}");
            let directive = log.replace("# @message", "MESSAGE");
            assert_eq!(
                trig(&format!("VERSION \"1.2-messages\" {directive}")).len(),
                2
            );
        }
    }
}

#[test]
fn delimiters_inside_other_tokens_are_ignored() {
    for (before, inside) in [
        ("", "<a:s> <a:p> <http://e/#@message> ."),
        ("", "<a:s> <a:p> <http://e/a b#@message> ."),
        ("", "<a:s> <a:p> \"# @message\" ."),
        ("", "<a:s> <a:p> '# @message \\' # @message' ."),
        ("", "<a:s> <a:p> ex:a\\#@message ."),
        ("", "# see # @message"),
        ("VERSION \"1.2-messages\"", "<a:s> <a:p> \"x\"@message ."),
        (
            "VERSION \"1.2-messages\"",
            "<a:s> <a:p> \"x\" # x\n @message .",
        ),
        ("VERSION \"1.2-messages\"", "<a:s> <a:p> \"\"@message ."),
        (
            "VERSION \"1.2-messages\"",
            "MESSAGE:x ex:MESSAGE _:MESSAGE ex:a.MESSAGE .",
        ),
        (
            "VERSION \"1.2-messages\"",
            "<MESSAGE> \"MESSAGE\" # MESSAGE",
        ),
        ("VERSION \"1.2-messages\"", "ex:a\\ MESSAGE:"),
        ("VERSION \"1.2-messages\"", "# @message"),
    ] {
        let delimiter = if before.is_empty() {
            "# @message"
        } else {
            "MESSAGE"
        };
        let log = format!("{before} ] {inside}\n{delimiter}\n{Q}");
        let seen = trig(&log);
        assert_eq!(seen.len(), 2, "{log}: {seen:?}");
        assert_eq!(seen[1], "<a:o>", "{log}");
    }
}

#[test]
fn an_unclosed_string_or_iri_ends_with_its_line() {
    for invalid in ["\"oops", "'oops \\", "<http://e/oops", "\"oops \\\""] {
        for end in ["\n", "\r\n", "\r"] {
            let log = format!("<a:s> <a:p> {invalid} .{end}# @message{end}{Q}");
            assert_eq!(trig(&log)[1..], ["<a:o>"], "{log:?}");
            let log = format!("] {log}");
            assert_eq!(trig(&log)[1..], ["<a:o>"], "{log:?}");
        }
    }
}

#[test]
fn delimiters_in_an_unclosed_long_string_are_found() {
    for quotes in ["\"\"\"", "'''"] {
        let open = format!("<a:s> <a:p> {quotes}oops{COMMENT}");
        assert_eq!(
            trig(&format!("{open}{Q}{COMMENT}{Q}"))[1..],
            ["<a:o>", "<a:o>"]
        );
        let directive =
            format!("VERSION \"1.2-messages\" {open}{Q}").replace("# @message", " Message # x");
        assert_eq!(trig(&directive)[1..], ["<a:o>"]);
        let directive = directive.replace(" Message # x", "@message .");
        assert_eq!(trig(&directive)[1..], ["<a:o>"]);
        // Delimiters that are not alone on their lines are text.
        let text =
            format!("VERSION \"1.2-messages\" <a:s> <a:p> {quotes} \nMESSAGE: x\na MESSAGE\n{Q}");
        assert_eq!(trig(&text).len(), 1);
        // The next quotes are followed by a letter, so they open a string in a later message. The
        // earlier string was therefore not closed.
        let again = format!("{Q} <a:s> <a:p> {quotes}text{COMMENT}in it{quotes} .{COMMENT}{Q}");
        assert_eq!(trig(&format!("] {open}{again}"))[1..].len(), 2);
        // This does not depend on where the reader found the error.
        assert_eq!(trig(&format!("{open}{again}")).last().unwrap(), "<a:o>");
    }
}

#[test]
fn buffering_of_a_long_string_is_limited() {
    let closes_in = |length: usize| {
        let text = "x".repeat(length);
        let log = format!("] <a:p> \"\"\"{COMMENT}{text}\"\"\" .{COMMENT}{Q}");
        let whole = skipping("trig", &Options::default(), log.as_bytes(), log.len());
        assert_eq!(
            skipping("trig", &Options::default(), log.as_bytes(), 65_536),
            whole
        );
        whole.len()
    };
    let limit = (1 << 20) - 6 - COMMENT.len();
    assert_eq!(closes_in(limit), 2);
    assert!(closes_in(limit + 1) > 2);
}

#[test]
fn prefixes_and_base_before_an_error_remain_declared() {
    let seen = trig(&format!(
        "PREFIX e: <a:> BASE <b:/>\n{Q}{COMMENT}e:s e:p e:o . PREFIX f: <c:> BASE <d:/> f:s <p> ]{COMMENT}e:s e:p <o>, f:o ."
    ));
    assert_eq!(
        seen[2],
        "<d:/o>|<a:s> <a:p> <c:o>".replace("<a:s> <a:p> ", "")
    );
    // Batches contain the declared prefixes, including those of the invalid message.
    let mut decoder = decoder("trig", &Options::default()).unwrap();
    decoder.feed(
        format!("PREFIX e: <a:> {Q}{COMMENT}PREFIX f: <b:> {Q} ]{COMMENT}]{COMMENT}{Q}").as_bytes(),
    );
    decoder.finish();
    assert!(decoder.next_batch_of::<Quad>().unwrap().is_some());
    for _ in 0..2 {
        decoder.next_batch_of::<Quad>().unwrap_err();
        decoder.skip_message().unwrap().unwrap();
    }
    let batch = decoder.next_batch_of::<Quad>().unwrap().unwrap();
    assert_eq!(batch.first_message_index(), 3);
    assert_eq!(batch.namespaces(0).get(b"e"), Some(&b"a:"[..]));
    assert_eq!(batch.namespaces(0).get(b"f"), Some(&b"b:"[..]));
}

#[test]
fn an_undeclared_prefix_after_a_skipped_message_is_a_consequence() {
    let log = format!(
        "]\nPREFIX e: <a:>{COMMENT}e:s e:p e:o .{COMMENT}<r> <a:p> <a:o> .{COMMENT}PREFIX e: <a:> e:s e:p e:o .{COMMENT}{Q} ]{COMMENT}g:s"
    );
    let seen = trig(&log);
    assert!(seen[0].starts_with("skipped ]"));
    assert_eq!(seen[1], "follows, skipped e:s e:p e:o .\n");
    assert_eq!(seen[2], "follows, skipped <r> <a:p> <a:o> .\n");
    assert_eq!(seen[3], "<a:o>");
    assert!(seen[4].starts_with("skipped <a:o>"));
    assert!(seen[5].starts_with("follows, "));
    let mut decoder = decoder("trig", &Options::default()).unwrap();
    decoder.feed(log.as_bytes());
    decoder.finish();
    let mut errors = Vec::new();
    loop {
        match decoder.next_batch_of::<Quad>() {
            Ok(None) => break,
            Ok(Some(_)) => {}
            Err(error) => {
                errors.push(error.to_string());
                decoder.skip_message().unwrap().unwrap();
            }
        }
    }
    // The reported cause is the last message whose error is not a consequence.
    for (error, message) in [(1, 0), (2, 0), (4, 4)] {
        let cause =
            format!("(it may have been declared in message {message}, which was skipped) (line");
        assert!(errors[error].contains(&cause), "{}", errors[error]);
    }
    assert_eq!(errors.len(), 5);
    // If nothing was skipped before, the error is not a consequence.
    assert_eq!(trig("e:s e:p e:o ."), ["skipped e:s e:p e:o ."]);
}

#[test]
fn a_prefix_or_base_redeclared_in_skipped_text_becomes_unknown() {
    let known = "PREFIX e: <a:> BASE <b:/>\n";
    for (skipped, prefix, base) in [
        ("", true, true),
        ("PREFIX e: <a:>\nBASE <b:/>", true, true),
        ("@prefix e: <a:> . @base <b:/> .", true, true),
        ("PREFIX e: <c:>", false, true),
        ("@prefix\te: # x\n<c:> .", false, true),
        ("PREFIX e: oops", false, true),
        ("prefix e: <c:", false, true),
        ("base <c:/>", true, false),
        ("@base oops .", true, false),
        ("\"PREFIX e: <c:>\" # BASE <c:/>", true, true),
        ("ex:PREFIX e: <c:> ex:base <c:/>", true, true),
    ] {
        let log =
            format!("{known}{Q} ]\n{skipped}{COMMENT}e:s e:p e:o .{COMMENT}<r> <a:p> <a:o> .");
        for lenient in [false, true] {
            let seen = trig_with(&Options::with("lenient", lenient), &log);
            assert_eq!(
                !seen[1].starts_with("follows"),
                prefix,
                "{skipped}: {seen:?}"
            );
            assert_eq!(!seen[2].starts_with("follows"), base, "{skipped}: {seen:?}");
            // The prefix and the base are known again after another declaration.
            let again =
                format!("{log}{COMMENT}{known}e:s e:p <o> .{COMMENT}PREFIX e: <f:> e:s e:p <o> .");
            let seen = trig_with(&Options::with("lenient", lenient), &again);
            assert_eq!(seen[3..], ["<b:/o>", "<f:s> <f:p> <b:/o>"], "{skipped}");
        }
    }
    // The error is in the directive itself.
    let seen = trig(&format!(
        "{known}{Q}\nPREFIX e: <a b:>{COMMENT}e:s e:p e:o ."
    ));
    assert!(seen[1].starts_with("follows"), "{seen:?}");
}

#[test]
fn blank_nodes_belong_to_their_message() {
    let seen = trig(&format!("[] <a:p> _:x, [] ]{COMMENT}[] <a:p> _:x ."));
    assert_eq!(seen[1], "_:_g0 <a:p> _:x");
}

#[test]
fn skipped_input_may_be_binary_or_too_long() {
    let options = Options::with("max_message_bytes", 100);
    let mut log = b"<a:s> <a:p> \"\xff\" . # \xff\n# @message \xff \xff\n".to_vec();
    log.extend_from_slice(
        format!("{Q}{COMMENT}<a:s> <a:p> <a:{}> .\n", "x".repeat(200)).as_bytes(),
    );
    log.extend_from_slice(format!("<a:s> <a:p> '''{}''' .\n", "y".repeat(200)).as_bytes());
    log.extend_from_slice(format!("# @message {}\n{Q}", "z".repeat(2000)).as_bytes());
    let seen = render(skipping_every_way("trig", &options, &log));
    assert_eq!(seen.len(), 4);
    assert_eq!(seen[1], "<a:o>");
    assert_eq!(seen[3], "<a:o>");
    // UTF-16 is one error, to the end of the log.
    let utf16: Vec<u8> = Q.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let seen = skipping_every_way(
        "ttl",
        &Options::default(),
        &[b"\xfe\xff", &utf16[..]].concat(),
    );
    assert_eq!(seen.len(), 1);
}

#[test]
fn at_most_1_mib_of_skipped_input_is_kept() {
    for (format, line, invalid, more) in [
        ("trig", Q, "]", Q),
        ("yamlld", "a: 1", "]", "x: y"),
        ("ndjsonld", "{}", "]", " "),
    ] {
        let more =
            format!("{more}{}", if format == "ndjsonld" { "" } else { "\n" }).repeat(2 << 20);
        let log = format!("{line}\n{invalid}{more}");
        let seen = skipping(format, &Options::default(), log.as_bytes(), 1 << 16);
        let (_, last) = seen.last().unwrap();
        assert_eq!(last.len(), "skipped ".len() + (1 << 20), "{format}");
    }
}

#[test]
fn skipping_ends_a_message_whose_first_parts_were_delivered() {
    let options = Options::default().parts(true).and("batch_quads", 2);
    let log = format!("{Q} {Q} {Q} ]{COMMENT}{Q}");
    let seen = skipping_every_way("trig", &options, log.as_bytes());
    let indexes: Vec<u64> = seen.iter().map(|(index, _)| *index).collect();
    assert_eq!(indexes, [0, 0, 1]);
}

#[test]
fn pieces_do_not_change_the_result_for_truncated_or_damaged_logs() {
    for log in [
        "PREFIX e: <a:>\ne:s <a:p> \"\"\"x\n# @message\n\"\"\"@en .\n# @message\nBASE <b:/> <r> a e:\\#, 'x' .\n#@message\r[] a ( 1.5 e:b.c ) .",
        "VERSION \"1.2-messages\" @prefix e: <a:> .\ne:g { e:s <a:p> '''\nMESSAGE\n''' }\nMESSAGE\n@message . <<( <a:s> <a:p> \"o\"@message )>> ]",
    ] {
        for end in 0..=log.len() {
            skipping_every_way("trig", &Options::default(), &log.as_bytes()[..end]);
        }
        let mut log = log.as_bytes().to_vec();
        let small = Options::with("max_message_bytes", 40).and("batch_quads", 1);
        for options in [Options::default(), small] {
            for index in 0..log.len() {
                for bit in 0..8 {
                    log[index] ^= 1 << bit;
                    let whole = skipping("trig", &options, &log, log.len());
                    for piece in [1, 5] {
                        assert_eq!(skipping("trig", &options, &log, piece), whole);
                    }
                    log[index] ^= 1 << bit;
                }
            }
        }
    }
}

/// Well-formed statements with tokens that contain text like delimiters.
const STATEMENTS: [&str; 14] = [
    "e:s e:p \"\"\"a\n# @message\nMESSAGE\n\"\"\" .",
    "e:s e:p '''\n@message .\n\\'''\n# @message \"\"\" '''@en , \"\"\"\"\"\" .",
    "e:s e:p \"# @message\" , 'MESSAGE \\'' , \"\"@message .",
    "<a:#@message> e:p <a:MESSAGE#> .",
    "e:MESSAGE e:a.MESSAGE _:MESSAGE . # see # @message",
    "e:a\\#\\@message a e:\\'x .",
    "e:g { e:s e:p ( 1.5 -2e3 true \"x\"^^e:d ) }",
    "[ e:p [] ; e:q <<( e:s e:p \"o\"@en--ltr )>> ] .",
    "<< e:s e:p e:o ~ e:r >> e:p \"\" {| e:q 1 |} .",
    "# message\ne:s e:p 1 , 2 ; e:q .5 ;.",
    "MESSAGE:s MESSAGE:p message:o .",
    "VERSION:s e:p PREFIX:o , BASE: .",
    "PREFIX e: <http://e/> @base <b:/> .",
    "e:s e:p '\\'' , \"\\\"\" , \"\\\\\" .",
];

/// Text that makes a message invalid if it is inserted between two statements. It does not affect
/// the following lines.
const INVALID: [&str; 9] = [
    "]",
    "\"oops",
    "'",
    "<a:b c> <",
    "e:s e:p e:o",
    "@oops",
    "e:s e:p \"\\x\" .",
    "e:s e:p '''\\x\n# @message\n''' .",
    "undeclared:s",
];

#[test]
fn an_error_does_not_affect_other_messages() {
    let head = "BASE <b:/> PREFIX e: <http://e/> PREFIX MESSAGE: <m:> PREFIX message: <n:> \
                PREFIX VERSION: <v:> PREFIX PREFIX: <p:> PREFIX BASE: <q:> e:first a e:message .";
    let mut random = 1u64;
    let mut below = |bound: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % bound
    };
    for round in 0..400 {
        let (announced, delimiters) = if round % 2 == 0 {
            let delimiters = ["\nMESSAGE\n", "\n@message .\n", " message # x\n"];
            ("VERSION \"1.2-messages\"\n", delimiters)
        } else {
            ("", ["\n# @message\n", "# @messages\n", "\r\n#\t@message\r"])
        };
        let mut messages: Vec<Vec<&str>> = vec![vec![head]];
        messages.extend((0..4).map(|_| {
            let length = 1 + below(3);
            (0..length)
                .map(|_| STATEMENTS[below(STATEMENTS.len())])
                .collect()
        }));
        let between: Vec<_> = (0..4).map(|_| delimiters[below(3)]).collect();
        let written = |messages: &[Vec<&str>]| {
            let mut log = announced.to_owned();
            for (position, message) in messages.iter().enumerate() {
                // A comment extends to the end of its line.
                log += &message.join("\n");
                log.push('\n');
                log += between.get(position).copied().unwrap_or_default();
            }
            log
        };
        let read = |log: &str| skipping_every_way("trig", &Options::default(), log.as_bytes());
        let whole = read(&written(&messages));
        assert!(
            whole.iter().all(|(_, text)| !text.contains("skipped ")),
            "{whole:?}"
        );
        let invalid = 1 + below(4);
        let place = below(messages[invalid].len() + 1);
        messages[invalid].insert(place, INVALID[below(INVALID.len())]);
        let log = written(&messages);
        let mut seen = read(&log);
        let position = seen.iter().position(|(index, _)| *index == invalid as u64);
        let (_, skipped) = seen.remove(position.expect("the invalid message"));
        assert!(skipped.starts_with("skipped "), "{log}");
        let others: Vec<_> = whole
            .into_iter()
            .filter(|(index, _)| *index != invalid as u64)
            .collect();
        assert_eq!(seen, others, "{log}");
    }
}

// --- JSON-LD ---

const A: &str = "\"@id\":\"a:s\",\"p\":\"x\"";
const READ: &str = "<a:s> <a:p> \"x\" .";

fn json(log: &str) -> Vec<(u64, String)> {
    skipping_every_way("ndjsonld", &Options::default(), log.as_bytes())
}

fn yaml(log: &str) -> Vec<(u64, String)> {
    skipping_every_way("yamlld", &Options::default(), log.as_bytes())
}

fn owned(entries: &[(u64, &str)]) -> Vec<(u64, String)> {
    let entries = entries.iter();
    entries
        .map(|(index, text)| (*index, (*text).to_owned()))
        .collect()
}

#[test]
fn errors_in_lines_without_their_context_line_are_consequences() {
    for invalid in [
        r#"{"@context":{"p":"a:p"}"#,
        r#"{"@context":{"p":"a:p"}}}"#,
        "{\"@context\":{\"p\":\"\u{1}a:p\"}}",
        r#"{"@context":{"p":{"@id":"a:p","@container":"oops"}}}"#,
        r#"{"@context":"http://nowhere.example/"}"#,
    ] {
        let line = format!("{{{A}}}");
        let log =
            format!("{{}}\n{invalid}\n{line}\n{{}}\n{{\"@context\":{{\"p\":\"a:p\"}}}}\n{line}\n");
        let seen = json(&log);
        assert_eq!(seen[0], (0, String::new()), "{invalid}");
        assert_eq!(seen[1], (1, format!("skipped {invalid}\n")), "{invalid}");
        assert_eq!(
            seen[2],
            (2, format!("follows, skipped {line}\n")),
            "{invalid}"
        );
        assert_eq!(seen[3], (3, String::new()), "{invalid}");
        assert_eq!(seen[4], (4, READ.to_owned()), "{invalid}");
        assert_eq!(seen.len(), 5);
    }
    // A context line that is too long to be read.
    let options = Options::with("max_message_bytes", 100);
    let pad = " ".repeat(200);
    let log = format!("{{ \"@context\":{{\"p\":\"b:p\"}}{pad}}}\n{{{A}}}\n");
    let seen = skipping_every_way("ndjsonld", &options, log.as_bytes());
    assert!(seen[1].1.starts_with("follows"), "{seen:?}");
    let log = format!("{{{A}{pad}}}\n{{{A}}}\n");
    let seen = skipping_every_way("ndjsonld", &options, log.as_bytes());
    assert_eq!(seen[1], (1, String::new()));
}

#[test]
fn an_invalid_message_with_its_own_context_does_not_affect_the_next_one() {
    let line = format!("{{\"@context\":{{\"p\":\"a:p\"}},{A}}}");
    let invalid = &line[..line.len() - 3];
    assert_eq!(
        json(&format!("{line}\n{invalid}\n{line}\n")),
        owned(&[(0, READ), (1, &format!("skipped {invalid}\n")), (2, READ)])
    );
    let document = "---\n\"@context\":\n  p: a:p\n\"@id\": a:s\np: x\n";
    let invalid = format!("{document}[\n");
    assert_eq!(
        yaml(&format!("{document}{invalid}{document}")),
        owned(&[(0, READ), (1, &format!("skipped {invalid}")), (2, READ)])
    );
}

#[test]
fn yaml_resumes_at_the_next_document() {
    let good = "\"@id\": a:s\na:p: x\n";
    for invalid in [
        "a: [\n",
        "a: 'x\n\n",
        "a: b: c\n",
        "a: |\n  ---\n ---\n b: [\n",
        "1: 2\n",
        "text\n",
        "*nowhere\n",
        "a: \u{1}\n",
        "{\"@id\": {}}\n",
    ] {
        for (before, between, after) in [
            ("", "---\n", ""),
            ("--- # c\n", "...\n# c\n", "..."),
            ("%YAML 1.2\n---\n", "...\n%YAML 1.2\n---\n", "...\n"),
        ] {
            let end = if between.starts_with("...") {
                "...\n"
            } else {
                ""
            };
            let log = format!("{before}{good}{between}{invalid}{between}{good}{after}");
            let seen = yaml(&log);
            assert_eq!(seen[0], (0, READ.to_owned()), "{log}");
            let (index, skipped) = &seen[1];
            assert_eq!(*index, 1);
            assert!(
                skipped.ends_with(&format!("{invalid}{end}")),
                "{log}: {skipped}"
            );
            assert_eq!(seen[2..], owned(&[(2, READ)]), "{log}");
        }
    }
    // Invalid UTF-8, and a document that is too large.
    let options = Options::with("max_message_bytes", 120);
    let mut log = b"a: \xff\n---\n".to_vec();
    log.extend_from_slice(format!("a: {}\nb: c\n---\n{good}", "x".repeat(300)).as_bytes());
    let seen = skipping_every_way("yamlld", &options, &log);
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2], (2, READ.to_owned()));
}

#[test]
fn errors_in_documents_without_their_context_document_are_consequences() {
    let good = "---\n\"@id\": a:s\np: x\n";
    for invalid in [
        "\"@context\":\n  p: [\n",
        "@context:\n  p: a:p\n",
        "--- {\"@context\": {\"p\": \"a:p\"}\n",
        "\"@context\":\n  p: {\"@id\": a:p, \"@container\": oops}\n",
    ] {
        let log = format!("{invalid}{good}---\n\"@context\": {{p: a:p}}\n{good}");
        let seen = yaml(&log);
        assert_eq!(seen[0], (0, format!("skipped {invalid}")));
        assert_eq!(
            seen[1],
            (1, format!("follows, skipped {good}")),
            "{invalid}"
        );
        assert_eq!(seen[2..], owned(&[(2, READ)]));
    }
}

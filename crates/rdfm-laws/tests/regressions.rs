//! Minimal inputs that once broke a law.

use rdfm_laws::options::{Reading, format};
use rdfm_laws::{any_bytes, decode};

/// Compares decoding in one piece with decoding in several, with a limit of 64 bytes.
fn within_64_bytes(format: &str, data: &[u8]) {
    let reading = Reading::for_format(format)
        .with("max_message_bytes", 64)
        .with("batch_messages", 1);
    decode::pieces(&reading, data);
}

#[test]
fn triple_terms_with_blank_nodes_are_compared_by_structure() {
    let nested = b"PREFIX : <http://e/>\n:s :p :o {| :a :b {| :a2 :b2 |} |}.";
    any_bytes(format("ttl"), nested);
    any_bytes(format("trig"), nested);
}

#[test]
fn lang_string_without_a_tag_survives_json_ld() {
    let literal = b"<a:> <b:> \"x\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .";
    any_bytes(format("nq"), literal);
}

#[test]
fn pieces_do_not_change_the_error_for_an_oversized_invalid_token() {
    let long = "d".repeat(70);
    for wrong in [
        format!("<http://e{{{long}\n"),
        format!("</p> {long} .\n"),
        format!("VERSIe{long}.x//\n"),
        format!("<s> <p> \"{long}\n\" .\n"),
        format!("_:a <http://e/p> <http://e/o> # {long}{long}\n."),
    ] {
        within_64_bytes("ttl", wrong.as_bytes());
        within_64_bytes("trig", wrong.as_bytes());
    }
    for wrong in [
        format!("<?xml?><a b=\"{long}<\"/>"),
        format!("<a {long}<=''/>"),
        format!("<a><![CDATA[{long}]]></a><!--{long}---->"),
    ] {
        within_64_bytes("rdfxml", wrong.as_bytes());
    }
}

#[test]
fn the_maximum_varint_at_the_start_of_rdf_protobuf_is_an_error() {
    any_bytes(
        format("rdf-protobuf"),
        b"\x1c\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    );
    any_bytes(
        format("rdf-protobuf"),
        b"\x1c\x22\xff\xff\xff\xff\xff\xff\xff\xffam?ple.org\x12\0\0::\x1a9http:",
    );
}

#[test]
fn pieces_do_not_change_the_end_of_a_yaml_document_of_maximum_size() {
    for length in 58..=62 {
        let text = "x".repeat(length);
        within_64_bytes("yamlld", format!("a: {text}\n--- {{}}\n").as_bytes());
        within_64_bytes("yamlld", format!("a: {text}\n---").as_bytes());
        within_64_bytes("yamlld", format!("a: {text}\n--").as_bytes());
        within_64_bytes("yamlld", format!("a: {text}\n...\n").as_bytes());
    }
    let long = " ".repeat(100);
    within_64_bytes("yamlld", format!("a: 1\n---{long}\n").as_bytes());
}

#[test]
fn pieces_do_not_change_the_error_for_an_oversized_invalid_token_in_results() {
    let long = "d".repeat(70);
    for wrong in [
        format!("{{\"head\":\"\x14{long}"),
        format!("{{\"head\":\"\x14{long}\"}}"),
        format!("{{\"head\":\"{long}\x14\"}}"),
        format!("{{\"head\":\"{long}\\\x14"),
        format!("{{\"head\":{long}"),
        format!("{{\"head\":{long} }}"),
        format!("{{\"head\":{{}} {long} }}"),
        format!("{{{long} }}"),
        format!("{{\"{}\":", "d".repeat(61)),
    ] {
        within_64_bytes("results-json", wrong.as_bytes());
        within_64_bytes("results-json", &wrong.as_bytes()[..wrong.len() - 1]);
    }
    for wrong in [
        format!("<sparql a=\"{long}<\"/>"),
        format!("<sparql {long}<=''/>"),
        format!("<sparql><![CDATA[{long}]]></sparql><!--{long}---->"),
    ] {
        within_64_bytes("results-xml", wrong.as_bytes());
    }
}

#[test]
fn a_number_in_rdf_patch_continues_after_its_sign() {
    // The result must not depend on the length of the row before the number.
    for length in 0..20 {
        let name = "p".repeat(length);
        for number in ["1.E+1e0", "1.E+1", "1.e-1"] {
            let row = format!("A <a:s> <a:{name}> {number} .\n");
            within_64_bytes("rdf-patch", row.as_bytes());
        }
    }
}

#[test]
fn the_maximum_varint_in_jelly_options_is_an_error() {
    let log = b"\x16\x0a\x14\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08\x01\x10\x01\x18\x01\x20\x01\x48\x80";
    for name in ["jelly", "jelly-patch"] {
        any_bytes(format(name), log);
        any_bytes(format(name), &log[1..]);
    }
}

#[test]
fn dots_after_a_name_count_towards_its_length() {
    let dots = ".".repeat(70);
    for text in [
        format!("_:site{dots} <http://e/p> 1 ."),
        format!("<http://e/s> <http://e/p> _:site{dots} ."),
        format!("PREFIX : <http://e/>\n:site{dots} <http://e/p> 1 ."),
        format!("PREFIX e: <http://e/>\n<http://e/s> e:p{dots} 1 ."),
    ] {
        within_64_bytes("ttl", text.as_bytes());
        within_64_bytes("trig", text.as_bytes());
    }
    for text in [
        format!("A _:site{dots} <http://e/p> 1 ."),
        format!("PA e <http://e/> .\nA <http://e/s> e:p{dots} 1 ."),
    ] {
        within_64_bytes("rdf-patch", text.as_bytes());
    }
    let text = format!("?x\n_:site{dots}\n");
    within_64_bytes("results-tsv", text.as_bytes());
}

#[test]
fn the_maximum_varint_in_a_stream_of_rdf_protobuf_is_an_error() {
    let log = b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x0b";
    any_bytes(format("rdf-protobuf"), log);
}

#[test]
fn the_end_of_a_patch_has_the_same_offset_however_its_rows_are_read() {
    // A frame that ends inside a transaction, and the beginning of another frame.
    let log = b"\xec\x01\
        \x0a\x13\x0a\x11\x08\x02\x10\x01\x18\x01\x20\x01H\x80\x08P@X@x\x01\
        \x0a\x19b\x17\x08\x01\x12\x13\x0c\x00\x00\x00\x00\x00\x00\x00xample.org/\
        \x0a\x04Z\x02\x08\x01\
        \x0a\x20b\x1e\x08\x02\x12\x1ahttp://example.org/graphs#\
        \x0a\x07Z\x05\x08\x02\x12\x01g\
        \x0a\x07Z\x05\x08\x03\x12\x01s\
        \x0a\x07Z\x05\x08\x04\x12\x01p\
        \x0a\x20b\x1e\x08\x03\x12\x1ahttp://example.org/things/\
        \x0a\x07Z\x05\x08\x05\x12\x01o\
        \x0a\x1a\x12\x18\x0a\x04\x08\x01\x10\x03*\x04\x08\x01\x10\x04J\x04\x08\x03\x10\x05j\x04\x08\x02\x10\x02\
        \x0a\x162\x14\x0a\x04\x08\x01\x10\x03*\x04\x08\x01\x10\x04J\x04\x08\x03\x10\x05z\x00\
        \x0a\x18\x1a\x16\x0a\x04\x08\x01\x10\x03*\x04\x08\x01\x10\x04J\x04\x08\x03\x10\x05r\x02b0\
        ((((((((";
    any_bytes(format("jelly-patch"), log);
}

#[test]
fn all_bytes_read_to_find_the_end_of_a_keyword_count_towards_its_length() {
    let run = r"\\".repeat(35);
    for text in [
        format!("VERSION{run} \"1.2\""),
        format!("PREFIX.{run}% : <http://e/>"),
        format!("<http://e/s> a{run} <http://e/o> ."),
        format!("<http://e/s> <http://e/p> true{run} ."),
        format!("PREFIX e:{run} <http://e/>"),
    ] {
        within_64_bytes("ttl", text.as_bytes());
        within_64_bytes("trig", text.as_bytes());
    }
}

#[test]
fn a_field_that_only_other_formats_know_does_not_hide_the_first_row() {
    // A frame whose unknown field 2 is a number, and a frame of stream type PUNCTUATED with a mark.
    let log = b"\x02\x10\x10\
        \x19\x0a\x13\x0a\x11\x08\x02\x10\x03\x18\x01\x20\x01H\x80\x08P@X@x\x01\x0a\x02z\x00";
    any_bytes(format("jelly-patch"), log);
}

#[test]
fn a_token_does_not_continue_at_the_position_of_the_one_before() {
    for format_name in ["ttl", "trig"] {
        any_bytes(format(format_name), b"<a:s> a .5 , 7 , 'x' ; a <a:o> .");
        any_bytes(format(format_name), b"[ a .5 ; a -1e3 ] .");
    }
}

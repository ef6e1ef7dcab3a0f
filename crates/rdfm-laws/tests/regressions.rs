//! Minimal inputs that once broke a law.

use rdfm_core::formats::Format;
use rdfm_laws::any_bytes;

#[test]
fn triple_terms_that_hold_blank_nodes_are_compared_by_structure() {
    let nested = b"PREFIX : <http://e/>\n:s :p :o {| :a :b {| :a2 :b2 |} |}.";
    any_bytes(Format::Ttl, nested);
    any_bytes(Format::Trig, nested);
}

#[test]
fn a_language_type_without_a_tag_is_not_written_as_what_readers_of_json_ld_drop() {
    let literal = b"<a:> <b:> \"x\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .";
    any_bytes(Format::Nq, literal);
}

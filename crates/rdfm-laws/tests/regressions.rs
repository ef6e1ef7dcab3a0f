//! Minimal inputs that once broke a law.

use rdfm_core::formats::Format;
use rdfm_laws::any_bytes;

#[test]
fn triple_terms_that_hold_blank_nodes_are_compared_by_structure() {
    let nested = b"PREFIX : <http://e/>\n:s :p :o {| :a :b {| :a2 :b2 |} |}.";
    any_bytes(Format::Ttl, nested);
    any_bytes(Format::Trig, nested);
}

//! The laws of encoders over a log whose namespaces change.

use rdfm_laws::options::{Reading, Writing};
use rdfm_laws::{encode, targets};

const LOG: &str = "PREFIX a: <http://a/>\nPREFIX b: <http://b/>\na:s a:p a:o .\n# @message\n\
    b:s b:p \"1\"^^b:t .\n# @message\nPREFIX c: <http://c/>\n<http://x/s> b:p c:o .\n# @message\n\
    a:s b:p c:o .\n# @message\nPREFIX a: <http://other/>\na:s <http://a/p> \"x\" .\n# @message\n\
    PREFIX urn: <http://u/>\n# @message\n<urn:x> urn:p 1 .\n# @message\n<urn:y> b:p 3 .\n# @message\n\
    PREFIX x: <urn:x>\na:s a:p urn:x .\n";

#[test]
fn changing_namespaces_are_encoded_independently_of_batches() {
    let source = Reading::for_format("ttl").format;
    for context_lines in ["first", "every", "none"] {
        for target in targets(source) {
            let writing = Writing::new(target)
                .with_if_supported("context_lines", context_lines)
                .with_if_supported("namespaces", true);
            encode::round_trip(&writing, &Reading::for_format("ttl"), LOG.as_bytes());
        }
    }
}

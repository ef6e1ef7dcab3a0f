"""The rules of `validate`.

Law: rule names are stable. `RULES` determines whether a finding is an error or a warning, with two
exceptions: a shape can make a `shacl` violation a warning, and a broken `chain` between two logs is
a warning by default.
"""

from __future__ import annotations

from rdfm.analysis.finding import READING_RULES, Rule

__all__ = ["RULES"]

_ERRORS = {name: rule for name, rule in READING_RULES.items() if rule.severity == "error"}
RULES: dict[str, Rule] = {
    **_ERRORS,
    "stream-options": Rule("error", "A Jelly log exceeds the given stream options."),
    "shacl": Rule(
        "error", "A message does not conform to the shapes; a shape can make this a warning."
    ),
    "transaction": Rule(
        "error",
        "A patch commits or aborts a transaction that has not begun, or begins one within another.",
    ),
    "chain": Rule(
        "error",
        "The prev of a patch is not the id of the previous patch (a warning between two logs).",
    ),
    "unfinished-transaction": Rule(
        "warning",
        "A patch does not end a transaction; applying the patch undoes the transaction.",
    ),
    "no-logs": READING_RULES["no-logs"],
    "uncommitted": READING_RULES["uncommitted"],
    "joined": Rule("warning", "Jelly logs may have been joined into one message."),
    "large-frame": Rule("warning", "A Jelly frame is larger than the recommended 1 MB."),
    "wrong-mark": Rule(
        "warning", "A Jelly frame has a restart mark, but depends on earlier frames."
    ),
    "open-end": Rule("warning", "A log in Jelly 1.2 ends before the length of its last message."),
    "unknown-field": Rule(
        "warning", "A log in a binary format has fields that rdfm does not know, and skips."
    ),
    "beyond-version": Rule(
        "warning",
        "A log contains something that the version which it states does not have.",
    ),
    "undeclared-generalized": Rule(
        "warning", "A Jelly log has generalized statements that its options do not declare."
    ),
    "look-alike": Rule("warning", "A comment looks like a message delimiter but is not one."),
    "key-without-iri": Rule(
        "warning", "JSON-LD keys without an IRI in the context are dropped with their values."
    ),
    "relative-iri": Rule(
        "warning", "An IRI has no scheme, so its meaning depends on the base of the reader."
    ),
    "ill-typed-literal": Rule(
        "warning", "The text of a literal is not in the lexical space of its datatype."
    ),
    "language-tag": Rule("warning", "A language tag is not well-formed according to BCP 47."),
    "shared-blank-node": Rule(
        "warning", "Messages use the same blank node label for different nodes."
    ),
    "redeclared-namespace": Rule(
        "warning", "A prefix was declared earlier in the log with a different IRI."
    ),
}

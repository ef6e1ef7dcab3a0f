"""Text parser errors: the unexpected token, and what was probably meant."""

import pytest
from support import decode

TEXTS = ["nt", "nq", "ttl", "trig"]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        ("en_US", "'en_US' is not a valid language tag; did you mean en-US?"),
        ("zh_Hans_CN", "'zh_Hans_CN' is not a valid language tag; did you mean zh-Hans-CN?"),
        ("en_", "'en_' is not a valid language tag"),
        ("en_" + "x" * 90, f"'en_{'x' * 37}…' is not a valid language tag"),
    ],
)
def test_errors_suggest_language_tags_without_underscores(name, tag, reason):
    _, error = decode(name, f'<a:s> <a:p> "o"@{tag} .\n'.encode())
    assert error.startswith(f"{name}: {reason} (line 1, column 1")


def test_a_blank_node_may_follow_a_language_tag():
    messages, error = decode("nq", b'<a:s> <a:p> "o"@en_:g .\n')
    assert error is None
    assert messages[0][0][3] == ("bnode", "g")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_error_for_an_unclosed_string_has_the_position_of_its_start(name, end):
    text = f'<a:s> <a:p> "abc .{end}<a:s> <a:p> "x" .{end}'
    _, error = decode(name, text.encode())
    assert "the string is not closed on its line" in error
    assert "(line 1, column 19" in error


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nt", 'N-Triples has no prefixed names; format="ttl"'),
        ("nq", 'N-Quads has no prefixed names; format="trig"'),
    ],
)
@pytest.mark.parametrize(
    "line",
    [
        "ex:a <a:p> <a:o> .",
        ":a <a:p> <a:o> .",
        "<a:s> ex:p <a:o> .",
        "<a:s> <a:p> ex:o .",
        "<a:s> <a:p> é.x:o .",
        '<a:s> <a:p> "1"^^xsd:integer .',
        "<a:s> <a:p> <a:o> ex:g .",
        "<a:s> <a:p> <<( <a:s> ex:p <a:o> )>> .",
        "@prefix ex: <http://example.org/> .",
        "PREFIX ex: <http://example.org/>",
        "@base <http://example.org/> .",
    ],
)
def test_turtle_in_a_line_based_log_is_recognized(name, hint, line):
    _, error = decode(name, f"{line}\n".encode())
    assert f"; {hint} (from_format in convert) reads it (line 1" in error


@pytest.mark.parametrize("line", ["http://e/a <a:p> <a:o> .", "junk", "<a:s> a <a:o> .", "_x:a"])
def test_errors_mention_prefixed_names_only_if_there_are_any(line):
    _, error = decode("nq", f"{line}\n".encode())
    assert "prefixed" not in error

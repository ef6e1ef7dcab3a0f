"""YAML-LD: indentation that YAML does not allow is rejected, whatever the event parser accepts."""

import pytest
from support import decode, decoded

HEAD = '"@context":\n  "@vocab": http://e/\n  v:\n    "@type": "@json"\n---\n'


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("v:\n  a: x\n\t# c\n   y\n", "a comment inside a value of several lines"),
        ("v:\n  a: x\n  # c\n   y\n", ""),
        ("v:\n \t - z\n", "a tab as indentation"),
        ("v:\n\t- z\n", "tab"),
        ("v:\n \ta: z\n", "tab"),
        ("v:\n  a: 1\n\tb: 2\n", ""),
        ('v:\n  a: "x\n  y"\n', "quoted"),
        ("v:\n  a: 'x\n y'\n", "quoted"),
        ('v:\n  a: ["x\n y"]\n', "quoted"),
        ('v: "x\ny"\n', ""),
        ('v: "x\n\ty"\n', ""),
    ],
)
def test_invalid_indentation_is_an_error(document, reason):
    messages, error = decode("yamlld", (HEAD + document).encode())
    assert messages == []
    assert reason in error


@pytest.mark.parametrize(
    "document",
    [
        "v:\n  a: x\n     y\n",
        "v:\n  a:\n    \tx\n",
        "v: [a,\n \tb]\n",
        "v:\n  [a,\n  \t{b: c}]\n",
        'v:\n  a: "x\n   y"\n',
        'v:\n  a: "x\n\n   \ty"\n',
        "v:\n  a: |\n    x\n    \t- y\n",
        "v:\n- a: 'x\n   y'\n",
        'v:\n- "x\n y"\n',
        "\t# a comment\nv: 1\n",
    ],
)
def test_valid_indentation_is_accepted(document):
    assert len(decoded("yamlld", (HEAD + document).encode())) == 1


@pytest.mark.parametrize(
    "document",
    ['{"@id": "http://e/a",\n"http://e/p": "one\ntwo"}', '---\n[{"http://e/p": "one\n\ntwo"}]'],
)
def test_lines_of_a_document_in_flow_style_need_no_indentation(document):
    assert len(decoded("yamlld", document.encode())) == 1

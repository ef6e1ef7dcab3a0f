"""YAML-LD: limits on repetition through aliases, and error positions."""

import pytest
from support import decode

import rdfm
from rdfm import formats


@pytest.mark.slow
@pytest.mark.parametrize("index_entry", ["", '"@index": i\n'])
def test_text_repeated_by_aliases_is_counted_each_time(index_entry):
    """With @index, the full algorithm receives the expanded document."""
    text = "k" * 100_000
    aliases = ", ".join(["*s"] * 100_000)
    document = f'{index_entry}"@id": x:a\nx:s: &s "{text}"\nx:l: [{aliases}]\n'
    messages, error = decode("yamlld", document.encode())
    assert messages == []
    assert "a larger max_message_bytes allows it" in error


def test_a_tab_is_an_error_at_its_position():
    messages, error = decode("yamlld", b'"@id": x:a\n---\n"@id": x:b\nx:p:\n  x:q: 1\n\tx:r: 2\n')
    assert len(messages) == 1
    assert "found a tab" in error
    assert "(line 6, column 1, byte 40, message 1)" in error


@pytest.mark.parametrize("text", ["@context:\n  ex: http://e/\n", "ex:a: @none\n"])
def test_keys_with_an_at_sign_must_be_quoted(text):
    with pytest.raises(rdfm.DecodeError, match='use quotes, as in "@context"'):
        list(rdfm.open_log(text.encode(), "yamlld"))


@pytest.mark.parametrize("messages", [[], [[]], [[], []]])
def test_a_log_ends_with_a_document_end_marker(messages):
    module = formats.find("yamlld")
    data = module.encode(rdfm.MessageBatch.from_messages(messages))
    assert data.endswith(b"...\n")
    assert len(module.decode(data)) == len(messages)

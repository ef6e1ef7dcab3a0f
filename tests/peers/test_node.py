"""N3.js both ways: it reads our text, and we read what it writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from nquads import relabelled
from samples import folded, log_of, text_cases, whole
from support import decoded, encode

pytestmark = pytest.mark.peers


def there_and_back(node, log, format):
    """It sees the comment dialect as one document."""
    wanted = relabelled(whole(folded(log)))
    written = encode(format, log, dialect="comment")
    assert relabelled(whole(folded([node.quads(written, format)]))) == wanted
    back = decoded(format, node.convert(written, format, format))
    assert relabelled(whole(folded(back))) == wanted


@pytest.mark.parametrize(("name", "format"), [*text_cases("nt", "nq", "ttl", "trig")])
def test_n3_reads_our_text_and_we_read_its(node, name, format):
    there_and_back(node, log_of(name), format)


@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "trig"])
@given(data=st.data())
def test_n3_reads_any_text_of_ours_and_we_read_its(node, format, data):
    there_and_back(
        node, [whole(data.draw(logs(graphs=format in ("nq", "trig"), plain="terms")))], format
    )

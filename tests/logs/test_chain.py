"""Whether patches follow one another."""

import pytest

from rdfm import Iri, formats
from rdfm.logs.chain import Broken, Chain


def chained(*logs, batch_quads=8192):
    """The chain of logs of RDF Patch, one after the other."""
    chain = Chain()
    for log in logs:
        decoder = formats.find("rdf-patch").Decoder(batch_quads=batch_quads)
        decoder.feed(log.encode())
        decoder.finish()
        while (batch := decoder.next_batch()) is not None:
            chain.add(batch)
    return chain


def one(id="", prev="", rows="TX .\nA <a:s> <a:p> <a:o> .\nTC .\n"):
    """A patch."""
    links = [("id", id), ("prev", prev)]
    return "".join(f"H {key} <a:{value}> .\n" for key, value in links if value) + rows


WHOLE = [one("1"), one("2", "1"), one("3", "2")]


@pytest.mark.parametrize("size", [1, 2, 8192])
@pytest.mark.parametrize(
    ("patches", "broken", "reason"),
    [
        (WHOLE, 0, None),
        ([], 0, None),
        ([one("5", "4")], 0, None),  # the first follows any
        ([one(), one(), one("1"), one()], 0, None),  # and so does one that names none
        ([*WHOLE, one("4", "2")], 1, (3, "prev is <a:2>, and the patch before has the id <a:3>")),
        (
            [one("1"), one(prev="1"), one(prev="1")],
            1,
            (2, "prev is <a:1>, and the patch before has no id"),
        ),
        (
            [one("2", "1"), one("2", "1"), one("2", "1")],
            2,
            (1, "prev is <a:1>, and the patch before has the id <a:2>"),
        ),
        # In any case, and in any order.
        (["H ID <a:1> .\n", "H Prev <a:1> .\nH id <a:2> .\n", one("3", "2")], 0, None),
        # A literal is no IRI.
        (
            [one("1"), 'H prev "a:1" .\n'],
            1,
            (1, 'prev is "a:1", and the patch before has the id <a:1>'),
        ),
    ],
)
def test_links(patches, broken, reason, size):
    for logs in (["Z .\n".join(patches)], patches):
        chain = chained(*logs, batch_quads=size)
        assert chain.broken == broken
        if reason is None:
            assert chain.first is None
        else:
            index, text = reason
            assert chain.first == Broken(index if len(logs) == 1 else 0, text)


def test_a_patch_goes_on_over_batches():
    """The parts of a patch are one link, wherever its header stands."""
    operations = [("A", None, Iri("a:s"), Iri("a:p"), Iri(f"a:{n}"), None) for n in range(9000)]
    id_of = lambda value: ("H", "id", None, None, Iri(value), None)  # noqa: E731
    prev_of = lambda value: ("H", "prev", None, None, Iri(value), None)  # noqa: E731
    from rdfm._core import PatchBatch

    batch = PatchBatch.from_patches(
        [[id_of("a:1"), *operations], [*operations, prev_of("a:1"), id_of("a:2")], [prev_of("a:2")]]
    )
    data = formats.find("jelly-patch").encode(batch)
    for parts in ("always", "never"):
        from rdfm import open_log

        chain, parts_seen = Chain(), 0
        with open_log(data, "jelly-patch", parts=parts == "always") as log:
            for each in log.batches():
                parts_seen += each.continued
                chain.add(each)
        assert (parts_seen > 0) == (parts == "always")
        assert (chain.broken, chain.links) == (0, 2)

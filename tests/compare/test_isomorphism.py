"""Isomorphism of datasets: exact, even if blank nodes are similar, and bounded."""

import random
from itertools import permutations

import pytest

from rdfm import BlankNode, Iri, LimitError, Literal, Quad, TripleTerm
from rdfm.compare.isomorphism import isomorphic

P, Q = Iri("http://example.org/p"), Iri("http://example.org/q")


def node(number):
    return BlankNode(f"b{number}")


def renamed(quads, labels):
    def term(value):
        if isinstance(value, BlankNode):
            return BlankNode(labels[value.value])
        if isinstance(value, TripleTerm):
            return TripleTerm(term(value.subject), term(value.predicate), term(value.object))
        return value

    return [Quad(*(term(value) for value in quad)) for quad in quads]


def shuffled(quads, count, seed=1):
    order = list(range(count))
    random.Random(seed).shuffle(order)
    result = renamed(quads, {f"b{i}": f"x{order[i]}" for i in range(count)})
    random.Random(seed + 1).shuffle(result)
    return result


def edges(*pairs):
    return [Quad(node(a), P, node(b)) for a, b in pairs]


SHAPES = {
    "interchangeable nodes": (50, [Quad(node(i), P, P, Q) for i in range(50)]),
    "star": (50, edges(*((0, i) for i in range(1, 50)))),
    "path": (300, edges(*((i, i + 1) for i in range(299)))),
    "cycle": (300, edges(*((i, (i + 1) % 300) for i in range(300)))),
    "pairs": (40, edges(*((i, i ^ 1) for i in range(40)))),
    "clique": (8, edges(*((a, b) for a in range(8) for b in range(8) if a != b))),
    "cube": (32, edges(*((a, a ^ 1 << k) for a in range(32) for k in range(5)))),
    "triple terms": (9, [Quad(node(i), P, TripleTerm(node((i + 1) % 9), Q, P)) for i in range(9)]),
    "generalized": (9, [Quad(Literal("x"), node(i), node((i + 1) % 9), node(i)) for i in range(9)]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_labels_and_order_are_ignored(name):
    count, quads = SHAPES[name]
    assert isomorphic(quads, shuffled(quads, count))
    assert isomorphic(quads, quads + quads[:1])
    assert not isomorphic(quads, shuffled(quads, count)[1:])


def test_a_hexagon_is_not_two_triangles():
    hexagon = edges(*((i, (i + 1) % 6) for i in range(6)))
    triangles = edges(
        *((i, (i + 1) % 3) for i in range(3)), *((3 + i, 3 + (i + 1) % 3) for i in range(3))
    )
    assert not isomorphic(hexagon, triangles)


def test_the_rook_graph_is_not_the_shrikhande_graph():
    """Colour refinement cannot distinguish these two graphs."""
    cells = range(16)
    rook = edges(
        *((a, b) for a in cells for b in cells if a != b and (a // 4 == b // 4 or a % 4 == b % 4))
    )
    steps = [(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)]
    shrikhande = edges(
        *(
            (4 * i + j, 4 * ((i + x) % 4) + (j + y) % 4)
            for i in range(4)
            for j in range(4)
            for x, y in steps
        )
    )
    assert isomorphic(rook, shuffled(rook, 16))
    assert not isomorphic(rook, shrikhande)


def test_ground_quads_must_be_equal():
    assert not isomorphic([Quad(P, P, P)], [Quad(P, P, Q)])
    assert not isomorphic(
        [Quad(P, P, node(1)), Quad(P, P, P)], [Quad(P, P, node(1)), Quad(P, P, Q)]
    )
    assert not isomorphic([Quad(P, P, node(1))], [Quad(P, P, Literal("b1"))])
    assert isomorphic([], [])


def test_exceeding_the_limit_is_an_error():
    count, quads = SHAPES["cube"]
    with pytest.raises(LimitError, match="max_steps"):
        isomorphic(quads, shuffled(quads, count), max_steps=100)


def test_results_for_small_datasets_agree_with_an_exhaustive_search():
    isomorphic_pairs = 0
    for seed in range(300):
        source = random.Random(seed)
        count = source.choice([2, 3, 4])

        def random_quads(source=source, count=count):
            graphs = [None, node(source.randrange(count))]
            return [
                Quad(
                    node(source.randrange(count)),
                    P,
                    node(source.randrange(count)),
                    source.choice(graphs),
                )
                for _ in range(source.randrange(1, 6))
            ]

        first = random_quads()
        second = (
            renamed(first, {f"b{i}": f"b{(i + 1) % count}" for i in range(count)})
            if seed % 2
            else random_quads()
        )
        expected = any(
            set(renamed(first, {f"b{i}": f"b{k}" for i, k in enumerate(order)})) == set(second)
            for order in permutations(range(count))
        )
        assert isomorphic(first, second) == expected, (first, second)
        isomorphic_pairs += expected
    assert 150 <= isomorphic_pairs < 300

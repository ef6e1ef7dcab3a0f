"""Threads with a stack of 128 KiB, musl's default, can read, write and compare the deepest input.

A stack overflow ends the process, so each case runs in a separate process.
"""

import subprocess
import sys

import pytest

PRELUDE = """
import copy, io, os, pickle, sys, threading
import rdfm
from rdfm import Iri, MessageBatch, Quad, TripleTerm

DEPTH = 100
A = Iri("a:")

def term(depth=DEPTH):
    result = A
    for _ in range(depth):
        result = TripleTerm(A, A, result)
    return result

def quad_count(name, data, **options):
    with rdfm.open_log(io.BytesIO(data), name, max_depth=DEPTH, **options) as log:
        return sum(len(message) for message in log)

def written(name, **options):
    out = io.BytesIO()
    with rdfm.create_log(out, name, **options) as log:
        log.write([Quad(A, A, term())])
    return out.getvalue()

def run():
    {body}
    done.append(True)

done = []
threading.stack_size(128 << 10)
thread = threading.Thread(target=run)
thread.start()
thread.join()
sys.stdout.flush()
os._exit(0 if done else 3)
"""

CASES = {
    "str": "assert str(term()).count('<<(') == DEPTH",
    "repr": "assert repr(term()).count('TripleTerm') == DEPTH",
    "hash": "assert hash(term()) == hash(term()) != hash(term(99))",
    "eq": "assert term() == term() != term(99)",
    "order": "assert sorted([term(), term(99)]) and term() < TripleTerm(A, Iri('b:'), A)",
    "pickle": "assert pickle.loads(pickle.dumps(term())) == term()",
    "copy": "assert copy.deepcopy(term()) == term()",
    "parse": "assert rdfm.parse_term(str(term()), max_depth=DEPTH) == term()",
    "batch": "assert MessageBatch.from_messages([[Quad(A, A, term())]]).quads(0)[0].object == term()",
    "arrow": "b = MessageBatch.from_messages([[Quad(A, A, term())]]); "
    "assert MessageBatch.from_arrow(b, max_depth=DEPTH).quads(0) == b.quads(0)",
    "canonical": "from rdfm.compare.canonical import canonical; assert canonical([Quad(A, A, term())])",
    "isomorphic": "from rdfm.compare.isomorphism import isomorphic; "
    "assert isomorphic([Quad(A, A, term())], [Quad(A, A, term())])",
    "diff": "a = written('nq'); assert not list(rdfm.diff(a, a, format='nq', max_depth=DEPTH))",
    "statistics": "rdfm.statistics(written('nq'), 'nq', max_depth=DEPTH)",
    "validate": "list(rdfm.validate(written('nq'), 'nq', max_depth=DEPTH))",
    "query": "assert len(list(rdfm.query('SELECT ?o { ?s ?p ?o }', written('nq'), format='nq', "
    "max_depth=DEPTH))) == 1",
    "regroup": "assert rdfm.convert(written('nq') * 3, io.BytesIO(), from_format='nq', to='trig', "
    "group_by='all', skolemize='urn:x:', max_depth=DEPTH).quads == 3",
    "jsonld": "assert quad_count('jsonld', b'{\"a:p\":' * DEPTH + b'1' + b'}' * DEPTH) == DEPTH",
    "ndjsonld": "assert quad_count('ndjsonld', b'{\"a:p\":' * DEPTH + b'1' + b'}' * DEPTH) == DEPTH",
    "yamlld": "assert quad_count('yamlld', b'{\"a:p\":' * DEPTH + b'1' + b'}' * DEPTH) == DEPTH",
    **{
        name: f"assert quad_count({name!r}, written({name!r}{options})) == 1"
        for name, options in [
            ("nq", ""),
            ("trig", ""),
            ("jelly", ", rdf_star=True"),
            ("rdf-protobuf", ""),
            ("rdf-thrift", ""),
        ]
    },
}


@pytest.mark.parametrize("case", CASES)
def test_the_deepest_input_fits_a_small_stack(case):
    code = PRELUDE.replace("{body}", CASES[case])
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert completed.returncode == 0, (completed.returncode, completed.stderr[-2000:])

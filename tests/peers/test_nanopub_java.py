"""rdfm and the Java library agree on random nanopublications and on the public suite."""

import random

import nanopubs
import pytest
import suites
from nanopubs import iri, literal

import rdfm
from rdfm.nanopub import trusty
from rdfm.nanopub.checking import check

pytestmark = pytest.mark.peers


def test_rdfm_and_the_java_library_agree_on_random_nanopublications(nanopub_java, tmp_path):
    generator = random.Random(7)
    texts = ["", "a", "a b", "b\\n", "b\\", "c\nd", "e\rf", "é", '"', "\ue000", "€uro"]
    names = ["http://e/a", "http://e/b", "http://e/é", f"{nanopubs.BASE}{nanopubs.PLACEHOLDER}/x"]

    def random_object():
        kind = generator.randrange(3)
        if kind == 0:
            return iri(generator.choice(names))
        text = generator.choice(texts)
        if kind == 1:
            return literal(text, generator.choice(["en", "de", "en-gb"]))
        return literal(text, datatype=generator.choice([nanopubs.XSD_STRING, "http://d/1"]))

    paths, expected = [], []
    for number in range(100):
        assertion = [
            (iri(generator.choice(names)), iri(generator.choice(names)), random_object())
            for _ in range(generator.randrange(1, 12))
        ]
        quads = nanopubs.trusty(nanopubs.nanopub(assertion=assertion))
        if number % 4 == 0:
            quads[-1] = (*quads[-1][:2], literal("changed"), quads[-1][3])
        paths.append(tmp_path / f"{number}.nq")
        paths[-1].write_bytes(nanopubs.nq(quads))
        with rdfm.open_log(paths[-1]) as log:
            expected.append(trusty.verify(log) == [None])
    assert nanopub_java(paths) == [f"{str(each).lower()} none" for each in expected]
    assert expected.count(False) == 25


@pytest.mark.suites
def test_rdfm_and_the_java_library_agree_on_the_suite(nanopub_java):
    root = suites.path("conformance", "nanopub")
    paths = sorted(root.glob("*valid/*/*.trig"))
    names = {True: "true", False: "false"}
    for path, verdict in zip(paths, nanopub_java(paths), strict=True):
        checked = check(path)
        rules = {found.rule for found in checked if found.severity == "error"}
        if verdict == "malformed":
            assert rules, path
            continue
        is_trusty, is_signed = verdict.split()
        assert names[checked.trusty == 1] == is_trusty, path
        assert is_signed == (
            "none"
            if not checked.signed and "signature" not in rules
            else names[checked.signed == 1]
        )

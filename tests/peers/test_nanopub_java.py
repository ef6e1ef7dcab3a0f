"""Verdicts of the Java library on random nanopublications and on the public suite."""

import random

import nanopubs
import pytest
import suites
from nanopubs import iri, literal

import rdfm
from rdfm.exchange.nanopub import trusty
from rdfm.exchange.nanopub.checking import check

pytestmark = pytest.mark.peers


def test_random_codes_equal_those_of_the_java_library(nanopub_java, tmp_path):
    chance = random.Random(7)
    texts = ["", "a", "a b", "b\\n", "b\\", "c\nd", "e\rf", "é", '"', "\ue000", "€uro"]
    names = ["http://e/a", "http://e/b", "http://e/é", f"{nanopubs.BASE}{nanopubs.PLACEHOLDER}/x"]

    def object():
        kind = chance.randrange(3)
        if kind == 0:
            return iri(chance.choice(names))
        text = chance.choice(texts)
        if kind == 1:
            return literal(text, chance.choice(["en", "de", "en-gb"]))
        return literal(text, datatype=chance.choice([nanopubs.XSD_STRING, "http://d/1"]))

    paths, right = [], []
    for number in range(100):
        assertion = [
            (iri(chance.choice(names)), iri(chance.choice(names)), object())
            for _ in range(chance.randrange(1, 12))
        ]
        quads = nanopubs.trusty(nanopubs.nanopub(assertion=assertion))
        if number % 4 == 0:
            quads[-1] = (*quads[-1][:2], literal("changed"), quads[-1][3])
        paths.append(tmp_path / f"{number}.nq")
        paths[-1].write_bytes(nanopubs.nq(quads))
        with rdfm.open_log(paths[-1]) as log:
            right.append(trusty.verify(log) == [None])
    assert nanopub_java(paths) == [f"{str(each).lower()} none" for each in right]
    assert right.count(False) == 25


@pytest.mark.suites
def test_verdicts_on_the_suite_equal_those_of_the_java_library(nanopub_java):
    root = suites.path("conformance", "nanopub")
    paths = sorted(root.glob("*valid/*/*.trig"))
    words = {True: "true", False: "false"}
    for path, verdict in zip(paths, nanopub_java(paths), strict=True):
        checked = check(path)
        rules = {found.rule for found in checked if found.severity == "error"}
        if verdict == "malformed":
            assert rules, path
            continue
        is_trusty, is_signed = verdict.split()
        assert words[checked.trusty == 1] == is_trusty, path
        assert is_signed == (
            "none"
            if not checked.signed and "signature" not in rules
            else words[checked.signed == 1]
        )

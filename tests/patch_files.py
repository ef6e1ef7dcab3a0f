"""Converts patch files between the patch formats."""

from itertools import product

import pytest
from rdf_patch import patches_of, read_thrift
from support import as_tuple

import rdfm

FORMAT_BY_SUFFIX = {
    "rdfp": "rdf-patch",
    "rdp": "rdf-patch",
    "trp": "rdf-patch-thrift",
    "jellyp": "jelly-patch",
}
# Files with a patch that ends inside a transaction. Jelly-Patch cannot represent such a patch.
WITH_OPEN_TRANSACTION = {"abort", "patchtext-no-commit"}


def operations(log):
    """Returns the patches of a log as tuples."""
    return [
        [(row[0], row[1], *(as_tuple(term) for term in row[2:])) for row in patch.operations]
        for patch in log
    ]


def read(path):
    with rdfm.open_log(path, FORMAT_BY_SUFFIX[path.suffix[1:]], kind="patches") as log:
        return operations(log)


def convert_through_all_formats(path, folder):
    """Converts a file through each pair of patch formats and checks the result.

    Returns the patches.
    """
    found = read(path)
    stem = path.stem
    suffixes = ("rdfp", "trp") if stem in WITH_OPEN_TRANSACTION else ("rdfp", "trp", "jellyp")
    for first, second in product(suffixes, repeat=2):
        first_copy, second_copy = folder / f"one.{first}", folder / f"other.{second}"
        for source, target in ((path, first_copy), (first_copy, second_copy)):
            generalized = target.suffix == ".jellyp" and stem == "generalized"
            rdfm.convert(source, target, **({"to_generalized": True} if generalized else {}))
        assert read(first_copy) == read(second_copy) == found
    if stem in WITH_OPEN_TRANSACTION:
        with pytest.raises(rdfm.EncodeError, match="the patch ends inside a transaction"):
            rdfm.convert(path, folder / "none.jellyp")
    rows = read_thrift((folder / "one.trp").read_bytes())
    assert patches_of(rows) == found
    return found

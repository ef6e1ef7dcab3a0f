"""The versions of PySpark that rdfm supports."""

from __future__ import annotations

import re

from rdfm.errors import MissingExtraError

__all__ = ["check_pyspark"]

OLDEST = (4, 0)


def check_pyspark() -> None:
    """Check that PySpark supports the Python data sources that rdfm needs.

    Raises:
        MissingExtraError: If PySpark is missing or older than 4.0.
    """
    try:
        from pyspark import __version__
    except ImportError as error:
        raise MissingExtraError(
            "Spark needs the package pyspark: pip install 'rdfm[spark]'"
        ) from error
    version = tuple(int(number) for number in re.findall(r"\d+", __version__)[:2])
    if version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise MissingExtraError(
            f"rdfm needs PySpark {oldest} or newer, but found {__version__}: "
            "pip install 'rdfm[spark]'"
        )

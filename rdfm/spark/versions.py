"""Which PySpark rdfm works with."""

from __future__ import annotations

import re

from rdfm.errors import MissingExtraError

__all__ = ["check_pyspark"]

OLDEST = (4, 2)


def check_pyspark() -> None:
    """Refuse a PySpark whose Python data sources lack what rdfm builds on.

    Raises:
        MissingExtraError: It is missing, or older than 4.2.
    """
    try:
        from pyspark import __version__
    except ImportError as error:
        raise MissingExtraError(
            "Spark needs the package pyspark: pip install 'rdfm[spark]'"
        ) from error
    found = tuple(int(number) for number in re.findall(r"\d+", __version__)[:2])
    if found < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise MissingExtraError(
            f"rdfm needs PySpark {wanted} or newer, and this is {__version__}: "
            "pip install 'rdfm[spark]'"
        )

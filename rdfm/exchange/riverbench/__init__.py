"""RiverBench: benchmark dataset packages and their checks."""

from rdfm.exchange.riverbench.checking import PackageCheck, check
from rdfm.exchange.riverbench.packaging import Package, package

__all__ = ["Package", "PackageCheck", "check", "package"]

"""RiverBench: benchmark dataset packages and their checks."""

from rdfm.riverbench.checking import PackageCheck, check
from rdfm.riverbench.packaging import Package, package

__all__ = ["Package", "PackageCheck", "check", "package"]

"""RiverBench: datasets packaged for benchmarks, and checks of such packages."""

from rdfm.exchange.riverbench.checking import PackageCheck, check
from rdfm.exchange.riverbench.packaging import Package, package

__all__ = ["Package", "PackageCheck", "check", "package"]

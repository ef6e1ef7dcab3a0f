"""Loaded by every Python of a session under test: the driver's, its helpers' and the workers'."""

import os

if "RDFM_TEST_FAULTS" in os.environ:
    import faults

    faults.install()

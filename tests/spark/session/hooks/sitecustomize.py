"""Loaded by every Python of a session under test: the driver's, its helpers' and the workers'."""

import os

if "RDFM_TEST_FAILURES" in os.environ:
    import failures

    failures.install()

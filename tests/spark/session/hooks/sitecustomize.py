"""Loaded by every Python of a session under test: driver, helpers and workers."""

import os

if "RDFM_TEST_FAILURES" in os.environ:
    import failures

    failures.install()

"""Compares messages up to blank node labels: isomorphism and canonicalization."""

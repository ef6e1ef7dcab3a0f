"""Whether messages are the same up to blank node labels: isomorphism and canonicalization."""

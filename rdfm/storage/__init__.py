"""Bytes: files and URLs, listing and globs, compression, archives, the documents of contexts."""

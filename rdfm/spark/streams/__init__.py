"""Streaming reads, and reads of listed logs, which may be streaming."""

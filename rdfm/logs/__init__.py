"""Logs: opening, creating, reading and writing; splits, values, and logs of several files."""

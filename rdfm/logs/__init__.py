"""Logs: opening, creating, reading and writing; splits, values, and the files of a divided log."""

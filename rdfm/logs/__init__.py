"""Logs: opened and created, read and written; splits, values, and the files that a log is divided into."""

"""Writes: part files, folders, commits and joined logs."""

"""Batch reads: files, tasks, rows and errors."""

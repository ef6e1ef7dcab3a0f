"""Writing logs: created logs, output files and folders, and appending."""

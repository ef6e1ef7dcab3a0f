"""Reading logs: open logs, slices and splits of them, their rows, and tables."""

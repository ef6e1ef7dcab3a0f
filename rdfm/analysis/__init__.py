"""What answers questions about logs: `rdfm.analysis.inspect`."""

"""SPARQL queries on messages, in reads and in Spark SQL."""

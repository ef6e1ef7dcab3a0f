//! Statistics of a log: counts, distinct counts, distributions.

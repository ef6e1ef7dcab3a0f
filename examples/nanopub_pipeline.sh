#!/bin/sh
# A pipeline for nanopublications: checks a log, archives the new ones, and lists them in a table.
#
#   nanopub_pipeline.sh new.trig ARCHIVE
#
# ARCHIVE is a folder. Its log grows with each run; a log that is not correct changes nothing.
set -eu
log=$1
archive=$2
mkdir -p "$archive"

rdfm nanopub check --quiet "$log"

# Appending is safe: after a crash, the next run continues at the last complete message.
rdfm convert "$log" "$archive/all.jelly" --append --quiet

# The same nanopublication may have arrived before.
rdfm convert "$archive/all.jelly" "$archive/distinct.jelly" --distinct nanopub --quiet
rdfm nanopub list "$archive/distinct.jelly" -o "$archive/nanopubs.csv" --quiet
rdfm inspect "$archive/distinct.jelly"

#!/bin/sh
# Converts a log of the checkout $1 with the installed command, and compares the result.
set -eu
log=$1/spec-fixtures/nanopubs/log.trig
python -W error -c 'import rdfm._core'
rdfm convert "$log" log.jelly
rdfm convert log.jelly log.nq
rdfm diff "$log" log.nq

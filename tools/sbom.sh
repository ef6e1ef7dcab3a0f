#!/bin/sh
# Writes the CycloneDX list (SBOM) of the Python packages that the wheel $1 needs to the file $2.
# The list of its crates is in the wheel. $3 is the Python with cyclonedx-bom.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$3" -m venv --without-pip "$folder"
"$3" -m pip --python "$folder" install --quiet --disable-pip-version-check "$1"
"$3" -m cyclonedx_py environment --output-reproducible --output-file "$2" "$folder"

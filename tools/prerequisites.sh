#!/bin/sh
# Checks the prerequisites of a build and reports missing ones. With the argument "python", prints the Python to use.
set -u
missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing
  - $1: $2"; }
need git "the version control system, https://git-scm.com"
need cc "a C compiler, such as gcc or clang (Debian: build-essential, macOS: xcode-select --install)"
need cargo "a Rust toolchain, https://rustup.rs (rust-toolchain.toml names the version)"

# A command on the PATH may be a shim without a Python, so run each candidate. Versions with which all tests pass come
# first. The variable PYTHON overrides the list.
python=""
for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3.14 python3}; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ] && [ -n "${PYTHON:-}" ]; then
    missing="$missing
  - $PYTHON, the value of PYTHON, is not Python 3.11 or newer with venv"
elif [ -z "$python" ]; then
    missing="$missing
  - python3: Python 3.11 or newer with venv (Debian: python3 and python3-venv)"
fi

if [ -n "$missing" ]; then
    echo "rdfm cannot be built. Missing:$missing" >&2
    exit 1
fi
[ "${1:-}" != python ] || echo "$python"

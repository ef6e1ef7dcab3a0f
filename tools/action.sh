#!/bin/sh
# The steps of action.yml. `install` installs the version of rdfm that this file belongs to, or
# RDFM_VERSION. `check` reads RDFM_VALIDATE or RDFM_DIFF and RDFM_OPTIONS, one argument per line.
set -euf
root=$(cd "$(dirname "$0")/.." && pwd)
environment=$RUNNER_TEMP/rdfm
PATH=$environment/bin:$environment/Scripts:$PATH
# Arguments are lines, so only a line break separates them.
IFS='
'

# As GitHub expects properties of annotations.
escape() { printf %s "$1" | sed -e 's/%/%25/g' -e 's/:/%3A/g' -e 's/,/%2C/g'; }

fail() {
    echo "::error title=rdfm::$1"
    exit 2
}

install() {
    version=${RDFM_VERSION:-$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)}
    python3 -m venv "$environment"
    python -m pip install --quiet --disable-pip-version-check "rdfm==$version"
}

check() {
    if [ -n "${RDFM_VALIDATE:-}" ] && [ -n "${RDFM_DIFF:-}" ]; then
        fail "give validate or diff, not both"
    elif [ -n "${RDFM_VALIDATE:-}" ]; then
        rdfm validate --format github ${RDFM_OPTIONS:-} -- $RDFM_VALIDATE
    elif [ -n "${RDFM_DIFF:-}" ]; then
        set -- $RDFM_DIFF
        [ $# = 2 ] || fail "diff needs two logs, found $#"
        status=0
        rdfm diff ${RDFM_OPTIONS:-} -- "$1" "$2" || status=$?
        case $status in
        0) ;;
        1) echo "::error file=$(escape "$2"),title=rdfm diff::This log differs from $1; the log of this step shows how" ;;
        *) echo "::error file=$(escape "$2"),title=rdfm diff::The logs cannot be compared; the log of this step shows why" ;;
        esac
        return "$status"
    else
        fail "give validate or diff"
    fi
}

"$1"

#!/bin/bash
# Do all tests of a build pass, and how many of them met outside vectors? Ends with ctest's summary.
# usage: tools/run_tests.sh BUILD_FOLDER [ctest arguments...]
set -euo pipefail
build=$1
shift
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
GTEST_OUTPUT="xml:$results/" ctest --test-dir "$build" -j "$(nproc)" --output-on-failure "$@" 2>&1 |
  while IFS= read -r line; do
    case $line in *" tests failed out of "*) python3 tools/tally_vectors.py "$results" ;; esac
    printf '%s\n' "$line"
  done

#!/bin/bash
# Does any fuzzer find a fault within N seconds? Each keeps its corpus in the build folder.
# usage: tools/run_fuzzers.sh BUILD_FOLDER SECONDS
set -euo pipefail
build=$1
seconds=$2
shopt -s nullglob
fuzzers=("$build"/fuzz_*)
n_run=0
for fuzzer in "${fuzzers[@]}"; do
  [ -x "$fuzzer" ] && [ -f "$fuzzer" ] || continue
  name=$(basename "$fuzzer")
  corpus=$build/corpus/$name
  mkdir -p "$corpus"
  seeds=(fuzz/corpus/"${name#fuzz_}"/)
  echo "== $name"
  "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
    -artifact_prefix="$build/" "$corpus" "${seeds[@]}" 2>&1 | tail -n 3
  n_run=$((n_run + 1))
done
echo "$n_run fuzzers, no fault"

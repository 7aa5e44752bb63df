#!/bin/sh
# Do other implementations and real clients agree with this build? Usage: tests/peers/run.sh path/to/ferrox
set -eu
ferrox=$(realpath "${1:?usage: run.sh path/to/ferrox}")
cd "$(dirname "$0")"

# npm comes from the system; everything after it runs on the pinned node, because the clients need a newer one.
npm ci --no-fund --no-audit --loglevel=error
node=$(ls node_modules/node-linux-*/bin/node | head -n 1)
test -n "$node" || { echo "peers: no node for this machine in node_modules" >&2; exit 1; }

export FERROX="$ferrox"
"$node" --version
"$node" --test --test-reporter=spec ./*.test.mjs

for script in ./*_differential.py; do
  test -e "$script" || continue
  python3 "$script" "$ferrox"
done

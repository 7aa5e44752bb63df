#!/bin/bash
# Is the tree in the house's style? Format, layers between rooms, the first line of each file, one definition of each type.
set -uo pipefail
cd "$(dirname "$0")/../.."
status=0
formatter=clang-format-14
command -v $formatter >/dev/null || formatter=clang-format
$formatter --version | grep -q 'version 14\.' || echo "lint: $formatter isn't version 14: its opinion may differ" >&2
git ls-files '*.cpp' '*.h' '*.inl' | xargs -r $formatter --dry-run -Werror --ferror-limit=3 || status=1
python3 tools/lint/layers.py . || status=1
python3 tools/lint/first_lines.py . || status=1
python3 tools/lint/unique_types.py || status=1
exit $status

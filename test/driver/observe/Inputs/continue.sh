#!/usr/bin/env bash
# continue.sh IR_OPT FOLDER RESULT: continues from each file of -dump-dir, by both commands in it, to the same result.
set -euo pipefail
export PATH="$(dirname "$1"):$PATH"
for file in "$2"/*.ir; do
  for command in '# To continue: ' '# or: '; do
    sed -n "s|^$command||p" "$file" > "$3.sh"
    [ -s "$3.sh" ]
    bash "$3.sh" | diff - "$3"
  done
done

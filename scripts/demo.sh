#!/usr/bin/env bash
# From a fresh checkout to an optimized model: installs missing packages, builds only the tool, and runs it on the
# examples, or on your own model: scripts/demo.sh [MODEL.ir]
set -euo pipefail
if [ $# -gt 0 ]; then model=$(realpath -- "$1"); else model=examples/resnet50.ir; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
scripts/build.sh release ir-opt

passes='BindParams<params="examples/cnn.safetensors">,default<O3>'
lines=16
columns=160
output=build/demo.ir

run() {
  printf '\n$ %s\n' "build/bin/ir-opt $*"
  build/bin/ir-opt "$@"
}

show() {
  printf '\n== The optimized module: %s lines (of %s) in %s; some of them:\n\n' "$(wc -l < "$output")" "$(wc -l < "$1")" "$output"
  # The bindings; not the constants above them.
  { grep -E '^ +[a-z0-9_]+: .* = ' "$output" || true; } | sed -n "1,${lines}p" | cut -c "1-$columns"
  echo "[...]"
}

echo
echo "== A small network with its weights: what was read, what each pass did, how long it took"
run -O3 -passes="$passes" -report examples/cnn.ir -o "$output"
show examples/cnn.ir

echo
echo "== A model"
run -O3 -report "$model" -o "$output"
show "$model"

#!/usr/bin/env bash
# From a fresh checkout to an optimized model: installs missing packages, builds only the tool, and runs it on the
# examples, or on your own model: scripts/demo.sh [MODEL.ir]
set -euo pipefail
if [ $# -gt 0 ]; then model=$(realpath -- "$1"); else model=examples/resnet50.ir; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
scripts/build.sh release ir-opt

passes=FoldConstant,EliminateCommonSubexpr,CanonicalizeBindings,DeadCodeElimination
lines=16
columns=160
output=build/demo.ir

run() {
  printf '\n$ %s\n' "build/bin/ir-opt $*"
  build/bin/ir-opt "$@"
}

echo
echo "== A small module, before and after"
echo
cat examples/sequential.ir
run -O3 -passes="$passes" examples/sequential.ir

echo
echo "== A model: what was read, what each pass did, how long it took"
run -O3 -passes="$passes" -report "$model" -o "$output"

echo
echo "== The optimized module: $(wc -l < "$output") lines (of $(wc -l < "$model")) in $output, which begins"
echo
head -n "$lines" "$output" | cut -c "1-$columns"
echo "[...]"

#!/usr/bin/env bash
# From a fresh checkout to optimized modules: installs what is missing, builds, and runs a pipeline on the example and
# on a model: scripts/demo.sh [MODEL.ir]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
scripts/build.sh release

passes=FoldConstant,EliminateCommonSubexpr,DeadCodeElimination
echo
echo "== ir-opt -O3 -passes=$passes examples/sequential.ir"
build/bin/ir-opt -O3 -passes="$passes" examples/sequential.ir

model=${1:-../shared/corpus/models/resnet50.ir}
if [ ! -e "$model" ]; then
  echo "no model at $model; name one as the argument" >&2
  [ $# -eq 0 ] || exit 1
  exit 0
fi
output=build/demo.ir
passes='LegalizeOps,AnnotateTIROpPattern,FoldConstant,FuseOps,FuseTIR,DeadCodeElimination'
echo
echo "== ir-opt -O3 -passes=$passes $model -o $output"
time build/bin/ir-opt -O3 -passes="$passes" "$model" -o "$output"
echo "$(wc -l < "$model") lines became $(wc -l < "$output") lines, in $output"

#!/usr/bin/env bash
# From a fresh checkout to an optimized and checked model: installs what the tools need, builds them, optimizes an ONNX file
# with the weights of a ResNet-18, and shows what that changed. With your own model: scripts/demo.sh [--yes] [MODEL.onnx];
# with --yes, it installs without asking.
set -euo pipefail
usage='usage: scripts/demo.sh [--yes] [MODEL.onnx]'
model=
options=()
for argument in "$@"; do
  case $argument in
    --yes) options+=(--yes) ;;
    -h | --help) echo "$usage" && exit 0 ;;
    -*) echo "demo: unknown option '$argument'; $usage" >&2 && exit 1 ;;
    *)
      # Before minutes of building.
      if [ ! -f "$argument" ]; then echo "demo: there is no file '$argument'; $usage" >&2 && exit 1; fi
      model=$(realpath -- "$argument")
      ;;
  esac
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --demo "${options[@]}"
# Less optimized than build/, and so built sooner.
scripts/build.sh demo ir-opt ir-run ir-reduce ir-lsp iropt_onnx

folder=build-demo
export PATH="$PWD/$folder/bin:$PATH"
small=$folder/small.onnx
report=$folder/report.html

step() { printf '\n== %s\n' "$1"; }
run() {
  printf '$ %s\n' "$*"
  "$@"
}
# -metrics prints a line of sums.
multiply_adds() { ir-opt -quiet -metrics=json "$1" -o /dev/null 2>&1 | sed -n 's/.*"total":{[^}]*"multiply_adds":\([0-9]*\).*/\1/p'; }

if [ -z "$model" ]; then
  model=$folder/resnet18.onnx
  step "The model: a ResNet-18 with random weights"
  run examples/resnet18.py "$model"
fi

step "Optimize it"
run ir-opt -O3 -quiet -report="$report" "$model" -o "$small"

step "What changed"
run scripts/onnx_nodes.py "$model" "$small"
printf '%-22s%16s%16s\n' multiply-adds "$(multiply_adds "$model")" "$(multiply_adds "$small")"

step "Both models compute the same from the same inputs"
run ir-run -quiet -random-inputs "$model" -o "$folder/expected.npz"
run ir-run -quiet -random-inputs "$small" -check="$folder/expected.npz"

step "What each pass did, with the module before and after it and with graphs"
echo "Open in a browser: file://$PWD/$report"

#!/usr/bin/env bash
# Builds the fuzzers with sanitizers and gives each of them so many inputs: scripts/fuzz.sh [RUNS [FUZZER...]]
#
# Each starts with the texts of the tests and with those of its folder in test/fuzz/corpus, the inputs that failed once. What fails now is
# in build-fuzz/FUZZER-*, and the exit code is not 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
runs=${1:-50000}
shift $(($# > 0 ? 1 : 0))
if [ $# -eq 0 ]; then set -- fuzz_reader fuzz_relay fuzz_passes fuzz_onnx fuzz_pipelines fuzz_tensors; fi
scripts/build.sh fuzz "$@"

failed=()
for fuzzer in "$@"; do
  corpus=$(mktemp -d)
  trap 'rm -rf "$corpus"' EXIT
  length=20000
  case $fuzzer in
    fuzz_reader) find examples test -name '*.ir' -size -20k -exec cp --backup=numbered -t "$corpus" {} + ;;
    fuzz_relay) find examples test -name '*.relay' -size -20k -exec cp --backup=numbered -t "$corpus" {} + ;;
    fuzz_onnx) find examples test -name '*.onnx' -size -20k -exec cp --backup=numbered -t "$corpus" {} + ;;
    fuzz_passes) length=600 ;;
    fuzz_pipelines) find examples test -name '*.json' -size -20k -exec cp --backup=numbered -t "$corpus" {} + ;;
    fuzz_tensors) find examples test \( -name '*.np[yz]' -o -name '*.safetensors' -o -name '*.params' \) -size -20k -exec cp --backup=numbered -t "$corpus" {} + ;;
  esac
  if [ -d "test/fuzz/corpus/$fuzzer" ]; then find "test/fuzz/corpus/$fuzzer" -type f -exec cp --backup=numbered -t "$corpus" {} +; fi
  echo "== $fuzzer: $runs inputs, after $(find "$corpus" -type f | wc -l) of its corpus"
  "build-fuzz/bin/$fuzzer" -runs="$runs" -max_len="$length" -len_control=0 -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build-fuzz/$fuzzer-" "$corpus" || failed+=("$fuzzer")
  rm -rf "$corpus"
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi

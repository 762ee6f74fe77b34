#!/usr/bin/env bash
# Configures and builds a preset of CMakePresets.json: scripts/build.sh [PRESET [TARGET...]], by default all of release, in
# build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
shift $(($# > 0 ? 1 : 0))
cmake --preset "$preset"
if [ $# -gt 0 ]; then set -- --target "$@"; fi
cmake --build --preset "$preset" "$@"

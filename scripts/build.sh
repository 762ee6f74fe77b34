#!/usr/bin/env bash
# Configures and builds a preset of CMakePresets.json: scripts/build.sh [PRESET], by default release, in build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
cmake --preset "$preset"
cmake --build --preset "$preset"

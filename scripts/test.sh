#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests: scripts/test.sh [PRESET]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
scripts/setup.sh
scripts/build.sh "$preset"
ctest --preset "$preset" --no-tests=error --output-on-failure -j "$(nproc)"

#!/usr/bin/env bash
# Installs missing packages, builds, and runs the tests: scripts/test.sh [PRESET [ARGUMENT-OF-CTEST...]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
shift $(($# > 0 ? 1 : 0))
scripts/setup.sh
scripts/build.sh "$preset"
# Ends with ctest's summary, which lists the tests that failed and those that were skipped.
ctest --preset "$preset" --no-tests=error --output-on-failure -j "$(nproc)" "$@"

#!/usr/bin/env bash
# Builds the Debian packages and the source archive: scripts/package.sh [FOLDER], by default packages/. See
# cmake/IroptPackages.cmake for what they hold. Times in the packages are those of the last commit, or of
# SOURCE_DATE_EPOCH.
set -euo pipefail
folder=$(realpath -m "${1:-packages}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y include/iropt/support/version.h)
fi
export SOURCE_DATE_EPOCH
scripts/setup.sh --package
scripts/build.sh package
rm -rf build-package/packages
mkdir -p "$folder"
cpack --config build-package/CPackConfig.cmake -B build-package/packages
cpack --config build-package/CPackSourceConfig.cmake -B build-package/packages
cp build-package/packages/*.deb build-package/packages/*.tar.xz "$folder/"
ls -l "$folder"

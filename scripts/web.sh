#!/usr/bin/env bash
# Builds ir-opt for WebAssembly, packs it for npm and as a page, and tests both: scripts/web.sh [--no-test], on Debian 12. Installs what
# is missing. The package is build-wasm/npm/ir-opt-VERSION.tgz, the page build-wasm/site.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tests=yes
case "${1:-}" in
  '') ;;
  --no-test) tests=no ;;
  *) echo "usage: scripts/web.sh [--no-test]" >&2; exit 1 ;;
esac

# Clang has the module made smaller by binaryen.
packages=(clang-22 llvm-22 lld-22 libc++-22-dev-wasm32 libc++abi-22-dev-wasm32 libclang-rt-22-dev-wasm32 wasi-libc binaryen
          cmake ninja-build python3 dpkg-dev nodejs
          libfmt-dev libcli11-dev nlohmann-json3-dev rapidjson-dev libxxhash-dev libeigen3-dev libdtl-dev libprotozero-dev)
# lit and FileCheck, models for tests of ONNX files, and a browser with a font.
test_packages=(llvm-22-tools python3-onnx chromium fonts-dejavu-core)
# Debian's npm consists of 350 packages, more than all others have together; the tests use it only where it is installed.
command -v npm >/dev/null || test_packages+=(node-typescript)

updated=no
# install PACKAGE...: those that are missing.
install() {
  local missing=() as_root=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  if [ $updated = no ]; then "${as_root[@]}" apt-get update; fi
  updated=yes
  "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"
}
install "${packages[@]}"

# The sources of Debian's zlib, from where the machine has its packages, without changing what apt knows of.
build=$root/build-wasm
mkdir -p "$build"
lists=
# Packages that are being installed are not left half installed.
trap 'wait; rm -rf ${lists:+"$lists"}' EXIT
if ! compgen -G "$build/zlib-*/inflate.c" >/dev/null; then
  lists=$(mktemp -d)
  mkdir -p "$lists/lists/partial"
  apt-get indextargets --format 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u > "$lists/zlib.list"
  apt=(-o "Dir::Etc::sourcelist=$lists/zlib.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$lists/lists")
  if [ "$(id -u)" -eq 0 ]; then apt+=(-o APT::Sandbox::User=root); fi
  apt-get -qq "${apt[@]}" update
  (cd "$build" && apt-get -qq "${apt[@]}" source zlib)
fi

# What the tests need is installed while the compiler works.
if [ $tests = yes ]; then
  install "${test_packages[@]}" &> "$build/install.log" &
  installing=$!
fi
cmake --preset wasm >/dev/null
cmake --build --preset wasm
python3 -B web/pack.py
if [ $tests = yes ]; then
  wait "$installing" || { cat "$build/install.log" >&2; exit 1; }
  # And the oldest version of Node that the package supports, which is Debian's.
  if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --prefix "$build/tools" typescript@5 node@18; fi
  python3 -B web/test/run.py
fi

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
# Debian has npm apart from Node, others together.
command -v npm >/dev/null || packages+=(npm)
# A program for this machine to compare with, lit and FileCheck, models for tests of ONNX files, and a browser with a font.
if [ $tests = yes ]; then packages+=(g++ llvm-22-tools python3-onnx chromium fonts-dejavu-core); fi
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update
  "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"
fi

# The sources of Debian's zlib, from where the machine has its packages, without changing what apt knows of.
build=$root/build-wasm
mkdir -p "$build"
if ! compgen -G "$build/zlib-*/inflate.c" >/dev/null; then
  lists=$(mktemp -d)
  trap 'rm -rf "$lists"' EXIT
  mkdir -p "$lists/lists/partial"
  apt-get indextargets --format 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u > "$lists/zlib.list"
  apt=(-o "Dir::Etc::sourcelist=$lists/zlib.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$lists/lists")
  if [ "$(id -u)" -eq 0 ]; then apt+=(-o APT::Sandbox::User=root); fi
  apt-get -qq "${apt[@]}" update
  (cd "$build" && apt-get -qq "${apt[@]}" source zlib)
fi

cmake --preset wasm >/dev/null
cmake --build --preset wasm
python3 -B web/pack.py
if [ $tests = yes ]; then
  # And the oldest version of Node that the package supports.
  npm install --silent --no-audit --no-fund --prefix "$build/tools" typescript@5 node@18
  python3 -B web/test/run.py
fi

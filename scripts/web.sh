#!/usr/bin/env bash
# Builds ir-opt for WebAssembly, packs it for npm and tests the package: scripts/web.sh [--no-test], on Debian 12. Installs what is
# missing. The package is build-wasm/npm/ir-opt-VERSION.tgz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tests=yes
case "${1:-}" in
  '') ;;
  --no-test) tests=no ;;
  *) echo "usage: scripts/web.sh [--no-test]" >&2; exit 1 ;;
esac

packages=(clang-22 llvm-22 lld-22 libc++-22-dev-wasm32 libc++abi-22-dev-wasm32 libclang-rt-22-dev-wasm32 wasi-libc
          cmake ninja-build python3 dpkg-dev nodejs
          libfmt-dev libcli11-dev nlohmann-json3-dev rapidjson-dev libxxhash-dev libeigen3-dev libdtl-dev libprotozero-dev)
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
  npm install --silent --no-audit --no-fund --prefix "$build/tools" typescript@5
  python3 -B web/test/run.py
fi

#!/usr/bin/env bash
# Installs the packages for building and testing on Debian and Ubuntu, with --demo only those that the tools need, with
# --wheel those for the wheel of Python, or with --package those for Debian packages of all parts. Says first what it installs and how large that is; on a terminal it asks,
# unless --yes is given. Does nothing if all are installed.
set -euo pipefail

mode=tests
yes=()
[ -t 0 ] || yes=(-y)
for argument in "$@"; do
  case "$argument" in
    --demo | --wheel | --package) mode=${argument#--} ;;
    --yes) yes=(-y) ;;
    *) echo "usage: scripts/setup.sh [--demo | --wheel | --package] [--yes]" >&2; exit 1 ;;
  esac
done

# What the tools need; mimalloc makes them faster, and protozero is for ONNX files.
tool_packages=(g++ cmake ninja-build python3
               libfmt-dev libcli11-dev nlohmann-json3-dev rapidjson-dev libxxhash-dev zlib1g-dev libeigen3-dev
               libdtl-dev libmimalloc-dev libprotozero-dev)
# For the extension module, and for Debian packages, with the Python package in one of them.
python_packages=(python3-dev pybind11-dev)
wheel_packages=(python3-pip python3-venv python3-setuptools python3-wheel)
deb_packages=(file dpkg-dev)
# What development and the tests need as well.
test_packages=(ccache mold catch2 libbenchmark-dev file dpkg-dev)

# The style checks need these versions of the Clang tools, the test of the page of -report a browser with a font, the
# Python package the headers of Python (its tests need pytest, NumPy and pip), and tests of ONNX files models; Neovim replays
# sessions with the language server, MkDocs builds the site, Z3 proves the rewrite rules, and mutation testing looks for what to change with
# libclang; lintian checks the Debian packages. They are skipped if a distribution does not have them.
optional_packages=(clang-format-14 clang-tidy-14 python3-clang-14 libz3-4 chromium fonts-dejavu-core
                   python3-dev pybind11-dev python3-numpy python3-pip python3-wheel python3-pytest python3-onnx
                   libonnx-testdata neovim mkdocs mkdocs-material lintian pkgconf)

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "setup: not root, and there is no sudo; have somebody run as root: $*" >&2
    return 1
  fi
}

# Any LLVM version's lit, FileCheck and not will do; the distribution's choice of versions varies.
llvm_tools_present() {
  local dir
  for dir in /usr/lib/llvm-*; do
    [ -x "$dir/bin/FileCheck" ] && [ -x "$dir/bin/not" ] && [ -f "$dir/build/utils/lit/lit.py" ] && return 0
  done
  return 1
}

llvm_tools_package() {
  local version
  for version in 14 15 16 17 18 19 20 21 22; do
    if apt-cache show "llvm-$version-tools" >/dev/null 2>&1; then
      echo "llvm-$version-tools"
      return 0
    fi
  done
  echo "no llvm-*-tools package found for lit and FileCheck" >&2
  return 1
}

# The newest LLVM that loops can be compiled with; nothing where the distribution has none, and loops are interpreted only.
llvm_dev_package() {
  local version
  for version in 22 21 20 19; do
    if apt-cache show "llvm-$version-dev" >/dev/null 2>&1; then
      echo "llvm-$version-dev"
      return 0
    fi
  done
  echo "setup: no llvm-*-dev package of version 19 or newer: loops will not be compiled" >&2
}

llvm_dev_present() {
  local dir
  for dir in /usr/lib/llvm-{19,20,21,22}; do
    [ -f "$dir/lib/cmake/llvm/LLVMConfig.cmake" ] && return 0
  done
  return 1
}

if ! command -v apt-get >/dev/null; then
  echo "this script knows apt-get only; install the equivalents of: ${tool_packages[*]}, for the tests also ${test_packages[*]} and LLVM's lit and FileCheck" >&2
  exit 1
fi

packages=("${tool_packages[@]}")
case $mode in
  tests) packages+=("${test_packages[@]}") ;;
  wheel) packages+=("${python_packages[@]}" "${wheel_packages[@]}"); optional_packages=() ;;
  package) packages+=("${python_packages[@]}" "${deb_packages[@]}"); optional_packages=() ;;
  demo) optional_packages=() ;;
esac
missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
missing_optional=()
for package in "${optional_packages[@]}"; do
  installed "$package" || missing_optional+=("$package")
done
need_llvm=0
need_llvm_dev=0
[ $mode != tests ] || llvm_tools_present || need_llvm=1
[ $mode = demo ] || [ $mode = wheel ] || llvm_dev_present || need_llvm_dev=1
if [ ${#missing[@]} -eq 0 ] && [ ${#missing_optional[@]} -eq 0 ] && [ $need_llvm -eq 0 ] && [ $need_llvm_dev -eq 0 ]; then
  echo "setup: everything is installed"
  exit 0
fi

echo "setup: reading the lists of packages (apt-get update)"
as_root apt-get -qq update
if [ $need_llvm -eq 1 ]; then
  llvm_tools=$(llvm_tools_package)
  missing+=("$llvm_tools")
fi
if [ $need_llvm_dev -eq 1 ]; then
  llvm_dev=$(llvm_dev_package)
  [ -z "$llvm_dev" ] || missing+=("$llvm_dev")
fi
for package in "${missing_optional[@]}"; do
  if apt-cache show "$package" >/dev/null 2>&1; then missing+=("$package"); fi
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: everything that this distribution has is installed"
  exit 0
fi
apt_install() { as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q install --no-install-recommends "$@" "${missing[@]}"; }

echo "setup: installing ${missing[*]}"
# apt-get says how much that is, with what they need, and stops there.
{ apt_install --assume-no || true; } | sed -n -E 's/^(Need to get|After this operation|[0-9]+ upgraded)/setup: &/p'
apt_install "${yes[@]}"

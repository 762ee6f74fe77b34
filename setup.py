"""Builds the extension module and the commands with CMake, which gets the options in CMAKE_ARGS. IROPT_BUILD_DIR names a build
folder that has them already."""
import glob
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).parent.resolve()
# What every Linux has; the standard library of C++ is there wherever programs of C++ are. LLVM is too big: without it, loops
# are interpreted.
OF_THE_SYSTEM = re.compile(r"^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|LLVM)(-[0-9]+)?\.so)")


def version():
    text = (ROOT / "include/iropt/support/version.h").read_text(encoding="utf8")
    return re.search(r'define IROPT_VERSION "(.*)"', text).group(1)


def libraries_of(path):
    """The shared libraries that a program loads and that not every system has."""
    listed = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=True).stdout
    return {found for name, found in re.findall(r"^\s*(\S+) => (/\S+)", listed, re.MULTILINE) if not OF_THE_SYSTEM.match(name)}


def check_tools():
    """Ends with a message that names what is missing. CMake itself says which libraries are."""
    missing = []
    if not shutil.which("cmake"):
        missing.append("CMake 3.22 or newer (Debian: cmake)")
    if not shutil.which("ninja") and not shutil.which("make"):
        missing.append("Ninja (Debian: ninja-build)")
    if not any(map(shutil.which, [os.environ.get("CXX", "c++").split()[0], "g++", "clang++"])):
        missing.append("a C++ compiler (Debian: g++)")
    if missing:
        sys.exit("error: the build of iropt needs what was not found: " + ", ".join(missing) + "\n"
                 "on Debian and Ubuntu, scripts/setup.sh --wheel in the folder of the sources installs all that it needs")


def run(*command):
    """Ends with the exit code of a command that fails: its messages say why."""
    if subprocess.run(command).returncode != 0:
        sys.exit(f"error: {command[0]} failed: see its messages above")


def pybind11_folder():
    """Options of CMake for the pybind11 of the build's requirements; none if CMake is to look for it."""
    try:
        import pybind11
    except ImportError:
        return []
    return ["-Dpybind11_DIR=" + pybind11.get_cmake_dir()]


class BuildWithCMake(build_ext):
    """Runs CMake, and copies what it has built into the package."""

    def build_native(self):
        check_tools()
        build = os.path.abspath(os.path.join(self.build_temp, "cmake"))
        # scripts/setup.sh --demo installs Ninja, and no Make.
        generator = ["-G", "Ninja"] if shutil.which("ninja") and not os.environ.get("CMAKE_GENERATOR") else []
        run("cmake", *generator, "-S", str(ROOT), "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
            "-DIROPT_TESTS=OFF", "-DIROPT_BENCHMARKS=OFF", f"-DIROPT_PYTHON={sys.executable}",
            "-DIROPT_REQUIRED=python;onnx", "-DIROPT_WERROR=OFF", *pybind11_folder(),
            *shlex.split(os.environ.get("CMAKE_ARGS", "")))
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
        run("cmake", "--build", build, "--parallel", jobs, "--target", "iropt_package", "ir-opt")
        return build

    def run(self):
        build = os.environ.get("IROPT_BUILD_DIR") or self.build_native()
        folder = pathlib.Path(self.build_lib) / "iropt"
        folder.mkdir(parents=True, exist_ok=True)
        modules = glob.glob(os.path.join(build, "python/iropt/_iropt*.so"))
        if not modules:
            raise RuntimeError(f"{build} does not have the extension module: are pybind11 and Python's headers installed?")
        program = os.path.join(build, "bin/ir-opt")
        # The program finds formats and the loop compiler next to it, as the extension module does.
        for file in [program, *modules, *glob.glob(os.path.join(build, "lib/libiropt_*.so"))]:
            shutil.copy2(file, folder)
        (folder / "libs").mkdir(exist_ok=True)
        for library in set().union(*(libraries_of(file) for file in [program, *modules])):
            shutil.copy2(os.path.realpath(library), folder / "libs" / os.path.basename(library))
        for stub in glob.glob(os.path.join(build, "python/iropt/**/*.pyi"), recursive=True):
            target = folder / os.path.relpath(stub, os.path.join(build, "python/iropt"))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(stub, target)


class TaggedWheel(bdist_wheel):
    """A wheel whose tag says which version of the C library it needs: that of the system that built it."""

    def get_tag(self):
        python, abi, tag = super().get_tag()
        name, libc = platform.libc_ver()
        if name == "glibc" and tag.startswith("linux_"):
            tag = f"manylinux_{libc.replace('.', '_')}_{tag[len('linux_'):]}"
        return python, abi, tag


setup(
    version=version(),
    packages=find_packages(where="python", include=["iropt", "iropt.*"]),
    package_dir={"": "python"},
    py_modules=["iropt_commands"],
    package_data={"iropt": ["py.typed"]},
    ext_modules=[Extension("iropt._iropt", sources=[])],
    cmdclass={"build_ext": BuildWithCMake, "bdist_wheel": TaggedWheel},
    # build/ is the folder of CMake's release build.
    options={"build": {"build_base": "build-wheel"}},
)

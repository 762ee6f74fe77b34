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


class BuildWithCMake(build_ext):
    """Runs CMake, and copies what it has built into the package."""

    def build_native(self):
        build = os.path.abspath(os.path.join(self.build_temp, "cmake"))
        # scripts/setup.sh --demo installs Ninja, and no Make.
        generator = ["-G", "Ninja"] if shutil.which("ninja") and not os.environ.get("CMAKE_GENERATOR") else []
        subprocess.run(["cmake", *generator, "-S", str(ROOT), "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
                        "-DIROPT_TESTS=OFF", "-DIROPT_BENCHMARKS=OFF", f"-DIROPT_PYTHON={sys.executable}",
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", build, "--parallel", jobs, "--target", "iropt_package", "ir-opt"], check=True)
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

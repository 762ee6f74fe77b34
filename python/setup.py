"""Builds the extension module with CMake. IROPT_BUILD_DIR names a build folder that has it already."""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).parent.resolve()
ROOT = HERE.parent


def version():
    text = (ROOT / "include/iropt/support/version.h").read_text(encoding="utf8")
    return re.search(r'define IROPT_VERSION "(.*)"', text).group(1)


class BuildWithCMake(build_ext):
    """Runs CMake, and copies what it has built into the package."""

    def run(self):
        build = os.environ.get("IROPT_BUILD_DIR")
        if build is None:
            build = os.path.join(self.build_temp, "cmake")
            subprocess.run(["cmake", "-S", str(ROOT), "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
                            "-DIROPT_TESTS=OFF", "-DIROPT_BENCHMARKS=OFF", f"-DIROPT_PYTHON={sys.executable}"], check=True)
            jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
            subprocess.run(["cmake", "--build", build, "--parallel", jobs, "--target", "iropt_package"], check=True)
        folder = pathlib.Path(self.build_lib) / "iropt"
        folder.mkdir(parents=True, exist_ok=True)
        built = glob.glob(os.path.join(build, "python/iropt/_iropt*.so"))
        if not built:
            raise RuntimeError(f"{build} does not have the extension module: are pybind11 and Python's headers installed?")
        # Formats and the loop compiler are loaded from the folder of the package.
        for file in built + glob.glob(os.path.join(build, "lib/libiropt_*.so")):
            shutil.copy2(file, folder)
        for stub in glob.glob(os.path.join(build, "python/iropt/**/*.pyi"), recursive=True):
            target = folder / os.path.relpath(stub, os.path.join(build, "python/iropt"))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(stub, target)


setup(
    version=version(),
    packages=find_packages(include=["iropt", "iropt.*"]),
    package_data={"iropt": ["py.typed"]},
    ext_modules=[Extension("iropt._iropt", sources=[])],
    cmdclass={"build_ext": BuildWithCMake},
)

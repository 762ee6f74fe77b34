#!/usr/bin/env python3
"""Installs the Python package into an empty folder, once by CMake and once as a wheel, and runs programs with each.

  python_package.py --build=BUILD_DIR --source=SOURCE_DIR --work=FOLDER

Run it by the interpreter that the package was built for. The wheel is made by setuptools without an index, as Debian's tools do
it, of a copy of the sources, with what BUILD_DIR has. Programs run in an empty environment. Exits with 1, saying what is wrong,
or with 0.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys

# The file of a format is found in the folder of the package.
RELAY = """
import iropt
module = iropt.from_source('def @main(%x: Tensor[(4), float32]) { nn.relu(%x) }', format='relay')
print(iropt.Pipeline('default<O3>')(module)['main'])
"""


# NumPy is optional.
WITHOUT_NUMPY = """
import runpy, sys
sys.modules['numpy'] = None
runpy.run_path(sys.argv[1], run_name='__main__')
"""


class Failure(Exception):
    pass


def run(*command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **kwargs)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def install(options):
    """By CMake; gives the folder that has the package."""
    prefix = os.path.join(options.work, "prefix")
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", os.path.join(options.build, "python/cmake_install.cmake"))
    return os.path.dirname(glob.glob(os.path.join(prefix, "lib*/python3/dist-packages/iropt"))[0])


def make_wheel(options):
    """Gives the folder in which the wheel is installed."""
    copy = os.path.join(options.work, "source")
    shutil.copytree(os.path.join(options.source, "python"), os.path.join(copy, "python"))
    for name in ("include/iropt/support/version.h", "setup.py", "pyproject.toml", "README.md", "packaging/wheel/backend.py"):
        os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
        shutil.copy(os.path.join(options.source, name), os.path.join(copy, name))
    wheels, target = os.path.join(options.work, "wheels"), os.path.join(options.work, "wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", wheels, copy,
        env={**os.environ, "IROPT_BUILD_DIR": os.path.abspath(options.build)})
    run(*pip, "install", "--no-index", "--no-deps", "--target", target, *glob.glob(os.path.join(wheels, "iropt-*.whl")))
    return target


def check(options, folder):
    """Runs programs with the package of a folder."""
    package = os.path.join(folder, "iropt")
    for name in ("py.typed", "__init__.pyi", "relax/transform.pyi", "testing/plugin.py"):
        if not os.path.exists(os.path.join(package, name)):
            raise Failure(f"{package} does not have {name}")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}

    def python(*arguments):
        return run(sys.executable, *arguments, cwd=options.work, env=environment)

    if (found := python("-c", "import iropt; print(iropt.__file__)").strip()) != os.path.join(package, "__init__.py"):
        raise Failure(f"the package is imported from {found}, not from {package}")
    first_steps = os.path.join(options.source, "examples/python/first_steps.py")
    for output in (python(first_steps), python("-c", WITHOUT_NUMPY, first_steps)):
        if "bindings before and after: 4 3" not in output:
            raise Failure(f"first_steps.py printed\n{output}")
    if "R.nn.relu(x)" not in (output := python("-c", RELAY)):
        raise Failure(f"the module in Relay became\n{output}")


def check_commands(options, folder):
    """Runs the commands of a wheel."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": folder}
    source = os.path.join(options.source, "examples/cnn.onnx")
    small, values = (os.path.join(options.work, name) for name in ("small.onnx", "values.npz"))
    for command in (("ir-opt", "-O3", source, "-o", small), ("ir-run", "-random-inputs", source, "-o", values),
                    ("ir-run", "-random-inputs", small, f"-check={values}"), ("ir-reduce", "-version"), ("ir-lsp", "-version")):
        run(sys.executable, os.path.join(folder, "bin", command[0]), *command[1:], cwd=options.work, env=environment)
    if os.path.getsize(small) >= os.path.getsize(source):
        raise Failure(f"{small} is not smaller than {source}")


def check_configuration(options):
    """CMake is told to use Ninja, which scripts/setup.sh --demo installs, where there is no Make."""
    folder = os.path.join(options.work, "programs")
    os.makedirs(folder)
    for name, text in (("ninja", ""), ("cmake", 'echo "$@"; exit 1')):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(file.name, 0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("IROPT_BUILD_DIR", "CMAKE_GENERATOR")}
    environment["CMAKE_ARGS"] = "-DIROPT_QUICK_BUILD=ON '-DIROPT_SANITIZE=a b'"
    for generator, expected in ({}, True), ({"CMAKE_GENERATOR": "Unix Makefiles"}, False):
        done = subprocess.run([sys.executable, "setup.py", "-q", "build", "--build-base", os.path.join(options.work, "cold")],
                              cwd=os.path.join(options.work, "source"), capture_output=True, text=True, check=False,
                              env={**environment, **generator, "PATH": f"{folder}:/usr/bin:/bin"})
        if ("-G Ninja -S" in done.stdout) != expected or "-DIROPT_QUICK_BUILD=ON -DIROPT_SANITIZE=a b\n" not in done.stdout:
            raise Failure(f"with {generator or 'no CMAKE_GENERATOR'}, CMake was run by\n{done.stdout}{done.stderr}")


def check_missing_tools(options):
    """What the build needs is named where it is missing, and what the package index has is asked for."""
    copy, empty = os.path.join(options.work, "source"), os.path.join(options.work, "empty")
    os.makedirs(empty)
    environment = {name: value for name, value in os.environ.items() if name not in ("IROPT_BUILD_DIR", "CXX")}
    done = subprocess.run([sys.executable, "setup.py", "-q", "build", "--build-base", os.path.join(options.work, "none")], cwd=copy,
                          capture_output=True, text=True, check=False, env={**environment, "PATH": empty})
    for package in ("(Debian: cmake)", "(Debian: ninja-build)", "(Debian: g++)"):
        if done.returncode == 0 or package not in done.stderr or "Traceback" in done.stderr:
            raise Failure(f"without {package}, setup.py ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    script = "import sys; sys.path.insert(0, 'packaging/wheel'); import backend; print(backend.get_requires_for_build_wheel())"
    for path, expected in ((empty, True), (os.environ["PATH"], False)):
        required = run(sys.executable, "-c", script, cwd=copy, env={**environment, "PATH": path}).splitlines()[-1]
        if ("'cmake>=3.22', 'ninja'" in required) != expected:
            raise Failure(f"with the programs of {path}, the backend requires {required}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("build", "source", "work"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    try:
        check(options, install(options))
        wheel = make_wheel(options)
        check(options, wheel)
        check_commands(options, wheel)
        check_configuration(options)
        check_missing_tools(options)
    except Failure as failure:
        print(failure)
        return 1
    print("the package works")
    return 0


if __name__ == "__main__":
    sys.exit(main())

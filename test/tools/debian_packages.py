#!/usr/bin/env python3
"""Makes the Debian packages of a build, unpacks them, and uses what is in them.

  debian_packages.py --build=BUILD_DIR --source=SOURCE_DIR --work=FOLDER [--cxx=COMPILER] [--root=FOLDER]

Each package is unpacked together with those that it depends on only, so what a package misses is noticed; where lintian is
installed, it finds no error in any of them. Without --build
the packages are those in --work. With --root they are those that are installed in this system: nothing is unpacked. Exits
with 1, saying what is wrong, or with 0.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys


class Failure(Exception):
    pass


def run(*command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **kwargs)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def expect(text, part):
    if part not in text:
        raise Failure(f"expected {part!r} in\n{text}")


# Other packages of this project that each one needs.
NEEDED = {
    "ir-opt": [],
    "ir-opt-llvm": ["ir-opt"],
    "ir-opt-plugin-dev": ["ir-opt"],
    "libir-opt-dev": ["ir-opt-plugin-dev", "ir-opt"],
    "python3-ir-opt": [],
}
# The C++ library that the tools and the Python package link.
LIBRARIES = {"ir-opt": "libfmt", "python3-ir-opt": "libfmt"}


class Packages:
    def __init__(self, options):
        self.options = options
        self.work = os.path.abspath(options.work)
        self.files = {}

    def make(self):
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        config = os.path.join(self.options.build, "CPackConfig.cmake")
        # The xz of released packages takes a minute.
        run("cpack", "--config", config, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", "-B", self.work, env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000"))

    def find(self):
        for path in sorted(glob.glob(os.path.join(self.work, "*.deb"))):
            self.files[run("dpkg-deb", "-f", path, "Package").strip()] = path
        # These are built only where there are headers of Python, or LLVM.
        missing = set(NEEDED) - set(self.files) - {"python3-ir-opt", "ir-opt-llvm"}
        if missing:
            raise Failure(f"{self.work} has no package {', '.join(sorted(missing))}, only {sorted(self.files)}")

    def check_fields(self, name):
        fields = run("dpkg-deb", "-f", self.files[name])
        depends = next((line for line in fields.splitlines() if line.startswith("Depends:")), "")
        for other in NEEDED[name][:1]:
            expect(depends, other + " (= ")
        if name in LIBRARIES:
            expect(depends, LIBRARIES[name])
        if ("LLVM" in depends.upper()) != (name == "ir-opt-llvm"):
            raise Failure(f"only ir-opt-llvm needs LLVM, {name} has {depends}")
        for path in run("dpkg-deb", "-c", self.files[name]).splitlines():
            place = path.split()[5]
            if place.startswith("./usr/local") or not ("./usr/".startswith(place) or place.startswith("./usr/")):
                raise Failure(f"{name} has {place}")
            if "root/root" not in path:
                raise Failure(f"{name}: not of root: {path}")

    def check_policy(self):
        if shutil.which("lintian"):
            run("lintian", "--allow-root", "--fail-on", "error", *self.files.values())

    def unpack(self, name):
        root = os.path.join(self.work, "root-" + name)
        for package in [name] + NEEDED[name]:
            run("dpkg-deb", "-x", self.files[package], root)
        return os.path.join(root, "usr")

    def check_tools(self, prefix):
        examples = os.path.join(prefix, "share/doc/ir-opt/examples")
        ir_opt = os.path.join(prefix, "bin/ir-opt")
        passes = f'-passes=BindParams<params="{examples}/cnn.safetensors">,default<O3>'
        expect(run(ir_opt, "-O3", passes, f"{examples}/cnn.ir"), "class Module:")
        # Formats are loaded from the package.
        expect(run(ir_opt, "-O3", f"{examples}/cnn.onnx"), "class Module:")
        expect(run(os.path.join(prefix, "bin/ir-run"), "-random-inputs", "-mode=inference", "-print",
                   f"{examples}/cnn.ir"), "float32")
        expect(run(ir_opt, "-version"), "ir-opt ")
        for name in ("nvim/site/lua/ir_lsp.lua", "nvim/site/ftdetect/tvmscript.vim", "vim/vimfiles/syntax/tvmscript.vim",
                     "ir-opt/editors/vscode/package.json", "man/man1/ir-lsp.1.gz", "doc/ir-opt/copyright", "doc/ir-opt/changelog.gz"):
            if not self.options.root and not os.path.exists(os.path.join(prefix, "share", name)):
                raise Failure(f"ir-opt does not have share/{name}")

    def check_compiler(self, prefix):
        module = os.path.join(prefix, "share/doc/ir-opt/examples/cnn.ir")
        run(os.path.join(prefix, "bin/ir-run"), "-O3", "-loops=compile", "-random-inputs", "-mode=inference", module)

    def build_example(self, prefix, name, source, *flags):
        build = os.path.join(self.work, name)
        run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={self.options.cxx}", *flags)
        run("cmake", "--build", build)
        return build

    def check_plugins(self, prefix):
        if glob.glob(os.path.join(prefix, "lib/**/libiropt_ir.a"), recursive=True) and not self.options.root:
            raise Failure("the package for plugins has the libraries")
        plugins = self.build_example(prefix, "plugins", os.path.join(prefix, "share/doc/ir-opt/examples/plugin"))
        expect(run(os.path.join(prefix, "bin/ir-opt"), f"-load-pass-plugin={plugins}/inverses.so", "-list-passes"),
               "CancelInverses")

    def check_libraries(self, prefix):
        source = os.path.join(self.options.source, "test/plugin/Inputs/consumer")
        programs = self.build_example(prefix, "programs", source)
        module = os.path.join(self.options.source, "test/plugin/Inputs/inverses.ir")
        expect(run(f"{programs}/plain", module, "DeadCodeElimination"), "class Module:")
        self.check_documents(prefix)
        self.check_pkg_config(prefix, source, module)

    def check_documents(self, prefix):
        """With the headers, all that the documents of the tools link to is there."""
        script = os.path.join(self.options.source, "scripts/installed_documents.py")
        run(sys.executable, script, "--check", os.path.join(prefix, "share/doc/ir-opt"))

    def check_pkg_config(self, prefix, source, module):
        if not shutil.which("pkg-config"):
            return
        folder = os.path.dirname(glob.glob(os.path.join(prefix, "lib/**/iropt.pc"), recursive=True)[0])
        flags = run("pkg-config", "--cflags", "--libs", "iropt", env=dict(os.environ, PKG_CONFIG_PATH=folder)).split()
        program = os.path.join(self.work, "by_pkg_config")
        run(self.options.cxx, os.path.join(source, "main.cpp"), "-o", program, *flags)
        expect(run(program, module, "DeadCodeElimination"), "class Module:")

    def check_python(self, prefix):
        path = os.path.join(prefix, "lib/python3/dist-packages")
        program = "import iropt; print(len(iropt.__file__) > 0)"
        expect(run("/usr/bin/python3", "-c", program, env=dict(os.environ, PYTHONPATH=path)), "True")

    def check(self):
        checks = {"ir-opt": self.check_tools, "ir-opt-llvm": self.check_compiler, "ir-opt-plugin-dev": self.check_plugins,
                  "libir-opt-dev": self.check_libraries, "python3-ir-opt": self.check_python}
        if self.options.root:
            for check in checks.values():
                check(os.path.join(self.options.root, "usr"))
            return
        if self.options.build:
            self.make()
        self.find()
        self.check_policy()
        for name in self.files:
            self.check_fields(name)
            checks[name](self.unpack(name))
            print(f"{name} works")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build")
    parser.add_argument("--source", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--root")
    try:
        Packages(parser.parse_args()).check()
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

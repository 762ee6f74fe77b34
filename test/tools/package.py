#!/usr/bin/env python3
"""Installs ir-opt into an empty folder, moves the folder, and builds and runs projects against the package.

  package.py --build=BUILD_DIR --source=SOURCE_DIR --work=FOLDER [--cxx=COMPILER] [--cxx-flags=FLAGS] [--generator=G]

The projects are the example plugins and a program that uses the library (test/plugin/Inputs/consumer). Exits with 1, saying
what is wrong, or with 0.
"""
import argparse
import os
import shutil
import subprocess
import sys

import many_modules


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("build", "source", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cxx-flags", default="")
    parser.add_argument("--generator", default="Ninja")
    return parser.parse_args()


Failure = many_modules.Failure


def run(*command, code=0, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **kwargs)
    if done.returncode != code:
        raise Failure(f"{' '.join(command)}\nended with {done.returncode}, not {code}:\n{done.stdout}")
    return done.stdout


def expect(text, *parts):
    """The parts must be in the text, in this order."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            raise Failure(f"expected {part!r} in\n{text}")
        at = found + len(part)


def files_below(folder):
    for base, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(base, name)


class Package:
    def __init__(self, options):
        self.options = options
        self.work = os.path.abspath(options.work)
        self.prefix = os.path.join(self.work, "moved")
        self.inputs = os.path.join(options.source, "test", "plugin", "Inputs")

    def install(self):
        shutil.rmtree(self.work, ignore_errors=True)
        first = os.path.join(self.work, "installed")
        run("cmake", "--install", self.options.build, "--prefix", first)
        os.rename(first, self.prefix)
        for path in files_below(self.prefix):
            self.check_paths(path, [first, self.options.build, self.options.source])
        # Nothing of what the headers include may be missing.
        for name in ("include/iropt/transform/passes.def", "include/iropt/op/ops/binary.def", "bin/ir-opt"):
            self.read(name, binary=True)
        self.check_pages()

    def read(self, name, binary=False):
        """What an installed file holds, which must not be empty."""
        path = os.path.join(self.prefix, name)
        if not os.path.exists(path):
            raise Failure(f"{name} is not installed")
        with open(path, "rb") as f:
            content = f.read()
        if not content:
            raise Failure(f"{name} is empty")
        return content if binary else content.decode()

    def check_pages(self):
        """Manual pages and completions of all tools, and the documents."""
        for tool in ("ir-opt", "ir-run", "ir-reduce"):
            expect(self.read(f"share/man/man1/{tool}.1"), ".SH NAME", tool.replace("-", "\\-"), ".SH OPTIONS")
            expect(self.read(f"share/bash-completion/completions/{tool}"), f" {tool}\n")
            expect(self.read(f"share/zsh/site-functions/_{tool}"), f"#compdef {tool}\n")
            expect(self.read(f"share/fish/vendor_completions.d/{tool}.fish"), f"complete -c {tool} ")
        expect(self.read("share/doc/ir-opt/docs/pass_reference.md"), "# Passes", "## FoldConstant", "  after -passes='FoldConstant'")
        expect(self.read("share/doc/ir-opt/docs/passes.md"), "ir-opt lacks")
        run(sys.executable, os.path.join(self.options.source, "scripts/installed_documents.py"), "--check",
            os.path.join(self.prefix, "share/doc/ir-opt"))
        for name in ("LICENSE", "README.md", "docs/usage.md", "docs/passes_by_purpose.md", "examples/sequential.ir"):
            self.read(f"share/doc/ir-opt/{name}")

    def check_paths(self, path, places):
        """Text that is installed names no place of the machine where it was built."""
        if not path.endswith((".cmake", ".h", ".def", ".list")):
            return
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for place in places:
            if os.path.abspath(place) in text:
                raise Failure(f"{path} names {place}")

    def build(self, name, source):
        build = os.path.join(self.work, name)
        run("cmake", "-S", source, "-B", build, "-G", self.options.generator, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={self.options.cxx}",
            f"-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror {self.options.cxx_flags}")
        run("cmake", "--build", build)
        return build

    def check_plugins(self, plugins):
        ir_opt = os.path.join(self.prefix, "bin", "ir-opt")
        inverses = f"-load-pass-plugin={plugins}/inverses.so"
        counter = f"-load-pass-plugin={plugins}/call-counter.so"
        scale = f"-load-pass-plugin={plugins}/scale-operator.so"
        expect(run(ir_opt, scale, "-O1", os.path.join(self.inputs, "scale.ir")), "R.multiply(x, R.const(2.0")
        expect(run(ir_opt, f"-load-pass-plugin={plugins}/matmul-of-sum.so", "-passes=MatmulOfSum",
                   os.path.join(self.inputs, "matmul_of_sum.ir")), "R.matmul(x, a", "R.matmul(x, b", "R.add(")
        module = os.path.join(self.inputs, "inverses.ir")
        expect(run(ir_opt, inverses, counter, "-list-passes"), "CancelInverses", "FoldConstant")
        expect(run(ir_opt, inverses, "-passes=CancelInverses", module),
               "a: ", "R.negative(x)", "b: ", "= x\n", "d: ", "= m\n", "kept: ", "R.negative(edge)")
        expect(run(ir_opt, inverses, '-passes=CancelInverses<operators=["relax.negative"]>', module),
               "b: ", "= x\n", "d: ", "R.logical_not(c)")
        expect(run(ir_opt, inverses, counter, "-passes=CancelInverses,CanonicalizeBindings,DeadCodeElimination",
                   "-instruments=call-counter", "-verify-each", "-threads=2", module, "-o", os.devnull),
               "CancelInverses: 5 calls", "DeadCodeElimination: 3 calls")
        expect(run(ir_opt, counter, "-passes=Normalize", "-instruments=call-counter<op=relax.exp>", module, "-o", os.devnull),
               "Normalize: 1 calls")

    def check_programs(self, programs, plugins):
        module = os.path.join(self.inputs, "inverses.ir")
        expect(run(f"{programs}/plain", module, "DeadCodeElimination"), "class Module:", "kept: ")
        expect(run(f"{programs}/host", module, "CancelInverses", f"{plugins}/inverses.so"), "b: ", "= x\n")
        # A program that exports nothing has nothing that a plugin could use.
        expect(run(f"{programs}/plain", module, "CancelInverses", f"{plugins}/inverses.so", code=1),
               "cannot load plugin", "undefined symbol")

    def check(self):
        self.install()
        plugins = self.build("plugins", os.path.join(self.options.source, "examples", "plugin"))
        self.check_plugins(plugins)
        programs = self.build("programs", os.path.join(self.inputs, "consumer"))
        self.check_programs(programs, plugins)
        many_modules.ManyModules(self.prefix, os.path.join(self.work, "many"), number=40, layers=60).check()


def main():
    try:
        Package(parse_arguments()).check()
    except Failure as failure:
        print(failure)
        return 1
    print("the package works")
    return 0


if __name__ == "__main__":
    sys.exit(main())

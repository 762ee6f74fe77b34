"""The commands of the wheel: they become the native program in the package iropt, without importing it."""
import os
import sys

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "iropt")


def run(tool):
    environment = dict(os.environ)
    libraries = os.path.join(PACKAGE, "libs")
    if os.path.isdir(libraries):
        others = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = libraries + (os.pathsep + others if others else "")
    # The name under which the program is called chooses the tool.
    os.execve(os.path.join(PACKAGE, "ir-opt"), [tool, *sys.argv[1:]], environment)


def ir_opt():
    run("ir-opt")


def ir_run():
    run("ir-run")


def ir_reduce():
    run("ir-reduce")


def ir_lsp():
    run("ir-lsp")

"""The command line of ir-opt in the interpreter, in which plugins may be written in Python:

  python3 -m iropt.opt -load-pass-plugin=PASSES.py -passes=Mine in.ir
"""
import signal
import sys

from ._core import native


def main():
    # The interpreter would ignore a pipe whose reader has gone, and would not end on Ctrl-C while the library works.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return native.run_ir_opt(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

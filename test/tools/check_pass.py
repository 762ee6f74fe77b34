#!/usr/bin/env python3
"""ir-opt with the checks that every pass test makes. Prints what ir-opt prints, so that FileCheck can go on from there.

    check_pass.py --ir-opt=BINARY [--not-idempotent=WHY] [FLAGS...] INPUT

With FLAGS and INPUT as ir-opt takes them, it requires that
  - the result verifies, also after each single pass,
  - the result reads back and prints as the same text,
  - one thread and four threads give the same text,
  - a second run of the same flags on the result changes nothing, unless --not-idempotent says why it would.
"""
import argparse
import difflib
import os
import subprocess
import sys
import tempfile

# Flags that say how text is read and printed rather than what is done to it: reading back needs them as well.
TEXT_FLAGS = ("split-input-file", "inline-constants")


class CheckFailed(Exception):
    pass


class Checker:
    def __init__(self, ir_opt, flags):
        self.ir_opt = ir_opt
        self.flags = flags
        self.text_flags = [f for f in flags if f.lstrip("-").split("=")[0] in TEXT_FLAGS]

    def run(self, what, flags, path):
        """The text that ir-opt prints; its stderr passes through."""
        command = [self.ir_opt, *flags, path]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise CheckFailed(f"{what}: exit code {done.returncode} from {' '.join(command)}")
        return done.stdout.decode(errors="replace")

    def expect_same(self, what, expected, got):
        if expected == got:
            return
        diff = difflib.unified_diff(expected.splitlines(), got.splitlines(), "expected", "got", lineterm="")
        raise CheckFailed("\n".join([f"{what}:", *list(diff)[:100]]))

    def check(self, source, folder, not_idempotent):
        result = self.run("the run itself", [*self.flags, "-threads=1"], source)
        path = os.path.join(folder, "result.ir")
        with open(path, "w", encoding="utf-8") as f:
            f.write(result)
        self.run("the result does not verify", [*self.text_flags, "-verify-only"], path)
        self.run("a pass breaks the module", [*self.flags, "-verify-each"], source)
        self.expect_same("the result reads back differently", result, self.run("reading back", self.text_flags, path))
        threads = self.run("the run with four threads", [*self.flags, "-threads=4"], source)
        self.expect_same("four threads give another result than one", result, threads)
        if not not_idempotent:
            again = self.run("the second run", self.flags, path)
            self.expect_same("a second run changes the result", result, again)
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--not-idempotent", metavar="WHY")
    options, rest = parser.parse_known_args()
    if not rest or rest[-1].startswith("-"):
        parser.error("the input file comes last")
    checker = Checker(options.ir_opt, rest[:-1])
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = checker.check(rest[-1], folder, options.not_idempotent)
    except CheckFailed as e:
        print(f"check_pass: {e}", file=sys.stderr)
        return 1
    sys.stdout.write(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs ir-opt with the checks of every pass test, and prints its output, for
FileCheck.

    check_pass.py [--ir-opt=BINARY] [--not-idempotent=WHY] [FLAGS...] INPUT

BINARY is by default the ir-opt that is installed with this script, or else that
of the PATH. With FLAGS and INPUT as ir-opt takes them, it requires that
  - the result verifies, also after each single pass,
  - the result reads back as the same module and prints as the same text,
  - one thread and four threads give the same text,
  - a second run of the same flags on the result changes nothing, unless
    --not-idempotent says why it would.
"""
import argparse
import difflib
import os
import subprocess
import sys


class CheckFailed(Exception):
    pass


def run(what, command):
    """The text that ir-opt prints; its stderr passes through."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    except OSError as e:
        raise CheckFailed(f"cannot run {command[0]}: {e.strerror}; --ir-opt=BINARY names it") from e
    if done.returncode != 0:
        raise CheckFailed(f"{what}: exit code {done.returncode} from {' '.join(command)}")
    return done.stdout.decode(errors="replace")


def installed_ir_opt():
    """The ir-opt of the prefix that this script is installed in, or else that of the PATH."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bin", "ir-opt")
    return os.path.normpath(path) if os.path.exists(path) else "ir-opt"


def check(ir_opt, flags, source, not_idempotent):
    checks = ["-verify-each", "-verify-roundtrip"] + ([] if not_idempotent else ["-verify-idempotent"])
    result = run("the run with all checks", [ir_opt, *flags, *checks, "-threads=1", source])
    threads = run("the run with four threads", [ir_opt, *flags, "-threads=4", source])
    if result != threads:
        diff = difflib.unified_diff(result.splitlines(), threads.splitlines(), "one thread", "four threads", lineterm="")
        raise CheckFailed("\n".join(["four threads give another result than one:", *list(diff)[:100]]))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default=installed_ir_opt())
    parser.add_argument("--not-idempotent", metavar="WHY")
    options, rest = parser.parse_known_args()
    if not rest or rest[-1].startswith("-"):
        parser.error("the input file comes last")
    try:
        result = check(options.ir_opt, rest[:-1], rest[-1], options.not_idempotent)
    except CheckFailed as e:
        print(f"check_pass: {e}", file=sys.stderr)
        return 1
    sys.stdout.write(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())

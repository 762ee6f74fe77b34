#!/usr/bin/env python3
"""Checks that each pass that counts its rewrites asks before all of them.

  rewrite_limits.py IR_OPT EXAMPLES    EXAMPLES has a module for each pass, named after it

Without any rewrite, a pass leaves the module as it is; with all of them, the result is that of a run without a limit;
after any number between, the module is well-formed. Each example has at least one rewrite.
"""
import json
import os
import re
import subprocess
import sys

MOST_LIMITS = 12
MADE = re.compile(r"remark: pass '[^']*' made (\d+) rewrites?")


def header(text, key):
    found = re.search(rf"^# {key}: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else None


class Example:
    def __init__(self, ir_opt, name, path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.ir_opt, self.name, self.path = ir_opt, name, path
        config = header(text, "config")
        self.flags = [f"-config={config}=true"] if config else []
        self.pipeline = header(text, "passes") or name

    def run(self, *flags):
        """The module and the messages."""
        command = [self.ir_opt, "-O4", f"-passes={self.pipeline}", *self.flags, *flags, self.path]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ends with exit code {done.returncode}:\n{done.stderr}")
        return done.stdout, done.stderr

    def limited(self, limit):
        text, messages = self.run(f"-rewrite-limit={self.name}:{limit}")
        return text, int(MADE.search(messages).group(1))

    def problems(self):
        """Sentences about what is wrong."""
        without, _ = self.run(f"-disable={self.name}")
        full, _ = self.run()
        text, count = self.limited(-1)
        if text != full:
            yield "counting changes the result"
        if count == 0:
            yield "the example has no rewrite"
        if self.limited(0) != (without, 0):
            yield "changes the module without a rewrite"
        if self.limited(count)[0] != full:
            yield f"{count} rewrites do not give the whole result"
        for limit in range(1, min(count, MOST_LIMITS)):
            if self.limited(limit)[1] != limit:
                yield f"makes another number of rewrites than {limit}"


def main():
    ir_opt, folder = sys.argv[1:]
    listed = subprocess.run([ir_opt, "-list-passes=json"], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    names = [row["name"] for row in json.loads(listed.stdout)["passes"] if row["counts_rewrites"]]
    failed = 0
    for name in names:
        try:
            found = list(Example(ir_opt, name, os.path.join(folder, name + ".ir")).problems())
        except (RuntimeError, OSError) as error:
            found = [str(error)]
        for problem in found:
            print(f"{name}: {problem}")
        failed += bool(found)
    print(f"{len(names)} passes count their rewrites, {failed} of them have problems")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())

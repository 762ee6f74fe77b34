#!/usr/bin/env python3
"""output.py IR_OPT checks that runs which fail leave the old output alone, and nothing next to it."""
import os
import subprocess
import sys
import tempfile

GOOD = """@R.function
def main(x: R.Tensor((2, 3), dtype="float32")):
    y = R.exp(x)
    return y
"""

CASES = [
    # What fails, the input, the flags, the exit code.
    ("parse", GOOD.replace("exp(x)", "exp(x"), [], 2),
    ("types", GOOD.replace("exp(x)", "exp(z)"), [], 2),
    ("verify", GOOD.replace("y = R.exp(x)", 'y = R.call_packed("f", x, sinfo_args=R.Object)'), [], 3),
    ("usage", GOOD, ["-passes=NoSuchPass"], 1),
    ("pass", GOOD, ["-passes=DeadCodeElimination<entry_functions=[\"none\"]>"], 4),
]


def main():
    ir_opt = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.ir")
        output = os.path.join(folder, "out.ir")
        for name, text, flags, code in CASES:
            with open(source, "w") as file:
                file.write(text)
            with open(output, "w") as file:
                file.write("old\n")
            result = subprocess.run([ir_opt, source, "-o", output, *flags], capture_output=True, text=True)
            with open(output) as file:
                kept = file.read() == "old\n"
            rest = sorted(os.listdir(folder))
            print(f"{name}: exit code {result.returncode}")
            if result.returncode != code or not kept or rest != ["in.ir", "out.ir"] or "error: " not in result.stderr:
                sys.exit(f"{name}: exit code {result.returncode}, output kept: {kept}, files: {rest}, {result.stderr}")


if __name__ == "__main__":
    main()

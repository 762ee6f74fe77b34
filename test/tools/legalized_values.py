#!/usr/bin/env python3
"""Legalized PrimFuncs compute what the kernels of their operators compute: the functions of a table of operator calls, dtypes,
and static and symbolic shapes are run before and after LegalizeOps under -check-semantics, on ordinary, special and
non-finite inputs. The tolerance is that of each dtype, see docs/semantic_check.md.

    legalized_values.py --ir-opt=BINARY [--compiled=N] [--legalizations=FILE] [FAMILY...]

With --compiled, each Nth PrimFunc is compiled as well, which takes ten times as long as to interpret it. FILE is lib/legalize/legalizations.def: each operator that it legalizes
must be in the table (legalization_table.py).

    legalized_values.py --print FAMILY...

prints the functions.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

from legalization_table import SIZES, TABLE, WITHOUT_VALUES

SUMMARY = re.compile(r"functions: (\d+) \((\d+) unchanged, (\d+) not compared\)")
FUNCTIONS_PER_MODULE = 100


def operand_type(spec, default, static):
    dims, dtype = spec if len(spec) == 2 and isinstance(spec[0], tuple) else (spec, default)
    dims = [SIZES[d] if static and d in SIZES else d for d in dims]
    text = ", ".join(f'"{d}"' if isinstance(d, str) else str(d) for d in dims)
    return f'R.Tensor(({text}{"," if len(dims) == 1 else ""}), "{dtype}")', {d for d in dims if isinstance(d, str)}


def function_text(call, operands, dtype, static):
    """The body of a function that returns the call, without its name."""
    params, variables = [], set()
    for name, spec in operands.items():
        text, used = operand_type(spec, dtype, static)
        params.append(f"{name}: {text}")
        variables |= used
    call = call.replace("{dtype}", dtype)
    if static:
        call = re.sub(r"\b([nmk])\b", lambda match: str(SIZES[match.group(1)]), call)
    lines = [f"({', '.join(params)}):", *[f"    {v} = T.int64()" for v in sorted(variables)], f"    y0 = {call}", "    return y0"]
    return "\n".join(lines)


def functions_of(rows):
    texts = [function_text(call, operands, dtype, static)
             for dtypes, call, operands in rows for dtype in dtypes for static in (True, False)]
    # Those without symbolic dimensions are the same in both variants.
    return list(dict.fromkeys(texts))


def module_text(functions):
    text = "@I.ir_module\nclass Module:\n"
    for number, function in enumerate(functions):
        text += "".join(f"    {line}\n" for line in f"@R.function\ndef f{number}{function}".splitlines()) + "\n"
    return text


def operators_of(rows):
    """The operators that the calls are of, as in legalizations.def but in lower case."""
    for _, call, operands in rows:
        name = re.match(r"R\.([\w.]+)\(", call).group(1)
        # With a bias, it is an operator of its own.
        if name == "nn.attention" and len(operands) == 4:
            name = "nn.attention_bias"
        yield re.sub(r"[._]", "", name).lower()


def uncovered(legalizations):
    with open(legalizations, encoding="utf-8") as f:
        names = re.findall(r"^IROPT_LEGALIZE(?:_ANY_SHAPE|_COUNTED)?\((\w+)\)", f.read(), re.MULTILINE)
    covered = {name for rows in TABLE.values() for name in operators_of(rows)}
    missing = [f"operator {name} is not in the table" for name in names if name.lower() not in covered and name not in WITHOUT_VALUES]
    missing += [f"operator {name} is in the table, and among those without values" for name in WITHOUT_VALUES if name.lower() in covered]
    return missing + [f"operator {name} is not in legalizations.def" for name in WITHOUT_VALUES if name not in names]


def check_module(ir_opt, flag, path):
    """The messages of failures; empty if all functions are legalized and agree."""
    command = [ir_opt, "-passes=LegalizeOps", "-check-semantics", flag, path, "-o", os.devnull]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    summary = SUMMARY.search(done.stderr)
    if done.returncode == 0 and summary and summary.group(2) == summary.group(3) == "0":
        return []
    # Without the lines of the table.
    lines = [line for line in done.stderr.splitlines() if not re.match(r" *[\d.e+-]+ +[\d.e+-]+ +\d+ +\d+  f\d+ ", line)]
    return ["\n".join([f"exit code {done.returncode}: {' '.join(command)}", *lines[:60]])]


def modules_of(families, every, folder):
    """The name of each module, its file and the number of its functions: one of `every` in the table."""
    for family in families:
        functions = functions_of(TABLE[family])[::every]
        for begin in range(0, len(functions), FUNCTIONS_PER_MODULE):
            part = functions[begin:begin + FUNCTIONS_PER_MODULE]
            path = os.path.join(folder, f"{family}{begin}_{every}.ir")
            with open(path, "w", encoding="utf-8") as f:
                f.write(module_text(part))
            yield family, path, len(part)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt")
    parser.add_argument("--compiled", type=int, metavar="N")
    parser.add_argument("--legalizations")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--keep", help="a folder for the modules; by default a temporary one")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"{', '.join(TABLE)}; all by default")
    options = parser.parse_args()
    families = options.families or list(TABLE)
    if options.print:
        print(module_text([text for family in families for text in functions_of(TABLE[family])]), end="")
        return 0
    failures = uncovered(options.legalizations) if options.legalizations else []
    modes = [("interpreted", 1, "-check-semantics-compiled=never")]
    if options.compiled:
        modes.append(("compiled", options.compiled, "-check-semantics-compiled"))
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [(f"{family} {mode}", size, pool.submit(check_module, options.ir_opt, flag, path))
                for mode, every, flag in modes for family, path, size in modules_of(families, every, options.keep or temporary)]
        for name, size, run in runs:
            failures += run.result()
            counts[name] += size
    for name, count in counts.items():
        print(f"{name:30} {count} functions")
    print("\n".join(f"FAILED: {failure}" for failure in failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""What -prove proves of random pairs of loops agrees in runs.

  random_loop_proofs.py --ir-opt=ir-opt --plugin=wrong_passes.so [--seeds=4] [--first=0]

A pair is a PrimFunc and one that is alike: its loops are split, fused, exchanged, reversed or vectorized, or a number, an operator, a condition or a
statement is changed, so that many compute the same, and many something else. Other pairs are two forms of what is easily taken for the same: lets and
scratch memory around loops, lanes of vectors, unsigned numbers, loops without iterations, and what fails unless a condition holds. Prints how many pairs were proved, and fails if a run refutes one of them.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PAIRS = 40  # by seed
AT = re.compile(r"\bA\[([^][,]*), ([^][,]*|T\.min\(.*?, .*?\))\]")  # an element of A
SIZES = [("4", "6"), ("n", "m"), ("n", "6")]
# Forms of one thing, some of which differ: `q` is a number.
FORMS = [
    [  # values that are taken before or within a loop
        ["for i in range({rows}):", "    x: T.int32 = C[i, 0] + A[i, 0]", "    for j in range({q}):", "        C[i, 0] = x"],
        ["for i in range({rows}):", "    for j in range({q}):", "        x: T.int32 = C[i, 0] + A[i, 0]", "        C[i, 0] = x"],
        ["for i in range({rows}):", "    for j in range({q}):", "        C[i, 0] = C[i, 0] + A[i, 0]"],
        ["for i in range({rows}):", "    C[i, 0] = C[i, 0] + A[i, 0]"],
    ],
    [  # other lanes
        ["C[0, T.Ramp(0, 1, 2)] = A[0, T.Ramp(0, 1, 2)]"],
        ["C[0, T.Ramp(0, 1, 2)] = A[0, T.Ramp({q}, 1, 2)]"],
        ['C[0, T.Ramp(0, 1, 2)] = T.vectorlow("int32x2", A[0, T.Ramp(0, 1, 4)])'],
        ['C[0, T.Ramp(0, 1, 2)] = T.vectorhigh("int32x2", A[0, T.Ramp(0, 1, 4)])'],
        ["for i in range(2):", "    C[0, i] = A[0, i]"],
    ],
    [  # numbers without a sign
        ['if T.Cast("uint64", k) < T.uint64({q}):', "    C[0, 0] = 7"],
        ["if k < T.int64({q}):", "    C[0, 0] = 7"],
        ["if k < T.int64({q}) and k >= T.int64(0):", "    C[0, 0] = 7"],
        ['if T.Cast("uint64", k) - T.uint64(1) < T.uint64({q}):', "    C[0, 0] = 7"],
    ],
    [  # loops without iterations
        ["for i in range({rows}):", "    for j in range(T.min(k, T.int64({q}))):", "        C[i, j] = A[i, 0] // B[i, 0]"],
        ["for i in range({rows}):", "    t: T.int32 = A[i, 0] // B[i, 0]", "    for j in range(T.min(k, T.int64({q}))):", "        C[i, j] = t"],
        ["for i in range({rows}):", "    for j in range(T.int64({q})):", "        if j < k:", "            C[i, j] = A[i, 0] // B[i, 0]"],
        ["for i in range({rows}):", "    if k > T.int64(0):", "        t: T.int32 = A[i, 0] // B[i, 0]", "        for j in range(T.min(k, T.int64({q}))):",
         "            C[i, j] = t"],
    ],
    [  # the second operand of a condition
        ["for i in range({rows}):", "    if A[i, 0] != 0 and 10 // A[i, 0] > {q}:", "        C[i, 0] = 1"],
        ["for i in range({rows}):", "    if 10 // A[i, 0] > {q} and A[i, 0] != 0:", "        C[i, 0] = 1"],
        ["for i in range({rows}):", "    if A[i, 0] != 0:", "        if 10 // A[i, 0] > {q}:", "            C[i, 0] = 1"],
        ["for i in range({rows}):", "    if not (A[i, 0] == 0 or 10 // A[i, 0] <= {q}):", "        C[i, 0] = 1"],
    ],
    [  # shifts and conversions before the condition
        ["for i in range({rows}):", "    C[i, 0] = T.if_then_else(A[i, 0] >= 0 and A[i, 0] < 31, T.shift_left({q}, A[i, 0]), 0)"],
        ["for i in range({rows}):", "    t: T.int32 = T.shift_left({q}, A[i, 0])", "    C[i, 0] = T.if_then_else(A[i, 0] >= 0 and A[i, 0] < 31, t, 0)"],
        ["for i in range({rows}):", "    C[i, 0] = 0", "    if A[i, 0] >= 0 and A[i, 0] < 31:", "        C[i, 0] = T.shift_left({q}, A[i, 0])"],
    ],
    [
        ["for i in range({rows}):", '    f: T.float32 = T.Cast("float32", A[i, 0]) * T.float32(1e9)',
         '    C[i, 0] = T.if_then_else(A[i, 0] < {q}, T.Cast("int32", T.min(f, T.float32(0))), 0)'],
        ["for i in range({rows}):", '    t: T.int32 = T.Cast("int32", T.Cast("float32", A[i, 0]) * T.float32(1e9))',
         "    C[i, 0] = T.if_then_else(A[i, 0] < 1, T.min(t, 0), 0)"],
        ["for i in range({rows}):", "    C[i, 0] = T.if_then_else(A[i, 0] < 1,"
         ' T.min(T.Cast("int32", T.Cast("float32", A[i, 0]) * T.float32(1e9)), 0), 0)'],
    ],
    [  # memory that threads share
        ['for i in T.thread_binding({rows}, thread="threadIdx.x"):', "    C[i, 0] = A[i, 0] + {q}"],
        ['for i in T.thread_binding({rows}, thread="threadIdx.x"):', "    U[i] = A[i, 0] + {q}", "    C[i, 0] = U[i]"],
        ['for i in T.thread_binding({rows}, thread="threadIdx.x"):', "    U[0] = A[i, 0] + {q}", "    C[i, 0] = U[0]"],
        ['for i in T.thread_binding({rows}, thread="threadIdx.x"):', "    U[i // 2] = A[i, 0] + {q}", "    C[i, 0] = U[i // 2]"],
        ["for i in range({rows}):", "    U[0] = A[i, 0] + {q}", "    C[i, 0] = U[0]"],
    ],
    [  # strides that may be 0 or negative
        ["for i in range(3):", "    C[0, i * k] = A[0, i]"],
        ["for i in range(3):", "    C[0, (2 - i) * k] = A[0, 2 - i]"],
        ["if k > T.int64(0):", "    for i in range(3):", "        C[0, i * k] = A[0, i]"],
    ],
]
KINDS = ["range", "range", "range", "T.vectorized", "T.parallel", "T.unroll"]


def loops(rng, names, sizes):
    """Headers of loops over the matrix, its indices, and the condition of a tile that is not whole."""
    row, column = names
    rows, columns = sizes
    form = rng.randrange(6)
    if form == 0:
        return [f"for {row} in {rng.choice(KINDS)}({rows}):", f"for {column} in {rng.choice(KINDS)}({columns}):"], row, column, None
    if form == 1:
        return [f"for {column} in range({columns}):", f"for {row} in {rng.choice(KINDS)}({rows}):"], row, column, None
    if form == 2:
        return [f"for {row} in range({rows} * {columns}):"], f"{row} // {columns}", f"{row} % {columns}", None
    if form == 3:
        tile = rng.choice([2, 3, 4])
        index = f"({column} * {tile} + {column}i)"
        guard = f"{index} < {columns}" if columns == "m" or int(columns) % tile else None
        return [f"for {row} in range({rows}):", f"for {column} in range(({columns} + {tile - 1}) // {tile}):", f"for {column}i in range({tile}):"], row, index, guard
    if form == 4:  # digits of another order
        return [f"for {row} in range({rows} * {columns}):"], f"{row} % {rows}", f"{row} // {rows}", None
    return [f"for {row} in range({rows}):", f"for {column} in range({columns}):"], f"({rows} - 1 - {row})", column, None


def element(rng, i, j, buffers, sizes):
    rows, columns = sizes
    kind = rng.randrange(7)
    a = f"{rng.choice(buffers)}[{i}, {j}]"
    b = f"{rng.choice(buffers)}[{i}, {j}]"
    if kind == 0:
        return f"{a} + {b}"
    if kind == 1:
        return f"T.max({a}, {b} * {rng.choice('23')})"
    if kind == 2:
        return f"T.if_then_else({i} < {rng.randrange(1, 4)}, {a}, {b})"
    if kind == 3:
        return f"T.if_then_else({a} > {rng.randrange(3)}, {a}, {b} - {rng.randrange(3)})"
    if kind == 4:
        return f"A[{rows} - 1 - {i}, {j}]"
    if kind == 5:
        return f"A[{i}, T.min({j} + {rng.randrange(3)}, {columns} - 1)]"
    return f"{a} * {b}"


def nest(target, i_and_j, value):
    headers, i, j, guard = i_and_j
    lines = [f"{'    ' * depth}{header}" for depth, header in enumerate(headers)]
    depth = len(headers)
    if guard:
        lines.append(f"{'    ' * depth}if {guard}:")
        depth += 1
    return lines + [f"{'    ' * depth}{target}[{i}, {j}] = {value(i, j)}"]


def reduction(number, source, init, order, sizes):
    """Sums or extrema of rows, in the first column of S."""
    rows, columns = sizes
    r, k = f"r{number}", f"k{number}"
    step = f"S[{r}] + {source}[{r}, {k}]" if init == "0" else f"T.max(S[{r}], {source}[{r}, {k}])"
    if order == 0:
        lines = [f"for {r} in range({rows}):", f"    S[{r}] = {init}", f"    for {k} in range({columns}):", f"        S[{r}] = {step}"]
    elif order == 1:
        lines = [f"for {k} in range({columns}):", f"    for {r} in range({rows}):", f"        if {k} == 0:", f"            S[{r}] = {init}",
                 f"        S[{r}] = {step}"]
    else:
        lines = [f"for {r} in range({rows}):", f"    S[{r}] = {init}", f"for {r}, {k} in T.grid({rows}, {columns}):", f"    S[{r}] = {step}"]
    return lines


def program(rng, shape, sizes):
    """A program of the shape, which says what is computed; the loops are any."""
    lines = []
    for number, (target, seed, source, init) in enumerate(shape):
        if source:
            lines += reduction(number, source, init, rng.randrange(3), sizes)
        buffers = ["A", "B", "T0"][:2 + (number > 0)]
        names = (f"i{number}", f"j{number}")
        lines += nest(target, loops(rng, names, sizes), lambda i, j: element(random.Random(seed), i, j, buffers, sizes) +
                      (f" + S[{i}]" if source else ""))
    return lines


def changed(rng, lines):
    """The lines with a number, an operator, or a condition changed, or a line less."""
    lines = list(lines)
    at = rng.randrange(len(lines))
    kind = rng.randrange(4)
    numbers = [match for match in re.finditer(r"(?<![A-Za-z_\d])\d+", lines[at])]
    if kind == 0 and numbers:
        match = rng.choice(numbers)
        lines[at] = lines[at][:match.start()] + str(max(0, int(match.group()) + rng.choice([-1, 1]))) + lines[at][match.end():]
    elif kind == 1:
        for a, b in [(" + ", " - "), (" * ", " + "), ("T.max(", "T.min("), (" < ", " <= "), (" == 0", " == 1")]:
            if a in lines[at]:
                lines[at] = lines[at].replace(a, b, 1)
                break
    elif kind == 2 and lines[at].lstrip().startswith("if "):
        lines[at] = re.sub(r"if .*:", "if True:", lines[at])
    elif kind == 3 and " = " in lines[at]:
        lines[at] = re.sub(r"= .*", "= " + rng.choice(["0", "A[0, 0]"]), lines[at])
    return lines


def function(number, lines, dtype, sizes):
    """As text. What is read of a buffer by its place in memory goes through a view of one axis."""
    rows, columns = sizes
    shape = f"({rows}, {columns})"
    if dtype != "int32":
        lines = [re.sub(r"= (-?\d+)$", rf"= T.{dtype}(\1)", line) for line in lines]
    text = [f"    @T.prim_func\n    def f{number}({', '.join(f'{name.lower()}: T.handle' for name in 'ABC')}, k: T.int64):"]
    text += [f"{name} = T.int64()" for name in sizes if not name.isdigit()]
    text += [f'{name} = T.match_buffer({name.lower()}, {shape}, "{dtype}")' for name in "ABC"]
    text += [f'T0 = T.alloc_buffer({shape}, "{dtype}")', f'S = T.alloc_buffer(({rows},), "{dtype}")']
    if "A1[" in "".join(lines):
        text.append(f'A1 = T.Buffer(({rows} * {columns},), "{dtype}", data=A.data)')
    if "U[" in "".join(lines):
        text.append(f'U = T.alloc_buffer(({rows},), "{dtype}", scope="shared")')
    return "\n        ".join(text + lines) + "\n"


def two_forms(rng):
    """A pair of forms of one thing, which are of integers."""
    sizes = rng.choice(SIZES[::2])
    q = rng.randrange(1, 4)
    return tuple([line.format(rows=sizes[0], q=q) for line in form] for form in rng.sample(rng.choice(FORMS), 2)) + (sizes,)


def make_pairs(rng):
    dtype = rng.choice(["int32", "int32", "float32"])
    pairs = [two_forms(rng) for _ in range(PAIRS // 2 if dtype == "int32" else 0)]
    while len(pairs) < PAIRS:
        shape = [(target, rng.random(), rng.choice([None, "A", "B"]), rng.choice(["0", "-1000"])) for target in rng.choice([["C"], ["T0", "C"]])]
        sizes = rng.choice(SIZES)
        before, after = program(rng, shape, sizes), program(rng, shape, sizes)
        if rng.randrange(3) == 0:
            after = [AT.sub(rf"A1[(\1) * {sizes[1]} + \2]", line) for line in after]
        for _ in range(rng.randrange(3)):
            after = changed(rng, after)
        if before != after:
            pairs.append((before, after, sizes))
    return pairs, dtype


def module(functions):
    return "from tvm.script import ir as I, relax as R, tir as T\n\n@I.ir_module\nclass Module:\n" + "\n".join(functions)


def run(args, folder, *flags):
    return subprocess.run([args.ir_opt, f"-load-pass-plugin={args.plugin}", f'-passes=test.ReplaceModule<file="{folder}/after.ir">', *flags,
                           f"{folder}/before.ir", "-o", "/dev/null"], capture_output=True, text=True)


def check(args, folder, pairs, dtype):
    """The pairs that are proved, and those of them that runs refute."""
    (folder / "before.ir").write_text(module(function(number, pair[0], dtype, pair[2]) for number, pair in enumerate(pairs)))
    (folder / "after.ir").write_text(module(function(number, pair[1], dtype, pair[2]) for number, pair in enumerate(pairs)))
    (folder / "report.json").unlink(missing_ok=True)
    result = run(args, folder, "-prove=all", f"-prove-report={folder}/report.json")
    if not (folder / "report.json").exists():
        sys.exit(f"the loops are not read:\n{result.stderr}")
    rows = json.loads((folder / "report.json").read_text())["proofs"]
    proved = {int(row["function"][1:]) for row in rows if row["answer"] == "proved"}
    refuted = {int(number) for number in re.findall(r"error: .*function 'f(\d+)'", run(args, folder, "-check-semantics=all").stderr)}
    return proved, proved & refuted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    total, num_proved, wrong = 0, 0, []
    with tempfile.TemporaryDirectory() as name:
        for seed in range(args.first, args.first + args.seeds):
            rng = random.Random(seed)
            pairs, dtype = make_pairs(rng)
            total += len(pairs)
            proved, false = check(args, pathlib.Path(name), pairs, dtype)
            num_proved += len(proved)
            wrong += [(seed, number, *pairs[number][:2]) for number in false]
    for seed, number, before, after in wrong:
        print(f"proved, but wrong (seed {seed}, f{number}):", *before, "--", *after, sep="\n  ")
    print(f"pairs: {total}, of which -prove proves {num_proved}")
    sys.exit(bool(wrong) or num_proved * 10 < total)


if __name__ == "__main__":
    main()

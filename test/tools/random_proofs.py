"""What -prove and verify-rules prove of random pairs of functions agrees in runs.

  random_proofs.py --ir-opt=ir-opt --plugin=wrong_passes.so [--seeds=4] [--first=0]

The functions of a pair are alike: one has operands swapped, axes permuted there and back, attributes changed or an operator replaced, so that many
compute the same, and many something else. Prints how many pairs were proved, and fails if a run refutes one of them.
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
PARAMS = {"x": (4, 6), "y": (6,), "z": (4, 6)}
UNARY = ["negative", "abs", "nn.relu", "square", "sign"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum"]
CASTS = ["int8", "uint8", "int16", "int64", "float16", "float64", "uint32"]
KINDS = ["unary", "binary", "constant", "axes", "reshape", "slice", "concat", "flip", "reduce", "pad", "matmul", "cast", "where", "expand",
         "repeat", "tile", "clip"]


def size(shape):
    total = 1
    for dim in shape:
        total *= dim
    return total


class Maker:
    """Makes trees: (kind, parameters), operands, shape; a leaf is the name of a parameter, no operands, and the shape."""

    def __init__(self, rng, dtype):
        self.rng = rng
        self.dtype = dtype

    def leaf(self):
        name = self.rng.choice(list(PARAMS))
        return (name, [], PARAMS[name])

    def tree(self, depth):
        return self.wrap(self.rng.choice(KINDS), self.tree(depth - 1)) if depth else self.leaf()

    def wrap(self, kind, tree):
        """An operator of the kind around the tree; the tree if none fits."""
        made = getattr(self, kind)(tree, tree[2])
        return made if made and size(made[2]) <= 2000 else tree

    def axis(self, shape):
        return self.rng.randrange(len(shape))

    def unary(self, tree, shape):
        return ("unary", self.rng.choice(UNARY)), [tree], shape

    def binary(self, tree, shape):
        other = self.tree(self.rng.randrange(3))
        return ("binary", self.rng.choice(BINARY)), [tree, other if other[2] == shape else tree], shape

    def constant(self, tree, shape):
        return ("constant", self.rng.choice(BINARY[:3]), self.rng.choice([1, 2, 3])), [tree], shape

    def axes(self, tree, shape):
        order = self.rng.sample(range(len(shape)), len(shape))
        return ("axes", *order), [tree], tuple(shape[axis] for axis in order)

    def reshape(self, tree, shape):
        total = size(shape)
        first = self.rng.choice([n for n in range(1, total + 1) if total % n == 0])
        to = self.rng.choice([(total,), (first, total // first)])
        return ("reshape", *to), [tree], to

    def slice(self, tree, shape):
        if not shape:
            return None
        axis = self.axis(shape)
        begin = self.rng.randrange(shape[axis])
        end = self.rng.randrange(begin + 1, shape[axis] + 1)
        step = self.rng.choice([1, 1, 2])
        return ("slice", axis, begin, end, step), [tree], (*shape[:axis], (end - begin + step - 1) // step, *shape[axis + 1:])

    def stretched(self, kind, operands, shape):
        axis = self.axis(shape)
        return (kind, axis), operands, (*shape[:axis], 2 * shape[axis], *shape[axis + 1:])

    def concat(self, tree, shape):
        return self.stretched("concat", [tree, self.wrap("unary", tree)], shape) if shape else None

    def repeat(self, tree, shape):
        return self.stretched("repeat", [tree], shape) if shape else None

    def tile(self, tree, shape):
        return self.stretched("tile", [tree], shape) if shape else None

    def flip(self, tree, shape):
        return (("flip", self.axis(shape)), [tree], shape) if shape else None

    def reduce(self, tree, shape):
        if not shape:
            return None
        axis = self.axis(shape)
        keeps = self.rng.random() < 0.3
        kind = self.rng.choice(["sum", "sum", "max", "min", *(["mean"] if self.dtype.startswith("f") else [])])
        return ("reduce", kind, axis, keeps), [tree], (*shape[:axis], *([1] if keeps else []), *shape[axis + 1:])

    def pad(self, tree, shape):
        if not shape:
            return None
        axis = self.axis(shape)
        before, after = self.rng.randrange(3), self.rng.randrange(3)
        return ("pad", axis, before, after, self.rng.choice([0, 0, 1])), [tree], (*shape[:axis], shape[axis] + before + after, *shape[axis + 1:])

    def matmul(self, tree, shape):
        if len(shape) != 2:
            return None
        turned = (("axes", 1, 0), [tree], shape[::-1])
        if shape[0] == 4 and self.rng.random() < 0.5:
            return ("matmul",), [turned, ("x", [], PARAMS["x"])], (shape[1], 6)
        return ("matmul",), [tree, turned], (shape[0], shape[0])

    def cast(self, tree, shape):
        return ("cast", self.rng.choice(CASTS)), [tree], shape

    def where(self, tree, shape):
        return ("where", self.rng.choice(["less", "equal", "greater_equal"])), [tree, (("unary", "negative"), [tree], shape)], shape

    def expand(self, tree, shape):
        return ("expand",), [tree], (3, *shape)

    def clip(self, tree, shape):
        least = self.rng.choice([-2, 0, 1])
        return ("clip", least, least + self.rng.choice([0, 2, 5])), [tree], shape

    def alike(self, tree):
        """A tree of the same shape that looks like it, and may compute the same."""
        head, operands, shape = tree
        operands = [self.alike(operand) if self.rng.random() < 0.7 else operand for operand in operands]
        chance = self.rng.random()
        if len(operands) == 2 and operands[0][2] == operands[1][2] and chance < 0.3:
            operands = operands[::-1]
        tree = (head, operands, shape)
        if chance > 0.85 and len(shape) > 1:
            turned = self.wrap("axes", tree)
            order = turned[0][1:]
            back = [order.index(axis) for axis in range(len(shape))]
            return ("axes", *back), [turned], shape
        if 0.75 < chance < 0.85 and shape:
            return ("reshape", *shape), [(("reshape", size(shape)), [tree], (size(shape),))], shape
        return tree

    def changed(self, tree):
        """A tree of the same shape with another attribute or operator, in most cases."""
        head, operands, shape = tree
        if not operands:
            return (self.rng.choice("xz"), [], shape) if shape == PARAMS["x"] else tree
        if self.rng.random() < 0.5:
            place = self.rng.randrange(len(operands))
            return head, [*operands[:place], self.changed(operands[place]), *operands[place + 1:]], shape
        for _ in range(6):
            other = self.wrap(head[0], operands[0])
            if other[2] == shape and other[0] != head and other[0][0] == head[0]:
                return other[0], operands if len(other[1]) == len(operands) else other[1], shape
        return tree


def text(tree, dtype):
    """The expression of a tree."""
    head, operands, shape = tree
    if not operands:
        return head
    a, *rest = [text(operand, dtype) for operand in operands]
    kind, *given = head

    def number(value):
        return f'R.const({float(value) if dtype.startswith("f") else value}, "{dtype}")'

    def widths(before, after):
        return [width for axis in range(len(shape)) for width in ((before, after) if axis == given[0] else (0, 0))]

    forms = {
        "unary": lambda: f"R.{given[0]}({a})", "binary": lambda: f"R.{given[0]}({a}, {rest[0]})",
        "constant": lambda: f"R.{given[0]}({a}, {number(given[1])})", "axes": lambda: f"R.permute_dims({a}, axes={given})",
        "reshape": lambda: f"R.reshape({a}, R.shape({list(shape)}))", "expand": lambda: f"R.broadcast_to({a}, R.shape({list(shape)}))",
        "slice": lambda: f"R.strided_slice({a}, axes=[{given[0]}], begin=[{given[1]}], end=[{given[2]}], strides=[{given[3]}])",
        "concat": lambda: f"R.concat(({a}, {rest[0]}), axis={given[0]})", "flip": lambda: f"R.flip({a}, axis={given[0]})",
        "repeat": lambda: f"R.repeat({a}, repeats=2, axis={given[0]})",
        "tile": lambda: f"R.tile({a}, repeats={[2 if axis == given[0] else 1 for axis in range(len(shape))]})",
        "reduce": lambda: f"R.{given[0]}({a}, axis=[{given[1]}], keepdims={given[2]})",
        "pad": lambda: f"R.nn.pad({a}, pad_width={widths(*given[1:3])}, pad_value={number(given[3])})",
        "matmul": lambda: f"R.matmul({a}, {rest[0]})", "cast": lambda: f'R.astype(R.astype({a}, "{given[0]}"), "{dtype}")',
        "where": lambda: f"R.where(R.{given[0]}({a}, {rest[0]}), {a}, {rest[0]})", "clip": lambda: f"R.clip({a}, {given[0]}, {given[1]})",
    }
    return forms[kind]()


def make_pairs(rng):
    """Pairs of expressions with their dtype."""
    pairs = []
    while len(pairs) < PAIRS:
        dtype = rng.choice(["int32", "int8", "uint8", "int64", "float32", "float32"])
        maker = Maker(rng, dtype)
        first = maker.tree(rng.randrange(1, 5))
        second = maker.alike(first)
        for _ in range(rng.randrange(3)):
            second = maker.changed(second)
        before, after = text(first, dtype), text(second, dtype)
        if before != after and first[1] and len(before) + len(after) < 6000:
            pairs.append((before, after, dtype))
    return pairs


def module(expressions):
    functions = "".join(f"    @R.function\n    def f{i}({', '.join(f'{name}: R.Tensor({shape}, {dtype!r})' for name, shape in PARAMS.items())}):\n"
                        f"        return {expression}\n\n" for i, (expression, dtype) in enumerate(expressions))
    return f"from tvm.script import ir as I, relax as R, tir as T\n\n@I.ir_module\nclass Module:\n{functions}"


def refuted(args, before, after, *flags):
    """The numbers of the functions that differ in runs."""
    run = subprocess.run([args.ir_opt, f"-load-pass-plugin={args.plugin}", f'-passes=test.ReplaceModule<file="{after}">', "-check-semantics=all", *flags,
                          str(before), "-o", "/dev/null"], capture_output=True, text=True)
    return {int(number) for number in re.findall(r"the result of function 'f(\d+)'", run.stderr)}


def check_functions(args, folder, pairs):
    """The pairs that -prove proves, and those of them that runs refute."""
    before, after, report = (folder / name for name in ("before.ir", "after.ir", "report.json"))
    before.write_text(module([(pair[0], pair[2]) for pair in pairs]))
    after.write_text(module([(pair[1], pair[2]) for pair in pairs]))
    report.unlink(missing_ok=True)
    subprocess.run([args.ir_opt, f"-load-pass-plugin={args.plugin}", f'-passes=test.ReplaceModule<file="{after}">', "-prove=all", f"-prove-report={report}",
                    str(before), "-o", "/dev/null"], capture_output=True, text=True)
    rows = json.loads(report.read_text())["proofs"]
    proved = {int(row["function"][1:]) for row in rows if row["answer"] == "proved"}
    return proved, proved & refuted(args, before, after)


def check_rules(args, folder, pairs):
    """The pairs that verify-rules proves for finite numbers, and those of them that runs on ordinary inputs refute."""
    rules = []
    for number, (before, after, dtype) in enumerate(pairs):
        used = [name for name in PARAMS if re.search(rf"\b{name}\b", before)]
        if any(re.search(rf"\b{name}\b", after) and name not in used for name in PARAMS):
            continue
        rules.append({"name": str(number), "variables": {name: f"R.Tensor({PARAMS[name]}, {dtype!r})" for name in used}, "pattern": before,
                      "replacement": after, "changes": ["NonFinite"]})
    (folder / "rules.json").write_text(json.dumps({"rules": rules}))
    run = subprocess.run([args.ir_opt, "verify-rules", "-format=json", str(folder / "rules.json")], capture_output=True, text=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    if len(rows) != len(rules):
        sys.exit(f"the rules are not read:\n{run.stderr}")
    proved = {int(row["rule"]) for row in rows if row["answer"] == "proved"}
    return proved, proved & refuted(args, folder / "before.ir", folder / "after.ir", "-check-semantics-inputs=ordinary")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    total, num_proved, wrong = 0, [0, 0], []
    with tempfile.TemporaryDirectory() as name:
        for seed in range(args.first, args.first + args.seeds):
            pairs = make_pairs(random.Random(seed))
            total += len(pairs)
            for kind, check in enumerate((check_functions, check_rules)):
                proved, false = check(args, pathlib.Path(name), pairs)
                num_proved[kind] += len(proved)
                wrong += [(seed, *pairs[number]) for number in false]
    for seed, before, after, dtype in wrong:
        print(f"proved, but wrong (seed {seed}, {dtype}):\n  {before}\n  {after}")
    print(f"pairs: {total}, of which -prove proves {num_proved[0]} and verify-rules {num_proved[1]}")
    sys.exit(bool(wrong) or min(num_proved) * 10 < total)


if __name__ == "__main__":
    main()

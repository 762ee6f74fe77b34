"""Compares the gradients of operators with finite differences.

  finite_differences.py IR_OPT IR_RUN RULES_DEF FOLDER

A module in FOLDER gets a function for each row of CASES: a weighted sum of the result of an operator. Gradient
differentiates it, and one run computes, for each operand, the derivative along a random direction in both ways. Every
operator of RULES_DEF must have a case. Prints a line per difference and exits with 1 if there is any.
"""
import os
import random
import re
import subprocess
import sys

STEP = 1e-5
TOLERANCE = 1e-6
PAIR = ((2, 3), (2, 3))
BROADCAST = ((2, 1, 3), (4, 1))
IMAGE = (2, 4, 6, 7)


class Case:
    """The operands x, y, z have these shapes and elements between low and high. `lines` bind the result r."""

    def __init__(self, op, shapes, line, result, low=-2.0, high=2.0, name=None):
        self.op, self.shapes, self.result, self.low, self.high = op, shapes, result, low, high
        self.lines = [line] if isinstance(line, str) else line
        self.name = name


def unary(op, script, low=-2.0, high=2.0):
    return Case(op, [(2, 3)], f"r = R.{script}(x)", (2, 3), low, high)


def binary(op, script, low=-2.0, high=2.0):
    return [Case(op, PAIR, f"r = R.{script}(x, y)", (2, 3), low, high),
            Case(op, BROADCAST, f"r = R.{script}(x, y)", (2, 4, 3), low, high)]  # fmt: skip


CASES = [
    *binary("Add", "add"), *binary("Subtract", "subtract"), *binary("Multiply", "multiply"),
    *binary("Divide", "divide", 0.5), *binary("Power", "power", 0.5), *binary("Maximum", "maximum"),
    *binary("Minimum", "minimum"),
    Case("Where", PAIR, 'r = R.where(R.const([True, False, True], "bool"), x, y)', (2, 3)),
    Case("Where", BROADCAST, 'r = R.where(R.const([True, False, True], "bool"), x, y)', (2, 4, 3)),
    Case("Triu", [(3, 4)], "r = R.triu(x, 1)", (3, 4)),
    unary("Abs", "abs"), unary("Cos", "cos"), unary("Exp", "exp"), unary("Log", "log", 0.5),
    unary("Negative", "negative"), unary("Sigmoid", "sigmoid"), unary("Sin", "sin"), unary("Sqrt", "sqrt", 0.5),
    unary("Tanh", "tanh"), unary("NnRelu", "nn.relu"), unary("NnSilu", "nn.silu"),
    Case("Astype", [(2, 3)], ['lv = R.astype(x, "float64")', "r = R.sin(lv)"], (2, 3)),
    Case("Sum", [(2, 3, 4)], "r = R.sum(x)", ()),
    Case("Sum", [(2, 3, 4)], "r = R.sum(x, axis=[0, -1])", (3,)),
    Case("Sum", [(2, 3, 4)], "r = R.sum(x, axis=1, keepdims=True)", (2, 1, 4)),
    Case("Mean", [(2, 3, 4)], "r = R.mean(x)", ()),
    Case("Mean", [(2, 3, 4)], "r = R.mean(x, axis=[0, -1])", (3,)),
    Case("Mean", [(2, 3, 4)], "r = R.mean(x, axis=1, keepdims=True)", (2, 1, 4)),
    Case("Variance", [(2, 3, 4)], "r = R.variance(x)", ()),
    Case("Variance", [(2, 3, 4)], "r = R.variance(x, axis=[0, -1])", (3,)),
    Case("Variance", [(2, 3, 4)], "r = R.variance(x, axis=1, keepdims=True)", (2, 1, 4)),
    Case("Cumsum", [(2, 3)], "r = R.cumsum(x)", (6,)),
    Case("Cumsum", [(2, 3)], "r = R.cumsum(x, axis=1)", (2, 3)),
    Case("Cumsum", [(2, 3)], "r = R.cumsum(x, axis=-2, exclusive=True)", (2, 3)),
    Case("BroadcastTo", [(3, 1)], "r = R.broadcast_to(x, R.shape([2, 3, 4]))", (2, 3, 4)),
    Case("Concat", [(2, 3), (2, 1), (2, 2)], "r = R.concat((x, y, z), axis=-1)", (2, 6)),
    Case("Concat", [(2, 3)], "r = R.concat((x, x), axis=0)", (4, 3)),
    Case("ExpandDims", [(2, 3)], "r = R.expand_dims(x, axis=[0, -1])", (1, 2, 3, 1)),
    Case("PermuteDims", [(2, 3, 4)], "r = R.permute_dims(x)", (4, 3, 2)),
    Case("PermuteDims", [(2, 3, 4)], "r = R.permute_dims(x, axes=[1, -1, 0])", (3, 4, 2)),
    Case("Reshape", [(2, 3, 4)], "r = R.reshape(x, R.shape([6, 4]))", (6, 4)),
    Case("Split", [(2, 6)], ["lv = R.split(x, 2, axis=1)", "a = lv[0]", "b = lv[1]", "r = R.multiply(a, b)"], (2, 3)),
    Case("Split", [(5, 2)], ["lv = R.split(x, [2, 4], axis=0)", "a = lv[1]", "r = R.exp(a)"], (2, 2)),
    Case("Take", [(4, 3)], 'r = R.take(x, R.const([3, 0, 3], "int64"), axis=0)', (3, 3)),
    Case("Take", [(5,)], 'r = R.take(x, R.const([3, 0, 3], "int64"))', (3,)),
    Case("Matmul", [(2, 3), (3, 4)], "r = R.matmul(x, y)", (2, 4)),
    Case("Matmul", [(3,), (3,)], "r = R.matmul(x, y)", ()),
    Case("Matmul", [(3,), (2, 3, 4)], "r = R.matmul(x, y)", (2, 4)),
    Case("Matmul", [(2, 4, 3), (3,)], "r = R.matmul(x, y)", (2, 4)),
    Case("Matmul", [(5, 2, 4, 3), (2, 3, 4)], "r = R.matmul(x, y)", (5, 2, 4, 4)),
    Case("Matmul", [(4, 2), (3, 4)], ["a = R.permute_dims(x)", "b = R.permute_dims(y)", "r = R.matmul(a, b)"], (2, 3)),
    Case("NnSoftmax", [(2, 3)], "r = R.nn.softmax(x, axis=-1)", (2, 3)),
    Case("NnSoftmax", [(2, 3)], "r = R.nn.softmax(x, axis=0)", (2, 3)),
    Case("NnLogSoftmax", [(2, 3)], "r = R.nn.log_softmax(x, axis=-1)", (2, 3)),
    Case("NnCrossEntropyWithLogits", [(3,), (3,)], "r = R.nn.cross_entropy_with_logits(x, y)", ()),
    Case("NnCrossEntropyWithLogits", [(2, 3), (2, 3)], "r = R.nn.cross_entropy_with_logits(x, y)", ()),
    *[Case("NnNllLoss", [(2, 3, 4)],
           ['lv = R.nn.log_softmax(x, axis=1)',
            'r = R.nn.nll_loss(lv, R.const([[0, 2, 1, 1], [2, 2, 0, 1]], "int64"), '
            f'R.const([0.5, 1.0, 2.0], "float64"), reduction="{reduction}", ignore_index={ignored})'], shape)
      for reduction, ignored, shape in (("mean", -100, ()), ("sum", 1, ()), ("none", 2, (2, 4)))],
    Case("NnNllLoss", [(2, 3)], 'r = R.nn.nll_loss(x, R.const([2, 0], "int64"))', ()),
    Case("NnConv2d", [(2, 3, 6, 7), (4, 3, 3, 3)], "r = R.nn.conv2d(x, y)", (2, 4, 4, 5)),
    Case("NnConv2d", [(2, 3, 6, 7), (4, 3, 3, 2)],
         "r = R.nn.conv2d(x, y, strides=[2, 3], padding=[1, 0, 2, 1], dilation=[1, 2])", (2, 4, 4, 2)),
    Case("NnConv2d", [IMAGE, (6, 2, 3, 3)], "r = R.nn.conv2d(x, y, padding=1, groups=2)", (2, 6, 6, 7)),
    Case("NnConv2d", [IMAGE, (6, 2, 3, 3)], "r = R.nn.conv2d(x, y, strides=2, groups=2)", (2, 6, 2, 3)),
    Case("NnMaxPool2d", [IMAGE], "r = R.nn.max_pool2d(x, pool_size=[2, 2], strides=[2, 2])", (2, 4, 3, 3)),
    Case("NnMaxPool2d", [IMAGE], "r = R.nn.max_pool2d(x, pool_size=[3, 3], padding=[1, 1])", (2, 4, 6, 7)),
    Case("NnAvgPool2d", [IMAGE], "r = R.nn.avg_pool2d(x, pool_size=[2, 2], strides=[2, 2])", (2, 4, 3, 3)),
    Case("NnAvgPool2d", [IMAGE],
         "r = R.nn.avg_pool2d(x, pool_size=[3, 3], padding=[1, 1], count_include_pad=True)", (2, 4, 6, 7)),
]  # fmt: skip


def constant(shape, element):
    def nested(dims):
        return repr(element()) if not dims else "[" + ", ".join(nested(dims[1:]) for _ in range(dims[0])) + "]"

    return nested(shape)


def flatten(text):
    return [float(number) for number in re.findall(r"[-\d.e]+", text)]


def refill(text, numbers):
    """The nested list with other numbers."""
    numbers = iter(numbers)
    return re.sub(r"[-\d.e]+", lambda _: repr(next(numbers)), text)


def tensor(text):
    return f'R.const({text}, "float64")'


def function_of(case, rng):
    params = ", ".join(f'{name}: R.Tensor({shape}, "float64")' for name, shape in zip("xyz", case.shapes))
    weights = constant(case.result, lambda: rng.uniform(0.5, 2.0))
    body = [*case.lines, f"weighted = R.multiply(r, {tensor(weights)})", "loss = R.sum(weighted)", "R.output(loss)"]
    lines = ["@R.function", f"def {case.name}({params}):", "    with R.dataflow():"]
    return lines + [f"        {line}" for line in body] + ["    return loss"]


def check_of(case, rng):
    """A function whose result is (numeric, analytic) for each operand."""
    points = [constant(shape, lambda: rng.uniform(case.low, case.high)) for shape in case.shapes]
    lines = [f"adjoint = cls.{case.name}_adjoint({', '.join(map(tensor, points))})", "gradients = adjoint[1]"]
    results = []
    for i, shape in enumerate(case.shapes):
        direction = constant(shape, lambda: rng.uniform(-1.0, 1.0))
        for sign, side in ((1, "up"), (-1, "down")):
            moved = [p + sign * STEP * d for p, d in zip(flatten(points[i]), flatten(direction))]
            operands = points[:i] + [refill(points[i], moved)] + points[i + 1:]
            lines.append(f"{side}{i} = cls.{case.name}({', '.join(map(tensor, operands))})")
        lines += [f"difference{i} = R.subtract(up{i}, down{i})",
                  f"numeric{i} = R.divide(difference{i}, {tensor(2 * STEP)})",
                  f"gradient{i} = gradients[{i}]",
                  f"along{i} = R.multiply(gradient{i}, {tensor(direction)})",
                  f"analytic{i} = R.sum(along{i})"]  # fmt: skip
        results += [f"numeric{i}", f"analytic{i}"]
    lines.append(f"return ({', '.join(results)})")
    return ["@R.function", f"def {case.name}_check():", "    cls = Module"] + [f"    {line}" for line in lines]


def write_module(path, functions):
    lines = ["@I.ir_module", "class Module:"]
    for function in functions:
        lines += [f"    {line}" for line in function] + [""]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)[:2000]}\n{done.stderr[:5000]}")
    return done.stdout


def untested(rules):
    with open(rules, encoding="utf-8") as f:
        ops = re.findall(r"^IROPT_GRADIENT\((\w+),", f.read(), re.MULTILINE)
    return sorted(set(ops) - {case.op for case in CASES})


def main(ir_opt, ir_run, rules, folder):
    problems = [f"{op} has no case" for op in untested(rules)]
    rng = random.Random(7)
    for i, case in enumerate(CASES):
        case.name = f"{case.op.lower()}_{i}"
    forward, both = os.path.join(folder, "forward.ir"), os.path.join(folder, "both.ir")
    write_module(forward, [function_of(case, rng) for case in CASES])
    passes = ["Normalize"] + [f'Gradient<func_name="{case.name}">' for case in CASES]
    text = run(ir_opt, f"-passes={','.join(passes)}", "-inline-constants=1000", forward)
    checks = [["", *check_of(case, rng)] for case in CASES]
    with open(both, "w", encoding="utf-8") as f:
        f.write(text + "\n".join(f"    {line}" if line else "" for check in checks for line in check) + "\n")
    for case in CASES:
        numbers = re.findall(r"^  ([-\w.+]+)$", run(ir_run, f"-entry={case.name}_check", "-print", both), re.MULTILINE)
        values = [float(number) for number in numbers]
        if len(values) != 2 * len(case.shapes):
            problems.append(f"{case.name}: {len(values)} results")
        for operand, numeric, analytic in zip("xyz", values[::2], values[1::2]):
            if not abs(numeric - analytic) <= TOLERANCE * max(1.0, abs(numeric)):
                problems.append(f"{case.name}, {operand}: {analytic}, expected {numeric}: {case.lines}")
    print("\n".join(problems) if problems else f"{len(CASES)} cases agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""gen.py KIND N prints a module whose size or depth is N. The kinds are the functions below."""
import sys

TENSOR = 'R.Tensor((2, 3), dtype="float32")'


def graph(value, annotation=""):
    """A module with one Relax function that binds one value."""
    return graph_body(f"        y{annotation} = {value}\n        return y\n")


def graph_body(body, parameters=f"x: {TENSOR}"):
    return f"""@I.ir_module
class Module:
    @R.function
    def main({parameters}):
{body}"""


def loop_level(body, parameters="A: T.Buffer((4,), \"int32\"), n: T.int32"):
    return f"""@I.ir_module
class Module:
    @T.prim_func
    def main({parameters}):
{body}"""


def loop_value(value):
    return loop_level(f"        A[0] = {value}\n")


def nest(open_, inner, close, n):
    return open_ * n + inner + close * n


def bindings(n):
    lines = ["        with R.dataflow():\n", "            v0 = R.exp(x)\n"]
    for i in range(1, n):
        op = ("R.exp(v{0})", "R.add(v{0}, x)", "R.add(v{0}, v{0})", "R.negative(v{0})")[i % 4].format(i - 1)
        lines.append(f"            v{i}: {TENSOR} = {op}\n")
    lines.append(f"            out = R.exp(v{n - 1})\n            R.output(out)\n        return out\n")
    return graph_body("".join(lines))


def statements(n):
    return graph_body("".join(f"        v{i} = R.exp({f'v{i - 1}' if i else 'x'})\n" for i in range(n)) +
                      f"        return v{n - 1}\n")


def dataflow_blocks(n):
    lines = []
    for i in range(n):
        lines.append(f"        with R.dataflow():\n            a{i} = R.exp(x)\n            b{i} = R.exp(a{i})\n"
                     f"            R.output(b{i})\n        c{i} = R.call_packed(\"f\", b{i}, sinfo_args={TENSOR})\n")
    return graph_body("".join(lines) + f"        return c{n - 1}\n").replace("R.function", "R.function(pure=False)")


def concats(n):
    lines = "".join(f"            v{i} = R.concat((v{i - 1}, x), axis=0)\n" for i in range(1, n))
    return graph_body(f"        with R.dataflow():\n            v0 = R.concat((x, x), axis=0)\n{lines}"
                      f"            R.output(v{n - 1})\n        return v{n - 1}\n")


def constant_functions(n):
    return "@I.ir_module\nclass Module:\n" + "".join(
        f"    @R.function\n    def f{i}(x: {TENSOR}) -> {TENSOR}:\n        with R.dataflow():\n"
        f"            y = R.add(x, R.multiply(R.const({i}, \"float32\"), R.const(3, \"float32\")))\n"
        f"            R.output(y)\n        return y\n" for i in range(n))


def functions(n):
    one = "".join(f"    @R.function\n    def f{i}(x: {TENSOR}) -> {TENSOR}:\n        y{i} = R.exp(x)\n"
                  f"        return y{i}\n" for i in range(n))
    return "@I.ir_module\nclass Module:\n" + one


def parentheses(n):
    return graph(nest("(", "x", ")", n))


def tuples(n):
    return graph(nest("(", "x", ",)", n))


def calls(n):
    return graph(nest("R.exp(", "x", ")", n))


def method_calls(n):
    return graph("x" + '.astype("float16")' * n)


def infix_right(n):
    return graph(nest("x + (", "x", ")", n))


def infix_left(n):
    return graph("x" + " + x" * n)


def power(n):
    return graph("x" + " ** x" * n)


def minus(n):
    return graph("-" * n + "x")


def subscripts(n):
    return graph_body("        y = t" + "[0]" * n + "\n        return y\n", "t: " + nest("R.Tuple(", TENSOR, ")", n))


def lists(n):
    return graph_body('        R.func_attr({"a": ' + nest("[", "1", "]", n) + "})\n        return x\n")


def dictionaries(n):
    return graph_body('        R.func_attr({"a": ' + nest('{"a": ', "1", "}", n) + "})\n        return x\n")


def list_constant(n):
    return graph("R.const(" + nest("[", "1", "]", n) + ', "int32")')


def long_constant(n):
    return graph("R.const([" + "1, " * n + '1], "int32")')


def wide_tuple(n):
    return graph("(" + "x, " * n + ")")


def wide_call(n):
    return graph('R.call_packed("f", ' + "x, " * n + f"sinfo_args={TENSOR})").replace(
        "R.function", "R.function(pure=False)")


def tuple_types(n):
    return graph_body("        return x\n", "x: " + nest("R.Tuple(", "R.Object", ")", n))


def function_types(n):
    return graph_body("        return x\n", "x: " + nest("R.Callable((", "R.Object", ",), R.Object)", n))


def shape(n):
    """Each parenthesis holds a sum, so that the simplifier has something to do."""
    return graph_body("        y = R.exp(x)\n        return y\n",
                      'x: R.Tensor(("n", "' + nest("(n + ", "n", ") * 2", n) + '"), dtype="float32")')


def shape_sum(n):
    return graph_body("        y = R.exp(x)\n        return y\n",
                      'x: R.Tensor(("n", "' + "n + " * n + 'n"), dtype="float32")')


def symbolic(n):
    """Many symbolic variables in one shape."""
    names = ", ".join(f'"n{i}"' for i in range(n))
    return graph_body("        y = R.exp(x)\n        return y\n", f'x: R.Tensor(({names},), dtype="float32")')


def wide_shape(n):
    return graph("R.shape([" + "1, " * n + "])")


def ifs(n):
    lines = []
    for i in range(n):
        lines.append("    " * (i + 2) + "if c:\n")
        lines.append("    " * (i + 3) + f"a{i} = R.exp(x)\n")
    lines.append("    " * (n + 2) + f"y{n} = R.exp(x)\n")
    for i in reversed(range(n)):
        lines.append("    " * (i + 3) + f"y{i} = R.add(y{i + 1}, y{i + 1})\n")
        lines.append("    " * (i + 2) + "else:\n")
        lines.append("    " * (i + 3) + f"y{i} = R.negative(x)\n")
    # The variable of a conditional is the last one of its branches, so the names above pair up by level.
    text = "".join(lines)
    return graph_body(text + "        return y0\n", f'c: R.Tensor((), dtype="bool"), x: {TENSOR}')


def elifs(n):
    """Conditionals in the other branch."""
    lines = []
    for i in range(n):
        lines.append("    " * (i + 2) + "if c:\n" + "    " * (i + 3) + "y = R.exp(x)\n" + "    " * (i + 2) + "else:\n")
    lines.append("    " * (n + 2) + "y = R.negative(x)\n")
    return graph_body("".join(lines) + "        return y\n", f'c: R.Tensor((), dtype="bool"), x: {TENSOR}')


def nested_functions(n):
    lines = []
    for i in range(n):
        lines.append("    " * (i + 2) + "@R.function\n")
        lines.append("    " * (i + 2) + f"def f{i}(p{i}: {TENSOR}) -> {TENSOR}:\n")
    lines.append("    " * (n + 2) + "r = R.exp(x)\n" + "    " * (n + 2) + "return r\n")
    for i in reversed(range(n)):
        lines.append("    " * (i + 2) + f"r{i} = f{i}(x)\n" + "    " * (i + 2) + f"return r{i}\n")
    return graph_body("".join(lines))


def loop_parentheses(n):
    return loop_value(nest("(", "n", ")", n))


def loop_calls(n):
    return loop_value(nest("T.max(", "n", ", n)", n))


def loop_intrinsics(n):
    return loop_level("        B[0] = " + nest("T.exp(", "B[1]", ")", n) + "\n", 'B: T.Buffer((4,), "float32")')


def loop_adds(n):
    return loop_value(nest("n + (", "n", ")", n))


def loop_mixed(n):
    return loop_value(nest("n * (n + ", "n", ")", n))


def loop_chain(n):
    return loop_value("n" + " + n" * n)


def loop_boolean_chain(n):
    return loop_value("T.Cast(\"int32\", n > 0" + " and n > 0" * n + ")")


def loop_minus(n):
    return loop_value("-" * n + "n")


def loop_not(n):
    return loop_value("T.Cast(\"int32\", " + "not " * n + "n > 0)")


def loop_loads(n):
    return loop_value(nest("A[", "0", "]", n))


def loop_casts(n):
    return loop_value(nest('T.Cast("int32", T.Cast("int64", ', "n", "))", n))


def loop_selects(n):
    return loop_value(nest("T.Select(n > 0, ", "n", ", n)", n))


def loop_lets(n):
    return loop_level("        v = T.int32()\n        A[0] = " + nest("T.Let(", "v", ", where={v: n})", n) + "\n")


def loop_statements(n):
    return loop_level("        A[0] = n\n" * n)


def loop_declarations(n):
    return loop_level("".join(f"        v{i}: T.int32 = n + {i}\n" for i in range(n)) + f"        A[0] = v{n - 1}\n")


def loop_allocations(n):
    return loop_level("".join(f"        B{i} = T.allocate([4], \"int32\", \"global\")\n"
                              f"        C{i} = T.Buffer((4,), \"int32\", data=B{i})\n"
                              f"        C{i}[0] = A[0]\n" for i in range(n)))


def loop_loops(n):
    lines = ["    " * (i + 2) + f"for i{i} in range(4):\n" for i in range(n)]
    return loop_level("".join(lines) + "    " * (n + 2) + "A[0] = n\n")


def loop_ifs(n):
    lines = ["    " * (i + 2) + "if n > 0:\n" for i in range(n)]
    return loop_level("".join(lines) + "    " * (n + 2) + "A[0] = n\n")


def loop_blocks(n):
    lines = ["    " * (i + 2) + f'with T.block("b{i}"):\n' for i in range(n)]
    return loop_level("".join(lines) + "    " * (n + 2) + "A[0] = n\n")


def loop_indices(n):
    return loop_level("        T.evaluate(B[" + ", ".join(["0"] * n) + "])\n",
                      "B: T.Buffer((" + "1, " * n + '), "int32")')


def metadata(n):
    """JSON in JSON, in the metadata section."""
    return 'metadata = tvm.ir.load_json("' + nest("[", "1", "]", n) + '")\n' + graph("R.exp(x)")


def open_brackets(n):
    return graph("([{" * n)


def close_brackets(n):
    return graph(")]}" * n)


def blanks(n):
    return "\n" * n + graph("R.exp(x)")


def comment(n):
    return "#" + "x" * n + "\n" + graph("R.exp(x)")


def name(n):
    return graph("a" * n)


def string(n):
    return graph('R.str("' + "a" * n + '")')


def errors(n):
    return graph_body("        y = (\n" * n)


def doubled_lists(n):
    return loop_level("        x = T.meta_var([1, 1])\n" + "        x = T.meta_var([*x, *x])\n" * n)


def lists_of_lists(n):
    return loop_level("        x = [1, 1]\n" + "        x = [x, x]\n" * n)


def indentation(n):
    return graph_body("        y = R.exp(x)\n" + " " * n + "z = R.exp(x)\n")


def staircase(n):
    return graph_body("".join(" " * (i + 8) + "y = R.exp(x)\n" for i in range(n)))


def main():
    kinds = {k: v for k, v in globals().items() if callable(v) and k not in ("graph", "graph_body", "nest", "main",
                                                                           "loop_level", "loop_value")}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(f"usage: gen.py KIND N, KIND one of {' '.join(kinds)}")
    header = "from tvm.script import ir as I\nfrom tvm.script import tir as T\nfrom tvm.script import relax as R\n\n"
    sys.stdout.write(header + kinds[sys.argv[1]](int(sys.argv[2])))


if __name__ == "__main__":
    main()

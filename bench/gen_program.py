#!/usr/bin/env python3
"""Write a synthetic module in TVMScript that stresses one aspect of the tool.

  gen_program.py --kind chain --size 100000 --funcs 1 -o out.ir

Kinds, each with --size units in every one of --funcs functions; text and work grow linearly in size * funcs:
  chain      every binding uses the one before it; nothing can be removed
  wide       independent bindings, summed up at the end of the block
  redundant  every expression occurs twice; half of the bindings go
  dead       only one binding in ten is used
  constants  arithmetic on scalar constants that folds away
  symbolic   tensors with symbolic dimensions and shape expressions
  tuples     tuples that are built and taken apart again
  attributes operators with many attributes (convolutions, pooling)
  devices    matrix products on a virtual device, with hints and reshapes to shapes that are known
  weights    half of the bindings depend on weights only
  undone     reshapes and layout transforms that are undone, conversions that several operators use
  blocks     alternating dataflow blocks and impure calls
  ifs        a chain of conditionals, one after the other
  calls      calls of a private function that takes a tuple and more than it needs, and returns more than is used
  closures   local functions that use variables of the function around them
  nested     one expression nested --size deep
  concat     one R.concat of --size tensors
  stack      one R.stack of --size tensors
  split      one R.split into --size tensors
  fields     a tuple of --size fields, and a use of each
  match_casts  casts, each with a symbolic variable of its own
  sizes      parameters, each with a symbolic variable of its own
  deep_ifs   conditionals in each other, --size deep
"""
import argparse
import sys

TENSOR = 'R.Tensor((2, 3), dtype="float32")'
ON_DEVICE = 'R.Tensor((4, 4), dtype="float32", vdevice="llvm:0")'


def chain(n):
    yield f"lv0: {TENSOR} = R.add(x, y)"
    for i in range(1, n):
        yield f"lv{i}: {TENSOR} = R.{'add' if i % 2 else 'multiply'}(lv{i - 1}, x)"
    yield f"gv: {TENSOR} = R.add(lv{n - 1}, y)"


def wide(n):
    for i in range(n):
        yield f"lv{i}: {TENSOR} = R.power(x, R.const({i}.0, \"float32\"))"
    yield "s0: " + TENSOR + " = R.add(lv0, x)"
    for i in range(1, n):
        yield f"s{i}: {TENSOR} = R.add(s{i - 1}, lv{i})"
    yield f"gv: {TENSOR} = R.add(s{n - 1}, y)"


def redundant(n):
    last = "x"
    for i in range(n // 2):
        yield f"a{i}: {TENSOR} = R.add({last}, y)"
        yield f"b{i}: {TENSOR} = R.add({last}, y)"
        last = f"b{i}"
    yield f"gv: {TENSOR} = R.add({last}, y)"


def dead(n):
    last = "x"
    for i in range(n):
        yield f"lv{i}: {TENSOR} = R.add({last}, y)"
        if i % 10 == 0:
            last = f"lv{i}"
    yield f"gv: {TENSOR} = R.add({last}, y)"


def constants(n):
    scalar = 'R.Tensor((), dtype="float32")'
    yield f'lv0: {scalar} = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))'
    for i in range(1, n):
        yield f'lv{i}: {scalar} = R.{"add" if i % 2 else "subtract"}(lv{i - 1}, R.const({i % 7}.5, "float32"))'
    yield f"gv: {TENSOR} = R.add(x, lv{n - 1})"


def symbolic(n):
    last, extra = "z", 0
    for i in range(n):
        if i % 4 == 3:
            extra += 1
            yield f'lv{i}: R.Tensor((n + {extra}, 4), dtype="float32") = R.concat(({last}, u), axis=0)'
        else:
            yield f'lv{i}: R.Tensor((n{f" + {extra}" if extra else ""}, 4), dtype="float32") = R.nn.relu({last})'
        last = f"lv{i}"
    yield f"gv: {TENSOR} = R.add(x, y)"
    yield f'out: R.Tensor((n{f" + {extra}" if extra else ""}, 4), dtype="float32") = R.nn.relu({last})'


def tuples(n):
    last = "x"
    for i in range(n // 3):
        yield f"t{i}: R.Tuple({TENSOR}, {TENSOR}) = {last}, y"
        yield f"a{i}: {TENSOR} = t{i}[0]"
        yield f"b{i}: {TENSOR} = R.add(a{i}, y)"
        last = f"b{i}"
    yield f"gv: {TENSOR} = R.add({last}, y)"


def attributes(n):
    ty = 'R.Tensor((1, 8, 16, 16), dtype="float32")'
    last = "img"
    for i in range(n):
        yield (f'lv{i}: {ty} = R.nn.conv2d({last}, w, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, '
               'data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="void")')
        last = f"lv{i}"
    yield f"gv: {TENSOR} = R.add(x, y)"
    yield f"out: {ty} = R.nn.relu({last})"


def undone(n):
    transform = "index_map=T.index_map(lambda i, j: (j, i)), pad_value=None, axis_separators=[], input_axis_separators=[]"
    last = "x"
    for i in range(n // 8):
        yield f'r{i}: R.Tensor((6,), dtype="float32") = R.reshape({last}, R.shape([6]))'
        yield f"s{i}: {TENSOR} = R.reshape(r{i}, R.shape([2, 3]))"
        yield f't{i}: R.Tensor((3, 2), dtype="float32") = R.layout_transform(s{i}, {transform})'
        yield f"u{i}: {TENSOR} = R.layout_transform(t{i}, {transform})"
        yield f'h{i}: R.Tensor((2, 3), dtype="float16") = R.astype(u{i}, dtype="float16")'
        yield f'w{i}: {TENSOR} = R.astype(h{i}, dtype="float32")'
        yield f"a{i}: {TENSOR} = R.add(w{i}, y)"
        yield f"b{i}: {TENSOR} = R.multiply(a{i}, w{i})"
        last = f"b{i}"
    yield f"gv: {TENSOR} = R.add({last}, y)"


def devices(n):
    last = "z"
    for i in range(n // 5):
        yield f"a{i}: {ON_DEVICE} = R.matmul({last}, w)"
        yield f"b{i}: {ON_DEVICE} = R.nn.relu(a{i})"
        yield f"s{i}: R.Shape([4, 4]) = R.shape_of(b{i})"
        yield f"c{i}: {ON_DEVICE} = R.reshape(b{i}, s{i})"
        yield f"d{i}: {ON_DEVICE} = R.hint_on_device(c{i}, R.device(dev_type=1, dev_id=0))"
        last = f"d{i}"
    yield f"gv: {TENSOR} = R.add(x, y)"
    yield f"out: {ON_DEVICE} = R.nn.relu({last})"


def weights(n):
    a, b = "y", "x"
    for i in range(n // 2):
        yield f"a{i}: {TENSOR} = R.add({a}, y)"
        yield f"b{i}: {TENSOR} = R.multiply({b}, a{i})"
        a, b = f"a{i}", f"b{i}"
    yield f"gv: {TENSOR} = R.add({b}, y)"


def blocks(n):
    last = "x"
    for i in range(n // 4):
        yield "with R.dataflow():"
        yield f"    lv{i}: {TENSOR} = R.add({last}, y)"
        yield f"    gv{i}: {TENSOR} = R.multiply(lv{i}, y)"
        yield f"    R.output(gv{i})"
        yield f'R.print(gv{i}, format=R.str("{{}}"))'
        last = f"gv{i}"
    yield f"return {last}"


def ifs(n):
    last = "x"
    for i in range(n // 3):
        yield "if cond:"
        yield f"    v{i}: {TENSOR} = R.add({last}, y)"
        yield "else:"
        yield f"    v{i}: {TENSOR} = R.multiply({last}, y)"
        last = f"v{i}"
    yield f"return {last}"


def calls(n):
    yield "cls = Module"
    last = "x"
    for i in range(n // 2):
        yield f"t{i}: R.Tuple({TENSOR}, {TENSOR}) = cls.helper(({last}, y), x)"
        yield f"a{i}: {TENSOR} = t{i}[0]"
        last = f"a{i}"
    yield f"return {last}"


def closures(n):
    last = "x"
    for i in range(n // 10):
        yield "@R.function"
        yield f"def g{i}(p: {TENSOR}) -> {TENSOR}:"
        yield f"    a0: {TENSOR} = R.add(p, y)"
        for k in range(1, 8):
            yield f"    a{k}: {TENSOR} = R.add(a{k - 1}, y)"
        yield "    return a7"
        yield f"v{i}: {TENSOR} = g{i}({last})"
        last = f"v{i}"
    yield f"return {last}"


def concat(n):
    yield f"gv = R.concat(({'x, y, ' * (n // 2)}), axis=0)"
    yield "return gv"


def stack(n):
    yield f"gv = R.stack(({'x, y, ' * (n // 2)}), axis=0)"
    yield "return gv"


def split(n):
    yield f"gv = R.split(R.broadcast_to(x, R.shape([{n}, 2, 3])), {n}, axis=0)"
    yield "return gv"


def fields(n):
    yield f"t = ({'x, y, ' * (n // 2)})"
    for i in range(n):
        yield f"a{i} = t[{i}]"
        yield f"b{i} = R.add(a{i}, y)"
    yield f"return ({', '.join(f'b{i}' for i in range(n))})"


def match_casts(n):
    for i in range(n):
        yield f"s{i} = T.int64()"
    for i in range(n):
        yield f'm{i} = R.match_cast(dynamic, R.Tensor((s{i}, 3), dtype="float32"))'
        yield f"a{i} = R.add(m{i}, m{i})"
    yield f"return ({', '.join(f'a{i}' for i in range(n))})"


def sized_params(n):
    return [(f"p{i}", f'R.Tensor(("s{i}", 3), dtype="float32")') for i in range(n)]


def sizes(n):
    for i in range(n):
        yield f"a{i} = R.add(p{i}, p{i})"
    yield f"return ({', '.join(f'a{i}' for i in range(n))})"


def deep_ifs(n):
    for i in range(n):
        yield " " * i + "if cond:"
    yield " " * n + f"v{n} = R.add(x, y)"
    for i in reversed(range(n)):
        yield " " * i + "else:"
        yield " " * i + f" v{i + 1} = x"
        if i:
            yield " " * i + f"v{i} = R.add(v{i + 1}, y)"
    yield "return v1"


def nested(n):
    yield "gv = " + "R.add(" * n + "x" + ", y)" * n
    yield "return gv"


# Kinds with a single dataflow block, by its lines, and the other kinds, by the lines of the whole body.
BLOCKS = {"chain": chain, "wide": wide, "redundant": redundant, "dead": dead, "constants": constants, "symbolic": symbolic,
          "tuples": tuples, "attributes": attributes, "devices": devices, "undone": undone, "weights": weights}
BODIES = {"blocks": blocks, "ifs": ifs, "calls": calls, "closures": closures, "nested": nested, "concat": concat,
          "stack": stack, "split": split, "fields": fields, "match_casts": match_casts, "sizes": sizes, "deep_ifs": deep_ifs}
KINDS = [*BLOCKS, *BODIES]
PARAMS = {"symbolic": [("z", 'R.Tensor(("n", 4), dtype="float32")'), ("u", 'R.Tensor((1, 4), dtype="float32")')],
          "attributes": [("img", 'R.Tensor((1, 8, 16, 16), dtype="float32")'), ("w", 'R.Tensor((8, 8, 3, 3), dtype="float32")')],
          "ifs": [("cond", 'R.Tensor((), dtype="bool")')],
          "deep_ifs": [("cond", 'R.Tensor((), dtype="bool")')],
          "match_casts": [("dynamic", 'R.Tensor(dtype="float32", ndim=2)')],
          "devices": [("z", ON_DEVICE), ("w", ON_DEVICE)]}


def body_lines(kind, n):
    if kind in BODIES:
        yield from BODIES[kind](n)
        return
    lines = list(BLOCKS[kind](n))
    yield "with R.dataflow():"
    for line in lines:
        yield "    " + line
    result = lines[-1].split(":")[0]
    yield f"    R.output({result})"
    yield f"return {result}"


HELPER = f"""    @R.function(private=True)
    def helper(pair: R.Tuple({TENSOR}, {TENSOR}), unused: {TENSOR}) -> R.Tuple({TENSOR}, {TENSOR}):
        a: {TENSOR} = pair[0]
        b: {TENSOR} = pair[1]
        c: {TENSOR} = R.add(a, b)
        d: {TENSOR} = R.multiply(a, b)
        return (c, d)

"""


def write(out, kind, size, funcs):
    out.write("# from tvm.script import ir as I\n# from tvm.script import tir as T\n# from tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n")
    params = [("x", TENSOR), ("y", TENSOR), *PARAMS.get(kind, [])]
    if kind == "sizes":
        params += sized_params(size)
    impure = "(pure=False)" if kind == "blocks" else ""
    if kind == "calls":
        out.write(HELPER)
    if kind == "devices":
        out.write('    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})\n')
    for k in range(funcs):
        out.write(f"    @R.function{impure}\n    def f{k}({', '.join(f'{n}: {t}' for n, t in params)}):\n")
        if kind == "weights":
            out.write('        R.func_attr({"num_input": 1})\n')
        if kind == "symbolic":
            out.write("        n = T.int64()\n")
        for line in body_lines(kind, size):
            out.write(f"        {line}\n")
        out.write("\n")


def run(description, kinds, default, write_kind):
    """The command line of a generator: write_kind(out, kind, size, funcs) writes a module."""
    ap = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--kind", choices=kinds, default=default)
    ap.add_argument("--size", type=int, default=10000, help="units of work in each function")
    ap.add_argument("--funcs", type=int, default=1)
    ap.add_argument("-o", "--output", default="-")
    args = ap.parse_args()
    if args.output == "-":
        write_kind(sys.stdout, args.kind, args.size, args.funcs)
    else:
        with open(args.output, "w", encoding="utf-8") as f:
            write_kind(f, args.kind, args.size, args.funcs)


if __name__ == "__main__":
    run(__doc__, KINDS, "chain", write)

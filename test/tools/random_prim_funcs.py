#!/usr/bin/env python3
"""Random PrimFuncs for the passes over loops: blocks with and without reductions and predicates, loops of all kinds with and
without blocks, threads, bindings of scalars in statements and expressions, while loops, conditions, allocations of several
scopes, views of buffers with strides and offsets, constant and symbolic shapes (products and quotients of symbols, which a later
parameter may define), indices of two dtypes, and several dtypes of values. Every element of the results is written.

    random_prim_funcs.py SEED INDEX

prints a module with one of them.
"""
import math
import random
import sys

HEADER = "from tvm.script import ir as I\nfrom tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func\n"
DTYPES = ["float32"] * 4 + ["float16", "float64", "int32", "int64", "int8", "uint8", "int16", "uint32", "bool"]
SIZES = [1, 2, 3, 4, 5, 8, 16]


def is_float(dtype):
    return dtype.startswith("float")


class Buffer:
    """Dimensions are ints, or texts: names of variables, and products and quotients of them."""

    def __init__(self, name, dtype, dims):
        self.name = name
        self.dtype = dtype
        self.dims = dims
        self.is_padded = False

    @property
    def is_constant(self):
        return all(isinstance(dim, int) for dim in self.dims)

    @property
    def strides(self):
        return [math.prod(self.dims[i + 1:]) for i in range(len(self.dims))]

    def at(self, indices):
        return f"{self.name}[{', '.join(indices)}]"


class Expressions:
    """Writes scalar expressions over buffers that have values, and axes: pairs of a name and an extent."""

    def __init__(self, rng):
        self.rng = rng
        self.index_dtype = rng.choice(["int32", "int64"])
        self.buffers = []
        self.products = {}  # the factors of dimensions
        self.axis_dtypes = {}  # of axes that do not have the dtype of indices
        self.variables = []  # lines that define variables of T.Let
        self.num_variables = 0

    def int(self, value):
        return str(value) if self.index_dtype == "int32" else f"T.int64({value})"

    def extent(self, dim):
        return self.int(dim) if isinstance(dim, int) else dim if " " not in dim else f"({dim})"

    def product(self, a, b):
        """A dimension that is the product of two."""
        text = f"{self.extent(a)} * {self.extent(b)}"
        self.products[text] = (a, b)
        return text

    def shape(self, dims):
        return "(" + "".join(self.extent(dim) + ", " for dim in dims).rstrip(" ") + ")"

    def constant(self, dtype):
        if dtype == "bool":
            return self.rng.choice(["T.bool(True)", "T.bool(False)"])
        return f"T.{dtype}({self.rng.choice(['0.5', '-1.25', '2.0', '0.0'] if is_float(dtype) else ['1', '2', '3', '0'])})"

    def index(self, extent, axes):
        """Within [0, extent)."""
        if extent == 1 or not axes:
            return self.int(0)
        same = [name for name, other in axes if other == extent]
        if extent in self.products:
            outer, inner = ([name for name, other in axes if other == factor] for factor in self.products[extent])
            same += [f"{a} * {self.extent(self.products[extent][1])} + {b}" for a in outer for b in inner]
        for name, other in axes:
            if other not in self.products:
                continue
            outer, inner = self.products[other]
            same += [f"{name} // {self.extent(inner)}"] * (outer == extent) + [f"{name} % {self.extent(inner)}"] * (inner == extent)
        if same and self.rng.random() < 0.75:
            return self.rng.choice(same)
        a, b, size = self.rng.choice(axes)[0], self.rng.choice(axes)[0], self.extent(extent)
        return self.rng.choice([
            f"{a} % {size}", f"({a} * {self.int(3)} + {self.int(self.rng.randint(1, 3))}) % {size}",
            f"T.min({a}, {size} - {self.int(1)})", f"({a} // {self.int(2)} + {b}) % {size}", self.int(0)])

    def load(self, buffer, axes):
        indices = [self.index(dim, axes) for dim in buffer.dims]
        if not axes or self.rng.random() < 0.85:
            return buffer.at(indices)
        # The element at a shifted index, or a constant outside of the buffer.
        at, axis, pad = self.rng.randrange(len(indices)), self.rng.choice(axes)[0], self.int(self.rng.randint(1, 2))
        axis = self.as_index(axis)
        indices[at] = f"{axis} - {pad}"
        return (f"T.if_then_else({pad} <= {axis} and {axis} < {self.extent(buffer.dims[at])} + {pad}, {buffer.at(indices)}, "
                f"{self.constant(buffer.dtype)})")

    def leaf(self, dtype, axes):
        kind = self.rng.randrange(8)
        if kind == 1 and axes and dtype != "bool":
            name = self.rng.choice(axes)[0]
            return self.cast(name, self.axis_dtypes.get(name, self.index_dtype), dtype)
        buffer = self.rng.choice(self.buffers)
        # An integer may not hold a float.
        if kind == 0 or (is_float(buffer.dtype) and not is_float(dtype)):
            return self.constant(dtype)
        return self.cast(self.load(buffer, axes), buffer.dtype, dtype)

    @staticmethod
    def cast(text, dtype, to):
        return text if dtype == to else f'T.Cast("{to}", {text})'

    def as_index(self, axis):
        """The axis in the dtype of indices, with which it can be compared."""
        return self.cast(axis, self.axis_dtypes.get(axis, self.index_dtype), self.index_dtype)

    def let(self, dtype, value, body):
        """An expression with a variable: its value, and a function that writes what is done with it."""
        name = f"t{self.num_variables}"
        self.num_variables += 1
        self.variables.append(f"{name} = T.{dtype}()")
        return f"T.Let({body(name)}, where={{{name}: {value}}})"

    def condition(self, axes):
        a, b = self.as_index(self.rng.choice(axes)[0]), self.as_index(self.rng.choice(axes)[0])
        if self.rng.random() < 0.15:
            limit = self.rng.randint(0, 3)
            return self.let("int32", self.leaf("int32", axes), lambda name: f"T.max({name}, {name} % 3) > {limit}")
        return self.rng.choice([
            f"{a} < {self.int(self.rng.randint(1, 4))}", f"{a} % {self.int(2)} == {self.int(self.rng.randint(0, 1))}",
            f"{a} != {self.int(1)} or {b} < {self.int(2)}", f"not {a} >= {self.int(2)}",
            f"{self.leaf('int32', axes)} < {self.leaf('int32', axes)}"])

    def value(self, dtype, axes, depth):
        """About `depth` operators are on a path to a leaf."""
        if depth == 0:
            return self.leaf(dtype, axes)
        a, b = self.value(dtype, axes, depth - 1), self.value(dtype, axes, self.rng.randrange(depth))
        if dtype == "bool":
            return f"{self.rng.choice(['T.And', 'T.Or'])}({a}, {b})"
        if self.rng.random() < 0.08:
            return self.let(dtype, a, lambda name: f"{name} + {name} - {b}")
        if self.rng.random() < 0.25:
            return f"({self.float_operation(dtype, a, b) if is_float(dtype) else self.int_operation(dtype, a, b)})"
        condition = self.condition(axes) if axes else "T.bool(True)"
        return self.rng.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"T.max({a}, {b})", f"T.min({a}, {b})",
                                f"T.if_then_else({condition}, {a}, {b})", f"T.Select({condition}, {a}, {b})"])

    def int_operation(self, dtype, a, b):
        small = f"T.{dtype}({self.rng.randint(2, 4)})"
        return self.rng.choice([f"{a} // {small}", f"{a} % {small}", f"T.bitwise_and({a}, {b})", f"T.bitwise_xor({a}, {b})",
                                f"T.shift_right({a}, {small})", f"T.truncmod({a}, {small})"])

    def float_operation(self, dtype, a, b):
        return self.rng.choice([f"T.tanh({a})", f"T.sigmoid({a})", f"T.fabs({a})", f"{a} / (T.fabs({b}) + T.{dtype}(0.5))"])


class Writer:
    """Writes a function of stages, each of which computes all elements of one buffer."""

    def __init__(self, rng):
        self.rng = rng
        self.exprs = Expressions(rng)
        self.pool = [f"n{i}" if rng.random() < 0.25 else rng.choice(SIZES) for i in range(3)]
        self.symbols = [dim for dim in self.pool if isinstance(dim, str)]
        self.pool += [self.derived() for _ in self.symbols if rng.random() < 0.6]
        self.lines = []
        self.indent = 2
        self.names = 0

    def derived(self):
        """A dimension that is computed from symbols."""
        symbol, kind = self.rng.choice(self.symbols), self.rng.randrange(4)
        if kind == 0:
            return self.exprs.product(symbol, self.rng.choice(self.symbols))
        return f"{symbol} // {self.exprs.int(2)}" if kind == 1 else self.exprs.product(symbol, self.rng.choice([2, 3]))

    def write(self):
        inputs = [Buffer(f"A{i}", self.rng.choice(DTYPES), self.dims()) for i in range(self.rng.randint(1, 3))]
        # Sizes follow from the inputs, from the first as well as from the last one.
        known = {dim for buffer in inputs for dim in buffer.dims}
        missing = [symbol for symbol in self.symbols if symbol not in known]
        if missing:
            inputs.append(Buffer(f"A{len(inputs)}", self.rng.choice(DTYPES), missing))
        self.exprs.buffers = list(inputs)
        self.views = [self.view(buffer) for buffer in inputs if buffer.is_constant and self.rng.random() < 0.3]
        self.exprs.buffers += self.views
        results = []
        for left in reversed(range(self.rng.randint(1, 3))):
            is_result = left == 0 or self.rng.random() < 0.3
            target = Buffer(self.name("C" if is_result else "B"), self.rng.choice(DTYPES), self.dims())
            if is_result:
                results.append(target)
            else:
                self.allocate(target)
            self.stage(target)
            self.exprs.buffers.append(target)
        params, head = [], []
        if self.rng.random() < 0.3:
            head.append('T.func_attr({"tir.noalias": T.bool(True)})')
        head += [f"{symbol} = T.{self.exprs.index_dtype}()" for symbol in self.symbols]
        for buffer in inputs + results:
            kind = f'{self.exprs.shape(buffer.dims)}, "{buffer.dtype}"'
            if self.rng.random() < 0.75 and all(isinstance(dim, int) for dim in buffer.dims):
                params.append(f"{buffer.name}: T.Buffer({kind})")
            else:
                params.append(f"p_{buffer.name}: T.handle")
                head.append(f"{buffer.name} = T.match_buffer(p_{buffer.name}, {kind})")
        return (f"{HEADER}    def main({', '.join(params)}):\n" + "".join(f"        {line}\n" for line in head) +
                "".join(self.lines))

    def dims(self):
        return [self.rng.choice(self.pool) for _ in range(self.rng.randint(1, 3))]

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def line(self, text):
        for line in [*self.exprs.variables, text]:
            self.lines.append("    " * self.indent + line + "\n")
        self.exprs.variables.clear()

    def open(self, text):
        self.line(text)
        self.indent += 1

    def axes(self, dims, prefix):
        return [(self.name(prefix), dim) for dim in dims]

    def value(self, target, axes):
        return self.exprs.value(target.dtype, axes, self.rng.randint(1, 3))

    @staticmethod
    def element(target, axes):
        return target.at([name for name, _ in axes])

    def stage(self, target):
        forms = [self.block] * 3 + [self.vectorized, self.unrolled, self.threads, self.plain]
        if not target.name.startswith("V"):
            forms.append(self.scan)
        if target.dtype not in ("bool", "float16"):
            forms += [self.reduction] * 2
        form = self.rng.choice(forms)
        if target.is_constant and not target.is_padded and self.rng.random() < 0.15:
            target, form = self.transposed(target), self.rng.choice([self.plain, self.vectorized, self.unrolled])
        form(target)
        self.indent = 2

    # ---- Views of the memory of other buffers

    def declare(self, name, buffer, dims, strides, offset):
        """A buffer over the memory of another one."""
        texts = ", ".join(map(str, strides))
        self.line(f'{name} = T.decl_buffer({self.exprs.shape(dims)}, "{buffer.dtype}", data={buffer.name}.data, '
                  f"strides=({texts}{',' * (len(strides) == 1)}), elem_offset={offset})")
        return Buffer(name, buffer.dtype, dims)

    def view(self, buffer):
        """A part of a buffer, whose axes may have another order and steps."""
        axes = self.rng.sample(range(len(buffer.dims)), len(buffer.dims))
        firsts = [self.rng.randrange(dim) for dim in buffer.dims]
        steps = [self.rng.randint(1, 2) for _ in buffer.dims]
        dims = [-(-(dim - first) // step) for dim, first, step in zip(buffer.dims, firsts, steps)]
        offset = sum(first * stride for first, stride in zip(firsts, buffer.strides))
        return self.declare(self.name("V"), buffer, [dims[i] for i in axes], [buffer.strides[i] * steps[i] for i in axes], offset)

    def transposed(self, buffer):
        """All of a buffer, with its axes in another order."""
        axes = self.rng.sample(range(len(buffer.dims)), len(buffer.dims))
        return self.declare(self.name("V"), buffer, [buffer.dims[i] for i in axes], [buffer.strides[i] for i in axes], 0)

    def allocate(self, target):
        shape = self.exprs.shape(target.dims)
        kind = self.rng.randrange(5 if target.is_constant else 4)
        if kind == 4:
            # With padding, and not at the start of the memory.
            target.is_padded = True
            strides, first = [1], self.rng.randint(0, 5)
            for dim in reversed(target.dims[1:]):
                strides.insert(0, strides[0] * dim + self.rng.randint(0, 2))
            self.line(f'{target.name}_data = T.allocate([{strides[0] * target.dims[0] + first}], "{target.dtype}", "global")')
            texts = ", ".join(map(str, strides))
            self.line(f'{target.name} = T.Buffer({shape}, "{target.dtype}", data={target.name}_data, '
                      f"strides=({texts}{',' * (len(strides) == 1)}), elem_offset={first})")
        elif kind == 0:
            self.line(f'{target.name} = T.decl_buffer({shape}, "{target.dtype}")')
        elif kind == 1:
            extents = ", ".join(map(self.exprs.extent, target.dims))
            declare = self.rng.choice(["T.decl_buffer", "T.Buffer"])
            self.line(f'{target.name}_data = T.allocate([{extents}], "{target.dtype}", "global")')
            self.line(f'{target.name} = {declare}({shape}, "{target.dtype}", data={target.name}_data)')
        else:
            self.line(f'{target.name} = T.alloc_buffer({shape}, "{target.dtype}")')

    # ---- Statements that compute one element

    def compute(self, target, axes, is_simple=False):
        kinds = [self.assign, self.assign, self.branch, self.let]
        self.rng.choice(kinds if is_simple else kinds + [self.loop_while, self.scratch, self.update])(target, axes)

    def assign(self, target, axes):
        self.line(f"{self.element(target, axes)} = {self.value(target, axes)}")

    def branch(self, target, axes):
        self.open(f"if {self.exprs.condition(axes)}:")
        self.assign(target, axes)
        self.indent -= 1
        self.open("else:")
        self.assign(target, axes)
        self.indent -= 1

    def let(self, target, axes):
        name = self.name("x")
        self.line(f"{name}: T.{target.dtype} = {self.value(target, axes)}")
        other = self.value(target, axes)
        both = f"T.And({name}, {other})" if target.dtype == "bool" else f"{name} + {other}"
        self.line(f"{self.element(target, axes)} = {both}")

    def loop_while(self, target, axes):
        count = self.name("k")
        self.line(f'{count} = T.decl_buffer((1,), "int32", scope="local")')
        self.line(f"{count}[0] = 0")
        self.line(f"{self.element(target, axes)} = {self.exprs.constant(target.dtype)}")
        self.open(f"while {count}[0] < {self.rng.randint(1, 3)}:")
        self.assign(target, axes)
        self.line(f"{count}[0] = {count}[0] + 1")
        self.indent -= 1

    def scratch(self, target, axes):
        """Through memory of its own."""
        name, loop, scope = self.name("S"), self.name("s"), self.rng.choice(["local", "global"])
        self.line(f'{name}_data = T.allocate([2], "{target.dtype}", "{scope}")')
        self.line(f'{name} = T.Buffer((2,), "{target.dtype}", data={name}_data, scope="{scope}")')
        self.open(f"for {loop} in {self.rng.choice(['range', 'T.unroll'])}(2):")
        self.line(f"{name}[{loop}] = {self.value(target, axes)}")
        self.indent -= 1
        self.line(f"{self.element(target, axes)} = T.Select({self.exprs.condition(axes)}, {name}[0], {name}[1])")

    def update(self, target, axes):
        element = self.element(target, axes)
        self.assign(target, axes)
        self.open(f"if {self.exprs.condition(axes)}:")
        self.line(f"{element} = " + ("T.bool(True)" if target.dtype == "bool" else f"{element} * {element}"))
        self.indent -= 1

    # ---- Loops without blocks

    def nest(self, target, innermost):
        """The innermost loop is of this kind if its extent is known."""
        axes = self.axes(target.dims, "i")
        for i, (name, dim) in enumerate(axes):
            is_last = i + 1 == len(axes)
            kind = "T.parallel" if i == 0 and not is_last and self.rng.random() < 0.3 else "range"
            if isinstance(dim, int) and not is_last and self.rng.random() < 0.15:
                kind = self.rng.choice(["T.vectorized", "T.unroll", "T.parallel"])
                innermost = "T.vectorized" if kind == "T.vectorized" else innermost
            kind = innermost if is_last and isinstance(dim, int) else kind
            self.open(f"for {name} in {kind}({self.loop_extent(name, dim)}):")
        self.compute(target, axes, innermost == "T.vectorized")

    def loop_extent(self, name, dim):
        """The extent of a loop over an axis, sometimes of another dtype than that of indices."""
        if not isinstance(dim, int) or self.rng.random() < 0.8:
            return self.exprs.extent(dim)
        other = "int64" if self.exprs.index_dtype == "int32" else "int32"
        self.exprs.axis_dtypes[name] = other
        return f"T.{other}({dim})"

    def plain(self, target):
        self.nest(target, "range")

    def vectorized(self, target):
        self.nest(target, "T.vectorized")

    def unrolled(self, target):
        self.nest(target, "T.unroll")

    def scan(self, target):
        """Each element depends on the one before along the first axis."""
        axes = self.axes(target.dims, "i")
        for name, dim in axes:
            self.open(f"for {name} in range({self.exprs.extent(dim)}):")
        first = axes[0][0]
        element = self.element(target, axes)
        before = target.at([f"{first} - {self.exprs.int(1)}"] + [name for name, _ in axes[1:]])
        self.assign(target, axes)
        self.open(f"if {first} > {self.exprs.int(0)}:")
        self.line(f"{element} = {'T.Or' if target.dtype == 'bool' else 'T.max'}({element}, {before})")

    def threads(self, target):
        """The outer loops are threads."""
        axes = self.axes(target.dims, "i")
        tags = ["blockIdx.x", "threadIdx.x", "vthread.x"][self.rng.randrange(2):]
        for name, dim in axes:
            extent = self.exprs.extent(dim)
            if tags and (isinstance(dim, int) or tags[0] == "blockIdx.x"):
                self.open(f'for {name} in T.thread_binding({extent}, thread="{tags.pop(0)}"):')
            else:
                self.open(f"for {name} in range({extent}):")
        self.compute(target, axes)

    # ---- Blocks

    def loops(self, axes):
        """The loops of a block, some of them split, in any order. Returns the values of the axes, and predicates for what is too
        much."""
        values, predicates, headers = [], [], []
        for i, (_, dim) in enumerate(axes):
            loop, extent = self.name("i"), self.exprs.extent(dim)
            if isinstance(dim, int) and dim > 1 and self.rng.random() < 0.25:
                inner, factor = self.name("i"), self.rng.randint(2, 3)
                headers.append(f"for {loop}, {inner} in T.grid({self.exprs.int(-(-dim // factor))}, {self.exprs.int(factor)}):")
                values.append(f"{loop} * {self.exprs.int(factor)} + {inner}")
                if dim % factor:
                    predicates.append(f"{values[-1]} < {extent}")
                continue
            kinds = ["T.serial"] * 5 + (["T.unroll"] if isinstance(dim, int) else []) + (["T.parallel"] if i == 0 else [])
            headers.append(f"for {loop} in {self.rng.choice(kinds)}({extent}):")
            values.append(loop)
        for header in self.rng.sample(headers, len(headers)):
            self.open(header)
        return values, predicates

    def thread_loops(self, axes, num_spatial):
        """The first axis becomes a block of threads, and the last one a thread if it reduces and is constant."""
        values = []
        for i, (_, dim) in enumerate(axes):
            values.append(self.name("i"))
            is_thread = i + 1 == len(axes) and i >= num_spatial and isinstance(dim, int)
            tag = "blockIdx.x" if i == 0 else "threadIdx.x" if is_thread else None
            extent = self.exprs.extent(dim)
            self.open(f'for {values[-1]} in T.thread_binding({extent}, thread="{tag}"):' if tag else
                      f"for {values[-1]} in range({extent}):")
        return values, []

    def open_block(self, axes, values, predicates, num_spatial):
        self.open(f'with T.block("{self.name("b")}"):')
        for i, ((name, dim), value) in enumerate(zip(axes, values)):
            kind = "spatial" if i < num_spatial else "reduce"
            self.line(f"{name} = T.axis.{kind}({self.exprs.extent(dim)}, {value})")
        if predicates:
            self.line(f"T.where({' and '.join(predicates)})")

    def block(self, target):
        axes = self.axes(target.dims, "v")
        self.open_block(axes, *self.loops(axes), len(axes))
        self.rng.choice([self.through_view, self.through_local, self.compute, self.compute])(target, axes)

    def through_view(self, target, axes):
        """The element as a buffer of its own."""
        name, rank = self.name("M"), len(axes)
        shape = self.exprs.shape([1] * rank)
        self.line(f'{name} = T.match_buffer({self.element(target, axes)}, {shape}, "{target.dtype}", offset_factor=1)')
        self.line(f"{name}[{', '.join([self.exprs.int(0)] * rank)}] = {self.value(target, axes)}")

    def through_local(self, target, axes):
        """The element from a buffer of the block, which a block inside computes."""
        name, inner, two = self.name("L"), self.name("u"), self.exprs.int(2)
        self.line(f'{name} = T.alloc_buffer(({two},), "{target.dtype}")')
        self.open(f"for {inner}_0 in range({two}):")
        self.open(f'with T.block("{self.name("b")}"):')
        self.line(f"{inner} = T.axis.spatial({two}, {inner}_0)")
        self.line(f"{name}[{inner}] = {self.value(target, axes + [(inner, 2)])}")
        self.indent -= 2
        self.line(f"{self.element(target, axes)} = {name}[{self.exprs.int(self.rng.randrange(2))}]")

    def reduction(self, target):
        spatial = self.axes(target.dims, "v")
        axes = spatial + self.axes([self.rng.choice(self.pool) for _ in range(self.rng.randint(1, 2))], "v")
        loops = self.thread_loops(axes, len(spatial)) if self.rng.random() < 0.25 else self.loops(axes)
        self.open_block(axes, *loops, len(spatial))
        element = self.element(target, spatial)
        value = self.exprs.value(target.dtype, axes, self.rng.randint(1, 2))
        start, update = self.rng.choice([
            (f"T.{target.dtype}(0)", f"{element} + {value}"), (f'T.min_value("{target.dtype}")', f"T.max({element}, {value})"),
            (f'T.max_value("{target.dtype}")', f"T.min({element}, {value})")])
        self.open("with T.init():")
        self.line(f"{element} = {start}")
        self.indent -= 1
        self.line(f"{element} = {update}")


def generate(seed, index):
    return Writer(random.Random(seed * 1_000_003 + index)).write()


if __name__ == "__main__":
    print(generate(int(sys.argv[1]), int(sys.argv[2])), end="")

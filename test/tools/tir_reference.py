"""What PrimFuncs compute, found without ir-opt: their text is Python, and is run here with exact integers, which wrap at the width
of their dtype, and with floats that are rounded to theirs after each operation. This is the opinion of another reader and another
interpreter, so that an error that the library makes everywhere shows, too.

A function is compiled to closures: an expression to its dtype and a function of the environment, a statement to a function.
Text of the kinds that random_prim_funcs.py writes is understood; Unsupported is raised for other text, and IndexError for
accesses out of bounds. Loops over threads run one thread after the other.
"""
import ast
import itertools
import math

from tir_scalars import (ARITHMETIC, BINARY, COMPARED, COMPARISONS, LARGEST, UNARY, Unsupported, bits, common_dtype, convert, divided,
                         floor_divided, is_float, truncated_div)

LOOPS = {"range", "serial", "parallel", "vectorized", "unroll", "thread_binding", "grid"}


class Tensor:
    """A value of a buffer that is a parameter; its elements are in a list, those without a value None."""

    def __init__(self, dtype, shape, values):
        self.dtype = dtype
        self.shape = list(shape)
        self.values = values


class View:
    """A buffer: where its elements are in memory, which is a list."""

    def __init__(self, data, dtype, shape, strides=None, offset=0):
        self.data = data
        self.dtype = dtype
        self.shape = shape
        self.strides = strides or [math.prod(shape[i + 1:]) for i in range(len(shape))]
        self.offset = offset

    def place(self, indices):
        for index, extent in zip(indices, self.shape):
            if not 0 <= index < extent:
                raise IndexError(f"index {index} of an axis of {extent}")
        at = self.offset + sum(index * stride for index, stride in zip(indices, self.strides))
        if not 0 <= at < len(self.data):
            raise IndexError(f"element {at} of {len(self.data)}")
        return at


class Compiler:
    """Compiles one function. The environment is a dict: names of variables to values, of buffers to views or memory."""

    def __init__(self, function):
        self.function = function
        self.dtypes = {}  # of variables
        self.buffers = {}  # dtypes and ranks of buffers
        self.params = []  # name, dtype, and nodes of the shape of the buffer of each parameter
        self.places = {}  # of parameters

    # ---- Expressions

    def expr(self, node, like=None):
        """The dtype and the function of an expression; a literal has the dtype `like` if it can."""
        handler = getattr(self, "expr_" + type(node).__name__, None)
        if handler is None:
            raise Unsupported(ast.dump(node))
        return handler(node, like)

    def converted(self, node, dtype):
        found, value = self.expr(node, dtype)
        return value if found == dtype else lambda env: convert(value(env), dtype)

    def operands(self, a, b):
        (a_dtype, first), (b_dtype, second) = self.expr(a), self.expr(b)
        # Literals take the dtype of the other operand.
        if isinstance(b, ast.Constant) and not isinstance(a, ast.Constant):
            b_dtype, second = self.expr(b, a_dtype)
        elif isinstance(a, ast.Constant) and not isinstance(b, ast.Constant):
            a_dtype, first = self.expr(a, b_dtype)
        dtype = common_dtype(a_dtype, b_dtype)
        cast = lambda found, value: value if found == dtype else lambda env: convert(value(env), dtype)
        return dtype, cast(a_dtype, first), cast(b_dtype, second)

    def expr_Constant(self, node, like):
        value = node.value
        if isinstance(value, bool):
            return "bool", lambda env: value
        if isinstance(value, (int, float)):
            dtype = like or ("int32" if isinstance(value, int) else "float32")
            if isinstance(value, float) and not is_float(dtype):
                dtype = "float32"
            value = convert(value, dtype)
            return dtype, lambda env: value
        raise Unsupported(f"the constant {value!r}")

    def expr_Name(self, node, like):
        name = node.id
        if name not in self.dtypes:
            raise Unsupported(f"the variable {name}")
        return self.dtypes[name], lambda env: env[name]

    def expr_UnaryOp(self, node, like):
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return self.expr_Constant(ast.Constant(-node.operand.value), like)
        dtype, value = self.expr(node.operand, like)
        if isinstance(node.op, ast.Not):
            return "bool", lambda env: not value(env)
        if isinstance(node.op, ast.USub):
            return dtype, self.rounded(lambda env: -value(env), dtype)
        raise Unsupported(ast.dump(node.op))

    @staticmethod
    def rounded(value, dtype):
        return value if dtype == "bool" else lambda env: convert(value(env), dtype)

    def binary(self, functions, a, b):
        dtype, first, second = self.operands(a, b)
        function = functions[1 if is_float(dtype) else 0]
        if function is None:
            raise Unsupported(f"an operator on {dtype}")

        return dtype, lambda env: convert(function(first(env), second(env)), dtype)

    def expr_BinOp(self, node, like):
        kind = type(node.op).__name__
        if kind == "Div":
            return self.binary((truncated_div, divided), node.left, node.right)
        function = ARITHMETIC.get(kind)
        if function is None:
            raise Unsupported(kind)
        real = {"FloorDiv": floor_divided, "Mod": None}.get(kind, function)
        return self.binary((function, real), node.left, node.right)

    def compare(self, function, a, b):
        _, first, second = self.operands(a, b)
        return "bool", lambda env: bool(function(first(env), second(env)))

    def expr_Compare(self, node, like):
        parts = [node.left, *node.comparators]
        made = [self.compare(COMPARISONS[type(op).__name__], a, b)[1] for op, a, b in zip(node.ops, parts, parts[1:])]
        return "bool", lambda env: all(holds(env) for holds in made)

    def expr_BoolOp(self, node, like):
        made = [self.converted(value, "bool") for value in node.values]
        combine = all if isinstance(node.op, ast.And) else any
        return "bool", lambda env: combine(value(env) for value in made)

    def expr_Subscript(self, node, like):
        dtype, view, indices = self.element(node)

        def load(env):
            buffer = view(env)
            value = buffer.data[buffer.place([index(env) for index in indices])]
            if value is None:
                raise IndexError("an element is read before it is written")
            return value
        return dtype, load

    def element(self, node):
        """The dtype of a buffer, its view, and the indices of an element."""
        name = node.value.id
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = [self.expr(item)[1] for item in items]
        dtype, rank = self.buffers[name]
        if rank != len(indices):
            raise Unsupported(f"{len(indices)} indices of {name}")
        return dtype, lambda env: env[name], indices

    def expr_Call(self, node, like):
        name = function_name(node.func)
        handler = getattr(self, "call_" + name, None)
        if handler:
            return handler(node)
        if name in BINARY:
            return self.binary(BINARY[name], *node.args)
        if name in COMPARED:
            return self.compare(COMPARED[name], *node.args)
        if name in UNARY:
            dtype, value = self.expr(node.args[0])
            return dtype, lambda env, function=UNARY[name]: convert(function(value(env)), dtype)
        if name.startswith(("int", "uint", "float", "bool")):
            return name, self.converted(node.args[0], name)
        raise Unsupported(f"T.{name}")

    def call_Cast(self, node):
        dtype = node.args[0].value
        return dtype, self.converted(node.args[1], dtype)

    def call_Select(self, node):
        condition = self.converted(node.args[0], "bool")
        dtype, first, second = self.operands(*node.args[1:])
        return dtype, lambda env: first(env) if condition(env) else second(env)

    call_if_then_else = call_Select

    def call_And(self, node):
        a, b = (self.converted(arg, "bool") for arg in node.args)
        return "bool", lambda env: a(env) and b(env)

    def call_Or(self, node):
        a, b = (self.converted(arg, "bool") for arg in node.args)
        return "bool", lambda env: a(env) or b(env)

    def call_Not(self, node):
        value = self.converted(node.args[0], "bool")
        return "bool", lambda env: not value(env)

    def call_likely(self, node):
        return self.expr(node.args[0])

    def call_max_value(self, node):
        return self.extreme(node.args[0].value, 1)

    def call_min_value(self, node):
        return self.extreme(node.args[0].value, -1)

    @staticmethod
    def extreme(dtype, sign):
        width = bits(dtype) - dtype.startswith("int")
        least, largest = (-LARGEST[dtype], LARGEST[dtype]) if is_float(dtype) else (-(1 << width) * dtype.startswith("int"),
                                                                                    (1 << width) - 1)
        return dtype, lambda env: largest if sign > 0 else least

    def call_Let(self, node):
        (where,) = [keyword.value for keyword in node.keywords if keyword.arg == "where"]
        name = where.keys[0].id
        dtype, value = self.expr(where.values[0], self.dtypes[name])
        self.dtypes[name] = dtype
        result, body = self.expr(node.args[0])
        return result, lambda env: body({**env, name: value(env)})

    # ---- Buffers

    def ints(self, node):
        if isinstance(node, (ast.Tuple, ast.List)):
            items = [self.expr(item)[1] for item in node.elts]
            return lambda env: [item(env) for item in items]
        value = self.expr(node)[1]
        return lambda env: [value(env)]

    def call_arguments(self, call, names):
        found = dict(zip(names, call.args))
        found.update({keyword.arg: keyword.value for keyword in call.keywords})
        return found

    def declare(self, name, call):
        """A buffer in memory of its own, or over that of another one."""
        given = self.call_arguments(call, ["shape", "dtype", "data", "strides", "elem_offset"])
        dtype = given["dtype"].value if "dtype" in given else "float32"
        shape = self.ints(given["shape"])
        self.buffers[name] = (dtype, rank_of(given["shape"]))
        data = self.memory(given["data"]) if "data" in given else lambda env: None
        strides = self.ints(given["strides"]) if "strides" in given else lambda env: None
        offset = self.expr(given["elem_offset"])[1] if "elem_offset" in given else lambda env: 0

        def run(env):
            extents = shape(env)
            memory = data(env)
            if memory is None:
                count = math.prod(extents)
                steps = strides(env)
                if steps:
                    count = 1 + sum((extent - 1) * step for extent, step in zip(extents, steps))
                memory = [None] * (count + offset(env))
            env[name] = View(memory, dtype, extents, strides(env), offset(env))
        return run

    def memory(self, node):
        """The memory that an expression names: of an allocation, or of a buffer."""
        if isinstance(node, ast.Attribute) and node.attr == "data":
            name = node.value.id
            return lambda env: env[name].data
        if isinstance(node, ast.Name):
            name = node.id
            return lambda env: env[name]
        raise Unsupported(ast.dump(node))

    def match(self, name, call):
        """A buffer over a region of another one, in a block."""
        given = self.call_arguments(call, ["param", "shape", "dtype", "data", "strides", "elem_offset"])
        region, dtype = given["param"], given["dtype"].value if "dtype" in given else "float32"
        source = region.value.id
        items = region.slice.elts if isinstance(region.slice, ast.Tuple) else [region.slice]
        begins = [self.expr(item.lower if isinstance(item, ast.Slice) else item)[1] for item in items]
        shape_nodes = given["shape"].elts if isinstance(given["shape"], (ast.Tuple, ast.List)) else [given["shape"]]
        strides = [node.id for node in given["strides"].elts] if "strides" in given else []
        offset = given["elem_offset"].id if "elem_offset" in given else None
        for symbol in strides + ([offset] if offset else []):
            self.dtypes.setdefault(symbol, "int32")
        self.buffers[name] = (dtype, len(shape_nodes))
        shape = self.ints(given["shape"])

        def run(env):
            whole = env[source]
            at = whole.offset + sum(begin(env) * stride for begin, stride in zip(begins, whole.strides))
            steps = whole.strides[len(whole.strides) - len(shape_nodes):]
            env.update(zip(strides, steps))
            if offset:
                env[offset] = at
            env[name] = View(whole.data, dtype, shape(env), steps, at)
        return run

    # ---- Statements

    def body(self, statements):
        made = [self.statement(statement) for statement in statements]

        def run(env):
            for statement in made:
                statement(env)
        return run

    def statement(self, node):
        handler = getattr(self, "stmt_" + type(node).__name__, None)
        if handler is None:
            raise Unsupported(ast.dump(node))
        return handler(node)

    @staticmethod
    def stmt_Pass(_):
        return lambda env: None

    def stmt_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return lambda env: None
        name = function_name(node.value.func)
        if name in ("func_attr", "reads", "writes", "block_attr", "where"):
            return lambda env: None
        if name == "evaluate":
            value = self.expr(node.value.args[0])[1]
            return lambda env: value(env) and None
        raise Unsupported(f"the statement T.{name}")

    def stmt_AnnAssign(self, node):
        name, dtype = node.target.id, node.annotation.attr
        value = self.converted(node.value, dtype)
        self.dtypes[name] = dtype

        def run(env):
            env[name] = value(env)
        return run

    def stmt_Assign(self, node):
        (target,) = node.targets
        if isinstance(target, ast.Subscript):
            return self.store(target, node.value)
        if not isinstance(target, ast.Name):
            raise Unsupported(ast.dump(target))
        call, name = node.value, target.id
        function = function_name(call.func)
        if function in ("int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64", "float32", "float16", "float64",
                        "bool") and not call.args:
            self.dtypes[name] = function
            return lambda env: None
        if function in ("alloc_buffer", "decl_buffer", "Buffer"):
            return self.declare(name, call)
        if function == "allocate":
            extents = self.ints(call.args[0])

            def allocate(env):
                env[name] = [None] * math.prod(extents(env))
            return allocate
        if function == "match_buffer":
            if isinstance(call.args[0], ast.Name):
                return self.match_param(name, call)
            return self.match(name, call)
        raise Unsupported(f"T.{function} as a value of {name}")

    def store(self, target, value):
        dtype, view, indices = self.element(target)
        computed = self.converted(value, dtype)

        def run(env):
            buffer = view(env)
            result = computed(env)
            buffer.data[buffer.place([index(env) for index in indices])] = result
        return run

    def stmt_If(self, node):
        condition, then = self.converted(node.test, "bool"), self.body(node.body)
        otherwise = self.body(node.orelse)
        return lambda env: then(env) if condition(env) else otherwise(env)

    def stmt_While(self, node):
        condition, body = self.converted(node.test, "bool"), self.body(node.body)

        def run(env):
            while condition(env):
                body(env)
        return run

    def stmt_For(self, node):
        function = function_name(node.iter.func)
        if function not in LOOPS:
            raise Unsupported(f"the loop T.{function}")
        names = [target.id for target in node.target.elts] if isinstance(node.target, ast.Tuple) else [node.target.id]
        ranges = []
        parts = [[arg] for arg in node.iter.args] if function == "grid" else [node.iter.args]
        for name, args in zip(names, parts):
            made = [self.expr(arg) for arg in args]
            dtype = made[0][0]
            for other, _ in made[1:]:
                dtype = common_dtype(dtype, other)
            self.dtypes[name] = dtype
            ranges.append([value for _, value in made])
        body = self.body(node.body)

        def run(env):
            extents = [range(*(bound(env) for bound in bounds)) for bounds in ranges]
            for values in itertools.product(*extents):
                body({**env, **dict(zip(names, values))})
        return run

    def stmt_With(self, node):
        call = node.items[0].context_expr
        function = function_name(call.func)
        if function == "block":
            return self.block(node.body)
        raise Unsupported(f"with T.{function}")

    def block(self, statements):
        axes, conditions, declared, init, rest = [], [], [], lambda env: None, []
        for statement in statements:
            found = axes_of(statement)
            if found:
                axes += [self.axis(*axis) for axis in found]
            elif is_call(statement, "where"):
                conditions.append(self.converted(statement.value.args[0], "bool"))
            elif isinstance(statement, ast.With) and function_name(statement.items[0].context_expr.func) == "init":
                init = self.body(statement.body)
            elif is_own_buffer(statement):
                declared.append(self.statement(statement))
            else:
                rest.append(self.statement(statement))

        def run(env):
            if not all(condition(env) for condition in conditions):
                return
            env = {**env, **{name: value(env) for name, _, value, _ in axes}}
            for statement in declared:
                statement(env)
            if all(env[name] == begin(env) for name, is_reduce, _, begin in axes if is_reduce):
                init(env)
            for statement in rest:
                statement(env)
        return run

    def axis(self, name, kind, domain, value):
        begin = lambda env: 0
        if isinstance(domain, ast.Tuple):
            begin = self.expr(domain.elts[0])[1]
            domain = domain.elts[1]
        dtype, computed = self.expr(value)
        if domain is not None:
            dtype = self.expr(domain)[0]
        self.dtypes[name] = dtype
        return name, kind == "reduce", computed, begin

    # ---- The function

    def match_param(self, name, call):
        shape = call.args[1]
        dtype = call.args[2].value if len(call.args) > 2 else "float32"
        for keyword in call.keywords:
            if keyword.arg == "dtype":
                dtype = keyword.value.value
            else:
                raise Unsupported(f"match_buffer with {keyword.arg}")
        self.add_param(call.args[0].id, name, dtype, shape)
        return lambda env: None

    def add_param(self, param, name, dtype, shape):
        nodes = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
        self.buffers[name] = (dtype, len(nodes))
        self.params[self.places[param]] = (name, dtype, nodes)

    def compile(self):
        """A function of tensors by the names of the buffers that are parameters, which it changes."""
        args = self.function.args.args
        self.places = {arg.arg: place for place, arg in enumerate(args)}
        self.params = [None] * len(args)
        for arg in args:
            call = arg.annotation
            if isinstance(call, ast.Call) and function_name(call.func) == "Buffer":
                self.add_param(arg.arg, arg.arg, call.args[1].value if len(call.args) > 1 else "float32", call.args[0])
            elif not isinstance(call, ast.Attribute) or call.attr != "handle":
                raise Unsupported("a parameter that is not a buffer")
        body = self.body(self.function.body)
        dims = {name: [self.expr(node)[1] for node in nodes] for name, _, nodes in self.params}

        def run(tensors):
            env = {}
            # Sizes that are variables decide; a shape may use what a later parameter defines.
            for name, _, nodes in self.params:
                env.update((node.id, size) for node, size in zip(nodes, tensors[name].shape) if isinstance(node, ast.Name))
            for name, dtype, _ in self.params:
                tensor = tensors[name]
                if [dim(env) for dim in dims[name]] != list(tensor.shape):
                    raise ValueError(f"the shape of {name} is {tensor.shape}")
                env[name] = View(tensor.values, dtype, list(tensor.shape))
            body(env)
        return run


def function_name(node):
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    raise Unsupported(ast.dump(node))


def rank_of(node):
    return len(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else 1


def is_call(statement, name):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and function_name(statement.value.func) == name


def is_own_buffer(statement):
    """Whether it declares a buffer of the block around it, which is there before the initialization runs."""
    return (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and
            function_name(statement.value.func) in ("alloc_buffer", "match_buffer"))


def axes_of(statement):
    """The axes that a statement of a block defines: name, kind, domain and value."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return []
    call, target = statement.value, statement.targets[0]
    if not (isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "axis"):
        return []
    if call.func.attr == "remap":
        names = [name.id for name in target.elts] if isinstance(target, ast.Tuple) else [target.id]
        kinds = ["reduce" if kind == "R" else "spatial" for kind in call.args[0].value]
        return [(name, kind, None, value) for name, kind, value in zip(names, kinds, call.args[1].elts)]
    return [(target.id, call.func.attr, call.args[0], call.args[1])]


def evaluate(node, variables):
    """An integer expression of Python's syntax, with values of its variables."""
    compiler = Compiler(None)
    compiler.dtypes = dict.fromkeys(variables, "int64")
    return compiler.expr(node)[1](variables)


def functions(text):
    """The PrimFuncs of a module by name: each a function of tensors, and name, dtype and shape of its parameters. The
    dimensions of a shape are nodes of Python's syntax."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and any("prim_func" in ast.dump(d) for d in node.decorator_list):
            compiler = Compiler(node)
            found[node.name] = (compiler.compile(), compiler.params)
    return found

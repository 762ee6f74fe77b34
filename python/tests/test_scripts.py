"""Scripts that use functions and values of the program: Python gets nodes, and what it makes of them is read."""
import numpy as np
import pytest

import iropt
from iropt import ir, relax, tir
from iropt.script import ir as I
from iropt.script import relax as R
from iropt.script import tir as T


def body(func):
    """The lines of a PrimFunc after its header."""
    lines = func.script().split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("def"))
    return [line.strip() for line in lines[begin + 1 :] if not line.strip().startswith("#")]


def test_functions_ask_for_dtypes_and_kinds():
    def one_of(buffer):
        return T.float32(1) if buffer.dtype == "float16" else T.float32(2)

    def index(value):
        return 3 if isinstance(value, tir.Var) else 7

    @T.prim_func
    def func(A: T.Buffer((8,), "float16"), B: T.Buffer((8,), "float32")):
        for i in range(4):
            B[index(i)] = one_of(A)
            B[index(i + 1)] = one_of(B)

    assert body(func) == ["for i in range(4):", "B[3] = T.float32(1.0)", "B[7] = T.float32(2.0)"]


def test_functions_see_what_is_in_scope():
    seen = []

    def note(buffer, *values, scale=1):
        seen.append((buffer.name, [str(dim) for dim in buffer.shape], [value.name for value in values], scale))
        return values[0] * scale

    @T.prim_func
    def func(a: T.handle, n: T.int64):
        A = T.match_buffer(a, (n, 4), "float32")
        for i, j in T.grid(n, 4):
            A[note(A, i, j, scale=1), 0] = T.float32(0)

    assert seen == [("A", ["n", "4"], ["i", "j"], 1)]


def test_results_with_variables_of_their_own():
    def twice(value):
        v = tir.Var("v", "float32")
        return tir.Let(v, value, v + v)

    @T.prim_func
    def func(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = twice(A[i]) + twice(B[i])

    again = iropt.from_source(func.script())
    ir.assert_structural_equal(again.values()[0], func)
    np = pytest.importorskip("numpy")
    a, b = np.arange(4, dtype="float32"), np.ones(4, "float32")
    iropt.run(iropt.IRModule({"main": func}), "main", a, b)
    np.testing.assert_array_equal(b, 2 * a + 2)


def test_functions_call_functions():
    def square(value):
        return value * value

    def norm(*values):
        total = square(values[0])
        for value in values[1:]:
            total = total + square(value)
        return tir.all(total > 0, total < 100)

    @T.prim_func
    def func(A: T.Buffer((4,), "int32")):
        for i, j in T.grid(2, 2):
            if norm(*[i, j]):
                A[i * 2 + j] = 1

    assert "if i * i + j * j > 0 and i * i + j * j < 100:" in body(func)


def test_comprehensions_texts_and_stars():
    shape = (2, 3)

    def product(items):
        result = 1
        for item in items:
            result = result * item
        return result

    @T.prim_func
    def func(A: T.Buffer(shape, "float32"), B: T.Buffer((12,), "float32")):
        T.func_attr({"text": f"{A.name} of {A.dtype}", "size": product([dim for dim in A.shape])})
        for i, j in T.grid(*shape):
            B[sum([index * 2 for index in [i, j]])] = A[i, j]

    assert func.attrs["text"] == "A of float32" and func.attrs["size"] == 6
    assert body(func)[-1] == "B[i * 2 + j * 2] = A[i, j]"


def test_captured_variables_in_shapes():
    n, size = tir.Var("n", "int64"), tir.SizeVar("m", "int32")

    @T.prim_func
    def func(a: T.handle, B: T.Buffer((n, 4), "float32"), c: T.handle):
        A = T.match_buffer(a, (n, 4), "float32")
        C = T.match_buffer(c, (size,), "float32")
        A[0, 0] = B[0, 0] + C[size - 1]

    A, B, C = func.buffer_map.values()
    assert A.shape[0].same_as(B.shape[0]) and A.shape[0].dtype == "int64"
    assert isinstance(C.shape[0], tir.SizeVar)


def test_captured_variables_in_results():
    n = tir.Var("n", "int64")

    def clip(value):
        return tir.min(value, n - 1)

    @T.prim_func
    def func(a: T.handle):
        A = T.match_buffer(a, (n,), "float32")
        for i in range(n):
            A[clip(i)] = T.float32(0)

    assert body(func)[-1] == "A[T.min(i, n - T.int64(1))] = T.float32(0.0)"


def test_functions_return_parts_of_scripts():
    def declare(handle, n, offset, sliding):
        if sliding:
            return T.match_buffer(handle, (3, n), "int32", elem_offset=offset)
        return T.match_buffer(handle, (n,), "int32", elem_offset=offset)

    @T.prim_func
    def func(a: T.handle, b: T.handle, n: T.int32):
        offset = T.int32(is_size_var=True)
        A = declare(a, n, offset, True)
        B = declare(
            b,
            n, offset, False)
        A[0, 0] = B[0]

    A, B = func.buffer_map.values()
    assert len(A.shape) == 2 and len(B.shape) == 1 and A.name == "A" and A.elem_offset.same_as(B.elem_offset)


def test_functions_of_relax():
    def scaled(x, by):
        assert x.struct_info.dtype == "float32"
        return relax.op.add(relax.op.multiply(x, relax.const(by, "float32")), x)

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            y = scaled(x, 2.0)
            return y

    assert [binding.value.op.name for binding in Module["main"].body.blocks[0].bindings] == ["relax.multiply", "relax.add"]
    assert str(Module["main"].ret_struct_info) == 'R.Tensor((n, 4), dtype="float32")'


def test_macros_use_functions():
    def twice(value):
        return value + value

    @T.macro
    def assign(A, i, value):
        A[i] = twice(value)

    @T.prim_func
    def func(A: T.Buffer((4,), "int32")):
        for i in range(4):
            assign(A, i, i)
            assign(A, 0, A[i])

    assert body(func)[1:] == ["A[i] = i + i", "A[0] = A[i] + A[i]"]


def test_errors_are_in_the_file():
    def fails(value):
        raise RuntimeError(f"not {value}")

    def other(value):
        return object()

    with pytest.raises(iropt.Error, match="RuntimeError: not i") as caught:

        @T.prim_func
        def func(A: T.Buffer((4,), "int32")):
            for i in range(4):
                A[i] = fails(i)

    assert isinstance(caught.value.__cause__, RuntimeError)
    place = caught.value.diagnostics[0]
    assert "test_scripts.py" in str(caught.value) and "A[i] = fails(i)" in str(caught.value), place
    with pytest.raises(iropt.Error, match="a script has no value of type object"):

        @T.prim_func
        def second(A: T.Buffer((4,), "int32")):
            A[0] = other(A)


def test_places_of_errors_are_those_of_the_file():
    n = tir.Var("n", "int64")

    @T.macro
    def assign(A, i):
        A[i, 0, 0] = 1

    with pytest.raises(iropt.Error) as caught:

        @T.prim_func
        def func(a: T.handle):
            A = T.match_buffer(a, (n, 4), "int32")
            A[n, n] = missing + n
            assign(A, 0)

    first, second = caught.value.diagnostics
    with open(__file__, encoding="utf8") as file:
        lines = file.read().split("\n")
    assert lines[first["place"][1] - 1][first["place"][2] - 1 :].startswith("missing + n")
    assert lines[second["place"][1] - 1][second["place"][2] - 1 :].startswith("A[i, 0, 0] = 1")
    assert lines[second["notes"][0][1][1] - 1][second["notes"][0][1][2] - 1 :].startswith("assign(A, 0)")
    assert "A[n, n] = missing + n\n" in str(caught.value)


def test_functions_of_python_in_modules():
    np = pytest.importorskip("numpy")

    @I.ir_module
    class Module(relax.BasePyModule):
        @I.pyfunc
        def main(self, x):
            y = self.call_tir("double", [x], R.Tensor((4,), "float32"))
            return self.twice(y).numpy() + 1

        @T.prim_func
        def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
            for i in range(4):
                B[i] = A[i] * T.float32(2)

        @R.function
        def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.add(x, x)

    assert list(Module.pyfuncs) == ["main"] and len(Module) == 2
    made = Module()
    np.testing.assert_array_equal(made.main(np.arange(4, dtype="float32")), [1, 5, 9, 13])
    assert made.list_functions() == {"tirx": ["double"], "relax": ["twice"], "extern": ["main"]}
    np.testing.assert_array_equal(made.call_py_func("main", [np.zeros(4, "float32")]), np.ones(4))
    np.testing.assert_array_equal(made.call_tir("double", [np.ones(4, "float32")], out_ty=R.Tensor((4,), "float32")).numpy(), [2] * 4)
    with pytest.raises(ValueError, match="no function of Python 'double'"):
        made.call_py_func("double", [])


def test_captured_bounds_of_slices():
    from iropt.script import tir as T

    size = 8

    @T.prim_func
    def copy(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
        for i in range(2):
            with T.block("row"):
                v = T.axis.spatial(2, i)
                T.reads(A[v, 0:size])
                T.writes(B[v, 0:size])
                for j in range(size):
                    B[v, j] = A[v, j]

    assert "T.reads(A[v, 0:8])" in copy.script()


def test_emit_te_of_functions_of_the_program():
    from iropt import te, topi

    def square(a):
        return te.compute(a.shape, lambda i, j: a[i, j] * a[i, j], name="square")

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            with R.dataflow():
                y = R.emit_te(square, x)
                z = R.add(y, R.emit_te(square, R.exp(x)))
                w = R.emit_te(topi.full, [n, 3], "float32", 2.0, primfunc_name_hint="twos")
                gv = R.emit_te(topi.add, z, w)
                R.output(gv)
            return gv

    # Equal functions are one.
    assert sorted(name.name for name in Module.keys()) == ["add", "main", "square", "twos"]
    x = np.random.default_rng(0).normal(size=(2, 3)).astype("float32")
    np.testing.assert_allclose(np.asarray(iropt.run(Module, "main", x)), x**2 + np.exp(x) ** 2 + 2, rtol=1e-5)


def test_functions_of_indices_are_captured():
    by_blocks = lambda i, j: (j // 4, i, j % 4)  # noqa: E731

    @R.function(private=True)
    def func(x: R.Tensor((2, 8), "float32")):
        gv = R.layout_transform(x, index_map=by_blocks)
        return gv

    assert [dim.value for dim in func.ret_struct_info.shape] == [2, 2, 4]


def test_variables_that_functions_of_python_make_are_declared():
    from iropt import te

    @T.prim_func
    def func(a: T.handle, b: T.handle):
        offset = te.var("elem_offset")
        size = te.size_var("n", "int64")
        A = T.match_buffer(a, (16,), elem_offset=offset)
        B = T.match_buffer(b, (size,))
        T.evaluate(offset)
        B[0] = A[0]

    assert func.buffer_map[func.params[0]].elem_offset.name == "offset"
    assert func.buffer_map[func.params[1]].shape[0].dtype == "int64"
def test_negative_numbers_are_arguments():
    unknown = -1

    @R.function(private=True)
    def func(x: R.Tensor(ndim=unknown, dtype="float32")):
        y = R.add(x, R.const(2 * unknown, "float32"))
        return y

    assert func.params[0].struct_info.ndim == -1
    assert constant_of(func) == -2.0


def constant_of(func):
    return float(func.body.blocks[0].bindings[0].value.args[1].data.numpy())


def test_errors_of_scripts_are_given_to_the_renderer():
    from iropt.ir import diagnostics

    found = []
    diagnostics.override_renderer(lambda context: found.extend(context.diagnostics))
    try:
        with pytest.raises(iropt.Error, match="not defined|unknown|undefined"):
            iropt.script.from_source("@T.prim_func\ndef main(A: T.Buffer((4,), 'float32')):\n    A[missing] = T.float32(1)\n")
    finally:
        diagnostics.override_renderer(None)
    assert [(item.level.name, item.span.line) for item in found] == [("ERROR", 3)] and "missing" in found[0].message
    assert diagnostics.get_renderer() is None
    context = diagnostics.DiagnosticContext(None, None)
    context.emit(diagnostics.Diagnostic(diagnostics.DiagnosticLevel.NOTE, ir.Span(), "good"))
    context.render()
    context.emit(diagnostics.Diagnostic(diagnostics.DiagnosticLevel.ERROR, ir.Span(), "bad"))
    with pytest.raises(iropt.Error, match="bad"):
        context.render()


def test_sources_and_values_of_syntax():
    import ast
    import inspect

    from iropt.script.source import ExprEvaluator, Source

    source = Source(body)
    assert source.source == inspect.getsource(body) and source.start_line == inspect.getsourcelines(body)[1]
    assert source.as_ast().body[0].name == "body" and "def test_functions_ask" in source.full_source
    expression = Source("f(a[1:], 2), -a[0]").as_ast().body[0].value
    assert isinstance(expression, ast.Tuple)
    assert ExprEvaluator.eval(None, {"a": [1, 2, 3], "f": lambda x, y: x * y}, expression) == ([2, 3, 2, 3], -1)


def test_names_of_scripts_exist():
    for prefix, known in ((T, ("Buffer", "axis", "int8x4", "exp", "grid")), (R, ("Tensor", "nn", "add", "output", "dist")),
                          (I, ("ir_module", "vdevice"))):
        assert all(hasattr(prefix, name) for name in known)
        assert not any(hasattr(prefix, name) for name in ("no_such_thing", "f8", "bf32", "float32x0", "int999", "e4m3_float9"))
    for name in ("Ptr", "void", "buffer_var", "TensorMap", "arg", "func_ret", "If", "SwizzleLayout"):
        assert repr(getattr(T, name)) == f"T.{name}" and repr(getattr(T, name)(1)) == f"T.{name}(1)"
    for name in ("emit_te", "ShapeExpr", "TupleGetItem", "If", "emit_with_type", "gpu", "stop_lift_params"):
        assert repr(getattr(R, name)) == f"R.{name}" and repr(getattr(R, name)(1)) == f"R.{name}(1)"
    for name in ("e4m3_float8", "e5m2_float8", "float8_e4m3fn", "float4_e2m1fn", "float8_e8m0fnu", "int4", "bfloat16", "bool"):
        assert tir.Var("x", name).dtype == getattr(T, name)().dtype == str(getattr(T, name)(1).dtype)
    for name in ("e4m3_float8x4", "float8_e5m2x2", "float4_e2m1fnx2", "uint8x16", "float32xvscalex4"):
        assert repr(getattr(T, name)) == f"T.{name}" and getattr(T, name)().dtype == tir.Var("x", name).dtype
    for name, dtype in (("f16", "float16"), ("f32", "float32"), ("i8", "int8"), ("u64", "uint64"), ("bf16", "bfloat16")):
        assert getattr(T, name)(1).dtype == dtype

    @T.prim_func
    def main(p: T.Ptr("float32"), x: T.f32, y: T.float8_e4m3fn):
        q = T.match_buffer(p, (4,), "float32")
        q[0] = x + T.Cast("float32", y)

    assert [param.dtype for param in main.params] == ["handle", "float32", "e4m3_float8"]
    assert repr(tir.IndexMap.from_func(lambda i: i + i)) == "T.index_map(lambda i0: (i0 + i0,))"


def test_hygienic_macros_keep_what_names_meant():
    size = 2

    @T.macro
    def first(A):
        A[0] = T.float32(size)

    @T.macro(hygienic=False)
    def second(A):
        A[1] = T.float32(size)

    size = 3

    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        first(A)
        second(A)

    assert [store.value.value for store in main.body.seq] == [2, 3]


def test_constants_of_arrays_have_the_dtype_that_is_asked_for():
    wide, integers, infinite = np.float64([[1.5, 2.5]]), np.arange(2), np.float32([[np.inf, np.nan]])

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2), "float32")):
            a = R.const(wide, "float32")
            b = R.const(wide)
            c = R.const(wide, dtype="float64")
            d = R.const(integers)
            e = R.const(integers, "int64")
            f = R.const(infinite)
            return (R.add(x, a), b, c, d, e, f)

    results = iropt.run(Module, "main", np.float32([[1, 1]]))
    assert [str(item.dtype) for item in results] == ["float32", "float32", "float64", "int32", "int64", "float32"]
    np.testing.assert_array_equal(np.asarray(results[0]), np.float32([[2.5, 3.5]]))
    np.testing.assert_array_equal(np.asarray(results[5]), infinite)

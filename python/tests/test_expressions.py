"""Scalar expressions that Python makes: what is computed at once, and what is refused."""
import keyword

import numpy
import pytest

import iropt
from iropt import ir, packed, relax, tir
from iropt._core import native
from iropt.script import tir as T


def test_conditions_that_are_known_leave_the_others():
    x = tir.Var("x", "bool")
    true, false = tir.const(1, "bool"), tir.const(0, "bool")
    assert tir.all(x, true).same_as(x) and tir.any(false, x).same_as(x)
    assert tir.all(false, x).same_as(false) and tir.any(x, true).same_as(true)
    for dtype in ("int32", "uint16", "uint16x4"):
        with pytest.raises(iropt.Error, match=dtype):
            tir.all(true, tir.Var("n", dtype))
    with pytest.raises(ValueError):
        tir.any()


def test_one_of_two_values():
    a, b = tir.Var("a", "int32"), tir.Var("b", "float32")
    assert str(tir.if_then_else(True, a, b)) == 'T.Cast("float32", a)'
    assert tir.if_then_else(False, a, b).same_as(b)
    chosen = tir.if_then_else(tir.Var("c", "bool"), a, tir.const(2.5, "float32"))
    assert [arg.dtype for arg in chosen.args] == ["bool", "float32", "float32"]
    with pytest.raises(iropt.Error, match="int32"):
        tir.if_then_else(a, a, b)


def test_roundings():
    n, x = tir.Var("n", "int32"), tir.Var("x", "float32")
    assert tir.floor(n).same_as(n)
    assert [f(tir.const(-1.5, "float32")).value for f in (tir.floor, tir.ceil, tir.trunc)] == [-2, -1, -1]
    assert tir.round(tir.const(3.6, "float32")).value == 4
    # What runs decides between two integers that are as near.
    assert isinstance(tir.round(tir.const(2.5, "float32")), tir.Call) and tir.ceil(x).op.name == "tir.ceil"
    assert tir.floor(tir.const(float("inf"), "float32")).op.name == "tir.floor"
    for function, value, expected in ((tir.round, 0.49999999999999994, 0.0), (tir.nearbyint, 0.49999999999999994, 0.0),
                                      (tir.round, 4503599627370497.0, 4503599627370497.0), (tir.round, -0.4, -0.0),
                                      (tir.nearbyint, -4503599627370497.0, -4503599627370497.0), (tir.round, -2.6, -3.0),
                                      (tir.nearbyint, -2.5, -2.0), (tir.nearbyint, 3.5, 4.0), (tir.nearbyint, -0.5, -0.0),
                                      (tir.ceil, -0.5, -0.0), (tir.floor, -0.0, -0.0), (tir.trunc, -0.9, -0.0),
                                      (tir.floor, -0.5, -1.0), (tir.ceil, 0.5, 1.0)):
        assert repr(function(tir.const(value, "float64")).value) == repr(expected)


def test_powers_are_of_floats():
    assert tir.power(tir.Var("n", "int32"), tir.Var("x", "float64")).dtype == "float64"
    with pytest.raises(iropt.Error, match="int32"):
        tir.power(tir.Var("n", "int32"), 2)


def test_bits():
    x = tir.Var("x", "int8")
    assert [str(e) for e in (3 ^ x, 3 << x, 3 >> x)] == [
        "T.bitwise_xor(T.int8(3), x)", "T.shift_left(T.int8(3), x)", "T.shift_right(T.int8(3), x)"]
    assert (~x).dtype == "int8" and (x >> 1).dtype == "int8"
    for refused in (lambda: ~tir.Var("f", "float32"), lambda: x.astype("int32") << 32, lambda: tir.floordiv(tir.const(1), 0)):
        with pytest.raises(iropt.Error):
            refused()


def test_numbers_of_numpy_keep_their_dtypes():
    assert [tir.const(kind(1)).dtype for kind in (numpy.uint8, numpy.float16, numpy.int64)] == ["uint8", "float16", "int64"]
    assert tir.const(1) == tir.const(True) and hash(tir.const(1)) == hash(tir.const(1, "int64"))


def test_variables_of_let_have_the_dtype_of_values():
    n = tir.Var("n", "int32")
    with pytest.raises(iropt.Error, match="int64"):
        tir.Let(n, tir.Var("m", "int64"), n)
    with pytest.raises(iropt.Error):
        tir.Var(1, "int32")


def test_lanes_of_unknown_number():
    for lanes in (4 * tir.vscale(), tir.vscale() * 4):
        ramp = tir.Ramp(0, 1, lanes)
        assert ramp.lanes.a.equal(tir.vscale()) and ramp.lanes.b == 4
        assert ramp.dtype == "int32xvscalex4"
    assert tir.Broadcast(0, tir.const(11, "int64")).lanes.dtype == "int32"
    assert tir.Ramp(0, 1, numpy.int64(4)).dtype == "int32x4" and tir.Broadcast(0, numpy.uint8(3)).dtype == "int32x3"
    for lanes in (4.0, tir.vscale(), tir.vscale() + 3, tir.vscale() * 2 + 5):
        with pytest.raises(TypeError):
            tir.Broadcast(0, lanes)


def test_masks_fit_what_is_accessed():
    buffer = tir.decl_buffer((24,), "int32")
    value, index = tir.Broadcast(1, 4 * tir.vscale()), tir.Ramp(0, 1, 4 * tir.vscale())
    tir.BufferStore(buffer, value, [index], tir.Broadcast(tir.const(1, "bool"), 4 * tir.vscale()))
    for mask, message in ((tir.Broadcast(tir.const(1, "bool"), 4), "scalable"),
                          (tir.Broadcast(tir.const(1, "bool"), 8 * tir.vscale()), "8 lanes"),
                          (tir.Broadcast(1, 4 * tir.vscale()), "boolean")):
        with pytest.raises(iropt.Error, match=message):
            tir.BufferStore(buffer, value, [index], mask)
        with pytest.raises(iropt.Error, match=message):
            tir.BufferLoad(buffer, [index], mask)


def _padding(index_map, shape):
    """The places that no index has, and those of which the inverse is wrong, by trying all."""
    inverse, predicate = index_map.non_surjective_inverse(shape)
    after = [int(size) for size in index_map.map_shape(shape)]
    known = {tuple(int(i) for i in index_map.map_indices(list(place))): place for place in numpy.ndindex(*shape)}
    padding, wrong = set(), []
    analyzer = iropt.arith.Analyzer()
    for place in numpy.ndindex(*after):
        values = {var: tir.const(value, var.dtype) for var, value in zip(inverse.params, place)}
        if int(analyzer.simplify(tir.stmt_functor.substitute(predicate, values))):
            padding.add(place)
        elif tuple(int(i) for i in inverse.map_indices(list(place))) != known.get(place):
            wrong.append(place)
    return padding == set(numpy.ndindex(*after)) - set(known), wrong


@pytest.mark.parametrize("mapping, shape", [
    (lambda i: [i // 4, i % 4], (16,)),
    (lambda i: [i // 4, i % 4], (3,)),
    (lambda i: [(i + 1) // 4, (i + 1) % 4], (14,)),
    (lambda i: [((i + 5) // 4) % 8, (i + 5) // 32, (i + 5) % 4], (123,)),
    (lambda i, j: [(i + 1) // 4, (j + 5) // 8, (i + 1) % 4, (j + 5) % 8], (14, 31)),
])
def test_inverses_with_padding(mapping, shape):
    assert _padding(tir.IndexMap.from_func(mapping, index_dtype="int32"), shape) == (True, [])


def test_shapes_of_index_maps():
    index_map = tir.IndexMap.from_func(lambda i: [i // 4, i % 4], index_dtype="int32")
    n = tir.Var("n", "int32")
    assert [size.dtype for size in index_map.map_shape([tir.const(14, "int64")])] == ["int64", "int64"]
    # The number of values of the first result for every n.
    size = index_map.map_shape([n])[0]
    for value in range(1, 10):
        assert int(iropt.arith.Analyzer().simplify(tir.stmt_functor.substitute(size, {n: tir.const(value)}))) == -(-value // 4)
    for mapping, before, after in ((lambda i: i * 2, [10], [20]), (lambda i, j: [i * 2, j], [3, 4], [6, 4]),
                                   (lambda i, j: i * 8 + j * 2, [3, 4], [24]), (lambda i: [i // 4 * 3, i % 4], [16], [12, 4]),
                                   (lambda i: i + 5, [10], [10]), (lambda i: 9 - i, [10], [10]), (lambda i: [i - i, 3], [1], [1, 1]),
                                   (lambda i: [(i + 1) // 4 * 2, (i + 1) % 4], [14], [8, 4])):
        assert [int(size) for size in tir.IndexMap.from_func(mapping).map_shape(before)] == after
    with pytest.raises(iropt.Error):
        index_map.inverse([14])


def test_blocks_that_depend_on_each_other():
    @T.prim_func
    def func(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((8,), "float32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * 2.0
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi] + 1.0

    blocks = {}
    tir.stmt_functor.post_order_visit(
        func.body, lambda node: blocks.setdefault(node.name_hint, node) if isinstance(node, tir.Block) else None)
    info = tir.BlockDependenceInfo(func)
    first, second = info.get_sref(blocks["B"]), info.get_sref(blocks["C"])
    assert isinstance(first.parent.stmt, tir.Block) and first.parent == second.parent
    scope = info.get_block_scope(first.parent)
    assert [(dep.dst == second, dep.kind.name) for dep in scope.get_deps_by_src(first)] == [(True, "RAW")]


def test_flat_buffers_and_axis_separators():
    flat = tir.decl_buffer((16,))
    assert flat.get_flattened_buffer().same_as(flat)
    with pytest.raises(ValueError, match="separators"):
        tir.decl_buffer((1,), axis_separators=[1, 2])


def test_all_nans_are_equal():
    numbers = [T.float32(numpy.int32(bits).view("float32")) for bits in (0x7FC00000, 0x7F800001)]
    ir.assert_structural_equal(*numbers)
    assert ir.structural_hash(numbers[0]) == ir.structural_hash(numbers[1])
    assert not ir.structural_equal(numbers[0], T.float32(0))


def test_paths_of_differences_are_told():
    def module(size):
        @iropt.script.ir.ir_module
        class Module:
            @T.prim_func
            def func(A: T.Buffer((1,), "int32")):
                for i in range(size):
                    A[0] = A[0] + 1

        return Module

    with pytest.raises(ValueError) as error:
        ir.assert_structural_equal(module(16), module(32))
    assert '<root>.functions[I.GlobalVar("func")].body.extent.value' in str(error.value)


def test_types_of_functions_for_values_of_parameters():
    @T.prim_func(private=True)
    def before(n: T.int32) -> T.int32:
        T.ret(n * 10)

    after = before.specialize({before.params[0]: 5})
    assert ir.structural_equal(after.struct_info, relax.FuncStructInfo([], relax.PrimStructInfo("int32")))


def test_registered_functions_by_their_names():
    packed.register_func("test_expressions.next", lambda x: x + 1, override=True)
    found = ir.EnvFunc.get("test_expressions.next")
    assert found(3) == 4 and found == ir.EnvFunc.get("test_expressions.next")
    with pytest.raises(ValueError):
        ir.EnvFunc.get("test_expressions.not_there")


@pytest.mark.parametrize("mapping, shape", [
    # The layout of a matrix in the registers of a warp.
    (lambda i, j: [(i * 2 + j // 8) % 16, (i * 2 + j // 8) // 16 * 8 + j % 8], (16, 16)),
    (lambda i, j: [j, i], (3, 5)),
])
def test_inverses_of_permutations(mapping, shape):
    index_map = tir.IndexMap.from_func(mapping, index_dtype="int32")
    inverse = index_map.inverse(list(shape))
    for place in numpy.ndindex(*shape):
        there = index_map.map_indices(list(place))
        assert tuple(int(index) for index in inverse.map_indices(there)) == place


@pytest.mark.parametrize("dtype", ["int64", "handle"])
def test_calls_of_intrinsics_have_the_dtype_that_scripts_give_them(dtype):
    compared = 0
    for row in native.op_table():
        name = row["name"].removeprefix("tir.")
        if row["graph"] or not name.isidentifier() or keyword.iskeyword(name):
            continue
        for count in (1, 2, 3):
            names = "abc"[:count]
            text = f"@T.prim_func\ndef main({', '.join(f'{var}: T.{dtype}' for var in names)}):\n    T.evaluate(T.{name}({', '.join(names)}))\n"
            try:
                written = iropt.from_source(text)["main"].body.value.dtype
                made = getattr(tir, name)(*(tir.Var(var, dtype) for var in names)).dtype
            except (iropt.Error, AttributeError, TypeError, ValueError):
                continue
            assert made == written, name
            compared += 1
    assert compared > 100

"""Patterns of expressions, and rewriting where they match."""
import pytest

from iropt import ir, relax
from iropt.relax import dpl
from iropt.relax.dpl import (PatternContext, PatternMatchingRewriter, has_attr, has_dtype, is_call_dps_packed, is_call_packed,
                             is_call_tir, is_const, is_dfv, is_gv, is_op, is_shape, is_tuple, is_tuple_get_item, is_var,
                             rewrite_bindings, rewrite_call, wildcard)
from iropt.script import ir as I
from iropt.script import relax as R

x = relax.Var("x", R.Tensor((2, 3), "float32"))
y = relax.Var("y", R.Tensor((2, 3), "float32"))
add = relax.op.add(x, y)


@pytest.mark.parametrize("pattern, expr, matches", [
    (wildcard(), x, True),
    (is_var(), x, True),
    (is_var("x"), x, True),
    (is_var("y"), x, False),
    (is_dfv(), x, False),
    (is_dfv("lv"), relax.DataflowVar("lv", R.Tensor((2,), "float32")), True),
    (is_gv("main"), ir.GlobalVar("main"), True),
    (is_gv("main"), x, False),
    (is_const(), relax.StringImm("a"), False),
    (dpl.is_expr(relax.StringImm("a")), relax.StringImm("a"), True),
    (is_op("relax.add")(wildcard(), wildcard()), add, True),
    (is_op("relax.add")(is_var("y"), is_var("x")), add, True),
    (is_op("relax.subtract")(is_var("y"), is_var("x")), relax.op.subtract(x, y), False),
    (is_op("relax.add")(wildcard()), add, False),
    (is_op("relax.add")(wildcard(), varg_default_wildcard=True), add, True),
    ((is_op("relax.add") | is_op("relax.multiply"))(is_var("y"), is_var("x")), add, True),
    (is_tuple([is_var("x"), is_var("y")]), relax.Tuple([x, y]), True),
    (is_tuple([is_var("y"), is_var("x")]), relax.Tuple([x, y]), False),
    (is_tuple([is_var("y"), is_var("x")], unordered=True), relax.Tuple([x, y]), True),
    (is_tuple([is_var("x"), is_var("x")], unordered=True), relax.Tuple([x, y]), False),
    (is_tuple_get_item(wildcard(), 1), relax.TupleGetItem(relax.Tuple([x, y]), 1), True),
    (is_tuple_get_item(wildcard(), 0), relax.TupleGetItem(relax.Tuple([x, y]), 1), False),
    (is_tuple_get_item(wildcard()), relax.TupleGetItem(relax.Tuple([x, y]), 1), True),
    (is_shape([2, 3]), relax.ShapeExpr([2, 3]), True),
    (is_shape([2, 4]), relax.ShapeExpr([2, 3]), False),
    (is_var("x") | is_var("y"), y, True),
    (is_var("x") & is_var("y"), y, False),
    (wildcard() & is_var("y"), y, True),
    (~is_var("x"), y, True),
    (~is_var("x"), x, False),
    (has_dtype("float32"), x, True),
    (has_dtype("int32"), x, False),
    (wildcard().has_shape((2, 3)), x, True),
    (wildcard().has_shape((2, 4)), x, False),
    (wildcard().has_struct_info(R.Tensor((2, 3), "float32")), x, True),
    (wildcard().has_struct_info(R.Tensor(ndim=2)), x, True),
    (wildcard().has_struct_info(R.Tensor(ndim=2, dtype="float32")), x, True),
    (wildcard().has_ty(R.Shape(ndim=2)), x, False),
    (is_op("relax.nn.softmax")(wildcard()).has_attr({"axis": 1}), relax.op.nn.softmax(x, 1), True),
    (has_attr({"axis": 0}, is_op("relax.nn.softmax")(wildcard())), relax.op.nn.softmax(x, 1), False),
    (is_op("relax.nn.relu")(wildcard()).optional(lambda p: is_op("relax.exp")(p)), relax.op.nn.relu(x), True),
    (is_call_tir("f", [is_var("x")]), relax.op.call_tir(ir.GlobalVar("f"), [x], R.Tensor((2, 3), "float32")), True),
    (is_call_tir("f", [is_var("y")]), relax.op.call_tir(ir.GlobalVar("f"), [x], R.Tensor((2, 3), "float32")), False),
    (is_call_dps_packed("f"), relax.op.call_dps_packed(relax.extern("f"), [x], R.Tensor((2, 3), "float32")), True),
    (is_call_dps_packed("g"), relax.op.call_dps_packed(relax.extern("f"), [x], R.Tensor((2, 3), "float32")), False),
    (is_call_packed("f"), relax.extern("f")(x, y, sinfo_args=R.Object()), True),
    (is_call_packed("f", [wildcard()]), relax.extern("f")(x, y, sinfo_args=R.Object()), False),
])
def test_match(pattern, expr, matches):
    assert pattern.match(expr) is matches
    assert pattern.dup().match(expr) is matches


def test_one_pattern_is_one_expression():
    same = wildcard()
    assert is_op("relax.add")(same, same).match(relax.op.add(x, x))
    assert not is_op("relax.add")(same, same).match(add)


def test_symbolic_dimensions_are_the_same_in_the_whole_pattern():
    from iropt import tir

    n = tir.Var("n", "int64")
    square = R.Tensor([n, n], "float32")
    assert not wildcard().has_struct_info(square).match(x)
    assert wildcard().has_struct_info(square).match(relax.Var("z", R.Tensor((3, 3), "float32")))


@I.ir_module
class Chain:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.nn.relu(a)
            c = R.nn.relu(b)
            R.output(c)
        return c


def bindings(func):
    return [binding for block in func.body.blocks for binding in block.bindings]


def test_values_of_variables():
    first, second, third = bindings(Chain["main"])
    values = {first.var: first.value, second.var: second.value}
    inner = wildcard()
    pattern = is_op("relax.nn.relu")(is_op("relax.nn.relu")(inner))
    assert not pattern.match(third.value)
    assert pattern.extract_matched_expr(third.value, values)[inner] == first.value


def test_rewrite_call_until_nothing_matches():
    inner = wildcard()
    pattern = is_op("relax.nn.relu")(is_op("relax.nn.relu")(inner))
    after = rewrite_call(pattern, lambda expr, matched: relax.op.nn.relu(matched[inner]), Chain["main"])
    assert [binding.value.op.name for binding in bindings(after)] == ["relax.add", "relax.nn.relu"]
    assert after.attrs["global_symbol"] == "main"


def test_rewrite_call_keeps_what_the_rewriter_returns_as_it_is():
    pattern = is_op("relax.nn.relu")(wildcard())
    assert rewrite_call(pattern, lambda expr, matched: expr, Chain["main"]) == Chain["main"]


def test_exception_of_a_condition_comes_back():
    def fail(expr, matched):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        rewrite_call(is_op("relax.nn.relu")(wildcard()), fail, Chain["main"])


@I.ir_module
class Parallel:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32"), v: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.matmul(x, v)
            c = R.add(a, b)
            R.output(c)
        return c


def test_rewrite_of_several_bindings():
    with PatternContext() as context:
        data, first, second = wildcard(), wildcard(), wildcard()
        a, b = is_op("relax.matmul")(data, first), is_op("relax.matmul")(data, second)

    def rewriter(matched, values):
        assert values[matched[a]].op.name == "relax.matmul"
        both = relax.op.matmul(matched[data], relax.op.concat([matched[first], matched[second]], axis=1))
        parts = relax.op.split(both, 2, axis=1)
        return {matched[a]: relax.TupleGetItem(parts, 0), matched[b]: relax.TupleGetItem(parts, 1)}

    after = rewrite_bindings(context, rewriter, Parallel["main"])
    calls = [binding.value.op.name for binding in bindings(after) if isinstance(binding.value, relax.Call)]
    assert calls == ["relax.concat", "relax.matmul", "relax.split", "relax.add"]


def test_uses_in_a_block():
    block = Parallel["main"].body.blocks[0]
    with PatternContext() as context:
        product = is_op("relax.matmul")(wildcard(), wildcard())
        total = is_op("relax.add")(wildcard(), wildcard(), add_constraint=False)
        product.only_used_by(total, 1)
    matched = context.match_dfb(block)
    assert matched[product].name_hint == "b" and matched[total].name_hint == "c"
    with PatternContext() as context:
        is_var("x") >> is_op("relax.matmul")(wildcard(), wildcard(), add_constraint=False)
    assert context.match_dfb(block) is None  # x is used twice


def test_incremental_context():
    block = Parallel["main"].body.blocks[0]
    with PatternContext() as outer:
        product = is_op("relax.matmul")(wildcard(), wildcard())
        product ^ is_op("relax.add")(wildcard(), wildcard(), add_constraint=False)
        with PatternContext(incremental=True) as inner:
            product ^ is_op("relax.exp")(wildcard())
    assert outer.match_dfb(block) and not inner.match_dfb(block)


def test_same_shape():
    block = Parallel["main"].body.blocks[0]
    with PatternContext() as context:
        left, right = wildcard(), wildcard()
        is_op("relax.matmul")(left, right)
        left.same_shape_as(right)
    assert context.match_dfb(block) is None


@R.rewriter
class Doubled:
    @R.function
    def pattern(a: R.Tensor([2, 3], "float32")):
        b = R.add(a, a)
        return b

    @R.function
    def replacement(a: R.Tensor([2, 3], "float32")):
        b = Doubled.twice(a)
        return b

    @R.function(private=True)
    def twice(a: R.Tensor([2, 3], "float32")) -> R.Tensor([2, 3], "float32"):
        return R.nn.gelu(a)


def test_rewriter_of_a_module_brings_its_functions():
    after = Doubled(Chain)
    assert [name.name for name in after.get_global_vars()] == ["main", "twice"]
    assert bindings(after["main"])[0].value.op == ir.GlobalVar("twice")
    assert not after._module.verify()


def test_names_of_new_functions_are_not_taken():
    module = Chain.copy()
    module["twice"] = Parallel["main"].with_attr("global_symbol", "twice")
    after = Doubled(module)
    assert [name.name for name in after.get_global_vars()] == ["main", "twice", "twice_1"]
    assert bindings(after["main"])[0].value.op == ir.GlobalVar("twice_1")


def test_rewriters_are_passes():
    inner = wildcard()
    relu = is_op("relax.nn.relu")
    once = PatternMatchingRewriter.from_pattern(relu(relu(inner)), lambda expr, matched: relax.op.nn.relu(matched[inner]))
    after = ir.transform.Sequential([once | Doubled])(Chain)
    assert [name.name for name in after.get_global_vars()] == ["main", "twice"]
    assert len(bindings(after["main"])) == 2


def test_wrong_rewriter_of_a_module():
    with pytest.raises(KeyError, match="the module must have a function 'pattern'"):
        PatternMatchingRewriter.from_module(Chain)


def test_fusion_with_conditions():
    relu = is_op("relax.nn.relu")(wildcard())
    seen = []

    def check(context):
        seen.append(context.matched_expr.op.name)
        assert context.annotated_expr["root"] == context.matched_expr
        return context.annotated_expr["input"].op.name == "relax.add"

    data = wildcard()
    relu = is_op("relax.nn.relu")(data)
    pattern = relax.transform.FusionPattern("my.relu", relu, {"root": relu, "input": data}, check,
                                            lambda parts: {"kind": parts["input"].op.name})
    after = relax.transform.FuseOpsByPattern([pattern])(Chain)
    assert seen == ["relax.nn.relu", "relax.nn.relu"]
    fused = [func for _, func in after.items() if func.attrs is not None and "Composite" in func.attrs]
    assert len(fused) == 1 and fused[0].attrs["kind"] == "relax.add" and fused[0].attrs["Composite"] == "my.relu"


def test_exception_of_a_check_comes_back():
    def check(context):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        relax.transform.FuseOpsByPattern([("my.relu", is_op("relax.nn.relu")(wildcard()), {}, check)])(Chain)


def test_registry_of_patterns():
    backend = relax.backend
    backend.register_patterns([("mine.a", wildcard()), ("mine.b", wildcard())])
    assert [pattern.name for pattern in backend.get_patterns_with_prefix("mine.")] == ["mine.b", "mine.a"]
    assert backend.get_pattern("mine.a").name == "mine.a" and backend.get_pattern("other") is None


def test_patterns_of_common_groups():
    pattern, parts = relax.backend.make_matmul_pattern(with_bias=True)
    first, second, third = bindings(Parallel["main"])
    matched = pattern.extract_matched_expr(third.value, {first.var: first.value, second.var: second.value})
    assert matched[parts["root"]] in (first.value, second.value)

"""Number formats of operators, chosen by runs."""
import pytest

import iropt
from iropt import precision
from iropt.script import ir as I
from iropt.script import relax as R

np = pytest.importorskip("numpy")


@pytest.fixture
def planted():
    """A value that overflows, one whose digits cancel, and a product that does no harm."""

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((8, 16), "float32")):
            with R.dataflow():
                harmless = R.nn.relu(x)
                large = R.multiply(x, R.const(10000.0, "float32"))
                square = R.multiply(large, large)
                back = R.sqrt(square)
                small = R.divide(back, R.const(10000.0, "float32"))
                shifted = R.add(x, R.const(10000.0, "float32"))
                centered = R.subtract(shifted, R.const(10000.0, "float32"))
                part = R.add(harmless, small)
                out = R.add(part, centered)
                R.output(out)
            return out

    return Module


@pytest.fixture
def samples():
    random = np.random.default_rng(1)
    return [random.standard_normal((8, 16)).astype("float32") for _ in range(3)]


def test_operators_are_told_apart_by_name(planted, samples):
    choice = precision.choose(planted, [[x] for x in samples])
    rows = {row.name: row for row in choice.rows}
    assert rows["harmless"].lowered and rows["harmless"].reason == ""
    assert rows["square"].reason.startswith("overflows float16 at ")
    assert rows["shifted"].reason.startswith("its error alone is ")
    assert {row.name for row in choice.kept} == {"square", "back", "shifted", "centered"}
    assert 0 < choice.error <= 1e-2


def test_the_module_computes_with_the_error_that_is_stated(planted, samples):
    choice = precision.choose(planted, [{"x": x} for x in samples])
    errors = []
    for x in samples:
        before, after = (np.asarray(iropt.run(mod, "main", x)) for mod in (planted, choice.module))
        assert after.dtype == np.float32
        errors.append(np.linalg.norm(after - before) / np.linalg.norm(before))
    assert max(errors) == pytest.approx(choice.error, rel=0.5)


def test_kept_operators(planted, samples):
    choice = precision.choose(planted, [[x] for x in samples], keep=["harmless", "s.*"])
    kept = {row.name: row.reason for row in choice.kept}
    assert kept["harmless"] == kept["small"] == "-keep-precision names it"
    with pytest.raises(ValueError, match="no operator on float32 is called 'nothing'"):
        precision.choose(planted, [[x] for x in samples], keep=["nothing"])


def test_any_set_of_operators_can_be_measured(planted, samples):
    model = precision.Model(planted, [[x] for x in samples])
    names = [name for name, _, _ in model.operators]
    assert model.error([]) == 0
    assert 0 < model.error([names.index("part")]) < 1e-3
    assert model.error([names.index("shifted")]) > 0.01
    assert model.error([names.index("square")]) == float("inf")
    with pytest.raises(ValueError, match="operator 99 cannot be lowered"):
        model.error([99])


def test_shares_are_measured_if_asked_for(planted, samples):
    # A single error that outweighs all others would be known less well.
    loose = {"rtol": 10.0, "keep": ["square", "back", "shifted", "centered"]}
    assert precision.choose(planted, [[x] for x in samples], **loose).predicted_error is None
    choice = precision.choose(planted, [[x] for x in samples], shares=True, **loose)
    assert choice.error / 2 < choice.predicted_error < choice.error * 2
    assert all(row.error_alone is not None for row in choice.rows)


def test_lint(planted, samples):
    findings = dict(precision.lint(planted, [[x] for x in samples]))
    assert findings["square"].startswith("overflows float16 at ")
    assert "bits cancel" in findings["centered"]
    assert "harmless" not in findings


def test_bfloat16_has_the_range(planted, samples):
    choice = precision.choose(planted, [[x] for x in samples], format="bf16", rtol=0.1)
    assert "square" not in {row.name for row in choice.kept}
    assert "shifted" in {row.name for row in choice.kept}


def test_wrong_arguments(planted, samples):
    with pytest.raises(ValueError, match="invalid format 'int3'"):
        precision.choose(planted, [samples], format="int3")
    with pytest.raises(ValueError, match="invalid objective"):
        precision.choose(planted, [samples], objective="luck")
    with pytest.raises(TypeError, match="the input 'x' is missing"):
        precision.choose(planted, [{"y": samples[0]}])
    with pytest.raises(KeyError, match="no Relax function 'other'"):
        precision.choose(planted, [samples], function="other")


def test_onnx_names_and_files(tmp_path):
    onnx = pytest.importorskip("onnx")
    from onnx import helper, numpy_helper

    kind = onnx.TensorProto.FLOAT
    weight = np.random.default_rng(2).standard_normal((16, 4)).astype("float32")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="first/product"),
             helper.make_node("Add", ["y", "big"], ["z"], name="shift"),
             helper.make_node("Sub", ["z", "big"], ["out"], name="centre")]
    initializers = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(np.float32([2000]), "big")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, [8, 16])],
                              [helper.make_tensor_value_info("out", kind, [8, 4])], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = np.random.default_rng(3).standard_normal((8, 16)).astype("float32")
    np.savez(tmp_path / "sample.npz", x=x)
    choice = precision.choose(model, [tmp_path / "sample.npz"])
    assert {row.name for row in choice.rows if row.lowered} == {"first/product"}
    choice.save(tmp_path / "small.onnx")
    written = onnx.load(str(tmp_path / "small.onnx"))
    onnx.checker.check_model(written)
    assert "first/product" in {node.name for node in written.graph.node}
    halves = [t for t in written.graph.initializer if t.data_type == onnx.TensorProto.FLOAT16]
    assert [list(t.dims) for t in halves] == [[16, 4]]
    assert [i.type.tensor_type.elem_type for i in written.graph.input] == [kind]
    assert [o.type.tensor_type.elem_type for o in written.graph.output] == [kind]

"""Models of ONNX as paths, bytes and protobufs."""
import numpy
import pytest

import iropt

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def _conv_bn(batch="batch"):
    """A convolution with a batch norm, which -O3 folds into it."""
    draw = numpy.random.default_rng(0)
    weights = {"w": draw.normal(size=(16, 3, 3, 3)), "scale": draw.uniform(1, 2, 16), "bias": draw.normal(size=16),
               "mean": draw.normal(size=16), "var": draw.uniform(1, 2, 16)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
             helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["b"], name="norm"),
             helper.make_node("Relu", ["b"], ["y"], name="relu")]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, None, 8, 8])
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 8, 8])
    graph = helper.make_graph(nodes, "conv_bn", [image], [value("y")],
                              [numpy_helper.from_array(v.astype("float32"), k) for k, v in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)


def _ops(model):
    return [node.op_type for node in model.graph.node]


def test_optimizes_a_protobuf():
    model = _conv_bn()
    small = iropt.onnx.optimize(model, check=True)
    assert isinstance(small, onnx.ModelProto)
    onnx.checker.check_model(small, full_check=True)
    assert _ops(small) == ["Conv", "Relu"]
    assert _ops(model) == ["Conv", "BatchNormalization", "Relu"]
    assert small.graph.node[0].name == "conv"
    assert small.opset_import[0].version == 15


def test_optimizes_bytes_and_files(tmp_path):
    contents = _conv_bn().SerializeToString()
    small = iropt.onnx.optimize(contents)
    assert isinstance(small, bytes)
    source, target = tmp_path / "in.onnx", tmp_path / "out.onnx"
    source.write_bytes(contents)
    assert iropt.onnx.optimize(source, target) is None
    assert target.read_bytes() == small
    assert _ops(iropt.onnx.optimize(str(source))) == ["Conv", "Relu"]


def test_sizes_passes_and_opset():
    model = _conv_bn()
    fixed = iropt.onnx.optimize(model, passes="", symbols={"batch": 2}, opset=17)
    assert [d.dim_value for d in fixed.graph.input[0].type.tensor_type.shape.dim] == [2, 3, 8, 8]
    assert _ops(fixed) == _ops(model)
    assert fixed.opset_import[0].version == 17
    shaped = iropt.onnx.load(model, input_shapes={"x": (5, None, None, None)})
    assert [int(d) for d in shaped["main"].params[0].struct_info.shape] == [5, 3, 8, 8]


def test_external_data(tmp_path):
    path = tmp_path / "small.onnx"
    iropt.onnx.optimize(_conv_bn(), path, external_data="weights.bin")
    assert (tmp_path / "weights.bin").stat().st_size >= 16 * 3 * 9 * 4
    iropt.onnx.check(_conv_bn(), path)


def test_instruments_of_the_context_are_entered_once():
    events = []

    @iropt.ir.instrument.pass_instrument
    class Events:
        def enter_pass_ctx(self):
            events.append("enter")

        def exit_pass_ctx(self):
            events.append("exit")

        def run_before_pass(self, mod, info):
            events.append("pass")

    with iropt.transform.PassContext(instruments=[Events()]):
        iropt.onnx.optimize(_conv_bn())
    assert events[0] == "enter" and events[-1] == "exit" and set(events[1:-1]) == {"pass"}


def test_check_finds_a_difference():
    model, other = _conv_bn(), _conv_bn()
    assert iropt.onnx.check(model, other) == ""
    weight = numpy_helper.to_array(other.graph.initializer[0]).copy()
    weight[0, 0, 0, 0] += 1
    other.graph.initializer[0].CopyFrom(numpy_helper.from_array(weight, "w"))
    with pytest.raises(iropt.Error, match="differ"):
        iropt.onnx.check(model, other)


def test_errors_name_the_model(tmp_path):
    with pytest.raises(iropt.Error, match="no-such-file.onnx"):
        iropt.onnx.load(tmp_path / "no-such-file.onnx")
    with pytest.raises(iropt.Error, match="not an ONNX model"):
        iropt.onnx.load(b"not a model")
    with pytest.raises(TypeError, match="expected a path, bytes or a ModelProto, not int"):
        iropt.onnx.load(3)
    with pytest.raises(iropt.Error, match="bathc"):
        iropt.onnx.load(_conv_bn(), symbols={"bathc": 2})


def test_no_more_nodes_or_bytes_than_before():
    nodes = [helper.make_node("Hardmax", ["x"], ["y"]), helper.make_node("Tile", ["one", "times"], ["many"]),
             helper.make_node("Concat", ["y", "many"], ["z"], axis=0)]
    constants = [numpy_helper.from_array(numpy.ones((1, 4), "float32"), "one"), numpy_helper.from_array(numpy.array([4096, 1]), "times")]
    graph = helper.make_graph(nodes, "kept", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
                              [helper.make_tensor_value_info("z", TensorProto.FLOAT, [None, 4])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    small = iropt.onnx.optimize(model)
    assert [node.op_type for node in small.graph.node] == ["Hardmax", "Tile", "Concat"]
    assert small.ByteSize() < model.ByteSize() + 1024
    with iropt.ir.transform.PassContext(config={"relax.max_constant_growth": 1 << 20}):
        assert [node.op_type for node in iropt.onnx.optimize(model).graph.node] == ["Hardmax", "Concat"]

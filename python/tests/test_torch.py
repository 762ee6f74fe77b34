"""Exported programs of PyTorch, as objects that have the fields of such programs."""
import enum
import types

import numpy as np
import pytest

from iropt import relax
from iropt.executable import VirtualMachine, build_relax
from iropt.relax.frontend.torch import from_exported_program


class Kind(enum.Enum):
    USER_INPUT = 1
    PARAMETER = 2
    BUFFER = 3


class Value:
    """A tensor of PyTorch, as far as it is read."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, f"torch.{array.dtype}"

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.array



class Node(types.SimpleNamespace):
    __hash__ = object.__hash__


def program(inputs, weights, calls, results):
    """A program: calls are (name, operator, arguments), where names stand for nodes."""
    nodes, specs = {}, []

    def find(value):
        if isinstance(value, (list, tuple)):
            return type(value)(find(item) for item in value)
        return nodes.get(value, value) if isinstance(value, str) else value

    for name, (kind, array) in {**{key: (Kind.USER_INPUT, value) for key, value in inputs.items()}, **weights}.items():
        nodes[name] = Node(op="placeholder", name=name, target=name, args=(), kwargs={}, meta={"val": Value(array)})
        specs.append(types.SimpleNamespace(kind=kind, target=f"m.{name}", arg=types.SimpleNamespace(name=name)))
    for name, operator, args in calls:
        target = types.SimpleNamespace(__name__=operator)
        nodes[name] = Node(op="call_function", name=name, target=target, args=find(tuple(args)), kwargs={}, meta={})
    nodes["output"] = Node(op="output", name="output", target="output", args=(tuple(find(results)),), kwargs={}, meta={})
    return types.SimpleNamespace(graph=types.SimpleNamespace(nodes=list(nodes.values())),
                                 graph_signature=types.SimpleNamespace(input_specs=specs), constants={},
                                 state_dict={f"m.{name}": Value(array) for name, (_, array) in weights.items()})


def run(mod, *args):
    return VirtualMachine(build_relax(mod, "llvm"))["main"](*args)


def random(*shape):
    return np.random.RandomState(sum(shape)).randn(*shape).astype("float32")


def test_linear_keeps_or_binds_its_weights():
    x, w, b = random(2, 3), random(4, 3), random(4)
    made = program({"x": x}, {"w": (Kind.PARAMETER, w), "b": (Kind.PARAMETER, b)},
                   [("y", "linear.default", ["x", "w", "b"]), ("z", "relu.default", ["y"])], ["z"])
    expected = np.maximum(x @ w.T + b, 0)
    kept, params = relax.frontend.detach_params(from_exported_program(made, keep_params_as_input=True,
                                                                      unwrap_unit_return_tuple=True))
    assert [param.name_hint for param in kept["main"].params] == ["x", "w", "b"]
    np.testing.assert_allclose(run(kept, x, *params["main"]).numpy(), expected, rtol=1e-5)
    bound = from_exported_program(made)
    assert len(bound["main"].params) == 1
    np.testing.assert_allclose(run(bound, x)[0].numpy(), expected, rtol=1e-5)


def test_batch_norm_uses_the_statistics_of_the_model():
    x, mean, var = random(1, 3, 4, 4), random(3), np.abs(random(3)) + 0.5
    made = program({"x": x}, {"mean": (Kind.BUFFER, mean), "var": (Kind.BUFFER, var)},
                   [("y", "batch_norm.default", ["x", None, None, "mean", "var", False, 0.1, 1e-5, True])], ["y"])
    result = run(from_exported_program(made, keep_params_as_input=True, unwrap_unit_return_tuple=True), x).numpy()
    expected = (x - mean.reshape(1, 3, 1, 1)) / np.sqrt(var.reshape(1, 3, 1, 1) + 1e-5)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


CASES = {
    "add.Tensor": (["x", 2.0], lambda x: x + 2),
    "rsub.Scalar": (["x", 1], lambda x: 1 - x),
    "flatten.using_ints": (["x", 1], lambda x: x.reshape(2, -1)),
    "transpose.int": (["x", 0, 1], lambda x: x.transpose(1, 0, 2)),
    "slice.Tensor": (["x", 1, 1, 3], lambda x: x[:, 1:3]),
    "select.int": (["x", 1, 2], lambda x: x[:, 2]),
    "mean.dim": (["x", [1], True], lambda x: x.mean(1, keepdims=True)),
    "clamp.default": (["x", -0.5], lambda x: np.maximum(x, -0.5)),
    "squeeze.dim": (["x", 1], lambda x: x),
    "unsqueeze.default": (["x", 1], lambda x: x[:, None]),
    "view.default": (["x", [4, -1]], lambda x: x.reshape(4, -1)),
    "masked_fill.Scalar": (["x", "mask", 7.0], lambda x: np.where(x > 0, 7, x)),
    "hardswish.default": (["x"], lambda x: x * np.clip(x + 3, 0, 6) / 6),
}


@pytest.mark.parametrize("name", CASES)
def test_operators(name):
    x = random(2, 4, 3)
    args, expected = CASES[name]
    calls = [("mask", "gt.Scalar", ["x", 0]), ("y", name, args)]
    mod = from_exported_program(program({"x": x}, {}, calls, ["y"]), unwrap_unit_return_tuple=True)
    np.testing.assert_allclose(run(mod, x).numpy(), expected(x), rtol=1e-5, atol=1e-6)


def test_results_and_parts_of_them():
    x = random(4, 6)
    made = program({"x": x}, {}, [("parts", "split.Tensor", ["x", 4, 1]), ("a", "getitem", ["parts", 0]),
                                  ("b", "getitem", ["parts", 1])], ["a", "b"])
    first, second = run(from_exported_program(made), x)
    np.testing.assert_array_equal(first.numpy(), x[:, :4])
    np.testing.assert_array_equal(second.numpy(), x[:, 4:])


def test_unknown_operators_are_named_and_can_be_given():
    x = random(2, 2)
    made = program({"x": x}, {}, [("y", "strange.default", ["x"])], ["y"])
    with pytest.raises(NotImplementedError, match="strange.default of PyTorch"):
        from_exported_program(made)

    def convert(node_, importer):
        return importer.block_builder.emit(relax.op.tanh(importer.retrieve_args(node_)[0]))

    mod = from_exported_program(made, unwrap_unit_return_tuple=True, custom_convert_map={"strange.default": convert})
    np.testing.assert_allclose(run(mod, x).numpy(), np.tanh(x), rtol=1e-5)

"""The cases of onnx_rows.py, as the files of cases add them."""
import dataclasses

import numpy as np


@dataclasses.dataclass
class Case:
    op: str
    opset: int
    inputs: list  # arrays; None for an input that is left out
    expected: list  # arrays; None for an output that is left out
    attributes: dict
    domain: str = ""
    constants: set = dataclasses.field(default_factory=set)  # the inputs that are initializers
    captured: dict = dataclasses.field(default_factory=dict)  # inputs of the model that only graphs in the node use
    in_onnxruntime: bool = True  # it runs there, without a GPU
    nodes: list = dataclasses.field(default_factory=list)  # encoded, with the operator among them; none: it is alone

    @property
    def full_name(self):
        return f"{self.domain}.{self.op}" if self.domain else self.op


class Constant:
    """An input that is an initializer of the model."""

    def __init__(self, array):
        self.array = array


_cases = []


def registered():
    return _cases


def constant(array):
    return Constant(array)


def f32(values):
    return np.asarray(values, "float32")


def i64(values):
    return np.asarray(values, "int64")


def add(op, opset, inputs, expected, /, domain="", captured=None, in_onnxruntime=True, nodes=(), **attributes):
    """The inputs are named x0, x1, ..., and the outputs y0, y1, ...; `nodes` compute these for values that no array has."""
    constants = {i for i, value in enumerate(inputs) if isinstance(value, Constant)}
    arrays = [value.array if isinstance(value, Constant) else value for value in inputs]
    arrays = [None if array is None else np.asarray(array) for array in arrays]
    outputs = [None if array is None else np.asarray(array) for array in expected]
    _cases.append(Case(op, opset, arrays, outputs, attributes, domain, constants, captured or {}, in_onnxruntime, list(nodes)))

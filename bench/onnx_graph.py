"""ONNX models that benchmarks make."""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """The nodes and weights of a model while it is made."""

    def __init__(self, weights=None):
        self.nodes = []
        self.initializers = []
        self.weights = weights  # the file for weights, which is sparse; None: they are in the model
        self.size = 0

    def add(self, kind, inputs, output=None, **attributes):
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=f"node{len(self.nodes)}", **attributes))
        return output

    def constant(self, array):
        self.initializers.append(numpy_helper.from_array(array, f"c{len(self.initializers)}"))
        return self.initializers[-1].name

    def weight(self, shape):
        """A tensor of zeros in the file, of random numbers in the model."""
        if self.weights is None:
            values = np.random.default_rng(len(self.initializers)).standard_normal(shape, dtype=np.float32)
            return self.constant(values * np.float32(0.05))
        tensor = TensorProto(name=f"c{len(self.initializers)}", data_type=TensorProto.FLOAT, dims=shape,
                             data_location=TensorProto.EXTERNAL)
        length = 4 * int(np.prod(shape))
        for key, value in (("location", os.path.basename(self.weights)), ("offset", self.size), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        self.size += length
        self.initializers.append(tensor)
        return tensor.name

    def save(self, path, inputs, outputs, opsets=None):
        values = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "bench", values, results, self.initializers)
        model = helper.make_model(graph, opset_imports=opsets or [helper.make_opsetid("", 17)], ir_version=8)
        with open(path, "wb") as f:
            f.write(model.SerializeToString())
        if self.weights is not None:
            with open(self.weights, "wb") as f:
                f.truncate(self.size)

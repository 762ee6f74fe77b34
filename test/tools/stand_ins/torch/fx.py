"""Traces of the stand-in for PyTorch: graphs of nodes."""
import numpy as np

from . import COMPUTE, Tensor, nn


class Node:
    """A node of a graph."""

    def __init__(self, op, name, target, args, value):
        self.op, self.name, self.target, self.args, self.kwargs = op, name, target, tuple(args), {}
        self.meta = {"val": value}

    def __repr__(self):
        return self.name


class Graph:
    def __init__(self):
        self.nodes = []

    def add(self, op, name, target, args=(), value=None):
        names = {node.name for node in self.nodes}
        number, unique = 0, name
        while unique in names:
            number += 1
            unique = f"{name}_{number}"
        self.nodes.append(Node(op, unique, target, args, value))
        return self.nodes[-1]

    def print_tabular(self):
        for node in self.nodes:
            print(node.op, node.name, node.target, node.args)


class Proxy(Tensor):
    """A value of a trace: its node, and an array of zeros of its shape if that is known."""

    def __init__(self, tracer, node, array=None):
        self.tracer, self.node, self.array = tracer, node, array


class Overload(str):
    """An operator of ATen, by its name."""

    __name__ = property(str)


OVERLOADS = {"add": "add.Tensor", "mul": "mul.Tensor", "flatten": "flatten.using_ints", "softmax": "softmax.int"}


class Tracer:
    """Makes a graph of the calls of a model: of operators of ATen, or of functions and modules of torch."""

    def __init__(self, of_operators):
        self.graph, self.of_operators, self.tensors = Graph(), of_operators, {}

    def placeholder(self, name, value=None):
        node = self.graph.add("placeholder", name, name, value=value)
        return Proxy(self, node, None if value is None else np.zeros(value.shape, value.dtype))

    def node_of(self, arg):
        if isinstance(arg, Proxy):
            return arg.node
        if not isinstance(arg, Tensor):
            return arg
        found = self.tensors[id(arg)]
        if isinstance(found, str):
            found = self.tensors[id(arg)] = self.graph.add("get_attr", found.replace(".", "_"), found)
        return found

    def call(self, name, args):
        import torch

        nodes = [self.node_of(arg) for arg in args]
        if not self.of_operators:
            return Proxy(self, self.graph.add("call_function", name, getattr(torch, name), nodes))
        value = Tensor(np.asarray(COMPUTE[name](*(arg.array if isinstance(arg, Tensor) else arg for arg in args)))
                       .astype("float32"))
        target = Overload(OVERLOADS.get(name, name + ".default"))
        return Proxy(self, self.graph.add("call_function", name, target, nodes, value), value.array)


class GraphModule(nn.Module):
    """A model as a graph: with the fields of the model that was traced."""

    def __init__(self, model, graph):
        self.__dict__.update(model.__dict__)
        self.graph = graph


def symbolic_trace(model):
    """The graph of a model, in which modules of torch are single nodes."""
    tracer = Tracer(of_operators=False)
    tracer.tensors = {id(value): path for path, value in model.named_parameters()}
    known = [(path, module) for path, module in model.named_modules() if type(module).__module__ == nn.__name__]
    code = model.forward.__code__
    for path, module in known:
        def forward(x, path=path):
            return Proxy(tracer, tracer.graph.add("call_module", path.replace(".", "_"), path, [x.node]))

        module.forward = forward
    try:
        result = model(*(tracer.placeholder(name) for name in code.co_varnames[1:code.co_argcount]))
    finally:
        for _, module in known:
            del module.forward
    tracer.graph.add("output", "output", "output", [result.node])
    return GraphModule(model, tracer.graph)

"""Exported programs of the stand-in for PyTorch, with the fields that importers read."""
import enum
import types

from . import fx


class InputKind(enum.Enum):
    USER_INPUT = 1
    PARAMETER = 2
    BUFFER = 3


class ExportedProgram:
    """A graph of operators of ATen, and the weights that are its first inputs."""

    def __init__(self, graph, input_specs, state_dict):
        self.graph, self.state_dict, self.constants = graph, state_dict, {}
        self.graph_signature = types.SimpleNamespace(input_specs=input_specs)
        self.range_constraints = {}

    def run_decompositions(self, *_args, **_kwargs):
        return self


def export(model, args):
    """The program of a model for arguments of these shapes."""
    tracer, specs, state = fx.Tracer(of_operators=True), [], {}
    inputs = [("p", InputKind.PARAMETER, path, value) for path, value in model.named_tensors("parameter")]
    inputs += [("b", InputKind.BUFFER, path, value) for path, value in model.named_tensors("buffer")]
    for letter, kind, path, value in inputs:
        name = f"{letter}_{path.replace('.', '_')}"
        tracer.tensors[id(value)] = tracer.placeholder(name, value).node
        specs.append(types.SimpleNamespace(kind=kind, target=path, arg=types.SimpleNamespace(name=name)))
        state[path] = value
    names = model.forward.__code__.co_varnames[1:]
    proxies = []
    for name, value in zip(names, args):
        proxies.append(tracer.placeholder(name, value))
        specs.append(types.SimpleNamespace(kind=InputKind.USER_INPUT, target=None, arg=types.SimpleNamespace(name=name)))
    result = model(*proxies)
    tracer.graph.add("output", "output", "output", [(result.node,)])
    return ExportedProgram(tracer.graph, specs, state)

"""Replacing parts of a model before it is exported, as quantization does."""
from . import core


class Mutator:
    """Replaces modules, lists of modules, effects and parameters of a model by what its methods return."""

    def visit_module(self, name, node):
        """What takes the place of a module; here itself, with its parts visited. `name` is its path in the model."""
        return self.visit(name, node)

    def visit_effect(self, name, node):
        """What takes the place of an effect."""
        return self.visit(name, node)

    def visit_param(self, name, node):
        """What takes the place of a parameter."""
        return self.visit(name, node)

    def visit_modulelist(self, name, node):
        """What takes the place of a list of modules."""
        return self.visit(name, node)

    def visit_moduledict(self, name, node):
        """What takes the place of a dictionary of modules."""
        return self.visit(name, node)

    def visit(self, name, node):
        """Visits the parts of a module, or of a list of modules, and replaces them in it. Returns it."""
        for key, value in core._children(node):
            path = f"{name}.{key}" if name or isinstance(node, core.ModuleList) else str(key)
            for kind, method in ((core.ModuleList, self.visit_modulelist), (core.ModuleDict, self.visit_moduledict),
                                 (core.Module, self.visit_module), (core.Effect, self.visit_effect),
                                 (core.Parameter, self.visit_param)):
                if isinstance(value, kind):
                    _replace(node, key, method(path, value))
                    break
        return node


def _replace(node, key, value):
    if isinstance(node, (core.ModuleList, core.ParameterList, core._Dict)):
        node[key] = value
    else:
        setattr(node, key, value)

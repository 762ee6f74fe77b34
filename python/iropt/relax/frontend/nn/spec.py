"""What the arguments of exported methods are: integers, tensors with symbolic sizes, objects, tuples."""
import inspect


class Int:
    """An integer, which may be a size."""

    def __repr__(self):
        return "int"


class Tensor:
    """A tensor; sizes are integers, expressions, or texts that name symbolic sizes of the method."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = list(shape), dtype

    def __repr__(self):
        return f"Tensor([{', '.join(str(size) for size in self.shape)}], '{self.dtype}')"


class Object:
    """A value of a class that is derived from nn.Object."""

    def __init__(self, object_type):
        self.object_type = object_type

    def __repr__(self):
        return "object"


class Tuple:
    """A tuple or a list of arguments."""

    def __init__(self, name, elements):
        if not isinstance(elements, (tuple, list)):
            raise TypeError(f"Unsupported container type: {type(elements)}")
        self.name, self.elements = name, elements

    def __repr__(self):
        return repr(self.elements)


def _argument(value, name):
    if value is int or value is Int or value == "int":
        return Int()
    if isinstance(value, (Int, Tensor, Object)):
        return value
    if isinstance(value, Tuple):
        value = value.elements
    if isinstance(value, (tuple, list)):
        return Tuple(name, type(value)([_argument(item, f"{name}_{index}") for index, item in enumerate(value)]))
    raise TypeError(f"Invalid spec for argument {name}: {value}")


class MethodSpec:
    """The arguments of a method, and how its parameters and effects are passed: "plain", "packed" or "none"."""

    def __init__(self, method, arg_names, arg_specs, param_mode, effect_mode):
        for kind, mode in (("param_mode", param_mode), ("effect_mode", effect_mode)):
            if mode not in ("plain", "packed", "none"):
                raise ValueError(f"Invalid {kind}: {mode}")
        self.method, self.arg_names, self.arg_specs = method, arg_names, arg_specs
        self.param_mode, self.effect_mode = param_mode, effect_mode

    def _repr(self, name):
        return f"{name}({', '.join(f'{arg}: {spec}' for arg, spec in zip(self.arg_names, self.arg_specs))})"

    def __repr__(self):
        return self._repr("MethodSpec")

    @staticmethod
    def from_raw(spec, method):
        """Makes one of a dictionary of arguments; the key "$" has {"param_mode": ..., "effect_mode": ...}."""
        if isinstance(spec, MethodSpec):
            return spec
        modes = spec.get("$", {})
        names = list(inspect.signature(method).parameters)
        specs = [_argument(spec[name], name) for name in names if name in spec]
        return MethodSpec(method, names, specs, modes.get("param_mode", "plain"), modes.get("effect_mode", "plain"))

    @staticmethod
    def from_torch(args, method):
        """Makes one of example arguments: tensors of PyTorch (or anything with shape and dtype) and integers."""
        names = list(inspect.signature(method).parameters)
        if len(names) != len(args):
            raise TypeError(f"Expected {len(names)} arguments, but got {len(args)} arguments")
        return MethodSpec(method, names, [_of_example(arg) for arg in args], "plain", "plain")


def _of_example(arg):
    if isinstance(arg, int):
        return Int()
    if hasattr(arg, "shape") and hasattr(arg, "dtype"):
        return Tensor(list(arg.shape), str(arg.dtype).rsplit(".", maxsplit=1)[-1])
    raise TypeError(f"Unsupported argument type: {type(arg)}")


class ModuleSpec:
    """The methods of a module that are exported, by the names of their functions."""

    def __init__(self, module, method_names, method_specs):
        self.module, self.method_names, self.method_specs = module, method_names, method_specs

    @staticmethod
    def from_raw(spec, module):
        """Makes one of a dictionary of methods."""
        if isinstance(spec, ModuleSpec):
            return spec
        specs = [value if isinstance(value, MethodSpec) else MethodSpec.from_raw(value, getattr(module, name))
                 for name, value in spec.items()]
        return ModuleSpec(module, list(spec), specs)

    def __repr__(self):
        return "ModuleSpec:\n" + "\n".join("  " + spec._repr(name)
                                           for name, spec in zip(self.method_names, self.method_specs))

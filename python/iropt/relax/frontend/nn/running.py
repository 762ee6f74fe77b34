"""Methods of modules as functions: what `Module.jit` returns."""
from .... import runtime
from ....executable import VirtualMachine
from ....executable import build_relax as build
from . import spec as _spec


class RunningModule:
    """The methods of an exported module by their names, as functions of tensors; its effects are kept from call to call."""

    def __init__(self, module, spec, debug, out_format):
        from .exporter import Exporter

        self.spec = _spec.ModuleSpec.from_raw(spec, module)
        self.mod, params, _ = Exporter(debug).build(self.spec)
        missing = [name for name, param in params if param.data is None]
        if missing:
            raise ValueError(f"Parameters are not set to any concrete values: {', '.join(missing)}")
        self.params = [param.data for _, param in params]
        self.vm = VirtualMachine(build(self.mod, target="llvm"), runtime.cpu())
        self.effects = None
        self._to_torch = out_format == "torch"
        if any(name.name_hint == "_initialize_effect" for name in self.mod.get_global_vars()):
            self.effects = self.vm["_initialize_effect"]()

    def __getitem__(self, name):
        """The function of a method."""
        if name not in self.spec.method_names:
            raise ValueError(f"Method `{name}` is not found in the module spec. {self.spec}")
        method = self.spec.method_specs[self.spec.method_names.index(name)]
        running = self.vm[name]

        def call(*args):
            if len(args) != len(method.arg_specs):
                raise TypeError(f"Argument length mismatch. Expected {len(method.arg_specs)} arguments, but got {len(args)}")
            args = [_to_runtime(arg, spec) for arg, spec in zip(args, method.arg_specs)]
            if self.effects is None:
                result = running(*args, *self.params)
            else:
                result, self.effects = running(*args, *self.effects, *self.params)
            return _to_torch(result) if self._to_torch else result

        call.__name__ = name
        return call


def _to_runtime(arg, spec):
    if isinstance(spec, _spec.Tuple):
        return tuple(_to_runtime(item, element) for item, element in zip(arg, spec.elements))
    if isinstance(spec, _spec.Int):
        return (arg,)
    return arg


def _to_torch(value):
    import torch  # type: ignore[import]

    if isinstance(value, (tuple, list)):
        return [_to_torch(item) for item in value]
    return torch.from_numpy(value.numpy().copy()) if isinstance(value, runtime.NDArray) else value

"""Makes modules of Relax of models that are written in Python."""
import contextlib
import gc
import threading

from ... import ObjectStructInfo, ShapeStructInfo, TensorStructInfo, Tuple, TupleGetItem, TupleStructInfo, Var
from ...block_builder import BlockBuilder
from .... import tir
from ...._core import native
from ....ir import Error
from . import core
from . import spec as _spec
from .modules import IOEffect


def add_extern(mod):
    """Adds an external module to the model that is exported now."""
    try:
        exporter = Exporter.current()
    except RuntimeError as error:
        raise RuntimeError("`nn.add_extern` should only be invoked when exporting a module.") from error
    exporter.add_external_module(mod)


class Exporter:
    """Exports the methods of one module.

    debug: whether printing is possible in the model.
    """

    _state = threading.local()

    def __init__(self, debug):
        self.builder = BlockBuilder()
        self.io_effect = IOEffect() if debug else None
        self.extern_mods = []

    @staticmethod
    def current():
        """The exporter that is at work; without one, RuntimeError."""
        exporter = getattr(Exporter._state, "current", None)
        if exporter is None:
            raise RuntimeError("no module is exported now")
        return exporter

    def __enter__(self):
        if getattr(Exporter._state, "current", None) is not None:
            raise RuntimeError("a module is exported already")
        Exporter._state.current = self
        return self

    def __exit__(self, *_):
        Exporter._state.current = None

    def add_external_module(self, mod):
        """Adds an external module; two with the same symbol are a ValueError."""
        known = {symbol for other in self.extern_mods for symbol in other._symbols}
        twice = sorted(known.intersection(mod._symbols))
        if twice:
            raise ValueError(f"Duplicate symbols: {twice}")
        self.extern_mods.append(mod)

    def build(self, spec):
        """Returns the module, the names and parameters of the model, and its external modules."""
        effects = [] if self.io_effect is None else [("", self.io_effect)]
        effects += core._Attributes(spec.module, "", core.Effect).find()
        params = core._Attributes(spec.module, "", core.Parameter)
        with self, _no_collection():
            if effects:
                self._initialize(effects)
            for name, method in zip(spec.method_names, spec.method_specs):
                # A method may have changed the parameters of the model.
                self._method(name, method, params.find(), effects)
        mod = self.builder.finalize()
        errors = mod._module.verify()
        if errors:
            raise Error(f"the module that was exported is not well-formed\n{errors}")
        return mod, params.find(), self.extern_mods

    def _initialize(self, effects):
        with self.builder.function("_initialize_effect"):
            with self.builder.dataflow():
                states = [state for name, effect in effects for state in effect.emit_init(name, self.builder)]
                outputs = self.builder.emit_output(self.builder.emit(Tuple(states)))
            self.builder.emit_func_output(outputs, params=[])

    def _method(self, name, method, params, effects):
        states = {"packed": 1, "none": 0, "plain": len(effects)}[method.effect_mode]
        with self.builder.function(name, attrs={"num_input": len(method.arg_specs) + states}):
            with self.builder.dataflow():
                outputs, inputs = _Method(self.builder, method, params, effects).emit()
            self.builder.emit_func_output(outputs, inputs)


@contextlib.contextmanager
def _no_collection():
    """Pauses the garbage collector: nearly all that an export makes lives until its end, and is looked through for nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Method:
    """The parameters of one function, and its body."""

    def __init__(self, builder, spec, params, effects):
        self.builder, self.spec, self.params, self.effects = builder, spec, params, effects
        self.sizes_of_args, self.sizes_of_params = {}, {}

    def emit(self):
        """Runs the method; returns the variable of its result and the parameters of the function."""
        args = [self._argument(spec, name) for name, spec in zip(self.spec.arg_names, self.spec.arg_specs)]
        variables = [self._variable(arg) for arg in args]
        inputs = variables + self._effect_inputs() + self._param_inputs()
        args = [self._fields(arg, var) if isinstance(arg, _spec.Tuple) else arg for arg, var in zip(args, variables)]
        result = _result(self.spec.method(*args))
        states = [state for _, effect in self.effects for state in effect.finalize()]
        if states and self.spec.effect_mode != "none":
            result = Tuple([result, Tuple(states)])
        return self.builder.emit_output(result), inputs

    # ---- Arguments
    def _size(self, sizes, name):
        if name not in sizes:
            sizes[name] = tir.Var(name, "int64")
        return sizes[name]

    def _argument(self, spec, name):
        if isinstance(spec, _spec.Int):
            return self._size(self.sizes_of_args, name)
        if isinstance(spec, _spec.Tensor):
            shape = [self._size(self.sizes_of_args, size) if isinstance(size, str) else size for size in spec.shape]
            return core.Tensor.placeholder(shape, spec.dtype, name)
        if isinstance(spec, _spec.Object):
            return spec.object_type(_expr=Var(name, ObjectStructInfo()), _name=name)
        if isinstance(spec, _spec.Tuple):
            items = [self._argument(item, f"{name}_{index}") for index, item in enumerate(spec.elements)]
            return _spec.Tuple(name, type(spec.elements)(items))
        raise TypeError(f"Invalid spec for argument {name}: {spec}")

    def _variable(self, arg):
        if isinstance(arg, tir.Var):
            return Var(arg.name, ShapeStructInfo([arg]))
        if isinstance(arg, _spec.Tuple):
            return Var(arg.name, TupleStructInfo([self._variable(item).struct_info for item in arg.elements]))
        return arg._expr

    def _fields(self, arg, var):
        if isinstance(arg, _spec.Tuple):
            return type(arg.elements)([
                self._fields(item, self.builder.emit(TupleGetItem(var, index), f"{arg.name}_{index}"))
                for index, item in enumerate(arg.elements)])
        if isinstance(arg, core.Tensor):
            return core.Tensor(_expr=var)
        if isinstance(arg, core.Object):
            return type(arg)(_expr=var, _name=var.name_hint)
        return arg

    # ---- Parameters and effects
    def _param_type(self, param):
        """The type of a parameter, with symbolic sizes of this function."""
        fixed = native.fixed_tensor_type(param._expr)
        if fixed is not None:
            return fixed
        return TensorStructInfo([self._size(self.sizes_of_params, size.name) if isinstance(size, tir.Var) else size
                                 for size in param.shape], param.dtype)

    def _param_inputs(self):
        types = [self._param_type(param) for _, param in self.params]
        names = [name for name, _ in self.params]
        if self.spec.param_mode == "packed":
            packed = Var("packed_params", TupleStructInfo(types))
            inputs, variables = [packed], self.builder.emit_fields(packed, names)
        else:
            variables = [Var(name, info) for name, info in zip(names, types)]
            inputs = variables if self.spec.param_mode == "plain" else []
        for (_, param), variable in zip(self.params, variables):
            param._expr = variable
        return inputs

    def _effect_inputs(self):
        states = [(effect, effect.create(name)) for name, effect in self.effects]
        for effect, variables in states:
            effect.set_state(variables)
        flat = [var for _, variables in states for var in variables]
        if self.spec.effect_mode != "packed":
            return flat if self.spec.effect_mode == "plain" else []
        packed = Var("packed_effects", TupleStructInfo([var.struct_info for var in flat]))
        fields = iter([self.builder.emit(TupleGetItem(packed, index), var.name_hint) for index, var in enumerate(flat)])
        for effect, variables in states:
            effect.set_state([next(fields) for _ in variables])
        return [packed]


def _result(value):
    if isinstance(value, (core.Tensor, core.Object)):
        return value._expr
    if isinstance(value, (tuple, list)):
        return Tuple([_result(item) for item in value])
    raise TypeError(f"Unsupported return type: {type(value)}")

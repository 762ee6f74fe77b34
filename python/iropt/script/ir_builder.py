"""Building of functions call by call, with the names of scripts: `with IRBuilder() as ib: with R.function(): ...`."""
import threading

from .._core import native
from ..relax import BlockBuilder, DataflowVar, Function, PyExprMutator, SeqExpr, Var

_state = threading.local()


class IRBuilder:
    """The scope in which functions are built; `get` gives what was built."""

    def __init__(self):
        self.frames, self.result, self.names = [], None, {}

    def __enter__(self):
        _stack().append(self)
        return self

    def __exit__(self, kind, value, trace):
        _stack().pop()

    def get(self):
        if self.result is None:
            raise ValueError("nothing was built in the scope of the IRBuilder")
        return self.result

    @staticmethod
    def current():
        """The innermost scope."""
        if not IRBuilder.is_in_scope():
            raise ValueError("no scope of an IRBuilder is open")
        return _stack()[-1]

    @staticmethod
    def is_in_scope():
        return bool(_stack())

    @staticmethod
    def name(name, value):
        """Names a variable."""
        IRBuilder.current().names[value] = name
        return value

    @staticmethod
    def name_many(names, values):
        """Names variables."""
        return [IRBuilder.name(name, value) for name, value in zip(names, values, strict=True)]


def _stack():
    if not hasattr(_state, "stack"):
        _state.stack = []
    return _state.stack


class FunctionFrame:
    """A function that is built."""

    def __init__(self, is_pure=True, is_private=False):
        self.is_pure, self.is_private = is_pure, is_private
        self.name, self.attrs, self.params, self.blocks = None, {}, [], []
        self.ret_struct_info = self.result = None
        self.outputs = {}  # of dataflow blocks: variables by those that were bound
        self.builder = BlockBuilder()._builder

    def __enter__(self):
        owner = IRBuilder.current()
        owner.frames.append(self)
        self.builder.begin_block(False)
        return self

    def __exit__(self, kind, value, trace):
        owner = IRBuilder.current()
        owner.frames.pop()
        if kind is not None:
            return
        if self.result is None:
            raise ValueError("a function needs R.func_ret_value(...)")
        body = self.builder.normalize(self.result)
        self.end_block()
        if self.name is not None and not self.is_private:
            self.attrs = {"global_symbol": self.name, **self.attrs}
        func = Function(self.params, SeqExpr(self.blocks, body), self.ret_struct_info, self.is_pure, self.attrs)
        variables = {old: Var(owner.names.get(new, owner.names.get(old, new.name_hint)), new.struct_info)
                     for old, new in self.outputs.items()}
        variables |= {new: variables[old] for old, new in self.outputs.items()}
        variables |= {var: type(var)(name, var.struct_info) for var, name in owner.names.items() if var not in variables}
        owner.result = _Renaming(variables).visit_expr(func)

    def end_block(self):
        block = self.builder.end_block()
        if block.bindings:
            self.blocks.append(block)


class DataflowFrame:
    """A dataflow block that is built; `output_vars` are its variables that are visible after it."""

    def __init__(self):
        self.output_vars, self.function = [], None

    def __enter__(self):
        self.function = frame(FunctionFrame)
        IRBuilder.current().frames.append(self)
        self.function.end_block()
        self.function.builder.begin_block(True)
        return self

    def __exit__(self, kind, value, trace):
        IRBuilder.current().frames.pop()
        self.function.end_block()
        self.function.builder.begin_block(False)


class _Renaming(PyExprMutator):
    """Replaces variables where they are bound and used."""

    def __init__(self, variables):
        super().__init__()
        self.variables = variables

    def visit_var_def_(self, var):
        new = self.variables.get(var, var)
        self.set_var_remap(var.vid, new)
        return new

    visit_dataflow_var_def_ = visit_var_def_

    def visit_var_(self, op):
        return self.variables.get(op, op)

    visit_dataflow_var_ = visit_var_


def frame(kind):
    """The innermost frame of a kind."""
    found = next((item for item in reversed(IRBuilder.current().frames) if isinstance(item, kind)), None)
    if found is None:
        raise ValueError(f"no scope of R.{'function' if kind is FunctionFrame else 'dataflow'}() is open")
    return found


# ---- What the names of scripts do in the scope of a builder


def func_name(name):
    frame(FunctionFrame).name = name


def func_attr(attrs, is_private=False):
    frame(FunctionFrame).attrs.update(attrs)
    frame(FunctionFrame).is_private |= is_private


def func_ret_struct_info(ret_struct_info):
    frame(FunctionFrame).ret_struct_info = ret_struct_info


def func_ret_value(value):
    from ..relax.block_builder import _expression

    frame(FunctionFrame).result = _expression(value)


def arg(name, struct_info):
    """A parameter of the function."""
    var = Var(name, struct_info)
    frame(FunctionFrame).params.append(var)
    return var


def emit(value, annotate_struct_info=None):
    """Binds a new variable to a value."""
    builder = frame(FunctionFrame).builder
    if annotate_struct_info is not None:
        return builder.emit_match_cast(value, annotate_struct_info, "")
    return native.emit(builder, value, "", False)


def emit_match_cast(value, struct_info):
    return frame(FunctionFrame).builder.emit_match_cast(value, struct_info, "")


def emit_var_binding(value):
    frame(FunctionFrame).builder.emit_normalized(value)
    return value.var


def dataflow():
    return DataflowFrame()


def output(*variables):
    """Makes variables of the dataflow block visible after it."""
    block = frame(DataflowFrame)
    for var in variables:
        new = Var(var.name_hint, var.struct_info) if isinstance(var, DataflowVar) else var
        block.function.outputs[var] = new
        block.output_vars.append(new)


STATEMENTS = {function.__name__: function for function in (
    func_name, func_attr, func_ret_struct_info, func_ret_value, arg, emit, emit_match_cast, emit_var_binding, dataflow, output)}

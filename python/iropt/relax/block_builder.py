"""Building of Relax functions binding by binding."""
import threading

from .. import _newer, ir
from .._core import Node, native


class _State(threading.local):
    """The builders whose functions are being built, in each thread."""

    def __init__(self):
        self.builders = []


_state = _State()


def current_builder():
    """What builds the function that is built now."""
    builders = _state.builders
    if not builders:
        raise RuntimeError("no function is built now: expected the scope of a function of a BlockBuilder")
    return builders[-1]._builder


class _Scope:
    def __init__(self, enter, leave):
        self._enter, self._leave = enter, leave

    def __enter__(self):
        self._enter()

    def __exit__(self, kind, value, trace):
        self._leave(kind)


class _Function:
    def __init__(self, name, params, attrs, is_pure):
        self.name, self.attrs, self.is_pure = name, attrs, is_pure
        self.params = params  # None until they are given
        self.blocks = []
        self.variable = None  # of the module, when the function has its result


class BlockBuilder:
    """Builds functions: `with bb.function("main", [x]): with bb.dataflow(): lv = bb.emit(relax.op.add(x, x))`."""

    def __init__(self, mod=None):
        self._builder = native.Builder(None if mod is None else mod._module)
        self._functions = []
        self._by_hash = {}  # names of functions by their hashes
        self._without_hash = set() if mod is None else {name.name for name in mod.functions}  # names of others

    @staticmethod
    def current():
        stack = _state.builders
        return stack[-1] if stack else None

    # ---- Scopes
    def function(self, name, params=None, attrs=None, pure=True, private=False):
        """The scope of a function."""
        attrs = dict(attrs or {})
        if not private and "global_symbol" not in attrs:
            attrs["global_symbol"] = name
        if params is not None:
            params = list(params) if isinstance(params, (list, tuple)) else [params]
        # Others call a function by its name only; one that is private gets a name that is free.
        name = self._builder.unique_function_name(name) if private else name
        return _Scope(lambda: self._begin_function(_Function(name, params, attrs, pure)), self._end_function)

    def testing_scope(self, def_vars):
        del def_vars
        return _Scope(lambda: self._builder.begin_block(False), lambda kind: self._builder.end_block())

    def dataflow(self):
        """The scope of a dataflow block."""

        def enter():
            self._close_block()
            self._builder.begin_block(True)

        def leave(kind):
            if kind is not None and self._functions:
                return  # The scope of the function ends all blocks.
            block = self._builder.end_block()
            if self._functions:
                self._functions[-1].blocks.append(block)
            self._builder.begin_block(False)

        return _Scope(enter, leave)

    def begin_scope(self, params=None):
        """Begins a scope of names. Builders here know all variables that they see, so it changes nothing."""

    def end_scope(self):
        """Ends a scope that begin_scope began."""

    def current_block_is_dataflow(self):
        """Returns whether the block that is being built is a dataflow block."""
        return self._builder.in_dataflow()

    def _begin_dataflow_block(self):
        self._builder.begin_block(True)

    def _begin_binding_block(self):
        self._builder.begin_block(False)

    def _end_block(self):
        return self._builder.end_block()

    def _begin_function(self, function):
        self._functions.append(function)
        _state.builders.append(self)
        self._builder.begin_block(False)

    def _close_block(self):
        if self._builder.in_block():
            block = self._builder.end_block()
            if self._functions and len(block.bindings):
                self._functions[-1].blocks.append(block)

    def _end_function(self, kind):
        function = self._functions.pop()
        _state.builders.pop()
        if kind is not None:
            while self._builder.in_block():
                self._builder.end_block()
            return
        if function.variable is None:
            raise RuntimeError("emit_func_output must be called in the scope of a function")

    # ---- Bindings
    def emit(self, expr, name_hint=""):
        """Binds a new variable to the expression and returns it."""
        return native.emit(self._builder, expr, name_hint, False)

    def emit_fields(self, value, names):
        """Binds variables to the first fields of a tuple and returns them."""
        return native.emit_fields(self._builder, value, names)

    def emit_output(self, output, name_hint=""):
        """Binds a new variable that is visible after the dataflow block to the expression and returns it."""
        if isinstance(output, (list, tuple)):
            return [self.emit_output(item) for item in output]
        return native.emit(self._builder, output, name_hint, True)

    @_newer.keywords
    def match_cast(self, value, struct_info, name_hint=""):
        return self._builder.emit_match_cast(value, struct_info, name_hint)

    def emit_normalized(self, binding):
        self._builder.emit_normalized(binding)

    def call_te(self, func, *args, primfunc_name_hint=None, te_grad_name=None, te_grad_kwargs=None, **kwargs):
        """A call of a new PrimFunc that computes what a function on tensors does.

        Args:
            func: the function, of tensors of te, which gives one or several of them.
            args, kwargs: its arguments, with expressions of Relax in place of tensors. `primfunc_attrs` has attributes
                of the PrimFunc.
            primfunc_name_hint: the name of the PrimFunc; that of the function if it is not given.
            te_grad_name, te_grad_kwargs: the function that computes the gradient, which call_tir_with_grad names.

        Returns: the call.
        """
        from . import op
        from .te_call import gen_call_tir_inputs

        prim_func, call_args, types, tir_vars = gen_call_tir_inputs(func, *args, **kwargs)
        name = self.add_func(prim_func, primfunc_name_hint or func.__name__)
        types = types[0] if len(types) == 1 else types
        if te_grad_name is not None:
            return op.call_tir_with_grad(name, _tuple(call_args), out_sinfo=types, te_grad_name=te_grad_name,
                                         te_grad_kwargs=te_grad_kwargs)
        return op.call_tir(name, call_args, types, tir_vars)

    def call_te_with_grad(self, func, *args, te_grad_name, te_grad_kwargs=None, **kwargs):
        """A call as call_te makes it, with the name of the function that computes the gradient."""
        return self.call_te(func, *args, te_grad_name=te_grad_name, te_grad_kwargs=te_grad_kwargs, **kwargs)

    def emit_te_with_grad(self, func, *args, te_grad_name, te_grad_kwargs=None, **kwargs):
        """Binds a new variable to the call that call_te_with_grad makes and returns it."""
        return self.emit_te(func, *args, te_grad_name=te_grad_name, te_grad_kwargs=te_grad_kwargs, **kwargs)

    def emit_te(self, func, *args, **kwargs):
        """Binds a new variable to the call that call_te makes and returns it."""
        name_hint = kwargs.pop("name_hint", "")
        return self.emit(self.call_te(func, *args, **kwargs), name_hint)

    def emit_func_output(self, output, params=None):
        """Ends the function with its result; returns its name in the module."""
        function = self._functions[-1]
        if function.variable is not None:
            raise RuntimeError(f"the function '{function.name}' has its result already")
        if params is not None:
            if function.params is not None:
                raise RuntimeError(f"the function '{function.name}' has its parameters already")
            function.params = list(params) if isinstance(params, (list, tuple)) else [params]
        if function.params is None:
            raise RuntimeError(f"the function '{function.name}' has no parameters: expected a list, which may be empty")
        output = self._builder.normalize(_expression(output))
        self._close_block()
        body = self._builder.seq(function.blocks, output)
        func = self._builder.make_function(function.params, body, function.attrs, function.is_pure)
        function.variable = self.update_func(function.name, func)
        return function.variable

    # ---- Expressions
    def normalize(self, expr):
        """The expression in A-normal form with types."""
        own = not self._builder.in_block() and not isinstance(expr, ir.BaseFunc)
        if own:
            self._builder.begin_block(False)
        try:
            return self._builder.normalize(expr)
        finally:
            if own:
                self._builder.end_block()

    def lookup_binding(self, var):
        return self._builder.lookup_binding(var)

    def get_unique_name(self, name_prefix):
        return self._builder.unique_name(name_prefix)

    # ---- The module
    def add_func(self, func, func_name):
        """The name of an equal function that the module has; else adds it under the name, or the name and a number."""
        # Functions of the other kind need no hashes.
        module = self.get()._module
        for name in sorted(self._without_hash):
            other = module.find(name)
            if type(other) is type(func):
                self._by_hash.setdefault(native.structural_hash(other, False), []).append(name)
                self._without_hash.remove(name)
        for name in self._by_hash.get(native.structural_hash(func, False), ()):
            # The function may have been replaced since.
            other = module.find(name)
            if native.structural_equal(other, func, False):
                return ir.GlobalVar(name).of(other)
        return self.update_func(self._builder.unique_function_name(func_name), func)

    def update_func(self, gvar, updated_func):
        """Replaces a function of the module, or adds it; returns its name."""
        gvar = ir.GlobalVar(gvar) if isinstance(gvar, str) else gvar
        self._builder.set(gvar.name, updated_func)
        self._without_hash.add(gvar.name)
        return gvar.of(updated_func)

    def get(self):
        """The module so far."""
        return ir.IRModule(_module=self._builder.get())

    finalize = get


def _expression(value):
    return value if isinstance(value, Node) else native.to_expr(tuple(value) if isinstance(value, list) else value)


def _tuple(values):
    from . import Tuple

    return Tuple(list(values))

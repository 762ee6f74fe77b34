"""PrimFuncs and maps of indices."""
from .._core import make, native, node
from ..ir import base as ir
from .buffer import Buffer
from .expr import PrimExpr, Var


@node("PrimFunc")
class PrimFunc(ir.BaseFunc):
    """A function of loops."""

    __slots__ = ()

    def __new__(cls, params, body, ret_type=None, buffer_map=None, attrs=None, span=None):
        del span, ret_type
        vars_, buffers = [], []
        buffer_map = {native.node_id(getattr(var, "_node_", lambda var=var: var)()): buffer for var, buffer in dict(buffer_map or {}).items()}
        for param in params:
            param = param._node_() if hasattr(param, "_node_") else param
            if isinstance(param, Buffer):
                var = make("PrimVar", name=param.name, dtype="handle")
                vars_.append(var)
                buffers.append(param)
            else:
                vars_.append(param)
                buffers.append(buffer_map.get(native.node_id(param)))
        return make("PrimFunc", params=vars_, param_buffers=buffers, body=body,
                    attrs=dict(attrs.items()) if attrs else None)

    @property
    def buffer_map(self):
        return {var: buffer for var, buffer in zip(self.params, self.param_buffers) if buffer is not None}

    def with_body(self, body, span=None):
        del span
        return native.copy_with(self, {"body": body})

    struct_info = property(lambda self: self.type)


@node("IndexMapAttr")
class IndexMap(ir.AttrBase):
    """A map of indices."""

    __slots__ = ()

    def __new__(cls, initial_indices, final_indices, inverse_index_map=None):
        return make("IndexMapAttr", params=list(initial_indices), results=list(final_indices), inverse=inverse_index_map)

    @staticmethod
    def from_func(mapping, ndim=None, inverse_index_map=None, *, index_dtype="int64"):
        import inspect

        parameters = inspect.signature(mapping).parameters.values()
        names = [p.name for p in parameters if p.kind != inspect.Parameter.VAR_POSITIONAL]
        if ndim is not None and len(names) < ndim:
            names += [f"i{i}" for i in range(len(names), ndim)]
        params = [Var(name, index_dtype) for name in names]
        results = mapping(*params)
        if not isinstance(results, (list, tuple)):
            results = [results]
        return IndexMap(params, [r for r in results if isinstance(r, (int, PrimExpr))], inverse_index_map)

    AXIS_SEPARATOR = "axis_separator"

    @staticmethod
    def from_func_with_separators(mapping, ndim=None, inverse_index_map=None, *, index_dtype="int64"):
        """The map, and the positions of AXIS_SEPARATOR among its results."""
        import functools

        separators = []

        @functools.wraps(mapping)
        def without(*indices):
            results = []
            for item in mapping(*indices):
                if item is IndexMap.AXIS_SEPARATOR:
                    separators.append(len(results))
                else:
                    results.append(item)
            return results

        made = IndexMap.from_func(without, ndim, inverse_index_map, index_dtype=index_dtype)
        return made, separators

    initial_indices = property(lambda self: self.params)
    final_indices = property(lambda self: self.results)

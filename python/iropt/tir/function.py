"""PrimFuncs and maps of indices."""
from .._core import Error, make, native, node
from ..ir import base as ir
from .buffer import Buffer, Range
from .expr import IntImm, PrimExpr, Var, const, convert


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

    @property
    def __name__(self):
        symbol = self.attrs.get("global_symbol")
        if symbol is None:
            raise AttributeError("the function has no name: it has no global_symbol")
        return str(symbol)

    def with_body(self, body, span=None):
        del span
        return native.copy_with(self, {"body": body})

    def specialize(self, param_map):
        """The function for given values of its parameters: numbers, expressions, or buffers of other shapes."""
        from .specialize import specialize

        return specialize(self, dict(param_map))

    struct_info = property(lambda self: self.type)


def _step(scale):
    """The distance of the values that an index has at a scale, which is 0 for one value and may be negative."""
    return const(max(abs(scale.value), 1), scale.dtype) if isinstance(scale, IntImm) else scale


@node("IndexMapAttr")
class IndexMap(ir.AttrBase):
    """A map of indices."""

    __slots__ = ()

    def __new__(cls, initial_indices, final_indices, inverse_index_map=None):
        return make("IndexMapAttr", params=list(initial_indices), results=list(final_indices), inverse=inverse_index_map)

    @staticmethod
    def from_func(mapping, ndim=None, inverse_index_map=None, *, index_dtype="int64"):
        import inspect

        # def mapping(first, *others, last): `others` are as many as the others leave.
        parameters = inspect.signature(mapping).parameters.values()
        first = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        last = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY and p.default is p.empty]
        others = [f"i{i}" for i in range(len(first), 0 if ndim is None else ndim - len(last))]
        params = [Var(name, index_dtype) for name in first + others + last]
        count = len(first) + len(others)
        results = mapping(*params[:count], **dict(zip(last, params[count:])))
        if not isinstance(results, (list, tuple)):
            results = [results]
        return IndexMap(params, [r for r in results if isinstance(r, (int, PrimExpr))], inverse_index_map)

    def script(self, **_):
        """The map as scripts have it."""
        names = ", ".join(param.name for param in self.params)
        results = ", ".join(str(result) for result in self.results)
        return f"T.index_map(lambda {names}: ({results}{',' if len(self.results) == 1 else ''}))"

    __str__ = __repr__ = script

    AXIS_SEPARATOR = "axis_separator"

    @staticmethod
    def from_func_with_separators(mapping, ndim=None, inverse_index_map=None, *, index_dtype="int64"):
        """The map, and the positions of AXIS_SEPARATOR among its results."""
        import functools

        separators = []

        @functools.wraps(mapping)
        def without(*indices, **named):
            results, mapped = [], mapping(*indices, **named)
            for item in mapped if isinstance(mapped, (list, tuple)) else [mapped]:
                if item is IndexMap.AXIS_SEPARATOR:
                    separators.append(len(results))
                else:
                    results.append(item)
            return results

        made = IndexMap.from_func(without, ndim, inverse_index_map, index_dtype=index_dtype)
        return made, separators

    initial_indices = property(lambda self: self.params)
    final_indices = property(lambda self: self.results)

    def map_indices(self, indices, analyzer=None):
        """The results of the map for indices, simplified."""
        from ..arith import Analyzer
        from .stmt_functor import substitute

        indices = [convert(index) for index in indices]
        if len(indices) != len(self.params):
            raise ValueError(f"the map has {len(self.params)} indices, not {len(indices)}")
        values = dict(zip(self.params, indices))
        simplify = (analyzer or Analyzer()).simplify
        return ir.Array(simplify(substitute(result, values)) for result in self.results)

    def map_shape(self, shape, analyzer=None):
        """The shape of the results for indices in a shape."""
        from ..arith import Analyzer, IntervalSet

        analyzer = analyzer or Analyzer()
        ranges = [(param, Range(const(0, param.dtype), convert(dim).astype(param.dtype)))
                  for param, dim in zip(self.params, shape)]
        maps = native.detect_iter_map(list(self.results), ranges, None, 0, False)  # at the level NoCheck
        if maps is not None:
            is_wide = any(getattr(dim, "dtype", "") == "int64" for dim in shape)
            return ir.Array(analyzer.simplify(extent * _step(scale)).astype("int64" if is_wide else result.dtype)
                            for result, (_, extent, scale, _) in zip(self.results, maps[0]))
        domains = {param: IntervalSet(0, convert(dim) - 1) for param, dim in zip(self.params, shape)}
        for param, dim in zip(self.params, shape):
            analyzer.bind(param, Range(0, dim))
        return ir.Array(analyzer.simplify(analyzer.int_set(result, domains).max_value + 1) for result in self.results)

    def is_equivalent_to(self, other_map, analyzer=None):
        """Returns whether another map has the same results for all indices."""
        from ..arith import Analyzer

        if len(self.params) != len(other_map.params) or len(self.results) != len(other_map.results):
            return False
        analyzer = analyzer or Analyzer()
        return all(analyzer.can_prove_equal(mine, other)
                   for mine, other in zip(self.results, other_map.map_indices(list(self.params))))

    def inverse(self, shape, analyzer=None):
        """The map from its results back to the indices in a shape. Each result must stand for one index."""
        from ..arith import Analyzer

        dims = [dim.extent if isinstance(dim, Range) else convert(dim) for dim in shape]
        found = native.inverse_index_map(self, dims)
        if found is None:
            raise Error("the index map has no inverse for this shape")
        analyzer = analyzer or Analyzer()
        if not all(analyzer.can_prove_equal(back, dim) for back, dim in zip(found.map_shape(self.map_shape(dims)), dims)):
            raise Error("the index map has no inverse for this shape: some of its results stand for no index")
        return found

    def non_surjective_inverse(self, shape, analyzer=None):
        """The map back to the indices in a shape, and which results stand for none: a condition on its indices."""
        from ..arith import Analyzer
        from .stmt_functor import substitute

        del analyzer
        dims = [dim if isinstance(dim, Range) else Range(0, dim) for dim in shape]
        stated = native.stated_inverse(self)
        if stated is not None:
            return stated, const(False, "bool")
        outputs = [Var(f"axis{i}", result.dtype) for i, result in enumerate(self.results)]
        found = native.padded_inverse_iter_map(list(self.results), list(zip(self.params, dims)), outputs)
        if found is None:
            raise ValueError("the index map has no inverse for this shape")
        values, predicate = dict(found[0]), found[1]
        # A parameter of one value has no digits.
        results = [values.get(param, dim.min) for param, dim in zip(self.params, dims)]
        inverse = IndexMap(outputs, results)
        if predicate is None:
            return inverse, const(False, "bool")
        analyzer = Analyzer()
        for param, dim in zip(inverse.params, self.map_shape([dim.extent for dim in dims])):
            analyzer.bind(param, Range(const(0, param.dtype), dim.astype(param.dtype)))
        predicate = substitute(predicate, dict(zip(self.params, inverse.results)))
        return inverse, analyzer.simplify(predicate)

    def map_ndarray(self, arr_src):
        """A tensor, or an array, with its elements moved to where the map puts them."""
        import numpy

        source = arr_src.numpy() if hasattr(arr_src, "numpy") else numpy.asarray(arr_src)
        result = numpy.zeros([int(dim) for dim in self.map_shape(list(source.shape))], source.dtype)
        for place in numpy.ndindex(*source.shape):
            result[tuple(int(index) for index in self.map_indices(list(place)))] = source[place]
        return native.NDArray(result) if isinstance(arr_src, native.NDArray) else result

    map_tensor = map_ndarray

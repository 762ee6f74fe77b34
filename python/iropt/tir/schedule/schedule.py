"""The class of schedules. Its methods for primitives are made from the table."""
import ast
import inspect
import operator

from ... import ir
from ..._core import Error, native, require
from ..buffer import Buffer
from ..expr import FloatImm, IntImm, PrimExpr, Var
from ..function import IndexMap, PrimFunc
from . import intrinsics
from .state import ScheduleState, StmtSRef
from .trace import Trace


class ScheduleError(Error):
    """A primitive whose conditions do not hold. The schedule stays as it was."""


class _Name:
    """A result of a primitive, by its name in the trace; without one it is named when it becomes part of a trace."""

    __slots__ = ("_name_",)

    def __init__(self, name=None):
        self._name_ = name

    def same_as(self, other):
        return self is other

    def __repr__(self):
        return f"{type(self).__name__}({self._name_})"


class BlockRV(_Name):
    """A block."""

    __slots__ = ()


class LoopRV(_Name):
    """A loop."""

    __slots__ = ()


class ExprRV(_Name):
    """A number that sampling has chosen. Arithmetic is with the number; its result is not a part of the trace."""

    __slots__ = ("_value",)

    def __init__(self, name=None, value=None):
        super().__init__(name)
        self._value = value


def _arithmetic(name):
    function = getattr(operator, name)

    def forward(self, other):
        return function(self._value, getattr(other, "_value", other))

    def reflected(self, other):
        return function(other, self._value)

    return forward, reflected


for _op in ("add", "sub", "mul", "floordiv", "mod"):
    _forward, _reflected = _arithmetic(_op)
    setattr(ExprRV, f"__{_op}__", _forward)
    setattr(ExprRV, f"__r{_op}__", _reflected)


# By the kind of results: the class, and whether they are a list.
_RESULTS = [(None, False), (BlockRV, False), (LoopRV, False), (BlockRV, True), (LoopRV, True), (ExprRV, False), (ExprRV, True)]
_SIDES = {"read": 0, "write": 1}


class Schedule:
    """A schedule of the PrimFuncs of a module.

    Methods apply primitives, such as `split`; blocks, loops and numbers that they give are arguments of later ones. `mod` is the
    module as it is, and `trace` the list of all that was applied.
    """

    def __init__(self, mod, *, seed=None, debug_mask="none", error_render_level="detail", enable_check=True):
        del debug_mask, enable_check
        require(mod=mod)
        if error_render_level not in _LEVELS:
            raise ValueError(f"unknown level of errors '{error_render_level}': expected one of {', '.join(_LEVELS)}")
        self._level = error_render_level
        if isinstance(mod, PrimFunc):
            mod = ir.IRModule({"main": mod})
        self._start, self._removed = mod, set()
        self._schedule = native.Schedule(mod._module, intrinsics.find)
        functions = [name.name for name, func in mod.items() if isinstance(func, PrimFunc)]
        # Without a name get_block looks into this function.
        self._function = functions[0] if len(functions) == 1 else "main" if "main" in functions else None
        if seed is not None:
            self.seed(seed)
        self._first_seed = self._schedule.seed

    # ---- The schedule
    @property
    def mod(self):
        """The module as it is now."""
        return ir.IRModule(_module=self._schedule.module())

    @property
    def trace(self):
        """The trace of the instructions that were applied."""
        return Trace(self._schedule.trace())

    @property
    def func_working_on(self):
        return self.mod.get_global_var(self._function) if self._function is not None else None

    def work_on(self, func_name):
        """Lets get_block look for blocks in this function."""
        if self._start._module.find(func_name) is None:
            raise ValueError(f"the module has no function '{func_name}'")
        self._function = func_name

    def copy(self):
        """A schedule in the same state, in which the same blocks and loops are valid."""
        other = Schedule(self._start, seed=self._first_seed)
        other._function = self._function
        other._replay(self.trace)
        other._schedule.seed = self._schedule.seed
        return other

    def seed(self, seed):
        """Sets the number that sampling begins with."""
        if not isinstance(seed, int):
            raise TypeError(f"expected an integer as seed, not {type(seed).__name__}")
        if seed != -1:
            self._schedule.seed = seed

    def fork_seed(self):
        """A number that other schedules can begin with."""
        return self._schedule.seed * 32767 % 1999999973 or 1

    def show(self, *_, **options):
        """Prints the module and the trace, with colours on a terminal."""
        self.mod.show(**options)
        self.trace.show()

    def get(self, name):
        """The block, loop or number that a result of a primitive stands for."""
        self._check_known(name)
        return name.stmt if isinstance(name, StmtSRef) else self._schedule.get(name._name_)

    def _check_known(self, name):
        if getattr(name, "_name_", None) in self._removed:
            raise IndexError(f"the random variable '{name._name_}' was removed")

    def remove_rv(self, rand_var):
        """Forgets a result of a primitive: get no longer knows it."""
        self._removed.add(rand_var._name_)

    def can_decompose_padding(self, block, loop):
        """Returns whether decompose_padding would succeed."""
        try:
            self.copy().decompose_padding(block, loop)
        except ScheduleError:
            return False
        return True

    @property
    def state(self):
        """The references to blocks and loops, and what is known about them."""
        return ScheduleState._of(self._schedule)

    def get_sref(self, name_or_stmt):
        """The reference to a block or loop."""
        return self.state.get_sref(name_or_stmt)

    # ---- Primitives
    def _block(self, block):
        return self.get_block(block) if isinstance(block, str) else block

    def _replay(self, trace):
        try:
            self._schedule.replay(trace._trace)
        except Error as error:
            raise _schedule_error(error, self._level) from None

    def _apply(self, row, args, decision=None):
        try:
            names = self._schedule.apply(row["name"], args, decision)
        except Error as error:
            raise _schedule_error(error, self._level) from None
        cls, is_list = _RESULTS[row["results"]]
        results = [cls(name, self._schedule.get(name)) if cls is ExprRV else cls(name) for name in names]
        return results if is_list else next(iter(results), None)

    def _buffer(self, block, buffer, side=None):
        """The number of a buffer among those that a block reads or writes, and the side."""
        if isinstance(buffer, (tuple, list)):
            side, index = buffer
            if side not in _SIDES:
                raise ValueError(f"invalid side '{side}' of a buffer: expected 'read' or 'write'")
            return index, _SIDES[side]
        if isinstance(buffer, int):
            return buffer, _SIDES[side or "write"]
        node = self.get(block)
        sides = {"read": node.reads, "write": node.writes}
        regions = [(i, _SIDES[name], region.buffer) for name in ([side] if side else _SIDES)
                   for i, region in enumerate(sides[name])]
        found = [] if isinstance(buffer, str) else [region for region in regions if region[2].same_as(buffer)]
        # The schedule has a copy of the function that it was made of, whose buffers have the same names.
        found = found or [region for region in regions if region[2].name == getattr(buffer, "name", buffer)]
        if not found or any(not item[2].same_as(found[0][2]) for item in found):
            raise ValueError(f"the block '{node.name_hint}' has {'several buffers' if found else 'no buffer'} '{buffer}'")
        # As in TVM, a name that is read and written is what is written, a buffer what is read.
        return found[-1 if isinstance(buffer, str) else 0][:2]

    def _buffer_at(self, block, index, side):
        node = self.get(block)
        regions = node.writes if side else node.reads
        if index >= len(regions):
            raise ScheduleError(f"the block '{node.name_hint}' has no buffer {index} that it {'writes' if side else 'reads'}")
        return regions[index].buffer

    def _index_dtype(self, block):
        node = self.get(block)
        for axis in node.iter_vars:
            return axis.var.dtype
        for region in [*node.reads, *node.writes]:
            for extent in region.region:
                return extent.min.dtype
        return "int64"

    def _index_map(self, block, index_map, ndim=None):
        if isinstance(index_map, IndexMap) or not callable(index_map):
            return index_map
        return IndexMap.from_func(index_map, ndim=ndim, index_dtype=self._index_dtype(block))

    def _pad_value(self, block, buffer, index_map, pad_value):
        if pad_value is None or isinstance(pad_value, IndexMap):
            return pad_value
        value = pad_value
        if isinstance(value, (int, float)):
            value = (IntImm if "int" in str(buffer.dtype) else FloatImm)(buffer.dtype, value)
        function = value if callable(value) and not isinstance(value, PrimExpr) else lambda *_: value
        dtype = self._index_dtype(block)
        params = [Var(f"i{i}", dtype) for i in range(len(index_map.results))]
        result = function(*params)
        if isinstance(result, (int, float)):
            result = (IntImm if "int" in str(buffer.dtype) else FloatImm)(buffer.dtype, result)
        return IndexMap(params, [result])

    # ---- Primitives whose arguments are more than those of the table
    def get_block(self, name, func_name=None):
        """The block of a name in a function, by default in that of work_on."""
        if func_name is None and self._function is None:
            raise ValueError("the schedule does not know which function to be working on: expected a name of one, or work_on before")
        return self._apply(_ROWS["get_block"], [name, func_name or self._function])

    get_sblock = get_block  # in newer versions of TVM

    def transform_layout(self, block, buffer, index_map, pad_value=None, *, assume_injective_transform=False):
        """Give a buffer another layout, and separate its axes where the map has IndexMap.AXIS_SEPARATOR."""
        block = self._block(block)
        index, side = self._buffer(block, buffer)
        node, separators = self._buffer_at(block, index, side), []
        if callable(index_map) and not isinstance(index_map, IndexMap):
            index_map, separators = IndexMap.from_func_with_separators(index_map, ndim=len(node.shape),
                                                                       index_dtype=self._index_dtype(block))
        pad_value = self._pad_value(block, node, index_map, pad_value)
        self._apply(_ROWS["transform_layout"], [block, index, side, index_map, pad_value, assume_injective_transform])
        if separators:
            self.set_axis_separator(block, ("write" if side else "read", index), separators)

    def annotate_buffer_access(self, block, buffer_index, buf_type, gen_new_ranges):
        """State the region of a buffer that a block reads or writes: a function of its axes gives ranges or points."""
        block = self._block(block)
        if callable(gen_new_ranges) and not isinstance(gen_new_ranges, IndexMap):
            params = [Var(axis.var.name, axis.var.dtype) for axis in self.get(block).iter_vars]
            results = []
            for item in gen_new_ranges(*params):
                results += list(item) if isinstance(item, (tuple, list)) else [item, item + 1]
            gen_new_ranges = IndexMap(params, results)
        side = _SIDES.get(buf_type, buf_type)
        self._apply(_ROWS["annotate_buffer_access"], [block, buffer_index, side, gen_new_ranges])

    def unsafe_hide_buffer_access(self, block, buf_type, buf_index_array):
        """Leave out regions that a block reads or writes."""
        self._apply(_ROWS["unsafe_hide_buffer_access"], [self._block(block), buf_type, list(buf_index_array)])


# How much of the message of an error is given: with the place in the function, its first line, or nothing.
_LEVELS = ("detail", "fast", "none")


def _schedule_error(error, level):
    text = {"detail": str(error), "fast": str(error).split("\n", maxsplit=1)[0], "none": "ScheduleError: (not rendered)"}[level]
    raised = ScheduleError(text)
    raised.diagnostics, raised.code = error.diagnostics, error.code
    return raised


# ---- Methods of the table

_ROWS = {row["python"]: row for row in native.primitive_table()}


def _parameters(row):
    """The parameters of the method of a primitive: (name, kind, default), where a buffer and its side are one."""
    merged = []
    for name, kind, default in row["params"]:
        if kind == "side":
            merged[-1] = ("buffer", "buffer", merged[-1][2])
        elif name.endswith("buffer_index"):
            merged.append((name, "read" if name.startswith("read") else "write", default))
        else:
            merged.append((name, kind, default))
    return merged


def _signature(row):
    parameters, after_list = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)], False
    for name, kind, default in _parameters(row):
        form = inspect.Parameter.KEYWORD_ONLY if after_list else inspect.Parameter.POSITIONAL_OR_KEYWORD
        if kind == "loops":
            form, after_list = inspect.Parameter.VAR_POSITIONAL, True
        value = ast.literal_eval(default) if default and kind != "loops" else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, form, default=None if value == [] else value))
    if row["name"].startswith("Sample"):
        parameters.append(inspect.Parameter("decision", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    return inspect.Signature(parameters)


# Other names that parameters have had, by method.
_OTHER_NAMES = {"blockize": {"loop": "target"}}


def _method(row):
    signature, others = _signature(row), _OTHER_NAMES.get(row["python"], {})
    parameters = _parameters(row)

    def method(self, *args, **kwargs):
        if others:
            kwargs = {others.get(name, name): value for name, value in kwargs.items()}
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        values, passed = bound.arguments, []
        block = values["block"] = self._block(values.get("block"))
        for name, kind, default in parameters:
            value = values[name]
            if kind == "buffer":
                passed += self._buffer(block, value)
                continue
            if kind in ("read", "write"):
                value = self._buffer(block, value, kind)[0]
            elif kind == "block":
                value = self._block(value)
            elif kind == "blocks" and isinstance(value, (list, tuple)):
                value = [self._block(item) for item in value]
            elif kind == "index_map":
                value = self._index_map(block, value)
            elif value is None and default == "[]":
                value = []
            passed.append(list(value) if isinstance(value, tuple) else value)
        return self._apply(row, passed, values.get("decision"))

    method.__name__ = row["python"]
    method.__qualname__ = f"Schedule.{row['python']}"
    method.__signature__ = signature
    method.__doc__ = row["summary"][:1].upper() + row["summary"][1:] + "."
    return method


for _name, _row in _ROWS.items():
    if _name not in vars(Schedule):
        setattr(Schedule, _name, _method(_row))

"""The scopes of an IRBuilder at the loop level, and what becomes of the statements in them."""
from .. import tir
from .._core import native
from ..ir import PointerType
from .ir_builder import IRBuilder

_DETECT = "tir.script_parsing_detect_access"


def innermost(kinds):
    """The innermost scope of some kinds."""
    found = next((frame for frame in reversed(IRBuilder.current().frames) if isinstance(frame, kinds)), None)
    if found is None:
        names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        raise ValueError(f"expected to be in the scope of a {' or a '.join(names)}")
    return found


def function_frame():
    """The function that is built."""
    return innermost(PrimFuncFrame)


def block_frame():
    """The innermost block."""
    return innermost(BlockFrame)


def add(stmt):
    """Adds a statement to the innermost scope. Outside of all it is the result."""
    builder = IRBuilder.current()
    if builder.frames:
        innermost(Frame).stmts.append(stmt)
    elif builder.result is not None:
        raise ValueError("the IRBuilder has a result already")
    else:
        builder.result = named(stmt)


def named(node):
    """A node whose variables and buffers have the names that the program has given them."""
    substitute, names = tir.stmt_functor.substitute, IRBuilder.current().names
    values = {value: _renamed(value, name) for value, name in names.items() if isinstance(value, tir.Var)}
    buffers = {value: name for value, name in names.items() if isinstance(value, tir.Buffer)}
    values.update({buffer.data: _renamed(buffer.data, name) for buffer, name in buffers.items()})
    values.update({buffer: native.copy_with(substitute(buffer, values), {"name": name}) for buffer, name in buffers.items()})
    return substitute(node, values) if values else node


def _renamed(var, name):
    return type(var)(name, PointerType(*var.pointer[:2]) if var.pointer else var.dtype)


def loop_range(start, stop):
    """The range of a loop, which begins at 0 if there is one value."""
    if stop is None:
        extent = tir.convert(start)
        return tir.Range.from_min_extent(tir.const(0, extent.dtype), extent)
    start, stop = tir.convert(start), tir.convert(stop)
    return tir.Range.from_min_extent(start, stop - start)


def vector_index(index):
    """The lanes of a slice."""
    step = tir.convert(1 if index.step is None else index.step)
    return tir.Ramp(tir.convert(index.start), step, (tir.convert(index.stop) - index.start) // step)


def made_region(item):
    """The region of an element, or of elements, of a buffer."""
    if isinstance(item, tir.BufferRegion):
        return item
    if isinstance(item, tir.Buffer):
        return tir.BufferRegion(item, [tir.Range(0, dim) for dim in item.shape])
    if not isinstance(item, tir.BufferLoad):
        raise TypeError(f"expected a part of a buffer, not {type(item).__name__}")
    doms = [tir.Range.from_min_extent(index.base, index.stride * index.lanes) if isinstance(index, tir.Ramp)
            else tir.Range.from_min_extent(index, tir.const(1, index.dtype)) for index in item.indices]
    return tir.BufferRegion(item.buffer, doms)


class Frame:
    """A scope: `with` gives `value`, and adds what is made of the statements to the scope around it."""

    value = None

    def __init__(self):
        self.stmts = []

    def __enter__(self):
        IRBuilder.current().frames.append(self)
        return self.value

    def __exit__(self, kind, value, trace):
        IRBuilder.current().frames.pop()
        if kind is None:
            self.close()

    def close(self):
        """Adds what is made to the scope around."""
        add(self.made(self.body()))

    def body(self):
        """The statements of the scope as one."""
        return tir.stmt_seq(*self.stmts) if self.stmts else tir.Evaluate(tir.const(0, "int32"))

    def made(self, body):
        """The statement of the scope."""
        raise NotImplementedError


class Around(Frame):
    """A scope whose statement a function makes of its body."""

    def __init__(self, function, value=None):
        super().__init__()
        self._function, self.value = function, value

    def made(self, body):
        return self._function(body)


class ForFrame(Frame):
    """A nest of loops."""

    def __init__(self, doms, kind, annotations, thread=None):
        super().__init__()
        self.doms, self.kind, self.annotations, self.thread = doms, kind, annotations, thread
        self.vars = [tir.Var("v", dom.extent.dtype) for dom in doms]
        self.value = self.vars[0] if len(self.vars) == 1 else self.vars

    def made(self, body):
        for var, dom in reversed(list(zip(self.vars, self.doms))):
            binding = None
            if self.thread is not None:
                binding = tir.IterVar(None, tir.Var("", var.dtype), tir.IterVar.ThreadIndex, self.thread)
            body = tir.For(var, dom.min, dom.extent, self.kind, body, binding, self.annotations)
        return body


class IfFrame(Frame):
    """A conditional."""

    def __init__(self, condition):
        super().__init__()
        self.condition, self.branches = condition, {}

    def made(self, body):
        if "then_case" not in self.branches or self.stmts:
            raise ValueError("the scope of a conditional has a branch T.Then(), and no statements of its own")
        return tir.IfThenElse(self.condition, self.branches["then_case"], self.branches.get("else_case"))


class BranchFrame(Frame):
    """A branch of a conditional."""

    def __init__(self, name):
        super().__init__()
        self._name = name

    def close(self):
        branches = innermost(IfFrame).branches
        if self._name in branches:
            raise ValueError("the conditional has this branch already")
        branches[self._name] = self.body()


class BlockInitFrame(Frame):
    """The initialization of a block."""

    def close(self):
        block_frame().init = self.body()


class BlockFrame(Frame):
    """A block."""

    def __init__(self, name, no_realize):
        super().__init__()
        self.name, self.no_realize = name, no_realize
        self.reads = self.writes = self.init = None
        self.predicate = tir.const(True, "bool")
        self.iter_vars, self.iter_values, self.alloc_buffers, self.match_buffers, self.annotations = [], [], [], [], {}

    def add_axis(self, dom, binding, kind, dtype):
        """Adds an axis, and returns its variable."""
        dom = tir.Range(*dom) if isinstance(dom, (list, tuple)) else dom if isinstance(dom, tir.Range) else loop_range(dom, None)
        self.iter_vars.append(tir.IterVar(dom, tir.Var("v", dtype), kind))
        self.iter_values.append(tir.convert(binding))
        return self.iter_vars[-1].var

    def made(self, body):
        missing = (self.reads is None) + 2 * (self.writes is None)
        annotations = {**self.annotations, **({_DETECT: tir.IntImm("int64", missing)} if missing else {})}
        block = tir.Block(self.iter_vars, self.reads or [], self.writes or [], self.name, body, self.init, self.alloc_buffers,
                          self.match_buffers, annotations)
        return block if self.no_realize else tir.BlockRealize(self.iter_values, self.predicate, block)


class PrimFuncFrame(Frame):
    """A function."""

    def __init__(self, is_private):
        super().__init__()
        self.is_private, self.name, self.ret_type = is_private, None, None
        self.params, self.buffers, self.attrs, self.alloc_buffers = [], {}, {}, []

    def add_param(self, name, obj):
        """Adds a parameter, and returns it."""
        IRBuilder.name(name, obj)
        if isinstance(obj, tir.Buffer):
            param = tir.Var(f"{name}_handle", "handle")
            self.buffers[param] = obj
        else:
            param = obj
        self.params.append(param)
        return obj

    def close(self):
        builder = IRBuilder.current()
        attrs = dict(self.attrs)
        if self.name is not None and not self.is_private:
            attrs["global_symbol"] = self.name
        body = completed(self._rooted(self.body()), list(self.buffers.values()))
        func = named(tir.PrimFunc(self.params, body, self.ret_type, self.buffers, attrs))
        if not builder.frames:
            builder.result = func
        elif self.name is None:
            raise ValueError("a function of a module needs T.func_name(...)")
        else:
            builder.frames[-1].functions[self.name] = func

    def _rooted(self, body):
        """The body in a root block, if it has blocks or buffers to allocate."""
        is_root = isinstance(body, tir.BlockRealize) and not len(body.block.iter_vars)
        has_blocks = any(isinstance(node, tir.Block) for node in native.post_order(body))
        if not self.alloc_buffers and (is_root or not has_blocks):
            return body
        return tir.BlockRealize([], tir.const(True, "bool"), tir.Block([], [], [], "root", body, None, self.alloc_buffers))


def completed(stmt, buffers):
    """A statement whose blocks all have their regions: those that were not stated are detected."""
    if isinstance(stmt, tir.Block):
        buffers = [*buffers, *stmt.alloc_buffers, *(match.buffer for match in stmt.match_buffers)]
    elif isinstance(stmt, tir.DeclBuffer):
        buffers = [*buffers, stmt.buffer]

    def part(value):
        if isinstance(value, (list, tuple)):
            new = [part(item) for item in value]
            return value if all(a is b for a, b in zip(value, new)) else new
        return completed(value, buffers) if isinstance(value, tir.Stmt) else value

    stmt = tir.stmt_functor.map_children(stmt, part)
    if not isinstance(stmt, tir.Block) or _DETECT not in stmt.annotations:
        return stmt
    missing = int(stmt.annotations[_DETECT])
    reads, writes, opaques = native.block_access(stmt, buffers, False)
    if len(opaques):
        raise ValueError(f"block '{stmt.name_hint}' passes on the pointer of a buffer: it needs T.reads(...) and T.writes(...)")
    annotations = {key: value for key, value in stmt.annotations.items() if key != _DETECT}
    return native.copy_with(stmt, {"annotations": annotations, **({"reads": reads} if missing & 1 else {}),
                                   **({"writes": writes} if missing & 2 else {})})

"""Rewriting of functions where patterns match."""
import copy
import itertools

from ... import ir
from ..._core import native
from ...ir.transform import ModulePass, module_pass
from .. import analysis
from .. import expr as _expr
from . import _templates
from ._blocks import rewrite_function
from .pattern import OrPattern, TuplePattern, definitions, extract


class PatternMatchingRewriter(ModulePass):
    """Rewrites what matches, in functions and modules. It is also a pass. `a | b` does what both do."""

    def __init__(self, new_functions=None):
        super().__init__(None)
        self.new_functions = dict(new_functions or {})
        self._names = {}  # other names for new functions

    @staticmethod
    def from_pattern(pattern, func):
        """A rewriter of a pattern and a function of (expression, {pattern: expression}) that gives what takes its place."""
        return _of_pattern(pattern, func, (), {})

    @staticmethod
    def from_module(mod):
        """A rewriter of a module with the functions `pattern` and `replacement`, which have the same parameters."""
        pattern, replace, functions = _templates.read(mod)
        return _of_pattern(pattern, replace, (), functions)

    def _renamed(self, names):
        """The rewriter with other names of new functions."""
        renamed = copy.copy(self)
        renamed._names = {**self._names, **names}
        renamed.new_functions = {names.get(name, name): func for name, func in self.new_functions.items()}
        return renamed

    def _without_conflicts(self, functions):
        """The rewriter with names of new functions that no different one of these has."""
        taken = {name.name for name in (*functions, *self.new_functions)}
        names = {}
        for name, func in self.new_functions.items():
            if name in functions and not native.structural_equal(functions[name], func, False):
                number = next(number for number in itertools.count(1) if f"{name.name}_{number}" not in taken)
                names[name] = ir.GlobalVar(f"{name.name}_{number}")
                taken.add(names[name].name)
        return self._renamed(names) if names else self

    def replacements(self, bindings):
        """The new values by the variables of a list of bindings whose values do not depend on their order."""
        raise NotImplementedError

    def __call__(self, obj):
        """The function or the module, rewritten."""
        if isinstance(obj, ir.IRModule):
            return super().__call__(obj)
        if self.new_functions:
            raise ValueError("a rewriter with functions of its own must be applied to a module")
        return rewrite_function(obj, self)

    def _get(self):
        return module_pass(self._run, opt_level=0, name="PatternMatchingRewriter")._get()

    @property
    def info(self):
        return self._get().info

    def _run(self, mod, ctx):
        del ctx
        rewriter = self._without_conflicts(dict(mod.items()))
        known = mod.copy()
        known.update(rewriter.new_functions)
        changed = {name: rewrite_function(func, rewriter, known) for name, func in mod.items()
                   if isinstance(func, _expr.Function)}
        changed = {name: func for name, func in changed.items() if not func == mod[name]}
        if not changed:
            return mod
        mod = mod.copy()
        mod.update(changed)
        _add_called(mod, list(changed.values()), rewriter.new_functions)
        return mod

    def __or__(self, other):
        return OrRewriter(self, other)


class ExprPatternRewriter(PatternMatchingRewriter):
    """Rewrites the expressions that match a pattern."""

    def __init__(self, pattern, func, also=(), new_functions=None):
        super().__init__(new_functions)
        self.pattern, self.func, self._also = pattern, func, also

    def replacements(self, bindings):
        values, found = definitions({}), {}
        for var, value in _values(bindings):
            new = self._rewrite(value, values)
            if new is None:
                values.set(var, value)
            else:
                found[var] = new
        return found

    def _rewrite(self, value, values):
        matched = extract(self.pattern, value, values)
        if matched is None:
            return None
        # Alternatives are tried one by one, and are matched, too.
        new = self.func(value, {**matched, **{pattern: value for pattern in self._also}})
        return None if new is None or new == value else _with_names(new, self._names)


class OrRewriter(PatternMatchingRewriter):
    """Rewrites what one of two rewriters does; the first one where both could."""

    def __init__(self, lhs, rhs):
        rhs = rhs._without_conflicts(lhs.new_functions)
        super().__init__({**lhs.new_functions, **rhs.new_functions})
        self.lhs, self.rhs = lhs, rhs

    def _renamed(self, names):
        renamed = super()._renamed(names)
        renamed.lhs, renamed.rhs = self.lhs._renamed(names), self.rhs._renamed(names)
        return renamed

    def replacements(self, bindings):
        found = self.lhs.replacements(bindings)
        return {**self.rhs.replacements([binding for binding in bindings if binding.var not in found]), **found}


class TupleRewriter(PatternMatchingRewriter):
    """Rewrites several results of a block that match the patterns at the same time."""

    def __init__(self, patterns, func, also=(), new_functions=None):
        super().__init__(new_functions)
        self.patterns, self.func, self._also = list(patterns), func, also

    def replacements(self, bindings):
        values, seen, found = definitions({}), [], {}
        for var, value in _values(bindings):
            seen.append((var, value, [extract(pattern, value, values) for pattern in self.patterns]))
            values.set(var, value)
            chosen = self._choose([item for item in seen if item[0] not in found], len(self.patterns), {}, ())
            if chosen is not None and not self._used_early(seen, chosen[1]):
                found.update(self._new_values(*chosen))
        return found

    def _choose(self, items, count, matched, chosen):
        """Different items for the first `count` patterns, among them the last item; the latest ones that fit together."""
        if count == 0:
            return (matched, chosen) if items and items[-1] in chosen else None
        for item in reversed(items):
            parts = item[2][count - 1]
            if parts is None or item in chosen or any(not _same(matched.get(key, value), value)
                                                      for key, value in parts.items()):
                continue
            result = self._choose(items, count - 1, {**matched, **parts}, (item, *chosen))
            if result is not None:
                return result
        return None

    @staticmethod
    def _used_early(seen, chosen):
        """Returns whether a result is used before all of them are there, so that it would be computed twice."""
        results = {item[0] for item in chosen}
        return any(var in results for _, value, _ in seen for var in analysis.all_vars(value))

    def _new_values(self, matched, chosen):
        whole = _expr.Tuple([value for _, value, _ in chosen])
        new = self.func(whole, {**matched, **{pattern: whole for pattern in self._also}})
        if new is None or new == whole:
            return {}
        new = _with_names(new, self._names)
        fields = new.fields if isinstance(new, _expr.Tuple) else [_expr.TupleGetItem(new, index)
                                                                  for index in range(len(chosen))]
        return {var: field for (var, _, _), field in zip(chosen, fields)}


class _ContextRewriter(PatternMatchingRewriter):
    """Rewrites several results of a block that match a context of patterns."""

    def __init__(self, context, func):
        super().__init__()
        self._context, self._func = context, func

    def replacements(self, bindings):
        found, rest = {}, list(bindings)
        while rest:
            matched = self._context.match_bindings(rest)
            new = self._func(matched, dict(_values(rest))) if matched is not None else None
            if not new:
                break
            found.update(new)
            rest = [binding for binding in rest if binding.var not in found]
        return found


def _of_pattern(pattern, func, also, functions):
    if isinstance(pattern, OrPattern) and type(pattern) is OrPattern:
        also = (*also, pattern)
        return OrRewriter(_of_pattern(pattern.left, func, also, functions),
                          _of_pattern(pattern.right, func, also, functions))
    rewriter = ExprPatternRewriter(pattern, func, also, functions)
    if not isinstance(pattern, TuplePattern):
        return rewriter
    # A tuple of the program, and results that are in none.
    return OrRewriter(rewriter, TupleRewriter(pattern.fields, func, (*also, pattern), functions))


def _add_called(mod, functions, known):
    """Adds those of the known functions that the functions call."""
    while functions:
        for name in analysis.all_global_vars(functions.pop()):
            if name in known and name not in mod:
                mod[name] = known[name]
                functions.append(known[name])


def _with_names(expr, names):
    """The expression with other names of functions."""
    if not names:
        return expr
    if isinstance(expr, ir.GlobalVar):
        return names.get(expr, expr)
    if isinstance(expr, _expr.Call):
        return native.copy_with(expr, {"op": _with_names(expr.op, names),
                                       "args": [_with_names(arg, names) for arg in expr.args]})
    if isinstance(expr, _expr.Tuple):
        return _expr.Tuple([_with_names(field, names) for field in expr.fields])
    if isinstance(expr, _expr.TupleGetItem):
        return _expr.TupleGetItem(_with_names(expr.tuple, names), expr.index)
    return expr


def _values(bindings):
    return [(binding.var, binding.value) for binding in bindings]


def _same(a, b):
    return a == b or native.structural_equal(a, b, False)


def rewrite_call(pattern, rewriter, func):
    """The function with each expression that matches replaced by what `rewriter` gives for (expression, {pattern: expression})."""
    return PatternMatchingRewriter.from_pattern(pattern, rewriter)(func)


def rewrite_bindings(ctx, rewriter, func):
    """The function with new values of variables: those that `rewriter` gives for ({pattern: variable}, {variable: value}).

    ctx: the patterns, a PatternContext
    """
    return _ContextRewriter(ctx, rewriter)(func)

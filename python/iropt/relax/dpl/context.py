"""Patterns of several results of a dataflow block, and how they use each other."""
import threading

from ... import ir
from ..._core import Node
from .. import analysis
from .. import expr as _expr

_state = threading.local()


class PatternSeq:
    """Patterns each of which uses the result of the one before."""

    def __init__(self, patterns, only_use=False):
        self.patterns = list(patterns)
        self._uses = [(only_use, -1)] * (len(self.patterns) - 1)

    def used_by(self, other, index=-1):
        """Lets `other`, a pattern or the first of a sequence, use the result of the last pattern."""
        return self._join(other, False, index)

    def only_used_by(self, other, index=-1):
        """As used_by; nothing else may use that result."""
        return self._join(other, True, index)

    def _join(self, other, only, index):
        other = other if isinstance(other, PatternSeq) else PatternSeq([other])
        _add_use(self.patterns[-1], other.patterns[0], only, index)
        joined = PatternSeq(self.patterns + other.patterns)
        joined._uses = self._uses + [(only, index)] + other._uses
        return joined

    def __xor__(self, other):
        return self.used_by(other)

    def __rshift__(self, other):
        return self.only_used_by(other)

    def __getitem__(self, index):
        return self.patterns[index]

    def __len__(self):
        return len(self.patterns)

    def dup(self):
        """A new sequence of new patterns, which use each other in the same way."""
        copy = PatternSeq([pattern.dup() for pattern in self.patterns])
        copy._uses = list(self._uses)
        for (producer, consumer), (only, index) in zip(zip(copy.patterns, copy.patterns[1:]), copy._uses):
            _add_use(producer, consumer, only, index)
        return copy


def _add_use(producer, consumer, only, index):
    context = PatternContext.current()
    if context is not None:
        context.add_use(producer, consumer, only, index)


class PatternContext:
    """The scope in which patterns and their uses are collected, for `match_dfb`.

    incremental: begin with what the context around it has
    """

    def __init__(self, incremental=False):
        outer = PatternContext.current()
        if incremental and outer is None:
            raise ValueError("an incremental context must be made inside of another one")
        # By pattern, in order: the patterns that use it, with a list of (only, index) for each.
        self._uses = {producer: {user: list(edges) for user, edges in users.items()}
                      for producer, users in outer._uses.items()} if incremental else {}
        self.constraints = list(outer.constraints) if incremental else []

    def __enter__(self):
        if not hasattr(_state, "stack"):
            _state.stack = []
        _state.stack.append(self)
        return self

    def __exit__(self, kind, value, trace):
        _state.stack.pop()

    @staticmethod
    def current():
        """The innermost context; None outside of any."""
        stack = getattr(_state, "stack", [])
        return stack[-1] if stack else None

    def add_use(self, producer, consumer, only, index):
        """Lets one pattern use the result of another one."""
        edges = self._uses.setdefault(producer, {}).setdefault(consumer, [])
        if (only, index) not in edges:
            edges.append((only, index))

    def match_dfb(self, dfb):
        """A dictionary of the patterns and the variables of the block that they match; None if there is no match."""
        return self.match_bindings(dfb.bindings)

    def match_bindings(self, bindings):
        """As match_dfb, of a list of bindings."""
        return _Search(self, bindings).run() if self._uses else None


class _Search:
    """Looks for variables of all patterns, with backtracking. The matcher of the library decides on each of them."""

    def __init__(self, context, bindings):
        from . import pattern

        self._context = context
        self._values = pattern.definitions({binding.var: binding.value for binding in bindings
                                            if isinstance(binding, _expr.VarBinding)})
        self._operands = {binding.var: _operands(binding.value) for binding in bindings}
        self._users = {}
        for binding in bindings:
            for var in analysis.all_vars(binding.value):
                self._users.setdefault(var, []).append(binding.var)
            self._users.setdefault(binding.var, [])
        self._order = self._ordered()
        self._known = {}

    def _ordered(self):
        """All patterns, those that nothing is used by first, each followed by its users."""
        uses = self._context._uses
        used = {user for users in uses.values() for user in users}
        order = {}

        def add(pattern):
            if pattern not in order:
                order[pattern] = None
                for user in uses.get(pattern, ()):
                    add(user)

        for pattern in uses:
            if pattern not in used:
                add(pattern)
        return list(order)

    def _matches(self, pattern, var):
        key = (pattern, var)
        if key not in self._known:
            self._known[key] = self._values.match(pattern._native, var) is not None
        return self._known[key]

    def _edges_hold(self, matched):
        for producer, users in self._context._uses.items():
            for user, edges in users.items():
                if producer in matched and user in matched and not self._used(matched[producer], matched[user], edges):
                    return False
        return all(constraint.holds(matched) for constraint in self._context.constraints)

    def _used(self, var, user, edges):
        if user not in self._users[var]:
            return False
        operands = self._operands[user]
        return all((not only or self._users[var] == [user]) and
                   (index == -1 or (index < len(operands) and operands[index] == var)) for only, index in edges)

    def _candidates(self, pattern, matched):
        producers = [matched[producer] for producer, users in self._context._uses.items()
                     if pattern in users and producer in matched]
        return self._users[producers[0]] if producers else self._users

    def run(self):
        """The variables of all patterns, or None."""
        return self._extend({}) if self._order else None

    def _extend(self, matched):
        if len(matched) == len(self._order):
            return matched
        pattern = self._order[len(matched)]
        for var in self._candidates(pattern, matched):
            if var in matched.values() or not self._matches(pattern, var):
                continue
            longer = {**matched, pattern: var}
            found = self._extend(longer) if self._edges_hold(longer) else None
            if found is not None:
                return found
        return None


def _operands(value):
    """The operands of a value but for names of functions, those of tuples one by one."""
    if isinstance(value, _expr.Call):
        args = [arg for arg in value.args if not isinstance(arg, (_expr.ExternFunc, ir.GlobalVar))]
        return [item for arg in args for item in (_operands(arg) if isinstance(arg, _expr.Tuple) else [arg])]
    if isinstance(value, _expr.Tuple):
        return list(value.fields)
    return [value.tuple] if isinstance(value, _expr.TupleGetItem) else [value] if isinstance(value, Node) else []

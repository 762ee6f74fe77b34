"""FuseOpsByPattern with patterns and conditions of Python."""
from .._core import native
from ..ir import transform as _transform
from . import analysis
from . import expr as _expr


class PatternCheckContext:
    """What the condition of a FusionPattern is asked about.

    matched_expr: the expression that matches the pattern
    annotated_expr: the expressions that the annotation patterns match, by their names
    matched_bindings: the variables of the operations that the match has, with their values
    var_usages: the variables of the dataflow block, with the variables whose values use them
    value_to_bound_var: the variables by the values that they are bound to
    """

    def __init__(self, matched_expr, annotated_expr, matched_bindings, var_usages, value_to_bound_var):
        self.matched_expr, self.annotated_expr, self.matched_bindings = matched_expr, annotated_expr, matched_bindings
        self.var_usages, self.value_to_bound_var = var_usages, value_to_bound_var


class FusionPattern:
    """A pattern for FuseOpsByPattern.

    name: the name of the pattern, which begins with that of a compiler, as "cutlass.matmul"
    pattern: a pattern of relax.dpl
    annotation_patterns: parts of the pattern by names for `check`
    check: a function of a PatternCheckContext, which returns whether to take a match
    attrs_getter: a function of the annotated expressions, which returns attributes for the function of a match
    """

    def __init__(self, name, pattern, annotation_patterns=None, check=None, attrs_getter=None):
        self.name, self.pattern = name, pattern
        self.annotation_patterns = dict(annotation_patterns or {})
        self.check, self.attrs_getter = check, attrs_getter

    def _row(self):
        """The pattern as the library takes it."""
        asks = self.check is not None or self.attrs_getter is not None
        return self.name, self.pattern._native, _Decision(self) if asks else None


class _Decision:
    """Decides about matches in functions."""

    def __init__(self, pattern):
        from .dpl import pattern as patterns

        self._pattern = pattern
        self._parts = patterns.parts_of(pattern.pattern)
        self._operations = (patterns.CallPattern, patterns.TupleGetItemPattern)
        self._function, self._blocks = None, ()

    def __call__(self, function, root, matched):
        """Attributes of the function for a match, or None to leave it."""
        if self._function is None or not self._function == function:
            self._function, self._blocks = function, [_Block(block) for block in _dataflow_blocks(function)]
        block = next(block for block in self._blocks if root in block.values)
        by_pattern = {self._parts[number]: expr for number, expr in matched.items() if number in self._parts}
        annotated = {name: by_pattern[part] for name, part in self._pattern.annotation_patterns.items()
                     if part in by_pattern}
        bindings = {block.var_of[expr]: expr for part, expr in by_pattern.items()
                    if isinstance(part, self._operations) and expr in block.var_of}
        context = PatternCheckContext(block.values[root], annotated, bindings, block.users, block.var_of)
        if self._pattern.check is not None and not self._pattern.check(context):
            return None
        return dict(self._pattern.attrs_getter(annotated)) if self._pattern.attrs_getter is not None else {}


class _Block:
    def __init__(self, block):
        self.values = {binding.var: binding.value for binding in block.bindings}
        self.var_of, self.users = {}, {var: [] for var in self.values}
        for var, value in self.values.items():
            self.var_of.setdefault(value, var)
            for used in analysis.all_vars(value):
                self.users.setdefault(used, []).append(var)


def _dataflow_blocks(function):
    return [node for node in native.post_order(function) if isinstance(node, _expr.DataflowBlock)]


def FuseOpsByPattern(patterns, bind_constants=True, annotate_codegen=False, entry_functions=None):
    """Makes a function of the operations of each match of a pattern.

    patterns: FusionPatterns, or tuples of their arguments, in the order in which they are tried; patterns as JSON are taken, too

    bind_constants: keep constants in the new functions

    annotate_codegen: make each of them the local function of one for its compiler

    entry_functions: the names of functions to look at; all without them
    """
    from .dpl.pattern import DFPattern

    patterns = list(patterns)
    if not any(isinstance(item, FusionPattern) or _is_row(item, DFPattern) for item in patterns):
        return _transform.make("FuseOpsByPattern", {
            "patterns": patterns, "bind_constants": bind_constants, "annotate_codegen": annotate_codegen,
            "entry_functions": list(entry_functions or [])})
    rows = []
    for item in patterns:
        if not isinstance(item, FusionPattern) and not _is_row(item, DFPattern):
            raise ValueError(f"invalid pattern {item!r}: expected a FusionPattern or a tuple of its arguments")
        rows.append((item if isinstance(item, FusionPattern) else FusionPattern(*item))._row())
    return _transform.ModulePass(native.fuse_patterns_pass(rows, bind_constants, annotate_codegen,
                                                           list(entry_functions or [])))


def _is_row(item, pattern_class):
    return isinstance(item, (tuple, list)) and len(item) >= 2 and isinstance(item[1], pattern_class)

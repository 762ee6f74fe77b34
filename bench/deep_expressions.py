"""Kinds of gen_prim_func.py that are one expression, as deep as the size."""


def nested(first, around, line):
    """The line of an expression in an expression."""
    def lines(n):
        expr = first
        for k in range(n):
            expr = around(expr, k)
        return [line.format(expr)]
    return lines


def conjunction(expr, k):
    return f"(m * {k % 7 + 2} < p + {k} and {expr})"


def condition(expr, k):
    return [f"({expr} and m < {k + 3})", f"(p < {k} or {expr})", f"(not {expr})"][k % 3]


def negation(expr, k):
    return f"(not ({expr} and m * {k % 7 + 2} < p))"


def select(expr, k):
    return f"T.Select(m < {k + 3}, {expr} + T.float32(1), B[m])"


def selected_condition(expr, k):
    return f"T.Select({expr}, m < {k}, p < {k})"


def integer_select(expr, k):
    return f"T.Select({expr} < {k}, m, p)"


def compared(expr, k):
    return f'T.Cast("int32", {expr} * 2 < p + {k})'


def quotient(expr, k):
    return f"({expr} // {k % 5 + 2} + p * {k % 7 + 1})"


def remainder(expr, k):
    return f"({expr} % {k + 2} + p * {k % 7 + 1})"


def arithmetic(expr, k):
    return [f"({expr} // {k % 5 + 2} + p)", f"({expr} % {k + 2} * {k % 7 + 2})", f"T.Select({expr} < {k}, m, p)"][k % 3]


def clamped(expr, k):
    return [f"T.min({expr} + {k}, p)", f"T.max({expr} * 2, m - {k})"][k % 2]


def guarded(expr, k):
    return f"T.if_then_else({expr} < {k}, m, p)"


INDEX = "A[{}] = B[0]"
SELECTED = "A[0] = T.Select({}, B[0], B[1])"
KINDS = {
    "deep_conjunctions": nested("m < p", conjunction, SELECTED),
    "deep_conditions": nested("m < p", condition, SELECTED),
    "deep_negations": nested("m < p", negation, SELECTED),
    "selected_conditions": nested("m < p", selected_condition, SELECTED),
    "integer_selects": nested("m", integer_select, INDEX),
    "deep_comparisons": nested("m", compared, INDEX),
    "deep_quotients": nested("m", quotient, INDEX),
    "deep_remainders": nested("m", remainder, INDEX),
    "deep_arithmetic": nested("m", arithmetic, INDEX),
    "deep_clamps": nested("m", clamped, INDEX),
    "deep_guards": nested("m", guarded, INDEX),
    "deep_selects": nested("B[0]", select, "A[0] = {}"),
}

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


SELECTED = "A[0] = T.Select({}, B[0], B[1])"
KINDS = {
    "deep_conjunctions": nested("m < p", conjunction, SELECTED),
    "deep_conditions": nested("m < p", condition, SELECTED),
    "deep_negations": nested("m < p", negation, SELECTED),
    "deep_selects": nested("B[0]", select, "A[0] = {}"),
}

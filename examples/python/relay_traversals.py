"""The visitors and the mutators of TVM's document on adding a pass to Relay, on a program in Relay's text."""
import iropt
from iropt import relax, transform

PROGRAM = """
#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %c: bool) {
  let %pair = (1f, %x);
  let %three = add(%pair.0, 2f);
  if (%c) { multiply(%pair.1, %three) } else { %x }
}
def @identity(%x: Tensor[(2, 3), float32]) { %x }
"""


class CallChecker(relax.PyExprVisitor):
    """Checks whether function calls appear in an expression."""

    def check(self, expr):
        self.result = False
        self.visit_expr(expr)
        return self.result

    def visit_call_(self, op):
        self.result = True


class IfCollapser(relax.PyExprMutator):
    """Replaces every conditional with its true branch."""

    def visit_if_(self, op):
        return self.visit_expr(op.true_branch)


class ConstantChecker(relax.PyExprVisitor):
    """Checks whether an expression is constant: a constant, or a tuple of constants."""

    def __init__(self):
        self.memo = {}

    def check(self, expr):
        if expr not in self.memo:
            self.memo[expr] = False
            self.visit_expr(expr)
        return self.memo[expr]

    def visit_constant_(self, op):
        self.memo[op] = True

    def visit_tuple_(self, op):
        self.memo[op] = all(self.check(field) for field in op.fields)


@transform.function_pass(opt_level=1, name="CollapseIfs")
class CollapseIfs:
    """Runs the mutator on each function."""

    def transform_function(self, function, module, context):
        return IfCollapser(module).visit_expr(function)


def main():
    module = iropt.from_source(PROGRAM, format="relay")
    for name in ("main", "identity"):
        print(name, "has calls" if CallChecker().check(module[name]) else "has no calls")
    checker = ConstantChecker()
    total = module["main"].body.blocks[0].bindings[0].value
    print("operands of the sum:", [checker.check(operand) for operand in total.args])
    folded = iropt.Pipeline("FoldConstant,DeadCodeElimination")(CollapseIfs()(module))
    print(folded.script())


if __name__ == "__main__":
    main()

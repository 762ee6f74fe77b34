"""Instruments: the time of passes, a count of operators after each of them, and a veto."""
from collections import Counter

import iropt
from iropt import ir, relax, transform
from iropt.instrument import PassTimingInstrument, pass_instrument
from iropt.script import ir as I
from iropt.script import relax as R


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        with R.dataflow():
            zero = R.zeros((4, 4), "float32")
            a = R.add(x, zero)
            b = R.nn.relu(a)
            c = R.nn.relu(a)
            d = R.add(b, c)
            R.output(d)
        return d


@pass_instrument
class CountOperators:
    """Records the operators of the module after each pass."""

    def __init__(self):
        self.counts = []

    def run_after_pass(self, mod, info):
        count = Counter()

        def visit(node):
            if isinstance(node, relax.Call) and isinstance(node.op, ir.Op):
                count[node.op.name] += 1

        for func in mod.values():
            relax.analysis.post_order_visit(func, visit)
        self.counts.append((info.name, sum(count.values())))


@pass_instrument
class Without:
    """Lets no pass of a name run."""

    def __init__(self, name):
        self.name = name

    def should_run(self, mod, info):
        return info.name != self.name


def main():
    timing, count = PassTimingInstrument(), CountOperators()
    with transform.PassContext(opt_level=3, instruments=[timing, count, Without("LegalizeOps")]):
        iropt.Pipeline("FoldConstant,EliminateCommonSubexpr,DeadCodeElimination,LegalizeOps")(Model)
        print(timing.render())
    for name, number in count.counts:
        print(f"{number} operators after {name}")
    assert "LegalizeOps" not in dict(count.counts)


if __name__ == "__main__":
    main()

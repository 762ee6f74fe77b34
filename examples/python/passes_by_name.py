"""Passes of Python that pipelines name: this file is a plugin, and a program that uses it."""
import iropt
from iropt import transform
from iropt.script import ir as I
from iropt.script import relax as R


def register(registry):
    """Adds the passes; iropt.load_plugin calls it."""

    @registry.add(kind="function", opt_level=1, summary="add an attribute to every function")
    def Mark(func, mod, ctx, *, key="marked", value=1):
        return func.with_attr(key, value)


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.add(x, x)
        return y


def main():
    iropt.load_plugin(__file__)
    with transform.PassContext(opt_level=3):
        marked = iropt.Pipeline("Mark<key=seen;value=7>,Normalize")(Model)
    print(marked["main"].attrs["seen"])
    assert marked["main"].attrs["seen"] == 7


if __name__ == "__main__":
    main()

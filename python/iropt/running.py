"""Running the functions of modules on tensors, and comparing what modules compute."""
from . import packed
from ._core import native


class Function:
    """A function of a module that is called with tensors: arrays of NumPy, NDArrays, numbers, and tuples of them."""

    def __init__(self, mod, name, loops="interpret", seed=0):
        self._module, self._name = mod, getattr(name, "name", name)
        self._loops, self._seed = loops, seed

    def __call__(self, *args):
        try:
            return native.run(self._module._module, self._name, [_tensor(arg) for arg in args], self._loops, self._seed,
                              packed.registered())
        except TypeError as error:
            # One that a packed function of Python raised stays as it is.
            if isinstance(error, native.Error) or error.__traceback__.tb_next is not None:
                raise
            raise native.ArgumentError(str(error)) from None


def _call_value(self, *args):
    if not self.is_global:
        raise ValueError(f"{self.name or 'this value'} can be called in the run of a module only")
    return native.run(self.module, self.name, [_tensor(arg) for arg in args], "auto", 0, packed.registered())


def _parameters_of_value(self):
    from .ir import IRModule

    return IRModule(_module=self.module)[self.name].params


# Functions that runs give to packed functions of Python.
native.RunValue.__call__ = _call_value
native.RunValue.parameters = property(_parameters_of_value)


def _tensor(value):
    """Tensors of other libraries, which share their memory by DLPack."""
    if isinstance(value, (list, tuple)):
        items = tuple(_tensor(item) for item in value)
        return value if all(new is old for new, old in zip(items, value)) else items
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__") and not isinstance(value, native.NDArray):
        return native.NDArray._from_dlpack(value)
    return value


def run(mod, name="main", *args, loops="interpret", seed=0):
    """Calls a function of a module: its result is an NDArray, a number, a text, or a tuple of such.

    The memory of arguments is not copied, nor is that of results: numpy.asarray(result) shares it. A PrimFunc is called
    with its inputs; the tensors that it writes are its results. Arguments for these may follow: they are changed, as are
    inputs that the function writes to.

    loops: "interpret" checks every access; "compile" compiles PrimFuncs; "auto" compiles those that take long.
    seed: that of operators that draw random numbers.
    """
    return Function(mod, name, loops, seed)(*args)


def check_semantics(before, after, seed=0, loops="auto", rtol=None, atol=None, inputs=("ordinary", "special", "nonfinite")):
    """Runs the public functions of two modules on the same generated inputs, and compares their results.

    inputs: the kinds of floats in them: of usual size; zeros, negative and large ones; infinities and NaNs.
    Raises iropt.Error where they differ. Returns why a function was not compared, or an empty text.
    """
    return native.check_semantics(before._module, after._module, seed, loops, rtol, atol, list(inputs))

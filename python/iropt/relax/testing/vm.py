"""Packed functions that tests of the virtual machine call, and a check of functions that it has saved."""
import numpy

from ...packed import register_func
from ...runtime import array


def _register(name, function):
    register_func("test.vm." + name, function, override=True)


def _on_arrays(function):
    """A packed function that returns a new tensor, from a function of arrays."""
    return lambda *args: array(function(*(arg.numpy() for arg in args)))


def _write(source, target):
    target[:] = source


_register("add", _on_arrays(numpy.add))
_register("mul", _on_arrays(numpy.multiply))
_register("equal_zero", _on_arrays(lambda a: numpy.all(a == 0)))
_register("subtract_one", _on_arrays(lambda a: numpy.subtract(a, 1)))
_register("move", lambda value: value)
_register("add_scalar", lambda a, b: a + b)
_register("get_device_id", lambda device: device.device_id)
_register("check_if_defined", lambda value: value is not None)
_register("identity", lambda a, b: _write(a.numpy(), b))
_register("tile", lambda a, b: _write(numpy.tile(a.numpy(), (1, 2)), b))


def check_saved_func(vm, func_name, *inputs):
    """The result of a function, which must be that of the function that save_function makes of it and its inputs."""
    saved = func_name + "_saved"
    vm.save_function(func_name, saved, *inputs)
    result = vm[func_name](*inputs)
    numpy.testing.assert_allclose(result.numpy(), vm[saved]().numpy(), rtol=1e-7, atol=1e-7)
    return result

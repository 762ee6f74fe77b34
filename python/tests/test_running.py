"""Running functions on arrays, and comparing modules."""
import collections

import pytest

import iropt
from iropt import relax
from iropt.script import ir as I
from iropt.script import relax as R
from iropt.script import tir as T

np = pytest.importorskip("numpy")


def test_runs_on_arrays(module):
    x = np.arange(8, dtype="float32").reshape(2, 4)
    result = iropt.run(module, "main", x)
    np.testing.assert_array_equal(np.asarray(result), (2 * x) ** 2)


def test_loops_are_run(loops):
    x = np.arange(16, dtype="float32")
    np.testing.assert_array_equal(np.asarray(iropt.run(loops, "main", x)), x + 2)


def test_wrong_arguments(module):
    with pytest.raises(TypeError, match="argument 'x' is missing"):
        iropt.run(module, "main")
    with pytest.raises(iropt.Error, match="x"):
        iropt.run(module, "main", np.ones((2, 5), "float32"))
    with pytest.raises(KeyError, match="no function 'other'"):
        iropt.run(module, "other")


def test_memory_is_shared():
    array = np.arange(4, dtype="float32")
    tensor = iropt.NDArray(array)
    assert np.shares_memory(np.asarray(tensor), array)


def test_tuples_and_numbers():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32"))):
            a = x[0]
            b = x[1]
            return (R.add(a, b), R.subtract(a, b))

    a, b = np.float32([1, 2]), np.float32([3, 5])
    total, difference = iropt.run(Module, "main", (a, b))
    np.testing.assert_array_equal(np.asarray(total), a + b)
    np.testing.assert_array_equal(np.asarray(difference), a - b)


def test_kinds_of_tuples():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32"))):
            return R.add(x[0], x[1])

        @R.function
        def size(s: R.Shape(["n"])) -> R.Shape(["n"]):
            n = T.int64()
            return R.shape([n])

    class Shared:
        """A tensor of another library."""

        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **kwargs):
            return self._array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    Pair = collections.namedtuple("Pair", ("first", "second"))
    arrays = np.float32([1, 2]), np.float32([3, 5])
    for items in (arrays, (arrays[0], Shared(arrays[1]))):
        for value in (items, list(items), Pair(*items), iropt.runtime.ADT(0, items)):
            np.testing.assert_array_equal(np.asarray(iropt.run(Module, "main", value)), arrays[0] + arrays[1])
    assert tuple(iropt.run(Module, "size", iropt.runtime.ShapeTuple([4]))) == (4,)


def test_semantics_are_compared(module):
    assert iropt.check_semantics(module, relax.transform.EliminateCommonSubexpr()(module)) == ""
    other = iropt.from_source(module.script().replace("R.multiply(a, b)", "R.subtract(a, b)"))
    with pytest.raises(iropt.Error):
        iropt.check_semantics(module, other)


def test_parameters_are_bound(module):
    value = np.full((2, 4), 3, "float32")
    bound = relax.transform.BindParams("main", {"x": value})(module)
    assert not bound["main"].params
    np.testing.assert_array_equal(np.asarray(iropt.run(bound, "main")), np.full((2, 4), 36, "float32"))


INTERRUPTED = """
import _thread, threading, time
import iropt

module = iropt.from_source('''
@T.prim_func
def main(A: T.Buffer((1,), "float32")):
    for i, j in T.grid(100000, 100000):
        A[0] = T.float32(1)
''')
threading.Timer(0.2, _thread.interrupt_main).start()
begin = time.time()
try:
    iropt.run(module, "main")
except KeyboardInterrupt:
    print("interrupted", time.time() - begin < 10)
"""


def output_of(program):
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
    return done.stdout or done.stderr


def test_interrupt_ends_interpreted_loops():
    assert output_of(INTERRUPTED) == "interrupted True\n"


INTERRUPTED_CHECK = """
import _thread, threading, time
import iropt

def text(value):
    return f'''
@T.prim_func
def main(A: T.Buffer((1,), "float32")):
    for i, j in T.grid(100000, 100000):
        A[0] = A[0] * T.float32({value})
'''

threading.Timer(0.2, _thread.interrupt_main).start()
begin = time.time()
try:
    iropt.check_semantics(iropt.from_source(text(1)), iropt.from_source(text(2)), loops="interpret")
except KeyboardInterrupt:
    print("interrupted", time.time() - begin < 10)
"""


def test_interrupt_ends_semantic_checks():
    assert output_of(INTERRUPTED_CHECK) == "interrupted True\n"


@pytest.fixture
def kernels():
    return iropt.from_source("""
@I.ir_module
class Module:
    @T.prim_func
    def add(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] + T.float32(1)
    @T.prim_func
    def increase(a: T.Buffer((4,), "float32")):
        for i in range(4):
            a[i] = a[i] + T.float32(1)
""")


@pytest.mark.parametrize("dtype", ["<f4", ">f4"])
@pytest.mark.parametrize("way", ["interpret", "compile"])
def test_outputs_are_written(kernels, dtype, way):
    a, b = np.arange(4, dtype=dtype), np.zeros(4, dtype)
    try:
        result = iropt.run(kernels, "add", a, b, loops=way)
    except iropt.Error as error:
        pytest.skip(str(error))
    np.testing.assert_array_equal(b, [1, 2, 3, 4])
    np.testing.assert_array_equal(np.asarray(result), b)
    np.testing.assert_array_equal(a, [0, 1, 2, 3])
    iropt.run(kernels, "increase", a, loops=way)
    np.testing.assert_array_equal(a, [1, 2, 3, 4])


def test_repr_of_tensors():
    tensor = iropt.NDArray(np.ones((2, 3), "float32"))
    assert repr(tensor) == "<NDArray shape=(2, 3), float32>\n" + repr(np.ones((2, 3), "float32"))


def test_outputs_in_tensors(kernels):
    a, b = iropt.runtime.array(np.arange(4, dtype="float32")), iropt.runtime.empty((4,))
    constant = relax.const(a)
    iropt.run(kernels, "add", a, b)
    np.testing.assert_array_equal(b.numpy(), [1, 2, 3, 4])
    iropt.run(kernels, "increase", b)
    iropt.run(kernels, "increase", b)
    np.testing.assert_array_equal(b.numpy(), [3, 4, 5, 6])
    iropt.run(kernels, "increase", a)
    np.testing.assert_array_equal(a.numpy(), [1, 2, 3, 4])
    # What has the tensor as its value keeps it.
    np.testing.assert_array_equal(constant.data.numpy(), [0, 1, 2, 3])


def test_outputs_that_cannot_be_written(kernels):
    a = np.arange(4, dtype="float32")
    fixed = np.zeros(4, "float32")
    fixed.flags.writeable = False
    with pytest.raises(TypeError, match="the argument 'b' is written to, but it cannot be changed"):
        iropt.run(kernels, "add", a, fixed)
    with pytest.raises(TypeError, match="too many arguments"):
        iropt.run(kernels, "add", a, a, a)
    # Without it, the result is all.
    np.testing.assert_array_equal(np.asarray(iropt.run(kernels, "add", a)), a + 1)


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_byte_orders(dtype):
    for order in "<>=":
        array = np.array([[1, 2], [3, 250]]).astype(order + dtype)
        constant = relax.const(array, np.dtype(dtype).name)
        assert constant.struct_info.dtype == np.dtype(dtype).name
        np.testing.assert_array_equal(constant.data.numpy(), array)
        np.testing.assert_array_equal(np.asarray(iropt.NDArray(array)), array)


@pytest.mark.parametrize("dtype", ["c8", "c16", "U3", "S3", "O", "V4", "f4,f4", "g"])
def test_dtypes_that_tensors_do_not_have(dtype):
    with pytest.raises((TypeError, ValueError)):
        relax.const(np.zeros(2, dtype))

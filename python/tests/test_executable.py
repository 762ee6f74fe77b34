"""Building and running on the host: built modules, the virtual machine, tensors, devices, packed functions."""
import pickle
import shutil

import pytest

import iropt
from iropt import ir, relax, runtime
from iropt import _tvm as tvm
from iropt.script import ir as I
from iropt.script import relax as R
from iropt.script import tir as T

np = pytest.importorskip("numpy")


@I.ir_module
class Loops:
    @T.prim_func
    def add1(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] + T.float32(1)

    @T.prim_func
    def double(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i] * T.float32(2)


@I.ir_module
class Graph:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        z = R.add(x, y)
        return R.multiply(z, z)


def test_built_modules_write_their_arguments():
    rt_mod = tvm.build(Loops, target="llvm")
    a, b = runtime.array(np.arange(4, dtype="float32")), runtime.empty((4,), "float32")
    assert rt_mod["add1"](a, b) is None
    np.testing.assert_array_equal(b.numpy(), [1, 2, 3, 4])
    rt_mod["double"](b)
    np.testing.assert_array_equal(b.numpy(), [2, 4, 6, 8])
    with pytest.raises(TypeError, match="too many arguments"):
        rt_mod["add1"](a, b, b)
    with pytest.raises(AttributeError, match="no function 'other'"):
        rt_mod["other"]
    assert rt_mod.time_evaluator("add1", tvm.cpu(), number=2, repeat=3)(a, b).results.__len__() == 3
    single = tvm.build(Loops["add1"])
    single(a, b)
    assert b.numpy()[0] == 1


def test_archives(tmp_path):
    path = str(tmp_path / "lib.tar")
    tvm.build(Loops, target="llvm").export_library(path)
    loaded = runtime.load_module(path)
    a, b = runtime.array(np.arange(4, dtype="float32")), runtime.empty((4,))
    loaded["add1"](a, b)
    np.testing.assert_array_equal(b.numpy(), [1, 2, 3, 4])
    relax.build(Graph, "llvm").export_library(path)
    vm = relax.VirtualMachine(runtime.load_module(path), tvm.cpu())
    ones = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(vm["main"](ones, ones).numpy(), 4 * ones)
    (tmp_path / "other").write_text("text")
    with pytest.raises(iropt.Error, match="is not a file that export_library"):
        runtime.load_module(tmp_path / "other")


def test_virtual_machine():
    executable = tvm.compile(Graph, target="llvm")
    assert "main" in executable.as_text() and "Functions (# 1)" in executable.stats()
    vm = relax.VirtualMachine(executable.jit(), tvm.cpu())
    ones = np.ones((2, 3), "float32")
    vm.set_input("main", ones, y=2 * ones)
    vm.invoke_stateful("main")
    np.testing.assert_array_equal(vm.get_outputs("main").numpy(), 9 * ones)
    vm.save_function("main", "saved", ones, ones)
    np.testing.assert_array_equal(vm["saved"]().numpy(), 4 * ones)
    assert vm.time_evaluator("saved", tvm.cpu(), number=2)().mean > 0
    with pytest.raises(ValueError, match="'y' of main is missing"):
        vm.set_input("main", x=ones)
    with pytest.raises(ValueError, match="set_input comes before"):
        vm.invoke_stateful("other")
    bound = relax.build(Graph, params={"y": runtime.array(ones)})
    np.testing.assert_array_equal(relax.VirtualMachine(bound)["main"](ones).numpy(), 4 * ones)


def test_tensors():
    source = np.arange(6, dtype="float32").reshape(2, 3)
    a = runtime.array(source)
    assert a.shape == (2, 3) and a.dtype == "float32" and a.device == tvm.cpu(0) and len(a) == 2 and a.ndim == 2
    source[0, 0] = 9
    assert a.numpy()[0, 0] == 0
    view = np.asarray(a)
    copy = a.numpy()
    a[:] = np.ones((2, 3))
    assert view[0, 0] == 1 and copy[0, 1] == 1 and copy[0, 2] == 2
    b = runtime.empty((2, 3), "float32", tvm.cuda(1))
    assert b.device.device_type == 2 and b.device.device_id == 1 and not b.device.exist
    a.copyto(b)
    np.testing.assert_array_equal(b.numpy(), np.ones((2, 3)))
    np.testing.assert_array_equal(a[1].numpy(), np.ones(3))
    assert "1." in repr(a)
    with pytest.raises(ValueError, match="do not match the shape"):
        a.copyfrom(np.ones((3, 2)))
    again = pickle.loads(pickle.dumps(a))
    assert again == a and again.dtype == "float32"


def test_constants_do_not_change_with_tensors():
    a = runtime.array(np.ones(2, "float32"))
    constant = relax.const(a)
    a.copyfrom(np.zeros(2, "float32"))
    np.testing.assert_array_equal(constant.data.numpy(), [1, 1])
    np.testing.assert_array_equal(a.numpy(), [0, 0])


def test_dlpack():
    class Foreign:
        """A tensor of another library, which has no other way to its memory."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **_):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = np.arange(4, dtype="float32")
    shared = runtime.from_dlpack(array)
    array[0] = 7
    assert shared.numpy()[0] == 7
    out = np.from_dlpack(runtime.array(array))
    np.testing.assert_array_equal(out, array)
    assert runtime.array(array).__dlpack_device__() == (1, 0)
    result = np.zeros(4, "float32")
    tvm.build(Loops)["add1"](Foreign(array), runtime.from_dlpack(result))
    np.testing.assert_array_equal(result, array + 1)
    with pytest.raises(ValueError, match="row-major"):
        runtime.from_dlpack(np.zeros((4, 4), "float32").T[1:])


def test_packed_functions():
    @tvm.register_func("test.scale", override=True)
    def scale(x, factor, out):
        out.copyfrom(x.numpy() * factor)

    @tvm.register_func("test.sum", override=True)
    def total(x):
        return runtime.array(x.numpy().sum(axis=0))

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor((2, 2), "float32")):
            y = R.call_dps_packed("test.scale", (x, R.prim_value(3)), out_sinfo=R.Tensor((2, 2), "float32"))
            return R.call_packed("test.sum", y, sinfo_args=R.Tensor((2,), "float32"))

    x = np.float32([[1, 2], [3, 4]])
    np.testing.assert_array_equal(iropt.run(Module, "main", x).numpy(), [12, 18])
    found = tvm.get_global_func("test.sum")
    assert isinstance(found, runtime.PackedFunc) and found(runtime.array(x)).numpy().tolist() == [4, 6]
    assert isinstance(runtime.convert(total), runtime.PackedFunc)
    with pytest.raises(ValueError, match="already"):
        tvm.register_func("test.sum", total)
    assert tvm.get_global_func("test.missing", allow_missing=True) is None
    with pytest.raises(ValueError, match="Cannot find global function test.missing"):
        tvm.get_global_func("test.missing")
    for name in ("tir.schedule._newer", "tir.transform.__name__", "tir.transform.packed", "relax.transform.missing"):
        assert tvm.get_global_func(name, allow_missing=True) is None
    assert tvm.get_global_func("tir.transform.Simplify")().info.name == "tir.Simplify"
    shape = tvm.get_global_func("vm.builtin.shape_of")(runtime.array(x))
    assert tuple(shape) == (2, 2)


def test_packed_functions_raise_as_themselves():
    @tvm.register_func("test.fails", override=True)
    def fails(x):
        raise KeyError("nothing")

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor((2,), "float32")):
            return R.call_packed("test.fails", x, sinfo_args=R.Tensor((2,), "float32"))

    with pytest.raises(KeyError, match="nothing"):
        iropt.run(Module, "main", np.ones(2, "float32"))


def test_loops_call_packed_functions():
    calls = []

    @tvm.register_func("test.note", override=True)
    def note(value):
        calls.append(value)

    @I.ir_module
    class Module:
        @T.prim_func
        def main(A: T.Buffer((2,), "int32")):
            for i in range(2):
                T.evaluate(T.call_packed("test.note", i + 5))
                A[i] = i

    iropt.run(Module, "main", np.zeros(2, "int32"))
    assert calls == [5, 6]


def test_pickles():
    again = pickle.loads(pickle.dumps(Graph))
    ir.assert_structural_equal(again, Graph)
    ir.assert_structural_equal(pickle.loads(pickle.dumps(Loops["add1"])), Loops["add1"])


def test_pipelines_by_name():
    @relax.register_pipeline("test.pipeline")
    def pipeline(suffix="x"):
        @iropt.transform.module_pass(opt_level=0)
        def mark(mod, ctx):
            return mod.with_attr("marked", suffix)

        return mark

    assert relax.get_pipeline("test.pipeline", suffix="y")(Graph).attrs["marked"] == "y"
    assert relax.build(Graph, "llvm", relax_pipeline="test.pipeline").ir_mod.attrs["marked"] == "x"
    with pytest.raises(ValueError, match="already"):
        relax.register_pipeline("test.pipeline")
    lowered = relax.get_default_pipeline("llvm")(Graph)
    ones = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(iropt.run(lowered, "main", ones, ones).numpy(), 4 * ones)


def test_devices():
    assert tvm.cpu() == runtime.Device("cpu", 0) and tvm.cpu().exist and tvm.cpu().device_type == 1
    assert str(tvm.device("cuda:1")) == "cuda(1)" and tvm.device("llvm", 0) == tvm.cpu()
    with pytest.raises(ValueError, match="unknown kind"):
        tvm.device("other")


def test_entry_function_has_a_name():
    rt_mod = tvm.build(iropt.IRModule({"main": Loops["add1"]}), target="llvm")
    a, b = runtime.array(np.arange(4, dtype="float32")), runtime.empty((4,), "float32")
    assert rt_mod.time_evaluator(rt_mod.entry_name, tvm.cpu(), number=1)(a, b).mean > 0
    np.testing.assert_array_equal(b.numpy(), [1, 2, 3, 4])


def test_several_results_are_a_list_of_the_ir():
    @I.ir_module
    class Two:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            return (R.add(x, x), (x,))

    result = relax.VirtualMachine(relax.build(Two))["main"](np.ones(2, "float32"))
    assert isinstance(result, ir.Array) and isinstance(result[1], ir.Array)
    np.testing.assert_array_equal(result[0].numpy(), [2, 2])


def test_local_session(tmp_path):
    from iropt import rpc

    path = tmp_path / "lib.tar"
    tvm.build(Loops, target="llvm").export_library(str(path))
    session = rpc.LocalSession()
    session.upload(str(path))
    a, b = runtime.array(np.zeros(4, "float32"), session.cpu()), runtime.empty((4,), "float32")
    session.load_module("lib.tar")["add1"](a, b)
    np.testing.assert_array_equal(b.numpy(), np.ones(4))
    with pytest.raises(NotImplementedError, match="rpc.connect"):
        rpc.connect("host", 9090)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_shared_objects(tmp_path, monkeypatch):
    path = tmp_path / "lib.so"
    a, b = runtime.array(np.arange(4, dtype="float32")), runtime.empty((4,), "float32")
    for name in ("add1", "add1"):
        assert tvm.build(Loops, target="llvm").export_library(path) == str(path)
        assert path.read_bytes()[:4] == b"\x7fELF"
        runtime.load_module(str(path))[name](a, b)
        np.testing.assert_array_equal(b.numpy(), [1, 2, 3, 4])
    relax.build(Graph).export_library(str(path))
    x = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(relax.VirtualMachine(runtime.load_module(str(path)))["main"](x, x).numpy(), 4 * x)
    with pytest.raises(RuntimeError, match="cannot make the shared object"):
        relax.build(Graph).export_library(str(path), cc="false")
    # Without a compiler it is an archive.
    monkeypatch.setenv("PATH", "")
    relax.build(Graph).export_library(str(path))
    assert path.read_bytes()[:2] == b"PK"
    assert runtime.load_module(str(path)).implements_function("main")


def test_other_shared_objects_are_refused(tmp_path):
    path = tmp_path / "other.so"
    path.write_bytes(b"\x7fELF and nothing else")
    with pytest.raises(iropt.Error, match="is not a file that export_library"):
        runtime.load_module(str(path))


def test_executables_import_the_kernels_of_the_host():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            return R.add(x, x)

    (kernels,) = relax.build(Module, target="llvm").mod.imported_modules
    assert kernels.type_key == "llvm" and "R.add" in kernels.get_source("ll") and kernels.imported_modules == []


def test_executables_of_built_modules():
    built = tvm.build(Loops, "llvm")
    executable = runtime.Executable(built)
    assert executable.mod is built and executable.jit() is executable.jit() and "add1" in repr(executable)
    first = executable.jit()
    assert executable.jit(force_recompile=True) is not first
    result = runtime.array(np.zeros(4, "float32"))
    executable.jit()["add1"](runtime.array(np.ones(4, "float32")), result)
    assert result.numpy().tolist() == [2] * 4


def test_parameters_as_bytes(tmp_path):
    params = {"weight": np.arange(6, dtype="float32").reshape(2, 3), "mask": np.array([True, False]), "": np.array(7, "int64"),
              "half": np.ones((0, 4), "float16")}
    data = runtime.save_param_dict({name: runtime.array(value) for name, value in params.items()})
    # The magic numbers and the layout are TVM's.
    assert data[:8] == bytes.fromhex("b79c04054f8de5f7") and bytes.fromhex("3fa1b496f0405edd") in data
    for read in (runtime.load_param_dict(data), runtime.load_param_dict(bytes(runtime.save_param_dict(params)))):
        assert list(read) == list(params)
        for name, value in params.items():
            assert read[name].numpy().dtype == value.dtype and (read[name].numpy() == value).all()
            assert read[name].numpy().shape == value.shape
    runtime.save_param_dict_to_file(params, str(tmp_path / "p"))
    assert list(runtime.load_param_dict_from_file(str(tmp_path / "p"))) == list(params)
    for wrong, message in ((data[:-1], "end too early"), (b"", "end too early"), (b"1" * 40, "magic number of parameters")):
        with pytest.raises(ValueError, match=message):
            runtime.load_param_dict(wrong)
    pair = bytes(runtime.save_param_dict({"a": np.array([1, 2], "int32")}))
    rank = pair.index(bytes.fromhex("3fa1b496f0405edd")) + 24
    for at, number, message in ((rank, -1, "has -1 axes"), (rank, 99, "has 99 axes"), (rank + 8, -2, "has 8 bytes"), (rank + 8, 1 << 40, "has 8 bytes")):
        size = 4 if at == rank else 8
        with pytest.raises(ValueError, match=message):
            runtime.load_param_dict(pair[:at] + number.to_bytes(size, "little", signed=True) + pair[at + size:])

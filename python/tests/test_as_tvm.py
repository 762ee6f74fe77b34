"""Programs for TVM: what is missing, versions, files, tracebacks."""
import os
import subprocess
import sys


def run(tmp_path, program, *options, **environment):
    path = tmp_path / "program.py"
    path.write_text(program)
    return subprocess.run([sys.executable, "-m", "iropt.as_tvm", *options, str(path)], check=False, capture_output=True,
                          text=True, env={**os.environ, **environment})


def output(tmp_path, program, *options, **environment):
    result = run(tmp_path, program, *options, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_help_fits_the_terminal():
    done = subprocess.run([sys.executable, "-m", "iropt.as_tvm", "--help"], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("Runs a program that was written for TVM.")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_names_that_no_version_has_do_not_exist(tmp_path):
    assert output(tmp_path, """
import tvm
print(hasattr(tvm, "no_such_thing"), hasattr(tvm.relax, "no_such_pass"), hasattr(tvm, "autotvm"))
for statement in ("from tvm.nowhere import nothing", "from tvm.relax import nothing", "import tvm.nowhere"):
    try:
        exec(statement)
    except ImportError as error:
        print(type(error).__name__)
""") == "False False True\nModuleNotFoundError\nImportError\nModuleNotFoundError\n"


def test_missing_class_is_a_base_only_with_an_error_that_names_it(tmp_path):
    result = run(tmp_path, "from tvm import auto_scheduler\nclass A(auto_scheduler.SearchTask):\n    pass\n")
    assert "NotImplementedError: tvm.auto_scheduler.SearchTask is not a part of iropt" in result.stderr


def test_nothing_is_an_instance_of_a_missing_class(tmp_path):
    assert output(tmp_path, """
from typing import List, Optional
from tvm.auto_scheduler import SearchTask
def g(x: Optional[SearchTask], y: List[SearchTask], z: int | SearchTask) -> SearchTask | None: pass
print(isinstance(1, SearchTask), isinstance(1, (str, SearchTask)), isinstance(1, int | SearchTask), issubclass(int, SearchTask))
""") == "False False True False\n"


def test_messages_have_the_name_that_was_used(tmp_path):
    result = run(tmp_path, "from tvm import auto_scheduler as a\na.auto_schedule(None)\n")
    assert "NotImplementedError: tvm.auto_scheduler.auto_schedule is not" in result.stderr


def test_program_of_two_files(tmp_path):
    (tmp_path / ("sibling" + ".py")).write_text("value = 3\n")
    assert output(tmp_path, "import sibling, sys\nprint(sibling.value, __name__, __file__ == sys.argv[0])\n") == (
        "3 __main__ True\n")


def test_traceback_begins_in_the_program(tmp_path):
    result = run(tmp_path, "def f():\n    return 1 // 0\nf()\n")
    lines = result.stderr.splitlines()
    assert result.returncode == 1 and lines[0].startswith("Traceback") and "program" + ".py" in lines[1]


def test_exit_code_of_the_program(tmp_path):
    assert run(tmp_path, "import sys\nsys.exit(7)\n").returncode == 7


def test_version_follows_what_is_imported(tmp_path):
    assert output(tmp_path, """
import tvm
print(tvm.__version__)
from tvm import tirx
print(tvm.__version__)
""") == "0.18.0\n0.27.0\n"


def test_version_that_is_asked_for(tmp_path):
    program = """
import tvm
print(tvm.__version__)
try:
    from tvm import tirx
except ImportError:
    print("no tirx")
"""
    assert output(tmp_path, program, "--tvm-version", "0.20") == "0.20.0\nno tirx\n"
    assert output(tmp_path, program, IROPT_TVM_VERSION="0.25.0") == "0.25.0\n"
    result = run(tmp_path, program, "--tvm-version", "0.1")
    assert result.returncode == 1 and "unknown version of TVM '0.1'" in result.stderr


def test_conftest_of_tvm_is_honoured(tmp_path):
    (tmp_path / ("test_it" + ".py")).write_text("""
import pytest
import tvm
from tvm.relax.ir.instrument import WellFormedInstrument
from tvm import relax
from tvm.script import relax as R


@pytest.fixture(autouse=True)
def checked():
    current = tvm.transform.PassContext.current()
    with tvm.transform.PassContext(instruments=[WellFormedInstrument()], trace_stack=current.trace_stack,
                                   make_traceable=current.make_traceable, num_evals=current.num_evals,
                                   tuning_api_database=current.get_tuning_api_database()):
        yield


def test_ill_formed():
    x = relax.Var("x", R.Tensor((2,), "float32"))
    M = tvm.IRModule({"main": relax.Function([], relax.SeqExpr([], x), R.Tensor((2,), "float32"))})
    with pytest.raises(AssertionError, match="before pass 'DeadCodeElimination'"):
        tvm.relax.transform.DeadCodeElimination()(M)
""")
    result = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "iropt.testing.plugin", "-p", "no:cacheprovider",
                             str(tmp_path / ("test_it" + ".py"))], check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_names_of_tvm_ffi(tmp_path):
    assert output(tmp_path, """
import tvm
import tvm_ffi
from tvm_ffi import DLDeviceType, Shape
print(int(DLDeviceType.kDLMetal), Shape([1, 2]), tvm.device(DLDeviceType.kDLCUDA, 0).device_type)
tvm_ffi.register_global_func("py_test.twice", lambda x: 2 * x)
tvm_ffi.init_ffi_api("py_test", __name__)
print(twice(4), tvm_ffi.structural_equal(tvm.tir.const(1, "int32"), tvm.tir.const(1, "int32")))
""") == "8 (1, 2) 2\n8 True\n"


def test_conftest_of_the_whole_repository_is_honoured(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tvm.testing.plugin"]\n')
    (tmp_path / ("test_parameters" + ".py")).write_text("""
import tvm.testing

a, b = tvm.testing.parameters((1, 2), (3, 4))


def test_pairs(a, b):
    assert (a, b) in [(1, 2), (3, 4)]
""")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "iropt.testing.plugin", "-p", "no:cacheprovider", "."],
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout


NEWEST = """
import tvm
from tvm import tirx
from tvm.script import ir as I, tirx as T
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as B
"""


def test_modules_of_a_chosen_version_are_read_back_as_they_are_printed(tmp_path):
    program = NEWEST + """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((16,), "float32")):
        T.evaluate(A[0])

@T.prim_func(s_tir=True)
def alone(A: T.Buffer((16,), "float32")):
    T.evaluate(A[0])

for value in (Module, alone):
    read = tvm.script.from_source(value.script())
    print(tvm.ir.structural_equal(value, read), "(s_tir=True)" in value.script(), "import tirx" in read.script())
print(alone.__name__, "import tirx" in tirx.PrimFunc([], tirx.Evaluate(0)).script())
"""
    expected = "True True True\nTrue True True\nalone True\n"
    assert output(tmp_path, program, IROPT_TVM_VERSION="0.27") == expected


def test_scripts_and_builders_of_the_newest_version(tmp_path):
    assert output(tmp_path, NEWEST + """
dtype = "float16"

@T.inline
def store(A, value):
    A[0] = T.Cast("float16", value)

@T.prim_func(s_tir=True)
def scripted(A: T.Buffer((1,), "float16")):
    store(A, getattr(T, dtype)(2.0))
    T.Return(T.int32(5))

print(scripted.script())
with IRBuilder() as builder:
    with B.prim_func(s_tir=True):
        B.func_name("built")
        B.evaluate(1)
print(builder.get().script())
assert tirx.decl_buffer((4,), "float32", "A", layout=None).layout is None
try:
    @T.inline(True)
    def wrong():
        T.evaluate(0)
except ValueError as error:
    print(error)
from tvm_ffi.access_path import AccessPath
from tvm.script.printer.doc import FunctionDoc, IdDoc, OperationDoc, OperationKind
from tvm.script.printer.doc_printer import to_python_script
print(AccessPath.root().attr("body").array_item(1).map_item("k"))
print(to_python_script(FunctionDoc(IdDoc("f"), [], [], None, [], [IdDoc("n")])).split(":")[0],
      to_python_script(OperationDoc(OperationKind.MatMul, [IdDoc("a"), IdDoc("b")])))
""").splitlines()[2:] == """@T.prim_func
def scripted(A: T.Buffer((1,), "float16")):
    A[0] = T.Cast("float16", T.float16(2.0))
    return 5
# from tvm.script import tir as T

@T.prim_func
def built():
    T.evaluate(1)
the decorator of a macro has keywords only, not True
<root>.body[1]["k"]
def f[n]() a @ b""".splitlines()


def test_analysis_of_ill_formed_code_answers_as_in_the_version(tmp_path):
    program = """
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R

x = relax.Var("x", R.Tensor((2,), "float32"))
func = relax.Function([], relax.SeqExpr([], x), R.Tensor((2,), "float32"))
mod = tvm.IRModule({"main": func})
print(relax.analysis.check_well_formed(mod))
try:
    print(relax.analysis.well_formed(mod))
except Exception as error:
    print(str(error).split(":")[0])
"""
    assert output(tmp_path, program, "--tvm-version", "0.18") == "False\nFalse\n"
    assert output(tmp_path, program, "--tvm-version", "0.27") == "False\nerror\n"


def test_types_that_have_nothing_in_common_are_of_any_type(tmp_path):
    program = """
from tvm import relax
from tvm.script import relax as R
print(relax.analysis.type_lca(R.Prim("int8"), R.Prim("uint8")) == R.Any())
"""
    assert output(tmp_path, program, "--tvm-version", "0.27") == "True\n"


def test_types_of_scalars_are_of_one_class(tmp_path):
    program = """
import tvm
from tvm import relax, tirx
from tvm.script import relax as R
n = relax.Var("n", ty=tvm.ir.PrimType("int64"))
print(isinstance(n.ty, tvm.ir.PrimType), isinstance(relax.Var("x", R.Any()).ty, tvm.ir.PrimType))
print(tvm.ir.PrimType("int64") == n.ty, tvm.ir.PrimType("int32") == n.ty, n.ty.dtype)
print(relax.analysis.type_base_check(relax.AnyType(), tvm.ir.PrimType("int32")).name, relax.analysis.type_lca(n.ty, tvm.ir.PrimType("int64")) == n.ty)
print(type(tvm.ir.Var("v", n.ty)) is tirx.Var)
"""
    assert output(tmp_path, program, "--tvm-version", "0.27") == "True False\nTrue False int64\nPASS True\nTrue\n"


def test_modules_of_topi_have_their_functions(tmp_path):
    assert output(tmp_path, """
from tvm import te, topi
import tvm.topi.nn.softmax
from tvm.topi.math import *
from tvm.topi.nn.conv2d import *
from tvm.topi.transform import strided_slice
A = te.placeholder((2, 3), name="A")
print(exp(A).shape, topi.nn.softmax(A).shape, strided_slice(A, [0], [1], assume_inbound=False).shape, conv2d_nchw.__name__)
""") == "[2, 3] [2, 3] [1, 3] conv2d_nchw\n"


def test_pipelines_are_functions_by_their_names(tmp_path):
    assert output(tmp_path, """
import tvm
from tvm.relax import pipeline
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = R.exp(R.add(x, x))
            R.output(y)
        return y

print("fused" in pipeline.zero_pipeline()(Module).script(), "R.add" in pipeline.default_build_pipeline()(Module).script())
""") == "True False\n"


def test_modules_below_those_of_operators(tmp_path):
    assert output(tmp_path, """
import tvm
from tvm import relax
from tvm.relax.op.binary import add
from tvm.relax.op.nn.nn import relu
from tvm.relax.op.image.image import resize2d
from tvm.relax.op.manipulate import reshape
from tvm.runtime.executable import Executable
from tvm.runtime.device import Device
x = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))
print(add(x, x).op, relu(x).op, relax.op.statistical.mean(x).op, relax.op.manipulate is not None)
tvm.support.describe()
""").splitlines()[:3] == ["relax.add relax.nn.relu relax.mean True", "Python Environment", "  iropt version  = " + _version()]


def _version():
    import iropt

    return iropt.__version__

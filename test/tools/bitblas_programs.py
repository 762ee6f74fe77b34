#!/usr/bin/env python3
"""Makes the functions of BitBLAS with `tvm` answered by the Python package, and schedules them by its own rules.

  bitblas_programs.py --package FOLDER --repository REPOSITORY [--commit COMMIT] [--minimum COUNT] [--reasons]

The library is taken from a clone of BitBLAS's repository, into a temporary folder. Its matrix products, of several dtypes,
layouts and storages of weights, are made, printed and read again, and each of its rules for GPUs is applied to each. What a rule
makes is compared with the function on generated inputs. torch, tilelang and kernels for ROCm are replaced by modules that do
nothing, and the GPU by a description of one. Prints how many functions are made and how many schedules compute the same, with
--reasons also why rules fail. Exits with 1 if a schedule computes something else, or fewer schedules than --minimum are made, and
with 77 if there is no such clone.
"""
import argparse
import collections
import contextlib
import importlib.machinery
import io
import itertools
import os
import subprocess
import sys
import tempfile
import types
import warnings

COMMIT = "0c51e34"
STANDINS = ("torch", "tilelang", "thefuzz", "dtlib")


class Nothing:
    """A value that can be used as any other one, and does nothing."""

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else Nothing()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __iter__(self):
        return iter(())

    def __mro_entries__(self, bases):
        return (object,)


class NothingModule(types.ModuleType):
    """A module that has all names."""

    __path__: list = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Finder:
    """Finds the modules that do nothing."""

    def find_spec(self, name, path=None, target=None):
        del path, target
        if name.split(".")[0] in STANDINS or name == "bitblas.gpu.intrin.hip":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return NothingModule(spec.name)

    def exec_module(self, module):
        del module


class Gpu:
    """What BitBLAS asks about a GPU."""

    exist, compute_version, device_name, api_version = True, "8.0", "A100", 12000
    multi_processor_count, warp_size, max_shared_memory_per_block, max_threads_per_block = 108, 32, 49152, 1024


def unpack(repository, commit, folder):
    """Writes the library of a commit into a folder."""
    archive = subprocess.run(["git", "-C", repository, "archive", commit, "bitblas"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)


def install(folder):
    """Lets programs import tvm and bitblas. The package itself is not run: it loads a library of C."""
    from iropt import as_tvm

    as_tvm.install()
    sys.meta_path.insert(0, Finder())
    import tilelang
    import tvm

    tvm.runtime.cuda = tvm.cuda = lambda index=0: Gpu()
    # TVM's branch in BitBLAS has one more argument.
    reindex = tvm.tir.Schedule.reindex
    tvm.tir.Schedule.reindex = lambda self, *args, skip_simplify=False, **kwargs: reindex(self, *args, **kwargs)
    package = types.ModuleType("bitblas")
    package.__path__ = [os.path.join(folder, "bitblas")]
    package.tvm, package.tilelang, package.__version__ = tvm, tilelang, "0"
    sys.modules["bitblas"] = package


def functions():
    """The functions by names, as functions without parameters that make them."""
    from bitblas.base.operator_common import TransformKind
    from bitblas.ops.general_matmul.tirscript.matmul_dequantize_impl import select_implementation as dequantized
    from bitblas.ops.general_matmul.tirscript.matmul_impl import select_implementation as product
    from bitblas.ops.impl.batch_matmul_impl import select_implementation as batches
    from bitblas.ops.impl.ladder_permutate_impl import select_implementation as ladder
    from bitblas.ops.impl.lop3_permutate_impl import select_implementation as interleaved
    from bitblas.ops.impl.matmul_splitk_impl import select_implementation as split

    half = ("float16",) * 3
    made = {}
    for m in (1, 16, None):
        for dtypes, layout, bias in itertools.product((half, ("int8", "int32", "int32")), ("nt", "nn"), (False, True)):
            made[f"product {m} {dtypes[0]} {layout} {bias}"] = (product, m, 64, 64, dtypes[0], dtypes[1], dtypes[2], bias, layout)
        for kinds in ((0, 1), (1, 0), (1, 1), (2, 2), (3, 3)):
            made[f"product {m} {kinds}"] = (product, m, 64, 64, *half, False, "nt", *kinds)
        for (bits, kind), (scaled, zeros, mode), fast in itertools.product(
                ((4, "uint"), (4, "int"), (2, "uint"), (1, "uint"), (4, "nf"), (8, "fp_e4m3")),
                ((False, False, "original"), (True, False, "original"), (True, True, "original"), (True, True, "rescale"),
                 (True, True, "quantized")), (False, True)):
            if not zeros or kind == "uint":
                made[f"dequantized {m} {kind}{bits} {scaled} {zeros} {mode} {fast}"] = (
                    dequantized, m, 64, 64, *half, bits, "int8", kind, scaled, zeros, 32 if scaled else -1, fast, False, "nt", mode)
        made[f"batches {m}"] = (batches, 2, m, 64, 64, *half, False, "nt", TransformKind(0), TransformKind(0))
        made[f"split {m}"] = (split, 2, m, 64, 64, *half)
    for dtype, bits in itertools.product(("float16", "int8"), (4, 2, 1)):
        made[f"interleaved {dtype} {bits}"] = (interleaved, 64, 64, dtype, "int32", bits)
    for kind, matrix, transposed in itertools.product((1, 2, 3), "AB", (False, True)):
        made[f"ladder {kind} {matrix} {transposed}"] = (ladder, 64, 64, "float16", -1, "float16", matrix, transposed, kind)
    return {name: lambda call=call: call[0](*call[1:]) for name, call in made.items()}


def text_of(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"


def schedule(module, rules, target, results, reasons):
    """Applies each rule to the function of a module, and compares the values."""
    import iropt

    for rule in rules:
        try:
            made = rule().apply(module["main"], target, False)
        except Exception as error:  # pylint: disable=broad-except
            results[rule.__name__, "fails"] += 1
            reasons[rule.__name__, text_of(error)] += 1
            continue
        if made is None:
            results[rule.__name__, "does not apply"] += 1
            continue
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                iropt.check_semantics(module, (made[0] if isinstance(made, list) else made).mod)
            results[rule.__name__, "same"] += 1
        except iropt.Error as error:
            results[rule.__name__, "DIFFERS"] += 1
            reasons[rule.__name__, text_of(error)] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", required=True)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--commit", default=COMMIT)
    parser.add_argument("--minimum", type=int, default=0)
    parser.add_argument("--reasons", action="store_true")
    options = parser.parse_args()
    if not os.path.isdir(options.repository):
        print(f"skipped: no clone of BitBLAS at {options.repository}")
        return 77
    warnings.simplefilter("ignore")
    sys.path.insert(0, options.package)
    results, reasons, names = collections.Counter(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        unpack(options.repository, options.commit, folder)
        install(folder)
        import iropt
        import tvm
        from bitblas import gpu

        rules = [gpu.Matmul, gpu.GEMV, gpu.Reduction, gpu.GeneralReduction, gpu.Fallback, gpu.GEMVWithDequantizeInfo]
        target = tvm.target.Target("nvidia/nvidia-a100")
        for name, make in functions().items():
            try:
                made = make()
                module = made if isinstance(made, tvm.IRModule) else tvm.IRModule({"main": made})
                iropt.ir.assert_structural_equal(module, iropt.from_source(module.script()))
            except Exception as error:  # pylint: disable=broad-except
                names["fail"] += 1
                reasons[name, text_of(error)] += 1
                continue
            names["made"] += 1
            schedule(module, rules, target, results, reasons)
    print(f"{names['made']} of {names.total()} functions are made, and read again as they were")
    for (rule, result), count in sorted(results.items()):
        print(f"{rule:24} {result:16} {count}")
    if options.reasons:
        for (place, reason), count in reasons.most_common():
            print(f"{count:5}  {place}: {reason}")
    same = sum(count for (_, result), count in results.items() if result == "same")
    differ = sum(count for (_, result), count in results.items() if result == "DIFFERS")
    print(f"{same} schedules compute the same, {differ} do not")
    return 0 if not differ and not names["fail"] and same >= options.minimum else 1


if __name__ == "__main__":
    sys.exit(main())

"""Comparison by structure."""
import numpy
import pytest

from iropt import ir, runtime, tir
from iropt.runtime import ObjectPath
from iropt.script import ir as I
from iropt.script import tir as T

ROOT = ObjectPath.root()


def sequence(*values):
    return tir.SeqStmt([tir.Evaluate(tir.const(value)) for value in values])


def test_paths_of_differences():
    assert ir.get_first_structural_mismatch(sequence(1, 2), sequence(1, 2)) is None
    path = ROOT.attr("seq").array_index(1).attr("value").attr("value")
    assert ir.get_first_structural_mismatch(sequence(1, 2), sequence(1, 3)) == (path, path)
    # Items that differ come before lengths.
    assert ir.get_first_structural_mismatch(sequence(1, 2, 3), sequence(1, 3)) == (path, path)
    missing = ROOT.attr("seq").array_index(2), ROOT.attr("seq").missing_array_element(2)
    assert ir.get_first_structural_mismatch(sequence(1, 2, 3), sequence(1, 2)) == missing
    assert ir.get_first_structural_mismatch(sequence(1, 2), sequence(1, 2, 3)) == missing[::-1]


def test_paths_in_functions_and_modules():
    def module(n):
        @I.ir_module
        class Module:
            @T.prim_func
            def func(A: T.Buffer((8, n), "int32")):
                for i in range(8):
                    A[i, 0] = 1

        return Module

    left, right = ir.get_first_structural_mismatch(module(4), module(5))
    assert left == right and str(left).startswith('<root>.functions[I.GlobalVar("func")].buffer_map[')
    assert str(left).endswith("].shape[1].value")


def test_values_that_are_no_nodes():
    a, b = (runtime.array(numpy.arange(6).reshape(2, 3)) for _ in range(2))
    assert ir.structural_equal(a, b) and ir.structural_hash(a) == ir.structural_hash(b)
    assert not ir.structural_equal(a, runtime.array(numpy.arange(6))) and not ir.structural_equal(
        a, runtime.array(numpy.arange(6).reshape(2, 3).astype("int32")))
    one, other = {"x": [1, 2], "y": a}, {"y": b, "x": [1, 2]}
    assert ir.structural_equal(one, other) and ir.structural_hash(one) == ir.structural_hash(other)
    assert not ir.structural_equal(one, {"x": [1, 3], "y": a}) and not ir.structural_equal(one, {"x": [1, 2]})


def test_meshes_and_placements_of_distributed_tensors():
    from iropt import relax
    from iropt.relax import distributed
    from iropt.script import ir as I, relax as R

    placement = distributed.Placement.from_text("S[0], R")
    assert placement.dim_specs == [distributed.PlacementSpec.sharding(0), distributed.PlacementSpec.replica()] and str(placement) == "S[0], R"
    with pytest.raises(ValueError, match=r"unknown placement 'S\[x\]'"):
        distributed.Placement.from_text("S[x]")

    @I.ir_module
    class Module:
        I.module_attrs({"device_num": 2})
        I.module_global_infos({"mesh": [R.device_mesh((2,), I.Range(0, 2))]})

        @R.function
        def main(x: R.DTensor((4, 4), "float32", "mesh[0]", "R")):
            y = R.dist.redistribute(x, "mesh[0]", "S[1]")
            return y

    mesh = Module.global_infos["mesh"][0]
    assert ir.structural_equal(mesh, distributed.device_mesh((2,), range(0, 2))) and mesh.is_range
    lowered = distributed.LegalizeRedistribute()(Module)
    assert "redistribute_replica_to_shard" in lowered.script()
    info = relax.distributed.DTensorType(relax.TensorStructInfo((4, 4), "float32"), mesh, distributed.Placement.from_text("S[0]"))
    assert info.placement == "S[0]"

"""Partitioning of modules for libraries of devices: what each takes, and what stays."""
import numpy as np
import pytest

import iropt
from iropt import relax
from iropt.relax.backend import patterns
from iropt.relax.backend.contrib.coreml import partition_for_coreml
from iropt.relax.backend.contrib.cublas import partition_for_cublas
from iropt.relax.backend.contrib.cudnn import partition_for_cudnn
from iropt.relax.backend.contrib.cutlass import is_shape_valid_for_cutlass_matmul, partition_for_cutlass
from iropt.relax.backend.contrib.hipblas import partition_for_hipblas
from iropt.relax.backend.contrib.nnapi import min_feature_level, partition_for_nnapi
from iropt.relax.backend.contrib.tensorrt import partition_for_tensorrt
from iropt.script import ir as I, relax as R


def _made(mod):
    """The patterns of the functions that a partition has made, in their order."""
    found = []

    def visit(node):
        if isinstance(node, relax.Function) and node.attrs and "Composite" in node.attrs:
            found.append(str(node.attrs["Composite"]))

    for func in mod.functions.values():
        if isinstance(func, relax.Function):
            relax.analysis.post_order_visit(func, visit)
    return sorted(set(found))


def _matmul(dtype="float16", x=(8, 32), w=(16, 32), bias=(16,), activation=None):
    builder = relax.BlockBuilder()
    operands = [relax.Var(name, relax.TensorStructInfo(shape, dtype)) for name, shape in (("x", x), ("w", w), ("b", bias)) if shape]
    with builder.function("main", operands):
        with builder.dataflow():
            value = builder.emit(relax.op.matmul(operands[0], builder.emit(relax.op.permute_dims(operands[1]))))
            if bias:
                value = builder.emit(relax.op.add(value, operands[2]))
            if activation:
                value = builder.emit(activation(value))
            value = builder.emit_output(value)
        builder.emit_func_output(value)
    return builder.get()


@pytest.mark.parametrize("partition, name", [(partition_for_cublas, "cublas"), (partition_for_hipblas, "hipblas"), (partition_for_cutlass, "cutlass")])
def test_products_of_float16(partition, name):
    assert _made(partition(_matmul(activation=relax.op.nn.relu))) == [f"{name}.matmul_transposed_bias_relu"]
    assert _made(partition(_matmul(bias=None))) == [f"{name}.matmul_transposed"]


def test_core_ml_takes_single_operators():
    mod = partition_for_coreml(_matmul("float32", activation=relax.op.nn.relu))
    assert _made(mod) == ["coreml.add", "coreml.matmul", "coreml.nn.relu"]
    regions = [func for func in mod.functions.values() if func.attrs and "Codegen" in func.attrs]
    assert [str(func.attrs["Codegen"]) for func in regions] == ["coreml"]


def test_what_libraries_do_not_take_stays():
    assert _made(partition_for_hipblas(_matmul("float32"))) == []
    assert _made(partition_for_cublas(_matmul("float64"))) == []
    assert _made(partition_for_cublas(_matmul("int8", bias=None))) == ["cublas.matmul_transposed"]
    # Rows of integers have multiples of 4, and no bias.
    assert _made(partition_for_cublas(_matmul("int8", x=(8, 30), w=(16, 30), bias=None))) == []
    assert _made(partition_for_cublas(_matmul("int8"))) == ["cublas.matmul_transposed"]
    # A bias is a vector.
    assert _made(partition_for_cublas(_matmul(bias=(8, 16)))) == ["cublas.matmul_transposed"]
    assert _made(partition_for_cutlass(_matmul(bias=(8, 16)))) == ["cutlass.matmul_transposed_bias"]


def test_batches_of_products():
    assert is_shape_valid_for_cutlass_matmul([2, 3, 4, 8], [8, 16])
    assert not is_shape_valid_for_cutlass_matmul([2, 1, 4, 8], [2, 3, 8, 16])


@I.ir_module
class Images:
    @R.function
    def main(x: R.Tensor((1, 8, 8, 4), "float32"), w: R.Tensor((8, 3, 3, 4), "float32"), b: R.Tensor((1, 1, 1, 8), "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w, padding=(1, 1), data_layout="NHWC", kernel_layout="OHWI")
            z = R.add(y, b)
            a = R.nn.relu(z)
            R.output(a)
        return a


def test_convolutions():
    assert _made(partition_for_cudnn(Images)) == ["cudnn.conv2d.nhwc_ohwi_bias_relu"]
    assert _made(partition_for_cutlass(Images)) == ["cutlass.conv2d_bias_relu"]
    assert "nnapi.conv2d" in _made(partition_for_nnapi(Images))
    assert _made(partition_for_tensorrt(Images)) == ["tensorrt.add", "tensorrt.nn.conv2d", "tensorrt.nn.relu"]


def test_levels_of_features():
    assert (min_feature_level("nnapi.conv2d"), min_feature_level("nnapi.batch_matmul"), min_feature_level("nnapi.mean")) == (1, 6, 2)
    assert "nnapi.batch_matmul" in _made(partition_for_nnapi(_matmul()))
    assert _made(partition_for_nnapi(_matmul(), feature_level=1)) == ["nnapi.add"]


@I.ir_module
class Attention:
    @R.function
    def main(q: R.Tensor((2, 6, 4, 8), "float32"), k: R.Tensor((2, 5, 4, 8), "float32"), v: R.Tensor((2, 5, 4, 8), "float32"),
             bias: R.Tensor((8, 6, 5), "float32")):
        with R.dataflow():
            q1 = R.reshape(R.permute_dims(q, (0, 2, 1, 3)), (8, 6, 8))
            k1 = R.permute_dims(R.reshape(R.permute_dims(k, (0, 2, 1, 3)), (8, 5, 8)), (0, 2, 1))
            v1 = R.reshape(R.permute_dims(v, (0, 2, 1, 3)), (8, 5, 8))
            scores = R.multiply(R.matmul(q1, k1), R.const(0.5, "float32"))
            weights = R.nn.softmax(R.add(scores, bias), axis=-1)
            out = R.permute_dims(R.reshape(R.matmul(weights, v1), (2, 4, 6, 8)), (0, 2, 1, 3))
            R.output(out)
        return out


def test_attention_of_products_is_an_operator():
    pattern, rewriter = patterns.make_attention_rewrite_pattern("BSNH", "BSNH", with_bias=True, with_cast=False)
    func = relax.dpl.rewrite_call(pattern, rewriter, Attention["main"])
    names = []
    relax.analysis.post_order_visit(func, lambda node: names.append(node.op.name) if isinstance(node, relax.Call) else None)
    assert "relax.nn.attention_bias" in names and "relax.nn.softmax" not in names
    random = np.random.default_rng(0)
    inputs = [random.normal(size=shape).astype("float32") for shape in ((2, 6, 4, 8), (2, 5, 4, 8), (2, 5, 4, 8), (8, 6, 5))]
    expected = iropt.run(Attention, "main", *inputs)
    actual = iropt.run(iropt.IRModule({"main": func}), "main", *inputs)
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-5, atol=1e-5)
    # Shapes that do not fit stay.
    pattern, rewriter = patterns.make_attention_rewrite_pattern("BSH", "BSH", with_bias=True, with_cast=False)
    kept = relax.dpl.rewrite_call(pattern, rewriter, Images["main"])
    assert iropt.ir.structural_equal(kept, Images["main"])


def test_workspace_of_attention():
    @I.ir_module
    class Module:
        @R.function
        def main(q: R.Tensor((2, 6, 4, 8), "float16"), k: R.Tensor((2, 6, 4, 8), "float16"), v: R.Tensor((2, 6, 4, 8), "float16")):
            with R.dataflow():
                out = R.nn.attention(q, k, v)
                R.output(out)
            return out

    partitioned = partition_for_cutlass(Module)
    assert _made(partitioned) == ["cutlass.attention"]
    assert "768" in partitioned["main"].script(), "memory of 2 * 6 * 4 * 8 halves is allocated"

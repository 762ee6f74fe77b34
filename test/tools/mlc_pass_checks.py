"""What the compiler passes of MLC-LLM do with modules that they have something to do in; mlc_passes.py runs these functions.

Each is the check of one file of passes, with `tvm` answered by the Python package. They raise an error where something is wrong.
"""
import importlib
import json

from mlc_models import TINY


def of(file, name):
    """A class of a file of passes."""
    return getattr(importlib.import_module(f"mlc_llm.compiler_pass.{file}"), name)


def read(text):
    import iropt

    return iropt.from_source(text)


def arrays(seed=0):
    import numpy

    random = numpy.random.default_rng(seed)
    return lambda *shape, dtype="float32": random.normal(size=shape).astype(dtype)


def run(mod, name, *args):
    """The results of a function, as a list of arrays."""
    import numpy as np

    import iropt

    result = iropt.run(mod, name, *args)
    return [np.asarray(item) for item in (result if isinstance(result, (list, tuple)) else [result])]


def same(before, after, name, *args, rtol=1e-5):
    """Checks that a function computes the same in both modules."""
    import numpy as np

    for expected, result in zip(run(before, name, *args), run(after, name, *args), strict=True):
        np.testing.assert_allclose(result.astype("float64"), expected.astype("float64"), rtol=rtol, atol=rtol)


def near(result, expected, rtol=1e-5):
    import numpy as np

    np.testing.assert_allclose(np.asarray(result), expected, rtol=rtol, atol=rtol)


def expect(condition, what):
    if not condition:
        raise AssertionError(f"expected {what}")


def target(name="nvidia/nvidia-a100"):
    import tvm

    return tvm.target.Target(name)


def names(mod):
    return {name.name_hint for name, _ in mod.functions_items()}


# ---- Passes that add functions


def check_attach_embedding_allocator():
    mod = read("""
@I.ir_module
class Module:
    @R.function
    def embed(x: R.Tensor(("n",), "int32"), w: R.Tensor((64, 8), "float16")) -> R.Tensor(("n", 8), "float16"):
        n = T.int64()
        y: R.Tensor((n, 8), "float16") = R.take(w, x, axis=0)
        return y
""")
    after = of("attach_embedding_allocator", "AttachAllocEmbeddingTensorFunc")({"prefill_chunk_size": 32})(mod)
    (tensor,) = run(after, "alloc_embedding_tensor")
    expect(tensor.shape == (32, 8) and str(tensor.dtype) == "float16", "a tensor for a chunk")


def check_attach_logit_processor():
    import numpy as np

    after = of("attach_logit_processor", "AttachLogitProcessFunc")(target())(read("@I.ir_module\nclass Module:\n    pass\n"))
    logits = arrays()(2, 40)
    rows, tokens, bias = np.array([0, 1, 1], "int32"), np.array([3, 4, 39], "int32"), arrays(1)(3)
    expected = logits.copy()
    expected[rows, tokens] += bias
    result = logits.copy()
    run(after, "apply_logit_bias_inplace", result, rows, tokens, bias)
    near(result, expected)
    mask = np.array([[0x0F0F0F0F, 0xFF], [-1, 0]], "int64").astype("uint32").view("int32")
    result = logits.copy()
    run(after, "apply_bitmask_inplace", result, np.array([0, 1], "int32"), mask)
    bits = (mask.view("uint32")[:, np.arange(40) // 32] >> (np.arange(40) % 32).astype("uint32")) & 1
    near(result, np.where(bits == 1, logits, np.finfo("float32").min))
    penalties = np.array([[0.5, 0.25, 2.0], [0.1, 0.2, 4.0]], "float32")
    counts = np.array([1, 2, 3], "int32")
    expected = logits.copy()
    expected[rows, tokens] -= penalties[rows, 0] + counts * penalties[rows, 1]
    found = expected[rows, tokens]
    expected[rows, tokens] = np.where(found < 0, found * penalties[rows, 2], found / penalties[rows, 2])
    result = logits.copy()
    run(after, "apply_penalty_inplace", result, np.array([0, 1], "int32"), rows, tokens, counts, penalties)
    near(result, expected)


def check_attach_sampler():
    import numpy as np

    pass_ = of("attach_sampler", "AttachGPUSamplingFunc")(target(), {"batch_size": 4})
    after = pass_(read("@I.ir_module\nclass Module:\n    pass\n"))
    expect({"multinomial_from_uniform", "argsort_probs", "sample_with_top_p", "sampler_take_probs", "renormalize_by_top_p",
            "sampler_verify_draft_tokens"} <= names(after), "the functions of sampling")
    probs = np.array([[0.1, 0.4, 0.2, 0.3], [0.25, 0.05, 0.6, 0.1]], "float32")
    values, indices = run(after, "argsort_probs", probs)
    expect((indices == np.argsort(-probs)).all(), "sorted probabilities")
    near(values, np.sort(probs)[:, ::-1])
    samples = np.array([0.05, 0.45, 0.95], "float32")
    rows = np.array([0, 0, 1], "int32")
    (drawn,) = run(after, "multinomial_from_uniform", probs, samples, rows)
    expect(drawn.tolist() == [0, 1, 3], f"samples 0, 1, 3, not {drawn.tolist()}")
    (drawn,) = run(after, "sample_with_top_p", values, indices.astype("int32"), samples, rows, np.array([0.5, 0.9], "float32"))
    expect(drawn.tolist() == [1, 1, 3], f"samples 1, 1, 3, not {drawn.tolist()}")
    taken, top, top_indices = run(after, "sampler_take_probs", probs, indices.astype("int32"), rows, np.array([1, 3, 2], "int32"),
                                  np.array([0, 4], "int32"))
    near(taken, [0.4, 0.3, 0.6])
    near(top, [0.4, 0.6])
    expect(top_indices.tolist() == [1, 2], "the most probable tokens")


def check_attach_softmax_with_temperature():
    import numpy as np

    after = of("attach_softmax_with_temperature", "AttachSoftmaxWithTemperature")(target())(
        read("@I.ir_module\nclass Module:\n    pass\n"))
    logits = arrays()(3, 1, 50)
    temperature = np.array([1.0, 0.5, 0.0], "float32")
    (result,) = run(after, "softmax_with_temperature", logits, temperature)
    scaled = logits[:2] / temperature[:2, None, None]
    weights = np.exp(scaled - scaled.max(-1, keepdims=True))
    near(result[:2], weights / weights.sum(-1, keepdims=True))
    near(result[2], logits[2] == logits[2].max())


def check_attach_spec_decode_aux_funcs():
    import numpy as np

    mod = read("""
@I.ir_module
class Module:
    @R.function
    def prefill_to_last_hidden_states(x: R.Tensor((1, "n", 8), "float16")) -> R.Tuple(R.Tensor((1, "n", 8), "float16"), R.Object):
        n = T.int64()
        y: R.Object = R.null_value()
        return (x, y)
""")
    after = of("attach_spec_decode_aux_funcs", "AttachSpecDecodeAuxFuncs")(1)(mod)
    source, indices = arrays()(2, 4), np.array([2, 0], "int32")
    for name, dtype in (("scatter_probs", "float32"), ("scatter_hidden_states", "float16")):
        result = np.zeros((3, 4), dtype)
        out = run(after, name, source.astype(dtype), indices, result)
        near((out[0] if dtype == "float16" else result)[indices], source.astype(dtype))
    for name, dtype in (("gather_probs", "float32"), ("gather_hidden_states", "float16")):
        table = arrays(1)(3, 4, dtype=dtype)
        result = np.zeros((2, 4), dtype)
        out = run(after, name, table, indices, result)
        near(out[0] if dtype == "float16" else result, table[indices])


def check_attach_support_info():
    import tvm

    mod = read("""
@I.ir_module
class Module:
    @R.function
    def prefill(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return x
    @T.prim_func
    def loops(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.float32(0)
""")
    info = importlib.import_module("mlc_llm.compiler_pass.attach_support_info")
    after = tvm.transform.Sequential([
        info.AttachVariableBounds({"n": 16, "m": -1}), info.AttachAdditionalPrimFuncs({"more": mod["loops"]}),
        info.AttachMemoryPlanAttr(), info.AttachCUDAGraphSymbolicCaptureHints({"prefill": ["n"]}),
        info.AttachPipelineParallelStages(2)])(mod)
    attrs = after["prefill"].attrs
    expect(dict(attrs["tir_var_upper_bound"].items()) == {"n": 16}, "bounds of variables")
    expect(list(attrs["tir_non_negative_var"]) == ["vocab_size"], "variables that are not negative")
    expect(bool(attrs["relax.memory_plan_dynamic_func_output"]), "planned outputs")
    expect(list(attrs["relax.rewrite_cuda_graph.capture_symbolic_vars"]) == ["n"], "hints")
    expect(int(attrs["pipeline_parallel_stages"]) == 2, "stages")
    expect(after["more"].attrs["global_symbol"] == "more", "a function more")


def check_dispatch_kv_cache_creation():
    mod = export_llama()
    metadata = {"model_type": "llama"}
    after = of("dispatch_kv_cache_creation", "DispatchKVCacheCreation")(target(), False, metadata)(mod)
    expect("create_tir_paged_kv_cache" in names(after) and "create_paged_kv_cache" not in names(after), "another function")
    expect(metadata["kv_cache"]["num_hidden_layers"] == 2 and metadata["kv_cache"]["head_dim"] == 16, "metadata of the cache")
    read(after.script())


def check_estimate_memory_usage():
    mod = read("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        storage: R.Object = R.memory.alloc_storage(R.shape([256]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a: R.Tensor((4, 8), "float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([4, 8]), R.dtype("float32"))
        b: R.Tensor((8,), "float16") = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float16"), R.prim_value(0))
        return (a, b)
""")
    after = of("estimate_memory_usage", "AttachMetadataWithMemoryUsage")({"name": "model"})(mod)
    value = json.loads(after["_metadata"].body.body.value)
    expect(value == {"name": "model", "memory_usage": {"main": 272}}, f"272 bytes, not {value}")


# ---- Passes that rewrite


def check_blas_dispatch():
    for name, message in (("nvidia/nvidia-a100", "cuBLAS is not enabled"), ("llvm", "Unsupported target llvm")):
        try:
            of("blas_dispatch", "BLASDispatch")(target(name))
        except Exception as error:  # pylint: disable=broad-except
            expect(message in str(error), f"'{message}', not '{error}'")
        else:
            raise AssertionError("expected an error without a library of BLAS")


def check_clean_up_tir_attrs():
    mod = read("""
@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((4,), "float32")):
        T.func_attr({"op_pattern": 8, "tir.noalias": True})
        for i in range(4):
            A[i] = T.float32(0)
""")
    attrs = of("clean_up_tir_attrs", "CleanUpTIRAttrs")(["op_pattern"])(mod)["loops"].attrs
    expect("op_pattern" not in attrs and bool(attrs["tir.noalias"]), "only the attribute removed")


def check_fuse_add_norm():
    for shape in ((1, 3, 64), (3, 1, 64)):
        mod = read(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({shape}, "float16"), y: R.Tensor({shape}, "float16"), w: R.Tensor((64,), "float16")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.rms_norm(a, w, axes=[-1], epsilon=1e-5)
            R.output(a, b)
        return (a, b)
""")
        after = of("fuse_add_norm", "FuseAddRMSNorm")(target("cuda -max_num_threads=32"))(mod)
        expect("rms_norm(" not in after.script() and any("fuse_add_norm" in name for name in names(after)), "a fused kernel")
        draw = arrays()
        same(mod, after, "main", draw(*shape, dtype="float16"), draw(*shape, dtype="float16"), draw(64, dtype="float16"), rtol=2e-3)


def quantized(quantization, batch="batch"):
    """An embedding and two layers with weights in four bits, and values for its parameters."""
    import numpy as np
    from tvm.relax.frontend import nn

    from mlc_llm.loader import QuantizeMapping
    from mlc_llm.quantization import QUANTIZATION

    class Model(nn.Module):
        def __init__(self):
            self.embed = nn.Embedding(64, 64)
            self.first = nn.Linear(64, 96, bias=True)
            self.second = nn.Linear(96, 64, bias=False)

        def main(self, ids: nn.Tensor):
            hidden = nn.op.reshape(self.embed(ids), (ids.shape[0], 1, 64))
            return self.second(nn.op.silu(self.first(hidden)))

    config = QUANTIZATION[quantization]
    model = config.quantize_model(Model(), QuantizeMapping({}, {}), "")
    mod, params = model.export_tvm({"main": {"ids": nn.spec.Tensor([batch], "int32")}})
    random = np.random.default_rng(0)
    weights = [random.integers(0, 2**32, size=[int(dim) for dim in param.shape], dtype="uint32") if param.dtype == "uint32"
               else random.normal(scale=0.05, size=[int(dim) for dim in param.shape]).astype(param.dtype) for _, param in params]
    return mod, [np.arange(batch if isinstance(batch, int) else 3, dtype="int32"), *weights]


def lower(mod):
    """The operators as fused PrimFuncs, as the pipeline of MLC-LLM makes them."""
    import tvm
    from tvm import relax

    steps = ["LegalizeOps", "AnnotateTIROpPattern", "FoldConstant", "FuseOps", "FuseTIR"]
    return tvm.transform.Sequential([getattr(relax.transform, step)() for step in steps])(mod)


def check_fuse_dequantize_transpose():
    mod, args = quantized("q4f16_0", batch=3)
    same(mod, of("fuse_dequantize_transpose", "FuseDequantizeTranspose")()(mod), "main", *args, rtol=1e-2)
    mod = read("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def dequantize(w: T.Buffer((8, 4), "uint8"), s: T.Buffer((8,), "float32"), out: T.Buffer((4, 8), "float32")):
        T.func_attr({"tir.noalias": True})
        middle = T.alloc_buffer((8, 4))
        for i, j in T.grid(8, 4):
            with T.block("compute"):
                vi, vj = T.axis.remap("SS", [i, j])
                middle[vi, vj] = T.Cast("float32", w[vi, vj]) * s[vi]
        for i, j in T.grid(4, 8):
            with T.block("T_transpose"):
                vi, vj = T.axis.remap("SS", [i, j])
                out[vi, vj] = middle[vj, vi]
    @R.function
    def main(x: R.Tensor((2, 1, 8), "float32"), w: R.Tensor((8, 4), "uint8"), s: R.Tensor((8,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.dequantize, (w, s), out_sinfo=R.Tensor((4, 8), "float32"))
            b = R.permute_dims(a)
            c = R.matmul(x, b)
            R.output(c)
        return c
""")
    after = of("fuse_dequantize_transpose", "FuseDequantizeTranspose")()(mod)
    expect("permute_dims" not in after.script(), "no transposition")
    draw = arrays()
    same(mod, after, "main", draw(2, 1, 8), abs(draw(8, 4) * 50).astype("uint8"), draw(8))


def check_fuse_dequantize_matmul_ewise():
    mod, args = quantized("q4f16_0", batch=3)
    before = lower(mod)
    after = of("fuse_dequantize_matmul_ewise", "FuseDequantizeMatmulEwise")()(before)
    expect(any("dequantize" in name and "matmul" in name for name in names(after)), "dequantize fused with matmul")
    same(before, after, "main", *args, rtol=1e-2)


def check_fuse_dequantize_take():
    import tvm

    mod, args = quantized("q4f16_1")
    before = lower(mod)
    after = tvm.transform.Sequential([of("fuse_dequantize_take", "FuseDequantizeTake")(),
                                      tvm.relax.transform.DeadCodeElimination()])(before)
    expect(any("dequantize" in name and "take" in name for name in names(after)), "dequantize fused with take")
    same(before, after, "main", *args, rtol=1e-2)


def check_fuse_transpose_matmul():
    mod = read("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((6, 8), "float32"), v: R.Tensor((2, 3, 6), "float32")):
        with R.dataflow():
            a = R.permute_dims(w)
            b = R.matmul(x, a)
            c = R.permute_dims(v, axes=[0, 2, 1])
            d = R.matmul(b, c)
            R.output(d)
        return d
""")
    after = of("fuse_transpose_matmul", "FuseTransposeMatmul")()(mod)
    expect("R.permute_dims" not in after["main"].script() and any("NT_matmul" in name for name in names(after)), "NT_matmul")
    draw = arrays()
    same(mod, after, "main", draw(4, 8), draw(6, 8), draw(2, 3, 6))


def check_fuse_ft_dequantize_matmul_epilogue():
    import numpy as np
    import tvm

    def product(x, w, scale, bias, activation):
        value = np.asarray(x.numpy(), "float64") @ w.numpy() * scale.numpy() + (0 if bias is None else bias.numpy())
        return {"identity": value, "silu": value / (1 + np.exp(-value)), "relu": np.maximum(value, 0)}[activation]

    def plain(x, w, scale, activation, m, n, k, group, out):
        out.copyfrom(product(x, w, scale, None, activation).astype("float16"))

    def biased(x, w, scale, bias, activation, m, n, k, group, stride, out):
        out.copyfrom(product(x, w, scale, bias, activation).astype("float16"))

    def residual(x, w, scale, bias, other, activation, binary, unary, m, n, k, group, out):
        value = product(x, w, scale, bias, activation)
        value = value + other.numpy() if binary == "plus" else value * other.numpy()
        out.copyfrom(np.where(value > 0, value, 0 if unary == "relu" else value).astype("float16"))

    register = getattr(tvm, "register_func", None) or tvm.register_global_func
    for name, func in (("", plain), ("_bias", biased), ("_bias_residual", residual)):
        register("fastertransformer.gemm_fp16_int" + name, func, override=True)
    mod = read("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8), "float16"), w: R.Tensor((8, 6), "float16"), s: R.Tensor((6,), "float16"),
             bias: R.Tensor((6,), "float16"), other: R.Tensor((1, 4, 6), "float16")):
        with R.dataflow():
            a = R.call_dps_packed("fastertransformer.gemm_fp16_int", (x, w, s, R.str("identity"), R.prim_value(4), R.prim_value(6),
                                  R.prim_value(8), R.prim_value(8)), out_sinfo=R.Tensor((1, 4, 6), "float16"))
            b = R.add(a, bias)
            c = R.add(b, other)
            d = R.nn.relu(c)
            e = R.call_dps_packed("fastertransformer.gemm_fp16_int", (x, w, s, R.str("identity"), R.prim_value(4), R.prim_value(6),
                                  R.prim_value(8), R.prim_value(8)), out_sinfo=R.Tensor((1, 4, 6), "float16"))
            f = R.nn.silu(e)
            g = R.add(d, f)
            R.output(g)
        return g
""")
    before = mod.clone()
    after = of("fuse_ft_dequantize_matmul_epilogue", "FuseFTDequantizeEpilogue")()(mod)
    text = after.script()
    expect("gemm_fp16_int_bias_residual" in text and 'R.str("silu")' in text and "R.nn." not in text, "fused calls")
    draw = arrays()
    same(before, after, "main", draw(1, 4, 8, dtype="float16"), draw(8, 6, dtype="float16"), draw(6, dtype="float16"),
         draw(6, dtype="float16"), draw(1, 4, 6, dtype="float16"), rtol=2e-2)


def check_lift_global_buffer_alloc():
    mod = read("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(var_x: T.handle, var_y: T.handle):
        T.func_attr({"tir.noalias": True})
        n = T.int64()
        x = T.match_buffer(var_x, (n, 4))
        y = T.match_buffer(var_y, (n, 4))
        middle = T.alloc_buffer((n, 4))
        for i, j in T.grid(n, 4):
            with T.block("first"):
                vi, vj = T.axis.remap("SS", [i, j])
                middle[vi, vj] = x[vi, vj] + T.float32(1)
        for i, j in T.grid(n, 4):
            with T.block("second"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = middle[vi, vj] * T.float32(2)
    @R.function
    def main(x: R.Tensor(("m", 4), "float32")) -> R.Tensor(("m", 4), "float32"):
        m = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((m, 4), "float32"))
            R.output(y)
        return y
""")
    after = of("lift_global_buffer_alloc", "LiftTIRGlobalBufferAlloc")()(mod)
    expect("alloc_buffer" not in after.script(), "no buffer in the function")
    same(mod, after, "main", arrays()(3, 4))


def check_low_batch_specialization():
    mod, args = quantized("q4f16_1")
    before = of("fuse_transpose_matmul", "FuseTransposeMatmul")()(mod)
    before = lower(before)
    before = of("fuse_dequantize_matmul_ewise", "FuseDequantizeMatmulEwise")()(before)
    with target():
        after = of("low_batch_specialization", "LowBatchGemvSpecialize")()(before.clone())
    expect("tvm_thread_invariant" in after.script(), "kernels for few vectors")
    same(before, after, "main", *args, rtol=2e-2)


def check_pipeline_parallel_rewrite():
    import tvm

    mod = read("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, "n", 4), "float32"), packed_params: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        R.func_attr({"num_input": 1, "pipeline_parallel_stages": 2})
        n = T.int64()
        with R.dataflow():
            first: R.Tensor((4,), "float32") = packed_params[0]
            second: R.Tensor((4,), "float32") = packed_params[1]
            a: R.Tensor((1, n, 4), "float32") = R.add(x, first)
            b = R.call_pure_packed("mlc.pipeline_parallel_stage_boundary", a, sinfo_args=[R.Tensor((1, n, 4), "float32")])
            c: R.Tensor((1, n, 4), "float32") = R.multiply(b, second)
            out: R.Tensor((1, n, 4), "float32") = c
            R.output(out)
        return out
""")
    mod = of("scatter_tuple_get_item", "ScatterTupleGetItem")()(mod)
    after = of("pipeline_parallel_rewrite", "PipelineParallelRewrite")()(mod)
    expect({"main_stage0", "main_stage1"} <= names(after), "two stages")
    expect("mlc.multi_gpu.DispatchFunctionByGroup" in after["main"].script(), "a choice of the stage")
    register = getattr(tvm, "register_func", None) or tvm.register_global_func
    sent = []
    register("runtime.disco.send_to_next_group", lambda tensor: sent.append(tensor.numpy()), override=True)
    register("runtime.disco.recv_from_prev_group", lambda tensor: tensor.copyfrom(sent[0]), override=True)
    draw = arrays()
    x, first, second = draw(1, 3, 4), draw(4), draw(4)
    import iropt

    iropt.run(after, "main_stage0", x, (3,), (first, second))
    near(sent[0], x + first)
    near(run(after, "main_stage1", (3,), (first, second))[0], (x + first) * second)


def check_scatter_tuple_get_item():
    mod = read("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = x[0]
            b = x[1]
            c = R.exp(b)
            d = R.add(a, c)
            R.output(d)
        return d
""")
    after = of("scatter_tuple_get_item", "ScatterTupleGetItem")()(mod)
    lines = [line.split("=")[-1].strip() for line in after["main"].script().splitlines() if " = " in line]
    expect([line[:5] for line in lines] == ["x[1]", "R.exp", "x[0]", "R.add"], f"each field where it is used, not {lines}")
    draw = arrays()
    same(mod, after, "main", (draw(4), draw(4)))


def check_attach_cuda_graph_alloc_init_func():
    mod = read("""
@I.ir_module
class Module:
    @R.function(private=True)
    def cuda_graph_alloc() -> R.Tuple(R.Object):
        storage: R.Object = R.memory.alloc_storage(R.shape([256]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        return (storage,)
""")
    after = of("attach_cuda_graph_alloc_init_func", "AttachCUDAGraphAllocInitFunc")()(mod)
    expect("vm.builtin.cuda_graph.get_cached_alloc" in after["cuda_graph_alloc_init"].script(), "a call of the allocation")


def check_dispatch_triton_kernel():
    mod = read('@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    return R.add(x, x)\n')
    after = of("dispatch_triton_kernel", "DispatchTritonKernel")(target())(mod)
    same(mod, after, "main", arrays()(4))
    expect(list(after.attrs["external_mods"]) == [], "no modules without kernels")


# ---- The pipeline


def export_llama():
    """llama in float16 with tiny sizes."""
    from mlc_llm.model import MODELS

    model = MODELS["llama"]
    built = model.model(model.config.from_dict({**TINY, "hidden_size": 64, "head_dim": 16}))
    built.to("float16")
    return built.export_tvm(spec=built.get_default_spec(), allow_extern=True)[0]


def check_pipeline():
    import numpy as np
    import tvm

    importlib.import_module("mlc_llm.compiler_pass.pipeline")
    mod = export_llama()
    metadata = {"model_type": "llama", "pipeline_parallel_stages": 1, "prefill_chunk_size": 32, "tensor_parallel_shards": 1}
    bounds = {"seq_len": 32, "batch_size": 4, "total_seq_len": 64}
    chosen = target()
    with chosen:
        pipeline = tvm.relax.get_pipeline("mlc_llm", target=chosen, variable_bounds=bounds, metadata=metadata)
        after = pipeline(mod.clone())
    expect({"prefill", "decode", "batch_decode", "embed", "_metadata", "softmax_with_temperature", "sample_with_top_p",
            "apply_logit_bias_inplace", "alloc_embedding_tensor"} <= names(after), "functions of the model and of the runtime")
    expect(json.loads(after["_metadata"].body.body.value)["memory_usage"]["prefill"] > 0, "planned memory")
    draw = arrays()
    params = [draw(*[int(dim) if isinstance(dim, int) or hasattr(dim, "value") else TINY["vocab_size"] for dim in
                     param.struct_info.shape.values], dtype=param.struct_info.dtype)
              for param in unpacked(mod, "embed")]
    ids = np.array([5, 1, 60], "int32")
    same(mod, after, "embed", ids, tuple(params), rtol=1e-2)


def unpacked(mod, name):
    """Variables of the parameters that a function takes as a tuple."""
    from tvm import relax

    return [relax.Var("param", field) for field in mod[name].params[-1].struct_info.fields]


CHECKS = {name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")}

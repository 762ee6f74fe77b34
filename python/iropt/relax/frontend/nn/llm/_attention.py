"""Attention as plain loops, for every target: schedules make kernels of it."""
import math

from .....script import tir as T


def attention_sequence_prefill(h_kv, h_q, d, dtype, target=None, causal=0, attn_score_scaling_factor=1.0, *, sm_scale=None):
    """The PrimFunc of attention over whole sequences.

    Its parameters are q (batch, queries, h_q, d), k and v (batch, keys, h_kv, d), the output like q, and for each query
    and head the logarithm to base 2 of the sum of its weights.

    causal: whether a query sees only the keys up to its own place, counted from the end; 0 or 1.
    sm_scale: the factor of scores, in newer versions; without it, it is attn_score_scaling_factor / sqrt(d).
    """
    del target
    group = h_q // h_kv
    scale = (attn_score_scaling_factor / math.sqrt(d) if sm_scale is None else sm_scale) * math.log2(math.e)
    hidden = -5e4
    is_causal = int(causal)

    @T.prim_func
    def func(var_q: T.handle, var_k: T.handle, var_v: T.handle, var_output: T.handle, var_lse: T.handle):
        T.func_attr({"tir.noalias": True})
        batch, queries, keys = T.int64(is_size_var=True), T.int64(is_size_var=True), T.int64(is_size_var=True)
        q = T.match_buffer(var_q, (batch, queries, h_q, d), dtype)
        k = T.match_buffer(var_k, (batch, keys, h_kv, d), dtype)
        v = T.match_buffer(var_v, (batch, keys, h_kv, d), dtype)
        output = T.match_buffer(var_output, (batch, queries, h_q, d), dtype)
        lse = T.match_buffer(var_lse, (batch, queries, h_q), dtype)
        product = T.alloc_buffer((batch, queries, h_q, keys), "float32")
        score = T.alloc_buffer((batch, queries, h_q, keys), "float32")
        largest = T.alloc_buffer((batch, queries, h_q), "float32")
        total = T.alloc_buffer((batch, queries, h_q), "float32")
        mixed = T.alloc_buffer((batch, queries, h_q, d), "float32")
        for b, i, h, j, e in T.grid(batch, queries, h_q, keys, d):
            with T.block("product"):
                vb, vi, vh, vj, ve = T.axis.remap("SSSSR", [b, i, h, j, e])
                with T.init():
                    product[vb, vi, vh, vj] = T.float32(0)
                product[vb, vi, vh, vj] += T.Cast("float32", q[vb, vi, vh, ve]) * T.Cast("float32", k[vb, vj, vh // group, ve])
        for b, i, h, j in T.grid(batch, queries, h_q, keys):
            with T.block("score"):
                vb, vi, vh, vj = T.axis.remap("SSSS", [b, i, h, j])
                score[vb, vi, vh, vj] = T.if_then_else(
                    is_causal == 0 or vj + queries <= vi + keys, product[vb, vi, vh, vj] * T.float32(scale), T.float32(hidden))
        for b, i, h, j in T.grid(batch, queries, h_q, keys):
            with T.block("largest"):
                vb, vi, vh, vj = T.axis.remap("SSSR", [b, i, h, j])
                with T.init():
                    largest[vb, vi, vh] = T.min_value("float32")
                largest[vb, vi, vh] = T.max(largest[vb, vi, vh], score[vb, vi, vh, vj])
        for b, i, h, j in T.grid(batch, queries, h_q, keys):
            with T.block("total"):
                vb, vi, vh, vj = T.axis.remap("SSSR", [b, i, h, j])
                with T.init():
                    total[vb, vi, vh] = T.float32(0)
                total[vb, vi, vh] += T.exp2(score[vb, vi, vh, vj] - largest[vb, vi, vh])
        for b, i, h, e, j in T.grid(batch, queries, h_q, d, keys):
            with T.block("mixed"):
                vb, vi, vh, ve, vj = T.axis.remap("SSSSR", [b, i, h, e, j])
                with T.init():
                    mixed[vb, vi, vh, ve] = T.float32(0)
                mixed[vb, vi, vh, ve] += T.exp2(score[vb, vi, vh, vj] - largest[vb, vi, vh]) * T.Cast(
                    "float32", v[vb, vj, vh // group, ve])
        for b, i, h, e in T.grid(batch, queries, h_q, d):
            with T.block("output"):
                vb, vi, vh, ve = T.axis.remap("SSSS", [b, i, h, e])
                output[vb, vi, vh, ve] = T.Cast(dtype, mixed[vb, vi, vh, ve] / total[vb, vi, vh])
        for b, i, h in T.grid(batch, queries, h_q):
            with T.block("lse"):
                vb, vi, vh = T.axis.remap("SSS", [b, i, h])
                lse[vb, vi, vh] = T.Cast(dtype, largest[vb, vi, vh] + T.log2(total[vb, vi, vh]))

    return func

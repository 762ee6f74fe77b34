"""Rotary positions (RoPE): the frequencies, and the kernels that rotate queries and keys."""
import functools
import math

from ..... import tir
from .....script import tir as T
from ..core import Tensor
from ..op import tensor_ir_op


# ---- Angles, of the position and the exponent of a dimension, which are expressions of float32 or, in scripts, texts of them


def _angle_default(position, exponent, theta):
    return position / tir.pow(T.float32(theta), exponent)


def _angle_llama3(position, exponent, theta, factor, low_freq_factor, high_freq_factor, original_max_position_embeddings):
    frequency = T.float32(1) / tir.pow(T.float32(theta), exponent)
    if high_freq_factor == low_freq_factor:
        longest = T.float32(2 * math.pi * low_freq_factor / original_max_position_embeddings)
        return position * T.if_then_else(frequency < longest, frequency * T.float32(1 / factor), frequency)
    width = high_freq_factor - low_freq_factor
    wave = T.float32(original_max_position_embeddings / (2 * math.pi) / width) * frequency - T.float32(low_freq_factor / width)
    smooth = tir.max(T.float32(0), tir.min(T.float32(1), wave))
    slow = (T.float32(1) - smooth) * frequency * T.float32(1 / factor)
    return position * (slow + smooth * frequency)


def _angle_longrope(position, exponent, theta, ext_factor=None):
    divisor = tir.pow(T.float32(theta), exponent)
    return position / (divisor if ext_factor is None else ext_factor * divisor)


def _longrope_factor(max_position_embeddings, original_max_position_embeddings):
    scale = max_position_embeddings / original_max_position_embeddings
    return math.sqrt(1 + math.log(scale) / math.log(original_max_position_embeddings)) if scale > 1 else 1.0


_LLAMA3 = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
_LONGROPE = ("max_position_embeddings", "original_max_position_embeddings")


# ---- Frequencies as TVM's functions give them: cosine and sine of a variable, and the value of the variable


def _frequency(s, d, d_range, dtype, angle, factor=1.0, pairs=False):
    exponent = tir.Cast("float32", (d // 2 if pairs else d) * 2 % d_range) / tir.const(d_range, "float32")
    position = s if s.dtype == "float32" else tir.Cast("float32", s)
    value = angle(position, exponent)
    freq = tir.Var("freq", "float32")
    parts = [tir.cos(freq), tir.sin(freq)]
    if factor != 1.0:
        parts = [part * tir.const(factor, "float32") for part in parts]
    cos, sin = (part if dtype == "float32" else tir.Cast(dtype, part) for part in parts)
    return cos, sin, {freq: value}


def rope_freq_default(s, d, d_range, theta, dtype):
    """The cosine and sine of the angle of position s in dimension d of d_range, and the value of the variable in them."""
    return _frequency(s, d, d_range, dtype, functools.partial(_angle_default, theta=theta))


def rope_freq_llama3(s, d, d_range, theta, dtype, factor, low_freq_factor, high_freq_factor, original_max_position_embeddings):
    """The same with the frequencies of Llama 3, which are lower for long waves."""
    angle = functools.partial(_angle_llama3, theta=theta, factor=factor, low_freq_factor=low_freq_factor,
                              high_freq_factor=high_freq_factor,
                              original_max_position_embeddings=original_max_position_embeddings)
    return _frequency(s, d, d_range, dtype, angle)


def rope_freq_gptj(s, d, d_range, theta, dtype):
    """The same for pairs of neighbours, which have one angle."""
    return _frequency(s, d, d_range, dtype, functools.partial(_angle_default, theta=theta), pairs=True)


def rope_freq_llama4(s, d, d_range, theta, dtype, factor, low_freq_factor, high_freq_factor, original_max_position_embeddings):
    """The same as those of Llama 3 for pairs of neighbours."""
    angle = functools.partial(_angle_llama3, theta=theta, factor=factor, low_freq_factor=low_freq_factor,
                              high_freq_factor=high_freq_factor,
                              original_max_position_embeddings=original_max_position_embeddings)
    return _frequency(s, d, d_range, dtype, angle, pairs=True)


def rope_freq_longrope(s, d, d_range, theta, dtype, max_position_embeddings, original_max_position_embeddings,
                       ext_factors=None):
    """The same with a factor for each dimension, from a buffer."""
    ext = None if ext_factors is None else ext_factors[d % (d_range // 2)]
    return _frequency(s, d, d_range, dtype, functools.partial(_angle_longrope, theta=theta, ext_factor=ext),
                      _longrope_factor(max_position_embeddings, original_max_position_embeddings))


def switch_rope_freq_func(rope_scaling):
    """The function of the frequencies that a configuration names: its "rope_type" is llama3, llama4, longrope, gptj or missing."""
    kind = rope_scaling.get("rope_type")
    if kind in (None, "gptj"):
        return rope_freq_gptj if kind else rope_freq_default
    if kind in ("llama3", "llama4"):
        function = rope_freq_llama3 if kind == "llama3" else rope_freq_llama4
        return functools.partial(function, **{key: rope_scaling[key] for key in _LLAMA3})
    if kind == "longrope":
        return functools.partial(rope_freq_longrope, **{key: rope_scaling[key] for key in _LONGROPE})
    raise ValueError(f"Unsupported RoPE scaling type: {kind}")


def _angles(rope_scaling, theta):
    """The function of the angle for scripts, and the factor of cosine and sine."""
    kind = rope_scaling.get("rope_type")
    switch_rope_freq_func(rope_scaling)  # refuses other kinds
    if kind in ("llama3", "llama4"):
        return functools.partial(_angle_llama3, theta=theta, **{key: rope_scaling[key] for key in _LLAMA3}), 1.0
    if kind == "longrope":
        return functools.partial(_angle_longrope, theta=theta), _longrope_factor(*(rope_scaling[key] for key in _LONGROPE))
    return functools.partial(_angle_default, theta=theta), 1.0


# ---- Kernels


def _rotation(rope_scaling, theta, rotary_dim, dtype, pairs=None):
    """The function that rotates an element: of itself, the other one of its pair, its position and its dimension.

    pairs: whether neighbours are a pair, in place of elements of the two halves; by default as rope_scaling says.
    Its attribute `step` is how far the other one is.
    """
    angle_of, factor = _angles(rope_scaling, theta)
    pairs = rope_scaling.get("rope_type") in ("gptj", "llama4") if pairs is None else pairs

    def rotated(element, before, after, position, d, *ext):
        exponent = T.Cast("float32", (d // 2 if pairs else d) * 2 % rotary_dim) / T.float32(rotary_dim)
        angle = angle_of(position, exponent, **({"ext_factor": ext[0]} if ext else {}))
        cos, sin = tir.cos(angle), tir.sin(angle)
        if factor != 1.0:
            cos, sin = cos * T.float32(factor), sin * T.float32(factor)
        is_first = d % 2 == 0 if pairs else d < rotary_dim // 2
        other = T.if_then_else(is_first, T.float32(-1) * T.Cast("float32", after), T.Cast("float32", before))
        return T.Cast(dtype, cos * T.Cast("float32", element) + sin * other)

    rotated.step = 1 if pairs else rotary_dim // 2
    return rotated


def llama_rope(qkv, total_seq_len, theta, scale, num_q_heads, num_kv_heads, rope_scaling=None, rotary_dim=None):
    """Splits a tensor of queries, keys and values, and rotates queries and keys.

    qkv: (batch, sequence, num_q_heads + 2 * num_kv_heads, size of a head), the last positions of `total_seq_len`.
    theta: the base of the frequencies; scale: a factor of positions.
    rotary_dim: how many elements of a head are rotated, by default all.
    """
    batch, length, fused_heads, head_dim = qkv.shape
    if fused_heads != num_q_heads + 2 * num_kv_heads:
        raise ValueError(f"{fused_heads} heads are not {num_q_heads} of queries and twice {num_kv_heads}")
    func = _fused_rope(fused_heads, num_q_heads, num_kv_heads, head_dim, rotary_dim or head_dim, scale, qkv.dtype,
                       _rotation(rope_scaling or {}, theta, rotary_dim or head_dim, qkv.dtype))
    heads = (num_q_heads, num_kv_heads, num_kv_heads)
    out = tuple(Tensor.placeholder((batch, length, count, head_dim), qkv.dtype) for count in heads)
    return tensor_ir_op(func, "llama_rope", [qkv, total_seq_len], out)


def _fused_rope(fused_heads, num_q_heads, num_kv_heads, head_dim, rotary_dim, scale, dtype, rotated):
    step = rotated.step
    first_v = num_q_heads + num_kv_heads

    @T.prim_func(private=True)
    def func(var_qkv: T.handle, var_q: T.handle, var_k: T.handle, var_v: T.handle, total_seq_len: T.int64):
        T.func_attr({"op_pattern": 8, "tir.noalias": True})
        batch_size = T.int64()
        seq_len = T.int64()
        qkv = T.match_buffer(var_qkv, (batch_size, seq_len, fused_heads, head_dim), dtype)
        q = T.match_buffer(var_q, (batch_size, seq_len, num_q_heads, head_dim), dtype)
        k = T.match_buffer(var_k, (batch_size, seq_len, num_kv_heads, head_dim), dtype)
        v = T.match_buffer(var_v, (batch_size, seq_len, num_kv_heads, head_dim), dtype)
        for ib, ip, ih, ie in T.grid(batch_size, seq_len, fused_heads, head_dim):
            with T.block("llama_fused_rope"):
                b, s, h, d = T.axis.remap("SSSS", [ib, ip, ih, ie])
                T.reads(qkv[b, s, h, 0:head_dim])
                T.writes(q[b, s, 0:num_q_heads, d], k[b, s, 0:num_kv_heads, d], v[b, s, 0:num_kv_heads, d])
                if h < num_q_heads:
                    q[b, s, h, d] = T.if_then_else(d < rotary_dim, rotated(
                        qkv[b, s, h, d], qkv[b, s, h, T.max(d - step, 0)], qkv[b, s, h, T.min(d + step, head_dim - 1)],
                        T.Cast("float32", s + total_seq_len - seq_len) * T.float32(scale), d), qkv[b, s, h, d])
                elif h < first_v:
                    k[b, s, h - num_q_heads, d] = T.if_then_else(d < rotary_dim, rotated(
                        qkv[b, s, h, d], qkv[b, s, h, T.max(d - step, 0)], qkv[b, s, h, T.min(d + step, head_dim - 1)],
                        T.Cast("float32", s + total_seq_len - seq_len) * T.float32(scale), d), qkv[b, s, h, d])
                else:
                    v[b, s, h - first_v, d] = qkv[b, s, h, d]

    return func


def llama_rope_with_position_map(theta, scale, head_dim, num_q_heads, num_kv_heads, dtype, rope_scaling=None, rotary_dim=None,
                                 *, pairs=None):
    """The PrimFunc that does what llama_rope does, for tokens whose positions are in a tensor.

    Its parameters are qkv (tokens, heads, size of a head), the positions, q, k, v, and apply_rope, which is 0 for a copy; in
    the place of that, longrope has the factors of dimensions.
    """
    rope_scaling = rope_scaling or {}
    rotary_dim = rotary_dim or head_dim
    rotated = _rotation(rope_scaling, theta, rotary_dim, dtype, pairs)
    if rope_scaling.get("rope_type") == "longrope":
        return _mapped_longrope(num_q_heads, num_kv_heads, head_dim, rotary_dim, scale, dtype, rotated)
    # Versions that have pairs=True have integers of 64 bits.
    flag = T.int32 if pairs is None else T.int64
    return _mapped_rope(num_q_heads, num_kv_heads, head_dim, rotary_dim, scale, dtype, rotated, flag)


def llama4_rope_with_position_map(theta, scale, head_dim, num_q_heads, num_kv_heads, dtype, rope_scaling, rotary_dim=None):
    """The same for pairs of neighbours, as Llama 4 has them."""
    return llama_rope_with_position_map(theta, scale, head_dim, num_q_heads, num_kv_heads, dtype, rope_scaling, rotary_dim,
                                        pairs=True)


def _mapped_rope(num_q_heads, num_kv_heads, head_dim, rotary_dim, scale, dtype, rotated, flag):
    step, first_v, fused_heads = rotated.step, num_q_heads + num_kv_heads, num_q_heads + 2 * num_kv_heads

    @T.prim_func
    def fused_rope(var_qkv: T.handle, var_positions: T.handle, var_q: T.handle, var_k: T.handle, var_v: T.handle,
                   apply_rope: flag):
        T.func_attr({"op_pattern": 8, "tir.noalias": True})
        seq_len = T.int32()
        offset = T.int32()
        qkv = T.match_buffer(var_qkv, (seq_len, fused_heads, head_dim), dtype)
        q = T.match_buffer(var_q, (seq_len, num_q_heads, head_dim), dtype)
        k = T.match_buffer(var_k, (seq_len, num_kv_heads, head_dim), dtype)
        v = T.match_buffer(var_v, (seq_len, num_kv_heads, head_dim), dtype)
        positions = T.match_buffer(var_positions, (seq_len,), "int32", elem_offset=offset)
        for ip, ih, ie in T.grid(seq_len, fused_heads, head_dim):
            with T.block("llama_fused_rope"):
                s, h, d = T.axis.remap("SSS", [ip, ih, ie])
                T.reads(qkv[s, h, 0:head_dim], positions[s])
                T.writes(q[s, 0:num_q_heads, d], k[s, 0:num_kv_heads, d], v[s, 0:num_kv_heads, d])
                if h < num_q_heads:
                    q[s, h, d] = T.if_then_else(apply_rope > 0 and d < rotary_dim, rotated(
                        qkv[s, h, d], qkv[s, h, T.max(d - step, 0)], qkv[s, h, T.min(d + step, head_dim - 1)],
                        T.Cast("float32", positions[s]) * T.float32(scale), d), qkv[s, h, d])
                elif h < first_v:
                    k[s, h - num_q_heads, d] = T.if_then_else(apply_rope > 0 and d < rotary_dim, rotated(
                        qkv[s, h, d], qkv[s, h, T.max(d - step, 0)], qkv[s, h, T.min(d + step, head_dim - 1)],
                        T.Cast("float32", positions[s]) * T.float32(scale), d), qkv[s, h, d])
                else:
                    v[s, h - first_v, d] = qkv[s, h, d]

    return fused_rope


def _mapped_longrope(num_q_heads, num_kv_heads, head_dim, rotary_dim, scale, dtype, rotated):
    step, half, first_v, fused_heads = rotated.step, rotary_dim // 2, num_q_heads + num_kv_heads, num_q_heads + 2 * num_kv_heads

    @T.prim_func
    def fused_rope(var_qkv: T.handle, var_positions: T.handle, var_q: T.handle, var_k: T.handle, var_v: T.handle,
                   ext_factors: T.Buffer((head_dim // 2,), "float32")):
        T.func_attr({"op_pattern": 8, "tir.noalias": True})
        seq_len = T.int64()
        offset = T.int64()
        qkv = T.match_buffer(var_qkv, (seq_len, fused_heads, head_dim), dtype)
        q = T.match_buffer(var_q, (seq_len, num_q_heads, head_dim), dtype)
        k = T.match_buffer(var_k, (seq_len, num_kv_heads, head_dim), dtype)
        v = T.match_buffer(var_v, (seq_len, num_kv_heads, head_dim), dtype)
        positions = T.match_buffer(var_positions, (seq_len,), "int32", elem_offset=offset)
        for ip, ih, ie in T.grid(seq_len, fused_heads, head_dim):
            with T.block("llama_fused_rope"):
                s, h, d = T.axis.remap("SSS", [ip, ih, ie])
                T.reads(qkv[s, h, 0:head_dim], positions[s], ext_factors[0:head_dim // 2])
                T.writes(q[s, 0:num_q_heads, d], k[s, 0:num_kv_heads, d], v[s, 0:num_kv_heads, d])
                if h < num_q_heads:
                    q[s, h, d] = T.if_then_else(d < rotary_dim, rotated(
                        qkv[s, h, d], qkv[s, h, T.max(d - step, 0)], qkv[s, h, T.min(d + step, head_dim - 1)],
                        T.Cast("float32", positions[s]) * T.float32(scale), d, ext_factors[d % half]), qkv[s, h, d])
                elif h < first_v:
                    k[s, h - num_q_heads, d] = T.if_then_else(d < rotary_dim, rotated(
                        qkv[s, h, d], qkv[s, h, T.max(d - step, 0)], qkv[s, h, T.min(d + step, head_dim - 1)],
                        T.Cast("float32", positions[s]) * T.float32(scale), d, ext_factors[d % half]), qkv[s, h, d])
                else:
                    v[s, h - first_v, d] = qkv[s, h, d]

    return fused_rope

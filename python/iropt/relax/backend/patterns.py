"""Patterns of common groups of operators. Most functions give (pattern, parts of it by names)."""
from ..dpl.constructors import is_const, is_op, is_tuple_get_item, wildcard
from ..dpl.pattern import GlobalVarPattern, TuplePattern
from .attention_rewriting import make_attention_rewrite_pattern  # noqa: F401


def _finish(out, parts, with_bias, activation):
    if with_bias:
        parts["bias"] = wildcard()
        out = is_op("relax.add")(out, parts["bias"])
    return (is_op(activation)(out) if activation else out), parts


def make_fused_bias_activation_pattern(op_name, with_bias=False, activation=None):
    """An operator of two operands, an addition, and another operator after it."""
    lhs, rhs = wildcard(), wildcard()
    out = is_op(op_name)(lhs, rhs)
    return _finish(out, {"lhs": lhs, "rhs": rhs, "root": out}, with_bias, activation)


def make_residual_block_pattern(node_output, binary_op="relax.add", activation=None):
    """An operator of `node_output`, which may be a pattern with its parts, and another operand in any order."""
    node, parts = node_output if isinstance(node_output, tuple) else (node_output, {})
    residual, op = wildcard(), is_op(binary_op)
    out = op(node, residual) | op(residual, node)
    return (is_op(activation)(out) if activation is not None else out), {**parts, "residual": residual}


def make_conv2d_pattern(with_bias=False, activation=None):
    """A convolution of images."""
    data, weight = wildcard(), wildcard()
    out = is_op("relax.nn.conv2d")(data, weight)
    return _finish(out, {"input": data, "weight": weight, "root": out}, with_bias, activation)


def _matmul(transposed_rhs):
    lhs, rhs = wildcard(), wildcard()
    out = is_op("relax.matmul")(lhs, is_op("relax.permute_dims")(rhs) if transposed_rhs else rhs)
    return out, {"lhs": lhs, "rhs": rhs, "root": out}


def make_matmul_pattern(with_bias=False, activation=None, transposed_rhs=False):
    """A matmul, with transposed_rhs of a transposed operand."""
    out, parts = _matmul(transposed_rhs)
    return _finish(out, parts, with_bias, activation)


def make_matmul_dequantize_pattern(transposed_rhs=False):
    """A matmul that is dequantized."""
    out, parts = _matmul(transposed_rhs)
    parts.update(scale=is_const(), zp=is_const())
    return is_op("relax.dequantize")(out, parts["scale"], parts["zp"]), parts


def make_matmul_multiply_pattern(transposed_rhs=False):
    """A matmul times a product of two scales, in another dtype."""
    out, parts = _matmul(transposed_rhs)
    parts.update(scaleA=wildcard(), scaleB=wildcard())
    scale = is_op("relax.multiply")(parts["scaleA"].has_shape((1,)), parts["scaleB"].has_shape((1,)))
    return is_op("relax.astype")(is_op("relax.multiply")(out, scale)), parts


def make_attention_pattern(with_bias=False, var_len=False):
    """An operator of attention: with a bias, or for sequences of different lengths."""
    names = ["query", "key", "value"]
    if with_bias:
        names.append("bias")
    elif var_len:
        names += ["seqstart_q", "seqstart_k", "max_seqlen_q", "max_seqlen_k"]
    parts = {name: wildcard() for name in names}
    op = "attention_bias" if with_bias else "attention_var_len" if var_len else "attention"
    return is_op("relax.nn." + op)(*parts.values()), parts


def make_stacked_attention_pattern(start_op, with_bias=False, layout="BS3NH"):
    """An operator of attention whose operands are parts of one tensor, which `start_op`, split or strided_slice, makes."""
    parts = {"stacked_qkv": wildcard()}
    stacked = parts["stacked_qkv"]
    if start_op == "split":
        parts["split"] = is_op("relax.split")(stacked)
        raw = [is_tuple_get_item(parts["split"], index) for index in range(3)]
    elif start_op == "strided_slice":
        raw = [is_op("relax.strided_slice")(stacked, varg_default_wildcard=True) for _ in range(3)]
        parts.update(zip(("strided_slice_query", "strided_slice_key", "strided_slice_value"), raw))
    else:
        raise NotImplementedError(f"unknown operator '{start_op}': expected split or strided_slice")
    shapes = [wildcard() for _ in range(3)]
    parts.update(zip(("query_reshape_list", "key_reshape_list", "value_reshape_list"), shapes))
    if layout == "SBN3H":
        operands = [is_op("relax.permute_dims")(item) for item in raw]
        parts.update(zip(("q_transpose", "k_transpose", "v_transpose"), operands))
    else:
        operands = [is_op("relax.reshape")(item, shape) for item, shape in zip(raw, shapes)]
    if with_bias:
        parts["bias"] = wildcard()
        out = is_op("relax.nn.attention_bias")(*operands, parts["bias"])
    else:
        out = is_op("relax.nn.attention")(*operands)
    return (is_op("relax.permute_dims")(out) if layout == "SBN3H" else out), parts


def make_layer_norm_pattern():
    """A normalization of layers."""
    return is_op("relax.nn.layer_norm")(wildcard(), wildcard(), wildcard()), {}


def make_rms_norm_pattern():
    """A call of a PrimFunc with two operands."""
    parts = {"gv": GlobalVarPattern(), "inp": wildcard()}
    out = is_op("relax.call_tir")(parts["gv"], TuplePattern([parts["inp"], wildcard()]))
    return out, {**parts, "rms_norm": out}

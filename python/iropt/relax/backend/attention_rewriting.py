"""Attention that is written as products and a softmax, and its rewriting to the operator of attention."""
from ... import tir
from .. import op as _op
from ..dpl.constructors import is_const, is_op, wildcard

_SWAPPED_HEADS = [0, 2, 1, 3]
_TRANSPOSED = [0, 2, 1]


def _has_axes(call, axes):
    return call.attrs.axes is not None and [int(axis) for axis in call.attrs.axes] == axes


def _dims(expr):
    return list(expr.struct_info.shape.values)


def _values(expr):
    """The dimensions that a shape has."""
    return list(expr.struct_info.values)


def _same(lhs, rhs):
    from ...arith import Analyzer

    analyzer = Analyzer()
    return len(lhs) == len(rhs) and all(analyzer.can_prove_equal(a, b) for a, b in zip(lhs, rhs))


class _Operand:
    """A query, key or value of rank 4 with its heads before its sequence, or one of rank 3 that has one head."""

    def __init__(self, layout, is_transposed, is_repeated):
        self.raw, self._layout = wildcard(), layout
        self._tensor = is_op("relax.repeat")(self.raw) if is_repeated else self.raw
        self._permuted = self._shape = self._transposed = None
        out = self._tensor
        if layout == "BSNH":
            self._permuted, self._shape = is_op("relax.permute_dims")(out), wildcard()
            out = is_op("relax.reshape")(self._permuted, self._shape)
        if is_transposed:
            out = self._transposed = is_op("relax.permute_dims")(out)
        self.pattern = out

    def rewritten(self, matchings):
        """The operand of rank 4 and its dimensions; None if it is another one."""
        tensor = matchings[self._tensor]
        if self._transposed is not None and not _has_axes(matchings[self._transposed], _TRANSPOSED):
            return None
        raw = matchings[self.raw]
        if self._layout == "BSH":
            if tensor.struct_info.ndim != 3:
                return None
            batch, length, size = _dims(raw)
            return _op.reshape(raw, [batch, length, 1, size]), [batch, length, 1, size]
        if tensor.struct_info.ndim != 4 or not _has_axes(matchings[self._permuted], _SWAPPED_HEADS):
            return None
        before, after = _dims(matchings[self._permuted]), _values(matchings[self._shape])
        return (raw, _dims(raw)) if len(after) == 3 and _same(before[-2:], after[-2:]) else None


class _Result:
    """The result of attention, as operands are."""

    def __init__(self, product, layout):
        self._product, self._layout = product, layout
        self._shape = self._permuted = None
        self.pattern = product
        if layout == "BSNH":
            self._shape = wildcard()
            self.pattern = self._permuted = is_op("relax.permute_dims")(is_op("relax.reshape")(product, self._shape))

    def rewritten(self, matchings, attention):
        """The result of attention as the program has it; None if that is another one."""
        before = _dims(matchings[self._product])
        if len(before) != 3:
            return None
        if self._layout == "BSH":
            return _op.reshape(attention, before)
        after = _values(matchings[self._shape])
        fits = len(after) == 4 and _same(before[-2:], after[-2:]) and _has_axes(matchings[self._permuted], _SWAPPED_HEADS)
        return attention if fits else None


def _bias_of_rank_4(bias, batch, heads, length, keys):
    """The bias as the operator takes it; None if it has another shape."""
    dims = _dims(bias)
    for shape, result in (([batch * heads, length, keys], [batch, heads, length, keys]),
                          ([batch * heads, 1, keys], [batch, heads, 1, keys]),
                          ([batch, length, keys], [batch, 1, length, keys]), ([batch, 1, keys], [batch, 1, 1, keys]),
                          ([1, length, keys], [1, 1, length, keys]), ([length, keys], [1, 1, length, keys]),
                          ([1, 1, keys], [1, 1, 1, keys]), ([1, keys], [1, 1, 1, keys]), ([keys], [1, 1, 1, keys])):
        if _same(dims, shape):
            return _op.reshape(bias, result)
    return None


def make_attention_rewrite_pattern(qkv_layout, out_layout, with_bias, with_cast, with_kv_repeat=False):
    """Attention as products and a softmax.

    qkv_layout, out_layout: "BSNH" for operands and results of rank 4, "BSH" for those of one head.
    with_bias: whether a bias is added. with_cast: whether the softmax is computed in another dtype.
    with_kv_repeat: whether heads of keys and values are repeated.

    Returns the pattern and a function of an expression and what was matched, which returns the expression to replace it:
    the same one where shapes do not fit.
    """
    if not {qkv_layout, out_layout} <= {"BSNH", "BSH"}:
        raise NotImplementedError(f"unknown layouts '{qkv_layout}' and '{out_layout}': expected BSNH or BSH")
    query = _Operand(qkv_layout, False, False)
    key, value = (_Operand(qkv_layout, is_key, with_kv_repeat) for is_key in (True, False))

    def cast(pattern):
        return is_op("relax.astype")(pattern) if with_cast else pattern

    scale, bias = is_const(), wildcard()
    scores = is_op("relax.multiply")(is_op("relax.matmul")(query.pattern, key.pattern), cast(scale))
    softmax = is_op("relax.nn.softmax")(cast(is_op("relax.add")(scores, bias) if with_bias else scores))
    result = _Result(is_op("relax.matmul")(cast(softmax), value.pattern), out_layout)

    def rewriter(original, matchings):
        operands = [operand.rewritten(matchings) for operand in (query, key, value)]
        if None in operands:
            return original
        (batch, length, heads, _), (_, keys, _, _) = operands[0][1], operands[1][1]
        if int(matchings[softmax].attrs.axis) not in (-1, len(_dims(matchings[softmax])) - 1):
            return original
        added = _bias_of_rank_4(matchings[bias], batch, heads, length, keys) if with_bias else None
        if with_bias and added is None:
            return original
        factor = matchings[scale].data
        attention = _op.nn.attention(*(operand for operand, _ in operands), added, tir.FloatImm(factor.dtype, float(factor.numpy())))
        rewritten = result.rewritten(matchings, attention)
        return original if rewritten is None else rewritten

    return result.pattern, rewriter

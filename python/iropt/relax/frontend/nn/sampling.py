"""Operators that draw samples of probabilities."""
from ... import op as _op
from .core import Tensor, wrap_nested


def multinomial_from_uniform(prob, uniform_sample, sample_indices=None, dtype="int64", name="multinomial_from_uniform"):
    """Draws an index by the probabilities of a row, for each number of `uniform_sample`, which are between 0 and 1.

    prob: (rows, indices); uniform_sample: (samples, 1).
    sample_indices: the row of each sample, (samples, 1); by default there are as many samples as rows.
    """
    rows = _rows_of_samples(prob, uniform_sample, sample_indices)
    return wrap_nested(_op.multinomial_from_uniform(prob._expr, uniform_sample._expr, rows._expr, dtype), name)


def _rows_of_samples(prob, uniform_sample, sample_indices):
    import numpy

    if sample_indices is not None:
        if not _same_shape(sample_indices.shape, uniform_sample.shape):
            raise ValueError("The shape of sample_indices must match the shape of uniform_sample.")
        return sample_indices
    if not _same_shape(prob.shape[:1], uniform_sample.shape[:1]):
        raise ValueError("Number of samples must match the number of probability distributions.")
    count = uniform_sample.shape[0]
    return Tensor.from_const(numpy.arange(count, dtype="int64").reshape(count, 1))


def _same_shape(a, b):
    return len(a) == len(b) and all(x is y or (isinstance(x, int) and x == y) or _same(x, y) for x, y in zip(a, b))


def _same(x, y):
    return hasattr(x, "same_as") and x.same_as(y)


def sample_top_p_top_k_from_sorted_prob(sorted_prob, sorted_index, top_p, top_k, uniform_sample, sample_indices=None):
    """Draws an index by the largest probabilities: those whose sum reaches `top_p`, and at most `top_k` of them.

    sorted_prob, sorted_index: the probabilities from the largest on and their indices, (rows, indices).
    top_p, top_k: limits of each row, (rows, 1).
    uniform_sample, sample_indices: as multinomial_from_uniform has them.
    """
    from .op import cumsum, tensor_ir_op

    rows = _rows_of_samples(sorted_prob, uniform_sample, sample_indices)
    sums = cumsum(sorted_prob, axis=1)
    total = tensor_ir_op(_first_beyond(sums.dtype, top_k.dtype), "get_renorm_prob", [sums, sums, top_p, top_k],
                         Tensor.placeholder([sorted_prob.shape[0], 1], sorted_prob.dtype))
    sample = _index_of_sample(sums.dtype, sorted_index.dtype, rows.dtype)
    return tensor_ir_op(sample, "get_index_from_sorted", [sums, sorted_index, total, uniform_sample, rows],
                        Tensor.placeholder([uniform_sample.shape[0], 1], sorted_index.dtype))


def renormalize_top_p_top_k_prob(prob, sorted_prob, top_p, top_k):
    """The probabilities with zeros in place of those beyond `top_p` and `top_k`, so that their sum is 1 again.

    prob: (rows, indices); sorted_prob: the same from the largest on; top_p, top_k: limits of each row, (rows, 1).
    """
    from . import op

    sums = op.cumsum(sorted_prob, axis=1)
    cutoff = op.tensor_ir_op(_first_beyond(prob.dtype, top_k.dtype), "get_renorm_cutoff", [sorted_prob, sums, top_p, top_k],
                             Tensor.placeholder([sorted_prob.shape[0], 1], prob.dtype))
    kept = op.tensor_expr_op(_keep_from_cutoff, "filter_with_top_p_top_k", [prob, cutoff])
    return kept / op.sum(kept, axis=1, keepdims=True)


def _keep_from_cutoff(prob, cutoff):
    from .... import te, tir

    return te.compute(
        prob.shape,
        lambda i, j: tir.Select(prob[i, j] >= cutoff[i, 0], prob[i, j], tir.const(0, prob.dtype)),
        name="filter_with_top_p_top_k")


def _first_beyond(dtype, index_dtype):
    """For each row, the value at the first place where the sums reach top_p or the count reaches top_k."""
    from ....script import tir as T

    @T.prim_func(private=True)
    def func(var_values: T.handle, var_sums: T.handle, var_top_p: T.handle, var_top_k: T.handle, var_result: T.handle):
        T.func_attr({"tir.noalias": True})
        batch, vocab_size = T.int64(is_size_var=True), T.int64(is_size_var=True)
        values = T.match_buffer(var_values, (batch, vocab_size), dtype)
        sums = T.match_buffer(var_sums, (batch, vocab_size), dtype)
        top_p = T.match_buffer(var_top_p, (batch, 1), dtype)
        top_k = T.match_buffer(var_top_k, (batch, 1), index_dtype)
        result = T.match_buffer(var_result, (batch, 1), dtype)
        for i, j in T.grid(batch, vocab_size):
            with T.block("first_beyond"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(values[vi, vj], sums[vi, 0:vocab_size], top_p[vi, 0], top_k[vi, 0])
                T.writes(result[vi, 0])
                if (vj == T.int64(0) or (sums[vi, T.max(vj - T.int64(1), T.int64(0))] < top_p[vi, 0]
                                         and vj < T.Cast("int64", top_k[vi, 0]))) and (
                        vj + T.int64(1) == vocab_size or not (
                            sums[vi, vj] < top_p[vi, 0] and vj + T.int64(1) < T.Cast("int64", top_k[vi, 0]))):
                    result[vi, 0] = values[vi, vj]

    return func


def _index_of_sample(dtype, index_dtype, row_dtype):
    """For each sample, the index at the first place where the sum of its row exceeds the sample."""
    from ....script import tir as T

    @T.prim_func(private=True)
    def func(var_sums: T.handle, var_indices: T.handle, var_total: T.handle, var_sample: T.handle, var_rows: T.handle,
             var_result: T.handle):
        T.func_attr({"tir.noalias": True})
        batch, vocab_size = T.int64(is_size_var=True), T.int64(is_size_var=True)
        out_batch = T.int64(is_size_var=True)
        sums = T.match_buffer(var_sums, (batch, vocab_size), dtype)
        indices = T.match_buffer(var_indices, (batch, vocab_size), index_dtype)
        total = T.match_buffer(var_total, (batch, 1), dtype)
        sample = T.match_buffer(var_sample, (out_batch, 1), dtype)
        rows = T.match_buffer(var_rows, (out_batch, 1), row_dtype)
        result = T.match_buffer(var_result, (out_batch, 1), index_dtype)
        for i, j in T.grid(out_batch, vocab_size):
            with T.block("index_of_sample"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(sums[0:batch, 0:vocab_size], indices[0:batch, vj], total[0:batch, 0], sample[vi, 0], rows[vi, 0])
                T.writes(result[vi, 0])
                if (vj == T.int64(0) or sample[vi, 0] >= sums[rows[vi, 0], T.max(vj - T.int64(1), T.int64(0))]
                        / total[rows[vi, 0], 0]) and (
                        vj + T.int64(1) == vocab_size or sample[vi, 0] < sums[rows[vi, 0], vj] / total[rows[vi, 0], 0]):
                    result[vi, 0] = indices[rows[vi, 0], vj]

    return func

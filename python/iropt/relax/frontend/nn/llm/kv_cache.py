"""The cache of keys and values of language models."""
import enum

from .... import PrimValue, TensorStructInfo
from .... import op as _op
from ....block_builder import BlockBuilder
from ..core import Object, Tensor
from ._attention import attention_sequence_prefill as _attention_sequence_prefill  # noqa: F401


class RopeMode(enum.IntEnum):
    """How the cache rotates: not, keys before they are stored, or queries and keys in the kernel of attention."""

    NONE = 0
    NORMAL = 1
    INLINE = 2


class PagedKVCache(Object):
    """A cache in pages, for batches of sequences of different lengths. Its functions are called by their packed names."""

    def attention_with_fused_qkv(self, layer_id, qkv, num_qo_heads, attn_score_scaling_factor=1.0):
        """Stores keys and values of a layer, and computes attention over all that the cache has.

        qkv: (batch, sequence, heads of queries, keys and values, size of a head).
        Returns the result for each query, (batch, sequence, num_qo_heads, size of a head).
        """
        batch, length, heads, size = qkv.shape
        flat = qkv.reshape(batch * length, heads, size)
        call = _op.call_dps_packed(
            "vm.builtin.attention_kv_cache_attention_with_fused_qkv",
            [self._expr, PrimValue(layer_id), PrimValue(_float(attn_score_scaling_factor)), flat._expr],
            TensorStructInfo((batch * length, num_qo_heads, size), qkv.dtype))
        return Tensor(_expr=BlockBuilder.current().emit(call)).reshape(batch, length, num_qo_heads, size)

    def get_query_positions(self, total_length):
        """The positions of the queries in their sequences, (total_length,)."""
        call = _op.call_pure_packed("vm.builtin.attention_kv_cache_get_query_positions", self._expr,
                                    sinfo_args=TensorStructInfo((total_length,), "int32"))
        return Tensor(_expr=BlockBuilder.current().emit(call))


def _float(value):
    from ..... import tir

    return tir.FloatImm("float64", float(value)) if isinstance(value, (int, float)) else value


def _needs_kernels(name):
    class Cache(PagedKVCache):
        """A cache whose kernels of attention are those of TVM, which are not a part of iropt."""

        def __init__(self, *args, **kwargs):
            del args, kwargs
            raise NotImplementedError(f"{name} needs TVM's kernels of attention, which are not a part of iropt")

    Cache.__name__ = Cache.__qualname__ = name
    return Cache


FlashInferPagedKVCache = _needs_kernels("FlashInferPagedKVCache")
TIRPagedKVCache = _needs_kernels("TIRPagedKVCache")

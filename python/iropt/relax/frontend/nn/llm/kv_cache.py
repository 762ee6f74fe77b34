"""The cache of keys and values of language models."""
import enum

from .... import (ExternFunc, ObjectStructInfo, PrimValue, ShapeExpr, StringImm, TensorStructInfo, Tuple, TupleGetItem,
                  TupleStructInfo)
from .... import op as _op
from ....._core import native
from ....block_builder import BlockBuilder
from ..core import Object, Tensor, wrap_nested
from ._attention import attention_sequence_prefill as _attention_sequence_prefill  # noqa: F401
from ._paged import attention_decode as _attention_decode
from ._paged import attention_prefill as _attention_prefill
from ._paged import attention_prefill_ragged as _attention_prefill_ragged
from ._paged import tree_attn, tree_attn_with_paged_kv_cache
from ._pages import compact_kv_copy as _compact_kv_copy
from ._pages import copy_single_page as _copy_single_page
from ._pages import kv_cache_debug_get_kv as _kv_cache_debug_get_kv
from ._pages import kv_cache_transpose_append as _kv_cache_transpose_append
from ._pages import merge_state_inplace as _merge_state_inplace
from .position_embedding import llama_rope_with_position_map


class RopeMode(enum.IntEnum):
    """How the cache rotates: not, keys before they are stored, or queries and keys in the kernel of attention."""

    NONE = 0
    NORMAL = 1
    INLINE = 2


class AttnKind(enum.IntEnum):
    """What a layer stores: keys and values, latent ones, or the keys and values of a window."""

    MHA = 0
    MLA = 1
    MHA_SLIDING = 3


class PagedKVCache(Object):
    """A cache in pages, for batches of sequences of different lengths. Its functions are called by their packed names."""

    extern_mods = ()

    def attention_with_fused_qkv(self, layer_id, qkv, num_qo_heads, attn_score_scaling_factor=1.0, *, sm_scale=None):
        """Stores keys and values of a layer, and computes attention over all that the cache has.

        qkv: (batch, sequence, heads of queries, keys and values, size of a head).
        sm_scale: the factor of scores, in newer versions; attn_score_scaling_factor of older ones comes on top of their own.
        Returns the result for each query, (batch, sequence, num_qo_heads, size of a head).
        """
        batch, length, heads, size = qkv.shape
        both = batch * length
        flat = qkv.reshape(both, heads, size)
        call = _op.call_dps_packed(
            "vm.builtin.attention_kv_cache_attention_with_fused_qkv",
            [self._expr, PrimValue(layer_id), PrimValue(_float(attn_score_scaling_factor if sm_scale is None else sm_scale)), flat._expr],
            TensorStructInfo((both, num_qo_heads, size), qkv.dtype))
        return wrap_nested(call, "").reshape(batch, length, num_qo_heads, size)

    def _attention(self, name, layer_id, sm_scale, tensors, types):
        """The results of a packed function on tensors whose first two dimensions are one."""
        args = [self._expr, PrimValue(layer_id), PrimValue(_float(sm_scale)), *[tensor._expr for tensor in tensors]]
        return BlockBuilder.current().emit(_op.call_dps_packed(f"vm.builtin.attention_kv_cache_{name}", args, types))

    def self_attention(self, layer_id, q, k, v, sm_scale):
        """Attention of the queries over the keys of the same tokens: the results, and the logarithms of the sums of weights."""
        batch, length, heads, _ = q.shape
        size = v.shape[3]
        types = [TensorStructInfo((batch * length, heads, size), q.dtype), TensorStructInfo((batch * length, heads), "float32")]
        both = self._attention("self_attention", layer_id, sm_scale, [_flat(item) for item in (q, k, v)], types)
        return _unflat(both, batch, length, heads, size)

    def cross_attention(self, layer_id, q, v_head_dim, sm_scale):
        """Attention of the queries over what the cache has: the results, and the logarithms of the sums of weights."""
        batch, length, heads, _ = q.shape
        types = [TensorStructInfo((batch * length, heads, v_head_dim), q.dtype),
                 TensorStructInfo((batch * length, heads), "float32")]
        return _unflat(self._attention("cross_attention", layer_id, sm_scale, [_flat(q)], types), batch, length, heads, v_head_dim)

    def attention_with_shared_kv(self, source_layer_id, q, current_k, current_v, sm_scale):
        """Attention over what another layer has stored, and its keys and values of the tokens that are computed."""
        batch, length, heads, _ = q.shape
        size = current_v.shape[3]
        result = self._attention("attention_with_shared_kv", source_layer_id, sm_scale,
                                 [_flat(item) for item in (q, current_k, current_v)],
                                 TensorStructInfo((batch * length, heads, size), q.dtype))
        return Tensor(_expr=result).reshape(batch, length, heads, size)

    def append_mla_kv(self, layer_id, kv):
        """Stores latent keys and values of a layer; returns the cache."""
        batch, length, _, size = kv.shape
        flat = kv.reshape(batch * length, size)
        call = _op.call_pure_packed("vm.builtin.attention_kv_cache_append_mla_kv", self._expr, PrimValue(layer_id), flat._expr,
                                    sinfo_args=ObjectStructInfo())
        return PagedKVCache(_expr=call, _name="paged_kv_cache")

    def merge_attn_output_inplace(self, o_self_attn, lse_self_attn, o_cross_attn, lse_cross_attn):
        """Joins two results of attention in the tensors of the first."""
        batch, length, heads, size = o_self_attn.shape
        flat = [item.reshape(batch * length, *item.shape[2:])._expr
                for item in (o_self_attn, lse_self_attn, o_cross_attn, lse_cross_attn)]
        call = _op.call_pure_packed("vm.builtin.attention_kv_cache_merge_attn_output_inplace", self._expr, *flat,
                                    sinfo_args=TupleStructInfo([item.struct_info for item in flat[:2]]))
        return _unflat(BlockBuilder.current().emit(call), batch, length, heads, size)

    def get_query_positions(self, total_length):
        """The positions of the queries in their sequences, (total_length,)."""
        call = _op.call_pure_packed("vm.builtin.attention_kv_cache_get_query_positions", self._expr,
                                    sinfo_args=TensorStructInfo((total_length,), "int32"))
        return Tensor(_expr=BlockBuilder.current().emit(call))


def _flat(tensor):
    batch, length, heads, size = tensor.shape
    return tensor.reshape(batch * length, heads, size)


def _unflat(both, batch, length, heads, size):
    result, lse = (Tensor(_expr=BlockBuilder.current().emit(TupleGetItem(both, index))) for index in range(2))
    return result.reshape(batch, length, heads, size), lse.reshape(batch, length, heads)


def _float(value):
    return native.const_prim(float(value), "float64") if isinstance(value, (int, float)) else value


class _Kernels:
    """The PrimFuncs of a cache, as functions of the module that is built."""

    def __init__(self, h_kv, h_q, d, dtype, rope_scaling, target):
        self.builder = BlockBuilder.current()
        self.heads, self.rope_scaling, self.target = (h_kv, h_q, d, dtype), rope_scaling, target

    def add(self, function, name):
        return self.builder.add_func(function, name)

    def sliding(self, make, name, sliding):
        """A kernel of attention over pages."""
        name += "_sliding_window" if sliding else ""
        return self.add(make(*self.heads, sliding, self.rope_scaling, self.target), name)

    def attention(self, make, name):
        return self.add(make(*self.heads, self.rope_scaling, self.target), name)


class _CreatedCache(PagedKVCache):
    """A cache that is made for a batch of sequences, by a packed function that gets its sizes and kernels.

    Newer versions say what layers store (attn_kind), and the sizes of keys and values apart.
    """

    _function = ""

    def __init__(self, max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window,
                 layer_partition, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim=None, rope_mode=1,
                 rope_scale=1, rope_theta=10000, rope_scaling=None, rope_ext_factors=None, rotary_dim=None, dtype="float16",
                 target=None, name="paged_kv_cache", *, attn_kind=None, qk_head_dim=None, v_head_dim=None,
                 mla_original_qk_head_dim=0, mla_original_v_head_dim=0, enable_disaggregation=False,
                 layer_sliding_window_size=1024):
        del mla_original_qk_head_dim, mla_original_v_head_dim
        dtype, rope_scaling, head_dim = str(dtype), rope_scaling or {}, qk_head_dim if head_dim is None else head_dim
        heads = num_attention_heads, num_key_value_heads, head_dim
        kernels = _Kernels(num_key_value_heads, num_attention_heads, head_dim, dtype, rope_scaling, target)
        rotary = llama_rope_with_position_map(rope_theta, rope_scale, head_dim, num_attention_heads, num_key_value_heads, dtype,
                                              rope_scaling, rotary_dim)
        sizes = [max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window]
        rope = [PrimValue(value) for value in (int(rope_mode), rope_scale, rope_theta)]
        append = kernels.add(_kv_cache_transpose_append(num_key_value_heads, head_dim, dtype), "kv_cache_transpose_append")
        rest = [kernels.add(rotary, "tir_split_rotary"), *self._kernels_of_pages(kernels, page_size, num_hidden_layers)]
        function = self._function
        if attn_kind is None:
            args = [
                ShapeExpr(sizes), layer_partition, *map(PrimValue, heads), *rope, _op.zeros((), dtype), append,
                *self._kernels_of_attention(kernels), *rest,
                kernels.attention(tree_attn, "tir_attention_prefill_with_tree_mask"),
                kernels.attention(tree_attn_with_paged_kv_cache, "tir_attention_prefill_with_tree_mask_with_paged_kv_cache"),
                rope_ext_factors,
            ]
        else:
            kinds = [attn_kind] * num_hidden_layers if isinstance(attn_kind, str) else attn_kind
            function = FlashInferPagedKVCache._function
            args = [
                ShapeExpr([*sizes, layer_sliding_window_size]), layer_partition,
                *map(PrimValue, (*heads, head_dim if v_head_dim is None else v_head_dim)),
                ShapeExpr([int(AttnKind[kind.upper()]) for kind in kinds]), PrimValue(int(enable_disaggregation)), *rope,
                rope_ext_factors, _op.zeros((), dtype), append, Tuple([]), *self._groups_of_kernels(kernels), *rest,
            ]
        super().__init__(_expr=_op.call_pure_packed(function, *args, sinfo_args=ObjectStructInfo()), _name=name)

    @staticmethod
    def _kernels_of_pages(kernels, page_size, num_hidden_layers):
        h_kv, _, d, dtype = kernels.heads
        return [
            kernels.add(_copy_single_page(h_kv, page_size, d, dtype), "kv_cache_copy_single_page"),
            kernels.add(_kv_cache_debug_get_kv(num_hidden_layers, h_kv, d, dtype), "kv_cache_debug_get_kv"),
            kernels.add(_compact_kv_copy(h_kv, d, dtype), "kv_cache_compact_kv_copy"),
        ]

    def _groups_of_kernels(self, kernels):
        """The kernels as newer versions pass them: each with the word for where it comes from."""
        h_q, d, dtype = kernels.heads[1:]
        ragged = kernels.attention(_attention_prefill_ragged, "tir_attention_prefill_ragged")
        own = [ragged, *[kernels.sliding(make, name, sliding) for sliding in (False, True)
                         for make, name in ((_attention_prefill, "tir_attention_prefill"), (_attention_decode, "tir_attention_decode"))],
               kernels.attention(tree_attn_with_paged_kv_cache, "tir_attention_prefill_with_tree_mask_with_paged_kv_cache"),
               kernels.attention(tree_attn, "tir_attention_prefill_with_tree_mask")]
        merge = kernels.add(_merge_state_inplace(h_q, d, dtype), "tir_attention_merge_state")
        return [*[Tuple([StringImm("tirx"), kernel]) for kernel in own], Tuple([]), Tuple([merge])]


class TIRPagedKVCache(_CreatedCache):
    """A cache whose kernels of attention are PrimFuncs."""

    _function = "vm.builtin.paged_attention_kv_cache_create_reduced"

    @staticmethod
    def _kernels_of_attention(kernels):
        _, h_q, d, dtype = kernels.heads
        return [
            *[kernels.sliding(make, name, sliding) for sliding in (False, True)
              for make, name in ((_attention_prefill, "tir_attention_prefill"), (_attention_decode, "tir_attention_decode"))],
            kernels.attention(_attention_prefill_ragged, "tir_attention_prefill_ragged"),
            kernels.add(_merge_state_inplace(h_q, d, dtype), "tir_attention_merge_state"),
        ]


class FlashInferPagedKVCache(_CreatedCache):
    """A cache whose kernels of attention are those of FlashInfer, by their names; those for sliding windows are PrimFuncs."""

    _function = "vm.builtin.paged_attention_kv_cache_create"

    @staticmethod
    def _kernels_of_attention(kernels):
        prefix = "flashinfer."
        ragged, paged, decode = (f"{prefix}attention_kernel_{kind}" for kind in (
            "prefill_with_ragged_kv_cache", "prefill_with_paged_kv_cache", "decode_with_paged_kv_cache"))
        plans = [name + step for name in (ragged, paged, decode) for step in ("_begin_forward", "_end_forward")]
        return [
            ExternFunc(paged), ExternFunc(decode),
            kernels.sliding(_attention_prefill, "tir_attention_prefill", True),
            kernels.sliding(_attention_decode, "tir_attention_decode", True),
            *[ExternFunc(name) for name in (ragged, *plans, prefix + "merge_state_in_place")],
        ]

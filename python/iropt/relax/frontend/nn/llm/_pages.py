"""The kernels that move keys and values between tensors and pages, and join parts of attention, as plain loops."""
from .....script import tir as T
from ._paged import PAGE


def kv_cache_transpose_append(num_key_value_heads, head_dim, dtype):
    """Stores new keys and values in the pages of their positions, those of position -1 nowhere."""

    @T.prim_func
    def tir_kv_cache_transpose_append(var_pages: T.handle, var_k_data: T.handle, var_v_data: T.handle, var_position_map: T.handle):
        T.func_attr({"tir.noalias": True})
        tokens = T.SizeVar("num_tokens_excluding_cache", "int64")
        num_pages = T.int64()
        offset = T.int32()
        pages = T.match_buffer(var_pages, (num_pages, 2, num_key_value_heads, PAGE, head_dim), dtype)
        k_data = T.match_buffer(var_k_data, (tokens, num_key_value_heads, head_dim), dtype)
        v_data = T.match_buffer(var_v_data, (tokens, num_key_value_heads, head_dim), dtype)
        position_map = T.match_buffer(var_position_map, (tokens,), "int32", elem_offset=offset)
        for i, h, f in T.grid(tokens, num_key_value_heads, head_dim):
            if position_map[i] != T.int32(-1):
                with T.block("append"):
                    vi, vh, vf = T.axis.remap("SSS", [i, h, f])
                    T.reads(position_map[vi], k_data[vi, vh, vf], v_data[vi, vh, vf])
                    T.writes(pages[position_map[vi] // PAGE, 0:2, vh, position_map[vi] % PAGE, vf])
                    pages[position_map[vi] // PAGE, 0, vh, position_map[vi] % PAGE, vf] = k_data[vi, vh, vf]
                    pages[position_map[vi] // PAGE, 1, vh, position_map[vi] % PAGE, vf] = v_data[vi, vh, vf]

    return tir_kv_cache_transpose_append


def kv_cache_debug_get_kv(num_hidden_layers, num_key_value_heads, head_dim, dtype):
    """Copies the keys and values of positions of a layer to tensors of all layers."""

    @T.prim_func
    def tir_kv_cache_debug_get_kv(var_pages: T.handle, var_position_map: T.handle, var_k_data: T.handle, var_v_data: T.handle,
                                  layer_id: T.int64):
        T.func_attr({"tir.noalias": True})
        length = T.SizeVar("num_tokens_including_cache", "int64")
        page_size = T.SizeVar("page_size", "int64")
        num_pages = T.int64()
        offset = T.int64()
        pages = T.match_buffer(var_pages, (num_pages, 2, num_key_value_heads, page_size, head_dim), dtype)
        position_map = T.match_buffer(var_position_map, (length,), "int32", elem_offset=offset)
        k_data = T.match_buffer(var_k_data, (num_hidden_layers, length, num_key_value_heads, head_dim), dtype)
        v_data = T.match_buffer(var_v_data, (num_hidden_layers, length, num_key_value_heads, head_dim), dtype)
        for p, h, d in T.grid(length, num_key_value_heads, head_dim):
            with T.block("copy"):
                vp, vh, vd = T.axis.remap("SSS", [p, h, d])
                T.reads(position_map[vp], pages[position_map[vp] // page_size, 0:2, vh, position_map[vp] % page_size, vd])
                T.writes(k_data[layer_id, vp, vh, vd], v_data[layer_id, vp, vh, vd])
                k_data[layer_id, vp, vh, vd] = pages[position_map[vp] // page_size, 0, vh, position_map[vp] % page_size, vd]
                v_data[layer_id, vp, vh, vd] = pages[position_map[vp] // page_size, 1, vh, position_map[vp] % page_size, vd]

    return tir_kv_cache_debug_get_kv


def copy_single_page(num_heads, page_size, head_dim, dtype, target=None):
    """Copies the first tokens of a page to another one."""
    del target

    @T.prim_func
    def copy_page(var_pages: T.handle, src_page_id: T.int64, tgt_page_id: T.int64, copy_length: T.int64):
        num_pages = T.int32()
        size = T.int64()
        pages = T.match_buffer(var_pages, (num_pages, 2, num_heads, size, head_dim), dtype)
        for s, h, p, d in T.grid(2, num_heads, copy_length, head_dim):
            with T.block("copy"):
                vs, vh, vp, vd = T.axis.remap("SSSS", [s, h, p, d])
                T.reads(pages[src_page_id, vs, vh, vp, vd])
                T.writes(pages[tgt_page_id, vs, vh, vp, vd])
                pages[tgt_page_id, vs, vh, vp, vd] = pages[src_page_id, vs, vh, vp, vd]

    return copy_page


def compact_kv_copy(num_heads, head_dim, dtype, target=None):
    """Moves tokens to other places, for each sequence in the order that is given."""
    del target

    @T.prim_func
    def compact_copy(var_pages: T.handle, var_copy_length_indptr: T.handle, var_copy_src_dst_pos: T.handle, batch_size: T.int32):
        num_pages = T.int32()
        total_length = T.int32()
        indptr_offset = T.int32()
        places_offset = T.int32()
        pages = T.match_buffer(var_pages, (num_pages, 2, num_heads, PAGE, head_dim), dtype)
        indptr = T.match_buffer(var_copy_length_indptr, (batch_size + 1,), "int32", elem_offset=indptr_offset)
        places = T.match_buffer(var_copy_src_dst_pos, (2, total_length), "int32", elem_offset=places_offset)
        for b, h, d in T.grid(batch_size, num_heads, head_dim):
            with T.block("copy"):
                vb, vh, vd = T.axis.remap("SSS", [b, h, d])
                T.reads()
                T.writes()
                for i in range(indptr[vb + 1] - indptr[vb]):
                    for s in range(2):
                        pages[places[1, indptr[vb] + i] // PAGE, s, vh, places[1, indptr[vb] + i] % PAGE, vd] = pages[
                            places[0, indptr[vb] + i] // PAGE, s, vh, places[0, indptr[vb] + i] % PAGE, vd]

    return compact_copy


def merge_state_inplace(num_heads, head_dim, v_dtype, target=None, global_symbol=None):
    """Joins the results of attention over two sets of keys, with the logarithms to base 2 of the sums of their weights."""
    del num_heads, head_dim, target
    symbol = global_symbol or "merge_state_inplace"

    @T.prim_func
    def merge_state(v: T.handle, s: T.handle, v_other: T.handle, s_other: T.handle):
        T.func_attr({"global_symbol": symbol})
        N = T.int32(is_size_var=True)
        H = T.int32(is_size_var=True)
        D = T.int32(is_size_var=True)
        V = T.match_buffer(v, (N, H, D), v_dtype)
        S = T.match_buffer(s, (N, H), "float32")
        V_other = T.match_buffer(v_other, (N, H, D), v_dtype)
        S_other = T.match_buffer(s_other, (N, H), "float32")
        for n, h in T.grid(N, H):
            with T.block("merge"):
                vn, vh = T.axis.remap("SS", [n, h])
                T.reads(V[vn, vh, 0:D], S[vn, vh], V_other[vn, vh, 0:D], S_other[vn, vh])
                T.writes(V[vn, vh, 0:D], S[vn, vh])
                weights = T.alloc_buffer((2,), scope="local")
                largest = T.alloc_buffer((1,), scope="local")
                largest[0] = T.max(S[vn, vh], S_other[vn, vh])
                weights[0] = T.exp2(S[vn, vh] - largest[0])
                weights[1] = T.exp2(S_other[vn, vh] - largest[0])
                for d in range(D):
                    V[vn, vh, d] = T.Cast(v_dtype, (
                        T.Cast("float32", V[vn, vh, d]) * weights[0] + T.Cast("float32", V_other[vn, vh, d]) * weights[1])
                        / (weights[0] + weights[1]))
                S[vn, vh] = T.log2(weights[0] + weights[1]) + largest[0]

    return merge_state

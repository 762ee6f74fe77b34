"""The kernels of a cache in pages, as plain loops for every target.

A page has the keys and the values of 16 tokens. Sequences of a batch have the pages page_values[page_indptr[b]:page_indptr[b + 1]].
With a sliding window, length_info has three rows: the tokens in the last page, where the window begins, and the number of first
tokens that stay (sinks); without one only the first.
"""
import math

from ..... import tir
from .....script import tir as T
from .position_embedding import _rotation

PAGE = 16
# What kernels keep for a query: in floats, vectors and ints.
LARGEST, TOTAL, PRODUCT, SHRINK = range(4)
QUERY, KEY, VALUE, MIXED = range(4)
KV_LEN, Q_LEN, COLUMN, ROW, SEEN, KEY_POSITION, CURRENT_PAGE, SLOT = range(8)


def _visible(causal, row, col, kv_len, q_len):
    return tir.if_then_else(causal > 0, col < kv_len - q_len + row + 1, col < kv_len)


def _in_tree(indptr, order, b, row, col, kv_len, q_len):
    """Returns whether a token of a tree descends from another one, or that is before the tree."""
    size = indptr[b + 1] - indptr[b]
    own = order[indptr[b] + row + size - q_len, 0]
    other = indptr[b] + tir.max(col - (kv_len - size), 0)
    return tir.all(col < kv_len, tir.any(col < kv_len - size, tir.all(own >= order[other, 0], own < order[other, 1])))


def _length(num_pages, b, info, sliding):
    if not sliding:
        return tir.if_then_else(num_pages == 0, 0, (num_pages - 1) * PAGE + info[b])
    return tir.if_then_else(num_pages == 0, 0, (num_pages - 1) * PAGE + info[0, b] - info[1, b] + info[2, b])


def _place(col, b, info, sliding):
    """The place in the pages of the token that is seen at a place."""
    return tir.if_then_else(col < info[2, b], col, col - info[2, b] + info[1, b]) if sliding else col


def _info_shape(batch, sliding):
    return (3, batch) if sliding else (batch,)


def _reader(size, rope_scaling, read):
    """The function of an element of a vector, which `read` finds by its place, as a float: rotated if rotary_mode is 1."""

    def element(buffer, place, e, position, rotary_mode, rope_scale, rope_theta):
        rotated = _rotation(rope_scaling or {}, rope_theta, size, "float32")
        step = rotated.step
        values = [read(buffer, place, index) for index in (e, tir.max(e - step, 0), tir.min(e + step, size - 1))]
        turned = rotated(*values, tir.Cast("float32", position) * rope_scale, e)
        return tir.if_then_else(rotary_mode == 1, turned, tir.Cast("float32", values[0]))

    return element


def _of_token(buffer, place, e):
    return buffer[place[0], place[1], e]


def _of_page(pages, place, e):
    return pages[place[0], 0, place[1], place[2], e]


# ---- Parts of the kernels, which find names where they are expanded


@T.macro(hygienic=False)
def _attend():
    # Attention of one query and head. The macro `load` finds the key and the value at the place COLUMN, and says whether the
    # query sees them.
    floats[LARGEST] = T.float32(-5e4)
    floats[TOTAL] = T.float32(1)
    for e in range(d):
        vectors[QUERY, e] = query_element(q, (ints[ROW], h), e, q_rope_position[ints[ROW]], rotary_mode, rope_scale, rope_theta)
        vectors[MIXED, e] = T.float32(0)
    for j in range(ints[KV_LEN]):
        ints[COLUMN] = j
        load()
        if ints[SEEN] == 1:
            floats[PRODUCT] = T.float32(0)
            for e in range(d):
                floats[PRODUCT] = floats[PRODUCT] + vectors[QUERY, e] * vectors[KEY, e]
            floats[PRODUCT] = floats[PRODUCT] * attn_score_scaling_factor * T.float32(scale)
            floats[SHRINK] = T.exp2(floats[LARGEST] - T.max(floats[LARGEST], floats[PRODUCT]))
            floats[LARGEST] = T.max(floats[LARGEST], floats[PRODUCT])
            floats[TOTAL] = floats[TOTAL] * floats[SHRINK] + T.exp2(floats[PRODUCT] - floats[LARGEST])
            for e in range(d):
                vectors[MIXED, e] = vectors[MIXED, e] * floats[SHRINK] + T.exp2(
                    floats[PRODUCT] - floats[LARGEST]) * vectors[VALUE, e]
    for e in range(d):
        output[ints[ROW], h, e] = T.Cast(dtype, vectors[MIXED, e] / floats[TOTAL])
    lse[ints[ROW], h] = floats[LARGEST] + T.log2(floats[TOTAL])


@T.macro(hygienic=False)
def _read_token():
    # Key and value from tensors of all sequences.
    for e in range(d):
        vectors[KEY, e] = key_element(k, (kv_indptr[b] + ints[COLUMN], h // group), e, ints[KEY_POSITION], rotary_mode, rope_scale,
                                      rope_theta)
        vectors[VALUE, e] = T.Cast("float32", v[kv_indptr[b] + ints[COLUMN], h // group, e])


@T.macro(hygienic=False)
def _read_page():
    # Key and value from the pages of a sequence.
    ints[CURRENT_PAGE] = page_values[page_indptr[b] + _place(ints[COLUMN], b, length_info, sliding) // PAGE]
    ints[SLOT] = _place(ints[COLUMN], b, length_info, sliding) % PAGE
    for e in range(d):
        vectors[KEY, e] = key_element(pages, (ints[CURRENT_PAGE], h // group, ints[SLOT]), e, k_rope_pos_offset[b] + ints[COLUMN],
                                      rotary_mode, rope_scale, rope_theta)
        vectors[VALUE, e] = T.Cast("float32", pages[ints[CURRENT_PAGE], 1, h // group, ints[SLOT], e])


def _scale(d):
    return math.log2(math.e) / math.sqrt(d)


# ---- Attention


def attention_prefill_ragged(h_kv, h_q, d, dtype, rope_scaling, target=None):
    """Attention of sequences whose keys are in a tensor next to each other."""
    del target
    group, scale = h_q // h_kv, _scale(d)
    query_element = key_element = _reader(d, rope_scaling, _of_token)

    @T.macro(hygienic=False)
    def load():
        ints[SEEN] = T.Cast("int32", _visible(causal, i, ints[COLUMN], ints[KV_LEN], ints[Q_LEN]))
        ints[KEY_POSITION] = k_rope_pos_offset[b] + ints[COLUMN]
        _read_token()

    @T.prim_func
    def batch_prefill_ragged_kv(
            var_q: T.handle, var_q_indptr: T.handle, var_k: T.handle, var_v: T.handle, var_kv_indptr: T.handle,
            var_q_rope_position: T.handle, var_k_rope_pos_offset: T.handle, var_output: T.handle, var_lse: T.handle, causal: T.int32,
            rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32, attn_score_scaling_factor: T.float32):
        batch_size = T.int32(is_size_var=True)
        qo_len = T.int32(is_size_var=True)
        total_kv_len = T.int32(is_size_var=True)
        q_indptr_offset = T.int32(is_size_var=True)
        kv_indptr_offset = T.int32(is_size_var=True)
        q_rope_offset = T.int32(is_size_var=True)
        k_rope_offset = T.int32(is_size_var=True)
        q = T.match_buffer(var_q, (qo_len, h_q, d), dtype)
        q_indptr = T.match_buffer(var_q_indptr, (batch_size + 1,), "int32", elem_offset=q_indptr_offset)
        k = T.match_buffer(var_k, (total_kv_len, h_kv, d), dtype)
        v = T.match_buffer(var_v, (total_kv_len, h_kv, d), dtype)
        kv_indptr = T.match_buffer(var_kv_indptr, (batch_size + 1,), "int32", elem_offset=kv_indptr_offset)
        q_rope_position = T.match_buffer(var_q_rope_position, (qo_len,), "int32", elem_offset=q_rope_offset)
        k_rope_pos_offset = T.match_buffer(var_k_rope_pos_offset, (batch_size,), "int32", elem_offset=k_rope_offset)
        output = T.match_buffer(var_output, (qo_len, h_q, d), dtype)
        lse = T.match_buffer(var_lse, (qo_len, h_q), "float32")
        for bb, hh in T.grid(batch_size, h_q):
            with T.block("attention"):
                b, h = T.axis.remap("SS", [bb, hh])
                T.reads()
                T.writes()
                floats = T.alloc_buffer((4,), scope="local")
                vectors = T.alloc_buffer((4, d), scope="local")
                ints = T.alloc_buffer((8,), "int32", scope="local")
                ints[Q_LEN] = q_indptr[b + 1] - q_indptr[b]
                ints[KV_LEN] = kv_indptr[b + 1] - kv_indptr[b]
                for i in range(ints[Q_LEN]):
                    ints[ROW] = q_indptr[b] + i
                    _attend()

    return batch_prefill_ragged_kv


def tree_attn(h_kv, h_q, d, dtype, rope_scaling, target=None):
    """Attention of trees of tokens whose keys are in a tensor: a token sees its ancestors."""
    del target
    group, scale = h_q // h_kv, _scale(d)
    query_element = key_element = _reader(d, rope_scaling, _of_token)

    @T.macro(hygienic=False)
    def load():
        ints[SEEN] = T.Cast("int32", _in_tree(mn_indptr, mask, b, i, ints[COLUMN], ints[KV_LEN], ints[Q_LEN]))
        ints[KEY_POSITION] = q_rope_position[q_indptr[b] + ints[COLUMN]]
        _read_token()

    @T.prim_func
    def batch_tree_attn(
            var_q: T.handle, var_q_indptr: T.handle, var_k: T.handle, var_v: T.handle, var_kv_indptr: T.handle,
            var_q_rope_position: T.handle, var_mn_indptr: T.handle, var_mask: T.handle, var_output: T.handle, var_lse: T.handle,
            rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32, attn_score_scaling_factor: T.float32,
            batch_size: T.int32):
        qo_len = T.int32(is_size_var=True)
        total_kv_len = T.int32(is_size_var=True)
        q_indptr_offset = T.int32(is_size_var=True)
        kv_indptr_offset = T.int32(is_size_var=True)
        q_rope_offset = T.int32(is_size_var=True)
        mn_indptr_offset = T.int32(is_size_var=True)
        mask_offset = T.int32(is_size_var=True)
        tree_size = T.int32(is_size_var=True)
        q = T.match_buffer(var_q, (qo_len, h_q, d), dtype)
        q_indptr = T.match_buffer(var_q_indptr, (batch_size + 1,), "int32", elem_offset=q_indptr_offset)
        k = T.match_buffer(var_k, (total_kv_len, h_kv, d), dtype)
        v = T.match_buffer(var_v, (total_kv_len, h_kv, d), dtype)
        kv_indptr = T.match_buffer(var_kv_indptr, (batch_size + 1,), "int32", elem_offset=kv_indptr_offset)
        q_rope_position = T.match_buffer(var_q_rope_position, (qo_len,), "int32", elem_offset=q_rope_offset)
        mn_indptr = T.match_buffer(var_mn_indptr, (batch_size + 1,), "int32", elem_offset=mn_indptr_offset)
        mask = T.match_buffer(var_mask, (tree_size, 2), "int32", elem_offset=mask_offset)
        output = T.match_buffer(var_output, (qo_len, h_q, d), dtype)
        lse = T.match_buffer(var_lse, (qo_len, h_q), "float32")
        for bb, hh in T.grid(batch_size, h_q):
            with T.block("attention"):
                b, h = T.axis.remap("SS", [bb, hh])
                T.reads()
                T.writes()
                floats = T.alloc_buffer((4,), scope="local")
                vectors = T.alloc_buffer((4, d), scope="local")
                ints = T.alloc_buffer((8,), "int32", scope="local")
                ints[Q_LEN] = q_indptr[b + 1] - q_indptr[b]
                ints[KV_LEN] = kv_indptr[b + 1] - kv_indptr[b]
                for i in range(ints[Q_LEN]):
                    ints[ROW] = q_indptr[b] + i
                    _attend()

    return batch_tree_attn


def attention_prefill(h_kv, h_q, d, dtype, sliding_window, rope_scaling, target=None):
    """Attention of sequences whose keys are in pages."""
    del target
    group, scale, sliding = h_q // h_kv, _scale(d), sliding_window
    query_element, key_element = _reader(d, rope_scaling, _of_token), _reader(d, rope_scaling, _of_page)
    symbol = "batch_prefill_paged_kv" + ("_sliding_window" if sliding_window else "")

    @T.macro(hygienic=False)
    def load():
        ints[SEEN] = T.Cast("int32", _visible(causal, i, ints[COLUMN], ints[KV_LEN], ints[Q_LEN]))
        _read_page()

    @T.prim_func
    def batch_prefill_paged_kv(
            _0: T.int32, var_q: T.handle, var_q_indptr: T.handle, var_pages: T.handle, var_page_indptr: T.handle,
            var_page_values: T.handle, var_length_info: T.handle, var_k_rope_pos_offset: T.handle, var_q_rope_position: T.handle,
            var_output: T.handle, var_lse: T.handle, causal: T.int32, rotary_mode: T.int32, rope_scale: T.float32,
            rope_theta: T.float32, attn_score_scaling_factor: T.float32):
        T.func_attr({"global_symbol": symbol})
        batch_size = T.int32(is_size_var=True)
        total_len = T.int32(is_size_var=True)
        nnz_pages = T.int32(is_size_var=True)
        max_num_pages = T.int32(is_size_var=True)
        q_indptr_offset = T.int32(is_size_var=True)
        page_indptr_offset = T.int32(is_size_var=True)
        page_values_offset = T.int32(is_size_var=True)
        k_rope_offset = T.int32(is_size_var=True)
        q_rope_offset = T.int32(is_size_var=True)
        info_offset = T.int32(is_size_var=True)
        q = T.match_buffer(var_q, (total_len, h_q, d), dtype)
        q_indptr = T.match_buffer(var_q_indptr, (batch_size + 1,), "int32", elem_offset=q_indptr_offset)
        pages = T.match_buffer(var_pages, (max_num_pages, 2, h_kv, PAGE, d), dtype)
        page_indptr = T.match_buffer(var_page_indptr, (batch_size + 1,), "int32", elem_offset=page_indptr_offset)
        page_values = T.match_buffer(var_page_values, (nnz_pages,), "int32", elem_offset=page_values_offset)
        length_info = T.match_buffer(var_length_info, _info_shape(batch_size, sliding_window), "int32", elem_offset=info_offset)
        k_rope_pos_offset = T.match_buffer(var_k_rope_pos_offset, (batch_size,), "int32", elem_offset=k_rope_offset)
        q_rope_position = T.match_buffer(var_q_rope_position, (total_len,), "int32", elem_offset=q_rope_offset)
        output = T.match_buffer(var_output, (total_len, h_q, d), dtype)
        lse = T.match_buffer(var_lse, (total_len, h_q), "float32")
        for bb, hh in T.grid(batch_size, h_q):
            with T.block("attention"):
                b, h = T.axis.remap("SS", [bb, hh])
                T.reads()
                T.writes()
                floats = T.alloc_buffer((4,), scope="local")
                vectors = T.alloc_buffer((4, d), scope="local")
                ints = T.alloc_buffer((8,), "int32", scope="local")
                ints[Q_LEN] = q_indptr[b + 1] - q_indptr[b]
                ints[KV_LEN] = _length(page_indptr[b + 1] - page_indptr[b], b, length_info, sliding_window)
                for i in range(ints[Q_LEN]):
                    ints[ROW] = q_indptr[b] + i
                    _attend()

    return batch_prefill_paged_kv


def attention_decode(h_kv, h_q, d, dtype, sliding_window, rope_scaling, target=None):
    """Attention of one token of each sequence, whose keys are in pages."""
    del target
    group, scale, sliding = h_q // h_kv, _scale(d), sliding_window
    query_element, key_element = _reader(d, rope_scaling, _of_token), _reader(d, rope_scaling, _of_page)
    symbol = "batch_decode_paged_kv" + ("_sliding_window" if sliding_window else "")

    @T.macro(hygienic=False)
    def load():
        ints[SEEN] = 1
        _read_page()

    @T.prim_func
    def batch_decode_paged_kv(
            _0: T.int32, var_q: T.handle, var_pages: T.handle, var_page_indptr: T.handle, var_page_values: T.handle,
            var_length_info: T.handle, var_k_rope_pos_offset: T.handle, var_q_rope_position: T.handle, var_output: T.handle,
            var_lse: T.handle, rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32,
            attn_score_scaling_factor: T.float32):
        T.func_attr({"global_symbol": symbol})
        batch_size = T.int32(is_size_var=True)
        nnz_pages = T.int32(is_size_var=True)
        max_num_pages = T.int32(is_size_var=True)
        page_indptr_offset = T.int32(is_size_var=True)
        page_values_offset = T.int32(is_size_var=True)
        k_rope_offset = T.int32(is_size_var=True)
        q_rope_offset = T.int32(is_size_var=True)
        info_offset = T.int32(is_size_var=True)
        q = T.match_buffer(var_q, (batch_size, h_q, d), dtype)
        pages = T.match_buffer(var_pages, (max_num_pages, 2, h_kv, PAGE, d), dtype)
        page_indptr = T.match_buffer(var_page_indptr, (batch_size + 1,), "int32", elem_offset=page_indptr_offset)
        page_values = T.match_buffer(var_page_values, (nnz_pages,), "int32", elem_offset=page_values_offset)
        length_info = T.match_buffer(var_length_info, _info_shape(batch_size, sliding_window), "int32", elem_offset=info_offset)
        k_rope_pos_offset = T.match_buffer(var_k_rope_pos_offset, (batch_size,), "int32", elem_offset=k_rope_offset)
        q_rope_position = T.match_buffer(var_q_rope_position, (batch_size,), "int32", elem_offset=q_rope_offset)
        output = T.match_buffer(var_output, (batch_size, h_q, d), dtype)
        lse = T.match_buffer(var_lse, (batch_size, h_q), "float32")
        for bb, hh in T.grid(batch_size, h_q):
            with T.block("attention"):
                b, h = T.axis.remap("SS", [bb, hh])
                T.reads()
                T.writes()
                floats = T.alloc_buffer((4,), scope="local")
                vectors = T.alloc_buffer((4, d), scope="local")
                ints = T.alloc_buffer((8,), "int32", scope="local")
                ints[KV_LEN] = _length(page_indptr[b + 1] - page_indptr[b], b, length_info, sliding_window)
                ints[ROW] = b
                _attend()

    return batch_decode_paged_kv


def tree_attn_with_paged_kv_cache(h_kv, h_q, d, dtype, rope_scaling, target=None):
    """Attention of trees of tokens whose keys are in pages: a token sees all before the tree, and its ancestors."""
    del target
    group, scale, sliding = h_q // h_kv, _scale(d), False
    query_element, key_element = _reader(d, rope_scaling, _of_token), _reader(d, rope_scaling, _of_page)

    @T.macro(hygienic=False)
    def load():
        ints[SEEN] = T.Cast("int32", _in_tree(tree_order_indptr, tree_order, b, i, ints[COLUMN], ints[KV_LEN], ints[Q_LEN]))
        _read_page()

    @T.prim_func
    def tree_attn_paged_kv(
            _0: T.int32, var_q: T.handle, var_q_indptr: T.handle, var_pages: T.handle, var_page_indptr: T.handle,
            var_page_values: T.handle, var_length_info: T.handle, var_k_rope_pos_offset: T.handle, var_q_rope_position: T.handle,
            var_output: T.handle, var_lse: T.handle, rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32,
            attn_score_scaling_factor: T.float32, var_tree_order_indptr: T.handle, var_tree_order: T.handle):
        T.func_attr({"global_symbol": "tree_attn_paged_kv"})
        batch_size = T.int32(is_size_var=True)
        total_len = T.int32(is_size_var=True)
        nnz_pages = T.int32(is_size_var=True)
        max_num_pages = T.int32(is_size_var=True)
        tree_size = T.int32(is_size_var=True)
        q_indptr_offset = T.int32(is_size_var=True)
        page_indptr_offset = T.int32(is_size_var=True)
        page_values_offset = T.int32(is_size_var=True)
        k_rope_offset = T.int32(is_size_var=True)
        q_rope_offset = T.int32(is_size_var=True)
        info_offset = T.int32(is_size_var=True)
        order_indptr_offset = T.int32(is_size_var=True)
        order_offset = T.int32(is_size_var=True)
        q = T.match_buffer(var_q, (total_len, h_q, d), dtype)
        q_indptr = T.match_buffer(var_q_indptr, (batch_size + 1,), "int32", elem_offset=q_indptr_offset)
        pages = T.match_buffer(var_pages, (max_num_pages, 2, h_kv, PAGE, d), dtype)
        page_indptr = T.match_buffer(var_page_indptr, (batch_size + 1,), "int32", elem_offset=page_indptr_offset)
        page_values = T.match_buffer(var_page_values, (nnz_pages,), "int32", elem_offset=page_values_offset)
        length_info = T.match_buffer(var_length_info, (batch_size,), "int32", elem_offset=info_offset)
        k_rope_pos_offset = T.match_buffer(var_k_rope_pos_offset, (batch_size,), "int32", elem_offset=k_rope_offset)
        q_rope_position = T.match_buffer(var_q_rope_position, (total_len,), "int32", elem_offset=q_rope_offset)
        output = T.match_buffer(var_output, (total_len, h_q, d), dtype)
        lse = T.match_buffer(var_lse, (total_len, h_q), "float32")
        tree_order_indptr = T.match_buffer(var_tree_order_indptr, (batch_size + 1,), "int32", elem_offset=order_indptr_offset)
        tree_order = T.match_buffer(var_tree_order, (tree_size, 2), "int32", elem_offset=order_offset)
        for bb, hh in T.grid(batch_size, h_q):
            with T.block("attention"):
                b, h = T.axis.remap("SS", [bb, hh])
                T.reads()
                T.writes()
                floats = T.alloc_buffer((4,), scope="local")
                vectors = T.alloc_buffer((4, d), scope="local")
                ints = T.alloc_buffer((8,), "int32", scope="local")
                ints[Q_LEN] = q_indptr[b + 1] - q_indptr[b]
                ints[KV_LEN] = _length(page_indptr[b + 1] - page_indptr[b], b, length_info, False)
                for i in range(ints[Q_LEN]):
                    ints[ROW] = q_indptr[b] + i
                    _attend()

    return tree_attn_paged_kv

"""The kernels of caches of keys and values, compared with NumPy."""
import numpy as np
import pytest

import iropt
from iropt import relax
from iropt.relax.frontend import nn
from iropt.relax.frontend.nn.llm import _paged, _pages, kv_cache

H_KV, H_Q, D = 2, 4, 8


def draw(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def attention(q, k, v, seen):
    """The results, and the logarithms to base 2 of the sums of weights."""
    k, v = (np.repeat(part, H_Q // H_KV, 1) for part in (k, v))
    score = np.where(seen, np.einsum("ihe,jhe->hij", q, k) / np.sqrt(D), -np.inf)
    largest = score.max(-1, keepdims=True)
    weight = np.exp(score - largest)
    total = weight.sum(-1, keepdims=True)
    return np.einsum("hij,jhe->ihe", weight / total, v), (np.log2(np.e) * largest + np.log2(total))[..., 0].T


def rotated(x, positions):
    angle = positions[:, None, None] * np.tile(10000.0 ** (-np.arange(D // 2) * 2 / D), 2)
    other = np.concatenate([-x[..., D // 2:], x[..., :D // 2]], -1)
    return x * np.cos(angle) + other * np.sin(angle)


def call(kernel, *args):
    iropt.run(iropt.ir.IRModule({"main": kernel}), "main", *args)


def ints(*values):
    return np.array(values, "int32")


def results(count):
    return np.zeros((count, H_Q, D), "float32"), np.zeros((count, H_Q), "float32")


def check(found, expected):
    for result, value in zip(found, expected):
        np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rotary_mode", [0, 1])
def test_ragged_sequences(rotary_mode):
    q, k, v = draw(5, H_Q, D), draw(9, H_KV, D), draw(9, H_KV, D)
    found, begins, key_begins = results(5), [0, 3, 5], [0, 5, 9]
    positions = ints(2, 3, 4, 2, 3)
    call(_paged.attention_prefill_ragged(H_KV, H_Q, D, "float32", {}), q, ints(*begins), k, v, ints(*key_begins), positions,
         ints(0, 0), *found, 1, rotary_mode, 1.0, 10000.0, 1.0)
    for b in range(2):
        rows, keys = slice(*begins[b:b + 2]), slice(*key_begins[b:b + 2])
        own, other = (rotated(q[rows], positions[rows]), rotated(k[keys], np.arange(9)[keys] - key_begins[b])) if rotary_mode else (
            q[rows], k[keys])
        seen = np.tri(len(own), len(other), len(other) - len(own), dtype=bool)
        check([part[rows] for part in found], attention(own, other, v[keys], seen))


@pytest.fixture
def pages():
    """20 tokens in the pages 3 and 1."""
    k, v, memory = draw(20, H_KV, D), draw(20, H_KV + 1, D)[:, 1:].copy(), np.zeros((4, 2, H_KV, 16, D), "float32")
    places = ints(*[(3 if i < 16 else 1) * 16 + i % 16 for i in range(20)])
    call(_pages.kv_cache_transpose_append(H_KV, D, "float32"), memory, k, v, places)
    return memory, k, v, places


def test_pages_keep_what_is_stored(pages):
    memory, k, v, places = pages
    copies = np.zeros((2, 2, 20, H_KV, D), "float32")
    call(_pages.kv_cache_debug_get_kv(2, H_KV, D, "float32"), memory, places, copies[0], copies[1], 1)
    np.testing.assert_array_equal(copies[:, 1], [k, v])
    call(_pages.copy_single_page(H_KV, 16, D, "float32"), memory, 1, 2, 4)
    np.testing.assert_array_equal(memory[2, :, :, :4], memory[1, :, :, :4])
    assert not memory[2, :, :, 4:].any()
    call(_pages.compact_kv_copy(H_KV, D, "float32"), memory, ints(0, 2), np.array([[49, 50], [0, 1]], "int32"), 1)
    np.testing.assert_array_equal(memory[0, 0, :, :2].swapaxes(0, 1), k[1:3])


def test_decode_over_pages(pages):
    memory, k, v, _ = pages
    q, found = draw(1, H_Q, D), results(1)
    call(_paged.attention_decode(H_KV, H_Q, D, "float32", False, {}), 0, q, memory, ints(0, 2), ints(3, 1), ints(4), ints(0), ints(19),
         *found, 0, 1.0, 10000.0, 1.0)
    check(found, attention(q, k, v, np.ones((1, 20), bool)))


def test_sliding_window_over_pages(pages):
    memory, k, v, _ = pages
    q, found = draw(2, H_Q, D), results(2)
    call(_paged.attention_prefill(H_KV, H_Q, D, "float32", True, {}), 0, q, ints(0, 2), memory, ints(0, 2), ints(3, 1),
         np.array([[4], [6], [2]], "int32"), ints(0), ints(0, 0), *found, 0, 0, 1.0, 10000.0, 1.0)
    seen = [0, 1, *range(6, 20)]
    check(found, attention(q, k[seen], v[seen], np.ones((2, 16), bool)))


def test_trees_over_pages(pages):
    memory, k, v, _ = pages
    q, found = draw(3, H_Q, D), results(3)
    # The last three tokens: a root with two children. A token sees the subtrees that it is in.
    order = np.array([[0, 3], [1, 2], [2, 3]], "int32")
    call(_paged.tree_attn_with_paged_kv_cache(H_KV, H_Q, D, "float32", {}), 0, q, ints(0, 3), memory, ints(0, 2), ints(3, 1), ints(4),
         ints(0), ints(0, 0, 0), *found, 0, 1.0, 10000.0, 1.0, ints(0, 3), order)
    seen = np.ones((3, 20), bool)
    seen[:, 17:] = [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    check(found, attention(q, k, v, seen))
    found = results(3)
    call(_paged.tree_attn(H_KV, H_Q, D, "float32", {}), q, ints(0, 3), k[:3].copy(), v[:3].copy(), ints(0, 3), ints(0, 1, 1), ints(0, 3),
         order, *found, 0, 1.0, 10000.0, 1.0, 1)
    check(found, attention(q, k[:3], v[:3], seen[:, 17:]))


def test_parts_of_attention_are_joined(pages):
    _, k, v, _ = pages
    q = draw(1, H_Q, D)
    parts = [[part.astype("float32") for part in attention(q, k[rows], v[rows], True)] for rows in (slice(0, 7), slice(7, 20))]
    call(_pages.merge_state_inplace(H_Q, D, "float32"), *parts[0], *parts[1])
    check(parts[0], attention(q, k, v, True))


def test_creation_of_a_cache_has_its_kernels():
    class Model(nn.Module):
        def create(self, batch, total, chunk, page, window):
            return kv_cache.TIRPagedKVCache(
                batch, total, chunk, page, window, relax.ShapeExpr([0, 2]), 2, H_Q, H_KV, D, kv_cache.RopeMode.NORMAL, 1, 10000, {}, relax.PrimValue(0), D,
                "float16", None)

    mod, _ = Model().export_tvm({"create": {name: int for name in ("batch", "total", "chunk", "page", "window")}})
    names = {name.name for name, _ in mod.functions_items()}
    assert {"kv_cache_transpose_append", "tir_attention_prefill", "tir_attention_decode_sliding_window", "tir_split_rotary",
            "tir_attention_prefill_ragged", "tir_attention_merge_state", "kv_cache_compact_kv_copy"} <= names
    assert "vm.builtin.paged_attention_kv_cache_create_reduced" in mod["create"].script()
    iropt.from_source(mod.script())

"""What the virtual machine keeps between calls: caches of keys and values, parameters, objects of Python."""
import numpy as np
import pytest

import iropt
from iropt import packed, relax, runtime, tvmjs
from iropt.relax import kv_state
from iropt.relax.frontend import nn
from iropt.relax.frontend.nn.llm import kv_cache
from iropt.script import ir as I, relax as R, tir as T

H_Q, H_KV, D, THETA = 4, 2, 8, 100


def builtin(name, *args):
    return packed.get_global_func("vm.builtin." + name)(*args)


def rotated(data, positions, factors=1):
    half = D // 2
    angles = np.array(positions)[:, None] / THETA ** (np.arange(half) / half) / factors
    cos, sin = (np.concatenate([part, part], 1)[:, None, :] for part in (np.cos(angles), np.sin(angles)))
    return data * cos + np.concatenate([-data[..., half:], data[..., :half]], -1) * sin


def attention(qkv, positions, new, seen=None, factors=1):
    """The results for the last `new` of tokens, which see those before them, or those that `seen` has."""
    q, k, v = np.split(qkv.astype("float64"), [H_Q, H_Q + H_KV], axis=1)
    q, k = rotated(q, positions, factors), rotated(k, positions, factors)
    k, v = (np.repeat(part, H_Q // H_KV, 1) for part in (k, v))
    scores = np.einsum("qhd,khd->hqk", q, k) / D ** 0.5
    seen = np.tril(np.ones((len(q), len(q)), bool)) if seen is None else seen
    weights = np.exp(np.where(seen, scores, -np.inf))
    return np.einsum("hqk,khd->qhd", weights / weights.sum(-1, keepdims=True), v)[-new:]


def machine(mode, scaling=None, factors=None, **newer):
    class Model(nn.Module):
        def forward(self, qkv: nn.Tensor, cache: kv_cache.PagedKVCache):
            scale = {"sm_scale": D ** -0.5} if newer else {}
            return cache.attention_with_fused_qkv(0, qkv, H_Q, **scale), cache

        def create(self, batch, total, chunk, page, window):
            sizes = {"qk_head_dim": D, "v_head_dim": D, **newer} if newer else {"head_dim": D}
            return kv_cache.TIRPagedKVCache(
                max_batch_size=batch, max_total_seq_len=total, prefill_chunk_size=chunk, page_size=page,
                support_sliding_window=window, layer_partition=relax.ShapeExpr([0, 1]), num_hidden_layers=1,
                num_attention_heads=H_Q, num_key_value_heads=H_KV, rope_mode=mode, rope_scale=1, rope_theta=THETA,
                rope_scaling=scaling or {}, rope_ext_factors=relax.PrimValue(0) if factors is None else relax.const(factors), rotary_dim=D, dtype="float32", target=None, **sizes)

    spec = {"forward": {"qkv": nn.spec.Tensor([1, "n", H_Q + 2 * H_KV, D], "float32"),
                        "cache": nn.spec.Object(kv_cache.PagedKVCache), "$": {"effect_mode": "none"}},
            "create": {name: int for name in ("batch", "total", "chunk", "page", "window")} | {"$": {"effect_mode": "none"}}}
    mod, _ = Model().export_tvm(spec)
    return relax.VirtualMachine(relax.build(mod, "llvm"), runtime.cpu())


@pytest.mark.parametrize("mode", list(kv_cache.RopeMode)[1:])
@pytest.mark.parametrize("newer", [{}, {"attn_kind": "mha"}])
def test_cache_in_pages(mode, newer):
    vm = machine(mode, **newer)
    cache = vm["create"](*(runtime.ShapeTuple([size]) for size in (2, 64, 32, 4, 0)))
    data = np.random.RandomState(0).randn(2, 8, H_Q + 2 * H_KV, D).astype("float32")

    def step(tokens, parents=None):
        """Runs a step of {sequence: tokens}; the results by sequence."""
        lengths = [len(rows) for rows in tokens.values()]
        builtin("kv_state_begin_forward", cache, runtime.ShapeTuple(tokens), runtime.ShapeTuple(lengths), *parents or [])
        rows = np.concatenate([rows for rows in tokens.values()])[None]
        result, same = vm["forward"](runtime.array(rows), cache)
        builtin("kv_state_end_forward", cache)
        assert same is cache
        return dict(zip(tokens, np.split(result.numpy()[0], np.cumsum(lengths)[:-1])))

    for seq in (0, 7):
        builtin("kv_state_add_sequence", cache, seq)
    found = step({0: data[0, :5], 7: data[1, :3]})
    np.testing.assert_allclose(found[0], attention(data[0, :5], range(5), 5), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[7], attention(data[1, :3], range(3), 3), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(step({0: data[0, 5:6]})[0], attention(data[0, :6], range(6), 1), rtol=1e-4, atol=1e-5)
    assert builtin("attention_kv_cache_get_total_sequence_length", cache) == 9
    assert builtin("attention_kv_cache_get_num_available_pages", cache) == 17 - 3
    builtin("kv_state_popn", cache, 0, 2)
    builtin("kv_state_remove_sequence", cache, 7)
    builtin("kv_state_fork_sequence", cache, 0, 8)
    rest = np.concatenate([data[0, :4], data[1, 4:7]])
    np.testing.assert_allclose(step({8: data[1, 4:7]})[8], attention(rest, range(7), 3), rtol=1e-4, atol=1e-5)
    # A root with two children, which have the same position and do not see each other; the second one stays.
    found = step({0: data[1, 4:7]}, [runtime.ShapeTuple([-1, 0, 0])])[0]
    seen = np.tril(np.ones((7, 7), bool))
    seen[6, 5] = False
    np.testing.assert_allclose(found, attention(rest, [0, 1, 2, 3, 4, 5, 5], 3, seen), rtol=1e-4, atol=1e-5)
    assert builtin("attention_kv_cache_get_query_positions", cache).numpy().tolist() == [4, 5, 5]
    builtin("attention_kv_cache_commit_accepted_token_tree_nodes", cache, runtime.ShapeTuple([0]), runtime.ShapeTuple([2]))
    rest = np.concatenate([data[0, :4], data[1, 4:5], data[1, 6:8]])
    np.testing.assert_allclose(step({0: data[1, 7:8]})[0], attention(rest, range(7), 1), rtol=1e-4, atol=1e-5)
    keys, values = (runtime.empty((1, 7, H_KV, D)) for _ in range(2))
    builtin("attention_kv_cache_debug_get_kv", cache, 0, 0, 7, keys, values)
    np.testing.assert_array_equal(values.numpy()[0], rest[:, H_Q + H_KV:])
    with pytest.raises(ValueError, match="cannot be found"):
        builtin("kv_state_popn", cache, 5, 1)
    with pytest.raises(ValueError, match="2 sequences already"):
        builtin("kv_state_add_sequence", cache, 9)
    builtin("kv_state_clear", cache)
    assert builtin("attention_kv_cache_empty", cache)


def run_step(cache, vm, tokens):
    """Runs a step of tokens of the sequence 0; the results."""
    builtin("kv_state_begin_forward", cache, runtime.ShapeTuple([0]), runtime.ShapeTuple([len(tokens)]))
    result, _ = vm["forward"](runtime.array(tokens[None]), cache)
    builtin("kv_state_end_forward", cache)
    return result.numpy()[0]


def test_sequences_with_a_sliding_window():
    vm = machine(kv_cache.RopeMode.NORMAL)
    cache = vm["create"](*(runtime.ShapeTuple([size]) for size in (2, 16, 8, 4, 1)))
    data = np.random.RandomState(0).randn(12, H_Q + 2 * H_KV, D).astype("float32")
    builtin("kv_state_add_sequence", cache, 0)
    builtin("attention_kv_cache_enable_sliding_window_for_seq", cache, 0, 6, 2)
    np.testing.assert_allclose(run_step(cache, vm, data[:5]), attention(data[:5], range(5), 5), rtol=1e-4, atol=1e-5)
    kept = list(range(5))
    for token in range(5, 11):
        # The first two stay, and positions are those in the window.
        kept = (kept if len(kept) < 6 else kept[:2] + kept[3:]) + [token]
        found = run_step(cache, vm, data[token:token + 1])
        np.testing.assert_allclose(found, attention(data[kept], range(len(kept)), 1), rtol=1e-4, atol=1e-5)
        assert builtin("attention_kv_cache_get_total_sequence_length", cache) == len(kept)
    assert kept == [0, 1, 7, 8, 9, 10]
    # More tokens than the window has room for see each other, and those that have stayed.
    run_step(cache, vm, data[:8])
    assert builtin("attention_kv_cache_get_total_sequence_length", cache) == 6
    with pytest.raises(ValueError, match="twice"):
        builtin("attention_kv_cache_enable_sliding_window_for_seq", cache, 0, 6, 2)
    with pytest.raises(ValueError, match="2 first tokens at most"):
        builtin("kv_state_fork_sequence", cache, 0, 1, 3)
    builtin("kv_state_fork_sequence", cache, 0, 1, 2)
    with pytest.raises(ValueError, match="a chain, not a tree"):
        builtin("kv_state_begin_forward", cache, runtime.ShapeTuple([0]), runtime.ShapeTuple([1]), runtime.ShapeTuple([-1]))
    with pytest.raises(ValueError, match="window of 2 tokens cannot begin with 2"):
        builtin("attention_kv_cache_enable_sliding_window_for_seq", cache, 1, 2, 2)
    plain = vm["create"](*(runtime.ShapeTuple([size]) for size in (2, 16, 8, 4, 0)))
    builtin("kv_state_add_sequence", plain, 0)
    with pytest.raises(ValueError, match="does not support sliding window"):
        builtin("attention_kv_cache_enable_sliding_window_for_seq", plain, 0, 6, 2)


def test_layers_with_a_sliding_window():
    vm = machine(kv_cache.RopeMode.NORMAL, attn_kind="mha_sliding", layer_sliding_window_size=3)
    cache = vm["create"](*(runtime.ShapeTuple([size]) for size in (2, 64, 32, 4, 0)))
    data = np.random.RandomState(0).randn(8, H_Q + 2 * H_KV, D).astype("float32")
    builtin("kv_state_add_sequence", cache, 0)
    seen = np.tril(np.ones((8, 8), bool)) & ~np.tril(np.ones((8, 8), bool), -3)
    np.testing.assert_allclose(run_step(cache, vm, data[:5]), attention(data[:5], range(5), 5, seen[:5, :5]), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(run_step(cache, vm, data[5:]), attention(data, range(8), 3, seen), rtol=1e-4, atol=1e-5)
    assert builtin("attention_kv_cache_get_total_sequence_length", cache) == 8


def test_latent_keys_and_values():
    """As in DeepSeek's models: keys of 8 numbers for all heads, of which the first 6 are the values, too."""
    heads, size, latent = 4, 8, 6

    class Model(nn.Module):
        def prefill(self, q: nn.Tensor, kv: nn.Tensor, full_q: nn.Tensor, k: nn.Tensor, v: nn.Tensor, cache: kv_cache.PagedKVCache):
            cache = cache.append_mla_kv(0, kv)
            own, own_lse = cache.self_attention(0, full_q, k, v, 0.5)
            old, old_lse = cache.cross_attention(0, q, latent, 0.5)
            both = cache.merge_attn_output_inplace(own, own_lse, old, old_lse)
            return both[0], cache

        def decode(self, q: nn.Tensor, kv: nn.Tensor, cache: kv_cache.PagedKVCache):
            cache = cache.append_mla_kv(0, kv)
            return cache.cross_attention(0, q, latent, 0.5)[0], cache

        def create(self, batch, total, chunk, page, window):
            return kv_cache.TIRPagedKVCache(
                max_batch_size=batch, max_total_seq_len=total, prefill_chunk_size=chunk, page_size=page,
                support_sliding_window=window, layer_partition=relax.ShapeExpr([0, 1]), num_hidden_layers=1,
                num_attention_heads=heads, num_key_value_heads=1, rope_mode=kv_cache.RopeMode.NONE, rope_scale=1, rope_theta=THETA,
                rope_scaling={}, rope_ext_factors=relax.PrimValue(0), rotary_dim=size, dtype="float32", target=None,
                attn_kind="mla", qk_head_dim=size, v_head_dim=latent)

    def tensor(*shape):
        return nn.spec.Tensor([1, "n", *shape], "float32")

    spec = {"prefill": {"q": tensor(heads, size), "kv": tensor(1, size), "full_q": tensor(heads, size), "k": tensor(heads, size),
                        "v": tensor(heads, latent), "cache": nn.spec.Object(kv_cache.PagedKVCache), "$": {"effect_mode": "none"}},
            "decode": {"q": tensor(heads, size), "kv": tensor(1, size), "cache": nn.spec.Object(kv_cache.PagedKVCache),
                       "$": {"effect_mode": "none"}},
            "create": {name: int for name in ("batch", "total", "chunk", "page", "window")} | {"$": {"effect_mode": "none"}}}
    vm = relax.VirtualMachine(relax.build(Model().export_tvm(spec)[0], "llvm"), runtime.cpu())
    cache = vm["create"](*(runtime.ShapeTuple([length]) for length in (2, 64, 32, 4, 0)))
    random = np.random.RandomState(0)
    q, kv = random.randn(9, heads, size).astype("float32"), random.randn(9, 1, size).astype("float32")
    keys = np.repeat(kv, heads, 1)

    def expected(begin, end):
        scores = np.einsum("qhd,khd->hqk", q[begin:end], keys[:end]) * 0.5
        seen = np.tril(np.ones((end, end), bool))[begin:]
        weights = np.exp(np.where(seen, scores, -np.inf))
        return np.einsum("hqk,khd->qhd", weights / weights.sum(-1, keepdims=True), keys[:end, :, :latent])

    def step(name, begin, end, *more):
        builtin("kv_state_begin_forward", cache, runtime.ShapeTuple([0]), runtime.ShapeTuple([end - begin]))
        rows = [runtime.array(np.ascontiguousarray(part[None, begin:end])) for part in (q, kv, *more)]
        result, same = vm[name](*rows, cache)
        builtin("kv_state_end_forward", cache)
        assert same is cache
        np.testing.assert_allclose(result.numpy()[0], expected(begin, end), rtol=1e-4, atol=1e-5)

    builtin("kv_state_add_sequence", cache, 0)
    step("prefill", 0, 4, q, keys, keys[..., :latent])
    step("decode", 4, 5)
    step("prefill", 5, 8, q, keys, keys[..., :latent])
    step("decode", 8, 9)


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
LONGROPE = {"rope_type": "longrope", "max_position_embeddings": 16, "original_max_position_embeddings": 16}


@pytest.mark.parametrize("scaling", [{"rope_type": "gptj"}, LLAMA3, LONGROPE])
def test_rotations_of_models(scaling):
    data = np.random.RandomState(0).randn(1, 6, H_Q + 2 * H_KV, D).astype("float32")
    factors = np.array([1, 2, 3, 4], "float32") if scaling is LONGROPE else None

    def results(mode, used):
        vm = machine(mode, used, factors)
        cache = vm["create"](*(runtime.ShapeTuple([size]) for size in (2, 64, 32, 4, 0)))
        builtin("kv_state_add_sequence", cache, 0)
        found = []
        for rows in (data[:, :4], data[:, 4:]):
            builtin("kv_state_begin_forward", cache, runtime.ShapeTuple([0]), runtime.ShapeTuple([rows.shape[1]]))
            found.append(vm["forward"](runtime.array(rows), cache)[0].numpy())
        return np.concatenate(found, 1)

    inline = results(kv_cache.RopeMode.INLINE, scaling)
    np.testing.assert_allclose(inline, results(kv_cache.RopeMode.NORMAL, scaling), rtol=1e-4, atol=1e-5)
    assert not np.allclose(inline, attention(data[0], range(6), 6), rtol=1e-3)
    if scaling is LONGROPE:
        np.testing.assert_allclose(inline[0], attention(data[0], range(6), 6, factors=factors), rtol=1e-4, atol=1e-5)


def test_wrong_steps_change_nothing():
    cache = kv_state.PagedKVCache((2, 8, 4, 4, 0), 1, (2, 2, 4), 0, 1.0, None)
    builtin("kv_state_add_sequence", cache, 0)
    builtin("kv_state_fork_sequence", cache, 0, 1)
    assert cache.sequence(1).length == 0
    builtin("kv_state_remove_sequence", cache, 1)
    keys, values = (runtime.empty((1, 2, 2, 4)) for _ in range(2))
    for name, args, message in (
            ("kv_state_begin_forward", ((0, 7), (3, 2)), "cannot be found"),
            ("kv_state_begin_forward", ((0,), (13,)), "is full"),
            ("kv_state_fork_sequence", (0, 1, 5), "0 tokens, not 5"),
            ("kv_state_fork_sequence", (0, 1, -2), "0 tokens, not -2"),
            ("attention_kv_cache_commit_accepted_token_tree_nodes", ((0,), (0,)), "no tokens of a step"),
            ("attention_kv_cache_debug_get_kv", (0, 0, 2, keys, values), "0 tokens, not those")):
        with pytest.raises(ValueError, match=message):
            builtin(name, cache, *args)
        assert list(cache.sequences) == [0] and cache.sequence(0).length == 0 and not cache.steps
    builtin("kv_state_begin_forward", cache, (0,), (12,))
    with pytest.raises(ValueError, match="12 tokens of the sequence 0, not 12"):
        builtin("attention_kv_cache_commit_accepted_token_tree_nodes", cache, (0,), (12,))
    with pytest.raises(ValueError, match="no keys and values"):
        builtin("attention_kv_cache_debug_get_kv", cache, 0, 0, 2, keys, values)
    assert cache.sequence(0).length == 12


def test_cache_of_rows():
    cache = builtin("attention_kv_cache_create", np.full((1, 2), 5, "int32"), runtime.ShapeTuple([2, 2]), 1)
    for value in range(3):
        cache = builtin("attention_kv_cache_append", cache, np.full((1, 2), value, "int32"))
    assert builtin("attention_kv_cache_view", cache, runtime.ShapeTuple([4, 2])).numpy()[:, 0].tolist() == [5, 0, 1, 2]
    cache = builtin("attention_kv_cache_create", np.zeros((4, 1), "int32"), runtime.ShapeTuple([4, 1]), 0)
    for value in range(7):
        builtin("attention_kv_cache_window_override_with_sinks", cache, np.full((1, 1), value, "int32"), 4, 1)
    assert builtin("attention_kv_cache_view", cache).numpy()[:, 0].tolist() == [0, 4, 5, 6]
    builtin("attention_kv_cache_array_popn", [cache], 1)
    for count in (4, -1):
        with pytest.raises(ValueError, match=f"3 rows, not {count}"):
            builtin("attention_kv_cache_array_popn", [cache], count)
    assert builtin("attention_kv_cache_view", cache).shape == (3, 1)


def test_parameters_before_the_first_missing_one():
    for name in ("p_0", "p_1", "p_3"):
        builtin("ndarray_cache.update", name, np.zeros(1, "float32"))
    try:
        assert len(builtin("param_array_from_cache", "p", -1)) == 2
        with pytest.raises(ValueError, match="no parameter p_2"):
            builtin("param_array_from_cache", "p", 4)
    finally:
        builtin("ndarray_cache.clear")


@pytest.mark.parametrize("encode", ["raw", "f32-to-bf16"])
def test_extreme_parameters(encode, tmp_path):
    limits = np.finfo("float32")
    nans = np.array([0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF], "uint32").view("float32")
    params = {"limits": np.array([limits.min, limits.max, np.inf, -np.inf, 1.0], "float32"), "nans": nans,
              "scalar": np.array(2, "float32"), "count": np.array(3, "int64"), "turned": np.arange(6, dtype="float32").reshape(2, 3).T}
    tvmjs.dump_ndarray_cache(params, str(tmp_path), encode)
    loaded = {name: value.numpy() for name, value in tvmjs.load_ndarray_cache(str(tmp_path))[0].items()}
    np.testing.assert_allclose(loaded["limits"], params["limits"], rtol=2 ** -8)
    assert np.isnan(loaded["nans"]).all()
    for name in ("scalar", "count", "turned"):
        np.testing.assert_array_equal(loaded[name], params[name], strict=True)


@pytest.mark.parametrize("encode", ["raw", "f32-to-bf16"])
def test_parameters_in_files(tmp_path, encode):
    params = {"p_0": np.arange(3, dtype="int32"), "p_1": np.array([1.0, 1 / 3, -2e30], "float32")}
    tvmjs.dump_ndarray_cache(params, str(tmp_path), encode, {"about": 1})
    tvmjs.dump_ndarray_cache({"p_2": np.ones((2, 2), "float16")}, str(tmp_path), encode, update_if_exists=True)
    builtin("ndarray_cache.load", str(tmp_path), 1, 0)
    found = [tensor.numpy() for tensor in builtin("param_array_from_cache", "p", -1)]
    assert [(array.dtype, array.shape) for array in found] == [("int32", (3,)), ("float32", (3,)), ("float16", (2, 2))]
    np.testing.assert_allclose(found[1], params["p_1"], rtol=0 if encode == "raw" else 4e-3)
    assert tvmjs.load_ndarray_cache(str(tmp_path))[1]["about"] == 1
    builtin("ndarray_cache.clear")
    with pytest.raises(ValueError, match="no parameter p_0"):
        builtin("param_array_from_cache_by_name", "p_0")


def test_objects_and_functions_of_python_in_a_run():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor((2,), "float32"), state: R.Object, f: R.Callable):
            y = R.call_packed("test.state.add", state, x, sinfo_args=R.Object())
            z = f(x)
            return (y, z)

        @R.function(pure=False)
        def give(x: R.Tensor((2,), "float32")):
            return R.call_packed("test.state.keep", Module.double, x, sinfo_args=R.Tensor((2,), "float32"))

        @R.function
        def double(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.add(x, x)

    packed.register_func("test.state.add", lambda state, x: state.append(x.numpy()) or state, override=True)
    packed.register_func("test.state.keep", lambda function, x: function(function(x)), override=True)


    class Box:
        def __init__(self):
            self.rows = []

        def append(self, row):
            self.rows.append(row)

    box, x = Box(), np.array([1, 2], "float32")
    same, z = iropt.run(Module, "main", x, box, lambda value: runtime.array(value.numpy() * 3))
    assert same is box and box.rows[0].tolist() == [1, 2]
    assert z.numpy().tolist() == [3, 6]
    assert iropt.run(Module, "give", x).numpy().tolist() == [4, 8]


def test_what_becomes_what_in_a_run():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Object):
            return R.call_packed("test.state.see", x, sinfo_args=R.Object())

    seen = []
    packed.register_func("test.state.see", lambda value: seen.append(value) or value, override=True)
    values = [1, 2], (1, 2), runtime.ADT(0, [1]), b"ab", np.ones(2), np.float32(1), True, 1, "text"
    for value in values:
        iropt.run(Module, "main", value)
    assert [type(value) for value in seen] == [tuple] * 3 + [iropt.NDArray] * 3 + [int] * 2 + [str]
    seen.clear()
    for value in ({"a": 1}, {1}, None, len):
        assert iropt.run(Module, "main", value) is value and seen[-1] is value


def test_packed_functions_write_to_tensors_of_the_caller():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
            z = R.call_packed("test.state.write", x, y, sinfo_args=R.Tensor((2,), "float32"))
            return y

    packed.register_func("test.state.write", lambda x, y: y.copyfrom(x.numpy() + 1) and None, override=True)
    x, y = runtime.array(np.array([1, 2], "float32")), runtime.array(np.zeros(2, "float32"))
    iropt.run(Module, "main", x, y)
    assert y.numpy().tolist() == [2, 3]


def test_shape_heaps():
    heap = runtime.array(np.zeros(4, "int64"))
    # The first dimension is 2, the second goes to the heap.
    builtin("match_shape", runtime.ShapeTuple([2, 3]), heap, 2, 0, 2, 1, 1, "")
    assert heap.numpy().tolist() == [0, 3, 0, 0]
    assert builtin("make_shape", heap, 2, 0, 5, 1, 1) == (5, 3)

    @I.ir_module
    class Module:
        @R.function
        def main(n: R.Prim("int64")):
            return n

    with pytest.raises(TypeError):
        iropt.run(Module, "main", runtime.ShapeTuple([2]))


def test_models_are_looked_into(capsys):
    class Model(nn.Module):
        def test(self, x: nn.Tensor):
            nn.op.print_(x)
            nn.op.debug_func("test.state.look", x)
            return x

    seen = []
    packed.register_func("test.state.look", lambda place, x: seen.append((place, x.numpy().tolist())) and None, override=True)
    mod, _ = Model().export_tvm({"test": {"x": nn.spec.Tensor([2], "float32")}}, debug=True)
    vm = relax.VirtualMachine(relax.build(mod, "llvm"), runtime.cpu())
    effects = vm["_initialize_effect"]()
    vm["test"](runtime.array(np.array([1, 2], "float32")), *effects)
    assert "test_kv_state.py" in seen[0][0] and seen[0][1] == [1, 2]
    assert "shape = (2,), dtype = float32" in capsys.readouterr().out


def test_operators_work_in_place_on_tensors_of_the_caller():
    @I.ir_module
    class Module:
        @T.prim_func(private=True)
        def double(A: T.Buffer((2,), "float32")):
            for i in range(2):
                A[i] = A[i] * T.float32(2)

        @R.function
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
            z = R.call_tir_inplace(Module.double, (x,), [0], out_sinfo=R.Tensor((2,), "float32"))
            return (z, y, R.add(y, y))

    x, y = runtime.array(np.array([1, 2], "float32")), runtime.array(np.array([3, 4], "float32"))
    doubled, same, total = iropt.run(Module, "main", x, y)
    assert doubled is x and same is y and total is not y
    assert x.numpy().tolist() == [2, 4] and y.numpy().tolist() == [3, 4] and total.numpy().tolist() == [6, 8]
    # An array that is not the program's to change stays as it is.
    array = np.array([1, 2], "float32")
    assert iropt.run(Module, "main", array, y)[0].numpy().tolist() == [2, 4] and array.tolist() == [1, 2]


def test_results_are_not_taken_for_arguments_that_are_gone():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor((4, 4), "float32")):
            a = R.add(x, x)
            _ = R.memory.kill_tensor(x)
            b = R.multiply(a, a)
            c = R.add(b, b)
            return c

    for _ in range(20):
        x = runtime.array(np.ones((4, 4), "float32"))
        assert iropt.run(Module, "main", x) is not x

"""Models in Python (relax.frontend.nn): what is exported, and what it computes."""
import gc

import numpy as np
import pytest

import iropt
from iropt import relax, tir
from iropt.relax.frontend import detach_params, nn
from iropt.relax.frontend.nn import op, spec
from iropt.script import ir as I, relax as R, tir as T


class Mlp(nn.Module):
    def __init__(self):
        self.layers = nn.ModuleList([nn.Linear(4, "hidden"), nn.SiLU(), nn.Linear("hidden", 2, bias=False)])

    def forward(self, x: nn.Tensor):
        return self.layers(x) * 2.0


def _bindings(func):
    return [binding for block in func.body.blocks for binding in block.bindings]


def test_functions_have_the_names_and_parameters_of_the_model():
    mod, params = Mlp().export_tvm({"forward": {"x": spec.Tensor(["batch", 4], "float32")}})

    @I.ir_module
    class Expected:
        @R.function
        def forward(x: R.Tensor(("batch", 4), "float32"), w1: R.Tensor(("hidden", 4), "float32"), b1: R.Tensor(("hidden",), "float32"),
                    w2: R.Tensor((2, "hidden"), "float32")):
            R.func_attr({"num_input": 1})
            with R.dataflow():
                a = R.permute_dims(w1)
                b = R.matmul(x, a)
                c = R.add(b, b1)
                d = R.nn.silu(c)
                e = R.permute_dims(w2)
                f = R.matmul(d, e)
                g = R.multiply(f, R.const(2, "float32"))
                out = g
                R.output(out)
            return out

    iropt.ir.assert_structural_equal(mod, Expected)
    assert [name for name, _ in params] == ["layers.0.weight", "layers.0.bias", "layers.2.weight"]
    assert [param.name_hint for param in mod["forward"].params[1:]] == [name for name, _ in params]
    assert [binding.var.name_hint for binding in _bindings(mod["forward"])][:4] == ["permute_dims", "matmul", "add", "silu"]


def test_parameters_and_effects_can_be_packed():
    class Model(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter((4,))
            self.cache = nn.KVCache(8, [4])

        def step(self, x: nn.Tensor, total: tir.Var):
            self.cache.append(x + self.weight)
            return self.cache.view(total)

    packed = {"x": spec.Tensor([1, 4], "float32"), "total": int, "$": {"param_mode": "packed", "effect_mode": "packed"}}
    mod, _ = Model().export_tvm({"step": packed}, debug=True)
    step = mod["step"]
    assert [param.name_hint for param in step.params] == ["x", "total", "packed_effects", "packed_params"]
    assert int(step.attrs["num_input"]) == 3
    assert len(step.params[2].struct_info.fields) == 2  # the order of prints, and the cache
    assert len(mod["_initialize_effect"].ret_struct_info.fields) == 2


def test_spec_of_tuples_and_mistakes():
    class Model(nn.Module):
        def forward(self, xs, n):
            return op.reshape(xs[0] + xs[1][0], (n, 2))

    pair = (spec.Tensor([4], "float32"), [spec.Tensor([4], "float32")])
    mod, _ = Model().export_tvm({"forward": {"xs": pair, "n": "int"}})
    x = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(np.asarray(iropt.run(mod, "forward", (x, (x,)), (2,))), (2 * x).reshape(2, 2))
    with pytest.raises(TypeError, match="Invalid spec for argument n"):
        Model().export_tvm({"forward": {"xs": pair, "n": 1.5}})
    with pytest.raises(ValueError, match="Invalid param_mode"):
        Model().export_tvm({"forward": {"xs": pair, "n": int, "$": {"param_mode": "loose"}}})
    # The exporter is free again.
    Model().export_tvm({"forward": {"xs": pair, "n": int}})


def test_jit_runs_and_checks_values():
    model = Mlp()
    with pytest.raises(ValueError, match="not set to any concrete values: layers.0.weight"):
        model.jit({"forward": {"x": spec.Tensor(["batch", 4], "float32")}}, out_format="tvm")
    draw = np.random.default_rng(0)
    w1, b1, w2 = (draw.normal(size=shape).astype("float32") for shape in ((3, 4), (3,), (2, 3)))

    class Fixed(nn.Module):
        def __init__(self):
            self.first, self.second = nn.Linear(4, 3), nn.Linear(3, 2, bias=False)

        def forward(self, x):
            return self.second(op.silu(self.first(x)))

    fixed = Fixed()
    weights = fixed.state_dict()
    for name, value in (("first.weight", w1), ("first.bias", b1), ("second.weight", w2)):
        weights[name].data = value
    with pytest.raises(ValueError, match="Shape mismatch"):
        weights["first.bias"].data = w1
    with pytest.raises(ValueError, match="Dtype mismatch"):
        weights["first.bias"].data = b1.astype("float64")
    other = Fixed()
    assert other.load_state_dict(weights) == ([], [])
    x = draw.normal(size=(5, 4)).astype("float32")
    hidden = x @ w1.T + b1
    expected = (hidden / (1 + np.exp(-hidden))) @ w2.T
    running = other.jit({"forward": {"x": spec.Tensor(["batch", 4], "float32")}}, out_format="tvm")
    np.testing.assert_allclose(np.asarray(running["forward"](x)), expected, rtol=1e-5, atol=1e-6)


def test_print_is_an_effect():
    class Model(nn.Module):
        def forward(self, x):
            op.print_(x)
            return x

    mod, _ = Model().export_tvm({"forward": {"x": spec.Tensor([2], "float32")}}, debug=True)
    call = _bindings(mod["forward"])[0].value
    assert call.args[0].global_symbol == "vm.builtin.invoke_debug_func"
    assert "test_nn.py:" in str(call)
    with pytest.raises(RuntimeError, match="debug mode"):
        Model().export_tvm({"forward": {"x": spec.Tensor([2], "float32")}})


def test_subroutines_are_functions_of_their_own():
    class Layer(nn.Module):
        define_subroutine = True

        def __init__(self):
            self.weight = nn.Parameter((4, 4))

        def forward(self, x):
            return op.relu(op.matmul(x, self.weight))

    class Model(nn.Module):
        def __init__(self):
            self.first, self.second = Layer(), Layer()

        def forward(self, x):
            return self.second(self.first(x))

    mod, _ = Model().export_tvm({"forward": {"x": spec.Tensor(["n", 4], "float32")}})
    assert sorted(name.name_hint for name in mod.get_global_vars()) == ["forward", "layer"]
    x = np.ones((3, 4), "float32")
    eye = 2 * np.eye(4, dtype="float32")
    np.testing.assert_array_equal(np.asarray(iropt.run(mod, "forward", x, eye, eye)), 4 * x)


def test_subroutine_errors_come_through():
    class Layer(nn.Module):
        define_subroutine = True

        def forward(self, x):
            raise KeyError("mine")

    class Model(nn.Module):
        def __init__(self):
            self.layer = Layer()

        def forward(self, x):
            return self.layer(x)

    with pytest.raises(KeyError, match="mine"):
        Model().export_tvm({"forward": {"x": spec.Tensor([2], "float32")}})


def test_mutator_replaces_layers():
    class Quantize(nn.Mutator):
        def __init__(self):
            self.seen = []

        def visit_module(self, name, node):
            self.seen.append(name)
            return nn.Identity() if isinstance(node, nn.SiLU) else self.visit(name, node)

    model, mutator = Mlp(), Quantize()
    model = mutator.visit("", model)
    assert mutator.seen == ["layers.0", "layers.1", "layers.2"]
    assert isinstance(model.layers[1], nn.Identity)


def test_kernels_and_packed_functions():
    @T.prim_func(private=True)
    def add_rows(a: T.handle, b: T.handle, k: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n, 2), "float32")
        B = T.match_buffer(b, (n, 2), "float32")
        for i, j in T.grid(n, 2):
            with T.block("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.Cast("float32", k)

    class Model(nn.Module):
        def forward(self, x, k: tir.Var):
            y = op.tensor_ir_op(add_rows, "add_rows", [x, k], nn.Tensor.placeholder(x.shape, "float32"))
            return y

        def outside(self, x):
            return op.extern("mine.f", [x, 1, 2.0, "text"], nn.Tensor.placeholder(x.shape, "float32"))

    arg = spec.Tensor(["rows", 2], "float32")
    mod, _ = Model().export_tvm({"forward": {"x": arg, "k": int}, "outside": {"x": arg}})
    x = np.zeros((3, 2), "float32")
    np.testing.assert_array_equal(np.asarray(iropt.run(mod, "forward", x, (7,))), x + 7)
    call = _bindings(mod["outside"])[0].value
    assert call.op.name == "relax.call_dps_packed" and len(call.args[1].fields) == 4


def _run(function, *arrays):
    class Model(nn.Module):
        def forward(self, xs):
            return function(*xs)

    specs = tuple(spec.Tensor(list(array.shape), str(array.dtype)) for array in arrays)
    mod, _ = Model().export_tvm({"forward": {"xs": specs}})
    return np.asarray(iropt.run(mod, "forward", arrays))


def test_timestep_embedding_of_odd_size():
    times = np.array([0.0, 3.0], "float32")
    for flip in (False, True):
        result = _run(lambda x: op.get_timestep_embedding(x, 7, flip_sin_to_cos=flip), times)
        angles = times[:, None] * np.exp(-np.log(10000) * np.arange(3) / 2)[None]
        parts = [np.sin(angles), np.cos(angles)]
        expected = np.concatenate((parts[::-1] if flip else parts) + [np.zeros((2, 1))], 1)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_sampling_takes_the_largest_probabilities():
    prob = np.array([[0.5, 0.3, 0.15, 0.05], [0.4, 0.3, 0.2, 0.1]], "float32")
    index = np.array([[3, 1, 0, 2], [0, 1, 2, 3]], "int32")
    top_p = np.array([[0.7], [1.0]], "float32")
    top_k = np.array([[4], [3]], "int32")
    for sample, expected in ((0.0, [3, 0]), (0.7, [1, 1]), (0.99, [1, 2])):
        uniform = np.full((2, 1), sample, "float32")
        result = _run(op.sample_top_p_top_k_from_sorted_prob, prob, index, top_p, top_k, uniform)
        np.testing.assert_array_equal(result[:, 0], expected)


def test_params_are_detached():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")):
            return R.add(x, w)

    weight = iropt.NDArray(np.ones(2, "float32"))
    mod = iropt.IRModule({"main": Module["main"].with_attr("params", [weight])})
    plain, params = detach_params(mod)
    assert "params" not in (plain["main"].attrs or {})
    np.testing.assert_array_equal(params["main"][0].numpy(), np.ones(2))


def test_torch_says_what_to_do():
    with pytest.raises(NotImplementedError, match="torch.onnx.export"):
        relax.frontend.torch.from_fx(None)


def test_constants_are_narrow_by_default():
    assert relax.const(np.zeros(2)).struct_info.dtype == "float32"
    assert relax.const(np.arange(2)).struct_info.dtype == "int32"
    assert relax.const(np.array([2**40])).struct_info.dtype == "int64"
    assert relax.const(np.zeros(2), "float64").struct_info.dtype == "float64"


@pytest.mark.parametrize("scaling", [{}, {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                         "original_max_position_embeddings": 16}])
@pytest.mark.parametrize("rotary_dim", [8, 4])
def test_rope_rotates_queries_and_keys(scaling, rotary_dim):
    from iropt.relax.frontend.nn.llm import position_embedding

    class Model(nn.Module):
        def forward(self, qkv, total: tir.Var):
            return position_embedding.llama_rope(qkv, total, 10000.0, 1.0, 2, 1, scaling, rotary_dim)

    mod, _ = Model().export_tvm({"forward": {"qkv": spec.Tensor([1, "s", 4, 8], "float32"), "total": int}})
    qkv = np.random.default_rng(0).normal(size=(1, 3, 4, 8)).astype("float32")
    q, k, v = (np.asarray(part) for part in iropt.run(mod, "forward", qkv, (5,)))
    frequency = 10000.0 ** -((np.arange(rotary_dim) * 2 % rotary_dim) / rotary_dim)
    if scaling:
        smooth = np.clip((16 * frequency / (2 * np.pi) - 1) / 3, 0, 1)
        frequency = (1 - smooth) * frequency / 8 + smooth * frequency
    angle = np.arange(2, 5)[None, :, None, None] * frequency
    half = rotary_dim // 2
    turned = np.concatenate([-qkv[..., half:rotary_dim], qkv[..., :half]], -1)
    expected = qkv.copy()
    expected[..., :rotary_dim] = qkv[..., :rotary_dim] * np.cos(angle) + turned * np.sin(angle)
    np.testing.assert_allclose(q, expected[:, :, :2], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(k, expected[:, :, 2:3], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(v, qkv[:, :, 3:])


@pytest.mark.parametrize("causal", [0, 1])
def test_attention_of_sequences(causal):
    from iropt.relax.frontend.nn.llm.kv_cache import _attention_sequence_prefill

    draw = np.random.default_rng(0)
    q, k, v = (draw.normal(size=(2, count, heads, 8)).astype("float32") for count, heads in ((3, 4), (5, 2), (5, 2)))
    kernel = _attention_sequence_prefill(h_kv=2, h_q=4, d=8, dtype="float32", causal=causal)
    output, lse = np.zeros((2, 3, 4, 8), "float32"), np.zeros((2, 3, 4), "float32")
    iropt.run(iropt.IRModule({"main": kernel}), "main", q, k, v, output, lse)
    wide = [np.repeat(x, 2, axis=2) for x in (k, v)]
    score = np.einsum("bihe,bjhe->bihj", q, wide[0]) / np.sqrt(8)
    if causal:
        score = np.where(np.tri(3, 5, 2, dtype=bool)[None, :, None, :], score, -np.inf)
    weight = np.exp(score)
    np.testing.assert_allclose(lse, np.log2(weight.sum(-1)), rtol=1e-4, atol=1e-5)
    expected = np.einsum("bihj,bjhe->bihe", weight / weight.sum(-1, keepdims=True), wide[1])
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)


def test_models_of_onnx_keep_their_weights():
    weight = np.arange(8, dtype="float32").reshape(4, 2)

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            return R.matmul(x, R.const(weight))

    model = iropt.onnx.save(Module, opset=17)
    x = np.ones((3, 4), "float32")
    read = relax.frontend.onnx.from_onnx(model, {"x": (3, 4)}, {"x": "float32"}, opset=17)
    np.testing.assert_array_equal(np.asarray(iropt.run(read, "main", x)), x @ weight)
    assert [int(size) for size in read["main"].params[0].struct_info.shape] == [3, 4]
    kept, params = detach_params(relax.frontend.onnx.from_onnx(model, keep_params_in_input=True))
    assert len(kept["main"].params) == 2 and int(kept["main"].attrs["num_input"]) == 1
    np.testing.assert_array_equal(np.asarray(iropt.run(kept, "main", x, *params["main"])), x @ weight)
    with pytest.raises(ValueError, match="operator set 17, not 11"):
        relax.frontend.onnx.from_onnx(model, opset=11)
    with pytest.raises(ValueError, match="'x' is of dtype float32 in the model, not float16"):
        relax.frontend.onnx.from_onnx(model, dtype_dict={"x": "float16"})


def test_functions_with_sizes_of_32_bits_can_be_in_tuples():
    @T.prim_func
    def copy(a: T.handle, b: T.handle):
        n = T.int32(is_size_var=True)
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("copy"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi]

    bb = relax.BlockBuilder()
    with bb.function("main", []):
        name = bb.add_func(copy, "copy")
        bb.emit_func_output(bb.emit(relax.call_pure_packed("f", [name, name], sinfo_args=relax.ObjectStructInfo())))
    assert relax.analysis.well_formed(bb.finalize())


def test_parameters_that_a_method_replaces_are_those_of_the_next():
    class Model(nn.Module):
        def __init__(self):
            self.parts = nn.ModuleList([nn.Linear(4, 4, bias=False)])

        def first(self, x: nn.Tensor):
            result = self.parts[0](x)
            self.parts.modules[0] = nn.Linear(4, 8)
            return result

        def second(self, x: nn.Tensor):
            return self.parts[0](x)

    x = nn.spec.Tensor([2, 4], "float32")
    packed = {"param_mode": "packed", "effect_mode": "none"}
    mod, params = Model().export_tvm({"first": {"x": x, "$": packed}, "second": {"x": x, "$": packed}})
    assert [len(mod[name].params[1].struct_info.fields) for name in ("first", "second")] == [1, 2]
    assert [name for name, _ in params] == ["parts.0.weight", "parts.0.bias"]


def test_modules_that_a_method_replaces_are_those_of_the_next():
    class Model(nn.Module):
        def __init__(self):
            self.parts = nn.ModuleList([nn.Linear(4, 4, bias=False)])

        def first(self, x: nn.Tensor):
            self.parts.modules = [nn.Linear(4, 8, bias=False), nn.Linear(8, 4, bias=False)]
            return x

        def second(self, x: nn.Tensor):
            return self.parts(x)

    x = nn.spec.Tensor([2, 4], "float32")
    plain = {"param_mode": "plain", "effect_mode": "none"}
    mod, params = Model().export_tvm({"first": {"x": x, "$": plain}, "second": {"x": x, "$": plain}})
    assert [len(mod[name].params) for name in ("first", "second")] == [2, 3]
    assert [name for name, _ in params] == ["parts.0.weight", "parts.1.weight"]


def test_a_tensor_has_known_dimensions():
    with pytest.raises(TypeError, match="known dimensions"):
        nn.Tensor(_expr=relax.Var("x", relax.TensorStructInfo(dtype="float32", ndim=2)))
    with pytest.raises(TypeError, match="R.Object"):
        nn.Tensor(_expr=relax.Var("x", relax.ObjectStructInfo()))
    x = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))
    # The type of what is not bound yet is inferred.
    total = nn.Tensor(_expr=relax.op.add(x, x))
    assert (total.shape, total.dtype, total.ndim) == ([2, 3], "float32", 2)


def test_relu6():
    class Model(nn.Module):
        def forward(self, x: nn.Tensor):
            return op.relu6(x)

    mod, _ = Model().export_tvm({"forward": {"x": spec.Tensor([4], "float32")}})
    assert np.asarray(iropt.run(mod, "forward", np.array([-1, 2, 6, 9], "float32"))).tolist() == [0, 2, 6, 6]


@pytest.mark.parametrize("was_enabled", [True, False])
def test_exports_pause_the_garbage_collector(was_enabled):
    seen = []

    class Model(nn.Module):
        def forward(self, x: nn.Tensor):
            seen.append(gc.isenabled())
            if len(seen) == 2:
                raise ValueError("of the model")
            return x + x

    argument = {"forward": {"x": spec.Tensor([4], "float32")}}
    gc.enable() if was_enabled else gc.disable()
    try:
        Model().export_tvm(argument)
        with pytest.raises(ValueError, match="of the model"):
            Model().export_tvm(argument)
        assert seen == [False, False] and gc.isenabled() == was_enabled
    finally:
        gc.enable()

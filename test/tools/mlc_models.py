#!/usr/bin/env python3
"""Exports the model definitions of MLC-LLM with `tvm` answered by the Python package, and runs some of them.

  mlc_models.py --package FOLDER --repository REPOSITORY [--commit COMMIT] [--ir-opt IR_OPT] [--minimum COUNT] [MODEL...]

The definitions are taken from a clone of MLC-LLM's repository, into a temporary folder. Each is exported with a tiny
configuration, printed and read again, and with --ir-opt optimized: -passes='default<O2>' -verify-each. llama, gpt2 and phi also
run, with attention over the whole text in place of the cache, and their logits are compared with those that NumPy computes.
Prints a table. Exits with 1 if fewer models than --minimum are exported and optimized, or values differ, and with 77 if there is
no such clone.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import types

# The default is the last tree for TVM 0.18.
COMMIT = "e283cd09"
TINY = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
        "rms_norm_eps": 1e-5, "layer_norm_eps": 1e-5, "context_window_size": 64, "prefill_chunk_size": 32,
        "max_position_embeddings": 64, "num_key_value_heads": 2, "head_dim": 8}
TOKENS = {"use_cache": True, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "layer_norm_epsilon": 1e-5, "n_positions": 64, "num_key_value_heads": None}
GEMMA = {"attention_bias": False, "hidden_activation": "gelu_pytorch_tanh"}
EXPERTS = {"moe_intermediate_size": 16, "n_shared_experts": 1, "n_routed_experts": 4, "num_experts_per_tok": 2,
           "norm_topk_prob": False, "first_k_dense_replace": 1, "moe_layer_freq": 1, "attention_bias": False}
YARN = {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1, "mscale": 0.7, "mscale_all_dim": 0.7,
        "original_max_position_embeddings": 64}
DEEPSEEK2 = {**EXPERTS, "routed_scaling_factor": 1.0, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "v_head_dim": 8,
             "qk_nope_head_dim": 8, "q_lora_rank": 16, "rope_theta": 10000, "num_key_value_heads": 4, "rope_scaling": YARN}
QWEN3 = {"hidden_act": "silu", "attention_bias": False, "rope_theta": 10000, "norm_topk_prob": True}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
RWKV = {"head_size": 8, "layer_norm_epsilon": 1e-5, "head_dim": None, "context_window_size": -1}
VISION = {"hidden_size": 32, "image_size": 28, "intermediate_size": 48, "num_attention_heads": 4, "num_hidden_layers": 2,
          "patch_size": 14, "projection_dim": 16, "vocab_size": 64}
# What models need in addition; None is a value of TINY that they do not have.
CONFIGS = {
    "gpt2": {**GPT, "hidden_size": None},
    "gpt_bigcode": {**GPT, "n_inner": 48},
    "gpt_neox": {"use_parallel_residual": True, "rotary_pct": 0.25},
    "gemma": {**GEMMA, "hidden_act": "gelu"},
    "gemma2": {**GEMMA, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "query_pre_attn_scalar": 8,
               "sliding_window": 32},
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": False},
    "phi-msft": {"model_type": "phi-msft", "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_inner": 48, "n_head": 4,
                 "rotary_dim": 4},
    "phi": {"model_type": "phi", "partial_rotary_factor": 0.5, "head_dim": None},
    "phi3": {"model_type": "phi3"},
    "phi3_v": {"model_type": "phi3_v", "img_processor": {
        "image_dim_out": 1024, "model_name": "openai/clip-vit-large-patch14-336", "name": "clip_vision_model", "num_img_tokens": 4,
        "type_feature": "patch"}},
    "qwen": {"layer_norm_epsilon": 1e-5, "scale_attn_weights": True, "kv_channels": 8, "rotary_emb_base": 10000, "seq_length": 64},
    "qwen2": {"hidden_act": "silu", "rope_theta": 10000},
    "qwen2_moe": {"hidden_act": "silu", "rope_theta": 10000, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 32,
                  "num_experts_per_tok": 2, "num_experts": 4, "decoder_sparse_step": 1, "norm_topk_prob": True},
    "deepseek_v2": {**DEEPSEEK2, "scoring_func": "softmax", "topk_method": "greedy", "n_group": 1, "topk_group": 1},
    "deepseek": {**EXPERTS, **TOKENS, "hidden_act": "silu"},
    "stablelm": {"partial_rotary_factor": 0.25, "rope_theta": 10000},
    "baichuan": {**TOKENS, "initializer_range": 0.02, "tie_word_embeddings": False},
    "internlm": {**TOKENS, "bias": True},
    "internlm2": {**TOKENS, "bias": True, "rope_theta": 10000},
    "rwkv5": {**RWKV, "model_version": "5_2"},
    "rwkv6": {**RWKV, "model_version": "6_0"},
    "chatglm": {"num_layers": 2, "kv_channels": 8, "ffn_hidden_size": 48, "layernorm_epsilon": 1e-5, "post_layer_norm": True,
                "rmsnorm": True, "add_bias_linear": False, "add_qkv_bias": True, "apply_query_key_layer_scaling": True,
                "multi_query_attention": True, "multi_query_group_num": 2, "padded_vocab_size": 64, "seq_length": 64},
    "bert": {"hidden_act": "gelu", "head_dim": None},
    "eagle": {"bias": True},
    "medusa": {"medusa_num_heads": 2, "medusa_num_layers": 1},
    "starcoder2": {**TOKENS, "hidden_act": "gelu", "norm_epsilon": 1e-5, "rope_theta": 10000, "use_bias": True},
    "cohere": {"model_type": "cohere"},
    "minicpm": {**TOKENS, "hidden_act": "silu", "scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 16},
    # Only in newer trees.
    "llama4": {"text_config": {**TINY, "rope_theta": 10000, "rope_scaling": dict(LLAMA3), "use_qk_norm": True, "interleave_moe_layer_step": 1,
                               "num_experts_per_tok": 1, "num_local_experts": 2, "hidden_act": "silu", "intermediate_size_mlp": 48,
                               "no_rope_layers": [1, 0], "moe_layers": [0, 1]}},
    "qwen3": QWEN3,
    "qwen3-embedding": QWEN3,
    "qwen3_moe": {**QWEN3, "moe_intermediate_size": 16, "num_experts_per_tok": 2, "num_experts": 4, "decoder_sparse_step": 1},
    "deepseek_v3": {**DEEPSEEK2, "scoring_func": "sigmoid", "topk_method": "noaux_tc", "n_group": 2, "topk_group": 1},
    "gptj": {**GPT, "rotary_dim": 4, "n_inner": 48, "activation_function": "gelu_new"},
    "olmo": {"hidden_act": "silu", "clip_qkv": 8.0},
    "olmo2": {"hidden_act": "silu"},
    "gemma3": {"text_config": {**TINY, "sliding_window": 32, "sliding_window_pattern": 2, "query_pre_attn_scalar": 8}},
    "gemma3_text": {"sliding_window": 32, "sliding_window_pattern": 2, "query_pre_attn_scalar": 8, "is_text_model": True},
    "bert-bge": {"hidden_act": "gelu", "head_dim": None},
    "llava": {"image_token_index": 63, "text_config": {**TINY, "model_type": "llama"}, "vision_config": VISION},
}


def unpack(repository, commit, folder):
    """Writes the Python files of a commit into a folder."""
    archive = subprocess.run(["git", "-C", repository, "archive", commit, "python"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)


def import_models(folder):
    """The models by their names. The package itself is not run: it loads MLC-LLM's library."""
    from iropt import as_tvm

    as_tvm.install()
    for name, path in (("mlc_llm", [os.path.join(folder, "python", "mlc_llm")]), ("mlc_llm.base", [])):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = path
    from mlc_llm.model import MODELS

    return MODELS


def make(name, model):
    """The model with a tiny configuration, and the configuration."""
    values = {key: value for key, value in {**TINY, **CONFIGS.get(name, {})}.items() if value is not None}
    config = model.config.from_dict(values)
    result = model.model(config)
    result.to("float32")
    return result, config


def export(name, model):
    """The text of the module, which is read again."""
    import iropt

    built, _ = make(name, model)
    text = built.export_tvm(spec=built.get_default_spec(), allow_extern=True)[0].script()
    iropt.from_source(text)
    return text


def optimize(ir_opt, text):
    with tempfile.NamedTemporaryFile("w", suffix=".ir") as file:
        file.write(text)
        file.flush()
        result = subprocess.run([ir_opt, "-passes=default<O2>", "-verify-each", file.name, "-o", os.devnull], check=False,
                                capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr)


# ---- Values


def with_attention(rotary_dim):
    """A class that takes the place of the cache: attention over the whole text. rotary_dim is 0 for no rotation."""
    from iropt.relax.frontend import nn
    from iropt.relax.frontend.nn import op
    from iropt.relax.frontend.nn.llm.kv_cache import _attention_sequence_prefill
    from iropt.relax.frontend.nn.llm.position_embedding import llama_rope

    class WholeText(nn.Object):
        def attention_with_fused_qkv(self, layer_id, qkv, num_qo_heads, attn_score_scaling_factor=1.0, sm_scale=None):
            del layer_id
            batch, length, heads, size = qkv.shape
            if sm_scale is not None:
                attn_score_scaling_factor = sm_scale * size**0.5
            kv_heads = (heads - num_qo_heads) // 2
            if rotary_dim:
                q, k, v = llama_rope(qkv, length, 10000.0, 1.0, num_qo_heads, kv_heads, {}, rotary_dim)
            else:
                q, k, v = op.split(qkv, [num_qo_heads, num_qo_heads + kv_heads], axis=2)
            kernel = _attention_sequence_prefill(kv_heads, num_qo_heads, size, qkv.dtype, causal=1,
                                                 attn_score_scaling_factor=attn_score_scaling_factor)
            shapes = ((batch, length, num_qo_heads, size), (batch, length, num_qo_heads))
            return op.tensor_ir_op(kernel, "attention", [q, k, v], [nn.Tensor.placeholder(shape, qkv.dtype) for shape in shapes])[0]

        def get_query_positions(self, total_length):
            return op.astype(op.cumsum(op.ones([total_length], "int32"), 0), "int32") - 1

    return WholeText


def run(model, rotary_dim, ids, weights):
    """The logits after a text."""
    import iropt
    from iropt import relax
    from iropt.relax.frontend import nn

    cache = with_attention(rotary_dim)

    class Program(nn.Module):
        def __init__(self):
            self.model = model

        def forward(self, ids):
            embedded = nn.op.unsqueeze(model.embed(ids), 0) if model.embed(ids).ndim == 2 else model.embed(ids)
            return model.prefill(embedded, cache(_expr=relax.op.null_value(), _name="cache"))[0]

    mod, params = Program().export_tvm(spec={"forward": {"ids": nn.spec.Tensor(["length"], "int32")}})
    return iropt.run(mod, "forward", ids, *[weights[name.removeprefix("model.")] for name, _ in params])


def draw(model):
    """Weights of a model by their names."""
    import numpy as np

    random = np.random.default_rng(0)
    size = lambda dim: dim if isinstance(dim, int) else TINY["vocab_size"]
    return {name: random.normal(scale=0.3, size=[size(dim) for dim in param.shape]).astype("float32")
            for name, param in model.named_parameters()}


def attention(qkv, heads, kv_heads, size, rotary_dim):
    """Causal attention of NumPy: qkv is (length, heads * size)."""
    import numpy as np

    qkv = qkv.reshape(len(qkv), heads + 2 * kv_heads, size).copy()
    if rotary_dim:
        half = rotary_dim // 2
        angle = np.arange(len(qkv))[:, None, None] * np.tile(10000.0 ** (-np.arange(half) * 2 / rotary_dim), 2)
        turned = qkv[:, :heads + kv_heads, :rotary_dim]
        other = np.concatenate([-turned[..., half:], turned[..., :half]], -1)
        qkv[:, :heads + kv_heads, :rotary_dim] = turned * np.cos(angle) + other * np.sin(angle)
    q = qkv[:, :heads]
    k, v = (np.repeat(part, heads // kv_heads, 1) for part in (qkv[:, heads:heads + kv_heads], qkv[:, heads + kv_heads:]))
    score = np.einsum("ihe,jhe->hij", q, k) / np.sqrt(size)
    score = np.where(np.tri(len(qkv), dtype=bool), score, -np.inf)
    weight = np.exp(score - score.max(-1, keepdims=True))
    return np.einsum("hij,jhe->ihe", weight / weight.sum(-1, keepdims=True), v).reshape(len(qkv), -1)


class Reference:
    """The models in NumPy, on weights by their names."""

    def __init__(self, weights):
        self.weights = weights

    def linear(self, x, name):
        bias = self.weights.get(name + ".bias", 0)
        return x @ self.weights[name + ".weight"].T + bias

    def layer_norm(self, x, name):
        centered = x - x.mean(-1, keepdims=True)
        scaled = centered / ((centered**2).mean(-1, keepdims=True) + 1e-5) ** 0.5
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def rms_norm(self, x, name):
        return x / ((x**2).mean(-1, keepdims=True) + 1e-5) ** 0.5 * self.weights[name + ".weight"]

    def gelu_tanh(self, x):
        import numpy as np

        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    def llama(self, ids):
        import numpy as np

        x = self.weights["model.embed_tokens.weight"][ids]
        for layer in range(2):
            at = f"model.layers.{layer}."
            qkv = self.linear(self.rms_norm(x, at + "input_layernorm"), at + "self_attn.qkv_proj")
            x = x + self.linear(attention(qkv, 4, 2, 8, 8), at + "self_attn.o_proj")
            gate, up = np.split(self.linear(self.rms_norm(x, at + "post_attention_layernorm"), at + "mlp.gate_up_proj"), 2, -1)
            x = x + self.linear(gate / (1 + np.exp(-gate)) * up, at + "mlp.down_proj")
        return self.linear(self.rms_norm(x[-1], "model.norm"), "lm_head")

    def gpt2(self, ids):
        x = self.weights["transformer.wte.weight"][ids] + self.weights["transformer.wpe.weight"][: len(ids)]
        for layer in range(2):
            at = f"transformer.h.{layer}."
            qkv = self.linear(self.layer_norm(x, at + "ln_1"), at + "attn.c_attn")
            x = x + self.linear(attention(qkv, 4, 4, 8, 0), at + "attn.c_proj")
            hidden = self.gelu_tanh(self.linear(self.layer_norm(x, at + "ln_2"), at + "mlp.c_fc"))
            x = x + self.linear(hidden, at + "mlp.c_proj")
        return self.linear(self.layer_norm(x[-1], "transformer.ln_f"), "lm_head")

    def phi(self, ids):
        x = self.weights["transformer.embd.weight"][ids]
        for layer in range(2):
            at = f"transformer.h.{layer}."
            normed = self.layer_norm(x, at + "ln")
            attended = self.linear(attention(self.linear(normed, at + "mixer.Wqkv"), 4, 2, 8, 4), at + "mixer.out_proj")
            x = x + attended + self.linear(self.gelu_tanh(self.linear(normed, at + "mlp.fc1")), at + "mlp.fc2")
        return self.linear(self.layer_norm(x[-1], "lm_head.ln"), "lm_head.linear")


# The models that run, and how many elements of a head they rotate.
VALUES = {"llama": 8, "gpt2": 0, "phi": 4}


def compare(name, model):
    import numpy as np

    built, _ = make(name, model)
    weights = draw(built)
    ids = np.array([5, 17, 3, 60, 5], "int32")
    logits = np.asarray(run(built, VALUES[name], ids, weights)).reshape(-1)
    np.testing.assert_allclose(logits, getattr(Reference(weights), name)(ids), rtol=1e-3, atol=1e-4)


def check(name, model, ir_opt):
    """What a model does: "exported", "optimized", "values equal", or the message of what is wrong, and whether it is right."""
    done = []
    try:
        text = export(name, model)
        done.append("exported")
        if ir_opt:
            optimize(ir_opt, text)
            done.append("optimized")
        if name in VALUES:
            compare(name, model)
            done.append("values equal")
    except Exception as error:  # pylint: disable=broad-except
        return ", ".join(done + [f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"]), False
    return ", ".join(done), True


def run_on_checkout(description, add_arguments, run):
    """The exit code of a check of a tree of MLC-LLM: that of run(options, folder, models), or 77 without a clone."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", required=True)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--commit", default=COMMIT)
    parser.add_argument("--minimum", type=int, default=0)
    add_arguments(parser)
    options = parser.parse_args()
    if not os.path.isdir(options.repository):
        print(f"skipped: no clone of MLC-LLM at {options.repository}")
        return 77
    sys.path.insert(0, options.package)
    with tempfile.TemporaryDirectory() as folder:
        unpack(options.repository, options.commit, folder)
        return run(options, folder, import_models(folder))


def add_arguments(parser):
    parser.add_argument("--ir-opt")
    parser.add_argument("models", nargs="*")


def check_models(options, folder, models):
    del folder
    right, wrong_values = 0, False
    for name in options.models or models:
        text, is_right = check(name, models[name], options.ir_opt)
        print(f"{name:12} {text}", flush=True)
        right += is_right
        wrong_values |= not is_right and name in VALUES
    print(f"{right} of {len(options.models or models)}")
    return 1 if right < options.minimum or wrong_values else 0


if __name__ == "__main__":
    sys.exit(run_on_checkout(__doc__, add_arguments, check_models))

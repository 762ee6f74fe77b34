"""Layers."""
from ... import ObjectStructInfo, PrimValue, ShapeExpr, TensorStructInfo, Var
from ... import op as _op
from ...block_builder import BlockBuilder
from .... import tir
from . import op
from .core import Effect, Module, ModuleList, Parameter, Tensor, get_default_dtype


class IOEffect(Effect):
    """The state of what functions print, which keeps the order."""

    def __init__(self):
        self.effect = None

    def emit_init(self, name_hint, builder):
        return [builder.emit(_op.null_value(), f"{name_hint}.io")]

    def create(self, name_hint):
        return [Var(f"{name_hint}.io", ObjectStructInfo())]

    def set_state(self, state_vars):
        (self.effect,) = state_vars

    def finalize(self):
        result, self.effect = self.effect, None
        return [result]


def _activation(name, function, doc):
    def forward(self, x):
        return function(x)

    return type(Module)(name, (Module,), {"__doc__": doc, "__module__": __name__, "forward": forward})


ReLU = _activation("ReLU", op.relu, "max(x, 0).")
SiLU = _activation("SiLU", op.silu, "x * sigmoid(x).")
GELU = _activation("GELU", op.gelu, "x * P(X <= x) of the normal distribution.")
Identity = _activation("Identity", lambda x: x, "Its argument.")


def _bias(has, size, dtype):
    return Parameter((size,), dtype) if has else None


class Linear(Module):
    """x @ weight.T + bias; `weight` is of shape (out_features, in_features)."""

    def __init__(self, in_features, out_features, bias=True, dtype=None, out_dtype=None):
        self.in_features, self.out_features, self.out_dtype = in_features, out_features, out_dtype
        self.weight = Parameter((out_features, in_features), dtype)
        self.bias = _bias(bias, out_features, dtype if out_dtype is None else out_dtype)

    def forward(self, x):
        x = op.matmul(x, op.permute_dims(self.weight), out_dtype=self.out_dtype)
        return x if self.bias is None else x + self.bias

    def to(self, dtype=None):
        self.weight.to(dtype=dtype)
        if self.bias is not None and self.out_dtype is None:
            self.bias.to(dtype=dtype)
        if dtype is not None and isinstance(getattr(self, "dtype", None), str):
            self.dtype = dtype


class _Conv(Module):
    """What convolutions have in common: sizes of the window, and a weight of (out, in / groups, *window)."""

    _dims = 0
    _layout = ""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, dtype=None,
                 data_layout=None):
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = [kernel_size] * self._dims if isinstance(kernel_size, int) else kernel_size
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.data_layout = data_layout or self._layout or None
        taken = in_channels // groups if isinstance(in_channels, int) else tir.floordiv(in_channels, groups)
        self.weight = Parameter([out_channels, taken, *self.kernel_size], dtype)
        self.bias = _bias(bias, out_channels, dtype)


class Conv1D(_Conv):
    """A convolution of (batch, channels, width)."""

    _dims = 1

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, dtype=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, dtype)
        self.kernel_size = kernel_size

    def forward(self, x):
        return op.conv1d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2D(_Conv):
    """A convolution of images, in the layout NCHW or NHWC."""

    _dims, _layout = 2, "NCHW"

    def forward(self, x):
        return op.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups, self.data_layout)


class Conv3D(_Conv):
    """A convolution of volumes, in the layout NCDHW or NDHWC."""

    _dims, _layout = 3, "NCDHW"

    def forward(self, x):
        return op.conv3d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups, self.data_layout)


class ConvTranspose1D(Module):
    """A transposed convolution of (batch, channels, width); `weight` is of shape (in, out / groups, kernel_size)."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1,
                 bias=True, dtype=None):
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.output_padding = stride, padding, output_padding
        self.dilation, self.groups = dilation, groups
        self.weight = Parameter((in_channels, out_channels // groups, kernel_size), dtype)
        self.bias = _bias(bias, out_channels, dtype)

    def forward(self, x):
        return op.conv1d_transpose(x, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.dilation,
                                   self.groups)


class LayerNorm(Module):
    """Normalizes the last axis to mean 0 and variance 1, then scales and shifts it if `elementwise_affine`."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, dtype=None):
        self.normalized_shape, self.eps, self.elementwise_affine = normalized_shape, eps, elementwise_affine
        self.weight = _bias(elementwise_affine, normalized_shape, dtype)
        self.bias = _bias(elementwise_affine, normalized_shape, dtype)

    def forward(self, x):
        return op.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Divides by the root of the mean of squares over `axes`, then scales, and shifts if `bias`."""

    def __init__(self, hidden_size, axes, epsilon=1e-5, bias=True, dtype=None):
        self.epsilon, self.axes = epsilon, axes
        self.weight = Parameter((hidden_size,), dtype)
        self.bias = _bias(bias, hidden_size, dtype)

    def forward(self, x):
        out = op.rms_norm(x, self.weight, self.axes, self.epsilon)
        return out if self.bias is None else op.add(out, self.bias)


class GroupNorm(Module):
    """Normalizes groups of channels, then scales and shifts them if `affine`."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, dtype=None):
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight, self.bias = _bias(affine, num_channels, dtype), _bias(affine, num_channels, dtype)

    def forward(self, x, channel_axis=1, axes=None):
        return op.group_norm(x, self.num_groups, self.weight, self.bias, self.eps, channel_axis, axes)


class KVCache(Effect):
    """A cache of tensors of the shape `unit_shape`, which grows from `init_seq_len` on."""

    def __init__(self, init_seq_len, unit_shape, dtype=None):
        self.init_seq_len, self.unit_shape = init_seq_len, [int(size) for size in unit_shape]
        self.dtype = dtype or get_default_dtype()
        self.cache = None

    def emit_init(self, name_hint, builder):
        shape = ShapeExpr([self.init_seq_len, *self.unit_shape])
        created = _op.call_pure_packed("vm.builtin.attention_kv_cache_create", _op.zeros(shape, self.dtype), shape, PrimValue(0),
                                       sinfo_args=ObjectStructInfo())
        return [builder.emit(created, name_hint)]

    def create(self, name_hint):
        return [Var(name_hint, ObjectStructInfo())]

    def set_state(self, state_vars):
        (self.cache,) = state_vars

    def finalize(self):
        result, self.cache = self.cache, None
        return [result]

    def to(self, dtype=None):
        self.dtype = dtype or self.dtype

    def view(self, seq_len):
        """The first `seq_len` tensors of the cache."""
        shape = ShapeExpr([seq_len, *self.unit_shape])
        viewed = _op.call_pure_packed("vm.builtin.attention_kv_cache_view", self.cache, shape,
                                      sinfo_args=TensorStructInfo(shape, self.dtype))
        return Tensor(_expr=BlockBuilder.current().emit(viewed))

    def append(self, new_element):
        """Adds tensors at the end."""
        if new_element.dtype != self.dtype:
            raise TypeError(f'KVCache has been set to use dtype "{self.dtype}", but got "{new_element.dtype}"')
        appended = _op.call_inplace_packed("vm.builtin.attention_kv_cache_append", self.cache, new_element._expr,
                                           inplace_indices=[0], sinfo_args=ObjectStructInfo())
        self.cache = BlockBuilder.current().emit(appended)


class Embedding(Module):
    """The rows of a table at given indices; `weight` is of shape (num, dim)."""

    def __init__(self, num, dim, dtype=None):
        self.num, self.dim = num, dim
        self.weight = Parameter((num, dim), dtype)

    def forward(self, x):
        if x.ndim == 1:
            return op.take(self.weight, x, axis=0)
        rows = op.take(self.weight, op.reshape(x, [-1]), axis=0)
        return op.reshape(rows, [*x.shape, self.weight.shape[1]])


class TimestepEmbedding(Module):
    """Two linear layers with an activation between, as diffusion models embed time."""

    def __init__(self, in_channels, time_embed_dim, act_fn="silu", out_dim=None, post_act_fn=None, cond_proj_dim=None):
        for function in (act_fn, post_act_fn):
            if function not in ("silu", None):
                raise ValueError(f"the activation '{function}' is not known, only 'silu'")
        self.linear_1 = Linear(in_channels, time_embed_dim)
        self.cond_proj = None if cond_proj_dim is None else Linear(cond_proj_dim, in_channels, bias=False)
        self.act = SiLU()
        self.linear_2 = Linear(time_embed_dim, time_embed_dim if out_dim is None else out_dim)
        self.post_act = None if post_act_fn is None else SiLU()

    def forward(self, sample, condition=None):
        if condition is not None:
            sample = sample + self.cond_proj(condition)
        sample = self.linear_2(self.act(self.linear_1(sample)))
        return sample if self.post_act is None else self.post_act(sample)


class Timesteps(Module):
    """Sines and cosines of times."""

    def __init__(self, num_channels, flip_sin_to_cos=False, downscale_freq_shift=1):
        self.num_channels = num_channels
        self.flip_sin_to_cos, self.downscale_freq_shift = flip_sin_to_cos, downscale_freq_shift

    def forward(self, x):
        return op.get_timestep_embedding(x, self.num_channels, self.flip_sin_to_cos, self.downscale_freq_shift)


class Attention(Module):
    """Attention with projections of its inputs and its output, as diffusion models have it."""

    def __init__(self, query_dim, cross_attention_dim=None, heads=8, dim_head=64, bias=False, norm_num_groups=None, out_bias=True,
                 scale_qk=True):
        self.query_dim, self.cross_attention_dim = query_dim, cross_attention_dim or query_dim
        self.heads, self.dim_head, self.bias = heads, dim_head, bias
        self.norm_num_groups, self.out_bias, self.scale_qk = norm_num_groups, out_bias, scale_qk
        self.scale = dim_head**-0.5 if scale_qk else 1.0
        self.inner_dim = dim_head * heads
        self.to_q = Linear(self.query_dim, self.inner_dim, bias=bias)
        self.to_k = Linear(self.cross_attention_dim, self.inner_dim, bias=bias)
        self.to_v = Linear(self.cross_attention_dim, self.inner_dim, bias=bias)
        self.group_norm = None
        if norm_num_groups is not None:
            self.group_norm = GroupNorm(num_channels=query_dim, num_groups=norm_num_groups, affine=True)
        self.to_out = ModuleList([Linear(self.inner_dim, query_dim, bias=out_bias)])

    def forward(self, hidden_states, encoder_hidden_states=None, attention_mask=None, **_):
        if attention_mask is not None:
            raise NotImplementedError("a mask of attention is not supported")
        if self.group_norm is not None:
            hidden_states = self.group_norm(hidden_states, channel_axis=2, axes=[1])
        source = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        projected = [self.to_q(hidden_states), self.to_k(source), self.to_v(source)]
        query, key, value = (op.reshape(x, [0, -1, self.heads, self.dim_head]) for x in projected)
        result = op.scaled_dot_product_attention(query, key, value, is_causal=False)
        return self.to_out[0](op.reshape(result, (0, -1, self.inner_dim)))

"""What models ask the virtual machine to keep between calls: caches of keys and values, as packed functions in NumPy.

Attention is computed here, over the sequences that are in the cache, not by the kernels that a model brings for pages; only its
rotation of positions is. Sequences and layers may have sliding windows, layers latent keys and values (MLA).
"""
import itertools

from ..runtime import NDArray, array

FUNCTIONS = {}


def _packed(name):
    """Makes a function a packed one of the virtual machine."""

    def add(function):
        FUNCTIONS["vm.builtin." + name] = function
        return function

    return add


def _numpy():
    import numpy

    return numpy


# ---- Caches in pages, for batches of sequences

_NONE, _NORMAL, _INLINE = range(3)  # RopeMode
_MHA, _MLA, _MHA_SLIDING = 0, 1, 3  # AttnKind


class _Sequence:
    """The keys and values of a sequence, by layer, and how long it is."""

    def __init__(self, num_layers):
        self.length, self.layers = 0, [None] * num_layers
        self.window, self.sinks = None, 0

    def append(self, layer, keys, values):
        """Adds keys and values of a layer; returns all of them."""
        old = self.layers[layer]
        if old is not None:
            keys, values = (_numpy().concatenate(pair) for pair in zip(old, (keys, values)))
        self.layers[layer] = keys, values
        return keys, values

    def keep(self, places):
        """Keeps the tokens at the places alone."""
        self.layers = [layer and (layer[0][places], layer[1][places]) for layer in self.layers]
        self.length = len(places)

    def make_room(self, count):
        """Forgets the oldest tokens behind the sinks, so that `count` more fit into the window."""
        slide = 0 if self.window is None else self.length + count - self.window
        if slide > 0:
            self.keep([*range(min(self.sinks, self.length)), *range(self.sinks + slide, self.length)])

    def fork(self, length):
        """A sequence that begins with the first tokens of this one."""
        made = _Sequence(len(self.layers))
        made.length, made.layers = self.length, list(self.layers)
        made.keep(_numpy().arange(length))
        return made


class _Step:
    """The tokens of a sequence that a step of the model adds: how many, where they begin, and the token that each follows."""

    def __init__(self, sequence, begin, length, parents):
        self.sequence, self.begin, self.length, self.parents = sequence, begin, length, parents

    def path(self, token):
        """The tokens that lead to one of the step, with itself."""
        found = []
        while token >= 0:
            found.insert(0, token)
            token = self.parents[token]
        return found

    def positions(self):
        return [self.begin + len(self.path(token)) - 1 for token in range(self.length)]

    def mask(self):
        """Which of all tokens each new one sees: those before the step, and its path."""
        seen = _numpy().zeros((self.length, self.begin + self.length), bool)
        seen[:, :self.begin] = True
        for token in range(self.length):
            seen[token, [self.begin + other for other in self.path(token)]] = True
        return seen


class PagedKVCache:
    """A cache that a model has created. Pages only count: the tokens of a sequence are in one array for each layer."""

    def __init__(self, config, num_layers, heads, rope_mode, score_scale, rotate, kinds=None):
        self.max_batch_size, self.max_total_length, _, self.page_size, self.has_windows = config[:5]
        self.num_layers, self.score_scale = num_layers, score_scale
        self.num_queries, self.num_keys, self.size = heads
        # Positions in a window change, so keys are kept as they are.
        self.rope_mode = _INLINE if self.has_windows and rope_mode == _NORMAL else rope_mode
        self.kinds = list(kinds or [_MHA] * num_layers)
        self.window_of_layers = config[5] if len(config) > 5 else 1024
        self._rotate = rotate
        self.sequences, self.steps = {}, []

    def sequence(self, seq_id):
        if seq_id not in self.sequences:
            raise ValueError(f"The sequence \"{seq_id}\" cannot be found in KV cache.")
        return self.sequences[seq_id]

    def num_free_pages(self):
        return self._pages(self.max_total_length) + 1 - sum(self._pages(item.length) for item in self.sequences.values())

    def _pages(self, length):
        return -(-length // self.page_size)

    def begin(self, seq_ids, lengths, parents):
        """Begins a step, which adds tokens to sequences."""
        sequences = [self.sequence(seq_id) for seq_id in seq_ids]
        if parents is not None and any(sequence.window for sequence in sequences):
            raise ValueError("the tokens of a sequence with a sliding window are a chain, not a tree")
        ends = [sequence.length + length if sequence.window is None else min(sequence.length + length, sequence.window)
                for sequence, length in zip(sequences, lengths, strict=True)]
        if sum(map(self._pages, ends)) - sum(self._pages(sequence.length) for sequence in sequences) > self.num_free_pages():
            raise ValueError("the KV cache is full: no free page is left")
        self.steps, first = [], 0
        for sequence, length in zip(sequences, lengths):
            sequence.make_room(length)
            own = list(range(-1, length - 1)) if parents is None else list(parents[first:first + length])
            self.steps.append(_Step(sequence, sequence.length, length, own))
            first += length
        for step in self.steps:
            step.sequence.length += step.length

    def positions(self):
        return _numpy().array([place for step in self.steps for place in step.positions()], "int32")

    def split(self, qkv):
        """Queries, keys and values of all tokens of the step, rotated if keys are kept rotated."""
        np = _numpy()
        parts = np.split(np.asarray(qkv), [self.num_queries, self.num_queries + self.num_keys], axis=1)
        return parts if self.rope_mode != _NORMAL else self._rotated(qkv, self.positions(), parts)

    def _rotated(self, qkv, positions, parts):
        """The parts of a tensor as the function of the model gives them for its positions."""
        tensors = [array(part) for part in parts]
        self._rotate(qkv, array(positions), *tensors)
        return [_numpy().asarray(tensor) for tensor in tensors]

    def parts(self):
        """The sequences of the step, with the rows of tensors that they have."""
        first = 0
        for step in self.steps:
            yield step, slice(first, first + step.length)
            first += step.length

    def attention(self, layer, scale, qkv, output):
        """Stores the keys and values of the tokens of the step, and writes what attention gives for their queries."""
        queries, keys, values = self.split(qkv)
        stored = [step.sequence.append(layer, keys[own], values[own]) for step, own in self.parts()]
        self.write_attention(layer, scale, queries, stored, output)

    def write_attention(self, layer, scale, queries, stored, output):
        """Writes what attention over the keys and values of each sequence gives, of which the last are those of the queries."""
        results = []
        for (step, own), (keys, values) in zip(self.parts(), stored):
            turned, places = (queries[own], keys), [*range(step.begin), *step.positions()]
            if self.rope_mode == _INLINE:
                turned = self._turn(*turned, places)
            mask = step.mask()
            if self.kinds[layer] == _MHA_SLIDING:
                mask = mask & (_numpy().subtract.outer(step.positions(), places) < self.window_of_layers)
            results.append(_attention(*turned, values, scale * self.score_scale, mask)[0])
        _write(output, results)

    def _turn(self, queries, keys, places):
        """The queries, which belong to the last keys, and the keys, rotated."""
        np = _numpy()
        before = np.zeros((len(keys) - len(queries), *queries.shape[1:]), queries.dtype)
        parts = [np.concatenate([before, queries]), keys, np.zeros_like(keys)]
        turned = self._rotated(array(np.concatenate(parts, axis=1)), np.array(places, "int32"), parts)
        return turned[0][len(before):], turned[1]


def _attention(queries, keys, values, scale, mask):
    """softmax(queries keys^T scale) values, for (tokens, heads, size); several heads of queries share one of keys.

    Returns the results, 0 for a query that sees no key, and the binary logarithms of the sums of weights, (tokens, heads).
    """
    np = _numpy()
    queries, keys, values = (part.astype("float32") for part in (queries, keys, values))
    group = queries.shape[1] // keys.shape[1]
    keys, values = np.repeat(keys, group, axis=1), np.repeat(values, group, axis=1)
    scores = np.where(mask, np.einsum("qhd,khd->hqk", queries, keys) * scale, -np.inf)
    most = scores.max(axis=-1, keepdims=True, initial=np.finfo("float32").min)
    weights = np.exp(scores - most)
    sums = weights.sum(axis=-1, keepdims=True)
    logarithms = np.where(sums == 0, -np.inf, np.log2(np.maximum(sums, 1)) + np.where(sums == 0, 0, most) * np.log2(np.e))[..., 0].T
    return np.einsum("hqk,khd->qhd", weights / np.where(sums == 0, 1, sums), values), logarithms


def _write(output, parts):
    output.copyfrom(_numpy().concatenate(parts).reshape(output.shape))


def _functions(args):
    return [arg for arg in args if callable(arg) or hasattr(arg, "is_global")]


def _rotation(function, factors):
    """The function of a model that splits a tensor and rotates. Its last argument are factors of dimensions, or whether it does."""
    last = factors if isinstance(factors, NDArray) else 1
    return lambda qkv, positions, *outputs: function(qkv, positions, *outputs, last)


def _create(args, rotary):
    """The cache of TVM 0.18's arguments; `rotary` is the place of the rotation among the functions."""
    config, partition, queries, keys, size, mode = args[:6]
    rotate = _rotation(_functions(args)[rotary], args[-1])
    return PagedKVCache(config, partition[-1] - partition[0], (queries, keys, size), mode, size ** -0.5, rotate)


@_packed("paged_attention_kv_cache_create_reduced")
def _create_reduced(*args):
    return _create(args, 7)


@_packed("paged_attention_kv_cache_create")
def _create_paged(*args):
    if not isinstance(args[6], tuple):
        return _create(args, 13)
    config, partition, queries, keys, size, value_size, kinds, _, mode, _, _, factors = args[:12]
    if size != value_size and _MHA in kinds:
        raise NotImplementedError("keys and values of different sizes are not a part of iropt")
    if config[4] and _MLA in kinds:
        raise ValueError("latent keys and values (MLA) have no sliding windows")
    # Plain functions store keys and values, and latent ones; then comes the rotation.
    rotate = _rotation(next(item for item in _functions(args) if "append" not in item.name), factors)
    return PagedKVCache(config, partition[-1] - partition[0], (queries, keys, size), mode, 1.0, rotate, kinds)


@_packed("kv_state_clear")
def _clear(state):
    state.sequences, state.steps = {}, []


@_packed("kv_state_add_sequence")
def _add_sequence(state, seq_id):
    if seq_id in state.sequences:
        raise ValueError(f"The sequence \"{seq_id}\" is already in the KV cache.")
    if len(state.sequences) >= state.max_batch_size:
        raise ValueError(f"the KV cache has {state.max_batch_size} sequences already, which are all that it was made for")
    state.sequences[seq_id] = _Sequence(state.num_layers)


@_packed("kv_state_remove_sequence")
def _remove_sequence(state, seq_id):
    state.sequence(seq_id)
    del state.sequences[seq_id]


@_packed("kv_state_fork_sequence")
def _fork_sequence(state, parent, child, position=-1):
    if child in state.sequences:
        raise ValueError(f"The child sequence \"{child}\" is already in the KV cache.")
    sequence = state.sequence(parent)
    if sequence.window is not None and not 0 <= position <= sequence.sinks:
        raise ValueError(f"the sequence {parent} has a sliding window, so others can begin with its {sequence.sinks} first tokens at most")
    if not -1 <= position <= sequence.length:
        raise ValueError(f"the sequence {parent} has {sequence.length} tokens, not {position} to begin the sequence {child} with")
    state.sequences[child] = sequence.fork(sequence.length if position < 0 else position)


@_packed("kv_state_popn")
def _popn(state, seq_id, count):
    sequence = state.sequence(seq_id)
    if not 0 <= count <= sequence.length:
        raise ValueError(f"the sequence {seq_id} has {sequence.length} tokens, not {count} to remove")
    sequence.keep(_numpy().arange(sequence.length - count))


@_packed("kv_state_begin_forward")
def _begin_forward(state, seq_ids, lengths, parents=None):
    state.begin(seq_ids, lengths, parents)


@_packed("kv_state_end_forward")
def _end_forward(state):
    for step in state.steps:
        step.sequence.make_room(0)


@_packed("attention_kv_cache_attention_with_fused_qkv")
def _attention_with_fused_qkv(cache, layer, scale, qkv, output):
    cache.attention(layer, scale, qkv, output)


@_packed("attention_kv_cache_enable_sliding_window_for_seq")
def _enable_window(cache, seq_id, size, sinks):
    sequence = cache.sequence(seq_id)
    has_sliding_layers = _MHA_SLIDING in cache.kinds
    if not cache.has_windows and not has_sliding_layers:
        raise ValueError("The KV cache does not support sliding window.")
    if not 0 <= sinks < size:
        raise ValueError(f"a sliding window of {size} tokens cannot begin with {sinks} that stay")
    if sequence.window is not None:
        raise ValueError("A sequence cannot be enabled twice for sliding window.")
    # Layers with windows of their own forget nothing.
    if not has_sliding_layers:
        sequence.window, sequence.sinks = size, sinks


@_packed("attention_kv_cache_append_mla_kv")
def _append_latent(cache, layer, rows):
    rows = _numpy().asarray(rows)
    for step, own in cache.parts():
        step.sequence.append(layer, rows[own], rows[own, :0])
    return cache


@_packed("attention_kv_cache_self_attention")
def _self_attention(cache, layer, scale, queries, keys, values, output, logarithms):
    del layer
    queries, keys, values = (_numpy().asarray(part) for part in (queries, keys, values))
    results = [_attention(queries[own], keys[own], values[own], scale, step.mask()[:, step.begin:]) for step, own in cache.parts()]
    for tensor, parts in zip((output, logarithms), zip(*results)):
        _write(tensor, parts)


@_packed("attention_kv_cache_cross_attention")
def _cross_attention(cache, layer, scale, queries, output, logarithms):
    queries, results = _numpy().asarray(queries), []
    # A step of one token for each sequence has stored it, and sees it; others see what was there before them.
    is_decode = cache.kinds[layer] == _MLA and all(step.length == 1 for step in cache.steps)
    for step, own in cache.parts():
        keys, values = (part[:step.begin + is_decode] for part in step.sequence.layers[layer])
        if cache.kinds[layer] == _MLA:
            keys = keys[:, None, :]
            values = keys[..., :output.shape[-1]]
        results.append(_attention(queries[own], keys, values, scale, True))
    for tensor, parts in zip((output, logarithms), zip(*results)):
        _write(tensor, parts)


@_packed("attention_kv_cache_attention_with_shared_kv")
def _shared_attention(cache, layer, scale, queries, keys, values, output):
    np = _numpy()
    queries, keys, values = (np.asarray(part) for part in (queries, keys, values))
    stored = []
    for step, own in cache.parts():
        old = step.sequence.layers[layer]
        stored.append([part[own] if before is None else np.concatenate([before[:step.begin], part[own]])
                       for before, part in zip(old or (None, None), (keys, values))])
    cache.write_attention(layer, scale, queries, stored, output)


@_packed("attention_kv_cache_merge_attn_output_inplace")
def _merge(cache, output, logarithms, other, other_logarithms):
    del cache
    np = _numpy()
    both = np.stack([np.asarray(logarithms), np.asarray(other_logarithms)])
    weights = np.exp2(both - np.maximum(both.max(axis=0), np.finfo("float32").min))
    sums = weights.sum(axis=0)
    parts = np.stack([np.asarray(output), np.asarray(other)]) * (weights / np.where(sums == 0, 1, sums))[..., None]
    output.copyfrom(parts.sum(axis=0).astype(output.dtype))
    with np.errstate(divide="ignore"):
        logarithms.copyfrom((np.log2(sums) + both.max(axis=0)).astype(logarithms.dtype))
    return output, logarithms


@_packed("attention_kv_cache_commit_accepted_token_tree_nodes")
def _commit(cache, seq_ids, leaves):
    kept = []
    for seq_id, leaf in zip(seq_ids, leaves, strict=True):
        sequence = cache.sequence(seq_id)
        step = next((step for step in cache.steps if step.sequence is sequence), None)
        if step is None or step.begin + step.length != sequence.length:
            raise ValueError(f"the sequence {seq_id} has no tokens of a step that can be committed")
        if not -1 <= leaf < step.length:
            raise ValueError(f"the step has {step.length} tokens of the sequence {seq_id}, not {leaf} as a leaf")
        kept.append((sequence, [*range(step.begin), *(step.begin + token for token in step.path(leaf))]))
    for sequence, places in kept:
        sequence.keep(places)


@_packed("attention_kv_cache_get_query_positions")
def _query_positions(cache):
    return array(cache.positions())


@_packed("attention_kv_cache_empty")
def _is_empty(cache):
    return not cache.sequences


@_packed("attention_kv_cache_get_num_available_pages")
def _num_available_pages(cache):
    return cache.num_free_pages()


@_packed("attention_kv_cache_get_total_sequence_length")
def _total_length(cache):
    return sum(sequence.length for sequence in cache.sequences.values())


@_packed("attention_kv_cache_debug_get_kv")
def _get_kv(cache, seq_id, begin, end, keys, values):
    sequence = cache.sequence(seq_id)
    if not 0 <= begin < end <= sequence.length:
        raise ValueError(f"the sequence {seq_id} has {sequence.length} tokens, not those from {begin} to {end}")
    if None in sequence.layers:
        raise ValueError(f"a layer has no keys and values of the sequence {seq_id}")
    for tensor, part in ((keys, 0), (values, 1)):
        tensor.copyfrom(_numpy().stack([layer[part][begin:end] for layer in sequence.layers]))


# ---- A cache of one sequence, whose layers are caches of their own


class _Rows:
    """Rows that are added one after the other; `place` is where the next one goes in a window."""

    def __init__(self, data, count):
        self.data, self.count, self.place = data, count, count

    def reserve(self, count):
        size = len(self.data)
        if count > size:
            self.data = _numpy().concatenate([self.data, _numpy().zeros_like(self.data, shape=(
                max(count, 2 * size) - size, *self.data.shape[1:]))])

    def override(self, value, size, num_sinks):
        """Writes rows over the oldest ones of a window; the first ones, the sinks, stay."""
        value = _numpy().asarray(value)
        if len(value) > size - num_sinks:
            raise ValueError(f"{len(value)} rows do not fit into a window of {size} with {num_sinks} sinks")
        self.reserve(size)
        first = min(len(value), size - self.place)
        self.data[self.place:self.place + first] = value[:first]
        self.count = min(self.count + len(value), size)
        self.place += first
        if first < len(value):
            self.data[num_sinks:num_sinks + len(value) - first] = value[first:]
            self.place = num_sinks + len(value) - first
        return self


@_packed("attention_kv_cache_create")
def _create_rows(data, shape, count):
    np = _numpy()
    data = np.asarray(data)
    rows = _Rows(np.zeros(tuple(shape), data.dtype), count)
    if count:
        rows.data[:count] = data[:count]
    return rows


@_packed("attention_kv_cache_append")
def _append_rows(rows, value):
    value = _numpy().asarray(value)
    rows.reserve(rows.count + len(value))
    rows.data[rows.count:rows.count + len(value)] = value
    rows.count += len(value)
    rows.place = rows.count
    return rows


@_packed("attention_kv_cache_update")
def _update_rows(rows, value):
    value = _numpy().asarray(value)
    rows.reserve(len(value))
    rows.data[:len(value)] = value
    rows.count = rows.place = len(value)
    return rows


@_packed("attention_kv_cache_view")
def _view_rows(rows, shape=None):
    shape = (rows.count, *rows.data.shape[1:]) if shape is None else tuple(shape)
    if shape[0] != rows.count:
        raise ValueError(f"the cache has {rows.count} rows, not {shape[0]}")
    return array(rows.data[:rows.count].reshape(shape))


@_packed("attention_kv_cache_window_override")
def _override_rows(rows, value, size):
    return rows.override(value, size, 0)


@_packed("attention_kv_cache_window_override_with_sinks")
def _override_rows_with_sinks(rows, value, size, num_sinks):
    return rows.override(value, size, num_sinks)


@_packed("attention_kv_cache_array_popn")
def _pop_rows(caches, count):
    least = min((rows.count for rows in caches), default=count)
    if not 0 <= count <= least:
        raise ValueError(f"a cache has {least} rows, not {count} to remove")
    for rows in caches:
        rows.count -= count
        rows.place = rows.count


@_packed("attention_kv_cache_array_clear")
def _clear_rows(caches):
    for rows in caches:
        rows.count = rows.place = 0


# ---- Functions that models call while they are looked into


@_packed("invoke_debug_func")
def _invoke_debug_func(effect, name, place, *args):
    """Calls a registered function with a place in the program and tensors; the effect orders such calls."""
    from ..packed import get_global_func

    get_global_func(name)(place, *args)
    return effect


@_packed("debug_print")
def _debug_print(place, tensor):
    print(f"{place}: shape = {tuple(tensor.shape)}, dtype = {tensor.dtype}, data =\n{tensor.numpy()}")


# ---- Parameters by name

_parameters = {}


@_packed("ndarray_cache.load")
@_packed("tensor_cache.load")
def _load_parameters(path, device_type=1, device_id=0):
    from ..runtime import Device
    from ..tvmjs import load_ndarray_cache

    _parameters.update(load_ndarray_cache(path, Device(device_type, device_id))[0])


@_packed("ndarray_cache.get")
@_packed("tensor_cache.get")
def _get_parameter(name):
    return _parameters.get(name)


@_packed("ndarray_cache.update")
@_packed("tensor_cache.update")
def _update_parameter(name, value, override=False):
    if name in _parameters and not override:
        raise ValueError(f"the parameter {name} is in the cache already")
    _parameters[name] = value if isinstance(value, NDArray) else array(value)


@_packed("ndarray_cache.remove")
@_packed("tensor_cache.remove")
def _remove_parameter(name):
    _parameters.pop(name, None)


@_packed("ndarray_cache.clear")
@_packed("tensor_cache.clear")
def _clear_parameters():
    _parameters.clear()


@_packed("param_array_from_cache")
def _parameters_of(prefix, count):
    """The parameters PREFIX_0, PREFIX_1, ...: so many, or those before the first that is missing."""
    names = (f"{prefix}_{index}" for index in itertools.count())
    chosen = itertools.takewhile(_parameters.__contains__, names) if count < 0 else itertools.islice(names, count)
    return _parameters_by_name(list(chosen))


@_packed("param_array_from_cache_by_name")
@_packed("param_array_from_cache_by_name_unpacked")
def _parameters_by_name(*names):
    names = names[0] if len(names) == 1 and not isinstance(names[0], str) else names
    missing = [name for name in names if name not in _parameters]
    if missing:
        raise ValueError(f"the cache has no parameter {missing[0]}")
    return tuple(_parameters[name] for name in names)

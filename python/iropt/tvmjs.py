"""Parameters in files of a folder, as tvm.contrib.tvmjs writes them: ndarray-cache.json and shards of bytes."""
import hashlib
import json
import os

from .runtime import NDArray, array

_NAMES = ("ndarray-cache.json", "tensor-cache.json")
_FORMAT = "f32-to-bf16"


def _convert_f32_to_bf16(value):
    """The bits of floats rounded to bfloat16, ties to even, as uint16. Finite ones stay finite: those beyond the limit become it."""
    import numpy as np

    bits = np.ascontiguousarray(value, "float32").view("uint32")
    size = bits & 0x7FFFFFFF
    rounding = np.where(size < 0x7F7F0000, 0x7FFF + ((bits >> 16) & 1), 0).astype("uint32")
    quiet = np.where(size > 0x7F800000, 0x00400000, 0).astype("uint32")  # a NaN may have no other bits in the upper half
    return (((bits + rounding) | quiet) >> 16).astype("uint16")


def _convert_bf16_to_f32(value):
    import numpy as np

    return (np.asarray(value).astype("uint32") << 16).view("float32")


class _Shards:
    """The files that parameters are written to. One that is bigger than the limit has a file of its own."""

    def __init__(self, folder, first, limit):
        self._folder, self._next, self._limit = folder, first, limit
        self.records, self._parts, self._entries = [], [], []

    def add(self, entry, data):
        if self._parts and sum(map(len, self._parts)) + len(data) > self._limit:
            self.flush()
        entry["byteOffset"] = sum(map(len, self._parts))
        self._parts.append(data)
        self._entries.append(entry)

    def flush(self):
        if not self._parts:
            return
        data = b"".join(self._parts)
        path = f"params_shard_{self._next}.bin"
        with open(os.path.join(self._folder, path), "wb") as file:
            file.write(data)
        self.records.append({"dataPath": path, "format": "raw-shard", "nbytes": len(data), "records": self._entries,
                             "md5sum": hashlib.md5(data).hexdigest()})
        self._next, self._parts, self._entries = self._next + 1, [], []


def dump_ndarray_cache(params, cache_dir, encode_format=_FORMAT, meta_data=None, shard_cap_mb=32, show_progress=True,
                       update_if_exists=False, _name=_NAMES[0]):
    """Writes parameters, a dictionary of arrays by their names, to a folder.

    encode_format: "raw", or "f32-to-bf16", which halves floats.
    meta_data: a dictionary that is kept with them, or a function that gives it.
    update_if_exists: whether parameters that the folder has stay, unless they have the name of one of these.
    """
    del show_progress
    import numpy as np

    if encode_format not in ("raw", _FORMAT):
        raise ValueError(f"Invalid encode_format {encode_format}: expected raw or {_FORMAT}")
    os.makedirs(cache_dir, exist_ok=True)
    path = os.path.join(cache_dir, _name)
    old = {}
    if update_if_exists and os.path.exists(path):
        old, old_meta = load_ndarray_cache(cache_dir)
        meta_data = {**old_meta, **(meta_data() if callable(meta_data) else meta_data or {})}
    shards = _Shards(cache_dir, 0, shard_cap_mb << 20)
    total = 0
    for name, value in {**old, **dict(params.items())}.items():
        dtype = value.dtype if isinstance(value, NDArray) else str(np.asarray(value).dtype)
        value = np.asarray(value, order="C")
        halved = encode_format == _FORMAT and dtype == "float32"
        data = (_convert_f32_to_bf16(value) if halved else value).tobytes()
        total += len(data)
        shards.add({"name": name, "shape": list(value.shape), "dtype": dtype, "format": _FORMAT if halved else "raw",
                    "nbytes": len(data)}, data)
    shards.flush()
    meta_data = meta_data() if callable(meta_data) else meta_data or {}
    with open(path, "w", encoding="utf8") as file:
        json.dump({"metadata": {**meta_data, "ParamSize": len(old.keys() | params.keys()), "ParamBytes": total},
                   "records": shards.records}, file, indent=4)


def dump_tensor_cache(*args, **kwargs):
    """As dump_ndarray_cache, under the names of newer versions."""
    dump_ndarray_cache(*args, **kwargs, _name=_NAMES[1])


def load_ndarray_cache(cachepath, device=None):
    """The parameters of a folder, as tensors by their names, and their metadata."""
    import numpy as np

    paths = [os.path.join(cachepath, name) for name in _NAMES] if os.path.isdir(cachepath) else [cachepath]
    path = next((path for path in paths if os.path.exists(path)), paths[0])
    with open(path, encoding="utf8") as file:
        about = json.load(file)
    tensors = {}
    for shard in about["records"]:
        with open(os.path.join(os.path.dirname(path), shard["dataPath"]), "rb") as file:
            data = file.read()
        if len(data) != shard["nbytes"]:
            raise ValueError(f"{shard['dataPath']} has {len(data)} bytes, not {shard['nbytes']}")
        for entry in shard["records"]:
            own = data[entry["byteOffset"]:entry["byteOffset"] + entry["nbytes"]]
            if entry["format"] == _FORMAT and entry["dtype"] == "float32":
                made = array(_convert_bf16_to_f32(np.frombuffer(own, "uint16")).reshape(entry["shape"]), device)
            else:
                made = NDArray._from_bytes(entry["dtype"], entry["shape"], own)
            tensors[entry["name"]] = made
    return tensors, about["metadata"]


load_tensor_cache = load_ndarray_cache

"""Targets, which modules are compiled for."""
import json
import threading

from ._core import native, node
from .device_targets import (adreno, arm_cpu, bifrost, cuda, intel_graphics, mali, rasp, riscv_cpu,  # noqa: F401
                             rocm)
from . import ir

_state = threading.local()

# The kinds of targets, with the numbers that DLPack gives to their devices.
_DEVICE_TYPES = {"c": 1, "composite": 1, "cuda": 2, "ext_dev": 12, "hexagon": 16, "hybrid": 1, "llvm": 1,
                 "metal": 8, "nvptx": 2, "opencl": 4, "rocm": 10, "stackvm": 1, "test": 1, "vulkan": 7, "webgpu": 15}


@node("TargetAttr")
class Target(ir.AttrBase):
    """A target, from a text such as "llvm -mcpu=skylake", a tag, or a dictionary. It is also a scope."""

    __slots__ = ()

    def __new__(cls, target, host=None):
        if isinstance(target, Target) and host is None:
            return target
        config = _plain(target)
        if isinstance(config, dict) and "tag" in config and "kind" not in config:
            # Options change those of the tag.
            config = {**_plain(native.make_target(config["tag"], None)), **config}
        return native.make_target(config, None if host is None else _plain(host))

    @staticmethod
    def list_kinds():
        """The kinds of targets, by their names."""
        return sorted(_DEVICE_TYPES)

    @property
    def kind(self):
        return _Kind(self.config["kind"])

    @property
    def attrs(self):
        found = {key: value for key, value in self.config.items() if key not in ("kind", "keys", "tag", "host")}
        if self.config["kind"] == "composite":
            found["devices"] = [Target(_plain(device)) for device in found.get("devices", ())]
        return found

    keys = property(lambda self: self.config.get("keys"))
    tag = property(lambda self: self.config.get("tag") or "")

    @property
    def host(self):
        host = self.config.get("host")
        return None if host is None else Target(_plain(host))

    def with_host(self, host):
        return Target(self, host)

    def get_target_device_type(self):
        return self.config.get("target_device_type") or _DEVICE_TYPES.get(self.config["kind"], 1)

    def export(self):
        return dict(self.config.items())

    def _option_(self):
        return json.loads(json.dumps(_json(self.config)))

    def script(self, **_):
        return json.dumps(_json(self.config))

    def __str__(self):
        """The text that makes the target: cuda -keys=cuda,gpu -max_num_threads=1024."""
        config = _json(self.config)
        options = {"keys": config.get("keys"), **{key: config[key] for key in sorted(config)}}
        parts = [f"-{key}={_option_text(value)}" for key, value in options.items()
                 if value not in (None, [], "") and key not in ("kind", "tag", "host")]
        return " ".join([config["kind"], *parts])

    __repr__ = __str__

    def _script_(self):
        return f"T.target({json.dumps(_json(self.config))})"

    def __enter__(self):
        if not hasattr(_state, "stack"):
            _state.stack = []
        _state.stack.append(self)
        return self

    def __exit__(self, kind, value, trace):
        _state.stack.pop()

    @staticmethod
    def current(allow_none=True):
        stack = getattr(_state, "stack", [])
        if stack:
            return stack[-1]
        if not allow_none:
            raise RuntimeError("there is no current target")
        return None

    @staticmethod
    def from_device(device):
        """The target of a device, or of the name of one. Only the host is looked at: other devices do not exist here.

        Args:
            device: a Device, or "cpu".

        Returns: the target.
        """
        kind = str(getattr(device, "kind", device)).partition(":")[0].partition("(")[0]
        if kind not in ("cpu", "llvm"):
            raise ValueError(f"Cannot detect device {device}. Please make sure the device and its driver is installed properly")
        return Target("llvm")

    @property
    def features(self):
        """What the device can do, as fields: `target.features.has_sve`."""
        return _Features(self)

    # Options that were not given have these values.
    _DEFAULTS = {"arch": "", "max_function_args": 0, "vtcm_capacity": 0, "device_name": "", "model": "unknown", "mcpu": "",
                 "mattr": [], "libs": [], "supports_integer_dot_product": False, "supports_cooperative_matrix": False,
                 "l2_cache_size_bytes": 0}
    _OPTIONS = {"device_name": "device", "vtcm_capacity": "vtcm-capacity"}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        value = self.config.get(self._OPTIONS.get(name, name))
        return self._DEFAULTS.get(name) if value is None else value


class _Kind(str):
    name = property(str)


class _Features:
    """What the device of a target can do."""

    def __init__(self, target):
        self._target = target

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return (self._target.config.get("features") or {}).get(name)


def _option_text(value):
    if isinstance(value, (list, tuple)):
        return ",".join(_option_text(item) for item in value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def create(target):
    """A target of a text, under an old name of the constructor."""
    return Target(target)


def as_json(config):
    """The text of the dictionary of a target."""
    return json.dumps(_json(config))


def _json(value):
    if isinstance(value, (dict, ir.DictAttrs)):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    return value._option_() if isinstance(value, Target) else value


def _plain(target):
    if isinstance(target, Target):
        return target._option_()
    return _json(target) if isinstance(target, (dict, ir.DictAttrs)) else str(target)

"""Targets, which modules are compiled for."""
import json
import threading

from ._core import native, node
from . import ir

_state = threading.local()


@node("TargetAttr")
class Target(ir.AttrBase):
    """A target, from a text such as "llvm -mcpu=skylake", a tag, or a dictionary. It is also a scope."""

    __slots__ = ()

    def __new__(cls, target, host=None):
        if isinstance(target, Target) and host is None:
            return target
        return native.make_target(_plain(target), None if host is None else _plain(host))

    @property
    def kind(self):
        return _Kind(self.config["kind"])

    @property
    def attrs(self):
        return {key: value for key, value in self.config.items() if key not in ("kind", "keys", "tag", "host")}

    keys = property(lambda self: self.config.get("keys"))
    tag = property(lambda self: self.config.get("tag") or "")

    @property
    def host(self):
        host = self.config.get("host")
        return None if host is None else Target(dict(host.items()))

    def with_host(self, host):
        return Target(self, host)

    def get_target_device_type(self):
        return {"llvm": 1, "c": 1, "cuda": 2, "nvptx": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10,
                "webgpu": 15}.get(self.config["kind"], 1)

    def export(self):
        return dict(self.config.items())

    def _option_(self):
        return json.loads(json.dumps(_json(self.config)))

    def script(self, **_):
        return json.dumps(_json(self.config))

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

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self.config.get(name)


class _Kind(str):
    name = property(str)


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

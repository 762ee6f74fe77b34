"""Models of ONNX: reading, writing, optimizing and comparing them.

A model is an onnx.ModelProto, the bytes of one, or the path of a file; paths are best for models of more than 2 GB, whose
weights are mapped and never copied.
"""
import os

from ._core import native
from .ir import IRModule
from .ir.transform import PassContext, Pipeline
from .running import check_semantics

# Optimizers of networks, ours and others, take sums apart that infinities make NaNs.
_FINITE = ("ordinary", "special")
_LIMITS = ("relax.max_constant_bytes", "relax.max_constant_growth")


def load(model, *, folder="", input_shapes=None, symbols=None):
    """Reads a model into a module.

    folder: where the weights of a model that is not a file lie, if they are in files of their own.
    input_shapes: sizes for inputs by their names, {"ids": (1, 8)}; None is a dimension that stays as it is.
    symbols: sizes for named dimensions, {"batch": 1}.
    """
    return _read(model, folder, input_shapes, symbols)


def _read(model, folder, input_shapes, symbols, output=None):
    """The module of a model; `output` are the options of the model that it becomes again."""
    name, contents = "<model>", None
    if isinstance(model, (str, os.PathLike)):
        name = os.fspath(model)
        folder = folder or os.path.dirname(name)
    elif isinstance(model, (bytes, bytearray, memoryview)):
        contents = bytes(model)
    elif hasattr(model, "SerializeToString"):
        contents = model.SerializeToString()
    else:
        raise TypeError(f"expected a path, bytes or a ModelProto, not {type(model).__name__}")
    shapes = {key: list(shape) for key, shape in (input_shapes or {}).items()}
    return IRModule(_module=native.from_onnx(name, contents, os.fspath(folder), shapes, dict(symbols or {}), output))


def save(module, path=None, *, opset=None, external_data=None):
    """Writes a module as a model: into a file, or without a path as bytes.

    opset: the operator set of the model; by default that of the model that was read, or the newest that is known.
    external_data: the file next to it that gets the tensors.
    """
    options = _options(opset, external_data)
    if path is None:
        return module._module.to_bytes("onnx", options)
    module._module.write(os.fspath(path), "onnx", options)
    return None


def optimize(model, output=None, *, level=3, passes=None, check=False, folder="", input_shapes=None, symbols=None,
             opset=None, external_data=None):
    """Optimizes a model: `ir-opt -O3 MODEL -o OUTPUT`.

    Without `output`, the result is a ModelProto, or bytes if the model is bytes.

    level: 0 to 4, as -O0 to -O4.
    passes: a pipeline in place of that of the level, as -passes= has it.
    check: runs both models on the same generated inputs, and raises iropt.Error if their results differ.
    The other arguments are those of load and save.
    """
    before = _read(model, folder, input_shapes, symbols, _options(opset, external_data))
    outer = PassContext.current()
    config = outer.config
    if all(config.get(key, -1) < 0 for key in _LIMITS):
        config = {**config, _LIMITS[0]: before._module.constant_limit("onnx"), "relax.count_folded_calls": True}
    with PassContext(outer.opt_level, outer.required_pass, outer.disabled_pass, config=config) as inner:
        with inner._watched_by(outer.instruments):
            after = Pipeline(f"default<O{level}>" if passes is None else passes)(before)
    if check:
        check_semantics(before, after, inputs=_FINITE)
    if output is not None:
        return save(after, output, opset=opset, external_data=external_data)
    result = save(after, opset=opset)
    return result if isinstance(model, (bytes, bytearray, memoryview)) else _proto(result)


def check(before, after, *, input_shapes=None, symbols=None, seed=0, rtol=None, atol=None):
    """Runs two models on the same generated inputs, and raises iropt.Error where their results differ.

    Returns why something was not compared, or an empty text.
    """
    first, second = (load(model, input_shapes=input_shapes, symbols=symbols) for model in (before, after))
    return check_semantics(first, second, seed=seed, rtol=rtol, atol=atol, inputs=_FINITE)


def _options(opset, external_data):
    options = {}
    if opset is not None:
        options["onnx-opset"] = str(opset)
    if external_data is not None:
        options["external-data"] = os.fspath(external_data)
    return options


def _proto(contents):
    import onnx  # type: ignore[import]

    return onnx.ModelProto.FromString(contents)

"""Number formats of operators: which of them can be float16 or bfloat16, and which must stay float32.

A model is an IRModule, or what iropt.onnx.load takes: a path, bytes or a ModelProto. A sample has the inputs of one run:
a dict by name, a list, or the path of a file that numpy.load reads.
"""
import os

from ._core import native
from .ir import IRModule


class Row:
    """What was decided about an operator.

    name: that of the node in the model's file, or of the variable. operator: "R.matmul".
    lowered: whether it gets the format. reason: why it stays, or "".
    error_alone: the error of the outputs if it alone has the format, None where all operators fit and shares were not
    asked for. range: of its values, or None.
    """

    def __init__(self, row):
        self.__dict__.update(row)

    def __repr__(self):
        return f"<{self.operator} {self.name}: {'lowered' if self.lowered else self.reason}>"


class Choice:
    """A module whose operators have formats, and what was decided about each of them.

    module: the module. error: the greatest error of an output on the samples, the norm of the difference relative to the
    norm of the output. predicted_error: as the errors of the operators add
    up, or None. runs: how often the function ran.
    """

    def __init__(self, module, result):
        self.module = module
        self.rows = [Row(row) for row in result.pop("rows")]
        self.__dict__.update(result)

    @property
    def kept(self):
        """The operators that stay in float32."""
        return [row for row in self.rows if not row.lowered]

    def save(self, path):
        """Writes the module as an ONNX model, or in the format that the extension names."""
        from . import onnx

        if os.fspath(path).endswith(".onnx"):
            onnx.save(self.module, path)
        else:
            with open(path, "w", encoding="utf-8") as out:
                out.write(self.module.script())


class Model:
    """A function whose operators can be measured one by one.

    operators: (name, operator, reason) of each; those with a reason cannot be lowered.
    """

    def __init__(self, model, samples, format="fp16", keep=(), function="main"):
        module = model if isinstance(model, IRModule) else _load(model)
        self._module = module
        self._native = native.Precision(module._module, function, [_sample(sample) for sample in samples], format,
                                        list(keep))

    @property
    def operators(self):
        return self._native.operators

    def error(self, lowered):
        """The error of the outputs if the operators of these numbers compute in the format."""
        return self._native.error(list(lowered))

    def lower(self, lowered):
        """The module in which the operators of these numbers compute in the format."""
        return IRModule(_module=self._native.lower(list(lowered)))

    def choose(self, rtol=1e-2, objective="tolerance", shares=False):
        """As many operators as the error allows, a Choice."""
        if objective not in ("tolerance", "size", "speed"):
            raise ValueError(f"invalid objective '{objective}': expected tolerance, size or speed")
        result = self._native.choose(rtol, objective, shares)
        lowered = [number for number, row in enumerate(result["rows"]) if row["lowered"]]
        return Choice(self.lower(lowered), result)

    def lint(self):
        """Where numbers overflow, vanish or lose digits: pairs of the name of an operator and a message."""
        return self._native.lint()


def choose(model, samples, *, format="fp16", rtol=1e-2, keep=(), objective="tolerance", shares=False, function="main"):
    """Chooses the operators that compute in a format: `ir-opt -precision=auto:fp16 -inputs=... -rtol=...`.

    format: "fp16" or "bf16". rtol: the error that an output may have. keep: names of operators that stay, or regular
    expressions. objective: the operators that come first, those with the least error, for each of them ("tolerance"),
    for each byte of their constants ("size"), or for each element that they read and write ("speed"). shares: measure the
    errors of single operators also where all of them fit.
    """
    return Model(model, samples, format, keep, function).choose(rtol, objective, shares)


def lint(model, samples, *, format="fp16", function="main"):
    """Where numbers overflow, vanish or lose digits: pairs of the name of an operator and a message."""
    return Model(model, samples, format, (), function).lint()


def _load(model):
    from . import onnx

    if isinstance(model, (str, os.PathLike)) and not os.fspath(model).endswith(".onnx"):
        return IRModule.from_file(model)
    return onnx.load(model)


def _sample(sample):
    if isinstance(sample, (dict, list, tuple)):
        return sample
    import numpy as np

    loaded = np.load(sample)
    return {name: loaded[name] for name in loaded.files} if hasattr(loaded, "files") else [loaded]

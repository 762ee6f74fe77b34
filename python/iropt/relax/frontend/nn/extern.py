"""Modules of other compilers that a model calls."""
import os
import pathlib

from ... import op as _op
from .core import wrap_nested


class ExternModule:
    """Packed functions by their names; each has a function that gives placeholders of its results for its arguments."""

    def __init__(self, symbols):
        self._symbols = symbols

    def __getitem__(self, func_name):
        """The function of a name: called with tensors, numbers and texts, it adds a call of the packed function."""
        infer = self._symbols[func_name]

        def call(*args):
            from .op import packed_argument

            types = packed_argument(infer(*args)).struct_info
            return wrap_nested(_op.call_dps_packed(func_name, packed_argument(list(args)), types), func_name)

        return call

    def load(self):
        """Makes the module that is linked with the model."""
        raise NotImplementedError("external modules are linked by TVM; iropt has no linker")


class ObjectModule(ExternModule):
    """The functions of an object file."""

    def __init__(self, symbols, filepath):
        self.filepath = pathlib.Path(filepath)
        if not self.filepath.is_file():
            raise ValueError(f"Not a file: {self.filepath}")
        super().__init__(symbols)


class SourceModule(ExternModule):
    """The functions of a source in C++ ("cpp") or CUDA ("cu"): a text, or the path of a file."""

    def __init__(self, symbols, source_code, source_format, compile_options=None, compiler=None, output_format="obj"):
        suffixes = {"cpp": ".cpp", "cu": ".cu"}
        outputs = {"obj": ".o", "wasm": ".wasm"}
        if source_format not in suffixes:
            raise ValueError(f"Invalid source format: {source_format}")
        if output_format not in outputs:
            raise ValueError(f"Invalid output format: {output_format}")
        self.source_code = _source(source_code)
        self.source_suffix, self.output_suffix = suffixes[source_format], outputs[output_format]
        self.compile_options = list(compile_options or [])
        self.compiler = compiler
        super().__init__(symbols)


def _source(source):
    if isinstance(source, pathlib.Path) and not source.is_file():
        raise ValueError(f"Not a file: {source}")
    # A text of several lines is not a path.
    is_path = isinstance(source, pathlib.Path) or ("\n" not in source and os.path.isfile(source))
    return pathlib.Path(source).read_text(encoding="utf-8") if is_path else source

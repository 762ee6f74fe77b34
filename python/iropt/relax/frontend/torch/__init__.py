"""Models of PyTorch: exported programs are translated; an ONNX file of a model is read without PyTorch."""
from . import exported_program_translator  # noqa: F401
from .exported_program_translator import ExportedProgramImporter, from_exported_program  # noqa: F401


def _needs(function):
    def read(*args, **kwargs):
        del args, kwargs
        raise NotImplementedError(
            f"relax.frontend.torch.{function} is not a part of iropt: export the model with torch.export.export and translate it "
            "with from_exported_program, or write it with torch.onnx.export and read it with relax.frontend.onnx.from_onnx")

    read.__name__ = read.__qualname__ = function
    read.__doc__ = "Raises NotImplementedError, which says how a model of PyTorch is read."
    return read


from_fx = _needs("from_fx")
relax_dynamo = _needs("relax_dynamo")
dynamo_capture_subgraphs = _needs("dynamo_capture_subgraphs")

"""Models of PyTorch: they are read where torch is, and an ONNX file of one without it."""


def _needs(function):
    def read(*args, **kwargs):
        del args, kwargs
        raise NotImplementedError(
            f"relax.frontend.torch.{function} is not a part of iropt: write the model with torch.onnx.export, and read it with "
            "relax.frontend.onnx.from_onnx or iropt.onnx.load")

    read.__name__ = read.__qualname__ = function
    read.__doc__ = "Raises NotImplementedError, which says how a model of PyTorch is read."
    return read


from_fx = _needs("from_fx")
from_exported_program = _needs("from_exported_program")
relax_dynamo = _needs("relax_dynamo")
dynamo_capture_subgraphs = _needs("dynamo_capture_subgraphs")

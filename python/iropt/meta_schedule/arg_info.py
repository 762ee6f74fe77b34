"""What the arguments of a PrimFunc are: tensors of a dtype and a shape."""
from ..ir import IRModule
from ..tir import PrimFunc


class ArgInfo:
    """What an argument is."""

    @staticmethod
    def from_json(json_obj):
        """The tensor that as_json has written."""
        kind, dtype, shape = json_obj
        if kind != "TENSOR":
            raise ValueError(f"unknown kind of argument '{kind}': expected TENSOR")
        return TensorInfo(dtype, shape)

    @staticmethod
    def from_prim_func(func):
        """What the parameters of a PrimFunc are, which are tensors of constant shapes."""
        infos = []
        for param in func.params:
            if param not in func.buffer_map:
                raise ValueError(f"the parameter '{param.name}' is not a tensor")
            buffer = func.buffer_map[param]
            infos.append(TensorInfo(str(buffer.dtype), [int(dim) for dim in buffer.shape]))
        return infos

    @staticmethod
    def from_entry_func(mod, remove_preproc=True):
        """What the parameters of `main`, or of the only PrimFunc of a module, are."""
        del remove_preproc
        functions = [func for func in mod.values() if isinstance(func, PrimFunc)] if isinstance(mod, IRModule) else [mod]
        if len(functions) != 1:
            functions = [mod["main"]]
        return ArgInfo.from_prim_func(functions[0])


class TensorInfo(ArgInfo):
    """A tensor of a dtype and a shape."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = str(dtype), [int(dim) for dim in shape]

    def as_json(self):
        return ["TENSOR", self.dtype, self.shape]

    def __repr__(self):
        return f'TensorInfo("{self.dtype}", {self.shape})'

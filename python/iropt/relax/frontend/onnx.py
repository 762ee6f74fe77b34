"""Models of ONNX."""
from .. import Function, PyExprMutator, Var
from ... import onnx as _onnx
from ...ir import IRModule


def from_onnx(model, shape_dict=None, dtype_dict="float32", opset=None, keep_params_in_input=False,
              sanitize_input_names=True):
    """Reads a model of ONNX into a module.

    model: an onnx.ModelProto, the bytes of one, or a path.
    shape_dict: the shapes of inputs by their names.
    dtype_dict: the dtypes of inputs by their names, or one of all; those of the model hold, and others are an error.
    opset: the operator set; that of the model holds, and another one is an error.
    keep_params_in_input: whether weights stay parameters of the function; their values are then its attribute "params".
    sanitize_input_names: names of inputs are identifiers in a script in any case.
    """
    del sanitize_input_names
    module = _onnx.load(model, input_shapes=shape_dict)
    _check_dtypes(module, dtype_dict)
    _check_opset(module, opset)
    return _with_params(module) if keep_params_in_input else module


def _check_dtypes(module, dtype_dict):
    expected = dtype_dict if isinstance(dtype_dict, dict) else {}
    for param in module["main"].params:
        dtype = getattr(param.struct_info, "dtype", None)
        if expected.get(param.name_hint, dtype) != dtype:
            raise ValueError(f"the input '{param.name_hint}' is of dtype {dtype} in the model, not {expected[param.name_hint]}")


def _check_opset(module, opset):
    known = module.attrs["onnx.model"]["opset_import"]["ai.onnx"]
    if opset is not None and int(known) != opset:
        raise ValueError(f"the model is of the operator set {known}, not {opset}")


def _with_params(module):
    """The module with its weights as parameters of its function, and their values as the attribute "params"."""
    mutator = _Weights(module)
    main = module["main"]
    changed = mutator.visit_expr(main)
    inputs = (dict(main.attrs.items()) if main.attrs is not None else {}).get("num_input", len(main.params))
    changed = Function([*changed.params, *mutator.params], changed.body, changed.ret_struct_info, changed.is_pure,
                       changed.attrs)
    changed = changed.with_attr({"num_input": inputs, "params": mutator.values})
    functions = {name.name_hint: func for name, func in module.functions_items()}
    return IRModule({**functions, "main": changed})


class _Weights(PyExprMutator):
    """Puts variables in place of constants that are not scalars."""

    def __init__(self, module):
        super().__init__(module)
        self.params, self.values = [], []

    def visit_constant_(self, op):
        if op.struct_info.ndim == 0:
            return op
        self.params.append(Var(f"param_{len(self.params)}", op.struct_info))
        self.values.append(op.data)
        return self.params[-1]

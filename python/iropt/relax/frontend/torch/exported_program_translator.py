"""Programs that torch.export.export makes: their graphs of operators of ATen become functions of Relax.

Only the fields of programs, nodes and tensors are read, so PyTorch itself is not imported here.
"""
from ... import BlockBuilder, Expr, TensorStructInfo, Tuple, Var
from ....ir import IRModule
from ....runtime import array
from ....tir import SizeVar
from ...transform import BindParams
from . import _operators


class ExportedProgramImporter:
    """Translates a program. Converters, of the table and of the user, take a node and this object.

    block_builder: what the function is built with
    env: the expressions, by nodes
    """

    def __init__(self, custom_convert_map=None):
        self.block_builder = BlockBuilder()
        self.env = {}
        self._symbols = {}
        self._custom = custom_convert_map or {}

    def retrieve_args(self, node):
        """The arguments of a node, with expressions for nodes."""
        return self._retrieve(node.args)

    def _retrieve(self, value):
        if isinstance(value, (tuple, list)):
            return type(value)(self._retrieve(item) for item in value) if not hasattr(value, "_fields") else \
                tuple(self._retrieve(item) for item in value)
        if isinstance(value, dict):
            return {key: self._retrieve(item) for key, item in value.items()}
        return self.env.get(value, value) if hasattr(value, "op") and hasattr(value, "target") else value

    def dim(self, dim):
        """A dimension: a number, or the symbolic variable of one that is not known."""
        if isinstance(dim, int):
            return dim
        name = str(dim)
        if name.isdigit():
            return int(name)
        if name not in self._symbols:
            self._symbols[name] = SizeVar(name, "int64")
        return self._symbols[name]

    def type_of(self, tensor):
        """The type of a tensor of PyTorch."""
        return TensorStructInfo([self.dim(dim) for dim in tensor.shape], _operators.dtype_of(tensor.dtype))

    def _inputs(self, program):
        """The variables of the user's inputs, and of weights with their values."""
        placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        inputs, weights = {}, {}
        for spec in program.graph_signature.input_specs:
            name = spec.arg.name
            if spec.kind.name == "USER_INPUT":
                inputs[name] = Var(name, self.type_of(placeholders[name].meta["val"]))
                continue
            value = program.state_dict[spec.target] if spec.target in program.state_dict else program.constants[spec.target]
            weights[name] = (Var(name, self.type_of(value)), value, spec.kind.name == "PARAMETER")
        return inputs, weights

    def _call(self, node):
        name = getattr(node.target, "__name__", str(node.target))
        custom = self._custom.get(name) or self._custom.get(name.partition(".")[0])
        if custom is not None:
            return custom(node, self)
        convert = _operators.find(name)
        if convert is None:
            raise NotImplementedError(f"the operator {name} of PyTorch is not a part of iropt: a converter for it can be given in "
                                      "custom_convert_map")
        call = convert(*self.retrieve_args(node), **self._retrieve(dict(node.kwargs)))
        return self.block_builder.emit(call) if isinstance(call, Expr) else call

    def _output(self, node, unwrap, unbound):
        values = self.retrieve_args(node)[0]
        if not isinstance(values, (tuple, list)):
            values = (values,)
        if unwrap and len(values) == 1:
            return self.block_builder.emit_output(values[0])
        if unbound:
            return [self.block_builder.emit_output(value) for value in values]
        return self.block_builder.emit_output(Tuple(list(values)))

    def from_exported_program(self, exported_program, keep_params_as_input, unwrap_unit_return_tuple, no_bind_return_tuple):
        """The module of a program; its function is `main`."""
        inputs, weights = self._inputs(exported_program)
        variables = {**inputs, **{name: weight[0] for name, weight in weights.items()}}
        attrs = {"num_input": len(inputs)} if keep_params_as_input else None
        builder, output = self.block_builder, None
        with builder.function("main", list(variables.values()), attrs=attrs):
            with builder.dataflow():
                for node in exported_program.graph.nodes:
                    if node.op == "placeholder":
                        self.env[node] = variables.get(node.name)
                    elif node.op == "call_function":
                        self.env[node] = self._call(node)
                    elif node.op == "output":
                        output = self._output(node, unwrap_unit_return_tuple, no_bind_return_tuple)
                    else:
                        raise NotImplementedError(f"nodes of the kind {node.op} are not a part of iropt")
            builder.emit_func_output(output)
        bound = {name: _array_of(value) for name, (_, value, is_param) in weights.items()
                 if not (keep_params_as_input and is_param)}
        module = BindParams("main", bound)(builder.get()) if bound else builder.get()
        if not keep_params_as_input:
            return module
        main = module["main"].with_attr("params", [_array_of(value) for _, value, is_param in weights.values() if is_param])
        return IRModule({**{name.name_hint: func for name, func in module.functions_items()}, "main": main})


def _array_of(value):
    """A tensor with the elements of one of PyTorch."""
    return array(value.detach().cpu().numpy())


def from_exported_program(exported_program, *, keep_params_as_input=False, unwrap_unit_return_tuple=False,
                          no_bind_return_tuple=False, custom_convert_map=None, run_ep_decomposition=False):
    """Translates a program of torch.export.export into a module of Relax.

    keep_params_as_input: whether weights stay parameters of the function; their values are then its attribute "params",
    which relax.frontend.detach_params takes out.
    unwrap_unit_return_tuple: whether a single result is returned as it is, not as a tuple.
    no_bind_return_tuple: whether several results are returned without a variable for their tuple.
    custom_convert_map: functions of (node, importer) by names of operators.
    run_ep_decomposition: whether the program is decomposed into fewer operators first.
    """
    if run_ep_decomposition:
        exported_program = exported_program.run_decompositions()
    return ExportedProgramImporter(custom_convert_map).from_exported_program(
        exported_program, keep_params_as_input, unwrap_unit_return_tuple, no_bind_return_tuple)

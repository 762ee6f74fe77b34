"""A printer of the tree of a graph: every node with its kind and its fields."""
from ... import tir
from .. import expr as _expr
from ..expr_functor import PyExprVisitor


def _quoted(text):
    return f'"{text}"'


class ASTPrinter(PyExprVisitor):
    """Prints nodes as `Kind(field=value, ...)`, one field a line if there are several.

    include_struct_info_annotations, include_type_annotations: whether expressions show their types, in full or without
    shapes. include_call_attrs: whether calls show their attributes.
    """

    def __init__(self, indent_str="    ", include_struct_info_annotations=True, include_type_annotations=False,
                 include_call_attrs=True):
        self.indent_str = indent_str
        self.include_struct_info_annotations = include_struct_info_annotations
        self.include_type_annotations = include_type_annotations
        self.include_call_attrs = include_call_attrs

    def visit_expr(self, expr):
        if isinstance(expr, _expr.BindingBlock):
            return self.visit_binding_block(expr)
        if isinstance(expr, _expr.Binding):
            return self.visit_binding(expr)
        return super().visit_expr(expr)

    # ---- Text
    def indent(self, text):
        """The lines of a text, moved to the right."""
        return "\n".join(self.indent_str + line for line in text.split("\n")) if text else ""

    def build_list(self, members, open_tok="[", close_tok="]", force_newline=False):
        """A list: one short item stays on the line."""
        members = list(members)
        if not members or (len(members) == 1 and not force_newline and "\n" not in members[0]):
            return open_tok + "".join(members) + close_tok
        return open_tok + "\n" + ",\n".join(self.indent(item) for item in members) + "\n" + close_tok

    def build_ast_node(self, nodename, force_newline=False, **fields):
        """A node without types."""
        return self.build_list((f"{name}={text}" for name, text in fields.items()), nodename + "(", ")", force_newline)

    def build_expr(self, node, nodename, force_newline=False, **fields):
        """A node with its types."""
        info = node.struct_info_
        if info is not None and self.include_struct_info_annotations:
            fields["struct_info"] = self.visit_struct_info_(info)
        if info is not None and self.include_type_annotations:
            fields["checked_type_"] = self.visit_type_(info)
        return self.build_ast_node(nodename, force_newline, **fields)

    def _list_of(self, values, visit=None):
        return self.build_list(map(visit or self.visit_expr, values))

    def _dictionary(self, items):
        return self.build_list((f"{_quoted(key)}: {value}" for key, value in items), "{", "}")

    # ---- Expressions
    def visit_constant_(self, op):
        return self.build_expr(op, "Constant", len(op.data.shape) > 0, data=str(op.data.numpy()))

    def visit_tuple_(self, op):
        return self.build_expr(op, "Tuple", fields=self._list_of(op.fields))

    def visit_var_(self, op):
        return self.build_expr(op, "Var", name_hint=_quoted(op.name_hint))

    def visit_dataflow_var_(self, op):
        return self.build_expr(op, "DataflowVar", name_hint=_quoted(op.name_hint))

    def visit_global_var_(self, op):
        return self.build_expr(op, "GlobalVar", name_hint=_quoted(op.name_hint))

    def visit_shape_expr_(self, op):
        return self.build_expr(op, "ShapeExpr", values=self._list_of(op.values, self.visit_prim_expr_))

    def visit_extern_func_(self, op):
        return self.build_ast_node("ExternFunc", global_symbol=_quoted(op.global_symbol))

    def visit_op_(self, op):
        return self.build_ast_node("Op", name=_quoted(op.name))

    def visit_function_(self, op):
        fields = {"params": self._list_of(op.params), "body": self.visit_expr(op.body),
                  "ret_struct_info": self.visit_struct_info_(op.ret_struct_info), "is_pure": op.is_pure}
        if op.attrs:
            fields["attrs"] = self._dictionary((key, _quoted(value)) for key, value in op.attrs.items())
        return self.build_expr(op, "Function", **fields)

    def visit_call_(self, op):
        fields = {"op": self.visit_expr(op.op), "args": self._list_of(op.args)}
        if op.sinfo_args:
            fields["sinfo_args"] = self._list_of(op.sinfo_args, self.visit_struct_info_)
        if op.attrs and self.include_call_attrs:
            fields["attrs"] = self._dictionary((key, self._attribute(op.attrs[key])) for key in op.attrs.keys())
        return self.build_expr(op, "Call", **fields)

    @staticmethod
    def _attribute(value):
        if isinstance(value, tir.IntImm):
            return bool(value.value) if value.dtype == "bool" else int(value.value)
        return _quoted(value) if isinstance(value, str) else value

    def visit_seq_expr_(self, op):
        return self.build_expr(op, "SeqExpr", blocks=self._list_of(op.blocks, self.visit_binding_block),
                               body=self.visit_expr(op.body))

    def visit_if_(self, op):
        parts = ("cond", "true_branch", "false_branch")
        return self.build_expr(op, "If", **{name: self.visit_expr(getattr(op, name)) for name in parts})

    def visit_prim_value_(self, op):
        return self.build_expr(op, "PrimValue", value=self.visit_prim_expr_(op.value))

    def visit_string_imm_(self, op):
        return self.build_expr(op, "StringImm", value=_quoted(op.value))

    def visit_data_type_imm_(self, op):
        return self.build_expr(op, "DataTypeImm", value=op.value)

    def visit_tuple_getitem_(self, op):
        return self.build_expr(op, "TupleGetItem", tuple_value=self.visit_expr(op.tuple_value), index=str(op.index))

    def visit_prim_expr_(self, prim_expr):
        return self.build_ast_node("PrimExpr", value=f"`{prim_expr}`")

    # ---- Types
    def visit_type_(self, type_node):
        """A type without shapes."""
        if isinstance(type_node, _expr.TensorStructInfo):
            dtype = {"dtype": type_node.dtype} if type_node.dtype else {}
            return self.build_ast_node("DynTensorType", ndim=str(type_node.ndim), **dtype)
        if isinstance(type_node, _expr.ShapeStructInfo):
            return self.build_ast_node("ShapeType", ndim=str(type_node.ndim))
        if isinstance(type_node, _expr.TupleStructInfo):
            return self.build_ast_node("TupleType", fields=self._list_of(type_node.fields, self.visit_type_))
        if isinstance(type_node, _expr.FuncStructInfo):
            if type_node.params is None:
                return self.build_ast_node("PackedFuncType")
            return self.build_ast_node("FuncType", arg_types=self._list_of(type_node.params, self.visit_type_),
                                       ret_type=self.visit_type_(type_node.ret))
        if isinstance(type_node, _expr.ObjectStructInfo):
            return self.build_ast_node("ObjectType")
        if hasattr(type_node, "dtype"):
            return self.build_ast_node("PrimType", dtype=type_node.dtype)
        raise ValueError(f"expected a type, not {type(type_node).__name__}")

    def visit_struct_info_(self, struct_info_node):
        """A type with shapes."""
        info = struct_info_node
        name = type(info).__name__
        if isinstance(info, _expr.ShapeStructInfo):
            values = {} if not info.known else {"values": self._list_of(info.values, self.visit_prim_expr_)}
            return self.build_ast_node(name, ndim=str(info.ndim), **values)
        if isinstance(info, _expr.ObjectStructInfo):
            return self.build_ast_node(name)
        if isinstance(info, _expr.PrimStructInfo):
            return self.build_ast_node(name, dtype=info.dtype)
        if isinstance(info, _expr.TensorStructInfo):
            shape = {"ndim": str(info.ndim)} if info.shape is None else {"shape": self.visit_expr(info.shape)}
            return self.build_ast_node(name, dtype=info.dtype, **shape)
        if isinstance(info, _expr.TupleStructInfo):
            return self.build_ast_node(name, fields=self._list_of(info.fields, self.visit_struct_info_))
        if isinstance(info, _expr.FuncStructInfo):
            params = {} if info.params is None else {"params": self._list_of(info.params, self.visit_struct_info_)}
            return self.build_ast_node(name, **params, ret=self.visit_struct_info_(info.ret), purity=bool(info.purity))
        raise ValueError(f"expected a type, not {name}")

    # ---- Bindings
    def visit_binding_block_(self, block):
        bindings = self.build_list(map(self.visit_binding, block.bindings), force_newline=True)
        return self.build_ast_node(type(block).__name__, bindings=bindings)

    visit_dataflow_block_ = visit_binding_block_

    def visit_var_binding_(self, binding):
        return self.build_ast_node("VarBinding", var=self.visit_expr(binding.var), value=self.visit_expr(binding.value))

    def visit_match_cast_(self, binding):
        return self.build_ast_node("MatchCast", var=self.visit_expr(binding.var), value=self.visit_expr(binding.value),
                                   struct_info=self.visit_struct_info_(binding.struct_info))


def dump_ast(exp, indent_str="    ", include_struct_info_annotations=True, include_type_annotations=False,
             include_call_attrs=True):
    """The tree of an expression as text; the options are those of ASTPrinter."""
    printer = ASTPrinter(indent_str, include_struct_info_annotations, include_type_annotations, include_call_attrs)
    return printer.visit_expr(exp)

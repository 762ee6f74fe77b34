#include "graph_builder.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <forward_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "errors.h"
#include "fast_function.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/py_value.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/text/script/vocabulary.h"
#include "make_node.h"
#include "module.h"
#include "node.h"
#include "tensor.h"
#include "values.h"

namespace iropt::python {

namespace {

// ---- Calls of operators

// Arguments of Python as the values that scripts have. Texts are those of the arguments, lists live as long as this.
class Arguments {
 public:
  explicit Arguments(Build& build) : build_(build) {}

  PyValue Convert(py::handle value) {
    PyObject* object = value.ptr();
    if (value.is_none()) return PyValue::None({});
    if (IsNode(value)) return ConvertNode(ToNode(value, build_));
    if (PyBool_Check(object) != 0) return PyValue::Bool(object == Py_True, {});
    if (PyUnicode_CheckExact(object) != 0) return PyValue::String(TextOf(value), {});
    if (PyLong_CheckExact(object) != 0) return ConvertInteger(value);
    if (PyFloat_CheckExact(object) != 0) return PyValue::Float(PyFloat_AS_DOUBLE(object), {});
    if (PyList_CheckExact(object) != 0) return ConvertList(PyValue::Kind::kList, value);
    if (PyTuple_CheckExact(object) != 0) return ConvertList(PyValue::Kind::kTuple, value);
    return ConvertOther(value);
  }
  void ConvertAll(py::handle args, py::handle kwargs) {
    for (py::handle arg : py::reinterpret_borrow<py::tuple>(args)) positional.push_back(Convert(arg));
    if (kwargs.is_none()) return;
    for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(kwargs))
      keywords.push_back({TextOf(name), {}, Convert(value)});
  }

  PyValues positional;
  std::vector<PyKeyword> keywords;

 private:
  PyValue ConvertOther(py::handle value) {
    PyObject* object = value.ptr();
    if (py::hasattr(value, "_node_")) return ConvertNode(ToNode(value, build_));
    if (PyUnicode_Check(object) != 0) return PyValue::String(TextOf(value), {});
    if (PyList_Check(object) != 0) return ConvertList(PyValue::Kind::kList, value);
    if (PyTuple_Check(object) != 0) return ConvertList(PyValue::Kind::kTuple, value);
    if (PyFloat_Check(object) != 0) return PyValue::Float(PyFloat_AS_DOUBLE(object), {});
    if (PyDict_Check(object) != 0) return {ToDictAttr(value, build_), Span()};
    if (PyObject_CheckBuffer(object) == 0 && PyIndex_Check(object) != 0) return ConvertInteger(value);
    return PyValue(ToExpr(value, build_));
  }

  static PyValue ConvertInteger(py::handle value) {
    return PyValue::Int(py::int_(py::reinterpret_borrow<py::object>(value)).cast<int64_t>(), {});
  }

  static PyValue ConvertNode(const Node* node) {
    switch (GroupOf(node->kind)) {
      case NodeGroup::kExpr: return PyValue(static_cast<const Expr*>(node));
      case NodeGroup::kPrim: return PyValue(static_cast<const PrimExpr*>(node));
      case NodeGroup::kType: return {static_cast<const Type*>(node), Span()};
      case NodeGroup::kAttr: return {static_cast<const Attr*>(node), Span()};
      default: break;
    }
    if (const auto* buffer = As<tir::Buffer>(node)) return {buffer, Span()};
    throw py::type_error("such a node is not an argument of an operator");
  }

  PyValue ConvertList(PyValue::Kind kind, py::handle value) {
    PyValues& items = lists_.emplace_front();
    for (py::handle item : py::reinterpret_borrow<py::sequence>(value)) items.push_back(Convert(item));
    return {kind, items, Span()};
  }

  Build& build_;
  std::forward_list<PyValues> lists_;
};

// The call of a named operator with a tuple of arguments, and a dictionary of others or None.
const Call* CallOfOp(py::handle name, py::handle args, py::handle kwargs, Build& build) {
  const OpInfo& op = OpNamed(TextOf(name));
  Arguments arguments(build);
  arguments.ConvertAll(args, kwargs);
  Log log(build.session().sources());
  const Call* call = BuildOpCall(op, arguments.positional, arguments.keywords, {}, build.workspace(), log.engine());
  if (call == nullptr) log.Throw(iropt::Error{ErrorCode::IllFormed, {}});
  return call;
}

// call_op(name, args, kwargs or None).
py::object CallOp(std::span<PyObject* const> given) {
  Build build;
  return ToPython(build.Made(CallOfOp(given[0], given[1], given[2], build)));
}

// What an attribute is given as, for documents.
std::string_view TypeText(AttrKind kind) {
  switch (kind) {
    case AttrKind::kBool: return "bool";
    case AttrKind::kInt: return "int";
    case AttrKind::kDouble: return "float";
    case AttrKind::kString:
    case AttrKind::kPlacement: return "str";
    case AttrKind::kDataType: return "str | None";
    case AttrKind::kIntList: return "int | list[int]";
    case AttrKind::kFloatList:
    case AttrKind::kDoubleList: return "list[float]";
    case AttrKind::kStringList: return "list[str]";
    case AttrKind::kOptInt: return "int | None";
    case AttrKind::kOptFloat: return "float | None";
    case AttrKind::kOptString: return "str | None";
    case AttrKind::kOptIntList: return "int | list[int] | None";
    case AttrKind::kOptBool: return "bool | None";
    case AttrKind::kIntOrIntList: return "int | list[int]";
    case AttrKind::kOptPrimValue: return "PrimExpr | None";
    case AttrKind::kIndexMap: return "IndexMap";
    case AttrKind::kVDevice: return "VDevice | str";
    case AttrKind::kDeviceMesh: return "DeviceMesh | str";
    case AttrKind::kDict: return "dict";
  }
  return "object";
}

// The default of a parameter; `...` if it has none, and for that of another parameter a tuple with its name.
py::object DefaultOf(const OpDefault& fallback) {
  switch (fallback.kind) {
    case OpDefault::Kind::kRequired: return py::ellipsis();
    case OpDefault::Kind::kNone: return py::none();
    case OpDefault::Kind::kBool: return py::bool_(fallback.integer != 0);
    case OpDefault::Kind::kInt: return py::int_(fallback.integer);
    case OpDefault::Kind::kFloat: return py::float_(fallback.real);
    case OpDefault::Kind::kString: return py::str(std::string(fallback.text));
    case OpDefault::Kind::kSameAs: return py::make_tuple(std::string(fallback.text));
  }
  return py::none();
}

// The parameters of the function of an operator: (name, type, default, how it is given).
py::list ParamsOf(const OpInfo& op) {
  py::list params;
  for (const OpParam& param : op.params) {
    const bool is_attr = param.role == OpParam::Role::kAttr;
    const bool is_type = param.role == OpParam::Role::kResultTypes;
    const std::string_view type = is_attr ? TypeText(op.attrs[param.index].kind) : is_type ? "StructInfo" : "Expr";
    const char* given = param.rest ? "rest" : param.keyword_only ? "keyword" : "any";
    params.append(py::make_tuple(std::string(param.name), std::string(type), DefaultOf(param.fallback), given));
  }
  return params;
}

py::list OpTable() {
  py::list table;
  for (const OpInfo& op : AllOps()) {
    if (op.op == nullptr) continue;
    py::dict row;
    row["name"] = op.op->name;
    row["graph"] = op.is_graph_level();
    row["script"] = op.script;
    py::list args;
    for (const OpArg& arg : op.args) args.append(arg.name);
    row["args"] = args;
    py::list attrs;
    for (const OpAttr& attr : op.attrs) attrs.append(attr.name);
    row["attrs"] = attrs;
    row["params"] = ParamsOf(op);
    table.append(row);
  }
  return table;
}

// The dtype of a call of an intrinsic that is made without one; None if the operands do not tell.
py::object IntrinsicDType(const std::string& name, const py::list& operands) {
  const OpInfo* op = FindOp(name);
  if (op == nullptr || op->intrinsic == nullptr) return py::none();
  Build build;
  std::vector<const PrimExpr*> args;
  for (py::handle operand : operands) {
    const auto* arg = IsNode(operand) ? As<PrimExpr>(ToNode(operand, build)) : nullptr;
    if (arg == nullptr) return py::none();
    args.push_back(arg);
  }
  const std::optional<DataType> dtype = ResultDtypeOf(*op->intrinsic, args);
  if (!dtype) return py::none();
  return py::str(dtype->is_void() ? "void" : dtype->ToString());
}

// ---- Building of code

// Returns whether a type is that of a tensor of known dimensions; an error for those of other tensors.
bool IsTensor(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  if (tensor == nullptr) return false;
  if (!tensor->known)
    throw py::type_error("expected an expression of a tensor with known dimensions, not of type " + TypeToString(type));
  return true;
}

// A block builder of the library with the module that it adds functions to. New nodes are in one store.
class GraphBuilder {
 public:
  explicit GraphBuilder(const py::object& module)
      : session_(Session::Current()),
        store_(session_->store()),
        log_(session_->sources()),
        module_(module.is_none() ? Empty() : module.cast<const PyModule&>().module()),
        inferrer_(&module_, store_->workspace.arena(), &log_.engine()),
        builder_(store_->workspace, &inferrer_) {}

  void BeginBlock(bool dataflow) { dataflow ? builder_.BeginDataflowBlock() : builder_.BeginBindingBlock(); }
  py::object EndBlock() {
    Build build(session_, store_);
    return ToPython(build.Made(builder_.EndBlock()));
  }
  NodeRef Emit(py::handle value, std::string_view hint, bool output) {
    Build build(session_, store_);
    const Expr* expr = Expression(value, build);
    return Done(build, output ? builder_.EmitOutput(expr, hint) : builder_.Emit(expr, hint));
  }
  // The object of `cls`, whose attribute `_expr` is the variable that a tensor is bound to; a variable stays. For a
  // tuple the tuple of those of its fields.
  py::object EmitTensors(py::handle value, std::string_view hint, py::handle cls) {
    Build build(session_, store_);
    return Tensors(Expression(value, build), hint, cls, build);
  }
  // The same for the call of an operator.
  py::object EmitOp(py::handle name, py::handle args, py::handle kwargs, std::string_view hint, py::handle cls) {
    Build build(session_, store_);
    return Tensors(CallOfOp(name, args, kwargs, build), hint, cls, build);
  }
  // Variables that the first fields of a tuple are bound to.
  py::list EmitFields(py::handle tuple, py::handle names) {
    Build build(session_, store_);
    const Expr* whole = Expression(tuple, build);
    const auto* type = As<TupleType>(whole->type);
    py::list vars;
    for (py::handle name : py::reinterpret_borrow<py::sequence>(names)) {
      if (type == nullptr || vars.size() >= type->fields.size()) throw py::index_error("the tuple has fewer fields");
      vars.append(ToPython(Done(build, builder_.Emit(Field(whole, *type, vars.size()), TextOf(name)))));
    }
    return vars;
  }
  NodeRef EmitMatchCast(const py::object& value, const py::object& type, const std::string& hint) {
    Build build(session_, store_);
    return Done(build, builder_.EmitMatchCast(Expression(value, build), RequiredType(type, build), Hint(hint)));
  }
  void EmitNormalized(const NodeRef& binding) {
    if (!Is<VarBinding>(binding.node) && !Is<MatchCast>(binding.node)) throw py::type_error("expected a binding");
    Build build(session_, store_);
    build.Use(binding.keep);
    builder_.EmitNormalized(static_cast<const Binding*>(binding.node));
  }
  py::object Lookup(const NodeRef& var) {
    Build build(session_, store_);
    const auto* relax_var = As<Var>(var.node);
    return relax_var == nullptr ? py::none() : ToPython(build.Made(builder_.LookupBinding(relax_var)));
  }
  NodeRef Normalize(const py::object& value) {
    Build build(session_, store_);
    return Done(build, builder_.Normalize(Expression(value, build)));
  }
  NodeRef Seq(const py::list& blocks, const py::object& body) {
    Build build(session_, store_);
    std::vector<const BindingBlock*> list;
    for (py::handle block : blocks) list.push_back(To<BindingBlock>(ToNode(block, build)));
    return Done(build, builder_.Seq(list, Expression(body, build)));
  }
  NodeRef MakeFunction(const py::list& params, const py::object& body, const py::object& attrs, bool pure) {
    Build build(session_, store_);
    std::vector<const Var*> vars;
    for (py::handle param : params) vars.push_back(To<Var>(ToNode(param, build)));
    return Done(build, builder_.MakeFunction(vars, Expression(body, build), ToDictAttr(attrs, build), pure));
  }
  std::string UniqueName(const std::string& hint) { return std::string(builder_.UniqueName(hint)); }
  bool in_block() const { return builder_.in_block(); }
  bool in_dataflow() const { return builder_.in_block() && builder_.current_block_is_dataflow(); }

  // ---- The module
  PyModule Get() const { return PyModule(module_, session_); }
  void Set(const std::string& name, const NodeRef& func) {
    const Build build(session_, store_);
    StoredFunction stored = StoreFunction(func);
    module_.Set(GlobalVar::Get(name), stored.func, std::move(stored.storage));
  }
  std::string UniqueFunctionName(const std::string& hint) const {
    const IRContext::Scope scope(session_->context());
    return module_.UniqueName(hint);
  }

 private:
  static Module Empty() {
    const Build build;
    return {};
  }
  static std::string_view Hint(const std::string& hint) { return hint; }
  const Expr* Field(const Expr* tuple, const TupleType& type, size_t index) {
    return store_->workspace.New<TupleGetItem>(tuple, static_cast<int64_t>(index), type.fields[index]);
  }
  py::object Tensors(const Expr* expr, std::string_view hint, py::handle cls, Build& build) {
    const Var* var = As<Var>(expr);
    if (var == nullptr) var = builder_.Emit(expr, hint);
    const NodeRef made = Done(build, var);
    if (IsTensor(var->type)) {
      static PyObject* const attribute = PyUnicode_InternFromString("_expr");
      auto* type = reinterpret_cast<PyTypeObject*>(cls.ptr());
      auto tensor = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
      if (!tensor || PyObject_SetAttr(tensor.ptr(), attribute, ToPython(made).ptr()) != 0) throw py::error_already_set();
      return tensor;
    }
    const auto* type = As<TupleType>(var->type);
    if (type == nullptr) throw py::type_error("Unsupported return type: " + TypeToString(var->type));
    py::tuple fields(type->fields.size());
    for (size_t i = 0; i < fields.size(); ++i)
      fields[i] = Tensors(Field(var, *type, i), fmt::format("{}.{}", hint, i), cls, build);
    return fields;
  }
  static const Expr* Expression(py::handle value, Build& build) {
    const Expr* expr = ToExpr(value, build);
    if (expr == nullptr) throw py::type_error("expected an expression, not None");
    return expr;
  }
  NodeRef Done(Build& build, const Node* node) {
    if (builder_.failed()) log_.CheckNewErrors();
    return build.Made(node);
  }

  std::shared_ptr<Session> session_;
  std::shared_ptr<NodeStore> store_;
  Log log_;
  Module module_;
  OpTypeInferrer inferrer_;
  BlockBuilder builder_;
};

// The type of an expression whose operands have types.
NodeRef InferTypeOf(const NodeRef& ref, const py::object& module) {
  Build build;
  build.Use(ref.keep);
  Log log(build.session().sources());
  const Module* context = module.is_none() ? nullptr : &module.cast<const PyModule&>().module();
  InferContext infer(context, build.arena(), &log.engine());
  const Type* type = InferType(To<Expr>(ref.node), infer);
  log.CheckErrors();
  return build.Made(type);
}

// The type of a call of a function of the given type.
NodeRef CallTypeOf(const NodeRef& callee, const NodeRef& call, const py::object& module) {
  Build build;
  build.Use(callee.keep);
  build.Use(call.keep);
  Log log(build.session().sources());
  const Module* context = module.is_none() ? nullptr : &module.cast<const PyModule&>().module();
  InferContext infer(context, build.arena(), &log.engine());
  const Type* type = DeriveCallType(To<FuncType>(callee.node), *To<Call>(call.node), infer);
  log.CheckErrors();
  return build.Made(type);
}

// A copy of the function with variables and symbolic variables of its own.
NodeRef CopyFunction(const NodeRef& ref) {
  const auto* func = As<BaseFunc>(ref.node);
  if (func == nullptr) throw py::type_error("expected a function");
  Build build;
  build.Use(ref.keep);
  return build.Made(CloneFunction(func, build.workspace(), {.fresh_sym_vars = true}));
}

// ---- Functions that a model calls thousands of times while it is exported

GraphBuilder& BuilderOf(PyObject* object) { return py::handle(object).cast<GraphBuilder&>(); }

// emit(builder, expression, hint, whether it is an output).
py::object EmitBinding(std::span<PyObject* const> given) {
  return ToPython(BuilderOf(given[0]).Emit(given[1], TextOf(given[2]), given[3] == Py_True));
}
// emit_tensors(builder, expression, hint, class).
py::object EmitTensors(std::span<PyObject* const> given) {
  return BuilderOf(given[0]).EmitTensors(given[1], TextOf(given[2]), given[3]);
}
// emit_op(builder, name, args, kwargs, hint, class).
py::object EmitOp(std::span<PyObject* const> given) {
  return BuilderOf(given[0]).EmitOp(given[1], given[2], given[3], TextOf(given[4]), given[5]);
}
// emit_fields(builder, tuple, names).
py::object EmitFields(std::span<PyObject* const> given) { return BuilderOf(given[0]).EmitFields(given[1], given[2]); }

// The type of an expression, which is inferred if it is not known yet; or the type that is given.
const TensorType& TensorTypeOf(py::handle object) {
  const Node* node = GetNode(object).node;
  const auto* expr = As<Expr>(node);
  if (expr != nullptr && expr->type == nullptr) node = GetNode(object.attr("struct_info")).node;
  const auto* type = expr != nullptr && expr->type != nullptr ? expr->type : As<Type>(node);
  if (!IsTensor(type)) throw py::type_error("expected an expression of a tensor" + (type == nullptr ? "" : ", not of type " + TypeToString(type)));
  return *static_cast<const TensorType*>(type);
}

// tensor_var(name, dimensions, dtype): a new variable of a tensor.
py::object TensorVar(std::span<PyObject* const> given) {
  Build build;
  std::vector<const PrimExpr*> dims;
  for (py::handle dim : py::reinterpret_borrow<py::sequence>(given[1])) dims.push_back(ToDim(dim, build));
  const Type* type = TensorType::Get(dims, ToDType(given[2]), nullptr);
  return ToPython(build.Made(build.workspace().NewVar(TextOf(given[0]), type)));
}

// tensor_shape(expression): numbers, and expressions of sizes that are not known.
py::object TensorShape(std::span<PyObject* const> given) {
  py::list sizes;
  for (const PrimExpr* dim : TensorTypeOf(given[0]).dims) {
    const auto* size = As<tir::IntImm>(dim);
    sizes.append(size != nullptr ? py::object(py::int_(size->value)) : ToPython(dim, GetNode(given[0]).keep));
  }
  return sizes;
}

// tensor_dtype(expression).
py::object TensorDType(std::span<PyObject* const> given) {
  const DataType dtype = TensorTypeOf(given[0]).dtype;
  return dtype.is_void() ? py::str() : py::str(dtype.ToString());
}

// fixed_tensor_type(expression): the type of a tensor whose dimensions are numbers, else None.
py::object FixedTensorType(std::span<PyObject* const> given) {
  const TensorType& type = TensorTypeOf(given[0]);
  for (const PrimExpr* dim : type.dims) {
    if (!Is<tir::IntImm>(dim)) return py::none();
  }
  return ToPython(&type, GetNode(given[0]).keep);
}

// tuple_get_item(tuple, index): the field, with its type if that of the tuple is known.
py::object GetItem(std::span<PyObject* const> given) {
  Build build;
  const Expr* tuple = ToExpr(given[0], build);
  const auto index = py::handle(given[1]).cast<int64_t>();
  if (tuple == nullptr) throw py::type_error("'tuple' of a node cannot be None");
  const auto* type = As<TupleType>(tuple->type);
  const auto size = type == nullptr ? 0 : static_cast<int64_t>(type->fields.size());
  if (type != nullptr && (index < -size || index >= size)) throw py::index_error("tuple index out of range");
  const Type* field = type == nullptr ? nullptr : type->fields[static_cast<size_t>(index < 0 ? index + size : index)];
  return ToPython(build.Made(build.workspace().New<TupleGetItem>(tuple, index, field)));
}

}  // namespace

void AddGraphBuilding(py::module_& m) {
  AddFastFunction<&CallOp, 3>(m, "call_op");
  AddFastFunction<&EmitBinding, 4>(m, "emit");
  AddFastFunction<&EmitTensors, 4>(m, "emit_tensors");
  AddFastFunction<&EmitOp, 6>(m, "emit_op");
  AddFastFunction<&EmitFields, 3>(m, "emit_fields");
  AddFastFunction<&TensorVar, 3>(m, "tensor_var");
  AddFastFunction<&TensorShape, 1>(m, "tensor_shape");
  AddFastFunction<&TensorDType, 1>(m, "tensor_dtype");
  AddFastFunction<&FixedTensorType, 1>(m, "fixed_tensor_type");
  AddFastFunction<&GetItem, 2>(m, "tuple_get_item");
  m.def("op_table", &OpTable);
  m.def("intrinsic_dtype", &IntrinsicDType);
  // The names after R., T. and I. that the reader of scripts knows and that are not operators.
  m.def("script_names", [] {
    std::vector<std::string> names;
    for (const ScriptName& row : ScriptNames()) names.push_back(fmt::format("{}.{}", row.prefix, row.name));
    return names;
  });
  m.def("copy_function", &CopyFunction);
  m.def("call_type", &CallTypeOf);
  m.def("infer_type", &InferTypeOf, py::arg("expr"), py::arg("module") = py::none());
  m.def("type_text", [](const NodeRef& ref) { return TypeToString(To<Type>(ref.node)); });
  py::class_<GraphBuilder>(m, "Builder")
      .def(py::init<py::object>(), py::arg("module") = py::none())
      .def("begin_block", &GraphBuilder::BeginBlock)
      .def("end_block", &GraphBuilder::EndBlock)
      .def("emit_match_cast", &GraphBuilder::EmitMatchCast)
      .def("emit_normalized", &GraphBuilder::EmitNormalized)
      .def("lookup_binding", &GraphBuilder::Lookup)
      .def("normalize", &GraphBuilder::Normalize)
      .def("seq", &GraphBuilder::Seq)
      .def("make_function", &GraphBuilder::MakeFunction)
      .def("unique_name", &GraphBuilder::UniqueName)
      .def("in_block", &GraphBuilder::in_block)
      .def("in_dataflow", &GraphBuilder::in_dataflow)
      .def("get", &GraphBuilder::Get)
      .def("set", &GraphBuilder::Set)
      .def("unique_function_name", &GraphBuilder::UniqueFunctionName);
}

}  // namespace iropt::python

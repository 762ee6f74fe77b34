#include "graph_builder.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "errors.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/py_value.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/op/op.h"
#include "iropt/text/script/vocabulary.h"
#include "module.h"
#include "node.h"
#include "tensor.h"
#include "values.h"

namespace iropt::python {

namespace {

// ---- Calls of operators

// Arguments of Python as the values that scripts have. Texts and lists live as long as this.
class Arguments {
 public:
  explicit Arguments(Build& build) : build_(build) {}

  PyValue Convert(py::handle value) {
    if (value.is_none()) return PyValue::None({});
    if (py::isinstance<py::bool_>(value)) return PyValue::Bool(value.cast<bool>(), {});
    if (IsNode(value) || py::hasattr(value, "_node_")) return ConvertNode(ToNode(value, build_));
    if (PyUnicode_Check(value.ptr()) != 0) return PyValue::String(texts_.emplace_back(value.cast<std::string>()), {});
    if (PyList_Check(value.ptr()) != 0) return ConvertList(PyValue::Kind::kList, value);
    if (PyTuple_Check(value.ptr()) != 0) return ConvertList(PyValue::Kind::kTuple, value);
    if (PyFloat_Check(value.ptr()) != 0) return PyValue::Float(value.cast<double>(), {});
    if (PyDict_Check(value.ptr()) != 0) return {ToDictAttr(value, build_), Span()};
    if (PyObject_CheckBuffer(value.ptr()) == 0 && PyIndex_Check(value.ptr()) != 0)
      return PyValue::Int(py::int_(py::reinterpret_borrow<py::object>(value)).cast<int64_t>(), {});
    return PyValue(ToExpr(value, build_));
  }
  void ConvertAll(const py::args& args, const py::kwargs& kwargs) {
    for (py::handle arg : args) positional.push_back(Convert(arg));
    for (const auto& [name, value] : kwargs)
      keywords.push_back({texts_.emplace_back(py::str(name).cast<std::string>()), {}, Convert(value)});
  }

  std::vector<PyValue> positional;
  std::vector<PyKeyword> keywords;

 private:
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
    std::vector<PyValue> items;
    for (py::handle item : py::reinterpret_borrow<py::sequence>(value)) items.push_back(Convert(item));
    return {kind, lists_.emplace_back(std::move(items)), Span()};
  }

  Build& build_;
  std::deque<std::string> texts_;
  std::deque<std::vector<PyValue>> lists_;
};

NodeRef CallOp(const std::string& name, const py::args& args, const py::kwargs& kwargs) {
  Build build;
  const OpInfo* op = FindOp(name);
  if (op == nullptr) throw py::key_error("there is no operator '" + name + "'");
  Arguments arguments(build);
  arguments.ConvertAll(args, kwargs);
  Log log(build.session().sources());
  const Call* call = BuildOpCall(*op, arguments.positional, arguments.keywords, {}, build.workspace(), log.engine());
  if (call == nullptr) log.Throw(iropt::Error{ErrorCode::IllFormed, {}});
  return build.Made(call);
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

// ---- Building of code

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
  NodeRef Emit(const py::object& value, const std::string& hint, bool output) {
    Build build(session_, store_);
    const Expr* expr = Expression(value, build);
    return Done(build, output ? builder_.EmitOutput(expr, Hint(hint)) : builder_.Emit(expr, Hint(hint)));
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
  static const Expr* Expression(const py::object& value, Build& build) {
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

}  // namespace

void AddGraphBuilding(py::module_& m) {
  m.def("call_op", &CallOp);
  m.def("op_table", &OpTable);
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
      .def("emit", &GraphBuilder::Emit)
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

#include "exchange/onnx/import/body_function.h"

#include <fmt/format.h>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/type_text.h"
#include "iropt/ir/context.h"
#include "iropt/runtime/value.h"
#include "iropt/support/identifier.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

// The types of parameters for values of another function, with symbolic variables of their own.
class ParameterTypes {
 public:
  const Type* For(const Type* type) {
    const auto* tensor = As<TensorType>(type);
    if (tensor == nullptr || !tensor->has_sym_var()) return tensor ? type : ObjectType::Get();
    std::vector<const PrimExpr*> dims;
    for (const PrimExpr* dim : tensor->dims) {
      const auto* var = As<tir::Var>(dim);
      if (var == nullptr && dim->has_sym_var()) return TensorType::Get(tensor->ndim, tensor->dtype);
      dims.push_back(var ? Inner(var) : dim);
    }
    return TensorType::Get(dims, tensor->dtype);
  }

 private:
  const tir::Var* Inner(const tir::Var* outer) {
    const tir::Var*& inner = inner_[outer];
    if (inner == nullptr) inner = IRContext::Current().NewSymVar(outer->name);
    return inner;
  }

  LookupMap<const tir::Var*, const tir::Var*> inner_;
};

// The type of an input of the body of a loop that the body does not state: the dtype of what the node carries in.
ValueType TypeOfBodyInput(OpImport& op, const ValueType& stated, size_t i) {
  const bool is_stated = stated.kind != ValueType::Kind::kNone &&
                         (stated.kind != ValueType::Kind::kTensor || stated.element != ElementType::kUndefined);
  if (is_stated || !IsOnnxDomain(op.node().domain)) return stated;
  const bool is_loop = op.node().op_type == "Loop";
  ValueType type{.kind = ValueType::Kind::kTensor, .has_shape = stated.has_shape, .dims = stated.dims};
  if (is_loop && i < 2) {
    type.element = i == 0 ? ElementType::kInt64 : ElementType::kBool;
    type.has_shape = true;
    return type;
  }
  const size_t input = i + (op.node().op_type == "Scan" && op.version() < 9 ? 1 : 0);
  if (!op.Has(input) || op.TypeOf(input) == nullptr) return stated;
  type.element = ElementTypeOf(op.Dtype(input));
  return type;
}

// The types of the outputs, if the graph says more of them than follows from its nodes.
const DictAttr* BodyFacts(const GraphProto& graph, const SeqExpr& body) {
  const std::vector<const Type*> types = ResultTypesOf(body);
  bool says_more = false;
  std::vector<const Attr*> texts;
  for (size_t i = 0; i < graph.outputs.size() && i < types.size(); ++i) {
    says_more = says_more || SaysMoreThan(graph.outputs[i].type, types[i]);
    texts.push_back(StrAttr::Get(ToText(graph.outputs[i].type)));
  }
  if (!says_more) return DictAttr::Empty();
  return DictAttr::Empty()->With(attr::kOnnxGraph, DictAttr::Empty()->With("output_types", ListAttr::Get(texts)));
}

}  // namespace

std::optional<BodyFunction> ImportBodyFunction(OpImport& op, std::string_view attribute, const GraphProto& graph) {
  FunctionImporter& outer = op.importer();
  FunctionImporter inner(outer.context());
  Scope scope;
  std::vector<const Var*> params;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueInfo& stated = graph.inputs[i];
    params.push_back(inner.AddParameter({.name = stated.name, .type = TypeOfBodyInput(op, stated.type, i)}, scope));
    if (params.back() == nullptr) return std::nullopt;
  }
  BodyFunction result{};
  ParameterTypes types;
  for (const std::string_view name : FreeNames(graph)) {
    Value* value = op.scope().Find(name);
    if (value == nullptr) {
      op.Error(fmt::format("graph '{}' uses '{}', which is not defined before the node", attribute, name));
      return std::nullopt;
    }
    const Expr* expr = outer.Operand(*value);
    if (const auto* constant = As<Constant>(expr)) {
      scope.Add(name, MakeConstant(constant->data->shared_from_this(), inner.workspace()));
      continue;
    }
    result.captured.push_back(expr);
    const std::string hint(inner.builder().UniqueName(IdentifierFor(name)));
    params.push_back(inner.workspace().NewVar(hint, types.For(expr->type)));
    scope.Add(name, params.back());
  }
  const SeqExpr* body = inner.ImportBody(graph, outer.node_context(), scope);
  if (body == nullptr) return std::nullopt;
  const iropt::Function* function = inner.builder().MakeFunction(params, body, BodyFacts(graph, *body));
  if (inner.builder().failed()) return std::nullopt;
  Module& module = outer.context().module;
  const std::string_view base = op.node().name.empty() ? op.node().op_type : op.node().name;
  result.function =
      GlobalVar::Get(module.UniqueName(fmt::format("{}_{}", IdentifierFor(base), IdentifierFor(attribute))));
  module.Set(result.function, function, inner.workspace().Finish());
  return result;
}

}  // namespace iropt::onnx

#include "exchange/onnx/import/whole_nodes.h"

#include <algorithm>
#include <utility>

#include "exchange/onnx/import/function_importer.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

// The variables that are used and not bound, in the order of their first uses.
class FreeVarsOfNode final : public ExprVisitor {
 public:
  std::vector<const Var*> free;

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    ExprVisitor::VisitVarBinding(binding);
    seen_.insert(binding->var);
  }
  void VisitMatchCast(const MatchCast* binding) override {
    ExprVisitor::VisitMatchCast(binding);
    seen_.insert(binding->var);
  }
  void VisitVar(const Var* var) override {
    if (seen_.insert(var)) free.push_back(var);
  }

 private:
  LookupSet<const Var*> seen_;
};

bool HasGraph(const NodeProto& node) {
  return std::ranges::any_of(node.attributes, [](const AttributeProto& a) { return !a.graphs.empty(); });
}

// The inputs that are not constants: whether there are some, and whether there are sizes among them.
struct UnknownInputs {
  bool any = false;
  bool sizes = false;
};

UnknownInputs UnknownInputsOf(OpImport& op) {
  UnknownInputs unknown;
  for (size_t i = 0; i < op.num_inputs(); ++i) {
    if (!op.Has(i)) continue;
    const Elements* elements = op.ElementsOf(i);
    if (elements != nullptr) {
      if (elements->Numbers()) continue;
      unknown.sizes = true;
    } else if (op.ConstantOf(i) != nullptr) {
      continue;
    }
    unknown.any = true;
  }
  return unknown;
}

}  // namespace

bool IsBetterWhole(OpImport& op, const Expr* value, std::span<const Binding* const> made, const NodeCounter& count) {
  if (IsLeaf(value) || value->type == nullptr || HasGraph(op.node())) return false;
  const UnknownInputs unknown = UnknownInputsOf(op);
  if (!unknown.any) return false;
  BlockBuilder builder(op.workspace(), op.importer().builder().inferrer());
  builder.BeginDataflowBlock();
  for (const Binding* binding : made) builder.EmitNormalized(binding);
  const Expr* result = builder.NormalizeArgument(value);
  const SeqExpr* body = builder.Seq({builder.EndBlock()}, result);
  FreeVarsOfNode vars;
  vars.VisitExpr(body);
  const iropt::Function* function = builder.MakeFunction(vars.free, body);
  if (builder.failed()) return false;
  const std::optional<size_t> nodes = count(*function, unknown.sizes);
  return !nodes || *nodes > 1;
}

// What is known of a type.
static NodeType NodeTypeOf(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  if (tensor == nullptr) return {.dtype = DataType::Handle()};
  if (tensor->ndim == kUnknownDim) return {.dtype = tensor->dtype};
  std::vector<const PrimExpr*> dims(static_cast<size_t>(tensor->ndim), nullptr);
  if (tensor->known) dims.assign(tensor->dims.begin(), tensor->dims.end());
  return {.dtype = tensor->dtype, .dims = std::move(dims)};
}

std::vector<NodeType> TypesOfOutputs(OpImport& op, const Expr* value) {
  std::vector<NodeType> types(op.num_outputs());
  const auto* tuple = As<TupleType>(value->type);
  if (tuple == nullptr) {
    if (!types.empty()) types.front() = NodeTypeOf(value->type);
    return types;
  }
  for (size_t i = 0; i < types.size() && i < tuple->fields.size(); ++i)
    types[i] = NodeTypeOf(tuple->fields[static_cast<uint32_t>(i)]);
  return types;
}

}  // namespace iropt::onnx

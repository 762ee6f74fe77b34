// Conditionals and loops.

#include "exchange/onnx/import/body_function.h"
#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/import/opaque_call.h"
#include "exchange/onnx/ops/common.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"

namespace iropt::onnx {

namespace {

const GraphProto* GraphOf(OpImport& op, std::string_view name) {
  const AttributeProto* attribute = op.FindAttr(name);
  if (attribute != nullptr && !attribute->graphs.empty()) return attribute->graphs.front().get();
  op.Error(fmt::format("attribute '{}', a graph, is missing", name));
  return nullptr;
}

// ---- If

// A condition that is known: the nodes of one branch take the place of the conditional.
Value InlineBranch(OpImport& op, const GraphProto& graph) {
  FunctionImporter& importer = op.importer();
  Scope inner(&op.scope());
  const std::optional<std::vector<const Expr*>> results = importer.ImportInline(graph, importer.node_context(), inner);
  if (!results) return op.Failed();
  if (results->size() != op.num_outputs())
    return op.Error(fmt::format("has {} outputs, but a branch has {}", op.num_outputs(), results->size()));
  return op.Tuple(*results);
}

Value ImportIf(OpImport& op) {
  const GraphProto* branches[] = {GraphOf(op, "then_branch"), GraphOf(op, "else_branch")};
  if (op.failed()) return {};
  if (const auto condition = op.Numbers(0); condition && condition->size() == 1)
    return InlineBranch(op, *branches[condition->front() != 0 ? 0 : 1]);
  FunctionImporter& importer = op.importer();
  const Expr* condition = op.In(0);
  if (op.Rank(0) != 0) condition = op.Reshape(condition, std::span<const int64_t>());
  if (!IsLeaf(condition)) condition = importer.builder().Emit(condition);
  const SeqExpr* bodies[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    if (branches[i]->outputs.size() != op.num_outputs())
      return op.Error(
          fmt::format("has {} outputs, but a branch has {}", op.num_outputs(), branches[i]->outputs.size()));
    Scope inner(&op.scope());
    bodies[i] = importer.WithSymbols([&] { return importer.ImportBody(*branches[i], importer.node_context(), inner); });
    if (bodies[i] == nullptr) return op.Failed();
  }
  If* conditional = op.workspace().New<If>(condition, bodies[0], bodies[1], nullptr);
  conditional->set_span(op.node().span);
  return conditional;
}

// ---- Loops

// A type of which the tensors of all iterations are: without symbolic dimensions, which belong to one function.
const Type* Widened(const Type* a, const Type* b, Arena& arena) {
  const Type* type = TypeLCA(a, b, arena);
  const auto* tensor = As<TensorType>(type);
  if (tensor == nullptr || !tensor->has_sym_var()) return type;
  return TensorType::Get(tensor->ndim, tensor->dtype);
}

// The type of the results of all iterations, stacked along a new dimension.
const Type* Stacked(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  if (tensor == nullptr) return ObjectType::Get();
  return TensorType::Get(tensor->ndim < 0 ? kUnknownDim : tensor->ndim + 1, tensor->dtype);
}

std::vector<const Type*> ResultTypes(const Type* type) {
  if (const auto* tuple = As<TupleType>(type)) return {tuple->fields.begin(), tuple->fields.end()};
  return {type};
}

// Loop: the inputs are the number of iterations, a condition and what the iterations carry on; the body gets the number
// of the iteration, the condition and these, and gives the condition, these and what is stacked.
Value ImportLoop(OpImport& op) {
  const GraphProto* body = GraphOf(op, "body");
  if (body == nullptr) return {};
  const size_t carried = op.num_inputs() < 2 ? 0 : op.num_inputs() - 2;
  if (body->inputs.size() != carried + 2)
    return op.Error(fmt::format("the body has {} inputs: expected {}", body->inputs.size(), carried + 2));
  if (body->outputs.size() != op.num_outputs() + 1)
    return op.Error(fmt::format("the body has {} outputs: expected {}", body->outputs.size(), op.num_outputs() + 1));
  return MakeOpaqueCall(op, [&](const iropt::Function& function) {
    const std::vector<const Type*> results = ResultTypes(function.ret_type);
    std::vector<const Type*> types;
    for (size_t i = 0; i < op.num_outputs(); ++i) {
      const Type* result = results.at(i + 1);
      types.push_back(i < carried ? Widened(op.In(i + 2)->type, result, op.workspace().arena()) : Stacked(result));
    }
    return types;
  });
}

// Scan: the inputs are the first states and the tensors of which each iteration gets a slice.
Value ImportScan(OpImport& op) {
  const GraphProto* body = GraphOf(op, "body");
  if (body == nullptr) return {};
  // Before version 9 there is a dimension of batches, and an input for their lengths.
  const size_t first = op.version() < 9 ? 1 : 0;
  const int64_t num_scanned = op.Int("num_scan_inputs");
  const auto num_inputs = static_cast<int64_t>(op.num_inputs() - first);
  if (num_scanned < 1 || num_scanned > num_inputs)
    return op.Error(fmt::format("attribute 'num_scan_inputs' is {} for {} inputs", num_scanned, num_inputs));
  const auto states = static_cast<size_t>(num_inputs - num_scanned);
  if (body->outputs.size() != op.num_outputs() || op.num_outputs() < states)
    return op.Error(fmt::format("has {} outputs, but the body has {}", op.num_outputs(), body->outputs.size()));
  return MakeOpaqueCall(op, [&](const iropt::Function& function) {
    const std::vector<const Type*> results = ResultTypes(function.ret_type);
    std::vector<const Type*> types;
    for (size_t i = 0; i < op.num_outputs(); ++i) {
      const Type* result = results.at(i);
      if (first == 1) result = Stacked(result);
      types.push_back(i < states ? Widened(op.In(i + first)->type, result, op.workspace().arena()) : Stacked(result));
    }
    return types;
  });
}

constexpr OpRow kControlRows[] = {
    {"If", 1, 1, 1, ImportIf, "a conditional"},
    {"Loop", 1, 0, kAny, ImportLoop, "onnx.Loop with a private function"},
    {"Scan", 8, 0, kAny, ImportScan, "onnx.Scan with a private function"},
};

}  // namespace

std::span<const OpRow> ControlRows() { return kControlRows; }

}  // namespace iropt::onnx

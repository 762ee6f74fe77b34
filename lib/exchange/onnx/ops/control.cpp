// Conditionals and loops.

#include <algorithm>

#include "exchange/onnx/import/body_function.h"
#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/import/opaque_call.h"
#include "exchange/onnx/ops/common.h"
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

// Returns whether a graph takes no values; initializers may be inputs as well.
bool HasNoInputs(const GraphProto& graph) {
  return std::ranges::all_of(graph.inputs, [&](const ValueInfo& input) {
    return std::ranges::find(graph.initializers, input.name, &TensorProto::name) != graph.initializers.end();
  });
}

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
    if (!HasNoInputs(*branches[i]))
      return op.Error(fmt::format("a branch has the input '{}', expected none: it uses the values around it",
                                  branches[i]->inputs.front().name));
    Scope inner(&op.scope());
    bodies[i] = importer.WithSymbols([&] { return importer.ImportBody(*branches[i], importer.node_context(), inner); });
    if (bodies[i] == nullptr) return op.Failed();
  }
  If* conditional = op.workspace().New<If>(condition, bodies[0], bodies[1], nullptr);
  conditional->set_span(op.node().span);
  return conditional;
}

// ---- Loops

// The type of a result of the body, whose symbolic dimensions belong to one function.
NodeType ResultOfBody(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  if (tensor == nullptr) return {.dtype = DataType::Handle()};
  if (tensor->ndim < 0) return {.dtype = tensor->dtype};
  Dims dims = UnknownDims(static_cast<size_t>(tensor->ndim));
  for (size_t i = 0; tensor->known && i < dims->size(); ++i) {
    const PrimExpr* dim = tensor->dims[static_cast<uint32_t>(i)];
    if (Is<tir::IntImm>(dim)) (*dims)[i] = dim;
  }
  return {.dtype = tensor->dtype, .dims = dims};
}

// The type of all states: of the first one, and of those that the iterations give.
NodeType TypeOfStates(OpImport& op, size_t input, NodeType result) {
  const Dims first = DimsIn(op, input);
  if (!first || !result.dims || first->size() != result.dims->size()) result.dims = std::nullopt;
  for (size_t i = 0; result.dims && i < first->size(); ++i) {
    const auto length = NumberOfDim((*first)[i]);
    if (!length || length != NumberOfDim((*result.dims)[i])) (*result.dims)[i] = nullptr;
  }
  return result;
}

// The type of the results of all iterations, stacked along a new dimension.
NodeType Stacked(NodeType result, size_t axis, const PrimExpr* count) {
  if (result.dims && axis <= result.dims->size())
    result.dims->insert(result.dims->begin() + static_cast<std::ptrdiff_t>(axis), count);
  return result;
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
    std::vector<NodeType> types;
    for (size_t i = 0; i < op.num_outputs(); ++i) {
      const NodeType result = ResultOfBody(results.at(i + 1));
      types.push_back(i < carried ? TypeOfStates(op, i + 2, result) : Stacked(result, 0, nullptr));
    }
    return types;
  });
}

// The number of iterations of a Scan: the length of what it goes through. Null if it is not known.
const PrimExpr* IterationsOf(OpImport& op, size_t input, size_t axis) {
  const Dims dims = DimsIn(op, input);
  return dims && axis < dims->size() ? (*dims)[axis] : nullptr;
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
  const std::vector<int64_t> in_axes = op.Ints("scan_input_axes");
  const std::vector<int64_t> out_axes = op.Ints("scan_output_axes");
  const bool has_axes = std::ranges::any_of(out_axes, [](int64_t axis) { return axis != 0; });
  const bool from_axis = !in_axes.empty() && in_axes.front() != 0;
  return MakeOpaqueCall(op, [&](const iropt::Function& function) {
    const std::vector<const Type*> results = ResultTypes(function.ret_type);
    const PrimExpr* count = from_axis ? nullptr : IterationsOf(op, first + states, first);
    std::vector<NodeType> types;
    for (size_t i = 0; i < op.num_outputs(); ++i) {
      NodeType type = ResultOfBody(results.at(i));
      if (i >= states) type = Stacked(type, 0, count);
      if (i >= states && has_axes && type.dims) type.dims = UnknownDims(type.dims->size());
      if (first == 1) type = Stacked(type, 0, IterationsOf(op, first + states, 0));
      types.push_back(type);
    }
    return types;
  });
}

// ---- Optional values that are known to be there or not

Value ImportOptionalHasElement(OpImport& op) {
  if (!op.Has(0)) return op.Scalar(0, DataType::Bool());
  return OpImport::TensorOf(op.In(0)) ? Value(op.Scalar(1, DataType::Bool())) : Value();
}

Value ImportOptionalGetElement(OpImport& op) { return OpImport::TensorOf(op.In(0)) ? Value(op.In(0)) : Value(); }

constexpr OpRow kControlRows[] = {
    {"If", 1, 1, 1, ImportIf, "a conditional"},
    {"Loop", 1, 0, kAny, ImportLoop, "onnx.Loop with a private function"},
    {"OptionalGetElement", 15, 1, 1, ImportOptionalGetElement, "its operand"},
    {"OptionalHasElement", 15, 0, 1, ImportOptionalHasElement, "a constant"},
    {"Scan", 8, 0, kAny, ImportScan, "onnx.Scan with a private function"},
};

}  // namespace

std::span<const OpRow> ControlRows() { return kControlRows; }

}  // namespace iropt::onnx

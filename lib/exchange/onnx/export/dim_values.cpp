// Dimensions and shapes as tensors of integers.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exchange/onnx/export/attributes.h"
#include "exchange/onnx/export/function_exporter.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::onnx {

std::string_view FunctionExporter::IntTensor(std::span<const int64_t> values) {
  auto array = NDArray::Make(DataType::Int(64), {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, array->MutableAs<int64_t>().begin());
  return context_.Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
}

std::string_view FunctionExporter::IntScalar(int64_t value) {
  auto array = NDArray::Make(DataType::Int(64), {});
  array->MutableAs<int64_t>()[0] = value;
  return context_.Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
}

namespace {

// The operator that computes the same for two integers; empty if there is none.
std::string_view NodeFor(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAdd: return "Add";
    case NodeKind::kSub: return "Sub";
    case NodeKind::kMul: return "Mul";
    case NodeKind::kDiv: return "Div";
    case NodeKind::kFloorMod: return "Mod";
    case NodeKind::kMin: return "Min";
    case NodeKind::kMax: return "Max";
    case NodeKind::kEQ: return "Equal";
    case NodeKind::kLT: return "Less";
    case NodeKind::kGT: return "Greater";
    case NodeKind::kAnd: return "And";
    case NodeKind::kOr: return "Or";
    default: return {};
  }
}

// The operator of which a comparison is the opposite.
std::string_view OppositeOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kNE: return "Equal";
    case NodeKind::kLE: return "Greater";
    case NodeKind::kGE: return "Less";
    default: return {};
  }
}

bool IsBinary(NodeKind kind) {
  return kind == NodeKind::kFloorDiv || kind == NodeKind::kMod || !NodeFor(kind).empty() || !OppositeOf(kind).empty();
}

// Returns whether quotients are rounded in the same way towards zero and down.
bool IsNaturalQuotient(const tir::BinaryExpr& e) {
  arith::Analyzer analyzer;
  return analyzer.CanProveGreaterEqual(e.a, 0) && analyzer.CanProveGreaterEqual(e.b, 1);
}

}  // namespace

std::string_view FunctionExporter::BinaryScalar(const tir::BinaryExpr& e) {
  const std::string_view a = ScalarTensor(e.a);
  const std::string_view b = ScalarTensor(e.b);
  if (const std::string_view op = NodeFor(e.kind); !op.empty()) return Add(op, {a, b});
  if (const std::string_view op = OppositeOf(e.kind); !op.empty()) return Add("Not", {Add(op, {a, b})});
  const bool is_quotient = e.kind == NodeKind::kFloorDiv;
  if (IsNaturalQuotient(e)) return Add(is_quotient ? "Div" : "Mod", {a, b});
  // Div rounds towards zero, and Mod is the remainder of rounding down.
  if (is_quotient) return Add("Div", {Add("Sub", {a, Add("Mod", {a, b})}), b});
  return Add("Mod", {a, b}, {IntAttribute("fmod", 1)});
}

std::string_view FunctionExporter::CompoundScalar(const PrimExpr* value) {
  const auto where = [&](const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) {
    return Add("Where", {ScalarTensor(condition), ScalarTensor(a), ScalarTensor(b)});
  };
  if (IsBinary(value->kind)) return BinaryScalar(*static_cast<const tir::BinaryExpr*>(value));
  if (const auto* cast = As<tir::Cast>(value)) return ScalarTensor(cast->value);
  if (const auto* negation = As<tir::Not>(value)) return Add("Not", {ScalarTensor(negation->a)});
  if (const auto* select = As<tir::Select>(value))
    return where(select->condition, select->true_value, select->false_value);
  const auto* call = As<tir::Call>(value);
  if (call != nullptr && call->op == GetOp(op::kTirIfThenElse))
    return where(call->args[0], call->args[1], call->args[2]);
  Report("a dimension", "its expression has no counterpart in ONNX");
  return {};
}

std::string_view FunctionExporter::ScalarTensor(const PrimExpr* value) {
  if (const auto* number = As<tir::IntImm>(value)) return IntTensor(std::span(&number->value, 1));
  if (const auto known = scalars_.find(value); known != scalars_.end()) return known->second;
  std::string_view name;
  if (const SymbolSource* source = SourceOf(value)) {
    if (source->is_vector && !source->is_element) return scalars_[value] = Add("Shape", {source->tensor});
    const std::string_view shape = source->is_element ? source->tensor : Add("Shape", {source->tensor});
    name = Add("Gather", {shape, IntTensor(std::span(&source->index, 1))}, {IntAttribute("axis", 0)});
  } else if (const auto* var = As<tir::Var>(value)) {
    Report(fmt::format("the symbolic variable '{}'", var->name), "no tensor has it as a dimension");
    return {};
  } else {
    name = WithStack([&] { return CompoundScalar(value); });
  }
  return scalars_[value] = name;
}

const FunctionExporter::SymbolSource* FunctionExporter::SourceOf(const PrimExpr* dim) const {
  if (const auto* var = As<tir::Var>(dim)) {
    return symbols_.Find(var);
  }
  const auto found = std::ranges::find_if(dims_, [&](const auto& known) { return DeepEqual(known.first, dim); });
  return found == dims_.end() ? nullptr : &found->second;
}

std::string_view FunctionExporter::DimScalar(const PrimExpr* dim) {
  const SymbolSource* source = SourceOf(dim);
  if (source == nullptr) return {};
  if (source->is_vector && !source->is_element) return Add("Size", {source->tensor});
  const std::string_view shape = source->is_element ? source->tensor : Add("Shape", {source->tensor});
  return Add("Gather", {shape, IntScalar(source->index)}, {IntAttribute("axis", 0)});
}

std::string_view FunctionExporter::ShapeTensor(std::span<const PrimExpr* const> values) {
  Names parts;
  std::vector<int64_t> numbers;
  const auto flush = [&] {
    if (!numbers.empty()) parts.push_back(IntTensor(numbers));
    numbers.clear();
  };
  for (const PrimExpr* value : values) {
    if (const auto* number = As<tir::IntImm>(value)) {
      numbers.push_back(number->value);
      continue;
    }
    flush();
    parts.push_back(ScalarTensor(value));
  }
  flush();
  if (parts.empty()) return IntTensor({});
  return parts.size() == 1 ? parts.front() : Add("Concat", std::move(parts), {IntAttribute("axis", 0)});
}

}  // namespace iropt::onnx

#include "exchange/onnx/export/givers_of_dims.h"

#include <algorithm>
#include <iterator>
#include <variant>
#include <vector>

#include "exchange/onnx/export/function_exporter.h"
#include "iropt/ir/structural.h"

namespace iropt::onnx {

namespace {

// The dimensions in the call's shapes that are neither numbers nor variables.
std::vector<const PrimExpr*> ComputedDims(const iropt::Call& call) {
  std::vector<const PrimExpr*> dims;
  for (const Expr* arg : call.args) {
    const auto* shape = As<ShapeExpr>(arg);
    if (shape == nullptr) continue;
    std::ranges::copy_if(shape->values, std::back_inserter(dims),
                         [](const PrimExpr* dim) { return !Is<tir::IntImm>(dim) && !Is<tir::Var>(dim); });
  }
  return dims;
}

// Returns whether the value is that of a call of tensors and numbers which are there.
bool IsReady(const Binding& binding, const WrittenValues& written) {
  const auto* named = As<VarBinding>(&binding);
  const auto* call = named ? As<iropt::Call>(named->value) : nullptr;
  if (call == nullptr || !written.definitions.IsLive(binding.var) || written.definitions.IsAbsorbed(binding.var) ||
      written.values.contains(binding.var))
    return false;
  const auto is_there = [&](const Expr* operand) {
    const auto* var = As<Var>(operand);
    return var ? written.values.contains(var) : operand == nullptr || Is<iropt::Constant>(operand);
  };
  if (const FusedNode* node = written.definitions.FusedAt(binding.var)) {
    return std::ranges::all_of(node->inputs, [&](const auto& input) {
      const auto* operand = std::get_if<const Expr*>(&input);
      return operand == nullptr || is_there(*operand);
    });
  }
  const auto is_number = [](const Expr* operand) {
    const auto* number = As<PrimValue>(operand);
    return (number && Is<tir::IntImm>(number->value)) || Is<StringImm>(operand) || Is<DataTypeImm>(operand);
  };
  return std::ranges::all_of(call->args, [&](const Expr* arg) {
    const auto* tuple = As<iropt::Tuple>(arg);
    if (tuple == nullptr) return is_there(arg) || is_number(arg);
    return std::ranges::all_of(tuple->fields, [&](const Expr* field) { return is_there(field) || is_number(field); });
  });
}

}  // namespace

const Binding* GiverOfDims(std::span<const Binding* const> bindings, const WrittenValues& written) {
  constexpr size_t kMostLookedAt = 64;
  const Binding& first = *bindings.front();
  const auto* user = As<iropt::Call>(ValueOf(&first));
  if (user == nullptr || !written.definitions.IsLive(first.var) || written.definitions.IsAbsorbed(first.var) ||
      written.definitions.FusedAt(first.var))
    return nullptr;
  for (const PrimExpr* dim : ComputedDims(*user)) {
    if (written.dims.IsKnown(dim)) continue;
    for (const Binding* later : bindings.subspan(1, std::min(bindings.size() - 1, kMostLookedAt))) {
      const auto* type = As<TensorType>(later->var->type);
      const bool has_dim = type && type->has_shape() &&
                           std::ranges::any_of(type->dims, [&](const PrimExpr* d) { return DeepEqual(d, dim); });
      if (has_dim && IsReady(*later, written)) return later;
    }
  }
  return nullptr;
}

}  // namespace iropt::onnx

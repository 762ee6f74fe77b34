// Reductions over axes.
#include <algorithm>

#include "op_table.h"

namespace iropt::relay {

namespace {

// The axes of a reduction: all of them if none is given, the others if `exclude`. Nothing after an error.
std::optional<std::vector<int64_t>> AxesOf(OpCall& call) {
  const int rank = call.Rank(call.arg(0));
  if (rank == kUnknownDim) {
    call.Error("type-inference", "the rank of the operand is unknown");
    return std::nullopt;
  }
  std::vector<bool> chosen(static_cast<size_t>(rank), !call.has("axis"));
  for (const int64_t axis : call.Ints("axis")) {
    const auto at = call.Axis(axis, rank);
    if (!at) return std::nullopt;
    chosen[static_cast<size_t>(*at)] = true;
  }
  if (call.has("axis") && call.attr("axis").is_list() && call.Ints("axis").empty()) chosen.assign(chosen.size(), true);
  const bool exclude = call.Bool("exclude") && call.has("axis");
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (chosen[static_cast<size_t>(i)] != exclude) axes.push_back(i);
  }
  return axes;
}

const Expr* ReduceWith(OpCall& call, std::string_view name, const Expr* operand) {
  const auto axes = AxesOf(call);
  if (!axes || operand == nullptr) return nullptr;
  const bool all = static_cast<int>(axes->size()) == call.Rank(call.arg(0));
  // Without an axis, nothing is reduced.
  if (axes->empty() && !all) return operand;
  const PyValue axis = all ? PyValue() : call.ListOf(*axes);
  return call.Make(name, {operand}, {{"axis", axis}, {"keepdims", call.Bool("keepdims")}});
}

const Expr* BuildReduce(OpCall& call) { return ReduceWith(call, call.row().name, call.arg(0)); }

// all and any of booleans are the least and the greatest of them.
const Expr* BuildLogicalReduce(OpCall& call, std::string_view name) {
  const Expr* reduced = ReduceWith(call, name, call.Cast(call.arg(0), DataType::Int(8)));
  return call.Cast(reduced, DataType::Bool());
}
const Expr* BuildAll(OpCall& call) { return BuildLogicalReduce(call, "min"); }
const Expr* BuildAny(OpCall& call) { return BuildLogicalReduce(call, "max"); }

constexpr OperatorRow kReduce[] = {
    {"all", "data", "axis=None, keepdims=False, exclude=False", BuildAll},
    {"any", "data", "axis=None, keepdims=False, exclude=False", BuildAny},
    {"max", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"mean", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"min", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"prod", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"sum", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
};

}  // namespace

std::span<const OperatorRow> ReduceOperators() { return kReduce; }

}  // namespace iropt::relay

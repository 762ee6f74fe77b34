#include "sibling_calls.h"

#include <algorithm>
#include <unordered_map>

#include "iropt/arith/prim_builder.h"

namespace iropt {

namespace {

// Returns whether the second operands have equal dimensions but for `axis`.
bool DifferOnlyAt(const Call& a, const Call& b, size_t axis) {
  const TensorType* x = TensorTypeOf(a.args[1]);
  const TensorType* y = TensorTypeOf(b.args[1]);
  if (x->ndim != y->ndim || x->dtype != y->dtype) return false;
  for (size_t i = 0; i < x->dims.size(); ++i) {
    if (i != axis && x->dims[i] != y->dims[i]) return false;
  }
  return true;
}

CombinedBranches Describe(const Siblings& siblings) {
  CombinedBranches combined;
  combined.operands.push_back(siblings.calls.front().first->args[0]);
  for (uint32_t i = 0; i < siblings.calls.size(); ++i) {
    combined.operands.push_back(siblings.calls[i].first->args[1]);
    combined.replaced.emplace_back(siblings.calls[i].second, i);
  }
  return combined;
}

// The last axis of factors of this rank, for data of the rank.
int ColumnAxis(const Call& matmul, int rank) {
  const TensorType* data = TensorTypeOf(matmul.args[0]);
  return data && data->ndim == rank && TensorTypeOf(matmul.args[1])->ndim == rank ? rank - 1 : -1;
}

}  // namespace

std::vector<Siblings> FindSiblings(std::span<const Binding* const> segment, OpId op,
                                   FunctionRef<int(const Call&)> axis_of) {
  std::vector<Siblings> groups;
  std::unordered_map<const Expr*, std::vector<size_t>> by_data;  // looked up, never iterated
  for (uint32_t i = 0; i < segment.size(); ++i) {
    const auto* binding = As<VarBinding>(segment[i]);
    const Call* call = binding ? CallOf(binding->value, op) : nullptr;
    const TensorType* factor = call ? TensorTypeOf(call->args[1]) : nullptr;
    if (!factor || !factor->known || !Is<Var>(call->args[0])) continue;
    const int axis = axis_of(*call);
    if (axis < 0 || !arith::AsInt(factor->dims[static_cast<size_t>(axis)])) continue;
    std::vector<size_t>& candidates = by_data[call->args[0]];
    const auto found = std::ranges::find_if(candidates, [&](size_t g) {
      const Call& first = *groups[g].calls.front().first;
      return AttrEqual(first.attrs, call->attrs) && DifferOnlyAt(first, *call, static_cast<size_t>(axis));
    });
    const size_t group = found == candidates.end() ? groups.size() : *found;
    if (found == candidates.end()) {
      candidates.push_back(group);
      groups.emplace_back();
    }
    groups[group].calls.emplace_back(call, i);
  }
  return groups;
}

int64_t WidthOf(const Call& call, size_t axis) { return *arith::AsInt(TensorTypeOf(call.args[1])->dims[axis]); }

const Expr* Concatenated(const Siblings& siblings, size_t axis, int64_t out_axis, OpCalls calls) {
  std::vector<const Expr*> factors;
  std::vector<int64_t> indices;
  int64_t width = 0;
  for (const auto& [call, at] : siblings.calls) {
    if (!factors.empty()) indices.push_back(width);
    factors.push_back(call->args[1]);
    width += WidthOf(*call, axis);
  }
  const Call& first = *siblings.calls.front().first;
  const Expr* factor = calls.Concat(factors, static_cast<int64_t>(axis));
  return calls.Split(calls.Make(As<Op>(first.op)->id, {first.args[0], factor}, first.attrs), indices, out_axis);
}

std::vector<CombinedBranches> Collect(const std::vector<Siblings>& groups, int64_t min_branches,
                                      const std::function<const Expr*(const Siblings&, OpCalls)>& combine) {
  std::vector<CombinedBranches> combined;
  for (const Siblings& siblings : groups) {
    if (siblings.calls.size() < 2 || siblings.calls.size() < static_cast<size_t>(min_branches)) continue;
    combined.push_back(Describe(siblings));
    combined.back().combine = [siblings, combine](OpCalls calls) { return combine(siblings, calls); };
  }
  return combined;
}

std::vector<Siblings> FindProducts(std::span<const Binding* const> segment, int rank) {
  return FindSiblings(segment, OpId::kMatmul, [=](const Call& call) { return ColumnAxis(call, rank); });
}

std::vector<CombinedBranches> FindWideProducts(std::span<const Binding* const> segment, int64_t min_branches,
                                               int rank) {
  return Collect(FindProducts(segment, rank), min_branches, [=](const Siblings& siblings, OpCalls calls) {
    return Concatenated(siblings, static_cast<size_t>(rank) - 1, rank - 1, calls);
  });
}

Pass CreateCombiningPass(const PassOptions& options, FindGroups find) {
  return CreateFunctionPass(options.info(), [find, min_branches = options.Count("min_num_branches")](
                                                const Function* function, FunctionPassContext& context) {
    return CombineBranches(function, find, min_branches, context);
  });
}

}  // namespace iropt

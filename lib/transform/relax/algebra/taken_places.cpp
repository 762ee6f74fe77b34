#include "taken_places.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/slice.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

using Axes = std::vector<int64_t>;

// The places of the new dimensions that each of the old ones is split into; nothing if a new one is of several old
// ones.
std::optional<std::vector<Axes>> Groups(const TensorType& before, const TensorType& after) {
  std::vector<Axes> groups;
  uint32_t at = 0;
  for (const PrimExpr* dim : before.dims) {
    Axes& group = groups.emplace_back();
    const int64_t* size = arith::AsInt(dim);
    if (size == nullptr) {
      if (at == after.dims.size() || !DeepEqual(dim, after.dims[at])) return std::nullopt;
      group.push_back(at++);
      continue;
    }
    if (*size <= 0) return std::nullopt;
    int64_t product = 1;
    while (product < *size && at < after.dims.size()) {
      const int64_t* part = arith::AsInt(after.dims[at]);
      if (part == nullptr || *part <= 0 || *part > *size / product) return std::nullopt;
      product *= *part;
      group.push_back(at++);
    }
    if (product != *size) return std::nullopt;
  }
  for (; at < after.dims.size(); ++at) {
    if (groups.empty() || !arith::IsInt(after.dims[at], 1)) return std::nullopt;
    groups.back().push_back(at);
  }
  return groups;
}

// The axes of the result in the order of the tensor that is transposed. The groups are those of the permuted axes.
Axes InOrderOfTensor(const std::vector<Axes>& groups, const Axes& permutation) {
  std::vector<const Axes*> sorted(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) sorted[static_cast<size_t>(permutation[i])] = &groups[i];
  Axes order;
  for (const Axes* group : sorted) order.insert(order.end(), group->begin(), group->end());
  return order;
}

// The place of the axis in the order, if the others are in the order of the result.
std::optional<int64_t> PlaceOf(int64_t axis, const Axes& order) {
  const auto found = std::ranges::find(order, axis);
  if (found == order.end()) return std::nullopt;
  Axes others = order;
  others.erase(others.begin() + (found - order.begin()));
  return std::ranges::is_sorted(others) ? std::optional(found - order.begin()) : std::nullopt;
}

bool IsScalar(const Expr* expr) {
  const TensorType* type = TensorTypeOf(expr);
  return type != nullptr && type->ndim == 0;
}

// The axis that is taken, from the front.
std::optional<int64_t> AxisOf(const Call& take) {
  const TensorType* type = TensorTypeOf(take.args[0]);
  const auto axis = TakeAttrs(take).axis();
  if (type == nullptr || type->ndim <= 0 || !axis) return std::nullopt;
  return *axis < 0 ? *axis + type->ndim : *axis;
}

const Expr* TakeFrom(const Expr* x, int64_t axis, const Call& take, OpBuilder& calls) {
  TakeAttrs::Values attrs{.axis = axis};
  attrs.mode = TakeAttrs(take).mode();
  const Call* taken = calls.TryMake(op::kTake, {x, take.args[1]}, MakeOpAttrs(op::kTake, attrs));
  return taken && TypeEqual(taken->type, take.type) ? taken : nullptr;
}

}  // namespace

void AddTakenPlaceRules(RuleSet& rules) {
  const Pattern x = Wildcard();
  const Pattern place = Wildcard().Where(&IsScalar);
  const Pattern permute = IsCall(GetOp(op::kPermuteDims), {x});
  const Pattern take = IsCall(GetOp(op::kTake), {permute, place});
  rules.Add({"place of a transposed axis", take, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Axes permutation = PermutationOf(*match.CallAt(permute));
               const Call& call = *match.CallAt(take);
               const std::optional<int64_t> axis = permutation.empty() ? std::nullopt : AxisOf(call);
               if (!axis) return nullptr;
               std::vector<Axes> groups;
               for (size_t i = 0; i < permutation.size(); ++i) groups.push_back({static_cast<int64_t>(i)});
               const auto own = PlaceOf(*axis, InOrderOfTensor(groups, permutation));
               OpBuilder calls(builder);
               return own ? TakeFrom(match[x], *own, call, calls) : nullptr;
             }});
  const Pattern reshape = IsCall(GetOp(op::kReshape), {permute, Wildcard()});
  const Pattern part = IsCall(GetOp(op::kTake), {reshape, place});
  rules.Add({"place of a split axis", part, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Axes permutation = PermutationOf(*match.CallAt(permute));
               const TensorType* before = TensorTypeOf(match[permute]);
               const TensorType* after = TensorTypeOf(match[reshape]);
               const Call& call = *match.CallAt(part);
               const std::optional<int64_t> axis = AxisOf(call);
               if (permutation.empty() || !axis || !before->known || !after || !after->known) return nullptr;
               const auto groups = Groups(*before, *after);
               const Axes order = groups ? InOrderOfTensor(*groups, permutation) : Axes();
               const auto own = PlaceOf(*axis, order);
               if (!own) return nullptr;
               std::vector<const PrimExpr*> dims;
               for (const int64_t i : order) dims.push_back(after->dims[static_cast<uint32_t>(i)]);
               OpBuilder calls(builder);
               const Expr* whole = calls.TryMake(op::kReshape, {match[x], calls.MakeShape(dims)});
               return whole ? TakeFrom(whole, *own, call, calls) : nullptr;
             }});
}

}  // namespace iropt

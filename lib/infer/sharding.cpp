#include "iropt/infer/sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "iropt/op/op.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/support/characters.h"
#include "shared_type_rules.h"
#include "type_util.h"

namespace iropt {

using namespace rules;

namespace {

std::string PlacementToString(const Placement& placement) {
  std::string text;
  for (const int axis : placement)
    text += (text.empty() ? "" : ", ") + (axis < 0 ? std::string("R") : fmt::format("S[{}]", axis));
  return text;
}

AxisFlow BroadcastFlow(std::span<const TensorType* const> operands, int out_rank) {
  AxisFlow flow;
  for (size_t i = 0; i < operands.size(); ++i) {
    const List<Dim>& dims = operands[i]->dims;
    std::vector<int> axes(dims.size());
    std::iota(axes.begin(), axes.end(), out_rank - static_cast<int>(dims.size()));
    // An axis of length 1 is repeated along a longer one, and does not split it.
    for (size_t j = 0; j < operands.size(); ++j) {
      const List<Dim>& other = operands[j]->dims;
      for (uint32_t d = 1; d <= std::min(dims.size(), other.size()); ++d) {
        if (IsOne(dims[dims.size() - d]) && !IsOne(other[other.size() - d])) axes[dims.size() - d] = -1;
      }
    }
    flow.push_back(std::move(axes));
  }
  return flow;
}

AxisFlow MatmulFlow(std::span<const TensorType* const> operands) {
  AxisFlow flow;
  const auto rank = [&](size_t i) { return operands[i]->ndim; };
  const int batch = std::max({rank(0) - 2, rank(1) - 2, 0});
  for (size_t i = 0; i < 2; ++i) {
    const int own_batch = std::max(rank(i) - 2, 0);
    std::vector<int> axes(static_cast<size_t>(rank(i)), -1);
    for (int a = 0; a < own_batch; ++a) {
      if (!IsOne(operands[i]->dims[a])) axes[static_cast<size_t>(a)] = batch - own_batch + a;
    }
    if (rank(i) > 1) {
      // The row of the left operand, the column of the right one.
      const int column = rank(0) > 1 ? batch + 1 : batch;
      axes[static_cast<size_t>(i == 0 ? rank(0) - 2 : rank(1) - 1)] = i == 0 ? batch : column;
    }
    flow.push_back(std::move(axes));
  }
  return flow;
}

std::vector<int> ReduceFlow(int rank, const std::vector<int>& reduced, bool keepdims) {
  std::vector<int> axes(static_cast<size_t>(rank), -1);
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), i) != reduced.end();
    if (!is_reduced) axes[static_cast<size_t>(i)] = keepdims ? i : next;
    if (!is_reduced) ++next;
  }
  return axes;
}

// An axis is kept if as many elements follow it before and after; the first axis of a group that is split or merged
// corresponds to that of the result.
std::vector<int> ReshapeFlow(std::span<const Dim> before, std::span<const Dim> after) {
  std::vector<int> axes(before.size(), -1);
  size_t i = before.size();
  size_t j = after.size();
  Dim before_product = One();
  Dim after_product = One();
  arith::Analyzer analyzer;
  const auto less = [&](Dim a, Dim b) { return analyzer.CanProve(kDims.Binary(NodeKind::kLT, a, b)); };
  while (true) {
    if (less(before_product, after_product)) {
      if (i == 0) break;
      before_product = kDims.Mul(before_product, before[--i]);
    } else if (less(after_product, before_product)) {
      if (j == 0) break;
      after_product = kDims.Mul(after_product, after[--j]);
    } else {
      if (i < before.size() && j < after.size()) axes[i] = static_cast<int>(j);
      if (i == 0 || j == 0) break;
      before_product = kDims.Mul(before_product, before[--i]);
      after_product = kDims.Mul(after_product, after[--j]);
    }
  }
  return axes;
}

}  // namespace

// Removes a part, "R" or "S[0]", and what may stand between parts. Returns whether there was one.
static bool TakePart(std::string_view& text) {
  const size_t digits = text.starts_with("S[") ? std::min(text.find_first_not_of("0123456789", 2), text.size()) : 0;
  const bool is_split = digits > 2 && text.substr(digits).starts_with(']');
  if (!is_split && !text.starts_with('R')) return false;
  text.remove_prefix(is_split ? digits + 1 : 1);
  text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  return true;
}

std::string PlacementProblem(std::string_view text, const TensorType& tensor, const DeviceMeshAttr& mesh) {
  std::string_view rest = text;
  while (TakePart(rest)) {
  }
  if (!rest.empty()) return "is malformed: expected a list of R and S[axis], such as 'S[0], R'";
  const Placement placement = ParsePlacement(text);
  if (placement.size() != mesh.shape.size())
    return fmt::format("has {} parts for a mesh of {} dimensions", placement.size(), mesh.shape.size());
  int most = -1;
  for (const int axis : placement) most = std::max(most, axis);
  return tensor.ndim == kUnknownDim || most < tensor.ndim
             ? std::string()
             : fmt::format("splits axis {} of a tensor of rank {}", most, tensor.ndim);
}

Placement ParsePlacement(std::string_view text) {
  Placement placement;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 'R') placement.push_back(-1);
    if (text[i] != 'S') continue;
    int axis = 0;
    for (i += 2; i < text.size() && IsDigit(text[i]); ++i) axis = std::min(axis * 10 + (text[i] - '0'), 1 << 20);
    placement.push_back(axis);
  }
  return placement;
}

const DTensorType* MakeDTensor(const TensorType* tensor, const DeviceMeshAttr* mesh, const Placement& placement) {
  return DTensorType::Get(tensor, mesh, IRContext::Current().InternString(PlacementToString(placement)));
}

std::optional<AxisFlow> AxisFlowOf(const Call& call, std::span<const TensorType* const> operands,
                                   const TensorType* result, InferContext& ctx) {
  const TypeRule rule = TypeRuleOf(*static_cast<const Op*>(call.op)->info);
  const TensorType* x = operands[0];
  const int rank = x->ndim;
  std::vector<int> identity(static_cast<size_t>(rank));
  std::iota(identity.begin(), identity.end(), 0);
  if (rule == InferUnaryArith || rule == InferUnaryArithFloat || rule == InferUnaryCheck) return AxisFlow{identity};
  if (rule == InferBroadcastArith || rule == InferBroadcastCmp) return BroadcastFlow(operands, result->ndim);
  if (rule == InferMatmul && operands.size() == 2) return MatmulFlow(operands);
  if (rule == InferReshape) return AxisFlow{ReshapeFlow(x->dims, result->dims)};
  std::vector<int> axes;
  if (rule == InferNnSoftmax) {
    axes.push_back(*NormalizeAxis(call, rank, SoftmaxAttrs(call).axis(), ctx));
    return AxisFlow{ReduceFlow(rank, axes, true)};
  }
  if (rule == InferStatistical) {
    const StatisticalAttrs attrs(call);
    const auto given = attrs.axis();
    // Without axes everything is reduced.
    if (!given) axes = identity;
    if (given && !NormalizeAxes(call, rank, given->vector(), ctx, axes)) return std::nullopt;
    return AxisFlow{ReduceFlow(rank, axes, attrs.keepdims())};
  }
  if (rule == InferPermuteDims) {
    axes = identity;
    std::reverse(axes.begin(), axes.end());
    if (const auto given = PermuteDimsAttrs(call).axes()) {
      axes.clear();
      if (!NormalizeAxes(call, rank, given->vector(), ctx, axes)) return std::nullopt;
    }
    std::vector<int> inverse(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) inverse[static_cast<size_t>(axes[i])] = static_cast<int>(i);
    return AxisFlow{inverse};
  }
  ctx.Error(call, "is not supported for distributed tensors");
  return std::nullopt;
}

}  // namespace iropt

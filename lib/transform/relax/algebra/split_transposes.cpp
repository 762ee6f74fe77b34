#include "split_transposes.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/ir/structural.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/reshape.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// For each dimension, the axes of another shape that it consists of, in order.
using AxesOfDims = std::vector<std::vector<int64_t>>;

bool IsLengthOne(const PrimExpr* dim) {
  const int64_t* number = arith::AsInt(dim);
  return number && *number == 1;
}

// How the dimensions `parts` make up the dimensions `whole`: each is the product of neighbors. Nothing if that is not
// so, or cannot be proved.
std::optional<AxesOfDims> AxesOfEach(std::span<const PrimExpr* const> whole, std::span<const PrimExpr* const> parts) {
  AxesOfDims groups(whole.size());
  const arith::PrimBuilder make;
  size_t next = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    const PrimExpr* product = make.Int(1);
    do {
      const bool is_end = next == parts.size();
      if (is_end || (arith::AsInt(parts[next]) && *arith::AsInt(parts[next]) < 1)) {
        if (is_end && arith::ProveEqual(product, whole[i])) break;
        return std::nullopt;
      }
      if (IsLengthOne(whole[i]) && !IsLengthOne(parts[next])) break;
      product = make.Mul(product, parts[next]);
      groups[i].push_back(static_cast<int64_t>(next++));
    } while (!arith::ProveEqual(product, whole[i]));
  }
  while (next < parts.size() && !groups.empty() && IsLengthOne(parts[next]))
    groups.back().push_back(static_cast<int64_t>(next++));
  return next == parts.size() ? std::optional(std::move(groups)) : std::nullopt;
}

// What the three calls have in common.
struct SplitChain {
  const Expr* x;
  const TensorType* source;      // of x
  const TensorType* joined;      // of the first reshape
  const TensorType* transposed;  // of its transpose
  const TensorType* result;
  std::vector<int64_t> axes;
};

const Expr* Transpose(OpBuilder& calls, const Expr* x, const std::vector<int64_t>& axes) {
  bool is_identity = true;
  for (size_t i = 0; i < axes.size(); ++i) is_identity = is_identity && axes[i] == static_cast<int64_t>(i);
  return is_identity ? x : op::PermuteDims(calls, x, {.axes = axes});
}

const Expr* ReshapeTo(OpBuilder& calls, const Expr* x, std::span<const PrimExpr* const> dims) {
  const TensorType* type = TensorTypeOf(x);
  return DeepEqual(type->dims, dims) ? x : calls.TryMake(op::kReshape, {x, calls.MakeShape(dims)});
}

// The axes of x in the order that the transpose of their groups has.
const Expr* TransposedFirst(OpBuilder& calls, const SplitChain& chain) {
  const auto groups = AxesOfEach(chain.joined->dims, chain.source->dims);
  if (!groups) return nullptr;
  std::vector<int64_t> axes;
  for (const int64_t axis : chain.axes) {
    const auto& group = (*groups)[static_cast<size_t>(axis)];
    axes.insert(axes.end(), group.begin(), group.end());
  }
  return ReshapeTo(calls, Transpose(calls, chain.x, axes), chain.result->dims);
}

// The dimensions of the result in the order that they have before the transpose.
const Expr* SplitFirst(OpBuilder& calls, const SplitChain& chain) {
  const auto groups = AxesOfEach(chain.transposed->dims, chain.result->dims);
  if (!groups) return nullptr;
  std::vector<size_t> places(chain.axes.size());  // of the axes after the transpose
  for (size_t i = 0; i < places.size(); ++i) places[static_cast<size_t>(chain.axes[i])] = i;
  std::vector<const PrimExpr*> dims;
  std::vector<int64_t> axes(chain.result->dims.size());
  for (const size_t place : places) {
    for (const int64_t axis : (*groups)[place]) {
      axes[static_cast<size_t>(axis)] = static_cast<int64_t>(dims.size());
      dims.push_back(chain.result->dims[static_cast<uint32_t>(axis)]);
    }
  }
  const Expr* split = ReshapeTo(calls, chain.x, dims);
  return split ? Transpose(calls, split, axes) : nullptr;
}

// Returns whether no nodes have to compute the dimensions of a reshape to the type: at most one is not a number.
bool IsPlainShape(const TensorType& type) {
  return std::ranges::count_if(type.dims, [](const PrimExpr* dim) { return arith::AsInt(dim) == nullptr; }) <= 1;
}

// Returns whether a permutation of the axes of the shape moves none but those of length 1.
bool KeepsOrder(std::span<const int64_t> axes, std::span<const PrimExpr* const> dims) {
  int64_t last = -1;
  for (const int64_t axis : axes) {
    if (IsLengthOne(dims[static_cast<size_t>(axis)])) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// What two transposes around a change of shape are together: a transpose of x, if it is needed, and a reshape. Null if
// parts of one dimension go to different places.
const Expr* JoinedTransposes(OpBuilder& calls, const Expr* x, std::span<const int64_t> first, const TensorType& moved,
                             const TensorType& reshaped, std::span<const int64_t> second, const TensorType& result) {
  const auto groups = AxesOfEach(reshaped.dims, moved.dims);
  const TensorType* source = TensorTypeOf(x);
  if (!groups || !source || !source->known) return nullptr;
  std::vector<int64_t> axes;
  for (const int64_t axis : second) {
    for (const int64_t part : (*groups)[static_cast<size_t>(axis)]) axes.push_back(first[static_cast<size_t>(part)]);
  }
  const Expr* transposed = KeepsOrder(axes, source->dims) ? x : Transpose(calls, x, axes);
  return ReshapeTo(calls, transposed, result.dims);
}

// A transpose next to a reshape that only moves axes of length 1.
void AddUnitTransposeRules(RuleSet& rules) {
  const Pattern x = Wildcard();
  const Pattern reshaped = IsCall(GetOp(op::kReshape), {x, Wildcard()}).UsedOnce();
  const Pattern after = IsCall(GetOp(op::kPermuteDims), {reshaped});
  const Pattern transposed = IsCall(GetOp(op::kPermuteDims), {x}).UsedOnce();
  const Pattern before = IsCall(GetOp(op::kReshape), {transposed, Wildcard()});
  for (const auto& form : {std::pair(after, after), std::pair(transposed, before)}) {
    const Pattern transpose = form.first, root = form.second;
    rules.Add({"transpose of axes of length 1", root, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 const Call& moves = *match.CallAt(transpose);
                 const TensorType* type = TensorTypeOf(moves.args[0]);
                 const TensorType* result = TensorTypeOf(match[root]);
                 const std::vector<int64_t> axes = PermutationOf(moves);
                 if (!type || !type->known || !result || !result->known || axes.empty() ||
                     !KeepsOrder(axes, type->dims) || !IsPlainShape(*result))
                   return nullptr;
                 OpBuilder calls(builder);
                 const Expr* reshape = ReshapeTo(calls, match[x], result->dims);
                 return reshape && TypeEqual(reshape->type, result) ? reshape : nullptr;
               }});
  }
}

void AddTransposePairRules(RuleSet& rules) {
  for (const OpId shape : {op::kReshape, op::kExpandDims, op::kSqueeze}) {
    const Pattern x = Wildcard();
    const Pattern first = IsCall(GetOp(op::kPermuteDims), {x}).UsedOnce();
    const Pattern reshaped = IsCall(GetOp(shape), {first}).AnyMoreArgs().UsedOnce();
    const Pattern root = IsCall(GetOp(op::kPermuteDims), {reshaped});
    rules.Add({"transposes around a reshape", root, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 const TensorType* moved = TensorTypeOf(match[first]);
                 const TensorType* middle = TensorTypeOf(match[reshaped]);
                 const TensorType* result = TensorTypeOf(match[root]);
                 for (const TensorType* type : {moved, middle, result}) {
                   if (type == nullptr || !type->known) return nullptr;
                 }
                 const std::vector<int64_t> inner = PermutationOf(*match.CallAt(first));
                 const std::vector<int64_t> outer = PermutationOf(*match.CallAt(root));
                 if (inner.empty() || outer.empty() || !IsPlainShape(*result)) return nullptr;
                 OpBuilder calls(builder);
                 const Expr* joined = JoinedTransposes(calls, match[x], inner, *moved, *middle, outer, *result);
                 return joined && TypeEqual(joined->type, result) ? joined : nullptr;
               }});
  }
}

}  // namespace

void AddSplitTransposeRules(RuleSet& rules) {
  AddUnitTransposeRules(rules);
  AddTransposePairRules(rules);
  const Pattern x = Wildcard();
  const Pattern joined = IsCall(GetOp(op::kReshape), {x, Wildcard()}).UsedOnce();
  const Pattern transposed = IsCall(GetOp(op::kPermuteDims), {joined}).UsedOnce();
  const Pattern root = IsCall(GetOp(op::kReshape), {transposed, Wildcard()});
  rules.Add({"transpose between reshapes", root, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const SplitChain chain{.x = match[x],
                                      .source = TensorTypeOf(match[x]),
                                      .joined = TensorTypeOf(match[joined]),
                                      .transposed = TensorTypeOf(match[transposed]),
                                      .result = TensorTypeOf(match[root]),
                                      .axes = PermutationOf(*match.CallAt(transposed))};
               for (const TensorType* type : {chain.source, chain.joined, chain.transposed, chain.result}) {
                 if (type == nullptr || !type->known) return nullptr;
               }
               if (chain.axes.empty()) return nullptr;
               OpBuilder calls(builder);
               const Expr* split = SplitFirst(calls, chain);
               const Expr* moved = split ? split : TransposedFirst(calls, chain);
               return moved && TypeEqual(moved->type, chain.result) ? moved : nullptr;
             }});
}

}  // namespace iropt

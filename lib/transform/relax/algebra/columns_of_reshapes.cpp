#include "columns_of_reshapes.h"

#include <algorithm>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

bool IsMove(const Expr* op) { return IsOp(op, op::kReshape) || IsOp(op, op::kPermuteDims); }

// The axis of a value that the columns of a product with constant weights are, which factors, terms, reshapes and
// transposes of them may follow. Nothing if the value is something else.
std::optional<int64_t> AxisOfProduct(const Expr* value, const Definitions& definitions) {
  constexpr size_t kMostSteps = 8;
  std::vector<const Call*> moves;
  for (size_t i = 0; i <= kMostSteps; ++i) {
    const auto* call = As<Call>(DefinitionOf(value, definitions));
    if (call == nullptr || call->args.empty()) return std::nullopt;
    const auto is_constant = [&](uint32_t arg) { return Is<Constant>(DefinitionOf(call->args[arg], definitions)); };
    if (IsMove(call->op)) {
      moves.push_back(call);
      value = call->args[0];
      continue;
    }
    if (call->args.size() != 2) return std::nullopt;
    if (IsOp(call->op, op::kMatmul)) {
      const TensorType* product = TensorTypeOf(call);
      if (!is_constant(1) || product == nullptr || product->ndim < 2) return std::nullopt;
      std::optional<int64_t> axis = product->ndim - 1;
      for (size_t k = moves.size(); axis && k-- > 0;) axis = AxisAfter(*moves[k], *axis);
      return axis;
    }
    if ((!IsOp(call->op, op::kAdd) && !IsOp(call->op, op::kMultiply)) || is_constant(0) == is_constant(1))
      return std::nullopt;
    value = call->args[is_constant(0) ? 1 : 0];
  }
  return std::nullopt;
}

// The numbers as a tensor for `axis` of `before`, if there is one for each element of the axis `own` of `after`; null
// otherwise.
Tensor TermsAlong(const NDArray& numbers, const TensorType& after, int64_t own, const TensorType& before,
                  int64_t axis) {
  const auto rank = static_cast<int64_t>(numbers.shape().size());
  const int64_t length = *arith::AsInt(after.dims[static_cast<uint32_t>(own)]);
  const int64_t at = own - (after.ndim - rank);
  const bool fits = numbers.num_elements() == length && rank <= after.ndim && at >= 0 &&
                    numbers.shape()[static_cast<size_t>(at)] == length;
  if (!fits) return nullptr;
  std::vector<int64_t> shape(static_cast<size_t>(before.ndim - axis), 1);
  shape.front() = length;
  return NDArray::View(numbers.dtype(), shape, numbers.data(), numbers.shared_from_this());
}

}  // namespace

std::optional<int64_t> AxisAfter(const Call& move, int64_t axis) {
  const TensorType* before = TensorTypeOf(move.args[0]);
  const TensorType* after = TensorTypeOf(&move);
  if (!before || !after || !before->known || !after->known || axis < 0 || axis >= before->ndim) return std::nullopt;
  const auto length = [](const TensorType& tensor, int64_t i) {
    const int64_t* number = arith::AsInt(tensor.dims[static_cast<uint32_t>(i)]);
    return number && *number > 0 ? std::optional(*number) : std::nullopt;
  };
  const std::optional<int64_t> own = length(*before, axis);
  if (!own || *own == 1) return std::nullopt;
  if (IsOp(move.op, op::kPermuteDims)) {
    const std::vector<int64_t> axes = PermutationOf(move);
    const auto at = std::ranges::find(axes, axis);
    return at == axes.end() ? std::nullopt : std::optional<int64_t>(at - axes.begin());
  }
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < before->ndim; ++i) {
    const std::optional<int64_t> next = length(*before, i);
    if (!next || __builtin_mul_overflow(inner, *next, &inner)) return std::nullopt;
  }
  for (int64_t i = after->ndim - 1, rest = 1; i >= 0; --i) {
    const std::optional<int64_t> next = length(*after, i);
    if (!next) return std::nullopt;
    if (rest == inner && *next == *own) return i;
    if (__builtin_mul_overflow(rest, *next, &rest)) return std::nullopt;
  }
  return std::nullopt;
}

void AddTermOfReshapeRules(RuleSet& rules) {
  for (const OpId id : {op::kReshape, op::kPermuteDims}) {
    const Pattern x = Wildcard().UsedOnce();
    const Pattern terms = IsConstant();
    const Pattern moved = IsCall(GetOp(id), {x}).AnyMoreArgs().UsedOnce();
    const Pattern root = IsCall(GetOp(op::kAdd), {moved, terms}).Commutative();
    rules.Add(
        {"terms of channels before a reshape", root, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
           const Call& move = *match.CallAt(moved);
           const TensorType* before = TensorTypeOf(match[x]);
           const std::optional<int64_t> axis = AxisOfProduct(match[x], match.definitions());
           const std::optional<int64_t> own = axis ? AxisAfter(move, *axis) : std::nullopt;
           if (!own || !TypeEqual(move.type, match[root]->type)) return nullptr;
           const Tensor numbers =
               TermsAlong(*To<Constant>(match[terms])->data, *TensorTypeOf(&move), *own, *before, *axis);
           if (numbers == nullptr) return nullptr;
           OpBuilder calls(builder);
           const Expr* sum = calls.Make(op::kAdd, {match[x], MakeConstant(numbers, builder.workspace())});
           std::vector<const Expr*> args(move.args.begin(), move.args.end());
           args[0] = sum;
           return calls.Make(id, args, move.attrs);
         }});
  }
}

}  // namespace iropt

#include "sibling_calls.h"

#include <algorithm>
#include <optional>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/repeat.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/support/lookup.h"
#include "transform/relax/util/operand_order.h"
#include "transform/relax/util/tensor_axes.h"

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

// The last axis of factors of this rank, for data of the rank.
int ColumnAxis(const Call& matmul, int rank) {
  const TensorType* data = TensorTypeOf(matmul.args[0]);
  return data && data->ndim == rank && TensorTypeOf(matmul.args[1])->ndim == rank ? rank - 1 : -1;
}

// ---- Operators that follow

// Returns whether the operator computes each element from those at the same place, or broadcast to it.
bool IsElementwise(const Call& call) {
  const auto* op = As<Op>(call.op);
  if (!op || !op->info->pure || call.args.empty()) return false;
  // Further operands of an elementwise operator need not be broadcast, such as the scale of R.quantize; the only
  // operand of an operator that broadcasts is not at the same place, such as that of R.tile.
  if (op->info->pattern != (call.args.size() == 1 ? OpPattern::kElemWise : OpPattern::kBroadcast)) return false;
  return std::ranges::all_of(call.args, [](const Expr* arg) {
    const TensorType* tensor = TensorTypeOf(arg);
    return tensor && tensor->known;
  });
}

// The calls in a segment that use the results of others.
class UserFinder {
 public:
  explicit UserFinder(const Segment& segment) : segment_(segment) {
    for (uint32_t i = 0; i < segment.bindings.size(); ++i) {
      const auto* binding = As<VarBinding>(segment.bindings[i]);
      const auto* call = binding ? As<Call>(binding->value) : nullptr;
      if (!call || !IsElementwise(*call)) continue;
      for (const Expr* arg : call->args) {
        const auto* var = As<Var>(arg);
        if (var && segment.IsUsedOnce(var)) users_[var] = {call, i};
      }
    }
  }

  // The only user of a result, an elementwise operator that keeps the shape.
  std::optional<PlacedCall> UserOf(const PlacedCall& branch) const {
    const auto* user = users_.Find(ResultOf(branch));
    if (!user) return std::nullopt;
    const TensorType* before = TensorTypeOf(branch.first);
    const TensorType* after = TensorTypeOf(user->first);
    if (!before || !after || !before->known || !after->known) return std::nullopt;
    if (!std::ranges::equal(before->dims, after->dims)) return std::nullopt;
    return *user;
  }
  const Var* ResultOf(const PlacedCall& branch) const { return segment_.bindings[branch.second]->var; }

 private:
  const Segment& segment_;
  LookupMap<const Var*, PlacedCall> users_;
};

// The axis of an operand that is broadcast to the result along which operands are concatenated; less than 0 if it has
// none.
int64_t AxisOfOperand(const TensorType& operand, const TensorType& result, const ConcatAxes& joint) {
  return joint.out_axis - (result.ndim - operand.ndim);
}

// Returns whether an operand is one element along the last axis of the results.
bool IsRepeated(const TensorType& operand, const TensorType& result) {
  return operand.ndim == 0 || (arith::IsInt(operand.dims.back(), 1) && !arith::IsInt(result.dims.back(), 1));
}

// Returns whether the operands at a position can be joined as the results are.
bool CanJoin(const std::vector<PlacedCall>& calls, uint32_t position, const ConcatAxes& joint) {
  const TensorType& first = *TensorTypeOf(calls.front().first->args[position]);
  return std::ranges::all_of(calls, [&](const PlacedCall& placed) {
    const TensorType& own = *TensorTypeOf(placed.first->args[position]);
    const TensorType& result = *TensorTypeOf(placed.first);
    if (own.dtype != first.dtype || own.ndim != first.ndim || own.ndim > result.ndim) return false;
    const int64_t axis = joint.stacks ? -1 : AxisOfOperand(own, result, joint);
    const bool repeats = joint.repeats && IsRepeated(own, result);
    if (!joint.stacks && axis < 0 && !repeats) return false;
    for (int64_t i = 0; i < own.ndim; ++i) {
      const auto at = static_cast<uint32_t>(i);
      if (repeats && i == axis) continue;
      if (own.dims[at] != (i == axis ? result.dims[static_cast<uint32_t>(joint.out_axis)] : first.dims[at]))
        return false;
    }
    return true;
  });
}

// The operators that follow these branches if they are of one form.
std::optional<ElementwiseUsers> NextOf(const std::vector<PlacedCall>& branches, const UserFinder& users,
                                       const ConcatAxes& joint) {
  ElementwiseUsers next;
  for (const PlacedCall& branch : branches) {
    const std::optional<PlacedCall> user = users.UserOf(branch);
    if (!user) return std::nullopt;
    const Call& call = *user->first;
    if (next.calls.empty()) {
      next.parent = static_cast<uint32_t>(std::ranges::find(call.args, users.ResultOf(branch)) - call.args.begin());
    }
    const Call& first = next.calls.empty() ? call : *next.calls.front().first;
    if (call.op != first.op || call.args.size() != first.args.size() || !AttrEqual(call.attrs, first.attrs)) {
      return std::nullopt;
    }
    if (call.args[next.parent] != users.ResultOf(branch)) return std::nullopt;
    next.calls.push_back(*user);
  }
  for (uint32_t i = 0; i < next.calls.front().first->args.size(); ++i) {
    if (i != next.parent && !CanJoin(next.calls, i, joint)) return std::nullopt;
  }
  return next;
}

// ---- The combined operators

const Expr* ConcatOperands(const std::vector<PlacedCall>& calls, uint32_t position, int64_t axis, OpBuilder make) {
  std::vector<const Expr*> operands;
  for (const auto& [call, at] : calls) operands.push_back(call->args[position]);
  return op::Concat(make, make.MakeTuple(operands), {.axis = axis});
}

// The operands, each broadcast to this rank, as a tensor with a new axis in front.
const Expr* StackOperands(const std::vector<PlacedCall>& calls, uint32_t position, int64_t rank, OpBuilder make) {
  std::vector<const Expr*> operands;
  for (const auto& [call, at] : calls) {
    const Expr* operand = call->args[position];
    std::vector<int64_t> axes;
    for (int64_t i = TensorTypeOf(operand)->ndim; i < rank; ++i) axes.push_back(static_cast<int64_t>(axes.size()));
    operands.push_back(axes.empty() ? operand : op::ExpandDims(make, operand, {.axis = axes}));
  }
  return op::Stack(make, make.MakeTuple(operands));
}

// Operands along the last axis of the results, with single elements repeated.
const Expr* RepeatOperands(const std::vector<PlacedCall>& calls, uint32_t position, OpBuilder make) {
  std::vector<const Expr*> operands;
  int64_t axis = 0;
  for (const auto& [call, at] : calls) {
    const Expr* operand = call->args[position];
    const TensorType& result = *TensorTypeOf(call);
    const bool repeats = IsRepeated(*TensorTypeOf(operand), result);
    constexpr int64_t kLast[] = {-1};
    if (TensorTypeOf(operand)->ndim == 0) operand = op::ExpandDims(make, operand, {.axis = kLast});
    axis = TensorTypeOf(operand)->ndim - 1;
    if (repeats) operand = op::Repeat(make, operand, {.repeats = *arith::AsInt(result.dims.back()), .axis = axis});
    operands.push_back(operand);
  }
  return op::Concat(make, make.MakeTuple(operands), {.axis = axis});
}

const Expr* JoinOperands(const std::vector<PlacedCall>& calls, uint32_t position, const ConcatAxes& joint,
                         OpBuilder make) {
  const Call& first = *calls.front().first;
  const TensorType& result = *TensorTypeOf(&first);
  if (joint.stacks) return StackOperands(calls, position, result.ndim, make);
  if (joint.repeats) return RepeatOperands(calls, position, make);
  // The last axis of batches is written as such.
  const bool is_last = joint.weight_axis == 2 && joint.out_axis == 2;
  const int64_t axis = AxisOfOperand(*TensorTypeOf(first.args[position]), result, joint);
  return ConcatOperands(calls, position, is_last ? -1 : axis, make);
}

const Expr* JoinElementwise(const Expr* result, const ElementwiseUsers& users, const ConcatAxes& joint,
                            OpBuilder make) {
  const Call& first = *users.calls.front().first;
  std::vector<const Expr*> args;
  for (uint32_t i = 0; i < first.args.size(); ++i) {
    args.push_back(i == users.parent ? result : JoinOperands(users.calls, i, joint, make));
  }
  return make.Make(As<Op>(first.op)->id, args, first.attrs);
}

// The items of a stack, without the axis in front.
const Expr* ItemsOf(const Expr* stack, size_t count, OpBuilder make) {
  constexpr int64_t kFront[] = {0};
  const Expr* parts = op::Split(make, stack, {.indices_or_sections = static_cast<int64_t>(count), .axis = 0});
  std::vector<const Expr*> items;
  for (size_t i = 0; i < count; ++i) {
    const Expr* item = make.MakeItem(parts, static_cast<int>(i));
    items.push_back(op::Squeeze(make, item, {.axis = kFront}));
  }
  return make.MakeTuple(items);
}

// The elements from `begin` to `end` along the axis, as a slice of the axes up to that one. Axes of unknown size are
// left out, because the size of a slice of them would be a minimum.
const Expr* SliceAlong(const Expr* x, int64_t axis, int64_t begin, int64_t end, Workspace& workspace, OpBuilder make) {
  std::vector<const Expr*> axes, begins, ends, strides;
  const auto add = [&](std::vector<const Expr*>& list, int64_t number) {
    const PrimExpr* value = IRContext::Current().Int(number);
    list.push_back(workspace.New<PrimValue>(value, PrimType::Get(value)));
  };
  for (int64_t i = 0; i <= axis; ++i) {
    if (i != axis && !arith::AsInt(TensorTypeOf(x)->dims[static_cast<size_t>(i)])) continue;
    add(axes, i);
    add(begins, i == axis ? begin : 0);
    add(ends, i == axis ? end : INT64_MAX);
    add(strides, 1);
  }
  return op::StridedSlice(make, x, make.MakeTuple(axes), make.MakeTuple(begins), make.MakeTuple(ends),
                          make.MakeTuple(strides));
}

// Products with stacked transposed factors, as a batched product of stacks.
const Expr* StackedProduct(const Siblings& siblings, OpBuilder make) {
  const Call& first = *siblings.calls.front().first;
  const std::vector<const Expr*> data(siblings.calls.size(), first.args[0]);
  const Expr* left = op::Stack(make, make.MakeTuple(data));
  const Expr* right =
      op::PermuteDims(make, op::Stack(make, make.MakeTuple(siblings.transposed)), {.axes = ExchangeLastTwo(3)});
  return make.Make(As<Op>(first.op)->id, {left, right}, first.attrs);
}

// One call for all siblings, then one for each level of what follows, as a tuple of the parts.
const Expr* Combine(const Siblings& siblings, const ConcatAxes& joint, Workspace& workspace, OpBuilder make) {
  const Call& first = *siblings.calls.front().first;
  const auto weight_axis = static_cast<int64_t>(joint.weight_axis);
  const int rank = TensorTypeOf(first.args[1])->ndim;
  const Expr* factor = nullptr;
  if (joint.stacks && siblings.transposed.empty()) {
    factor = StackOperands(siblings.calls, 1, rank, make);
  } else if (!siblings.transposed.empty() && !joint.stacks) {
    const Expr* joined = op::Concat(make, make.MakeTuple(siblings.transposed), {.axis = rank - 2});
    factor = op::PermuteDims(make, joined, {.axes = ExchangeLastTwo(rank)});
  } else if (!joint.stacks) {
    factor = ConcatOperands(siblings.calls, 1, weight_axis, make);
  }
  const Expr* result =
      factor ? make.Make(As<Op>(first.op)->id, {first.args[0], factor}, first.attrs) : StackedProduct(siblings, make);
  for (const ElementwiseUsers& users : siblings.elementwise_users) result = JoinElementwise(result, users, joint, make);
  if (joint.stacks) return ItemsOf(result, siblings.calls.size(), make);
  // The slices are operators of the combined one.
  std::vector<const Expr*> parts;
  int64_t begin = 0;
  for (const auto& [call, at] : siblings.calls) {
    const int64_t end = begin + WidthOf(*call, joint.weight_axis);
    parts.push_back(SliceAlong(result, joint.out_axis, begin, end, workspace, make));
    begin = end;
  }
  return make.MakeTuple(parts);
}

// Returns the operand of each permute_dims that is a second operand, if all second operands exchange the last two axes.
std::vector<const Expr*> TransposedFactors(const Segment& segment, const Siblings& siblings) {
  LookupMap<const Expr*, const Call*> permutations;
  for (const Binding* binding : segment.bindings) {
    const Call* call = CallOf(ValueOf(binding), op::kPermuteDims);
    if (call && PermutationOf(*call) == ExchangeLastTwo(TensorTypeOf(call->args[0])->ndim))
      permutations.try_emplace(binding->var, call);
  }
  std::vector<const Expr*> factors;
  for (const auto& [call, at] : siblings.calls) {
    const auto* found = permutations.Find(call->args[1]);
    if (!found) return {};
    factors.push_back((*found)->args[0]);
  }
  return factors;
}

CombinedBranches Describe(const Siblings& siblings, const ConcatAxes& joint) {
  CombinedBranches combined;
  combined.operands.push_back(siblings.calls.front().first->args[0]);
  for (const auto& [call, at] : siblings.calls) {
    combined.operands.push_back(call->args[1]);
    combined.places.push_back(Location(*call));
  }
  combined.operands.insert(combined.operands.end(), siblings.transposed.begin(), siblings.transposed.end());
  for (const ElementwiseUsers& users : siblings.elementwise_users) {
    for (const auto& [call, at] : users.calls) {
      combined.places.push_back(Location(*call));
      for (uint32_t i = 0; i < call->args.size(); ++i) {
        if (i != users.parent) combined.operands.push_back(call->args[i]);
      }
    }
  }
  const std::vector<PlacedCall>& last =
      siblings.elementwise_users.empty() ? siblings.calls : siblings.elementwise_users.back().calls;
  for (uint32_t i = 0; i < last.size(); ++i) combined.replaced.emplace_back(last[i].second, i);
  combined.combine = [siblings, joint](BlockBuilder& builder) {
    return Combine(siblings, joint, builder.workspace(), OpBuilder(builder));
  };
  return combined;
}

}  // namespace

std::vector<Siblings> FindSiblings(const Segment& segment, OpId op, FunctionRef<int(const Call&)> axis_of) {
  std::vector<Siblings> groups;
  LookupMap<const Expr*, std::vector<size_t>> by_data;
  for (uint32_t i = 0; i < segment.bindings.size(); ++i) {
    const auto* binding = As<VarBinding>(segment.bindings[i]);
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

std::vector<CombinedBranches> Collect(const Segment& segment, std::vector<Siblings> groups, int64_t min_branches,
                                      FunctionRef<ConcatAxes(const Call&)> joint_of) {
  std::erase_if(groups, [&](const Siblings& siblings) {
    return siblings.calls.size() < std::max<size_t>(2, static_cast<size_t>(min_branches));
  });
  std::vector<CombinedBranches> combined;
  if (groups.empty()) return combined;
  const UserFinder users(segment);
  for (Siblings& siblings : groups) {
    const ConcatAxes joint = joint_of(*siblings.calls.front().first);
    if (siblings.calls.front().first->op == GetOp(op::kMatmul))
      siblings.transposed = TransposedFactors(segment, siblings);
    const CombinedBranches alone = Describe(siblings, joint);
    std::optional<ElementwiseUsers> next = NextOf(siblings.calls, users, joint);
    while (next) {
      siblings.elementwise_users.push_back(*std::move(next));
      next = NextOf(siblings.elementwise_users.back().calls, users, joint);
    }
    combined.push_back(Describe(siblings, joint));
    if (!siblings.elementwise_users.empty()) combined.back().fallback = std::make_shared<const CombinedBranches>(alone);
  }
  return combined;
}

std::vector<Siblings> FindProducts(const Segment& segment, int rank) {
  return FindSiblings(segment, op::kMatmul, [=](const Call& call) { return ColumnAxis(call, rank); });
}

std::vector<CombinedBranches> FindWideProducts(const Segment& segment, int64_t min_branches, int rank) {
  return Collect(segment, FindProducts(segment, rank), min_branches, [=](const Call&) {
    return ConcatAxes{.weight_axis = static_cast<size_t>(rank) - 1, .out_axis = rank - 1, .repeats = rank == 2};
  });
}

Pass CreateCombiningPass(const PassOptions& options, const TypedOption<int64_t>& min_num_branches,
                         const FindGroups& find) {
  return CreateFunctionPass(options.info(),
                            [find, min_branches = options.Count(min_num_branches)](
                                const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              IROPT_ASSIGN_OR_RETURN(const Function* combined,
                                                     CombineBranches(function, find, min_branches, context,
                                                                     /*merges=*/false));
                              return combined == function ? function : SortByOperands(combined, context.workspace());
                            });
}

}  // namespace iropt

#include "layout_rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/reorder.h"

namespace iropt {

namespace {

// Companions of the leaves of a tuple: the layout of each, or its current and its new layout. Null is the layout of the
// program.
const ValueLayout* FieldOf(const ValueLayout* layout, uint32_t index) {
  return layout && index < layout->fields.size() ? layout->fields[index] : nullptr;
}
struct LayoutTree {
  const ValueLayout* layout;
  LayoutTree Field(uint32_t index) const { return {FieldOf(layout, index)}; }
};
struct LayoutChange {
  const ValueLayout* from;
  const ValueLayout* to;
  LayoutChange Field(uint32_t index) const { return {FieldOf(from, index), FieldOf(to, index)}; }
};

bool HasKnownRanks(const Type* type) {
  return AllLeaves(type, [](const Type* leaf) {
    if (const auto* tensor = As<TensorType>(leaf)) {
      return tensor->ndim != kUnknownDim && tensor->ndim <= AxisOrder::kMaxRank;
    }
    return As<PrimType>(leaf) || As<ShapeType>(leaf);
  });
}

}  // namespace

void LayoutRewriter::VisitMatchCast(const MatchCast* binding) {
  const ValueLayout* layout = LayoutOf(binding->value);
  if (!layout) return ExprMutator::VisitMatchCast(binding);
  const Expr* value = Substitute(binding->value);
  if (const Type* type = binding->var->is_dataflow() ? StoredType(binding->match_type, layout) : nullptr) {
    Remap(binding->var, builder().EmitMatchCast(value, type, binding->var->name()));
    return SetLayout(binding->var, layout);
  }
  ReEmitMatchCast(binding, builder().NormalizeArgument(ConvertTo(value, layout, nullptr)), binding->match_type);
}

const Expr* LayoutRewriter::VisitVar(const Var* var) {
  return ConvertTo(ExprMutator::VisitVar(var), LayoutOf(var), nullptr);
}

const ValueLayout* LayoutRewriter::LayoutOf(const Expr* e) {
  const auto of_leaf = [this](const Expr* leaf) -> const ValueLayout* {
    const auto* var = As<Var>(leaf);
    return var && var->id < layouts_.size() ? layouts_[var->id] : nullptr;
  };
  return FoldLeaves(e, of_leaf, [this](const std::vector<const ValueLayout*>& fields) -> const ValueLayout* {
    if (std::ranges::count(fields, nullptr) == std::ssize(fields)) return nullptr;
    return arena_.New<ValueLayout>(AxisOrder(), List<const ValueLayout*>(arena_.Copy(fields)));
  });
}

void LayoutRewriter::SetLayout(const Var* var, const ValueLayout* layout) {
  if (!layout) return;
  if (var->id >= layouts_.size()) layouts_.resize(std::max<size_t>(workspace().num_vars(), var->id + size_t{1}));
  layouts_[var->id] = layout;
}

bool HasKnownRanks(const Call& call) {
  return std::ranges::all_of(call.args, [](const Expr* arg) { return HasKnownRanks(arg->type); });
}

const Type* LayoutRewriter::StoredType(const Type* type, const ValueLayout* layout) {
  return MapLeaves(type, LayoutTree{layout}, workspace().arena(), [](const Type* leaf, LayoutTree tree) -> const Type* {
    if (!tree.layout) return leaf;
    const auto* tensor = As<TensorType>(leaf);
    const AxisOrder& order = tree.layout->order;
    if (!tensor || tensor->shape_var || order.is_split() || tensor->ndim != order.ndim()) return nullptr;
    if (!tensor->known) return tensor;
    std::vector<const PrimExpr*> dims;
    for (int place = 0; place < tensor->ndim; ++place) dims.push_back(tensor->dims[static_cast<size_t>(order[place])]);
    return TensorType::Get(dims, tensor->dtype, tensor->vdevice);
  });
}

const Expr* LayoutRewriter::Substitute(const Expr* e) {
  return MapLeaves(e, rebuilder(), [this](const Expr* leaf) -> const Expr* {
    const auto* var = As<Var>(leaf);
    return var ? ExprMutator::VisitVar(var) : leaf;
  });
}

AxisOrder LayoutRewriter::OrderOf(const ValueLayout* layout, const ValueLayout* other) {
  return layout ? layout->order : AxisOrder::Identity(other->order.num_axes());
}

const Expr* LayoutRewriter::ConvertItem(const Expr* item, const ValueLayout* from, const ValueLayout* to) {
  return Convert(item, OrderOf(from, to), OrderOf(to, from));
}

const Expr* LayoutRewriter::ConvertTo(const Expr* e, const ValueLayout* from, const ValueLayout* to) {
  if (SameLayout(from, to)) return e;
  return ConvertItems(e, LayoutChange{from, to}, workspace(), [this](const Expr* item, LayoutChange change) {
    return SameLayout(change.from, change.to) ? item : ConvertItem(item, change.from, change.to);
  });
}

const Expr* LayoutRewriter::Convert(const Expr* item, const AxisOrder& from, const AxisOrder& to) {
  IROPT_DEBUG(kLayoutDebug, "a conversion from {} to {}", from.Reorder(kAxisLetters), to.Reorder(kAxisLetters));
  ++inserted_;
  if (const std::optional<AxisOrder> axes = from.To(to)) return Permute(item, *axes);
  return Transform(item, from, to);
}

const Expr* LayoutRewriter::ExpandDims(const Expr* e, int count) {
  std::vector<int64_t> axes;
  for (int axis = 0; axis < count; ++axis) axes.push_back(axis);
  const Attr* attrs = MakeOpAttrs(op::kExpandDims, ExpandDimsAttrs::Values{.axis = axes});
  const List<const Expr*> args = workspace().arena().Copy<const Expr*>({e});
  return builder().Emit(NewLike<Call>(workspace(), *e, GetOp(op::kExpandDims), args, attrs, nullptr, nullptr));
}

const Expr* LayoutRewriter::Permute(const Expr* e, const AxisOrder& order) {
  std::vector<int64_t> axes;
  for (int place = 0; place < order.ndim(); ++place) axes.push_back(order[place]);
  const Attr* attrs = MakeOpAttrs(op::kPermuteDims, PermuteDimsAttrs::Values{.axes = axes});
  const List<const Expr*> args = workspace().arena().Copy<const Expr*>({e});
  return NewLike<Call>(workspace(), *e, GetOp(op::kPermuteDims), args, attrs, nullptr, nullptr);
}

const Expr* LayoutRewriter::Transform(const Expr* e, const AxisOrder& from, const AxisOrder& to) {
  IRContext& context = IRContext::Current();
  std::vector<const tir::Var*> params;
  for (int place = 0; place < from.ndim(); ++place) params.push_back(context.NewSymVar(fmt::format("i{}", place)));
  const std::vector<const PrimExpr*> indices(params.begin(), params.end());
  const LayoutTransformAttrs::Values values{.index_map = IndexMapAttr::Get(params, to.Indices(indices, from))};
  const List<const Expr*> args = workspace().arena().Copy<const Expr*>({e});
  return NewLike<Call>(workspace(), *e, GetOp(op::kLayoutTransform), args, MakeOpAttrs(op::kLayoutTransform, values),
                       nullptr, nullptr);
}

void LayoutRewriter::VisitTupleBinding(const VarBinding* binding) {
  if (!binding->var->is_dataflow()) return ExprMutator::VisitVarBinding(binding);
  const ValueLayout* layout = LayoutOf(binding->value);
  ReEmitBinding(binding, builder().Normalize(Substitute(binding->value)));
  SetLayout(binding->var, layout);
}

void LayoutRewriter::VisitItemBinding(const VarBinding* binding, const TupleGetItem& item) {
  const auto index = static_cast<size_t>(item.index);
  const Expr* tuple = builder().NormalizeArgument(Substitute(item.tuple));
  const ValueLayout* layout = LayoutOf(item.tuple);
  if (layout) layout = layout->fields[index];
  const Expr* value = &item;
  if (tuple != item.tuple) {
    value = NewLike<TupleGetItem>(workspace(), item, tuple, item.index, To<TupleType>(tuple->type)->fields[index]);
  }
  if (!binding->var->is_dataflow()) value = ConvertTo(value, std::exchange(layout, nullptr), nullptr);
  ReEmitBinding(binding, builder().Normalize(value));
  SetLayout(binding->var, layout);
}

const Expr* LayoutRewriter::WithInts(const Expr* arg, const std::vector<int64_t>& ints) {
  std::vector<const Expr*> values;
  bool same = Is<Tuple>(arg);
  for (size_t i = 0; i < ints.size(); ++i) {
    const PrimExpr* value = IRContext::Current().Int(ints[i], DataType::Int(64));
    values.push_back(workspace().New<PrimValue>(value, PrimType::Get(value)));
    const auto* old = same ? As<PrimValue>(To<Tuple>(arg)->fields[i]) : nullptr;
    same = old && old->value == value;
  }
  return same ? arg : NewLike<Tuple>(workspace(), *arg, workspace().Copy(values), nullptr);
}

const Expr* LayoutRewriter::NewCall(const Call& call, const Var& var, std::span<const ValueLayout* const> layouts,
                                    const LayoutCall* decision) {
  const Expr* op = Substitute(call.op);
  const Attr* attrs = decision ? decision->attrs() : call.attrs;
  size_t next = 0;
  const List<const Expr*> args = MapList(call.args, workspace(), [&](const Expr* arg) {
    const size_t i = next++;
    if (!decision) return ConvertTo(Substitute(arg), layouts[i], nullptr);
    if (const std::vector<int64_t>* ints = decision->OperandInts(i)) return WithInts(arg, *ints);
    return ConvertTo(Substitute(arg), layouts[i], decision->operand(i));
  });
  const Expr* changed = Rebuild(call, op, args, attrs, call.type_args, call.type);
  if (changed != &call) return builder().Normalize(changed);
  const Expr* inferred =
      builder().Normalize(NewLike<Call>(workspace(), call, op, args, attrs, call.type_args, nullptr));
  return TypeEqual(inferred->type, var.type) ? &call : inferred;
}

}  // namespace iropt

// ConvertLayout: rewrites operators on images to the layouts that the user wants; the operators between them follow, so
// that tensors are permuted only where they enter and leave such a region.
//
//   gv = R.nn.conv2d(x, w)                  lv = R.permute_dims(x, axes=[0, 2, 3, 1])
//   gv1 = R.nn.relu(gv)            -->      lv1 = R.permute_dims(w, axes=[0, 2, 3, 1])
//                                           gv = R.nn.conv2d(lv, lv1, data_layout="NHWC", kernel_layout="OHWI", ...)
//                                           lv2 = R.nn.relu(gv)
//                                           gv1 = R.permute_dims(lv2, axes=[0, 3, 1, 2])
//
// with desired_layouts={"relax.nn.conv2d": ["NHWC", "OHWI"]}. The layouts of convolutions may have split axes, such as
// NCHW4c and OIHW4o; tensors are brought into them by R.layout_transform, and only if the axes are multiples of the
// parts. Within a dataflow block every variable has a layout, the
// order in which its axes are stored; the rules of infer/layout_rules.h derive the layout of a result from those of the
// operands. Operators without a rule, operands of unknown rank and the outputs of the block have the layout of the
// program. Code outside of dataflow blocks is not changed. A tensor that several operators need permuted is permuted
// for each of them; EliminateCommonSubexpr merges these. O(nodes).
//
// desired_layouts={"nn.conv2d": ["NHWC", "default"]}, with Relay's names of operators, converts as Relay's pass of this
// name: layouts begin at convolutions and poolings, of two operands that of the higher rank decides, and a tensor is
// converted once. See relay_layouts.h.
//
// Source: the rules are those of TVM 0.18's pass of this name. It refuses every function with R.nn.rms_norm, because it
// expects one more operand than that has; so does this one unless strict=false. Those for split axes are TVM 0.26's.
#include "convert_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "desired_layouts.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/layout_rules.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/support/debug_output.h"
#include "iropt/transform/options/ConvertLayout.h"
#include "relay_layouts.h"
#include "transform/relax/util/operand_order.h"
#include "transform/relax/util/relay_bias.h"

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

constexpr DebugChannel kLayoutDebug("layout");

// A letter for each axis, by its number.
constexpr std::string_view kAxisLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

class LayoutConverter : public ExprMutator {
 public:
  LayoutConverter(const DesiredLayouts& desired, bool strict, FunctionPassContext& context, TypeInferrer& inferrer)
      : ExprMutator(context.workspace(), &inferrer), desired_(desired), strict_(strict), context_(context) {}

  uint64_t inserted() const { return inserted_; }

 protected:
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    const bool outer = std::exchange(in_dataflow_, in_dataflow_ || block->is_dataflow());
    const BindingBlock* visited = ExprMutator::VisitBlock(block);
    in_dataflow_ = outer;
    conversions_.clear();
    return visited;
  }

  void VisitVarBinding(const VarBinding* binding) override {
    if (!in_dataflow_) {
      const auto* call = As<Call>(binding->value);
      if (call && HasLayouts(*call)) RemarkStays(*call, "it is not in a dataflow block");
      return ExprMutator::VisitVarBinding(binding);
    }
    switch (binding->value->kind) {
      case NodeKind::kCall: return VisitCallBinding(binding, *To<Call>(binding->value));
      case NodeKind::kTuple: return VisitTupleBinding(binding);
      case NodeKind::kTupleGetItem: return VisitItemBinding(binding, *To<TupleGetItem>(binding->value));
      default: return ExprMutator::VisitVarBinding(binding);
    }
  }

  void VisitMatchCast(const MatchCast* binding) override {
    const ValueLayout* layout = LayoutOf(binding->value);
    if (!layout) return ExprMutator::VisitMatchCast(binding);
    const Expr* value = Substitute(binding->value);
    if (const Type* type = binding->var->is_dataflow() ? StoredType(binding->match_type, layout) : nullptr) {
      Remap(binding->var, builder().EmitMatchCast(value, type, binding->var->name()));
      return SetLayout(binding->var, layout);
    }
    ReEmitMatchCast(binding, builder().NormalizeArgument(ConvertTo(value, layout, nullptr)), binding->match_type);
  }

  // A use for which layouts are not propagated.
  const Expr* VisitVar(const Var* var) override {
    return ConvertTo(ExprMutator::VisitVar(var), LayoutOf(var), nullptr);
  }

 private:
  // ---- Layouts of values

  // The layout of an operand in A-normal form.
  const ValueLayout* LayoutOf(const Expr* e) {
    const auto of_leaf = [this](const Expr* leaf) -> const ValueLayout* {
      const auto* var = As<Var>(leaf);
      return var && var->id < layouts_.size() ? layouts_[var->id] : nullptr;
    };
    return FoldLeaves(e, of_leaf, [this](const std::vector<const ValueLayout*>& fields) -> const ValueLayout* {
      if (std::ranges::count(fields, nullptr) == std::ssize(fields)) return nullptr;
      return arena_.New<ValueLayout>(AxisOrder(), List<const ValueLayout*>(arena_.Copy(fields)));
    });
  }

  void SetLayout(const Var* var, const ValueLayout* layout) {
    if (!layout) return;
    if (var->id >= layouts_.size()) layouts_.resize(std::max<size_t>(workspace().num_vars(), var->id + size_t{1}));
    layouts_[var->id] = layout;
  }

  // Returns whether rules support the operands: a tensor of known, small rank, a scalar, a shape, a tuple of these.
  static bool HasRanks(const Call& call) {
    return std::ranges::all_of(call.args, [](const Expr* arg) { return HasKnownRanks(arg->type); });
  }
  static bool HasKnownRanks(const Type* type) {
    return AllLeaves(type, [](const Type* leaf) {
      if (const auto* tensor = As<TensorType>(leaf)) {
        return tensor->ndim != kUnknownDim && tensor->ndim <= AxisOrder::kMaxRank;
      }
      return As<PrimType>(leaf) || As<ShapeType>(leaf);
    });
  }

  // The type of a value of the program's type `type` that is stored in the layout; null if there is none.
  const Type* StoredType(const Type* type, const ValueLayout* layout) {
    return MapLeaves(type, LayoutTree{layout}, workspace().arena(),
                     [](const Type* leaf, LayoutTree tree) -> const Type* {
                       if (!tree.layout) return leaf;
                       const auto* tensor = As<TensorType>(leaf);
                       const AxisOrder& order = tree.layout->order;
                       if (!tensor || tensor->shape_var || order.is_split() || tensor->ndim != order.ndim())
                         return nullptr;
                       if (!tensor->known) return tensor;
                       std::vector<const PrimExpr*> dims;
                       for (int place = 0; place < tensor->ndim; ++place)
                         dims.push_back(tensor->dims[static_cast<size_t>(order[place])]);
                       return TensorType::Get(dims, tensor->dtype, tensor->vdevice);
                     });
  }

  // ---- Values

  // The operand with variables replaced, in its current layout.
  const Expr* Substitute(const Expr* e) {
    return MapLeaves(e, rebuilder(), [this](const Expr* leaf) -> const Expr* {
      const auto* var = As<Var>(leaf);
      return var ? ExprMutator::VisitVar(var) : leaf;
    });
  }

  // Converts a value from one layout to another; the result must be normalized.
  const Expr* ConvertTo(const Expr* e, const ValueLayout* from, const ValueLayout* to) {
    if (SameLayout(from, to)) return e;
    return ConvertItems(e, LayoutChange{from, to}, workspace(), [this](const Expr* item, LayoutChange change) {
      const auto [item_from, item_to] = change;
      if (SameLayout(item_from, item_to)) return item;
      const AxisOrder identity = AxisOrder::Identity((item_from ? item_from : item_to)->order.num_axes());
      const AxisOrder& new_order = item_to ? item_to->order : identity;
      return desired_.as_relay ? ConvertOnce(item, item_from, new_order)
                               : Convert(item, item_from ? item_from->order : identity, new_order);
    });
  }

  const Expr* Convert(const Expr* item, const AxisOrder& from, const AxisOrder& to) {
    IROPT_DEBUG(kLayoutDebug, "a conversion from {} to {}", from.Reorder(kAxisLetters), to.Reorder(kAxisLetters));
    ++inserted_;
    if (const std::optional<AxisOrder> axes = from.To(to)) return Permute(item, *axes);
    return Transform(item, from, to);
  }

  // As Relay's pass converts: once for all uses in a block, and with new axes in front of those that are missing.
  const Expr* ConvertOnce(const Expr* item, const ValueLayout* from, const AxisOrder& to) {
    const auto* type = As<TensorType>(item->type);
    const int missing = type && type->ndim != kUnknownDim ? to.ndim() - type->ndim : 0;
    AxisOrder order = AxisOrder::Identity(missing);
    for (int place = 0; place < to.ndim() - missing; ++place)
      order.push_back((from ? from->order[place] : place) + missing);
    if (missing == 0 && order == to) return item;
    const Expr*& converted = conversions_[{item, to.Reorder(kAxisLetters)}];
    if (converted) return converted;
    const Expr* value = missing > 0 ? ExpandDims(item, missing) : item;
    return converted = order == to ? value : builder().Emit(Convert(value, order, to));
  }

  const Expr* ExpandDims(const Expr* e, int count) {
    std::vector<int64_t> axes;
    for (int axis = 0; axis < count; ++axis) axes.push_back(axis);
    const Attr* attrs = MakeOpAttrs(op::kExpandDims, ExpandDimsAttrs::Values{.axis = axes});
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({e});
    return builder().Emit(NewLike<Call>(workspace(), *e, GetOp(op::kExpandDims), args, attrs, nullptr, nullptr));
  }

  const Expr* Permute(const Expr* e, const AxisOrder& order) {
    std::vector<int64_t> axes;
    for (int place = 0; place < order.ndim(); ++place) axes.push_back(order[place]);
    const Attr* attrs = MakeOpAttrs(op::kPermuteDims, PermuteDimsAttrs::Values{.axes = axes});
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({e});
    return NewLike<Call>(workspace(), *e, GetOp(op::kPermuteDims), args, attrs, nullptr, nullptr);
  }

  const Expr* Transform(const Expr* e, const AxisOrder& from, const AxisOrder& to) {
    IRContext& context = IRContext::Current();
    std::vector<const tir::Var*> params;
    for (int place = 0; place < from.ndim(); ++place) params.push_back(context.NewSymVar(fmt::format("i{}", place)));
    const std::vector<const PrimExpr*> indices(params.begin(), params.end());
    const LayoutTransformAttrs::Values values{.index_map = IndexMapAttr::Get(params, to.Indices(indices, from))};
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({e});
    return NewLike<Call>(workspace(), *e, GetOp(op::kLayoutTransform), args, MakeOpAttrs(op::kLayoutTransform, values),
                         nullptr, nullptr);
  }

  // ---- Bindings

  void VisitTupleBinding(const VarBinding* binding) {
    if (!binding->var->is_dataflow()) return ExprMutator::VisitVarBinding(binding);
    const ValueLayout* layout = LayoutOf(binding->value);
    ReEmitBinding(binding, builder().Normalize(Substitute(binding->value)));
    SetLayout(binding->var, layout);
  }

  void VisitItemBinding(const VarBinding* binding, const TupleGetItem& item) {
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

  void VisitCallBinding(const VarBinding* binding, const Call& call) {
    layouts_of_args_.clear();
    for (const Expr* arg : call.args) layouts_of_args_.push_back(LayoutOf(arg));
    if (desired_.as_relay) {
      RelayLayouts relay(call, layouts_of_args_, desired_.For(call), arena_, workspace().version());
      const bool decided = HasRanks(call) && relay.Decide(biases_.IsBias(call));
      biases_.Add(*binding->var, call);
      return Place(binding, call, relay.decision(), decided);
    }
    LayoutCall decision(call, layouts_of_args_, desired_.For(call), arena_, workspace().version());
    Place(binding, call, decision, InferLayouts(decision));
  }

  void Place(const VarBinding* binding, const Call& call, const LayoutCall& decision, bool decided) {
    decided &= binding->var->is_dataflow() || AllLeaves(binding->var->type, &Is<TensorType>);
    if (HasLayouts(call)) RemarkUnlessConverted(decision, decided);
    IROPT_DEBUG(kLayoutDebug, "'{}' ({}): {}", binding->var->name(), CalleeName(call),
                decided ? "layouts are decided" : "all operands keep the layouts of the program");
    if (!decided) return ReEmitBinding(binding, NewCall(call, *binding->var, nullptr));
    const Expr* value = NewCall(call, *binding->var, &decision);
    if (binding->var->is_dataflow()) {
      ReEmitBinding(binding, value);
      SetLayout(binding->var, decision.result());
    } else if (decision.result()) {
      const Var* stored = builder().Emit(value);
      ReEmitBinding(binding, builder().Normalize(ConvertTo(stored, decision.result(), nullptr)));
    } else {
      ReEmitBinding(binding, value);
    }
  }

  // Returns whether the operator has layouts that the user may choose.
  static bool HasLayouts(const Call& call) {
    const auto* op = As<Op>(call.op);
    return op && !op->info->layout_axes.empty();
  }

  static void RemarkStays(const Call& call, std::string_view why) {
    RemarkMissed("layout-stays", Location(call), fmt::format("the layout of {} stays: {}", CalleeName(call), why));
  }

  static void RemarkUnlessConverted(const LayoutCall& decision, bool decided) {
    if (!WantsRemarks()) return;
    const Call& call = decision.call();
    if (decision.desired().empty()) return RemarkStays(call, "desired_layouts has none for this operator");
    if (decided) return;
    if (!HasRanks(call)) return RemarkStays(call, "the rank of an operand is unknown or too big");
    RemarkStays(call, decision.why().empty() ? "the type of the result is not known" : decision.why());
  }

  // Returns whether a rule decides on the layouts.
  bool InferLayouts(LayoutCall& decision) {
    const Call& call = decision.call();
    const auto* op = As<Op>(call.op);
    const LayoutRule rule = op ? LayoutRuleOf(*op->info) : nullptr;
    if (!rule || !HasRanks(call)) return false;
    const bool decided =
        strict_ && op->info->tvm_lacks_layout
            ? decision.Refuse("TVM 0.18 fails to find its layouts; with strict=false it keeps those of the program")
            : rule(decision);
    // One error is enough for a function.
    if (!decided && strict_ && !std::exchange(refused_, true)) {
      context_.diagnostics().Error(Location(call), "pass-failed",
                                   fmt::format("{}: {}", op->info->script, decision.why()));
    }
    return decided;
  }

  const Expr* WithInts(const Expr* arg, const std::vector<int64_t>& ints) {
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

  // The call that the variable is bound to, with its operands in the chosen layouts, or in those of the program;
  // normalized. Its type is inferred in any case: the variable may have been given a weaker one.
  const Expr* NewCall(const Call& call, const Var& var, const LayoutCall* decision) {
    const Expr* op = Substitute(call.op);
    const Attr* attrs = decision ? decision->attrs() : call.attrs;
    size_t next = 0;
    const List<const Expr*> args = MapList(call.args, workspace(), [&](const Expr* arg) {
      const size_t i = next++;
      if (!decision) return ConvertTo(Substitute(arg), layouts_of_args_[i], nullptr);
      if (const std::vector<int64_t>* ints = decision->OperandInts(i)) return WithInts(arg, *ints);
      return ConvertTo(Substitute(arg), layouts_of_args_[i], decision->operand(i));
    });
    const Expr* changed = Rebuild(call, op, args, attrs, call.type_args, call.type);
    if (changed != &call) return builder().Normalize(changed);
    const Expr* inferred =
        builder().Normalize(NewLike<Call>(workspace(), call, op, args, attrs, call.type_args, nullptr));
    return TypeEqual(inferred->type, var.type) ? &call : inferred;
  }

  const DesiredLayouts& desired_;
  const bool strict_;
  FunctionPassContext& context_;
  bool in_dataflow_ = false;
  bool refused_ = false;
  uint64_t inserted_ = 0;                    // the number of conversions
  Arena arena_;                              // of layouts
  std::vector<const ValueLayout*> layouts_;  // by Var::id
  std::vector<const ValueLayout*> layouts_of_args_;
  BiasTable biases_;                                                        // for Relay's choice
  std::map<std::pair<const Expr*, std::string>, const Expr*> conversions_;  // of a value to a layout, in this block
};

}  // namespace

Pass MakeLayoutPass(const PassOptions& options, const TypedOption<OptionValue>& desired_layouts, bool strict,
                    const Statistic& inserted) {
  const auto desired = std::make_shared<const DesiredLayouts>(ReadDesiredLayouts(options, desired_layouts));
  const auto has_told = std::make_shared<std::atomic_flag>();
  return CreateFunctionPass(
      options.info(),
      [desired, strict, has_told, &inserted](const Function* function,
                                             FunctionPassContext& context) -> Result<const Function*> {
        if (desired->empty()) {
          if (!has_told->test_and_set()) {
            context.diagnostics().Remark({}, "nothing-to-do",
                                         "all layouts stay: the option 'desired_layouts' does not name an operator");
          }
          return function;
        }
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        LayoutConverter converter(*desired, strict, context, inferrer);
        const Expr* converted = converter.VisitExpr(function);
        if (converter.failed()) return Failure{ErrorCode::PassFailed};
        inserted.Add(converter.inserted());
        const auto* result = To<Function>(converted);
        if (!desired->as_relay) return result;
        return SortIfSorted(result, function, &context.module(), context.workspace());
      });
}

static constexpr Statistic kInsertedTransforms("ConvertLayout", "inserted-transforms",
                                               "conversions of a tensor to another layout");

Pass CreateConvertLayout(const PassOptions& options) {
  const pass_options::ConvertLayout given(options);
  const OptionValue& callback = *given.layout_cb;
  if (!callback.is_null()) options.Refuse(given.layout_cb, "must be null: functions of Python cannot be called");
  return MakeLayoutPass(options, given.desired_layouts, *given.strict, kInsertedTransforms);
}

}  // namespace iropt

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
// Source: the rules are those of TVM 0.18's pass of this name. It refuses every function with R.nn.rms_norm, because it
// expects one more operand than that has; so does this one unless strict=false. Those for split axes are TVM 0.26's.
#include "convert_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/infer/layout_rules.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op_attrs.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

// ---- The option

struct DesiredLayout {
  const OpInfo* op;
  std::vector<Layout> layouts;
};

class OptionReader {
 public:
  explicit OptionReader(const PassOptions& options) : options_(options) {
    const OptionValue& option = options.Json(kOption);
    const OptionValue::Dict* dict = option.as_dict();
    if (!dict) Refuse(option.span(), "must be an object of lists of layouts");
    for (const OptionValue::Entry& entry : dict ? *dict : OptionValue::Dict()) Read(entry);
  }

  std::vector<DesiredLayout> desired;

 private:
  static constexpr std::string_view kOption = "desired_layouts";

  void Refuse(SourceSpan span, std::string_view message) { options_.Refuse(kOption, span, message); }

  void Read(const OptionValue::Entry& entry) {
    const OpInfo* op = FindOp(entry.key);
    if (!op || op->layout_axes.empty()) return RefuseOperator(entry);
    const OptionValue::List* list = entry.value.as_list();
    if (!list || list->size() < op->required_layouts || list->size() > op->layout_axes.size()) {
      const size_t most = op->layout_axes.size();
      return Refuse(entry.value.span(), most == op->required_layouts
                                            ? fmt::format("must have a list of {} layout for '{}'", most, entry.key)
                                            : fmt::format("must have a list of {} to {} layouts for '{}': of data, "
                                                          "weight and result",
                                                          op->required_layouts, most, entry.key));
    }
    DesiredLayout desired_layout{op, {}};
    for (size_t i = 0; i < list->size(); ++i) {
      std::optional<Layout> layout = ReadLayout((*list)[i], op->layout_axes[i], op->layout_axes.size() > 1);
      if (!layout) return;
      desired_layout.layouts.push_back(std::move(*layout));
    }
    desired.push_back(std::move(desired_layout));
  }

  // Operators have their full names here, as in TVM: the one of "R.nn.conv2d" is "relax.nn.conv2d".
  void RefuseOperator(const OptionValue::Entry& entry) {
    std::vector<std::string_view> names;
    for (const OpInfo& op : AllOps()) {
      if (!op.layout_axes.empty()) names.push_back(op.name);
    }
    std::string message = fmt::format("must be about operators that have a layout choice, {}, not about '{}'",
                                      fmt::join(names, ", "), entry.key);
    const bool in_script = entry.key.starts_with("R.");
    const std::optional<std::string_view> nearest =
        NearestName(fmt::format("relax.{}", in_script ? entry.key.substr(2) : entry.key), names);
    if (nearest) message += fmt::format("; did you mean '{}'?", *nearest);
    Refuse(entry.key_span, message);
  }

  // Axes can be split for operators with several layouts, which are convolutions.
  std::optional<Layout> ReadLayout(const OptionValue& value, std::string_view axes, bool may_split) {
    const std::string* text = value.as_string();
    std::optional<Layout> layout = text ? Layout::Parse(*text) : std::nullopt;
    const std::optional<AxisOrder> order = layout ? AxisOrder::Between(*Layout::Parse(axes), *layout) : std::nullopt;
    if (order && (may_split || !order->is_split())) return layout;
    Refuse(value.span(),
           fmt::format("has the invalid layout '{}': expected a permutation of {}{}", text ? *text : ToString(value),
                       axes, may_split ? ", of which axes may be split as in NCHW4c" : ""));
    return std::nullopt;
  }

  const PassOptions& options_;
};

// ---- The rewriting

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

class LayoutConverter : public ExprMutator {
 public:
  LayoutConverter(const std::vector<DesiredLayout>& desired, bool strict, FunctionPassContext& context,
                  TypeInferrer& inferrer)
      : ExprMutator(context.workspace(), &inferrer), desired_(desired), strict_(strict), context_(context) {}

  uint64_t inserted() const { return inserted_; }

 protected:
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    const bool outer = std::exchange(in_dataflow_, in_dataflow_ || block->is_dataflow());
    const BindingBlock* visited = ExprMutator::VisitBlock(block);
    in_dataflow_ = outer;
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

  // Returns whether rules support an operand: a tensor of known, small rank, a scalar, a shape, a tuple of these.
  static bool HasRanks(const Type* type) {
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
      const AxisOrder& old_order = item_from ? item_from->order : identity;
      const AxisOrder& new_order = item_to ? item_to->order : identity;
      ++inserted_;
      if (const std::optional<AxisOrder> axes = old_order.To(new_order)) return Permute(item, *axes);
      return Transform(item, old_order, new_order);
    });
  }

  const Expr* Permute(const Expr* e, const AxisOrder& order) {
    std::vector<int64_t> axes;
    for (int place = 0; place < order.ndim(); ++place) axes.push_back(order[place]);
    const Attr* attrs = MakeOpAttrs(OpId::kPermuteDims, PermuteDimsAttrs::Values{.axes = axes});
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({e});
    return NewLike<Call>(workspace(), *e, GetOp(OpId::kPermuteDims), args, attrs, nullptr, nullptr);
  }

  const Expr* Transform(const Expr* e, const AxisOrder& from, const AxisOrder& to) {
    IRContext& context = IRContext::Current();
    std::vector<const tir::Var*> params;
    for (int place = 0; place < from.ndim(); ++place) params.push_back(context.NewSymVar(fmt::format("i{}", place)));
    const std::vector<const PrimExpr*> indices(params.begin(), params.end());
    const LayoutTransformAttrs::Values values{.index_map = IndexMapAttr::Get(params, to.Indices(indices, from))};
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({e});
    return NewLike<Call>(workspace(), *e, GetOp(OpId::kLayoutTransform), args,
                         MakeOpAttrs(OpId::kLayoutTransform, values), nullptr, nullptr);
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
    LayoutCall decision(call, layouts_of_args_, DesiredFor(call), arena_);
    const bool decided =
        InferLayouts(decision) && (binding->var->is_dataflow() || AllLeaves(binding->var->type, &Is<TensorType>));
    if (HasLayouts(call)) RemarkUnlessConverted(decision, decided);
    if (!decided) return ReEmitBinding(binding, NewCall(call, nullptr));
    const Expr* value = NewCall(call, &decision);
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
    const bool has_ranks = std::ranges::all_of(call.args, [](const Expr* arg) { return HasRanks(arg->type); });
    if (!has_ranks) return RemarkStays(call, "the rank of an operand is unknown or too big");
    RemarkStays(call, decision.why().empty() ? "the type of the result is not known" : decision.why());
  }

  // Returns whether a rule decides on the layouts.
  bool InferLayouts(LayoutCall& decision) {
    const Call& call = decision.call();
    const auto* op = As<Op>(call.op);
    const LayoutRule rule = op ? LayoutRuleOf(*op->info) : nullptr;
    if (!rule || !std::ranges::all_of(call.args, [](const Expr* arg) { return HasRanks(arg->type); })) return false;
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

  std::span<const Layout> DesiredFor(const Call& call) const {
    const auto* op = As<Op>(call.op);
    const auto found = std::ranges::find(desired_, op ? op->info : nullptr, &DesiredLayout::op);
    return found == desired_.end() ? std::span<const Layout>() : std::span<const Layout>(found->layouts);
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

  // The call with its operands in the chosen layouts, or in those of the program; normalized.
  const Expr* NewCall(const Call& call, const LayoutCall* decision) {
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
    return changed == &call ? changed : builder().Normalize(changed);
  }

  const std::vector<DesiredLayout>& desired_;
  const bool strict_;
  FunctionPassContext& context_;
  bool in_dataflow_ = false;
  bool refused_ = false;
  uint64_t inserted_ = 0;                    // the number of conversions
  Arena arena_;                              // of layouts
  std::vector<const ValueLayout*> layouts_;  // by Var::id
  std::vector<const ValueLayout*> layouts_of_args_;
};

}  // namespace

Pass MakeLayoutPass(const PassOptions& options, bool strict, const Statistic& inserted) {
  const auto desired = std::make_shared<const std::vector<DesiredLayout>>(OptionReader(options).desired);
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
        return To<Function>(converted);
      });
}

static constexpr Statistic kInsertedTransforms("ConvertLayout", "inserted-transforms",
                                               "conversions of a tensor to another layout");

Pass CreateConvertLayout(const PassOptions& options) {
  const OptionValue& callback = options.Json("layout_cb");
  if (!callback.is_null()) options.Refuse("layout_cb", "must be null: functions of Python cannot be called");
  return MakeLayoutPass(options, options.Bool("strict"), kInsertedTransforms);
}

}  // namespace iropt

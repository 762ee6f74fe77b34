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
#include "iropt/ir/location.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/transform/options/ConvertLayout.h"
#include "layout_rewriter.h"
#include "relay_layouts.h"
#include "transform/relax/util/operand_order.h"
#include "transform/relax/util/relay_bias.h"

namespace iropt {

namespace {

class LayoutConverter : public LayoutRewriter {
 public:
  LayoutConverter(const DesiredLayouts& desired, bool strict, FunctionPassContext& context, TypeInferrer& inferrer)
      : LayoutRewriter(context.workspace(), &inferrer), desired_(desired), strict_(strict), context_(context) {}

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

  const Expr* ConvertItem(const Expr* item, const ValueLayout* from, const ValueLayout* to) override {
    return desired_.as_relay ? ConvertOnce(item, from, OrderOf(to, from)) : LayoutRewriter::ConvertItem(item, from, to);
  }

 private:
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

  // ---- Bindings

  void VisitCallBinding(const VarBinding* binding, const Call& call) {
    layouts_of_args_.clear();
    for (const Expr* arg : call.args) layouts_of_args_.push_back(LayoutOf(arg));
    if (desired_.as_relay) {
      RelayLayouts relay(call, layouts_of_args_, desired_.For(call), arena(), workspace().version());
      const bool decided = HasKnownRanks(call) && relay.Decide(biases_.IsBias(call));
      biases_.Add(*binding->var, call);
      return Place(binding, call, relay.decision(), decided);
    }
    LayoutCall decision(call, layouts_of_args_, desired_.For(call), arena(), workspace().version());
    Place(binding, call, decision, InferLayouts(decision));
  }

  void Place(const VarBinding* binding, const Call& call, const LayoutCall& decision, bool decided) {
    decided &= binding->var->is_dataflow() || AllLeaves(binding->var->type, &Is<TensorType>);
    if (HasLayouts(call)) RemarkUnlessConverted(decision, decided);
    IROPT_DEBUG(kLayoutDebug, "'{}' ({}): {}", binding->var->name(), CalleeName(call),
                decided ? "layouts are decided" : "all operands keep the layouts of the program");
    if (!decided) return ReEmitBinding(binding, NewCall(call, *binding->var, layouts_of_args_, nullptr));
    const Expr* value = NewCall(call, *binding->var, layouts_of_args_, &decision);
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
    if (!HasKnownRanks(call)) return RemarkStays(call, "the rank of an operand is unknown or too big");
    RemarkStays(call, decision.why().empty() ? "the type of the result is not known" : decision.why());
  }

  // Returns whether a rule decides on the layouts.
  bool InferLayouts(LayoutCall& decision) {
    const Call& call = decision.call();
    const auto* op = As<Op>(call.op);
    const LayoutRule rule = op ? LayoutRuleOf(*op->info) : nullptr;
    if (!rule || !HasKnownRanks(call)) return false;
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

  const DesiredLayouts& desired_;
  const bool strict_;
  FunctionPassContext& context_;
  bool in_dataflow_ = false;
  bool refused_ = false;
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

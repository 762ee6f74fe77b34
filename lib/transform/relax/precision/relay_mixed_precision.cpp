// ToMixedPrecision<mixed_precision_type=float16>: computes in lower precision as Relay's pass of this name does.
//
//   lv = R.nn.relu(x)                       lv = R.astype(x, "float16")
//   lv1 = R.permute_dims(w, [1, 0])         lv1 = R.nn.relu(lv)
//   gv = R.matmul(lv, lv1)         -->      lv2 = R.astype(w, "float16")
//   gv1 = R.nn.softmax(gv)                  lv3 = R.permute_dims(lv2, [1, 0])
//                                           gv = R.matmul(lv1, lv3, out_dtype="float16")
//                                           lv4 = R.astype(gv, "float32")
//                                           gv1 = R.nn.softmax(lv4)
//
// Convolutions and matrix products always get operands of the lower dtype. Sums, exponentials and what else needs
// the range of float32 gets float32. The others get the lower dtype if all of their operands that are floats have it,
// or are parameters or constants, else float32. A value is converted to a dtype once in a block, and a converted value
// back to the one that it came from. The accumulators of convolutions and products have the lower dtype, too.
//
// The transposes and the expanded vectors that the reader of Relay puts before a matrix product or an addition are
// part of nn.dense and nn.bias_add in Relay: what they view is converted, not the view.
//
// Results of functions that are not called from the module may change their dtypes, as in Relay, unless
// relay.ToMixedPrecision.keep_orig_output_dtype is set; those of others, of branches and the parameters of all
// functions keep them. O(nodes).
//
// Source: the pass of Relay of TVM 0.18 of this name, with its default lists of operators.
#include "relay_mixed_precision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "configs/relay.ToMixedPrecision.keep_orig_output_dtype.h"
#include "iropt/analysis/relax/called_functions.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/number_format.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/quantize.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/op/ops/unary.h"
#include "iropt/runtime/value.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "transform/relax/util/operand_order.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr OpId kInFloat32[] = {op::kArange,
                               op::kErf,
                               op::kExp,
                               op::kMean,
                               op::kNnAdaptiveAvgPool1d,
                               op::kNnAdaptiveAvgPool2d,
                               op::kNnAdaptiveAvgPool3d,
                               op::kNnCrossEntropyWithLogits,
                               op::kNnLayerNorm,
                               op::kNnSoftmax,
                               op::kPower,
                               op::kQuantize,
                               op::kDequantize,
                               op::kSum,
                               op::kVariance};
// Tensors of a dtype that an attribute names.
constexpr OpId kInitializing[] = {op::kFull, op::kOnes, op::kZeros};

bool IsAmong(const Call& call, std::span<const OpId> ids) {
  const auto* op = As<Op>(call.op);
  return op && std::ranges::find(ids, op->id) != ids.end();
}
bool IsCallOf(const Expr* value, OpId id) {
  const auto* call = As<Call>(value);
  return call && IsAmong(*call, std::span(&id, 1));
}

// Returns whether the operands of the call must keep their dtypes: it calls a function.
bool CallsFunction(const Call& call) {
  const auto* op = As<Op>(call.op);
  if (!op || !op->info->pure) return true;
  return std::ranges::any_of(
      op->info->args, [](const OpArg& arg) { return arg.kind == ArgKind::kCallArgs || arg.kind == ArgKind::kFunc; });
}

// Finds the uses of the variables of a function.
class RelayUses : private ExprVisitor {
 public:
  RelayUses(const Function& function, bool keeps_results) {
    if (keeps_results) Keep(function.body);
    VisitExpr(&function);
  }

  bool IsParam(const Expr* expr) const { return params_.contains(expr); }
  // Returns whether the variable must keep its dtype.
  bool IsKept(const Var* var) const { return kept_.contains(var); }
  // Returns whether the call only views its operand, as part of an operator of Relay.
  bool IsView(const Var* var, const Call& call) const {
    const auto* data = As<TensorType>(call.args.empty() ? nullptr : call.args[0]->type);
    if (!data) return false;
    if (IsCallOf(&call, op::kPermuteDims)) {
      return data->ndim >= 2 && !other_uses_.contains(var) && PermutationOf(call) == ExchangeLastTwo(data->ndim);
    }
    if (!IsCallOf(&call, op::kExpandDims) || data->ndim != 1) return false;
    const IntList axes = ExpandDimsAttrs(call).axis();
    return !axes.empty() && axes[0] == 1;
  }

 private:
  void VisitFunction(const Function* function) override {
    params_.insert(function->params.begin(), function->params.end());
    ExprVisitor::VisitFunction(function);
  }
  void VisitIf(const If* conditional) override {
    Keep(conditional->true_branch);
    Keep(conditional->false_branch);
    ExprVisitor::VisitIf(conditional);
  }
  void VisitCall(const Call* call) override {
    if (!IsCallOf(call, op::kMatmul)) ExprVisitor::VisitCall(call);
  }
  void VisitVar(const Var* var) override { other_uses_.insert(var); }

  void Keep(const Expr* body) {
    const auto* seq = As<SeqExpr>(body);
    ForEachLeaf(seq ? seq->body : body, [this](const Expr* leaf) { kept_.insert(leaf); });
  }

  std::unordered_set<const Expr*> params_;
  LookupSet<const Expr*> kept_;
  LookupSet<const Expr*> other_uses_;  // variables that are operands of more than matrix products
};

class RelayPrecision : public ExprMutator {
 public:
  RelayPrecision(DataType lower, const RelayUses& uses, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), lower_(lower), uses_(uses) {}

 protected:
  // Values that were converted in a block are not visible after it.
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    const auto outer = std::exchange(converted_, {});
    const BindingBlock* visited = ExprMutator::VisitBlock(block);
    converted_ = outer;
    return visited;
  }

  void VisitVarBinding(const VarBinding* binding) override {
    const auto* call = As<Call>(binding->value);
    if (!call) return ReEmit(binding, VisitExpr(binding->value));
    const List<const Expr*> args =
        MapList(call->args, workspace(), [&](const Expr* arg) { return builder().NormalizeArgument(VisitExpr(arg)); });
    if (uses_.IsView(binding->var, *call) && IsFloat(args[0]->type)) return ReEmitView(binding, *call, args[0]);
    if (IsCallOf(call, op::kAstype) && AstypeAttrs(*call).dtype() == lower_ && IsFloat(args[0]->type))
      return ReEmitConversion(binding, *call, args);
    ReEmit(binding, NewCall(*call, args));
  }

  // The value keeps its precision, which the type then says.
  void VisitMatchCast(const MatchCast* binding) override {
    const auto* call = As<Call>(binding->value);
    const Expr* value =
        call ? NewCall(*call, MapList(call->args, workspace(),
                                      [&](const Expr* arg) { return builder().NormalizeArgument(VisitExpr(arg)); }))
             : VisitExpr(binding->value);
    value = builder().Normalize(value);
    const auto* now = As<TensorType>(value->type);
    const auto* stated = As<TensorType>(binding->match_type);
    const bool has_changed = now && IsFloat(now) && IsFloat(stated) && now->dtype != stated->dtype;
    if (!has_changed) return ReEmitMatchCast(binding, value, binding->match_type);
    if (!uses_.IsKept(binding->var))
      return ReEmitMatchCast(binding, value, stated->With(workspace().arena(), now->dtype, stated->vdevice));
    ReEmitMatchCast(binding, CastTo(builder().NormalizeArgument(value), stated->dtype), binding->match_type);
  }

 private:
  struct View {
    const Call* call;  // as in the input
    const Expr* operand;
    bool is_adaptable;  // of a parameter or a constant
  };

  static bool IsFloat(const Type* type) {
    const auto* tensor = As<TensorType>(type);
    return tensor && tensor->dtype.is_floating();
  }

  void ReEmit(const VarBinding* binding, const Expr* value) {
    const Expr* normal = builder().Normalize(value);
    const Type* type = binding->var->type;
    if (!uses_.IsKept(binding->var) || !normal->type || TypeEqual(normal->type, type))
      return ReEmitBinding(binding, normal);
    ReEmitBinding(binding, builder().Normalize(ConvertToType(builder().NormalizeArgument(normal), type)));
  }

  void ReEmitView(const VarBinding* binding, const Call& call, const Expr* operand) {
    ReEmitBinding(binding,
                  builder().Normalize(Rebuild(call, call.op, workspace().arena().Copy<const Expr*>({operand}))));
    const Expr* view = RemapOf(binding->var);
    views_[view ? view : binding->var] = {&call, operand, IsAdaptable(call.args[0], operand)};
  }

  // A conversion in the input serves all that need this dtype.
  void ReEmitConversion(const VarBinding* binding, const Call& call, List<const Expr*> args) {
    ReEmit(binding, Rebuild(call, call.op, args));
    const Expr* now = RemapOf(binding->var);
    converted_.emplace(std::pair(args[0], lower_.ToString()), now ? now : binding->var);
  }

  // Returns whether an operand can have any dtype.
  bool IsAdaptable(const Expr* old, const Expr* now) const {
    if (uses_.IsParam(old) || Is<Constant>(old)) return true;
    const auto view = views_.find(now);
    return view != views_.end() && view->second.is_adaptable;
  }

  const Expr* NewCall(const Call& old, List<const Expr*> args) {
    if (CallsFunction(old)) {
      uint32_t i = 0;
      args = MapList(args, workspace(), [&](const Expr* arg) { return ConvertToType(arg, old.args[i++]->type); });
      return Rebuild(old, VisitExpr(old.op), args, old.attrs, old.type_args, old.type);
    }
    const bool is_lower = IsLower(old, args);
    const DataType dtype = is_lower ? lower_ : DataType::Float(32);
    uint32_t i = 0;
    args = MapList(args, workspace(), [&](const Expr* arg) {
      const bool is_number = i++ == 1 && IsCallOf(&old, op::kNnPad) && Is<Constant>(arg) && IsFloat(arg->type);
      return is_number ? NumberIn(*To<Constant>(arg), dtype) : Convert(arg, dtype);
    });
    return Rebuild(old, old.op, args, is_lower ? LowerAttrs(old) : old.attrs, old.type_args, old.type);
  }

  bool IsLower(const Call& old, List<const Expr*> args) {
    const MixedPrecision policy = To<Op>(old.op)->info->mixed_precision;
    if (policy == MixedPrecision::kAlways || IsConvTranspose(old)) return true;
    if (IsAmong(old, kInFloat32) || IsBeyondRange(old)) return false;
    uint32_t i = 0;
    return std::ranges::all_of(args, [&](const Expr* arg) { return IsCompatible(old.args[i++], arg); });
  }

  static bool IsConvTranspose(const Call& call) {
    return IsAmong(call,
                   std::initializer_list<OpId>{op::kNnConv1dTranspose, op::kNnConv2dTranspose, op::kNnConv3dTranspose});
  }

  bool IsCompatible(const Expr* old, const Expr* now) const {
    if (IsAdaptable(old, now)) return true;
    const auto* tuple = As<Tuple>(now);
    const auto is_lower = [this](const Type* leaf) {
      const auto* tensor = As<TensorType>(leaf);
      return !tensor || !tensor->dtype.is_floating() || tensor->dtype == lower_;
    };
    return tuple
               ? std::ranges::all_of(tuple->fields, [&](const Expr* field) { return AllLeaves(field->type, is_lower); })
               : AllLeaves(now->type, is_lower);
  }

  // A bound of a clip that the lower dtype cannot hold.
  bool IsBeyondRange(const Call& call) const {
    if (!IsCallOf(&call, op::kClip)) return false;
    const NumberFormat* format = FormatOfDType(lower_);
    if (format == nullptr) return false;
    const double largest = GreatestOf(*format);
    return std::ranges::any_of(call.args, [&](const Expr* arg) {
      const auto* scalar = As<PrimValue>(arg);
      const auto* bound = scalar ? As<tir::FloatImm>(scalar->value) : nullptr;
      return bound && std::abs(bound->value) > largest;
    });
  }

  // The dtypes of accumulators and of tensors that the call makes.
  const Attr* LowerAttrs(const Call& call) const {
    const OpInfo& info = *To<Op>(call.op)->info;
    const OpAttr* attr = info.FindAttr("out_dtype");
    if (!attr && IsAmong(call, kInitializing)) attr = info.FindAttr("dtype");
    if (!attr) return call.attrs;
    const auto field = static_cast<uint32_t>(attr - info.attrs.data());
    const auto* record = To<ObjectAttr>(call.attrs);
    const auto* dtype = As<DTypeAttr>(record->values[field]);
    if (dtype && !dtype->value.is_void() && !dtype->value.is_floating()) return call.attrs;
    return record->With(field, DTypeAttr::Get(lower_));
  }

  // The number that a padding has everywhere, which is written as such.
  const Expr* NumberIn(const Constant& number, DataType dtype) {
    const std::optional<Scalar> value = ScalarOf(*number.data);
    return value ? OpBuilder(builder()).MakeScalar(value->ToDouble(), dtype) : Convert(&number, dtype);
  }

  // The operand with all tensors of floats in the dtype.
  const Expr* Convert(const Expr* arg, DataType dtype) {
    const Expr* converted = ConvertItems(arg, Everywhere{dtype}, workspace(), [this](const Expr* item, Everywhere to) {
      return IsFloat(item->type) ? CastTo(item, to.dtype) : item;
    });
    return converted == arg ? arg : builder().NormalizeArgument(converted);
  }
  struct Everywhere {
    DataType dtype;
    Everywhere Field(uint32_t) const { return *this; }
  };

  // The value with the dtypes of a type of the same structure.
  const Expr* ConvertToType(const Expr* value, const Type* type) {
    return ConvertItems(value, Typed{type}, workspace(), [this](const Expr* item, Typed to) {
      const auto* tensor = As<TensorType>(to.type);
      if (!IsFloat(item->type) || !IsFloat(tensor) || To<TensorType>(item->type)->dtype == tensor->dtype) return item;
      return AsType(item, tensor->dtype);
    });
  }
  struct Typed {
    const Type* type;
    Typed Field(uint32_t index) const {
      const auto* tuple = As<TupleType>(type);
      return {tuple ? tuple->fields[index] : nullptr};
    }
  };

  const Expr* CastTo(const Expr* value, DataType dtype) {
    const DataType now = To<TensorType>(value->type)->dtype;
    if (now == dtype) return value;
    value = builder().NormalizeArgument(value);
    if (const auto found = converted_.find({value, dtype.ToString()}); found != converted_.end()) return found->second;
    const auto view = views_.find(value);
    const Expr* result = nullptr;
    if (view != views_.end()) {
      const Call& call = *view->second.call;
      const Expr* operand = CastTo(view->second.operand, dtype);
      result = builder().Emit(builder().MakeCall(To<Op>(call.op), {operand}, call.attrs));
    } else {
      result = builder().Emit(AsType(value, dtype));
    }
    converted_[{value, dtype.ToString()}] = result;
    converted_[{result, now.ToString()}] = value;
    return result;
  }

  const Expr* AsType(const Expr* value, DataType dtype) {
    return builder().MakeCall(GetOp(op::kAstype), {value},
                              MakeOpAttrs(op::kAstype, AstypeAttrs::Values{.dtype = dtype}));
  }

  const DataType lower_;
  const RelayUses& uses_;
  std::map<const Expr*, View> views_;                                     // new variables
  std::map<std::pair<const Expr*, std::string>, const Expr*> converted_;  // by value and dtype, in this block
};

// The functions that others call.
std::unordered_set<const GlobalVar*> CalledIn(const Module& module) {
  std::unordered_set<const GlobalVar*> called;
  for (const ModuleEntry& entry : module.functions()) {
    const auto callees = ComputeCalledFunctions(entry);
    called.insert(callees->begin(), callees->end());
  }
  return called;
}

}  // namespace

Pass MakeRelayMixedPrecision(const PassOptions& options, DataType lower) {
  return CreateFunctionPass(options.info(), [lower](const Module& module) -> FunctionPassFn {
    return [lower, called = CalledIn(module)](const Function* function,
                                              FunctionPassContext& context) -> Result<const Function*> {
      const bool keeps_results = called.contains(context.var()) ||
                                 context.context().Config(config::relay::ToMixedPrecision::keep_orig_output_dtype);
      const RelayUses uses(*function, keeps_results);
      OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
      RelayPrecision rewriter(lower, uses, context.workspace(), inferrer);
      const auto* result = To<Function>(rewriter.VisitExpr(function));
      if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
      if (result == function) return function;
      result = RemoveDeadBindings(result, &context.module(), context.workspace());
      return SortIfSorted(result, function, &context.module(), context.workspace());
    };
  });
}

}  // namespace iropt

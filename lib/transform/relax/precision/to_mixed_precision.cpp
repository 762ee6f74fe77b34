// ToMixedPrecision: runs convolutions, matrix products and attention in half precision.
//
//   def main(x, w, b):                              def main(x, w, b):
//     with R.dataflow():                              with R.dataflow():
//       y = R.nn.conv2d(x, w)                           lv = R.astype(x, "float16")
//       z = R.nn.softmax(R.add(y, b))                   lv1 = R.astype(w, "float16")
//       R.output(z)                        -->          lv2 = R.nn.conv2d(lv, lv1, out_dtype="float32")
//     return z                                          y = R.astype(lv2, "float16")
//                                                       lv3 = R.astype(y, "float32")
//                                                       z = R.nn.softmax(R.add(lv3, b))
//                                                       ...
//
// The operator table states for every operator (the column mixed precision) whether its operands are
//   - always float16. `out_dtype` is the dtype of the accumulator; the result is kept in float16;
//   - float16 if all of them are float16 already or constants that float16 can hold, else float32;
//   - of the same dtype as before.
// A float32 tensor that is used only by operators of the first kind is converted once, at its definition: parameters at
// the beginning of each dataflow block that uses them. Other uses convert their operands separately, which fuses better
// than a stored copy.
//
// Only dataflow blocks are rewritten, and their outputs keep their dtypes. Parameters in `fp16_input_names` that are
// float32 become float16, and calls of such functions, which must not be used as values, convert their arguments.
// Operands that are float64, of unknown dtype, or float16 in the input are not converted, so that a second run changes
// nothing. A call annotated with a type without a dtype may change its dtype; InferType before makes it known.
// O(nodes).
//
// With mixed_precision_type it does what Relay's pass of this name does, see relay_mixed_precision.cpp.
//
// Source: the rules are those of TVM 0.18's pass of this name; Micikevicius et al., Mixed Precision Training, 2018.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/precision_uses.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/number_format.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/registry.h"
#include "iropt/pass/skip.h"
#include "iropt/pass/statistic.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/ToMixedPrecision.h"
#include "relay_mixed_precision.h"
#include "transform/relax/util/missed_remarks.h"

namespace iropt {

namespace {

bool FitsHalf(const NDArray& array) {
  const DataType dtype = array.dtype();
  if (dtype == kHalf) return true;
  if (!dtype.is_int() && dtype != kSingle && dtype != DataType::Float(64)) return false;
  const double largest = GreatestOf(*FormatOfDType(kHalf));
  bool fits = false;
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    fits = std::ranges::none_of(array.As<T>(),
                                [&](T x) { return std::abs(static_cast<double>(Element<T>::Load(x))) > largest; });
  });
  return fits;
}

// The target dtypes of the tensors of an expression: one for all of them, ...
struct EverywhereDtype {
  DataType dtype;

  DataType Leaf(DataType) const { return dtype; }
  EverywhereDtype Field(uint32_t) const { return *this; }
};

// ... those of a type, if known, ...
struct DtypesOfType {
  const Type* type;

  DataType Leaf(DataType now) const {
    const auto* tensor = As<TensorType>(type);
    return tensor && !tensor->dtype.is_void() ? tensor->dtype : now;
  }
  DtypesOfType Field(uint32_t index) const {
    const auto* tuple = As<TupleType>(type);
    return {tuple ? tuple->fields[index] : nullptr};
  }
};

// ... or float16 if that is enough for all uses.
struct DtypesByUse {
  const PrecisionUses& uses;
  PrecisionUses::Place place;

  DataType Leaf(DataType now) const { return uses.Use(place) == PrecisionUse::kHalf ? kHalf : now; }
  DtypesByUse Field(uint32_t index) const { return {uses, uses.Field(place, index)}; }
};

constexpr Statistic kCasts("ToMixedPrecision", "inserted-casts", "conversions between float16 and float32");

class PrecisionRewriter : public ExprMutator {
 public:
  using Names = std::vector<std::string>;

  PrecisionRewriter(const PrecisionUses& uses, DataType out_dtype, const Names& half_params, const Module& module,
                    Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer),
        uses_(uses),
        out_dtype_(out_dtype),
        half_params_(half_params),
        module_(module),
        local_of_(workspace.num_vars(), -1) {}

  uint64_t casts() const { return casts_; }

  const Function* Run(const Function* function) {
    for (const Var* param : function->params) {
      if (const TensorType* type = HalfParamType(*param)) RemapToType(param, type);
    }
    return To<Function>(VisitExpr(function));
  }

 protected:
  // By default an expression gets its operands in their original dtypes.
  const Expr* VisitVar(const Var* var) override {
    const Expr* now = Now(var);
    const Type* before = TypeBefore(var);
    // A tuple with many fields, which is used by as many bindings, is looked at only if it changed.
    return now->type == before ? now : Convert(now, DtypesOfType{before});
  }

  // Dataflow variables of the block around a function are not visible in it.
  const Expr* VisitFunction(const Function* function) override {
    const int32_t outer = std::exchange(first_visible_, static_cast<int32_t>(local_.size()));
    const Expr* visited = ExprMutator::VisitFunction(function);
    first_visible_ = outer;
    return visited;
  }

  const Expr* VisitCall(const Call* call) override {
    const Function* callee = HalfCallee(*call);
    if (!callee) return ExprMutator::VisitCall(call);
    uint32_t i = 0;
    const List<const Expr*> args = MapList(call->args, workspace(), [&](const Expr* arg) {
      const Var* param = i < callee->params.size() ? callee->params[i] : nullptr;
      ++i;
      if (!param || !HalfParamType(*param)) return builder().NormalizeArgument(VisitExpr(arg));
      return builder().NormalizeArgument(Convert(builder().NormalizeArgument(Current(arg)), EverywhereDtype{kHalf}));
    });
    // The function in the module still has its old parameters, so the type is not inferred again.
    if (IsSameList(args, call->args)) return call;
    return NewLike<Call>(workspace(), *call, call->op, args, call->attrs, call->type_args, call->type);
  }

  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    if (!block->is_dataflow()) return ExprMutator::VisitBlock(block);
    entered_ = block;
    const size_t mark = local_.size();
    const BindingBlock* visited = ExprMutator::VisitBlock(block);
    entered_ = nullptr;
    for (; local_.size() > mark; local_.pop_back()) {
      const Local& local = local_.back();
      Remap(local.var, local.replaced);
      local_of_[local.var->id] = local.outer;
    }
    return visited;
  }

  void VisitBinding(const Binding* binding) override {
    if (const BindingBlock* block = std::exchange(entered_, nullptr)) {
      for (const Var* param : uses_.ParamsIn(block)) StoreHalf(param);
    }
    ExprMutator::VisitBinding(binding);
    if (builder().current_block_is_dataflow()) StoreHalf(binding->var);
  }

  void VisitMatchCast(const MatchCast* binding) override {
    const Expr* value = VisitExpr(binding->value);
    if (value != binding->value) value = builder().NormalizeArgument(value);
    ReEmitMatchCast(binding, value, binding->match_type);
  }

  void VisitVarBinding(const VarBinding* binding) override {
    if (!builder().current_block_is_dataflow()) return ExprMutator::VisitVarBinding(binding);
    const Type* type = binding->value->type;
    if (type && !TypeEqual(type, binding->var->type)) value_types_.try_emplace(binding->var, type);
    const Expr* value = builder().Normalize(NewValue(binding->value));
    if (!binding->var->is_dataflow()) {
      value = builder().Normalize(Convert(value, DtypesOfType{TypeBefore(binding->var)}));
    } else if (IsAlwaysHalf(binding->value)) {
      value = builder().Normalize(Convert(value, EverywhereDtype{kHalf}));
    }
    ReEmitBinding(binding, value);
  }

 private:
  // An output of a dataflow block that is replaced by a dataflow variable within the block.
  struct Local {
    const Var* var;
    const Expr* outside;   // its replacement where the dataflow variable is not visible
    const Expr* replaced;  // its previous replacement
    int32_t outer;         // index in local_ for the same variable in an enclosing block
  };

  // The original type of the variable's value: an annotation may be more general.
  const Type* TypeBefore(const Var* var) const {
    if (value_types_.empty()) return var->type;
    const auto* found = value_types_.Find(var);
    return found ? *found : var->type;
  }

  bool IsAlwaysHalf(const Expr* value) const {
    const auto* call = As<Call>(value);
    return call && PrecisionPolicy(*call, module_.version()) == MixedPrecision::kAlways;
  }

  // The value of a binding in a dataflow block, in its precision.
  const Expr* NewValue(const Expr* old) {
    switch (old->kind) {
      case NodeKind::kCall: {
        const auto& call = *static_cast<const Call*>(old);
        if (IsOp(call.op, op::kWrapParam)) return call.args[0];
        switch (PrecisionPolicy(call, module_.version())) {
          case MixedPrecision::kAlways: return AlwaysHalf(call);
          case MixedPrecision::kFollow: return FollowOperands(call);
          case MixedPrecision::kNever: return VisitExpr(old);
        }
        return old;
      }
      case NodeKind::kTuple: return Current(old);
      case NodeKind::kTupleGetItem: {
        const auto& item = *static_cast<const TupleGetItem*>(old);
        return Rebuild(item, Current(item.tuple));
      }
      default: return VisitExpr(old);
    }
  }

  const Expr* AlwaysHalf(const Call& old) {
    const List<const Expr*> args = MapList(old.args, workspace(), [this](const Expr* arg) {
      return Convert(builder().NormalizeArgument(Current(arg)), EverywhereDtype{kHalf});
    });
    const Attr* attrs = old.attrs;
    const OpInfo& info = *To<Op>(old.op)->info;
    if (const OpAttr* out_dtype = info.FindAttr("out_dtype")) {
      const auto field = static_cast<uint32_t>(out_dtype - info.attrs.data());
      attrs = To<ObjectAttr>(attrs)->With(field, DTypeAttr::Get(out_dtype_));
    }
    return Rebuild(old, old.op, args, attrs, old.type_args, old.type);
  }

  const Expr* FollowOperands(const Call& old) {
    List<const Expr*> args =
        MapList(old.args, workspace(), [this](const Expr* arg) { return builder().NormalizeArgument(Current(arg)); });
    // A conversion accepts any dtype, and a constant in its full precision.
    if (!IsOp(old.op, op::kAstype)) {
      const EverywhereDtype dtype{IsHalf(args) ? kHalf : kSingle};
      args = MapList(args, workspace(), [&](const Expr* arg) { return Convert(arg, dtype); });
    }
    return Rebuild(old, old.op, args);
  }

  // Returns whether operands need no more than float16.
  bool IsHalf(List<const Expr*> args) {
    const auto is_more = [this](const Expr* arg) {
      if (const auto* constant = As<Constant>(arg)) return !Fits(*constant);
      const auto* tensor = As<TensorType>(arg->type);
      return As<TupleType>(arg->type) || (tensor && tensor->dtype != kHalf);
    };
    return std::ranges::none_of(args, [&](const Expr* arg) { return AnyLeaf(arg, is_more); });
  }

  bool Fits(const Constant& constant) {
    const auto [found, is_new] = fits_.try_emplace(constant.data, false);
    if (is_new) found = FitsHalf(*constant.data);
    return found;
  }

  // The operand with its variables replaced by the current ones, of whatever dtype.
  const Expr* Current(const Expr* operand) {
    return MapLeaves(operand, rebuilder(), [this](const Expr* leaf) -> const Expr* {
      const auto* var = As<Var>(leaf);
      return var ? Now(var) : leaf;
    });
  }

  // The current replacement of the variable.
  const Expr* Now(const Var* var) const {
    const Expr* now = RemapOf(var);
    if (!now) return var;
    const int32_t local = local_of_[var->id];
    return local >= 0 && local < first_visible_ ? local_[static_cast<size_t>(local)].outside : now;
  }

  // A tensor that is used only as float16 is float16 from here on, in this block.
  void StoreHalf(const Var* var) {
    const Expr* now = Now(var);
    const Expr* half = Convert(now, DtypesByUse{uses_, uses_.Of(var)});
    if (half == now) return;
    if (!var->is_dataflow()) {
      local_.push_back({var, now, RemapOf(var), local_of_[var->id]});
      local_of_[var->id] = static_cast<int32_t>(local_.size()) - 1;
    }
    Remap(var, builder().Emit(half));
  }

  // The expression, which has a type, with its tensors converted to the dtypes of the target. Only float16 and float32
  // are converted; the same pointer if nothing is. The result must be normalized.
  template <class Target>
  const Expr* Convert(const Expr* expr, const Target& target) {
    return ConvertItems(expr, target, workspace(), [this](const Expr* item, const Target& dtypes) {
      const auto* tensor = As<TensorType>(item->type);
      if (!tensor || (tensor->dtype != kHalf && tensor->dtype != kSingle)) return item;
      const DataType to = dtypes.Leaf(tensor->dtype);
      return to == tensor->dtype ? item : AsType(item, to);
    });
  }

  const Expr* AsType(const Expr* expr, DataType dtype) {
    ++casts_;
    return builder().MakeCall(GetOp(op::kAstype), {expr},
                              MakeOpAttrs(op::kAstype, AstypeAttrs::Values{.dtype = dtype}));
  }

  // The called function, if it has parameters that become float16.
  const Function* HalfCallee(const Call& call) {
    const auto* callee = As<GlobalVar>(call.op);
    const ModuleEntry* entry = callee && !half_params_.empty() ? module_.Find(callee) : nullptr;
    const auto* function = entry ? As<Function>(entry->func) : nullptr;
    if (!function || !SkipsOptimization(*function).empty()) return nullptr;
    const auto is_half = [this](const Var* param) { return HalfParamType(*param) != nullptr; };
    return std::ranges::any_of(function->params, is_half) ? function : nullptr;
  }

  // The new type of the parameter if it becomes float16, else null.
  const TensorType* HalfParamType(const Var& param) {
    const auto* type = As<TensorType>(param.type);
    if (!type || type->dtype != kSingle || std::ranges::find(half_params_, param.name()) == half_params_.end())
      return nullptr;
    return type->With(workspace().arena(), kHalf, type->vdevice);
  }

  const PrecisionUses& uses_;
  const DataType out_dtype_;
  const Names& half_params_;
  const Module& module_;
  const BindingBlock* entered_ = nullptr;           // the dataflow block whose first binding comes next
  LookupMap<const Var*, const Type*> value_types_;  // if it is not that of the variable
  std::vector<Local> local_;
  std::vector<int32_t> local_of_;  // by Var::id: the last entry of local_ for the variable, or -1
  int32_t first_visible_ = 0;      // index in local_ for the current function
  LookupMap<const NDArray*, bool> fits_;
  uint64_t casts_ = 0;  // the number of inserted conversions
};

Result<const Function*> ToMixedPrecision(const Function* function, DataType out_dtype,
                                         const PrecisionRewriter::Names& half_params, const Module& module,
                                         Workspace& workspace, DiagnosticEngine& diagnostics) {
  const PrecisionUses uses(*function, workspace.num_vars(), module.version());
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  PrecisionRewriter rewriter(uses, out_dtype, half_params, module, workspace, inferrer);
  const Function* result = rewriter.Run(function);
  if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
  kCasts.Add(rewriter.casts());
  RemarkStayingCasts(*result);
  return result;
}

// Checks that each name is that of a parameter of some function. The first function of the module checks for all.
bool CheckNames(const Function* function, const PrecisionRewriter::Names& names, SourceSpan span,
                FunctionPassContext& context) {
  std::vector<std::string_view> known;
  const Function* first = nullptr;
  for (const ModuleEntry& entry : context.module().functions()) {
    const auto* other = As<Function>(entry.func);
    if (!other) continue;
    if (!first && SkipsOptimization(*other).empty()) first = other;
    for (const Var* param : other->params) known.push_back(param->name());
  }
  if (first != function) return true;
  bool ok = true;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    ReportUnknownName(fmt::format("no function has a parameter '{}'", name), name, known, "pass-failed", span,
                      context.diagnostics());
    ok = false;
  }
  return ok;
}

}  // namespace

Pass CreateToMixedPrecision(const PassOptions& options) {
  const pass_options::ToMixedPrecision given(options);
  if (const std::string& type = *given.mixed_precision_type; !type.empty()) {
    const std::optional<DataType> lower = DataType::Parse(type);
    if (lower && lower->is_floating()) return MakeRelayMixedPrecision(options, *lower);
    options.Refuse(given.mixed_precision_type, fmt::format("must be a dtype of floats, not '{}'", type));
  }
  return CreateFunctionPass(
      options.info(),
      [out_dtype = *given.out_dtype, half_params = *given.fp16_input_names, span = given.fp16_input_names.span()](
          const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        if (!half_params.empty() && !CheckNames(function, half_params, span, context))
          return Failure{ErrorCode::PassFailed};
        return ToMixedPrecision(function, out_dtype, half_params, context.module(), context.workspace(),
                                context.diagnostics());
      });
}

}  // namespace iropt

// SplitLayoutRewritePreproc: brings weights into the layout that a schedule chose for them in a PrimFunc of its own.
//
//   def f(X, W, Out):                                           def f_weight_prepack(W, W1): ...  # W1 = W
//       W1 = T.alloc_buffer((4, 4, 56, 56))                     def f_prepacked(X, W1, Out): ...  # reads X and W1
//       with T.block("W1"):
//           T.block_attr({"meta_schedule.layout_...": 1})  -->
//           W1[...] = W[...]
//       ...  # reads X and W1
//   lv = R.call_tir(cls.f, (x, w), out_sinfo=...)               lv = R.call_tir(cls.f_weight_prepack, (w,), ...)
//                                                               lv1 = R.call_tir(cls.f_prepacked, (x, lv), ...)
//
// LiftTransformParams can then move the first call out of the model. Functions in which the copies of the weights
// cannot be told from the rest stay. Dead code is removed. O(nodes).
//
// With `operators`, R.nn.pad, R.reshape and R.permute_dims bring a constant into a layout that splits, permutes and
// joins axes, with zeros after their ends, in place of a call of the first function: FoldConstant then computes it by
// kernels.
//
// Source: the pass of this name in TVM 0.19.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/SplitLayoutRewritePreproc.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "layout_preproc.h"
#include "transform/relax/lowering/relax_functions.h"

namespace iropt {

namespace {

// The functions that replace one, and which of its operands the first one takes.
struct SplitNames {
  const GlobalVar* prepare = nullptr;
  const GlobalVar* compute = nullptr;
  std::vector<uint32_t> params;
  std::vector<const Type*> types;
  std::vector<std::optional<AxisSplit>> splits;
};

class PreprocFunctions {
 public:
  explicit PreprocFunctions(ModuleBuilder& builder) : builder_(builder) {}

  // Null if the name is not that of a function that was split.
  const SplitNames* Find(const GlobalVar* name) {
    const auto [found, is_new] = by_name_.try_emplace(name);
    if (is_new) Split(name, found);
    return found.prepare ? &found : nullptr;
  }

 private:
  void Split(const GlobalVar* name, SplitNames& names) {
    const ModuleEntry* entry = builder_.module().Find(name);
    const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!func) return;
    Workspace prepare(builder_.module(), entry->storage);
    Workspace compute(builder_.module(), entry->storage);
    const std::optional<SplitPreproc> split = SplitLayoutPreproc(*func, prepare, compute);
    if (!split) return;
    const bool is_public = func->attrs->Find(attr::kGlobalSymbol) != nullptr;
    names.prepare = Add(split->prepare, prepare, fmt::format("{}_weight_prepack", name->name), is_public);
    names.compute = Add(split->compute, compute, fmt::format("{}_prepacked", name->name), is_public);
    names.params = split->params;
    names.types.assign(split->types.begin(), split->types.end());
    names.splits = split->splits;
  }

  const GlobalVar* Add(const PrimFunc* func, Workspace& workspace, const std::string& hint, bool is_public) {
    if (is_public) {
      auto* named = workspace.New<PrimFunc>(*func);
      named->attrs = func->attrs->With(attr::kGlobalSymbol, StrAttr::Get(builder_.module().UniqueName(hint)));
      func = named;
    }
    return builder_.AddFunction(func, workspace.Finish(), hint);
  }

  ModuleBuilder& builder_;
  LookupMap<const GlobalVar*, SplitNames> by_name_;
};

class PreprocCaller : public ExprMutator {
 public:
  PreprocCaller(PreprocFunctions& functions, bool operators, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), functions_(functions), operators_(operators) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const auto* name = IsOp(call->op, op::kCallTir) ? As<GlobalVar>(call->args[0]) : nullptr;
    const auto* args = name ? As<Tuple>(call->args[1]) : nullptr;
    const SplitNames* split = args ? functions_.Find(name) : nullptr;
    if (!split || split->params.back() >= args->fields.size()) return call;
    std::vector<const Expr*> operands(args->fields.begin(), args->fields.end());
    if (!PrepareByOperators(*call, *split, operands)) PrepareByCall(*call, *split, operands);
    std::vector<const Expr*> rest(call->args.begin() + 2, call->args.end());  // symbolic values
    return builder().Emit(CallTir(*call, split->compute, operands, call->type_args->fields[0], rest));
  }

 private:
  void PrepareByCall(const Call& call, const SplitNames& split, std::vector<const Expr*>& operands) {
    std::vector<const Expr*> weights;
    for (const uint32_t param : split.params) weights.push_back(operands[param]);
    const auto one = split.types.size() == 1;
    const Type* type = one ? split.types[0] : TupleType::Get(split.types);
    const Var* prepared = builder().Emit(CallTir(call, split.prepare, weights, type));
    for (size_t i = 0; i < split.params.size(); ++i) {
      operands[split.params[i]] =
          one ? static_cast<const Expr*>(prepared)
              : builder().Emit(workspace().New<TupleGetItem>(prepared, static_cast<int32_t>(i), nullptr));
    }
  }

  // False if a weight is not a constant, or gets a layout that the operators cannot make.
  bool PrepareByOperators(const Call& call, const SplitNames& split, std::vector<const Expr*>& operands) {
    const auto is_constant = [&](uint32_t param) { return Is<Constant>(operands[param]); };
    const auto has_split = [](const std::optional<AxisSplit>& axes) { return axes.has_value(); };
    if (!operators_ || !std::ranges::all_of(split.params, is_constant) || !std::ranges::all_of(split.splits, has_split))
      return false;
    for (size_t i = 0; i < split.params.size(); ++i) {
      const Expr*& operand = operands[split.params[i]];
      if (!split.splits[i]->zeros.empty()) operand = AppendZeros(call, operand, split.splits[i]->zeros);
      const Var* parts = Reshape(call, operand, split.splits[i]->shape);
      const PermuteDimsAttrs::Values order{.axes = split.splits[i]->order};
      operand = builder().Emit(CallOp(call, op::kPermuteDims, {parts}, MakeOpAttrs(op::kPermuteDims, order)));
      const std::vector<int64_t>& joined = split.splits[i]->joined;
      if (joined.size() < split.splits[i]->shape.size()) operand = Reshape(call, operand, joined);
    }
    return true;
  }

  const Var* Reshape(const Call& call, const Expr* operand, const std::vector<int64_t>& sizes) {
    std::vector<const PrimExpr*> dims;
    for (const int64_t size : sizes) dims.push_back(IRContext::Current().Int(size));
    const Expr* shape = NewLike<ShapeExpr>(workspace(), call, workspace().Copy(dims), ShapeType::Get(dims));
    return builder().Emit(CallOp(call, op::kReshape, {operand, shape}, nullptr));
  }

  const Var* AppendZeros(const Call& call, const Expr* weights, const std::vector<int64_t>& zeros) {
    std::vector<int64_t> widths;
    for (const int64_t count : zeros) widths.insert(widths.end(), {0, count});
    const DataType dtype = To<Constant>(weights)->data->dtype();
    const Scalar zero = dtype.is_floating() ? Scalar::Float(0, dtype) : Scalar::Int(0, dtype);
    const Expr* value = MakeConstant(MakeScalarTensor(zero), workspace());
    const Attr* attrs = MakeOpAttrs(op::kNnPad, PadAttrs::Values{.pad_width = widths});
    return builder().Emit(CallOp(call, op::kNnPad, {weights, value}, attrs));
  }

  const Call* CallOp(const Call& like, OpId op, const std::vector<const Expr*>& args, const Attr* attrs) {
    return NewLike<Call>(workspace(), like, GetOp(op), workspace().Copy(args), attrs, nullptr, nullptr);
  }

  const Call* CallTir(const Call& like, const GlobalVar* callee, const std::vector<const Expr*>& operands,
                      const Type* type, const std::vector<const Expr*>& rest = {}) {
    std::vector<const Expr*> args = {callee, workspace().New<Tuple>(workspace().Copy(operands), nullptr)};
    args.insert(args.end(), rest.begin(), rest.end());
    const Type* const types[] = {type};
    return NewLike<Call>(workspace(), like, like.op, workspace().Copy(args), like.attrs,
                         TupleType::Get(workspace().arena(), types), nullptr);
  }

  PreprocFunctions& functions_;
  const bool operators_;
};

Result<Module> SplitPreprocs(Module module, bool operators, ModulePassContext& context) {
  ModuleBuilder builder(std::move(module));
  PreprocFunctions functions(builder);
  const Result<bool> changed = UpdateRelaxFunctions(
      builder, context.diagnostics,
      [&](const ModuleEntry& entry, Workspace& workspace, TypeInferrer& inferrer) -> const Function* {
        PreprocCaller caller(functions, operators, workspace, inferrer);
        const auto* function = To<Function>(caller.VisitExpr(entry.func));
        return caller.failed() ? nullptr : function;
      });
  if (!changed.ok()) return changed.error();
  return DeadCodeElimination(builder.Finish(), {}, context.context.threads, context.diagnostics,
                             context.context.analyses());
}

}  // namespace

Pass CreateSplitLayoutRewritePreproc(const PassOptions& options) {
  return CreateModulePass(options.info(), [operators = *pass_options::SplitLayoutRewritePreproc(options).operators](
                                              Module module, ModulePassContext& context) {
    return SplitPreprocs(std::move(module), operators, context);
  });
}

}  // namespace iropt

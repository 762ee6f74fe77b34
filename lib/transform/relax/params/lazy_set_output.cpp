// LazySetOutput: passes results to a callback as soon as they are computed, so that they need not be in memory all at
// once.
//
//   def transform(w):                       def transform(w, fset_output):  # impure
//       a = R.exp(w)                            a = R.exp(w)
//       b = R.sqrt(w)                -->        fset_output(R.prim_value(0), a)
//       return (a, b)                           b = R.sqrt(w)
//                                               fset_output(R.prim_value(1), b)
//                                               return R.tuple()
//
// The callback is the last of the first num_input parameters; without the attribute it is the last of all. Results of a
// dataflow block are passed after the block, parameters at the beginning of the function, and results without a
// variable at the end. Changes public functions that do not have the callback yet. O(bindings).
//
// These are entry points of a program: a function of the module that refers to one of them is an error.
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "num_input.h"
#include "transform/relax/util/entry_points.h"

namespace iropt {

namespace {

const TupleType* VoidType() { return TupleType::Get({}); }

const Type* SetterType() {
  const Type* const params[] = {PrimType::Get(DataType::Int(64)), ObjectType::Get()};
  return FuncType::Get(params, VoidType(), /*purity=*/false);
}

class OutputSetter {
 public:
  OutputSetter(Workspace& workspace, TypeInferrer& inferrer)
      : workspace_(workspace),
        builder_(workspace, &inferrer),
        callback_(workspace.NewVar("fset_output", SetterType())) {}

  bool failed() const { return builder_.failed(); }

  const Function* Run(const Function& function, NumInput num_input) {
    const auto& body = *To<SeqExpr>(function.body);
    FindOutputs(body.body);
    std::vector<const BindingBlock*> blocks;
    builder_.BeginBindingBlock();
    for (const Var* param : function.params) Set(param);
    blocks.push_back(builder_.EndBlock());
    for (const BindingBlock* block : body.blocks) AppendBlock(*block, blocks);
    builder_.BeginBindingBlock();
    for (const auto& [index, value] : others_) Set(index, value);
    blocks.push_back(builder_.EndBlock());

    std::vector<const Var*> params(function.params.begin(), function.params.end());
    params.insert(params.begin() + num_input.value.value_or(function.params.size()), callback_);
    const DictAttr* attrs = function.attrs->Without(attr::kForcePure);
    if (num_input.value) attrs = attrs->With(attr::kNumInput, IntAttr::Get(*num_input.value + 1));
    const Expr* nothing = workspace_.New<Tuple>(List<const Expr*>(), VoidType());
    const Expr* new_body = builder_.Seq(blocks, nothing, body.span());
    auto* result = workspace_.New<Function>(workspace_.Copy(params), new_body, VoidType(), false, attrs, nullptr);
    result->set_span(function.span());
    result->type = builder_.inferrer()->Infer(result);
    return result;
  }

 private:
  void FindOutputs(const Expr* result) {
    const auto* tuple = As<Tuple>(result);
    const std::span<const Expr* const> fields = tuple ? tuple->fields.span() : std::span(&result, 1);
    for (size_t i = 0; i < fields.size(); ++i) {
      if (const auto* var = As<Var>(fields[i])) {
        indices_[var].push_back(static_cast<int64_t>(i));
      } else {
        others_.emplace_back(static_cast<int64_t>(i), fields[i]);
      }
    }
  }

  void AppendBlock(const BindingBlock& block, std::vector<const BindingBlock*>& blocks) {
    if (block.is_dataflow()) blocks.push_back(&block);
    builder_.BeginBindingBlock();
    for (const Binding* binding : block.bindings) {
      if (!block.is_dataflow()) builder_.EmitNormalized(binding);
      Set(binding->var);
    }
    blocks.push_back(builder_.EndBlock());
  }

  void Set(const Var* var) {
    const auto* indices = indices_.Find(var);
    if (!indices) return;
    for (const int64_t index : *indices) Set(index, var);
  }

  void Set(int64_t index, const Expr* value) {
    const auto* number = IRContext::Current().Int(index);
    builder_.Emit(builder_.MakeCall(callback_, {workspace_.New<PrimValue>(number, PrimType::Get(number)), value}),
                  "_void");
  }

  Workspace& workspace_;
  BlockBuilder builder_;
  const Var* callback_;
  LookupMap<const Var*, std::vector<int64_t>> indices_;  // of the results that are variables
  std::vector<std::pair<int64_t, const Expr*>> others_;
};

bool NeedsSetter(const Function& function, NumInput num_input) {
  const size_t count = num_input.value.value_or(function.params.size());
  const bool sets_already = count > 0 && !function.is_pure &&
                            TypeEqual(function.params[count - 1]->type, SetterType()) &&
                            TypeEqual(function.ret_type, VoidType());
  return function.attrs->Find(attr::kGlobalSymbol) && !sets_already;
}

Result<const Function*> LazySetOutput(const Function* function, FunctionPassContext& context) {
  const auto is_changed = [](const Function& callee) { return NeedsSetter(callee, NumInputOf(callee)); };
  if (RefersToChanged(*function, context, is_changed, {"results", "handed over"}))
    return Failure{ErrorCode::PassFailed};
  const NumInput num_input = ReadNumInput(*function, context.var()->name, context.diagnostics());
  if (num_input.is_wrong) return Failure{ErrorCode::PassFailed};
  if (!NeedsSetter(*function, num_input)) return function;
  OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
  OutputSetter setter(context.workspace(), inferrer);
  const Function* lazy = setter.Run(*function, num_input);
  if (setter.failed()) return Failure{ErrorCode::PassFailed};
  return lazy;
}

}  // namespace

Pass CreateLazySetOutput(const PassOptions& options) { return CreateFunctionPass(options.info(), &LazySetOutput); }

}  // namespace iropt

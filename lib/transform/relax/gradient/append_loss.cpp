// AppendLoss: adds a function that computes a model and then the loss of its predictions.
//
//   def backbone(x, w):                               def backbone_loss(x, w, targets):
//       with R.dataflow():                                with R.dataflow():
//           y = R.matmul(x, w)                                y = R.matmul(x, w)
//           R.output(y)                       -->             lv = R.subtract(y, targets)
//       return y                                              loss = R.sum(lv)
//   def loss(predictions, targets):                           R.output(loss)
//       with R.dataflow():                                return loss
//           lv = R.subtract(predictions, targets)
//           loss = R.sum(lv)
//           R.output(loss)
//       return loss
//
// The first num_backbone_outputs results of the model are the first arguments of the loss; the loss takes their place
// among the results. Both functions consist of one dataflow block. O(nodes).
//
// Source: TVM 0.18's pass of this name, which gets the loss from Python; here a function of the module is named.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "iropt/infer/call_binding.h"
#include "iropt/infer/substitute.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/structural.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/AppendLoss.h"
#include "transform/relax/util/missing_function.h"

namespace iropt {

namespace {

struct LossRequest {
  std::string function, loss, new_name;
  SourceSpan function_span, loss_span, new_name_span;
  size_t num_outputs;
};

// The variables that a function returns, one or a tuple of them; empty if it returns something else.
std::vector<const Var*> ResultsOf(const Function& function) {
  const Expr* result = To<SeqExpr>(function.body)->body;
  if (const auto* var = As<Var>(result)) return {var};
  std::vector<const Var*> results;
  const auto* tuple = As<Tuple>(result);
  for (uint32_t i = 0; tuple && i < tuple->fields.size(); ++i) {
    results.push_back(As<Var>(tuple->fields[i]));
    if (!results.back()) return {};
  }
  return results;
}

class LossAppender : public ExprMutator {
 public:
  LossAppender(const LossRequest& request, const Module& module, Workspace& workspace, TypeInferrer& inferrer,
               DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), request_(request), module_(module), diagnostics_(diagnostics) {}

  // Null after an error.
  const Function* Run(const Function& backbone, const Function& loss) {
    if (!CheckForm(backbone, request_.function) || !CheckForm(loss, request_.loss)) return nullptr;
    std::vector<const Var*> results = ResultsOf(backbone);
    if (results.size() < request_.num_outputs) return Fail(backbone, TooFew(request_.function, "results, variables,"));
    if (loss.params.size() < request_.num_outputs) return Fail(loss, TooFew(request_.loss, "parameters"));
    const Function* bound = BindPredictions(loss, std::span(results).first(request_.num_outputs));
    if (!bound) return nullptr;
    const std::vector<const Var*> losses = ResultsOf(*bound);
    if (losses.size() != 1 || !IsScalar(losses[0]->type))
      return Fail(loss, fmt::format("function '{}' must return one variable, a tensor of rank 0", request_.loss));

    const std::span<const Var* const> others = std::span(results).subspan(request_.num_outputs);
    for (const Var* result : std::span(results).first(request_.num_outputs)) {
      if (std::ranges::find(others, result) == others.end()) inner_.push_back(result);
    }
    builder().BeginDataflowBlock();
    for (const Function* function : {&backbone, bound}) {
      for (const Binding* binding : To<SeqExpr>(function->body)->blocks[0]->bindings) VisitBinding(binding);
    }
    const BindingBlock* block = builder().EndBlock();
    std::vector<const Expr*> fields = {VisitExpr(losses[0])};
    for (const Var* other : others) fields.push_back(VisitExpr(other));
    const Expr* result = fields.size() == 1 ? fields[0] : workspace().New<Tuple>(workspace().Copy(fields), nullptr);
    std::vector<const Var*> params(backbone.params.begin(), backbone.params.end());
    params.insert(params.end(), bound->params.begin(), bound->params.end());
    const DictAttr* attrs = backbone.attrs->With(attr::kGlobalSymbol, StrAttr::Get(request_.new_name));
    const SeqExpr* body = builder().Seq({block}, builder().NormalizeArgument(result));
    return builder().MakeFunction(std::span<const Var* const>(params), body, attrs, backbone.is_pure && loss.is_pure);
  }

 protected:
  // Predictions that are not results any more are visible in the block only.
  const Var* VisitVarDef(const Var* var) override {
    if (std::ranges::find(inner_, var) == inner_.end()) return ExprMutator::VisitVarDef(var);
    const Var* hidden = NewVarLike(workspace(), *var, /*is_dataflow=*/true, var->type);
    Remap(var, hidden);
    return hidden;
  }

 private:
  static bool IsScalar(const Type* type) {
    const auto* tensor = As<TensorType>(type);
    return tensor && tensor->ndim == 0;
  }

  std::string TooFew(std::string_view name, std::string_view what) const {
    return fmt::format("function '{}' has too few {} for num_backbone_outputs={}", name, what, request_.num_outputs);
  }

  std::nullptr_t Fail(const Function& function, std::string message) {
    diagnostics_.Error(Location(function), "pass-failed", std::move(message));
    return nullptr;
  }

  bool CheckForm(const Function& function, std::string_view name) {
    const auto* seq = As<SeqExpr>(function.body);
    if (seq && seq->blocks.size() == 1 && seq->blocks[0]->is_dataflow()) return true;
    Fail(function, fmt::format("function '{}' must be one dataflow block; ConvertToDataflow may make one", name));
    return false;
  }

  // The loss as a function of the other parameters; null after an error.
  const Function* BindPredictions(const Function& loss, std::span<const Var* const> predictions) {
    std::vector<const Type*> expected;
    std::vector<const Type*> given;
    std::vector<BoundParam> params;
    for (uint32_t i = 0; i < predictions.size(); ++i) {
      expected.push_back(loss.params[i]->type);
      given.push_back(predictions[i]->type);
      params.emplace_back(loss.params[i], predictions[i]);
    }
    const SymVarMap symbolic = BindSymVars(expected, given);
    for (uint32_t i = 0; i < predictions.size(); ++i) {
      const Type* type = SubstituteSymVars(expected[i], symbolic, &workspace().arena());
      if (IsBaseOf(type, given[i])) continue;
      return Fail(loss, fmt::format("parameter '{}' of function '{}' has type {}, but gets a prediction of type {}",
                                    loss.params[i]->name(), request_.loss, TypeToString(type), TypeToString(given[i])));
    }
    return Substitute(&loss, symbolic, params, &module_, workspace(), diagnostics_);
  }

  const LossRequest& request_;
  const Module& module_;
  DiagnosticEngine& diagnostics_;
  std::vector<const Var*> inner_;
};

const Function* FindFunction(const Module& module, const std::string& name, SourceSpan span,
                             DiagnosticEngine& diagnostics) {
  const ModuleEntry* entry = module.Find(name);
  const auto* function = entry ? As<Function>(entry->func) : nullptr;
  if (!function) diagnostics.Error(span, "pass-failed", DescribeMissingFunction(module, name));
  return function;
}

Result<Module> AppendLoss(Module module, const LossRequest& request, DiagnosticEngine& diagnostics) {
  const Function* backbone = FindFunction(module, request.function, request.function_span, diagnostics);
  const Function* loss = FindFunction(module, request.loss, request.loss_span, diagnostics);
  if (!backbone || !loss) return Failure{ErrorCode::PassFailed};
  Workspace workspace(module);
  const auto* backbone_copy = To<Function>(CloneFunction(backbone, workspace, {.fresh_sym_vars = true}));
  const auto* loss_copy = To<Function>(CloneFunction(loss, workspace, {.fresh_sym_vars = true}));
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  LossAppender appender(request, module, workspace, inferrer, diagnostics);
  const Function* combined = appender.Run(*backbone_copy, *loss_copy);
  if (!combined || appender.failed()) return Failure{ErrorCode::PassFailed};
  if (const ModuleEntry* taken = module.Find(request.new_name)) {
    if (StructuralEqual(taken->func, combined)) return module;
    diagnostics.Error(request.new_name_span, "pass-failed",
                      fmt::format("the module has a function '{}' already", request.new_name));
    return Failure{ErrorCode::PassFailed};
  }
  module.Set(GlobalVar::Get(request.new_name), combined, workspace.Finish());
  return module;
}

}  // namespace

Pass CreateAppendLoss(const PassOptions& options) {
  const pass_options::AppendLoss given(options);
  LossRequest request{.function = *given.func_name,
                      .loss = *given.loss_function,
                      .new_name = *given.new_func_name,
                      .function_span = given.func_name.span(),
                      .loss_span = given.loss_function.span(),
                      .new_name_span = given.new_func_name.span(),
                      .num_outputs = static_cast<size_t>(options.Count(given.num_backbone_outputs))};
  if (request.new_name.empty()) request.new_name = request.function + "_loss";
  return CreateModulePass(options.info(), [request](Module module, ModulePassContext& context) {
    return AppendLoss(std::move(module), request, context.diagnostics);
  });
}

}  // namespace iropt

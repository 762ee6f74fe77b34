// Gradient: adds the derivative of a function, by reverse-mode automatic differentiation.
//
//   def main(x, w):                         def main_adjoint(x, w):
//       with R.dataflow():                      with R.dataflow():
//           lv = R.multiply(x, w)                   lv = R.multiply(x, w)
//           gv = R.sum(lv)              -->         gv = R.sum(lv)
//           R.output(gv)                            gv_adjoint = R.ones(R.shape([]), dtype="float32")
//       return gv                                   lv_adjoint = R.broadcast_to(gv_adjoint, R.shape([3, 4]))
//                                                   x_adjoint_out = R.multiply(lv_adjoint, w)
//                                                   w_adjoint_out = R.multiply(lv_adjoint, x)
//                                                   R.output(gv, x_adjoint_out, w_adjoint_out)
//                                               return (gv, (x_adjoint_out, w_adjoint_out))
//
// The function must consist of one dataflow block. The target is its result, or the result of number target_index: a
// float scalar. `require_grads` names the variables whose gradients are computed; by default these are all parameters.
// The bindings between R.grad.start_checkpoint and R.grad.end_checkpoint are computed a second time by the gradient, so
// that their results need no memory. The gradient of R.call_tir_with_grad is the PrimFunc of the module that
// te_grad_name names. The operators that can be differentiated are in rules.def; others are errors where the target
// depends on them. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include "iropt/transform/options/Gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backward.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/structural.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "simplify_gradient.h"

namespace iropt {

namespace {

// The options of the pass.
struct GradientRequest {
  std::string function = {};
  SourceSpan function_span = {};
  std::optional<std::vector<std::pair<std::string, SourceSpan>>> require_grads = {};
  int64_t target_index = 0;
  SourceSpan target_span = {};
};

bool IsFloatTensor(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return tensor && tensor->dtype.code == TypeCode::kFloat;
}

bool IsFloatScalar(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return IsFloatTensor(type) && tensor->known && tensor->ndim == 0;
}

class Differentiator {
 public:
  Differentiator(const GradientRequest& request, Module module, DiagnosticEngine& diagnostics)
      : request_(request), module_(std::move(module)), diagnostics_(diagnostics) {}

  Result<Module> Run() {
    const Function* original = FindFunction();
    if (!original || !CheckForm(*original)) return Failure{ErrorCode::PassFailed};
    Workspace workspace(module_);
    const auto* function = To<Function>(CloneFunction(original, workspace, {.fresh_sym_vars = true}));
    const Function* adjoint = Differentiate(*function, workspace);
    if (!adjoint) return Failure{ErrorCode::PassFailed};
    AddFunction(*adjoint, workspace);
    return std::move(module_);
  }

 private:
  const Function* FindFunction() {
    const ModuleEntry* entry = module_.Find(request_.function);
    if (entry && Is<Function>(entry->func)) return To<Function>(entry->func);
    if (entry) {
      Fail(request_.function_span, fmt::format("'{}' is not a Relax function", request_.function));
      return nullptr;
    }
    std::vector<std::string_view> known;
    for (const ModuleEntry& other : module_.functions()) known.push_back(other.var->name);
    Fail(request_.function_span, fmt::format("the module has no function '{}'{}", request_.function,
                                             DidYouMeanOr("; it has ", request_.function, known)));
    return nullptr;
  }

  // One dataflow block, without match_casts.
  bool CheckForm(const Function& function) {
    const auto* seq = As<SeqExpr>(function.body);
    if (!seq || seq->blocks.size() != 1 || !seq->blocks[0]->is_dataflow()) {
      return Fail(Location(function),
                  fmt::format("cannot differentiate '{}': expected a body of one dataflow block; ConvertToDataflow may "
                              "make one",
                              request_.function));
    }
    for (const Binding* binding : seq->blocks[0]->bindings) {
      if (Is<MatchCast>(binding)) return Fail(Location(*binding), "cannot differentiate a function with a match_cast");
    }
    return true;
  }

  const Function* Differentiate(const Function& function, Workspace& workspace) {
    const auto* seq = To<SeqExpr>(function.body);
    const auto* block = To<DataflowBlock>(seq->blocks[0]);
    const Var* target = FindTarget(seq->body);
    std::vector<const Var*> sources;
    if (!target || !FindSources(function, *block, sources)) return nullptr;

    OpTypeInferrer inferrer(&module_, workspace.arena(), &diagnostics_);
    BlockBuilder builder(workspace, &inferrer);
    GradBuilder grad_builder(builder, diagnostics_);
    const Checkpoints checkpoints(function, *block, grad_builder);
    if (grad_builder.failed()) return nullptr;
    const Expr* body = MakeBody(function, checkpoints, target, sources, grad_builder);
    if (grad_builder.failed()) return nullptr;
    const Function* adjoint = builder.MakeFunction(function.params.span(), body, function.attrs, function.is_pure);
    adjoint = RemoveDeadBindings(adjoint, &module_, workspace);
    const Function* simple = SimplifyTransposedProducts(adjoint, workspace, inferrer);
    return simple == adjoint ? adjoint : RemoveDeadBindings(simple, &module_, workspace);
  }

  // The result that is differentiated.
  const Var* FindTarget(const Expr* result) {
    const Expr* target = result;
    const auto* tuple = As<Tuple>(result);
    const size_t count = tuple ? tuple->fields.size() : 1;
    if (request_.target_index < 0 || static_cast<size_t>(request_.target_index) >= count) {
      Fail(request_.target_span, fmt::format("invalid target_index {}: '{}' has {} result{}", request_.target_index,
                                             request_.function, count, count == 1 ? "" : "s"));
      return nullptr;
    }
    if (tuple) target = tuple->fields[static_cast<uint32_t>(request_.target_index)];
    const auto* var = As<Var>(target);
    if (var && IsFloatScalar(var->type)) return var;
    Fail(Location(*target),
         fmt::format("cannot differentiate a result of type {}: expected a float scalar, a tensor of "
                     "rank 0, that is a variable",
                     TypeToString(target->type)));
    return nullptr;
  }

  // The variables whose gradients are computed, each once.
  bool FindSources(const Function& function, const DataflowBlock& block, std::vector<const Var*>& sources) {
    if (!request_.require_grads) {
      sources.assign(function.params.begin(), function.params.end());
      return true;
    }
    LookupMap<std::string_view, const Var*> by_name;
    for (const Var* param : function.params) by_name.try_emplace(param->name(), param);
    for (const Binding* binding : block.bindings) by_name.try_emplace(binding->var->name(), binding->var);
    bool ok = true;
    for (const auto& [name, span] : *request_.require_grads) {
      const auto* found = by_name.Find(name);
      if (!found) {
        ok = Fail(span, fmt::format("'{}' has no variable '{}'", request_.function, name));
      } else if (std::ranges::find(sources, *found) != sources.end()) {
        ok = Fail(span, fmt::format("variable '{}' is required twice", name));
      } else if (!AllLeaves((*found)->type, &IsFloatTensor)) {
        ok = Fail(span, fmt::format("variable '{}' of type {} has no gradient: expected a float tensor or a tuple of "
                                    "such",
                                    name, TypeToString((*found)->type)));
      } else {
        sources.push_back(*found);
      }
    }
    return ok;
  }

  // The bindings of the function, then those of the adjoints. The result is (result, gradients).
  const Expr* MakeBody(const Function& function, const Checkpoints& checkpoints, const Var* target,
                       std::span<const Var* const> sources, GradBuilder& grad_builder) {
    BlockBuilder& builder = grad_builder.block();
    Workspace& workspace = grad_builder.workspace();
    Rebuilder rebuilder(workspace, nullptr, Retype::kNever);
    builder.BeginDataflowBlock();
    for (const VarBinding* binding : checkpoints.bindings()) {
      const auto* call = As<Call>(binding->value);
      const Expr* value = call ? WithoutGradient(*call, workspace) : binding->value;
      builder.EmitNormalized(rebuilder.Rebuild(*binding, binding->var, value));
    }
    BackwardPass backward(function, checkpoints, module_, grad_builder);
    backward.Run(checkpoints.Resolve(target));
    std::vector<const Expr*> gradients;
    for (const Var* source : sources) {
      if (!grad_builder.failed()) gradients.push_back(backward.EmitOutput(source));
    }
    const BindingBlock* block = builder.EndBlock();
    if (grad_builder.failed()) return nullptr;
    const Expr* result = MapLeaves(To<SeqExpr>(function.body)->body, rebuilder, [&](const Expr* leaf) -> const Expr* {
      const auto* var = As<Var>(leaf);
      return var ? checkpoints.Resolve(var) : leaf;
    });
    const Expr* fields[] = {result, workspace.New<Tuple>(workspace.Copy(gradients), nullptr)};
    const Expr* both = workspace.New<Tuple>(workspace.Copy(std::span<const Expr* const>(fields)), nullptr);
    return builder.Seq({block}, builder.NormalizeArgument(both));
  }

  // Adds the function under its name and a number if that is taken, unless an equal one has the name. The name is its
  // global symbol.
  void AddFunction(const Function& adjoint, Workspace& workspace) {
    const std::string base = request_.function + "_adjoint";
    std::string name = base;
    for (int i = 1;; ++i) {
      const DictAttr* attrs = adjoint.attrs->With(attr::kGlobalSymbol, StrAttr::Get(name));
      const auto* named = NewLike<Function>(workspace, adjoint, adjoint.params, adjoint.body, adjoint.ret_type,
                                            adjoint.is_pure, attrs, adjoint.type);
      const ModuleEntry* entry = module_.Find(name);
      if (!entry) return module_.Set(GlobalVar::Get(name), named, workspace.Finish());
      if (StructuralEqual(entry->func, named)) return;
      name = fmt::format("{}{}", base, i);
    }
  }

  bool Fail(SourceSpan span, std::string message) {
    diagnostics_.Error(span, "pass-failed", std::move(message));
    return false;
  }

  const GradientRequest& request_;
  Module module_;
  DiagnosticEngine& diagnostics_;
};

// The names of `require_grads`: a name, a list of names, or null for all parameters.
void ReadSources(const PassOptions& options, GradientRequest& request) {
  const pass_options::Gradient given(options);
  const OptionValue& value = *given.require_grads;
  if (value.is_null()) return;
  request.require_grads.emplace();
  if (value.as_string())
    return static_cast<void>(request.require_grads->emplace_back(*value.as_string(), value.span()));
  const OptionValue::List* list = value.as_list();
  const auto is_text = [](const OptionValue& item) { return item.as_string() != nullptr; };
  if (!list || !std::ranges::all_of(*list, is_text))
    return options.Refuse(given.require_grads, "must be the name of a variable, or a list of names");
  for (const OptionValue& item : *list) request.require_grads->emplace_back(*item.as_string(), item.span());
}

}  // namespace

Pass CreateGradient(const PassOptions& options) {
  const pass_options::Gradient given(options);
  GradientRequest request{.function = *given.func_name,
                          .function_span = given.func_name.span(),
                          .require_grads = std::nullopt,
                          .target_index = *given.target_index,
                          .target_span = given.target_index.span()};
  ReadSources(options, request);
  return CreateModulePass(options.info(), [request = std::move(request)](Module module, ModulePassContext& context) {
    return Differentiator(request, std::move(module), context.diagnostics).Run();
  });
}

}  // namespace iropt

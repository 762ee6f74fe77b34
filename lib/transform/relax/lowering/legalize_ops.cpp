// LegalizeOps: replaces the calls of operators by calls of PrimFuncs, or of packed functions.
//
//   lv = R.add(x, y)                -->    lv = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((2, 3), "float32"))
//                                          def add(x, y, T_add): for ...: T_add[...] = x[...] + y[...]
//
// Structurally equal PrimFuncs are added once, and made once if the calls show that they are equal. An operator stays
// if the shapes of its operands and of its result are not known, or if it has no legalization
// (lib/legalize/legalizations.def says why). A PrimFunc for tensors of a virtual device gets the device's target.
//
// O(nodes of the function and of the new PrimFuncs), plus the simplification of these. Source: TVM 0.18's pass of this
// name.
#include "iropt/transform/relax/lowering/legalize_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "configs/relax.transform.apply_legalize_ops.h"
#include "custom_legalizations.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/transform/options/LegalizeOps.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "legalized_calls.h"
#include "relax_functions.h"
#include "returned_calls.h"
#include "transform/relax/util/name_hints.h"
#include "transform/relax/util/network_mode.h"
#include "transform/relax/util/operator_name.h"

namespace iropt {

namespace {

// The name of a function has no type of its own.
bool KnowsShapes(const Type* type) {
  return type && AllLeaves(type, [](const Type* leaf) {
           if (const auto* tensor = As<TensorType>(leaf)) return tensor->known;
           if (const auto* shape = As<ShapeType>(leaf)) return shape->known;
           return Is<PrimType>(leaf);
         });
}

// A data-dependent operator computes its shape itself.
bool HasKnownShapes(const Call& call, const OpInfo& op) {
  const bool known =
      std::all_of(call.args.begin(), call.args.end(), [](const Expr* arg) { return KnowsShapes(arg->type); });
  return known && (op.name.find("dynamic") != std::string_view::npos || KnowsShapes(call.type));
}

// An operand of unknown dtype has no buffer.
bool HasKnownDTypes(const Call& call) {
  return std::all_of(call.args.begin(), call.args.end(), [](const Expr* arg) {
    return !arg->type || AllLeaves(arg->type, [](const Type* leaf) {
      const auto* tensor = As<TensorType>(leaf);
      return !tensor || !tensor->dtype.is_void();
    });
  });
}

// The target of the first tensor on a virtual device; null if there is none.
const DictAttr* TargetOf(const Type* type) {
  if (const auto* tensor = As<TensorType>(type)) return tensor->vdevice ? tensor->vdevice->target : nullptr;
  const auto* tuple = As<TupleType>(type);
  for (uint32_t i = 0; tuple && i < tuple->fields.size(); ++i) {
    if (const DictAttr* target = WithStack([&] { return TargetOf(tuple->fields[i]); })) return target;
  }
  return nullptr;
}

const Attr* KindOf(const DictAttr* target) { return target ? target->Find("kind") : nullptr; }

class Legalizer : public ExprMutator {
 public:
  Legalizer(Workspace& workspace, TypeInferrer& inferrer, ModuleBuilder& module, const LegalizeOptions& options,
            DiagnosticEngine& diagnostics, std::unordered_set<const Call*> inference_calls,
            std::unordered_set<const Call*> returned_calls)
      : ExprMutator(workspace, &inferrer),
        module_(module),
        options_(options),
        diagnostics_(diagnostics),
        inference_calls_(std::move(inference_calls)),
        returned_calls_(std::move(returned_calls)) {}

  bool has_errors() const { return has_errors_ || failed(); }
  bool made_targets() const { return made_targets_; }

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    is_inference_ = inference_calls_.contains(old);
    is_returned_ = returned_calls_.contains(old);
    if (!Is<Op>(call->op) || has_errors()) return call;
    if (!call->type) call = To<Call>(builder().Normalize(call));
    const size_t before = builder().in_block() ? builder().current_bindings().size() : 0;
    const Expr* result = LegalizeFully(*call);
    if (result != call) Place(result, old->span(), before);
    return result;
  }

  const Var* VisitVarDef(const Var* var) override {
    hints_.Add(*var);
    return ExprMutator::VisitVarDef(var);
  }

  // The type of the body replaces the declared one also if it now says less than the declared type that it said before,
  // as the size of a result may turn out to depend on the data.
  const Expr* VisitFunction(const Function* old) override {
    const auto* function = To<Function>(ExprMutator::VisitFunction(old));
    if (function == old || failed()) return function;
    TypeInferrer& inferrer = *builder().inferrer();
    const Type* returned = inferrer.ReturnType(function->params, function->body->type);
    if (TypeEqual(returned, function->ret_type)) return function;
    if (!inferrer.IsBaseOf(old->ret_type, inferrer.ReturnType(old->params, old->body->type)) ||
        !inferrer.IsBaseOf(returned, function->ret_type))
      return function;
    return NewLike<Function>(workspace(), *old, function->params, function->body, returned, function->is_pure,
                             function->attrs, nullptr);
  }

 private:
  // A legalization may consist of operators that are legalized in turn.
  const Expr* LegalizeFully(const Call& given) {
    const Call* call = &given;
    while (true) {
      const Expr* result = Legalize(*call);
      const auto* next = As<Call>(result);
      if (result == call || !next || !Is<Op>(next->op) || failed()) return result;
      call = next;
    }
  }

  // What a legalization has made comes from where the call does: the result, and the bindings from a number on.
  void Place(const Expr* result, Span span, size_t first) {
    const auto place = [&](const Node* node) {
      if (!node->span().known()) const_cast<Node*>(node)->set_span(span);
    };
    if (Is<Call>(result)) place(result);
    if (!builder().in_block()) return;
    const std::vector<const Binding*>& bindings = builder().current_bindings();
    for (size_t i = first; i < bindings.size(); ++i) {
      place(bindings[i]);
      if (const auto* made = As<Call>(ValueOf(bindings[i]))) place(made);
    }
  }

  // The expression that replaces the call, with a type; the call itself if it stays.
  const Expr* Legalize(const Call& call) {
    const OpInfo& op = *To<Op>(call.op)->info;
    if (std::ranges::find(options_.skip_ops, op.id) != options_.skip_ops.end()) return &call;
    const Legalization row = LegalizationOf(op);
    const auto custom = options_.customize.find(op.name);
    const bool is_custom = custom != options_.customize.end();
    const bool has_shapes = (!is_custom && !row.needs_shapes) || HasKnownShapes(call, op);
    const Expr* result = &call;
    if ((is_custom || row.legalize) && has_shapes) {
      // A customized legalization may look at anything, and one that cuts rows does at what needs them.
      const bool looks_around = is_custom || is_inference_ || row.counts_rows;
      auto signature = looks_around ? std::nullopt : LegalizedCalls::SignatureOf(call);
      if (const Call* known = signature ? legalized_.Find(*signature, workspace()) : nullptr)
        return WrapPure(op, builder().Normalize(known));
      const auto hint_of = [this](const Var& var) { return hints_.Of(var); };
      LegalizeCall context(call, builder(), module_, &diagnostics_, hint_of);
      context.set_inference(is_inference_);
      context.set_may_trim(is_returned_);
      if (is_custom) {
        result = custom->second(context);
      } else {
        const bool lacks_dtype = row.needs_shapes && !HasKnownDTypes(call);
        result = lacks_dtype ? context.Error("the dtypes of its operands must be known") : row.legalize(context);
      }
      has_errors_ |= result == nullptr;
      if (result == nullptr) return &call;
      const bool stays = result == &call;
      if (stays && !op.packed.empty()) result = CallPacked(call, op);
      if (result == &call) Miss(call, op, context.reason());
      if (!stays) result = BindTarget(result);
      const auto* made = As<Call>(result);
      if (signature && made && !stays) legalized_.Add(*std::move(signature), *made);
    } else if (!op.packed.empty()) {
      result = CallPacked(call, op);
    } else {
      const bool lacks_shapes = row.legalize || is_custom;
      Miss(call, op, lacks_shapes ? "shapes of its operands or result are not known" : row.reason);
    }
    if (result == &call) return &call;
    return WrapPure(op, builder().Normalize(result));
  }

  // Operators that call functions have no reason, because nobody expects that they are legalized.
  void Miss(const Call& call, const OpInfo& op, std::string_view reason) {
    if (reason.empty()) return;
    const std::string message = fmt::format("{} stays: {}", op.script, reason);
    if (options_.enable_warning) diagnostics_.Warning(Location(call), "not-legalized", message);
    if (WantsRemarks()) RemarkMissed(diagnostics_, "not-legalized", Location(call), message);
  }

  const Expr* CallPacked(const Call& call, const OpInfo& op) {
    const Expr* packed = workspace().New<ExternFunc>(op.packed, DictAttr::Empty(), PackedFuncType());
    const Type* const types[] = {call.type};
    return workspace().New<Call>(packed, call.args, nullptr, TupleType::Get(workspace().arena(), types), nullptr);
  }

  // A call that counts as impure, though the operator is pure, is wrapped.
  const Expr* WrapPure(const OpInfo& op, const Expr* result) {
    const auto* call = As<Call>(result);
    if (!call || !op.pure || !IsImpureCall(call, &module_.module())) return result;
    std::vector<const Expr*> args = {call->op};
    args.insert(args.end(), call->args.begin(), call->args.end());
    const TupleType* types = call->type_args;
    if (!types) {
      const Type* const own[] = {call->type};
      types = TupleType::Get(workspace().arena(), own);
    }
    return builder().MakeCall(GetOp(op::kCallPurePacked), args, call->attrs, types);
  }

  // The call of the function for the device of its result.
  const Expr* BindTarget(const Expr* result) {
    const auto* call = As<Call>(result);
    const DictAttr* target = call && call->type_args ? TargetOf(call->type_args) : nullptr;
    const auto* callee = target && !call->args.empty() ? As<GlobalVar>(call->args[0]) : nullptr;
    const ModuleEntry* entry = callee ? module_.module().Find(callee) : nullptr;
    const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!func) return result;
    const auto* own = As<TargetAttr>(func->attrs->Find(attr::kTarget));
    const auto* kind = As<StrAttr>(KindOf(target));
    if (!kind || (own && KindOf(own->config) == kind)) return result;
    Workspace copy(module_.module());
    auto* bound = copy.New<PrimFunc>(*To<PrimFunc>(CloneFunction(func, copy)));
    bound->attrs = bound->attrs->With(attr::kTarget, TargetAttr::Get(target));
    const std::string name = fmt::format("{}_{}", callee->name, kind->value);
    std::vector<const Expr*> args(call->args.begin(), call->args.end());
    args[0] = module_.AddFunction(bound, copy.Finish(), name);
    made_targets_ = true;
    return workspace().New<Call>(call->op, workspace().Copy(args), call->attrs, call->type_args, nullptr);
  }

  ModuleBuilder& module_;
  const LegalizeOptions& options_;
  DiagnosticEngine& diagnostics_;
  bool has_errors_ = false;
  bool made_targets_ = false;
  const std::unordered_set<const Call*> inference_calls_;
  const std::unordered_set<const Call*> returned_calls_;
  bool is_inference_ = false;  // the call that is legalized is one of them
  bool is_returned_ = false;
  NameHints hints_;
  LegalizedCalls legalized_;
};

}  // namespace

Result<Module> LegalizeOps(Module module, const LegalizeOptions& options, DiagnosticEngine& diagnostics,
                           AnalysisManager& analyses) {
  ModuleBuilder builder(std::move(module));
  bool made_targets = false;
  for (const GlobalVar* name : RelaxFunctions(builder.module())) {
    const ModuleEntry entry = *builder.module().Find(name);
    Workspace workspace(builder.module(), entry.storage);
    OpTypeInferrer inferrer(&builder.module(), workspace.arena(), &diagnostics);
    Legalizer legalizer(workspace, inferrer, builder, options, diagnostics,
                        FindInferenceCalls(*To<Function>(entry.func), options.mode),
                        FindReturnedCalls(builder.module(), *name, *To<Function>(entry.func)));
    const auto* function = To<Function>(legalizer.VisitExpr(entry.func));
    if (legalizer.has_errors()) return Failure{ErrorCode::PassFailed};
    made_targets |= legalizer.made_targets();
    if (function != entry.func) builder.UpdateFunction(name, function, workspace.Finish());
  }
  Module result = builder.Finish();
  // Functions without a target, of which only the copies for devices are called, are removed.
  if (!made_targets) return result;
  return DeadCodeElimination(std::move(result), {}, 1, diagnostics, analyses);
}

Pass CreateLegalizeOps(const PassOptions& options) {
  LegalizeOptions legalize;
  const pass_options::LegalizeOps given(options);
  legalize.enable_warning = *given.enable_warning;
  legalize.skip_ops = OperatorsOf(options, given.skip_ops);
  ReadCustomLegalizations(options, legalize);
  const auto run = [legalize](Module module, ModulePassContext& context) -> Result<Module> {
    if (!context.context.Config(config::relax::transform::apply_legalize_ops)) return module;
    LegalizeOptions own = legalize;
    own.mode = NetworkModeOf(context.context);
    return LegalizeOps(std::move(module), own, context.diagnostics, context.context.analyses());
  };
  return CreateModulePass(options.info(), run);
}

}  // namespace iropt

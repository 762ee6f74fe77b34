#include "iropt/analysis/relax/inference_calls.h"

#include <algorithm>

#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/dropout.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// The operand after the data: gamma, then beta and the moving mean and variance.
constexpr uint32_t kFirstParameter = 1;

class InferenceCallFinder : public WalkHandler {
 public:
  InferenceCallFinder(NetworkMode mode, std::span<const Var* const> constants)
      : mode_(mode), constants_(constants.begin(), constants.end()) {}

  std::unordered_set<const Call*> Take() { return std::move(found_); }

  void OnBinding(const Binding& binding) {
    const Expr* value = nullptr;
    if (const auto* bound = As<VarBinding>(&binding)) value = bound->value;
    if (const auto* cast = As<MatchCast>(&binding)) value = cast->value;
    if (mode_ == NetworkMode::Auto && value && IsConstant(value)) constants_.insert(binding.var);
  }
  void OnCall(const Call& call) {
    if (IsOp(call.op, op::kNnDropout) && mode_ == NetworkMode::Inference) found_.insert(&call);
    if (IsOp(call.op, op::kNnBatchNorm) && (mode_ == NetworkMode::Inference || HasConstantParameters(call)))
      found_.insert(&call);
  }

 private:
  bool HasConstantParameters(const Call& call) {
    const auto parameters = call.args.span().subspan(std::min(kFirstParameter, call.args.size()));
    return std::ranges::all_of(parameters, [this](const Expr* e) { return IsConstant(e); });
  }

  bool IsConstant(const Expr* e) {
    const auto are_constant = [this](const List<const Expr*>& exprs) {
      return std::ranges::all_of(exprs.span(),
                                 [this](const Expr* part) { return WithStack([&] { return IsConstant(part); }); });
    };
    switch (e->kind) {
      case NodeKind::kVar:
      case NodeKind::kDataflowVar: return constants_.contains(static_cast<const Var*>(e));
      case NodeKind::kConstant:
      case NodeKind::kGlobalVar:
      case NodeKind::kStringImm:
      case NodeKind::kDataTypeImm: return true;
      case NodeKind::kPrimValue: return IsNumber(static_cast<const PrimValue*>(e)->value);
      case NodeKind::kShapeExpr: return std::ranges::all_of(static_cast<const ShapeExpr*>(e)->values.span(), IsNumber);
      case NodeKind::kTuple: return are_constant(static_cast<const Tuple*>(e)->fields);
      case NodeKind::kTupleGetItem: {
        const Expr* tuple = static_cast<const TupleGetItem*>(e)->tuple;
        return WithStack([&] { return IsConstant(tuple); });
      }
      case NodeKind::kCall: {
        const auto* call = static_cast<const Call*>(e);
        const auto* op = As<Op>(call->op);
        return op && op->info->pure && op->id != op::kNnDropout && are_constant(call->args);
      }
      default: return false;
    }
  }
  static bool IsNumber(const PrimExpr* e) { return Is<tir::IntImm>(e) || Is<tir::FloatImm>(e); }

  NetworkMode mode_;
  LookupSet<const Var*> constants_;
  std::unordered_set<const Call*> found_;
};

}  // namespace

NetworkMode NetworkModeOf(std::string_view word) {
  if (word == "training") return NetworkMode::Training;
  return word == "inference" ? NetworkMode::Inference : NetworkMode::Auto;
}

std::unordered_set<const Call*> FindInferenceCalls(const Function& function, NetworkMode mode,
                                                   std::span<const Var* const> constant_params) {
  if (mode == NetworkMode::Training) return {};
  InferenceCallFinder finder(mode, constant_params);
  Walk(function, finder);
  return finder.Take();
}

}  // namespace iropt

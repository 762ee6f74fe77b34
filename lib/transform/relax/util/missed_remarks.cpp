#include "missed_remarks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/precision_uses.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/pass/remark.h"
#include "iropt/support/lookup.h"
#include "transform/relax/params/num_input.h"
#include "transform/relax/simplify/constant_evaluator.h"

namespace iropt {

namespace {

// Names of parameters, in the order in which they are needed.
using ParamNames = std::vector<std::string_view>;

std::string DescribeParams(const ParamNames& names) {
  constexpr size_t kMost = 3;
  const ParamNames shown(names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(kMost, names.size())));
  return fmt::format("parameter{} '{}'{}", names.size() == 1 ? "" : "s", fmt::join(shown, "', '"),
                     names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : "");
}

// Without num_input, the first parameter is taken as data.
std::span<const Var* const> WeightsOf(const Function& function) {
  const size_t first = NumInputOf(function).value.value_or(1);
  return function.params.span().subspan(std::min<size_t>(first, function.params.size()));
}

class UnboundParams : public WalkHandler {
 public:
  explicit UnboundParams(const Function& function) {
    for (const Var* weight : WeightsOf(function)) known_.try_emplace(weight, ParamNames{weight->name()});
  }

  void EnterBlock(const BindingBlock& block) {
    if (!block.is_dataflow()) return;
    for (const Binding* binding : block.bindings) {
      std::optional<ParamNames> needs =
          binding->kind == NodeKind::kVarBinding ? NeedsOf(ValueOf(binding)) : std::nullopt;
      if (!needs) continue;
      if (const auto* call = As<Call>(ValueOf(binding)); call && !needs->empty()) {
        RemarkMissed("unbound-parameter", Location(*call),
                     fmt::format("the call of {} would be folded if {} were bound, see BindParams", CalleeName(*call),
                                 DescribeParams(*needs)));
      }
      known_.try_emplace(binding->var, *std::move(needs));
    }
  }

 private:
  // The parameters that must be bound so that the value is known; nothing if that is not enough.
  std::optional<ParamNames> NeedsOf(const Expr* value) const {
    if (const auto* item = As<TupleGetItem>(value)) return NeedsOf(item->tuple);
    const auto* call = As<Call>(value);
    if (!call) return NeedsOfOperands(std::span(&value, 1));
    const auto* op = As<Op>(call->op);
    if (!op) return std::nullopt;
    if (op->id == op::kCallTir) return NeedsOfOperands(call->args.span().subspan(1));
    return ConstantEvaluator::IsFoldable(*op->info) ? NeedsOfOperands(call->args.span()) : std::nullopt;
  }

  std::optional<ParamNames> NeedsOfOperands(std::span<const Expr* const> operands) const {
    ParamNames needs;
    bool ok = true;
    for (const Expr* operand : operands) {
      ok &= !AnyLeaf(operand, [&](const Expr* leaf) {
        const auto* var = As<Var>(leaf);
        if (!var) return !IsKnownLeaf(leaf);
        const auto* known = known_.Find(var);
        if (!known) return true;
        for (const std::string_view name : *known) {
          if (std::ranges::find(needs, name) == needs.end()) needs.push_back(name);
        }
        return false;
      });
    }
    if (!ok) return std::nullopt;
    return needs;
  }

  static bool IsKnownLeaf(const Expr* leaf) {
    if (const auto* scalar = As<PrimValue>(leaf)) return !scalar->value->has_sym_var();
    if (const auto* shape = As<ShapeExpr>(leaf))
      return std::ranges::none_of(shape->values, [](const PrimExpr* dim) { return dim->has_sym_var(); });
    return Is<Constant>(leaf) || Is<StringImm>(leaf) || Is<DataTypeImm>(leaf);
  }

  LookupMap<const Var*, ParamNames> known_;  // if the parameters are bound
};

struct CastCollector : WalkHandler {
  void OnBinding(const Binding& binding) {
    const auto* call = As<Call>(ValueOf(&binding));
    if (call && IsOp(call->op, op::kAstype)) casts.emplace_back(binding.var, call);
  }
  void OnCall(const Call& call) {
    for (const Expr* arg : call.args) {
      if (const auto* var = As<Var>(arg)) users.try_emplace(var, &call);
    }
  }

  std::vector<std::pair<const Var*, const Call*>> casts;
  LookupMap<const Var*, const Call*> users;  // the first one of each variable
};

DataType DTypeOfValue(const Expr* e) {
  const auto* tensor = e->type ? As<TensorType>(e->type) : nullptr;
  return tensor ? tensor->dtype : DataType::Void();
}

struct BatchNormCollector : WalkHandler {
  bool EnterFunction(const Function& function) {
    params.insert(function.params.begin(), function.params.end());
    return true;
  }
  void OnCall(const Call& call) {
    if (!IsOp(call.op, op::kNnBatchNorm)) return;
    for (const Expr* operand : call.args.span().subspan(1)) {
      const auto* var = As<Var>(operand);
      if (!var || !params.contains(var)) continue;
      found.emplace_back(&call, var);
      return;
    }
  }

  std::unordered_set<const Var*> params;                  // of the function and its local functions
  std::vector<std::pair<const Call*, const Var*>> found;  // with a parameter that keeps it
};

}  // namespace

void RemarkUnboundParams(const Function& function) {
  if (!WantsRemarks()) return;
  UnboundParams handler(function);
  Walk(function, handler);
}

void RemarkStayingCasts(const Function& function) {
  if (!WantsRemarks()) return;
  CastCollector collector;
  Walk(function, collector);
  const std::span<const Var* const> weights = WeightsOf(function);
  for (const auto& [var, cast] : collector.casts) {
    const Expr* operand = cast->args[0];
    const DataType from = DTypeOfValue(operand);
    const DataType to = DTypeOfValue(cast);
    if (from == kSingle && to == kHalf && std::ranges::find(weights, operand) != weights.end()) {
      RemarkMissed(
          "staying-cast", Location(*cast),
          fmt::format("parameter '{}' is converted to float16 at each run: bind it (BindParams), or name it in "
                      "fp16_input_names",
                      static_cast<const Var*>(operand)->name()));
    }
    const auto* user = collector.users.Find(var);
    if (from != kHalf || to != kSingle || !user) continue;
    RemarkMissed(
        "staying-cast", Location(**user),
        fmt::format("an operand of {} is converted from float16 to float32, which it needs", CalleeName(**user)));
  }
}

void RemarkUnboundBatchNorms(const Function& function, DiagnosticEngine& diagnostics) {
  BatchNormCollector collector;
  Walk(function, collector);
  if (collector.found.empty()) return;
  for (const auto& [call, param] : collector.found) {
    RemarkMissed("unbound-batch-norm", Location(*call),
                 fmt::format("the batch norm stays: its parameter '{}' is not bound", param->name()));
  }
  const size_t count = collector.found.size();
  diagnostics.Remark(
      Location(*collector.found.front().first), "unbound-batch-norm",
      fmt::format("{} batch norm{} because {} are parameters: bind the weights first, as in "
                  "-passes='BindParams<params=\"weights.npz\">,default<O3>'",
                  count, count == 1 ? " stays" : "s stay", count == 1 ? "its weights" : "their weights"));
}

}  // namespace iropt

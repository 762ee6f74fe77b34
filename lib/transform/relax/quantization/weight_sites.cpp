#include "weight_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "iropt/analysis/relax/use_count.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/matmul.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr OpId kConvolutions[] = {op::kNnConv1d, op::kNnConv2d, op::kNnConv3d};

bool IsFloatWeight(DataType dtype) {
  return dtype == DataType::Float(32) || dtype == DataType::Float(16) || dtype == DataType::BFloat(16);
}

// The constant of an operand, and the variable that is it or its transposition; null if it is the operand itself.
struct WeightOperand {
  const NDArray* array = nullptr;
  const Var* var = nullptr;
  bool is_transposed = false;
};

class SiteFinder : public ExprVisitor {
 public:
  SiteFinder(const SiteLimits& limits, std::vector<uint32_t> uses) : limits_(limits), uses_(std::move(uses)) {}

  WeightSites Take() {
    std::vector<WeightSite> sites = std::move(result_.sites);
    result_.sites.clear();
    for (WeightSite& site : sites) {
      if (IsUsedElsewhere(site)) {
        result_.kept.push_back({site.call, std::move(site.name), "it is also used by other operators"});
      } else {
        result_.sites.push_back(std::move(site));
      }
    }
    return std::move(result_);
  }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    values_.try_emplace(binding->var, binding->value);
    const Var* outer = std::exchange(bound_, binding->var);
    ExprVisitor::VisitVarBinding(binding);
    bound_ = outer;
  }

  void VisitConstant(const Constant* constant) override { ++constant_uses_[constant->data]; }

  void VisitCall(const Call* call) override {
    ExprVisitor::VisitCall(call);
    const bool is_matmul = IsOp(call->op, op::kMatmul);
    const auto* op = As<Op>(call->op);
    const bool is_convolution = op && std::ranges::find(kConvolutions, op->info->id) != std::end(kConvolutions);
    if (call->args.size() != 2 || (!is_matmul && !(limits_.convolutions && is_convolution))) return;
    const WeightOperand operand = OperandOf(call->args[1]);
    if (operand.array == nullptr || !IsFloatWeight(operand.array->dtype())) return;
    if (operand.array->num_elements() < std::max<int64_t>(limits_.min_elements, 1)) return;
    const std::string name = NameOf(*operand.array);
    std::string_view reason = Refusal(*call, *operand.array, is_matmul);
    if (limits_.is_kept(name) || (bound_ && limits_.is_kept(bound_->name()))) reason = "the option 'keep' names it";
    if (!reason.empty()) {
      result_.kept.push_back({call, name, std::string(reason)});
      return;
    }
    if (operand.var == nullptr || ++site_uses_of_var_[operand.var] == 1) ++site_uses_[operand.array];
    if (operand.var != nullptr) vars_[call] = operand.var;
    const WeightMatrix weight{operand.array, !is_matmul || operand.is_transposed};
    result_.sites.push_back({call, call->args[0], weight, is_matmul, bound_, name});
  }

 private:
  WeightOperand OperandOf(const Expr* operand) const {
    if (const auto* constant = As<Constant>(operand)) return {.array = constant->data};
    const auto* var = As<Var>(operand);
    const Expr* value = var ? values_.Lookup(var) : nullptr;
    if (value == nullptr) return {};
    if (const auto* constant = As<Constant>(value)) return {.array = constant->data, .var = var};
    const auto* turned = As<Call>(value);
    if (!turned || !IsOp(turned->op, op::kPermuteDims)) return {};
    const auto* constant = As<Constant>(turned->args[0]);
    const bool is_exchange = constant && PermutationOf(*turned) == std::vector<int64_t>{1, 0};
    return is_exchange ? WeightOperand{constant->data, var, true} : WeightOperand();
  }

  // Why the weight of a call stays; empty if it need not.
  static std::string_view Refusal(const Call& call, const NDArray& array, bool is_matmul) {
    const TensorType* data = TensorTypeOf(call.args[0]);
    const TensorType* result = TensorTypeOf(&call);
    const DataType dtype = array.dtype();
    if (data == nullptr || result == nullptr || data->dtype != dtype || result->dtype != dtype)
      return "its dtype is not that of the data and the result";
    if (!is_matmul) {
      const auto layout = ConvAttrs(call).kernel_layout();
      return layout.starts_with("OI") ? "" : "the outputs are not the first axis of its layout";
    }
    if (array.shape().size() != 2) return "it is not a matrix";
    return data->ndim < 2 ? "the data is not known to have two or more axes" : "";
  }

  std::string NameOf(const NDArray& array) const {
    if (array.source() && !array.source()->name.empty()) return array.source()->name;
    return fmt::format("{}_weight", bound_ ? bound_->name() : "result");
  }

  bool IsUsedElsewhere(const WeightSite& site) const {
    const Var* var = vars_.Lookup(site.call);
    if (var && uses_[var->id] != site_uses_of_var_.Lookup(var)) return true;
    return constant_uses_.Lookup(site.weight.array) != site_uses_.Lookup(site.weight.array);
  }

  const SiteLimits& limits_;
  std::vector<uint32_t> uses_;
  WeightSites result_;
  const Var* bound_ = nullptr;
  LookupMap<const Var*, const Expr*> values_;
  LookupMap<const NDArray*, uint32_t> constant_uses_;
  LookupMap<const NDArray*, uint32_t> site_uses_;  // a variable counts once
  LookupMap<const Var*, uint32_t> site_uses_of_var_;
  LookupMap<const Call*, const Var*> vars_;  // of sites, if the operand is one
};

}  // namespace

WeightSites FindWeightSites(const Function& function, uint32_t num_vars, const SiteLimits& limits) {
  SiteFinder finder(limits, UseCounts(function, num_vars));
  finder.VisitExpr(&function);
  return finder.Take();
}

}  // namespace iropt

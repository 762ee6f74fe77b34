#include "iropt/precision/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/dropout.h"
#include "iropt/op/ops/quantize.h"
#include "iropt/runtime/value.h"
#include "iropt/transform/relax/precision/lower_operators.h"
#include "precision/float_elements.h"

namespace iropt::precision {

namespace {

// The dtypes of the tensors in a type.
struct Dtypes {
  bool has_single = false;
  bool has_other_floats = false;
  bool has_unknown = false;

  void Add(const Type* type) {
    ForEachLeaf(type, [this](const Type* leaf) {
      const auto* tensor = As<TensorType>(leaf);
      if (!tensor) return;
      has_single |= tensor->dtype == kSingle;
      has_other_floats |= tensor->dtype.is_floating() && tensor->dtype != kSingle;
      has_unknown |= tensor->dtype.is_void();
    });
  }
};

uint64_t ElementsOf(const Type* type) {
  uint64_t sum = 0;
  ForEachLeaf(type, [&](const Type* leaf) {
    const auto* tensor = As<TensorType>(leaf);
    if (!tensor || !tensor->known) return;
    uint64_t count = 1;
    for (const PrimExpr* dim : tensor->dims) {
      const auto* size = As<tir::IntImm>(dim);
      count = size && size->value > 0 && count < (uint64_t{1} << 40) ? count * static_cast<uint64_t>(size->value) : 0;
    }
    sum += count;
  });
  return sum;
}

}  // namespace

std::string_view ScriptOf(const Call& call) {
  const bool is_packed = IsOp(call.op, op::kCallPurePacked) && !call.args.empty();
  const auto* name = is_packed ? As<ExternFunc>(call.args[0]) : nullptr;
  return name ? name->global_symbol : To<Op>(call.op)->info->script;
}

namespace {

class Finder : private ExprVisitor {
 public:
  Finder(const Module& module, const Function& function, const NumberFormat& format, const OperatorNamer& namer,
         const KeepFilter& keeps)
      : module_(module), format_(format), namer_(namer), keeps_(keeps) {
    VisitExpr(function.body);
  }

  std::vector<Operator> Take() { return std::move(operators_); }

 private:
  void VisitFunction(const Function* function) override {
    ++depth_;
    ExprVisitor::VisitFunction(function);
    --depth_;
  }
  void VisitVarBinding(const VarBinding* binding) override {
    if (const auto* call = As<Call>(binding->value)) Add(*call, *binding->var);
    ExprVisitor::VisitVarBinding(binding);
  }

  void Add(const Call& call, const Var& var) {
    const auto* op = As<Op>(call.op);
    if (!op || op->id == op::kAstype) return;
    Dtypes operands, results;
    for (const Expr* arg : call.args) operands.Add(arg->type);
    results.Add(call.type);
    if (!operands.has_single || !results.has_single) return;
    Operator made{.call = &call, .var = &var, .name = namer_(var, call), .reason = {}};
    for (const Expr* arg : call.args) {
      made.elements += ElementsOf(arg->type);
      ForEachLeaf(arg, [&](const Expr* leaf) {
        const auto* constant = As<Constant>(leaf);
        if (constant && constant->data->dtype() == kSingle) made.constant_bytes += constant->data->num_bytes();
      });
    }
    made.elements += ElementsOf(call.type);
    made.reason = ReasonToStay(call, *op->info, operands, results, made.name);
    operators_.push_back(std::move(made));
  }

  std::string ReasonToStay(const Call& call, const OpInfo& op, const Dtypes& operands, const Dtypes& results,
                           const std::string& name) const {
    if (keeps_ && keeps_(name)) return "-keep-precision names it";
    if (depth_ > 0) return "it is in a local function";
    if (!op.pure || (!HasKernel(op) && !IsWholeMove(call)))
      return fmt::format("{} has no {} form that is known", ScriptOf(call), format_.name);
    if (op.id == op::kQuantize || op.id == op::kDequantize) return "it is quantized";
    if (op.id == op::kNnDropout) return "it draws random numbers";
    if (operands.has_other_floats || results.has_other_floats) return "it mixes float formats";
    if (operands.has_unknown || results.has_unknown) return "its dtypes are not known";
    for (const Expr* arg : call.args) {
      if (std::string reason = ConstantOverflow(arg); !reason.empty()) return reason;
    }
    if (!CanLower(call, format_.dtype, module_))
      return fmt::format("{} does not take {}", ScriptOf(call), format_.name);
    return {};
  }

  std::string ConstantOverflow(const Expr* operand) const {
    std::string reason;
    ForEachLeaf(operand, [&](const Expr* leaf) {
      const auto* constant = As<Constant>(leaf);
      if (!constant || constant->data->dtype() != kSingle || !reason.empty()) return;
      for (const float x : constant->data->As<float>()) {
        if (!Overflows(static_cast<double>(x), format_)) continue;
        reason = fmt::format("a constant overflows {} at {:.2g}", format_.name, x);
        return;
      }
    });
    return reason;
  }

  const Module& module_;
  const NumberFormat& format_;
  const OperatorNamer& namer_;
  const KeepFilter& keeps_;
  int depth_ = 0;
  std::vector<Operator> operators_;
};

}  // namespace

std::vector<Operator> FindOperators(const Module& module, const Function& function, const NumberFormat& format,
                                    const OperatorNamer& namer, const KeepFilter& keeps) {
  return Finder(module, function, format, namer, keeps).Take();
}

}  // namespace iropt::precision

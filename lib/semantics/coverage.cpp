#include "coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/element.h"
#include "iropt/ir/limits.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/hash.h"
#include "reachable.h"

namespace iropt {

namespace {

// The conditions of a function, in the order of its text.
class ConditionFinder : public tir::StmtExprVisitor, public WalkHandler {
 public:
  using StmtExprVisitor::VisitExpr;

  struct Condition {
    const Node* node;
    SourceSpan place;
  };
  const std::vector<Condition>& found() const { return found_; }

  // In normal form, a conditional is what a variable is bound to.
  void OnBinding(const Binding& binding) {
    const auto* bound = As<VarBinding>(&binding);
    const auto* branch = bound ? As<If>(bound->value) : nullptr;
    if (branch) found_.push_back({branch, Location(*branch)});
  }

 protected:
  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    found_.push_back({branch->condition, Location(*branch)});
    StmtExprVisitor::VisitIfThenElse(branch);
  }
  void VisitSelect(const tir::Select* select) override {
    found_.push_back({select->condition, Location(*select)});
    StmtExprVisitor::VisitSelect(select);
  }
  void VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirIfThenElse)) found_.push_back({call->args[0], Location(*call)});
    StmtExprVisitor::VisitCall(call);
  }

 private:
  std::vector<Condition> found_;
};

bool IsLeast(DataType dtype, double value) {
  if (dtype.is_floating()) return value <= -GreatestFinite(dtype).value_or(std::numeric_limits<double>::infinity());
  return value == (dtype.is_uint() ? 0 : -std::ldexp(1.0, dtype.bits - 1));
}

bool IsGreatest(DataType dtype, double value) {
  if (dtype.is_floating()) return value >= GreatestFinite(dtype).value_or(std::numeric_limits<double>::infinity());
  return value >= std::ldexp(1.0, dtype.is_uint() ? dtype.bits : dtype.bits - 1) - 1;
}

}  // namespace

void Coverage::AddRun(std::span<const HostValue> inputs, const RunOutcome& outcome, bool is_finite) {
  for (const HostValue& input : inputs) {
    ForEachTensor(input, [&](const Tensor& tensor) {
      has_inputs_ = true;
      Ends& ends = ends_[tensor->dtype().ToString()];
      if (ends.least && ends.greatest) return;
      DispatchElement(tensor->dtype(), [&]<class T>(std::type_identity<T>) {
        for (const T element : tensor->As<T>()) {
          const auto value = static_cast<double>(Element<T>::Load(element));
          ends.least |= IsLeast(tensor->dtype(), value);
          ends.greatest |= IsGreatest(tensor->dtype(), value);
        }
      });
    });
  }
  if (!is_finite) return;
  ++num_finite_runs_;
  outputs_.resize(std::max(outputs_.size(), outcome.outputs.size()));
  for (size_t i = 0; i < outcome.outputs.size(); ++i) {
    const NDArray& tensor = *outcome.outputs[i].tensor;
    Output& output = outputs_[i];
    output.name = outcome.outputs[i].name;
    if (tensor.num_elements() == 0) continue;
    uint64_t hash = HashBytes(tensor.data(), tensor.num_bytes());
    for (const int64_t dim : tensor.shape()) hash = HashCombine(hash, static_cast<uint64_t>(dim));
    output.differs |= output.hash && *output.hash != hash;
    output.hash = hash;
  }
}

std::string Coverage::DescribeEnds() const {
  std::string reached;
  std::string missed;
  for (const auto& [dtype, ends] : ends_) {
    std::string& list = ends.least && ends.greatest ? reached : missed;
    list += (list.empty() ? "" : ", ") + dtype;
  }
  if (reached.empty() && missed.empty()) return {};
  if (missed.empty()) return "both ends of " + reached;
  return reached.empty() ? "not the ends of " + missed : fmt::format("both ends of {}, not of {}", reached, missed);
}

std::string Coverage::DescribeOutputs() const {
  if (num_finite_runs_ < 2 || !has_inputs_) return {};
  std::string same;
  for (const Output& output : outputs_) {
    if (output.hash && !output.differs) same += (same.empty() ? "" : ", ") + output.name;
  }
  return same.empty() ? same : "the same for all inputs: " + same;
}

namespace {

// Strides and offsets that callers choose; inputs of runs have no gaps.
std::string DescribeLayouts(const BaseFunc* function) {
  std::string compact;
  const auto* prim = As<PrimFunc>(function);
  for (const tir::Buffer* buffer : prim ? prim->param_buffers : List<const tir::Buffer*>()) {
    const auto is_given = [](const PrimExpr* expr) { return !arith::AsInt(expr); };
    if (buffer &&
        (std::ranges::any_of(buffer->strides, is_given) || (buffer->elem_offset && is_given(buffer->elem_offset))))
      compact += fmt::format("{}{}", compact.empty() ? "" : ", ", buffer->name);
  }
  return compact.empty() ? compact : "only without gaps: " + compact;
}

}  // namespace

Coverage::Report Coverage::Describe(const Module& module, const GlobalVar& function) const {
  Report report;
  ConditionFinder finder;
  ForEachReachable(module, function, [&](const BaseFunc& found) {
    if (const auto* relax = As<Function>(&found)) Walk(*relax, finder);
    const auto* prim = As<PrimFunc>(&found);
    if (prim && !branches_.WasCompiled(prim)) finder.VisitStmt(prim->body);
  });
  size_t taken = 0;
  for (const ConditionFinder::Condition& condition : finder.found()) {
    const bool was_true = branches_.WasTrue(condition.node);
    const bool was_false = branches_.WasFalse(condition.node);
    taken += static_cast<size_t>(was_true) + static_cast<size_t>(was_false);
    if (!was_true || !was_false) report.untaken.push_back({condition.place, was_true, was_false});
  }
  const auto add = [&](const std::string& part) {
    if (!part.empty()) report.text += (report.text.empty() ? "" : "; ") + part;
  };
  add(DescribeEnds());
  if (!finder.found().empty()) add(fmt::format("{} of {} branches", taken, 2 * finder.found().size()));
  add(DescribeOutputs());
  const ModuleEntry* entry = module.Find(function.name);
  if (entry) add(DescribeLayouts(entry->func));
  return report;
}

}  // namespace iropt

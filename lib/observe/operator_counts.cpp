#include "iropt/observe/operator_counts.h"

#include <algorithm>
#include <array>
#include <map>

#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/operators.h"
#include "iropt/op/ops/dropout.h"
#include "iropt/op/ops/normalization.h"

namespace iropt {

namespace {

// Others than operators.
enum Callee : uint8_t { kFunction, kExtern, kClosure, kNumCallees };
constexpr std::array<const char*, kNumCallees> kCalleeNames = {"function", "extern", "closure"};

struct CallCounter : WalkHandler {
  void OnCall(const Call& call) {
    switch (call.op->kind) {
      case NodeKind::kOp: ++operators[static_cast<const Op*>(call.op)->info]; break;
      case NodeKind::kGlobalVar: ++others[kFunction]; break;
      case NodeKind::kExternFunc: ++others[kExtern]; break;
      default: ++others[kClosure];
    }
  }

  std::map<const OpInfo*, uint64_t> operators;
  std::array<uint64_t, kNumCallees> others{};
};

}  // namespace

std::map<std::string, uint64_t> CountOperators(const Module& module) {
  CallCounter counter;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(*function, counter);
  }
  std::map<std::string, uint64_t> counts;
  for (const auto& [op, n] : counter.operators) counts[std::string(op->script)] = n;
  for (size_t i = 0; i < kNumCallees; ++i) {
    if (counter.others[i] != 0) counts[kCalleeNames[i]] = counter.others[i];
  }
  return counts;
}

bool HasTrainingOperators(const Module& module) {
  const std::map<std::string, uint64_t> counts = CountOperators(module);
  return std::ranges::any_of(std::array{op::kNnBatchNorm, op::kNnDropout},
                             [&](OpId id) { return counts.contains(std::string(GetOp(id)->info->script)); });
}

}  // namespace iropt

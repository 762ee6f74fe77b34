#include "iropt/eval/evaluator.h"

#include <algorithm>
#include <array>
#include <vector>

#include "iropt/op/op.h"
#include "kernel.h"

namespace iropt {

namespace {

using eval::Kernel;
using eval::KernelCall;

constexpr std::string_view kNames[] = {
#define IROPT_KERNEL(op, kernel) op,
#include "iropt/eval/kernels.def"
};

constexpr Kernel kKernels[] = {
#define IROPT_KERNEL(op, kernel) eval::kernel,
#include "iropt/eval/kernels.def"
};

static_assert(std::is_sorted(std::begin(kNames), std::end(kNames)), "kernels.def is searched by name");

Kernel FindKernel(std::string_view op) {
  const auto* place = std::lower_bound(std::begin(kNames), std::end(kNames), op);
  return place != std::end(kNames) && *place == op ? kKernels[place - std::begin(kNames)] : nullptr;
}

// Kernels by OpInfo::id, null where there is none.
Kernel FindKernel(const OpInfo& op) {
  static const std::vector<Kernel> table = [] {
    std::vector<Kernel> kernels(AllOps().size(), nullptr);
    for (const OpInfo& info : AllOps()) kernels[info.id] = FindKernel(info.name);
    return kernels;
  }();
  return table[op.id];
}

Result<HostValue> Run(Kernel kernel, std::string_view op, const Attr* attrs, std::span<const HostValue> args,
                      const EvalLimits& limits) {
  KernelCall call(op, As<ObjectAttr>(attrs), args, limits);
  if (!kernel) return call.Fail("there is no evaluator for this operator");
  return kernel(call);
}

}  // namespace

bool HasKernel(std::string_view op) { return FindKernel(op) != nullptr; }
bool HasKernel(const OpInfo& op) { return FindKernel(op) != nullptr; }
std::span<const std::string_view> KernelNames() { return kNames; }

Result<HostValue> EvalOp(std::string_view op, const Attr* attrs, std::span<const HostValue> args,
                         const EvalLimits& limits) {
  return Run(FindKernel(op), op, attrs, args, limits);
}

Result<HostValue> EvalOp(const OpInfo& op, const Attr* attrs, std::span<const HostValue> args,
                         const EvalLimits& limits) {
  return Run(FindKernel(op), op.name, attrs, args, limits);
}

}  // namespace iropt

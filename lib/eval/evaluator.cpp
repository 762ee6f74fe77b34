#include "iropt/eval/evaluator.h"

#include <algorithm>
#include <array>
#include <vector>

#include "eval/kernels/kernel.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

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

// Whether loops over the dimensions of a tensor end soon: where it has no elements, its other dimensions may be of any
// size, which neither the limits nor the memory of the machine bound.
bool IsWithinReach(const HostValue& value) {
  if (const TupleValue* tuple = value.tuple()) {
    return std::ranges::all_of(tuple->fields,
                               [](const HostValue& field) { return WithStack([&] { return IsWithinReach(field); }); });
  }
  const NDArray* tensor = value.tensor();
  if (!tensor || tensor->num_elements() != 0) return true;
  static constexpr int64_t kMost = int64_t{1} << 28;
  int64_t product = 1;
  return std::ranges::all_of(tensor->shape(), [&](int64_t dim) {
    return !__builtin_mul_overflow(product, std::max<int64_t>(dim, 1), &product) && product <= kMost;
  });
}

Result<HostValue> Run(Kernel kernel, std::string_view op, const Attr* attrs, std::span<const HostValue> args,
                      const EvalLimits& limits) {
  KernelCall call(op, As<ObjectAttr>(attrs), args, limits);
  if (!kernel) return call.Fail("there is no evaluator for this operator");
  if (!std::ranges::all_of(args, IsWithinReach))
    return call.Fail("the shape of an operand without elements is too big", ErrorCode::Budget);
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

#include "iropt/eval/evaluator.h"

#include <algorithm>

#include "eval/kernels/kernel.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace eval {

// Each kernel is declared by the rows that name it.
#define IROPT_OP(id, name, rule, kernel, ...) Result<HostValue> kernel(KernelCall& call);
#include "iropt/op/ops.def"

Result<HostValue> NoKernel(KernelCall& call) { return call.Fail("there is no evaluator for this operator"); }

}  // namespace eval

namespace {

using eval::Kernel;
using eval::KernelCall;

Kernel FindKernel(const OpInfo& op) {
  static constexpr Kernel kKernels[] = {
#define IROPT_OP(id, name, rule, kernel, ...) &eval::kernel,
#include "iropt/op/ops.def"
  };
  const Kernel* kernel = EntryOf(op, kKernels);
  return kernel ? *kernel : &eval::NoKernel;
}

// Returns whether loops over the dimensions of a tensor are short: if it has no elements, its other dimensions may have
// any size, which neither the limits nor the memory bound.
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

}  // namespace

bool HasKernel(const OpInfo& op) { return FindKernel(op) != &eval::NoKernel || op.functions.evaluate != nullptr; }

Result<HostValue> EvalOp(const OpInfo& op, const Attr* attrs, std::span<const HostValue> args, const EvalLimits& limits,
                         RandomSource* random, bool is_inference) {
  KernelCall call(op, attrs, args, limits, random, is_inference);
  if (!HasKernel(op)) return eval::NoKernel(call);
  if (!HasRecordOf(op, attrs)) return call.Fail("the attributes are not those of the operator");
  if (!std::ranges::all_of(args, IsWithinReach))
    return call.Fail("the shape of an operand without elements is too big", ErrorCode::Budget);
  return op.functions.evaluate ? op.functions.evaluate(attrs, args, limits) : FindKernel(op)(call);
}

}  // namespace iropt

// The reference evaluator of Relax operators: plain, exact code on host tensors.
//
// "Exact" means the semantics of the dtype: integers wrap around, float32 is computed in float32, float16 and the other
// narrow formats are rounded to nearest even after every step, sums run in row-major order. The only exception are big
// products of float32 and float64 matrices, and the convolutions computed by them: they are computed in their format,
// but summed in the order of a library (see docs/performance.md). Undefined results (an integer divided by zero, a
// shift by too many bits, NaN cast to an integer, an index out of range) are errors, so that folding leaves them to run
// time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "iropt/runtime/random.h"
#include "iropt/runtime/value.h"
#include "iropt/support/result.h"

namespace iropt {

// Limits of an evaluation. They are checked before memory is allocated or work is done.
struct EvalLimits {
  size_t max_bytes = SIZE_MAX;           // of one tensor
  uint64_t max_work = UINT64_MAX;        // of one evaluation, in elementary operations, roughly
  uint64_t* work = nullptr;              // if not null, increased by the work done
  uint64_t max_total_work = UINT64_MAX;  // of all evaluations that are counted in *work
  // Called after each binding and now and then in interpreted loops, if not null. What it throws ends the evaluation.
  const std::function<void()>* on_work = nullptr;

  // The number of operations that the next evaluation may take.
  uint64_t AvailableWork() const {
    if (!work) return max_work;
    return std::min(max_work, max_total_work > *work ? max_total_work - *work : 0);
  }
};

// Returns whether there is a kernel for the operator. O(1).
bool HasKernel(const OpInfo& op);

// Evaluates one operator on values; `attrs` is the attribute record of a call of it. The error states why there is no
// result: operands of an unexpected kind, a dtype that is not supported, an undefined result, or a limit
// (ErrorCode::Budget). Random operators fail if `random` is null. With `is_inference`, batch_norm and dropout compute
// what they do in inference, else in training.
Result<HostValue> EvalOp(const OpInfo& op, const Attr* attrs, std::span<const HostValue> args,
                         const EvalLimits& limits = {}, RandomSource* random = nullptr, bool is_inference = false);

}  // namespace iropt

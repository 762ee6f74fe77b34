// Instructions for vectors that a program names.
#pragma once

#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/op/named_functions.h"

namespace iropt {

// Computes a lane: the products are those of its bytes or pairs.
bool EvalInstruction(ScalarEvaluator& eval, const tir::Call& call, NamedInstruction named, int lane, Scalar* result);

}  // namespace iropt

// The gradients of operators.
#pragma once

#include <array>

#include "grad_builder.h"

namespace iropt {

// A call to differentiate.
struct GradCall {
  const Var* result = nullptr;  // the variable that is bound to the call
  const Call* call = nullptr;
  const Var* grad = nullptr;  // the gradient of the result

  const Expr* arg(uint32_t i) const { return call->args[i]; }
};

// The gradients of the operands; null for operands that have none.
inline constexpr size_t kMaxPartials = 3;
using Partials = std::array<const Expr*, kMaxPartials>;
using GradRule = Partials (*)(const GradCall& c, GradBuilder& b);

// The rule of the operator; null if it cannot be differentiated.
GradRule FindGradRule(OpId op);

#define IROPT_GRADIENT(op, rule) Partials rule(const GradCall& c, GradBuilder& b);
#define IROPT_NO_GRADIENT(op)
#include "rules.def"

}  // namespace iropt

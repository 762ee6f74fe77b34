// Gradients of calls of PrimFuncs: R.call_tir_with_grad.
#pragma once

#include "grad_builder.h"
#include "iropt/ir/module.h"

namespace iropt {

// The PrimFunc that computes the gradients for a call_tir_with_grad: the one of the module that has the name
// te_grad_name. For a function (a, b, ..., result) it is (gradient of the result, a, b, ..., gradient of a, gradient of
// b, ...). Null after an error.
const GlobalVar* FindGradientFunc(const Call& call, const Module& module, GradBuilder& builder);

// The call of the gradient function, whose results have the types of the operands of `call`.
const Call* CallGradient(const Call& call, const GlobalVar& gradient, const Var& grad, GradBuilder& builder);

// A call_tir_with_grad as a call_tir; another call unchanged.
const Call* WithoutGradient(const Call& call, Workspace& workspace);

}  // namespace iropt

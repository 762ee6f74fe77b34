// The interface by which builders and mutators infer types. The rules belong to a higher layer, whose OpTypeInferrer
// (infer/type_inferrer.h) is the implementation.
#pragma once

#include "iropt/ir/relax/expr.h"

namespace iropt {

class TypeInferrer {
 public:
  virtual ~TypeInferrer() = default;
  // The type of an expression whose operands have types. Null after an error was reported.
  virtual const Type* Infer(const Expr* expr) = 0;
  // Returns whether every value of type `derived` is one of type `base`.
  virtual bool IsBaseOf(const Type* base, const Type* derived) = 0;
  // The declared result type of a function with these parameters whose body has the type: without the symbolic
  // variables that the parameters do not define.
  virtual const Type* ReturnType(List<const Var*> params, const Type* body) = 0;
  // The declared result type of a function whose body got another type: the one before if it is more precise. If both
  // say the same, the dimensions may be written otherwise, and those of the body are what a reader takes.
  const Type* NewReturnType(List<const Var*> params, const Type* body, const Type* declared) {
    return IsBaseOf(body, declared) && !IsBaseOf(declared, body) ? declared : ReturnType(params, body);
  }
  // The scalar that replaces the call, which has a type: the result of R.inspect if the type of the tensor determines
  // it. Null for other calls.
  virtual const PrimExpr* ScalarForm(const Call&) { return nullptr; }
};

}  // namespace iropt
